# User stacks of programs without frame pointers: by tables, ustack and dw_ustack alike.

NAME stack through the C library
PROG uprobe:build/tests/unwind:leaf { @[dw_ustack] = count(); }
LOAD unwind calls
EXPECT_RE
	$
	$
	@\[
	        leaf\+0
	        inner\+[0-9]+
	        compare\+[0-9]+
	        (msort|qsort|0x).*
	...
	        outer\+[0-9]+
	        main\+[0-9]+
	...
	        _start\+[0-9]+
	\]: 1
NEEDS uprobe prog:unwind dwunwind

NAME stack through functions that no table describes and that keep no frame pointers
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack(8)] = count(); }
NEEDS x86_64 dwunwind prog:untold
LOAD untold
ARGS -q
EXPECT_RE
	$
	$
	@\[
	        syscall\+[0-9]+
	        plain\+[0-9]+
	        chooses\+[0-9]+
	        main\+[0-9]+
	...
	\]: 1
	@\[
	        syscall\+[0-9]+
	        plain\+[0-9]+
	        chooses\+[0-9]+
	        main\+[0-9]+
	...
	\]: 1
	@\[
	        syscall\+[0-9]+
	        plain\+[0-9]+
	        room\+[0-9]+
	        saves\+[0-9]+
	        takes\+[0-9]+
	        chooses\+[0-9]+
	        main\+[0-9]+
	        .*
	\]: 1
	@\[
	        syscall\+[0-9]+
	        plain\+[0-9]+
	        room\+[0-9]+
	        saves\+[0-9]+
	        takes\+[0-9]+
	        chooses\+[0-9]+
	        main\+[0-9]+
	        .*
	\]: 1

NAME frames that begin elsewhere
PROG uprobe:build/tests/unwind:leaf { print(dw_ustack(5)); @frames = len(dw_ustack) > 6; }
LOAD unwind frames
EXPECT_RE
	$
	        leaf\+0
	        inner\+[0-9]+
	        aligned\+[0-9]+
	        variable\+[0-9]+
	        main\+[0-9]+
	$
	$
	$
	@frames: true
NEEDS uprobe prog:unwind dwunwind

NAME stack out of a signal handler
PROG uprobe:build/tests/unwind:leaf { @[dw_ustack(perf)] = count(); }
LOAD unwind signal
EXPECT_RE
	$
	$
	@\[
		[0-9a-f]+ leaf\+0 \(/.*/build/tests/unwind\)
		[0-9a-f]+ inner\+[0-9]+ \(/.*/build/tests/unwind\)
		[0-9a-f]+ handler\+[0-9]+ \(/.*/build/tests/unwind\)
		[0-9a-f]+ .* \((/.*libc.*|\[vdso\])\)
	...
		[0-9a-f]+ .*raise\+[0-9]+ \(/.*libc.*\)
		[0-9a-f]+ main\+[0-9]+ \(/.*/build/tests/unwind\)
	...
		[0-9a-f]+ _start\+[0-9]+ \(/.*/build/tests/unwind\)
	\]: 1
NEEDS uprobe prog:unwind dwunwind

# Its child uses the stack, so it keeps its return address in a register.
NAME stack out of vfork
PROG tracepoint:syscalls:sys_enter_vfork /pid == cpid/ { @[dw_ustack(3)] = count(); }
LOAD unwind vfork
EXPECT_RE
	$
	$
	@\[
	        (__libc_|__)?vfork\+[0-9]+
	        start_another\+[0-9]+
	        main\+[0-9]+
	\]: 1
NEEDS prog:unwind dwunwind x86_64

NAME stack through a library that was opened later
PROG uprobe:build/tests/unwind:leaf { @[dw_ustack(5)] = count(); }
LOAD unwind dl
EXPECT_RE
	$
	$
	@\[
	        leaf\+0
	        lib_inner\+[0-9]+
	        lib_outer\+[0-9]+
	        call_library\+[0-9]+
	        main\+[0-9]+
	\]: 1
NEEDS uprobe prog:unwind prog:unwind_lib dwunwind

