/* metrics.c - families of series, made of maps; and their text. */
#include "core/agg.h"
#include "core/family.h"
#include <stdlib.h>

enum { LABEL_BYTES = 1024 }; /* of one label's text */

static const char other_label[] = "__other__";

void metric_memory_free(struct metric_memory *k)
{
	tab_free(&k->series);
	vec_free(&k->bound);
	arena_free(&k->arena);
}

void metrics_free(struct metrics *m)
{
	for (u32 i = 0; i < m->family.n; i++) {
		vec_free(&m->family.v[i]->series);
		metric_memory_free(&m->family.v[i]->own);
	}
	vec_free(&m->family);
	arena_free(&m->arena);
}

/* ---- names and labels ---- */

static void put_letters(struct sb *out, struct str name)
{
	for (u32 i = 0; i < name.n; i++) {
		char c = name.s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		sb_char(out, letter || (c >= '0' && c <= '9') ? c : '_');
	}
}

void metric_name(struct sb *out, struct str text)
{
	if (!text.n || (text.s[0] >= '0' && text.s[0] <= '9'))
		sb_char(out, '_');
	put_letters(out, text);
}

/* Prometheus takes UTF-8 alone: other bytes, and control characters, are shown as \xNN. */
static void put_label_text(struct sb *out, struct str text)
{
	AUTO_SB seen = {0};
	for (struct str rest = text; rest.n && seen.n < LABEL_BYTES;) {
		u32 n = str_utf8(rest);
		bool plain = rest.s[0] == '\n' || (n && (u8)rest.s[0] >= ' ' && rest.s[0] != 127);
		if (plain)
			sb_mem(&seen, rest.s, MAX(n, 1u));
		else
			sb_fmt(&seen, "\\x%02x", (u8)rest.s[0]);
		rest = str_from(rest, plain ? MAX(n, 1u) : 1);
	}
	for (size_t i = 0; i < seen.n; i++) {
		char c = seen.s[i];
		if (c == '"' || c == '\\')
			sb_char(out, '\\');
		if (c == '\n')
			sb_z(out, "\\n");
		else
			sb_char(out, c);
	}
}

void metric_label(struct sb *out, struct str name, struct str text)
{
	if (out->n)
		sb_char(out, ',');
	/* Those of histograms and quantiles are taken, names that begin so are Prometheus's. */
	if (str_is(name, "le") || str_is(name, "quantile") || str_starts(name, STR("__")))
		sb_z(out, "key_");
	metric_name(out, name);
	sb_z(out, "=\"");
	put_label_text(out, text);
	sb_char(out, '"');
}

bool metric_next_label(struct str *labels, struct str *name, struct sb *text)
{
	u32 i = 1; /* behind the quote */
	sb_clear(text);
	if (!labels->n || !str_cut(labels, '=', name))
		return false;
	for (; i < labels->n && labels->s[i] != '"'; i++) {
		bool escaped = labels->s[i] == '\\' && i + 1 < labels->n;
		i += escaped;
		sb_char(text, escaped && labels->s[i] == 'n' ? '\n' : labels->s[i]);
	}
	*labels = str_from(*labels, MIN(i + 2, labels->n)); /* and the comma */
	return true;
}

/* Part i of a key: by the script, by the name of a record's field, or by its number. */
static void put_part(struct sb *out, const struct metric_shape *s, const struct value *key, u32 i)
{
	struct str list = s->labels, name = STR("");
	bool many = key->kind == V_RECORD || key->kind == V_TUPLE;
	const struct value *v = many ? &key->list[i] : key;
	char numbered[16] = "key";
	AUTO_SB text = {0};
	for (u32 k = 0; k <= i && str_cut(&list, ',', &name); k++)
		name = k == i ? str_trim(name) : STR("");
	if (many)
		snprintf(numbered, sizeof(numbered), "key%u", i + 1);
	if (!name.n)
		name = key->kind == V_RECORD ? key->names[i] : str_z(numbered);
	value_text(&text, v, &(struct show){.trailer = STR("..")});
	metric_label(out, name, str_trim(sb_str(&text)));
}

