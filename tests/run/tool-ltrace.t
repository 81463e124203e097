# ltrace: build/tests/calls N calls snprintf() N times.

NAME ltrace: calls with arguments and results, chosen ones, JSON
RUN
	c=build/tests/calls
	"$SONDE" ltrace -q -e 'snprintf+strtol' $c 2 2>&1 | sed 's/0x[0-9a-f]\{5,\}/ADDR/g'
	"$SONDE" ltrace -qj -e snprintf $c 1 | sed 's/0x[0-9a-f]\{5,\}/ADDR/g; s/"duration_ns": [0-9]*/N/'
	"$SONDE" ltrace -q --csv --fields function,args,result -e snprintf $c 1 | sed 's/0x[0-9a-f]\{5,\}/ADDR/g'
	"$SONDE" ltrace -q -T -e strtol $c 1 2>&1 | grep -cE ' = 1 <0\.[0-9]{6}>$'
NEEDS uprobe prog:calls x86_64
EXPECT
	strtol ("2", 0x0, 0) = 2
	snprintf (ADDR, 64, "hello %s") = 11
	snprintf (ADDR, 64, "hello %s") = 11
	{"type": "event", "table": "calls", "function": "snprintf", "args": "(ADDR, 64, \"hello %s\")", "result": "= 11", N}
	function,args,result
	snprintf,"(ADDR, 64, ""hello %s"")",= 11
	1

NAME ltrace: texts, and none
RUN "$SONDE" ltrace -q -e 'setlocale+bindtextdomain+textdomain' /usr/bin/env -u nothing true 2>&1; "$SONDE" ltrace -q -e getenv /usr/bin/ls /dev/null 2>&1 | grep -m 1 LS_BLOCK
NEEDS slow uprobe x86_64 file:/usr/bin/env file:/usr/bin/ls
ENV LC_ALL=C
EXPECT
	setlocale (6, "") = "C"
	bindtextdomain ("coreutils", "/usr/share/locale") = "/usr/share/locale"
	textdomain ("coreutils") = "coreutils"
	getenv ("LS_BLOCK_SIZE") = NULL

NAME ltrace: a summary with exact counts; of one library; a process that runs already
RUN
	"$SONDE" ltrace -q -c -e snprintf --fields function,calls build/tests/calls 7 2>&1
	"$SONDE" ltrace -q -l libc -e '!s*' -c --fields function build/tests/calls 1 2>&1 | grep -c snprintf
	build/tests/calls 1 60000 & p=$!
	"$SONDE" ltrace -c -p $p >"$TMPDIR/o" 2>"$TMPDIR/err" & t=$!
	eventually grep -q Tracing "$TMPDIR/err"
	kill $p
	wait $t
	echo $?
NEEDS uprobe prog:calls x86_64
TIMEOUT 60
EXPECT
	function                     calls
	snprintf                         7
	0
	0

NAME ltrace: a process and a command at once, which run different programs
RUN
	mkfifo "$TMPDIR/f"; /usr/bin/cat <"$TMPDIR/f" >/dev/null & p=$!
	exec 9>"$TMPDIR/f"; until_named $p cat
	"$SONDE" ltrace -q -p $p -e 'read+write+strtol' build/tests/calls 1 2>"$TMPDIR/o" 9>&- & t=$!
	eventually grep -q strtol "$TMPDIR/o"; echo x >&9; exec 9>&-; wait $t; echo $?
	sed 's/0x[0-9a-f]\{5,\}, [0-9]*/ADDR, N/; s/0x0, 131072/ADDR, N/' "$TMPDIR/o" | sort
NEEDS slow uprobe prog:calls x86_64 file:/usr/bin/cat cmd:mkfifo
EXPECT
	0
	read (0, ADDR, N) = 0
	strtol ("1", 0x0, 0) = 1
	write (1, ADDR, N) = 2

NAME ltrace: functions of the program itself, indented, texts of some length
RUN
	c=build/tests/calls
	l() { "$SONDE" ltrace -q "$@" 2>&1 | sed 's/0x[0-9a-f]\{2,\}/ADDR/g; s/^\( *main \)(.*)/\1(...)/'; }
	l -n 2 -e snprintf -x main+greet -s 3 $c 1; l -L -x 'add*' $c 1; l -L -c -x 'g*+add6' --fields function,calls $c 3 | LC_ALL=C sort
	"$SONDE" ltrace -q -j -n 3 -L -x greet+main $c 1 | grep -o '"depth": [0-9]*, "function": "[a-z]*"'
	"$SONDE" ltrace -L $c 2>&1
	"$SONDE" ltrace -L -x nosuch $c 2>&1 | sed "s,/.*/,,"
	"$SONDE" ltrace -s 0 $c 2>&1
	"$SONDE" ltrace -qc -e snprintf -x greet+nosuch --fields function,calls $c 1 2>&1 | sed "s,/.*/,," | LC_ALL=C sort
NEEDS uprobe prog:calls x86_64
TIMEOUT 60
EXPECT
	    snprintf (ADDR, 64, "hel"...) = 11
	  greet (ADDR, 0x2, 0x3) = ADDR
	main (...) = 0x0
	add6 (0x1, 0x2, 0x3) = ADDR
	add6                             3
	function                     calls
	greet                            3
	"depth": 3, "function": "greet"
	"depth": 0, "function": "main"
	ERROR: -L traces only the functions of -x, which is missing
	ERROR: calls has no function that matches -x nosuch
	ERROR: -s 0: from 1 to 1000
	WARNING: calls has no function of that name: nosuch
	function                     calls
	greet                            1
	snprintf                         1

