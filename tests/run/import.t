# Functions in C. The files are made in the case's own folder, which nobody else may write.

NAME C functions: integers, pointers, text, enumerators
NEEDS file:/usr/bin/clang
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && cat >m.bpf.c <<'X' && "$SONDE" -q -e 'import "m.bpf.c"; begin { print(addtwo(5)); print(addtwo((uint64)0x100000003)); print(third("abc")); print(neg()); print(color(1)); print((schar(200), uint(-1), big(5), big(3))); print(all(1, 2, 3, 4, 5)); nothing(); exit(); }'
	int addtwo(int a) { return a + 2; }
	char third(char *s) { s[0] = 'x'; return s[2]; }
	long neg(void) { return -5; }
	enum color { RED, GREEN };
	enum color color(int a) { return a; }
	signed char schar(int a) { return a; }
	unsigned uint(unsigned a) { return a; }
	_Bool big(int a) { return a > 3; }
	long all(long a, int b, short c, unsigned char d, unsigned long e)
	{
		return a + 10 * b + 100 * c + 1000 * d + 10000 * e;
	}
	void nothing(void) { }
	X
EXPECT
	7
	5
	99
	-5
	GREEN
	(-56, 4294967295, true, false)
	54321
	$
	$

NAME C functions that call each other and helpers, in several programs, loops and functions
NEEDS file:/usr/bin/clang
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && cat >m.bpf.c <<'X' && "$SONDE" -q -e 'import "m.bpf.c"; fn both($a : int64) : int64 { return cube($a) + cube($a + 1); } begin { for $i : 1..3 { print(cube($i)); } print(both(2)); print(sum(5) - sum(4)); } interval:ms:10 /is_big(cube(1))/ { print(cube(2)); } interval:ms:20 /is_big(cube(2))/ { print(cube(3)); exit(); }'
	static long (*current)(void) = (void *)14;
	static __attribute__((noinline)) long square(long a) { return a * a; }
	long cube(long a) { return square(a) * a; }
	long sum(long n) { long s = 0; for (int i = 0; i < 8 && i < n; i++) s += square(i); return s; }
	int is_big(long a) { return a > 7 && current() != -1; }
	X
EXPECT
	1
	8
	35
	16
	27
	$
	$

NAME C functions: structs of the kernel, and of the file itself
NEEDS file:/usr/bin/clang btf
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && cat >m.bpf.c <<'X' && "$SONDE" -q -e 'import "m.bpf.c"; begin { print(same(curtask).pid == tid); $p = pair(curtask); print(offsetof(struct task_struct, pid) > 0); print(pair(0).b); exit(); }'
	struct task_struct;
	struct pair { int a, b; };
	struct task_struct *same(struct task_struct *t) { return t; }
	struct pair *pair(void *t) { return t; }
	X
EXPECT
	true
	true
	0
	$
	$
ERR_RE
	...

NAME C functions: what cannot be called, and how
NEEDS file:/usr/bin/clang
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && cat >m.bpf.c <<'X' && "$SONDE" -e 'import "m.bpf.c"; begin { print(sq(5)); print(f()); print(f("a")); print(g(1)); }'
	struct s { int v[5]; };
	static __attribute__((noinline)) int sq(int x) { return x * x; }
	int f(int a) { return sq(a) + sq(a + 1); }
	int g(struct s s) { return s.v[0]; }
	X
RC 1
ERR
	stdin:1:33-38: ERROR: Unknown function: 'sq'
	import "m.bpf.c"; begin { print(sq(5)); print(f()); print(f("a")); print(g(1)); }
	                                ~~~~~
	HINT: in m.bpf.c it is static, so clang may have adapted it to its callers there; take `static` away
	stdin:1:47-50: ERROR: f() requires 1 argument (0 provided)
	import "m.bpf.c"; begin { print(sq(5)); print(f()); print(f("a")); print(g(1)); }
	                                              ~~~
	stdin:1:61-64: ERROR: Parameter a of f() is declared as 'int32', found 'string[2]'
	import "m.bpf.c"; begin { print(sq(5)); print(f()); print(f("a")); print(g(1)); }
	                                                            ~~~
	stdin:1:74-78: ERROR: g() cannot be called from a script: parameter s has the type 'struct s'
	import "m.bpf.c"; begin { print(sq(5)); print(f()); print(f("a")); print(g(1)); }
	                                                                         ~~~~

