# Names of addresses in processes that have gone when they are printed.

NAME functions of a short command
PROG uprobe:build/tests/stack:inner /pid == cpid/ { @f[func] = count(); @s[usym(reg("ip"))] = count(); @u[ustack(2)] = count(); }
LOAD stack 3
EXPECT_RE
	$
	$
	@f\[inner\]: 3
	@s\[inner\]: 3
	@u\[
	        inner\+0
	        (middle|outer)\+[0-9]+
	\]: 3
NEEDS uprobe

NAME stacks of a short command in perf form
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack(perf, 2)] = count(); }
LOAD stack 2
EXPECT_RE
	$
	$
	@\[
		[0-9a-f]+ inner\+[0-9]+ \(.*/build/tests/stack\)
		[0-9a-f]+ middle\+[0-9]+ \(.*/build/tests/stack\)
	\]: 2
NEEDS tracefs

NAME stack of a short command as a record
PROG uprobe:build/tests/stack:inner /pid == cpid/ { print(ustack(1)); printf("%s\n", usym(reg("ip"))); }
LOAD stack 1
EXPECT
	$
	        inner+0
	$
	inner
	$
	$
NEEDS uprobe

NAME libraries of a short command
PROG uprobe:libc:getpid { } tracepoint:syscalls:sys_enter_exit_group /pid == cpid/ { @[ustack(perf, 1)] = count(); }
LOAD calls 1
EXPECT_RE
	$
	$
	@\[
		[0-9a-f]+ .*_exit\+[0-9]+ \(/.*libc.*\)
	\]: 1
NEEDS tracefs uprobe

NAME after exec in the same process
RUN "$SONDE" -q -c "sh -c 'exec build/tests/stack 2'" -e 'tracepoint:syscalls:sys_enter_getppid /pid == cpid && comm == "stack"/ { @[ustack(3)] = count(); }'
EXPECT_RE
	$
	$
	@\[
	        inner\+[0-9]+
	        middle\+[0-9]+
	        outer\+[0-9]+
	\]: 2
NEEDS tracefs

NAME processes that the command starts
RUN "$SONDE" -q -c "sh -c 'build/tests/stack 2; build/tests/stack 3; true'" -e 'tracepoint:syscalls:sys_enter_getppid /pid != cpid && comm == "stack"/ { @[ustack(1)] = count(); }'
EXPECT_RE
	$
	$
	@\[
	        inner\+[0-9]+
	\]: 2
	@\[
	        inner\+[0-9]+
	\]: 3
NEEDS tracefs
ALONE

NAME forked child without exec
PROG tracepoint:syscalls:sys_enter_getppid /pid != cpid && comm == "stack"/ { @[ustack(2)] = count(); }
LOAD stack 4 0 fork
EXPECT_RE
	$
	$
	@\[
	        inner\+[0-9]+
	        middle\+[0-9]+
	\]: 4
NEEDS tracefs
ALONE

NAME generated code by the list that the process keeps
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(perf, 1)); }
LOAD jit 500
EXPECT_RE
	$
		[0-9a-f]+ Made::here\(int\)\+1[16] \(/tmp/perf-[0-9]+\.map\)
	$
	$
	$
NEEDS tracefs prog:jit

NAME without notes of mappings a process that lives is read
RUN "$SONDE" -v --no-feature map_notes -c 'build/tests/stack 3 300' -e 'uprobe:build/tests/stack:inner /pid == cpid/ { @[func] = count(); }' 2>&1 | grep -v -e ' verified$' -e '^rights ' -e '^files of'
EXPECT
	WARNING: names of processes that end may be missing: records of the mappings of processes (perf events): not allowed
	Attached 1 probe
	$
	$
	@[inner]: 3
NEEDS uprobe
