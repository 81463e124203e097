NAME one argument
PROG usdt:./build/tests/tracetest:testprobe /pid == cpid/ { printf("%d: time is %d\n", pid == cpid, arg0 > 1600000000); }
LOAD tracetest 2
NEEDS prog:tracetest
EXPECT
	1: time is 1
	1: time is 1
	$
	$

NAME with the provider
PROG usdt:build/tests/tracetest:tracetest:testprobe /pid == cpid/ { @ = count(); }
LOAD tracetest 5
NEEDS prog:tracetest
EXPECT
	$
	$
	@: 5

NAME alias
PROG U:build/tests/tracetest:tracetest:testprobe /pid == cpid/ { @ = count(); }
LOAD tracetest 5
NEEDS prog:tracetest
EXPECT
	$
	$
	@: 5

NAME arguments of every size
PROG usdt:build/tests/tracetest:many /pid == cpid/ { printf("%d %d %d %ld %s\n", arg0, arg1, arg2, arg3, str(arg4)); }
LOAD tracetest 2
NEEDS prog:tracetest
EXPECT
	0 -7 65000 1099511627776 text
	1 -7 65000 1099511627776 text
	$
	$

NAME no arguments
PROG usdt:build/tests/tracetest:none /pid == cpid/ { @[probe] = count(); }
LOAD tracetest 3
NEEDS prog:tracetest
EXPECT
	$
	$
	@[usdt:build/tests/tracetest:tracetest:none]: 3

NAME wildcard
PROG usdt:build/tests/tracetest:tracetest:* /pid == cpid/ { @[probe] = "seen"; }
LOAD tracetest 3
NEEDS prog:tracetest
EXPECT
	$
	$
	@[usdt:build/tests/tracetest:tracetest:many]: seen
	@[usdt:build/tests/tracetest:tracetest:none]: seen
	@[usdt:build/tests/tracetest:tracetest:testprobe]: seen

NAME probes of libc
PROG usdt:/lib/ARCH-linux-gnu/libc.so.6:pthread_start /pid == cpid/ { @ = count(); }
LOAD threads 3
NEEDS usdt:/lib/ARCH-linux-gnu/libc.so.6
EXPECT_RE
	$
	$
	@: 3

NAME by process
RUN build/tests/tracetest 1 & "$SONDE" -c 'build/tests/tracetest 3' -e 'usdt:build/tests/tracetest:testprobe /pid == cpid/ { @ = count(); }'; wait
NEEDS prog:tracetest
EXPECT
	$
	$
	@: 3

