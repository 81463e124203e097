#!/bin/sh
# merge.sh [-u] BUILD - answers of several hosts as one. What a script says of a recording of 40 CPUs, and what its answers
# of the 40 CPUs say together, are the same bytes. Then whole answers, and what is refused: tests/record/merge.txt (-u writes it;
# read it). No root.
update=
[ "$1" = -u ] && update=1 && shift
build=$(realpath "${1:-build}") || exit 1
cd "$(dirname "$0")" || exit 1
here=$PWD
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export TZ=UTC
sonde=$build/sonde
bad=0

"$build/mkrec" -c wide.sonde || exit 1
enter=tracepoint:raw_syscalls:sys_enter exit=tracepoint:raw_syscalls:sys_exit

# same SCRIPT FORMAT... - the merged answers of all CPUs print what the recording prints.
same() {
	script=$1
	shift
	cpu=0
	while [ $cpu -lt 40 ]; do
		"$sonde" query -q wide.sonde --cpu $cpu -f answer -o cpu$cpu.answer -e "$script" || return 1
		cpu=$((cpu + 1))
	done
	for format; do
		"$sonde" query -q wide.sonde -f "$format" -o whole -e "$script" > whole.out 2>&1
		"$sonde" merge -q cpu*.answer -f "$format" -o merged > merged.out 2>&1
		# Profiles say when they were made; the rest is of the samples.
		[ "$format" = pprof ] && for f in whole merged; do
			python3 "$here/samples.py" $f > $f.txt && mv $f.txt $f
		done
		# Pictures say of which machine they are.
		[ "$format" = flame ] && sed -i '/class="faint"/d; s/where&#34;:&#34;[^&]*//' whole merged
		[ -s whole ] && cmp whole merged && cmp whole.out merged.out && continue
		echo "not ok - -f $format: $script"
		bad=$((bad + 1))
		diff whole merged | head -n 10
		head whole.out merged.out
	done
}

# m WORD... - sonde merge, and what came of it.
m() {
	printf '$ merge'
	printf ' %s' "$@"
	echo
	timeout 20 "$sonde" merge "$@" 2>&1 < /dev/null
	rc=$?
	[ $rc = 0 ] || echo "[$rc]"
}

split() {
	same "t:raw_syscalls:sys_* { @ = count(); @c[comm] = count(); @i[args.id] = count(); @p[pid, comm, probe] = count(); }" \
		text json prometheus
	same "$exit { @s[comm] = sum(args.ret); @a[comm] = avg(args.ret); @st[args.id % 9] = stats(args.ret);
@mi[comm] = min(args.ret); @ma[comm] = max(args.ret); @d[comm] = stddev(args.ret); @sh[comm] = share(args.ret > 1000); }" \
		text json
	same "$exit { @h = hist(args.ret); @h4[comm] = hist(args.ret, 4); @l[comm] = lhist(args.ret, 0, 100000, 5000);
