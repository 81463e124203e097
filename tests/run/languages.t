# Functions of interpreted languages in user stacks.

NAME ustack has Python's functions: calls of all kinds, threads, a child; as Python tells them
RUN python3 tests/kernel/langstacks.py "$SONDE" /usr/bin/python3
EXPECT
	81 stacks are the same
NEEDS dwunwind file:/usr/bin/python3
TIMEOUT 30

NAME Python's functions stand between those of the C library and of the interpreter
RUN "$SONDE" -q -c '/usr/bin/python3 tests/progs/pysort.py' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack] = count(); }'
EXPECT_RE
	$
	$
	@\[
	        .*getppid\+[0-9]+
	...
	        key@.*/tests/progs/pysort\.py:6
	...
	        outer@.*/tests/progs/pysort\.py:11
	        <module>@.*/tests/progs/pysort\.py:14
	...
	        _start\+[0-9]+
	\]: 1
NEEDS dwunwind file:/usr/bin/python3

NAME ustack(lang) has these functions alone, ustack(native) none of them
RUN
	"$SONDE" -q -c '/usr/bin/python3 tests/progs/pysort.py' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @l[ustack(lang)] = count(); @n[ustack(native)] = count(); @two[ustack(lang, 2)] = count(); }'
EXPECT_RE
	$
	$
	@l\[
	        key@.*/tests/progs/pysort\.py:6
	        outer@.*/tests/progs/pysort\.py:11
	        <module>@.*/tests/progs/pysort\.py:14
	\]: 1
	@n\[
	        .*getppid\+[0-9]+
	...
	        _start\+[0-9]+
	\]: 1
	@two\[
	        key@.*/tests/progs/pysort\.py:6
	        outer@.*/tests/progs/pysort\.py:11
	\]: 1
NEEDS dwunwind file:/usr/bin/python3

NAME the modes lang and native are for user stacks by tables
PROG begin { print(kstack(lang)); print(fp_ustack(native)); }
ERR
	stdin:1:22-26: ERROR: 'lang' stack mode can only be used for ustack and dw_ustack
	begin { print(kstack(lang)); print(fp_ustack(native)); }
	                     ~~~~
	stdin:1:46-52: ERROR: 'native' stack mode can only be used for ustack and dw_ustack
	begin { print(kstack(lang)); print(fp_ustack(native)); }
	                                             ~~~~~~
RC 1

NAME folded stacks name a function's file, as many are called run
RUN "$SONDE" -q -f folded -c '/usr/bin/python3 tests/progs/pysort.py' -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack(lang)] = count(); }'
EXPECT
	<module> (pysort.py);outer (pysort.py);key (pysort.py) 1
NEEDS dwunwind file:/usr/bin/python3

NAME functions of children that have ended are named
RUN "$SONDE" -q -f folded -c '/usr/bin/python3 tests/progs/pyforks.py' -e 'tracepoint:syscalls:sys_enter_getppid /curtask->real_parent->tgid == cpid/ { @[ustack(lang)] = count(); }'
EXPECT
	<module> (pyforks.py);<module> (<string>);child (<string>) 50
NEEDS dwunwind file:/usr/bin/python3

NAME an interpreter that has just begun is known before it runs its program
RUN
	"$SONDE" -q -c 'sh tests/progs/pyfresh.sh' -e 'tracepoint:syscalls:sys_enter_getppid /strncmp(comm, "python", 6) == 0/ { @[ustack(lang)] = count(); }' >"$TMPDIR/out"
	grep -c 'key@.*pysort.py:6$' "$TMPDIR/out"
EXPECT_RE
	[1-9][0-9]*
NEEDS dwunwind file:/usr/bin/python3
TIMEOUT 30

