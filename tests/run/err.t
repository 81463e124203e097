NAME undefined variable
PROG BEGIN { print($y); }
RC 1
EXPECT
ERR_RE
	stdin:1:15-[0-9]+: ERROR: .+
	BEGIN \{ print\(\$y\); \}
	              [~^]*
	...

NAME undefined map
PROG BEGIN { print(@y); }
RC 1
EXPECT
ERR_RE
	stdin:1:15-[0-9]+: ERROR: .+
	BEGIN \{ print\(@y\); \}
	              [~^]*
	...

NAME unknown function
PROG BEGIN { nosuch(1); }
RC 1
EXPECT
ERR_RE
	stdin:1:9-[0-9]+: ERROR: .+
	BEGIN \{ nosuch\(1\); \}
	        [~^]*
	...

NAME unknown identifier
PROG BEGIN { print(nosuch); }
RC 1
EXPECT
ERR_RE
	stdin:1:15-[0-9]+: ERROR: .+
	BEGIN \{ print\(nosuch\); \}
	              [~^]*
	...

NAME type mismatch of a variable
PROG BEGIN { $a = 1; $a = "x"; }
RC 1
EXPECT
ERR_RE
	stdin:1:17-[0-9]+: ERROR: .+
	BEGIN \{ \$a = 1; \$a = "x"; \}
	                [~^]*
	...

NAME type mismatch of a map
PROG BEGIN { @a = 1; @a = "x"; }
RC 1
EXPECT
ERR_RE
	stdin:1:17-[0-9]+: ERROR: .+
	BEGIN \{ @a = 1; @a = "x"; \}
	                [~^]*
	...

NAME key mismatch
PROG BEGIN { @a[1] = 1; @a["x"] = 1; }
RC 1
EXPECT
ERR_RE
	stdin:1:20-[0-9]+: ERROR: .+
	BEGIN \{ @a\[1\] = 1; @a\["x"\] = 1; \}
	                   [~^]*
	...

NAME scalar and keyed
PROG BEGIN { @a = 1; @a[1] = 1; }
RC 1
EXPECT
ERR_RE
	stdin:1:17-[0-9]+: ERROR: .+
	BEGIN \{ @a = 1; @a\[1\] = 1; \}
	                [~^]*
	...

NAME count with an argument
PROG BEGIN { @ = count(1); }
RC 1
EXPECT
ERR_RE
	stdin:1:13-[0-9]+: ERROR: .+
	BEGIN \{ @ = count\(1\); \}
	            [~^]*
	...

NAME hist of a string
PROG BEGIN { @ = hist("a"); }
RC 1
EXPECT
ERR_RE
	stdin:1:13-[0-9]+: ERROR: .+
	BEGIN \{ @ = hist\("a"\); \}
	            [~^]*
	...

NAME count outside a map
PROG BEGIN { $x = count(); }
RC 1
EXPECT
ERR_RE
	stdin:1:14-[0-9]+: ERROR: .+
	BEGIN \{ \$x = count\(\); \}
	             [~^]*
	...

NAME no such field
PROG tracepoint:syscalls:sys_enter_openat { print(args.nosuch); }
RC 1
EXPECT
ERR_RE
	stdin:1:46-[0-9]+: ERROR: .+
	tracepoint:syscalls:sys_enter_openat \{ print\(args\.nosuch\); \}
	                                             [~^]*
	...

NAME no such kernel field
PROG BEGIN { print(curtask->nosuch); }
RC 1
EXPECT
ERR_RE
	stdin:1:15-[0-9]+: ERROR: .+
	BEGIN \{ print\(curtask->nosuch\); \}
	              [~^]*
	...

NAME builtin in the wrong probe
PROG BEGIN { print(arg0); }
RC 1
EXPECT
ERR_RE
	stdin:1:15-[0-9]+: ERROR: .+
	BEGIN \{ print\(arg0\); \}
	              [~^]*
	...

NAME retval in the wrong probe
PROG BEGIN { print(retval); }
RC 1
EXPECT
ERR_RE
	stdin:1:15-[0-9]+: ERROR: .+
	BEGIN \{ print\(retval\); \}
	              [~^]*
	...

NAME unsafe
PROG BEGIN { system("ls"); }
RC 1
EXPECT
ERR_RE
	stdin:1:9-[0-9]+: ERROR: .+
	BEGIN \{ system\("ls"\); \}
	        [~^]*
	...

NAME invalid probe type
PROG foo:bar { }
RC 1
EXPECT
ERR_RE
	stdin:1:1-[0-9]+: ERROR: .+
	foo:bar \{ \}
	[~^]*
	...

NAME no such tracepoint
PROG tracepoint:syscalls:nosuch { }
RC 1
EXPECT
ERR_RE
	stdin:1:1-[0-9]+: ERROR: .+
	tracepoint:syscalls:nosuch \{ \}
	[~^]*
	...