static u32 parts_of(const struct value *key)
{
	return !key ? 0 : key->kind == V_RECORD || key->kind == V_TUPLE ? key->n : 1;
}

static struct str labels_of(struct metrics *m, const struct metric_shape *s,
			    const struct value *key)
{
	AUTO_SB b = {0};
	sb_add(&b, s->first);
	for (u32 i = 0; i < parts_of(key); i++)
		put_part(&b, s, key, i);
	return arena_str(&m->arena, sb_str(&b));
}

/* The same labels of the series that all other keys share. */
static struct str labels_of_others(struct metrics *m, const struct metric_shape *s,
				   const struct value *key)
{
	AUTO_SB b = {0};
	struct value names[16], word = {.kind = V_STR, .str = str_z(other_label)};
	struct value others = key ? *key : word;
	sb_add(&b, s->first);
	for (u32 i = 0; i < MIN(parts_of(key), (u32)countof(names)); i++)
		names[i] = word;
	bool many = key && (key->kind == V_RECORD || key->kind == V_TUPLE);
	if (many) {
		others.list = names;
		others.n = MIN(others.n, (u32)countof(names));
	} else {
		others = word;
	}
	for (u32 i = 0; i < parts_of(&others); i++)
		put_part(&b, s, &others, i);
	return arena_str(&m->arena, sb_str(&b));
}

/* ---- values ---- */

static bool number(const struct value *v, double *ret)
{
	switch (v->kind) {
	case V_INT:
	case V_ENUM: *ret = (double)v->i; return true;
	case V_BOOL:
	case V_UINT: *ret = (double)v->u; return true;
	case V_FLOAT: *ret = v->f; return true;
	default: return false;
	}
}

static void remember_bound(struct metric_memory *k, i64 up_to)
{
	u32 at = k->bound.n;
	while (at && k->bound.v[at - 1] > up_to)
		at--;
	if (at && k->bound.v[at - 1] == up_to)
		return;
	vec_add(&k->bound, up_to);
	memmove(k->bound.v + at + 1, k->bound.v + at, (k->bound.n - 1 - at) * sizeof(i64));
	k->bound.v[at] = up_to;
}

static void take_hist(struct metrics *m, struct metric_family *f, struct series *s,
		      const struct value *v)
{
	struct metric_memory *k = f->shape.memory ? f->shape.memory : &f->own;
	s->part = arena_newn(&m->arena, struct part, v->n + 1ul);
	for (u32 i = 0; i < v->n; i++) {
		const struct bucket *b = &v->hist[i];
		struct part *p = &s->part[s->npart++];
		*p = (struct part){.last = b->no_hi, .n = (double)b->count};
		p->up_to = b->no_hi ? INT64_MAX : (i64)((u64)b->hi - 1);
		s->count += p->n;
		if (!p->last)
			remember_bound(k, p->up_to);
	}
}

/* False: it is no number. */
static bool take_value(struct metrics *m, struct metric_family *f, struct series *s,
		       const struct value *v)
{
	if (v->kind == V_HIST) {
		f->type = METRIC_HISTOGRAM;
		take_hist(m, f, s, v);
		return true;
	}
	if (v->kind == V_STATS) {
		f->type = METRIC_SUMMARY;
		number(&v->list[0], &s->count);
		number(&v->list[2], &s->value);
		return true;
	}
	if (!number(v, &s->value))
		return false;
	f->type = f->shape.type ? f->shape.type : METRIC_GAUGE;
	return true;
}

/* ---- series ---- */

static int by_labels(const void *pa, const void *pb)
{
	const struct series *a = pa, *b = pb;
	return str_cmp(a->labels, b->labels);
}

/* Buckets of both, of one list in the other's order. */
static void add_parts(struct metrics *m, struct series *to, const struct series *from)
{
	struct part *all = arena_newn(&m->arena, struct part, to->npart + from->npart + 1ul);
	u32 n = 0, a = 0, b = 0;
	while (a < to->npart || b < from->npart) {
		const struct part *x = a < to->npart ? &to->part[a] : NULL;
		const struct part *y = b < from->npart ? &from->part[b] : NULL;
		bool first = x && (!y || x->up_to <= y->up_to);
		bool both = x && y && x->up_to == y->up_to;
		all[n] = first ? *x : *y;
		all[n++].n += both ? y->n : 0;
		a += first;
		b += !first || both;
	}
	to->part = all;
	to->npart = n;
}

