/*
 * answer.h - what a script printed, in a file: answers of several hosts become one.
 *
 * An answer is a recording (rec/) whose blocks contain what was printed instead of events: each
 * printing of a map with all its rows, before values are decoded, rows of tables, and texts. The
 * calls below write one; merge.h reads several.
 */
#pragma once
#include "base/bytes.h"
#include "base/vec.h"
#include "core/sink.h"
#include "rec/write.h"

struct columns;
struct rec_file;

enum {
	ANSWER_MAX_DEPTH = 16,
	ANSWER_MAX_COLUMNS = 64,
	ANSWER_KEPT_ROWS = 16 << 20, /* bytes of a map's rows that can be referred to by AGAIN */
};

/* Rows of the last map that had some, as texts. */
struct answer_rows {
	struct sb bytes;
	u32 n;
	bool cut; /* there were more */
};
/* One that is being written. */
struct answer_out {
	struct rec_writer *w;
	struct sink_env env;
	VEC(const struct columns *) table; /* whose columns are in the file */
	struct answer_rows rows;
	u32 generation; /* of the names in them */
	size_t same;    /* bytes of them that the map being written has, too */
	bool matches;   /* it has no other rows so far; they are not written yet */
};
/* The machine does not have the probe. */
void answer_put_lack(struct answer_out *o, struct str probe);
/* Appends an item; of what an answer does not contain nothing is written. */
struct err *answer_put(struct answer_out *o, const struct item *it) MUST_USE;
void answer_out_free(struct answer_out *o); /* not the writer */
void answer_keep_row(struct answer_rows *r, struct str row, bool first);

/* ---- value.c ---- */
/* Stacks become names of the writer. */
void answer_put_value(struct rec_writer *w, struct sb *out, const struct value *v);
void answer_put_words(struct sb *b, const u64 *w, u32 n);
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
/* What outputs print as it is: it can neither steer a terminal nor begin a line. */
struct str answer_take_name(struct answer_in *in);
/* Zeroed room for n things; NULL if values have taken too much. */
void *answer_room(struct answer_in *in, size_t n, size_t size);

/* ---- columns.c ---- */
void answer_put_columns(struct sb *out, const struct columns *t);
/* False if the bytes make no sense. */
bool answer_take_columns(struct answer_in *in, struct columns *ret);
