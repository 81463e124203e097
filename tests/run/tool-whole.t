# Tools that have room for some of what they look at say how many others there were.

NAME lossf: what is missing from the results, in text and at the end of a tool's JSON; nothing of 0
RUN
	for f in text json; do "$SONDE" -q -f $f -e 'begin { lossf("%d of %s are missing", 5, "these"); lossf("%d", 0); lossf("%d more", 2); exit(); }' 2>&1; done | grep .
	"$SONDE" execsnoop -j --fields ret -- sh -c 'exec /bin/true "$(printf %04000d 1)"' | sed -n '1d; s/ "time":.*"rows"/ ... "rows"/; p'
	"$SONDE" execsnoop -qj --fields ret -- sh -c 'exec /bin/true "$(printf %03900d 1)"'
NEEDS btf tp:sched/sched_process_exec
EXPECT
	WARNING: 5 of these are missing
	WARNING: 2 more
	{"type": "not_counted", "data": {"what": "5 of these are missing", "times": 5}}
	{"type": "not_counted", "data": {"what": "2 more", "times": 2}}
	{"type": "event", "table": "execs", "ret": 0}
	{"type": "event", "table": "execs", "ret": 0}
	{"type": "not_counted", "data": {"what": "1 programs had more than 3996 bytes of arguments: what is behind them is not shown", "times": 1}}
	{"type": "end", ... "rows": 2, "complete": false, "lost": 0, "missed": 0, "cut": 0, "other": 1}
	{"type": "event", "table": "execs", "ret": 0}
	{"type": "event", "table": "execs", "ret": 0}

NAME tcpconnect -d: names with many addresses, and those of IPv6
RUN
	cat >"$TMPDIR/c.py" <<-'P'
		import socket
		for name in "many", "most", "six":
		    a = socket.getaddrinfo(name, 1, 0, socket.SOCK_STREAM)
		    for x in a[0], a[20 % len(a)], a[-1]:
		        try: socket.socket(x[0]).connect(x[4])
		        except OSError: pass
	P
	awk 'BEGIN { for (i = 1; i < 300; i++) print "127.0." int(i / 250) "." i % 250, i < 40 ? "many most" : "most"; print "::1 six" }' >"$TMPDIR/hosts"
	unshare -m sh -c 'mount -n --bind "$TMPDIR/hosts" /etc/hosts && exec "$SONDE" tcpconnect -q -d --csv --fields daddr,query -- python3 -I "$TMPDIR/c.py"' 2>&1
NEEDS tp:sock/inet_sock_set_state cmd:python3 uprobe btf file:/etc/hosts
TIMEOUT 30
EXPECT
	daddr,query
	127.0.0.1,many
	127.0.0.21,many
	127.0.0.39,many
	127.0.0.1,most
	127.0.0.21,most
	127.0.1.49,
	::1,six
	::1,six
	::1,six
	WARNING: 1 names had more than 64 addresses: the others' QUERY is empty

NAME opensnoop -F: of long paths the last names
RUN
	d=$(awk 'BEGIN { for (i = 1; i < 31; i++) printf "/d%d", i }'); w=$(printf %0200d 0); l="/$w/$w/$w/$w/$w/$w"
	mkdir -p "$TMPDIR$d" "$TMPDIR$l"; : >"$TMPDIR$d/file"; : >"$TMPDIR$l/file"; export d l
	"$SONDE" opensnoop -qF --fields path file -- sh -c 'cd "$TMPDIR$d"; cat file nofile; cd "$TMPDIR$l"; cat file nofile' 2>/dev/null | sed 's/00*/0/g; s/d10/d1/'
	(cd "$TMPDIR$d/../../../../.." && "$SONDE" opensnoop -qF --fields path file -- cat ../d23/nofile 2>/dev/null)
NEEDS tp:syscalls/sys_enter_openat btf
EXPECT
	PATH
	.../d8/d9/d1/d11/d12/d13/d14/d15/d16/d17/d18/d19/d20/d21/d22/d23/d24/d25/d26/d27/d28/d29/d30/file
	.../d7/d8/d9/d1/d11/d12/d13/d14/d15/d16/d17/d18/d19/d20/d21/d22/d23/d24/d25/d26/d27/d28/d29/d30/nofile
	.../0/0/0/0/0/file
	.../0/0/0/0/0/nofile
	PATH
	.../d2/d3/d4/d5/d6/d7/d8/d9/d10/d11/d12/d13/d14/d15/d16/d17/d18/d19/d20/d21/d22/d23/d24/d25/../d23/nofile

