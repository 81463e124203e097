#!/bin/bash
# rectools.sh [-v] BUILD - tools over a recording of sets say what the same tools said while it was made, of the same process:
# as text where no times are in it, as counts where there are. As root. RECORD is the program that records and traces
# (BUILD/sonde), ONLY the tools that are compared.
# shellcheck disable=SC2317  # asked by name
verbose=
[ "$1" = -v ] && verbose=1 && shift
build=$(realpath "${1:-build}") || exit 1
SONDE=$build/sonde
tracer=${RECORD:-$SONDE}
tests=$(dirname "$(dirname "$(realpath "$0")")")
# On a disk, if there is one: what a file system in memory writes makes no requests.
tmp=$(mktemp -d "${REC_DIR:-$build}/rectools.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
# shellcheck source=tests/lib/lib.sh
. "$tests/lib/lib.sh"
bad=0 n=0

# One process: a shell that opens files, waits, and becomes a program that writes past the cache.
mkfifo gate quiet
cat > work.sh <<'END'
: > ready
read -r x < gate
for i in 1 2 3 4 5; do : < /etc/hostname; : < /nonexistent$i; done 2> /dev/null
read -r -t 0.05 x <> quiet
shopt -s execfail
exec /nonexistent/program 2> /dev/null
exec dd if=/dev/zero of=out bs=4k count=20 oflag=direct status=none
END
bash work.sh &
work=$!
# What the shell opens until it waits is not to be seen by some of the tracers.
waits_at_gate() {
	[ -e ready ] && grep -q '^State:.S' "/proc/$work/status"
}
eventually waits_at_gate || echo "work.sh does not wait"

started() {
	grep -q 'Hit Ctrl-C\|^Attached' "$1" || grep -q '^{"type": "start"' "${1%.err}.live"
}
tracers=
# live NAME WORD...: in the background; what it prints goes to NAME.live.
live() {
	local name=$1
	shift
	"$tracer" "$@" > "$name.live" 2> "$name.err" &
	tracers="$tracers $!"
	eventually started "$name.err" || cat "$name.err"
}
live opensnoop opensnoop -p $work
live execsnoop execsnoop --directory --parent-name -p $work
live failed execsnoop -x -p $work
live syscount syscount -p $work -T 500
live latency syscount -p $work -T 500 -L
live biosnoop biosnoop -p $work
live biolatency biolatency -p $work -j
live offcputime offcputime -p $work -f -m 40ms --state S
live runqlat runqlat -p $work -L -j
live bypid runqlat -P -L -p $work -j
live strace strace -f -p $work -o strace.out
live summary strace -c -f -p $work -U calls,errors,name -S name -o summary.out
live calls record -p $work --set strace -o calls.sonde
live record record -p $work --set syscalls,sched,disk,samples=99 -o f.sonde
live stacks record -p $work --set sched --stacks both -o stacks.sonde
echo > gate
wait $work
# shellcheck disable=SC2086  # several
kill -INT $tracers 2> /dev/null
wait

mv strace.out strace.live
mv summary.out summary.live

later() {
	"$SONDE" query -q "${FILE:-f.sonde}" "$@" 2> later.err
}
# same NAME FILTER WORD...: lines of both, through the filter.
same() {
	local name=$1 filter=$2
	shift 2
	[ -z "$ONLY" ] || [[ " $ONLY " == *" $name "* ]] || return
	n=$((n + 1))
	later "$@" > "$name.later"
	if [ "$($filter < "$name.live")" ] && diff <($filter < "$name.live") <($filter < "$name.later") > diff; then
		echo "ok $n - $name"
		[ -z "$verbose" ] || $filter < "$name.later" | head -n 8
		return
	fi
	bad=$((bad + 1))
	echo "not ok $n - $name"
	head -n 20 diff
	cat "$name.err" later.err
}
# Without the columns of times.
requests() {
	awk 'NR > 1 { print $2, $3, $4, $5, $6, $7 }' | sort
}
calls() {
	awk '{ print $1, $2 }' | sort
}
stacks() {
	sed 's/ [0-9]*$//' | sort
}
json_count() {
	grep '"hist"' | sum_of count
}
waits() {
	grep "\"tid\": $work," | sum_of count
}
same opensnoop cat opensnoop
same execsnoop cat execsnoop --directory --parent-name
same failed cat execsnoop -x
same syscount sort syscount -p $work -T 500
same latency calls syscount -p $work -T 500 -L
same biosnoop requests biosnoop -p $work
same biolatency json_count biolatency -p $work -j
FILE=stacks.sonde same offcputime stacks offcputime -p $work -f -m 40ms --state S
same summary cat strace -c -f -U calls,errors,name -S name -o /dev/stdout
FILE=calls.sonde same summary cat strace -c -f -U calls,errors,name -S name -o /dev/stdout
FILE=calls.sonde same strace cat strace -f -p $work -o /dev/stdout
same runqlat waits runqlat -L -j
same bypid waits runqlat -P -L -p $work -j

# Samples of other runs are other samples: all that were recorded are shown.
n=$((n + 1))
shown=$(later profile -f | awk '{ n += $NF } END { print n + 0 }')
kept=$(later -e 'profile:hz:99 /tid/ { @ = count(); }' | sed -n 's/^@: //p')
if [ "$shown" = "${kept:-0}" ]; then
	echo "ok $n - profile"
else
	bad=$((bad + 1))
	echo "not ok $n - profile: $shown of $kept samples"
fi
echo "$n tools, $bad differ"
[ $bad = 0 ]
