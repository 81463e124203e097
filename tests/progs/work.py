# work.py MS: computes for so long, in the interpreter and in libraries.
import hashlib
import json
import re
import sys
import time


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


end = time.time() + int(sys.argv[1]) / 1000
while time.time() < end:
    fibonacci(15)
    re.sub("a+", "b", "aaabbbaaa" * 100)
    json.dumps({str(i): [i] * 3 for i in range(200)})
    sorted(str(i) for i in range(1000))
    hashlib.sha256(b"x" * 10000).hexdigest()
