# Files that were replaced or deleted while a process runs them, as by the upgrade of a package.

NAME replaced: with -p the file that the process runs
RUN
	cp build/tests/landing $TMPDIR/live
	$TMPDIR/live 2 50 200 & p=$!
	until_named $p live
	cp /bin/true $TMPDIR/next && mv $TMPDIR/next $TMPDIR/live
	show() { sed "s,$TMPDIR,DIR,; /^\$/d"; }
	"$SONDE" -q -p $p -e "uprobe:$TMPDIR/live:pushes { printf(\"%s %s %d\\n\", probe, func, arg0); exit(); }" | show
	"$SONDE" -q -p $p -e "uretprobe:$TMPDIR/live:moves { printf(\"%s %d\\n\", probe, retval); exit(); }" | show
	"$SONDE" -q -p $p -e "uprobe:$TMPDIR/live:pushes { printf(\"%s\\n\", ustack(1)); exit(); }" | show
	(cd $TMPDIR && "$SONDE" -q -p $p -e "uprobe:./live:pushes { printf(\"%s\\n\", probe); exit(); }") | show
	"$SONDE" -q -p $p -e "uprobe:*:pushes { printf(\"%s\\n\", probe); exit(); }" | show
	"$SONDE" -q -p $p -e "uprobe:pushes { printf(\"%s\\n\", probe); exit(); }" | show
	"$SONDE" -p $p -l "uprobe:$TMPDIR/live:pu*" | show
	kill $p
NEEDS uprobe prog:landing
EXPECT
	uprobe:DIR/live:pushes pushes 0
	uretprobe:DIR/live:moves 2
	        pushes+0
	uprobe:./live:pushes
	uprobe:DIR/live:pushes
	uprobe:DIR/live:pushes
	uprobe:DIR/live:pushes

NAME replaced: several processes, each with its own file
RUN
	cp build/tests/landing $TMPDIR/live
	$TMPDIR/live 2 50 200 & a=$!
	$TMPDIR/live 2 50 200 & b=$!
	until_named $a live; until_named $b live
	cp build/tests/landing $TMPDIR/next && mv $TMPDIR/next $TMPDIR/live
	$TMPDIR/live 3 50 200 & c=$!
	until_named $c live
	names() { sed "s/$a/A/; s/$b/B/; s/$c/C/; /^\$/d" | sort; }
	seen='if (len(@) == 3) { exit(); }'
	"$SONDE" -q -p $a,$b,$c -e "uprobe:$TMPDIR/live:pushes { @[pid] = 1; $seen }" | names
	echo any
	"$SONDE" -q -p $a -p $b -p $c -e "uprobe:*:pushes { @[pid] = 1; $seen }" | names
	kill $a $b $c
NEEDS uprobe prog:landing sym:bpf_for_each_map_elem
EXPECT
	@[A]: 1
	@[B]: 1
	@[C]: 1
	any
	@[A]: 1
	@[B]: 1
	@[C]: 1

NAME replaced: a path, whoever runs it
RUN
	cp build/tests/landing $TMPDIR/live
	cp build/tests/landing $TMPDIR/next
	all() { "$SONDE" -q -e "uprobe:$TMPDIR/live:pushes { } begin { exit(); }" 2>&1 | grep WARN | sed "s,$TMPDIR,DIR,g; s/$a/A/g; s/1:[0-9-]*:/PLACE:/; s/ ([0-9]* is one/ (N is one/"; }
	$TMPDIR/live 1 50 200 & a=$!
	until_named $a live
	all
	echo one
	mv $TMPDIR/next $TMPDIR/live
	all
	cp build/tests/landing $TMPDIR/next
	$TMPDIR/live 1 50 200 & b=$!
	until_named $b live
	echo two
	mv $TMPDIR/next $TMPDIR/live
	all
	echo gone
	rm $TMPDIR/live
	kill $b; wait $b 2>/dev/null
	"$SONDE" -e "uprobe:$TMPDIR/live:pushes { }" 2>&1 | grep ERR | sed "s,$TMPDIR,DIR,g; s/$a/A/g; s/1:1-[0-9]*/1:1-9/"
	kill $a; wait $a 2>/dev/null
	"$SONDE" -e "uprobe:$TMPDIR/live:pushes { }" 2>&1 | grep ERR | sed "s,$TMPDIR,DIR,g; s/1:1-[0-9]*/1:1-9/"
NEEDS uprobe prog:landing
EXPECT
	one
	stdin:PLACE: WARNING: process A runs a replaced version of DIR/live, which this probe does not see: use -p A
	two
	stdin:PLACE: WARNING: 2 processes run a replaced version of DIR/live, which this probe does not see: use -p PID (N is one of them)
	gone
	stdin:1:1-9: ERROR: uprobe target file 'DIR/live' is deleted; process A still runs it: use -p A
	stdin:1:1-9: ERROR: uprobe target file 'DIR/live' does not exist or is not executable

NAME replaced: any file of any process
RUN
	cp build/tests/landing $TMPDIR/live
	$TMPDIR/live 1 50 200 & p=$!
	until_named $p live
	rm $TMPDIR/live
	"$SONDE" -q -e "uprobe:*:pushes /pid == $p/ { printf(\"%d\\n\", arg0); exit(); }" | grep .
	kill $p
NEEDS uprobe prog:landing
EXPECT
	0

