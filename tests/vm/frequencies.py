# frequencies.py FILE: an ACPI table for QEMU (-acpitable file=FILE) that says that a guest's two processors run at 1 or
# 2 GHz, as one writes to I/O port 0x80, which does nothing. acpi-cpufreq believes it, but not of the processor that
# QEMU is by itself, which has a driver of its own: -cpu max,family=16.
import struct, sys

def block(code, body):
    length = len(body) + 1 # of itself, too
    if length < 64:
        return code + bytes([length]) + body
    length += 1
    return code + bytes([0x40 | length & 15, length >> 4]) + body

def package(*items):
    return block(b"\x12", bytes([len(items)]) + b"".join(items))

def numbers(*values):
    return package(*(b"\x0b" + struct.pack("<H", v) for v in values))

def name(what, value):
    return b"\x08" + what + value

register = struct.pack("<BHBBBBQBB", 0x82, 12, 1, 8, 0, 0, 0x80, 0x79, 0)
port = block(b"\x11", bytes([0x0a, len(register)]) + register)
# MHz, milliwatts, microseconds to change twice, what is written, and what is read then
states = package(numbers(2000, 1000, 10, 10, 0, 0), numbers(1000, 500, 10, 10, 1, 1))
body = b""
for cpu in b"C000", b"C001":
    body += block(b"\x10", b"\\\x2f\x03_SB_CPUS" + cpu + name(b"_PCT", package(port, port)) +
                  name(b"_PSS", states) + name(b"_PPC", b"\0"))
table = bytearray(struct.pack("<4sIBB6s8sI4sI", b"SSDT", 36 + len(body), 1, 0, b"SONDE", b"STATES", 1, b"TEST", 1) + body)
table[9] = -sum(table) & 0xff
open(sys.argv[1], "wb").write(table)
