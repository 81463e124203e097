/*
 * query_file.h - inside query: a file, its schemas as the compiler sees them, and its rows as programs
 * see them.
 */
#pragma once
#include "core/recorded.h"
#include "core/unit.h"
#include "rec/read.h"

struct query_prog {
	int prog; /* in the engine */
	const struct prog *of;
	u32 point; /* id */
};
/* A schema, which is a probe for scripts. */
struct query_schema {
	const struct rec_schema *schema;
	struct recorded_probe *probe;
	const struct rec_column **from; /* by column of .probe: where it is in the file */
	struct query_prog *prog;
	u32 nprog;
	u8 *row; /* probe->size bytes: the context of programs */
};
struct query_file {
	struct rec_file *file;
	struct query_schema *schema; /* by id */
	u32 nschema;
	bool *want; /* by id of schemas */
	i64 ahead;  /* what is added to its times for nsecs */
	struct rec_row row;
	bool has_row;
};

/* Add the file's schemas to *probes, with memory from a. Columns that are too large are left out. */
struct err *query_file_read(struct arena *a, struct query_file *f,
			    struct recorded *probes) MUST_USE;
/* The columns of f->row that programs use, in the memory of its schema. */
void query_row_fill(const struct query_file *f, struct query_schema *s);
