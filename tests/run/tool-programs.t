# Tools about what programs do inside: interpreters, databases, locks, descriptors.

NAME ucalls: functions of an interpreter
RUN
	p="$SONDE_TESTS/runtime"
	"$SONDE" ucalls -q "$p" -- "$p"
	"$SONDE" ucalls -qj -L -T 1 "$p" -- "$p" | sed 's/"total_ns": [1-9][0-9]*/"total_ns": N/'; "$SONDE" ucalls -q --csv "$p" -- "$p"
NEEDS uprobe prog:runtime
EXPECT
	CLASS                    METHOD                    # CALLS
	app.py                   inner                           2
	app.py                   outer                           1
	{"type": "row", "table": "calls", "class": "app.py", "method": "inner", "calls": 2, "total_ns": N}
	class,method,calls
	app.py,inner,2
	app.py,outer,1

NAME uflow: entered and left
RUN
	p="$SONDE_TESTS/runtime"
	"$SONDE" uflow -q --fields depth,event,class,method "$p" -- "$p"
	"$SONDE" uflow -qj -M outer --fields event,method "$p" -- "$p"
	"$SONDE" uflow -q --csv -C nothing --fields event,method "$p" -- "$p"
	"$SONDE" uflow -q --csv -M outer --fields event,method "$p" -- "$p"
NEEDS uprobe prog:runtime
EXPECT
	DEPTH    CLASS                    METHOD
	    1 -> app.py                   outer
	    2 -> app.py                   inner
	    2 <- app.py                   inner
	    1 <- app.py                   outer
	    1 -> app.py                   inner
	    1 <- app.py                   inner
	{"type": "event", "table": "flow", "event": "->", "method": "outer"}
	{"type": "event", "table": "flow", "event": "<-", "method": "outer"}
	event,method
	event,method
	->,outer
	<-,outer

NAME ugc: collections of garbage
RUN
	p="$SONDE_TESTS/runtime"
	"$SONDE" ugc -q --fields phase "$p" -- "$p"
	"$SONDE" ugc -qj --fields duration_ns,phase "$p" -- "$p" | grep -c '"duration_ns": [1-9][0-9]*, "phase": "gc"'
	"$SONDE" ugc -q --csv -M 1h --fields phase "$p" -- "$p"
	"$SONDE" ugc -q --csv --fields phase "$p" -- "$p"
NEEDS uprobe prog:runtime
EXPECT
	DESCRIPTION
	gc
	1
	phase
	phase
	gc

NAME mysqld_qslower: a query, and nothing that steers the terminal
RUN
	p="$SONDE_TESTS/runtime"
	"$SONDE" mysqld_qslower -q --fields query "$p" 0 -- "$p"
	"$SONDE" mysqld_qslower -qj --fields database,user,query "$p" -m 0 -- "$p"
	for m in 1h 0
	do "$SONDE" mysqld_qslower -q --csv --fields query "$p" $m -- "$p"
	done
NEEDS uprobe prog:runtime
EXPECT
	QUERY
	SELECT 1 /* a\tb */
	{"type": "event", "table": "queries", "database": "shop", "user": "me", "query": "SELECT 1 /* a\tb */"}
	query
	query
	SELECT 1 /* a\tb */

NAME sofdsnoop: descriptors on their way
RUN
	p='import socket, sys; a, b = socket.socketpair(); f = open("/etc/passwd"); g = open("/dev/null"); socket.send_fds(a, [b"x"], [f.fileno(), g.fileno()]); socket.recv_fds(b, 10, 4); a.sendmsg([b"y"]); b.recvmsg(5)'
	for f in '' -j --csv; do "$SONDE" sofdsnoop -q $f --fields action,comm,fds,file -- python3 -c "$p"; done
NEEDS tp:syscalls/sys_exit_sendmsg btf cmd:python3
TIMEOUT 30
EXPECT
	ACTION COMM              FDS NAME
	SEND   python3             2 passwd
	RECV   python3             2 passwd
	{"type": "event", "table": "passed", "action": "SEND", "comm": "python3", "fds": 2, "file": "passwd"}
	{"type": "event", "table": "passed", "action": "RECV", "comm": "python3", "fds": 2, "file": "passwd"}
	action,comm,fds,file
	SEND,python3,2,passwd
	RECV,python3,2,passwd

