/*
 * btree.h - tables of a database file of SQLite (sqlite.org/fileformat.html), written in one go.
 *
 * Rows of each table come in the order of their row ids. Pages are appended when they are full; the first page of the
 * file, which lists the tables, is written last.
 *
 *	db_begin(); for each row: row_begin(), row_int() ..., tree_add(); db_table() for each tree; db_end();
 */
#pragma once
#include "base/vec.h"
#include "export/export.h"

enum { DB_PAGE = 4096 };

/* Values of a row: their types and their bytes. */
struct db_row {
	struct sb types, body, record;
};
void row_begin(struct db_row *r);
void row_null(struct db_row *r);
void row_int(struct db_row *r, i64 n);
void row_u64(struct db_row *r, u64 n); /* as text, if it is no number of SQLite */
void row_float(struct db_row *r, double d);
void row_bytes(struct db_row *r, struct str s);
void row_text(struct db_row *r, struct str s); /* bytes, if it is not UTF-8 */
void row_free(struct db_row *r);

struct db_page {
	u32 number;
	u64 last; /* the largest row id in it and below it */
};
struct db_tree {
	u8 page[DB_PAGE];
	u32 ncell, top; /* the cells are from top on */
	u64 last;
	VEC(struct db_page) leaf;
};
struct db {
	struct export_out *out;
	u32 npage;
	struct db_tree schema;
	u64 nschema;
	struct db_row row;
};
void db_begin(struct db *d, struct export_out *out);
void tree_init(struct db_tree *t);
void tree_add(struct db *d, struct db_tree *t, u64 id, struct db_row *r);
/* The table is complete; frees it. sql is what creates it. */
void db_table(struct db *d, struct db_tree *t, struct str name, struct str sql);
void db_view(struct db *d, struct str name, struct str sql);
void db_end(struct db *d);
