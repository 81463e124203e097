/*
 * prometheus.c - maps as metrics, in the text format of Prometheus: what node_exporter's textfile
 * collector, Telegraf and others read.
 *
 * A map is a family, its key the labels: those of a record have the fields' names, parts of a tuple
 * are key1, key2 ... Each map is there once, as it was printed last. A series may not occur twice, so
 * keys that look alike (two addresses with one name) are joined.
 */
#include "base/vec.h"
#include "core/agg.h"
#include "sink/out.h"
#include <stdlib.h>

struct sample {
	struct str labels; /* 'comm="cat",cpu="1"' */
	const char *suffix;
	bool bucket, last; /* of a histogram: up to .up_to, or to the last */
	i64 up_to;
	double value;
};
struct family {
	struct str name, what; /* the map's; "gauge" ... */
	VEC(struct sample) sample;
};
struct prometheus {
	struct out o;
	struct sink_env env;
	struct arena arena;
	VEC(struct family) family;
};

static struct err *prometheus_open(void *self, const struct sink_env *env, const struct str *opts)
{
	(void)opts;
	struct prometheus *p = self;
	p->env = *env;
	out_init(&p->o, env);
	return NULL;
}

/* ---- names and labels ---- */

/* Letters, digits and '_'. */
static void put_name(struct sb *b, struct str name)
{
	for (u32 i = 0; i < name.n; i++) {
		char c = name.s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		sb_char(b, letter || (c >= '0' && c <= '9') ? c : '_');
	}
}

static void put_label(struct prometheus *p, struct sb *b, struct str name, const struct value *v)
{
	AUTO_SB text = {0};
	value_text(&text, v, &(struct show){p->env.how.trailer, true});
	struct str s = str_trim(sb_str(&text));
	if (b->n)
		sb_char(b, ',');
	/* Those of histograms and quantiles are taken, names that begin so are Prometheus's. */
	if (str_is(name, "le") || str_is(name, "quantile") || str_starts(name, STR("__")))
		sb_z(b, "key_");
	put_name(b, name);
	sb_z(b, "=\"");
	for (u32 i = 0; i < s.n; i++) {
		if (s.s[i] == '"' || s.s[i] == '\\')
			sb_char(b, '\\');
		if (s.s[i] == '\n')
			sb_z(b, "\\n");
		else
			sb_char(b, s.s[i]);
	}
	sb_char(b, '"');
}

