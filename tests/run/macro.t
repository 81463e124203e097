NAME macro: overloads by kind of argument
PROG macro k($v) { 1 } macro k(@m) { 2 } macro k(e) { 3 } macro k(a, b) { 4 } begin { $a = 1; @b = 1; print((k($a), k(@b), k(5), k(@b + 1), k(1, 2))); exit(); }
ARGS -q
EXPECT
	(1, 2, 3, 3, 4)
	$
	$
	@b: 1

NAME macro: by reference, by name, by expression
PROG macro add($v, @m, e) { $v += e; @m[e] = $v; $v } begin { $x = 1; $y = add($x, @all, 2); print(($x, $y)); exit(); }
ARGS -q
EXPECT
	(3, 3)
	$
	$
	@all[2]: 3

NAME macro: its variables are its own
PROG macro half(e) { $x = e / 2; $x } begin { $x = 40; print((half(half($x)), $x)); half($x); exit(); }
ARGS -q --no-warnings
EXPECT
	(10, 40)
	$
	$

NAME macro: without parentheses, in a predicate, in a loop
PROG macro n() { 3 } begin /n == 3/ { for $i : 0..n { print($i + n()); } exit(); }
ARGS -q
EXPECT
	3
	4
	5
	$
	$

NAME macro: loops with break and continue inside
PROG macro odd(@out, n) { for $i : 0..100 { if ($i >= n) { break; } if ($i % 2 == 0) { continue; } @out[$i] = 1; } } begin { odd(@o, 6); exit(); }
ARGS -q
EXPECT
	$
	$
	@o[1]: 1
	@o[3]: 1
	@o[5]: 1

NAME macro: in the place of a builtin
PROG macro strlen(s) { 42 } macro nsecs() { 7 } begin { print((strlen("abc"), nsecs(), nsecs > 100)); exit(); }
ARGS -q
EXPECT
	(42, 7, true)
	$
	$

NAME macro: types as arguments
PROG macro size(t) { sizeof(t) } macro cast(t, e) { (t)e } begin { print((size(typeof((uint16)1)), size(uint32), cast(uint8, 300))); exit(); }
ARGS -q
EXPECT
	(2, 4, 44)
	$
	$

NAME macro: an argument with side effects is evaluated once per use
PROG macro twice(e) { e + e } begin { @n = 0; print(twice(@n++)); exit(); }
ARGS -q
EXPECT
	1
	$
	$
	@n: 2

NAME comptime: the other branch need not make sense
PROG macro show(e) { if comptime is_str(e) { strlen(e) } else { e + 1 } } begin { if comptime (probetype == "kprobe") { nosuch(); } else { print((show("abc"), show(3))); } exit(); }
ARGS -q
EXPECT
	(3, 4)
	$
	$

NAME typeinfo
PROG begin { @m[1, "a"] = 2; @c = count(); print(typeinfo(@m)); print(typeinfo(@c).base_type); print(typeinfo((uint64)1)); exit(); }
ARGS -q
EXPECT
	{ .btf_id = 0, .base_type = tuple, .full_type = (int8,string[2]) }
	count_t
	{ .btf_id = 0, .base_type = int, .full_type = uint64 }
	$
	$
	@c: 1
	@m[1, a]: 2

