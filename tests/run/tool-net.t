# Tools about sockets and packets: a client and a server in one process, IPv4 and IPv6.

NAME bindsnoop: who binds, to which port in the end
RUN
	p='import socket; s=socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", 18901)); t=socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); t.bind(("::1", 0)); u=socket.socket(socket.AF_UNIX); u.bind("\0x"); s.bind(("127.0.0.1", 18902))'
	"$SONDE" bindsnoop -q --fields comm,protocol,addr,port,opts -- python3 -c "$p" 2>/dev/null | sed 's/ [1-9][0-9]* *\.\.\.\.\.$/ PORT/'
	"$SONDE" bindsnoop -qxj -P 18901 --fields protocol,port,error -- python3 -c "$p" 2>/dev/null
	"$SONDE" bindsnoop -q --csv -P 18901 --fields addr,port -- python3 -c "$p" 2>/dev/null
NEEDS tp:syscalls/sys_exit_bind btf cmd:python3
TIMEOUT 30
EXPECT
	COMM             PROT  ADDR            PORT  OPTS
	python3          TCP   127.0.0.1       18901 ...R.
	python3          UDP   ::1             PORT
	{"type": "event", "table": "binds", "protocol": "TCP", "port": 18901}
	{"type": "event", "table": "binds", "protocol": "TCP", "port": 18901, "error": "EINVAL"}
	addr,port
	127.0.0.1,18901

NAME bindsnoop: options of the socket
RUN
	cat >"$TMPDIR/p.py" <<-'P'
		import socket
		for o in ("SOL_SOCKET", 2), ("SOL_SOCKET", 15), ("SOL_IP", 15), ("SOL_IP", 19), ("SOL_IP", 24):
		    s = socket.socket()
		    s.setsockopt(getattr(socket, o[0]), o[1], 1)
		    s.bind(("127.0.0.1", 18918))
		    s.close()
	P
	for f in '' -j; do "$SONDE" bindsnoop -q $f -P 18918 --fields port,opts -- python3 "$TMPDIR/p.py"; done
NEEDS tp:syscalls/sys_exit_bind btf cmd:python3
TIMEOUT 30
EXPECT
	PORT  OPTS
	18918 ...R.
	18918 ....r
	18918 F....
	18918 .T...
	18918 ..N..
	{"type": "event", "table": "binds", "port": 18918, "opts": "...R."}
	{"type": "event", "table": "binds", "port": 18918, "opts": "....r"}
	{"type": "event", "table": "binds", "port": 18918, "opts": "F...."}
	{"type": "event", "table": "binds", "port": 18918, "opts": ".T..."}
	{"type": "event", "table": "binds", "port": 18918, "opts": "..N.."}

NAME solisten: who begins to listen
RUN
	p='import socket; s=socket.socket(); s.bind(("127.0.0.1", 18903)); s.listen(7); t=socket.socket(socket.AF_INET6); t.bind(("::1", 18904)); t.listen(8); socket.socket(socket.AF_UNIX).listen(3)'
	for f in '' -j --csv; do "$SONDE" solisten -q $f --fields comm,protocol,backlog,port,addr -- python3 -c "$p" 2>/dev/null; done
NEEDS tp:syscalls/sys_exit_listen btf cmd:python3
TIMEOUT 30
EXPECT
	COMM             PROTO   BACKLOG PORT  ADDR
	python3          TCP           7 18903 127.0.0.1
	python3          TCP           8 18904 ::1
	{"type": "event", "table": "listens", "comm": "python3", "protocol": "TCP", "backlog": 7, "port": 18903, "addr": "127.0.0.1"}
	{"type": "event", "table": "listens", "comm": "python3", "protocol": "TCP", "backlog": 8, "port": 18904, "addr": "::1"}
	comm,protocol,backlog,port,addr
	python3,TCP,7,18903,127.0.0.1
	python3,TCP,8,18904,::1

