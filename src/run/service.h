/*
 * service.h - services of a run: each has its own state, and is called at certain moments, in the order
 * of the table. So a new service is one file and one row (part.c).
 */
#pragma once
#include "base/err.h"

struct session;
struct mmap_event;
struct interp_frame;
struct type;
struct service {
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
	/* The next tick has work, and should come at once. */
	bool (*busy)(const struct session *s, const void *self);
	/* It has to know what the command of -c maps before that runs: child() is then called while it is held. */
	bool (*wants_child)(const struct session *s, const void *self);
	void (*child)(struct session *s, void *self, u32 pid);
	/* A process mapped something, or began or ended. */
	void (*mapped)(struct session *s, void *self, const struct mmap_event *note);
	/*
	 * What only it knows of stacks; at most one service has these. tail: the callers of a stack that a program did
	 * not finish, whose last frame is mark; NULL if they are not known, or there are none. The frames stay until
	 * the next call. frame: of an interpreted language (UNWIND_WORD); false: what it is called is not known.
	 * finish_key: put the callers in the place of marks in a key of type t; true if there was a mark.
	 */
	const u64 *(*tail)(struct session *s, void *self, u64 mark, u32 *n);
	bool (*frame)(struct session *s, void *self, u64 word, struct interp_frame *ret);
	bool (*finish_key)(struct session *s, void *self, const struct type *t, u8 *key);
	/* The links are about to be undone, and with them what they count. */
	void (*detach)(struct session *s, void *self);
	/* The end: report what was lost. */
	void (*report)(struct session *s, void *self);
	/* Free what self holds, whatever was called before. */
	void (*close)(void *self);
};

enum service_id {
	SERVICE_SCOPE,
	SERVICE_MMAP_EVENTS,
	SERVICE_UNWIND,
	SERVICE_LOSS,
	SERVICE_COST,
	SERVICE_MANAGER,
	SERVICE_WATCH,
	SERVICE_DEMAND,
	SERVICES
};
/* service_unwind is defined in features/unwind, the others here. */
extern const struct service service_scope, service_mmap_events, service_unwind, service_loss,
	service_cost, service_manager, service_watch, service_demand;

/* services_init() makes the states, services_free() calls close() and frees them; the others call the
 * callback of that name of each service. */
void services_init(struct session *s);
void services_early(struct session *s);
struct err *services_open(struct session *s) MUST_USE; /* stops at the first error */
void services_ready(struct session *s);
void services_tick(struct session *s);
bool services_busy(const struct session *s);       /* one of them is */
bool services_want_child(const struct session *s); /* one of them does */
void services_child(struct session *s, u32 pid);
void services_mapped(struct session *s, const struct mmap_event *note);
void services_detach(struct session *s);
void services_report(struct session *s);
void services_free(struct session *s);
/* The service that knows stacks, and its state. Never NULL: there is one. */
const struct service *service_of_stacks(struct session *s, void **self);
