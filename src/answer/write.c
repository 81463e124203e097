/* write.c - items as they are put, to the items of an answer. */
#include "answer/answer.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "core/agg.h"
#include "core/columns.h"
#include "core/cost.h"
#include "core/loss.h"
#include "rec/pack.h"

/* Time on the wall clock; 0: not known, as that of what came before. */
static u64 real_time(const struct sink_env *env, u64 ts)
{
	return ts ? ts + env->real_ns : 0;
}

static void put_varint(struct sb *b, u64 n)
{
	sb_reserve(b, REC_VARINT_BYTES);
	b->n = (size_t)((char *)varint_put((u8 *)b->s + b->n, n) - b->s);
}

/* Of histograms most words are 0. */
void answer_put_words(struct sb *b, const u64 *w, u32 n)
{
	pack_u32(b, n);
	for (u32 i = 0; i < n;) {
		u32 zeros = i, some;
		while (i < n && !w[i])
			i++;
		zeros = i - zeros;
		for (some = i; some < n && w[some]; some++)
			;
		put_varint(b, zeros);
		put_varint(b, some - i);
		for (; i < some; i++)
			put_varint(b, w[i]);
	}
}

/* The name that messages have for an aggregation, whatever its sign. */
static void put_kind(struct sb *b, const struct type *t)
{
	AUTO_SB name = {0};
	if (t)
		type_name(&(struct type){.kind = t->kind, .is_signed = true}, &name);
	pack_str(b, sb_str(&name));
}

static void put_print(struct rec_writer *w, const struct sink_env *env, const struct item *it,
		      bool keyed)
{
	const struct item_merge *m = it->map.merge;
	static const struct type none;
	const struct type *t = m->type ? m->type : &none;
	bool sign = m->type ? m->type->is_signed : m->sign;
	AUTO_SB b = {0};
	pack_u64(&b, real_time(env, it->ts));
	pack_u8(&b, (u8)((sign ? PRINT_SIGNED : 0) | (keyed ? PRINT_KEYED : 0) |
			 (m->counter ? PRINT_COUNTER : 0) | (m->number ? PRINT_INT : 0) |
			 (m->present ? PRINT_PRESENT : 0) | (m->at_exit ? PRINT_AT_EXIT : 0) |
			 (m->hosted ? PRINT_HOSTED : 0)));
	pack_str(&b, it->name);
	put_kind(&b, m->type);
	pack_u32(&b, t->count);
	for (u32 i = 0; i < countof(t->p); i++)
		pack_u64(&b, (u64)t->p[i]);
	pack_str(&b, t->name);
	pack_u64(&b, m->top);
	pack_u64(&b, m->div);
	pack_str(&b, m->percentiles);
	pack_u32(&b, it->map.epoch);
	rec_answer(w, ITEM_PRINT, sb_str(&b));
}

/* ---- rows that are those of the map before ---- */

/* Fewer bytes are written twice: sonde before version 1.4 of the format cannot read AGAIN. */
enum { LEAST_AGAIN = 4096 };

static void begin_rows(struct answer_out *o)
{
	o->matches = o->rows.bytes.n && !o->rows.cut && o->generation == rec_generation(o->w);
	o->same = 0;
}

/* What matched, and no more, is written after all. */
static void end_match(struct answer_out *o)
{
	struct answer_rows *r = &o->rows;
	struct bytes b = bytes_of(r->bytes.s, o->same);
	for (r->n = 0; o->matches && b.at < b.n; r->n++)
		rec_answer(o->w, ITEM_ROW, unpack_str(&b));
	r->bytes.n = o->same;
	o->matches = false;
	o->generation = rec_generation(o->w);
}

static bool is_next(const struct answer_out *o, struct str row)
{
	struct bytes b = bytes_of(o->rows.bytes.s, o->rows.bytes.n);
	bytes_seek(&b, o->same);
	return b.at < b.n && str_eq(unpack_str(&b), row);
}