NAME an interpreter's programs are known that begin and end while sonde cannot run
RUN
	"$SONDE" -o "$TMPDIR/out" -e 'tracepoint:syscalls:sys_enter_getppid /strncmp(comm, "python", 6) == 0/ { printf("l %s\nm %s\n", ustack(lang), ustack); }' 2>"$TMPDIR/err" & p=$!
	until_attached "$TMPDIR/err"
	eventually sh -c '/usr/bin/python3 -S -E tests/progs/pysort.py; grep -q key@ "$0"' "$TMPDIR/out"
	kill -STOP $p
	sh tests/progs/pyfresh.sh
	kill -CONT $p
	kill -INT $p
	wait $p
	awk '/^[lm] / { kind = $1; $1 = "" } NF { sub(/^ */, ""); sub(/@.*\//, "@"); sub(/\+.*/, ""); if (/@|^_start$|getppid$/) text = text " " $0 } !NF && text { print kind text; text = "" }' "$TMPDIR/out" |
		tail -n 40 | sort | uniq -c | tr -s ' '
EXPECT
	 20 l key@pysort.py:6 outer@pysort.py:11 <module>@pysort.py:14
	 20 m getppid key@pysort.py:6 outer@pysort.py:11 <module>@pysort.py:14 _start
NEEDS slow since:6.12 x86_64 dwunwind file:/usr/bin/python3
TIMEOUT 30

NAME ustack has Ruby's functions: calls of all kinds, blocks, fibers, threads, a child; as Ruby tells them
RUN python3 tests/kernel/langstacks.py "$SONDE" /usr/bin/ruby
EXPECT
	59 stacks are the same
NEEDS x86_64 dwunwind file:/usr/bin/ruby
TIMEOUT 30

NAME functions of Ruby and functions of its library stand in the order of their calls
RUN
	printf 'def key(x)\n  Process.ppid\n  x\nend\n\ndef outer\n  [1, 2].map { |x| key(x) }\nend\n\n$stdin.gets\nouter\n' >"$TMPDIR/order.rb"
	mkfifo "$TMPDIR/go"
	/usr/bin/ruby "$TMPDIR/order.rb" <"$TMPDIR/go" & r=$!
	exec 3>"$TMPDIR/go"
	eventually grep -q 'libruby\|bin/ruby' /proc/$r/maps
	"$SONDE" -f folded -o "$TMPDIR/out" -e "tracepoint:syscalls:sys_enter_getppid /pid == $r/ { @[ustack] = count(); }" 2>"$TMPDIR/err" & p=$!
	until_attached "$TMPDIR/err"
	echo >&3
	wait $r
	kill -INT $p
	wait $p
	grep -c '<main> (order.rb);outer (order.rb);.*rb_.*;block in outer (order.rb);key (order.rb);.*getppid 2$' "$TMPDIR/out"
EXPECT
	1
NEEDS x86_64 dwunwind file:/usr/bin/ruby
TIMEOUT 30

NAME ustack has PHP's functions: methods, closures, generators, files, a child; as PHP tells them
RUN python3 tests/kernel/langstacks.py "$SONDE" '/usr/bin/php -n'
EXPECT
	79 stacks are the same
NEEDS x86_64 dwunwind file:/usr/bin/php
TIMEOUT 30

NAME functions of PHP, those written in C and functions of its program stand in the order of their calls
RUN
	printf '<?php\nclass Order {\n  static function key($x) {\n    getmypid();\n    return $x;\n  }\n}\narray_map(function ($x) {\n  return Order::key($x);\n}, [1, 2]);\n' >"$TMPDIR/order.php"
	"$SONDE" -q -f folded -c "/usr/bin/php -n $TMPDIR/order.php" -e 'tracepoint:syscalls:sys_enter_getpid /pid == cpid/ { @[ustack] = count(); }' >"$TMPDIR/out"
	grep -c 'zend_execute;order.php;array_map;.*zend_call_function;{closure.*} (order.php);Order::key (order.php);getmypid;.*getpid 2$' "$TMPDIR/out"
EXPECT
	1
NEEDS x86_64 dwunwind file:/usr/bin/php
TIMEOUT 30
NAME ustack has Perl's functions: calls of all kinds, sort, tie, signals, files, a child; as Perl tells them
RUN python3 tests/kernel/langstacks.py "$SONDE" /usr/bin/perl
EXPECT_RE
	7[5-9] stacks are the same
