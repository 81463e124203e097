NAME profile
PROG profile:hz:99 /pid == cpid/ { @[comm] = count(); }
LOAD spin 400
EXPECT_RE
	$
	$
	...
	@\[spin\]: [1-9][0-9]*

NAME profile alias and milliseconds
PROG p:ms:10 /pid == cpid/ { @ = count(); }
LOAD spin 300
EXPECT_RE
	$
	$
	@: [1-9][0-9]*

NAME profile in microseconds
PROG profile:us:5000 /pid == cpid/ { @ = count(); }
LOAD spin 300
EXPECT_RE
	$
	$
	@: [1-9][0-9]*

NAME profile runs on every processor
RUN
	# busy ones: kernels may take no samples of a processor that is idle
	spins=
	for c in $(seq 0 $(($(nproc) - 1))); do taskset -c "$c" build/tests/spin 60000 & spins="$spins $!"; done
	"$SONDE" -q -e 'profile:hz:199 /comm == "spin"/ { @[cpu] = count(); } interval:ms:10 { if (len(@) == $1) { printf("all\n"); exit(); } } END { clear(@); }' "$(nproc)"
	kill $spins
NEEDS sym:bpf_for_each_map_elem cmd:taskset cmd:seq prog:spin
TIMEOUT 30
EXPECT
	all
	$
	$

NAME profile of kernel stacks
NEEDS sym:bpf_for_each_map_elem
PROG profile:hz:999 { @[kstack] = count(); } interval:ms:100 { if (len(@) > 0) { printf("stacks\n"); exit(); } } END { clear(@); }
EXPECT
	stacks
	$
	$

NAME profile of user stacks
PROG profile:hz:199 /pid == cpid/ { @[ustack(1)] = count(); }
LOAD spin 500 300
EXPECT_RE
	$
	$
	...
	        busy\+[0-9]+
	\]: [0-9]+
	...

NAME software page faults
PROG software:page-faults:1 /pid == cpid/ { @ = count(); }
LOAD faults 1000
EXPECT_RE
	$
	$
	@: 1[0-9][0-9][0-9]

NAME software alias
PROG s:faults:1 /pid == cpid/ { @ = count(); }
LOAD faults 1000
EXPECT_RE
	$
	$
	@: 1[0-9][0-9][0-9]

NAME software context switches
PROG software:cs:1 /pid == cpid/ { @ = count(); }
LOAD syscalls 50 nanosleep
EXPECT_RE
	$
	$
	@: [1-9][0-9]*

NAME software cpu clock
PROG software:cpu-clock:1000000 /pid == cpid/ { @ = count(); }
LOAD spin 300
EXPECT_RE
	$
	$
	@: [1-9][0-9]*

NAME hardware cycles
PROG hardware:cycles:1000000 /pid == cpid/ { @ = count(); }
LOAD spin 200
NEEDS hardware
EXPECT_RE
	$
	$
	@: [1-9][0-9]*

NAME interval and profile together
PROG profile:hz:99 /pid == cpid/ { @n = count(); } interval:ms:500 { printf("interval\n"); exit(); }
LOAD spin 5000
EXPECT_RE
	interval
	$
	$
	(@n: [0-9]+)?

NAME a PMU that is not there
PROG hardware:nosuch/event=1/ { }
RC 1
ERR_RE
	stdin:1:1-[0-9]+: ERROR: this machine has no PMU 'nosuch' \(there are: .*software.*\)
	...

NAME a term that is not there
PROG hardware:"software/event=1/" { }
NEEDS file:/sys/bus/event_source/devices/software/type
RC 1
ERR_RE
	stdin:1:1-[0-9]+: ERROR: PMU software has no term 'event' \(there are: none\)
	...

NAME context switches one by one: the scheduler's tracepoint sees what the perf event sees
NEEDS prog:turns
RUN
	"$SONDE" -e 'software:cs:1 /comm == "turns"/ { @raw = count(); }
		software:cs:1 /comm == "turns" && reg("ip") != 1/ { @event = count(); }
		tracepoint:sched:sched_switch /comm == "turns"/ { @trace = count(); }' >$TMPDIR/out 2>$TMPDIR/err & p=$!
	until_attached $TMPDIR/err
	build/tests/turns 20 >/dev/null
	kill -INT $p && wait $p
	awk '/^@/ { v[$1] = $2 } END { print (v["@raw:"] == v["@event:"] && v["@raw:"] == v["@trace:"] && v["@raw:"] > 0) }' $TMPDIR/out
	"$SONDE" -q -e 'software:cs:1 { @[pid == cpid] = 1; }' -c 'sleep 0.1' | grep .
EXPECT
	1
	@[true]: 1
