# Paths of the current task, and what is known of the machine when a script is compiled.

NAME arch is a literal, and the branch of another machine is not compiled
RUN "$SONDE" -q -e 'begin { if comptime (arch == "pdp11") { print(reg("r0")); no_such(); } else { print(arch); } @[arch()] = 1; }' | sed "s/$(uname -m)/this/"
EXPECT
	this
	$
	$
	@[this]: 1

NAME cwd: the root, a mounted file system, a directory that was renamed
RUN "$SONDE" -q -e 'tracepoint:syscalls:sys_exit_chdir /pid == cpid/ { print(cwd); @[cwd() == "/dev"] = count(); }' -c "build/tests/cwds $TMPDIR where" | sed "s,$TMPDIR,DIR,; s,/proc/[0-9]*/,/proc/PID/,"
NEEDS prog:cwds tracefs btf
EXPECT
	/
	/proc/PID/task
	/dev
	DIR
	DIR/one
	DIR/one/in
	DIR/two/in
	$
	$
	@[true]: 1
	@[false]: 6

NAME cwd, abs_path: of more directories the last ones, and a mark
RUN "$SONDE" -q -e 'tracepoint:syscalls:sys_exit_chdir /pid == cpid/ { @n++; if (@n == 41) { printf("%s\n%s\n%s\n%s\n", cwd, abs_path("x", 2), abs_path("x", 64), abs_path("")); } } end { clear(@n); }' -c "build/tests/cwds $TMPDIR deep" | sed "s,$TMPDIR,DIR,; s,\(/d\)\{16\},[16],g"
NEEDS prog:cwds tracefs btf
EXPECT
	...[16][16]
	.../d/d/x
	DIR[16][16]/d/d/d/d/d/d/d/d/x
	...[16][16]
	$
	$

NAME cwd: longer than max_strlen: the last names that fit, and a mark
RUN for n in 600 200; do rm -rf "$TMPDIR"/x*; "$SONDE" -q -e "config = { max_strlen = $n } "'tracepoint:syscalls:sys_exit_chdir /pid == cpid/ { @n++; if (@n == 13) { print(cwd); print(strlen(cwd)); } } end { clear(@n); }' -c "build/tests/cwds $TMPDIR long" | sed "s,x\{255\},NAME,g"; done
NEEDS prog:cwds tracefs btf
EXPECT
	.../NAME/NAME
	515
	$
	$
	...
	3
	$
	$

NAME abs_path: relative, absolute, empty and climbing paths, by address and as text
RUN "$SONDE" -q -e 'tracepoint:syscalls:sys_enter_openat, tracepoint:syscalls:sys_enter_open /pid == cpid/ { print(abs_path(args.filename)); print(abs_path(str(args.filename, 16), 1)); }' -c "build/tests/cwds $TMPDIR files" | sed "s,$TMPDIR,DIR,; s,\.\.\./${TMPDIR##*/},CUT,"
NEEDS prog:cwds tracefs btf
EXPECT
	DIR/some/file
	CUT/some/file
	/etc/hostname
	/etc/hostname
	DIR
	CUT
	DIR/../up
	CUT/../up
	$
	$

NAME abs_path: a relative path behind an absolute one
RUN "$SONDE" -q -e 'tracepoint:syscalls:sys_enter_openat, tracepoint:syscalls:sys_enter_open /pid == cpid/ { print((abs_path("/a"), abs_path(args.filename))); }' -c "build/tests/cwds $TMPDIR files" | sed "s,$TMPDIR,DIR,"
NEEDS prog:cwds tracefs btf
EXPECT
	(/a, DIR/some/file)
	(/a, /etc/hostname)
	(/a, DIR)
	(/a, DIR/../up)
	$
	$

NAME cwd begins at the root of the process
RUN "$SONDE" -q -e 'tracepoint:syscalls:sys_exit_chdir /pid == cpid/ { print(cwd); }' -c "build/tests/cwds $TMPDIR rooted" | sed "s,$TMPDIR,DIR,"
NEEDS prog:cwds tracefs btf
EXPECT
	DIR
	DIR/sub
	/
	/sub
	$
	$

NAME abs_path: the number of directories is a literal, the path a text
RUN "$SONDE" -e 'begin { abs_path("a", 65); abs_path("a", pid); print(abs_path(3)); }' 2>&1 | grep ERROR
NEEDS btf
EXPECT
	stdin:1:23-25: ERROR: abs_path() expects a literal from 1 to 64 as the number of directories
	stdin:1:42-45: ERROR: abs_path() only supports int literal arguments (uint32 provided)
	stdin:1:63-64: ERROR: abs_path() expects a string, a char array or a char pointer (int8 provided)

NAME what cwd and abs_path compute in a branch is not taken for computed behind it
RUN
	for p in 'tracepoint:sched:sched_switch' 'begin' 'rawtracepoint:sys_enter' 'profile:hz:9'
	do for e in cwd 'abs_path(comm)' 'abs_path(str(uptr(pid)))' username
	do "$SONDE" --unsafe -d bpf -e "$p { print($e); print((pid, tid, uid, gid, cpu, cgroup, nsecs, comm, curtask.pid, ppid)); if (rand == 1) { print($e); } else { print((cpu, $e)); } }" >/dev/null && echo ok
	done
	done | sort | uniq -c | tr -s ' '
NEEDS btf feature:TASK_BTF
EXPECT
	 16 ok
