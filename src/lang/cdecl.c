/* cdecl.c - declarations of C: specifiers, declarators, bodies of structs and enums. */
#include "lang/cdecl.h"
#include <stdarg.h>
#include <stdio.h>

enum { MAX_DEPTH = 60, MAX_FIELDS = 1 << 16, MAX_ERRORS = 20 };

struct ctag {
	struct str name;
	struct type *type; /* lives from the first mention on; completed by the definition */
	enum type_kind kind : 8;
	bool defined, weak;
	struct loc loc;
	struct ctag *next; /* of cdecl.pending */
};
struct cname { /* typedef or enumerator */
	const struct type *type;
	i64 val;
	bool weak;
	struct loc loc;
};

/* What stands in front of the declarators. */
struct spec {
	const struct type *type;
	bool is_typedef, seen; /* seen: some word of a declaration was there */
	u8 qual;
	u32 align; /* __attribute__((aligned)), _Alignas */
	bool packed;
	bool fresh; /* a tag was defined or mentioned here: "struct x;" needs no declarator */
};

static const struct type ctypes[] = {
#define INT(n, sz, sgn)                                                               \
	{                                                                             \
		.kind = T_INT, .size = (sz), .align = (sz), .is_signed = (sgn),       \
		.name = {(n), sizeof(n) - 1}, .is_char = (sz) == 1 && sizeof(n) == 5, \
	}
	INT("char", 1, true),        INT("char", 1, false),
	INT("signed char", 1, true), INT("unsigned char", 1, false),
	INT("short", 2, true),       INT("unsigned short", 2, false),
	INT("int", 4, true),         INT("unsigned int", 4, false),
	INT("long", 8, true),        INT("unsigned long", 8, false),
	INT("long long", 8, true),   INT("unsigned long long", 8, false),
#undef INT
};
enum {
	C_CHAR,
	C_ARM_CHAR,
	C_SCHAR,
	C_UCHAR,
	C_SHORT,
	C_USHORT,
	C_INT,
	C_UINT,
	C_LONG,
	C_ULONG,
	C_LLONG,
	C_ULLONG
};
static const struct type c_float[] = {
	{.kind = T_FLOAT, .size = 4, .align = 4, .name = {"float", 5}},
	{.kind = T_FLOAT, .size = 8, .align = 8, .name = {"double", 6}},
	{.kind = T_FLOAT, .size = 16, .align = 16, .name = {"long double", 11}},
};

void cdecl_init(struct cdecl *d, struct arena *a, struct diags *ds)
{
	*d = (struct cdecl){.arena = a, .diags = ds};
}

/* ---- errors, tokens ---- */

static PRINTF(3, 4) void fail(struct cdecl *d, const struct ctok *at, const char *fmt, ...)
{
	const struct ctok *t = at ? at : d->last;
	bool was = d->panic;
	d->panic = true;
	if (was || !t || t->sys)
		return;
	va_list ap;
	va_start(ap, fmt);
	char *msg = NULL;
	if (vasprintf(&msg, fmt, ap) < 0)
		abort();
	va_end(ap);
	diag_add(d->diags, E_CDECL, t->loc, "%s%s", msg, at ? "" : " at the end");
	free(msg);
}

static void note(struct cdecl *d, u32 nerror, struct loc loc)
{
	if (d->diags->nerror > nerror)
		diag_note(d->diags, d->diags->last, loc, "This is the first definition.");
}

static void next(struct cdecl *d)
{
	if (!d->t)
		return;
	d->last = d->t;
	d->t = d->t->next;
}

static bool at(const struct cdecl *d, const char *text)
{
	return ctok_is(d->t, text);
}

static bool accept(struct cdecl *d, const char *text)
{
	if (!at(d, text))
		return false;
	next(d);
	return true;
}

static void expected(struct cdecl *d, const char *what)
{
	if (d->t)
		fail(d, d->t, "expected %s, found '%.*s'", what, STRF(d->t->text));
	else
		fail(d, NULL, "expected %s", what);
}

static void expect(struct cdecl *d, const char *text)
{
	if (!accept(d, text))
		expected(d, arena_fmt(d->arena, "'%s'", text));
}

static bool at_ident(const struct cdecl *d)
{
	return d->t && d->t->kind == CT_IDENT;
}

/* Over a bracket and all up to its partner. */
static void skip_balanced(struct cdecl *d)
{
	u32 depth = 0;
	do {
		depth += at(d, "(") || at(d, "{") || at(d, "[");
		depth -= at(d, ")") || at(d, "}") || at(d, "]");
		next(d);
	} while (d->t && depth);
}