NAME deadlock: a thread that holds many mutexes
RUN
	cat >"$TMPDIR/many.py" <<-'P'
		import ctypes
		l = ctypes.CDLL("libc.so.6")
		m = [ctypes.create_string_buffer(40) for i in range(20)]
		for i in m: l.pthread_mutex_lock(i)
	P
	"$SONDE" deadlock -q --fields comm -- python3 -I "$TMPDIR/many.py" 2>&1 | sed 's/^WARNING: [0-9]* /N /'
NEEDS slow uprobe cmd:python3 sym:bpf_for_each_map_elem
TIMEOUT 40
EXPECT
	COMM
	N mutexes were taken while the thread held 16 already: what was taken after them is not known

NAME biostacks: a request of more pieces than are looked at
RUN
	"$SONDE" tools -s biostacks | sed 's/0\.\.64/0..0/' >"$TMPDIR/few.bt"
	with_loop 'for t in biostacks "$TMPDIR/few.bt"; do rm -f "$TMPDIR/o"; "$SONDE" $t >"$TMPDIR/o" 2>&1 & p=$!; eventually grep -q ^Tracing "$TMPDIR/o"; /bin/dd if=/dev/zero of=$disk bs=8k count=20 oflag=direct 2>/dev/null; kill -INT $p; wait $p; grep -c "pieces: the others" "$TMPDIR/o"; done'
NEEDS slow file:/dev/loop-control cmd:losetup btf
TIMEOUT 90
ALONE
EXPECT
	0
	1

NAME sofdsnoop: descriptors behind other control messages, and behind more than there is room for
RUN
	cat >"$TMPDIR/s.py" <<-'P'
		import socket, os, struct, array
		a, b = socket.socketpair(socket.AF_UNIX)
		c = (socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("iii", os.getpid(), os.getuid(), os.getgid()))
		r = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [os.open("/etc/passwd", 0)]))
		for m in [c, r], [c] * 7 + [r], [c] * 8 + [r]: a.sendmsg([b"x"], m)
	P
	"$SONDE" sofdsnoop -q --fields action,fds,file -- python3 -I "$TMPDIR/s.py" 2>&1
NEEDS tp:syscalls/sys_exit_sendmsg btf cmd:python3
TIMEOUT 30
EXPECT
	ACTION  FDS NAME
	SEND      1 passwd
	SEND      1 passwd
	WARNING: 1 messages had more than eight control messages: descriptors in the others are not shown

NAME ttysnoop, sslsniff: more of each than there is room for
RUN for t in 'ttysnoop -s' 'sslsniff --max-bytes'; do for n in 1020 1021; do "$SONDE" -q $t $n --comm nosuch -d 100ms 2>&1 | grep WARN; done; done
NEEDS slow tp:syscalls/sys_enter_write btf uprobe
EXPECT
	WARNING: at most 1020 bytes of each are shown; BPFTRACE_MAX_STRLEN allows more
	WARNING: at most 1020 bytes of each are shown; BPFTRACE_MAX_STRLEN allows more

NAME ltrace: of a program that imports more than there is room for
RUN
	cd "$TMPDIR" && : >none.c && cc -c -fPIC none.c && cc -shared -nostdlib -Wl,-soname,libz10.so -o libz10.so none.o
	for i in $(seq 11 74); do sed "s/libz10/libz$i/g" libz10.so >libz$i.so; done
	awk 'BEGIN { for (i = 0; i < 2100; i++) print "void f" i "(void) { }" }' >many.c && cc -shared -fPIC -o libmany.so -Wl,-soname,libmany.so many.c
	awk 'BEGIN { for (i = 0; i < 2100; i++) { d = d "void f" i "(void);"; c = c "f" i "();" } print d "int pause(void); int main(void) { pause();" c "}" }' >p.c
	cc -o p p.c libmany.so -Wl,--no-as-needed libz*.so && { LD_LIBRARY_PATH=. ./p & }; p=$!; until_named $p p
	for o in 'f*' 'f2099 -l many'; do "$SONDE" -d script ltrace -e $o -p $p 2>&1 >o | sed "s,$TMPDIR,D,g"; grep -c 'probe:.*libmany.so:f' o; done; kill $p
NEEDS uprobe cmd:cc x86_64 fast
TIMEOUT 60
EXPECT
	WARNING: 100 more functions of D/p are not traced; select functions with -e
	WARNING: functions of 3 more libraries of D/p are not traced; select libraries with -l
	4000
	2
