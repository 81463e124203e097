# Probes placed by include/sonde/sdt.h.

NAME notes that other programs read
RUN readelf -n build/tests/sdt | sed -n 's/^ *\(Provider\|Name\): *//p' | paste -sd ' \n' | grep -v '^libc ' | sort
NEEDS prog:sdt cmd:readelf
EXPECT
	other hello
	own guarded
	own leaf
	own none
	own one
	own twelve
	own types
	third bye

NAME twelve arguments
PROG usdt:build/tests/sdt:own:twelve /pid == cpid/ { printf("%d %d %d %d %d %d %d %d %d %d %d %d\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11); }
LOAD sdt 2
NEEDS prog:sdt
EXPECT
	1 2 3 4 5 6 7 8 9 10 11 12
	1 2 3 4 5 6 8 9 10 11 11 12
	$
	$

NAME types of arguments
PROG usdt:build/tests/sdt:own:types /pid == cpid/ { printf("%d %d %d %d %d %s %d %d\n", arg0, arg1, arg2, arg3, arg4, str(arg5), *(uint64 *)arg6, arg7); }
LOAD sdt 2
NEEDS prog:sdt
EXPECT
	0 65000 -5 -1 1 text 41 41
	-1 65001 -4 -1 1 text 42 42
	$
	$

NAME types in the list
RUN "$SONDE" -lv usdt:build/tests/sdt:own:types | head -n 9
NEEDS prog:sdt
EXPECT
	usdt:build/tests/sdt:own:types
	    int8 arg0
	    uint16 arg1
	    int32 arg2
	    int64 arg3
	    uint8 arg4
	    uint64 arg5
	    uint64 arg6
	    uint64 arg7

NAME no arguments, and the names of other headers
PROG usdt:build/tests/sdt:none, usdt:build/tests/sdt:hello, usdt:build/tests/sdt:bye /pid == cpid/ { @[probe] = count(); }
LOAD sdt 4
NEEDS prog:sdt
EXPECT
	$
	$
	@[usdt:build/tests/sdt:other:hello]: 4
	@[usdt:build/tests/sdt:own:none]: 4
	@[usdt:build/tests/sdt:third:bye]: 4

NAME with a semaphore
PROG usdt:build/tests/sdt:guarded /pid == cpid/ { printf("%d %d\n", arg0, arg1); }
LOAD sdt 3
NEEDS prog:sdt
EXPECT
	0 0
	1 100
	2 200
	$
	$

NAME the semaphore is back at zero when tracing ends, whatever ends it
RUN
	build/tests/sdt 1 2500 & p=$!
	"$SONDE" -q -p $p -e 'usdt:build/tests/sdt:guarded { }' & s=$!
	addr=$(readelf -sW build/tests/sdt | awk '$8 == "own_guarded_semaphore" { print $2 }')
	value() { dd if=/proc/$p/mem bs=1 skip=$((0x$addr)) count=2 2>/dev/null | od -An -tu2 | tr -d ' '; }
	has_value() { [ "$(value)" = "$1" ]; }
	eventually has_value 1
	value
	kill -9 $s; wait $s 2>/dev/null
	eventually has_value 0
	value
	wait $p
NEEDS prog:sdt cmd:readelf
EXPECT
	1
	0

# The exit code tells that the function's variables are what they were.
NAME variables below the stack pointer stay as they are
RUN
	cat >$TMPDIR/run <<EOF
	build/tests/sdt 1000
	echo "exit code \$?"
	EOF
	"$SONDE" -q --follow -c "sh $TMPDIR/run" -e 'usdt:build/tests/sdt:leaf { @ = count(); }'
NEEDS prog:sdt
EXPECT
	exit code 0
	$
	$
	@: 1000

NAME compilers
RUN
	for c in 'gcc -std=c99 -D_GNU_SOURCE' 'gcc -O0' 'gcc -O2 -fPIE -pie' 'clang -O2' 'g++ -x c++' 'clang++ -x c++ -O2'; do
		command -v ${c%% *} >/dev/null || continue
		$c -Wall -Wextra -Werror tests/progs/sdt.c -o $TMPDIR/sdt || { echo "$c"; continue; }
		$TMPDIR/sdt || echo "$c: exit code $?"
		[ $(readelf -n $TMPDIR/sdt | grep -c 'Provider: ') = 8 ] || echo "$c: notes"
		"$SONDE" -q -c "$TMPDIR/sdt 2" -e "usdt:$TMPDIR/sdt:types { @[arg0, arg1, arg2, arg3, arg4, arg7] = count(); }" >$TMPDIR/out
		tr -d '\n' <$TMPDIR/out | grep -q '@\[-1, 65001, -4, -1, 1, 42\]: 1@\[0, 65000, -5, -1, 1, 41\]: 1' || { echo "$c"; cat $TMPDIR/out; }
	done
	cc -DSONDE_NO_PROBES tests/progs/sdt.c -o $TMPDIR/sdt 2>/dev/null && readelf -n $TMPDIR/sdt | grep -c 'Provider: ' || true
NEEDS prog:sdt cmd:readelf cmd:gcc fast
TIMEOUT 60
EXPECT
	0

# Whether the kernel makes calls of such nops or not, no variable changes.
NAME nops of five bytes that others placed
RUN
	cat >$TMPDIR/run <<EOF
	build/tests/nop5 100
	echo "exit code \$?"
	EOF
	"$SONDE" -q --follow -c "sh $TMPDIR/run" -e 'usdt:build/tests/nop5:caller { @ = count(); }' | grep .
	"$SONDE" -q --follow -c "sh $TMPDIR/run" -e 'usdt:build/tests/nop5:leaf { @ = count(); }' 2>&1 |
		grep -c '^@: 100$\|this kernel would overwrite variables of the function at usdt:build/tests/nop5:five:leaf'
	build/tests/nop5 100; echo $?
NEEDS prog:nop5
EXPECT
	exit code 0
	@: 100
	1
	0

NAME every kind of argument
RUN
	"$SONDE" -lv 'usdt:build/tests/sdtkinds:kinds:*' | awk '/^usdt/ { sub(/.*:/, ""); name = $0; next } name !~ /^[df]$/ { print name, $1 }' | paste -sd ' ' | fold -s -w 100 | sed 's/ $//'
	"$SONDE" -q -c build/tests/sdtkinds -e 'usdt:build/tests/sdtkinds:kinds:s*, usdt:build/tests/sdtkinds:kinds:n* { @i[probe] = (int64)arg0; }
		usdt:build/tests/sdtkinds:kinds:u*, usdt:build/tests/sdtkinds:kinds:e* { @u[probe] = arg0; }
		usdt:build/tests/sdtkinds:kinds:function, usdt:build/tests/sdtkinds:kinds:variable { @f[usym(arg0)] = count(); }' | sed 's/usdt:.*kinds://' | grep . | sort
NEEDS prog:sdtkinds
EXPECT
	sc int8 uc uint8 s int16 us uint16 cl int64 vi int32 vul uint64 color uint32 sign int32 constant
	int32 character int32 unsigned_one uint32 expression int32 size uint64 array uint64 text uint64
	literal uint64 volatile_pointer uint64 nothing uint64 pointers uint64 element int32 address uint64
	variable uint64 function uint64 small uint8 negative int8
	@f[callee]: 2
	@i[negative]: -3
	@i[nothing]: 0
	@i[s]: -2
	@i[sc]: -1
	@i[sign]: -1
	@i[size]: 4
	@i[small]: 5
	@u[element]: 2
	@u[expression]: 41
	@u[uc]: 255
	@u[unsigned_one]: 2147483648
	@u[us]: 65535

NAME the header in every standard, without a warning
RUN
	cp tests/progs/sdtkinds.c $TMPDIR/k.cc; sed -i 's,"../../include,"'$PWD'/include,' $TMPDIR/k.cc
	for cc in gcc clang; do
		command -v $cc >/dev/null || continue
		for std in c89 c99 c17 gnu2x; do
			more=; [ $cc-$std = clang-c89 ] && more=-Wno-overlength-strings
			for o in '-O0 -fPIC -shared' '-O2 -fno-pie -no-pie'; do
				$cc -std=$std $o $more -Wall -Wextra -Wshadow -pedantic -Werror -o $TMPDIR/k tests/progs/sdtkinds.c || echo "$cc $std $o"
			done
		done
	done 2>&1 | head -n 20
	for cc in g++ clang++; do
		command -v $cc >/dev/null || continue
		for std in c++98 c++11 gnu++20; do
			$cc -std=$std -O2 -Wall -Wextra -Wshadow -pedantic -Werror -o $TMPDIR/k $TMPDIR/k.cc || echo "$cc $std"
		done
	done 2>&1 | head -n 20
NEEDS cmd:gcc prog:sdtkinds fast
TIMEOUT 60
EXPECT

NAME notes say the same as those of another header
RUN
	notes() { readelf -n $1 | awk '/Name:/ { n = $2 } /Arguments:/ { sub(/@.*/, ""); print n, $2 }' | sort; }
	for o in -O0 -O2; do
		gcc $o -DHEADER='"'$PWD'/include/sonde/sdt.h"' -DPROBE=DTRACE_PROBE1 -o $TMPDIR/ours tests/progs/sdtkinds.c
		gcc $o -DHEADER='<sys/sdt.h>' -DPROBE=DTRACE_PROBE1 -o $TMPDIR/theirs tests/progs/sdtkinds.c
		notes $TMPDIR/ours >$TMPDIR/a; notes $TMPDIR/theirs | diff $TMPDIR/a - && wc -l <$TMPDIR/a
	done
NEEDS fast cmd:gcc cmd:readelf file:/usr/include/ARCH-linux-gnu/sys/sdt.h prog:sdtkinds
EXPECT
	26
	26

NAME arguments of more than eight bytes are refused
RUN
	for t in __int128 'long double'; do
		printf '#include "'$PWD'/include/sonde/sdt.h"\nint main(int c, char **v) { %s x = c; (void)v; SONDE_PROBE(own, big, 1, x); return 0; }\n' "$t" >$TMPDIR/b.c
		cp $TMPDIR/b.c $TMPDIR/b.cc
		for f in b.c b.cc; do gcc -o $TMPDIR/b $TMPDIR/$f 2>&1 | sed -n 's/.*Error: //p'; done
	done
NEEDS fast cmd:gcc cmd:g++ prog:sdtkinds
EXPECT
	argument 2 of a static probe has more than 8 bytes
	argument 2 of a static probe has more than 8 bytes
	argument 2 of a static probe has more than 8 bytes
	argument 2 of a static probe has more than 8 bytes
