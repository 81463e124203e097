/* corefix.c - see corefix.h. */
#include "types/corefix.h"
#include "types/btf.h"

/* What a relocation asks: enum bpf_core_relo_kind of the kernel. */
enum ask {
	FIELD_BYTE_OFFSET,
	FIELD_BYTE_SIZE,
	FIELD_EXISTS,
	FIELD_SIGNED,
	FIELD_LSHIFT_U64,
	FIELD_RSHIFT_U64,
	TYPE_ID_LOCAL,
	TYPE_ID_TARGET,
	TYPE_EXISTS,
	TYPE_SIZE,
	ENUMVAL_EXISTS,
	ENUMVAL_VALUE,
	TYPE_MATCHES,
};
enum { POISON = 195896080 }; /* no helper: what libbpf uses, and verlog.c knows */

/* A member, seen in the object's types or in the kernel's. */
struct member {
	const struct type *type;
	u64 bit;
	u32 bit_len; /* bit-field; else 0 */
};
struct pair {
	struct member local, kernel;
	bool missing;
};

/* "task_struct___old" stands for task_struct. */
static struct str plain_name(struct str s)
{
	for (u32 i = 1; i + 3 < s.n; i++)
		if (!memcmp(s.s + i, "___", 3) && s.s[i - 1] != '_' && s.s[i + 3] != '_')
			return (struct str){s.s, i};
	return s;
}

/* "0:3:1" -> 0, then 3, then 1. */
static bool next_index(struct str *access, u32 *ret)
{
	u64 v = 0;
	u32 i = 0;
	while (i < access->n && access->s[i] >= '0' && access->s[i] <= '9' && v < UINT32_MAX)
		v = v * 10 + (u64)(access->s[i++] - '0');
	if (!i || v > UINT32_MAX || (i < access->n && access->s[i] != ':'))
		return false;
	*access = str_from(*access, MIN(i + 1, access->n));
	*ret = (u32)v;
	return true;
}

static const struct type *in_kernel(struct types *k, const struct type *local)
{
	if (!local->name.n)
		return NULL;
	return btf_types_find(k, plain_name(local->name), local->kind);
}

static void enter(struct member *m, const struct field *f)
{
	m->type = f->type;
	m->bit += f->bit_off;
	m->bit_len = f->bit_len;
}

static void enter_element(struct member *m, u32 index)
{
	m->type = m->type->base;
	m->bit += (u64)index * m->type->size * 8;
	m->bit_len = 0;
}

static bool enter_field(struct pair *p, u32 index)
{
	u32 n;
	const struct field *f = type_fields(p->local.type, &n);
	struct field there;
	if (index >= n)
		return false;
	enter(&p->local, &f[index]);
	if (!f[index].name.n || p->missing)
		return true;
	p->missing = !type_is_record(p->kernel.type) ||
		     !type_field(p->kernel.type, plain_name(f[index].name), &there);
	if (!p->missing)
		enter(&p->kernel, &there);
	return true;
}

static bool enter_array(struct pair *p, u32 index)
{
	enter_element(&p->local, index);
	p->missing |= p->kernel.type->kind != T_ARRAY;
	if (!p->missing)
		enter_element(&p->kernel, index);
	return true;
}

/* Both ways to a member at once. False: the access string is damaged. */
static bool follow(struct pair *p, struct str access)
{
	u32 i;
	if (!next_index(&access, &i))
		return false;
	p->local.bit = (u64)i * p->local.type->size * 8;
	if (!p->missing)
		p->kernel.bit = (u64)i * p->kernel.type->size * 8;
	while (access.n) {
		if (!next_index(&access, &i))
			return false;
		bool ok = type_is_record(p->local.type)    ? enter_field(p, i)
			  : p->local.type->kind == T_ARRAY ? enter_array(p, i)
							   : false;
		if (!ok)
			return false;
	}
	p->missing |=
		!p->missing && type_is_record(p->local.type) != type_is_record(p->kernel.type);
	return true;
}

/* The bytes that are loaded to get at it. */
static void storage(const struct member *m, u64 *at, u32 *size)
{
	*size = m->type->size;
	*at = m->bit / 8;
	if (!m->bit_len || !*size)
		return;
	*at = *at / *size * *size;
	while (m->bit + m->bit_len - *at * 8 > *size * 8ull && *size < 8) {
		*size *= 2;
		*at = m->bit / 8 / *size * *size;
	}
}

static u64 field_answer(const struct member *m, enum ask ask)
{
	u64 at;
	u32 size, bits = m->bit_len ? m->bit_len : m->type->size * 8;
	storage(m, &at, &size);
	switch (ask) {
	case FIELD_BYTE_OFFSET: return at;
	case FIELD_BYTE_SIZE: return size;
	case FIELD_SIGNED: return m->type->is_signed;
	case FIELD_LSHIFT_U64: return 64 - (m->bit + bits - at * 8);
	case FIELD_RSHIFT_U64: return 64 - bits;
	default: return 1; /* it exists */
	}
}

/* ---- instructions ---- */

static void poison(struct bpf_insn *in)
{
	bool wide = in->code == (BPF_LD | BPF_DW | BPF_IMM);
	for (u32 i = 0; i <= wide; i++)
		in[i] = (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = POISON};
}

