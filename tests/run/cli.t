NAME command runs after the probes are attached
PROG tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @ = count(); }
ARGS -q
LOAD syscalls 5
ERR
EXPECT
	$
	$
	@: 5

NAME attached message, one probe
PROG BEGIN { exit(); }
EXPECT
	$
	$
ERR
	Attached 1 probe

NAME attached message, several probes
PROG BEGIN { exit(); } END { } interval:s:1 { }
EXPECT
	$
	$
ERR
	Attached 3 probes

NAME attached message of wildcards
PROG tracepoint:syscalls:sys_*_getppid { } BEGIN { exit(); }
EXPECT
	$
	$
ERR
	Attached 3 probes

NAME quiet
PROG BEGIN { printf("x\n"); }
ARGS -q
EXPECT
	x
	$
	$
ERR

NAME output file
RUN "$SONDE" -o "$TMPDIR/out" -e 'BEGIN { printf("to the file\n"); @ = 1; }' && cat "$TMPDIR/out"
EXPECT
	to the file
	$
	$
	@: 1

NAME output file with json
RUN "$SONDE" -f json -o "$TMPDIR/out" -e 'BEGIN { printf("to the file\n"); @ = 1; }' && cat "$TMPDIR/out"
EXPECT
	{"type": "attached_probes", "count": 1, "data": {"probes": 1}}
	{"type": "printf", "data": "to the file\n"}
	{"type": "map", "data": {"@": 1}}

NAME output into nowhere
RUN "$SONDE" -o /nowhere/out -e 'BEGIN { printf("x\n"); }' >"$TMPDIR/o" 2>&1; echo $?; grep -c /nowhere/out "$TMPDIR/o"
EXPECT
	1
	1

NAME invalid format
PROG BEGIN { }
ARGS -f xml
RC 1
EXPECT
ERR_RE
	.*xml.*
	...

NAME buffer modes
RUN for m in line full none; do "$SONDE" -q -B $m -e 'BEGIN { printf("%d\n", 5); }'; done
EXPECT
	5
	$
	$
	5
	$
	$
	5
	$
	$

NAME invalid buffer mode
PROG BEGIN { }
ARGS -B sometimes
RC 1
EXPECT

NAME line buffering in a pipe
RUN "$SONDE" -q -e 'interval:ms:50 { printf("tick\n"); }' | head -n 1 | { read -r line; echo "got $line"; }
EXPECT
	got tick

NAME no program
RUN "$SONDE" >/dev/null 2>"$TMPDIR/e"; echo $?; [ -s "$TMPDIR/e" ] && echo said
EXPECT
	1
	said

NAME no such file
RUN "$SONDE" /nowhere/x.bt; echo $?
EXPECT
	1

NAME unknown option
RUN "$SONDE" --no-such-option -e 'BEGIN { }'; echo $?
EXPECT
	1

NAME version and help
RUN "$SONDE" -V | grep -c '[0-9]\.[0-9]'; "$SONDE" -h 2>&1 | grep -q -e '-e ' && echo help
EXPECT
	1
	help

NAME command and process exclude each other
RUN "$SONDE" -c true -p 1 -e 'BEGIN { }'; echo $?
EXPECT
	1

NAME no such command
RUN "$SONDE" -c /nowhere/x -e 'BEGIN { }'; echo $?
EXPECT
	1

NAME no such process
RUN "$SONDE" -p 4194303 -e 'interval:s:1 { }'; echo $?
EXPECT
	1

NAME process is not a number
RUN "$SONDE" -p abc -e 'interval:s:1 { }'; echo $?
EXPECT
	1

NAME exit code of the command is not ours
PROG BEGIN { printf("%d\n", cpid > 0); }
ARGS -c /bin/false
EXPECT
	1
	$
	$

NAME words of the command
PROG tracepoint:syscalls:sys_enter_execve /pid == cpid/ { join(args.argv, "|"); }
LOAD run /bin/true one two
EXPECT
	build/tests/run|/bin/true|one|two
	$
	$

NAME tracing ends with the command
PROG interval:s:5 { printf("too late\n"); } END { printf("end\n"); }
LOAD syscalls 1
EXPECT
	end
	$
	$

NAME process given with -p
NEEDS sym:bpf_for_each_map_elem
RUN build/tests/spin 100 1500 & p=$!; "$SONDE" -p $p -e 'profile:hz:99 { @[pid] = count(); } END { printf("%d\n", len(@) <= 1); clear(@); }'; wait
EXPECT
	1
	$
	$

