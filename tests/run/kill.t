# How a trace ends when it is not by itself. Maps carry the names of the cases, so that what is left
# in the kernel can be told from what others have there: a program that is attached keeps its maps.

NAME killed, nothing stays attached
RUN
	build/tests/semaphore 8000 >$TMPDIR/sem & p=$!
	build/tests/spin 4000 4000 & q=$!
	"$SONDE" -p $p,$q -e 'begin { printf("%d\n", pid); }
		usdt:build/tests/semaphore:semtest:probe { @kill9_a = count(); }
		uprobe:build/tests/spin:busy { @kill9_a = count(); } uretprobe:build/tests/spin:busy { @kill9_a = count(); }
		uprobe:libc:malloc { @kill9_a = count(); } tracepoint:syscalls:sys_enter_getppid { @kill9_a = count(); }
		rawtracepoint:sched_switch { @kill9_a = count(); } software:cpu-clock:1000000 { @kill9_a = count(); }
		profile:hz:99 { @kill9_a = count(); } watchpoint:0x1000:8:rw { @kill9_a = count(); }' >$TMPDIR/out 2>&1 & s=$!
	until_attached $TMPDIR/out
	bpftool map | grep -c kill9_a
	kill -9 $s
	wait $p
	cat $TMPDIR/sem
	i=0
	while bpftool map | grep -q kill9_a && [ $((i += 1)) -lt 50 ]
	do sleep 0.1
	done
	bpftool map | grep -c kill9_a
	grep -c "sonde_${s}_" /sys/kernel/tracing/uprobe_events
	kill $q
	wait
	:
NEEDS prog:semaphore prog:spin uprobe file:/usr/sbin/bpftool
TIMEOUT 25
EXPECT
	1
	on
	off
	0
	0

NAME killed with probes of the kernel
RUN
	"$SONDE" -e 'begin { printf("%d\n", pid); } kprobe:vfs_read { @kill9_b = count(); }
		kretprobe:vfs_read { @kill9_b = count(); } kretprobe:vfs_write { @kill9_b = count(); }
		kprobe:vfs_rea* { @kill9_b = count(); } fentry:vfs_read { @kill9_b = count(); }
		fexit:vfs_read { @kill9_b = count(); } ' >$TMPDIR/out 2>&1 & s=$!
	until_attached $TMPDIR/out
	bpftool map | grep -c kill9_b
	kill -9 $s
	i=0
	while bpftool map | grep -q kill9_b && [ $((i += 1)) -lt 50 ]
	do sleep 0.1
	done
	bpftool map | grep -c kill9_b
	i=0
	while grep -q "sonde_${s}_" /sys/kernel/tracing/kprobe_events && [ $((i += 1)) -lt 50 ]
	do sleep 0.1
	done
	grep -c "sonde_${s}_" /sys/kernel/tracing/kprobe_events
	bpftool prog | grep -c "name [kf][a-z]*_vfs_"
	:
NEEDS fentry vm file:/usr/sbin/bpftool
TIMEOUT 30
EXPECT
	1
	0
	0
	0

NAME killed while it follows children
RUN
	"$SONDE" --follow -c 'build/tests/spin 3000 3000' -e 'tracepoint:syscalls:sys_enter_getppid { @kill9_c = count(); }' >$TMPDIR/out 2>&1 & s=$!
	until_attached $TMPDIR/out
	kill -9 $s
	i=0
	while bpftool map | grep -q kill9_c && [ $((i += 1)) -lt 50 ]
	do sleep 0.1
	done
	bpftool map | grep -c kill9_c
	:
NEEDS prog:spin tp:syscalls/sys_enter_getppid file:/usr/sbin/bpftool
TIMEOUT 20
EXPECT
	0

NAME signals end with results
RUN
	for sig in INT TERM HUP
	do "$SONDE" -q -e 'BEGIN { @ = 7; printf("%d\n", pid); } interval:s:8 { print("late"); }' >$TMPDIR/$sig 2>&1 & s=$!
	until_written $TMPDIR/$sig
	kill -$sig $s
	wait $s
	echo "$sig $?"
	tail -n +2 $TMPDIR/$sig | grep .
	done
