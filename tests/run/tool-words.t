# Tools whose probes are what is typed. build/tests/calls N calls functions with known names N times.

NAME strf: a text as a value
PROG
	table t { a; message "-"; }
	BEGIN { $s = "abc"; emit(t, a = 1, message = strf("x=%d %s|%-5s|", 5, $s, "y")); @[strf("%d-%s", 1, "a")] = count(); @[strf("%d-%s", 70000, "b")] = count(); print(strf("hello %x", 255)); print(strf("nothing")); }
EXPECT
	A -
	1 x=5 abc|y    |
	hello ff
	nothing
	@[1-a]: 1
	@[70000-b]: 1

NAME strf: formats that differ are types that differ
PROG BEGIN { $a = strf("%d", 1); $a = strf("%x", 1); }
RC 1
ERR_RE
	.*Type mismatch.*
	...

NAME trace: a part of the message, addresses in stacks
RUN
	c=build/tests/calls
	"$SONDE" trace -q -f =2 -M 2 --fields function,message "$c:add6 \"n=2\"" "$c:target \"n=%d\", arg1" "$c:greet \"n=%d\", 1" -- $c 3
	for a in '' -a
	do "$SONDE" trace -q -U $a -M 1 --fields function,ustack "$c:target" -- $c 1 |
		sed -n 's/^[0-9a-f]* target+0.*/no blank/; s/^\t\([0-9a-f]*\) target+0 .*/address \1/; s/^ *target+0.*/function/; s/address [0-9a-f]*$/address/; /address\|function\|no blank/p'
	done
	"$SONDE" trace -h | grep -e --count
NEEDS uprobe prog:calls
EXPECT
	FUNC             -
	add6             n=2
	add6             n=2
	function
	address
	    -M, --count N           stop after N events

NAME funccount: functions, a regular expression, events
RUN
	c=build/tests/calls
	"$SONDE" funccount -q "$c:*a*" -- $c 7 | grep -E 'FUNC|target|add6'
	"$SONDE" funccount -qrj "$c:^(greet|bytes)$" -- $c 7
	"$SONDE" funccount -q --csv t:raw_syscalls:sys_exit -- true | sed 's/[0-9][0-9]*$/N/'
NEEDS uprobe prog:calls tp:raw_syscalls/sys_exit
EXPECT
	FUNC                                    COUNT
	add6                                        7
	target                                      7
	{"type": "row", "table": "calls", "function": "bytes", "calls": 7}
	{"type": "row", "table": "calls", "function": "greet", "calls": 7}
	function,calls
	tracepoint:raw_syscalls:sys_exit,N

NAME funclatency, funcslower: every call
RUN
	c=build/tests/calls
	"$SONDE" funclatency -qF "$c:greet" -- $c 50 | grep -oE '^Function = greet, nsecs:|count: 50'
	"$SONDE" funclatency -qu "$c:greet" -- $c 5 | grep -o '^usecs:'
	"$SONDE" funclatency -qmj "$c:greet" -- $c 50 | grep -o '"table": "latency_ms"' | sort -u
	"$SONDE" funcslower -q -u 0 -m 0 -a 1 --fields comm,ret,function,args "$c:add6" "$c:negative" -- $c 1
NEEDS uprobe prog:calls
EXPECT
	Function = greet, nsecs:
	count: 50
	usecs:
	"table": "latency_ms"
	COMM                       RVAL FUNC ARGS
	calls                      0x15 add6 1
	calls          0xfffffffffffffffa negative 18446744073709551611

NAME stackcount: stacks, folded
RUN c=build/tests/calls; "$SONDE" stackcount -q "$c:greet" -- $c 9 | sed -n '1p; s/^ *9$/9/p'; "$SONDE" stackcount -qPf "$c:greet" -- $c 9 | sed 's/;[0-9]*;.*;/;/'
NEEDS slow uprobe prog:calls
EXPECT_RE
	   COUNT
	9
	calls;greet 9

