#!/usr/bin/env python3
# nats.py [-n NAME] [-l AGENTS] BUILD - one question to many agents through nats-server on loopback: who answers, what is
# merged, and what happens when the server, agents or the asker die. Answers are made of recordings (mkrec), or by shells
# that act as sonde on their hosts; as root one agent also traces. -l: how many agents are simulated at most (100).
import json, os, random, re, shutil, signal, socket, struct, subprocess, time
import agents
from agents import (Client, Listener, START, Server, TAKEN, await_agents, end, equal, fleet, fleet_words, line_of, message, need, run, run_agent, run_cases, simulate, spawn,
		    untimed, wait, write, write_stub)

agents_at_most = int(agents.begin('-l').get('-l', 100))
sonde, agent, build, tmp, slow = agents.sonde, agents.agent, agents.build, agents.tmp, agents.slow
count = 't:raw_syscalls:sys_enter { @[comm] = count(); @last[comm] = args.id; @h[comm] = hist(args.id); }\n' \
	'end { printf("over\\n"); }'
rows = 'table calls sorted by n rows 3 { comm "COMM"; n "N"; part "SHARE" share same; } ' \
	't:raw_syscalls:sys_* { @ = count(); @c[comm] = count(); @p[pid, comm, probe] = count(); @t[comm] = hist(cpu); }\n' \
	'profile:hz:99 { @s[ustack, comm] = count(); } end { print(@c, 3); show(calls, @c); }'


def command(*words, server):
	return subprocess.run(fleet_words(words, server), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200 * slow)


# What a sonde on the host of an agent does with a question.
does = '''head -c "$n" > "$HOST.question" || exit 1
echo "$start" > "$HOST.start"
touch "$HOST.began"
case $DOES in
waits) cat > /dev/null; touch "$HOST.ended" ;;
refuses) printf 'Warning: \\033[31mred\\033[0m\\nstdin:1:1-2: ERROR: no such probe\\n' >&2; exit 1 ;;
silent) exit 4 ;;
garbage) echo 'this is no answer'; exit ;;
dies) head -c 500 web.answer; kill -9 $$ ;;
chatty) yes 'many words' | head -n 9000 >&2 ;;
endless) exec yes ;;
large) cat large.answer; exit ;;
until) until [ -e "$HOST.go" ]; do sleep 0.1; done ;;
esac'''


def make_answers():
	write_stub(does)
	run(build + '/mkrec', '-n', 'web', 'web.sonde')
	run(build + '/mkrec', '-c', 'wide.sonde')
	run(sonde, 'query', '-q', 'web.sonde', '-f', 'answer', '-o', 'web.answer', '-e', count)
	for cpu in range(40):
		run(sonde, 'query', '-q', 'wide.sonde', '--cpu', str(cpu), '-f', 'answer', '-o', 'cpu%d.answer' % cpu, '-e', rows)


# ---- cases ----

def forty_are_one():
	"""Forty agents, each with the events of one CPU, say what one says that has all; so does the exec way."""
	server = Server()
	sims = simulate(server, 40, 'cpu{}.answer', 'cpu')
	await_agents(40, server)
	with open('way', 'w') as f:
		f.write('#!/bin/sh\nexport HOST=$1\nexec sh\n')
	os.mkdir('bin')
	with open('bin/sonde', 'w') as f:
		f.write('#!/bin/sh\n[ "$1" = version ] && exec %s version\nprintf "\\n%%s ready\\n" "$2"\nread -r n\n'
			'printf "\\n%%s clock %%s\\n" "$2" "$(date +%%s%%N)"\nread -r n start\nhead -c "$n" >/dev/null\ncat %s/$HOST.answer\n' % (sonde, tmp))
	os.chmod('way', 0o755)
	os.chmod('bin/sonde', 0o755)
	hosts = ['--hosts', 'cpu[0-39]']
	for form in ('text', 'json', 'folded'):
		whole = subprocess.run([sonde, 'query', '-q', 'wide.sonde', '-f', form, '-e', rows], capture_output=True, text=True).stdout
		p = command('-q', *hosts, '--no-warnings', '--for', '1s', '-f', form, '-e', rows, server=server)
		merged = re.sub(r'\{"type": "fleet".*\n', '', p.stdout)
		equal((p.returncode, re.sub('WARNING: -f folded leaves out .*\n', '', p.stderr)), (0, ''), form)
		equal(merged, whole, '-f ' + form)
	for more in ([], ['--by', 'host', '-f', 'json']):
		ours = fleet(*hosts, '--for', '1s', *more, '-e', rows, server=server)
		theirs = subprocess.run([sonde, 'fleet', *hosts, '--for', '1s', '--sudo', '', '--via', tmp + '/way {}', *more, '-e', rows],
					stdin=subprocess.DEVNULL, capture_output=True, text=True,
					env={**os.environ, 'PATH': tmp + '/bin:' + os.environ['PATH']})
		equal(ours, untimed(theirs.stderr + theirs.stdout), 'the answer by agents')
	end(sims)
	server.kill()


