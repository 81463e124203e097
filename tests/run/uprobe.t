NAME symbol
PROG uprobe:build/tests/calls:target /pid == cpid/ { @ = count(); }
LOAD calls 10
EXPECT
	$
	$
	@: 10

NAME alias
PROG u:build/tests/calls:target /pid == cpid/ { @ = count(); }
LOAD calls 3
EXPECT
	$
	$
	@: 3

NAME arguments
PROG uprobe:build/tests/calls:add6 /pid == cpid/ { printf("%d %d %d %d %d %d\n", arg0, arg1, arg2, arg3, arg4, arg5); }
LOAD calls 1
EXPECT
	1 2 3 4 5 6
	$
	$

NAME strings and integers
PROG uprobe:build/tests/calls:target /pid == cpid/ { printf("%d %s\n", arg0, str(arg1)); }
LOAD calls 3
EXPECT
	0 hello
	1 hello
	2 hello
	$
	$

NAME return value
PROG uretprobe:build/tests/calls:target /pid == cpid/ { printf("%d\n", retval); }
LOAD calls 2
EXPECT
	6
	8
	$
	$

NAME negative return value
PROG uretprobe:build/tests/calls:negative /pid == cpid/ { printf("%d %d\n", (int64)retval, (int64)retval < 0); }
LOAD calls 1
EXPECT
	-6 1
	$
	$

NAME returned string
PROG uretprobe:build/tests/calls:greet /pid == cpid/ { printf("%s\n", str(retval)); }
LOAD calls 1
EXPECT
	hello world
	$
	$

NAME entry and return
PROG uprobe:build/tests/calls:target /pid == cpid/ { @n[tid] = arg0; } uretprobe:build/tests/calls:target /pid == cpid/ { printf("%d -> %d\n", @n[tid], retval); delete(@n, tid); }
LOAD calls 3
EXPECT
	0 -> 6
	1 -> 8
	2 -> 10
	$
	$

NAME offset
PROG uprobe:build/tests/calls:target+0 /pid == cpid/ { @ = count(); }
LOAD calls 4
EXPECT
	$
	$
	@: 4

NAME wildcard
PROG uprobe:build/tests/calls:targ* /pid == cpid/ { printf("%s %s\n", func, probe); }
LOAD calls 2 300
EXPECT
	target uprobe:build/tests/calls:target
	target uprobe:build/tests/calls:target
	$
	$

NAME func and probe
PROG uprobe:build/tests/calls:target, uprobe:build/tests/calls:add6 /pid == cpid/ { printf("%s %s\n", func, probe); }
LOAD calls 1 300
EXPECT
	target uprobe:build/tests/calls:target
	add6 uprobe:build/tests/calls:add6
	$
	$

NAME library by its name
PROG uprobe:libc:snprintf /pid == cpid/ { @ = count(); }
LOAD calls 1
EXPECT
	$
	$
	@: 1

NAME library by its path
PROG uprobe:/lib/ARCH-linux-gnu/libc.so.6:strlen /pid == cpid/ { @ = count(); }
LOAD calls 1
EXPECT_RE
	$
	$
	(@: [0-9]+)?

NAME memory through a pointer
PROG uprobe:build/tests/calls:target /pid == cpid/ { $p = (int32 *)arg2; printf("%d %d\n", *$p, $p[0]); $q = (int64 *)(arg2 + 8); printf("%ld\n", *$q); }
LOAD calls 1
EXPECT
	1 1
	1099511627776
	$
	$

NAME bytes of user memory
PROG uprobe:build/tests/calls:target /pid == cpid/ { $p = (uint8 *)arg1; printf("%c%c%c\n", $p[0], $p[1], *($p + 4)); }
LOAD calls 1
EXPECT
	heo
	$
	$

NAME struct of the script
PROG
	struct pair { int a; long b; char name[16]; struct pair *next; };
	uprobe:build/tests/calls:target /pid == cpid/ {
		$p = (struct pair *)arg2;
		printf("%d %ld %s %d %ld %s %d\n", $p->a, $p->b, $p->name, $p->next->a, $p->next->b, $p->next.name, $p->next->next == 0);
	}