# Where it calls, the dynamic linker's frame begins at a register that functions below it save.
NAME stack through the binding of a function at its first call
PROG uprobe:build/tests/unwind:leaf { @[dw_ustack] = count(); }
LOAD unwind lazy
EXPECT_RE
	$
	$
	@\[
	        leaf\+0
	        (choose|lib_chosen)\+[0-9]+
	...
	        lib_lazy\+[0-9]+
	        call_library\+[0-9]+
	        main\+[0-9]+
	...
	        _start\+[0-9]+
	\]: 1
NEEDS uprobe prog:unwind prog:unwind_lib dwunwind x86_64

NAME stack through generated code
PROG uprobe:build/tests/unwind:leaf { print(dw_ustack(4)); @all[len(dw_ustack)] = count(); }
LOAD unwind made
EXPECT_RE
	$
	        leaf\+0
	        made\+(11|20)
	        call_made\+[0-9]+
	        main\+[0-9]+
	$
	$
	$
	@all\[[67]\]: 1
NEEDS uprobe prog:unwind dwunwind

# Inner functions of a libc whose symbols are not installed are addresses.
NAME stack of a thread ends where the thread begins
PROG uprobe:build/tests/unwind:leaf { @[dw_ustack] = count(); }
LOAD unwind thread
EXPECT_RE
	$
	$
	@\[
	        leaf\+0
	        inner\+[0-9]+
	        compare\+[0-9]+
	...
	        outer\+[0-9]+
	        thread\+[0-9]+
	        (start_thread\+[0-9]+|0x[0-9a-f]+)
	        (.*clone.*|0x[0-9a-f]+)
	\]: 1
NEEDS uprobe prog:unwind dwunwind

NAME interrupted code
PROG profile:hz:99 /pid == cpid/ { @[dw_ustack] = count(); }
LOAD unwind spin 400
EXPECT_RE
	$
	$
	...
	@\[
	        spin\+[0-9]+
	        outer_spin\+[0-9]+
	        main\+[0-9]+
	...
	        _start\+[0-9]+
	\]: [0-9]+
	...
NEEDS prog:unwind dwunwind

NAME interrupted in the vdso
RUN "$SONDE" -q -c "build/tests/unwind clock 400" -e 'profile:hz:499 /pid == cpid/ { @[dw_ustack(4)] = count(); }' 2>&1 | grep -A 3 vdso_clock_gettime | sed 's/+.*//' | grep -v '^[]-]' | sort -u
EXPECT_RE
	        __(vdso_)?clock_gettime
	        (__vdso_clock_gettime|clock_gettime)
	        ask_clock
	        main
NEEDS prog:unwind dwunwind x86_64

NAME interrupted in the vdso of aarch64
RUN
	"$SONDE" -q -c "build/tests/unwind clock 400" -e 'profile:hz:499 /pid == cpid/ { @[dw_ustack(4)] = count(); }' 2>&1 |
		grep -A 3 __kernel_clock_gettime | sed 's/+.*//; s/^ *//' | sort -u |
		grep -xE '__kernel_clock_gettime|ask_clock|main'
EXPECT
	__kernel_clock_gettime
	ask_clock
	main
NEEDS prog:unwind dwunwind aarch64

NAME at a system call, raw addresses, and one limit
PROG tracepoint:syscalls:sys_enter_clock_nanosleep /pid == cpid/ { @[dw_ustack(3)] = count(); @n[len(dw_ustack(raw))] = count(); }
LOAD unwind dl
EXPECT_RE
	$
	$
	@\[
	        (.*nanosleep\+[0-9]+|0x[0-9a-f]+)
	        .*nanosleep\+[0-9]+
	        .*(nano|u)sleep\+[0-9]+
	\]: 1
	@n\[([89]|10)\]: 1
NEEDS tracefs prog:unwind dwunwind

NAME at functions of the kernel
PROG kprobe:hrtimer_nanosleep, kretprobe:hrtimer_nanosleep, kprobe:do_nanosleep+0 /pid == cpid/ { @[dw_ustack(3)] = count(); @all[len(dw_ustack) > 7] = count(); }
LOAD unwind dl
EXPECT_RE
	$
	$
	@\[
	        .*nanosleep\+[0-9]+
	        .*nanosleep\+[0-9]+
	        usleep\+[0-9]+
	\]: 3
	@all\[true\]: 3
