/*
 * merge.c - see merge.h.
 *
 * Rows go to the tables as files are read. What else is printed, and where tables stand among it, is
 * kept as entries of each host, in its order. merge_put() takes the entries of all hosts by their
 * times. An entry that hosts share is put when its last host has come to it.
 */
#include "answer/inside.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "core/cost.h"
#include "core/loss.h"

enum { MAX_MEMORY = 1 << 30 }; /* bytes of what is read */

/* ---- reading ---- */

static struct err *damaged(const struct host *h, const struct rec_answer *it)
{
	return err_new("%.*s: an item of the kind %u in the block at byte %llu is damaged",
		       STRF(h->path), it->kind, it->at);
}

/* How often the host has printed this, with this time. */
static u32 count_time(struct merge *m, struct host *h, struct str key)
{
	u32 *n = tab_get(&h->times, key);
	if (!n) {
		n = arena_new(&m->a, u32);
		tab_add(&h->times, arena_str(&m->a, key), n);
	}
	return ++*n;
}

/* What the host shares with others that print the same as often. */
static struct shared *share(struct merge *m, struct host *h, const char *what, struct str name,
			    struct str text)
{
	AUTO_SB key = {0};
	sb_fmt(&key, "%s %.*s", what, STRF(name));
	sb_char(&key, 0);
	sb_add(&key, text);
	u32 times = count_time(m, h, sb_str(&key));
	pack_u32(&key, times);
	struct shared *s = tab_get(&m->shared, sb_str(&key));
	if (!s) {
		s = arena_new(&m->a, struct shared);
		tab_add(&m->shared, arena_str(&m->a, sb_str(&key)), s);
	}
	s->hosts++;
	s->left++;
	return s;
}

static void add_entry(struct host *h, struct answer_in *in, const struct entry *e)
{
	in->room -= MIN(in->room, sizeof(*e));
	u64 before = h->entry.n ? h->entry.v[h->entry.n - 1].ns : 0;
	vec_add(&h->entry, *e);
	h->entry.v[h->entry.n - 1].ns = MAX(e->ns, before);
}

static struct err *other_key(const struct host *h, const char *what, struct str name)
{
	return err_new("%.*s: the %s %.*s has the host as its first key, other than in another "
		       "answer (--by host merges both)",
		       STRF(h->path), what, STRF(name));
}

/* Values of several hosts that are not merged: the host is a key whatever the first key is. */
static bool has_both(const struct merge *m, bool apart, bool hosted)
{
	return m->spec.by_label.n && apart && (hosted || m->host.n > 1);
}

/* r: if the map is one of show(), that decides what the first key is. */
static struct table *new_table(struct merge *m, const struct table_head *head,
			       const struct report *r)
{
	struct table *t = arena_new(&m->a, struct table);
	bool apart = !head->agg && !head->counter;
	t->head = t->first = *head;
	t->apart = apart && m->host.n > 1;
	t->hosts = t->apart || m->spec.by_host || (r && r->hosts);
	t->both = r ? r->both : has_both(m, apart, head->hosted);
	t->head.keyed |= t->hosts && !m->spec.bundle;
	t->head.hosted |= t->hosts && !m->spec.bundle;
	vec_add(&m->table, t);
	return t;
}

/* A map of show(). */
static void take_report_map(struct merge *m, struct host *h)
{
	struct report *r = h->report;
	struct table **t = r ? &r->map[r->nmap - h->left] : NULL;
	h->left--;
	h->table = NULL;
	if (h->skips)
		return;
	if (!*t)
		*t = new_table(m, &h->head, r);
	else if (table_differs(&(*t)->first, &h->head))
		h->skips = h->odd = true;
	if (h->skips)
		return;
	(*t)->head.present |= h->head.present;
	h->table = *t;
}