NAME futexctn: a lock that another thread holds
RUN
	p='import threading, time
	l = threading.Lock()
	l.acquire()
	t = threading.Thread(target=l.acquire)
	t.start()
	time.sleep(0.3)
	l.release()
	t.join()'
	"$SONDE" futexctn -q --min 250ms -- python3 -c "$(echo "$p" | sed 's/^	//')" >"$TMPDIR/o"
	awk 'NR == 2 && $2 ~ /^(python3|Thread-1)$/ && $(NF - 2) >= 1 { print "waited" }' "$TMPDIR/o"
	grep -c '^        [_a-z0-9]' "$TMPDIR/o" | sed 's/^[1-9][0-9]*$/stack/'
	"$SONDE" futexctn -qsj --min 250ms --fields waits,avg_ns -- python3 -c "$(echo "$p" | sed 's/^	//')" | grep -cE '"waits": [1-9], "avg_ns": [2-9][0-9]{8}' | sed 's/^[1-9]$/some/'
	"$SONDE" futexctn -qs --csv --min 1h -- /bin/true
	"$SONDE" futexctn -qs --csv --min 250ms --fields waits,avg_ns -- python3 -c "$(echo "$p" | sed 's/^	//')" |
		sed -E 's/^[1-9],[2-9][0-9]{8}$/row/' | uniq
	"$SONDE" futexctn -qs -t 1 -l 0x1 100ms 2 && echo ended
	"$SONDE" futexctn -qsm --min 250ms --fields avg_ns,total_ns -- python3 -c "$(echo "$p" | sed 's/^	//')" | awk 'NR == 1 { print $1, $2 } NR == 2 { print ($1 >= 250 && $1 < 60000) }'
NEEDS tp:syscalls/sys_exit_futex cmd:python3
TIMEOUT 30
EXPECT
	waited
	stack
	some
	pid,comm,lock,waits,avg_ns,total_ns
	waits,avg_ns
	row
	ended
	AVG(ms) TOTAL(ms)
	1

NAME klockstat: locks of the kernel
RUN
	"$SONDE" klockstat -q -- sh -c 'for i in 1 2 3 4 5 6; do dd if=/dev/zero of="$0" bs=1 count=20000 conv=notrunc 2>/dev/null & done; wait' "$TMPDIR/one" >"$TMPDIR/o"
	head -n 1 "$TMPDIR/o"; awk 'NR > 1 && $1 ~ /^[0-9]+$/ { n += $1; if ($4 > max) max = $4; if ($4 > $3) print } END { print (n > 0 && max > 0 ? "waited" : "never") }' "$TMPDIR/o"
	"$SONDE" klockstat -qj -S max -s 2 -n 1 -- sh -c 'for i in 1 2 3 4 5 6; do dd if=/dev/zero of="$0" bs=1 count=20000 conv=notrunc 2>/dev/null & done; wait' "$TMPDIR/one" | grep -o '"sym"' | wc -l
	"$SONDE" klockstat -qj --fields waits -- sh -c 'for i in 1 2 3 4 5 6; do dd if=/dev/zero of="$0" bs=1 count=20000 conv=notrunc 2>/dev/null & done; wait' "$TMPDIR/one" |
		grep -c '"waits": [1-9]' | sed 's/^[1-9][0-9]*$/some/'
	"$SONDE" klockstat -q --csv --fields waits,total_ns -- sh -c 'for i in 1 2 3 4 5 6; do dd if=/dev/zero of="$0" bs=1 count=20000 conv=notrunc 2>/dev/null & done; wait' "$TMPDIR/one" |
		sed 's/^[1-9][0-9]*,[1-9][0-9]*$/row/' | uniq
