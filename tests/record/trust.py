#!/usr/bin/env python3
# trust.py [-n NAME] BUILD - which questions agents run: signatures, times, copies, changed bytes, the policy of a host, keys
# and permissions of the server, the record of each question; and the examples in packaging/. A shell acts as sonde on the
# hosts; as root, sonde itself does, too.
import json, os, random, re, shutil, socket, struct, subprocess, sys, tempfile, time

args = sys.argv[1:]
names = []
while args[:1] == ['-n']:
	names.append(args[1])
	args = args[2:]
build = os.path.abspath(args[0] if args else 'build')
source = os.path.abspath(os.path.dirname(__file__) + '/../..')
sonde, agent = build + '/sonde', build + '/sonde-agent'
slow = float(os.environ.get('TEST_SLOW', '1'))
held = tempfile.TemporaryDirectory()
tmp = held.name
os.chdir(tmp)
os.environ['PATH'] = build + ':' + os.environ['PATH'] + ':/usr/sbin'
os.environ['USER'] = 'ann'
os.environ.pop('SSH_AUTH_SOCK', None)
running = []
ask = ('-e', 'begin { exit(); }')
LATE = 'the question was asked before: it is a copy, or the agent was restarted'


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


def output(*words, **more):
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


class Server:
	"""text: of its configuration; {} is the port."""
	def __init__(self, text='host: 127.0.0.1\nport: {}\n', scheme='nats'):
		while True:
			self.port = random.randrange(10000, 32768)
			self.url = '%s://localhost:%d' % (scheme, self.port)
			write('server.conf', text.replace('{}', str(self.port)))
			self.process = spawn('nats-server', '-c', 'server.conf', stdout=subprocess.DEVNULL, stderr=open('server.log', 'w'))
			wait('nats-server', lambda: 'Server is ready' in read('server.log') or self.process.poll() is not None)
			if self.process.poll() is None:
				break
			if 'address already in use' not in read('server.log'):
				raise AssertionError('nats-server: ' + read('server.log'))


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
		self.send(b'PING\r\n')
		self.expect(b'PONG')

	def send(self, data):
		self.socket.sendall(data)

	def line(self):
		while True:
			line = self.stream.readline()
			if not line.startswith((b'PING', b'INFO')):
				return line
			self.send(b'PONG\r\n' if line.startswith(b'PING') else b'')

	def expect(self, word):
		line = self.line()
		assert line.startswith(word), line

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


# What a sonde on the host of an agent does: fleet-host TOKEN.
stub = '''#!/bin/sh
cd %s || exit 1
printf '\\n%%s ready\\n' "$2"
read -r n
printf '\\n%%s clock 0\\n' "$2"
read -r n start
head -c "$n" > question || exit 1
ulimit -d > limit
cat web.answer
''' % tmp


def public(key):
	return ' '.join(read(key + '.pub').split()[:2])


def prepare():
	write('stub', stub, 0o755)
	run(build + '/mkrec', '-n', 'web', 'web.sonde')
	run(sonde, 'query', '-q', 'web.sonde', '-f', 'answer', '-o', 'web.answer', '-e', 't:raw_syscalls:sys_enter { @ = count(); }')
	for key in ('ann', 'bob', 'cid', 'dan', 'eve'):
		run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
	write('allowed', 'ann@example namespaces="sonde" %s\nbob@example valid-before="20200101" %s\ncid@example valid-after="20990101" %s\n'
	      'dan@example namespaces="git" %s\n' % tuple(map(public, ('ann', 'bob', 'cid', 'dan'))))


def configure(server, lines='', labels='', name='web1', path='agent.conf'):
	os.makedirs('state', exist_ok=True)
	write(path, 'url = %s\nname = %s\nallowed_signers = %s/allowed\nsonde = %s/stub\nstate = %s/state\n%s[labels]\nenv = prod\n%s' %
	      (server.url, name, tmp, tmp, tmp, lines, labels))


def start(server, *words, **more):
	configure(server, *words, **more)
	p = spawn(agent, '-c', 'agent.conf', stderr=open('agent.log', 'w'))
	wait('the agent', lambda: p.poll() is None and 'web1' in listed(server))
	return p