static struct str labels_of(struct prometheus *p, const struct value *key)
{
	AUTO_SB b = {0};
	for (u32 i = 0; key && (key->kind == V_RECORD || key->kind == V_TUPLE) && i < key->n; i++) {
		char name[16];
		snprintf(name, sizeof(name), "key%u", i + 1);
		put_label(p, &b, key->kind == V_RECORD ? key->names[i] : str_z(name),
			  &key->list[i]);
	}
	if (key && key->kind != V_RECORD && key->kind != V_TUPLE)
		put_label(p, &b, STR("key"), key);
	return arena_str(&p->arena, sb_str(&b));
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

static void add_hist(struct family *f, struct sample s, const struct value *v)
{
	double all = 0;
	for (u32 i = 0; i < v->n; i++) {
		const struct bucket *k = &v->hist[i];
		s.value = (double)k->count;
		s.bucket = true;
		s.last = k->no_hi;
		s.up_to = k->no_hi ? 0 : (i64)((u64)k->hi - 1);
		s.suffix = "_bucket";
		vec_add(&f->sample, s);
		all += s.value;
	}
	s.bucket = true;
	s.last = true;
	s.up_to = 0;
	s.value = 0;
	vec_add(&f->sample, s); /* Inf is always there */
	s.bucket = s.last = false;
	s.suffix = "_count";
	s.value = all;
	vec_add(&f->sample, s);
}

static void add_row(struct prometheus *p, struct family *f, const struct value *key,
		    const struct value *v)
{
	struct sample s = {.labels = labels_of(p, key), .suffix = ""};
	if (v->kind == V_HIST) {
		f->what = STR("histogram");
		add_hist(f, s, v);
	} else if (v->kind == V_STATS) {
		f->what = STR("summary");
		s.suffix = "_count";
		number(&v->list[0], &s.value);
		vec_add(&f->sample, s);
		s.suffix = "_sum";
		number(&v->list[2], &s.value);
		vec_add(&f->sample, s);
	} else if (number(v, &s.value)) {
		f->what = STR("gauge");
		vec_add(&f->sample, s);
	}
}

/* By labels, a histogram's buckets in their order and what counts them all behind them. */
static int by_series(const void *pa, const void *pb)
{
	const struct sample *a = pa, *b = pb;
	int c = str_cmp(a->labels, b->labels);
	if (c || a->bucket != b->bucket)
		return c ? c : (int)b->bucket - (int)a->bucket;
	c = strcmp(a->suffix, b->suffix);
	if (c || a->last != b->last)
		return c ? c : (int)a->last - (int)b->last;
	return a->up_to < b->up_to ? -1 : a->up_to > b->up_to;
}

/* Equal series become one: what was added up is, of other values the largest stays. */
static void join(struct family *f, bool adds)
{
	u32 n = 0;
	if (f->sample.n)
		qsort(f->sample.v, f->sample.n, sizeof(*f->sample.v), by_series);
	for (u32 i = 0; i < f->sample.n; i++) {
		struct sample *s = &f->sample.v[i], *to = n ? &f->sample.v[n - 1] : NULL;
		if (!to || by_series(to, s))
			f->sample.v[n++] = *s;
		else
			to->value = adds ? to->value + s->value : MAX(to->value, s->value);
	}
	f->sample.n = n;
}

static struct family *family_of(struct prometheus *p, struct str name)
{
	for (u32 i = 0; i < p->family.n; i++)
		if (str_eq(p->family.v[i].name, name))
			return &p->family.v[i];
	vec_add(&p->family, (struct family){.name = arena_str(&p->arena, name)});
	return &p->family.v[p->family.n - 1];
}

static void put_map(struct prometheus *p, const struct item *it)
{
	struct family *f = family_of(p, it->name);
	f->sample.n = 0;
	for (u64 i = 0; i < it->n; i++) {
		struct item_row row = item_row(it, i);
		add_row(p, f, row.key, row.val);
	}
	bool parts = str_is(f->what, "histogram") || str_is(f->what, "summary");
	join(f, parts || (it->agg && it->agg->adds && !it->agg->mean));
}

/* What did not reach the user is a metric, too. */
static void put_lost(struct prometheus *p, const struct item *it)
{
	const struct loss_kind *k = &loss_kinds[it->loss];
	if (!*k->unit || it->n == LOSS_UNKNOWN)
		return;
	struct value part[2] = {{.kind = V_STR, .str = str_z(k->name)},
				{.kind = V_STR, .str = it->who}},
		     count = {.kind = V_UINT, .size = 8, .u = it->n};
	struct value key = {.kind = V_RECORD,
			    .n = it->who.n ? 2 : 1,
			    .list = part,
			    .names = (const struct str[]){STR("kind"), STR("of")}};
	struct family *f = family_of(p, STR("trace_losses"));
	add_row(p, f, &key, &count);
	join(f, false); /* each says how many there were until then */
}

static struct err *prometheus_put(void *self, const struct item *it)
{
	struct prometheus *p = self;
	switch (it->kind) {
	case I_MAP: put_map(p, it); break;
	case I_STATUS:
		if (!p->env.quiet)
			out_remark(&p->o, &p->env, it);
		break;
	case I_LOST: put_lost(p, it); /* fall through */
	case I_ERROR:
	case I_COST: out_remark(&p->o, &p->env, it); break;
	case I_TEXT:
	case I_VALUE:
	case I_HEAD:
	case I_ROW:
	case I_TOTAL:
	case I_SNAPSHOT:
	case I_KEPT:
	case I_END: break;
	}
	return NULL;
}

/* ---- the file ---- */

static void put_number(struct sb *b, double n)
{
	if (n > -1e15 && n < 1e15 && n == (double)(i64)n)
		sb_i64(b, (i64)n);
	else
		sb_fmt(b, "%.17g", n);
}

static void put_sample(struct sb *b, struct str name, const struct sample *s)
{
	sb_fmt(b, "%.*s%s", STRF(name), s->suffix);
	if (s->labels.n || s->bucket)
		sb_fmt(b, "{%.*s", STRF(s->labels));
	if (s->bucket)
		sb_z(b, s->labels.n ? ",le=\"" : "le=\"");
	if (s->bucket && s->last)
		sb_z(b, "+Inf");
	else if (s->bucket)
		sb_i64(b, s->up_to);
	if (s->bucket)
		sb_char(b, '"');
	sb_z(b, s->labels.n || s->bucket ? "} " : " ");
	put_number(b, s->value);
	sb_char(b, '\n');
}

static void put_family(struct prometheus *p, const struct family *f)
{
	AUTO_SB name = {0};
	bool map = str_starts(f->name, STR("@"));
	sb_z(&name, str_is(f->name, "@") ? "sonde" : "sonde_");
	put_name(&name, str_from(f->name, map));
	sb_fmt(&p->o.b, "# TYPE %s %.*s\n", name.s, STRF(f->what));
	double below = 0; /* a bucket counts those before it, too */
	for (u32 i = 0; i < f->sample.n; i++) {
		struct sample s = f->sample.v[i];
		if (i && !str_eq(s.labels, f->sample.v[i - 1].labels))
			below = 0;
		below += s.bucket ? s.value : 0;
		s.value = s.bucket ? below : s.value;
		put_sample(&p->o.b, sb_str(&name), &s);
		out_room(&p->o);
	}
}

static struct err *prometheus_flush(void *self)
{
	(void)self;
	return NULL;
}

static struct err *prometheus_close(void *self)
{
	struct prometheus *p = self;
	for (u32 i = 0; i < p->family.n; i++) {
		if (p->family.v[i].sample.n)
			put_family(p, &p->family.v[i]);
		vec_free(&p->family.v[i].sample);
	}
	vec_free(&p->family);
	arena_free(&p->arena);
	return out_close(&p->o);
}

const struct sink sink_prometheus = {
	.name = "prometheus",
	.ending = ".prom",
	.doc = "maps as metrics, for node_exporter's textfile collector",
	.whole = true,
	.maps = true,
	.keys = KEYS_BY_TEXT,
	.size = sizeof(struct prometheus),
	.open = prometheus_open,
	.put = prometheus_put,
	.flush = prometheus_flush,
	.close = prometheus_close,
};