static struct err *take_print(struct merge *m, struct host *h, struct answer_in *in,
			      const struct rec_answer *it)
{
	struct table_head *head = &h->head;
	if (!table_take_head(in, head))
		return damaged(h, it);
	h->began = false;
	if (h->left) {
		take_report_map(m, h);
		return NULL;
	}
	h->skips = false;
	struct shared *s = share(m, h, "map", head->name, STR(""));
	struct table *t = s->table;
	if (!t)
		t = s->table = new_table(m, head, NULL);
	const char *why = s->hosts > 1 ? table_differs(&t->first, head) : NULL;
	if (!why && head->hosted != t->first.hosted && !t->hosts)
		return other_key(h, "map", head->name);
	if (why)
		return err_new("%.*s: the map %.*s %s than in %.*s", STRF(h->path),
			       STRF(head->name), why, STRF(m->host.v[0]->path));
	t->head.present |= head->present;
	h->table = t;
	add_entry(h, in, &(struct entry){.kind = I_MAP, .ns = head->ns, .shared = s});
	return NULL;
}

static struct err *add_row(struct merge *m, struct host *h, struct answer_in *in,
			   const struct rec_answer *it)
{
	struct table *t = h->table;
	if (h->skips) {
		h->shows->left_out++;
		return NULL;
	}
	if (!t)
		return damaged(h, it);
	bool split = m->spec.bundle && t->hosts;
	const struct table_host host = {.name = t->hosts && !split ? h->label : STR(""),
					.same = m->same && !t->apart,
					.split = split,
					.index = h->index,
					.labels = m->spec.by_label.n ? &h->labels : NULL,
					.labelled = h->labelled};
	return table_take_row(t, in, &h->head, &host) ? NULL : damaged(h, it);
}

static struct err *take_row(struct merge *m, struct host *h, struct answer_in *in,
			    const struct rec_answer *it)
{
	answer_keep_row(&h->rows, it->fields, !h->began);
	h->began = true;
	return add_row(m, h, in, it);
}

static struct err *take_again(struct merge *m, struct host *h, struct answer_in *in,
			      const struct rec_answer *it)
{
	struct err *e = NULL;
	struct bytes rows = bytes_of(h->rows.bytes.s, h->rows.bytes.n);
	if (!h->rows.n || h->rows.cut || h->began)
		return damaged(h, it);
	if (h->skips)
		h->shows->left_out += h->rows.n;
	while (!h->skips && !e && rows.at < rows.n) {
		struct str row = unpack_str(&rows);
		in->b = bytes_of(row.s, row.n);
		e = add_row(m, h, in, it);
	}
	return e;
}

/* ---- tables ---- */

static struct err *take_columns(struct merge *m, struct host *h, struct answer_in *in,
				const struct rec_answer *it)
{
	struct host_table t;
	u32 id = bytes_u32(&in->b);
	if (in->b.bad || id != h->declared.n + 1 || !declared_take(&m->tables, in, &t))
		return damaged(h, it);
	in->room -= MIN(in->room, sizeof(t));
	h->odd |= t.differs;
	if (!t.of->first.n)
		t.of->first = h->label;
	vec_add(&h->declared, t);
	return NULL;
}

/* The table that an item is about; NULL: there is none. */
static struct host_table *table_named(struct host *h, struct answer_in *in)
{
	u32 id = bytes_u32(&in->b);
	return in->b.bad || !id || id > h->declared.n ? NULL : &h->declared.v[id - 1];
}

static struct err *take_heading(struct merge *m, struct host *h, struct answer_in *in,
				const struct rec_answer *it)
{
	const struct host_table *t = table_named(h, in);
	struct entry e = {.kind = I_HEAD};
	if (!t)
		return damaged(h, it);
	if (t->differs)
		return NULL;
	e.of = t->of;
	e.shared = share(m, h, "heading", t->of->is.name, STR(""));
	add_entry(h, in, &e);
	return NULL;
}

