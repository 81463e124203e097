#include "base/vec.h"
#include "sym/gopcln.h"
#include "test.h"

/* A table of three functions, as each of Go's linkers would lay it out. */
enum { NFUNC = 3, TEXT = 0x401000, INFO = 48, FLAGS = 1 };
static const struct {
	const char *name;
	u32 at;
} funcs[NFUNC + 1] = {
	{"runtime.text", 0}, {"main.(*T).Get", 0x40}, {"main.main", 0x58}, {NULL, 0x90}};

/* What the stack pointer moved by (doubled; odd: up), in how many bytes of code; 0 ends it. */
static const u8 moves[] = {2, 4, 0x80 | 0x30, 1, 0x80 | 4, 1, 1 + 0x2e, 8, 0, 1};

struct table {
	u8 p[640];
	size_t n;
};

static void put(struct table *t, size_t at, u64 v, u32 size)
{
	assert(at + size <= sizeof(t->p));
	memcpy(t->p + at, &v, size);
	t->n = MAX(t->n, at + size);
}

static void build(struct table *t, u8 magic, u32 word, u64 said)
{
	bool old = magic == 0xfb, rel = magic < 0xfa;
	u32 entry = rel ? 4 : word, first = old ? 8 + word : 8 + (rel ? 8 : 7) * word;
	size_t names = old ? 0 : first, funcs_at = old ? first : names + 64;
	size_t infos = funcs_at + (NFUNC * 2 + 1) * entry + 4, text = infos + NFUNC * INFO;
	size_t pcs = old ? 0 : text, pc_table = text + 64;
	*t = (struct table){0};
	put(t, 0, 0xffffff00u | magic, 4);
	put(t, 6, 1, 1);
	put(t, 7, word, 1);
	put(t, 8, NFUNC, word);
	if (!old) {
		u32 at = 8 + 2 * word;
		if (rel) {
			put(t, at, said, word);
			at += word;
		}
		put(t, at, names, word);
		put(t, at + 3 * word, pcs, word);
		put(t, at + 4 * word, funcs_at, word);
	}
	u64 add = rel ? 0 : TEXT, base = old ? 0 : funcs_at;
	size_t next = old ? text : names;
	for (u32 i = 0; i <= NFUNC; i++) {
		put(t, funcs_at + i * 2 * entry, funcs[i].at + add, entry);
		if (i == NFUNC)
			break;
		size_t info = infos + i * INFO;
		put(t, funcs_at + (i * 2 + 1) * entry, info - base, entry);
		put(t, info, funcs[i].at + add, entry);
		put(t, info + entry, next - names, 4);
		put(t, info + entry + 12, pc_table - pcs, 4);
		if (!old)
			put(t, info + entry + (magic == 0xf1 ? 37 : 33), FLAGS, 1);
		for (const char *c = funcs[i].name; *c; c++)
			put(t, next++, (u8)*c, 1);
		put(t, next++, 0, 1);
	}
	for (u32 i = 0; i < sizeof(moves); i++)
		put(t, pc_table + i, moves[i], 1);
}

static const u8 magics[] = {0xfb, 0xfa, 0xf0, 0xf1};

TEST(gopcln_layouts)
{
	struct table t;
	struct gopcln g;
	struct go_func fn;
	for (u32 m = 0; m < countof(magics); m++)
		for (u32 word = 4; word <= 8; word += 4) {
			build(&t, magics[m], word, TEXT);
			bool ok = gopcln_open(bytes_of(t.p, t.n), 0, &g);
			CHECK(ok && g.n == NFUNC && g.from == TEXT && g.end == TEXT + 0x90);
			for (u32 i = 0; ok && i < NFUNC; i++)
				CHECK(gopcln_at(&g, i, &fn) && str_is(fn.name, funcs[i].name) &&
				      fn.addr == TEXT + funcs[i].at &&
				      fn.size == funcs[i + 1].at - funcs[i].at);
			CHECK(!ok || !gopcln_at(&g, NFUNC, &fn));
		}
}

