#!/usr/bin/env python3
# hubs.py [-n NAME] BUILD - hubs between agents and the asker: the answer is that of the asker alone, whatever is asked, and
# also when hosts behind a hub fail, and when hubs die, are stopped, or lie.
import os, re, signal, struct, subprocess, sys, time
import agents
sys.dont_write_bytecode = True
sys.path.insert(0, agents.source + '/docs')
import read_recording
from agents import (Client, HELD, Listener, MERGED, PART, SERVES, STOP, Server, VIA, await_agents, end, equal, fleet, fleet_words, line_of, listed, message, need, read, run, run_agent,
		    run_cases, simulate, spawn, untimed, wait, write_stub)

agents.begin()
sonde, agent, build, tmp = agents.sonde, agents.agent, agents.build, agents.tmp
count = 't:raw_syscalls:sys_enter { @[comm] = count(); @last[comm] = args.id; @h[comm] = hist(args.id); }\n' \
	'end { printf("over\\n"); }'
every = '''table seen { comm "COMM"; cpu "CPU"; }
table calls sorted by n rows 3 { comm "COMM"; n "N"; part "SHARE" share same; }
table kept { comm "COMM"; n "N"; last "LAST"; }
begin { printf("begins\\n"); }
t:raw_syscalls:sys_* {
	@count[comm] = count(); @sum[comm] = sum(args.id); @avg[comm] = avg(cpu); @min[comm] = min(args.id); @max[comm] = max(args.id);
	@stats[comm] = stats(args.id); @stddev[comm] = stddev(args.id); @share[comm] = share(args.id > 100); @hist[comm] = hist(args.id, 2);
	@lhist = lhist(args.id, 0, 400, 20); @bhist = bhist(args.id, "10,100,1000"); @q = quantize(args.id); @ll = llquantize(args.id, 10, 0, 3, 10);
	@series = tseries(args.id, 1s, 5, "sum"); @adds[comm]++; @only += 2; @plain[comm] = args.id; @alone = cpu; @c[comm] = count();
	if (args.id % 64 == 0) { emit(seen, comm = comm, cpu = cpu); print((comm, cpu)); }
	@iv[comm] = count(); @n[comm] = count(); @l[comm] = args.id;
}
profile:hz:99 { @p[ustack, comm] = count(); @k[kstack] = count(); }
interval:us:500 { printf("---\\n"); print(@iv); clear(@iv); }
end { print(@c, 3); show(calls, @c); show(kept, @n, @l); print(@hist, 2, 10); warnf("of %d", 3); printf("over %d\\n", cpu); }'''
labelled = '''table calls sorted by n { comm "COMM"; n "N"; }
t:raw_syscalls:sys_enter { @[comm, args.id, nsecs, probe, pid, str("so that rows are long enough to be written once")] = count(); @c[comm] = count(); @one = pid; }
end { print(@); print(@); printf("over\\n"); show(calls, @c); }'''
wide = ['--hosts', 'cpu[0-39],web[0-9]']


def make_answers():
	write_stub('''head -c "$n" > "$HOST.question" || exit 1
touch "$HOST.began"
[ "$DOES" = waits ] || until [ -e "$HOST.go" ]; do sleep 0.05; done
case $DOES in
waits) cat > /dev/null; touch "$HOST.ended" ;;
refuses) printf 'Warning: \\033[31mred\\033[0m\\nstdin:1:1-2: ERROR: no such probe\\n' >&2; exit 1 ;;
silent) exit 4 ;;
says) printf 'it says \\033[1mthis\\033[0m\\n' >&2 ;;
garbage) echo 'this is no answer'; exit ;;
other) cat other.answer; exit ;;
web) cat web3.answer; exit ;;
dies) head -c 500 web.answer; kill -9 $$ ;;
large) cat large.answer; exit ;;
esac''')
	run(build + '/mkrec', '-c', 'wide.sonde')
	jobs = []
	for cpu in range(40):
		jobs.append(spawn(sonde, 'query', '-q', 'wide.sonde', '--cpu', str(cpu), '-f', 'answer', '-o', 'cpu%d.answer' % cpu, '-e', every, stderr=subprocess.DEVNULL))
	for i in range(10):
		run(build + '/mkrec', '-n', 'web%d' % i, *['-l'][:i % 3 == 0], 'web%d.sonde' % i) # -l: with losses
		run(sonde, 'query', '-q', 'web%d.sonde' % i, '-f', 'answer', '-o', 'web%d.answer' % i, '-e', every)
	run(sonde, 'query', '-q', 'web0.sonde', '-f', 'answer', '-o', 'web.answer', '-e', count)
	run(sonde, 'query', '-q', 'web0.sonde', '-f', 'answer', '-o', 'other.answer', '-e', 'begin { printf("another script\\n"); }')
	for job in jobs:
		equal(job.wait(), 0, 'the status of a query')


