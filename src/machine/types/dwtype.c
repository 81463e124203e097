/*
 * dwtype.c - types from DWARF.
 *
 * A struct is a shell at first; its members are read when somebody asks. While a type is being
 * made its DIE leads to an error type, so one that contains itself other than through a struct
 * ends there. What nothing here can hold (16-byte integers) is shown as bytes.
 */
#include "base/alloc.h"
#include "types/dw.h"

enum { MAX_DIMS = 8, MAX_MEMBERS = 1 << 16, MAX_BYTES = 1 << 20, TAG_ATOMIC = 0x47 };

static const struct type *get(struct debug *d, Dwarf_Die *die, int depth);

/* ---- table by DIE ---- */

static struct dw_type *slot(const struct debug *d, const void *key)
{
	u32 i = (u32)(((uintptr_t)key * 0x9e3779b97f4a7c15ull) >> 32) & (d->type_cap - 1);
	while (d->type[i].key && d->type[i].key != key)
		i = (i + 1) & (d->type_cap - 1);
	return &d->type[i];
}

static void remember(struct debug *d, const void *key, const struct type *t)
{
	if (d->ntype * 2 >= d->type_cap) {
		struct dw_type *old = d->type;
		u32 n = d->type_cap;
		d->type_cap = n ? n * 2 : 64;
		d->type = xcalloc(d->type_cap, sizeof(*d->type));
		assert(d->type);
		for (u32 i = 0; i < n; i++)
			if (old[i].key)
				*slot(d, old[i].key) = old[i];
		free(old);
	}
	struct dw_type *s = slot(d, key);
	d->ntype += !s->key;
	*s = (struct dw_type){.key = key, .type = t};
}

/* ---- making ---- */

static u32 bytes_of_die(Dwarf_Die *die)
{
	u64 n;
	return dw_udata(die, DW_AT_byte_size, &n) && n <= 1u << 30 ? (u32)n : 0;
}

static struct type *make(struct debug *d, Dwarf_Die *die, enum type_kind kind, u32 size)
{
	struct type *t = arena_new(d->arena, struct type);
	t->kind = kind;
	t->size = size;
	t->align = !size || size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
	t->name = dw_str(dwarf_diename(die));
	return t;
}

/* Something of that many bytes that has no better type. */
static const struct type *plain_bytes(struct debug *d, Dwarf_Die *die, u32 size)
{
	struct type *t = arena_new(d->arena, struct type);
	*t = *type_array(d->arena, &type_u8, MIN(size, MAX_BYTES));
	t->alias = dw_str(dwarf_diename(die));
	if (size == 16) /* __int128: conventions ask for its alignment */
		t->align = 16;
	return t;
}

