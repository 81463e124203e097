import os, time
# A victim on the last CPU, and what takes that from it for 400 ms.
cpu = max(os.sched_getaffinity(0))
pid = os.fork()
os.sched_setaffinity(0, {cpu})
if not pid:
    end = time.monotonic() + 1.5
    while time.monotonic() < end: pass
    os._exit(0)
time.sleep(0.3)
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
end = time.monotonic() + 0.4
while time.monotonic() < end: pass
os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
os.waitpid(pid, 0)
