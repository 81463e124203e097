# far.py SECONDS: memory of the node of CPU 1, used by a thread on CPU 0.
import os, sys, time

os.sched_setaffinity(0, {1})
memory = bytearray(b"x") * (16 << 20)
os.sched_setaffinity(0, {0})
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    sum(memory[i] for i in range(0, len(memory), 4096))
