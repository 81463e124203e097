/* item.h - from items and values of the runtime to those of <sonde/sonde.h>. */
#pragma once
#include "core/sink.h"
#include <sonde/sonde.h>

struct diags;

/* Behind sonde_item.internal. */
struct item_rows {
	const struct item *item;
	struct arena *arena;
	struct sonde_value key, value; /* the row that was requested last */
};

/* All zeros at first; the owner frees the arenas. */
struct item_memory {
	struct arena item; /* of the last item */
	struct arena row;  /* of its last row */
};

/* False if such items are not for callers of the library. ds has the texts of the script. The memory is reused by
 * the next call. */
bool item_convert(struct item_memory *m, const struct item *it, const struct diags *ds,
		  struct sonde_item *ret);
