NAME count
PROG BEGIN { @ = count(); @ = count(); @k["a"] = count(); }
EXPECT
	$
	$
	@: 2
	@k[a]: 1

NAME sum
PROG BEGIN { @ = sum(5); @ = sum(7); @n = sum(-5); @n = sum(2); @k[1] = sum(1); @k[1] = sum(2); }
EXPECT
	$
	$
	@: 12
	@k[1]: 3
	@n: -3

NAME sum of large values
PROG BEGIN { @ = sum((uint64)9000000000000000000); @ = sum((uint64)9000000000000000000); }
EXPECT
	$
	$
	@: 18000000000000000000

NAME min and max
PROG BEGIN { @a = min(5); @a = min(3); @a = min(9); @b = max(5); @b = max(3); @b = max(9); @c = min(-4); @c = min(2); @d = max(-4); @d = max(-2); }
EXPECT
	$
	$
	@a: 3
	@b: 9
	@c: -4
	@d: -2

NAME avg
PROG BEGIN { @ = avg(1); @ = avg(2); @ = avg(6); @n = avg(-5); @n = avg(-7); }
EXPECT
	$
	$
	@: 3
	@n: -6

NAME stats
PROG BEGIN { @ = stats(5); @ = stats(10); @k["x"] = stats(-3); @k["x"] = stats(-5); }
EXPECT
	$
	$
	@: { .count = 2, .average = 7, .total = 15 }
	@k[x]: { .count = 2, .average = -4, .total = -8 }

NAME keyed aggregates are sorted by value
PROG BEGIN { @c["b"] = count(); @c["b"] = count(); @c["a"] = count(); @c["c"] = count(); @c["c"] = count(); @c["c"] = count(); @a["x"] = avg(9); @a["y"] = avg(3); @s["p"] = stats(8); @s["q"] = stats(2); @m["k"] = max(7); @m["l"] = max(5); }
EXPECT
	$
	$
	@a[y]: 3
	@a[x]: 9
	@c[a]: 1
	@c[b]: 2
	@c[c]: 3
	@m[l]: 5
	@m[k]: 7
	@s[q]: { .count = 1, .average = 2, .total = 2 }
	@s[p]: { .count = 1, .average = 8, .total = 8 }

