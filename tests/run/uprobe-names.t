# Names of other languages: uprobe:FILE:cpp:NAME, rust:NAME.

NAME overloads
PROG uprobe:build/tests/names:cpp:ns::C::m /pid == cpid/ { @[probe] = count(); }
LOAD names 3
EXPECT
	$
	$
	@[uprobe:build/tests/names:cpp:_ZN2ns1C1mEd]: 3
	@[uprobe:build/tests/names:cpp:_ZN2ns1C1mEi]: 3

NAME one overload
PROG uprobe:build/tests/names:cpp:"ns::C::m(int)" /pid == cpid/ { @[arg0] = count(); }
LOAD names 2
EXPECT
	$
	$
	@[0]: 1
	@[1]: 1

NAME templates, with and without the result
PROG
	uprobe:build/tests/names:cpp:"ns::id<int>" /pid == cpid/ { @a = count(); }
	uprobe:build/tests/names:cpp:"ns::id<int>(int)" /pid == cpid/ { @b = count(); }
	uprobe:build/tests/names:cpp:"int ns::id<int>(int)" /pid == cpid/ { @c = count(); }
LOAD names 2
EXPECT
	$
	$
	@a: 2
	@b: 2
	@c: 2

NAME wildcard of C++
PROG uprobe:build/tests/names:cpp:*C::m*int* /pid == cpid/ { @[probe] = count(); }
LOAD names 2
EXPECT
	$
	$
	@[uprobe:build/tests/names:cpp:_ZN2ns1C1mEi]: 2

NAME return of C++
PROG uretprobe:build/tests/names:cpp:"ns::C::m(double)" /pid == cpid/ { @[retval] = count(); }
LOAD names 2
EXPECT
	$
	$
	@[4]: 2

NAME rust, both ways of naming
PROG uprobe:build/tests/names:rust:demo::shape::area /pid == cpid/ { @[probe] = count(); }
LOAD names 2
EXPECT
	$
	$
	@[uprobe:build/tests/names:rust:_RNvNtCs1234_4demo5shape4area]: 2
	@[uprobe:build/tests/names:rust:_ZN4demo5shape4area17h0123456789abcdefE]: 2

NAME rust, a method
PROG uprobe:build/tests/names:rust:"<demo::Square>::area" /pid == cpid/ { @ = count(); }
LOAD names 2
EXPECT
	$
	$
	@: 2

NAME list of C++
RUN "$SONDE" -l 'uprobe:build/tests/names:cpp:"ns::*"' | sort; "$SONDE" -l -e 'uprobe:build/tests/names:cpp:"ns::id<int>" { }'
EXPECT
	uprobe:build/tests/names:cpp:"int ns::id<int>(int)"
	uprobe:build/tests/names:cpp:"ns::C::m(double)"
	uprobe:build/tests/names:cpp:"ns::C::m(int)"
	uprobe:build/tests/names:cpp:"int ns::id<int>(int)"

NAME list without a language
RUN "$SONDE" -l 'uprobe:build/tests/names:_ZN2ns*' | sort
EXPECT
	uprobe:build/tests/names:_ZN2ns1C1mEd
	uprobe:build/tests/names:_ZN2ns1C1mEi
	uprobe:build/tests/names:_ZN2ns2idIiEET_S1_

NAME nearly a name
PROG uprobe:build/tests/names:cpp:ns::C::n { }
EXPECT
ERR_RE
	.*ERROR: No matches for uprobe build/tests/names:cpp:ns::C::n\.
	...
	HINT: did you mean 'uprobe:build/tests/names:cpp:"ns::C::m\((int|double)\)"'\?
RC 1

NAME rust, a method without the brackets around its type
PROG uprobe:build/tests/names:rust:demo::Square::area /pid == cpid/ { @ = count(); } uprobe:build/tests/names:rust:demo::Squa* /pid == cpid/ { @w = count(); }
LOAD names 2
EXPECT
	$
	$
	@: 2
	@w: 2

# $u7d$17: the '$' before 17 ends an escape.
NAME rust, a name with an escape before a number
RUN
	echo 'int f(void) __asm__("_ZN3std28_$u7b$closure$u7d$$u7d$17ha86af84d9cc65291E"); int f(void) { return 0; } int main(void) { return f(); }' >$TMPDIR/a.c
	cc -o $TMPDIR/app $TMPDIR/a.c
	"$SONDE" -q -c $TMPDIR/app -e 'uprobe:'$TMPDIR'/$1:_ZN3std28_$u7b$closure$u7d$$u7d$17ha86af84d9cc65291E { @ = count(); }' app | grep .
NEEDS slow cmd:cc fast
EXPECT
	@: 1

NAME a path with a colon, in quotes
RUN
	mkdir $TMPDIR/a:b
	cp build/tests/names $TMPDIR/a:b/app
	"$SONDE" -q -c $TMPDIR/a:b/app -e 'uprobe:"'$TMPDIR'/a:b/app":main { @[probe] = count(); } uretprobe:"'$TMPDIR'/a:b/app":mai[n] { @r = count(); }' 2>&1 | grep @ | sed "s,$TMPDIR,DIR,"
	"$SONDE" -l 'uprobe:"'$TMPDIR'/a:b/app":main' | sed "s,$TMPDIR,DIR,"
	"$SONDE" -l 'usdt:"'$TMPDIR'/a:b/app":*' 2>&1 | sed "s,$TMPDIR,DIR,"
	"$SONDE" -e 'uprobe:"'$TMPDIR'/a:b/none":main { }' 2>&1 | head -n 1 | sed "s,$TMPDIR,DIR,; s/1-[0-9]*:/N:/"
NEEDS prog:names
EXPECT
	@[uprobe:"DIR/a:b/app":main]: 1
	@r: 1
	uprobe:"DIR/a:b/app":main
	ERROR: DIR/a:b/app has no USDT probes (no notes of type stapsdt)
	stdin:1:N: ERROR: uprobe target file 'DIR/a:b/none' does not exist or is not executable
