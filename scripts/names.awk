# names.awk features/builtin/*.c features/probe/*.c FILE... - what a builtin or a kind of probe is called stands
# in its row alone: no FILE compares anything with such a name, or a node's name with a text. What words a clause
# of the grammar has is a table for node_word(). (The command line and other tracers' words are not the language.)
FILENAME ~ /features\/builtin\// {
	if ($0 ~ /^\t\{"[a-z0-9]+(\[[0-9]+\])? [a-zA-Z_0-9]+/) {
		name = $2
		sub(/[("].*/, "", name)
		row[name] = FILENAME
	}
	next
}
FILENAME ~ /features\/probe\// {
	if (/^\t\.name = "/) {
		split($0, q, "\"")
		row[q[2]] = FILENAME
		kinds++
	}
	next # the text of a probe has words of its own: iter:cgroup
}
{
	rest = $0
	while (match(rest, /str(_is|_eq|_eq_nocase|_starts|_ends|n?cmp)\([^()]*, (STR\()?"[^"]*"/)) {
		call = substr(rest, RSTART, RLENGTH)
		rest = substr(rest, RSTART + RLENGTH)
		split(call, q, "\"")
		if (q[2] in row && row[q[2]] != FILENAME) {
			printf "%s:%d: \"%s\" is a name of %s: ask the row\n", FILENAME, FNR, q[2], row[q[2]]
			bad = 1
		}
	}
	if (FILENAME ~ /compiler\/(source|declare|sema|lower)\// &&
	    ($0 ~ /str(_is|_starts|_ends)\([a-z]+(->(a|b|c|next))*->name,/ ||
	     $0 ~ /str(_eq|_eq_nocase|_cmp)\([a-z]+(->(a|b|c|next))*->name, STR\(/)) {
		printf "%s:%d: a node is told by its row (builtin_role, node.fn), a word by node_word()\n", FILENAME, FNR
		bad = 1
	}
}
END {
	for (name in row)
		n++
	if (n < 100 || kinds < 10) {
		printf "names.awk: only %d names and %d kinds were found\n", n, kinds
		bad = 1
	}
	exit bad
}
