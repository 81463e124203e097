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

NAME signed bit-fields are read without their sign, alone and in a whole struct
PROG struct bits_t { int a : 5; int b : 7; }; BEGIN { $p = (struct bits_t *)kaddr("vfs_read"); $s = *$p; printf("%d %s\n", $p->a >= 0 && $s.a == $p->a && $s.b == $p->b, $p->a == $s.a ? "same" : "other"); printf("%s\n", *$p); }
NEEDS sym:vfs_read
EXPECT_RE
	1 same
	\{ \.a = [0-9]+, \.b = [0-9]+ \}
	$
	$
