# Tools about disks: a loop device over a file, written past the page cache. How a kernel tells who made a request
# differs: those cases ask for a function of the block layer that all have, so that they run in each test guest.

NAME biosnoop: each request, as text, JSON and CSV
RUN
	/bin/dd if=/dev/zero of="$TMPDIR/img" bs=1M count=4 2>/dev/null
	l=$(/usr/sbin/losetup -f --show "$TMPDIR/img")
	n=${l#/dev/}
	for f in '' -j --csv
	do tool_sees '/bin/dd if=/dev/zero of=$l bs=8k count=20 oflag=direct 2>/dev/null' biosnoop $f -d $n --fields comm,disk,op,bytes >"$TMPDIR/o"
	grep -E 'COMM|comm,|dd' "$TMPDIR/o" | sed "s/$n/LOOP/; s/  *$//" | sort | uniq -c
	done
	/usr/sbin/losetup -d $l
NEEDS file:/dev/loop-control cmd:losetup btf sym:blk_mq_start_request
TIMEOUT 30
ALONE
EXPECT
	      1 COMM           DISK      T BYTES
	     20 dd             LOOP     W 8192
	     20 {"type": "event", "table": "requests", "comm": "dd", "disk": "LOOP", "op": "W", "bytes": 8192}
	      1 comm,disk,op,bytes
	     20 dd,LOOP,W,8192

NAME biolatency: as many as there were, by disk and flags, with the average
RUN
	/bin/dd if=/dev/zero of="$TMPDIR/img" bs=1M count=4 2>/dev/null
	l=$(/usr/sbin/losetup -f --show "$TMPDIR/img")
	n=${l#/dev/}
	for f in -e '-e -j' '--csv -Q'
	do tool_sees '/bin/dd if=/dev/zero of=$l bs=8k count=20 oflag=direct 2>/dev/null' biolatency -DF $f -d $l >"$TMPDIR/o"
	sed -E "s/$n/LOOP/; s/[A-Za-z-]*Sync-Write/Sync-Write/" "$TMPDIR/o" >"$TMPDIR/p"
	grep -o '^disk = LOOP, flags = Sync-Write, usecs:' "$TMPDIR/p"
	awk -F, '/^LOOP,Sync-Write,/ && NF == 5 { n += $5 } END { if (n) print n }' "$TMPDIR/p"
	sed -nE 's/^LOOP +Sync-Write +20 +[1-9][0-9]* +[1-9][0-9]*$/20, in all/p; s/"(average|total)_ns": [1-9][0-9]+/"\1_ns": N/g; /"sums"/p' "$TMPDIR/p"
	grep '"disk": "LOOP", "flags": "Sync-Write"' "$TMPDIR/p" | grep -v sums | grep -o '"count": [0-9]*' |
		awk '{ n += $2 } END { if (n) print n }'
	done
	/usr/sbin/losetup -d $l
NEEDS file:/dev/loop-control cmd:losetup btf
TIMEOUT 40
ALONE
EXPECT
	disk = LOOP, flags = Sync-Write, usecs:
	20, in all
	{"type": "row", "table": "sums", "disk": "LOOP", "flags": "Sync-Write", "count": 20, "average_ns": N, "total_ns": N}
	20
	20

NAME biosnoop -P: one after the other; of one disk only: biostacks, biopattern
RUN
	with_loop '
		tool_sees "/bin/dd if=/dev/zero of=\$disk bs=8k count=20 oflag=direct 2>/dev/null; /bin/dd if=\$disk of=/dev/null bs=8k count=1 skip=100 iflag=direct 2>/dev/null" biosnoop -P -d $disk --fields comm,op,bytes,pattern | grep "^dd" | uniq -c
		tool_sees "/bin/dd if=/dev/zero of=\$disk bs=8k count=20 oflag=direct 2>/dev/null" biostacks -d $disk -P | grep -c "^comm = dd,"
		"$SONDE" biopattern -q -d no 1 1 2>&1 | head -n 1; "$SONDE" biolatpcts -w x 2>&1'
NEEDS file:/dev/loop-control cmd:losetup btf sym:bpf_for_each_map_elem
TIMEOUT 40
ALONE
EXPECT_RE
	      1 dd +W 8192 +R
	     19 dd +W 8192 +S
	      1 dd +R 8192 +R
	1
	ERROR: --disk needs a disk that lsblk -d names \(got 'no'\)
	ERROR: --which needs on-device, after-rq-alloc or from-rq-alloc \(got 'x'\)
	sonde biolatpcts -h shows its options.

NAME biosnoop: requests of some types, processes and programs, with their start
RUN
	with_loop '
		see() { tool_sees "/bin/dd if=/dev/zero of=\$disk bs=8k count=4 oflag=direct 2>/dev/null; /bin/dd if=\$disk of=/dev/null bs=8k count=3 iflag=direct 2>/dev/null" biosnoop -d $disk --csv "$@" | uniq -c; }
		see -n =dd -i R --fields comm,op; see --iotype "*W*" -n dd --fields op; see -p 1 --fields pid; see -n =dd -i RW -s --fields time_ns,start_ns,duration_ns | awk -F "[ ,]+" "NR > 1 && \$3 - \$4 >= \$5 { n++ } END { print n }"'
NEEDS file:/dev/loop-control cmd:losetup btf sym:blk_mq_start_request
TIMEOUT 60
ALONE
EXPECT
	      1 comm,op
	      3 dd,R
	      1 op
	      4 W
	      1 pid
	7

NAME bitesize: how large requests are
RUN
	/bin/dd if=/dev/zero of="$TMPDIR/img" bs=1M count=4 2>/dev/null
	l=$(/usr/sbin/losetup -f --show "$TMPDIR/img")
	n=${l#/dev/}
	for f in '' -j --csv '-b 4,9'
	do tool_sees '/bin/dd if=/dev/zero of=$l bs=8k count=20 oflag=direct 2>/dev/null' bitesize $f -d $n -c dd >"$TMPDIR/o"
	grep -E '^Process|^\[[48]|^dd,8|"dd"|^comm' "$TMPDIR/o" | sed 's/  *|.*//'
	done
	/usr/sbin/losetup -d $l
NEEDS file:/dev/loop-control cmd:losetup btf sym:blk_mq_start_request
TIMEOUT 30
ALONE
EXPECT
	Process Name = dd, Kbytes:
	[8, 16)               20
	{"type": "hist", "table": "sizes", "comm": "dd", "kbytes": [{"min": 8, "max": 15, "count": 20}]}
	comm,kbytes_min,kbytes_max,kbytes_count
	dd,8,15,20
	Process Name = dd, Kbytes:
	[4, 9)                20

NAME biotop: who, how much, how long
RUN
	one() { tool_sees '/bin/dd if=/dev/zero of=$disk bs=8k count=20 oflag=direct 2>/dev/null' biotop --disk ${disk#/dev/} "$@" 1h >"$TMPDIR/o"; }
	with_loop '
		one --fields comm,op,disk,requests,bytes; grep -c "loadavg: [0-9]" "$TMPDIR/o"; grep -E "^COMM|^dd" "$TMPDIR/o" | sed "s,${disk#/dev/},LOOP,"
		one --fields comm,bytes -j; grep dd "$TMPDIR/o"
		one --fields comm,bytes,avg_ns --csv; grep -E "dd|comm" "$TMPDIR/o"'
NEEDS file:/dev/loop-control cmd:losetup btf sym:blk_mq_start_request
TIMEOUT 30
ALONE
EXPECT_RE
	1
	COMM             D DISK       I/O  Kbytes
	dd +W LOOP +20     160
	\{"type": "row", "table": "io", "interval": 1, "comm": "dd", "bytes": 163840\}
	comm,bytes,avg_ns
	dd,163840,[1-9][0-9]*

NAME biopattern: in order, and not
RUN
	with_loop '
		tool_sees "/bin/dd if=/dev/zero of=\$disk bs=8k count=21 oflag=direct 2>/dev/null" biopattern -d $disk --fields disk,random_ratio,sequential_ratio,requests,bytes 1h | sed "s,${disk#/dev/},LOOP,"
		tool_sees "for i in 9 2 7 4 1; do /bin/dd if=\$disk of=/dev/null bs=8k count=1 skip=\${i}0 iflag=direct 2>/dev/null; done" biopattern --disk ${disk#/dev/} --fields random_ratio,requests --csv 1h | tail -n 1
		tool_sees "/bin/dd if=/dev/zero of=\$disk bs=8k count=21 oflag=direct 2>/dev/null" biopattern -d $disk --fields requests -j 1h'
NEEDS file:/dev/loop-control cmd:losetup btf sym:bpf_for_each_map_elem
TIMEOUT 30
ALONE
EXPECT_RE
	\(last [0-9]+\.[0-9] s\)
	DISK        %RND    %SEQ    COUNT     KBYTES
	LOOP +0.00% 100.00%       20        160
	1.0000,4
	\{"type": "row", "table": "pattern", "interval": 1, "requests": 20\}

NAME biostacks: a stack, and a histogram below
RUN
	with_loop 'tool_sees "/bin/dd if=/dev/zero of=\$disk bs=8k count=20 oflag=direct 2>/dev/null" biostacks -P -n dd' |
		awk '/submit_bio/ { s = 1 } /^comm = dd, usecs:/ { c = 1 } /^\[/ { sub(/\|.*/, ""); n += $NF } END { print s, c, n }'
NEEDS file:/dev/loop-control cmd:losetup btf
TIMEOUT 30
ALONE
EXPECT
	1 1 20

NAME biolatpcts: percentiles of each operation
RUN
	with_loop '
		for f in "" -j "--csv -p 50,99.9"; do
			tool_sees "/bin/dd if=/dev/zero of=\$disk bs=8k count=20 oflag=direct 2>/dev/null" biolatpcts $f -i 1h $disk >"$TMPDIR/o"
			grep -E "DISK|write|disk," "$TMPDIR/o" | sed -E "s,${disk#/dev/},LOOP,; s/\<[0-9]+\>/N/g; s/  +/ /g"
		done
		tool_sees "/bin/dd if=/dev/zero of=\$disk bs=8k count=20 oflag=direct 2>/dev/null" biolatpcts -w after-rq-alloc --percentiles p50 -i 1h ${disk#/dev/} --fields op,usecs_p50,requests | grep -cE "^write +[0-9]+ +20$"'
NEEDS file:/dev/loop-control cmd:losetup btf
TIMEOUT 40
ALONE
EXPECT
	DISK OP p1 p5 p10 p25 p50 p75 p90 p95 p99 p99.N p100 COUNT
	LOOP write N N N N N N N N N N N N
	{"type": "row", "table": "latency", "interval": N, "disk": "LOOP", "op": "write", "usecs_p1": N, "usecs_p5": N, "usecs_p10": N, "usecs_p25": N, "usecs_p50": N, "usecs_p75": N, "usecs_p90": N, "usecs_p95": N, "usecs_p99": N, "usecs_p99_9": N, "usecs_p100": N, "requests": N}
	disk,op,usecs_p50,usecs_p99_9,requests
	LOOP,write,N,N,N
	1

NAME biosnoop, biotop, biolatency: requests that a control group makes
RUN m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1); d=$m/sonde-$$; mkdir "$d" "$d/below"
	with_loop '
		write="/bin/dd if=/dev/zero of=$disk bs=8k oflag=direct"
		both="$write count=3 2>/dev/null; sh -c \"echo \\\$\\\$ >$d/below/cgroup.procs; exec $write count=5 2>/dev/null\""
		for g in "" "--cgroup $d"; do
			tool_sees "$both" biosnoop --disk ${disk#/dev/} --csv --fields op $g | grep -c W
			tool_sees "$both" biotop --disk ${disk#/dev/} --csv --fields comm,requests $g 1h | awk -F, "/^dd/ { n += \$2 } END { print n }"
			tool_sees "$both" biolatency -Q --disk ${disk#/dev/} --csv $g | awk -F, "NR > 1 { n += \$3 } END { print n }"
		done'
	"$SONDE" --dry-run biolatency --cgroup "$d/none" 2>&1 | sed "s,$d,DIR,; s, (nor .*,,; 1q"; rmdir "$d/below" "$d"
EXPECT
	8
	8
	8
	5
	5
	5
	ERROR: --cgroup: control group DIR/none does not exist
NEEDS file:/dev/loop-control cmd:losetup btf sym:blk_mq_start_request file:/sys/fs/cgroup
TIMEOUT 60
ALONE
