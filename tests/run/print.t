NAME integers
PROG BEGIN { print(5); print(-5); print(0); print(18446744073709551615); print(-9223372036854775807); }
EXPECT
	5
	-5
	0
	18446744073709551615
	-9223372036854775807
	$
	$

NAME strings and bools
PROG BEGIN { print("text"); print(""); print(true); print(false); }
EXPECT
	text
	$
	true
	false
	$
	$

NAME tuples
PROG BEGIN { print((1, 2)); print((1, "a", (2, "b"))); print((1,)); print((true, (int8)-1, (uint64)7)); }
EXPECT
	(1, 2)
	(1, a, (2, b))
	(1)
	(true, -1, 7)
	$
	$

NAME records
PROG BEGIN { $r = (a = 1, b = "x"); print($r); print($r.b); }
EXPECT
	{ .a = 1, .b = x }
	x
	$
	$

NAME tuple members
PROG BEGIN { $t = (1, "two", (3, "four")); print($t.0); print($t.1); print($t.2); print($t.2.1); }
EXPECT
	1
	two
	(3, four)
	four
	$
	$

NAME tuple comparison
PROG BEGIN { $a = (1, 2); $b = (1, 2); $c = (1, 3); print($a == $b); print($a == $c); print($a != $c); }
EXPECT
	true
	false
	true
	$
	$

NAME pointers
PROG BEGIN { print((void *)0xffff1234); }
EXPECT
	0xffff1234
	$
	$

NAME arithmetic keeps signs
PROG BEGIN { $a = (uint64)5; print($a - 6); print($a + 1); print(-$a); }
EXPECT
	-1
	6
	18446744073709551611
	$
	$

NAME scalar map
PROG BEGIN { @x = 5; print(@x); clear(@x); }
EXPECT
	@x: 5
	$
	$

NAME keyed map sorted by value
PROG BEGIN { @["c"] = (uint64)3; @["a"] = (uint64)1; @["b"] = (uint64)2; print(@); clear(@); }
EXPECT
	@[a]: 1
	@[b]: 2
	@[c]: 3
	$
	$

NAME top
PROG BEGIN { @["c"] = (uint64)3; @["a"] = (uint64)1; @["b"] = (uint64)2; @["d"] = (uint64)4; print(@, 2); clear(@); }
EXPECT
	@[c]: 3
	@[d]: 4
	$
	$

NAME top and div
PROG BEGIN { @["c"] = (uint64)30; @["a"] = (uint64)10; @["b"] = (uint64)25; print(@, 2, 10); clear(@); }
EXPECT
	@[b]: 2
	@[c]: 3
	$
	$

NAME div without top
PROG BEGIN { @["c"] = (uint64)30; @["a"] = (uint64)10; @["b"] = (uint64)25; print(@, 0, 10); clear(@); }
EXPECT
	@[a]: 1
	@[b]: 2
	@[c]: 3
	$
	$

NAME one element
PROG BEGIN { @["c"] = 3; @["a"] = 1; print(@["c"]); print(@["nope"]); clear(@); }
EXPECT
	3
	0
	$
	$

NAME of counts
PROG BEGIN { @c["x"] = count(); @c["x"] = count(); @c["y"] = count(); print(@c); print(@c["x"]); clear(@c); }
EXPECT
	@c[y]: 1
	@c[x]: 2
	2
	$
	$

NAME hist with top and div
PROG BEGIN { @h["a"] = hist(10); @h["b"] = hist(20); @h["b"] = hist(21); @h["b"] = hist(22); @h["b"] = hist(500); print(@h, 1); print(@h, 2, 2); clear(@h); }
EXPECT
	@h[b]:
	[16, 32)               3 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[32, 64)               0 |                                                    |
	[64, 128)              0 |                                                    |
	[128, 256)             0 |                                                    |
	[256, 512)             1 |@@@@@@@@@@@@@@@@@                                   |
	$
	@h[a]:
	[8, 16)                0 |                                                    |
	$
	@h[b]:
	[16, 32)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[32, 64)               0 |                                                    |
	[64, 128)              0 |                                                    |
	[128, 256)             0 |                                                    |
	[256, 512)             0 |                                                    |
	$
	$
	$