void answer_keep_row(struct answer_rows *r, struct str row, bool first)
{
	if (first) {
		r->bytes.n = r->n = 0;
		r->cut = false;
	}
	r->n++;
	r->cut |= row.n + 4 > ANSWER_KEPT_ROWS - r->bytes.n;
	if (!r->cut)
		pack_str(&r->bytes, row);
}

/* first: nothing of the map is written yet. */
static struct err *put_row(struct answer_out *o, struct str row, bool first)
{
	if (o->matches && is_next(o, row)) {
		o->same += row.n + 4;
		return NULL;
	}
	if (o->matches || first)
		end_match(o);
	rec_answer(o->w, ITEM_ROW, row);
	answer_keep_row(&o->rows, row, first);
	return rec_tick(o->w, 0);
}

static void end_rows(struct answer_out *o)
{
	if (!o->matches || !o->same)
		return; /* without rows the last ones stay */
	if (o->same == o->rows.bytes.n && o->same >= LEAST_AGAIN)
		rec_answer(o->w, ITEM_AGAIN | ITEM_NEEDED, STR(""));
	else
		end_match(o);
}

static struct err *put_map(struct answer_out *o, const struct item *it)
{
	struct rec_writer *w = o->w;
	const struct item_merge *m = it->map.merge;
	u32 words = m->type ? agg_of(m->type)->words(m->type) : 1;
	struct err *e = NULL;
	AUTO_SB b = {0};
	put_print(w, &o->env, it, it->map.key != NULL);
	begin_rows(o);
	for (u64 i = 0; i < it->map.n && !e; i++) {
		struct item_row row = item_row(it, i);
		sb_clear(&b);
		pack_str(&b, m->order);
		if (row.key)
			answer_put_value(w, &b, row.key);
		if (m->type || m->counter)
			answer_put_words(&b, m->words, words);
		if (!m->type)
			answer_put_value(w, &b, row.val);
		e = put_row(o, sb_str(&b), !i);
	}
	end_rows(o);
	return e ? e : rec_tick(w, 0);
}

static void put_text(struct rec_writer *w, const struct sink_env *env, const struct item *it)
{
	AUTO_SB b = {0};
	bool error = it->kind == I_ERROR;
	u8 flags = error ? (u8)((it->error.warn ? TEXT_WARN : 0) | (it->error.said ? TEXT_SAID : 0))
			 : (u8)((it->text.line ? TEXT_LINE : 0) | (it->text.own ? TEXT_OWN : 0));
	pack_u64(&b, error ? 0 : real_time(env, it->ts));
	pack_u8(&b, flags);
	if (it->kind != I_VALUE) {
		pack_str(&b, it->name);
		pack_str(&b, it->str);
	} else {
		answer_put_value(w, &b, it->text.val);
	}
	rec_answer(w,
		   error                 ? ITEM_REMARK
		   : it->kind == I_VALUE ? ITEM_VALUE
					 : ITEM_OUTPUT,
		   sb_str(&b));
}

static void put_lost(struct rec_writer *w, const struct item *it)
{
	bool unknown = it->lost.n == LOSS_UNKNOWN;
	rec_loss(w, &(struct rec_loss){.n = unknown ? 0 : it->lost.n,
				       .from = it->ts,
				       .kind = str_z(loss_kinds[it->lost.loss].name),
				       .who = it->lost.who,
				       .text = it->str});
}

/* ---- tables ---- */

static void pack_values(struct rec_writer *w, struct sb *b, const struct value *v, u32 n)
{
	pack_u32(b, n);
	for (u32 i = 0; i < n; i++)
		answer_put_value(w, b, &v[i]);
}

/* The id of a table, which is written before its first use; 0: NULL. */
static u32 table_id(struct answer_out *o, const struct columns *t)
{
	AUTO_SB b = {0};
	for (u32 i = 0; i < o->table.n; i++)
		if (o->table.v[i] == t)
			return i + 1;
	if (!t)
		return 0;
	vec_add(&o->table, t);
	pack_u32(&b, o->table.n);
	answer_put_columns(&b, t);
	rec_answer(o->w, ITEM_COLUMNS | ITEM_NEEDED, sb_str(&b));
	return o->table.n;
}

