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
	words=-e
	compare "$@"
}

# tool "WORD..." FORMAT... - the same of a tool with its arguments.
tool() {
	words=$1
	shift
	script=
	compare "$@"
}

# Both want the words to be split.
# shellcheck disable=SC2086
whole() { "$sonde" query wide.sonde "$@" $words ${script:+"$script"}; }

compare() {
	cpu=0
	while [ $cpu -lt 40 ]; do
		whole -q --cpu $cpu -f answer -o cpu$cpu.answer || bad=$((bad + 1))
		cpu=$((cpu + 1))
	done > answers.out 2>&1
	for format; do
		whole -q -f "$format" -o whole > whole.out 2>&1
		"$sonde" merge -q cpu*.answer -f "$format" -o merged > merged.out 2>&1
		# Profiles say when they were made; the rest is of the samples.
		[ "$format" = pprof ] && for f in whole merged; do
			python3 "$here/samples.py" $f > $f.txt && mv $f.txt $f
		done
		# Pictures say of which machine they are.
		[ "$format" = flame ] && sed -i '/class="faint"/d; s/where&#34;:&#34;[^&]*//' whole merged
		# Rows of emit() have a column more.
		case $words$script in
		*emit* | t*)
			case $format in
			json) sed -i 's/"host": "cpu[0-9]*.answer", //' merged ;;
			csv) sed -i 's/^[^,]*,//' merged ;;
			*) sed -i 's/^............ //' merged ;;
			esac
			;;
		esac
		[ -s whole ] && cmp whole merged && cmp whole.out merged.out && continue
		echo "not ok - -f $format: $words $script"
		bad=$((bad + 1))
		diff whole merged | head -n 10
		head whole.out merged.out answers.out
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

# Signed and unsigned, weighted, without a key; the largest rows of each kind of value, divided.
kinds() {
	same "$exit { @c = count(); @s = sum(nsecs % 1000); @a = avg((uint64)args.ret); @st = stats(nsecs); @mi = min(nsecs); @ma = max(nsecs);
@d = stddev(nsecs % 7777); @sh = share(args.ret % 2); @h0 = hist(nsecs, 5); @l = lhist(-args.ret, -100000, 0, 7000); @q = quantize(-args.ret, 3);
@ll = llquantize(args.ret, 2, 0, 20, 2, 5); @b[pid] = bhist(args.ret, \"-5,0,7\"); }" text json
	same "config = { print_maps_on_exit = false } $exit { @c[args.id, pid] = count(); @s[args.id] = sum(args.ret); @a[args.id] = avg(args.ret);
@st[args.id] = stats(args.ret); @mi[args.id] = min(args.ret); @ma[args.id] = max(args.ret); @d[args.id] = stddev(args.ret); @sh[args.id] = share(args.ret % 3);
@h[args.id] = hist(args.ret); @l[args.id] = lhist(args.ret, 0, 100000, 9000); @q[args.id] = quantize(args.ret); @t[args.id] = tseries(args.ret, 100us, 5); }
profile:hz:99 { @k[kstack, ustack] = count(); } end { print(@c, 7); print(@s, 7, 10); print(@a, 7, 3); print(@st); print(@mi, 7); print(@ma, 7, 2);
print(@d, 7); print(@sh, 7); print(@h, 7); print(@l, 7); print(@q, 7); print(@t, 7); print(@k, 7); }" text json
}

# Every aggregation of the language is among the scripts below.
every() {
	for agg in $(sed -n 's/^T(.*"\([a-z]*\)_t", *TF_AGG.*/\1/p' "$here/../../src/machine/types/type.def"); do
		grep -q "^\(	same\|@\).*= $agg(" "$here/merge.sh" && continue
		echo "not ok - no script is split by CPU that has $agg()"
		bad=$((bad + 1))
	done
}

split() {
	every
	same "t:raw_syscalls:sys_* { @ = count(); @c[comm] = count(); @i[args.id] = count(); @p[pid, comm, probe] = count(); }" \
		text json prometheus
	same "$exit { @s[comm] = sum(args.ret); @a[comm] = avg(args.ret); @st[args.id % 9] = stats(args.ret);
@mi[comm] = min(args.ret); @ma[comm] = max(args.ret); @d[comm] = stddev(args.ret); @sh[comm] = share(args.ret > 1000); }" \
		text json
	same "$exit { @h = hist(args.ret); @h4[comm] = hist(args.ret, 4); @l[comm] = lhist(args.ret, 0, 100000, 5000);
