/*
 * answer.h - what a script printed, in a file: answers of several hosts become one.
 *
 * An answer is a recording (rec/) whose blocks contain what was printed instead of events: each
 * printing of a map with all its rows, before values are decoded, and texts. The calls below write
 * one; merge.h reads several.
 */
#pragma once
#include "base/bytes.h"
#include "core/sink.h"
#include "rec/write.h"

struct rec_file;

enum { ANSWER_MAX_DEPTH = 16 };

/* Appends an item; what it does not contain (I_ROW and what is for people alone) is refused. */
struct err *answer_put(struct rec_writer *w, const struct sink_env *env,
		       const struct item *it) MUST_USE;

/* ---- value.c ---- */
/* Stacks become names of the writer. */
void answer_put_value(struct rec_writer *w, struct sb *out, const struct value *v);
/* Where a value is read from, and the memory that it may have. */
struct answer_in {
	struct rec_file *f;
	struct bytes b;
	struct arena *a;
	size_t room; /* bytes that values may still take; less after each */
};
/* False if the bytes make no sense; in->b.bad is then set. */
bool answer_take_value(struct answer_in *in, struct value *ret);
struct str answer_take_text(struct answer_in *in); /* copied */
