#!/bin/sh
# fuzz.sh BUILD SECONDS [TARGET...] - every fuzzer in BUILD/fuzz (or those named) for so long, with seeds that this
# tree has anyway: scripts, headers, tracefs formats, programs, kernel types. What a fuzzer finds is kept in
# BUILD/found. Prints one line per target; the last line sums up.
cd "$(dirname "$0")/.." || exit 1
build=$1 seconds=$2
[ -d "$build/fuzz" ] && [ "$seconds" ] || {
	sed -n '2,4s/^# //p' "$0"
	exit 2
}
shift 2
[ $# != 0 ] || set -- $(cd "$build/fuzz" && ls)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$build/found"
pass=0 fail=0

# What target $1 begins with.
seeds() {
	case $1 in
	bt) ls tests/lang/*.bt tests/diff/*.bt tools/*.bt ;;
	cdecl) find tests/host -name '*.h' ;;
	format) find tests/host -name format ;;
	elf | usdt | cfi | code | dwarf) ls build/host/app build/host/app-aarch64 build/host/typed-* ;;
	btf) find build/host -name vmlinux ;;
	zip | object | unit | gopcln | mmaps | grammar) ;;
	*) find "tests/fuzz/seeds/$1" -type f 2>/dev/null ;;
	esac 2>/dev/null
}

# Words for target $1, as libFuzzer wants them.
words() {
	case $1 in
	bt | grammar) tr -cs 'a-z_' '\n' <docs/language.md | sort -u | awk 'length > 2 && length < 16 { print "\"" $0 "\"" }' ;;
	zip) printf '"PK\\x03\\x04"\n"PK\\x01\\x02"\n"PK\\x05\\x06"\n"PK\\x06\\x06"\n' ;;
	elf | usdt | object | dwarf) printf '"\\x7fELF"\n".note.stapsdt"\n"stapsdt"\n".symtab"\n".BTF"\n".BTF.ext"\n' ;;
	format) printf '"field:"\n"offset:"\n"size:"\n"signed:"\n"print fmt:"\n"__data_loc "\n"common_type"\n' ;;
	esac
}

n=0
for name; do
	name=${name#fuzz_} n=$((n + 1))
	dir=$tmp/seeds.$name dict=
	mkdir "$dir"
	for f in $(seeds "$name"); do
		[ "$(wc -c <"$f")" -gt 300000 ] || cp "$f" "$dir/$(echo "$f" | tr / _)"
	done
	words "$name" >"$tmp/dict"
	[ ! -s "$tmp/dict" ] || dict=-dict=$tmp/dict
	"$build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 \
		-max_len=200000 $dict -artifact_prefix="$build/found/$name-" "$dir" >"$tmp/log" 2>&1
	rc=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$tmp/log")
	if [ $rc = 0 ] && [ "${runs:-0}" -gt 0 ]; then
		pass=$((pass + 1))
		echo "ok $n - $name: $runs inputs"
	else
		fail=$((fail + 1))
		echo "not ok $n - $name"
		grep -E 'ERROR|SUMMARY|assert|artifact|ir: ' "$tmp/log" | head -n 8 | sed 's/^/# /'
	fi
done
echo "$pass passed, $fail failed"
[ $fail = 0 ]
