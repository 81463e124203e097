#!/bin/sh
# console.sh [-v] SONDE PAGE - runs the commands of a page of the documentation and compares what they print with the
# page. -v also prints each command and its output, to be copied into the page.
#
#	```console           Lines that begin with "# " are commands, which go on to where their quotes are closed.
#	                     The lines after a command are all that it prints on standard output and standard error,
#	                     without empty lines. A line "..." stands for any number of lines.
#	```console shape     The same, but numbers, widths of columns and bars of histograms may differ.
#	```console fails     The same as console, but the exit status of its commands is 1.
#	```WORD file=NAME    The block is the file NAME.
#
# All commands of a page run in one new directory, one after the other. Prints a line for each block.
set -u
verbose=
if [ "$1" = -v ]; then
	verbose=1
	shift
fi
sonde=$(realpath "$1") page=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin" "$tmp/work" "$tmp/block"
ln -s "$sonde" "$tmp/bin/sonde"
PATH=$tmp/bin:$PATH
cd "$tmp/work" || exit 1

# BLOCK.COMMAND.sh and .want_expect_re in $tmp/block; the files into the current directory.
awk -v t="$tmp/block" '
	function close_all() { if (script) close(script); if (want) close(want); script = want = "" }
	function pattern(line) {
		if (line == "...")
			return line
		gsub(/[][\\.^$*+?(){}|]/, "\\\\&", line)
		gsub(/\\\|[@ ]*\\\|/, "\\|.*\\|", line)
		gsub(/ +/, " +", line)
		gsub(/[0-9]+[KMG]?/, "[0-9]+[KMG]?", line)
		return line
	}
	/^```/ && !open {
		open = 1
		kind = "other"
		if ($0 ~ / file=/) {
			kind = "file"
			name = $0
			sub(/.* file=/, "", name)
			sub(/ .*/, "", name)
			printf "" > name
		} else if ($1 == "```console") {
			kind = "console"
			shape = $2 == "shape"
			wanted = $2 == "fails" ? 1 : 0
			if ($2 != "" && !shape && !wanted)
				print "line " NR ": unknown word " $2
			block++
			n = 0
			print NR, wanted > sprintf("%s/%02d.line", t, block)
		}
		next
	}
	/^```/ { close_all(); if (kind == "file") close(name); open = 0; next }
	!open { next }
	kind == "file" { print > name; next }
	kind != "console" { next }
	/^# / && !quoted {
		close_all()
		base = sprintf("%s/%02d.%02d", t, block, ++n)
		script = base ".sh"
		want = base ".want_expect_re"
		printf "" > want
		sub(/^# /, "")
		quoted = 0
		fresh = 1
	}
	fresh || quoted {
		fresh = 0
		print > script
		line = $0
		if (gsub(/\047/, "", line) % 2)
			quoted = !quoted
		next
	}
	NF {
		if (shape || $0 == "...")
			print pattern($0) > want
		else {
			gsub(/[][\\.^$*+?(){}|]/, "\\\\&")
			print > want
		}
	}' "$page"
chmod +x ./* 2>/dev/null

for at in "$tmp"/block/*.line; do
	read -r _ wanted <"$at"
	for script in "${at%.line}".*.sh; do
		command=${script%.sh}
		sh "$script" >"$command.all" 2>&1 </dev/null
		rc=$?
		grep -v '^$' "$command.all" >"$command.out"
		[ $rc = "$wanted" ] || echo "${command##*/}: exit status $rc, not $wanted" >>"$tmp/differs"
		if [ "$verbose" ]; then
			sed 's/^/# /' "$script"
			cat "$command.all"
		fi
	done
done
python3 -S -B "$here/../lib/cases.py" expect_re "$tmp/block" >>"$tmp/differs" 2>&1 || { cat "$tmp/differs"; exit 1; }

for at in "$tmp"/block/*.line; do
	base=${at%.line}
	number=${base##*/}
	read -r line _ <"$at"
	result=
	for script in "$base".*.sh; do
		command=${script%.sh}
		differs=$(sed -n "s/^${command##*/}: //p" "$tmp/differs")
		[ "$differs" ] || continue
		result="$result
$(cat "$script")
$differs; it printed:
$(cat "$command.out")"
	done
	echo "$number: ${result:+line $line of ${page##*/}: not so:}${result:-as documented}"
done