static struct err *take_cells(struct merge *m, struct host *h, struct answer_in *in,
			      const struct rec_answer *it)
{
	struct entry e = {.kind = I_ROW, .ns = bytes_u64(&in->b)};
	struct host_table *t = table_named(h, in);
	if (!t)
		return damaged(h, it);
	if (t->differs) {
		t->left_out++;
		return NULL;
	}
	struct emitted *row = answer_room(in, 1, sizeof(*row));
	if (!row || !emitted_take(&m->tables, in, t->of, row))
		return damaged(h, it);
	e.row = row;
	if (t->of->constant)
		e.shared = share(m, h, "row", t->of->is.name, STR(""));
	add_entry(h, in, &e);
	return NULL;
}

static struct err *take_show(struct merge *m, struct host *h, struct answer_in *in,
			     const struct rec_answer *it)
{
	struct entry e = {.kind = I_HEAD, .ns = bytes_u64(&in->b)};
	struct report r;
	struct host_table *t = h->shows = table_named(h, in);
	if (!t || !report_take(in, t->of, &r))
		return damaged(h, it);
	h->left = r.nmap;
	h->report = NULL;
	h->table = NULL;
	h->skips = t->differs;
	if (h->skips)
		return NULL;
	struct shared *s = share(m, h, r.functions ? "functions" : "show", t->of->is.name, STR(""));
	struct report *first = s->report;
	if (first && (first->nmap != r.nmap || first->apart != r.apart)) {
		s->hosts--;
		s->left--;
		h->skips = h->odd = true;
		return NULL;
	}
	if (first && !first->hosts && r.hosted)
		return other_key(h, "table", t->of->is.name);
	if (!first) {
		first = s->report = answer_room(in, 1, sizeof(*first));
		if (!first)
			return damaged(h, it);
		*first = r;
		first->hosts = m->spec.by_host || r.hosted || (r.apart && m->host.n > 1);
		first->both = has_both(m, r.apart, r.hosted);
	}
	report_join(first, &r);
	h->report = first;
	e.shared = s;
	add_entry(h, in, &e);
	return NULL;
}

/* ---- texts ---- */

static struct err *take_text(struct merge *m, struct host *h, struct answer_in *in,
			     const struct rec_answer *it)
{
	struct entry e = {.ns = bytes_u64(&in->b)};
	u8 flags = bytes_u8(&in->b);
	struct str rest = str_n((const char *)in->b.p + in->b.at, in->b.n - in->b.at);
	e.kind = it->kind == ITEM_VALUE ? I_VALUE : it->kind == ITEM_REMARK ? I_ERROR : I_TEXT;
	e.line = flags & TEXT_LINE;
	e.own = flags & TEXT_OWN;
	e.warn = flags & TEXT_WARN;
	e.said = flags & TEXT_SAID;
	if (e.kind == I_VALUE) {
		struct value *v = arena_new(&m->a, struct value);
		if (!answer_take_value(in, v))
			return damaged(h, it);
		e.val = v;
	} else {
		e.name = answer_take_text(in);
		e.str = answer_take_text(in);
	}
	if (in->b.bad)
		return damaged(h, it);
	if (e.own)
		e.shared = share(m, h, e.kind == I_VALUE ? "value" : "text", e.name, rest);
	add_entry(h, in, &e);
	return NULL;
}

static struct err *take_status(struct merge *m, struct host *h, struct answer_in *in,
			       const struct rec_answer *it)
{
	struct entry e = {.kind = I_STATUS, .n = bytes_u64(&in->b)};
	e.str = answer_take_text(in);
	if (in->b.bad)
		return damaged(h, it);
	e.str = STR(""); /* it names a file or a machine */
	e.shared = share(m, h, "status", STR(""), STR(""));
	add_entry(h, in, &e);
	return NULL;
}

