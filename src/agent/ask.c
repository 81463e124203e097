/* ask.c - see the header. */
#include "agent/ask.h"
#include "agent/collect.h"
#include "base/alloc.h"
#include "base/pack.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>

enum {
	SETTLE_MS = 1500,  /* so long at least others may answer, too */
	NOBODY_MS = 6000,  /* so long at least one may */
	SILENT_MS = 60000, /* without a word of an agent it is gone */
	HUBS_MS =
		300, /* so long hubs may take to offer themselves, before hosts are given to them */
	START_MS = 1000,       /* before the time of --at hosts learn how their clocks are off */
	HUB_SILENT_MS = 10000, /* without a word of a hub it is gone */
	HUB_MERGES_MS = 30000, /* after the time for answers a hub may merge so long */
	HUB_HOSTS = 2048,      /* of one hub at most */
	STEP_MS = 100,
	FLUSH_MS = 2000,
};

/* A hub, which is a peer whose answer is that of its hosts. */
struct hub_of {
	struct peer *peer;
	u32 nhost;
	bool changed; /* it is to learn which hosts it has */
	bool good, merges;
	struct sb frames; /* what it sends, until all of it is here */
};
struct asking {
	const struct ask_spec *s;
	struct collect c, hubs;
	VEC(struct hub_of *) hub;
	u32 nmerged;                   /* merged answers */
	u64 begun_ns, beat_ns, end_ns; /* end_ns 0: open */
	u64 lead_ns;                   /* from the beginning until the time of --at */
	u64 spread_ns;
	u64 spread_ms;
	bool stopped, broken; /* broken: nobody reads what we write */
	bool again;           /* messages may be lost */
	bool all_known;       /* hosts that answer later are not given to hubs */
	bool all_said;        /* those that are there have said so */
	bool started;         /* hosts know when they begin */
	struct err *failed;   /* nobody is asked */
	bool hurry;           /* hubs give what they have */
};

/* ---- frames ---- */

static void write_all(struct asking *k, const char *p, size_t n)
{
	while (n && !k->broken) {
		ssize_t did = write(k->s->to, p, n);
		if (did < 0 && errno == EINTR)
			continue;
		k->broken = did <= 0;
		p += MAX(did, 0);
		n -= (size_t)MAX(did, 0);
	}
}

static void put_frame(void *arg, enum bus_kind kind, u32 host, struct str bytes)
{
	AUTO_SB b = {0};
	bus_put(&b, kind, host, bytes);
	write_all(arg, b.s, b.n);
}

/* ---- messages to agents ---- */

static void send_message(struct asking *k, struct str subject, struct message *m)
{
	AUTO_SB b = {0}, to = {0};
	memcpy(m->id, k->s->q->id, sizeof(m->id));
	message_pack(m, &b);
	sb_add(&to, subject);
	err_free(nats_send(k->s->nats, to.s, sb_str(&b))); /* it is sent again */
}

static void send_host(void *arg, struct str name, struct message *m)
{
	struct asking *k = arg;
	AUTO_SB to = {0};
	subject_of_host(&to, name);
	send_message(k, sb_str(&to), m);
}

/* To all who are asked: agents look whether the question is for them. */
static void send_all(struct asking *k, struct message *m)
{
	AUTO_SB to = {0};
	struct str key, value;
	const struct question *q = k->s->q;
	for (u32 i = 0; i < q->host.n; i++)
		send_host(k, q->host.v[i], m);
	if (q->host.n)
		return;
	if (q->label.n && subject_is_label(q->label.v[0], &key, &value))
		subject_of_label(&to, key, value);
	else
		subject_of_all(&to);
	send_message(k, sb_str(&to), m);
}

static void send_ask(struct asking *k, const struct str *host)
{
	struct message m = {
		.kind = MSG_ASK,
		.since_ns = now_ns() - k->begun_ns,
		.spread_ms = k->spread_ms,
		.asked_ns = clock_ns(CLOCK_REALTIME),
		.sealed = k->s->sealed,
	};
	host ? send_host(k, *host, &m) : send_all(k, &m);
}

