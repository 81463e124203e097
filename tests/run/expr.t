NAME arithmetic
PROG BEGIN { $a = 7; $b = 3; print($a + $b); print($a - $b); print($b - $a); print($a * $b); print((uint64)$a / (uint64)$b); print((uint64)$a % (uint64)$b); }
EXPECT
	10
	4
	-4
	21
	2
	1
	$
	$

NAME bits
PROG BEGIN { $a = (uint64)12; $b = (uint64)10; print($a & $b); print($a | $b); print($a ^ $b); print(~$a); print($a << 2); print($a >> 2); }
EXPECT
	8
	14
	6
	18446744073709551603
	48
	3
	$
	$

NAME comparisons
PROG BEGIN { $a = 5; $b = -5; print(($a < $b, $a > $b, $a <= 5, $a >= 6, $a == 5, $a != 5)); }
EXPECT
	(false, true, true, false, true, false)
	$
	$

NAME signed and unsigned comparison
PROG BEGIN { $a = (uint64)0xffffffffffffffff; $b = (uint64)1; print($a > $b); $c = (int64)-1; $d = (int64)1; print($c < $d); }
EXPECT
	true
	true
	$
	$

NAME logic
PROG BEGIN { $a = 1; $b = 0; print(($a && $b, $a || $b, !$a, !$b)); }
EXPECT
	(false, true, false, true)
	$
	$

NAME logic short-circuits
PROG BEGIN { $a = 0; if ($a != 0 && @x++ > 0) { print(1); } if ($a == 0 || @y++ > 0) { print(2); } }
EXPECT
	2
	$
	$

NAME precedence
PROG BEGIN { $a = 2; $b = 3; $c = 4; print($a + $b * $c); print(($a + $b) * $c); print($a << $b + 1); print($a | $b & $c); print($a + $b == 5 && $c == 4); }
EXPECT
	14
	20
	32
	2
	true
	$
	$

NAME folded expressions
PROG BEGIN { print(1 + 2 * 3); print((1 + 2) * 3); print(-10 / 3); print(-8 >> 1); print(1 << 40); print(~0); print(10 % 4); print(5 & 1 == 1); }
EXPECT
	7
	9
	-3
	-4
	1099511627776
	18446744073709551615
	2
	1
	$
	$

NAME increments
PROG BEGIN { $a = 5; $a++; print($a); ++$a; print($a); $a--; --$a; print($a); @m++; @m++; print(@m + 0); @k["x"]--; print(@k["x"] + 0); clear(@m); clear(@k); }
EXPECT
	6
	7
	5
	2
	-1
	$
	$

NAME increments as values
PROG BEGIN { $a = 5; $b = $a++; print(($a, $b)); $b = ++$a; print(($a, $b)); }
EXPECT
	(6, 5)
	(7, 7)
	$
	$

NAME compound assignment
PROG BEGIN { $a = (uint64)10; $a += 5; print($a); $a -= 3; print($a); $a *= 4; print($a); $a /= 6; print($a); $a %= 5; print($a); $a <<= 4; print($a); $a >>= 1; print($a); $a |= 3; print($a); $a &= 6; print($a); $a ^= 5; print($a); }
EXPECT
	15
	12
	48
	8
	3
	48
	24
	27
	2
	7
	$
	$

NAME compound assignment of maps
PROG BEGIN { @a = (uint64)10; @a += 5; @a -= 3; @a *= 2; @k[1] = (uint64)1; @k[1] += 41; print((@a + 0, @k[1])); clear(@a); clear(@k); }
EXPECT
	(24, 42)
	$
	$

NAME literals
PROG BEGIN { print(0x1f); print(017); print(1_000_000); print(1e3); print(5e6); print(0xFFFFFFFFFFFFFFFF); print(100u); print(100ul); print(100ll); }
EXPECT
	31
	15
	1000000
	1000
	5000000
	18446744073709551615
	100
	100
	100
	$
	$

NAME durations
PROG BEGIN { print(1ns); print(1us); print(5ms); print(2s); print(1m); print(1h); print(1d); }
EXPECT
	1
	1000
	5000000
	2000000000
	60000000000
	3600000000000
	86400000000000
	$
	$

NAME casts of literals
PROG BEGIN { print((int8)200); print((uint8)300); print((uint64)-1); print((int16)-1); print((uint16)65536); }
EXPECT
	-56
	44
	18446744073709551615
	-1
	0
	$
	$

NAME casts of variables
PROG BEGIN { $a = (uint64)0x1ff; print((uint8)$a); print((int8)$a); print((uint16)$a); $b = (int8)-1; print((uint64)$b); print((uint32)$b); print((int64)$b); }
EXPECT
	255
	-1
	511
	18446744073709551615
	4294967295
	-1
	$
	$

