/*
 * feed.h - where records and the contents of maps come from.
 *
 * Today the kernel: kernel.c. A file or a socket would be another struct of this kind; reader.h and
 * record.c need not know.
 */
#pragma once
#include "core/unit.h"

struct session;
struct snap;
struct feed {
	int (*fd)(const struct session *s); /* readable when there are records; -1: there is none */
	u64 (*consume)(struct session *s, u64 max); /* record_take() for each; how many */
	bool (*wait)(const struct session *s);      /* one is there that is not finished */
	/* All elements of a map, as one copy each. Rows are heap: snap_free(). */
	struct err *(*snapshot)(struct session *s, const struct map *m, struct snap *ret)MUST_USE;
};
extern const struct feed feed_kernel;
