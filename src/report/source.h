/*
 * source.h - where records, the elements of maps and names for addresses come from.
 *
 * source_here (run/here.h) is the kernel of this machine, in which the unit is loaded. Nothing in
 * report/ calls the kernel for records or maps; nor do the readers of maps in features/store/. Every
 * callback receives reporter.from. None may be NULL.
 */
#pragma once
#include "core/engine.h"
#include "core/unit.h"

struct names;

struct event_source {
	const struct names *names; /* receives reporter.from, too */
	/* In nsecs of the traced machine: how far the run has come. */
	u64 (*now)(const void *from);

	/* ---- records ---- */
	/* A descriptor that is readable when there are records. -1 if there never are any. */
	int (*fd)(const void *from);
	/* Call record_take() for at most about max records. Return the number of records. */
	u64 (*consume)(void *from, u64 max);
	/* True if there is a record that its program has not finished yet. */
	bool (*wait)(const void *from);

	/* ---- maps ---- */
	/* False if the map was not made, because nothing needs it. All other callbacks for maps are
	 * for maps that were made. */
	bool (*has)(const void *from, const struct map *m);
	/* Memory that programs write to. NULL unless the map is kept in such memory. */
	void *(*mem)(const void *from, const struct map *m);
	/* One element; val has room for the copies of all CPUs. ENOENT if there is no such key. */
	struct err *(*get)(void *from, const struct map *m, const void *key, void *val);
	struct err *(*put)(void *from, const struct map *m, const void *key, const void *val);
	struct err *(*del)(void *from, const struct map *m, const void *key);
	/* All elements; val_size is the number of bytes of a value with the copies of all CPUs. */
	struct err *(*all)(void *from, const struct map *m, u32 val_size, struct elements *ret);
};
