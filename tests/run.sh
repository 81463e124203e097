#!/bin/sh
# Runtime tests: runs the cases of tests/run/*.t with a tracer and compares what it prints.
#
#   tests/run.sh [-j JOBS] [-n NAME-PATTERN] [-s K/N] [-e | -r] [-l N] [-b] SONDE [DIR-or-FILE...]
#
# -b only builds the test programs, or those that the files after it name. -l 20: at the end the 20 cases that took
# longest, and the 20 that took most of a processor. -s 0/2: of the cases that need nothing particular of a kernel about
# half, by their names; 1/2 has the others. -e: every case is spread like that, also one that depends on the kernel. -r:
# of the cases that depend on the kernel one in four is run if the kernel on which the tests are started can run it, too
# (it needs neither kprobes nor a module of a guest).
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
#                                 disk (a file system lies on one), fast (not in a test guest), slow (it
#                                 takes more than four seconds in a guest: with -s it runs more rarely than others),
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
# Commands of RUN may use what tests/lib/lib.sh has.
# Prints `ok N - name`, `not ok N - name` and why, `ok N - name # SKIP why`; the last line sums up. lib/run.py runs them.
# Programs are built into $SONDE_TESTS (build/tests). Exit code 1 when a case failed.
set -u

here=$(cd "$(dirname "$0")" && pwd)
tests=${SONDE_TESTS:-build/tests}

# cc -> build/tests/NAME; frame pointers because the stack tests walk them, but for those of dw_ustack.
# Static, but for those whose calls into libc are traced: test guests start static programs four times
# as fast. A program that is written for another processor says so by #error, and is left out.
# build_progs [FILE...]: all, or those whose names are words of these files or of lib.sh.
# Test guests that start at the same time build them once: the others wait.
build_progs() {
	mkdir -p "$tests" || exit 1
	exec 8>"$tests/.lock" && flock 8 || exit 1
	only=
	[ $# = 0 ] || only=$(cat tests/lib/lib.sh "$@" | tr -cs 'a-zA-Z0-9_' ' ')
	for c in tests/progs/*.c; do
		out=${c##*/}
		out=$tests/${out%.c}
		[ "$out" -nt "$c" ] && continue
		case " ${only:-${out##*/}} " in *" ${out##*/} "*) ;; *) continue ;; esac
		static=-static frames="-O1 -fno-omit-frame-pointer"
		case $c in
		*/astray.c | */calls.c | */threads.c | */leak.c | */reported.c) static= ;;
		*/untold.c) frames="-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables" ;;
		*/stands.c) frames="-O2 -fomit-frame-pointer" ;;
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
	exec 8>&-
}

cd "$here/.." || exit 1
if [ "${1-}" = -b ]; then
	shift
	build_progs "$@"
	exit 0
fi
[ "${SONDE_VM-}" ] || build_progs # who starts a test guest has built them, for its processor
if [ $# = 0 ]; then
	sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' tests/run.sh >&2
	exit 2
fi
exec env SONDE_TESTS="$tests" python3 -S -B tests/lib/run.py "$@"