static void send_beat(struct asking *k)
{
	struct message m = {
		.kind = k->stopped ? MSG_STOP : MSG_BEAT,
		.since_ns = now_ns() - k->begun_ns,
		.spread_ms = k->spread_ms,
		.asked_ns = clock_ns(CLOCK_REALTIME),
		.again = k->again,
		.reply = str_z(k->s->reply),
		.secret = k->s->secret,
	};
	send_all(k, &m);
	if (k->stopped) {
		m.kind = MSG_BEAT;
		send_all(k, &m);
	}
	k->again = false;
	k->beat_ns = now_ns() + BEAT_MS * (u64)MILLI_NS;
}

/* ---- hosts ---- */

/* NULL: there are too many. */
static struct peer *peer_of(struct asking *k, const struct message *m)
{
	struct peer *p = collect_of(&k->c, m->host);
	if (!p && k->c.peer.n < BUS_HOSTS && !k->s->q->host.n)
		p = collect_add(&k->c, m->host);
	if (p && !p->instance)
		p->instance = m->instance;
	if (p)
		p->heard_ns = now_ns();
	return p;
}

/* By the times of both sides how far the clocks are apart; whatever numbers a host sends. */
static void compare_clocks(struct asking *k, struct peer *p, const struct message *m)
{
	u64 back = clock_ns(CLOCK_REALTIME), way = back - m->asked_ns,
	    there = m->sent_ns - m->came_ns;
	way -= MIN(way, there);
	p->ahead_ns = (i64)(m->came_ns - m->asked_ns - way / 2);
	p->unsure_ns = MIN(way / 2, (u64)INT64_MAX / 4);
	p->ahead_ns = MAX(MIN(p->ahead_ns, INT64_MAX / 4), -(INT64_MAX / 4));
	k->spread_ns = MAX(k->spread_ns, MIN(way, 3600ull * SECOND_NS));
}

static void send_start(struct asking *k, const struct peer *p)
{
	struct message m = {
		.kind = MSG_START, .instance = p->instance, .ahead_ns = (u64)p->ahead_ns};
	if (k->s->q->at_ns)
		send_host(k, p->name, &m);
}

static void take_taken(struct asking *k, struct peer *p, const struct message *m)
{
	struct hub_of *hub = p->hub;
	bool same = collect_same(&k->c, p, m);
	if (!same && hub)
		hub->changed = true;
	if (!same || p->stage != PEER_EXPECTED)
		return;
	sb_add(&p->boot, m->boot);
	p->since_ns = m->since_ns;
	if (!m->since_ns || m->since_ns < LATE_MS * (u64)MILLI_NS)
		compare_clocks(k, p, m);
	p->stage = PEER_TRACES;
	if (k->started)
		send_start(k, p);
	if (!m->good) {
		AUTO_SB why = {0};
		sb_add(&why, m->why);
		collect_end(&k->c, p, FLEET_REFUSED, why.n ? why.s : "it gives no reason");
	}
}

/* ---- hubs ---- */

static void send_hub(void *arg, struct str name, struct message *m)
{
	AUTO_SB to = {0};
	subject_of_hub(&to, name);
	send_message(arg, sb_str(&to), m);
}

static void send_via(struct asking *k, struct peer *p)
{
	const struct hub_of *hub = p->hub;
	struct message m = {
		.kind = MSG_VIA, .instance = p->instance, .hub = hub ? hub->peer->name : STR("")};
	send_host(k, p->name, &m);
}

static void send_part(struct asking *k, struct hub_of *hub)
{
	AUTO_SB names = {0};
	for (u32 i = 0; i < k->c.peer.n; i++) {
		const struct peer *p = k->c.peer.v[i];
		if (p->hub == hub && p->stage == PEER_BEHIND)
			sb_fmt(&names, "%s%.*s", names.n ? "\n" : "", STRF(p->name));
	}
	struct message m = {.kind = MSG_PART,
			    .instance = hub->peer->instance,
			    .last = k->all_known,
			    .now = k->hurry,
			    .reply = str_z(k->s->reply),
			    .names = sb_str(&names)};
	hub->changed = false;
	send_hub(k, hub->peer->name, &m);
}

/* Its hosts are asked by us, all of them or those that have not ended. */
static void do_without(struct asking *k, struct hub_of *hub)
{
	bool any = false;
	u64 now = now_ns();
	hub->good = false;
	for (u32 i = 0; i < k->c.peer.n; i++) {
		struct peer *p = k->c.peer.v[i];
		if (p->hub != hub || p->stage != PEER_BEHIND)
			continue;
		any = true;
		p->hub = NULL;
		p->direct = true;
		p->stage = PEER_TRACES;
		p->heard_ns = now;
		send_via(k, p);
	}
	if (any && k->end_ns)
		k->end_ns = MAX(k->end_ns, now + k->s->wait_ns);
}

