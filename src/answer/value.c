/*
 * value.c - values as bytes.
 *
 * A value is a u8 with its kind (enum value_kind), then
 *
 *	none			nothing
 *	bool, pointer		u64
 *	int, uint, enum		u8 size, u8 1 if it is an average, u64, text (name of the C type or enumerator)
 *	string			u8 1 if it was cut, text
 *	bytes			text
 *	named			u64, text
 *	float			u64, its bits
 *	tuple, array, stats	u32 n, n values
 *	record			text name, u32 n, n times { text name, value }
 *	stack			u8 mode (enum stack_mode), u8 1 if it is the kernel's, u32 id of a STACK or 0
 *	hist			u8 1 if its buckets have several widths, u64 step, u32 n, n times { u64 low, u64
 *				high, u64 count, u8 1 without a low bound, 2 without a high one }
 *	percentiles		u64 total, u32 n, n times { text name, low, high, count, u8 as above }
 *	series			u8 1 if signed, u64 step, u32 n, n times { u64 start, u64 value, u8 1 if there is none }
 */
#include "answer/answer.h"
#include "base/pack.h"
#include "rec/read.h"
#include "types/type.h"

enum { NO_LO = 1, NO_HI = 2 };

/* ---- writing ---- */

static u32 put_frame(struct rec_writer *w, const struct value *v, const struct frame *f)
{
	struct rec_frame out = {.addr = f->addr,
				.file_off = f->file_off,
				.sym_off = f->off,
				.line = f->line,
				.sym = f->sym,
				.source = f->source,
				.text = f->text,
				.language = f->language};
	out.flags = (u8)((f->inlined ? FRAME_INLINED : 0) | (f->made ? FRAME_MADE : 0) |
			 (v->kernel ? FRAME_KERNEL : 0));
	if (f->module.n)
		out.mapping = rec_mapping(
			w, &(struct rec_mapping){.path = f->module, .build_id = f->build_id});
	return rec_frame(w, &out);
}

static void put_stack(struct rec_writer *w, struct sb *out, const struct value *v)
{
	u32 frame[REC_MAX_FRAMES];
	struct rec_stack s = {.n = MIN(v->n, (u32)REC_MAX_FRAMES), .frame = frame};
	for (u32 i = 0; i < s.n; i++)
		frame[i] = put_frame(w, v, &v->stack[i]);
	s.flags = (u8)((v->kernel ? STACK_KERNEL : 0) | (s.n < v->n ? STACK_CUT : 0));
	pack_u8(out, v->mode);
	pack_u8(out, v->kernel);
	pack_u32(out, s.n ? rec_stack(w, &s) : 0);
}

static void put_bucket(struct sb *out, const struct bucket *b)
{
	pack_u64(out, (u64)b->lo);
	pack_u64(out, (u64)b->hi);
	pack_u64(out, b->count);
	pack_u8(out, (u8)((b->no_lo ? NO_LO : 0) | (b->no_hi ? NO_HI : 0)));
}

static void put_number(struct sb *out, const struct value *v)
{
	pack_u8(out, v->size);
	pack_u8(out, v->agg);
	pack_u64(out, v->u);
	pack_str(out, v->str);
}

static void put_list(struct rec_writer *w, struct sb *out, const struct value *v)
{
	pack_u32(out, v->n);
	for (u32 i = 0; i < v->n; i++) {
		if (v->kind == V_RECORD)
			pack_str(out, v->names[i]);
		answer_put_value(w, out, &v->list[i]);
	}
}

static void put_buckets(struct sb *out, const struct value *v)
{
	pack_u32(out, v->n);
	for (u32 i = 0; i < v->n; i++) {
		if (v->kind == V_PERCENTILES)
			pack_str(out, v->names[i]);
		put_bucket(out, &v->hist[i]);
	}
}

static void put_series(struct sb *out, const struct value *v)
{
	pack_u8(out, v->sign);
	pack_u64(out, v->step);
	pack_u32(out, v->n);
	for (u32 i = 0; i < v->n; i++) {
		pack_u64(out, v->series[i].start_ns);
		pack_u64(out, v->series[i].value);
		pack_u8(out, v->series[i].none);
	}
}

