/*
 * part.h - services of a run. Each has its own state, and is called at set moments, in the order of
 * the table; so a new service is one file and one row (part.c).
 */
#pragma once
#include "base/err.h"

struct session;
struct part {
	const char *name;
	size_t size; /* of its state, which is zeros before open */
	/* What may be NULL is left out. Maps are made, programs are not loaded; not with --dry-run: */
	void (*early)(struct session *s, void *self);
	/* Before anything is attached: */
	struct err *(*open)(struct session *s, void *self);
	/* Begin programs have run; not with --dry-run. */
	void (*ready)(struct session *s, void *self);
	/* Between batches of records, every TICK_MS at least. */
	void (*tick)(struct session *s, void *self);
	/* Before the links are undone: what they know goes with them. */
	void (*detach)(struct session *s, void *self);
	/* At the end: what was lost. */
	void (*report)(struct session *s, void *self);
	void (*close)(void *self); /* whatever was done before */
};

enum part_id {
	PART_SCOPE,
	PART_NOTES,
	PART_UNWIND,
	PART_LOSS,
	PART_CLEARED,
	PART_COST,
	PART_CALLS,
	PART_MANAGER,
	PARTS
};
extern const struct part part_scope, part_notes, part_unwind, part_loss, part_cleared, part_cost,
	part_calls, part_manager;

void parts_init(struct session *s);
void parts_early(struct session *s);
struct err *parts_open(struct session *s) MUST_USE;
void parts_ready(struct session *s);
void parts_tick(struct session *s);
void parts_detach(struct session *s);
void parts_report(struct session *s);
void parts_free(struct session *s);
