NAME arguments by name and type
PROG uprobe:build/tests/typed:visit { printf("%s %d %d %d,%d %d %d %d %d %s\n", str(args.what), args.n->id, args.c, args.pt.x, args.pt.y, args.s, args.uc, args.stacked, args.big.a[4], args.big.name); }
LOAD typed 2
EXPECT
	hello 1 5 11,22 -3 200 -77 5 bigname
	hello 1 5 11,22 -3 200 -77 5 bigname
	$
	$

NAME arguments of code that is not optimised
PROG uprobe:build/tests/typed0:visit { printf("%s %d %d %d,%d %d %d %d %d %s\n", str(args.what), args.n->id, args.c, args.pt.x, args.pt.y, args.s, args.uc, args.stacked, args.big.a[4], args.big.name); }
LOAD typed0 1
EXPECT
	hello 1 5 11,22 -3 200 -77 5 bigname
	$
	$

NAME members: bit-fields, arrays, unions, structs, pointers
PROG uprobe:build/tests/typed:visit { printf("%d %d %d %d %d %s %s\n", args.n->bits, args.n->more, args.n->arr[3], args.n->at.y, args.n->bytes[2], str(args.n->next->label), str(args.n->label)); }
LOAD typed 1
EXPECT
	31 511 6 6 3 second first
	$
	$

NAME enums by name, structs whole
PROG uprobe:build/tests/typed:visit { print(args.c); print(args.pt); print(args.n->next->at); @[args.c] = count(); }
LOAD typed 1
EXPECT
	GREEN
	{ .x = 11, .y = 22 }
	{ .x = 7, .y = 8 }
	$
	$
	@[GREEN]: 1

NAME arguments in a loop, a predicate and a map
PROG uprobe:build/tests/typed:find /args.id == 2/ { for ($i : 0..40) { @a[args.n->id] = sum($i); } @n = *args.n; $p = args.n->at; print($p.x); print(@n.id); clear(@n); }
LOAD typed 1
EXPECT
	5
	1
	$
	$
	@a[1]: 780

NAME registers stay what they are
PROG uprobe:build/tests/typed:make_point { printf("%d %d %d %d\n", arg0, arg1, args.a, args.b); print(sizeof(arg0)); }
LOAD typed 1
EXPECT
	3 4 3 4
	8
	$
	$

NAME the register of a result, beside what it is
PROG uretprobe:build/tests/typed:find { printf("%d %d\n", retreg == (uint64)retval, sizeof(retreg)); } uretprobe:build/tests/typed:floats { @ = count(); @word = (retreg >= 0); }
LOAD typed 1
EXPECT
	1 8
	$
	$
	@: 1
	@word: true

NAME beside floating point numbers
PROG uprobe:build/tests/typed:floats { printf("%d %d\n", args.k, args.j); }
LOAD typed 1
EXPECT
	1 3
	$
	$

NAME results by their types
PROG
	uretprobe:build/tests/typed:make_point { print(retval); print(retval.y); }
	uretprobe:build/tests/typed:find { printf("%s\n", str(retval->label)); }
	uretprobe:build/tests/typed:negative { print(retval); @[retval < 0] = count(); }
LOAD typed 1
EXPECT
	{ .x = 3, .y = 4 }
	4
	second
	-6
	$
	$
	@[true]: 1

NAME results larger than two registers, where functions say at which address they wrote them
PROG uretprobe:build/tests/typed:make_big { printf("%s %d\n", retval.name, retval.a[1]); $b = retval; print($b.a); }
LOAD typed 1
NEEDS x86_64
EXPECT
	bigresult 10
	[9,10,0,0,0]
	$
	$

NAME results larger than two registers, where they do not
PROG uretprobe:build/tests/typed:make_big { print(retval.a[1]); }
LOAD typed 1
NEEDS aarch64
RC 1
ERR
	stdin:1:46-52: ERROR: retval is written to an address that is not known at the return
	uretprobe:build/tests/typed:make_big { print(retval.a[1]); }
	                                             ~~~~~~