static struct err *take_stop(struct merge *m, struct host *h, struct answer_in *in,
			     const struct rec_answer *it)
{
	struct entry e = {.kind = I_END, .ns = bytes_u64(&in->b)};
	e.n = bytes_u32(&in->b);
	struct host_table *t = in->b.at < in->b.n ? table_named(h, in) : NULL;
	if (in->b.bad)
		return damaged(h, it);
	e.of = t ? t->of : NULL;
	e.shared = share(m, h, "end", STR(""), STR(""));
	add_entry(h, in, &e);
	return NULL;
}

/* ---- the run ---- */

static struct err *take_run(struct merge *m, struct host *h, struct answer_in *in,
			    const struct rec_answer *it)
{
	(void)m;
	u64 attached = bytes_u64(&in->b), traced = bytes_u64(&in->b), own = bytes_u64(&in->b),
	    programs = bytes_u64(&in->b);
	bool measured = bytes_u8(&in->b);
	u32 ncpu = bytes_u32(&in->b);
	if (in->b.bad)
		return damaged(h, it);
	h->run = (struct merge_run){.attached_ns = attached,
				    .measured = measured && traced && ncpu,
				    .share = cost_share(own + programs, traced, ncpu)};
	h->ran = true;
	return NULL;
}

static struct err *take_lack(struct merge *m, struct host *h, struct answer_in *in,
			     const struct rec_answer *it)
{
	(void)m;
	struct str probe = answer_take_text(in);
	if (in->b.bad || !probe.n)
		return damaged(h, it);
	in->room -= MIN(in->room, sizeof(probe));
	for (u32 i = 0; i < h->lack.n; i++)
		if (str_eq(h->lack.v[i], probe))
			return NULL;
	vec_add(&h->lack, probe);
	return NULL;
}

static enum loss loss_named(struct str name)
{
	for (u32 i = 0; i < LOSS_COUNT; i++)
		if (str_is(name, loss_kinds[i].name))
			return (enum loss)i;
	return LOSS_TOTAL;
}

static struct err *take_loss(struct merge *m, struct host *h, struct answer_in *in,
			     const struct rec_answer *it)
{
	struct loss_entry e = {.n = bytes_u64(&in->b)};
	(void)m;
	e.loss = loss_named(unpack_str(&in->b));
	e.who = answer_take_text(in);
	e.text = answer_take_text(in);
	if (in->b.bad)
		return damaged(h, it);
	in->room -= MIN(in->room, sizeof(e));
	vec_add(&h->loss, e);
	return NULL;
}

static const struct {
	u16 kind;
	struct err *(*take)(struct merge *m, struct host *h, struct answer_in *in,
			    const struct rec_answer *it);
} takers[] = {
	{ITEM_PRINT, take_print}, {ITEM_ROW, take_row},         {ITEM_OUTPUT, take_text},
	{ITEM_VALUE, take_text},  {ITEM_REMARK, take_text},     {ITEM_STATUS, take_status},
	{ITEM_STOP, take_stop},   {ITEM_COLUMNS, take_columns}, {ITEM_HEADING, take_heading},
	{ITEM_CELLS, take_cells}, {ITEM_SHOW, take_show},       {ITEM_RUN, take_run},
	{ITEM_LACK, take_lack},   {ITEM_HOST_LOSS, take_loss},  {ITEM_AGAIN, take_again},
};

static void keep_item(struct host *h, struct answer_in *in, const struct rec_answer *it)
{
	const struct entry *last = h->entry.n ? &h->entry.v[h->entry.n - 1] : NULL;
	if (!h->odd)
		kept_add(&h->kept, in, it,
			 &(struct kept_of){last ? last->val : NULL, last ? last->row : NULL,
					   h->table});
}

