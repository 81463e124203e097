#!/usr/bin/env python3
"""words.py - messages say at least what bpftrace's messages say.

    tests/diff/words.py [-u] SONDE [NAME...]

words.txt has a line for each kind of mistake or warning: a name, a verdict, arguments of the command line. Both programs
are run, and what bpftrace's first message names must be in sonde's messages, in whatever words:
  kind    error or warning, of which the exit code of both tells
  place   a line and columns that overlap
  names   what is in quotes, and numbers, $variables, @maps, words with _ and : in them
The verdicts:
  same        nothing is missing, and both end alike
  more        the same; sonde's message has a hint, or further names, that bpftrace's lacks
  on purpose  something is missing, or one refuses what the other runs; the reason is in the column behind the arguments
A case whose verdict is not that of the file is printed with both outputs, and fails; -u writes the verdicts (not their
reasons). The reference is $BPFTRACE, else bpftrace in PATH; without bpftrace 0.27 all is skipped, and only the file is
checked: every name once, every verdict known, every "on purpose" with a reason.
"""
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.txt")
VERDICTS = ("same", "more", "on purpose")
# What bpftrace says of the machine on every run
NOISE = re.compile(r"WARNING: (Could not read functions|Unknown error -1|Addrspace is not set|The kernel contains bpf_iter)")
MESSAGE = re.compile(r"^(?:(\S+?):(\d+):(?:(\d+)-)?(\d+)(?:-\d+)?: )?(?:BUG|ERROR|WARNING|HINT|fatal error|error|Warning): ?(.*)")
SOURCE = ("stdlib/", "definitions.h")


class Case:
    def __init__(self, line):
        part = line.split("\t")
        if len(part) not in (3, 4) or part[1] not in VERDICTS:
            sys.exit(f"words.txt: {line}: name, verdict, arguments, reason, with tabs between them")
        self.name, self.verdict, self.args = part[:3]
        self.reason = part[3] if len(part) == 4 else ""


def load():
    cases = [Case(line) for line in open(FILE).read().splitlines() if line and line[0] != "#"]
    for c in cases:
        if sum(c.name == d.name for d in cases) != 1:
            sys.exit(f"words.txt: two cases are called {c.name}")
        if (c.verdict == "on purpose") != bool(c.reason):
            sys.exit(f'words.txt: {c.name}: a reason for "on purpose", and only for that')
    return cases


def run(command):
    env = dict(os.environ, LC_ALL="C")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20,
                              stdin=subprocess.DEVNULL, cwd="/tmp", env=env)
    except subprocess.TimeoutExpired as e:
        return None, (e.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def messages(text):
    """(kind, line, first and last column or None, text) of each message, but those of bpftrace's own library."""
    found = []
    for line in text.splitlines():
        m = MESSAGE.match(line)
        if not m or NOISE.search(line) or (m[1] and m[1].startswith(SOURCE)):
            continue
        kind = re.search(r"(ERROR|WARNING|HINT)", line)
        place = (int(m[2]), int(m[3] or m[4]), int(m[4])) if m[2] else None
        found.append((kind[1] if kind else "ERROR", place, m[5]))
    return found


def names(text):
    text = re.sub(r"https?://\S+", "", text)
    quoted = re.findall(r"'([^'\s]+)'", text) + re.findall(r'"([^"\s]+)"', text)
    return set(quoted) | set(re.findall(r"[$@]\w+|\b\d{2,}\b|\w+_\w+", text))


def overlap(a, b):
    return a[0] == b[0] and a[1] <= b[2] + 1 and b[1] <= a[2] + 1


def missing(ours, theirs, source):
    """What the reference's first message has and none of ours."""
    kind, place, text = theirs[0]
    lacks = []
    said = " ".join(m[2] for m in ours)
    if kind not in [m[0] for m in ours]:
        lacks.append(kind)
    if place and not any(m[1] and overlap(m[1], place) for m in ours):
        lacks.append(f"place {place}")
    return lacks + sorted(n for n in names(text) if n not in said and n not in source)


def judge(ours, theirs, source):
    """The verdict, and why."""
    rc, text = ours
    want_rc, want = theirs
    mine, other = messages(text), messages(want)
    if (rc == 0) != (want_rc == 0):
        return "on purpose", [f"exit code {rc}, bpftrace's {want_rc}"]
    if not other:
        return ("more" if mine else "same"), []
    lacks = missing(mine, other, source)
    if lacks:
        return "on purpose", lacks
    hints = [m for m in mine if m[0] == "HINT"]
    further = names(" ".join(m[2] for m in mine)) - names(" ".join(m[2] for m in other))
    return ("more" if (hints and "HINT" not in [m[0] for m in other]) or further else "same"), []


def main():
    args = sys.argv[1:]
    update = "-u" in args
    args = [a for a in args if a != "-u"]
    if not args:
        sys.exit(__doc__)
    cases = load()
    reference = shlex.split(os.environ.get("BPFTRACE", "bpftrace"))
    try:
        version = run(reference + ["-V"])[1]
    except OSError:
        version = ""
    if "v0.27" not in version or "sonde" in version or os.getuid():
        print("NOT RUN: needs bpftrace 0.27 and root")
        print(f"0 passed, 0 failed, {len(cases)} skipped")
        return 0
    sonde = os.path.abspath(args[0])
    bad = 0
    chosen = [c for c in cases if not args[1:] or c.name in args[1:]]

    def both(c):
        words = shlex.split(c.args)
        return run([sonde] + words), run(reference + words)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(both, chosen))
    for c, (ours, theirs) in zip(chosen, results):
        verdict, why = judge(ours, theirs, c.args)
        if verdict != c.verdict:
            if update:
                c.verdict = verdict
                c.reason = (c.reason or "; ".join(why)) if verdict == "on purpose" else ""
                continue
            bad += 1
            print(f"not ok - {c.name}: {verdict}, not {c.verdict}: {', '.join(why)}\n# bpftrace:\n{theirs[1]}# sonde:\n{ours[1]}")
    if update:
        head = [line for line in open(FILE).read().splitlines() if line.startswith("#")]
        rows = ["\t".join(x for x in (c.name, c.verdict, c.args, c.reason) if x) for c in cases]
        open(FILE, "w").write("\n".join(head + rows) + "\n")
    print(f"{len(chosen) - bad} passed, {bad} failed, 0 skipped")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
