# Tools about files.

NAME opensnoop: what is opened and what is not
RUN touch "$TMPDIR/here"; "$SONDE" opensnoop -qe "$TMPDIR" -- cat "$TMPDIR/here" "$TMPDIR/gone" 2>/dev/null | sed "s,$TMPDIR,D,; s/^[0-9]* *//"
NEEDS tp:syscalls/sys_exit_openat
EXPECT
	PID     COMM               FD ERR FLAGS MODE PATH
	cat                 3   0 O_RDONLY 0    D/here
	cat                -1   2 O_RDONLY 0    D/gone

NAME opensnoop: as JSON and CSV, failed ones only
RUN for f in -j --csv; do "$SONDE" opensnoop -qx $f --fields comm,ret,error,path /gone -- cat /gone /dev/null 2>/dev/null; done
NEEDS tp:syscalls/sys_exit_openat
EXPECT
	{"type": "event", "table": "opens", "comm": "cat", "ret": -1, "error": "ENOENT", "path": "/gone"}
	comm,ret,error,path
	cat,-1,ENOENT,/gone

NAME opensnoop: a name that could steer a terminal
RUN f="$(printf '/nope\033[2J\nx')"; "$SONDE" opensnoop -q --fields path nope -- cat "$f" 2>/dev/null
NEEDS tp:syscalls/sys_exit_openat
EXPECT
	PATH
	/nope\x1b[2J\nx

NAME opensnoop -F: paths from the root of the process, of failed calls too
RUN
	mkdir -p "$TMPDIR/a/b"; touch "$TMPDIR/a/b/here"
	for f in '' -j --csv
	do "$SONDE" opensnoop -qF $f --fields ret,path here -- sh -c 'cd "$TMPDIR/a" && cat b/here; : <b/../b/here; : <b/nothere' 2>/dev/null |
		sed "s,$TMPDIR,D,; s/: 3,/: N,/; s/^ *3 /N /; s/^3,/N,/"
	done
NEEDS slow tp:syscalls/sys_exit_openat btf
EXPECT
	  FD PATH
	N D/a/b/here
	N D/a/b/here
	  -1 D/a/b/nothere
	{"type": "event", "table": "opens", "ret": N, "path": "D/a/b/here"}
	{"type": "event", "table": "opens", "ret": N, "path": "D/a/b/here"}
	{"type": "event", "table": "opens", "ret": -1, "path": "D/a/b/nothere"}
	ret,path
	N,D/a/b/here
	N,D/a/b/here
	-1,D/a/b/nothere

NAME opensnoop -F: a mounted file system, and a root of its own
RUN
	mkdir "$TMPDIR/m"
	"$SONDE" opensnoop -qF --fields path below -- unshare -m sh -c 'mount -n -t tmpfs none "$TMPDIR/m" && mkdir "$TMPDIR/m/d" && : >"$TMPDIR/m/d/below"; cd "$TMPDIR/m/d"; : <below' |
		sed "s,$TMPDIR,D,"
NEEDS tp:syscalls/sys_exit_openat btf
EXPECT
	PATH
	D/m/d/below
	D/m/d/below

NAME opensnoop: what sonde itself opens is left out
RUN
	: >"$TMPDIR/opened" # for the container sonde itself looks into a file
	for o in '' --self; do tool_sees 'cat "$TMPDIR/opened"; sleep 0.2; cat "$TMPDIR/opened"' opensnoop -j --fields pid,container,path $o >"$TMPDIR/o"; grep -c '/opened' "$TMPDIR/o"; grep -c "\"pid\": $tracer," "$TMPDIR/o" | sed 's/^[1-9][0-9]*$/some/'; done
NEEDS fast tp:syscalls/sys_exit_openat
TIMEOUT 30
EXPECT
	2
	0
	2
	some

NAME opensnoop: filters
RUN
	for o in '-n nobodycallsitselfso' '-u nobody' '-t 1'
	do "$SONDE" opensnoop -q $o -- cat /etc/passwd >"$TMPDIR/o"
	grep -c passwd "$TMPDIR/o" | tr '\n' ' '
	done
	"$SONDE" opensnoop -q --fields path -n cat passwd -- cat /etc/passwd | grep -v :
NEEDS tp:syscalls/sys_exit_openat
EXPECT
	0 0 0 PATH
	/etc/passwd

NAME opensnoop -f: with one of some flags, of a command behind --exec
RUN
	for f in '-f O_APPEND' '-f O_WRONLY -f O_RDWR' '-f O_RDONLY'; do
		"$SONDE" opensnoop -q $f --fields flags,path -e /own --exec sh -c 'cd "$TMPDIR"; : > ./own; : >> ./own; : <> ./own; : < ./own' 2>&1 | tail -n +2 | uniq
	done
	"$SONDE" opensnoop -q --csv -e --fields flags,mode,path /own -- sh -c 'umask 027; cd "$TMPDIR"; rm own; : > ./own'
	for f in O_NOPE,O_CREAT 'O_CREAT -f what'; do "$SONDE" opensnoop -q -f $f 2>&1 | sed -n 's/, O_WRONLY.*(/ ... (/p'; done
	"$SONDE" opensnoop -q -f what 2>/dev/null; echo $?
NEEDS tp:syscalls/sys_enter_openat btf
EXPECT
	O_WRONLY|O_CREAT|O_APPEND ./own
	O_WRONLY|O_CREAT|O_TRUNC ./own
	O_WRONLY|O_CREAT|O_APPEND ./own
	O_RDWR|O_CREAT ./own
	O_RDONLY ./own
	flags,mode,path
	O_WRONLY|O_CREAT|O_TRUNC,438,./own
	ERROR: --flag needs O_RDONLY ... (got 'O_NOPE')
	ERROR: --flag needs O_RDONLY ... (got 'what')
	1

NAME statsnoop: what is asked about
RUN
	"$SONDE" statsnoop -qx --fields comm,ret,err,path -- stat /nope 2>/dev/null | grep -E 'nope|COMM'
	for f in -j --csv
	do "$SONDE" statsnoop -qxs $f --fields ret,error,syscall,path -- stat /nope 2>/dev/null | grep -E 'nope|ret,'
	done
NEEDS tp:syscalls/sys_exit_statx
EXPECT
	COMM               FD ERR PATH
	stat               -1   2 /nope
	{"type": "event", "table": "stats", "ret": -1, "error": "ENOENT", "syscall": "statx", "path": "/nope"}
	ret,error,syscall,path
	-1,ENOENT,statx,/nope

NAME vfsstat: reads and opens per second
RUN
	load='dd if=/dev/zero of=/dev/null bs=1 count=50000 2>/dev/null; sleep 1.5'
	tool_sees "$load" vfsstat >"$TMPDIR/o"
	tool_sees "$load" vfsstat -j >"$TMPDIR/j"
	tool_sees "$load" vfsstat --csv >"$TMPDIR/c"
	tool_sees 'for i in 1 2 3 4 5 6 7 8; do mkdir "$TMPDIR/d" && rmdir "$TMPDIR/d"; done; sleep 1.5' vfsstat --csv --fields mkdirs,rmdirs |
		awk -F, '$1 > 0 { m = 1 } $2 > 0 { r = 1 } END { print m, r }'
	awk '$2 > 1000 && $3 > 1000 { n++ } END { print (n > 0 ? "many" : "few") }' "$TMPDIR/o"
	grep -qE '"reads": [0-9]{4,},' "$TMPDIR/j" && echo 1
	awk -F, 'NR == 1 { print } $2 > 1000 && $3 > 1000 { n++ } END { print (n > 0 ? "many" : "few") }' "$TMPDIR/c"
NEEDS slow kprobe
TIMEOUT 60
EXPECT
	1 1
	many
	1
	time,reads,writes,fsyncs,opens,creates,unlinks,mkdirs,rmdirs
	many

NAME syncsnoop: who waits for the disk
RUN
	cd "$TMPDIR"
	for f in '' -j --csv; do "$SONDE" syncsnoop -q $f --fields comm,fd,error,syscall -- dd if=/dev/zero of=d bs=4k count=1 conv=fsync 2>/dev/null; done
	"$SONDE" syncsnoop -qx --fields comm,fd,error,syscall -- sync -d /dev/null 2>/dev/null
	"$SONDE" syncsnoop -q -m 10s -- sync d
NEEDS tp:syscalls/sys_exit_fsync
EXPECT
	COMM               FD ERR    CALL
	dd                  1 -      fsync
	{"type": "event", "table": "syncs", "comm": "dd", "fd": 1, "syscall": "fsync"}
	comm,fd,error,syscall
	dd,1,,fsync
	COMM               FD ERR    CALL
	sync                3 EINVAL fdatasync
	PID     COMM               FD ERR      LAT(ms) CALL

NAME mountsnoop: what is mounted
RUN
	mounts() { "$SONDE" mountsnoop -q --fields ret,error,syscall,fstype,flags,source,target "$@" -- unshare -m --propagation unchanged sh -c "mount -n -i -t tmpfs -o ro,nosuid some $TMPDIR && umount -i $TMPDIR; umount -i /dev/null" 2>/dev/null |
		sed "s,$TMPDIR,DIR,"
	}
	mounts -n mount | grep 'TARGET\|DIR$' | grep -v umount; mounts -x -j | grep /dev/null; mounts --csv -n umount | grep '^ret\|/dev/null'
	"$SONDE" mountsnoop -q -P --csv --fields comm,pcomm,ppid,syscall -- sh -c 'umount -i /dev/null; :' 2>/dev/null | sed -E 's/,[1-9][0-9]*,/,PARENT,/'
NEEDS tp:syscalls/sys_exit_mount cmd:unshare
EXPECT_RE
	 RET CALL          TYPE     FLAGS              SOURCE           TARGET
	   0 (mount         tmpfs    MS_RDONLY.MS_NOSUID(.MS_SILENT)? |move_mount             0 +) *(some)? +DIR
	.*"ret": -22, "error": "EINVAL", "syscall": "umount2", "fstype": "", "flags": "0", "source": "", "target": "/dev/null".
	ret,error,syscall,fstype,flags,source,target
	-22,EINVAL,umount2,,0,,/dev/null
	comm,pcomm,ppid,syscall
	umount,sh,PARENT,umount2

NAME mountsnoop: the newer calls, one by one
RUN
	cat >"$TMPDIR/new.py" <<-'P'
		import ctypes
		l = ctypes.CDLL(None)
		f = l.syscall(430, b"tmpfs", 0)
		l.syscall(431, f, 1, b"size", b"1m", 0)
		l.syscall(431, f, 0, b"ro", None, 0)
		l.syscall(431, f, 6, None, None, 0)
		l.syscall(432, f, 0, 1)
		l.syscall(428, -100, b"/proc", 0)
		l.syscall(433, -100, b"/proc", 0)
		l.syscall(442, -100, b"/none", 0, b"\1" + b"\0" * 31, 32)
		l.syscall(155, b"/new", b"/old")
	P
	"$SONDE" mountsnoop -q --csv --fields syscall,ret,error,fstype,flags,source,target -- python3 "$TMPDIR/new.py" | sed 's/,[1-9],/,N,/'
NEEDS tp:syscalls/sys_exit_mount_setattr cmd:python3 x86_64
TIMEOUT 30
EXPECT
	syscall,ret,error,fstype,flags,source,target
	fsopen,N,,tmpfs,0,,
	fsconfig,0,,,0,1m,size
	fsconfig,0,,,0,,ro
	fsconfig,0,,,0,,
	fsmount,N,,,MS_RDONLY,,
	open_tree,N,,,0,/proc,
	fspick,N,,,0,,/proc
	mount_setattr,-2,ENOENT,,0,,/none
	pivot_root,-2,ENOENT,,0,/new,/old

NAME cachestat: hits and misses
RUN
	big=$(mktemp /var/tmp/sonde.XXXXXX); export big
	dd if=/dev/zero of="$big" bs=1M count=8 conv=fsync 2>/dev/null
	see() { tool_sees 'for i in 1 2 3 4 5 6 7 8; do cat "$big" >/dev/null; done' cachestat "$@" 1h; }
	see | awk 'NR == 3 { print ($1 > 10000 && $3 >= 0 ? "many hits" : $0) }'
	see -j |
		grep -cE '"hits": [1-9][0-9]{4,}, "misses": [0-9]+, "dirties": [0-9]+, "hit_ratio": [01]\.[0-9]+, "buffers_bytes": [0-9]+, "cached_bytes": [0-9]{7,}}'
	see --csv --fields hits,misses,dirties,hit_ratio | sed -E 's/^[1-9][0-9]{4,},[0-9]+,[0-9]+,[01]\.[0-9]+$/many hits/'
	rm -f "$big"
NEEDS tp:filemap/mm_filemap_get_pages btf disk
TIMEOUT 30
EXPECT
	many hits
	1
	hits,misses,dirties,hit_ratio
	many hits

NAME writeback: why is written
RUN
	see() { tool_sees 'dd if=/dev/zero of="$TMPDIR/new" bs=1M count=2 2>/dev/null; sync' writeback "$@"; }
	see | grep -cE ' WB_REASON_SYNC$' | sed 's/^[1-9][0-9]*$/some/'
	see -j --fields bdi,reason | grep -c '"reason": "WB_REASON_SYNC"' | sed 's/^[1-9][0-9]*$/some/'
	see --csv --fields pages,reason | sed -n '1p; s/^[0-9]*,WB_REASON_SYNC$/some/p' | uniq
NEEDS tp:writeback/writeback_start btf disk
TIMEOUT 60
EXPECT
	some
	some
	pages,reason
	some

NAME cachetop: a file that is read twice, by whom
RUN
	see() { tool_sees 'cat "$SONDE" "$SONDE" "$SONDE" >/dev/null' cachetop -r 1000 "$@" 1h; }
	see --fields comm,hits,misses,read_hit_ratio | awk '$1 == "CMD" { print } $1 == "cat" && $2 >= 1500 && $4 + 0 > 90 { print "cat", "many" }'
	see -j --fields comm,hits | grep -cE '"comm": "cat", "hits": [1-9][0-9]{3,}'; see --csv | awk -F, 'NR == 1 { print } $3 == "cat" && $4 >= 1500 && $7 > 0.9 { print "cat, many" }'
NEEDS tp:filemap/mm_filemap_get_pages disk
TIMEOUT 40
EXPECT_RE
	CMD +HITS   MISSES READ_HIT%
	cat many
	1
	pid,uid,comm,hits,misses,dirties,read_hit_ratio,write_hit_ratio
	cat, many

NAME without kprobes system calls tell of files: filetop, dirtop, fileslower, filegone, filelife, vfsstat
RUN
	mkdir "$TMPDIR/d"
	cat >"$TMPDIR/load" <<-'L'
		import os, sys
		os.chdir(sys.argv[1])
		data = b"x" * 3000
		fd = os.open("one", os.O_CREAT | os.O_RDWR)
		for i in range(4): os.write(fd, data)
		os.pread(fd, 2000, 0)
		os.close(fd)
		os.rename("one", "two")
		os.open("three", os.O_CREAT | os.O_RDWR)
		os.unlink("three")
		os.unlink(os.path.abspath("two"))
		os.mkdir("sub")
		os.rmdir("sub")
		try: os.unlink("none")
		except OSError: pass
	L
	cat >"$TMPDIR/many" <<-'L'
		import os, sys
		os.chdir(sys.argv[1])
		for i in range(300): os.close(os.open("made", os.O_CREAT | os.O_RDWR)); os.unlink("made"); os.mkdir("sub"); os.rmdir("sub")
	L
	see() { t=$1; shift; "$SONDE" --no-feature KPROBE,FENTRY $t -qj --fields "$@" -- /usr/bin/python3 -IS "$TMPDIR/load" "$TMPDIR/d" | sed -n "s,$TMPDIR/d,DIR,; s/.*\"table\": \"[a-z]*\", //p" | sed 's/"interval": 1, //'; }
	see 'filetop 100s' reads,writes,read_bytes,write_bytes,kind,file | grep one
	see 'dirtop 100s' reads,writes,read_bytes,write_bytes,path | grep DIR
	see 'fileslower 0' op,bytes,file | grep one
	see filegone action,file,new_file
	see filelife file
	cp "$TMPDIR/many" "$TMPDIR/load"
	see 'vfsstat 100s' creates,unlinks,mkdirs,rmdirs | grep -c '"creates": [1-9].*"unlinks": [1-9].*"mkdirs": [1-9].*"rmdirs": [1-9]'
NEEDS btf file:/usr/bin/python3 tp:syscalls/sys_enter_openat
TIMEOUT 30
EXPECT
	"reads": 1, "writes": 4, "read_bytes": 2000, "write_bytes": 12000, "kind": "R", "file": "one"}
	"reads": 1, "writes": 4, "read_bytes": 2000, "write_bytes": 12000, "path": "DIR"}
	"op": "W", "bytes": 3000, "file": "one"}
	"op": "W", "bytes": 3000, "file": "one"}
	"op": "W", "bytes": 3000, "file": "one"}
	"op": "W", "bytes": 3000, "file": "one"}
	"op": "R", "bytes": 2000, "file": "one"}
	"action": "RENAME", "file": "one", "new_file": "two"}
	"action": "DELETE", "file": "three"}
	"action": "DELETE", "file": "DIR/two"}
	"action": "RMDIR", "file": "sub"}
	"file": "three"}
	1