NEEDS slow tp:lock/contention_begin
TIMEOUT 60
EXPECT
	   WAITS      AVG(us)    TOTAL(us)      MAX(us)
	waited
	2
	some
	waits,total_ns
	row

NAME klockstat: by thread, and of one lock
RUN
	load='for i in 1 2 3 4 5 6; do dd if=/dev/zero of="$0" bs=1 count=20000 conv=notrunc 2>/dev/null & done; wait'
	"$SONDE" klockstat -qjP -n 1 -- sh -c "$load" "$TMPDIR/one" >"$TMPDIR/o"; sed 's/: [0-9][0-9]*/: N/g; s/0x[0-9a-f]*/LOCK/' "$TMPDIR/o"
	lock=$(grep -o '0x[0-9a-f]*' "$TMPDIR/o")
	for l in $lock 0x10; do "$SONDE" klockstat -qjP -L $l -- sh -c "$load" "$TMPDIR/one" | grep -o '0x[0-9a-f]*' | sort -u | sed "s/$lock/the lock/"; echo; done
	"$SONDE" klockstat -L nosuchlock 2>&1 | cut -d'(' -f1
NEEDS slow tp:lock/contention_begin
TIMEOUT 60
EXPECT
	{"type": "row", "table": "threads", "waits": N, "avg_ns": N, "total_ns": N, "max_ns": N, "tid": N, "comm": "dd", "lock": "LOCK"}
	the lock
	
	
	ERROR: the address of the kernel variable nosuchlock is unknown: it does not exist, or the kernel hides it 

NAME klockstat: how long locks are held, by who took them
RUN
	load='import os, sys
	if sys.argv[2:]: input()
	r, w = os.pipe()
	f = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
	for i in range(300): os.write(w, b"x")
	for i in range(500): os.ftruncate(f, i)
	for i in range(100): os.listdir("/proc/self/fd")'
	pipe=$(grep -o -m 1 -w 'anon_pipe_write' /proc/kallsyms || echo pipe_write)
	rows() { sed 's/[+][0-9]*$/+N/' | awk '/^ *[0-9]/ { print $1, ($2 <= $4 && $4 <= $3 ? "fits" : $0); next } { print }'; }
	"$SONDE" klockstat -q --hold -c do_trunc -s 1 -- python3 -IS -c "$load" "$TMPDIR/one" | rows
	"$SONDE" klockstat -qj --hold -c "$pipe" -P -S hld_max,acq_count -- python3 -IS -c "$load" "$TMPDIR/one" |
		sed 's/\(_ns\|tid\)": [0-9]*/\1": N/g; s/0x[0-9a-f]*/LOCK/'
	mkfifo "$TMPDIR/go"
	python3 -IS -c "$load" "$TMPDIR/one" wait <"$TMPDIR/go" & p=$!
	exec 3>"$TMPDIR/go"
	"$SONDE" klockstat --hold -c iterate_dir -s 1 -p $p >"$TMPDIR/o" 2>"$TMPDIR/err" & s=$!
	eventually grep -q Tracing "$TMPDIR/err"
	echo >&3
	wait $p $s
	rows <"$TMPDIR/o"
NEEDS slow fentry cmd:python3 sym:do_truncate
ALONE
TIMEOUT 90
EXPECT
	   WAITS      AVG(us)    TOTAL(us)      MAX(us)
	500 fits
	$
	        do_truncate+N
	   HOLDS      AVG(us)    TOTAL(us)      MAX(us)
	500 fits
	$
	        do_truncate+N
	{"type": "row", "table": "threads", "waits": 300, "avg_ns": N, "total_ns": N, "max_ns": N, "tid": N, "comm": "python3", "lock": "LOCK"}
	{"type": "row", "table": "holders", "holds": 300, "avg_ns": N, "total_ns": N, "max_ns": N, "tid": N, "comm": "python3", "lock": "LOCK"}
	   WAITS      AVG(us)    TOTAL(us)      MAX(us)
	200 fits
	$
	        iterate_dir+N
	   HOLDS      AVG(us)    TOTAL(us)      MAX(us)
	200 fits
	$
	        iterate_dir+N

