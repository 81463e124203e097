#!/bin/sh
# The tools of the machine's own bpftrace package: each must compile, load and attach with sonde.
#
#   tests/kernel/tools.sh [-d DIR] SONDE [TOOL...]
#
# DIR (else $TOOLS) is where the *.bt are; by default /usr/sbin and /usr/share/bpftrace/tools. With
# TOOLs, only these (names without .bt). A tool that needs a function, variable, tracepoint, library,
# kind of probe or field of a structure that this kernel or machine lacks is skipped, and the line
# names what is missing; anything else that keeps one from attaching is a failure.
#
# Prints a line for each tool; the last line sums up. Exit code 1 when one failed.
# On other kernels (the binary must lie below the project's root), also with the scripts of tests/known:
#   tests/vm/run.sh -c 'tests/kernel/tools.sh build/static/sonde' build/static/sonde 7.2 6.1
#   tests/vm/run.sh -c 'tests/kernel/tools.sh -d tests/known build/static/sonde' build/static/sonde
set -u

usage() {
	sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2
	exit 2
}

dirs=${TOOLS-} SONDE='' only=''
while [ $# -gt 0 ]; do
	case $1 in
	-d)
		[ $# -gt 1 ] || usage
		dirs=$2
		shift
		;;
	-*) usage ;;
	*) if [ "$SONDE" ]; then only="$only $1"; else SONDE=$1; fi ;;
	esac
	shift
done
[ "$SONDE" ] || usage
command -v "$SONDE" >/dev/null || { echo "tools.sh: no $SONDE"; exit 1; }
[ "$dirs" ] || dirs="/usr/sbin /usr/share/bpftrace/tools"
limit=$((60 * ${TEST_SLOW:-1}))

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0 n=0

# From the messages of a tool that did not attach: what this kernel or machine lacks, else nothing.
# Every error has to be of that kind; one of another kind is printed with "other:".
missing() {
	awk '
		/^NOTE|^HINT/ || !/ERROR: / { next }
		/need kprobes, which this kernel lacks/ {
			getline place
			sub(/,$/, "", place)
			add(place " (no kprobes here)")
			next
		}
		/No matches for [a-z]+ / {
			sub(/.*No matches for /, "")
			sub(/\.$/, "")
			add($0)
			next
		}
		/Failed to resolve kernel symbol: / {
			sub(/.*Failed to resolve kernel /, "")
			add($0)
			next
		}
		/does not contain a field named / {
			sub(/.*type ./, "")
			sub(/. does not contain a field named ./, ": field ")
			sub(/.$/, "")
			add($0)
			next
		}
		/Unknown identifier: .[A-Z][A-Z0-9_]*.$/ { # of an enum that came with the field
			sub(/.*identifier: ./, "constant ")
			sub(/.$/, "")
			constant = constant ? constant : $0
			next
		}
		{ other = other ? other : "other: " $0 }
		function add(what) {
			if (!seen[what]++)
				all = all (all ? ", " : "") what
		}
		END {
			if (constant && all)
				add(constant)
			else if (constant)
				other = other ? other : "other: " constant
			print other ? other : all
		}' "$1"
}

for dir in $dirs; do
	for f in "$dir"/*.bt; do
		[ -r "$f" ] || continue
		name=${f##*/}
		name=${name%.bt}
		case "$only " in
		' ' | *" $name "*) ;;
		*) continue ;;
		esac
		n=$((n + 1))
		if [ "$(id -u)" != 0 ]; then
			skipped=$((skipped + 1))
			echo "ok $n - $name # SKIP tracing needs root"
			continue
		fi
		timeout -k 2 "$limit" "$SONDE" --dry-run "$f" </dev/null >"$tmp/out" 2>"$tmp/err"
		rc=$?
		# Older packages' scripts count on variables that belong to the whole probe; sonde says so.
		if [ $rc != 0 ] && grep -q 'HINT: .*--compat 0.17' "$tmp/err"; then
			timeout -k 2 "$limit" "$SONDE" --compat 0.17 --dry-run "$f" </dev/null >"$tmp/out" 2>"$tmp/err"
			rc=$?
		fi
		if [ $rc = 0 ] && ! grep -q 'ERROR: \|BUG' "$tmp/err"; then
			passed=$((passed + 1))
			echo "ok $n - $name"
			continue
		fi
		why=$(missing "$tmp/err")
		case $rc:$why in
		1: | [!1]*:* | 1:other:*)
			failed=$((failed + 1))
			echo "not ok $n - $name: exit code $rc"
			head -n 20 "$tmp/err" | sed 's/^/# /'
			;;
		*)
			skipped=$((skipped + 1))
			echo "ok $n - $name # SKIP missing: $why"
			;;
		esac
	done
done
[ $n -gt 0 ] || echo "NOT RUN: NO TOOLS in $dirs (apt-get install bpftrace)"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
