#!/usr/bin/python3
# load.py - one of everything that tools show, once a line comes from standard input; it prints a port of its. Each call is made a fixed number of
# times, so two tracers that were attached before see the same.
import ctypes, fcntl, mmap, os, resource, signal, socket, ssl, struct, subprocess, sys, tempfile, threading, time

libc = ctypes.CDLL(None, use_errno=True)


def files(at):
	path = os.path.join(at, 'a')
	with open(path, 'wb', buffering=0) as f:
		for i in range(3):
			f.write(b'x' * 1000)
		os.fsync(f.fileno())
	with open(path, 'rb', buffering=0) as f:
		while f.read(1000):
			pass
	for name in ('/nonexistent', path):
		os.path.exists(name)
	os.rename(path, path + 'b')
	os.mkdir(path)
	os.rmdir(path)
	os.unlink(path + 'b')
	libc.mount(b'none', b'/nonexistent', b'tmpfs', 0, None)


def processes(at):
	for code in (0, 3):
		subprocess.call(['/bin/sh', '-c', 'exit %d' % code], close_fds=False)
	thread = threading.Thread(target=time.sleep, args=(0.01,))
	thread.start()
	thread.join()
	signal.signal(signal.SIGUSR1, signal.SIG_IGN)
	os.kill(os.getpid(), signal.SIGUSR1)
	os.setresuid(os.getuid(), os.getuid(), os.getuid())
	os.setpriority(os.PRIO_PROCESS, 0, 5)


def waits(at):
	mutex, other = threading.Lock(), threading.Lock()
	mutex.acquire()
	thread = threading.Thread(target=lambda: (mutex.acquire(), mutex.release()))
	thread.start()
	time.sleep(0.02)
	mutex.release()
	thread.join()
	libc.usleep(2000)


def memory(at):
	held = [libc.malloc(size) for size in (100, 1000, 50000)]
	libc.free(ctypes.c_void_p(held[0]))
	with mmap.mmap(-1, 1 << 20) as m:
		m[0:1 << 20:4096] = b'x' * 256
	libc.shmctl(libc.shmget(0, 4096, 0o1600), 0, None)


def network(at):
	client = socket.create_connection(server.getsockname())
	peer = server.accept()[0]
	for i in range(3):
		client.sendall(b'y' * 500)
		peer.recv(500, socket.MSG_WAITALL)
	for s in (client, peer, server):
		s.close()
	try:
		socket.create_connection(('127.0.0.1', 1))
	except OSError:
		pass
	with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as u:
		u.connect(('127.0.0.1', 9))
	socket.getaddrinfo('localhost', 80)
	a, b = socket.socketpair()
	socket.send_fds(a, [b'z'], [0])
	for fd in socket.recv_fds(b, 1, 1)[1]:
		os.close(fd)


def terminal(at):
	master, slave = os.openpty()
	os.write(slave, b'a line\n')
	os.close(slave)
	os.close(master)
	tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname='localhost')
	try:
		tls.do_handshake()
	except ssl.SSLWantReadError:
		pass


server = socket.create_server(('127.0.0.1', 0))
print('port', server.getsockname()[1], flush=True)
sys.stdin.readline()
with tempfile.TemporaryDirectory() as at:
	for do in (files, processes, waits, memory, network, terminal):
		do(at)
