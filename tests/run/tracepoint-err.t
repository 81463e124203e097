# What tracepoint, rawtracepoint and iter say when the kernel has not what they need. Names and forms
# are in tests/lang/err.E_PROBE_SYNTAX.tracepoint.bt and err.E_NO_PROBE.kernel.bt.

NAME no BTF
PROG iter:task { } fentry:vfs_read { }
ARGS --no-feature BTF
RC 1
EXPECT
ERR
	stdin:1:1-10: ERROR: this kernel has no BTF (/sys/kernel/btf/vmlinux), which typed probes need
	iter:task { } fentry:vfs_read { }
	~~~~~~~~~
	stdin:1:15-30: ERROR: this kernel has no BTF (/sys/kernel/btf/vmlinux), which typed probes need
	iter:task { } fentry:vfs_read { }
	              ~~~~~~~~~~~~~~~

NAME an event whose number cannot be read
RUN
	unshare -m sh -c '
	echo rubbish >$TMPDIR/id && mount --bind $TMPDIR/id /sys/kernel/tracing/events/sched/sched_process_fork/id || exit
	"$SONDE" --no-feature TP_BTF -e "tracepoint:sched:sched_process_fork { @ = args.child_pid; }"' 2>&1
NEEDS tp:sched/sched_process_fork cmd:unshare
RC 255
EXPECT
	stdin:1:1-36: ERROR: Unable to attach probe: tracepoint:sched:sched_process_fork: the id of tracepoint sched:sched_process_fork is not a number. If this is expected, set the 'missing_probes' config variable to 'warn'.
	tracepoint:sched:sched_process_fork { @ = args.child_pid; }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME an event whose description cannot be read
RUN
	f=/sys/kernel/tracing/events/sched/sched_process_fork/format
	printf 'format:\n\tfield:char rubbish\n' >$TMPDIR/rubbish
	{ echo format:; i=0; while [ $i -lt 2000 ]; do echo "	field:int x$i; offset:$((8 + 4 * i)); size:4; signed:1;"; i=$((i + 1)); done; } >$TMPDIR/many
	echo nothing >$TMPDIR/nothing
	for t in rubbish many nothing; do
		unshare -m sh -c "mount --bind $TMPDIR/$t $f && timeout 5 \"\$SONDE\" --no-feature TP_BTF -e 'tracepoint:sched:sched_process_fork { @ = args.child_pid; }'" 2>&1 | head -n 1
	done
NEEDS tp:sched/sched_process_fork cmd:unshare
EXPECT
	stdin:1:1-36: ERROR: tracepoint sched:sched_process_fork: event format: cannot read 'field:char rubbish'
	stdin:1:1-36: ERROR: tracepoint sched:sched_process_fork: event format: more than 1024 fields
	stdin:1:1-36: ERROR: tracepoint sched:sched_process_fork: event format: no fields

NAME tracefs is not there
RUN
	unshare -m sh -c '
	while umount /sys/kernel/tracing 2>/dev/null; do :; done
	while umount -l /sys/kernel/debug 2>/dev/null; do :; done
	/usr/bin/setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$SONDE" -e "tracepoint:sched:sched_switch { }"' 2>&1
NEEDS tracefs cmd:unshare file:/usr/bin/setpriv
ALONE
RC 1
EXPECT
	stdin:1:1-30: ERROR: tracefs is not mounted, and mounting it failed: Operation not permitted; as root: mount -t tracefs tracefs /sys/kernel/tracing, for a container: -v /sys/kernel/tracing:/sys/kernel/tracing
	tracepoint:sched:sched_switch { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME more probes than max_probes
ARGS --dry-run
PROG config = { max_probes = 2 } tracepoint:sched:sched_process_* { }
NEEDS tp:sched/sched_process_fork
RC 1
EXPECT
ERR
	stdin:1:29-61: ERROR: This script would attach to more than 2 probes, which is the current limit
	config = { max_probes = 2 } tracepoint:sched:sched_process_* { }
	                            ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	HINT: narrow the wildcard, or raise the limit with BPFTRACE_MAX_PROBES or config = { max_probes = ... }

NAME one probe and missing_probes
RUN
	"$SONDE" -q -e 'config = { missing_probes = "warn" } tracepoint:sched:nope, interval:ms:1 { print(probe); exit(); }' 2>&1
	"$SONDE" -q -e 'config = { missing_probes = "ignore" } tracepoint:sched:nope, rawtracepoint:nomodule:x, interval:ms:1 { print(probe); exit(); }' 2>&1
NEEDS btf
EXPECT
	stdin:1:38-59: WARNING: No matches for tracepoint sched:nope. Skipping.
	config = { missing_probes = "warn" } tracepoint:sched:nope, interval:ms:1 { print(probe); exit(); }
	                                     ~~~~~~~~~~~~~~~~~~~~~
	interval:ms:1
	$
	$
	interval:ms:1
	$
	$

# Simulated: this kernel has them, and they are hidden from sonde.
NAME a kernel without CONFIG_FTRACE_SYSCALLS
RUN
	T=/sys/kernel/tracing; export T
	grep -v '^syscalls:' $T/available_events >"$TMPDIR/events"
	unshare -m sh -c 'mount -t tmpfs none $T/events/syscalls && mount --bind "$TMPDIR/events" $T/available_events &&
		"$SONDE" -e "tracepoint:syscalls:sys_enter_openat { }"
		"$SONDE" -q -c "$SONDE_TESTS/syscalls 25" -e "tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id == 110/ { @ = count(); }"' 2>&1
NEEDS tracefs x86_64 cmd:unshare prog:syscalls fast
EXPECT
	stdin:1:1-37: ERROR: No matches for tracepoint syscalls:sys_enter_openat.
	tracepoint:syscalls:sys_enter_openat { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	HINT: this kernel has no events of single system calls (CONFIG_FTRACE_SYSCALLS); tracepoint:raw_syscalls:sys_enter sees all of them, args.id is the number
	$
	$
	@: 25
