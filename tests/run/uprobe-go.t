# Functions of Go: no return probes (Go moves stacks), arguments in registers of their own.

NAME return from several places
PROG uretprobe:build/tests/goabi:main.sign /pid == cpid/ { @[func, (int64)retval] = count(); }
LOAD goabi 5 300
NEEDS prog:goabi
EXPECT
	$
	$
	@[main.sign, -1]: 1
	@[main.sign, 0]: 1
	@[main.sign, 1]: 3

NAME all returns of a function are that function
RUN
	"$SONDE" -q -c 'build/tests/goabi 5' -e 'uretprobe:build/tests/goabi:main.sign { @[func] = count(); }
		uretprobe:build/tests/goabi:main.* { @all[func, probe] = count(); }' | grep . | LC_ALL=C sort
NEEDS prog:goabi
EXPECT
	@[main.sign]: 5
	@all[main.(*T).Get, uretprobe:build/tests/goabi:main.(*T).Get]: 5
	@all[main.home, uretprobe:build/tests/goabi:main.home]: 5
	@all[main.sign, uretprobe:build/tests/goabi:main.sign]: 5
	@all[main.sum9, uretprobe:build/tests/goabi:main.sum9]: 5

NAME return addresses stay as they are
RUN "$SONDE" -c 'build/tests/goabi 4' -e 'uretprobe:build/tests/goabi:main.home { @[retval] = count(); }'
NEEDS prog:goabi
EXPECT
	$
	$
	@[1]: 4

