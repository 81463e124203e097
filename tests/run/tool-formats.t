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
	"$SONDE" trace -q --csv --fields function,message "$c:target \"%d, %s\", arg1, arg2" -- $c 1; "$SONDE" argdist -q -i 60 --csv -C "p:$c:target(int n):int:n" -- $c 2 2>/dev/null
	"$SONDE" funclatency -q --csv "$c:greet" -- $c 5 | head -n 1; for f in -j --csv; do "$SONDE" funcslower -q -u 0 -m 0 $f --fields comm,ret,function "$c:add6" -- $c 1; done
NEEDS uprobe prog:calls
EXPECT
	"comm": "calls"
	"calls": 9
	comm,calls
	calls,9
	function,message
	target,"0, hello"
	n,count
	0,1
	1,1
	nsecs_min,nsecs_max,nsecs_count
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
	"$SONDE" rubystat -qj --fields objects,exceptions -l "$p" 1h -- "$p"; "$SONDE" cobjnew -qj libc -- build/tests/leak | grep -c 'malloc <= ' | sed 's/^[1-9][0-9]*$/some/'; "$SONDE" cthreads -q --csv --fields event,function -- build/tests/threads 1
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
	{"type": "row", "table": "programs", "objects": 3, "exceptions": 1}
	some
	event,function
	pthread,work

NAME iosnoop and iolatency: requests of a disk
RUN
	with_loop '
		tool_sees "dd if=/dev/zero of=\$disk bs=8k count=3 oflag=direct 2>/dev/null" iosnoop --disk ${disk#/dev/} --fields op,bytes --csv
		tool_sees "dd if=/dev/zero of=\$disk bs=8k count=3 oflag=direct 2>/dev/null" iolatency --disk ${disk#/dev/} -j | grep -o "\"type\": \"hist\""'
NEEDS file:/dev/loop-control cmd:losetup btf
TIMEOUT 30
ALONE
EXPECT
	op,bytes
	W,8192
	W,8192
	W,8192
	"type": "hist"

NAME JSON and CSV: order of disk requests, and their stacks
RUN
	write='dd if=/dev/zero of=$disk bs=8k count=21 oflag=direct 2>/dev/null'
	with_loop '
		n=${disk#/dev/}
		tool_sees "$write" biopattern --disk $n -j --fields disk,random_ratio,sequential_ratio,requests,bytes 1h | sed "s,$n,LOOP,"
		tool_sees "$write" biostacks -P -n dd -j >"$TMPDIR/j"; tool_sees "$write" biostacks -P -n dd --csv >"$TMPDIR/c"'
	grep "\"comm\": \"dd\", .*\"sym\": \"submit_bio" "$TMPDIR/j" | grep -o '"count": [0-9]*' | awk '{ n += $2 } END { print n }'
	head -n 1 "$TMPDIR/c"; awk -F, '/",[0-9]*,[0-9]*,[0-9]*$/ { n += $NF } END { print n }' "$TMPDIR/c"
NEEDS file:/dev/loop-control cmd:losetup btf
TIMEOUT 40
ALONE
EXPECT
	{"type": "event", "table": "pattern", "disk": "LOOP", "random_ratio": 0.0000, "sequential_ratio": 1.0000, "requests": 20, "bytes": 163840}
	21
	comm,kstack,usecs_min,usecs_max,usecs_count
	21

NAME JSON and CSV: interrupts, work, new processes
RUN
	first() { "$SONDE" "$@" >"$TMPDIR/o" & s=$!; eventually grep -qE "$want" "$TMPDIR/o"; kill -INT $s; wait $s; grep -oE "$want" "$TMPDIR/o" | head -n 1; }
	want='"stage": "softirq runtime", "softirq": "[a-z_]+", "duration_ns": [1-9][0-9]*, "cpu": [0-9]+, "comm": ".+"'; first softirqslower -qj 1ns | sed -E 's/"[a-z_]+", "dur/NAME, "dur/; s/[0-9]+/N/g; s/"comm": ".*"/COMM/'
	want='^..:..:.. softirq runtime +[a-z_]+ +[0-9]+ [0-9]+ +.+'; first softirqslower -q 1ns | cut -c 10-24
	for f in -j --csv; do tool_sees 'sync; sleep 0.5' wqlat -W $f >"$TMPDIR/o$f"; done
	grep -cE '^[{]"type": "hist", "table": "waits", "workqueue": ".+", "usecs": \[[{]"min": [0-9]+, "max"' "$TMPDIR/o-j" | sed 's/^[1-9][0-9]*$/some/'; sed '2,$s/^.*,[0-9]*,[0-9]*,[0-9]*$/row/' "$TMPDIR/o--csv" | uniq
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
	for t in javacalls perlcalls phpcalls pythoncalls rubycalls tclcalls javaflow perlflow phpflow pythonflow rubyflow tclflow javagc nodegc pythongc rubygc javaobjnew rubyobjnew tclobjnew javastat nodestat perlstat phpstat pythonstat rubystat tclstat; do
		echo "$t $(PATH=/nowhere "$SONDE" --dry-run $t 2>&1 | sed -n 's/^ERROR: There is none of these probes: usdt:\([^:]*\):.*/\1/p')"
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
RUN for t in ext4slower xfsslower btrfsslower nfsslower f2fsslower fuseslower overlayslower bcachefsslower zfsslower ext4dist xfsdist btrfsdist nfsdist f2fsdist fusedist overlaydist bcachefsdist zfsdist offwaketime iosnoop iolatency bps stacksnoop cobjnew cthreads javathreads; do "$SONDE" $t -h | sed -n "s,^ *which is: sonde:tools/,$t: ,p"; done
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
