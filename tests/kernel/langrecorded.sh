#!/bin/sh
# langrecorded.sh SONDE COMMAND... - the stack of a program's one call of getppid(2), or CALL, of a recording, is what a live
# script has of another run at the same addresses, in every output. As root.
sonde=$1
shift
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
call=${CALL:-getppid}
probe=tracepoint:syscalls:sys_enter_$call

# plain FORMAT: without the script, the command and the time, which pictures and profiles have, too.
plain() {
	case $1 in
	pprof) gunzip | tr -c '[:print:]' '\n' | grep '...' ;;
	flame) tr '<' '\n' | grep '^rect\|^text\|^title' | grep -v "sys_enter_$call\|anchor=\"end\"" ;;
	*) cat ;;
	esac
}
# live FORMAT STACK
live() {
	setarch -R "$sonde" -q -f "$1" -e "$probe /pid == cpid/ { @[$2] = count(); }" -c "$command" | plain "$1" > "$tmp/live"
}
# later FORMAT STACK
later() {
	"$sonde" query -q -f "$1" "$tmp/r.sonde" -e "$probe { @[$2] = count(); }" | plain "$1" > "$tmp/later"
}
command=$*
setarch -R "$sonde" record -q -o "$tmp/r.sonde" -e "$probe /pid == cpid/ { keep(ustack); }" -c "$command" || exit 1
for format in text json folded flame pprof speedscope; do
	live $format ustack
	later $format ustack
	if [ -s "$tmp/live" ] && diff "$tmp/live" "$tmp/later"; then
		echo "$format: the same"
	fi
done
# Only these functions; as lines; in files for other programs
live folded 'ustack(lang)'
later folded 'ustack(lang)'
diff "$tmp/live" "$tmp/later" && cat "$tmp/later"
"$sonde" report -e "$tmp/r.sonde" | sed -n 's/^[[:space:]]*0 /at /p'
"$sonde" export --to json -o - "$tmp/r.sonde" | grep -o '"lang": "[a-z]*"' | sort -u