NAME C functions: what clang says
NEEDS file:/usr/bin/clang
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && printf 'int f(int a)\n{\n\treturn a + b;\n}\n' >m.bpf.c && "$SONDE" -e 'import "m.bpf.c"; begin { print(f(1)); }'
RC 1
ERR_RE
	stdin:1:1-17: ERROR: m.bpf.c: clang could not compile it
	import "m.bpf.c"; begin .*
	~+
	m.bpf.c:3:13-14: ERROR: use of undeclared identifier 'b'
	 +return a \+ b;
	 +~

NAME C functions: the verifier's report points at the line in C
NEEDS file:/usr/bin/clang
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && printf 'int f(char *a)\n{\n\treturn a[3];\n}\n' >m.bpf.c && "$SONDE" -e 'import "m.bpf.c"; begin { print(f(1)); }'
RC 255
ERR_RE
	m.bpf.c:3:[0-9]+-[0-9]+: ERROR: .*
	    return a\[3\];
	 +~
	HINT: -v shows the kernel's log

NAME C functions: variables, constants and maps, shared by all probes
NEEDS file:/usr/bin/clang
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && cat >m.bpf.c <<'X' && "$SONDE" -q -e 'import "m.bpf.c"; begin { print((f(0), f(3))); bump(60); print((f(1), ncalls())); print((note(7), note(7), note(8), note(7))); } interval:ms:10 { print((note(7), f(2), ncalls())); exit(); }'
	typedef unsigned int u32;
	typedef unsigned long long u64;
	#define SEC(name) __attribute__((section(name)))
	#define __uint(name, val) int (*name)[val]
	#define __type(name, val) typeof(val) *name
	static void *(*look)(void *, const void *) = (void *)1;
	static long (*update)(void *, const void *, const void *, u64) = (void *)2;
	struct {
		__uint(type, 1);
		__uint(max_entries, 16);
		__type(key, u32);
		__type(value, u64);
	} seen SEC(".maps");
	int calls;
	static int base = 40;
	static const int table[] = {1, 5, 3, 8, 9, 2, 7, 4};
	int f(int a) { calls++; return table[a & 7] + base; }
	void bump(int n) { base += n; }
	int ncalls(void) { return calls; }
	u64 note(u32 k)
	{
		u64 one = 1, *v = look(&seen, &k);
		if (v)
			return ++*v;
		update(&seen, &k, &one, 0);
		return 1;
	}
	X
EXPECT
	(41, 48)
	(105, 3)
	(1, 2, 1, 3)
	(4, 103, 4)
	$
	$

NAME C functions: functions of the kernel
NEEDS file:/usr/bin/clang btf sym:bpf_rcu_read_lock
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && cat >m.bpf.c <<'X' && "$SONDE" -q -e 'import "m.bpf.c"; interval:ms:10 { print(plus(1)); exit(); }'
	extern void bpf_rcu_read_lock(void) __attribute__((section(".ksyms")));
	extern void bpf_rcu_read_unlock(void) __attribute__((section(".ksyms")));
	int plus(int a)
	{
		bpf_rcu_read_lock();
		a++;
		bpf_rcu_read_unlock();
		return a;
	}
	X
EXPECT
	2
	$
	$