@q[comm] = quantize(args.ret); @ll = llquantize(args.ret, 10, 0, 6, 10); @b = bhist(args.ret, \"10,1000,100000\"); }" text json
	same "$exit { @t = tseries(args.ret, 100us, 20); @m[comm] = tseries(args.ret, 50us, 10, \"max\");
@n = tseries(args.ret, 50us, 10, \"min\"); @s = tseries(args.ret, 50us, 10, \"sum\"); }" text json
	kinds
	same "$enter { @[args.id] = count(); @h[comm] = hist(args.id); } end { print(@, 10); print(@, 5, 3); print(@h, \"p50, p99\");
clear(@); clear(@h); }" text json
	same "profile:hz:99 { @[ustack, comm] = count(); @k[kstack] = count(); @both[kstack, ustack, pid] = sum(pid); }" \
		text json folded flame pprof speedscope
	same "$enter { @n++; @by[comm] += args.id; @by[comm] -= 1; }" text json
	same "begin { printf(\"begins\\n\"); } $enter { @[comm] = count(); } interval:us:500 { printf(\"---\\n\"); print(@); clear(@); }
end { printf(\"over\\n\"); }" text json
	# Two keys that are shown as one text: ("a, b", "c") and ("a", "b, c").
	same "config = { print_maps_on_exit = false } table two sorted by n { x \"X\"; y \"Y\"; n \"N\"; }
$enter { @[args.id == 257 ? \"a, b\" : \"a\", args.id == 257 ? \"c\" : \"b, c\"] = count(); } end { print(@); show(two, @); }" text json csv
	tables
}

# Tables of show(), and rows of emit().
tables() {
	same "config = { print_maps_on_exit = false }
table busy sorted by calls rows 5 { comm \"COMM\" 16; id \"CALL\" 12 syscall; calls \"CALLS\" 8 right; part \"SHARE\" 8 share same; ret \"RET\"; }
table large sorted by -comm { comm \"COMM\"; low \"LOW\"; high \"HIGH\"; n \"N\"; mean \"MEAN\"; all \"ALL\"; }
$exit { @n[comm, args.id] = count(); @r[comm, args.id] = sum(args.ret); @lo[comm] = min(args.ret); @hi[comm] = max(args.ret);
@st[comm] = stats(args.ret); } end { show(busy, @n, @r); show(large, @lo, @hi, @st); }" text json csv
	same "config = { print_maps_on_exit = false } table h { comm \"COMM\"; p percentiles \"p50,p99\"; usecs hist; }
$exit { @h[comm] = hist(args.ret); } end { show(h, @h); }" text json csv
	same "config = { print_maps_on_exit = false } table i { id \"CALL\" syscall; n \"N\" right; }
$enter { @n[args.id] = count(); } interval:us:500 { show(i, @n); clear(@n); } end { show(i, @n); }" text json csv
	same "config = { print_maps_on_exit = false } table t top sorted by n rows 2 { comm \"COMM\" 10; n \"N\" right; }
$enter { @n[comm] = count(); } interval:ms:5 { show(t, @n); clear(@n); } end { show(t, @n); }" text json csv
	same "config = { print_maps_on_exit = false } table s { ustack below; comm \"COMM\"; samples \"SAMPLES\" right; }
profile:hz:99 { @[ustack, comm] = count(); } end { show(s, @); }" text json csv folded pprof speedscope
	same "table e { time \"TIME\" 14 clock; comm \"COMM\" 16; id \"CALL\" 10 syscall; ret \"RET\" right; }
$exit { emit(e, time = nsecs, comm = comm, id = args.id, ret = args.ret); }" text json csv
	tool syscount text json csv
	tool "syscount -P -T 4" text json csv
	tool profile text json folded flame
	tool "profile -P -U" text json csv
	tool "syscount -i 1" text json
	tool "funccount t:raw_syscalls:*" text json csv
	tool cpuwalk text json
	tool "argdist -C t:raw_syscalls:sys_enter():int:args.id" text json csv
	tool "argdist -H t:raw_syscalls:sys_enter():int:args.id" text json csv
	tool "trace t:raw_syscalls:sys_enter" text json csv
	tool "tpoint raw_syscalls:sys_enter" text json
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
	# keys that are shown as one text, but differ in their parts, on two machines
	for h in web1 web2; do
		"$sonde" query -q $h.sonde -f answer -o parts.$h -e 't:raw_syscalls:sys_enter { @[comm == "cat" ? "a, b" : "a", comm == "cat" ? "c" : "b, c"] = count(); }'
	done
	m parts.web1 parts.web2
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
	"$sonde" query --cpu 1-,x web1.sonde -e 'begin { exit(); }' 2>&1
	"$sonde" query -q --cpu 0,2-3 web1.sonde -e '*:* { @[cpu] = count(); }' 2>&1
}

# Rows have a column more, tables are made of merged maps.
rows() {
	script='config = { print_maps_on_exit = false; }
table opens { time "TIME" 9 clock; comm "COMM" 16; id "CALL" 8 syscall; }
table calls ruled total sorted by calls rows 3 { comm "COMM" 16; id "CALL" 8 syscall; calls "CALLS" 8 right; part "SHARE" 8 share same; }
table last { comm "COMM" 16; calls "CALLS" 8 right; id "LAST" 8 right; }
table all { n "ALL" right; }
table waits { fleet_usecs hist; }
t:raw_syscalls:sys_enter { @[comm, args.id] = count(); @c[comm] = count(); @last[comm] = args.id; @n++;
if (nsecs % 700000000 == 0) { emit(opens, time = nsecs, comm = comm, id = args.id); } }
t:raw_syscalls:sys_exit { @h = hist(args.ret); }
end { show(calls, @); show(last, @c, @last); show(all, @n); show(waits, @h); }'
	for h in web1 web2 db; do
		"$sonde" query -q $h.sonde -f answer -o $h.rows -e "$script" > /dev/null 2>&1
	done
	m web1.rows
	m web1.rows web2.rows db.rows
	m -f json web1.rows web2.rows
	m -f csv web1.rows web2.rows
	m --by host web1.rows web2.rows
	m --by host db.rows
	m web1.rows web2.rows -f answer -o both.rows
	m both.rows db.rows
	m -f json --by host both.rows
	m -f folded web1.rows web2.rows
	# screens, and a value that only its machine can put into words
	for h in web1 web2; do
		"$sonde" query -q $h.sonde -f answer -o $h.top -e 'config = { print_maps_on_exit = false; }
table t top sorted by n rows 1 { comm "COMM" 10; n "N" right; }
table u sorted by n { uid "USER" 8 user; n "N" right; last "LAST" 10 clock; }
t:raw_syscalls:sys_enter { @n[comm] = count(); @u[uid] = count(); @l[uid] = max(nsecs); }
interval:ms:400 { show(t, @n); clear(@n); } end { show(t, @n); show(u, @u, @l); }' 2> /dev/null
	done
	m web1.top web2.top
	# a column of the same name
	for h in web1 web2; do
		"$sonde" query -q $h.sonde -f answer -o $h.named -e 'table t { host "HOST"; n "N"; } t:raw_syscalls:sys_enter /args.id == 257 && nsecs % 700000000 == 0/ {
emit(t, host = comm, n = args.id); }'
	done
	m web1.named web2.named
	m -f json web1.named web2.named
	# another table of the same name, as a hostile host has it
	"$sonde" query -q web1.sonde -f answer:codec=none -o other.rows -e "$script" > /dev/null 2>&1
	python3 - << 'END'
import struct, zlib
data = bytearray(open("other.rows", "rb").read().replace(b"\5\0\0\0CALLS", b"\5\0\0\0KALLS").replace(b"\4\0\0\0TIME", b"\4\0\0\0KIME"))
at = 64
while at < len(data):
    size = struct.unpack_from("<I", data, at + 8)[0]
    data[at + 48:at + 52] = struct.pack("<I", zlib.crc32(data[at + 56:at + 56 + size]))
    data[at + 52:at + 56] = struct.pack("<I", zlib.crc32(data[at:at + 52]))
    at += 56 + size
    at += -at % 8
open("other.rows", "wb").write(data)
END
	m web2.rows other.rows
	m -f json web2.rows other.rows
}

# Rows by a label of their hosts: two in zone a, one in zone b, one without.
labels() {
	"$build/mkrec" -n db2 db2.sonde || exit 1
	script='config = { print_maps_on_exit = false; }
table opens { time "TIME" 9 clock; comm "COMM" 16; zone "ZONE" 6; }
table calls ruled total sorted by calls rows 3 { comm "COMM" 16; id "CALL" 8 syscall; calls "CALLS" 8 right; part "SHARE" 8 share same; }
table last sorted by calls { comm "COMM" 16; calls "CALLS" 8 right; id "LAST" 8 right; }
t:raw_syscalls:sys_enter { @[comm, args.id] = count(); @c[comm] = count(); @n++; @all = stats(args.id); @last[comm] = args.id; @one = pid;
if (nsecs % 700000000 == 0) { emit(opens, time = nsecs, comm = comm, zone = args.id); } }
t:raw_syscalls:sys_exit { @h[comm] = hist(args.ret); } profile:hz:99 { @s[ustack] = count(); }
end { printf("over\n"); print(@c); print(@n); print(@all); print(@last); print(@one); print(@h); print(@s, 2); show(calls, @); show(last, @c, @last); }'
	zone() { "$sonde" query -q $1.sonde -f answer --label "$2" -o $1.zone -e "$script" > /dev/null 2>&1; }
	zone web1 role=web,zone=a
	zone web2 zone=a
	zone db zone=b
	zone db2 role=db
	m --by label:zone web1.zone web2.zone db.zone db2.zone
	m --by label:zone -f csv web1.zone web2.zone db.zone db2.zone
	m --by label:zone -f folded web1.zone db.zone db2.zone
	m --by label:zone web1.zone
	# the rows of all zones together are those without --by, of every value that is merged
	for f in '' '--by label:zone'; do
		# shellcheck disable=SC2086
		"$sonde" merge -q -f json $f web1.zone web2.zone db.zone db2.zone 2> /dev/null
	done > sums.json
	python3 - << 'END'
import collections, json
maps, half = [{}, {}], 0
for line in open("sums.json"):
    item = json.loads(line)
    if item["type"] in ("map", "stats", "hist", "value"):
        (name, data), = item["data"].items()
        half += name in maps[half]
        maps[half][name] = data
print(len(maps[0]), "maps", sorted(maps[0]) == sorted(maps[1]))
for name, whole in maps[0].items():
    split = maps[1][name]
    if name == "@c":
        sums = collections.Counter()
        for key, n in split.items():
            sums[key.split(",", 1)[1]] += n
        print(name, "the same:", dict(sums) == whole, sorted({k.split(",")[0] for k in split}))
    elif name == "@n":
        print(name, "the same:", sum(split.values()) == whole)
    elif name == "@all":
        print(name, "the same:", sum(v["total"] for v in split.values()) == whole["total"])
END
	# answers that were merged before, whatever their first key is, say what all say together
	plain() { sed "/\"lost_total\"/d; s/  */ /g; s/---*/--/g"; } # of longer names of hosts
	all='web1.zone web2.zone db.zone db2.zone'
	for form in text json csv folded; do
		# shellcheck disable=SC2086
		"$sonde" merge --by label:zone -f $form $all 2> /dev/null | plain > direct
		for by in 'label:zone' host; do
			"$sonde" merge -q --by $by -f answer -o first.zone web1.zone web2.zone 2> /dev/null
			"$sonde" merge -q --by $by -f answer -o second.zone db.zone db2.zone 2> /dev/null
			"$sonde" merge --by label:zone -f $form first.zone second.zone 2> /dev/null | plain > indirect
			cmp direct indirect && continue
			echo "not ok - -f $form, of answers by $by"
			diff direct indirect | head
			bad=$((bad + 1))
		done
	done
	"$sonde" merge -q --by label:zone -f answer -o first.zone web1.zone db.zone
	m first.zone db.zone -q -f json
	m --by host first.zone db.zone
	m --by label:role first.zone
	m web2.zone first.zone
	m --by label: web1.zone
	m --by 'label:a b' web1.zone
	printf '$ query --label\n'
	"$sonde" query -q web1.sonde --label zone=a -e "$script" 2>&1
	"$sonde" query -q web1.sonde --label zone -f answer -o x -e "$script" 2>&1
	"$sonde" query -q web1.sonde --label 'zone=a,b c=d' -f answer -o x -e "$script" 2>&1
}

# Rows that were printed just before are written once.
again() {
	"$sonde" query -q wide.sonde -f answer:codec=none -o again.answer profile
	"$sonde" query -q wide.sonde -f answer:codec=none -o differ.answer -e "config = { print_maps_on_exit = false }
$enter { @[pid, comm, args.id] = count(); @s = 1; } end { print(@); print(@s); print(@); @[0, comm, 0] = count(); print(@); print(@); }"
	python3 - "$here/../../docs" again.answer differ.answer << 'END'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import read_recording
for name in sys.argv[2:]:
    items = []
    with open(name, "rb") as file:
        for kind, n, b in read_recording.blocks(file.read()):
            items += [read_recording.Bytes(b.text()).get("H") & 0x7fff for _ in range(n if kind == 17 else 0)]
    print("%s: %d maps, %d rows, %d times those of the map before" % (name, *map(items.count, (96, 97, 111))))
END
	for f in again differ; do
		"$sonde" report $f.answer | sed -n '/ROWS/,/@/p'
	done
	same "config = { print_maps_on_exit = false }
$enter { @[pid, comm, args.id] = count(); } end { print(@); print(@); clear(@); print(@); }" text json
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
{ hosts; rows; labels; again; damaged; } > got.txt
if [ "$update" ]; then
	cp got.txt "$here/merge.txt"
elif ! diff -u "$here/merge.txt" got.txt; then
	bad=$((bad + 1))
fi
[ $bad = 0 ] && echo "merged answers: ok"
exit $bad
