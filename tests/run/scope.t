# Which processes are traced: -p, --follow, --cgroup, --container, pid namespaces.

NAME several -p
RUN
	build/tests/syscalls 3 getppid 1500 & a=$!
	build/tests/syscalls 5 getppid 1500 & b=$!
	build/tests/syscalls 7 getppid 1500 & "$SONDE" -q -p $a -p $b -e 'tracepoint:syscalls:sys_enter_getppid { @ = count(); }'
	wait
NEEDS prog:syscalls tp:syscalls/sys_enter_getppid
EXPECT
	$
	$
	@: 8

NAME processes as a list end the trace when the last one ends
RUN
	build/tests/syscalls 3 getppid $((1800 * ${TEST_SLOW:-1})) & a=$!
	build/tests/syscalls 5 getppid $((900 * ${TEST_SLOW:-1})) & "$SONDE" -q -p $a,$! -e 'tracepoint:raw_syscalls:sys_enter /syscall_name(args.id) == "getppid"/ { @ = count(); }
		interval:s:60 { print("late"); }'
	wait
NEEDS prog:syscalls tp:raw_syscalls/sys_enter
EXPECT
	$
	$
	@: 8

NAME more processes than are compared one by one
RUN
	l=
	for i in 1 2 3 4 5 6 7 8 9 10
	do build/tests/syscalls $i getppid 2500 & l=$l,$!
	done
	build/tests/syscalls 50 getppid 2500 & "$SONDE" -q -p ${l#,} -e 'tracepoint:syscalls:sys_enter_getppid { @ = count(); }'
	wait
NEEDS prog:syscalls tp:syscalls/sys_enter_getppid
EXPECT
	$
	$
	@: 55

NAME user probes and perf events attach to each process
RUN
	D=$((1500 * ${TEST_SLOW:-1}))
	build/tests/spin $((100 * ${TEST_SLOW:-1})) 0 $D & a=$!
	build/tests/spin $((100 * ${TEST_SLOW:-1})) 0 $D & b=$!
	build/tests/spin $((100 * ${TEST_SLOW:-1})) 0 $D & "$SONDE" -q -p $a,$b -e 'uprobe:build/tests/spin:busy { @u[pid] = count(); }
		software:cpu-clock:1000000 { @c[pid] = count(); } profile:hz:99 { @p[pid] = count(); } ' | sed '/^$/d; s/\[.*//' |
		uniq -c | tr -s " "
	wait
NEEDS prog:spin uprobe
EXPECT
	 2 @c
	 2 @p
	 2 @u

NAME children are followed
RUN
	"$SONDE" -q --follow -c 'sh -c "for i in 1 2 3 4 5 6 7 8 9 10; do build/tests/syscalls 3 lseek & done; (sleep 0.5; build/tests/syscalls 4 lseek) & build/tests/syscalls 5 lseek"' -e 'tracepoint:syscalls:sys_enter_lseek /comm == "syscalls"/ { @ = count(); }'
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek
EXPECT
	$
	$
	@: 39

NAME without --follow they are others
RUN build/tests/syscalls 2 lseek 1500 & "$SONDE" -q -p $! -e 'tracepoint:syscalls:sys_enter_lseek { @ = count(); }' & sh -c 'sleep 0.7; build/tests/syscalls 5 lseek'; wait
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek
EXPECT
	$
	$
	@: 2

NAME children of -p, from its next fork on
RUN
	sh -c 'build/tests/syscalls 50 lseek 700 & sleep 1.5; for i in 1 2 3; do build/tests/syscalls 3 lseek; done; :' & "$SONDE" -q --follow -p $! -e 'tracepoint:syscalls:sys_enter_lseek /comm == "syscalls"/ { @[args.offset] = count(); }
		interval:s:60 { print("late"); }'
	wait
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek
TIMEOUT 15
EXPECT
	$
	$
	@[0]: 3
	@[1]: 3
	@[2]: 3

NAME user probes and perf events of children
RUN
	"$SONDE" -q --follow -c 'sh -c "build/tests/spin 50 300; build/tests/spin 50 300 & wait"' -e 'uprobe:build/tests/spin:busy { @u[pid] = count(); }
		uretprobe:build/tests/spin:busy { @r[pid] = count(); }
		software:cpu-clock:1000000 /comm == "spin"/ { @c[pid] = count(); }
		profile:hz:199 /comm == "spin"/ { @p[pid] = count(); } ' | sed '/^$/d; s/\[.*//' | uniq -c | tr -s " "
NEEDS prog:spin uprobe
EXPECT
	 2 @c
	 2 @p
	 2 @r
	 2 @u

NAME children that do not fit are told
RUN BPFTRACE_MAX_FOLLOWED=1 "$SONDE" -q --follow -c 'sh -c "build/tests/syscalls 3; build/tests/syscalls 3; true"' -e 'tracepoint:syscalls:sys_enter_lseek /comm == "syscalls"/ { @ = count(); }' 2>&1
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek
EXPECT
	$
	$
	WARNING: 2 child processes were not followed: there is room for 1; allow more: BPFTRACE_MAX_FOLLOWED=8

NAME following with untyped programs
RUN
	"$SONDE" -q --no-feature TP_BTF --follow -c 'sh -c "build/tests/threads 3; build/tests/syscalls 3 lseek & build/tests/syscalls 5 lseek"' -e 'tracepoint:syscalls:sys_enter_lseek /comm == "syscalls"/ { @ = count(); }'
NEEDS prog:syscalls prog:threads tp:syscalls/sys_enter_lseek
EXPECT
	$
	$
	@: 8

NAME following without BTF
RUN
	"$SONDE" -q --no-feature BTF --follow -c 'sh -c "build/tests/threads 3; build/tests/syscalls 3 lseek & build/tests/syscalls 5 lseek"' -e 'tracepoint:syscalls:sys_enter_lseek /comm == "syscalls"/ { @ = count(); }'
NEEDS prog:syscalls prog:threads tp:syscalls/sys_enter_lseek
EXPECT
	$
	$
	@: 8

NAME --follow needs processes
RUN "$SONDE" --follow -e 'BEGIN { }' 2>&1; echo $?
EXPECT
	ERROR: --follow needs processes to begin with: -p or -c
	1

NAME a control group and those below it
RUN
	d=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)/sonde_$$
	mkdir -p $d/in
	build/tests/syscalls 3 lseek 1500 & echo $! >$d/cgroup.procs
	build/tests/syscalls 4 lseek 1500 & echo $! >$d/in/cgroup.procs
	build/tests/syscalls 9 lseek 1500 & timeout -s INT 3 "$SONDE" -q --cgroup $d -e 'tracepoint:syscalls:sys_enter_lseek { @ = count(); }'
	timeout -s INT 1 "$SONDE" -q --cgroup $d/in --cgroup ${d##*/} -e 'BEGIN { print(1); }
		tracepoint:syscalls:sys_enter_lseek { @ = count(); }'
	wait
	rmdir $d/in $d
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek file:/sys/fs/cgroup
TIMEOUT 20
EXPECT
	$
	$
	@: 7
	1
	$
	$

NAME user probes and perf events in a control group
RUN
	d=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)/sonde_$$
	mkdir $d
	build/tests/spin $((100 * ${TEST_SLOW:-1})) 0 $((1500 * ${TEST_SLOW:-1})) & a=$!
	echo $a >$d/cgroup.procs
	build/tests/spin $((100 * ${TEST_SLOW:-1})) 0 $((1500 * ${TEST_SLOW:-1})) & timeout -s INT $((2 * ${TEST_SLOW:-1})) "$SONDE" -q --cgroup $d -e 'uprobe:build/tests/spin:busy { @u[pid] = count(); }
		software:cpu-clock:1000000 { @c[pid] = count(); } profile:hz:99 { @p[pid] = count(); } ' | sed '/^$/d; s/\[.*//' |
		uniq -c | tr -s " "
	wait
	rmdir $d
NEEDS prog:spin uprobe file:/sys/fs/cgroup
EXPECT
	 1 @c
	 1 @p
	 1 @u

NAME -p inside a pid namespace
RUN
	unshare --pid --fork --mount-proc sh -c 'build/tests/syscalls 3 lseek 1500 & a=$!; build/tests/syscalls 5 lseek 1500 & "$SONDE" -q -p $a -e "tracepoint:syscalls:sys_enter_lseek { @[pid == $a, pid == tid] = count(); }"; wait'
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek
EXPECT
	$
	$
	@[true, true]: 3

NAME --follow inside a pid namespace
RUN
	unshare --pid --fork --mount-proc sh -c '"$SONDE" -q --follow -c "sh -c \"build/tests/syscalls 3 lseek & build/tests/syscalls 5 lseek\"" -e "tracepoint:syscalls:sys_enter_lseek /comm == \"syscalls\"/ { @[pid < 50] = count(); }"'
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek
EXPECT
	$
	$
	@[true]: 8

NAME a process of an inner pid namespace, from another one
RUN
	unshare --pid --fork --mount-proc sh -c 'unshare --pid --fork build/tests/syscalls 3 lseek 1500 & build/tests/syscalls 5 lseek 1500 & sleep 0.5; for d in /proc/[0-9]*; do [ "$(sed -n "s/NSpid:.[0-9]*.\([0-9]\)/\1/p" $d/status)" = 1 ] && in=${d#/proc/}; done; "$SONDE" -q -p $in -e "tracepoint:syscalls:sys_enter_lseek { @ = count(); }"; wait'
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek
EXPECT
	$
	$
	@: 3

NAME ids of processes in inner pid namespaces are those of the tracer's own; others have none
RUN
	build/tests/syscalls 9 lseek 2000 &
	unshare --pid --fork --mount-proc sh -c 'build/tests/syscalls 2 lseek 1500 & unshare --pid --fork build/tests/syscalls 3 lseek 1500 &
		unshare --pid --fork unshare --pid --fork build/tests/syscalls 4 lseek 1500 &
		sleep 0.5; grep -l syscalls /proc/[0-9]*/comm | wc -l
		"$SONDE" -q -e "tracepoint:syscalls:sys_enter_lseek /comm == \"syscalls\"/ { @[pid] = count(); @same = min(pid == tid); } interval:s:$((2 * ${TEST_SLOW:-1})) { exit(); }" |
		while read id n; do [ "$id" = "@[0]:" ] && n=outside; id=${id#@[}; grep -qs syscalls /proc/${id%]:}/comm && echo gone; echo $n; done | grep . | sort; wait'
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek btf
EXPECT
	3
	1
	2
	3
	4
	outside

NAME a process that does not exist
RUN "$SONDE" -p 1,4194303 -e 'interval:s:1 { }' 2>&1; echo $?
EXPECT
	ERROR: Failed to attach to pid: open pidfd of process 4194303: No such process
	1

NAME a thread is no process
RUN build/tests/waiters 2 & p=$!; sleep 0.2; t=$(ls /proc/$p/task | tail -n 1); "$SONDE" -p $t -e 'interval:s:1 { }' 2>&1 | sed "s/$t/TID/; s/$p/PID/g"; wait
NEEDS prog:waiters
EXPECT
	ERROR: Failed to attach to pid: TID is a thread of process PID, and processes are traced: -p PID

NAME -p takes numbers
RUN for p in '' 1,x 1,,2 0 99999999; do "$SONDE" -p "$p" -e 'BEGIN { }' 2>&1 | head -n 1; done
EXPECT
	ERROR: Failed to parse pid: it is empty
	ERROR: Failed to parse pid: invalid integer: x
	ERROR: Failed to parse pid: it is empty
	ERROR: Failed to parse pid: 0 is out of range (1 to 4194304)
	ERROR: Failed to parse pid: 99999999 is out of range (1 to 4194304)

NAME control groups that are none
RUN
	v1=$(sed -n 's/^cgroup \([^ ]*\) cgroup .*/\1/p' /proc/mounts | head -n 1)
	for c in /nope /proc /etc/passwd $v1
	do "$SONDE" --cgroup $c -e 'BEGIN { }' 2>&1 | sed "s,$v1,V1,; s/(.*//; s/;.*//"
	done
NEEDS file:/sys/fs/cgroup/cpu
EXPECT
	ERROR: --cgroup: control group /nope does not exist 
	ERROR: --cgroup: /proc is not a control group 
	ERROR: --cgroup: /etc/passwd is not a control group: it is no directory
	ERROR: --cgroup: V1 is a control group of version 1

NAME a container by its control group
RUN
	m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)
	id=5d0ce$$
	while [ ${#id} -lt 64 ]
	do id=${id}0
	done
	d=$m/docker-$id.scope
	mkdir $d
	build/tests/syscalls 3 lseek 1500 & echo $! >$d/cgroup.procs
	build/tests/syscalls 9 lseek 1500 & timeout -s INT 3 "$SONDE" -q --container 5d0ce$$ -e 'tracepoint:syscalls:sys_enter_lseek { @ = count(); }'
	wait
	rmdir $d
NEEDS prog:syscalls tp:syscalls/sys_enter_lseek file:/sys/fs/cgroup
EXPECT
	$
	$
	@: 3

NAME all_processes: one probe of a script fires for all, the others for those of the command
NEEDS tp:syscalls/sys_enter_write
RUN
	(while :; do echo; sleep 0.01; done) > /dev/null & p=$!
	"$SONDE" -q --follow -c '/bin/sh -c "while :; do echo; done > /dev/null"' -e 'tracepoint:syscalls:sys_enter_write /all_processes && pid != cpid/ { @other = true; }
		tracepoint:syscalls:sys_enter_write /pid != cpid/ { @filtered[0] = true; }
		tracepoint:syscalls:sys_enter_write { @own++; } interval:ms:50 /@other && @own > 10/ { exit(); }
		end { printf("%d %d\n", @other, has_key(@filtered, 0)); clear(@other); clear(@own); clear(@filtered) }' | grep .
	kill $p
EXPECT 1 0

NAME watched(): the processes of -p and -c, also those that are not the current one
RUN
	for o in '' --follow
	do "$SONDE" -q $o -c '/bin/sh -c "/bin/sleep 0.05; true"' -e 'rawtracepoint:sched_wakeup_new /watched(args.p.tgid)/ { @new[args.p.tgid == cpid] = true; }
		tracepoint:sched:sched_switch /watched()/ { @left[comm == "sleep"] = true; }
		end { printf("%d %d\n", has_key(@new, false), has_key(@left, true)); clear(@new); clear(@left); }' | grep .
	done
	for p in 2 3 4 5 6 7 8 9 10 11; do build/tests/syscalls $p lseek 1200 & ps="$ps,$!"; done; sleep 0.3
	"$SONDE" -q -p "${ps#,}" -e 'tracepoint:syscalls:sys_enter_lseek /watched()/ { @w = count(); } tracepoint:syscalls:sys_enter_lseek /watched(pid)/ { @p = count(); }'; wait
	"$SONDE" -q -e 'begin { print((watched(), watched(1))); exit(); }' | grep .
NEEDS btf prog:syscalls tp:syscalls/sys_enter_lseek tp:sched/sched_switch
EXPECT
	0 0
	1 1
	$
	$
	@p: 65
	@w: 65
	(true, true)
