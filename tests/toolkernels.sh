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
[ $# -gt 0 ] || set -- $("$sonde" tools | awk '/^ / { print $1 }')
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
limit=$((60 * ${TEST_SLOW:-4}))

# What a tool needs to be told; functions that every kernel has.
operands() {
	case $1 in
	argdist) echo -C p::vfs_read ;;
	funccount | funclatency | stackcount) echo vfs_read ;;
	funcslower | trace) echo vfs_read ;;
	kprobe) echo p:vfs_read ;;
	uprobe) echo p:libc:malloc ;;
	tplist) echo sched:sched_switch ;;
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
