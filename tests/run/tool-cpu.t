# Tools about CPUs and interrupts.

NAME runqlat: threads wait while others have the CPU
RUN
	tool_sees 'spins=; for i in 1 2 3 4; do taskset -c 0 build/tests/spin 250 & spins="$spins $!"; done; wait $spins' runqlat -m >"$TMPDIR/o"
	grep -c '^msecs:' "$TMPDIR/o"
	awk '/^\[(2|4|8|16), / { n += $3 } END { print (n > 10 ? "many" : n) }' "$TMPDIR/o"
NEEDS cmd:taskset btf prog:spin
TIMEOUT 40
EXPECT
	1
	many

NAME runqlat --pidnss: by namespace of processes
RUN n=$(readlink /proc/self/ns/pid | tr -dc 0-9); tool_sees 'build/tests/spin 10 20' runqlat --pidnss | grep -c "^pidns = $n, usecs:"
NEEDS prog:spin btf
TIMEOUT 30
EXPECT
	1

NAME runqlat: by process, as JSON and CSV
RUN
	naps='for i in 1 2 3 4 5; do sleep 0.01; done'
	tool_sees "$naps" runqlat -P -j >"$TMPDIR/j"
	tool_sees "$naps" runqlat -P --csv >"$TMPDIR/c"
	grep -c '"type": "hist", "table": "waits", "pid": [0-9]*, "comm": "sleep", "usecs": \[{"min"' "$TMPDIR/j" |
		sed 's/^[1-9][0-9]*$/some/'
	head -n 1 "$TMPDIR/c"
	grep -c '^[0-9]*,sleep,[0-9]*,[0-9]*,[0-9]*$' "$TMPDIR/c" | sed 's/^[1-9][0-9]*$/some/'
NEEDS btf
TIMEOUT 40
EXPECT
	some
	pid,comm,usecs_min,usecs_max,usecs_count
	some

NAME softirqs: timers interrupt
RUN
	soft() { "$SONDE" softirqs -q "$@" --duration ${TEST_SLOW:-1}; }
	for o in '' -C -d -N; do
		soft $o | grep -cE '^(timer|sched|rcu) +[1-9]|^softirq = (timer|sched|rcu), usecs:' | sed 's/^[1-9]$/some/'
	done
	soft -C --csv | head -n 1
	soft -j | grep -cE '^[{]"type": "row", "table": "totals", "softirq": "(timer|sched|rcu)", "total_ns": [0-9]+[}]$' | sed 's/^[1-9]$/some/'
NEEDS tp:irq/softirq_entry
TIMEOUT 40
EXPECT
	some
	some
	some
	some
	softirq,count
	some

# Of a disk that must write or, in a guest whose root is its host's, of what is looked up there.
NAME hardirqs: disks interrupt
RUN
	hard() { "$SONDE" hardirqs -q "$@" --duration ${TEST_SLOW:-1}; }
	some() { grep -cE "$1" | sed 's/^[1-9][0-9]*$/some/'; }
	while [ -d "$TMPDIR" ]; do dd if=/dev/zero of="$TMPDIR/data" bs=4096 count=10 oflag=dsync; ls -l tests/run; done >/dev/null 2>&1 & load=$!
	for o in '' -C -N; do
		hard $o >"$TMPDIR/o"; head -n 1 "$TMPDIR/o"; some '^[^ ].* +[1-9][0-9]*$' <"$TMPDIR/o"
	done
	hard -d >"$TMPDIR/o"; some '^hardirq = .+, usecs:$' <"$TMPDIR/o"; some '^\[.* [1-9][0-9]* \|@+ *\|$' <"$TMPDIR/o"
	hard -C --csv >"$TMPDIR/o"; head -n 1 "$TMPDIR/o"; some '^.+,[1-9][0-9]*$' <"$TMPDIR/o"
	hard -j >"$TMPDIR/o"; kill $load
	sed -n 's/^{"type": "row", "table": "totals", "name": "\(.*\)", "total_ns": [1-9][0-9]*}$/\1/p' "$TMPDIR/o" >"$TMPDIR/names"
	some . <"$TMPDIR/names"; while read -r name; do grep -qF "$name" /proc/interrupts || echo "no $name"; done <"$TMPDIR/names"
