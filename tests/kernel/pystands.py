#!/usr/bin/env python3
"""`sonde stacks` against Python's own idea of the stacks of all threads of a process:

    tests/kernel/pystands.py SONDE PYTHON

Python runs progs/pystands.py, whose threads wait. Both must name the same files and lines. As root.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')
THREADS = 5
SECONDS = 60


def dumped(path):
    """faulthandler's stacks, without their threads' names; None: not all are written."""
    text = open(path, encoding="utf-8").read()
    stacks = [[(m[1], int(m[2])) for m in FRAME.finditer(part)] for part in text.split("Thread 0x")[1:]]
    whole = text.endswith("\n") and len(stacks) == THREADS
    return sorted(stacks) if whole else None


def wait_for(path):
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        stacks = dumped(path) if os.path.exists(path) else None
        if stacks:
            time.sleep(0.1)  # the last stack may grow
            if dumped(path) == stacks:
                return stacks
        time.sleep(0.05)
    sys.exit("Python has not written its stacks")


def told(sonde, pid):
    done = subprocess.run([sonde, "stacks", "-q", "-j", "-U", "-p", str(pid)], check=True, capture_output=True, text=True)
    if done.stderr:
        sys.exit(done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [row for row in rows if row.get("table") == "threads"]
    return sorted([(f["file"], f["line"]) for f in row["ustack"] if f.get("lang") == "python"] for row in rows)


def main():
    sonde, python = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stacks")
        program = subprocess.Popen([python, os.path.join(TESTS, "progs", "pystands.py"), path], stdin=subprocess.PIPE)
        try:
            want = wait_for(path)
            got = told(sonde, program.pid)
        finally:
            program.stdin.close()
            program.wait()
    if want != got:
        sys.exit(f"Python: {want}\nsonde:  {got}")
    print(f"{len(got)} stacks, {sum(map(len, got))} frames are the same")


main()
