NAME str_concat
PROG BEGIN { print(str_concat("ab", "cd")); print(str_concat("", "")); print(str_concat(str_concat("a", "-"), str("bcd", 2))); @[str_concat("k", "1")] = 1; printf("%s|%d\n", str_concat("q", "r"), strlen(str_concat("xyz", "uvw"))); if (str_concat("a", "b") == "ab") { print("same"); } }
EXPECT
	abcd
	$
	a-bc
	qr|6
	same
	$
	$
	@[k1]: 1

NAME memcmp
PROG BEGIN { print(memcmp("abd", "abc", 3)); print(memcmp("abc", "abd", 3)); print(memcmp("abd", "abc", 2)); print(memcmp("abcdefghij", "abcdefghik", 10)); $x = (uint8[4])1; $y = (uint8[4])2; print(memcmp($x, $y, 4)); print(memcmp($x, $y, 0)); print(memcmp((1, 2), (1, 2), 2)); }
EXPECT
	1
	-1
	0
	-1
	-1
	0
	0
	$
	$

NAME symbols of the program
RUN
	"$SONDE" -q -c "$SONDE_TESTS"/symbols -e "uprobe:$SONDE_TESTS/symbols:touch { printf(\"%d %d %d %ld %s\n\", *uaddr(\"one\"), *uaddr(\"two\"), *uaddr(\"four\"), *uaddr(\"eight\"), str(uaddr(\"label\"))); print(memcmp((uint8 *)arg0, \"untouched\", 9)); } uretprobe:$SONDE_TESTS/symbols:touch { print(*uaddr(\"four\")); }" |
		grep -v untouched
NEEDS uprobe prog:symbols
EXPECT
	7 -2 44444 8888888888 a label
	0
	44444
	7 -2 44445 8888888888 a label
	0
	44445
	$
	$

NAME symbol of a library that is loaded anywhere
PROG uprobe:libc:exit /pid == cpid/ { printf("%d\n", *uaddr("stdout") != 0); }
ARGS -c /bin/true
NEEDS uprobe
EXPECT
	1
	$
	$

NAME write_user
RUN "$SONDE" -q --unsafe -c "$SONDE_TESTS"/symbols -e "uprobe:$SONDE_TESTS/symbols:touch { print(write_user(arg0, \"written\", 8)); print(write_user(0, \"w\", 1)); }" | sort
NEEDS vm uprobe prog:symbols
EXPECT
	$
	$
	false
	false
	true
	true
	written

NAME len of values
PROG BEGIN { print(len("abc")); print(len((uint8[4])1)); print(len((1, 2, 3))); print(len(buf("abcdef", 3))); $s = str("hello", 3); print(len($s)); }
EXPECT
	3
	4
	3
	3
	3
	$
	$

NAME misuse of memory functions
PROG BEGIN { print(memcmp("ab", "ab", 5)); print(memcmp(1, "ab", 1)); print(memcmp("a", "ab", pid)); print(str_concat(1, "a")); print(len(5)); write_user(1, 2, 3); print(uaddr("x")); }
ARGS --unsafe
RC 1
EXPECT
ERR_RE
	stdin:1:[0-9]+-[0-9]+: ERROR: memcmp\(\) can compare 0 to 3 bytes here \(got 5\)
	...
	stdin:1:[0-9]+-[0-9]+: ERROR: memcmp\(\) expects pointers, text, arrays or structs \(int8 provided\)
	...
	stdin:.* ERROR: memcmp\(\) only supports int literal arguments \(uint32 provided\)
	...
	stdin:.* ERROR: str_concat\(\) expects a string, a char array or a char pointer \(int8 provided\)
	...
	stdin:.* ERROR: call to len\(\) expects a map, a stack, .* \(int8 provided\)
	...
	stdin:.* ERROR: write_user\(\) expects a pointer, .* \(int8 provided\)
	...
	stdin:.* ERROR: The uaddr builtin can not be used with begin probes
	...

NAME stacks by build id
PROG uprobe:libc:exit /pid == cpid/ { print(ustack(build_id, 1)); print(len(ustack(build_id))); @[ustack(build_id, 1)] = count(); }
ARGS -c /bin/true
NEEDS uprobe
EXPECT_RE
	$
	[0-9a-f]+ 0x[0-9a-f]+
	$
	[0-9]+
	$
	$
	@\[
	[0-9a-f]+ 0x[0-9a-f]+
	\]: 1

NAME str_concat: what is cut is marked and counted
RUN
	for n in 0511 0512 0513
	do t=$(printf %${n}d 7)
	BPFTRACE_MAX_STRLEN=2048 "$SONDE" -q -e 'begin { $a = str($1); $b = str_concat($a, $a); printf("%d %s\n", strlen($b), $b); exit(); }' "$t" 2>&1 |
		sed 's/00*7/N/g; s/00*\.\./N../' | grep .
	done
	for n in 01023 01024 01025
	do t=$(printf %${n}d 7)
	BPFTRACE_MAX_STRLEN=2048 "$SONDE" -q -e 'begin { $a = str($1); printf("%d %d\n", strlen(str_concat($a, "")), strlen(str_concat("", $a))); exit(); }' "$t" 2>&1 |
		grep .
	done
EXPECT
	1022 NN
	1023 NN..
	WARNING: begin: 1 strings that str_concat() put together were cut at 1024 characters
	1023 NN..
	WARNING: begin: 1 strings that str_concat() put together were cut at 1024 characters
	1023 1023
	1023 1023
	WARNING: begin: 2 strings that str_concat() put together were cut at 1024 characters
	1023 1023
	WARNING: begin: 2 strings that str_concat() put together were cut at 1024 characters
