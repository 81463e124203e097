/* type.c - making, comparing and naming types; see type.h. */
#include "types/type.h"

const char *const stack_modes[] = {
	[STACK_BPFTRACE] = "bpftrace", [STACK_PERF] = "perf",     [STACK_RAW] = "raw",
	[STACK_BUILD_ID] = "build_id", [STACK_NATIVE] = "native", [STACK_LANG] = "lang",
	[STACK_FUNCTION] = "function", [STACK_MODES] = NULL,
};

enum { MAX_DEPTH = 32, MAX_SIZE = 1 << 30, MAX_TYPO = 3, MAX_ANON = 4096, MAX_TEXT = 1 << 16 };

#define BASIC(k, sz, al)                                   \
	{                                                  \
		.kind = T_##k, .size = (sz), .align = (al) \
	}
#define INT(sz, sgn)                                                           \
	{                                                                      \
		.kind = T_INT, .is_signed = (sgn), .size = (sz), .align = (sz) \
	}

const struct type type_error = BASIC(ERROR, 8, 8);
const struct type type_none = BASIC(NONE, 0, 1);
const struct type type_bool = BASIC(BOOL, 1, 1);
const struct type type_str0 = BASIC(STRING, 0, 1);
const struct type type_i8 = INT(1, true), type_i16 = INT(2, true);
const struct type type_i32 = INT(4, true), type_i64 = INT(8, true);
const struct type type_u8 = INT(1, false), type_u16 = INT(2, false);
const struct type type_u32 = INT(4, false), type_u64 = INT(8, false);
const struct type type_ksym = BASIC(KSYM, 8, 8);
const struct type type_usym = BASIC(USYM, 16, 8);
const struct type type_mac = BASIC(MAC, 6, 1);
const struct type type_inet = BASIC(INET, 20, 4);
const struct type type_username = BASIC(USERNAME, 8, 8);
const struct type type_timestamp = BASIC(TIMESTAMP, 16, 8);
const struct type type_cgroup_path = BASIC(CGROUP_PATH, 16, 8);

static const u8 kind_flags[] = {
#define T(kind, name, flags) (flags),
#include "types/type.def"
};
static const char *const kind_name[] = {
#define T(kind, name, flags) name,
#include "types/type.def"
};

const char *type_kind_name(const struct type *t)
{
	if (t->kind != T_FLOAT)
		return kind_name[t->kind];
	return t->size == 8 ? "double" : t->size == 16 ? "long double" : kind_name[T_FLOAT];
}

u32 type_flags(const struct type *t)
{
	assert((u32)t->kind < T_KINDS);
	return kind_flags[t->kind];
}

const struct type *type_int(u32 size, bool is_signed)
{
	switch (size) {
	case 1: return is_signed ? &type_i8 : &type_u8;
	case 2: return is_signed ? &type_i16 : &type_u16;
	case 4: return is_signed ? &type_i32 : &type_u32;
	case 8: return is_signed ? &type_i64 : &type_u64;
	}
	assert(!"size of an integer");
	return &type_error;
}

static struct type *type_make(struct arena *a, enum type_kind kind, u32 size, u32 align)
{
	struct type *t = arena_new(a, struct type);
	t->kind = kind;
	t->size = size;
	t->align = align;
	return t;
}

const struct type *type_ptr(struct arena *a, const struct type *to, enum space space)
{
	assert(to);
	struct type *t = type_make(a, T_PTR, 8, 8);
	t->base = to;
	t->space = (u8)space;
	return t;
}

const struct type *type_array(struct arena *a, const struct type *of, u32 count)
{
	assert(of);
	if ((u64)of->size * count > MAX_SIZE)
		return &type_error;
	struct type *t = type_make(a, T_ARRAY, of->size * count, MAX(of->align, 1u));
	t->base = of;
	t->count = count;
	return t;
}

const struct type *type_string(struct arena *a, u32 size)
{
	return size ? type_make(a, T_STRING, size, 1) : &type_str0;
}

const struct type *type_buf(struct arena *a, u32 max)
{
	assert(max <= MAX_SIZE);
	return type_make(a, T_BUF, max + 4, 4);
}

const struct type *type_stack(struct arena *a, enum type_kind kind, enum stack_mode mode,
			      u32 frames)
{
	assert(kind == T_KSTACK || kind == T_USTACK);
	assert(frames <= MAX_FRAMES);
	struct type *t = type_make(
		a, kind, (u32)sizeof(struct stack_value) + stack_frame_size(mode) * frames, 8);
	t->mode = (u8)mode;
	t->count = frames;
	return t;
}

