#!/bin/sh
# tool-man.sh SONDE NAME - the manual page of a canned tool, made of what `sonde NAME -h` says.
set -eu
sonde=$1 name=$2
"$sonde" "$name" -h | awk -v name="$name" '
	# Text that roff would take for a command of its own, or for an escape.
	function plain(s) {
		gsub(/\\/, "\\e", s)
		gsub(/-/, "\\-", s)
		return s ~ /^[.\x27]/ ? "\\\&" s : s
	}
	NR == 1 {
		sub(/^[^:]*: /, "")
		printf ".Dd November 22, 2026\n.Dt SONDE-%s 1\n.Os\n.Sh NAME\n", toupper(name)
		printf ".Nm sonde-%s\n.Nd %s\n", name, plain($0)
		next
	}
	/^USAGE:$/ { part = "usage"; print ".Sh SYNOPSIS"; next }
	/^OPTIONS:$/ { part = "options"; print ".Sh OPTIONS\n.Bl -tag -width Ds"; next }
	/^COLUMNS / { if (part == "options") print ".El"; if (open) print ".Ed"; part = "columns"; print ".Sh COLUMNS"; print "Headings, and names in JSON and CSV:\n.Bd -literal -offset indent"; open = 1; next }
	/^EXAMPLES:$/ { if (part == "options") print ".El"; if (open) print ".Ed"; part = "examples"; print ".Sh EXAMPLES\n.Bd -literal -offset indent"; open = 1; next }
	part == "usage" && /^    / { sub(/^ */, ""); printf "%s%s\n", n++ ? ".Pp\n" : "", plain($0); next }
	part == "usage" && NF { print ".Sh DESCRIPTION"; part = "text" }
	part == "text" { print NF ? plain($0) : ".Pp"; next }
	part == "options" && match($0, /^ +-[^ ].*  +/) {
		at = index(substr($0, 5), "  ")
		head = at ? substr($0, 5, at - 1) : substr($0, 5)
		printf ".It %s\n", plain(head)
		text = substr($0, 5 + length(head))
		sub(/^ +/, "", text)
		print plain(text)
		next
	}
	part == "options" && sub(/^    accepted and without effect: /, "") {
		print ".It accepted and without effect\n" plain($0)
		next
	}
	(part == "columns" || part == "examples") && NF { print plain($0) }
	END {
		if (part == "options") print ".El"
		if (open) print ".Ed"
		print ".Sh SEE ALSO\n.Xr sonde 1"
	}' | awk '
	# A paragraph neither begins nor ends a section.
	held && !/^\.(Sh|Pp)/ { print held }
	{ held = "" }
	/^\.Pp$/ { if (last !~ /^\.(Sh|Pp)/) held = $0; last = $0; next }
	{ print; last = $0 }'
