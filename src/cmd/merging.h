/*
 * merging.h - what merge and fleet share: the output of a merged answer.
 *
 *	merging_open(m)      the output, before anything else
 *	merging_confine(m)   rights are given up: nobody vouches for what is read
 *	(m->merge is filled: answer/merge.h)
 *	merging_put(m)
 *	merging_close(m, e)  returns e, or what went wrong at the end
 *	merging_free(m)
 */
#pragma once
#include "answer/merge.h"
#include "cmd/cmd.h"

struct merging {
	const struct run_opts *o;
	struct arena a;
	struct output out;
	struct merge *merge;
	const struct item *last; /* put behind the answer; NULL: nothing */
	void *sink;              /* state of the output */
};
struct err *merging_open(struct merging *m) MUST_USE;
struct err *merging_confine(struct merging *m) MUST_USE;
/* Without answers only .last is put. */
struct err *merging_put(struct merging *m) MUST_USE;
struct err *merging_close(struct merging *m, struct err *e) MUST_USE;
void merging_free(struct merging *m);
void merging_allow_files(u32 n); /* that many descriptors, and a few of our own */