/* To behind the ';' or the body that ends this declaration. */
static void skip_declaration(struct cdecl *d)
{
	while (d->t) {
		bool body = at(d, "{"), code = body && ctok_is(d->last, ")");
		if (accept(d, ";"))
			return;
		if (body || at(d, "(") || at(d, "["))
			skip_balanced(d);
		else
			next(d);
		if (code || (body && !at(d, ";") && !at(d, ",") && !at_ident(d) && !at(d, "*")))
			return;
	}
}

/* ---- constant expressions ---- */

static const struct type *type_name_at(struct cdecl *d);
static bool starts_type(struct cdecl *d, const struct ctok *t);
static void attributes(struct cdecl *d, struct spec *s);

static bool sized(struct cexpr *e, struct cdecl *d, bool align, struct cval *ret)
{
	d->t = e->t->next;
	if (!ctok_is(d->t, "(") || !starts_type(d, d->t->next))
		return cexpr_fail(e, e->t, "sizeof needs a type in parentheses here");
	next(d);
	const struct type *t = type_name_at(d);
	expect(d, ")");
	e->t = d->t;
	if (d->panic)
		return cexpr_fail(e, e->t, "");
	*ret = (struct cval){align ? t->align : t->size, true, true};
	return true;
}

static bool atom(struct cexpr *e, struct cval *ret)
{
	struct cdecl *d = e->arg;
	struct ctok *t = e->t;
	if (ctok_is(t, "sizeof"))
		return sized(e, d, false, ret);
	if (ctok_is(t, "_Alignof") || ctok_is(t, "__alignof__"))
		return sized(e, d, true, ret);
	if (ctok_is(t, "(") && starts_type(d, t->next)) {
		d->t = t->next;
		const struct type *to = type_name_at(d);
		expect(d, ")");
		e->t = d->t;
		if (d->panic || !cexpr_unary(e, ret))
			return cexpr_fail(e, e->t, "");
		if (to->kind == T_BOOL)
			*ret = (struct cval){ret->v != 0, false, false};
		else if (type_is_int(to) && to->size <= 8)
			*ret = cval_as(ret->v, to->size, !to->is_signed);
		else if (to->kind != T_PTR)
			return cexpr_fail(e, t, "this is not an integer constant");
		return true;
	}
	i64 v;
	if (t->kind != CT_IDENT || !(cdecl_enumerator(d, t->text, false, &v, NULL) ||
				     cdecl_enumerator(d, t->text, true, &v, NULL)))
		return false;
	bool wide = v != (i32)v;
	*ret = (struct cval){(u64)v, false, wide};
	e->t = t->next;
	return true;
}

static bool constant(struct cdecl *d, struct cval *ret)
{
	struct cexpr e = {.t = d->t, .atom = atom, .arg = d, .depth = d->depth};
	*ret = (struct cval){0};
	if (d->panic)
		return false;
	bool ok = cexpr_eval(&e, ret);
	d->t = e.t;
	if (!ok && e.why && *e.why)
		fail(d, e.at, "%s", e.why);
	return ok && !d->panic;
}

/* ---- attributes ---- */

static u32 alignment(struct cdecl *d)
{
	struct cval v = {.v = 16};
	if (accept(d, "(")) {
		const struct ctok *where = d->t;
		if (starts_type(d, d->t))
			v.v = type_name_at(d)->align;
		else
			constant(d, &v);
		expect(d, ")");
		if (!d->panic && (!v.v || (v.v & (v.v - 1)) || v.v > CDECL_MAX_BYTES))
			fail(d, where, "an alignment is a power of two");
	}
	return d->panic ? 1 : (u32)v.v;
}

static void attribute_list(struct cdecl *d, struct spec *s)
{
	expect(d, "(");
	expect(d, "(");
	while (!d->panic && d->t && !at(d, ")")) {
		if (at(d, "packed") || at(d, "__packed__")) {
			s->packed = true;
			next(d);
		} else if (at(d, "aligned") || at(d, "__aligned__")) {
			next(d);
			u32 n = alignment(d);
			s->align = MAX(s->align, n);
		} else if (!at(d, ",")) {
			next(d);
			if (at(d, "("))
				skip_balanced(d);
		}
		if (!at(d, ")"))
			expect(d, ",");
	}
	expect(d, ")");
	expect(d, ")");
}

static void attributes(struct cdecl *d, struct spec *s)
{
	while (!d->panic) {
		if (accept(d, "__attribute__") || accept(d, "__attribute")) {
			attribute_list(d, s);
		} else if (at(d, "__asm__") || at(d, "asm") || at(d, "__asm")) {
			next(d);
			skip_balanced(d);
		} else if (at(d, "__extension__") || at(d, "__packed")) {
			s->packed |= at(d, "__packed");
			next(d);
		} else {
			return;
		}
	}
}

