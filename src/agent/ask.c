/* ask.c - see the header. */
#include "agent/ask.h"
#include "agent/wire.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "base/tab.h"
#include "base/vec.h"
#include "fleet/bus.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>

enum {
	WINDOW_BYTES = 8 * PIECE_BYTES,
	PULLED_AT_ONCE = 4, /* pieces of one host on their way */
	PULL_MS = 3000,     /* without a piece for so long they are asked for again */
	LATE_MS = 1000,     /* who begins later than this has seen a part only */
	SETTLE_MS = 1500,   /* so long at least others may answer, too */
	NOBODY_MS = 6000,   /* so long at least one may */
	SILENT_MS = 60000,  /* without a word of an agent it is gone */
	STEP_MS = 100,
	FLUSH_MS = 2000,
};

enum stage {
	EXPECTED, /* it is asked, and has said nothing */
	TRACES,
	FETCHED, /* its answer is pulled */
	OVER,
};
struct peer {
	u32 index;
	enum stage stage;
	struct str name;
	u64 instance;
	struct sb boot;
	u64 since_ns;
	i64 ahead_ns;
	u64 unsure_ns;
	u64 pieces, next,
		asked; /* of its answer; the next one that is missing; the next one to be asked for */
	u64 bytes, got;
	struct sb why;
	u64 heard_ns;
};
struct asking {
	const struct ask_spec *s;
	struct arena a;
	VEC(struct peer *) peer;
	struct tab by_name;
	u64 begun_ns, beat_ns, end_ns, last_ns; /* end_ns 0: open; last_ns: of the last answer */
	u64 spread_ns;
	u64 spread_ms;
	u32 turn;             /* whose pieces are asked for next */
	u64 window;           /* bytes on their way */
	bool stopped, broken; /* broken: nobody reads what we write */
	bool again;           /* messages may be lost */
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

static void put_frame(struct asking *k, enum bus_kind kind, u32 host, struct str bytes)
{
	AUTO_SB head = {0};
	pack_u32(&head, bytes.n);
	pack_u8(&head, (u8)kind);
	pack_u32(&head, host);
	write_all(k, head.s, head.n);
	write_all(k, bytes.s, bytes.n);
}

static void put_bytes(struct asking *k, enum bus_kind kind, u32 host, struct str bytes)
{
	while (bytes.n) {
		u32 n = MIN(bytes.n, (u32)BUS_MAX);
		put_frame(k, kind, host, str_n(bytes.s, n));
		bytes = str_from(bytes, n);
	}
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

static void send_host(struct asking *k, struct str name, struct message *m)
{
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

static struct peer *add_peer(struct asking *k, struct str name)
{
	struct peer *p = arena_new(&k->a, struct peer);
	*p = (struct peer){.index = k->peer.n, .name = arena_str(&k->a, name)};
	vec_add(&k->peer, p);
	put_frame(k, BUS_HOST, p->index, p->name);
	return p;
}

/* NULL: there are too many. */
static struct peer *peer_of(struct asking *k, const struct message *m)
{
	struct peer *p = tab_get(&k->by_name, m->host);
	if (!p && k->peer.n < BUS_HOSTS && !k->s->q->host.n) {
		p = add_peer(k, m->host);
		tab_add(&k->by_name, p->name, p);
	}
	if (p && !p->instance)
		p->instance = m->instance;
	if (p)
		p->heard_ns = now_ns();
	return p;
}

static void free_window(struct asking *k, struct peer *p)
{
	k->window -= MIN(k->window, (p->asked - p->next) * PIECE_BYTES);
	p->asked = p->next;
}

static void end_peer(struct asking *k, struct peer *p, enum fleet_end end, const char *why)
{
	AUTO_SB b = {0};
	if (p->stage == OVER)
		return;
	free_window(k, p);
	p->stage = OVER;
	pack_u8(&b, (u8)end);
	pack_u64(&b, (u64)p->ahead_ns);
	pack_u64(&b, p->unsure_ns);
	pack_str(&b, str_z(why));
	put_frame(k, BUS_OVER, p->index, sb_str(&b));
	k->last_ns = now_ns();
}

/* False: the message is of another process than the earlier ones of this host. */
static bool is_same(struct asking *k, struct peer *p, const struct message *m)
{
	if (p->instance == m->instance)
		return true;
	bool boot = m->kind == MSG_TAKEN, other = boot && !str_eq(m->boot, sb_str(&p->boot));
	if (boot)
		end_peer(k, p, FLEET_PARTIAL,
			 other ? "two agents use this name, or the host was started again"
			       : "its agent was started again");
	return false;
}

static void send_got(struct asking *k, const struct peer *p)
{
	struct message m = {.kind = MSG_GOT, .instance = p->instance};
	send_host(k, p->name, &m);
}

/* All of it is here. */
static void finish(struct asking *k, struct peer *p)
{
	send_got(k, p);
	if (!p->bytes) {
		end_peer(k, p, FLEET_REFUSED, p->why.n ? p->why.s : "");
	} else if (p->why.n) {
		end_peer(k, p, FLEET_PARTIAL, p->why.s);
	} else if (p->since_ns > LATE_MS * (u64)MILLI_NS) {
		AUTO_SB b = {0};
		sb_fmt(&b, "it has traced since +%.1f s only", (double)p->since_ns / 1e9);
		end_peer(k, p, FLEET_PARTIAL, b.s);
	} else {
		end_peer(k, p, FLEET_ANSWERED, "");
	}
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

static void take_taken(struct asking *k, struct peer *p, const struct message *m)
{
	if (!is_same(k, p, m) || p->stage != EXPECTED)
		return;
	sb_add(&p->boot, m->boot);
	p->since_ns = m->since_ns;
	if (!m->since_ns || m->since_ns < LATE_MS * (u64)MILLI_NS)
		compare_clocks(k, p, m);
	p->stage = TRACES;
	if (!m->good) {
		AUTO_SB why = {0};
		sb_add(&why, m->why);
		end_peer(k, p, FLEET_REFUSED, why.n ? why.s : "it gives no reason");
	}
}

static void keep_data(struct asking *k, struct peer *p, struct str data)
{
	p->got += data.n;
	put_bytes(k, BUS_DATA, p->index, data);
}

static void take_done(struct asking *k, struct peer *p, const struct message *m)
{
	if (!is_same(k, p, m))
		return;
	if (p->stage == OVER) {
		send_got(k, p); /* it was lost */
		return;
	}
	if (p->stage == FETCHED)
		return;
	p->stage = FETCHED;
	p->since_ns = m->since_ns;
	p->bytes = m->bytes;
	p->pieces = m->pieces;
	if (m->bytes > ANSWER_MAX || m->pieces != (m->bytes + PIECE_BYTES - 1) / PIECE_BYTES ||
	    (m->data.n && m->data.n != m->bytes)) {
		end_peer(k, p, FLEET_REFUSED, "the sizes that it sends do not fit together");
		return;
	}
	sb_add(&p->why, m->why);
	put_bytes(k, BUS_SAID, p->index, m->said);
	if (m->data.n == m->bytes) {
		keep_data(k, p, m->data);
		finish(k, p);
	}
}

static void take_piece(struct asking *k, struct peer *p, const struct message *m)
{
	if (p->instance != m->instance || p->stage != FETCHED || m->first != p->next ||
	    p->next == p->asked)
		return;
	u64 size = MIN(p->bytes - p->next * PIECE_BYTES, (u64)PIECE_BYTES);
	if (m->data.n != size) {
		end_peer(k, p, FLEET_PARTIAL, "a part of its answer is of the wrong size");
		return;
	}
	p->next++;
	k->window -= MIN(k->window, (u64)PIECE_BYTES);
	keep_data(k, p, m->data);
	if (p->next == p->pieces)
		finish(k, p);
}

static void take_message(struct asking *k, struct str bytes)
{
	struct message m;
	if (message_unpack(bytes, &m) || memcmp(m.id, k->s->q->id, sizeof(m.id)) != 0)
		return;
	bool answers = m.kind == MSG_TAKEN || m.kind == MSG_DONE || m.kind == MSG_PIECE;
	struct peer *p = answers ? peer_of(k, &m) : NULL;
	if (m.kind == MSG_WANT && !k->stopped)
		send_ask(k, &m.host);
	else if (p && m.kind == MSG_TAKEN)
		take_taken(k, p, &m);
	else if (p && m.kind == MSG_DONE)
		take_done(k, p, &m);
	else if (p && m.kind == MSG_PIECE)
		take_piece(k, p, &m);
}

/* ---- pieces ---- */

/* One more of this host; false: nothing was asked for. */
static bool pull_one(struct asking *k, struct peer *p)
{
	if (p->stage != FETCHED || p->asked == p->pieces || p->asked - p->next >= PULLED_AT_ONCE)
		return false;
	if (k->window + PIECE_BYTES > WINDOW_BYTES)
		return false;
	struct message m = {
		.kind = MSG_PULL, .instance = p->instance, .first = p->asked, .count = 1};
	p->asked++;
	p->heard_ns = now_ns();
	k->window += PIECE_BYTES;
	send_host(k, p->name, &m);
	return true;
}

static void pull_more(struct asking *k, u64 now)
{
	u32 n = k->peer.n;
	for (u32 i = 0; i < n; i++) {
		struct peer *p = k->peer.v[i];
		if (p->asked > p->next && now > p->heard_ns + PULL_MS * (u64)MILLI_NS)
			free_window(k, p);
	}
	for (u32 none = 0; n && none < n && k->window < WINDOW_BYTES; k->turn = (k->turn + 1) % n)
		none = pull_one(k, k->peer.v[k->turn % n]) ? 0 : none + 1;
}

/* ---- the end ---- */

static void end_late(struct asking *k, u64 now)
{
	u64 for_ns = k->s->q->for_ns,
	    heard = for_ns ? for_ns + SETTLE_MS * (u64)MILLI_NS : k->s->wait_ns;
	for (u32 i = 0; i < k->peer.n; i++) {
		struct peer *p = k->peer.v[i];
		bool over = k->end_ns && now > k->end_ns, moves = now < p->heard_ns + SECOND_NS;
		if (p->stage == EXPECTED && (over || now > k->begun_ns + heard))
			end_peer(k, p, FLEET_UNREACHABLE, "no agent of this name has answered");
		else if (p->stage == TRACES && now > p->heard_ns + SILENT_MS * (u64)MILLI_NS)
			end_peer(k, p, FLEET_LATE, "nothing was heard of it for a minute");
		else if (over && (p->stage == TRACES || (p->stage == FETCHED && !moves) ||
				  now > k->end_ns + k->s->wait_ns))
			end_peer(k, p, p->got ? FLEET_PARTIAL : FLEET_LATE,
				 p->got ? "the rest of its answer did not come in time"
					: "it did not answer in time");
	}
}

static bool all_over(const struct asking *k, u64 now)
{
	u64 settle = (k->peer.n ? SETTLE_MS + k->spread_ms : NOBODY_MS) * MILLI_NS;
	u32 wanted = k->s->q->host.n ? 0 : k->s->expect;
	for (u32 i = 0; i < k->peer.n; i++)
		if (k->peer.v[i]->stage != OVER)
			return false;
	if (k->stopped || k->s->q->host.n)
		return true;
	if (wanted > k->peer.n)
		settle = k->s->q->for_ns ? k->s->q->for_ns : k->s->wait_ns;
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
			for (u32 i = 0; i < k->peer.n; i++)
				free_window(k, k->peer.v[i]);
			k->again = true;
			k->beat_ns = 0;
		}
		letter_free(&l);
	}
}

static void talk(struct asking *k)
{
	for (u64 now = now_ns(); !k->broken && !all_over(k, now); now = now_ns()) {
		struct pollfd p[] = {
			{.fd = inbox_fd(k->s->in), .events = POLLIN},
			{.fd = k->stopped ? -1 : k->s->from, .events = POLLIN},
			{.fd = k->s->to},
		};
		poll(p, countof(p), STEP_MS);
		look_at_asker(k, &p[1], &p[2]);
		take_letters(k);
		pull_more(k, now);
		end_late(k, now);
		if (now >= k->beat_ns)
			send_beat(k);
	}
}

/* Those of whom nothing is known but that they should be. */
static void add_unknown(struct asking *k)
{
	u32 known = k->peer.n;
	for (u32 i = known; !k->s->q->host.n && i < MIN(k->s->expect, (u32)BUS_HOSTS); i++)
		end_peer(k, add_peer(k, STR("?")), FLEET_UNREACHABLE,
			 "fewer agents have answered than --expect says");
}

/* The question is over, also for hosts that were given up, or that have just learned of it. */
static void stop_rest(struct asking *k)
{
	struct message m = {.kind = MSG_STOP, .reply = str_z(k->s->reply)};
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
	u64 hosts = s->q->host.n ? s->q->host.n : s->expect ? s->expect : 1000;
	k.spread_ms = hosts / 2;
	k.end_ns = s->q->for_ns ? k.begun_ns + s->q->for_ns + s->wait_ns : 0;
	k.beat_ns = k.begun_ns + BEAT_MS * (u64)MILLI_NS;
	for (u32 i = 0; i < s->hosts.n; i++) {
		struct peer *p = add_peer(&k, s->hosts.v[i]);
		tab_add(&k.by_name, p->name, p);
	}
	send_ask(&k, NULL);
	talk(&k);
	add_unknown(&k);
	stop_rest(&k);
	nats_flush(s->nats, FLUSH_MS);
	pack_u64(&b, 0);
	pack_u64(&b, k.spread_ns);
	pack_u64(&b, k.last_ns ? k.last_ns - k.begun_ns : 0);
	put_frame(&k, BUS_TIMES, 0, sb_str(&b));
	for (u32 i = 0; i < k.peer.n; i++) {
		sb_free(&k.peer.v[i]->boot);
		sb_free(&k.peer.v[i]->why);
	}
	vec_free(&k.peer);
	tab_free(&k.by_name);
	arena_free(&k.a);
	return k.broken ? err_new("sonde fleet is gone") : NULL;
}
