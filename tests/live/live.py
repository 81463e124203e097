#!/usr/bin/env python3
# live.py [-u] [-v] SONDE [NAME...] - screens of `sonde live`, in tmux, compared as a whole with tests/live/*.txt (-u writes
# them); what is printed after it; that the terminal is as it was, whatever ends it. As root, with tmux.
#
# Screens are of scripts that only have begin probes, so every number is known. Times and costs become "#".
import difflib, os, pty, re, random, select, signal, struct, subprocess, sys, tempfile, termios, time, fcntl

here = os.path.dirname(os.path.abspath(__file__))
args = sys.argv[1:]
update = '-u' in args
verbose = '-v' in args
args = [a for a in args if a not in ('-u', '-v')]
if not args:
	sys.exit('usage: live.py [-u] [-v] SONDE [NAME...]')
sonde, names = os.path.abspath(args[0]), args[1:]
slow = float(os.environ.get('TEST_SLOW', '1'))
tmp = tempfile.TemporaryDirectory()
done = failed = 0
started = []  # processes that nobody has waited for, with the other side of their terminals
for s in (signal.SIGTERM, signal.SIGHUP):  # so that what was started is ended, too
	signal.signal(s, lambda number, frame: sys.exit(128 + number))


def wait(what, condition, seconds=20):
	end = time.time() + seconds * slow
	while time.time() < end:
		got = condition()
		if got:
			return got
		time.sleep(0.05)
	raise AssertionError('never: ' + what)


class Screen:
	"""A terminal in tmux in which a shell runs. It ends with its case, and with this process."""
	count = 0
	open = []

	def __init__(self, width=80, height=24, env=''):
		Screen.count += 1
		self.socket = os.path.join(tmp.name, 'tmux%d' % Screen.count)
		self.env = 'LANG=C.UTF-8 TERM=screen-256color ' + env
		self.tmux('-f', '/dev/null', 'new-session', '-d', '-x', str(width), '-y', str(height),
			  'env PS1="ready> " ENV= sh', ';', 'run-shell', '-b',
			  'tail --pid=%d -f /dev/null; tmux -S %s kill-server' % (os.getpid(), self.socket))
		Screen.open.append(self)
		wait('a shell', lambda: 'ready>' in self.text())

	def tmux(self, *words):
		return subprocess.run(['tmux', '-S', self.socket, *words], capture_output=True, text=True).stdout

	def text(self, *options):
		return self.tmux('capture-pane', '-p', *options)

	def send(self, *keys):
		for k in keys:
			self.tmux('send-keys', k)

	def type(self, text):
		self.tmux('send-keys', '-l', '--', text)

	def command(self, text):
		path = os.path.join(tmp.name, 'command%d' % Screen.count)
		with open(path, 'w') as f:
			f.write(text)
		self.tmux('send-keys', '-l', '%s sh %s; echo status $?' % ('env ' + self.env, path))
		self.send('Enter')

	def live(self, words):
		self.command('echo $$ > %s/pid; exec %s live %s' % (tmp.name, sonde, words))
		self.until('sonde live:')

	def until(self, text):
		return wait(text, lambda: text in self.text() and self.text())

	def until_not(self, text):
		wait('not ' + text, lambda: text not in self.text())

	def ended(self):
		"""It has printed its results, and the shell is back."""
		wait('the end', lambda: re.search(r'^status \d+$', self.text('-S', '-'), re.M))
		return re.search(r'^status (\d+)$', self.text('-S', '-'), re.M).group(1)

	def alternate(self):
		return self.tmux('display-message', '-p', '#{alternate_on}#{cursor_flag}#{wrap_flag}').strip()

	def close(self):
		self.tmux('kill-server')
		Screen.open.remove(self)


def pid():
	with open(os.path.join(tmp.name, 'pid')) as f:
		return int(f.read())


def masked(text):
	"""Clock and duration, the interval's cost."""
	text = re.sub(r'\d\d:\d\d:\d\d  \d+ s', '##:##:##  # s', text)
	text = re.sub(r' +cost: .*', '', text)
	return re.sub(r'[ \t]+$', '', text, flags=re.M).rstrip('\n') + '\n'


def compare(name, text):
	path = os.path.join(here, name + '.txt')
	if update:
		with open(path, 'w') as f:
			f.write(text)
	with open(path) as f:
		want = f.read()
	if text != want:
		raise AssertionError('%s.txt differs:\n--- wanted\n%s--- got\n%s' % (name, want, text))


def compare_drawn(name, s):
	"""As compare(), of a screen that may be half drawn yet."""
	path = os.path.join(here, name + '.txt')
	end = time.monotonic() + 10 * slow
	while not update and masked(s.text()) != open(path).read() and time.monotonic() < end:
		time.sleep(0.05)
	compare(name, masked(s.text()))


def case(function):
	global done, failed
	name = function.__name__
	if names and name not in names:
		return
	done += 1
	try:
		function()
		print('ok %d - %s' % (done, name), flush=True)
	except AssertionError as e:
		failed += 1
		print('not ok %d - %s\n# %s' % (done, name, str(e).replace('\n', '\n# ')), flush=True)
	finally:
		for s in list(Screen.open):
			s.close()
		while started:
			child, fd = started.pop()
			os.close(fd)
			os.kill(child, signal.SIGKILL)
			os.waitpid(child, 0)


COUNTS = '''-e 'begin {
	for ($i : 0..30) { @reads["cat"] = count(); }
	for ($i : 0..7) { @reads["make"] = count(); }
	for ($i : 0..2) { @reads["sh"] = count(); }
	@reads["a very long name of a command that does not fit into the column of keys on a narrow screen"] = count();
	for ($i : 0..300) { @size = hist($i); @by["x", $i % 3] = hist($i); }
	@wait["cat"] = stats(10); @wait["cat"] = stats(20); @wait["make"] = stats(7);
	@last["cat"] = "some text"; @note = 5;
	printf("one line\\nand another\\n");
}\''''


def shown(name, width, height, keys=(), env='', words=COUNTS, until='The run has ended'):
	s = Screen(width, height, env)
	s.live(words)
	s.until(until)
	for k, until in keys:  # "!text": until it is gone
		s.send(k)
		if until.startswith('!'):
			s.until_not(until[1:])
		else:
			s.until(until)
	compare_drawn(name, s)
	return s


def with_marker(marker):
	"""Processes of sonde whose command line has it."""
	found = []
	for p in filter(str.isdigit, os.listdir('/proc')):
		try:
			with open('/proc/%s/cmdline' % p, 'rb') as f:
				if marker.encode() in f.read() and os.path.samefile('/proc/%s/exe' % p, sonde):
					found.append(int(p))
		except OSError:
			pass
	return found


@case
def small():
	s = shown('small', 80, 24, [('z', '!2 @reads')])
	s.send('Tab')
	s.until('2 @reads  table')
	compare_drawn('small-counts', s)
	s.send('Tab', 'Tab')
	s.until('4 @wait')
	s.send('Tab')
	s.until('one line')
	compare_drawn('small-text', s)
	s.send('?')
	s.until('any key goes back')
	compare_drawn('small-help', s)
	s.close()


@case
def histogram():
	s = shown('hist', 80, 24, [('Tab', '2 @reads'), ('Tab', '3 @size'), ('z', '!2 @reads')])
	s.send('h')
	s.until('@size  heat')
	s.send('v')
	s.until('@size  series')
	s.close()


@case
def ascii():
	shown('ascii', 80, 24, [('2', '2 @reads'), ('z', '!1 @by')], words='--ascii ' + COUNTS).close()


@case
def wide():
	shown('wide', 170, 40).close()


@case
def tiny():
	s = shown('tiny', 39, 9, until='nothing lost')
	s.tmux('resize-window', '-x', '40', '-y', '12')
	s.until('1 @by')
	s.close()


@case
def no_color():
	s = shown('no-color', 80, 24, env='NO_COLOR=1 TERM=xterm')
	codes = set(re.findall(r'\x1b\[([0-9;]*)m', s.text('-e')))
	for c in codes:
		if re.search(r'(^|;)([349][0-7]|10[0-7])(;|$)', c):
			raise AssertionError('a colour in spite of NO_COLOR: ' + c)
	s.close()


