# Tools about rights.

NAME capable: a check that fails, and one that does not
RUN
	: >"$TMPDIR/f"; chmod 600 "$TMPDIR/f"
	"$SONDE" capable -q -v --denied --csv --fields comm,cap,name,verdict -- setpriv --reuid 65534 cat "$TMPDIR/f" 2>/dev/null | grep '^co\|^cat,2,' | sort -ru
	"$SONDE" capable -q --unique -- setpriv --reuid 65534 setpriv --reuid 1 true 2>/dev/null | grep -oE 'CAP_SETUID .*' | sed 's/  */ /g; s/ [-01] / ? /'
	"$SONDE" capable -q -x -K -- setpriv --reuid 65534 true | grep -oE '^TIME.*|__sys_setresuid' | sort -ru
NEEDS btf cmd:setpriv
TIMEOUT 20
EXPECT
	comm,cap,name,verdict
	cat,2,CAP_DAC_READ_SEARCH,denied
	CAP_SETUID ? allowed
	CAP_SETUID ? denied
	__sys_setresuid
	TIME      UID    PID     TID     COMM             CAP  NAME                 AUDIT  INSETID VERDICT

NAME setuids: allowed and refused
RUN
	"$SONDE" setuids -q --csv --fields comm,uid,syscall,ruid,euid,suid,ret,error -- setpriv --reuid 65534 setpriv --reuid 1 true 2>/dev/null
	"$SONDE" setuids -q -x --fields comm,ret -- setpriv --reuid 65534 setpriv --reuid 1 true 2>/dev/null
	"$SONDE" setuids -q -g -j --fields syscall,euid -- setpriv --regid 7 --clear-groups true
NEEDS tp:syscalls/sys_enter_setresuid cmd:setpriv
EXPECT
	comm,uid,syscall,ruid,euid,suid,ret,error
	setpriv,0,setresuid,65534,65534,65534,0,
	setpriv,65534,setresuid,1,1,1,-1,EPERM
	COMM             RESULT
	setpriv          -1
	{"type": "event", "table": "calls", "syscall": "setresgid", "euid": 7}

NAME threadsnoop: the function of a thread
RUN "$SONDE" threadsnoop -q --fields comm,function -- build/tests/threads 2
NEEDS prog:threads
EXPECT
	COMM             FUNC
	threads          work
	threads          work

NAME ttysnoop: not what it writes itself, on the terminal that it watches
RUN
	cat >"$TMPDIR/on.py" <<'X'
	import os, subprocess, sys, tty
	m, s = os.openpty()
	tty.setraw(s)
	p = subprocess.Popen([sys.argv[1], "ttysnoop", "-q", "--csv", "--fields", "data", "-d", "1500ms", os.ttyname(s)], stdout=s)
	out = b""
	while out != b"data\n":
	    out += os.read(m, 100)
	os.write(s, b"x\n")
	p.wait()
	while not out.endswith(b"end\n"):
	    os.write(s, b"end\n")
	    out += os.read(m, 1000)
	print(out.decode().count("x\\x0a"))
	X
	python3 -I "$TMPDIR/on.py" "$SONDE"
NEEDS tp:syscalls/sys_enter_write btf cmd:python3
TIMEOUT 30
EXPECT
	1

NAME ttysnoop: what appears on a terminal
RUN
	p='import os; m, s = os.openpty(); os.write(s, b"hello\x1b[2J"); os.write(os.open("/dev/null", os.O_WRONLY), b"no"); n = os.ttyname(s)'
	for f in '' -j --csv; do "$SONDE" ttysnoop -q $f --fields comm,bytes,data -- python3 -c "$p"; done; "$SONDE" ttysnoop -q --fields data 100000 -- python3 -c "$p"
	"$SONDE" ttysnoop -q --fields data /dev/null -- sh -c 'echo no >/dev/null'
	python3 -c 'import os, subprocess, sys; m, s = os.openpty(); t = os.ttyname(s); [subprocess.run([sys.argv[1], "ttysnoop", "-q", "--csv", "--fields", "data", o, "--", "sh", "-c", "echo x >" + t + "; echo no >/dev/null" ]) for o in (t, t[5:], t[9:])]' "$SONDE"
NEEDS slow tp:syscalls/sys_enter_write btf cmd:python3
TIMEOUT 30
EXPECT
	COMM                LEN DATA
	python3               9 hello\x1b[2J
	{"type": "event", "table": "writes", "comm": "python3", "bytes": 9, "data": [104,101,108,108,111,27,91,50,74]}
	comm,bytes,data
	python3,9,hello\x1b[2J
	DATA
	DATA
	no\x0a
	data
	x\x0a
	data
	x\x0a
	data
	x\x0a