static struct err *take_item(struct merge *m, struct host *h, const struct rec_answer *it)
{
	struct answer_in in = {.f = h->file,
			       .b = bytes_of(it->fields.s, it->fields.n),
			       .a = &m->a,
			       .room = m->room};
	for (u32 i = 0; i < countof(takers); i++) {
		if (takers[i].kind != (it->kind & ~ITEM_NEEDED))
			continue;
		struct err *e = takers[i].take(m, h, &in, it);
		if (!e && m->spec.bundle)
			keep_item(h, &in, it);
		m->room = in.room;
		if (e && in.room < REC_MAX_TEXT) {
			err_free(e);
			e = err_new("%.*s: the answers take more than %u MB of memory",
				    STRF(h->path), MAX_MEMORY >> 20);
		}
		return e;
	}
	if (!(it->kind & ITEM_NEEDED))
		return NULL;
	return err_new("%.*s: unknown item %u in the block at byte %llu: use a newer sonde",
		       STRF(h->path), it->kind & ~ITEM_NEEDED, it->at);
}

/* Rows of tables that the host has otherwise than the first one that has them. */
static void note_left_out(struct merge *m, struct host *h)
{
	for (u32 i = 0; i < h->declared.n; i++) {
		const struct host_table *t = &h->declared.v[i];
		struct loss_entry e = {
			.loss = LOSS_OTHER_TABLE, .n = t->left_out, .who = t->of->is.name};
		e.text = str_z(arena_fmt(
			&m->a, "table %.*s differs from that of %.*s: %llu row%s left out",
			STRF(t->of->is.name), STRF(t->of->first), t->left_out,
			t->left_out == 1 ? "" : "s"));
		if (t->left_out)
			vec_add(&h->loss, e);
	}
}

/* What the host lost, and what is damaged in its file. */
static struct err *take_losses(struct merge *m, struct host *h)
{
	u32 n;
	const struct rec_loss *l = rec_losses(h->file, &n);
	for (u32 i = 0; i < n; i++) {
		bool bad = str_is(l[i].kind, "corrupt_file") &&
			   str_eq(l[i].who, str_z(rec_info(h->file)->path));
		if (bad && !m->spec.partial)
			return err_new("%.*s: %.*s (--partial merges what there is)", STRF(h->path),
				       STRF(l[i].text));
		m->partial |= bad;
		struct loss_entry e = {.loss = loss_named(l[i].kind), .n = l[i].n};
		e.who = arena_str(&m->a, l[i].who);
		e.text = arena_str(&m->a, l[i].text);
		vec_add(&h->loss, e);
	}
	return NULL;
}

static struct err *note_cut(struct merge *m, struct host *h)
{
	const struct rec_info *in = rec_info(h->file);
	if (in->closed)
		return NULL;
	if (!m->spec.partial)
		return err_new("%.*s has no end: what comes after byte %llu is missing (--partial "
			       "merges what there is)",
			       STRF(h->path), in->bytes - in->cut);
	m->partial = true;
	struct loss_entry e = {.loss = LOSS_CORRUPT_FILE, .who = h->path};
	e.text = str_z(arena_fmt(&m->a,
				 "the answer has no end: what comes after byte %llu is missing",
				 in->bytes - in->cut));
	vec_add(&h->loss, e);
	return NULL;
}

/* What comes before the damage is merged. Frees e. */
static void note_damage(struct merge *m, struct host *h, struct err *e)
{
	struct loss_entry l = {.loss = LOSS_CORRUPT_FILE, .who = h->path};
	l.text = arena_str(&m->a, str_z(e->msg));
	vec_add(&h->loss, l);
	m->partial = true;
	err_free(e);
}

/* What follows is of a later host of the file, whose labels come with it. */
static struct err *next_host(struct merge *m, struct host **h, const struct rec_answer *it)
{
	struct bytes b = bytes_of(it->fields.s, it->fields.n);
	struct host *at = *h;
	u32 nth = bytes_u32(&b);
	struct str labels = unpack_str(&b);
	AUTO_SB all = {0};
	while (at && at->nth < nth)
		at = at->more;
	if (b.bad || !at || at->nth != nth || at->begun)
		return damaged(*h, it);
	sb_free(&(*h)->rows.bytes);
	at->begun = true;
	sb_add(&all, at->labels.all);
	sb_add(&all, labels);
	at->labels.all = arena_str(&m->a, sb_str(&all));
	m->room -= MIN(m->room, all.n);
	*h = at;
	return NULL;
}

