#!/bin/sh
# run.sh BUILD SECONDS [TARGET...] - every fuzzer in BUILD/fuzz (or those named) for so long, with seeds that this
# tree has anyway: scripts, headers, tracefs formats, programs, kernel types. What a fuzzer finds is kept in
# BUILD/found. Prints one line per target; the last line sums up.
cd "$(dirname "$0")/../.." || exit 1
build=$1 seconds=$2
[ -e "$build/fuzz/ready" ] && [ "$seconds" ] || {
	sed -n '2,4s/^# //p' "$0"
	exit 2
}
shift 2
[ $# != 0 ] || set -- $(cd "$build/fuzz" && ls fuzz_*)
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
	split) ls build/host/split-*.dw? ;;
	btf) find build/host -name vmlinux ;;
	query) ls tests/recordings/*.sonde ;;
	packed) echo build/host/app ;;
	bare) ls build/tests/untold build/host/app ;;
	zip | object | unit | gopcln | mmaps | grammar | answers | records | copy | frames | vm | rec) ;;
	*) find "tests/fuzz/seeds/$1" -type f 2>/dev/null ;;
	esac 2>/dev/null
}

# Words for target $1, as libFuzzer wants them.
words() {
	case $1 in
	bt | grammar) tr -cs 'a-z_' '\n' <docs/language.md | sort -u | awk 'length > 2 && length < 16 { print "\"" $0 "\"" }' ;;
	zip) printf '"PK\\x03\\x04"\n"PK\\x01\\x02"\n"PK\\x05\\x06"\n"PK\\x06\\x06"\n' ;;
	elf | usdt | object | dwarf | split) printf '"\\x7fELF"\n".note.stapsdt"\n"stapsdt"\n".symtab"\n".BTF"\n".BTF.ext"\n' ;;
	args) grep -oE '"[a-z-]+"' src/cmd/option.def src/core/config.def | sed 's/.*:"/"--/; s/--"/"/' | sort -u ;;
	host) printf '"State:"\n"NSpid:"\n"DEVNAME="\n"config:"\n"config1:"\n"\\"names\\":"\n"\\"id\\":"\n"glibc-ld.so.cache1.1"\n"ld.so-1.7.0"\n' ;;
	verlog) printf '"insn "\n"processed "\n"back-edge from insn "\n"; "\n" @ "\n' ;;
	http) printf '"%s"\n' 'GET /' 'POST /' HEAD ' HTTP/1.1' Host: localhost Origin: 'Content-Length: ' state pane part save ctl see events 't=0123456789abcdef0123456789abcdef' '&x=' '&c=' ;;
	page) printf '"%s\\x0a"\n' state pane part save ctl see && printf '"0@%s\\x0a"\n' n h s on && printf '"%s"\n' table hist heat flame series .csv .json .svg .pb .sonde every mark ;;
	mangled) printf '"_ZN"\n"_ZNK"\n"_ZTV"\n"_RNv"\n"IXadL"\n"S_"\n"T_"\n"Dp"\n"17h"\n' ;;
	format) printf '"field:"\n"offset:"\n"size:"\n"signed:"\n"print fmt:"\n"__data_loc "\n"common_type"\n' ;;
	esac
}

# fuzz NUMBER NAME: its line, and what it found, in $tmp/said.NUMBER.
fuzz() {
	dir=$tmp/seeds.$1 dict=
	mkdir "$dir"
	for f in $(seeds "$2"); do
		[ "$(wc -c <"$f")" -gt 300000 ] || {
			[ "$2" != packed ] || printf '\001' # how
			[ "$2" != query ] || printf '\000\000' # which script and output
			cat "$f"
		} >"$dir/$(echo "$f" | tr / _)"
	done
	words "$2" >"$tmp/dict.$1"
	[ ! -s "$tmp/dict.$1" ] || dict=-dict=$tmp/dict.$1
	"$build/fuzz/fuzz_$2" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 \
		-max_len=200000 $dict -artifact_prefix="$build/found/$2-" "$dir" >"$tmp/log.$1" 2>&1
	rc=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$tmp/log.$1")
	if [ $rc = 0 ] && [ "${runs:-0}" -gt 0 ]; then
		echo "ok $1 - $2: $runs inputs"
	else
		echo "not ok $1 - $2"
		grep -E 'ERROR|SUMMARY|assert|artifact|ir: ' "$tmp/log.$1" | head -n 8 | sed 's/^/# /'
	fi >"$tmp/said.$1"
	rm -rf "$dir"
}

# As many at a time as there are processors.
at_once=$(nproc 2>/dev/null || echo 1) n=0
for name; do
	n=$((n + 1))
	fuzz $n "${name#fuzz_}" &
	[ $((n % at_once)) != 0 ] || wait
done
wait
i=0
while [ $((i += 1)) -le $n ]; do
	cat "$tmp/said.$i"
	if grep -q '^ok' "$tmp/said.$i"; then pass=$((pass + 1)); else fail=$((fail + 1)); fi
done
echo "$pass passed, $fail failed"
[ $fail = 0 ]
