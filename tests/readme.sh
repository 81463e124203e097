#!/bin/sh
# readme.sh SONDE - the commands of README, up to its list of options but for its tools, which have cases of their
# own: each shows what it is there to show.
#
# They run as they stand there, but in seconds that are tenths and a small folder, while programs start, read, and
# look for files in vain. Prints a line for each: the first words of what was expected, or all that it printed.
set -u
sonde=$(realpath "$1")
. "$(dirname "$0")/lib.sh"
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d) || exit 1
load=
trap 'kill $load 2>/dev/null; wait; rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/doc"
ln -s "$sonde" "$work/bin/sonde"
ln -s "$(realpath "${SONDE_TESTS:-$here/../build/tests}/burst")" "$work/burst"
PATH=$work/bin:$PATH
cd "$work" || exit 1
seq 300 | sed 's:^:doc/:' | xargs touch

# What must be in the output, in the order of README; a line of its own for each command.
cat >wanted <<'END'
tracepoint:syscalls:sys_enter_openat
@\[.*\]: [0-9]+
@\[.*, -2\]: [0-9]+
@us\[.*\]:
[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9]+ [0-9]+ +[0-9]+ +/.*
Attached 2 probes
@\[tracepoint:sched:sched_switch\]: [0-9]+
(        read_zero.*|        vfs_read.*|        ksys_read.*)
\[[0-9]+, [0-9]+\) +[0-9]+ \|@.*
.* <- .*, nice -?[0-9]+
event [0-9]+
100
<svg .*
END

# NUMBER.sh: from "# sonde" or "# NAME=VALUE sonde" to where its quotes are closed.
awk '
	/^## Command line/ { exit }
	/^## / { tools = /Tools/ }
	/^# ([A-Z_]+=[^ ]* )?sonde / && open && !tools { text = ""; in_it = 1; sub(/^# /, "") }
	/^```/ { open = !open; in_it = 0 }
	in_it {
		text = text $0 "\n"
		if (gsub(/\047/, "\047", text) % 2 == 0) {
			f = sprintf("%02d.sh", ++n)
			gsub(/interval:s:[0-9]+/, "&00", text)
			gsub(/interval:s:/, "interval:ms:", text)
			sub(/\/usr\/share\/doc/, "doc", text)
			printf "%s", text > f
			close(f)
			in_it = 0
		}
	}' "$here/../README.md"

while :; do
	cat /nonexistent /etc/passwd
	sleep 0.02
done >/dev/null 2>&1 &
load=$!

n=0
for f in [0-9][0-9].sh; do
	n=$((n + 1))
	read -r wanted
	rm -f out err
	# Some end by themselves; others when somebody has seen enough.
	case $(cat "$f") in
	*exit\(* | *\ -c\ * | *\ -l\ *) sh "$f" >out 2>err ;;
	*)
		sh -c "exec $(cat "$f")" >out 2>err &
		p=$!
		eventually grep -q ^Attached out err
		for i in 1 2 3; do
			cat /etc/passwd
		done >/dev/null
		kill -INT $p
		wait $p
		;;
	esac
	[ ! -e profile.svg ] || cat profile.svg >>out
	cat events >>out 2>/dev/null
	rm -f profile.svg events
	if cat out err | grep -qxE "$wanted"; then
		echo "$n: $wanted"
	else
		echo "$n: not $wanted:"
		cat out err
	fi
done <wanted