NAME parameters behind structs of floating point numbers, and of 16 bytes
PROG
	uprobe:build/tests/passed:after_three { print(args.next); }
	uprobe:build/tests/passed:after_unlike { print(args.next); }
	uprobe:build/tests/passed:after_both { print((args.b.i, args.next)); }
	uprobe:build/tests/passed:after_wide { print((args.first, args.w.v[0], args.next)); }
	uprobe:build/tests/passed:after_asked { print((args.first, args.a.b, args.next)); }
LOAD passed
EXPECT
	101
	102
	(77, 103)
	(1, 5, 104)
	(1, 7, 105)
	$
	$
NEEDS prog:passed

NAME parameters behind more than there are registers
PROG uprobe:build/tests/passed:many { print((args.i1, args.i6, args.i7, args.i8, args.i9, args.ninth)); } uprobe:build/tests/passed:split { print((args.t.b, args.t.c, args.i8, args.next)); }
LOAD passed
EXPECT
	(11, 16, 17, 18, 19, 9.5)
	(2, 3, 8, 106)
	$
	$
NEEDS prog:passed

NAME results of functions by a wildcard are registers
PROG uretprobe:build/tests/typed:negativ[e] { @wild = sum(sizeof((retval))); } uretprobe:build/tests/typed:negative { @one = sum(sizeof((retval))); }
LOAD typed 1
EXPECT
	$
	$
	@one: 4
	@wild: 8

NAME source line with its variables
PROG uprobe:build/tests/typed0@typed.c:47 { printf("%d %d %d %d %s\n", args.i, args.twice, args.local, args.calls, args.big.name); }
LOAD typed0 1
EXPECT
	0 0 2 41 bigname
	1 2 2 41 bigname
	$
	$

NAME source line with a folder, and a column
PROG uprobe:build/tests/typed0@progs/typed.c:47:9 { @ = count(); }
LOAD typed0 3
EXPECT
	$
	$
	@: 6

NAME line of an inlined function
PROG uprobe:build/tests/typed@typed.c:94 { @ = sum(args.w); }
LOAD typed 2
EXPECT
	$
	$
	@: 63

NAME addresses of a line
RUN "$SONDE" -l 'uprobe:build/tests/typed0@typed.c:47' | sed 's/0x[0-9a-f]*/ADDRESS/'
EXPECT
	uprobe:build/tests/typed0:ADDRESS

NAME list of arguments
RUN "$SONDE" -lv 'uprobe:build/tests/typed0:visit,uretprobe:build/tests/typed:find'
EXPECT
	uprobe:build/tests/typed0:visit
	    node_t * n
	    const char * what
	    enum color c
	    struct point pt
	    short int s
	    unsigned char uc
	    long int stacked
	    struct big big
	    double d (is in a floating point register, which the kernel does not show to probes)
	uretprobe:build/tests/typed:find
	    node_t * retval

NAME types of the program
PROG uprobe:build/tests/typed:hidden { $n = (struct node *)arg0; printf("%s %d %d\n", str($n->label), $n->next->id, sizeof(struct big)); print(((node_t *)arg0)->c); print((enum color)5); }
LOAD typed 1
EXPECT
	first 2 56
	RED
	GREEN
	$
	$

NAME stripped program with a separate file
RUN
	d=$(mktemp -d) && cp build/tests/typed0 $d/t && objcopy --only-keep-debug $d/t $d/t.debug &&
		objcopy --strip-all --add-gnu-debuglink=$d/t.debug $d/t &&
		"$SONDE" -e "uprobe:$d/t@typed.c:47 { print(args.local); } uprobe:$d/t:find { print(args.id); }" -c $d/t | grep .
	rm -r $d
EXPECT
	2
	2
	2

