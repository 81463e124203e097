# What `sonde help` lists and no other file here uses; see tests/checks/covered.sh.

NAME parents and leaders: as variables and of a task
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { $t = curtask; print((ppid == ppid($t), pcomm == pcomm($t), leader_tid == leader_tid($t), leader_comm == leader_comm($t))); print((leader_tid == pid, leader_comm, comm)); print((ppid(curtask.real_parent) == curtask.real_parent.real_parent.tgid, leader_tid($t.real_parent) == ppid, leader_comm($t.real_parent) == pcomm)); }
LOAD syscalls 1
NEEDS tracefs btf tp:syscalls/sys_enter_getppid
EXPECT_RE
	\(true, true, true, true\)
	\(true, syscalls, syscalls\)
	\(true, true, true\)
	...

NAME the leader of a thread is another than itself
PROG tracepoint:syscalls:sys_enter_clock_nanosleep /pid == cpid && tid != pid/ { @[leader_tid == pid, leader_tid == tid, leader_comm, leader_tid == leader_tid(curtask)] = count(); }
LOAD threads 3
NEEDS tracefs btf tp:syscalls/sys_enter_clock_nanosleep prog:threads
EXPECT_RE
	$
	$
	@\[true, false, threads, true\]: [1-3]

NAME ids in a namespace
PROG begin { print((pid(curr_ns) == pid, tid(curr_ns) == tid, pid(init) > 0, tid(init) == pid(init))); }
EXPECT
	(true, true, true, true)
	$
	$

NAME who and where
PROG begin { print(username); print((numaid < 1024, has_cpid, cgroup > 0)); $a = jiffies; print((jiffies - $a < 1000, $a > 0)); }
RC 0
EXPECT_RE
	[a-z_][a-z0-9_-]*
	\(true, false, (true|false)\)
	\(true, true\)
	...

NAME has_cpid with a child
PROG begin { print((has_cpid, cpid > 0)); exit(); }
LOAD syscalls 1
EXPECT
	(true, true)
	$
	$

NAME the path of a cgroup, of all and of some hierarchies
PROG begin { $c = cgroup; print(cgroup_path($c)); print(cgroup_path($c, "unified*")); print(cgroup_path($c, "nothing*")); @[cgroup_path($c, "unified")] = 1; }
EXPECT_RE
	unified:/.*
	unified:/.*
	$
	$
	$
	@\[unified:/.*\]: 1

NAME the path of a cgroup in a hierarchy of version 1
RUN
	d=/sys/fs/cgroup/pids/sonde_$$; mkdir "$d" && id=$(stat -c %i "$d")
	"$SONDE" -q -e "begin { print(cgroup_path($id, \"pids\")); print(cgroup_path($id, \"[!a-z]*\")); @[cgroup_path($id, \"p*\")] = 1; }" | sed "s/_$$/_N/"
	"$SONDE" -q -e "begin { print(cgroup_path($(stat -c %i /sys/fs/cgroup/pids))); }" | grep -o 'pids:/' ; rmdir "$d"
NEEDS file:/sys/fs/cgroup/pids/cgroup.procs
EXPECT
	pids:/sonde_N
	$
	$
	$
	@[pids:/sonde_N]: 1
	pids:/

NAME usermode
PROG profile:hz:499 /pid == cpid/ { @[usermode] = count(); }
LOAD spin 300
EXPECT_RE
	...
	@\[1\]: [0-9]+
	...

NAME strings: room, comparison, search
PROG begin { $s = "abc"; print((strcap($s), strcap("hello"))); print((strncmp("abcd", "abce", 3), strncmp("abcd", "abce", 4), strncmp($s, "abd", 2))); print((strcontains("haystack", "st"), strcontains("haystack", "x"), strcontains(comm, "zzz"))); print((strstr("haystack", "st"), strstr("haystack", "hay"), strstr("haystack", "x"), strstr($s, "c"))); print(buf("abc")); }
EXPECT
	(4, 6)
	(0, 1, 0)
	(true, false, false)
	(3, 0, -2, 2)
	abc\x00
	$
	$

NAME strings from memory: comparison, search
PROG tracepoint:syscalls:sys_enter_openat /pid == cpid/ { $f = str(args.filename); if (strcontains($f, "passwd")) { print((strncmp($f, "/etc/p", 6), strncmp($f, "/etc/x", 6), strstr($f, "passwd"), strlen($f))); } }
LOAD open /etc/passwd /etc/hostname
NEEDS tracefs tp:syscalls/sys_enter_openat
EXPECT
	(0, 1, 5, 11)
	$
	$