NAME lhist
PROG BEGIN { @h = lhist(5, 0, 100, 10); print(@h); clear(@h); }
EXPECT
	@h:
	[0, 10)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	$
	$

NAME stats
PROG BEGIN { @s["a"] = stats(10); @s["a"] = stats(20); print(@s); clear(@s); }
EXPECT
	@s[a]: { .count = 2, .average = 15, .total = 30 }
	$
	$

NAME an empty scalar map prints zero, an empty keyed one nothing
PROG BEGIN { @a = 1; @b[1] = 1; clear(@a); clear(@b); print(@a); print(@b); }
EXPECT
	@a: 0
	$
	$

NAME in order with printf
PROG BEGIN { printf("1\n"); @x = 2; print(@x); printf("3\n"); print(4); clear(@x); }
EXPECT
	1
	@x: 2
	3
	4
	$
	$

NAME map value while it changes
PROG BEGIN { @x = 1; print(@x + 0); @x = 2; print(@x + 0); @x = 3; print((@x, "x")); clear(@x); }
EXPECT
	1
	2
	(3, x)
	$
	$

NAME strings in maps
PROG BEGIN { @s[1] = "short"; @s[2] = "a much longer string than the first"; print(@s); clear(@s); }
EXPECT
	@s[1]: short
	@s[2]: a much longer string than the first
	$
	$

NAME wide and narrow strings as keys
PROG BEGIN { @s["a"] = 1; @s["a much longer string than the first"] = 2; print(@s["a"]); clear(@s); }
EXPECT
	1
	$
	$

NAME non-map in a tuple with comm
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print((comm, 1)); print(comm); }
LOAD syscalls 1
EXPECT
	(syscalls, 1)
	syscalls
	$
	$

NAME array
PROG BEGIN { print((uint8[4])0x04030201); }
EXPECT
	[1,2,3,4]
	$
	$

NAME nested tuples as keys
PROG BEGIN { @t[(1, "a b"), 2] = 1; print(@t); clear(@t); }
EXPECT
	@t[(1, a b), 2]: 1
	$
	$

NAME maps in alphabetical order at the end
PROG BEGIN { @zz = 1; @aa = 2; @mm[1] = 3; @kk["x", 2] = 4; }
EXPECT
	$
	$
	@aa: 2
	@kk[x, 2]: 4
	@mm[1]: 3
	@zz: 1

NAME config print_maps_on_exit
PROG config = { print_maps_on_exit = false } BEGIN { @a = 1; printf("x\n"); }
EXPECT
	x
	$
	$

NAME traced text in a command is one word of it
ARGS --unsafe
PROG BEGIN { system("echo %q %q", "a; echo b", "it's"); }
EXPECT
	a; echo b it's
	$
	$
	$

NAME what a command prints is followed by a line end
ARGS --unsafe
PROG BEGIN { system("echo a"); system("printf q"); system("true"); print("z"); }
EXPECT
	a
	$
	q
	$
	z
	$
	$

NAME a map longer than the output's buffer
NEEDS sym:bpf_loop
RUN
	p='BEGIN { for $i : 0..4000 { @key_number[$i] = (100000 + $i, 7); } exit(); }'
	"$SONDE" -q -e "$p" |
		awk '/^@/ { if ($0 != "@key_number[" n + 0 "]: (" 100000 + n ", 7)") bad++; n++ } END { print n, bad + 0 }'
	"$SONDE" -q -f json -e "$p" | grep -o '"[0-9]*": \[1[0-9]*, *7\]' | tr -d '": ' |
		awk -F'[[,]' '{ if ($2 != 100000 + $1) bad++; n++ } END { print n, bad + 0 }'
EXPECT
	4000 0
	4000 0
