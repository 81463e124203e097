#!/bin/sh
# query.sh [-u] BUILD - questions to recordings that mkrec makes, and the whole answers: tests/record/query.txt.
# -u writes that file; read it. No root.
update=
[ "$1" = -u ] && update=1 && shift
build=$(realpath "${1:-build}") || exit 1
cd "$(dirname "$0")" || exit 1
here=$PWD
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export TZ=UTC
"$build/mkrec" a.sonde && "$build/mkrec" -a cut.sonde && "$build/mkrec" -l lost.sonde && "$build/mkrec" -g gap.sonde && "$build/mkrec" -p spans.sonde &&
	"$build/mkrec" -y lang.sonde || exit 1
echo 't:raw_syscalls:sys_enter { @[comm, str($1)] = count(); }' > script.bt
head -c 1000 a.sonde > short.sonde
head -c 64 a.sonde > empty.sonde
python3 - <<'END'
data = bytearray(open("a.sonde", "rb").read())
at = [i for i in range(64, len(data), 8) if data[i:i + 4] == b"SBLK" and data[i + 4] == 16][0]
data[at + 60] ^= 0x55
open("bad.sonde", "wb").write(data)
END

# q WORD... - a question, and what came of it.
q() {
	printf '$ query'
	printf ' %s' "$@"
	echo
	timeout 20 "$build/sonde" query "$@" 2>&1 < /dev/null
	rc=$?
	[ $rc = 0 ] || echo "[$rc]"
}

questions() {
	# counts, latencies by call, who ran after whom
	q -q a.sonde -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }'
	q -q a.sonde -e 't:raw_syscalls:sys_enter { @s[tid] = nsecs; }
t:raw_syscalls:sys_exit /@s[tid]/ { @us[args.id] = hist((nsecs - @s[tid]) / 1000); delete(@s, tid); }'
	q -q a.sonde -e 't:sched:sched_switch { @[args.prev_comm, args.next_comm] = count(); }'
	# what strace needs is a set of its own
	q -q a.sonde strace
	q -q a.sonde strace -C
	q -q a.sonde strace -u root
	q -q a.sonde strace -E HOME
	q -q empty.sonde strace
	# its summary needs less
	q -q a.sonde strace -c -S name
	q -q a.sonde strace -p 200 -f -c -e write -U calls,errors,max-time,name
	q -q empty.sonde strace -c
	q -q a.sonde --follow -e 'tracepoint:raw_syscalls:sys_enter { @[pid] = count(); }'
	# words of a row
	q a.sonde -e 't:syscalls:sys_enter_openat {
printf("%d %d %s %s %d %d %d %d %d %d %d %llu\n", pid, tid, comm, str(args.filename), args.dfd, args.flags,
ppid, uid, gid, cgroup, cpu, nsecs); }'
	q -q a.sonde -e 't:raw_syscalls:sys_* { @[probe] = count(); }'
	q -q a.sonde -e '*:sched:* { @[probe, cpu] = count(); }'
	q -q a.sonde -e 'syscall:open* { @[probe] = count(); }'
	q -q a.sonde -e 'profile:hz:99 { @[kstack, ustack, comm] = count(); @k[kstack(1)] = count(); @r[ustack(raw, 1)] = count(); }'
	q -q a.sonde -f folded -e 'profile:hz:99 { @[ustack] = count(); }'
	# functions of interpreted languages have no addresses; the last recorder did not name the language
	q -q lang.sonde -e 'profile:hz:99 { @[ustack] = count(); @l[ustack(lang, 1)] = count(); @p[ustack(perf, 2)] = count(); }'
	q -q lang.sonde -f json -e 'profile:hz:99 { print((nsecs, ustack(3))); exit(); }'
	q -q lang.sonde -f folded -e 'profile:hz:99 { @[ustack] = count(); }'
	q -q lang.sonde -f flame -e 'profile:hz:99 { @[ustack] = count(); }' | tr '<' '\n' |
		sed -n 's/^title>\(run [^ ]*\) .*/\1/p; s/^rect.*fill="\(#[0-9a-f]*\)".*/\1/p' | grep -A 1 run
	q lang.sonde -e 'profile:hz:99 { @[ustack(native)] = count(); @ = count(); }'
	q -q a.sonde -f json -e 't:raw_syscalls:sys_exit { @[comm] = stats(args.ret); @h = lhist(args.ret, 0, 100, 50); }'
	q -q a.sonde -e 't:raw_syscalls:sys_exit { @ = avg(args.ret); @m[comm] = max(args.ret); @n[comm] = min(args.ret);
@t = tseries(args.ret, 200ms, 5); }'
	q -q a.sonde -e 't:syscalls:sys_enter_openat { print(args); print(strftime("%F %T", nsecs)); exit(); }'
	# computed from what was kept; in a function, a filter, a macro
	q -q a.sonde -e 'fn half($n: int64): int64 { return $n / 2 + args.id; }
macro big(x) { x > 50 } /* what is kept is found behind it, too */
t:raw_syscalls:sys_exit /args.ret > 0 && big(args.ret)/ { @[half(args.ret)] = count(); }'
	q -q a.sonde -e 't:raw_syscalls:sys_exit /errno/ { @[args.id, errno, strerror(errno)] = count(); }'
	# begin, intervals, exit, end: in recorded time
	q -q a.sonde -e 'begin { printf("begin %d\n", elapsed); } end { printf("end %d ms\n", elapsed / 1000000); }
