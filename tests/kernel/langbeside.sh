#!/bin/sh
# langbeside.sh SONDE COMMAND... - a program that stays (progs/jscalls.js, progs/JavaCalls.java) is traced by live scripts and recorded
# at the same time: the recording has the same stacks as the scripts, in several outputs. The program is given a file to write to. As root.
sonde=$1
shift
tmp=$(mktemp -d) || exit 1
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
program=""
tracers=""
finish() {
	# shellcheck disable=SC2086
	kill $program $tracers 2>/dev/null
	wait
	rm -rf "$tmp"
}
trap finish EXIT
formats='text json folded'
script='tracepoint:syscalls:sys_enter_getppid { @n++; @stack[@n, ustack] = @n; } END { clear(@n); }'
only='tracepoint:syscalls:sys_enter_getppid { @[ustack] = count(); }'

# script_for FORMAT: profiles count stacks.
script_for() {
	case $1 in
	text | json) echo "$script" ;;
	*) echo "$only" ;;
	esac
}
mkfifo "$tmp/in"
"$@" "$tmp/unused" <"$tmp/in" >"$tmp/said" &
program=$!
exec 3>"$tmp/in"
eventually grep -q ready "$tmp/said" || exit 1
"$sonde" record -p $program -o "$tmp/r.sonde" -e 'tracepoint:syscalls:sys_enter_getppid { keep(ustack); }' 2>"$tmp/err" 3>&- &
tracers=$!
for format in $formats; do
	"$sonde" -p $program -f "$format" -o "$tmp/live.$format" -e "$(script_for "$format")" 2>"$tmp/err.$format" 3>&- &
	tracers="$tracers $!"
done
for format in $formats; do
	eventually grep -q "^Attached\|attached_probes" "$tmp/err.$format" "$tmp/live.$format" || exit 1
done
until_attached "$tmp/err" || exit 1
exec 3>&-
eventually grep -q 'done' "$tmp/said" || exit 1
# shellcheck disable=SC2086
kill -INT $tracers
# shellcheck disable=SC2086
wait $tracers
tracers=""
cat "$tmp"/err* | grep -v '^Attached\| events of 1 probe in '
for format in $formats; do
	grep -v attached_probes "$tmp/live.$format" >"$tmp/live"
	"$sonde" query -q -f "$format" "$tmp/r.sonde" -e "$(script_for "$format")" >"$tmp/later"
	if [ -s "$tmp/later" ] && diff "$tmp/live" "$tmp/later"; then
		echo "$format: the same"
	fi
done
grep -c '^ *\(JavaCalls\.\)\{0,1\}mark@' "$tmp/live.text"
