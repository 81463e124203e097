# JSON and CSV of tools whose own cases look at text, and tools that are other names.

NAME JSON and CSV: processes
RUN
	"$SONDE" threadsnoop -qj --fields comm,function -- build/tests/threads 1; "$SONDE" threadsnoop -q --csv --fields comm,function -- build/tests/threads 1
	"$SONDE" naptime -qj -m 50 --fields comm,duration_ns -- sh -c 'sleep 0.05; :' | sed 's/5000000[01]/5000000N/'
	"$SONDE" capable -qjv --denied --unique --fields cap,name,verdict -- setpriv --reuid 65534 setpriv --reuid 1 true 2>/dev/null | grep '"cap": 7,'
NEEDS prog:threads uprobe btf cmd:setpriv tp:syscalls/sys_enter_clock_nanosleep
TIMEOUT 40
EXPECT
	{"type": "event", "table": "threads", "comm": "threads", "function": "work"}
	comm,function
	threads,work
	{"type": "event", "table": "naps", "comm": "sleep", "duration_ns": 5000000N}
	{"type": "event", "table": "checks", "cap": 7, "name": "CAP_SETUID", "verdict": "denied"}

NAME JSON and CSV: functions of a program
RUN
	c=build/tests/calls
	"$SONDE" stackcount -qj -P "$c:greet" -- $c 9 | grep -oE '"comm": "calls"|"calls": 9'; "$SONDE" stackcount -q --csv -P --fields comm,calls "$c:greet" -- $c 9
	"$SONDE" trace -q --csv --fields function,message "$c:target \"%d, %s\", arg1, arg2" -- $c 1; "$SONDE" argdist -q -i 60 --csv -C "p:$c:target(int count):int:count" -- $c 2 2>/dev/null
	"$SONDE" funclatency -q --csv "$c:greet" -- $c 5 | awk -F, '/[a-z]/ { print; n = 0; next } { n += $3 } END { print n }'
	"$SONDE" funclatency -qj -m "$c:greet" -- $c 5 | tail -n 1 | sed -E 's/_ns": [0-9]+/_ns": N/g'
	for f in -j --csv
	do "$SONDE" funcslower -q -u 0 -m 0 $f --fields comm,ret,function "$c:add6" -- $c 1
	done
NEEDS uprobe prog:calls
EXPECT
	"comm": "calls"
	"calls": 9
	comm,calls
	calls,9
	function,message
	target,"0, hello"
	label,value1,count
	p:build/tests/calls:target(int count):int:count,0,1
	p:build/tests/calls:target(int count):int:count,1,1
	nsecs_min,nsecs_max,nsecs_count
	avg_ns,total_ns,count
	5
	{"type": "row", "table": "totals", "avg_ns": N, "total_ns": N, "count": 5}
	{"type": "event", "table": "slow", "comm": "calls", "ret": 21, "function": "add6"}
	comm,ret,function
	calls,21,add6

NAME JSON and CSV: threads that share one CPU
RUN
	both='taskset -c 0 build/tests/spin 100 & a=$!; taskset -c 0 build/tests/spin 100; wait $a'
	for f in -j --csv; do tool_sees "$both" runqslower $f -n spin --fields comm,duration_ns 100us | sed -E 's/[0-9]{6,}/N/' | sort -u; done
NEEDS prog:spin cmd:taskset btf
TIMEOUT 60
EXPECT
	{"type": "event", "table": "waits", "comm": "spin", "duration_ns": N}
	comm,duration_ns
	spin,N

NAME names for tools with options
RUN
	p="$SONDE_TESTS/runtime"; c=build/tests/calls
	"$SONDE" stacksnoop -q --fields function "$c:greet" -- $c 2; "$SONDE" rubyobjnew -q "$p" -- "$p"; "$SONDE" javathreads -q --fields event,name "$p" -- "$p" | grep -v pthread
	"$SONDE" rubystat -qj --fields objects,exceptions -l "$p" 1h -- "$p"
	"$SONDE" cobjnew -qj libc -- build/tests/leak | grep -c 'malloc <= ' | sed 's/^[1-9][0-9]*$/some/'
	"$SONDE" cthreads -q --csv --fields event,function -- build/tests/threads 1
