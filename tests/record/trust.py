#!/usr/bin/env python3
# trust.py [-n NAME] BUILD - which questions agents run, and who may end them: signatures, times, copies, changed bytes, the policy of a host, keys
# and permissions of the server, the record of each question; and the examples in packaging/. A shell acts as sonde on the
# hosts; as root, sonde itself does, too.
import glob, json, os, re, shutil, signal, struct, subprocess, time
import agents
from agents import Client, Listener, STOP, STOPPED, VIA, equal, message, need, output, read, run, run_cases, running, spawn, wait, write, write_stub

agents.begin()
sonde, agent, build, tmp, slow, source = agents.sonde, agents.agent, agents.build, agents.tmp, agents.slow, agents.source
ask = ('-e', 'begin { exit(); }')
STUB = 'head -c "$n" > question || exit 1\nulimit -d > limit'
UNSIGNED = 'this host stops questions only for their askers or by signed orders, and this order is not signed'
LATE = 'the question was asked before: it is a copy, or the agent was restarted'


class Server(agents.Server):
	def __init__(self, text='host: 127.0.0.1\nport: {}\n', scheme='nats'):
		super().__init__(text, scheme, 'localhost')


def public(key):
	return ' '.join(read(key + '.pub').split()[:2])


def prepare():
	write_stub(STUB)
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


def listed(server):
	return run(sonde, 'fleet', 'list', '--wait', '300ms', '--nats', server.url)


def fleet(server, *words, url=None):
	"""What it prints, without times, and its status unless that is 0."""
	rc, out, err = output(sonde, 'fleet', '--nats', url or server.url, '--wait', '60s', '--expect', '1', '--for', '1s', *words)
	text = re.sub(r'; [0-9.]+ s(, (asked|started) within [0-9.]+ ms, clocks within [0-9.]+ ms)?', '', err + out)
	text = re.sub(r'; [0-9.e-]+ % CPU at most \([a-z0-9]+\)', '', text)
	return text + ('[%d]\n' % rc if rc else '')


