#!/bin/sh
# Runtime tests: runs the cases of tests/run/*.t with a tracer and compares what it prints.
#
#   tests/run.sh [-j JOBS] [-n NAME-PATTERN] [-s K/N] [-e] [-l N] [-b] SONDE [DIR-or-FILE...]
#
# -b only builds the test programs. -l 20: at the end the 20 cases that took longest, and the 20 that took most of a
# processor. -s 0/2: of the cases that need nothing particular of a kernel about half,
# by their names; 1/2 has the others; -e: every case is spread like that, also one that depends on the kernel.
# A case is a block of lines, ended by the next NAME; text that
# goes on over several lines stands below its keyword, each line behind a tab, and a line of only
# $ is an empty one. `#` at the start of a line begins a comment.
#
#   NAME what it shows            unique; spaces are fine
#   PROG text                     the script, given with -e
#   ARGS words                    further options, before -e      PARAMS words     behind it
#   LOAD words                    a program of tests/progs, run by the tracer with -c
#   RUN command                   instead of PROG: a shell command that uses "$SONDE"
#   ENV A=b ...                   environment
#   EXPECT text                   the whole of stdout
#   EXPECT_RE text                the same, each line an extended regular expression for one line,
#                                 `...` for any number of lines
#   ERR, ERR_RE text              the same for stderr; without one (and without RUN), stderr may hold
#                                 no "ERROR:" or "BUG" when the exit code is expected to be 0
#   RC n                          exit code (0)
#   TIMEOUT s                     seconds (10)
#   NEEDS words                   kprobe nokprobe fentry btf uprobe tracefs hardware nohardware lockdown vm
#                                 x86_64, aarch64, before:VERSION, since:VERSION (of the kernel), tp:CATEGORY/EVENT,
#                                 disk (a file system lies on one), fast (not in a test guest), slow (with -s K/N
#                                 it is one of those of which one of N parts runs),
#                                 module:NAME (in a test guest it is loaded for what stands behind it),
#                                 file:PATH, prog:NAME (a test program that could be built), runs:NAME (and that says by its
#                                 exit code 0 that this machine can do what it is about),
#                                 usdt:FILE (it has USDT probes), func:FILE:NAME (it says where that function is),
#                                 cmd:NAME (a command that is installed), option:NAME (the tracer's --help names it),
#                                 sym:NAME (a function of this kernel), feature:NAME (of `sonde info`), python:WORD (a python3 that has
#                                 -X WORD); what misses something is skipped
#   ALONE                         not beside another case
#
# In all of that __ARCH_sys_ stands for what this kernel's functions of system calls begin with (__x64_sys_), and
# ARCH-linux-gnu for the folder of libraries.
#
# A case that fails runs again alone when all are done, with twice the time. One that then, too, was stopped or
# waited in vain does so once more with four times. Only then it counts as failed; those that passed only then are
# named and counted before the last line. All that together takes two minutes (times $TEST_SLOW): what is left then has failed.
# Commands of RUN may use what tests/lib.sh has.
# Prints `ok N - name`, `not ok N - name` and why, `ok N - name # SKIP why`; the last line sums up.
# Programs are built into $SONDE_TESTS (build/tests). Exit code 1 when a case failed.
set -u

usage() {
	sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2
	exit 2
}

jobs=2 pattern='*' build= share=0/1 even=0 list=0
while getopts j:n:s:el:b o; do
	case $o in
	j) jobs=$OPTARG ;;
	n) pattern=$OPTARG ;;
	s) share=$OPTARG ;;
	e) even=1 ;;
	l) list=$OPTARG ;;
	b) build=y ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || [ $build ] || usage

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
. "$here/lib.sh"
modules=/run/modules # of a test guest
. "$here/vm/modules.sh"
tests=${SONDE_TESTS:-build/tests}
slow=${TEST_SLOW:-1} # factor for all time limits
nl='
'