NAME udpconnect: which UDP sockets are connected where
RUN
	p='import socket; u=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.connect(("127.0.0.1", 53)); v=socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); v.connect(("::1", 54))'
	for f in '' -j '--csv -P 54'; do "$SONDE" udpconnect -q $f --fields comm,ip,daddr,dport -- python3 -c "$p"; done
NEEDS tp:syscalls/sys_exit_connect btf cmd:python3
TIMEOUT 30
EXPECT
	COMM             IP DADDR           DPORT
	python3          4  127.0.0.1       53
	python3          6  ::1             54
	{"type": "event", "table": "connects", "comm": "python3", "ip": 4, "daddr": "127.0.0.1", "dport": 53}
	{"type": "event", "table": "connects", "comm": "python3", "ip": 6, "daddr": "::1", "dport": 54}
	comm,ip,daddr,dport
	python3,6,::1,54

NAME udpconnect --send: where messages go, too
RUN
	cat >"$TMPDIR/p.py" <<-'P'
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.sendto(b"x", ("127.0.0.1", 18930))
		s.sendmsg([b"x"], [], 0, ("127.0.0.2", 18931))
		t = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
		t.sendto(b"x", ("::1", 18932))
		try: s.sendto(b"x" * 70000, ("127.0.0.1", 18933))
		except OSError: pass
		s.connect(("127.0.0.1", 18934))
		s.send(b"y")
	P
	for f in '--csv --send' --csv '--csv --send -P 18931,18933'; do "$SONDE" udpconnect -q $f --fields ip,daddr,dport,error -- python3 "$TMPDIR/p.py"; done
NEEDS tp:syscalls/sys_exit_connect btf cmd:python3
TIMEOUT 30
EXPECT
	ip,daddr,dport,error
	4,127.0.0.1,18930,
	4,127.0.0.2,18931,
	6,::1,18932,
	4,127.0.0.1,18933,EMSGSIZE
	4,127.0.0.1,18934,
	ip,daddr,dport,error
	4,127.0.0.1,18934,
	ip,daddr,dport,error
	4,127.0.0.2,18931,
	4,127.0.0.1,18933,EMSGSIZE

NAME bindsnoop --count: how often each address was bound
RUN
	p='import socket
	for i in range(3):
	    for a in "127.0.0.1", "127.0.0.2":
	        s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind((a, 18935)); s.close()
	        if i: break'
	for f in '' -j --csv; do "$SONDE" bindsnoop -q --count $f -- python3 -c "$p"; done
NEEDS tp:syscalls/sys_exit_bind btf cmd:python3
TIMEOUT 30
EXPECT
	ADDR                                    PORT  PROT     BINDS
	127.0.0.1                               18935 TCP          3
	127.0.0.2                               18935 TCP          1
	{"type": "row", "table": "counts", "addr": "127.0.0.1", "port": 18935, "protocol": "TCP", "binds": 3}
	{"type": "row", "table": "counts", "addr": "127.0.0.2", "port": 18935, "protocol": "TCP", "binds": 1}
	addr,port,protocol,binds
	127.0.0.1,18935,TCP,3
	127.0.0.2,18935,TCP,1

NAME a network namespace: by a process, a path or its inode
RUN
	p='import socket; s=socket.socket(); s.bind(("127.0.0.1", 18936)); s.listen(7)'; here=$(stat -Lc %i /proc/self/ns/net)
	for n in $$ /proc/self/ns/net $here $((here - 1)) nosuch /etc/passwd 4194303
	do "$SONDE" solisten -q --csv --fields port -n $n -- python3 -c "$p" 2>&1 | sed -n 's/ (got .*//; 1p; 2p' |
		grep -v ^port
	done
	"$SONDE" solisten -q -t --csv --fields time_ns,netns,port --show-netns -- python3 -c "$p" | sed "s/^[1-9][0-9]*,$here,/AGO,HERE,/"
