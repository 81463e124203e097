NAME undefined variable
PROG BEGIN { print($y); }
RC 1
EXPECT
ERR
	stdin:1:15-17: ERROR: Undefined or undeclared variable: $y
	BEGIN { print($y); }
	              ~~

NAME undefined map
PROG BEGIN { print(@y); }
RC 1
EXPECT
ERR
	stdin:1:15-17: ERROR: Undefined map: @y
	BEGIN { print(@y); }
	              ~~

NAME unknown function
PROG BEGIN { nosuch(1); }
RC 1
EXPECT
ERR
	stdin:1:9-18: ERROR: Unknown function: 'nosuch'
	BEGIN { nosuch(1); }
	        ~~~~~~~~~

NAME unknown identifier
PROG BEGIN { print(nosuch); }
RC 1
EXPECT
ERR
	stdin:1:15-21: ERROR: Unknown identifier: 'nosuch'
	BEGIN { print(nosuch); }
	              ~~~~~~

NAME type mismatch of a variable
PROG BEGIN { $a = 1; $a = "x"; }
RC 1
EXPECT
ERR
	stdin:1:17-25: ERROR: Type mismatch for $a: trying to assign value of type 'string[2]' when variable already has a type 'int8'
	BEGIN { $a = 1; $a = "x"; }
	                ~~~~~~~~

NAME type mismatch of a map
PROG BEGIN { @a = 1; @a = "x"; }
RC 1
EXPECT
ERR
	stdin:1:17-25: ERROR: Type mismatch for @a: trying to assign value of type 'string[2]' when map already has a type 'int8'
	BEGIN { @a = 1; @a = "x"; }
	                ~~~~~~~~

NAME key mismatch
PROG BEGIN { @a[1] = 1; @a["x"] = 1; }
RC 1
EXPECT
ERR
	stdin:1:23-26: ERROR: Argument mismatch for @a: trying to access with arguments: 'string[2]' when map expects arguments: 'int8'
	BEGIN { @a[1] = 1; @a["x"] = 1; }
	                      ~~~

NAME scalar and keyed
PROG BEGIN { @a = 1; @a[1] = 1; }
RC 1
EXPECT
ERR
	stdin:1:17-22: ERROR: @a used as a map with an explicit key (non-scalar map), previously used without an explicit key (scalar map)
	BEGIN { @a = 1; @a[1] = 1; }
	                ~~~~~

NAME count with an argument
PROG BEGIN { @ = count(1); }
RC 1
EXPECT
ERR
	stdin:1:13-21: ERROR: count() requires no arguments (1 provided)
	BEGIN { @ = count(1); }
	            ~~~~~~~~

NAME hist of a string
PROG BEGIN { @ = hist("a"); }
RC 1
EXPECT
ERR
	stdin:1:18-21: ERROR: hist() only supports int arguments (string[2] provided)
	BEGIN { @ = hist("a"); }
	                 ~~~

NAME count outside a map
PROG BEGIN { $x = count(); }
RC 1
EXPECT
ERR
	stdin:1:14-21: ERROR: count() must be assigned directly to a map
	BEGIN { $x = count(); }
	             ~~~~~~~

NAME no such field
PROG tracepoint:syscalls:sys_enter_openat { print(args.nosuch); }
RC 1
EXPECT
ERR
	stdin:1:46-57: ERROR: Struct/union of type 'struct _tracepoint_syscalls_sys_enter_openat' does not contain a field named 'nosuch'
	tracepoint:syscalls:sys_enter_openat { print(args.nosuch); }
	                                             ~~~~~~~~~~~

NAME no such kernel field
PROG BEGIN { print(curtask->nosuch); }
RC 1
EXPECT
ERR
	stdin:1:15-30: ERROR: Struct/union of type 'struct task_struct' does not contain a field named 'nosuch'
	BEGIN { print(curtask->nosuch); }
	              ~~~~~~~~~~~~~~~

NAME builtin in the wrong probe
PROG BEGIN { print(arg0); }
RC 1
EXPECT
ERR
	stdin:1:15-19: ERROR: The arg0 builtin can only be used with 'kprobes', 'uprobes' and 'usdt' probes
	BEGIN { print(arg0); }
	              ~~~~