# cc -> build/tests/NAME; frame pointers because the stack tests walk them, but for those of dw_ustack.
# Static, but for those whose calls into libc are traced: test guests start static programs four times
# as fast. A program that is written for another processor says so by #error, and is left out.
build_progs() {
	mkdir -p "$tests" || exit 1
	for c in tests/progs/*.c; do
		out=${c##*/}
		out=$tests/${out%.c}
		[ "$out" -nt "$c" ] && continue
		static=-static frames="-O1 -fno-omit-frame-pointer"
		case $c in
		*/astray.c | */calls.c | */threads.c | */leak.c) static= ;;
		*/untold.c) frames="-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables" ;;
		*/unwind.c) static=-ldl frames="-O2 -fomit-frame-pointer" ;;
		*/unwind_lib.c) static="-shared -fPIC -Wl,-z,lazy" frames="-O2 -fomit-frame-pointer" ;;
		esac
		${CC:-cc} -std=gnu17 -Wall -Wextra -g $frames \
			-fno-optimize-sibling-calls -o "$out.$$" "$c" $static -lpthread 2>"$out.log" &&
			mv "$out.$$" "$out" && rm "$out.log" && continue
		rm -f "$out" "$out.$$"
		grep -q '#error "written for' "$out.log" ||
			echo "# $c could not be built: $(grep -m 1 error: "$out.log" || head -n 1 "$out.log")"
	done
	case $(${CC:-cc} -dumpmachine) in
	x86_64-*)
		[ "$tests/args32" -nt tests/progs/args32.s ] ||
			${CC:-cc} -m32 -nostdlib -static -o "$tests/args32" tests/progs/args32.s 2>/dev/null
		;;
	aarch64-*)
		[ "$tests/arm32" -nt tests/progs/arm32.S ] ||
			{
				${CC:-cc} -c -o "$tests/arm32.o" tests/progs/arm32.S &&
					"$(${CC:-cc} -print-prog-name=objcopy)" -O binary -j .text "$tests/arm32.o" "$tests/arm32" &&
					chmod +x "$tests/arm32"
			}
		;;
	esac
	# As code is debugged: not optimised, and with an older form of debug information.
	[ "$tests/typed0" -nt tests/progs/typed.c ] ||
		${CC:-cc} -static -std=gnu17 -gdwarf-4 -O0 -o "$tests/typed0" tests/progs/typed.c
	[ "$tests/classes" -nt tests/progs/classes.cc ] || ! command -v "${CXX:-g++}" >/dev/null ||
		${CXX:-g++} -static -g -O0 -o "$tests/classes" tests/progs/classes.cc
}

# Reading kallsyms takes long in a guest: once for all cases. Parts that a compiler made of a function count as it.
has_symbol() {
	if [ ! -e "$work/symbols" ]; then
		f=$(mktemp "$work/symbols.XXXXXX")
		cat "$work"/*.sh | tr " '" '\n\n' | sed -n 's/^sym://p' |
			awk 'NR == FNR { wanted[$1]; next } { sub(/[.].*/, "", $3) } $3 in wanted { print $3 }' - /proc/kallsyms >"$f"
		mv "$f" "$work/symbols"
	fi
	grep -qx "$1" "$work/symbols"
}

# By what x86_64 and aarch64 call them.
has_counters() {
	set -- /sys/bus/event_source/devices/cpu* /sys/bus/event_source/devices/armv8*
	[ -e "$1" ] || [ -e "$2" ]
}

# Of `sonde info`, asked once.
has_feature() {
	if [ ! -s "$work/features" ]; then
		f=$(mktemp "$work/features.XXXXXX") && "$SONDE" info --json >"$f" 2>/dev/null
		mv "$f" "$work/features"
	fi
	grep -qi "\"name\": \"$1\", \"available\": \"yes\"" "$work/features"
}