NAME compressed debug information
RUN d=$(mktemp -d) && objcopy --compress-debug-sections build/tests/typed $d/t && "$SONDE" -e "uprobe:$d/t:find { print(args.id); }" -c $d/t | grep .; rm -r $d
EXPECT
	2

NAME debug information that its program only leads to
RUN
	d=$(mktemp -d) && cp tests/progs/typed.c $d
	for o in -gdwarf-4 -gdwarf-5; do
		(cd $d && gcc -O1 $o -gsplit-dwarf typed.c -o t)
		"$SONDE" -q -e "uprobe:$d/t:find { print(args.n->at); exit(); }" -c $d/t | grep .
		rm $d/*.dwo
		"$SONDE" -e "uprobe:$d/t:find { print(args.n->at); }" 2>&1 | sed -n "/ERROR/{ s|$d|DIR|g; s/ at 0x.*//; s/.*known: //p; }"
	done
	rm -r $d
NEEDS file:/usr/bin/gcc fast
EXPECT
	{ .x = 5, .y = 6 }
	DIR/t has no debug information for the function
	{ .x = 5, .y = 6 }
	DIR/t has no debug information for the function

# As .dwo files, then in a package of each program that makes some (binutils' ends on version 5 with a crash).
NAME split debug information: files and packages, versions 4 and 5, two units, types with units of their own
RUN
	d=$(mktemp -d)
	look() {
		"$SONDE" -lv "uprobe:$d/t:first,uprobe:$d/t:paint,uprobe:$d/t:inner" | sed "s|$d|DIR|"
		"$SONDE" -q -e "config = { show_debug_info = 1 }
			uprobe:$d/t:first { print((args.p->where.y, args.h->deep, str(args.name, 2))); }
			uprobe:$d/t@one.c:13 { print(args.times > 40); }
			uprobe:$d/t:inner { print((args.p->b, args.k)); print(ustack(3)); }
			uprobe:$d/t@two.c:12 { print(args.twice); }
			uprobe:$d/t:paint { print(args.c); print(((struct hidden *)args.p)->deep); }" -c $d/t 2>&1 |
			sed 's|[^ ]*/||g; s/ *$//; /./!d' | sort
	}
	try() {
		rm -rf $d/*
		cp tests/progs/split/* $d
		(cd $d && "$@" -O1 -gsplit-dwarf -c one.c two.c && $1 one.o two.o -o t)
		look >$d/out
		(cd $d && llvm-dwp -e t -o llvm.pack && case $2 in *-4) dwp -e t -o binutils.pack ;; esac && rm *.dwo)
		for p in $d/*.pack; do
			cp $p $d/t.dwp && look | cmp $d/out - && basename $p
		done
		cp $d/out $d.out
	}
	{
		try clang -gdwarf-4 -fdebug-types-section
		try gcc -gdwarf-4 -fdebug-types-section
		try clang -gdwarf-5 -fdebug-types-section
		try gcc -gdwarf-5
		try gcc -gdwarf-5 -fdebug-types-section
	} | sort | uniq -c
	cat $d.out
	rm -r $d $d.out
NEEDS cmd:gcc cmd:clang cmd:dwp cmd:llvm-dwp fast
TIMEOUT 120
EXPECT
	      2 binutils.pack
	      5 llvm.pack
	uprobe:DIR/t:first
	    struct pair * p
	    struct hidden * h
	    const char * name
	uprobe:DIR/t:paint
	    struct pair * p
	    enum color c
	    int k
	uprobe:DIR/t:inner
	    struct pair * p
	    int k
	        one.c:20
	        two.c:12 [inlined]
	        two.c:17
	        two.c:6
	(2, 6)
	(4, 7, x)
	1
	6
	RED
	true

# Tables that do not fit the rest are refused at their place; lines, which are in the program, are known.
NAME damaged packages of split debug information
RUN
	d=$(mktemp -d) && cp tests/progs/split/* $d
	(cd $d && gcc -gdwarf-4 -O1 -gsplit-dwarf -c one.c two.c && gcc one.o two.o -o t && dwp -e t -o whole && rm *.dwo)
	f() {
		timeout 20 "$SONDE" -q -e "uprobe:$d/t:paint { print(args.k); exit(); }" -c $d/t >$d/out 2>&1
		[ $? -lt 124 ] || cat $d/out
		sed -n "s|$d|DIR|g; s/unit 0x[0-9a-f]*/unit ID/; s/bytes [0-9]* to [0-9]* of a section that has [0-9]*/bytes FROM to END of a section/
			s/ at 0x[0-9a-f]*//; s/.*has no debug information for //p; /^[0-9]/p" $d/out
	}
	# Bytes of the index: at, as printf has them.
	index() {
		cp $d/whole $d/t.dwp && objcopy -O binary --only-section=.debug_cu_index --set-section-flags .debug_cu_index=alloc $d/whole $d/index &&
			printf "$2" | dd of=$d/index bs=1 seek=$1 conv=notrunc 2>/dev/null && objcopy --update-section .debug_cu_index=$d/index $d/t.dwp && f
	}
	cp $d/whole $d/t.dwp && f
	index 0 '\003'
	index 4 '\377'
	index 8 '\020'
	index 12 '\003'
	index 12 '\0\0\020'
	index 144 "$(printf '\\011\\0\\0\\0%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)"
	index 228 "$(printf '\\377%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 $(seq 13 40))"
	echo nothing >$d/t.dwp && f
	objcopy --remove-section=.debug_cu_index --remove-section=.debug_tu_index $d/whole $d/t.dwp && f
	for n in 1 64 512 1500 2500 3500 4500; do
		head -c $n $d/whole >$d/t.dwp && f >/dev/null
		{ head -c $n $d/whole && printf '\377\377\377\177' && tail -c +$((n + 5)) $d/whole; } >$d/t.dwp && f >/dev/null
	done
	rm -r $d
