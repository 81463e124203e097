# Recordings: what keep() was given, how it is read again, and what a recorder that was killed leaves.
NAME record: probes of one kind, and the process that makes them
NEEDS tp:syscalls/sys_enter_write x86_64
RUN
	cd "$TMPDIR" && "$SONDE" record -q -o r.sonde -e 'tracepoint:syscalls:sys_enter_write /args.count == 1/ { keep(args) }' -- dd if=/dev/zero of=/dev/null bs=1 count=100 status=none
	"$SONDE" report --events r.sonde | sed 's/^ *\([^ ]*\) .*: \(syscalls:.*\) buf=0x[0-9a-f]*/\1 \2/' | sort | uniq -c | sed 's/^ *//'
EXPECT 100 dd syscalls:sys_enter_write: __syscall_nr=1 fd=1 count=1

NAME record: a PROBE is a tracepoint if no kind has that name; -- CMD and its children
NEEDS tp:sched/sched_process_exec
RUN
	cd "$TMPDIR" && "$SONDE" record -q -o r.sonde sched:sched_process_exec -- sh -c '/bin/true; /bin/true; :'
	"$SONDE" report -e r.sonde | sed 's/.*: sched:/sched:/; s/ pid=.*//; s,=/.*/sh$,=/bin/sh,; s,=/usr,=,'
EXPECT
	sched:sched_process_exec: str(args.filename)=/bin/sh
	sched:sched_process_exec: str(args.filename)=/bin/true
	sched:sched_process_exec: str(args.filename)=/bin/true

NAME record: values of all kinds
RUN
	cd "$TMPDIR" && "$SONDE" record -q -o r.sonde -e 'begin { keep(1, -5, "text", (int8)-3, (1, "b"), (uint64)18446744073709551615, buf("\x01\xff", 2)); keep(); keep(str("abc")); }'
	"$SONDE" report -e r.sonde | sed 's/.*begin:/begin:/'
EXPECT
	begin: 1=1 -5=-5 "text"=text (int8)-3=-3 (1, "b").0=1 (1, "b").1=b (uint64)18446744073709551615=18446744073709551615 buf("\x01\xff", 2)=01ff
	begin:
	begin: str("abc")=abc

NAME record: the last interval of a query ends when the recording does
NEEDS tp:task/task_newtask
RUN
	cd "$TMPDIR" && "$SONDE" record -q -o r.sonde -e 'tracepoint:task:task_newtask { keep(args); }' -- sh -c '/bin/true; /bin/true; :'
	for i in 1 2; do "$SONDE" query r.sonde pidpersec -j 2>/dev/null | grep -o '"last_interval_ns": [0-9]*'; done | uniq | grep -c .
EXPECT 1

NAME record: sums of what was recorded
NEEDS tp:raw_syscalls/sys_enter
RUN
	cd "$TMPDIR" && "$SONDE" record -o r.sonde -e 'begin { keep(1); keep(2); printf("out\n"); }' 2>&1 | sed 's/in [0-9.]* s, .*/in TIME/'
	"$SONDE" report r.sonde | sed -n 's/^events *\(.*\) in .*/events \1/p; s/^ended */ended /p; s/^losses */losses /p'
EXPECT
	Attached 1 probe
	out
	r.sonde: 2 events of 1 probe in TIME
	ended done
	events 2 of 1 probe
	losses none

NAME record: the members of args that can be kept, and results
NEEDS usdt:build/tests/sdt prog:calls
RUN
	"$SONDE" record -q -o "$TMPDIR/r.sonde" usdt:build/tests/sdt:own:types uretprobe:build/tests/calls:add6 -- true
	"$SONDE" report "$TMPDIR/r.sonde" | sed -n 's/^ *0 *-  //p'
EXPECT
	usdt:build/tests/sdt:own:types: args.arg0, args.arg1, args.arg2, args.arg3, args.arg4, args.arg5, args.arg6, args.arg7
	uretprobe:build/tests/calls:add6: retval

NAME record: files that are none, and a damaged one
RUN
	cd "$TMPDIR" && "$SONDE" record -q -f record:codec=none -o r.sonde -e 'begin { keep("first"); keep("again"); }'
	echo text >t; for f in t /nonexistent . ; do "$SONDE" report $f 2>&1; echo $?; done
	head -c 100 r.sonde >cut; "$SONDE" report cut | head -n 2
	LC_ALL=C sed 's/again/gaain/' r.sonde >bad
	"$SONDE" report -e bad 2>&1 | sed 's/.*begin:/begin:/'
	"$SONDE" report bad | grep -o 'the block at byte [0-9]* is damaged' | sed 's/[0-9][0-9]*/N/' | uniq
	"$SONDE" report 2>&1; "$SONDE" report --no r.sonde 2>&1 | head -n 1
EXPECT
	ERROR: t is not a recording of sonde
	1
	ERROR: open /nonexistent: No such file or directory
	1
	ERROR: . is not a file
	1
	This recording has no end: the recorder was killed, or is still running. The last second may be missing.
	Its last block is not whole: 36 bytes are not read.
	WARNING: bad is incomplete: sonde report bad shows what is missing
	the block at byte N is damaged
	ERROR: report takes one FILE
	USAGE:
	    sonde report FILE
	ERROR: unrecognized option '--no'

