#!/bin/sh
# tool-list.sh SONDE - writes the list of tools in docs/tools.md anew, from `sonde tools`.
set -eu
sonde=$(realpath "$1")
cd "$(dirname "$0")/.."
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
awk -v sonde="$sonde" '
	/^<!-- tools:/ {
		print
		print "| subject | tool | |\n|---|---|---|"
		list = sonde " tools"
		while ((list | getline line) > 0) {
			if (line ~ /^[a-zA-Z]+:$/) {
				subject = substr(line, 1, length(line) - 1)
			} else if (line ~ /^    /) {
				name = line
				sub(/^ */, "", name)
				text = name
				sub(/ .*/, "", name)
				sub(/^[^ ]* */, "", text)
				printf "| %s | `%s` | %s |\n", subject, name, text
				subject = ""
			}
		}
		skip = 1
		next
	}
	/^<!-- end/ { skip = 0 }
	!skip' docs/tools.md >"$tmp"
cat "$tmp" >docs/tools.md
