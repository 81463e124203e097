NAME comparison
PROG BEGIN { $s = "abc"; print(($s == "abc", $s != "abc", $s == "abcd", $s == "ab", "" == $s)); }
EXPECT
	(true, false, false, false, false)
	$
	$

NAME comparison of two variables
PROG BEGIN { $s = "abc"; $t = "abc"; $u = "abcdef"; print(($s == $t, $s == $u, $s != $u)); }
EXPECT
	(true, false, true)
	$
	$

NAME index
PROG BEGIN { $s = "abc"; print($s[0]); print($s[1]); printf("%c\n", $s[2]); print("abc"[1]); }
EXPECT
	97
	98
	c
	98
	$
	$

NAME folding
PROG BEGIN { print("a" + "b"); print("hello" + 2); }
EXPECT
	ab
	llo
	$
	$

NAME escapes
PROG BEGIN { print("tab\tnew\\line \x41 \102"); }
EXPECT
	tab	new\line A B
	$
	$

NAME str with length
PROG uprobe:build/tests/calls:target /pid == cpid/ { printf("[%s] [%s] [%s]\n", str(arg1), str(arg1, 4), str(arg1, 100)); }
LOAD calls 1
EXPECT
	[hello] [hel] [hello]
	$
	$

NAME str of a literal
PROG BEGIN { print(str("literal")); }
EXPECT
	literal
	$
	$

NAME str with a length in a variable
PROG uprobe:build/tests/calls:target /pid == cpid/ { $n = (uint64)3; printf("[%s]\n", str(arg1, $n)); }
LOAD calls 1
EXPECT
	[he]
	$
	$

NAME str in a variable, a map and a key
PROG uprobe:build/tests/calls:target /pid == cpid/ { $s = str(arg1); @v = $s; @k[$s] = 1; printf("%s %d\n", $s, $s == "hello"); }
LOAD calls 1
EXPECT
	hello 1
	$
	$
	@k[hello]: 1
	@v: hello

NAME str of a null pointer is empty
PROG BEGIN { printf("[%s]\n", str((uint8 *)0)); }
EXPECT
	[]
	$
	$

NAME truncation is marked
PROG uprobe:build/tests/calls:target /pid == cpid/ { printf("[%s]\n", str(arg1)); }
ENV BPFTRACE_MAX_STRLEN=4
LOAD calls 1
EXPECT
	[hell..]
	$
	$

NAME truncation mark can be changed
PROG config = { max_strlen = 4; str_trunc_trailer = "~" } uprobe:build/tests/calls:target /pid == cpid/ { printf("[%s]\n", str(arg1)); }
LOAD calls 1
EXPECT
	[hell~]
	$
	$

NAME long strings
PROG tracepoint:syscalls:sys_enter_openat /pid == cpid/ { $s = str(args.filename); if ($s[0] == 47 && $s[1] == 110) { printf("%s\n", $s); } }
LOAD open /nowhere/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789
EXPECT
	/nowhere/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789
	$
	$

NAME strings longer than the stack in a map
PROG uretprobe:build/tests/calls:greet /pid == cpid/ { @long = str(retval, 600); @two[str(retval, 300), str(retval, 300)] = str(retval, 700); }
LOAD calls 1
EXPECT
	$
	$
	@long: hello world
	@two[hello world, hello world]: hello world

NAME many long strings in one probe
PROG uprobe:build/tests/calls:target /pid == cpid/ { $a = str(arg1); $b = str(arg1); $c = str(arg1); $d = str(arg1); printf("%s %s %s %s %d\n", $a, $b, $c, $d, $a == $d); }
LOAD calls 1
EXPECT
	hello hello hello hello 1
	$
	$

NAME comm in maps and comparisons
PROG tracepoint:syscalls:sys_enter_getppid /comm == "syscalls" && pid == cpid/ { @[comm] = count(); @s = comm; }
LOAD syscalls 3
EXPECT
	$
	$
	@[syscalls]: 3
	@s: syscalls

NAME buf as a value
PROG uprobe:build/tests/calls:bytes /pid == cpid/ { print(buf(arg0, arg1)); @[buf(arg0, 3)] = 1; $b = buf(arg0, 2); printf("%r\n", $b); }
LOAD calls 1
EXPECT
	\x01\x02a\xff\x00z
	\x01\x02
	$
	$
	@[\x01\x02a]: 1

NAME buf of a constant length
PROG uprobe:build/tests/calls:target /pid == cpid/ { printf("%r|%rx\n", buf(arg1, 5), buf(arg1, 5)); }
LOAD calls 1
EXPECT
	hello|\x68\x65\x6c\x6c\x6f
	$
	$

NAME join
PROG tracepoint:syscalls:sys_enter_execve /comm == "run" && ppid == cpid/ { join(args.argv); }
LOAD run /bin/true a bc def
EXPECT
	/bin/true a bc def
	$
	$

NAME join with a separator
PROG tracepoint:syscalls:sys_enter_execve /comm == "run" && ppid == cpid/ { join(args.argv, ","); }
LOAD run /bin/true a bc def
EXPECT
	/bin/true,a,bc,def
	$
	$

