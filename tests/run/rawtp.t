NAME typed arguments
PROG rawtracepoint:sched_process_exit /pid == cpid/ { printf("%s %d\n", args.p.comm, args.p.pid == pid); }
LOAD syscalls 1
NEEDS btf
EXPECT
	syscalls 1
	$
	$

NAME argN
PROG rawtracepoint:sys_enter /pid == cpid && arg1 == 110/ { @ = count(); }
LOAD syscalls 25
NEEDS btf
EXPECT
	$
	$
	@: 25

NAME module prefix
PROG rawtracepoint:vmlinux:sys_enter /pid == cpid && args.id == 110/ { @ = count(); }
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
PROG rawtracepoint:sys_enter /pid == cpid && arg1 == 110/ { @[probe] = count(); }
LOAD syscalls 2
NEEDS btf
EXPECT
	$
	$
	@[rawtracepoint:vmlinux:sys_enter]: 2

NAME pt_regs
PROG rawtracepoint:sys_enter /pid == cpid && args.id == 8/ { @fd[(int32)args.regs.di] = count(); @offs = sum(args.regs.si); }
LOAD syscalls 10 lseek
NEEDS btf
EXPECT
	$
	$
	@fd[-1]: 10
	@offs: 45

NAME pointers as keys and as numbers
PROG rawtracepoint:sched_process_exit /pid == cpid/ { @[args.p] = count(); @two[args.p, comm] = count(); @start[args.p] = 7; $n = (uint64)args.p; @page[$n / 4096 == (uint64)curtask >> 12] = count(); printf("%d %d\n", @start[args.p], @start[curtask]); } end { clear(@); clear(@two); clear(@start); }
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