NAME trace: arguments, results, predicates, fields
RUN
	c=build/tests/calls
	"$SONDE" trace -q --fields function,message "$c:target \"%d %s\", arg1, arg2" "$c:add6(long a, long b) (b == 2) \"%ld %ld\", a, b" "r:$c:greet \"%s\", retval" "r:$c:negative ((int)retval < 0) \"%d %u\", retval, retval" "$c:bytes (STRCMP(\"no\", arg1))" -- $c 2
	"$SONDE" trace -q --fields function,message 'sys_write (arg3 == 6) "%d %s", arg1, arg2' 't:syscalls:sys_exit_write "%d", args->ret' -- echo hello |
		grep -v '^hello'
	"$SONDE" trace -qA "$c:target \"%s\", arg2" -- $c 5
	"$SONDE" trace -qj -M 1 --fields message "$c:target \"%s\", arg2" -- $c 1
NEEDS uprobe prog:calls tp:syscalls/sys_enter_write
EXPECT
	FUNC             -
	target           0 hello
	add6             1 2
	greet            hello world
	negative         -6 4294967290
	target           1 hello
	add6             1 2
	greet            hello world
	negative         -6 4294967290
	FUNC             -
	sys_write        1 hello\n
	sys_exit_write   6
	FUNC             -                                           COUNT
	target           hello                                           5
	{"type": "event", "table": "calls", "message": "hello"}

NAME trace, argdist: a field that is a text elsewhere in the event
RUN
	"$SONDE" trace -q 't:sched:sched_process_exec "%s", args->filename' -- /bin/true | awk '{ print $NF }'
	"$SONDE" argdist -q -C 't:sched:sched_process_exec():char*:args->filename' -n 1 -i 1h -- /bin/true | tail -n 1
NEEDS tp:sched/sched_process_exec
EXPECT_RE
	-
	/bin/true
	/bin/true +1

NAME argdist: values, a histogram, what was known at the entry
RUN
	c=build/tests/calls
	"$SONDE" argdist -q -i 60 -C "p:$c:target(int n):int:n:n<3" -H "r:$c:add6(long a, long b):long:\$retval+\$entry(b)" -C "r:$c:greet():char*:\$retval#texts" -- $c 5 2>&1 |
		grep -v '^\[..:'
	"$SONDE" argdist -qj -i 60 -C "p:$c:target(int n, char *s):char*:s" -- $c 5 | grep row
NEEDS uprobe prog:calls
EXPECT_RE
	p:.*
	\(last [0-9]+\.[0-9] s\)
	n                     COUNT
	0                         1
	1                         1
	2                         1
	r:.*
	\$retval\+\$entry\(b\):
	\[16, 32\) +5 \|@+\|
	$
	texts
	\$retval           +COUNT
	hello world +5
	\{"type": "row", "table": "freqs1", "interval": 1, "label": "p:build/tests/calls:target\(int n, char \*s\):char\*:s", "s": "hello", "count": 5\}