NEEDS tp:irq/irq_handler_entry
TIMEOUT 40
EXPECT_RE
	HARDIRQ +TOTAL_usecs
	some
	HARDIRQ +TOTAL_count
	some
	HARDIRQ +TOTAL_nsecs
	some
	some
	some
	name,count
	some
	some

NAME stacks of the kernel, of the program, and both, also with -K and -U
RUN
	for t in offcputime wakeuptime profile
	do for o in '' -U -K '-K -U'
	do timeout 30 "$SONDE" $t $o -d 0.1 --csv 2>/dev/null | head -n 1
	done
	done
	timeout 30 "$SONDE" stackcount -K -U --csv -q t:syscalls:sys_enter_getppid -- build/tests/syscalls 7 getppid | head -n 1
NEEDS slow prog:syscalls tp:sched/sched_switch btf
TIMEOUT 120
EXPECT
	comm,kstack,ustack,total_ns
	comm,ustack,total_ns
	comm,kstack,total_ns
	comm,kstack,ustack,total_ns
	waker,kstack,ustack,comm,total_ns
	waker,ustack,comm,total_ns
	waker,kstack,comm,total_ns
	waker,kstack,ustack,comm,total_ns
	comm,kstack,ustack,samples
	comm,ustack,samples
	comm,kstack,samples
	comm,kstack,ustack,samples
	kstack,ustack,calls

NAME profile: the function that spins, in text, JSON and CSV
RUN
	for o in '' -j --csv
	do "$SONDE" profile -q -P -n spin --wide $o -- build/tests/spin 500 | tr -d '\n' |
		grep -oE 'COMM +PID +SAMPLES|"comm": "spin", "pid": [0-9]+, .*"sym": "busy".*"sym": "main".*"samples": [0-9]+|^comm,pid,kstack,ustack,samples|busy +main .*|busy \(spin\) .*main \(spin\)' |
		sed 's/"pid.*busy.*main.*/busy main/; s/busy  .*/busy main/; s/busy (.*/functions/'
	done
	"$SONDE" profile -j -q 100ms -n nobodycallsitselfso
NEEDS prog:spin
TIMEOUT 60
EXPECT
	functions
	COMM             PID      SAMPLES
	busy main
	"comm": "spin", busy main
	comm,pid,kstack,ustack,samples
	busy main

