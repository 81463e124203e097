#!/bin/sh
# messages.sh [-l] [SOURCE...] - each sentence that a source of probes can say must be said by a test:
# every string of two words or more in the code of the sources below (a format: its parts between the conversions,
# in order) must stand in a line that a case of tests/run/*.t, tests/lang/*.bt or tests/record/query.txt expects. What no test
# can provoke stands in tests/checks/messages.except, in groups with the reason; an entry that is tested, or
# that no source has any more, is an error, too. -l lists each sentence with the line that says it.
# Needs neither a built program nor root. Prints what is missing; the last line sums up.
set -u
list=
[ "${1-}" != -l ] || { list=1; shift; }
cd "$(dirname "$0")/../.." || exit 1
for f; do
	case $f in
	*.c) [ -f "$f" ] && continue ;;
	esac
	echo "messages.sh: $f is not a C source below $PWD" >&2
	exit 1
done
[ $# -gt 0 ] || set -- src/features/probe/*.c src/compiler/sema/expand.c src/api/scope.c src/run/scope.c src/machine/proc/cgroup.c \
	src/machine/proc/follow.c src/machine/kern/link.c src/machine/kern/perf.c src/machine/kern/pmu.c src/machine/proc/child.c src/machine/kern/tracefs.c \
	src/machine/kern/retprobe.c src/machine/kern/caps.c src/machine/kern/host.c src/machine/kern/root.c src/machine/proc/proc.c src/machine/proc/root.c \
	src/machine/proc/paths.c src/machine/types/image.c src/machine/types/format.c

awk -v list="$list" '
	# Expected lines, without the backslashes of regular expressions. Order: exceptions, tests, sources.
	FILENAME == "tests/checks/messages.except" {
		if (!/^(#|$)/)
			except[$0] = 1
		next
	}
	FILENAME ~ /\.t$/ {
		if (/^[A-Z_]+( |$)/)
			wanted = $1 ~ /^(EXPECT|EXPECT_RE|ERR|ERR_RE)$/
		if (wanted && !/^#/)
			expect($0)
		next
	}
	FILENAME == "tests/record/query.txt" {
		if (!/^\$ /)
			expect($0)
		next
	}
	FILENAME ~ /\.bt$/ {
		if (FNR == 1)
			wanted = 0
		if (/^\/\/ EXPECT/)
			wanted = 1
		if (wanted)
			expect($0)
		next
	}

	function expect(line) {
		gsub(/\\/, "", line)
		if (line ~ / /) {
			where[nline] = FILENAME ":" FNR
			said[nline++] = line
		}
	}

	# The strings of C, where only blanks lie between two of them joined. Comments, tables (behind
	# "= {") and macros are left out.
	FNR == 1 {
		flush()
		comment = data = macro = 0
		last = ""
	}
	macro || (!comment && /^[ \t]*#/) {
		macro = /\\$/
		next
	}
	{
		rest = $0
		while (rest != "") {
			if (comment) {
				if (!(i = index(rest, "*/")))
					break
				comment = 0
				rest = substr(rest, i + 2)
			} else if (match(rest, /^[ \t]+/)) {
				rest = substr(rest, RLENGTH + 1)
			} else if (match(rest, /^"([^"\\]|\\.)*"/)) {
				if (!data)
					text = text substr(rest, 2, RLENGTH - 2)
				rest = substr(rest, RLENGTH + 1)
			} else if (match(rest, /^\/\*/)) {
				comment = 1
				rest = substr(rest, 3)
			} else {
				flush()
				match(rest, /^([A-Za-z0-9_]+|\047(\\.|[^\047])+\047|.)/)
				word = substr(rest, 1, RLENGTH)
				rest = substr(rest, RLENGTH + 1)
				if (word == "{" && (data || last == "="))
					data++
				if (word == "}" && data)
					data--
				last = word
			}
		}
		file = FILENAME
	}

	function flush() {
		words = text
		gsub(/%[-#0-9.*]*(ll|l|z)?[a-z]/, "", words)
		if (words ~ /[A-Za-z][^ ]* +[^ ]*[A-Za-z]/ || words ~ /[A-Za-z][^ ]*[:,] +$/)
			check(file, text)
		text = ""
	}

	function check(file, text,    n, part, i, k, at, key, good) {
		key = file ": " text
		if (key in seen)
			return
		seen[key] = 1
		total++
		gsub(/\\"/, "\"", text)
		gsub(/\\n/, "", text)
		gsub(/\\/, "", text)
		gsub(/%%/, "\001", text)
		gsub(/%[-#0-9.*]*(ll|l|z)?[duxsc]|%\.\*s/, "\002", text)
		gsub(/\001/, "%", text)
		n = split(text, part, "\002")
		for (i = 0; i < nline; i++) {
			at = 1
			good = 1
			for (k = 1; k <= n && good; k++) {
				if (part[k] == "")
					continue
				good = index(substr(said[i], at), part[k])
				at += good + length(part[k]) - 1
			}
			if (good)
				break
		}
		if (good && list)
			print key "\n\t" where[i]
		ntold += good > 0
		if (good && key in except)
			fail("is tested, but stands in tests/checks/messages.except: " key)
		else if (!good && !(key in except))
			fail("not tested: " key)
		delete except[key]
	}

	function fail(what) {
		print what
		nfail++
	}

	END {
		flush()
		for (key in except)
			fail("tests/checks/messages.except: no such sentence: " key)
		printf "%d of %d sentences are told by tests\n", ntold, total
		exit nfail > 0
	}' tests/checks/messages.except tests/record/query.txt tests/run/*.t tests/lang/*.bt "$@"