NEEDS cmd:gcc cmd:dwp fast
TIMEOUT 60
EXPECT
	3
	the function: DIR/t.dwp: .debug_cu_index has version 3, which is not read
	the function: DIR/t.dwp: .debug_cu_index has 255 columns; there are at most 16
	the function: DIR/t.dwp: .debug_cu_index has 308 bytes; its 16 units and 16 slots need 868
	the function: DIR/t.dwp: .debug_cu_index has 3 slots for 2 units
	the function: DIR/t.dwp: .debug_cu_index has 308 bytes; its 2 units and 1048576 slots need 12583028
	the function: DIR/t.dwp: .debug_cu_index: unit ID is in row 9 of 2
	the function: DIR/t.dwp: .debug_cu_index: row 2, column 1: bytes FROM to END of a section
	the function: it is in two.dwo, which is not there
	the function: DIR/t.dwp: unit ID has another id: it was made for another program

NAME debug information shared by dwz
RUN
	d=$(mktemp -d) && cp build/tests/typed $d/a && cp build/tests/typed0 $d/b && dwz -m $d/c -M $d/c $d/a $d/b &&
		"$SONDE" -q -e "uprobe:$d/a:find { print(args.n->at); }" -c $d/a | grep . && rm $d/c &&
		"$SONDE" -e "uprobe:$d/a:find { print(args.n->at); }" 2>&1 | sed -n "/ERROR/{ s|$d|DIR|g; s/.*known: //p; }"
	rm -r $d
NEEDS file:/usr/bin/dwz
EXPECT
	{ .x = 5, .y = 6 }
	DIR/a: a part of its debug information is in DIR/c, which is not there

NAME C++: methods, references, bases, enumerators
PROG
	uprobe:build/tests/classes:cpp:shop::Cart::add { printf("%d %d %d %d %d %d\n", args.this->count, args.item->price, args.item->kind, args.item->sold, args.n, args.item->color == 200); }
	uprobe:build/tests/classes:cpp:*twice* { printf("%d %d\n", args.v, args.yes); }
