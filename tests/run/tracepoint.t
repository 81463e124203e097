NAME count
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @ = count(); }
LOAD syscalls 100
EXPECT
	$
	$
	@: 100

NAME alias
PROG t:syscalls:sys_enter_getppid /pid == cpid/ { @ = count(); }
LOAD syscalls 7
EXPECT
	$
	$
	@: 7

NAME enter and exit
PROG
	tracepoint:syscalls:sys_enter_kill /pid == cpid/ { @enter = count(); @pid[args.pid] = count(); @sig[args.sig] = count(); }
	tracepoint:syscalls:sys_exit_kill /pid == cpid/ { @ret[args.ret] = count(); }
LOAD syscalls 10 kill
EXPECT
	$
	$
	@enter: 10
	@pid[2147483646]: 10
	@ret[-3]: 10
	@sig[0]: 10

NAME old spelling of args
PROG tracepoint:syscalls:sys_exit_kill /pid == cpid/ { @[args->ret] = count(); }
LOAD syscalls 3 kill
EXPECT
	$
	$
	@[-3]: 3

NAME opened files
PROG tracepoint:syscalls:sys_enter_openat /pid == cpid && args.flags == 0/ { printf("%s %s\n", comm, str(args->filename)); }
LOAD open /etc/passwd /nowhere /dev/null
EXPECT
	open /etc/passwd
	open /nowhere
	open /dev/null
	$
	$

NAME madvise
PROG tracepoint:syscalls:sys_enter_madvise /args->behavior == 4 && pid == cpid/ { printf("madvise DONTNEED called\n"); @len[args.len_in] = count(); }
LOAD syscalls 2 madvise
EXPECT
	madvise DONTNEED called
	madvise DONTNEED called
	$
	$
	@len[4096]: 2

NAME wildcards and probe
PROG tracepoint:syscalls:sys_*_getppid /pid == cpid/ { @[probe] = "seen"; }
LOAD syscalls 4
EXPECT
	$
	$
	@[tracepoint:syscalls:sys_enter_getppid]: seen
	@[tracepoint:syscalls:sys_exit_getppid]: seen

NAME many points in one probe
PROG tracepoint:syscalls:sys_enter_get* /pid == cpid/ { @[probe] = count(); } END { print(@["tracepoint:syscalls:sys_enter_getppid"]); print(@["tracepoint:syscalls:sys_enter_getuid"]); clear(@); }
LOAD syscalls 6 mixed
TIMEOUT 30
EXPECT
	3
	3
	$
	$

NAME list of tracepoints with one body
PROG tracepoint:syscalls:sys_enter_getppid, tracepoint:syscalls:sys_enter_getuid /pid == cpid/ { @[probe] = count(); }
LOAD syscalls 7 mixed
EXPECT
	$
	$
	@[tracepoint:syscalls:sys_enter_getuid]: 3
	@[tracepoint:syscalls:sys_enter_getppid]: 4

NAME raw_syscalls
PROG
	tracepoint:raw_syscalls:sys_enter /pid == cpid && syscall_name(args.id) == "getppid"/ { @[comm] = count(); }
	tracepoint:raw_syscalls:sys_exit /pid == cpid && syscall_name(args.id) == "getppid"/ { @exit = count(); }
LOAD syscalls 50
EXPECT
	$
	$
	@[syscalls]: 50
	@exit: 50

NAME syscall arguments by number
PROG tracepoint:raw_syscalls:sys_enter /pid == cpid && syscall_name(args.id) == "lseek"/ { @fd[(int32)args.args[0]] = count(); @sum = sum(args.args[1]); }
LOAD syscalls 10 lseek
EXPECT
	$
	$
	@fd[-1]: 10
	@sum: 45

NAME sched_process_exec with a string in the data
PROG tracepoint:sched:sched_process_exec /comm == "true" && ppid == cpid/ { printf("%s %d\n", str(args.filename), args.pid == pid); }
LOAD run /bin/true
EXPECT
	/bin/true 1
	$
	$

NAME char arrays
PROG tracepoint:sched:sched_process_exit /pid == cpid/ { printf("%s %d\n", args.comm, args.pid == pid); }
LOAD syscalls 1
EXPECT
	syscalls 1
	$
	$

NAME sched_process_fork
PROG tracepoint:sched:sched_process_fork /pid == cpid/ { @[comm, args.parent_pid == pid] = count(); }
LOAD threads 3
EXPECT
	$
	$
	@[threads, true]: 3

