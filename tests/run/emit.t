NAME a row as text
PROG
	table t { comm "COMM" 6; duration_ns "LAT(ms)" 8 ms; size "KB" 5 KB; share "HIT" 8 percent; mode 5 oct; at hex; path; }
	BEGIN { emit(t, comm = "abc", duration_ns = 1234567, size = 4096, share = 9730, mode = 0644, at = 255, path = "/tmp/x"); emit(t, duration_ns = 1234, path = "a\x1b[2Jb\nc\t\xff\xc2\x9bé"); }
EXPECT
	COMM    LAT(ms)    KB      HIT MODE  AT PATH
	abc        1.23     4   97.30% 0644  0xff /tmp/x
	-         0.001     -        - -     - a\x1b[2Jb\nc\t\xff\xc2\x9bé

NAME the same as JSON
ARGS -f json -q
PROG
	table t { comm "COMM" 6; duration_ns "LAT(ms)" 8 ms; size "KB" 5 KB; hit_ratio percent; mode 5 oct; path; }
	BEGIN { emit(t, comm = "abc", duration_ns = 1234567, size = 4096, hit_ratio = 9730, mode = 0644, path = "/tmp/x"); emit(t, path = "a\nb"); }
EXPECT
	{"type": "event", "table": "t", "comm": "abc", "duration_ns": 1234567, "size": 4096, "hit_ratio": 0.9730, "mode": 420, "path": "/tmp/x"}
	{"type": "event", "table": "t", "path": "a\nb"}

NAME the same as CSV
ARGS -f csv -q
PROG table t { comm "COMM" 6; duration_ns "LAT(ms)" 8 ms; path; } BEGIN { emit(t, comm = "a,\"b", duration_ns = 1234567, path = "/tmp/x"); emit(t, path = "a\nb"); printf("no row\n"); }
EXPECT
	comm,duration_ns,path
	"a,""b",1234567,/tmp/x
	,,a\nb

NAME columns for text alone, and what all rows have
RUN
	for f in text json csv
	do "$SONDE" -q -f $f -e 'options { x = "a, b"; } table sums bare { line text; n_bytes data; }
		table title bare { line text is "of all"; } table r sorted by n { label data is opt.x; k "K" 3; n "N" 3; }
		begin { @n[5] = count(); emit(title); show(r, @n); clear(@n); }
		end { show(sums); emit(sums, line = "7 bytes", n_bytes = 7); }'
	done
EXPECT
	of all
	K   N
	5   1
	7 bytes
	{"type": "row", "table": "r", "label": "a, b", "k": 5, "n": 1}
	{"type": "row", "table": "sums", "n_bytes": 7}
	label,k,n
	"a, b",5,1
	n_bytes
	7

NAME members of a record, a line for each
PROG
	struct in { int a; int b; }; struct s { struct in in; u64 *p; char text[4]; }; table t { n "N" 3; name "NAME"; args members; }
	BEGIN { $s = (struct s *)0; $l = curtask.se.load; emit(t, n = 1, name = "f", args = (a = 1, b = (c = 2, d = (e = "x\n")), p = ($s, *$s), q = ($s, *$s, (a = $s->in.a)), r = ((int64 *)5, *(int64 *)5), s = *$s, u = (7, (w = 8)), v = (curtask, $l))); emit(t, n = 22, name = "g"); }
NEEDS btf
EXPECT_RE
	N   NAME
	1   f\(
	        a = 1,
	        b->c = 2,
	        b->d->e = x\\n,
	        p = \*\(0x0\),
	        q = \*\(0x0\),
	        q->a = \(int\)0,
	        r = \*\(0x5\),
	        s = \(struct s\)\{\},
	        u = 7,
	        u->w = 8,
	        v = \*\(0xf[0-9a-f]+\)
	         \(struct load_weight\)\{
	          .weight = 1048576,
	          .inv_weight = 4194304
	         \}
	    \);
	22  g\(\);

NAME the same as JSON and CSV
RUN
	for f in json csv
	do "$SONDE" -q -f $f -e 'struct s { int a; int b; }; table t { name; args members; }
		begin { $s = (struct s *)0; emit(t, name = "f", args = (a = 1, b = (c = 2), s = ($s, *$s))); emit(t, name = "g"); }'
	done
EXPECT
	{"type": "event", "table": "t", "name": "f", "args": {"a": 1, "b": {"c": 2}, "s": [0,{"a": 0, "b": 0}]}}
	{"type": "event", "table": "t", "name": "g"}
	name,args
	f,"{ .a = 1, .b = { .c = 2 }, .s = (0x0, { .a = 0, .b = 0 }) }"
	g,

NAME rows of several tables
PROG table t { a 3; b; } table u { c; } BEGIN { emit(u, c = 1); emit(t, a = 1, b = (1, 2)); emit(t, b = "x"); }
EXPECT
	A   B
	C
	1
	A   B
	1   (1, 2)
	-   x

NAME columns that options leave out are not computed
PROG options { all = false; } table t { a; b if opt.all; } BEGIN { @n = 1; emit(t, b = @n++, a = 5); print(@n); clear(@n); }
EXPECT
	A
	5
	@n: 1

NAME columns that options bring in
PARAMS -- --all
PROG options { all = false; } table t { a 2; b if opt.all; } BEGIN { emit(t, b = 7, a = 5); }
EXPECT
	A  B
	5  7

NAME times
RUN
	"$SONDE" -q -e 'table t { time clock; time_ns elapsed; }
		interval:ms:20 { emit(t, time = nsecs, time_ns = nsecs); exit(); }' | sed -n 2p |
		grep -cE '^[0-2][0-9]:[0-5][0-9]:[0-5][0-9] 0\.[0-9]{6}$'
	"$SONDE" -q -f json -e 'table t { time clock; time_ns elapsed; }
		interval:ms:20 { emit(t, time = nsecs, time_ns = nsecs); exit(); }' |
		grep -cE '"time": "20[0-9-]{8}T[0-9:]{8}\.[0-9]{9}[+-][0-9][0-9]:[0-9][0-9]", "time_ns": [0-9]+}'
EXPECT
	1
	1

NAME words of a command line
RUN
	"$SONDE" -q -c '/bin/echo a "b c" ""' -e 'table t { argv argv; }
		tracepoint:sched:sched_process_exec /pid == cpid/ { $m = curtask.mm; emit(t, argv = buf(uptr($m.arg_start), $m.arg_end - $m.arg_start)); }' |
		sort
	"$SONDE" -q -f json -c '/bin/echo a "b c" ""' -e 'table t { argv argv; }
		tracepoint:sched:sched_process_exec /pid == cpid/ { $m = curtask.mm; emit(t, argv = buf(uptr($m.arg_start), $m.arg_end - $m.arg_start)); }' |
		grep -o 'argv.*'
NEEDS btf tp:sched/sched_process_exec
EXPECT
	/bin/echo a b c 
	ARGV
	a b c 
	argv": ["/bin/echo", "a", "b c", ""]}

NAME texts and bytes below their rows, as lines: carriage returns, an empty line at the end, what is no text
RUN
	p='table t { n; s "TEXT" below; b "BYTES" below; } begin {
		emit(t, n = 1, s = "one\r\ntwo\n\n");
		emit(t, n = 2, s = "a\tb\n\nc", b = buf("x\n\x01y", 4));
		emit(t, n = 3); emit(t, n = 4, s = "");
		exit();
	}'
	for f in text json csv; do "$SONDE" -q -f $f -e "$p" 2>&1; done
