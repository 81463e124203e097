#!/bin/sh
# Differential tests: runs scripts with sonde and with bpftrace, and compares stdout and exit code.
#
#   tests/diff/run.sh SONDE [-n N] [-b SIZE] [-s SEED] [-i 'NUMBER [ONLY...]'] [-j JOBS] [-k DIR] [-g]
#                     [SCRIPT...]
#
# Runs the SCRIPTs (tests/diff/*.bt when none is named; none with -g), then N programs (0) written
# by gen.c from SEED (1), SIZE of them (20) in one script, because a tracer takes longer to start than to
# run them; a script that the two do not agree on, or both refuse, is halved until it is one
# program; one that bpftrace names as it fails to load is taken out first. -i runs only
# those generated programs, with what they print. -k keeps all scripts and their outputs in DIR.
#
# The reference is the command in $BPFTRACE, else bpftrace in PATH; without one all is skipped.
# Comments at the head of a script say how to run it:
#   // ARGS words     options          // PARAMS words    behind the script
#   // LOAD words     run with -c      // ENV A=b ...     environment
#   // RC n           both must exit with n (0)
#
# accepted.txt lists the differences that are meant, with their reasons:
#   script NAME<tab>reason        the difference of NAME.bt must be exactly NAME.diff
#   line ERE<tab>reason           a line of either output that matches is not compared
# A generated program may be refused by both with the same exit code; how many is told.
# Prints a line for each script; the last line sums up. Exit code 1 when one failed.
set -u

usage() {
	sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2
	exit 2
}

[ $# -ge 1 ] || usage
SONDE=$1
shift
number=0 size=20 seed=1 only='' jobs=2 keep='' generated=''
while getopts gn:b:s:i:j:k: o; do
	case $o in
	n) number=$OPTARG ;;
	b) size=$OPTARG ;;
	s) seed=$OPTARG ;;
	i) only=$OPTARG ;;
	j) jobs=$OPTARG ;;
	k) keep=$OPTARG ;;
	g) generated=y ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || [ "$only$generated" ] || set -- "$here"/*.bt

reference=${BPFTRACE-}
if [ -z "$reference" ] && command -v bpftrace >/dev/null; then
	reference=bpftrace
fi
why=
if [ -z "$reference" ]; then
	why='no bpftrace is installed here'
elif [ "$(id -u)" != 0 ]; then
	why='tracing needs root'
else
	version=$($reference -V 2>/dev/null)
	case $version in
	*sonde*) why="$reference is sonde" ;;
	'bpftrace v0.27'*) ;;
	*) why="$reference is not bpftrace 0.27, but: $version" ;;
	esac
fi
if [ "$why" ]; then
	echo "NOT RUN: $why"
	echo "0 passed, 0 failed, $(($# + number)) skipped"
	exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
${CC:-cc} -std=gnu17 -O1 -Wall -Wextra -o "$work/gen" "$here/gen.c" || exit 1

i=0
add() { # what it is called, where it stands
	i=$((i + 1))
	case=$work/$(printf %05d $i)
	printf '%s\n' "$1" >"$case.name"
	cat "$2" >"$case.bt" || exit 1
	[ ! -e "${2%.bt}.diff" ] || cat "${2%.bt}.diff" >"$case.accepted"
}
for f; do
	add "${f##*/}" "$f"
done
# generate NUMBER [ONLY...]: a script of SIZE programs, or of those.
generate() {
	first=$1
	shift
	"$work/gen" "$seed" "$first" "$size" "$@" >"$work/generated" || exit 1
	add "generated -b $size -s $seed -i '$first${1+ }$*'" "$work/generated"
}

if [ "$only" ]; then
	# shellcheck disable=SC2086
	generate $only
	cat "$work/generated"
else
	n=0
	while [ "$n" -lt "$number" ]; do
		generate "$n"
		n=$((n + size))
	done
fi

# The words behind // KEYWORD at the head of the case's script.
header() {
	sed -n "s,^// $1 ,,p; /^[^/]/q" "$case.bt"
}

# run OUT COMMAND...: runs the script with that tracer.
run() {
	out=$1
	shift
	eval "set -- \"\$@\" $(header ARGS)"
	load=$(header LOAD)
	[ -z "$load" ] || set -- "$@" -c "$load"
	set -- "$@" -e "$(cat "$case.bt")"
	eval "set -- \"\$@\" $(header PARAMS)"
	# shellcheck disable=SC2046
	timeout -k 2 $((30 * ${TEST_SLOW:-1})) env $(header ENV) "$@" </dev/null >"$case.$out" 2>"$case.$out.err"
	rc=$?
	[ -z "$(tail -c 1 "$case.$out")" ] || echo '\ no line end' >>"$case.$out"
	echo "exit code $rc" >>"$case.$out"
}

# What differs, as "-line of the reference" and "+line of sonde".
differences() {
	diff -U 0 "$case.reference" "$case.sonde" | sed '1,2d; /^@@/d'
}

