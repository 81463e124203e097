# array.py NODE DISK DISK: an array of two disks without notes on them, as mdadm --build makes one, at NODE. It is
# written to, flushed and stopped.
import fcntl, os, stat, struct, sys


def md(nr, size):
    return 1 << 30 | size << 16 | 9 << 8 | nr


os.mknod(sys.argv[1], stat.S_IFBLK | 0o600, os.makedev(9, 77))
array = os.open(sys.argv[1], os.O_RDWR)
# Version, how many disks, minor number, not_persistent, state, active disks, working ones, size of a chunk.
fcntl.ioctl(array, md(0x23, 72), struct.pack("18i", 0, 90, 0, 0, 0, 0, 2, 2, 77, 1, 0, 1, 2, 2, 0, 0, 0, 65536))
for i, disk in enumerate(sys.argv[2:]):
    number = os.stat(disk).st_rdev
    fcntl.ioctl(array, md(0x21, 20), struct.pack("5i", i, os.major(number), os.minor(number), i, 6))
fcntl.ioctl(array, md(0x30, 12), bytes(12))
os.pwrite(array, bytes(4096), 0)
os.fsync(array)
fcntl.ioctl(array, 9 << 8 | 0x32)
