/*
 * sink.h - where results go: terminal, JSON, flame graph, file, browser, hub.
 *
 * One entry point, few kinds of item, values already decoded: a new type costs
 * no sink, a new sink costs no type. Results go to the sink's stream, remarks
 * (lost events, warnings) to its second one.
 */
#pragma once
#include "base/err.h"
#include "core/record.h"
#include "core/value.h"

enum item_kind {
	I_TEXT,  /* printf, time, cat, join, system: name says which; str is the text */
	I_VALUE, /* print(expr): val[0] */
	I_MAP, /* print(@x) and maps at the end: name, rows of key (NULL: scalar) and val; sorted */
	I_STATUS, /* "Attached 3 probes": str; n is the number */
	I_ERROR,  /* errorf, warnf, run-time warnings: name is the JSON type, str the text, loc the
		     place */
	I_LOST,   /* data quality: name is what ("lost_events"), n how many, str the whole sentence
		     with its hint */
	I_END,    /* before the maps printed at exit */
};

struct item {
	enum item_kind kind : 8;
	bool warn; /* I_ERROR: a warning, not an error */
	u64 ts;
	struct str name, str;
	struct str who; /* I_LOST: the map or probe it is about, or "" */
	struct loc loc; /* I_ERROR */
	const struct value *key, *val;
	enum type_kind map_kind; /* I_MAP: T_HIST, T_STATS ... or the value's kind */
	u64 n;                   /* rows of an I_MAP */
	/* Rows are made one by one, because a map may have very many: puts row i into key[0] and
	 * val[0]. NULL: key and val hold all. */
	void (*make_row)(void *rows, u64 i);
	void *rows;
};
/* A row of an I_MAP; stays until the next is asked for. */
struct item_row {
	const struct value *key, *val; /* key NULL: scalar */
};
static inline struct item_row item_row(const struct item *it, u64 i)
{
	u64 at = it->make_row ? 0 : i;
	if (it->make_row)
		it->make_row(it->rows, i);
	return (struct item_row){it->key ? &it->key[at] : NULL, &it->val[at]};
}

struct sink_env {
	int out, err;              /* descriptors */
	char buffering;            /* 'l' line, 'f' full, 'n' none */
	const struct diags *diags; /* to show places */
	struct str trailer;        /* of cut strings */
	bool quiet;                /* no I_STATUS */
	bool old;                  /* text as in 0.17 */
};
struct sink {
	const char *name, *ext, *doc; /* "flame", "svg", "flame graph of counted stacks" */
	size_t size;                  /* of self */
	struct err *(*open)(void *self, const struct sink_env *env);
	struct err *(*put)(void *self, const struct item *it);
	struct err *(*flush)(void *self); /* after each batch of events */
	struct err *(*close)(void *self); /* also when put failed: then says again why */
	/* Control bytes of traced strings are to be escaped (plain text for a terminal). NULL:
	 * never. */
	bool (*escape)(const void *self);
};
extern const struct sink *const sinks[]; /* out/registry.c, ended by NULL */