const struct type *type_tuple(struct arena *a, u32 n, const struct type *const *elem,
			      const struct str *names)
{
	struct type *t = type_make(a, names ? T_RECORD : T_TUPLE, 0, 1);
	struct field *f = arena_newn(a, struct field, n + 1);
	u32 at = 0;
	for (u32 i = 0; i < n; i++) {
		u32 align = MAX(elem[i]->align, 1u);
		at = ALIGN_UP(at, align);
		f[i] = (struct field){.type = elem[i], .bit_off = at * 8};
		if (names)
			f[i].name = names[i];
		if (elem[i]->size > MAX_SIZE / 8 - MIN(at, MAX_SIZE / 8u))
			return &type_error;
		at += elem[i]->size;
		t->align = MAX(t->align, align);
	}
	t->size = ALIGN_UP(at, t->align);
	t->field = f;
	t->nfield = n;
	return t;
}

const struct type *type_copy_as(struct arena *a, const struct type *t, enum space space)
{
	if (t->kind != T_PTR || t->space == space)
		return t;
	struct type *c = arena_new(a, struct type);
	*c = *t;
	c->space = (u8)space;
	return c;
}

/* ---- equality ---- */

static bool eq(const struct type *a, const struct type *b, int depth);

static bool eq_fields(const struct type *a, const struct type *b, int depth)
{
	u32 na, nb;
	const struct field *fa = type_fields(a, &na), *fb = type_fields(b, &nb);
	if (na != nb)
		return false;
	for (u32 i = 0; i < na; i++) {
		if (fa[i].bit_off != fb[i].bit_off || fa[i].bit_len != fb[i].bit_len ||
		    !str_eq(fa[i].name, fb[i].name) || !eq(fa[i].type, fb[i].type, depth))
			return false;
	}
	return true;
}

/* Named structs are the same by name and size; their members may well point back at them. */
static bool eq_record(const struct type *a, const struct type *b, int depth)
{
	if (a->size != b->size || !str_eq(a->name, b->name))
		return false;
	if (a->lazy && a->lazy == b->lazy && a->id == b->id)
		return true;
	return a->name.n || eq_fields(a, b, depth);
}

static bool eq(const struct type *a, const struct type *b, int depth)
{
	if (a == b || depth > MAX_DEPTH)
		return true;
	if (a->kind != b->kind)
		return false;
	switch ((enum type_kind)a->kind) {
	case T_INT: return a->size == b->size && a->is_signed == b->is_signed;
	case T_PTR: return eq(a->base, b->base, depth + 1);
	case T_ARRAY: return a->count == b->count && eq(a->base, b->base, depth + 1);
	case T_STRUCT:
	case T_UNION: return eq_record(a, b, depth + 1);
	case T_FUNC: return eq(a->base, b->base, depth + 1) && eq_fields(a, b, depth + 1);
	case T_TUPLE:
	case T_RECORD:
		return a->size == b->size && str_eq(a->name, b->name) && eq_fields(a, b, depth + 1);
	case T_KSTACK:
	case T_USTACK: return a->count == b->count && a->mode == b->mode;
	case T_ENUM:
		return a->size == b->size && str_eq(a->name, b->name) &&
		       (a->name.n || str_eq(a->alias, b->alias));
	case T_FWD: return str_eq(a->name, b->name);
	case T_FLOAT:
	case T_STRING:
	case T_BUF: return a->size == b->size;
	case T_TIMESTAMP: return a->mode == b->mode;
	case T_ERROR:
	case T_NONE:
	case T_BOOL:
	case T_KSYM:
	case T_USYM:
	case T_INET:
	case T_MAC:
	case T_CGROUP_PATH:
	case T_USERNAME:
	case T_PROBE: return true;
	default: break; /* aggregations */
	}
	bool sign = type_flags(a) & TF_SIGN;
	return (!sign || a->is_signed == b->is_signed) && a->count == b->count &&
	       str_eq(a->name, b->name) && !memcmp(a->p, b->p, sizeof(a->p));
}

bool type_eq(const struct type *a, const struct type *b)
{
	return eq(a, b, 0);
}

/* ---- members ---- */

const struct field *type_fields(const struct type *t, u32 *n)
{
	/* A shell's members are read into it once: to everybody else it is const. */
	if (t->lazy && !t->field)
		t->lazy->fill(t->lazy, (struct type *)t);
	*n = t->field ? t->nfield : 0;
	return t->field;
}

/* A walk over members; budget: structs it may still look into, for types that contain themselves.
 */
struct walk {
	struct str name;
	u32 budget;
	u32 best;        /* near_field: distance of ... */
	struct str near; /* ... the nearest name */
};

static bool find_field(const struct type *t, struct walk *w, struct field *ret, int depth)
{
	u32 n;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		if (str_eq(f[i].name, w->name)) {
			*ret = f[i];
			return true;
		}
	}
	for (u32 i = 0; depth < MAX_DEPTH && i < n; i++) {
		if (f[i].name.n || !type_is_record(f[i].type) || !w->budget)
			continue;
		w->budget--;
		if (find_field(f[i].type, w, ret, depth + 1)) {
			ret->bit_off += f[i].bit_off;
			return true;
		}
	}
	return false;
}

