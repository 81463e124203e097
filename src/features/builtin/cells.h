/* cells.h - values of tables as they are shown: see cells.c. */
#pragma once
#include "core/value.h"

struct column;
struct reporter;
struct schema;

/* A number with its name. */
struct value value_named(struct reporter *r, struct str text, u64 n);
/* What only the machine that is traced can put into words. */
void column_resolve(struct reporter *r, const struct column *c, struct value *v);
/* Of show(): the parts of a key that have a column, as the column shows them. */
void table_key_text(struct reporter *r, const struct schema *sc, const struct value *key,
		    struct sb *out);
/* Of the first map's values: of nanoseconds that a column shows in another unit, or by the name of a histogram. */
u64 table_unit_ns(const struct schema *sc);