NEEDS uprobe prog:calls prog:runtime prog:leak prog:threads
TIMEOUT 40
EXPECT
	FUNC
	greet
	greet
	NAME/TYPE                            # ALLOCS      # BYTES
	Point                                       2            0
	array                                       1            7
	TYPE     NAME
	start    worker
	{"type": "row", "table": "programs", "interval": 1, "objects": 3, "exceptions": 1}
	some
	event,function
	pthread,work

NAME text, JSON and CSV: other names, and what one event is in each
RUN
	c=build/tests/calls
	see() { t=$1; shift; for f in '' -j --csv; do "$SONDE" $t -q $f "$@" | tail -n 1 | tr -s ' '; done; }
	see stacksnoop --fields function "$c:greet" -- $c 1
	see cobjnew libc --fields object,allocs -- build/tests/leak
	see cthreads --fields event,function -- build/tests/threads 1
	see uprobe --fields function,fields "p:$c:target +0(%si):string" -- $c 1
	see perf-stat-hist syscalls:sys_enter_getppid '__syscall_nr * 0 + 5' -- build/tests/syscalls 3 getppid | grep -v '^$'
	for f in '' -j --csv; do "$SONDE" strace -q $f -e lseek -- build/tests/syscalls 1 lseek 2>&1 | grep lseek | sed 's/"duration_ns": [0-9]*/N/; s/EBADF,[0-9]*,/EBADF,N,/'; done
	see naptime -m 50 --fields comm,pcomm -- sh -c 'sleep 0.05; :'
NEEDS uprobe x86_64 prog:calls prog:leak prog:threads prog:syscalls tp:syscalls/sys_enter_clock_nanosleep btf
TIMEOUT 60
EXPECT
	greet
	{"type": "event", "table": "calls", "function": "greet"}
	greet
	malloc <= 4096 10
	{"type": "row", "table": "types", "object": "malloc <= 4096", "allocs": 10}
	malloc <= 4096,10
	pthread work
	{"type": "event", "table": "threads", "event": "pthread", "function": "work"}
	pthread,work
	target arg1="hello"
	{"type": "event", "table": "hits", "function": "target", "fields": "arg1=\"hello\""}
	target,"arg1=""hello"""
	{"type": "hist", "table": "values", "value": [{"min": 4, "max": 7, "count": 3}]}
	4,7,3
	lseek(-1, 0, SEEK_SET)                  = -1 EBADF (Bad file descriptor)
	{"type": "event", "table": "calls", "syscall": "lseek", "ret": -9, "error": "EBADF", N, "call": "lseek(-1, 0, SEEK_SET)                  = -1 EBADF (Bad file descriptor)"}
	lseek,-9,EBADF,N,"lseek(-1, 0, SEEK_SET)                  = -1 EBADF (Bad file descriptor)"
	sleep sh
	{"type": "event", "table": "naps", "comm": "sleep", "pcomm": "sh"}
	sleep,sh

