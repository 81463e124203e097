# fp_ustack: stacks by frame pointers, walked by the program where it can, by the kernel's helper elsewhere.

NAME user stack, made-up frames
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid && @n < 9/ { @n++; printf("%d: %d", @n, len(fp_ustack)); print(fp_ustack(raw, 12)); }
LOAD frames
NEEDS tp:syscalls/sys_enter_getppid x86_64
EXPECT_RE
	1: 1
	[0-9a-f]+
	$
	2: 1
	[0-9a-f]+
	$
	3: 1
	[0-9a-f]+
	$
	4: 1
	[0-9a-f]+
	$
	5: 1
	[0-9a-f]+
	$
	6: 2
	[0-9a-f]+
	101
	$
	7: 3
	[0-9a-f]+
	103
	102
	$
	8: 7
	[0-9a-f]+
	109
	108
	107
	106
	105
	104
	$
	9: 127
	[0-9a-f]+
	10b
	10a
	10b
	10a
	10b
	10a
	10b
	10a
	10b
	10a
	10b
	$
	$
	$
	@n: 9

NAME user stack, the program's walk and the kernel's show the same
RUN
	for o in '' '--no-feature task_regs' '--no-feature task_btf'; do
		"$SONDE" -q $o -c build/tests/frames -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @n++;
			printf("%d", len(fp_ustack)); print(fp_ustack(raw)); print(fp_ustack(perf, 30)); print(fp_ustack(5));
			@count[@n, fp_ustack] = count(); @kept[@n] = fp_ustack; @two[@n, fp_ustack(40), fp_ustack] = count(); }' |
			sed 's/\<[0-9a-f]\{6,16\}\>/ADDR/g' >"$TMPDIR/out$o"
	done
	cmp "$TMPDIR/out" "$TMPDIR/out--no-feature task_regs" && cmp "$TMPDIR/out" "$TMPDIR/out--no-feature task_btf" &&
		grep -c . "$TMPDIR/out" | awk '{ print ($1 > 500) }'
TIMEOUT 30
NEEDS tp:syscalls/sys_enter_getppid x86_64
EXPECT
	1

NAME user stack of more frames than the kernel's helper gives
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @ = max(len(fp_ustack(1000))); }
LOAD frames
NEEDS tp:syscalls/sys_enter_getppid feature:task_regs x86_64
EXPECT
	$
	$
	@: 1000

NAME user stack within a function whose return is probed
RUN
	for o in '' '--no-feature task_regs'; do
		"$SONDE" -q $o -c 'build/tests/stack 3' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[fp_ustack(20)] = count(); }
			uretprobe:build/tests/stack:middle { }' >"$TMPDIR/out$o"
	done
	cmp "$TMPDIR/out" "$TMPDIR/out--no-feature task_regs" && grep -c . "$TMPDIR/out" | awk '{ print ($1 > 3) }'
NEEDS tp:syscalls/sys_enter_getppid uprobe
EXPECT
	1

NAME user stack where the process was interrupted, and when another task runs next
PROG profile:hz:499 /pid == cpid && len(fp_ustack(9)) > 2/ { @interrupted = max(1); } tracepoint:sched:sched_switch /pid == cpid && len(fp_ustack) > 2/ { @switched = max(1); }
LOAD spin 300 100
NEEDS tp:sched/sched_switch x86_64
EXPECT
	$
	$
	@interrupted: 1
	@switched: 1

NAME user stack at a function's entry: the caller is there, though it is in no frame yet
PROG uprobe:build/tests/frames:bare /pid == cpid/ { print(fp_ustack(2)); @[fp_ustack(3)] = count(); } uprobe:build/tests/frames:caller /pid == cpid/ { print(fp_ustack(2)); }
LOAD frames
NEEDS uprobe feature:task_regs x86_64
EXPECT_RE
	$
	        caller\+0
	        main\+[0-9]+
	$
	$
	        bare\+0
	        caller\+[0-9]+
	$
	$
	$
	@\[
	        bare\+0
	        caller\+[0-9]+
	        main\+[0-9]+
	\]: 1

NAME user stack at a static probe
RUN
	for o in '' '--no-feature task_regs'; do
		"$SONDE" -q $o -c 'build/tests/tracetest' -e 'usdt:build/tests/tracetest:tracetest:* { @[fp_ustack(20)] = count(); }' >"$TMPDIR/out$o"
	done
	cmp "$TMPDIR/out" "$TMPDIR/out--no-feature task_regs" && grep -c 'main+' "$TMPDIR/out" | awk '{ print ($1 > 0) }'
NEEDS prog:tracetest
EXPECT
	1

NAME it begins where the function does, with a landing pad or without
LOAD landing 1
NEEDS uprobe prog:landing
PROG uprobe:build/tests/landing:pushes /pid == cpid/ { print(fp_ustack(1)); }
EXPECT
	$
	        pushes+0
	$
	$
	$

NAME stacks as keys in a loop, and values that meet in memory
RUN "$SONDE" --dry-run -e 'software:cpu-clock:1000000 { print(pid); $w = 0; while ($w < 4) { $w++; @max_k[ustack] = max(1); } @ = has_key(@i, 1); @i[2] = 1; }' 2>&1
EXPECT

NAME ustack(function), show_functions(): names without offsets; what ends in a function, and what it is part of
RUN
	"$SONDE" -q -c 'build/tests/calls 3' -e 'table functions { self "SELF" 6 right; self_ratio "SELF%" 7 percent right; total "TOTAL" 6 right; total_ratio "TOTAL%" 7 percent right; function "FUNCTION"; }
	uprobe:build/tests/calls:add6 /pid == cpid/ { @[comm, ustack(function)] = count(); } uprobe:build/tests/calls:target, uprobe:build/tests/calls:greet /pid == cpid/ { @[comm, ustack(function)] = count(); }
	end { show_functions(functions, @); print(@, 1); clear(@); }' | grep -v '__libc_start\|^$'
	"$SONDE" -q -c 'build/tests/syscalls 3 getppid' -e 'table f { self; a; total; b; function; }
	t:syscalls:sys_enter_getppid /pid == cpid/ { @[kstack(function), 1, ustack(function)] = count(); } end { show_functions(f, @, "*trace* *sys_* *syscall*"); clear(@); }'
	"$SONDE" -e 'table t { a; } begin { @[1] = count(); show_functions(t, @); }' 2>&1 | head -n 1
	"$SONDE" -e 'table t { a; b; c; d; e; } begin { @[1] = count(); show_functions(t, @); }' 2>&1 | head -n 1
NEEDS uprobe prog:calls dwunwind
EXPECT
	  SELF   SELF%  TOTAL  TOTAL% FUNCTION
	     3  33.33%      3  33.33% add6 (calls)
	     3  33.33%      3  33.33% greet (calls)
	     3  33.33%      3  33.33% target (calls)
	     0   0.00%      9 100.00% _start (calls)
	     0   0.00%      9 100.00% main (calls)
	@[calls, 
	        greet
	        main
	        _start
	]: 3
	SELF A TOTAL B FUNCTION
	3 10000 3 10000 entry_SYSCALL_64_after_hwframe
	
	stdin:1:55-56: ERROR: show_functions() begins with the name of a table of 5 columns
	stdin:1:70-71: ERROR: show_functions() takes a map whose key has stacks among its parts