void answer_put_value(struct rec_writer *w, struct sb *out, const struct value *v)
{
	pack_u8(out, v->kind);
	switch (v->kind) {
	case V_NONE: return;
	case V_BOOL:
	case V_PTR: pack_u64(out, v->u); return;
	case V_INT:
	case V_UINT:
	case V_ENUM: put_number(out, v); return;
	case V_STR: pack_u8(out, v->cut); /* fallthrough */
	case V_BYTES: pack_str(out, v->str); return;
	case V_NAMED:
		pack_u64(out, v->u);
		pack_str(out, v->str);
		return;
	case V_FLOAT: sb_mem(out, &v->f, sizeof(v->f)); return;
	case V_RECORD: pack_str(out, v->str); /* fallthrough */
	case V_TUPLE:
	case V_ARRAY:
	case V_STATS: put_list(w, out, v); return;
	case V_STACK: put_stack(w, out, v); return;
	case V_HIST:
		pack_u8(out, v->uneven);
		pack_u64(out, v->step);
		put_buckets(out, v);
		return;
	case V_PERCENTILES:
		pack_u64(out, v->total);
		put_buckets(out, v);
		return;
	case V_SERIES: put_series(out, v); return;
	}
}

/* ---- reading ---- */

void *answer_room(struct answer_in *in, size_t n, size_t size)
{
	if (n > in->room / size) {
		in->b.bad = true;
		return NULL;
	}
	in->room -= n * size;
	return arena_alloc(in->a, n * size + 1, 8);
}

struct str answer_take_text(struct answer_in *in)
{
	struct str s = unpack_str(&in->b);
	char *to = answer_room(in, s.n, 1);
	if (!to || !s.n)
		return STR("");
	memcpy(to, s.s, s.n);
	return str_n(to, s.n);
}

struct str answer_take_name(struct answer_in *in)
{
	AUTO_SB b = {0};
	sb_visible(&b, unpack_str(&in->b));
	char *to = answer_room(in, b.n, 1);
	if (!to || !b.n)
		return STR("");
	memcpy(to, b.s, b.n);
	return str_n(to, b.n);
}

static struct str copy(struct answer_in *in, struct str s)
{
	char *to = answer_room(in, s.n, 1);
	if (to && s.n)
		memcpy(to, s.s, s.n);
	return to ? str_n(to, s.n) : STR("");
}

static void take_frame(struct answer_in *in, const struct rec_frame *from, struct frame *f)
{
	const struct rec_mapping *m = rec_mapping_of(in->f, from->mapping);
	*f = (struct frame){.addr = from->addr,
			    .sym = copy(in, from->sym),
			    .off = from->sym_off,
			    .file_off = from->file_off,
			    .inlined = from->flags & FRAME_INLINED,
			    .made = from->flags & FRAME_MADE,
			    .language = copy(in, from->language),
			    .source = copy(in, from->source),
			    .line = from->line,
			    .text = copy(in, from->text)};
	if (m) {
		f->module = copy(in, m->path);
		f->build_id = copy(in, m->build_id);
	}
}

static void take_stack(struct answer_in *in, struct value *v)
{
	v->mode = bytes_u8(&in->b);
	v->kernel = bytes_u8(&in->b);
	u32 id = bytes_u32(&in->b);
	const struct rec_stack *s = rec_stack_of(in->f, id);
	in->b.bad |= v->mode >= STACK_MODES || (id && !s);
	if (in->b.bad || !s)
		return;
	struct frame *f = answer_room(in, s->n, sizeof(*f));
	for (u32 i = 0; f && i < s->n; i++) {
		const struct rec_frame *from = rec_frame_of(in->f, s->frame[i]);
		if (from)
			take_frame(in, from, &f[i]);
		in->b.bad |= !from;
	}
	v->n = in->b.bad ? 0 : s->n;
	v->stack = f;
}

/* How many things follow, each of least bytes or more, and room for them. */
static void *take_things(struct answer_in *in, struct value *v, u32 least, size_t size)
{
	u32 n = bytes_u32(&in->b);
	in->b.bad |= n > (in->b.n - in->b.at) / least;
	void *p = in->b.bad ? NULL : answer_room(in, n, size);
	v->n = p ? n : 0;
	return p;
}