static struct err *is_odd(const struct merge *m, const struct host *h)
{
	return m->spec.bundle && h->odd
		       ? err_new("%.*s: a table differs from that of another host", STRF(h->path))
		       : NULL;
}

/* A file, and all of its hosts; h: the first. */
static struct err *read_host(struct merge *m, struct host *h)
{
	struct rec_answer it;
	struct host *of = h;
	struct err *e = note_cut(m, h), *late = NULL;
	if (e)
		return e;
	while (!e && rec_next_answer(h->file, &it, &late))
		e = (it.kind & ~ITEM_NEEDED) == ITEM_HOST ? next_host(m, &of, &it)
							  : take_item(m, of, &it);
	e = e ? e : late;
	rec_rest(h->file);
	sb_free(&of->rows.bytes);
	if (e && !m->spec.partial)
		return e;
	if (e)
		note_damage(m, h, e);
	for (of = h; of; of = of->more)
		note_left_out(m, of);
	e = take_losses(m, h);
	return e ? e : is_odd(m, h);
}

/* ---- which answers ---- */

static struct str meta(struct merge *m, const struct rec_file *f, const char *key)
{
	return arena_str(&m->a, rec_meta_of(f, str_z(key)));
}

/* The number of the first line that differs. */
static u32 line_that_differs(struct str a, struct str b)
{
	struct str x, y;
	u32 line = 1;
	while (str_cut(&a, '\n', &x) && str_cut(&b, '\n', &y) && str_eq(x, y))
		line++;
	return line;
}

static struct err *other_script(struct merge *m, struct host *h, struct str script,
				struct str arguments)
{
	struct str first = m->host.v[0]->path;
	if (!str_eq(script, m->script))
		return err_new("%.*s is of another script than %.*s: they differ in line %u",
			       STRF(h->path), STRF(first), line_that_differs(script, m->script));
	if (!str_eq(arguments, m->arguments))
		return err_new("%.*s and %.*s are of one script with different arguments",
			       STRF(h->path), STRF(first));
	return NULL;
}

/* If several hosts have the same name, each is labelled with the name of its file. */
static void name_hosts(struct merge *m)
{
	struct tab seen = {0};
	struct arena a = {0};
	for (u32 i = 0; i < m->host.n; i++) {
		u32 *n = tab_get(&seen, m->host.v[i]->label);
		if (!n)
			tab_add(&seen, m->host.v[i]->label, n = arena_new(&a, u32));
		++*n;
	}
	for (u32 i = 0; i < m->host.n; i++) {
		struct host *h = m->host.v[i];
		u32 *n = tab_get(&seen, h->label);
		if (n && *n > 1)
			h->label = h->path;
	}
	tab_free(&seen);
	arena_free(&a);
}

/* What the first key is in an answer that was merged, and in the others. */
static struct err *check_by(struct merge *m, struct host *h, struct str by)
{
	struct str key = by, kind;
	if (!str_cut(&key, ':', &kind) || !str_is(kind, "label"))
		return NULL;
	if (!labels_is_name(key))
		return err_new("%.*s: its first key is damaged", STRF(h->path));
	h->labelled = true;
	if (!m->by.n && !m->host.n) {
		m->by = by;
		m->spec.by_label = key;
		m->spec.by_host = true;
	}
	return str_eq(by, m->by)
		       ? NULL
		       : err_new("the first key in %.*s is the label %.*s: only --by label:%.*s "
				 "merges it with others",
				 STRF(h->path), STRF(key), STRF(key));
}

