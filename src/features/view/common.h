/* common.h - what views share: rows that pass the filter, in order; numbers as text. */
#pragma once
#include "live/view.h"

/* What a column shows. */
enum what {
	W_KEY,
	W_RATE,
	W_TOTAL,
	W_COUNT,
	W_MEAN,
	W_P50,
	W_P90,
	W_P99,
	W_MAX,
	W_SHARE,
	W_PAST,
	W_SHAPE,
	W_TEXT,
	W_LOAD, /* of times: which part of the interval they were */
};

/* For sorting and filters; what has no number is 0. */
double entry_number(const struct live_table *t, const struct live_entry *e, enum what w);
/* Rows of v->t that pass v->filter (of one row that row), largest first by w. */
struct live_entries view_entries(struct view_env *v, enum what w);
/* The histogram of v->row or of all rows, of the whole time and of the last interval. */
void view_hists(struct view_env *v, struct live_blob **all, struct live_blob **step);
/* Of a name of columns; false if it is none. */
bool what_named(struct str name, enum what *ret);
void put_time(struct sb *b, double ns); /* "850ns", "3.41ms" */
/* A percentile of times. */
void put_time_percentile(struct sb *b, const struct live_blob *h, u32 part, u64 unit_ns);
void put_count(struct sb *b,
	       double n); /* a number per second: one digit behind the point below 1000 */
void put_bucket(struct sb *b, const struct bucket *k); /* "[2, 4)" */
/* A percentile: "<8K" (the upper bound of its bucket), "5" where a bucket has one value, or "-". */
void put_percentile(struct sb *b, const struct live_blob *h, u32 part);
/* The first line that is drawn, so that the cursor is seen: sets st->top, st->n and st->page. */
void view_scroll(struct view_env *v, u32 n, u32 page);
enum { PART_P50 = 50000, PART_P90 = 90000, PART_P99 = 99000, PART_MAX = 100000 };
#define PLAIN  ((struct style){INK_PLAIN, 0})
#define INK(i) ((struct style){INK_##i, 0})
