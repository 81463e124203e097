#!/bin/sh
# sonde on other releases of Debian: what README tells a newcomer to do, in a bare tree of each.
#
#   tests/distros/run.sh [-q] [SUITE...]
#
# In a new copy of each tree: `./dev demo`, then the tests of `./dev check` that need no guest, with
# warnings as errors, and the static file and its size. -q: quickly: only what depends on the compiler and on the
# libraries. Every line starts with its suite; the last line sums up. A suite whose tree cannot be had counts as skipped.
set -u

steps='unit lang cli covered messages docs run probes size'
demo='./dev demo && '
while getopts q o; do
	case $o in
	q) steps='unit lang' demo='export CFLAGS=-O1 DRAFT=1 && ' ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- bookworm trixie sid

here=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0

for suite; do
	{
		"$here/tree.sh" -s "$suite" sh -c "$demo ./dev check $steps" 2>&1
		echo "exit code $?"
	} | tee "$log" | sed "s/^/$suite: /"
	code=$(sed -n '$s/exit code //p' "$log")
	if [ "$code" = 75 ]; then
		skipped=$((skipped + 1))
		continue
	fi
	sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -n 1)
	# shellcheck disable=SC2046
	set -- $(echo "${sum:-0 0 0}" | tr -dc '0-9 ')
	[ "$code" = 0 ] || [ "$2" != 0 ] || set -- "$1" 1 "${3:-0}"
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + ${3:-0}))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