def hub(server, name):
	p = spawn(agent, '--any', '--hub', '--nats', server.url, '--name', name, '--sonde', sonde, stderr=open(name + '.log', 'a'))
	wait('hub ' + name, lambda: name in listed(server))
	return p


def merged_by(*hubs):
	"""How many hosts each of these has merged, the last time."""
	return [int((re.findall(r'merged: answers of ([0-9]+) host', read(name + '.log')) or ['0'])[-1]) for name in hubs]


def simulation(server):
	simulate(server, 40, 'cpu{}.answer', 'cpu')
	simulate(server, 10, 'web{}.answer', 'web')
	await_agents(50, server)


# ---- cases ----

def every_answer():
	"""Every aggregation, table and text, in every format, of hosts that are one machine and of others."""
	server = Server()
	simulation(server)
	cpus, webs = ['cpu%d' % i for i in range(40)], ['web%d' % i for i in range(10)]
	asks = [(hosts, ['-f', f]) for hosts in (cpus + webs, cpus, webs) for f in ('text', 'json')]
	asks += [(cpus + webs, ['-f', f]) for f in ('csv', 'folded', 'speedscope', 'prometheus')]
	ask = lambda hosts, *more: ['--wait', '60s', '--hosts', ','.join(hosts), *more, '-e', every]
	by_host = ask(cpus + webs, '--for', '1s', '--by', 'host', '-f', 'json')
	alone = [fleet(*ask(hosts, '--for', '1s', *form), server=server) for hosts, form in asks]
	alone_by_host = fleet(*by_host, server=server)
	assert all(len(text) > 1000 for text in alone), alone
	hubs = ('e1', 'e2', 'e3')
	for name in hubs:
		hub(server, name)
	for (hosts, form), want in zip(asks, alone):
		equal(answer_behind(server, hosts, *ask(hosts, '--for', '600s', *form)), want, '%d hosts, %s' % (len(hosts), form))
	equal(fleet(*by_host, server=server), alone_by_host)
	# A hub that has no time is left out.
	count = sum(read(name + '.log').count('merged') for name in hubs)
	assert len(asks) <= count <= len(hubs) * len(asks), count
	server.kill()


def items_of(path, kind):
	"""How many items of this kind are in the answer."""
	n = 0
	for block, count, b in read_recording.blocks(read_bytes(path)):
		for _ in range(count if block == 17 else 0):
			n += read_recording.Bytes(b.text()).get('H') & 0x7fff == kind
	return n


