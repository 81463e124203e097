/* collect.c - see the header. */
#include "agent/collect.h"
#include "base/alloc.h"
#include "base/pack.h"

enum {
	WINDOW_BYTES = 8 * PIECE_BYTES,
	PULLED_AT_ONCE = 4, /* pieces of one host on their way */
	PULL_MS = 3000,     /* without a piece for so long they are asked for again */
};

struct peer *collect_add(struct collect *c, struct str name)
{
	struct peer *p = arena_new(&c->a, struct peer);
	*p = (struct peer){.index = c->peer.n, .name = arena_str(&c->a, name)};
	vec_add(&c->peer, p);
	tab_add(&c->by_name, p->name, p); /* "?" may be there several times */
	c->put(c->arg, BUS_HOST, p->index, p->name);
	return p;
}

struct peer *collect_of(const struct collect *c, struct str name)
{
	return tab_get(&c->by_name, name);
}

static void put_bytes(struct collect *c, enum bus_kind kind, u32 host, struct str bytes)
{
	if (bytes.n)
		c->put(c->arg, kind, host, bytes);
}

static void free_window(struct collect *c, struct peer *p)
{
	c->window -= MIN(c->window, (p->asked - p->next) * PIECE_BYTES);
	p->asked = p->next;
}

void collect_again(struct collect *c)
{
	for (u32 i = 0; i < c->peer.n; i++)
		free_window(c, c->peer.v[i]);
}

static void end_peer(struct collect *c, struct peer *p, const struct fleet_host *h, const char *why)
{
	AUTO_SB b = {0};
	if (p->stage == PEER_OVER)
		return;
	free_window(c, p);
	p->stage = PEER_OVER;
	pack_u8(&b, (u8)h->end);
	pack_u64(&b, (u64)p->ahead_ns);
	pack_u64(&b, p->unsure_ns);
	pack_u32(&b, h->merged);
	pack_str(&b, str_z(why));
	c->put(c->arg, BUS_OVER, p->index, sb_str(&b));
	c->last_ns = now_ns();
}

void collect_end(struct collect *c, struct peer *p, enum fleet_end end, const char *why)
{
	end_peer(c, p, &(struct fleet_host){.end = end}, why);
}

void collect_end_merged(struct collect *c, struct peer *p, u32 merged)
{
	end_peer(c, p, &(struct fleet_host){.end = FLEET_ANSWERED, .merged = merged}, "");
}

bool collect_same(struct collect *c, struct peer *p, const struct message *m)
{
	p->instance = p->instance ? p->instance : m->instance;
	if (p->instance == m->instance)
		return true;
	bool boot = m->kind == MSG_TAKEN, other = boot && !str_eq(m->boot, sb_str(&p->boot));
	if (boot)
		collect_end(c, p, FLEET_PARTIAL,
			    other ? "two agents use this name, or the host was started again"
				  : "its agent was started again");
	return false;
}

void collect_got(struct collect *c, const struct peer *p)
{
	struct message m = {.kind = c->got, .instance = p->instance};
	c->send(c->arg, p->name, &m);
}

/* All of it is here. */
static void finish(struct collect *c, struct peer *p)
{
	collect_got(c, p);
	if (!p->bytes) {
		collect_end(c, p, FLEET_REFUSED, p->why.n ? p->why.s : "");
	} else if (p->why.n) {
		collect_end(c, p, FLEET_PARTIAL, p->why.s);
	} else if (p->since_ns > LATE_MS * (u64)MILLI_NS) {
		AUTO_SB b = {0};
		sb_fmt(&b, "it has traced since +%.1f s only", (double)p->since_ns / 1e9);
		collect_end(c, p, FLEET_PARTIAL, b.s);
	} else {
		collect_end(c, p, FLEET_ANSWERED, "");
	}
}

/* Of DONE or MERGED; NULL, or what is wrong. */
static const char *takes_sizes(struct peer *p, const struct message *m)
{
	p->bytes = m->bytes;
	p->pieces = m->pieces;
	bool fit = m->bytes <= ANSWER_MAX &&
		   m->pieces == (m->bytes + PIECE_BYTES - 1) / PIECE_BYTES &&
		   (!m->data.n || m->data.n == m->bytes);
	return fit ? NULL : "the sizes that it sends do not fit together";
}

static void keep_data(struct collect *c, struct peer *p, struct str data)
{
	p->got += data.n;
	put_bytes(c, BUS_DATA, p->index, data);
}

void collect_done(struct collect *c, struct peer *p, const struct message *m)
{
	if (!collect_same(c, p, m))
		return;
	if (p->stage == PEER_OVER) {
		collect_got(c, p); /* it was lost */
		return;
	}
	if (p->stage == PEER_FETCHED)
		return;
	p->stage = PEER_FETCHED;
	p->since_ns = m->since_ns;
	const char *wrong = takes_sizes(p, m);
	if (wrong) {
		collect_end(c, p, FLEET_REFUSED, wrong);
		return;
	}
	sb_add(&p->why, m->why);
	put_bytes(c, BUS_SAID, p->index, m->said);
	if (m->data.n == m->bytes) {
		keep_data(c, p, m->data);
		finish(c, p);
	}
}

/* False: the message is not the next piece; *why: it is of a wrong size. */
static bool takes_piece(struct peer *p, const struct message *m, const char **why)
{
	*why = NULL;
	if (p->instance != m->instance || p->stage != PEER_FETCHED || m->first != p->next ||
	    p->next == p->asked)
		return false;
	u64 size = MIN(p->bytes - p->next * PIECE_BYTES, (u64)PIECE_BYTES);
	if (m->data.n != size) {
		*why = "a part of its answer is of the wrong size";
		return false;
	}
	p->next++;
	return true;
}

void collect_piece(struct collect *c, struct peer *p, const struct message *m)
{
	const char *wrong;
	bool next = takes_piece(p, m, &wrong);
	if (wrong)
		collect_end(c, p, FLEET_PARTIAL, wrong);
	if (!next)
		return;
	c->window -= MIN(c->window, (u64)PIECE_BYTES);
	keep_data(c, p, m->data);
	if (p->next == p->pieces)
		finish(c, p);
}

/* One more of this host; false: nothing was asked for. */
static bool pull_one(struct collect *c, struct peer *p)
{
	if (p->stage != PEER_FETCHED || p->asked == p->pieces ||
	    p->asked - p->next >= PULLED_AT_ONCE)
		return false;
	if (c->window + PIECE_BYTES > WINDOW_BYTES)
		return false;
	struct message m = {
		.kind = MSG_PULL, .instance = p->instance, .first = p->asked, .count = 1};
	p->asked++;
	p->heard_ns = now_ns();
	c->window += PIECE_BYTES;
	c->send(c->arg, p->name, &m);
	return true;
}

void collect_pull(struct collect *c, u64 now)
{
	u32 n = c->peer.n;
	for (u32 i = 0; i < n; i++) {
		struct peer *p = c->peer.v[i];
		if (p->asked > p->next && now > p->heard_ns + PULL_MS * (u64)MILLI_NS)
			free_window(c, p);
	}
	for (u32 none = 0; n && none < n && c->window < WINDOW_BYTES; c->turn = (c->turn + 1) % n)
		none = pull_one(c, c->peer.v[c->turn % n]) ? 0 : none + 1;
}

void collect_free(struct collect *c)
{
	for (u32 i = 0; i < c->peer.n; i++) {
		sb_free(&c->peer.v[i]->boot);
		sb_free(&c->peer.v[i]->why);
	}
	vec_free(&c->peer);
	tab_free(&c->by_name);
	arena_free(&c->a);
}
