#!/bin/sh
# bpftrace's own tools side by side: sonde and bpftrace run the same tool at the same time, watch the
# same load, and must say the same about it.
#
#   tests/diff/tools.sh [-r ROOT] [-d DIR] [-k KEEP] SONDE [TOOL...]
#
# ROOT is a folder with another system in it, where bpftrace is installed: both tracers and the load
# then run under chroot there, so SONDE has to be static. DIR is where the tools are, within ROOT
# (/usr/sbin). KEEP: all outputs are kept there. TOOLs, else all that are listed below.
#
# The reference starts first, being slower. When both have attached, load.c does a fixed number of
# what the tool looks at, with names that nobody else has; then both are stopped. How they are
# compared:
#   lines  the lines that name the load: the same, in the same order, without the time in front
#   rows   the rows of maps that belong to the load: the same
#   shape  a histogram of times, in which everything on the machine counts: totals within 5 %, and
#          the one's values on average at most half a bucket from the other's, since each takes its
#          own time of an event
#   sum    a rate per second: the sums within 5 %, since their seconds do not begin together
# Something else on the machine may come between, so a difference has to show three times.
# Prints a line for each tool; the last line sums up. Exit code 1 when one failed.
set -u

tools="execsnoop opensnoop killsnoop statsnoop syncsnoop naptime setuids threadsnoop gethostlatency
	syscount bitesize writeback biolatency runqlat pidpersec"

usage() {
	sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2
	exit 2
}

root='' dir=/usr/sbin keep=''
while getopts r:d:k: o; do
	case $o in
	r) root=${OPTARG%/} ;;
	d) dir=$OPTARG ;;
	k) keep=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || usage
sonde=$(command -v "$1") || { echo "tools.sh: no $1"; exit 1; }
shift
[ $# -gt 0 ] || set -- $tools
here=$(cd "$(dirname "$0")" && pwd)
inside() { ${root:+chroot "$root"} "$@"; }

why=
if [ "$(id -u)" != 0 ]; then
	why='tracing needs root'
else
	version=$(inside bpftrace -V 2>/dev/null)
	case $version in
	'') why='no bpftrace is installed here' ;;
	*sonde*) why='bpftrace is sonde here' ;;
	'bpftrace v0.27'*) ;;
	*) why="not bpftrace 0.27, but: $version" ;;
	esac
fi
if [ "$why" ]; then
	echo "NOT RUN: $why"
	echo "0 passed, 0 failed, $# skipped"
	exit 0
fi

# Names as seen under ROOT; $root$work is where this script finds it. The load needs a real disk.
work=$(mktemp -d "$root/var/tmp/sonde-tools.XXXXXX") || exit 1
work=${work#"$root"}
tracers=
trap 'kill $tracers 2>/dev/null; rm -rf "$root$work"' EXIT
trap 'exit 130' INT TERM
${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -o "$root$work/load" "$here/load.c" -lpthread ||
	exit 1
cp "$sonde" "$root$work/sonde"
inside "$work/sonde" -V >/dev/null || { echo "tools.sh: $sonde does not run under $root"; exit 1; }

how() {
	case $1 in
	syscount | bitesize) echo rows ;;
	biolatency | runqlat) echo shape ;;
	pidpersec) echo sum ;;
	*) echo lines ;;
	esac
}

# What belongs to the load in a tool's output.
select_lines() {
	case $1 in
	syscount) grep -E '^@(syscall\[(124|146|147)\]|process\[toolload\]):' ;;
	bitesize) sed -n '/^@\[toolload\]:/,/^$/p' ;;
	biolatency | runqlat) grep '^\[' ;;
	pidpersec) sed -n 's/.*@: //p' ;;
	writeback) sed -n 's/^[0-9:]*  \(.*\) sync  *[0-9.]*$/\1 sync/p' ;;
	*) grep toolload | sed 's/^ *[0-9][0-9]:[0-9:.]* *//' ;;
	esac
}

