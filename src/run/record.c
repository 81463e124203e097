/*
 * record.c - records: checked, held when they must wait, handed to the user-space half of their
 * builtin.
 *
 * A record is as trustworthy as the program that wrote it, which is ours; but it may also come from
 * a file or another host one day, so everything in it is checked.
 */
#include "base/alloc.h"
#include "run/run.h"

/* A warning from the program: the first few at each place are shown, all are counted. */
static void take_warning(struct session *s, const struct schema *sc)
{
	if (s->records.warned[sc->id]++ < WARN_SHOWN)
		session_error(s, true, "runtime_error", sc->loc,
			      str_z(sc->msg ? sc->msg : "run-time error"));
}

static void dispatch(struct session *s, const struct record *r)
{
	const struct schema *sc = s->u->schema[r->schema];
	const struct type *layout = sc->layout && sc->layout->nfield ? sc->layout : &type_none;
	if (!sc->fn) {
		take_warning(s, sc);
		return;
	}
	if (!sc->fn->act || !decode_record(&s->reader, layout, r)) {
		s->records.corrupt++;
	} else {
		s->records.event_ts = r->ts;
		sc->fn->act(s, sc, s->reader.vals, layout->nfield, r->ts);
		s->records.event_ts = 0;
	}
	arena_reset(&s->reader.arena);
}

static void hold(struct session *s, const struct record *r)
{
	const struct schema *sc = s->u->schema[r->schema];
	struct sb *held = &s->records.held;
	sb_mem(held, r, sizeof(*r) + r->size);
	sb_pad(held, 0, ALIGN_UP(held->n, 8) - held->n);
	if (sc->fn && sc->fn->flags & B_END)
		s->records.exit_held = true;
}

void record_take(void *session, const void *data, size_t n)
{
	struct session *s = session;
	struct records *rs = &s->records;
	const struct record *r = data;
	if (rs->discard || s->report.failed)
		return;
	if ((uintptr_t)data % _Alignof(struct record)) { /* perf buffers: 4 bytes off */
		sb_clear(&rs->aligned);
		sb_mem(&rs->aligned, data, n);
		r = (const void *)rs->aligned.s;
	}
	if (n >= sizeof(*r) && r->schema == RECORD_NONE)
		return;
	if (n < sizeof(*r) || r->size > n - sizeof(*r) || r->schema >= s->u->nschema) {
		rs->corrupt++;
		return;
	}
	if (rs->hold)
		hold(s, r);
	else
		dispatch(s, r);
}

void record_again(struct session *s)
{
	struct sb *held = &s->records.held;
	assert(!s->records.hold);
	for (size_t at = 0; at < held->n;) {
		const struct record *r = (const void *)(held->s + at);
		size_t n = sizeof(*r) + r->size;
		record_take(s, r, n);
		at += ALIGN_UP(n, 8);
	}
}

void record_forget(struct session *s)
{
	sb_free(&s->records.held);
	s->records.held = (struct sb){0};
}

void record_replay(struct session *s)
{
	record_again(s);
	record_forget(s);
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