NEEDS slow tp:syscalls/sys_exit_listen btf cmd:python3
TIMEOUT 30
EXPECT
	18936
	18936
	18936
	ERROR: --netns needs a network namespace: a process, a name of ip netns, a path or an inode
	sonde solisten -h shows its options.
	ERROR: --netns needs a network namespace: a process, a name of ip netns, a path or an inode
	sonde solisten -h shows its options.
	ERROR: --netns needs a network namespace: a process, a name of ip netns, a path or an inode
	sonde solisten -h shows its options.
	time_ns,netns,port
	AGO,HERE,18936

NAME tcpaccept: what is accepted
RUN
	cat >"$TMPDIR/p.py" <<-'P'
		import socket
		for f, a, p in (socket.AF_INET, "127.0.0.1", 18905), (socket.AF_INET6, "::1", 18906):
		    s = socket.socket(f)
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		    s.bind((a, p))
		    s.listen()
		    c = socket.create_connection((a, p))
		    s.accept()[0].close()
	P
	for f in '' -j '--csv -6'; do "$SONDE" tcpaccept -q $f -P 18905,18906 --fields comm,ip,raddr,laddr,lport -- python3 "$TMPDIR/p.py"; done
NEEDS tp:syscalls/sys_exit_accept4 btf cmd:python3
TIMEOUT 30
EXPECT
	COMM             IP RADDR            LADDR            LPORT
	python3          4  127.0.0.1        127.0.0.1        18905
	python3          6  ::1              ::1              18906
	{"type": "event", "table": "accepts", "comm": "python3", "ip": 4, "raddr": "127.0.0.1", "laddr": "127.0.0.1", "lport": 18905}
	{"type": "event", "table": "accepts", "comm": "python3", "ip": 6, "raddr": "::1", "laddr": "::1", "lport": 18906}
	comm,ip,raddr,laddr,lport
	python3,6,::1,::1,18906

NAME tcpaccept: how many waited when it came
RUN
	cat >"$TMPDIR/p.py" <<-'P'
		import socket
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("127.0.0.1", 18917))
		s.listen(7)
		c = [socket.create_connection(("127.0.0.1", 18917)) for i in range(3)]
		for i in c: s.accept()
	P
	for f in '' -j --csv; do "$SONDE" tcpaccept -qb $f -P 18917 --fields lport,backlog,max_backlog -- python3 "$TMPDIR/p.py"; done
NEEDS tp:syscalls/sys_exit_accept4 btf cmd:python3
TIMEOUT 30
EXPECT
	LPORT   BL MAXBL
	18917    0     7
	18917    1     7
	18917    2     7
	{"type": "event", "table": "accepts", "lport": 18917, "backlog": 0, "max_backlog": 7}
	{"type": "event", "table": "accepts", "lport": 18917, "backlog": 1, "max_backlog": 7}
	{"type": "event", "table": "accepts", "lport": 18917, "backlog": 2, "max_backlog": 7}
	lport,backlog,max_backlog
	18917,0,7
	18917,1,7
	18917,2,7

NAME tcpconnlat: how long connecting takes, and whether it works
RUN
	cat >"$TMPDIR/p.py" <<-'P'
		import socket
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("127.0.0.1", 18907))
		s.listen()
		socket.create_connection(("127.0.0.1", 18907))
		socket.socket().connect_ex(("127.0.0.1", 18908))
	P
	see() { tool_sees 'python3 "$TMPDIR/p.py"' tcpconnlat "$@" | grep -E '1890[78]|daddr|DADDR'; }
	see --fields comm,ip,daddr,dport,result; see -j --fields dport,duration_ns; see --csv --fields daddr,dport,result
	see --fields dport 1h; true
NEEDS tp:sock/inet_sock_set_state cmd:python3
TIMEOUT 30
EXPECT_RE
	COMM             IP DADDR           DPORT RESULT
	python3          4  127.0.0.1       18907 connected
	python3          4  127.0.0.1       18908 refused
	.*"dport": 18907, "duration_ns": [1-9][0-9]*}
	.*"dport": 18908, "duration_ns": [1-9][0-9]*}
	daddr,dport,result
	127.0.0.1,18907,connected
	127.0.0.1,18908,refused

