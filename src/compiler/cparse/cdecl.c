/* cdecl.c - declarations of C: specifiers, declarators, bodies of structs and enums. */
#include "cparse/cdecl_parse.h"
#include <stdarg.h>

enum { MAX_ERRORS = 20 };

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
	C_PLAIN_UCHAR,
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

void cd_fail(struct cdecl *d, const struct ctok *at, const char *fmt, ...)
{
	const struct ctok *t = at ? at : d->last;
	bool was = d->panic;
	d->panic = true;
	if (was || !t || t->sys)
		return;
	va_list ap;
	va_start(ap, fmt);
	u32 before = d->diags->nerror;
	struct diag *g = diag_addv(d->diags, E_CDECL, t->loc, fmt, ap);
	va_end(ap);
	if (!at && d->diags->nerror > before)
		g->msg = arena_fmt(d->diags->arena, "%s at the end", g->msg);
}

void cd_note(struct cdecl *d, u32 nerror, struct loc loc)
{
	if (d->diags->nerror > nerror)
		diag_note(d->diags, d->diags->last, loc, "This is the first definition.");
}

void cd_next(struct cdecl *d)
{
	if (!d->t)
		return;
	d->last = d->t;
	d->t = d->t->next;
}

bool cd_accept(struct cdecl *d, const char *text)
{
	if (!cd_at(d, text))
		return false;
	cd_next(d);
	return true;
}

void cd_expected(struct cdecl *d, const char *what)
{
	if (d->t)
		cd_fail(d, d->t, "expected %s, found '%.*s'", what, STRF(d->t->text));
	else
		cd_fail(d, NULL, "expected %s", what);
}

void cd_expect(struct cdecl *d, const char *text)
{
	if (!cd_accept(d, text))
		cd_expected(d, arena_fmt(d->arena, "'%s'", text));
}

/* Over a bracket and all up to its partner. */
void cd_skip(struct cdecl *d)
{
	u32 depth = 0;
	do {
		depth += cd_at(d, "(") || cd_at(d, "{") || cd_at(d, "[");
		depth -= cd_at(d, ")") || cd_at(d, "}") || cd_at(d, "]");
		cd_next(d);
	} while (d->t && depth);
}

/* To behind the ';' or the body that ends this declaration. */
static void skip_declaration(struct cdecl *d)
{
	while (d->t) {
		bool body = cd_at(d, "{"), code = body && ctok_is(d->last, ")");
		if (cd_accept(d, ";"))
			return;
		if (body || cd_at(d, "(") || cd_at(d, "["))
			cd_skip(d);
		else
			cd_next(d);
		if (code ||
		    (body && !cd_at(d, ";") && !cd_at(d, ",") && !cd_at_ident(d) && !cd_at(d, "*")))
			return;
	}
}

/* ---- constant expressions ---- */

static const struct type *type_name_at(struct cdecl *d);
static bool starts_type(struct cdecl *d, const struct ctok *t);

