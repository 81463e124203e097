# Tools about the life of processes.

NAME execsnoop: programs and their arguments
RUN "$SONDE" execsnoop -q -- sh -c '/bin/echo a "b c" >/dev/null; /bin/nope; true' 2>/dev/null | sed 's/^\([^ ]*\) *[0-9]* *[0-9]* */\1 /'
NEEDS btf tp:sched/sched_process_exec
EXPECT
	PCOMM PID     PPID    RET ARGS
	sh 0 sh -c /bin/echo a "b c" >/dev/null; /bin/nope; true
	echo 0 /bin/echo a b c

NAME execsnoop: failed ones, as JSON and CSV
RUN for f in '-j --fields ret,argv' '--csv --fields ret,argv'; do "$SONDE" execsnoop -xq $f -- sh -c '/bin/nope a' 2>/dev/null; done
NEEDS btf tp:sched/sched_process_exec
EXPECT
	{"type": "event", "table": "execs", "ret": 0, "argv": ["sh", "-c", "/bin/nope a"]}
	{"type": "event", "table": "execs", "ret": -2, "argv": ["/bin/nope"]}
	ret,argv
	0,sh -c /bin/nope a
	-2,/bin/nope

NAME execsnoop: filters
RUN
	"$SONDE" execsnoop -q -n echo --fields argv -- sh -c '/bin/echo a; /bin/true; /bin/echo b' | grep bin
	"$SONDE" execsnoop -q --fields argv ech -- sh -c '/bin/true; /bin/echo c >/dev/null'
	"$SONDE" execsnoop -q -u nobody -- /bin/true
NEEDS btf tp:sched/sched_process_exec
EXPECT
	/bin/echo a
	/bin/echo b
	ARGS
	/bin/echo c
	PCOMM            PID     PPID    RET ARGS

NAME execsnoop: a part of the line, and quotes
RUN
	for f in '' -j
	do "$SONDE" execsnoop -q $f -n =echo -l 'o a b a' --count 1 --fields ret,argv -- sh -c '/bin/true; /bin/echo "a b"; /bin/echo "a b" a; /bin/echo a b a' >"$TMPDIR/o"
	grep -v '^a b' "$TMPDIR/o"
	done
	"$SONDE" execsnoop -q --quote -n =echo --fields argv -- sh -c '/bin/echo "a b" "" "c\\\"d" >/dev/null'
NEEDS btf tp:sched/sched_process_exec
EXPECT
	RET ARGS
	  0 /bin/echo a b a
	{"type": "event", "table": "execs", "ret": 0, "argv": ["/bin/echo", "a b", "a"]}
	ARGS
	"/bin/echo" "a b" "" "c\\\"d"

NAME tools: --comm NAME contains, --comm =NAME is the name, also where a tool has its own filter
RUN
	for n in leep =leep =sleep; do "$SONDE" execsnoop -q --comm $n --fields argv -- sh -c '/bin/sleep 0'; done
	for n in =slee =sleep; do "$SONDE" opensnoop -q -n $n --fields path passwd -- sh -c 'cp /bin/cat "$TMPDIR/sleep"; "$TMPDIR/sleep" /etc/passwd >/dev/null'; done
	"$SONDE" execsnoop -q --fields argv =echo -- sh -c '/bin/sleep 0; /bin/echo >/dev/null'
NEEDS btf tp:sched/sched_process_exec tp:syscalls/sys_exit_openat
EXPECT
	ARGS
	/bin/sleep 0
	ARGS
	ARGS
	/bin/sleep 0
	PATH
	PATH
	/etc/passwd
	ARGS
	/bin/echo

NAME tools: --count N ends with the N-th event that is shown
RUN
	few='for i in 1 2 3 4 5; do /bin/true; /bin/sleep 0; done'
	for f in '' -j --csv; do "$SONDE" execsnoop -q $f --fields argv -n =sleep --count 2 -- sh -c "$few"; done
	"$SONDE" execsnoop -j -n =sleep --count 3 -- sh -c "$few" | sed -n 's/.*"type": "end".*"rows": \([0-9]*\), "complete": true.*/\1/p'
	"$SONDE" trace -q --count 2 'sys_enter_getppid' 2>&1 -- build/tests/syscalls 100 getppid | grep -c getppid
	"$SONDE" execsnoop --count 0 2>&1; "$SONDE" biostacks --count 2 2>&1 | head -n 1