NAME tcptop: who sends and receives how much
RUN
	cat >"$TMPDIR/p.py" <<-'P'
		import socket
		for f, a, p, n in (socket.AF_INET, "127.0.0.1", 18909, 10240), (socket.AF_INET6, "::1", 18910, 2048):
		    s = socket.socket(f)
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		    s.bind((a, p))
		    s.listen()
		    c = socket.create_connection((a, p))
		    b = s.accept()[0]
		    c.sendall(b"x" * n)
		    b.recv(n, socket.MSG_WAITALL)
	P
	see() { tool_sees 'python3 "$TMPDIR/p.py"' tcptop "$@" 1h | grep -E 'python|raddr|LADDR'; }
	see --fields comm,laddr,lport,rx_bytes,tx_bytes | grep -E ' 189(09|10) +[0-9]+ +0$|LADDR' | sort
	see -j -4 --fields comm,lport,rx_bytes | grep 18909; see --csv -6 --fields comm,lport,rx_bytes | grep 18910
NEEDS tp:sock/sock_send_length btf cmd:python3
TIMEOUT 30
EXPECT_RE
	COMM             LADDR           LPORT +RX_KB +TX_KB
	python3          127.0.0.1       18909 +10 +0
	python3          ::1             18910 +2 +0
	.*"comm": "python3", "lport": 18909, "rx_bytes": 10240}
	python3,18910,2048

NAME tcprtt: round trips
RUN
	cat >"$TMPDIR/p.py" <<-'P'
		import socket
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("127.0.0.1", 18911))
		s.listen()
		c = socket.create_connection(("127.0.0.1", 18911))
		a = s.accept()[0]
		for i in range(10):
		    c.send(b"x")
		    a.recv(1)
		    a.send(b"y")
		    c.recv(1)
	P
	see() { tool_sees 'python3 "$TMPDIR/p.py"' tcprtt "$@"; }
	see -B -P 18911 | grep -E '^remote|^\[' | sed 's/\[.*/BUCKETS/' | uniq; see -p 18911 -j | grep -c '"usecs": \[{"min"'; see -p 18911 --csv | awk -F, 'NR == 1 { print; next } { n += $3 } END { print (n >= 10) }'; see -6 -p 18911 | grep -c usecs
	see -p 18911 -a 127.0.0.1 -A 127.0.0.1 -e | awk '/SAMPLES/ { print; getline; print ($1 >= 10) }'; see -p 18911 -A 127.0.0.1 -ej | grep -c '"sums".*"samples": .*"avg_us": .*"total_us": '; see -p 18911 -A 127.0.0.2 | grep -c usecs; see -p 18911 -a ::1 | grep -c usecs; true
NEEDS slow tp:tcp/tcp_probe btf cmd:python3
TIMEOUT 30
EXPECT
	remote address = 127.0.0.1, usecs:
	BUCKETS
	1
	usecs_min,usecs_max,usecs_count
	1
	0
	 SAMPLES  AVG(us)
	1
	1
	0
	0

NAME tcpdrop: a packet that nobody wants
RUN
	see() { tool_sees 'python3 -c "import socket; socket.socket().connect_ex((\"127.0.0.1\", 18912))"' tcpdrop "$@" | grep -E '18912|tcp_v4_rcv|DADDR|^dport'; }
	see -4 --fields ip,daddr,dport,flags,reason,kstack | sed 's/+[0-9]*$//' | sort -u
	see -4 -j --no-stack --fields dport,reason | grep -c 18912
	see --csv -6 --fields dport,reason
	see --csv -4 --no-stack --fields dport,reason | sort -u
	see -4 -j --no-stack --netns-id "$(stat -Lc %i /proc/self/ns/net)" --fields dport | sort -u
	see -4 -j --no-stack --pid-netns $$ --fields dport | sort -u
	see -4 -j --no-stack --netns-id 4026500000 --fields dport
	true
