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

NAME kernel stacks of fentry and fexit begin with the function, caller is behind it
PROG
	fentry:vfs_write, fexit:vfs_write /pid == cpid/ {
		print(kstack(2)); print(kstack(perf, 1, 1)); print(caller); print(len(kstack(1024, 64)));
		print((in_function(caller, "ksys_w"), in_function(caller, "ksys_r"), in_function(0, "ksys_"), in_function(kaddr("vfs_write") + 1, "vfs_w")));
	}
LOAD rw w55
NEEDS fentry sym:ksys_write
EXPECT_RE
	$
	        vfs_write\+[0-9]+
	        ksys_write\+[0-9]+
	$
	$
		[0-9a-f]+ ksys_write\+[0-9]+.*
	$
	ksys_write
	0
	\(true, false, false, true\)
	$
	        vfs_write\+[0-9]+
	        ksys_write\+[0-9]+
	$
	$
		[0-9a-f]+ ksys_write\+[0-9]+.*
	$
	ksys_write
	0
	\(true, false, false, true\)
	$
	$

NAME kernel stack without its first frames
PROG kprobe:vfs_write /pid == cpid/ { print(kstack(2)); print(kstack(1, 1)); print((len(kstack(127, 1)) == len(kstack) - 1, len(kstack(1, 0)), len(kstack(3, 1)))); print(in_function(caller, "ksys_w")); }
LOAD rw w55
NEEDS kprobe sym:ksys_write
EXPECT_RE
	$
	        vfs_write\+[0-9]+
	        ksys_write\+[0-9]+
	$
	$
	        ksys_write\+[0-9]+
	$
	\(true, 1, 3\)
	true
	$
	$

NAME kernel stacks of fentry where fexit is on the function, too
PROG fentry:vfs_write /pid == cpid/ { print(kstack(2)); print(caller); } fexit:vfs_write /pid == cpid/ { @ = count(); }
LOAD rw w55
NEEDS fentry sym:ksys_write
EXPECT_RE
	$
	        vfs_write\+[0-9]+
	        ksys_write\+[0-9]+
	$
	ksys_write
	$
	$
	@: 1
