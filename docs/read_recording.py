#!/usr/bin/env python3
"""read_recording.py FILE [--rows] - rows of a recording, and counts and sums of integers by probe: docs/recording.md"""
import struct, sys, zlib

def unpack(codec, data, size):
    if codec == 2:
        import zstandard  # package python3-zstandard
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    return zlib.decompress(data) if codec else data

class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        if self.at > len(self.data):
            raise ValueError("a field ends behind its block")
        return self.data[self.at - n:self.at]

    def get(self, form):
        v = struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))
        return v if len(v) > 1 else v[0]

    def text(self):
        return self.take(self.get("I"))

    def varint(self):
        byte, n, shift = 128, 0, 0
        while byte > 127:
            byte = self.get("B")
            n |= (byte & 127) << shift
            shift += 7
        return n

    def zigzag(self):
        n = self.varint()
        return n >> 1 ^ -(n & 1)

def blocks(data):
    at = struct.unpack_from("<I", data, 12)[0]
    while at + 56 <= len(data):
        head = data[at:at + 56]
        magic, kind, codec, _, stored, raw, _, _, items, _, _, _, _, crc, check = struct.unpack("<IBBHIIQQIHHIIII", head)
        if magic != 0x4B4C4253 or zlib.crc32(head[:52]) != check:
            at += 8  # damaged: the next header
            continue
        payload = data[at + 56:at + 56 + stored]
        if len(payload) == stored and zlib.crc32(payload) == crc:
            yield kind, items, Bytes(unpack(codec, payload, raw))
        at += 56 + stored + -stored % 8

def value(b, coding, count, element, strings):
    if coding in (4, 8):
        number = b.varint() if coding == 8 else None
        ref = b.varint()
        text = strings.get(ref, b"?") if ref else b.take(b.varint() >> 1)
        return text if number is None else (number, text)
    if coding == 7:
        return [value(b, element, 0, 0, strings) for _ in range(count)]
    return {1: b.varint, 2: b.zigzag, 3: lambda: b.get("Q"), 5: lambda: b.take(b.varint()), 6: b.varint}[coding]()

def rows(data):
    schemas, strings, tasks = {}, {}, {}
    for kind, items, b in blocks(data):
        if kind == 16:
            ts, turn = b.get("QQ")
            cpu, last = 0, {}
            for _ in range(items):
                head = b.get("B")
                schema = schemas[b.varint() if head & 31 == 31 else head & 31]
                ts += b.zigzag()
                cpu = b.varint() if head & 0x20 else cpu
                last[cpu] = b.varint() if head & 0x40 else last.get(cpu, 0)
                turn += b.varint() if head & 0x80 else 0
                cells = [value(b, c[1], c[5], c[3], strings) for c in schema[1]]
                yield turn, ts, cpu, tasks.get(last[cpu]), schema, cells
                turn += 1
        for _ in range(items if kind != 16 else 0):
            item = Bytes(b.text())
            what = item.get("H")
            if what == 3:
                number, _, probe, _, n = item.get("I"), item.text(), item.text(), item.text(), item.get("I")
                schemas[number] = probe, [item.get("BBBBIII") + tuple(item.text() for _ in "ect") for _ in range(n)]
            elif what == 32:
                strings.update({item.get("IB")[0]: item.text()})
            elif what == 33:
                task = item.get("IIIIIIQQQI")
                tasks[task[0]] = (task[1:], item.text())

if __name__ == "__main__":
    counts = {}
    for turn, ts, cpu, task, schema, cells in rows(open(sys.argv[1], "rb").read()):
        if "--rows" in sys.argv:
            print(turn, ts, cpu, task, schema[0].decode(), cells)
        count, total = counts.get(schema[0], (0, 0))
        counts[schema[0]] = count + 1, total + sum(cell for cell in cells if isinstance(cell, int))
    for probe, (count, total) in sorted(counts.items()):
        print(probe.decode(), count, total)