NAME klockstat: by kprobes, where there is nothing else
RUN
	"$SONDE" tools -s klockstat | sed 's/\(fentry\|fexit\):/\1:no_/g' >"$TMPDIR/k.bt"
	load='import os, sys
	f = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
	for i in range(500): os.ftruncate(f, i)'
	"$SONDE" "$TMPDIR/k.bt" -q --hold -c do_trunc -s 1 -- python3 -IS -c "$load" "$TMPDIR/one" |
		sed 's/[+][0-9]*$/+N/; s/^ *\([0-9]*\) .*[0-9]$/\1/'
	"$SONDE" klockstat -c nosuch_function 2>&1
	"$SONDE" klockstat -S hold_max 2>&1
NEEDS slow kprobe cmd:python3 sym:do_truncate
ALONE
TIMEOUT 60
RC 1
EXPECT
	   WAITS      AVG(us)    TOTAL(us)      MAX(us)
	500
	$
	        do_truncate+N
	   HOLDS      AVG(us)    TOTAL(us)      MAX(us)
	500
	$
	        do_truncate+N
	ERROR: the kernel has no function whose name starts with 'nosuch_function'
	ERROR: --sort: no column 'hold_max'; columns: waits avg_ns total_ns max_ns kstack holds tid comm lock

NAME klockstat: without events of contended locks
RUN
	"$SONDE" klockstat -q -n 1 -s 2 -- sh -c 'for i in 1 2 3 4; do :; done' | sed 's/^ *[1-9][0-9]* .*[0-9]$/some/; s/^  *[a-z_.0-9]*+[0-9]*$/        function/'
NEEDS fentry before:5.19
EXPECT
	   WAITS      AVG(us)    TOTAL(us)      MAX(us)
	some
	$
	        function
	        function

NAME dbslower and dbstat: queries of any database
RUN
	p="$SONDE_TESTS/runtime"
	"$SONDE" dbslower -q --fields query "$p" -m 0 -- "$p"
	"$SONDE" dbslower -qj --fields query "$p" -m 0 -- "$p" | tail -n 1
	for m in 1h 0
	do "$SONDE" dbslower -q --csv --fields query "$p" -m $m -- "$p" | tail -n 1
	done
	"$SONDE" dbstat -q -u "$p" -- "$p" | awk '/^usecs:/ { u = 1 } /^[[]/ { sub(/[|].*/, ""); n += $NF } END { print u, n }'
	"$SONDE" dbstat -qj "$p" -- "$p"
	"$SONDE" dbstat -q --csv -m 1h "$p" -- "$p"
	"$SONDE" dbstat -q --csv "$p" -- "$p" | awk -F, 'NR == 1 { print; next } { n += $3 } END { print n }'
	cp "$p" "$TMPDIR/mysqld"
	PATH="$TMPDIR:$PATH"
	for o in mysql 'mysql -x mysqld' '-x mysqld'
	do "$SONDE" dbslower -q --csv --fields query $o -m 0 -- mysqld | tail -n 1
	"$SONDE" dbstat -q --csv $o -- mysqld | awk -F, '{ n += $3 } END { print n }'
	done
NEEDS uprobe prog:runtime
EXPECT_RE
	QUERY
	SELECT 1 .*
	SELECT 2
	.*"query": "SELECT 2"}
	query
	SELECT 2
	1 2
	\{"type": "hist", "table": "queries", "msecs": \[\{"min": .*\}\]\}
	msecs_min,msecs_max,msecs_count
	msecs_min,msecs_max,msecs_count
	2
	SELECT 1 .*
	1
	SELECT 2
	2
	SELECT 2
	2