NEEDS btf tp:sched/sched_process_exec prog:syscalls
EXPECT
	ARGS
	/bin/sleep 0
	/bin/sleep 0
	{"type": "event", "table": "execs", "argv": ["/bin/sleep", "0"]}
	{"type": "event", "table": "execs", "argv": ["/bin/sleep", "0"]}
	argv
	/bin/sleep 0
	/bin/sleep 0
	3
	2
	ERROR: --count needs a number above 0 (got '0')
	sonde execsnoop -h shows its options.
	ERROR: unrecognized option '--count'

NAME tools: --cpu of events, several with commas and ranges
RUN
	c=$(taskset -cp $$ | sed 's/.*[ ,-]//'); o=$((c ? c - 1 : 1))
	for l in $c $o $o,$c 0-$o 0-$c; do "$SONDE" execsnoop -q -n =sleep --cpu $l --fields comm -- taskset -c $c sleep 0 | wc -l; done
	for l in x 3-1 ,1; do "$SONDE" execsnoop --cpu $l 2>&1 | head -n 1; done
	"$SONDE" stackcount -q -c $o,$c -K 't:syscalls:sys_enter_getppid' -- taskset -c $c build/tests/syscalls 7 getppid | grep -cx ' *7'
	"$SONDE" stackcount -q -c $o -K 't:syscalls:sys_enter_getppid' -- taskset -c $c build/tests/syscalls 7 getppid | grep -cx ' *7'; true
NEEDS btf tp:sched/sched_process_exec tp:syscalls/sys_enter_getppid prog:syscalls
EXPECT
	2
	1
	2
	1
	2
	ERROR: --cpu needs numbers with commas between them (got 'x')
	ERROR: --cpu needs numbers with commas between them (got '3-1')
	ERROR: --cpu needs numbers with commas between them (got '')
	1
	0

NAME exitsnoop: how processes end
RUN "$SONDE" exitsnoop -q -n sh -- sh -c 'sh -c "exit 3"; sh -c "kill -9 \$\$"; exit 0' 2>/dev/null | sed 's/^\([^ ]*\) *[0-9]* *[0-9]* *[0-9]* *[0-9.]* */\1 /'
NEEDS tp:sched/sched_process_exit btf
EXPECT
	PCOMM PID     PPID    TID     AGE(s)  EXIT_CODE
	sh code 3
	sh signal 9 (KILL)
	sh 0

NAME exitsnoop: as JSON and CSV, failed ones only
RUN for f in -j --csv; do "$SONDE" exitsnoop -qx $f --fields comm,exit_code,signal,status -- sh -c '/bin/true; exit 3'; done
NEEDS tp:sched/sched_process_exit btf
EXPECT
	{"type": "event", "table": "exits", "comm": "sh", "exit_code": 3, "signal": 0, "status": 768}
	comm,exit_code,signal,status
	sh,3,0,768

NAME exitsnoop: the age of a process
RUN "$SONDE" exitsnoop -qj -n sleep -- sleep 0.3 | sed 's/.*"age_ns": \([0-9]*\)[0-9]\{8\},.*/\1/'
NEEDS tp:sched/sched_process_exit btf
EXPECT_RE
	([3-9]|[1-9][0-9]+)

NAME killsnoop: signals and results
RUN "$SONDE" killsnoop -q -- sh -c 'kill -0 99999999; kill -CONT $$' 2>/dev/null | sed 's/^..:..:.. *[0-9]* */T /; s/\(18 *\)[0-9]* */\1PID /'
NEEDS tp:syscalls/sys_exit_kill
EXPECT
	TIME      PID     COMM             SIG  TPID    RESULT
	T sh               0    99999999 -3
	T sh               18   PID 0

