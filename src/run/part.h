/*
 * part.h - services of a run: each has its own state, and is called at certain moments, in the order
 * of the table. So a new service is one file and one row (part.c).
 */
#pragma once
#include "base/err.h"

struct session;
struct part {
	const char *name;
	bool anywhere; /* it works with every engine; else only with the kernel */
	size_t size;   /* bytes of its state, which is all zeros before the first call */
	/*
	 * Every callback may be NULL, and receives the state as self. In the order in
	 * which they are called:
	 */
	/* Maps are made, programs are not loaded yet. Not called with --dry-run. */
	void (*early)(struct session *s, void *self);
	/* Nothing is attached yet. An error ends the run. */
	struct err *(*open)(struct session *s, void *self);
	/* Begin programs have run. Not called with --dry-run. */
	void (*ready)(struct session *s, void *self);
	/* Between batches of records, at least every TICK_MS. */
	void (*tick)(struct session *s, void *self);
	/* The links are about to be undone, and with them what they count. */
	void (*detach)(struct session *s, void *self);
	/* The end: report what was lost. */
	void (*report)(struct session *s, void *self);
	/* Free what self holds, whatever was called before. */
	void (*close)(void *self);
};

enum part_id {
	PART_SCOPE,
	PART_NOTES,
	PART_UNWIND,
	PART_LOSS,
	PART_COST,
	PART_MANAGER,
	PART_WATCH,
	PART_DEMAND,
	PARTS
};
extern const struct part part_scope, part_notes, part_unwind, part_loss, part_cost, part_manager,
	part_watch, part_demand;

/* parts_init() makes the states, parts_free() calls close() and frees them; the others call the
 * callback of that name of each service. */
void parts_init(struct session *s);
void parts_early(struct session *s);
struct err *parts_open(struct session *s) MUST_USE; /* stops at the first error */
void parts_ready(struct session *s);
void parts_tick(struct session *s);
void parts_detach(struct session *s);
void parts_report(struct session *s);
void parts_free(struct session *s);
