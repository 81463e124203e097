# ksnoop: functions of the kernel with their arguments by BTF.

NAME ksnoop info: prototypes
RUN "$SONDE" ksnoop info vfs_read 'schedule' vfs_fsync; "$SONDE" ksnoop -q -j info vfs_fsync; "$SONDE" ksnoop --csv info 'vfs_fsync(file)' 2>&1
NEEDS btf
EXPECT
	ssize_t vfs_read(struct file * file, char * buf, size_t count, loff_t * pos);
	void schedule(void);
	int vfs_fsync(struct file * file, int datasync);
	{"type": "event", "table": "prototypes", "function": "vfs_fsync", "prototype": "int vfs_fsync(struct file * file, int datasync);"}
	function,prototype
	vfs_fsync,"int vfs_fsync(struct file * file, int datasync);"

NAME ksnoop: mistakes have a place
RUN
	for w in 'vfs_read(file->f_flag)' 'vfs_read(file->f_flag_of_nobody)' 'vfs_read(size)' 'schedule(x)' 'vfs_read(count->x)' 'vfs_read(file->)' \
		'vfs_read(count > x)' 'vfs_read(count == -x)' 'vfs_read(file->f_path == 1)' 'vfs_read(count' 'vfs_read()' 'vfs_read(count, )' 'vfs_read(count) x' \
		'schedule(return == 1)' 'schedule(return->x)' 'do_exit(return)' nosuch_function '(count)'; do
		"$SONDE" ksnoop trace "$w" 2>&1
	done
	"$SONDE" ksnoop -s trace vfs_read vfs_fsync vfs_read 2>&1; "$SONDE" ksnoop info 2>&1; "$SONDE" ksnoop vfs_read 2>&1; "$SONDE" ksnoop trace vfs_read $(seq 32) 2>&1
	"$SONDE" --no-feature FENTRY ksnoop trace 'ip_append_data(length)' 'ip_append_data(flags)' 2>&1
