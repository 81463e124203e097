NAME hello
PROG BEGIN { printf("hello world\n"); }
EXPECT
	hello world
	$
	$

NAME lower case begin and end
PROG begin { printf("b\n"); } end { printf("e\n"); }
EXPECT
	b
	e
	$
	$

NAME several begins run in order
PROG BEGIN { printf("1\n"); } BEGIN { printf("2\n"); } END { printf("3\n"); } END { printf("4\n"); }
EXPECT
	1
	2
	3
	4
	$
	$

NAME exit in begin keeps later begins from running
PROG BEGIN { printf("1\n"); exit(); } BEGIN { printf("2\n"); } END { printf("3\n"); }
EXPECT
	1
	3
	$
	$

NAME nothing runs after exit
PROG BEGIN { printf("1\n"); exit(); printf("2\n"); }
EXPECT
	1
	$
	$

NAME exit code
PROG BEGIN { exit(3); }
RC 3
EXPECT
	$
	$

NAME exit code of a later probe
PROG interval:ms:10 { exit(42); }
RC 42
EXPECT
	$
	$

NAME exit code modulo 256
PROG BEGIN { exit(257); }
RC 1
EXPECT
	$
	$

NAME return ends the probe only
PROG BEGIN { printf("1\n"); return; } BEGIN { printf("2\n"); }
EXPECT
	1
	2
	$
	$

NAME predicate true and false
PROG BEGIN /1/ { printf("yes\n"); } BEGIN /0/ { printf("no\n"); } BEGIN /1 == 1 && pid > 0/ { printf("also\n"); }
EXPECT
	yes
	also
	$
	$

NAME predicate with division
PROG BEGIN /10 / 2 == 5/ { printf("five\n"); }
EXPECT
	five
	$
	$

NAME comments and layout
PROG
	// a line
	BEGIN /* in
	between */ {
		/* here */ printf("x\n"); // there
	}
EXPECT
	x
	$
	$

NAME shebang line
RUN printf '#!/usr/bin/env sonde\nBEGIN { printf("from a file\\n"); }\n' >"$TMPDIR/a.bt" && "$SONDE" "$TMPDIR/a.bt"
EXPECT
	from a file
	$
	$

NAME script from stdin
RUN printf '%s' 'BEGIN { printf("in\n"); }' | "$SONDE" -
EXPECT
	in
	$
	$

NAME if and else
PROG BEGIN { $a = 5; if ($a > 3) { printf("big\n"); } else { printf("small\n"); } if ($a == 1) { printf("one\n"); } else if ($a == 5) { printf("five\n"); } else { printf("other\n"); } }
EXPECT
	big
	five
	$
	$

NAME if without parentheses
PROG BEGIN { $a = 5; if $a { printf("yes\n"); } if !$a { printf("no\n"); } }
EXPECT
	yes
	$
	$

NAME nested if
PROG BEGIN { $a = 5; $b = 0; if ($a) { if ($b) { printf("1\n"); } else { if (!$b) { printf("2\n"); } } } }
EXPECT
	2
	$
	$

NAME if as a value
PROG BEGIN { $a = 5; $x = if ($a > 3) { 10 } else { 20 }; print($x); }
EXPECT
	10
	$
	$

NAME block as a value
PROG BEGIN { $x = { let $y = 3; $y + 1 }; print($x); }
EXPECT
	4
	$
	$

NAME ternary
PROG BEGIN { $a = 5; print($a > 3 ? 1 : 2); print($a < 3 ? "yes" : "no"); printf("%s\n", $a == 5 ? "five" : "else"); }
EXPECT
	1
	no
	five
	$
	$

NAME nested ternary
PROG BEGIN { $a = 2; print($a == 1 ? 10 : $a == 2 ? 20 : 30); }
EXPECT
	20
	$
	$

NAME elvis
PROG BEGIN { $a = 0; $b = 7; print($a ?: 9); print($b ?: 9); }
EXPECT
	9
	7
	$
	$

NAME ternary with only one side executed
PROG BEGIN { $a = 1; $r = $a ? ++@x : ++@y; print($r); }
EXPECT
	1
	$
	$
	@x: 1

