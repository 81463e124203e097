# Returns of functions that exceptions pass through: their return addresses stay as they are.

NAME exceptions and longjmp pass through functions with return probes
RUN
	for level in 0 2; do
		g++ -O$level -o $TMPDIR/app tests/progs/throws.cc
		"$SONDE" -q -c $TMPDIR/app -e "uretprobe:$TMPDIR/app:thrower, uretprobe:$TMPDIR/app:catcher, uretprobe:$TMPDIR/app:jumper {
			@out[func] = count(); @sum[func] = sum((int32)retval); }" 2>&1 | grep . | LC_ALL=C sort
	done
NEEDS cmd:g++ fast
EXPECT
	9
	@out[catcher]: 10
	@out[jumper]: 4
	@out[thrower]: 9
	@sum[catcher]: 20
	@sum[jumper]: 8
	@sum[thrower]: 32
	9
	@out[catcher]: 10
	@out[jumper]: 4
	@out[thrower]: 9
	@sum[catcher]: 20
	@sum[jumper]: 8
	@sum[thrower]: 32

NAME returns by a tail call are not seen, which is said
RUN
	g++ -O2 -o $TMPDIR/app tests/progs/throws.cc
	"$SONDE" -q -c $TMPDIR/app -e "uretprobe:$TMPDIR/app:tail { @ = count(); }" 2>&1 | grep -o '^[@9].*\|WARNING.*'
	"$SONDE" -q -c $TMPDIR/app -e "uretprobe:$TMPDIR/app:tai[l]* { @ = count(); }" 2>&1 | grep -o '^[@9].*\|WARNING.*'
NEEDS cmd:g++ x86_64 fast
EXPECT
	WARNING: tail can end by a jump to another function (a tail call): returns by such a jump are not seen
	9
	@: 1
	WARNING: tail and 1 more can end by a jump to another function (a tail call): returns by such a jump are not seen
	9
	@: 1

NAME functions without a return instruction
RUN
	g++ -O2 -o $TMPDIR/app tests/progs/throws.cc
	"$SONDE" -e "uretprobe:$TMPDIR/app:ends { }" 2>&1 | grep -o 'ERROR.*' | sed "s,$TMPDIR/,,"
NEEDS cmd:g++ x86_64 fast
EXPECT
	ERROR: exceptions may pass through ends: changing its return address could end the traced program (--unsafe does that all the same): ends in app has no return instruction

NAME returns by an address within a function
RUN
	g++ -O0 -fcf-protection=none -o $TMPDIR/app tests/progs/throws.cc
	at=$(nm $TMPDIR/app | sed -n 's/ T thrower$//p')
	"$SONDE" -e "uretprobe:$TMPDIR/app:$((0x$at + 1)) { }" 2>&1 | grep -o 'ERROR.*' | sed "s,$TMPDIR/,,"
	"$SONDE" -q -c $TMPDIR/app -e "uretprobe:$TMPDIR/app:$((0x$at)) { @ = count(); }" | grep .
NEEDS cmd:g++ x86_64 fast
EXPECT
	ERROR: exceptions may pass through app: returns are probed by the function's name
	9
	@: 9

# The kernel would take the return of one call for that of the other.
NAME returns of coroutines
RUN
	for how in "" -static; do
		gcc -O1 $how -o $TMPDIR/app tests/progs/coroutines.c
		"$SONDE" -q -c $TMPDIR/app -e "uretprobe:$TMPDIR/app:turn { @[(int32)retval] = count(); }" 2>&1 | grep .
	done
	at=$(nm $TMPDIR/app | sed -n 's/ T turn$//p')
	"$SONDE" -e "uretprobe:$TMPDIR/app:$((0x$at + 4)) { }" 2>&1 | grep -o 'ERROR.*' | sed "s,$TMPDIR/,,"
NEEDS cmd:gcc fast
EXPECT
	6 turns
	@[2]: 1
	@[3]: 1
	@[4]: 1
	@[5]: 1
	@[6]: 1
	6 turns
	@[2]: 1
	@[3]: 1
	@[4]: 1
	@[5]: 1
	@[6]: 1
	ERROR: the program may change to another stack in app: returns are probed by the function's name

NAME exceptions pass through functions of the C library that call back
RUN
	g++ -o $TMPDIR/app tests/progs/throws_in.cc
	"$SONDE" -q -c $TMPDIR/app -e "uretprobe:libc:bsearch { @ = count(); }" 2>&1 | grep .
NEEDS cmd:g++ fast
EXPECT
	caught
	found
	@: 1
