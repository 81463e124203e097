NAME arguments by name
PROG fentry:vfs_write /pid == cpid/ { printf("%d\n", args.count); }
LOAD rw w55
NEEDS fentry
EXPECT
	55
	$
	$

NAME typed walks
PROG fentry:vfs_write /pid == cpid/ { printf("%s\n", str(args.file->f_path.dentry->d_name.name)); }
LOAD rw w55
NEEDS fentry
EXPECT
	null
	$
	$

NAME exit with arguments and result
PROG fexit:vfs_write /pid == cpid/ { printf("%d of %d\n", retval, args.count); }
LOAD rw w55 w66
NEEDS fentry
EXPECT
	55 of 55
	66 of 66
	$
	$

NAME pointers to numbers, which old kernels do not let programs load
PROG fentry:vfs_write /pid == cpid/ { printf("%d %d\n", *args.pos, args.buf != 0); } fexit:vfs_write /pid == cpid/ { printf("%d %d\n", *args.pos, retval); }
LOAD rw w55
NEEDS fentry
EXPECT
	0 1
	0 55
	$
	$

NAME old names
PROG kfunc:vfs_write /pid == cpid/ { @a = count(); } kretfunc:vfs_write /pid == cpid/ { @b = count(); }
LOAD rw w55 w66
NEEDS fentry
EXPECT
	$
	$
	@a: 2
	@b: 2

NAME module, func and probe
PROG fentry:vmlinux:vfs_write /pid == cpid/ { printf("%s %s\n", func, probe); }
LOAD rw w55
NEEDS fentry
EXPECT
	vfs_write fentry:vmlinux:vfs_write
	$
	$

NAME list with types
RUN "$SONDE" -lv 'fexit:vmlinux:vfs_read'
NEEDS fentry
EXPECT_RE
	fexit:vmlinux:vfs_read
	    struct file \* file
	    char \* buf
	    size_t count
	    loff_t \* pos
	    ssize_t retval

NAME a BPF program in the kernel
ALONE
RUN
	"$SONDE" -q -e 'interval:ms:20 { @ = count(); }' >/dev/null & p=$!
	i=0
	while [ -z "$("$SONDE" -l 'fentry:bpf:interval_ms_20*')" ] && [ $i -lt 50 ]
	do sleep 0.1
	i=$((i + 1))
	done
	"$SONDE" -q -e 'fentry:bpf:interval_ms_20* { @ = count(); } interval:ms:1500 { printf("%d\n", (int64)@ > 3); exit(); } end { clear(@); }'
	kill $p
	"$SONDE" -q -e 'fentry:bpf:interval_ms_99* { }' 2>&1 | head -n 1
	"$SONDE" -q -e 'fentry:bpf:x:y { }' 2>&1 | head -n 1
NEEDS vm fentry
TIMEOUT 20
EXPECT
	1
	$
	$
	stdin:1:1-27: ERROR: No matches for fentry bpf:interval_ms_99*.
	stdin:1:1-15: ERROR: x is not the id of a BPF program

NAME loops and results
PROG fentry:vfs_write /pid == cpid/ { for $i : 0..100 { if ($i == 99) { @ = count(); return 1; } } } fexit:vfs_write /pid == cpid/ { return 7; }
LOAD rw 1
NEEDS fentry
EXPECT_RE
	...
	@: [0-9]+

NAME args as a whole
RUN "$SONDE" -q -c 'build/tests/rw w7' -e 'fentry:vfs_write /pid == cpid && args.count == 7/ { print(args); @[args.file] = args; }' | sed 's/0x[0-9a-f]*/ADDRESS/g'
NEEDS fentry
EXPECT
	{ .file = ADDRESS, .buf = ADDRESS, .count = 7, .pos = ADDRESS }
	$
	$
	@[ADDRESS]: { .file = ADDRESS, .buf = ADDRESS, .count = 7, .pos = ADDRESS }

# Where BTF has it by the name that is written: a kprobe at the other name, with the arguments that BTF describes.
NAME a function that the compiler changed: fentry and fexit
RUN
	list=/sys/kernel/tracing/available_filter_functions
	grep -q '^finish_task_switch$' $list && warned= || warned='WARNING: this kernel'
	"$SONDE" -q -c 'sleep 0.1' -e 'fentry:finish_task_switch { @[args.prev->pid >= 0, probe] = max(1); } fexit:finish_task_switch { @r = max(1); }' >$TMPDIR/o 2>&1
	grep '^@' $TMPDIR/o || cat $TMPDIR/o
	grep -q "${warned:-^@}" $TMPDIR/o && echo told
NEEDS vm kprobe fentry btf:finish_task_switch
TIMEOUT 30
EXPECT
	@[true, fentry:vmlinux:finish_task_switch]: 1
	@r: 1
	told

NAME usermode in a function of the kernel
PROG fentry:vfs_write /pid == cpid/ { print(usermode); exit(); }
LOAD rw 10
NEEDS fentry
EXPECT
	0
	$
	$
