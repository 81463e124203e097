"""What nats.py, hubs.py and trust.py share: a folder of their own, nats-server on loopback, sonde fleet, and cases.

A test calls begin() first, which changes to a new folder, and run() last.
"""
import os, random, re, shutil, socket, struct, subprocess, sys, tempfile, threading, time

slow = float(os.environ.get('TEST_SLOW', '1'))
source = os.path.abspath(os.path.dirname(__file__) + '/../..')
running = []
names = []
build = sonde = agent = tmp = ''
held = None


def begin(*options):
	"""The command line [-n NAME] [OPTION VALUE] [BUILD]; returns the values of the options that were given."""
	global build, sonde, agent, tmp, held
	args, given = sys.argv[1:], {}
	while args[:1] and args[0][0] == '-':
		assert args[0] == '-n' or args[0] in options, 'unknown option ' + args[0]
		if args[0] == '-n':
			names.append(args[1])
		else:
			given[args[0]] = args[1]
		args = args[2:]
	build = os.path.abspath(args[0] if args else 'build')
	sonde, agent = build + '/sonde', build + '/sonde-agent'
	held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
	tmp = held.name
	os.chdir(tmp)
	os.environ['PATH'] = build + ':' + os.environ['PATH'] + ':/usr/sbin'
	os.environ['TZ'] = 'UTC'
	os.environ['USER'] = 'ann'
	os.environ.pop('SSH_AUTH_SOCK', None)
	return given


def need(*programs):
	"""Ends the test if the agent or one of the programs is not there."""
	if not os.path.exists(agent):
		print('skipped: no libnats, so sonde-agent was not built\n0 passed, 0 failed, 1 skipped')
		sys.exit()
	for program in programs:
		if not shutil.which(program):
			print('skipped: no %s\n0 passed, 0 failed, 1 skipped' % program)
			sys.exit()


def wait(what, condition, seconds=60):
	end = time.time() + seconds * slow
	while time.time() < end:
		got = condition()
		if got:
			return got
		time.sleep(0.02)
	raise AssertionError('never: ' + what)


def equal(got, want, what='it'):
	if got != want:
		raise AssertionError('%s is\n%s\nnot\n%s' % (what, got, want))


def spawn(*words, **more):
	p = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True, **more)
	running.append(p)
	return p


def end(p):
	p.kill()
	p.wait()


def end_all():
	while running:
		end(running.pop())


def output(*words, **more):
	"""Exit status, output and messages."""
	p = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=200 * slow, **more)
	return p.returncode, p.stdout, p.stderr


def run(*words, **more):
	rc, out, err = output(*words, **more)
	if rc:
		raise AssertionError('%s: %s%s' % (words, out, err))
	return out


def write(path, text, mode=0o644):
	with open(path, 'w') as f:
		f.write(text)
	os.chmod(path, mode)


def read(path):
	with open(path) as f:
		return f.read()


def environment(**more):
	return {**os.environ, **more}


class Server:
	"""text: of its configuration; {} is the port."""
	def __init__(self, text='host: 127.0.0.1\nport: {}\n', scheme='nats', host='127.0.0.1'):
		while True:
			# Not one of those that connections get: while the server is down, it stays free.
			self.port = random.randrange(10000, 32768)
			self.url = '%s://%s:%d' % (scheme, host, self.port)
			self.conf = 'server-%d.conf' % self.port
			write(self.conf, text.replace('{}', str(self.port)))
			if self.start():
				break

	def start(self):
		"""False: somebody else has the port."""
		log = self.conf + '.log'
		self.process = spawn('nats-server', '-c', self.conf, stdout=subprocess.DEVNULL, stderr=open(log, 'w'))
		wait('nats-server', lambda: 'Server is ready' in read(log) or self.process.poll() is not None)
		if self.process.poll() is None:
			return True
		if 'address already in use' in read(log):
			return False
		raise AssertionError('nats-server: ' + read(log))

	def kill(self):
		end(self.process)


class Client:
	"""Somebody who speaks with the server: what is published to some subjects."""
	def __init__(self, server, *subjects):
		self.socket = socket.create_connection(('127.0.0.1', server.port))
		self.socket.settimeout(60 * slow)
		self.stream = self.socket.makefile('rb')
		self.stream.readline()
		self.send(b'CONNECT {"verbose": false, "pedantic": false}\r\n')
		for i, subject in enumerate(subjects):
			self.send(b'SUB %s %d\r\n' % (subject.encode(), i))
		self.flush()

	def send(self, data):
		self.socket.sendall(data)

	def flush(self):
		"""The server has what was sent."""
		self.send(b'PING\r\n')
		line = self.line()
		while line.startswith(b'MSG'):
			self.stream.read(int(line.split()[-1]) + 2)
			line = self.line()
		assert line.startswith(b'PONG'), line

	def line(self):
		while True:
			line = self.stream.readline()
			if not line.startswith((b'PING', b'INFO')):
				return line
			self.send(b'PONG\r\n' if line.startswith(b'PING') else b'')

	def message(self, holds=b''):
		"""(subject, bytes) of the next message that has these bytes."""
		while True:
			words = self.line().split()
			assert words[0] == b'MSG', words
			data = self.stream.read(int(words[-1]) + 2)[:-2]
			if holds in data:
				return words[1].decode(), data

	def publish(self, subject, data):
		self.send(b'PUB %s %d\r\n%s\r\n' % (subject.encode(), len(data), data))