static struct peer *host_of(const struct asking *k, const struct hub_of *hub, struct str name)
{
	struct peer *p = collect_of(&k->c, name);
	return p && p->hub == hub && p->stage == PEER_BEHIND ? p : NULL;
}

struct over {
	u8 end;
	bool merged;
	struct str why;
};

static bool take_over(const struct bus_frame *f, struct over *ret)
{
	struct bytes b = bytes_of(f->bytes.s, f->bytes.n);
	ret->end = bytes_u8(&b);
	bytes_u64(&b);
	bytes_u64(&b);
	ret->merged = bytes_u32(&b);
	ret->why = unpack_str(&b);
	return !b.bad && ret->end < FLEET_ENDS;
}

/* What a hub sends, as it was read so far. */
struct relay {
	VEC(struct peer *) host;
	bool merged;
};

/* Frames that make sense, of hosts that are the hub's, each once. */
static bool check_frame(const struct asking *k, const struct hub_of *hub, struct relay *r,
			const struct bus_frame *f)
{
	struct over over;
	if (f->kind == BUS_HOST) {
		struct peer *p = host_of(k, hub, f->bytes);
		for (u32 i = 0; i < r->host.n; i++)
			if (r->host.v[i] == p)
				return false;
		vec_add(&r->host, p);
		return p && f->host + 1 == r->host.n;
	}
	if (f->kind == BUS_MERGED) {
		r->merged = true;
		return !f->host && !r->host.n;
	}
	if (!r->host.n || f->host + 1 != r->host.n)
		return false;
	return f->kind == BUS_SAID || f->kind == BUS_DATA ||
	       (f->kind == BUS_OVER && take_over(f, &over) && (!over.merged || r->merged));
}

static void pass_over(struct asking *k, struct peer *p, const struct bus_frame *f)
{
	struct over over;
	AUTO_SB why = {0};
	take_over(f, &over);
	sb_add(&why, over.why);
	if (over.merged && over.end == FLEET_ANSWERED && !p->got)
		collect_end_merged(&k->c, p, k->nmerged);
	else if (over.end == FLEET_ANSWERED && !p->got)
		collect_end(&k->c, p, FLEET_REFUSED, "");
	else
		collect_end(&k->c, p, (enum fleet_end)over.end, why.n ? why.s : "");
}

static void pass_frame(struct asking *k, const struct hub_of *hub, struct relay *r,
		       const struct bus_frame *f)
{
	struct peer *p = r->host.n ? r->host.v[r->host.n - 1] : NULL;
	if (f->kind == BUS_HOST) {
		p = host_of(k, hub, f->bytes);
		vec_add(&r->host, p);
		collect_got(&k->c, p);
	} else if (f->kind == BUS_MERGED) {
		if (!r->merged)
			put_frame(k, BUS_HUB, k->nmerged++, hub->peer->name);
		r->merged = true;
		put_frame(k, BUS_MERGED, k->nmerged - 1, f->bytes);
	} else if (f->kind == BUS_OVER) {
		pass_over(k, p, f);
	} else {
		p->got += f->kind == BUS_DATA ? f->bytes.n : 0;
		put_frame(k, f->kind, p->index, f->bytes);
	}
}

/* All is here: first it is looked through, so that nothing of it is used if not all of it can be. */
static void take_frames(struct asking *k, struct hub_of *hub)
{
	bool good = true;
	for (u32 pass = 0; pass < 2 && good; pass++) {
		struct relay r = {0};
		struct str rest = sb_str(&hub->frames);
		struct bus_frame f;
		while (good && rest.n && (good = bus_next(&rest, &f) == BUS_ONE))
			pass ? pass_frame(k, hub, &r, &f)
			     : (void)(good = check_frame(k, hub, &r, &f));
		vec_free(&r.host);
	}
	sb_free(&hub->frames);
	do_without(k, hub);
}