NAME let with a type
PROG BEGIN { let $x : uint8 = 5; let $y : int64; let $z : string[8] = "abc"; print(($x, $y, $z)); }
EXPECT
	(5, 0, abc)
	$
	$

NAME let without value
PROG BEGIN { let $x; if (pid > 0) { $x = 4; } else { $x = 5; } print($x); }
EXPECT
	4
	$
	$

NAME scopes
PROG BEGIN { if (1) { $x = 1; print($x); } if (1) { $x = "other"; print($x); } }
EXPECT
	1
	other
	$
	$

NAME discard
PROG BEGIN { _ = 5 + pid; printf("ok\n"); }
EXPECT
	ok
	$
	$

NAME several attach points in one probe
PROG BEGIN, END { @n++; print(@n); }
EXPECT
	@n: 1
	@n: 2
	$
	$
	@n: 2

NAME probe builtin
PROG BEGIN, END { printf("%s\n", probe); }
EXPECT
	begin
	end
	$
	$

NAME of the command, exec is the first system call that is seen
RUN for i in 1 2 3 4 5; do
	"$SONDE" -q -c true -e '
		tracepoint:raw_syscalls:sys_enter /pid == cpid/ { @enter++; if (@enter == 1) { printf("%s\n", syscall_name(args.id)); } }
		tracepoint:raw_syscalls:sys_exit /pid == cpid/ { @exit++; if (@exit == 1) { printf("%s\n", syscall_name(args.id)); } }
		end { clear(@enter); clear(@exit); }' | grep . | uniq -c | tr -s ' '
	done
EXPECT
	 2 execve
	 2 execve
	 2 execve
	 2 execve
	 2 execve

NAME pid and cpid
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d %d\n", pid == cpid, tid == pid); }
LOAD syscalls 1
EXPECT
	1 1
	$
	$

NAME self_pid: the tracer's own process
RUN "$SONDE" -q -e 'begin { print(self_pid); exit(); }' >"$TMPDIR/o" & p=$!; wait $p; sed "s/^$p\$/its own/" "$TMPDIR/o" | head -n 1
NEEDS fast
EXPECT
	its own

NAME comm
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%s|%s\n", comm, comm == "syscalls" ? "same" : "differs"); }
LOAD syscalls 1
EXPECT
	syscalls|same
	$
	$

NAME uid gid cpu ncpus
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d %d %d %d\n", uid, gid, cpu < ncpus, ncpus > 0); }
LOAD syscalls 1
EXPECT
	0 0 1 1
	$
	$

NAME nsecs and elapsed grow
PROG BEGIN { $a = nsecs; $e = elapsed; $b = nsecs; printf("%d %d %d\n", $b >= $a, $a > 0, elapsed >= $e); }
EXPECT
	1 1 1
	$
	$

NAME rand is a number
PROG BEGIN { $r = rand; printf("%d\n", $r >= 0); }
EXPECT
	1
	$
	$

NAME macro
PROG macro twice(x) { x * 2 } BEGIN { print(twice(21)); }
EXPECT
	42
	$
	$

NAME positional parameters
PROG BEGIN { printf("%d %s %d\n", $1, str($2), $#); }
PARAMS 42 abc
EXPECT
	42 abc 2
	$
	$

NAME missing positional parameter
PROG BEGIN { printf("%d [%s]\n", $1, str($2)); }
EXPECT
	0 []
	$
	$

NAME only maps, printed at the end
PROG BEGIN { @b = 2; @a = 1; @ = 3; }
EXPECT
	$
	$
	@: 3
	@a: 1
	@b: 2

NAME SIGINT ends with end probes and maps
RUN "$SONDE" -e 'interval:ms:10 { @ = 1; } END { printf("end\n"); }' 2>"$TMPDIR/err" & p=$!; until_attached "$TMPDIR/err"; sleep 0.1; kill -INT $p; wait $p
EXPECT
	end
	$
	$
	@: 1

NAME SIGTERM ends with end probes and maps
RUN "$SONDE" -e 'interval:ms:10 { @ = 1; } END { printf("end\n"); }' 2>"$TMPDIR/err" & p=$!; until_attached "$TMPDIR/err"; sleep 0.1; kill -TERM $p; wait $p
EXPECT
	end
	$
	$
	@: 1
