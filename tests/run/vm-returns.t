# A call in progress holds one of the places of a return probe. What has none is not seen: it must be
# told, so that what is seen and what is told are all calls.

NAME many calls in progress
ALONE
PROG kretprobe:__ARCH_sys_rt_sigtimedwait { @ = count(); }
LOAD waiters 30 10
NEEDS vm kprobe
EXPECT
	$
	$
	@: 40
ERR
	Attached 1 probe

NAME more calls in progress than places
ALONE
RUN
	BPFTRACE_KRETPROBE_MAXACTIVE=4 "$SONDE" -q -c 'build/tests/waiters 10 5' -e 'kretprobe:__ARCH_sys_rt_sigtimedwait { @ = count(); }' >"$TMPDIR/o" 2>"$TMPDIR/e"
	seen=$(sed -n 's/^@: //p' "$TMPDIR/o")
	missed=$(sed -n 's/.*rt_sigtimedwait: \([0-9]*\) returns* w.* not seen because too many calls were in progress; allow more: BPFTRACE_KRETPROBE_MAXACTIVE=4096$/\1/p' "$TMPDIR/e")
	echo $((seen + ${missed:-0}))
	[ -z "$missed" ] || echo "seen $seen" >&2
NEEDS vm kprobe
EXPECT
	15
ERR_RE
	...

NAME missed returns as JSON
ALONE
RUN BPFTRACE_KRETPROBE_MAXACTIVE=4 "$SONDE" -q -f json -c 'build/tests/waiters 10 5' -e 'kretprobe:__ARCH_sys_rt_sigtimedwait { @ = count(); $k = kstack(1); }' | grep missed
NEEDS vm kprobe
EXPECT
	{"type": "missed_returns", "data": {"probe": "kretprobe:__ARCH_sys_rt_sigtimedwait", "returns": 11}}

NAME returns of several functions
ALONE
PROG kretprobe:__ARCH_sys_rt_sigt* { @[func] = count(); }
LOAD waiters 20 5
NEEDS vm kprobe
EXPECT
	$
	$
	@[__ARCH_sys_rt_sigtimedwait]: 25
ERR
	Attached 2 probes

NAME returns of many functions
ALONE
PROG kretprobe:__ARCH_sys_s* /func == kaddr("__ARCH_sys_sched_yield") || comm == "waiters"/ { @[comm] = count(); }
LOAD waiters 20 5
NEEDS vm kprobe
TIMEOUT 30
EXPECT_RE
	...
	@\[waiters\]: [0-9]+

NAME nothing is left in tracefs
ALONE
RUN
	f=/sys/kernel/tracing/kprobe_events
	"$SONDE" -q -e 'kretprobe:vfs_read { @ = count(); $k = kstack(1); }' >/dev/null & p=$!
	i=0
	while [ -z "$(cat $f)" ] && [ $i -lt 50 ]
	do sleep 0.1
	i=$((i + 1))
	done
	sed 's/_[0-9]*_[0-9]*_0/_PID_GUARD_0/' $f
	kill -9 $p
	i=0
	while [ "$(cat $f)" ] && [ $i -lt 50 ]
	do sleep 0.1
	i=$((i + 1))
	done
	cat $f
NEEDS vm kprobe
EXPECT
	r4096:sonde/sonde_PID_GUARD_0 vfs_read

NAME what a killed process left is swept
ALONE
RUN
	f=/sys/kernel/tracing/kprobe_events
	echo 'r16:sonde/sonde_32700_0 vfs_read' >>$f
	echo 'r16:other/sonde_32700_0 vfs_read' >>$f
	"$SONDE" -q -e 'kretprobe:vfs_write { $k = kstack(1); } begin { exit() } interval:ms:10 { exit() }'
	cat $f
	echo '-:other/sonde_32700_0' >>$f
NEEDS vm kprobe
EXPECT
	$
	$
	r16:other/sonde_32700_0 vfs_read

NAME limits of kretprobe_maxactive
PROG config = { kretprobe_maxactive = 5000 } BEGIN { exit() }
RC 2
EXPECT
ERR_RE
	.*kretprobe_maxactive: 5000 is not between 1 and 4096
	...
