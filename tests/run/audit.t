# What the manual and the changelog of the reference say, tried: tests/audit.md names these cases.

NAME an expression if of nothing
PROG begin { $x = if (pid > 0) { 1 } else { 2 }; print($x); if (pid == 0) { print("no"); } else if (pid > 0) { print("yes"); } }
ARGS -q
EXPECT
	1
	yes
	$
	$

NAME large parameters
PROG begin { print(($1, $2, $3, $4, $5, $6, $7)); }
ARGS -q
PARAMS 18446744073709551615 -9 0x10 0b11 1e3 5s 1_000
RC 1
EXPECT
ERR
	ERROR: invalid option -- '9'
	USAGE:
	    sonde [options] FILE [arguments]
	    sonde [options] -e 'PROGRAM' [arguments]
	    sonde [options] - [arguments]          (script on standard input)
	    sonde --help                           (all options)

NAME args of probes of several kinds
PROG begin, tracepoint:syscalls:sys_enter_getppid { print(args.nosuch); }
ARGS -q
RC 1
NEEDS btf tracefs
EXPECT
ERR
	stdin:1:54-58: ERROR: The args builtin can only be used with 'tracepoint', 'rawtracepoint', 'fentry', 'fexit' and 'uprobe' probes
	begin, tracepoint:syscalls:sys_enter_getppid { print(args.nosuch); }
	                                                     ~~~~
	stdin:1:54-65: ERROR: Struct/union of type 'struct _tracepoint_syscalls_sys_enter_getppid' does not contain a field named 'nosuch'
	begin, tracepoint:syscalls:sys_enter_getppid { print(args.nosuch); }
	                                                     ~~~~~~~~~~~

NAME attach points that are wrong: too many
PROG tracepoint:a:b:c { }
ARGS -q
RC 1
NEEDS btf tracefs
EXPECT
ERR
	stdin:1:1-17: ERROR: tracepoint probe type requires 2 arguments, found 3
	tracepoint:a:b:c { }
	~~~~~~~~~~~~~~~~
	HINT: syntax: tracepoint:category:event

NAME not
PROG begin { print((!0, !5, !true, !(1 == 2), ~0, !!7)); $x = 0; print(!$x); }
ARGS -q
EXPECT
	(true, false, false, true, 18446744073709551615, true)
	true
	$
	$

NAME strncmp
PROG begin { print((strncmp("hello", "help", 3), strncmp("hello", "help", 4), strncmp("abc", "abc", 10), strncmp(comm, comm, 16))); }
ARGS -q
EXPECT
	(0, 1, 0, 0)
	$
	$

NAME compound assignments
PROG begin { $a = 5; $a += 1 + 2; $a *= 2; $a -= 1; $a /= 3; $a <<= 2; $a |= 1; $a ^= 3; $a &= 0xff; $a %= 7; print($a); @m = 3; @m <<= 2; print(@m); clear(@m); }
ARGS -q
EXPECT
	1
	@m: 12
	$
	$

NAME pton
PROG begin { print(pton("127.0.0.1")); print(pton("::1")); print(ntop(pton("10.1.2.3"))); print(ntop(pton("fe80::1"))); }
ARGS -q
EXPECT
	[127,0,0,1]
	[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1]
	10.1.2.3
	fe80::1
	$
	$

NAME enums of the kernel
PROG begin { print(TCP_ESTABLISHED); print(TCP_CLOSE); print(BPF_MAP_TYPE_HASH); }
ARGS -q
NEEDS btf
EXPECT
	TCP_ESTABLISHED
	TCP_CLOSE
	BPF_MAP_TYPE_HASH
	$
	$

NAME texts are compared
PROG begin { $a = "abc"; print(($a == "abc", $a == "abcd", $a != "ab", "abc" == $a, comm != "nosuch")); $b = "abc"; print($a == $b); @m["k"] = "abc"; print(@m["k"] == $b); clear(@m); }
ARGS -q
EXPECT
	(true, false, true, true, true)
	true
	true
	$
	$

NAME lists of several patterns
RUN "$SONDE" -l tracepoint:syscalls:sys_enter_getppid,tracepoint:sched:sched_switch 2>&1; true
NEEDS btf tracefs
EXPECT
	tracepoint:syscalls:sys_enter_getppid
	tracepoint:sched:sched_switch

NAME --no-warnings says nothing of warnings
PROG begin { 5 + 1; print($1); exit(); print("never"); }
ARGS -q --no-warnings
EXPECT
	0
	$
	$

NAME --dry-run
PROG begin { print(1); }
ARGS -q --dry-run
EXPECT

NAME numbers as parameters
PROG begin { print(($1 + 1, $2, str($3), str($1), str($1 + 1))); print(str($3 + 1)); }
ARGS -q
PARAMS 12 0x10 abc
EXPECT
	(13, 16, abc, 12, 2)
	bc
	$
	$

NAME getopt with a description
PROG begin { print((getopt("n", 1, "a number"), getopt("flag", false, "a flag"), getopt("s", "text"))); }
ARGS -q
PARAMS -- --n=5
EXPECT
	(5, false, text)
	$
	$

NAME settings in the environment
PROG config = { max_strlen = 50 } begin { @a = 1; print((config.max_strlen, config.perf_rb_pages)); }
ARGS -q
ENV BPFTRACE_MAX_STRLEN=10 BPFTRACE_STR_TRUNC_TRAILER=+ BPFTRACE_PRINT_MAPS_ON_EXIT=0 BPFTRACE_PERF_RB_PAGES=16
EXPECT
	(10, 16)
	$
	$

NAME probes have names
PROG mine=begin { print(probe); }
ARGS -q
EXPECT
	begin
	$
	$

NAME timestamps are compared
PROG begin { print(strftime("%Y", 0) == strftime("%Y", 0)); }
ARGS -q
EXPECT
	true
	$
	$