EXPECT
	N
	1
	    one
	    two
	$
	2
	    a\tb
	$
	    c
	$
	    x
	    \x01y
	$
	3
	4
	{"type": "event", "table": "t", "n": 1, "s": "one\r\ntwo\n\n"}
	{"type": "event", "table": "t", "n": 2, "s": "a\tb\n\nc", "b": [120,10,1,121]}
	{"type": "event", "table": "t", "n": 3}
	{"type": "event", "table": "t", "n": 4, "s": ""}
	n,s,b
	1,one\r\ntwo\n\n,
	2,a\tb\n\nc,x\x0a\x01y
	3,,
	4,,

NAME a stack below its row
RUN
	"$SONDE" -q -f json -e 'table t { pid; kstack below; }
		tracepoint:sched:sched_switch { emit(t, kstack = kstack(2), pid = 5); exit(); }' | head -n 1 |
		grep -cE '^\{"type": "event", "table": "t", "pid": 5, "kstack": \[\{"addr": "?[0-9]+"?'
EXPECT
	1

NAME a title instead of the number of probes
RUN "$SONDE" -e 'config = { title = "Tracing nothing" } BEGIN { exit(); }' 2>&1 | head -n 1
EXPECT
	Tracing nothing... Hit Ctrl-C to end.

NAME a title is not said when a command is run, as text; also with a duration
RUN
	for o in '-c /bin/true' '-c /bin/true -f json' '-c /bin/true -f csv'
	do "$SONDE" $o -e 'config = { title = "Tracing nothing" } BEGIN { }' 2>&1 | grep .
	done
	"$SONDE" strace -e none /bin/true 2>&1
	"$SONDE" execsnoop -d 60 --fields argv -- /bin/true 2>&1
