# sonde stacks. build/tests/stands has threads at known places.

NAME stacks: all threads of a process, asleep, behind a lock, deep, and running
RUN
	mkfifo "$TMPDIR/in"; build/tests/stands <"$TMPDIR/in" >"$TMPDIR/out" & p=$!; exec 3>"$TMPDIR/in"
	settled() { test "$(sed 's/.*) //; s/ .*//' /proc/$p/task/*/stat | tr -d '\n')" = SSSSR; }
	until_written "$TMPDIR/out"; eventually settled
	"$SONDE" stacks -q -U -p $p >"$TMPDIR/all"; grep -v 'descends+' "$TMPDIR/all"; grep -c 'descends+' "$TMPDIR/all"
EXPECT_RE
	PID     TID     COMM             STATE CALL             WAITS IN
	[0-9]+ +[0-9]+ +stands +S +read +[a-z_]*pipe_read
	$
	.*
	...
	        main\+[0-9]+
	...
	        _start\+[0-9]+
	[0-9]+ +[0-9]+ +sleeper +S +clock_nanosleep +[a-z_]*nanosleep[a-z_]*
	$
	        .*nanosleep.*
	...
	        sleeps\+[0-9]+
	        sleeper\+[0-9]+
	        start_thread\+[0-9]+
	...
	[0-9]+ +[0-9]+ +locker +S +futex +futex_[a-z_]+
	$
	        .*lock.*
	...
	        locks\+[0-9]+
	        locker\+[0-9]+
	        start_thread\+[0-9]+
	...
	[0-9]+ +[0-9]+ +deep +S +pause +[a-z0-9_]*pause
	$
	        .*pause\+[0-9]+
	        deep\+[0-9]+
	        start_thread\+[0-9]+
	...
	[0-9]+ +[0-9]+ +spinner +R +- +-
	$
	        spins\+[0-9]+
	        spinner\+[0-9]+
	        start_thread\+[0-9]+
	...
	21
NEEDS btf prog:stands x86_64 dwunwind
TIMEOUT 20

NAME stacks: the kernel's alone, some threads, JSON, a stopped process
RUN
	mkfifo "$TMPDIR/in"; build/tests/stands <"$TMPDIR/in" >"$TMPDIR/out" & p=$!; exec 3>"$TMPDIR/in"
	settled() { test "$(sed 's/.*) //; s/ .*//' /proc/$p/task/*/stat | tr -d '\n')" = $1; }
	until_written "$TMPDIR/out"; eventually settled SSSSR
	"$SONDE" stacks -q -K -n locker -p $p
	t=$(grep -lx sleeper /proc/$p/task/*/comm | sed 's|/comm||; s|.*/||')
	"$SONDE" stacks -q -j -t $t -p $p | grep -o '"comm": "sleeper", "state": "S"\|"sym": "sleep[a-z]*"\|"sym": "[a-z_0-9]*sys[a-z_]*nanosleep"' | sort -u
	kill -STOP $p; eventually settled TTTTT
	"$SONDE" stacks -q -U -p $p | grep -c 'spins+\|spinner+\|sleeps+\|locks+\| T '
	kill -CONT $p
EXPECT_RE
	PID     TID     COMM             STATE CALL             WAITS IN
	[0-9]+ +[0-9]+ +locker +S +futex +futex_[a-z_]+
	$
	        futex_[a-z_]+\+[0-9]+
	...
	"comm": "sleeper", "state": "S"
	...
	"sym": "sleeper"
	"sym": "sleeps"
	9
NEEDS btf prog:stands x86_64 dwunwind
TIMEOUT 30

NAME stacks: Python's threads, as Python itself writes them
RUN /usr/bin/python3 tests/kernel/pystands.py "$SONDE" /usr/bin/python3
EXPECT_RE
	5 stacks, [34][0-9] frames are the same
NEEDS btf dwunwind file:/usr/bin/python3
TIMEOUT 60

NAME stacks: of the kernel's threads
RUN "$SONDE" stacks -q -K --all -n =kthreadd
EXPECT_RE
	PID     TID     COMM             STATE CALL             WAITS IN
	2 +2 +kthreadd +S +kthreadd
	$
	        kthreadd\+[0-9]+
	        ret_from_fork.*
	...
NEEDS btf sym:bpf_iter_new_fd

NAME stacks: of a control group
RUN
	sleep 100 & p=$!; until_named $p sleep
	"$SONDE" stacks -q -U --cgroup /sys/fs/cgroup$(sed -n 's/^0:://p' /proc/$p/cgroup) -n =sleep | grep -c "^$p .*clock_nanosleep"
	"$SONDE" stacks -q -U --cgroup /sys/fs/cgroup -p $p -n =sleep | grep -c "^$p .*clock_nanosleep"
	kill $p
EXPECT
	1
	1
NEEDS btf dwunwind file:/sys/fs/cgroup/cgroup.procs
TIMEOUT 30

NAME stacks: of which processes?
RUN "$SONDE" stacks 2>&1; echo $?
EXPECT
	ERROR: of which processes? -p PID, --cgroup DIR, or --all
	2
NEEDS btf