NAME ltrace: names of C++ as the source has them
RUN
	"$SONDE" ltrace -q -L -C -x 'shop::Cart::add*+twice*' build/tests/classes 2>&1 | sed 's/ (0x.*//' | sort -u
	"$SONDE" ltrace -q -L -x '_ZN4shop4Cart*' build/tests/classes 2>&1 | sed 's/ (0x.*//'
	"$SONDE" ltrace -qc -L -C -x 'shop::Holder::~Holder()' --fields function,calls build/tests/classes 2>&1 | wc -l
NEEDS uprobe prog:classes x86_64
EXPECT
	int twice<int>(int, bool)
	shop::Cart::add(shop::Item const&, int)
	_ZN4shop4Cart3addERKNS_4ItemEi
	2

NAME ltrace: functions that go back to where others returned, and the end of a thread
RUN
	build/tests/astray >$TMPDIR/plain
	"$SONDE" ltrace -q build/tests/astray >$TMPDIR/traced 2>$TMPDIR/calls
	cmp $TMPDIR/plain $TMPDIR/traced && echo the same
	sed -n 's/ (.*//; /^_setjmp/p; /context/p; /vfork/p; /^printf/p' $TMPDIR/calls | sort | uniq -c
NEEDS uprobe prog:astray x86_64
EXPECT
	the same
	      1 _setjmp
	      2 getcontext
	      1 makecontext
	     11 printf
	      3 swapcontext
	      1 vfork

NAME ltrace: other processes have no breakpoints, but with -f, where children are to have them
RUN
	cat >"$TMPDIR/other.py" <<'X'
	import ctypes, subprocess, sys
	at = ctypes.cast(ctypes.CDLL("libc.so.6").snprintf, ctypes.c_void_p).value
	for more in [], ["-f"]:
	    p = subprocess.Popen([sys.argv[1], "ltrace", "-q", *more, "-e", "snprintf", "build/tests/calls", "1", "60000"], stderr=subprocess.PIPE)
	    while b"snprintf" not in p.stderr.readline():
	        pass
	    print(ctypes.string_at(at, 1) == b"\xcc")
	    p.terminate()
	    p.wait()
	X
	python3 -I "$TMPDIR/other.py" "$SONDE"
NEEDS uprobe prog:calls x86_64 cmd:python3
TIMEOUT 60
EXPECT
	False
	True

NAME ltrace: functions whose code is chosen at the start
RUN build/tests/calls 1 60000 & p=$!; "$SONDE" ltrace -qc -e 'strlen+snprintf' --fields function,calls build/tests/calls 7 2>&1 | sort; "$SONDE" ltrace -q -e strlen build/tests/calls 1 2>&1; kill $p
NEEDS uprobe prog:calls x86_64
EXPECT
	function                     calls
	snprintf                         7
	strlen                           7
	strlen ("hello") = 5

NAME ltrace -S: system calls, too
RUN
	"$SONDE" ltrace -q -S -e snprintf build/tests/calls 1 2>&1 | sed 's/0x[0-9a-f]\{5,\}/ADDR/g' | grep -A 9 '^snprintf'
	"$SONDE" ltrace -q -S -e snprintf build/tests/calls 1 2>&1 | grep -e '^SYS mmap(' -e uretprobe | cut -d'(' -f1 | sort -u
	"$SONDE" ltrace -qj -S -e snprintf build/tests/calls 1 | grep -o '"call": "exit_group.*'
NEEDS uprobe prog:calls x86_64 tp:raw_syscalls/sys_exit btf
EXPECT_RE
	snprintf \(ADDR, 64, "hello %s"\) = 11
	SYS exit_group\(0\) += \?
	SYS \+\+\+ exited with 0 \+\+\+
	SYS mmap
	"call": "exit_group\(0\) += \?"\}

NAME ltrace: of programs of Go no returns are probed; mistakes
RUN
	"$SONDE" ltrace -e nosuch build/tests/calls 2>&1
	for e in nosuch+snprintf+none* '!snprintf+nosuch'
	do "$SONDE" ltrace -qc -e "$e" build/tests/calls 1 2>&1 >/dev/null | grep 'WARN.*name:'
	done
	"$SONDE" ltrace 2>&1
	"$SONDE" ltrace /nope 2>&1
	cp build/tests/calls "$TMPDIR/go" && printf x >"$TMPDIR/s" &&
		objcopy --add-section .go.buildinfo="$TMPDIR/s" "$TMPDIR/go" && "$SONDE" -d script ltrace "$TMPDIR/go" |
		grep -c '^uretprobe'
	true
NEEDS uprobe prog:calls x86_64 cmd:objcopy
EXPECT_RE
	ERROR: .*/calls imports no function that a library of its defines and -e nosuch wants
	WARNING: .*/calls imports no function of that name: nosuch, none\*
	WARNING: .*/calls imports no function of that name: nosuch
	ERROR: ltrace needs a command, or -p PID
	ERROR: there is no program /nope
	0
