#!/usr/bin/env python3
# web.py [-s DIR] SONDE [NAME...] - `sonde live --web`: who is let in, what the page gets, how it ends. As root; the page
# itself in headless Chromium, where there is one (-s: screenshots go to DIR).
#
# Numbers are known: scripts have begin probes, or count calls that this process makes.
import json, os, re, select, signal, socket, subprocess, sys, tempfile, threading, time, zlib
from urllib.parse import urlencode

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

	def takes_signals(self):
		"""Until it attaches, a signal ends it, or is lost if whoever started it ignores that signal."""
		with open('/proc/%d/status' % self.process.pid) as f:
			blocked = re.search(r'^SigBlk:\s*(\w+)', f.read(), re.M)
		return blocked and int(blocked.group(1), 16) >> (signal.SIGINT - 1) & 1

	def end(self, number=signal.SIGINT, seconds=20, alone=False):
		"""Its exit status. A terminal, and a service manager, send signals to the child, too."""
		if number in (signal.SIGINT, signal.SIGTERM):
			wait('it takes signals', lambda: self.process.poll() is not None or self.takes_signals())
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

	def url_of(self, path, **args):
		return '%s?%s' % (path, urlencode({'t': self.token, **args}))

	def answer(self, path, **args):
		"""Of a question that has one, as JSON where it is that."""
		status, head, text = self.ask(self.url_of(path, **args))
		equal(status, 200, '%s %s: %s' % (path, args, text))
		return json.loads(text) if 'application/json' in head and path != '/state' else text

	def control(self, x, y='', **args):
		return self.ask(self.url_of('/ctl', x=x, y=y, **args), 'POST')[::2]

	def ask(self, path, method='GET', host=None, more='', raw=False):
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
		return int(head.split()[1]), head.decode(), text if raw else text.decode()


class Stream:
	"""States of a run, as a page reads them."""
	def __init__(self, run, receive=0, more='', args=''):
		self.s = run.connect()
		if receive:
			self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
		streams.append(self)
		self.s.sendall(('GET /events?t=%s%s HTTP/1.1\r\nHost: %s\r\n%s\r\n' % (run.token, args, run.host, more)).encode())
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
	for path in ('/', '/?t=', '/?t=' + wrong, page[:-1], page + '0', '/events', '/events?t=' + wrong, '/nothing', '/nothing?t=' + wrong,
		     '/state', '/pane?pane=0@reads&t=' + wrong, '/part', '/save?x=a.json', '/save?x=a.json&t=' + wrong):
		status, head, text = r.ask(path)
		equal((status, 'the token is missing, or wrong' in text), (403, True), path)
	for path in ('/ctl?x=pause', '/ctl?x=pause&t=' + wrong, '/see?c=a', '/see?c=a&t=' + wrong):
		equal(r.ask(path, 'POST', more='Content-Length: 0\r\n')[0], 403, path)
	for path in ('/ctl?x=pause&t=' + r.token, '/see?c=a&t=' + r.token):
		for more in ('Origin: http://example.org\r\n', 'Origin: null\r\n'):
			equal(r.ask(path, 'POST', more=more)[::2], (403, 'the Origin is another one\n'), path)
		equal(r.ask(path, 'POST', host='example.org')[0], 403, path)
		for method in ('GET', 'HEAD', 'PUT'):
			status, head, text = r.ask(path, method)
			equal((status, 'Allow: POST' in head), (405, True), method + path)
	equal(json.loads(r.ask('/state?t=' + r.token)[2].split('\n')[0])['paused'], False, 'nobody has frozen it')
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
	for turn in range(2):  # the second time a file is there that nobody listens to, and sonde is killed
		r = Run('--web=unix:' + path, '-e', COUNTS)
		equal((r.path, r.host, os.stat(path).st_mode & 0o777), (path, 'localhost', 0o600), 'a unix socket')
		equal(r.ask('/?t=' + r.token)[0], 200, 'the page')
		s = Stream(r)
		s.until('rows', lambda s: s.rows('@reads') == {'cat': 30, 'make': 7})
		if not turn:
			out, err, rc = plain('live', '--web=unix:' + path, '-e', COUNTS)
			equal((rc, 'Address already in use' in err), (1, True), err)
			equal(r.end(), 0, 'status')
			equal(os.path.exists(path), False, 'it is removed')
			with socket.socket(socket.AF_UNIX) as left:
				left.bind(path)
		else:
			r.end(signal.SIGKILL, alone=True)
			wait('it is removed after a kill, too', lambda: not os.path.exists(path))
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
	equal([(s.pane(p)['view'], s.pane(p)['views']) for p in ('@size', '@by', '@reads', 'text')],
	      [('hist', ['table', 'hist', 'heat', 'series']), ('table', ['table', 'hist', 'heat', 'series']), ('table', ['table', 'series']),
	       ('text', ['text'])], 'views')
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
	equal((s.lines[0]['title'], list(s.pane('disk latency (us)')['heat'])), ('sonde top', ['rows', 'ago', 'most', 'at']), 'the board')
	equal((r.end(), '@' in r.out), (0, False), 'nothing is printed')


