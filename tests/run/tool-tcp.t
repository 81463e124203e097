# Tools about TCP: a client sends 10,240 bytes to a server in the same process, port 18888.

NAME tcpconnect: who connects where
RUN
	p='import socket,threading;s=socket.socket();s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1);s.bind(("127.0.0.1",18888));s.listen();c=socket.create_connection(("127.0.0.1",18888));s.accept()[0].close();c.close()'
	"$SONDE" tcpconnect -q -- python3 -c "$p" | sed 's/^[0-9][0-9]* */PID /'
	for f in -j --csv
	do "$SONDE" tcpconnect -q $f --fields comm,ip,daddr,dport -- python3 -c "$p"
	done
	"$SONDE" tcpconnect -q -P 80,81 -- python3 -c "$p"
	"$SONDE" tcpconnect -q6 -- python3 -c "$p"
NEEDS tp:sock/inet_sock_set_state cmd:python3
TIMEOUT 20
EXPECT
	PID     COMM             IP SADDR            DADDR            DPORT
	PID python3          4  127.0.0.1        127.0.0.1        18888
	{"type": "event", "table": "connects", "comm": "python3", "ip": 4, "daddr": "127.0.0.1", "dport": 18888}
	comm,ip,daddr,dport
	python3,4,127.0.0.1,18888
	PID     COMM             IP SADDR            DADDR            DPORT
	PID     COMM             IP SADDR            DADDR            DPORT

NAME tcplife: both ends, bytes and time
RUN
	p='import socket,time;s=socket.socket();s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1);s.bind(("127.0.0.1",18889));s.listen();c=socket.create_connection(("127.0.0.1",18889));a=s.accept()[0];c.sendall(b"x"*10240);a.recv(10240,socket.MSG_WAITALL);time.sleep(0.2);c.close();a.close();time.sleep(0.1)'
	for f in '' -j --csv
	do tool_sees 'python3 -c "$p"' tcplife $f --fields comm,lport,rport,tx_bytes,rx_bytes,duration_ns >"$TMPDIR/o"
	grep -E '18889|COMM|comm,' "$TMPDIR/o" | sort
	done
NEEDS tp:sock/inet_sock_set_state cmd:python3 btf
TIMEOUT 40
EXPECT_RE
	COMM +LPORT RPORT +TX_KB +RX_KB +MS
	python3 +18889 +[0-9]+ +0 +10 +[2-9][0-9]+\.[0-9]+
	python3 +[0-9]+ 18889 +10 +0 +[2-9][0-9]+\.[0-9]+
	\{"type": "event", "table": "connections", "comm": "python3", "lport": 18889, "rport": [0-9]+, "tx_bytes": 0, "rx_bytes": 10240, "duration_ns": [2-9][0-9]+\}
	\{"type": "event", "table": "connections", "comm": "python3", "lport": [0-9]+, "rport": 18889, "tx_bytes": 10240, "rx_bytes": 0, "duration_ns": [2-9][0-9]+\}
	comm,lport,rport,tx_bytes,rx_bytes,duration_ns
	python3,18889,[0-9]+,0,10240,[2-9][0-9]+
	python3,[0-9]+,18889,10240,0,[2-9][0-9]+

NAME tcplife: a server that closes first, of a command and of -p
RUN
	p='import os, socket, sys
	l = socket.create_server(("127.0.0.1", 0))
	print(l.getsockname()[1], file=sys.stderr)
	if len(sys.argv) > 1:
	    sys.stdin.readline()
	c = socket.create_connection(l.getsockname()); a = l.accept()[0]
	c.sendall(b"x" * 88); a.recv(88, socket.MSG_WAITALL); a.sendall(b"y" * 237); a.close()
	while c.recv(1000): pass
	c.close()'
	p=$(echo "$p" | sed 's/^\t//')
	rows() { sed "s/,$(cat "$TMPDIR/port")\>/,PORT/g; s/,[0-9]\{5\}\>/,N/" "$1" | sort; }
	"$SONDE" tcplife -q --csv --fields comm,lport,rport,tx_bytes,rx_bytes -- /usr/bin/python3 -IS -c "$p" >"$TMPDIR/o" 2>"$TMPDIR/port"
	rows "$TMPDIR/o"
	mkfifo "$TMPDIR/go"
	/usr/bin/python3 -IS -c "$p" wait <"$TMPDIR/go" 2>"$TMPDIR/port" & q=$!
	exec 8>"$TMPDIR/go"
	"$SONDE" tcplife --csv --fields comm,lport,rport,tx_bytes,rx_bytes -p $q -o "$TMPDIR/out" 2>"$TMPDIR/err" 8>&- & s=$!
	until_written "$TMPDIR/out"
	until_written "$TMPDIR/port"
	echo >&8
	wait $s
	rows "$TMPDIR/out"
NEEDS tp:sock/inet_sock_set_state file:/usr/bin/python3 btf
TIMEOUT 30
EXPECT
	comm,lport,rport,tx_bytes,rx_bytes
	python3,N,PORT,88,237
	python3,PORT,N,237,88
	comm,lport,rport,tx_bytes,rx_bytes
	python3,N,PORT,88,237
	python3,PORT,N,237,88