/* How the values of two keys become one. */
enum joining { JOIN_MOST, JOIN_LEAST, JOIN_ADD };

static enum joining joining_of(const struct item *it, enum metric_type type)
{
	if (type == METRIC_HISTOGRAM || type == METRIC_SUMMARY)
		return JOIN_ADD;
	if (it && it->map.agg && it->map.agg->keeps == AGG_LEAST)
		return JOIN_LEAST;
	return it && it->map.agg && it->map.agg->adds && !it->map.agg->mean ? JOIN_ADD : JOIN_MOST;
}

static void join(struct metrics *m, struct metric_family *f, enum joining how)
{
	u32 n = 0;
	if (f->series.n)
		qsort(f->series.v, f->series.n, sizeof(*f->series.v), by_labels);
	for (u32 i = 0; i < f->series.n; i++) {
		struct series *s = &f->series.v[i], *to = n ? &f->series.v[n - 1] : NULL;
		if (!to || by_labels(to, s)) {
			f->series.v[n++] = *s;
			continue;
		}
		to->value = how == JOIN_ADD     ? to->value + s->value
			    : how == JOIN_LEAST ? MIN(to->value, s->value)
						: MAX(to->value, s->value);
		to->count += s->count;
		if (s->npart)
			add_parts(m, to, s);
	}
	f->series.n = n;
}

static struct metric_family *family_of(struct metrics *m, const struct metric_shape *s)
{
	for (u32 i = 0; i < m->family.n; i++)
		if (str_eq(m->family.v[i]->shape.name, s->name))
			return m->family.v[i];
	struct metric_family *f = arena_new(&m->arena, struct metric_family);
	f->shape = *s;
	f->shape.name = arena_str(&m->arena, s->name);
	f->type = s->type ? s->type : METRIC_GAUGE;
	vec_add(&m->family, f);
	return f;
}

/* Has the key a series of its own? The first keys keep theirs, so that no counter goes back. */
static bool own_series(const struct metric_shape *s, struct str labels)
{
	struct metric_memory *k = s->memory;
	if (!s->most || tab_get(&k->series, labels))
		return true;
	if (k->series.n >= s->most)
		return false;
	tab_add(&k->series, arena_str(&k->arena, labels), k);
	return true;
}

void metrics_map(struct metrics *m, const struct metric_shape *shape, const struct item *it)
{
	struct metric_family *f = family_of(m, shape);
	u64 others = 0;
	assert(!shape->most || shape->memory);
	f->series.n = 0;
	for (u64 i = 0; i < it->map.n; i++) {
		struct item_row row = item_row(it, i);
		struct series s = {.labels = labels_of(m, shape, row.key)};
		if (!take_value(m, f, &s, row.val))
			continue;
		if (!own_series(shape, s.labels)) {
			others++;
			if (it->map.agg && it->map.agg->mean && f->type != METRIC_SUMMARY)
				continue; /* of means there is no sum */
			s.labels = labels_of_others(m, shape, row.key);
		}
		vec_add(&f->series, s);
	}
	join(m, f, joining_of(it, f->type));
	if (shape->other)
		*shape->other = others;
}

void metrics_set(struct metrics *m, const struct metric_shape *s, struct str labels, double value)
{
	struct metric_family *f = family_of(m, s);
	vec_add(&f->series,
		(struct series){.labels = arena_str(&m->arena, labels), .value = value});
}

void metrics_raise(struct metrics *m, const struct metric_shape *s, struct str labels, double value)
{
	metrics_set(m, s, labels, value);
	join(m, family_of(m, s), JOIN_MOST);
}

/* ---- the text ---- */

