/*
 * value.c - decoded data as text: print() and map lines.
 */
#include "core/value.h"
#include "base/arena.h"
#include "types/type.h"

/* How compound values are punctuated. */
struct punct {
	struct show how;
	bool brief;       /* no blanks that are only layout */
	const char *mark; /* characters of texts that get a backslash; NULL: none */
};

static const char hex_lower[] = "0123456789abcdef";

static void put_hex(struct sb *out, u64 n)
{
	char buf[16];
	size_t at = sizeof(buf);
	do
		buf[--at] = hex_lower[n & 15];
	while (n >>= 4);
	sb_mem(out, "0x", 2);
	sb_mem(out, buf + at, sizeof(buf) - at);
}

void value_bytes_text(struct sb *out, struct str b, bool all)
{
	for (u32 i = 0; i < b.n; i++) {
		u8 c = (u8)b.s[i];
		char x[4] = {'\\', 'x', hex_lower[c >> 4], hex_lower[c & 15]};
		if (!all && c >= ' ' && c < 0x7f)
			sb_char(out, (char)c);
		else
			sb_mem(out, x, 4);
	}
}

void value_put_str(struct sb *out, struct str s, const struct show *how)
{
	if (how->escape)
		sb_visible(out, s);
	else
		sb_add(out, s);
}

static void put_text(struct sb *out, struct str s, const struct punct *p)
{
	for (u32 i = 0; p->mark && i < s.n; i++) {
		if (s.s[i] && strchr(p->mark, s.s[i]))
			sb_char(out, '\\');
		sb_char(out, s.s[i]);
	}
	if (!p->mark)
		value_put_str(out, s, &p->how);
}

static void put_bytes(struct sb *out, struct str s, const struct punct *p)
{
	for (u32 i = 0; i < s.n; i++) {
		struct str byte = str_n(s.s + i, 1);
		if (p->mark && (u8)byte.s[0] >= ' ' && (u8)byte.s[0] < 0x7f)
			put_text(out, byte, p);
		else
			value_bytes_text(out, byte, false);
	}
}

struct str frame_file(const struct frame *f)
{
	struct str file = f->module;
	for (i32 slash = str_chr(file, '/'); slash >= 0; slash = str_chr(file, '/'))
		file = str_from(file, (u32)slash + 1);
	return file;
}

static void put_stack(struct sb *out, const struct value *v, const struct punct *p)
{
	const char *indent = v->mode == STACK_PERF                  ? "\t"
			     : stack_is_plain(v->mode) && !p->brief ? "        "
								    : "";
	sb_char(out, '\n');
	for (u32 i = 0; i < v->n; i++) {
		sb_z(out, indent);
		put_text(out, v->stack[i].text, p);
		sb_char(out, '\n');
	}
}

static void put_value(struct sb *out, const struct value *v, const struct punct *p);

static void put_list(struct sb *out, const struct value *v, const struct punct *p, const char *sep)
{
	for (u32 i = 0; i < v->n; i++) {
		if (i)
			sb_z(out, sep);
		put_value(out, &v->list[i], p);
	}
}

static void put_record(struct sb *out, const struct value *v, const struct str *names,
		       const struct punct *p)
{
	const char *blank = p->brief ? "" : " ";
	sb_char(out, '{');
	for (u32 i = 0; i < v->n; i++) {
		if (i)
			sb_char(out, ',');
		sb_z(out, blank);
		sb_char(out, '.');
		sb_add(out, names[i]);
		sb_z(out, blank);
		sb_char(out, '=');
		sb_z(out, blank);
		put_value(out, &v->list[i], p);
	}
	if (v->n)
		sb_z(out, blank);
	sb_char(out, '}');
}

/* What ends a text within brackets gets a backslash, too. */
static struct punct within(const struct punct *p)
{
	return (struct punct){p->how, p->brief, p->brief ? "\\,()[]{}" : NULL};
}

