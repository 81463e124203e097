/*
 * hub.h - a hub: it fetches the answers of hosts that an asker names, merges them, and gives the asker one answer.
 *
 * As agent.h it knows neither the server nor how answers are merged: both are calls of struct hub_setup. It cannot ask:
 * agents accept questions from askers only, and judge them by what their askers have signed. All that a hub sends to an
 * agent is which pieces of an answer it wants, and that it has them. Agents keep their answers until the asker has that of
 * the hub; if it dies, is slow or sends nonsense, the asker fetches them itself.
 *
 *	h = hub_new(&setup);
 *	hub_take(h, bytes)     for each message of a subject in hub_subject()
 *	hub_again(h)           when the connection works again
 *	hub_step(h)            when a descriptor of hub_poll() is ready, or hub_due() has come
 *	hub_free(h)
 */
#pragma once
#include "agent/task.h"
#include "agent/wire.h"

enum { HUB_SUBJECTS = 4 };

struct hub_setup {
	struct str host, boot, kernel, version;
	u32 max_running; /* questions at a time */
	void *arg;
	bool (*send)(void *arg, const char *subject, struct str bytes);
	/* An error is the reason why answers to the question are not merged here. NULL: all are. */
	struct err *(*judge)(void *arg, const struct question *q, struct str bytes,
			     struct str signature);
	/* `sonde fleet-hub`, which is fed with frames of fleet/bus.h. */
	struct err *(*start)(void *arg, struct task **ret);
	/* What was merged, or why it was not. NULL: nobody wants to know. */
	void (*ended)(void *arg, u32 nhost, const char *why);
};
struct hub;
struct hub *hub_new(const struct hub_setup *s); /* *s and its texts stay the caller's, and valid */
void hub_take(struct hub *h, struct str bytes);
void hub_again(struct hub *h);
void hub_step(struct hub *h);
u64 hub_due(const struct hub *h);
struct pollfd;
u32 hub_poll(const struct hub *h, struct pollfd *ret, u32 max);
/* The i-th subject; false: there are no more. */
bool hub_subject(const struct hub *h, u32 i, struct sb *ret);
void hub_free(struct hub *h); /* kills what runs */