NEEDS slow tp:skb/kfree_skb btf cmd:python3 sym:sk_skb_reason_drop
TIMEOUT 30
EXPECT
	        tcp_v4_rcv
	4  127.0.0.1       18912 SYN    SKB_DROP_REASON_NO_SOCKET
	IP DADDR           DPORT FLAGS  REASON
	1
	dport,reason
	18912,SKB_DROP_REASON_NO_SOCKET
	dport,reason
	{"type": "event", "table": "drops", "dport": 18912}
	{"type": "event", "table": "drops", "dport": 18912}

NAME tcpretrans: a packet that is never answered
RUN
	cat >"$TMPDIR/lost.sh" <<-'P'
		ip link set lo up && ip route add 10.9.9.0/24 dev lo && exec python3 -c 'import socket, time
		s = socket.socket(); s.setblocking(False); s.connect_ex(("10.9.9.2", 18913))
		while not s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[2]: time.sleep(0.02) # retransmits'
	P
	see() { tool_sees 'unshare -n sh "$TMPDIR/lost.sh"' tcpretrans "$@" | grep -E '18913|RADDR|rport'; }
	see -4 --fields ip,kind,raddr,rport,state | LC_ALL=C sort -u; see -c --csv --fields raddr,rport,retransmits | sed 's/[1-9]$/N/'; see -4j --fields ip,kind,raddr,rport,state | uniq; see -6j; true
NEEDS slow tp:tcp/tcp_retransmit_skb btf cmd:python3 cmd:ip
TIMEOUT 40
EXPECT
	4  R  10.9.9.2        18913 SYN_SENT
	IP T> RADDR           RPORT STATE
	raddr,rport,retransmits
	10.9.9.2,18913,N
	{"type": "event", "table": "segments", "ip": 4, "kind": "R", "raddr": "10.9.9.2", "rport": 18913, "state": "SYN_SENT"}

NAME netqtop: packets by queue
RUN
	see() { tool_sees 'unshare -n sh -c "ip link set lo up; python3 -I tests/progs/udp.py"' netqtop "$@" -n lo 1h; }
	see --fields interface,direction,queue,packets | tail -n 2 | sed 's/[1-9][0-9]*$/N/' | sort
	see -j --fields direction,bytes | grep -c '"direction": ".X", "bytes": [0-9]*}'
	see --csv --fields interface,queue | sort -u
NEEDS tp:net/net_dev_start_xmit btf cmd:python3 cmd:ip
TIMEOUT 30
EXPECT_RE
	lo               RX      0 +N
	lo               TX      0 +N
	2
	interface,queue
	lo,0

NAME netqtop: packets per second
RUN
	see() { tool_sees 'unshare -n sh -c "ip link set lo up; python3 -I tests/progs/udp.py"' netqtop "$@" -n lo 1h; }
	see -tj |
		sed -n 's/.*"packets": \([0-9]*\), "bytes": \([0-9]*\), .*"packets_per_s": \([0-9]*\), "bytes_per_s": \([0-9]*\)}/\1 \2 \3 \4/p' |
		awk '{ s = $2 / $4; print ($4 > 0 && $3 * s <= $1 * 1.01 && ($3 + 1) * s > $1 * 0.99) }'
NEEDS tp:net/net_dev_start_xmit btf cmd:python3 cmd:ip sym:bpf_for_each_map_elem
TIMEOUT 30
EXPECT
	1
	1

NAME tcptracer: connected, accepted, closed
RUN
	cat >"$TMPDIR/p.py" <<-'P'
		import socket
		for f, a, p in (socket.AF_INET, "127.0.0.1", 18923), (socket.AF_INET6, "::1", 18924):
		    s = socket.socket(f)
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		    s.bind((a, p))
		    s.listen()
		    c = socket.create_connection((a, p))
		    b = s.accept()[0]
		    c.close()
		    b.close()
	P
	see() { tool_sees 'python3 "$TMPDIR/p.py"' tcptracer "$@" | grep -E ' 1892[34]|"dport": 1892[34]|,1892[34]'; }
	see --fields kind,comm,ip,saddr,daddr,dport | grep -v ' A '; see -j -4 --fields kind,dport; see -6 --csv --fields kind,dport; see -U -4 --csv --fields kind,uid,dport