NAME bpflist: who uses BPF
RUN
	"$SONDE" -q -e 'interval:s:100 { @ = count(); }' >/dev/null 2>&1 & p=$!
	list() { "$SONDE" bpflist -p $p "$@" 2>&1; }
	holds() { list | grep -q bpf-prog; }
	eventually holds
	list | sed "s/^$p */PID /; s/  *[0-9]*\$/ N/" | grep -v bpf-link
	list -qj | grep -c '"kind": "bpf-map", "count": [1-9]'
	list -q --csv | sed -n "1p; s/^$p,.*,bpf-map,[1-9][0-9]*$/PID, some/p"
	for f in '' -j --csv; do "$SONDE" bps -p $p -q $f --fields comm,kind 2>/dev/null | grep -m 1 bpf-map; done
	kill $p; wait $p
NEEDS btf feature:LOOP
TIMEOUT 30
EXPECT_RE
	PID     COMM             TYPE        COUNT
	PID sonde            bpf.*N
	PID sonde            bpf.*N
	...
	1
	pid,comm,kind,count
	PID, some
	sonde +bpf-map
	."type": "row", "table": "objects", "comm": "sonde", "kind": "bpf-map".
	sonde,bpf-map

NAME uobjnew: objects by type
RUN
	p="$SONDE_TESTS/runtime"
	"$SONDE" uobjnew -q "$p" -- "$p"
	"$SONDE" uobjnew -qj -C 1 "$p" -- "$p"
	"$SONDE" uobjnew -q --csv --malloc libc -- "$SONDE_TESTS/leak" | grep -oE '^object,.*|^malloc <= 4096,'
NEEDS uprobe prog:runtime prog:leak
EXPECT
	NAME/TYPE                            # ALLOCS      # BYTES
	Point                                       2            0
	array                                       1            7
	{"type": "row", "table": "types", "object": "Point", "allocs": 2, "bytes": 0}
	object,allocs,bytes
	malloc <= 4096,

NAME uobjnew, ucalls, uthreads: a language and a process, as bcc spells them
RUN
	"$SONDE_TESTS/spin" 100000 >/dev/null & p=$!
	for t in 'uobjnew -l c' 'ucalls -l python' 'ucalls -l ruby' 'uthreads -l c' 'uthreads -l none'
	do timeout 30 "$SONDE" $t $p -d 0.1 2>&1 | head -n 1 | sed "s/$p/PID/; s,(/[^)]*/libc[.]so[.][0-9]*),(LIBC),"
	done
	kill $p
NEEDS uprobe prog:spin
TIMEOUT 60
EXPECT
	Tracing new objects (LIBC) for 0.1 s...
	ERROR: no file of process PID has the static probes that are looked for
	ERROR: no file of process PID has the static probes that are looked for
	Tracing threads (LIBC) for 0.1 s...
	Tracing threads (LIBC) for 0.1 s...

NAME ustat: what a runtime does
RUN p="$SONDE_TESTS/runtime"; for f in '' -j --csv; do "$SONDE" ustat -q $f --fields comm,calls,gcs,objects,loads,exceptions,threads -l "$p" 1h -- "$p"; done | grep -v loadavg
NEEDS uprobe prog:runtime
EXPECT
	CMDLINE             METHOD     GC    OBJNEW   CLOAD     EXC    THR
	runtime                  3      1         3       0       1      1
	{"type": "row", "table": "programs", "interval": 1, "comm": "runtime", "calls": 3, "gcs": 1, "objects": 3, "loads": 0, "exceptions": 1, "threads": 1}
	comm,calls,gcs,objects,loads,exceptions,threads
	runtime,3,1,3,0,1,1

NAME uthreads: threads of C and of Java
RUN
	p="$SONDE_TESTS/runtime"
	for f in '' -j --csv
	do "$SONDE" uthreads -q $f --fields id,event,name "$p" -- "$p"
	done
	"$SONDE" uthreads -q --fields event,function -- "$SONDE_TESTS/threads" | tail -n 1
NEEDS uprobe prog:runtime prog:threads
EXPECT_RE
	ID      TYPE     NAME
	4711    start    worker
	\{"type": "event", "table": "threads", "id": 4711, "event": "start", "name": "worker"\}
	id,event,name
	4711,start,worker
	pthread  [a-z_]+.*