NAME killsnoop: as JSON and CSV, filters
RUN
	for f in -j --csv
	do "$SONDE" killsnoop -qx $f --fields signal,signal_name,target,ret,error -- sh -c 'kill -USR1 99999999; kill -CONT $$' 2>/dev/null
	done
	"$SONDE" killsnoop -q -s 18,19 --fields signal -- sh -c 'kill -0 $$; kill -CONT $$'
	"$SONDE" killsnoop -q -T 99999999 --fields signal -- sh -c 'kill -1 99999999; kill -CONT $$' 2>/dev/null
NEEDS tp:syscalls/sys_exit_kill
EXPECT
	{"type": "event", "table": "signals", "signal": 10, "signal_name": "USR1", "target": 99999999, "ret": -3, "error": "ESRCH"}
	signal,signal_name,target,ret,error
	10,USR1,99999999,-3,ESRCH
	SIG
	18
	SIG
	1

NAME sigsnoop: who signals whom, and what becomes of it
RUN
	"$SONDE" sigsnoop -q -s 10,18 -- sh -c 'trap : USR1; kill -USR1 $$; kill -CONT $$' |
		sed 's/^[0-9:]* *[0-9]* */X /; s/\(USR1\|CONT\) *[0-9]* */\1 PID /'
	for f in -j --csv
	do "$SONDE" sigsnoop -q $f -s 18 --fields comm,signal_name,target_comm,result -- sh -c 'kill -CONT $$'
	done
NEEDS tp:signal/signal_generate
EXPECT
	X TIME      PID     COMM             SIG  NAME    TPID    TCOMM            CODE  RESULT
	X sh               10   USR1 PID sh               0     delivered
	X sh               18   CONT PID sh               0     ignored
	{"type": "event", "table": "signals", "comm": "sh", "signal_name": "CONT", "target_comm": "sh", "result": "ignored"}
	comm,signal_name,target_comm,result
	sh,CONT,sh,ignored

NAME sigsnoop: signals to one process
RUN sleep 60 & t=$!; sleep 60 & o=$!; "$SONDE" sigsnoop -q -T $t --fields comm,signal_name,target -- sh -c "kill -CONT $o; kill -URG $t; kill -CONT $t" | sed "s/ $t\$/ T/"; kill $t $o
NEEDS tp:signal/signal_generate
EXPECT
	COMM             NAME    TPID
	sh               URG     T
	sh               CONT    T

# The watched process P answers USR1 of T by CONT to O, and TERM by TERM to its child C. T sends O the first CONT.
NAME sigsnoop -p: signals that the process sends and receives, and no others, until it ends
RUN
	sleep 60 & o=$!
	sh -c 'sleep 60 & c=$!; trap "kill -CONT $1" USR1; trap "kill $c; exit" TERM; echo $c >"$2"; while :; do wait; done' \
		sh $o "$TMPDIR/child" 2>/dev/null & p=$!
	until_written "$TMPDIR/child"
	"$SONDE" sigsnoop -p $p -s USR1,CONT,TERM -o "$TMPDIR/out" --json --fields pid,signal_name,target & s=$!
	until_written "$TMPDIR/out"
	kill -CONT $o
	kill -USR1 $p
	until grep -q '"CONT"' "$TMPDIR/out"; do sleep 0.05; done
	kill -TERM $p
	wait $s
	echo $?
	sed -n '/"event"/{ s/[^,]*, [^,]*, //; s/": /=/g; s/["{}]//g; p; }' "$TMPDIR/out" |
		sed "s/=$$,/=T,/; s/=$p\>/=P/g; s/=$o\$/=O/; s/=$(cat "$TMPDIR/child")\$/=C/"
	kill $o
NEEDS tp:signal/signal_generate
TIMEOUT 20
EXPECT
	0
	pid=T, signal_name=USR1, target=P
	pid=P, signal_name=CONT, target=O
	pid=T, signal_name=TERM, target=P
	pid=P, signal_name=TERM, target=C

NAME sigsnoop: signals that the kernel sends to a command and its children, whoever runs then
RUN
	p='import signal; signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, 0.05); signal.pause()'
	"$SONDE" sigsnoop -q -s ALRM --fields signal_name,target_comm,code,result -- /usr/bin/python3 -c "$p"
	"$SONDE" sigsnoop -q -s ALRM --fields signal_name,target_comm -- sh -c "/usr/bin/python3 -c '$p'; true"
