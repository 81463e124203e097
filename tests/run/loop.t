NAME unroll
PROG BEGIN { $i = 0; unroll (5) { printf("%d ", $i); $i++; } printf("\n"); }
EXPECT
	0 1 2 3 4 
	$
	$

NAME unroll with a parameter
PROG BEGIN { unroll ($1) { @++; } }
PARAMS 3
EXPECT
	$
	$
	@: 3

NAME nested unroll
PROG BEGIN { unroll (3) { unroll (2) { @++; } } }
EXPECT
	$
	$
	@: 6

NAME range
PROG BEGIN { for ($i : 0..5) { printf("%d ", $i); } printf("\n"); }
EXPECT
	0 1 2 3 4 
	$
	$

NAME range without parentheses
PROG BEGIN { for $i : 2..4 { print($i); } }
EXPECT
	2
	3
	$
	$

NAME range with bounds in variables
PROG BEGIN { $a = 3; $b = 6; for ($i : $a..$b) { printf("%d ", $i); } printf("\n"); }
EXPECT
	3 4 5 
	$
	$

NAME empty range
PROG BEGIN { for ($i : 5..5) { print($i); } for ($i : 6..5) { print($i); } printf("none\n"); }
EXPECT
	none
	$
	$

NAME range changes outer variables
PROG BEGIN { $sum = 0; for ($i : 0..101) { $sum += $i; } print($sum); }
EXPECT
	5050
	$
	$

NAME break and continue
PROG BEGIN { for ($i : 0..10) { if ($i == 2) { continue; } if ($i == 5) { break; } printf("%d ", $i); } printf("\n"); }
EXPECT
	0 1 3 4 
	$
	$

NAME nested ranges
PROG BEGIN { for ($i : 0..3) { for ($j : 0..3) { if ($j > $i) { break; } printf("%d%d ", $i, $j); } } printf("\n"); }
EXPECT
	00 10 11 20 21 22 
	$
	$

NAME long range
NEEDS sym:bpf_loop
PROG BEGIN { $n = (uint64)0; for ($i : 0..100000) { $n++; } print($n); }
EXPECT
	100000
	$
	$

NAME range filling a map
PROG BEGIN { for ($i : 0..5) { @sq[(int64)$i] = (int64)($i * $i); } }
EXPECT
	$
	$
	@sq[0]: 0
	@sq[1]: 1
	@sq[2]: 4
	@sq[3]: 9
	@sq[4]: 16

NAME over a map
NEEDS sym:bpf_for_each_map_elem
PROG BEGIN { @a[1] = 10; @a[2] = 20; @a[3] = 30; $keys = 0; $vals = 0; for ($kv : @a) { $keys += $kv.0; $vals += $kv.1; } print(($keys, $vals)); clear(@a); }
EXPECT
	(6, 60)
	$
	$

NAME over a map with string keys
NEEDS sym:bpf_for_each_map_elem
PROG BEGIN { @a["x"] = 7; for ($kv : @a) { printf("%s=%d\n", $kv.0, $kv.1); } clear(@a); }
EXPECT
	x=7
	$
	$

NAME over a map with two keys
NEEDS sym:bpf_for_each_map_elem
PROG BEGIN { @a["x", 5] = 7; for ($kv : @a) { printf("%s %d %d\n", $kv.0.0, $kv.0.1, $kv.1); } clear(@a); }
EXPECT
	x 5 7
	$
	$

NAME over a map of counts
NEEDS sym:bpf_for_each_map_elem
PROG BEGIN { @c["x"] = count(); @c["x"] = count(); for ($kv : @c) { printf("%s %s\n", $kv.0, $kv.1); } clear(@c); }
EXPECT
	x 2
	$
	$

NAME over an empty map
NEEDS sym:bpf_for_each_map_elem
PROG BEGIN { @a[1] = 1; delete(@a, 1); for ($kv : @a) { printf("never\n"); } printf("done\n"); }
EXPECT
	done
	$
	$

NAME delete while iterating
NEEDS sym:bpf_for_each_map_elem
PROG BEGIN { @a[1] = 1; @a[2] = 2; @a[3] = 3; for ($kv : @a) { if ($kv.0 == 2) { delete(@a, 2); } } print(len(@a)); clear(@a); }
EXPECT
	2
	$
	$