NAME tcpstates: each change of a connection
RUN
	p='import socket;s=socket.socket();s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1);s.bind(("127.0.0.1",18890));s.listen();c=socket.create_connection(("127.0.0.1",18890));a=s.accept()[0];c.close();a.close()'
	for f in '' -j --csv
	do tool_sees 'python3 -c "$p"' tcpstates $f -D 18890 --fields rport,old_state,new_state
	done
NEEDS tp:sock/inet_sock_set_state cmd:python3
TIMEOUT 40
EXPECT
	RPORT OLDSTATE    NEWSTATE
	18890 CLOSE       SYN_SENT
	18890 SYN_SENT    ESTABLISHED
	18890 ESTABLISHED FIN_WAIT1
	18890 FIN_WAIT1   FIN_WAIT2
	18890 FIN_WAIT2   CLOSE
	{"type": "event", "table": "changes", "rport": 18890, "old_state": "CLOSE", "new_state": "SYN_SENT"}
	{"type": "event", "table": "changes", "rport": 18890, "old_state": "SYN_SENT", "new_state": "ESTABLISHED"}
	{"type": "event", "table": "changes", "rport": 18890, "old_state": "ESTABLISHED", "new_state": "FIN_WAIT1"}
	{"type": "event", "table": "changes", "rport": 18890, "old_state": "FIN_WAIT1", "new_state": "FIN_WAIT2"}
	{"type": "event", "table": "changes", "rport": 18890, "old_state": "FIN_WAIT2", "new_state": "CLOSE"}
	rport,old_state,new_state
	18890,CLOSE,SYN_SENT
	18890,SYN_SENT,ESTABLISHED
	18890,ESTABLISHED,FIN_WAIT1
	18890,FIN_WAIT1,FIN_WAIT2
	18890,FIN_WAIT2,CLOSE

NAME gethostlatency: names that are resolved
RUN
	p='import socket; socket.getaddrinfo("localhost", 80)'
	"$SONDE" gethostlatency -q --fields comm,ret,host -- python3 -c "$p"
	for f in -j --csv
	do "$SONDE" gethostlatency -q $f --fields comm,ret,host -- python3 -c "$p"
	done
	"$SONDE" gethostlatency -qj -m 1us --fields duration_ns -- python3 -c "$p" | grep -cE '"duration_ns": [0-9]+'
NEEDS uprobe cmd:python3 file:/etc/hosts
TIMEOUT 30
EXPECT
	COMM             HOST
	python3          localhost
	{"type": "event", "table": "lookups", "comm": "python3", "ret": 0, "host": "localhost"}
	comm,ret,host
	python3,0,localhost
	1

NAME tcpconnect: counts, local ports and names
RUN
	cat >"$TMPDIR/c.py" <<-'P'
		import socket
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		s.listen()
		for i in range(3):
		    c = socket.create_connection(("localhost", s.getsockname()[1]))
		    print(c.getsockname()[1], flush=True)
	P
	"$SONDE" tcpconnect -q -c --fields laddr,raddr,connects -- sh -c 'python3 "$TMPDIR/c.py" >"$TMPDIR/o"'
	"$SONDE" tcpconnect -q -cs --csv --fields laddr,lport,connects -- sh -c 'python3 "$TMPDIR/c.py" >"$TMPDIR/o"' |
		{ while IFS=, read -r a p n; do printf '%s %s %s\n' "$a" "$(grep -cx "$p" "$TMPDIR/o")" "$n"; done; }
	"$SONDE" tcpconnect -q -L -d --csv --fields daddr,lport,query -- sh -c 'python3 "$TMPDIR/c.py" >"$TMPDIR/o"' |
		{ while IFS=, read -r a p q; do printf '%s %s %s\n' "$a" "$(grep -cx "$p" "$TMPDIR/o")" "$q"; done; }
NEEDS tp:sock/inet_sock_set_state tp:syscalls/sys_exit_connect cmd:python3 uprobe btf file:/etc/hosts
TIMEOUT 30
EXPECT
	LADDR                     RADDR                     CONNECTS
	127.0.0.1                 127.0.0.1                 3
	laddr 0 connects
	127.0.0.1 1 1
	127.0.0.1 1 1
	127.0.0.1 1 1
	daddr 0 query
	127.0.0.1 1 localhost
	127.0.0.1 1 localhost
	127.0.0.1 1 localhost

NAME tcptracer, solisten: a network namespace
RUN
	n=$(readlink /proc/self/ns/net | tr -dc 0-9); p='import socket; s=socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(7)'
	for i in $n $((n + 1)); do "$SONDE" solisten -q -n $i --fields comm,backlog -- python3 -c "$p"; done
	tool_sees 'python3 -c "import socket;s=socket.socket();s.bind((\"127.0.0.1\",0));s.listen();socket.create_connection(s.getsockname())"' tcptracer -N $n --fields comm,kind |
		sort -u | grep -cE '^(python3 +C|COMM)'
NEEDS slow tp:sock/inet_sock_set_state tp:syscalls/sys_exit_listen cmd:python3 btf
TIMEOUT 40
EXPECT
	COMM              BACKLOG
	python3                 7
	COMM              BACKLOG
	2
