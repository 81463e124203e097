NAME curtask
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d %s\n", curtask->pid == tid, curtask->comm); }
LOAD syscalls 1
NEEDS btf
EXPECT
	1 syscalls
	$
	$

NAME dots and arrows
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d %d\n", curtask.tgid == pid, curtask->group_leader->pid == pid); }
LOAD syscalls 1
NEEDS btf
EXPECT
	1 1
	$
	$

NAME parent
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d\n", curtask->real_parent->tgid > 0); @[curtask->real_parent->pid == curtask->parent->pid] = count(); }
LOAD syscalls 1
NEEDS btf
EXPECT
	1
	$
	$
	@[true]: 1

NAME cast to task_struct
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { $t = (struct task_struct *)curtask; printf("%s\n", $t->comm); }
LOAD syscalls 1
NEEDS btf
EXPECT
	syscalls
	$
	$

NAME deep walk
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { $n = curtask->mm->exe_file->f_path.dentry->d_name.name; printf("%s\n", str($n)); }
LOAD syscalls 1
NEEDS btf
EXPECT
	syscalls
	$
	$

NAME embedded structs
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d\n", curtask->se.vruntime >= 0); printf("%d\n", curtask->nsproxy->uts_ns->name.sysname[0]); }
LOAD syscalls 1
NEEDS btf
EXPECT
	1
	76
	$
	$

NAME char arrays of the kernel
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%s\n", curtask->nsproxy->uts_ns->name.sysname); }
LOAD syscalls 1
NEEDS btf
EXPECT
	Linux
	$
	$

NAME arrays of integers
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { $r = curtask->signal->rlim[7].rlim_cur; printf("%d\n", $r > 0); }
LOAD syscalls 1
NEEDS btf
EXPECT
	1
	$
	$

NAME bit fields
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d %d\n", curtask->in_execve, curtask->no_cgroup_migration); }
LOAD syscalls 1
NEEDS btf
EXPECT
	0 0
	$
	$

NAME null pointers read as zero
PROG BEGIN { $t = (struct task_struct *)0; printf("%d [%s]\n", $t->pid, $t->comm); }
NEEDS btf
EXPECT
	0 []
	$
	$

NAME bad pointers read as zero
PROG BEGIN { $t = (struct task_struct *)0xdead000000000000; printf("%d\n", $t->real_parent->pid); }
NEEDS btf
EXPECT
	0
	$
	$

NAME pointer in a map
PROG
	tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @t[tid] = curtask; }
	tracepoint:syscalls:sys_exit_getppid /pid == cpid && @t[tid] != 0/ { printf("%d\n", @t[tid]->pid == tid); delete(@t, tid); }
LOAD syscalls 1
NEEDS btf
EXPECT
	1
	$
	$

NAME offsetof and sizeof
PROG BEGIN { printf("%d %d\n", sizeof(struct task_struct) > 1000, offsetof(struct task_struct, comm) > 100); print(sizeof(struct list_head)); print(offsetof(struct list_head, prev)); }
NEEDS btf
EXPECT
	1 1
	16
	8
	$
	$

NAME ppid
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d\n", ppid == curtask->real_parent->tgid); }
LOAD syscalls 1
NEEDS btf
EXPECT
	1
	$
	$

NAME fields of tracepoint arguments
PROG tracepoint:sched:sched_process_exec /comm == "true" && ppid == cpid/ { printf("%d %d\n", args.old_pid == args.pid, curtask->pid == args.pid); }
LOAD run /bin/true
NEEDS btf
EXPECT
	1 1
	$
	$

NAME ksym and kaddr
PROG BEGIN { $a = kaddr("vfs_read"); printf("%s %s\n", ksym($a), ksym($a + 1)); printf("%d\n", $a > 0); @[ksym($a)] = 1; }
EXPECT
	vfs_read vfs_read
	1
	$
	$
	@[vfs_read]: 1

NAME ksym of nothing
PROG BEGIN { printf("%s\n", ksym(0)); }
EXPECT
	0
	$
	$

NAME ntop
PROG BEGIN { printf("%s\n", ntop(0x0100007f)); printf("%s\n", ntop(2, 0x0100007f)); print(ntop(0x08080808)); @[ntop(0x01010101)] = 1; }
EXPECT
	127.0.0.1
	127.0.0.1
	8.8.8.8
	$
	$
	@[1.1.1.1]: 1

NAME pton
PROG BEGIN { print(pton("127.0.0.1")); printf("%s %s\n", ntop(pton("192.168.1.1")), ntop(pton("::1"))); }
EXPECT
	[127,0,0,1]
	192.168.1.1 ::1
	$
	$

NAME kernel stack of a system call
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[kstack] = count(); }
LOAD syscalls 3
EXPECT_RE
	$
	$
	@\[
	...
	        (do_syscall_64|el0t_64_sync_handler)\+[0-9]+
	        (entry_SYSCALL_64_after_hwframe|el0t_64_sync)\+[0-9]+
	\]: 3

NAME kernel stack at raw_syscalls
PROG tracepoint:raw_syscalls:sys_enter /pid == cpid && syscall_name(args.id) == "getppid"/ { @[kstack(50)] = count(); }
LOAD syscalls 3
EXPECT_RE
	$
	$
	@\[
	...
	        (do_syscall_64|el0t_64_sync_handler)\+[0-9]+
	        (entry_SYSCALL_64_after_hwframe|el0t_64_sync)\+[0-9]+
	\]: 3

NAME limited kernel stack
PROG tracepoint:raw_syscalls:sys_enter /pid == cpid && syscall_name(args.id) == "getppid"/ { printf("%d %d\n", len(kstack(1)), len(kstack) > 1); }
LOAD syscalls 1
EXPECT
	1 1
	$
	$

NAME kernel stack in perf form
PROG tracepoint:raw_syscalls:sys_enter /pid == cpid && syscall_name(args.id) == "getppid"/ { print(kstack(perf)); }
LOAD syscalls 1
EXPECT_RE
	$
	...
		[0-9a-f]+ (do_syscall_64|el0t_64_sync_handler)\+[0-9]+
		[0-9a-f]+ (entry_SYSCALL_64_after_hwframe|el0t_64_sync)\+[0-9]+
	$
	$
	$

NAME stacks as values
NEEDS sym:bpf_for_each_map_elem
PROG tracepoint:raw_syscalls:sys_enter /pid == cpid && syscall_name(args.id) == "getppid"/ { $s = kstack(3); @a = $s; @[$s, comm] = count(); printf("%d %d\n", len($s), len(@)); clear(@); clear(@a); }
LOAD syscalls 1
EXPECT
	3 1
	$
	$

NAME in_function: names that begin so
RUN
	"$SONDE" -q -e 'begin { $a = kaddr("vfs_read"); print((in_function($a, "vfs_read"), in_function($a - 1, "vfs_read"), in_function($a, "vfs_"), in_function($a, "ext"), in_function(-1, "vfs_"), in_function((void *)$a, "v"))); }'
	"$SONDE" -e 'begin { print(in_function(0, "")); }' 2>&1 | head -n 1
NEEDS sym:vfs_read sym:ext4_sync_file
EXPECT
	(true, false, true, false, false, true)
	$
	$
	stdin:1:30-32: ERROR: more than 8191 functions have names that begin with ''
