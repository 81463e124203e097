/*
 * metricproto.c - families of series as messages MetricFamily of Prometheus's protocol, each behind its length, with
 * the field numbers of io/prometheus/client/metrics.proto.
 *
 * Names, labels and bounds are those of the text. A native histogram has a bucket (b^(i-1), b^i] for each whole number
 * i, where b is 2^(2^-schema). A bucket of the script is counted in the one that its largest value lies in: the schema
 * is the coarsest in which no two buckets of the family share one, as far as there is one (MOST_SCHEMA).
 */
#include "base/proto.h"
#include "core/family.h"

enum {
	FAMILY_NAME = 1,
	FAMILY_HELP = 2,
	FAMILY_TYPE = 3,
	FAMILY_SERIES = 4,
	FAMILY_UNIT = 5,
	SERIES_LABEL = 1,
	SERIES_GAUGE = 2,
	SERIES_COUNTER = 3,
	SERIES_SUMMARY = 4,
	SERIES_HISTOGRAM = 7,
	LABEL_NAME = 1,
	LABEL_TEXT = 2,
	NUMBER_VALUE = 1,
	SUM_COUNT = 1, /* of a summary, a histogram */
	SUM_VALUE = 2,
	HISTOGRAM_BUCKET = 3,
	BUCKET_BELOW = 1,
	BUCKET_UP_TO = 2,
	NATIVE_SCHEMA = 5,
	NATIVE_ZERO_WIDTH = 6,
	NATIVE_ZEROS = 7,
	NATIVE_NEGATIVE = 9, /* spans; counts follow */
	NATIVE_POSITIVE = 12,
	SPAN_GAP = 1,
	SPAN_LENGTH = 2,
};
enum { NOT_NATIVE = -1, MOST_SCHEMA = 8 };

static void put_labels(struct sb *b, struct str labels)
{
	struct str key;
	AUTO_SB text = {0};
	while (metric_next_label(&labels, &key, &text)) {
		AUTO_SB pair = {0};
		proto_bytes(&pair, LABEL_NAME, key);
		proto_bytes(&pair, LABEL_TEXT, sb_str(&text));
		proto_bytes(b, SERIES_LABEL, sb_str(&pair));
	}
}

/* ---- native histograms ---- */

/* i of the bucket of a value above 0: log2(value) * 2^schema, rounded up. */
static i32 native_index(double value, u32 schema)
{
	enum { MANTISSA_BITS = 52, BIAS = 1023, EXPONENT = 0x7ff };
	u64 bits;
	memcpy(&bits, &value, sizeof(bits));
	i32 i = (i32)(bits >> MANTISSA_BITS & EXPONENT) - BIAS;
	bits = (bits & ((1ull << MANTISSA_BITS) - 1)) | (u64)BIAS << MANTISSA_BITS;
	memcpy(&value, &bits, sizeof(value)); /* from 1 to below 2 */
	bool exact = value == 1;
	for (u32 n = 0; n < schema; n++) {
		value *= value;
		i = 2 * i + (value >= 2);
		value = value >= 2 ? value / 2 : value;
	}
	return exact ? i : i + 1;
}

/* The coarsest in which the buckets of a family stay apart. */
static u32 native_schema(const struct metric_family *f)
{
	const struct metric_shape *s = &f->shape;
	const struct metric_memory *k = metric_bounds(f);
	u32 schema = 0;
	for (u32 i = 1; i < k->bound.n; i++) {
		i64 a = k->bound.v[i - 1], b = k->bound.v[i];
		if (a == 0 || b == 0 || (a < 0) != (b < 0))
			continue;
		double x = metric_scaled(s, a < 0 ? -(double)a : (double)a),
		       y = metric_scaled(s, b < 0 ? -(double)b : (double)b);
		while (schema < MOST_SCHEMA && native_index(x, schema) == native_index(y, schema))
			schema++;
	}
	return schema;
}

/* Buckets of one sign, from 0 away: each span of them, and how much more each has than the one before. */
struct native {
	struct sb count;
	i32 first, next; /* of the span that is open, and the one behind it */
	i32 closed;      /* behind the last span */
	u64 last;
	u64 sum; /* of the bucket next - 1 */
};

static u64 zigzag(i64 n)
{
	return (u64)n << 1 ^ (u64)(n >> 63);
}

static void close_bucket(struct native *n)
{
	if (n->next > n->first)
		proto_varint(&n->count, zigzag((i64)(n->sum - n->last)));
	n->last = n->sum;
	n->sum = 0;
}

static void close_span(struct native *n, u32 field, struct sb *out)
{
	AUTO_SB span = {0};
	close_bucket(n);
	if (n->next == n->first)
		return;
	proto_number(&span, SPAN_GAP, zigzag(n->first - n->closed));
	proto_number(&span, SPAN_LENGTH, (u32)(n->next - n->first));
	proto_bytes(out, field, sb_str(&span));
	n->closed = n->next;
}

static void put_native_bucket(struct native *n, u32 field, i32 i, u64 count, struct sb *out)
{
	if (n->next > n->first && i == n->next - 1) {
		n->sum += count;
		return;
	}
	if (n->next > n->first && i == n->next) {
		close_bucket(n);
		n->next++;
	} else {
		close_span(n, field, out);
		n->first = i;
		n->next = i + 1;
	}
	n->sum = count;
}

static void end_native(struct native *n, u32 field, struct sb *out)
{
	close_span(n, field, out);
	if (n->count.n)
		proto_bytes(out, field + 1, sb_str(&n->count));
	sb_free(&n->count);
}

