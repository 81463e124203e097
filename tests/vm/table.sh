#!/bin/sh
# table.sh [-u] LOG: the table of docs/probes.md and what the guests found. LOG is what run.sh collects:
# lines of tests/kernel/probes.sh, each behind its kernel. Prints where the table says something else, for the
# kernels that are in LOG, and fails then. -u writes the table anew; then LOG has to fill every cell of
# its architecture, and the columns of the other one stay.
set -u
update=
[ "${1-}" = -u ] && update=y && shift
[ $# = 1 ] || { sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2; }
doc=$(dirname "$0")/../../docs/probes.md
tmp=$(mktemp) || exit 1
trap 'rm -f "$tmp"' EXIT

awk -v update="$update" -v doc="$doc" '
	function bad(text) {
		print "table: " text | "cat >&2"
		wrong++
	}
	# From the run.
	FNR == NR {
		if (!match($0, /^[0-9.]+(-arm64)?: probe\|/))
			next
		split($0, part, "|")
		kernel = $0
		sub(/: .*/, "", kernel)
		row = part[2]
		if (!(kernel in ran)) {
			ran[kernel] = 1
			kernels[++nk] = kernel
		}
		if (!(row in known)) {
			known[row] = 1
			rows[++nr] = row
		}
		found[row, kernel] = part[3] == "no" ? "no: " part[4] : part[3]
		next
	}
	# From the document: cells first, their notes later.
	/^<!-- table of probes/ { inside = 1; head = head $0 "\n"; next }
	/^<!-- end of the table/ { inside = 0; behind = 1 }
	!inside {
		if (behind)
			tail = tail $0 "\n"
		else
			head = head $0 "\n"
		next
	}
	/^\| probe \|/ {
		n = split($0, part, / *\| */)
		for (i = 3; i < n; i++)
			column[i] = part[i]
		next
	}
	/^\| `/ || /^\| [a-z]/ {
		n = split($0, part, / *\| */)
		told[part[2]] = 1
		for (i = 3; i < n; i++)
			says[part[2], column[i]] = part[i]
		next
	}
	/^[0-9]+\. / {
		number = $1
		sub(/\.$/, "", number)
		sub(/^[0-9]+\. `/, "")
		sub(/`$/, "")
		note["(" number ")"] = $0
	}

	# Notes are numbered as they come.
	function cell(row, kernel,    text) {
		text = found[row, kernel]
		if (!text)
			bad("nothing was found for " row " on " kernel)
		if (text !~ /^no: /)
			return text
		sub(/^no: /, "", text)
		if (!(text in number_of)) {
			number_of[text] = ++nn
			text_of[nn] = text
		}
		return "(" number_of[text] ")"
	}

	function write_table(    i, k, line) {
		printf "%s", head
		line = "| probe |"
		for (k = 1; k <= nk; k++)
			line = line " " kernels[k] " |"
		print line
		gsub(/[^|]+/, "---", line)
		print line
		for (i = 1; i <= nr; i++) {
			line = "| " rows[i] " |"
			for (k = 1; k <= nk; k++)
				line = line " " cell(rows[i], kernels[k]) " |"
			print line
		}
		print ""
		for (i = 1; i <= nn; i++)
			print i ". `" text_of[i] "`"
		printf "%s", tail
	}

	function doc_cell(row, kernel,    text) {
		text = says[row, kernel]
		return text ~ /^\([0-9]+\)$/ ? "no: " note[text] : text
	}

	function is_arm(kernel) {
		return kernel ~ /-arm64$/
	}

	# The columns of the other architecture as they are, arm64 last.
	function keep_others(    i, k, row, ours, n) {
		ours = is_arm(kernels[1])
		for (i = 3; i in column; i++) {
			if (is_arm(column[i]) == ours)
				continue
			other[++n] = column[i]
			ran[column[i]] = 1
			for (row in known)
				found[row, column[i]] = doc_cell(row, column[i])
		}
		for (k = nk; !ours && k + 1 <= nk + n; k++)
			kernels[k + 1] = other[k - nk + 1]
		for (k = nk; ours && k > 0; k--)
			kernels[k + n] = kernels[k]
		for (k = 1; ours && k <= n; k++)
			kernels[k] = other[k]
		nk += n
	}

	function compare(row, kernel,    doc_says) {
		doc_says = doc_cell(row, kernel)
		if (doc_says != found[row, kernel])
			bad(row " on " kernel ": docs/probes.md says \"" doc_says "\", the run found \"" found[row, kernel] "\"")
	}

	END {
		if (!nk || !behind) {
			print "table: no lines of tests/kernel/probes.sh, or no marks in docs/probes.md"
			exit 1
		}
		if (update) {
			keep_others()
			for (i in column)
				if (!(column[i] in ran))
					bad("nothing was found on " column[i])
			write_table()
			exit wrong > 0
		}
		for (k = 1; k <= nk; k++) {
			for (i = 1; i <= nr; i++)
				compare(rows[i], kernels[k])
			for (row in told)
				if (!(row in known))
					compare(row, kernels[k])
		}
		exit wrong > 0
	}' "$1" "$doc" >"$tmp" || exit 1
if [ "$update" ]; then cat "$tmp" >"$doc"; else cat "$tmp"; fi
