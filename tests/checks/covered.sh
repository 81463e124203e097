#!/bin/sh
# covered.sh SONDE - each function, variable and kind of probe that `sonde help` lists must be used in
# a test of tests/run/*.t: functions with each number of arguments that they take, those that take a
# map or a value with both, variables that are functions too as both. Scripts that do not compile
# (RC 1 without an expected output) do not count. Each tool that shows a table must be in a case of rows that add up
# (tests/run/tool-sums.t says how). Prints what is missing; the last two lines sum up.
set -u
[ $# = 1 ] || { sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2; }
sonde=$(realpath "$1")
[ -x "$sonde" ] || { echo "covered.sh: no program $1"; exit 1; }
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp) || exit 1
trap 'rm -f "$tmp"' EXIT

{
	"$sonde" help functions | sed -n 's/^auto argN$/auto arg0/; /^[a-z]/p' || exit
	"$sonde" help probes | sed -n 's/^\([a-z][a-z]*\).*/probe \1:/p'
} >"$tmp"

awk '
	# Parts of a list of arguments or parameters, between commas outside of brackets.
	function split_args(text, part,    i, c, depth, n) {
		n = 0
		part[1] = ""
		if (text ~ /^[ \t\n]*$/)
			return 0
		n = 1
		for (i = 1; i <= length(text); i++) {
			c = substr(text, i, 1)
			if (c ~ /[([{]/)
				depth++
			if (c ~ /[])}]/)
				depth--
			if (c == "," && !depth)
				part[++n] = ""
			else
				part[n] = part[n] c
		}
		return n
	}

	# The text up to the bracket that closes the one in front of it.
	function inside(text,    i, c, depth) {
		for (i = 1; i <= length(text); i++) {
			c = substr(text, i, 1)
			if (c == "(")
				depth++
			else if (c == ")" && !depth--)
				return substr(text, 1, i - 1)
		}
		return text
	}

	# Counts what is used in a script.
	function scan(text,    word, rest, before, n, part) {
		gsub(/\\"/, "", text)
		gsub(/"[^"]*"/, "\"\"", text)
		gsub(/\/\*[^*]*\*\//, " ", text)
		while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) {
			before = substr(text, RSTART - 1, RSTART > 1)
			word = substr(text, RSTART, RLENGTH)
			rest = substr(text, RSTART + RLENGTH)
			text = rest
			if (rest ~ /^:/)
				kind[word] = 1
			if (before ~ /[$@.]/ || !(word in known))
				continue
			if (rest !~ /^[ ]*\(/) {
				bare[word] = 1
				continue
			}
			sub(/^[ ]*\(/, "", rest)
			n = split_args(inside(rest), part)
			called[word, part[1] ~ /^ *@[A-Za-z0-9_]* *$/ ? "map" : "value", n] = 1
		}
	}

	function end_case() {
		if (code != "" && !(rc == 1 && !expected))
			scan(code)
		code = ""
		rc = expected = 0
	}

	# Was it called with n arguments? Where no overload takes a map, a map is a value.
	function used(n) {
		return called[name, first, n] || (!takes_map[name] && called[name, "map", n])
	}

	function missing(what) {
		nmissing++
		print "not tested: " what
	}

	FILENAME != last { file++; last = FILENAME }
	file == 1 {
		row[++nrow] = $0
		name = $2
		sub(/\(.*/, "", name)
		known[name] = 1
		if ($0 !~ /\(/)
			variable[name] = 1
		if ($0 ~ /\(map /)
			takes_map[name] = 1
		next
	}
	/^NAME / { end_case() }
	/^[A-Z_]+( |$)/ {
		word = $1
		if (word == "RC")
			rc = $2
		expected = expected || word ~ /^EXPECT/
	}
	(word == "PROG" || word == "RUN") && !/^#/ {
		sub(/^(PROG|RUN)/, "")
		code = code $0 "\n"
	}
	END {
		end_case()
		for (r = 1; r <= nrow; r++) {
			split(row[r], f, " ")
			name = f[2]
			sub(/\(.*/, "", name)
			if (f[1] == "probe") {
				sub(/:$/, "", name)
				total++
				if (!kind[name] && !(name == "begin" || name == "end"))
					missing("probe " name)
				continue
			}
			if (row[r] !~ /\(/) {
				total++
				if (!bare[name])
					missing("variable " name)
				continue
			}
			text = row[r]
			sub(/^[^(]*\(/, "", text)
			n = split_args(inside(text), part)
			first = text ~ /^map / ? "map" : "value"
			least = most = more = 0
			for (i = 1; i <= n; i++) {
				if (part[i] ~ /\.\.\./) {
					more = 1
					continue
				}
				most++
				if (part[i] !~ /\[/)
					least++
			}
			if (!least && variable[name])
				least = 1
			for (i = least; i <= most; i++) {
				total++
				for (n = i; more && n < i + 9 && !used(n); n++)
					;
				if (!used(more ? n : i))
					missing(row[r] (least < most ? " with " i " arguments" : ""))
			}
		}
		printf "%d of %d tested\n", total - nmissing, total
		exit nmissing > 0
	}' "$tmp" tests/run/*.t
rc=$?

sums=$(awk '/^NAME/ { on = /^NAME rows add up/ } on' tests/run/tool-sums.t tests/run/vm-tools.t)
total=0 there=0
for tool in $(grep -l '\bshow(' tools/*.bt); do
	tool=${tool##*/} tool=${tool%.bt}
	total=$((total + 1))
	if printf '%s\n' "$sums" | grep -qE "(^|[[:space:]\"'])$tool([[:space:]\"':]|\$)"; then
		there=$((there + 1))
	elif ! grep -q "^#except $tool: ." tests/run/tool-sums.t; then
		echo "no case has the sum of its rows: $tool"
		rc=1
	fi
done
echo "$there of $total tables of tools add up"
exit $rc