NEEDS tp:sock/inet_sock_set_state btf cmd:python3
TIMEOUT 30
EXPECT
	C python3          4  127.0.0.1       127.0.0.1       18923
	X python3          4  127.0.0.1       127.0.0.1       18923
	C python3          6  ::1             ::1             18924
	X python3          6  ::1             ::1             18924
	{"type": "event", "table": "events", "kind": "C", "dport": 18923}
	{"type": "event", "table": "events", "kind": "X", "dport": 18923}
	C,18924
	X,18924
	C,0,18923
	X,0,18923

NAME tcppktlat: data that waits until it is read
RUN
	cat >"$TMPDIR/p.py" <<-'P'
		import socket, time
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("127.0.0.1", 18925))
		s.listen()
		c = socket.create_connection(("127.0.0.1", 18925))
		b = s.accept()[0]
		c.send(b"x")
		time.sleep(0.3)
		b.recv(1)
	P
	see() { tool_sees 'python3 "$TMPDIR/p.py"' tcppktlat -l 18925 "$@"; }
	see 250ms --fields comm,lport,duration_ns | sed 's/ [2-9][0-9][0-9]\.[0-9]*$/ WAITED/'; see -j --fields comm,duration_ns 250ms | grep -cE '"comm": "python3", "duration_ns": [2-9][0-9]{8,}'; see --csv --fields comm,lport 1h; see --csv --fields comm,lport 250ms
NEEDS slow tp:tcp/tcp_probe btf cmd:python3
TIMEOUT 30
EXPECT
	COMM             LPORT       MS
	python3          18925   WAITED
	1
	comm,lport
	comm,lport
	python3,18925

NAME tcptop: of a control group
RUN
	m=$(sed -n 's/^cgroup2* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1); d=$m/sonde-$$; mkdir "$d"
	export p='import socket, sys; n = int(sys.argv[1]); s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); c = socket.create_connection(s.getsockname()); a = s.accept()[0]; c.sendall(b"x" * n); a.recv(n, socket.MSG_WAITALL)'
	both() { python3 -c "$p" 10303; sh -c 'echo $$ >"$0/cgroup.procs"; exec python3 -c "$p" 20404' "$d"; }
	for g in '' "--cgroup $d"; do tool_sees both tcptop -C --csv --fields tx_bytes $g 1h | grep -E '^(10303|20404)$' | sort; done; rmdir "$d"
NEEDS tp:sock/sock_send_length btf cmd:python3 file:/sys/fs/cgroup
TIMEOUT 40
EXPECT
	10303
	20404
	20404

NAME tcpcong: a packet is lost
RUN
	cat >"$TMPDIR/lost.sh" <<-'P'
		ip link set lo up && ip route add 10.9.9.0/24 dev lo && exec python3 -c 'import socket; s = socket.socket(); s.settimeout(30); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 1); s.connect(("10.9.9.2", 18914))' 2>/dev/null
	P
	for f in '' -j --csv; do tool_sees 'unshare -n sh "$TMPDIR/lost.sh"' tcpcong -R 18914 $f --fields raddr,rport,changes | sed 's/[1-9]\(}*\)$/N\1/'; done
NEEDS slow sym:tcp_enter_loss btf cmd:python3 cmd:ip
TIMEOUT 40
EXPECT
	RADDR           RPORT   Chgs
	10.9.9.2        18914      N
	{"type": "row", "table": "states", "raddr": "10.9.9.2", "rport": 18914, "changes": N}
	raddr,rport,changes
	10.9.9.2,18914,N

NAME tcpcong: how long each state lasts
RUN
	cat >"$TMPDIR/deaf.py" <<-'P'
		import ctypes, socket, struct, time
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("127.0.0.1", 18919))
		s.listen()
		c = socket.create_connection(("127.0.0.1", 18919))
		a = s.accept()[0]
		none = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0)) # returns 0: nothing arrives
		a.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HP", 1, ctypes.addressof(none)))
		c.send(b"x")
		while c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[1] != 4: time.sleep(0.02) # lost
		time.sleep(0.05)
		a.setsockopt(socket.SOL_SOCKET, 27, 0)
		a.recv(1)
		c.send(b"x")
		while c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[1] != 0: time.sleep(0.02)
	P
	see() { tool_sees 'python3 "$TMPDIR/deaf.py"' tcpcong -R 18919 "$@"; }
	see -d --csv --fields raddr,rport,state,msecs | awk -F, 'NR == 1 { print } $3 == "Loss" { print $1, $2, $3, ($5 > 32), $6 }'
	see -u --fields rport,loss_ns | awk 'NR == 1 { print } NR == 2 { print $1, ($2 > 50000) }'
