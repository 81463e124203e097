/* codes.c - lists of generated code, by address. */
#include "base/alloc.h"
#include "base/pack.h"
#include "base/vec.h"
#include "sym/jit.h"

enum {
	MAX_CODES = 1 << 19,
	MAX_NAME = 1 << 12,
	MAX_OVERLAP = 16,
	/* jitdump: a header of at least so many bytes, then records, each with a head */
	DUMP_MAGIC = 0x4a695444,
	DUMP_HEADER = 40,
	DUMP_HEAD = 16,
	DUMP_LOAD = DUMP_HEAD + 40, /* then the name, and the code */
};
enum dump_record {
	DUMP_CODE_LOAD,
	DUMP_CODE_MOVE,
	DUMP_CODE_DEBUG_INFO,
	DUMP_CODE_CLOSE,
};

/* For whom it is told: where it was before, 0: nowhere; then the name is not. */
static void tell(struct codes *c, u64 from, u64 start, u64 size, struct str name)
{
	pack_u64(c->told, from);
	pack_u64(c->told, start);
	pack_u64(c->told, size);
	pack_str(c->told, name);
}

static void add(struct codes *c, u64 start, u64 size, struct str name)
{
	if (!size || start + size < start || !name.n || c->n == MAX_CODES)
		return;
	name.n = MIN(name.n, (u32)MAX_NAME);
	if (c->told) {
		tell(c, 0, start, size, name);
		return;
	}
	struct made_code x = {start, start + size, c->n, arena_str(&c->names, name)};
	vec_add(c, x);
	c->bytes += sizeof(x) + name.n;
}

/* ---- lines ---- */

static bool take_hex(struct str *s, u64 *ret)
{
	u64 v = 0;
	u32 i = 0;
	*s = str_trim(*s);
	if (str_starts(*s, STR("0x")))
		*s = str_from(*s, 2);
	for (; i < s->n && s->s[i] != ' '; i++) {
		char c = s->s[i];
		u32 digit = c >= '0' && c <= '9'   ? (u32)(c - '0')
			    : c >= 'a' && c <= 'f' ? (u32)(c - 'a') + 10
			    : c >= 'A' && c <= 'F' ? (u32)(c - 'A') + 10
						   : 16;
		if (digit > 15 || v >> 60)
			return false;
		v = v << 4 | digit;
	}
	*s = str_from(*s, i);
	*ret = v;
	return i > 0;
}

u64 codes_take_lines(struct codes *c, const char *text, size_t n)
{
	const char *at = text, *end = text + n, *eol;
	u64 start, size;
	while (at < end && (eol = memchr(at, '\n', (size_t)(end - at)))) {
		struct str line = str_n(at, (u32)(eol - at));
		at = eol + 1;
		if (take_hex(&line, &start) && take_hex(&line, &size))
			add(c, start, size, str_trim(line));
	}
	return (u64)(at - text);
}

/* ---- jitdump ---- */

static void take_load(struct codes *c, struct bytes b)
{
	bytes_take(&b, 4 + 4 + 8); /* process, thread, address before relocation */
	u64 addr = bytes_u64(&b), size = bytes_u64(&b);
	bytes_take(&b, 8); /* its number */
	const char *name = bytes_z(&b);
	if (name)
		add(c, addr, size, str_z(name));
}

static void move(struct codes *c, u64 from, u64 to, u64 size)
{
	struct symbol was;
	if (c->told) {
		tell(c, from, to, size, STR(""));
		return;
	}
	codes_sort(c);
	if (codes_find(c, from, &was) && !was.off)
		add(c, to, size, was.name);
}

static void take_move(struct codes *c, struct bytes b)
{
	bytes_take(&b, 4 + 4 + 8);
	u64 from = bytes_u64(&b), to = bytes_u64(&b), size = bytes_u64(&b);
	if (!b.bad && from)
		move(c, from, to, size);
}

/* The name of a record that is longer than what is there: true when it is there. */
static bool has_name(struct bytes b)
{
	bytes_take(&b, DUMP_LOAD - DUMP_HEAD);
	return bytes_z(&b) != NULL;
}

u64 codes_take_dump(struct codes *c, const void *data, size_t n)
{
	struct bytes all = bytes_of(data, n);
	u64 at = 0;
	if (!c->begun) {
		bool known = bytes_u32(&all) == DUMP_MAGIC && bytes_u32(&all) == 1;
		at = bytes_u32(&all);
		if (n < DUMP_HEADER)
			return 0;
		c->begun = true;
		c->ended = !known || at < DUMP_HEADER;
	}
	while (!c->ended && at < n && n - at >= DUMP_HEAD) {
		struct bytes b = bytes_of((const u8 *)data + at, n - at);
		u32 kind = bytes_u32(&b), size = bytes_u32(&b);
		bytes_take(&b, 8); /* time */
		bool whole = size <= n - at;
		c->ended = size < DUMP_HEAD || kind == DUMP_CODE_CLOSE;
		if (whole && !c->ended)
			b = bytes_of(b.p + DUMP_HEAD, size - DUMP_HEAD);
		else
			b = bytes_of(b.p + b.at, b.n - b.at);
		if (!whole && ((kind == DUMP_CODE_LOAD && !has_name(b)) || kind == DUMP_CODE_MOVE))
			break;
		if (!c->ended && kind == DUMP_CODE_LOAD)
			take_load(c, b);
		else if (!c->ended && kind == DUMP_CODE_MOVE)
			take_move(c, b);
		at += size;
	}
	return c->ended ? UINT64_MAX : at;
}

/* ---- what was told ---- */

void codes_take_told(struct codes *c, struct bytes b)
{
	while (b.at < b.n) {
		u64 from = bytes_u64(&b), start = bytes_u64(&b), size = bytes_u64(&b);
		struct str name = unpack_str(&b);
		if (b.bad)
			return;
		if (from)
			move(c, from, start, size);
		else
			add(c, start, size, name);
	}
}

/* ---- looking up ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct made_code *a = pa, *b = pb;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

void codes_sort(struct codes *c)
{
	bool sorted = true;
	for (u32 i = 1; i < c->n && sorted; i++)
		sorted = by_start(&c->v[i - 1], &c->v[i]) < 0;
	if (!sorted)
		qsort(c->v, c->n, sizeof(*c->v), by_start);
}

bool codes_find(const struct codes *c, u64 addr, struct symbol *ret)
{
	u32 lo = 0, hi = c->n;
	const struct made_code *best = NULL;
	while (lo < hi) { /* first that starts behind addr */
		u32 mid = lo + (hi - lo) / 2;
		if (c->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (u32 i = lo; i > 0 && lo - i < MAX_OVERLAP; i--) {
		const struct made_code *x = &c->v[i - 1];
		if (addr < x->end && (!best || x->order > best->order))
			best = x;
	}
	if (!best)
		return false;
	*ret = (struct symbol){.name = best->name,
			       .addr = best->start,
			       .off = addr - best->start,
			       .size = best->end - best->start};
	return true;
}

void codes_free(struct codes *c)
{
	free(c->v);
	arena_free(&c->names);
	*c = (struct codes){0};
}