NEEDS dwunwind file:/usr/bin/perl
TIMEOUT 30

NAME functions of Perl and of its interpreter stand in the order of their calls, however these are nested
RUN
	printf 'sub leaf { getppid() }\nsub guarded { eval { leaf(); 1 } }\nsub outer { my @s = sort { guarded(); $a <=> $b } 2, 1 }\nouter();\n' >"$TMPDIR/order.pl"
	"$SONDE" -q -f folded -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack] = count(); }' -c "/usr/bin/perl $TMPDIR/order.pl" |
		sed 's/.*;perl_run;/perl_run;/; s/;[^;]*pp_getppid;.*getppid / getppid /; s/;Perl_[^;]*sort.*;main::g/ sort main::g/'
EXPECT
	perl_run;(main) (order.pl);main::outer (order.pl) sort main::guarded (order.pl);(eval) (order.pl);main::leaf (order.pl) getppid 1
NEEDS dwunwind file:/usr/bin/perl

NAME a recording has Python's functions as a live script has them, in all outputs
RUN
	sh tests/kernel/langrecorded.sh "$SONDE" /usr/bin/python3 tests/progs/pysort.py | sed "s,$TMPDIR/,,; s,/[^ ]*/tests/progs/,,; s, (python[^ ]*)$,,"
EXPECT
	text: the same
	json: the same
	folded: the same
	flame: the same
	pprof: the same
	speedscope: the same
	<module> (pysort.py);outer (pysort.py);key (pysort.py) 1
	at key@pysort.py:6
	at outer@pysort.py:11
	at <module>@pysort.py:14
	"lang": "python"
NEEDS x86_64 dwunwind cmd:setarch file:/usr/bin/python3
TIMEOUT 30

NAME a recording has Perl's functions as a live script has them, in all outputs
RUN
	printf 'sub leaf { getppid() }\nsub outer { eval { leaf(); 1 } }\nouter();\n' >"$TMPDIR/order.pl"
	sh tests/kernel/langrecorded.sh "$SONDE" /usr/bin/perl "$TMPDIR/order.pl" | sed "s,$TMPDIR/,,; s,/[^ ]*/tests/progs/,,; s, (perl[^ ]*)$,,"
EXPECT
	text: the same
	json: the same
	folded: the same
	flame: the same
	pprof: the same
	speedscope: the same
	(main) (order.pl);main::outer (order.pl);(eval) (order.pl);main::leaf (order.pl) 1
	at main::leaf@order.pl:1
	at (eval)@order.pl:2
	at main::outer@order.pl:2
	at (main)@order.pl:3
	"lang": "perl"
NEEDS x86_64 dwunwind cmd:setarch file:/usr/bin/perl
TIMEOUT 30

NAME a recording has Ruby's functions as a live script has them, in all outputs
RUN
	printf 'def key(x)\n  Process.ppid\n  x\nend\n\ndef outer\n  key(1)\nend\n\nouter\n' >"$TMPDIR/order.rb"
	sh tests/kernel/langrecorded.sh "$SONDE" /usr/bin/ruby "$TMPDIR/order.rb" | grep 'the same\|lang"'
EXPECT
	text: the same
	json: the same
	folded: the same
	flame: the same
	pprof: the same
	speedscope: the same
	"lang": "ruby"
NEEDS x86_64 dwunwind cmd:setarch file:/usr/bin/ruby
TIMEOUT 30

NAME a recording has PHP's functions as a live script has them, in all outputs
RUN
	printf '<?php\nclass Order {\n  static function key($x) {\n    getmypid();\n    return $x;\n  }\n}\nOrder::key(1);\n' >"$TMPDIR/order.php"
	CALL=getpid sh tests/kernel/langrecorded.sh "$SONDE" /usr/bin/php -n "$TMPDIR/order.php" | grep 'the same\|lang"'
