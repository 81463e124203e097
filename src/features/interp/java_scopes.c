/*
 * java_scopes.c - methods that are inlined into compiled code of Java, and lines; see the header.
 *
 * HotSpot knows at some instructions of compiled code, mostly calls, in which scopes they are: a scope has its caller's
 * (0: none), the number of its method in a list, and the bytecode, and 1; all packed numbers. What is made of that:
 *
 *	struct head
 *	struct place[]	by instruction, which is the end of a call: its scope
 *	struct scope[]	its method, line, and caller
 *	struct method[]	where its texts are
 *	texts
 */
#include "interp/java_scopes.h"
#include "base/vec.h"
#include <string.h>

enum {
	WORD = 8,
	PLACE_BYTES = 16, /* of HotSpot's: instruction, scope, 2 more: u32 */
	MAX_PLACES = 1 << 13,
	MAX_SCOPE_BYTES = 1 << 20,
	MAX_METHODS = 1 << 11,
	MAX_SCOPES = 1 << 14,
	MAX_DEPTH = 64,
	NEAR = 256,
	NONE = UINT32_MAX,
};
struct head {
	u32 nplace, nscope, nmethod;
};
struct place {
	u32 at, scope;
};
struct scope {
	u32 from; /* where HotSpot has it */
	u32 method, line, caller;
};
struct method {
	u32 name, nname, file, nfile;
};

struct making {
	const struct interp_file *f;
	java_method *read;
	void *arg;
	struct arena *a;
	struct bytes data;
	const u64 *list; /* nlist methods, or others: pointers */
	u32 nlist;
	VEC(struct place) place;
	VEC(struct scope) scope;
	VEC(struct method) method;
	struct interp_code *code; /* of each in the list; .name NULL: not read */
	u32 *number;              /* likewise, in .method, and 1 */
	struct sb text;
};

/* ---- packed numbers ---- */

/* What a byte means began with 1 in Java 20. */
static u32 packed(struct bytes *b, u32 major)
{
	enum { LAST = 192, DIGIT_BITS = 6, MOST = 5, ONE_BASED = 20 };
	u32 v = 0, first = major >= ONE_BASED;
	for (u32 i = 0; i < MOST && !b->bad; i++) {
		u8 c = bytes_u8(b);
		v += (u32)(c - first) << (DIGIT_BITS * i);
		if (c < LAST)
			break;
	}
	return v;
}

static u32 packed_signed(struct bytes *b, u32 major)
{
	u32 v = packed(b, major);
	return v >> 1 ^ -(v & 1);
}

/* Entries of where instructions of lines begin, as a rule in order. 0 if what was copied does not tell. */
u32 java_table_line(struct str table, u32 major, u32 instr)
{
	enum { END = 0, WIDE = 255, LINE_BITS = 3 };
	struct bytes b = bytes_of(table.s, table.n);
	u32 at = 0, line = 0, found = 0, found_at = 0;
	while (instr != UNWIND_NO_INSTR) {
		u8 v = bytes_u8(&b);
		if (b.bad)
			return 0;
		if (v == END)
			break;
		at += v == WIDE ? packed_signed(&b, major) : v >> LINE_BITS;
		line += v == WIDE ? packed_signed(&b, major) : v & ((1 << LINE_BITS) - 1);
		if (at > instr || (found && at < found_at))
			continue;
		found = line;
		found_at = at;
	}
	return found;
}

/* ---- reading ---- */

struct parts { /* of a nmethod: addresses */
	u64 places, places_end, data, data_end, list, list_end;
};

static bool read_at(const struct interp_memory *m, u64 addr, void *to, size_t n)
{
	return m->read(m->arg, addr, to, n);
}

/* A number of a nmethod, u32 or u16. */
static u64 number(const struct interp_memory *m, u64 nmethod, u32 at, u32 bytes)
{
	u64 v = 0;
	return read_at(m, nmethod + at, &v, bytes) ? v : 0;
}

