NAME tasks
PROG iter:task { @n = count(); if (ctx.task.pid == cpid) { printf("%s %d\n", ctx.task.comm, ctx.task.tgid == cpid); } } END { print(@n > 3); clear(@n); }
LOAD spin 300
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	spin 1
	true
	$
	$

NAME open files of all tasks, with their numbers
PROG iter:task_file /ctx.task.tgid == cpid/ { @fd[ctx.fd] = count(); printf("%d %d\n", ctx.fd, ctx.file.f_op != 0); }
LOAD spin 300
NEEDS btf sym:bpf_iter_new_fd
EXPECT_RE
	0 1
	1 1
	2 1
	...
	@fd\[0\]: 1
	...

NAME mappings
RUN
	if "$SONDE" -l iter:task_vma | grep -q .
	then "$SONDE" -q -c 'build/tests/spin 300' -e 'iter:task_vma /ctx.task.tgid == cpid/ { @ = count(); @bad += ctx.vma.vm_start >= ctx.vma.vm_end; }
		END { print(@ > 3); print(@bad); clear(@); clear(@bad) }'
	else printf 'true\n@bad: 0\n\n\n'
	fi
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	true
	@bad: 0
	$
	$

NAME several iterators beside other probes
PROG
	BEGIN { @order = 1; } iter:task /@order == 1/ { @tasks = count(); } iter:bpf_map { @maps = count(); }
	interval:ms:50 { exit() } END { print(@tasks > 0); print(@maps > 0); clear(@tasks); clear(@maps); clear(@order) }
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	true
	true
	$
	$

NAME a script of iterators ends by itself
PROG iter:task /ctx.meta.seq_num == 0/ { printf("first\n"); }
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	first
	$
	$

NAME list
RUN "$SONDE" -l 'iter:task*' | grep -x -e iter:task -e iter:task_file; "$SONDE" -lv iter:task_file | head -n 5
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	iter:task
	iter:task_file
	iter:task_file
	    struct bpf_iter_meta * meta
	    struct task_struct * task
	    u32 fd
	    struct file * file

NAME loops and results
PROG iter:task /ctx.task.pid == pid/ { for $i : 0..100 { if ($i == 99) { printf("%d\n", $i); return 1; } } }
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	99
	$
	$

# A name is one below /sys/fs/bpf; each run mounts a file system of its own there.
NAME pinned: every conversion
RUN
	unshare -m sh -c 'mount -t bpf bpf /sys/fs/bpf && "$SONDE" -q -e "iter:task:sonde_test /ctx.task.pid == pid/ { printf(\"%s|%10s|%-10s|%.3s|%c|%-3c|%d|%5d|%-5u|%05x|%hhx|%lld|%s|%7s|%p|%%|%s|%s|%d|%s\n\", ctx.task.comm, ctx.task.comm, ctx.task.comm, ctx.task.comm, 65, 66, -7, 42, 43, 255, 0x1ff, -5, true, false, 4096, probe, \"literal\", true, -3); }" && head -n 1 /sys/fs/bpf/sonde_test'
NEEDS btf sym:bpf_iter_new_fd cmd:unshare
EXPECT
	Program pinned to /sys/fs/bpf/sonde_test
	$
	$
	head|      head|head      |hea|A|B  |-7|   42|43   |000ff|ff|-5|true|  false|0x1000|%|iter:task:sonde_test|literal|1|-3

NAME pinned: maps, long texts and those that were cut
RUN
	unshare -m bash -c 'mount -t bpf bpf /sys/fs/bpf && "$SONDE" -q -e "config = { max_strlen = 200 } iter:task:/sys/fs/bpf/sonde_test /ctx.task.pid == pid/ { @n++; if (@n < 9) { printf(\"%d %s\n\", @n, str(uptr(ctx.task.mm.arg_start))); } }" 2>&1 | grep -v -e @n++ -e "~"; for n in 3 150 300; do (exec -a $(printf "x%.0s" $(seq $n)) bash -c "while read -r l; do echo \"\$l\"; done </sys/fs/bpf/sonde_test") | sed "s/x\{50\}/X/g"; done'
