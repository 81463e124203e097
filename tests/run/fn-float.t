NAME floating point: print, compare, convert
RUN
	"$SONDE" -q -c "$SONDE_TESTS"/symbols -e "uprobe:$SONDE_TESTS/symbols:touch { \$d = (double *)arg1; \$f = (float *)arg2; printf(\"%f %.2f %8.1f %e %g %s %f %-8.2f|\n\", *\$d, *\$d, *\$d, *\$d, *\$d, *\$d, *\$f, *\$f); print(*\$f); print(((int64)*\$d, (int32)*\$f, (uint8)*\$d)); print((*\$d > 2, *\$d < 2, *\$d == *\$d, *\$f < *\$d, *\$f != *\$d, *\$f < 0, *\$f >= -1, 3 > *\$d)); \$x = *\$d; @m[\"a\"] = \$x; @s = max((int64)\$x); if (\$x > 2 && *\$f < 0) { print(\"yes\"); } exit() }" 2>&1 |
		grep -v untouched | awk '!seen[$0]++'
NEEDS uprobe prog:symbols
EXPECT
	2.500000 2.50      2.5 2.500000e+00 2.5 2.5 -1.250000 -1.25   |
	-1.25
	(2, -1, 2)
	(true, false, true, true, true, true, false, true)
	yes
	$
	@m[a]: 2.5
	@s: 2

NAME floating point: scaled numbers in aggregations
RUN
	"$SONDE" -q -c "$SONDE_TESTS"/symbols -e "uprobe:$SONDE_TESTS/symbols:touch { \$d = *(double *)arg1; \$f = *(float *)arg2; print((scaled(\$d, 1), scaled(\$d, 10), scaled(\$f, 100), scaled(\$f, 1000000000))); @sum = sum(scaled(\$f, 100)); @avg = avg(scaled(\$d, 1000)); @max = max(scaled(\$f, 10)); @stats = stats(scaled(\$d, 100)); @l = lhist(scaled(\$d, 10), 20, 30, 10); @h = hist(scaled(\$d, 2)) }" 2>&1 | grep -v untouched
NEEDS uprobe prog:symbols
EXPECT
	(2, 25, -125, -1250000000)
	(2, 25, -125, -1250000000)
	$
	$
	@avg: 2500
	@h:
	[4, 8)                 2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@l:
	[20, 30)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@max: -12
	@stats: { .count = 2, .average = 250, .total = 500 }
	@sum: -250

NAME floating point: what scaled() makes of zeros, limits and what is no number
PROG BEGIN { $a = (uint64)0x8000000000000000; $b = (uint64)0x7ff0000000000000; $c = (uint64)0xfff0000000000000; $d = (uint64)0x7ff8000000000000; $e = (uint64)1; $f = (uint64)0x4341c37937e08000; $g = (uint64)0x3ff3c0ca428c59fb; print((scaled(*(double *)&$a, 5), scaled(*(double *)&$b, 5), scaled(*(double *)&$c, 5), scaled(*(double *)&$d, 5), scaled(*(double *)&$e, 1000000000))); print((scaled(*(double *)&$f, 922), scaled(*(double *)&$f, 923), scaled(*(double *)&$g, 1000000000), scaled(*(float *)&$e, 7))); }
EXPECT
	(0, 9223372036854775807, -9223372036854775808, 0, 0)
	(9220000000000000000, 9223372036854775807, 1234567890, 0)
	$
	$

NAME floating point: what scaled() and aggregations do not take
PROG BEGIN { $x = (double *)0; print(scaled(1, 10)); print(scaled(*$x, 0)); print(scaled(*$x, 1000000001)); @ = sum(*$x); }
RC 1
EXPECT
ERR_RE
	stdin:1:40-41: ERROR: scaled\(\) expects a float or a double \(int provided\)
	...
	stdin:1:67-68: ERROR: scaled\(\) multiplies by 1 to 1000000000 \(0 provided\)
	...
	stdin:1:90-100: ERROR: scaled\(\) multiplies by 1 to 1000000000 \(1000000001 provided\)
	...
	stdin:1:112-115: ERROR: sum\(\) only supports int arguments \(double provided\)
	...
	HINT: make it an integer: \(int64\)x without its fraction, scaled\(x, 1000\) in thousandths

NAME floating point: parameters of a function in memory, at a line of its body
RUN
	cat >$TMPDIR/f.c <<-'END'
	double total;
	__attribute__((noinline)) double add(double x, float y, int k)
	{
		total += x * k;
		return total + y;
	}
	int main(void)
	{
		for (int i = 1; i <= 4; i++)
			add(i * 1.25, i * 0.5f, i);
		return total != 37.5;
	}
	END
	cc -g -O0 -o $TMPDIR/f $TMPDIR/f.c || exit
	"$SONDE" -q -c $TMPDIR/f -e "uprobe:$TMPDIR/f@f.c:4 { print((args.x, args.y, args.k)); @sum = sum(scaled(args.x, 100)); @max = max(scaled(args.y, 10)); }"
	"$SONDE" -e "uprobe:$TMPDIR/f:add { print(args.x); }" 2>&1 | sed -n '/ERROR/s/.*ERROR: //p; /HINT/p'
NEEDS uprobe x86_64 cmd:cc
EXPECT
	(1.25, 0.5, 1)
	(2.5, 1, 2)
	(3.75, 1.5, 3)
	(5, 2, 4)
	$
	$
	@max: 20
	@sum: 1250
	args.x is in a floating point register, which the kernel does not show to probes
	HINT: a program compiled without optimisation keeps it in memory after the first instructions: probe a source line, uprobe:path@file:line

NAME floating point misuse
PROG BEGIN { $x = (double *)0; print(*$x + 1); printf("%d", *$x); printf("%f", 1); print(*$x == pid); @[*$x] = 1; }
RC 1
EXPECT
ERR_RE
	stdin:.* ERROR: Type mismatch for '\+': .*
	...
	stdin:.* ERROR: unsupported format specifier for type 'double': d
	...
	stdin:.* ERROR: unsupported format specifier: f
	...
	stdin:.* ERROR: Type mismatch for '==': .*
	...
	stdin:.* ERROR: double cannot be used as a key of @
	...