def listed(server, env=()):
	return run(sonde, 'fleet', 'list', '--wait', '300ms', '--nats', server.url, env={**os.environ, **dict(env)})


def fleet(server, *words, url=None):
	"""What it prints, without times, and its status unless that is 0."""
	rc, out, err = output(sonde, 'fleet', '--nats', url or server.url, '--wait', '60s', '--expect', '1', '--for', '1s', *words)
	text = re.sub(r'; [0-9.]+ s(, (asked|started) within [0-9.]+ ms, clocks within [0-9.]+ ms)?', '', err + out)
	text = re.sub(r'; [0-9.e-]+ % CPU at most \([a-z0-9]+\)', '', text)
	return text + ('[%d]\n' % rc if rc else '')


def refused(why):
	return 'WARNING: web1: refused: %s\n0 of 1 host (1 refused: web1)\n[3]\n' % why


# ---- cases ----

def signatures():
	"""Who has signed decides, and what."""
	server = Server()
	start(server)
	good = fleet(server, '--key', 'ann', *ask)
	assert good.endswith('1 of 1 host\n') and '@: ' in good, good
	for key, why in (('bob', 'the key that signed the question is no longer valid'),
			 ('cid', 'the key that signed the question is not valid yet'),
			 ('dan', 'the key that signed the question is not for questions'),
			 ('eve', 'the question is signed by a key that this host does not allow')):
		equal(fleet(server, '--key', key, *ask), refused(why), key)
	equal(fleet(server, *ask), refused('this host runs what is signed, and the question is not signed'), 'no key')
	equal(fleet(server, '--key', 'ann', '--unsafe', *ask), refused('this host does not allow --unsafe'))
	equal(fleet(server, '--key', 'ann', '--for', '601s', *ask),
	      refused('the question asks for 601 s of tracing, and this host allows 600 s'))
	equal(fleet(server, '--key', 'nobody', *ask).split(':')[0], 'ERROR', 'without a key')
	# The key can be named in a file, too.
	write('asker.conf', 'url = %s\nkey = %s/ann\n' % (server.url, tmp))
	equal(fleet(server, *ask, url='./asker.conf'), good, 'by a file')


def words_of_question():
	"""What `sonde fleet-host` is started with."""
	with open('question', 'rb') as f:
		data = f.read()
	at = 0

	def number():
		nonlocal at
		at += 4
		return struct.unpack_from('<I', data, at - 4)[0]

	def text():
		nonlocal at
		n = number()
		at += n
		return data[at - n:at].decode()

	script, named = text(), number()
	return script, named, [text() for _ in range(number())]


def limits():
	"""The policy reaches the sonde that runs the question."""
	server = Server()
	start(server, 'allow = any\ndeny = cat, str:*password*\nmax_cpu = 0.5%\nmax_memory = 128M\nmax_seconds = 30\n')
	fleet(server, '--budget', '5%', '--cgroup', 'a.slice', '-e', 'begin { exit(); }', 'x', '--', '--y=1')
	equal(words_of_question(),
	      ('begin { exit(); }', 15, ['sonde', '-q', '-f', 'answer:alone', '--budget', '5%', '--cgroup', 'a.slice', '--budget', '0.5000%', '--deny',
		   'cat,str:*password*,write', '--for', words_of_question()[2][13], '--asked', '-', 'x', '--', '--y=1']))
	assert re.fullmatch('[0-9]+ns', words_of_question()[2][13])
	equal(read('limit'), '131072\n', 'the limit of memory')
	fleet(server, 'biolatency', '1')
	text, at, words = words_of_question()
	equal((text, at, words[:9], words[10:]), ('', 0, ['sonde', '-q', '-f', 'answer:alone', '--budget', '0.5000%', '--deny', 'cat,str:*password*,write',
							 '--for'], ['--asked', 'biolatency', '1']))


def tools():
	"""allow = tools: tools by anybody, scripts with a signature."""
	server = Server()
	start(server, 'allow = tools\n')
	equal(fleet(server, 'biolatency').split('\n')[-2], '1 of 1 host')
	assert 'write,probes' in words_of_question()[2]
	equal(fleet(server, *ask),
	      refused('this host runs tools, but scripts only if they are signed, and the question is not signed'))
	equal(fleet(server, '--key', 'ann', *ask).split('\n')[-2], '1 of 1 host')
	equal([w for w in words_of_question()[2] if 'write' in w], ['write'])