/* Since Java 23 what does not change lies elsewhere, and since 25 the list of methods, too. */
static bool find_parts(const struct interp_file *f, const struct interp_memory *m, u64 n,
		       struct parts *ret)
{
	const u32 *own = f->own;
	if (own[JAVA_OWN_FIXED]) {
		u64 fixed = number(m, n, own[JAVA_OWN_FIXED], WORD);
		u64 list = number(m, n, own[JAVA_OWN_MUTABLE], WORD);
		u32 size = (u32)number(m, n, own[JAVA_OWN_FIXED_SIZE], sizeof(u32));
		u32 first = (u32)number(m, n, own[JAVA_OWN_RELOCATIONS], sizeof(u32));
		*ret = (struct parts){
			.places = fixed + (u32)number(m, n, own[JAVA_OWN_PLACES], sizeof(u32)),
			.data = fixed + (u32)number(m, n, own[JAVA_OWN_SCOPES], sizeof(u32)),
			.data_end = fixed + size,
			.list = list + (first + WORD - 1) / WORD * WORD,
			.list_end =
				list + (u32)number(m, n, own[JAVA_OWN_MUTABLE_SIZE], sizeof(u32)),
		};
		ret->places_end = ret->data;
	} else if (own[JAVA_OWN_SCOPES_AT]) {
		*ret = (struct parts){
			.places = n + (u32)number(m, n, own[JAVA_OWN_PLACES], sizeof(u32)),
			.places_end = n + (u32)number(m, n, own[JAVA_OWN_PLACES_END], sizeof(u32)),
			.data = number(m, n, own[JAVA_OWN_SCOPES_AT], WORD),
			.list = n + (u32)number(m, n, own[JAVA_OWN_LIST], sizeof(u32)),
		};
		ret->data_end = ret->places;
		ret->list_end = ret->data;
	} else {
		return false;
	}
	return ret->places < ret->places_end && ret->data < ret->data_end &&
	       ret->list <= ret->list_end &&
	       ret->places_end - ret->places <= MAX_PLACES * PLACE_BYTES &&
	       ret->data_end - ret->data <= MAX_SCOPE_BYTES;
}

static const void *read_part(struct making *x, const struct interp_memory *m, u64 from, u64 to)
{
	void *p = arena_alloc(x->a, (size_t)(to - from) + 1, WORD);
	return read_at(m, from, p, (size_t)(to - from)) ? p : NULL;
}

/* ---- methods and scopes ---- */

static struct interp_code *code_at(struct making *x, u32 i)
{
	if (!x->code[i].name.s)
		x->read(x->arg, x->list[i], x->a, &x->code[i]);
	return &x->code[i];
}

static u32 add_text(struct making *x, struct str s)
{
	u32 at = (u32)x->text.n;
	sb_add(&x->text, s);
	return at;
}

static u32 method_at(struct making *x, u32 i)
{
	const struct interp_code *c = code_at(x, i);
	if (!x->number[i]) {
		struct method m = {.nname = c->name.n, .nfile = c->file.n};
		m.name = add_text(x, c->name);
		m.file = add_text(x, c->file);
		vec_add(&x->method, m);
		x->number[i] = x->method.n;
	}
	return x->number[i] - 1;
}

/* A scope's number, and that of those that call it; NONE: it makes no sense. */
static u32 scope_at(struct making *x, u32 from, u32 depth)
{
	u32 last = x->scope.n > NEAR ? x->scope.n - NEAR : 0;
	for (u32 i = x->scope.n; i > last; i--) /* those of neighbours are near */
		if (x->scope.v[i - 1].from == from)
			return i - 1;
	struct bytes b = x->data;
	bytes_seek(&b, from);
	u32 major = x->f->own[JAVA_OWN_MAJOR], caller = packed(&b, major), i = packed(&b, major);
	u32 bci = packed(&b, major) - 1;
	if (b.bad || !i || i > x->nlist || depth == MAX_DEPTH || x->scope.n == MAX_SCOPES)
		return NONE;
	struct scope s = {.from = from, .caller = NONE};
	if (caller && (s.caller = scope_at(x, caller, depth + 1)) == NONE)
		return NONE;
	s.method = method_at(x, i - 1);
	s.line = java_table_line(code_at(x, i - 1)->lines, major, bci);
	vec_add(&x->scope, s);
	return x->scope.n - 1;
}

static void add_places(struct making *x, const u8 *p, u64 n)
{
	struct place last = {0, NONE};
	for (u64 i = 0; i + PLACE_BYTES <= n; i += PLACE_BYTES) {
		struct place now;
		memcpy(&now, p + i, sizeof(now));
		if (now.at > INT32_MAX || now.at < last.at ||
		    !now.scope) /* before all, and behind */
			continue;
		now.scope = scope_at(x, now.scope, 0);
		vec_add(&x->place, now);
		last = now;
	}
}