NAME profile, offcputime, wakeuptime: CSV without a row has the heading of the stacks
RUN for t in 'profile 0.1' 'offcputime 0.1' 'wakeuptime 0.1'; do "$SONDE" ${t% *} -q -K -n nobodyishere --csv ${t#* }; done
NEEDS tp:sched/sched_switch btf
EXPECT
	comm,kstack,samples
	comm,kstack,total_ns
	waker,kstack,comm,total_ns

NAME profile: addresses of frames
RUN "$SONDE" profile -q -AU -n spin -- build/tests/spin 300 | grep -cE '^\s+[0-9a-f]{4,} busy\+[0-9]+ \(.*spin\)' | sed 's/^[1-9][0-9]*$/some/'
NEEDS prog:spin
TIMEOUT 60
EXPECT
	some

NAME profile: folded stacks of a command add up to its time
RUN
	"$SONDE" profile -q -U -F 99 -f -- build/tests/spin 1000 |
		awk '/^spin;.*;main;busy [0-9]+$/ { n += $NF } END { print (n > 80 && n < 120 ? "right" : n) }'
	"$SONDE" profile -q -U -f -P -- build/tests/spin 300 | grep -cE '^spin;[0-9]+;_start;.*;main;busy [0-9]+$'
	"$SONDE" profile -q -K 500ms --csv --fields samples | sed 's/^[0-9]*$/N/' | sort -u
NEEDS prog:spin dwunwind fast
TIMEOUT 60
EXPECT
	right
	1
	N
	samples

NAME profile -f: many stacks of a hundred frames
RUN
	"$SONDE" profile -q -F 999 -f -- bash -c 'f() { if [ $1 = 0 ]; then for i in {1..4000}; do :; done; else f $(($1 - 1)); fi; }; for n in {15..40}; do f $n; done' >"$TMPDIR/o" 2>&1
	echo $?
	grep -cE '^bash;([^;]+;){90}.* [1-9][0-9]*$' "$TMPDIR/o" | sed 's/^[1-9][0-9]*$/some/'
NEEDS dwunwind fast cmd:bash
TIMEOUT 60
EXPECT
	0
	some

NAME profile -adf -L, offcputime -df -t: marked frames, a line between the program's and the kernel's, one thread
RUN
	"$SONDE" profile -q -adf -c 1000000 -- sh -c 'i=0; while [ $((i += 1)) -lt 200 ]; do /bin/true; done' |
		awk -F'[; ]' '{ n = 0; for (i = 2; i < NF; i++) if ($i == "-") { n++; if ($(i + 1) !~ /_\[k\]$/ || i == 2) bad++ } else if ($i ~ /_\[k\]$/ && !n && i != 2) bad++; some += n } END { print (some ? "some" : "none"), bad + 0 }'
	build/tests/spin 100000 & p=$!
	"$SONDE" profile -q -U -f -L $p,1 -n spin 300ms | grep -oE '^spin;.*busy' | uniq | sed 's/;.*;/ /'
	kill $p
	while :
	do /bin/true
	done & p=$!
	"$SONDE" offcputime -q -K -df -t $p,1 500ms | sed -n 's/^sh;.*schedule.*/waits/p' | uniq
	kill $p
NEEDS prog:spin tp:sched/sched_switch dwunwind fast
TIMEOUT 60
EXPECT
	some 0
	spin busy
	waits

NAME profile: a flame graph
RUN
	"$SONDE" profile -q --flame "$TMPDIR/a.svg" -- build/tests/spin 300 2>&1
	grep -ow '<svg\|busy' "$TMPDIR/a.svg" | sort -u
	"$SONDE" profile -q -U -o "$TMPDIR/b.svg" -- build/tests/spin 300 && grep -c '<svg' "$TMPDIR/b.svg"
	"$SONDE" -f pprof -o "$TMPDIR/c.pb.gz" profile -q -U -- build/tests/spin 300 && gzip -dc "$TMPDIR/c.pb.gz" |
		grep -ac busy
NEEDS prog:spin fast
TIMEOUT 60
EXPECT
	<svg
	busy
	1
	1

NAME offcputime: a sleep, in text, JSON, CSV and folded
RUN
	for o in '' -j --csv -f
	do tool_sees_wait usleep 'build/tests/spin 10 300' offcputime -U -n spin -m 250000 $o >"$TMPDIR/o$o"
	done
	grep -cE '^spin +[0-9]{6,}$' "$TMPDIR/o"
	grep -cE '"comm": "spin".*"sym": "usleep".*"total_ns": [0-9]{9,}}' "$TMPDIR/o-j"
	head -n 1 "$TMPDIR/o--csv"
	tr -d '\n' <"$TMPDIR/o--csv" | grep -cE 'spin,"[^"]*usleep [^"]*main [^"]*",[0-9]{9,}'
	grep -cE '^spin;.*;main;.*usleep;.* [0-9]{9,}$' "$TMPDIR/o-f"
NEEDS slow prog:spin tp:sched/sched_switch dwunwind
TIMEOUT 60
EXPECT
	1
	1
	comm,ustack,total_ns
	1
	1

NAME offcputime: waits in a state
RUN
	sees() { "$@" 'build/tests/spin 10 300' offcputime -U -n spin -m 250000 --state $s -j --fields comm |
		grep -c '"comm": "spin"'
	}
	for s in S 1
	do sees tool_sees_wait spin
	done
	for s in D R
	do for try in 1 2 3
	do n=$(sees tool_sees)
	[ "$n" != 0 ] || break
	done
	echo "$n"
	done
	true
NEEDS slow prog:spin tp:sched/sched_switch
TIMEOUT 60
EXPECT
	1
	1
	0
	0

NAME wakeuptime: who gave up the lock
RUN
	"$SONDE" wakeuptime -U -n mutex -f >"$TMPDIR/out" 2>"$TMPDIR/err" & p=$!
	until_written "$TMPDIR/err"
	build/tests/mutex
	kill -INT $p
	wait $p
	sed 's/ [0-9]*$//' "$TMPDIR/out" | sed -n 's/^mutex;mutex;.*;main;give_up.*/main gave it up/p' | uniq
NEEDS prog:mutex tp:sched/sched_waking dwunwind
TIMEOUT 60
EXPECT
	main gave it up

NAME wakeuptime: in text, JSON and CSV
RUN
	for o in '' -j --csv
	do tool_sees build/tests/mutex wakeuptime -n mutex $o >"$TMPDIR/o$o"
	done
	grep -cE '^mutex  *mutex  *[0-9]+$' "$TMPDIR/o" | awk '{ print ($1 > 0) }'
	grep -cE '"waker": "mutex".*"sym": "give_up".*"comm": "mutex"' "$TMPDIR/o-j" | awk '{ print ($1 > 0) }'
	head -n 1 "$TMPDIR/o--csv"
	awk '/^mutex,"/ { own = 1; gave = 0 } own && /give_up/ { gave = 1 } gave && /",mutex,[0-9]+$/ { n++ } /",[^"]*,[0-9]+$/ { own = 0 } END { print (n > 0) }' "$TMPDIR/o--csv"
NEEDS slow prog:mutex tp:sched/sched_waking dwunwind
TIMEOUT 60
EXPECT
	1
	1
	waker,kstack,ustack,comm,total_ns
	1

NAME offwaketime: both ends of a wait
RUN
	"$SONDE" offwaketime -U -n mutex -f >"$TMPDIR/out" 2>"$TMPDIR/err" & p=$!
	until_written "$TMPDIR/err"
	build/tests/mutex
	kill -INT $p
	wait $p
	sed 's/ [0-9]*$//' "$TMPDIR/out" |
		sed -n 's/^mutex;.*;wait_for_it.*;mutex;.*;main;give_up.*/the thread waited until main gave up/p' | uniq
NEEDS prog:mutex tp:sched/sched_waking dwunwind
TIMEOUT 60
EXPECT
	the thread waited until main gave up

NAME offcputime: who gave up the lock
RUN
	"$SONDE" offcputime --waker -U -n mutex -f >"$TMPDIR/out" 2>"$TMPDIR/err" & p=$!
	until_written "$TMPDIR/err"
	build/tests/mutex
	kill -INT $p
	wait $p
	sed 's/ [0-9]*$//' "$TMPDIR/out" |
		sed -n 's/^mutex;.*;wait_for_it.*;mutex;.*;main;give_up.*/the thread waited until main gave up/p' | uniq
NEEDS prog:mutex tp:sched/sched_waking dwunwind
TIMEOUT 60
EXPECT
	the thread waited until main gave up

NAME numasched: no moves between nodes on a machine of one
RUN tool_sees 'taskset -c 0 true' numasched --fields comm,from_node,to_node; "$SONDE" numasched -qj -d 100ms -c none; "$SONDE" numasched -q -d 100ms --csv -p $$
NEEDS cmd:taskset btf
EXPECT
	COMM             SRC_NID DST_NID
	time,pid,tid,from_node,to_node,comm

NAME criticalstat, cpufreq, llcstat: what this machine does not tell
RUN
	"$SONDE" criticalstat 2>&1 | grep -o 'this kernel does not tell when interrupts are off'
	"$SONDE" cpufreq -d 100ms 2>&1 | grep -o "no CPU's frequency was set"
	"$SONDE" llcstat -d 100ms 2>&1 | grep -o 'this machine has no such counter'
	"$SONDE" cpufreq -qj -P -n none -d 100ms 2>/dev/null | grep -v warnf
	"$SONDE" cpufreq -q --csv -d 100ms 2>/dev/null
NEEDS nohardware tp:power/cpu_frequency
EXPECT
	this kernel does not tell when interrupts are off
	no CPU's frequency was set
	this machine has no such counter
	mhz_min,mhz_max,mhz_count

NAME llcstat: a program that needs memory
RUN
	"$SONDE" llcstat -q -c 100 --fields comm,references -d 1 | grep -cE '^[^ ].* +[1-9][0-9]*00$' |
		sed 's/^[1-9][0-9]*$/some/'
	"$SONDE" llcstat -qj -d 100ms -p $$ | grep -o '"table": "totals"'
	"$SONDE" llcstat -q --csv -d 100ms | head -n 1
NEEDS hardware
EXPECT
	some
	"table": "totals"
	pid,comm,cpu,references,misses

NAME cpuunclaimed: one CPU has too much, another nothing
RUN
	see() { tool_sees 'spins=; for i in 1 2 3; do taskset -c 0 build/tests/spin 300 & spins="$spins $!"; done; wait $spins' cpuunclaimed 100ms "$@"; }
	see --fields busy_ratio,unclaimed_ratio,idle_ratio >"$TMPDIR/o"; head -n 1 "$TMPDIR/o"; awk '$1 + $2 + $3 > 99.9 && $1 + $2 + $3 < 100.1 && $1 > 0 { n++ } END { print (n > 0) }' "$TMPDIR/o"
	see -j --fields looks | grep -c '"looks": [1-9]' | sed 's/^[1-9][0-9]*$/some/'
	see --csv --fields busy_ratio,unclaimed_ratio,idle_ratio |
		awk -F, 'NR == 1 { print } NR > 1 && $1 > 0 && $1 + $2 + $3 > 0.999 && $1 + $2 + $3 < 1.001 { n++ } END { print (n > 0) }'
NEEDS slow cmd:taskset btf prog:spin sym:runqueues sym:__per_cpu_offset
TIMEOUT 40
EXPECT
	     %CPU  %UNCLAIMED     %IDLE
	1
	some
	busy_ratio,unclaimed_ratio,idle_ratio
	1

NAME kvmexit: no machine runs
RUN for f in '' -j --csv; do "$SONDE" kvmexit -q $f -d 100ms -p $$; done; "$SONDE" --dry-run kvmexit -a && echo loads
NEEDS tp:kvm/kvm_exit
EXPECT
	pid,reason,number,exits,avg_ns,total_ns
	loads

NAME kvmexit: a machine that writes to a port
RUN
	for f in '' -j --csv; do
		tool_sees 'sh -c "echo \$\$ >$TMPDIR/pid; exec build/tests/machine 100" >/dev/null' kvmexit $f --fields pid,reason,exits >"$TMPDIR/o"
		read -r pid <"$TMPDIR/pid"; sed -nE "s/\<$pid\>/PID/; s/IOIO|IO_INSTRUCTION/IO/; s/  +/ /g; /PID.*(IO|HLT)|reason,/p" "$TMPDIR/o"
	done
	for v in 0 7; do tool_sees 'build/tests/machine 100 >/dev/null' kvmexit -v $v --csv --fields reason,exits | grep -cE '^(IOIO|IO_INSTRUCTION),100'; done; true
NEEDS vm tp:kvm/kvm_exit file:/dev/kvm prog:machine
TIMEOUT 30
EXPECT
	PID IO 100
	{"type": "row", "table": "exits", "pid": PID, "reason": "IO", "exits": 100}
	pid,reason,exits
	PID,IO,100
	1
	0

NAME numasched: a thread that goes to another node and back
RUN
	build/tests/spin 60000 & p=$!
	load='for cpu in 1 0 1; do taskset -cp $cpu $p >/dev/null; sleep 0.3; done'
	taskset -cp 0 $p >/dev/null
	see() { tool_sees "$load" numasched -p $p "$@" | tail -n 1 | tr -s ' '; }
	see --fields comm,from_node,to_node; see -j --fields from_node,to_node; see --csv --fields from_node,to_node
	kill $p
NEEDS vm slow btf prog:spin cmd:taskset file:/sys/devices/system/node/node1/cpulist
TIMEOUT 60
EXPECT
	spin 0 1
	{"type": "event", "table": "moves", "from_node": 0, "to_node": 1}
	0,1

# Of two programs one runs in the group; a thread that wakes others need not.
NAME offcputime, wakeuptime, runqlat, runqslower, cpudist: threads of a control group
RUN m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1); d=$m/sonde-$$; mkdir "$d" "$d/below"
	do_both='sh -c "echo \$\$ >$d/below/cgroup.procs; exec sleep 0.05"; build/tests/spin 10 50'
	for t in 'offcputime -U' 'wakeuptime --fields comm' 'runqlat -P' 'runqslower 0' 'cpudist -P'; do
		tool_sees "$do_both" $t --cgroup "$d" >"$TMPDIR/o"; tool_sees "$do_both" $t >"$TMPDIR/all"
		for n in sleep spin; do grep -q "\<$n\>" "$TMPDIR/o" && echo "${t%% *}: $n"; grep -q "\<$n\>" "$TMPDIR/all" || echo "no $n"; done
	done
	"$SONDE" runqlat --cgroup "$d/none" 2>&1 | sed "s,$d,DIR,; s, (nor .*,,; 1q"; rmdir "$d/below" "$d"
