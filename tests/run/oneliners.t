# The lines that made dynamic tracing famous, as typed; what they print is the machine's own.
NAME system calls that can be traced
RUN "$SONDE" -l 'tracepoint:syscalls:sys_enter_*' | awk '/^tracepoint:syscalls:sys_enter_[a-z0-9_]+$/ { n++ } END { print (n == NR && n > 250 ? "many" : NR) }'
EXPECT
	many

NAME hello world
RUN "$SONDE" -e 'BEGIN { printf("hello world\n"); }'
EXPECT
	hello world
	$
	$

NAME files opened, by process
RUN "$SONDE" -c 'build/tests/open /etc/hostname' -e 'tracepoint:syscalls:sys_enter_openat { printf("%s %s\n", comm, str(args->filename)); }' | grep -c -x 'open /etc/hostname'
EXPECT
	1

NAME system calls by process
RUN
	"$SONDE" -c 'build/tests/syscalls 20000' -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }' |
		awk -F ': ' '$1 == "@[syscalls]" && $2 >= 20000 && $2 < 20100 { print "as many as it made" }'
EXPECT
	as many as it made

NAME sizes of the reads of a process
RUN build/tests/spin 10 1500 & "$SONDE" -e "tracepoint:syscalls:sys_exit_read /pid == $!/ { @bytes = hist(args->ret); } interval:ms:300 { exit(); }"; wait
EXPECT
	$
	$

NAME scheduler events
RUN "$SONDE" -e 'tracepoint:sched:sched* { @[probe] = count(); } interval:s:1 { exit(); }' | grep -c -x -E '@\[tracepoint:sched:sched_(switch|wakeup)\]: [0-9]+'
TIMEOUT 30
EXPECT
	2

NAME kernel stacks by sampling
RUN "$SONDE" -c 'build/tests/spin 300' -e 'profile:hz:99 { @[kstack] = count(); }' >"$TMPDIR/o"; grep -q -x '\]: [0-9]*' "$TMPDIR/o" && echo stacks
EXPECT
	stacks

NAME kernel stacks of context switches
RUN "$SONDE" -c 'build/tests/spin 300' -e 'tracepoint:sched:sched_switch { @[kstack] = count(); }' >"$TMPDIR/o"; grep -q -E '^        (__)?schedule\+[0-9]+$' "$TMPDIR/o" && echo stacks
EXPECT
	stacks

NAME sizes of block requests
RUN timeout -s INT 1 "$SONDE" -e 'tracepoint:block:block_rq_complete { @ = hist(args->nr_sector * 512); }' >/dev/null; echo done
NEEDS tp:block/block_rq_complete
EXPECT
	done

NAME memory given back
RUN "$SONDE" -c 'build/tests/syscalls 3 madvise' -e 'tracepoint:syscalls:sys_enter_madvise /args->behavior == 4/ { printf("madvise DONTNEED called\n"); }' | sort | uniq
EXPECT
	$
	madvise DONTNEED called

NAME bytes read, in a line
RUN "$SONDE" -c 'build/tests/rw r100 r300' -e 'kretprobe:vfs_read { @bytes = lhist(retval, 0, 2000, 200); }' | grep -c -E '^\[(0, 200|200, 400)\) +[0-9]+ \|'
NEEDS kprobe
EXPECT
	2

NAME latency of reads
RUN
	"$SONDE" -c 'build/tests/rw r100 r300' -e 'kprobe:vfs_read { @start[tid] = nsecs; }
		kretprobe:vfs_read /@start[tid]/ { @ns[comm] = hist(nsecs - @start[tid]); delete(@start[tid]); }' |
		grep -x '@ns.rw.:'
NEEDS kprobe
EXPECT
	@ns[rw]:

NAME start-up is small
RUN "$SONDE" -q -e 'interval:s:1 { exit(); }' >/dev/null & sleep 0.6; awk '$1 == "VmHWM:" { print ($2 < 10240 ? "under 10 MiB" : $0) }' /proc/$!/status; wait
EXPECT
	under 10 MiB

NAME the commands of README
RUN sh tests/checks/console.sh "$SONDE" README.md | awk '/^[0-9]+: as documented$/ { n++; next } { print } END { print n " blocks as documented" }'
NEEDS slow btf uprobe tracefs
TIMEOUT 60
EXPECT
	4 blocks as documented

NAME the commands of the tutorial
RUN sh tests/checks/console.sh "$SONDE" docs/tutorial.md | awk '/^[0-9]+: as documented$/ { n++; next } { print } END { print n " blocks as documented" }'
NEEDS btf uprobe tracefs cmd:cc fast
TIMEOUT 60
EXPECT
	15 blocks as documented
