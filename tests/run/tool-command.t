# Commands behind "--", and -p, of every tool: what is watched, and that tracing ends with it.

NAME the help of every tool says how a command is given; what looks once runs none
RUN
	"$SONDE" tools | awk '/^    / && $1 != "tplist" { print $1 }' >"$TMPDIR/names"
	while read -r t; do "$SONDE" $t -h; done <"$TMPDIR/names" |
		awk '/^USAGE:/ { getline; if (!/ \[(--|\[--\]) COMMAND\]$/) print "no command: " $2 }'
	[ "$(wc -l <"$TMPDIR/names")" -gt 140 ] && echo many
	"$SONDE" bpflist -- true
EXPECT
	no command: bpflist
	no command: bps
	many
ERR
	ERROR: bpflist looks once and ends: it runs no command
	sonde bpflist -h shows its options.
RC 1
TIMEOUT 30

NAME tools whose events are about two threads watch the command and its children alone
RUN
	for t in 'offcputime -P' 'wakeuptime' 'runqlat -P' 'cpudist -P' 'cpudist -OP'; do
		"$SONDE" $t -qj -- sh -c '/bin/sleep 0.05; /bin/sleep 0.05; true' | grep -o '"comm": "[^"]*"' | sort -u | grep -v 'sonde"' | tr '\n' ' '; echo
	done
NEEDS btf tp:sched/sched_switch
TIMEOUT 30
EXPECT
	"comm": "sh" "comm": "sleep" 
	"comm": "sh" "comm": "sleep" 
	"comm": "sh" "comm": "sleep" 
	"comm": "sh" "comm": "sleep" 
	"comm": "sh" "comm": "sleep" 

NAME the same of processes of -p, whose end is the end
RUN
	mkfifo "$TMPDIR/end"
	for t in 'offcputime -P' 'runqlat -P' biosnoop tcplife; do
		sh -c 'read x <"$1"; true' sh "$TMPDIR/end" & p=$!
		"$SONDE" $t -p $p -o "$TMPDIR/out" --json 2>"$TMPDIR/err" & s=$!
		until_written "$TMPDIR/out"
		echo >"$TMPDIR/end"
		wait $s
		echo "$t: $? $(grep -o '"pid": [0-9]*' "$TMPDIR/out" | sort -u | grep -vc "$p\$")"
		rm -f "$TMPDIR/out"
	done
NEEDS btf tp:sched/sched_switch
EXPECT
	offcputime -P: 0 0
	runqlat -P: 0 0
	biosnoop: 0 0
	tcplife: 0 0

NAME connections of a command, not of others that connect meanwhile
RUN
	tcp='import socket
	l = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(l.getsockname()); a = l.accept()[0]
	c.close(); a.recv(1); a.close()'
	go=$TMPDIR/go done=$TMPDIR/done mine=$TMPDIR/mine
	mkfifo "$go" "$done"
	ln -s /usr/bin/python3 "$mine"
	for t in tcplife tcptracer; do read -r x <"$go"; /usr/bin/python3 -IS -c "$tcp"; echo >"$done"; done & o=$!
	for t in tcplife tcptracer; do
		"$SONDE" $t -qj -- sh -c 'echo >"$1"; read x <"$2"; exec "$3" -IS -c "$4"' sh "$go" "$done" "$mine" "$tcp" |
			grep -o '"comm": "[^"]*"' | sort -u
	done
	wait $o
NEEDS btf tp:sock/inet_sock_set_state file:/usr/bin/python3
TIMEOUT 30
EXPECT
	"comm": "mine"
	"comm": "mine"

NAME a tool that watches the machine says so, and a last report comes however short the command
RUN
	"$SONDE" pidpersec --csv --fields processes -- sh -c '/bin/true; /bin/true; true' 2>"$TMPDIR/err" | awk 'NR > 1 { n += $1 } END { print NR, (n >= 2 ? "all" : n) }'; cat "$TMPDIR/err"
	"$SONDE" biolatpcts -- true 2>&1 >"$TMPDIR/out"
	"$SONDE" pidpersec -j -- true 2>&1 >"$TMPDIR/out"; sed -n 's/.*"type": "\([a-z]*\)".*/\1/p' "$TMPDIR/out" | uniq
NEEDS tp:task/task_newtask
EXPECT
	2 all
	Tracing new processes of the whole machine, until the command ends.
	Tracing block device I/O of the whole machine, until the command ends.
	start
	row
	end