NAME bytes the other way round, hardware addresses
PROG begin { print((bswap((uint8)5), bswap((uint16)0x0102), bswap((uint32)0x01020304), bswap((uint64)1))); print(macaddr((uint8[6])0x010203040506)); $m = (uint8[6])0xaabbccddeeff; @[macaddr($m)] = 1; printf("%s\n", macaddr($m)); }
EXPECT
	(5, 513, 67305985, 72057594037927936)
	06:05:04:03:02:01
	FF:EE:DD:CC:BB:AA
	$
	$
	@[FF:EE:DD:CC:BB:AA]: 1

NAME error numbers as addresses
PROG begin { print((is_err((int64)-2), is_err(0), is_err((int64)-4095), is_err((int64)-4096))); }
EXPECT
	(true, false, true, false)
	$
	$

NAME what an expression is
PROG begin { $n = (uint8)1; $i = (int32)2; print((is_integer($n), is_integer("a"), is_unsigned_integer($n), is_unsigned_integer($i))); print((is_ptr((int32 *)0), is_ptr($n), is_array((uint8[6])1), is_array($n))); print((is_literal(1), is_literal("a"), is_literal(true), is_literal($n), is_literal(pid))); print((is_str("a"), is_str(comm), is_str(1))); }
EXPECT
	(true, false, true, false)
	(true, false, true, false)
	(true, true, true, false, false)
	(true, true, false)
	$
	$

NAME kernel memory by address
PROG begin { $p = kptr(curtask); print(($p == curtask, $p.pid == tid, ((struct task_struct *)kptr((uint64)curtask)).tgid == pid)); }
NEEDS btf
EXPECT
	(true, true, true)
	$
	$

NAME find
PROG begin { @m[1, "a"] = 7; $v = 0; print(find(@m, (1, "a"), $v)); print($v); print(find(@m, (2, "a"), $v)); print($v); @s["x"] = "text"; $t = "none"; if (find(@s, "x", $t)) { print($t); } }
EXPECT
	true
	7
	false
	7
	text
	$
	$
	@m[1, a]: 7
	@s[x]: text

NAME warnf
PROG begin { warnf("careful %d %s", 3, "x"); print(1); }
EXPECT
	1
	$
	$
ERR_RE
	...
	stdin:1:9-39: WARNING: careful 3 x

NAME debugf
RUN
	"$SONDE" -q -c "$SONDE_TESTS/spin 100 400" -e 'interval:ms:50 { debugf("from interval %d %s %x", cpid, "text", 255); @n++; if (@n == 3) { exit(); } }
		end { clear(@n); printf("%d\n", cpid); }' >$TMPDIR/pid
	read -r n <$TMPDIR/pid
	grep -q "from interval $n text ff" /sys/kernel/tracing/trace && echo found
NEEDS tracefs file:/sys/kernel/tracing/trace
ALONE
EXPECT
	found

NAME cat
RUN cd $TMPDIR; echo inside >a; "$SONDE" -q -e 'begin { cat("a"); cat("%s%s", "./", "a"); cat("missing"); }' 2>err; grep -c missing err
EXPECT_RE
	inside
	inside
	...
	1

NAME options of a script: defaults with and without a description
PROG begin { print((getopt("limit", 5, "how many"), getopt("all", false, "everything"), getopt("name", "nobody", "who"), getopt("plain", 1), getopt("flag"))); }
PARAMS -- --limit=9 --all --flag
EXPECT
	(9, true, nobody, 1, true)
	$
	$

NAME signal: the process dies at once
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @n = count(); signal(SIGKILL); }
ARGS --unsafe
LOAD syscalls 5
NEEDS tracefs tp:syscalls/sys_enter_getppid
EXPECT
	$
	$
	@n: 1

NAME signal by number
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @n = count(); signal(15); }
ARGS --unsafe
LOAD syscalls 5
NEEDS tracefs tp:syscalls/sys_enter_getppid
EXPECT
	$
	$
	@n: 1

NAME signal_thread, by name
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @n = count(); signal_thread("SIGTERM"); }
ARGS --unsafe
LOAD syscalls 5
NEEDS tracefs tp:syscalls/sys_enter_getppid
EXPECT
	$
	$
	@n: 1

NAME kernel stacks in a mode, of so many frames
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(len(kstack(raw, 1))); print(len(kstack(perf, 2)) <= 2); @[kstack(raw, 1)] = count(); }
LOAD syscalls 1
NEEDS tracefs tp:syscalls/sys_enter_getppid
EXPECT_RE
	1
	true
	$
	$
	@\[
	ffff[0-9a-f]+
	\]: 1
