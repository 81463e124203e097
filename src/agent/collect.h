/*
 * collect.h - answers of agents as they come: the part of an asker that a hub has, too.
 *
 *	collect_add(c, name)                 a host that is asked; its frame BUS_HOST is put
 *	p = collect_of(c, name)
 *	collect_done(c, p, &m), collect_piece(c, p, &m)    for these messages
 *	collect_pull(c, now)                 often: asks for pieces, with at most WINDOW_BYTES on their way
 *	collect_end(c, p, end, why)          a host that is given up
 *	collect_free(c)
 *
 * What comes is put as frames of fleet/bus.h, at once.
 */
#pragma once
#include "agent/wire.h"
#include "base/tab.h"
#include "base/vec.h"
#include "fleet/bus.h"

enum { LATE_MS = 1000 }; /* who begins later than this has seen a part only */

enum peer_stage {
	PEER_EXPECTED, /* it is asked, and has said nothing */
	PEER_TRACES,
	PEER_BEHIND,  /* a hub fetches its answer */
	PEER_FETCHED, /* its answer is pulled */
	PEER_OVER,
};
struct peer {
	u32 index;
	enum peer_stage stage;
	struct str name;
	u64 instance; /* 0: not known yet */
	struct sb boot;
	u64 since_ns;
	i64 ahead_ns;
	u64 unsure_ns;
	/* Of its answer: the pieces, the next one that is missing, the next one to be asked for. */
	u64 pieces, next, asked;
	u64 bytes, got;
	struct sb why;
	u64 heard_ns;
	bool listed; /* of a hub: the asker still wants it; of an asker: the hub has its answer */
	/* Of an asker: */
	void *hub;   /* that fetches its answer; NULL: none */
	bool direct; /* no hub does any more */
	bool tell;   /* it is to learn where its answer goes */
};
struct collect {
	void *arg;
	void (*put)(void *arg, enum bus_kind kind, u32 host, struct str bytes);
	/* To an agent. The id of the question is to be added. */
	void (*send)(void *arg, struct str host, struct message *m);
	enum message_kind got; /* what agents are sent whose answer is here: GOT or HELD */
	struct arena a;
	VEC(struct peer *) peer;
	struct tab by_name;
	u32 turn;    /* whose pieces are asked for next */
	u64 window;  /* bytes on their way */
	u64 last_ns; /* when the last host ended */
};
struct peer *collect_add(struct collect *c, struct str name);
struct peer *collect_of(const struct collect *c, struct str name); /* NULL: there is none */
void collect_done(struct collect *c, struct peer *p, const struct message *m);
void collect_piece(struct collect *c, struct peer *p, const struct message *m);
void collect_pull(struct collect *c, u64 now);
void collect_again(struct collect *c); /* messages may be lost: pieces are asked for anew */
/* merged: as in struct fleet_host. */
void collect_end(struct collect *c, struct peer *p, enum fleet_end end, const char *why);
void collect_end_merged(struct collect *c, struct peer *p, u32 merged);
/* False: the message is of another process than the earlier ones of this host, which may end by that. */
bool collect_same(struct collect *c, struct peer *p, const struct message *m);
void collect_got(struct collect *c, const struct peer *p); /* tells the agent so */
void collect_free(struct collect *c);
