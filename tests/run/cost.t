# What tracing costs, and its limits.

NAME --cost counts each run
ARGS -q --cost
LOAD calls 250
PROG uprobe:build/tests/calls:target { @ = count(); }
EXPECT_RE $
	$
	@: 250
ERR_RE Cost: [0-9.]+ s traced, [0-9.e-]+ % of this machine's processor time \([0-9]+ CPUs?\)
	    uprobe:build/tests/calls:target: 250 runs, [0-9]+ ns each, [0-9.]+ ms
	    sonde itself: [0-9.]+ ms while tracing, [0-9.]+ ms before

NAME --cost as JSON: one record, the dearest probe first
RUN
	"$SONDE" -q --cost -f json -c 'build/tests/calls 100' -e 'uprobe:build/tests/calls:target { @[ustack, arg0] = count(); clear(@); }
		uretprobe:build/tests/calls:add6 { }' | sed -n '/"cost"/s/\([_"]ns\|cpus\)": [0-9][0-9]*/\1": N/gp' 
EXPECT {"type": "cost", "data": {"traced_ns": N, "cpus": N, "programs_ns": N, "own_ns": N, "start_ns": N, "probes": [{"probe": "uprobe:build/tests/calls:target", "runs": 100, "ns": N}, {"probe": "uretprobe:build/tests/calls:add6", "runs": 100, "ns": N}]}}

NAME a trace that costs more than its budget is stopped, and says where it went
RUN
	"$SONDE" -q --budget 0.0001% -c 'build/tests/spin 60000' -e 'uprobe:build/tests/spin:busy { @ = 1; }
		interval:s:50 { print("late"); } end { print("end"); }' 2>$TMPDIR/err
	echo $?
	sed 's/[0-9][0-9.e-]*/N/g' $TMPDIR/err
	"$SONDE" -q --budget 0.0001% -f json -c 'build/tests/spin 60000' -e 'uprobe:build/tests/spin:busy { }' |
		sed 's/[1-9][0-9]*/N/'
TIMEOUT 30
EXPECT end
	$
	$
	@: 1
	1
	WARNING: stopped: tracing took N % of this machine's processor time in the last second, and --budget allows N %; N ms in programs, most of it in uprobe:build/tests/spin:busy, N ms in sonde itself
	{"type": "over_budget", "data": {"millionths": N}}

NAME a trace below its budget is not
ARGS -q --budget 100%
PROG interval:ms:1300 { print("on time"); exit(); }
EXPECT on time
	$
	$

NAME --for ends the trace as exit() does
ARGS -q --for 50ms
PROG interval:s:8 { print("late"); } end { print("end"); @ = 1; }
EXPECT end
	$
	$
	@: 1

NAME --for is at the latest
ARGS -q --for 1h
PROG interval:ms:10 { print("early"); exit(); }
EXPECT early
	$
	$

NAME nothing is measured that nobody asked for
RUN
	"$SONDE" -e 'interval:ms:100 { @ = 1; } tracepoint:sched:sched_switch { @n = count(); }' >$TMPDIR/out 2>&1 & s=$!
	until_attached $TMPDIR/out
	cat /proc/sys/kernel/bpf_stats_enabled
	ls -l /proc/$s/fd | grep -c bpf-stats
	kill $s
	wait $s
	"$SONDE" --cost -e 'interval:ms:100 { @ = 1; }' >$TMPDIR/out2 2>&1 & s=$!
	until_attached $TMPDIR/out2
	ls -l /proc/$s/fd | grep -c bpf-stats
	kill $s
	wait $s
EXPECT 0
	0
	1

NAME --at: nothing runs before that time, and elapsed counts from it
RUN
	at=$(($(date +%s) + 4))
	"$SONDE" -q --at @$at.25 -e 'begin { @ok = nsecs(sw_tai) > 0 && elapsed < 3000000000; printf("%s", strftime("%s", nsecs)); } interval:ms:1 { exit(); }' >$TMPDIR/out 2>&1
	[ "$(head -n 1 $TMPDIR/out)" -ge $at ] && echo not before
	grep @ok $TMPDIR/out
	"$SONDE" -q --at @2 -e 'begin { exit(); }' 2>&1 >/dev/null | sed 's/begins [0-9.]* s/begins N s/'
	for v in 25:00 00:00 14:5 14:30:60 +3 +0s @ @1.x @1.0123456789 1 ''; do "$SONDE" --at "$v" -e 'begin { }' 2>&1 | head -n 1; done
EXPECT
	not before
	@ok: true
	WARNING: --at: tracing begins N s late, because the programs were not loaded before
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '25:00')
	ERROR: --at 00:00: that time has passed today
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '14:5')
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '14:30:60')
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '+3')
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '+0s')
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '@')
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '@1.x')
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '@1.0123456789')
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '1')
	ERROR: --at needs a time, as in +3s, 14:30, 14:30:05 or @SECONDS since 1970 (got '')

NAME --at: a signal ends the wait
RUN
	"$SONDE" -q --at +1000s -e 'begin { printf("began"); }' >$TMPDIR/out 2>&1 & pid=$!
	eventually grep -qs '^SigBlk:.*[1-9a-f]' /proc/$pid/status
	kill -TERM $pid; wait $pid; echo $?; cat $TMPDIR/out
EXPECT
	255
	ERROR: stopped before the time of --at