/* ---- names ---- */

static const struct type *find_typedef(struct cdecl *d, struct str name)
{
	const struct cname *c = names_get(&d->typedefs, name);
	if (c && !c->weak)
		return c->type;
	const struct type *t = d->find ? d->find(d->arg, name, T_NONE) : NULL;
	return t ? t : c ? c->type : NULL;
}

static bool is_word(struct str s)
{
	static const char *const words[] = {
		"void",    "char",         "short",    "int",        "long",         "float",
		"double",  "signed",       "unsigned", "_Bool",      "struct",       "union",
		"enum",    "const",        "volatile", "__signed__", "__int128",     "typeof",
		"__const", "__volatile__", "_Atomic",  "__typeof__", "__extension__"};
	for (size_t i = 0; i < countof(words); i++)
		if (str_is(s, words[i]))
			return true;
	return false;
}

static bool starts_type(struct cdecl *d, const struct ctok *t)
{
	return t && t->kind == CT_IDENT && (is_word(t->text) || find_typedef(d, t->text));
}

static struct ctag *tag_get(struct cdecl *d, enum type_kind kind, const struct ctok *name)
{
	struct ctag *g = names_get(&d->tag, name->text);
	if (g && g->kind != kind) {
		u32 nerror = d->diags->nerror;
		fail(d, name, "'%.*s' was something else than %s before", STRF(name->text),
		     kind == T_STRUCT  ? "a struct"
		     : kind == T_UNION ? "a union"
				       : "an enum");
		note(d, nerror, g->loc);
	}
	if (g)
		return g;
	g = arena_new(d->arena, struct ctag);
	*g = (struct ctag){.name = name->text, .kind = kind, .weak = name->sys, .loc = name->loc};
	g->type = arena_new(d->arena, struct type);
	*g->type = (struct type){.kind = kind, .align = 1, .name = name->text};
	g->next = d->pending;
	d->pending = g;
	names_set(&d->tag, d->arena, g->name, g);
	return g;
}

/* BTF does not tell how a struct is aligned; its members do. */
static u32 natural_align(const struct type *t, u32 depth)
{
	u32 n, align = 1;
	if (t->kind == T_ARRAY && depth < MAX_DEPTH)
		return natural_align(t->base, depth + 1);
	if (!type_is_record(t) || depth >= MAX_DEPTH)
		return MAX(t->align, 1u);
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		u32 a = natural_align(f[i].type, depth + 1);
		bool fits = f[i].bit_len || f[i].bit_off % (a * 8) == 0; /* else it is packed */
		align = fits ? MAX(align, a) : align;
	}
	return t->size % align ? 1 : align;
}

/* Mentioned before it was defined here: what somebody else knows of it. */
static bool borrow(struct cdecl *d, struct ctag *g)
{
	if (g->defined || g->type->size || g->type->lazy)
		return true;
	const struct type *t = d->find ? d->find(d->arg, g->name, g->kind) : NULL;
	if (!t || t->kind != g->kind)
		return false;
	*g->type = *t;
	g->type->align = natural_align(t, 0);
	return true;
}

static bool incomplete(struct cdecl *d, const struct type *t)
{
	while (t->kind == T_ARRAY)
		t = t->base;
	if (t->kind == T_NONE || t->kind == T_FUNC || t->kind == T_FWD)
		return true;
	if ((!type_is_record(t) && t->kind != T_ENUM) || !t->name.n || t->lazy)
		return false;
	struct ctag *g = names_get(&d->tag, t->name);
	return g && g->type == t && !borrow(d, g);
}

/* ---- struct, union, enum ---- */

static void specifiers(struct cdecl *d, struct spec *s);
static const struct type *declarator(struct cdecl *d, const struct type *base, struct spec *s,
				     const struct ctok **name);

struct body {
	struct clayout lay;
	struct field *f;
	u32 n, cap;
};

static struct field *add_field(struct cdecl *d, struct body *b)
{
	if (b->n == b->cap) {
		struct field *grown = arena_newn(d->arena, struct field, b->cap * 2 + 8);
		if (b->n)
			memcpy(grown, b->f, b->n * sizeof(*grown));
		b->f = grown;
		b->cap = b->cap * 2 + 8;
	}
	return &b->f[b->n];
}