interval:ms:300 { printf("%d ms: %d\n", elapsed / 1000000, @n); } t:raw_syscalls:sys_enter { @n++; }'
	q -q a.sonde -e 't:raw_syscalls:sys_enter { if (++@ == 5) { exit(3); } } end { printf("end\n"); }'
	# spans are rows of their own
	q -q spans.sonde -e 'span_begin:* { @s[span.name, span.id] = nsecs; }
span_end:*:block_rq_issue /@s[span.name, span.id]/ { @ms[span.name] = hist((nsecs - @s[span.name, span.id]) / 1000000); }
end { clear(@s); }'
	q -q spans.sonde -e 'span_begin:tracepoint:block:block_rq_issue { @[comm] = sum(args.bytes); } tracepoint:block:* { @n++; }'
	q -q spans.sonde -e 'span_end:tracepoint:block:* { @[args.sector] = count(); }'
	q -q spans.sonde -l 'span_*'
	q -q a.sonde -e 'span_begin:* { @ = count(); } span_end:tracepoint:block:block_rq_issue { @ = count(); }'
	q -q spans.sonde -e 'span_begin:tracepoint:block:block_rq_complete { @ = count(); }'
	q -q a.sonde -e 't:raw_syscalls:* { span_begin("x", tid); }'
	# parts
	q -q --from 500ms --to 720ms a.sonde -e 't:raw_syscalls:sys_enter { printf("%d ", elapsed / 1000000); }'
	q -q --for 200ms a.sonde -e 't:raw_syscalls:sys_enter { @ = count(); }'
	q -q -p 200,300 a.sonde -e 't:raw_syscalls:sys_enter { @[pid] = count(); }'
	q -q a.sonde lost.sonde cut.sonde -e 't:raw_syscalls:sys_enter { @[comm] = count(); }'
	# scripts and tools
	q a.sonde script.bt word
	q a.sonde syscount
	q a.sonde --from 1s syscount
	q a.sonde opensnoop
	q a.sonde statsnoop
	q a.sonde runqlat
	# lists
	q a.sonde -l
	q a.sonde -lv
	q a.sonde -l '*:*:sys_enter*'
	q a.sonde -l 'kprobe:*'
	# what was lost
	q -q cut.sonde -e 't:raw_syscalls:sys_enter { @ = count(); }'
	q -q lost.sonde -e 't:raw_syscalls:sys_enter { @ = count(); }'
	q -q lost.sonde --to 100ms -e 't:raw_syscalls:sys_enter { @ = count(); }'
	q -q short.sonde -e 't:raw_syscalls:sys_enter { @ = count(); }'
	q empty.sonde -e 't:raw_syscalls:sys_enter { @ = count(); }'
	q -q bad.sonde -e 't:raw_syscalls:sys_enter { @ = count(); }'
	# what was not recorded
	q a.sonde -e 't:syscalls:sys_enter_openat { printf("%s\n", str(args.pathname)); }'
	q a.sonde -e 't:syscalls:sys_enter_openat { @[args.mode] = count(); }'
	q a.sonde -e 't:raw_syscalls:sys_enter { @[kstack] = count(); }'
	q a.sonde -e 't:raw_syscalls:sys_enter { @ = curtask->mm->total_vm; }'
	q a.sonde -e 't:raw_syscalls:sys_* { @[retval] = count(); }'
	q a.sonde -e 't:syscalls:sys_enter_openat { @ = *args.filename; }'
	q a.sonde -e 't:raw_syscalls:sys_enter { @[numaid] = count(); }'
	q a.sonde -e 't:raw_syscalls:sys_enter { $p = (uint64)args.id; @ = *(uint64 *)$p; }'
	q a.sonde -e 'kprobe:vfs_read { @ = count(); }'
	q a.sonde -e 'iter:task { @ = count(); }'
	q gap.sonde -e 'interval:s:1 { @ = count(); } t:raw_syscalls:sys_enter { @e = count(); }'
	q a.sonde -e 'config = { missing_probes = "ignore" } t:block:block_rq_issue { @ = count(); }'
	# what acts now
	q a.sonde --unsafe -e 't:raw_syscalls:sys_enter { system("ls"); }'
	q a.sonde -e 't:raw_syscalls:sys_enter { system("ls"); }'
	q a.sonde -e 't:raw_syscalls:sys_enter { signal("KILL"); override(1); cat("/etc/hostname"); }'
	# words
	q a.sonde -c true -e 'begin { exit(); }' | head -n 2
	q a.sonde --from 3 -e 'begin { exit(); }'
	q a.sonde --from 3s --to 2s -e 'begin { exit(); }'
	q script.bt -e 'begin { exit(); }'
	q -e 'begin { exit(); }'
	q none.sonde -e 'begin { exit(); }'
	q -h | head -n 2
}

questions > got.txt
if [ "$update" ]; then
	cp got.txt "$here/query.txt"
	exit
fi
if diff -u "$here/query.txt" got.txt; then
	echo "$(grep -c '^\$ query' got.txt) questions: ok"
else
	exit 1
fi
