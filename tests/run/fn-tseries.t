NAME tseries of one value
PROG BEGIN { @t = tseries(5, 1s, 3); exit() }
EXPECT_RE
	$
	$
	@t:
	         4                                                   6
	hh:mm:ss \|___________________________________________________\|
	[0-9][0-9]:[0-9][0-9]:[0-9][0-9] \|                         \*                         \| 5
	         v___________________________________________________v
	         4                                                   6
	$

NAME tseries by key, gaps and the zero line
PROG interval:ms:250 { @t["k"] = tseries(@i - 1, 100ms, 100, "sum"); @i++; if (@i > 3) { clear(@i); exit() } }
EXPECT_RE
	$
	$
	@t\[k\]:
	             -1                                                  2
	hh:mm:ss.ms  \|___________________________________________________\|
	..:..:..\..00 \*                \.                                  \| -1
	...
	..:..:..\..00 \|                \.                                  \| -
	...
	..:..:..\..00 \|                \*                                  \| 0
	...
	..:..:..\..00 \|                \.                                  \* 2
	             v___________________________________________________v
	             -1                                                  2
	$

NAME tseries keeps the latest intervals
PROG interval:ms:60 { @t = tseries(@i, 10ms, 3, "max"); @i++; if (@i > 4) { clear(@i); exit() } }
EXPECT_RE
	$
	$
	@t:
	             3                                                   5
	hh:mm:ss.ms  \|___________________________________________________\|
	..:..:..\...0 \|                         \*                         \| 4
	             v___________________________________________________v
	             3                                                   5
	$

NAME tseries of microseconds and of unsigned values
PROG BEGIN { @t = tseries((uint64)-1, 10us, 3, "min"); exit() }
EXPECT_RE
	$
	$
	@t:
	                18446744073709551614             18446744073709551615
	hh:mm:ss.μs     \|___________________________________________________\|
	..:..:..\.......  *\|                                                   \* 18446744073709551615
	                v___________________________________________________v
	                18446744073709551614             18446744073709551615
	$

NAME tseries average
PROG BEGIN { @t = tseries(-5, 1h, 3); @t = tseries(-8, 1h, 3); @t = tseries(-9, 1h, 3, "avg"); exit() }
EXPECT_RE
	$
	$
	@t:
	...
	..:..:.. .* -7
	...
	$

NAME tseries in JSON
PROG BEGIN { @t = tseries(5, 1h, 3, "sum"); @k["a"] = tseries(7, 1h, 3); @t = tseries(6, 1h, 3, "sum"); exit() }
ARGS -q -f json
EXPECT_RE
	\{"type": "tseries", "data": \{"@k": \{"a": \[\{"interval_start":"20[0-9-]+ ..:..:..\.000000000","value":7\}\]\}\}\}
	\{"type": "tseries", "data": \{"@t": \[\{"interval_start":"20[0-9-]+ ..:..:..\.000000000","value":11\}\]\}\}

NAME tseries misuse
PROG BEGIN { @t = tseries(5, 1s, 20, "foo"); @u = tseries(1, 0, 3); @v = tseries(1, 1, 0); @w = tseries("a", 1, 1); @x = tseries(1, 1s, 3000); @y = tseries(1, 1, 1000001); $z = @x; }
RC 1
EXPECT
ERR_RE
	stdin:1:[0-9]+-[0-9]+: ERROR: tseries\(\) expects one of the following aggregation functions: avg, max, min, sum \("foo" provided\)
	...
	stdin:.* ERROR: tseries\(\) interval_ns must be >= 1 \(0 provided\)
	...
	stdin:.* ERROR: tseries\(\) num_intervals must be >= 1 \(0 provided\)
	...
	stdin:.* ERROR: tseries\(\) only supports int arguments \(string\[2\] provided\)
	...
	stdin:.* ERROR: tseries\(\) can keep 1365 intervals of "avg" here: .*
	...
	stdin:.* ERROR: tseries\(\) num_intervals must be <= 1000000 \(1000001 provided\)
	...
	stdin:.* ERROR: .*no integer value.*
	...

NAME tseries of two shapes
PROG BEGIN { @t = tseries(1, 1s, 20); @t = tseries(1, 1s, 21); }
RC 1
EXPECT
ERR_RE
	stdin:1:[0-9]+-[0-9]+: ERROR: Different tseries bounds in a single map unsupported
	...