NAME sched wildcards
PROG tracepoint:sched:sched* { @[probe] = count(); } interval:ms:500 { exit(); }
TIMEOUT 30
EXPECT_RE
	$
	$
	(@\[tracepoint:sched:[a-z_]*\]: [0-9]+)
	...

NAME sched_switch stays plausible
PROG tracepoint:sched:sched_switch { @n = count(); @p[args.prev_comm] = count(); } interval:ms:200 { if (@n > 0) { printf("some\n"); } exit(); } END { clear(@n); clear(@p); }
EXPECT
	some
	$
	$

NAME signed and unsigned fields
PROG tracepoint:syscalls:sys_exit_lseek /pid == cpid/ { @min = min(args.ret); @max = max(args.ret); @s = sum(args.ret); }
LOAD syscalls 4 lseek
EXPECT
	$
	$
	@max: -9
	@min: -9
	@s: -36

NAME block requests
PROG tracepoint:block:block_rq_complete { @ = hist(args->nr_sector * 512); } interval:ms:100 { exit(); } END { clear(@); }
NEEDS tp:block/block_rq_complete
EXPECT
	$
	$

NAME predicate with several terms
PROG tracepoint:syscalls:sys_enter_lseek /pid == cpid && args.offset >= 10 && (args.offset < 20 || args.offset == 50)/ { @ = count(); }
LOAD syscalls 100 lseek
EXPECT
	$
	$
	@: 11

NAME two programs on one tracepoint
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @a = count(); } tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @b = count(); }
LOAD syscalls 5
EXPECT
	$
	$
	@a: 5
	@b: 5

# Hot system calls run on the raw tracepoint, others on perf events, and without typed programs all do.
NAME both forms of a system call's event: fields
RUN
	for f in map_notes tp_btf
	do "$SONDE" -q --no-feature $f -e 'tracepoint:syscalls:sys_enter_lseek /pid == cpid/ { @n[syscall_name(args.__syscall_nr)] = count(); @fd[args.fd] = count(); @sum = sum(args.offset); @whence[args.whence] = count(); }
		tracepoint:syscalls:sys_exit_lseek /pid == cpid/ { @ret[args.ret, comm, tid == pid] = count(); }' -c "$SONDE_TESTS/syscalls 50 lseek"
	done 2>&1 | grep .
EXPECT
	@fd[4294967295]: 50
	@n[lseek]: 50
	@ret[-9, syscalls, true]: 50
	@sum: 1225
	@whence[0]: 50
	@fd[4294967295]: 50
	@n[lseek]: 50
	@ret[-9, syscalls, true]: 50
	@sum: 1225
	@whence[0]: 50

NAME both forms of a system call's event: calls of 32-bit programs are others
RUN
	for f in map_notes tp_btf
	do for n in getppid compat
	do "$SONDE" -q --no-feature $f -e 'begin { @ = 0; }
		tracepoint:syscalls:sys_enter_getppid, tracepoint:syscalls:sys_exit_getppid /pid == cpid/ { @++; }' -c "$SONDE_TESTS/syscalls 30 $n"
	done
	done 2>&1 | grep .
EXPECT
	@: 60
	@: 0
	@: 60
	@: 0
NEEDS x86_64

NAME system calls of processes that share a CPU: none is missed while another's program is preempted
RUN
	cp "$SONDE_TESTS/syscalls" "$TMPDIR/many"
	many() { "$SONDE" -q -c "sh -c 'for i in 1 2 3; do taskset 1 $TMPDIR/many 10000 lseek & done; wait'" -e "$1 /comm == \"many\" && $2/ { @ = count(); @s[kstack, ustack, tid, rand % 10] = count(); } end { print(@); clear(@); clear(@s); }" 2>&1 |
		grep -v 'stacks were cut' | grep .
	}
	many tracepoint:syscalls:sys_enter_lseek 1
	many tracepoint:syscalls:sys_exit_lseek args.ret==-9
	many rawtracepoint:sys_enter 'syscall_in(args.id, "lseek")'
	many tracepoint:raw_syscalls:sys_exit 'syscall_in(args.id, "lseek")'
NEEDS prog:syscalls btf cmd:taskset
TIMEOUT 40
EXPECT
	@: 30000
	@: 30000
	@: 30000
	@: 30000

NAME a few system calls by one program
PROG tracepoint:syscalls:sys_enter_getppid, tracepoint:syscalls:sys_enter_getuid /pid == cpid/ { @[probe] = count(); }
LOAD syscalls 21 mixed
EXPECT
	$
	$
	@[tracepoint:syscalls:sys_enter_getuid]: 10
	@[tracepoint:syscalls:sys_enter_getppid]: 11

