/*
 * shown.h - a table of show(): maps with the same keys become rows, which are sorted, summed up and put.
 *
 *	struct shown h = {.t = columns, .places = sink->files, ...};
 *	shown_next_map(&h, agg)		for each map, then
 *	shown_take(&h, item)		its rows: an I_MAP, joined as .places says
 *	shown_put(&h, ...)		or shown_put_functions(), or shown_put_map()
 *	shown_free(&h)
 *
 * The maps are those of a running script, or those of several hosts that were merged.
 */
#pragma once
#include "base/arena.h"
#include "base/tab.h"
#include "base/vec.h"
#include "core/agg.h"
#include "core/columns.h"
#include "core/sink.h"

/* More: columns of the host, and of its label. */
enum { SHOWN_MAX_CELLS = 64, SHOWN_MORE = 2, SHOWN_MAX_MAPS = 6 };

/* How the values of all rows become one. */
enum shown_sum { SUM_NONE, SUM_ADD, SUM_LEAST, SUM_MOST, SUM_MEAN };

struct shown {
	/* Set by the caller. */
	const struct columns *t;
	bool places; /* stacks are told apart by the files of their frames, too */
	u32 ncell;   /* cells of a row: columns that are declared */
	u64 ts, report, part_ns;
	struct str head; /* what is above a screen: the time and the load */
	struct str mark; /* what is above the rows, or ""; of a screen, behind the line above it */
	void *arg;
	void (*put)(void *arg, const struct item *it);
	/* Puts values into words that only the traced machine knows; NULL: they are words already. */
	void (*resolve)(void *arg, const struct column *c, struct value *v);

	struct arena a;
	struct tab index;         /* value_key_identity() -> row */
	VEC(struct value *) rows; /* the key's parts, then the values of the maps */
	u32 nmap, at, next;       /* maps so far; values of the maps before this one, and with it */
	u32 nkey;                 /* columns that are the key */
	bool aggs;                /* the first map has aggregations */
	bool adds;                /* this map only adds to rows that there are */
	struct item first;        /* of the first map */
	enum shown_sum sum[SHOWN_MAX_MAPS * 3]; /* of each value of the maps */
};

void shown_next_map(struct shown *h, const struct agg *agg);
void shown_take(struct shown *h, const struct item *map);
void shown_sort(struct shown *h);
void shown_put(struct shown *h);
/* A table of functions that stacks in the keys contain; left_out as in byfunction.h. */
void shown_put_functions(struct shown *h, struct str left_out);
/* For pictures: an I_MAP whose key are the columns that are shown, stacks that are values, too; its values are those of
 * the first map. */
void shown_put_map(struct shown *h);
void shown_free(struct shown *h);
