# Tables add up: the rows of a tool's table contain all events of a load that makes a known number of them in five
# processes. Their functions and stacks are at different addresses, but are shown alike. covered.sh checks that each
# tool with a table is in a case here, in a case of vm-tools.t whose name begins with the same words, or below an
# `#except TOOL: why`.
#
#except biopattern: keyed by the disk
#except bpflist: no events, what there is
#except cpufreq: run/tool-cpu.t; one frequency at a time, of each CPU
#except cpuwalk: samples of each CPU, keyed by its number
#except fsdist: keyed by the operation
#except hardirqs: of the machine, keyed by the interrupt's name
#except cachetop: keyed by the process's number
#except cpudist: keyed by the process's number
#except klockstat: kernel stacks, whose addresses all processes share
#except kvmexit: needs a guest in a guest
#except llcstat: needs hardware counters
#except netqtop: keyed by the queue's number
#except readahead: one histogram without a key
#except runqlat: keyed by the process's number
#except runqlen: samples of each CPU, keyed by its number
#except slabratetop: of the machine, keyed by the cache's name
#except softirqs: of the machine, keyed by a number that has a name
#except ssllatency: needs a server of TLS
#except tcpcong: keyed by addresses, needs a network that loses packets
#except tcpretrans: keyed by addresses, needs a network that loses packets
#except tcpsynbl: keyed by the length of a queue
#except tcprtt: keyed by addresses
#except tcpsubnet: keyed by addresses
#except tcptop: keyed by the process's number and addresses
#except virtiostat: of the machine's devices, keyed by their names
#except wqlat: of the kernel's own work, keyed by its name

NAME rows add up: functions of five processes
RUN
	c=build/tests/calls; five="for i in 1 2 3 4 5; do $c 3; done"; deep='for i in 1 2 3 4 5; do /bin/sh -c : ; done'
	see() { printf '%s: ' "$1"; load=$2; shift 2; "$SONDE" "$@" -qj -- /bin/sh -c "$load" | grep -v totals | sum_of calls count; }
	see funccount "$five" funccount "$c:greet"
	see 'funccount, a pattern' "$five" funccount "$c:*e*"
	see funclatency "$five" funclatency "$c:greet"
	see 'funclatency -F' "$five" funclatency -F "$c:greet"
	see 'funcinterval, between two' "$five" funcinterval "$c:greet"
	see argdist "$five" argdist -i 60 -C "p:$c:greet()"
	see ltrace "$deep" ltrace -fc -e getppid
	see stackcount "$five" stackcount "$c:greet"
	see 'stackcount -P' "$five" stackcount -P "$c:greet"
NEEDS slow uprobe prog:calls
TIMEOUT 120
EXPECT
	funccount: 15
	funccount, a pattern: 75
	funclatency: 15
	funclatency -F: 15
	funcinterval, between two: 14
	argdist: 15
	ltrace: 6
	stackcount: 15
	stackcount -P: 15

NAME rows add up: stacks of five processes, in each format
RUN
	c=build/tests/calls; five="for i in 1 2 3 4 5; do $c 3; done"; f="$TMPDIR/f"
	see() { "$SONDE" stackcount -q "$@" "$c:greet" -- sh -c "$five"; }
	see | awk '/^ +[0-9]+$/ { n += $1; rows++ } END { print "text:", n, "in", rows }'
	see --rows 1 | awk '/^ +[0-9]+$/ { n += $1; rows++ } END { print "the first row:", n, "in", rows }'
	see --csv | awk -F, '{ n += $NF } END { print "CSV:", n }'
	see -f | awk '{ n += $NF } END { print "folded:", n, "in", NR }'
	see --flame "$f.svg"; grep -o '15 samples in 1 stacks' "$f.svg" | uniq
	all='uprobe:build/tests/calls:greet { @[ustack] = count(); @f[func] = count(); @n[func]++; @a[func] = avg(7); @last[func] = 7; }'
	for out in json prometheus pprof speedscope; do "$SONDE" -q -f $out --follow -e "$all end { print(@f, 1); print(@n, 1); clear(@last); }" -c "sh -c '$five'" >"$f.$out" 2>/dev/null; done
	sed 's/\\ngreet+.*n"/STACK/' "$f.json"; grep -v '^#' "$f.prometheus" | sed 's/"greet+.*"/STACK/'
	python3 - "$f.pprof" "$f.speedscope" <<'END'
	import gzip, json, sys
	sys.path.insert(0, "tests")
	def varint(b, at):
	    n = shift = 0
	    while True:
	        n |= (b[at] & 127) << shift; shift += 7; at += 1
	        if b[at - 1] < 128: return n, at
	def fields(b):
	    at = 0
	    while at < len(b):
	        key, at = varint(b, at)
	        n, at = varint(b, at)
	        if key & 7 == 2: yield key >> 3, b[at:at + n]; at += n
	total = 0
	for number, sample in fields(gzip.decompress(open(sys.argv[1], "rb").read())):
	    if number == 2: total += sum(varint(v, 0)[0] for k, v in fields(sample) if k == 2)
	print("pprof:", total)
	print("speedscope:", sum(sum(p["weights"]) for p in json.load(open(sys.argv[2]))["profiles"]))
	END