@case
def row_and_filter():
	s = Screen()
	s.live(COUNTS)
	s.until('The run has ended')
	s.send('z', '2', 'Down', 'Enter')
	s.until('@reads[make]  series')
	s.send('BSpace')
	s.until('@reads  table')
	s.send('/')
	s.type('MA total>5')
	s.until('filter: MA total>5_')
	s.send('Enter')
	s.until('/MA total>5')
	compare_drawn('filter', s)
	s.send('/', 'Escape', '1', 'Enter')
	s.until('@by[x, ')
	compare_drawn('row', s)
	s.send('Escape')
	s.until('1 @by  table')
	s.send('f')
	s.until('that view does not fit')
	s.close()


def plain(words, env={}):
	r = subprocess.run('%s %s' % (sonde, words), shell=True, capture_output=True, text=True,
			   env={**os.environ, **env})
	return r.stdout, r.stderr, r.returncode


@case
def prints_the_results():
	"""What the plain run prints comes when the terminal is as it was, errors and status, too."""
	for words in (COUNTS, "-e 'begin { @ = count(); errorf(\"bad\"); exit(3); }'"):
		out, err, rc = plain(words)
		s = Screen(120, 60)
		s.live(words)
		s.until('The run has ended')
		s.send('q')
		if s.ended() != str(rc):
			raise AssertionError('another exit status')
		got = s.text()
		for line in (err + out).splitlines():
			if line.rstrip() not in [g.rstrip() for g in got.splitlines()]:
				raise AssertionError('not printed: %r in\n%s' % (line, got))
		if s.alternate() != '011':
			raise AssertionError('the terminal is not as it was')
		s.close()


BOARD = '''-e 'config = { panes = "@cpu @wait @off by rate: processors; " "@size heat: sizes; @by by p99: ";
	unit = "@cpu us; @wait us; @off ms" }
begin {
	@cpu["cat"] = sum(1500); @cpu["make"] = sum(2000000); @wait["cat"] = hist(700); @wait["make"] = hist(3);
	@off["make"] = sum(90000); @unseen["x"] = count();
	for ($i : 0..300) { @size = hist($i); @by["x", $i % 3] = hist($i); }
}'''


@case
def board():
	"""A script says which panes there are, in which order, what they are called, and what is beside."""
	s = shown('board', 100, 24, words=BOARD + "'")
	s.send('4')
	s.until('4 text')
	if re.search('^5 ', s.text(), re.M):
		raise AssertionError('a fifth pane:\n' + s.text())
	s.close()
	for panes, what in (('@x', 'panes: the script has no map @x'), ('@n by', "panes: 'by' needs a column"),
			    ('@n by size', "panes: 'size' is no column"), ('@n big', "panes: 'big' is neither a map nor a view"),
			    ('heat: x', "panes: 'heat' names no map"), ('@n @n @n @n @n', 'panes: more than 4 maps in the pane of @n')):
		s = Screen(120, 24)
		s.command('%s live -e \'config = { panes = "%s" } begin { @n = count(); }\'' % (sonde, panes))
		if s.ended() != '1' or 'ERROR: ' + what not in s.text():
			raise AssertionError('%s: %s' % (panes, s.text()))
		s.close()


def links(pid):
	"""Attachments that the process has."""
	n = 0
	for f in os.listdir('/proc/%d/fd' % pid):
		try:
			n += bool(re.search('bpf_link|bpf-link|perf_event', os.readlink('/proc/%d/fd/%s' % (pid, f))))
		except OSError:
			pass
	return n


@case
def hidden_panes():
	"""What is not on the screen is detached, and attached again when it comes back; what it had noted is forgotten."""
	s = Screen(80, 24)
	s.live("""--every 200ms -e 'config = { panes = "@a: first; @b @c: second" }
	interval:ms:20 { @a = count(); } interval:ms:20 { @b = count(); @note = nsecs; }
	interval:ms:20 /@note && nsecs - @note > 2000000000/ { @old = count(); @c = count(); }
	interval:s:1000 { @never = count(); }'""")
	s.until('2 second')
	all_of = wait('all', lambda: links(pid()) >= 4 and links(pid()))
	s.send('z')
	s.until_not('2 second')
	wait('fewer attachments', lambda: links(pid()) < all_of)
	time.sleep(2.5)
	s.send('z')
	text = s.until('not traced for')
	wait('all attachments', lambda: links(pid()) == all_of)
	rate = lambda: re.search(r'2 second.*\n.*\n +(\d+)', s.text())
	wait('it counts again', lambda: rate() and int(rate().group(1)) > 0)
	if re.search(r'1 first.*not traced', text):
		raise AssertionError('the first pane was detached:\n' + text)
	if not re.search(r'2 second.*\n.* C/S', s.text()) and '@old' in s.text():
		raise AssertionError(s.text())
	s.send('q')
	if s.ended() != '0' or '@old' in s.text():
		raise AssertionError('a note of before was used:\n' + s.text())
	s.close()


@case
def mouse():
	"""Heads sort, rows are selected and opened, the wheel moves; tmux hands on what it gets if the program asks for it."""
	s = Screen()
	s.live(COUNTS)
	s.until('The run has ended')
	if s.tmux('display-message', '-p', '#{mouse_standard_flag}#{mouse_sgr_flag}').strip() != '11':
		raise AssertionError('the terminal does not report the mouse')

	def at(x, y, button=0):
		s.tmux('send-keys', '-l', '\x1b[<%d;%d;%dM\x1b[<%d;%d;%dm' % (button, x + 1, y + 1, button, x + 1, y + 1))
	s.send('z', '2')
	s.until('2 @reads  table')
	line = lambda n: s.text().splitlines()[n]
	order = lambda: [w.split()[-1] for w in s.text().splitlines()[4:7]]
	wait('the order', lambda: order() == ['cat', 'make', 'sh'])
	at(line(3).index('TOTAL'), 3)
	wait('reversed', lambda: 'TOTAL^' in line(3) and order()[1:] == ['sh', 'make'])
	at(line(3).index('KEY'), 3)
	wait('by key', lambda: 'KEYv' in line(3))
	at(line(3).index('TOTAL'), 3)
	wait('by total again', lambda: 'TOTALv' in line(3) and order() == ['cat', 'make', 'sh'])
	at(10, 5)
	s.send('y')
	s.until('copied')
	at(10, 5)
	s.until('@reads[make]  series')
	s.send('BSpace')
	s.until('2 @reads  table  2 of 4') if 'of 4' in s.text() else s.until('2 @reads  table')
	at(10, 10, 64)
	at(10, 10, 1)  # other buttons do nothing
	at(10, 10, 2)
	s.send('Enter')
	s.until('@reads[cat]  series')
	s.send('BSpace', 'z')
	s.until('1 @by')
	text = s.text().splitlines()
	at(3, next(i for i, t in enumerate(text) if t.startswith('1 @by')) + 2)
	s.send('Enter')
	s.until('@by[x, ')
	s.send('q')
	if s.ended() != '0' or s.tmux('display-message', '-p', '#{mouse_standard_flag}#{mouse_sgr_flag}').strip() != '00':
		raise AssertionError('the mouse is still reported')
	s.close()


@case
def board_of_a_file():
	"""A copy that was edited."""
	path = os.path.join(tmp.name, 'mine.bt')
	with open(path, 'w') as f:
		f.write(plain('tools -s top')[0].replace(': CPU, run queue, off CPU', ': my own title'))
	s = Screen(100, 40)
	s.command('exec %s top --every 200ms --board %s' % (sonde, path))
	s.until('1 my own title')
	s.until('sonde ' + path)
	s.send('q')
	if s.ended() != '0' or '@' in s.text():
		raise AssertionError('more than the screen:\n' + s.text())
	s.close()
	with open(path, 'w') as f:
		f.write('interval:s:1 { @n = count(); }')
	for words, what in (('top --board %s' % path, "the board has no setting 'panes'"), ('top --board %s.no' % path, 'No such file'),
			    ('top --board %s x' % path, "what is 'x'?"), ('live --board %s -e 1' % path, "--board is an option of 'top'"),
			    ('top --board', 'requires an argument')):
		s = Screen(120, 24)
		s.command('%s %s' % (sonde, words))
		if s.ended() != '1' or what not in s.text():
			raise AssertionError('%s: %s' % (words, s.text()))
		s.close()