NEEDS slow sym:tcp_enter_loss btf cmd:python3
TIMEOUT 40
EXPECT
	raddr,rport,state,msecs_min,msecs_max,msecs_count
	127.0.0.1 18919 Loss 1 1
	RPORT    Los_us
	18919 1

NAME tcpsubnet: what is sent to which networks
RUN
	cat >"$TMPDIR/send.py" <<-'P'
		import socket
		for f, a, n in ((2, "127.0.0.1", 1000), (2, "127.7.7.9", 500), (10, "::1", 2000)):
		    s = socket.socket(f)
		    s.bind((a, 0))
		    s.listen()
		    c = socket.create_connection(s.getsockname()[:2])
		    s.accept()
		    c.sendall(b"x" * n)
	P
	p=127.0.0.2/32,127.7.7.0/24,127.0.0.0/8
	for f in '' -j; do "$SONDE" tcpsubnet -q $f -i 1h $p -- python3 "$TMPDIR/send.py"; done | sed 's/^(last [0-9]*\.[0-9] s)$/(last N s)/'; "$SONDE" tcpsubnet -q --csv -i 1h -- python3 "$TMPDIR/send.py"
NEEDS tp:sock/sock_send_length btf cmd:python3
TIMEOUT 40
EXPECT
	(last N s)
	SUBNET          BITS        BYTES
	::                 0         2000
	127.0.0.0          8         1000
	127.7.7.0         24          500
	{"type": "row", "table": "subnets", "interval": 1, "subnet": "::", "prefix": 0, "bytes": 2000}
	{"type": "row", "table": "subnets", "interval": 1, "subnet": "127.0.0.0", "prefix": 8, "bytes": 1000}
	{"type": "row", "table": "subnets", "interval": 1, "subnet": "127.7.7.0", "prefix": 24, "bytes": 500}
	subnet,prefix,bytes
	::,0,2000
	127.0.0.1,32,1000
	0.0.0.0,0,500

NAME tcpsubnet: units
RUN
	cat >"$TMPDIR/send.py" <<-'P'
		import socket
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		s.listen()
		c = socket.create_connection(s.getsockname())
		a = s.accept()[0]
		c.sendall(b"x" * 10240)
		a.recv(10240, socket.MSG_WAITALL)
	P
	for u in K b k; do "$SONDE" tcpsubnet -q -f $u -i 1h 127.0.0.1/32 -- python3 "$TMPDIR/send.py" | grep -v '^(last'; done
	"$SONDE" tcpsubnet -q -f M -J -i 1h 127.0.0.1/32 -- python3 "$TMPDIR/send.py"
NEEDS tp:sock/sock_send_length btf cmd:python3
TIMEOUT 40
EXPECT
	SUBNET          BITS           KB
	127.0.0.1         32           10
	SUBNET          BITS         BITS
	127.0.0.1         32        81920
	SUBNET          BITS         KBIT
	127.0.0.1         32           80
	{"type": "row", "table": "subnets", "interval": 1, "subnet": "127.0.0.1", "prefix": 32, "bytes": 10240}