/* The bucket without end is counted behind the largest bound. */
static void put_native(struct sb *b, const struct metric_family *f, const struct series *s,
		       u32 schema)
{
	static const double zero_width = 0x1p-128;
	const struct metric_shape *shape = &f->shape;
	const struct metric_memory *k = metric_bounds(f);
	u64 zeros = 0;
	struct native below = {0}, above = {0};
	for (u32 p = s->npart; p--;)
		if (!s->part[p].last && s->part[p].up_to < 0 && s->part[p].n > 0)
			put_native_bucket(
				&below, NATIVE_NEGATIVE,
				native_index(metric_scaled(shape, -(double)s->part[p].up_to),
					     schema),
				(u64)s->part[p].n, b);
	end_native(&below, NATIVE_NEGATIVE, b);
	for (u32 p = 0; p < s->npart; p++) {
		const struct part *part = &s->part[p];
		i64 end = part->last ? (k->bound.n ? MAX(k->bound.v[k->bound.n - 1], 1) : 1)
				     : part->up_to;
		if (end == 0)
			zeros += (u64)part->n;
		if (end > 0 && part->n > 0)
			put_native_bucket(&above, NATIVE_POSITIVE,
					  native_index(metric_scaled(shape, (double)end), schema) +
						  part->last,
					  (u64)part->n, b);
	}
	end_native(&above, NATIVE_POSITIVE, b);
	proto_number(b, NATIVE_SCHEMA, zigzag(schema));
	proto_double(b, NATIVE_ZERO_WIDTH, zero_width);
	proto_number(b, NATIVE_ZEROS, zeros);
}

/* ---- series ---- */

static void put_bucket(struct sb *b, double up_to, u64 below)
{
	AUTO_SB bucket = {0};
	proto_number(&bucket, BUCKET_BELOW, below);
	proto_double(&bucket, BUCKET_UP_TO, up_to);
	proto_bytes(b, HISTOGRAM_BUCKET, sb_str(&bucket));
}

/* A map keeps no sum: it is not a number. */
static void put_hist(struct sb *b, const struct metric_family *f, const struct series *s,
		     i32 schema)
{
	const struct metric_memory *k = metric_bounds(f);
	u64 below = 0;
	proto_number(b, SUM_COUNT, (u64)s->count);
	proto_double(b, SUM_VALUE, __builtin_nan(""));
	for (u32 i = 0, p = 0; i < k->bound.n; i++) {
		below += metric_up_to(s, &p, k->bound.v[i]);
		put_bucket(b, metric_scaled(&f->shape, (double)k->bound.v[i]), below);
	}
	put_bucket(b, __builtin_inf(), (u64)s->count);
	if (schema != NOT_NATIVE)
		put_native(b, f, s, (u32)schema);
}

static void put_series(struct sb *family, const struct metric_family *f, const struct series *s,
		       i32 schema)
{
	static const u32 fields[] = {
		[METRIC_NONE] = SERIES_GAUGE,      [METRIC_GAUGE] = SERIES_GAUGE,
		[METRIC_COUNTER] = SERIES_COUNTER, [METRIC_HISTOGRAM] = SERIES_HISTOGRAM,
		[METRIC_SUMMARY] = SERIES_SUMMARY,
	};
	double value = metric_scaled(&f->shape, s->value);
	AUTO_SB b = {0};
	AUTO_SB data = {0};
	put_labels(&b, s->labels);
	if (f->type == METRIC_HISTOGRAM) {
		put_hist(&data, f, s, schema);
	} else if (f->type == METRIC_SUMMARY) {
		proto_number(&data, SUM_COUNT, (u64)s->count);
		proto_double(&data, SUM_VALUE, value);
	} else {
		proto_double(&data, NUMBER_VALUE, value);
	}
	proto_bytes(&b, fields[f->type], sb_str(&data));
	proto_bytes(family, FAMILY_SERIES, sb_str(&b));
}

static void put_family(struct sb *out, const struct metric_family *f, bool native)
{
	enum { COUNTER = 0, GAUGE = 1, SUMMARY = 2, HISTOGRAM = 4 };
	static const u32 types[] = {
		[METRIC_NONE] = GAUGE,      [METRIC_GAUGE] = GAUGE,
		[METRIC_COUNTER] = COUNTER, [METRIC_HISTOGRAM] = HISTOGRAM,
		[METRIC_SUMMARY] = SUMMARY,
	};
	i32 schema = native && f->type == METRIC_HISTOGRAM ? (i32)native_schema(f) : NOT_NATIVE;
	AUTO_SB b = {0};
	AUTO_SB help = {0};
	sb_visible(&help, f->shape.help);
	proto_bytes(&b, FAMILY_NAME, f->shape.name);
	if (help.n)
		proto_bytes(&b, FAMILY_HELP, sb_str(&help));
	proto_number(&b, FAMILY_TYPE, types[f->type]);
	for (u32 i = 0; i < f->series.n; i++)
		put_series(&b, f, &f->series.v[i], schema);
	if (f->shape.unit.n)
		proto_bytes(&b, FAMILY_UNIT, f->shape.unit);
	proto_varint(out, b.n);
	sb_add(out, sb_str(&b));
}

void metrics_proto(const struct metrics *m, bool native, struct sb *out)
{
	for (u32 i = 0; i < m->family.n; i++)
		if (m->family.v[i]->series.n)
			put_family(out, m->family.v[i], native);
}