NAME casts to bool and back
PROG BEGIN { $a = 5; print((bool)$a); print((bool)0); print((int64)true); }
EXPECT
	true
	false
	1
	$
	$

NAME sizeof
PROG BEGIN { print(sizeof(1)); print(sizeof(uint64)); print(sizeof(int32)); $a = (uint16)1; print(sizeof($a)); print(sizeof("abc")); }
EXPECT
	1
	8
	4
	2
	4
	$
	$

NAME variables widen
PROG BEGIN { $a = 1; $a = 70000; $a = 5000000000; print($a); $s = "a"; $s = "abcdef"; print($s); }
EXPECT
	5000000000
	abcdef
	$
	$

NAME int8 overflow widens
PROG BEGIN { $x = (int8)127; $x++; print($x); }
EXPECT
	128
	$
	$

NAME mixed signs
PROG BEGIN { $a = (uint32)4000000000; $b = (int32)-1; print($a + $b); print($a > $b); }
EXPECT
	3999999999
	true
	$
	$

NAME unary minus
PROG BEGIN { $a = 5; print(-$a); print(-(-$a)); print(- 3); }
EXPECT
	-5
	5
	-3
	$
	$

NAME unsigned wrap
PROG BEGIN { $a = (uint64)18446744073709551615; print($a + 1); }
EXPECT
	0
	$
	$

NAME large products
PROG BEGIN { $a = (uint64)4294967296; print($a * $a); print($a * 3); }
EXPECT
	0
	12884901888
	$
	$

NAME shift by a variable
PROG BEGIN { $n = (uint64)5; print((uint64)1 << $n); print((uint64)1024 >> $n); }
EXPECT
	32
	32
	$
	$

NAME division by a variable zero gives one
PROG BEGIN { $z = (uint64)0; @z = $z; print((uint64)10 / @z); print((uint64)10 % @z); clear(@z); }
EXPECT
	1
	1
	$
	$

NAME deep nesting
PROG BEGIN { $a = (uint64)1; print((((((((($a + 1) * 2) + 1) * 2) + 1) * 2) + 1) * 2)); print(($a + 1) * ($a + 2) * ($a + 3) * ($a + 4) + ($a + 5) * ($a + 6) * ($a + 7) * ($a + 8)); }
EXPECT
	46
	3144
	$
	$

NAME many variables alive at once
PROG BEGIN { $a = pid * 0 + 1; $b = $a + 1; $c = $b + 1; $d = $c + 1; $e = $d + 1; $f = $e + 1; $g = $f + 1; $h = $g + 1; $i = $h + 1; $j = $i + 1; $k = $j + 1; $l = $k + 1; printf("%d %d %d %d %d %d %d %d %d %d %d %d\n", $a, $b, $c, $d, $e, $f, $g, $h, $i, $j, $k, $l); print($a + $b + $c + $d + $e + $f + $g + $h + $i + $j + $k + $l); }
EXPECT
	1 2 3 4 5 6 7 8 9 10 11 12
	78
	$
	$

NAME builtins as calls
PROG BEGIN { printf("%d %d\n", pid() == pid, cpu() < ncpus()); }
EXPECT
	1 1
	$
	$

NAME enum constants of the kernel
PROG BEGIN { print((uint64)TCP_ESTABLISHED); print((uint64)TCP_CLOSE); }
NEEDS btf
EXPECT
	1
	7
	$
	$

NAME signed division and shift do the right thing
# The reference divides and shifts signed values as unsigned ones; see docs/compat.md.
PROG BEGIN { $a = (int64)-7; $b = (int64)2; print($a / $b); print($a % $b); print($a >> 1); }
EXPECT
	-3
	-1
	-4
	$
	$

NAME minus and complement of unsigned values keep the width
PROG BEGIN { $a = (uint16)381; $e = (int8)5; print((~$a, -$a, -(uint32)5, ~(uint8)5, ~$e, -$e, sizeof(-$a))); }
EXPECT
	(65154, 65155, 4294967291, 250, -6, -5, 8)
	$
	$

NAME a decrement is signed, as a subtraction
PROG BEGIN { $m = (uint64)0; --$m; print($m); let $f : uint8 = (uint8)0; $f--; print($f); @u = (uint64)0; @u--; }
EXPECT
	-1
	255
	$
	$
	@u: -1

NAME cast literals are computed as values of their type
PROG BEGIN { print(((uint64)18446744073709551615 + 1, (uint8)200 + (uint8)100, (uint64)18446744073709551615 == -1)); print((sizeof((uint8)1 + 1), sizeof(true + 1), sizeof(1 + 1))); }
EXPECT
	(0, 300, true)
	(8, 8, 1)
	$
	$

NAME a literal that is shifted by an unsigned value is unsigned
PROG BEGIN { $n = (uint64)63; $i = (int64)63; print((1 << $n, 1 << $i, -1 << $n)); }
EXPECT
	(9223372036854775808, -9223372036854775808, -9223372036854775808)
	$
	$