EXPECT
	text: the same
	json: the same
	folded: the same
	flame: the same
	pprof: the same
	speedscope: the same
	"lang": "php"
NEEDS x86_64 dwunwind cmd:setarch file:/usr/bin/php
TIMEOUT 30

NAME ustack has JavaScript's functions: calls of all kinds, compiled ones, async, a worker; as V8 tells them
RUN python3 tests/kernel/langstacks.py "$SONDE" /usr/bin/node
EXPECT
	148 stacks are the same
NEEDS x86_64 dwunwind file:/usr/bin/node
TIMEOUT 60

NAME ustack has Java's methods: calls of all kinds, threads, as Java tells them, in the interpreter
RUN python3 tests/kernel/langstacks.py "$SONDE" '/usr/bin/java -Xint'
EXPECT
	22 stacks are the same
NEEDS x86_64 dwunwind cmd:java cmd:javac
TIMEOUT 60

NAME methods of Java that are compiled, and inlined into others, are those that Java tells of
RUN
	python3 tests/kernel/langstacks.py "$SONDE" '/usr/bin/java -Xcomp'
	python3 tests/kernel/langstacks.py "$SONDE" '/usr/bin/java -XX:TieredStopAtLevel=1 -Xcomp'
EXPECT
	22 stacks are the same
	22 stacks are the same
NEEDS fast x86_64 dwunwind cmd:java cmd:javac
TIMEOUT 90

NAME methods of Java and native functions stand in the order of their calls; one that is compiled, too
RUN
	printf 'public class Order {\n  static int n;\n  static void leaf(int i) throws Exception {\n    n += i;\n    if (i == 100000)\n      Thread.sleep(600000);\n  }\n  static void each(int i) throws Exception {\n    leaf(i);\n  }\n  public static void main(String[] a) throws Exception {\n    for (int i = 0; i <= 100000; i++)\n      each(i);\n  }\n}\n' >"$TMPDIR/Order.java"
	javac -d "$TMPDIR" "$TMPDIR/Order.java"
	java -Xbatch -XX:TieredStopAtLevel=1 -XX:-UseOnStackReplacement -XX:-Inline -cp "$TMPDIR" Order &
	java=$!
	until "$SONDE" stacks -U -p $java 2>/dev/null | sed -n 's/^ *//; /Thread.sleep/,/start_thread/{ s/@Thread.java.*/@Thread.java/; s/^0x.*/stub/; s/(.*//; s/+.*//; p; }' | tee "$TMPDIR/got" | grep -q start_thread; do :; done
	kill $java
	cat "$TMPDIR/got"
EXPECT
	java.lang.Thread.sleep@Thread.java
	Order.leaf@Order.java:6
	Order.each@Order.java:9
	Order.main@Order.java:13
	stub
	JavaCalls::call_helper
	jni_invoke_static
	jni_CallStaticVoidMethod
	JavaMain
	ThreadJavaMain
	start_thread
NEEDS x86_64 dwunwind cmd:java cmd:javac
TIMEOUT 60

NAME stacks of a Java that nobody knows are counted
RUN
	home=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
	printf 'public class Known {\n  public static void main(String[] a) throws Exception { Thread.sleep(600000); }\n}\n' >"$TMPDIR/Known.java"
	javac -d "$TMPDIR" "$TMPDIR/Known.java"
	mkdir "$TMPDIR/jdk" && cp -rs "$home/." "$TMPDIR/jdk"
	cp --remove-destination "$home/bin/java" "$TMPDIR/jdk/bin/java"
	rm "$TMPDIR/jdk/lib/server/libjvm.so"
	sed 's/_log2_segment_size/_log2_segment_none/' "$home/lib/server/libjvm.so" >"$TMPDIR/jdk/lib/server/libjvm.so"
	"$TMPDIR/jdk/bin/java" -Xshare:off -cp "$TMPDIR" Known &
	java=$!
	until "$SONDE" stacks -U -p $java 2>&1 | sed -n 's/^WARNING: [0-9]* stacks* of java/stacks of java/p' | grep .; do :; done
	kill $java
