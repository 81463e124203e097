#!/bin/sh
# Every compiler that Debian releases have, from gcc 12 and clang 14 on: no warning, and the unit tests pass.
#
#   tests/distros/toolchains.sh [SUITE...]
#
# Each in a bare tree of the first suite that has it, with that suite's libraries; and in each suite its gcc
# without liblzma.a, and without libdw.a as well. Lines start with the suite; the last one sums up. A suite
# whose tree cannot be had counts as skipped. $COMPILERS: these alone ("none").
set -u

# try_build WHAT COMPILER: of clang also what it says of fuzzers and benchmarks.
try_build() {
	if make -j"$(nproc)" CC="$2" WERROR=-Werror all unit >/tmp/log 2>&1 &&
		case $2 in clang*) make CC="$2" syntax >/tmp/log 2>&1 ;; esac; then
		echo "ok - $1: $(build/sonde --version), $(ldd build/sonde | grep -c libdw) shared libdw"
	else
		echo "not ok - $1"
		grep -E -A4 'error:|undefined|^not ok' /tmp/log | head -n 30 | sed 's/^/# /'
	fi
	rm -rf build
}

# In the tree: those of "$@" were tried elsewhere.
if [ "${1-}" = in-tree ]; then
	shift
	apt-get -qq update
	compilers=${COMPILERS-$(apt-cache search --names-only '^(gcc-(1[2-9]|[2-9][0-9])|clang-(1[4-9]|[2-9][0-9]))$' | cut -d ' ' -f 1 | sort -V)}
	[ "$compilers" != none ] || compilers=
	for c; do
		compilers=$(echo "$compilers" | grep -vx "$c")
	done
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq -y --no-install-recommends install gcc libc6-dev make pkg-config libbpf-dev libelf-dev libdw-dev \
		zlib1g-dev libiberty-dev >/dev/null || exit
	for c in $compilers; do
		if ! apt-get -qq -y --no-install-recommends install "$c" >/tmp/log 2>&1; then
			echo "ok - $c # SKIP cannot be installed: $(grep -m 1 ^E: /tmp/log)"
			continue
		fi
		try_build "$c" "$c"
	done
	without=without
	for lib in liblzma.a libdw.a; do
		without="$without $lib"
		rm -f /usr/lib/*/$lib
		try_build "gcc $without" gcc
	done
	exit 0
fi

[ $# -gt 0 ] || set -- bookworm trixie sid
here=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
tried= passed=0 failed=0 skipped=0
for suite; do
	# shellcheck disable=SC2086
	{
		"$here/tree.sh" -s "$suite" tests/distros/toolchains.sh in-tree $tried 2>&1
		echo "exit code $?"
	} | tee "$log" | sed "s/^/$suite: /"
	case $(sed -n '$s/exit code //p' "$log") in
	0) ;;
	75) skipped=$((skipped + 1)) ;;
	*) failed=$((failed + 1)) ;;
	esac
	tried="$tried $(sed -n 's/^ok - \([a-z]*-[0-9]*\):.*/\1/p; s/^not ok - //p' "$log" | tr '\n' ' ')"
	passed=$((passed + $(grep '^ok - ' "$log" | grep -vc '# SKIP')))
	failed=$((failed + $(grep -c '^not ok - ' "$log")))
	skipped=$((skipped + $(grep -c '# SKIP' "$log")))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