CALLS_OF = '''t:raw_syscalls:sys_enter { @calls[comm] = count(); @start[tid] = nsecs; }
	t:raw_syscalls:sys_exit /@start[tid]/ { @ms = hist((nsecs - @start[tid]) / 1000000); @by[comm] = hist((nsecs - @start[tid]) / 1000000); }
	profile:hz:99 { @on_cpu[kstack] = count(); @deep[kstack] = hist(1); }
	interval:ms:300 { printf("%d ms\\n", elapsed / 1000000); }'''


def replayed(*more):
	"""Over a recording that is the same each time, when it was read."""
	path = os.path.join(tmp.name, 'replayed.sonde')
	subprocess.run([os.path.join(os.path.dirname(sonde), 'mkrec'), path], check=True)
	r = Run('--web', '--every', '200ms', path, '-e', CALLS_OF)
	s = Stream(r)
	s.until('the end', lambda s: s.lines.get(0, {}).get('ended'))
	return r, s


def readings(r):
	"""What was saved: by map, reading and key, the buckets by their least value, or the value."""
	times, rows = [], {}
	for line in r.answer('/save', x='a.json').splitlines():
		d = json.loads(line)
		if d['time'] not in times:
			times.append(d['time'])
		value = {b['min']: b['count'] for b in d['buckets']} if 'buckets' in d else d.get('value')
		rows.setdefault(d['map'], {}).setdefault(len(times), {})[d['key']] = value
	return rows


