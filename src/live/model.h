/*
 * model.h - what a run's maps were at each reading: rows, values, and how they changed.
 *
 *	model_init(&m, &limits);
 *	model_begin(&m, &reading); model_map(&m, map, &item, false) for each map; model_end(&m);
 *	model_collect(&m, table, &look, &arena) gives rows to draw
 *	model_deinit(&m);
 *
 * The model knows no terminal and no run. Readings are kept for .history_ns, in at most .memory bytes; the
 * oldest go first. What a row is called and its frames are kept once, as long as a reading has the row.
 *
 * Values to which a script only adds (count, sum, histograms) are totals since the start: what clear()
 * or delete() took away is added again (live_row.carry), so a difference of two readings is what
 * happened between them.
 */
#pragma once
#include "base/vec.h"
#include "core/watch.h"

enum live_kind {
	LIVE_EMPTY, /* no row was seen yet */
	LIVE_NUMBER,
	LIVE_STATS,
	LIVE_HIST,
	LIVE_TEXT, /* all else, as print() shows it */
};

/* Buckets or a text, shared by the readings in which they are the same. */
struct live_blob {
	u32 refs, n; /* buckets, or bytes of the text */
	union {
		struct bucket hist[1];
		char text[1];
	};
};

struct live_value {
	i64 n;     /* number; of stats the total */
	u64 count; /* of stats, and observations of a histogram */
	struct live_blob *blob;
};

struct live_row {
	struct str id;     /* what tells the key from others: value_key_identity() */
	struct str key;    /* visible text, on one line; "" of a map without key */
	struct str *frame; /* of a key with stacks, the outermost first, behind its other parts */
	u32 nframe;
	u32 index;               /* in live_table.row */
	u32 refs;                /* readings that have it */
	u64 seen;                /* the last reading that had it, by live_tick.serial */
	struct live_value last;  /* as read then, without .carry */
	struct live_value carry; /* what clear() and delete() took away */
};

struct live_cell {
	struct live_row *row;
	struct live_value v;
};

/* A table at one reading: cells by row.index. */
struct live_shot {
	u32 n;
	struct live_cell cell[];
};

struct live_table {
	struct str name; /* "@x" */
	u32 text;        /* of which script: the number of its text */
	const struct map *map;
	enum live_kind kind;
	u64 unit_ns; /* values are times in this unit; 0: they are not, or it is not known */
	bool adds, scalar, stacks;
	bool plain; /* no aggregation and no counter: most likely the script's own notes */
	struct live_row **row; /* by index; NULL where none is */
	u32 nrow, cap;
	VEC(u32) hole;             /* indexes without a row */
	u32 *slot, nslot, nused;   /* hash of keys: index + 1, also of rows that went away */
	u64 dropped;               /* rows that went away because there were too many */
	VEC(struct live_cell) now; /* of the reading that is being made */
};

enum { LIVE_TEXTS = 8 }; /* scripts that are shown at once */

struct live_tick {
	u32 refs;
	u64 serial; /* 1, 2, ... */
	struct watch_reading at;
	u64 lines[LIVE_TEXTS]; /* of each text, until then */
	u64 lost;              /* live_model.lost, then */
	size_t bytes;
	u32 nshot;
	struct live_shot *shot[]; /* by table */
};

struct live_limits {
	u64 history_ns;
	size_t memory;
};

struct live_model {
	struct live_limits limits;
	struct live_table **table;
	u32 ntable;
	struct live_tick **tick; /* the oldest first */
	u32 ntick, captick;
	u64 serial;    /* of the last reading */
	u64 forgotten; /* readings that are not kept any more */
	size_t bytes;
	struct live_tick *base, *mark; /* kept whatever their age; NULL if there are none */
	struct watch_reading reading;  /* that is being made */
	bool reading_on;
	u64 lines[LIVE_TEXTS]; /* by model_note() */
	u64 lost;              /* events and messages so far, for the next reading */
	u32 text;              /* of which script the next maps are */
	struct str units;      /* the setting "unit" of this script; stays as long as the model */
};

/* Which reading is shown, and what it is compared with. */
struct live_look {
	const struct live_tick *at;   /* NULL: there is none yet */
	const struct live_tick *prev; /* the one before; NULL: rates are not known */
	const struct live_tick *base; /* totals are since then; NULL: since the start */
};

/* A row as it is shown. */
struct live_entry {
	struct live_row *row;
	struct live_value all;  /* value, or what was added since look.base */
	struct live_value step; /* what was added since look.prev; .blob NULL: nothing */
	double rate; /* per second; of LIVE_NUMBER that is not added to: the change per second */
	bool known;  /* .rate is known */
};
struct live_entries {
	struct live_entry *v;
	u32 n;
};

void model_init(struct live_model *m, const struct live_limits *l);
void model_deinit(struct live_model *m);

void model_begin(struct live_model *m, const struct watch_reading *t);
void model_map(struct live_model *m, const struct map *map, const struct item *it, bool clearing);
void model_end(struct live_model *m);
/* Lines of a text so far, for the next reading. */
void model_note(struct live_model *m, u32 text, u64 lines);

/* The reading i steps before the last; the oldest if there are not so many. NULL if there is none. */
const struct live_tick *model_back(const struct live_model *m, u32 i);
/* How many steps before the last the first reading not older than wall_ns is. */
u32 model_steps_to(const struct live_model *m, u64 wall_ns);
/* Rows are compared with the last reading from now on; NULL clears. which is &m->base or &m->mark. */
void model_pin(struct live_model *m, struct live_tick **which, const struct live_tick *t);

/* Buckets of the entries are in a, or the model's. */
struct live_entries model_collect(const struct live_model *m, const struct live_table *t,
				  const struct live_look *look, struct arena *a);
/* What was added between two readings, per second; a row that was not there before began at 0. False if
 * it is not known. With row NULL: of all rows. */
bool model_rate(const struct live_model *m, const struct live_table *t, const struct live_row *row,
		u32 back, double *ret);

/* ---- histograms ---- */
/* The sum of both, each of which may be NULL, in arena memory. */
struct live_blob *model_hist_plus(struct arena *arena, const struct live_blob *a,
				  const struct live_blob *b);
u64 model_hist_count(const struct live_blob *h);
/* As a value for value_percentile(). */
struct value model_hist_value(const struct live_blob *h);
