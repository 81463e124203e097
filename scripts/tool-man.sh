#!/bin/sh
# tool-man.sh SONDE NAME - the manual page of a canned tool, made of what `sonde NAME -h` says.
# tool-man.sh -d DIR SONDE NAME... - the pages of these tools, as DIR/sonde-NAME.1.
set -eu
dir=
[ "$1" != -d ] || { dir=$2; shift 2; }
sonde=$1
shift
for name; do
	echo "@@ $name"
	"$sonde" "$name" -h || exit
done | awk -v dir="$dir" '
	# Text that roff would take for a command of its own, or for an escape.
	function plain(s) {
		gsub(/\\/, "\\e", s)
		gsub(/-/, "\\-", s)
		return s ~ /^[.\x27]/ ? "\\\&" s : s
	}
	function put(s) {
		if (dir == "") print s; else print s > file
	}
	# Lines of the page. A paragraph neither begins nor ends a section.
	function say(text,   line, n, i) {
		n = split(text, line, "\n")
		for (i = 1; i <= n; i++) {
			if (held && line[i] !~ /^\.(Sh|Pp)/) put(".Pp")
			held = line[i] == ".Pp" && last !~ /^\.(Sh|Pp)/
			if (line[i] != ".Pp") put(line[i])
			last = line[i]
		}
	}
	function close_lists() {
		if (part == "options") say(".El")
		if (open) say(".Ed")
	}
	function finish() {
		if (name == "") return
		close_lists()
		say(".Sh SEE ALSO\n.Xr sonde 1")
		if (dir != "") close(file)
	}
	function begin_section(to, head) {
		close_lists()
		part = to
		open = 1
		say(head "\n.Bd -literal -offset indent")
	}
	/^@@ / {
		finish()
		name = $2
		file = dir "/sonde-" name ".1"
		part = last = ""
		open = held = n = 0
		getline
		sub(/^[^:]*: /, "")
		say(".Dd November 22, 2026\n.Dt SONDE-" toupper(name) " 1\n.Os\n.Sh NAME\n.Nm sonde-" name "\n.Nd " plain($0))
		next
	}
	/^USAGE:$/ { part = "usage"; say(".Sh SYNOPSIS"); next }
	/^OPTIONS:$/ { part = "options"; say(".Sh OPTIONS\n.Bl -tag -width Ds"); next }
	/^COLUMNS / { begin_section("columns", ".Sh COLUMNS\nHeadings, and names in JSON and CSV:"); next }
	/^EXAMPLES:$/ { begin_section("examples", ".Sh EXAMPLES"); next }
	part == "usage" && /^    / { sub(/^ */, ""); say((n++ ? ".Pp\n" : "") plain($0)); next }
	part == "usage" && NF { say(".Sh DESCRIPTION"); part = "text" }
	part == "text" { say(NF ? plain($0) : ".Pp"); next }
	part == "options" && match($0, /^ +-[^ ].*  +/) {
		at = index(substr($0, 5), "  ")
		head = at ? substr($0, 5, at - 1) : substr($0, 5)
		text = substr($0, 5 + length(head))
		sub(/^ +/, "", text)
		say(".It " plain(head) "\n" plain(text))
		next
	}
	part == "options" && sub(/^    accepted and without effect: /, "") {
		say(".It accepted and without effect\n" plain($0))
		next
	}
	(part == "columns" || part == "examples") && NF { say(plain($0)) }
	END { finish() }'
