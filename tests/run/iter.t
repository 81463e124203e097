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
RUN if "$SONDE" -l iter:task_vma | grep -q .; then "$SONDE" -q -c 'build/tests/spin 300' -e 'iter:task_vma /ctx.task.tgid == cpid/ { @ = count(); @bad += ctx.vma.vm_start >= ctx.vma.vm_end; } END { print(@ > 3); print(@bad); clear(@); clear(@bad) }'; else printf 'true\n@bad: 0\n\n\n'; fi
NEEDS btf sym:bpf_iter_new_fd
EXPECT
	true
	@bad: 0
	$
	$

NAME several iterators beside other probes
PROG BEGIN { @order = 1; } iter:task /@order == 1/ { @tasks = count(); } iter:bpf_map { @maps = count(); } interval:ms:50 { exit() } END { print(@tasks > 0); print(@maps > 0); clear(@tasks); clear(@maps); clear(@order) }
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