NAME tracing ends with the process of -p
RUN build/tests/spin 10 600 & "$SONDE" -p $! -e 'interval:s:8 { printf("too late\n"); } END { printf("end\n"); }'; wait
EXPECT
	end
	$
	$

NAME -p restricts tracepoints
RUN build/tests/syscalls 3 getppid 1000 & build/tests/syscalls 5 getppid 1000 & "$SONDE" -p $! -e 'tracepoint:syscalls:sys_enter_getppid { @ = count(); } END { printf("end\n"); }'; wait
EXPECT
	end
	$
	$
	@: 5

NAME list of tracepoints
RUN
	"$SONDE" -l 'tracepoint:syscalls:sys_enter_*' >"$TMPDIR/l"
	grep -c -v '^tracepoint:syscalls:sys_enter_' "$TMPDIR/l"
	[ $(wc -l <"$TMPDIR/l") -gt 250 ] && echo many
	grep -x tracepoint:syscalls:sys_enter_openat "$TMPDIR/l"
EXPECT
	0
	many
	tracepoint:syscalls:sys_enter_openat

NAME list with a wildcard inside
RUN "$SONDE" -l 'tracepoint:sched:*switch*'
EXPECT
	tracepoint:sched:sched_switch

NAME list of one tracepoint with its arguments
RUN "$SONDE" -lv 'tracepoint:syscalls:sys_enter_lseek'
EXPECT
	tracepoint:syscalls:sys_enter_lseek
	    int __syscall_nr
	    unsigned int fd
	    off_t offset
	    unsigned int whence

NAME list of the arguments of sched_switch
RUN "$SONDE" -lv 'tracepoint:sched:sched_switch'
EXPECT
	tracepoint:sched:sched_switch
	    char prev_comm[16]
	    pid_t prev_pid
	    int prev_prio
	    long prev_state
	    char next_comm[16]
	    pid_t next_pid
	    int next_prio

NAME list without a match
RUN "$SONDE" -l 'tracepoint:nosuch:*'
EXPECT

NAME list of software events
RUN "$SONDE" -l 'software:*' | sort
EXPECT
	software:alignment-faults:
	software:bpf-output:
	software:context-switches:
	software:cpu-clock:
	software:cpu-migrations:
	software:cpu:
	software:cs:
	software:dummy:
	software:emulation-faults:
	software:faults:
	software:major-faults:
	software:minor-faults:
	software:page-faults:
	software:task-clock:

NAME list of intervals
RUN "$SONDE" -l 'interval:*' | sort
EXPECT
	interval:hz:
	interval:ms:
	interval:s:
	interval:us:

NAME list of functions of a program
RUN "$SONDE" -l 'uprobe:build/tests/calls:*' | grep -e target -e add6 | sort
EXPECT
	uprobe:build/tests/calls:add6
	uprobe:build/tests/calls:target

NAME list of usdt probes
RUN "$SONDE" -l 'usdt:build/tests/tracetest:*' | grep -v :libc: | sort
NEEDS prog:tracetest
EXPECT
	usdt:build/tests/tracetest:tracetest:many
	usdt:build/tests/tracetest:tracetest:none
	usdt:build/tests/tracetest:tracetest:testprobe

NAME list of the probes of a script
RUN "$SONDE" -l -e 'tracepoint:syscalls:sys_*_getppid { } interval:s:1 { }' | sort
EXPECT_RE
	interval:s:1?
	tracepoint:syscalls:sys_enter_getppid
	tracepoint:syscalls:sys_exit_getppid

NAME list of everything
RUN "$SONDE" -l >"$TMPDIR/l" 2>/dev/null; [ $(wc -l <"$TMPDIR/l") -gt 1000 ] && echo many; cut -d: -f1 "$TMPDIR/l" | sort -u | grep -x -e tracepoint -e software
EXPECT
	many
	software
	tracepoint

NAME list of rawtracepoints
RUN "$SONDE" -l 'rawtracepoint:sched_switch'
NEEDS btf
EXPECT
	rawtracepoint:vmlinux:sched_switch

NAME list of structs
RUN "$SONDE" -l 'struct task_struct'; "$SONDE" -lv 'struct list_head'
NEEDS btf
EXPECT
	struct task_struct
	vmlinux: struct list_head {
		struct list_head *next;
		struct list_head *prev;
	};
	$

NAME verbose says more, on stderr only
RUN "$SONDE" -v -e 'BEGIN { printf("x\n"); }' 2>"$TMPDIR/e"; [ -s "$TMPDIR/e" ] && echo more
EXPECT
	x
	$
	$
	more