table = '''over


@[cat]: %d
@[worker]: %d
@h[cat]:
[256, 512)%14s |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

@h[worker]:
[1]%21s |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

'''


def whole(hosts):
	return table % ((10 * hosts,) * 4)


def failures():
	"""Each way to fail is reported with its reason."""
	server = Server()
	kinds = ['refuses', 'silent', 'garbage', 'dies', 'chatty', 'endless']
	for kind in ['fine', *kinds]:
		run_agent(server, kind, '-q', '--label', 'is=' + kind, does=kind)
	await_agents(7, server)
	got = fleet('-q', '--for', '1s', '-e', count, '--hosts', 'fine,refuses,silent,garbage,dies,endless,absent', server=server)
	want = '''refuses: Warning: \\x1b[31mred\\x1b[0m
refuses: stdin:1:1-2: ERROR: no such probe
WARNING: refuses: refused: stdin:1:1-2: ERROR: no such probe
WARNING: silent: refused: sonde has answered nothing
WARNING: garbage: refused: garbage is not a recording of sonde
WARNING: dies: partial: its answer has no end
WARNING: endless: partial: its answer is too large (more than 64 MB)
WARNING: absent: unreachable: no agent of this name has answered
''' + whole(1) + '''@last[worker]: 1
@last[cat]: 257
1 of 7 hosts (1 unreachable: absent; 3 refused: refuses silent garbage; 2 partial: dies endless); T
[3]
'''
	equal(got, want, 'what fails')
	got = command('--for', '1s', '-e', count, '--hosts', 'chatty', server=server)
	equal(got.stderr.count('chatty: many words\n') > 100 and 'chatty: (more messages are left out)\n' in got.stderr, True, 'the flood is cut')
	equal(got.returncode, 0, 'the status')
	got = fleet('-q', '--for', '1s', '-f', 'json', '-e', count, '--label', 'is=refuses', server=server)
	equal(got, '''refuses: Warning: \\x1b[31mred\\x1b[0m
refuses: stdin:1:1-2: ERROR: no such probe
WARNING: refuses: refused: stdin:1:1-2: ERROR: no such probe
{"type": "fleet", "asked": 1, "answered": 0, "unreachable": [], "refused": ["refuses"], "late": [], "partial": [], "reasons": '''
		'''{"refuses": "stdin:1:1-2: ERROR: no such probe"}, "lost": 0, "lossy_hosts": 0, T, "missing_probes": {}}
[3]
''', 'JSON')
	got = fleet('-q', '--for', '1s', '--expect', '3', '--label', 'is=fine', '-e', count, server=server)
	equal(got.split('\n')[0], 'WARNING: ? and 1 other: unreachable: fewer agents have answered than --expect says', 'who is missing')
	equal(got.split('\n')[-3:], ['1 of 3 hosts (2 unreachable: ? ?); T', '[3]', ''], 'who is missing')
	server.kill()


