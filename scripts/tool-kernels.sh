#!/bin/sh
# tool-kernels.sh LOG... - puts into the table of tools and kernels in docs/tools.md what LOG says of them: what
# tests/vm/run.sh -c 'sh tests/kernel/toolkernels.sh SONDE' SONDE printed, lines "6.1: tool|NAME|seen", "6.1: tool|NAME|attached"
# and "6.1: tool|NAME|no|what is missing". What no LOG is about stays.
set -eu
[ $# -ge 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
doc=$(dirname "$0")/../docs/tools.md
# What the table says, as lines of a LOG.
said() {
	awk -F ' *[|] *' '
		/^<!-- kernels:/ { on = 1 }
		/^<!-- end of the kernels/ { on = 0 }
		on && /^\| tool / { split($0, kernel) }
		on && /^\| [^ ]* \| [^-]/ && $2 != "tool" {
			for (i = 3; i < NF; i++)
				cell[++n] = kernel[i] ": tool|" $2 "|" $i
		}
		on && /^[0-9]+\. `/ {
			id = $0
			sub(/\..*/, "", id)
			gsub(/^[^`]*`|`$/, "")
			note["(" id ")"] = $0
		}
		END {
			for (i = 1; i <= n; i++) {
				split(cell[i], part, "|")
				print part[3] in note ? part[1] "|" part[2] "|no|" note[part[3]] : cell[i]
			}
		}' "$doc"
}
{ said; cat "$@"; } | awk -v doc="$doc" '
	match($0, /^[0-9.]+(-arm64)?: tool\|/) {
		n = split($0, part, "|")
		kernel = part[1]
		sub(/:.*/, "", kernel)
		if (!(kernel in seen)) {
			seen[kernel] = 1
			kernels[++nk] = kernel
		}
		if (!(part[2] in known)) {
			known[part[2]] = 1
			tools[++nt] = part[2]
		}
		text = part[4]
		for (i = 5; i <= n; i++)
			text = text "/" part[i]
		found[part[2], kernel] = part[3] == "no" ? text : part[3]
	}
	function older(a, b,    x, y) {
		split(a, x, /[.-]/)
		split(b, y, /[.-]/)
		return x[1] + 0 != y[1] + 0 ? x[1] + 0 < y[1] + 0 : x[2] + 0 < y[2] + 0
	}
	function cell(tool, kernel,    text) {
		text = found[tool, kernel]
		if (text == "seen" || text == "attached" || text == "")
			return text == "" ? "?" : text
		if (!(text in number)) {
			number[text] = ++notes
			note[notes] = text
		}
		return "(" number[text] ")"
	}
	function table(    i, k, line, swap) {
		for (i = 2; i <= nk; i++)
			for (k = i; k > 1 && older(kernels[k], kernels[k - 1]); k--) {
				swap = kernels[k]
				kernels[k] = kernels[k - 1]
				kernels[k - 1] = swap
			}
		line = "| tool |"
		for (k = 1; k <= nk; k++)
			line = line " " kernels[k] " |"
		print line
		gsub(/[^|]+/, "---", line)
		print line
		for (i = 1; i <= nt; i++) {
			line = "| " tools[i] " |"
			for (k = 1; k <= nk; k++)
				line = line " " cell(tools[i], kernels[k]) " |"
			print line
		}
		print ""
		for (i = 1; i <= notes; i++)
			print i ". `" note[i] "`"
	}
	END {
		if (!nk) {
			print "tool-kernels: no lines of tests/kernel/toolkernels.sh" >"/dev/stderr"
			exit 1
		}
		while ((getline line < doc) > 0) {
			if (line ~ /^<!-- end of the kernels/)
				skip = 0
			if (!skip)
				print line
			if (line ~ /^<!-- kernels:/) {
				skip = 1
				table()
			}
		}
	}' >"${TMPDIR:-/tmp}/tool-kernels.$$" || { rm -f "${TMPDIR:-/tmp}/tool-kernels.$$"; exit 1; }
cat "${TMPDIR:-/tmp}/tool-kernels.$$" >"$doc"
rm -f "${TMPDIR:-/tmp}/tool-kernels.$$"
