#include "rights/sandbox.h"
#include "sym/debug_ask.h"
#include "sym/sym.h"
#include "test.h"
#include "types/dwpack.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* tests/progs/typed.c, compiled four ways beside the program of these tests. */
static const char *const variants[] = {"typed-4-0", "typed-4-2", "typed-5-0", "typed-5-2"};

static const char *beside(struct arena *a, const char *name)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[MAX(n, 0)] = 0;
	char *slash = strrchr(self, '/');
	*(slash ? slash : self) = 0;
	return arena_fmt(a, "%s/host/%s", self, name);
}

struct opened {
	struct host host;
	struct arena arena;
	const char *path;
	struct debug_ask *d;
	struct elf_syms syms;
};

static bool open_file(struct opened *o, const char *name)
{
	*o = (struct opened){.host = {.root = ""}};
	o->host.feature[FEAT_CONFINE] = 2;
	o->path = beside(&o->arena, name);
	struct err *e = debug_ask_open(&o->host, o->path, &o->arena, &o->d);
	struct err *f = elf_read_syms(&o->host, &o->arena, o->path, &o->syms);
	bool ok = !e && !f;
	err_free(e);
	err_free(f);
	return ok;
}

static bool open_variant(struct opened *o, u32 i)
{
	return open_file(o, variants[i]);
}

static void close_variant(struct opened *o)
{
	debug_ask_close(o->d);
	sandbox_end(&o->host);
	arena_free(&o->arena);
}

static u64 address(const struct opened *o, const char *name)
{
	const struct symbol *s = elf_find(&o->syms, str_z(name));
	return s ? s->addr : 0;
}

static bool at(const struct opened *o, u64 addr, struct debug_func *f)
{
	struct err *e = debug_ask_at(o->d, addr, f);
	bool ok = !e;
	err_free(e);
	return ok;
}

static const struct debug_var *var(const struct debug_func *f, const char *name)
{
	for (u32 i = 0; i < f->nvar; i++)
		if (str_is(f->var[i].name, name))
			return &f->var[i];
	return NULL;
}

/* A place of one piece that is the value of one register. */
static bool in_register(const struct debug_var *v, u64 reg)
{
	return v && !v->why && v->loc.npiece == 1 && v->loc.piece[0].value &&
	       v->loc.piece[0].nop == 1 && v->loc.piece[0].op[0].kind == DO_REG &&
	       v->loc.piece[0].op[0].v == reg;
}

TEST(dwarf_parameters)
{
	for (u32 i = 0; i < countof(variants); i++) {
		struct opened o;
		struct debug_func f;
		CHECK(open_variant(&o, i));
		CHECK(at(&o, address(&o, "visit"), &f));
		CHECK(f.at_entry && str_is(f.name, "visit") && f.nvar == 9);
		CHECK(str_is(f.var[0].name, "n") && str_is(f.var[8].name, "d"));
		CHECK(f.ret.type && f.ret.type->kind == T_INT && f.ret.type->is_signed);
		CHECK(f.var[8].type->kind == T_FLOAT);
#if defined(__x86_64__)
		CHECK(in_register(var(&f, "n"), 5));
		CHECK(in_register(var(&f, "what"), 4));
		CHECK(in_register(var(&f, "c"), 1));
		CHECK(in_register(var(&f, "s"), 8));
		CHECK(in_register(var(&f, "uc"), 9));
		const struct debug_var *s = var(&f, "stacked");
		CHECK(s && !s->why && s->loc.npiece == 1 && !s->loc.piece[0].value);
		CHECK(at(&o, address(&o, "make_big"), &f));
		CHECK(in_register(var(&f, "a"), 4)); /* the result's address comes first */
		CHECK(f.ret.type->size == 56 && f.ret.loc.npiece == 1 && !f.ret.loc.piece[0].value);
		CHECK(at(&o, address(&o, "make_point"), &f));
		CHECK(in_register(&f.ret, 0));
		CHECK(at(&o, address(&o, "floats"), &f));
		CHECK(f.ret.why && in_register(var(&f, "j"), 4));
		CHECK(at(&o, address(&o, "halves"), &f));
		const struct debug_var *m = var(&f, "m");
		CHECK(m && (m->why || m->loc.npiece == 2));
#endif
		close_variant(&o);
	}
}

/* So many bytes above the stack pointer of aarch64. */
static bool on_stack(const struct debug_var *v, u64 off)
{
	enum { SP = 31 };
	const struct debug_piece *p = v ? v->loc.piece : NULL;
	if (!v || v->why || v->loc.npiece != 1 || p->value || p->nop < 1 || p->op[0].v != SP)
		return false;
	return p->nop == 1 ? off == 0 : p->nop == 3 && p->op[1].v == off && p->op[2].kind == DO_ADD;
}

static bool in_pair(const struct debug_var *v, u64 reg)
{
	return v && !v->why && v->loc.npiece == 2 && v->loc.piece[0].op[0].v == reg &&
	       v->loc.piece[1].op[0].v == reg + 1;
}

