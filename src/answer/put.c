/* put.c - answers that were read, to an output: see merge.h. */
#include "answer/inside.h"
#include "base/alloc.h"
#include "core/loss.h"

/* Text of another host, as the output wants texts: lines stay lines. */
static struct str shown(struct arena *a, struct str text, const struct show *how)
{
	AUTO_SB b = {0};
	struct str rest = text, line;
	if (!how->escape || !text.n)
		return text;
	for (bool first = true; str_cut(&rest, '\n', &line); first = false) {
		sb_z(&b, first ? "" : "\n");
		sb_visible(&b, line);
	}
	return arena_str(a, sb_str(&b));
}

/* "web1: Lost 3 events" */
static struct str with_host(struct merge *m, struct arena *a, const struct host *h, struct str text)
{
	return several(m) ? str_z(arena_fmt(a, "%.*s: %.*s", STRF(h->label), STRF(text))) : text;
}

static const struct columns *columns_of(const struct merge *m, const struct declared *d)
{
	bool hosted = m->tables.hosts && !m->sink->answers && d && !d->constant;
	return !d ? NULL : !hosted ? &d->is : m->tables.by.n ? &d->both : &d->hosted;
}

static struct err *put_heading(struct merge *m, const struct entry *e)
{
	const struct item it = {.kind = I_HEAD, .row.columns = columns_of(m, e->of)};
	return m->sink->put(m->self, &it);
}

static struct err *put_entry(struct merge *m, const struct host *h, const struct entry *e)
{
	struct arena a = {0};
	bool all = e->shared && e->shared->hosts == m->host.n, error = e->kind == I_ERROR;
	struct str text = shown(&a, e->str, error ? &m->remarks : &m->results);
	struct item it = {.kind = e->kind,
			  .ts = e->ns,
			  .name = e->name,
			  .str = error ? with_host(m, &a, h, text) : text};
	if (error)
		it.error = (struct item_error){.warn = e->warn, .said = e->said};
	else if (e->kind == I_STATUS)
		it.status.n = e->n;
	else if (e->kind == I_END)
		it.end = (struct item_end){.n = e->n, .columns = columns_of(m, e->of)};
	else
		it.text = (struct item_text){.line = e->line, .own = e->own, .val = e->val};
	if (several(m) && !all && e->kind != I_STATUS && e->kind != I_END)
		it.host = h->label;
	struct err *err = m->sink->put(m->self, &it);
	arena_free(&a);
	return err;
}

/* Texts that not all hosts print come for each host. */
static bool waits_for_others(const struct merge *m, const struct entry *e)
{
	struct shared *s = e->shared;
	bool text = e->kind == I_TEXT || e->kind == I_VALUE;
	if (!s || (text && s->hosts < m->host.n))
		return false;
	return --s->left > 0;
}

static struct err *put_next(struct merge *m, struct host *h)
{
	const struct entry *e = &h->entry.v[h->next++];
	if (waits_for_others(m, e))
		return NULL;
	if (e->kind == I_MAP)
		return table_put(e->shared->table, m->sink, m->self, e->ns);
	if (e->kind == I_ROW)
		return emitted_put(&m->to, &m->tables, e->row, h->label,
				   labels_of(&h->labels, e->row->host), e->ns);
	if (e->kind == I_HEAD)
		return e->of ? put_heading(m, e)
			     : report_put_merged(&m->to, &m->tables, e->shared->report, e->ns);
	return put_entry(m, h, e);
}

static struct host *earliest(const struct merge *m)
{
	struct host *best = NULL;
	for (u32 i = 0; i < m->host.n; i++) {
		struct host *h = m->host.v[i];
		if (h->next < h->entry.n &&
		    (!best || h->entry.v[h->next].ns < best->entry.v[best->next].ns))
			best = h;
	}
	return best;
}

static struct err *put_losses(struct merge *m, const struct host *h)
{
	struct arena a = {0};
	struct err *err = NULL;
	for (u32 i = 0; i < h->loss.n && !err; i++) {
		const struct loss_entry *l = &h->loss.v[i];
		struct item it = {.kind = I_LOST,
				  .lost.warn = l->loss != LOSS_EVENTS,
				  .lost.loss = l->loss,
				  .lost.who = l->who,
				  .lost.n = l->n,
				  .str = with_host(m, &a, h, l->text)};
		it.host = several(m) ? h->label : STR("");
		err = m->sink->put(m->self, &it);
	}
	arena_free(&a);
	return err;
}

static struct err *put_unlabelled(struct merge *m)
{
	enum { NAMED = 8 };
	AUTO_SB b = {0};
	u32 n = 0;
	for (u32 i = 0; i < m->host.n; i++)
		if (m->host.v[i]->labels.none && n++ < NAMED)
			sb_fmt(&b, "%s%.*s", b.n ? ", " : "", STRF(m->host.v[i]->label));
	if (!n || m->sink->answers)
		return NULL;
	if (n > NAMED)
		sb_fmt(&b, " and %u other%s", n - NAMED, n > NAMED + 1 ? "s" : "");
	sb_fmt(&b, ": no label %.*s; rows are under " LABEL_NONE, STRF(m->spec.by_label));
	const struct item it = {.kind = I_ERROR, .str = sb_str(&b), .error.warn = true};
	return m->sink->put(m->self, &it);
}

static void set_widths(struct merge *m)
{
	struct tables *t = &m->tables;
	t->by = m->spec.by_label;
	for (u32 i = 0; i < m->host.n; i++) {
		const struct labels *l = &m->host.v[i]->labels;
		t->width = MAX(t->width, m->host.v[i]->label.n);
		t->by_width = MAX(t->by_width, l->value.n);
		for (u32 k = 0; k < l->of.n; k++)
			t->by_width = MAX(t->by_width, ((struct str *)l->of.v[k].val)->n);
	}
}

struct err *merge_put(struct merge *m, const struct sink *sink, void *self, const struct show *how)
{
	struct err *e = NULL;
	struct host *h;
	m->sink = sink;
	m->self = self;
	m->results = m->remarks = *how;
	if (sink->show)
		sink->show(self, &m->results, &m->remarks);
	m->to = (struct rows_to){.sink = sink, .self = self};
	m->tables.hosts |= several(m) || m->spec.by_host;
	set_widths(m);
	declared_prepare(&m->tables, &m->a);
	while (!e && (h = earliest(m)))
		e = put_next(m, h);
	if (!e)
		e = put_unlabelled(m);
	for (u32 i = 0; i < m->host.n && !e; i++)
		e = put_losses(m, m->host.v[i]);
	return e;
}
