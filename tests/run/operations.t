# What happens on machines: see docs/operations.md.

NAME operations: killed with -9 at any moment
RUN
	build/tests/spin 200000 20000 & q=$!
	# From before the first map to after the first rows: a start takes some 0.3 s.
	for t in $(awk -v n=${TEST_FULL:-20} 'BEGIN { srand(); while (n-- > 0) print rand() * (n % 4 ? 0.4 : 1.5) }'); do
		"$SONDE" -e 'uprobe:build/tests/spin:busy { @kill9_o = count(); } uretprobe:build/tests/spin:busy { @kill9_o[1] = 1; } tracepoint:syscalls:sys_enter_getppid, rawtracepoint:sched_switch { @kill9_p[kstack, ustack] = count(); } interval:ms:100 { print(@kill9_p); }' >/dev/null 2>&1 & s=$!
		sleep $t
		kill -9 $s
		wait $s 2>/dev/null
	done
	gone() { ! bpftool map | grep -q kill9_; }
	eventually gone && echo gone
	grep -c sonde_ /sys/kernel/tracing/uprobe_events
	kill -0 $q && echo 'the traced process lives'
	kill $q
NEEDS cmd:bpftool uprobe prog:spin
TIMEOUT 60
EXPECT
	gone
	0
	the traced process lives

NAME operations: two tracers of one thing see all of it
RUN
	for n in 1 2; do
		"$SONDE" -e 'uprobe:build/tests/calls:target { @ = count(); }' >$TMPDIR/$n 2>$TMPDIR/e$n & eval p$n=$!
		until_attached $TMPDIR/e$n
	done
	build/tests/calls 123
	kill $p1
	wait $p1
	build/tests/calls 77
	kill $p2
	wait $p2
	cat $TMPDIR/1 $TMPDIR/2 | grep @
NEEDS uprobe prog:calls
EXPECT
	@: 123
	@: 200

NAME operations: many short processes are counted one by one
LOAD run /bin/sh -c 'i=0; while [ $((i += 1)) -le 300 ]; do /bin/true; done'
ARGS -q --follow
PROG tracepoint:sched:sched_process_exec /comm == "true"/ { @ = count(); }
TIMEOUT 30
EXPECT
	$
	$
	@: 300

NAME operations: very many short processes, each with a stack
RUN
	n=$((${TEST_FULL:-5} * 500))
	BPFTRACE_MAX_MAP_KEYS=200000 "$SONDE" -q -e 'tracepoint:syscalls:sys_enter_getppid /comm == "many"/ { @n = count(); @[ustack(1)] = count(); }' >$TMPDIR/out 2>$TMPDIR/err & s=$!
	until grep -q 'Seccomp:.2' /proc/$s/status; do sleep 0.1; done
	build/tests/many processes $n
	fds=$(ls /proc/$s/fd | wc -l) kib=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$s/status)
	kill $s
	wait $s
	awk '/^@n: / { all = $2 } /^]: / { n += $2 } / skipped by the kernel/ { skipped += $3 } END { print (n == all && n <= '$n' && n + skipped >= '$n') ? "all of them" : n " " all " " skipped }' $TMPDIR/out $TMPDIR/err
	[ $fds -lt 300 ] && [ $kib -lt 200000 ] || echo $fds descriptors, $kib KiB
	! grep -v ' skipped by the kernel' $TMPDIR/err
NEEDS slow prog:many tp:syscalls/sys_enter_getppid feature:CONFINE
ALONE
TIMEOUT 60
EXPECT
	all of them

NAME operations: very many threads
RUN
	n=$((${TEST_FULL:-5} * 50))
	"$SONDE" -q -c "build/tests/many threads $n" -e 'uprobe:build/tests/many:once { printf("%d once\n", tid); }' >$TMPDIR/out 2>$TMPDIR/err
	[ $(grep -c once $TMPDIR/out) = $n ] && echo each is seen
	sort -u $TMPDIR/out | grep -c once | grep -qx $n && echo once
	cat $TMPDIR/err
NEEDS prog:many uprobe
TIMEOUT 60
EXPECT
	each is seen
	once

NAME operations: a step of the clock is none of intervals and durations
RUN
	"$SONDE" -q -e 'begin { @from = nsecs; }
		interval:ms:100 { @n++; if (@n == 20) { $ms = (nsecs - @from) / 1000000; printf("%d\n", $ms > 1500 && $ms < 1000000); exit(); } }
		end { clear(@n); clear(@from); }' >$TMPDIR/out 2>$TMPDIR/err & s=$!
	until grep -q 'Seccomp:.2' /proc/$s/status; do sleep 0.1; done
	now=$(date +%s)
	date -s @$((now + 7200)) >/dev/null
	sleep 1
	date -s @$((now + 1)) >/dev/null
	wait $s
	grep . $TMPDIR/out $TMPDIR/err