NAME enum: no such value
PROG enum e { ONE = 1, TWO } begin { print((enum e)7); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:39-48: ERROR: enum e has no enumerator of the value 7
	enum e { ONE = 1, TWO } begin { print((enum e)7); }
	                                      ~~~~~~~~~

NAME str of no length
PROG begin { print((str("hello", 0), 1)); }
ARGS -q
EXPECT
	(, 1)
	$
	$

NAME variables that are never set
PROG begin { let $c : uint8; print($c); let $d; $d = 1; print($d); let $e; }
ARGS -q
EXPECT
	0
	1
	$
	$
ERR
	stdin:1:9-23: WARNING: Variable $c was never assigned to.
	begin { let $c : uint8; print($c); let $d; $d = 1; print($d); let $e; }
	        ~~~~~~~~~~~~~~
	stdin:1:31-33: WARNING: Variable used before it was assigned: $c
	begin { let $c : uint8; print($c); let $d; $d = 1; print($d); let $e; }
	                              ~~
	stdin:1:63-69: WARNING: Variable $e was never assigned to.
	begin { let $c : uint8; print($c); let $d; $d = 1; print($d); let $e; }
	                                                              ~~~~~~

NAME is_err
PROG begin { print((is_err(-5), is_err(5), is_err((void *)-4095), is_err((void*)0))); }
ARGS -q
EXPECT
	(true, false, true, false)
	$
	$

NAME warnf
PROG begin { warnf("number %d", 5); }
ARGS -q
EXPECT
	$
	$
ERR
	stdin:1:9-30: WARNING: number 5

NAME percpu_kaddr
PROG begin { print(percpu_kaddr("nosuch_symbol")); }
ARGS -q
RC 1
NEEDS btf
EXPECT
ERR
	stdin:1:28-43: ERROR: Failed to resolve kernel symbol: nosuch_symbol
	begin { print(percpu_kaddr("nosuch_symbol")); }
	                           ~~~~~~~~~~~~~~~

NAME numbers: too large an exponent
PROG begin { print(1e25); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:15-19: ERROR: overflow, the maximum value is 18446744073709551615: 1e25
	begin { print(1e25); }
	              ~~~~

NAME a number that is too large
PROG begin { print(18446744073709551616); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:15-35: ERROR: overflow, the maximum value is 18446744073709551615: 18446744073709551616
	begin { print(18446744073709551616); }
	              ~~~~~~~~~~~~~~~~~~~~

NAME unroll too often
PROG begin { unroll(101) { print("x"); } }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:16-19: ERROR: unroll maximum value is 100
	begin { unroll(101) { print("x"); } }
	               ~~~

NAME settings that are unknown
PROG config = { nosuch = 1 } begin { }
ARGS -q
RC 2
EXPECT
ERR
	stdin:1:12-22: ERROR: nosuch: not a known configuration option
	config = { nosuch = 1 } begin { }
	           ~~~~~~~~~~

NAME settings that are no numbers
PROG config = { max_strlen = x } begin { }
ARGS -q
RC 2
EXPECT
ERR
	stdin:1:12-26: ERROR: max_strlen: Invalid value for max_strlen: expecting a number, got x
	config = { max_strlen = x } begin { }
	           ~~~~~~~~~~~~~~

NAME strftime with a bad format
PROG begin { strftime(5, nsecs); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:18-19: ERROR: strftime() expects a string literal (int8 provided)
	begin { strftime(5, nsecs); }
	                 ~

NAME names of types are no parameters of macros
PROG macro m(int32) { 1 } begin { m(1); }
ARGS -q
EXPECT
	$
	$

NAME a literal that does not fit is an error
PROG begin { let $a : uint8; $a = 300; }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:25-33: ERROR: Type mismatch for $a: trying to assign value of type 'int16' when variable already has a type 'uint8'
	begin { let $a : uint8; $a = 300; }
	                        ~~~~~~~~

NAME asyncwatchpoint is gone
PROG asyncwatchpoint:0x1000:8:w { }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:1-27: ERROR: Invalid probe type: asyncwatchpoint
	asyncwatchpoint:0x1000:8:w { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME BENCH and TEST are run when asked for
PROG bench:a { } test:b { }
ARGS -q
RC 255
EXPECT
ERR
	ERROR: No probes attached; use --test to run test probes.

NAME build_id stacks are for user stacks
PROG begin { print(kstack(build_id)); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:22-30: ERROR: 'build_id' stack mode can only be used for ustack
	begin { print(kstack(build_id)); }
	                     ~~~~~~~~

NAME structs are copied by assignment
PROG struct two { int a; int b; } begin { $x = (uint64)0x200000001; $s = *(struct two *)&$x; $x = 7; print(($s.a, $s.b)); $t = $s; print($t); }
ARGS -q
EXPECT
	(1, 2)
	{ .a = 1, .b = 2 }
	$
	$

NAME bit-fields of structs in maps, tuples, records and keys
PROG
	struct bits { int a : 3; int b : 5; int c; }
	begin { $x = (uint64)0x500000013; $p = (struct bits *)&$x; @m = *$p; print((@m.a, @m.b, @m.c)); $t = (1, *$p); print($t.1.c); $r = (x=*$p, y=2); print($r.x.c); @k[*$p] = 1; for $kv : @k { print($kv.0.c); } clear(@m); clear(@k); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	(3, 2, 5)
	5
	5
	5
	$
	$

NAME print() of a histogram whose buckets are divided to nothing
PROG begin { @ = hist(5); print(@, 0, 1000); print(@, 5, 1000); clear(@); }
ARGS -q
EXPECT
	@:
	[4, 8)                 0 |                                                    |
	$
	@:
	[4, 8)                 0 |                                                    |
	$
	$
	$

NAME let is zero in every round
PROG begin { for $i : 0..3 { let $x : int64; $x += $i; @a[$i] = $x; } let $n = 3; while ($n > 0) { let $y : uint64; $y += $n; @b[$n] = $y; $n--; } }
ARGS -q
EXPECT
	$
	$
	@a[0]: 0
	@a[1]: 1
	@a[2]: 2
	@b[1]: 1
	@b[2]: 2
	@b[3]: 3
ERR
	stdin:1:118-120: WARNING: Expression of type: int64 being cast to type: uint64. This may cause unexpected results. Use an explicit cast to suppress this warning.
	begin { for $i : 0..3 { let $x : int64; $x += $i; @a[$i] = $x; } let $n = 3; while ($n > 0) { let $y : uint64; $y += $n; @b[$n] = $y; $n--; } }
	                                                                                                                     ~~

NAME str_concat
PROG begin { $s = str_concat(comm, "-x"); print(strlen($s) > 2); print(str_concat("ab", "cd")); print(str_concat(str_concat("a", "b"), "c")); }
ARGS -q
EXPECT
	true
	abcd
	abc
	$
	$

NAME types as arguments of macros
PROG macro size(t) { sizeof(t) } macro cast(t, x) { (t)x } begin { print(size(typeof(uint32))); print(size(task_struct) == sizeof(struct task_struct)); print(cast(typeof(int8), 300)); }
ARGS -q
NEEDS btf
EXPECT
	4
	true
	44
	$
	$

NAME container_of
PROG struct in_it { int n; } struct out_it { int x; int y; struct in_it m; } begin { $p = (struct in_it *)0x1008; print(container_of($p, typeof(struct out_it), m)); }
ARGS -q
EXPECT
	0x1000
	$
	$

NAME config as a value
PROG config = { max_strlen = 50; stack_mode = raw; missing_probes = warn } begin { print((config.max_strlen, config.stack_mode, config.missing_probes, config.license)); }
ARGS -q
EXPECT
	(50, raw, warn, GPL)
	$
	$

NAME a cast to the same type is a warning
PROG begin { $x = (int64)3; $y = (int64)$x; print($y); }
ARGS -q
EXPECT
	3
	$
	$

NAME uaddr gives a pointer of the symbol's size
PROG begin { print(uaddr("x")); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:15-25: ERROR: The uaddr builtin can not be used with begin probes
	begin { print(uaddr("x")); }
	              ~~~~~~~~~~
	HINT: these probes have it: uprobe, uretprobe, usdt

NAME a loop variable of one loop has nothing to do with that of the next
PROG begin { for $i : 0..2 { print($i); } @m["k"] = 1; for $i : @m { print($i); } clear(@m); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	0
	1
	(k, 1)
	$
	$

NAME an empty scalar map is printed as zero
PROG begin { @c = count(); clear(@c); print(@c); @s = sum(3); clear(@s); print(@s); @i = 5; clear(@i); print(@i); }
ARGS -q
EXPECT
	@c: 0
	@s: 0
	@i: 0
	$
	$

NAME casts of long strings
PROG begin { $a = (uint8[100])buf("x", 1); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:14-37: ERROR: Cannot cast from "buffer[5]" to "uint8[100]"
	begin { $a = (uint8[100])buf("x", 1); }
	             ~~~~~~~~~~~~~~~~~~~~~~~

NAME MAC addresses with the high bit set
PROG begin { $x = (uint64)0xfedcba9887ff; print(macaddr((uint8[8])$x)); }
ARGS -q
EXPECT
	FF:87:98:BA:DC:FE
	$
	$

NAME self: is listed
RUN "$SONDE" -l -e 'self:signal:SIGUSR1 { } begin { }' 2>&1; true
EXPECT
	self:signal:SIGUSR1
	begin

NAME pcomm is the parent's name
PROG begin { print(pcomm == str(curtask.real_parent.comm, 16)); print(leader_comm == comm); print((leader_tid == tid, ppid == curtask.real_parent.tgid)); }
ARGS -q
NEEDS btf
EXPECT
	true
	true
	(true, true)
	$
	$

NAME subtraction is signed
PROG begin { $a = (uint64)3; $b = (uint64)5; print($a - $b); $a -= 5; print($a); $c = (uint32)0; $c--; print($c); @n = (uint64)1; @n -= 2; print(@n); clear(@n); }
ARGS -q
EXPECT
	-2
	-2
	-1
	@n: -1
	$
	$

NAME attributes behind a struct
PROG struct p { char a; int b; } __attribute__((packed)); begin { print(sizeof(struct p)); print(offsetof(struct p, b)); }
ARGS -q
EXPECT
	5
	1
	$
	$

NAME the middle of ?: may be empty
PROG begin { print(0 ?: 5); print(3 ?: 5); $x = 7; print($x ?: 1); print(($x - 7) ?: 2); }
ARGS -q
EXPECT
	5
	3
	7
	2
	$
	$

NAME GFP flags in words
PROG begin { printf("%gr %gr %gr\n", 0xcc0, 0, 0x400); }
ARGS -q
EXPECT
	GFP_KERNEL 0 __GFP_DIRECT_RECLAIM
	$
	$

NAME write_user needs --unsafe
PROG begin { write_user(0, 0, 1); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:9-28: ERROR: write_user() is an unsafe function being used in safe mode
	begin { write_user(0, 0, 1); }
	        ~~~~~~~~~~~~~~~~~~~
	HINT: allow it with --unsafe

NAME sign mismatches are warnings
PROG begin { $a = (uint64)5; $b = (int64)-3; $a = $b; print($a); @x = (int32)1; @x = (uint64)7; print(@x); clear(@x); }
ARGS -q
EXPECT
	-3
	@x: 7
	$
	$

NAME bit-fields of a printed struct
PROG struct bits { int a : 3; unsigned int b : 5; int c; } begin { $x = (uint64)0x500000013; print(*(struct bits *)&$x); }
ARGS -q
EXPECT
	{ .a = 3, .b = 2, .c = 5 }
	$
	$

NAME loops have variables of their own
PROG begin { for $i : 0..2 { $x = $i; print($x); } for $i : 0..1 { $x = "text"; print($x); } @m["k"] = 7; for $kv : @m { print($kv.0); } for $kv : @m { print($kv.1); } clear(@m); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	0
	1
	text
	k
	7
	$
	$

NAME a header that is not there, and an empty line at the end
PROG begin { }
ARGS -q --include nope.h
RC 1
EXPECT
ERR
	ERROR: Cannot find the header 'nope.h'

NAME a negative literal in an unsigned type
PROG begin { print((uint8)-1); print((uint32)-5); print((uint64)-1); $x = (uint16)-2; print($x); }
ARGS -q
EXPECT
	255
	4294967291
	18446744073709551615
	65534
	$
	$

NAME licenses
PROG config = { license = "MIT"; } begin { }
ARGS -q
RC 2
EXPECT
ERR
	stdin:1:12-27: ERROR: license: Invalid value for license: valid values are GPL, GPL v2, GPL and additional rights, Dual BSD/GPL, Dual MIT/GPL, Dual MPL/GPL, got MIT
	config = { license = "MIT"; } begin { }
	           ~~~~~~~~~~~~~~~

NAME sarg is gone
PROG uprobe:/bin/sh:main { print(sarg0); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:1-20: ERROR: /bin/sh has no symbols: it is stripped, or damaged
	uprobe:/bin/sh:main { print(sarg0); }
	~~~~~~~~~~~~~~~~~~~

NAME watchpoint of a function's argument is gone
PROG watchpoint:main+arg0:8:w { }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:1-25: ERROR: Invalid address of watchpoint probe: neither a number nor a name: main+arg0
	watchpoint:main+arg0:8:w { }
	~~~~~~~~~~~~~~~~~~~~~~~~
	HINT: syntax: watchpoint:(address|[file:]symbol):length:mode

NAME syscall_name
PROG begin { print((syscall_name(0), syscall_name(99999))); }
ARGS -q
EXPECT
	(read, Unknown syscall)
	$
	$

NAME parents by themselves and of a task
PROG begin { print(ppid == ppid(curtask)); print(pcomm == pcomm(curtask)); print(leader_comm(curtask) == leader_comm); print(leader_tid(curtask) == leader_tid); }
ARGS -q
NEEDS btf
EXPECT
	true
	true
	true
	true
	$
	$

NAME indexes of strings
PROG begin { $s = "abc"; print(($s[0], $s[2])); print(comm[0] > 0); }
ARGS -q
EXPECT
	(97, 99)
	true
	$
	$

NAME dots and arrows are the same
PROG begin { print(curtask.real_parent->pid == curtask->real_parent.pid); }
ARGS -q
NEEDS btf
EXPECT
	true
	$
	$

NAME probetype
PROG begin { print(probetype); } interval:ms:1 { if comptime (probetype == "interval") { print("i"); } exit(); }
ARGS -q
EXPECT
	special
	i
	$
	$

NAME elements of tuples by an index
PROG begin { $t = (1, "a", (2, 3)); print($t[0]); print($t[1]); print($t[2][1]); @t = $t; print(@t[1]); clear(@t); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:92-97: ERROR: @t used as a map with an explicit key (non-scalar map), previously used without an explicit key (scalar map)
	begin { $t = (1, "a", (2, 3)); print($t[0]); print($t[1]); print($t[2][1]); @t = $t; print(@t[1]); clear(@t); }
	                                                                                           ~~~~~

NAME several begins and ends
PROG begin { print(1); } begin { print(2); } end { print(3); } end { print(4); }
ARGS -q
EXPECT
	1
	2
	3
	4
	$
	$

NAME records
PROG begin { $r = (a=1, b="x", c=(1,2)); print($r); print($r.b); @r = $r; print(@r.c.1); $r = (a=5, b="yy", c=(3,4)); print($r); clear(@r); }
ARGS -q
EXPECT
	{ .a = 1, .b = x, .c = (1, 2) }
	x
	2
	{ .a = 5, .b = yy, .c = (3, 4) }
	$
	$

NAME find
PROG begin { @m["a"] = 5; $v = 0; if (find(@m, "a", $v)) { print($v); } print(find(@m, "b", $v)); print($v); clear(@m); }
ARGS -q
EXPECT
	5
	false
	5
	$
	$

NAME cpid without a child
PROG begin { print(cpid); print(has_cpid == has_cpid); }
ARGS -q
EXPECT
	0
	true
	$
	$
ERR
	stdin:1:15-19: WARNING: No child command (`-c`); cpid is zero
	begin { print(cpid); print(has_cpid == has_cpid); }
	              ~~~~

NAME buffers of output to a file
PROG begin { printf("a\n"); printf("b\n"); }
ARGS -q -B full
EXPECT
	a
	b
	$
	$

NAME integers are not promoted in variables
PROG begin { $a = (uint8)255; $a++; print($a); $b = (int8)127; $b += 1; print($b); }
ARGS -q
EXPECT
	256
	128
	$
	$

NAME macros
PROG macro add(x, y) { x + y } macro inc($x) { $x += 1; } macro put(@m, v) { @m[v] = v; } begin { print(add(1, 2) * 2); $a = 5; inc($a); print($a); put(@z, 7); print(@z[7]); clear(@z); }
ARGS -q
EXPECT
	6
	6
	7
	$
	$

NAME discarded values are warnings
PROG begin { 5 + 1; strlen("a"); pid; (1, 2); exit(); }
ARGS -q
EXPECT
	$
	$
ERR
	stdin:1:9-14: WARNING: Return value discarded.
	begin { 5 + 1; strlen("a"); pid; (1, 2); exit(); }
	        ~~~~~
	stdin:1:16-27: WARNING: Return value discarded.
	begin { 5 + 1; strlen("a"); pid; (1, 2); exit(); }
	               ~~~~~~~~~~~
	stdin:1:29-32: WARNING: Return value discarded.
	begin { 5 + 1; strlen("a"); pid; (1, 2); exit(); }
	                            ~~~
	stdin:1:34-40: WARNING: Return value discarded.
	begin { 5 + 1; strlen("a"); pid; (1, 2); exit(); }
	                                 ~~~~~~

NAME declared maps
PROG let @a = hash(2); let @b = lruhash(2); let @c = percpuhash(5); let @d = percpulruhash(5); begin { @a[1] = 1; @a[2] = 2; print(len(@a)); @b[1] = 1; @c[1] = count(); @d[1] = count(); clear(@a); clear(@b); clear(@c); clear(@d); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem feature:PERCPU_LOOKUP
EXPECT
	2
	$
	$

NAME while loops
PROG begin { $i = 0; while ($i < 3) { $i++; if ($i == 2) { continue; } print($i); } }
ARGS -q
EXPECT
	1
	3
	$
	$

NAME missing_probes=warn with args
PROG config = { missing_probes = warn } begin { print(1); } kprobe:nosuch_function { print(arg0); }
ARGS -q
EXPECT
	1
	$
	$
ERR
	stdin:1:56-78: WARNING: No matches for kprobe nosuch_function. Skipping.
	config = { missing_probes = warn } begin { print(1); } kprobe:nosuch_function { print(arg0); }
	                                                       ~~~~~~~~~~~~~~~~~~~~~~

NAME tuples are compared part by part
PROG begin { print((1, "a") == (1, "a")); print((1, "a") == (1, "b")); print((1, (2, 3)) != (1, (2, 4))); $x = (uint8)1; print(($x, 1) == (1, 1)); }
ARGS -q
EXPECT
	true
	false
	true
	true
	$
	$

NAME stacks are compared
PROG begin { $a = kstack(3); print($a == $a); print($a != $a); }
ARGS -q
EXPECT
	true
	false
	$
	$

NAME void and function pointers
PROG begin { $f = (struct file_operations *)0; print($f.read == 0); print(sizeof(void *)); }
ARGS -q
NEEDS btf
EXPECT
	true
	8
	$
	$

NAME block expressions within print
PROG begin { print({ let $x = 3; $x + 1 }); print(({ 5 }, 6)); }
ARGS -q
EXPECT
	4
	(5, 6)
	$
	$

NAME an lhist of nothing but too large values
PROG begin { @ = lhist(500, 0, 100, 10); @n = lhist(-5, 0, 100, 10); }
ARGS -q
EXPECT
	$
	$
	@:
	[100, ...)             1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@n:
	(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME printf in order
PROG begin { printf("%s %d %s\n", "a", 5, "b"); printf("%d %s\n", 1, comm == "x" ? "y" : "z"); }
ARGS -q
EXPECT
	a 5 b
	1 z
	$
	$

NAME char arrays are text
PROG begin { print(curtask.comm == comm); print(sizeof(curtask.comm)); }
ARGS -q
NEEDS btf
EXPECT
	true
	16
	$
	$

NAME getopt: unsigned and negative
PROG begin { print((getopt("a", 1), getopt("b", -1))); }
ARGS -q
PARAMS -- --a=18446744073709551615 --b=-7
EXPECT
	(18446744073709551615, -7)
	$
	$

NAME names of builtins are no parameters of macros
PROG macro m(pid) { pid } begin { m(1); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:9-12: ERROR: builtin 'pid' can't be used as a macro argument
	macro m(pid) { pid } begin { m(1); }
	        ~~~

NAME missing probes are an error
PROG begin { print(1); } kprobe:nosuch_function { }
ARGS -q
NEEDS kprobe
RC 1
EXPECT
ERR
	stdin:1:21-43: ERROR: No matches for kprobe nosuch_function.
	begin { print(1); } kprobe:nosuch_function { }
	                    ~~~~~~~~~~~~~~~~~~~~~~
	HINT: If this is expected, set the 'missing_probes' config variable to 'warn'.

NAME strcontains and has_key are bool
PROG begin { @m[1] = 1; print((strcontains("abc", "b"), has_key(@m, 1), has_key(@m, 2))); clear(@m); }
ARGS -q
EXPECT
	(true, true, false)
	$
	$

NAME none in JSON
PROG begin { print(()); }
ARGS -q -f json
RC 1
EXPECT
ERR
	stdin:1:15-17: ERROR: print() only supports value arguments (none provided)
	begin { print(()); }
	              ~~

NAME ncpus
PROG begin { print(ncpus > 0); }
ARGS -q
EXPECT
	true
	$
	$

NAME simple blocks
PROG begin { { $x = 1; print($x); } { $x = "other"; print($x); } }
ARGS -q
EXPECT
	1
	other
	$
	$

NAME license
PROG config = { license = "Dual BSD/GPL"; } begin { print(config.license); }
ARGS -q
EXPECT
	Dual BSD/GPL
	$
	$

NAME rawtracepoints: args, modules
PROG rawtracepoint:vmlinux:nosuch { }
ARGS -q
RC 1
NEEDS btf tracefs
EXPECT
ERR
	stdin:1:1-29: ERROR: No matches for rawtracepoint vmlinux:nosuch.
	rawtracepoint:vmlinux:nosuch { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	HINT: If this is expected, set the 'missing_probes' config variable to 'warn'.

NAME unset positional parameters
PROG begin { print($1); print($2); print(str($3)); print($#); }
ARGS -q
PARAMS a
EXPECT
	a
	0
	$
	1
	$
	$
ERR
	stdin:1:26-28: WARNING: Positional parameter $2 is empty or not provided.
	begin { print($1); print($2); print(str($3)); print($#); }
	                         ~~
	stdin:1:41-43: WARNING: Positional parameter $3 is empty or not provided.
	begin { print($1); print($2); print(str($3)); print($#); }
	                                        ~~

NAME ranges
PROG begin { for $i : 2..5 { print($i); } $a = 1; $b = 3; for ($i : $a..$b) { print($i); } for $i : 5..2 { print("never"); } }
ARGS -q
EXPECT
	2
	3
	4
	1
	2
	$
	$

NAME break, continue and return in loops
PROG begin { for $i : 0..10 { if ($i == 1) { continue; } if ($i == 3) { break; } print($i); } for $i : 0..2 { if ($i == 1) { return; } print($i); } print("never"); }
ARGS -q
EXPECT
	0
	2
	0
	$
	$

NAME namespaces of pid and tid
PROG begin { print(pid == pid(curr_ns)); print(tid(init) > 0); print(pid(nope)); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:69-73: ERROR: pid() takes a pid namespace: init or curr_ns
	begin { print(pid == pid(curr_ns)); print(tid(init) > 0); print(pid(nope)); }
	                                                                    ~~~~

NAME booleans
PROG begin { $b = true; print($b); print(!$b); print((bool)5); print((int32)true); print(true && false); @b = true; print(sizeof(true)); clear(@b); }
ARGS -q
EXPECT
	true
	false
	true
	1
	false
	1
	$
	$

NAME durations
PROG begin { print((1ns, 1us, 1ms, 1s, 1m, 1h, 1d, 5s)); }
ARGS -q
EXPECT
	(1, 1000, 1000000, 1000000000, 60000000000, 3600000000000, 86400000000000, 5000000000)
	$
	$

NAME tseries
PROG begin { @ = tseries(5, 1s, 5); clear(@); }
ARGS -q
EXPECT
	$
	$

NAME benchmarks by any case
PROG TEST:b { print(5); }
ARGS -q --test
EXPECT
	ok test:b
	1 passed, 0 failed
	$
	$

NAME assert and ppid
PROG begin { print(ppid > 0); assert(1 == 1, "fine"); assert(1 == 2, "wrong"); }
ARGS -q
RC 1
NEEDS btf
EXPECT
	true
	$
	$
ERR
	stdin:1:50-73: ERROR: assert failed: wrong

NAME errorf
PROG begin { errorf("number %d", 5); }
ARGS -q
EXPECT
	$
	$
ERR
	stdin:1:9-31: ERROR: number 5

NAME calls of builtins
PROG begin { print((pid() == pid, comm() == comm, cpu() == cpu, uid(), gid(), ncpus() == ncpus, elapsed() > 0, nsecs() > 0)); }
ARGS -q
EXPECT
	(true, true, true, 0, 0, true, true, true)
	$
	$

NAME variable indexes of arrays
PROG begin { $a = (uint8[8])(uint64)0x0807060504030201; $i = 3; print($a[$i]); print($a[9]); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:81-86: ERROR: the index 9 is out of bounds for array of size 8
	begin { $a = (uint8[8])(uint64)0x0807060504030201; $i = 3; print($a[$i]); print($a[9]); }
	                                                                                ~~~~~

NAME zeros in printf
PROG begin { printf("%05d|%08x|%3d|%-4d|%+d\n", 42, 255, 5, 6, 7); }
ARGS -q
EXPECT
	00042|000000ff|  5|6   |+7
	$
	$

NAME signs of maps
PROG begin { @a = (int8)-5; @a = 300; print(@a); @k[(int32)-1] = 1; @k[5] = 2; print(@k[-1]); clear(@a); clear(@k); }
ARGS -q
EXPECT
	@a: 300
	1
	$
	$

NAME delete tells whether there was something
PROG begin { @m[1] = 1; print(delete(@m, 1)); print(delete(@m, 1)); }
ARGS -q
EXPECT
	true
	false
	$
	$

NAME attached only begin and end: it ends by itself
PROG begin { print(1); } end { print(2); }
ARGS -q
EXPECT
	1
	2
	$
	$

NAME names of providers in any case
PROG BEGIN { print(1); } Begin { print(2); } END { print(3); } End { print(4); }
ARGS -q
EXPECT
	1
	2
	3
	4
	$
	$

NAME no parentheses needed
PROG begin { if 1 { print(1); } $x = 2; unroll 2 { print($x); } for $i : 0..1 { print($i); } if !$x { print("no"); } }
ARGS -q
EXPECT
	1
	2
	2
	0
	$
	$

NAME names of types as members
PROG struct t { int string; int int8; } begin { $x = (uint64)0x200000001; $p = (struct t *)&$x; print($p.string); print($p.int8); }
ARGS -q
EXPECT
	1
	2
	$
	$

NAME the modulo operator
PROG begin { $x = (uint64)17; print($x % 5); print($x % 16); $y = (uint32)100; print($y % 7); }
ARGS -q
EXPECT
	2
	1
	2
	$
	$

NAME -kk is gone
PROG begin { }
ARGS -q -kk
RC 1
EXPECT
ERR
	ERROR: USAGE: -kk is no longer supported. Use a single -k instead.
	USAGE:
	    sonde [options] FILE [arguments]
	    sonde [options] -e 'PROGRAM' [arguments]
	    sonde [options] - [arguments]          (script on standard input)
	    sonde --help                           (all options)

NAME offsetof of parts
PROG struct in1 { int a; int b; } struct out1 { int x; struct in1 i; } begin { print(offsetof(struct out1, i.b)); print(offsetof(struct task_struct, se.load) == offsetof(struct task_struct, se)); }
ARGS -q
NEEDS btf
EXPECT
	8
	true
	$
	$

NAME pointers in conditions
PROG begin { $p = (void *)0; print($p ? 1 : 2); if ($p) { print("no"); } if (curtask && !0) { print("yes"); } if ((void*)1 || $p) { print("or"); } }
ARGS -q
NEEDS btf
EXPECT
	2
	yes
	or
	$
	$

NAME len of stacks
PROG begin { print(len(kstack) > 2); print(len(kstack(1))); }
ARGS -q
EXPECT
	true
	1
	$
	$

NAME enums from numbers
PROG enum e { ONE = 1, TWO } begin { print((enum e)2); print((enum e)1 == ONE); printf("%s %d\n", (enum e)2, (enum e)2); @[(enum e)1] = (enum e)2; print(@); clear(@); print((enum e)7); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:169-178: ERROR: enum e has no enumerator of the value 7
	enum e { ONE = 1, TWO } begin { print((enum e)2); print((enum e)1 == ONE); printf("%s %d\n", (enum e)2, (enum e)2); @[(enum e)1] = (enum e)2; print(@); clear(@); print((enum e)7); }
	                                                                                                                                                                        ~~~~~~~~~

NAME probe is a string
PROG begin { print(probe); print(sizeof(probe)); print(strlen(probe)); $p = probe; print($p == "begin"); @[probe] = 1; print(@); clear(@); }
ARGS -q
EXPECT
	begin
	56
	5
	true
	@[begin]: 1
	$
	$

NAME help goes to standard output
RUN "$SONDE" --help 2>/dev/null | head -n 1
EXPECT
	USAGE:

NAME max_strlen is 1024
PROG begin { print(config.max_strlen); print((config.max_probes, config.max_bpf_progs)); }
ARGS -q
EXPECT
	1024
	(1024, 1024)
	$
	$

NAME variables used before they are set
PROG begin { let $x; if (pid > 0) { $x = 5; } print($x); }
ARGS -q
EXPECT
	5
	$
	$

NAME probes that match nothing
PROG config = { missing_probes = ignore } begin { print(1); } tracepoint:nosuch:* { } kprobe:nosuch_* { }
ARGS -q
NEEDS btf tracefs
EXPECT
	1
	$
	$

NAME ?: of all types
PROG begin { $x = pid > 0 ? "yes" : "no"; print($x); $t = pid > 0 ? (1, 2) : (3, 4); print($t); pid > 0 ? print("a") : print("b"); $n = pid > 0 ? curtask : (struct task_struct *)0; print($n == curtask); }
ARGS -q
NEEDS btf
EXPECT
	yes
	(1, 2)
	a
	true
	$
	$

NAME strcontains of two variables
PROG begin { $a = str_concat("hello ", "world"); $b = str_concat("o w", "or"); print(strcontains($a, $b)); print(strcontains($b, $a)); print(strcontains($a, str_concat("lx", "x"))); }
ARGS -q
EXPECT
	true
	false
	false
	$
	$

NAME str with a length counts the NUL
PROG begin { $s = "hello world"; print(str($s, 5)); print(str("hello", 3)); print(str("hello")); }
ARGS -q
EXPECT
	hell
	hel
	hello
	$
	$

NAME pid and tid are uint32
PROG begin { print(sizeof(pid)); print(sizeof(tid)); }
ARGS -q
EXPECT
	4
	4
	$
	$

NAME delete of several maps
PROG begin { @a = 1; @b = 2; delete(@a, @b); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:36-38: ERROR: @a used as a map with an explicit key (non-scalar map), previously used without an explicit key (scalar map)
	begin { @a = 1; @b = 2; delete(@a, @b); }
	                                   ~~

NAME scopes
PROG begin { if (1) { $x = 1; } print($x); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:34-36: ERROR: Undefined or undeclared variable: $x
	begin { if (1) { $x = 1; } print($x); }
	                                 ~~
	HINT: $x lives in a block that has ended; declare it in front of it (let $x;), or run the script with --compat 0.17, where variables belong to the whole probe

NAME avg as a number
PROG begin { @a = avg(4); @a = avg(8); print(@a); if (@a > 5) { print("more"); } print((int64)@a); clear(@a); }
ARGS -q
NEEDS feature:PERCPU_LOOKUP
EXPECT
	@a: 6
	more
	6
	$
	$

NAME loops in several probes
PROG begin { @m[1] = 1; for $kv : @m { print($kv); } } end { for $kv : @m { print($kv.1); } clear(@m); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	(1, 1)
	1
	$
	$

NAME loops share variables
PROG begin { @m[1] = 5; @m[2] = 6; $sum = 0; for $kv : @m { $sum += $kv.1; } print($sum); clear(@m); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	11
	$
	$

NAME tuples as keys
PROG begin { @[(1, "a")] = 5; @[2, "b"] = 6; $k = (1, "a"); print(@[$k]); print(@[2, "b"]); clear(@); }
ARGS -q
EXPECT
	5
	6
	$
	$

NAME let
PROG begin { let $a = 5; let $b : int64 = 7; let $c : uint8; let $d; $d = "x"; print(($a, $b, $c, $d)); }
ARGS -q
EXPECT
	(5, 7, 0, x)
	$
	$
ERR
	stdin:1:41-55: WARNING: Variable $c was never assigned to.
	begin { let $a = 5; let $b : int64 = 7; let $c : uint8; let $d; $d = "x"; print(($a, $b, $c, $d)); }
	                                        ~~~~~~~~~~~~~~
	stdin:1:90-92: WARNING: Variable used before it was assigned: $c
	begin { let $a = 5; let $b : int64 = 7; let $c : uint8; let $d; $d = "x"; print(($a, $b, $c, $d)); }
	                                                                                         ~~

NAME enums in printf and in maps
PROG enum e { ONE = 1, TWO } begin { printf("%s %d %s\n", ONE, TWO, (enum e)2); @m = TWO; print(@m); @k[ONE] = 1; print(@k); clear(@m); clear(@k); }
ARGS -q
EXPECT
	ONE 2 TWO
	@m: TWO
	@k[ONE]: 1
	$
	$

NAME maps are not printed at the end
PROG config = { print_maps_on_exit = false } begin { @a = 1; print(1); }
ARGS -q
EXPECT
	1
	$
	$

NAME -d wants a stage
RUN "$SONDE" -q -d -e 'begin { }' 2>&1; true
EXPECT
	ERROR: USAGE: invalid option for -d: -e
	USAGE:
	    sonde [options] FILE [arguments]
	    sonde [options] -e 'PROGRAM' [arguments]
	    sonde [options] - [arguments]          (script on standard input)
	    sonde --help                           (all options)

NAME long buffers
PROG begin { $b = buf("abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789", 70); print($b); }
ARGS -q
EXPECT
	abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz01234567
	$
	$

NAME -dd is gone
PROG begin { }
ARGS -q -dd
RC 1
EXPECT
ERR
	ERROR: USAGE: invalid option for -d: d
	USAGE:
	    sonde [options] FILE [arguments]
	    sonde [options] -e 'PROGRAM' [arguments]
	    sonde [options] - [arguments]          (script on standard input)
	    sonde --help                           (all options)

NAME strings as keys of all lengths
PROG begin { @["a"] = 1; @["abcdefghijklm"] = 2; print(@["a"]); print(@["abcdefghijklm"]); clear(@); }
ARGS -q
EXPECT
	1
	2
	$
	$

NAME min and max
PROG begin { @a = min(5); @a = min(-3); @b = max(-5); @b = max(-9); print(@a); print(@b); clear(@a); clear(@b); }
ARGS -q
NEEDS feature:PERCPU_LOOKUP
EXPECT
	@a: -3
	@b: -5
	$
	$

NAME integers of several widths are compared
PROG begin { $a = (uint8)200; $b = (int16)-1; print($a > $b); print($b < 0); if ($a == 200) { print("same"); } }
ARGS -q
EXPECT
	true
	true
	same
	$
	$

NAME tuples of several widths
PROG begin { $t = (1, "a"); $t = (300, "abcd"); print($t); @t = (1, 2); @t = (70000, 3); print(@t); clear(@t); }
ARGS -q
EXPECT
	(300, abcd)
	@t: (70000, 3)
	$
	$

NAME hex values in JSON
PROG begin { print((void *)0x1000); printf("%x\n", 255); @p = (void *)5; print(@p); clear(@p); }
ARGS -q -f json
EXPECT
	{"type": "value", "data": 4096}
	{"type": "printf", "data": "ff\n"}
	{"type": "map", "data": {"@p": 5}}

NAME binary operations keep widths
PROG begin { print(sizeof((uint8)1 + (uint8)1)); $a = (uint32)5; print($a * 2); print(sizeof($a & 1)); }
ARGS -q
EXPECT
	8
	10
	8
	$
	$

NAME len compared
PROG begin { @m[1] = 1; @m[2] = 1; if (len(@m) > 1) { print("more"); } clear(@m); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	more
	$
	$

NAME keys widen
PROG begin { @a[1] = 1; @a[70000] = 2; $k = (int64)5; @a[$k] = 3; print(len(@a)); print(@a[70000]); clear(@a); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	3
	2
	$
	$

NAME assignments of what is no value
PROG begin { $x = print(1); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:14-22: ERROR: This expression has no value that could be assigned
	begin { $x = print(1); }
	             ~~~~~~~~

NAME aggregations as keys
PROG begin { @c = count(); @c = count(); @m[(int64)@c] = 5; print(@m); @s = sum(7); $x = @s + 1; print($x); clear(@m); clear(@c); clear(@s); }
ARGS -q
NEEDS feature:PERCPU_LOOKUP
EXPECT
	@m[2]: 5
	8
	$
	$

NAME lazy_symbolication
PROG config = { lazy_symbolication = false } begin { print(config.lazy_symbolication); print(ksym(0)); }
ARGS -q
EXPECT
	false
	0
	$
	$

NAME print() of one element
PROG begin { @m[1] = "a"; @m[2] = "b"; print(@m[2]); @h[1] = hist(5); print(@c[1]); @c[1] = count(); print(@c[1]); clear(@m); clear(@h); clear(@c); }
ARGS -q
NEEDS feature:PERCPU_LOOKUP
EXPECT
	b
	0
	1
	$
	$

NAME missing_probes=ignore
PROG config = { missing_probes = ignore } begin { print(1); } kprobe:nosuch_function { print(arg0); }
ARGS -q
EXPECT
	1
	$
	$

NAME large values are printed
PROG begin { $s = str_concat("0123456789012345678901234567890123456789", "0123456789012345678901234567890123456789"); print(($s, $s, 1)); printf("%s|%s|%s\n", $s, $s, comm); }
ARGS -q
EXPECT
	(01234567890123456789012345678901234567890123456789012345678901234567890123456789, 01234567890123456789012345678901234567890123456789012345678901234567890123456789, 1)
	01234567890123456789012345678901234567890123456789012345678901234567890123456789|01234567890123456789012345678901234567890123456789012345678901234567890123456789|sonde
	$
	$

NAME exit codes
PROG begin { exit(300); }
ARGS -q
RC 44
EXPECT
	$
	$

NAME empty config blocks and semicolons
PROG config = { max_strlen = 100; } begin { print(config.max_strlen); }
ARGS -q
EXPECT
	100
	$
	$

NAME texts of several lengths in one variable
PROG begin { $a = "a"; $a = "abcdef"; print($a); @m = "x"; @m = "longer text"; print(@m); clear(@m); }
ARGS -q
EXPECT
	abcdef
	@m: longer text
	$
	$

NAME records in maps
PROG begin { @r[1] = (a=1, b="x"); @r[2] = (a=300, b="longer"); print(@r[2].b); for $kv : @r { print($kv.1.a > 0); } clear(@r); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	longer
	true
	true
	$
	$

NAME histograms in finer steps
PROG begin { @ = hist(10, 2); @ = hist(11, 2); @ = hist(1000, 2); }
ARGS -q
EXPECT
	$
	$
	@:
	[10, 12)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[12, 14)               0 |                                                    |
	[14, 16)               0 |                                                    |
	[16, 20)               0 |                                                    |
	[20, 24)               0 |                                                    |
	[24, 28)               0 |                                                    |
	[28, 32)               0 |                                                    |
	[32, 40)               0 |                                                    |
	[40, 48)               0 |                                                    |
	[48, 56)               0 |                                                    |
	[56, 64)               0 |                                                    |
	[64, 80)               0 |                                                    |
	[80, 96)               0 |                                                    |
	[96, 112)              0 |                                                    |
	[112, 128)             0 |                                                    |
	[128, 160)             0 |                                                    |
	[160, 192)             0 |                                                    |
	[192, 224)             0 |                                                    |
	[224, 256)             0 |                                                    |
	[256, 320)             0 |                                                    |
	[320, 384)             0 |                                                    |
	[384, 448)             0 |                                                    |
	[448, 512)             0 |                                                    |
	[512, 640)             0 |                                                    |
	[640, 768)             0 |                                                    |
	[768, 896)             0 |                                                    |
	[896, 1024)            1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	$

NAME jiffies
PROG begin { print(jiffies > 1000); print(sizeof(jiffies)); }
ARGS -q
EXPECT
	true
	8
	$
	$

NAME attach points that are wrong: one part
PROG kprobe { }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:1-7: ERROR: kprobe probe type requires 1 or 2 arguments, found 0
	kprobe { }
	~~~~~~
	HINT: syntax: kprobe[:module]:function[+offset]

NAME attach points that are wrong: nothing
PROG kprobe: { }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:1-8: ERROR: kprobe probe type requires 1 or 2 arguments, found 0
	kprobe: { }
	~~~~~~~
	HINT: syntax: kprobe[:module]:function[+offset]

NAME attach points that are wrong: no such kind
PROG nosuch:x { }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:1-9: ERROR: Invalid probe type: nosuch
	nosuch:x { }
	~~~~~~~~

NAME len of a map
PROG begin { @m[1] = 1; @m[2] = 2; print(len(@m)); clear(@m); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	2
	$
	$

NAME operations that a map has not: scalar
PROG begin { @a = 1; print(len(@a)); }
ARGS -q
RC 1
NEEDS sym:bpf_for_each_map_elem
EXPECT
ERR
	stdin:1:27-29: ERROR: call to len() expects a map with explicit keys (non-scalar map)
	begin { @a = 1; print(len(@a)); }
	                          ~~

NAME operations that a map has not: both
PROG begin { @a = 1; @a[1] = 2; }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:17-22: ERROR: @a used as a map with an explicit key (non-scalar map), previously used without an explicit key (scalar map)
	begin { @a = 1; @a[1] = 2; }
	                ~~~~~

NAME config blocks
PROG config = { max_strlen = 10; str_trunc_trailer = "~"; print_maps_on_exit = false } begin { @a = 1; $s = "abc"; print(str($s)); print(config.str_trunc_trailer); }
ARGS -q
EXPECT
	abc
	~
	$
	$

NAME hist() of 64-bit values
PROG begin { @ = hist((uint64)1 << 62); @ = hist((int64)-1); @ = hist(0); }
ARGS -q
EXPECT
	$
	$
	@:
	(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[0]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[1]                    0 |                                                    |
	[2, 4)                 0 |                                                    |
	[4, 8)                 0 |                                                    |
	[8, 16)                0 |                                                    |
	[16, 32)               0 |                                                    |
	[32, 64)               0 |                                                    |
	[64, 128)              0 |                                                    |
	[128, 256)             0 |                                                    |
	[256, 512)             0 |                                                    |
	[512, 1K)              0 |                                                    |
	[1K, 2K)               0 |                                                    |
	[2K, 4K)               0 |                                                    |
	[4K, 8K)               0 |                                                    |
	[8K, 16K)              0 |                                                    |
	[16K, 32K)             0 |                                                    |
	[32K, 64K)             0 |                                                    |
	[64K, 128K)            0 |                                                    |
	[128K, 256K)           0 |                                                    |
	[256K, 512K)           0 |                                                    |
	[512K, 1M)             0 |                                                    |
	[1M, 2M)               0 |                                                    |
	[2M, 4M)               0 |                                                    |
	[4M, 8M)               0 |                                                    |
	[8M, 16M)              0 |                                                    |
	[16M, 32M)             0 |                                                    |
	[32M, 64M)             0 |                                                    |
	[64M, 128M)            0 |                                                    |
	[128M, 256M)           0 |                                                    |
	[256M, 512M)           0 |                                                    |
	[512M, 1G)             0 |                                                    |
	[1G, 2G)               0 |                                                    |
	[2G, 4G)               0 |                                                    |
	[4G, 8G)               0 |                                                    |
	[8G, 16G)              0 |                                                    |
	[16G, 32G)             0 |                                                    |
	[32G, 64G)             0 |                                                    |
	[64G, 128G)            0 |                                                    |
	[128G, 256G)           0 |                                                    |
	[256G, 512G)           0 |                                                    |
	[512G, 1T)             0 |                                                    |
	[1T, 2T)               0 |                                                    |
	[2T, 4T)               0 |                                                    |
	[4T, 8T)               0 |                                                    |
	[8T, 16T)              0 |                                                    |
	[16T, 32T)             0 |                                                    |
	[32T, 64T)             0 |                                                    |
	[64T, 128T)            0 |                                                    |
	[128T, 256T)           0 |                                                    |
	[256T, 512T)           0 |                                                    |
	[512T, 1P)             0 |                                                    |
	[1P, 2P)               0 |                                                    |
	[2P, 4P)               0 |                                                    |
	[4P, 8P)               0 |                                                    |
	[8P, 16P)              0 |                                                    |
	[16P, 32P)             0 |                                                    |
	[32P, 64P)             0 |                                                    |
	[64P, 128P)            0 |                                                    |
	[128P, 256P)           0 |                                                    |
	[256P, 512P)           0 |                                                    |
	[512P, 1E)             0 |                                                    |
	[1E, 2E)               0 |                                                    |
	[2E, 4E)               0 |                                                    |
	[4E, 8E)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME integers are arrays
PROG begin { $a = (uint8[4])(uint32)0x04030201; print($a); print((uint32)$a); print((uint16[2])(uint32)0x20001); print((uint64)(uint8[8])(uint64)7); print(((int8[])"ab")[1]); }
ARGS -q
EXPECT
	[1,2,3,4]
	67305985
	[1,2]
	7
	98
	$
	$

NAME byte arrays in tuples
PROG begin { $t = ((uint8)1, (uint8[3])(int8[3])"ab", (uint32)5); print($t); print(sizeof($t)); }
ARGS -q
EXPECT
	(1, [97,98,0], 5)
	8
	$
	$

NAME clocks
PROG begin { print((nsecs(monotonic) > 0, nsecs(boot) >= nsecs(monotonic), nsecs(tai) > nsecs(boot), nsecs(sw_tai) > nsecs(boot), nsecs - nsecs < 1000)); }
ARGS -q
NEEDS feature:TAI_NS
EXPECT
	(true, false, true, true, true)
	$
	$

NAME types that nobody knows
PROG begin { print(sizeof(struct nosuch_type)); }
ARGS -q
RC 1
NEEDS btf
EXPECT
ERR
	stdin:1:22-40: ERROR: Cannot resolve unknown type "struct nosuch_type"
	begin { print(sizeof(struct nosuch_type)); }
	                     ~~~~~~~~~~~~~~~~~~

NAME structs are printed
PROG
	struct all2 { int a; short v[2]; } struct s8 { char c; char t[7]; }
	begin { $x = (uint64)0x0002000100000005; print(sizeof(struct all2)); print(*(struct all2 *)&$x); $y = (uint64)0x0000434241; print(*(struct s8 *)&$y); }
ARGS -q
EXPECT
	8
	{ .a = 5, .v = [1,2] }
	{ .c = 65, .t = BC }
	$
	$

NAME cut texts are marked
PROG begin { $t = curtask; print(strlen(str($t.comm)) <= 12); print(config.max_strlen); }
ARGS -q
ENV BPFTRACE_MAX_STRLEN=10
NEEDS btf
EXPECT
	true
	10
	$
	$

NAME offsetof
PROG struct o { char a; int b; struct { int x; int y; } c; } begin { print((offsetof(struct o, b), offsetof(struct o, c.y), offsetof(o, a))); }
ARGS -q
EXPECT
	(4, 12, 0)
	$
	$

NAME stack modes: an unknown one
PROG config = { stack_mode = nosuch } begin { }
ARGS -q
RC 2
EXPECT
ERR
	stdin:1:12-31: ERROR: stack_mode: Invalid value for stack_mode: valid values are bpftrace, perf, raw, function, and build_id, got nosuch
	config = { stack_mode = nosuch } begin { }
	           ~~~~~~~~~~~~~~~~~~~

NAME stack modes in the environment
PROG begin { print(config.stack_mode); }
ARGS -q
ENV BPFTRACE_STACK_MODE=raw
EXPECT
	raw
	$
	$

NAME parameters within probes
PROG interval:$1 { print(1); exit(); } tracepoint:syscalls:sys_enter_get$2 { }
ARGS -q
PARAMS ms:1 ppid
NEEDS btf tracefs
EXPECT
	1
	$
	$

NAME lengths of str
PROG begin { $n = (int64)3; print(str("hello", $n)); print(str("hello", 100)); print(str("hello", 0)); print(str("hello", 1)); }
ARGS -q
EXPECT
	he
	hello
	$
	h
	$
	$

NAME probe names
PROG interval:ms:1 { print(probe); exit(); } tracepoint:syscalls:sys_enter_nosuc* { }
ARGS -q
RC 1
NEEDS btf tracefs
EXPECT
ERR
	stdin:1:41-77: ERROR: No matches for tracepoint syscalls:sys_enter_nosuc*.
	interval:ms:1 { print(probe); exit(); } tracepoint:syscalls:sys_enter_nosuc* { }
	                                        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	HINT: If this is expected, set the 'missing_probes' config variable to 'warn'.

NAME buffers in printf
PROG begin { $b = buf("a\x01\xffz", 4); printf("%r|%rx|%rh\n", $b, $b, $b); print($b); }
ARGS -q
EXPECT
	a\x01\xffz|\x61\x01\xff\x7a|61 01 ff 7a
	a\x01\xffz
	$
	$

NAME stdbool.h
PROG
	#include <stdbool.h>
	struct b { bool yes; int n; } begin { print(sizeof(struct b)); }
ARGS -q
EXPECT
	8
	$
	$

NAME strcontains
PROG begin { print((strcontains("hello", "ell"), strcontains("hello", "elo"), strcontains("", ""), strcontains("a", ""), strstr("hello", "l"), strstr("hello", "x"))); }
ARGS -q
EXPECT
	(true, false, true, true, 2, -2)
	$
	$

NAME arrays are compared
PROG begin { $a = (uint8[4])(uint32)5; $b = (uint8[4])(uint32)5; $c = (uint8[4])(uint32)6; print(($a == $b, $a == $c, $a != $c)); }
ARGS -q
EXPECT
	(true, false, true)
	$
	$

NAME pointers are calculated with
PROG begin { $p = (uint32 *)0x1000; print($p + 1); print($p - 1); $p += 2; print($p); $p++; print($p); $q = (uint8 *)0x1000; print($q + 3); print($p > $p - 1); }
ARGS -q
EXPECT
	0x1004
	0xffc
	0x1008
	0x100c
	0x1003
	true
	$
	$

NAME unroll
PROG begin { $i = 0; unroll(5) { $i++; if ($i == 3) { print("three"); } } print($i); }
ARGS -q
EXPECT
	three
	5
	$
	$

NAME numaid
PROG begin { print(numaid); print(sizeof(numaid)); }
ARGS -q
EXPECT
	0
	8
	$
	$

NAME strerror
PROG begin { print((strerror(2), strerror(-2), strerror(99999))); }
ARGS -q
EXPECT
	(No such file or directory, No such file or directory, Unknown error)
	$
	$

NAME bounds of one lhist
PROG begin { @ = lhist(1, 0, 10, 1); @ = lhist(1, 0, 20, 1); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:33-55: ERROR: Different lhist bounds in a single map unsupported
	begin { @ = lhist(1, 0, 10, 1); @ = lhist(1, 0, 20, 1); }
	                                ~~~~~~~~~~~~~~~~~~~~~~

NAME an empty histogram in JSON
PROG begin { @h = hist(1); clear(@h); print(@h); @l[1] = lhist(1, 0, 10, 1); clear(@l); print(@l); }
ARGS -q -f json
EXPECT

NAME enum values of tracepoints
RUN "$SONDE" -lv tracepoint:skb:kfree_skb 2>&1; true
NEEDS btf tracefs
EXPECT
	tracepoint:skb:kfree_skb
	    void * skbaddr
	    void * location
	    void * rx_sk
	    unsigned short protocol
	    enum skb_drop_reason reason

NAME octal numbers
PROG begin { printf("%o %#o %#x\n", 8, 8, 255); print(017); }
ARGS -q
EXPECT
	10 010 0xff
	15
	$
	$

NAME bswap
PROG begin { print((bswap((uint16)0x1234), bswap((uint32)0x12345678), bswap((uint8)5))); printf("%lx\n", bswap((uint64)0x0102030405060708)); }
ARGS -q
EXPECT
	(13330, 2018915346, 5)
	807060504030201
	$
	$

NAME precedence
PROG begin { print((1 + 2 * 3, (1 + 2) * 3, 10 - 4 - 3, 2 * 6 / 4, 5 & 1 == 1, 1 | 2 ^ 3 & 6, 1 << 2 + 1, !0 + 1, -2 * 3, 7 % 4 * 2)); }
ARGS -q
EXPECT
	(7, 9, 3, 3, 1, 1, 8, 2, -6, 6)
	$
	$

NAME formats
PROG begin { printf("%%|%5s|%-5s|%c|%p|%s|%u|%lld|%hhd\n", "ab", "cd", 65, 4096, 5, 7, -1, 300); printf("no end of line"); }
ARGS -q
EXPECT
	%|   ab|cd   |A|0x1000|5|7|-1|44
	no end of line
	$

NAME formats: too few
PROG begin { printf("%d %d\n", 1); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:9-29: ERROR: not enough arguments for format string (1 supplied, 2 expected)
	begin { printf("%d %d\n", 1); }
	        ~~~~~~~~~~~~~~~~~~~~

NAME formats: too many
PROG begin { printf("%d\n", 1, 2); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:9-29: ERROR: too many arguments for format string (2 supplied, 1 expected)
	begin { printf("%d\n", 1, 2); }
	        ~~~~~~~~~~~~~~~~~~~~

NAME numbers
PROG begin { print((1_000_000, 0xff_ff, 1e6, 5e0 == 5, 100u, 100ul, 100ull, 100l, 100ll)); }
ARGS -q
EXPECT
	(1000000, 65535, 1000000, true, 100, 100, 100, 100, 100)
	$
	$

NAME unroll with printf
PROG begin { $i = 0; unroll(3) { printf("%d\n", $i); $i++; } }
ARGS -q
EXPECT
	0
	1
	2
	$
	$

NAME a field of a tracepoint is read twice
PROG tracepoint:syscalls:sys_enter_nanosleep { print(args.rqtp == args.rqtp); } begin { exit(); }
ARGS -q
NEEDS btf tracefs
EXPECT
	$
	$

NAME fields that all tracepoints have
PROG tracepoint:syscalls:sys_enter_getppid { print(args.common_pid); }
ARGS -q
RC 1
NEEDS btf tracefs
EXPECT
ERR
	stdin:1:47-62: ERROR: Struct/union of type 'struct _tracepoint_syscalls_sys_enter_getppid' does not contain a field named 'common_pid'
	tracepoint:syscalls:sys_enter_getppid { print(args.common_pid); }
	                                              ~~~~~~~~~~~~~~~
	HINT: the kernel does not let programs read the fields that all tracepoints have in common

NAME structs in JSON
PROG struct in2 { int a; int b; } begin { $x = (uint64)0x0000000200000001; print(*(struct in2 *)&$x); @m = *(struct in2 *)&$x; print(((1, (2, "x")), (a=1, b=(c=2, d=3)))); print(@m); clear(@m); }
ARGS -q -f json
EXPECT
	{"type": "value", "data": {"a": 1, "b": 2}}
	{"type": "value", "data": [[1,[2,"x"]],{"a": 1, "b": {"c": 2, "d": 3}}]}
	{"type": "map", "data": {"@m": {"a": 1, "b": 2}}}

NAME members keep their order
PROG struct z { int zz; int aa; } begin { $x = (uint64)0x200000001; print(*(struct z *)&$x); }
ARGS -q
EXPECT
	{ .zz = 1, .aa = 2 }
	$
	$

NAME no casts of structs
PROG struct z { int zz; } begin { $x = 5; print((struct z)$x); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:44-56: ERROR: Cannot cast from "int8" to "struct z"
	struct z { int zz; } begin { $x = 5; print((struct z)$x); }
	                                           ~~~~~~~~~~~~

NAME symbols that are not there
PROG begin { print(kaddr("no_such_symbol")); }
ARGS -q
RC 1
NEEDS btf
EXPECT
ERR
	stdin:1:21-37: ERROR: Failed to resolve kernel symbol: no_such_symbol
	begin { print(kaddr("no_such_symbol")); }
	                    ~~~~~~~~~~~~~~~~

NAME categories by wildcards
RUN "$SONDE" -l -e 'tracepoint:sys*:sys_enter_getp* { }' 2>&1; true
NEEDS btf tracefs
EXPECT
	tracepoint:syscalls:sys_enter_getpeername
	tracepoint:syscalls:sys_enter_getpgid
	tracepoint:syscalls:sys_enter_getpgrp
	tracepoint:syscalls:sys_enter_getpid
	tracepoint:syscalls:sys_enter_getppid
	tracepoint:syscalls:sys_enter_getpriority

NAME strftime
PROG begin { print(strftime("%Y", nsecs) > strftime("%Y", 0)); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:15-56: ERROR: Type mismatch for '>': comparing timestamp with timestamp
	begin { print(strftime("%Y", nsecs) > strftime("%Y", 0)); }
	              ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	stdin:1:15-36: ERROR: left (timestamp)
	begin { print(strftime("%Y", nsecs) > strftime("%Y", 0)); }
	              ~~~~~~~~~~~~~~~~~~~~~
	stdin:1:39-56: ERROR: right (timestamp)
	begin { print(strftime("%Y", nsecs) > strftime("%Y", 0)); }
	                                      ~~~~~~~~~~~~~~~~~

NAME letters behind a conversion
PROG begin { printf("%dms %sx %%d\n", 5, "a"); }
ARGS -q
EXPECT
	5ms ax %d
	$
	$

NAME top and divisor
PROG begin { @a[1] = 10; @a[2] = 20; @a[3] = 30; print(@a, 2); print(@a, 0, 10); print(@a, 2, 5); @v[1] = avg(10); @v[2] = avg(100); print(@v, 1, 10); @h = hist(5); print(@h, 10); clear(@a); clear(@v); clear(@h); }
ARGS -q
NEEDS feature:PERCPU_LOOKUP
EXPECT
	@a[2]: 20
	@a[3]: 30
	@a[1]: 1
	@a[2]: 2
	@a[3]: 3
	@a[2]: 4
	@a[3]: 6
	@v[2]: 10
	@h:
	[4, 8)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	$
	$

NAME arrays
PROG begin { $a = (uint8[4])(uint32)0x04030201; print($a[0] + $a[3]); @m = $a; print(@m[2]); @k[$a] = 1; print(@k); $p = (uint16 *)0; print($p[3] == 0); clear(@m); clear(@k); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:81-86: ERROR: @m used as a map with an explicit key (non-scalar map), previously used without an explicit key (scalar map)
	begin { $a = (uint8[4])(uint32)0x04030201; print($a[0] + $a[3]); @m = $a; print(@m[2]); @k[$a] = 1; print(@k); $p = (uint16 *)0; print($p[3] == 0); clear(@m); clear(@k); }
	                                                                                ~~~~~

NAME arrays: an index behind the end
PROG begin { $a = (uint8[4])(uint32)5; print($a[4]); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:41-46: ERROR: the index 4 is out of bounds for array of size 4
	begin { $a = (uint8[4])(uint32)5; print($a[4]); }
	                                        ~~~~~

NAME macaddr
PROG begin { print(macaddr((uint8[6])buf("x", 6))); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:23-44: ERROR: Cannot cast from "buffer[6]" to "uint8[6]"
	begin { print(macaddr((uint8[6])buf("x", 6))); }
	                      ~~~~~~~~~~~~~~~~~~~~~

NAME tuples that do not fit
PROG begin { $t = (1, "a"); $t = (1, 2); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:24-35: ERROR: Type mismatch for $t: trying to assign value of type '(int8,int8)' when variable already has a type '(int8,string[2])'
	begin { $t = (1, "a"); $t = (1, 2); }
	                       ~~~~~~~~~~~

NAME quiet
PROG begin { print(1); }
ARGS -q
EXPECT
	1
	$
	$

NAME long formats
PROG begin { printf("0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789 %s %d\n", "0123456789", 5); }
ARGS -q
EXPECT
	0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789 0123456789 5
	$
	$

NAME wildcards in lists and probes
RUN "$SONDE" -l 'tracepoint:syscalls:sys_enter_getp*' 2>&1; true
NEEDS btf tracefs
EXPECT
	tracepoint:syscalls:sys_enter_getpeername
	tracepoint:syscalls:sys_enter_getpgid
	tracepoint:syscalls:sys_enter_getpgrp
	tracepoint:syscalls:sys_enter_getpid
	tracepoint:syscalls:sys_enter_getppid
	tracepoint:syscalls:sys_enter_getpriority

NAME members through variables
PROG begin { $t = curtask; $p = $t.real_parent; print($p.pid == curtask.real_parent.pid); }
ARGS -q
NEEDS btf
EXPECT
	true
	$
	$

NAME large numbers
PROG begin { print(18446744073709551615); print(9223372036854775807); print(-9223372036854775807); print((uint64)-1); printf("%llu %lld\n", 18446744073709551615, -1); }
ARGS -q
EXPECT
	18446744073709551615
	9223372036854775807
	-9223372036854775807
	18446744073709551615
	18446744073709551615 -1
	$
	$

NAME parameters are calculated with
PROG begin { print($1 + $2); print($1 * 2 > $2); print(-$1); if ($1 == 5) { print("five"); } }
ARGS -q
PARAMS 5 7
EXPECT
	12
	true
	-5
	five
	$
	$

NAME parameter zero
PROG begin { print($0); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:15-17: ERROR: parameters are numbered from $1 to $9223372036854775807
	begin { print($0); }
	              ~~

NAME casts in tuples
PROG begin { print(((int8)300, (uint64)5, (int32)-1)); $t = ((uint8)1, (int64)2); $t = ((uint8)3, (int64)4); print($t); }
ARGS -q
EXPECT
	(44, 5, -1)
	(3, 4)
	$
	$

NAME small numbers in printf
PROG begin { printf("%d %d %u %x\n", (int8)-1, (uint8)255, (int16)-1, (int8)-1); }
ARGS -q
EXPECT
	-1 255 4294967295 ffffffff
	$
	$

NAME negative lengths: str
PROG begin { print(str("abc", -1)); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:26-28: ERROR: str() length must not be negative (-1 provided)
	begin { print(str("abc", -1)); }
	                         ~~

NAME negative lengths: buf
PROG begin { print(buf("abc", -1)); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:26-28: ERROR: buf() length must not be negative (-1 provided)
	begin { print(buf("abc", -1)); }
	                         ~~

NAME sizeof
PROG struct s3 { int a; char b; } begin { print((sizeof(int8), sizeof(uint64), sizeof(struct s3), sizeof(5), sizeof("abc"), sizeof(comm), sizeof(struct s3 *), sizeof((1, 2)))); }
ARGS -q
EXPECT
	(1, 8, 8, 1, 4, 16, 8, 2)
	$
	$

NAME registers where there are none
PROG begin { print(reg("ip")); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:15-24: ERROR: The reg builtin can not be used with begin probes
	begin { print(reg("ip")); }
	              ~~~~~~~~~
	HINT: these probes have it: hardware, interval, fentry, fexit, kprobe, kretprobe, profile, software, uprobe, uretprobe, usdt, watchpoint

NAME strftime in tuples
PROG begin { $t = (1, strftime("%Y", 0)); print($t.0); }
ARGS -q
EXPECT
	1
	$
	$

NAME tuples of nothing
PROG begin { print((1, print(2))); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:19-27: ERROR: this has no value that a tuple could hold
	begin { print((1, print(2))); }
	                  ~~~~~~~~

NAME clear and delete of a count without a key
PROG begin { @c = count(); clear(@c); print(@c); @c = count(); delete(@c); print(@c); }
ARGS -q
NEEDS feature:PERCPU_LOOKUP
EXPECT
	@c: 0
	@c: 0
	$
	$

NAME unroll by a parameter
PROG begin { unroll($1) { print("x"); } }
ARGS -q
PARAMS 3
EXPECT
	x
	x
	x
	$
	$

NAME tuples
PROG begin { $t = (1, "abc", (2, 3)); print($t); print($t.1); print($t.2.0); @t[1, "x"] = $t; print(@t[1, "x"].2); print((1,)); clear(@t); }
ARGS -q
EXPECT
	(1, abc, (2, 3))
	abc
	2
	(2, 3)
	(1)
	$
	$

NAME units of intervals
PROG interval:us:2000 { print("us"); exit(); }
ARGS -q
EXPECT
	us
	$
	$

NAME units of intervals: hz
PROG interval:hz:500 { print("hz"); exit(); }
ARGS -q
EXPECT
	hz
	$
	$

NAME values are printed
PROG begin { print(5); print("abc"); print((1, 2)); print(true); print((void *)5); print(-1); print(comm == comm); }
ARGS -q
EXPECT
	5
	abc
	(1, 2)
	true
	0x5
	-1
	true
	$
	$

NAME many arguments
PROG begin { printf("%d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10); }
ARGS -q
EXPECT
	1 2 3 4 5 6 7 8 9 10
	$
	$

NAME ?: of calls
PROG begin { pid > 0 ? printf("yes\n") : printf("no\n"); $x = pid == 0 ? str("a") : str("b"); print($x); }
ARGS -q
EXPECT
	yes
	b
	$
	$

NAME conditions have a type
PROG begin { if ("abc" == 5) { print(1); } }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:13-23: ERROR: Type mismatch for '==': comparing string[4] with int8
	begin { if ("abc" == 5) { print(1); } }
	            ~~~~~~~~~~
	stdin:1:13-18: ERROR: left (string[4])
	begin { if ("abc" == 5) { print(1); } }
	            ~~~~~
	stdin:1:22-23: ERROR: right (int8)
	begin { if ("abc" == 5) { print(1); } }
	                     ~

NAME conditions have a type: text
PROG begin { $s = comm; if ($s) { print(1); } }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:24-26: ERROR: Invalid condition: string
	begin { $s = comm; if ($s) { print(1); } }
	                       ~~

NAME registers by name
PROG uprobe:/nosuch:f { print(reg("nosuch")); }
ARGS -q
RC 1
EXPECT
ERR
	stdin:1:1-17: ERROR: uprobe target file '/nosuch' does not exist or is not executable
	uprobe:/nosuch:f { print(reg("nosuch")); }
	~~~~~~~~~~~~~~~~

NAME arguments of a function that is inlined elsewhere
RUN
	cat > $TMPDIR/ab.c <<-'EOF'
	int sink;
	static inline __attribute__((always_inline)) int work(int first, const char *second)
	{
		for (int i = 0; i < first; i++)
			sink ^= second[i & 3];
		return sink += first;
	}
	int (*volatile p)(int, const char *) = work;
	int main(int c, char **v) { return (work(c, v[0]) + p(c + 41, "abcd")) > 1000000; }
	EOF
	cc -O2 -g -o $TMPDIR/ab $TMPDIR/ab.c && "$SONDE" -q -c $TMPDIR/ab -e "uprobe:$TMPDIR/ab:work { printf(\"%d %d\n\", args.first, args.second > 0); }"
NEEDS uprobe cmd:cc fast
EXPECT
	42 1
	$
	$

NAME functions of a process in a list
RUN build/tests/spin 8000 8000 & until_named $! spin; "$SONDE" -l "uprobe:*:main" -p $! | sed 's,/.*/,/,' | grep spin; kill $!
NEEDS prog:spin
EXPECT
	uprobe:/spin:main

NAME the command ends by SIGTERM when the trace ends before it
RUN
	"$SONDE" -q -c "sh -c 'trap \"echo told >$TMPDIR/told; exit\" TERM; umask; while :; do sleep 0.1; done'" -e 'tracepoint:syscalls:sys_enter_umask /pid == cpid/ { exit(); }' |
		grep -v '^0'
	eventually cat "$TMPDIR/told"
NEEDS tp:syscalls/sys_enter_umask
EXPECT
	$
	$
	told

NAME maps of probes that may be missing have the types that these give them
RUN
	"$SONDE" -q --compat 0.17 -e 'uprobe:/nowhere:foo { @x = count(); } begin { print(@x); exit(); }' 2>&1 | grep -v '^uprobe\|^~'
	"$SONDE" -q -e 'config = { missing_probes = "ignore" } uprobe:/nowhere:foo { @[comm] = count(); @s[tid] = str(arg0); @h = hist(arg1); @never = 1; } begin { print(@); printf("[%s]\n", @s[1]); print(@h); exit(); }' 2>&1
	"$SONDE" -q -e 'begin { print(@x); exit(); }' 2>&1 | head -n 1
EXPECT
	stdin:1:1-20: WARNING: No matches for uprobe /nowhere:foo. Skipping.
	HINT: uprobe target file '/nowhere' does not exist or is not executable
	@x: 0
	$
	$
	$
	$
	[]
	$
	$
	stdin:1:15-17: ERROR: Undefined map: @x