NAME parameters: text and numbers
PROG begin { print(($1, $2, $3, $4, $#)); print((str($2), str($1 + 1), str($1, 3))); exit(); }
ARGS -q
PARAMS abc 12 0x10 -- -5
EXPECT
	(abc, 12, 16, -5, 4)
	(12, bc, abc)
	$
	$

NAME getopt: values and defaults
PROG begin { print((getopt("on"), getopt("n", 5), getopt("s", "x"), getopt("neg", -3), getopt("no", true), getopt("d", "dflt"))); exit(); }
ARGS -q
PARAMS -- --on --n=0x10 --s=text --neg=-9 --no=off
EXPECT
	(true, 16, text, -9, false, dflt)
	$
	$

NAME getopt: unknown option
PROG begin { print(getopt("n", 5, "a number")); exit(); }
PARAMS -- --m=3
RC 1
ERR
	ERROR: unexpected program command line options: --m
	HINT: expected program options:
	  --n=5: a number

NAME getopt: help
PROG begin { print(getopt("n", 5, "a number")); exit(); }
PARAMS -- --help
RC 1
ERR
	HINT: expected program options:
	  --n=5: a number

NAME import: scripts, headers, directories
RUN
	umask 022
	mkdir "$TMPDIR/lib" && echo 'macro six() { 6 }' >"$TMPDIR/lib/six.bt" &&
		echo 'struct p { int x; int y; };' >"$TMPDIR/lib/p.h" &&
		echo 'import "lib"; import "lib/six.bt"; begin { print((six, sizeof(struct p))); exit(); }' >"$TMPDIR/a.bt" &&
		"$SONDE" -q "$TMPDIR/a.bt"
EXPECT
	(6, 8)
	$
	$

NAME import: refused where anybody may write
RUN mkdir -m 777 "$TMPDIR/open" && echo 'macro six() { 6 }' >"$TMPDIR/open/six.bt" && chmod 644 "$TMPDIR/open/six.bt" && cd "$TMPDIR" && "$SONDE" -e 'import "open/six.bt"; begin { exit(); }'
RC 1
ERR_RE
	stdin:1:1-21: ERROR: import of open/six.bt refused: anybody may write there
	...

NAME compat: variables belong to the probe
PROG begin { if (pid) { $x = 5; } print($x); exit(); }
ARGS -q --compat 0.17
EXPECT
	5
	$
	$

NAME compat: without it the error names the option
PROG begin { if (pid) { $x = 5; } print($x); exit(); }
RC 1
ERR_RE
	stdin:1:36-38: ERROR: Undefined or undeclared variable: \$x
	...
	HINT: .*--compat 0.17.*

NAME compat: in the script, missing probes and the layout of maps
PROG config = { compat = "0.17" } begin { @a = 1; @b = 2; exit(); } tracepoint:nosuch:event { }
EXPECT
	Attaching 1 probe...
	$
	$
	@a: 1
	$
	@b: 2
	$
ERR_RE
	.*WARNING: No matches for tracepoint nosuch:event. Skipping.
	...

NAME compat: text of stats
PROG config = { compat = "0.17" } begin { @s = stats(4); @s = stats(8); @k["a"] = stats(3); print(@s); exit(); }
ARGS -q
EXPECT
	@s: count 2, average 6, total 12
	$
	$
	$
	@k[a]: count 1, average 3, total 3
	$
	@s: count 2, average 6, total 12
	$

NAME compat: SIGUSR1 prints the maps
RUN
	"$SONDE" -q --compat 0.17 -e 'begin { @a = 1; @b["x"] = 2; }
		interval:ms:100 { if (@n++ == 1) { clear(@a); printf("ready\n"); } }
		end { clear(@a); clear(@b); clear(@n); }' >"$TMPDIR/out" & p=$!
	until_written "$TMPDIR/out"
	kill -USR1 $p
	eventually grep -q @n: "$TMPDIR/out"
	kill -INT $p
	wait $p
	sed 's/@n: .*/@n: some/' "$TMPDIR/out"
EXPECT
	ready
	$
	@b[x]: 2
	$
	@n: some
	$
	$
	$
	$
	$
	$

NAME compat: delete of several maps
PROG begin { @a[1] = 1; @b[2] = 2; @c[3] = 3; delete(@a[1], @b[2]); exit(); }
ARGS -q --no-warnings
EXPECT
	$
	$
	@c[3]: 3

NAME old spellings: name
PROG interval:ms:10 { print(name); exit(); }
ARGS -q
EXPECT
	interval:ms:10
	$
	$
ERR_RE
	.*WARNING: name is an old spelling of probe
	...

NAME fmt prints a script that runs
RUN echo 'macro m(x){x+1} BEGIN{$x=m(2);if($x>2){print($x);} exit()}' | "$SONDE" --fmt - >"$TMPDIR/f.bt" && cat "$TMPDIR/f.bt" && "$SONDE" -q "$TMPDIR/f.bt"
EXPECT
	macro m(x)
	{
	  x + 1
	}
	$
	BEGIN
	{
	  $x = m(2);
	  if ($x > 2) {
	    print($x);
	  }
	  exit()
	}
	3
	$
	$
