NAME kernel stack where a system call begins
PROG tracepoint:syscalls:sys_enter_clock_nanosleep /pid == cpid/ { @[kstack(1)] = count(); }
LOAD syscalls 3 nanosleep
NEEDS tp:syscalls/sys_enter_clock_nanosleep btf
EXPECT_RE
	$
	$
	@\[
	        [a-z_0-9]+\+[0-9]+
	\]: 3

NAME kernel stack where a system call ends, with its result
PROG tracepoint:syscalls:sys_exit_clock_nanosleep /pid == cpid/ { @[args.ret, len(kstack) > 0] = count(); }
LOAD syscalls 3 nanosleep
NEEDS tp:syscalls/sys_exit_clock_nanosleep btf
EXPECT
	$
	$
	@[0, true]: 3

NAME kernel stack of another tracepoint
PROG tracepoint:sched:sched_process_exit /pid == cpid/ { @[len(kstack) > 1, args.comm] = count(); }
LOAD syscalls 3 nanosleep
NEEDS tp:sched/sched_process_exit
EXPECT
	$
	$
	@[true, syscalls]: 1

NAME short kernel stack of a typed program
PROG fentry:vfs_write /pid == cpid/ { @[len(kstack(5)) > 1, len(ustack(3)) > 0] = count(); }
LOAD rw w55
NEEDS fentry
EXPECT
	$
	$
	@[true, true]: 1

NAME short kernel stack of a raw tracepoint
PROG tracepoint:sched:sched_process_exit /pid == cpid/ { @[len(kstack(5)) > 1] = count(); }
LOAD rw w55
NEEDS tp:sched/sched_process_exit
EXPECT
	$
	$
	@[true]: 1