static void put_value(struct sb *out, const struct value *v, const struct punct *p)
{
	const struct punct in = within(p);
	static const struct str stats[] = {{"count", 5}, {"average", 7}, {"total", 5}};
	switch (v->kind) {
	case V_NONE: break;
	case V_BOOL: sb_z(out, v->u ? "true" : "false"); break;
	case V_INT: sb_i64(out, v->i); break;
	case V_UINT: sb_u64(out, v->u); break;
	case V_PTR: put_hex(out, v->u); break;
	case V_ENUM:
		if (v->str.n)
			sb_add(out, v->str);
		else
			sb_i64(out, v->i);
		break;
	case V_STR:
		put_text(out, v->str, p);
		if (v->cut)
			sb_add(out, p->how.trailer);
		break;
	case V_BYTES: put_bytes(out, v->str, p); break;
	case V_NAMED: put_text(out, v->str, p); break;
	case V_TUPLE:
		sb_char(out, '(');
		put_list(out, v, &in, p->brief ? "," : ", ");
		sb_char(out, ')');
		break;
	case V_ARRAY:
		sb_char(out, '[');
		put_list(out, v, &in, ",");
		sb_char(out, ']');
		break;
	case V_RECORD: put_record(out, v, v->names, &in); break;
	case V_STATS:
		assert(v->n <= countof(stats));
		put_record(out, v, stats, p);
		break;
	case V_STACK: put_stack(out, v, p); break;
	case V_HIST: value_hist_text(out, v, 0); break;
	case V_PERCENTILES: value_percentiles_text(out, v); break;
	case V_SERIES: value_series_text(out, v); break;
	case V_FLOAT: sb_fmt(out, "%g", v->f); break;
	}
}

void value_text(struct sb *out, const struct value *v, const struct show *how)
{
	put_value(out, v, &(struct punct){*how, false, NULL});
}

void value_key_text(struct sb *out, const struct value *v, const struct show *how)
{
	const struct punct p = {*how, false, NULL};
	if (v->kind == V_TUPLE)
		put_list(out, v, &p, ", ");
	else
		put_value(out, v, &p);
}

void value_key_short(struct sb *out, const struct value *v, const struct show *how)
{
	const struct punct p = {*how, true, v->kind == V_TUPLE ? "\\," : NULL};
	if (v->kind == V_TUPLE)
		put_list(out, v, &p, ",");
	else
		put_value(out, v, &p);
}

static void put_places(struct sb *out, const struct value *v)
{
	if (v->kind == V_TUPLE || v->kind == V_RECORD || v->kind == V_ARRAY)
		for (u32 i = 0; i < v->n; i++)
			put_places(out, &v->list[i]);
	for (u32 i = 0; v->kind == V_STACK && i < v->n; i++)
		sb_fmt(out, "\n%.*s", STRF(v->stack[i].module));
}

void value_key_identity(struct sb *out, const struct value *v, bool places)
{
	value_key_short(out, v, &(struct show){STR(""), false});
	if (places)
		put_places(out, v);
}

/* ---- histograms ---- */

enum { HIST_LABEL = 16, HIST_COUNT = 8, HIST_BAR = 52, HIST_SHORTEST = 8 };

/*
 * A bound with a unit of 1024. hist(): the unit must divide the bucket that starts at the bound, so
 * that neighbours look alike ([1024, 1280) and not [1K, 1280)). lhist(): its steps are what
 * matters; K and M only.
 */
static void put_bound(struct sb *out, i64 n, u64 width, bool linear)
{
	static const char units[] = "KMGTPE";
	u32 power = 0, max = linear ? 2 : 6;
	if (linear) {
		for (u64 m = (u64)n; width % 1024 == 0 && n && m % 1024 == 0 && power < max;
		     m /= 1024)
			power++;
	} else {
		for (; width >= 1024 && power < max; width /= 1024)
			power++;
	}
	sb_i64(out, power ? n >> (10 * power) : n);
	if (power && n)
		sb_char(out, units[power - 1]);
}

/* Width of the hist() bucket that follows b: the same, or the double at a power of two. */
static u64 next_width(const struct bucket *b)
{
	u64 width = (u64)b->hi - (u64)b->lo, hi = (u64)b->hi;
	if (b->no_lo || hi <= 1)
		return 1;
	return hi & (hi - 1) ? width : width * 2;
}