NAME iosnoop and iolatency: requests of a disk
RUN
	write='dd if=/dev/zero of=$disk bs=8k count=3 oflag=direct 2>/dev/null'
	with_loop '
		n=${disk#/dev/}
		for f in "" -j --csv; do
			tool_sees "$write" iosnoop --disk $n --fields op,bytes $f | uniq
			tool_sees "$write" iolatency --disk $n $f >"$TMPDIR/o"
			grep -oE "^usecs:|\"type\": \"hist\"|^usecs_min.*" "$TMPDIR/o"
			awk "/^\[/ { sub(/[|].*/, \"\"); n += \$NF } /^[0-9]/ { sub(/.*,/, \"\"); n += \$0 } END { if (n) print n }" "$TMPDIR/o"
		done'
NEEDS file:/dev/loop-control cmd:losetup btf
TIMEOUT 40
ALONE
EXPECT
	T BYTES
	W 8192
	usecs:
	3
	{"type": "event", "table": "requests", "op": "W", "bytes": 8192}
	"type": "hist"
	op,bytes
	W,8192
	usecs_min,usecs_max,usecs_count
	3

NAME JSON and CSV: order of disk requests, and their stacks
RUN
	write='dd if=/dev/zero of=$disk bs=8k count=21 oflag=direct 2>/dev/null'
	with_loop '
		n=${disk#/dev/}
		tool_sees "$write" biopattern --disk $n -j --fields disk,random_ratio,sequential_ratio,requests,bytes 1h | sed "s,$n,LOOP,"
		tool_sees "$write" biostacks -P -n dd -j >"$TMPDIR/j"; tool_sees "$write" biostacks -P -n dd --csv >"$TMPDIR/c"'
	grep "\"comm\": \"dd\", .*\"sym\": \"submit_bio" "$TMPDIR/j" | grep -o '"count": [0-9]*' | awk '{ n += $2 } END { print n }'
	head -n 1 "$TMPDIR/c"; awk -F, '/",[0-9]*,[0-9]*,[0-9]*$/ { n += $NF } END { print n }' "$TMPDIR/c"
NEEDS file:/dev/loop-control cmd:losetup btf sym:bpf_for_each_map_elem
TIMEOUT 40
ALONE
EXPECT
	{"type": "row", "table": "pattern", "interval": 1, "disk": "LOOP", "random_ratio": 0.0000, "sequential_ratio": 1.0000, "requests": 20, "bytes": 163840}
	21
	comm,kstack,usecs_min,usecs_max,usecs_count
	21

NAME JSON and CSV: interrupts, work, new processes
RUN
	first() { "$SONDE" "$@" >"$TMPDIR/o" & s=$!; eventually grep -qE "$want" "$TMPDIR/o"; kill -INT $s; wait $s; grep -oE "$want" "$TMPDIR/o" | head -n 1; }
	want='"stage": "softirq runtime", "softirq": "[a-z_]+", "duration_ns": [1-9][0-9]*, "cpu": [0-9]+, "comm": ".+"'
	first softirqslower -qj 1ns | sed -E 's/"[a-z_]+", "dur/NAME, "dur/; s/[0-9]+/N/g; s/"comm": ".*"/COMM/'
	want='^..:..:.. softirq runtime +[a-z_]+ +[0-9]+ [0-9]+ +.+'; first softirqslower -q 1ns | cut -c 10-24
	for f in -j --csv; do tool_sees 'sync; sleep 0.5' wqlat -W $f >"$TMPDIR/o$f"; done
	grep -cE '^[{]"type": "hist", "table": "waits", "workqueue": ".+", "usecs": \[[{]"min": [0-9]+, "max"' "$TMPDIR/o-j" |
		sed 's/^[1-9][0-9]*$/some/'
	sed '2,$s/^.*,[0-9]*,[0-9]*,[0-9]*$/row/' "$TMPDIR/o--csv" | uniq
	while :; do /bin/true; done & load=$!
	want='"processes": [1-9][0-9]*, "threads": [0-9]+'; first pidpersec -qj 100ms | sed 's/[0-9][0-9]*/N/g'; want='^..:..:.. +[1-9][0-9]* +[0-9]+$'; first pidpersec -q 100ms | wc -w
	kill $load
NEEDS tp:irq/softirq_raise tp:task/task_newtask btf
TIMEOUT 60
EXPECT
	"stage": "softirq runtime", "softirq": NAME, "duration_ns": N, "cpu": N, COMM
	softirq runtime
	some
	workqueue,usecs_min,usecs_max,usecs_count
	row
	"processes": N, "threads": N
	3

NAME JSON and CSV: a wait, and who ended it
RUN
	for o in '' -j --csv; do tool_sees build/tests/mutex offwaketime -U -n mutex $o >"$TMPDIR/o$o"; done
	awk '/^[^ ]/ { on = /^mutex +mutex +[0-9]+$/; w = 0 } /wait_for_it/ { w = on } /give_up/ && w { n++ } END { print (n > 0 ? "both ends" : "none") }' "$TMPDIR/o"
	grep -cE '"comm": "mutex", "ustack": .*"sym": "wait_for_it".*"waker": "mutex", "waker_ustack": .*"sym": "give_up".*"total_ns": [1-9]' "$TMPDIR/o-j" | sed 's/^[1-9][0-9]*$/some/'
	head -n 1 "$TMPDIR/o--csv"; grep -c '",mutex,"' "$TMPDIR/o--csv" | sed 's/^[1-9][0-9]*$/some/'
NEEDS prog:mutex tp:sched/sched_waking dwunwind
TIMEOUT 60
EXPECT
	both ends
	some
	comm,ustack,waker,waker_ustack,total_ns
	some

NAME a column with the container
RUN
	m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1); id=c0de$$; while [ ${#id} -lt 64 ]; do id=${id}0; done; d=$m/docker-$id.scope; mkdir $d
	into="echo \$\$ >$d/cgroup.procs; exec /bin/true"
	for f in '' -j --csv; do "$SONDE" execsnoop -q $f --container-column --fields container,argv true -- /bin/sh -c "/bin/true out; $into" | sed "s/$(printf %.12s $id)/ID/"; done
	for t in exitsnoop opensnoop capable tcpconnect; do "$SONDE" --dry-run $t --container-column || echo $t; done; rmdir $d
NEEDS btf tp:sched/sched_process_exec file:/sys/fs/cgroup tp:sock/inet_sock_set_state
TIMEOUT 40
EXPECT
	CONTAINER    ARGS
	-            /bin/true out
	ID /bin/true
	{"type": "event", "table": "execs", "argv": ["/bin/true", "out"]}
	{"type": "event", "table": "execs", "container": "ID", "argv": ["/bin/true"]}
	container,argv
	,/bin/true out
	ID,/bin/true

NAME aliases for one language: each asks for its program or library
RUN
	for t in javacalls perlcalls phpcalls pythoncalls rubycalls tclcalls javaflow perlflow phpflow pythonflow rubyflow tclflow javagc nodegc pythongc rubygc javaobjnew rubyobjnew tclobjnew javastat nodestat perlstat phpstat pythonstat rubystat tclstat
	do
		echo "$t $(PATH=/nowhere "$SONDE" --dry-run $t 2>&1 | sed -n "s/^ERROR: \(usdt target file '\)*\([^ ':]*\).*/\2/p" | sed 's,.*/,,; s/\.so$//')"
	done | awk '{ n = $1; sub(/(calls|flow|gc|objnew|stat)$/, "", n); by[n " " $2] = by[n " " $2] " " $1 } END { for (k in by) print k by[k] }' | sort
NEEDS fast
TIMEOUT 60
EXPECT
	java libjvm javacalls javaflow javagc javaobjnew javastat
	node node nodegc nodestat
	perl perl perlcalls perlflow perlstat
	php php phpcalls phpflow phpstat
	python python3 pythoncalls pythonflow pythongc pythonstat
	ruby ruby rubycalls rubyflow rubygc rubyobjnew rubystat
	tcl libtcl8.6 tclcalls tclflow tclobjnew tclstat

NAME aliases: which tool, and with what
RUN
	for t in ext4slower xfsslower btrfsslower nfsslower f2fsslower fuseslower overlayslower bcachefsslower zfsslower ext4dist xfsdist btrfsdist nfsdist f2fsdist fusedist overlaydist bcachefsdist zfsdist offwaketime iosnoop iolatency bps stacksnoop cobjnew cthreads javathreads
	do "$SONDE" $t -h | sed -n "s,^ *which is: sonde:tools/,$t: ,p"
	done
EXPECT
	ext4slower: fsslower.bt with --type ext4
	xfsslower: fsslower.bt with --type xfs
	btrfsslower: fsslower.bt with --type btrfs
	nfsslower: fsslower.bt with --type nfs
	f2fsslower: fsslower.bt with --type f2fs
	fuseslower: fsslower.bt with --type fuse
	overlayslower: fsslower.bt with --type overlay
	bcachefsslower: fsslower.bt with --type bcachefs
	zfsslower: fsslower.bt with --type zfs
	ext4dist: fsdist.bt with --type ext4
	xfsdist: fsdist.bt with --type xfs
	btrfsdist: fsdist.bt with --type btrfs
	nfsdist: fsdist.bt with --type nfs
	f2fsdist: fsdist.bt with --type f2fs
	fusedist: fsdist.bt with --type fuse
	overlaydist: fsdist.bt with --type overlay
	bcachefsdist: fsdist.bt with --type bcachefs
	zfsdist: fsdist.bt with --type zfs
	offwaketime: offcputime.bt with --waker
	iosnoop: biosnoop.bt
	iolatency: biolatency.bt
	bps: bpflist.bt
	stacksnoop: trace.bt with --timestamp --kernel-stack
	cobjnew: uobjnew.bt with --malloc --path libc
	cthreads: uthreads.bt
	javathreads: uthreads.bt with --path libjvm

# Each language's program is called what its interpreter is.
NAME names for languages: text, JSON and CSV of each
RUN
	for l in python3 ruby php perl libtcl8.6 node libjvm; do cp "$SONDE_TESTS/languages" "$TMPDIR/$l"; done
	see() {
		p=$TMPDIR/$1 tool=$2
		shift 2
		for f in '' -j --csv; do "$SONDE" $tool -q $f "$@" $p -- $p | tail -n 1 | tr -s ' ' | sed "s/^ //; s/^{\"type\": \"[a-z]*\", /{/; s/^/$tool: /"; done
	}
	for l in python:python3 ruby:ruby php:php perl:perl tcl:libtcl8.6 java:libjvm; do
		see ${l#*:} ${l%:*}calls --fields class,method,calls; see ${l#*:} ${l%:*}flow --fields event,method
	done
	for l in python:python3 ruby:ruby node:node java:libjvm; do see ${l#*:} ${l%:*}gc --fields phase; done
	for l in ruby:ruby tcl:libtcl8.6 java:libjvm; do see ${l#*:} ${l%:*}objnew --fields object,allocs,bytes; done
	for l in python:python3 ruby:ruby php:php perl:perl tcl:libtcl8.6 node:node java:libjvm; do see ${l#*:} ${l%:*}stat --fields comm,calls,gcs,objects,threads 1h -l; done
	see libjvm javathreads --fields event,id,name
NEEDS fast uprobe prog:languages
TIMEOUT 120
EXPECT
	pythoncalls: app.py f 2
	pythoncalls: {"table": "calls", "class": "app.py", "method": "f", "calls": 2}
	pythoncalls: app.py,f,2
	pythonflow: <- f
	pythonflow: {"table": "flow", "event": "<-", "method": "f"}
	pythonflow: <-,f
	rubycalls: App f 2
	rubycalls: {"table": "calls", "class": "App", "method": "f", "calls": 2}
	rubycalls: App,f,2
	rubyflow: <- f
	rubyflow: {"table": "flow", "event": "<-", "method": "f"}
	rubyflow: <-,f
	phpcalls: App f 2
	phpcalls: {"table": "calls", "class": "App", "method": "f", "calls": 2}
	phpcalls: App,f,2
	phpflow: <- f
	phpflow: {"table": "flow", "event": "<-", "method": "f"}
	phpflow: <-,f
	perlcalls: x.pl f 2
	perlcalls: {"table": "calls", "class": "x.pl", "method": "f", "calls": 2}
	perlcalls: x.pl,f,2
	perlflow: <- f
	perlflow: {"table": "flow", "event": "<-", "method": "f"}
	perlflow: <-,f
	tclcalls: f 2
	tclcalls: {"table": "calls", "class": "", "method": "f", "calls": 2}
	tclcalls: ,f,2
	tclflow: <- f
	tclflow: {"table": "flow", "event": "<-", "method": "f"}
	tclflow: <-,f
	javacalls: App f 2
	javacalls: {"table": "calls", "class": "App", "method": "f", "calls": 2}
	javacalls: App,f,2
	javaflow: <- f
	javaflow: {"table": "flow", "event": "<-", "method": "f"}
	javaflow: <-,f
	pythongc: gc
	pythongc: {"table": "collections", "phase": "gc"}
	pythongc: gc
	rubygc: mark
	rubygc: {"table": "collections", "phase": "mark"}
	rubygc: mark
	nodegc: gc
	nodegc: {"table": "collections", "phase": "gc"}
	nodegc: gc
	javagc: gc
	javagc: {"table": "collections", "phase": "gc"}
	javagc: gc
	rubyobjnew: Point 1 0
	rubyobjnew: {"table": "types", "object": "Point", "allocs": 1, "bytes": 0}
	rubyobjnew: Point,1,0
	tclobjnew: object 1 0
	tclobjnew: {"table": "types", "object": "object", "allocs": 1, "bytes": 0}
	tclobjnew: object,1,0
	javaobjnew: Point 1 24
	javaobjnew: {"table": "types", "object": "Point", "allocs": 1, "bytes": 24}
	javaobjnew: Point,1,24
	pythonstat: python3 2 1 0 0
	pythonstat: {"table": "programs", "interval": 1, "comm": "python3", "calls": 2, "gcs": 1, "objects": 0, "threads": 0}
	pythonstat: python3,2,1,0,0
	rubystat: ruby 2 1 1 0
	rubystat: {"table": "programs", "interval": 1, "comm": "ruby", "calls": 2, "gcs": 1, "objects": 1, "threads": 0}
	rubystat: ruby,2,1,1,0
	phpstat: php 2 0 0 0
	phpstat: {"table": "programs", "interval": 1, "comm": "php", "calls": 2, "gcs": 0, "objects": 0, "threads": 0}
	phpstat: php,2,0,0,0
	perlstat: perl 2 0 0 0
	perlstat: {"table": "programs", "interval": 1, "comm": "perl", "calls": 2, "gcs": 0, "objects": 0, "threads": 0}
	perlstat: perl,2,0,0,0
	tclstat: libtcl8.6 2 0 1 0
	tclstat: {"table": "programs", "interval": 1, "comm": "libtcl8.6", "calls": 2, "gcs": 0, "objects": 1, "threads": 0}
	tclstat: libtcl8.6,2,0,1,0
	nodestat: node 0 1 0 0
	nodestat: {"table": "programs", "interval": 1, "comm": "node", "calls": 0, "gcs": 1, "objects": 0, "threads": 0}
	nodestat: node,0,1,0,0
	javastat: libjvm 2 1 1 1
	javastat: {"table": "programs", "interval": 1, "comm": "libjvm", "calls": 2, "gcs": 1, "objects": 1, "threads": 1}
	javastat: libjvm,2,1,1,1
	javathreads: start 4711 worker
	javathreads: {"table": "threads", "event": "start", "id": 4711, "name": "worker"}
	javathreads: start,4711,worker

NAME csv: the names of columns once, without rows too
RUN
	sleep 60 & for t in 'syscount -L' 'funccount build/tests/calls:target' 'cpudist 100ms' 'syscount 100ms' 'sigsnoop'
	do echo "$t: $("$SONDE" $t -q --csv -p $! -d 250ms)"
	done
	"$SONDE" funccount -q --csv -i 50ms --reports 3 build/tests/calls:target -p $!
	"$SONDE" funccount -j -d 50ms build/tests/calls:target -p $! 2>&1 | grep -o '"type": "[a-z]*"'
	kill $!
NEEDS uprobe prog:calls
EXPECT
	syscount -L: syscall,calls,avg_ns,total_ns
	funccount build/tests/calls:target: function,calls
	cpudist 100ms: usecs_min,usecs_max,usecs_count
	syscount 100ms: syscall,calls
	sigsnoop: time,pid,comm,signal,signal_name,target,target_comm,code,result
	function,calls
	"type": "start"
	"type": "end"

NAME the last report of a tool, which the end cuts short, says how long it is
RUN
	"$SONDE" runqlat -j -d 0.3 1h | sed -nE 's/.*("last_interval_ns": [1-9][0-9]{8})[0-9]?}$/\1/; s/"last_interval_ns": [0-9]+/some/p'; "$SONDE" runqlat -j -d 0.3 | grep -c last_interval
	"$SONDE" biotop -Cq -d 0.3 1h | sed -nE '1s/.* loadavg: .*(\(last).*/\1/p'; "$SONDE" runqlat -q -T -d 0.3 1h | sed -nE '1s/^[0-9:]{8} \(last [0-9]+\.[0-9] s\)$/last/p'
NEEDS btf
TIMEOUT 40
EXPECT
	some
	0
	(last
	last

NAME a tool whose time is a multiple of the interval ends with the report of that moment
RUN
	while :; do head -c 100000 "$SONDE"; done >/dev/null & p=$!
	for c in 'runqlat 0.3' 'cachestat 0.3' 'cachetop 0.3' 'syscount -i 0.3' 'pidpersec 0.3'
	do timeout 20 "$SONDE" ${c%% *} -j -d 0.3 ${c#* } >"$TMPDIR/o"
	echo "${c%% *}: $(grep -oE '"interval": [0-9]+|last_interval' "$TMPDIR/o" | sort -u | tr '\n' ' ')"
	done
	timeout 20 "$SONDE" biotop -Cq -d 0.3 0.3 | grep -c loadavg
	timeout 20 "$SONDE" runqlat -j -d 0.3 0.2 | grep -oE '"interval": [0-9]+|last_interval' | sort -u
	kill $p
NEEDS btf sym:blk_mq_start_request
TIMEOUT 120
EXPECT
	runqlat: "interval": 1 
	cachestat: "interval": 1 
	cachetop: "interval": 1 
	syscount: "interval": 1 
	pidpersec: "interval": 1 
	1
	"interval": 1
	"interval": 2
	last_interval

NAME --time=ms, us, ns and --utc: columns, lines above reports, screens
RUN
	export TZ=XYZ-5:30
	"$SONDE" exitsnoop -q --utc -- true | head -n 1
	for o in --time --utc '--time=us --utc' '--utc --time=us'
	do "$SONDE" exitsnoop -qj $o -- true | sed 's/.*"time": "[^"]*T[0-9:.]*\([^"]*\)".*/\1/'
	"$SONDE" exitsnoop -q $o -- true | sed -n '2{ s/ .*//; s/[0-9]/9/g; p; }'
	done
	"$SONDE" threadsnoop -q --time=ms --fields time,comm -- build/tests/threads 1 | sed 's/[0-9]/9/g'
	"$SONDE" threadsnoop -qj --utc --fields time -- build/tests/threads 1 | sed 's/T[0-9:.]*/T/; s/[0-9]*-[0-9-]*T/T/'
	for t in 'runqlat --time=us' 'biotop -C --time=ms' 'biotop -C'; do "$SONDE" $t -q 50ms 1 | sed -n '1{ s/[0-9]/9/g; s/ .*//; p; }'; done
NEEDS prog:threads uprobe btf
TIMEOUT 40
EXPECT
	TIME     PCOMM            PID     PPID    TID     AGE(s)  EXIT_CODE
	+05:30
	99:99:99
	+00:00
	99:99:99
	+00:00
	99:99:99.999999
	+00:00
	99:99:99.999999
	TIME          COMM
	99:99:99.999  threads
	{"type": "event", "table": "threads", "time": "T+00:00"}
	99:99:99.999999
	99:99:99.999
	99:99:99
