#!/bin/sh
# What user stacks of a whole machine take: the processes that are there when tracing begins, and memory with many
# processes and large files. As root; prints a section of docs/performance.md.
#
#   bench/stacks.sh [PROCESSES FILES]        of the second part (5000 200: 1.2 GB in $TMPDIR for a minute)
set -u
cd "$(dirname "$0")/.." || exit 1
sonde=${SONDE:-$PWD/build/sonde} n=${1:-5000} files=${2:-200}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
${CC:-cc} -O2 -D_GNU_SOURCE -o "$tmp/crowd" bench/crowd.c && ${CC:-cc} -O2 -o "$tmp/wide" bench/wide.c -ldl &&
	${CC:-cc} -shared -DFROM=0 -DCOUNT=20000 -o "$tmp/wide.so" bench/large.S && mkfifo "$tmp/hold" || exit 1

# crowd ARGUMENT...: there when it returns, gone when descriptor 7 is closed.
crowd() {
	: >"$tmp/ready"
	"$tmp/crowd" "$@" <"$tmp/hold" >"$tmp/ready" &
	crowd=$!
	exec 7>"$tmp/hold"
	until grep -q ready "$tmp/ready"; do sleep 0.2; done
}

crowd 1000 1 /bin/sleep 1000
sleep 2
echo "Before the first event, with 1,000 processes more than the machine has anyway (five runs):"
echo
for i in 1 2 3 4 5; do
	"$sonde" -v -e 'begin { @[ustack] = count(); clear(@); exit(); }' 2>&1 | sed -n 's/^WARNING: \(what .* map was read.*\|tables for user stacks.*\)/- \1/p'
done
exec 7>&-
wait "$crowd"

mkdir "$tmp/libs"
i=0
while [ $i -lt "$files" ]; do
	cp "$tmp/wide.so" "$tmp/libs/$i.so"
	i=$((i + 1))
done
"$sonde" -v -e 'tracepoint:syscalls:sys_enter_getppid /comm == "wide"/ { @[len(ustack) > 3] = count(); }' >"$tmp/out" 2>&1 &
tracer=$!
until grep -q Attached "$tmp/out"; do sleep 0.1; done
crowd "$n" "$files" "$tmp/wide" "$tmp/libs/%.so" %% 64
sleep 15
kill -INT $tracer
wait $tracer
exec 7>&-
wait "$crowd"
echo
echo "$n processes, each with one of $files libraries of 5 MB code and 100,000 rows, and a stack in every 16 KiB of it:"
echo
sed -n 's/^WARNING: \(user stacks: .*\)/- \1/p' "$tmp/out"
