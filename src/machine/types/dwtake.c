/* dwtake.c - debug information as another process tells it; nothing of it is believed. See dwpack.h. */
#include "base/pack.h"
#include "types/dwpack.h"

enum {
	MAX_WORD = 1 << 20, /* bytes of a name: templates have long ones */
	MAX_TYPES = 1 << 20,
	MAX_SIZE = 1 << 30,
	MAX_PIECE = 1 << 24,
	MAX_ALIGN = 16,
	MAX_CHAIN = 128, /* pointers to pointers to ... */
};

static bool take_word(struct bytes *b, struct arena *a, struct str *ret)
{
	struct str s = unpack_str(b);
	if (b->bad || s.n > MAX_WORD || memchr(s.s, 0, s.n))
		return false;
	*ret = s.n ? arena_str(a, s) : STR("");
	return true;
}

/* A number of things, of which each takes at least so many bytes. */
static bool take_count(struct bytes *b, u32 least, u32 most, u32 *ret)
{
	*ret = bytes_u32(b);
	return !b->bad && *ret <= most && *ret <= (b->n - b->at) / least;
}

/* ---- types ---- */

/* Those of one answer; depth of each: types that it leads to in a row. */
struct taken {
	const struct type **v;
	u8 *depth;
	u32 n;
};

/* By number; 0: none, which is NULL. */
static bool take_ref(struct bytes *b, const struct taken *all, const struct type **ret)
{
	u32 i = bytes_u32(b);
	if (b->bad || i > all->n)
		return false;
	*ret = i ? all->v[i - 1] : NULL;
	return true;
}

static u32 record_of(struct debug_types *t, const struct debug_key *k, u32 size, u32 align)
{
	for (u32 i = 0; i < t->record.n; i++) {
		const struct debug_key *o = &t->record.v[i].key;
		if (o->where == k->where && o->unit == k->unit && o->type == k->type &&
		    o->die == k->die)
			return i + 1;
	}
	vec_add(&t->record, (struct debug_record){.key = *k, .size = size, .align = align});
	return t->record.n;
}

