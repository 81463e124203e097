NAME a variable of the kernel by name
PROG watchpoint:jiffies_64:8:w { @ = count(); } interval:ms:300 { exit() } END { print(@ > 5); clear(@) }
NEEDS vm sym:jiffies_64
EXPECT
	true
	$
	$

NAME a function of the kernel by name
PROG watchpoint:__ARCH_sys_getppid:1:x /pid == cpid/ { @ = count(); }
LOAD syscalls 5
NEEDS vm x86_64
EXPECT
	$
	$
	@: 5

NAME a variable of the program by name
PROG watchpoint:ticks:8:w { @[pid == cpid] = count(); }
LOAD watched 5
NEEDS runs:watchable prog:watched
EXPECT
	$
	$
	@[true]: 5

NAME a variable of a program that is moved
RUN
	cc -pie -fPIE -O1 -o $TMPDIR/moved tests/progs/watched.c || exit
	$TMPDIR/moved 200 20 & p=$!
	until_named $p moved
	"$SONDE" -q -p $p -e 'watchpoint:ticks:8:w { @ = count(); if (@ == 3) { printf("%d\n", pid == '$p'); exit(); } }' | head -n 1
	"$SONDE" -q -p $p -e "watchpoint:$TMPDIR/moved:ticks:8:w { printf(\"again\n\"); exit(); }" | head -n 1
	kill $p
NEEDS runs:watchable prog:watched cmd:cc fast
EXPECT
	1
	again

NAME a program that will be moved, its function and a library's variable
RUN
	cc -pie -fPIE -O1 -o $TMPDIR/moved tests/progs/watched.c || exit
	"$SONDE" -q -c "$TMPDIR/moved 5" -e 'watchpoint:ticks:8:w { @ticks[pid == cpid] = count(); }
		watchpoint:main:1:x { @main = count(); } watchpoint:libc:environ:8:rw { @environ = count(); }
		END { print(@environ > 0); clear(@environ); }'
NEEDS slow runs:watchable prog:watched cmd:cc
EXPECT
	true
	$
	$
	@main: 1
	@ticks[true]: 5

NAME more places than the processor watches
RUN
	cc -pie -fPIE -O1 -o $TMPDIR/moved tests/progs/watched.c || exit
	for p in "$TMPDIR/moved 5" 'build/tests/watched 5'
	do "$SONDE" -q -c "$p" -e 'watchpoint:ticks:8:w { } watchpoint:main:1:x { } watchpoint:0x1000:8:w { }
		watchpoint:0x2000:8:w { } watchpoint:0x3000:8:w { }' 2>&1 | sed -n 's/.*\(the processor[^)]*\).*/\1/p'
	done
NEEDS prog:watched cmd:cc
EXPECT
	the processor can watch no more places at once
	the processor can watch no more places at once

NAME modes
NEEDS x86_64
RUN for m in r rx rwx x w q; do "$SONDE" --dry-run -c /bin/true -e "watchpoint:0x1000:8:$m { }" 2>&1 | sed -n 's/.*ERROR: //p'; done
EXPECT
	Invalid mode of watchpoint probe: r; x86_64 cannot watch reads alone, rw watches reads and writes
	Invalid mode of watchpoint probe: rx; execution (x) is watched by a watchpoint of its own
	Invalid mode of watchpoint probe: rwx; execution (x) is watched by a watchpoint of its own
	Invalid mode of watchpoint probe: q, must be w, rw or x

NAME no such name
RUN
	"$SONDE" -c 'build/tests/watched 1' -e 'watchpoint:no_such_name:8:w { }' 2>&1 | sed -n '1s/process [0-9]*/process N/p'
	"$SONDE" -e 'watchpoint:libc:no_such_name:8:w { }' 2>&1 | sed -n 1p
	"$SONDE" -c 'build/tests/watched 1' -e 'watchpoint:libnothing:environ:8:w { }' 2>&1 | sed -n 1p
NEEDS prog:watched
EXPECT
	stdin:1:1-28: ERROR: neither the program of process N nor /proc/kallsyms has an address of no_such_name
	stdin:1:1-33: ERROR: libc:no_such_name needs a process, given with -p or -c
	stdin:1:1-34: ERROR: watchpoint target file 'libnothing' does not exist or is not executable (not in $PATH, and no library of that name)

NAME a machine whose registers tell nothing
RUN
	info=$("$SONDE" info | sed -n 's/^ *watchpoint *\(yes\|no\).*/\1/p')
	got=$("$SONDE" -q -c 'build/tests/watched 5' -e 'watchpoint:ticks:8:w { @ = count(); }' 2>&1 | grep -m 1 -e WARN -e @)
	echo "$(build/tests/watchable && echo watches): $info: $got"
NEEDS prog:watched prog:watchable
EXPECT_RE
	watches: yes: @: 5|: no: stdin:1:1-21: WARNING: watchpoint:ticks:8:w: the debug registers of this machine have no effect, as in some virtual machines: it will not fire