LOAD calls 1
EXPECT
	1 1099511627776 first 2 -2 second 1
	$
	$

NAME registers
PROG uprobe:build/tests/calls:add6 /pid == cpid/ { printf("%d %d %d\n", reg("di"), reg("si"), reg("r8")); }
LOAD calls 1
NEEDS x86_64
EXPECT
	1 2 5
	$
	$

NAME stack of user space
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack(3)] = count(); }
LOAD stack 5 300
EXPECT_RE
	$
	$
	@\[
	        inner\+[0-9]+
	        middle\+[0-9]+
	        outer\+[0-9]+
	\]: 5

# At the first instruction the frame is not linked yet: the caller may be missing.
NAME stack of a uprobe
PROG uprobe:build/tests/stack:inner /pid == cpid/ { printf("%s", ustack(2)); }
LOAD stack 1 300
EXPECT_RE
	$
	        inner\+0
	        (middle|outer)\+[0-9]+
	$
	$

NAME stack in perf form
PROG uprobe:build/tests/stack:inner /pid == cpid/ { print(ustack(perf, 2)); }
LOAD stack 1 300
EXPECT_RE
	$
		[0-9a-f]+ inner\+0 \(.*/build/tests/stack\)
		[0-9a-f]+ (middle|outer)\+[0-9]+ \(.*/build/tests/stack\)
	$
	$
	$

NAME stack of raw addresses
PROG uprobe:build/tests/stack:inner /pid == cpid/ { print(ustack(raw, 2)); }
LOAD stack 1 300
EXPECT_RE
	$
	[ 	]*[0-9a-f]+
	[ 	]*[0-9a-f]+
	$
	$
	$

NAME number of frames
PROG uprobe:build/tests/stack:inner /pid == cpid/ { printf("%d\n", len(ustack(2))); }
LOAD stack 1 300
EXPECT
	2
	$
	$

# The tables of its unwinding are made after the first event: what is printed has all frames.
NAME number of frames of a process that begins after the probes
NEEDS dwunwind
RUN
	cp build/tests/stack "$TMPDIR/later"
	"$SONDE" -e "uprobe:$TMPDIR/later:inner { printf(\"%d %d\n\", len(ustack(3)), len(ustack(raw, 2))); print(len(ustack(3))); print(ustack(3)); exit(); }" >"$TMPDIR/out" 2>"$TMPDIR/err" & S=$!
	until_attached "$TMPDIR/err"
	"$TMPDIR/later" 1
	wait $S
	sed 's/+.*//' "$TMPDIR/out"
EXPECT
	3 2
	3
	$
	        inner
	        middle
	        outer
	$
	$
	$

NAME usym
PROG uprobe:build/tests/calls:target /pid == cpid/ { printf("%s\n", usym(reg("ip"))); }
LOAD calls 2 300
EXPECT
	target
	target
	$
	$

NAME address of a symbol
PROG uprobe:build/tests/calls:target /pid == cpid/ { print(*uaddr("counter")); }
LOAD calls 3
EXPECT
	40
	41
	42
	$
	$

NAME pid filter
RUN build/tests/calls 1 & "$SONDE" -c 'build/tests/calls 2' -e 'uprobe:build/tests/calls:target /pid == cpid/ { @ = count(); }'; wait
EXPECT
	$
	$
	@: 2

NAME readline of bash
PROG uprobe:/bin/bash:readline { @ = count(); } uretprobe:/bin/bash:readline { printf("%d %s\n", pid > 0, str(retval)); } interval:ms:100 { exit(); }
NEEDS file:/bin/bash
EXPECT
	$
	$

NAME counting exactly
PROG uprobe:build/tests/calls:target /pid == cpid/ { @ = count(); } uretprobe:build/tests/calls:target /pid == cpid/ { @r = count(); }
LOAD calls 5000
TIMEOUT 20
EXPECT
	$
	$
	@: 5000
	@r: 5000