static bool is_width(u32 n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

static bool is_sound(const struct type *t)
{
	if (t->size > MAX_SIZE || !t->align || t->align > MAX_ALIGN || t->align & (t->align - 1))
		return false;
	switch ((int)t->kind) {
	case T_NONE:
	case T_ERROR: return !t->base;
	case T_BOOL: return t->size == 1 && !t->base;
	case T_INT: return is_width(t->size) && !t->base;
	case T_ENUM: return is_width(t->size) && t->base && t->base->kind == T_INT;
	case T_FLOAT: return (t->size == 4 || t->size == 8 || t->size == 16) && !t->base;
	case T_PTR: return t->size == 8 && t->base;
	case T_ARRAY: return t->base && (u64)t->base->size * t->count == t->size;
	case T_STRUCT:
	case T_UNION: return !t->base;
	case T_FUNC: return !t->size && t->base;
	}
	return false; /* programs have no others */
}

static bool take_enums(struct bytes *b, struct arena *a, struct type *t)
{
	enum { LEAST = 4 + 8 };
	if (!take_count(b, LEAST, MAX_TYPES, &t->nenum))
		return false;
	struct enumerator *e = arena_newn(a, struct enumerator, t->nenum + 1);
	for (u32 i = 0; i < t->nenum; i++) {
		if (!take_word(b, a, &e[i].name))
			return false;
		e[i].val = (i64)bytes_u64(b);
	}
	t->enums = e;
	return !b->bad && (!t->nenum || t->kind == T_ENUM);
}

static const struct type *take_node(struct bytes *b, struct debug_types *types, struct taken *all)
{
	struct type *t = arena_new(types->arena, struct type);
	u8 kind = bytes_u8(b), flags = bytes_u8(b);
	t->kind = kind < T_KINDS ? kind : T_ERROR;
	t->is_signed = flags & 1;
	t->is_char = flags >> 1 & 1;
	t->qual = bytes_u8(b) & (TQ_CONST | TQ_VOLATILE | TQ_RESTRICT);
	t->size = bytes_u32(b);
	t->align = bytes_u32(b);
	t->count = bytes_u32(b);
	u32 base = bytes_u32(b);
	if (b->bad || base > all->n)
		return NULL;
	t->base = base ? all->v[base - 1] : NULL;
	all->depth[all->n] = base ? all->depth[base - 1] + 1 : 0;
	if (all->depth[all->n] > MAX_CHAIN || !take_word(b, types->arena, &t->name) ||
	    !take_word(b, types->arena, &t->alias) || !take_enums(b, types->arena, t) ||
	    !is_sound(t))
		return NULL;
	if (t->kind == T_PTR)
		t->space = AS_USER;
	if (type_is_record(t)) {
		struct debug_key k = debug_take_key(b);
		t->lazy = &types->filler;
		t->id = record_of(types, &k, t->size, t->align);
	}
	bool plain = !t->alias.n && !t->qual;
	if (plain && t->kind == T_ERROR)
		return &type_error;
	return plain && t->kind == T_NONE ? &type_none : t;
}

static bool take_types(struct bytes *b, struct debug_types *types, struct taken *ret)
{
	enum { LEAST = 3 + 4 * 4 + 2 * 4 + 4 }; /* bytes of one */
	u32 n;
	if (!take_count(b, LEAST, MAX_TYPES, &n))
		return false;
	*ret = (struct taken){.v = arena_newn(types->arena, const struct type *, n + 1),
			      .depth = arena_newn(types->arena, u8, n + 1)};
	for (; ret->n < n; ret->n++)
		if (!(ret->v[ret->n] = take_node(b, types, ret)))
			return false;
	return !b->bad;
}

bool debug_take_type(struct bytes *b, struct debug_types *t, const struct type **ret)
{
	struct taken all;
	return take_types(b, t, &all) && take_ref(b, &all, ret);
}

/* As the reader of DWARF has them: within the struct, and none that is walked for ever. */
static bool fits(const struct debug_types *t, u32 of, const struct field *f)
{
	const struct debug_record *r = &t->record.v[of];
	u64 bits = f->bit_len ? f->bit_len : (u64)f->type->size * 8, all = (u64)r->size * 8;
	bool loops = !f->name.n && type_is_record(f->type) && f->type->id == of + 1;
	return f->bit_len <= 64 && f->bit_off <= all && bits <= all - f->bit_off && !loops &&
	       f->type->kind != T_ERROR && f->type->kind != T_NONE;
}

bool debug_take_members(struct bytes *b, struct debug_types *t, u32 i)
{
	enum { LEAST = 4 * 4 };
	struct taken all;
	u32 n;
	if (!take_types(b, t, &all))
		return false;
	u32 size = bytes_u32(b), align = bytes_u32(b);
	if (!take_count(b, LEAST, MAX_TYPES, &n) || size > MAX_SIZE || !align ||
	    align > MAX_ALIGN || align & (align - 1))
		return false;
	struct debug_record *r = &t->record.v[i];
	r->size = size;
	r->align = align;
	struct field *f = arena_newn(t->arena, struct field, n + 1);
	for (u32 k = 0; k < n; k++) {
		if (!take_word(b, t->arena, &f[k].name) || !take_ref(b, &all, &f[k].type) ||
		    !f[k].type)
			return false;
		f[k].bit_off = bytes_u32(b);
		f[k].bit_len = bytes_u32(b);
		if (b->bad || !fits(t, i, &f[k]))
			return false;
	}
	r->field = f;
	r->nfield = n;
	return true;
}

/* ---- places ---- */

/* How many values a step takes and leaves; false: no such step. */
static bool step_of(const struct debug_op *o, u32 *takes, u32 *leaves)
{
	*takes = 0;
	*leaves = 1;
	switch (o->kind) {
	case DO_CONST:
	case DO_REG:
	case DO_BIAS: return true;
	case DO_LOAD: *takes = 1; return o->v <= 8 && is_width((u32)o->v);
	case DO_PICK:
		*takes = o->v < DEBUG_STACK ? (u32)o->v + 1 : UINT32_MAX;
		*leaves = *takes + 1;
		return true;
	case DO_DROP:
		*takes = 1;
		*leaves = 0;
		return true;
	case DO_SWAP: *takes = *leaves = 2; return true;
	case DO_ROT: *takes = *leaves = 3; return true;
	case DO_ADD:
	case DO_SUB:
	case DO_MUL:
	case DO_AND:
	case DO_OR:
	case DO_XOR:
	case DO_SHL:
	case DO_SHR:
	case DO_SAR: *takes = 2; return true;
	case DO_NEG:
	case DO_NOT: *takes = 1; return true;
	}
	return false;
}

static bool take_piece(struct bytes *b, struct arena *a, struct debug_piece *p)
{
	u32 have = 0, takes, leaves, n;
	*p = (struct debug_piece){.value = bytes_u8(b) & 1};
	p->size = bytes_u32(b);
	if (!take_count(b, 9, DEBUG_OPS, &n) || p->size > MAX_PIECE)
		return false;
	struct debug_op *op = arena_newn(a, struct debug_op, n + 1);
	for (u32 i = 0; i < n; i++) {
		u8 kind = bytes_u8(b);
		op[i] = (struct debug_op){.kind = kind, .v = bytes_u64(b)};
		if (kind > DO_NOT || !step_of(&op[i], &takes, &leaves) || have < takes)
			return false;
		have += leaves - takes;
		if (have > DEBUG_STACK)
			return false;
	}
	p->op = op;
	p->nop = n;
	return !b->bad && have;
}

static bool take_var(struct bytes *b, struct arena *a, const struct taken *all, struct debug_var *v)
{
	enum { LEAST = 1 + 4 + 4 };
	struct str why;
	u32 n;
	*v = (struct debug_var){.name = STR("")};
	if (!take_word(b, a, &v->name) || !take_ref(b, all, &v->type) || !take_word(b, a, &why) ||
	    !take_count(b, LEAST, DEBUG_PIECES, &n))
		return false;
	if (why.n)
		v->why = arena_strz(a, why);
	struct debug_piece *p = arena_newn(a, struct debug_piece, n + 1);
	for (u32 i = 0; i < n; i++)
		if (!take_piece(b, a, &p[i]))
			return false;
	v->loc = (struct debug_loc){n, p};
	return !v->type || v->why || n;
}

bool debug_take_func(struct bytes *b, struct debug_types *t, struct debug_func *ret)
{
	enum { LEAST = 4 * 4 };
	struct debug_func f = {.name = STR("")};
	struct taken all;
	if (!take_types(b, t, &all) || !take_word(b, t->arena, &f.name))
		return false;
	f.entry = bytes_u64(b);
	f.at_entry = bytes_u8(b) & 1;
	if (!take_var(b, t->arena, &all, &f.ret) || !take_count(b, LEAST, MAX_TYPES, &f.nvar))
		return false;
	f.var = arena_newn(t->arena, struct debug_var, f.nvar + 1);
	for (u32 i = 0; i < f.nvar; i++)
		if (!take_var(b, t->arena, &all, &f.var[i]) || !f.var[i].type)
			return false;
	*ret = f;
	return true;
}

/* ---- lines ---- */

bool debug_take_frames(struct bytes *b, struct arena *a, struct debug_frame *v, u32 max, u32 *n)
{
	enum { LEAST = 2 * 4 + 4 + 1 };
	if (!take_count(b, LEAST, max, n))
		return false;
	for (u32 i = 0; i < *n; i++) {
		v[i] = (struct debug_frame){.name = STR("")};
		if (!take_word(b, a, &v[i].name) || !take_word(b, a, &v[i].source))
			return false;
		v[i].line = bytes_u32(b);
		v[i].inlined = bytes_u8(b) & 1;
	}
	return !b->bad;
}
