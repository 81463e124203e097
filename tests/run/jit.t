# Names of generated code and of functions of interpreters, as their runtimes write them down. Python keeps what
# it writes into a dump to itself until it ends: maps are printed then. Programs wait until their stack is seen.

NAME a dump of generated code
RUN "$SONDE" -q -c "build/tests/jit dump $TMPDIR/jit-7.dump" -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack(perf, 2)] = count(); }' | sed "s,$TMPDIR,DIR,"
EXPECT_RE
	$
	$
	@\[
		[0-9a-f]+ Dumped::here\(int\)\+1[16] \(DIR/jit-7.dump\)
		[0-9a-f]+ main\+[0-9]+ \(.*/jit\)
	\]: 1
NEEDS tracefs prog:jit x86_64

NAME generated code has a colour of its own
RUN "$SONDE" -q -f folded:annotate -c "build/tests/jit dump $TMPDIR/jit-7.dump" -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack(2)] = count(); }'
EXPECT
	main;Dumped::here(int)_[j] 1
NEEDS tracefs prog:jit x86_64

NAME a dump among other mounts
RUN
	"$SONDE" -q --follow -c "unshare -m --propagation private sh -c 'mkdir $TMPDIR/d && mount -t tmpfs tmpfs $TMPDIR/d && build/tests/jit dump $TMPDIR/d/jit-7.dump; . $PWD/tests/lib/lib.sh; until_written $TMPDIR/out'" -B line -e 'tracepoint:syscalls:sys_enter_getppid /comm == "jit"/ { printf("%s\n", ustack(perf, 1)); }' >"$TMPDIR/out"
	sed "s,$TMPDIR,DIR," "$TMPDIR/out"
EXPECT_RE
	$
		[0-9a-f]+ Dumped::here\(int\)\+1[16] \(DIR/d/jit-7.dump\)
	$
	$
	$
NEEDS tracefs prog:jit x86_64 cmd:unshare

NAME functions of Python in a list
RUN cat >"$TMPDIR/f.py" <<'END'
	import os, sys, time
	def leaf(): os.getppid()
	def middle(): leaf()
	def outer(): middle()
	outer()
	while not os.path.getsize(sys.argv[1]): time.sleep(0.01)
	END
	"$SONDE" -q -B line -c "$(python_with perf) -X perf $TMPDIR/f.py $TMPDIR/out" -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d\n%s\n", pid, ustack); }' >"$TMPDIR/out" 2>&1
	grep -E ' py::.*f.py|WARN|^@' "$TMPDIR/out" | sed "s,$TMPDIR,DIR,; s/+.*//" 
	rm -f "/tmp/perf-$(head -n 1 "$TMPDIR/out").map"
EXPECT
	        py::leaf:DIR/f.py
	        py::middle:DIR/f.py
	        py::outer:DIR/f.py
	        py::<module>:DIR/f.py
NEEDS tracefs dwunwind x86_64 python:perf
TIMEOUT 30

NAME functions of Python in a dump
RUN cat >"$TMPDIR/f.py" <<'END'
	import os, sys, time
	def leaf(): os.getppid()
	def outer(): leaf()
	outer()
	while not os.path.getsize(sys.argv[1]): time.sleep(0.01)
	END
	"$SONDE" -q -B line -c "$(python_with perf_jit) -X perf_jit $TMPDIR/f.py $TMPDIR/out" -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d%s", pid, ustack(raw)); @p = pid; @[ustack(perf)] = count(); }' >"$TMPDIR/out" 2>&1
	pid=$(sed -n 's/^@p: //p' "$TMPDIR/out")
	grep -E ' py::.*f.py|WARN|0x' "$TMPDIR/out" | grep -vE '0x.*\(/usr/|@.*\(python3' | sed "s,$TMPDIR,DIR,; s/^.[0-9a-f]* //; s/+[0-9]*//; s/jit-$pid/jit-PID/" 
	rm -f "/tmp/jit-$pid.dump"
EXPECT
	py::leaf:DIR/f.py (/tmp/jit-PID.dump)
	py::outer:DIR/f.py (/tmp/jit-PID.dump)
	py::<module>:DIR/f.py (/tmp/jit-PID.dump)
NEEDS tracefs dwunwind x86_64 python:perf_jit
TIMEOUT 30

# As native functions: else they have the names that V8 itself has for them.
NAME functions of JavaScript
RUN cat >"$TMPDIR/f.js" <<'END'
	function leaf() { return process.ppid; }
	function outer() { return leaf() + 1; }
	outer();
	END
	"$SONDE" -q -c "node --perf-basic-prof --interpreted-frames-native-stack $TMPDIR/f.js" -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d\n%s\n", pid, ustack(native)); }' >"$TMPDIR/out" 2>&1
	grep -E '(leaf|outer) .*f.js|WARN' "$TMPDIR/out" | sed -E "s,$TMPDIR,DIR,; s/(JS|LazyCompile):[~*^]*//; s/[+].*//"
	rm -f "/tmp/perf-$(head -n 1 "$TMPDIR/out").map" isolate-*-v8.log
# Node.js 18 names a function LazyCompile:~leaf FILE:1 or, as newer ones, JS:~leaf FILE:1:14.
EXPECT_RE
	        leaf DIR/f.js:1(:.*)?
	        outer DIR/f.js:2(:.*)?
NEEDS fast tracefs dwunwind cmd:node

NAME methods of Java
RUN cat >"$TMPDIR/F.java" <<'END'
	public class F {
		static long leaf() { return ProcessHandle.current().parent().get().pid(); }
		static long outer() { return leaf() + 1; }
		public static void main(String[] a) { System.exit(outer() > 1 ? 0 : 1); }
	}
	END
	javac -d "$TMPDIR" "$TMPDIR/F.java" && "$SONDE" -q --follow -c "java -Xshare:auto -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer -XX:-Inline -Xcomp -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,F.* -cp $TMPDIR F" -e 'tracepoint:syscalls:sys_enter_getppid { @p = pid; @[ustack(native)] = count(); }' >"$TMPDIR/out" 2>&1
	grep -E 'F\.|WARN' "$TMPDIR/out" | sed 's/+.*//' | uniq
	rm -f "/tmp/perf-$(sed -n 's/^@p: //p' "$TMPDIR/out").map"
EXPECT_RE
	        long F.leaf\(\)
	        long F.outer\(\)
	        void F.main\(java.lang.String\[\]\)
NEEDS fast tracefs dwunwind cmd:javac cmd:java
TIMEOUT 30