NAME replaced: static probes
RUN
	cp build/tests/sdt $TMPDIR/live
	$TMPDIR/live 2000000000 & p=$!
	until_named $p live
	cp /bin/true $TMPDIR/next && mv $TMPDIR/next $TMPDIR/live
	"$SONDE" -q -p $p -e "usdt:$TMPDIR/live:own:one { printf(\"%s %d\\n\", probe, arg0 >= 0); exit(); }" | sed "s,$TMPDIR,DIR,; /^\$/d"
	"$SONDE" -q -p $p -e "usdt:*:own:guarded { printf(\"%s\\n\", probe); exit(); }" | sed "s,$TMPDIR,DIR,; /^\$/d"
	kill $p
NEEDS uprobe prog:sdt
EXPECT
	usdt:DIR/live:own:one 1
	usdt:DIR/live:own:guarded

NAME replaced: a library by its name, and by a link that now leads to the next version
RUN
	cp build/tests/unwind_lib $TMPDIR/libold.so.1.2
	ln -s libold.so.1.2 $TMPDIR/libold.so.1
	python3 -c "
	import ctypes, time
	lib = ctypes.CDLL('$TMPDIR/libold.so.1')
	none = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda n: None)
	open('$TMPDIR/ready', 'w').write('1')
	while True:
	    lib.lib_outer(none, 1)
	    time.sleep(0.05)
	" & p=$!
	until_written $TMPDIR/ready
	cp build/tests/unwind_lib $TMPDIR/libold.so.1.3
	ln -sf libold.so.1.3 $TMPDIR/libold.so.1
	rm $TMPDIR/libold.so.1.2
	try() { "$SONDE" -q -p $p -e "uprobe:$1:lib_outer { printf(\"%s %d\\n\", probe, arg1); exit(); }" 2>&1 | sed "s,$TMPDIR,DIR,; /^\$/d"; }
	try libold
	try libold.so.1
	try libold.so.1.2
	try $TMPDIR/libold.so.1
	try $TMPDIR/libold.so.1.2
	"$SONDE" -q -e "uprobe:$TMPDIR/libold.so.1:lib_outer { } begin { exit(); }" 2>&1 | grep -o WARN.* | sed "s,$TMPDIR,DIR,; s/$p/PID/g"
	kill $p
NEEDS uprobe prog:unwind_lib cmd:python3
EXPECT
	uprobe:DIR/libold.so.1.2:lib_outer 1
	uprobe:DIR/libold.so.1.2:lib_outer 1
	uprobe:DIR/libold.so.1.2:lib_outer 1
	uprobe:DIR/libold.so.1:lib_outer 1
	uprobe:DIR/libold.so.1.2:lib_outer 1
	WARNING: process PID runs a replaced version of DIR/libold.so.1, which this probe does not see: use -p PID

NAME replaced: who may not open the old file
RUN
	cp build/tests/landing $TMPDIR/live
	cp build/tests/unwind_lib $TMPDIR/libold.so
	python3 -c "
	import ctypes, time
	lib = ctypes.CDLL('$TMPDIR/libold.so')
	open('$TMPDIR/ready', 'w').write('1')
	time.sleep(20)
	" & p=$!
	until_written $TMPDIR/ready
	$TMPDIR/live 1 50 200 & q=$!
	until_named $q live
	rm $TMPDIR/libold.so $TMPDIR/live
	less() { /usr/bin/setpriv --bounding-set -checkpoint_restore,-sys_admin "$SONDE" -q "$@" 2>&1 | grep -v '^~*$\|^$' | sed "s,$TMPDIR,DIR,g; s/$p/PID/g; s/.*ERROR/ERROR/"; }
	less -p $q -l "uprobe:$TMPDIR/live:pushes"
	less -p $p -e "uprobe:$TMPDIR/libold.so:lib_outer { }" | head -n 1
	kill $p $q
NEEDS uprobe prog:unwind_lib prog:landing cmd:python3 cmd:setpriv since:5.9
EXPECT
	uprobe:DIR/live:pushes
	ERROR: uprobe process PID runs a deleted version of DIR/libold.so, which can be opened only with CAP_CHECKPOINT_RESTORE (before Linux 5.9 CAP_SYS_ADMIN) in the first user namespace

# A path, a device and an inode: all are those of the file that was deleted.
NAME replaced: names do not come from a later file with the same inode
RUN
	cp build/tests/unwind $TMPDIR/live
	cp /bin/true $TMPDIR/last
	"$SONDE" -e 'profile:hz:199 /comm == "live" && usermode/ { @[usym(reg("ip"))] = count(); } rawtracepoint:sched_process_exit /comm == "last"/ { exit(); }' >$TMPDIR/out 2>$TMPDIR/err & s=$!
	until_attached $TMPDIR/err
	$TMPDIR/live spin 300
	old=$(stat -c %i $TMPDIR/live) i=0
	while [ $i -lt 50 ]; do
		rm $TMPDIR/live
		cp build/tests/spin $TMPDIR/live
		[ $(stat -c %i $TMPDIR/live) = $old ] && break
		i=$((i + 1))
	done
	$TMPDIR/live 300
	$TMPDIR/last
	wait $s
	sed 's/: .*//; s/0x[0-9a-f]*/ADDRESS/; /^$/d' $TMPDIR/out | grep -e ADDRESS -e busy | sort -u
NEEDS prog:unwind prog:spin
EXPECT
	@[ADDRESS]
	@[busy]