NEEDS kprobe prog:unwind dwunwind

NAME at typed functions of the kernel
PROG fentry:hrtimer_nanosleep, fexit:hrtimer_nanosleep /pid == cpid/ { @[dw_ustack(3)] = count(); @all[len(dw_ustack) > 7] = count(); }
LOAD unwind dl
EXPECT_RE
	$
	$
	@\[
	        .*nanosleep\+[0-9]+
	        .*nanosleep\+[0-9]+
	        usleep\+[0-9]+
	\]: 2
	@all\[true\]: 2
NEEDS kprobe fentry feature:fentry prog:unwind dwunwind

NAME stacks of a process given by its id, and of its child
RUN
	mkfifo "$TMPDIR/go"
	build/tests/unwind child <"$TMPDIR/go" & P=$!
	exec 3>"$TMPDIR/go"
	timeout 8 "$SONDE" --dwarf-pid $P -e "uprobe:build/tests/unwind:leaf /ppid == $P/ { printf(\"%d%s\n\", pid == $P, dw_ustack(6)); exit(); }" 2>"$TMPDIR/err" & S=$!
	until_attached "$TMPDIR/err"
	echo >&3
	wait $S $P
	grep -v Attached "$TMPDIR/err"
	true
EXPECT_RE
	0
	        leaf\+0
	        inner\+[0-9]+
	        compare\+[0-9]+
	...
NEEDS uprobe prog:unwind dwunwind

NAME return probes on the way hide no caller
PROG uprobe:build/tests/unwind:leaf { print(dw_ustack(8)); } uretprobe:build/tests/unwind:inner { print(dw_ustack(1)); } uretprobe:build/tests/unwind:aligned { } uretprobe:build/tests/unwind:main { }
LOAD unwind frames
EXPECT_RE
	$
	        leaf\+0
	        inner\+[0-9]+
	        aligned\+[0-9]+
	        variable\+[0-9]+
	        main\+[0-9]+
	        .*
	        .*
	        _start\+[0-9]+
	$
	$
	        aligned\+[0-9]+
	$
	$
	$
NEEDS uprobe btf prog:unwind dwunwind

NAME return probes on the way hide no caller in the first stack of a process, which is copied
RUN
	u=$TMPDIR/unwind && cp build/tests/unwind "$u" # others run that file
	"$SONDE" -B line -e 'uprobe:'"$u"':leaf { printf("%s%s\n", ustack(8), ustack(raw)); }
		uretprobe:'"$u"':inner { } uretprobe:'"$u"':aligned { }
		uretprobe:'"$u"':main { }' >"$TMPDIR/out" 2>"$TMPDIR/err" & p=$!
	until_attached "$TMPDIR/err"; "$u" frames; until_written "$TMPDIR/out"
	kill -INT $p; wait $p; head -n 9 "$TMPDIR/out" | sed 's/+.*//'
EXPECT_RE
	$
	        leaf
	        inner
	        aligned
	        variable
	        main
	        .*
	        .*
	        _start
NEEDS uprobe btf prog:unwind dwunwind x86_64

NAME in loops and functions
PROG fn depth(): int64 { return len(dw_ustack(4)); } uprobe:build/tests/unwind:leaf { for ($i : 0..100) { @[dw_ustack(2)] = count(); } @d = depth(); }
LOAD unwind calls
EXPECT_RE
	$
	$
	@\[
	        leaf\+0
	        inner\+[0-9]+
	\]: 100
	@d: 4
NEEDS uprobe prog:unwind dwunwind

NAME a stack that is cut is counted
PROG uprobe:build/tests/unwind:leaf { @[dw_ustack] = count(); }
LOAD unwind huge
EXPECT_RE
	$
	$
	@\[
	        leaf\+0
	        huge\+[0-9]+
	\]: 1
ERR_RE
	Attached 1 probe
	WARNING: 1 user stack was cut where there is no unwind information, in /.*/build/tests/unwind
NEEDS uprobe prog:unwind dwunwind

