/* Layout of C definitions, against the compiler's own: each text is compiled and parsed. */
#include "cparse/cdecl.h"
#include "cparse/cpp.h"
#include "test.h"

static struct arena mem;

struct probe {
	struct source src;
	struct diags ds;
	struct cpp cpp;
	struct cdecl d;
};

static const struct type *plain(void *arg, struct str name, enum type_kind kind)
{
	(void)arg;
	if (kind != T_NONE)
		return NULL;
	if (str_is(name, "u8") || str_is(name, "uint8_t"))
		return &type_u8;
	if (str_is(name, "u16"))
		return &type_u16;
	if (str_is(name, "u32"))
		return &type_u32;
	return str_is(name, "u64") ? &type_u64 : NULL;
}

static void parse(struct probe *p, const char *text, bool arm)
{
	*p = (struct probe){.src = {STR("test"), str_z(text)}};
	p->ds = (struct diags){.arena = &mem, .source = &p->src, .nsource = 1};
	cpp_init(&p->cpp, &mem, &p->ds);
	cdecl_init(&p->d, &mem, &p->ds);
	p->d.find = plain;
	p->d.unsigned_char = arm;
	p->d.bits_align = arm;
	cpp_feed(&p->cpp, p->src.text, (struct loc){0}, true);
	cdecl_parse(&p->d, cpp_end(&p->cpp));
	cdecl_finish(&p->d);
	for (const struct diag *e = p->ds.head; e; e = e->next)
		fprintf(stderr, "%s: %s\n", text, e->msg);
	CHECK(!p->ds.nerror);
}

static const struct type *get(struct probe *p, const char *name)
{
	struct str s = str_z(name);
	const char *tag = "struct ", *u = "union ", *e = "enum ";
	enum type_kind kind = T_NONE;
	if (str_starts(s, str_z(tag)))
		kind = T_STRUCT, s = str_from(s, 7);
	else if (str_starts(s, str_z(u)))
		kind = T_UNION, s = str_from(s, 6);
	else if (str_starts(s, str_z(e)))
		kind = T_ENUM, s = str_from(s, 5);
	const struct type *t = cdecl_type(&p->d, s, kind, false);
	CHECK(t);
	return t ? t : &type_error;
}

static u32 offset(struct probe *p, const char *type, const char *path)
{
	const struct type *t = get(p, type);
	struct str rest = str_z(path), name;
	u32 off = 0;
	while (str_cut(&rest, '.', &name)) {
		struct field f;
		if (!type_field(t, name, &f))
			return ~0u;
		off += f.bit_off / 8;
		t = f.type;
	}
	return off;
}

/* The definitions as code and as text. */
#define DEFINE(id, ...) \
	__VA_ARGS__;    \
	static const char text_##id[] = #__VA_ARGS__ ";"