@case
def questions():
	"""Other views, rows alone, readings of before, what was in a part of a heat map: all from the same readings."""
	r, s = replayed()
	rows, run = readings(r), s.lines[0]
	equal((run['first'], run['last'], run['at'], run['mark'], run['base'], run['lossy']), (1, 5, 5, 0, 0, []), 'readings')
	for n in range(1, 6):
		state = [json.loads(line) for line in r.answer('/state', at=n).splitlines()]
		equal((state[0]['at'], state[0]['last']), (n, 5), 'the reading')
		table = next(p for p in state if p.get('id') == '0@calls')['table']
		equal({x[-1]: x[1] for x in table['rows']}, rows['@calls'][n], 'calls at reading %d' % n)
		for name, comm in (('', 'cat'), ('', 'worker')):
			d = r.answer('/pane', pane='0@by', row=comm, at=n, view='hist')
			want = rows['@by'][n].get(comm, {})
			equal((d['title'], d['view'], sum(x[1] for x in d['hist']['rows'])), ('@by[%s]' % comm, 'hist', sum(want.values())), 'a row')
	equal([json.loads(r.answer('/state', at=n).split('\n')[0])['at'] for n in (0, 1, 6, 999)], [1, 1, 5, 5], 'the nearest reading')
	series = r.answer('/pane', pane='0@calls', row='cat', view='series')['series']
	rate = [json.loads(x) for x in r.answer('/save', x='a.json').splitlines()]
	want = [round(x['per_second'], 3) if 'per_second' in x else None for x in rate if x['map'] == '@calls' and x['key'] == 'cat']
	equal((series['adds'], series['at'], [v and round(v, 1) for v in series['v']]), (True, 5, [w and round(w, 1) for w in want]), 'a series')
	heat = r.answer('/pane', pane='0@ms', view='heat')['heat']
	equal(([x[0] for x in heat['rows']], [x[2] for x in heat['rows']], heat['at']), (['[8, 16)', '[4, 8)', '[0]'], ['8', '4', '0'], 5), 'a heat map')
	for pane, key in (('@ms', ''), ('@by', 'cat'), ('@by', None)):
		for x, at in ((1, 5), (1, 2), (3, 5)):
			for least, most in ((0, 8), (4, 8), (0, 0)):
				d = r.answer('/part', pane='0' + pane, x=x, at=at, y='%d %d' % (least, most), **({'row': key} if key else {}))
				want = {}
				for k, v in rows[pane][at].items():
					before = rows[pane].get(x, {}).get(k, {})
					n = sum(c - before.get(lo, 0) for lo, c in v.items() if least <= lo <= most)
					if n and key in (None, k):
						want[k] = n
				equal(({k: n for k, n, *_ in d['rows']}, d['n']), (want, sum(want.values())), '%s, %d to %d, %d to %d' % (pane, x, at, least, most))
				calls = next(b for b in d['beside'] if b['title'] == '@calls')
				equal({k: n for k, n in calls['rows']}, {k: n - rows['@calls'][x][k] for k, n in rows['@calls'][at].items()}, 'beside')
	d = r.answer('/part', pane='0@deep', x=1, at=5, y='1 1')
	equal(([len(x) > 3 and x[-1] for x in d['rows']], bool(re.match(r'\d\d:\d\d:\d\d to ', d['when']))), (['do_read'], True), 'stacks')
	for path, args, why in (('/pane', {'pane': '0@no'}, 'there is no such pane'), ('/pane', {'pane': '0@calls', 'row': 'no'}, 'there is no such row any more'),
				('/pane', {'pane': '0@calls', 'view': 'heat'}, 'there is no such view'), ('/pane', {'pane': '0@calls', 'view': 'no'}, 'there is no such view'),
				('/state', {'at': 'x'}, 'a question that makes no sense'), ('/part', {'pane': '0@calls', 'x': 1, 'y': '0 1'}, 'no heat map'),
				('/part', {'pane': '0@ms', 'x': 1, 'y': '0'}, 'no such part'), ('/part', {'pane': '0@ms', 'x': '', 'at': 'y', 'y': '0 1'}, 'a question'),
				('/part', {'pane': '0@ms', 'x': 5, 'at': 1, 'y': '0 9'}, 'the readings are not kept any more'), ('/pane', {'pane': '0', 'view': 'table'}, 'there is no such view'),
				('/save', {'pane': '0@calls', 'x': 'a.pb'}, 'this pane has no stacks'), ('/save', {'pane': '0', 'x': 'a.csv'}, 'this pane has no table'),
				('/save', {'pane': '0@ms', 'x': 'a'}, 'a name that ends in'), ('/pane', {'pane': '0@calls', 'row': 'x' * 20000}, 'there is no such row')):
		status, head, text = r.ask(r.url_of(path, **args))
		equal((status, why in text), (409, True), '%s %s: %s' % (path, args, text))
	status, head, text = r.ask(r.url_of('/pane', pane='0@calls\n\n\ncat'))
	equal(status, 409, 'more lines')
	equal(r.end(), 0, 'status')


def fields(b):
	"""Of a protocol buffer: numbers, and bytes (packed numbers of field 1 of samples as a list)."""
	at, got = 0, []

	def number():
		nonlocal at
		n = shift = 0
		while True:
			n |= (b[at] & 127) << shift
			shift += 7
			at += 1
			if b[at - 1] < 128:
				return n
	while at < len(b):
		key = number()
		if key & 7 == 0:
			got.append((key >> 3, number()))
			continue
		size = number()
		value = b[at:at + size]
		at += size
		got.append((key >> 3, list(value) if key >> 3 == 1 and all(v < 128 for v in value) else value))
	return got


