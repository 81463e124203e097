NAME count
PROG kprobe:vfs_read /pid == cpid/ { @ = count(); } tracepoint:syscalls:sys_enter_read /pid == cpid/ { @sys = count(); } END { printf("%d\n", (int64)@ == (int64)@sys); clear(@); clear(@sys); }
LOAD rw r100 r200 r300
NEEDS kprobe
EXPECT
	1
	$
	$

NAME arguments
PROG kprobe:vfs_read /pid == cpid && arg2 < 400 && arg2 >= 100/ { @[arg2] = count(); }
LOAD rw r100 r200 r200
NEEDS kprobe
EXPECT
	$
	$
	@[100]: 1
	@[200]: 2

NAME alias, func and probe
PROG k:vfs_write /pid == cpid/ { printf("%s %s\n", func, probe); }
LOAD rw w10
NEEDS kprobe
EXPECT
	vfs_write kprobe:vfs_write
	$
	$

NAME structs through arguments
PROG kprobe:vfs_read /pid == cpid/ { $f = (struct file *)arg0; printf("%s\n", str($f->f_path.dentry->d_name.name)); }
LOAD rw r100
NEEDS kprobe btf
EXPECT_RE
	...
	zero
	$
	$

NAME strings of user space
PROG kprobe:do_sys_openat2 /pid == cpid/ { $name = str(uptr((uint8 *)arg1)); if ($name == "/nowhere") { printf("%s\n", $name); } }
LOAD open /nowhere
NEEDS kprobe
EXPECT
	/nowhere
	$
	$

# arg1 is a name in the process's memory, comm is in the kernel's.
NAME numbers are addresses of the kernel or of the process
PROG kprobe:do_sys_openat2 /pid == cpid && str(arg1) == "/nowhere"/ { $kernel = (uint64)curtask + offsetof(struct task_struct, comm); printf("%s %c %d\n", str(arg1), *(int8 *)arg1, str(uptr(arg1)) == str(arg1)); printf("%d [%s]\n", str($kernel) == comm, str(kptr(arg1))); }
LOAD open /nowhere
NEEDS kprobe btf
EXPECT
	/nowhere / 1
	1 []
	$
	$

NAME pointers in arguments of functions may be those of the process
PROG fentry:do_sys_openat2 /pid == cpid/ { if (str(args.filename) == "/nowhere") { printf("%s %c\n", str(args.filename), args.filename[0]); } }
LOAD open /nowhere
NEEDS fentry
EXPECT
	/nowhere /
	$
	$

NAME return value
ALONE
PROG kretprobe:vfs_read /pid == cpid && retval < 400 && retval >= 100/ { @[retval] = count(); }
LOAD rw r100 r200 r200
NEEDS kprobe
EXPECT
	$
	$
	@[100]: 1
	@[200]: 2

NAME linear histogram of the bytes read
ALONE
PROG kretprobe:vfs_read /pid == cpid && retval < 2000 && retval % 100 == 0 && retval > 0/ { @bytes = lhist(retval, 0, 2000, 200); }
LOAD rw r100 r300 r300 r1900
NEEDS kprobe
EXPECT
	$
	$
	@bytes:
	[0, 200)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[200, 400)             2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[400, 600)             0 |                                                    |
	[600, 800)             0 |                                                    |
	[800, 1000)            0 |                                                    |
	[1000, 1200)           0 |                                                    |
	[1200, 1400)           0 |                                                    |
	[1400, 1600)           0 |                                                    |
	[1600, 1800)           0 |                                                    |
	[1800, 2000)           1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	$

NAME bytes of every read, as typed
ALONE
PROG kretprobe:vfs_read { @bytes = lhist(retval, 0, 2000, 200); }
LOAD rw r100 r300
NEEDS kprobe
EXPECT_RE
	$
	$
	@bytes:
	...
	\[200, 400\) +[1-9][0-9]* \|@* *\|
	...

NAME latency
ALONE
PROG kprobe:vfs_read { @start[tid] = nsecs; } kretprobe:vfs_read /@start[tid]/ { @ns[comm] = hist(nsecs - @start[tid]); delete(@start[tid]); }
LOAD rw r100 r200 r300
NEEDS kprobe
EXPECT_RE
	$
	$
	...
	@ns\[rw\]:
	...

NAME offset
PROG kprobe:vfs_read+0 /pid == cpid && arg2 == 100/ { @ = count(); }
LOAD rw r100 r100
NEEDS kprobe
EXPECT
	$
	$
	@: 2

NAME wildcard
PROG kprobe:vfs_re* /pid == cpid/ { @[func] = count(); }
LOAD rw r100 r200
NEEDS kprobe
TIMEOUT 30
EXPECT_RE
	$
	$
	...
	@\[vfs_read\]: [0-9]+
	...

NAME wildcard of returns
ALONE
PROG kretprobe:vfs_w* /pid == cpid/ { @[func] = count(); }
LOAD rw w100 w200
NEEDS kprobe
TIMEOUT 30
EXPECT
	$
	$
	@[vfs_write]: 2