NEEDS btf
RC 1
EXPECT
	ksnoop:1:16-22: ERROR: struct file has no member 'f_flag': is 'f_flags' meant?
	vfs_read(file->f_flag)
	               ~~~~~~
	ksnoop:1:16-32: ERROR: struct file has no member 'f_flag_of_nobody'
	vfs_read(file->f_flag_of_nobody)
	               ~~~~~~~~~~~~~~~~
	ksnoop:1:10-14: ERROR: vfs_read has no parameter 'size', only file, buf, count, pos
	vfs_read(size)
	         ~~~~
	ksnoop:1:10-11: ERROR: schedule has no parameter 'x', only return
	schedule(x)
	         ~
	ksnoop:1:17-18: ERROR: 'count' is no structure, and has no members
	vfs_read(count->x)
	                ~
	ksnoop:1:16-17: ERROR: expected a member's name after '->'
	vfs_read(file->)
	               ~
	ksnoop:1:16-19: ERROR: expected a number after '>'
	vfs_read(count > x)
	               ~~~
	ksnoop:1:16-21: ERROR: expected a number after '=='
	vfs_read(count == -x)
	               ~~~~~
	ksnoop:1:23-27: ERROR: 'f_path' is no number to compare
	vfs_read(file->f_path == 1)
	                      ~~~~
	ksnoop:1:14-15: ERROR: expected ',' or ')' after an argument
	vfs_read(count
	             ~
	ksnoop:1:10-11: ERROR: expected the name of a parameter, or return
	vfs_read()
	         ~
	ksnoop:1:17-18: ERROR: expected the name of a parameter, or return
	vfs_read(count, )
	                ~
	ksnoop:1:17-18: ERROR: expected FUNCTION or FUNCTION(ARG, ...)
	vfs_read(count) x
	                ~
	ksnoop:1:10-17: ERROR: schedule returns nothing
	schedule(return == 1)
	         ~~~~~~~
	ksnoop:1:10-18: ERROR: schedule returns nothing
	schedule(return->x)
	         ~~~~~~~~
	ksnoop:1:9-15: ERROR: do_exit does not return
	do_exit(return)
	        ~~~~~~
	ksnoop:1:1-16: ERROR: the kernel's BTF has no function 'nosuch_function'
	nosuch_function
	~~~~~~~~~~~~~~~
	ksnoop:1:1-2: ERROR: expected a function of the kernel
	(count)
	~
	ksnoop:1:1-9: ERROR: vfs_read is in the order twice
	vfs_read
	~~~~~~~~
	ksnoop:1:1-5: ERROR: expected a function after 'info'
	info
	~~~~
	ksnoop:1:1-9: ERROR: expected trace or info before the functions
	vfs_read
	~~~~~~~~
	ksnoop:1:1-2: ERROR: more than 32 functions
	32
	~
	ksnoop:1:16-21: ERROR: kprobes do not have 'flags'
	ip_append_data(flags)
	               ~~~~~

NAME ksnoop: calls and returns
RUN
	"$SONDE" ksnoop -q trace vfs_read 'rw_verify_area(count == 77, file->f_flags)' -- build/tests/rw w20 r77 >"$TMPDIR/o"
	sed -E 's/^ *[0-9]+ +[0-9]+ +[0-9]+ /T C P /; s/0x[0-9a-f]{2,}/ADDR/g' "$TMPDIR/o" | grep -vE '^ {30,}[.]'
NEEDS fentry btf
TIMEOUT 30
EXPECT
	            TIME  CPU      PID FUNCTION/ARGS
	T C P vfs_read(
	                                   file = *(ADDR)
	                                    (struct file){
	                                    },
	                                   buf = ADDR,
	                                   count = (size_t)77,
	                                   pos = *(ADDR)
	                                    (loff_t)0
	                               );
	T C P rw_verify_area(
	                                   count = (size_t)77,
	                                   file->f_flags = (unsigned int)32768
	                               );
	T C P vfs_read(
	                                   return = (ssize_t)77
	                               );

NAME ksnoop: conditions; with return, one row for the whole call
RUN
	see() { "$SONDE" ksnoop -q --csv --fields function,event,args trace "$@" -- build/tests/rw w20 r77 r78 | sed 's/0x[0-9a-f]*/ADDR/'; }
	see 'vfs_read(count == 77, return)' 'vfs_write(count >= 20, pos != 0, return < 0)'
	see 'vfs_read(count != 77, count > 0x4d, count <= 78, return == 78)'
	see 'vfs_read(file->f_flags, count < 77, count > 76)'
	see 'vfs_read(return > 77)' 'vfs_read(return == -1)' 'vfs_write(file->f_mode != 0, return)' 'vfs_write(pos, count, file->f_mode)' 'vfs_read(count >= 78)' | sed 's/f_mode = [0-9]*/f_mode = N/'
	"$SONDE" ksnoop -q -j --fields function,event,args trace 'vfs_read(file->f_flags, return > 77)' -- build/tests/rw r77 r78
NEEDS kprobe btf
TIMEOUT 40
EXPECT
	function,event,args
	vfs_read,call,"{ .count = 77, .return = 77 }"
	function,event,args
	vfs_read,call,"{ .count = 78, .return = 78 }"
	function,event,args
	function,event,args
	vfs_write,entry,"{ .pos = (ADDR, 0), .count = 20, .file = { .f_mode = N } }"
	vfs_write,call,"{ .file = { .f_mode = N }, .return = 20 }"
	vfs_read,entry,{ .count = 78 }
	vfs_read,return,{ .return = 78 }
	{"type": "event", "table": "calls", "function": "vfs_read", "event": "call", "args": {"file": {"f_flags": 32768}, "return": 78}}

NAME ksnoop -s: calls within each other
RUN
	see() { "$SONDE" "$@" -- build/tests/rw w20 r77 r78; }
	k='ksnoop -s -q --csv --fields function,event,args'
	see $k trace 'vfs_read(count == 77, return)' 'rw_verify_area(count)' 'security_file_permission(mask)'
	see $k trace 'rw_verify_area(count)' 'vfs_read(count)'; see $k trace 'vfs_read(count, return > 77)' 'rw_verify_area(count == 78, return)'
	see $k trace 'vfs_read(count > 70, return)' 'vfs_write'; see $k trace 'vfs_read(count == 77)'
	see --no-feature FENTRY $k trace 'vfs_read(count == 77, return)' 'rw_verify_area(count, return)'
NEEDS slow kprobe btf
TIMEOUT 60
EXPECT
	function,event,args
	vfs_read,entry,{ .count = 77 }
	rw_verify_area,entry,{ .count = 77 }
	security_file_permission,entry,{ .mask = 4 }
	vfs_read,return,{ .return = 77 }
	function,event,args
	function,event,args
	vfs_read,entry,{ .count = 78 }
	rw_verify_area,entry,{ .count = 78 }
	rw_verify_area,return,{ .return = 0 }
	vfs_read,return,{ .return = 78 }
	function,event,args
	function,event,args
	vfs_read,entry,{ .count = 77 }
	function,event,args
	vfs_read,entry,{ .count = 77 }
	rw_verify_area,entry,{ .count = 77 }
	rw_verify_area,return,{ .return = 0 }
	vfs_read,return,{ .return = 77 }

NAME ksnoop: kprobes where there is no trampoline
RUN
	"$SONDE" --no-feature FENTRY ksnoop -q trace 'vfs_read(count == 77, file, file->f_flags, return)' -- build/tests/rw r77 >"$TMPDIR/o"
	sed -E 's/^ *[0-9]+ +[0-9]+ +[0-9]+ /T C P /; s/0x[0-9a-f]{2,}/ADDR/g' "$TMPDIR/o" | grep -vE '^ {30,}[.]'
	"$SONDE" --no-feature FENTRY -d script ksnoop trace 'vfs_read(count == 77, file->f_flags)' 'schedule(return)' | sed -n '/^kprobe/,$p'
NEEDS kprobe btf
TIMEOUT 30
EXPECT
	            TIME  CPU      PID FUNCTION/ARGS
	T C P vfs_read(
	                                   count = 77,
	                                   file = *(ADDR)
	                                    (struct file){
	                                    },
	                                   file->f_flags = (unsigned int)32768,
	                                   return = 77
	                               );
	kprobe:vfs_read
	/(uint64)((uint64)arg2) == 77/
	{
		emit(calls, time_ns = nsecs, cpu = cpu, pid = pid, comm = comm, function = "vfs_read", event = "entry",
		     args = (count = ((uint64)arg2), file = (f_flags = ((struct file *)arg0)->f_flags)));
	}
	$
	kretprobe:schedule
	{
		emit(calls, time_ns = nsecs, cpu = cpu, pid = pid, comm = comm, function = "schedule", event = "return",
		     args = (return = "void"));
	}
	$

NAME ksnoop: structures by value, more arguments than registers, functions that do not return
RUN
	for f in from_kuid 'ip_append_data(sk, from, length)' do_exit; do "$SONDE" ksnoop -q trace "$f" -- build/tests/rw r1 >"$TMPDIR/o" 2>&1; echo "$f $? $(grep -c ERROR "$TMPDIR/o")"; done
	"$SONDE" ksnoop -q --csv --fields function,event,args trace 'do_exit(code)' -- build/tests/rw r1
	"$SONDE" --no-feature FENTRY -d script ksnoop trace from_kuid | grep -o 'kuid = .*'
NEEDS kprobe btf
TIMEOUT 40
EXPECT
	from_kuid 0 0
	ip_append_data(sk, from, length) 0 0
	do_exit 0 0
	function,event,args
	do_exit,entry,{ .code = 0 }
	kuid = ((uint32)arg1)));

NAME ksnoop -p: one process; --count ends it
RUN sh -c 'sleep 4; exec build/tests/rw r20 r21' & p=$!; "$SONDE" ksnoop -q --csv --fields pid,args -p $p --count 1 trace 'vfs_read(count == 21)' | sed "s/^$p,/P,/"
NEEDS kprobe btf
TIMEOUT 30
EXPECT
	pid,args
	P,{ .count = 21 }