static bool sized(struct cexpr *e, struct cdecl *d, bool align, struct cval *ret)
{
	d->t = e->t->next;
	if (!ctok_is(d->t, "(") || !starts_type(d, d->t->next))
		return cexpr_fail(e, e->t, "sizeof needs a type in parentheses here");
	cd_next(d);
	const struct type *t = type_name_at(d);
	cd_expect(d, ")");
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
		cd_expect(d, ")");
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

bool cd_constant(struct cdecl *d, struct cval *ret)
{
	struct cexpr e = {.t = d->t, .atom = atom, .arg = d, .depth = d->depth};
	*ret = (struct cval){0};
	if (d->panic)
		return false;
	bool ok = cexpr_eval(&e, ret);
	d->t = e.t;
	if (!ok && e.why && *e.why)
		cd_fail(d, e.at, "%s", e.why);
	return ok && !d->panic;
}

/* ---- attributes ---- */

static u32 alignment(struct cdecl *d)
{
	struct cval v = {.v = 16};
	if (cd_accept(d, "(")) {
		const struct ctok *where = d->t;
		if (starts_type(d, d->t))
			v.v = type_name_at(d)->align;
		else
			cd_constant(d, &v);
		cd_expect(d, ")");
		if (!d->panic && (!v.v || (v.v & (v.v - 1)) || v.v > CDECL_MAX_BYTES))
			cd_fail(d, where, "an alignment is a power of two");
	}
	return d->panic ? 1 : (u32)v.v;
}

static void attribute_list(struct cdecl *d, struct spec *s)
{
	cd_expect(d, "(");
	cd_expect(d, "(");
	while (!d->panic && d->t && !cd_at(d, ")")) {
		if (cd_at(d, "packed") || cd_at(d, "__packed__")) {
			s->packed = true;
			cd_next(d);
		} else if (cd_at(d, "aligned") || cd_at(d, "__aligned__")) {
			cd_next(d);
			u32 n = alignment(d);
			s->align = MAX(s->align, n);
		} else if (!cd_at(d, ",")) {
			cd_next(d);
			if (cd_at(d, "("))
				cd_skip(d);
		}
		if (!cd_at(d, ")"))
			cd_expect(d, ",");
	}
	cd_expect(d, ")");
	cd_expect(d, ")");
}

void cd_attributes(struct cdecl *d, struct spec *s)
{
	while (!d->panic) {
		if (cd_accept(d, "__attribute__") || cd_accept(d, "__attribute")) {
			attribute_list(d, s);
		} else if (cd_at(d, "__asm__") || cd_at(d, "asm") || cd_at(d, "__asm")) {
			cd_next(d);
			cd_skip(d);
		} else if (cd_at(d, "__extension__") || cd_at(d, "__packed")) {
			s->packed |= cd_at(d, "__packed");
			cd_next(d);
		} else {
			return;
		}
	}
}

/* ---- names ---- */

static const struct type *find_typedef(struct cdecl *d, struct str name)
{
	const struct cname *c = names_get(&d->typedefs, name);
	if (c)
		return c->type;
	return d->find ? d->find(d->arg, name, T_NONE) : NULL;
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

struct ctag *cd_tag(struct cdecl *d, enum type_kind kind, const struct ctok *name)
{
	struct ctag *g = names_get(&d->tag, name->text);
	if (g && g->kind != kind) {
		u32 nerror = d->diags->nerror;
		cd_fail(d, name, "'%.*s' was something else than %s before", STRF(name->text),
			kind == T_STRUCT  ? "a struct"
			: kind == T_UNION ? "a union"
					  : "an enum");
		cd_note(d, nerror, g->loc);
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
	if (t->kind == T_ARRAY && depth < CDECL_MAX_DEPTH)
		return natural_align(t->base, depth + 1);
	if (!type_is_record(t) || depth >= CDECL_MAX_DEPTH)
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

bool cd_incomplete(struct cdecl *d, const struct type *t)
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
	bool odd = (uns || w->nsigned) && (w->nvoid || w->nfloat || w->ndouble || w->nbool);
	u32 sum = w->nvoid + w->nchar + w->nfloat + w->ndouble + w->nbool + w->nhuge;
	if (odd || sum > 1 || w->nlong > 2 || (w->nlong && w->nshort) || (w->nsigned && uns) ||
	    (sum && w->nint) || ((w->nlong || w->nshort) && sum && !w->ndouble))
		return NULL;
	if (w->nvoid)
		return &type_none;
	if (w->nbool)
		return &type_bool;
	if (w->nfloat || w->ndouble)
		return &c_float[w->nfloat ? 0 : w->nlong ? 2 : 1];
	if (w->nchar)
		return &ctypes[uns                ? C_UCHAR
			       : w->nsigned       ? C_SCHAR
			       : d->unsigned_char ? C_PLAIN_UCHAR
						  : C_CHAR];
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
	cd_attributes(d, s);
	if (d->t != was)
		return true;
	if (cd_accept(d, "typedef"))
		return s->is_typedef = true;
	if (cd_accept(d, "_Alignas")) {
		u32 n = alignment(d);
		s->align = MAX(s->align, n);
		return true;
	}
	for (size_t i = 0; i < countof(words); i++)
		if (cd_accept(d, words[i].text)) {
			s->qual |= words[i].qual;
			return true;
		}
	return false;
}

static const struct type *unknown_type(struct cdecl *d, const struct ctok *t)
{
	cd_fail(d, t, "unknown type '%.*s'", STRF(t->text));
	return &type_error;
}

void cd_specifiers(struct cdecl *d, struct spec *s)
{
	struct words w = {0};
	u32 nword = 0;
	const struct ctok *first = d->t;
	while (!d->panic && cd_at_ident(d)) {
		const struct ctok *t = d->t;
		s->seen = true;
		if (modifier(d, s))
			continue;
		if (!s->type && count_word(&w, t->text)) {
			nword++;
			cd_next(d);
			continue;
		}
		if (s->type || nword)
			break;
		if (cd_accept(d, "struct"))
			s->type = cd_tagged(d, s, T_STRUCT);
		else if (cd_accept(d, "union"))
			s->type = cd_tagged(d, s, T_UNION);
		else if (cd_accept(d, "enum"))
			s->type = cd_tagged(d, s, T_ENUM);
		else if ((s->type = find_typedef(d, t->text)))
			cd_next(d);
		else if (str_is(t->text, "bool") && (s->type = &type_bool))
			cd_next(d);
		else
			s->type = unknown_type(d, t);
	}
	if (nword && !d->panic && !(s->type = basic(d, &w)))
		cd_fail(d, first, "these words make no type");
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
	while (!d->panic && d->t && !cd_at(d, ")")) {
		struct spec s = {0};
		const struct ctok *name = NULL;
		if (cd_accept(d, "..."))
			break;
		cd_specifiers(d, &s);
		if (!s.type && !d->panic)
			cd_expected(d, "a parameter");
		if (d->panic)
			break;
		const struct type *pt = cd_declarator(d, s.type, &s, &name);
		if (pt->kind == T_ARRAY)
			pt = type_ptr(d->arena, pt->base, AS_NONE);
		if (pt->kind != T_NONE) {
			struct field *f = cd_add_field(d, &b);
			*f = (struct field){.type = pt, .bit_off = b.n * 64};
			f->name = name ? name->text : STR("");
			b.n++;
		}
		cd_attributes(d, &s);
		if (!cd_at(d, ")"))
			cd_expect(d, ",");
	}
	cd_expect(d, ")");
	t->field = b.f;
	t->nfield = b.n;
	return t;
}

static const struct type *array(struct cdecl *d, const struct type *of, u64 count,
				const struct ctok *where)
{
	if (d->panic)
		return &type_error;
	if (of->kind == T_FUNC || (of->kind == T_NONE && !of->size)) {
		cd_fail(d, where, "an array cannot have elements of this type");
		return &type_error;
	}
	if (cd_incomplete(d, of)) {
		cd_fail(d, where, "the elements of this array have no size here");
		return &type_error;
	}
	if (count > CDECL_MAX_BYTES || (u64)of->size * count > CDECL_MAX_BYTES) {
		cd_fail(d, where, "this array is too large");
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
	if (d->depth >= CDECL_MAX_DEPTH) {
		cd_fail(d, where, "nested too deeply (more than %d levels)", CDECL_MAX_DEPTH);
		return &type_error;
	}
	d->depth++;
	if (cd_accept(d, "(")) {
		const struct type *t = params(d, base);
		base = d->panic ? &type_error : t;
	} else if (cd_accept(d, "[")) {
		struct cval n = {0};
		struct spec ignored = {0};
		while (cd_at_ident(d) && modifier(d, &ignored))
			;
		bool given = !cd_at(d, "]") && cd_constant(d, &n);
		if (given && (i64)n.v < 0)
			cd_fail(d, where->next, "the size of an array is not negative");
		cd_expect(d, "]");
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
	if (cd_at(d, "(") && d->t->next && !ctok_is(d->t->next, ")") &&
	    !starts_type(d, d->t->next)) {
		struct ctok *inner = d->t->next;
		cd_skip(d);
		base = suffixes(d, base);
		struct ctok *behind = d->t;
		const struct ctok *was = d->last;
		d->t = inner;
		base = cd_declarator(d, base, s, name);
		cd_expect(d, ")");
		d->t = behind;
		d->last = was;
		return base;
	}
	if (cd_at_ident(d) && !is_word(d->t->text)) {
		*name = d->t;
		cd_next(d);
	}
	return suffixes(d, base);
}

const struct type *cd_declarator(struct cdecl *d, const struct type *base, struct spec *s,
				 const struct ctok **name)
{
	if (d->depth >= CDECL_MAX_DEPTH)
		cd_fail(d, d->t, "nested too deeply (more than %d levels)", CDECL_MAX_DEPTH);
	if (d->panic)
		return &type_error;
	d->depth++;
	cd_attributes(d, s);
	while (cd_accept(d, "*")) {
		struct spec q = {0};
		base = type_ptr(d->arena, base, AS_NONE);
		while (cd_at_ident(d) && modifier(d, &q))
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
	cd_specifiers(d, &s);
	if (!s.type) {
		cd_expected(d, "a type");
		return &type_error;
	}
	const struct ctok *where = d->t;
	const struct type *t = cd_declarator(d, s.type, &s, &name);
	if (!d->panic && cd_incomplete(d, t))
		cd_fail(d, where, "this type has no size here");
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
		cd_fail(d, name, "'%.*s' is defined twice", STRF(name->text));
		cd_note(d, nerror, old->loc);
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
	if (cd_accept(d, ";"))
		return;
	if (cd_at(d, "_Static_assert") || cd_at(d, "__asm__") || cd_at(d, "asm")) {
		skip_declaration(d);
		return;
	}
	cd_specifiers(d, &s);
	if (!s.seen)
		cd_expected(d, "a definition");
	while (!d->panic && !cd_at(d, ";")) {
		const struct ctok *name = NULL;
		struct spec own = s;
		if (!s.type) {
			cd_fail(d, first, "expected a type");
			break;
		}
		const struct type *t = cd_declarator(d, s.type, &own, &name);
		cd_attributes(d, &own);
		if (d->panic)
			break;
		if (!s.is_typedef) { /* a variable or function: no business of ours */
			skip_declaration(d);
			return;
		}
		if (!name)
			cd_expected(d, "a name");
		else
			add_typedef(d, name, t, &own);
		if (!cd_at(d, ";"))
			cd_expect(d, ",");
	}
	if (!d->panic)
		cd_expect(d, ";");
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
			cd_next(d);
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