LOAD classes
NEEDS prog:classes
EXPECT
	40 99 3 1 2 1
	5 1
	$
	$

NAME C++: classes that are passed and returned by address
PROG
	uprobe:build/tests/classes:cpp:shop::own { printf("%d %d %d\n", args.a, args.b.value, args.c); }
	uprobe:build/tests/classes:cpp:shop::hold { printf("%d %d\n", args.h.inner.value, args.k); }
	uretprobe:build/tests/classes:cpp:shop::own { print(retval.value); }
LOAD classes
NEEDS prog:classes
EXPECT
	1 5 9
	15
	17 2
	$
	$

NAME list of a method's arguments
RUN "$SONDE" -lv 'uprobe:build/tests/classes:cpp:shop::Cart::add' | grep -v :
NEEDS prog:classes
EXPECT
	    struct Cart *const this
	    const struct Item * item
	    int n

NAME what cannot be had
RUN "$SONDE" -e 'uprobe:build/tests/typed:floats { print(args.f); }
		uprobe:build/tests/passed:after_two { print(args.t.a); }
		uretprobe:build/tests/typed:floats { print(retval); }
		uprobe:build/tests/typed:find { print(args.nod); print(args.n->ide); }
		uretprobe:build/tests/typed:find { print(args.id); }
		uprobe:build/tests/typed:hidden { print(args.o->x); }' 2>&1 | sed -n '/ERROR/s/.*ERROR: //p'
EXPECT
	args.f is in a floating point register, which the kernel does not show to probes
	args.t is a struct with floating point members, which are in registers that the kernel does not show to probes
	retval is in a floating point register, which the kernel does not show to probes
	Struct/union of type 'struct uprobe_find_args' does not contain a field named 'nod'
	Struct/union of type 'struct node' does not contain a field named 'ide'
	this probe's arguments are not known: arguments are gone when a function returns; keep them in a map at its entry
	'struct opaque' is declared but not defined: its members are unknown

NAME structs of a number and a floating point number are in registers of both kinds
RUN "$SONDE" -e 'uprobe:build/tests/typed:halves { print(args.m.n); }' 2>&1 | sed -n '/ERROR/s/.*ERROR: //p'
NEEDS x86_64
EXPECT
	args.m is a struct with floating point members, which are in registers that the kernel does not show to probes

NAME structs of a number and a floating point number are in registers for numbers
PROG uprobe:build/tests/typed:halves { print((args.m.n, args.m.d)); }
LOAD typed 1
NEEDS aarch64
EXPECT
	(3, 4.5)
	$
	$

NAME lines that are not there
RUN
	for p in typed0@typed.c:3 typed0@nope.c:3 typed0@typed.c:47:2 typed0@typed.c: nope@typed.c:3
	do "$SONDE" -e "uprobe:build/tests/$p { }" 2>&1 | grep ERROR
	done
	"$SONDE" -e 'uretprobe:build/tests/typed@typed.c:47 { }' 2>&1 | grep ERROR
EXPECT
	stdin:1:1-36: ERROR: typed.c: no code at line 3; nearest lines with code: 41
	stdin:1:1-35: ERROR: build/tests/typed0: no source file 'nope.c' in its debug information
	stdin:1:1-39: ERROR: typed.c: no statement begins at column 2 of line 47
	stdin:1:1-35: ERROR: after @ come a source file, a line and perhaps a column: @file:line[:column]
	stdin:1:1-34: ERROR: uprobe target file 'build/tests/nope' does not exist or is not executable
	stdin:1:1-39: ERROR: a uretprobe fires when a function returns: it takes no source line

