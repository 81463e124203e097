"""Runs the cases of test files; tests/run.sh explains them, builds their programs, and starts this.

    run.py [-j JOBS] [-n NAME-PATTERN] [-s K/N] [-e | -r] [-l N] SONDE [DIR-or-FILE...]
"""
import concurrent.futures
import difflib
import fnmatch
import getopt
import glob
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.join(HERE, "lib.sh")
MODULES = "/run/modules"  # of a test guest: NAME.ko, and what it needs in NAME.needs
FURTHER_TRIES = 120  # seconds
IN_GUEST = bool(os.environ.get("SONDE_VM"))


class Needs:
    """Answers whether this machine has what a case needs. Each question is asked once."""

    def __init__(self, sonde, programs):
        self.sonde = sonde
        self.programs = programs
        self.lock = threading.RLock()
        self.known = {}

    def missing(self, case):
        """What the first need that is not met is about, or None."""
        with self.lock:
            for need in case.get("needs", "").split():
                if need.startswith("module:"):
                    if load_module(need[7:]):  # what it brings is asked for behind it
                        self.known = {k: v for k, v in self.known.items() if not k.startswith(("sym", "btf:"))}
                    continue
                why = self.of(need, self.ask)
                if why:
                    return why
        return None

    def of(self, key, ask):
        if key not in self.known:
            self.known[key] = ask(key)
        return self.known[key]

    def ask(self, need):
        word, _, rest = need.partition(":")
        answer = getattr(self, "ask_" + word, None)
        return answer(rest) if answer else f"unknown need {need}"

    def output(self, *command):
        run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return run.stdout.decode("latin-1")

    def ask_kprobe(self, _):
        return None if os.path.exists("/sys/bus/event_source/devices/kprobe") else "no kprobes in this kernel"

    def ask_nokprobe(self, _):
        return None if self.ask_kprobe(_) else "kprobes are here"

    def ask_uprobe(self, _):
        return None if os.path.exists("/sys/bus/event_source/devices/uprobe") else "no uprobes in this kernel"

    def words_of_btf(self, path):
        try:
            with open(path, "rb") as f:
                return set(f.read().split(b"\0"))
        except OSError:
            return set()

    def ask_btf(self, name):
        path = "/sys/kernel/btf/vmlinux"
        if not name:
            return None if os.access(path, os.R_OK) else "no kernel BTF"
        words = self.of("btf words", lambda _: self.words_of_btf(path))
        return None if name.encode() in words else f"no {name} in the kernel's BTF"

    def ask_fentry(self, _):
        return "no fentry in this kernel" if self.ask_btf("") or self.ask_kprobe("") else None

    def ask_tracefs(self, _):
        return None if os.access("/sys/kernel/tracing/events", os.R_OK) else "no tracefs"

    def ask_dwunwind(self, _):
        return "no dw_ustack here" if re.search("^ *LOOP *no", self.output(self.sonde, "--info"), re.M) else None

    def has_counters(self):  # by what x86_64 and aarch64 call them
        return glob.glob("/sys/bus/event_source/devices/cpu*") or glob.glob("/sys/bus/event_source/devices/armv8*")

    def ask_hardware(self, _):
        return None if self.has_counters() else "no hardware counters"

    def ask_nohardware(self, _):
        return "hardware counters are here" if self.has_counters() else None

    def is_before(self, version):
        def numbers(text):
            return [int(n) for n in re.findall(r"\d+", re.match(r"[\d.]*", text).group())]
        return numbers(os.uname().release) < numbers(version)

    def ask_before(self, version):
        return None if self.is_before(version) else f"this kernel is not older than {version}"

    def ask_since(self, version):
        return f"this kernel is older than {version}" if self.is_before(version) else None

    def ask_disk(self, _):
        return None if re.search("^/dev/[^l]", cases.read_text("/proc/mounts"), re.M) else "no file system on a disk"

    def ask_x86_64(self, _):
        return None if os.uname().machine == "x86_64" else "not on this processor"

    def ask_aarch64(self, _):
        return None if os.uname().machine == "aarch64" else "not on this processor"

    def ask_lockdown(self, _):
        path = "/sys/kernel/security/lockdown"
        locked = os.path.exists(path) and re.search(r".confidentiality.$", cases.read_text(path))
        return None if locked else "the kernel is not locked down"

    def ask_vm(self, _):
        return None if IN_GUEST else "only in a test guest"

    def ask_slow(self, _):
        return None  # in a guest; -s runs it in some

    def ask_fast(self, _):
        return "too slow in a test guest" if IN_GUEST else None

    def ask_tp(self, event):
        return None if os.path.exists("/sys/kernel/tracing/events/" + event) else f"no tracepoint {event}"

    def ask_python(self, word):
        run = subprocess.run(["sh", "-c", f". '{LIB}'; python_with {word}"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, check=False)
        return f"no python3 with -X {word}" if run.returncode else None

    def ask_cmd(self, name):
        return None if shutil.which(name) else f"no command {name}"

    def ask_file(self, path):
        return None if os.access(path, os.R_OK) else f"no {path}"

    def ask_feature(self, name):
        text = self.of("features", lambda _: self.output(self.sonde, "info", "--json"))
        return None if f'"name": "{name}", "available": "yes"'.lower() in text.lower() else f"the kernel lacks {name}"

    def functions(self):
        """Names of all functions; parts that a compiler made of a function count as it."""
        return {line.split()[2].split(".")[0] for line in cases.lines_of(cases.read_text("/proc/kallsyms"))}

    def ask_sym(self, name):
        return None if name in self.of("sym names", lambda _: self.functions()) else f"no {name} in this kernel"

    def ask_func(self, name):
        run = subprocess.run([self.sonde, "-l", "uprobe:" + name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return None if run.stdout.strip() else f"no name of {name}"

    def ask_usdt(self, path):
        return None if shutil.which("readelf") and "stapsdt" in self.output("readelf", "-n", path) else f"no USDT in {path}"

    def ask_runs(self, program):
        try:
            works = subprocess.run([os.path.join(self.programs, program)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, check=False).returncode == 0
        except OSError:  # not built, or for another processor
            works = False
        return None if works else f"{program} does not work on this machine"

    def ask_prog(self, program):
        built = os.access(os.path.join(self.programs, program), os.X_OK)
        return None if built else f"test program {program} was not built"

    def ask_option(self, name):
        text = self.of("help", lambda _: self.output(self.sonde, "--help"))
        return None if name in text else f"no {name} yet"


def load_module(name):
    """Loads a module of the guest behind those that it needs; whether there was something to load. tests/vm/modules.sh
    does the same in a shell."""
    if os.path.exists("/sys/module/" + name) or not os.path.exists(f"{MODULES}/{name}.ko"):
        return False
    for needed in cases.read_text(f"{MODULES}/{name}.needs").split():
        load_module(needed)
    subprocess.run(["busybox", "insmod", f"{MODULES}/{name}.ko"], check=False)
    return True


class Case:
    """A case of a file, its tries and how it ended: passed, failed, skipped, or None while it is to be tried again."""

    def __init__(self, number, fields):
        self.fields = fields
        self.title = f"{number:03} - {fields['file'].removesuffix('.t')}: {fields['name']}"
        self.state = None
        self.load = None
        self.shown = None  # what the first try that failed showed
        self.tries = []  # (seconds, seconds of a processor)


class Runner:
    def __init__(self, sonde, programs, slow, work):
        self.sonde = sonde
        self.programs = programs
        self.slow = slow  # factor for all time limits
        self.work = work
        self.needs = Needs(sonde, programs)
        self.groups = set()  # process groups of cases that run
        self.lock = threading.Lock()
        self.stopping = False

    def say(self, *lines):
        with self.lock:
            print(*lines, sep="\n", flush=True)

    def command(self, fields):
        if fields.get("run"):
            return ["sh", "-c", f". '{LIB}'; {fields['run']}"]
        command = [self.sonde, *fields.get("args", "").split()]
        if fields.get("load"):
            command += ["-c", os.path.join(self.programs, fields["load"])]
        return [*command, "-e", fields.get("prog", ""), *fields.get("params", "").split()]

    def execute(self, case, patience, folder):
        """Runs the case: (exit code as a shell tells it, standard output, standard error)."""
        fields = case.fields
        env = dict(os.environ, TEST_SLOW=str(self.slow * patience), SONDE=self.sonde, SONDE_TESTS=self.programs,
                   TEST_LIB=HERE)
        if fields.get("run"):
            env["TMPDIR"] = os.path.join(folder, "tmp")
            os.mkdir(env["TMPDIR"])
        env.update(e.split("=", 1) for e in fields.get("env", "").split())
        limit = int(fields.get("timeout", "10")) * self.slow * patience
        paths = [os.path.join(folder, name) for name in ("out", "err")]
        with open(paths[0], "wb") as out, open(paths[1], "wb") as err:
            start = time.monotonic()
            command = [a.encode("latin-1") for a in self.command(fields)]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, start_new_session=True)
            with self.lock:
                self.groups.add(process.pid)
            late = not self.wait(process, limit)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            with self.lock:
                self.groups.discard(process.pid)
            case.tries.append((time.monotonic() - start, usage.ru_utime + usage.ru_stime))
        rc = 124 if late else process.returncode if process.returncode >= 0 else 128 - process.returncode
        text = cases.read_text(paths[1])
        if late:
            text += f"(stopped, the limit is {limit} s)\n"
            if fields.get("run"):
                end_all_with(f"TMPDIR={env['TMPDIR']}")
        return rc, cases.read_text(paths[0]), text

    def wait(self, process, limit):
        """Whether the process ended in time. One that did not is ended, with all of its group."""
        fd = os.pidfd_open(process.pid)
        try:
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            if poll.poll(limit * 1000):
                return True
            os.killpg(process.pid, signal.SIGTERM)
            if not poll.poll(2000):
                os.killpg(process.pid, signal.SIGKILL)
            return False
        finally:
            os.close(fd)

    def one(self, case, patience):
        """Runs and judges a case, and prints how it ended at once."""
        why = self.needs.missing(case.fields)
        if why:
            case.state = "skipped"
            self.say(f"ok {case.title} # SKIP {why}")
            return
        if IN_GUEST:  # the console of a guest that dies shows what it was at
            with open("/dev/kmsg", "w", encoding="latin-1") as console:
                console.write(f"<3>case {case.title}")
        folder = tempfile.mkdtemp(dir=self.work)
        rc, out, err = self.execute(case, patience, folder)
        if self.stopping:
            return
        why = cases.differences(case.fields, rc, out, err)
        shown = [f"# {line}" for line in show(case.fields, why, out, err)] if why else []
        was_late = re.search(r"^(\(stopped, the limit is|never: )", err, re.M)
        if not why:
            case.state = "passed"
            self.say(f"ok {case.title}")
        elif patience == 1 or (patience == 2 and was_late):
            case.shown = shown
            if not IN_GUEST and case.load is None:  # emulated machines are never quiet
                case.load = cases.read_text("/proc/loadavg").split()[0]
            self.say(f"# {case.title}: failed, runs again alone", *shown)
        else:
            case.state = "failed"
            self.say(f"not ok {case.title}", *shown)
        shutil.rmtree(folder, ignore_errors=True)  # in a test guest it lies in memory

    def run(self, all_cases, jobs):
        todo = iter([case for case in all_cases if "alone" not in case.fields])

        def work():
            while not self.stopping:
                with self.lock:
                    case = next(todo, None)
                if case is None:
                    return
                self.one(case, 1)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for worker in [pool.submit(work) for _ in range(jobs)]:
                worker.result()  # an exception ends all
        for case in all_cases:
            if "alone" in case.fields:
                self.one(case, 1)
        self.try_again(all_cases)

    def try_again(self, all_cases):
        """Cases share the machine, and the kernel skips a probe that another one interrupts: what failed is tried again.
        Where much is broken that is reported soon."""
        enough = time.monotonic() + FURTHER_TRIES * self.slow
        given_up = 0
        for patience in (2, 4):
            for case in [c for c in all_cases if c.state is None]:
                if time.monotonic() < enough:
                    self.one(case, patience)
                else:
                    case.state = "failed"
                    given_up += 1
                    self.say(f"not ok {case.title}", *case.shown)
        if given_up:
            self.say(f"# {given_up} that failed were not tried again: further tries took {FURTHER_TRIES * self.slow} s")

    def stop(self, *_):
        self.stopping = True
        for group in list(self.groups):
            try:
                os.killpg(group, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.work, ignore_errors=True)
        os._exit(130)


def end_all_with(setting):
    """Ends what a case that was stopped left running: it would be in the way of others."""
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as f:
                if setting.encode() in f.read().split(b"\0"):
                    os.kill(int(path.split("/")[2]), signal.SIGKILL)
        except OSError:
            pass


def show(fields, why, out, err):
    """What is wrong, the differences in full, and what was said on standard error."""
    yield from why
    for kind in cases.TEXTS:
        if kind in fields and any(line.startswith(f"differs: {kind}") and line[9 + len(kind):][:1] in ("", ",") for line in why):
            got = err if kind.startswith("err") else out
            diff = difflib.unified_diff(cases.lines_of(fields[kind]), cases.lines_of(got), lineterm="")
            yield from list(diff)[2:42]
    yield from cases.lines_of(err)[:20]


def report(all_cases, least, listed):
    """The end: cases that passed at a later try, the slowest, and the sum."""
    again = [case for case in all_cases if case.state == "passed" and case.shown is not None]
    for case in again:
        print(f"# passed at a later try: {case.title}" + (f" (load {case.load})" if case.load else ""))
    if again:
        print(f"{len(again)} at a later try")
    took = [(seconds, used, case.title) for case in all_cases for seconds, used in case.tries]
    for seconds, used, title in sorted(took, reverse=True)[:listed or 10]:
        if listed or seconds >= least:
            print(f"# took {seconds:.1f} s, {used:.1f} s of a processor: {title}")
    if listed:
        for _, used, title in sorted(took, key=lambda t: -t[1])[:listed]:
            print(f"# used {used:.1f} s of a processor: {title}")
        print(f"# all cases took {sum(t[0] for t in took):.0f} s, {sum(t[1] for t in took):.0f} s of a processor")
    count = [sum(case.state == state for case in all_cases) for state in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*count))
    return count[1] == 0


def read_cases(paths, share, spread, pattern):
    """
    The cases of the files that run: one of every N (the share). Spread "all": of those that depend on the kernel, all.
    Spread "new": likewise, but one of every four if it is not only for guests. Spread "even": no difference. Slow ones are
    rarer: one of every N where more would run, else one of every 4 N.
    """
    turn, share = (int(n) for n in share.split("/"))
    found = []
    for path in paths:
        for fields in cases.parse(path):
            of_kernel = spread != "even" and cases.depends_on_kernel(fields)
            every = share
            if of_kernel:
                every = 4 if spread == "new" and share > 1 and not cases.is_for_guests(fields) else 1
            if share > 1 and cases.is_slow(fields):
                every = share if of_kernel else 4 * share
            if cases.hash_of(fields["name"]) % every == turn % every:
                found.append(fields)
    numbered = [Case(n, fields) for n, fields in enumerate(found, 1)]
    return [case for case in numbered if fnmatch.fnmatchcase(case.fields["name"], pattern)]


def main(argv):
    options, args = getopt.getopt(argv, "j:n:s:erl:")
    options = dict(options)
    spread = "even" if "-e" in options else "new" if "-r" in options else "all"
    sonde, *paths = args
    if "/" in sonde:
        if not os.access(sonde, os.X_OK):
            print(f"run.sh: no {sonde}")
            return 1
        sonde = os.path.realpath(sonde)  # cases may change folders
    files = [f for p in paths or ["tests/run"] for f in (sorted(glob.glob(p + "/*.t")) if os.path.isdir(p) else [p])]
    all_cases = read_cases(files, options.get("-s", "0/1"), spread, options.get("-n", "*"))
    if os.geteuid() != 0:
        print(f"NOT RUN: tracing needs root\n0 passed, 0 failed, {len(all_cases)} skipped")
        return 0
    slow = int(os.environ.get("TEST_SLOW") or 1)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        runner = Runner(sonde, os.environ.get("SONDE_TESTS") or "build/tests", slow, work)
        signal.signal(signal.SIGINT, runner.stop)
        signal.signal(signal.SIGTERM, runner.stop)
        runner.run(all_cases, int(options.get("-j", "2")))
    return 0 if report(all_cases, 5 * slow, int(options.get("-l", "0"))) else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="latin-1")
    try:
        sys.exit(main(sys.argv[1:]))
    except (cases.BadFile, OSError) as bad:
        sys.exit(f"run.sh: {bad}")
    except getopt.GetoptError as bad:
        print(bad, file=sys.stderr)
        sys.exit(2)
