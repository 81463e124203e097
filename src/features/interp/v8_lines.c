/*
 * v8_lines.c - lines of JavaScript's functions; see the header.
 *
 * V8 knows positions in the source, in characters: of a bytecode, by its offset, and of a call in optimized code,
 * by that of its instructions. Which line that is follows from the source, which the process has, too. A table of
 * positions is a list of differences:
 *
 *	offset       from -1 on: zigzag, a negative one of -1 - offset is no statement
 *	position     zigzag: bit 0: of another source; 30 bits: characters, and 1; 16 bits: which inlined call, and 1
 *
 * each in as many bytes as are needed, 7 bits in each, lowest first.
 */
#include "interp/v8_lines.h"
#include "base/bytes.h"
#include "base/vec.h"
#include <string.h>

enum {
	WORD = 8,
	ARRAY_TEXT = 16, /* of an array of bytes: behind its map and its length */
	MAX_TABLE = 1 << 20,
	MAX_SOURCE = 8 << 20, /* characters */
	MAX_DEPTH = 64,       /* of strings that are made of others, */
	MAX_PARTS = 4096,     /* and how many of those */
	CHUNK = 1 << 14,
};

struct v8 { /* what is read */
	const struct interp_file *f;
	const struct unwind_v8 *v;
	const struct interp_memory *m;
	struct arena *a;
	u32 *parts; /* of strings that were met */
};

static bool read_at(const struct v8 *x, u64 addr, void *to, size_t n)
{
	return x->m->read(x->m->arg, addr, to, n);
}

/* The object (its address, and no tag) to which there is a pointer at an address. */
static bool pointer_at(const struct v8 *x, u64 addr, u64 *ret)
{
	if (!read_at(x, addr, ret, sizeof(*ret)) || (*ret & V8_TAG_MASK) != V8_TAG)
		return false;
	*ret -= V8_TAG;
	return true;
}

static bool smi_at(const struct v8 *x, u64 addr, u32 *ret)
{
	u64 v;
	if (!read_at(x, addr, &v, sizeof(v)) || (u32)v)
		return false;
	*ret = (u32)(v >> V8_SMI_SHIFT);
	return true;
}

static bool type_of(const struct v8 *x, u64 object, u16 *ret)
{
	u64 map;
	return pointer_at(x, object, &map) && read_at(x, map + x->v->map_type, ret, sizeof(*ret));
}

/* Is it compiled code, and of which kind? */
static bool is_code(const struct v8 *x, u64 object, u32 *kind)
{
	enum { KIND_BITS = 15 };
	u16 type;
	if (!type_of(x, object, &type) || type != x->f->own[V8_OWN_IS_CODE] ||
	    !read_at(x, object + x->f->own[V8_OWN_FLAGS], kind, sizeof(*kind)))
		return false;
	*kind &= KIND_BITS;
	return true;
}

/* ---- the table of code ---- */

static bool word_of_group(const struct interp_file *f, const struct interp_memory *m, u64 base,
			  u64 *ret)
{
	u64 group;
	return m->read(m->arg, base + f->own[V8_OWN_GROUP], &group, sizeof(group)) && group &&
	       m->read(m->arg, group + f->own[V8_OWN_TABLE], ret, sizeof(*ret));
}

static u64 table_in_group(const struct interp_file *f, const struct interp_memory *m, u64 base)
{
	const u64 low = (1 << V8_TABLE_SHIFT) - 1;
	u64 table;
	if (!word_of_group(f, m, base, &table) || table & low ||
	    table >> V8_TABLE_SHIFT > UINT32_MAX)
		return 0;
	return table;
}

