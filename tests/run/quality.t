NAME nothing lost, nothing said
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("x\n"); @[tid] = count(); }
ARGS -q
LOAD syscalls 3
EXPECT_RE
	x
	x
	x
	$
	$
	@\[[0-9]+\]: 3
ERR

NAME printed and lost events add up
RUN
	BPFTRACE_PERF_RB_PAGES=1 "$SONDE" -q -c 'build/tests/burst 100000' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("event %d\n", pid); }' >"$TMPDIR/o" 2>"$TMPDIR/e"
	echo "code $?"
	awk -v printed="$(grep -c '^event' "$TMPDIR/o")" '/[Ll]ost/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/ && $i > lost) lost = $i } END { if (printed + lost == 100000) print "exact"; else print printed, "printed,", lost + 0, "lost" }' "$TMPDIR/e"
ALONE
TIMEOUT 30
EXPECT
	code 0
	exact

NAME lost events of every processor count
RUN
	for cpu in $(seq 0 $(($(nproc) - 1)))
	do BPFTRACE_PERF_RB_PAGES=1 taskset -c $cpu "$SONDE" -q -c 'build/tests/burst 100000' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("event %d and some more text to fill the buffer\n", pid); }' >"$TMPDIR/o" 2>"$TMPDIR/e"
	awk -v printed="$(grep -c '^event' "$TMPDIR/o")" '/[Ll]ost/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/ && $i > lost) lost = $i } END { if (printed + lost != 100000) print printed, "printed,", lost + 0, "lost" }' "$TMPDIR/e"
	done
	echo done
ALONE
TIMEOUT 60
EXPECT
	done

NAME lost events are a JSON record
RUN
	BPFTRACE_PERF_RB_PAGES=1 "$SONDE" -f json -q -c 'build/tests/burst 100000' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("event %d\n", pid); }' 2>/dev/null |
		awk -F '"count": ' '/"type": "printf"/ { printed++ } /"type": "lost_events"/ { lost += $2 } END { if (printed + lost == 100000) print "exact"; else print printed, "printed,", lost + 0, "lost" }'
ALONE
TIMEOUT 30
EXPECT
	exact

NAME a full map is named, with the updates it refused
NEEDS sym:bpf_for_each_map_elem
PROG tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { @full[args.offset] = 1; @n = count(); } END { print(len(@full)); clear(@full); }
ENV BPFTRACE_MAX_MAP_KEYS=10
ARGS -q
LOAD syscalls 50 lseek
EXPECT
	10
	$
	$
	@n: 50
ERR_RE
	...
	.*@full.*40.*
	...

NAME a full map of counts
NEEDS sym:bpf_for_each_map_elem
PROG tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { @full[args.offset] = count(); } END { print(len(@full)); clear(@full); }
ENV BPFTRACE_MAX_MAP_KEYS=10
ARGS -q
LOAD syscalls 50 lseek
EXPECT
	10
	$
	$
ERR_RE
	...
	.*@full.*40.*
	...

NAME a map declared too small
NEEDS sym:bpf_for_each_map_elem
PROG let @small = hash(2); BEGIN { @small[1] = 1; @small[2] = 2; @small[3] = 3; print(len(@small)); clear(@small); }
ARGS -q
EXPECT
	2
	$
	$
ERR_RE
	...
	.*@small.*1.*
	...

NAME a hint says what to do about a full map
PROG tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { @full[args.offset] = 1; } END { clear(@full); }
ENV BPFTRACE_MAX_MAP_KEYS=10
ARGS -q
LOAD syscalls 50 lseek
EXPECT
	$
	$
ERR_RE
	...
	.*(max_map_keys|MAX_MAP_KEYS).*
	...

NAME truncated strings are counted
PROG uprobe:build/tests/calls:target /pid == cpid/ { printf("%s\n", str(arg1)); }
ENV BPFTRACE_MAX_STRLEN=4
ARGS -q
LOAD calls 3
EXPECT_RE
	hel.*
	hel.*
	hel.*
	$
	$
ERR_RE
	...
	.*(trunc|too long|cut).*
	...

NAME failed reads are reported with -k
PROG BEGIN { $p = (uint64 *)0xdead000000000000; printf("%d\n", *$p); }
ARGS -q -k
EXPECT
	0
	$
	$
ERR_RE
	...
	.*(read).*
	...

NAME with -k, reads that fail are reported at their places
RUN
	"$SONDE" -q -k -e 'struct foo { int a; char b[16]; } begin { $p = (struct foo *)0x5000; print($p->a); printf("[%s]\n", $p->b); for $i : 0..7 { @x += $p->a; } clear(@x); }' 2>&1 |
		grep -v '^struct\|~' | grep .
EXPECT
	stdin:1:76-81: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	0
	stdin:1:101-106: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	[]
	stdin:1:131-136: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	stdin:1:131-136: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	stdin:1:131-136: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	stdin:1:131-136: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	stdin:1:131-136: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	WARNING: begin: 9 reads of memory failed and gave 0; is the pointer valid and of the right space (kptr, uptr)?
	stdin:1:131-136: WARNING: A read of memory failed (bad address), and gave 0 or an empty text. (2 more times)

