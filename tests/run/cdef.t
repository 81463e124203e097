# C definitions of a script, over the name of its own task: "sonde".

NAME structs and bit-fields
PROG #define AT(t) ((struct t *)((uint64)curtask + offsetof(struct task_struct, comm)))
	struct bits { unsigned a : 4, b : 4; u8 c; u16 d; } __attribute__((packed));
	struct nested { struct { u8 first; union { u8 second; char other; } u; } in[2]; u8 end; };
	enum letter { S = 115, O = 111 };
	BEGIN { $b = AT(bits); print(($b.a, $b.b, $b.c)); print((enum letter)AT(nested).in[0].first); print(AT(nested).in[1].u.second); print(AT(nested).end); }
EXPECT
	(3, 7, 111)
	S
	100
	101
	$
	$

NAME pointers in a struct of the script
PROG struct mine { struct task_struct *self; };
	struct task { int ignored; };
	#define PARENT(t) (t)->real_parent
	BEGIN { $t = (struct task_struct *)curtask; print(PARENT(PARENT($t))->tgid == $t->real_parent->real_parent->tgid); }
EXPECT
	true
	$
	$

NAME macros and enumerators
PROG #define ADD(a, b) ((a) + (b))
	#define GREETING "hello"
	#define SAY(f, ...) printf(f "\n", ##__VA_ARGS__);
	enum { FIRST = 40, SECOND };
	BEGIN { print(ADD(FIRST, 2)); print(GREETING); print(SECOND); print(AF_INET6); }
EXPECT
	42
	hello
	SECOND
	10
	$
	$

NAME signed bit-fields have their sign: alone, in a whole struct, a copy, keys, aggregations and comparisons
PROG
	enum colour { RED = -1, BLUE = 1 };
	struct bits_t { int a : 3; enum colour c : 3; unsigned u : 3; _Bool y : 1; long long d : 40; short s : 9; };
	begin {
		$x = (uint64)0x4e3ffe290cbaf7e; $p = (struct bits_t *)&$x; $s = *$p;
		print(($p->a, $p->c, $p->u, $p->y, $p->d, $p->s)); print(($s.a, $s.c, $s.u, $s.y, $s.d, $s.s)); print(*$p);
		print(($p->a < 0, $p->a == -2, $s.s < -100, $p->d / 2, $p->c == RED));
		@k[$p->a, $p->c] = min($p->d); @m = *$p; print(@m.s); clear(@m); printf("%d %ld %d\n", $p->a, $p->d, $s.s);
	}
ARGS -q
EXPECT
	(-2, RED, 5, 1, -123456789, -200)
	(-2, RED, 5, 1, -123456789, -200)
	{ .a = -2, .c = RED, .u = 5, .y = 1, .d = -123456789, .s = -200 }
	(true, true, true, -61728394, true)
	-200
	-2 -123456789 -200
	$
	$
	@k[-2, RED]: -123456789

NAME an array of char has all its bytes
RUN
	"$SONDE" -q -c '/bin/echo hello123456' -e 'struct F { char s[5]; char m[6]; }; tracepoint:syscalls:sys_enter_write /pid == cpid/ { $f = (struct F *)args.buf; print($f->s); printf("%s|\n", $f->s); print(buf($f->s)); print(macaddr($f->m)); print(buf($f->m, 6)); $x = $f->s; print($x); print((1, $f->s)); print(*$f); printf("%d %d %d %d %d\n", $f->s == "hello", $f->s == "hell", $f->s == str($f->s, 6), strlen($f->s), sizeof($f->s)); $g = *$f; print($g.s); @[$f->s] = count(); @v = $f->m; }' |
		grep -vx hello123456
NEEDS tp:syscalls/sys_enter_write
EXPECT
	hello
	hello|
	hello
	31:32:33:34:35:36
	123456
	hello
	(1, hello)
	{ .s = hello, .m = 123456 }
	1 0 1 5 5
	hello
	$
	$
	@[hello]: 1
	@v: 123456

NAME headers on paths that the environment names
RUN
	cd $TMPDIR && mkdir -p p q k/include/linux k/arch/x86/include/asm k/arch/arm64/include/asm &&
		echo '#define FROM_PATH 11' > q/path.h && echo '#define FROM_KERNEL 22' > k/include/linux/mine.h &&
		echo '#define FROM_ARCH 33' | tee k/arch/x86/include/asm/mine.h > k/arch/arm64/include/asm/mine.h
	CPATH=$PWD/p:$PWD/q BPFTRACE_KERNEL_SOURCE=/nope BPFTRACE_KERNEL_BUILD=$PWD/k "$SONDE" -q -e '#include <path.h>
	#include <linux/mine.h>
	#include <asm/mine.h>
	begin { print((FROM_PATH, FROM_KERNEL, FROM_ARCH)); }' 2>&1 | grep .; BPFTRACE_KERNEL_SOURCE=$PWD/k "$SONDE" -q -e '#include <linux/mine.h>
	begin { print(FROM_KERNEL); }' 2>&1 | grep .
EXPECT
	(11, 22, 33)
	22

NAME a file of the kernel's symbols for offsets
RUN BPFTRACE_VMLINUX=build/tests/calls "$SONDE" -l -e 'kprobe:target+5000 { }' 2>&1 | grep -o "ERROR: Offset outside the function bounds ('target'"
NEEDS prog:calls
EXPECT
	ERROR: Offset outside the function bounds ('target'

NAME a full array of char is a whole text for str(), and what is packed may lie anywhere
RUN
	"$SONDE" -q -c '/bin/echo hello123456' -e 'struct F { char s[5]; int f; char g; long i : 10; }
		__attribute__((packed)); tracepoint:syscalls:sys_enter_write /pid == cpid/ { $f = (struct F *)args.buf; $g = *$f; print((str($f->s), str($g.s), str($f->s, 5), str($g.s, 3), str($g.s, 6))); printf("%x %x %x\n", $g.f, $g.g, $g.i); @s[str($f->s)] = 1; }' |
		grep -vx hello123456
NEEDS tp:syscalls/sys_enter_write
EXPECT
	(hello, hello, hell, he, hello)
	34333231 35 fffffe36
	$
	$
	@s[hello]: 1

NAME a bit-field of a packed struct that reaches into a fifth byte
PROG
	struct t { unsigned int d : 5; int f : 30; }
	__attribute__((packed)); begin { $p = (struct t *)((uint64)curtask.nsproxy.uts_ns + offsetof(struct uts_namespace, name)); $s = *$p; print(($p->d, $p->f, $s.f)); }
ARGS -q
NEEDS btf
EXPECT
	(12, 61567818, 61567818)
	$
	$