NEEDS slow uprobe prog:calls cmd:python3
TIMEOUT 120
EXPECT
	text: 15 in 1
	the first row: 15 in 1
	CSV: 15
	folded: 15 in 1
	15 samples in 1 stacks
	{"type": "map", "data": {"@f": {"greet": 15}}}
	{"type": "map", "data": {"@n": {"greet": 15}}}
	{"type": "map", "data": {"@": {"STACK: 15}}}
	{"type": "stats", "data": {"@a": {"greet": 7}}}
	{"type": "map", "data": {"@f": {"greet": 15}}}
	{"type": "map", "data": {"@n": {"greet": 15}}}
	sonde_f{key="greet"} 15
	sonde_n{key="greet"} 15
	sonde{key=STACK} 15
	sonde_a{key="greet"} 7
	pprof: 15
	speedscope: 15

NAME rows add up: memory that is left
RUN
	"$SONDE" memleak -qj -o 0 -T 1 1h -- sh -c 'for i in 1 2 3 4 5; do build/tests/leak; done' 2>/dev/null | sum_of bytes
NEEDS slow uprobe prog:leak sym:bpf_for_each_map_elem
TIMEOUT 60
EXPECT 204800

NAME rows add up: memory, probes of programs, locks
RUN
	five() { echo "for i in 1 2 3 4 5; do $*; done"; }
	r=build/tests/runtime
	see() { printf '%s: ' "$1"; load=$2; name=$3; shift 3; "$SONDE" "$@" -- sh -c "$(five $load)" 2>/dev/null | sum_of $name; }
	see 'argdist, calls of malloc(4096)' build/tests/leak count argdist -q -i 60 -C "p:libc:malloc(size_t n):size_t:n:n==4096" -j
	printf 'uobjnew: '; "$SONDE" cobjnew -qj libc -- sh -c "$(five build/tests/leak)" | grep '<= 4096' | sum_of allocs
	see ucalls $r calls ucalls -qj $r
	see ustat $r calls ustat -qjl $r 1h
	see dbstat $r count dbstat -qj $r
	see futexctn build/tests/mutex waits futexctn -qj --min 1us | at_least 5
	see 'futexctn -s' build/tests/mutex waits futexctn -qjs --min 1us | at_least 5
NEEDS uprobe prog:leak prog:runtime prog:mutex
TIMEOUT 120
EXPECT
	argdist, calls of malloc(4096): 50
	uobjnew: 50
	ucalls: 15
	ustat: 15
	dbstat: 10
	futexctn: all
	futexctn -s: all

NAME rows add up: system calls, sockets
RUN
	five() { echo "for i in 1 2 3 4 5; do $*; done"; }
	see() { printf '%s: ' "$1"; load=$2; shift 2; "$SONDE" "$@" -- sh -c "$(five $load)" | grep -E '"lseek"|"syscalls"|"value"|"binds"|"connects"' | sum_of calls count binds connects; }
	lseek='build/tests/syscalls 10 lseek'
	py() { printf 'python3 -IS -c "import socket; s = socket.socket(); s.%s((\"127.0.0.1\", %s))"' "$@"; }
	see syscount "$lseek" syscount -qj -x
	see 'syscount -L' "$lseek" syscount -qjL -x
	see 'syscount -P' "$lseek" syscount -qjP -e EBADF
	see 'strace -c' "$lseek" strace -qjfc -e lseek
	see perf-stat-hist "$lseek" perf-stat-hist -qj syscalls:sys_enter_lseek whence
	see bindsnoop "$(py bind 0)" bindsnoop -qj --count
	see tcpconnect "$(py connect_ex 9)" tcpconnect -qj --count
NEEDS slow prog:syscalls cmd:python3 tp:syscalls/sys_enter_lseek
TIMEOUT 120
EXPECT
	syscount: 50
	syscount -L: 50
	syscount -P: 50
	strace -c: 50
	perf-stat-hist: 50
	bindsnoop: 5
	tcpconnect: 5

NAME rows add up: samples and waits of five processes
RUN
	cp build/tests/spin "$TMPDIR/five"
	load() { echo "sh -c 'for i in 1 2 3 4 5; do \"$TMPDIR/five\" $* & done; wait'"; }
	see() { printf '%s: ' "$1"
	least=$2
	load=$3
	shift 3
	tool_sees "$load" "$@" >"$TMPDIR/o"
	cat "$TMPDIR/o" | grep five |
		case $* in *j*) sum_of samples total_ns ;; *) awk '{ n += $NF } END { print n + 0 }' ;; esac | at_least $least
	}
	see profile 200 "$(load 400)" profile -j -F 199
	see 'profile -f' 200 "$(load 400)" profile -f -F 199
	see offcputime 1000000000 "$(load 1 200)" offcputime -j -n five
	see 'offcputime -f' 1000000000 "$(load 1 200)" offcputime -f -n five
	see 'offcputime -U' 1000000000 "$(load 1 200)" offcputime -Uj -n five
	see wakeuptime 1000000000 "$(load 1 200)" wakeuptime -j
NEEDS slow btf prog:spin
TIMEOUT 120
EXPECT
	profile: all
	profile -f: all
	offcputime: all
	offcputime -f: all
	offcputime -U: all
	wakeuptime: all

NAME rows add up: requests of a disk, made by five processes
RUN
	write='for i in 1 2 3 4 5; do dd if=/dev/zero of=$disk bs=8k count=4 oflag=direct 2>/dev/null; done'
	see() { tool=$1; name=$2; shift 2; tool_sees "$write" $tool "$@" >"$TMPDIR/o"; printf '%s: ' $tool; grep -E "${only:-.}" "$TMPDIR/o" | sum_of $name; }
	with_loop '
		n=${disk#/dev/}
		see biolatency count -j -d $n 1h
		see biostacks count -j -d $n 1h
		only="\"$n\""
		see biotop requests -j 1h
		see biolatpcts requests -j -i 1h $disk
		only="\"dd\""
		see bitesize count -j 1h'
NEEDS slow file:/dev/loop-control cmd:losetup btf
TIMEOUT 120
EXPECT
	biolatency: 20
	biostacks: 20
	biotop: 20
	biolatpcts: 20
	bitesize: 20
