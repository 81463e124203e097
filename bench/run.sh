#!/bin/sh
# sonde beside the tracers that are installed, on the same loads; needs root and a quiet machine.
#
#   bench/run.sh              everything (about 15 minutes) into docs/performance.md
#   bench/run.sh quick        a part of it in about two minutes, printed
#   bench/run.sh SECTION...   start events throughput maps dd, printed; with quick: less of it
#   bench/run.sh tools        start of ten tools, beside libbpf-tools and bpftrace, printed
#   bench/run.sh recordings   what recordings cost, beside perf record, and how fast they answer, printed
#
# From the environment, each one or several words, "" to leave one out: SONDE (build/sonde), BPFTRACE, PLY, DTRACE,
# STRACE, PERF (the commands of these names). BPFTRACE="chroot DIR bpftrace" is understood. TOOLS: where bpftrace's
# package has its scripts. PROGRAMS: names of programs, of the events. B: where the loads were built (build/bench).
set -u
cd "$(dirname "$0")/.." || exit 1

# found NAME: its command, when there is one.
found() {
	command -v "$1" 2>/dev/null || :
}
B=${B:-build/bench}
make -s B="${B%/bench}" "$B/load" "$B/minimum" "$B/driver" || exit 1
export SONDE="${SONDE:-build/sonde}"
export BPFTRACE="${BPFTRACE-$(found bpftrace)}" PLY="${PLY-$(found ply)}" DTRACE="${DTRACE-$(found dtrace)}"
export STRACE="${STRACE-$(found strace)}" PERF="${PERF-$(found perf)}"
export MINIMUM="$B/minimum" LOAD="$B/load" TOOLS="${TOOLS:-/usr/sbin}"
[ -x "${SONDE%% *}" ] || { echo "no $SONDE: run make first" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "must be root" >&2; exit 1; }

# ply looks at debugfs alone: where it is not mounted, it is for us and what we start.
case $PLY in *chroot\ *) root=${PLY#*chroot } root=${root%% *} ;; *) root= ;; esac
if [ -n "$PLY" ] && [ ! -d "$root/sys/kernel/debug/tracing" ] && [ -z "${BENCH_MOUNTS:-}" ] &&
	command -v unshare >/dev/null; then
	BENCH_MOUNTS=tried exec unshare -m sh -c 'mount -t debugfs debugfs "$1"; shift; exec "$@"' sh \
		"$root/sys/kernel/debug" bench/run.sh "$@"
fi

tmp=$(mktemp) || exit 1
functions=
trap 'rm -f "$tmp" $functions' EXIT
trap 'exit 130' INT TERM HUP

# bpftrace offers rawtracepoint only for functions in a file that not every kernel shows.
if [ -n "$BPFTRACE" ] && ! head -c 1 /sys/kernel/tracing/available_filter_functions >/dev/null 2>&1; then
	case $BPFTRACE in *chroot\ *) root=${BPFTRACE#*chroot } root=${root%% *} ;; *) root= ;; esac
	functions=$(mktemp "$root/tmp/functions.XXXXXX") || exit 1
	awk '$3 ~ /^__(probestub|traceiter|bpf_trace)_/ { print $3 }' /proc/kallsyms >"$functions"
	export BPFTRACE_RAW="--traceable-functions ${functions#"$root"}"
fi

case "$*" in
quick)
	"$B/driver" start events throughput maps dd quick
	python3 bench/tools.py
	exit
	;;
tools) exec python3 bench/tools.py ;;
recordings)
	make -s build/mkrec || exit 1
	exec python3 bench/recordings.py
	;;
?*)
	"$B/driver" "$@"
	exit
	;;
esac

version() {
	[ -n "$2" ] && echo "- $1: $($2 2>&1 | head -1)"
}
{
	cat <<-'END'
	# Performance

	This page is for operators and script authors. After reading it you can estimate what tracing costs: time per event,
	start time, memory. Lower is better everywhere; a ratio below 1 means that sonde needs less. `make bench`
	(`bench/run.sh`, about 15 minutes) repeats everything up to "Prices of mechanisms": it runs sonde and the other
	installed tracers on the same synthetic loads, and writes the tables. The sections after that name their own commands.

	**Method.** The load (`bench/load.c`) is pinned to the last CPU and reports the processor time of its thread per
	operation, as the median of many periods of about 1 ms. The tracers run on the other CPUs. In each round every tracer
	runs once on the same load, next to a measurement without a tracer. All figures are medians of the rounds, so that other
	processes and changes of the clock frequency affect all tracers alike. The cost of tracing is the difference to a run
	without a tracer. The minimum (`bench/minimum.c`) is the same program in hand-written BPF instructions, on the probe
	that the script names. It checks less than a tool must, so it is a lower limit and not a competitor. (sonde may choose a
	cheaper probe than the named one.)

	END
	echo "**Machine.** $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) CPUs," \
		"Linux $(uname -r | sed 's/-.*//'), $(uname -m)$(grep -q hypervisor /proc/cpuinfo && echo ', a virtual machine')," \
		"load average at the start $(cut -d' ' -f1 /proc/loadavg). $(LC_ALL=C date '+%B %Y')."
	echo
	version sonde "$SONDE --version"
	version bpftrace "${BPFTRACE:+$BPFTRACE --version}"
	version ply "${PLY:+$PLY -v}"
	version dtrace "${DTRACE:+$DTRACE -V}"
	version strace "${STRACE:+$STRACE --version}"
	version perf "${PERF:+$PERF --version}"
	echo
} >"$tmp"
"$B/driver" start events throughput maps dd >>"$tmp" || exit 1
python3 bench/tools.py >>"$tmp" || exit 1
# What was measured by hand stays.
sed -n '/^## Prices of mechanisms/,$p' docs/performance.md >>"$tmp"
cat "$tmp" >docs/performance.md
echo "written: docs/performance.md"
