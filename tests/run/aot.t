# Compiled scripts as programs of their own (--aot).

NAME a compiled script runs without its compiler
RUN
	"$SONDE" --aot $TMPDIR/prog -e 'struct F { int a; char s[4]; }
		begin { printf("%s %d\n", comm, 5); @x[1, "a"] = 7; @h = hist(5); print((1, "two")); exit(3); }
		end { printf("end\n"); }' && $TMPDIR/prog -q
	echo $?
EXPECT
	prog 5
	(1, two)
	end
	$
	$
	@h:
	[4, 8)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@x[1, a]: 7
	3

NAME a compiled script finds its probes again
RUN
	"$SONDE" --aot $TMPDIR/prog -e 'uprobe:build/tests/spin:busy { @u = count(); }
		usdt:build/tests/semaphore:semtest:probe { @s = count(); } tracepoint:syscalls:sys_enter_getppid { @t = count(); }
		software:cpu-clock:100000 { @c = 1; } interval:s:60 { exit(); }' && { $TMPDIR/prog -f json >$TMPDIR/out & p=$!
	until_written $TMPDIR/out
	build/tests/spin 100 >/dev/null
	build/tests/semaphore 1 >/dev/null
	build/tests/syscalls 1 getppid
	kill -INT $p
	wait $p
	grep map $TMPDIR/out | sed 's/: [1-9][0-9]*}/: N}/'
	}
NEEDS prog:spin prog:semaphore uprobe tp:syscalls/sys_enter_getppid
EXPECT
	{"type": "map", "data": {"@c": N}}
	{"type": "map", "data": {"@s": N}}
	{"type": "map", "data": {"@t": N}}
	{"type": "map", "data": {"@u": N}}

NAME a compiled script knows how its tables are shown
RUN
	"$SONDE" --aot $TMPDIR/prog -e 'config = { print_maps_on_exit = false }
		table t sorted by n { s "SIG" signal; n; part share same; } begin { @[9] = 3; @[15] = 1; show(t, @); exit(); }' &&
		$TMPDIR/prog -q
EXPECT
	SIG N PART
	KILL 3 75.00%
	TERM 1 25.00%

NAME a compiled script takes no other
RUN "$SONDE" --aot $TMPDIR/prog -e 'begin { exit(); }'; $TMPDIR/prog -e 'begin { }' 2>&1 | head -n 1; "$SONDE" --aot $TMPDIR/prog -p $$ -e 'begin { exit(); }' 2>&1; :
EXPECT
	ERROR: this program is a script that was compiled already: it takes the options and arguments of the script, and options for output
	ERROR: --aot: -p and -c name processes that are here now; let the script compare pid

NAME a compiled script that is damaged says so
RUN
	"$SONDE" --aot $TMPDIR/prog -e 'begin { @ = 1; }'
	s=$(stat -c %s $TMPDIR/prog)
	n=$(od -A n -t u8 -j $((s - 80)) -N 8 $TMPDIR/prog)
	printf '\377\377\377\377' | dd of=$TMPDIR/prog bs=1 seek=$((s - 80 - n + 8)) conv=notrunc 2>/dev/null
	$TMPDIR/prog 2>&1
	echo $?
EXPECT
	ERROR: compiled script: it is of another version of sonde
	1

# Another boot is what another id tells.
NAME addresses of the kernel's symbols hold until the machine boots again
RUN
	i=$(cat /proc/sys/kernel/random/boot_id)
	for script in 'kaddr("vfs_read") > 0' 'in_function(1, "vfs_read")' 'kaddr("0x123")'; do
		"$SONDE" --aot "$TMPDIR/prog" -e "begin { printf(\"%d\\n\", $script); exit(); }" && "$TMPDIR/prog" -q
		LC_ALL=C sed -i "s/$i/$(echo $i | tr 0-9 1-90)/" "$TMPDIR/prog"
		"$TMPDIR/prog" -q
		done 2>&1 | grep .
EXPECT
	1
	ERROR: it was compiled with addresses of the kernel's symbols (kaddr(), percpu_kaddr(), in_function()), which change at the next boot; compile it again
	0
	ERROR: it was compiled with addresses of the kernel's symbols (kaddr(), percpu_kaddr(), in_function()), which change at the next boot; compile it again
	291
	291
NEEDS slow file:/proc/sys/kernel/random/boot_id sym:vfs_read

NAME a compiled script takes its options and arguments
RUN
	"$SONDE" --aot $TMPDIR/prog -e 'options { x = 5; } begin { print((opt.x, $#, $1, str($2))); exit(); }' 2>/dev/null
	p() { $TMPDIR/prog -q "$@" 2>&1 | sed -n '1p;/HINT/,$p' | grep .; }
	p; p --x=7 1 two; p 1 two -- --x=8; p -f json --x=7 1 two; p 1 two --y=3 | head -n 1; p 1 two --x=many | head -n 1; p --quiet 3 four
	"$SONDE" --aot $TMPDIR/prog -e 'begin { $a = getopt("who", "nobody"); printf("%s %d\n", $a, getopt("n", 3)); exit(); }' && { p; p --who=me; p -- --n=4; }
EXPECT
	(5, 0, 0, )
	(7, 2, 1, two)
	(8, 2, 1, two)
	{"type": "value", "data": [7,2,1,"two"]}
	ERROR: unexpected program command line options: --y
	stdin:1:35-40: ERROR: --x needs a number (got 'many')
	(5, 2, 3, four)
	nobody 3
	me 3
	nobody 4
