/*
 * format.c - tracefs event format text.
 *
 *	ID: 372
 *		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *
 * The offset and size are the truth; the C text says what the bytes mean.
 */
#include "types/format.h"
#include "base/vec.h"

enum { MAX_FIELDS = 1024, MAX_BYTES = 1 << 20, MAX_STARS = 8 };

struct parse {
	struct types *k;
	struct arena *a;
	VEC(struct field) f;
	u32 size;
};

/* One line taken apart. */
struct line {
	struct str type; /* "const char *", "pid_t", "unsigned long" */
	struct str name;
	bool array;
	u8 data_loc;
	u64 off, size;
	bool is_signed;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Take word off the front of s, with the blanks after it. */
static bool skip_word(struct str *s, const char *word)
{
	struct str w = str_z(word);
	if (!str_starts(*s, w) || (s->n > w.n && is_word(s->s[w.n])))
		return false;
	*s = str_trim(str_from(*s, w.n));
	return true;
}

static struct str last_word(struct str *s) /* cut off the end of *s */
{
	u32 from = s->n;
	while (from && is_word(s->s[from - 1]))
		from--;
	struct str word = str_from(*s, from);
	*s = str_trim((struct str){s->s, from});
	return word;
}

/* "TYPE NAME", "TYPE NAME[N]", "__data_loc TYPE[] NAME" */
static bool parse_decl(struct str decl, struct line *l)
{
	decl = str_trim(decl);
	if (str_ends(decl, STR("]"))) {
		i32 open = str_chr(decl, '[');
		if (open < 0)
			return false;
		decl.n = (u32)open;
		decl = str_trim(decl);
		l->array = true;
	}
	l->name = last_word(&decl);
	if (skip_word(&decl, "__data_loc"))
		l->data_loc = 1;
	else if (skip_word(&decl, "__rel_loc"))
		l->data_loc = 2;
	if (str_ends(decl, STR("]"))) { /* char[] name */
		i32 open = str_chr(decl, '[');
		if (open < 0)
			return false;
		decl = str_trim((struct str){decl.s, (u32)open});
		l->array = true;
	}
	l->type = decl;
	return l->name.n && decl.n;
}

static bool parse_line(struct str text, struct line *l)
{
	struct str part;
	bool have_decl = false, have_off = false, have_size = false;
	while (str_cut(&text, ';', &part)) {
		part = str_trim(part);
		i32 colon = str_chr(part, ':');
		if (colon < 0)
			continue;
		struct str key = {part.s, (u32)colon}, val = str_from(part, (u32)colon + 1);
		u64 sign = 0;
		if (str_is(key, "field"))
			have_decl = parse_decl(val, l);
		else if (str_is(key, "offset"))
			have_off = str_u64(val, &l->off);
		else if (str_is(key, "size"))
			have_size = str_u64(val, &l->size);
		else if (str_is(key, "signed"))
			l->is_signed = str_u64(val, &sign) && sign;
	}
	return have_decl && have_off && have_size && l->off <= MAX_BYTES && l->size <= MAX_BYTES;
}

struct c_int {
	const char *name;
	u8 size, sgn; /* sgn: 1 signed, 2 by the "signed:" column */
};
/* What needs no BTF; sizes on 64-bit machines. */
static const struct c_int c_ints[] = {
	{"char", 1, 2},
	{"signed char", 1, 1},
	{"unsigned char", 1, 0},
	{"short", 2, 1},
	{"short int", 2, 1},
	{"unsigned short", 2, 0},
	{"int", 4, 1},
	{"signed int", 4, 1},
	{"unsigned", 4, 0},
	{"unsigned int", 4, 0},
	{"uint", 4, 0},
	{"long", 8, 1},
	{"long int", 8, 1},
	{"unsigned long", 8, 0},
	{"long unsigned int", 8, 0},
	{"long long", 8, 1},
	{"unsigned long long", 8, 0},
	{"long long unsigned int", 8, 0},
	{"s8", 1, 1},
	{"u8", 1, 0},
	{"s16", 2, 1},
	{"u16", 2, 0},
	{"s32", 4, 1},
	{"u32", 4, 0},
	{"s64", 8, 1},
	{"u64", 8, 0},
	{"__s8", 1, 1},
	{"__u8", 1, 0},
	{"__s16", 2, 1},
	{"__u16", 2, 0},
	{"__s32", 4, 1},
	{"__u32", 4, 0},
	{"__s64", 8, 1},
	{"__u64", 8, 0},
	{"int8_t", 1, 1},
	{"uint8_t", 1, 0},
	{"int16_t", 2, 1},
	{"uint16_t", 2, 0},
	{"int32_t", 4, 1},
	{"uint32_t", 4, 0},
	{"int64_t", 8, 1},
	{"uint64_t", 8, 0},
	{"size_t", 8, 0},
	{"ssize_t", 8, 1},
	{"loff_t", 8, 1},
	{"off_t", 8, 1},
	{"pid_t", 4, 1},
	{"uid_t", 4, 0},
	{"gid_t", 4, 0},
	{"dev_t", 4, 0},
	{"ino_t", 8, 0},
	{"umode_t", 2, 0},
	{"gfp_t", 4, 0},
	{"sector_t", 8, 0},
};

static const struct c_int *find_c_int(struct str name)
{
	for (u32 i = 0; i < countof(c_ints); i++) {
		if (str_is(name, c_ints[i].name))
			return &c_ints[i];
	}
	return NULL;
}

static const struct type *named_int(struct parse *p, struct str name, u32 size, bool is_signed)
{
	struct type *t = arena_new(p->a, struct type);
	*t = *type_int(size, is_signed);
	t->name = name;
	t->is_char = str_is(name, "char");
	return t;
}

static bool is_int_size(u64 n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

/* A type's name without '*' and qualifiers. size: of the field (element), 0 unknown. NULL: nobody
 * knows. */
static const struct type *find_base(struct parse *p, struct str name, u64 size, bool is_signed)
{
	struct str own = arena_str(p->a, name), tag = name;
	const struct c_int *c = find_c_int(name);
	if (c)
		return named_int(p, own, c->size, c->sgn == 2 ? is_signed : c->sgn);
	if (str_is(name, "void"))
		return &type_none;
	if (str_is(name, "bool") || str_is(name, "_Bool"))
		return &type_bool;
	enum type_kind kind = T_NONE;
	if (skip_word(&tag, "struct"))
		kind = T_STRUCT;
	else if (skip_word(&tag, "union"))
		kind = T_UNION;
	else if (skip_word(&tag, "enum"))
		kind = T_ENUM;
	bool plain_int = kind == T_NONE && is_int_size(size) && size < 8;
	const struct type *t = p->k && !plain_int ? btf_types_find(p->k, tag, kind) : NULL;
	if (t || !type_is_record(&(struct type){.kind = kind}))
		return t;
	struct type *fwd = arena_new(p->a, struct type);
	*fwd = (struct type){.kind = T_FWD, .align = 1, .name = arena_str(p->a, tag)};
	fwd->count = kind == T_UNION;
	return fwd;
}

static struct str strip_quals(struct str s, u8 *qual)
{
	static const char *const drop[] = {"const",  "volatile", "restrict",
					   "__user", "__rcu",    "__seg_gs"};
	*qual = 0;
	for (bool again = true; again;) {
		again = false;
		for (u32 i = 0; i < countof(drop); i++) {
			struct str word, head = s;
			bool cut = skip_word(&s, drop[i]);
			if (!cut) {
				word = last_word(&head);
				cut = head.n && str_is(word, drop[i]);
				s = cut ? head : s;
			}
			if (cut && i < 2)
				*qual |= i ? TQ_VOLATILE : TQ_CONST;
			again |= cut;
		}
	}
	return s;
}

static const struct type *with_qual(struct parse *p, const struct type *t, u8 qual)
{
	if (!qual)
		return t;
	struct type *c = arena_new(p->a, struct type);
	*c = *t;
	c->qual = qual;
	return c;
}

/* "const char *const *" */
static const struct type *pointer_type(struct parse *p, struct str text)
{
	u8 qual;
	i32 star = str_chr(text, '*');
	struct str rest = str_from(text, (u32)star);
	struct str base = strip_quals(str_trim((struct str){text.s, (u32)star}), &qual);
	const struct type *t = find_base(p, base, 0, true);
	t = with_qual(p, t ? t : &type_none, qual);
	struct str after;
	str_cut(&rest, '*', &after); /* nothing: the first star */
	for (u32 n = 0; n < MAX_STARS && str_cut(&rest, '*', &after); n++) {
		strip_quals(str_trim(after), &qual);
		t = with_qual(p, type_ptr(p->a, t, AS_KERNEL), qual);
	}
	return t;
}

/* Type of one value of n bytes (0: as large as the type says). */
static const struct type *value_type(struct parse *p, const struct line *l, u64 n)
{
	u8 qual;
	if (str_chr(l->type, '*') >= 0)
		return pointer_type(p, l->type);
	struct str name = strip_quals(l->type, &qual);
	const struct type *t = find_base(p, name, n, l->is_signed);
	/* System call arguments are 8 bytes whatever they are: the low ones count. */
	if (t && t->size && t->kind != T_FWD && (!n || t->size <= n))
		return with_qual(p, t, qual);
	if (is_int_size(n))
		return with_qual(p, named_int(p, arena_str(p->a, name), (u32)n, l->is_signed),
				 qual);
	return n ? type_array(p->a, &type_u8, (u32)n) : &type_u8;
}

static const struct type *field_type(struct parse *p, const struct line *l)
{
	if (!l->array)
		return l->data_loc ? type_array(p->a, &type_u8, 0) : value_type(p, l, l->size);
	const struct type *elem = value_type(p, l, 0);
	if (l->data_loc)
		return elem->kind == T_INT && elem->is_char ? &type_str0
							    : type_array(p->a, elem, 0);
	if (!elem->size || l->size % elem->size)
		return type_array(p->a, &type_u8, (u32)l->size);
	return type_array(p->a, elem, (u32)l->size / elem->size);
}

static struct err *add_field(struct parse *p, struct str line)
{
	struct line l = {0};
	if (!parse_line(line, &l))
		return err_new("event format: cannot read '%.*s'", (int)MIN(line.n, 200u), line.s);
	if (p->f.n >= MAX_FIELDS)
		return err_new("event format: more than %d fields", MAX_FIELDS);
	p->size = MAX(p->size, (u32)(l.off + l.size));
	if (str_starts(l.name, STR("common_")))
		return NULL;
	struct field f = {.name = arena_str(p->a, l.name), .bit_off = (u32)l.off * 8};
	f.data_loc = l.data_loc;
	f.type = field_type(p, &l);
	vec_add(&p->f, f);
	return NULL;
}

struct err *format_parse(struct str text, struct str name, struct types *k, struct arena *a,
			 u64 *id, const struct type **ret)
{
	struct parse p = {.k = k, .a = a};
	struct err *err = NULL;
	struct str line;
	u64 num = 0;
	bool seen = false;
	while (!err && str_cut(&text, '\n', &line)) {
		line = str_trim(line);
		if (str_starts(line, STR("ID:")) && !str_u64(str_trim(str_from(line, 3)), &num))
			err = err_new("event format: cannot read '%.*s'", STRF(line));
		if (str_starts(line, STR("print fmt:")))
			break;
		if (!str_starts(line, STR("field:")))
			continue;
		seen = true;
		err = add_field(&p, line);
	}
	if (!err && !seen)
		err = err_new("event format: no fields");
	if (!err) {
		struct type *t = arena_new(a, struct type);
		struct field *f = arena_newn(a, struct field, p.f.n + 1);
		if (p.f.n)
			memcpy(f, p.f.v, p.f.n * sizeof(*f));
		*t = (struct type){.kind = T_STRUCT, .name = arena_str(a, name), .align = 8};
		t->size = p.size;
		t->field = f;
		t->nfield = p.f.n;
		if (id)
			*id = num;
		*ret = t;
	}
	vec_free(&p.f);
	return err;
}