/* The shortest text that is read as the same number. */
static void put_number(struct sb *out, double n, bool point)
{
	char text[40];
	if (n > -1e15 && n < 1e15 && n == (double)(i64)n) {
		sb_i64(out, (i64)n);
		sb_z(out, point ? ".0" : "");
		return;
	}
	if (__builtin_isinf(n) || __builtin_isnan(n)) {
		sb_z(out, __builtin_isnan(n) ? "NaN" : n < 0 ? "-Inf" : "+Inf");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, n);
		if (strtod(text, NULL) == n)
			break;
	}
	sb_z(out, text);
}

static void put_help(struct sb *out, struct str text, bool quotes)
{
	AUTO_SB seen = {0};
	sb_visible(&seen, text);
	for (size_t i = 0; i < seen.n; i++) {
		if (seen.s[i] == '\\' || (quotes && seen.s[i] == '"'))
			sb_char(out, '\\');
		sb_char(out, seen.s[i]);
	}
}

static void put_head(struct sb *out, const struct metric_family *f, bool open)
{
	static const char *const words[] = {"gauge", "gauge", "counter", "histogram", "summary"};
	struct str name = f->shape.name, total = STR("_total");
	if (open && f->type == METRIC_COUNTER && str_ends(name, total))
		name.n -= total.n;
	if (f->shape.help.n) {
		sb_fmt(out, "# HELP %.*s ", STRF(name));
		put_help(out, f->shape.help, open);
		sb_char(out, '\n');
	}
	sb_fmt(out, "# TYPE %.*s %s\n", STRF(name), words[f->type]);
	if (open && f->shape.unit.n)
		sb_fmt(out, "# UNIT %.*s %.*s\n", STRF(name), STRF(f->shape.unit));
}

static void put_sample(struct sb *out, struct str name, const char *suffix, struct str labels,
		       double value)
{
	sb_fmt(out, "%.*s%s", STRF(name), suffix);
	if (labels.n)
		sb_fmt(out, "{%.*s}", STRF(labels));
	sb_char(out, ' ');
	put_number(out, value, false);
	sb_char(out, '\n');
}

static void put_bucket(struct sb *out, const struct metric_family *f, const struct series *s,
		       const char *le, double below)
{
	AUTO_SB labels = {0};
	sb_add(&labels, s->labels);
	sb_fmt(&labels, "%sle=\"%s\"", labels.n ? "," : "", le);
	put_sample(out, f->shape.name, "_bucket", sb_str(&labels), below);
}

static void put_hist(struct sb *out, const struct metric_family *f, const struct series *s,
		     bool open)
{
	const struct metric_memory *k = metric_bounds(f);
	double below = 0; /* a bucket counts those before it, too */
	for (u32 i = 0, p = 0; i < k->bound.n; i++) {
		AUTO_SB le = {0};
		below += (double)metric_up_to(s, &p, k->bound.v[i]);
		put_number(&le, metric_scaled(&f->shape, (double)k->bound.v[i]), open);
		put_bucket(out, f, s, le.s, below);
	}
	put_bucket(out, f, s, "+Inf", s->count);
	put_sample(out, f->shape.name, "_count", s->labels, s->count);
}

void metrics_text(const struct metrics *m, enum metrics_format format, struct sb *out)
{
	bool open = format == METRICS_OPEN;
	for (u32 i = 0; i < m->family.n; i++) {
		const struct metric_family *f = m->family.v[i];
		if (f->series.n)
			put_head(out, f, open);
		for (u32 k = 0; k < f->series.n; k++) {
			const struct series *s = &f->series.v[k];
			if (f->type == METRIC_HISTOGRAM) {
				put_hist(out, f, s, open);
			} else if (f->type == METRIC_SUMMARY) {
				put_sample(out, f->shape.name, "_count", s->labels, s->count);
				put_sample(out, f->shape.name, "_sum", s->labels,
					   metric_scaled(&f->shape, s->value));
			} else {
				put_sample(out, f->shape.name, "", s->labels,
					   metric_scaled(&f->shape, s->value));
			}
		}
	}
	if (open)
		sb_z(out, "# EOF\n");
}
