# What -p, --follow, --cgroup, --container and -c say when something is wrong.

NAME --follow without processes
ARGS --follow
PROG BEGIN { }
RC 1
EXPECT
ERR
	ERROR: --follow needs processes to begin with: -p or -c

NAME control groups that are none, in full
RUN
	m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)
	for c in '' /no/such no/such / /etc/passwd /etc/passwd/x; do
		"$SONDE" --cgroup "$c" -e 'BEGIN { }' 2>&1 | sed "s,$m,MOUNT,g"
	done
NEEDS file:/sys/fs/cgroup
EXPECT
	ERROR: --cgroup: the path of a control group is empty
	ERROR: --cgroup: control group /no/such does not exist (nor MOUNT/no/such)
	ERROR: --cgroup: control group no/such does not exist (nor MOUNT/no/such)
	ERROR: --cgroup: / is not a control group (a directory of cgroup2, below MOUNT)
	ERROR: --cgroup: /etc/passwd is not a control group: it is no directory
	ERROR: --cgroup: control group /etc/passwd/x does not exist (nor MOUNT/etc/passwd/x)

NAME a control group of version 1
RUN
	v1=$(sed -n 's/^cgroup \([^ ]*\) cgroup .*/\1/p' /proc/mounts | head -n 1)
	m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)
	"$SONDE" --cgroup $v1 -e 'BEGIN { }' 2>&1 | sed "s,$v1,V1,; s,$m,MOUNT,"
NEEDS file:/sys/fs/cgroup/cpu
EXPECT
	ERROR: --cgroup: V1 is a control group of version 1; programs in the kernel only know those of version 2 (cgroup2, below MOUNT)

NAME more control groups than there is room for
RUN i=0; while [ $i -lt 9 ]; do set -- "$@" --cgroup /; i=$((i + 1)); done; "$SONDE" "$@" -e 'BEGIN { }' 2>&1; echo $?
EXPECT
	ERROR: too many control groups (8 at most)
	1

NAME containers that are not there, or several
RUN
	"$SONDE" --container '' -e 'BEGIN { }' 2>&1
	"$SONDE" --root $TMPDIR --container web -e 'BEGIN { }' 2>&1 | sed "s,$TMPDIR,ROOT,g"
	d=$TMPDIR/sys/fs/cgroup id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
	mkdir -p $d/system.slice/docker-a$id.scope $d/lxc.payload.mail 2>/dev/null
	rmdir $d/system.slice/docker-a$id.scope
	mkdir $d/system.slice/docker-$id.scope $d/system.slice/docker-01ff${id#0123}.scope
	for c in web 01 mailbox; do
		"$SONDE" --root $TMPDIR --container $c -e 'BEGIN { }' 2>&1 | sed "s,$TMPDIR,ROOT,g"
	done
EXPECT
	ERROR: --container: the name of a container is empty
	ERROR: --container: container web does not exist: no control group below ROOT/sys/fs/cgroup has a container's name
	ERROR: --container: container web does not exist; containers: mail (/lxc.payload.mail), 0123456789ab (/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope), 01ff456789ab (/system.slice/docker-01ff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope)
	ERROR: --container: 01 may be any of 2 containers: 0123456789ab (/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope), 01ff456789ab (/system.slice/docker-01ff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope)
	ERROR: --container: container mailbox does not exist; containers: mail (/lxc.payload.mail), 0123456789ab (/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope), 01ff456789ab (/system.slice/docker-01ff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope)

NAME a control group that others may not look into
RUN
	m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)
	d=$m/sonde-test-$$
	mkdir -p $d/in && chmod 700 $d && chmod 755 $TMPDIR && cp "$SONDE" $TMPDIR/sonde || exit
	c=-all,+bpf,+perfmon
	for g in $d $d/in; do
		/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$c --ambient-caps=$c --bounding-set=$c $TMPDIR/sonde --cgroup $g -e 'rawtracepoint:sys_enter { @ = count(); }' 2>&1 |
		sed "s,$d,DIR,; s,+ep .*,+ep,"
	done
	rmdir $d/in $d
