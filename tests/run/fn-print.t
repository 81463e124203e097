NAME percentiles
PROG BEGIN { $i = 0; while ($i < 1000) { @h["a"] = hist($i); @g = hist($i, 5); @l = lhist($i, 0, 500, 100); $i++; } @n = hist(-5); print(@h, "p50, p99.9,100 ,0"); print(@g, "p50,p99.9,max"); print(@l, "1,p50,p99.9"); print(@n, "p50"); clear(@h); clear(@g); clear(@l); clear(@n); }
EXPECT
	@h[a]: { .p50 = 256..511, .p99.9 = 512..1023, .p100 = 512..1023, .p0 = 0, .count = 1000 }
	@g: { .p50 = 496..503, .p99.9 = 992..1007, .max = 992..1007, .count = 1000 }
	@l: { .p1 = 0..99, .p50 = 400..499, .p99.9 = 500.., .count = 1000 }
	@n: { .p50 = ..-1, .count = 1 }
	$
	$

NAME percentiles in JSON
PROG BEGIN { @h["a"] = hist(5); @l = lhist(7, 0, 500, 100); @l = lhist(700, 0, 500, 100); print(@h, "p50"); print(@l, "p50,p99"); clear(@h); clear(@l); }
ARGS -q -f json
EXPECT
	{"type": "percentiles", "data": {"@h": {"a": {"p50": {"min": 4, "max": 7}, "count": 1}}}}
	{"type": "percentiles", "data": {"@l": {"p50": {"min": 0, "max": 99}, "p99": {"min": 500}, "count": 2}}}

NAME percentiles misuse
PROG BEGIN { @h["a"] = hist(5); @c = count(); print(@h, "foo"); print(@c, "p5"); print(@h, "p5", 2); print(@h, "p101"); print(@h, ""); print(@h, "p1.2345"); print(@h, pid); }
RC 1
EXPECT
ERR_RE
	stdin:1:[0-9]+-[0-9]+: ERROR: percentiles are written as in "p50, p99\.9", .*
	...
	stdin:1:[0-9]+-[0-9]+: ERROR: percentiles need a map of histograms \(@c holds count_t\)
	...
	stdin:1:[0-9]+-[0-9]+: ERROR: print\(\) takes no argument after a list of percentiles
	...
	stdin:.* ERROR: percentiles are written as .*
	...
	stdin:.* ERROR: percentiles are written as .*
	...
	stdin:.* ERROR: percentiles are written as .*
	...
	stdin:.* ERROR: print\(\) expects an integer literal .*
	...

NAME one element of an aggregation
PROG BEGIN { @h["a"] = hist(5); @s["a"] = stats(5); @s["a"] = stats(8); @c[1] = count(); @l = lhist(5, 0, 10, 1); print(@h["a"]); print(@s["a"]); printf("%s %d|%s", @s["a"], @c[1], @l); print(@s["b"]); print(@c[1]); @c[1] = count(); print(@c[1]); clear(@h); clear(@s); clear(@c); clear(@l); }
EXPECT
	[4, 8)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	{ .count = 2, .average = 6, .total = 13 }
	{ .count = 2, .average = 6, .total = 13 } 1|[5]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	{ .count = 0, .average = 0, .total = 0 }
	1
	2
	$
	$

NAME width and precision as arguments
PROG BEGIN { printf("[%*d][%-*d][%*d][%.*s][%*.*s]\n", 5, 3, 5, 3, -5, 3, 2, "abcdef", 6, 3, "uvwxyz"); }
EXPECT
	[    3][3    ][3    ][ab][   uvw]
	$
	$

NAME flags and lengths of printf
PROG BEGIN { printf("[%5s][%-5s][%05d][%+d][% d][%#x][%#o][%lu][%hhd][%hx][%lld][%jd][%zu][%td][%c][%p][%X]\n", "ab", "cd", -42, 5, 5, 255, 8, -1, 300, 70000, 1, 2, 3, 4, 65, 0x10, 255); }
EXPECT
	[   ab][cd   ][-0042][+5][ 5][0xff][010][18446744073709551615][44][1170][1][2][3][4][A][0x10][FF]
	$
	$

NAME allocation flags
PROG BEGIN { printf("%gr %gr %gr %gr\n", 0xcc0, 0x400cc0, 0, 0x6000c0); printf("%gr %gr %gr %gr\n", 0xdc0, 0x820, 0x100cca, 0x10000001); }
EXPECT
	GFP_KERNEL GFP_KERNEL_ACCOUNT 0 __GFP_IO|__GFP_FS|__GFP_THISNODE|__GFP_ACCOUNT
	GFP_KERNEL|__GFP_ZERO GFP_ATOMIC GFP_HIGHUSER|__GFP_MOVABLE GFP_DMA|0x10000000
	$
	$

NAME star without its number
PROG BEGIN { printf("%*d\n", 5); printf("%*d\n", "a", 5); }
RC 1
EXPECT
ERR_RE
	stdin:1:[0-9]+-[0-9]+: ERROR: not enough arguments for format string \(1 supplied, 2 expected\)
	...
	stdin:1:[0-9]+-[0-9]+: ERROR: '\*' in a format needs an int argument \(string\[2\] provided\)
	...

NAME order and division of aggregations
PROG BEGIN { @d["x"] = min(5); @d["y"] = min(-5); @e["q"] = avg(-5); @e["r"] = avg(5); @g[1] = sum(-9); @g[2] = sum(9); print(@d, 1); print(@d, 0, 2); print(@e, 0, 2); print(@g, 0, 3); @a = min((int8)-5); @a = min((uint64)3); @b = avg(-7); @b = avg(-8); print(@a); print(@b); clear(@a); clear(@b); clear(@d); clear(@e); clear(@g); }
EXPECT
	@d[x]: 5
	@d[y]: -2
	@d[x]: 2
	@e[q]: -2
	@e[r]: 2
	@g[1]: -3
	@g[2]: 3
	@a: -5
	@b: -7
	$
	$