EXPECT
	offcputime: sleep
	wakeuptime: sleep
	runqlat: sleep
	runqslower: sleep
	cpudist: sleep
	ERROR: --cgroup: control group DIR/none does not exist
NEEDS slow btf prog:spin tp:sched/sched_switch file:/sys/fs/cgroup
TIMEOUT 30

NAME hardirqs and softirqs: what interrupts a control group, and one of nobody
RUN m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1); d=$m/sonde-$$; mkdir "$d" "$d/busy" "$d/empty"
	spins=; for c in 0 1; do sh -c "echo \$\$ >$d/busy/cgroup.procs; exec taskset -c $c build/tests/spin 600000" & spins="$spins $!"; done
	while [ -d "$d" ]; do dd if=/dev/zero of="$TMPDIR/data" bs=4096 count=10 oflag=dsync; ls -l tests/run; done >/dev/null 2>&1 & load=$!
	for t in hardirqs softirqs; do for g in busy empty; do
		"$SONDE" $t -q -C --csv --cgroup "$d/$g" --duration ${TEST_SLOW:-1} | grep -cE ',[1-9][0-9]*$' | sed "s/^[1-9][0-9]*\$/some/; s/^/$t $g: /"
	done; done
	kill $load $spins; wait $spins; rmdir "$d/busy" "$d/empty" "$d"
