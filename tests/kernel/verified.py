#!/usr/bin/env python3
"""verified.py [-u] SONDE - what programs cost the kernel's verifier stays what it is.

Loads, without running it, every script of tests/run/*.t, and every way to store in every kind of map in every kind of loop;
counts the instructions that the verifier walked through (`-v` prints them). A script may cost USUAL of them. What costs more
is in tests/kernel/verified.txt, with its own limit; a row that is not needed any more is an error, too. -u writes the table: twice
what it costs now. Plain scripts may cost ten times what they cost the reference, and CALLS more: sonde tells calls of 32-bit
programs apart. With str() they may cost TEXTS more: arguments of such calls are elsewhere, and the verifier walks through
what reads them twice. With ustack they may cost LANGUAGES more: it walks frames of interpreters, too.

Needs root and a kernel that reports what programs cost (Linux 5.16). The last line sums up.
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/../..")
sys.path.insert(0, "tests/lib")
import cases  # noqa: E402

USUAL = 3000
CALLS = 15
TEXTS = 120
LANGUAGES = 13500
TABLE = "tests/kernel/verified.txt"
TIME_LIMIT = 20  # seconds

# `pid` is a value that nothing bounds.
STORES = ("@", "@[pid]", "@[pid, comm]", "@[kstack]", "@[str(uptr(0x1000))]", "@[ustack, comm]")
VALUES = ("count()", "max(pid)", "stats(pid)", "hist(pid)", "lhist(pid, 0, 100, 1)", "tseries(pid, 1s, 5)", "pid", "comm")
LOOPS = (
    "%s",
    "for $i : 0..10 { %s }",
    "for $i : 0..100 { %s }",
    "$w = 0; while ($w < 7) { %s $w++; }",
    "unroll(10) { %s }",
    "for $i : 0..9 { for $j : 0..9 { %s } }",
    "$w = 0; while ($w < 5) { for $i : 0..5 { %s } $w++; }",
    "$w = 0; while ($w < 4) { $v = 0; while ($v < 4) { %s $v++; } $w++; }",
)
# What these cost in bpftrace 0.27.1 on Linux 6.18: ten times that is the most. Without may_goto (before 6.9) the verifier
# walks through each round of the hashing of a text.
REFERENCE = {
    "@[str(args.filename)] = count()": 61,
    "@[str(args.filename)] = sum(1)": 61,
    "@[pid, str(args.filename)] = count()": 80,
    "@[comm, str(args.filename)] = count()": 273,
    "@[str(args.filename)] = hist(pid)": 136,
    "@[comm] = count()": 140,
    "@[pid] = count()": 55,
    "@ = hist(pid)": 122,
    "@[kstack] = count()": 223,
    "@[ustack, comm] = count()": 309,
}


def cost(sonde, *options, **settings):
    """How many instructions the verifier walked through; 0 when the script could not be loaded here."""
    command = [o.encode("latin-1") for o in (sonde, "--dry-run", "--verify-llvm-ir", "-v", *options)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, **settings), timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return 0
    return sum(int(n) for n in re.findall(rb" instructions, ([0-9]+) verified$", done.stdout, re.M))


def scripts():
    """(name, its limit or None, options, environment) of all that is loaded."""
    for path in sorted(glob.glob("tests/run/*.t")):
        for case in cases.parse(path):
            if case.get("prog"):
                options = [*case.get("args", "").split(), "-e", case["prog"], *case.get("params", "").split()]
                yield f"{case['file']}: {case['name']}", None, options, dict(e.split("=", 1) for e in case.get("env", "").split())
    for loop in LOOPS:
        for store in STORES:
            for value in VALUES:
                body = loop % f"{store} = {value};"
                yield body, None, ["-e", f"tracepoint:sched:sched_process_fork {{ {body} }}"], {}


def plain_scripts(sonde):
    info = subprocess.run([sonde, "info"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    if re.search(rb"MAY_GOTO *yes", info):
        for script, n in REFERENCE.items():
            script = f"tracepoint:syscalls:sys_enter_openat {{ {script}; }}"
            limit = 10 * n + CALLS + TEXTS * ("str(" in script) + LANGUAGES * ("ustack" in script)
            yield script, limit, ["-e", script], {}


def read_table():
    rows = [line.split("\t", 1) for line in cases.lines_of(cases.read_text(TABLE))]
    return {name: int(n) for n, name in rows}


def write_table(costs):
    rows = [(int(n * 2 / 1000 + 1) * 1000, name) for name, limit, n in costs if limit is None and n > USUAL / 2]
    with open(TABLE, "w", encoding="latin-1") as f:
        f.writelines(f"{n}\t{name}\n" for n, name in sorted(rows, key=lambda row: (-row[0], row[1])))


def main(args):
    update = args[:1] == ["-u"]
    sonde = os.path.realpath(args[-1])
    if not cost(sonde, "-e", "begin { exit(); }"):
        print("NOT RUN: needs root and a kernel that reports what programs cost\n0 passed, 0 failed, 1 skipped")
        return 0
    # Without the programs that cases trace, those would cost nothing.
    subprocess.run(["tests/run.sh", "-b"], check=True)
    todo = [*scripts(), *plain_scripts(sonde)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        costs = [(name, limit, n) for (name, limit, _, _), n in
                 zip(todo, pool.map(lambda s: cost(sonde, *s[2], **s[3]), todo))]
    if update:
        write_table(costs)
    table = read_table()
    wrong = 0
    for name, limit, n in costs:
        most = limit or table.get(name, USUAL)
        if n > most:
            wrong += 1
            print(f"not ok - {name}: {n} instructions verified, at most {most} expected")
    for name in sorted(table.keys() - {name for name, _, _ in costs}):
        wrong += 1
        print(f'not ok - {TABLE}: there is no case "{name}"')
    loaded = sum(n > 0 for _, _, n in costs)
    print(f"{loaded - wrong} passed, {wrong} failed, {len(costs) - loaded} skipped")
    return wrong > 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="latin-1")
    sys.exit(main(sys.argv[1:]))