NAME failed reads are silent without -k
PROG BEGIN { $p = (uint64 *)0xdead000000000000; printf("%d\n", *$p); }
ARGS -q --no-warnings
EXPECT
	0
	$
	$
ERR

NAME division by zero is reported
PROG BEGIN { @z = (uint64)0; print((uint64)10 / @z); clear(@z); }
ARGS -q --no-warnings
EXPECT
	1
	$
	$
ERR_RE
	stdin:1:[0-9]+-[0-9]+: WARNING: .*(zero|0).*
	...

NAME many events through the normal buffer
RUN "$SONDE" -q -c 'build/tests/syscalls 2000' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("event\n"); }' | grep -c event
EXPECT
	2000

NAME events stay in order
RUN
	"$SONDE" -q -c 'build/tests/syscalls 3000 lseek' -e 'tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { printf("%d\n", args.offset); }' |
		awk 'NF { if ($1 != n) bad++; n++ } END { print n, bad + 0 }'
EXPECT
	3000 0

NAME what is counted was printed, until the end
RUN
	(build/tests/burst 3000000 & echo $!
	wait) | { read pid
	"$SONDE" -q -e 'tracepoint:syscalls:sys_enter_getppid /pid == '$pid'/ { printf("event\n"); @n = count(); } tracepoint:syscalls:sys_exit_getppid /pid == '$pid'/ { @x = count(); }' >"$TMPDIR/o" 2>"$TMPDIR/e" & p=$!
	until_written "$TMPDIR/o"
	kill -INT $p
	wait $p
	kill $pid
	}
	awk '/[Ll]ost/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/ && $i > lost) lost = $i } /^event/ { n++ } /^@n/ { c = $2 } END { if (n + lost == c && c) print "exact"; else print n, "printed,", lost + 0, "lost,", c, "counted" }' "$TMPDIR/e" "$TMPDIR/o"
ALONE
TIMEOUT 30
EXPECT
	exact

NAME the reader's priority is not inherited
RUN "$SONDE" -q --unsafe -e 'interval:ms:1 { system("cut -d\\  -f19 /proc/self/stat"); exit(); }' | head -1
EXPECT
	0

NAME with -k, a read of an element that is not there is told
RUN
	BPFTRACE_PRINT_MAPS_ON_EXIT=false "$SONDE" -q -k -e 'begin { print(@m[5]); @m[1] = 1; $x = @m[2]; print(@s["a"]); @s["b"] = "text"; print((@m[1], @s["b"])); @n[1]++; print(has_key(@m, 9)); @c[1] = count(); print((int64)@c[2]); for $i : 0..7 { @z += @m[$i + 10]; } }' 2>&1 |
		grep -v '^begin\|~' | grep .
EXPECT
	stdin:1:15-20: WARNING: Can't lookup map element because it does not exist.
	0
	stdin:1:39-44: WARNING: Can't lookup map element because it does not exist.
	stdin:1:52-59: WARNING: Can't lookup map element because it does not exist.
	(1, text)
	false
	stdin:1:167-172: WARNING: Can't lookup map element because it does not exist.
	0
	stdin:1:197-208: WARNING: Can't lookup map element because it does not exist.
	stdin:1:197-208: WARNING: Can't lookup map element because it does not exist.
	stdin:1:197-208: WARNING: Can't lookup map element because it does not exist.
	stdin:1:197-208: WARNING: Can't lookup map element because it does not exist.
	stdin:1:197-208: WARNING: Can't lookup map element because it does not exist.
	stdin:1:197-208: WARNING: Can't lookup map element because it does not exist. (2 more times)

NAME an index beyond an array behind a pointer is told, and read on
PROG struct f { int a[1]; int b; } begin { $x = (uint64)0x200000001; $p = (struct f *)&$x; $i = 1; print($p.a[$i]); $i--; print($p.a[$i]); }
ARGS -q
EXPECT
	2
	1
	$
	$
ERR
	stdin:1:101-109: WARNING: Array access out of bounds. This can lead to unexpected results.
	struct f { int a[1]; int b; } begin { $x = (uint64)0x200000001; $p = (struct f *)&$x; $i = 1; print($p.a[$i]); $i--; print($p.a[$i]); }
	                                                                                                    ~~~~~~~~

NAME an index beyond a text behind a pointer is told, and read on
PROG struct f { char a[4]; int b; } begin { $x = (uint64)0x4200000041; $p = (struct f *)&$x; $i = 4; print($p.a[$i]); $i -= 4; print($p.a[$i]); }
ARGS -q
EXPECT
	66
	65
	$
	$
ERR
	stdin:1:103-111: WARNING: Array access out of bounds. This can lead to unexpected results.
	struct f { char a[4]; int b; } begin { $x = (uint64)0x4200000041; $p = (struct f *)&$x; $i = 4; print($p.a[$i]); $i -= 4; print($p.a[$i]); }
	                                                                                                      ~~~~~~~~