static void bit_field(struct cdecl *d, struct body *b, struct field *f, struct spec *s)
{
	const struct ctok *where = d->t;
	struct cval w;
	if (!constant(d, &w))
		return;
	u32 max = f->type->kind == T_BOOL ? 1 : f->type->size * 8;
	if (!type_is_int(f->type) && f->type->kind != T_BOOL)
		fail(d, where, "a bit-field is an integer");
	else if (w.v > max)
		fail(d, where, "a bit-field is not wider than its type (%u bits)", max);
	else if (!w.v && f->name.n)
		fail(d, where, "a bit-field without bits has no name");
	if (d->panic)
		return;
	attributes(d, s);
	struct clayout *l = &b->lay;
	bool was = l->packed;
	l->packed |= s->packed;
	if (s->align) {
		l->bits = ALIGN_UP(l->bits, (u64)s->align * 8);
		l->align = MAX(l->align, s->align);
	}
	clayout_bits(l, f, (u32)w.v, f->name.n != 0);
	l->packed = was;
	b->n += f->name.n != 0;
}

static void known_once(struct cdecl *d, const struct body *b, const struct ctok *name)
{
	for (u32 i = 0; i < b->n; i++)
		if (str_eq(b->f[i].name, name->text)) {
			u32 nerror = d->diags->nerror;
			fail(d, name, "there is already a member '%.*s'", STRF(name->text));
			note(d, nerror, b->f[i].loc);
			return;
		}
}

/* One declarator of a member declaration (or none: an anonymous struct). */
static void member(struct cdecl *d, struct body *b, const struct spec *common)
{
	struct spec s = *common;
	const struct ctok *name = NULL, *where = d->t;
	const struct type *t = common->type;
	d->unsized = false;
	if (!at(d, ":") && !at(d, ";"))
		t = declarator(d, t, &s, &name);
	if (d->panic)
		return;
	if (b->n >= MAX_FIELDS) {
		fail(d, where, "more than %d members", MAX_FIELDS);
		return;
	}
	struct field *f = add_field(d, b);
	*f = (struct field){.type = t};
	if (name) {
		f->name = name->text;
		f->loc = name->loc;
		known_once(d, b, name);
	}
	if (accept(d, ":")) {
		bit_field(d, b, f, &s);
		return;
	}
	attributes(d, &s);
	if (!name && !type_is_record(t)) {
		if (!common->fresh)
			expected(d, "the name of a member");
		return; /* enum { ... }; inside */
	}
	if (!name && t->name.n) /* struct x { ... }; inside declares nothing */
		return;
	if (incomplete(d, t)) {
		AUTO_SB n = {0};
		type_name(t, &n);
		fail(d, name ? name : where, "the type of this member (%s) has no size here",
		     n.s ? n.s : "");
		return;
	}
	if (b->lay.flex && !b->lay.is_union)
		fail(d, name ? name : where, "no member can follow a flexible array");
	b->lay.flex |= t->kind == T_ARRAY && d->unsized;
	struct clayout *l = &b->lay;
	bool was = l->packed;
	l->packed |= s.packed && name;
	if (!clayout_member(l, f, s.align))
		fail(d, name ? name : where, "this is too large");
	l->packed = was;
	b->n++;
}

static void members(struct cdecl *d, struct body *b)
{
	while (!d->panic && d->t && !at(d, "}")) {
		if (accept(d, ";"))
			continue;
		if (accept(d, "_Static_assert")) {
			skip_balanced(d);
			continue;
		}
		struct spec s = {0};
		specifiers(d, &s);
		if (d->panic)
			return;
		if (!s.type) {
			expected(d, "a type");
			return;
		}
		do
			member(d, b, &s);
		while (!d->panic && accept(d, ","));
		if (!at(d, "}"))
			expect(d, ";");
	}
}

static void record_body(struct cdecl *d, struct type *t, struct spec *s)
{
	struct body b = {.lay = {.is_union = t->kind == T_UNION, .arm = d->arm, .align = 1}};
	/* packed may stand behind the brace, but decides about what is inside. */
	struct spec after = *s;
	struct ctok *body = d->t;
	next(d);
	if (d->depth++ >= MAX_DEPTH)
		fail(d, body, "nested too deeply (more than %d levels)", MAX_DEPTH);
	struct ctok *first = d->t;
	const struct ctok *was = d->last;
	d->t = body;
	skip_balanced(d);
	bool panic = d->panic;
	attributes(d, &after);
	d->panic = panic;
	d->t = first;
	d->last = was;
	b.lay.packed = after.packed;
	members(d, &b);
	expect(d, "}");
	attributes(d, s);
	d->depth--;
	clayout_end(&b.lay, MAX(s->align, after.align), t);
	static const struct field none;
	t->field = b.f ? b.f : &none;
	t->nfield = b.n;
	s->packed = false; /* it was the struct's, not the declared object's */
	s->align = 0;
}