/* Rows of a hub are of many hosts: nobody else has merged them before, and their first key is none of these hosts. */
static struct err *check_bundle(const struct merge *m, const struct host *h, struct str by)
{
	bool bundled = merge_bundled(h->file).n, merged = by.n || h->labels.hosts.n;
	if (!(bundled && m->spec.by_label.n) && !((bundled || m->spec.bundle) && merged))
		return NULL;
	return err_new("%.*s: a hub cannot merge what was merged before, or by label",
		       STRF(h->path));
}

void merge_label(struct merge *m, struct str labels)
{
	struct labels *l = &m->host.v[m->host.n - 1]->labels;
	AUTO_SB b = {0};
	sb_fmt(&b, "%.*s\n%.*s", STRF(labels), STRF(l->all));
	l->all = arena_str(&m->a, sb_str(&b));
}

static struct err *too_many(void)
{
	return err_new("too many answers (%u at most)", MERGE_MAX_HOSTS);
}

/* Another host of the file that was added last. */
static struct err *add_more(struct merge *m, struct host *last)
{
	if (m->host.n == MERGE_MAX_HOSTS)
		return too_many();
	struct host *h = last->more = arena_new(&m->a, struct host);
	*h = (struct host){.file = last->file, .boot = last->boot, .nth = last->nth + 1};
	vec_add(&m->host, h);
	return NULL;
}

struct err *merge_add_named(struct merge *m, struct rec_file *f, struct str host, u32 rank)
{
	struct host *last = m->host.n ? m->host.v[m->host.n - 1] : NULL;
	struct err *e = last && last->file == f ? add_more(m, last) : merge_add(m, f);
	if (e)
		return e;
	struct host *h = m->host.v[m->host.n - 1];
	h->label = arena_str(&m->a, host);
	h->path = merge_bundled(f).n ? h->label : h->path;
	h->rank = rank;
	m->named = true;
	return NULL;
}

struct str merge_bundled(const struct rec_file *f)
{
	return rec_meta_of(f, STR("hosts"));
}

struct err *merge_add(struct merge *m, struct rec_file *f)
{
	AUTO_SB name = {0};
	struct host *h = arena_new(&m->a, struct host);
	h->file = f;
	h->path = arena_str(&m->a, str_z(rec_info(f)->path));
	const struct rec_info *in = rec_info(f);
	if (!rec_is_answer(f) && !in->nblock)
		return err_new("%.*s ends at byte %llu, before it says what it is", STRF(h->path),
			       in->bytes);
	if (!rec_is_answer(f))
		return err_new("%.*s is a recording of events: sonde query -f answer -o FILE makes "
			       "an answer of it",
			       STRF(h->path));
	if (m->host.n == MERGE_MAX_HOSTS)
		return too_many();
	sb_visible(&name, rec_meta_of(f, STR("hostname")));
	h->label = name.n ? arena_str(&m->a, sb_str(&name)) : h->path;
	h->boot = meta(m, f, "boot");
	h->labels = (struct labels){.all = meta(m, f, "labels"),
				    .hosts = meta(m, f, "labels of hosts")};
	struct str script = meta(m, f, "script"), arguments = meta(m, f, "arguments"),
		   by = meta(m, f, "by");
	struct err *e = m->host.n ? other_script(m, h, script, arguments) : NULL;
	e = e ? e : check_by(m, h, by);
	e = e ? e : check_bundle(m, h, by);
	if (e)
		return e;
	if (!m->host.n)
		m->what = meta(m, f, "what");
	m->script = script;
	m->arguments = arguments;
	vec_add(&m->host, h);
	rec_rest(f);
	return NULL;
}

