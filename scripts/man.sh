#!/bin/sh
# man.sh SONDE FILE.in - a manual page whose options are those of the help: SONDE is the program.
#
# In FILE.in, a line "@COMMAND OPTION", as in "@record --set", is replaced by that option's heading and by its help as
# a sentence; COMMAND "sonde" is the program itself. Text after it says more. It is an error if the help has no such
# option, or has one that the page does not mention.
set -eu
sonde=$1 page=$2
commands='sonde list record report query live top export import merge fleet serve'
{
	for c in $commands; do
		echo "@@ $c"
		[ "$c" = sonde ] && "$sonde" --help || "$sonde" "$c" -h
	done
	echo '@@'
	cat "$page"
} | awk -v page="$page" '
	# Text that roff would take for a command of its own, or for an escape.
	function plain(s) {
		gsub(/\\/, "\\e", s)
		gsub(/-/, "\\-", s)
		return s ~ /^[.\x27]/ ? "\\\&" s : s
	}
	function complain(what) {
		print page ": " what | "cat >&2"
		bad = 1
	}
	# "-o, --output FILE" as mdoc
	function heading(head,   n, w, i, out, optional) {
		n = split(head, w, " ")
		out = ".It"
		for (i = 1; i <= n; i++) {
			optional = ""
			if (w[i] ~ /^-/ && match(w[i], /\[=/)) {
				optional = " Ns Ar " substr(w[i], RSTART)
				w[i] = substr(w[i], 1, RSTART - 1)
			}
			if (w[i] ~ /^-/)
				out = out " Fl " (sub(/,$/, "", w[i]) ? substr(w[i], 2) " ," : substr(w[i], 2)) optional
			else
				out = out " Ar " w[i]
		}
		return out
	}
	$1 == "@@" { command = $2; reads_page = NF == 1; next }
	!reads_page && match($0, /^    -[^ ]/) {
		row = substr($0, 5)
		at = index(row, "  ")
		if (!at) next
		head = substr(row, 1, at - 1)
		text = substr(row, at)
		sub(/^ +/, "", text)
		heads[head] = 1
		n = split(head, word, /[ ,]+/)
		for (i = 1; i <= n; i++)
			if (word[i] ~ /^-/) {
				sub(/[[=].*/, "", word[i])
				head_of[command, word[i]] = head
				text_of[command, word[i]] = text
			}
		next
	}
	!reads_page { next }
	/^@/ {
		key = substr($1, 2)
		if (!((key, $2) in head_of)) {
			complain("the help of " key " has no option " $2)
			next
		}
		head = head_of[key, $2]
		text = text_of[key, $2]
		used[head] = 1
		print heading(head)
		print plain(toupper(substr(text, 1, 1)) substr(text, 2)) "."
		next
	}
	{ print }
	END {
		for (head in heads)
			if (!(head in used))
				complain("option " head " is not mentioned")
		exit bad
	}'
