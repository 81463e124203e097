#!/bin/sh
# fault.sh SONDE [TRIES] - allocations and system calls fail in turn, TRIES of each case (0: every one;
# of system calls a tenth): sonde says what failed, or copes; it never crashes or hangs, and leaves
# nothing attached. Calls that are interrupted or write a byte at a time change nothing.
# SONDE must load the C library: make build/dynamic/sonde.
#
# Without root only the compiler is tried, against the recorded machine. Prints one line per case.
cd "$(dirname "$0")/../.." || exit 1
sonde=$(realpath "${1:-build/dynamic/sonde}") tries=${2:-0}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
if ! readelf -lW "$sonde" | grep -qw INTERP; then
	echo "$sonde loads no C library, whose calls could fail"
	exit 1
fi
failed=0 exact= own=f$$
${CC:-cc} -O1 -shared -fPIC tests/kernel/fault.c -o "$tmp/fault.so" || exit 1

# What an allocation's failure may lead to: the message, or an error of whoever asked for it.
judge() {
	case $rc in
	0 | 1 | 2 | 255) return 0 ;;
	134) grep -q '^ERROR: out of memory$' "$tmp/err" && return 0 ;;
	esac
	return 1
}

# What a system call's failure may lead to: the same without it, or an error in words. The same is the same output
# where that is known ($exact).
judge_call() {
	case $rc in
	0) [ -z "$exact" ] || [ -s "$tmp/err" ] || cmp -s "$exact" "$tmp/out" || return 1; return 0 ;;
	1 | 2 | 255) [ -s "$tmp/err" ] && return 0 ;;
	134) grep -q '^ERROR: out of memory$' "$tmp/err" && return 0 ;;
	esac
	return 1
}

