NAME strerror
PROG BEGIN { print(strerror(2)); print(strerror(-13)); print(strerror(0)); print(strerror(200)); print(strerror(41)); print(strerror(133)); }
EXPECT
	No such file or directory
	Permission denied
	Success
	Unknown error
	Unknown error
	Memory page has hardware error
	$
	$

NAME signal_name
PROG BEGIN { print(signal_name(9)); print(signal_name(0)); print(signal_name(-9)); print(signal_name(34)); print(signal_name(40)); print(signal_name(64)); print(signal_name(65)); print(signal_name(32)); }
EXPECT
	Killed
	Unknown signal 0
	N/A
	Real-time signal 0
	Real-time signal 6
	Real-time signal 30
	N/A
	Unknown signal 32
	$
	$

NAME syscall_name
PROG BEGIN { print(syscall_name(450)); print(syscall_name(468)); print(syscall_name(512)); print(syscall_name(-1)); }
EXPECT
	set_mempolicy_home_node
	file_getattr
	Unknown syscall
	Unknown syscall
	$
	$

NAME syscall_name by the numbers of x86_64
PROG BEGIN { print(syscall_name(1)); print(syscall_name(0)); print(syscall_name(335)); }
NEEDS x86_64
EXPECT
	write
	read
	uretprobe
	$
	$

NAME names as keys, in comparisons and tuples
PROG BEGIN { @[strerror(1)] = count(); @[strerror(-1)] = count(); if (syscall_name(435) == "clone3") { print((1, signal_name(2))); } print(sizeof(strerror(1))); $s = syscall_name(437); printf("%s %s|\n", $s, strerror(1)); }
EXPECT
	(1, Interrupt)
	64
	openat2 Operation not permitted|
	$
	$
	@[Operation not permitted]: 2

NAME names of values that only the kernel knows
PROG tracepoint:raw_syscalls:sys_exit /pid == cpid && args.ret == -2/ { @[syscall_name(args.id), strerror(args.ret)] = count(); }
LOAD open /nonexistent
NEEDS tracefs tp:raw_syscalls/sys_exit
EXPECT_RE
	...
	@\[openat, No such file or directory\]: [0-9]+
	...

NAME misuse of names
PROG BEGIN { print(strerror("a")); print(signal_name((1, 2))); print(syscall_name()); }
RC 1
EXPECT
ERR_RE
	stdin:1:[0-9]+-[0-9]+: ERROR: strerror\(\) only supports int arguments \(string\[2\] provided\)
	...
	stdin:1:[0-9]+-[0-9]+: ERROR: signal_name\(\) only supports int arguments .*
	...
	stdin:1:[0-9]+-[0-9]+: ERROR: syscall_name\(\) requires 1 argument \(0 provided\)
	...
