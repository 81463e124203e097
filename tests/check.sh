#!/bin/bash
# check.sh - runs the steps of `./dev check`, as many side by side as there are processors.
#
#   tests/check.sh [-l] [all] [STEP...]
#
# Without a name: the steps that every change has to pass. `all`: every step, every case on every kernel. STEP: only
# these steps and those that they depend on; `vm` stands for all steps whose names begin with vm-. -l lists the steps
# with their time budgets and runs nothing.
#
# A step is a row of table() below. It starts when the steps that it comes after have succeeded, and when as many of two
# lanes are free as it needs; a step that keeps one processor busy needs one lane. Steps without a lane build what later
# steps need: they run one after another, at the lowest priority, in the time that other steps spend waiting. When a step
# fails, those that come after it are skipped, and the run has failed.
#
# The output of a step is shown when the step ends and kept in build/check/NAME.log; NAME.rc has its exit status, its
# seconds and those of a processor. A step whose output ends with `N passed, N failed[, N skipped]` counts as that many
# tests, any other as one. The report at the end repeats what failed, and names the cases that passed only at a later try
# and the steps that took more than twice their budget. More than three cases that failed at first on a quiet machine
# (load below 3) fail the run: then there is a bug.
set -u
cd "$(dirname "$0")/.." || exit 1
jobs=$(nproc 2>/dev/null || echo 2)
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
# Which case runs on which of the emulated kernels depends on the commit: a few commits see every case on each of them.
turn=$((0x$(git rev-parse --short=6 HEAD 2>/dev/null || echo 0) % 64))
kernels='7.2 5.10 6.12 6.1'
all=
declare -A lanes budget after what command
declare -a names

