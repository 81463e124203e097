/* row.h - rows of a live_table by their keys. */
#pragma once
#include "live/model.h"

struct item;

/* The row of a key, which is made if there is none, with a text of it->put_key; key NULL: of a map without key. */
struct live_row *row_get(struct live_table *t, const struct value *key, const struct item *it);
/* One reading less has it; without any, it is freed, unless it carries what was added to it. */
void row_unref(struct live_table *t, struct live_row *row);
void row_free_all(struct live_table *t);
/* Visible text in which line breaks and runs of blanks are one blank. */
void row_one_line(struct sb *out, struct str text);