# Sets why to what a case misses here.
check_needs() {
	why=
	for need in ${needs-}; do
		case $need in
		kprobe) [ -e /sys/bus/event_source/devices/kprobe ] || why="no kprobes in this kernel" ;;
		uprobe) [ -e /sys/bus/event_source/devices/uprobe ] || why="no uprobes in this kernel" ;;
		btf:*)
			tr '\0' '\n' </sys/kernel/btf/vmlinux 2>/dev/null | grep -qax "${need#btf:}" ||
				why="no ${need#btf:} in the kernel's BTF"
			;;
		btf) [ -r /sys/kernel/btf/vmlinux ] || why="no kernel BTF" ;;
		fentry)
			[ -r /sys/kernel/btf/vmlinux ] && [ -e /sys/bus/event_source/devices/kprobe ] ||
				why="no fentry in this kernel"
			;;
		tracefs) [ -r /sys/kernel/tracing/events ] || why="no tracefs" ;;
		dwunwind)
			! "$SONDE" --info 2>/dev/null | grep -q '^ *LOOP *no' ||
				why="no dw_ustack here"
			;;
		hardware) has_counters || why="no hardware counters" ;;
		nohardware) ! has_counters || why="hardware counters are here" ;;
		nokprobe) [ ! -e /sys/bus/event_source/devices/kprobe ] || why="kprobes are here" ;;
		before:*)
			[ "$(printf '%s\n' "${need#before:}" "$(uname -r)" | sort -V | head -n 1)" != "${need#before:}" ] ||
				why="this kernel is not older than ${need#before:}"
			;;
		since:*)
			[ "$(printf '%s\n' "${need#since:}" "$(uname -r)" | sort -V | head -n 1)" = "${need#since:}" ] ||
				why="this kernel is older than ${need#since:}"
			;;
		disk) grep -q '^/dev/[^l]' /proc/mounts || why="no file system on a disk" ;;
		x86_64 | aarch64) [ "$(uname -m)" = "$need" ] || why="not on this processor" ;;
		lockdown)
			grep -qs '.confidentiality.$' /sys/kernel/security/lockdown || why="the kernel is not locked down"
			;;
		vm) [ "${SONDE_VM-}" ] || why="only in a test guest" ;;
		slow) ;; # in a guest; -s runs it in some
		fast) [ ! "${SONDE_VM-}" ] || why="too slow in a test guest" ;;
		module:*) load_module "${need#module:}" && rm -f "$work/symbols" ;; # what it brings is asked for behind it
		tp:*) [ -e "/sys/kernel/tracing/events/${need#tp:}" ] || why="no tracepoint ${need#tp:}" ;;
		python:*) python_with "${need#python:}" >/dev/null || why="no python3 with -X ${need#python:}" ;;
		cmd:*) command -v "${need#cmd:}" >/dev/null || why="no command ${need#cmd:}" ;;
		file:*) [ -r "${need#file:}" ] || why="no ${need#file:}" ;;
		feature:*) has_feature "${need#feature:}" || why="the kernel lacks ${need#feature:}" ;;
		sym:*) has_symbol "${need#sym:}" || why="no ${need#sym:} in this kernel" ;;
		func:*)
			"$SONDE" -l "uprobe:${need#func:}" 2>/dev/null | grep -q . || why="no name of ${need#func:}"
			;;
		usdt:*)
			readelf -n "${need#usdt:}" 2>/dev/null | grep -q stapsdt || why="no USDT in ${need#usdt:}"
			;;
		runs:*) "$tests/${need#runs:}" >/dev/null 2>&1 || why="${need#runs:} does not work on this machine" ;;
		prog:*) [ -x "$tests/${need#prog:}" ] || why="test program ${need#prog:} was not built" ;;
		option:*)
			"$SONDE" --help 2>&1 | grep -q -e "${need#option:}" || why="no ${need#option:} yet"
			;;
		*) why="unknown need $need" ;;
		esac
		[ "$why" ] && return
	done
}

# What a case that was stopped leaves running would be in the way of others; busybox's timeout ends the shell alone.
end_case() {
	for e in $(grep -laF "TMPDIR=$case.tmp" /proc/[0-9]*/environ 2>/dev/null); do
		e=${e%/environ}
		kill -9 "${e#/proc/}" 2>/dev/null
	done
}