class Listener:
	"""Counts messages by kind (src/agent/wire.h) and sender; .subjects: by kind, where they were sent to."""
	def __init__(self, server, subject='_INBOX.>'):
		self.heard, self.subjects = {}, set()
		self.client = Client(server, subject)
		self.client.socket.settimeout(None)
		threading.Thread(target=self.take, daemon=True).start()

	def take(self):
		try:
			while True:
				subject, data = self.client.message()
				self.subjects.add((data[8], subject))
				name = data[29:29 + int.from_bytes(data[25:29], 'little')].decode(errors='replace')
				self.heard[data[8], name] = self.heard.get((data[8], name), 0) + 1
		except (AssertionError, OSError, IndexError, ValueError):
			pass # the server has ended

	def count(self, kind, name):
		return self.heard.get((kind, name), 0)

	def heard_of(self, kind):
		return {name for k, name in list(self.heard) if k == kind}


# Kinds of messages.
STOP, TAKEN, STOPPED, SERVES, PART, VIA, HELD, MERGED, START = 5, 7, 11, 14, 15, 16, 17, 18, 19


def message(kind, id, *fields):
	"""Texts, numbers of 8 bytes and truth values, as src/agent/wire.h has them."""
	data = b'sonde-m\2' + bytes([kind]) + id
	for f in fields:
		data += struct.pack('<I', len(f)) + f if isinstance(f, bytes) else struct.pack('<B', f) if isinstance(f, bool) else struct.pack('<Q', f)
	return data


def fleet_words(words, server):
	first = 1 if words[0] in ('list', 'stop') else 0
	return [sonde, 'fleet', *words[:first], '--nats', server.url, *words[first:]]


def untimed(text):
	text = re.sub(r'; [0-9.]+ s(, (asked|started) within [0-9.]+ ms, clocks within [0-9.]+ ms)?', '; T', text)
	text = re.sub(r'"skew_ns": \d+, "asked_within_ns": \d+,( "started_within_ns": \d+,)? "took_ns": \d+', 'T', text)
	text = re.sub(r'; [0-9.e-]+ % CPU at most \([a-z0-9]+\)', '', text)
	return re.sub(r', "cost": {[^}]*}', '', text).replace(tmp, 'TMP')


def fleet(*words, server, env=None):
	"""What it prints, without times, and its status unless that is 0."""
	rc, out, err = output(*fleet_words(words, server), env=environment(**(env or {})))
	return untimed(err + out) + ('[%d]\n' % rc if rc else '')


def listed(server, url=None):
	"""The line of each host."""
	rc, out, err = output(sonde, 'fleet', 'list', '--nats', url or server.url, '--wait', '300ms')
	return {line.split()[0]: line for line in out.split('\n')[1:-2]}


def line_of(name, server):
	return wait(name + ' in the list', lambda: listed(server).get(name))


def await_agents(n, server):
	wait('%d agents' % n, lambda: len(listed(server)) == n, 120)


def run_agent(server, name, *words, does='', program='stub', **env):
	return spawn(agent, '--any', '--nats', server.url, '--name', name, '--sonde', os.path.join(tmp, program) if program else sonde, *words,
		     stderr=open(name + '.log', 'a'), env=environment(HOST=name, DOES=does, **env))


def simulate(server, n, path, name='sim', *words):
	return spawn(agent, '--nats', server.url, '--name', name, '-q', *words, '--simulate', str(n), path, stderr=open(name + '.log', 'a'))


def write_stub(does):
	"""A shell that acts as sonde on the host of an agent: fleet-host TOKEN. does: what it does with the question."""
	write('stub', '''#!/bin/sh
cd %s || exit 1
printf '\\n%%s ready\\n' "$2"
read -r n
printf '\\n%%s clock 0\\n' "$2"
read -r n start
%s
cat web.answer
''' % (tmp, does), 0o755)


def run_cases(cases, lanes=1, cleanup=None):
	"""Runs those that were asked for, so many at a time, and ends the test."""
	left = [c for c in cases if not names or any(n in c.__name__ for n in names)]
	count = {True: 0, False: 0}

	def attempt(case):
		began, why = time.time(), None
		try:
			case()
		except Exception as e:
			why = '%s: %s' % (type(e).__name__, e)
		count[why is None] += 1
		print('%s - %s: %s (%.1f s)' % ('not ok' if why else 'ok', case.__name__, case.__doc__, time.time() - began))
		for line in (why or '').split('\n')[:60] if why else []:
			print('# ' + line)
		if cleanup:
			cleanup(why)
		sys.stdout.flush()

	def lane():
		while True:
			try:
				case = left.pop(0)
			except IndexError:
				return
			attempt(case)

	threads = [threading.Thread(target=lane) for _ in range(lanes)]
	try:
		for t in threads:
			t.start()
		for t in threads:
			t.join()
	finally:
		end_all()
	print('%d passed, %d failed' % (count[True], count[False]))
	sys.exit(count[False] != 0)