EXPECT
	stacks of java without Java frames: unknown layout
NEEDS fast x86_64 dwunwind cmd:java cmd:javac
TIMEOUT 60

NAME functions of JavaScript and of V8 stand in the order of their calls
RUN
	printf 'const fs = require("fs");\nfunction leaf() { console.error("in"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000); }\n[1].forEach(function each() { leaf(); });\n' >"$TMPDIR/order.js"
	/usr/bin/node "$TMPDIR/order.js" 2>"$TMPDIR/said" &
	node=$!
	until grep -q in "$TMPDIR/said"; do :; done
	until grep -q '^State:.S' /proc/$node/status; do :; done
	"$SONDE" stacks -U -p $node | sed -n 's/^ *//; /Builtin_AtomicsWait/,/order.js:3/{ s/(.*//; s/+.*//; s|@.*/|@|; p; }' | head -6
	kill $node
EXPECT
	v8::internal::Builtin_AtomicsWait
	Builtins_CEntry_Return1_ArgvOnStack_BuiltinExit
	leaf@order.js:2
	each@order.js:3
NEEDS x86_64 dwunwind file:/usr/bin/node
TIMEOUT 30

NAME stacks of Java and a recording of them, at the same time, are the same
RUN
	javac --release 11 -d "$TMPDIR" tests/progs/JavaCalls.java
	sh tests/kernel/langbeside.sh "$SONDE" java -Xint -cp "$TMPDIR" JavaCalls
EXPECT
	text: the same
	json: the same
	folded: the same
	22
NEEDS fast x86_64 dwunwind cmd:java cmd:javac
TIMEOUT 60

NAME stacks of JavaScript and a recording of them, at the same time, are the same
RUN sh tests/kernel/langbeside.sh "$SONDE" /usr/bin/node --no-concurrent-recompilation tests/progs/jscalls.js
EXPECT
	text: the same
	json: the same
	folded: the same
	148
NEEDS fast x86_64 dwunwind file:/usr/bin/node
TIMEOUT 60

NAME processes of Python that have ended when their stacks are printed are named
RUN python3 tests/kernel/langended.py "$SONDE" 100 /usr/bin/python3 2>/dev/null
EXPECT
	at least 99 of 100 processes
NEEDS fast x86_64 dwunwind file:/usr/bin/python3
TIMEOUT 30

NAME processes of Perl that have ended when their stacks are printed are named
RUN python3 tests/kernel/langended.py "$SONDE" 100 /usr/bin/perl 2>/dev/null
EXPECT
	at least 99 of 100 processes
NEEDS fast x86_64 dwunwind file:/usr/bin/perl
TIMEOUT 30

NAME processes of PHP that have ended when their stacks are printed are named
RUN python3 tests/kernel/langended.py "$SONDE" 100 '/usr/bin/php -n' 2>/dev/null
EXPECT
	at least 99 of 100 processes
NEEDS fast x86_64 dwunwind file:/usr/bin/php
TIMEOUT 30

NAME processes of Ruby that have ended when their stacks are printed are named
RUN LEAST=96 python3 tests/kernel/langended.py "$SONDE" 50 /usr/bin/ruby 2>/dev/null
EXPECT
	at least 96 of 100 processes
NEEDS fast x86_64 dwunwind slow file:/usr/bin/ruby
TIMEOUT 120

NAME processes of JavaScript that have ended when their stacks are printed are named
RUN python3 tests/kernel/langended.py "$SONDE" 100 /usr/bin/node 2>/dev/null
EXPECT
	at least 99 of 100 processes
NEEDS fast x86_64 dwunwind slow file:/usr/bin/node
TIMEOUT 120

NAME samples of a program in Python that computes have its whole tree of calls
RUN python3 tests/kernel/langsampled.py "$SONDE" 200 /usr/bin/python3 2>/dev/null
EXPECT
	at least 99 of 100 samples
