NAME a signal
RUN
	"$SONDE" -B line -e 'self:signal:SIGUSR1 { @n++; printf("signal %d %s\n", @n, probe); if (@n == 2) { exit(3) } }
		END { clear(@n) }' >"$TMPDIR/out" 2>"$TMPDIR/err" & p=$!
	until_attached "$TMPDIR/err"
	kill -USR1 $p
	until_written "$TMPDIR/out"
	kill -USR1 $p
	wait $p
	e=$?
	cat "$TMPDIR/out"
	echo $e
TIMEOUT 15
EXPECT
	signal 1 self:signal:SIGUSR1
	signal 2 self:signal:SIGUSR1
	$
	$
	3

NAME tests of a script
ARGS --test -q
PROG BEGIN { @a = 1; } test:good { printf("not shown\n"); @a == 1 } test:bad { printf("shown\n"); return 5; } test:worse { errorf("wrong"); } test:leaves { exit(1); } kprobe:no_such_function_here { }
RC 1
EXPECT
	ok test:good
	shown
	not ok test:bad: returned 5
	not ok test:worse
	not ok test:leaves
	1 passed, 3 failed
	$
	$
	@a: 1
ERR_RE
	...
	.*wrong
	...

NAME tests that pass
ARGS --test -q
PROG test:a { return 0; } test:b { }
EXPECT
	ok test:a
	ok test:b
	2 passed, 0 failed
	$
	$

NAME benchmarks
ARGS --bench -q
PROG bench:count { @ = count(); } test:not_run { exit(1) } END { print(@ > 1000); clear(@) }
EXPECT_RE
	bench:count: [1-9][0-9]* ns per run \([0-9]+ runs\)
	true
	$
	$

NAME tests without --test
PROG test:a { }
RC 255
EXPECT
ERR
	ERROR: No probes attached; use --test to run test probes.

NAME tests beside other probes are left out
PROG BEGIN { printf("begin\n"); } test:a { exit(1); } bench:b { exit(1); }
EXPECT
	begin
	$
	$