NAME args as a whole
RUN
	"$SONDE" -q -c build/tests/typed0 -e 'uprobe:build/tests/typed0:find { print(args); @[args.id] = args; } uprobe:build/tests/typed0:make_point { print(args); } uprobe:build/tests/typed0:negative { @n = args; }' |
		sed 's/0x[0-9a-f]*/ADDRESS/'
	"$SONDE" -e 'uprobe:build/tests/typed0:visit { print(args); }' 2>&1 | head -n 1
NEEDS prog:typed0
EXPECT
	{ .a = 3, .b = 4 }
	{ .n = ADDRESS, .id = 2 }
	$
	$
	@[2]: { .n = ADDRESS, .id = 2 }
	@n: { .n = 6 }
	stdin:1:41-45: ERROR: args.d is in a floating point register, which the kernel does not show to probes

NAME arguments of functions of which the compiler changed the signature
RUN
	for cc in gcc clang; do
		$cc -g -O2 -o $TMPDIR/app tests/progs/changed.c
		"$SONDE" -q -c $TMPDIR/app -e "uprobe:$TMPDIR/app:scaled* { printf(\"%d %d\n\", args.value, args.k); }" | sed '/^[0-9]*$/d'
		"$SONDE" -lv "uprobe:$TMPDIR/app:scaled*" | sed 1d
		"$SONDE" -e "uprobe:$TMPDIR/app:scaled* { print(args.unused); }" 2>&1 | grep -o 'ERROR.*'
	done
NEEDS cmd:gcc cmd:clang x86_64 fast
EXPECT
	100 7
	101 7
	102 7
	    int unused (is optimised out there)
	    const char * tag (is optimised out there (a pointer to something that has no address))
	    int value
	    int k
	ERROR: args.unused is optimised out there
	100 7
	101 7
	102 7
	    int unused (is optimised out there)
	    const char * tag (is optimised out there)
	    int value
	    int k
	ERROR: args.unused is optimised out there

NAME arguments that Rust functions take by value: pairs, structs in memory, enums with data
RUN
	cat >$TMPDIR/app.rs <<-'END'
		use std::hint::black_box;
		pub struct Pair { a: u32, b: u32 }
		pub struct Three { a: u32, b: u32, c: u32 }
		pub struct Tiny { a: u8, b: u8, c: u8 }
		pub enum Shape { Empty, Square(u32), Line { from: u64, to: u64 } }
		#[inline(never)]
		fn take(p: Pair, t: (u8, i64), o: Option<u32>, w: &str, s: Shape, h: Three, y: Tiny, f: f64) -> u64 {
			let n = match &s { Shape::Line { from, to } => from + to, Shape::Square(n) => *n as u64, Shape::Empty => 0 };
			black_box((&p.a, &p.b, &t, &o, &w, &h.a, &h.b, &h.c, &y.a, &y.b, &y.c, &f));
			n
		}
		fn main() {
			for i in 1..3 {
				let s = Shape::Line { from: i, to: i + 1 };
				let y = Tiny { a: 7, b: i as u8, c: 9 };
				let h = Three { a: 1, b: 2, c: i as u32 };
				black_box(take(Pair { a: i as u32, b: 30 }, (40, i as i64 - 50), Some(60), "word", s, h, y, 1.5));
			}
		}
	END
	rustc -A warnings -g -o $TMPDIR/app $TMPDIR/app.rs
	"$SONDE" -q -c $TMPDIR/app -e "uprobe:$TMPDIR/app:rust:app::take {
		print((args.p, args.t, args.o.Some, str(args.w.data_ptr, args.w.length + 1), args.s.Line, args.h, args.y)); }" |
		sed '/^$/d'
	"$SONDE" -lv "uprobe:$TMPDIR/app:rust:app::take" | grep ' f '
