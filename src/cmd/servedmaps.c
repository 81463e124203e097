#include "cmd/servedmaps.h"
#include "core/agg.h"

enum { MOST_KEYS = 1 << 17 }; /* of a map that is read at each scrape */

/* What values are measured in, and what metrics are. */
static const struct unit_of {
	const char *name, *base;
	double divide, times;
} units[] = {
	{"ns", "seconds", 1e9, 0},
	{"nanoseconds", "seconds", 1e9, 0},
	{"us", "seconds", 1e6, 0},
	{"microseconds", "seconds", 1e6, 0},
	{"ms", "seconds", 1e3, 0},
	{"milliseconds", "seconds", 1e3, 0},
	{"s", "seconds", 0, 0},
	{"seconds", "seconds", 0, 0},
	{"bytes", "bytes", 0, 0},
	{"KiB", "bytes", 0, 1024},
	{"pages", "bytes", 0, 4096},
	{"sectors", "bytes", 0, 512},
	{"percent", "ratio", 100, 0},
	{"ratio", "ratio", 0, 0},
	{0},
};

void served_forget_maps(struct served *s)
{
	for (u32 i = 0; i < s->map.n; i++)
		metric_memory_free(&s->map.v[i].memory);
	vec_free(&s->map);
}

/* ---- settings ---- */

/* A map that is named there is one of the script. */
static struct err *check_list(const struct unit *u, const char *setting, struct str text)
{
	struct str rest = text, name, value;
	while (config_is_list(text) && config_entry(&rest, &name, &value)) {
		bool found = false;
		for (u32 i = 0; i < u->nmap; i++)
			found |= u->map[i]->role == MAP_USER && str_eq(u->map[i]->name, name);
		if (!found)
			return err_new("%s: the script has no map %.*s", setting, STRF(name));
		if (!value.n)
			return err_new("%s: %.*s has no value", setting, STRF(name));
	}
	return NULL;
}

static struct err *check_settings(const struct unit *u)
{
	const struct config *g = &u->config;
	struct err *e = check_list(u, "metric", g->metric);
	if (!e)
		e = check_list(u, "unit", g->unit);
	if (!e)
		e = check_list(u, "labels", g->labels);
	return e ? e : check_list(u, "help", g->help);
}

/* ---- which maps ---- */

static bool is_number(const struct map *m)
{
	return agg_of(m->val) || type_is_int(m->val) || m->val->kind == T_BOOL ||
	       m->val->kind == T_ENUM;
}

static bool is_metric(const struct unit *u, const struct map *m)
{
	bool said;
	if (m->role != MAP_USER || !m->store)
		return false;
	if (config_is_list(u->config.metric))
		return config_of_map(u->config.metric, m->name, &said), said;
	return is_number(m) && m->val->kind != T_TSERIES && (agg_of(m->val) || m->counter);
}

static u32 count_metrics(const struct unit *u)
{
	u32 n = 0;
	for (u32 i = 0; i < u->nmap; i++)
		n += is_metric(u, u->map[i]);
	return n;
}

/* ---- names ---- */

/* "biolatency.bt" */
static void default_name(const struct served *s, struct sb *out)
{
	struct str name = str_z(s->name);
	if (str_ends(name, STR(".bt")))
		name.n -= 3;
	sb_z(out, "sonde_");
	for (u32 i = 0; i < name.n; i++) {
		char c = name.s[i];
		bool plain =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		sb_char(out, plain ? c : '_');
	}
}

static void end_with(struct sb *name, const char *word)
{
	AUTO_SB end = {0};
	sb_fmt(&end, "_%s", word);
	if (!str_ends(sb_str(name), sb_str(&end)))
		sb_add(name, sb_str(&end));
}

static struct err *set_unit(struct metric_shape *shape, struct str text, struct sb *name)
{
	const struct unit_of *k = units;
	while (k->name && !str_is(text, k->name))
		k++;
	if (!k->name)
		return err_new("unit: '%.*s' is none of ns, us, ms, seconds, bytes, KiB, pages, "
			       "sectors, percent, ratio",
			       STRF(text));
	shape->unit = str_z(k->base);
	shape->divide = k->divide;
	shape->times = k->times;
	end_with(name, k->base);
	return NULL;
}

static bool may_fall(const struct map *m)
{
	return !(m->val->kind == T_COUNT || (m->val->kind == T_SUM && !m->val->is_signed));
}

static bool is_valid(struct str name)
{
	AUTO_SB same = {0};
	metric_name(&same, name);
	return str_eq(sb_str(&same), name);
}