# Runs the case in $case.sh; leaves $case.out and $case.err, sets rc.
run_case() {
	export TEST_SLOW=$((slow * patience)) # for what waits in the case
	limit=$(((${timeout:-10}) * TEST_SLOW))
	set -- "$SONDE" ${args-}
	[ "${load-}" ] && set -- "$@" -c "$tests/$load"
	if [ "${run-}" ]; then
		export TMPDIR="$case.tmp"
		rm -rf "$TMPDIR"
		mkdir "$TMPDIR"
		set -- sh -c ". '$here/lib.sh'; $run"
	else
		set -- "$@" -e "$prog" ${params-}
	fi
	for e in ${env-}; do
		export "${e?}"
	done
	timeout -k 2 "$limit" "$@" </dev/null >"$case.out" 2>"$case.err"
	rc=$?
	case $rc in # busybox's timeout lets the signal be the exit code
	124 | 137 | 143)
		echo "(stopped, the limit is $limit s)" >>"$case.err"
		[ ! "${run-}" ] || end_case
		;;
	esac
}

# Sets why to all that is wrong with a case that was run; nothing when it passed.
judge_case() {
	kinds=
	for kind in expect expect_re err err_re; do
		[ -e "$case.want_$kind" ] && kinds="$kinds $kind"
	done
	why=$(awk -v case="$case" -v rc="$rc" -v wanted="$rc_wanted" \
		-v kinds="$kinds" -v strict="${run:+n}" -f "$here/judge.awk")
}

# The differences in full and what it said on stderr.
show_case() {
	printf '%s\n' "$why"
	for kind in $kinds; do
		case $why in
		*"differs: $kind"*) ;;
		*) continue ;;
		esac
		got=out
		case $kind in err*) got=err ;; esac
		diff -u "$case.want_$kind" "$case.$got" | tail -n +3 | head -n 40
	done
	head -n 20 "$case.err"
}

# Whether more time might help.
was_late() {
	grep -q -e '^(stopped, the limit is' -e '^never: ' "$case.err"
}

# one_case NUMBER: runs and judges it; prints at once, so that workers do not mix.
one_case() (
	unset name prog args params load run env needs rc err timeout alone
	case=$work/$1
	. "$case.sh"
	rc_wanted=${rc:-0}
	title="$1 - ${file%.t}: $name"
	check_needs
	if [ "$why" ]; then
		echo "ok $title # SKIP $why"
		: >"$case.skipped"
		return
	fi
	# On the console of a guest that dies stands what it was at.
	[ "${SONDE_VM-}" ] && echo "<3>case $title" >/dev/kmsg
	read -r began _ </proc/uptime
	run_case
	read -r ended _ </proc/uptime
	times >"$case.times" # in this shell: one in $(...) has no children
	{ read -r _; read -r used; } <"$case.times"
	echo "$began $ended $used $title" >>"$case.took"
	judge_case
	if [ "$why" ] && { [ "$patience" = 1 ] || { [ "$patience" = 2 ] && was_late; }; }; then
		printf '%s\n' "$title$nl$(show_case | sed 's/^/# /')" >"$case.again"
		sed '1s/.*/# &: failed, runs again alone/' "$case.again"
		# Emulated machines are never quiet.
		[ "${SONDE_VM-}" ] || [ -e "$case.load" ] || cut -d ' ' -f 1 /proc/loadavg >"$case.load"
	elif [ "$why" ]; then
		: >"$case.failed"
		printf '%s\n' "not ok $title$nl$(show_case | sed 's/^/# /')"
	else
		: >"$case.passed"
		rm -rf "$case.tmp" # in a test guest it lies in memory
		echo "ok $title"
	fi
)

# Every case that no other worker has taken, but those that want to be alone.
worker() {
	set -C # nobody takes what is taken
	for f in "$work"/*.sh; do
		f=${f%.sh}
		[ -e "$f.alone" ] && continue
		{ true >"$f.taken"; } 2>/dev/null || continue
		set +C
		one_case "${f##*/}"
		set -C
	done
}

