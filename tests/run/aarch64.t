# What is different on aarch64: registers, signed return addresses, system calls.

NAME the program counter of a kprobe is its function
PROG kprobe:vfs_read { if (reg("pc") == kaddr("vfs_read") && reg("x30") == reg("lr")) { print("same"); exit(); } }
LOAD syscalls
EXPECT_RE
	same
	$
	$
NEEDS aarch64 kprobe

NAME arguments of functions by register
PROG uprobe:build/tests/calls:add6 /pid == cpid/ { printf("%d %d %d %d\n", reg("x0"), reg("r1"), reg("x4"), arg5); }
LOAD calls
EXPECT_RE
	1 2 5 6
	$
	$
NEEDS aarch64 uprobe prog:calls

NAME samples in user mode
PROG profile:hz:999 /pid == cpid/ { @[usermode] = count(); } end { printf("%d\n", @[1] > 0); clear(@); }
LOAD spin 300
EXPECT
	1
	$
	$
NEEDS aarch64 prog:spin

NAME many system calls by one program
PROG
	tracepoint:syscalls:sys_enter_getp*, tracepoint:syscalls:sys_exit_getp* /pid == cpid/ { @[probe] = count(); }
	end { printf("%d\n", @["tracepoint:syscalls:sys_enter_getppid"] == @["tracepoint:syscalls:sys_exit_getppid"]); clear(@); }
LOAD syscalls
EXPECT
	1
	$
	$
NEEDS aarch64 tracefs prog:syscalls

NAME names of system calls by the machine's numbers
PROG begin { printf("%s %s\n", syscall_name(56), syscall_name(2)); exit(); }
EXPECT_RE
	openat io_submit
	$
	$
NEEDS aarch64

NAME user stack at a function's entry: the caller is there, though it is in no frame yet
PROG uprobe:build/tests/frames:bare /pid == cpid/ { print(fp_ustack(3)); @[fp_ustack(2)] = count(); } uprobe:build/tests/frames:caller /pid == cpid/ { print(fp_ustack(2)); }
LOAD frames
EXPECT_RE
	$
	        caller\+0
	        main\+[0-9]+
	$
	$
	        bare\+0
	        caller\+[0-9]+
	        main\+[0-9]+
	$
	$
	$
	@\[
	        bare\+0
	        caller\+[0-9]+
	\]: 1
NEEDS aarch64 uprobe feature:task_regs

NAME a program of 32 bits: its system calls are not those of the same numbers
PROG
	tracepoint:syscalls:sys_enter_write /pid == cpid/ { @write = count(); }
	tracepoint:syscalls:sys_enter_* /pid == cpid && comm == "arm32"/ { @[probe] = count(); }
	rawtracepoint:sys_enter /pid == cpid && args.id == 64/ { @calls = count(); }
LOAD arm32
EXPECT
	$
	$
	@calls: 3
NEEDS aarch64 tracefs prog:arm32

NAME a program of 32 bits: its stack and registers
PROG rawtracepoint:sys_enter /pid == cpid && args.id == 64/ { @[ustack(1), comm] = count(); @fp[fp_ustack(1)] = count(); @raw[ustack(raw, 1)] = count(); }
LOAD arm32
EXPECT_RE
	$
	$
	@\[
	        _start\+48
	, arm32\]: 3
	@fp\[
	        _start\+48
	\]: 3
	@raw\[
	10084
	\]: 3
NEEDS aarch64 prog:arm32

NAME a program of 32 bits: no probes in it
RUN "$SONDE" -e 'uprobe:build/tests/arm32:0x6c { }' 2>&1
NEEDS aarch64 prog:arm32
RC 1
EXPECT
	stdin:1:1-30: ERROR: build/tests/arm32 is for arm, and this machine is aarch64
	uprobe:build/tests/arm32:0x6c { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME memory of the kernel is watched for the whole machine only
RUN
	"$SONDE" -c 'build/tests/watched 5' -e 'watchpoint:jiffies_64:8:w { }' 2>&1 |
		sed -n 's/.*for thread [0-9]*\( (.* -p)\).*/refused\1/p'
	"$SONDE" -q -e 'watchpoint:jiffies_64:8:w { print(1); exit(); }'
EXPECT
	refused (kernels of some processors, as aarch64, watch their own memory for the whole machine only: without -c and -p)
	1
	$
	$
NEEDS aarch64 prog:watched sym:jiffies_64
TIMEOUT 20

NAME uprobes in 32-bit code are refused also when nobody else minds
RUN "$SONDE" --unsafe --dry-run -e 'uprobe:build/tests/arm32:0x6c { }' 2>&1 | grep -c 'is for arm'
EXPECT
	1
NEEDS aarch64 uprobe prog:arm32

NAME Python in a container, where its file is at another path
RUN python3 tests/kernel/langstacks.py -r "$SONDE" /usr/bin/python3
EXPECT
	81 stacks are the same
NEEDS aarch64 dwunwind file:/usr/bin/unshare file:/usr/bin/python3
TIMEOUT 60