NAME a full map is told while the script runs, and at the end only what is new
RUN "$SONDE" -q -e 'config = { max_map_keys = 2 } interval:ms:20 { @n++; if (@n < 4) { @a[@n] = 1; } if (elapsed > 60s) { exit(); } } end { clear(@a); clear(@n); }' 2>"$TMPDIR/full" & p=$!
	until_written "$TMPDIR/full"; kill -INT $p; wait $p; grep -c full "$TMPDIR/full"; cat "$TMPDIR/full"
EXPECT_RE
	$
	$
	1
	WARNING: map @a is full: 1 update was refused so far; declare it larger: let @a = hash\(16\), or set BPFTRACE_MAX_MAP_KEYS=16

NAME an update that finds no memory is told so, not as a full map
RUN
	g=/sys/fs/cgroup/memory/sonde-test-$$; mkdir "$g"
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$SONDE" -e "uprobe:build/tests/calls:main { for \$i : 0..40000 { @[\$i * 7919] = count(); } }"' "$g" >"$TMPDIR/out" 2>"$TMPDIR/err" & p=$!
	until_attached "$TMPDIR/err"
	kill -STOP $p
	echo $(($(cat "$g/memory.usage_in_bytes") + 500000)) >"$g/memory.limit_in_bytes"
	build/tests/calls >/dev/null
	echo -1 >"$g/memory.limit_in_bytes"
	kill -CONT $p; kill -INT $p; wait $p; cat "$TMPDIR/err"
	awk -F 'map @: | update' '/^@/ { stored++ } /refused/ { refused = $2 } END { print stored + refused }' "$TMPDIR/out" "$TMPDIR/err"
	eventually rmdir "$g"
NEEDS uprobe prog:calls feature:GROWS file:/sys/fs/cgroup/memory/memory.limit_in_bytes
EXPECT_RE
	Attached 1 probe
	WARNING: map @: [0-9]+ updates were refused( so far)?, though it is not full: Cannot allocate memory; the kernel had no memory for more elements at that moment: with let @ = hash\(65536\) it takes it when the script is loaded
	40000

NAME a flood of one probe takes no room of others
RUN
	for f in text json; do
		rm -f $TMPDIR/o $TMPDIR/e
		BPFTRACE_PERF_RB_PAGES=16 taskset -c 0 "$SONDE" -f $f -e 'uprobe:build/tests/calls:main { printf("first one\n"); }
		uprobe:build/tests/calls:target { printf("flood %d, and more text than anybody wants to read\n", arg0); }
		uprobe:build/tests/calls:greet /@n++ >= 19900/ { printf("rare %d, and more text than anybody wants to read\n", @n); }
		uretprobe:build/tests/calls:main { printf("last, which is as long as any of the others\n"); clear(@n); }' >$TMPDIR/o 2>$TMPDIR/e & s=$!
		flood_while_stopped $s
		printed_and_lost uprobe:.*main:first uprobe:.*target:flood uprobe:.*greet:rare uretprobe:.*main:last
	done
NEEDS uprobe prog:calls feature:RINGS
ALONE
TIMEOUT 30
EXPECT
	first 1 0
	flood 20000 1
	rare 100 0
	last 1 0
	first 1 0
	flood 20000 1
	rare 100 0
	last 1 0

NAME texts of a flood give back what they did not need of its share
RUN
	BPFTRACE_PERF_RB_PAGES=64 taskset -c 0 "$SONDE" -e 'uprobe:build/tests/calls:target { printf("flood %d %s\n", arg0, str(arg1)); } uretprobe:build/tests/calls:main { printf("last %s\n", str(reg("sp"), 4)); }' >$TMPDIR/o 2>$TMPDIR/e & s=$!
	flood_while_stopped $s
	# Three quarters of 256 KiB, some 40 bytes each; of the last of them 60, were they as long as they might have been.
	echo $(($(grep -c ^flood $TMPDIR/o) > 3700)) $(grep -c ^last $TMPDIR/o)
NEEDS uprobe prog:calls feature:RINGS
ALONE
TIMEOUT 30
EXPECT
	1 1

NAME a flood of one probe is told as its own, and what it cost others is told as theirs
RUN
	for f in text json; do
		rm -f $TMPDIR/o $TMPDIR/e
		BPFTRACE_PERF_RB_PAGES=16 taskset -c 0 "$SONDE" --no-feature rings -f $f -e 'uprobe:build/tests/calls:main { printf("first one\n"); }
		uprobe:build/tests/calls:target { printf("flood %d, and more text than anybody wants to read\n", arg0); }
		uretprobe:build/tests/calls:main { printf("last, which is as long as any of the flood that is before it\n"); }' >$TMPDIR/o 2>$TMPDIR/e & s=$!
		flood_while_stopped $s
		printed_and_lost uprobe:.*main:first uprobe:.*target:flood uretprobe:.*main:last
	done
NEEDS uprobe prog:calls
ALONE
TIMEOUT 30
EXPECT
	first 1 0
	flood 20000 1
	last 1 1
	first 1 0
	flood 20000 1
	last 1 1