NEEDS btf sym:bpf_iter_new_fd cmd:unshare cmd:bash
EXPECT_RE
	Program pinned to /sys/fs/bpf/sonde_test
	stdin:1:.*: WARNING: maps of a pinned iterator are not printed by anybody
	$
	$
	1 xxx
	2 XXX
	3 XXXX\.\.

NAME pinned: loops, two at once
RUN
	unshare -m sh -c 'mount -t bpf bpf /sys/fs/bpf && "$SONDE" -q -e "iter:task:sonde_a, iter:task_file:sonde_b /ctx.task.pid == pid/ { for \$i : 0..40 { if (\$i == 39) { printf(\"%d %s\n\", \$i, ctx.task.group_leader.comm); } } }" && cat /sys/fs/bpf/sonde_a; head -n 1 /sys/fs/bpf/sonde_b 2>/dev/null'
NEEDS btf sym:bpf_iter_new_fd cmd:unshare
EXPECT
	Program pinned to /sys/fs/bpf/sonde_a
	Program pinned to /sys/fs/bpf/sonde_b
	$
	$
	39 cat
	39 head

NAME pinned: what is in the way
RUN
	unshare -m sh -c 't() { "$SONDE" -q -e "iter:task:$1 { printf(\"x\n\"); }" 2>&1 | grep -e ERROR -e Program; }; umount /sys/fs/bpf 2>/dev/null; t sonde_c; mount -t bpf bpf /sys/fs/bpf; t sonde_c; t sonde_c; t sub/sonde_c; t /tmp/sonde_c; rm /sys/fs/bpf/sonde_c; t sonde_c; "$SONDE" -q -e "iter:task:sonde_d, iter:task_file:sonde_c { printf(\"x\n\"); }" 2>&1 | grep ERROR; ls /sys/fs/bpf | grep sonde'
NEEDS btf sym:bpf_iter_new_fd cmd:unshare
EXPECT
	stdin:1:1-18: ERROR: pin to /sys/fs/bpf/sonde_c: /sys/fs/bpf is not in a BPF file system; mount one with: mount -t bpf bpf /sys/fs/bpf
	Program pinned to /sys/fs/bpf/sonde_c
	stdin:1:1-18: ERROR: pin to /sys/fs/bpf/sonde_c: the file exists; if nobody needs it, remove it with: rm /sys/fs/bpf/sonde_c
	stdin:1:1-22: ERROR: pin to /sys/fs/bpf/sub/sonde_c: /sys/fs/bpf/sub: No such file or directory
	stdin:1:1-23: ERROR: pin to /tmp/sonde_c: /tmp is not in a BPF file system; mount one with: mount -t bpf bpf /sys/fs/bpf
	Program pinned to /sys/fs/bpf/sonde_c
	stdin:1:20-42: ERROR: pin to /sys/fs/bpf/sonde_c: the file exists; if nobody needs it, remove it with: rm /sys/fs/bpf/sonde_c
	sonde_c

NAME control groups: all, those of --cgroup and below, pinned
RUN
	m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1); d=$m/sonde_$$; mkdir -p $d/in $d.b
	script='iter:cgroup { printf("%d %s\n", ctx.cgroup->level, str(ctx.cgroup->kn->name)); }'
	"$SONDE" -q -e "$script" | sed "s/sonde_$$/GROUP/" | grep -e GROUP -e '^0 $' -e '^2 in$'
	"$SONDE" -q --cgroup $d/in --cgroup $d.b -e "$script" | sed "s/sonde_$$/GROUP/"
	unshare -m sh -c 'umount /sys/fs/bpf 2>/dev/null; mount -t bpf bpf /sys/fs/bpf; d=$1
		"$SONDE" -q --cgroup $d -e "iter:cgroup:sonde_g { printf(\"%d\\n\", ctx.cgroup->level); }" >/dev/null && cat /sys/fs/bpf/sonde_g; rm /sys/fs/bpf/sonde_g
		"$SONDE" -q --cgroup $d --cgroup $d.b -e "iter:cgroup:sonde_g { printf(\"%d\\n\", ctx.cgroup->level); }" 2>&1 | grep -o "pin iter:cgroup.*"' sh $d
	rmdir $d/in $d $d.b
