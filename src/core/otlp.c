/*
 * otlp.c - families of series as a message of OpenTelemetry's protocol: ExportMetricsServiceRequest, with the field
 * numbers of opentelemetry/proto/metrics/v1/metrics.proto.
 *
 * Names, labels and bounds are those of the text for Prometheus. Sums are cumulative.
 */
#include "base/proto.h"
#include "core/family.h"

enum {
	REQUEST_RESOURCE = 1,
	RESOURCE_OF = 1,
	RESOURCE_SCOPE = 2,
	RESOURCE_ATTRIBUTE = 1,
	SCOPE_OF = 1,
	SCOPE_METRIC = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
	METRIC_NAME = 1,
	METRIC_HELP = 2,
	METRIC_UNIT = 3,
	METRIC_OF_GAUGE = 5,
	METRIC_OF_SUM = 7,
	METRIC_OF_HISTOGRAM = 9,
	METRIC_OF_SUMMARY = 11,
	DATA_POINT = 1,
	DATA_TEMPORALITY = 2,
	DATA_MONOTONIC = 3,
	CUMULATIVE = 2,
	POINT_SINCE = 2,
	POINT_TIME = 3,
	POINT_DOUBLE = 4,
	POINT_COUNT = 4, /* of a histogram, a summary */
	POINT_SUM = 5,
	POINT_BUCKETS = 6,
	POINT_BOUNDS = 7,
	NUMBER_ATTRIBUTE = 7,
	HISTOGRAM_ATTRIBUTE = 9,
	SUMMARY_ATTRIBUTE = 7,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	VALUE_STRING = 1,
};

static void put_pair(struct sb *b, u32 field, struct str key, struct str text)
{
	AUTO_SB value = {0};
	AUTO_SB pair = {0};
	proto_bytes(&value, VALUE_STRING, text);
	proto_bytes(&pair, PAIR_KEY, key);
	proto_bytes(&pair, PAIR_VALUE, sb_str(&value));
	proto_bytes(b, field, sb_str(&pair));
}

static void put_labels(struct sb *b, u32 field, struct str labels)
{
	struct str key;
	AUTO_SB text = {0};
	while (metric_next_label(&labels, &key, &text))
		put_pair(b, field, key, sb_str(&text));
}

static void put_times(struct sb *b, const struct metric_family *f, const struct otlp_facts *facts)
{
	if (f->type != METRIC_GAUGE)
		proto_fixed64(b, POINT_SINCE,
			      f->shape.since_ns ? f->shape.since_ns : facts->since_ns);
	proto_fixed64(b, POINT_TIME, facts->now_ns);
}

/* Observations by bucket, each on its own; the last one has no bound. */
static void put_buckets(struct sb *b, const struct metric_family *f, const struct series *s)
{
	const struct metric_memory *k = metric_bounds(f);
	AUTO_SB counts = {0};
	AUTO_SB bounds = {0};
	u32 p = 0;
	u64 rest = (u64)s->count;
	for (u32 i = 0; i < k->bound.n; i++) {
		u64 n = metric_up_to(s, &p, k->bound.v[i]);
		double bound = metric_scaled(&f->shape, (double)k->bound.v[i]);
		sb_mem(&counts, &n, sizeof(n));
		sb_mem(&bounds, &bound, sizeof(bound));
		rest -= MIN(n, rest);
	}
	sb_mem(&counts, &rest, sizeof(rest));
	proto_bytes(b, POINT_BUCKETS, sb_str(&counts));
	proto_bytes(b, POINT_BOUNDS, sb_str(&bounds));
}