static void put_label(struct sb *out, const struct value *v, u32 i)
{
	const struct bucket *b = &v->hist[i];
	u64 lo_width = v->step ? v->step : (u64)b->hi - (u64)b->lo;
	u64 hi_width = v->step ? v->step : i + 1 < v->n ? 0 : next_width(b);
	bool linear = v->step != 0;
	if (!linear && i + 1 < v->n)
		hi_width = (u64)b[1].hi - (u64)b[1].lo;
	size_t at = out->n;
	if (b->no_lo) {
		sb_z(out, "(..., ");
		put_bound(out, b->hi, hi_width, linear);
		sb_char(out, ')');
	} else if (b->no_hi) {
		sb_char(out, '[');
		put_bound(out, b->lo, lo_width, linear);
		sb_z(out, ", ...)");
	} else if ((u64)b->hi - (u64)b->lo == 1) {
		sb_char(out, '[');
		put_bound(out, b->lo, lo_width, linear);
		sb_char(out, ']');
	} else {
		sb_char(out, '[');
		put_bound(out, b->lo, lo_width, linear);
		sb_z(out, ", ");
		/* The last bucket of all ends at 2^63, which is no i64. */
		if (b->hi < b->lo)
			sb_z(out, "8E");
		else
			put_bound(out, b->hi, hi_width, linear);
		sb_char(out, ')');
	}
	if (out->n - at < HIST_LABEL)
		sb_pad(out, ' ', HIST_LABEL - (out->n - at));
}

/* Of the longest bar: what is left of the columns. */
static u32 bar_length(u32 columns)
{
	enum { BESIDE = HIST_LABEL + HIST_COUNT + sizeof(" ||") - 1 };
	if (!columns || columns >= BESIDE + HIST_BAR)
		return HIST_BAR;
	return columns > BESIDE + HIST_SHORTEST ? columns - BESIDE : HIST_SHORTEST;
}

void value_hist_text(struct sb *out, const struct value *v, u32 columns)
{
	u32 longest = bar_length(columns);
	u64 max = 0;
	for (u32 i = 0; i < v->n; i++)
		max = MAX(max, v->hist[i].count);
	for (u32 i = 0; i < v->n; i++) {
		u64 count = v->hist[i].count;
		size_t bar = max ? (size_t)((unsigned __int128)count * longest / max) : 0;
		put_label(out, v, i);
		sb_fmt(out, "%*llu |", HIST_COUNT, count);
		sb_pad(out, '@', bar);
		sb_pad(out, ' ', longest - bar);
		sb_z(out, "|\n");
	}
}

/* ---- copies ---- */

static const struct frame *copy_frames(struct arena *a, const struct value *v)
{
	struct frame *f = arena_newn(a, struct frame, v->n + 1);
	for (u32 i = 0; i < v->n; i++) {
		f[i] = v->stack[i];
		f[i].sym = arena_str(a, f[i].sym);
		f[i].module = arena_str(a, f[i].module);
		f[i].build_id = arena_str(a, f[i].build_id);
		f[i].language = arena_str(a, f[i].language);
		f[i].source = arena_str(a, f[i].source);
		f[i].text = arena_str(a, f[i].text);
	}
	return f;
}

struct value value_copy(struct arena *a, const struct value *v)
{
	struct value c = *v;

	c.str = arena_str(a, v->str);
	if (v->kind == V_TUPLE || v->kind == V_ARRAY || v->kind == V_RECORD || v->kind == V_STATS) {
		struct value *list = arena_newn(a, struct value, v->n + 3);
		u32 n = v->kind == V_STATS ? 3 : v->n;
		for (u32 i = 0; i < n; i++)
			list[i] = value_copy(a, &v->list[i]);
		c.list = list;
	} else if (v->kind == V_HIST) {
		struct bucket *b = arena_newn(a, struct bucket, v->n + 1);
		memcpy(b, v->hist, v->n * sizeof(*b));
		c.hist = b;
	} else if (v->kind == V_STACK) {
		c.stack = copy_frames(a, v);
	} else if (v->kind == V_SERIES) {
		struct tick *t = arena_newn(a, struct tick, v->n + 1);
		memcpy(t, v->series, v->n * sizeof(*t));
		c.series = t;
	}
	return c;
}