#define SIZE(type)                                              \
	do {                                                    \
		CHECK(get(&p, #type)->size == sizeof(type));    \
		CHECK(get(&p, #type)->align == _Alignof(type)); \
	} while (0)
#define OFF(type, path) CHECK(offset(&p, #type, #path) == offsetof(type, path))

/* clang-format off */
DEFINE(a, struct a { char c; short s; char d; int i; char e; long l; char f; });
DEFINE(b, struct b { char c; long l; int i; } __attribute__((packed)));
DEFINE(c, struct __attribute__((packed, aligned(4))) c { char c; short s; long l; char d; });
DEFINE(d, struct d { char c; int i __attribute__((packed)); int j; char k __attribute__((aligned(8))); });
DEFINE(e, struct e { int a : 3; int b : 5; unsigned c : 20; int d : 10; char e; unsigned long f : 40; });
DEFINE(f, struct f { char a; int b : 4; int : 0; int c : 4; char d; short e : 9; int : 5; char g; });
DEFINE(g, struct g { int a : 7; int b : 30; int c : 5; long d : 33; } __attribute__((packed)));
DEFINE(h, union h { char c[7]; short s; struct { int x; char y; } in; });
DEFINE(i, struct i { char c; union { struct { short x; char y; }; long z; }; struct { int q; } named[3]; });
DEFINE(j, struct j { int n; char data[]; });
DEFINE(k, struct k { int (*fn)(struct k *self, const char *text, ...); void (*table[4])(void); char *names[2][3]; int (*rows)[5]; });
DEFINE(l, typedef struct { char c; double d; float f; long double q; _Bool b; } l_t);
DEFINE(m, enum m { M_A = 1, M_B = 5, M_C });
DEFINE(n, enum n { N_A = -1, N_B });
DEFINE(o, struct o { enum { O_A, O_B = 3 } e; enum m2 { O_C = 7 } f; char c[O_B * 2 + sizeof(int)]; });
DEFINE(q, struct q { struct { char c; } __attribute__((aligned(16))) x; char y; });
DEFINE(r, typedef int r_t __attribute__((aligned(2))); struct r { char c; r_t i; });
DEFINE(s, struct s { unsigned char a : 1; unsigned char b : 7; unsigned short c : 9; unsigned int d : 8; _Bool e : 1; });
DEFINE(t, struct t { char c; __int128 big; volatile const int *const p; });
DEFINE(u, struct u { struct v { short s; } v; struct v w[2]; long : 0; char last; });
DEFINE(w, enum __attribute__((packed)) w { W_A, W_B = 255 }; struct ww { enum w w; char c; });
DEFINE(x, struct x { long a : 40; int b : 20; int c; } ; union xx { int a : 5; long b : 33; char c; });
/* clang-format on */

TEST(cdecl_layout)
{
	struct probe p;
	parse(&p, text_a, false);
	SIZE(struct a);
	OFF(struct a, s);
	OFF(struct a, i);
	OFF(struct a, l);
	OFF(struct a, f);
	parse(&p, text_b, false);
	SIZE(struct b);
	OFF(struct b, l);
	OFF(struct b, i);
	parse(&p, text_c, false);
	SIZE(struct c);
	OFF(struct c, s);
	OFF(struct c, l);
	OFF(struct c, d);
	parse(&p, text_d, false);
	SIZE(struct d);
	OFF(struct d, i);
	OFF(struct d, j);
	OFF(struct d, k);
	parse(&p, text_h, false);
	SIZE(union h);
	OFF(union h, in.y);
	parse(&p, text_i, false);
	SIZE(struct i);
	OFF(struct i, y);
	OFF(struct i, z);
	OFF(struct i, named);
	parse(&p, text_j, false);
	SIZE(struct j);
	OFF(struct j, data);
	parse(&p, text_k, false);
	SIZE(struct k);
	OFF(struct k, table);
	OFF(struct k, names);
	OFF(struct k, rows);
	parse(&p, text_l, false);
	SIZE(l_t);
	OFF(l_t, d);
	OFF(l_t, f);
	OFF(l_t, q);
	OFF(l_t, b);
	parse(&p, text_q, false);
	SIZE(struct q);
	OFF(struct q, y);
	parse(&p, text_r, false);
	SIZE(struct r);
	OFF(struct r, i);
	parse(&p, text_t, false);
	SIZE(struct t);
	OFF(struct t, big);
	OFF(struct t, p);
	parse(&p, text_u, false);
	SIZE(struct u);
	SIZE(struct v);
	OFF(struct u, w);
	OFF(struct u, last);
	arena_free(&mem);
}

/* Sets all bits of the member but its sign, and finds them. */
#define ONES(type, member, width)                                            \
	do {                                                                 \
		union {                                                      \
			type t;                                              \
			u8 b[sizeof(type)];                                  \
		} v;                                                         \
		struct field fd;                                             \
		u32 first = 0, n = 0;                                        \
		memset(&v, 0, sizeof(v));                                    \
		v.t.member = (width) == 1 ? 1 : ((1ull << ((width)-1)) - 1); \
		for (u32 bit = sizeof(type) * 8; bit--;)                     \
			if (v.b[bit / 8] >> bit % 8 & 1)                     \
				first = bit, n++;                            \
		CHECK(n == ((width) == 1 ? 1u : (width)-1u));                \
		CHECK(type_field(get(&p, #type), STR(#member), &fd));        \
		CHECK(fd.bit_off == first);                                  \
		CHECK(fd.bit_len == (width));                                \
	} while (0)

TEST(cdecl_bits)
{
	struct probe p;
	parse(&p, text_e, false);
	SIZE(struct e);
	ONES(struct e, a, 3);
	ONES(struct e, b, 5);
	ONES(struct e, c, 20);
	ONES(struct e, d, 10);
	ONES(struct e, f, 40);
	OFF(struct e, e);
	parse(&p, text_f, false);
	SIZE(struct f);
	ONES(struct f, b, 4);
	ONES(struct f, c, 4);
	ONES(struct f, e, 9);
	OFF(struct f, d);
	OFF(struct f, g);
	parse(&p, text_g, false);
	SIZE(struct g);
	ONES(struct g, a, 7);
	ONES(struct g, b, 30);
	ONES(struct g, c, 5);
	ONES(struct g, d, 33);
	parse(&p, text_s, false);
	SIZE(struct s);
	ONES(struct s, b, 7);
	ONES(struct s, c, 9);
	ONES(struct s, d, 8);
	ONES(struct s, e, 1);
	parse(&p, text_x, false);
	SIZE(struct x);
	SIZE(union xx);
	ONES(struct x, b, 20);
	OFF(struct x, c);
	arena_free(&mem);
}

TEST(cdecl_enums)
{
	struct probe p;
	i64 v = 0;
	parse(&p, text_m, false);
	SIZE(enum m);
	CHECK(!get(&p, "enum m")->is_signed);
	CHECK(cdecl_enumerator(&p.d, STR("M_C"), false, &v, NULL) && v == M_C);
	parse(&p, text_n, false);
	SIZE(enum n);
	CHECK(get(&p, "enum n")->is_signed);
	CHECK(cdecl_enumerator(&p.d, STR("N_B"), false, &v, NULL) && v == N_B);
	CHECK(!cdecl_enumerator(&p.d, STR("N_B"), true, &v, NULL));
	parse(&p, text_o, false);
	SIZE(struct o);
	CHECK(cdecl_enumerator(&p.d, STR("O_C"), false, &v, NULL) && v == O_C);
	parse(&p, text_w, false);
	SIZE(enum w);
	SIZE(struct ww);
	parse(&p,
	      "enum big { B = 1ull << 40, C = B - 1, D = ~0u, E = (signed char)0x1ff, F = 'a' };",
	      false);
	CHECK(get(&p, "enum big")->size == 8);
	CHECK(cdecl_enumerator(&p.d, STR("C"), false, &v, NULL) && v == (1ll << 40) - 1);
	CHECK(cdecl_enumerator(&p.d, STR("D"), false, &v, NULL) && v == 0xffffffffll);
	CHECK(cdecl_enumerator(&p.d, STR("E"), false, &v, NULL) && v == -1);
	CHECK(cdecl_enumerator(&p.d, STR("F"), false, &v, NULL) && v == 'a');
	arena_free(&mem);
}

TEST(cdecl_arm)
{
	struct probe p;
	const char *text = "struct a { char c; int : 5; char d; }; struct b { char c; int : 0; };";
	parse(&p, text, false);
	CHECK(get(&p, "struct a")->align == 1 && get(&p, "struct b")->align == 1);
	CHECK(get(&p, "struct b")->size == 4);
	struct field f;
	CHECK(type_field(get(&p, "struct a"), STR("c"), &f) && f.type->is_signed);
	parse(&p, text, true);
	CHECK(get(&p, "struct a")->align == 4 && get(&p, "struct b")->align == 4);
	CHECK(type_field(get(&p, "struct a"), STR("c"), &f) && !f.type->is_signed);
	CHECK(f.type->is_char);
	arena_free(&mem);
}

TEST(cdecl_shows)
{
	struct probe p;
	AUTO_SB out = {0};
	parse(&p, text_k, false);
	type_show_def(get(&p, "struct k"), &out);
	CHECK_STR(out.s, "struct k {\n"
			 "\tint (*fn)(struct k *self, const char *text);\n"
			 "\tvoid (*table[4])(void);\n"
			 "\tchar *names[2][3];\n"
			 "\tint (*rows)[5];\n};");
	sb_clear(&out);
	parse(&p,
	      "#define N 2\n#define ARR(t, n) t n[N]\nextern int f(int);\nstatic inline int "
	      "g(void) { return 1; }\nint arr[N];\nstruct s { ARR(int, x); u8 b : N; };",
	      false);
	type_show_def(get(&p, "struct s"), &out);
	CHECK_STR(out.s, "struct s {\n\tint x[2];\n\tuint8 b: 2;\n};");
	arena_free(&mem);
}