# Leaves the cases whose name matches the pattern.
select_cases() {
	for f in "$work"/*.sh; do
		(
			. "$f"
			case $name in
			$pattern) ;;
			*) rm -f "$f" "${f%.sh}.alone" ;;
			esac
		)
	done
}

cd "$root" || exit 1
[ "${SONDE_VM-}" ] || build_progs # who starts a test guest has built them, for its processor
[ $build ] && [ $# = 0 ] && exit 0

SONDE=$1
shift
[ $# -gt 0 ] || set -- tests/run
case $SONDE in
*/*) [ -x "$SONDE" ] || { echo "run.sh: no $SONDE"; exit 1; } ;;
esac
case $SONDE in
*/*) SONDE=$(realpath "$SONDE") ;; # cases may change folders
esac
export SONDE SONDE_TESTS="$tests"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

files=
for f; do
	if [ -d "$f" ]; then files="$files $(echo "$f"/*.t)"; else files="$files $f"; fi
done
awk -v dir="$work" -v turn="${share%/*}" -v every="${share#*/}" -v even=$even -f "$here/cases.awk" $files >/dev/null || exit 1
case $(uname -m) in
x86_64) wrapper=__x64_sys_ ;;
aarch64) wrapper=__arm64_sys_ ;;
*) wrapper=__ARCH_sys_ ;;
esac
find "$work" -type f -exec sed -i "s/__ARCH_sys_/$wrapper/g; s/ARCH-linux-gnu/$(uname -m)-linux-gnu/g" {} +
[ "$pattern" = '*' ] || select_cases

if [ "$(id -u)" != 0 ]; then
	set -- "$work"/*.sh
	echo "NOT RUN: tracing needs root"
	echo "0 passed, 0 failed, $# skipped"
	exit 0
fi

patience=1
k=0
while [ $k -lt "$jobs" ]; do
	worker &
	k=$((k + 1))
done
wait
for f in "$work"/*.alone; do
	[ -e "$f" ] && f=${f%.alone} && one_case "${f##*/}"
done
# Cases share the machine, and the kernel skips a probe that another one interrupts: what failed is tried again.
# Where much is broken that is told soon.
read -r now _ </proc/uptime
enough=$((${now%.*} + 120 * slow)) given_up=0
for patience in 2 4; do
	for f in "$work"/*.again; do
		f=${f%.again}
		[ -e "$f.again" ] && [ ! -e "$f.passed" ] && [ ! -e "$f.skipped" ] && [ ! -e "$f.failed" ] || continue
		read -r now _ </proc/uptime
		if [ "${now%.*}" -lt $enough ]; then
			one_case "${f##*/}"
		else
			given_up=$((given_up + 1))
			: >"$f.failed"
			sed '1s/^/not ok /' "$f.again"
		fi
	done
done
[ $given_up = 0 ] || echo "# $given_up that failed were not tried again: further tries took $((120 * slow)) s"

# Of lines with the beginning and the end in seconds, the processor's time as `times` tells it, and the case.
slowest() {
	cat "$work"/*.took 2>/dev/null | awk -v list="$list" -v least=$((5 * slow)) '
		function seconds(text,    part)
		{
			split(text, part, /[ms]/)
			return part[1] * 60 + part[2]
		}
		{
			took = $2 - $1
			used = seconds($3) + seconds($4)
			all_took += took
			all_used += used
			title = $0
			sub(/^[^ ]* [^ ]* [^ ]* [^ ]* /, "", title)
			if (list || took >= least)
				printf "1 %.1f # took %.1f s, %.1f s of a processor: %s\n", took, took, used, title
			if (list)
				printf "2 %.1f # used %.1f s of a processor: %s\n", used, used, title
		}
		END {
			if (list)
				printf "3 0 # all cases took %.0f s, %.0f s of a processor\n", all_took, all_used
		}' | sort -k1,1n -k2,2nr | awk -v most="$((list ? list : 10))" 'n[$1]++ < most' | sed 's/^[^#]*//'
}

count() {
	[ -e "$1" ] && echo $# || echo 0
}
again=0
for f in "$work"/*.again; do
	[ -e "${f%.again}.passed" ] || continue
	again=$((again + 1))
	read -r title <"$f"
	echo "# passed at a later try: $title$(sed 's/.*/ (load &)/' "${f%.again}.load" 2>/dev/null)"
done
[ $again = 0 ] || echo "$again at a later try"
slowest
failed=$(count "$work"/*.failed)
echo "$(count "$work"/*.passed) passed, $failed failed, $(count "$work"/*.skipped) skipped"
[ "$failed" = 0 ]
