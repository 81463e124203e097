# What happens on machines: see docs/operations.md.

NAME operations: killed with -9 at any moment of the start
RUN
	build/tests/spin 20000 20000 & q=$!
	for i in 0 1 2 3 4 5 6 7 8 9 10 12 14 16 18 20 24 28 32 40; do
		"$SONDE" -e 'uprobe:build/tests/spin:busy { @kill9_o = count(); } uretprobe:build/tests/spin:busy { @kill9_o[1] = 1; } tracepoint:syscalls:sys_enter_getppid, rawtracepoint:sched_switch { @kill9_p[kstack] = count(); }' >/dev/null 2>&1 & s=$!
		sleep 0.0$((i / 10))$((i % 10))
		kill -9 $s
		wait $s 2>/dev/null
	done
	gone() { ! bpftool map | grep -q kill9_; }
	eventually gone && echo gone
	grep -c sonde_ /sys/kernel/tracing/uprobe_events
	kill -0 $q && echo 'the traced process lives'
	kill $q
NEEDS cmd:bpftool uprobe prog:spin
TIMEOUT 30
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

NAME operations: headers that others planted in /tmp are not read
RUN d=/tmp/kheaders-$(uname -r); [ -e $d ] || { mkdir -p $d/include/linux && echo '#error planted' >$d/include/linux/sched.h && trap "rm -r $d" EXIT; }; cd $TMPDIR && mkdir linux && echo '#error planted here' >linux/sched.h && "$SONDE" -q -e '#include <linux/sched.h>
	begin { print(curtask->pid == pid); exit(); }' | grep .
NEEDS btf
EXPECT true

NAME operations: a mapped file that is cut short does not end the tracer: the signal is caught
RUN "$SONDE" -e 'interval:s:9 { }' >$TMPDIR/out 2>&1 & s=$!; until_attached $TMPDIR/out; echo $((0x$(sed -n 's/^SigCgt:.//p' /proc/$s/status) >> 6 & 1)); kill $s; wait $s
EXPECT 1
