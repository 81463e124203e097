NAME integers
PROG BEGIN { printf("%d %i %u %x %X %o %c\n", -5, 6, 7, 255, 255, 8, 65); }
EXPECT
	-5 6 7 ff FF 10 A
	$
	$

NAME long integers
PROG BEGIN { printf("%ld %lu %lx %llx\n", -5000000000, 5000000000, 0x1234567890, 0xdeadbeefcafe); }
EXPECT
	-5000000000 5000000000 1234567890 deadbeefcafe
	$
	$

NAME without a length 32 bits are printed
PROG BEGIN { printf("%d %x\n", 0x1234567890, 0x1234567890); }
EXPECT
	878082192 34567890
	$
	$

NAME short lengths
PROG BEGIN { $x = 0x12345678; printf("%hhx %hx %hhd\n", $x, $x, $x); }
EXPECT
	78 5678 120
	$
	$

NAME unsigned of negative
PROG BEGIN { printf("%u %lu\n", (int32)-1, (int64)-1); }
EXPECT
	4294967295 18446744073709551615
	$
	$

NAME widths
PROG BEGIN { printf("[%5d] [%-5d] [%05d] [%5s] [%-5s] [%8lx]\n", 42, 42, 42, "ab", "ab", 0xabc); }
EXPECT
	[   42] [42   ] [00042] [   ab] [ab   ] [     abc]
	$
	$

NAME plus and hash flags
PROG BEGIN { printf("%+d %+d %#x %#o\n", 5, -5, 255, 8); }
EXPECT
	+5 -5 0xff 010
	$
	$

NAME pointers
PROG BEGIN { printf("%p %p\n", 0xffff0000, 0); }
EXPECT
	0xffff0000 0
	$
	$

NAME strings
PROG BEGIN { printf("%s|%10s|%-10s|\n", "hello", "right", "left"); }
EXPECT
	hello|     right|left      |
	$
	$

NAME percent sign
PROG BEGIN { printf("100%% of %d%%\n", 5); }
EXPECT
	100% of 5%
	$
	$

NAME any type as text
PROG BEGIN { printf("%s %s %s %s\n", 5, true, (1, "a"), "str"); }
EXPECT
	5 true (1, a) str
	$
	$

NAME bool
PROG BEGIN { $t = true; printf("%d %s %d\n", $t, $t, !$t); }
EXPECT
	1 true 0
	$
	$

NAME tuple
PROG BEGIN { printf("%s\n", (1, "two", (3, 4))); }
EXPECT
	(1, two, (3, 4))
	$
	$

NAME buffer formats
PROG uprobe:build/tests/calls:bytes /pid == cpid/ { printf("%r %rx %rh\n", buf(arg0, arg1), buf(arg0, arg1), buf(arg0, 3)); }
LOAD calls 1
EXPECT
	\x01\x02a\xff\x00z \x01\x02\x61\xff\x00\x7a 01 02 61
	$
	$

NAME escapes
PROG BEGIN { printf("a\tb\\c\"d\x41\101\n"); }
EXPECT
	a	b\c"dAA
	$
	$

NAME no newline
PROG BEGIN { printf("a"); printf("b"); printf("c\n"); }
EXPECT
	abc
	$
	$

NAME many arguments
PROG BEGIN { printf("%d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10); }
EXPECT
	1 2 3 4 5 6 7 8 9 10
	$
	$

NAME mixed sizes of arguments
PROG BEGIN { $a = (uint8)200; $b = (int16)-300; $c = (uint32)70000; $d = (int64)-1; printf("%d %d %d %ld %s\n", $a, $b, $c, $d, "end"); }
EXPECT
	200 -300 70000 -1 end
	$
	$

NAME literal with no arguments
PROG BEGIN { printf("just text\n"); }
EXPECT
	just text
	$
	$

NAME map values
PROG BEGIN { @a = 5; @s["k"] = "value"; printf("%d %s\n", @a, @s["k"]); clear(@a); clear(@s); }
EXPECT
	5 value
	$
	$

NAME aggregates in printf
NEEDS sym:bpf_map_lookup_percpu_elem
PROG BEGIN { @c = count(); @c = count(); @s = sum(5); @s = sum(6); @m = max(9); @n = min(3); @v = avg(4); @v = avg(8); printf("%s %s %s %s %s\n", @c, @s, @m, @n, @v); clear(@c); clear(@s); clear(@m); clear(@n); clear(@v); }
EXPECT
	2 11 9 3 6
	$
	$

NAME long text of one line
PROG BEGIN { printf("%s%s%s%s\n", "0123456789012345678901234567890123456789", "0123456789012345678901234567890123456789", "0123456789012345678901234567890123456789", "0123456789012345678901234567890123456789"); }
EXPECT
	0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789
	$
	$

NAME too few and too many would not compile
PROG BEGIN { printf("%d\n"); }
EXPECT
RC 1

NAME the longer of two texts at the end of a record
RUN
	"$SONDE" -q -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%s\n", nsecs == 3 ? "a" : "the longer one"); printf("%d %s\n", 1, nsecs != 3 ? "the longer one" : "b"); printf("%s\n", if nsecs == 3 { "c" } else { "a longer one" }); print(nsecs == 3 ? "d" : comm); }' -c 'build/tests/syscalls 1 getppid' |
		grep .
EXPECT
	the longer one
	1 the longer one
	a longer one
	syscalls