/*
 * tests/progs/passed.c: where aarch64's functions find parameters follows from their types. So a
 * file of any compiler does, when its header says that it is for aarch64.
 */
TEST(dwarf_aarch64)
{
	struct opened o;
	struct debug_func f;
	CHECK(open_file(&o, "passed-aarch64"));
	CHECK(at(&o, address(&o, "after_three"), &f) && f.at_entry);
	CHECK(var(&f, "t")->why && in_register(var(&f, "next"), 0));
	CHECK(at(&o, address(&o, "after_unlike"), &f));
	CHECK(in_pair(var(&f, "u"), 0) && in_register(var(&f, "next"), 2));
	CHECK(at(&o, address(&o, "after_both"), &f));
	CHECK(in_register(var(&f, "b"), 0) && in_register(var(&f, "next"), 1));
	CHECK(at(&o, address(&o, "after_wide"), &f));
	CHECK(in_register(var(&f, "first"), 0) && in_pair(var(&f, "w"), 2));
	CHECK(in_register(var(&f, "next"), 4));
	CHECK(at(&o, address(&o, "after_asked"), &f));
	CHECK(in_pair(var(&f, "a"), 2) && in_register(var(&f, "next"), 4));
	CHECK(at(&o, address(&o, "many"), &f));
	CHECK(var(&f, "h")->why && on_stack(var(&f, "ninth"), 0));
	CHECK(in_register(var(&f, "i8"), 7) && on_stack(var(&f, "i9"), 8));
	CHECK(at(&o, address(&o, "split"), &f));
	CHECK(var(&f, "f")->why && on_stack(var(&f, "t"), 0));
	CHECK(on_stack(var(&f, "last"), 24) && on_stack(var(&f, "next"), 32));
	close_variant(&o);
}

TEST(dwarf_types)
{
	for (u32 i = 0; i < countof(variants); i++) {
		struct opened o;
		struct field f;
		CHECK(open_variant(&o, i));
		const struct type *t = debug_ask_type(o.d, STR("node"), T_STRUCT, false);
		CHECK(t && t->kind == T_STRUCT && t->size == 56);
		CHECK(type_field(t, STR("next"), &f) && f.type->kind == T_PTR &&
		      type_eq(f.type->base, t) && f.type->space == AS_USER);
		CHECK(type_field(t, STR("bits"), &f) && f.bit_off == 160 && f.bit_len == 5);
		CHECK(type_field(t, STR("more"), &f) && f.bit_off == 165 && f.bit_len == 9);
		CHECK(type_field(t, STR("arr"), &f) && f.type->kind == T_ARRAY &&
		      f.type->count == 4 && f.bit_off == 36 * 8);
		CHECK(type_field(t, STR("bytes"), &f) && f.bit_off == 52 * 8);
		CHECK(type_field(t, STR("c"), &f) && f.type->kind == T_ENUM && f.type->nenum == 3 &&
		      f.type->enums[1].val == 5);
		const struct type *big = debug_ask_type(o.d, STR("big"), T_NONE, false);
		CHECK(big && type_field(big, STR("name"), &f) && f.type->base->is_char);
		CHECK(!debug_ask_type(o.d, STR("nothing"), T_NONE, false));
		CHECK(!debug_ask_type(o.d, STR("node"), T_UNION, false));
		const struct type *alias = debug_ask_type(o.d, STR("node_t"), T_NONE, false);
		CHECK(alias && type_eq(alias, t) && str_is(alias->alias, "node_t"));
		close_variant(&o);
	}
}

static bool fails(struct err *e, const char *want)
{
	bool ok = e && strstr(e->msg, want);
	err_free(e);
	return ok;
}

static struct err *line_of(struct opened *o, const char *file, u32 line, u32 column, u64 **addr)
{
	struct place_asked at = {str_z(file), line, column};
	u32 n = 0;
	struct err *e = debug_ask_line(o->d, &at, addr, &n);
	CHECK(e || n >= 1);
	return e;
}

TEST(dwarf_lines)
{
	for (u32 i = 0; i < countof(variants); i++) {
		struct opened o;
		struct debug_func f;
		u64 *addr;
		CHECK(open_variant(&o, i));
		CHECK(!line_of(&o, "progs/typed.c", 47, 0, &addr));
		CHECK(at(&o, addr[0], &f) && str_is(f.name, "visit") && !f.at_entry);
		CHECK(var(&f, "calls") && var(&f, "local") && var(&f, "stacked"));
		const struct debug_var *v = var(&f, "calls"); /* static: where the program lies */
		CHECK(v && !v->why && v->loc.piece[0].op[0].kind == DO_BIAS);
		v = var(&f, "twice");
		CHECK(v && !v->why);
		CHECK(fails(line_of(&o, "typed.c", 3, 0, &addr),
			    "no code at line 3; nearest lines with code: "));
		CHECK(fails(line_of(&o, "yped.c", 47, 0, &addr), "no source file"));
		CHECK(fails(line_of(&o, "typed.c", 47, 1, &addr), "column 1"));
		close_variant(&o);
	}
}