NAME record: stacks with each event
NEEDS tp:sched/sched_switch
RUN
	cd "$TMPDIR" && "$SONDE" record -q --stacks both -o r.sonde sched:sched_switch -- sleep 0.01
	"$SONDE" report -e r.sonde | grep -c __schedule | sed 's/[1-9][0-9]*/some/'
	"$SONDE" report r.sonde | grep -o 'kstack, ustack'
EXPECT
	some
	kstack, ustack

NAME record: sets, and what a set is not
NEEDS tp:raw_syscalls/sys_enter
RUN
	cd "$TMPDIR" && "$SONDE" record -q --set syscalls,samples=50 -o r.sonde -- sh -c ':'
	"$SONDE" report r.sonde | grep -oE '(raw_syscalls:sys_enter|profile:hz:50|sys_enter_openat): .*'
	for set in nothing sched=5 samples=x; do "$SONDE" record --set $set -- true 2>&1 | head -n 1; done
EXPECT
	raw_syscalls:sys_enter: args.id, args.args, syscall_id(args.id)
	sys_enter_openat: args.__syscall_nr, args.dfd, args.filename, args.flags, args.mode, str(args.filename)
	profile:hz:50: kstack, ustack
	ERROR: --set: unknown set 'nothing' (sets: disk, faults, net, samples, sched, strace, syscalls)
	ERROR: --set sched=5: only samples has a number, the events per second
	ERROR: --set samples=x: the events per second are a number above 0

NAME record: keep() elsewhere, and scripts without it
RUN
	cd "$TMPDIR" && "$SONDE" -e 'begin { keep(1); }' 2>&1
	"$SONDE" record -e 'begin { exit(); }' 2>&1
	"$SONDE" record 2>&1; "$SONDE" record --stacks up x 2>&1; "$SONDE" record -o /nonexistent/r -e 'begin { keep(); }' 2>&1; true
EXPECT
	ERROR: keep() writes to a recording: use sonde record -o FILE
	ERROR: nothing would be recorded: the script calls neither keep() nor span_begin()
	ERROR: nothing to record: give PROBE..., --set NAME, --span or -e 'script with keep()'
	ERROR: --stacks needs user, kernel or both (got 'up')
	ERROR: Failed to open output file '/nonexistent/r': No such file or directory

NAME record: spans of a script, which only a recording has
NEEDS tp:syscalls/sys_enter_write tp:syscalls/sys_exit_write
RUN
	cd "$TMPDIR" && "$SONDE" record -q -o r.sonde -e 'tracepoint:syscalls:sys_enter_write /args.count == 1/ { @n++; span_begin("write", @n, args.fd); span_begin(comm, "all"); }
	tracepoint:syscalls:sys_exit_write /args.ret == 1/ { span_end("write", @n); } end { clear(@n); }' -- dd if=/dev/zero of=/dev/null bs=1 count=3 status=none
	"$SONDE" report -e r.sonde | sed 's/.*: span_/span_/'
	"$SONDE" export r.sonde --to chrome -o t.json 2>&1
	"$SONDE" -e 'begin { span_end("x", 1); }' 2>&1
	"$SONDE" query r.sonde -q -e 'span_begin:* { span_begin("x", 1); }' 2>&1; true
EXPECT
	span_begin:tracepoint:syscalls:sys_enter_write: span.name=write span.id=1 fd=1
	span_begin:tracepoint:syscalls:sys_enter_write: span.name=dd span.id=all
	span_end:tracepoint:syscalls:sys_exit_write: span.name=write span.id=1
	span_begin:tracepoint:syscalls:sys_enter_write: span.name=write span.id=2 fd=1
	span_begin:tracepoint:syscalls:sys_enter_write: span.name=dd span.id=all
	span_end:tracepoint:syscalls:sys_exit_write: span.name=write span.id=2
	span_begin:tracepoint:syscalls:sys_enter_write: span.name=write span.id=3 fd=1
	span_begin:tracepoint:syscalls:sys_enter_write: span.name=dd span.id=all
	span_end:tracepoint:syscalls:sys_exit_write: span.name=write span.id=3
	t.json: 9 events
	NOTE: 3 spans did not end: dd (3)
	ERROR: span_end() writes to a recording: use sonde record -o FILE
	ERROR: span_begin() writes to a recording: use sonde record -o FILE

NAME record: report counts spans that do not end; probes of spans are of recordings
RUN
	"$SONDE" record -q -o "$TMPDIR/r.sonde" -e 'begin { span_begin("a", 1); span_begin("a", 2); span_end("a", 2); span_begin("b", "x"); span_end("c", 3); }'
	"$SONDE" report "$TMPDIR/r.sonde" | sed -n '/^spans/,/^losses/p'
	"$SONDE" -e 'span_begin:* { print(1); }' 2>&1; "$SONDE" -e 'span_end:kprobe:vfs_read { print(1); }' 2>&1 | head -n 1