static int by_rank(const void *a, const void *b)
{
	const struct host *x = *(struct host *const *)a, *y = *(struct host *const *)b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

struct err *merge_read(struct merge *m)
{
	struct err *e = NULL;
	assert(m->host.n);
	m->same = m->host.v[0]->boot.n;
	for (u32 i = 1; i < m->host.n; i++)
		m->same &= str_eq(m->host.v[i]->boot, m->host.v[0]->boot);
	if (m->named)
		qsort(m->host.v, m->host.n, sizeof(*m->host.v), by_rank);
	else
		name_hosts(m);
	for (u32 i = 0; i < m->host.n; i++)
		m->host.v[i]->index = i;
	for (u32 i = 0; i < m->host.n && m->spec.by_label.n; i++)
		labels_find(&m->a, &m->host.v[i]->labels, m->spec.by_label);
	for (u32 i = 0; i < m->host.n && !e; i++) {
		m->failed = i;
		if (!m->host.v[i]->nth)
			e = read_host(m, m->host.v[i]);
	}
	return e;
}

/* ---- the rest ---- */

u32 merge_failed(const struct merge *m)
{
	return m->failed;
}

u64 merge_lost(const struct merge *m, u64 *nhost)
{
	u64 n = 0;
	*nhost = 0;
	for (u32 i = 0; i < m->host.n; i++) {
		const struct host *h = m->host.v[i];
		bool any = false;
		for (u32 k = 0; k < h->loss.n; k++) {
			if (h->loss.v[k].loss != LOSS_EVENTS)
				continue;
			n += h->loss.v[k].n;
			any = true;
		}
		*nhost += any;
	}
	return n;
}

struct merge_run merge_run(const struct merge *m, u32 i)
{
	assert(i < m->host.n);
	const struct host *h = m->host.v[i];
	struct merge_run ret = h->run;
	ret.lack = h->lack.v;
	ret.nlack = h->lack.n;
	for (u32 k = 0; k < h->entry.n && !h->ran && !ret.error.n; k++)
		if (h->entry.v[k].kind == I_ERROR && !h->entry.v[k].warn && !h->entry.v[k].said)
			ret.error = h->entry.v[k].str;
	return ret;
}

u32 merge_hosts(const struct merge *m)
{
	return m->host.n;
}

struct str merge_host(const struct merge *m, u32 i)
{
	assert(i < m->host.n);
	return m->host.v[i]->label;
}

struct str merge_script(const struct merge *m)
{
	return m->script;
}

struct str merge_what(const struct merge *m)
{
	return m->what;
}

struct str merge_arguments(const struct merge *m)
{
	return m->arguments;
}

struct str merge_machine(const struct merge *m)
{
	return m->same ? m->host.v[0]->boot : STR("");
}

struct str merge_by(const struct merge *m)
{
	return m->by;
}

void merge_put_labels(const struct merge *m, struct sb *out)
{
	for (u32 i = 0; i < m->host.n; i++)
		labels_put(out, &m->host.v[i]->labels, m->host.v[i]->label);
	while (out->n > REC_MAX_TEXT || (out->n && out->s[out->n - 1] != '\n'))
		out->n--; /* whole lines */
}

bool merge_is_partial(const struct merge *m)
{
	return m->partial;
}

struct merge *merge_new(const struct merge_spec *spec)
{
	struct merge *m = xcalloc(1, sizeof(*m));
	m->spec = *spec;
	m->by = spec->by_host ? STR("host") : STR("");
	if (spec->by_label.n)
		m->by = str_z(arena_fmt(&m->a, "label:%.*s", STRF(spec->by_label)));
	m->room = MAX_MEMORY;
	return m;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	for (u32 i = 0; i < m->host.n; i++) {
		vec_free(&m->host.v[i]->entry);
		vec_free(&m->host.v[i]->loss);
		vec_free(&m->host.v[i]->declared);
		vec_free(&m->host.v[i]->lack);
		sb_free(&m->host.v[i]->rows.bytes);
		labels_free(&m->host.v[i]->labels);
		vec_free(&m->host.v[i]->kept.item);
		tab_free(&m->host.v[i]->times);
	}
	for (u32 i = 0; i < m->table.n; i++)
		table_free(m->table.v[i]);
	vec_free(&m->host);
	vec_free(&m->table);
	tab_free(&m->shared);
	declared_free(&m->tables);
	arena_free(&m->a);
	free(m);
}