def labels():
	"""Labels of hosts, and rows that their answers contain once although they were printed twice."""
	server = Server()
	for i in range(4):
		run(sonde, 'query', '-q', 'web%d.sonde' % i, '-f', 'answer:codec=none', '--label', 'zone=z%d,role=web' % (i % 2), '-o', 'lab%d.answer' % i, '-e', labelled)
		assert items_of('lab%d.answer' % i, 111), i # AGAIN
	simulate(server, 4, 'lab{}.answer', 'lab')
	await_agents(4, server)
	hosts = ['lab%d' % i for i in range(4)]
	with open('hosts', 'w') as f:
		f.write('lab0 zone=x\nlab1\nlab2\nlab3 row=r\n')
	ask = ['-q', '--hosts-file', 'hosts', '--wait', '60s', '-e', labelled]
	by_zone = lambda path: subprocess.run([sonde, 'merge', '-q', '--by', 'label:zone', path], capture_output=True, text=True)
	apart = ['--for', '1s', '--by', 'label:zone', *ask]
	direct = fleet(*apart, server=server)
	alone = [fleet('--for', '1s', '-f', 'json', *ask, server=server), fleet('--for', '1s', '-f', 'answer', '-o', 'alone.merged', *ask, server=server)]
	hub(server, 'b1')
	equal(answer_behind(server, hosts, '--for', '600s', '-f', 'json', *ask), alone[0])
	equal(merged_by('b1'), [4])
	equal(answer_behind(server, hosts, '--for', '600s', '-f', 'answer', '-o', 'behind.merged', *ask), alone[1])
	equal(read('b1.log').count('merged: answers of 4 hosts'), 2)
	first, second = by_zone('alone.merged'), by_zone('behind.merged')
	assert '@one[x, lab0]: ' in first.stdout and '@one[z1, lab3]: ' in first.stdout, first.stdout
	equal((second.stdout, second.stderr, second.returncode), (first.stdout, first.stderr, first.returncode))
	# Rows by a label are merged by the asker.
	assert '@c[z0, ' in direct and '@c[x, ' in direct, direct
	equal(fleet(*apart, server=server), direct)
	equal(read('b1.log').count('merged'), 2)
	server.kill()


def failures():
	"""Hosts behind a hub fail as others do, and its messages are theirs."""
	server = Server()
	kinds = ['refuses', 'silent', 'garbage', 'dies', 'other', 'says']
	for kind in ['fine', 'good', *kinds]:
		run_agent(server, kind, '-q', does=kind)
	await_agents(8, server)
	hosts = ['fine', 'good', *kinds]
	ask = ['-q', '--for', '1s', '--wait', '60s', '-e', count, '--hosts', ','.join(hosts) + ',absent']
	asks = [ask, [*ask, '-f', 'json'], ['--partial', *ask]]
	let_go(hosts)
	alone = [fleet(*a, server=server) for a in asks]
	assert '1 partial: dies' in alone[0] and 'says: it says \\x1b[1mthis' in alone[0], alone[0]
	hub(server, 'f1')
	for a, want in zip(asks, alone):
		equal(answer_behind(server, hosts, *a), want)
	equal(merged_by('f1'), [8])
	server.kill()


def ask_in_background(server, *words):
	with open('answer-%d' % server.port, 'w') as out, open('messages-%d' % server.port, 'w') as err:
		return spawn(*fleet_words(words, server), stdout=out, stderr=err)


def answer_of(server, asker):
	rc = asker.wait()
	return untimed(read('messages-%d' % server.port) + read('answer-%d' % server.port)) + ('[%d]\n' % rc if rc else '')


def await_given(heard, hosts):
	"""The asker has told these hosts where their answers go."""
	wait('hosts are given to hubs', lambda: all((VIA, 'sonde.run.host.' + h) in heard.subjects for h in hosts))


def let_go(hosts, go=True):
	for h in hosts:
		if go:
			open(h + '.go', 'w').close()
		elif os.path.exists(h + '.go'):
			os.unlink(h + '.go')


def answer_behind(server, hosts, *ask, does=lambda: None):
	"""The answer of hosts that go on when they know their hubs, and something was done."""
	heard = Listener(server, 'sonde.run.host.>')
	let_go(hosts, False)
	asker = ask_in_background(server, *ask)
	await_given(heard, hosts)
	does()
	let_go(hosts)
	if '600s' in ask: # simulated hosts wait for the asker
		asker.send_signal(signal.SIGTERM)
	return answer_of(server, asker)