NAME module name
PROG kprobe:vmlinux:vfs_write /pid == cpid/ { @ = count(); }
LOAD rw w1 w2
NEEDS kprobe
EXPECT
	$
	$
	@: 2

NAME kernel stack
PROG kprobe:vfs_write /pid == cpid/ { @[kstack(2)] = count(); }
LOAD rw w1 w2
NEEDS kprobe x86_64
EXPECT_RE
	$
	$
	@\[
	        vfs_write\+[0-9]+
	        ksys_write\+[0-9]+
	\]: 2

NAME kernel stack at a function's entry, where the caller is in no frame yet
PROG kprobe:vfs_write /pid == cpid/ { @[kstack(2)] = count(); }
LOAD rw w1 w2
NEEDS kprobe aarch64
EXPECT_RE
	$
	$
	@\[
	        vfs_write\+0
	        __ARCH_sys_write\+[0-9]+
	\]: 2

NAME user stack from a kprobe
PROG kprobe:do_nanosleep /pid == cpid/ { @[comm, len(ustack) > 0] = count(); }
LOAD syscalls 3 nanosleep
NEEDS kprobe
EXPECT
	$
	$
	@[syscalls, true]: 3

NAME curtask and a walk
PROG kprobe:vfs_write /pid == cpid/ { printf("%s %d\n", curtask->comm, curtask->real_parent->tgid > 0); }
LOAD rw w1
NEEDS kprobe btf
EXPECT
	rw 1
	$
	$

NAME registers
PROG kprobe:vfs_write /pid == cpid/ { printf("%d %d\n", reg("dx"), arg2); }
LOAD rw w77
NEEDS kprobe x86_64
EXPECT
	77 77
	$
	$

NAME no such function
PROG kprobe:no_such_function_here { }
NEEDS kprobe
RC 1
EXPECT
ERR_RE
	stdin:1:1-[0-9]+: ERROR: .*no_such_function_here.*
	...

NAME list
RUN "$SONDE" -l 'kprobe:vfs_rea*' | sort | grep -x -e kprobe:vfs_read
NEEDS kprobe
EXPECT
	kprobe:vfs_read

NAME list with types
RUN "$SONDE" -lv 'kprobe:vfs_read'
NEEDS kprobe btf
EXPECT_RE
	kprobe:vfs_read
	    struct file \* arg0
	    char \* arg1
	    size_t arg2
	    loff_t \* arg3

NAME many returns at once
ALONE
PROG kprobe:vfs_write /pid == cpid/ { @e = count(); } kretprobe:vfs_write /pid == cpid/ { @r = count(); }
LOAD rw w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1
NEEDS kprobe
EXPECT
	$
	$
	@e: 20
	@r: 20

NAME returns beside calls that do not return
ALONE
PROG kretprobe:vfs_read /pid == cpid && retval == 100/ { @ = count(); }
LOAD readers 20 10
NEEDS kprobe
EXPECT
	$
	$
	@: 10

NAME arguments are numbers, also in loops
PROG kprobe:vfs_write /pid == cpid/ { for ($i : 0..2) { @[arg2 + (arg0 >> 63)] = count(); } }
LOAD rw w55
NEEDS kprobe
EXPECT
	$
	$
	@[56]: 2

NAME arguments and results without registers
PROG kprobe:vfs_write /pid == cpid/ { printf("%d %d %s\n", arg2, (arg0 >> 40) > 0, func); } kretprobe:vfs_write /pid == cpid/ { printf("%d %s %s\n", retval, func, probe); }
LOAD rw w55
NEEDS kprobe
EXPECT
	55 1 vfs_write
	55 vfs_write kretprobe:vfs_write
	$
	$

NAME narrow arguments
PROG kprobe:do_sys_openat2 /pid == cpid && str(uptr((uint8 *)arg1)) == "/nowhere"/ { printf("%lx\n", arg0 & 0xffffffff); }
LOAD open /nowhere
NEEDS kprobe
EXPECT
	ffffff9c
	$
	$

NAME a function that does not return
PROG begin { printf("once\n"); } kretprobe:do_exit { @ = count(); } interval:ms:10 { exit() }
NEEDS kprobe
EXPECT
	once
	$
	$

NAME a function without room for a trampoline
PROG begin { printf("once\n"); exit() } kprobe:__clk_register_clkdev { }
NEEDS kprobe sym:__clk_register_clkdev
EXPECT
	once
	$
	$

NAME many functions as one event
ALONE
RUN
	"$SONDE" --no-feature KPROBE_MULTI -q -c 'build/tests/rw w100 w200' -e 'kprobe:vfs_w*,kprobe:vfs_s*,kprobe:vfs_re* /pid == cpid/ { @[func] = count(); }
		begin { printf("%d\n", 1); }' | grep -e vfs_write -e '^1$'
	f=/sys/kernel/tracing/kprobe_events
	i=0
	while [ "$(cat $f)" ] && [ $i -lt 300 ]
	do sleep 0.1
	i=$((i + 1))
	done
	cat $f
