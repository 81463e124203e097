"""A function of Python that the C library calls, with a getppid(2)."""
import os


def key(x):
    os.getppid()
    return x


def outer():
    return sorted([1], key=key)


outer()