def copies():
	"""What was asked is asked again, by somebody who has seen it; then with a byte changed."""
	server = Server()
	p = start(server)
	client = Client(server, 'sonde.run.>', '_INBOX.>')
	assert '1 of 1 host\n' in fleet(server, '--key', 'ann', '-e', 'begin { /* ab */ exit(); }')
	subject, question = client.message(b'/* ab */')
	client.message(b'web1')
	end(p)
	start(server)
	for data, why in ((question, LATE), (question.replace(b'/* ab */', b'/* ac */'), 'the signature is not that of this question'),
			  (question, LATE)):
		assert len(data) == len(question)
		client = Client(server, '_INBOX.>')
		client.publish(subject, data)
		equal(client.message(b'web1')[1].count(why.encode()), 1, why)
		end(running[-1])
		start(server)


def records():
	"""Each question leaves a record."""
	server = Server()
	start(server)
	client = Client(server, 'sonde.audit')
	write('ask.bt', 'begin { exit(); }\n')
	begun = time.time()
	fleet(server, '--key', 'ann', 'ask.bt', 'a "b"')
	got = json.loads(client.message()[1])
	digest = run('sha256sum', 'ask.bt').split()[0]
	took, cpu, size, mine = (got.pop(k) for k in ('took_ns', 'cpu_ns', 'bytes', 'id'))
	assert 0 < cpu and 0 < took < (time.time() - begun) * 1e9 and size == os.path.getsize('web.answer'), (took, cpu, size)
	assert re.fullmatch('[0-9a-f]{32}', mine), mine
	asker = got.pop('asker')
	equal(asker, 'ann@' + os.uname().nodename)
	equal(got, {'host': 'web1', 'signer': 'ann@example', 'kind': 'script', 'what': 'ask.bt a "b"', 'sha256': digest, 'for_ns': 1000000000,
		    'end': 'answered', 'why': ''})
	fleet(server, '--key', 'eve', 'biolatency', '-m')
	got = json.loads(client.message()[1])
	del got['id'], got['asker']
	equal(got, {'host': 'web1', 'signer': '', 'kind': 'tool', 'what': 'biolatency -m', 'sha256': '', 'for_ns': 1000000000, 'took_ns': 0, 'cpu_ns': 0,
		    'bytes': 0, 'end': 'refused', 'why': 'the question is signed by a key that this host does not allow'})


def make_keys():
	keys = {}
	for who in ('agent', 'asker'):
		if os.path.exists(who + '.nk'):
			os.unlink(who + '.nk')
		keys[who] = run('sh', source + '/packaging/fleet/nkey.sh', who + '.nk').strip()
		equal(os.stat(who + '.nk').st_mode & 0o777, 0o600)
	return keys


