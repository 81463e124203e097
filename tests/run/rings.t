# Records of several processors, through rings of our own and through the BPF ring buffer. A program that
# is preempted makes the kernel skip runs on its processor, so a few events may be missing.

NAME rings: events of two processors come in order
RUN
	"$SONDE" -q -c 'build/tests/turns 1500' -e 'tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { printf("%d %d\n", args.offset, cpu); }' |
		awk 'NF { n++; if ($1 <= last) bad++; last = $1; cpu[$2] = 1 } END { for (c in cpu) ncpu++; print (n > 1400), bad + 0, (ncpu == '$(nproc)' || ncpu == 2) }'
TIMEOUT 20
EXPECT
	1 0 1

NAME rings: events of two processors come in order: BPF ring buffer
RUN
	"$SONDE" --no-feature rings -q -c 'build/tests/turns 1500' -e 'tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { printf("%d %d\n", args.offset, cpu); }' |
		awk 'NF { n++; if ($1 <= last) bad++; last = $1; cpu[$2] = 1 } END { for (c in cpu) ncpu++; print (n > 1400), bad + 0, (ncpu == '$(nproc)' || ncpu == 2) }'
TIMEOUT 20
NEEDS slow
EXPECT
	1 0 1

NAME rings: entry and return in order, on every processor
RUN
	"$SONDE" -q -c 'build/tests/turns 1000' -e 'tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { printf("> %d\n", args.offset); @at[tid] = args.offset; }
		tracepoint:syscalls:sys_exit_lseek /pid == cpid/ { printf("< %d %s\n", @at[tid], comm); } END { clear(@at); }' |
		awk 'NF { n++; at = 2 * $2 + ($1 == "<"); if (at <= last) bad++; last = at } END { print (n > 1900), bad + 0 }'
TIMEOUT 20
EXPECT
	1 0

NAME rings: two processors at once, printed and lost events add up
RUN
	for o in "" "--no-feature rings" "--no-feature rings,ringbuf"
	do BPFTRACE_PERF_RB_PAGES=1 "$SONDE" $o -q -c 'build/tests/turns 50000 at-once' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("event %d\n", tid); }' >"$TMPDIR/o" 2>"$TMPDIR/e"
	awk -v printed="$(grep -c '^event' "$TMPDIR/o")" '/[Ll]ost/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/ && $i > lost) lost = $i } END { if (printed + lost == 100000) print "exact"; else print printed, "printed,", lost + 0, "lost" }' "$TMPDIR/e"
	done
ALONE
TIMEOUT 60
EXPECT
	exact
	exact
	exact

NAME rings: programs that interrupt each other, with room and without
RUN
	for n in 512 1
	do BPFTRACE_PERF_RB_PAGES=$n "$SONDE" -q -c 'build/tests/burst 500000' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("call %d %s\n", pid, comm); @c = count(); }
		profile:hz:4999 /pid == cpid/ { printf("clock %s\n", comm); @p = count(); }' >"$TMPDIR/o" 2>"$TMPDIR/e"
	awk '/[Ll]ost/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/ && $i > lost) lost = $i } /^call [0-9]+ burst$/ { n++ } /^clock / { p++ } /^@c/ { c = $2 } /^@p/ { q = $2 } END { if (n + p + lost == c + q && c == 500000 && p) print "exact"; else print n, p, "printed,", lost + 0, "lost,", c, q, "counted" }' "$TMPDIR/e" "$TMPDIR/o"
	done
ALONE
TIMEOUT 60
EXPECT
	exact
	exact

NAME rings: texts of all lengths from two processors and a clock
RUN
	for n in 1 256
	do BPFTRACE_PERF_RB_PAGES=$n "$SONDE" -q -c 'build/tests/turns 40000 at-once' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @i[tid]++; printf("A %d %s\n", tid, str("abcdefghijklmnopqrstuvwxyz0123456789", @i[tid] % 36 + 1)); @c = count(); }
		software:cpu-clock:50000 /pid == cpid/ { printf("B %s %s Z\n", comm, str(curtask.comm)); @q = count(); }
		END { clear(@i); }' >"$TMPDIR/o" 2>"$TMPDIR/e"
	awk '/[Ll]ost/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/ && $i > lost) lost = $i; next } /^A / { n++; if (NF > 3 || (NF == 3 && index("abcdefghijklmnopqrstuvwxyz0123456789", $3) != 1)) bad++ } /^B .* Z$/ { n++ } /^@/ { c += $2 } END { if (n + lost == c && c > 80000 && !bad) print "exact"; else print n, "printed,", lost + 0, "lost,", c, "counted,", bad + 0, "bad" }' "$TMPDIR/e" "$TMPDIR/o"
	done