static void enumerator(struct cdecl *d, struct enumerator *e, struct cval *v, const struct type *t)
{
	const struct ctok *name = d->t;
	struct spec ignored = {0};
	if (!at_ident(d)) {
		expected(d, "the name of an enumerator");
		return;
	}
	next(d);
	attributes(d, &ignored);
	if (accept(d, "="))
		constant(d, v);
	*e = (struct enumerator){name->text, (i64)v->v};
	struct cname *old = names_get(&d->enumerators, name->text);
	if (old && !name->sys && !old->weak) {
		u32 nerror = d->diags->nerror;
		fail(d, name, "there is already an enumerator '%.*s'", STRF(name->text));
		note(d, nerror, old->loc);
		return;
	}
	struct cname *c = arena_new(d->arena, struct cname);
	*c = (struct cname){t, e->val, name->sys, name->loc};
	names_set(&d->enumerators, d->arena, name->text, c);
}

static u32 enum_size(i64 min, i64 max, bool large, bool packed)
{
	bool neg = min < 0;
	if (packed)
		for (u32 n = 1; n <= 2; n *= 2)
			if (!large && min >= -(1ll << (8 * n - 1)) &&
			    max < 1ll << (8 * n - (neg ? 1 : 0)))
				return n;
	bool fits = !large && (neg ? min >= INT32_MIN && max <= INT32_MAX : max <= UINT32_MAX);
	return fits ? 4 : 8;
}

static void enum_body(struct cdecl *d, struct type *t, struct spec *s)
{
	struct cval v = {0};
	u32 n = 0, cap = 0;
	struct enumerator *e = NULL;
	i64 min = 0, max = 0;
	bool large = false;
	for (next(d); !d->panic && d->t && !at(d, "}");) {
		if (n == cap) {
			struct enumerator *grown =
				arena_newn(d->arena, struct enumerator, cap * 2 + 16);
			if (n)
				memcpy(grown, e, n * sizeof(*grown));
			e = grown;
			cap = cap * 2 + 16;
		}
		enumerator(d, &e[n], &v, t);
		large |= v.uns && (i64)v.v < 0;
		min = MIN(min, e[n].val);
		max = MAX(max, e[n].val);
		n++;
		v = (struct cval){v.v + 1, v.uns, true};
		if (!at(d, "}"))
			expect(d, ",");
	}
	if (!n)
		expected(d, "an enumerator");
	expect(d, "}");
	attributes(d, s);
	t->is_signed = min < 0 && !large;
	t->size = t->align = enum_size(min, max, large, s->packed);
	t->base = type_int(t->size, t->is_signed);
	t->enums = e;
	t->nenum = n;
	s->packed = false;
}

/* A second definition in the script is an error; headers get away with it, the first counts. */
static bool redefined(struct cdecl *d, const struct ctag *g, const struct ctok *name)
{
	if (!g->defined)
		return false;
	if (g->weak && !name->sys) /* the script's own is the better one */
		return false;
	u32 nerror = d->diags->nerror;
	if (!name->sys) {
		fail(d, name, "'%.*s' is defined twice", STRF(name->text));
		note(d, nerror, g->loc);
	}
	skip_balanced(d);
	return true;
}

/* struct x { ... }, struct { ... }, struct x; also union and enum. The keyword is d->last. */
static const struct type *tagged(struct cdecl *d, struct spec *s, enum type_kind kind)
{
	struct spec own = {0};
	attributes(d, &own);
	const struct ctok *name = at_ident(d) ? d->t : NULL;
	struct ctag *g = NULL;
	struct type *t = NULL;
	if (name) {
		next(d);
		g = tag_get(d, kind, name);
		t = g->type;
	} else if (!at(d, "{")) {
		expected(d, "a name or '{'");
	}
	if (d->panic)
		return &type_error;
	s->fresh = true;
	if (!at(d, "{") || redefined(d, g ? g : &(struct ctag){0}, name ? name : d->t))
		return t ? t : &type_error;
	if (!t || g->defined || t->lazy || t->size) {
		t = arena_new(d->arena, struct type);
		*t = (struct type){.kind = kind, .align = 1};
		if (g) {
			t->name = g->name;
			g->type = t;
		}
	}
	if (kind == T_ENUM)
		enum_body(d, t, &own);
	else
		record_body(d, t, &own);
	if (g) {
		g->defined = true;
		g->weak = name->sys;
		g->loc = name->loc;
	}
	return t;
}