NEEDS tp:raw_syscalls/sys_exit tp:sched/sched_process_exec btf
EXPECT
	{"type": "attached_probes", "count": 1, "data": {"probes": 1}}
	+++ exited with 0 +++
	ARGS
	/bin/true

NAME a probe that an option leaves out is not attached
RUN
	"$SONDE" -v -e 'options { x = false; } BEGIN { } interval:s:1 /opt.x && pid/ { }' 2>&1 | grep Attached
	"$SONDE" -e 'options { x = false; } BEGIN { exit(); } interval:s:1 /opt.x && pid/ { }' -- --x 2>&1 | grep Attached
EXPECT
	Attached 1 probe
	Attached 2 probes

NAME show: several maps as one table, sorted
PROG
	config = { print_maps_on_exit = false }
	table t sorted by bytes { pid "PID" 4; comm "COMM" 5; calls "CALLS" 5 right; avg_ns "AVG(us)" 8 us; total_ns "SUM" 4 us; bytes "KB" 4 KB; }
	BEGIN { $i = 0; while ($i < 3) { @a[$i, "x"] = stats($i * 1000); @b[$i, "x"] = sum($i * 4096); $i++; } @a[7, "y"] = stats(5); show(t, @a, @b); clear(@a); clear(@b); show(t, @a, @b); }
EXPECT
	PID  COMM  CALLS  AVG(us)  SUM   KB
	2    x         1        2    2    8
	1    x         1        1    1    4
	0    x         1        0    0    0
	7    y         1        0    0    -

NAME show: lines around the rows and their sums, as text alone
RUN
	echo 'config = { print_maps_on_exit = false } table t ruled total sorted by total_ns { k "K" 5 key; name 4 key; n 3 right; avg_ns "us" 5 us; total_ns "seconds" 9 seconds; part "%" 6 share bare same; bad "BAD" 3 right blank; least 5 right; most 4 right; mean 4 right; }
	BEGIN { for $i : 1..5 { @s[$i / 2, "x"] = stats($i * 1000000); @least[$i / 2, "x"] = min($i); @most[$i / 2, "x"] = max($i); @mean[$i / 2, "x"] = avg($i); } @bad[(int64)1, "x"] = sum(2); @bad[(int64)2, "x"] = sum(0); show(t, @s, @bad, @least, @most, @mean); clear(@s); show(t, @s); }' >"$TMPDIR/p.bt"
	"$SONDE" --fmt "$TMPDIR/p.bt" >"$TMPDIR/f.bt"; grep -oE 'ruled.*_ns|share.*' "$TMPDIR/f.bt"
	for f in text json csv; do "$SONDE" -q -f $f "$TMPDIR/f.bt"; done
