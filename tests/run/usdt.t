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
PROG usdt:/lib/x86_64-linux-gnu/libc.so.6:memory_arena_new /pid == cpid/ { @ = count(); }
LOAD threads 3
NEEDS usdt:/lib/x86_64-linux-gnu/libc.so.6
EXPECT_RE
	$
	$
	@: [1-9][0-9]*

NAME by process
RUN build/tests/tracetest 1 & "$SONDE" -c 'build/tests/tracetest 3' -e 'usdt:build/tests/tracetest:testprobe /pid == cpid/ { @ = count(); }'; wait
NEEDS prog:tracetest
EXPECT
	$
	$
	@: 3