/* ---- specifiers ---- */

struct words {
	u32 nvoid, nchar, nshort, nint, nlong, nfloat, ndouble, nsigned, nunsigned, nbool, nhuge;
};

static bool count_word(struct words *w, struct str s)
{
	const struct {
		const char *text;
		u32 *n;
	} all[] = {
		{"void", &w->nvoid},         {"char", &w->nchar},     {"short", &w->nshort},
		{"int", &w->nint},           {"long", &w->nlong},     {"float", &w->nfloat},
		{"double", &w->ndouble},     {"signed", &w->nsigned}, {"__signed__", &w->nsigned},
		{"unsigned", &w->nunsigned}, {"_Bool", &w->nbool},    {"__int128", &w->nhuge},
		{"__signed", &w->nsigned},
	};
	for (size_t i = 0; i < countof(all); i++)
		if (str_is(s, all[i].text)) {
			++*all[i].n;
			return true;
		}
	return false;
}

static const struct type *basic(struct cdecl *d, const struct words *w)
{
	bool uns = w->nunsigned;
	u32 sum = w->nvoid + w->nchar + w->nfloat + w->ndouble + w->nbool + w->nhuge;
	if (sum > 1 || w->nlong > 2 || (w->nlong && w->nshort) || (w->nsigned && uns) ||
	    (sum && w->nint) || ((w->nlong || w->nshort) && sum && !w->ndouble))
		return NULL;
	if (w->nvoid)
		return &type_none;
	if (w->nbool)
		return &type_bool;
	if (w->nfloat || w->ndouble)
		return &c_float[w->nfloat ? 0 : w->nlong ? 2 : 1];
	if (w->nchar)
		return &ctypes[uns ? C_UCHAR : w->nsigned ? C_SCHAR : d->arm ? C_ARM_CHAR : C_CHAR];
	if (w->nhuge) { /* nothing here computes with it: its bytes */
		struct type *t = arena_new(d->arena, struct type);
		*t = *type_array(d->arena, &type_u8, 16);
		t->align = 16;
		t->alias = STR("__int128");
		return t;
	}
	u32 k = w->nshort ? C_SHORT : w->nlong == 2 ? C_LLONG : w->nlong ? C_LONG : C_INT;
	return &ctypes[k + uns];
}

/* const and friends, storage classes, attributes. False: something else is there. */
static bool modifier(struct cdecl *d, struct spec *s)
{
	static const struct {
		const char *text;
		u8 qual;
	} words[] = {
		{"const", TQ_CONST},
		{"__const", TQ_CONST},
		{"volatile", TQ_VOLATILE},
		{"__volatile__", TQ_VOLATILE},
		{"restrict", TQ_RESTRICT},
		{"__restrict", TQ_RESTRICT},
		{"__restrict__", TQ_RESTRICT},
		{"static", 0},
		{"extern", 0},
		{"inline", 0},
		{"__inline", 0},
		{"__inline__", 0},
		{"register", 0},
		{"_Noreturn", 0},
		{"_Thread_local", 0},
		{"__thread", 0},
		{"__user", 0},
		{"__rcu", 0},
		{"__percpu", 0},
		{"__kernel", 0},
		{"__iomem", 0},
		{"_Atomic", 0},
	};
	const struct ctok *was = d->t;
	attributes(d, s);
	if (d->t != was)
		return true;
	if (accept(d, "typedef"))
		return s->is_typedef = true;
	if (accept(d, "_Alignas")) {
		u32 n = alignment(d);
		s->align = MAX(s->align, n);
		return true;
	}
	for (size_t i = 0; i < countof(words); i++)
		if (accept(d, words[i].text)) {
			s->qual |= words[i].qual;
			return true;
		}
	return false;
}

static const struct type *unknown_type(struct cdecl *d, const struct ctok *t)
{
	fail(d, t, "unknown type '%.*s'", STRF(t->text));
	return &type_error;
}

