"""Reads test files (tests/run/*.t) and compares what a case printed with what it should print.

A case is a dictionary: keyword in lower case -> text. `file` is the name of its file, without the folder. Texts to compare
(expect, expect_re, err, err_re) have all their lines; other texts have no newline at the end.

All text is read as Latin-1, so that any byte can be compared and `.` in a regular expression stands for one byte.

    cases.py expect_re DIRECTORY        prints "NAME: differs: line N" for each NAME.want_expect_re of the directory whose
                                        lines do not match those of NAME.out
    cases.py list FILE...               prints the cases with a script as shell assignments, a NUL byte behind each
"""
import os
import re
import shlex
import sys

KEYWORDS = "NAME PROG ARGS PARAMS RUN LOAD ENV EXPECT EXPECT_RE ERR ERR_RE RC TIMEOUT NEEDS ALONE".split()
TEXTS = ("expect", "expect_re", "err", "err_re")
# What a case needs when what it shows depends on the kernel.
OF_KERNEL = re.compile("kprobe|fentry|vm|hardware|before:|since:|sym:|feature:|btf:")
# Of these needs those that the kernel on which the tests are started may not meet, though it is a recent one.
OF_GUESTS = re.compile("kprobe|fentry|vm|hardware|lockdown|before:|module:")
WRAPPERS = {"x86_64": "__x64_sys_", "aarch64": "__arm64_sys_"}


class BadFile(Exception):
    pass


def read_text(path):
    with open(path, encoding="latin-1", newline="\n") as f:
        return f.read()


def lines_of(text):
    """The lines of a text; the last one needs no newline."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _finish(case, path):
    for key in case:
        if key not in TEXTS and case[key].endswith("\n"):
            case[key] = case[key][:-1]
    case["file"] = os.path.basename(path)
    return case


def _local(text):
    """What the names of the processor stand for on this machine."""
    machine = os.uname().machine
    return text.replace("__ARCH_sys_", WRAPPERS.get(machine, "__ARCH_sys_")).replace("ARCH-linux-gnu", machine + "-linux-gnu")


def parse(path):
    """Returns the cases of a file. Raises BadFile, whose text begins with the file and the line."""
    cases, last = [], None
    for number, line in enumerate(lines_of(_local(read_text(path))), 1):
        if line.startswith("#"):
            continue
        if line == "":
            last = None
        elif line.startswith("\t"):
            if last is None:
                raise BadFile(f"{path}:{number}: a continued line without a keyword")
            # No line of a block is empty: one with only $ means an empty one.
            cases[-1][last] += ("" if line[1:] == "$" else line[1:]) + "\n"
        else:
            word, rest = re.fullmatch(r"(\S*)\s*(.*)", line).groups()
            if word not in KEYWORDS:
                raise BadFile(f"{path}:{number}: unknown keyword {word}")
            last = word.lower()
            if last == "name":
                cases.append({})
            elif not cases:
                raise BadFile(f"{path}:{number}: {word} before the first NAME")
            cases[-1][last] = rest + "\n" if rest else ""
    return [_finish(case, path) for case in cases]


def hash_of(name):
    """A number made of the name's letters and digits: where a case runs does not depend on what other cases there are."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    value = 0
    for c in name:
        at = digits.find(c)
        if at >= 0:
            value = (value * 37 + at + 1) % 65521
    return value


def is_slow(case):
    return "slow" in case.get("needs", "").split()


def depends_on_kernel(case):
    needs = case.get("needs", "")
    return case["file"].startswith("vm-") or OF_KERNEL.search(needs) is not None


def is_for_guests(case):
    """Whether a case that depends on the kernel may be one that runs in test guests only."""
    return case["file"].startswith("vm-") or OF_GUESTS.search(case.get("needs", "")) is not None


# ---- comparing ----