NAME tools about a program: one that was asked for is to be there, what a default names need not
RUN
	for c in 'uthreads nosuchfile' 'uthreads /no/such' 'uthreads /usr' 'uthreads --library=nosuch' 'uobjnew nosuch' 'gethostlatency -l nosuch' 'deadlock --binary nosuch 1'
	do timeout 30 "$SONDE" $c -d 0.1 2>&1
	echo "$?"
	done
	"$SONDE" uthreads -q --csv --fields event -- "$SONDE_TESTS/threads" | head -n 1
NEEDS uprobe prog:threads
EXPECT
	ERROR: usdt target file 'nosuchfile' does not exist or is not executable (not in $PATH, and no library of that name)
	1
	ERROR: usdt target file '/no/such' does not exist or is not executable
	1
	ERROR: usdt target file '/usr' is a directory, not a program or library
	1
	ERROR: uprobe target file 'nosuch' does not exist or is not executable (not in $PATH, and no library of that name)
	1
	ERROR: usdt target file 'nosuch' does not exist or is not executable (not in $PATH, and no library of that name)
	1
	ERROR: uprobe target file 'nosuch' does not exist or is not executable (not in $PATH, and no library of that name)
	1
	ERROR: uprobe target file 'nosuch' does not exist or is not executable (not in $PATH, and no library of that name)
	1
	event

NAME deadlock: three mutexes in a circle, and one that is not
RUN
	cat >"$TMPDIR/circle.py" <<-'P'
		import ctypes
		l = ctypes.CDLL("libc.so.6")
		m = [ctypes.create_string_buffer(40) for i in range(4)]
		def take(*o):
		    for i in o: l.pthread_mutex_lock(m[i])
		    for i in o: l.pthread_mutex_unlock(m[i])
		take(0, 1); take(1, 2); take(2, 0); take(0, 3); take(1, 3)
	P
	"$SONDE" deadlock -q -- python3 "$TMPDIR/circle.py" | grep -o '0x.* 0x.* python3' | awk '{ held[$1]++; taken[$2]++ } END { for (h in held) n += h in taken; print n, NR }'
	"$SONDE" deadlock -q --all --csv --fields held,taken -- python3 "$TMPDIR/circle.py" | awk 'END { print (NR > 5 ? "all" : NR) }'
	"$SONDE" deadlock -qj --fields comm -- python3 "$TMPDIR/circle.py"; "$SONDE" deadlock -q --csv -- python3 -c 1; "$SONDE" deadlock -q --csv --fields comm -- python3 "$TMPDIR/circle.py"
NEEDS slow uprobe cmd:python3 sym:bpf_for_each_map_elem
TIMEOUT 40
EXPECT
	3 3
	all
	{"type": "event", "table": "orders", "comm": "python3"}
	{"type": "event", "table": "orders", "comm": "python3"}
	{"type": "event", "table": "orders", "comm": "python3"}
	held,taken,pid,tid,comm,ustack
	comm
	python3
	python3
	python3

NAME deadlock: other functions than those of mutexes
RUN
	cat >"$TMPDIR/circle.py" <<-'P'
		import ctypes
		l = ctypes.CDLL("libc.so.6")
		m = [ctypes.create_string_buffer(64) for i in range(3)]
		def take(*o):
		    for i in o: (l.pthread_rwlock_wrlock, l.pthread_mutex_lock)[i == 2](m[i])
		    for i in o: (l.pthread_rwlock_unlock, l.pthread_mutex_unlock)[i == 2](m[i])
		take(0, 1); take(1, 2); take(2, 0)
	P
	orders() { "$SONDE" deadlock -q --csv --fields comm "$@" -- python3 "$TMPDIR/circle.py" | grep -c python3; }
	orders; orders --lock-symbols pthread_rwlock_wrlock,pthread_mutex_lock --unlock-symbols pthread_mutex_unlock,pthread_rwlock_unlock; orders -t 5 -e 5 -s 5 --lock-symbols pthread_rwlock_wrlock --unlock-symbols pthread_rwlock_unlock; "$SONDE" deadlock --lock-symbols nosuch --unlock-symbols neither --binary libc -- true 2>&1