NAME functions that begin with what the kernel cannot probe are left out, and that is said
NEEDS uprobe prog:refused
RUN "$SONDE" -e 'uprobe:build/tests/refused:plus* { @[func] = count(); }' -c build/tests/refused 2>&1; "$SONDE" -e 'uprobe:build/tests/refused:plus_locked { @ = count(); }' 2>&1
RC 1
EXPECT
	stdin:1:1-33: WARNING: 2 of the functions cannot be probed: the kernel puts no uprobe on the instruction at plus_locked+0 in build/tests/refused (its prefix or kind)
	uprobe:build/tests/refused:plus* { @[func] = count(); }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	Attached 1 probe
	4
	$
	$
	@[plus]: 2
	stdin:1:1-39: ERROR: the kernel puts no uprobe on the instruction at plus_locked+0 in build/tests/refused (its prefix or kind)
	uprobe:build/tests/refused:plus_locked { @ = count(); }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

NAME function of a return
PROG uretprobe:build/tests/landing:pushes, uretprobe:build/tests/landing:mov[e]s /pid == cpid/ { printf("%s %d\n", func, retval); }
LOAD landing 2 300
NEEDS prog:landing
EXPECT
	pushes 1
	moves 2
	pushes 2
	moves 3
	$
	$

NAME function of a return, on kernels that do not tell
PROG uretprobe:build/tests/landing:pushes, uretprobe:build/tests/landing:mov[e]s /pid == cpid/ { @[func] = count(); }
ARGS --no-feature uprobe_multi
LOAD landing 2
NEEDS prog:landing
EXPECT
	$
	$
	@[moves]: 2
	@[pushes]: 2

NAME two tracers on one function: the breakpoint of one is not the other's instruction
NEEDS uprobe
RUN
	"$SONDE" -e 'uprobe:build/tests/calls:target { @ = count(); }
		interval:s:20 { exit(); }' >"$TMPDIR/out" 2>"$TMPDIR/err" & first=$!
	until_attached "$TMPDIR/err"
	"$SONDE" -q -e 'uprobe:build/tests/calls:target { @ = count(); }' -c 'build/tests/calls 3'
	kill -INT $first
	wait $first
	grep -q '^@: [1-9]' "$TMPDIR/out" && echo both
EXPECT
	$
	$
	@: 3
	both

NAME one program tells many functions apart
RUN
	for no in '' uprobe_multi cookie; do
		set -- ${no:+--no-feature $no}
		"$SONDE" -q "$@" -c 'build/tests/calls 3' -e 'uprobe:build/tests/calls:add6, uprobe:build/tests/calls:greet,
			uprobe:build/tests/calls:n[a-e]g*, uprobe:build/tests/calls:bytes, uprobe:build/tests/calls:target+4 {
				@[probe] = count(); for $i : 0..2 { @loop[probe] = count(); } }
			uretprobe:build/tests/calls:greet, uretprobe:build/tests/calls:add6 { @r[probe, func] = count(); }' | grep .
	done | sort | uniq -c | sed 's/^ *//'
	"$SONDE" -d plan -e 'uprobe:build/tests/calls:add6, uprobe:build/tests/calls:greet { print(probe); }' | grep -c 'a program each'
	"$SONDE" -d plan --no-feature cookie -e 'uprobe:build/tests/calls:add6, uprobe:build/tests/calls:greet { print(probe); }' | grep -c 'a program each'
NEEDS prog:calls uprobe feature:cookie
EXPECT
	3 @[uprobe:build/tests/calls:add6]: 3
	3 @[uprobe:build/tests/calls:bytes]: 3
	3 @[uprobe:build/tests/calls:greet]: 3
	3 @[uprobe:build/tests/calls:negative]: 3
	3 @[uprobe:build/tests/calls:target+4]: 3
	3 @loop[uprobe:build/tests/calls:add6]: 6
	3 @loop[uprobe:build/tests/calls:bytes]: 6
	3 @loop[uprobe:build/tests/calls:greet]: 6
	3 @loop[uprobe:build/tests/calls:negative]: 6
	3 @loop[uprobe:build/tests/calls:target+4]: 6
	3 @r[uretprobe:build/tests/calls:add6, add6]: 3
	3 @r[uretprobe:build/tests/calls:greet, greet]: 3
	0
	1