def compile_line(line):
    """The pattern for one whole line. Patterns are extended regular expressions without repeat counts."""
    out, at, in_set = [], 0, False
    while at < len(line):
        c = line[at]
        if in_set:
            named = re.match(r"\[:(alpha|digit|alnum|space|upper|lower|xdigit|punct):\]", line[at:])
            if named:
                out.append({"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "space": r"\s", "upper": "A-Z",
                            "lower": "a-z", "xdigit": "0-9a-fA-F", "punct": "!-/:-@\\[-`{-~"}[named.group(1)])
                at += named.end()
                continue
            if c == "\\" and at + 1 < len(line):
                out.append(line[at:at + 2])
                at += 2
                continue
            out.append("\\[" if c == "[" else c)
            in_set = c != "]" or at == opened
        elif c == "\\":
            out.append(line[at:at + 2])
            at += 2
            continue
        elif c == "[":
            in_set = True
            out.append(c)
            opened = at + 1  # a bracket here is one of the set
            if line[at + 1:at + 2] == "^":
                out.append("^")
                at += 1
                opened += 1
        else:
            out.append("\\" + c if c in "{}" else c)
        at += 1
    try:
        return re.compile("".join(out))
    except re.error as why:
        raise BadFile(f"not a regular expression: {line}: {why}") from why


def _matches(wanted, got, at):
    """How many of the wanted lines match the lines from that one on, one by one."""
    n = 0
    while n < len(wanted) and at + n < len(got) and wanted[n].fullmatch(got[at + n]):
        n += 1
    return n


def differs_re(wanted, got):
    """None when the lines match, else the first line (from 1) of got that matches nothing. `...` stands for any lines."""
    blocks = [[]]
    for line in wanted:
        if line == "...":
            blocks.append([])
        else:
            blocks[-1].append(compile_line(line))
    first, rest = blocks[0], blocks[1:]
    n = _matches(first, got, 0)
    if n < len(first):
        return n + 1
    if not rest:
        return None if n == len(got) else n + 1
    at = reached = n
    for block in rest[:-1]:
        while (n := _matches(block, got, at)) < len(block):
            reached = max(reached, at + n)
            at += 1
            if at > len(got):
                return reached + 1
        at += len(block)
    last = rest[-1]
    at, from_end = len(got) - len(last), at
    if at < from_end or (n := _matches(last, got, at)) < len(last):
        return max(reached, at + n if at >= from_end else len(got)) + 1
    return None


def differences(case, rc, out, err):
    """All that is wrong with a case that was run, as lines; none when it passed."""
    why = []
    wanted = int(case.get("rc", "0"))
    if rc != wanted:
        why.append(f"exit code {rc}, not {wanted}")
    for kind in TEXTS:
        if kind not in case:
            continue
        got = lines_of(err if kind.startswith("err") else out)
        want = lines_of(case[kind])
        if kind.endswith("_re"):
            line = differs_re(want, got)
            if line is not None:
                why.append(f"differs: {kind}, line {line}")
        elif got != want:
            why.append(f"differs: {kind}")
    if "err" not in case and "err_re" not in case and "run" not in case and wanted == 0:
        why += ["stderr: " + line for line in lines_of(err) if re.search("ERROR:|BUG|Sanitizer|runtime error:", line)]
    return why


def main(args):
    if len(args) == 2 and args[0] == "expect_re":
        for name in sorted(os.listdir(args[1])):
            base, ending, rest = os.path.join(args[1], name).partition(".want_expect_re")
            if not ending or rest:
                continue
            line = differs_re(lines_of(read_text(base + ending)), lines_of(read_text(base + ".out")))
            if line is not None:
                print(f"{os.path.basename(base)}: differs: line {line}")
        return 0
    if len(args) > 1 and args[0] == "list":
        for path in args[1:]:
            for case in parse(path):
                if not case.get("prog"):
                    continue
                sys.stdout.buffer.write("".join(
                    f"{key}={shlex.quote(case.get(key, ''))}\n" for key in ("name", "file", "prog", "args", "params", "env")
                ).encode("latin-1") + b"\0")
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadFile as bad:
        sys.exit(str(bad))
