"""Threads at known places, for as long as standard input is open: they sleep, wait for a lock, wait in a function of
the C library that calls back, and in a generator. Python itself writes all of their stacks to the file argv[1],
when all have come there."""
import faulthandler
import functools
import sys
import threading
import time

held = threading.Lock()
held.acquire()


def sleeps(n):
    if n:
        sleeps(n - 1)
    else:
        time.sleep(1000)


def locks():
    with held:
        pass


def compare(a, b):
    time.sleep(1000)
    return a - b


def calls_back():
    sorted([2, 1], key=functools.cmp_to_key(compare))


def items():
    for n in range(3):
        if n == 2:
            held.acquire()
        yield n


def generates():
    for n in items():
        try:
            raise ValueError(n)
        except ValueError:
            pass


class Task:
    def __init__(self, body):
        self.body = body

    def run(self):
        self.body()


for body in (functools.partial(sleeps, 15), locks, calls_back, generates):
    threading.Thread(target=Task(body).run, daemon=True).start()
faulthandler.dump_traceback_later(1, file=open(sys.argv[1], "w", encoding="utf-8"))
sys.stdin.read()