def secure():
	"""The example of a server: TLS, keys, and what each key permits."""
	keys = make_keys()
	rc, out, err = output('sh', source + '/packaging/fleet/nkey.sh', 'agent.nk')
	equal((rc, out, err), (1, '', 'nkey.sh: agent.nk is there already\n'))
	run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'server.key', '-out', 'server.crt',
	    '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost')
	text = read(source + '/packaging/fleet/nats-server.conf').replace('/etc/sonde/tls', tmp).replace('0.0.0.0:4222', '127.0.0.1:{}')
	for kind, who in (('AGENT', 'agent'), ('ASKER', 'asker')):
		text, n = re.subn('"U[A-Z2-7]{55}"(, permissions: [$]%s)' % kind, '"%s"\\1' % keys[who], text)
		equal(n, 1)
	server = Server(text, 'tls')
	secret = {who: 'tls_ca = %s/server.crt\nnkey = %s\nnkey_seed = %s/%s.nk\n' % (tmp, keys[who], tmp, who) for who in keys}
	write('asker.conf', 'url = %s\nkey = %s/ann\n%s' % (server.url, tmp, secret['asker']))
	write('thief.conf', 'url = %s\nkey = %s/ann\n%s' % (server.url, tmp, secret['agent']))
	configure(server, secret['agent'])
	spawn(agent, '-c', 'agent.conf', stderr=open('agent.log', 'w'))
	wait('the agent', lambda: 'web1' in output(sonde, 'fleet', 'list', '--wait', '300ms', '--nats', './asker.conf')[1])
	equal(fleet(server, *ask, url='./asker.conf').split('\n')[-2], '1 of 1 host')
	# An agent cannot ask, and an asker cannot be asked.
	rc, out, err = output(sonde, 'fleet', 'list', '--wait', '1s', '--nats', './thief.conf')
	assert 'web1' not in out, out
	configure(server, secret['asker'], name='false', path='false.conf')
	write('false.conf', read('false.conf').replace('/state\n', '/false\n'))
	os.makedirs('false', exist_ok=True)
	spawn(agent, '-c', 'false.conf', stderr=open('false.log', 'w'))
	wait('a refusal', lambda: 'ermissions' in read('false.log'))
	assert 'false' not in output(sonde, 'fleet', 'list', '--wait', '300ms', '--nats', './asker.conf')[1]
	# Without a key, or with one that the server does not know, nobody is let in.
	make_keys()
	for more in ('', secret['asker'].split('\n')[0] + '\n'):
		write('other.conf', 'url = %s\n%s' % (server.url, more))
		rc, out, err = output(sonde, 'fleet', 'list', '--wait', '300ms', '--nats', './other.conf')
		assert rc == 1 and err.startswith('ERROR: connect to '), (rc, out, err)


def mistakes():
	"""An agent does not start with a configuration that is wrong, and says where."""
	server = Server()
	for lines, want in (('max_second = 5\n', 'agent.conf:6:1: unknown key \'max_second\'; did you mean max_seconds?'),
			    ('allow = all\n', "agent.conf:6:9: allow: tools, signed or any is needed (got 'all')")):
		configure(server, lines)
		equal(output(agent, '-c', 'agent.conf'), (1, '', 'ERROR: %s\n' % want))
	configure(server)
	os.chmod('agent.conf', 0o666)
	equal(output(agent, '-c', 'agent.conf'), (1, '', 'ERROR: agent.conf: anybody may write to it (chmod o-w)\n'))
	configure(server)
	os.chmod('allowed', 0o666)
	equal(output(agent, '-c', 'agent.conf'), (1, '', 'ERROR: %s/allowed: anybody may write to it (chmod o-w)\n' % tmp))
	os.chmod('allowed', 0o644)
	start(server)
	equal(output(agent, '-c', 'agent.conf'), (1, '', 'ERROR: another agent uses %s/state\n' % tmp))
	equal(output(agent, '-c', 'agent.conf', '--nats', server.url), (1, '', 'ERROR: -c and --nats: one of them\n'))


def traces():
	"""As root: sonde itself refuses what the policy denies, and runs the rest."""
	if os.geteuid():
		return
	server = Server()
	configure(server, 'allow = any\ndeny = cat, str:*password*, kprobe:tcp_*\nmax_cpu = 100%\n')
	write('agent.conf', read('agent.conf').replace(tmp + '/stub', sonde))
	spawn(agent, '-c', 'agent.conf', stderr=open('agent.log', 'w'))
	wait('the agent', lambda: 'web1' in listed(server))
	equal(fleet(server, '-e', 'begin { printf("%d %s\\n", $1, str($2)); exit(); }', '5', 'two words'),
	      '5 two words\n\n\n1 of 1 host\n')
	for script, why in (('begin { cat("/etc/hosts"); }', 'cat is denied here (--deny cat)'),
			    ('begin { $password = (uint64)1; print(str($password)); }', 'str is denied here (--deny str:*password*)'),
			    ('begin { system("id"); }', 'system is denied here (--deny write)')):
		got = fleet(server, '-e', script)
		assert why in got and got.endswith('[3]\n'), got
	write('own.bt', '#include "%s/allowed"\nbegin { exit(); }\n' % tmp)
	got = fleet(server, 'own.bt')
	assert "Cannot find the header '%s/allowed'" % tmp in got and 'ann@example' not in got, got
	got = fleet(server, 'execsnoop', '--', 'touch', tmp + '/touched')
	assert 'who asks an agent runs no commands' in got and not os.path.exists('touched'), got