static void specifiers(struct cdecl *d, struct spec *s)
{
	struct words w = {0};
	u32 nword = 0;
	const struct ctok *first = d->t;
	while (!d->panic && at_ident(d)) {
		const struct ctok *t = d->t;
		s->seen = true;
		if (modifier(d, s))
			continue;
		if (!s->type && count_word(&w, t->text)) {
			nword++;
			next(d);
			continue;
		}
		if (s->type || nword)
			break;
		if (accept(d, "struct"))
			s->type = tagged(d, s, T_STRUCT);
		else if (accept(d, "union"))
			s->type = tagged(d, s, T_UNION);
		else if (accept(d, "enum"))
			s->type = tagged(d, s, T_ENUM);
		else if ((s->type = find_typedef(d, t->text)))
			next(d);
		else if (str_is(t->text, "bool") && (s->type = &type_bool))
			next(d);
		else
			s->type = unknown_type(d, t);
	}
	if (nword && !d->panic && !(s->type = basic(d, &w)))
		fail(d, first, "these words make no type");
	if (s->type && (s->qual & ~TQ_RESTRICT) && !type_is_record(s->type) && !d->panic) {
		struct type *q = arena_new(d->arena, struct type);
		*q = *s->type;
		q->qual |= s->qual;
		s->type = q;
	}
}

/* ---- declarators ---- */

static const struct type *params(struct cdecl *d, const struct type *ret)
{
	struct type *t = arena_new(d->arena, struct type);
	struct body b = {0};
	*t = (struct type){.kind = T_FUNC, .align = 1, .base = ret};
	while (!d->panic && d->t && !at(d, ")")) {
		struct spec s = {0};
		const struct ctok *name = NULL;
		if (accept(d, "..."))
			break;
		specifiers(d, &s);
		if (!s.type && !d->panic)
			expected(d, "a parameter");
		if (d->panic)
			break;
		const struct type *pt = declarator(d, s.type, &s, &name);
		if (pt->kind == T_ARRAY)
			pt = type_ptr(d->arena, pt->base, AS_NONE);
		if (pt->kind != T_NONE) {
			struct field *f = add_field(d, &b);
			*f = (struct field){.type = pt, .bit_off = b.n * 64};
			f->name = name ? name->text : STR("");
			b.n++;
		}
		attributes(d, &s);
		if (!at(d, ")"))
			expect(d, ",");
	}
	expect(d, ")");
	t->field = b.f;
	t->nfield = b.n;
	return t;
}

static const struct type *array(struct cdecl *d, const struct type *of, u64 count, const struct ctok *where)
{
	if (d->panic)
		return &type_error;
	if (of->kind == T_FUNC || (of->kind == T_NONE && !of->size)) {
		fail(d, where, "an array cannot have elements of this type");
		return &type_error;
	}
	if (incomplete(d, of)) {
		fail(d, where, "the elements of this array have no size here");
		return &type_error;
	}
	if (count > CDECL_MAX_BYTES || (u64)of->size * count > CDECL_MAX_BYTES) {
		fail(d, where, "this array is too large");
		return &type_error;
	}
	return type_array(d->arena, of, (u32)count);
}

/* (...) and [...] behind a name; the innermost stands last. */
static const struct type *suffixes(struct cdecl *d, const struct type *base)
{
	const struct ctok *where = d->t;
	if (d->panic)
		return &type_error;
	if (d->depth >= MAX_DEPTH) {
		fail(d, where, "nested too deeply (more than %d levels)", MAX_DEPTH);
		return &type_error;
	}
	d->depth++;
	if (accept(d, "(")) {
		const struct type *t = params(d, base);
		base = d->panic ? &type_error : t;
	} else if (accept(d, "[")) {
		struct cval n = {0};
		struct spec ignored = {0};
		while (at_ident(d) && modifier(d, &ignored))
			;
		bool given = !at(d, "]") && constant(d, &n);
		if (given && (i64)n.v < 0)
			fail(d, where->next, "the size of an array is not negative");
		expect(d, "]");
		base = suffixes(d, base);
		base = array(d, base, n.v, where);
		d->unsized = !given; /* in the end: the outermost one */
	}
	d->depth--;
	return base;
}

static const struct type *direct(struct cdecl *d, const struct type *base, struct spec *s,
				 const struct ctok **name)
{
	/* '(' begins a declarator in brackets, unless it begins parameters of one without a name.
	 */
	if (at(d, "(") && d->t->next && !ctok_is(d->t->next, ")") && !starts_type(d, d->t->next)) {
		struct ctok *inner = d->t->next;
		skip_balanced(d);
		base = suffixes(d, base);
		struct ctok *behind = d->t;
		const struct ctok *was = d->last;
		d->t = inner;
		base = declarator(d, base, s, name);
		expect(d, ")");
		d->t = behind;
		d->last = was;
		return base;
	}
	if (at_ident(d) && !is_word(d->t->text)) {
		*name = d->t;
		next(d);
	}
	return suffixes(d, base);
}

