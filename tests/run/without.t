# Kernels that have less: what newer ones bring is taken away, and the same is printed.

NAME without each feature of the kernel, and without those that stand in for each other
RUN
	ask() {
		"$SONDE" -q $1 -c build/tests/calls -e '
		begin { @b = 1; printf("%s %d\n", "begin", @b); }
		uprobe:build/tests/calls:add6 /pid == cpid/ { @args = sum(arg0 + arg5); @m[arg0] = arg1; $i = 0; while ($i < 300) { $i++; @loop = count(); } for ($j : 0..40) { @range = sum($j); } }
		uretprobe:build/tests/calls:add6 /pid == cpid/ { @result = sum(retval); }
		tracepoint:syscalls:sys_enter_exit_group /pid == cpid/ { @n[comm, args.error_code] = count(); @l = lhist(5, 0, 10, 2); }
		tracepoint:raw_syscalls:sys_exit /pid == cpid/ { @ret = max(args.ret >= 0); }
		rawtracepoint:sys_exit /pid == cpid/ { @raw = max(1); }
		end { print(@n); clear(@n); printf("%d\n", @b); }' 2>&1
	}
	ask >"$TMPDIR/all"
	cat "$TMPDIR/all"
	for f in $("$SONDE" info --json | sed -n 's/.*"name": "\([A-Z][A-Z0-9_]*\)", "available": "yes".*/\1/p') \
		LOOP,MAY_GOTO RINGS,RINGBUF COOKIE,UPROBE_MULTI,PERF_LINK TP_BTF,TASK_BTF,TASK_REGS; do
		[ $f != PROG_BTF ] || f=PROG_BTF,LOOP # callbacks are told by it
		ask "--no-feature $f" >"$TMPDIR/less"
		cmp -s "$TMPDIR/all" "$TMPDIR/less" || { echo "without $f:"; diff "$TMPDIR/all" "$TMPDIR/less"; }
		n=$((${n:-0} + 1))
	done
	echo "$((n > 20))"
NEEDS btf uprobe tracefs fast prog:calls
TIMEOUT 180
EXPECT
	begin 1
	@n[calls, 0]: 1
	1
	$
	$
	@args: 7
	@b: 1
	@l:
	[4, 6)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@loop: 300
	@m[1]: 2
	@range: 780
	@raw: 1
	@result: 21
	@ret: 1
	1
