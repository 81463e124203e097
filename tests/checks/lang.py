#!/usr/bin/env python3
"""lang.py [--update] [FILE...] - compiler tests: a script and what sonde must print for it, in one file. No root.

	// RUN: -d ast                options; VAR=value words in front go to the environment; comments may
	                              stand before it. Without -d the script is compiled: nothing is attached here
	begin { exit() }              the script, which sonde reads from standard input
	// EXPECT rc=1                rc=0 when not given
	// program                    whole output, stdout and stderr, each line behind "// "

err.CODE.what.bt must also report CODE. A code of diag.def without such a test is a failure when all files
are run, unless tests/lang/elsewhere names it (and the runtime test that provokes it) or STRICT_CODES=0.
"""
import concurrent.futures
import difflib
import glob
import os
import re
import shlex
import subprocess
import sys

TIME_LIMIT = 30  # seconds


def read(path):
    with open(path, encoding="latin-1", newline="\n") as f:
        return f.read()


class Test:
    """A file: its options, its script, and what must be printed."""

    def __init__(self, path):
        self.path = path
        self.run, self.rc, self.script, self.want = "", 0, "", ""
        self.head = ""  # all that stands before EXPECT, for --update
        begun = expected = False
        for line in re.findall("[^\n]*\n|[^\n]+", read(path)):
            text = line.rstrip("\n")
            option = re.match("// RUN:[ \t]*(.*)", text)
            end = re.fullmatch("// EXPECT(?: rc=([0-9]+))?", text)
            if not expected and not end:
                self.head += line
            if not begun and option:
                self.run = option.group(1)
                continue
            begun = begun or not text.startswith("//")
            if not expected and end:
                expected, self.rc = True, int(end.group(1) or 0)
            elif expected:
                self.want += re.sub("^// ?", "", line)
            else:
                self.script += line

    def print(self, sonde, host, **settings):
        """(exit code, what sonde prints for the script), on the recorded machine."""
        words = shlex.split(self.run)
        env = dict(os.environ, **settings)
        while words and re.match("[A-Z][^=]*=", words[0]):
            name, _, value = words.pop(0).partition("=")
            env[name] = value
        if "-d" not in words[:-1]:
            words = ["--mode", "codegen", "--verify-llvm-ir", *words]
        try:
            done = subprocess.run([sonde, "--root", "6.1-x86_64", "-", *words], input=self.script.encode("latin-1"), env=env, cwd=host,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_LIMIT, check=False)
        except subprocess.TimeoutExpired as late:
            return 124, (late.stdout or b"").decode("latin-1")
        rc = done.returncode
        return (rc if rc >= 0 else 128 - rc), done.stdout.decode("latin-1")

    def update(self, rc, got):
        """None, or why the file was left alone: sonde crashed, took too long, or could not be run."""
        if 124 <= rc < 255:
            return got
        text = self.head + "// EXPECT" + (f" rc={rc}" if rc else "") + "\n"
        text += "".join("//\n" if line == "\n" else "// " + line for line in re.findall("[^\n]*\n|[^\n]+", got))
        text += "" if text.endswith("\n") else "\n"
        with open(self.path, "w", encoding="latin-1", newline="\n") as f:
            f.write(text)
        return None

    def judge(self, sonde, host):
        """What is wrong, as lines; none when all is as expected."""
        rc, got = self.print(sonde, host)
        if rc != self.rc or got != self.want:
            diff = difflib.unified_diff(self.want.split("\n"), got.split("\n"), lineterm="")
            return [f"exit code {rc}, expected {self.rc}", *list(diff)[2:42]]
        code = re.match(r".*/err\.([^.]*)\.", self.path)
        if code and f"[{code.group(1)}]" not in self.print(sonde, host, SONDE_CODES="1")[1]:
            return [f"does not report {code.group(1)}"]
        return []


def codes_without_test():
    """What is wrong with the list of codes, as lines."""
    elsewhere = [line.split(None, 2) for line in read("tests/lang/elsewhere").splitlines() if line and not line.startswith("#")]
    codes = re.findall(r"^D\(([EW]_[A-Z_]*),", read("src/base/diag.def"), re.M)
    known = {code for code, _, _ in elsewhere}
    missing = [code for code in codes if code not in known and not glob.glob(f"tests/lang/err.{code}.*.bt")]
    wrong = [f"codes without a test: {' '.join(missing)}"] if missing and os.environ.get("STRICT_CODES") != "0" else []
    for code, path, name in elsewhere:
        if not re.search(rf"^(NAME|\t#) {re.escape(name)}$", read(path), re.M):
            wrong.append(f"tests/lang/elsewhere: {code}: {path} has no test named {name}")
    return wrong


def main(args):
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/../..")
    sonde = os.path.realpath(os.environ.get("SONDE", "build/sonde"))
    # The recorded machine that `make check` builds beside the program; scripts find its program ./app there.
    host = os.path.dirname(sonde) + "/host"
    if not os.access(sonde, os.X_OK):
        sys.exit(f"lang.py: no program {sonde}")
    if not os.path.isfile(host + "/app"):
        sys.exit(f"lang.py: no recorded machine in {host}: make check makes it")
    update = args[:1] == ["--update"]
    paths = args[1:] if update else args
    tests = [Test(path) for path in paths or sorted(glob.glob("tests/lang/*.bt"))]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or 1)) as pool:
        def one(test):
            return test.update(*test.print(sonde, host)) if update else test.judge(sonde, host)
        for n, (test, wrong) in enumerate(zip(tests, pool.map(one, tests)), 1):
            if wrong:
                failed += 1
                print(f"not ok {n} - {test.path}", *[f"# {line}" for line in (wrong.split("\n") if update else wrong)], sep="\n")
            else:
                print(f"updated {test.path}" if update else f"ok {n} - {test.path}")
    if update:
        return failed > 0
    if not paths:
        wrong = codes_without_test()
        failed += len(wrong)
        for line in wrong:
            print(f"# {line}")
    print(f"1..{len(tests)}\n{len(tests) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="latin-1")
    sys.exit(main(sys.argv[1:]))
