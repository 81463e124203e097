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
	LC_ALL=C sed 's/again/gaain/' r.sonde >bad; "$SONDE" report -e bad 2>&1 | sed 's/.*begin:/begin:/'; "$SONDE" report bad | grep -o 'the block at byte [0-9]* is damaged' | sed 's/[0-9][0-9]*/N/' | uniq
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
	WARNING: bad is not whole: sonde report bad has what is missing
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
	raw_syscalls:sys_enter: args.id, args.args
	sys_enter_openat: args.__syscall_nr, args.dfd, args.filename, args.flags, args.mode, str(args.filename)
	profile:hz:50: kstack, ustack
	ERROR: --set: there is no set 'nothing' (sets: disk, faults, net, samples, sched, syscalls)
	ERROR: --set sched=5: only samples has a number, the events per second
	ERROR: --set samples=x: only samples has a number, the events per second

NAME record: keep() elsewhere, and scripts without it
RUN
	cd "$TMPDIR" && "$SONDE" -e 'begin { keep(1); }' 2>&1
	"$SONDE" record -e 'begin { exit(); }' 2>&1
	"$SONDE" record 2>&1; "$SONDE" record --stacks up x 2>&1; "$SONDE" record -o /nonexistent/r -e 'begin { keep(); }' 2>&1; true
EXPECT
	ERROR: keep() writes to a recording: use sonde record -o FILE
	ERROR: nothing would be recorded: the script does not call keep()
	ERROR: record what? PROBE..., --set or -e 'script with keep()'
	ERROR: --stacks needs user, kernel or both (got 'up')
	ERROR: Failed to open output file '/nonexistent/r': No such file or directory

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
	cd "$TMPDIR" && mkdir full && unshare -m sh -c 'mount -t tmpfs -o size=2m tmpfs full && "$SONDE" record -f record:codec=none -o full/f raw_syscalls:sys_enter -- dd if=/dev/zero of=/dev/null bs=1 count=60000 status=none; "$SONDE" report full/f' >out 2>err
	grep -o 'events were not recorded: no room on the disk' err
	sed -n 's/^ended */ended /p; s/^ *disk_full [0-9]* from [0-9.]* s to [0-9.]* s: [0-9]*/LOST/p' out
EXPECT
	events were not recorded: no room on the disk
	ended done
	LOST events were not recorded: no room for full/f

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
		grep -c 'is not whole' "$TMPDIR/said"
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
	"$SONDE" query -q r.sonde execsnoop 2>/dev/null | awk 'NR > 1 { print $1, $4, $6, $7 }'
EXPECT
	sh (exited with 0)
	sh (exited with 3)
	sh (killed by signal 9)
	others, too
	sh 0 -c sh
	sh 0 -c exit
	sh 0 -c kill

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
	cd "$TMPDIR" && "$SONDE" record -q -o r.sonde syscalls:sys_exit_openat syscalls:sys_exit_close -- cat /nonexistent 2>/dev/null
	"$SONDE" query -q r.sonde -e 't:syscalls:sys_exit_close, t:syscalls:sys_exit_openat { @[probe, args.ret < 0 ? args.ret : 0] = count(); } end { printf("%d %d\n", @["tracepoint:syscalls:sys_exit_openat", -2] > 0, @["tracepoint:syscalls:sys_exit_close", 0] > 0); clear(@); }' | grep .
EXPECT 1 1