NAME retval in the wrong probe
PROG BEGIN { print(retval); }
RC 1
EXPECT
ERR
	stdin:1:15-21: ERROR: The retval builtin can only be used with 'kretprobe', 'uretprobe' and 'fexit' probes
	BEGIN { print(retval); }
	              ~~~~~~

NAME unsafe
PROG BEGIN { system("ls"); }
RC 1
EXPECT
ERR
	stdin:1:9-21: ERROR: system() is an unsafe function being used in safe mode
	BEGIN { system("ls"); }
	        ~~~~~~~~~~~~
	HINT: allow it with --unsafe

NAME invalid probe type
PROG foo:bar { }
RC 1
EXPECT
ERR
	stdin:1:1-8: ERROR: Invalid probe type: foo
	foo:bar { }
	~~~~~~~

NAME no such tracepoint
PROG tracepoint:syscalls:nosuch { }
RC 1
EXPECT
ERR
	stdin:1:1-27: ERROR: No matches for tracepoint syscalls:nosuch.
	tracepoint:syscalls:nosuch { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~
	HINT: If this is expected, set the 'missing_probes' config variable to 'warn'.

NAME no such uprobe symbol
PROG uprobe:build/tests/calls:nosuch { }
RC 1
EXPECT
ERR
	stdin:1:1-32: ERROR: No matches for uprobe build/tests/calls:nosuch.
	uprobe:build/tests/calls:nosuch { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	HINT: If this is expected, set the 'missing_probes' config variable to 'warn'.

NAME no such uprobe file
PROG uprobe:/nowhere/prog:main { }
RC 1
EXPECT
ERR
	stdin:1:1-26: ERROR: uprobe target file '/nowhere/prog' does not exist or is not executable
	uprobe:/nowhere/prog:main { }
	~~~~~~~~~~~~~~~~~~~~~~~~~

NAME printf with too few arguments
PROG BEGIN { printf("%d %d\n", 1); }
RC 1
EXPECT
ERR
	stdin:1:9-29: ERROR: not enough arguments for format string (1 supplied, 2 expected)
	BEGIN { printf("%d %d\n", 1); }
	        ~~~~~~~~~~~~~~~~~~~~

NAME printf with too many arguments
PROG BEGIN { printf("%d\n", 1, 2); }
RC 1
EXPECT
ERR
	stdin:1:9-29: ERROR: too many arguments for format string (2 supplied, 1 expected)
	BEGIN { printf("%d\n", 1, 2); }
	        ~~~~~~~~~~~~~~~~~~~~

NAME printf with a wrong type
PROG BEGIN { printf("%d\n", "x"); }
RC 1
EXPECT
ERR
	stdin:1:24-27: ERROR: unsupported format specifier for type 'string[2]': d
	BEGIN { printf("%d\n", "x"); }
	                       ~~~

NAME printf without a literal
PROG BEGIN { $f = "x"; printf($f); }
RC 1
EXPECT
ERR
	stdin:1:26-28: ERROR: printf() expects a string literal (string[2] provided)
	BEGIN { $f = "x"; printf($f); }
	                         ~~

NAME break outside a loop
PROG BEGIN { break; }
RC 1
EXPECT
ERR
	stdin:1:9-14: ERROR: 'break' statement is not allowed in a probe
	BEGIN { break; }
	        ~~~~~

NAME shadowing
PROG BEGIN { $x = 1; if (1) { let $x = 3; print($x); } }
RC 1
EXPECT
ERR
	stdin:1:26-36: ERROR: Variable $x was already declared. Variable shadowing is not allowed.
	BEGIN { $x = 1; if (1) { let $x = 3; print($x); } }
	                         ~~~~~~~~~~
	stdin:1:9-11: ERROR: This is the initial declaration.
	BEGIN { $x = 1; if (1) { let $x = 3; print($x); } }
	        ~~

NAME unroll too large
PROG BEGIN { unroll (101) { @++; } }
RC 1
EXPECT
ERR
	stdin:1:17-20: ERROR: unroll maximum value is 100
	BEGIN { unroll (101) { @++; } }
	                ~~~

NAME lhist with step zero
PROG BEGIN { @ = lhist(1, 0, 10, 0); }
RC 1
EXPECT
ERR
	stdin:1:29-30: ERROR: lhist() step must be >= 1 (0 provided)
	BEGIN { @ = lhist(1, 0, 10, 0); }
	                            ~

NAME hist with too many bits
PROG BEGIN { @ = hist(1, 6); }
RC 1
EXPECT
ERR
	stdin:1:21-22: ERROR: hist: bits 6 must be 0..5
	BEGIN { @ = hist(1, 6); }
	                    ~

NAME unterminated string
PROG BEGIN { $x = "abc
RC 1
EXPECT
ERR
	stdin:1:14-18: ERROR: unterminated string
	BEGIN { $x = "abc
	             ~~~~

NAME missing semicolon
PROG BEGIN { $x = 1 $y = 2; }
RC 1
EXPECT
ERR
	stdin:1:16-18: ERROR: expected ';' after the statement, found '$y'
	BEGIN { $x = 1 $y = 2; }
	               ~~

NAME missing brace
PROG BEGIN { if (1) print(1); }
RC 1
EXPECT
ERR
	stdin:1:16-21: ERROR: expected '{' after the condition, found 'print'
	BEGIN { if (1) print(1); }
	               ~~~~~
	HINT: Even a single statement needs braces.

NAME missing closing brace
PROG BEGIN { print(1);
RC 1
EXPECT
ERR
	stdin:1:18-19: ERROR: expected '}', found the end of the script
	BEGIN { print(1);
	                 ~
	stdin:1:7-8: ERROR: This '{' is not closed.
	BEGIN { print(1);
	      ~

NAME tuple index out of range
PROG BEGIN { $t = (1, 2); print($t.2); }
RC 1
EXPECT
ERR
	stdin:1:28-32: ERROR: Invalid tuple index: 2. Found 2 elements in tuple.
	BEGIN { $t = (1, 2); print($t.2); }
	                           ~~~~

NAME field of an integer
PROG BEGIN { $a = 1; print($a.x); }
RC 1
EXPECT
ERR
	stdin:1:23-27: ERROR: Can not access field 'x' on expression of type 'int8'
	BEGIN { $a = 1; print($a.x); }
	                      ~~~~

NAME negation of a string
PROG BEGIN { $a = "x"; print(-$a); }
RC 1
EXPECT
ERR
	stdin:1:25-28: ERROR: The - operator can not be used on expressions of type 'string[2]'
	BEGIN { $a = "x"; print(-$a); }
	                        ~~~

NAME string plus integer
PROG BEGIN { $a = "x"; $b = 1; print($a + $b); }
RC 1
EXPECT
ERR
	stdin:1:33-40: ERROR: Type mismatch for '+': comparing string[2] with int8
	BEGIN { $a = "x"; $b = 1; print($a + $b); }
	                                ~~~~~~~
	stdin:1:33-35: ERROR: left (string[2])
	BEGIN { $a = "x"; $b = 1; print($a + $b); }
	                                ~~
	stdin:1:38-40: ERROR: right (int8)
	BEGIN { $a = "x"; $b = 1; print($a + $b); }
	                                     ~~

NAME comparison of string and integer
PROG BEGIN { $a = "x"; if ($a == 1) { } }
RC 1
EXPECT
ERR
	stdin:1:23-30: ERROR: Type mismatch for '==': comparing string[2] with int8
	BEGIN { $a = "x"; if ($a == 1) { } }
	                      ~~~~~~~
	stdin:1:23-25: ERROR: left (string[2])
	BEGIN { $a = "x"; if ($a == 1) { } }
	                      ~~
	stdin:1:29-30: ERROR: right (int8)
	BEGIN { $a = "x"; if ($a == 1) { } }
	                            ~

NAME exit with a string
PROG BEGIN { exit("x"); }
RC 1
EXPECT
ERR
	stdin:1:14-17: ERROR: exit() only supports int arguments (string[2] provided)
	BEGIN { exit("x"); }
	             ~~~

NAME use after its block
PROG BEGIN { if (1) { $x = 1; } print($x); }
RC 1
EXPECT
ERR
	stdin:1:34-36: ERROR: Undefined or undeclared variable: $x
	BEGIN { if (1) { $x = 1; } print($x); }
	                                 ~~
	HINT: $x lives in a block that has ended; declare it in front of it (let $x;), or run the script with --compat 0.17, where variables belong to the whole probe

NAME assignment to a number
PROG BEGIN { 1 = 2; }
RC 1
EXPECT
ERR
	stdin:1:11-12: ERROR: only variables ($x) and maps (@x) can be assigned
	BEGIN { 1 = 2; }
	          ~

NAME kstack limit
PROG BEGIN { @[kstack(2000)] = count(); }
RC 1
EXPECT
ERR
	stdin:1:18-22: ERROR: kstack([int limit]): limit shouldn't exceed 1024, 2000 given
	BEGIN { @[kstack(2000)] = count(); }
	                 ~~~~

NAME octal
PROG BEGIN { print(08); }
RC 1
EXPECT
ERR
	stdin:1:15-17: ERROR: invalid digit in an octal number: 08
	BEGIN { print(08); }
	              ~~

NAME number too large
PROG BEGIN { print(99999999999999999999); }
RC 1
EXPECT
ERR
	stdin:1:15-35: ERROR: overflow, the maximum value is 18446744073709551615: 99999999999999999999
	BEGIN { print(99999999999999999999); }
	              ~~~~~~~~~~~~~~~~~~~~

NAME for over a scalar map
PROG BEGIN { @a = 1; for ($kv : @a) { } }
RC 1
EXPECT
ERR
	stdin:1:28-30: ERROR: @a has no explicit keys (scalar map), and cannot be used for iteration
	BEGIN { @a = 1; for ($kv : @a) { } }
	                           ~~

NAME delete of a scalar with a key
PROG BEGIN { @a = 1; delete(@a, 1); }
RC 1
EXPECT
ERR
	stdin:1:28-29: ERROR: @a used as a map with an explicit key (non-scalar map), previously used without an explicit key (scalar map)
	BEGIN { @a = 1; delete(@a, 1); }
	                           ~

NAME has_key of a scalar map
PROG BEGIN { @a = 1; print(has_key(@a, 1)); }
RC 1
EXPECT
ERR
	stdin:1:35-36: ERROR: @a used as a map with an explicit key (non-scalar map), previously used without an explicit key (scalar map)
	BEGIN { @a = 1; print(has_key(@a, 1)); }
	                                  ~

NAME three mistakes, three reports
PROG BEGIN { print($a); print(@b); nosuch(); }
RC 1
EXPECT
ERR
	stdin:1:15-17: ERROR: Undefined or undeclared variable: $a
	BEGIN { print($a); print(@b); nosuch(); }
	              ~~
	stdin:1:26-28: ERROR: Undefined map: @b
	BEGIN { print($a); print(@b); nosuch(); }
	                         ~~
	stdin:1:31-39: ERROR: Unknown function: 'nosuch'
	BEGIN { print($a); print(@b); nosuch(); }
	                              ~~~~~~~~

NAME a program that the verifier refuses
PROG BEGIN { $i = 0; while (1) { $i++; } }
ENV SONDE_CODES=1
RC 255
EXPECT
ERR_RE
	stdin:1:29-33: ERROR: \[E_VERIFIER\] .+
	BEGIN \{ \$i = 0; while \(1\) \{ \$i\+\+; \} \}
	                            ~~~~
	HINT: .+

NAME a directory that is no control group of programs
RUN SONDE_CODES=1 "$SONDE" -q -e 'begin { print(cgroupid("/proc") > 0); }' 2>&1 | sed 's/below [^)]*/below X/; /^$/d'
EXPECT
	stdin:1:24-31: WARNING: [W_CGROUP] /proc is not a control group (a directory of cgroup2, below X)
	begin { print(cgroupid("/proc") > 0); }
	                       ~~~~~~~
	true

NAME a control group that does not exist
PROG BEGIN { @ = cgroupid("/no/such/cgroup"); }
ENV SONDE_CODES=1
RC 1
EXPECT
ERR_RE
	stdin:1:22-39: ERROR: \[E_SYSTEM\] .+
	...