@case
def saved():
	"""Files of a page: tables, a picture, stacks, and a recording that answers with the same numbers."""
	import xml.etree.ElementTree as tree
	r, s = replayed()
	rows = readings(r)
	lines = r.answer('/save', pane='0@calls', x='a.csv').splitlines()
	equal((lines[0], len(lines), lines[-1].split(',')[1::3]), ('time,key,per_second,count,value', 11, ['worker', '10']), 'CSV')
	for view in ('heat', 'hist', 'series', 'table'):
		text = r.answer('/save', pane='0@ms', view=view, x='a.svg')
		words = ' '.join(t.text for t in tree.fromstring(text).iter('{http://www.w3.org/2000/svg}text'))
		equal(bool(re.search('@ms +' + view, words)), True, words[:300])
	status, head, text = r.ask(r.url_of('/save', pane='0@ms', view='heat', x='a.svg'))
	for what in ('Content-Type: image/svg+xml', 'Content-Disposition: attachment', "Content-Security-Policy: default-src 'none'", 'nosniff'):
		equal(what in head, True, what)
	profile = r.ask(r.url_of('/save', pane='0@on_cpu', x='a.pb'), raw=True)[2]
	total = sum(n for n in rows['@on_cpu'][5].values())
	samples, strings = [], []
	for field, value in fields(profile):
		if field == 2:
			samples.append(dict(fields(value)))
		elif field == 6:
			strings.append(value.decode())
	equal((sum(d[2] for d in samples), strings[:3], 'do_read' in strings), (total, ['', '@on_cpu', 'count'], True), 'a profile')
	equal([strings[i - 1] for i in samples[0][1]], ['do_read', 'do_syscall_64'], 'the innermost frame comes first')
	path = os.path.join(tmp.name, 'saved.sonde')
	with open(path, 'wb') as f:
		f.write(r.ask(r.url_of('/save', x='a.sonde'), raw=True)[2])
	out, err, rc = plain('query', '-q', path, '-e', 'tracepoint:live:calls { @calls[args.key] = sum(args.added); } tracepoint:live:ms { @ms[args.low] = sum(args.added); } '
			     'tracepoint:live:on_cpu { @on_cpu[ustack] = sum(args.added); }')
	equal((rc, err), (0, ''), 'query: ' + err)
	got = {(m, k): int(v) for m, k, v in re.findall(r'^@(calls|ms)\[(.*)\]: (\d+)$', out, re.M)}
	want = {('calls', k): n for k, n in rows['@calls'][5].items()}
	want.update({('ms', str(k)): n for k, n in rows['@ms'][5][''].items()})
	equal((got, 'do_read' in out), (want, True), out)
	equal(re.search(r'\]: (\d+)$', out.split('@on_cpu')[1], re.M).group(1), str(total), out)
	out, err, rc = plain('live', path, '-e', 'tracepoint:live:* { @[probe] = count(); }')
	equal((rc, 'tracepoint:live:calls]: 10' in out), (0, True), out + err)
	equal(r.end(), 0, 'status')


