/* dwpack.c - what was read of debug information, made bytes; see dwpack.h. */
#include "types/dwpack.h"
#include "base/pack.h"
#include "types/dw.h"

/* ---- where a type stands ---- */

enum {
	IN_FILE,
	IN_SHARED,
	IN_SPLIT, /* in another file: of the unit, or of a type there */
	TYPES = 4
}; /* TYPES: .debug_types, which is counted by itself */

static struct debug_key key_of(struct debug *d, Dwarf_Die *die)
{
	Dwarf *of = dwarf_cu_getdwarf(die->cu);
	struct debug_key k = {.die = dwarf_dieoffset(die)};
	Dwarf_Half version = 0;
	uint8_t kind = 0;
	dwarf_cu_info(die->cu, &version, &kind, NULL, NULL, NULL, NULL, NULL);
	if (of != d->dw && of == dwarf_getalt(d->dw))
		k.where = IN_SHARED;
	if (dw_split_key(d, of, &k.unit, &k.type))
		k.where = IN_SPLIT;
	else if (version < 5 && (kind == DW_UT_type || kind == DW_UT_split_type))
		k.where |= TYPES;
	return k;
}

static bool die_of(struct debug *d, const struct debug_key *k, Dwarf_Die *ret)
{
	Dwarf *of = d->dw;
	if ((k->where & ~(u32)TYPES) == IN_SHARED)
		of = dwarf_getalt(d->dw);
	if (k->where == IN_SPLIT)
		of = dw_split_by(d, k->unit, k->type);
	return of && (k->where & TYPES ? dwarf_offdie_types(of, k->die, ret)
				       : dwarf_offdie(of, k->die, ret));
}

void debug_pack_key(struct sb *b, const struct debug_key *k)
{
	pack_u32(b, k->where);
	pack_u64(b, k->unit);
	pack_u64(b, k->type);
	pack_u64(b, k->die);
}

struct debug_key debug_take_key(struct bytes *b)
{
	struct debug_key k = {.where = bytes_u32(b)};
	k.unit = bytes_u64(b);
	k.type = bytes_u64(b);
	k.die = bytes_u64(b);
	return k;
}

/* ---- types ---- */

struct packer {
	struct debug *d;
	struct sb out;
	VEC(const struct type *) seen;
};

static u32 put_type(struct packer *p, const struct type *t);

static void put_node(struct packer *p, const struct type *t, u32 base)
{
	struct sb *b = &p->out;
	struct debug_key k = {0};
	pack_u8(b, t->kind);
	pack_u8(b, (u8)(t->is_signed | t->is_char << 1));
	pack_u8(b, t->qual);
	pack_u32(b, t->size);
	pack_u32(b, t->align);
	pack_u32(b, t->count);
	pack_u32(b, base);
	pack_str(b, t->name);
	pack_str(b, t->alias);
	pack_u32(b, t->nenum);
	for (u32 i = 0; i < t->nenum; i++) {
		pack_str(b, t->enums[i].name);
		pack_u64(b, (u64)t->enums[i].val);
	}
	if (!type_is_record(t))
		return;
	if (t->id && t->id <= p->d->die.n)
		k = key_of(p->d, &p->d->die.v[t->id - 1]);
	debug_pack_key(b, &k);
}

/* Its number, from 1. */
static u32 put_type(struct packer *p, const struct type *t)
{
	enum { BACK = 512 }; /* one that is sent twice costs little */
	u32 base = t->base ? put_type(p, t->base) : 0;
	for (u32 i = p->seen.n; i > 0 && p->seen.n - i < BACK; i--)
		if (p->seen.v[i - 1] == t)
			return i;
	put_node(p, t, base);
	vec_add(&p->seen, t);
	return p->seen.n;
}

/* The list, then what refers to it. */
static void finish(struct packer *p, struct sb *b, struct sb *rest)
{
	pack_u32(b, p->seen.n);
	sb_add(b, sb_str(&p->out));
	sb_add(b, sb_str(rest));
	sb_free(&p->out);
	sb_free(rest);
	vec_free(&p->seen);
}

void debug_pack_type(struct sb *b, struct debug *d, const struct type *t)
{
	struct packer p = {.d = d};
	struct sb rest = {0};
	pack_u32(&rest, t ? put_type(&p, t) : 0);
	finish(&p, b, &rest);
}

bool debug_pack_members(struct sb *b, struct debug *d, const struct debug_key *k)
{
	struct packer p = {.d = d};
	struct sb rest = {0};
	Dwarf_Die die;
	d->budget = DW_BUDGET;
	const struct type *t = die_of(d, k, &die) ? dw_type_make(d, &die) : NULL;
	if (!t || !type_is_record(t))
		return false;
	u32 n;
	const struct field *f = type_fields(t, &n);
	pack_u32(&rest, t->size);
	pack_u32(&rest, t->align);
	pack_u32(&rest, n);
	for (u32 i = 0; i < n; i++) {
		pack_str(&rest, f[i].name);
		pack_u32(&rest, put_type(&p, f[i].type));
		pack_u32(&rest, f[i].bit_off);
		pack_u32(&rest, f[i].bit_len);
	}
	finish(&p, b, &rest);
	return true;
}

/* ---- functions ---- */

static void put_var(struct packer *p, struct sb *b, const struct debug_var *v)
{
	pack_str(b, v->name);
	pack_u32(b, v->type ? put_type(p, v->type) : 0);
	pack_str(b, str_z(v->why ? v->why : ""));
	u32 n = v->why ? 0 : v->loc.npiece;
	pack_u32(b, n);
	for (u32 i = 0; i < n; i++) {
		const struct debug_piece *at = &v->loc.piece[i];
		pack_u8(b, at->value);
		pack_u32(b, at->size);
		pack_u32(b, at->nop);
		for (u32 k = 0; k < at->nop; k++) {
			pack_u8(b, at->op[k].kind);
			pack_u64(b, at->op[k].v);
		}
	}
}

void debug_pack_func(struct sb *b, struct debug *d, const struct debug_func *f)
{
	struct packer p = {.d = d};
	struct sb rest = {0};
	pack_str(&rest, f->name);
	pack_u64(&rest, f->entry);
	pack_u8(&rest, f->at_entry);
	put_var(&p, &rest, &f->ret);
	pack_u32(&rest, f->nvar);
	for (u32 i = 0; i < f->nvar; i++)
		put_var(&p, &rest, &f->var[i]);
	finish(&p, b, &rest);
}

/* ---- lines ---- */

void debug_pack_frames(struct sb *b, const struct debug_frame *v, u32 n)
{
	pack_u32(b, n);
	for (u32 i = 0; i < n; i++) {
		pack_str(b, v[i].name);
		pack_str(b, v[i].source);
		pack_u32(b, v[i].line);
		pack_u8(b, v[i].inlined);
	}
}
