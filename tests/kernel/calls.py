#!/usr/bin/env python3
"""sonde strace beside strace on the same run of a program: same calls, same arguments, same results.

    tests/kernel/calls.py SONDE [STRACE]      a line for each program that differs, then how many were the same

Each program runs twice in a new folder with the same files, at the same addresses (no randomization). With -f the calls
of each process are compared by themselves, since processes take turns as they like. What docs/tools.md lists as
different, and what is never the same twice (numbers of processes, free memory, random names), is made equal first. -v:
all lines that differ.
"""
import collections, difflib, os, re, shlex, shutil, subprocess, sys, tempfile

SETUP = """mkdir dir && for i in 1 2 3; do echo "line $i of file" >dir/f$i; done && seq 1 2000 >numbers && printf 'b\\na\\nc\\n' >words
printf 'all: one two\\n\\tcat one two >all\\none:\\n\\techo 1 >one\\ntwo:\\n\\techo 2 >two\\n' >Makefile
echo 'int main(void) { return 0; }' >m.c; touch -d 2020-01-01 dir/* dir numbers words Makefile m.c"""
PROGRAMS = """
ls -l dir
cat numbers words
cp -a dir copy
mv words renamed
ln -s words link
rm -r dir
touch new
install -m 755 words bin
stat words
head -c 100 numbers
tail -n 3 numbers
grep -r line .
find . -type f -size -100k
tar cf x.tar dir
sort -r numbers -o sorted
md5sum numbers
sed -i s/line/LINE/ dir/f1
awk '{ n += $1 } END { print n }' numbers
date -u +%Y
id
env
uname -a
sleep 0.01
gzip -k words
xz -k words
diff -r dir dir
du -s .
dd if=numbers of=out bs=512 conv=fsync status=none
bash -c 'read x <words; echo $x'
perl -e 'open F, "<words"; print sort <F>; mkdir "p"; rmdir "p"'
/usr/bin/python3 -I -c 'import os; open("words").read(); os.listdir("."); open("new", "w").write("x")'
git init -q r
timeout 5 true
xargs -a words -n 1 echo
find dir -type f -exec cat {} ;
make
gcc -c m.c
df
ionice -c 3 true
setpriv --no-new-privs true
sqlite3 x.db 'create table t(a)'
/usr/bin/python3 -I -c 'import fcntl; f = open("words", "r+"); fcntl.lockf(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_UN)'
/usr/bin/python3 -I -c 'import pty, termios; m, s = pty.openpty(); termios.tcsetattr(s, 1, termios.tcgetattr(s)); termios.tcflush(s, 2)'
/usr/bin/python3 -I -c 'import socket as s; a, b = s.socketpair(); s.send_fds(a, [b"x"], [1, 2]); s.recv_fds(b, 1, 2)'
/usr/bin/python3 -I -c 'import socket as s; t = s.socket(); t.setsockopt(1, 13, b"\\1\\0\\0\\0\\5\\0\\0\\0"); t.getsockopt(1, 13, 8)'
/usr/bin/python3 -I -c 'import select, os; r, w = os.pipe(); os.write(w, b"x"); select.select([r], [w], [], 5); select.select([r], [], [])'
"""
SAME = [  # what differs by nature, and what docs/tools.md explains
    (r" /\* \d{4}-\d\d-\d\dT[^*]*\*/", ""),
    (r"BTRFS_IOC_CLONE or FICLONE", "FICLONE"),
    (r"^rseq\(.*\) = ", "rseq() = "),
    (r"^rt_sigreturn\(.*\) = .*", "rt_sigreturn()"), # its result is what a register held where the signal came
    (r"^sysinfo\(.*\) = ", "sysinfo() = "),
    (r"^getrusage\(.*\) = ", "getrusage() = "),
    (r"^getrandom\(.*\) = ", "getrandom() = "),
    (r"(statfs\(.*f_type=\w+).*\) = ", r"\1) = "),
    (r"^(set_tid_address\(.*\)|get\w*id\(\)) = \d+", r"\1 = N"),
    (r"si_utime=\d+, si_stime=\d+", "si_utime, si_stime"),
    (r"(^execve\(.*\]), 0x[0-9a-f]+( /\* \d+ vars? \*/)?", r"\1, environ"),
    (r"^(getdents64\(.*) /\* \d+ entries \*/", r"\1"),
    (r"SNDCTL_TMR_\w+ or (TC\w+)", r"\1"),
    (r"left \{[^}]*\}", "left"),
    (r"^(read\(\d+), \".*\"\.\.\., 44\) = 44", r"\1, random, 44) = 44"),
    (r"^(pwrite64\(\d+), \".*\"\.\.\., 512, 0", r"\1, header, 512, 0"),
    (r'^read\((\d+), "[^"]*", 4\) = 4', r"read(\1, random, 4) = 4"),
    (r"/cc\w{6}\.", "/ccXXXXXX."),
    (r"/sed\w{6}\b", "/sedXXXXXX"),
    (r"\.git/t\w{6}\"", '.git/tXXXXXX"'),
]