@case
def shed():
	"""Panes of a board that costs too much are not traced for a while, in the order that it says."""
	load = subprocess.Popen([sys.executable, '-c', 'import os\nwhile True: os.getppid()'])
	path = os.path.join(tmp.name, 'dear.bt')
	with open(path, 'w') as f:
		f.write('config = { panes = "@a shed 2: first; @b shed 1: second; @c: third" }\n'
			'tracepoint:raw_syscalls:sys_enter /pid == %d/ { @a = count(); }\n'
			'tracepoint:raw_syscalls:sys_exit /pid == %d/ { @b[comm] = hist(nsecs); }\ninterval:ms:20 { @c = count(); }' % (load.pid, load.pid))
	try:
		s = Screen(120, 30)
		s.command('exec %s top --every 200ms --board %s' % (sonde, path))
		first = wait('a pane that is shed', lambda: re.search(r'^\d (\w+) .*not traced: the board costs too much', s.text(), re.M))
		if first.group(1) != 'second':
			raise AssertionError('another order: ' + first.group(1))
		wait('the next one', lambda: re.search(r'^1 first .*not traced: the board costs too much', s.text(), re.M))
		if re.search('third .*not traced', s.text()):
			raise AssertionError('a pane that is never shed:\n' + s.text())
		s.send('q')
		if s.ended() != '0':
			raise AssertionError('status')
		s.close()
	finally:
		load.kill()
		load.wait()


@case
def page():
	"""w: a page beside the terminal, with what the terminal has; it ends with it."""
	import json, urllib.request
	s = Screen()
	s.live("--every 200ms -e 'interval:ms:20 { @n = count(); } end { printf(\"the end\\n\"); }'")
	s.until('1 @n')
	s.send('w')
	url = wait('an address', lambda: re.search(r'http://127\.0\.0\.1:\d+/\?t=[0-9a-f]{32}', s.text())).group(0)
	with urllib.request.urlopen(url) as f:
		if '<script nonce=' not in f.read().decode():
			raise AssertionError('no page')
	with urllib.request.urlopen(url.replace('/?', '/events?')) as f:
		event = f.readline().decode()
		if not event.startswith('data: ') or '@n' not in event:
			raise AssertionError(event)
		last = json.loads(event[6:])['set']['0']['last']
		while True:  # others follow
			event = f.readline().decode()
			if event.startswith('data: ') and json.loads(event[6:])['set']['0']['last'] > last + 2:
				break
		request = urllib.request.Request(url.replace('/?', '/ctl?') + '&x=pause', method='POST')
		with urllib.request.urlopen(request) as g:
			g.read()
		s.until('frozen')  # there, too
		s.send('Space', 'w')
		if s.until('http://').count(url) != 1:
			raise AssertionError('another page')
		s.send('q')
		if s.ended() != '0' or 'the end' not in s.text():
			raise AssertionError(s.text())
		rest = f.read().decode()
		if '"ended": true' not in rest.split('data: ')[-1]:
			raise AssertionError('not the last state: ' + rest[-300:])
	try:
		urllib.request.urlopen(url)
		raise AssertionError('somebody listens')
	except urllib.error.URLError:
		pass
	s.close()


@case
def top():
	"""The built-in board."""
	s = Screen(170, 60)
	s.command('echo $$ > %s/pid; exec %s top --every 200ms' % (tmp.name, sonde))
	for pane in ('CPU, run queue, off CPU', 'system calls', 'disk latency (us)', 'page faults', 'BPF programs of this machine',
		     'TCP', 'new processes', 'lock contention'):
		s.until(pane)
	s.send('2', '/')
	s.type('write')
	s.send('Enter')
	wait('a system call', lambda: re.search(r'[0-9](us|ms|s|ns) write$', s.text(), re.M))
	s.send('5', 'z')
	s.until('sonde: tracepoint_raw_syscalls_sys_exit')  # a program that has run
	s.send('q')
	if s.ended() != '0' or '@' in s.text():
		raise AssertionError('more than the screen:\n' + s.text())
	s.close()
	out, err, rc = plain('top --for 1s')
	if rc or '@calls[' not in out or '@woken' in out or err:
		raise AssertionError('without a terminal: %d %s %s' % (rc, out[-500:], err))
	script = plain('tools -s top')[0]
	with open(os.path.join(here, '..', '..', 'tools', 'board', 'top.bt')) as f:
		if script != f.read():
			raise AssertionError('another script')
	for words, what in (('top x', "what is 'x'? 'top' takes only options"), ('top -e 1', "-e means nothing to 'top'"),
			    ('top --json', '--json means nothing')):
		out, err, rc = plain(words)
		if rc != 1 or what not in err:
			raise AssertionError('%s: %d %s' % (words, rc, err))


@case
def edited():
	"""e: the old script goes on while it is edited, and if the new one is wrong; else the new one takes its place."""
	editor, text, hold = (os.path.join(tmp.name, n) for n in ('editor', 'new', 'hold'))
	with open(editor, 'w') as f:
		f.write('#!/bin/sh\necho editing "$1"\nwhile [ -f %s ]; do sleep 0.1; done\n[ ! -s %s ] || cp %s "$1"\n' % (hold, text, text))
	os.chmod(editor, 0o755)
	write = lambda path, what: open(path, 'w').write(what)
	old = 'interval:ms:20 { @old = count(); } end { printf("end of %s\\n", "old"); }'
	script = os.path.join(tmp.name, 'script.bt')
	write(script, old)
	for words in ("-e '%s'" % old, script):
		write(hold, '')
		write(text, '')
		s = Screen(100, 24, 'EDITOR=' + editor)
		s.live('--every 200ms ' + words)
		s.until('1 @old')
		s.send('e')
		s.until('editing /')
		if (script in s.text()) != (words == script) or s.alternate() != '011':
			raise AssertionError('the editor: ' + s.text())
		os.unlink(hold)
		s.until('the script was not changed')
		total = lambda: int((re.search(r'PER SEC.*\n +\S+ +(\d+) ', s.text()) or [0, 0])[1])
		before = wait('a total', total)
		write(text, 'interval:ms:20 { @new = count(x); }')
		s.send('e')
		s.until('The new script cannot run, the old one goes on')
		s.until('ERROR: count() requires no arguments')
		s.send('x')
		s.until('1 @old')
		wait('it goes on', lambda: total() > before)
		write(text, 'interval:ms:20 { @new = count(); } end { printf("end of %s\\n", "new"); exit(7); }')
		if words == script:  # the text that was wrong is there now
			wait('the file', lambda: 'count(x)' in open(script).read())
		s.send('e')
		s.until('1 @new')
		s.send('q')
		if s.ended() != '7' or s.alternate() != '011':
			raise AssertionError('status, or the terminal: ' + s.text())
		if 'end of new' not in s.text() or 'end of old' in s.text():
			raise AssertionError('printed:\n' + s.text())
		s.close()
	for words in ('runqlat', '-e "interval:s:1 { @a = count(); }" + runqlat'):
		s = Screen(100, 24, 'EDITOR=' + editor)
		s.live(words)
		s.send('e')
		s.until('only a script of a file, or of -e, can be edited')
		s.close()


