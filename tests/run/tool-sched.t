# Tools about threads and CPUs: each is attached before its load begins, and ends by Ctrl-C.

NAME runqslower: threads that share one CPU wait
RUN
	tool_sees 'taskset -c 0 build/tests/spin 100 & a=$!; taskset -c 0 build/tests/spin 100; wait $a' runqslower -P -n spin 100us >"$TMPDIR/o"
	head -n 1 "$TMPDIR/o"
	grep -cE '^[0-9:]{8} spin +[0-9]+ +[0-9]{3,} .+ [0-9]+ +[0-9]+ +0$' "$TMPDIR/o" | sed 's/^[1-9][0-9]*$/some/'
NEEDS prog:spin cmd:taskset btf
TIMEOUT 40
EXPECT
	TIME     COMM             TID            LAT(us) PREV COMM        PREV TID PID     CPU
	some

NAME cpudist: a thread that spins, and one that sleeps
RUN
	dist() { tool_sees 'build/tests/spin 50 50' cpudist "$@" >"$TMPDIR/o"; }
	some() { grep -cE "$1" "$TMPDIR/o" | sed 's/^[1-9][0-9]*$/some/'; }
	dist -P -e; some '^pid = [0-9]+, comm = spin, usecs:$'; some '^[0-9]+ +spin +[1-9][0-9]* +[0-9]+ +[0-9]{5,}$'
	dist -O -L -m -j; some '"table": "times_ms", "tid": [0-9]+, "comm": "spin", "msecs": \[.*"min": (32|64)'
	dist -P -I; some '^pid = [0-9]+, comm = spin, usecs:$'; dist -P; some '^pid = 0, '
	dist -P --csv; head -n 1 "$TMPDIR/o"; some '^[0-9]+,spin,[0-9]+,[0-9]+,[1-9][0-9]*$'
NEEDS prog:spin btf
TIMEOUT 40
EXPECT
	some
	some
	some
	some
	0
	pid,comm,usecs_min,usecs_max,usecs_count
	some

NAME cpuwalk and runqlen: threads on one CPU
RUN
	taskset -c 0 build/tests/spin 100000 & a=$!; taskset -c 0 build/tests/spin 100000 & b=$!
	"$SONDE" cpuwalk -q -n spin --csv 1 1 | grep -E '^cpu|^0,' | sed -E 's/,[1-9][0-9]*,(0\.[0-9]*[1-9][0-9]*|1\.0+)$/ busy/'
	"$SONDE" cpuwalk -q -n spin 1 1 | awk '$1 == "0" && $3 + 0 > 0 { print "busy" }'; "$SONDE" cpuwalk -q -n spin -j 1 1 | grep -cE '"cpu": 0, "samples": [1-9][0-9]*, "busy_ratio": (0\.[0-9]*[1-9]|1)'
	"$SONDE" runqlen -q -C --csv 1 1 | awk -F, 'NR == 1 { print } $1 == "0" && $2 > 0 { n += $4 } END { print (n > 0 ? "waiting" : "none") }'
	"$SONDE" runqlen -q -C 1 1 | awk '/^cpu/ { cpu = $3 } /^\[[1-9]/ && cpu == "0," { n += $2 } END { print (n > 0 ? "waiting" : "none") }'
	"$SONDE" runqlen -q -O -C -j 1 1 | grep '"cpu": 0' | sed -E 's/: [1-9][0-9]*, "waiting_ratio": ([01]\.[0-9]{4})\}/ \1/; s/ 0\.0000//; s/ [01]\.[0-9]{4}$/ some/'
	kill $a $b
NEEDS prog:spin cmd:taskset btf
TIMEOUT 40
EXPECT
	cpu,samples,busy_ratio
	0 busy
	busy
	1
	cpu,length_min,length_max,length_count
	waiting
	waiting
	{"type": "row", "table": "occupied", "interval": 1, "cpu": 0, "samples" some

NAME naptime: naps that are long enough
RUN "$SONDE" naptime -q -m 50 --csv --fields pcomm,comm,duration_ns -- sh -c 'sleep 0.05; sleep 0.01; :'
NEEDS tp:syscalls/sys_enter_clock_nanosleep btf
EXPECT_RE
	pcomm,comm,duration_ns
	sh,sleep,5000000[01]

NAME pidpersec: processes and threads
RUN "$SONDE" pidpersec -q --csv >"$TMPDIR/o" & s=$!; until_written "$TMPDIR/o"; while ! grep -qE '^[^,]+,[1-9]' "$TMPDIR/o"; do /bin/true; done; kill -INT $s; wait $s; head -n 1 "$TMPDIR/o"
NEEDS tp:task/task_newtask
TIMEOUT 40
EXPECT
	time,processes,threads

NAME softirqslower and wqlat: interrupts and work of an idle machine
RUN
	"$SONDE" softirqslower -q 1ns --csv >"$TMPDIR/o" & s=$!
	eventually grep -qE '^[^,]+,softirq runtime,[a-z_]+,[0-9]+,[0-9]+,.+$' "$TMPDIR/o"; eventually grep -qE ',irq\(hard\) to softirq,' "$TMPDIR/o"; kill -INT $s; wait $s; head -n 1 "$TMPDIR/o"
	for o in '' -N -W '-F -E'; do
		tool_sees 'sync; sleep 1' wqlat $o | grep -cE '^(workqueue = .+, |function = .+, )?(usecs|nsecs):$' | sed 's/^[1-9][0-9]*$/some/'
	done
NEEDS tp:irq/softirq_raise btf
TIMEOUT 60
EXPECT
	time,stage,softirq,duration_ns,cpu,comm
	some
	some
	some
	some