# Sets verdict to ok, accepted: REASON or nothing.
judge() {
	differences >"$case.diff"
	verdict=
	rc=$(header RC)
	if [ ! -s "$case.diff" ]; then
		if grep -qx "exit code ${rc:-0}" "$case.sonde"; then
			verdict=ok
		elif grep -q '^generated' "$case.name" && ! grep -qx 'exit code 0' "$case.sonde"; then
			verdict=refused
		else
			echo '# both exit otherwise than the script says' >"$case.diff"
		fi
		return
	fi
	if grep -q '^generated' "$case.name" && grep -qx "exit code ${rc:-0}" "$case.sonde" &&
		grep -q 'ERROR: Error loading BPF program' "$case.reference.err"; then
		verdict='accepted: the kernel refuses what bpftrace makes of it'
		return
	fi
	if [ -e "$case.accepted" ]; then
		cmp -s "$case.diff" "$case.accepted" || return
		read -r name <"$case.name"
		verdict=$(awk -F '\t' -v name="script ${name%.bt}" '$1 == name { print "accepted: " $2 }' \
			"$here/accepted.txt")
		return
	fi
	verdict=$(awk -F '\t' '
		FILENAME ~ /accepted.txt$/ {
			if (sub(/^line /, "", $1)) {
				pattern[++n] = $1
				reason[n] = $2
			}
			next
		}
		{
			text = substr($0, 2)
			for (i = 1; i <= n && text !~ pattern[i]; i++)
				;
			if (i > n)
				exit bad = 1
			why = reason[i]
		}
		END {
			if (!bad)
				print "accepted: " why
		}' "$here/accepted.txt" "$case.diff")
}

# both: runs the case with both tracers, and judges.
both() {
	# shellcheck disable=SC2086
	run reference $reference
	run sonde "$SONDE"
	judge
}

tell() {
	case $verdict in
	ok)
		: >"$case.passed"
		echo "ok $title"
		;;
	refused)
		: >"$case.passed"
		: >"$case.refused"
		echo "ok $title # both refuse it"
		;;
	accepted*)
		: >"$case.passed"
		: >"$case.differs"
		echo "ok $title # $verdict"
		;;
	*)
		: >"$case.failed"
		{
			echo "not ok $title"
			{
				case $name in generated*) cat "$case.bt" ;; esac
				head -n 40 "$case.diff"
				grep -v -e '^WARNING: \(Could not read func\|.*RLIMIT_MEMLOCK\)' "$case.reference.err" |
					sed 's/^/reference: /' | head -n 20
				sed 's/^/sonde: /' "$case.sonde.err" | head -n 20
			} | sed 's/^/# /'
		} >"$case.report"
		cat "$case.report"
		;;
	esac
}

one_case() (
	case=$1
	read -r name <"$case.name"
	title="${case##*/} - $name"
	# Twice, because a second of the clock may begin between the two.
	both
	[ "$verdict" ] || both
	tell
)

# guilty: which program of the case bpftrace could not load, when it says so by the number of its probe.
guilty() {
	probe=$(sed -n 's/^ERROR: Error loading BPF program for [a-z_]*_\([0-9]*\)\..*/\1/p' "$case.reference.err" | head -n 1)
	# The names of variables and maps begin with the number of the program.
	[ -z "$probe" ] || awk -v probe="$probe" '
		/^[a-zA-Z][a-zA-Z0-9:]* [{]$/ { here = ++n == probe }
		here && match($0, /[$@][vm][0-9]+_/) { print substr($0, RSTART + 2, RLENGTH - 3); exit }' "$case.bt"
}

# halves CASE NUMBER ONLY...: the programs ONLY of a script of generated ones; more scripts where it is not ok.
halves() {
	case=$1 first=$2
	shift 2
	name="generated -b $size -s $seed -i '$first $*'"
	echo "$name" >"$case.name"
	title="${case##*/} - $name"
	"$work/gen" "$seed" "$first" "$size" "$@" >"$case.bt" || exit 1
	both
	case $verdict in
	'' | refused | accepted*)
		if [ $# -gt 1 ]; then
			(
				one=$(guilty) half='' rest='' n=0
				case " $* " in *" $one "*) ;; *) one='' ;; esac
				for k; do
					if [ "$one" ] && [ "$k" = "$one" ] || [ -z "$one" ] && [ $((n += 1)) -le $(($# / 2)) ]; then
						half="$half $k"
					else
						rest="$rest $k"
					fi
				done
				# shellcheck disable=SC2086
				halves "${case}a" "$first" $half
				# shellcheck disable=SC2086
				halves "${case}b" "$first" $rest
			)
			return
		fi
		[ "$verdict" ] || both
		;;
	esac
	tell
	echo $# >"$case.programs"
}

generated() (
	read -r name <"$1.name"
	first=${name##*-i \'}
	# shellcheck disable=SC2046
	halves "$1" "${first%\'}" $(seq 0 $((size - 1)))
)

worker() {
	n=0
	for f in "$work"/*.bt; do
		n=$((n + 1))
		[ $((n % jobs)) = "$1" ] || continue
		read -r name <"${f%.bt}.name"
		case $only$name in
		generated*) generated "${f%.bt}" ;;
		*) one_case "${f%.bt}" ;;
		esac
	done
}

k=0
while [ $k -lt "$jobs" ]; do
	worker $k &
	k=$((k + 1))
done
wait

count() {
	[ -e "$1" ] && echo $# || echo 0
}
if [ "$only" ]; then
	cat "$work"/*.sonde
fi
if [ "$keep" ]; then
	mkdir -p "$keep" && cp "$work"/[0-9]* "$keep"
fi
failed=$(count "$work"/*.failed)
echo "$(count "$work"/*.differs) of them differ as accepted.txt says, $(count "$work"/*.refused) are refused by both"
! ls "$work"/*.programs >/dev/null 2>&1 ||
	awk '{ n += $1 } END { print n " programs were generated" }' "$work"/*.programs
echo "$(count "$work"/*.passed) passed, $failed failed"
[ "$failed" = 0 ]