/* Some of the first entries are of functions that V8 was built with: each leads to a Code. */
static bool is_table(const struct v8 *x, u64 table)
{
	enum { PARTS = 8, PART = 1 << 16, TAKE = 64 };
	u64 entry[TAKE][V8_ENTRY / WORD];
	u16 type;
	for (u32 part = 0; part < PARTS; part++) {
		if (!read_at(x, table + (u64)PART * part, entry, sizeof(entry)))
			continue;
		for (u32 i = 0; i < TAKE; i++) {
			u64 code = entry[i][V8_ENTRY_CODE / WORD] >> V8_ENTRY_SHIFT & ~(u64)V8_TAG;
			if (code && type_of(x, code, &type) && type == x->f->own[V8_OWN_IS_CODE])
				return true;
		}
	}
	return false;
}

bool v8_learn(struct interp_file *f, const struct interp_memory *m, u64 base)
{
	enum { MOST = 1 << 14 };
	struct v8 x = {.f = f, .v = &f->lang.v8, .m = m};
	for (u32 at = WORD; at < MOST; at += WORD) {
		f->own[V8_OWN_TABLE] = at;
		u64 table = table_in_group(f, m, base);
		if (table && is_table(&x, table))
			return true;
	}
	f->own[V8_OWN_TABLE] = 0;
	return false;
}

u64 v8_code_table(struct interp_file *f, const struct interp_memory *m, u64 base)
{
	if (!f->own[V8_OWN_GROUP] || (!f->own[V8_OWN_TABLE] && !v8_learn(f, m, base)))
		return 0;
	return table_in_group(f, m, base);
}

/* ---- strings ---- */

typedef void take_text(void *arg, const u8 *p, u32 n, bool wide);

static bool each_part(const struct v8 *x, u64 from, u32 n, bool wide, take_text *take, void *arg)
{
	u8 part[CHUNK];
	for (u32 at = 0, some; at < n; at += some) {
		some = MIN(n - at, (u32)CHUNK >> wide);
		if (!read_at(x, from + ((u64)at << wide), part, (size_t)some << wide))
			return false;
		take(arg, part, some, wide);
	}
	return true;
}

struct text { /* part of a string */
	u64 string;
	u32 from, n;
	u32 depth;
};

static bool flat_text(const struct v8 *x, const struct text *t, u16 type, take_text *take,
		      void *arg)
{
	enum { DATA = 24 }; /* of an external string: where the text is */
	bool wide = !(type & V8_ONE_BYTE);
	u64 at = t->string + V8_STRING_TEXT;
	if ((type & V8_STRING_FORM) == V8_STRING_EXTERNAL &&
	    !read_at(x, t->string + DATA, &at, sizeof(at)))
		return false;
	return each_part(x, at + ((u64)t->from << wide), t->n, wide, take, arg);
}

static bool each_text(const struct v8 *x, struct text t, take_text *take, void *arg);

/* Both halves, as far as they are wanted. */
static bool two_texts(const struct v8 *x, const struct text *t, take_text *take, void *arg)
{
	struct text first = {.depth = t->depth + 1}, second = first;
	u32 n;
	if (!pointer_at(x, t->string + x->v->first, &first.string) ||
	    !pointer_at(x, t->string + x->v->second, &second.string) ||
	    !read_at(x, first.string + x->v->length, &n, sizeof(n)))
		return false;
	first.from = MIN(t->from, n);
	first.n = MIN(t->n, n - first.from);
	second.from = t->from - first.from;
	second.n = t->n - first.n;
	return each_text(x, first, take, arg) && each_text(x, second, take, arg);
}

/* So many characters of a string, from one on. */
static bool each_text(const struct v8 *x, struct text t, take_text *take, void *arg)
{
	u16 type;
	u32 off;
	if (!t.n)
		return true;
	if (t.depth > MAX_DEPTH || (*x->parts)++ > MAX_PARTS || !type_of(x, t.string, &type) ||
	    type >= V8_STRINGS)
		return false;
	t.depth++;
	switch (type & V8_STRING_FORM) {
	case V8_STRING_CONS: return two_texts(x, &t, take, arg);
	case V8_STRING_THIN:
		return pointer_at(x, t.string + x->v->actual, &t.string) &&
		       each_text(x, t, take, arg);
	case V8_STRING_SLICED: /* parent, first character */
		if (!smi_at(x, t.string + x->v->second, &off) ||
		    !pointer_at(x, t.string + x->v->first, &t.string))
			return false;
		t.from += off;
		return each_text(x, t, take, arg);
	default: return flat_text(x, &t, type, take, arg);
	}
}

