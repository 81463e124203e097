# What uprobe, uretprobe and usdt say when something is wrong.

NAME no such file
PROG uprobe:/no/such/file:f { } uretprobe:/no/such/file:f { } usdt:/no/such/file:p { } uprobe:no-such-program:f { }
RC 1
EXPECT
ERR_RE
	.*: ERROR: uprobe target file '/no/such/file' does not exist or is not executable
	...
	.*: ERROR: uretprobe target file '/no/such/file' does not exist or is not executable
	...
	.*: ERROR: usdt target file '/no/such/file' does not exist or is not executable
	...
	.*: ERROR: uprobe target file 'no-such-program' does not exist or is not executable \(not in \$PATH, and no library of that name\)
	...

NAME no program
PROG uprobe:/etc/passwd:f { } usdt:/etc/passwd:p { } uprobe:/etc:f { }
RC 1
EXPECT
ERR_RE
	.* ERROR: /etc/passwd: not an ELF file
	...
	.* ERROR: /etc/passwd: not an ELF file
	...
	.* ERROR: uprobe target file '/etc' is a directory, not a program or library
	...

NAME another machine
RUN
	case $(uname -m) in x86_64) other='\267' ;; *) other='\76' ;; esac
	cp build/tests/landing $TMPDIR/arm && printf "$other\0" | dd of=$TMPDIR/arm bs=1 seek=18 conv=notrunc 2>/dev/null
	"$SONDE" -e "uprobe:$TMPDIR/arm:pushes { }" 2>&1 | sed -n "s,$TMPDIR,DIR,g; 1s/.*ERROR/ERROR/; 1s/\(for\|is\) \(aarch64\|x86_64\)/\1 MACHINE/gp"
	"$SONDE" -e "uretprobe:$TMPDIR/arm:pushes { }" 2>&1 | sed -n "s,$TMPDIR,DIR,g; 1s/.*ERROR/ERROR/; 1s/\(for\|is\) \(aarch64\|x86_64\)/\1 MACHINE/gp"
NEEDS prog:landing
EXPECT
	ERROR: DIR/arm is for MACHINE, and this machine is MACHINE
	ERROR: DIR/arm is for MACHINE, and this machine is MACHINE

NAME a damaged file
RUN
	head -c 40 build/tests/landing >$TMPDIR/short; head -c 5000 build/tests/landing >$TMPDIR/cut
	"$SONDE" -e "uprobe:$TMPDIR/short:pushes { }" 2>&1 | sed -n "s,$TMPDIR,DIR,g; 1s/.*ERROR/ERROR/p"
	"$SONDE" -e "uprobe:$TMPDIR/cut:pushes { }" 2>&1 | sed -n "s,$TMPDIR,DIR,g; 1s/.*ERROR/ERROR/p"
	"$SONDE" -e "usdt:$TMPDIR/cut:probe { }" 2>&1 | sed -n "s,$TMPDIR,DIR,g; 1s/.*ERROR/ERROR/p"
NEEDS prog:landing
EXPECT
	ERROR: DIR/short: damaged ELF file: short header
	ERROR: DIR/cut has no symbols: it is stripped, or damaged
	ERROR: DIR/cut has no USDT probes (no notes of type stapsdt)

NAME no such function, and one that is spelled nearly so
PROG uprobe:build/tests/landing:pushs { } uretprobe:build/tests/landing:mvoes { } usdt:build/tests/usdtforms:memry { } uprobe:build/tests/landing:zzzzzzzz { }
NEEDS prog:landing prog:usdtforms
RC 1
EXPECT
ERR_RE
	.* ERROR: No matches for uprobe build/tests/landing:pushs\.
	...
	HINT: did you mean 'uprobe:build/tests/landing:pushes'\?
	.* ERROR: No matches for uretprobe build/tests/landing:mvoes\.
	...
	HINT: did you mean 'uretprobe:build/tests/landing:moves'\?
	.* ERROR: No matches for usdt build/tests/usdtforms:memry\.
	...
	HINT: did you mean 'usdt:build/tests/usdtforms:forms:memory'\?
	.* ERROR: No matches for uprobe build/tests/landing:zzzzzzzz\.
	...
	HINT: If this is expected, set the 'missing_probes' config variable to 'warn'\.

NAME offsets
PROG
	uprobe:build/tests/landing:pushes+1 { } uprobe:build/tests/landing:pushes+100 { }
	uprobe:build/tests/landing:pushes+x { } uretprobe:build/tests/landing:pushes+4 { }
	uprobe:build/tests/landing:push*+4 { } uprobe:build/tests/landing:0x10 { }
NEEDS prog:landing
RC 1
EXPECT
ERR_RE
	.* ERROR: Could not add uprobe into middle of instruction: uprobe:build/tests/landing:pushes\+1; --unsafe attaches all the same, which may corrupt the traced program
	...
	.* ERROR: Offset outside the function bounds \('pushes' size is (14|28)\)
	...
	.* ERROR: Invalid offset of uprobe probe: x
	...
	.* ERROR: Offset not allowed in a uretprobe: it fires when the function returns
	...
	.* ERROR: Offset not allowed with a wildcard
	...
	.* ERROR: .*
	...