NAME hist
PROG BEGIN { @ = hist(-1); @ = hist(0); @ = hist(1); @ = hist(2); @ = hist(3); @ = hist(4); @ = hist(1000); @ = hist(1024); @ = hist(5000000); }
EXPECT
	$
	$
	@:
	(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[0]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[1]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[2, 4)                 2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[4, 8)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[8, 16)                0 |                                                    |
	[16, 32)               0 |                                                    |
	[32, 64)               0 |                                                    |
	[64, 128)              0 |                                                    |
	[128, 256)             0 |                                                    |
	[256, 512)             0 |                                                    |
	[512, 1K)              1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[1K, 2K)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
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
	[4M, 8M)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	$

NAME hist of one value
PROG BEGIN { @ = hist(100); }
EXPECT
	$
	$
	@:
	[64, 128)              1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME hist with large values
PROG BEGIN { @ = hist((uint64)1 << 62); @ = hist((uint64)1 << 40); @ = hist((uint64)1 << 41); }
EXPECT
	$
	$
	@:
	[1T, 2T)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[2T, 4T)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
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

NAME hist with bits
PROG BEGIN { @ = hist(5, 2); @ = hist(9, 2); @ = hist(10, 2); @ = hist(11, 2); @ = hist(13, 2); @ = hist(17, 2); @ = hist(100, 2); }
EXPECT
	$
	$
	@:
	[5]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[6]                    0 |                                                    |
	[7]                    0 |                                                    |
	[8, 10)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[10, 12)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[12, 14)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[14, 16)               0 |                                                    |
	[16, 20)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[20, 24)               0 |                                                    |
	[24, 28)               0 |                                                    |
	[28, 32)               0 |                                                    |
	[32, 40)               0 |                                                    |
	[40, 48)               0 |                                                    |
	[48, 56)               0 |                                                    |
	[56, 64)               0 |                                                    |
	[64, 80)               0 |                                                    |
	[80, 96)               0 |                                                    |
	[96, 112)              1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	$

NAME keyed hist
PROG BEGIN { @["b"] = hist(10); @["b"] = hist(10); @["a"] = hist(20); @["c"] = hist(1); @["c"] = hist(1); @["c"] = hist(1); }
EXPECT
	$
	$
	@[a]:
	[16, 32)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@[b]:
	[8, 16)                2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@[c]:
	[1]                    3 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME hist with two keys
PROG BEGIN { @["a", 1] = hist(10); @["a", 2] = hist(20); @["a", 2] = hist(25); }
EXPECT
	$
	$
	@[a, 1]:
	[8, 16)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@[a, 2]:
	[16, 32)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME lhist
PROG BEGIN { @ = lhist(-1, 0, 100, 10); @ = lhist(0, 0, 100, 10); @ = lhist(9, 0, 100, 10); @ = lhist(10, 0, 100, 10); @ = lhist(55, 0, 100, 10); @ = lhist(99, 0, 100, 10); @ = lhist(100, 0, 100, 10); @ = lhist(1000, 0, 100, 10); }
EXPECT
	$
	$
	@:
	(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[0, 10)                2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[10, 20)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[20, 30)               0 |                                                    |
	[30, 40)               0 |                                                    |
	[40, 50)               0 |                                                    |
	[50, 60)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[60, 70)               0 |                                                    |
	[70, 80)               0 |                                                    |
	[80, 90)               0 |                                                    |
	[90, 100)              1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[100, ...)             2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME lhist from a minimum
PROG BEGIN { @ = lhist(5, 10, 20, 5); @ = lhist(12, 10, 20, 5); @ = lhist(19, 10, 20, 5); }
EXPECT
	$
	$
	@:
	(..., 10)              1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[10, 15)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[15, 20)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME lhist below zero
PROG begin { for $i : -12..30 { @ = lhist($i, -10, 20, 5); @b[1] = lhist($i, -20, -10, 5); } @c = lhist(-9223372036854775807, -9223372036854775807, 9223372036854775807, 9223372036854775807); }
EXPECT
	$
	$
	@:
	(..., -10)             2 |@@@@@@@@@@                                          |
	[-10, -5)              5 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[-5, 0)                5 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[0, 5)                 5 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[5, 10)                5 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[10, 15)               5 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[15, 20)               5 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[20, ...)             10 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@b[1]:
	[-15, -10)             2 |@@                                                  |
	[-10, ...)            40 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@c:
	[-9223372036854775807, 0)       1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME lhist of kibibytes
PROG BEGIN { @ = lhist(1500, 0, 8192, 1024); @ = lhist(5000, 0, 8192, 1024); }
EXPECT
	$
	$
	@:
	[1K, 2K)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[2K, 3K)               0 |                                                    |
	[3K, 4K)               0 |                                                    |
	[4K, 5K)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME keyed lhist
PROG BEGIN { @["x"] = lhist(5, 0, 10, 1); @["y"] = lhist(7, 0, 10, 1); @["y"] = lhist(8, 0, 10, 1); }
EXPECT
	$
	$
	@[x]:
	[5]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@[y]:
	[7]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[8]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME bars
PROG BEGIN { for ($i : 0..100) { @ = lhist($i % 7, 0, 10, 1); } }
EXPECT
	$
	$
	@:
	[0]                   15 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[1]                   15 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[2]                   14 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@    |
	[3]                   14 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@    |
	[4]                   14 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@    |
	[5]                   14 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@    |
	[6]                   14 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@    |
	$

NAME reading aggregates
PROG BEGIN { @c = count(); @c = count(); @s = sum(10); if (@c > 1) { printf("%d\n", @c + @s); } print((int64)@c); clear(@c); clear(@s); }
EXPECT
	12
	2
	$
	$

NAME copied through a cast
PROG BEGIN { @c = count(); @c = count(); @y = (int64)@c; clear(@c); }
EXPECT
	$
	$
	@y: 2

NAME per-CPU values are merged
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @c = count(); @s = sum(2); @h = hist(3); }
LOAD syscalls 1000
EXPECT
	$
	$
	@c: 1000
	@h:
	[2, 4)              1000 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@s: 2000

NAME exact counts by key
PROG tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { @[args.offset % 4] = sum(args.offset); }
LOAD syscalls 1000 lseek
EXPECT
	$
	$
	@[0]: 124500
	@[1]: 124750
	@[2]: 125000
	@[3]: 125250

NAME exact histogram
PROG tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { @ = hist(args.offset); @l = lhist(args.offset, 0, 1000, 100); @s = stats(args.offset); }
LOAD syscalls 1000 lseek
EXPECT
	$
	$
	@:
	[0]                    1 |                                                    |
	[1]                    1 |                                                    |
	[2, 4)                 2 |                                                    |
	[4, 8)                 4 |                                                    |
	[8, 16)                8 |                                                    |
	[16, 32)              16 |@                                                   |
	[32, 64)              32 |@@@                                                 |
	[64, 128)             64 |@@@@@@                                              |
	[128, 256)           128 |@@@@@@@@@@@@@                                       |
	[256, 512)           256 |@@@@@@@@@@@@@@@@@@@@@@@@@@@                         |
	[512, 1K)            488 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@l:
	[0, 100)             100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[100, 200)           100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[200, 300)           100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[300, 400)           100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[400, 500)           100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[500, 600)           100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[600, 700)           100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[700, 800)           100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[800, 900)           100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[900, 1000)          100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@s: { .count = 1000, .average = 499, .total = 499500 }

NAME bytes read and written
PROG tracepoint:syscalls:sys_exit_read /pid == cpid && args.ret > 999/ { @r = hist(args.ret); @t = sum(args.ret); } tracepoint:syscalls:sys_enter_write /pid == cpid/ { @w[args.count] = count(); }
LOAD rw r1000 r2000 r4000 r4096 w10 w10 w20
EXPECT
	$
	$
	@r:
	[512, 1K)              1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[1K, 2K)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[2K, 4K)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[4K, 8K)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@t: 11096
	@w[20]: 1
	@w[10]: 2

NAME standard deviation
PROG begin { for $i : 1..101 { @all = stddev($i); @by[$i % 3] = stddev($i * 1000 * ($i % 3)); } for $i : 0..2 { @two = stddev(2 + 7 * $i); @two = stddev(4); @two = stddev(5); } @two = stddev(4); @two = stddev(7); @neg = stddev(-3000000000000); @neg = stddev(3000000000000); @most = stddev(-9223372036854775807); @most = stddev(9223372036854775807); @u = stddev((uint64)0x8000000000000001); @u = stddev((uint64)1); @zero = stddev(1); @zero = stddev(9); zero(@zero); print(@by[1]); print(@all, 0, 4); }
EXPECT
	29432
	@all: 7
	$
	$
	@all: 29
	@by[0]: 0
	@by[1]: 29432
	@by[2]: 57131
	@most: 9223372036854775807
	@neg: 3000000000000
	@two: 2
	@u: 4611686018427387904
	@zero: 0

NAME standard deviation in JSON, and as a number
RUN "$SONDE" -q --json -e 'begin { @a[1] = stddev(1); @a[1] = stddev(5); @b = stddev(3); }'; "$SONDE" -e 'begin { @a = stddev(1); $x = @a + 1; }' 2>&1 | head -n 1
EXPECT
	{"type": "map", "data": {"@a": {"1": 2}}}
	{"type": "map", "data": {"@b": 0}}
	stdin:1:30-32: ERROR: Map @a holds stddev_t, which has no integer value; print() shows it

NAME quantize: powers of two on both sides, with a weight
PROG begin { for $i : -9..10 { @a[1] = quantize($i); @w = quantize($i, 10); } @neg = quantize(-5, 2); print(@w); clear(@w); print(@a, 0, 2); clear(@a); }
EXPECT
	@w:
	[-15, -7)             20 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[-7, -3)              40 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[-3, -1)              20 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[-1]                  10 |@@@@@@@@@@@@@                                       |
	[0]                   10 |@@@@@@@@@@@@@                                       |
	[1]                   10 |@@@@@@@@@@@@@                                       |
	[2, 4)                20 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[4, 8)                40 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[8, 16)               20 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	$
	@a[1]:
	[-15, -7)              1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[-7, -3)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[-3, -1)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[-1]                   0 |                                                    |
	[0]                    0 |                                                    |
	[1]                    0 |                                                    |
	[2, 4)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	[4, 8)                 2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[8, 16)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
	$
	$
	$
	@neg:
	[-7, -3)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME quantize: the ends, in JSON
RUN "$SONDE" -q --json -e 'begin { @x = quantize(-9223372036854775807 - 1); @x = quantize(-4611686018427387904); } end { @y = quantize(9223372036854775807, 5); }'
EXPECT
	{"type": "hist", "data": {"@x": [{"max": -4611686018427387904, "count": 2}]}}
	{"type": "hist", "data": {"@y": [{"min": 4611686018427387904, "max": "9223372036854775807", "count": 5}]}}

NAME bhist: buckets of one's own
PROG begin { for $i : 0..1000 { @k[$i % 2] = bhist($i, "10 500"); @n = bhist((int64)$i - 5, "-3, 0,1,100"); } print(@n, "p50,p99"); @b = bhist(7, "5,7,9000000"); @b = bhist(1 << 40, "5,7,9000000"); @e = bhist(-1, "0"); }
EXPECT
	@n: { .p50 = 100.., .p99 = 100.., .count = 1000 }
	$
	$
	@b:
	[7, 9000000)           1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[9000000, ...)         1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@e:
	(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@k[0]:
	(..., 10)              5 |@                                                   |
	[10, 500)            245 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@  |
	[500, ...)           250 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@k[1]:
	(..., 10)              5 |@                                                   |
	[10, 500)            245 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@  |
	[500, ...)           250 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@n:
	(..., -3)              2 |                                                    |
	[-3, 0)                3 |                                                    |
	[0]                    1 |                                                    |
	[1, 100)              99 |@@@@@                                               |
	[100, ...)           895 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME bhist: in JSON
ARGS -q --json
PROG begin { @ = bhist(5, "1,10,100"); @ = bhist(500, "1,10,100"); }
EXPECT
	{"type": "hist", "data": {"@": [{"min": 1, "max": 9, "count": 1},{"min": 10, "max": 99, "count": 0},{"min": 100, "count": 1}]}}

# Nobody knows how wide buckets are that no interval had: they are one row.
NAME bhist: as a heat map
RUN
	"$SONDE" -q -f heat -o "$TMPDIR/x.svg" -e 'interval:ms:50 { @[1] = bhist(3, "0,10,500,1000000"); @[2] = bhist(2000000, "0,10,500,1000000"); print(@); clear(@); if (++@n > 4) { exit(); } }' 2>/dev/null
	grep -o '<title>[^<]*</title>' "$TMPDIR/x.svg" | sort -u | wc -l
	wc -c <"$TMPDIR/x.svg" | awk '{ print $1 < 40000 }'
EXPECT
	1
	1

NAME llquantize: equal steps in each power, mirrored
PROG begin { for $i : 0..1000 { @k[1] = llquantize($i, 10, 1, 1, 5); } @b = llquantize(-35, 10, 1, 3, 10); @b = llquantize(7, 10, 1, 3, 10, 3); @b = llquantize(35, 10, 1, 3, 10); @c = llquantize(-100000, 10, 1, 3, 10); @d = llquantize(100000, 10, 1, 3, 10, 2); @e = llquantize(3, 2, 0, 3, 4); @e = llquantize(15, 2, 0, 3, 4); }
EXPECT
	$
	$
	@b:
	[-39, -29)             1 |@@@@@@@@@@@@@@@@@                                   |
	[-29, -19)             0 |                                                    |
	[-19, -9)              0 |                                                    |
	[-9, 10)               3 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[10, 20)               0 |                                                    |
	[20, 30)               0 |                                                    |
	[30, 40)               1 |@@@@@@@@@@@@@@@@@                                   |
	$
	@c:
	(..., -9999)           1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@d:
	[10000, ...)           2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@e:
	[3]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	[4, 6)                 0 |                                                    |
	[6, 8)                 0 |                                                    |
	[8, 12)                0 |                                                    |
	[12, 16)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@k[1]:
	[-9, 10)              10 |                                                    |
	[10, 30)              20 |@                                                   |
	[30, 50)              20 |@                                                   |
	[50, 70)              20 |@                                                   |
	[70, 90)              20 |@                                                   |
	[90, 100)             10 |                                                    |
	[100, ...)           900 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$

NAME llquantize in JSON
ARGS -q --json
PROG begin { @a[2] = llquantize(35, 10, 1, 3, 10); }
EXPECT
	{"type": "hist", "data": {"@a": {"2": [{"min": 30, "max": 39, "count": 1}]}}}

# Of some maps each CPU has a copy of the values: what programs do to such a value is done to all of them.
NAME delete of a value without key takes the copies of all CPUs
NEEDS feature:PERCPU_LOOKUP cmd:taskset
RUN
	"$SONDE" -q --follow -e 'tracepoint:syscalls:sys_enter_getppid /comm == "syscalls"/ { @m = max(cpu); @c = count(); @s = sum(2); }
		tracepoint:syscalls:sys_enter_lseek /comm == "syscalls"/ { print((delete(@m), delete(@c), delete(@s), delete(@m))); }' -c 'sh -c "for c in 0 $(($(nproc) - 1)); do taskset -c \$c build/tests/syscalls 3 getppid; done; taskset -c 0 build/tests/syscalls 1 lseek"' |
		grep .
EXPECT (true, true, true, false)

NAME loops over maps see the values of all CPUs
NEEDS feature:PERCPU_LOOKUP feature:FOR_EACH cmd:taskset
RUN
	"$SONDE" -q --no-feature big_keys --follow -e 'tracepoint:syscalls:sys_enter_getppid /comm == "syscalls"/ { @m[1] = max(4); @l[kstack(100), 2] = min(3); }
		tracepoint:syscalls:sys_enter_lseek /comm == "syscalls"/ { for ($kv : @m) { print($kv); } for ($kv : @l) { print(($kv.0.1, $kv.1)); } clear(@m); clear(@l); }' -c 'sh -c "taskset -c 0 build/tests/syscalls 3 getppid; taskset -c $(($(nproc) - 1)) build/tests/syscalls 1 lseek"' |
		grep .
EXPECT
	(1, 4)
	(2, 3)

NAME an average in a declared per-CPU map is read as one
NEEDS feature:PERCPU_LOOKUP feature:FOR_EACH
PROG let @a = percpuhash(10); begin { @a[1] = avg(4); @a[1] = avg(7); @a[1] = avg(7); print((@a[1], 0)); for ($kv : @a) { print($kv); } clear(@a); exit(); }
EXPECT
	(6, 0)
	(1, 6)
	$
	$

NAME share of cases
PROG begin { for $i : 0..8 { @by[$i % 2] = share($i < 5); @less = share($i); @third = share($i % 3 == 0); } @none = share(0); @all = share(-7); @gone = share(1); delete(@gone); @none = share(false); print(@by[1]); }
EXPECT
	50
	$
	$
	@all: 100
	@by[1]: 50
	@by[0]: 75
	@less: 87.5
	@none: 0
	@third: 37.5

NAME share in JSON, and as a number
RUN "$SONDE" -q --json -e 'begin { for $i : 0..3 { @a[1] = share($i); @b = share($i == 1); } }'; "$SONDE" -e 'begin { @a = share(1); $x = @a + 1; }' 2>&1 | head -n 1
EXPECT
	{"type": "map", "data": {"@a": {"1": 66.67}}}
	{"type": "map", "data": {"@b": 33.33}}
	stdin:1:29-31: ERROR: Map @a holds share_t, which has no integer value; print() shows it

NAME values at both ends of 64 bits
PROG begin { $big = (uint64)0xffffffffffffffff; @sum = sum($big); @max = max($big); @min = min($big); @least = max((int64)-5); for $i : 0..4 { $v = (int64)$i - 3; @avg = avg($v); @low = min($v); @high = max($v); @total = sum($v); @s = stats($v); } print((@low, @high)); }
NEEDS since:5.19
EXPECT
	(-3, 0)
	$
	$
	@avg: -1
	@high: 0
	@least: -5
	@low: -3
	@max: 18446744073709551615
	@min: 18446744073709551615
	@s: { .count = 4, .average = -1, .total = -6 }
	@sum: 18446744073709551615
	@total: -6
