NAME typed arguments
PROG rawtracepoint:sched_process_exit /pid == cpid/ { printf("%s %d\n", args.p.comm, args.p.pid == pid); }
LOAD syscalls 1
NEEDS btf
EXPECT
	syscalls 1
	$
	$

NAME argN
PROG rawtracepoint:sys_enter /pid == cpid && syscall_name(arg1) == "getppid"/ { @ = count(); }
LOAD syscalls 25
NEEDS btf
EXPECT
	$
	$
	@: 25

NAME module prefix
PROG rawtracepoint:vmlinux:sys_enter /pid == cpid && syscall_name(args.id) == "getppid"/ { @ = count(); }
LOAD syscalls 5
NEEDS btf
EXPECT
	$
	$
	@: 5

NAME alias
PROG rt:sys_exit /pid == cpid && args.ret == -3/ { @ = count(); }
LOAD syscalls 5 kill
NEEDS btf
EXPECT
	$
	$
	@: 5

NAME walks through structs
PROG rawtracepoint:sched_process_exit /pid == cpid/ { printf("%d %d\n", args.p.group_leader.pid == pid, args.p->cred != 0); }
LOAD syscalls 1
NEEDS btf
EXPECT
	1 1
	$
	$

NAME sched_switch
PROG rawtracepoint:sched_switch /args.prev.pid == cpid || args.next.pid == cpid/ { @n = count(); } interval:ms:300 { if (@n > 2) { printf("switches\n"); } exit(); } END { clear(@n); }
LOAD syscalls 2000000 nanosleep
NEEDS btf
EXPECT
	switches
	$
	$

NAME probe name
PROG rawtracepoint:sys_enter /pid == cpid && syscall_name(arg1) == "getppid"/ { @[probe] = count(); }
LOAD syscalls 2
NEEDS btf
EXPECT
	$
	$
	@[rawtracepoint:vmlinux:sys_enter]: 2

NAME pt_regs of x86_64
PROG rawtracepoint:sys_enter /pid == cpid && args.id == 8/ { @fd[(int32)args.regs.di] = count(); @offs = sum(args.regs.si); }
LOAD syscalls 10 lseek
NEEDS btf x86_64
EXPECT
	$
	$
	@fd[-1]: 10
	@offs: 45

NAME pt_regs of aarch64
PROG rawtracepoint:sys_enter /pid == cpid && args.id == 62/ { @fd[(int32)args.regs.orig_x0] = count(); @offs = sum(args.regs.regs[1]); @nr[args.regs.syscallno] = count(); }
LOAD syscalls 10 lseek
NEEDS btf aarch64
EXPECT
	$
	$
	@fd[-1]: 10
	@nr[62]: 10
	@offs: 45

NAME pointers as keys and as numbers
PROG
	rawtracepoint:sched_process_exit /pid == cpid/ { @[args.p] = count(); @two[args.p, comm] = count(); @start[args.p] = 7; $n = (uint64)args.p; @page[$n / 4096 == (uint64)curtask >> 12] = count(); printf("%d %d\n", @start[args.p], @start[curtask]); }
	end { clear(@); clear(@two); clear(@start); }
LOAD syscalls 1
NEEDS btf
EXPECT
	7 7
	$
	$
	@page[true]: 1

NAME pointers to anything
PROG rawtracepoint:kfree /pid == cpid/ { @ = args.ptr == arg1; } rawtracepoint:workqueue_execute_end { @w = args.function != 0; } interval:ms:200 { exit(); } end { clear(@w); }
LOAD syscalls 1
NEEDS btf sym:__traceiter_kfree
EXPECT
	$
	$
	@: true

NAME without BTF
RUN "$SONDE" -q --no-feature BTF -c 'build/tests/syscalls 25' -e 'rawtracepoint:sys_enter /pid == cpid && syscall_name(arg1) == "getppid"/ { @ = count(); @p[probe] = count(); }'
EXPECT
	$
	$
	@: 25
	@p[rawtracepoint:sys_enter]: 25

NAME without BTF: wildcards and lists
RUN "$SONDE" --no-feature BTF -l 'rawtracepoint:sched_process_e*'; "$SONDE" -q --no-feature BTF -c 'build/tests/syscalls 1' -e 'rawtracepoint:sched_process_e* /pid == cpid/ { @[probe] = count(); }'
NEEDS tp:sched/sched_process_exec
EXPECT
	rawtracepoint:sched_process_exec
	rawtracepoint:sched_process_exit
	$
	$
	@[rawtracepoint:sched_process_exec]: 1
	@[rawtracepoint:sched_process_exit]: 1

NAME without BTF: what cannot be
RUN
	for p in 'rawtracepoint:nope { }' 'rawtracepoint:sys_enter { print(args.id) }' 'rawtracepoint:sys_enter { print(arg12) }' 'rawtracepoint:sys_enter_read { }'
	do "$SONDE" --no-feature BTF -e "$p" 2>&1 | head -n 1
	done
NEEDS tracefs
EXPECT
	stdin:1:1-19: ERROR: No matches for rawtracepoint nope.
	stdin:1:33-37: ERROR: this probe's arguments are not known: this kernel has no BTF, which names them; arg0, arg1 ... are there
	stdin:1:33-38: ERROR: this probe has 12 arguments
	stdin:1:1-29: ERROR: No matches for rawtracepoint sys_enter_read.

NAME args as a whole
PROG
	rawtracepoint:sys_enter /pid == cpid && syscall_name(args.id) == "kill"/ { $a = args; $a2 = $a.id; @n[$a.id == $a2] = count(); }
	rawtracepoint:sys_exit /pid == cpid && args.ret == -3/ { @[(1, args).1.ret] = count(); print((args.ret, 0)); }
LOAD syscalls 1 kill
NEEDS btf
EXPECT
	(-3, 0)
	$
	$
	@[-3]: 1
	@n[true]: 1

NAME args as a whole: printed
RUN
	"$SONDE" -q -c 'build/tests/syscalls 1 kill' -e 'rawtracepoint:sys_enter /pid == cpid && syscall_name(args.id) == "kill"/ { print(args); printf("%s\n", args); @ = args; @k[args] = 1; }' |
		sed 's/0x[0-9a-f]*/ADDRESS/g; s/129/62/'
	"$SONDE" -q -f json -c 'build/tests/syscalls 1 kill' -e 'rawtracepoint:sys_enter /pid == cpid && syscall_name(args.id) == "kill"/ { print(args); }' |
		sed 's/"[0-9]*"/"ADDRESS"/; s/129/62/'
NEEDS btf
EXPECT
	{ .regs = ADDRESS, .id = 62 }
	{ .regs = ADDRESS, .id = 62 }
	$
	$
	@: { .regs = ADDRESS, .id = 62 }
	@k[{ .regs = ADDRESS, .id = 62 }]: 1
	{"type": "value", "data": {"regs": "ADDRESS", "id": 62}}

# Since Linux 6.13 an argument that may be NULL is no pointer to read through: that body does without typed loads.
NAME what the kernel refuses in one body costs the others nothing
NEEDS btf since:5.16
RUN
	count() { "$SONDE" -v --dry-run -e "$1" 2>&1 | sed -n 's/.*sched_switch: \([0-9]*\) instructions.*/\1/p'
	}
	other='rawtracepoint:sched_switch { @b = sum(args.prev->pid); }'
	alone=$(count "$other")
	beside=$(count "rawtracepoint:sched_pi_setprio { @ = sum(args.pi_task->pid); } $other")
	[ "$alone" ] && [ "$alone" = "$beside" ] && echo the same || echo "$alone, $beside"
EXPECT the same