EXPECT
	ruled total sorted by total_ns
	share bare same;
	K     NAME   N    us   seconds      % BAD LEAST MOST MEAN
	----- ---- --- ----- --------- ------ --- ----- ---- ----
	1     x      2  2500  0.005000  50.00   2     2    3    2
	2     x      1  4000  0.004000  40.00         4    4    4
	0     x      1  1000  0.001000  10.00         1    1    1
	----- ---- --- ----- --------- ------ --- ----- ---- ----
	total        4  2500  0.010000 100.00   2     1    4     
	{"type": "row", "table": "t", "k": 1, "name": "x", "n": 2, "avg_ns": 2500000, "total_ns": 5000000, "part": 0.5000, "bad": 2, "least": 2, "most": 3, "mean": 2}
	{"type": "row", "table": "t", "k": 2, "name": "x", "n": 1, "avg_ns": 4000000, "total_ns": 4000000, "part": 0.4000, "bad": 0, "least": 4, "most": 4, "mean": 4}
	{"type": "row", "table": "t", "k": 0, "name": "x", "n": 1, "avg_ns": 1000000, "total_ns": 1000000, "part": 0.1000, "least": 1, "most": 1, "mean": 1}
	k,name,n,avg_ns,total_ns,part,bad,least,most,mean
	1,x,2,2500000,5000000,0.5000,2,2,3,2
	2,x,1,4000000,4000000,0.4000,0,4,4,4
	0,x,1,1000000,1000000,0.1000,,1,1,1

NAME show: smallest first, and by a text
PROG config = { print_maps_on_exit = false } table t sorted by -a { k 2; a; } table u sorted by -k { k 2; a; } BEGIN { @["x"] = 3; @["y"] = -2; @["w"] = 7; show(t, @); show(u, @); }
EXPECT
	K  A
	y  -2
	x  3
	w  7
	K  A
	w  7
	x  3
	y  -2

NAME show: percentiles, a column each
RUN
	echo 'config = { print_maps_on_exit = false } options { list = "p50, 99.9"; } table t sorted by n { op key; us 4 percentiles opt.list; n "N"; l "L" percentiles "p0" if opt.list != ""; }
	BEGIN { for $i : 1..11 { @h["r"] = hist($i, 5); @n["r"] = count(); @l["r"] = lhist($i, 5, 8, 1); } @h["w"] = hist(7, 5); @n["w"] = count(); show(t, @h, @n, @l); }' >"$TMPDIR/p.bt"
	"$SONDE" --fmt "$TMPDIR/p.bt" >"$TMPDIR/f.bt"; grep 'percentiles' "$TMPDIR/f.bt"
	for f in text json csv; do "$SONDE" -q -f $f "$TMPDIR/f.bt"; done; "$SONDE" -q -f csv "$TMPDIR/p.bt" -- --list=100; "$SONDE" -q "$TMPDIR/p.bt" -- --list=p101 2>&1 | sed 's/.*ERROR/ERROR/; 1q'
EXPECT
	  us 4 percentiles opt.list;
	  l "L" percentiles "p0" if opt.list != "";
	OP  p50 p99.9 N p0
	r    5   10 10 4
	w    7    7 1 -
	{"type": "row", "table": "t", "op": "r", "us_p50": 5, "us_p99_9": 10, "n": 10, "l_p0": 4}
	{"type": "row", "table": "t", "op": "w", "us_p50": 7, "us_p99_9": 7, "n": 1}
	op,us_p50,us_p99_9,n,l_p0
	r,5,10,10,4
	w,7,7,1,
	op,us_p100,n,l_p0
	r,10,10,4
	w,7,1,
	ERROR: percentiles are a text such as "p50, p99.9", or an option
NAME show: histograms as text, JSON and CSV
RUN for f in text json csv; do "$SONDE" -q -f $f -e 'config = { print_maps_on_exit = false } table h { op; usecs "usecs" hist; } BEGIN { @["r"] = hist(3); @["w"] = hist(1); show(h, @); }'; done
EXPECT
	OP = r, usecs:
	[2, 4)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	OP = w, usecs:
	[1]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	{"type": "hist", "table": "h", "op": "r", "usecs": [{"min": 2, "max": 3, "count": 1}]}
	{"type": "hist", "table": "h", "op": "w", "usecs": [{"min": 1, "max": 1, "count": 1}]}
	op,usecs_min,usecs_max,usecs_count
	r,2,3,1
	w,1,1,1

NAME show: numbers with names among the keys
RUN "$SONDE" -q -e 'table t { p "PROT" 5 protocol key; e "ERR" 8 errno key right; n "N" 3 right; } begin { @[(uint64)6, (int64)-2] = 7; show(t, @); clear(@); }'
EXPECT
	PROT       ERR   N
	TCP     ENOENT   7

