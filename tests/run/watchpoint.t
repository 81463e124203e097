NAME a variable of the kernel by name
PROG watchpoint:jiffies_64:8:w { @ = count(); } interval:ms:300 { exit() } END { print(@ > 5); clear(@) }
NEEDS vm
EXPECT
	true
	$
	$

NAME a function of the kernel by name
PROG watchpoint:__x64_sys_getppid:1:x /pid == cpid/ { @ = count(); }
LOAD syscalls 5
NEEDS vm
EXPECT
	$
	$
	@: 5

NAME errors
PROG watchpoint:no_such_symbol_here:8:w { } watchpoint:0x1001:4:w { } watchpoint:0x1000:3:w { } watchpoint:0x1000:4:q { } watchpoint:1x:4:w { } watchpoint:0x1000 { }
RC 1
EXPECT
ERR_RE
	stdin:1:.* ERROR: /proc/kallsyms has no address of no_such_symbol_here
	...
	stdin:1:.* ERROR: watchpoint address must be aligned to its length
	...
	stdin:1:.* ERROR: Invalid length of watchpoint probe: 3, must be 1, 2, 4 or 8
	...
	stdin:1:.* ERROR: Invalid mode of watchpoint probe: q, must be w, rw or x
	...
	stdin:1:.* ERROR: Invalid address of watchpoint probe: invalid integer: 1x
	...
	stdin:1:.* ERROR: watchpoint probe type requires 3 arguments, found 1
	...