@case
def controls():
	"""What one page does, all see: frozen, marks, totals since, the interval."""
	r = Run('--web', '--every', '200ms', '-e', 'interval:ms:20 { @n = count(); @k["x"] = count(); }')
	s, other = Stream(r), Stream(r)
	s.until('readings', lambda s: s.lines.get(0, {}).get('last', 0) > 3)
	equal(r.control('diff'), (409, 'there is no mark\n'), 'no mark')
	equal(r.control('mark'), (200, ''), 'a mark')
	mark = s.until('a mark', lambda s: s.lines[0]['mark'])
	equal(r.control('diff'), (200, ''), 'since the mark')
	all_of = lambda n: r.answer('/state', at=n)
	s.until('since the mark', lambda s: 'since the mark at' in s.lines[0]['when'] and s.lines[0]['last'] > mark)
	other.until('there, too', lambda s: s.lines.get(0, {}).get('diff') is True and s.lines[0]['mark'] == mark)
	before, after = s.rows('@n')[''], s.lines[0]['last']
	equal(r.control('diff'), (200, ''), 'not any more')
	s.until('totals', lambda s: s.lines[0]['diff'] is False and s.rows('@n')[''] > before)
	equal(r.control('base', at=mark), (200, ''), 'totals since a reading of before')
	s.until('since', lambda s: s.lines[0]['base'] == mark and ' since ' in s.lines[0]['when'])
	equal(r.control('start'), (200, ''), 'since the start')
	s.until('since the start', lambda s: s.lines[0]['base'] == 0)
	equal(r.control('pause'), (200, ''), 'frozen')
	s.until('frozen', lambda s: s.lines[0]['paused'])
	at = s.lines[0]['at']
	s.until('others come', lambda s: s.lines[0]['last'] > at + 3)
	equal((s.lines[0]['at'], 'frozen' in s.lines[0]['when']), (at, True), 'the reading stays')
	equal(r.control('pause'), (200, ''), 'not frozen')
	s.until('it goes on', lambda s: not s.lines[0]['paused'] and s.lines[0]['at'] > at + 3)
	equal(r.control('every', 500), (200, ''), 'an interval')
	s.until('another interval', lambda s: s.lines[0]['every'] == 500)
	for x, y, why in (('every', '100', 'an interval is'), ('every', '60001', 'an interval is'), ('every', 'x', 'an interval is'), ('every', '', 'an interval is'),
			  ('quit', '', 'there are only'), ('', '', 'there are only')):
		status, text = r.control(x, y)
		equal((status, why in text), (409, True), '%s %s: %s' % (x, y, text))
	equal(r.end(), 0, 'status')


BOARD = '''config = { panes = "@a: first; @b: second" }
	interval:ms:20 { @a = count(); } interval:ms:20 { @b = count(); }'''


@case
def hidden_panes():
	"""Panes that no page shows are detached, and attached again; before the first page, and for pages that do not say, all are."""
	r = Run('--web', '--every', '200ms', '-e', BOARD)
	time.sleep(4)
	s = Stream(r, args='&c=one')
	s.until('both', lambda s: s.pane('first') and s.pane('second'))
	equal([s.pane(t)['lacks'] for t in ('first', 'second')], ['', ''], 'nobody has looked yet')
	see = lambda c, panes: r.ask(r.url_of('/see', c=c, pane=panes), 'POST')[0]
	equal(see('one', '0@a'), 200, 'one of them')
	s.until('it is detached', lambda s: 'not traced now' in s.pane('second')['lacks'])
	equal(s.pane('first')['lacks'], '', 'the other one')
	count = s.rows('@b') or s.pane('second')['table']['rows'][0][1]
	two = Stream(r, args='&c=two')
	s.until('a page that does not say', lambda s: 'not traced for' in s.pane('second')['lacks'])
	equal(see('two', '0@a'), 200, 'as the first')
	s.until('it is detached again', lambda s: 'not traced now' in s.pane('second')['lacks'])
	equal(see('two', '0@b,0'), 200, 'the other one')
	s.until('both are traced', lambda s: 'not traced for' in s.pane('second')['lacks'])
	two.close()
	s.until('the page is closed', lambda s: 'not traced now' in s.pane('second')['lacks'])
	equal(see('nobody', '0@b'), 200, 'a page that is not there')
	equal(r.ask(r.url_of('/see', c='one', pane='x' * 2000), 'POST')[0], 400, 'a long list')
	equal(r.end(), 0, 'status')


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
	os.killpg(r.process.pid, signal.SIGINT)
	s.until('the last state', lambda s: s.over)  # who reads gets it
	equal(r.end(0), 0, 'status')
	took = time.time() - began
	if took > 5 * slow:
		raise AssertionError('it ended after %.0f s' % took)
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
def cost():
	"""The processor time of the child is in the line."""
	r = Run('--web', '--every', '200ms', '-e', 'interval:s:1000 { @n = count(); }')
	s = Stream(r)
	s.until('readings', lambda s: s.lines.get(0, {}).get('last', 0) > 3)
	until = time.time() + 20 * slow
	used = lambda: sum(int(t) for t in open('/proc/%d/stat' % r.child()).read().rsplit(')', 1)[1].split()[11:13])
	percent = lambda: max([float(t) for t in re.findall(r'sonde ([0-9.e+]+) %', s.read(0).lines[0]['cost'])] or [0])
	while percent() < 5 and time.time() < until:  # of all processors; without a load it is far below 1 %
		for i in range(50):
			r.ask('/?t=' + r.token)
	equal((percent() >= 5, used() > 0), (True, True), 'the line: ' + s.lines[0]['cost'])
	equal(r.end(), 0, 'status')