NAME literals in a long text
RUN
	"$SONDE" -q -c "cat /nope/aab/aabaabaac/z" -e 'tracepoint:syscalls:sys_enter_openat /pid == cpid/ { $p = str(args.filename, 1024); if (strcontains($p, "aabaac")) { print((strstr($p, "aabaac"), strstr($p, "aabaad"), strstr($p, "/nope/aab/aabaabaac/z"), strstr($p, "z"), strcontains($p, "zz"))); } }' 2>/dev/null
NEEDS tp:syscalls/sys_enter_openat
EXPECT
	(13, -2, 0, 20, false)
	$
	$

NAME an array without a NUL is compared with longer texts
RUN
	"$SONDE" -q -c "cat /nope/aab" -e 'struct S { char a[4]; }
		tracepoint:syscalls:sys_enter_openat /pid == cpid/ { if (strncmp(str(args.filename), "/nope", 5) == 0) { $a = ((struct S *)uptr(args.filename))->a; print(($a == str($1), $a == str($2), $a == str($3), $a != str($2))); } }' /nop /nope /no 2>/dev/null
NEEDS tp:syscalls/sys_enter_openat
EXPECT
	(true, false, false, true)
	$
	$

NAME length of a text that was cut
ENV BPFTRACE_MAX_STRLEN=64
PROG uprobe:build/tests/absent:see /pid == cpid/ { printf("%d %d %d\n", strlen(str(arg2)), strlen(str(arg2, 8)), strlen(str_concat(str(arg2, 8), "ab"))); }
ARGS -q
LOAD absent
NEEDS feature:SLEEPABLE
EXPECT
	20 7 9
	$
	$

NAME length of a text that was cut at max_strlen
ENV BPFTRACE_MAX_STRLEN=16
PROG uprobe:build/tests/absent:see /pid == cpid/ { printf("%d %d\n", strlen(str(arg0)), strlen(str(arg2))); }
ARGS -q
LOAD absent
NEEDS feature:SLEEPABLE
EXPECT
	11 15
	$
	$

NAME an empty text of a process is no failed read
RUN "$SONDE" -k -q -e 'tracepoint:syscalls:sys_enter_unlink /pid == cpid/ { @[str(args.pathname)] = count() }' -c '/usr/bin/unlink ""' 2>&1 | grep -v '^/usr/bin/unlink'
NEEDS x86_64 since:5.10 file:/usr/bin/unlink
EXPECT
	$
	$
	@[]: 1

# A write() of 300,000 bytes, of which the last 100,000 are the first ones again, but for one byte.
NAME texts of more than 64 KiB: length, comparison, in a map, put together
ENV BPFTRACE_MAX_STRLEN=1048576
RUN
	awk 'BEGIN { for (i = 0; i < 30000; i++) printf("%-10d", i % 20000) }' | tr 'Z ' '_z' | sed 's/z$/y/' >$TMPDIR/text
	"$SONDE" -q -c "dd if=$TMPDIR/text bs=300000 count=1 of=/dev/null status=none" -e '
	tracepoint:syscalls:sys_enter_write /pid == cpid && args.count == 300000/ {
		$a = str(args.buf);
		$b = str(args.buf + 200000, 99999);
		$c = str(args.buf, 99999);
		$d = str(args.buf + 200000);
		print((strlen($a), strlen($b), strlen($d)));
		print(($b == $c, $a == $a, str(args.buf, 100001) == $d, strncmp($a, $d, 70000), strncmp($a, $b, 65000)));
		for $i : 0..4 { @[strlen(str(args.buf))]++; }
		printf("%s\n", $d);
		@t = $b;
	}' >$TMPDIR/out && cut -c 1-30 $TMPDIR/out && awk '{ print length($0) }' $TMPDIR/out
NEEDS cmd:awk cmd:dd tp:syscalls/sys_enter_write feature:MAY_GOTO
EXPECT
	(300000, 99998, 100000)
	(true, true, false, 0, 0)
	0zzzzzzzzz1zzzzzzzzz2zzzzzzzzz
	$
	$
	@[300000]: 4
	@t: 0zzzzzzzzz1zzzzzzzzz2zzzzz
	23
	25
	100000
	0
	0
	12
	100002

# The kernel may end all loops of one run of a program together after 65,535 rounds.
NAME lengths of long texts in a short loop
ENV BPFTRACE_MAX_STRLEN=16384
RUN
	tr '\0' x </dev/zero | head -c 100000 >$TMPDIR/text
	"$SONDE" -q -c "dd if=$TMPDIR/text bs=100000 count=1 of=/dev/null status=none" -e '
	tracepoint:syscalls:sys_enter_write /pid == cpid/ {
		$a = 0; for $i : 0..6 { $q = str(args.buf); $a += strlen($q); } @ = $a; exit();
	}' 2>/dev/null
NEEDS cmd:dd tp:syscalls/sys_enter_write
EXPECT
	$
	$
	@: 98298