NAME a good offset, and a bad one that is asked for
RUN
	case $(uname -m) in x86_64) good=5 ;; *) good=8 ;; esac
	"$SONDE" -q -c 'build/tests/landing 3' -e "uprobe:build/tests/landing:pushes+$good { @ = count(); }" | grep .
	"$SONDE" -q --unsafe --dry-run -e 'uprobe:build/tests/landing:pushes+1 { }' 2>/dev/null; echo $?
NEEDS prog:landing x86_64
EXPECT
	@: 3
	0

NAME a good offset, and a bad one that is asked for, where instructions have one length
RUN
	"$SONDE" -q -c 'build/tests/landing 3' -e 'uprobe:build/tests/landing:pushes+8 { @ = count(); }' | grep .
	"$SONDE" -q --unsafe --dry-run -e 'uprobe:build/tests/landing:pushes+1 { }' 2>&1 | grep -c 'ERROR: Unable to attach probe'
NEEDS prog:landing aarch64
EXPECT
	@: 3
	1

NAME no permission
RUN
	cp build/tests/landing $TMPDIR/closed && chmod 0 $TMPDIR/closed && chmod 755 $TMPDIR
	for p in uprobe:$TMPDIR/closed:pushes usdt:$TMPDIR/closed:p; do
		setpriv --bounding-set -all --inh-caps -all "$SONDE" -e "$p { }" 2>&1 | sed -n "s,$TMPDIR,DIR,g; 1s/.*ERROR/ERROR/p"
	done
	setpriv --bounding-set -all --inh-caps -all "$SONDE" -e 'uprobe:build/tests/landing:pushes { }' 2>&1 | grep -c ERROR
NEEDS prog:landing cmd:setpriv fast
EXPECT
	ERROR: open DIR/closed: Permission denied
	ERROR: open DIR/closed: Permission denied
	1

NAME every function of the C library
RUN
	"$SONDE" -c 'build/tests/calls 1' -e 'config = { max_probes = 10000 } uprobe:libc:* { @ = count(); }' >$TMPDIR/out 2>$TMPDIR/err
	grep -c '^@: [1-9][0-9]*$' $TMPDIR/out
	grep -v 'WARNING: [0-9]* of the functions cannot be probed: the kernel puts no uprobe on\|^config\|^ *~*$\|Attached [0-9][0-9][0-9][0-9] probes' $TMPDIR/err || true
NEEDS fast
TIMEOUT 60
EXPECT
	1

NAME return probes that would send the program astray
RUN
	"$SONDE" -c build/tests/astray -e 'uretprobe:libc:_setjmp { @ = count(); } uretprobe:libc:pthread_exit { @e = count(); }' 2>&1 | sed -n 's/.*ERROR: //p'
	"$SONDE" -q -c build/tests/astray -e 'uretprobe:libc:pthread_e*,uretprobe:libc:waitpi* { @ = count(); }' 2>&1 | sed -n 's/.*WARNING: //p; /setjmp [0-9]/p; /^@/p'
NEEDS uprobe prog:astray
EXPECT
	_setjmp keeps its return address to go there again: a return probe, which changes that address, would send the traced program astray; --unsafe attaches all the same
	pthread_exit looks through the stack from its return address on: a return probe, which changes that address, would send the traced program astray; --unsafe attaches all the same
	1 of the functions cannot be probed: pthread_exit looks through the stack from its return address on: a return probe, which changes that address, would send the traced program astray; --unsafe attaches all the same
	setjmp 0
	setjmp 1
	setjmp 2
	setjmp 3
	sigsetjmp 0
	sigsetjmp 5
	@: 1

NAME functions that cannot be probed
RUN
	cat >$TMPDIR/odd.c <<'EOF'
	__asm__(".text\n.type odd_lock, @function\nodd_lock: lock incl (%rdi)\nret\n.size odd_lock, . - odd_lock\n");
	__asm__(".text\n.type odd_good, @function\nodd_good: incl (%rdi)\nret\n.size odd_good, . - odd_good\n");
	int main(void) { return 0; }
	EOF
	cc -o $TMPDIR/odd $TMPDIR/odd.c && cd $TMPDIR || exit
	"$SONDE" --dry-run -e 'uprobe:./odd:odd_* { }' 2>&1 | grep -o 'WARN.*'
	"$SONDE" --dry-run -e 'uprobe:./odd:odd_lock { }' 2>&1 | grep -o 'ERR.*'
NEEDS cmd:cc prog:landing
EXPECT
	WARNING: 1 of the functions cannot be probed: the kernel puts no uprobe on the instruction at odd_lock+0 in ./odd (its prefix or kind)
	ERROR: the kernel puts no uprobe on the instruction at odd_lock+0 in ./odd (its prefix or kind)

NAME a file without a function is all of its functions in a list, and no probe
RUN
	"$SONDE" -l 'uprobe:build/tests/landing' | grep -c -e ':pushes$' -e ':moves$' -e ':bare$'
	"$SONDE" -l uprobe:/nope 2>&1
	"$SONDE" -c build/tests/landing -e 'uprobe:build/tests/landing { }' 2>&1 | head -n 1
	"$SONDE" -e 'uretprobe:/bin/true { }' 2>&1 | head -n 1
NEEDS prog:landing
EXPECT
	3
	ERROR: uprobe target file '/nope' does not exist or is not executable
	stdin:1:1-27: ERROR: uprobe probe type requires 2 or 3 arguments, found 1
	stdin:1:1-20: ERROR: uretprobe probe type requires 2 or 3 arguments, found 1