NAME called as bpftrace
RUN ln -s "$(realpath "$(command -v "$SONDE")")" "$TMPDIR/bpftrace" && "$TMPDIR/bpftrace" -e 'BEGIN { printf("%d\n", 7); }'
EXPECT
	7
	$
	$

NAME options after the program
RUN "$SONDE" -e 'BEGIN { printf("%d %d\n", $1, $2); }' -q -- 5 -6
EXPECT
	5 -6
	$
	$

NAME environment settings
PROG BEGIN { @[1] = 1; printf("x\n"); }
ENV BPFTRACE_PRINT_MAPS_ON_EXIT=0
EXPECT
	x
	$
	$

NAME bad environment setting
PROG BEGIN { }
ENV BPFTRACE_MAX_STRLEN=abc
RC 2
EXPECT

NAME dry run attaches and ends
PROG BEGIN { printf("not printed\n"); } tracepoint:syscalls:sys_enter_getppid { @ = count(); }
ARGS --dry-run
NEEDS option:--dry-run
EXPECT

NAME a list of functions that is not there
PROG begin { }
ARGS --traceable-functions /nope
RC 1
EXPECT
ERR
	ERROR: --traceable-functions: read functions from /nope: No such file or directory

NAME a list of types and of events
RUN "$SONDE" -l 'struct path, tracepoint:sched:sched_switch, struct no_such_struct' 2>&1
NEEDS btf tracefs
EXPECT
	struct path
	tracepoint:sched:sched_switch
	WARNING: nothing matches 'struct no_such_struct'

NAME numbers of options do not begin with 0, which is octal in scripts
RUN
	run() { "$SONDE" "$@" 2>&1 | head -n 1; }
	"$SONDE" record -q -o "$TMPDIR/r.sonde" -e 'begin { keep(1); }'
	run -p 010 -e 'begin { exit(); }'
	run -p 8,010 -e 'begin { exit(); }'
	run record --strings 0100 -e 'begin { keep(1); }'
	run record --keep 010s,0100M -e 'begin { keep(1); }'
	run record --disk 0100M -e 'begin { keep(1); }'
	run record --keep 60s --on oom --max-files 010 -e 'begin { keep(1); }'
	run record --keep 60s --on oom --after 010s -e 'begin { keep(1); }'
	run record --for 010s -e 'begin { keep(1); }'
	run record --set samples=099
	run query --cpu 010 "$TMPDIR/r.sonde" -e 'begin { exit(); }'
	run query --from 010s "$TMPDIR/r.sonde" -e 'begin { exit(); }'
	run query -p 010 "$TMPDIR/r.sonde" -e 'begin { exit(); }'
	run opensnoop --duration 010s
	run opensnoop --count 010
	run opensnoop -t 010
	run opensnoop -u 010
	run execsnoop --cpu 0-07
	run tcpconnect -P 0443
	run strace --syscall-limit 010 true
	run live --every 01s -e 'begin { exit(); }'
	"$SONDE" -q -e 'begin { print((010, 0x10, getopt("n", 1))); exit(); }' -- --n=010 | grep .
EXPECT
	ERROR: Failed to parse pid: 010 begins with 0
	ERROR: Failed to parse pid: 010 begins with 0
	ERROR: --strings needs a number of bytes, at most 65536 (got '0100')
	ERROR: --keep needs a time, a size, or both, as in 60s,200M (got '010s,0100M')
	ERROR: --disk needs a size, as in 500M or 2G (got '0100M')
	ERROR: --max-files needs a number from 1 to 100000 (got '010')
	ERROR: --after needs a time with its unit, as in 5s (got '010s')
	ERROR: --for needs a time with its unit, as in 30s or 500ms (got '010s')
	ERROR: --set samples=099: the events per second are a number above 0
	ERROR: --cpu needs numbers of CPUs, as in 0,2 or 4-7 (got '010')
	ERROR: --from needs a time after the start of the recording, with its unit, as in 30s or 500ms (got '010s')
	ERROR: Failed to parse pid: 010 begins with 0
	ERROR: --duration needs a time, as in 500ms or 2s (got '010s')
	ERROR: --count needs a number above 0 (got '010')
	ERROR: --tid needs a number that does not begin with 0 (got '010')
	ERROR: --user needs the name or number of a user (got '010')
	ERROR: --cpu needs numbers with commas between them (got '0-07')
	ERROR: --port needs ports with commas between them (got '0443')
	ERROR: --syscall-limit 010 is no number of calls
	ERROR: --every needs a time from 200ms to 60s (got '01s')
	(8, 16, 8)
