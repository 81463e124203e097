# JSON and CSV of tools whose own cases look at text, and tools that are other names.

NAME JSON and CSV: processes
RUN
	"$SONDE" threadsnoop -qj --fields comm,function -- build/tests/threads 1; "$SONDE" threadsnoop -q --csv --fields comm,function -- build/tests/threads 1
	"$SONDE" naptime -qj -m 50 --fields comm,duration_ns -- sh -c 'sleep 0.05; :' | sed 's/5000000[01]/5000000N/'
	"$SONDE" capable -qjv --denied --unique --fields cap,name,verdict -- setpriv --reuid 65534 setpriv --reuid 1 true 2>/dev/null | grep '"cap": 7,'
NEEDS prog:threads uprobe btf cmd:setpriv tp:syscalls/sys_enter_clock_nanosleep
TIMEOUT 40
EXPECT
	{"type": "event", "table": "threads", "comm": "threads", "function": "work"}
	comm,function
	threads,work
	{"type": "event", "table": "naps", "comm": "sleep", "duration_ns": 5000000N}
	{"type": "event", "table": "checks", "cap": 7, "name": "CAP_SETUID", "verdict": "denied"}

NAME JSON and CSV: functions of a program
RUN
	c=build/tests/calls
	"$SONDE" stackcount -qj -P "$c:greet" -- $c 9 | grep -oE '"comm": "calls"|"calls": 9'; "$SONDE" stackcount -q --csv -P --fields comm,calls "$c:greet" -- $c 9
	"$SONDE" trace -q --csv --fields function,message "$c:target \"%d, %s\", arg1, arg2" -- $c 1; "$SONDE" argdist -q -i 60 --csv -C "p:$c:target(int n):int:n" -- $c 2 2>/dev/null
	"$SONDE" funclatency -q --csv "$c:greet" -- $c 5 | head -n 1; for f in -j --csv; do "$SONDE" funcslower -q -u 0 -m 0 $f --fields comm,ret,function "$c:add6" -- $c 1; done
NEEDS uprobe prog:calls
EXPECT
	"comm": "calls"
	"calls": 9
	comm,calls
	calls,9
	function,message
	target,"0, hello"
	n,count
	0,1
	1,1
	nsecs_min,nsecs_max,nsecs_count
	{"type": "event", "table": "slow", "comm": "calls", "ret": 21, "function": "add6"}
	comm,ret,function
	calls,21,add6

NAME JSON and CSV: threads that share one CPU
RUN
	both='taskset -c 0 build/tests/spin 100 & a=$!; taskset -c 0 build/tests/spin 100; wait $a'
	for f in -j --csv; do tool_sees "$both" runqslower $f -n spin --fields comm,duration_ns 100us | sed -E 's/[0-9]{6,}/N/' | sort -u; done
NEEDS prog:spin cmd:taskset btf
TIMEOUT 60
EXPECT
	{"type": "event", "table": "waits", "comm": "spin", "duration_ns": N}
	comm,duration_ns
	spin,N

NAME names for tools with options
RUN
	p="$SONDE_TESTS/runtime"; c=build/tests/calls
	"$SONDE" stacksnoop -q --fields function "$c:greet" -- $c 2; "$SONDE" rubyobjnew -q "$p" -- "$p"; "$SONDE" javathreads -q --fields event,name "$p" -- "$p" | grep -v pthread
	"$SONDE" rubystat -qj --fields objects,exceptions -l "$p" 1h -- "$p"; "$SONDE" cobjnew -qj libc -- build/tests/leak | grep -c 'malloc <= ' | sed 's/^[1-9][0-9]*$/some/'; "$SONDE" cthreads -q --csv --fields event,function -- build/tests/threads 1
NEEDS uprobe prog:calls prog:runtime prog:leak prog:threads
TIMEOUT 40
EXPECT
	FUNC
	greet
	greet
	NAME/TYPE                            # ALLOCS      # BYTES
	Point                                       2            0
	array                                       1            7
	TYPE     NAME
	start    worker
	{"type": "row", "table": "programs", "objects": 3, "exceptions": 1}
	some
	event,function
	pthread,work

NAME iosnoop and iolatency: requests of a disk
RUN
	with_loop '
		tool_sees "dd if=/dev/zero of=\$disk bs=8k count=3 oflag=direct 2>/dev/null" iosnoop --disk ${disk#/dev/} --fields op,bytes --csv
		tool_sees "dd if=/dev/zero of=\$disk bs=8k count=3 oflag=direct 2>/dev/null" iolatency --disk ${disk#/dev/} -j | grep -o "\"type\": \"hist\""'
NEEDS file:/dev/loop-control cmd:losetup btf
TIMEOUT 30
ALONE
EXPECT
	op,bytes
	W,8192
	W,8192
	W,8192
	"type": "hist"