TEST(gopcln_stacks)
{
	static const struct {
		u32 from, to;
		i64 bytes;
	} want[] = {{0, 4, 0}, {4, 136, 88}, {136, 144, 64}};
	struct table t;
	struct gopcln g;
	struct go_stack s;
	for (u32 m = 0; m < countof(magics); m++) {
		u32 n = 0;
		build(&t, magics[m], 8, TEXT);
		CHECK(gopcln_open(bytes_of(t.p, t.n), 0, &g));
		CHECK(gopcln_search(&g, TEXT) == 0 && gopcln_search(&g, TEXT + 0x57) == 1 &&
		      gopcln_search(&g, TEXT + 0x500) == 2 && gopcln_search(&g, 1) == 0);
		CHECK(gopcln_stack(&g, 1, &s) && s.flags == (magics[m] == 0xfb ? 0 : FLAGS));
		for (; gopcln_stack_next(&s) && n < countof(want); n++)
			CHECK(s.from == TEXT + 0x40 + want[n].from &&
			      s.end == TEXT + 0x40 + want[n].to && s.bytes == want[n].bytes);
		CHECK(n == countof(want) && !gopcln_stack(&g, NFUNC, &s));
	}
}

/* A move over more code than there are addresses ends the list; 2^30 instructions of 4 bytes are not 0. */
TEST(gopcln_stack_far)
{
	static const u8 moves_far[] = {2, 0x80, 0x80, 0x80, 0x80, 4};
	struct go_stack s = {.b = bytes_of(moves_far, sizeof(moves_far)), .quantum = 4};
	s.end = TEXT;
	CHECK(gopcln_stack_next(&s) && s.from == TEXT && s.end == TEXT + (1ull << 32));
	s.b = bytes_of(moves_far, sizeof(moves_far));
	s.end = ~0ull - 3;
	CHECK(!gopcln_stack_next(&s));
}

/* 1.26 and newer say nowhere in the table where the code is. */
TEST(gopcln_text_from_elsewhere)
{
	struct table t;
	struct gopcln g;
	struct go_func fn;
	build(&t, 0xf1, 8, 0);
	CHECK(!gopcln_open(bytes_of(t.p, t.n), 0, &g));
	CHECK(gopcln_open(bytes_of(t.p, t.n), 0x5000, &g) && gopcln_at(&g, 1, &fn) &&
	      fn.addr == 0x5040);
}

/* Cut anywhere: fewer functions or no table, never bytes behind the end. */
TEST(gopcln_cut)
{
	for (u32 m = 0; m < countof(magics); m++) {
		struct table t;
		build(&t, magics[m], 8, TEXT);
		for (size_t n = 0; n < t.n; n++) {
			u8 *p = malloc(n + 1); /* as long as that, for the sanitizer */
			struct gopcln g;
			struct go_func fn;
			u32 named = 0;
			assert(p);
			memcpy(p, t.p, n);
			bool ok = gopcln_open(bytes_of(p, n), 0, &g);
			for (u32 i = 0; ok && i < g.n; i++)
				named += gopcln_at(&g, i, &fn);
			CHECK(named <= NFUNC && (n >= 24 || !ok));
			CHECK(named < NFUNC || magics[m] != 0xfb || n + 64 + sizeof(moves) > t.n);
			free(p);
		}
	}
}

TEST(gopcln_refuses)
{
	static const struct {
		u32 at, size;
		u64 v;
	} bad[] = {
		{0, 1, 0xf2}, /* magic */
		{4, 2, 1},    /* zeros */
		{6, 1, 3},    /* size of instructions */
		{7, 1, 5},    /* size of pointers */
		{8, 8, 0},    /* functions */
		{8, 8, 1 << 23}, {24, 8, 0}, {64, 8, 1ull << 40}, {32, 8, ~0ull},
	};
	for (u32 i = 0; i < countof(bad); i++) {
		struct table t;
		struct gopcln g;
		build(&t, 0xf1, 8, TEXT);
		CHECK(gopcln_open(bytes_of(t.p, t.n), 0, &g));
		put(&t, bad[i].at, bad[i].v, bad[i].size);
		CHECK(!gopcln_open(bytes_of(t.p, t.n), 0, &g));
	}
}
