#!/usr/bin/env python3
"""Recordings: what they cost while they are made, their size, and how fast they answer. Called by bench/run.sh.

From the environment: SONDE (build/sonde), PERF (perf, if it is installed; "" to leave it out), ROUNDS (5), CALLS
(1000000 reads and writes of dd, each with two events), EVENTS (10000000 of the file that is queried), MKREC
(build/mkrec). As root. Prints markdown; medians of rounds, in each of which every tracer runs once.
"""
import glob
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SONDE = os.path.abspath(os.environ.get("SONDE", "build/sonde"))
PERF = os.environ.get("PERF", shutil.which("perf") or "")
MKREC = os.path.abspath(os.environ.get("MKREC", "build/mkrec"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
CALLS = int(os.environ.get("CALLS", "1000000"))
EVENTS = int(os.environ.get("EVENTS", "10000000"))
MIB = 1 << 20


def dd(report):
    """A command whose processor time, in seconds, is written to the file when it has ended."""
    count = "dd if=/dev/zero of=/dev/null bs=1 count=%d status=none" % (CALLS // 2)
    return ["bash", "-c", "TIMEFORMAT='%%U %%S'; { time %s; } 2>%s" % (count, shlex.quote(report))]


def run(argv):
    """-> (seconds, processor seconds, peak MiB) of the process and its children; fails when it fails."""
    begun = time.monotonic()
    pid = os.fork()
    if not pid:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        try:
            os.execvp(argv[0], argv)
        finally:
            os._exit(127)
    _, status, use = os.wait4(pid, 0)
    if status:
        sys.exit("recordings.py: %s: status %d" % (shlex.join(argv), status))
    return time.monotonic() - begun, use.ru_utime + use.ru_stime, use.ru_maxrss * 1024 / MIB


def spent(report):
    with open(report, encoding="ascii") as file:
        return sum(map(float, file.read().split()))


def tracers(folder):
    """name -> (command before the load, file that it makes)"""
    script = "tracepoint:raw_syscalls:sys_enter, tracepoint:raw_syscalls:sys_exit { @ = count(); }"
    made, perf = folder + "/r.sonde", folder + "/perf.data"
    ways = {
        "nothing": ([], None),
        "sonde, counted": ([SONDE, "-q", "--follow", "-e", script, "-c"], None),
        "sonde record": ([SONDE, "record", "-q", "-o", made, "raw_syscalls:sys_enter", "raw_syscalls:sys_exit",
                          "--"], made),
    }
    if PERF:
        ways["perf record -z"] = (shlex.split(PERF) + ["record", "-q", "-z", "-o", perf, "-e",
                                  "raw_syscalls:sys_enter,raw_syscalls:sys_exit", "--"], perf)
    return ways


def recorded(folder):
    """Prints the table of what making a recording costs."""
    report, events = folder + "/time", 2 * CALLS
    ways = tracers(folder)
    load = {name: [] for name in ways}
    own = {name: [] for name in ways}
    size = {}
    for _ in range(ROUNDS):
        for name, (before, made) in ways.items():
            words = dd(report)
            argv = before + ([shlex.join(words)] if before and before[-1] == "-c" else words)
            _, cpu, _ = run(argv)
            load[name].append(spent(report))
            own[name].append(cpu - spent(report))
            if made:
                size[name] = os.path.getsize(made)
    base = statistics.median(load["nothing"])
    counted = statistics.median(load["sonde, counted"])
    print("| | ns added per event | the load takes, against counting | tracer's own ns per event | bytes per event |")
    print("|---|---|---|---|---|")
    for name in ways:
        took = statistics.median(load[name])
        added = (took - base) / events * 1e9
        mine = statistics.median(own[name]) / events * 1e9 if name != "nothing" else 0
        print("| %s | %.0f | %.2f | %.0f | %s |" % (name, added, took / counted, mine,
              "%.1f" % (size[name] / events) if name in size else ""))


def asked(folder):
    """Prints the table of how fast a recording answers."""
    path = folder + "/big.sonde"
    subprocess.run([MKREC, "-b", str(EVENTS), path], check=True)
    size = os.path.getsize(path)
    empty = statistics.median(run([SONDE, "query", "-q", path, "--to", "1ns", "-e",
                                   "t:raw_syscalls:sys_enter { @ = count(); }"])[1] for _ in range(ROUNDS))
    print("\n%d events, %.0f MiB; a script takes %.3f s over a file without events\n" % (EVENTS, size / MIB, empty))
    print("| question | s | events per second and core | peak MiB |")
    print("|---|---|---|---|")
    questions = (
        ("`@[comm] = count()`", [], "t:raw_syscalls:sys_enter { @[comm] = count(); }"),
        ("`@[comm, args.id] = hist(...)`", [], "t:raw_syscalls:sys_enter { @[comm, args.id] = hist(args.id); }"),
        ("the same, of one second", ["--from", "1s", "--for", "1s"], "t:raw_syscalls:sys_enter { @[comm] = count(); }"),
    )
    for what, options, script in questions:
        took = [run([SONDE, "query", "-q", path] + options + ["-e", script]) for _ in range(ROUNDS)]
        seconds, cpu, peak = (statistics.median(t[i] for t in took) for i in range(3))
        speed = "%.1f million" % (EVENTS / cpu / 1e6) if not options else ""
        print("| %s | %.2f | %s | %.0f |" % (what, seconds, speed, peak))


def main():
    if os.geteuid():
        sys.exit("recordings.py: must be root")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = tempfile.mkdtemp()
    try:
        recorded(folder)
        asked(folder)
    finally:
        for path in glob.glob(folder + "/*"):
            os.unlink(path)
        os.rmdir(folder)


main()
