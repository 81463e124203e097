# bcachefs.py DEVICE: what the kernel needs to make an empty file system of bcachefs there when it is mounted first:
# a superblock that says that nothing was initialized. Debian has no mkfs for it.
import os, struct, sys

SECTOR = 512
BUCKET = 512 # sectors
WHERE = 8 # the superblock's sector
VERSION = 1 << 10 | 13 # 1.13, of Linux 6.12
MAGIC = bytes.fromhex("c68573f666ce90a9d96a60cf803df7ef")

device = os.open(sys.argv[1], os.O_RDWR)
buckets = os.lseek(device, 0, os.SEEK_END) // (BUCKET * SECTOR)

def field(kind, data):
    return struct.pack("<II", 1 + len(data) // 8, kind) + data

# uuid, buckets, the first, their size, (shift, padding), last mount, flags: journal, btree and user data; speeds
member = struct.pack("<16sQHHIQQ16x", os.urandom(16), buckets, 0, BUCKET, 0, 0, 28 << 15)
fields = field(1, member[:56]) + field(11, struct.pack("<H6x", len(member) + 72) + member + bytes(72))

layout = struct.pack("<16sBBB5x61Q", MAGIC, 0, 9, 1, WHERE, *[0] * 60)
uuid = os.urandom(16)
flags = [
    # errors, size of nodes in sectors, reserve, checksums, copies
    1 << 8 | 256 << 12 | 8 << 28 | 1 << 40 | 1 << 44 | 1 << 48 | 1 << 52,
    # 32-bit inodes, log2 of an encoded extent's sectors, copies required
    1 << 8 | 7 << 14 | 1 << 20 | 1 << 24,
    0,
    1 << 28 | 1000 << 30, # a journal that is flushed each second
    100 | 1024 << 34, # and reclaimed; the write buffer
    VERSION | 30 << 16, # nothing to upgrade; stuck after 30 s
    0,
]
features = sum(1 << bit for bit in (7, 9, 11, 12, 13, 15, 16, 17, 18))
# Without a checksum: version, least version, who it is, offset, sequence, block, device 0 of 1, size, clock
head = struct.pack("<16xHH4x16s16s16s32xQQHBBIQII", VERSION, VERSION, MAGIC, uuid, uuid, WHERE, 1, 8, 0, 1,
                   len(fields) // 8, 0, 0, 1)
head += struct.pack("<7QQQQQQ", *flags, 0, features, 0, 0, 0) + layout
os.pwrite(device, layout, (WHERE - 1) * SECTOR)
os.pwrite(device, (head + fields).ljust(8 * SECTOR, b"\0"), WHERE * SECTOR)
os.fsync(device)
