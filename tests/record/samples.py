#!/usr/bin/env python3
"""samples.py FILE - the bytes of a gzipped pprof profile without the time that it was made, in hex: for merge.sh."""
import gzip
import sys


def varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        at += 1
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return n, at


with gzip.open(sys.argv[1]) as file:
    profile = file.read()
at = 0
while at < len(profile):
    begin = at
    tag, at = varint(profile, at)
    if tag & 7 == 2:
        size, at = varint(profile, at)
        at += size
    else:
        _, at = varint(profile, at)
    if tag >> 3 not in (9, 10):  # time_nanos, duration_nanos
        print(profile[begin:at].hex())