NAME addresses of variables and map values
PROG BEGIN { $v = (uint64)513; $p = &$v; $b = (uint8 *)&$v; @m = 77; $q = &@m; printf("%d %d %d %d\n", *$p, *$b, $b[1], *$q); $v = 7; printf("%d %d\n", *$p, &@m != 0); $t = (1, 2); printf("%d\n", &$t != 0); clear(@m); }
EXPECT
	513 1 2 77
	7 1
	1
	$
	$

NAME the branch that is not taken has its say about the type
PROG BEGIN { $v = (uint64)18446744073709551592; print(false ? -622 : $v); print(true ? $v : (uint8)1); }
EXPECT
	-24
	18446744073709551592
	$
	$

NAME a later assignment widens what was typed by a variable before
PROG begin { $a = 316; $b = $a + 1; @c = $b * 2; $a = (uint64)5; print((~(uint64)81 <= $b, ~(uint64)81 <= @c)); $d = 3; $e = -$d; $d = (int64)7; print(~(uint64)81 <= $e); clear(@c); exit(); }
ARGS --no-warnings -q
EXPECT
	(false, false)
	true
	$
	$

NAME a choice between two calls, as a statement
PROG BEGIN { nsecs ? printf("yes\n") : printf("no\n"); !nsecs ? printf("yes\n") : printf("no\n"); pid == 0 ? printf("a\n") : pid ? print("b") : print(3); }
EXPECT
	yes
	no
	b
	$
	$

NAME the script's own definition of the kernel's struct
PROG struct task_struct { char text[32]; int x; }; BEGIN { $p = (struct task_struct *)curtask; @same = $p->x == *(int32 *)kptr((uint64)curtask + 32); @here = curtask->x == $p->x; @parts = curtask->text[1] == *(int8 *)kptr((uint64)curtask + 1); }
EXPECT
	$
	$
	@here: true
	@parts: true
	@same: true

NAME elements of tuples in brackets
PROG begin { $t = (1, ("a", 5), 3); print($t[0]); print($t[1][0]); @x[2] = $t; print(@x[2][1][1]); for $kv : @x { print(($kv[0], $kv[1][2])); } exit(); }
ARGS -q
NEEDS sym:bpf_for_each_map_elem
EXPECT
	1
	a
	5
	(2, 3)
	$
	$
	@x[2]: (1, (a, 5), 3)

NAME buffers of different length are compared by what they hold
PROG begin { $a = buf("abc", 3); $b = buf("abcd", 4); $c = buf("abcd", 3); print(($a == $b, $a != $b, $a == $c, $b == buf("abcd", 4), $b == buf("abce", 4))); }
ARGS -q
EXPECT
	(false, true, true, true, false)
	$
	$

NAME an aggregation is the value of a block
PROG macro twice(x) { let $y = x * 2; sum($y) } begin { @a = { let $x = 3; count() }; @b[1] = { $y = 5; { sum($y) } }; @h = { max(4) }; @m[7] = twice(4); @m[7] = twice(1); }
ARGS -q
EXPECT
	$
	$
	@a: 1
	@b[1]: 5
	@h: 4
	@m[7]: 10

NAME a parameter as text is a literal
PROG begin { printf(str($1), 3); printf("\n"); print(strftime(str($2), 0)); $s = str($3); print(($s, strlen($s), sizeof(str($4)))); if comptime (str($2) == "%Y") { print("known"); } }
PARAMS x=%d %Y abc 12345
ARGS -q
EXPECT_RE
	x=3
	20[0-9][0-9]
	\(abc, 3, 6\)
	known
	$
	$

NAME numbers with an exponent in probes and settings
RUN
	for p in interval:us:1e5 interval:1e2ms profile:hz:1e3 interval:1E2ms
	do BPFTRACE_MAX_STRLEN=1e2 "$SONDE" -q -e "$p { print(config.max_strlen); exit(); }" | grep .
	done
	"$SONDE" -e 'interval:us:15e5 { }' 2>&1 | grep -o 'Invalid.*'
	"$SONDE" -e 'interval:s:1e20 { }' 2>&1 | grep -o 'Invalid.*'
EXPECT
	100
	100
	100
	100
	Invalid rate of interval probe: invalid integer: 15e5
	Invalid rate of interval probe: invalid integer: 1e20

NAME names that the library of bpftrace is made of
PROG begin { print((__builtin_comm, __builtin_ncpus() == ncpus, __builtin_probe, __builtin_probetype, __builtin_safe_mode, __builtin_elf_is_exe, __builtin_elf_ino)); print((__builtin_signal_num("KILL") == signal_num("SIGKILL"), __builtin_is_literal(3), __builtin_kfunc_exist("nope"), __builtin_config.max_probes, __builtin_elapsed > 0, __builtin_cpu < ncpus, strlen(__builtin_arch) > 0)); }
ARGS -q
EXPECT_RE
	\(sonde.*, true, begin, special, true, false, 0\)
	\(true, true, false, 1024, true, true, true\)
	$
	$