/* What comes of hubs. */
static void keep_frame(void *arg, enum bus_kind kind, u32 at, struct str bytes)
{
	struct asking *k = arg;
	if (kind == BUS_HOST)
		return;
	struct hub_of *hub = k->hub.v[at];
	if (kind == BUS_DATA)
		sb_add(&hub->frames, bytes);
	else if (kind == BUS_OVER && bytes.n && bytes.s[0] == FLEET_ANSWERED)
		take_frames(k, hub);
	else if (kind == BUS_OVER)
		do_without(k, hub);
}

static struct hub_of *hub_named(struct asking *k, const struct message *m, bool add)
{
	struct peer *p = collect_of(&k->hubs, m->host);
	if (!p && !add)
		return NULL;
	if (!p) {
		struct hub_of *hub = arena_new(&k->hubs.a, struct hub_of);
		vec_add(&k->hub, hub);
		p = hub->peer = collect_add(&k->hubs, m->host);
		p->instance = m->instance;
		hub->good = true;
	}
	if (p->instance == m->instance)
		p->heard_ns = now_ns();
	return k->hub.v[p->index];
}

/* Names of hosts whose answers the hub has. */
static void note_held(struct asking *k, const struct hub_of *hub, struct str names)
{
	struct str name;
	while (names.n && str_cut(&names, '\n', &name)) {
		struct peer *p = host_of(k, hub, name);
		if (p)
			p->listed = true;
	}
}

static void take_of_hub(struct asking *k, const struct message *m)
{
	struct hub_of *hub = hub_named(k, m, m->kind == MSG_SERVES && k->hub.n < BUS_HOSTS);
	if (!hub)
		return;
	if (!hub->good && hub->peer->stage != PEER_OVER) {
		collect_got(&k->hubs, hub->peer); /* too late */
	} else if (m->kind == MSG_MERGED) {
		collect_done(&k->hubs, hub->peer, m);
	} else if (m->kind == MSG_PIECE) {
		collect_piece(&k->hubs, hub->peer, m);
	} else if (hub->peer->instance != m->instance || !m->good) {
		if (hub->good) /* it was started again, or has failed */
			do_without(k, hub);
	} else {
		hub->merges = m->last;
		note_held(k, hub, m->names);
	}
}

/* The hub with the fewest hosts; NULL: there is none. */
static struct hub_of *free_hub(const struct asking *k)
{
	struct hub_of *best = NULL;
	for (u32 i = 0; i < k->hub.n; i++) {
		struct hub_of *hub = k->hub.v[i];
		if (hub->good && hub->peer->stage == PEER_EXPECTED && hub->nhost < HUB_HOSTS &&
		    (!best || hub->nhost < best->nhost))
			best = hub;
	}
	return best;
}

/* Hosts that trace, and have begun in time, are given to hubs, who learn it first. */
static void give_hosts(struct asking *k, u64 now)
{
	bool early = now < k->begun_ns + HUBS_MS * (u64)MILLI_NS;
	for (u32 i = 0; i < k->c.peer.n && !early && !k->all_known; i++) {
		struct peer *p = k->c.peer.v[i];
		bool fits = p->stage == PEER_TRACES && !p->direct &&
			    p->since_ns <= LATE_MS * (u64)MILLI_NS;
		struct hub_of *hub = fits ? free_hub(k) : NULL;
		if (!hub)
			continue;
		p->stage = PEER_BEHIND;
		p->hub = hub;
		p->tell = true;
		hub->nhost++;
		hub->changed = true;
	}
	for (u32 i = 0; i < k->hub.n; i++)
		if (k->hub.v[i]->changed && k->hub.v[i]->good)
			send_part(k, k->hub.v[i]);
	for (u32 i = 0; i < k->c.peer.n; i++) {
		struct peer *p = k->c.peer.v[i];
		if (p->tell)
			send_via(k, p);
		p->tell = false;
	}
}

static void change_hubs(struct asking *k)
{
	for (u32 i = 0; i < k->hub.n; i++)
		k->hub.v[i]->changed = true;
}

