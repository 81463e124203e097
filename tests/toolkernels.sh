#!/bin/sh
# toolkernels.sh SONDE [TOOL...]: does each tool compile, load and attach on this kernel? A line per tool,
# "tool|NAME|yes" or "tool|NAME|no|what is missing"; the last line sums up. Exit code 1 when one failed in
# another way than by naming what the kernel lacks.
#
# tests/vm/run.sh -c 'sh tests/toolkernels.sh build/static/sonde' build/static/sonde >LOG asks the guests' kernels,
# scripts/tool-kernels.sh LOG makes the table in docs/tools.md from it.
set -u
[ $# -ge 1 ] || { sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2; }
sonde=$1
shift
# Not the names of a language's tools: they ask for its interpreter, not for anything else of the kernel.
[ $# -gt 0 ] || set -- $("$sonde" tools | awk '/^ / { print $1 }' | grep -vE '^(java|node|perl[a-z]|php|python|ruby|tcl)')
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
limit=$((60 * ${TEST_SLOW:-4}))

# A program with the probes of interpreters and databases.
probes=$(dirname "$0")/../build/tests/runtime

# What a tool needs to be told; functions that every kernel has.
operands() {
	case $1 in
	argdist) echo -C p::vfs_read ;;
	funccount | funclatency | stackcount) echo vfs_read ;;
	funcslower | functrace | funcinterval | trace | stacksnoop) echo vfs_read ;;
	tpoint) echo sched:sched_switch ;;
	perf-stat-hist) echo sched:sched_switch prev_prio ;;
	kprobe) echo p:vfs_read ;;
	uprobe) echo p:libc:malloc ;;
	tplist) echo sched:sched_switch ;;
	ucalls | uflow | ugc | uobjnew | dbslower | dbstat | mysqld_qslower) echo "$probes" ;;
	ustat) echo -l "$probes" ;;
	inject) echo kmalloc ;;
	strace | ltrace) echo /usr/bin/env ;;
	esac
}

passed=0 failed=0 skipped=0
for tool; do
	timeout -k 2 "$limit" "$sonde" --dry-run "$tool" $(operands "$tool") </dev/null >"$tmp/out" 2>"$tmp/err"
	rc=$?
	# The sentence alone: where in the script it stands, and what else was tried, -v says.
	why=$(sed -n 's/.*ERROR: //p' "$tmp/err" | head -n 1 | tr '|' '/' | cut -c1-200)
	if [ $rc = 0 ] && [ -z "$why" ]; then
		passed=$((passed + 1))
		echo "tool|$tool|yes"
	elif [ $rc -ge 124 ] && [ $rc != 255 ] || [ -z "$why" ]; then
		failed=$((failed + 1))
		echo "tool|$tool|no|exit code $rc"
	else
		skipped=$((skipped + 1))
		echo "tool|$tool|no|$why"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
