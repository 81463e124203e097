#!/bin/sh
# additions.sh - what docs/internals.md says an addition costs is so: as many files below src/ mention the examples of
# each row of its table, and no row has more than four.
cd "$(dirname "$0")/.." || exit 1
awk -F'|' '
	/^\| to add \|/ { on = 1; next }
	!/^\|/ { on = 0 }
	on && $3 ~ /[0-9]/ {
		n = split($4, p, "`")
		names = ""
		for (i = 2; i <= n; i += 2)
			names = names (names ? "|" : "") p[i]
		print $3 + 0, names, $2
	}' docs/internals.md | {
	bad=0 rows=0
	while read -r want names what; do
		found=$(grep -rlwE "$names" src)
		have=$(printf '%s' "$found" | grep -c .)
		rows=$((rows + 1))
		[ "$have" = "$want" ] && [ "$have" -le 4 ] && continue
		echo "docs/internals.md: ${what% } ($names): $have files, not $want:" $found
		bad=1
	done
	[ "$rows" -ge 15 ] || { echo "additions.sh: the table has only $rows rows" && bad=1; }
	exit $bad
}
