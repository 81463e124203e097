/* family.h - inside metrics: families and their series, for what writes them. */
#pragma once
#include "core/metrics.h"

/* A bucket. */
struct part {
	i64 up_to;
	bool last; /* without end */
	double n;
};
struct series {
	struct str labels; /* 'comm="cat",cpu="1"' */
	double value;      /* of a summary: its sum */
	double count;      /* of a summary, a histogram */
	struct part *part; /* of a histogram: buckets, ascending */
	u32 npart;
};
struct metric_family {
	struct metric_shape shape;
	enum metric_type type;
	VEC(struct series) series;
	struct metric_memory own; /* bounds, if the shape has no memory */
};

static inline double metric_scaled(const struct metric_shape *s, double n)
{
	n = s->divide != 0 ? n / s->divide : n;
	return s->times != 0 ? n * s->times : n;
}
static inline const struct metric_memory *metric_bounds(const struct metric_family *f)
{
	return f->shape.memory ? f->shape.memory : &f->own;
}

/* How many values are in buckets from part *p on that end at up_to or before; *p is then the part behind them. */
static inline u64 metric_up_to(const struct series *s, u32 *p, i64 up_to)
{
	u64 n = 0;
	for (; *p < s->npart && !s->part[*p].last && s->part[*p].up_to <= up_to; ++*p)
		n += (u64)s->part[*p].n;
	return n;
}

/* The next label of labels as metric_label() writes them, which is cut off; to .text, which is cleared, its text as it
 * was. False: there is none. */
bool metric_next_label(struct str *labels, struct str *name, struct sb *text);