@case
def edited_and_killed():
	"""What ends the first sonde ends the one that took its place."""
	editor, marker = os.path.join(tmp.name, 'editor'), 'marker %d edited' % os.getpid()
	with open(editor, 'w') as f:
		f.write('#!/bin/sh\necho "/* %s */ interval:ms:20 { @new = count(); }" >"$1"\n' % marker)
	os.chmod(editor, 0o755)
	for end in (signal.SIGTERM, signal.SIGKILL, signal.SIGHUP):
		s = Screen(100, 24, 'EDITOR=' + editor)
		s.live("--every 200ms -e 'interval:ms:20 { @old = count(); }'")
		s.until('1 @old')
		s.send('e')
		s.until('1 @new')
		os.kill(pid(), end)
		wait('the end', lambda: s.alternate() == '011' and not with_marker(marker))
		wait('the shell', lambda: 'status ' in s.text())
		s.close()


@case
def killed_while_editing():
	"""The editor ends with sonde."""
	editor, seconds = os.path.join(tmp.name, 'editor'), '98%d' % os.getpid()
	with open(editor, 'w') as f:
		f.write('#!/bin/sh\necho editing\nexec sleep %s\n' % seconds)
	os.chmod(editor, 0o755)

	def sleeps():
		for p in filter(str.isdigit, os.listdir('/proc')):
			try:
				with open('/proc/%s/cmdline' % p, 'rb') as f:
					if f.read() == b'sleep\0%s\0' % seconds.encode():
						return True
			except OSError:
				pass
		return False
	for end in (signal.SIGTERM, signal.SIGKILL):
		s = Screen(100, 24, 'EDITOR=' + editor)
		s.live("--every 200ms -e 'interval:ms:20 { @old = count(); }'")
		s.until('1 @old')
		s.send('e')
		s.until('editing')
		wait('the editor', sleeps)
		os.kill(pid(), end)
		wait('the shell', lambda: 'status ' in s.text())
		wait('the end of the editor', lambda: not sleeps())
		s.close()


@case
def several():
	"""Scripts beside each other; what each prints comes in their order."""
	one, two = "-e 'begin { @a[\"x\"] = count(); printf(\"of one\\n\"); }'", "-e 'begin { @a = hist(5); @b = 7; errorf(\"of two\"); exit(3); }'"
	s = shown('several', 80, 30, words=one + ' + ' + two + ' + ' + one)
	s.send('q')
	if s.ended() != '3':
		raise AssertionError('another status')
	text = [line.rstrip() for line in s.text('-S', '-').splitlines()]
	want = [(plain(w)[1] + plain(w)[0]).splitlines() for w in (one, two, one)]
	text = text[next(i for i, line in enumerate(text) if line.startswith('Attached')):]
	at = 0
	for line in want[0] + want[1] + want[2]:
		if line.rstrip() not in text[at:]:
			raise AssertionError('not printed there: %r in\n%s' % (line, '\n'.join(text)))
		at = text.index(line.rstrip(), at)
	s.close()
	out, err, rc = plain('live %s + %s' % (one, two))
	if out != 'of one\n' + plain(one)[0].replace('of one\n', '') + plain(two)[0] or (err, rc) != (plain(one)[1] + plain(two)[1], 3):
		raise AssertionError('another output into a pipe: %d\n%s%s' % (rc, err, out))
	for words, what in ((one + ' + -e "begin { @x = y; }"', "ERROR: "), (one + ' +', 'USAGE: filename or -e'),
			    (' + '.join([one] * 9), 'at most 8 scripts'), ('runqlat + vmstat', "no command, tool or file is named 'vmstat'"),
			    ('runqlat + syscount -zz', 'invalid option')):
		s = Screen(120, 24)
		s.command('%s live %s' % (sonde, words))
		if s.ended() != '1' or what not in s.text() or s.alternate() != '011' or 'of one' in s.text():
			raise AssertionError('%s: %s' % (words, s.text()))
		s.close()


@case
def several_tools():
	"""They trace at the same time, with options of their own and those before the first for all."""
	s = Screen(100, 40)
	s.live('--every 200ms syscount -d 1h + runqlat -m + -e "interval:ms:20 { @n = count(); } tracepoint:sched:sched_switch { @n2 = count(); }"')
	for text in ('sonde live: syscount -d 1h + runqlat -m + interval', ': @calls  table', 'runqlat -m: @time (ms)  hist', ': @n  table'):
		s.until(text)
	wait('a name of a system call', lambda: re.search(r'[0-9] .* (read|write|futex|openat|close|epoll_wait)$', s.text(), re.M))
	rate = lambda: re.search(r': @n  table.*\n.*\n +([0-9.]+)', s.text())
	wait('a rate', lambda: rate() and float(rate().group(1)) > 5)
	s.send('q')
	if s.ended() != '0':
		raise AssertionError('status')
	for text in ('SYSCALL ', 'msecs', '@n: '):
		if text not in s.text('-S', '-'):
			raise AssertionError('not printed: %s' % text)
	s.close()


CALLS = "-c 'build/tests/calls 3' -e 'uprobe:build/tests/calls:greet { @greets = count(); @[comm] = count(); }'"


@case
def sums():
	"""What is on the screen at the end is what is printed; output of the command is shown, too."""
	s = Screen()
	s.live("-c '/bin/echo from the command' -e 'tracepoint:syscalls:sys_enter_write /pid == cpid/ { @w = count(); "
	       "@[comm] = count(); } interval:s:1 { clear(@w); }'")
	s.until('The run has ended')
	text = s.until('from the command')
	shown_sum = re.search(r'^ +\S+ +(\d+) .*echo$', text, re.M).group(1)
	s.send('q')
	s.ended()
	printed = re.search(r'@\[echo\]: (\d+)', s.text()).group(1)
	if shown_sum != printed or printed != '1':
		raise AssertionError('%s on the screen, %s printed' % (shown_sum, printed))
	s.close()


LONG = "-e 'interval:ms:50 { @n = count(); printf(\"%d\\n\", 7); }'"


@case
def time_travel():
	s = Screen()
	s.live('--every 200ms ' + LONG)
	s.until('1 @n  table')
	wait('readings', lambda: re.search(r'  [2-9] s  every', s.text()))
	s.send('t')
	back = lambda: int((re.search(r'(\d+) intervals? back', s.text()) or [0, 0])[1])
	first = wait('an interval back', back)
	wait('it stays where it is while others come', lambda: back() > first)
	s.send('G')
	s.until('every 0.2 s')
	s.send('Space')
	s.until('frozen')
	s.send('Space')
	s.until_not('frozen')
	s.send('m', 'd')
	s.until('since the mark at')
	s.send('c', '0')
	s.until('  since ')
	s.send('g')
	s.type('-1s')
	s.send('Enter')
	s.until('intervals back')
	s.send('+', 'G')
	s.until('every 0.5 s')
	s.send('q')
	if s.ended() != '0':
		raise AssertionError('status')
	s.close()