NEEDS file:/usr/bin/setpriv file:/sys/fs/cgroup btf sym:bpf_for_each_map_elem
TIMEOUT 20
EXPECT
	ERROR: open control group DIR: Permission denied (needs CAP_DAC_READ_SEARCH: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep
	ERROR: --cgroup: find control group DIR/in: Permission denied (needs CAP_DAC_READ_SEARCH: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep

NAME a command that cannot be split
RUN for c in '' '   ' '"a b' "a 'b"; do "$SONDE" -c "$c" -e 'BEGIN { }' 2>&1; echo $?; done
EXPECT
	ERROR: Failed to fork child: the command is empty
	1
	ERROR: Failed to fork child: the command is empty
	1
	ERROR: Failed to fork child: a quote is not closed in the command: "a b
	1
	ERROR: Failed to fork child: a quote is not closed in the command: a 'b
	1

NAME a command that is not there, or no program
RUN
	touch $TMPDIR/file && cd $TMPDIR || exit
	for c in no-such-command ./no-such-file /etc ./file; do "$SONDE" -c "$c" -e 'BEGIN { }' 2>&1; echo $?; done
EXPECT
	ERROR: Failed to fork child: Path 'no-such-command' does not exist or is not executable (not in $PATH)
	1
	ERROR: Failed to fork child: Path './no-such-file' does not exist or is not executable (No such file or directory)
	1
	ERROR: Failed to fork child: Path '/etc' does not exist or is not executable (not a regular file)
	1
	ERROR: Failed to fork child: Path './file' does not exist or is not executable (it has no execute permission)
	1

NAME a command that the kernel does not start
RUN
	cd $TMPDIR || exit
	printf '#!/no/such/interpreter\n' >script && : >empty && printf '\177ELF\2\1\1rubbish' >rubbish && chmod 755 script empty rubbish
	for c in ./script ./empty ./rubbish; do "$SONDE" -q -c "$c x" -e 'BEGIN { }' 2>&1; echo $?; done | sed "s,$TMPDIR,DIR,"
EXPECT
	ERROR: start the command DIR/script (the interpreter that its first line or its header names is not there): No such file or directory
	255
	ERROR: start the command DIR/empty (neither a program for this machine, nor a script that begins with #!): Exec format error
	255
	ERROR: start the command DIR/rubbish (neither a program for this machine, nor a script that begins with #!): Exec format error
	255

NAME a command that is killed before it starts
RUN "$SONDE" -q --unsafe -c 'sleep 5' -e 'BEGIN { system("kill -9 %d; sleep 0.3", cpid); } interval:ms:1 { }' 2>&1; echo $?
EXPECT
	$
	ERROR: the command ended before it was started
	255

NAME -c beside -p
RUN "$SONDE" -c true -p 1 -e 'BEGIN { }' 2>&1 | head -n 2
EXPECT
	ERROR: USAGE: Cannot use both -c and -p.
	USAGE:

NAME children to be followed, by tracepoints that may not be read
RUN
	printf 'base 4 signed int\n' >$TMPDIR/types && build/host/mkbtf $TMPDIR/types /tmp/sonde-btf-$$ || exit
	chmod 755 $TMPDIR && cp "$SONDE" $TMPDIR/sonde
	c=-all,+bpf,+perfmon
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$c --ambient-caps=$c --bounding-set=$c $TMPDIR/sonde -q --btf=/tmp/sonde-btf-$$ --follow -c true -e 'profile:hz:10 { @ = count(); }' 2>&1 |
		sed "s,+ep .*,+ep,"
	rm /tmp/sonde-btf-$$
NEEDS file:/usr/bin/setpriv file:build/host/mkbtf sym:bpf_for_each_map_elem
TIMEOUT 20
EXPECT
	ERROR: follow children: open /sys/kernel/tracing/events: Permission denied (needs CAP_DAC_READ_SEARCH: use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep

NAME children to be followed, by tracepoints that look different
RUN
	printf 'base 4 signed int\n' >$TMPDIR/types && build/host/mkbtf $TMPDIR/types $TMPDIR/btf || exit
	unshare -m sh -c '
	sed "s/child_pid/other_pid/" /sys/kernel/tracing/events/sched/sched_process_fork/format >$TMPDIR/format
	mount --bind $TMPDIR/format /sys/kernel/tracing/events/sched/sched_process_fork/format || exit
	"$SONDE" -q --btf=$TMPDIR/btf --follow -c true -e "profile:hz:10 { @ = count(); }"' 2>&1
NEEDS tp:sched/sched_process_fork cmd:unshare file:build/host/mkbtf
RC 255
EXPECT
	ERROR: follow children: tracepoint sched:sched_process_fork has no field child_pid

NAME no descriptors left for a command
RUN sh -c 'ulimit -n 4; exec "$SONDE" -c true -e "BEGIN { }"' 2>&1; echo $?
EXPECT
	ERROR: Failed to fork child: make a pipe: Too many open files
	1