def calls_of(path):
    """The calls by process, each a line; those that strace cut in two are put together."""
    by, open_calls, first = collections.OrderedDict(), {}, None
    for line in open(path, errors="replace"):
        m = re.match(r"(?:\[pid +(\d+)\] |(\d+) +)", line)
        pid = (m[1] or m[2]) if m else first
        first = first or pid
        line = line[m.end():] if m else line
        line = line.rstrip("\n")
        if line.startswith("---"):
            continue  # a child's end may come between any two calls
        if cut := re.match(r"(.*?) <unfinished \.\.\.>\)?( += \?)?$", line):
            open_calls[pid] = cut[1]
            continue
        if rest := re.match(r"<\.\.\. \w+ resumed>(.*)", line):
            begun = open_calls.pop(pid, "")
            line = begun + (" " if begun.endswith(",") and not rest[1].startswith(" ") else "") + rest[1]
        by.setdefault(pid, []).append(re.sub(r"\s+= (-?\d|\?|0x)", r" = \1", line))
    return by


def in_order(by):
    """The processes from the first one on, children where they were made."""
    order = []

    def visit(pid):
        if pid not in order and pid in by:
            order.append(pid)
            for line in by[pid]:
                if m := re.match(r"(?:v?fork|clone3?)\(.* = (\d+)", line):
                    visit(m[1])

    for pid in by:
        visit(pid)
    return order


def lines_of(path):
    by = calls_of(path)
    order = in_order(by)
    number = {pid: f"P{i}" for i, pid in enumerate(order)}
    for pid in order:
        for line in by[pid]:
            line = re.sub(r"\b\d{2,7}\b", lambda m: number.get(m[0], m[0]), line)
            for pattern, text in SAME:
                line = re.sub(pattern, text, line)
            yield line


def run(tracer, program, folder, out):
    work = f"{folder}/d"
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    subprocess.run(["sh", "-c", SETUP], cwd=work, check=True)
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin", "HOME": folder, "LC_ALL": "C"}
    return subprocess.run(["setarch", "-R"] + tracer + ["-f", "-o", out] + shlex.split(program), cwd=work, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def differences(sonde, strace, program, folder):
    codes = [run(strace, program, folder, folder + "/theirs"), run(sonde, program, folder, folder + "/ours")]
    theirs, ours = list(lines_of(folder + "/theirs")), list(lines_of(folder + "/ours"))
    if codes[0] != codes[1] or len(theirs) < 20:
        return [f"exit codes {codes[0]} and {codes[1]}, {len(theirs)} calls"]
    found = difflib.unified_diff(theirs, ours, "strace", "sonde", n=0, lineterm="")
    return [d for d in found if not d.startswith(("---", "+++", "@@"))]


def main():
    verbose = "-v" in sys.argv
    args = [a for a in sys.argv[1:] if a != "-v"]
    sonde = [os.path.abspath(args[0]), "strace", "-q"]
    strace = shlex.split(args[1]) if len(args) > 1 else ["strace"]
    same = differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS.strip().split("\n"):
            if not shutil.which(shlex.split(program)[0]):
                continue
            for _ in range(3):  # what is read at once from a pipe, when a child ends: may differ
                if not (found := differences(sonde, strace, program, folder)):
                    break
            same += not found
            differ += bool(found)
            if found:
                print(f"{program}: {len(found)} lines differ", *found[:None if verbose else 4], sep="\n  ", flush=True)
    print(f"{same} programs: the same" if same >= 10 else f"only {same} programs: the same")
    sys.exit(bool(differ))


main()