NAME C functions: CO-RE, members found by name in this kernel
NEEDS file:/usr/bin/clang btf
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && cat >m.bpf.c <<'X' && "$SONDE" -q -e 'import "m.bpf.c"; begin { print((pid_of(curtask) == tid, parent_of(curtask) == ppid, has(), hash(), nope(), letter(curtask), bit())); exit(); }'; "$SONDE" -e 'import "m.bpf.c"; begin { print(bad(curtask)); }'
	#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
	struct task_struct {
		int fake, pid, tgid;
		char comm[16];
		struct task_struct *real_parent;
		unsigned in_iowait : 1;
	};
	struct task_struct___other { int no_such_member; };
	enum bpf_map_type { BPF_MAP_TYPE_HASH = 77, BPF_MAP_TYPE_NOPE = 78 };
	#pragma clang attribute pop
	static long (*rd)(void *, int, const void *) = (void *)113;
	int pid_of(struct task_struct *t) { int p; rd(&p, 4, &t->pid); return p; }
	int parent_of(struct task_struct *t)
	{
		struct task_struct *r;
		int p;
		rd(&r, 8, &t->real_parent);
		rd(&p, 4, &r->tgid);
		return p;
	}
	#define info(s, m, what) __builtin_preserve_field_info(((struct s *)0)->m, what)
	int has(void) { return info(task_struct, comm, 2) * 10 + info(task_struct___other, no_such_member, 2); }
	int bit(void) { return info(task_struct, in_iowait, 5); }
	int letter(struct task_struct *t) { char c; rd(&c, 1, &t->comm[3]); return c; }
	int hash(void) { return __builtin_preserve_enum_value(*(enum bpf_map_type *)BPF_MAP_TYPE_HASH, 1); }
	int nope(void) { return __builtin_preserve_enum_value(*(enum bpf_map_type *)BPF_MAP_TYPE_NOPE, 0); }
	int bad(struct task_struct___other *t) { int x; rd(&x, 4, &t->no_such_member); return x; }
	X
RC 255
EXPECT
	(true, true, 10, 1, 0, 100, 63)
	$
	$
ERR
	m.bpf.c:27:1-2: ERROR: the C code uses a member, type or enumerator that this kernel does not have
	int bad(struct task_struct___other *t) { int x; rd(&x, 4, &t->no_such_member); return x; }
	~
	HINT: -v shows the kernel's log

NAME C functions: what an object may not hold
NEEDS fast file:/usr/bin/clang
TIMEOUT 30
RUN umask 022; cd "$TMPDIR"; try() { printf '%s\n' "$1" >m.bpf.c; "$SONDE" -e 'import "m.bpf.c"; begin { exit(); }' 2>&1 | sed -n '1s/.*ERROR: //p'; }
	try 'int f(int a) { static const char *const t[] = {"a", "b", "c", "d", "e", "f"}; return t[a & 3][0]; }'
	try 'int kf(int a); int f(int a) { return kf(a); }'
	try 'extern int jiffies; int f(int a) { return jiffies; }'
	try '__attribute__((section("kprobe/x"))) int p(void *c) { return 0; }'
	try '__attribute__((section(".maps"))) struct { int (*key)[1]; } m; int f(void) { return 1; }'
	try '__attribute__((section(".maps"))) struct { int (*type)[12]; void *values[1]; } m; int f(void) { return 1; }'
	try 'char big[2000000]; int f(int a) { return big[a & 7]++; }'
	try '__attribute__((noinline)) int f(int a) { volatile int x = a; return x ? f(x - 1) * 3 + 1 : 0; }'
	try ''
EXPECT
	m.bpf.c: its data (section .rodata) holds addresses, which cannot be imported
	m.bpf.c: the kernel has no function kf()
	m.bpf.c: f() uses jiffies, which is not in the file: variables of the kernel or of other files cannot be imported
	m.bpf.c: p() is in section kprobe/x: only functions without a section of their own can be imported
	m.bpf.c: map m has no type
	m.bpf.c: map m: values is not understood
	m.bpf.c: section .bss has 2000000 bytes (limit 1048576)
	m.bpf.c: f() calls itself, which BPF programs cannot do
	m.bpf.c: it contains no function