# row NAME LANES BUDGET AFTER WHAT COMMAND...: BUDGET is in seconds, on two processors; `-` in AFTER means nothing. Rows
# start in this order as soon as they can.
row() {
	names+=("$1")
	lanes[$1]=$2 budget[$1]=$3 after[$1]=${4//,/ } what[$1]=$5 command[$1]=$(printf '%q ' "${@:6}")
	[ "$4" != - ] || after[$1]=
}

table() {
	row build 2 100 - 'sonde, its unit tests, and recorded machines for compiler tests' \
		make -j"$jobs" all build/dynamic/sonde build/unit build/draw build/host/ready
	row install 0 150 - 'packages that the steps use' install_packages
	row static 2 100 build 'the static file' make -j"$jobs" static
	row guests 0 200 install 'kernels and packages for emulated machines' fetch_guests
	row lint 1 10 build,install 'layout, layers, sizes and names of the source' make lint
	row unit 1 20 build,install 'unit tests' make unit
	row lang 1 30 build,install 'the compiler: what it prints for scripts, at each stage' tests/checks/lang.py
	row cli 1 70 build,install 'options, messages, exit statuses' tests/checks/cli.sh
	row query 1 20 build,install 'answers about recordings' make query
	row merge 1 20 query 'answers of parts, merged, are the answer of the whole' tests/record/merge.sh build
	row fleet 1 60 query 'one question to many hosts, of which some fail' $sudo tests/record/fleet.sh build
	row nats 1 60 query 'one question to many agents, while the server, agents and askers die' $sudo tests/record/nats.py build
	row hubs 1 100 query 'hubs between agents and askers change no answer, also when they die or lie' $sudo tests/record/hubs.py build
	row trust 1 40 query 'which questions agents run: signatures, copies, policies, permissions' $sudo tests/record/trust.py build
	row old 1 5 build,install 'recordings of earlier versions read as they always did' tests/record/old.py build
	row live 1 180 build,install 'screens of a run, and the terminal afterwards' $sudo tests/live/live.py build/sonde
	row web 1 60 build,install 'the page of a run: who is let in, what it shows, how it ends' $sudo tests/live/web.py build/sonde
	local scrapes=20
	[ -z "$all" ] || scrapes=600
	row prometheus 1 $((scrapes + 20)) build,install 'Prometheus scrapes metrics while scripts come and go' \
		$sudo tests/live/prometheus.py build/sonde $scrapes
	row recorded 1 60 build,install 'answers are the same live and recorded' $sudo tests/record/recorded.sh build
	row export 1 20 query 'files that are made of recordings, read back' tests/record/export.py build
	row rectools 1 20 build,install 'tools say the same live and over a recording of sets' $sudo tests/record/rectools.sh build
	row hostile 1 40 query 'damaged recordings' tests/record/hostile.py build
	row docs 1 10 build,install 'the scripts of README and docs compile' $sudo tests/checks/docs.sh build/sonde README.md docs/*.md
	row covered 1 5 build,install 'each word of the language has a test' tests/checks/covered.sh build/sonde
	row messages 1 5 build,install 'each message of the probes has a test' tests/checks/messages.sh
	row audit 1 5 build,install 'each row of the compatibility audit has a test' tests/checks/audit.sh
	row formats 1 5 build,install 'files for viewers, read back' tests/viewers/formats.py build/draw
	row pictures 1 60 build,install 'pictures in a browser' tests/viewers/pictures.py build/draw
	row fuzzers 0 300 build,install 'clang compiles the source without a warning; fuzzers, sonde with sanitizers' build_fuzzers
	row cross 0 200 build,guests 'sonde for aarch64' cross
	row run 2 400 unit 'what scripts and tools print on this kernel' $sudo tests/run.sh build/sonde tests/run
	local k share=${all:+all}
	for k in $kernels; do
		row "vm-$k" 1 400 static,guests "what scripts and tools print on Linux $k, emulated" \
			tests/vm/run.sh -s "${share:-$turn}" build/static/sonde "$k"
	done
	row trixie 1 300 build,install 'built, unit and compiler tests in a bare tree of the next Debian' \
		$sudo timeout 1500 tests/distros/run.sh -q trixie
	row aarch64 1 300 cross 'stacks, Python and rights on aarch64, emulated' aarch64
	row lockdown 1 60 static,guests 'what a kernel that is locked down refuses' env GUEST_APPEND=lockdown=confidentiality \
		tests/vm/run.sh -c 'TEST_SLOW=4 sh tests/run.sh build/static/sonde tests/run/lockdown.t' build/static/sonde 6.12
	row fault 1 80 build,install 'allocations and system calls fail in turn' $sudo tests/kernel/fault.sh build/dynamic/sonde 50
	row sanitize 1 200 fuzzers 'unit, compiler and some runtime tests with sanitizers' sanitize
	row signatures 1 60 build,install 'arguments by name, wherever compilers left them' $sudo tests/kernel/signatures.py build/sonde
	row verified 2 40 build,install 'what programs cost the verifier' $sudo tests/kernel/verified.py build/sonde
	row fuzz 1 100 fuzzers 'each fuzzer for two seconds' fuzz_briefly
	row grammar 1 40 build,install 'generated scripts compile, and the kernel accepts them' $sudo make -s grammar N=2000
	row oracle 1 120 build,install 'programs do the same in the kernel and in the interpreter' $sudo make -s oracle
	row libsonde 1 60 build,install 'the library: what it shows, its example, sessions under the sanitizers' $sudo tests/libsonde/run.sh build
	row packages 1 60 static 'packages of what was built' tests/distros/packages.sh -q
	row soak 1 30 build,install 'a tracer that runs for long neither grows nor loses count' $sudo tests/kernel/soak.sh build/sonde 20
	row killed 1 60 build,install 'a recorder that is killed at any moment leaves a recording' $sudo tests/record/killed.py -n 4 build
	row probes 1 30 build,install 'each probe type attaches and sees its events' $sudo tests/kernel/probes.sh build/sonde
	row diff 1 30 build,install 'the output is that of bpftrace, where it is installed' \
		$sudo env BPFTRACE="${BPFTRACE-}" tests/diff/run.sh build/sonde -n 40
	row words 1 5 build,install 'messages say at least what those of bpftrace say (their file; all where it is installed)' \
		$sudo tests/diff/words.py build/sonde
	row tools 1 30 build,install "other people's scripts load and attach" $sudo tests/kernel/tools.sh build/sonde
	row known 1 10 build,install 'scripts that books and talks made known load and attach' $sudo tests/kernel/tools.sh -d tests/known build/sonde
	row size 1 5 static 'the static file is small and needs no library' static_size
	[ "$all" ] || return 0
	row distros 2 3600 run 'built and tested in bare trees of three Debian releases' $sudo tests/distros/run.sh
	row toolchains 2 3600 run 'every gcc and clang that Debian has' $sudo tests/distros/toolchains.sh
	row packages-trees 2 3600 run 'packages built, installed and removed in bare trees' $sudo tests/distros/packages.sh
	row fuzz-long 2 1800 fuzzers 'each fuzzer for a minute' make -j"$jobs" fuzz T=60
	row live-all 1 1900 build,install 'a hundred thousand keys; each tool prints after its screen what it prints without' \
		$sudo env KEYS=100000 SIZES=1000 HEADS=1 tests/live/live.py build/sonde random_keys resize_storm each_tool each_known same_as_plain
	row soak-long 1 3700 run 'a tracer that runs for an hour' $sudo tests/kernel/soak.sh build/sonde 3600
	row nats-many 1 120 run 'a thousand agents answer at the same time' tests/record/nats.py -l 1000 -n many build
	row killed-long 2 1200 run 'a recorder that is killed a hundred times' $sudo tests/record/killed.py -n 100 -l 6 build
	row aarch64-all 2 7200 cross 'all cases on four kernels of aarch64' tests/vm/run.sh -a aarch64 build/aarch64/sonde
}

# ---- steps that are more than one command ----

install_packages() {
	./dev install "${!chosen[@]}"
}

# The steps that need a kernel report what could not be had.
fetch_guests() {
	local k
	for k in $kernels; do
		tests/vm/fetch.sh "$k"
	done
	! can_cross || { tests/vm/tree.sh arm64 && tests/vm/fetch.sh 6.12 arm64; }
	true
}

skipped() {
	printf '%s\n' "$*" '0 passed, 0 failed, 1 skipped'
}

static_size() {
	local size
	size=$(wc -c <build/static/sonde) || return 1
	echo "build/static/sonde: $size bytes"
	[ "$size" -lt $((4096 * 1024)) ] || return 1
	if readelf -d build/static/sonde 2>/dev/null | grep -q NEEDED; then
		echo 'it needs shared libraries'
		return 1
	fi
	build/static/sonde --version
}

can_cross() {
	command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-system-aarch64 >/dev/null
}

cross() {
	if can_cross; then make -j"$jobs" aarch64 DRAFT=1; else skipped 'no cross compiler or no emulator for aarch64 here'; fi
}

# Each probe type on one kernel, and what is different there.
aarch64() {
	can_cross || { skipped 'no cross compiler or no emulator for aarch64 here'; return; }
	local cases='tests/run/aarch64.t tests/run/unwind.t tests/run/rights.t'
	local python='tests/run/languages.t tests/run/tool-stacks.t' run='TEST_SLOW=4 sh tests/run.sh -j 2'
	tests/vm/run.sh -a aarch64 -c "$run build/aarch64/sonde $cases && $run -n '*Python*' build/aarch64/sonde $python" \
		build/aarch64/sonde 6.12
}

can_fuzz() {
	echo 'int LLVMFuzzerTestOneInput(const char *p, long n); int LLVMFuzzerTestOneInput(const char *p, long n) { return !p && n; }' |
		clang -fsanitize=fuzzer,address,undefined -x c - -o build/check/fuzzer 2>/dev/null && return
	skipped 'no clang with libFuzzer and sanitizers here'
	return 1
}

build_fuzzers() {
	can_fuzz || return 0
	make -j"$jobs" fuzzing
}

fuzz_briefly() {
	can_fuzz || return 0
	make fuzz T=2
}

sanitize() {
	can_fuzz || return 0
	$sudo env PATH="$PATH" make -s sanitize
}

# ---- which steps ----

# is_wanted NAME WORD...: whether the words are none, or one is the name or what the name has before a dash.
is_wanted() {
	local name=$1 word
	shift
	[ $# -gt 0 ] || return 0
	for word; do
		[ "$word" = "$name" ] || [ "$word" = "${name%%-*}" ] && return
	done
	return 1
}

# Fills chosen with the steps that the words name and all that these come after. Rows depend on earlier rows only.
declare -A chosen
choose() {
	local i name needed word
	for word; do
		for name in "${names[@]}"; do
			is_wanted "$name" "$word" && continue 2
		done
		echo "check.sh: no step is called $word; tests/check.sh -l lists them" >&2
		exit 2
	done
	for ((i = ${#names[@]} - 1; i >= 0; i--)); do
		name=${names[i]}
		[ "${chosen[$name]-}" ] || ! is_wanted "$name" "$@" || chosen[$name]=y
		[ "${chosen[$name]-}" ] || continue
		for needed in ${after[$name]}; do
			chosen[$needed]=y
		done
	done
}

list() {
	local name lane
	for name in "${names[@]}"; do
		[ "${chosen[$name]-}" ] || continue
		case ${lanes[$name]} in 0) lane='in the background' ;; 1) lane='one processor' ;; *) lane='both processors' ;; esac
		printf '%-15s %5d s  %-18s %s\n' "$name" "${budget[$name]}" "$lane" "${what[$name]}"
	done
}

# ---- running them ----

declare -A state pid_of
passed=0 failed=0 skipped=0 free=2 background=
failures=() slow=() late=()

# What `times` printed to a file, as seconds of a processor.
processor_seconds() {
	tr 'ms' '  ' <"$1" | awk '{ sum += ($1 + $3) * 60 + $2 + $4 } END { printf "%.0f\n", sum }'
}

run_step() {
	local start=$SECONDS name=$1
	[ "${lanes[$name]}" != 0 ] || [ "$name" = install ] || renice -n 19 -p $BASHPID >/dev/null
	eval "${command[$name]}" >"build/check/$name.log" 2>&1 </dev/null
	local rc=$?
	times >"build/check/$name.times"
	echo $rc $((SECONDS - start)) "$(processor_seconds "build/check/$name.times")" >"build/check/$name.rc"
}

begin() {
	rm -f "build/check/$1.rc"
	state[$1]=running
	if [ "${lanes[$1]}" = 0 ]; then background=$1; else free=$((free - lanes[$1])); fi
	echo "=== $1 begins"
	run_step "$1" &
	pid_of[$!]=$1
}

# Whether the steps that it comes after have succeeded. When one of them has not, the step is skipped.
is_ready() {
	local needed
	for needed in ${after[$1]}; do
		case ${state[$needed]-} in
		passed) ;;
		failed | skipped)
			state[$1]=skipped
			echo "=== $1: skipped, since $needed did not succeed"
			skipped=$((skipped + 1))
			return 1
			;;
		*) return 1 ;;
		esac
	done
}

# Starts every step that can start now. A step that needs more lanes than are free keeps later ones from overtaking it.
begin_ready() {
	local name full=
	for name in "${names[@]}"; do
		[ "${chosen[$name]-}" ] && [ ! "${state[$name]-}" ] && is_ready "$name" || continue
		if [ "${lanes[$name]}" = 0 ]; then
			[ "$background" ] || begin "$name"
		elif [ ! "$full" ]; then
			if [ "${lanes[$name]}" -le $free ]; then begin "$name"; else full=y; fi
		fi
	done
}

# Shows a step that has ended, and counts its tests: of what is printed without a sum, one.
finish() {
	local name=$1 log=build/check/$1.log rc=1 took=0 used=0 sum p=0 f=0 s=0
	[ ! -e "build/check/$name.rc" ] || read -r rc took used <"build/check/$name.rc"
	if [ "${lanes[$name]}" = 0 ]; then background=; else free=$((free + lanes[$name])); fi
	sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -n 1)
	if [ "$sum" ]; then
		read -r p f s <<<"$(tr -dc '0-9 ' <<<"$sum")"
		[ "$rc" = 0 ] || [ "$f" != 0 ] || f=1
	elif [ "$rc" = 0 ]; then
		p=1
	else
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
	state[$name]=passed
	[ "$f" = 0 ] || { state[$name]=failed; failures+=("$name"); }
	[ "$took" -le $((2 * budget[$name])) ] || slow+=("$name: $took s, its budget is ${budget[$name]} s")
	mapfile -t -O ${#late[@]} late < <(sed -nE "s/^([^ ]+: )?# passed at a later try: /$name: \1/p" "$log")
	echo "=== $name"
	# Of steps without a lane only the end: what they build is no test.
	if [ "${lanes[$name]}" = 0 ]; then tail -n 3 "$log"; else cat "$log"; fi
	echo "--- $name: $p passed, $f failed, ${s:-0} skipped in $took s ($used s of a processor; after $SECONDS s)"
}

# Of a failed step the lines about its failed tests, once more; of one that names no test, its end.
show_failure() {
	echo "=== failed: $1 (its whole output is in build/check/$1.log)"
	if grep -qE '^([^ ]+: )?not ok' "build/check/$1.log"; then
		awk '/^([^ ]+: )?not ok/ { left = 16 } !/^([^ ]+: )?(not ok|#)/ { left = 0 } left-- > 0' "build/check/$1.log"
	else
		tail -n 16 "build/check/$1.log"
	fi | head -n 80 | cut -c 1-200
}

report() {
	local name quiet
	for name in "${failures[@]}"; do
		show_failure "$name"
	done
	[ ${#slow[@]} = 0 ] || printf 'More than twice the budget: %s\n' "${slow[@]}"
	[ ${#late[@]} = 0 ] || printf 'Passed at a later try: %s\n' "${late[@]}"
	quiet=$(printf '%s\n' "${late[@]}" | sed -n 's/.*(load \([0-9.]*\))$/\1/p' | awk '$1 < 3 { n++ } END { print n + 0 }')
	if [ "$quiet" -gt 3 ]; then
		echo "not ok $quiet cases passed only at a later try although the machine was quiet"
		failed=$((failed + 1))
	fi
	echo "All steps took $SECONDS s."
	echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
}

# Each step is a process group of its own, so that all of it can be ended.
stop() {
	local pid
	trap '' INT TERM
	for pid in "${!pid_of[@]}"; do
		kill -- "-$pid" 2>/dev/null
	done
	exit 130
}

show_list= words=()
for word; do
	case $word in
	-l) show_list=y ;;
	all) all=y ;;
	-*)
		sed -n '2,/^set -u/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2
		exit 2
		;;
	*) words+=("$word") ;;
	esac
done
table
choose "${words[@]}"
if [ "$show_list" ]; then
	list
	exit
fi
mkdir -p build/check
# Here a warning is an error; for a user who only builds it is not.
export WERROR=-Werror
set -m
trap stop INT TERM
SECONDS=0
begin_ready
while [ ${#pid_of[@]} -gt 0 ]; do
	wait -n -p ended "${!pid_of[@]}"
	finish "${pid_of[$ended]}"
	unset "pid_of[$ended]"
	begin_ready
done
report
[ $failed = 0 ]