NAME no such software event
PROG software:nosuch:1 { }
RC 1
EXPECT
ERR_RE
	stdin:1:1-[0-9]+: ERROR: .+
	software:nosuch:1 \{ \}
	[~^]*
	...

NAME no such uprobe symbol
PROG uprobe:build/tests/calls:nosuch { }
RC 1
EXPECT
ERR_RE
	stdin:1:1-[0-9]+: ERROR: .+
	uprobe:build/tests/calls:nosuch \{ \}
	[~^]*
	...

NAME no such uprobe file
PROG uprobe:/nowhere/prog:main { }
RC 1
EXPECT
ERR_RE
	stdin:1:1-[0-9]+: ERROR: .+
	uprobe:/nowhere/prog:main \{ \}
	[~^]*
	...

NAME profile without unit
PROG profile:5 { }
RC 1
EXPECT
ERR_RE
	stdin:1:1-[0-9]+: ERROR: .+
	profile:5 \{ \}
	[~^]*
	...

NAME printf with too few arguments
PROG BEGIN { printf("%d %d\n", 1); }
RC 1
EXPECT
ERR_RE
	stdin:1:9-[0-9]+: ERROR: .+
	BEGIN \{ printf\("%d %d\\n", 1\); \}
	        [~^]*
	...

NAME printf with too many arguments
PROG BEGIN { printf("%d\n", 1, 2); }
RC 1
EXPECT
ERR_RE
	stdin:1:9-[0-9]+: ERROR: .+
	BEGIN \{ printf\("%d\\n", 1, 2\); \}
	        [~^]*
	...

NAME printf with a wrong type
PROG BEGIN { printf("%d\n", "x"); }
RC 1
EXPECT
ERR_RE
	stdin:1:9-[0-9]+: ERROR: .+
	BEGIN \{ printf\("%d\\n", "x"\); \}
	        [~^]*
	...

NAME printf without a literal
PROG BEGIN { $f = "x"; printf($f); }
RC 1
EXPECT
ERR_RE
	stdin:1:19-[0-9]+: ERROR: .+
	BEGIN \{ \$f = "x"; printf\(\$f\); \}
	                  [~^]*
	...

NAME break outside a loop
PROG BEGIN { break; }
RC 1
EXPECT
ERR_RE
	stdin:1:9-[0-9]+: ERROR: .+
	BEGIN \{ break; \}
	        [~^]*
	...

NAME shadowing
PROG BEGIN { $x = 1; if (1) { let $x = 3; print($x); } }
RC 1
EXPECT
ERR_RE
	stdin:1:26-[0-9]+: ERROR: .+
	BEGIN \{ \$x = 1; if \(1\) \{ let \$x = 3; print\(\$x\); \} \}
	                         [~^]*
	...

NAME unroll too large
PROG BEGIN { unroll (101) { @++; } }
RC 1
EXPECT
ERR_RE
	stdin:1:9-[0-9]+: ERROR: .+
	BEGIN \{ unroll \(101\) \{ @\+\+; \} \}
	        [~^]*
	...

NAME lhist with step zero
PROG BEGIN { @ = lhist(1, 0, 10, 0); }
RC 1
EXPECT
ERR_RE
	stdin:1:13-[0-9]+: ERROR: .+
	BEGIN \{ @ = lhist\(1, 0, 10, 0\); \}
	            [~^]*
	...

NAME hist with too many bits
PROG BEGIN { @ = hist(1, 6); }
RC 1
EXPECT
ERR_RE
	stdin:1:13-[0-9]+: ERROR: .+
	BEGIN \{ @ = hist\(1, 6\); \}
	            [~^]*
	...