static struct str put_together(struct making *x)
{
	struct head h = {x->place.n, x->scope.n, x->method.n};
	AUTO_SB b = {0};
	sb_mem(&b, &h, sizeof(h));
	sb_mem(&b, x->place.v, h.nplace * sizeof(*x->place.v));
	sb_mem(&b, x->scope.v, h.nscope * sizeof(*x->scope.v));
	sb_mem(&b, x->method.v, h.nmethod * sizeof(*x->method.v));
	sb_add(&b, sb_str(&x->text));
	return arena_str(x->a, sb_str(&b));
}

struct str java_scopes(const struct interp_file *f, const struct interp_memory *m, u64 nmethod,
		       java_method *read, void *arg, struct arena *a)
{
	struct making x = {.f = f, .read = read, .arg = arg, .a = a};
	struct parts p;
	struct str made = STR("");
	if (!find_parts(f, m, nmethod, &p))
		return made;
	x.nlist = (u32)MIN((p.list_end - p.list) / WORD, (u64)MAX_METHODS);
	x.list = read_part(&x, m, p.list, p.list + (u64)WORD * x.nlist);
	const u8 *data = read_part(&x, m, p.data, p.data_end);
	const u8 *places = read_part(&x, m, p.places, p.places_end);
	if (!x.list || !data || !places)
		return made;
	x.data = bytes_of(data, (size_t)(p.data_end - p.data));
	x.code = arena_newn(a, struct interp_code, x.nlist + 1);
	x.number = arena_newn(a, u32, x.nlist + 1);
	add_places(&x, places, p.places_end - p.places);
	made = put_together(&x);
	vec_free(&x.place);
	vec_free(&x.scope);
	vec_free(&x.method);
	sb_free(&x.text);
	return made;
}

/* ---- asking ---- */

struct scopes {
	struct head h;
	struct str place, scope, method, text;
};

static bool take_apart(struct str s, struct scopes *ret)
{
	u64 n = sizeof(ret->h), places, scopes, methods;
	if (s.n < n)
		return false;
	memcpy(&ret->h, s.s, sizeof(ret->h));
	places = (u64)ret->h.nplace * sizeof(struct place);
	scopes = (u64)ret->h.nscope * sizeof(struct scope);
	methods = (u64)ret->h.nmethod * sizeof(struct method);
	if (places + scopes + methods > s.n - n)
		return false;
	ret->place = str_from(s, (u32)n);
	ret->scope = str_from(ret->place, (u32)places);
	ret->method = str_from(ret->scope, (u32)scopes);
	ret->text = str_from(ret->method, (u32)methods);
	return true;
}

static bool get_scope(const struct scopes *x, u32 i, struct scope *ret)
{
	if (i >= x->h.nscope)
		return false;
	memcpy(ret, x->scope.s + i * sizeof(*ret), sizeof(*ret));
	return ret->caller == NONE || ret->caller < i; /* callers come before */
}

/* The first place behind the instruction. */
static bool find_scope(const struct scopes *x, u32 instr, struct scope *ret)
{
	struct place p = {0};
	u32 lo = 0, hi = x->h.nplace;
	if (instr == UNWIND_NO_INSTR)
		return false;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		memcpy(&p, x->place.s + mid * sizeof(p), sizeof(p));
		if (p.at <= instr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == x->h.nplace)
		return false;
	memcpy(&p, x->place.s + lo * sizeof(p), sizeof(p));
	return get_scope(x, p.scope, ret);
}

u32 java_scope_line(struct str scopes, u32 instr)
{
	struct scopes x;
	struct scope s;
	if (!take_apart(scopes, &x) || !find_scope(&x, instr, &s))
		return 0;
	while (s.caller != NONE)
		if (!get_scope(&x, s.caller, &s))
			return 0;
	return s.line;
}

static struct str text_at(const struct scopes *x, u32 at, u32 n)
{
	struct str s = str_from(x->text, MIN(at, x->text.n));
	return str_n(s.s, MIN(n, s.n));
}

void java_scope_inlined(struct str scopes, u32 instr, struct sb *out)
{
	struct scopes x;
	struct scope s;
	struct method m;
	if (!take_apart(scopes, &x) || !find_scope(&x, instr, &s))
		return;
	while (s.caller != NONE && s.method < x.h.nmethod) {
		memcpy(&m, x.method.s + s.method * sizeof(m), sizeof(m));
		interp_add(out, s.line, text_at(&x, m.name, m.nname), text_at(&x, m.file, m.nfile));
		if (!get_scope(&x, s.caller, &s))
			return;
	}
}