NAME uaddr, usermode and func under their inner names
PROG uprobe:build/tests/calls:target { print((__builtin_func, __builtin_uaddr("target") == uaddr("target"), __builtin_usermode == usermode, elf_is_exe(), elf_info() > 0)); exit(); }
ARGS -q
LOAD calls 1
NEEDS uprobe prog:calls
EXPECT_RE
	\(target, true, true, false, true\)
	...

NAME elf_is_exe() of a program at fixed addresses
PROG uprobe:build/tests/landing:pushes { print(__builtin_elf_is_exe); exit(); }
ARGS -q
LOAD landing 1
NEEDS uprobe prog:landing
EXPECT
	true
	$
	$

NAME the left side of ?: is evaluated once
PROG begin { @a = 1; print(@a++ ?: 5); print(@a); $n = (int8)-1; print($n ?: 3); $z = (uint8)0; print($z ?: 300); print((curtask ?: (struct task_struct *)5) == curtask); @c[7] = 4; print(@c[7]-- ?: 9); print(@c[7]); }
ARGS -q
ENV BPFTRACE_PRINT_MAPS_ON_EXIT=false
NEEDS btf
EXPECT
	1
	@a: 2
	-1
	300
	true
	4
	3
	$
	$

NAME a hash stands for a value
PROG begin { $a = (uint8)200; $b = (uint64)200; $s = str("a text that has some more words than four, so that a loop goes over them", 100); $t = str("a text that has some more words than four, so that a loop goes over thex", 100); print((hash($a) == hash($b), hash(-1) == hash(1), hash($s) == hash($t), hash((1, "ab")) == hash((1, "ab")), hash((1, "ab")) == hash((2, "ab")))); }
ARGS -q
EXPECT
	(true, false, false, true, false)
	$
	$

NAME a stack is kept once, by its hash
RUN
	"$SONDE" -q -e 'config = { print_maps_on_exit = false }
		table stacks sorted by n { id if false; n right; kstack below; }
		tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { $s = kstack; @n[hash($s)] = count(); @stack[hash($s)] = $s; @stack[1] = $s; @same = hash($s) == hash(@stack[1]); }
		end { for $i : 0..1000 { @numbers[hash($i)] = count(); } print((len(@n), @same, len(@numbers))); show(stacks, @n, @stack); }' -c 'build/tests/syscalls 3000 lseek' |
		awk 'NR < 4 || !NF { print; } NF && NR > 4 { n++ } END { print (n > 1) }'
NEEDS feature:LOOP tp:syscalls/sys_enter_lseek
EXPECT
	(1, true, 1000)
	N
	3000
	$
	1

NAME bits that are set
PROG begin { $a = (int32)-1; $b = (uint64)0xf0f0f0f0f0f0f0f1; $c = (uint8)0x81; $d = (int64)-2; print((popcount($a), popcount($b), popcount($c), popcount($d), popcount(0), popcount(7))); for $i : 62..64 { print(popcount(((uint64)1 << $i) - 1)); } }
EXPECT
	(32, 33, 2, 63, 0, 3)
	62
	63
	$
	$

NAME a number as an array that is longer than it has zeros behind it
PROG BEGIN { $f = (uint8[64])(uint64)-1; $a = (uint8[16])0x0102; $b = (uint16[7])5; print($a); print($b); @[(uint8[24])7] = 1; }
EXPECT
	[2,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
	[5,0,0,0,0,0,0]
	$
	$
	@[[7,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]]: 1

NAME sizes of enums and of pointers to arrays
PROG
	enum e { A = 3, B } struct s { enum e x; }
	begin { print((sizeof(enum e), sizeof(A), sizeof(struct s), sizeof(((struct s *)0)->x))); print((sizeof(uint32[4]*), sizeof(struct s[2]*), sizeof(uint8[2]))); $p = (uint32[4]*)16; print((uint64)($p + 1)); $a = 5; print($a*(2)); print(sizeof($a*2)); }
EXPECT
	(8, 8, 4, 4)
	(8, 8, 2)
	32
	10
	8
	$
	$

NAME an address made of a number is that of a number
PROG uprobe:build/tests/calls:main { $p = uptr((uint64)arg1); print((*$p == *(uint64 *)arg1, sizeof(*uptr(arg1)))); exit(); }
LOAD calls
EXPECT
	(true, 8)
	$
	$

NAME usermode in begin and end
PROG begin { print(usermode); } end { print(usermode); }
EXPECT
	1
	1
	$
	$