NAME show: one to five maps, with and without key
PROG
	config = { print_maps_on_exit = false } table t { a; b; c; d; e; f; g; }
	BEGIN { @ = 5; @b = 6; show(t, @); show(t, @, @b); @k[1, (2, 3)] = count(); @l[1, (2, 3)] = sum(9); show(t, @k, @l, @l); show(t, @k, @l, @l, @k); show(t, @k, @l, @l, @k, @l); }
EXPECT
	A B C D E F G
	5 - - - - - -
	5 6 - - - - -
	1 (2, 3) 1 9 9 - -
	1 (2, 3) 1 9 9 1 -
	1 (2, 3) 1 9 9 1 9

NAME names of errors, columns for programs only
RUN for f in text json csv; do "$SONDE" -q -f $f -e 'table t { ret 4; error data errno; name errno; } BEGIN { emit(t, ret = -2, error = -2, name = 13); emit(t, ret = 0, error = 0, name = 0); }'; done
EXPECT
	RET  NAME
	-2   EACCES
	0    -
	{"type": "event", "table": "t", "ret": -2, "error": "ENOENT", "name": "EACCES"}
	{"type": "event", "table": "t", "ret": 0}
	ret,error,name
	-2,ENOENT,EACCES
	0,,

NAME what exists in this kernel
PROG BEGIN { print((exists("struct task_struct.mm.arg_start"), exists("struct task_struct.nope"), exists("struct nope"), exists("tracepoint:sched:sched_switch"), exists("tracepoint:sched:nope"), exists("kprobe:no_such_function"), exists("enum bpf_map_type.BPF_MAP_TYPE_HASH"), exists("enum bpf_map_type.NOPE"), exists("nope:nope"))); if (exists("struct task_struct.nope")) { print(curtask.nope); } }
NEEDS btf tp:sched/sched_switch
EXPECT
	(true, false, false, true, false, false, true, false, false)
	$
	$

NAME the first of several ways that exists
RUN
	"$SONDE" -v -e 'tracepoint:sched:nope else tracepoint:sched:sched_switch else kprobe:schedule, interval:s:9 { }
		tracepoint:sched:nope { print(1); } else interval:ms:1 { print(2); exit(); } else interval:ms:2 { print(3); }
		tracepoint:sched:nope2 /exists("tracepoint:sched:nope2")/ { }' 2>&1 | sed -n '/^2$/p; /Attached/p'
NEEDS tp:sched/sched_switch
EXPECT
	Attached 3 probes
	2

NAME none of several ways exists
RUN "$SONDE" -e 'tracepoint:sched:nope else kprobe:no_such_function { }'; echo $?
EXPECT
	2