NAME unterminated string
PROG BEGIN { $x = "abc
RC 1
EXPECT
ERR_RE
	stdin:1:18-[0-9]+: ERROR: .+
	BEGIN \{ \$x = "abc
	                 [~^]*
	...

NAME missing semicolon
PROG BEGIN { $x = 1 $y = 2; }
RC 1
EXPECT
ERR_RE
	stdin:1:16-[0-9]+: ERROR: .+
	BEGIN \{ \$x = 1 \$y = 2; \}
	               [~^]*
	...

NAME missing brace
PROG BEGIN { if (1) print(1); }
RC 1
EXPECT
ERR_RE
	stdin:1:16-[0-9]+: ERROR: .+
	BEGIN \{ if \(1\) print\(1\); \}
	               [~^]*
	...

NAME missing closing brace
PROG BEGIN { print(1);
RC 1
EXPECT
ERR_RE
	stdin:1:18-[0-9]+: ERROR: .+
	BEGIN \{ print\(1\);
	                 [~^]*
	...

NAME tuple index out of range
PROG BEGIN { $t = (1, 2); print($t.2); }
RC 1
EXPECT
ERR_RE
	stdin:1:28-[0-9]+: ERROR: .+
	BEGIN \{ \$t = \(1, 2\); print\(\$t\.2\); \}
	                           [~^]*
	...

NAME field of an integer
PROG BEGIN { $a = 1; print($a.x); }
RC 1
EXPECT
ERR_RE
	stdin:1:23-[0-9]+: ERROR: .+
	BEGIN \{ \$a = 1; print\(\$a\.x\); \}
	                      [~^]*
	...

NAME negation of a string
PROG BEGIN { $a = "x"; print(-$a); }
RC 1
EXPECT
ERR_RE
	stdin:1:25-[0-9]+: ERROR: .+
	BEGIN \{ \$a = "x"; print\(-\$a\); \}
	                        [~^]*
	...

NAME string plus integer
PROG BEGIN { $a = "x"; $b = 1; print($a + $b); }
RC 1
EXPECT
ERR_RE
	stdin:1:33-[0-9]+: ERROR: .+
	BEGIN \{ \$a = "x"; \$b = 1; print\(\$a \+ \$b\); \}
	                                [~^]*
	...

NAME comparison of string and integer
PROG BEGIN { $a = "x"; if ($a == 1) { } }
RC 1
EXPECT
ERR_RE
	stdin:1:23-[0-9]+: ERROR: .+
	BEGIN \{ \$a = "x"; if \(\$a == 1\) \{ \} \}
	                      [~^]*
	...

NAME exit with a string
PROG BEGIN { exit("x"); }
RC 1
EXPECT
ERR_RE
	stdin:1:9-[0-9]+: ERROR: .+
	BEGIN \{ exit\("x"\); \}
	        [~^]*
	...

NAME use after its block
PROG BEGIN { if (1) { $x = 1; } print($x); }
RC 1
EXPECT
ERR_RE
	stdin:1:34-[0-9]+: ERROR: .+
	BEGIN \{ if \(1\) \{ \$x = 1; \} print\(\$x\); \}
	                                 [~^]*
	...

NAME assignment to a number
PROG BEGIN { 1 = 2; }
RC 1
EXPECT
ERR_RE
	stdin:1:11-[0-9]+: ERROR: .+
	BEGIN \{ 1 = 2; \}
	          [~^]*
	...

NAME kstack limit
PROG BEGIN { @[kstack(2000)] = count(); }
RC 1
EXPECT
ERR_RE
	stdin:1:11-[0-9]+: ERROR: .+
	BEGIN \{ @\[kstack\(2000\)\] = count\(\); \}
	          [~^]*
	...

NAME octal
PROG BEGIN { print(08); }
RC 1
EXPECT
ERR_RE
	stdin:1:15-[0-9]+: ERROR: .+
	BEGIN \{ print\(08\); \}
	              [~^]*
	...

NAME number too large
PROG BEGIN { print(99999999999999999999); }
RC 1
EXPECT
ERR_RE
	stdin:1:15-[0-9]+: ERROR: .+
	BEGIN \{ print\(99999999999999999999\); \}
	              [~^]*
	...

NAME for over a scalar map
PROG BEGIN { @a = 1; for ($kv : @a) { } }
RC 1
EXPECT
ERR_RE
	stdin:1:28-[0-9]+: ERROR: .+
	BEGIN \{ @a = 1; for \(\$kv : @a\) \{ \} \}
	                           [~^]*
	...

NAME delete of a scalar with a key
PROG BEGIN { @a = 1; delete(@a, 1); }
RC 1
EXPECT
ERR_RE
	stdin:1:17-[0-9]+: ERROR: .+
	BEGIN \{ @a = 1; delete\(@a, 1\); \}
	                [~^]*
	...

NAME has_key of a scalar map
PROG BEGIN { @a = 1; print(has_key(@a, 1)); }
RC 1
EXPECT
ERR_RE
	stdin:1:23-[0-9]+: ERROR: .+
	BEGIN \{ @a = 1; print\(has_key\(@a, 1\)\); \}
	                      [~^]*
	...

NAME three mistakes, three reports
PROG BEGIN { print($a); print(@b); nosuch(); }
RC 1
EXPECT
ERR_RE
	stdin:1:15-[0-9]+: ERROR: .+
	BEGIN \{ print\(\$a\); print\(@b\); nosuch\(\); \}
	              ~+
	...
	stdin:1:26-[0-9]+: ERROR: .+
	BEGIN \{ print\(\$a\); print\(@b\); nosuch\(\); \}
	                         ~+
	...
	stdin:1:31-[0-9]+: ERROR: .+
	BEGIN \{ print\(\$a\); print\(@b\); nosuch\(\); \}
	                              ~+
	...