NAME break in a map loop
NEEDS sym:bpf_for_each_map_elem
PROG BEGIN { @a[1] = 1; @a[2] = 2; @a[3] = 3; $n = 0; for ($kv : @a) { $n++; if ($n == 2) { break; } } print($n); clear(@a); }
EXPECT
	2
	$
	$

NAME map loop in an interval
NEEDS sym:bpf_for_each_map_elem
PROG BEGIN { @a["k"] = 5; } interval:ms:50 { for ($kv : @a) { printf("%s %d\n", $kv.0, $kv.1); } clear(@a); exit(); }
EXPECT
	k 5
	$
	$

NAME while
PROG BEGIN { $i = 0; while ($i < 5) { $i++; if ($i == 3) { continue; } printf("%d ", $i); } printf("\n"); }
EXPECT
	1 2 4 5 
	$
	$

NAME return in a loop
PROG BEGIN { for ($i : 0..10) { if ($i == 3) { printf("three\n"); return; } } printf("not here\n"); }
EXPECT
	three
	$
	$

NAME unrolled loops, each a function of its own
PROG BEGIN { $hi = 40; $n = 0; unroll (3) { for $i : 0..$hi { $k = $i; $k++; for $j : $i..$hi { $n += $k; } } $hi++; } print($n); }
EXPECT
	37065
	$
	$
NEEDS feature:LOOP

NAME keyed aggregations in loops
PROG BEGIN { for $i : 0..10 { @h[uid] = hist(7); @s[str(uptr(0x1000+$i))] = count(); } $w = 0; while ($w < 7) { @h[uid] = hist($w); @t[str(uptr(0x1000+$w)), 1] = count(); $w++; } unroll(3) { @l[uid] = lhist(3, 0, 10, 5); } print(@h); print(@s); print(@t); print(@l); clear(@h); clear(@s); clear(@t); clear(@l); }
TIMEOUT 5
EXPECT_RE
	@h\[0\]:( *)
	\[0\] .*
	\[1\] .*
	\[2, 4\) .*
	\[4, 8\) .*
	$
	@s\[\]: 10
	@t\[, 1\]: 7
	@l\[0\]:( *)
	\[0, 5\) .*
	$
	$
	$
NEEDS feature:LOOP

NAME loops with long keys, whose bodies become functions
NEEDS feature:LOOP
PROG BEGIN { $i = 0; $n = 10; while ($i < $n) { $i++; if ($i == 3) { continue; } if ($i == 7) { break; } let $k = $i % 2; @a[str(uptr(0)), $k] = count(); $s = 0; while ($s < 2) { @b[str(uptr(0)), $s] = sum($i); $s++; } } $u = 0; unroll(4) { @c[str(uptr(0)), $u] = max($u); $u++; } while ($u < 9) { unroll(3) { $u++; @d[str(uptr(0)), 1] = count(); if ($u == 6) { break; } } if ($u == 6) { break; } } printf("%d %d\n", $i, $u); }
EXPECT
	7 6
	$
	$
	@a[, 1]: 2
	@a[, 0]: 3
	@b[, 0]: 18
	@b[, 1]: 18
	@c[, 0]: 0
	@c[, 1]: 1
	@c[, 2]: 2
	@c[, 3]: 3
	@d[, 1]: 2

NAME such a loop ends with the probe
PROG BEGIN { $i = 0; while ($i < 9) { @a[str(uptr(0)), 1] = count(); $i++; if ($i == 4) { return; } } print("not here"); } END { print("end"); }
EXPECT
	end
	$
	$
	@a[, 1]: 4

NAME a loop with long keys that has no end is stopped
NEEDS feature:LOOP
PROG BEGIN { $i = 0; while (1) { $i++; @a[str(uptr(0)), 1] = count(); } print($i); }
EXPECT
	65536
	$
	$
	@a[, 1]: 65536
ERR_RE
	Attached 1 probe
	stdin:1:17-67: WARNING: This loop was stopped after 65536 rounds\.
	BEGIN .*
	 *~*

NAME the variable of a range has the type of its bounds
PROG begin { $v = (uint64)-88; for $i : 0..1 { print((sizeof($i), $v < $i, $i > $v, $i * 300)); } for $i : (-1)..0 { print((sizeof($i), $v < $i)); } for $i : (int64)0..1 { print((sizeof($i), $v < $i)); } for $i : 0..300 { if ($i == 299) { print((sizeof($i), $i, $i << 8)); } } }
ARGS -q
EXPECT
	(1, false, false, 0)
	(1, true)
	(8, true)
	(2, 299, 76544)
	$
	$