NEEDS slow uprobe cmd:python3 func:libc.so.6:pthread_rwlock_wrlock sym:bpf_for_each_map_elem
TIMEOUT 40
RC 1
EXPECT
	0
	3
	0
	ERROR: No matches for uprobe libc:nosuch.
	ERROR: No matches for uprobe libc:neither.

NAME names of languages; a number for the interpreter is a process of it
RUN
	p="$SONDE_TESTS/runtime"
	cp "$p" "$TMPDIR/python3"; PATH="$TMPDIR:$PATH"
	"$SONDE" pythoncalls -q -- python3; "$SONDE" pythongc -q --fields phase -- python3; "$SONDE" pythonflow -qj -M outer --fields event,method -- python3
	"$SONDE" pythonstat -q --csv --fields calls,gcs 1h -- python3
	sleep 60 & until_named $! sleep; for p in '' -p; do "$SONDE" ucalls $p $! 2>&1 | sed "s/$!/PID/" | head -n 1; done; kill $!
NEEDS uprobe prog:runtime
EXPECT
	CLASS                    METHOD                    # CALLS
	app.py                   inner                           2
	app.py                   outer                           1
	DESCRIPTION
	gc
	{"type": "event", "table": "flow", "event": "->", "method": "outer"}
	{"type": "event", "table": "flow", "event": "<-", "method": "outer"}
	calls,gcs
	3,1
	ERROR: no file of process PID has the static probes that are looked for
	ERROR: no file of process PID has the static probes that are looked for

NAME the interpreter of a process is its own program
RUN
	mkfifo "$TMPDIR/go"; cp "$SONDE_TESTS/runtime" "$TMPDIR/interpreter"
	for o in "pythoncalls -p" pythoncalls "ucalls -p" "ustat --csv --fields calls 1h -p"; do
		"$TMPDIR/interpreter" wait <"$TMPDIR/go" & p=$!
		exec 3>"$TMPDIR/go"
		until_named $p interpreter; rm -f "$TMPDIR/err"
		"$SONDE" $o $p >"$TMPDIR/o" 2>"$TMPDIR/err" & s=$!
		eventually grep -q Tracing "$TMPDIR/err"; echo >&3; wait $s; exec 3>&-; wait $p
		cat "$TMPDIR/o"
	done
NEEDS uprobe prog:runtime
TIMEOUT 30
EXPECT
	CLASS                    METHOD                    # CALLS
	app.py                   inner                           2
	app.py                   outer                           1
	CLASS                    METHOD                    # CALLS
	app.py                   inner                           2
	app.py                   outer                           1
	CLASS                    METHOD                    # CALLS
	app.py                   inner                           2
	app.py                   outer                           1
	calls
	3

NAME programs without the probes: one sentence
RUN for t in ucalls uflow ugc "ustat -l" uobjnew dbstat dbslower; do "$SONDE" $t /bin/sleep 2>&1 | head -n 1; done; "$SONDE" ugc /bin/sleep 2>&1 | tail -n 1
NEEDS uprobe
EXPECT
	ERROR: /bin/sleep has no USDT probes (no notes of type stapsdt)
	ERROR: /bin/sleep has no USDT probes (no notes of type stapsdt)
	ERROR: /bin/sleep has no USDT probes (no notes of type stapsdt)
	ERROR: /bin/sleep has no USDT probes (no notes of type stapsdt)
	ERROR: /bin/sleep has no USDT probes (no notes of type stapsdt)
	ERROR: /bin/sleep has no USDT probes (no notes of type stapsdt)
	ERROR: /bin/sleep has no USDT probes (no notes of type stapsdt)
	HINT: a program has them when it was built with them; `sonde tplist -l FILE` lists those of a file