/* Have all said that they trace, or have had the time to? */
static void look_at_hosts(struct asking *k, u64 now)
{
	u32 said = 0, given = 0, wanted = k->s->q->host.n ? k->s->q->host.n : k->s->expect;
	u64 settle = k->begun_ns + (SETTLE_MS + k->spread_ms) * MILLI_NS;
	for (u32 i = 0; i < k->c.peer.n; i++) {
		said += k->c.peer.v[i]->stage > PEER_EXPECTED;
		given += k->c.peer.v[i]->stage > PEER_TRACES;
	}
	bool known = k->stopped || now > settle || (wanted && given >= wanted);
	bool hurry = k->end_ns && now + k->s->wait_ns / 2 > k->end_ns;
	if ((known && !k->all_known) || (hurry && !k->hurry))
		change_hubs(k);
	k->all_known |= known;
	k->all_said |= known || (wanted && said >= wanted);
	k->hurry |= hurry;
}

/* How far clocks of hosts are apart at least, as fleet_ask() has it. */
static struct err *check_clocks(const struct asking *k)
{
	const struct peer *first = NULL, *last = NULL; /* by their clocks */
	for (u32 i = 0; i < k->c.peer.n; i++) {
		const struct peer *p = k->c.peer.v[i];
		i64 unsure = (i64)p->unsure_ns;
		if (p->stage != PEER_TRACES && p->stage != PEER_BEHIND)
			continue;
		if (!first || p->ahead_ns + unsure < first->ahead_ns + (i64)first->unsure_ns)
			first = p;
		if (!last || p->ahead_ns - unsure > last->ahead_ns - (i64)last->unsure_ns)
			last = p;
	}
	return first ? fleet_apart(first->name, first->ahead_ns + (i64)first->unsure_ns, last->name,
				   last->ahead_ns - (i64)last->unsure_ns, k->s->apart_ns)
		     : NULL;
}

/* When all hosts are there, or have had the time to be, they are told their clocks. */
static void start_hosts(struct asking *k, u64 now)
{
	const struct question *q = k->s->q;
	if (k->started || !q->at_ns)
		return;
	if (!k->all_said && now + START_MS * (u64)MILLI_NS < k->begun_ns + k->lead_ns)
		return;
	k->started = true;
	k->failed = k->s->apart_ns ? check_clocks(k) : NULL;
	for (u32 i = 0; i < k->c.peer.n && !k->failed; i++)
		if (k->c.peer.v[i]->stage > PEER_EXPECTED && k->c.peer.v[i]->stage < PEER_OVER)
			send_start(k, k->c.peer.v[i]);
}

static void look_at_hub(struct asking *k, struct hub_of *hub, u64 now)
{
	const struct peer *p = hub->peer;
	bool silent = now > p->heard_ns + HUB_SILENT_MS * (u64)MILLI_NS,
	     moves = p->stage == PEER_FETCHED && now < p->heard_ns + SECOND_NS;
	u64 more = moves ? k->s->wait_ns : hub->merges ? HUB_MERGES_MS * (u64)MILLI_NS : 0;
	if (silent || (k->end_ns && now > k->end_ns + more))
		do_without(k, hub);
}

static void look_at_hubs(struct asking *k, u64 now)
{
	look_at_hosts(k, now);
	start_hosts(k, now);
	if (!k->s->hubs)
		return;
	for (u32 i = 0; i < k->hub.n; i++)
		if (k->hub.v[i]->good)
			look_at_hub(k, k->hub.v[i], now);
	give_hosts(k, now);
	collect_pull(&k->hubs, now);
}

static void ask_hubs(struct asking *k)
{
	struct message m = {.kind = MSG_HUBS, .reply = str_z(k->s->reply), .sealed = k->s->sealed};
	if (k->s->hubs && !k->all_known)
		send_hub(k, STR(""), &m);
	for (u32 i = 0; i < k->hub.n; i++)
		k->hub.v[i]->changed = true;
}

/* Hosts whose hub is gone may not know it yet. */
static void tell_again(struct asking *k)
{
	for (u32 i = 0; i < k->c.peer.n; i++)
		k->c.peer.v[i]->tell |=
			k->c.peer.v[i]->direct && k->c.peer.v[i]->stage == PEER_TRACES;
}

static void free_hubs(struct asking *k)
{
	for (u32 i = 0; i < k->hub.n; i++) {
		struct message m = {.kind = MSG_GOT, .instance = k->hub.v[i]->peer->instance};
		send_hub(k, k->hub.v[i]->peer->name, &m);
		sb_free(&k->hub.v[i]->frames);
	}
}

/* ---- messages ---- */

