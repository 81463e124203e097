#!/bin/bash
# recorded.sh [-v] BUILD - the same script answers the same while events happen and later, over the recording that the same
# session made of them. Each line of the table: what is kept, and a script in which KEEP stands for it. As root. RECORD is
# the program that records (BUILD/sonde).
verbose=
[ "$1" = -v ] && verbose=1 && shift
build=$(realpath "${1:-build}") || exit 1
sonde=$build/sonde
record=${RECORD:-$sonde}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
bad=0 n=0
# Many calls, processes, threads that begin and end, names that change.
command='for i in 1 2 3; do cat /etc/hostname /nonexistent 2> /dev/null; ls /etc; done | sort | head -n 3 > /dev/null'

# same KEPT SCRIPT
same() {
	local kept=$1 script="config = { print_maps_on_exit = false } $2" live later
	n=$((n + 1))
	live=$("$record" record -q -o f.sonde -e "${script//KEEP/keep($kept);}" -- /bin/sh -c "$command" 2> err)
	later=$("$sonde" query -q f.sonde -e "${script//KEEP/}" 2> later.err)
	if [ "$live" = "$later" ] && [ "$live" ] ; then
		echo "ok $n - $2"
		[ -z "$verbose" ] || echo "$live" | head -n 12
		return
	fi
	bad=$((bad + 1))
	echo "not ok $n - $2"
	cat err later.err
	diff <(echo "$live") <(echo "$later") | head -n 20
}

enter='tracepoint:raw_syscalls:sys_enter' exit='tracepoint:raw_syscalls:sys_exit'
# Only the command and what it starts; the name of the recorder's child before its exec is part of it.
same args "$enter { KEEP @[comm] = count(); } end { print(@); }"
same args "$enter { KEEP @[comm, pid, tid, uid, gid] = count(); } end { print(@); }"
same args "$enter { KEEP @[args.id] = count(); @n = count(); } end { print(@); print(@n); }"
same args "$exit { KEEP @[comm, args.id] = hist(args.ret); @s[args.id] = stats(args.ret); } end { print(@); print(@s); }"
same args "$exit { KEEP @a = avg(args.ret); @m[comm] = max(args.ret); @i[comm] = min(args.ret); @u = sum(args.ret); }
end { print(@a); print(@m); print(@i); print(@u); }"
same args "$exit { KEEP @[probe] = lhist(args.ret, 0, 100, 10); } end { print(@); }"
# latency by call
same 'args, nsecs' "$enter { KEEP @s[tid] = nsecs; }
$exit { KEEP if (@s[tid]) { @ns[args.id] = hist(nsecs - @s[tid]); @c[comm] = sum(nsecs - @s[tid]); delete(@s, tid); } }
end { print(@ns); print(@c); clear(@s); }"
# who ran after whom
same args "tracepoint:sched:sched_switch { KEEP @[args.prev_comm, args.next_comm] = count(); } end { print(@); }"
same args "tracepoint:sched:sched_switch { KEEP @[cpu] = count(); @p[args.prev_prio] = count(); @t = max(args.next_pid); }
end { print(@); print(@p); print(@t); }"
same args "tracepoint:sched:sched_process_fork { KEEP
@[str(args.parent_comm), args.parent_pid, str(args.child_comm), args.child_pid] = count(); } end { print(@); }"
same args "tracepoint:sched:sched_process_exit { KEEP @[args.comm, args.pid, pid, cpu] = count(); } end { print(@); }"
same args "$exit /errno/ { KEEP @[errno, comm] = count(); } end { print(@); }"
# texts
same 'args, str(args.filename)' "tracepoint:syscalls:sys_enter_openat { KEEP
@[comm, str(args.filename), args.flags] = count(); } end { print(@); }"
same 'str(args.filename), args.mode' "tracepoint:syscalls:sys_enter_openat { KEEP if (args.mode == 0 && strcontains(str(args.filename), \"etc\")) {
@[str(args.filename)] = count(); } } end { print(@); }"
same 'args.id, comm, ppid' "$enter { KEEP @[ppid] = count(); } end { print(@); }"
# stacks
same 'kstack, ustack' "tracepoint:syscalls:sys_enter_openat { KEEP @[comm, ustack(3)] = count(); } end { print(@); }"
same 'kstack' "tracepoint:sched:sched_process_exit { KEEP @[kstack] = count(); @k[kstack(2)] = count(); } end { print(@); print(@k); }"
# words, functions, filters, loops, strings
same args "fn half(\$n: int64): int64 { return \$n / 2; } $exit /args.ret > 0/ { KEEP @[half(args.ret)] = count(); } end { print(@); }"
same args "$exit { KEEP \$i = 0; while (\$i < 3) { @[\$i, args.ret > 0] = count(); \$i++; } } end { print(@); }"
same args "$enter { KEEP @[args.args[0] & 3] = count(); @h[comm] = hist(args.args[2]); } end { print(@); print(@h); }"
same args "$enter { KEEP @x[comm] += args.id; @y[comm]++; }
end { \$n = 0; for (\$k : @x) { \$n += \$k.1; } print(\$n); print(len(@y)); }"
same args "$enter { KEEP @[strftime(\"%F %H\", nsecs - nsecs % 3600000000000)] = count(); @u[username] = count(); } end { print(@); clear(@u); }"
same args "$enter { KEEP @[cgroup] = count(); @n[nsecs(boot) / 3600000000000] = count(); } end { print(@); print(@n); }"
same args "$enter { KEEP @[comm == \"cat\" ? \"cat\" : \"other\"] = count(); } end { print(@); }"
same args "$enter { KEEP if (args.id == 1) { @w[comm] = count(); } } end { printf(\"writes\\n\"); print(@w); }"
echo "$n scripts, $bad differ"
[ $bad = 0 ]