NAME a stack that is cut is counted in JSON
ARGS -q -f json
PROG uprobe:build/tests/unwind:leaf { @[len(dw_ustack)] = count(); }
LOAD unwind huge
EXPECT_RE
	\{"type": "map", "data": \{"@": \{"2": 1\}\}\}
	\{"type": "cut_in_file", "data": \{"file": "/.*/build/tests/unwind", "stacks": 1\}\}
NEEDS uprobe prog:unwind dwunwind

NAME without notes of mappings
ARGS --no-feature map_notes
PROG uprobe:build/tests/unwind:leaf { @[len(dw_ustack(3)), len(dw_ustack) > 7] = count(); }
LOAD unwind calls
EXPECT
	$
	$
	@[3, true]: 1
NEEDS uprobe prog:unwind dwunwind

NAME misuse
RUN
	"$SONDE" --dwarf-pid $$ -e 'begin { print(dw_ustack(foo)); print(dw_ustack(build_id)); print(dw_ustack(raw, 1025)); print(dw_ustack(0)); }'
	"$SONDE" --dwarf-pid x -e 'begin { }' 2>&1 | head -n 1 >&2
	"$SONDE" --dwarf-pid 4000000 -e 'begin { }' 2>&1 | head -n 1 >&2
ERR
	stdin:1:25-28: ERROR: dw_ustack: invalid stack mode 'foo': valid modes are bpftrace, raw, perf, function, native and lang
	begin { print(dw_ustack(foo)); print(dw_ustack(build_id)); print(dw_ustack(raw, 1025)); print(dw_ustack(0)); }
	                        ~~~
	stdin:1:48-56: ERROR: 'build_id' stack mode can only be used for ustack
	begin { print(dw_ustack(foo)); print(dw_ustack(build_id)); print(dw_ustack(raw, 1025)); print(dw_ustack(0)); }
	                                               ~~~~~~~~
	stdin:1:81-85: ERROR: dw_ustack([int limit]): limit shouldn't exceed 1024, 1025 given
	begin { print(dw_ustack(foo)); print(dw_ustack(build_id)); print(dw_ustack(raw, 1025)); print(dw_ustack(0)); }
	                                                                                ~~~~
	stdin:1:105-106: ERROR: dw_ustack: invalid limit value: it must be a literal from 1 to 1024
	begin { print(dw_ustack(foo)); print(dw_ustack(build_id)); print(dw_ustack(raw, 1025)); print(dw_ustack(0)); }
	                                                                                                        ~
	ERROR: Failed to parse pid: invalid integer: x
	ERROR: --dwarf-pid 4000000: this process does not exist
NEEDS dwunwind

NAME every process, whoever started it
RUN cat >"$TMPDIR/s.bt" <<'END'
	uprobe:build/tests/unwind:leaf { @[ustack(perf)] = count(); }
	END
	{ "$SONDE" -q "$TMPDIR/s.bt" >"$TMPDIR/out" 2>"$TMPDIR/err" & }
	tracer=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.25; [ "$(readlink -f /proc/$tracer/exe)" ] || break
		for k in 1 2 3; do build/tests/unwind frames; build/tests/unwind calls; done; [ $i -lt 8 ] || break; done
	kill -INT $tracer; wait $tracer
	sed 's/^\t[0-9a-f]* //; s/+[0-9]* (.*//' "$TMPDIR/out" | grep -E '^(leaf|inner|aligned|variable|compare|outer|main|_start)$' | sort -u
	cat "$TMPDIR/err"
EXPECT
	_start
	aligned
	compare
	inner
	leaf
	main
	outer
	variable
NEEDS uprobe prog:unwind dwunwind

NAME samples of the whole machine reach where programs begin
RUN cp build/tests/unwind "$TMPDIR/unwinds" # others run by that name, too, with stacks that are deeper than 127 frames
	{ "$SONDE" -q -e 'profile:hz:499 /comm == "unwinds"/ { @[ustack] = count(); }' >"$TMPDIR/out" 2>&1 & }
	tracer=$!
	for i in 1 2 3 4 5 6; do sleep 0.3; "$TMPDIR/unwinds" spin 150; done
	kill -INT $tracer; wait $tracer
	# While the kernel is still in exec, the program has no stack of its own.
	awk '/^@/ { ok = own = 0 } /^ / && !/execve/ { own = 1 } /_start\+/ { ok = 1 } /^\]: / { all += own * $2; good += ok * $2 } END { print (all > 30), (good >= 0.98 * all) }' "$TMPDIR/out"
