# terminal.py N: writes to a terminal of its own N times: each is work that the kernel queues.
import os, sys, time

master, slave = os.openpty()
for i in range(int(sys.argv[1])):
    os.write(master, b"x\n")
    os.read(slave, 10)
    time.sleep(0.002)