EXPECT
	hardirqs busy: some
	hardirqs empty: 0
	softirqs busy: some
	softirqs empty: 0
NEEDS tp:irq/irq_handler_entry prog:spin cmd:taskset file:/sys/fs/cgroup
TIMEOUT 40

NAME --cpu: where threads wait and run, samples, interrupts
RUN
	cp build/tests/spin "$TMPDIR/on0" # other cases run spin, too
	both='taskset -c 0 "$TMPDIR/on0" 100 & a=$!; taskset -c 0 "$TMPDIR/on0" 100; wait $a'
	for t in 'runqlat -P' 'runqslower 100us' 'cpudist -P'; do for c in 0,0-0 1; do echo "$t --cpu $c: $(tool_sees "$both" $t --cpu $c | grep -c on0 | sed 's/^[1-9][0-9]*$/some/')"; done; done
	"$SONDE" runqlen -q -C --csv --cpu 0 1 1 | cut -d , -f 1 | sort -u
	"$SONDE" cpuwalk -q --csv --fields cpu --cpu 0 1 1
	"$SONDE" softirqslower -q --csv --fields cpu -c 0 -d ${TEST_SLOW:-1} 1ns | sort -u
	for t in hardirqs softirqs wqlat; do "$SONDE" -d types $t --cpu 1 | grep -A 1 'name cpu ' | grep -c 'num 1 '; for c in x 0,4000; do "$SONDE" $t --cpu $c 2>&1 | head -n 1; done; done