# Two histograms: the totals, and how far values are from their like, in buckets; 1: too far.
compare_shapes() {
	awk '
		{
			key = $0
			sub(/[])].*/, "", key)
			n = $0
			sub(/^[^])]*[])] */, "", n)
			sub(/ .*/, "", n)
			sub(/^\[/, "", key)
			sub(/,.*/, "", key)
			unit = index("KMGT", substr(key, length(key)))
			low = (key + 0) * (unit ? 2 ^ (10 * unit) : 1)
			bucket = low < 1 ? 0 : int(log(low) / log(2) + 1.001)
			count[FILENAME == ARGV[1], bucket] += n
			total[FILENAME == ARGV[1]] += n
		}
		END {
			a = total[1]
			b = total[0]
			if (!a || !b)
				exit 1
			for (i = 0; i < 64; i++) {
				ahead += count[1, i] / a - count[0, i] / b
				shift += ahead < 0 ? -ahead : ahead
			}
			printf "%d and %d values, mean distance %.2f buckets", a, b, shift
			off = a < b ? b - a : a - b
			exit off > 0.05 * a || shift > 0.5
		}' "$1" "$2"
}

compare_sums() {
	awk '
		{ sum[FILENAME == ARGV[1]] += $1 }
		END {
			printf "sums %d and %d", sum[1], sum[0]
			off = sum[1] - sum[0]
			exit !sum[1] || (off < 0 ? -off : off) > 0.05 * sum[1]
		}' "$1" "$2"
}

wait_attached() { # files without "Attached" within a minute: 1
	i=0
	while ! grep -qs '^Attach' "$1.out" "$1.err"; do
		i=$((i + 1))
		[ $i -lt 600 ] && kill -0 "$2" 2>/dev/null || return 1
		sleep 0.1
	done
}

# Runs both and the load; leaves $case.{reference,sonde}{,.out,.err}. 1: one did not attach.
run_both() {
	rm -rf "$root$work/dir"
	mkdir "$root$work/dir"
	${root:+chroot "$root"} bpftrace "$dir/$1.bt" </dev/null >"$case.reference.out" 2>"$case.reference.err" &
	tracers=$!
	wait_attached "$case.reference" $! && attached=y || attached=
	${root:+chroot "$root"} "$work/sonde" "$dir/$1.bt" </dev/null >"$case.sonde.out" 2>"$case.sonde.err" &
	tracers="$tracers $!"
	wait_attached "$case.sonde" $! || attached=
	if [ $attached ]; then
		sleep 0.2
		inside "$work/load" "$1" "$work/dir" >"$case.load" 2>&1 || attached=
	fi
	kill -INT $tracers 2>/dev/null
	wait $tracers
	tracers=
	for t in reference sonde; do
		select_lines "$1" <"$case.$t.out" >"$case.$t"
	done
	[ $attached ]
}

# Sets what to how it came out; 1: a difference.
judge() {
	case $kind in
	shape) what=$(compare_shapes "$case.reference" "$case.sonde") ;;
	sum) what=$(compare_sums "$case.reference" "$case.sonde") ;;
	*)
		what="$(($(wc -l <"$case.reference"))) $kind"
		[ -s "$case.reference" ] && cmp -s "$case.reference" "$case.sonde"
		;;
	esac
}

passed=0 failed=0 skipped=0 n=0
for tool; do
	n=$((n + 1))
	if [ ! -r "$root$dir/$tool.bt" ]; then
		skipped=$((skipped + 1))
		echo "ok $n - $tool # SKIP no $dir/$tool.bt"
		continue
	fi
	kind=$(how "$tool")
	result=
	case=$root$work/$tool
	for try in 1 2 3; do
		if run_both "$tool"; then
			judge && result=ok && break
		else
			what='did not attach, or the load failed'
		fi
	done
	if [ $result ]; then
		passed=$((passed + 1))
		[ $try = 1 ] || what="$what, time $try"
		echo "ok $n - $tool: $what"
	else
		failed=$((failed + 1))
		echo "not ok $n - $tool: $what"
		{
			diff -u "$case.reference" "$case.sonde" | head -n 30
			for t in reference sonde; do
				grep ERROR "$case.$t.err" | head -n 5
			done
		} | sed 's/^/# /'
	fi
	if [ "$keep" ]; then
		mkdir -p "$keep" && cp "$case".* "$keep"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