NEEDS fast x86_64 dwunwind file:/usr/bin/python3
TIMEOUT 180

NAME samples of a program in Ruby that computes have its whole tree of calls
RUN python3 tests/kernel/langsampled.py "$SONDE" 200 /usr/bin/ruby 2>/dev/null
EXPECT
	at least 99 of 100 samples
NEEDS fast x86_64 dwunwind file:/usr/bin/ruby
TIMEOUT 180

NAME samples of a program in PHP that computes have its whole tree of calls
RUN python3 tests/kernel/langsampled.py "$SONDE" 200 '/usr/bin/php -n' 2>/dev/null
EXPECT
	at least 99 of 100 samples
NEEDS fast x86_64 dwunwind file:/usr/bin/php
TIMEOUT 180

NAME samples of a program in Perl that computes have its whole tree of calls
RUN python3 tests/kernel/langsampled.py "$SONDE" 200 /usr/bin/perl 2>/dev/null
EXPECT
	at least 99 of 100 samples
NEEDS fast x86_64 dwunwind file:/usr/bin/perl
TIMEOUT 180

NAME samples of a program in JavaScript that computes have its whole tree of calls
RUN python3 tests/kernel/langsampled.py "$SONDE" 200 /usr/bin/node 2>/dev/null
EXPECT
	at least 99 of 100 samples
NEEDS fast x86_64 dwunwind file:/usr/bin/node
TIMEOUT 180

NAME samples of a program in Java that computes have its whole tree of calls
RUN python3 tests/kernel/langsampled.py "$SONDE" 200 /usr/bin/java 2>/dev/null
EXPECT
	at least 99 of 100 samples
NEEDS fast x86_64 dwunwind cmd:java cmd:javac
TIMEOUT 180

NAME Python with a root directory of its own, where its file is at another path
RUN python3 tests/kernel/langstacks.py -r "$SONDE" /usr/bin/python3
EXPECT
	81 stacks are the same
NEEDS fast dwunwind file:/usr/bin/unshare file:/usr/bin/python3
TIMEOUT 30

NAME Ruby with a root directory of its own, where its file is at another path
RUN python3 tests/kernel/langstacks.py -r "$SONDE" /usr/bin/ruby
EXPECT
	59 stacks are the same
NEEDS fast x86_64 dwunwind file:/usr/bin/unshare file:/usr/bin/ruby
TIMEOUT 30

NAME PHP with a root directory of its own, where its file is at another path
RUN python3 tests/kernel/langstacks.py -r "$SONDE" '/usr/bin/php -n'
EXPECT
	79 stacks are the same
NEEDS fast x86_64 dwunwind file:/usr/bin/unshare file:/usr/bin/php
TIMEOUT 30

NAME Perl with a root directory of its own, where its file is at another path
RUN python3 tests/kernel/langstacks.py -r "$SONDE" /usr/bin/perl
EXPECT_RE
	7[5-9] stacks are the same
NEEDS fast dwunwind file:/usr/bin/unshare file:/usr/bin/perl
TIMEOUT 30

NAME JavaScript with a root directory of its own, where its file is at another path
RUN python3 tests/kernel/langstacks.py -r "$SONDE" /usr/bin/node
EXPECT
	148 stacks are the same
NEEDS fast x86_64 dwunwind file:/usr/bin/unshare file:/usr/bin/node
TIMEOUT 60

NAME Java with a root directory of its own, where its file is at another path
RUN python3 tests/kernel/langstacks.py -r "$SONDE" '/usr/bin/java -Xint'
EXPECT
	22 stacks are the same
NEEDS fast x86_64 dwunwind file:/usr/bin/unshare cmd:java cmd:javac
TIMEOUT 60

NAME processes of Java that have ended when their stacks are printed are named
RUN LEAST=95 python3 tests/kernel/langended.py "$SONDE" 20 /usr/bin/java 2>/dev/null
EXPECT
	at least 95 of 100 processes
NEEDS fast x86_64 dwunwind slow cmd:java cmd:javac
TIMEOUT 120