def begin_together():
	"""--at: each host gets the time by its own clock; if clocks are too far apart, nobody begins."""
	server = Server()
	for name in ('t1', 't2'):
		run_agent(server, name, '-q')
	await_agents(2, server)
	heard = Listener(server, 'sonde.run.host.>')
	at = int(time.time()) + 8
	equal(fleet('-q', '--hosts', 't1,t2', '--at', '@%d' % at, '--for', '1s', '--wait', '60s', '-e', count, server=server), whole(2) +
	      ''.join('@last[t%d, %s]: %d\n' % (i, comm, id) for comm, id in (('worker', 1), ('cat', 257)) for i in (1, 2)))
	for name in ('t1', 't2'):
		with open(name + '.start') as f:
			start = int(f.read())
		assert abs(start - at * 10**9) < 10**9, (start, at)
		os.unlink(name + '.start')
	equal({(START, 'sonde.run.host.t1'), (START, 'sonde.run.host.t2')} <= heard.subjects, True, 'hosts learn the time')
	# A host whose clock is an hour ahead says so with its first word, as the other does by itself.
	ask = ['-q', '--hosts', 't1,far', '--at', '+600s', '--for', '1s', '--wait', '60s', '-e', count]
	for more in ([], ['--skew']):
		client = Client(server, 'sonde.run.host.far')
		asker = spawn(*fleet_words(ask + more, server), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
		subject, data = client.message(b'sonde-s')
		inbox = re.search(rb'_INBOX[.][0-9a-f]{32}', data).group().decode()
		asked = struct.unpack_from('<Q', data, 25 + 16)[0]
		late = asked + 3600 * 10**9
		client.publish(inbox, message(TAKEN, data[9:25], b'far', 7, b'boot', b'kernel', b'version', 0, asked, late, late, True, b''))
		if not more:
			equal(asker.communicate()[0], 'ERROR: no host was asked, because the clock of far is 3600 s ahead of that of t1 (--skew asks all the same)\n')
			equal(asker.wait(), 1)
			wait('the end of its question', lambda: not re.search('[0-9a-f]{32}', line_of('t1', server)))
			equal(os.path.exists('t1.start'), False, 'a host has begun')
			continue
		while data[8] != START:
			subject, data = client.message()
		ahead = struct.unpack_from('<q', data, 25 + 8)[0]
		assert abs(ahead - 3600 * 10**9) < 60 * 10**9, ahead
		end(asker)
	server.kill()


def labels():
	"""Only hosts that have all labels, and one of the names, are asked."""
	server = Server()
	for name, words in (('a', ['--label', 'env=prod', '--label', 'role=db']), ('b', ['--label', 'env=prod']), ('c.d', ['--label', 'role=db'])):
		run_agent(server, name, '-q', *words)
	await_agents(3, server)
	lines = {name: line_of(name, server) for name in ('a', 'b', 'c.d')}
	equal([re.sub(r' +', ' ', lines[n].replace(os.uname().release, 'KERNEL')) for n in sorted(lines)],
	      ['a KERNEL 0.1.0 env=prod,role=db -', 'b KERNEL 0.1.0 env=prod -', 'c.d KERNEL 0.1.0 role=db -'], 'the list')
	last = lambda *words: fleet('--for', '1s', '--by', 'host', *words, '-e', count, server=server).split('\n')[-2]
	equal(last('--label', 'env=prod'), '2 of 2 hosts; T')
	equal(last('--label', 'env=prod,role=db'), '1 of 1 host; T')
	equal(last('--hosts', 'c.d,b'), '2 of 2 hosts; T')
	equal(last('--hosts', 'c.d'), '1 of 1 host; T')
	got = fleet('--for', '1s', '--label', 'env=test', '-e', count, server=server)
	equal(got, 'ERROR: no agent has answered (%s)\n[1]\n' % server.url)
	server.kill()


zoned = 'table calls sorted by n rows 3 { comm "COMM"; n "N"; part "SHARE" share same; } ' \
	't:raw_syscalls:sys_* { @ = count(); @p[pid, comm, probe] = count(); @t[comm] = hist(cpu); @n++; }\n' \
	'profile:hz:99 { @s[ustack, comm] = count(); } end { show(calls, @p); print(@t); clear(@p); clear(@t); }'


def by_label():
	"""Simulated agents are asked about recordings; their rows by a label are those of answers with this label."""
	server = Server()
	kinds = (('a', 2, ['zone=a', 'role=web']), ('b', 1, ['zone=b']), ('c', 1, []))
	sims = [simulate(server, n, 'web.sonde', name, *[word for label in labels for word in ('--label', label)]) for name, n, labels in kinds]
	answers = []
	for name, n, labels in kinds:
		for i in range(n):
			answers.append('%s%d.zoned' % (name, i))
			run(sonde, 'query', '-q', 'web.sonde', '-f', 'answer', *(['--label', ','.join(labels)] if labels else []), '-o', answers[-1], '-e', zoned)
	await_agents(4, server)
	for form in ('text', 'json', 'csv', 'folded'):
		p = command('-q', '--for', '10s', '--no-warnings', '--by', 'label:zone', '-f', form, '-e', zoned, server=server)
		merged = subprocess.run([sonde, 'merge', '-q', '--by', 'label:zone', '-f', form, *answers], capture_output=True, text=True)
		equal(re.sub(r'\{"type": "fleet".*\n', '', p.stdout), merged.stdout, 'the answer of ' + form)
		equal((p.returncode, p.stderr.replace('c0: no label', 'c0.zoned: no label')), (0, merged.stderr), form)
	equal('@n[-]: ' in command('-q', '--for', '10s', '--by', 'label:zone', '-e', zoned, server=server).stdout, True, 'the rows of who has none')
	p = command('-q', '--for', '10s', '--hosts', 'b0', '-e', count, server=server)
	whole = subprocess.run([sonde, 'query', '-q', 'web.sonde', '-e', count], capture_output=True, text=True)
	equal((p.returncode, p.stdout), (0, whole.stdout), 'what one says of the recording')
	got = fleet('-q', '--for', '10s', '--hosts', 'b0', '-e', 'tracepoint:no:such { @ = count(); }', server=server)
	equal(got.split('\n')[-3:], ['0 of 1 host (1 refused: b0); T', '[3]', ''], 'a probe that the recording does not have')
	# the asker knows labels, too, and better
	with open('labels', 'w') as f:
		f.write('a0 zone=x\nc0 zone=b # it has none\na1\nb0\n')
	got = fleet('-q', '--for', '10s', '--hosts-file', 'labels', '--by', 'label:zone', '-f', 'json', '-e', 't:raw_syscalls:sys_enter { @ = count(); }', server=server)
	equal(got.split('\n')[0], '{"type": "map", "data": {"@": {"a": 20, "x": 20, "b": 40}}}', 'labels of the asker')
	for p in sims:
		end(p)
	server.kill()


def clocks():
	"""Clocks of hosts that differ are reported, and bound the skew."""
	if not shutil.which('cc'):
		return
	with open('ahead.c', 'w') as f: # for the agent alone, not for what it starts
		f.write('#define _GNU_SOURCE\n#include <stdlib.h>\n#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n'
			'__attribute__((constructor)) static void begin(void) { unsetenv("LD_PRELOAD"); }\n'
			'int clock_gettime(clockid_t id, struct timespec *t)\n{\n	long no = syscall(SYS_clock_gettime, id, t);\n'
			'	if (id == CLOCK_REALTIME)\n		t->tv_sec += 5000;\n	return (int)no;\n}\n')
	run('cc', '-shared', '-fPIC', '-o', 'ahead.so', 'ahead.c')
	server = Server()
	run_agent(server, 'right', '-q')
	run_agent(server, 'fast', '-q', LD_PRELOAD=tmp + '/ahead.so')
	await_agents(2, server)
	p = command('-q', '--for', '1s', '--hosts', 'fast,right', '-f', 'json', '-e', count, server=server)
	equal((p.returncode, re.sub(r'(4999|5001) s', '5000 s', p.stderr)), (0, 'WARNING: fast: its clock is 5000 s ahead of this machine\'s\n'), 'the warning')
	skew = json.loads(p.stdout.strip().split('\n')[-1])['skew_ns'] / 1e9
	equal(4990 < skew < 5000 + 100 * slow, True, 'the skew of %f s' % skew)
	server.kill()


def mistakes():
	"""Mistakes are reported before a host is asked."""
	server = Server()
	equal(fleet('--via', 'x {}', '-e', count, server=server), 'ERROR: --nats reaches hosts by their agents: --via, --sudo, --binaries, --cache '
	      'and --parallel do not apply\nUSAGE:\n    sonde fleet --hosts HOST,... [-e PROGRAM | SCRIPT | TOOL]\n[1]\n')
	equal(fleet('--at', '+24h', '-e', count, server=server), 'ERROR: no host was asked, because a question is valid for 24 hours, and --at is later\n[1]\n')
	equal(fleet('--at', '@5', '-e', count, server=server), 'ERROR: no host was asked, because the time of --at is over\n[1]\n')
	equal(fleet('--hosts', 'a..b', '-e', count, server=server), "ERROR: 'a..b' cannot be the name of an agent\n[1]\n")
	equal(fleet('--label', 'prod', '-e', count, server=server), "ERROR: --label needs KEY=VALUE (got 'prod')\n[1]\n")
	equal(fleet('--expect', '0', '-e', count, server=server).split('\n')[0], "ERROR: --expect needs a number from 1 to 10000 (got '0')")
	equal(fleet('stop', '123', server=server), "ERROR: '123' is no id of a question\n[1]\n")
	equal(fleet('stop', server=server), 'ERROR: stop needs the id of a question (sonde fleet list prints it), or --all\n[1]\n')
	server.kill()
	equal(fleet('-e', count, server=server), 'ERROR: connect to %s: No server available for connection\n[1]\n' % server.url)
	p = subprocess.run([sonde, 'fleet', 'list', '--nats', 'nats://ann:secret@127.0.0.1:1,tls://bob:x@127.0.0.1:2'], capture_output=True, text=True)
	equal(p.stderr, 'ERROR: connect to nats://127.0.0.1:1,tls://127.0.0.1:2: No server available for connection\n')
	nowhere = {'PATH': '/nowhere'}
	equal(fleet('-e', count, server=server, env=nowhere), 'ERROR: this needs the program sonde-agent, which is not installed (package sonde-agent)\n[1]\n')
	equal(fleet('list', server=server, env=nowhere), 'ERROR: this needs the program sonde-agent, which is not installed (package sonde-agent)\n[1]\n')
	for words, want in ((['--simulate', '2'], 'sonde-agent needs a configuration (-c /etc/sonde/fleet.conf), or a server: --nats URL'), (['--label', 'x', '--nats', 'x'], "--label needs KEY=VALUE of "
			     "letters, digits and ._-:@/%+ (got 'x')"), (['dance'], "unknown command 'dance'"),
			    (['--nats', 'nats://127.0.0.1:1'], 'without a configuration (-c /etc/sonde/fleet.conf), whatever anybody asks would run as root: '
			     '--any allows that'), (['--any', '--nats', 'nats://127.0.0.1:1', '--name', 'a b'], "'a b' cannot be the name of a host: --name sets another"), (['ask'],
			     'sonde-agent ask is started by sonde fleet')):
		p = subprocess.run([agent, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
		equal((p.returncode, p.stderr), (1, 'ERROR: %s\n' % want), str(words))


def pieces():
	"""Large answers are fetched in pieces, and are what was sent."""
	server = Server()
	for name in 'abc':
		run_agent(server, name, '-q', does='large')
	await_agents(3, server)
	run(sonde, 'query', '-q', 'web.sonde', '-f', 'answer', '-o', 'large.answer', '-e', 't:raw_syscalls:sys_enter { @x = @x + 1; '
	    '$x = (uint64)@x; for $i : 0..4000 { $x = $x * 6364136223846793005 + 1442695040888963407; printf("%llx%llx\\n", $x, $x ^ ($x >> 13)); } }')
	if os.path.getsize('large.answer') < 1000000:
		raise AssertionError('the answer has %d bytes only' % os.path.getsize('large.answer'))
	p = command('-q', '--for', '1s', '-o', 'fetched', '-e', 'begin { }', '--hosts', 'a,b,c', server=server)
	equal((p.returncode, p.stderr, p.stdout), (0, '', ''))
	for name in 'abc':
		shutil.copy('large.answer', name)
	run(sonde, 'merge', '-q', '-o', 'merged', 'a', 'b', 'c')
	with open('fetched') as f, open('merged') as g:
		equal(f.read() == g.read(), True, 'the merged answer')
	server.kill()


def joins():
	"""An agent that starts in mid-run is partial, with its time."""
	server = Server()
	run_agent(server, 'early', '-q', does='waits')
	await_agents(1, server)
	heard = Listener(server)
	asker = spawn(sonde, 'fleet', '--nats', server.url, '-q', '--for', '600s', '-f', 'json', '-e', count, stdout=subprocess.PIPE,
		      stderr=subprocess.DEVNULL, text=True)
	wait('the start', lambda: os.path.exists('early.began'))
	time.sleep(1.5)
	late = run_agent(server, 'late', '-q', does='waits')
	wait('the start of the late one', lambda: os.path.exists('late.began') and heard.count(TAKEN, 'late'))
	equal('ann@' in line_of('early', server), True, 'who asks')
	asker.send_signal(signal.SIGTERM)
	last = json.loads(asker.communicate()[0].strip().split('\n')[-1])
	equal((last['asked'], last['answered'], last['partial']), (2, 1, ['late']), 'who answered')
	since = float(re.match(r'it has traced since \+([0-9.]+) s only$', last['reasons']['late']).group(1))
	equal(1.5 <= since < 60 * slow, True, 'its time')
	end(late)
	server.kill()


def killed_server():
	"""The server is killed ten times in mid-run: the answer is the same."""
	server = Server()
	sims = simulate(server, 20, 'cpu{}.answer', 'cpu')
	ask = ['-q', '--hosts', 'cpu[0-19],big', '-f', 'json', '--wait', '60s', '-e', rows]
	run_agent(server, 'big', '-q', does='until')
	await_agents(21, server)
	for name in ('first', 'second'):
		for f in ('big.go', 'big.began'):
			if os.path.exists(f):
				os.unlink(f)
		listener = Listener(server)
		with open(name, 'w') as f:
			asker = spawn(sonde, 'fleet', '--nats', server.url, '--for', '10s', *ask, stdout=f, stderr=subprocess.STDOUT)
		wait('the start', lambda: os.path.exists('big.began') and len(listener.heard_of(TAKEN)) == 21)
		for _ in range(10 if name == 'second' else 0):
			server.kill()
			time.sleep(random.random() / 2)
			equal(server.start(), True, 'the port is free')
			time.sleep(random.random())
		open('big.go', 'w').close()
		equal(asker.wait(), 3, 'the status')
	with open('first') as f, open('second') as g:
		equal(untimed(g.read()), untimed(f.read()), 'the answer')
	end(sims)
	server.kill()


def killed_agents():
	"""Agents that are killed in mid-run are named; the others answer."""
	server = Server()
	agents = {'k%d' % i: run_agent(server, 'k%d' % i, '-q', does='waits') for i in range(8)}
	await_agents(8, server)
	listener = Listener(server)
	asker = spawn(sonde, 'fleet', '--nats', server.url, '-q', '--for', '600s', '--wait', '8s', '-f', 'json', '--expect', '8', '-e', count,
		      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
	for name in agents:
		wait(name, lambda: os.path.exists(name + '.began'))
	wait('each says that it traces', lambda: all(listener.count(TAKEN, 'k%d' % i) for i in range(8)))
	gone = sorted(random.sample(sorted(agents), 3))
	for name in gone:
		end(agents[name])
		wait('the end of its sonde', lambda: os.path.exists(name + '.ended'))
	before = listener.count(TAKEN, gone[0])
	again = run_agent(server, gone[0], '-q', does='waits')
	wait('another agent of its name', lambda: listener.count(TAKEN, gone[0]) > before)
	asker.send_signal(signal.SIGTERM)
	last = json.loads(asker.communicate()[0].strip().split('\n')[-1])
	equal((last['asked'], last['answered']), (8, 5), 'who answered')
	equal(sorted(last['late'] + last['partial']), gone, 'who did not')
	equal(last['partial'], gone[:1])
	equal(last['reasons'], {gone[0]: 'its agent was started again', gone[1]: 'it did not answer in time', gone[2]: 'it did not answer in time'})
	end(again)
	server.kill()


def killed_asker():
	"""Agents stop when the asker is gone: at once if sonde fleet is, after 15 seconds if nothing of it is left."""
	server = Server()
	for name in ('x', 'y'):
		run_agent(server, name, '-q', does='waits')
	await_agents(2, server)
	for whole_group in (False, True):
		for name in 'xy':
			for what in ('began', 'ended'):
				if os.path.exists('%s.%s' % (name, what)):
					os.unlink('%s.%s' % (name, what))
		asker = spawn(sonde, 'fleet', '--nats', server.url, '--for', '600s', '-e', count, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		wait('the start', lambda: os.path.exists('x.began') and os.path.exists('y.began'))
		child = subprocess.run(['ps', '-o', 'pid=', '--ppid', str(asker.pid)], capture_output=True, text=True).stdout.split()
		equal(len(child), 1, 'the number of its children')
		if whole_group:
			os.kill(int(child[0]), signal.SIGKILL)
		end(asker)
		began = time.time()
		wait('the end', lambda: os.path.exists('x.ended') and os.path.exists('y.ended'), 17 if whole_group else 10)
		took = time.time() - began
		if whole_group and took < 10:
			raise AssertionError('it stopped after %.1f s already' % took)
	server.kill()


def stops():
	"""fleet stop ends one question, or all; a host runs four at most."""
	server = Server()
	run_agent(server, 'h', '-q', does='waits')
	await_agents(1, server)
	askers = []
	for i in range(4):
		askers.append(spawn(sonde, 'fleet', '--nats', server.url, '-q', '--for', '600s', '-e', count, stdout=subprocess.PIPE, text=True))
		wait('question %d' % i, lambda: line_of('h', server).count('ann@') == i + 1)
	got = fleet('--for', '5s', '-e', count, server=server)
	equal(got, 'WARNING: h: refused: 4 questions are running already, which is as many as this host allows\n'
	      '0 of 1 host (1 refused: h); T\n[3]\n')
	ids = re.findall(r'[0-9a-f]{32}', line_of('h', server))
	equal(fleet('stop', ids[0], '--wait', '3s', server=server), 'stopped on 1 host\n')
	wait('the end of one', lambda: sum(a.poll() is not None for a in askers) == 1)
	equal(len(re.findall(r'[0-9a-f]{32}', line_of('h', server))), 3)
	equal(fleet('stop', ids[0], '--wait', '3s', server=server), 'stopped on 0 hosts\n')
	equal(fleet('stop', '--all', '--wait', '3s', server=server), 'stopped on 1 host\n')
	for a in askers:
		equal(a.communicate()[0], whole(1) + '@last[worker]: 1\n@last[cat]: 257\n')
	server.kill()


def many():
	"""Many agents answer at the same time."""
	server = Server()
	n = agents_at_most
	sims = simulate(server, n, 'web.answer')
	await_agents(n, server)
	p = command('-q', '--for', '1s', '--expect', str(n), '-f', 'json', '-e', count, server=server)
	last = json.loads(p.stdout.strip().split('\n')[-1])
	equal((p.returncode, last['answered']), (0, n), 'who answered')
	equal('{"type": "map", "data": {"@": {"cat": %d, "worker": %d}}}' % (10 * n, 10 * n) in p.stdout, True, 'the sum')
	print('# %d agents: %.1f s after the end' % (n, last['took_ns'] / 1e9 - 1))
	end(sims)
	server.kill()


def traces():
	"""An agent traces this machine, as root."""
	if os.getuid():
		return
	server = Server()
	run_agent(server, 'real', '-q', '--label', 'zone=z', '--label', 'role=db', program='')
	await_agents(1, server)
	equal(fleet('--for', '20s', '-e', 'begin { @ = count(); printf("%d\\n", 7); exit(); }', server=server), '7\n\n\n@: 1\n1 of 1 host; T\n')
	equal(fleet('--for', '20s', '-e', 'begin { printf("%s\\n", str($1)); exit(); }', 'x', server=server), 'x\n\n\n1 of 1 host; T\n')
	equal(fleet('--for', '20s', '--by', 'label:zone', '-e', 'begin { @ = count(); exit(); }', server=server), '\n\n@[z]: 1\n1 of 1 host; T\n')
	equal(re.sub('; (start|real: )[^\n]*', '', fleet('--at', '+2s', '--for', '20s', '-e', 'begin { printf("at\\n"); exit(); }', server=server)), 'at\n\n\n1 of 1 host; T\n')
	got = fleet('--for', '20s', '-e', 'begin { exit(); }', 'x', '-o', tmp + '/evil', server=server)
	equal(got.split('\n')[0], 'real: ERROR: who asks an agent chooses no options of sonde behind the script')
	equal(os.path.exists('evil'), False, 'a file of the asker')
	got = fleet('--for', '20s', '-e', 'begin { nothing(); }', server=server)
	equal(got.split('\n')[-3:], ['0 of 1 host (1 refused: real); T', '[3]', ''])
	server.kill()


def hostile():
	"""Whoever sends nonsense to agents and to the asker changes no answer of others."""
	server = Server()
	for name in ('m', 'n'):
		run_agent(server, name, '-q', does='until')
	await_agents(2, server)
	asker = spawn(sonde, 'fleet', '--nats', server.url, '-q', '--hosts', 'm,n', '--for', '600s', '-f', 'json', '-e', count,
		      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
	with socket.create_connection(('127.0.0.1', server.port)) as s:
		s.sendall(b'CONNECT {"verbose": false}\r\nSUB > 1\r\nPING\r\n')
		stream, heard = s.makefile('rb'), []
		wait('the start', lambda: os.path.exists('m.began') and os.path.exists('n.began'))
		while len(heard) < 3: # a beat, or what agents say
			line = stream.readline()
			if line.startswith(b'MSG '):
				words = line.split()
				heard.append((words[1], stream.read(int(words[-1]) + 2)[:-2]))
		chance = random.Random(7)
		inbox = [subject for subject, _ in heard if subject.startswith(b'_INBOX')]
		for i in range(20000):
			subject = chance.choice([b'sonde.run.all', b'sonde.run.host.m', *inbox])
			data = bytearray(chance.choice(heard)[1])
			if subject in inbox or i % 9 == 0: # a whole one could be another agent of that name
				data = data[:chance.randrange(len(data))]
			for _ in range(chance.randrange(1, 4)):
				data[8:9] = bytes([chance.randrange(16)]) if i % 5 == 0 else data[8:9]
				if data:
					data[chance.randrange(len(data))] = chance.randrange(256)
			if data[8:9] not in (b'\4', b'\5'): # GOT and STOP may end it
				s.sendall(b'PUB %s %d\r\n%s\r\n' % (subject, len(data), bytes(data)))
		s.sendall(b'PING\r\n')
		while stream.readline() != b'PONG\r\n':
			pass
	await_agents(2, server)
	open('m.go', 'w').close()
	open('n.go', 'w').close()
	last = json.loads(asker.communicate()[0].strip().split('\n')[-1])
	equal((last['asked'], last['answered']), (2, 2), 'who answered')
	server.kill()


cases = [killed_asker, killed_server, killed_agents, forty_are_one, joins, failures, stops, begin_together, labels, by_label, clocks, mistakes, pieces,
	 many, hostile, traces]
need('nats-server')
make_answers()
run_cases(cases, lanes=4)