NAME C functions: names that are defined twice
NEEDS file:/usr/bin/clang
TIMEOUT 30
RUN
	umask 022
	cd "$TMPDIR" && echo 'int f(int a) { return 1; }' >m.bpf.c && cp m.bpf.c n.bpf.c &&
		"$SONDE" -e 'import "m.bpf.c"; import "n.bpf.c"; fn f($a : int32) : int32 { return 2; } begin { exit(); }' 2>&1 |
		grep ERROR
EXPECT
	stdin:1:19-35: ERROR: f() is defined in m.bpf.c, too
	stdin:1:37-75: ERROR: f() is defined in n.bpf.c, too

NAME C functions: without clang
RUN umask 022; cd "$TMPDIR" && echo 'int f(int a) { return 1; }' >m.bpf.c && env PATH=/nonexistent "$SONDE" -e 'import "m.bpf.c"; begin { exit(); }'
RC 1
ERR
	stdin:1:1-17: ERROR: m.bpf.c: clang is needed to compile it
	import "m.bpf.c"; begin { exit(); }
	~~~~~~~~~~~~~~~~
	HINT: install clang, or write the functions as macros or `fn` in a .bt file

NAME C functions: nothing is left in the temporary folder
NEEDS file:/usr/bin/clang
TIMEOUT 30
RUN umask 022; cd "$TMPDIR" && mkdir t && echo 'int f(int a) { return 1; }' >m.bpf.c && TMPDIR=$PWD/t "$SONDE" -q -e 'import "m.bpf.c"; begin { print(f(1)); exit(); }' && ls -A t
EXPECT
	1
	$
	$

NAME parts of bpftrace's library are always there
RUN
	for i in stdlib stdlib/strings stdlib/strings/strings.bpf.c stdlib/strings/errors.h stdlib/task
	do "$SONDE" -q -e "import \"$i\"; begin { print(strerror(2)); }" 2>&1 | grep .
	done
	for i in stdlib/nope stdlib/str
	do "$SONDE" -e "import \"$i\"; begin { }" 2>&1 | grep -o 'ERROR.*'
	done
EXPECT
	No such file or directory
	No such file or directory
	No such file or directory
	No such file or directory
	No such file or directory
	ERROR: Unable to find suitable path for import
	ERROR: Unable to find suitable path for import

NAME imports within bodies
RUN
	cd $TMPDIR && echo 'macro seven() { 7 } begin { print("imported"); }' > m.bt &&
		"$SONDE" -q -e 'begin { import "stdlib/strings/strings.bpf.c"; if (pid) { import "m.bt"; print(seven()); } }' 2>&1 |
		grep .
	"$SONDE" -e 'begin { import "nope.bt"; }' 2>&1 | grep -o 'ERROR.*'
EXPECT
	7
	imported
	ERROR: Unable to find suitable path for import

NAME scripts that import each other, and themselves
RUN
	cd "$TMPDIR" && chmod 755 . && echo 'import "ring-b.bt"; macro a() { 1 } begin { print("a"); }' > ring-a.bt &&
		echo 'import "ring-a.bt"; import "ring-b.bt"; begin { print(("b", a())); }' > ring-b.bt && chmod 644 ring-?.bt &&
		for f in ring-a.bt ./ring-b.bt
	do "$SONDE" -q $f | grep .
	done
EXPECT
	(b, 1)
	a
	a
	(b, 1)

NAME a script with the mark of UTF-8 and line ends of Windows
RUN cd "$TMPDIR" && printf '\357\273\277#!/usr/bin/env sonde\r\n#define SUM(a, b) \\\r\n  ((a) + \\\r\n  (b))\r\n// one\r\nbegin {\r\n  print(SUM(5, 6));\r\n}' > dos.bt && "$SONDE" -q dos.bt | grep .
EXPECT 11