EXPECT
	spans      3 began
	    2 spans did not end: a (1), b (1)
	    1 end of spans had no begin: c (1)
	losses     none
	stdin:1:1-13: ERROR: only recordings have span_begin probes: sonde record --span NAME=BEGIN,END,ID, then sonde query FILE
	span_begin:* { print(1); }
	~~~~~~~~~~~~
	stdin:1:1-25: ERROR: only recordings have span_end probes: sonde record -e 'kprobe:vfs_read { span_end(NAME, ID); }', then sonde query FILE

NAME record: spans between two probes
NEEDS tp:syscalls/sys_enter_write tp:syscalls/sys_exit_write tp:sched/sched_process_fork
RUN
	cd "$TMPDIR" && "$SONDE" record -q -o r.sonde --span 'write=syscalls:sys_enter_write,tracepoint:syscalls:sys_exit_write,(tid)' --span 'life=sched:sched_process_fork,sched:sched_process_exit,args.child_pid,args.pid' -- sh -c '/bin/echo hello >/dev/null; /bin/true; :'
	"$SONDE" report -e r.sonde | sed 's/.*: span_/span_/; s/ span.id.*//' | sort | uniq -c | sed 's/^ *//'
	"$SONDE" export r.sonde --to perfetto -o t.pftrace 2>&1
	for span in 'x' 'x=begin,end' '=a:b,c:d,tid' 'x=a:b,c:d,tid,pid,uid'; do "$SONDE" record --span "$span" 2>&1 | sed 's/ID: .*(/ID (/'; done
EXPECT
	2 span_begin:tracepoint:sched:sched_process_fork: span.name=life
	1 span_begin:tracepoint:syscalls:sys_enter_write: span.name=write
	2 span_end:tracepoint:sched:sched_process_exit: span.name=life
	1 span_end:tracepoint:syscalls:sys_exit_write: span.name=write
	t.pftrace: 6 events
	ERROR: --span needs NAME=BEGIN,END,ID (got 'x')
	ERROR: --span needs NAME=BEGIN,END,ID (got 'x=begin,end')
	ERROR: --span needs NAME=BEGIN,END,ID (got '=a:b,c:d,tid')
	ERROR: --span needs NAME=BEGIN,END,ID (got 'x=a:b,c:d,tid,pid,uid')

NAME record: docs/read_recording.py reads what sonde report reads
NEEDS tp:syscalls/sys_enter_write cmd:python3
TIMEOUT 30
RUN
	cd "$TMPDIR" && "$SONDE" record -q -f record:codec=zlib -o r.sonde syscalls:sys_enter_write syscalls:sys_exit_write 'sched:*' -- dd if=/dev/zero of=/dev/null bs=1 count=3000 status=none
	"$SONDE" report -e r.sonde | python3 -c '
	import re, sys
	sums = {}
	for line in sys.stdin:
	    name, rest = re.search(r"\d: (\w+:\w+):(.*)", line).groups()
	    words = re.findall(r" [\w().]+=(0x[0-9a-f]+|-?\d+)(?= |$)", re.sub(r"comm=.*?(?= \w+=)", "", rest))
	    count, total = sums.get(name, (0, 0))
	    sums[name] = count + 1, total + sum(int(w, 0) for w in words)
	for name in sorted(sums): print("tracepoint:" + name, *sums[name])' | grep -v sched: >ours
	python3 "$OLDPWD/docs/read_recording.py" r.sonde | grep -v sched: >theirs
	cmp ours theirs && sed 's/ [0-9]*$/ SUM/' ours
	"$SONDE" report r.sonde | awk '$2 ~ /[0-9]/ && $3 ~ /tracepoint/ { gsub(":$", "", $3); print $3, $1 }' | sort >ours
	python3 "$OLDPWD/docs/read_recording.py" r.sonde | awk '{ print $1, $2 }' | sort >theirs
	cmp ours theirs && echo equal
EXPECT
	tracepoint:syscalls:sys_enter_write 3000 SUM
	tracepoint:syscalls:sys_exit_write 3000 SUM
	equal

NAME record: a full disk: the events are counted, with their time, and the file is whole
NEEDS tp:raw_syscalls/sys_enter cmd:unshare
TIMEOUT 30
RUN
	cd "$TMPDIR" && mkdir full &&
		unshare -m sh -c 'mount -t tmpfs -o size=2m tmpfs full && "$SONDE" record -f record:codec=none -o full/f raw_syscalls:sys_enter -- dd if=/dev/zero of=/dev/null bs=1 count=60000 status=none; "$SONDE" report full/f' >out 2>err
	grep -o 'events were not recorded: no room on the disk' err
	sed -n 's/^ended */ended /p; s/^ *disk_full [0-9]* from [0-9.]* s to [0-9.]* s: [0-9]*/LOST/p' out
EXPECT
	events were not recorded: no room on the disk
	ended done
	LOST events were not recorded: no room for full/f

NAME record: a recorder that is killed at once has said what it records
NEEDS tp:sched/sched_process_exec
RUN
	cd "$TMPDIR"
	"$SONDE" record -o k.sonde -e 't:sched:sched_process_exec { keep(args.pid); }' 2>err & p=$!
	until_attached err; kill -9 $p; wait $p 2>"$TMPDIR/killed"
	"$SONDE" query k.sonde -l; "$SONDE" report k.sonde | grep -c '^kernel  '