NEEDS prog:spin cmd:taskset btf
TIMEOUT 60
EXPECT
	runqlat -P --cpu 0,0-0: some
	runqlat -P --cpu 1: 0
	runqslower 100us --cpu 0,0-0: some
	runqslower 100us --cpu 1: 0
	cpudist -P --cpu 0,0-0: some
	cpudist -P --cpu 1: 0
	0
	cpu
	cpu
	0
	0
	cpu
	1
	ERROR: --cpu needs numbers with commas between them (got 'x')
	ERROR: --cpu needs CPUs that this machine has (got '4000')
	1
	ERROR: --cpu needs numbers with commas between them (got 'x')
	ERROR: --cpu needs CPUs that this machine has (got '4000')
	1
	ERROR: --cpu needs numbers with commas between them (got 'x')
	ERROR: --cpu needs CPUs that this machine has (got '4000')

NAME profile: a summary by function first, of so many; stacks by samples, the largest first
RUN
	"$SONDE" profile -q -U -n spin --functions 1 -- build/tests/spin 400 | awk '/SELF/ { s = NR } /busy \(spin\)/ { b = NR } /COMM/ { c = NR; exit } END { print s, b, c }'
	"$SONDE" profile -q --functions 0 -- build/tests/spin 200 | sed -n '1s/  */ /p'
	"$SONDE" profile -q -- build/tests/spin 300 | awk '/^[a-z].* [0-9]+$/ { if (n && $NF > n) print "not sorted"; n = $NF; m++ } END { print (m ? "some" : m) }'