@q[comm] = quantize(args.ret); @ll = llquantize(args.ret, 10, 0, 6, 10); @b = bhist(args.ret, \"10,1000,100000\"); }" text json
	same "$exit { @t = tseries(args.ret, 100us, 20); @m[comm] = tseries(args.ret, 50us, 10, \"max\");
@n = tseries(args.ret, 50us, 10, \"min\"); @s = tseries(args.ret, 50us, 10, \"sum\"); }" text json
	same "$enter { @[args.id] = count(); @h[comm] = hist(args.id); } end { print(@, 10); print(@, 5, 3); print(@h, \"p50, p99\");
clear(@); clear(@h); }" text json
	same "profile:hz:99 { @[ustack, comm] = count(); @k[kstack] = count(); @both[kstack, ustack, pid] = sum(pid); }" \
		text json folded flame pprof speedscope
	same "$enter { @n++; @by[comm] += args.id; @by[comm] -= 1; }" text json
	same "begin { printf(\"begins\\n\"); } $enter { @[comm] = count(); } interval:us:500 { printf(\"---\\n\"); print(@); clear(@); }
end { printf(\"over\\n\"); }" text json
}

hosts() {
	"$build/mkrec" -n web1 web1.sonde && "$build/mkrec" -n web2 -l web2.sonde && "$build/mkrec" -n db db.sonde || exit 1
	script='begin { printf("asks\n"); } t:raw_syscalls:sys_enter { @[comm] = count(); @last[comm] = args.id; @one = pid; @n++;
if (args.id == 257 && nsecs % 700000000 == 0) { printf("%s at %d\n", comm, nsecs / 1000000); print(args.id); } }
profile:hz:99 { @s[ustack] = count(); } end { warnf("of %d", 3); }'
	for h in web1 web2 db; do
		"$sonde" query -q $h.sonde -f answer -o $h.answer -e "$script" 2>&1
	done
	m web1.answer
	m web1.answer web2.answer db.answer
	m --by host web1.answer web2.answer
	m -f json web1.answer web2.answer
	m -f folded --by host web1.answer web2.answer
	# a merged answer is an answer, too
	m web1.answer web2.answer -f answer -o both.answer
	m both.answer db.answer -f json
	# two of one host are told apart by their files
	cp web1.answer again.answer
	m --by host web1.answer again.answer
	"$sonde" report web1.answer | sed 's/[0-9]* bytes/N bytes/; /^made/d'
	# what does not belong together
	"$sonde" query -q web1.sonde -f answer -o other.answer -e 't:raw_syscalls:sys_enter { @[comm] = count(); }'
	m web1.answer other.answer
	echo 't:raw_syscalls:sys_enter { @[comm] = count(); }' > script.bt
	"$sonde" query -q web1.sonde -f answer -o a.answer script.bt 1
	"$sonde" query -q web1.sonde -f answer -o b.answer script.bt 2
	m a.answer b.answer
	m web1.sonde
	m /etc/passwd
	m none.answer
	m
	m --by pod web1.answer
	m -f record -o x web1.answer
	m -p 1 web1.answer
	m -h | head -n 2
	echo '$ merge, whose reader has left'
	mkfifo left
	true < left &
	exec 3> left
	wait $!
	"$sonde" merge web1.answer web2.answer 2>&1 >&3
	echo "[$?]"
	exec 3>&-
	echo '$ others'
	"$sonde" query web1.answer -e 'begin { exit(); }' 2>&1
	"$sonde" export web1.answer --to json 2>&1
	"$sonde" query -q web1.sonde -f answer -o x.answer syscount 2>&1
	"$sonde" query --cpu 1-,x web1.sonde -e 'begin { exit(); }' 2>&1
	"$sonde" query -q --cpu 0,2-3 web1.sonde -e '*:* { @[cpu] = count(); }' 2>&1
}

# Where a file ends decides what is said of it.
damaged() {
	size=$(stat -c %s web1.answer)
	for n in 3 30 64 100 $((size - 1)); do
		head -c $n web1.answer > cut.answer
		m cut.answer 2>&1
	done | sed 's/byte [0-9]*/byte N/'
	python3 - <<'END'
data = bytearray(open("web1.answer", "rb").read())
at = [i for i in range(64, len(data), 8) if data[i:i + 4] == b"SBLK" and data[i + 4] == 17][0]
data[at + 60] ^= 0x55
open("bad.answer", "wb").write(data)
data[8] = 2
import zlib
data[60:64] = zlib.crc32(data[:60]).to_bytes(4, "little")
open("version.answer", "wb").write(data)
END
	m bad.answer | sed 's/byte [0-9]*/byte N/'
	m --partial bad.answer web2.answer | sed 's/byte [0-9]*/byte N/'
	m version.answer
}

split
{ hosts; damaged; } > got.txt
if [ "$update" ]; then
	cp got.txt "$here/merge.txt"
elif ! diff -u "$here/merge.txt" got.txt; then
	bad=$((bad + 1))
fi
[ $bad = 0 ] && echo "merged answers: ok"
exit $bad