NEEDS tp:signal/signal_generate file:/usr/bin/python3
EXPECT
	NAME    TCOMM            CODE  RESULT
	ALRM    python3          128   delivered
	NAME    TCOMM
	ALRM    python3

NAME forksnoop: processes, and threads
RUN
	p='import threading; t = threading.Thread(target=print); t.start(); t.join()'
	"$SONDE" forksnoop -q --fields comm,kind -- sh -c 'ls >/dev/null; true'
	for f in -j --csv
	do "$SONDE" forksnoop -qa $f --fields comm,kind -- /usr/bin/python3 -c "$p" | grep -v '^$'
	done
NEEDS tp:task/task_newtask file:/usr/bin/python3
EXPECT
	COMM             KIND
	sh               process
	{"type": "event", "table": "forks", "comm": "python3", "kind": "thread"}
	comm,kind
	python3,thread

NAME bashreadline: a line typed into a shell
RUN
	type() { echo 'echo "a, b"' | script -qc 'bash --norc -i' /dev/null >/dev/null 2>&1
	}
	tool_sees type bashreadline >"$TMPDIR/o"
	tool_sees type bashreadline -j --fields line >"$TMPDIR/j"
	tool_sees type bashreadline --csv --fields line >"$TMPDIR/c"
	grep -o ' echo.*' "$TMPDIR/o"
	cat "$TMPDIR/j" "$TMPDIR/c" | grep -v exit
NEEDS uprobe cmd:script file:/bin/bash
TIMEOUT 30
EXPECT
	 echo "a, b"
	{"type": "event", "table": "lines", "line": "echo \"a, b\""}
	line
	"echo ""a, b"""

NAME tools: JSON begins with what is traced and ends with whether that was all; -q leaves it out
RUN
	"$SONDE" execsnoop -j -n true -- sh -c '/bin/true' >"$TMPDIR/o" 2>/dev/null
	sed -n '1p; $p' "$TMPDIR/o" |
		sed -E 's/"(version|kernel|hostname|time)": "[^"]*"/"\1": V/g; s/"(duration_ns|probes)": [0-9]*/"\1": N/g; s/"sources": \["[a-z].*"\]/"sources": S/'
	"$SONDE" execsnoop -q -j -- sh -c '/bin/true' | grep -cE '"(start|end)"' || true
NEEDS tp:syscalls/sys_enter_execve btf
EXPECT
	{"type": "start", "tool": "execsnoop", "options": ["-j", "-n", "true", "--", "sh", "-c", "/bin/true"], "version": V, "kernel": V, "hostname": V, "time": V, "probes": N, "sources": S}
	{"type": "end", "time": V, "duration_ns": N, "rows": 1, "complete": true, "lost": 0, "missed": 0, "cut": 0, "other": 0}
	0

NAME tools: JSON and CSV of a run that lost events say so, with the number
RUN
	export BPFTRACE_PERF_RB_PAGES=1
	"$SONDE" tpoint -j syscalls:sys_enter_getppid -- build/tests/burst 100000 2>/dev/null |
		awk -F ', ' '/"type": "event"/ { n++ } END { for (i = 1; i <= NF; i++) { split($i, a, ": "); v[a[1]] = a[2] } print v["\"complete\""], (n == v["\"rows\""] && v["\"lost\""] > 0 && n + v["\"lost\""] == 100000 ? "exact" : $0) }'
	"$SONDE" tpoint --csv syscalls:sys_enter_getppid -- build/tests/burst 100000 2>"$TMPDIR/e" >"$TMPDIR/o"
	awk -v rows=$(($(wc -l <"$TMPDIR/o") - 1)) '/Total lost event count/ { print (rows + $NF == 100000 ? "exact" : rows + 0 " and " $NF) }' "$TMPDIR/e"
NEEDS slow tp:syscalls/sys_enter_getppid
TIMEOUT 40
EXPECT
	false exact
	exact