def examples():
	"""Files in packaging/ are what they should be."""
	write('wrong.conf', read(source + '/packaging/fleet/nats-server.conf').replace('subscribe:', 'subscribes:').replace('/etc/sonde/tls', tmp))
	rc, out, err = output('nats-server', '-t', '-c', 'wrong.conf')
	assert rc == 1 and 'subscribes' in out + err, out + err
	try:
		import yaml
	except ImportError:
		print('# no python3-yaml: daemonset.yaml is not read')
		return
	with open(source + '/packaging/k8s/daemonset.yaml') as f:
		parts = {part['kind']: part for part in yaml.safe_load_all(f)}
	equal(sorted(parts), ['ConfigMap', 'DaemonSet', 'Namespace'])
	spec = parts['DaemonSet']['spec']
	pod = spec['template']['spec']
	box = pod['containers'][0]
	equal(spec['selector']['matchLabels'], spec['template']['metadata']['labels'])
	equal((pod['hostPID'], pod.get('hostNetwork', False), pod['automountServiceAccountToken'], len(pod['containers'])), (True, False, False, 1))
	rights = box['securityContext']
	equal((rights['privileged'], rights['allowPrivilegeEscalation'], rights['readOnlyRootFilesystem']), (False, False, True))
	equal(rights['capabilities'], {'drop': ['ALL'], 'add': ['BPF', 'PERFMON', 'SYS_PTRACE', 'DAC_READ_SEARCH', 'SYSLOG', 'CHECKPOINT_RESTORE',
								 'SYS_RESOURCE']})
	volumes = {v['name']: v for v in pod['volumes']}
	mounts = {m['name']: m for m in box['volumeMounts']}
	equal(sorted(mounts), sorted(volumes))
	equal({name: m.get('readOnly', False) for name, m in mounts.items()},
	      {'config': True, 'secret': True, 'state': False, 'tracefs': False, 'cgroup': True, 'debug': True})
	# Configurations are those that an agent accepts, as far as this machine has its files.
	begins = ('ERROR: open /var/lib/sonde-agent: ', 'ERROR: connect to ')
	write('example.conf', read(source + '/packaging/fleet/fleet.conf').replace('/etc/sonde/allowed_signers', tmp + '/allowed'))
	rc, out, err = output(agent, '-c', 'example.conf')
	assert rc == 1 and err.startswith(begins), err
	conf = parts['ConfigMap']['data']['fleet.conf']
	write('pod.conf', conf.replace('/etc/sonde/allowed_signers', tmp + '/allowed') + '\n')
	rc, out, err = output(agent, '-c', 'pod.conf', env={k: v for k, v in os.environ.items() if k != 'NODE_NAME'})
	equal((rc, err), (1, 'ERROR: pod.conf:5:8: name: the environment has no NODE_NAME\n'))
	rc, out, err = output(agent, '-c', 'pod.conf', env={**os.environ, 'NODE_NAME': 'node-7'})
	assert rc == 1 and err.startswith(begins), err


cases = [signatures, limits, tools, copies, records, secure, mistakes, traces, examples]


def main():
	done = failed = 0
	prepare()
	for case in cases:
		if names and case.__name__ not in names:
			continue
		try:
			case()
			done += 1
			print('ok - %s: %s' % (case.__name__, case.__doc__))
		except (AssertionError, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as why:
			failed += 1
			print('not ok - %s\n%s' % (case.__name__, re.sub('^', '# ', str(why), flags=re.M)))
			for log in ('agent.log', 'server.log'):
				if os.path.exists(log):
					print(re.sub('^', '# %s: ' % log, '\n'.join(read(log).split('\n')[-8:]), flags=re.M))
		finally:
			while running:
				end(running.pop())
			shutil.rmtree('state', ignore_errors=True)
		sys.stdout.flush()
	print('%d passed, %d failed' % (done, failed))
	return 1 if failed else 0


if not os.path.exists(agent):
	print('skipped: no libnats, so sonde-agent was not built\n0 passed, 0 failed, 1 skipped')
	sys.exit(0)
for program in ('nats-server', 'ssh-keygen', 'openssl'):
	if not shutil.which(program):
		print('skipped: no %s here\n0 passed, 0 failed, 1 skipped' % program)
		sys.exit(0)
sys.exit(main())