EXPECT
	tracepoint:sched:sched_process_exec
	1

NAME record: calls that are missing were lost in a time that the file names
NEEDS tp:raw_syscalls/sys_enter x86_64 cmd:python3 fast
TIMEOUT 30
RUN
	numbered=$PWD/build/tests/numbered; cd "$TMPDIR"
	BPFTRACE_PERF_RB_PAGES=2 "$SONDE" record -q --stacks kernel -o r.sonde -e 't:raw_syscalls:sys_enter /args.id == 8/ { keep(args, kstack); }' -- timeout 3 "$numbered" numbers 1 2>err
	"$SONDE" export -q r.sonde --to json 2>err | python3 -c '
	import json, sys
	lines = [json.loads(line) for line in sys.stdin]
	lost = [l["data"] for l in lines if l["type"] == "lost_events"]
	rows = [(l["ts"], l["args"]["args"][1]) for l in lines if l["type"] == "event"]
	gaps = [(a, b, m - n - 1) for (a, n), (b, m) in zip(rows, rows[1:]) if m > n + 1]
	print(len(lost) > 1 and len(gaps) > 1 and "calls were lost")
	print([(g, lost) for g in gaps if not any(l["from"] <= g[1] and g[0] <= l["to"] for l in lost)][:3])
	print(sum(g[2] for g in gaps) <= sum(l["events"] for l in lost) and "counted")
	print(max(l["to"] - l["from"] for l in lost) < 2500000000 and "in seconds")'
EXPECT
	calls were lost
	[]
	counted
	in seconds