def killed_hubs():
	"""Hubs are killed or stopped in mid-run: their hosts are asked for directly."""
	server = Server()
	simulation(server)
	hosts = ['cpu%d' % i for i in range(40)] + ['web%d' % i for i in range(10)]
	ask = [*wide, '--wait', '60s', '-f', 'json', '-e', every]
	alone = fleet('--for', '1s', *ask, server=server)
	hubs = [hub(server, name) for name in ('k1', 'k2', 'k3')]

	def lose_two():
		end(hubs[0])
		hubs[1].send_signal(signal.SIGSTOP)

	equal(answer_behind(server, hosts, '--for', '600s', *ask, does=lose_two), alone)
	equal(merged_by('k1', 'k2'), [0, 0])
	server.kill()


def killed_late():
	"""A hub that has answers already is killed: the hosts still have them."""
	server = Server()
	names = ('u', 'v', 'w', 'late')
	for name in names:
		run_agent(server, name, '-q')
	await_agents(4, server)
	ask = ['--for', '599s', '--wait', '60s', '-f', 'json', '-e', count, '--hosts', ','.join(names)]
	let_go(names)
	alone = fleet(*ask, server=server)
	assert '"answered": 4' in alone, alone
	last = hub(server, 'k4')
	held = Listener(server, 'sonde.hub.>')

	def lose():
		let_go(names[:3])
		wait('the hub has three answers', lambda: sum(kind == HELD for kind, _ in held.subjects) == 3)
		end(last)

	equal(answer_behind(server, names, *ask, does=lose), alone)
	equal(merged_by('k4'), [0])
	server.kill()


def restarted_server():
	"""The server is killed while hubs fetch: the answer is the same."""
	server = Server()
	simulation(server)
	hosts = ['cpu%d' % i for i in range(40)] + ['web%d' % i for i in range(10)]
	ask = [*wide, '--wait', '60s', '-f', 'json', '-e', every]
	alone = fleet('--for', '1s', *ask, server=server)
	for name in ('r1', 'r2'):
		hub(server, name)

	def restart():
		for _ in range(3):
			server.kill()
			time.sleep(0.2)
			server.start()
			time.sleep(0.5)

	equal(answer_behind(server, hosts, '--for', '600s', *ask, does=restart), alone)
	server.kill()


def large():
	"""Answers in pieces, through a hub."""
	server = Server()
	for name in 'abc':
		run_agent(server, name, '-q', does='large')
	await_agents(3, server)
	text = 't:raw_syscalls:sys_enter { @x = @x + 1; $x = (uint64)@x; for $i : 0..4000 { ' \
		'$x = $x * 6364136223846793005 + 1442695040888963407; printf("%llx%llx\\n", $x, $x ^ ($x >> 13)); } }'
	run(sonde, 'query', '-q', 'web0.sonde', '-f', 'answer', '-o', 'large.answer', '-e', text)
	ask = ['-q', '--for', '1s', '--wait', '60s', '-e', text, '--hosts', 'a,b,c']
	let_go('abc')
	alone = fleet(*ask, server=server)
	assert len(alone) > 1000000, len(alone)
	hub(server, 'l1')
	equal(answer_behind(server, 'abc', *ask) == alone, True, 'the answer')
	equal(merged_by('l1'), [3])
	server.kill()


def frame(kind, host, data):
	return struct.pack('<IBI', len(data), kind, host) + data