static void put_point(struct sb *data, const struct metric_family *f, const struct series *s,
		      const struct otlp_facts *facts)
{
	AUTO_SB b = {0};
	put_times(&b, f, facts);
	if (f->type == METRIC_HISTOGRAM) {
		proto_fixed64(&b, POINT_COUNT, (u64)s->count);
		put_buckets(&b, f, s);
		put_labels(&b, HISTOGRAM_ATTRIBUTE, s->labels);
	} else if (f->type == METRIC_SUMMARY) {
		proto_fixed64(&b, POINT_COUNT, (u64)s->count);
		proto_double(&b, POINT_SUM, metric_scaled(&f->shape, s->value));
		put_labels(&b, SUMMARY_ATTRIBUTE, s->labels);
	} else {
		proto_double(&b, POINT_DOUBLE, metric_scaled(&f->shape, s->value));
		put_labels(&b, NUMBER_ATTRIBUTE, s->labels);
	}
	proto_bytes(data, DATA_POINT, sb_str(&b));
}

/* Units as the protocol has them (UCUM). */
static struct str unit_of(struct str unit)
{
	return str_is(unit, "seconds") ? STR("s")
	       : str_is(unit, "bytes") ? STR("By")
	       : str_is(unit, "ratio") ? STR("1")
				       : unit;
}

static void put_family(struct sb *scope, const struct metric_family *f,
		       const struct otlp_facts *facts)
{
	static const u32 fields[] = {
		[METRIC_NONE] = METRIC_OF_GAUGE,      [METRIC_GAUGE] = METRIC_OF_GAUGE,
		[METRIC_COUNTER] = METRIC_OF_SUM,     [METRIC_HISTOGRAM] = METRIC_OF_HISTOGRAM,
		[METRIC_SUMMARY] = METRIC_OF_SUMMARY,
	};
	AUTO_SB b = {0};
	AUTO_SB data = {0};
	for (u32 i = 0; i < f->series.n; i++)
		put_point(&data, f, &f->series.v[i], facts);
	if (f->type == METRIC_COUNTER || f->type == METRIC_HISTOGRAM)
		proto_u64(&data, DATA_TEMPORALITY, CUMULATIVE);
	if (f->type == METRIC_COUNTER)
		proto_u64(&data, DATA_MONOTONIC, 1);
	proto_bytes(&b, METRIC_NAME, f->shape.name);
	if (f->shape.help.n) {
		AUTO_SB help = {0};
		sb_visible(&help, f->shape.help);
		proto_bytes(&b, METRIC_HELP, sb_str(&help));
	}
	if (f->shape.unit.n)
		proto_bytes(&b, METRIC_UNIT, unit_of(f->shape.unit));
	proto_bytes(&b, fields[f->type], sb_str(&data));
	proto_bytes(scope, SCOPE_METRIC, sb_str(&b));
}

void metrics_otlp(const struct metrics *m, const struct otlp_facts *facts, struct sb *out)
{
	AUTO_SB resource = {0};
	AUTO_SB name = {0};
	AUTO_SB scope = {0};
	AUTO_SB all = {0};
	put_pair(&resource, RESOURCE_ATTRIBUTE, STR("service.name"), STR("sonde"));
	put_pair(&resource, RESOURCE_ATTRIBUTE, STR("service.instance.id"), facts->host);
	put_pair(&resource, RESOURCE_ATTRIBUTE, STR("host.name"), facts->host);
	proto_bytes(&name, SCOPE_NAME, STR("sonde"));
	proto_bytes(&name, SCOPE_VERSION, facts->version);
	proto_bytes(&scope, SCOPE_OF, sb_str(&name));
	for (u32 i = 0; i < m->family.n; i++)
		if (m->family.v[i]->series.n)
			put_family(&scope, m->family.v[i], facts);
	proto_bytes(&all, RESOURCE_OF, sb_str(&resource));
	proto_bytes(&all, RESOURCE_SCOPE, sb_str(&scope));
	proto_bytes(out, REQUEST_RESOURCE, sb_str(&all));
}

u32 metrics_points(const struct metrics *m)
{
	u32 n = 0;
	for (u32 i = 0; i < m->family.n; i++)
		n += m->family.v[i]->series.n;
	return n;
}