ERR
	stdin:1:1-55: ERROR: this kernel has none of tracepoint:sched:nope, kprobe:no_such_function
	tracepoint:sched:nope else kprobe:no_such_function { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME options of kind list
ARGS -q
PARAMS -- --port=1,5
PROG options { port : list = ""; other : list = ""; } BEGIN { for $i : 4..6 { printf("%d %d\n", listed($i, opt.port), listed($i, opt.other)); } }
EXPECT
	0 1
	1 1
	$
	$

NAME the others of several that do not exist are counted
RUN "$SONDE" -e 'tracepoint:sched:nope else kprobe:no_such_function { } tracepoint:sched:nope else tracepoint:sched:none, tracepoint:a:b else tracepoint:c:d { }' 2>&1 | grep -v '[{~]'
EXPECT
	stdin:1:1-55: ERROR: this kernel has none of tracepoint:sched:nope, kprobe:no_such_function
	HINT: 2 more such events are missing

NAME a table that is a screen
RUN
	p='table t top sorted by n rows 2 { k "K" 4; n "N" 3 right; } BEGIN { @a[1] = count(); @a[2] = count(); @a[2] = count(); @a[3] = count(); @b[1] = count(); clear(@b); } END { show(t, @b); show(t, @a); clear(@a); }'
	"$SONDE" -q -e "$p" | sed 's/^[0-9:]* loadavg: [0-9. /]*/TIME LOAD/'
	for f in json csv; do "$SONDE" -q -f $f -e "$p"; done
EXPECT
	TIME LOAD
	K      N
	$
	TIME LOAD, 1 more row
	K      N
	2      2
	1      1
	{"type": "row", "table": "t", "k": 2, "n": 2}
	{"type": "row", "table": "t", "k": 1, "n": 1}
	k,n
	2,2
	1,1

NAME names of disks, interfaces and control groups as columns
RUN d=$(cat /sys/class/block/$(ls /sys/class/block | head -n 1)/dev); n=$(( ${d%:*} << 20 | ${d#*:} )); "$SONDE" -q -e "table t { a 8 disk; b interface; } BEGIN { emit(t, a = $n, b = 1); emit(t, a = 999 << 20 | 7, b = 65000); }" | sed "s/^$(ls /sys/class/block | head -n 1) */DISK /"; "$SONDE" -q -f csv -e 'table t { a cgroup; } BEGIN { emit(t, a = cgroup); emit(t, a = 12345678987); }' | sed 's,^/.*,PATH,'
NEEDS file:/sys/fs/cgroup/cgroup.procs
EXPECT
	A        B
	DISK lo
	999:7    65000
	a
	PATH
	12345678987

NAME json: rows that a loop emits belong to the report that show() began
RUN
	"$SONDE" -q -f json -e 'table e { n; m; } interval:ms:20 { @i += 1; @m[1] = 5; @m[2] = 6; show(e); for ($r : @m) { emit(e, n = @i, m = $r.0); } if (@i == 2) { exit(); } }
		end { show(e); emit(e, n = 9); }' | grep '"table"' | sort
NEEDS sym:bpf_for_each_map_elem
EXPECT
	{"type": "row", "table": "e", "interval": 1, "n": 1, "m": 1}
	{"type": "row", "table": "e", "interval": 1, "n": 1, "m": 2}
	{"type": "row", "table": "e", "interval": 2, "n": 2, "m": 1}
	{"type": "row", "table": "e", "interval": 2, "n": 2, "m": 2}
	{"type": "row", "table": "e", "interval": 3, "n": 9}

NAME a line of /proc/meminfo as a column
RUN
	s='table t { whole_bytes "MB" 8 meminfo; none 4 meminfo; } begin { emit(t, whole_bytes = "MemTotal", none = "Nothing"); exit(); }'
	kb=$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)
	"$SONDE" -q -e "$s" | sed "s/^ *$(awk "BEGIN { printf \"%.0f\", $kb / 1024 }") /TOTAL /"
	for f in json csv; do "$SONDE" -q -f $f -e "$s" | sed "s/$((kb * 1024))/TOTAL/"; done
EXPECT_RE
	 +MB NONE
	TOTAL +-
	\{"type": "event", "table": "t", "whole_bytes": TOTAL\}
	whole_bytes,none
	TOTAL,

NAME a script that is there is not the tool of its name
RUN cd "$TMPDIR"; printf '#!/usr/bin/env sonde\noptions { n = 1 "a number"; }\nBEGIN { print(opt.n); }\n' >opensnoop.bt; "$SONDE" -q opensnoop.bt -- --n=5
EXPECT
	5
	$
	$

NAME show: plain values behind aggregations add to their rows
PROG
	table t sorted by k { k "K" 2; n "N" 2; name "NAME" 5; }
	begin { @n[1] = sum(5); @n[2] = sum(6); @name[2] = "two"; @name[3] = "three"; show(t, @n, @name); show(t, @name, @n); clear(@n); clear(@name); }
ARGS -q
EXPECT
	K  N  NAME
	2  6  two
	1  5  -
	K  N  NAME
	3  three -
	2  two 6
	1  -  5

NAME show: six maps
PROG
	table t { k; a; b; c; d; e; f; }
	BEGIN { @a[1] = 1; @b[1] = 2; @c[1] = 3; @d[1] = 4; @e[1] = 5; @f[1] = 6; show(t, @a, @b, @c, @d, @e, @f); clear(@a); clear(@b); clear(@c); clear(@d); clear(@e); clear(@f); exit(); }
EXPECT
	K A B C D E F
	1 1 2 3 4 5 6

NAME json: which report it is, of reports that come again and again, the last one too; not of events and single reports
RUN
	t='table t sorted by -k { k; } table h { v hist; } table e { n; } table all sorted by -k { k; } table seen { n; }'
	"$SONDE" -q -f json -e "$t"' begin { @b[7] = count(); emit(seen, n = 5); } end { @a[2] = count(); show(t, @a); show(all, @b); }
		interval:ms:20 { @i += 1; if (@i != 2) { @a[1] = count(); } @h = hist(1); emit(e, n = @i); show(t, @a); show(h, @h); clear(@a); clear(@h); if (@i == 3) { exit(); } }' | grep '"table"'
EXPECT
	{"type": "event", "table": "seen", "n": 5}
	{"type": "row", "table": "e", "interval": 1, "n": 1}
	{"type": "row", "table": "t", "interval": 1, "k": 1}
	{"type": "hist", "table": "h", "interval": 1, "v": [{"min": 1, "max": 1, "count": 1}]}
	{"type": "row", "table": "e", "interval": 2, "n": 2}
	{"type": "hist", "table": "h", "interval": 2, "v": [{"min": 1, "max": 1, "count": 1}]}
	{"type": "row", "table": "e", "interval": 3, "n": 3}
	{"type": "row", "table": "t", "interval": 3, "k": 1}
	{"type": "hist", "table": "h", "interval": 3, "v": [{"min": 1, "max": 1, "count": 1}]}
	{"type": "row", "table": "t", "interval": 4, "k": 2}
	{"type": "row", "table": "all", "k": 7}

NAME reports that come again and again: the end says how short the last one is
RUN
	t='table t sorted by -k { k "K" 3; n; } table h { k "key"; v "v" hist; } table there standing sorted by -k { k "K" 3; } table top top sorted by -k { k "K" 3; } table e { n; } table all sorted by -k { k; }'
	for s in t,@n h,@h top,@n there,@n; do for i in 1h 20ms; do
		"$SONDE" -q -e "$t"' options { i = 1h; } begin { @n[7] = count(); @h[7] = hist(1); if (opt.i > 1s) { exit(); } } interval:opt.i { '"show(${s%,*}, ${s#*,})"'; if (opt.i < 1s) { exit(); } } end { '"show(${s%,*}, ${s#*,}); show(all, @n)"'; clear(@n); clear(@h); }' -- --i=$i
	done; done | sed -E 's/^.* loadavg: [^(]*/TOP /; s/last [0-9]+\.[0-9] s/last N s/; s/[|@ ]+$//'
	echo "$t"' options { sort, rows, nosummary; } begin { @n[7] = count(); @n[8] = count(); exit(); } interval:1h { show(top, @n); } end { show(top, @n); clear(@n); }' >"$TMPDIR/top.bt"
	for o in '' '--rows 1'; do "$SONDE" -q "$TMPDIR/top.bt" --nosummary $o | sed -E 's/ [0-9]+\.[0-9] s/ N s/'; done
	"$SONDE" -q -e "$t"' options { time : clock = false; } interval:1h { emit(e, n = 1); } end { emit(e, n = 2); emit(e, n = 3); } begin { exit(); }' -- --time=ms |
		sed -E 's/[0-9:.]{12}/TIME/; s/ [0-9]+\.[0-9] s/ N s/'
EXPECT
	(last N s)
	K   N
	7   1
	K
	7
	K   N
	7   1
	(last N s)
	K   N
	7   1
	K
	7
	(last N s)
	key = 7, v:
	[1]                    1
	$
	K
	7
	key = 7, v:
	[1]                    1
	$
	(last N s)
	key = 7, v:
	[1]                    1
	$
	K
	7
	TOP (last N s)
	K
	7
	K
	7
	TOP
	K
	7
	$
	TOP (last N s)
	K
	7
	K
	7
	K
	7
	K
	7
	K
	7
	K
	7
	K
	7
	(last N s)
	K
	7
	8
	1 more row (last N s)
	K
	7
	N
	TIME (last N s)
	2
	3

NAME sort: of several tables each by the first column of a list that it has, also by its other name
RUN
	echo 'config = { print_maps_on_exit = false } options { sort S; }
	table a sorted by total_ns { name "A" 2 key; n 3 also acq_count; avg_ns "AVG" 4; total_ns "TOTAL" also acq_total; }
	table b sorted by n { name "B" 2 key; n 3 also hld_count; avg_ns "AVG" 4; total_ns "TOTAL" 5 also hld_total; max_ns "MAX"; }
	begin {
		@a["x"] = stats(1); @a["x"] = stats(1); @a["y"] = stats(10); @max["x"] = max(5); @max["y"] = max(3);
		show(a, @a); show(b, @a, @max);
	}' >"$TMPDIR/s.bt"
	for s in acq_count,hld_total -acq_total,max b.total,-b.total,-avg foo acq_count,b.nosuch; do
		echo "$s:"; "$SONDE" -q "$TMPDIR/s.bt" -S "$s" 2>&1 | tr -s ' '
	done
EXPECT
	acq_count,hld_total:
	A N AVG TOTAL
	x 2 1 2
	y 1 10 10
	B N AVG TOTAL MAX
	y 1 10 10 3
	x 2 1 2 5
	-acq_total,max:
	A N AVG TOTAL
	x 2 1 2
	y 1 10 10
	B N AVG TOTAL MAX
	x 2 1 2 5
	y 1 10 10 3
	b.total,-b.total,-avg:
	A N AVG TOTAL
	x 2 1 2
	y 1 10 10
	B N AVG TOTAL MAX
	y 1 10 10 3
	x 2 1 2 5
	foo:
	ERROR: --sort: no column 'foo'; columns: name n avg_ns total_ns max_ns
	acq_count,b.nosuch:
	ERROR: --sort: no column 'b.nosuch'; columns: name n avg_ns total_ns max_ns

NAME rows of show() whose keys are texts of other lengths
PROG table t { a 8; b 8; c 3; d; } BEGIN { @x["a, b", "c"] = 1; @x["a", "b, c"] = 2; @y["a", "b, c"] = 5; @y["aaaaaa", "b"] = 7; show(t, @x, @y); clear(@x); clear(@y); }
EXPECT
	A        B        C   D
	a, b     c        1   -
	a        b, c     2   5
	aaaaaa   b        -   7

NAME --sort of a script whose tables say nothing of it; a hundred options
RUN
	cd "$TMPDIR" &&
		echo 'options { sort; rows; } table t { a; b; } begin { @x[1] = 3; @x[2] = 2; show(t, @x); clear(@x); }' > w.bt &&
		for s in b -b c
	do "$SONDE" w.bt --sort=$s --rows 1 2>&1
	done
	{ echo 'options {'
	seq 100 | sed 's:.*:o& = 1;:'
	echo '} begin { print((opt.o1, opt.o80, opt.o100)); exit(); }'
	} > m.bt && "$SONDE" m.bt --o80=5 --o100 6 | grep .
EXPECT
	A B
	1 3
	A B
	2 2
	ERROR: --sort: no column 'c'; columns: a b
	(1, 5, 6)

NAME an option without a default that no tool has
RUN cd "$TMPDIR" && echo 'options { pid; wibble; } begin { exit(); }' > w.bt && "$SONDE" w.bt -h 2>&1
EXPECT ERROR: w.bt: option wibble has no default, and is none that many tools have (pid, command ...)
RC 1

NAME the condition of a column by a macro
RUN
	echo 'options { x = false; } macro several() { !opt.x } macro no() { opt.x } table t { a if several(); b; c if no(); } begin { emit(t, a = 5, b = 1, c = 2); }' >"$TMPDIR/w.bt"
	for o in '' --x
	do "$SONDE" -q "$TMPDIR/w.bt" $o
	done
	"$SONDE" -e 'macro s(x) { true } table t { a if s(1); b if nosuch(); } begin { emit(t, b = 1); }' 2>&1 | grep ERROR
EXPECT
	A B
	5 1
	B C
	1 2
	stdin:1:36-40: ERROR: the condition of a column is decided by options alone
	stdin:1:47-55: ERROR: the condition of a column is decided by options alone