static void take_answer(struct asking *k, struct peer *p, const struct message *m)
{
	if (m->kind == MSG_TAKEN)
		take_taken(k, p, m);
	else if (p->stage == PEER_BEHIND)
		p->tell = m->kind == MSG_DONE; /* it does not know its hub */
	else if (m->kind == MSG_DONE)
		collect_done(&k->c, p, m);
	else
		collect_piece(&k->c, p, m);
}

static void take_message(struct asking *k, struct str bytes)
{
	struct message m;
	if (message_unpack(bytes, &m) || memcmp(m.id, k->s->q->id, sizeof(m.id)) != 0)
		return;
	const struct peer *hub = collect_of(&k->hubs, m.host);
	bool of_hub = m.kind == MSG_SERVES || m.kind == MSG_MERGED ||
		      (m.kind == MSG_PIECE && hub && hub->instance == m.instance);
	bool answers = m.kind == MSG_TAKEN || m.kind == MSG_DONE || m.kind == MSG_PIECE;
	if (m.kind == MSG_WANT && !k->stopped) {
		send_ask(k, &m.host);
	} else if (of_hub && k->s->hubs) {
		take_of_hub(k, &m);
	} else if (answers) {
		struct peer *p = peer_of(k, &m);
		if (p)
			take_answer(k, p, &m);
	}
}

/* ---- the end ---- */

static bool is_late(const struct asking *k, const struct peer *p, u64 now)
{
	bool over = k->end_ns && now > k->end_ns;
	if (!over || p->stage == PEER_BEHIND)
		return false;
	return p->stage == PEER_TRACES || now > k->end_ns + k->s->wait_ns ||
	       (p->stage == PEER_FETCHED && now >= p->heard_ns + SECOND_NS);
}

static void end_late(struct asking *k, u64 now)
{
	u64 for_ns = k->s->q->for_ns, settle = SETTLE_MS * (u64)MILLI_NS,
	    known = k->begun_ns + k->lead_ns + (for_ns ? for_ns + settle : k->s->wait_ns);
	struct collect *c = &k->c;
	for (u32 i = 0; i < c->peer.n; i++) {
		struct peer *p = c->peer.v[i];
		struct hub_of *hub = p->hub;
		bool silent = now > p->heard_ns + SILENT_MS * (u64)MILLI_NS,
		     waits = p->stage == PEER_TRACES || (p->stage == PEER_BEHIND && !p->listed);
		if (p->stage == PEER_EXPECTED && (now > known || (k->end_ns && now > k->end_ns)))
			collect_end(c, p, FLEET_UNREACHABLE, "no agent of this name has answered");
		else if (silent && waits)
			collect_end(c, p, FLEET_LATE, "nothing was heard of it for a minute");
		else if (is_late(k, p, now))
			collect_end(c, p, p->got ? FLEET_PARTIAL : FLEET_LATE,
				    p->got ? "the rest of its answer did not come in time"
					   : "it did not answer in time");
		if (hub && silent && waits)
			hub->changed = true;
	}
}

static bool all_over(const struct asking *k, u64 now)
{
	u64 settle = (k->c.peer.n ? SETTLE_MS + k->spread_ms : NOBODY_MS) * MILLI_NS;
	u32 wanted = k->s->q->host.n ? 0 : k->s->expect;
	for (u32 i = 0; i < k->c.peer.n; i++)
		if (k->c.peer.v[i]->stage != PEER_OVER)
			return false;
	if (k->stopped || k->s->q->host.n)
		return true;
	if (wanted > k->c.peer.n)
		settle = MAX(settle,
			     k->lead_ns + (k->s->q->for_ns ? k->s->q->for_ns : k->s->wait_ns));
	else if (wanted)
		settle = 0;
	return now > k->begun_ns + settle;
}

static void stop(struct asking *k)
{
	if (k->stopped)
		return;
	k->stopped = true;
	k->end_ns = now_ns() + k->s->wait_ns;
	send_beat(k);
}

/* What fleet sends behind the question is nothing: only the end counts. */
static void look_at_asker(struct asking *k, const struct pollfd *from, const struct pollfd *to)
{
	char c;
	if (from->revents && read(from->fd, &c, 1) <= 0)
		stop(k);
	if (to->revents & (POLLERR | POLLHUP | POLLNVAL))
		k->broken = true;
}