static bool is_width(u32 size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static const struct type *make_base(struct debug *d, Dwarf_Die *die)
{
	u64 code = 0;
	u32 size = bytes_of_die(die);
	dw_udata(die, DW_AT_encoding, &code);
	if (code == DW_ATE_float && (size == 4 || size == 8 || size == 16))
		return make(d, die, T_FLOAT, size);
	if (code == DW_ATE_complex_float && (size == 8 || size == 16)) {
		struct type *half = make(d, die, T_FLOAT, size / 2);
		return type_array(d->arena, half, 2);
	}
	if (!is_width(size) || code == DW_ATE_float)
		return plain_bytes(d, die, size);
	struct type *t = make(d, die, T_INT, size);
	t->is_signed = code == DW_ATE_signed || code == DW_ATE_signed_char;
	t->is_char = size == 1 && str_is(t->name, "char");
	if (code == DW_ATE_boolean && size == 1)
		t->kind = T_BOOL;
	return t;
}

static bool is_signed_base(struct debug *d, Dwarf_Die *die)
{
	Dwarf_Die base;
	u64 code = 0;
	for (int i = 0; i < DW_DEPTH && dw_ref(d, die, DW_AT_type, &base); i++) {
		if (dwarf_tag(&base) == DW_TAG_base_type) {
			dw_udata(&base, DW_AT_encoding, &code);
			return code == DW_ATE_signed || code == DW_ATE_signed_char;
		}
		*die = base;
	}
	return false;
}

static const struct type *make_enum(struct debug *d, Dwarf_Die *die)
{
	u32 size = bytes_of_die(die);
	Dwarf_Die c, copy = *die;
	if (!is_width(size))
		return plain_bytes(d, die, size);
	struct type *t = make(d, die, T_ENUM, size);
	VEC(struct enumerator) v = {0};
	t->is_signed = is_signed_base(d, &copy);
	bool more = dw_child(d, die, &c);
	for (; more && v.n < MAX_MEMBERS; more = dw_next(d, &c)) {
		Dwarf_Attribute a;
		Dwarf_Sword val = 0;
		Dwarf_Word bits = 0;
		if (dwarf_tag(&c) != DW_TAG_enumerator || !dwarf_attr(&c, DW_AT_const_value, &a))
			continue;
		/* A small form's top bit is only a sign when values have signs. */
		bool sign = t->is_signed || dwarf_whatform(&a) == DW_FORM_sdata;
		if (sign ? dwarf_formsdata(&a, &val) : dwarf_formudata(&a, &bits))
			continue;
		t->is_signed |= sign && val < 0;
		vec_add(&v, (struct enumerator){dw_str(dwarf_diename(&c)), sign ? val : (i64)bits});
	}
	struct enumerator *e = arena_newn(d->arena, struct enumerator, v.n + 1);
	if (v.n)
		memcpy(e, v.v, v.n * sizeof(*e));
	t->base = type_int(size, t->is_signed);
	t->enums = e;
	t->nenum = v.n;
	vec_free(&v);
	return t;
}

static const struct type *target(struct debug *d, Dwarf_Die *die, int depth)
{
	Dwarf_Die to;
	if (dw_ref(d, die, DW_AT_type, &to))
		return get(d, &to, depth + 1);
	/* One that leads nowhere: its unit is in a file that is not there. */
	return dwarf_hasattr_integrate(die, DW_AT_type) ? &type_error : &type_none;
}

static const struct type *make_ptr(struct debug *d, Dwarf_Die *die, int depth)
{
	const struct type *to = target(d, die, depth);
	struct type *t = make(d, die, T_PTR, 8);
	t->name = STR("");
	t->base = to->kind == T_ERROR ? &type_none : to;
	t->space = AS_USER;
	return t;
}

/* typedef, const ...: the type itself, or a copy that remembers how it was spelled. */
static const struct type *make_modified(struct debug *d, Dwarf_Die *die, int tag, int depth)
{
	const struct type *base = target(d, die, depth);
	if (base == &type_error || (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
				    tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type))
		return base;
	struct type *t = arena_new(d->arena, struct type);
	*t = *base;
	if (tag == DW_TAG_typedef) {
		t->alias = dw_str(dwarf_diename(die));
		t->qual = 0;
	} else {
		t->qual |= tag == DW_TAG_const_type      ? TQ_CONST
			   : tag == DW_TAG_volatile_type ? TQ_VOLATILE
							 : TQ_RESTRICT;
	}
	return t;
}

/* Elements of one dimension; 0: not said, or known only when running. */
static u32 dimension(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word n;
	if (dwarf_attr_integrate(die, DW_AT_count, &a))
		return !dwarf_formudata(&a, &n) && n < 1u << 30 ? (u32)n : 0;
	if (!dwarf_attr_integrate(die, DW_AT_upper_bound, &a) || dwarf_formudata(&a, &n))
		return 0;
	return n < 1u << 30 ? (u32)n + 1 : 0;
}

static const struct type *make_array(struct debug *d, Dwarf_Die *die, int depth)
{
	const struct type *t = target(d, die, depth);
	u32 dim[MAX_DIMS], n = 0;
	Dwarf_Die c;
	if (t == &type_error)
		return t;
	bool more = dw_child(d, die, &c);
	for (; more && n < MAX_DIMS; more = dw_next(d, &c))
		if (dwarf_tag(&c) == DW_TAG_subrange_type)
			dim[n++] = dimension(&c);
	while (n)
		t = type_array(d->arena, t, dim[--n]);
	return t;
}

static const struct type *make_shell(struct debug *d, Dwarf_Die *die, enum type_kind kind)
{
	Dwarf_Attribute a;
	Dwarf_Die whole = *die;
	if (dwarf_attr(die, DW_AT_signature, &a) && !dw_formref(d, &a, &whole))
		whole = *die;
	struct type *t = make(d, &whole, kind, bytes_of_die(&whole));
	vec_add(&d->die, whole);
	t->lazy = &d->filler;
	t->id = d->die.n;
	return t;
}

static const struct type *make_func(struct debug *d, Dwarf_Die *die, int depth)
{
	struct type *t = make(d, die, T_FUNC, 0);
	t->align = 1;
	t->base = target(d, die, depth);
	return t;
}

static const struct type *make_die(struct debug *d, Dwarf_Die *die, int depth)
{
	int tag = dwarf_tag(die);
	switch (tag) {
	case DW_TAG_base_type: return make_base(d, die);
	case DW_TAG_enumeration_type: return make_enum(d, die);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type: return make_ptr(d, die, depth);
	case DW_TAG_array_type: return make_array(d, die, depth);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type: return make_shell(d, die, T_STRUCT);
	case DW_TAG_union_type: return make_shell(d, die, T_UNION);
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_template_alias:
	case DW_TAG_subrange_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
	case TAG_ATOMIC: return make_modified(d, die, tag, depth);
	case DW_TAG_subroutine_type: return make_func(d, die, depth);
	case DW_TAG_unspecified_type: return &type_none;
	case DW_TAG_ptr_to_member_type: {
		Dwarf_Die to;
		bool code =
			dw_ref(d, die, DW_AT_type, &to) && dwarf_tag(&to) == DW_TAG_subroutine_type;
		return code ? type_array(d->arena, &type_u64, 2) : &type_i64;
	}
	}
	u32 size = bytes_of_die(die);
	return size ? plain_bytes(d, die, size) : &type_error;
}

static const struct type *get(struct debug *d, Dwarf_Die *die, int depth)
{
	if (!die->addr || depth > DW_DEPTH || !d->budget)
		return &type_error;
	const struct type *t = d->type_cap ? slot(d, die->addr)->type : NULL;
	if (t)
		return t;
	d->budget--;
	remember(d, die->addr, &type_error);
	t = make_die(d, die, depth);
	remember(d, die->addr, t);
	return t;
}

const struct type *dw_type_make(struct debug *d, Dwarf_Die *die)
{
	return get(d, die, 0);
}

const struct type *dw_type_of(struct debug *d, Dwarf_Die *die)
{
	return target(d, die, 0);
}

/* ---- members ---- */

/* Byte offset of a member; false: it is computed from the object (virtual bases). */
static bool member_at(Dwarf_Die *die, u64 *ret)
{
	Dwarf_Attribute a;
	Dwarf_Op *op;
	size_t n;
	Dwarf_Word w;
	*ret = 0;
	if (!dwarf_attr_integrate(die, DW_AT_data_member_location, &a))
		return true;
	if (!dwarf_formudata(&a, &w)) {
		*ret = w;
		return true;
	}
	if (dwarf_getlocation(&a, &op, &n) || n != 1 || op->atom != DW_OP_plus_uconst)
		return false;
	*ret = op->number;
	return true;
}

static bool read_member(struct debug *d, const struct type *t, Dwarf_Die *die, struct field *f)
{
	u64 at, bits = 0, off;
	if (dw_flag(die, DW_AT_declaration) || dw_flag(die, DW_AT_external) || !member_at(die, &at))
		return false;
	f->name = dwarf_tag(die) == DW_TAG_inheritance ? STR("") : dw_str(dwarf_diename(die));
	f->type = dw_type_of(d, die);
	u64 from = at * 8;
	if (dw_udata(die, DW_AT_bit_size, &bits)) {
		u64 unit = f->type->size;
		dw_udata(die, DW_AT_byte_size, &unit);
		if (dw_udata(die, DW_AT_data_bit_offset, &off))
			from = at * 8 + off;
		else if (dw_udata(die, DW_AT_bit_offset, &off)) /* from the most significant bit */
			from = at * 8 + unit * 8 - off - bits;
	}
	bool fits = bits <= 64 && from <= (u64)t->size * 8 &&
		    (bits ? bits : (u64)f->type->size * 8) <= (u64)t->size * 8 - from;
	f->bit_off = (u32)from;
	f->bit_len = (u32)bits;
	/* A struct without a name inside itself would be walked for ever. */
	bool loops = !f->name.n && type_is_record(f->type) && f->type->id == t->id;
	return fits && !loops && f->type->kind != T_ERROR && f->type->kind != T_NONE;
}

typedef VEC(struct field) fields;

static void read_members(struct debug *d, const struct type *t, Dwarf_Die *die, fields *out,
			 int depth)
{
	Dwarf_Die c;
	if (depth > 4 || !dw_child(d, die, &c))
		return;
	do {
		struct field f = {0};
		int tag = dwarf_tag(&c);
		if (tag == DW_TAG_variant_part || tag == DW_TAG_variant) /* Rust's enums */
			read_members(d, t, &c, out, depth + 1);
		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (!read_member(d, t, &c, &f))
			continue;
		if (!f.name.n && dwarf_tag(die) == DW_TAG_variant_part)
			f.name = STR("discriminant");
		vec_add(out, f);
	} while (out->n < MAX_MEMBERS && dw_next(d, &c));
}

/* One that this unit only declares: another may define it. */
static void find_definition(struct debug *d, struct type *t)
{
	const struct type *whole =
		t->name.n ? debug_type(d, t->name, t->kind == T_UNION ? T_UNION : T_STRUCT, false)
			  : NULL;
	if (!whole || whole->lazy != &d->filler || whole->id == t->id)
		return;
	t->size = whole->size;
	t->align = whole->align;
	t->id = whole->id;
}

void dw_fill(struct filler *from, struct type *t)
{
	struct debug *d = (struct debug *)from;
	fields v = {0};
	assert(t->id && t->id <= d->die.n);
	d->budget = DW_BUDGET;
	if (!t->size && dw_flag(&d->die.v[t->id - 1], DW_AT_declaration))
		find_definition(d, t);
	Dwarf_Die die = d->die.v[t->id - 1];
	read_members(d, t, &die, &v, 0);
	struct field *f = arena_newn(d->arena, struct field, v.n + 1);
	if (v.n)
		memcpy(f, v.v, v.n * sizeof(*f));
	t->field = f;
	t->nfield = v.n;
	vec_free(&v);
}