@case
def restored():
	"""The terminal's mode and screen, whatever ends it."""
	for end in ('q', 'C-c', signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
		s = Screen()
		s.command('stty -a')
		s.ended()
		before = s.text()
		s.live(LONG)
		s.until('1 @n')
		if s.alternate() != '100':
			raise AssertionError('no alternate screen: ' + s.alternate())
		if isinstance(end, str):
			s.send(end)
		else:
			os.kill(pid(), end)
		wait('the end', lambda: s.alternate() == '011')
		wait('the shell', lambda: s.text('-S', '-').count('status ') > before.count('status '))
		s.command('stty -a')
		after = wait('stty', lambda: (lambda t: t.count('speed') == 2 and
						      re.search(r'^status \d+$', t.split('speed')[2], re.M) and t)(s.text('-S', '-')))
		mode = lambda t: re.findall(r'-?\b(?:icanon|echo|isig|ixon|icrnl|opost|iexten)\b', t[t.rindex('speed'):])
		if mode(before) != mode(after) or not mode(before):
			raise AssertionError('%s: another mode: %s' % (end, mode(after)))
		s.close()


@case
def no_terminal():
	"""It is as the plain run."""
	words = "-e 'begin { @x = 5; printf(\"text\\n\"); }'"
	want = plain(words)
	if plain('live ' + words) != want:
		raise AssertionError('another output into a pipe')
	for term in ('TERM=dumb', 'TERM='):
		s = Screen(env=term)
		s.command('%s live %s' % (sonde, words))
		s.ended()
		if '@x: 5' not in s.text() or 'sonde live:' in s.text():
			raise AssertionError(term + ': a screen')
		s.close()


@case
def refused():
	recording = os.path.join(tmp.name, 'a.sonde')
	subprocess.run([os.path.join(os.path.dirname(sonde), 'mkrec'), recording], check=True)
	for words, what in (('live -o x -e 1', '--output means nothing'), ('live --json -e 1', '--json means nothing'),
			    ('live --every 1ms -e 1', '--every needs a time from 200ms to 60s'),
			    ('live --memory 5 -e 1', '--memory needs a size'), ('live --view x -e 1', "no view is named 'x'"),
			    ('live execsnoop --json', 'another format means nothing'), ('live --from 1s -e 1', '--from and --to need a recording'),
			    ('live %s -c true -e 1' % recording, "--cmd means nothing to 'live over a recording'"),
			    ('live %s --unsafe -e 1' % recording, "--unsafe means nothing to 'live over a recording'"),
			    ('live %s -e 1 + -e 2' % recording, "one script at a time over a recording"),
			    ('live %s -l' % recording, "--list means nothing to 'live over a recording'"), ('run --ascii -e 1', '--ascii means nothing'),
			    ('live', 'USAGE: filename or -e')):
		out, err, rc = plain(words)
		if rc != 1 or what not in err:
			raise AssertionError('%s: %d %s' % (words, rc, err))


def start(words, size=(24, 80), before='exec', command='live'):
	"""It runs in a terminal of its own."""
	child, fd = pty.fork()
	if not child:  # which has its size from the beginning
		fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', size[0], size[1], 0, 0))
		os.environ.update(TERM='xterm', LANG='C.UTF-8', EDITOR='true', VISUAL='')
		os.execl('/bin/sh', 'sh', '-c', '%s %s %s %s' % (before, sonde, command, words))
	os.set_inheritable(fd, False)
	started.append((child, fd))
	return child, fd


def waited(child):
	"""Its status, or None as long as it runs."""
	got, status = os.waitpid(child, os.WNOHANG)
	if not got:
		return None
	started[:] = [s for s in started if s[0] != child]
	return os.waitstatus_to_exitcode(status)


def in_pty(words, act, size=(24, 80), command='live', shows=b'sonde live:'):
	"""act(fd, read) while it runs in a terminal of its own; what it wrote, and its status. read() gives what it wrote so far."""
	child, fd = start(words, size, command=command)
	out = bytearray()

	def read(seconds):
		end = time.time() + seconds
		while select.select([fd], [], [], max(0, end - time.time()))[0]:
			try:
				out.extend(os.read(fd, 65536))
			except OSError:
				break
			if time.time() >= end:
				break
		return out
	wait('a screen', lambda: shows in read(0.1))
	act(fd, read)
	end = time.time() + 20 * slow
	while time.time() < end:
		read(0.05)
		status = waited(child)
		if status is not None:
			read(0.05)
			os.close(fd)
			return bytes(out), status
	raise AssertionError('it does not end')


@case
def random_keys():
	seed = int(os.environ.get('SEED', random.randrange(10**6)))
	count = int(os.environ.get('KEYS', 3000))
	r = random.Random(seed)
	keys = [bytes([c]) for c in range(1, 127) if c not in (3, ord('q'))] + \
		[b'\x1b[<0;%d;%dM' % (1 + 7 * i, 1 + i) for i in range(24)] + [b'\x1b[<65;9;9M', b'\x1b[<0;0;99999999999M', b'\x1b[<;;M'] + \
		[b'\x1b[A', b'\x1b[B', b'\x1b[C', b'\x1b[D', b'\x1b[5~', b'\x1b[6~', b'\x1b[Z', b'\x1bOH', b'\xc3\xa9', b'\xff', b'\x1b['] * 4

	def act(fd, read):
		for i in range(count // 50):
			os.write(fd, b''.join(r.choice(keys) for _ in range(50)))
			read(0.02)
			if r.random() < 0.05:  # resized, too
				fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', r.randrange(1, 60), r.randrange(1, 200), 0, 0))
		os.write(fd, b'\x03')
	words = "--every 200ms -e 'interval:ms:20 { @n[nsecs % 13] = count(); @h[nsecs % 3] = hist(nsecs % 999); @s = stats(nsecs % 7); " \
		"@k[kstack, nsecs % 2] = count(); @t[nsecs % 3] = \"x\"; printf(\"%d\\n\", nsecs); }'"
	try:
		out, rc = in_pty(words, act)
	except AssertionError as e:
		raise AssertionError('SEED=%d: %s' % (seed, e))
	if rc:
		raise AssertionError('SEED=%d: status %d: %s' % (seed, rc, out[-300:]))


@case
def resize_storm():
	"""Sizes that change all the time, also to ones without room; afterwards the screen is what it is without that."""
	r = random.Random(1)
	s = Screen(80, 24)
	s.live(COUNTS)
	s.until('The run has ended')
	for i in range(int(os.environ.get('SIZES', 60))):
		s.tmux('resize-window', '-x', str(r.choice((1, 2, 39, 40, 80, 159, 160, 400))), '-y', str(r.choice((1, 2, 9, 10, 24, 100))))
	s.tmux('resize-window', '-x', '80', '-y', '24')
	s.send('z')
	s.until_not('2 @reads')
	compare_drawn('small', s)
	s.send('q')
	if s.ended() != '0':
		raise AssertionError('status')
	s.close()


def recorded(words, until='The run has ended', before='', size=(80, 24)):
	"""Over recordings; times are those of the file."""
	subprocess.run([os.path.join(os.path.dirname(sonde), 'mkrec'), os.path.join(tmp.name, 'a.sonde')], check=True)
	s = Screen(*size, 'TZ=UTC')
	s.command('cd %s; %s exec %s live --every 200ms %s' % (tmp.name, before, sonde, words))
	s.until(until)
	return s


CALLS_OF = """a.sonde -e 't:raw_syscalls:sys_enter { @calls[comm] = count(); @start[tid] = nsecs; }
	t:raw_syscalls:sys_exit /@start[tid]/ { @ms = hist((nsecs - @start[tid]) / 1000000); }
	profile:hz:99 { @on_cpu[kstack] = count(); }
	interval:ms:300 { printf("%d ms\\n", elapsed / 1000000); }'"""


@case
def over_a_recording():
	"""The same bytes each time: readings are made by recorded time."""
	s = recorded(CALLS_OF)
	compare('recorded', s.text())
	s.send('t', 't')
	s.until('2 intervals back')
	compare('recorded-back', s.text())
	s.send('G', 'z', '1')
	s.until('1 @calls  table')
	compare('recorded-table', s.text())
	s.send('2', 'h')
	s.until('2 @ms  heat')
	compare('recorded-heat', s.text())
	s.send('3')
	s.until('3 @on_cpu  flame')
	compare('recorded-flame', s.text())
	s.send('q')
	if s.ended() != '0':
		raise AssertionError('status')
	os.chdir(tmp.name)
	out, err, rc = plain('query ' + CALLS_OF)
	for line in out.splitlines():
		if line.rstrip() not in [g.rstrip() for g in s.text('-S', '-').splitlines()]:
			raise AssertionError('not printed: %r in\n%s' % (line, s.text('-S', '-')))
	if plain('live ' + CALLS_OF) != (out, err, rc):
		raise AssertionError('another output into a pipe')
	s.close()
	s = recorded('a.sonde')
	compare('recorded-events', s.text())
	s.close()
	s = recorded("--from 300ms --to 700ms a.sonde -e 't:raw_syscalls:sys_enter { @ = count(); }'")
	compare('recorded-part', s.text())
	s.close()


@case
def without_color():
	"""A heat map and a flame graph tell by their characters alone, also by those of ASCII."""
	subprocess.run([os.path.join(os.path.dirname(sonde), 'mkrec'), '-c', os.path.join(tmp.name, 'wide.sonde')], check=True)
	for env, option, name in (('NO_COLOR=1', '', 'no-color'), ('', '--ascii', 'ascii')):
		s = recorded("%s wide.sonde -e 't:raw_syscalls:sys_exit { @ret = hist(args.ret & 4095); } profile:hz:99 { @on_cpu[kstack, ustack] = count(); }'" % option,
			     before='export %s;' % env if env else '')
		s.send('z', '1')
		s.until('1 @on_cpu  flame')
		s.send('Down', 'Down')
		s.until('f4a: 1333 of 1333')
		compare_drawn(name + '-flame', s)
		s.send('2', 'h')
		s.until('2 @ret  heat')
		compare_drawn(name + '-heat', s)
		if env and re.search(r'\x1b\[[0-9;]*[349][0-7]', s.text('-e')):
			raise AssertionError('a colour')
		s.close()


@case
def saved():
	"""Files that s writes, with times of the recording; y."""
	s = recorded(CALLS_OF)
	s.tmux('set-option', '-s', 'set-clipboard', 'on')

	def save(name, answer):
		s.send('s')
		s.until('save to')
		s.type(name)
		s.send('Enter')
		return s.until(answer)
	for name in ('calls.csv', 'all.json', 'screen.svg'):
		screen = save(name, 'saved: ' + name)
		with open(os.path.join(tmp.name, name)) as f:
			text = f.read()
		if name.endswith('.svg'):
			import xml.etree.ElementTree as tree
			words = re.findall(r'\S+', ' '.join(t.text for t in tree.fromstring(text).iter('{http://www.w3.org/2000/svg}text')))
			if words[:-14] != re.findall(r'\S+', screen)[:len(words) - 14] or len(words) < 50:
				raise AssertionError('another screen:\n%s\n%s' % (words, screen))
		else:
			compare('saved-' + name.split('.')[1], text if len(text) < 20000 else text[:10000] + '...\n' + text[-10000:])
	save('calls.csv', 'not saved: calls.csv: File exists')
	save('readings.sonde', 'saved: readings.sonde')
	out, err, rc = plain("query -q %s/readings.sonde -e 'tracepoint:live:calls { @calls[args.key] = sum(args.added); }'" % tmp.name)
	with open(os.path.join(tmp.name, 'calls.csv')) as f:
		last = dict(line.split(',')[1::3] for line in f.read().splitlines()[-2:])
	if (dict(re.findall(r'@calls\[(\w+)\]: (\d+)', out)), err, rc) != (last, '', 0):
		raise AssertionError('the recording answers %r %r, not %r' % (out, err, last))
	save('calls.pb', 'not saved: this pane has no stacks')
	s.send('3')
	save('stacks.pb', 'saved: stacks.pb')
	s.send('1')
	save('calls.txt', 'not saved: a name that ends in')
	save('nowhere/calls.csv', 'not saved: nowhere/calls.csv: No such file')
	s.send('3')
	save('screen.svg', 'File exists')
	s.send('1', 'Home', 'y')
	s.until('copied')
	key = wait('a copy', lambda: s.tmux('show-buffer'))
	if not re.search(r'%s$' % re.escape(key.strip()), s.text(), re.M):
		raise AssertionError('another key: ' + key)
	s.close()


@case
def over_a_gap():
	"""Nothing happens for ten days: not all intervals between are kept."""
	subprocess.run([os.path.join(os.path.dirname(sonde), 'mkrec'), '-g', os.path.join(tmp.name, 'gap.sonde')], check=True)
	s = recorded("gap.sonde -e 't:raw_syscalls:sys_enter { @ = count(); }'")
	s.send('t')
	s.until('1 interval back')
	compare('recorded-gap', s.text())
	s.send('g')
	s.type('-9999m')
	s.send('Enter')
	back = int(wait('a time before', lambda: re.search(r'(\d\d+) intervals back', s.text())).group(1))
	if not 1000 <= back < 1010:
		raise AssertionError('%d intervals back' % back)
	s.close()


def known():
	"""Scripts of books and talks."""
	path = os.path.join(here, '..', 'known')
	return [os.path.join(path, n) for n in sorted(os.listdir(path)) if n.endswith('.bt')]


# What a tool needs to be told; %s is a program of the tests.
TOLD = {'argdist': '-C p::vfs_read', 'funcslower': '-u 1 vfs_read', 'ksnoop': 'trace vfs_read', 'tpoint': 'sched:sched_process_exit',
	'perf-stat-hist': 'sched:sched_switch prev_prio', 'kprobe': 'p:vfs_read', 'uprobe': 'p:libc:getenv', 'netqtop': '-n lo',
	'memleak': '-p %s', 'dbslower': '%s -m 0', 'mysqld_qslower': '%s 0', 'ustat': '%s', 'ttysnoop': '/dev/ptmx',
	'inject': 'kmalloc -P 0.0001', 'deadlock': '%s', 'strace': '-p %s', 'ltrace': '-p %s', 'stacks': '-p %s',
	**{t: '%s' for t in 'ucalls uflow ugc uobjnew uthreads dbstat'.split()},
	**{t: 'vfs_read' for t in 'funccount funclatency stackcount functrace funcinterval trace stacksnoop'.split()}}
VIEW = re.compile(rb'm1 [^\x1b]+  (table|hist|heat|flame|series|text) ')

# How what a tool prints after q is compared with what the plain run prints: over the same recording; or both trace at the
# same time what load.py does, with these words (%p: its process, %l: a port of its); or, in parentheses, why it is not.
COMPARED = {
	'recorded': 'execsnoop opensnoop biolatency biosnoop iolatency iosnoop cpuwalk profile runqlat tcpconnlat tcpstates syscount '
		'forksnoop pidpersec sigsnoop hardirqs kvmexit runqlen softirqs softirqslower wqlat drsnoop perf-stat-hist tpoint',
	'-p %p': 'exitsnoop killsnoop stacks threadsnoop filegone filelife mountsnoop statsnoop syncsnoop cpudist cpufreq klockstat naptime '
		'numasched offcputime offwaketime wakeuptime compactsnoop shmsnoop bindsnoop gethostlatency solisten tcpaccept '
		'tcpconnect tcplife tcppktlat tcptracer udpconnect bashreadline capable setuids ssllatency sslsniff sslsnoop ttysnoop cobjnew '
		'cthreads deadlock futexctn javathreads sofdsnoop strace uthreads biostacks bitesize pythoncalls pythonflow pythongc',
	'-p %p 0': 'fileslower runqslower',
	'-p %p 1000': 'cachetop dirtop filetop vfsstat biotop slabratetop tcptop memleak',
	'-p %p -i 1000': 'tcpsubnet',
	'-p %l': 'tcprtt',
	'-L %l': 'tcpcong',
	'p:libc:getenv -p %p': 'uprobe',
	'-e rename+mkdir+setresuid -p %p': 'ltrace',
	'%p': 'ucalls uflow ugc',
	'(it counts, or waits for, what the whole machine does)': 'cachestat writeback biolatpcts biopattern virtiostat cpuunclaimed loads oomkill '
		'netqtop tcpdrop tcpretrans criticalstat llcstat',
	'(it lists what there is at its start)': 'tplist bpflist bps',
	# These need kprobes.
	'-p %p ': 'fsdist overlaydist ext4dist xfsdist btrfsdist f2fsdist nfsdist fusedist bcachefsdist zfsdist dcsnoop vfscount undump mdflush',
	'-p %p 0 ': 'fsslower overlayslower ext4slower xfsslower btrfsslower f2fsslower nfsslower fuseslower bcachefsslower zfsslower',
	'-p %p 1000 ': 'dcstat swapin swapout',
	'-p %p vfs_fsync_range': 'funccount functrace stackcount stacksnoop trace',
	'-p %p vfs_read': 'funclatency funcinterval',
	'-p %p -u 1 vfs_read': 'funcslower',
	'-p %p p:vfs_fsync_range': 'kprobe',
	'-p %p trace vfs_fsync_range': 'ksnoop',
	"-p %p -i 1000 -C 'p::vfs_write(void *file, void *buf, size_t count):size_t:count'": 'argdist',
	'': 'tcpsynbl',
	'--function vfs_fsync_range -p %p': 'inject',
	'(it counts what the whole machine does, by kprobes)': 'readahead numamove',
	'(its programs, or their static probes, are not in Debian)': 'dbslower dbstat javacalls javaflow javagc javaobjnew javastat mysqld_qslower nodegc nodestat '
		'perlcalls perlflow perlstat phpcalls phpflow phpstat pythonstat rubycalls rubyflow rubygc '
		'rubyobjnew rubystat tclcalls tclflow tclobjnew tclstat uobjnew ustat',
}


def comparisons():
	"""How each tool is compared. The table has each tool of `sonde tools` once."""
	rows = [(name, how) for how, names in COMPARED.items() for name in names.split()]
	listed = re.findall(r'^    ([-a-z0-9_]+) ', plain('tools')[0], re.M)
	if sorted(name for name, _ in rows) != sorted(listed):
		raise AssertionError('not once in the table: %s' % ' '.join(set(listed) ^ {name for name, _ in rows}))
	return dict(rows)


# What is recorded: first what most of them need, then what the others do.
RECORDED = ('--set syscalls,sched,disk,net,faults,samples=99', """-e 'config = { missing_probes = ignore }
	t:task:task_newtask, t:signal:signal_generate, t:irq:softirq*, t:kvm:*,
	t:irq:irq_handler_exit, rawtracepoint:workqueue_queue_work, rawtracepoint:workqueue_execute_start,
	t:vmscan:mm_vmscan_direct_reclaim_begin, t:vmscan:mm_vmscan_direct_reclaim_end, t:sched:sched_process_exit, t:sched:sched_switch
	{ keep(args); } t:irq:irq_handler_entry { keep(args, str(args.name, 64)); }
	profile:hz:99 { keep(args, curtask.se.cfs_rq.rq.nr_running); }'""")


def same_over(record, name):
	"""What it prints after its screen is what the query prints; it has a view."""
	words = '%s %s %s' % (record, name, TOLD.get(name, ''))
	out, rc = in_pty(words, lambda fd, read: None, command='query', shows=b'')

	def leave(fd, read):
		wait('the end of ' + name, lambda: (os.write(fd, b'\x0c'), b'The run has ended' in read(0.05))[1])
		os.write(fd, b'q')
	got, got_rc = in_pty(words, leave)
	before, after = got.split(b'\x1b[?1049l')
	if (after, got_rc) != (out, rc):
		lines = [t.decode().replace('\r', '').split('\n') for t in (out, after)]
		raise AssertionError('%s: %d, %d:\n%s' % (name, rc, got_rc, '\n'.join(difflib.unified_diff(*lines, lineterm='', n=1))))
	if not VIEW.search(before):
		raise AssertionError('%s: no view' % name)


@case
def tools():
	"""Each tool, and each script of a book or a talk, that answers over a recording has a screen, and then prints what it prints
	without one."""
	records = []
	for words in RECORDED:
		records.append(os.path.join(tmp.name, '%d.sonde' % len(records)))
		r = subprocess.run("%s record -q -o %s %s -- sh -c 'for i in 1 2 3; do cat /etc/hostname /nonexistent; sleep 0.1; done; true'" %
				   (sonde, records[-1], words), shell=True, capture_output=True, text=True)
		if r.returncode:
			raise AssertionError(r.stderr)
	names = [n for n, how in comparisons().items() if how == 'recorded'] + known()
	silent = []
	for name in names:
		words = '%s %s' % (name, TOLD.get(name, ''))
		record = [r for r in records if plain('query %s %s' % (r, words))[2] == 0]
		if record:
			same_over(record[0], name)
		else:
			silent.append(name)
	print('# %d of %d tools and scripts answer over recordings; not: %s' % (
		len(names) - len(silent), len(names), ' '.join(os.path.basename(n) for n in silent)))
	if len(names) - len(silent) < 20:  # a machine may lack some of the tracepoints
		raise AssertionError('too few')


def heading(words):
	"""The heading of the table that a plain run prints, or nothing if it prints none."""
	p = subprocess.Popen('exec %s %s' % (sonde, words), shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
	try:
		out = p.communicate(timeout=3 * slow)[0]
	except subprocess.TimeoutExpired:
		p.send_signal(signal.SIGINT)
		out = p.communicate()[0]
	found = re.search(rb'^[A-Z][A-Z]+( +[A-Z0-9_()/%#-]+)+ *$', out, re.M)
	return found.group(0).rstrip() if found else b''


def one_tool(name, target):
	"""Opens it; what is wrong, or None, and whether it had a screen."""
	words = TOLD.get(name, '')
	words = '%s %s' % (name, words % target if '%s' in words else words)
	child, fd = start('--every 200ms ' + words)
	out, end, screen, left = bytearray(), time.time() + 60 * slow, False, False
	while time.time() < end:
		try:
			if select.select([fd], [], [], 0.05)[0]:
				out.extend(os.read(fd, 65536))
				continue
			screen = screen or b'\x1b[?1049h' in out
			if screen and not left:
				os.write(fd, b'\x0c')
				left = VIEW.search(out) is not None
				if left:
					os.write(fd, b'q')
		except OSError:
			pass
		status = waited(child)
		if status is not None:
			break
	else:
		os.kill(child, signal.SIGKILL)
		return 'it does not %s: %s' % ('end' if left else 'show a view', out[-300:]), screen
	try:
		while select.select([fd], [], [], 0)[0]:
			out.extend(os.read(fd, 65536))
	except OSError:
		pass
	os.close(fd)
	after = bytes(out).split(b'\x1b[?1049l')[-1]
	if status: # a screen may have been there until it tried to attach
		return (None if refuses(words, status, after) else 'status %d: %s' % (status, after[-300:])), False
	if not left:
		return 'no view: %s' % after[-300:], screen
	if os.environ.get('HEADS') and heading(words) not in after:
		return 'it does not print: %r in %s' % (heading(words), after[-1000:]), True
	return ('it prints: %s' % after[-300:] if b'ERROR' in after or b'\x1b' in after else None), True


def refuses(words, status, text):
	"""The plain run ends with the same words, too."""
	try:
		r = subprocess.run('%s %s' % (sonde, words), shell=True, capture_output=True, text=True, timeout=30 * slow)
	except subprocess.TimeoutExpired:
		return False
	seen = re.sub(r'\x1b\[[0-9;]*m|\r', '', text.decode(errors='replace'))
	return r.returncode == status and seen in (r.stdout + r.stderr, r.stderr + r.stdout)


# Tools whose whole numbers are times, sums of times, or rates.
TIMES = 'dcstat funcslower ksnoop vfsstat klockstat offcputime offwaketime runqslower wakeuptime ssllatency sslsnoop futexctn ugc pythongc'.split()


def normal(name, text):
	"""Without what two tracers of the same events cannot agree on: times, and how wide their columns are. Buckets of times become
	their sum. In any order, since events of two CPUs have none."""
	text = re.sub(r'\x1b\[[0-9;?]*[A-Za-z]|\r', '', text)
	text = re.sub(r'loadavg: .*', 'loadavg', text)
	text = re.sub(r'(avg =|total:) *\d+', r'\1 #', text)
	text = re.sub(r'\d+' if name in TIMES else r'\d\d:\d\d:\d\d|\d+\.\d+', '#', text)
	bucket, lines, values = re.compile(r'[\[(].*?[)\]] +(\d+) \|@* *\|$'), [], 0
	for line in text.split('\n') + ['']:
		found = bucket.match(line.rstrip())
		if found:
			values += int(found.group(1))
			continue
		lines += ['%d values' % values] * (values > 0) + [re.sub(r' +', ' ', line.rstrip())]
		values = 0
	return sorted(t for t in lines if t)


def beside(name, words):
	"""What is wrong, or None, and how many lines were compared: none if the tool cannot run here."""
	load = subprocess.Popen(['/usr/bin/python3', os.path.join(here, 'load.py')], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
	port = load.stdout.readline().split()[1].decode()
	words = '%s %s' % (name, words.replace('%p', str(load.pid)).replace('%l', port))
	both = [start(words, (50, 200), command=''), start('--every 200ms ' + words, (50, 200))]
	out, status = [bytearray(), bytearray()], [None, None]

	def read():
		for i, (child, fd) in enumerate(both):
			try:
				while select.select([fd], [], [], 0.02)[0]:
					out[i].extend(os.read(fd, 65536))
			except OSError:  # nobody has the other side any more
				status[i] = waited(child) if status[i] is None else status[i]

	def attached():
		read()
		if status[1] is None and b'\x1b[?1049h' in out[1]:
			os.write(both[1][1], b'\x0c')  # drawn as a whole
		return (status[0] is not None or b'Hit Ctrl-C' in out[0]) and (status[1] is not None or re.search(rb'\[1;\d+H(every|ended)', out[1]))
	try:
		wait('attached: ' + words, attached, 40)
		load.stdin.write(b'\n')
		load.wait()
		if status[0] is None:
			os.kill(both[0][0], signal.SIGINT)
		if status[1] is None:
			os.write(both[1][1], b'q')
		wait('the end of ' + words, lambda: (read(), None not in status)[1], 60)
	except AssertionError as e:
		return '%s: %s, %s %s' % (e, status, out[0][-300:], out[1][-300:]), 0
	finally:
		load.kill()
		load.wait()
	for child, fd in both:
		os.close(fd)
	want, got = [normal(name, o.decode(errors='replace')) for o in (out[0], out[1].split(b'\x1b[?1049l')[-1])]
	if status[0] != status[1] or status[0] > 100 or want != got:
		return '%s: %s:\n%s' % (words, status, '\n'.join(difflib.unified_diff(want, got, lineterm='', n=0))), 0
	return None, len(want) if b'\x1b[?1049h' in out[1] else 0


@case
def same_as_plain():
	"""After q, a tool prints what the plain run prints of the same events: with HEADS all tools, else some."""
	some = (os.environ.get('TOOL') or 'exitsnoop filelife cpudist tcplife').split()
	table = {n: how for n, how in comparisons().items() if how != 'recorded' and not how.startswith('(') and (os.environ.get('HEADS') or n in some)}
	bad, lacking, lines = [], [], 0
	for name, how in table.items():
		for again in range(3):  # a machine that is busy may lose events of one of the two
			wrong, n = beside(name, how)
			if not wrong:
				break
			print('# again: ' + wrong.split('\n')[0], flush=True)
		lines += n
		if wrong:
			bad.append(wrong)
		elif not n:
			lacking.append(name)
	print('# %d of %d tools print the same, %d lines; this machine lacks what is needed by %s' % (
		len(table) - len(lacking) - len(bad), len(table), lines, ' '.join(lacking) or 'none'))
	if bad or len(lacking) > len(table) // 2:
		raise AssertionError('\n'.join(bad) or 'most refuse')


def each(names, target, all_of):
	bad, lacking = [], []
	for name in names:
		wrong, screen = one_tool(name, target)
		if wrong:
			bad.append('%s: %s' % (name, wrong))
		elif not screen:
			lacking.append(name)
	print('# %d of %d opened; this machine lacks what the others need' % (len(names) - len(lacking) - len(bad), len(names)))
	if bad:
		raise AssertionError('\n'.join(bad))
	if all_of and len(lacking) > len(names) * 2 // 3:
		raise AssertionError('most refuse: ' + ' '.join(lacking))


@case
def each_known():
	"""The same for scripts of books and talks."""
	each(known(), '1', False)


@case
def each_tool():
	"""Each tool opens with a view that fits, and ends with q; or it says what this machine lacks, as it does without a screen."""
	target = str(subprocess.Popen(['sleep', '1000'], stdin=subprocess.DEVNULL).pid)
	try:
		names = re.findall(r'^    ([-a-z0-9_]+) ', plain('tools')[0], re.M)
		names = [n for n in names if n not in ('tplist',) and (not os.environ.get('TOOL') or n in os.environ['TOOL'].split())]
		each(names, target, not os.environ.get('TOOL'))
	finally:
		os.kill(int(target), signal.SIGKILL)


def until_nothing_stays(what, act, ended=False, reads=True, before='exec'):
	"""act(pid, guard, fd) makes it end; then neither it nor a child of it is there. Where nobody reads, a shell keeps
	the terminal."""
	marker = '/* marker %d %s */' % (os.getpid(), what)
	script = 'begin { @n = count(); }' if ended else LONG[4:-1]
	child, fd = start("--every 200ms -e '%s %s'%s" % (script, marker, '' if reads else '; exec sleep 1000'),
			  before=before if reads else '')
	out = bytearray()

	def read():
		if reads and select.select([fd], [], [], 0)[0]:
			out.extend(os.read(fd, 65536))
	until = b'The run has ended' if ended else b'1 @n'
	if reads:
		wait('a screen: ' + what, lambda: (os.write(fd, b'\x0c'), read(), until in out)[2])  # drawn as a whole
	guard = wait('the child', lambda: [p for p in with_marker(marker) if p != child and os.getsid(p) == p])[0]
	pid = [p for p in with_marker(marker) if p != guard][0]
	if not reads:
		terminal = os.open(os.readlink('/proc/%d/fd/1' % pid), os.O_WRONLY | os.O_NOCTTY)
		full = [0]  # how often in a row: the kernel moves what it has from one buffer to the next

		def is_full():
			os.write(fd, b'\x0c')
			full[0] = 0 if select.select([], [terminal], [], 0)[1] else full[0] + 1
			return full[0] == 10
		wait('a full terminal', is_full)
		os.close(terminal)
	act(pid, guard, fd)

	def gone():
		try:
			read()
		except OSError:
			pass
		if child in [s[0] for s in started]:
			waited(child)
		return (not reads or child not in [s[0] for s in started]) and not with_marker(marker)
	try:
		wait('the end', gone)
	except AssertionError:
		raise AssertionError('%s: %s of sonde %d stay' % (what, with_marker(marker), pid))
	if child not in [s[0] for s in started]:
		os.close(fd)
	return bytes(out)


@case
def nothing_stays():
	"""When the terminal is gone, or somebody kills one of the two processes, also where nobody reads the terminal."""
	hang_up = lambda pid, guard, fd: os.dup2(null, fd)
	kill = lambda pid, guard, fd: os.kill(pid, signal.SIGKILL)
	null = os.open('/dev/null', os.O_RDWR)
	for ended in (False, True):
		until_nothing_stays('hang up', hang_up, ended)
		until_nothing_stays('hang up, ignored', hang_up, ended, before="trap '' HUP; exec")
		until_nothing_stays('SIGHUP', lambda pid, guard, fd: os.kill(pid, signal.SIGHUP), ended)
		until_nothing_stays('kill', kill, ended)
	until_nothing_stays('nobody reads, hang up', hang_up, reads=False)
	until_nothing_stays('nobody reads, kill', kill, reads=False)
	until_nothing_stays('nobody reads, SIGTERM', lambda pid, guard, fd: os.kill(pid, signal.SIGTERM), reads=False)
	os.close(null)

	def kill_guard(pid, guard, fd):
		os.kill(guard, signal.SIGKILL)
		os.write(fd, b'q')
	out = until_nothing_stays('no child', kill_guard)
	if b'WARNING: the child of sonde that restores the terminal was killed' not in out or b'\x1b[?1049l' not in out:
		raise AssertionError('no warning: %s' % out[-300:])


@case
def slow_terminal():
	"""Frames that nobody takes are left out; the run ends in time."""
	def act(fd, read):
		time.sleep(3)  # nothing is read
		os.write(fd, b'q')
	out, rc = in_pty('--every 200ms --for 60s ' + LONG, act, (60, 200))
	if rc or len(out) > 400000:
		raise AssertionError('status %d, %d bytes' % (rc, len(out)))


print('%d passed, %d failed' % (done - failed, failed))
sys.exit(failed > 0)