static u32 code_of_size(u32 size)
{
	return size == 1 ? BPF_B : size == 2 ? BPF_H : size == 4 ? BPF_W : BPF_DW;
}

/* A plain integer that has another width here: an unsigned load may be of any. */
static bool resize(struct bpf_insn *in, const struct pair *p)
{
	u32 from = p->local.type->size, to = p->kernel.type->size;
	if (from == to || p->local.bit_len || p->kernel.bit_len || !type_is_scalar(p->local.type) ||
	    !type_is_scalar(p->kernel.type))
		return from == to || p->local.bit_len || p->kernel.bit_len ||
		       !type_is_scalar(p->local.type);
	if (p->local.type->is_signed || p->kernel.type->is_signed || to > 8 || (to & (to - 1)))
		return false;
	in->code = (u8)((in->code & ~BPF_SIZE(0xff)) | code_of_size(to));
	return true;
}

static bool put_answer(struct bpf_insn *in, u64 v, enum ask ask, const struct pair *p)
{
	switch (BPF_CLASS(in->code)) {
	case BPF_LDX:
	case BPF_ST:
	case BPF_STX:
		in->off = (i16)v;
		return v <= INT16_MAX && (ask != FIELD_BYTE_OFFSET || resize(in, p));
	case BPF_ALU:
	case BPF_ALU64: in->imm = (i32)v; return v <= INT32_MAX || ask == ENUMVAL_VALUE;
	case BPF_LD:
		in[0].imm = (i32)(u32)v;
		in[1].imm = (i32)(u32)(v >> 32);
		return true;
	}
	return false;
}

static bool fits(const struct object *o, u32 insn)
{
	const struct bpf_insn *in = &o->insn[insn];
	u32 cls = BPF_CLASS(in->code);
	if (cls == BPF_LD)
		return in->code == (BPF_LD | BPF_DW | BPF_IMM) && insn + 1 < o->ninsn;
	if (cls == BPF_ALU || cls == BPF_ALU64)
		return BPF_SRC(in->code) == BPF_K;
	return cls == BPF_LDX || cls == BPF_ST || cls == BPF_STX;
}

/* ---- relocations ---- */

static const struct enumerator *enumerator_named(const struct type *t, struct str name)
{
	for (u32 i = 0; t && i < t->nenum; i++)
		if (str_eq(t->enums[i].name, name))
			return &t->enums[i];
	return NULL;
}

/* False: damaged. *missing: the kernel has nothing of the kind. */
static bool answer(struct types *k, const struct type *local, const struct object_core *c,
		   struct pair *p, u64 *ret)
{
	const struct type *there = in_kernel(k, local);
	enum ask ask = (enum ask)c->kind;
	u32 i;
	struct str access = c->access;
	*p = (struct pair){.local.type = local, .kernel.type = there, .missing = !there};
	switch (ask) {
	case TYPE_ID_LOCAL:
		*ret = c->type;
		p->missing = false;
		return true;
	case TYPE_ID_TARGET: *ret = there ? there->id : 0; return true;
	case TYPE_SIZE: *ret = there ? there->size : 0; return true;
	case TYPE_EXISTS:
	case TYPE_MATCHES: *ret = 1; return true;
	case ENUMVAL_EXISTS:
	case ENUMVAL_VALUE:
		if (local->kind != T_ENUM || !next_index(&access, &i) || i >= local->nenum)
			return false;
		const struct enumerator *e =
			enumerator_named(there, plain_name(local->enums[i].name));
		p->missing = !e;
		*ret = ask == ENUMVAL_EXISTS ? 1 : e ? (u64)e->val : 0;
		return true;
	default: break;
	}
	if (!follow(p, access))
		return false;
	*ret = p->missing ? 0 : field_answer(&p->kernel, ask);
	return true;
}

static bool only_asks(enum ask ask)
{
	return ask == FIELD_EXISTS || ask == TYPE_EXISTS || ask == TYPE_MATCHES ||
	       ask == ENUMVAL_EXISTS || ask == TYPE_SIZE;
}

static struct err *fix(struct object *o, struct types *k, const struct object_core *c)
{
	const struct type *local = btf_types_get(o->btf, c->type);
	struct pair p;
	u64 v = 0;
	if (c->kind > TYPE_MATCHES || !fits(o, c->insn) || type_is_error(local) ||
	    !answer(k, local, c, &p, &v))
		return err_new("damaged object: CO-RE relocation of instruction %u", c->insn);
	struct bpf_insn *in = &o->insn[c->insn];
	if (p.missing && only_asks((enum ask)c->kind))
		v = 0;
	else if (p.missing) {
		poison(in);
		return NULL;
	}
	if (!put_answer(in, v, (enum ask)c->kind, &p))
		poison(in);
	return NULL;
}

struct err *corefix(struct object *o, struct types *kernel)
{
	if (o->ncore && !kernel)
		return err_new("the kernel's BTF is needed for its CO-RE relocations");
	for (u32 i = 0; i < o->ncore; i++) {
		struct err *e = fix(o, kernel, &o->core[i]);
		if (e)
			return e;
	}
	return NULL;
}