NAME more functions than there may be programs, by their public names
RUN
	"$SONDE" -q -c 'build/tests/calls 2' -e 'uprobe:libc:* { @[probe] = count(); }' 2>/dev/null | sed -n 's/^@.*:\(__snprintf\|snprintf\|__GI_strlen\|strlen\)\]: .*/\1/p' | sort
NEEDS prog:calls uprobe feature:uprobe_multi file:/lib/ARCH-linux-gnu/libc.so.6
EXPECT
	snprintf
	strlen

NAME labels and functions without a length, as assembly leaves them
RUN
	"$SONDE" -q -c 'build/tests/labels 3' -e 'uprobe:build/tests/labels:bare, uprobe:build/tests/labels:endless, uprobe:build/tests/labels:endless+4 { @[probe] = count(); }
		uretprobe:build/tests/labels:bare { @r = count(); }' | grep .
	"$SONDE" -e 'uprobe:build/tests/labels:endless+2 { }' 2>&1 | head -n 1
	"$SONDE" --dry-run -e 'uprobe:build/tests/labels:no_such_label { }' 2>&1 | head -n 1
NEEDS prog:labels uprobe
EXPECT
	@[uprobe:build/tests/labels:bare]: 3
	@[uprobe:build/tests/labels:endless]: 3
	@[uprobe:build/tests/labels:endless+4]: 3
	@r: 3
	stdin:1:1-36: ERROR: Could not add uprobe into middle of instruction: uprobe:build/tests/labels:endless+2; --unsafe attaches all the same, which may corrupt the traced program
	stdin:1:1-40: ERROR: No matches for uprobe build/tests/labels:no_such_label.

NAME an indirect function: what it chose, by a process that has the library
RUN
	build/tests/calls 1 60000 & p=$!
	"$SONDE" -q -c 'build/tests/calls 7' -e 'uprobe:libc:strlen /str(arg0) == "hello"/ { @n = count(); } uretprobe:libc:strlen /retval == 5 && comm == "calls"/ { @five = true; }' | grep .
	kill $p
NEEDS prog:calls uprobe
EXPECT
	@five: true
	@n: 7

NAME an indirect function of a program that does not run, and what is said then
RUN
	"$SONDE" -q -c 'build/tests/labels 3' -e 'uprobe:build/tests/labels:chosen { @choice = count(); } uprobe:build/tests/labels:chosen_form { @calls = count(); }' 2>&1 |
		grep -v -e ^uprobe -e '~~' -e '^$'
	"$SONDE" -q -c 'build/tests/labels 3' -e 'uprobe:build/tests/labels:chosen* { @[probe] = count(); }' 2>&1 | grep .
NEEDS prog:labels uprobe
EXPECT
	stdin:1:1-33: WARNING: chosen is an indirect function (ifunc), and no process shows which implementation it selected: the probe fires when the implementation is selected, not when it is called
	HINT: forms: sonde -l 'uprobe:build/tests/labels:*chosen*'
	@calls: 3
	@choice: 1
	@[uprobe:build/tests/labels:chosen]: 1
	@[uprobe:build/tests/labels:chosen_form]: 3

NAME a function that a program only calls
RUN "$SONDE" -e 'uprobe:build/tests/calls:usleep { }' 2>&1 | head -n 1; "$SONDE" --dry-run -e 'config = { missing_probes = warn } uprobe:build/tests/calls:usleep { } begin { }' 2>&1 | head -n 1
NEEDS prog:calls uprobe
EXPECT
	stdin:1:1-32: ERROR: build/tests/calls calls usleep, but a library defines it: name the library instead (ldd lists them)
	stdin:1:36-67: WARNING: No matches for uprobe build/tests/calls:usleep. Skipping.

NAME arguments of a program for 32 bits are on its stack
PROG uprobe:build/tests/args32:tens { @[func, arg0, arg1] = count(); } uretprobe:build/tests/args32:tens { @r[retval] = count(); }
LOAD args32
NEEDS runs:args32 uprobe
EXPECT
	$
	$
	@[tens, 4, 2]: 1
	@[tens, 5, 3]: 1
	@r[42]: 1
	@r[53]: 1

