# Ten packets of 1000 bytes, with their heads, to itself.
import socket

r = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
r.bind(("127.0.0.1", 0))
for i in range(10):
    r.sendto(b"x" * 972, r.getsockname())
    r.recv(1000)