NAME dbslower and dbstat sqlite3: statements of a program, each once, without those that SQLite makes itself
RUN
	cat >"$TMPDIR/sq.py" <<-'P'
		import sqlite3
		c = sqlite3.connect(":memory:")
		c.execute("create table t(a, b)")
		c.executemany("insert into t values(?, ?)", [(i, str(i)) for i in range(3)])
		c.execute("select sum(t.a) from t, t as u").fetchall()
		c.execute("select a from t").fetchone()
		c.close()
	P
	"$SONDE" dbslower sqlite3 -m 0 -qj --fields query -- /usr/bin/python3 -IS "$TMPDIR/sq.py" | sed 's/.*"query"/"query"/'
	"$SONDE" dbstat sqlite3 -qj -- /usr/bin/python3 -IS "$TMPDIR/sq.py" | grep -o '"count": [0-9]*' | awk '{ n += $2 } END { print n }'
	"$SONDE" dbslower sqlite3 -m 10s -q -- /usr/bin/python3 -IS "$TMPDIR/sq.py"
	"$SONDE" dbslower sqlite3 -d 0.1 2>&1 >/dev/null | sed 's,(.*/,(,'
	"$SONDE" dbslower sqlite3 -x /bin/true 2>&1 | sed 's/true:sqlite3_prepare,.*/true:sqlite3_prepare/'
NEEDS uprobe file:/usr/bin/python3 file:/usr/lib/x86_64-linux-gnu/libsqlite3.so.0
TIMEOUT 30
EXPECT
	"query": "create table t(a, b)"}
	"query": "BEGIN "}
	"query": "insert into t values(?, ?)"}
	"query": "insert into t values(?, ?)"}
	"query": "insert into t values(?, ?)"}
	"query": "select sum(t.a) from t, t as u"}
	"query": "select a from t"}
	7
	TIME(s)        PID           MS QUERY
	Tracing queries (libsqlite3.so.0) for 0.1 s...
	ERROR: There is none of these probes: uprobe:/bin/true:sqlite3_prepare

NAME ucalls: the interpreter that a command runs, itself or by the first line of a script
RUN
	printf '#!/usr/bin/env mine-python3\nx\n' >"$TMPDIR/script"; chmod +x "$TMPDIR/script"
	cp "$SONDE_TESTS/runtime" "$TMPDIR/mine-python3"; cp "$SONDE_TESTS/runtime" "$TMPDIR/python3"
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$TMPDIR/python3" >"$TMPDIR/shim"; chmod +x "$TMPDIR/shim"
	for c in "$TMPDIR/python3" "$TMPDIR/shim"; do PATH=$TMPDIR:$PATH "$SONDE" pythoncalls -q -- $c | wc -l; done
	mkdir "$TMPDIR/bin"; cp "$TMPDIR/shim" "$TMPDIR/bin/python3"; ln "$TMPDIR/python3" "$TMPDIR/bin/python3.9"
	sed -i '1s/.*/#!\/usr\/bin\/env python3.9/' "$TMPDIR/script"
	for c in script python3.9 python3; do PATH=$TMPDIR/bin:$TMPDIR:$PATH "$SONDE" pythoncalls -q -- $c 2>&1 | sed "s,$TMPDIR,DIR," | head -n 1; done
NEEDS uprobe prog:runtime
EXPECT
	3
	3
	CLASS                    METHOD                    # CALLS
	CLASS                    METHOD                    # CALLS
	ERROR: DIR/bin/python3: a script, not an ELF file: name the program that it runs

NAME execsnoop -x: a call without a path fails, too
RUN
	p='import ctypes; ctypes.CDLL(None).execve(None, None, None)'
	"$SONDE" execsnoop -x -q --csv --fields comm,ret,argv -- /usr/bin/python3 -ISc "$p" 2>&1 | tail -n 1
NEEDS file:/usr/bin/python3 tracefs
EXPECT
	python3,-14,

NAME execsnoop: execveat, a descriptor, a program that is not there, 400 arguments
RUN "$SONDE" execsnoop -x -- build/tests/execat 2>&1 | awk 'NR > 2 { print $1, $4, NF, $5, $NF }'
NEEDS prog:execat tracefs since:6.1
EXPECT
	true 0 6 shown arg
	true 0 6 shown arg
	execat -2 5 /nowhere/true /nowhere/true
	true 0 405 shown last
