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
turn=$((0x$(git rev-parse --short=6 HEAD 2>/dev/null || echo 0) % 32))
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
		make -j"$jobs" all build/unit build/draw build/host/ready
	row install 0 150 - 'packages that the steps use' install_packages
	row guests 0 200 install 'kernels and packages for emulated machines' fetch_guests
	row lint 1 10 build,install 'layout, layers, sizes and names of the source' make lint
	row unit 1 20 build,install 'unit tests' make unit
	row lang 1 30 build,install 'the compiler: what it prints for scripts, at each stage' tests/lang.py
	row cli 1 70 build,install 'options, messages, exit statuses' tests/cli.sh
	row query 1 20 build,install 'answers about recordings' make query
	row recorded 1 60 build,install 'answers are the same live and recorded' $sudo tests/recorded.sh build
	row rectools 1 20 build,install 'tools say the same live and over a recording of sets' $sudo tests/rectools.sh build