NEEDS vm kprobe
TIMEOUT 60
EXPECT
	1
	@[vfs_write]: 2

NAME more than 64 returns without multi links
ALONE
RUN
	"$SONDE" --no-feature KPROBE_MULTI --no-feature FPROBE_RETURNS -c 'build/tests/rw w100 w200' -e 'kretprobe:vfs_*,kretprobe:__ARCH_sys_w*,kretprobe:ksys_* /pid == cpid/ { @[func] = count(); @stack[len(kstack(3)) > 0] = count(); }' 2>&1 |
		sed -n -e '/vfs_write\]/p' -e '/true/s/[0-9].*/N/p' -e 's/Attached [0-9][0-9][0-9]* probes/Attached many/p'
	f=/sys/kernel/tracing/kprobe_events
	i=0
	while [ "$(cat $f)" ] && [ $i -lt 300 ]
	do sleep 0.1
	i=$((i + 1))
	done
	cat $f
NEEDS vm kprobe
TIMEOUT 60
EXPECT
	Attached many
	@[vfs_write]: 2
	@stack[true]: N

# /proc/crypto, /proc/cpuinfo and /proc/consoles each have a c_start of their own; the kernel has no other.
NAME several functions of one name
RUN
	n=$(grep -c ' t c_start$' /proc/kallsyms)
	for p in 'kprobe:c_start' 'kretprobe:c_start'
	do "$SONDE" -q -c 'cat /proc/crypto /proc/cpuinfo /proc/consoles' -e "$p /pid == cpid/ { @a[func] = 1; @p[probe] = 1; }" 2>&1
	done | grep -e '^@a' -e '^@p' -e WARNING | sed "s/ $n functions/ N functions/"
NEEDS slow kprobe sym:c_start
EXPECT_RE
	stdin:1:1-15: WARNING: the kernel has N functions of the name c_start: all are probed
	@a\[c_start\]: 1
	@a\[c_start\]: 1
	@a\[c_start\]: 1
	@p\[kprobe:c_start\]: 1
	stdin:1:1-18: WARNING: the kernel has N functions of the name c_start: all are probed
	@a\[c_start\]: 1
	@a\[c_start\]: 1
	@a\[c_start\]: 1
	@p\[kretprobe:c_start\]: 1

NAME several functions of one name: fentry
RUN "$SONDE" --dry-run -e 'fentry:c_start { }' 2>&1 | sed -n 's/ [0-9]* functions/ N functions/; s/.*: the kernel/the kernel/p'
NEEDS kprobe fentry sym:c_start
EXPECT_RE
	(the kernel has N functions of the name c_start, and fentry is attached to the first that it finds|the kernel has N functions of the name c_start, so its BTF has none; a kprobe is attached to all of them)

# Newer compilers make finish_task_switch.isra.0 of it, by which BTF does not call it.
NAME a function that the compiler changed
RUN
	grep -q '^finish_task_switch$' /sys/kernel/tracing/available_filter_functions && warned= || warned='WARNING: this kernel'
	for p in 'kprobe:finish_task_switch' 'kretprobe:finish_task_switch' 'kprobe:finish_task_switch, kprobe:vfs_read'; do
		"$SONDE" -q -c 'sleep 0.1' -e "$p { @ = max(1); }" >$TMPDIR/o 2>&1
		grep '^@' $TMPDIR/o
		grep -q "${warned:-^@}" $TMPDIR/o && echo told
		"$SONDE" --no-feature func_arg -q -c 'sleep 0.1' -e "$p { @ = max(1); }" 2>&1 | grep '^@'
	done
NEEDS slow vm kprobe
TIMEOUT 30
EXPECT
	@: 1
	told
	@: 1
	@: 1
	told
	@: 1
	@: 1
	told
	@: 1

NAME the caller of a function is the second frame of its stack
RUN
	"$SONDE" -q -c 'build/tests/rw r100' -e 'kprobe:vfs_read /pid == cpid/ { printf("%s%s\n", caller, kstack(2)); exit(); }' |
		sed 's/+.*//' | awk 'NF { n++; v[n] = $1 } END { print (n >= 3 && v[1] == v[3]) ? "same" : v[1] " " v[2] " " v[3] }'
NEEDS kprobe
EXPECT
	same

NAME errno of kernel functions: an int, an address, nothing that failed
PROG
	kretprobe:do_sys_openat2 /pid == cpid && errno == 20/ { @int = count(); }
	kretprobe:do_fil*_open /pid == cpid && errno == 20/ { @address = count(); }
	kretprobe:vfs_open /pid == cpid && errno/ { @never = 1; }
LOAD open /dev/null/x /dev/null
NEEDS kprobe
EXPECT
	$
	$
	@address: 1
	@int: 1