def answered(text):
	assert text.endswith('1 of 1 host\n'), text


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
	answered(fleet(server, '--budget', '5%', '--cgroup', 'a.slice', '-e', 'begin { exit(); }', 'x', '--', '--y=1'))
	equal(words_of_question(),
	      ('begin { exit(); }', 17, ['sonde', '-q', '-f', 'answer:alone', '--budget', '5%', '--cgroup', 'a.slice', '--budget', '0.5000%',
		   '--label', 'env=prod', '--deny', 'cat,str:*password*,write', '--for', words_of_question()[2][15], '--asked', '-', 'x', '--', '--y=1']))
	assert re.fullmatch('[0-9]+ns', words_of_question()[2][15])
	equal(read('limit'), '131072\n', 'the limit of memory')
	answered(fleet(server, 'biolatency', '1'))
	text, at, words = words_of_question()
	equal((text, at, words[:11], words[12:]), ('', 0, ['sonde', '-q', '-f', 'answer:alone', '--budget', '0.5000%', '--label', 'env=prod', '--deny', 'cat,str:*password*,write',
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
	agents.end(p)
	start(server)
	for data, why in ((question, LATE), (question.replace(b'/* ab */', b'/* ac */'), 'the signature is not that of this question'),
			  (question, LATE)):
		assert len(data) == len(question)
		client = Client(server, '_INBOX.>')
		client.publish(subject, data)
		equal(client.message(b'web1')[1].count(why.encode()), 1, why)
		agents.end(running[-1])
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


def begin(server):
	"""A question that runs until it is ended: its asker, its id and its first message."""
	seen = Client(server, 'sonde.run.all')
	asker = spawn(sonde, 'fleet', '--nats', server.url, '--key', 'ann', '-q', '--wait', '60s', '--expect', '1', '--for', '600s', *ask, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
	question = seen.message(b'sonde-s')[1]
	id = question[9:25]
	wait('the question to run', lambda: id.hex() in listed(server))
	return asker, id, question


def ended(asker):
	equal(asker.communicate(timeout=200 * slow)[0], '\n\n@: 20\n')
	equal(asker.returncode, 0)


def texts(*fields):
	return b''.join(struct.pack('<I', len(f)) + f for f in fields)


def order(name, key, begins=0, ends=60):
	"""An order to stop, as src/agent/question.h has it: valid from so many seconds from now until so many."""
	times = struct.pack('<4Q', *(time.time_ns() + s * 10**9 for s in (begins, ends)), 0, 0)
	data = b'sonde-q\2' + os.urandom(16) + times + b'\4' + texts(name.encode(), b'') + bytes(16) + texts(b'_INBOX.mine', b'ann@desk') + bytes(32)
	signed = subprocess.run(['ssh-keygen', '-Y', 'sign', '-n', 'sonde', '-f', key], input=data, capture_output=True, check=True).stdout if key else b''
	return b'sonde-s\2' + texts(data, signed)


def stop_sent(client, id, secret=b'', sealed=b''):
	"""What the agent answers: how many questions have ended, and why none."""
	client.publish('sonde.run.all', message(STOP, id, b'_INBOX.mine', secret, sealed))
	data = client.message()[1]
	equal((data[8], data[9:25]), (STOPPED, id))
	count, good, n = struct.unpack_from('<Q?I', data, 25 + 4 + len('web1') + 8)
	why = data[-n:].decode() if n else ''
	equal(good, not n)
	return count, why


def stops():
	"""Its asker ends a question, and so does who signs; nobody else."""
	server = Server()
	write_stub(STUB + '\ncat > /dev/null')
	start(server)
	client, audit = Client(server, '_INBOX.mine'), Client(server, 'sonde.audit')

	def refused_stop(id, why, **proof):
		count, said = stop_sent(client, id, **proof)
		record = json.loads(audit.message()[1])
		equal((count, said[:len(why)]), (0, why))
		equal([record[k] for k in ('kind', 'what', 'end', 'why')], ['stop', id.hex() if any(id) else '--all', 'refused', said])

	asker, id, question = begin(server)
	every, name = bytes(16), id.hex()
	for proof in ({}, {'secret': bytes(32)}, {'secret': os.urandom(32)}, {'sealed': order(name, '')}):
		refused_stop(id, UNSIGNED, **proof)
	refused_stop(every, UNSIGNED)
	refused_stop(id, 'the message is not a question', sealed=b'nonsense')
	refused_stop(id, 'what is signed is a question, not an order to stop', sealed=question[question.index(b'sonde-s'):])
	refused_stop(id, 'the order to stop has expired, and is late by ', sealed=order(name, 'ann', -120, -60))
	refused_stop(id, 'the order to stop is too early by ', sealed=order(name, 'ann', 600, 660))
	for key, why in (('bob', 'the key that signed the order to stop is no longer valid'), ('cid', 'the key that signed the order to stop is not valid yet'),
			 ('dan', 'the key that signed the order to stop is not for questions'),
			 ('eve', 'the order to stop is signed by a key that this host does not allow')):
		refused_stop(id, why, sealed=order(name, key))
	other = '01' * 16
	altered = order(other, 'ann')
	refused_stop(id, 'the order to stop is not for what the message names', sealed=altered)
	refused_stop(every, 'the order to stop is not for what the message names', sealed=altered)
	refused_stop(id, 'the signature is not that of this order to stop', sealed=altered.replace(other.encode(), name.encode()))
	altered = bytearray(order(name, 'ann'))
	altered[8 + 4 + 8] ^= 1 # its own number
	refused_stop(id, 'the signature is not that of this order to stop', sealed=bytes(altered))
	# In the same way by the program.
	words = [[name], ['--all'], [name, '--key', 'eve']]
	told = [spawn(sonde, 'fleet', 'stop', '--nats', server.url, '--wait', '%dms' % (5000 * slow), *w, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for w in words]
	for p, why in zip(told, (UNSIGNED, UNSIGNED, 'the order to stop is signed by a key that this host does not allow')):
		equal(p.communicate()[0], 'WARNING: web1: refused: %s\nstopped on 0 hosts, refused by 1\n' % why)
		equal(p.returncode, 3)
		equal(json.loads(audit.message()[1])['end'], 'refused')
	assert name in listed(server) and asker.poll() is None
	# Who may ask ends all, but a copy of the order ends nothing.
	all_of_them = order('', 'ann')
	equal(stop_sent(client, every, sealed=all_of_them), (1, ''))
	record = json.loads(audit.message()[1])
	equal([record[k] for k in ('signer', 'asker', 'kind', 'what', 'end')], ['ann@example', 'ann@desk', 'stop', '--all', 'answered'])
	ended(asker)
	equal(json.loads(audit.message()[1])['end'], 'stopped')
	asker, id, question = begin(server)
	refused_stop(every, 'the order to stop was asked before: it is a copy, or the agent was restarted', sealed=all_of_them)
	# Its asker shows what nobody else knows, and it is of no use for others.
	seen = Client(server, 'sonde.run.all')
	asker.send_signal(signal.SIGINT)
	data = b''
	while data[8:9] != bytes([STOP]):
		data = seen.message()[1]
	ended(asker)
	equal(json.loads(audit.message()[1])['end'], 'stopped')
	secret = data[25 + 4 + struct.unpack_from('<I', data, 25)[0] + 4:][:32]
	asker, id, question = begin(server)
	refused_stop(id, UNSIGNED, secret=secret)
	refused_stop(every, UNSIGNED, secret=secret)
	rc, out, err = output(sonde, 'fleet', 'stop', '--nats', server.url, '--key', 'ann', '--wait', '%dms' % (5000 * slow), id.hex())
	equal((rc, out, err), (0, 'stopped on 1 host\n', ''))
	ended(asker)
	write_stub(STUB)


def stops_behind_hub():
	"""The asker ends a question whose answer goes to a hub."""
	server = Server()
	write_stub(STUB + '\ncat > /dev/null')
	start(server)
	configure(server, 'hub = yes\n', name='hub1', path='hub.conf')
	write('hub.conf', read('hub.conf').replace('/stub\n', '/hub-sonde\n'))
	write('hub-sonde', '#!/bin/sh\nexec %s "$@"\n' % sonde, 0o755)
	spawn(agent, '-c', 'hub.conf', stderr=open('hub.log', 'w'))
	wait('the hub', lambda: 'hub1' in listed(server))
	heard = Listener(server, 'sonde.run.host.web1')

	def merged():
		heard.subjects.clear()
		asker, id, question = begin(server)
		end = time.time() + 3
		while (VIA, 'sonde.run.host.web1') not in heard.subjects and time.time() < end: # a machine that is busy may be too late
			time.sleep(0.05)
		asker.send_signal(signal.SIGINT)
		ended(asker)
		return 'hub1: merged: answers of 1 host\n' in read('hub.log')

	wait('the hub to have merged', merged, 200)
	write_stub(STUB)


def make_keys():
	keys = {}
	for who in ('agent', 'asker', 'hub'):
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
	for kind, who in (('AGENT', 'agent'), ('ASKER', 'asker'), ('HUB', 'hub')):
		text, n = re.subn('"U[A-Z2-7]{55}"(, permissions: [$]%s)' % kind, '"%s"\\1' % keys[who], text)
		equal(n, 1)
	server = Server(text, 'tls')
	secret = {who: 'tls_ca = %s/server.crt\nnkey = %s\nnkey_seed = %s/%s.nk\n' % (tmp, keys[who], tmp, who) for who in keys}
	write('asker.conf', 'url = %s\nkey = %s/ann\n%s' % (server.url, tmp, secret['asker']))
	for thief in ('agent', 'hub'):
		write(thief + '-thief.conf', 'url = %s\nkey = %s/ann\n%s' % (server.url, tmp, secret[thief]))
	configure(server, secret['agent'])
	spawn(agent, '-c', 'agent.conf', stderr=open('agent.log', 'w'))
	wait('the agent', lambda: 'web1' in output(sonde, 'fleet', 'list', '--wait', '300ms', '--nats', './asker.conf')[1])
	equal(fleet(server, *ask, url='./asker.conf').split('\n')[-2], '1 of 1 host')
	# A hub merges what is signed; it knows no more than it has to.
	configure(server, secret['hub'], name='hub1', path='hub.conf')
	write('hub.conf', read('hub.conf').replace('/stub\n', '/hub-sonde\n').replace('[labels]', 'hub = yes\n[labels]'))
	write('hub-sonde', '#!/bin/sh\nexec %s "$@"\n' % sonde, 0o755)
	spawn(agent, '-c', 'hub.conf', stderr=open('hub.log', 'w'))
	wait('the hub', lambda: 'hub1' in output(sonde, 'fleet', 'list', '--wait', '300ms', '--nats', './asker.conf')[1])
	write_stub(STUB + '\nsleep 1') # long enough to be given to a hub, but for a machine that is busy

	def merged():
		equal(fleet(server, *ask, url='./asker.conf').split('\n')[-2], '1 of 1 host')
		return 'hub1: merged: answers of 1 host\n' in read('hub.log')

	wait('the hub to have merged', merged, 200)
	write_stub(STUB)
	rc, out, err = output(sonde, 'fleet', '--nats', './asker.conf', '--key', 'eve', '--for', '1s', '--expect', '1', *ask)
	wait('a refusal of the hub', lambda: 'hub1: refused: the question is signed by a key that this host does not allow\n' in read('hub.log'))
	# Agents and hubs cannot ask, and an asker cannot be asked.
	for thief in ('agent', 'hub'):
		rc, out, err = output(sonde, 'fleet', 'list', '--wait', '1s', '--nats', './%s-thief.conf' % thief)
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


cases = [signatures, limits, tools, copies, records, stops, stops_behind_hub, secure, mistakes, traces, examples]


def cleanup(why):
	if why:
		for log in ('agent.log', *glob.glob('server-*.log')):
			if os.path.exists(log):
				print(re.sub('^', '# %s: ' % log, '\n'.join(read(log).split('\n')[-8:]), flags=re.M))
	agents.end_all()
	shutil.rmtree('state', ignore_errors=True)


need('nats-server', 'ssh-keygen', 'openssl')
prepare()
run_cases(cases, cleanup=cleanup)
