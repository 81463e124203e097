NAME assert
PROG BEGIN { assert(1 == 1, "good"); assert(pid == 0, "pid is not 0"); print(1); }
RC 1
EXPECT
	$
	$
ERR_RE
	...
	stdin:1:[0-9]+-[0-9]+: ERROR: assert failed: pid is not 0
	...

NAME assert that holds
PROG BEGIN { assert(pid > 0, "pid"); print(1); }
EXPECT
	1
	$
	$

NAME static_assert and fail
PROG BEGIN { static_assert(sizeof(1) == 1, "good"); if comptime (1 == 2) { fail("no"); } print(1); }
EXPECT
	1
	$
	$

NAME static_assert that does not hold
PROG BEGIN { static_assert(sizeof(1) == 2, "bad size"); static_assert(pid == 2, "x"); fail("x %d %s", 1, "abc"); }
RC 1
EXPECT
ERR_RE
	stdin:1:[0-9]+-[0-9]+: ERROR: bad size
	...
	stdin:.* ERROR: static_assert\(\) needs a condition that is known when the script is compiled
	...
	stdin:.* ERROR: x 1 abc
	...

NAME config as a record
PROG
	config = { max_strlen = 100; stack_mode = perf }
	BEGIN { print(config.max_strlen); print(config.stack_mode); $c = config.max_map_keys * 2; print($c); if comptime (config.max_strlen == 100) { print("short"); } }
EXPECT
	100
	perf
	8192
	short
	$
	$

NAME unknown setting
PROG BEGIN { print(config.max_nothing); }
RC 1
EXPECT
ERR_RE
	stdin:1:[0-9]+-[0-9]+: ERROR: Record does not contain a field named 'max_nothing'
	...

NAME container_of
PROG BEGIN { $p = (uint64 *)0x1000000; print(container_of($p, struct task_struct, pid) == (struct task_struct *)(0x1000000 - offsetof(struct task_struct, pid))); print(container_of($p, struct task_struct, se.vruntime) == (struct task_struct *)(0x1000000 - offsetof(struct task_struct, se.vruntime))); }
NEEDS btf
EXPECT
	true
	true
	$
	$

NAME container_of misuse
PROG BEGIN { print(container_of(1, struct task_struct, pid)); print(container_of(curtask, int, pid)); print(container_of(curtask, struct task_struct, nope)); }
NEEDS btf
RC 1
EXPECT
ERR_RE
	stdin:1:[0-9]+-[0-9]+: ERROR: container_of\(\) expects a pointer \(int8 provided\)
	...
	stdin:.* ERROR: container_of\(\) expects the type of a struct \(int32 provided\)
	...
	stdin:.* ERROR: struct task_struct has no such member of whole bytes
	...

NAME config: all settings are members of the record
ARGS -q
PROG
	config = { max_followed = 99; cache_user_symbols = NONE }
	BEGIN { print((config.kretprobe_maxactive, config.max_followed, config.cache_user_symbols)); print((config.title, config.missing_probes, config.license, config.lazy_symbolication)); }
EXPECT
	(4096, 99, NONE)
	(, error, GPL, true)
	$
	$
