/*
 * prometheus.c - maps as metrics, in the text format of Prometheus: what node_exporter's textfile
 * collector, Telegraf and others read.
 *
 * A map is a family, its key the labels (core/metrics.h). Each map is there once, as it was printed
 * last.
 */
#include "core/metrics.h"
#include "sink/out.h"

struct prometheus {
	struct out o;
	struct sink_env env;
	struct arena arena;
	struct metrics metrics;
};

static struct err *prometheus_open(void *self, const struct sink_env *env, const struct str *opts)
{
	(void)opts;
	struct prometheus *p = self;
	p->env = *env;
	out_init(&p->o, env);
	return NULL;
}

static struct str name_of(struct prometheus *p, struct str map)
{
	AUTO_SB name = {0};
	AUTO_SB rest = {0};
	metric_name(&rest, str_from(map, str_starts(map, STR("@"))));
	sb_fmt(&name, "sonde%s%s", str_is(map, "@") ? "" : "_", str_is(map, "@") ? "" : rest.s);
	return arena_str(&p->arena, sb_str(&name));
}

static void put_map(struct prometheus *p, const struct item *it)
{
	metrics_map(&p->metrics, &(struct metric_shape){.name = name_of(p, it->name)}, it);
}

/* What did not reach the user is a metric, too. Each item says how many there were until then. */
static void put_lost(struct prometheus *p, const struct item *it)
{
	const struct loss_kind *k = &loss_kinds[it->lost.loss];
	AUTO_SB labels = {0};
	if (!*k->unit || it->lost.n == LOSS_UNKNOWN)
		return;
	metric_label(&labels, STR("kind"), str_z(k->name));
	if (it->lost.who.n)
		metric_label(&labels, STR("of"), it->lost.who);
	metrics_raise(&p->metrics, &(struct metric_shape){.name = STR("sonde_trace_losses")},
		      sb_str(&labels), (double)it->lost.n);
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
	case I_FLEET:
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

static struct err *prometheus_flush(void *self)
{
	(void)self;
	return NULL;
}

static struct err *prometheus_close(void *self)
{
	struct prometheus *p = self;
	metrics_text(&p->metrics, METRICS_TEXT, &p->o.b);
	metrics_free(&p->metrics);
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