static void put_show(struct answer_out *o, const struct item *it)
{
	AUTO_SB b = {0};
	const struct item_show *show = it->row.show;
	u32 id = table_id(o, it->row.columns);
	pack_u64(&b, real_time(&o->env, it->ts));
	pack_u32(&b, id);
	pack_u8(&b, (u8)((show->hosted ? SHOW_HOSTED : 0) | (show->apart ? SHOW_APART : 0) |
			 (show->functions ? SHOW_FUNCTIONS : 0)));
	pack_u64(&b, it->row.report);
	pack_u64(&b, it->row.part_ns);
	pack_str(&b, it->str);
	pack_str(&b, show->screen);
	pack_str(&b, show->left_out);
	pack_u32(&b, show->nmap);
	rec_answer(o->w, ITEM_SHOW | ITEM_NEEDED, sb_str(&b));
}

static void put_head(struct answer_out *o, const struct item *it)
{
	AUTO_SB b = {0};
	if (it->row.show) {
		put_show(o, it);
		return;
	}
	pack_u32(&b, table_id(o, it->row.columns));
	rec_answer(o->w, ITEM_HEADING | ITEM_NEEDED, sb_str(&b));
}

static void put_cells(struct answer_out *o, const struct item *it)
{
	AUTO_SB b = {0};
	u32 id = table_id(o, it->row.columns);
	pack_u64(&b, real_time(&o->env, it->ts));
	pack_u32(&b, id);
	pack_str(&b, it->host);
	pack_str(&b, it->str);
	pack_u64(&b, it->row.report);
	pack_u64(&b, it->row.part_ns);
	pack_values(o->w, &b, it->row.val, it->row.n);
	rec_answer(o->w, ITEM_CELLS | ITEM_NEEDED, sb_str(&b));
}

static void put_stop(struct answer_out *o, const struct item *it)
{
	AUTO_SB b = {0};
	u32 id = table_id(o, it->end.columns);
	pack_u64(&b, 0);
	pack_u32(&b, (u32)it->end.n);
	pack_u32(&b, id);
	rec_answer(o->w, ITEM_STOP, sb_str(&b));
}

void answer_put_lack(struct answer_out *o, struct str probe)
{
	AUTO_SB b = {0};
	pack_str(&b, probe);
	rec_answer(o->w, ITEM_LACK, sb_str(&b));
}

static void put_cost(struct rec_writer *w, const struct cost *c)
{
	AUTO_SB b = {0};
	pack_u64(&b, c->attached_ns);
	pack_u64(&b, c->traced_ns);
	pack_u64(&b, c->own_ns);
	pack_u64(&b, c->programs_ns);
	pack_u8(&b, c->measured);
	pack_u32(&b, c->ncpu);
	rec_answer(w, ITEM_RUN, sb_str(&b));
}

struct err *answer_put(struct answer_out *o, const struct item *it)
{
	AUTO_SB b = {0};
	struct rec_writer *w = o->w;
	switch (it->kind) {
	case I_MAP: return put_map(o, it);
	case I_TEXT:
	case I_VALUE: put_text(w, &o->env, it); break;
	case I_ERROR:
		put_text(w, &o->env, it);
		if (it->error.probe.n)
			answer_put_lack(o, it->error.probe);
		break;
	case I_COST: put_cost(w, it->cost); break;
	case I_LOST: put_lost(w, it); break;
	case I_STATUS:
		pack_u64(&b, it->status.n);
		pack_str(&b, it->str);
		rec_answer(w, ITEM_STATUS, sb_str(&b));
		break;
	case I_END: put_stop(o, it); break;
	case I_HEAD: put_head(o, it); break;
	case I_ROW: put_cells(o, it); break;
	case I_FLEET:
	case I_TOTAL:
	case I_SNAPSHOT:
	case I_KEPT: break;
	}
	return rec_tick(w, 0);
}

void answer_out_free(struct answer_out *o)
{
	vec_free(&o->table);
	sb_free(&o->rows.bytes);
}
