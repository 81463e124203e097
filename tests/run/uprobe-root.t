# Programs in other roots and mount namespaces: -p means the files that the process sees.

NAME chroot
RUN
	mkdir -p $TMPDIR/jail/usr/bin && cp build/tests/landing $TMPDIR/jail/usr/bin/inside || exit 1
	chroot $TMPDIR/jail /usr/bin/inside 1 50 200 & p=$!
	until_named $p inside
	"$SONDE" -q -p $p -e 'uprobe:/usr/bin/inside:pushes { printf("%s %d\n", func, pid == '$p'); exit(); }' | grep .
	"$SONDE" -q -p $p -e 'uprobe:inside:moves { printf("%s\n", probe); exit(); }' | grep .
	"$SONDE" -q -p $p -l 'uprobe:*:pushe*' | sed "s,$TMPDIR,,"
	kill $p
NEEDS prog:landing cmd:chroot
EXPECT
	pushes 1
	uprobe:/usr/bin/inside:moves
	uprobe:/jail/usr/bin/inside:pushes

NAME mount namespace
RUN
	mkdir $TMPDIR/jail
	unshare -m sh -c "mount -t tmpfs none $TMPDIR/jail && mkdir -p $TMPDIR/jail/usr/bin && cp build/tests/landing $TMPDIR/jail/usr/bin/inside && exec chroot $TMPDIR/jail /usr/bin/inside 1 50 200" & p=$!
	until_named $p inside
	[ -e $TMPDIR/jail/usr ] && echo "not in a namespace of its own"
	"$SONDE" -q -p $p -e 'uprobe:/usr/bin/inside:pushes { printf("%s %d\n", func, pid == '$p'); exit(); }' | grep .
	"$SONDE" -q -p $p -e 'uretprobe:inside:moves { printf("%s %d\n", probe, retval); exit(); }' | grep .
	"$SONDE" -q -p $p -l 'uprobe:*:pushe*' | sed 's,/proc/[0-9]*/[^:]*:,FILE:,'
	"$SONDE" -q -p $p -e 'uprobe:*:pushes { printf("any %d\n", arg0); exit(); }' | grep .
	kill $p
NEEDS prog:landing cmd:unshare cmd:chroot
EXPECT
	pushes 1
	uretprobe:/usr/bin/inside:moves 2
	uprobe:FILE:pushes
	any 0

NAME static probes in a mount namespace
RUN
	mkdir $TMPDIR/jail
	unshare -m sh -c "mount -t tmpfs none $TMPDIR/jail && cp build/tests/sdt $TMPDIR/jail/inside && exec chroot $TMPDIR/jail /inside 1 2000" & p=$!
	until_named $p inside
	"$SONDE" -p $p -l 'usdt:/inside:own:t*'
	"$SONDE" -p $p -l 'usdt:*:own:guarded' | sed 's,/proc/[0-9]*/[^:]*:,FILE:,'
	kill $p
NEEDS prog:sdt cmd:unshare cmd:chroot
EXPECT
	usdt:/inside:own:twelve
	usdt:/inside:own:types
	usdt:FILE:own:guarded

NAME any file of any process
RUN
	build/tests/landing 1 50 200 & p=$!; until_named $p landing
	"$SONDE" -q -e 'uprobe:*:pushes /pid == '$p'/ { printf("%d\n", arg0); exit(); }' | grep .
	"$SONDE" -l 'uprobe:*:pushes' | grep build/ | sed 's,:/.*/build,:build,'
	kill $p
NEEDS prog:landing
EXPECT
	0
	uprobe:build/tests/landing:pushes

NAME a deleted program, through its process
RUN
	cp build/tests/landing $TMPDIR/gone
	$TMPDIR/gone 1 50 200 & g=$!
	until_named $g gone
	rm $TMPDIR/gone
	"$SONDE" -q -p $g -e "uprobe:/proc/$g/exe:pushes { printf(\"%d\n\", arg0); exit(); }" | grep .
	kill $g
NEEDS prog:landing
EXPECT
	0

NAME several processes, each with its own files
RUN
	mkdir $TMPDIR/a $TMPDIR/b
	jail() {
		unshare -m sh -c "mount -t tmpfs none $TMPDIR/$1 && mkdir -p $TMPDIR/$1/usr/bin && cp build/tests/landing $TMPDIR/$1/usr/bin/$2 && exec chroot $TMPDIR/$1 /usr/bin/$2 $3 100 200" &
		jailed=$!
		until_named $! $2
	}
	jail a inside 2; a=$jailed
	jail b inside 3; b=$jailed
	build/tests/landing 4 100 200 & c=$!
	sleep 0.3
	end='interval:ms:700 { exit(); } end { for $k : @ { @kinds[$k.0.0, $k.0.1] = count(); } clear(@); }'
	names() { sed "s/$a/A/; s/$b/B/; s/$c/C/; /^\$/d" | sort; }
	"$SONDE" -q -p $a,$b -e 'uprobe:/usr/bin/inside:pushes { @[probe, pid, arg0] = 1; } uretprobe:inside:moves { @[probe, pid, retval] = 1; } '"$end" | names
	"$SONDE" -q -p $a,$b,$c -e 'uprobe:*:pushes { @[func, pid, arg0] = 1; } '"$end" | names
	"$SONDE" -q -p $a,$b -e 'uprobe:/usr/bin/inside:pushes { @[pid, arg0] = count(); } interval:ms:700 { exit(); } end { print(len(@)); clear(@); }' | grep .
	"$SONDE" -q -p $a,$c -e 'uprobe:/usr/bin/inside:pushes { @[probe, pid, arg0] = 1; } '"$end" 2>&1 | grep -e ^@k -e WARN | names
	"$SONDE" -p $c -p 1 -e 'uprobe:/usr/bin/inside:pushes { }' 2>&1 | head -n 1
	kill $a $b $c