def own_ns(r):
	return sum(int(open('/proc/%d/schedstat' % p).read().split()[0]) for p in (r.process.pid, r.child()))


def programs_ns(r):
	"""Of all programs that it has open, by the kernel's account."""
	times = {}
	for n in os.listdir('/proc/%d/fdinfo' % r.process.pid):
		try:
			with open('/proc/%d/fdinfo/%s' % (r.process.pid, n)) as f:
				of = dict(line.split(':', 1) for line in f if ':' in line)
		except OSError:
			continue
		if 'prog_id' in of and 'run_time_ns' in of:
			times[of['prog_id']] = int(of['run_time_ns'])
	return sum(times.values())


@case
def cost_is_true():
	"""What the line says, summed over readings, is within 20 % of what the kernel accounts, for sonde and for programs."""
	load = subprocess.Popen([sys.executable, '-c', 'import os, time\nwhile True:\n\tfor i in range(3000): os.getppid()\n\ttime.sleep(0.02)'])
	try:
		r = Run('--web', '--every', '500ms', '-e', 'tracepoint:raw_syscalls:sys_enter { @[tid] = count(); @h[comm] = hist(nsecs); }')
		s = Stream(r)
		s.until('readings', lambda s: s.lines.get(0, {}).get('last', 0) > 3)

		def measured(n=6):
			at = lambda: s.lines[0]['last']
			reading = lambda: (lambda before: s.until('a reading', lambda s: at() > before))(at())
			reading()
			first, own, programs, sums, from_reading = time.monotonic(), own_ns(r), programs_ns(r), [0, 0], at()
			while at() - from_reading < n:
				last = at()
				reading()
				if at() != last + 1:
					return False  # this process was too slow
				for i, x in enumerate(re.search(r'sonde ([-+.e0-9]+) %, programs ([-+.e0-9]+) %', s.lines[0]['cost']).groups()):
					sums[i] += float(x)
			seconds = (time.monotonic() - first) * os.sysconf('SC_NPROCESSORS_ONLN')
			want = [100e-9 * (own_ns(r) - own) / seconds, 100e-9 * (programs_ns(r) - programs) / seconds]
			got = [x / n for x in sums]
			measured.last = 'sonde and programs: the line says %.3f and %.3f %%, the kernel %.3f and %.3f' % (*got, *want)
			return all(abs(g - w) <= 0.2 * w for g, w in zip(got, want))
		try:
			wait('a true line', measured, 60)
		except AssertionError as e:
			raise AssertionError('%s; %s' % (e, measured.last))
		print('# ' + measured.last)
		equal(r.end(), 0, 'status')
	finally:
		load.kill()
		load.wait()


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
		clicked(b, in_pane('@size', 'summary button:nth-child(3)'))
		until(b, 'the heat map', in_pane('@size', '.box') + ".textContent.includes('in the intervals')")
		clicked(b, in_pane('@by', 'summary button:nth-child(2)'))
		until(b, 'the sum of histograms', column(1, '@by') + '[9]', '44')
		equal(b.run(in_pane('text', 'pre') + ".textContent").endswith('one line\n<b>another</b>'), True, 'text stays text')
		equal(b.run(in_pane('@note', ':scope') + " === null || !" + in_pane('@note', 'summary') + ".parentElement.open"), True, 'notes are closed')
		until(b, 'a flame graph', in_pane('@st', '.flame button') + ".textContent", 'all')
		number = column(1, '@n')
		first = b.run(number)
		until(b, 'it goes on', '(%s)[0] != %r' % (number, first[0]))
		clicked(b, "document.querySelectorAll('header button')[0]")
		until(b, 'frozen', "document.querySelector('header button').textContent", 'Frozen')
		first = b.run(number)
		b.run("new Promise(r => setTimeout(r, 700))")
		equal(b.run(number), first, 'it is frozen')
		equal(r.answer('/state').split('\n')[0].count('"paused": true'), 1, 'for all pages')
		b.key(' ') if b.run("document.activeElement === document.body") else clicked(b, "document.querySelector('header button')")
		until(b, 'it goes on again', '(%s)[0] != %r' % (number, first[0]))
		b.run("(e => { e.value = 500; e.onchange(); })(document.querySelector('select'))")
		wait('another interval', lambda: '"every": 500,' in r.answer('/state').split('\n')[0])  # readings may be less often
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