NAME the caller of a function, for a fraction of a stack's price
PROG uprobe:build/tests/stack:inner /pid == cpid/ { @inner[caller] = count(); } uprobe:build/tests/stack:middle /pid == cpid/ { @middle[caller] = count(); printf("%s\n", caller); }
LOAD stack 2
NEEDS prog:stack
EXPECT
	outer
	outer
	$
	$
	@inner[middle]: 2
	@middle[outer]: 2

NAME texts in pages that are not in memory
PROG struct name { char *text; long number; }
	uprobe:build/tests/absent:see /pid == cpid/ {
	printf("%s, %s\n", str(arg0), str(arg2));
	$n = (struct name *)arg1;
	printf("%d %s %r\n", $n->number, str($n->text), buf(arg0, 6));
	@[str(arg0, 7)] = count();
	@len = strlen(str(arg2));
	}
LOAD absent
NEEDS feature:SLEEPABLE
EXPECT
	in one page, xxxxxxxxxxxxxxxxxxxx
	42 behind a pointer in one
	$
	$
	@[in one]: 1
	@len: 20
ERR
	Attached 1 probe

NAME each text of a record is in a page that is not in memory
PROG struct name { char *text; long number; }
	uprobe:build/tests/absent:see /pid == cpid/ { printf("%s|%s|%s|%d\n", str(arg2), str(((struct name *)arg1)->text), str(arg0), ((struct name *)arg1)->number); }
ARGS -q
LOAD absent 3
NEEDS feature:SLEEPABLE
EXPECT
	xxxxxxxxxxxxxxxxxxxx|behind a pointer|in one page|42
	xxxxxxxxxxxxxxxxxxxx|behind a pointer|in one page|42
	xxxxxxxxxxxxxxxxxxxx|behind a pointer|in one page|42
	$
	$
ERR

NAME texts in pages that are not in memory, in a return and in a loop
PROG uretprobe:build/tests/absent:see /pid == cpid/ { printf("%s\n", @text[tid]); }
	uprobe:build/tests/absent:see /pid == cpid/ { @text[tid] = str(arg2); for $i : 0..40 { if ($i > 38) { printf("%d %s\n", $i, str(arg0)); } } }
	end { clear(@text); }
ARGS -q
LOAD absent
NEEDS feature:SLEEPABLE
EXPECT
	39 in one page
	xxxxxxxxxxxxxxxxxxxx
	$
	$
ERR

NAME reads that fail are counted, those of NULL with -k
RUN
	for k in '' -k
	do "$SONDE" -q $k -c build/tests/absent -e 'uprobe:build/tests/absent:see { printf("[%s] [%s] %d %d\n", str(arg3), str(0), *(int64 *)arg3, *(int64 *)8); }' 2>&1 |
		grep . | grep -v '^uprobe\|^ *~' | LC_ALL=C sort
	done
EXPECT
	WARNING: 2 reads of memory failed and gave 0 or an empty text (uprobe:build/tests/absent:see: 2): the address was not valid, or its page was not in memory; -k counts reads of NULL, too
	[] [] 0 0
	WARNING: uprobe:build/tests/absent:see: 4 reads of memory failed and gave 0; is the pointer valid and of the right space (kptr, uptr)?
	[] [] 0 0
	stdin:1:61-70: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	stdin:1:72-78: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	stdin:1:80-94: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.
	stdin:1:96-107: WARNING: A read of memory failed (bad address), and gave 0 or an empty text.

NAME texts in pages that are not in memory, on kernels that wait for none
RUN
	"$SONDE" -q --no-feature SLEEPABLE -c 'build/tests/absent 2' -e 'uprobe:build/tests/absent:see { printf("[%s] [%s]\n", str(arg0), str(arg2)); }
		uretprobe:build/tests/absent:see { @ = count(); }' 2>&1
EXPECT
	[] []
	[] []
	$
	$
	@: 2
	WARNING: 4 reads of memory failed and gave 0 or an empty text (uprobe:build/tests/absent:see: 4): the address was not valid, or its page was not in memory; -k counts reads of NULL, too