def liar():
	"""A hub that answers for hosts of others, or with nonsense, changes nothing."""
	server = Server()
	simulate(server, 40, 'cpu{}.answer', 'cpu')
	await_agents(40, server)
	ask = ['--hosts', 'cpu[0-39]', '--wait', '60s', '-f', 'json', '-e', every]
	alone = fleet('--for', '1s', *ask, server=server)
	over = struct.pack('<BQQII', 0, 0, 0, 1, 0) # FLEET_ANSWERED, in the merged answer
	mine = lambda names: frame(1, 0, names[0])
	lies = {'nothing': lambda names: b'x',
		'cut': lambda names: mine(names) + frame(3, 0, b'data')[:-1],
		'unasked': lambda names: frame(7, 0, read_bytes('cpu0.answer')) + frame(1, 0, b'stranger') + frame(4, 0, over),
		'twice': lambda names: frame(7, 0, b'x') + mine(names) + frame(4, 0, over) + frame(1, 1, names[0]) + frame(4, 1, over),
		'no_merged': lambda names: mine(names) + frame(4, 0, over)}
	for what, lie in lies.items():
		client = Client(server, 'sonde.run.hub', 'sonde.run.hub.liar', 'sonde.run.host.cpu7')
		asker = ask_in_background(server, '--for', '600s', *ask)
		subject = ''
		while subject != 'sonde.run.hub':
			subject, data = client.message(b'sonde-s')
		id = data[9:25]
		inbox = data[29:29 + struct.unpack_from('<I', data, 25)[0]].decode()
		client.publish(inbox, message(SERVES, id, b'liar', 7, True, False, b'', b''))
		while True:
			subject, data = client.message()
			if subject == 'sonde.run.hub.liar' and data[8] == PART and b'cpu' in data:
				break
		names = data[data.index(b'cpu'):].split(b'\n')
		body = lie(names)
		client.publish(inbox, message(MERGED, id, b'liar', 7, len(body), 1, body))
		while not (data[8] == VIA and data.endswith(bytes(4))): # its hosts are asked directly again
			subject, data = client.message()
		asker.send_signal(signal.SIGTERM)
		equal(answer_of(server, asker), alone, what)
	server.kill()


def read_bytes(path):
	with open(path, 'rb') as f:
		return f.read()


def false_merge():
	"""A merged answer that is damaged, or is of other hosts than it says, leaves out these hosts."""
	server = Server()
	simulate(server, 2, 'cpu{}.answer', 'cpu')
	await_agents(2, server)
	ask = ['-q', '--hosts', 'cpu0,cpu1', '--for', '600s', '--wait', '60s', '-e', every]
	over = struct.pack('<BQQII', 0, 0, 0, 1, 0)
	for merged, why in ((b'nonsense', 'h is not a recording of sonde'), (read_bytes('cpu0.answer'), 'its hub names other hosts than those that it was to merge'),
			    (read_bytes('cpu0.answer')[:-100], 'the answer of its hub has no end')):
		client = Client(server, 'sonde.run.hub', 'sonde.run.hub.h')
		asker = ask_in_background(server, *ask)
		data = client.message(b'sonde-s')[1]
		id = data[9:25]
		inbox = data[29:29 + struct.unpack_from('<I', data, 25)[0]].decode()
		client.publish(inbox, message(SERVES, id, b'h', 7, True, False, b'', b''))
		client.message(b'cpu0\ncpu1')
		body = frame(7, 0, merged) + frame(1, 0, b'cpu0') + frame(4, 0, over) + frame(1, 1, b'cpu1') + frame(4, 1, over)
		client.publish(inbox, message(MERGED, id, b'h', 7, len(body), 1, body))
		equal(answer_of(server, asker), 'WARNING: cpu0 and 1 other: refused: %s\n0 of 2 hosts (2 refused: cpu0 cpu1); T\n[3]\n' % why)
	server.kill()


def no_orders():
	"""Agents take no questions by the subject of hubs."""
	server = Server()
	run_agent(server, 'n', '-q', does='waits')
	await_agents(1, server)
	client = Client(server, 'sonde.run.host.n', '_INBOX.>')
	asker = ask_in_background(server, '-q', '--hosts', 'n', '--for', '600s', '-e', count)
	question = client.message(b'sonde-s')[1]
	wait('the start', lambda: os.path.exists('n.began'))
	client.publish('sonde.hub.n', message(STOP, question[9:25], b'_INBOX.x', b'', b''))
	client.publish('sonde.hub.n', question.replace(question[9:25], bytes(16)))
	client.flush()
	await_agents(1, server)
	assert not os.path.exists('n.ended')
	equal(len(re.findall('[0-9a-f]{32}', line_of('n', server))), 1, 'questions')
	asker.send_signal(signal.SIGTERM)
	asker.wait()
	server.kill()


need('nats-server')
make_answers()
run_cases([every_answer, killed_hubs, killed_late, restarted_server, failures, liar, large, false_merge, no_orders, labels], lanes=3)