NEEDS slow prog:landing cmd:unshare cmd:chroot sym:bpf_for_each_map_elem
TIMEOUT 30
EXPECT
	@kinds[uprobe:/usr/bin/inside:pushes, A]: 2
	@kinds[uprobe:/usr/bin/inside:pushes, B]: 3
	@kinds[uretprobe:/usr/bin/inside:moves, A]: 2
	@kinds[uretprobe:/usr/bin/inside:moves, B]: 3
	@kinds[pushes, A]: 2
	@kinds[pushes, B]: 3
	@kinds[pushes, C]: 4
	5
	@kinds[uprobe:/usr/bin/inside:pushes, A]: 2
	stdin:1:1-30: WARNING: nothing to probe in process C: uprobe target file '/usr/bin/inside' does not exist or is not executable
	stdin:1:1-30: ERROR: uprobe target file '/usr/bin/inside' does not exist or is not executable

NAME a file by several links, and in overlays that share a layer, is one
RUN
	mkdir $TMPDIR/low && cp build/tests/landing $TMPDIR/low/inside && ln -s inside $TMPDIR/low/inside2 && ln $TMPDIR/low/inside $TMPDIR/low/inside3
	"$SONDE" -q -c "$TMPDIR/low/inside 3" -e "uprobe:$TMPDIR/low/inside*:pushes { @ = count(); }" | grep .
	over() {
		mkdir $TMPDIR/$1
		unshare -m sh -c "mount -t tmpfs none $TMPDIR/$1 && cd $TMPDIR/$1 && mkdir u w r && mount -t overlay none -o lowerdir=$TMPDIR/low,upperdir=u,workdir=w r && exec chroot r /inside $2 100 200" &
		until_named $! inside
	}
	over a 2; a=$!
	over b 2; b=$!
	for o in "-p $a,$b" "-p $a,$b --follow"; do
		"$SONDE" $o -q -e 'uprobe:/inside:pushes { @[pid, arg0, nsecs / 40000000] = count(); } interval:ms:700 { exit(); }
			end { for $k : @ { @twice = max($k.1); } clear(@); }' | grep .
	done
	"$SONDE" -q -e 'uprobe:*:pushes /pid == '$a' || pid == '$b'/ { @[pid, arg0, nsecs / 40000000] = count(); } interval:ms:700 { exit(); }
		end { for $k : @ { @twice = max($k.1); } clear(@); }' | grep .
	kill $a $b
NEEDS slow prog:landing cmd:unshare cmd:chroot sym:bpf_for_each_map_elem
TIMEOUT 30
EXPECT
	@: 3
	@twice: 1
	@twice: 1
	@twice: 1

NAME a file that is replaced while it is traced
RUN
	cp build/tests/landing $TMPDIR/app
	"$SONDE" -q -e "uprobe:$TMPDIR/app:pushes { @ = count(); printf(\"seen\n\"); } uretprobe:$TMPDIR/app:moves { }" >$TMPDIR/out 2>&1 & s=$!
	$TMPDIR/app 8 200 300 & p=$!
	until_written $TMPDIR/out
	cp build/tests/landing $TMPDIR/new; mv $TMPDIR/new $TMPDIR/app
	$TMPDIR/app 100
	kill -INT $s; wait $s; kill $p
	sed "s,$TMPDIR,DIR,; s/: [0-9]*\$/: N/; /^seen/d" $TMPDIR/out | grep .
	"$SONDE" -q -c "$TMPDIR/app 8" -e "uprobe:$TMPDIR/app:pushes { @ = count(); }" 2>&1 | grep .
NEEDS prog:landing
EXPECT
	@: N
	WARNING: DIR/app was replaced while it was traced: processes that started since then were not seen
	@: 8

NAME links in the root of a process do not lead out of it
RUN
	mkdir $TMPDIR/jail
	cp build/tests/calls $TMPDIR/outside
	unshare -m sh -c "mount -t tmpfs none $TMPDIR/jail && mkdir -p $TMPDIR/jail/$TMPDIR $TMPDIR/jail/usr && cp build/tests/landing $TMPDIR/jail/$TMPDIR/outside && ln -s $TMPDIR/outside $TMPDIR/jail/usr/link && ln -s ../../../../../../$TMPDIR $TMPDIR/jail/usr/up && ln -s loop $TMPDIR/jail/usr/loop && exec chroot $TMPDIR/jail /usr/link 1 50 200" & p=$!
	until_named $p link
	for f in /usr/link /usr/up/outside; do
		"$SONDE" -q -p $p -e "uprobe:$f:pushes { printf(\"%s %d\n\", func, pid == $p); exit(); }" | grep .
		"$SONDE" -q -p $p -e "uprobe:$f:add6 { print(\"the one outside\"); }" 2>&1 | head -n 1 | sed "s,/.*,,"
	done
	"$SONDE" -q -p $p -e "uprobe:/usr/loop:pushes { }" 2>&1 | head -n 1 | sed 's,/.*,,'
	kill $p
NEEDS prog:landing prog:calls cmd:unshare cmd:chroot
EXPECT
	pushes 1
	stdin:1:1-22: ERROR: No matches for uprobe 
	pushes 1
	stdin:1:1-28: ERROR: No matches for uprobe 
	stdin:1:1-24: ERROR: uprobe target file '