static bool take_value(struct answer_in *in, struct value *v, u32 depth);

static void take_list(struct answer_in *in, struct value *v, u32 depth)
{
	struct str *names = NULL;
	struct value *list = take_things(in, v, 1, sizeof(*list));
	if (v->kind == V_RECORD)
		names = answer_room(in, v->n, sizeof(*names));
	for (u32 i = 0; list && i < v->n && !in->b.bad; i++) {
		if (names)
			names[i] = answer_take_name(in);
		take_value(in, &list[i], depth + 1);
	}
	in->b.bad |= v->kind == V_STATS && v->n != 3;
	v->list = list;
	v->names = names;
}

static void take_buckets(struct answer_in *in, struct value *v)
{
	enum { LEAST = 25 };
	struct str *names = NULL;
	struct bucket *b = take_things(in, v, LEAST, sizeof(*b));
	if (v->kind == V_PERCENTILES)
		names = answer_room(in, v->n, sizeof(*names));
	for (u32 i = 0; b && i < v->n && !in->b.bad; i++) {
		if (names)
			names[i] = answer_take_name(in);
		b[i].lo = (i64)bytes_u64(&in->b);
		b[i].hi = (i64)bytes_u64(&in->b);
		b[i].count = bytes_u64(&in->b);
		u8 flags = bytes_u8(&in->b);
		b[i].no_lo = flags & NO_LO;
		b[i].no_hi = flags & NO_HI;
	}
	v->hist = b;
	if (names)
		v->names = names;
}

static void take_series(struct answer_in *in, struct value *v)
{
	enum { LEAST = 17 };
	v->sign = bytes_u8(&in->b);
	v->step = bytes_u64(&in->b);
	struct tick *t = take_things(in, v, LEAST, sizeof(*t));
	for (u32 i = 0; t && i < v->n; i++) {
		t[i].start_ns = bytes_u64(&in->b);
		t[i].value = bytes_u64(&in->b);
		t[i].none = bytes_u8(&in->b);
	}
	v->series = t;
}

static void take_number(struct answer_in *in, struct value *v)
{
	v->size = bytes_u8(&in->b);
	v->agg = bytes_u8(&in->b);
	v->u = bytes_u64(&in->b);
	v->str = answer_take_name(in);
}

static bool take_value(struct answer_in *in, struct value *v, u32 depth)
{
	u8 kind = bytes_u8(&in->b);
	*v = (struct value){.kind = (enum value_kind)kind};
	in->b.bad |= depth > ANSWER_MAX_DEPTH;
	if (in->b.bad)
		return false;
	switch ((enum value_kind)kind) {
	case V_NONE: break;
	case V_BOOL:
	case V_PTR: v->u = bytes_u64(&in->b); break;
	case V_INT:
	case V_UINT:
	case V_ENUM: take_number(in, v); break;
	case V_STR: v->cut = bytes_u8(&in->b); /* fallthrough */
	case V_BYTES: v->str = answer_take_text(in); break;
	case V_NAMED:
		v->u = bytes_u64(&in->b);
		v->str = answer_take_text(in);
		break;
	case V_FLOAT: {
		u64 bits = bytes_u64(&in->b);
		memcpy(&v->f, &bits, sizeof(v->f));
		break;
	}
	case V_RECORD: v->str = answer_take_name(in); /* fallthrough */
	case V_TUPLE:
	case V_ARRAY:
	case V_STATS: take_list(in, v, depth); break;
	case V_STACK: take_stack(in, v); break;
	case V_HIST:
		v->uneven = bytes_u8(&in->b);
		v->step = bytes_u64(&in->b);
		take_buckets(in, v);
		break;
	case V_PERCENTILES:
		v->total = bytes_u64(&in->b);
		take_buckets(in, v);
		break;
	case V_SERIES: take_series(in, v); break;
	default: in->b.bad = true; break;
	}
	return !in->b.bad;
}

bool answer_take_value(struct answer_in *in, struct value *ret)
{
	return take_value(in, ret, 0);
}