NAME record: a full disk: a snapshot says what it lacks, and recording goes on
NEEDS tp:raw_syscalls/sys_enter cmd:unshare cmd:python3 fast
TIMEOUT 30
RUN
	cd "$TMPDIR" && mkdir full && unshare -m sh -c 'mount -t tmpfs -o size=16m tmpfs full && head -c 16600000 /dev/zero >full/other
	"$SONDE" record --keep 1h,8M --quiet-for 0 -f record:codec=none -o full/k.sonde raw_syscalls:sys_enter --on "t:syscalls:sys_enter_close /args.fd >= 77/ { snapshot(\"full %d\", args.fd); }" -- python3 -c "
	import os
	for i in range(2):
	    for k in range(30000): os.getppid()
	    os.dup2(1, 77 + i)
	    os.close(77 + i)
	    while len([n for n in os.listdir(\"full\") if n[:2] == \"k-\"]) <= i: os.sched_yield()
	    if i == 0: os.unlink(\"full/other\")"
	for f in full/k-*; do "$SONDE" report $f; done' >out 2>err
	sed -n 's/.*sonde: [0-9,]* events of .*[kM]B; [0-9]* events were not recorded: no room on the disk: \(full .*\)/lacks some: \1/p; s/.*sonde: [0-9,]* events of [^;]*B: \(full .*\)/\1/p' err
	grep -c '^    disk_full' out
EXPECT
	lacks some: full 77
	full 78
	1

# Each event has the next number, so what was read is what was made, but for the end.
NAME record: killed with -9 at any moment: all but the last second is there, in order
TIMEOUT 60
RUN
	cd "$TMPDIR"
	for wait in 0.1 0.7 1.3 2.2; do
		rm -f k.sonde; "$SONDE" record -q -o k.sonde -e 'interval:ms:1 { @n++; keep(@n, nsecs); }' & p=$!
		eventually grep -q SONDE k.sonde
		sleep $wait; kill -9 $p; wait $p 2>"$TMPDIR/killed"
		"$SONDE" report -e k.sonde 2>"$TMPDIR/said" | sed 's/.*@n=\([0-9]*\) .*/\1/' >rows
		seq "$(wc -l <rows)" | cmp - rows || echo "not in order"
		grep -c 'is incomplete' "$TMPDIR/said"
	done
	"$SONDE" report k.sonde | head -n 1; awk 'END { print (NR > 100) ? "enough" : NR }' rows
EXPECT
	1
	1
	1
	1
	This recording has no end: the recorder was killed, or is still running. The last second may be missing.
	enough

NAME record: a set about two threads is of the whole machine, its processes are those of the command, and how they ended
NEEDS tp:sched/sched_switch btf
RUN
	cd "$TMPDIR" && "$SONDE" record -q -o r.sonde --set sched -- sh -c 'sh -c "exit 3"; sh -c "kill -9 \$\$"; exit 0' 2>/dev/null
	"$SONDE" report r.sonde | grep -o 'sh (.*)' | sort
	"$SONDE" query -q r.sonde -e 't:sched:sched_switch /comm != "sh"/ { printf("others, too\n"); exit(); }' 2>/dev/null | grep .
	"$SONDE" query -q r.sonde execsnoop 2>/dev/null | awk 'NR > 1 { sub("^exe$", "sh", $1); print $1, $4, $6, $7 }' # busybox starts itself
EXPECT
	sh (exited with 0)
	sh (exited with 3)
	sh (killed by signal 9)
	others, too
	sh 0 -c sh
	sh 0 -c exit
	sh 0 -c kill

NAME record: the set syscalls is enough for the summary of strace, also of 32-bit programs
NEEDS tp:raw_syscalls/sys_enter runs:args32 btf
RUN
	"$SONDE" record -q -o "$TMPDIR/r.sonde" --set syscalls -- build/tests/args32
	"$SONDE" query -q "$TMPDIR/r.sonde" strace -c -U calls,errors,name 2>&1 | grep -v "^WARNING"
	"$SONDE" strace -q -c -U calls,errors,name -- build/tests/args32 2>&1
	"$SONDE" query -q "$TMPDIR/r.sonde" syscount
EXPECT
	    calls    errors syscall
	--------- --------- ----------------
	        1           execve#32
	--------- --------- ----------------
	        1           total
	    calls    errors syscall
	--------- --------- ----------------
	        1           execve#32
	--------- --------- ----------------
	        1           total
	SYSCALL                   COUNT
	execve#32                     1

NAME record: what tools cannot ask of a recording of sets, and exists("recording")
NEEDS tp:sched/sched_switch tp:raw_syscalls/sys_enter btf
RUN
	"$SONDE" record -q -o "$TMPDIR/r.sonde" --set syscalls,sched -- true 2>/dev/null
	for t in 'opensnoop -F' 'opensnoop --cgroup /' 'execsnoop --path' 'runqlat --pidnss' 'runqlat --cgroup /'; do
		"$SONDE" query -q "$TMPDIR/r.sonde" $t 2>&1
	done
	"$SONDE" query -q "$TMPDIR/r.sonde" execsnoop --directory --parent-name --fields comm,parent_comm,directory 2>/dev/null | sed "s,$PWD,DIR,"
	"$SONDE" query -q "$TMPDIR/r.sonde" -e 'begin { print(exists("recording")); exit(); }' | grep .
	"$SONDE" -q -e 'begin { print(exists("recording")); exit(); }' | grep .
EXPECT_RE
	ERROR: -F reads the memory of the opened file, which no recording has; record with --set strace, then: sonde query FILE strace -y -e trace=open,openat,openat2,creat
	ERROR: --cgroup: a recording has the numbers of control groups, not their paths: compare cgroup in a script
	sonde opensnoop -h shows its options.
	ERROR: --path reads the memory of the new program's file, which no recording has; the path that was executed is str\(args.filename\) of tracepoint:sched:sched_process_exec
	ERROR: control groups and PID namespaces of threads that wait are not known here, as in every recording made of sets: not --cgroup and --pidnss
	ERROR: --cgroup: a recording has the numbers of control groups, not their paths: compare cgroup in a script
	sonde runqlat -h shows its options.
	PCOMM *PARENT *DIRECTORY *
	true *sonde *DIR
	true
	false

NAME record: --strings is how many bytes of a text are kept
NEEDS tp:syscalls/sys_enter_openat
RUN
	cd "$TMPDIR" && "$SONDE" record -q --strings 8 -o r.sonde -e 't:syscalls:sys_enter_openat /comm == "cat"/ { keep(str(args.filename)); }' -- cat /dev/null
	"$SONDE" query -q r.sonde -e 't:syscalls:sys_enter_openat { @[str(args.filename)] = count(); }' 2>/dev/null | grep dev
	"$SONDE" record --strings 0 true 2>&1 | head -n 1
	"$SONDE" run --strings 8 -e 'begin { exit(); }' 2>&1 | head -n 1
EXPECT
	@[/dev/nu]: 1
	ERROR: --strings needs a number of bytes, at most 65536 (got '0')
	ERROR: --strings means nothing to 'run'

NAME record: probes with equal rows that share a body are each read
NEEDS tp:syscalls/sys_exit_openat tp:syscalls/sys_exit_close
RUN
	cd "$TMPDIR" && "$SONDE" record -q -o r.sonde syscalls:sys_exit_openat syscalls:sys_exit_close -- python3 -c 'import os; os.path.exists("/"); os.close(os.dup(1)); open("/nonexistent")' 2>/dev/null
	"$SONDE" query -q r.sonde -e 't:syscalls:sys_exit_close, t:syscalls:sys_exit_openat { @[probe, args.ret < 0 ? args.ret : 0] = count(); }
		end { printf("%d %d\n", @["tracepoint:syscalls:sys_exit_openat", -2] > 0, @["tracepoint:syscalls:sys_exit_close", 0] > 0); clear(@); }' |
		grep .
EXPECT 1 1

NAME record: --disk keeps numbered segments, the last ones, each readable alone and several as one
NEEDS tp:syscalls/sys_enter_write
RUN
	cd "$TMPDIR" &&
		"$SONDE" record -q --disk 16M -f record:codec=none -o r.sonde -e 'tracepoint:syscalls:sys_enter_write /args.count == 1000/ { keep(buf(args.buf, 1000)); }' -- dd if=/dev/urandom of=/dev/null bs=1000 count=30000 status=none 2>err ||
		cat err
	set -- r-*.sonde
	[ $# -gt 8 ] && [ "$(cat r-*.sonde | wc -c)" -le 16777216 ] && echo 'within 16M, in segments'
	[ -e r-000001.sonde ] || echo 'the oldest is gone'
	all=$("$SONDE" query -q "$@" -e 'tracepoint:syscalls:sys_enter_write { @ = count(); }' | sed -n 's/^@: //p')
	sum=0; for f in "$@"; do n=$("$SONDE" query -q "$f" -e 'tracepoint:syscalls:sys_enter_write { @[comm] = count(); }' | sed -n 's/^@\[dd\]: //p'); sum=$((sum + n)); done
	[ "$all" = "$sum" ] && [ "$sum" -gt 12000 ] && echo 'as many alone as together'
	"$SONDE" record -q --disk 16M -o r.sonde -e 'begin { keep(1); }'
	last=$(ls r-*.sonde | tail -n 1)
	[ "$last" != "$(printf '%s\n' "$@" | tail -n 1)" ] && "$SONDE" report -e "$last" | sed 's/.*begin/begin/'
EXPECT
	within 16M, in segments
	the oldest is gone
	as many alone as together
	begin: 1=1

NAME record: snapshots by a script, so many of them
NEEDS tp:syscalls/sys_enter_close
RUN
	cd "$TMPDIR" &&
		"$SONDE" record --keep 1h,1M --quiet-for 0 --max-files 2 -o k.sonde -e 'tracepoint:syscalls:sys_enter_write /args.count == 1/ { keep(args.count); }' --on 'tracepoint:syscalls:sys_enter_close /args.fd >= 77/ { snapshot("descriptor %d", args.fd); }' -- python3 -c '
	import os, time, glob
	for i in range(3):
	    os.write(os.open("/dev/null", os.O_WRONLY), b"x")
	    os.dup2(1, 77 + i)
	    os.close(77 + i)
	    end = time.time() + 10
	    while time.time() < end and not any("descriptor %d" % (77 + i) in open(f, "rb").read().decode("latin1") for f in glob.glob("k-*")):
	        time.sleep(0.05)' 2>&1 | sed 's/^k-[0-9T]*\(-[0-9]\)*\.sonde/SNAPSHOT/; s/last .* s, .*:/last TIME, SIZE:/'
	ls | grep -c '^k-'
	for f in k-*; do "$SONDE" query -q $f -e 'tracepoint:syscalls:sys_enter_write { @ = count(); }' | grep @; done | sort
EXPECT
	Attached 2 probes
	SNAPSHOT: 1 event of the last TIME, SIZE: descriptor 77
	SNAPSHOT: 2 events of the last TIME, SIZE: descriptor 78
	SNAPSHOT: 3 events of the last TIME, SIZE: descriptor 79
	2
	@: 2
	@: 3

NAME record: a stall of 200 ms is caught with the five seconds before it
NEEDS tp:sched/sched_switch
TIMEOUT 60
RUN
	here=$PWD; cd "$TMPDIR"
	"$SONDE" record --keep 5s,256M --after 300ms --quiet-for 0 -o k.sonde --set syscalls,sched --on stall=200ms 2>err & p=$!
	until_attached err
	# The calls of all processes are recorded: a flood without end would fill the memory in less than five seconds.
	timeout 7 sh -c 'while :; do dd if=/dev/zero of=/dev/null bs=1 count=1500 status=none; sleep 0.05; done'
	for i in 1 2 3 4 5 6; do python3 "$here/tests/progs/stall.py"; sleep 0.5; grep -q 'python3 .* did not run' err && break; done
	kill -INT $p; wait $p
	grep -o 'python3 .* did not run for [2-9]' err | sed 's/(.*)//; s/[2-9]$/so long/' | head -n 1
	f=$(grep 'python3 .* did not run' err | head -n 1 | cut -d: -f1)
	"$SONDE" query -q "$f" -e 'tracepoint:sched:sched_switch { @first = min(nsecs); @last = max(nsecs); }
		end { printf("%s\n", (int64)@last - (int64)@first > 5000000000 ? "five seconds" : "less"); clear(@first); clear(@last); }' 2>/dev/null |
		grep .
EXPECT
	python3  did not run for so long
	five seconds

NAME record: the memory of a flight recorder stays within --keep
RUN
	memory() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$p/status; }
	cd "$TMPDIR"
	"$SONDE" record --keep 60s,8M -o k.sonde --set syscalls 2>err & p=$!
	until_attached err; before=$(memory)
	timeout 4 dd if=/dev/zero of=/dev/null bs=1 status=none
	after=$(memory) # with the ring, up to 16 MB, as far as it was read
	kill -INT $p; wait $p
	[ "${before:-0}" -gt 0 ] && [ $((after - before)) -lt $((32 * 1024)) ] && echo 'within memory' || echo "$before $after"
EXPECT
	within memory

NAME record: the kernel kills a process because there is no memory: what came before is kept
NEEDS tp:oom/mark_victim tp:raw_syscalls/sys_enter cmd:python3
TIMEOUT 40
RUN
	group=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2 "/sonde-oom"; exit }' /proc/mounts)
	limit=memory.limit_in_bytes
	if [ -z "$group" ]; then
		two=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts); [ -n "$two" ] || { two=$TMPDIR/groups; mkdir "$two"; mount -t cgroup2 none "$two"; }
		echo +memory >"$two/cgroup.subtree_control"; group=$two/sonde-oom limit=memory.max
	fi
	cd "$TMPDIR" && mkdir "$group" && echo 33554432 >"$group/$limit" || exit 1
	"$SONDE" record --keep 1h,8M -o k.sonde -e 't:raw_syscalls:sys_enter /comm == "grows"/ { keep(args.id); }' --on oom 2>err & p=$!
	until_attached err
	sh -c "echo \$\$ >$group/cgroup.procs; exec python3 -c 'open(\"/proc/self/comm\", \"w\").write(\"grows\"); all = []
	while True: all.append(b\"x\" * (1 << 20))'" 2>/dev/null
	echo $?
	eventually grep -q 'out of memory' err; kill -INT $p; wait $p
	rmdir "$group"; [ "$two" != "$TMPDIR/groups" ] || umount "$two"
	sed -n 's/.*s, [0-9.]* [kM]*B: out of memory: process [0-9]* is killed/out of memory/p' err
	"$SONDE" query -q k-*.sonde -e 't:raw_syscalls:sys_enter { @[comm] = count(); }' 2>/dev/null | sed -n 's/: [1-9][0-9]*$/: some/p'
EXPECT
	137
	out of memory
	@[grows]: some

NAME record: the file of another machine is enough: names, stacks, questions, exports
RUN
	cp tests/recordings/1.0-items.sonde tests/recordings/1.0-zstd.sonde "$TMPDIR"; cd "$TMPDIR"; export TZ=UTC
	"$SONDE" query -q 1.0-items.sonde -e 'uprobe:*:call { @[comm, ustack] = count(); } profile:hz:99 { @p[comm, kstack, ustack] = count(); }' 2>/dev/null | grep . | sed 's/^ *//; s/ *$//'
	"$SONDE" query -q 1.0-zstd.sonde -e 't:syscalls:sys_enter_openat { @[str(args.filename)] = count(); } t:raw_syscalls:sys_exit { @r[comm] = sum(args.ret); }' 2>/dev/null | tail -n 3
	"$SONDE" export -q 1.0-zstd.sonde --to folded 2>/dev/null; "$SONDE" export -q 1.0-zstd.sonde --to csv | wc -l | tr -d ' '
	"$SONDE" report 1.0-zstd.sonde | sed -n 's/^recorded *//p; s/^events *//p'
EXPECT
	@[python3,
	call+4
	handle+0
	LazyCompile:~run+0
	]: 1
	@p[cat,
	do_read+4
	do_syscall_64+4
	,
	copy+4
	main+4
	]: 10
	@[/etc/file9]: 1
	@r[cat]: 10
	@r[worker]: 450
	cat;main;copy;do_syscall_64;do_read 10
	81
	2025-11-27 19:00:00.000 UTC
	80 of 5 probes in 0.916000 s, 87 per second

NAME record: SIGUSR2, and what --keep and its kin refuse
NEEDS tp:sched/sched_switch
RUN
	cd "$TMPDIR"
	"$SONDE" record --keep 10s -o k.sonde sched:sched_switch 2>err & p=$!
	until_attached err; kill -USR2 $p; eventually grep -q 'SIGUSR2$' err; kill -INT $p; wait $p
	ls | grep -c '^k-.*T.*\.sonde$'; [ -e k.sonde ] || echo no k.sonde
	for o in '--keep x' '--keep 1K' '--disk 2' '--disk 1M' '--disk 1G --keep 1s' '--after 5s' '--keep 1s --after 5' '--keep 1s --on never' '--keep 1s --on stall' '--keep 1s --on oom=3' '--keep 1s --max-files 0'
	do "$SONDE" record -q $o sched:sched_switch -- true
	done 2>&1
	"$SONDE" record -q -e 'begin { keep(1); snapshot("now"); }' 2>&1
	"$SONDE" record -q --keep 5s -o n.sonde -e 'begin { keep(1); }' 2>&1
	"$SONDE" record --keep 5s -o n.sonde -e 'begin { keep(1); }' 2>&1
EXPECT
	1
	no k.sonde
	ERROR: --keep needs a time, a size, or both, as in 60s,200M (got 'x')
	ERROR: --keep: 1M is the least that is held (got '1K')
	ERROR: --disk needs a size, as in 500M or 2G (got '2')
	ERROR: --disk: segments need 16M at least (got '1M')
	ERROR: --disk and --keep exclude each other: segments on the disk, or a recording in memory
	ERROR: --after applies to snapshots and needs --keep
	ERROR: --after needs a time with its unit, as in 5s (got '5')
	ERROR: --on needs oom, stall=TIME, a script or the file of one (got 'never')
	ERROR: --on stall needs a time, as in stall=200ms
	ERROR: --on oom: there is nothing to say about it
	ERROR: --max-files needs a number from 1 to 100000 (got '0')
	ERROR: snapshot() needs a recording in memory: sonde record --keep 60s,200M
	Attached 1 probe
	no snapshot was requested

NAME record: --to FORMAT is record and then export
NEEDS tp:syscalls/sys_enter_linkat
TIMEOUT 60
RUN
	cd "$TMPDIR" || exit
	for f in perfetto chrome json csv parquet ctf trace.dat sqlite folded text; do
		"$SONDE" record -q --to $f -o o.$f 'syscalls:sys_enter_link*' --stacks user -- ln o.$f.sonde kept.sonde
		echo $f $? $("$SONDE" report --events kept.sonde | grep -c sys_enter_link)
		"$SONDE" export -q kept.sonde --to $f -o again.$f && diff -r o.$f again.$f
		rm kept.sonde
	done 2>&1 | grep -v -e 'user stack' -e 'no stack' -e 'place for losses'
	ls | grep -c '[.]sonde'
	:
EXPECT
	perfetto 0 1
	chrome 0 1
	json 0 1
	csv 0 1
	parquet 0 1
	ctf 0 1
	trace.dat 0 1
	sqlite 0 1
	folded 0 1
	text 0 1
	0

NAME record: --to FORMAT names the file that is left
RUN
	cd "$TMPDIR" && "$SONDE" record --to json -o t.json -e 'begin { keep(1); keep(2); }' 2>&1; ls *.json*
EXPECT
	Attached 1 probe
	t.json: 2 events
	t.json

NAME record: --to FORMAT without -o, to standard output and to a device
RUN
	cd "$TMPDIR" || exit
	P='begin { keep(7, "word"); }'
	"$SONDE" record -q --to text -e "$P" | sed 's/.*begin:/begin:/'
	"$SONDE" record -q --to csv -o - -e "$P" | cut -d, -f5-8
	"$SONDE" record -q --to csv -e "$P" | cut -d, -f5-8
	"$SONDE" record -q --to chrome -e "$P" | wc -c
	"$SONDE" record -q --to csv -o /dev/null -e "$P"; echo $?
	ls
EXPECT
	begin: 7=7 "word"=word
	comm,probe,7,"""word"""
	sonde,begin,7,word
	comm,probe,7,"""word"""
	sonde,begin,7,word
	0
	0
	record.trace.json

NAME record: --to FORMAT keeps what it cannot convert, and writes over nothing
RUN
	cd "$TMPDIR" && mkdir -p full.ctf/more || exit
	P='begin { keep(7); }'
	"$SONDE" record -q --to ctf -o full.ctf/ -e "$P" 2>&1; echo $?
	"$SONDE" report -e full.ctf.sonde | sed 's/.*begin:/begin:/'
	"$SONDE" record -q --to ctf -o full.ctf -e "$P" 2>&1; echo $?
	"$SONDE" record --to json -o k.json -e "$P interval:s:100 { }" 2>err & p=$!
	until_attached err && eventually test -s k.json.sonde && kill -9 $p
	eventually grep NOTE err; grep ERROR err; ls
EXPECT
	ERROR: rename full.ctf.tmp to full.ctf: Directory not empty
	NOTE: the recording is in full.ctf.sonde: sonde export full.ctf.sonde --to ctf
	1
	begin: 7=7
	ERROR: full.ctf.sonde exists: the recording is written there before it is converted
	1
	NOTE: the recording is in k.json.sonde: sonde export k.json.sonde --to json
	ERROR: sonde was killed while it recorded
	err
	full.ctf
	full.ctf.sonde
	k.json.sonde

NAME record: --to FORMAT, what cannot be
RUN
	cd "$TMPDIR" || exit
	R="$SONDE record -e begin{keep(1)}"
	for o in '--to none' '--to sqlite -o -' '--to ctf -o /dev/null' '--to json -f json' '--to json --disk 1G' \
		'--to json --keep 5s' '--to json -o /nonexistent/f'; do
		$R $o 2>&1; echo $?
	done
	"$SONDE" record --to json -o f -e 'begin { nothing }' 2>&1 | head -n 1
	ls
EXPECT
	ERROR: --to: unknown format 'none' (formats: text, json, csv, chrome, perfetto, folded, sqlite, ctf, trace.dat, parquet)
	1
	ERROR: sqlite cannot be written to standard output: -o FILE
	1
	ERROR: ctf cannot be written to /dev/null, which is not a file
	1
	ERROR: -f json and --to json are two formats
	1
	ERROR: --disk makes several files: record without --to, then sonde export FILE --to json
	1
	ERROR: --keep makes a file for each snapshot: record without --to, then sonde export FILE --to json
	1
	ERROR: Failed to open output file '/nonexistent/f.sonde': No such file or directory
	1
	stdin:1:9-16: ERROR: Unknown identifier: 'nothing'

NAME record: a snapshot that cannot be written is an error of the whole
RUN
	cd "$TMPDIR" && mkdir d || exit
	"$SONDE" record -o d/f.sonde --keep 60s -e 'begin { keep(7); } interval:s:100 { }' 2>err & p=$!
	until_attached err && rmdir d && kill -USR2 $p && eventually grep -q ERROR err && kill -INT $p
	wait $p; echo $?; sed 's/f-[0-9T]*[.]/f-TIME./' err
EXPECT
	1
	Attached 2 probes
	ERROR: the snapshot was not written: create d/f-TIME.sonde: No such file or directory
	ERROR: 1 snapshot was not written
