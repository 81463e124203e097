# ltrace: build/tests/calls N calls snprintf() N times.

NAME ltrace: calls with arguments and results, chosen ones, JSON
RUN c=build/tests/calls; "$SONDE" ltrace -q -e 'snprintf+strtol' $c 2 2>&1 | sed 's/0x[0-9a-f]\{5,\}/ADDR/g'; "$SONDE" ltrace -qj -e snprintf $c 1 | sed 's/0x[0-9a-f]\{5,\}/ADDR/g; s/"duration_ns": [0-9]*/N/'; "$SONDE" ltrace -q -T -e strtol $c 1 2>&1 | grep -cE ' = 0x1 <0\.[0-9]{6}>$'
NEEDS uprobe prog:calls x86_64
EXPECT
	strtol (ADDR, 0x0, 0x0) = 0x2
	snprintf (ADDR, 64, "hello %s") = 11
	snprintf (ADDR, 64, "hello %s") = 11
	{"type": "event", "table": "calls", "function": "snprintf", "args": "(ADDR, 64, \"hello %s\")", "result": "= 11", N}
	1

NAME ltrace: a summary with exact counts; of one library; a process that runs already
RUN "$SONDE" ltrace -q -c -e snprintf --fields function,calls build/tests/calls 7 2>&1; "$SONDE" ltrace -q -l libc -e '!s*' -c --fields function build/tests/calls 1 2>&1 | grep -c snprintf; build/tests/calls 1 60000 & p=$!; "$SONDE" ltrace -c -p $p >"$TMPDIR/o" 2>"$TMPDIR/err" & t=$!; eventually grep -q Tracing "$TMPDIR/err"; kill $p; wait $t; echo $?
NEEDS uprobe prog:calls x86_64
TIMEOUT 60
EXPECT
	function                     calls
	snprintf                         7
	0
	0

NAME ltrace: of programs of Go no returns are probed; mistakes
RUN "$SONDE" ltrace -e nosuch build/tests/calls 2>&1; "$SONDE" ltrace 2>&1; "$SONDE" ltrace /nope 2>&1; cp build/tests/calls "$TMPDIR/go" && printf x >"$TMPDIR/s" && objcopy --add-section .go.buildinfo="$TMPDIR/s" "$TMPDIR/go" && "$SONDE" -d script ltrace "$TMPDIR/go" | grep -c uretprobe; true
NEEDS uprobe prog:calls x86_64 cmd:objcopy
EXPECT_RE
	ERROR: .*/calls imports no function that a library of its defines and -e wants
	ERROR: ltrace needs a command, or -p PID
	ERROR: there is no program /nope
	0
