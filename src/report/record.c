/*
 * record.c - records: checked, held when they must wait, handed to the user-space half of their
 * builtin.
 *
 * A record is as trustworthy as the program that wrote it, which is ours; but it may also come from
 * a file or another host one day, so everything in it is checked.
 */
#include "base/alloc.h"
#include "core/builtin.h"
#include "report/report.h"

/* A warning from the program: the first few at each place are shown, all are counted. */
static void take_warning(struct reporter *r, const struct schema *sc)
{
	if (r->records.warned[sc->id]++ < WARN_SHOWN)
		report_error(r, true, "runtime_error", sc->loc,
			     str_z(sc->msg ? sc->msg : "run-time error"));
}

struct kept {
	struct reader *reader;
	const struct schema *schema;
	const struct record *record;
	struct value value;
};

static const struct value *kept_field(void *rows, u32 i)
{
	struct kept *k = rows;
	const struct field *f = &k->schema->layout->field[i];
	decode_value(k->reader, &k->reader->arena, f->type, k->record->data + f->bit_off / 8,
		     &k->value);
	return &k->value;
}

/* All fields are there; only a text or a system call that comes last may be shorter than its type. */
static bool is_whole(const struct type *layout, const struct record *rec)
{
	const struct field *last = &layout->field[layout->nfield - 1];
	u32 size = last->type->kind == T_STRING ? last->bit_off / 8
		   : last->type->kind == T_BUF  ? last->bit_off / 8 + 4
						: layout->size;
	return rec->size >= size;
}

/* keep(): its bytes go to the sink, which decodes what it needs. */
static void keep(struct reporter *r, const struct schema *sc, const struct record *rec)
{
	struct kept k = {.reader = &r->reader, .schema = sc, .record = rec};
	if (!is_whole(sc->layout, rec)) {
		r->records.corrupt++;
		return;
	}
	report_put(r, &(struct item){.kind = I_KEPT,
				     .ts = rec->ts,
				     .kept.schema = sc,
				     .kept.record = rec,
				     .kept.field = kept_field,
				     .kept.rows = &k});
}

static void dispatch(struct reporter *r, const struct record *rec)
{
	const struct schema *sc = r->unit->schema[rec->schema];
	const struct type *layout = sc->layout && sc->layout->nfield ? sc->layout : &type_none;
	if (!sc->fn) {
		take_warning(r, sc);
		return;
	}
	if (sc->kept) {
		keep(r, sc, rec);
	} else if (!sc->fn->handle || !decode_record(&r->reader, layout, rec)) {
		r->records.corrupt++;
	} else {
		r->records.event_ts = rec->ts;
		r->records.own = sc->own;
		sc->fn->handle(r, sc, r->reader.vals, layout->nfield, rec->ts);
		r->records.event_ts = 0;
		r->records.own = false;
	}
	arena_reset(&r->reader.arena);
}

static void hold(struct reporter *r, const struct record *rec)
{
	const struct schema *sc = r->unit->schema[rec->schema];
	struct sb *held = &r->records.held;
	sb_mem(held, rec, sizeof(*rec) + rec->size);
	sb_pad(held, 0, ALIGN_UP(held->n, 8) - held->n);
	if (sc->fn && sc->fn->flags & B_END)
		r->records.exit_held = true;
}

void record_take(void *reporter, const void *data, size_t n)
{
	struct reporter *r = reporter;
	struct records *rs = &r->records;
	const struct record *rec = data;
	if (rs->discard || r->output.failed)
		return;
	if ((uintptr_t)data % _Alignof(struct record)) { /* perf buffers: 4 bytes off */
		sb_clear(&rs->aligned);
		sb_mem(&rs->aligned, data, n);
		rec = (const void *)rs->aligned.s;
	}
	if (n >= sizeof(*rec) && rec->schema == RECORD_NONE)
		return;
	if (n < sizeof(*rec) || rec->size > n - sizeof(*rec) || rec->schema >= r->unit->nschema) {
		rs->corrupt++;
		return;
	}
	if (rs->hold)
		hold(r, rec);
	else
		dispatch(r, rec);
}

void record_again(struct reporter *r)
{
	struct sb *held = &r->records.held;
	assert(!r->records.hold);
	for (size_t at = 0; at < held->n;) {
		const struct record *rec = (const void *)(held->s + at);
		size_t n = sizeof(*rec) + rec->size;
		record_take(r, rec, n);
		at += ALIGN_UP(n, 8);
	}
}

void record_forget(struct reporter *r)
{
	sb_free(&r->records.held);
	r->records.held = (struct sb){0};
}

void record_replay(struct reporter *r)
{
	record_again(r);
	record_forget(r);
}

void records_init(struct records *r, const struct unit *u)
{
	*r = (struct records){.warned = xcalloc(u->nschema, sizeof(*r->warned)),
			      .reports = xcalloc(u->ncolumns, sizeof(*r->reports))};
}

void records_free(struct records *r)
{
	sb_free(&r->held);
	sb_free(&r->aligned);
	free(r->warned);
	free(r->reports);
}
