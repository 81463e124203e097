/* cbody.c - bodies of structs, unions and enums. */
#include "cparse/cdecl_parse.h"

enum { MAX_FIELDS = 1 << 16 };

struct field *cd_add_field(struct cdecl *d, struct body *b)
{
	b->f = arena_more(d->arena, b->f, b->n, sizeof(*b->f));
	return &b->f[b->n];
}

static void bit_field(struct cdecl *d, struct body *b, struct field *f, struct spec *s)
{
	const struct ctok *where = d->t;
	struct cval w;
	if (!cd_constant(d, &w))
		return;
	u32 max = f->type->kind == T_BOOL ? 1 : f->type->size * 8;
	if (!type_is_int(f->type) && f->type->kind != T_BOOL)
		cd_fail(d, where, "a bit-field is an integer");
	else if (w.v > max)
		cd_fail(d, where, "a bit-field is not wider than its type (%u bits)", max);
	else if (!w.v && f->name.n)
		cd_fail(d, where, "a bit-field without bits has no name");
	if (d->panic)
		return;
	cd_attributes(d, s);
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
			cd_fail(d, name, "there is already a member '%.*s'", STRF(name->text));
			cd_note(d, nerror, b->f[i].loc);
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
	if (!cd_at(d, ":") && !cd_at(d, ";"))
		t = cd_declarator(d, t, &s, &name);
	if (d->panic)
		return;
	if (b->n >= MAX_FIELDS) {
		cd_fail(d, where, "more than %d members", MAX_FIELDS);
		return;
	}
	struct field *f = cd_add_field(d, b);
	*f = (struct field){.type = t};
	if (name) {
		f->name = name->text;
		f->loc = name->loc;
		known_once(d, b, name);
	}
	if (cd_accept(d, ":")) {
		bit_field(d, b, f, &s);
		return;
	}
	cd_attributes(d, &s);
	if (!name && !type_is_record(t)) {
		if (!common->fresh)
			cd_expected(d, "the name of a member");
		return; /* enum { ... }; inside */
	}
	if (!name && t->name.n) /* struct x { ... }; inside declares nothing */
		return;
	if (cd_incomplete(d, t)) {
		AUTO_SB n = {0};
		type_name(t, &n);
		cd_fail(d, name ? name : where, "the type of this member (%s) has no size here",
			n.s ? n.s : "");
		return;
	}
	if (b->lay.flex && !b->lay.is_union)
		cd_fail(d, name ? name : where, "no member can follow a flexible array");
	b->lay.flex |= t->kind == T_ARRAY && d->unsized;
	struct clayout *l = &b->lay;
	bool was = l->packed;
	l->packed |= s.packed && name;
	if (!clayout_member(l, f, s.align))
		cd_fail(d, name ? name : where, "this is too large");
	l->packed = was;
	b->n++;
}

static void members(struct cdecl *d, struct body *b)
{
	while (!d->panic && d->t && !cd_at(d, "}")) {
		if (cd_accept(d, ";"))
			continue;
		if (cd_accept(d, "_Static_assert")) {
			cd_skip(d);
			continue;
		}
		struct spec s = {0};
		cd_specifiers(d, &s);
		if (d->panic)
			return;
		if (!s.type) {
			cd_expected(d, "a type");
			return;
		}
		do
			member(d, b, &s);
		while (!d->panic && cd_accept(d, ","));
		if (!cd_at(d, "}"))
			cd_expect(d, ";");
	}
}

static void record_body(struct cdecl *d, struct type *t, struct spec *s)
{
	struct body b = {
		.lay = {.is_union = t->kind == T_UNION, .bits_align = d->bits_align, .align = 1}};
	/* packed may stand behind the brace, but decides about what is inside. */
	struct spec after = *s;
	struct ctok *body = d->t;
	cd_next(d);
	if (d->depth++ >= CDECL_MAX_DEPTH)
		cd_fail(d, body, "nested too deeply (more than %d levels)", CDECL_MAX_DEPTH);
	struct ctok *first = d->t;
	const struct ctok *was = d->last;
	d->t = body;
	cd_skip(d);
	bool panic = d->panic;
	cd_attributes(d, &after);
	d->panic = panic;
	d->t = first;
	d->last = was;
	b.lay.packed = after.packed;
	members(d, &b);
	cd_expect(d, "}");
	cd_attributes(d, s);
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
	if (!cd_at_ident(d)) {
		cd_expected(d, "the name of an enumerator");
		return;
	}
	cd_next(d);
	cd_attributes(d, &ignored);
	if (cd_accept(d, "="))
		cd_constant(d, v);
	*e = (struct enumerator){name->text, (i64)v->v};
	struct cname *old = names_get(&d->enumerators, name->text);
	if (old && !name->sys && !old->weak) {
		u32 nerror = d->diags->nerror;
		cd_fail(d, name, "there is already an enumerator '%.*s'", STRF(name->text));
		cd_note(d, nerror, old->loc);
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
	u32 n = 0;
	struct enumerator *e = NULL;
	i64 min = 0, max = 0;
	bool large = false;
	for (cd_next(d); !d->panic && d->t && !cd_at(d, "}");) {
		e = arena_more(d->arena, e, n, sizeof(*e));
		enumerator(d, &e[n], &v, t);
		large |= v.uns && (i64)v.v < 0;
		min = MIN(min, e[n].val);
		max = MAX(max, e[n].val);
		n++;
		v = (struct cval){v.v + 1, v.uns, true};
		if (!cd_at(d, "}"))
			cd_expect(d, ",");
	}
	if (!n)
		cd_expected(d, "an enumerator");
	cd_expect(d, "}");
	cd_attributes(d, s);
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
		cd_fail(d, name, "'%.*s' is defined twice", STRF(name->text));
		cd_note(d, nerror, g->loc);
	}
	cd_skip(d);
	return true;
}

const struct type *cd_tagged(struct cdecl *d, struct spec *s, enum type_kind kind)
{
	struct spec own = {0};
	cd_attributes(d, &own);
	const struct ctok *name = cd_at_ident(d) ? d->t : NULL;
	struct ctag *g = NULL;
	struct type *t = NULL;
	if (name) {
		cd_next(d);
		g = cd_tag(d, kind, name);
		t = g->type;
	} else if (!cd_at(d, "{")) {
		cd_expected(d, "a name or '{'");
	}
	if (d->panic)
		return &type_error;
	s->fresh = true;
	if (!cd_at(d, "{") || redefined(d, g ? g : &(struct ctag){0}, name ? name : d->t))
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
