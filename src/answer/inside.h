/*
 * inside.h - inside merge: what merge.c reads of answers, and put.c puts to an output.
 *
 * Rows of maps are in tables, which hosts share. Everything else is an entry of its host.
 */
#pragma once
#include "answer/kept.h"
#include "answer/merge.h"
#include "answer/rows.h"

/* What several hosts share: a printing of a map, a table of show(), a text that all print. */
struct shared {
	struct table *table;   /* NULL if this is something else */
	struct report *report; /* the same */
	u32 hosts, left;       /* hosts that have it; hosts whose entry was not reached yet */
};
struct entry {
	enum item_kind kind : 8;
	bool warn, said, line, own;
	u64 ns; /* wall clock; never before the entry before it */
	struct str name, str;
	const struct value *val;
	u64 n;
	const struct emitted *row; /* I_ROW */
	const struct declared *of; /* I_HEAD, I_END: or NULL */
	struct shared *shared;     /* NULL if no other host has this entry */
};
struct loss_entry {
	enum loss loss;
	u64 n;
	struct str who, text;
};
struct host {
	struct rec_file *file;
	struct str label, path, boot; /* label: how outputs name it */
	struct labels labels;
	bool labelled; /* keys in the file begin with the label that is asked for */
	VEC(struct entry) entry;
	VEC(struct loss_entry) loss;
	u32 next;            /* entry to be put */
	struct tab times;    /* what was printed -> how often, so far */
	struct table *table; /* whose rows follow */
	struct table_head head;
	struct answer_rows rows;         /* of the last map that had some */
	bool began;                      /* rows of the last PRINT are among them */
	VEC(struct host_table) declared; /* by their ids in the file, from 1 */
	struct report *report;           /* of whose maps so many follow: */
	u32 left;
	struct host_table *shows; /* the table of that */
	bool skips;               /* what follows of it is left out */
	bool ran;                 /* it came to its end */
	struct merge_run run;     /* without lacks: */
	VEC(struct str) lack;
	u32 rank, index;   /* index: in merge.host, when all are known */
	u32 nth;           /* in its file, from 0 */
	struct host *more; /* the next one in the same file, or NULL */
	bool begun;        /* its ITEM_HOST was read */
	bool odd;          /* some of it is left out, which the host that comes first decides */
	struct kept kept;  /* of a bundle */
};
struct merge {
	struct merge_spec spec;
	const struct sink *sink;
	void *self;
	struct show results, remarks;
	struct arena a;
	size_t room;
	VEC(struct host *) host;
	struct tab shared;
	VEC(struct table *) table;
	struct tables tables;
	struct rows_to to;
	struct str script, arguments; /* of all */
	struct str what;              /* of the first */
	struct str by;                /* as merge_by() returns it */
	bool partial;
	bool same;  /* all answers are of one machine */
	bool named; /* hosts were named by the caller */
	u32 failed; /* the host that could not be read */
};

static inline bool several(const struct merge *m)
{
	return m->host.n > 1;
}
