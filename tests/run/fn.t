NAME call of a function
PROG fn add($a : int64, $b : int64) : int64 { return $a + $b; } BEGIN { print(add(2, 3)); $x = add(add(1, 2), add(3, 4)); print($x); }
EXPECT
	5
	10
	$
	$

NAME function with text
PROG fn pick($s : string, $n : uint8) : string { if ($n > 3) { return "many"; } return $s; } BEGIN { printf("%s %s\n", pick("abc", 1), pick("abc", 7)); }
EXPECT
	abc many
	$
	$

NAME return out of a loop in a function
PROG fn root($n : int64) : int64 { for ($i : 0..1000) { if ($i * $i >= $n) { return $i; } } return -1; } BEGIN { print(root(50)); print(root(100000000)); }
EXPECT
	8
	-1
	$
	$

NAME function with more parameters than registers
PROG
	fn six($a : int64, $b : int64, $c : int64, $d : int64, $e : int64, $f : int64) : int64 { return $a * 100000 + $b * 10000 + $c * 1000 + $d * 100 + $e * 10 + $f; }
	BEGIN { print(six(1, 2, 3, 4, 5, 6)); }
EXPECT
	123456
	$
	$

NAME function in a predicate
PROG fn yes($n : int64) : bool { return $n == 2; } BEGIN /yes(2)/ { print("in"); } BEGIN /yes(3)/ { print("out"); }
EXPECT
	in
	$
	$

NAME exit in a function ends the probe
PROG fn stop() : int64 { exit(3); return 1; } BEGIN { print(1); $x = stop(); print(2); }
RC 3
EXPECT
	1
	$
	$

NAME builtins of the probe in a function
PROG fn which() : string[32] { return probe; } BEGIN { printf("%s\n", which()); } END { printf("%s\n", which()); }
EXPECT
	begin
	end
	$
	$

NAME function calls in loop bodies
PROG fn twice($n : int64) : int64 { return $n * 2; } BEGIN { for ($i : 0..100) { @sum += twice($i); } @m[1] = 5; for ($kv : @m) { print(twice($kv.1)); } }
NEEDS sym:bpf_for_each_map_elem
EXPECT
	10
	$
	$
	@m[1]: 5
	@sum: 9900
