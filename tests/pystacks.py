#!/usr/bin/env python3
"""ustack against Python's own idea of its stack:

    tests/pystacks.py SONDE PYTHON...

Each interpreter runs progs/pycalls.py, which writes its stack at some places, and makes a system call
there, where sonde prints ustack(lang). Both must say the same. As root. Prints a line per interpreter.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROG = os.path.join(HERE, "progs", "pycalls.py")
SCRIPT = """tracepoint:syscalls:sys_enter_getppid
/pid == cpid || curtask->real_parent->tgid == cpid/ { print(ustack(lang)); }"""


def blocks(text):
    return [b for b in ([line.strip() for line in part.split("\n") if line.strip()]
                        for part in text.split("\n\n")) if b]


def try_one(sonde, python):
    with tempfile.TemporaryDirectory() as folder:
        want = os.path.join(folder, "want")
        got = os.path.join(folder, "got")
        done = subprocess.run([sonde, "-q", "-o", got, "-e", SCRIPT, "-c", f"{python} -W ignore {PROG} {want}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode or done.stderr:
            return "exit code %d: %s" % (done.returncode, done.stderr.strip())
        with open(want, encoding="utf-8") as f:
            wanted = blocks(f.read())
        with open(got, encoding="utf-8") as f:
            stacks = blocks(f.read())
    if len(stacks) != len(wanted):
        return "%d stacks instead of %d" % (len(stacks), len(wanted))
    for i, (s, w) in enumerate(zip(stacks, wanted)):
        if not s[0].startswith("mark@" + PROG) or s[1:] != w:
            return "stack %d is\n  %s\ninstead of\n  %s" % (i, "\n  ".join(s), "\n  ".join(w))
    return "%d stacks are the same" % len(stacks)


def main():
    bad = 0
    for python in sys.argv[2:]:
        said = try_one(sys.argv[1], python)
        bad += not said.endswith("are the same")
        print(said if len(sys.argv) == 3 else "%s: %s" % (python, said))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