NEEDS btf sym:bpf_iter_cgroup file:/sys/fs/cgroup
EXPECT
	0 
	1 GROUP
	2 in
	1 GROUP.b
	2 in
	1 GROUP.b
	$
	$
	1
	2
	pin iter:cgroup: one file is for one control group. If this is expected, set the 'missing_probes' config variable to 'warn'.

NAME exit() in an iterator hides nothing that its other calls print
RUN
	"$SONDE" -q -e 'iter:task { @ = count(); printf("task\n"); exit(3); }' >$TMPDIR/out
	echo $?
	[ $(grep -c task $TMPDIR/out) = $(sed -n 's/@: //p' $TMPDIR/out) ] && [ $(grep -c task $TMPDIR/out) -gt 1 ] && echo same
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	3
	same

# Reading an iterator is itself a system call.
NAME iterators are read whole, and in their order, whoever calls exit() before
PROG rawtracepoint:sys_enter /pid == self_pid/ { exit(); } iter:task { @tasks = 1; @late = @maps; } iter:bpf_map { @maps = 1; }
ARGS -q
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	$
	$
	@late: 0
	@maps: 1
	@tasks: 1

# The member is in an anonymous union since Linux 7.1; tasks without a file there are skipped.
NAME path of an open file
RUN exec 9</dev/null; for to in ctx.file.f_path 'ctx->file->f_path'; do "$SONDE" -q -e "iter:task_file /ctx.task.tgid == $$ && ctx.fd == 9/ { printf(\"%s\n\", path($to)); }" | grep .; done
NEEDS btf sym:bpf_iter_new_fd since:6.1
EXPECT
	/dev/null
	/dev/null

NAME path of what another structure leads to
RUN "$SONDE" -e 'iter:task_file { printf("%s", path(ctx.task.fs.pwd)); }' 2>&1 | head -n 1
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	stdin:1:36-51: ERROR: path() expects a struct path reached from the probe's arguments (struct path provided)

NAME what a task does that an iterator comes to
RUN
	"$SONDE" -q -c 'build/tests/spin 300' -e 'iter:task /ctx.task.tgid == 2/ { printf("%s %d [%s]", ksym(task_wchan), task_syscall, task_kstack(1)); print(task_kstack(perf, 1)); print(task_kstack); print(task_ustack); print(task_ustack(3)); print(task_ustack(native, 3)); }'
EXPECT_RE
	kthreadd -1 \[
	        kthreadd\+[0-9]+
	\]
	.*ffff[0-9a-f]+ kthreadd\+[0-9]+
	$
	$
	        kthreadd\+[0-9]+
	...
NEEDS btf dwunwind sym:bpf_iter_new_fd

NAME tasks other than the current one are those of iterators
PROG begin { print(task_ustack); print(task_kstack(2)); print(task_syscall); }
ERR
	stdin:1:15-26: ERROR: task_ustack is about the task that an iterator comes to: iter:task, for example
	begin { print(task_ustack); print(task_kstack(2)); print(task_syscall); }
	              ~~~~~~~~~~~
	stdin:1:35-49: ERROR: task_kstack is about the task that an iterator comes to: iter:task, for example
	begin { print(task_ustack); print(task_kstack(2)); print(task_syscall); }
	                                  ~~~~~~~~~~~~~~
	stdin:1:58-70: ERROR: task_syscall is about the task that an iterator comes to: iter:task, for example
	begin { print(task_ustack); print(task_kstack(2)); print(task_syscall); }
	                                                         ~~~~~~~~~~~~
RC 1
NEEDS btf

NAME nobody reads user stacks for a pinned iterator
PROG iter:task:sonde_task_test { printf("%s", task_ustack); }
ERR
	stdin:1:42-53: ERROR: task_ustack needs sonde, which has ended when a pinned iterator is read
	iter:task:sonde_task_test { printf("%s", task_ustack); }
	                                         ~~~~~~~~~~~
RC 1
NEEDS btf dwunwind sym:bpf_iter_new_fd
