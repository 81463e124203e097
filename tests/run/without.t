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

# Simulated: all features that came later are taken away at once, and the types of 4.18 and 5.4, whose kernels may
# have none. The verifier is this kernel's.
NAME what Linux 4.18, 5.4, 5.14 and 5.15 lack, all of it at once
RUN
	ask() {
		"$SONDE" -q $1 -c build/tests/calls -e '
		begin { @b = 1; printf("%s %d\n", "begin", @b); }
		uprobe:build/tests/calls:add6 /pid == cpid/ { @args = sum(arg0 + arg5); @m[arg0, comm] = arg1; $i = 0; while ($i < 300) { $i++; @loop = count(); } @h = hist(arg2); }
		uretprobe:build/tests/calls:add6 /pid == cpid/ { @result = sum(retval); @[ustack(1)] = count(); }
		tracepoint:syscalls:sys_enter_openat /pid == cpid/ { @opened[str(args.filename) != ""] = max(args.flags > 0); }
		tracepoint:syscalls:sys_enter_exit_group /pid == cpid/ { @n[comm, args.error_code] = count(); }
		rawtracepoint:sys_exit /pid == cpid/ { @raw = max(1); }' 2>&1
	}
	later() {
		"$SONDE" info | awk -v than="$1" 'BEGIN { split(than, old, ".") }
			/^  [A-Z]/ && match($0, /\(Linux [0-9]+\.[0-9]+\)/) {
				split(substr($0, RSTART + 7, RLENGTH - 8), since, ".")
				if (since[1] + 0 > old[1] + 0 || since[1] == old[1] && since[2] + 0 > old[2] + 0)
					print $1
			}' | paste -s -d ,
	}
	ask >"$TMPDIR/all"
	sed 's/main+[0-9]*/main/' "$TMPDIR/all"
	for k in 4.18 5.4 5.14 5.15; do
		no=$(later $k)
		case $k in 4.18 | 5.4) no=$no,BTF ;; esac
		ask "--no-feature $no" >"$TMPDIR/less"
		cmp -s "$TMPDIR/all" "$TMPDIR/less" && echo "$k: the same without $(echo $no | tr , '\n' | grep -cE '^(RINGS|LOOP|BTF|COOKIE|TASK_REGS)$') of five" ||
			{ echo "$k, without $no:"; diff "$TMPDIR/all" "$TMPDIR/less"; }
	done
NEEDS btf uprobe tracefs fast prog:calls
TIMEOUT 60
EXPECT
	begin 1
	$
	$
	@[
	        main
	]: 1
	@args: 7
	@b: 1
	@h:
	[2, 4)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@loop: 300
	@m[1, calls]: 2
	@n[calls, 0]: 1
	@opened[true]: 1
	@raw: 1
	@result: 21
	4.18: the same without 5 of five
	5.4: the same without 5 of five
	5.14: the same without 3 of five
	5.15: the same without 1 of five