static bool all_text(const struct v8 *x, u64 string, u32 most, take_text *take, void *arg)
{
	struct text t = {.string = string};
	u16 type;
	*x->parts = 0;
	if (!type_of(x, string, &type) || type >= V8_STRINGS ||
	    !read_at(x, string + x->v->length, &t.n, sizeof(t.n)))
		return false;
	t.n = MIN(t.n, most);
	return each_text(x, t, take, arg);
}

void v8_add_text(const u8 *p, u32 n, bool wide, struct sb *out)
{
	enum { SURROGATE = 0xd800, LOW = 0xdc00, END = 0xe000, PLANE = 0x10000 };
	for (u32 i = 0; i < n; i++) {
		u32 c = p[i];
		u16 unit = 0;
		if (wide) {
			memcpy(&unit, p + 2 * (size_t)i, sizeof(unit));
			c = unit;
		}
		if (c >= SURROGATE && c < LOW && i + 1 < n) {
			memcpy(&unit, p + 2 * (size_t)(i + 1), sizeof(unit));
			if (unit >= LOW && unit < END) {
				c = PLANE + ((c - SURROGATE) << 10) + (unit - LOW);
				i++;
			}
		}
		if (c < 0x80) {
			sb_char(out, (char)c);
		} else if (c < 0x800) {
			sb_char(out, (char)(0xc0 | c >> 6));
			sb_char(out, (char)(0x80 | (c & 63)));
		} else if (c < PLANE) {
			sb_char(out, (char)(0xe0 | c >> 12));
			sb_char(out, (char)(0x80 | (c >> 6 & 63)));
			sb_char(out, (char)(0x80 | (c & 63)));
		} else {
			sb_char(out, (char)(0xf0 | c >> 18));
			sb_char(out, (char)(0x80 | (c >> 12 & 63)));
			sb_char(out, (char)(0x80 | (c >> 6 & 63)));
			sb_char(out, (char)(0x80 | (c & 63)));
		}
	}
}