NAME arguments in registers of every width
PROG usdt:build/tests/usdtforms:regs /pid == cpid/ { printf("%lx %d %x %d %x %lx %x %x %x\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8); }
LOAD usdtforms 1
NEEDS prog:usdtforms
EXPECT
	8182838485868788 -2054781048 8788 -120 87 9192939495969798 95969798 9798 98
	$
	$

NAME arguments in memory, with index and scale
PROG usdt:build/tests/usdtforms:memory /pid == cpid/ { printf("%lx %d %lx %d %d %lx %x\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6); }
LOAD usdtforms 1
NEEDS prog:usdtforms
EXPECT
	200000001 3 400000003 4 -2 400000003 0
	$
	$

NAME arguments that are symbols
PROG usdt:build/tests/usdtforms:symbols /pid == cpid/ { printf("%lx %x %d %d %x\n", arg0, arg1, arg2 == (uint64)uaddr("word"), arg3, arg4); }
LOAD usdtforms 1
NEEDS prog:usdtforms x86_64
EXPECT
	1122334455667788 11223344 1 101 11
	$
	$

NAME symbols of a program that is moved
RUN
	cc -pie -fPIE -O1 -o $TMPDIR/moved tests/progs/usdtforms.c 2>/dev/null &&
	"$SONDE" -c "$TMPDIR/moved 1" -e "usdt:$TMPDIR/moved:symbols { printf(\"%lx %x %d %x\n\", arg0, arg1, arg3, arg4); }"
NEEDS prog:usdtforms cmd:cc fast
EXPECT
	1122334455667788 11223344 101 11
	$
	$

NAME arguments that are constants
PROG usdt:build/tests/usdtforms:consts /pid == cpid/ { printf("%d %d %d %d %d\n", arg0, arg1, arg2, arg3, arg4); }
LOAD usdtforms 1
NEEDS prog:usdtforms
EXPECT
	-3 16 255 -1 -1
	$
	$

NAME an argument that cannot be read, beside one that can
PROG usdt:build/tests/usdtforms:floats /pid == cpid/ { print(arg1); }
LOAD usdtforms 1
NEEDS prog:usdtforms
EXPECT
	7
	$
	$

NAME a floating point argument in memory
PROG usdt:build/tests/usdtforms:floats /pid == cpid/ { print((arg2, args.arg2, arg2 > 1, arg2 > 2, (int64)arg2)); }
LOAD usdtforms 1
NEEDS prog:usdtforms
EXPECT
	(1.5, 1.5, true, false, 1)
	$
	$

NAME a floating point argument in a register for numbers
PROG usdt:build/tests/usdtforms:bits /pid == cpid/ { print((arg0, arg1)); }
LOAD usdtforms 1
NEEDS prog:usdtforms aarch64
EXPECT
	(1.5, 0)
	$
	$

NAME what an operand of aarch64 does not say
PROG usdt:build/tests/usdtforms:symbols { print(arg0); }
NEEDS prog:usdtforms aarch64
EXPECT
ERR
	stdin:1:44-48: ERROR: arg0 of usdt:build/tests/usdtforms:forms:symbols is 8@[x19, #:lo12:word], which programs in the kernel cannot read
	usdt:build/tests/usdtforms:symbols { print(arg0); }
	                                           ~~~~
RC 1

NAME a floating point argument
PROG usdt:build/tests/usdtforms:floats { print(arg0); }
NEEDS prog:usdtforms x86_64
EXPECT
ERR
	stdin:1:43-47: ERROR: arg0 of usdt:build/tests/usdtforms:forms:floats is 8f@%xmm0, which programs in the kernel cannot read
	usdt:build/tests/usdtforms:floats { print(arg0); }
	                                          ~~~~
RC 1

NAME one name at several places, arguments elsewhere in each
PROG usdt:build/tests/usdtforms:places /pid == cpid/ { @[probe, arg0] = count(); }
LOAD usdtforms 2
NEEDS prog:usdtforms
EXPECT
	$
	$
	@[usdt:build/tests/usdtforms:forms:places, 10]: 2
	@[usdt:build/tests/usdtforms:forms:places, 20]: 2
	@[usdt:build/tests/usdtforms:forms:places, 30]: 2

NAME list of a file
RUN "$SONDE" -l 'usdt:build/tests/usdtforms:*' | grep -v -e :bits -e :libc:
NEEDS prog:usdtforms
EXPECT
	usdt:build/tests/usdtforms:forms:regs
	usdt:build/tests/usdtforms:forms:memory
	usdt:build/tests/usdtforms:forms:symbols
	usdt:build/tests/usdtforms:forms:consts
	usdt:build/tests/usdtforms:forms:floats
	usdt:build/tests/usdtforms:forms:places

NAME list with types
RUN "$SONDE" -lv 'usdt:build/tests/usdtforms:forms:floats'
NEEDS prog:usdtforms x86_64
EXPECT
	usdt:build/tests/usdtforms:forms:floats
	    (8f@%xmm0) arg0
	    uint64 arg1
	    double arg2
	    (8@%fs:0x28) arg3

NAME list of a process
RUN
	build/tests/usdtforms 1 1500 & p=$!
	while [ ! -e /proc/$p/exe ] || ! grep -q usdtforms /proc/$p/maps; do sleep 0.05; done
	"$SONDE" -p $p -l 'usdt:*' | grep usdtforms | grep -v -e :bits -e :libc: | sed 's,.*/build,build,'
	"$SONDE" -p $p -l 'usdt:*:places' | grep usdtforms | grep -v -e :bits -e :libc: | sed 's,.*/build,build,'
	wait
NEEDS prog:usdtforms
EXPECT
	build/tests/usdtforms:forms:regs
	build/tests/usdtforms:forms:memory
	build/tests/usdtforms:forms:symbols
	build/tests/usdtforms:forms:consts
	build/tests/usdtforms:forms:floats
	build/tests/usdtforms:forms:places
	build/tests/usdtforms:forms:places

NAME library by its name
PROG usdt:libc:pthread_start /pid == cpid/ { @ = count(); }
LOAD threads 3
NEEDS usdt:/lib/ARCH-linux-gnu/libc.so.6
EXPECT_RE
	$
	$
	@: 3

NAME wildcard in the name of a probe
PROG usdt:build/tests/usdtforms:forms:const[a-z] /pid == cpid/ { @ = count(); }
LOAD usdtforms 2
NEEDS prog:usdtforms
EXPECT
	$
	$
	@: 2

NAME texts in pages that are not in memory
PROG usdt:build/tests/absent:absent:see /pid == cpid/ { printf("%s, %s\n", str(arg0), str(arg1)); }
ARGS -q
LOAD absent 2
NEEDS feature:SLEEPABLE
EXPECT
	in one page, xxxxxxxxxxxxxxxxxxxx
	in one page, xxxxxxxxxxxxxxxxxxxx
	$
	$
ERR

NAME arguments in pages that are not in memory
RUN "$SONDE" -q -c build/tests/sdtmem -e 'usdt:build/tests/sdtmem:app:there { printf("%d\n", arg0); @[arg0] = count(); }' 2>&1
NEEDS x86_64 prog:sdtmem feature:SLEEPABLE
EXPECT
	40
	50
	60
	$
	$
	@[40]: 1
	@[50]: 1
	@[60]: 1

NAME arguments in pages that are not in memory are reported where nothing can wait for them
RUN "$SONDE" -q --no-feature SLEEPABLE -c build/tests/sdtmem -e 'usdt:build/tests/sdtmem:app:there { @[arg0] = count(); }' 2>&1 | grep .
NEEDS x86_64 prog:sdtmem
EXPECT
	@[0]: 3
	WARNING: 3 reads of memory failed and gave 0 or an empty text (usdt:build/tests/sdtmem:app:there: 3): the address was not valid, or its page was not in memory; -k counts reads of NULL, too