ALONE
TIMEOUT 60
EXPECT
	exact
	exact

NAME rings: texts that may be as long as the ring
RUN
	for n in 1 2 64
	do BPFTRACE_PERF_RB_PAGES=$n "$SONDE" -q -c 'build/tests/open /no/such/file' -e 'tracepoint:syscalls:sys_enter_openat /pid == cpid && str(args.filename) == "/no/such/file"/ { printf("%d %s %s\n", 1, comm, str(args.filename)); exit(); }' |
		head -1
	done
EXPECT
	1 open /no/such/file
	1 open /no/such/file
	1 open /no/such/file

NAME rings: a record longer than the ring is lost, and counted
ENV BPFTRACE_PERF_RB_PAGES=1 BPFTRACE_MAX_STRLEN=8192
PROG interval:ms:10 /!@done/ { @done = 1; printf("%r\n", buf(curtask, 6000)); printf("next\n"); exit(); } end { clear(@done); }
ARGS -q
EXPECT
	next
	$
	$
ERR_RE
	...
	.*Total lost event count: 1
	...

NAME rings: what a record looks at first is looked at again behind it
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%s\n", comm); print(curtask.pid == tid); }
ARGS -q
LOAD syscalls 1
EXPECT
	syscalls
	true
	$
	$

NAME rings: texts that turn out shorter, one behind the other
PROG tracepoint:syscalls:sys_enter_execve /pid == cpid && args.argv[1] == 8/ { join(args.argv, "0123456789abcdef"); printf("%d\n", @n++); printf("%s\n", str(args.argv[0], @n)); } END { clear(@n); }
ARGS -q
LOAD syscalls 3 execve
EXPECT
	one
	0
	$
	one
	1
	o
	one
	2
	on
	$
	$

NAME rings: a loop too long for the verifier with them does without
RUN "$SONDE" -q -e 'interval:ms:1 { $i = 0; while ($i < 1800) { $i++; printf("%d %s\n", $i, comm); print($i); } exit(); }' | awk 'NF { n++ } END { print n }'
TIMEOUT 30
EXPECT
	3600

NAME rings: a processor that comes after the start
RUN
	cpu=/sys/devices/system/cpu/cpu1/online
	echo 0 >$cpu &&
		{ "$SONDE" -q -e 'tracepoint:syscalls:sys_enter_lseek /comm == "syscalls"/ { printf("%d %d\n", cpu, args.offset); if (args.offset == 99) { exit(); } }' >"$TMPDIR/o" & sleep $((2 * ${TEST_SLOW:-1}))
	echo 1 >$cpu
	taskset -c 1 build/tests/syscalls 100 lseek
	wait
	}
	awk 'NF && $1 == 1 && $2 == n { n++ } END { print n }' "$TMPDIR/o"
NEEDS vm file:/sys/devices/system/cpu/cpu1/online cmd:taskset
ALONE
TIMEOUT 30
EXPECT
	100

NAME what only counts and reports has little room for records
RUN
	i=0
	while read -r s; do
		i=$((i + 1))
		"$SONDE" -e "$s" >/dev/null 2>"$TMPDIR/$i" & p=$!
		until_attached "$TMPDIR/$i"
		sed -n 's/^value_size:[^0-9]*//p' /proc/$p/fdinfo/* | awk '$1 >= 262144 && $1 > n { n = $1 } END { print n < 300000 ? "little" : "much" }'
		kill -INT $p; wait $p
	done <<-'S'
		tracepoint:syscalls:sys_enter_sync { @ = count(); } interval:s:9 { print(@); clear(@); } end { printf("end"); }
		tracepoint:syscalls:sys_enter_sync { printf("%d", pid); }
		tracepoint:syscalls:sys_enter_sync { @[pid] = 1; } interval:s:9 { for ($e : @) { print($e); } }
		fn tell($n : int64): int64 { printf("%d", $n); return $n; } tracepoint:syscalls:sys_enter_sync { @ = tell(1); }
		tracepoint:syscalls:sys_enter_sync { if (pid == 1) { exit(); } }
	S
NEEDS tp:syscalls/sys_enter_sync feature:RINGS
EXPECT
	little
	much
	much
	much
	little
