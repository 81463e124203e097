#!/bin/sh
# audit.sh [-u] - checks tests/audit.md: every test that a row names exists, every row has one and says what sonde does, no
# row says "not yet", the page's number of rows is right, and each version's entries are all there, once. docs/compat.md
# has the summary of these rows (-u writes it). Needs neither a built program nor root.
cd "$(dirname "$0")/../.." || exit 1
page=tests/audit.md
summary=$(mktemp) || exit 1
trap 'rm -f "$summary" "$summary.page"' EXIT
awk -v summary="$summary" '
	function fail(text) { print FILENAME ":" FNR ": " text; bad++ }
	# Cases are read once per file.
	function has_case(file, name,   line) {
		if (!(file in read)) {
			read[file] = 1
			while ((getline line < ("tests/run/" file)) > 0)
				if (sub(/^NAME /, "", line))
					cases[file, line] = 1
		}
		return (file, name) in cases
	}
	function has_text(file, text,   line, found) {
		while ((getline line < ("tests/" file)) > 0)
			found = found || index(line, text)
		close("tests/" file)
		return found
	}
	function check_test(t,   at, file, name, line) {
		at = index(t, ": ")
		file = at ? substr(t, 1, at - 1) : t
		name = at ? substr(t, at + 2) : ""
		if (file ~ /\.t$/ && !has_case(file, name))
			fail("no case of tests/run/" file " is named \"" name "\"")
		else if (file ~ /\.sh$/ && !has_text(file, name))
			fail("tests/" file " says nothing of \"" name "\"")
		else if (file ~ /\.bt$/ && (getline line < ("tests/" file)) <= 0)
			fail("there is no tests/" file)
		else if (file !~ /\.(t|sh|bt)$/)
			fail("\"" t "\" is no test")
	}
	function take_entries(list,   n, part, i) {
		n = split(list, part, ", *")
		for (i = 1; i <= n; i++)
			if (entry[part[i]]++)
				fail("entry " part[i] " is there twice")
	}
	function end_version(   i) {
		for (i = 1; i <= want; i++)
			if (!(i in entry))
				fail("entry " i " of " version " is missing")
		split("", entry)
		want = 0
	}
	# Sections of one release are one row of the summary.
	function take_section(title) {
		if (title ~ /^[0-9.]+ \(/)
			sub(/\.[0-9]+ \(.*/, "", title)
		if (!known[title]++)
			order[++sections] = title
		section = title
	}
	/^## / {
		end_version()
		version = $2
		take_section(substr($0, 4))
		if (match($0, /\([0-9]+ entries\)/))
			want = substr($0, RSTART + 1) + 0
	}
	/^[0-9]+ rows\.$/ { told = $1 }
	/^Not about what a user runs: / {
		list = $0
		sub(/^[^:]*: /, "", list)
		sub(/\.$/, "", list)
		take_entries(list)
	}
	/^\|/ && !/^\|---/ && !/^\| (entry|what) \|/ {
		rows++
		gsub(/\\\|/, "\001")
		n = split($0, col, / *\| */)
		if (n != (want ? 6 : 5))
			fail("a row has " (want ? "four columns" : "three columns"))
		if (want)
			take_entries(substr(col[2], 1))
		for (i = 2; i < n; i++)
			if (col[i] == "" || tolower(col[i]) ~ /not yet|todo/)
				fail("a column says nothing")
		all[section]++
		same[section] += col[n - 2] == "the same"
		test = col[n - 1]
		gsub("\001", "|", test)
		if (test !~ /^`.*`$/)
			fail("a row without a test")
		tests = split(substr(test, 2, length(test) - 2), one, /`; `/)
		for (i = 1; i <= tests; i++)
			check_test(one[i])
	}
	END {
		end_version()
		if (told != rows)
			fail("the page tells of " told " rows and has " rows)
		print rows " rows, " bad + 0 " wrong"
		print "| statements of bpftrace | tested | the same in sonde |\n|---|---|---|" >summary
		for (i = 1; i <= sections; i++) {
			print "| " order[i] " | " all[order[i]] " | " same[order[i]] + 0 " |" >summary
			sum += same[order[i]]
		}
		print "| all | " rows " | " sum " |" >summary
		exit bad > 0
	}' "$page" || exit 1
awk -v summary="$summary" '
	/^\| statements of bpftrace \|/ { table = 1; while ((getline line < summary) > 0) print line }
	table && !/^\|/ { table = 0 }
	!table' docs/compat.md >"$summary.page"
if [ "${1-}" = -u ]; then
	cp "$summary.page" docs/compat.md
else
	diff -u docs/compat.md "$summary.page" || { echo "docs/compat.md: the summary is not that of $page (-u writes it)"; exit 1; }
fi
