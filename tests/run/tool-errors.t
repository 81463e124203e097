# What tools say to what they cannot do, and with which exit code.

NAME tools: what this kernel lacks is one sentence, and exit code 2
RUN
	for t in dcsnoop readahead vfscount 'inject -p 1' swapin "fsslower --type ext4"
	do "$SONDE" --unsafe --no-feature KPROBE,FENTRY $t -q >"$TMPDIR/out" 2>"$TMPDIR/err"
	echo "$? $(cat "$TMPDIR/out" "$TMPDIR/err")"
	done
EXPECT
	2 ERROR: kprobe probes need kprobes, which this kernel lacks
	HINT: sonde opensnoop -x and statsnoop show names that do not exist
	2 ERROR: kprobe probes need kprobes, which this kernel lacks
	HINT: sonde cachestat shows hits and misses of the page cache
	2 ERROR: kprobe probes need kprobes, which this kernel lacks
	HINT: sonde vfsstat counts the most important calls, sonde syscount system calls
	2 ERROR: kprobe probes need kprobes, which this kernel lacks
	2 ERROR: kprobe probes need kprobes, which this kernel lacks
	2 ERROR: kprobe probes need kprobes, which this kernel lacks

NAME tools: a counter that the machine has not got is exit code 2
RUN "$SONDE" llcstat -q -d 100ms 2>&1; echo $?
NEEDS nohardware
EXPECT_RE
	ERROR: Unable to attach probe: hardware:cache-[a-z]*:1000: open hardware counter .* \(this machine has no such counter; virtual machines often have none\): [A-Z][a-z ]*
	2

NAME tools: what the user named and is not there is exit code 1, and so it is in a script
RUN
	for t in 'funccount build/tests/calls:nosuch' 'funccount t:nosuch:event' 'trace t:sched:nosuch'
	do "$SONDE" $t >/dev/null 2>&1
	echo $?
	done
	"$SONDE" --no-feature FENTRY -e 'fentry:vfs_read { }' >/dev/null 2>&1
	echo $?
	"$SONDE" -e 'tracepoint:sched:nosuch { }' 2>/dev/null
	echo $?
	"$SONDE" --no-feature FENTRY,KPROBE -e 'fentry:vfs_read else kprobe:vfs_read { }' 2>&1
	echo $?
NEEDS prog:calls
EXPECT
	1
	1
	1
	1
	1
	stdin:1:1-41: ERROR: fentry probes need BPF trampolines (fentry, fexit), which this kernel lacks; kprobe probes need kprobes, which this kernel lacks
	fentry:vfs_read else kprobe:vfs_read { }
	~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
	2

NAME tools: a probe that is not there is named, not the line that it was written to
RUN
	"$SONDE" funccount build/tests/calls:nosuch 2>&1
	"$SONDE" trace t:sched:nosuch 2>&1
	"$SONDE" dbslower "$TMPDIR/nosuch" 2>&1
	"$SONDE" dbslower build/tests/sdt 2>&1
	"$SONDE" dbslower "$(realpath build/tests/sdt)" -p $$ 2>&1
NEEDS prog:calls prog:sdt
EXPECT_RE
	ERROR: No matches for uprobe build/tests/calls:nosuch.
	ERROR: No matches for tracepoint sched:nosuch.
	ERROR: usdt target file '.*/nosuch' does not exist or is not executable
	ERROR: build/tests/sdt has none of the static probes that are looked for
	HINT: a program has them when it was built with them; `sonde tplist -l FILE` lists those of a file
	ERROR: .*/build/tests/sdt has none of the static probes that are looked for
	HINT: a program has them when it was built with them; `sonde tplist -p [0-9]+` lists those of a process
RC 1

NAME tools: --fields names a column once; percentiles together are not named again
RUN "$SONDE" opensnoop --fields pid,comm,pid; "$SONDE" runqlat -q --percentiles --fields usecs_p50,usecs --csv 100ms 1 | head -n 1
ERR
	ERROR: --fields names 'pid' twice
EXPECT
	usecs_p50,usecs_min,usecs_max,usecs_count,usecs_p90,usecs_p99,usecs_p99_9

NAME tools: so many reports need an interval
RC 2
RUN
	for t in 'runqlat 0 1' 'syscount --count 2' 'funccount --reports 2 c:malloc' 'stackcount --reports 2 c:malloc' 'funclatency --reports 1 c:malloc' 'uobjnew --malloc libc 0 2'
	do "$SONDE" $t
	done 2>&1
EXPECT
	ERROR: --count counts reports: how often, --interval says
	ERROR: --count counts reports: how often, --interval says
	ERROR: --reports counts reports: how often, --interval says
	ERROR: --reports counts reports: how often, --interval says
	ERROR: --reports counts reports: how often, --interval says
	ERROR: --count counts reports: how often, --interval says

NAME tools: times that no wait can have
RC 2
RUN for t in offcputime offwaketime wakeuptime; do "$SONDE" $t -m 5 -M 2 1; done 2>&1
NEEDS dwunwind
EXPECT
	ERROR: no wait is as long as --min and as short as --max
	ERROR: no wait is as long as --min and as short as --max
	ERROR: no wait is as long as --min and as short as --max

NAME tools: folded stacks of which there are none
RUN "$SONDE" stackcount -q -f build/tests/calls:greet -- true 2>&1; echo $?
NEEDS uprobe prog:calls
EXPECT
	ERROR: no stacks were counted
	1
