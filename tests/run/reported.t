# What users of other tracers reported as shown wrongly or not at all.

NAME killsnoop: a signal by a descriptor of a process shows the process
RUN "$SONDE" killsnoop --csv --fields signal,target,ret -- build/tests/reported kills 2>/dev/null > "$TMPDIR/out"; "$SONDE" killsnoop --csv --fields pid -- build/tests/reported kills 2>/dev/null | tail -n 1 | grep -c '^[0-9]'; awk -F, 'NR == 2 { self = $2 } NR > 1 { print $1, ($2 == self && self > 1 ? "itself" : $2), $3 }' "$TMPDIR/out"
NEEDS prog:reported tracefs btf tp:syscalls/sys_exit_pidfd_send_signal
EXPECT
	1
	10 itself 0
	10 itself 0
	10 itself 0
	10 itself 0
	10 itself 0
	10 itself 0

NAME syscount -P: one row for a process whose threads have names of their own
RUN "$SONDE" syscount -P --syscall getppid --csv --fields comm,calls -- build/tests/reported threads 2>/dev/null
NEEDS prog:reported tracefs btf
EXPECT
	comm,calls
	reported,60

NAME syncsnoop: each way to write back a file
RUN "$SONDE" syncsnoop --csv --fields syscall -- sh -c "cd $TMPDIR && exec $PWD/build/tests/reported syncs" 2>/dev/null
NEEDS prog:reported tracefs btf
EXPECT
	syscall
	msync
	fsync
	fdatasync
	sync_file_range
	syncfs
	sync

NAME filelife: a file that was renamed, one with two names, one that is open
RUN "$SONDE" filelife --csv --fields file -- sh -c "cd $TMPDIR && exec $PWD/build/tests/reported files" 2>/dev/null
NEEDS prog:reported tracefs btf
EXPECT
	file
	second
	one
	open

NAME opensnoop: control characters, quotes and bytes that are no UTF-8 in names
RUN "$SONDE" opensnoop --csv --fields comm,path -- sh -c "cd $TMPDIR && exec $PWD/build/tests/reported names" 2>/dev/null | sed -n 's/^reported,//p' | grep -v '^/'; "$SONDE" opensnoop -- sh -c "cd $TMPDIR && exec $PWD/build/tests/reported names" 2>/dev/null | sed -n 's/.*  *reported  *[0-9]*  *0 a/a/p'
NEEDS prog:reported tracefs btf
EXPECT
	a\nb
	a\x1b[2Jb
	"a""b"
	a\xff\xfe
	a\nb
	a\x1b[2Jb
	a"b
	a\xff\xfe

NAME a function that the library chose for this processor has its arguments
PROG uprobe:libc:memcmp /pid == cpid && arg2 == 7777/ { @[arg2] = count(); }
ARGS -q
LOAD reported compare
NEEDS prog:reported uprobe
EXPECT
	$
	$
	@[7777]: 5

NAME argdist: results below 0
RUN "$SONDE" argdist -C 'r:build/tests/reported:probed():int:$retval' --csv -- build/tests/reported sums 2>/dev/null
NEEDS prog:reported uprobe
EXPECT
	label,value1,count
	r:build/tests/reported:probed():int:$retval,-3,1
	r:build/tests/reported:probed():int:$retval,-2,1
	r:build/tests/reported:probed():int:$retval,-1,1
	r:build/tests/reported:probed():int:$retval,0,1
	r:build/tests/reported:probed():int:$retval,1,1
	r:build/tests/reported:probed():int:$retval,2,1
	r:build/tests/reported:probed():int:$retval,3,1
