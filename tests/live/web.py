#!/usr/bin/env python3
# web.py [-s DIR] SONDE [NAME...] - `sonde live --web`: who is let in, what the page gets, how it ends. As root; the page
# itself in headless Chromium, where there is one (-s: screenshots go to DIR).
#
# Numbers are known: scripts have begin probes, or count calls that this process makes.
import json, os, re, select, signal, socket, subprocess, sys, tempfile, threading, time, zlib

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, '..', 'viewers'))
import browser

args = sys.argv[1:]
shots = None
if args[:1] == ['-s']:
	shots = args[1]
	args = args[2:]
if not args:
	sys.exit('usage: web.py [-s DIR] SONDE [NAME...]')
sonde, names = os.path.abspath(args[0]), args[1:]
slow = float(os.environ.get('TEST_SLOW', '1'))
tmp = tempfile.TemporaryDirectory()
done = failed = skipped = 0
runs, streams = [], []


def wait(what, condition, seconds=20):
	end = time.time() + seconds * slow
	while time.time() < end:
		got = condition()
		if got:
			return got
		time.sleep(0.02)
	raise AssertionError('never: ' + what)


def equal(got, want, what):
	if got != want:
		raise AssertionError('%s: %r, not %r' % (what, got, want))


class Run:
	"""sonde with a page; its outputs are read all the time."""
	def __init__(self, *words, command='live'):
		self.process = subprocess.Popen([sonde, command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
						stderr=subprocess.PIPE, text=True, start_new_session=True)
		runs.append(self)
		self.out = self.err = ''
		self.threads = [threading.Thread(target=self.read, args=(n,), daemon=True) for n in ('out', 'err')]
		for t in self.threads:
			t.start()
		wait('an address', lambda: 'Live at ' in self.err or self.process.poll() is not None)
		if 'Live at ' not in self.err:
			raise AssertionError('no address: ' + self.err)
		self.url = re.search(r'Live at (\S+)', self.err).group(1)
		self.host, self.token = re.match(r'http://([^/]+)/\?t=([0-9a-f]{32})$', self.url).groups()
		self.path = (re.search(r'on unix:(\S+)', self.err) or [None, None])[1]

	def read(self, name):
		stream = self.process.stdout if name == 'out' else self.process.stderr
		for line in stream:
			setattr(self, name, getattr(self, name) + line)

	def child(self):
		with open('/proc/%d/task/%d/children' % (self.process.pid, self.process.pid)) as f:
			return int(f.read().split()[0])

	def end(self, number=signal.SIGINT, seconds=20, alone=False):
		"""Its exit status. A terminal, and a service manager, send signals to the child, too."""
		if number and alone:
			self.process.send_signal(number)
		elif number:
			os.killpg(self.process.pid, number)
		try:
			self.process.wait(seconds * slow)
		except subprocess.TimeoutExpired:
			raise AssertionError('it does not end')
		for t in self.threads:
			t.join()
		return self.process.returncode

	def connect(self):
		if self.path:
			s = socket.socket(socket.AF_UNIX)
			s.connect(self.path)
		else:
			host, port = self.host.rsplit(':', 1)
			s = socket.create_connection((host.strip('[]'), int(port)))
		s.settimeout(20 * slow)
		return s

	def ask(self, path, method='GET', host=None, more=''):
		"""Status, headers, text."""
		with self.connect() as s:
			s.sendall(('%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n' % (method, path, host or self.host, more)).encode())
			got = b''
			while True:
				part = s.recv(65536)
				if not part:
					break
				got += part
		head, _, text = got.partition(b'\r\n\r\n')
		return int(head.split()[1]), head.decode(), text.decode()


class Stream:
	"""States of a run, as a page reads them."""
	def __init__(self, run, receive=0, more=''):
		self.s = run.connect()
		if receive:
			self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
		streams.append(self)
		self.s.sendall(('GET /events?t=%s HTTP/1.1\r\nHost: %s\r\n%s\r\n' % (run.token, run.host, more)).encode())
		self.bytes, self.zip = 0, None
		self.raw, self.text, self.lines, self.sets = b'', b'', {}, []
		self.status, self.over = None, False

	def read(self, seconds=0.02):
		"""What has come."""
		while not self.over and select.select([self.s], [], [], seconds)[0]:
			try:
				part = self.s.recv(1 << 20)
			except OSError:
				part = b''
			self.over = not part
			self.raw += part
			seconds = 0
		if self.status is None:
			if b'\r\n\r\n' not in self.raw:
				return self
			head, self.raw = self.raw.split(b'\r\n\r\n', 1)
			self.status = int(head.split()[1])
			self.zip = zlib.decompressobj(31) if b'Content-Encoding: gzip' in head else None
		while b'\r\n' in self.raw:  # chunks
			size, rest = self.raw.split(b'\r\n', 1)
			n = int(size, 16)
			if len(rest) < n + 2:
				break
			self.text += self.zip.decompress(rest[:n]) if self.zip else rest[:n]
			self.bytes, self.raw = self.bytes + n, rest[n + 2:]
		while b'\n\n' in self.text:
			event, self.text = self.text.split(b'\n\n', 1)
			if event.startswith(b'data: '):
				d = json.loads(event[6:])
				self.lines = {k: v for k, v in self.lines.items() if k < d['n']}
				self.lines.update({int(k): v for k, v in d['set'].items()})
				self.sets.append(sorted(int(k) for k in d['set']))
		return self

	def until(self, what, condition, seconds=20):
		return wait(what, lambda: condition(self.read()), seconds)

	def pane(self, title):
		return next((p for i, p in self.lines.items() if i and p['title'] == title), None)

	def rows(self, title):
		"""Totals by key."""
		v = (self.pane(title) or {}).get('table')
		if not v:
			return {}
		head = [c[0] for c in v['cols']]
		at, key = next(head.index(h) for h in ('TOTAL', 'COUNT', 'VALUE') if h in head), head.index('KEY')
		return {r[key]: r[at][0] if isinstance(r[at], list) else r[at] for r in v['rows']}

	def close(self):
		self.s.close()
		if self in streams:
			streams.remove(self)


def plain(*words):
	p = subprocess.run([sonde, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
	return p.stdout, p.stderr, p.returncode


def case(function):
	global done, failed, skipped
	name = function.__name__
	if names and name not in names:
		return
	done += 1
	try:
		if function() == 'skipped':
			skipped += 1
			print('ok %d - %s # skipped: no Chromium' % (done, name), flush=True)
		else:
			print('ok %d - %s' % (done, name), flush=True)
	except AssertionError as e:
		failed += 1
		print('not ok %d - %s\n# %s' % (done, name, str(e).replace('\n', '\n# ')), flush=True)
	finally:
		for s in list(streams):
			s.close()
		for r in list(runs):
			if r.process.poll() is None:
				r.process.kill()
				r.process.wait()
			runs.remove(r)


COUNTS = '''begin {
	for ($i : 0..30) { @reads["cat"] = count(); }
	for ($i : 0..7) { @reads["make"] = count(); }
	for ($i : 0..300) { @size = hist($i); @by[$i % 3] = hist($i); }
	@wait["cat"] = stats(10); @wait["cat"] = stats(20); @note = 5;
	printf("one line\\n<b>another</b>\\n");
}'''


@case
def let_in():
	"""The token, the Host and the Origin; nothing else is served."""
	r = Run('--web', '-e', COUNTS)
	page, events = '/?t=' + r.token, '/events?t=' + r.token
	status, head, text = r.ask(page)
	equal((status, '<script nonce=' in text), (200, True), 'the page')
	rules = re.search(r'Content-Security-Policy: (.*)\r', head).group(1)
	nonce = re.search(r"script-src 'nonce-(\w+)'", rules).group(1)
	equal(('nonce=' + nonce in text, "default-src 'none'" in rules, nonce in r.ask(page)[1]), (True, True, False), 'its policy')
	if re.search(r'https?://|//cdn', text.replace('http://www.w3.org', '')):
		raise AssertionError('the page names another host')
	for what in ('Cache-Control: no-store', 'X-Frame-Options: DENY', 'Referrer-Policy: no-referrer', 'nosniff'):
		equal(what in head, True, what)
	port = r.host.rsplit(':', 1)[1]
	for host in ('localhost:' + port, '[::1]:' + port, 'localhost', '127.0.0.1:9'):  # ssh -L has a port of its own
		equal(r.ask(page, host=host)[0], 200, 'Host: ' + host)
		equal(r.ask(page, host=host, more='Origin: http://%s\r\n' % host)[0], 200, 'Origin: ' + host)
	wrong = r.token[:-1] + ('0' if r.token[-1] != '0' else '1')
	for path in ('/', '/?t=', '/?t=' + wrong, page[:-1], page + '0', '/events', '/events?t=' + wrong, '/nothing', '/nothing?t=' + wrong):
		status, head, text = r.ask(path)
		equal((status, 'the token is missing, or wrong' in text), (403, True), path)
	for host in ('example.org', 'example.org:' + port, '127.0.0.1.example.org', 'localhost.example.org:' + port, '10.0.0.1:' + port):
		for path in (page, events):
			status, head, text = r.ask(path, host=host)
			equal((status, text), (403, 'the Host is not this machine\n'), 'Host: ' + host)
	for origin in ('http://example.org', 'null', 'https://' + r.host, 'http://127.0.0.1:1', 'http://localhost.example.org'):
		for path in (page, events):
			status, head, text = r.ask(path, more='Origin: %s\r\n' % origin)
			equal((status, text), (403, 'the Origin is another one\n'), 'Origin: ' + origin)
	equal(r.ask('/nothing?t=' + r.token)[0], 404, 'another path')
	for method in ('POST', 'PUT', 'DELETE', 'OPTIONS'):
		equal(r.ask(page, method, more='Content-Length: 0\r\n')[0], 405, method)
	equal(r.ask(page, 'HEAD')[::2], (200, ''), 'HEAD')
	for text in (b'\0' * 100, b'\xff' * 70000, b'GET ', b'GET / HTTP/1.1\r\n', b'GET /?t=%00 HTTP/1.1\r\nHost: localhost\r\n\r\n',
		     b'GET / HTTP/1.1\r\n\r\n', b'GET / HTTP/1.0\r\n\r\n', b'GET /?' + b'a' * 100000 + b' HTTP/1.1\r\n\r\n', b'\r\n' * 1000,
		     ('POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\nx' % page).encode(),
		     ('GET %s HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n' % events).encode() * 50):
		with r.connect() as s:
			try:
				s.sendall(text)
				s.shutdown(socket.SHUT_WR)
			except OSError:
				pass  # it was told to go already
		equal(r.ask(page)[0], 200, 'after %r' % text[:60])
	equal(r.process.poll(), None, 'it goes on')
	equal(r.end(), 0, 'status')


@case
def addresses():
	"""Only this machine."""
	out, err, rc = plain('live', '--web=0.0.0.0:0', '-e', COUNTS)
	for addr, what in (('0.0.0.0:8080', 'so only this machine can be let in'), ('192.0.2.1:80', 'so only this machine can be let in'),
			   ('[::]:80', 'so only this machine can be let in'), ('x:80', '--web needs a port'), ('127.0.0.1:x', '--web needs a port'),
			   ('127.0.0.1', '--web needs a port'), ('99999', '--web needs a port'), ('unix:', 'the path of a unix socket has 1 to'),
			   ('unix:/' + 'x' * 200, 'the path of a unix socket has 1 to'), ('unix:%s/no/s' % tmp.name, 'No such file or directory')):
		out, err, rc = plain('live', '--web=' + addr, '-e', COUNTS)
		equal((rc, what in err, out), (1, True, ''), addr + ': ' + err)
	for addr, host in (('[::1]:0', r'\[::1\]'), ('localhost:0', r'127\.0\.0\.1'), ('127.0.0.1:0', r'127\.0\.0\.1'), (':0', r'127\.0\.0\.1')):
		try:
			r = Run('--web=' + addr, '-e', COUNTS)
		except AssertionError as e:
			if addr == '[::1]:0' and 'assign requested address' in str(e):
				continue  # no IPv6 here
			raise
		equal(bool(re.match(host + r':\d+$', r.host)), True, addr)
		equal(r.ask('/?t=' + r.token)[0], 200, addr)
		if addr == ':0':
			out, err, rc = plain('live', '--web=' + r.host, '-e', COUNTS)
			equal((rc, 'Address already in use' in err), (1, True), err)
		equal(r.end(), 0, 'status')
	path = os.path.join(tmp.name, 'socket')
	for turn in range(2):  # the second time a file is there that nobody listens to
		r = Run('--web=unix:' + path, '-e', COUNTS)
		equal((r.path, r.host, os.stat(path).st_mode & 0o777), (path, 'localhost', 0o600), 'a unix socket')
		equal(r.ask('/?t=' + r.token)[0], 200, 'the page')
		s = Stream(r)
		s.until('rows', lambda s: s.rows('@reads') == {'cat': 30, 'make': 7})
		if not turn:
			out, err, rc = plain('live', '--web=unix:' + path, '-e', COUNTS)
			equal((rc, 'Address already in use' in err), (1, True), err)
		equal(r.end(), 0, 'status')
	with open(path + 'file', 'w') as f:
		f.write('text')
	out, err, rc = plain('live', '--web=unix:' + path + 'file', '-e', COUNTS)
	equal((rc, 'Address already in use' in err, os.path.getsize(path + 'file')), (1, True, 4), 'a file that is no socket')
	for words, what in ((('run', '--web', '-e', COUNTS), '--web means nothing'), (('live', '--web', '--json', '-e', COUNTS), '--json means nothing')):
		out, err, rc = plain(*words)
		equal((rc, what in err), (1, True), err)


@case
def states():
	"""What the panes are, what changes, and the end, which prints what the plain run prints."""
	want = plain('run', '-e', COUNTS)
	r = Run('--web', '--every', '200ms', '-e', COUNTS)
	s = Stream(r)
	s.until('the end', lambda s: s.lines.get(0, {}).get('ended'))
	equal([s.lines[i]['title'] for i in sorted(s.lines) if i], ['@by', '@reads', '@size', '@wait', 'text', '@note'], 'panes')
	equal(s.rows('@reads'), {'cat': 30, 'make': 7}, 'counts')
	equal(s.rows('@by'), {'0': 100, '1': 100, '2': 100}, 'histograms')
	equal(s.rows('@wait'), {'cat': 30}, 'stats')
	equal((s.rows('@note'), s.pane('@note')['notes'], s.pane('@reads')['notes']), ({'': 5}, True, False), 'notes')
	equal(s.pane('text')['text'][-2:], ['one line', '<b>another</b>'], 'text')
	hist = s.pane('@size')['hist']
	equal([h[:2] for h in hist['rows']], [['[0]', 1], ['[1]', 1], ['[2, 4)', 2], ['[4, 8)', 4], ['[8, 16)', 8], ['[16, 32)', 16],
					      ['[32, 64)', 32], ['[64, 128)', 64], ['[128, 256)', 128], ['[256, 512)', 44]], 'a histogram')
	equal(hist['sums'][0], 'all       p50 <256  p90 <512  p99 <512  max <512  n 300', 'percentiles')
	equal([sorted(set(s.pane(p)) & {'table', 'hist', 'heat', 'flame', 'text', 'series'}) for p in ('@size', '@by', '@reads', 'text')],
	      [['heat', 'hist'], ['heat', 'hist', 'table'], ['table'], ['text']], 'views')
	run = s.lines[0]
	equal((run['good'], run['losses'], run['messages'], run['title'].startswith('begin {')), (True, 'nothing lost so far', [], True), 'the run')
	wait('a message', lambda: 'The run has ended: Ctrl-C closes the page and prints the results\n' in r.err)
	equal(r.end(), want[2], 'status')
	equal(r.out, want[0], 'the results')
	# Attached 1 probe, or what it says else
	equal([line for line in r.err.splitlines() if 'Live at' not in line and 'has ended' not in line], want[1].splitlines(), 'messages')


CALLS = 'tracepoint:syscalls:sys_enter_getsid /pid == %d/ { @[comm] = count(); @h = hist(1); } interval:ms:100 { @n = count(); }' % os.getpid()


@case
def sums():
	"""A known load: what the page has last is what is printed, and all of it; only panes that changed are sent."""
	for number in (signal.SIGINT, signal.SIGTERM):
		r = Run('--web', '--every', '200ms', '-e', CALLS)
		s = Stream(r)
		s.until('an interval', lambda s: s.rows('@n').get(''))
		for i in range(1000):
			os.getsid(0)
		s.until('1000 calls', lambda s: sum(s.rows('@').values()) == 1000)
		sets = len(s.sets)
		s.until('ten more', lambda s: len(s.sets) > sets + 25)
		line = {p['title']: i for i, p in s.lines.items() if i}
		late = set(sum(s.sets[-5:], []))
		equal((line['@n'] in late, line['@'] in late), (True, False), 'what is sent when @ stays')
		for i in range(234):
			os.getsid(0)
		equal(r.end(number), 0, 'status')
		s.until('the last state', lambda s: s.over)
		equal(s.lines[0]['ended'], True, 'ended')
		printed = dict(re.findall(r'^@(\w*)(?:\[.*\])?: (\d+)$', r.out, re.M))
		equal((str(sum(s.rows('@').values())), str(s.rows('@n')[''])), (printed[''], printed['n']), 'the last state')
		equal((printed[''], s.pane('@h')['hist']['rows'][0][1]), ('1234', 1234), 'all calls')


@case
def compressed():
	"""Who asks for it gets the same, much smaller."""
	script = 'begin { for ($i : 0..150) { @["a key that is long enough", $i] = count(); } } interval:ms:100 { @n = count(); }'
	r = Run('--web', '--every', '200ms', '-e', script)
	a, b = Stream(r), Stream(r, more='Accept-Encoding: deflate, gzip, br\r\n')
	for s in (a, b):
		s.until('states', lambda s: len(s.sets) > 10)
	equal((a.zip, b.zip is None), (None, False), 'which is compressed')
	equal(r.end(), 0, 'status')
	for s in (a, b):
		s.until('the end', lambda s: s.over and s.lines[0]['ended'])
	equal((b.lines, b.zip.eof), (a.lines, True), 'the last state')
	equal(b.bytes * 4 < a.bytes, True, '%d bytes, compressed %d' % (a.bytes, b.bytes))


@case
def recording():
	"""Over a recording, and without a script; what is printed is what query prints."""
	path = os.path.join(tmp.name, 'a.sonde')
	subprocess.run([os.path.join(os.path.dirname(sonde), 'mkrec'), path], check=True)
	script = '*:* { @[probe] = count(); }'
	want = plain('query', path, '-e', script)
	r = Run('--web', path, '-e', script)
	s = Stream(r)
	s.until('the end', lambda s: s.lines.get(0, {}).get('ended'))
	printed = {k: int(v) for k, v in re.findall(r'^@\[(.*)\]: (\d+)$', want[0], re.M)}
	equal((s.rows('@'), len(printed) > 1), (printed, True), 'rows')
	equal((r.end(), r.out), (want[2], want[0]), 'the results')
	r = Run('--web', path)
	s = Stream(r)
	s.until('the end', lambda s: s.rows('@events') == printed)
	equal(r.end(), 0, 'status')


@case
def several():
	"""Scripts beside each other, and the built-in board."""
	one, two = 'begin { @a["x"] = count(); printf("of one\\n"); }', 'begin { @a["y"] = count(); exit(3); }'
	r = Run('--web', '-e', one, '+', '-e', two)
	s = Stream(r)
	s.until('both', lambda s: s.lines.get(0, {}).get('ended'))
	titles = [s.lines[i]['title'] for i in sorted(s.lines) if i]
	equal(sorted(t.split(': ')[-1] for t in titles), ['@a', '@a', 'text'], 'panes')
	equal(len({p['id'] for i, p in s.lines.items() if i}), 3, 'their names')
	equal((r.end(), r.out), (3, plain('run', '-e', one)[0] + plain('run', '-e', two)[0]), 'the results')
	out, err, rc = plain('live', '-e', one, '+', '--web', '-e', two)
	equal((rc, '--web belongs to the first script' in err), (1, True), err)
	r = Run('--web', '--every', '200ms', command='top')
	s = Stream(r)
	s.until('panes', lambda s: s.pane('CPU, run queue, off CPU') and s.pane('system calls') and s.pane('disk latency (us)'))
	s.until('rows', lambda s: len((s.pane('system calls').get('table') or {}).get('rows', [])) > 2)
	equal((s.lines[0]['title'], list(s.pane('disk latency (us)')['heat'])), ('sonde top', ['rows', 'ago', 'most']), 'the board')
	equal((r.end(), '@' in r.out), (0, False), 'nothing is printed')


@case
def many_clients():
	"""32 pages; the next one has to wait until one is closed."""
	r = Run('--web', '--every', '200ms', '-e', 'interval:ms:100 { @n = count(); }')
	all_of = [Stream(r) for i in range(32)]
	for s in all_of:
		s.until('an event', lambda s: s.rows('@n').get(''))
	status, head, text = r.ask('/events?t=' + r.token)
	equal((status, text), (503, '32 pages are open already\n'), 'the 33rd')
	equal(r.ask('/?t=' + r.token)[0], 200, 'the page itself')
	all_of[7].close()
	late = wait('room', lambda: (lambda s: s if s.until('an answer', lambda s: s.status) == 200 else s.close())(Stream(r)))
	late.until('an event', lambda s: s.rows('@n').get(''))
	seen = all_of[0].rows('@n')['']
	all_of[0].until('the others go on', lambda s: s.rows('@n')[''] > seen)
	equal(r.end(), 0, 'status')
	for s in [late] + all_of[8:]:
		s.until('the last state', lambda s: s.over and s.lines[0]['ended'])


def port_of(s):
	return s.getsockname()[1]


def established(r):
	"""Ports of clients to which sonde has a connection."""
	port = int(r.host.rsplit(':', 1)[1])
	with open('/proc/net/tcp') as f:
		lines = [line.split() for line in f.readlines()[1:]]
	return {int(w[2].split(':')[1], 16) for w in lines if int(w[1].split(':')[1], 16) == port and w[3] == '01'}


@case
def does_not_read():
	"""A client that does not read is dropped; meanwhile others get every state, and the run ends in time."""
	big = 'interval:ms:100 { @n = count(); for ($i : 0..150) { @["' + 'x' * 40 + '", $i] = count(); } printf("' + 'y' * 900 + '\\n"); }'
	r = Run('--web', '--every', '200ms', '-e', big)
	lazy = Stream(r, receive=4096)
	s = Stream(r)
	s.until('states', lambda s: len(s.sets) > 20)
	s.until('it is dropped', lambda s: port_of(lazy.s) not in established(r), 60)
	equal(r.process.poll(), None, 'it is dropped before the run ends')
	count = len(s.sets)
	s.until('others go on', lambda s: len(s.sets) > count + 3)
	lazy = [Stream(r, receive=4096) for i in range(3)]
	count = len(s.sets)
	s.until('they have what fits', lambda s: len(s.sets) > count + 15)
	began = time.time()
	equal(r.end(), 0, 'status')
	took = time.time() - began
	if took > 5 * slow:
		raise AssertionError('it ended after %.0f s' % took)
	s.until('the last state', lambda s: s.over)
	equal(s.lines[0]['ended'], True, 'the last state')
	equal(str(s.rows('@n')['']) in re.findall(r'^@n: (\d+)$', r.out, re.M), True, 'the sum')


@case
def stopped():
	"""The run does not wait for its child."""
	r = Run('--web', '--every', '200ms', '--for', '3s', '-e', 'interval:ms:100 { @n = count(); for ($i : 0..200) { @[$i] = count(); } }')
	s = Stream(r)
	s.until('states', lambda s: len(s.sets) > 2)
	child = r.child()
	os.kill(child, signal.SIGSTOP)
	wait('the end', lambda: r.process.poll() is not None)
	os.kill(child, signal.SIGCONT)
	equal(r.end(0), 0, 'status')
	equal(int(re.search(r'^@n: (\d+)', r.out, re.M).group(1)) > 15, True, 'it counted')
	wait('the end of the child', lambda: not os.path.exists('/proc/%d' % child))


@case
def killed():
	"""A child that is killed is reported, and the run goes on; the child ends with the run, whatever ends that."""
	r = Run('--web', '--every', '200ms', '-e', 'interval:ms:100 { @n = count(); } end { printf("last\\n"); }')
	s = Stream(r)
	s.until('a state', lambda s: s.rows('@n').get(''))
	child = r.child()
	with open('/proc/%d/status' % child) as f:
		status = dict(line.rstrip('\n').split(':\t', 1) for line in f if ':\t' in line)
	equal(status['CapPrm'] + status['CapEff'], '0' * 32, 'capabilities')
	equal((status['NoNewPrivs'], status['Seccomp'], status['Uid'].split()[0]), ('1', '2', '65534'), 'rights')
	open_files = sorted(os.readlink('/proc/%d/fd/%s' % (child, n)).split(':')[0] for n in os.listdir('/proc/%d/fd' % child) if int(n) > 2)
	equal(set(open_files) <= {'socket', 'anon_inode'}, True, 'open files %s' % open_files)
	os.kill(child, signal.SIGKILL)
	wait('a message', lambda: 'ERROR: the web server of --web was killed by signal 9; the run goes on without the page\n' in r.err)
	s.until('the end of the stream', lambda s: s.over)
	try:
		r.connect()
		raise AssertionError('somebody listens')
	except OSError:
		pass
	equal(r.process.poll(), None, 'it goes on')
	equal((r.end(), 'last' in r.out, bool(re.search(r'^@n: \d+$', r.out, re.M))), (0, True, True), 'the end')
	for number in (signal.SIGKILL, signal.SIGSEGV):
		r = Run('--web', '-e', 'interval:ms:100 { @n = count(); }')
		child = r.child()
		s = Stream(r)
		s.until('a state', lambda s: 0 in s.lines)
		r.end(number, alone=True)
		wait('the end of the child', lambda: not os.path.exists('/proc/%d' % child))


@case
def command():
	"""What a command prints is on the page, and among the results."""
	command = 'sh -c "echo from the command; exec sleep 1000"'  # the run lasts as long as both
	r = Run('--web', '-c', command, '-e', 'begin { printf("text\\n"); } interval:s:100 { @n = count(); }')
	s = Stream(r)
	s.until('its line', lambda s: 'from the command' in (s.pane('text') or {}).get('text', []))
	equal((r.end(), sorted(r.out.split('\n'))), (0, ['', '', '', 'from the command', 'text']), 'the results')


@case
def wrong_script():
	"""A script with an error is reported as ever, without an address."""
	out, err, rc = plain('live', '--web', '-e', 'begin { @ = nothing; }')
	equal((rc, 'ERROR' in err, 'Live at' in err, out), (1, True, False, ''), err)


TEXTS = "[...document.querySelectorAll('details')].map(d => d.querySelector('summary span').textContent)"


def column(n, title):
	return ("[...[...document.querySelectorAll('details')].find(d => d.querySelector('summary span').textContent == %r)"
		".querySelectorAll('tbody tr')].map(r => r.cells[%d].textContent)" % (title, n))


def clicked(b, expression):
	b.run("(%s).click()" % expression)
	b.settle()


def in_pane(title, selector):
	return ("[...document.querySelectorAll('details')].find(d => d.querySelector('summary span').textContent == %r).querySelector(%r)"
		% (title, selector))


def until(b, what, expression, want=True):
	try:
		wait(what, lambda: b.run(expression) == want)
	except AssertionError as e:
		raise AssertionError('%s: %s is %r, not %r; errors: %r' % (e, expression, b.run(expression), want, b.run("bad")))


@case
def page():
	"""Rows, order, filter, frozen, views; no violation of its own policy."""
	if not browser.find():
		return 'skipped'
	script = COUNTS[:-1] + ' @stack["main"] = count(); } interval:ms:100 { @n = count(); } profile:hz:99 { @st[kstack] = count(); }'
	r = Run('--web', '--every', '200ms', '-e', script)
	b = browser.Browser(1280, 900)
	try:
		b.run("window.violations = 0")
		b.call("Page.addScriptToEvaluateOnNewDocument",
		       source="window.bad = []; addEventListener('securitypolicyviolation', e => bad.push(e.violatedDirective));"
			      "addEventListener('error', e => bad.push(e.message));")
		b.open(r.url)
		until(b, 'panes', "document.querySelectorAll('details').length >= 8")
		equal(sorted(set(b.run(TEXTS)) & {'@by', '@reads', '@size', '@wait', 'text', '@note', '@n'}),
		      ['@by', '@n', '@note', '@reads', '@size', '@wait', 'text'], 'panes')
		until(b, 'rows', column(1, '@reads'), ['30', '7'])
		equal(b.run(column(4, '@reads')), ['cat', 'make'], 'keys')
		clicked(b, in_pane('@reads', 'th:nth-child(2) button'))
		equal(b.run(column(4, '@reads')), ['make', 'cat'], 'reversed')
		clicked(b, in_pane('@reads', 'th:nth-child(5) button'))
		equal(b.run(column(4, '@reads')), ['cat', 'make'], 'by key')
		equal(b.run(in_pane('@reads', 'th:nth-child(5)') + ".getAttribute('aria-sort')"), 'descending', 'said to a screen reader')
		b.key('/')
		b.type('MAK')
		equal(b.run(column(4, '@reads')), ['make'], 'filtered')
		b.key('Escape')
		equal(b.run(column(4, '@reads')), ['cat', 'make'], 'no filter')
		equal(b.run(column(1, '@size'))[-1], '44', 'a histogram')
		clicked(b, in_pane('@size', 'summary button:nth-child(2)'))
		equal(b.run(in_pane('@size', 'summary') + ".textContent").count('heat'), 1, 'the heat map')
		clicked(b, in_pane('@by', 'summary button:nth-child(2)'))
		until(b, 'the sum of histograms', column(1, '@by') + '[9]', '44')
		equal(b.run(in_pane('text', 'pre') + ".textContent").endswith('one line\n<b>another</b>'), True, 'text stays text')
		equal(b.run(in_pane('@note', ':scope') + " === null || !" + in_pane('@note', 'summary') + ".parentElement.open"), True, 'notes are closed')
		until(b, 'a flame graph', in_pane('@st', '.flame button') + ".textContent", 'all')
		number = column(1, '@n')
		first = b.run(number)
		until(b, 'it goes on', '(%s)[0] != %r' % (number, first[0]))
		clicked(b, "document.querySelectorAll('header button')[0]")
		equal(b.run("document.querySelector('header button').textContent"), 'Frozen', 'frozen')
		first = b.run(number)
		b.run("new Promise(r => setTimeout(r, 700))")
		equal(b.run(number), first, 'it is frozen')
		b.key(' ') if b.run("document.activeElement === document.body") else clicked(b, "document.querySelector('header button')")
		until(b, 'it goes on again', '(%s)[0] != %r' % (number, first[0]))
		for dark in (False, True):
			b.theme(dark)
			b.settle()
			if shots:
				b.shot(os.path.join(shots, 'page-%s.png' % ('dark' if dark else 'light')))
			equal(b.run("getComputedStyle(document.body).backgroundColor"), 'rgb(22, 24, 28)' if dark else 'rgb(255, 255, 255)', 'colors')
		equal(r.end(), 0, 'status')
		printed = re.search(r'^@n: (\d+)$', r.out, re.M).group(1)
		until(b, 'the last state', number, [printed])
		until(b, 'the end is shown', "document.querySelectorAll('header span')[0].textContent.includes('ended')")
		equal(b.run("bad"), [], 'violations and errors')
	finally:
		b.close()


print('%d passed, %d failed%s' % (done - failed - skipped, failed, ', %d skipped' % skipped if skipped else ''))
sys.exit(failed > 0)
