# Tools about system calls. build/tests/syscalls N WHAT calls WHAT N times.

NAME syscount: exact counts, as text, JSON and CSV
RUN "$SONDE" syscount -q -- build/tests/syscalls 1000 getppid | head -n 2; for f in -j --csv; do "$SONDE" syscount -q $f -- build/tests/syscalls 1000 getppid | grep getppid; done
NEEDS prog:syscalls tp:raw_syscalls/sys_exit
EXPECT
	SYSCALL                   COUNT
	getppid                    1000
	{"type": "row", "table": "calls", "syscall": "getppid", "calls": 1000}
	getppid,1000

NAME syscount: time, by process, failed ones, one number
RUN
	"$SONDE" syscount -qLj -- sleep 0.2 |
		sed -n 's/.*"clock_nanosleep", "calls": \([0-9]*\), "avg_ns": [0-9]*, "total_ns": \([0-9]\)[0-9]\{8\}}/\1 \2/p'
	"$SONDE" syscount -qP --fields comm,calls --syscall getppid -- build/tests/syscalls 500 getppid
	"$SONDE" syscount -qx --fields syscall -- cat /nope 2>/dev/null | grep -cx 'openat *'
	"$SONDE" syscount -q --errno 2 --fields syscall -- cat /nope 2>/dev/null | grep -E 'write|fstat'
	echo done
NEEDS prog:syscalls tp:raw_syscalls/sys_exit x86_64
EXPECT
	1 2
	COMM                COUNT
	syscalls              500
	1
	done

NAME syscount: reports
RUN "$SONDE" syscount -q --time 50ms 3 | grep -c SYSCALL; "$SONDE" syscount -q --top 1 -- build/tests/syscalls 500 getppid | tail -n +2
NEEDS prog:syscalls tp:raw_syscalls/sys_exit
TIMEOUT 20
EXPECT
	3
	getppid                     500

NAME syscount: by time, the longest first, in milliseconds, too
RUN
	for f in '' -m
	do "$SONDE" syscount -qL $f --csv -- sleep 0.2 |
		awk -F, 'NR == 1 { print $1, $2, $NF } NR == 2 { print $1 } NR > 2 && $NF > last { print "after a shorter one:", $0 } { last = $NF }'
	done
NEEDS prog:syscalls tp:raw_syscalls/sys_exit x86_64
EXPECT
	syscall calls total_ns
	clock_nanosleep
	syscall calls total_ns
	clock_nanosleep

NAME syscount -l: the names of all calls
RUN for f in '' -j --csv; do "$SONDE" syscount -q -l $f | grep -w 'read\|SYSCALL\|id,name'; done; "$SONDE" syscount -ql | grep -c '^ *[0-9]* [a-z_0-9]*$' | awk '{ print ($1 > 300) }'
NEEDS tp:raw_syscalls/sys_exit
EXPECT_RE
	  NR SYSCALL
	 +[0-9]+ read
	.*"table": "known", "id": [0-9]+, "name": "read".
	id,name
	[0-9]+,read
	1

NAME syscount: which calls, with bcc's letters
RUN
	"$SONDE" syscount -q -x -e ENOENT --syscall openat,getppid -T 1 -- sh -c 'cat /nope; cat /nope' 2>/dev/null | sed 's/ [0-9]*$/ N/'
	"$SONDE" syscount -q --syscall getppid -- build/tests/syscalls 300 getppid
	"$SONDE" syscount -q -c 1 --syscall getppid -- build/tests/syscalls 300 getppid
	"$SONDE" syscount -e ENOTHING 2>&1; "$SONDE" syscount --syscall nothing 2>&1
NEEDS prog:syscalls tp:raw_syscalls/sys_exit
TIMEOUT 30
EXPECT_RE
	SYSCALL                   COUNT
	openat +N
	SYSCALL                   COUNT
	getppid                     300
	ERROR: --errno needs a name or a number \(got 'ENOTHING'\)
	sonde syscount -h shows its options\.
	.*there is no system call 'nothing'
	...
RC 1