NAME argdist: bars that fit the terminal, with -w as anywhere
RUN
	cat >"$TMPDIR/on.py" <<'X'
	import fcntl, os, struct, subprocess, sys, termios, tty
	m, s = os.openpty()
	tty.setraw(s)
	fcntl.ioctl(s, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
	for wide in [], ["-w"]:
	    p = [sys.argv[1], "argdist", "-q", *wide, "-i", "60", "-H", "p:build/tests/calls:target(int n):int:n", "--", "build/tests/calls", "2"]
	    subprocess.run(p, stdout=s)
	    print("".join(l + "\n" for l in os.read(m, 4000).decode().split("\n") if "|" in l), end="")
	X
	python3 -I "$TMPDIR/on.py" "$SONDE"
NEEDS uprobe prog:calls cmd:python3
TIMEOUT 30
EXPECT
	[0]                    1 |@@@@@@@@@@@@@|
	[1]                    1 |@@@@@@@@@@@@@|
	[0]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[1]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

NAME kprobe, uprobe: as for ftrace
RUN
	c=build/tests/calls
	"$SONDE" uprobe -q --fields name,function,fields "p:mine $c:target n=%di:s32 +0(%si):string" 'n == 1' -- $c 3
	"$SONDE" uprobe -qj --fields fields "r:$c:greet +0(\$retval):string" -- $c 1
	"$SONDE" -d script kprobe 'p:myopen do_sys_open filename=+0(%si):string' | tail -n 7
NEEDS uprobe prog:calls x86_64
EXPECT
	NAME             FUNCTION             FIELDS
	mine             target               n=1 arg2="hello"
	{"type": "event", "table": "hits", "fields": "arg1=\"hello world\""}
	
	kprobe:do_sys_open
	/wanted()/
	{
		emit(hits, task = strf("%s-%d", comm, tid), cpu = cpu, time_ns = nsecs, name = "myopen",
		     function = "do_sys_open", fields = strf("filename=\"%s\"", str((reg("si") + 0))));
	}

NAME functions of C++ by their names: overloads, one of them, patterns, both ends
RUN
	n=build/tests/names
	for p in $n:ns::C::m "$n:ns::C::m(int)" "$n:ns::*" $n:cpp:ns::C::m; do "$SONDE" funccount -q "$p" -- $n 3 | awk 'NR > 1 { $1 = $1; print }'; echo; done
	"$SONDE" funclatency -q $n:ns::C::m -- $n 3 | grep -o 'count: .*'
	"$SONDE" trace -q --fields function,message "r:$n:ns::C::m" "$n:ns::C::m(void *this, int n) (n > 0) \"%d\", n" -- $n 1 | sort | uniq -c | awk '{ $1 = $1 } 1'
	"$SONDE" argdist -q -i 60 -C "p:$n:ns::C::m(void *this, int n):int:1" -- $n 3 | tail -n 1 | awk '{ $1 = $1 } 1'
	"$SONDE" funccount $n:nope::m -- true 2>&1 | grep -o 'ERROR.*'
NEEDS prog:names
TIMEOUT 60
EXPECT
	ns::C::m(double) 3
	ns::C::m(int) 3
	$
	ns::C::m(int) 3
	$
	int ns::id<int>(int) 3
	ns::C::m(double) 3
	ns::C::m(int) 3
	$
	ns::C::m(double) 3
	ns::C::m(int) 3
	$
	count: 6
	1 FUNC -
	2 ns::C::m -
	2 ns::C::m 1
	1 6
	ERROR: nothing matches any of uprobe:build/tests/names:cpp:nope::m, uprobe:build/tests/names:rust:nope::m

NAME functions of C++ with several parameters: the comma is one of the name
RUN
	echo 'int g(int a, long b) __asm__("_ZN2ns1gEil"); __attribute__((noinline)) int g(int a, long b) { __asm__ volatile("" ::: "memory"); return a + b; } int main(void) { for (int i = 0; i < 3; i++) g(i, 2); }' >"$TMPDIR/p.c"
	cc -o "$TMPDIR/p" "$TMPDIR/p.c"
	"$SONDE" funccount -q "$TMPDIR/p:ns::g(int, long)" -- "$TMPDIR/p" | awk '{ $1 = $1 } 1'
	"$SONDE" funccount c:malloc,free 2>&1 | head -n 1
NEEDS uprobe cmd:cc fast
EXPECT
	FUNC COUNT
	ns::g(int, long) 3
	funccount:1:1-14: ERROR: ',' cannot be in a probe

NAME trace, funccount, funclatency, kprobe: functions of the kernel
RUN
	"$SONDE" funccount -q 'vfs_rea*' -- dd if=/dev/zero of=/dev/null bs=1 count=100 2>/dev/null |
		awk '$1 == "vfs_read" { print ($2 >= 100) }'
	"$SONDE" trace -q --fields function,message 'r::vfs_read (retval == 77) "%d", retval' -- dd if=/dev/zero of=/dev/null bs=77 count=1 2>/dev/null
	"$SONDE" trace -qM 1 --fields message 'vfs_read(struct file *f, char *buf, size_t n) (n == 77) "%d", n' -- dd if=/dev/zero of=/dev/null bs=77 count=1 2>/dev/null
	for f in '' -j --csv
	do "$SONDE" kprobe -q $f --fields fields 'p:vfs_read n=$arg3:u64' 'n == 77' -- dd if=/dev/zero of=/dev/null bs=77 count=1 2>/dev/null
	done
	"$SONDE" argdist -q -i 60 -C 'r::vfs_read(void *f, void *b, size_t n):size_t:$entry(n):$entry(n)==77' -- dd if=/dev/zero of=/dev/null bs=77 count=3 2>/dev/null |
		tail -n 1
NEEDS slow kprobe
EXPECT
	1
	FUNC             -
	vfs_read         77
	-
	77
	FIELDS
	n=77
	{"type": "event", "table": "hits", "fields": "n=77"}
	fields
	n=77
	77                        3

NAME trace: of a pattern the function that ran
RUN c=build/tests/calls; "$SONDE" trace -q --fields function,message "$c:gre*" 't:sched:sched_process_exi* "end"' -- $c 1; "$SONDE" trace -qA "$c:gre*" -- $c 2 | awk '{ print $1, $NF }'
NEEDS uprobe prog:calls tp:sched/sched_process_exit
EXPECT
	FUNC             -
	greet            -
	tracepoint:sched:sched_process_exit end
	FUNC COUNT
	greet 2

NAME a function of C++ that was looked for as one of C
RUN
	echo 'int g(int a) __asm__("_Z3reci"); __attribute__((noinline)) int g(int a) { __asm__ volatile("" ::: "memory"); return a; } int main(void) { return g(0); }' >"$TMPDIR/p.c"
	cc -o "$TMPDIR/p" "$TMPDIR/p.c"
	"$SONDE" funccount "$TMPDIR/p:rec" -- "$TMPDIR/p" 2>&1 | sed "s,$TMPDIR,DIR,"
	"$SONDE" funccount -q "$TMPDIR/p:cpp:rec" -- "$TMPDIR/p" | tail -n 1 | awk '{ print $NF }'
NEEDS uprobe cmd:cc fast
EXPECT
	ERROR: No matches for uprobe DIR/p:rec.
	HINT: there is a function of C++ of that name: DIR/p:cpp:rec
	1

NAME mistakes have a place in the word
RUN
	"$SONDE" trace 'c:open (arg1 = 5)' 2>&1
	"$SONDE" trace 'p:c:open "%d", arg12' 2>&1 | sed -E 's/arg1 to arg[0-9]+/arg1 to argN/'
	"$SONDE" funccount 2>&1
	"$SONDE" funccount a b 2>&1 | head -n 1
	"$SONDE" argdist 2>&1
	"$SONDE" argdist -C 'p::f():int:1,2' 2>&1 | head -n 1
	"$SONDE" tpoint sched:sched_switch '~"x"' 2>&1 | head -n 1
	for f in '~"y"' 'x == 1 ~ "y"'
	do "$SONDE" uprobe 'p:build/tests/calls:greet x=%di' "$f" 2>&1 | head -n 1
	done
EXPECT
	trace:1:14-15: ERROR: an expression changes nothing
	c:open (arg1 = 5)
	             ~
	trace:1:16-21: ERROR: registers have arg1 to argN of a function here, the others are on the stack
	p:c:open "%d", arg12
	               ~~~~~
	ERROR: funccount needs PATTERN
	sonde funccount -h shows its options.
	ERROR: what is 'b'? funccount takes only PATTERN
	ERROR: argdist needs -H or -C with a probe
	argdist:1:14-15: ERROR: 1 types, but 2 expressions
	tpoint:1:1-2: ERROR: ~ is behind no field
	uprobe:1:1-2: ERROR: ~ is behind no field
	uprobe:1:8-9: ERROR: ~ is behind no field

NAME funcinterval, functrace: from call to call
RUN
	c=build/tests/calls
	"$SONDE" funcinterval -q "$c:greet" -- $c 9 |
		awk '/^nsecs:/ { u = 1 } /^[[]/ { sub(/[|].*/, ""); n += $NF } END { print u, n }'
	"$SONDE" funcinterval -qmj "$c:greet" -- $c 9 | grep -c '"msecs": \[{'
	"$SONDE" funcinterval -q --csv -u "$c:greet" -- $c 3 | awk -F, 'NR == 1 { print; next } { n += $3 } END { print n }'
	for f in '' -j --csv
	do "$SONDE" functrace -q $f --fields function "$c:greet" "$c:add*" -- $c 2
	done
NEEDS uprobe prog:calls
EXPECT
	1 8
	1
	usecs_min,usecs_max,usecs_count
	2
	FUNCTION
	add6
	greet
	add6
	greet
	{"type": "event", "table": "calls", "function": "add6"}
	{"type": "event", "table": "calls", "function": "greet"}
	{"type": "event", "table": "calls", "function": "add6"}
	{"type": "event", "table": "calls", "function": "greet"}
	function
	add6
	greet
	add6
	greet

NAME trace: STRCMP() of bytes
RUN
	c=build/tests/calls
	for t in he '\x68\x65' '\150\145' 'h\x65' '\x68\n' 'he\x01'
	do "$SONDE" trace -B -q --csv --fields function "$c:target (STRCMP(\"$t\", arg2))" -- $c 1 | grep -c target
	done
	true
NEEDS uprobe prog:calls
EXPECT
	1
	1
	1
	1
	0
	0

NAME tpoint, perf-stat-hist: an event and its fields
RUN
	"$SONDE" tpoint -q --fields name,fields sched:sched_process_exit 'comm == "true" && prio > 0' -- true |
		sed 's/[0-9][0-9]*/N/g; s/, .group_dead.*/ }/'
	"$SONDE" tpoint -qj --fields name t:sched:sched_process_exit 'prio < 0' -- true
	"$SONDE" tpoint -q --csv --fields name sched:sched_process_exit 'comm == "true"' -- true
	"$SONDE" perf-stat-hist -q syscalls:sys_enter_write 'count + 4' -- echo hello | sed 's/ *|.*//'
	"$SONDE" perf-stat-hist -qj syscalls:sys_enter_write count -- echo hello
	"$SONDE" perf-stat-hist syscalls:sys_enter_write 2>&1 | tail -n 1
	"$SONDE" tpoint sched:sched_process_exit 'pid; 1' 2>&1 | head -n 1
NEEDS tp:sched/sched_process_exit tp:syscalls/sys_enter_write
EXPECT
	NAME                 FIELDS
	sched_process_exit   { .comm = true, .pid = N, .prio = N }
	name
	sched_process_exit
	hello
	value:
	[8, 16)                1
	$
	hello
	{"type": "hist", "table": "values", "value": [{"min": 4, "max": 7, "count": 1}]}
	ERROR: expected CATEGORY:EVENT and a field of it
	tpoint:1:4-8: ERROR: expected fields and operators

NAME a tool's script has places for who asks
RUN
	"$SONDE" --dry-run mysqld_qslower /nope 2>&1
	"$SONDE" -v --dry-run mysqld_qslower /nope 2>&1 | sed -n 's/bt:[0-9:-]*/bt/; 1p'
	"$SONDE" --dry-run trace 'c:open "%d", nosuch' 2>&1 | grep -c 'nosuch'
NEEDS uprobe
EXPECT
	ERROR: usdt target file '/nope' does not exist or is not executable
	sonde:tools/mysqld_qslower.bt ERROR: usdt target file '/nope' does not exist or is not executable
	2

NAME tplist
RUN
	"$SONDE" tools | grep tplist
	"$SONDE" tplist 'sched:sched_process_ex?t' 2>&1
	"$SONDE" tplist 'sched:sched_process_exit'
	"$SONDE" tplist -v sched:sched_process_exit | sed -n 2p
	"$SONDE" tplist -j sched:sched_process_exit
	"$SONDE" tplist -vj sched:sched_wake_idle_without_ipi
	"$SONDE" tplist -v --csv sched:sched_wake_idle_without_ipi
	"$SONDE" tplist -l build/tests/sdt 'own:o*' | sed 's/.*sdt:/sdt:/'
NEEDS tp:sched/sched_process_exit prog:sdt
EXPECT
	    tplist           List tracepoints and static probes
	WARNING: nothing matches 'tracepoint:sched:sched_process_ex?t'
	sched:sched_process_exit
	    char comm[16]
	{"type": "row", "table": "probes", "probe": "sched:sched_process_exit"}
	{"type": "row", "table": "probes", "probe": "sched:sched_wake_idle_without_ipi", "args": ["int cpu"]}
	probe,args
	sched:sched_wake_idle_without_ipi,int cpu
	sdt:own:one

NAME tpoint, uprobe: filters with ~; perf-stat-hist: for seconds
RUN
	for f in 'comm ~ "tr*"' 'comm ~ "*ru*" && prio > 0' 'comm ~ "true"' 'comm ~ "x*"' 'comm ~ "t?"'; do
		"$SONDE" tpoint -q -H --csv --fields name sched:sched_process_exit "$f" -- true 2>&1 | sed -n 2p
	done
	for f in 'f ~ "*/none*"' 'f ~ "/nape*"'; do
		"$SONDE" uprobe -q -H --csv --fields fields 'p:libc:open f=+0(%di):string' "$f" -- /bin/cat /nope/none 2>/dev/null; done
	"$SONDE" perf-stat-hist -q -P 10 syscalls:sys_enter_getppid __syscall_nr 1 >"$TMPDIR/o"; echo $?
	"$SONDE" perf-stat-hist syscalls:sys_enter_getppid __syscall_nr x 2>&1 | head -n 1
	for f in '' -j --csv; do "$SONDE" perf-stat-hist -q $f -b '100 200' syscalls:sys_enter_getppid '__syscall_nr * 0 + 150' -- build/tests/syscalls 3 getppid; done | sed 's/  *|.*//' | grep .
	"$SONDE" perf-stat-hist -b '5 4' syscalls:sys_enter_getppid __syscall_nr 2>&1 | head -n 1
NEEDS slow tp:sched/sched_process_exit tp:syscalls/sys_enter_getppid uprobe btf
TIMEOUT 30
EXPECT
	sched_process_exit
	sched_process_exit
	sched_process_exit
	comm ~ "t?"
	fields
	"f=""/nope/none"""
	fields
	0
	perf-stat-hist:1:1-2: ERROR: expected a number of seconds
	value:
	[100, 200)             3
	{"type": "hist", "table": "values", "value": [{"min": 100, "max": 199, "count": 3}]}
	value_min,value_max,value_count
	100,199,3
	sonde:tools/perf-stat-hist.bt:27:81-92: ERROR: the bounds of a histogram: each has to be above the one before

NAME --percentiles: below histograms, in JSON and CSV
RUN
	c=build/tests/calls; f='funclatency -q'
	"$SONDE" $f --percentiles "$c:greet" -- $c 50 | sed -nE '/^p50/s/[0-9]{3,}/N/gp'
	"$SONDE" $f -F --percentiles=10,max "$c:greet" -- $c 5 | sed -nE '/^p10/s/[0-9]{3,}/N/gp'
	"$SONDE" $f "$c:greet" -- $c 5 | grep -c p50
	"$SONDE" $f -j --percentiles=p99.9,max "$c:greet" -- $c 5 | grep hist | sed -E 's/.*\}\]//; s/[0-9]{3,}/N/g'
	"$SONDE" $f -j --percentiles --fields nsecs_max "$c:greet" -- $c 5 | grep nsecs_ | sed -E 's/[0-9]{3,}/N/g'
	for p in p50 max
	do "$SONDE" $f --csv --percentiles=$p "$c:greet" -- $c 5 | sed -n 1p
	done
	"$SONDE" $f --percentiles=p50,x "$c:greet"; "$SONDE" opensnoop --percentiles
NEEDS uprobe prog:calls
TIMEOUT 40
RC 1
EXPECT
	p50 <= N  p90 <= N  p99 <= N  p99.9 <= N  max <= N  n 50
	p10 <= N  max <= N  n 5
	0
	, "nsecs_p99_9": N, "nsecs_max": N}
	{"type": "row", "table": "latency", "nsecs_max": N}
	nsecs_min,nsecs_max,nsecs_count,nsecs_p50
	nsecs_bucket_min,nsecs_bucket_max,nsecs_bucket_count,nsecs_max
