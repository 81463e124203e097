"""Ten functions deep, so many times getppid(2): python3 bench/pystack.py 200000."""
import os
import sys


def deep(n, times):
    if n:
        return deep(n - 1, times)
    call = os.getppid
    for _ in range(times):
        call()


deep(8, int(sys.argv[1]))
