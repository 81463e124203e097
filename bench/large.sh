#!/bin/sh
# Names of a library with very many functions: what memory the tracer and its child take while stacks of one in
# sixteen of them are printed. As root; prints a row of docs/performance.md.
#
#   bench/large.sh [HUNDRED-THOUSANDS]        of functions (20: 700 MB in $TMPDIR, and minutes for the assembler)
set -u
cd "$(dirname "$0")/.." || exit 1
sonde=${SONDE:-$PWD/build/sonde} n=${1:-20} i=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
${CC:-cc} -O2 -o "$tmp/wide" bench/wide.c -ldl || exit 1
while [ $i -lt "$n" ]; do
	${CC:-cc} -c -DFROM=$((i * 100000)) -DCOUNT=100000 bench/large.S -o "$tmp/$(printf %03d $i).o" || exit 1
	i=$((i + 1))
done
${CC:-cc} -shared -o "$tmp/large.so" "$tmp"/*.o && rm "$tmp"/*.o || exit 1

"$sonde" -v -o "$tmp/out" -e 'config = { max_map_keys = 131072 } tracepoint:syscalls:sys_enter_getppid /comm == "wide"/ { @[ustack] = count(); }' 2>"$tmp/err" &
tracer=$!
until grep -qs Attached "$tmp/err"; do sleep 0.1; done
"$tmp/wide" "$tmp/large.so" 0 16 "${n}00000" &
wide=$!
until grep -qs '^34 ' "/proc/$wide/syscall"; do sleep 0.2; done # pause(2)
sleep 1

kib() { # PID: memory of its own
	awk '/^RssAnon/ { print $2 }' "/proc/$1/status" 2>/dev/null
}
child=$(cat "/proc/$tracer/task/$tracer/children")
while_tracing=$(kib $tracer) most=0 most_child=0
kill -INT $tracer
while [ -d "/proc/$tracer" ] && kill -0 $tracer 2>/dev/null; do
	now=$(kib $tracer) now_child=$(kib "${child%% *}")
	[ "${now:-0}" -gt "$most" ] && most=$now
	[ "${now_child:-0}" -gt "$most_child" ] && most_child=$now_child
	[ "$(awk '/^State/ { print $2 }' /proc/$tracer/status 2>/dev/null)" = Z ] && break
done
wait $tracer
kill $wide
echo "| functions | named stacks | own memory while tracing, KiB | most while printing | of the child that reads files |"
echo "|---|---|---|---|---|"
echo "| ${n}00,000 | $(grep -c generated_function "$tmp/out") | $while_tracing | $most | $most_child |"