static void take_name(void *out, const u8 *p, u32 n, bool wide)
{
	v8_add_text(p, n, wide, out);
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

struct str v8_path(struct arena *a, struct str name)
{
	static const char url[] = "file://";
	enum { URL = sizeof(url) - 1 };
	AUTO_SB out = {0};
	if (name.n < URL || memcmp(name.s, url, URL))
		return arena_str(a, name);
	for (u32 i = URL; i < name.n; i++) {
		bool coded = name.s[i] == '%' && i + 2 < name.n && hex(name.s[i + 1]) >= 0 &&
			     hex(name.s[i + 2]) >= 0;
		sb_char(&out,
			coded ? (char)(hex(name.s[i + 1]) << 4 | hex(name.s[i + 2])) : name.s[i]);
		i += coded ? 2 : 0;
	}
	return arena_str(a, sb_str(&out));
}

/* ---- lines of a source ---- */

struct lines { /* where they end: positions of their last characters */
	VEC(u32) end;
	u32 at;
	bool cr; /* the last character was one: with a line feed it is one end */
};

static void take_source(void *arg, const u8 *p, u32 n, bool wide)
{
	enum { LINE_SEPARATOR = 0x2028, PARAGRAPH_SEPARATOR };
	struct lines *l = arg;
	for (u32 i = 0; i < n; i++, l->at++) {
		u16 c = p[i];
		if (wide)
			memcpy(&c, p + 2 * (size_t)i, sizeof(c));
		bool feed = c == '\n' || c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR;
		if (l->cr && c != '\n')
			vec_add(&l->end, l->at - 1);
		if (feed)
			vec_add(&l->end, l->at);
		l->cr = c == '\r';
	}
}

/* Ends of all lines of a script's source but the last one: u32. */
static bool read_lines(const struct v8 *x, u64 script, struct str *ret)
{
	struct lines l = {0};
	u64 source;
	u32 n;
	if (!pointer_at(x, script + x->f->own[V8_OWN_SOURCE], &source))
		return false;
	if (x->m->kept(x->m->arg, source, ret))
		return true;
	bool ok = read_at(x, source + x->v->length, &n, sizeof(n)) && n <= MAX_SOURCE &&
		  all_text(x, source, n, take_source, &l);
	if (ok)
		*ret = x->m->keep(x->m->arg, source,
				  str_n((const char *)l.end.v, l.end.n * (u32)sizeof(u32)));
	vec_free(&l.end);
	return ok;
}

/* The process goes on, and may move the source while it is read. */
static bool script_lines(const struct v8 *x, u64 script, struct str *ret)
{
	enum { TRIES = 3 };
	for (u32 i = 0; i < TRIES; i++)
		if (read_lines(x, script, ret))
			return true;
	return false;
}

static u32 number(struct str s, u32 i)
{
	u32 v;
	memcpy(&v, s.s + (size_t)i * sizeof(v), sizeof(v));
	return v;
}

struct source {
	struct str ends;
	u32 before; /* lines that are said to come before it */
};

static bool script_source(const struct v8 *x, u64 script, struct source *ret)
{
	if (!smi_at(x, script + x->v->script_name + WORD, &ret->before))
		ret->before = 0;
	return script_lines(x, script, &ret->ends);
}

/* From 1 on. */
static u32 line_at(const struct source *s, u32 position)
{
	u32 lo = 0, hi = s->ends.n / (u32)sizeof(u32);
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (number(s->ends, mid) < position)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo + 1 + s->before;
}

/* ---- tables ---- */

/* An array of bytes, to which there is a pointer there, into the arena. */
static bool table_at(const struct v8 *x, u64 addr, struct bytes *ret)
{
	u64 array;
	u32 n;
	if (!pointer_at(x, addr, &array) || !smi_at(x, array + WORD, &n) || n > MAX_TABLE)
		return false;
	u8 *p = arena_alloc(x->a, n + 1, 1);
	*ret = bytes_of(p, n);
	return read_at(x, array + ARRAY_TEXT, p, n);
}

static u64 unsigned_of(struct bytes *b)
{
	u64 v = 0;
	for (u32 shift = 0; shift < 64; shift += 7) {
		u8 c = bytes_u8(b);
		v |= (u64)(c & 127) << shift;
		if (!(c & 128))
			break;
	}
	return v;
}

static i64 signed_of(struct bytes *b)
{
	u64 v = unsigned_of(b);
	return (i64)(v >> 1) ^ -(i64)(v & 1);
}

struct position {
	i32 at;    /* offset */
	u32 place; /* characters */
	i32 call;  /* in which inlined one; -1: in the function itself */
};

/* Before the first: a function's entry is at -1. */
static const struct position at_entry = {.at = -1, .call = -1};

static void position_of(u64 raw, struct position *p)
{
	enum { PLACE_BITS = 30, CALL_SHIFT = 31, CALL_BITS = 16 };
	p->place = (u32)(raw >> 1 & ((1u << PLACE_BITS) - 1)) - 1;
	p->call = (i32)(raw >> CALL_SHIFT & ((1u << CALL_BITS) - 1)) - 1;
}

/* The next one of a table. */
static bool next_position(struct bytes *b, u64 *raw, struct position *p)
{
	if (b->at >= b->n)
		return false;
	i64 by = signed_of(b);
	p->at = (i32)((u32)p->at + (u32)(by >= 0 ? by : -by - 1));
	*raw += (u64)signed_of(b);
	position_of(*raw, p);
	return !b->bad;
}

/* An entry of .lines: of instructions from one on. Chain is where .inlined has the functions, and 1; 0: there are
 * none. */
struct entry {
	u32 at, line, chain;
};

static void put_entry(struct sb *out, i32 at, u32 line, u32 chain)
{
	struct entry e = {(u32)MAX(at, 0), line, chain}, last = {0};
	if (out->n >= sizeof(last))
		memcpy(&last, out->s + out->n - sizeof(last), sizeof(last));
	if (line != last.line || chain != last.chain)
		sb_mem(out, &e, sizeof(e));
}

static void put_line(struct sb *out, i32 at, u32 line)
{
	put_entry(out, at, line, 0);
}

/* Of bytecodes. */
static void bytecode_lines(struct bytes table, const struct source *s, struct sb *out)
{
	struct position p = at_entry;
	u64 raw = 0;
	while (next_position(&table, &raw, &p))
		put_line(out, p.at, line_at(s, p.place));
}

/* How long a bytecode is, with a prefix; 0: there is none. */
static u32 bytecode_size(const struct v8 *x, struct bytes code, u32 at)
{
	enum { PREFIXES = 4 }; /* wide, extra wide; the same two for debuggers */
	u32 n = x->f->own[V8_OWN_BYTECODES];
	if (at + 1 >= code.n || !n || n * V8_SCALES > INTERP_BYTES)
		return 0;
	u32 op = code.p[at], scale = 0, prefix = 0;
	if (op < PREFIXES) {
		scale = 1 + (op & 1);
		prefix = 1;
		op = code.p[at + 1];
	}
	return op < n ? prefix + x->f->bytes[scale * n + op] : 0;
}

/* Of code that has some instructions for each bytecode: how many bytes is in a table, first those before all. */
static void baseline_lines(const struct v8 *x, struct bytes sizes, struct bytes code,
			   struct bytes table, const struct source *s, struct sb *out)
{
	struct position p, next = at_entry;
	u64 raw = 0, pc = 0;
	u32 size;
	i32 at = 0;
	bool more = next_position(&table, &raw, &next);
	p = next;
	pc = unsigned_of(&sizes);
	put_line(out, 0, line_at(s, p.place));
	while (!sizes.bad && sizes.at < sizes.n && (size = bytecode_size(x, code, (u32)at))) {
		while (more && next.at <= at) {
			p = next;
			more = next_position(&table, &raw, &next);
		}
		put_line(out, (i32)pc, line_at(s, p.place));
		pc += unsigned_of(&sizes);
		at += (i32)size;
	}
}

/* ---- functions ---- */

struct function {
	u64 shared;
	struct source source;
	u64 array; /* its bytecode */
};

/* ---- optimized code ---- */

/* What code was made of: calls that it has in it, and functions. */
struct made_of {
	struct bytes calls; /* {position of the call, number of the function} */
	u64 functions;      /* an array */
	struct sb *inlined;
};

static bool name_of_scope(const struct v8 *x, u64 scope, u64 *ret)
{
	u32 n, length;
	u16 type;
	if (!smi_at(x, scope + x->v->scope_count, &n))
		return false;
	u64 at = scope + x->v->scope_first + WORD * ((u64)n + (n < V8_INLINE_NAMES ? n : 1));
	for (u32 i = 0; i < V8_NAME_TRIES; i++)
		if (pointer_at(x, at + (u64)WORD * i, ret) && type_of(x, *ret, &type) &&
		    type < V8_STRINGS && read_at(x, *ret + x->v->length, &length, sizeof(length)) &&
		    length)
			return true;
	return false;
}

static void function_name(const struct v8 *x, u64 shared, struct sb *out)
{
	u64 name;
	u16 type;
	if (!pointer_at(x, shared + x->v->name, &name) || !type_of(x, name, &type))
		return;
	if (type < V8_STRINGS || (type == x->v->is_scope && name_of_scope(x, name, &name)))
		all_text(x, name, INTERP_NAME, take_name, out);
}

/* The function that was inlined, at a place in its source, is put behind the others. */
static bool put_inlined(const struct v8 *x, const struct made_of *m, u32 number, u32 place)
{
	AUTO_SB name = {0};
	AUTO_SB file = {0};
	struct source source = {0};
	u64 v, script, text;
	u16 type;
	if (!read_at(x, m->functions + ARRAY_TEXT + (u64)WORD * number, &v, sizeof(v)) ||
	    !(v & V8_TAG))
		return false;
	u64 shared = v & ~(u64)V8_TAG_MASK; /* it may be a weak one */
	if (!type_of(x, shared, &type) || type != x->v->is_shared)
		return false;
	function_name(x, shared, &name);
	if (pointer_at(x, shared + x->v->script, &script) && type_of(x, script, &type) &&
	    type == x->v->is_script && script_source(x, script, &source)) {
		if (pointer_at(x, script + x->v->script_name, &text))
			all_text(x, text, CHUNK, take_name, &file);
		interp_add(m->inlined, line_at(&source, place),
			   name.n ? sb_str(&name) : STR("<anonymous>"),
			   v8_path(x->a, sb_str(&file)));
	} else if (name.n) {
		interp_add(m->inlined, 0, sb_str(&name), STR(""));
	}
	return true;
}

/* Of a position in an inlined call: the chain of functions, and where the call is that was not inlined itself. False:
 * that is not known. */
static bool put_chain(const struct v8 *x, const struct made_of *m, struct position *p, u32 *chain)
{
	enum { ENTRY = 16, MAX_CHAINS = 1 << 16, MAX_DEEP = 15 };
	struct bytes calls = m->calls;
	size_t from = m->inlined->n;
	bool ok = from < MAX_CHAINS;
	sb_mem(m->inlined, &(u32){0}, sizeof(u32));
	for (u32 i = 0; i < MAX_DEEP && p->call >= 0 && ok; i++) {
		bytes_seek(&calls, (size_t)p->call * ENTRY);
		u64 raw = bytes_u64(&calls);
		u32 number = bytes_u32(&calls);
		ok = !calls.bad && put_inlined(x, m, number, p->place);
		position_of(raw, p);
	}
	ok = ok && p->call < 0;
	u32 n = (u32)(m->inlined->n - from - sizeof(u32));
	memcpy(m->inlined->s + from, &n, sizeof(n));
	*chain = ok ? (u32)from + 1 : 0;
	if (!ok)
		m->inlined->n = from;
	return ok;
}

static void call_lines(const struct v8 *x, u64 code, struct bytes table, const struct source *s,
		       struct sb *out, struct sb *inlined)
{
	struct position p = at_entry;
	struct made_of m = {.calls = bytes_of("", 0), .inlined = inlined};
	const u32 *own = x->f->own;
	u64 raw = 0, data;
	bool has =
		own[V8_OWN_INLINED] && own[V8_OWN_LITERALS] &&
		pointer_at(x, code + own[V8_OWN_CODE_DATA], &data) &&
		table_at(x, data + ARRAY_TEXT + (u64)WORD * own[V8_OWN_INLINED], &m.calls) &&
		pointer_at(x, data + ARRAY_TEXT + (u64)WORD * own[V8_OWN_LITERALS], &m.functions);
	while (next_position(&table, &raw, &p)) {
		struct position outer = p;
		u32 chain = 0;
		bool known = p.call < 0 || (has && put_chain(x, &m, &outer, &chain));
		put_entry(out, p.at, known ? line_at(s, outer.place) : 0, chain);
	}
}

/* A function's bytecode: it leads to that, or to code that was made of it. */
static bool find_array(const struct v8 *x, u64 shared, u64 *ret)
{
	u16 type;
	u32 kind;
	if (!pointer_at(x, shared + WORD, ret))
		return false;
	if (is_code(x, *ret, &kind) && !pointer_at(x, *ret + x->f->own[V8_OWN_CODE_DATA], ret))
		return false;
	if (type_of(x, *ret, &type) && type == x->v->is_array)
		return true;
	/* or what it leads to has it first */
	return pointer_at(x, *ret + WORD, ret) && type_of(x, *ret, &type) && type == x->v->is_array;
}

static bool array_code(const struct v8 *x, u64 array, struct bytes *ret)
{
	u32 n;
	if (!smi_at(x, array + WORD, &n) || n > MAX_TABLE)
		return false;
	u8 *p = arena_alloc(x->a, n + 1, 1);
	*ret = bytes_of(p, n);
	return read_at(x, array + x->v->array_head + V8_TAG, p, n);
}

/* Of compiled code (tagged; 0: of bytecode). */
static void find_lines(const struct v8 *x, const struct function *fn, u64 code, struct sb *out,
		       struct sb *inlined)
{
	struct bytes table, positions, sizes;
	u32 kind;
	if (!table_at(x, fn->array + x->f->own[V8_OWN_ARRAY_POSITIONS], &table))
		return;
	if (!code) {
		bytecode_lines(table, &fn->source, out);
		return;
	}
	code -= V8_TAG;
	if (!is_code(x, code, &kind) ||
	    !table_at(x, code + x->f->own[V8_OWN_CODE_POSITIONS], &positions))
		return;
	if (kind == x->f->own[V8_OWN_BASELINE]) {
		if (array_code(x, fn->array, &sizes))
			baseline_lines(x, positions, sizes, table, &fn->source, out);
		return;
	}
	call_lines(x, code, positions, &fn->source, out, inlined);
}

/* ---- code to which its function does not lead ---- */

struct code {
	u64 tagged, start;
	u32 size;
};

static bool has_pc(const struct v8 *x, u64 object, u64 pc, struct code *ret)
{
	u32 kind;
	*ret = (struct code){object + V8_TAG, object + x->v->start, 0};
	return is_code(x, object, &kind) &&
	       (x->v->inside || read_at(x, ret->start, &ret->start, sizeof(ret->start))) &&
	       read_at(x, object + x->v->size, &ret->size, sizeof(ret->size)) &&
	       pc - ret->start < ret->size;
}

/* Does code begin with the object that is there? That is the Code, or leads to it by one of its first words. */
static bool begins_code(const struct v8 *x, const u64 *words, u64 at, u64 pc, struct code *ret)
{
	enum { HEAD = 3, HEAD_BYTES = 256 };
	if ((words[0] & V8_TAG_MASK) != V8_TAG)
		return false;
	if (x->v->inside)
		return has_pc(x, at, pc, ret);
	for (u32 i = 1; i <= HEAD; i++)
		if ((words[i] & V8_TAG_MASK) == V8_TAG && has_pc(x, words[i] - V8_TAG, pc, ret) &&
		    ret->start - at <= HEAD_BYTES)
			return true;
	return false;
}

/* What is in front of an instruction tells which code it is of. */
static bool find_code(const struct v8 *x, u64 pc, struct code *ret)
{
	enum { BACK = 1 << 18, WORDS = 512, MORE = 3, PART = WORD * WORDS };
	u64 words[WORDS + MORE] = {0}, first = pc / PART * PART;
	for (u64 at = first; x->v->code && first - at < BACK; at -= PART) {
		memcpy(words + WORDS, words, MORE * WORD);
		if (!read_at(x, at, words, PART))
			return false;
		for (u32 i = WORDS; i-- > 0;)
			if (at + (u64)WORD * i <= pc &&
			    begins_code(x, words + i, at + (u64)WORD * i, pc, ret))
				return true;
	}
	return false;
}

/* Lines of code are asked for by the lower part of an address. */
static void move_lines(const struct code *c, u64 base, struct sb *lines)
{
	struct entry e;
	for (u32 i = 0; i + sizeof(e) <= lines->n; i += (u32)sizeof(e)) {
		memcpy(&e, lines->s + i, sizeof(e));
		u64 pc = c->start + e.at;
		e.at = pc > base ? (u32)MIN(pc - base, (u64)UINT32_MAX) : 0;
		memcpy(lines->s + i, &e, sizeof(e));
	}
	u64 end = c->start + c->size;
	e = (struct entry){.at = end > base ? (u32)MIN(end - base, (u64)UINT32_MAX) : 0};
	sb_mem(lines, &e, sizeof(e));
}

static u64 word_of(const u8 *p, u32 at)
{
	u64 v;
	memcpy(&v, p + at, sizeof(v));
	return v;
}

bool v8_more(const struct interp_file *f, const struct unwind_code *raw,
	     const struct interp_memory *m, struct arena *a, struct interp_code *ret)
{
	AUTO_SB text = {0};
	AUTO_SB file = {0};
	AUTO_SB lines = {0};
	AUTO_SB inlined = {0};
	u32 parts = 0;
	struct v8 x = {.f = f, .v = &f->lang.v8, .m = m, .a = a, .parts = &parts};
	struct function fn = {.shared = raw->addr};
	u64 script = word_of(raw->lines, V8_LINES_SCRIPT),
	    name = word_of(raw->lines, V8_LINES_NAME);
	if (name && all_text(&x, name - V8_TAG, INTERP_NAME, take_name, &text) && text.n)
		ret->name = arena_str(a, sb_str(&text));
	if ((script & V8_TAG_MASK) != V8_TAG)
		return true;
	script -= V8_TAG;
	if (pointer_at(&x, script + x.v->script_name, &name) &&
	    all_text(&x, name, CHUNK, take_name, &file) && file.n)
		ret->file = v8_path(a, sb_str(&file));
	if (!script_source(&x, script, &fn.source) || !find_array(&x, fn.shared, &fn.array))
		return false;
	u64 code = word_of(raw->lines, V8_LINES_CODE), base = code - V8_PLACE;
	struct code placed;
	if ((code & V8_TAG_MASK) != V8_PLACE) {
		find_lines(&x, &fn, code, &lines, &inlined);
	} else if (find_code(&x, base + word_of(raw->lines, V8_LINES_INSTR), &placed)) {
		find_lines(&x, &fn, placed.tagged, &lines, &inlined);
		move_lines(&placed, base, &lines);
	}
	ret->lines = arena_str(a, sb_str(&lines));
	ret->inlined = arena_str(a, sb_str(&inlined));
	return true;
}

/* The last entry at that instruction or before it. */
static bool find_entry(const struct interp_code *c, u32 instr, struct entry *ret)
{
	u32 lo = 0, hi = c->lines.n / (u32)sizeof(*ret);
	if (instr == UNWIND_NO_INSTR)
		return false;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		memcpy(ret, c->lines.s + mid * sizeof(*ret), sizeof(*ret));
		if (ret->at <= instr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo)
		memcpy(ret, c->lines.s + (lo - 1) * sizeof(*ret), sizeof(*ret));
	return lo > 0;
}

u32 v8_line(const struct interp_file *f, const struct interp_code *c, u32 instr)
{
	struct entry e;
	(void)f;
	return find_entry(c, instr, &e) ? e.line : 0;
}

void v8_inlined(const struct interp_code *c, u32 instr, struct sb *out)
{
	struct entry e;
	u32 n;
	if (!find_entry(c, instr, &e) || !e.chain || c->inlined.n < sizeof(n) ||
	    e.chain - 1 > c->inlined.n - sizeof(n))
		return;
	memcpy(&n, c->inlined.s + e.chain - 1, sizeof(n));
	struct str rest = str_from(c->inlined, e.chain - 1 + (u32)sizeof(n));
	sb_add(out, str_n(rest.s, MIN(n, rest.n)));
}
