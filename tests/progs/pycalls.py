"""Calls of many kinds, each of which ends in mark(): the file named by the argument gets the stack as
Python tells it, and then there is a getppid(2)."""
import contextlib
import functools
import os
import sys
import threading

OUT = open(sys.argv[1], "a")
MY = os.path.abspath(__file__)


def name(code):
    return getattr(code, "co_qualname", code.co_name)


def mark():
    frame, lines = sys._getframe(1), []
    while frame:
        lines.append("%s@%s:%d" % (name(frame.f_code), frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    OUT.write("\n".join(lines) + "\n\n")
    OUT.flush()
    os.getppid()


def recursion(n):
    if n:
        return recursion(n - 1)
    mark()


def generator(n):
    for i in range(n):
        mark()
        yield i


def outer_generator():
    yield from generator(1)


class Shape:
    def __init__(self):
        mark()

    def method(self):
        mark()

    @property
    def area(self):
        mark()

    @staticmethod
    def static():
        mark()

    def __lt__(self, other):
        mark()
        return True

    def __del__(self):
        mark()


def key(x):
    mark()
    return x


def raises():
    try:
        raise ValueError
    except ValueError:
        mark()
    finally:
        mark()


@contextlib.contextmanager
def manager():
    mark()
    yield
    mark()


@functools.lru_cache(None)
def cached(x):
    mark()
    return x


async def coroutine():
    mark()
    return await inner_coroutine()


async def inner_coroutine():
    mark()


def drive(c):
    try:
        c.send(None)
    except StopIteration:
        pass


def ünïcode():
    mark()


def main():
    recursion(5)
    list(outer_generator())
    sum(generator(2))
    shape = Shape()
    shape.method()
    shape.area
    Shape.static()
    sorted([shape, Shape()])
    sorted([1, 2], key=key)
    list(map(lambda x: key(x), [1]))
    [mark() for _ in range(1)]
    raises()
    with manager():
        mark()
    cached(1)
    drive(coroutine())
    ünïcode()
    exec("mark()\n\nmark()", globals())
    del shape


if __name__ == "__main__":
    main()
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
    pid = os.fork()
    if not pid:
        main()
        mark()
        os._exit(0)
    os.waitpid(pid, 0)
    mark()