bool type_field(const struct type *t, struct str name, struct field *ret)
{
	struct walk w = {.name = name, .budget = MAX_ANON};
	return name.n && find_field(t, &w, ret, 0);
}

static void near_field(const struct type *t, struct walk *w, int depth)
{
	u32 n;
	const struct field *f = type_fields(t, &n);
	for (u32 i = 0; i < n; i++) {
		if (!f[i].name.n) {
			if (depth < MAX_DEPTH && type_is_record(f[i].type) && w->budget) {
				w->budget--;
				near_field(f[i].type, w, depth + 1);
			}
			continue;
		}
		u32 d = str_distance(f[i].name, w->name, w->best);
		if (d < w->best) {
			w->best = d;
			w->near = f[i].name;
		}
	}
}

struct str type_near_field(const struct type *t, struct str name)
{
	/* Two letters have nothing in common with "pid", "nope" little with "mode". */
	u32 best = MIN((u32)MAX_TYPO, name.n / 3) + 1;
	struct walk w = {.name = name, .budget = MAX_ANON, .best = best};
	near_field(t, &w, 0);
	return w.near;
}

/* ---- names ---- */

static void put_name(const struct type *t, struct sb *out, int depth);

static void put_members(const struct type *t, struct sb *out, int depth)
{
	u32 n;
	const struct field *f = type_fields(t, &n);
	bool record = t->kind == T_RECORD;
	sb_z(out, record ? "record { " : "(");
	for (u32 i = 0; i < n && out->n < MAX_TEXT; i++) {
		if (i)
			sb_z(out, record || t->kind == T_FUNC ? ", " : ",");
		if (record)
			sb_fmt(out, ".%.*s = ", STRF(f[i].name));
		put_name(f[i].type, out, depth);
	}
	sb_z(out, record ? " }" : ")");
}

static void put_tag(const struct type *t, struct sb *out)
{
	if (!t->name.n && t->alias.n)
		sb_add(out, t->alias);
	else if (t->name.n)
		sb_fmt(out, "%s %.*s", kind_name[t->kind], STRF(t->name));
	else
		sb_z(out, kind_name[t->kind]);
}

static void put_array(const struct type *t, struct sb *out, int depth)
{
	const struct type *elem = t;
	for (int i = 0; i < MAX_DEPTH && elem->kind == T_ARRAY; i++)
		elem = elem->base;
	put_name(elem, out, depth);
	for (; t != elem; t = t->base)
		sb_fmt(out, "[%u]", t->count);
}

static void put_name(const struct type *t, struct sb *out, int depth)
{
	if (depth > MAX_DEPTH) {
		sb_z(out, "...");
		return;
	}
	switch ((enum type_kind)t->kind) {
	case T_INT: sb_fmt(out, "%sint%u", t->is_signed ? "" : "u", t->size * 8); break;
	case T_PTR:
		if (t->base->kind == T_NONE)
			sb_z(out, "void");
		else
			put_name(t->base, out, depth + 1);
		sb_z(out, " *");
		break;
	case T_ARRAY: put_array(t, out, depth + 1); break;
	case T_FUNC:
		put_name(t->base, out, depth + 1);
		put_members(t, out, depth + 1);
		break;
	case T_TUPLE:
	case T_RECORD: put_members(t, out, depth + 1); break;
	case T_FWD: sb_fmt(out, "%s %.*s", t->count ? "union" : "struct", STRF(t->name)); break;
	case T_STRUCT:
	case T_UNION:
	case T_ENUM: put_tag(t, out); break;
	case T_STRING:
	case T_BUF:
		sb_z(out, kind_name[t->kind]);
		if (t->size)
			sb_fmt(out, "[%u]", t->size);
		break;
	case T_KSTACK:
	case T_USTACK:
		sb_fmt(out, "%s_%s_%u", kind_name[t->kind],
		       stack_modes[MIN(t->mode, STACK_MODES - 1)], t->count);
		break;
	case T_PROBE: sb_fmt(out, "string[%u]", t->count); break;
	case T_ERROR:
	case T_NONE:
	case T_BOOL:
	case T_FLOAT:
	case T_KSYM:
	case T_USYM:
	case T_INET:
	case T_TIMESTAMP:
	case T_MAC:
	case T_CGROUP_PATH:
	case T_USERNAME: sb_z(out, type_kind_name(t)); break;
	default: /* aggregations */
		if ((type_flags(t) & TF_SIGN) && !t->is_signed)
			sb_char(out, 'u');
		sb_z(out, kind_name[t->kind]);
		break;
	}
}

void type_name(const struct type *t, struct sb *out)
{
	put_name(t, out, 0);
}

const char *type_namez(struct arena *a, const struct type *t)
{
	AUTO_SB b = {0};
	type_name(t, &b);
	return arena_strz(a, sb_str(&b));
}
