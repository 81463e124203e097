#!/bin/bash
# verified.sh [-u] SONDE - what programs cost the kernel's verifier stays what it is.
#
# Loads, without running it, every script of tests/run/*.t, and every way to store in every kind of
# map in every kind of loop; counts the instructions that the verifier walked through (`-v` tells).
# A script may cost USUAL of them. What costs more stands in tests/verified.txt, with its own limit;
# a row that is not needed any more is an error, too. -u writes the table: twice what it costs now.
# Plain scripts may cost ten times what they cost the reference.
# Needs root and a kernel that tells (Linux 5.16). The last line sums up.
set -u
update=
[ "${1-}" != -u ] || { update=1; shift; }
sonde=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
USUAL=3000
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# cost OPTION... - prints the sum, or nothing when it could not be loaded here.
cost() {
	timeout 20 "$sonde" --dry-run --verify-llvm-ir -v "$@" 2>&1 </dev/null | awk '
		/ instructions, [0-9]+ verified$/ { n += $(NF - 1) }
		END { if (n) print n }'
}

cases() {
	local set
	python3 -S -B tests/lib/cases.py list tests/run/*.t >"$work/cases" || exit 1
	while IFS= read -r -d '' set; do
		(
			eval "$set"
			for e in $env; do export "${e?}"; done
			n=$(cost $args -e "$prog" $params)
			printf '%s\t%s: %s\n' "${n:-0}" "$file" "$name"
		)
	done <"$work/cases"
}

# `pid` is a value that nothing bounds.
stores=('@' '@[pid]' '@[pid, comm]' '@[kstack]' '@[str(uptr(0x1000))]' '@[ustack, comm]')
values=('count()' 'max(pid)' 'stats(pid)' 'hist(pid)' 'lhist(pid, 0, 100, 1)' 'tseries(pid, 1s, 5)' 'pid' 'comm')
loops=('%s' 'for $i : 0..10 { %s }' 'for $i : 0..100 { %s }' '$w = 0; while ($w < 7) { %s $w++; }'
	'unroll(10) { %s }' 'for $i : 0..9 { for $j : 0..9 { %s } }'
	'$w = 0; while ($w < 5) { for $i : 0..5 { %s } $w++; }'
	'$w = 0; while ($w < 4) { $v = 0; while ($v < 4) { %s $v++; } $w++; }')

matrix() {
	for l in "${loops[@]}"; do
		for s in "${stores[@]}"; do
			for v in "${values[@]}"; do
				body=${l/\%s/$s = $v;}
				n=$(cost -e "tracepoint:sched:sched_process_fork { $body }")
				printf '%s\t%s\n' "${n:-0}" "$body"
			done
		done
	done
}

# What these cost in bpftrace 0.27.1 on Linux 6.18: ten times that is the most. Without may_goto (before 6.9)
# the verifier walks through each round of the hashing of a text.
reference='61 @[str(args.filename)] = count()
61 @[str(args.filename)] = sum(1)
80 @[pid, str(args.filename)] = count()
273 @[comm, str(args.filename)] = count()
136 @[str(args.filename)] = hist(pid)
140 @[comm] = count()
55 @[pid] = count()
122 @ = hist(pid)
223 @[kstack] = count()
309 @[ustack, comm] = count()'

beside() {
	"$sonde" info | grep -q 'MAY_GOTO *yes' || return 0
	while read -r n script; do
		script="tracepoint:syscalls:sys_enter_openat { $script; }"
		printf '%d\t%s\t%d\n' "$(cost -e "$script")" "$script" $((10 * n))
	done <<-END
		$reference
	END
}

if [ ! "$(cost -e 'begin { exit(); }')" ]; then
	echo "NOT RUN: needs root and a kernel that tells what programs cost"
	exit 0
fi
# Without the programs that cases trace, those would cost nothing.
tests/run.sh -b || exit 1
{ cases; matrix; beside; } >"$work/costs"

if [ $update ]; then
	awk -F'\t' -v usual=$USUAL '!$3 && $1 > usual / 2 { printf "%d\t%s\n", int($1 * 2 / 1000 + 1) * 1000, $2 }' \
		"$work/costs" | sort -t"$(printf '\t')" -k1nr -k2 >tests/verified.txt
fi
awk -F'\t' -v usual=$USUAL '
	FILENAME == "tests/verified.txt" { limit[$2] = $1; next }
	{ seen[$2] = 1; limit_here = $3 ? $3 : ($2 in limit) ? limit[$2] : usual; ntold += $1 > 0 }
	$1 > limit_here { printf "not ok - %s: %d instructions verified, at most %d expected\n", $2, $1, limit_here; bad++ }
	$1 == 0 { none++ }
	END {
		for (name in limit)
			if (!(name in seen)) {
				printf "not ok - tests/verified.txt: there is no case \"%s\"\n", name
				bad++
			}
		printf "%d passed, %d failed, %d not loaded here\n", ntold - bad, bad, none
		exit bad > 0
	}' tests/verified.txt "$work/costs"