NEEDS prog:spin
TIMEOUT 30
EXPECT
	1 2 4
	COMM SAMPLES
	some

NAME offcputime, wakeuptime: a summary by function first, without the scheduler; the largest stack first
RUN
	shown() { awk -v f="$1" '/SELF\(us\)/ { s = NR } !w && $5 == f && $1 > 0 { w = NR } /schedule|try_to_wake_up/ && !c { bad = 1 } /^[A-Z]+ .*TIME\(us\)/ { c = NR } c && /^[a-z].* [0-9]+$/ { if (n && $NF > n) bad = 2; n = $NF; m++ } END { print (s == 1), (w > s && w < c), bad + 0, (m > 0) }'
	}
	"$SONDE" offcputime -q -- build/tests/spin 10 300 | shown do_nanosleep
	"$SONDE" offcputime -q --functions 0 -- build/tests/spin 10 300 | head -n 1 | sed 's/  */ /; s/(.*//'
	"$SONDE" offcputime -q -s --functions 0 -- build/tests/spin 10 300 | grep -cE '^[[:space:]]+[0-9a-f]+ do_nanosleep\+[0-9]+$' | awk '{ print ($1 > 0) }'
	tool_sees build/tests/mutex wakeuptime -n mutex >"$TMPDIR/o"; shown futex_wake <"$TMPDIR/o"
NEEDS prog:spin prog:mutex tp:sched/sched_waking
TIMEOUT 60
EXPECT
	1 1 0 1
	COMM TIME
	1
	1 1 0 1

NAME offcputime -U: the summary has the function of the program that waits
RUN
	"$SONDE" offcputime -q -U -- build/tests/spin 10 300 | grep -m 1 -o 'usleep (.*'
NEEDS prog:spin tp:sched/sched_switch dwunwind
TIMEOUT 60
EXPECT
	usleep (spin)