NAME tools: the output of a command stays out of JSON with -o
RUN "$SONDE" execsnoop -qj --fields comm -o "$TMPDIR/o" -- echo '{not json'; cat "$TMPDIR/o"; "$SONDE" execsnoop -q --csv --fields comm -- sh -c 'echo to stderr >&2' 2>/dev/null | tail -n 1
NEEDS tp:syscalls/sys_enter_execve btf cmd:echo
EXPECT
	{not json
	{"type": "event", "table": "execs", "comm": "echo"}
	sh

NAME tools: --fields names a column that is not there
RUN "$SONDE" execsnoop --fields comm,nosuch 2>&1; echo $?
NEEDS tp:syscalls/sys_enter_execve btf
EXPECT
	ERROR: --fields: no column 'nosuch' (columns: time time_ns uid cpu comm pid ppid ret container parent_comm path directory argv)
	1

NAME tools: without the rights one sentence says which, before anything is compiled
RUN
	for t in opensnoop 'strace true' biolatency
	do /usr/bin/setpriv --bounding-set -all --inh-caps -all "$SONDE" $t 2>&1 | sed 's/CAP_BPF.*/CAPS/'
	done
	/usr/bin/setpriv --bounding-set -all --inh-caps -all "$SONDE" -d script vfsstat | head -n 1
NEEDS file:/usr/bin/setpriv btf
EXPECT
	ERROR: opensnoop needs CAPS
	ERROR: strace needs CAPS
	ERROR: biolatency needs CAPS
	/*

NAME killsnoop, sigsnoop: signals by name
RUN
	"$SONDE" killsnoop -q -s sigusr1,Cont --fields comm,signal -- sh -c 'trap : USR1; kill -USR1 $$; kill -0 $$; kill -CONT $$'
	"$SONDE" sigsnoop -q -k -n -s USR1,CHLD --fields comm,signal_name -- sh -c 'trap : USR1; kill -USR1 $$; /bin/true'
	"$SONDE" sigsnoop -q -x -s USR1,CONT --fields signal_name,result -- sh -c 'trap : USR1; kill -USR1 $$; kill -CONT $$'
	for t in 'killsnoop -s NOTHING' 'sigsnoop -s 9,65' 'tcpconnect -P 80,65536' 'tcplife -D 1-65536' 'sigsnoop -k --'; do "$SONDE" $t 2>&1 | head -n 1; done
NEEDS tp:signal/signal_generate tp:syscalls/sys_exit_kill
EXPECT
	COMM             SIG
	sh               10
	sh               18
	COMM             NAME
	sh               USR1
	NAME    RESULT
	CONT    ignored
	ERROR: --signal needs names or numbers with commas between them (got 'NOTHING')
	ERROR: --signal needs names or numbers with commas between them (got '65')
	ERROR: --port needs ports with commas between them (got '65536')
	ERROR: --remote needs ports with commas between them (got '1-65536')
	ERROR: a command is missing after --

NAME exitsnoop: a label on each line
RUN "$SONDE" exitsnoop -q --label build --fields label,comm,status -- true; "$SONDE" exitsnoop -q --fields comm --label '' -- true
NEEDS tp:sched/sched_process_exit
EXPECT
	LABEL    PCOMM            EXIT_CODE
	build    true             0
	PCOMM
	true

NAME execsnoop: the file that is executed, where it works, and its parent's name
RUN
	mkdir "$TMPDIR/in"
	"$SONDE" execsnoop -x --path --directory --parent-name -q --csv --fields ret,parent_comm,path,directory,argv -- sh -c 'cd "$1"; /bin/echo x >out; ./nope; true' sh "$TMPDIR/in" 2>/dev/null |
		sed "s,$TMPDIR,DIR,g" | tail -n +3
	"$SONDE" execsnoop -q --csv -- true | head -n 1
NEEDS since:6.18 btf tp:sched/sched_process_exec
EXPECT
	0,sh,/usr/bin/echo,DIR/in,/bin/echo x
	-2,sh,./nope,DIR/in,./nope
	comm,pid,ppid,ret,argv