ERR
	ERROR: --percentiles needs a list such as p50,p99.9,max (got 'p50,x')
	sonde funclatency -h shows its options.
	ERROR: unrecognized option '--percentiles'
	sonde opensnoop -h shows its options.

NAME argdist, trace: conditions on a result have the type that is given to it
RUN
	s=build/tests/signs; cp $s "$TMPDIR/plain"; strip --strip-debug "$TMPDIR/plain"; p=$TMPDIR/plain
	"$SONDE" argdist -q -i 60 -C "r:$p:int_below():s32:\$retval:\$retval<0" -- "$p" 2 | tail -n 2 | awk '{ $1 = $1 } 1'
	"$SONDE" trace -q --fields message "r:$p:int_below (retval < -1) \"%d\", retval" -- "$p" 2 | tail -n 1
	"$SONDE" trace -q --fields message "r:$p:long_below (retval < -1) \"%ld\", retval" -- "$p" 2 | tail -n 1
	"$SONDE" trace -q --fields message "r:$p:int_below (retval < 0) \"x\"" -- "$p" 2>&1 | grep -c 'always false'
EXPECT
	-2 1
	-1 1
	-2
	-2
	1

NAME the tracer and its child are left out where the whole machine is traced: tpoint, uprobe, offcputime, strace
RUN
	for t in 'tpoint syscalls:sys_enter_read' 'uprobe p:libc:read' 'offcputime -P' 'strace -e read'; do
		"$SONDE" $t -j -o "$TMPDIR/out" & s=$!
		until_written "$TMPDIR/out"
		ours="$s$(for k in $(cat /proc/$s/task/*/children); do printf '|%s' $k; done)"
		for i in 1 2 3 4 5 6 7 8; do head -c 10 /proc/version >"$TMPDIR/read"; done
		kill -INT $s; wait $s
		echo "$t: $(grep -cE "\"pid\": ($ours)[,}]|\"task\": \"[^\"]*-($ours)\"|\\[pid *($ours)[]<]" "$TMPDIR/out") of ours, $([ "$(grep -vc '"start"\|"end"' "$TMPDIR/out")" -gt 0 ] && echo others)"
		rm -f "$TMPDIR/out"
	done
NEEDS fast btf tp:syscalls/sys_enter_read tp:sched/sched_switch
TIMEOUT 30
EXPECT
	tpoint syscalls:sys_enter_read: 0 of ours, others
	uprobe p:libc:read: 0 of ours, others
	offcputime -P: 0 of ours, others
	strace -e read: 0 of ours, others
