#!/usr/bin/env python3
"""killed.py [-n N] [-s SEED] [-l SECONDS] BUILD - a recorder that is killed with -9 at any moment, N times (3).

While make builds a copy of this project, sonde records sets of events, with stacks, and is killed after one to SECONDS (3).
What it wrote must read, and printed + lost + at most the last second must be what was produced. Two know what was
produced: a program whose calls are numbered, and another sonde that counts the same events. As root."""
import argparse
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

SETS = "syscalls,sched,samples"
STACKS = [[], ["--stacks", "kernel"], ["--stacks", "user"], ["--stacks", "both"]]
# Of these every event is seen by both; a program for sched_wakeup may be skipped while another of its kind runs.
COUNTED = ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "sched:sched_switch"]
STEP = 100_000_000
LAST = 1_000_000_000  # what may be missing after kill -9
LATE = 1_500_000_000  # the recorder may wait so long for a processor that it shares with one process


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
    if done.returncode:
        raise AssertionError("%s: exit status %d: %s" % (" ".join(words[1:4]), done.returncode, done.stderr[-300:]))
    return done.stdout.decode(errors="replace")


def until(what, condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(what)
        time.sleep(0.02)


def holds(path, text):
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        return text in file.read()


def late():
    return int(LATE * max(1, os.getloadavg()[0] / os.cpu_count()))


class Machine:
    """A build that goes on, numbered calls, and who counts."""

    def __init__(self, build, tmp):
        self.sonde, self.tmp, self.counter = build + "/sonde", tmp, None
        self.children = []

    def begin(self):
        tmp = self.tmp
        subprocess.run(["tests/run.sh", "-b"], stdout=subprocess.DEVNULL, check=True)
        subprocess.run("git ls-files -z | xargs -0 cp --parents -t %s/tree" % tmp, shell=True, check=True)
        self.start("exec >/dev/null 2>&1; while :; do nice make -C %s/tree -j2 clean all; done" % tmp, "build")
        self.start("exec nice %s/numbered %s/numbers" % (os.environ.get("SONDE_TESTS", "build/tests"), tmp), "numbered")
        probes = "".join("tracepoint:%s { @[\"%s\", nsecs / %d] = count(); }\n" % (p, p, STEP) for p in COUNTED)
        self.counter = self.start("exec %s -f json -e 'config = { max_map_keys = 200000 } %s' >%s/counts" % (
            self.sonde, probes, tmp), "counter")
        until("the counter does not begin", lambda: holds(tmp + "/counts", "attached_probes"))

    def start(self, command, name):
        with open("%s/%s" % (self.tmp, name), "w", encoding="utf-8") as log:
            self.children.append(subprocess.Popen(["sh", "-c", command], stderr=log, start_new_session=True))
        return self.children[-1]

    def pairs(self):
        with open(self.tmp + "/numbers", "rb") as file:
            data = file.read()
        return sorted(p for p in struct.iter_unpack("<QQ", data) if p[0])

    def counts(self):
        """{(probe, step): events}"""
        self.counter.send_signal(signal.SIGINT)
        self.counter.wait()
        counts = {}
        with open(self.tmp + "/counts", encoding="utf-8") as file:
            for line in file:
                item = json.loads(line)
                if item["type"] == "map":
                    for key, n in item["data"]["@"].items():
                        probe, step = key.rsplit(",", 1)
                        counts[probe, int(step)] = n
        return counts

    def stop(self):
        for child in self.children:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def record(machine, path, seconds, stacks):
    """Records and is killed: the times of both, and the pairs of the numbered program."""
    err = machine.tmp + "/recorder"
    with open(err, "w", encoding="utf-8") as log:
        recorder = subprocess.Popen([machine.sonde, "record", "-o", path, "--set", SETS, *stacks], stderr=log)
    try:
        until("the recorder does not begin", lambda: holds(err, "Attached") or recorder.poll() is not None)
        begun = time.monotonic_ns()
        time.sleep(seconds)
        assert recorder.poll() is None, "the recorder ended: " + open(err, encoding="utf-8").read()[-300:]
    finally:
        now = time.monotonic_ns()
        recorder.kill()
        recorder.wait()
    return begun, now, machine.pairs()


class Recording:
    def __init__(self, machine, path):
        assert run(machine.sonde, "report", path).startswith("This recording has no end"), "it says nothing of its end"
        self.steps, self.numbers = {}, []
        counted = "".join("tracepoint:%s { @[\"%s\", nsecs / %d] = count(); }\n" % (p, p, STEP) for p in COUNTED)
        text = run(machine.sonde, "query", "-q", path, "-f", "json", "-e", counted + """
            tracepoint:raw_syscalls:sys_enter /comm == "numbered" && args.id == 8 && (int32)args.args[0] == -1/ {
                print((nsecs, args.args[1]));
            }""")
        for line in text.splitlines():
            item = json.loads(line)
            if item["type"] == "value":
                self.numbers.append(tuple(item["data"]))
            elif item["type"] == "map":
                for key, n in item["data"]["@"].items():
                    probe, step = key.rsplit(",", 1)
                    self.steps[probe, int(step)] = n
        self.losses = []
        for line in run(machine.sonde, "export", "-q", path, "--to", "json", "--probe", "profile:*").splitlines():
            if '"lost_events"' in line:
                loss = json.loads(line)["data"]
                self.losses.append((loss["from"], loss["to"], loss["events"]))
        self.lost = sum(n for _, _, n in self.losses)


def check_numbers(recording, begun, killed, pairs):
    """Each number is a row, or in a loss at its time, or of the last second. How many, and what is missing at the end."""
    numbers = recording.numbers
    if not numbers:
        assert recording.lost or killed - begun <= LAST + late(), "no numbered call was recorded, and no event was lost"
        return 0, 0, 0
    missing, last = 0, killed - LAST - late()
    for (ts, n), (after, m) in zip(numbers, numbers[1:]):
        assert m > n, "call %d comes after %d" % (m, n)
        if m - n > 1 and after < last:
            missing += m - n - 1
            assert any(a <= after and ts <= b for a, b, _ in recording.losses), \
                "%d calls are missing between %d and %d, at a time of no loss: %s" % (m - n - 1, ts, after, recording.losses)
    assert missing <= recording.lost, "%d calls are missing, and %d events were lost" % (missing, recording.lost)
    at = [n for ts, n in pairs if ts <= last]
    if at and numbers[0][1] <= at[-1]:
        assert numbers[-1][1] >= at[-1], "the last call is %d; a second before the end it was %d" % (numbers[-1][1], at[-1])
    return len(numbers), missing, (killed - numbers[-1][0]) / 1e9


def check_counts(recording, counts, cpus):
    """What the other sonde counted in the time of the rows."""
    if not recording.steps:  # check_numbers() has said why
        return 0, 0
    first = min(step for _, step in recording.steps) + 1
    last = max(step for _, step in recording.steps) - LAST // STEP
    if last < first:
        return 0, 0
    rows = sum(n for (_, step), n in recording.steps.items() if first <= step <= last)
    made = sum(n for (_, step), n in counts.items() if first <= step <= last)
    edges = 2 * 2 * cpus * len(COUNTED)  # the two read the clock one after the other
    assert rows <= made + edges, "%d rows of %d events" % (rows, made)
    assert rows + recording.lost >= made - edges, "%d rows and %d lost of %d events" % (rows, recording.lost, made)
    return rows, made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=3)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-l", type=float, default=3)
    parser.add_argument("build")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/../..")
    tmp = tempfile.mkdtemp()
    os.mkdir(tmp + "/tree")
    rnd = random.Random(options.s)
    bad, sums = 0, [0, 0, 0, 0, 0, 0]
    machine = Machine(build, tmp)
    kept = []
    try:
        machine.begin()
        for i in range(options.n):
            path = "%s/%d.sonde" % (tmp, i)
            try:
                begun, killed, pairs = record(machine, path, rnd.uniform(1, options.l), STACKS[i % len(STACKS)])
                recording = Recording(machine, path)
                numbers, missing, late = check_numbers(recording, begun, killed, pairs)
                kept.append((i, recording))
                sums = [sums[0] + numbers, sums[1] + missing, max(sums[2], late), sums[3] + recording.lost, *sums[4:]]
            except AssertionError as e:
                bad += 1
                print("not ok %d - %s" % (i, e), flush=True)
            if os.path.exists(path):
                os.unlink(path)
        counts = machine.counts()
        for i, recording in kept:
            try:
                rows, made = check_counts(recording, counts, os.cpu_count())
                sums = [*sums[:4], sums[4] + rows, sums[5] + made]
            except AssertionError as e:
                bad += 1
                print("not ok %d - %s" % (i, e))
    finally:
        machine.stop()
        shutil.rmtree(tmp)
    if not sums[0]:
        bad += 1
        print("not ok - of all recordings none has a numbered call")
    print("# %d numbered calls and %d lost; at most the last %.2f s are missing; %d events lost; "
          "of what was counted: %d rows, %d events" % tuple(sums))
    print("%d passed, %d failed" % (options.n + 1 - bad, bad))
    return bad != 0


sys.exit(main())
