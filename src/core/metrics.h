/*
 * metrics.h - maps and numbers as metrics, and their text or messages as Prometheus reads them.
 *
 *	struct metrics m = {0};
 *	metrics_map(&m, &shape, item);                an I_MAP, as its shape says
 *	metrics_set(&m, &shape, labels, 1);           one number
 *	metrics_text(&m, METRICS_TEXT, &sb);
 *	metrics_free(&m);
 *
 * A family has a name and a type; its series differ by their labels, and no two have the same ones: of
 * keys that are shown alike, what was added up is added, of other values the largest stays. All
 * histograms of a family have the same bounds, so that their buckets can be added up by whoever reads
 * them.
 */
#pragma once
#include "base/tab.h"
#include "base/vec.h"
#include "core/sink.h"

enum metric_type { METRIC_NONE, METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM, METRIC_SUMMARY };
enum metrics_format {
	METRICS_TEXT,  /* text format 0.0.4 */
	METRICS_OPEN,  /* OpenMetrics 1.0 */
	METRICS_PROTO, /* messages, not text: metrics_proto() */
	METRICS_FORMATS
};

/* Outlives a reading: which series a map has been given, and the bounds of its histograms. */
struct metric_memory {
	struct arena arena;
	struct tab series; /* by their labels */
	VEC(i64) bound;    /* ascending: the last value of each bucket */
};
void metric_memory_free(struct metric_memory *k);

/* How a family is told. Texts outlive the metrics. */
struct metric_shape {
	struct str name; /* whole and valid: metric_name() */
	struct str help, unit;
	struct str labels;     /* names of the parts of the key, "disk,op"; "": names of its own */
	struct str first;      /* labels that each series has, as text: 'script="x"' */
	double divide;         /* values are divided by it; 0: they are not */
	double times;          /* or multiplied; 0: they are not */
	u64 since_ns;          /* wall clock: when sums began; 0: with the service */
	enum metric_type type; /* of plain numbers, and of aggregations that are one number */
	u32 most;              /* series; those of other keys are one, "__other__". 0: no limit */
	struct metric_memory *memory; /* NULL, if most is 0: none */
	u64 *other;                   /* keys without a series of their own; may be NULL */
};

struct metrics {
	struct arena arena;
	VEC(struct metric_family *) family;
};

/* Letters, digits and '_' of a text, as names are made of; does not begin with a digit. */
void metric_name(struct sb *out, struct str text);
/* Put NAME="TEXT" behind what is there, with a comma; any text. Names that are taken get "key_" in front. */
void metric_label(struct sb *out, struct str name, struct str text);

/* Rows that are no numbers (texts, series) are left out. What the map had before is replaced. */
void metrics_map(struct metrics *m, const struct metric_shape *s, const struct item *it);
void metrics_set(struct metrics *m, const struct metric_shape *s, struct str labels, double value);
/* The same; of a series that is there the larger value stays. */
void metrics_raise(struct metrics *m, const struct metric_shape *s, struct str labels,
		   double value);
/* METRICS_TEXT, METRICS_OPEN */
void metrics_text(const struct metrics *m, enum metrics_format format, struct sb *out);
/* The same as messages MetricFamily of Prometheus's protocol, each behind its length. native: histograms have native
 * buckets, too; then the largest value of a bucket of the script says in which one it is counted. */
void metrics_proto(const struct metrics *m, bool native, struct sb *out);
/* The same as a message ExportMetricsServiceRequest of OpenTelemetry's protocol. */
struct otlp_facts {
	struct str host, version; /* of sonde */
	u64 now_ns, since_ns;     /* wall clock; since: of sums whose shape does not say */
};
void metrics_otlp(const struct metrics *m, const struct otlp_facts *facts, struct sb *out);
u32 metrics_points(const struct metrics *m); /* series, which are its data points */
void metrics_free(struct metrics *m);
