#!/bin/sh
# soak.sh SONDE [SECONDS] - a tracer that runs for long (60): many events, processes that start and end, libraries
# and containers that come and go. At the end every event was printed or is reported lost, and neither memory nor
# the number of open descriptors has grown in the second half. Needs root.
cd "$(dirname "$0")/../.." || exit 1
sonde=$(realpath "${1:-build/sonde}") seconds=${2:-60}
progs=${SONDE_TESTS:-build/tests}
tests/run.sh -b >/dev/null || exit 1
tmp=$(mktemp -d) || exit 1
tracer=
stop() {
	[ -z "$tracer" ] || kill -9 "$tracer" 2>/dev/null
	rm -rf "$tmp"
}
trap stop EXIT

# Others on this machine may soak, too.
burst=soak$$
cp "$progs/burst" "$tmp/$burst" || exit 1
script='tracepoint:syscalls:sys_enter_getppid /comm == "'$burst'"/ { printf("%d\n", pid); @u[ustack(3), kstack(3)] = count(); }
	tracepoint:sched:sched_process_exec { @started[comm] = count(); @pids[pid] = 1; }
	tracepoint:sched:sched_process_exit { delete(@pids, pid); }
	uprobe:libc:malloc /comm == "'$burst'"/ { @m[usym(reg("ip"))] = count(); }
	uprobe:'"$progs"'/unwind:leaf { @l[ustack] = count(); }
	interval:s:2 { clear(@u); clear(@m); clear(@started); clear(@l); }
	end { clear(@u); clear(@m); clear(@started); clear(@l); clear(@pids); }'
"$sonde" -q -o "$tmp/out" -e "$script" 2>"$tmp/err" &
tracer=$!

# What it holds now: KiB, and descriptors of maps, programs, events. (Files of other processes that were deleted
# are kept open, too, so that their addresses have names; what else runs here may bring some.)
look() {
	echo "$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$tracer/status) $(ls -l /proc/$tracer/fd | grep -c anon_inode)"
}

# A container: namespaces of its own, its /proc, and a control group where there are those of version 2.
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
unshare -m -p -u -i -f true || groups=none
[ "$groups" != none ] || echo "# without containers"
container() {
	[ "$groups" != none ] || return 0
	group=${groups:+$groups/$burst}
	[ -z "$group" ] || mkdir "$group" || return 1
	BURST=$tmp/$burst GROUP=$group sh -c '[ -z "$GROUP" ] || echo 0 >"$GROUP/cgroup.procs"
		exec unshare -m -p -u -i -f sh -c "mount -t proc proc /proc && $BURST 200"'
	rc=$?
	[ -z "$group" ] || rmdir "$group"
	return $rc
}

i=0
until grep -q 'Seccomp:.2' /proc/$tracer/status 2>/dev/null || [ $((i += 1)) -gt 300 ]; do
	sleep 0.1
done
end=$(($(date +%s) + seconds)) produced=0 rounds=0
while [ "$(date +%s)" -lt $end ] && kill -0 $tracer 2>/dev/null; do
	for n in 3000 500; do
		"$tmp/$burst" $n
		produced=$((produced + n))
	done
	i=0
	while [ $((i += 1)) -le 20 ]; do
		/bin/true
	done
	container || { echo "# a container failed"; break; }
	[ "$groups" = none ] || produced=$((produced + 200))
	# A library that is opened, called and gone with its process.
	"$progs/unwind" dl >/dev/null || break
	rounds=$((rounds + 1))
	look >>"$tmp/curve"
done
kill $tracer
wait $tracer
rc=$?
tracer=

printed=$(grep -c '^[0-9][0-9]*$' "$tmp/out")
lost=$(sed -n 's/.*Total lost event count: //p' "$tmp/err")
half=$((rounds / 2))
# The largest of the second half against the largest of the first; some room for chunks of caches, which
# other processes of the machine fill, too.
grown=$(awk -v half=$half '{ m = NR > half } $1 > kib[m] { kib[m] = $1 } $2 > fds[m] { fds[m] = $2 }
	END { print kib[1] - kib[0], fds[1] - fds[0], kib[0] + 0, kib[1] + 0, fds[1] + 0 }' "$tmp/curve")
# shellcheck disable=SC2086
set -- $grown
echo "# $rounds rounds in $seconds s: $produced events, $printed printed, ${lost:-0} lost; at most $3 KiB in the first half, $4 in the second, $5 descriptors"
fail=0
[ $rc = 0 ] || { echo "# exit code $rc"; head -n 5 "$tmp/err"; fail=1; }
[ $((printed + ${lost:-0})) = $produced ] || { echo "# $((produced - printed - ${lost:-0})) events are in no account"; fail=1; }
[ "$1" -le 8192 ] || { echo "# memory grew by $1 KiB"; fail=1; }
[ "$2" -le 2 ] || { echo "# descriptors grew by $2"; fail=1; }
[ $fail = 0 ] && echo "1 passed, 0 failed" && exit
grep -v '^Lost' "$tmp/err" | tail -n 5 | sed 's/^/# /'
echo "0 passed, 1 failed"
exit 1