@case
def page_asks():
	"""Graphs, a row alone, readings of before, marks, a rectangle of a heat map, files: on the page, with the numbers of the readings."""
	if not browser.find():
		return 'skipped'
	r, s = replayed()
	rows = readings(r)
	b = browser.Browser(1280, 1000)
	summary = lambda title, text: ("[...[...document.querySelectorAll('details')].find(d => d.querySelector('summary span').textContent == %r)"
					".querySelectorAll('summary button, summary a')].find(b => b.textContent == %r)" % (title, text))
	header = lambda text: "[...document.querySelectorAll('header button')].find(b => b.textContent == %r)" % text
	of = lambda map, n: [str(v) for k, v in sorted(rows[map][n].items(), key=lambda x: (-x[1], x[0]))]

	def drag(title, x0, y0, x1, y1):
		"""From one place of a heat map to another, each as a part of its width and height."""
		at = b.run("(() => { const h = %s, f = h.children[1].getBoundingClientRect(), l = h.children[h.querySelectorAll('span').length * 2 - 1].getBoundingClientRect();"
			   "return [f.left, f.top, f.width, l.bottom - f.top]; })()" % in_pane(title, '.heat'))
		x, y = lambda p: at[0] + p * at[2], lambda p: at[1] + p * at[3]
		b.mouse(x(x0), y(y0))
		b.mouse(x(x0), y(y0), 'mousePressed', button='left', buttons=1, clickCount=1)
		for i in range(1, 5):
			b.mouse(x(x0 + (x1 - x0) * i / 4), y(y0 + (y1 - y0) * i / 4), button='left', buttons=1)
		if shots and title == '@by':
			b.shot(os.path.join(shots, 'select.png'))
		b.mouse(x(x1), y(y1), 'mouseReleased', button='left', clickCount=1)
	try:
		b.call("Page.addScriptToEvaluateOnNewDocument",
		       source="window.bad = []; addEventListener('securitypolicyviolation', e => bad.push(e.violatedDirective));"
			      "addEventListener('error', e => bad.push(e.message)); addEventListener('unhandledrejection', e => bad.push(String(e.reason)));")
		b.open(r.url)
		until(b, 'rows', column(1, '@calls'), of('@calls', 5))
		clicked(b, summary('@calls', 'series'))
		until(b, 'a graph', in_pane('@calls', 'svg path.line') + ".getAttribute('d').startsWith('M1 ')")
		clicked(b, summary('@calls', 'table'))
		until(b, 'the table', column(1, '@calls'), of('@calls', 5))
		clicked(b, in_pane('@calls', 'td.k button'))
		until(b, 'a row', TEXTS + ".includes('@calls[cat]')")
		until(b, 'its graph', in_pane('@calls[cat]', '.series pre') + ".textContent.includes('per second')")
		if shots:
			b.shot(os.path.join(shots, 'row.png'))
		clicked(b, summary('@calls[cat]', 'All rows'))
		until(b, 'all rows', column(1, '@calls'), of('@calls', 5))
		for n in (2, 1, 4):
			b.run("(e => { e.value = %d; e.dispatchEvent(new Event('input')); })(document.querySelector('input[type=range]'))" % n)
			until(b, 'reading %d' % n, column(1, '@calls'), of('@calls', n))
			equal(b.run("document.querySelector('header span').textContent").count('back'), 1, 'it is said')
		clicked(b, header('Mark'))
		until(b, 'a mark', "document.querySelectorAll('.track .mark').length", 1)
		clicked(b, header('Now'))
		until(b, 'now', column(1, '@calls'), of('@calls', 5))
		clicked(b, header('Since mark'))
		until(b, 'what came since the mark', column(1, '@calls'), sorted((str(n - rows['@calls'][4].get(k, 0)) for k, n in rows['@calls'][5].items()), reverse=True))
		equal(b.run(header('Since mark') + ".getAttribute('aria-pressed')"), 'true', 'pressed')
		clicked(b, header('Since mark'))
		until(b, 'all of it', column(1, '@calls'), of('@calls', 5))
		for title, stacks in (('@by', False), ('@deep', True)):
			clicked(b, summary(title, 'heat'))
			until(b, 'a heat map', in_pane(title, '.heat') + " !== null")
			drag(title, 0.01, 0.01, 0.99, 0.99)
			n = sum(sum(h.values()) for h in rows[title][5].values()) - sum(sum(h.values()) for h in rows[title][1].values())
			until(b, 'what was in it', "(e => e && e.textContent.split(' of ')[0])(%s)" % in_pane(title, '.part b'), str(n))
			if stacks:
				until(b, 'a flame graph', "[...%s.children].map(e => e.textContent).slice(1, 3)" % in_pane(title, '.part .flame'), ['do_syscall_64', 'do_read'])
			else:
				want = {k: sum(h.values()) - sum(rows[title][1].get(k, {}).values()) for k, h in rows[title][5].items()}
				equal(b.run("Object.fromEntries([...%s.rows].slice(1).map(r => [r.cells[2].textContent, Number(r.cells[0].textContent)]))" % in_pane(title, '.part table')), want, 'rows')
		labels = "[...%s.querySelectorAll('span')].map(e => e.textContent)" % in_pane('@by', '.heat')
		for n, want in ((3, ['[4, 8)', '[0]']), (5, ['[8, 16)', '[4, 8)', '[0]'])):  # rows come where a rectangle was
			b.run("(e => { e.value = %d; e.dispatchEvent(new Event('input')); })(document.querySelector('input[type=range]'))" % n)
			until(b, 'the heat map at reading %d' % n, labels, want)
		equal(b.run("[...%s.children].map(e => e.tagName).join(' ')" % in_pane('@by', '.heat')), 'SPAN DIV SPAN DIV SPAN DIV B', 'its parts')
		for dark in (False, True):
			b.theme(dark)
			b.settle()
			if shots:
				b.shot(os.path.join(shots, 'asks-%s.png' % ('dark' if dark else 'light')))
		clicked(b, in_pane('@by', '.part button'))
		equal(b.run(in_pane('@by', '.part') + ".textContent"), '', 'closed')
		b.run(in_pane('@by', '.heat') + ".focus()")
		for key in ('ArrowLeft', 'ArrowRight', 'Enter'):
			b.key(key)
		until(b, 'a cell by keys', "(e => e && e.textContent.includes(' of [8, 16), '))(%s)" % in_pane('@by', '.part b'))
		link = lambda text: b.run("(a => { a.addEventListener('click', e => e.preventDefault()); a.click(); return [a.download, a.href]; })(%s)" % text)
		name, href = link(summary('@calls', 'CSV'))
		status, head, text = r.ask(href[href.index('/save'):])
		equal((name, status, text.startswith('time,key,')), ('0_calls.csv', 200, True), 'a file')
		name, href = link(summary('@ms', 'SVG'))
		equal((name, r.ask(href[href.index('/save'):])[2][:4]), ('0_ms.svg', '<svg'), 'a picture')
		equal(b.run(summary('@calls', 'pprof') + ".hidden"), True, 'no stacks')
		equal(b.run(summary('@on_cpu', 'pprof') + ".hidden"), False, 'stacks')
		equal(b.run("bad"), [], 'violations and errors')
	finally:
		b.close()
	equal(r.end(), 0, 'status')


print('%d passed, %d failed%s' % (done - failed - skipped, failed, ', %d skipped' % skipped if skipped else ''))
sys.exit(failed > 0)