EXPECT
	1 1
NEEDS prog:unwind dwunwind fast

# There is room for copies of some 120 stacks.
NAME a process that waits when tracing begins makes 4,096 stacks at once
RUN mkfifo "$TMPDIR/go"; u=$TMPDIR/unwind && cp build/tests/unwind "$u"; "$u" tree 12 <"$TMPDIR/go" & P=$!; exec 3>"$TMPDIR/go"; until_named $P unwind
	"$SONDE" -e 'config = { max_map_keys = 8192 } uprobe:'"$u"':leaf { @whole[len(ustack) > 17] = count(); @[ustack(raw)] = count(); }' >"$TMPDIR/out" 2>"$TMPDIR/err" & S=$!
	until_attached "$TMPDIR/err"; echo >&3; wait $P; kill -INT $S; wait $S
	grep -c '^@\[' "$TMPDIR/out"; grep '^@whole' "$TMPDIR/out"; grep -v Attached "$TMPDIR/err"; true
EXPECT
	4096
	@whole[true]: 4096
NEEDS uprobe prog:unwind dwunwind

# By the clock none is lost while they are made; of other events there may be more than there is room for copies of.
NAME tables of the whole machine: while samples are taken, before other events
RUN
	for probe in profile:hz:99 interval:ms:20 profile:us:90 tracepoint:sched:sched_process_exit; do
	"$SONDE" -v -e "$probe { @[ustack] = count(); } interval:ms:2500 { exit(); }" 2>&1 |
		sed -n 's/^\(Attached\|rights while\) .*/\1/p; s/.*\(tables for user stacks of\|ERROR\).*/\1/p' | tr '\n' ,
	echo
	done
TIMEOUT 40
EXPECT
	Attached,rights while,tables for user stacks of,
	Attached,rights while,tables for user stacks of,
	tables for user stacks of,Attached,rights while,
	tables for user stacks of,Attached,rights while,
NEEDS slow dwunwind

# How many names the C library's inner functions have depends on what is installed.
NAME processes that live for 20 ms have names when they are dead, in containers, too
RUN SONDE="$SONDE" sh bench/short.sh 30 2>"$TMPDIR/err" | awk -F '|' 'NR > 2 { print ($3 > 20), ($5 > 100), ($6 <= $5 / 100), ($8 >= 99) }'
	grep -v 'user stacks\? w' "$TMPDIR/err"; true
EXPECT
	1 1 1 1
	1 1 1 1
	1 1 1 1
NEEDS dwunwind fast cmd:cc cmd:unshare cmd:busybox cmd:pivot_root
TIMEOUT 60

NAME a child that was forked, and one that runs another program
RUN
	"$SONDE" -q --follow -c 'sh -c "build/tests/unwind calls; (build/tests/unwind frames)"' -e 'uprobe:build/tests/unwind:leaf { @[ustack] = count(); }' 2>&1 |
		sed 's/+.*//' | grep -E ' (leaf|variable|outer|_start)$' | sort | uniq -c
EXPECT_RE
	 *2         _start
	 *2         leaf
	 *1         outer
	 *1         variable
NEEDS uprobe prog:unwind dwunwind

NAME stacks in several keys and values
PROG uprobe:build/tests/unwind:leaf { @n++; @two[@n > 0, ustack(4), 1] = sum(2); @v = ustack(4); @last[1] = ustack(3); }
LOAD unwind calls
EXPECT_RE
	$
	$
	@last\[1\]: 
	        leaf\+0
	        inner\+[0-9]+
	        compare\+[0-9]+
	$
	@n: 1
	@two\[true, 
	        leaf\+0
	        inner\+[0-9]+
	        compare\+[0-9]+
	        .*
	, 1\]: 2
	@v: 
	        leaf\+0
	        inner\+[0-9]+
	        compare\+[0-9]+
	        .*
	$
NEEDS uprobe prog:unwind dwunwind