NEEDS vm feature:CONFINE
ALONE
TIMEOUT 60
EXPECT_RE
	.*/out:1

NAME operations: headers that others planted in /tmp are not read
RUN
	d=/tmp/kheaders-$(uname -r)
	[ -e $d ] || { mkdir -p $d/include/linux && echo '#error planted' >$d/include/linux/sched.h && trap "rm -r $d" EXIT
	}
	cd $TMPDIR && mkdir linux && echo '#error planted here' >linux/sched.h && "$SONDE" -q -e '#include <linux/sched.h>
	begin { print(curtask->pid == pid); exit(); }' | grep .
NEEDS btf
EXPECT true

NAME operations: a mapped file that is cut short does not end the tracer: the signal is caught
RUN "$SONDE" -e 'interval:s:9 { }' >$TMPDIR/out 2>&1 & s=$!; until_attached $TMPDIR/out; echo $((0x$(sed -n 's/^SigCgt:.//p' /proc/$s/status) >> 6 & 1)); kill $s; wait $s
EXPECT 1

NAME a service manager hears that all is attached, that the trace lives, and that it ends
RUN
	cat >$TMPDIR/manager.py <<'END'
	import os, signal, socket, subprocess
	def run(name, **env):
	    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	    s.bind(name.replace("@", "\0", 1))
	    s.settimeout(60)
	    p = subprocess.Popen([os.environ["SONDE"], "-q", "-e", "interval:s:1000 { }"],
	                         env=dict(os.environ, NOTIFY_SOCKET=name, **env), stdout=subprocess.DEVNULL)
	    got = ""
	    hear = lambda: s.recv(4096).decode()
	    while "READY" not in got or ("WATCHDOG_USEC" in env and "PID" not in "".join(env) and got.count("WATCHDOG") < 3):
	        got += hear()
	    p.send_signal(signal.SIGINT)
	    while "STOPPING" not in got:
	        got += hear()
	    print(p.wait(), sorted(set(got.splitlines())))
	run(os.environ["TMPDIR"] + "/socket")
	run("@sonde-test-%d" % os.getpid(), WATCHDOG_USEC="20000")
	run("@sonde-test-%d-other" % os.getpid(), WATCHDOG_USEC="20000", WATCHDOG_PID="1")
	END
	python3 $TMPDIR/manager.py
	NOTIFY_SOCKET=/nonexistent "$SONDE" -q -e 'begin { print(1); exit() }' 2>&1 | grep .
	NOTIFY_SOCKET=nonsense "$SONDE" -q -e 'begin { print(2); exit() }' 2>&1 | grep .
NEEDS cmd:python3
EXPECT
	0 ['READY=1', 'STATUS=Attached 1 probe', 'STOPPING=1']
	0 ['READY=1', 'STATUS=Attached 1 probe', 'STOPPING=1', 'WATCHDOG=1']
	0 ['READY=1', 'STATUS=Attached 1 probe', 'STOPPING=1']
	WARNING: NOTIFY_SOCKET: connect to /nonexistent: No such file or directory
	1
	WARNING: NOTIFY_SOCKET: 'nonsense' is no name of a socket
	2

NAME operations: a CPU that goes offline and comes back
RUN
	"$SONDE" -q -e 'BEGIN { printf("begun\n"); } profile:hz:20 { @[cpu] = count(); } END { printf("%d %d\n", @[0] > 10, @[1] > 0); clear(@); }' >$TMPDIR/out 2>$TMPDIR/err & s=$!
	until grep -q begun $TMPDIR/out; do sleep 0.1; done
	sleep 1
	echo 0 >/sys/devices/system/cpu/cpu1/online
	sleep 2
	echo 1 >/sys/devices/system/cpu/cpu1/online
	sleep 1
	kill -INT $s
	wait $s
	cat $TMPDIR/out
	sed 's/[0-9.]* s were/N s were/' $TMPDIR/err
NEEDS vm file:/sys/devices/system/cpu/cpu1/online
ALONE
TIMEOUT 30
EXPECT
	begun
	1 1
	$
	$
	WARNING: profile:hz:20: CPU 1 went offline, and its last N s were not seen, also when it came back
