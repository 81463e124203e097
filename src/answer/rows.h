/*
 * rows.h - inside merge: tables that a script declares, rows of emit(), and tables of show().
 *
 * All memory is of the arena that the calls are given, but for that of declared_free().
 */
#pragma once
#include "answer/table.h"
#include "core/columns.h"
#include "core/shown.h"

/* A table, as the first host that has it declares it. */
struct declared {
	struct columns is; /* as the script has it */
	/* With the host in front, its label, or both: see declared_prepare() */
	struct columns hosted, labelled, both;
	struct str bytes; /* of two hosts they are the same */
	struct str first; /* that host */
	bool constant;    /* all rows are the same, on all hosts: a heading */
};
/* All of them. */
struct tables {
	struct tab named;
	bool hosts; /* rows of emit() have a host */
	u32 width;  /* of the longest name of a host */
	/* The label that is the first column, and how long its longest value is. */
	struct str by;
	u32 by_width;
};
/* That of one host. */
struct host_table {
	struct declared *of;
	bool differs; /* its columns are others than those of the first host */
	u64 left_out; /* rows */
};
/* A row of emit(). */
struct emitted {
	const struct declared *of;
	const struct value *cell; /* one for each column */
	struct str host, mark;    /* host: of an answer that was merged; "" otherwise */
	u64 report, part_ns;
};
/* A table of show(): the maps that it is made of. */
struct report {
	const struct declared *of;
	struct str mark, screen, left_out;
	u64 number, part_ns;
	bool hosted;    /* the first part of keys is a host already */
	bool apart;     /* a map has values that are not merged */
	bool functions; /* show_functions() */
	bool hosts;     /* as it is printed: the first part of keys is a host, or its label: */
	bool both;      /* its label, and the host behind it */
	u32 nmap;
	struct table *map[SHOWN_MAX_MAPS];
};

/* Take an ITEM_COLUMNS, an ITEM_CELLS, an ITEM_SHOW. False if it makes no sense. The id is taken already. */
bool declared_take(struct tables *t, struct answer_in *in, struct host_table *ret);
bool emitted_take(struct tables *t, struct answer_in *in, const struct declared *of,
		  struct emitted *ret);
bool report_take(struct answer_in *in, const struct declared *of, struct report *ret);

/* Another host has the same: the first line of a screen stays if it is the same; of it there is the time otherwise. */
void report_join(struct report *r, const struct report *other);
/* Before anything is put: no host has a longer name. */
void declared_prepare(struct tables *t, struct arena *a);
void declared_free(struct tables *t);

/* Where they are put, and whether a shorter last report was marked as such. */
struct rows_to {
	const struct sink *sink;
	void *self;
	bool told;
};
/* host, label: of the answer; label: "" if none is shown. */
struct err *emitted_put(struct rows_to *to, const struct tables *t, const struct emitted *row,
			struct str host, struct str label, u64 ns) MUST_USE;
struct err *report_put_merged(struct rows_to *to, const struct tables *t, struct report *r,
			      u64 ns) MUST_USE;