static void take_letters(struct asking *k)
{
	struct letter l;
	while (!k->broken && inbox_take(k->s->in, &l)) {
		if (l.kind == LETTER_MESSAGE) {
			take_message(k, l.bytes);
		} else if (l.kind == LETTER_AGAIN) {
			collect_again(&k->c);
			collect_again(&k->hubs);
			for (u32 i = 0; i < k->hub.n; i++)
				k->hub.v[i]->peer->heard_ns = now_ns();
			k->again = true;
			k->beat_ns = 0;
		}
		letter_free(&l);
	}
}

static void talk(struct asking *k)
{
	for (u64 now = now_ns(); !k->broken && !k->failed && !all_over(k, now); now = now_ns()) {
		struct pollfd p[] = {
			{.fd = inbox_fd(k->s->in), .events = POLLIN},
			{.fd = k->stopped ? -1 : k->s->from, .events = POLLIN},
			{.fd = k->s->to},
		};
		poll(p, countof(p), STEP_MS);
		look_at_asker(k, &p[1], &p[2]);
		take_letters(k);
		look_at_hubs(k, now);
		collect_pull(&k->c, now);
		end_late(k, now);
		if (now >= k->beat_ns) {
			send_beat(k);
			ask_hubs(k);
			tell_again(k);
		}
	}
}

/* Those of whom nothing is known but that they should be. */
static void add_unknown(struct asking *k)
{
	u32 known = k->c.peer.n;
	for (u32 i = known; !k->s->q->host.n && i < MIN(k->s->expect, (u32)BUS_HOSTS); i++)
		collect_end(&k->c, collect_add(&k->c, STR("?")), FLEET_UNREACHABLE,
			    "fewer agents have answered than --expect says");
}

/* The question is over, also for hosts that were given up, or that have just learned of it. */
static void stop_rest(struct asking *k)
{
	struct message m = {.kind = MSG_STOP, .reply = str_z(k->s->reply), .secret = k->s->secret};
	send_all(k, &m);
}

static struct err *check_sizes(const struct ask_spec *s)
{
	enum { AROUND = 4096 };
	u64 most = nats_max_payload(s->nats), needs = MAX(s->sealed.n, (u32)PIECE_BYTES) + AROUND;
	if (most >= needs)
		return NULL;
	return err_new("the server accepts messages of %llu bytes only, and %llu are needed "
		       "(max_payload of its configuration)",
		       most, needs);
}

struct err *ask_hosts(const struct ask_spec *s)
{
	struct err *e = check_sizes(s);
	if (e)
		return e;
	AUTO_SB b = {0};
	struct asking k = {.s = s, .begun_ns = now_ns()};
	k.c = (struct collect){.arg = &k, .put = put_frame, .send = send_host, .got = MSG_GOT};
	k.hubs = (struct collect){.arg = &k, .put = keep_frame, .send = send_hub, .got = MSG_GOT};
	u64 hosts = s->q->host.n ? s->q->host.n : s->expect ? s->expect : 1000;
	k.spread_ms = hosts / 2;
	u64 wall = clock_ns(CLOCK_REALTIME);
	k.lead_ns = s->q->at_ns > wall ? s->q->at_ns - wall : 0;
	k.end_ns = s->q->for_ns ? k.begun_ns + k.lead_ns + s->q->for_ns + s->wait_ns : 0;
	k.beat_ns = k.begun_ns + BEAT_MS * (u64)MILLI_NS;
	for (u32 i = 0; i < s->hosts.n; i++)
		collect_add(&k.c, s->hosts.v[i]);
	send_ask(&k, NULL);
	ask_hubs(&k);
	talk(&k);
	add_unknown(&k);
	stop_rest(&k);
	free_hubs(&k);
	nats_flush(s->nats, FLUSH_MS);
	pack_u64(&b, 0);
	pack_u64(&b, k.spread_ns);
	pack_u64(&b, k.c.last_ns ? k.c.last_ns - k.begun_ns : 0);
	if (!k.failed)
		put_frame(&k, BUS_TIMES, 0, sb_str(&b));
	collect_free(&k.c);
	collect_free(&k.hubs);
	vec_free(&k.hub);
	if (k.failed)
		return k.failed;
	return k.broken ? err_new("sonde fleet is gone") : NULL;
}