NAME args as a whole
PROG
	tracepoint:syscalls:sys_exit_kill /pid == cpid/ { print(args); @ = args; @k[args] = count(); $a = args; print($a.ret); }
	tracepoint:raw_syscalls:sys_exit /pid == cpid && args.ret == -3/ { printf("%s\n", args); }
LOAD syscalls 1 kill
EXPECT_RE
	\{ \.__syscall_nr = (62|129), \.ret = -3 \}
	-3
	\{ \.id = (62|129), \.ret = -3 \}
	$
	$
	@: \{ \.__syscall_nr = (62|129), \.ret = -3 \}
	@k\[\{ \.__syscall_nr = (62|129), \.ret = -3 \}\]: 1

NAME args as a whole: text behind the event
RUN "$SONDE" -q -c '/bin/true' -e 'tracepoint:sched:sched_process_exec /pid == cpid/ { print(args); if (0) { print(kstack); } }' | sed 's/[0-9][0-9]*/N/g' | grep .
EXPECT
	{ .filename = /bin/true, .pid = N, .old_pid = N }

NAME addresses of texts, contexts and typed pointers are numbers to calculate with
RUN
	for p in 'tracepoint:sched:sched_process_exec args.filename' 'profile:hz:1 ctx' 'iter:task ctx.task' 'iter:task_file ctx.file' 'rawtracepoint:sched_process_fork args.parent' 'rawtracepoint:sched_process_fork curtask'
	do for use in '@[P] = count()' '@k[P, 1] = hist(P); delete(@k, (P, 1))' '@ = sum((uint64)P); @m = max(P); @s = stats(P)' '@ = P & 7; @p = P + 8; @k[P + 8] = 1; @c = P > 5' '$p = P; $p++; @[$p] = $p >> 3' 'for $i : 0..100 { @[P] = count() }' '$p = pid ? P : P; @[$p] = ((uint64)P) * 3' '@ts = tseries((uint64)P, 1s, 5)'
	do use=$(printf %s "$use" | sed "s/P/${p#* }/g")
	"$SONDE" --no-warnings --dry-run -q -e "${p% *} { $use }" || echo "${p% *} { $use }"
	done
	done | grep .
TIMEOUT 60
RC 1
EXPECT

NAME the address of a text as a key
RUN
	"$SONDE" --no-warnings -q -c '/bin/true' -e 'tracepoint:sched:sched_process_exec /pid == cpid/ { @[args.filename] = count(); @same = (uint64)args.filename == ((uint64)args.filename + 8) - 8; }' |
		sed 's/0x[0-9a-f]*/ADDRESS/'
NEEDS tp:sched/sched_process_exec
EXPECT
	$
	$
	@[ADDRESS]: 1
	@same: true

NAME errno of system calls: one, several in one program, all
RUN
	for p in tracepoint:syscalls:sys_exit_openat 'tracepoint:syscalls:sys_exit_open*' tracepoint:raw_syscalls:sys_exit
	do "$SONDE" -q -c 'build/tests/open /dev/null/x /dev/null' -e "$p /pid == cpid/ { if (errno == 20) { @[errno, strerror(errno)] = count(); } @same[errno == (args.ret < 0 ? -args.ret : 0)] = 1; }" |
		grep .
	done
EXPECT
	@[20, Not a directory]: 1
	@same[true]: 1
	@[20, Not a directory]: 1
	@same[true]: 1
	@[20, Not a directory]: 1
	@same[true]: 1

NAME system calls by their names
RUN
	"$SONDE" -q -c 'build/tests/open /dev/null/x /dev/null' -e 'syscall:openat, syscall:open /pid == cpid/ { @[str(args.filename)] = 1; }
		syscall:openat:return, syscall:open:return /pid == cpid && errno == 20/ { @failed[errno] = count(); }
		syscall:clos*:return /pid == cpid/ { @closed[probe, args.ret == 0] = 1; }' | grep 'null\|ed'
	"$SONDE" -l 'syscall:*:return' | grep -x -e syscall:uname:return -e syscall:openat:return | sort
	"$SONDE" -l '*:*openat*' | grep -c syscall: || true
EXPECT
	@[/dev/null]: 1
	@[/dev/null/x]: 1
	@closed[syscall:close:return, true]: 1
	@failed[20]: 1
	syscall:openat:return
	syscall:uname:return
	0