NEEDS cmd:rustc x86_64 fast
EXPECT
	({ .a = 1, .b = 30 }, { .__0 = 40, .__1 = -49 }, { .__0 = 60 }, word, { .from = 1, .to = 2 }, { .a = 1, .b = 2, .c = 1 }, { .a = 7, .b = 1, .c = 9 })
	({ .a = 2, .b = 30 }, { .__0 = 40, .__1 = -48 }, { .__0 = 60 }, word, { .from = 2, .to = 3 }, { .a = 1, .b = 2, .c = 2 }, { .a = 7, .b = 2, .c = 9 })
	    f64 f (is in a floating point register, which the kernel does not show to probes)

NAME arguments of a local function of clang that takes their addresses: where its first instructions put them
RUN
	cat >$TMPDIR/app.c <<-'END'
		struct mixed { char c; long l; };
		void (*volatile use)(void *);
		static void nothing(void *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
		static __attribute__((noinline)) int f(int unused, struct mixed m, short s)
		{
			use(&m);
			use(&s);
			return 0;
		}
		int main(int n, char **v)
		{
			use = nothing;
			for (int i = 0; i < 2; i++)
				f(i, (struct mixed){(char)(i + 3), i - 5L}, (short)(i - 7));
			return v == 0;
		}
	END
	for level in 0 1 2; do
		clang -g -O$level -o $TMPDIR/app $TMPDIR/app.c
		"$SONDE" -q -c $TMPDIR/app -e "uprobe:$TMPDIR/app:f { print((args.m.c, args.m.l, args.s)); }" | sed '/^$/d'
	done
NEEDS cmd:clang x86_64 fast
EXPECT
	(3, -5, -7)
	(4, -4, -6)
	(3, -5, -7)
	(4, -4, -6)
	(3, -5, -7)
	(4, -4, -6)

NAME results of functions of which gcc changed the signature
RUN
	cat >$TMPDIR/isra.c <<-'END'
		struct s { int a, b; };
		static __attribute__((noinline)) int f(struct s *p, int z)
		{
			int v = p->b + z;
			__asm__ volatile("" ::"r"(v));
			return v;
		}
		int main(int n, char **v)
		{
			struct s a = {n, n + 1};
			for (int i = 0; i < 3; i++)
				f(&a, i + n);
			return v == 0;
		}
	END
	gcc -g -O2 -o $TMPDIR/app $TMPDIR/isra.c
	"$SONDE" -e "uretprobe:$TMPDIR/app:f.isra.0 { print(retval); }" 2>&1 | grep -o 'ERROR.*'
NEEDS cmd:gcc x86_64 fast
EXPECT
	ERROR: retval may be optimised out: the compiler changed how this function is called

NAME signed bit-fields, also one of a packed struct in nine bytes
PROG
	uprobe:build/tests/signs:bits {
		$o = args.p; $in = $o->in;
		print(($o->in.a, $o->in.c, $o->in.y, $o->in.d, $o->in.e, $o->in.u, $o->in.s, $o->z)); print($o->in); print($in.s);
		@[$o->in.a, $o->in.c] = min($o->in.d); print((args.k->a, args.k->b, args.k->c)); print(*args.k);
	}
LOAD signs
EXPECT
	(-2, RED, 1, -123456789, -7, 91625968981, -200, -1)
	{ .a = -2, .c = RED, .y = 1, .d = -123456789, .e = -7, .u = 91625968981, .s = -200 }
	-200
	(100, -1234567890123456789, -3)
	{ .a = 100, .b = -1234567890123456789, .c = -3 }
	$
	$
	@[-2, RED]: -123456789

NAME results below 0: compared, printed, sorted, in a histogram
PROG
	uretprobe:build/tests/signs:int_below, uretprobe:build/tests/signs:long_below {
		if (retval < 0 && retval > -3 && retval != -2) { print((func, retval)); }
		@[retval] = count(); @h = hist(retval); @m = min(retval); @s = sum(retval);
	}
LOAD signs 3
EXPECT
	(int_below, -1)
	(long_below, -1)
	$
	$
	@[-3]: 2
	@[-2]: 2
	@[-1]: 2
	@h:
	(..., 0)               6 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
	$
	@m: -3
	@s: -12
