#!/usr/bin/env python3
"""old.py [-u] BUILD - recordings of earlier versions of the format are read as they always were.

tests/recordings has them, and what sonde says of each, as a whole; they are never made anew. A thing that format.h names
and that is in none of them fails: then a recording with it is added. -u writes what is said; read it. No root."""
import os
import re
import struct
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + "/../../docs")
sys.dont_write_bytecode = True
import read_recording

COMMANDS = [
    ["report"],
    ["report", "-e"],
    ["query", "-e", "*:* { @[probe, comm, cpu] = count(); @t = sum(nsecs % 1000003); }"],
]
ANSWER = [["report"], ["merge"], ["merge", "-f", "json"], COMMANDS[2]]


def said(sonde, name):
    env = dict(os.environ, TZ="UTC")
    text = ""
    for words in ANSWER if "answer" in name else COMMANDS:
        done = subprocess.run([sonde, words[0], name, *words[1:]] if words[0] == "query" else [sonde, *words, name],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=here + "/../recordings", env=env,
                              check=False, timeout=60)
        text += "$ %s\n%s[%d]\n" % (" ".join(words), done.stdout.decode(errors="backslashreplace"), done.returncode)
    return text


def numbers(prefix, start):
    """The names of an enum of format.h, with their numbers."""
    with open(here + "/../../src/rec/format.h", encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    body = re.search(r"enum %s \{(.*?)\}" % start, text, re.S).group(1)
    names, last = {}, -1
    for name, value in re.findall(r"(%s\w+)(?:\s*=\s*(\w+))?" % prefix, body):
        last = int(value, 0) if value else last + 1
        names[last] = name
    return names


def things(data):
    """What is in a recording: (enum, number)."""
    found, at = set(), struct.unpack_from("<I", data, 12)[0]
    while at + 56 <= len(data):
        found.add(("codec", data[at + 5]))
        found.add(("block", data[at + 4]))
        at += 56 + struct.unpack_from("<I", data, at + 8)[0]
        at += -at % 8
    if ("codec", 2) in found:  # Python has no zstd; what is in these is in others
        return found
    for kind, items, b in read_recording.blocks(data):
        for _ in range(items if kind != 16 else 0):
            item = read_recording.Bytes(b.text())
            what = item.get("H") & 0x7FFF
            found.add(("item", what))
            if what == 3:
                _, _, _, _, n = item.get("I"), item.text(), item.text(), item.text(), item.get("I")
                for _ in range(n):
                    column = item.get("BBBBIII")
                    found |= {("kind", column[0]), ("coding", column[1])}
                    _ = [item.text() for _ in "ect"]
            elif what == 36:
                item.get("IIQQQ")
                found |= {("frame", 1 << i) for i, bits in enumerate([item.get("B")] * 8) if bits >> i & 1}
            elif what == 37:
                item.get("I")
                found |= {("stack", 1 << i) for i, bits in enumerate([item.get("B")] * 8) if bits >> i & 1}
    return found


def main():
    update = "-u" in sys.argv
    sonde = os.path.abspath(sys.argv[-1]) + "/sonde"
    files = sorted(name for name in os.listdir(here + "/../recordings") if name.endswith(".sonde"))
    found, bad = set(), 0
    for name in files:
        with open("%s/../recordings/%s" % (here, name), "rb") as file:
            found |= things(file.read())
        text, path = said(sonde, name), "%s/../recordings/%s.txt" % (here, name[:-6])
        if update:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            same = file.read() == text
        bad += not same
        print("%s - %s" % ("ok" if same else "not ok", name))
    every = {"item": numbers("ITEM_", "rec_item_kind"), "kind": numbers("REC_", "rec_kind"),
             "coding": numbers("REC_", "rec_coding"), "codec": numbers("CODEC_", "rec_codec"),
             "block": numbers("BLOCK_", "rec_block_type"), "frame": numbers("FRAME_", "rec_frame_flags"),
             "stack": numbers("STACK_", "rec_stack_flags")}
    missing = [name for what, names in every.items() for n, name in names.items()
               if (what, n) not in found and name != "ITEM_NEEDED"]
    print("%s - everything is in one of them" % ("not ok" if missing else "ok"), *missing)
    bad += bool(missing)
    print("%d passed, %d failed" % (len(files) + 1 - bad, bad))
    return bad != 0


sys.exit(main())