TEST(dwarf_refused)
{
	struct arena a = {0};
	struct debug *d;
	struct debug_ask *q;
	struct debug_func f;
	struct opened o;
	CHECK(open_variant(&o, 0));
	CHECK(fails(debug_ask_open(&o.host, "/nonexistent", &a, &q), "No such file"));
	CHECK(fails(debug_ask_open(&o.host, "/proc/self/status", &a, &q), "ELF"));
	CHECK(fails(debug_open_mem("nothing", 7, &a, &d), "ELF"));
	CHECK(fails(debug_ask_at(o.d, 1, &f), "no debug information for address 0x1"));
	close_variant(&o);
	arena_free(&a);
}

/* An answer of which bytes were changed is refused, or what it says can be walked and computed. */
static void lies_of_func(struct sb *answer, u64 seed)
{
	struct arena a = {0};
	struct debug_types types = {.arena = &a};
	struct debug_func f;
	for (u32 i = 0; i < 3; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		answer->s[(seed >> 33) % answer->n] ^= (char)(1 << (seed >> 20) % 8);
	}
	struct bytes b = bytes_of(answer->s, answer->n);
	bool taken = debug_take_func(&b, &types, &f);
	for (u32 i = 0; taken && i < f.nvar; i++) {
		const struct debug_var *v = &f.var[i];
		u32 depth = 0;
		for (const struct type *t = v->type; t; t = t->base)
			CHECK(depth++ < 256 && t->size <= 1 << 30);
		CHECK(v->why || (v->loc.npiece && v->loc.npiece <= DEBUG_PIECES));
	}
	vec_free(&types.record);
	arena_free(&a);
}

/* What a sound reader says of a damaged file is always believed. */
static void takes_func(struct debug *d, struct err *e, const struct debug_func *f)
{
	struct arena a = {0};
	struct debug_types types = {.arena = &a};
	struct debug_func copy;
	struct sb out = {0};
	if (!e) {
		debug_pack_func(&out, d, f);
		struct bytes b = bytes_of(out.s, out.n);
		CHECK(debug_take_func(&b, &types, &copy) && b.at == b.n);
		CHECK(str_eq(copy.name, f->name) && copy.nvar == f->nvar);
	}
	for (u32 i = 0; !e && i < 10; i++)
		lies_of_func(&out, i);
	err_free(e);
	vec_free(&types.record);
	sb_free(&out);
	arena_free(&a);
}

static void takes_members(struct debug *d, const struct type *t)
{
	struct arena a = {0};
	struct debug_types types = {.arena = &a};
	const struct type *copy;
	struct sb out = {0};
	debug_pack_type(&out, d, t);
	struct bytes b = bytes_of(out.s, out.n);
	CHECK(debug_take_type(&b, &types, &copy) && b.at == b.n && copy->id == types.record.n);
	sb_clear(&out);
	if (debug_pack_members(&out, d, &types.record.v[copy->id - 1].key)) {
		b = bytes_of(out.s, out.n);
		CHECK(debug_take_members(&b, &types, copy->id - 1) && b.at == b.n);
	}
	vec_free(&types.record);
	sb_free(&out);
	arena_free(&a);
}

/* Whatever a byte of the file becomes, there is an answer or an err. */
TEST(dwarf_damaged)
{
	struct opened o;
	struct stat st;
	CHECK(open_variant(&o, 1));
	u64 addr = address(&o, "visit");
	int fd AUTO_CLOSE = open(o.path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && !fstat(fd, &st));
	u32 n = (u32)st.st_size;
	u8 *whole = malloc(n), *copy = malloc(n);
	CHECK(whole && copy && read(fd, whole, n) == (ssize_t)n);
	u64 seed = 1;
	for (u32 round = 0; whole && copy && round < 300; round++) {
		struct arena a = {0};
		struct debug *d;
		memcpy(copy, whole, n);
		for (u32 k = 0; k < 20; k++) { /* debug information is in the later part */
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			copy[n / 5 + (u32)(seed >> 33) % (n - n / 5)] = (u8)(seed >> 20);
		}
		struct err *e = debug_open_mem(copy, round % 7 ? n : n / 2, &a, &d);
		if (!e) {
			struct debug_func f;
			u64 *lines;
			u32 count;
			takes_func(d, debug_at(d, addr, &f), &f);
			takes_func(d, debug_at(d, addr + 30, &f), &f);
			struct debug_frame frame[4];
			CHECK(debug_frames(d, addr + 30, frame, 4) <= 4);
			err_free(debug_line(d, STR("typed.c"), 47, 0, &lines, &count));
			const struct type *t = debug_type(d, STR("node"), T_STRUCT, false);
			if (t)
				takes_members(d, t);
			debug_close(d);
		}
		err_free(e);
		arena_free(&a);
	}
	free(whole);
	free(copy);
	close_variant(&o);
}