NAME arguments
PROG uprobe:build/tests/goabi:main.sum9 /pid == cpid/ { printf("%d%d%d%d%d%d%d%d%d\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8); }
LOAD goabi 2
NEEDS prog:goabi
EXPECT
	123456789
	123456789
	$
	$

NAME too many arguments
PROG uprobe:build/tests/goabi:main.sum9 { print(arg9); }
NEEDS prog:goabi
EXPECT
ERR
	stdin:1:44-48: ERROR: this probe has 9 arguments
	uprobe:build/tests/goabi:main.sum9 { print(arg9); }
	                                           ~~~~
RC 1

NAME method, whose name looks like a pattern
PROG uretprobe:build/tests/goabi:main.(*T).Get /pid == cpid/ { @[probe] = sum(retval); }
LOAD goabi 3
NEEDS prog:goabi
EXPECT
	$
	$
	@[uretprobe:build/tests/goabi:main.(*T).Get]: 303

NAME wildcard
PROG uretprobe:build/tests/goabi:main.* /pid == cpid/ { @[probe] = count(); }
LOAD goabi 4
NEEDS prog:goabi
EXPECT
	$
	$
	@[uretprobe:build/tests/goabi:main.(*T).Get]: 4
	@[uretprobe:build/tests/goabi:main.home]: 4
	@[uretprobe:build/tests/goabi:main.sign]: 4
	@[uretprobe:build/tests/goabi:main.sum9]: 4

NAME entry and return
PROG
	uprobe:build/tests/goabi:main.sum9 /pid == cpid/ { @n[tid] = arg8; }
	uretprobe:build/tests/goabi:main.sum9 /@n[tid]/ { printf("%d %d\n", @n[tid], retval); delete(@n, tid); }
LOAD goabi 2
NEEDS prog:goabi
EXPECT
	9 45
	9 45
	$
	$

NAME no return by address
PROG uretprobe:build/tests/goabi:0x401000 { }
NEEDS prog:goabi
ARGS --unsafe
EXPECT
ERR_RE
	.*ERROR: build/tests/goabi is a Go program: returns are probed by the function's name
	...
RC 1

NAME a program built by Go
RUN
	cat >$TMPDIR/g.go <<'EOF'
	package main
	type T struct{ a int }
	//go:noinline
	func (t *T) add(x int) int { if x > 2 { return t.a + x }; return t.a - x }
	//go:noinline
	func deep(d int) int { var b [512]byte; if d == 0 { return 1 }; b[d%512] = 1; return deep(d-1) + int(b[d%512]) }
	func main() {
		t, ch := &T{10}, make(chan int)
		for i := 0; i < 5; i++ { go func(i int) { ch <- t.add(i) + deep(50) }(i) }
		for i := 0; i < 5; i++ { <-ch }
	}
	EOF
	export HOME=$TMPDIR GOCACHE=$PWD/build/tests/gocache GO111MODULE=off
	go build -o $TMPDIR/g $TMPDIR/g.go && cd $TMPDIR &&
	"$SONDE" -c ./g -e 'uprobe:./g:main.(*T).add { @x[arg1] = count(); } uretprobe:./g:main.(*T).add { @r[retval] = count(); } uretprobe:./g:main.deep { @deep = sum(retval); }'
NEEDS cmd:go fast
TIMEOUT 120
EXPECT
	$
	$
	@deep: 6630
	@r[8]: 1
	@r[9]: 1
	@r[10]: 1
	@r[13]: 1
	@r[14]: 1
	@x[0]: 1
	@x[1]: 1
	@x[2]: 1
	@x[3]: 1
	@x[4]: 1

NAME stripped: the names of Go's own table
RUN
	strip -o $TMPDIR/bare build/tests/goabi && cd $TMPDIR && chmod +x bare &&
	"$SONDE" -l 'uprobe:./bare:*' &&
	"$SONDE" -c './bare 4' -e 'uretprobe:./bare:main.s*, uretprobe:./bare:main.(*T).Get { @[probe] = count(); }
		uprobe:./bare:main.sum9 { @n = arg8; } uprobe:./bare:main.home { @s[ustack(1)] = count(); }'
NEEDS prog:goabi cmd:strip
EXPECT
	uprobe:./bare:main.sign
	uprobe:./bare:main.sum9
	uprobe:./bare:main.home
	uprobe:./bare:main.(*T).Get
	$
	$
	@[uretprobe:./bare:main.(*T).Get]: 4
	@[uretprobe:./bare:main.sign]: 4
	@[uretprobe:./bare:main.sum9]: 4
	@n: 9
	@s[
	        main.home+0
	]: 4

NAME stripped programs of Go, for one address and for any, with C linked in
RUN
	cat >$TMPDIR/g.go <<'EOF'
	package main
	import "os"
	type T struct{ a int }
	//go:noinline
	func (t *T) add(x int) int { if x > 2 { return t.a + x }; return t.a - x }
	func main() { t := &T{10}; for i := 0; i < 5; i++ { if t.add(i) == 0 { os.Exit(1) } } }
	EOF
	sed 's/import "os"/import "C"\nimport "os"/' $TMPDIR/g.go >$TMPDIR/c.go
	export HOME=$TMPDIR GOCACHE=$PWD/build/tests/gocache GO111MODULE=off
	cd $TMPDIR || exit
	for mode in exe pie; do
		for in in g c; do
			go build -buildmode=$mode -ldflags='-s -w' -o p $in.go &&
			"$SONDE" -c ./p -e 'uprobe:./p:main.(*T).add { @x = sum(arg1); } uretprobe:./p:main.(*T).add { @r = sum(retval); @s[ustack(1)] = count(); }'
		done
	done
NEEDS cmd:go fast
TIMEOUT 240
EXPECT_RE
	$
	$
	@r: 54
	@s\[
	        main\.\(\*T\)\.add\+[0-9]+
	.*
	...
	@x: 10
	$
	$
	@r: 54
	...
	@x: 10
	$
	$
	@r: 54
	...
	@x: 10
	$
	$
	@r: 54
	...
	@x: 10

NAME landing pads are entries
PROG uprobe:build/tests/landing:pushes, uprobe:build/tests/landing:moves, uprobe:build/tests/landing:bare /pid == cpid/ { @[probe, func, arg0] = count(); }
LOAD landing 2 300
NEEDS prog:landing
EXPECT
	$
	$
	@[uprobe:build/tests/landing:bare, bare, 0]: 1
	@[uprobe:build/tests/landing:bare, bare, 1]: 1
	@[uprobe:build/tests/landing:moves, moves, 0]: 1
	@[uprobe:build/tests/landing:moves, moves, 1]: 1
	@[uprobe:build/tests/landing:pushes, pushes, 0]: 1
	@[uprobe:build/tests/landing:pushes, pushes, 1]: 1

NAME returns behind landing pads
PROG uretprobe:build/tests/landing:pushes, uretprobe:build/tests/landing:moves, uretprobe:build/tests/landing:bare /pid == cpid/ { @[probe, retval] = count(); }
LOAD landing 2
NEEDS prog:landing
EXPECT
	$
	$
	@[uretprobe:build/tests/landing:bare, 3]: 1
	@[uretprobe:build/tests/landing:bare, 4]: 1
	@[uretprobe:build/tests/landing:moves, 2]: 1
	@[uretprobe:build/tests/landing:moves, 3]: 1
	@[uretprobe:build/tests/landing:pushes, 1]: 1
	@[uretprobe:build/tests/landing:pushes, 2]: 1

NAME the stack shows the function's start
PROG uprobe:build/tests/landing:pushes /pid == cpid/ { printf("%s", ustack(1)); }
LOAD landing 1 300
NEEDS prog:landing
EXPECT
	$
	        pushes+0
	$
	$