static void base_name(const struct served *s, const struct unit *u, const struct map *m,
		      struct sb *out)
{
	bool said;
	struct str given = config_of_map(u->config.metric, m->name, &said);
	if (said)
		sb_add(out, given);
	else
		default_name(s, out);
	bool whole = said && (config_is_list(u->config.metric) || count_metrics(u) == 1);
	if (whole || m->name.n == 1)
		return;
	sb_char(out, '_');
	sb_add(out, str_from(m->name, 1));
}

/* Adding, or an aggregation whose sums grow: a counter. */
static enum metric_type type_of(const struct map *m, struct str name)
{
	bool total = str_ends(name, STR("_total"));
	bool adds = m->val->kind == T_SUM || m->counter || (!agg_of(m->val) && is_number(m));
	return !may_fall(m) || (total && adds) ? METRIC_COUNTER : METRIC_GAUGE;
}

static bool grows(const struct map *m, enum metric_type type)
{
	return type == METRIC_COUNTER || m->val->kind == T_STATS ||
	       (agg_of(m->val) && agg_of(m->val)->buckets);
}

static struct err *check_map(const struct served *s, const struct map *m, enum metric_type type,
			     struct str name)
{
	const char *other = s->taken(s->taken_arg, name);
	if (!is_valid(name))
		return err_new("metric: '%.*s' is no name of a metric: letters, digits and '_'",
			       STRF(name));
	if (!is_number(m) || m->val->kind == T_TSERIES)
		return err_new("metric: the values of %.*s are no numbers", STRF(m->name));
	if ((m->cleared || m->zeroed) && grows(m, type))
		return err_new("metric: clear() or zero() of %.*s, but a counter must not go back",
			       STRF(m->name));
	if (m->max_entries > MOST_KEYS)
		return err_new("metric: %.*s may have %u keys, and %d are read at most",
			       STRF(m->name), m->max_entries, MOST_KEYS);
	for (u32 i = 0; i < s->map.n && !other; i++)
		other = str_eq(s->map.v[i].shape.name, name) ? "another map" : NULL;
	return other ? err_new("metric: %.*s is already the metric of %s", STRF(name), other)
		     : NULL;
}

static struct err *name_map(struct served *s, const struct unit *u, const struct map *m)
{
	AUTO_SB name = {0};
	bool said, of_it;
	struct metric_shape shape = {.most = s->limits->series};
	struct str unit = config_of_map(u->config.unit, m->name, &said);
	base_name(s, u, m, &name);
	enum metric_type type = type_of(m, sb_str(&name));
	if (type == METRIC_COUNTER && str_ends(sb_str(&name), STR("_total")))
		name.s[name.n -= 6] = 0;
	/* A count is of things, not of what a unit for all maps measures. */
	of_it = said && (config_is_list(u->config.unit) || m->val->kind != T_COUNT);
	struct err *e = of_it ? set_unit(&shape, unit, &name) : NULL;
	if (type == METRIC_COUNTER)
		end_with(&name, "total");
	if (!e)
		e = check_map(s, m, type, sb_str(&name));
	if (e)
		return e;
	struct str help = config_of_map(u->config.help, m->name, &said);
	shape.name = arena_str(&s->arena, sb_str(&name));
	shape.labels = arena_str(&s->arena, config_of_map(u->config.labels, m->name, &of_it));
	shape.help = said ? arena_str(&s->arena, help)
			  : str_z(arena_fmt(&s->arena, "%.*s of %s", STRF(m->name), s->name));
	shape.type = type;
	vec_add(&s->map, (struct served_map){.map = m, .shape = shape});
	return NULL;
}

static int by_name(const void *pa, const void *pb)
{
	const struct served_map *a = pa, *b = pb;
	return str_cmp(a->shape.name, b->shape.name);
}

struct err *served_name_maps(struct served *s, const struct unit *u)
{
	served_forget_maps(s);
	struct err *e = check_settings(u);
	for (u32 i = 0; i < u->nmap && !e; i++)
		if (is_metric(u, u->map[i]))
			e = name_map(s, u, u->map[i]);
	if (!e && !s->map.n)
		e = err_new(
			"the script has no map that is a metric: an aggregation such as count(), "
			"or one that config = { metric = ... } names");
	qsort(s->map.v, s->map.n, sizeof(*s->map.v), by_name);
	for (u32 i = 0; i < s->map.n; i++) { /* they stay where they are now */
		s->map.v[i].shape.memory = &s->map.v[i].memory;
		s->map.v[i].shape.other = &s->map.v[i].other;
	}
	return e;
}