static const struct type *declarator(struct cdecl *d, const struct type *base, struct spec *s,
				     const struct ctok **name)
{
	if (d->depth >= MAX_DEPTH)
		fail(d, d->t, "nested too deeply (more than %d levels)", MAX_DEPTH);
	if (d->panic)
		return &type_error;
	d->depth++;
	attributes(d, s);
	while (accept(d, "*")) {
		struct spec q = {0};
		base = type_ptr(d->arena, base, AS_NONE);
		while (at_ident(d) && modifier(d, &q))
			;
		if (q.qual)
			((struct type *)base)->qual = q.qual;
	}
	base = direct(d, base, s, name);
	d->depth--;
	return base;
}

static const struct type *type_name_at(struct cdecl *d)
{
	struct spec s = {0};
	const struct ctok *name = NULL;
	specifiers(d, &s);
	if (!s.type) {
		expected(d, "a type");
		return &type_error;
	}
	const struct ctok *where = d->t;
	const struct type *t = declarator(d, s.type, &s, &name);
	if (!d->panic && incomplete(d, t))
		fail(d, where, "this type has no size here");
	return d->panic ? &type_error : t;
}

/* ---- whole declarations ---- */

static void add_typedef(struct cdecl *d, const struct ctok *name, const struct type *t,
			const struct spec *s)
{
	const struct cname *old = names_get(&d->typedefs, name->text);
	if (old && (name->sys || type_eq(old->type, t)))
		return;
	if (old && !old->weak) {
		u32 nerror = d->diags->nerror;
		fail(d, name, "'%.*s' is defined twice", STRF(name->text));
		note(d, nerror, old->loc);
		return;
	}
	/* A copy knows its name; a struct that is still to be defined must stay one object. */
	if (!type_is_record(t) || !t->name.n || s->align) {
		struct type *c = arena_new(d->arena, struct type);
		*c = *t;
		c->alias = name->text;
		if (s->align) /* a typedef may lower it, too */
			c->align = s->align;
		t = c;
	}
	struct cname *c = arena_new(d->arena, struct cname);
	*c = (struct cname){t, 0, name->sys, name->loc};
	names_set(&d->typedefs, d->arena, name->text, c);
}

static void declaration(struct cdecl *d)
{
	struct spec s = {0};
	const struct ctok *first = d->t;
	if (accept(d, ";"))
		return;
	if (at(d, "_Static_assert") || at(d, "__asm__") || at(d, "asm")) {
		skip_declaration(d);
		return;
	}
	specifiers(d, &s);
	if (!s.seen)
		expected(d, "a definition");
	while (!d->panic && !at(d, ";")) {
		const struct ctok *name = NULL;
		struct spec own = s;
		if (!s.type) {
			fail(d, first, "expected a type");
			break;
		}
		const struct type *t = declarator(d, s.type, &own, &name);
		attributes(d, &own);
		if (d->panic)
			break;
		if (!s.is_typedef) { /* a variable or function: no business of ours */
			skip_declaration(d);
			return;
		}
		if (!name)
			expected(d, "a name");
		else
			add_typedef(d, name, t, &own);
		if (!at(d, ";"))
			expect(d, ",");
	}
	if (!d->panic)
		expect(d, ";");
	if (d->panic) {
		d->t = (struct ctok *)first;
		skip_declaration(d);
	}
}

void cdecl_parse(struct cdecl *d, struct ctok *list)
{
	u32 nerror = d->diags->nerror;
	d->t = list;
	while (d->t && d->diags->nerror < nerror + MAX_ERRORS) {
		const struct ctok *was = d->t;
		d->panic = false;
		d->depth = 0;
		declaration(d);
		if (d->t == was)
			next(d);
	}
}

void cdecl_finish(struct cdecl *d)
{
	for (struct ctag *g = d->pending; g; g = g->next)
		if (!g->defined && !borrow(d, g)) {
			g->type->kind = T_FWD;
			g->type->count = g->kind == T_UNION;
		}
	d->pending = NULL;
}

const struct type *cdecl_type(const struct cdecl *d, struct str name, enum type_kind kind,
			      bool weak)
{
	if (kind == T_NONE) {
		const struct cname *c = names_get(&d->typedefs, name);
		if (c)
			return c->weak == weak ? c->type : NULL;
	}
	const struct ctag *g = names_get(&d->tag, name);
	bool fits = g && g->defined && g->weak == weak && (kind == T_NONE || kind == g->kind);
	return fits ? g->type : NULL;
}

bool cdecl_enumerator(const struct cdecl *d, struct str name, bool weak, i64 *val,
		      const struct type **type)
{
	const struct cname *c = names_get(&d->enumerators, name);
	if (!c || c->weak != weak)
		return false;
	*val = c->val;
	if (type)
		*type = c->type;
	return true;
}