# calls NAME ARGUMENTS... - runs sonde once for each kind of system call to count, then with each failing.
calls() {
	name=$1 bad=0 n=0 said=0 all=0
	shift
	for kind in open:24 read:5 write:28 mmap:12 ioctl:5 bpf:12 bpf:1 perf:24 epoll:12 wait:12 poll:12 fork:11 other:38; do
		no=${kind#*:} kind=${kind%:*}
		FAULT_CALL=$kind FAULT_COUNT=$tmp/count LD_PRELOAD=$tmp/fault.so "$sonde" "$@" >/dev/null 2>&1 </dev/null
		of=$(cat "$tmp/count") at=1 step=1
		all=$((all + of))
		[ "$tries" = 0 ] || step=$(((of * 10 + tries - 1) / tries))
		[ "$step" -gt 0 ] || step=1
		while [ $at -le "$of" ]; do
			timeout 20 env FAULT_CALL=$kind FAULT_AT=$at FAULT_ERRNO=$no LD_PRELOAD="$tmp/fault.so" "$sonde" "$@" \
				>"$tmp/out" 2>"$tmp/err" </dev/null
			rc=$?
			n=$((n + 1))
			[ ! -s "$tmp/err" ] || said=$((said + 1))
			judge_call || {
				bad=$((bad + 1))
				echo "# $kind $at with error $no: exit code $rc"
				head -n 3 "$tmp/err" | sed 's/^/#   /'
				[ -z "$exact" ] || diff "$exact" "$tmp/out" | head -n 5 | sed 's/^/#   /'
			}
			at=$((at + step))
		done
	done
	left=$(left_over)
	[ -z "$left" ] || { bad=$((bad + 1)); echo "# left: $left"; }
	[ $bad = 0 ] && echo "ok - $name: $n of $all system calls failed, $said of these were told" && return
	echo "not ok - $name: $bad of $n"
	failed=1
}

# same NAME KIND ERROR ARGUMENTS... - every third call of that kind fails so, and nobody sees it.
same() {
	name=$1 kind=$2 no=$3
	shift 3
	"$sonde" "$@" >"$tmp/want" 2>&1 </dev/null
	timeout 60 env FAULT_CALL=$kind FAULT_EVERY=3 FAULT_ERRNO=$no LD_PRELOAD="$tmp/fault.so" "$sonde" "$@" >"$tmp/got" 2>&1 </dev/null
	rc=$?
	# Whether a stack is taken whole is a matter of the moment, whoever interrupts.
	sed -i '/user stacks* w[ae][sr]e* cut/d' "$tmp/want" "$tmp/got"
	[ $rc = 0 ] && [ -s "$tmp/want" ] && cmp -s "$tmp/want" "$tmp/got" && echo "ok - $name" && return
	echo "not ok - $name: exit code $rc"
	diff "$tmp/want" "$tmp/got" | head -n 5 | sed 's/^/# /'
	failed=1
}

# try NAME ARGUMENTS... - runs sonde once to count, then with each allocation failing.
try() {
	name=$1
	shift
	FAULT_COUNT=$tmp/count LD_PRELOAD=$tmp/fault.so "$sonde" "$@" >/dev/null 2>"$tmp/err" </dev/null
	[ -s "$tmp/count" ] || { echo "ok - $name # SKIP a static sonde takes no other allocator"; return; }
	all=$(cat "$tmp/count") bad=0 aborted=0 n=0 at=1
	step=1
	[ "$tries" = 0 ] || step=$(((all + tries - 1) / tries))
	while [ $at -le "$all" ]; do
		timeout 20 env FAULT_AT=$at LD_PRELOAD="$tmp/fault.so" "$sonde" "$@" >/dev/null 2>"$tmp/err" </dev/null
		rc=$?
		n=$((n + 1))
		[ $rc = 134 ] && aborted=$((aborted + 1))
		judge || {
			bad=$((bad + 1))
			echo "# allocation $at: exit code $rc"
			head -n 3 "$tmp/err" | sed 's/^/#   /'
		}
		at=$((at + step))
	done
	left=$(left_over)
	[ -z "$left" ] || { bad=$((bad + 1)); echo "# left: $left"; }
	[ $bad = 0 ] && echo "ok - $name: $n of $all allocations failed, $aborted ended sonde" && return
	echo "not ok - $name: $bad of $n"
	failed=1
}

# Maps of these scripts that are still in the kernel (those of another run of this test have other names), definitions
# of their probes.
there() {
	[ ! -x /usr/sbin/bpftool ] || bpftool map 2>/dev/null | grep -o "name ${own}_[a-z]*"
	cat /sys/kernel/tracing/[ku]probe_events 2>/dev/null | grep -o 'sonde_[0-9_]*'
}

# What stays: the kernel takes its time for what has been closed.
left_over() {
	[ "$(id -u)" = 0 ] || return
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(there)" ] || return
		sleep 0.5
	done
	there
}

# The shell's own words about aborted children are of no interest.
exec 2>"$tmp/shell"
ulimit -c 0
script='struct P { int a; char s[4]; } tracepoint:sched:sched_switch / pid > 1 /
	{ @'$own'_a[comm, args.next_pid] = count(); @'$own'_h = hist(pid); printf("%s %d\n", comm, pid); }
	begin { for $i : 0..3 { @'$own'_b[$i] = $i; } }'
try compile --root build/host/6.1-x86_64 --mode codegen -e "$script"
try refuse --root build/host/6.1-x86_64 --mode codegen -e 'kprobe:nosuch { @a = $b + ; }'
try tool tools
if [ "$(id -u)" = 0 ] && "$sonde" -q -e 'begin { exit(); }' >/dev/null 2>&1; then
	try run -q -e 'begin { @'$own'_a["x"] = 1; @'$own'_b = hist(5); printf("%d %s\n", pid, comm);
		print(@'$own'_b); exit(); } end { print(@'$own'_a); }'
	try attach -q -e 'tracepoint:syscalls:sys_enter_getppid, software:cpu-clock:1000000,
		uprobe:libc:getppid { @'$own'_a[ustack] = count(); } interval:ms:10 { exit(); }'
	work='begin { @'$own'_a["x"] = 1; for $i : 0..300 { printf("line %d of text\n", $i); } }
		tracepoint:syscalls:sys_enter_getppid, software:cpu-clock:1000000, uprobe:libc:getppid /pid == cpid/ {
		@'$own'_n[ustack, kstack] = count(); } end { clear(@'$own'_n); }'
	calls 'system calls' -q -c true -e "$work"
	calls 'system calls of a picture' -q -o "$tmp/x.svg" -e 'begin { @'$own'_p[kstack] = count(); } profile:hz:99 { @'$own'_p[kstack] = count(); }
		interval:ms:30 { exit(); }'
	calls=$tmp/calls
	${CC:-cc} -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$calls" tests/progs/calls.c || exit 1
	cat >"$tmp/counts.bt" <<END
uprobe:$calls:add6, uprobe:$calls:greet { @${own}_each[func] = count(); }
uprobe:$calls:target { @${own}_args[arg0, str(arg1)] = sum(arg0); @${own}_at[tid] = nsecs; }
uretprobe:$calls:target { @${own}_back = sum(retval); @${own}_took = count(); delete(@${own}_at, tid); }
uprobe:$calls:target { @${own}_u[ustack(3)] = count(); printf("%s %s\\n", usym(reg("ip")), func); print((arg0, str(arg1))); }
uprobe:$calls:b*, uprobe:$calls:ne* { @${own}_many = count(); }
tracepoint:syscalls:sys_enter_nanosleep, tracepoint:syscalls:sys_enter_clock_nanosleep,
tracepoint:sched:sched_process_exit /pid == cpid/ { @${own}_calls = count(); }
rawtracepoint:sched_process_exit /pid == cpid/ { @${own}_exits = count(); printf("end of %s\\n", comm); }
END
	exact=$tmp/exact
	"$sonde" -q -c "$calls 3 5" "$tmp/counts.bt" >"$exact" 2>/dev/null </dev/null
	[ -s "$exact" ] || { echo 'not ok - what is counted'; failed=1; }
	calls 'system calls, what is counted then' -q -c "$calls 3 5" "$tmp/counts.bt"
	exact=
	for kind in read write poll wait; do
		same "$kind is interrupted" $kind 4 -q -c true -e "$work"
	done
	same 'a byte is written at a time' write short -q -c true -e "$work"
fi
exit $failed
