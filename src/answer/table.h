/*
 * table.h - inside merge: one printing of a map, with the rows of all hosts.
 *
 * All memory is of the arena that the calls are given, but for that of table_free().
 */
#pragma once
#include "answer/answer.h"
#include "answer/labels.h"
#include "base/tab.h"
#include "base/vec.h"
#include "core/agg.h"

/* What a file says of a printing. */
struct table_head {
	struct str name;
	struct type type;      /* of an aggregation */
	const struct agg *agg; /* NULL if the values are plain */
	bool keyed, sign, counter, number, at_exit;
	bool hosted;  /* the first part of the key is a host */
	bool present; /* of one host; a table's: of one of them */
	u64 ns;       /* wall clock; 0: not known */
	u64 top, div;
	struct str percentiles;
	u32 epoch, words; /* words of a row */
};
struct table_row {
	struct value key, plain;
	struct str order;
	u64 *words; /* of an aggregation or a counter; NULL if .plain is the value */
	u32 host;   /* the first one that has it: whose key is shown */
};
struct table {
	struct table_head first; /* as the first host has it */
	struct table_head head;  /* as it is printed */
	bool apart;              /* values are not merged */
	bool hosts;              /* the host is the first key, or its label: */
	bool both;               /* its label, and the host behind it */
	VEC(struct table_row *) row;
	u32 written;      /* rows that table_write_rows() has written */
	struct tab index; /* what tells keys apart -> row */
};

/* Takes an ITEM_PRINT. False if it makes no sense. */
bool table_take_head(struct answer_in *in, struct table_head *ret);
/* NULL, or in which respect two printings of a map differ. */
const char *table_differs(const struct table_head *a, const struct table_head *b);

struct table_host {
	struct str name; /* "": the host is no key */
	bool same;       /* keys of all hosts are of one machine: their bytes tell them apart */
	bool split;      /* rows of several hosts stay apart, although the host is no key */
	u32 index;
	/* Whose values are the first key instead; NULL: the host is. .hosted: so they are in the file. */
	const struct labels *labels;
	bool labelled;
};
/* Takes an ITEM_ROW of a host. */
bool table_take_row(struct table *t, struct answer_in *in, const struct table_head *head,
		    const struct table_host *host);
/* To a sink, as it wants rows that are shown alike; the rows are sorted then. */
struct err *table_put(struct table *t, const struct sink *sink, void *self, u64 ns) MUST_USE;
/* The items of the rows that the host has first. Calls are in the order of hosts, which were read in that order. */
struct rec_writer;
void table_write_rows(struct table *t, u32 host, struct rec_writer *w);
void table_free(struct table *t);