TIMEOUT 20
EXPECT
	INT 0
	@: 7
	TERM 0
	@: 7
	HUP 0
	@: 7

NAME nohup is respected
RUN
	(trap '' HUP
	"$SONDE" -q -e 'BEGIN { printf("%d\n", pid); }
		interval:ms:1500 { print("on time"); exit(); }' >$TMPDIR/out 2>&1) & until_written $TMPDIR/out
	read -r s <$TMPDIR/out
	kill -HUP $s
	wait
	tail -n +2 $TMPDIR/out | grep .
TIMEOUT 15
EXPECT
	on time

NAME a command ignores the signals that sonde was called to ignore, no others
RUN trap '' HUP INT; ignored=$("$SONDE" -q -e 'interval:s:60 { }' -c 'sed -n s/SigIgn:.0*/0x0/p /proc/self/status'); echo $((ignored & 0x1003))
EXPECT
	3

NAME the reader leaves
RUN timeout 8 "$SONDE" -q -e 'interval:ms:10 { printf("tick\n"); }' | head -n 2; timeout 8 "$SONDE" -q -f json -e 'interval:ms:10 { printf("tick\n"); }' | head -n 1
TIMEOUT 20
EXPECT
	tick
	tick
	{"type": "printf", "data": "tick\n"}

NAME a closed standard output is nobody's file
RUN "$SONDE" -q -e 'begin { @ = 1; printf("text\n"); }' 2>&1 >&-; echo $?; "$SONDE" -q -e 'begin { @ = 1; }' <&- >&- 2>&-; echo $?
EXPECT
	ERROR: write output: Bad file descriptor
	1
	1

NAME a pipe that nobody reads does not keep sonde
RUN
	mkfifo $TMPDIR/f
	exec 3<>$TMPDIR/f
	for sig in INT TERM
	do for to in err fifo
	do [ $to = fifo ] && exec 4>$TMPDIR/f || exec 4>$TMPDIR/$to
	"$SONDE" -q -e 'BEGIN { print(1); } interval:us:500 { printf("%2000d\n", 1); }
		END { printf("end\n"); }' >$TMPDIR/f 2>&4 & s=$!
	sleep 2
	t=$(date +%s%N)
	kill -$sig $s
	wait $s
	echo "$sig $? $(( ($(date +%s%N) - t) / 1000000000 ))"
	done
	done
	sed 's/[0-9][0-9][0-9]*/N/' $TMPDIR/err
TIMEOUT 30
EXPECT
	INT 1 0
	INT 1 0
	TERM 1 0
	TERM 1 0
	ERROR: write output: N bytes were lost, because nobody reads it
NEEDS fast

NAME a pipe that is read again gets everything
RUN
	mkfifo $TMPDIR/f
	exec 3<>$TMPDIR/f
	"$SONDE" -q -e 'BEGIN { for $i : 0..300 { printf("%1000d\n", $i); } exit(); }' >$TMPDIR/f 2>$TMPDIR/err 3<&- & s=$!
	sleep 1
	grep -c '[0-9]$' <$TMPDIR/f >$TMPDIR/got 3<&- & r=$!
	exec 3<&-
	wait $s
	echo $?
	wait $r
	cat $TMPDIR/got
	cat $TMPDIR/err
TIMEOUT 30
EXPECT
	0
	300

NAME commands of system() do not outlast a signal
RUN
	for sig in INT TERM
	do "$SONDE" -q --unsafe -e 'BEGIN { printf("go\n"); for $i : 0..100 { system("sleep 1; echo %d", $i); } }
		END { system("sleep 1; echo end"); }' >$TMPDIR/out 2>$TMPDIR/err & s=$!
	sleep 1.5
	t=$(date +%s%N)
	kill -$sig $s
	wait $s
	echo "$sig $? $(( ($(date +%s%N) - t) / 1000000 < 2000 ))"
	grep . $TMPDIR/out
	tail -n 1 $TMPDIR/err
	done
TIMEOUT 30
EXPECT
	INT 0 1
	go
	0
	end
	WARNING: 98 shell commands came after the signal to end, and were not run
	TERM 0 1
	go
	0
	end
	WARNING: 98 shell commands came after the signal to end, and were not run
NEEDS fast

NAME the child is killed
RUN
	"$SONDE" -q -c 'build/tests/spin 8000 8000' -e 'BEGIN { printf("%d\n", cpid); @ = 3; }
		 interval:s:8 { print("late"); }' >$TMPDIR/out 2>&1 & until_written $TMPDIR/out
	sleep 0.2
	read -r c <$TMPDIR/out
	echo "$c" | tr 0-9 n | cut -c 1
	kill -9 $c
	wait $!
	echo $?
	tail -n +2 $TMPDIR/out | grep .
NEEDS prog:spin
TIMEOUT 15
EXPECT
	n
	0
	@: 3

NAME a child that ends at once
RUN
	"$SONDE" -q -c true -e 'tracepoint:raw_syscalls:sys_exit /pid == cpid/ { @ = count(); } end { print(@ > 5); clear(@); }'
	"$SONDE" -q --follow -c false -e 'tracepoint:raw_syscalls:sys_exit { @ = count(); } end { print(@ > 5); clear(@); }'
NEEDS tp:raw_syscalls/sys_exit
EXPECT
	true
	$
	$
	true
	$
	$

NAME commands that cannot be run
RUN
	echo text >$TMPDIR/text
	printf '#!/nope\n' >$TMPDIR/script
	echo '' >$TMPDIR/empty
	chmod +x $TMPDIR/script $TMPDIR/empty
	head -c 200 /dev/zero >$TMPDIR/zero
	chmod +x $TMPDIR/zero
	for c in /nope nope $TMPDIR/text /tmp '' "'open" $TMPDIR/script $TMPDIR/zero
	do "$SONDE" -q -c "$c" -e 'interval:s:9 { }' 2>&1 | sed "s,$TMPDIR,TMP,g"
	done
EXPECT
	ERROR: Failed to fork child: Path '/nope' does not exist or is not executable (No such file or directory)
	ERROR: Failed to fork child: Path 'nope' does not exist or is not executable (not in $PATH)
	ERROR: Failed to fork child: Path 'TMP/text' does not exist or is not executable (it has no execute permission)
	ERROR: Failed to fork child: Path '/tmp' does not exist or is not executable (not a regular file)
	ERROR: Failed to fork child: the command is empty
	ERROR: Failed to fork child: a quote is not closed in the command: 'open
	ERROR: start the command TMP/script (the interpreter that its first line or its header names is not there): No such file or directory
	ERROR: start the command TMP/zero (neither a program for this machine, nor a script that begins with #!): Exec format error

NAME a child that becomes another user
RUN
	"$SONDE" -q -c "/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups build/tests/spin $((100 * ${TEST_SLOW:-1}))" -e 'uprobe:build/tests/spin:busy { @u[uid] = count(); }
		software:cpu-clock:1000000 /comm == "spin"/ { @c[uid] = count(); }
		profile:hz:199 /pid == cpid && comm == "spin"/ { @p[uid] = count(); }' | sed '/^$/d; s/: [0-9]*$//'
NEEDS prog:spin uprobe file:/usr/bin/setpriv
EXPECT
	@c[65534]
	@p[65534]
	@u[65534]

NAME Ctrl-C while the verifier is at work
RUN
	start=$(date +%s%3N)
	timeout -s INT 0.5 "$SONDE" -c 'sleep 71' -e 'begin { $i = (uint64)0; while ($i < 100000) { $i += 1 + ($i & 3); if (($i ^ nsecs) & 1) { @a[$i & 255] = hist($i); } } }'
	echo $?
	[ $(($(date +%s%3N) - start)) -lt 2500 ] && echo soon
	pgrep -f '^sleep 71'
	:
EXPECT
	124
	soon
NEEDS fast
