#!/usr/bin/env python3
"""hostile.py [-n N] [-s SEED] BUILD - damaged recordings whose checksums are right: sonde query must answer or refuse each,
sonde export write or refuse it in a format, and sonde merge print or refuse a damaged answer, within a few seconds, and
never crash. Recordings that are cut are read."""
import argparse
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

SCRIPTS = [
    """t:syscalls:sys_enter_openat { printf("%s %s %d\\n", comm, str(args.filename), args.flags); print(args); }
    t:raw_syscalls:* { @[probe, comm, ppid, cpu] = count(); @l = hist(args.id); }""",
    """profile:hz:99 { @[kstack, ustack, comm] = count(); } interval:ms:100 { print(@); }
    *:sched:* { @s[args.prev_comm, args.next_pid] = sum(args.prev_pid); }""",
]


# Every kind of value that an answer contains; what is printed of damaged ones, in each format.
ASKED = """begin { printf("begins\\n"); } t:raw_syscalls:sys_* { @c[comm, args.id, probe] = count(); @a[comm] = avg(args.id);
@st = stats(args.id); @d[pid] = stddev(args.id); @mi = min(args.id); @h[comm] = hist(args.id); @l = lhist(args.id, 0, 300, 10);
@t[comm] = tseries(args.id, 100ms, 8); @m = tseries(args.id, 50ms, 8, "max"); @n++; @last[comm] = (args.id, comm);
@b = bhist(args.id, "10,100"); @ll = llquantize(args.id, 10, 0, 6, 10); print((args.id, comm)); }
profile:hz:99 { @s[ustack, kstack] = count(); print(kstack); } interval:ms:300 { print(@h, "p50,p99"); print(@c, 2); }"""
PRINTED = ["text", "json", "folded", "flame", "pprof", "speedscope", "heat", "prometheus", "csv", "answer"]

FORMATS = ["text", "json", "csv", "chrome", "perfetto", "folded", "sqlite", "ctf", "trace.dat", "parquet"]


def blocks(data):
    """(offset, size of the payload) of each block."""
    at = 64
    while data[at:at + 4] == b"SBLK":
        size = struct.unpack_from("<I", data, at + 8)[0]
        yield at, size
        at = at + 56 + size + 7 & ~7


def seal(data, at, size):
    data[at + 48:at + 52] = struct.pack("<I", zlib.crc32(data[at + 56:at + 56 + size]))
    data[at + 52:at + 56] = struct.pack("<I", zlib.crc32(data[at:at + 52]))


def change(rnd, data, at, size):
    """A few bytes of a block: of its header or its payload."""
    for _ in range(rnd.randint(1, 4)):
        header = rnd.random() < 0.1
        where = at + rnd.choice([4, 6, 16, 23, 24, 31, 32, 36, 38, 40]) if header else at + 56 + rnd.randrange(size)
        data[where] = rnd.choice([0, 1, 0x7f, 0x80, 0xff, rnd.randrange(256), data[where] ^ 1 << rnd.randrange(8)])


def mutant(rnd, original):
    data = bytearray(original)
    for at, size in rnd.sample(list(blocks(data)), 1):
        if size:
            change(rnd, data, at, size)
            seal(data, at, size)
    return data


def cuts(sonde, tmp, original):
    """Cut at each byte of the last block, and of the end of the block before it: what is whole is answered, the rest named."""
    places = list(blocks(original))
    (rows_at, rows_size), (end_at, _) = places[-2:]
    rows = struct.unpack_from("<I", original, rows_at + 32)[0]
    count = lambda path: subprocess.run([sonde, "query", "-q", path, "-e", "*:* { @ = count(); }"], check=False, timeout=20,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    number = lambda done: int((re.search(rb"@: (\d+)", done.stdout) or [0, 0])[1])
    with open(tmp + "/whole", "wb") as out:
        out.write(original)
    whole, bad = number(count(tmp + "/whole")), 0
    for n in range(rows_at + 56 + rows_size - 100, len(original)):
        with open(tmp + "/cut", "wb") as out:
            out.write(original[:n])
        done, want = count(tmp + "/cut"), whole - (rows if n < rows_at + 56 + rows_size else 0)
        # After the rows all that is missing is the end: that is reported, and no error.
        if done.returncode not in (0, 1) or number(done) != want or b"has no end" not in done.stderr:
            bad += 1
            print("cut at byte %d: exit status %d, %d rows, not %d: %s" % (
                n, done.returncode, number(done), want, done.stderr[-200:]))
    print("cut at each byte after %d: %d failed" % (rows_at - 44 + rows_size, bad))
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=400)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("build")
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([options.build + "/mkrec", "-u", "-l", "-k", tmp + "/a"], check=True)
        with open(tmp + "/a", "rb") as file:
            original = file.read()

        bad += cuts(options.build + "/sonde", tmp, original)
        subprocess.run([options.build + "/sonde", "query", "-q", tmp + "/a", "-f", "answer:codec=none", "-o", tmp + "/answer",
                        "-e", ASKED], check=True, stderr=subprocess.DEVNULL)
        with open(tmp + "/answer", "rb") as file:
            answer = file.read()

        def ask(seed):
            path = f"{tmp}/{seed}"
            with open(path, "wb") as out:
                out.write(mutant(random.Random(seed), original))
            commands = [["query", path, "-e", SCRIPTS[seed % len(SCRIPTS)]],
                        ["export", path, "--to", FORMATS[seed % len(FORMATS)], "-o", path + ".out"],
                        ["merge", path + ".answer", *[tmp + "/answer", "--partial"][seed % 3:],
                         "-f", PRINTED[seed % len(PRINTED)], "-o", path + ".merged"]]
            with open(path + ".answer", "wb") as out:
                out.write(mutant(random.Random(seed), answer))
            for words in commands:
                try:
                    done = subprocess.run([options.build + "/sonde", *words], stdout=subprocess.DEVNULL,
                                          stderr=subprocess.PIPE, timeout=20, check=False)
                    if done.returncode not in (0, 1, 2) or b"ended by signal" in done.stderr:
                        return seed, words[0], done.returncode, done.stderr[-300:]
                except subprocess.TimeoutExpired:
                    return seed, words[0], "timeout", b""
            return None

        with ThreadPoolExecutor(2) as pool:
            for wrong in pool.map(ask, range(options.s, options.s + options.n)):
                if wrong:
                    bad += 1
                    print("seed %d: %s: %s %s" % wrong)
    print(f"{options.n} damaged recordings: {bad} failed")
    return bad != 0


sys.exit(main())
