/* hub.c - see the header. */
#include "agent/hub.h"
#include "agent/collect.h"
#include "base/alloc.h"
#include <poll.h>
#include <sys/random.h>

enum {
	STEP_MS = 100,
	MAX_HOSTS = 2048,
	AGAIN_MOST_MS = 10000, /* between two MERGED */
	MAX_PULLED = 8,        /* pieces that one PULL gets */
};

enum stage {
	COLLECTS,
	MERGES,
	MERGED, /* the asker fetches it */
	FAILED,
};
/* The answers to one question. */
struct served {
	struct served *next;
	struct hub *hub;
	u8 id[QUESTION_ID];
	char *reply, *why;
	enum stage stage;
	struct task *task; /* NULL: it has failed */
	struct collect c;
	bool last, now; /* as the asker says */
	u64 beat_ns;
	u64 send_ns; /* when MERGED is due */
	u32 nsent;
};
struct hub {
	const struct hub_setup *s;
	u64 instance;
	struct served *served;
};

/* ---- messages that it sends ---- */

static bool send_to(struct hub *h, struct str subject, struct message *m)
{
	AUTO_SB b = {0}, to = {0};
	m->host = h->s->host;
	m->boot = h->s->boot;
	m->kernel = h->s->kernel;
	m->version = h->s->version;
	m->instance = m->instance ? m->instance : h->instance;
	message_pack(m, &b);
	sb_add(&to, subject);
	return h->s->send(h->s->arg, to.s, sb_str(&b));
}

static void send_of(struct served *v, struct message *m)
{
	memcpy(m->id, v->id, sizeof(m->id));
	send_to(v->hub, str_z(v->reply), m);
}

/* .instance is the agent's. */
static void send_agent(void *arg, struct str host, struct message *m)
{
	struct served *v = arg;
	AUTO_SB to = {0};
	subject_from_hub(&to, host);
	memcpy(m->id, v->id, sizeof(m->id));
	send_to(v->hub, sb_str(&to), m);
}

static void send_serves(struct served *v)
{
	AUTO_SB names = {0};
	for (u32 i = 0; i < v->c.peer.n; i++)
		if (v->c.peer.v[i]->stage == PEER_OVER && v->c.peer.v[i]->listed)
			sb_fmt(&names, "%s%.*s", names.n ? "\n" : "", STRF(v->c.peer.v[i]->name));
	struct message m = {.kind = MSG_SERVES,
			    .good = v->stage != FAILED,
			    .last = v->stage == MERGES,
			    .why = str_z(v->why),
			    .names = sb_str(&names)};
	send_of(v, &m);
}

static void send_merged(struct served *v)
{
	struct str all = task_answer(v->task);
	struct message m = {.kind = MSG_MERGED,
			    .bytes = all.n,
			    .pieces = (all.n + PIECE_BYTES - 1) / PIECE_BYTES};
	if (!v->nsent && all.n <= ANSWER_SENT)
		m.data = all;
	u64 wait_ms = MIN((u64)BEAT_MS << MIN(v->nsent, 8u), (u64)AGAIN_MOST_MS);
	v->nsent++;
	v->send_ns = now_ns() + wait_ms * MILLI_NS;
	send_of(v, &m);
}

static void send_here(struct hub *h, const struct message *who)
{
	struct message m = {.kind = MSG_HERE, .labels = STR("(hub)")};
	if (!who->labels.n)
		send_to(h, who->reply, &m);
}

/* ---- questions ---- */

static void put_frame(void *arg, enum bus_kind kind, u32 host, struct str bytes)
{
	AUTO_SB b = {0};
	struct served *v = arg;
	bus_put(&b, kind, host, bytes);
	if (v->task)
		task_feed(v->task, sb_str(&b));
}

static struct served *find(const struct hub *h, const u8 id[QUESTION_ID])
{
	struct served *v = h->served;
	while (v && memcmp(v->id, id, QUESTION_ID) != 0)
		v = v->next;
	return v;
}

static void free_served(struct served *v)
{
	task_free(v->task);
	collect_free(&v->c);
	free(v->reply);
	free(v->why);
	free(v);
}

static void fail(struct served *v, const char *why)
{
	struct hub *h = v->hub;
	task_free(v->task);
	v->task = NULL;
	v->stage = FAILED;
	v->why = v->why ? v->why : xstrdup(why);
	if (h->s->ended)
		h->s->ended(h->s->arg, v->c.peer.n, v->why);
	send_serves(v);
}

static struct err *begin(struct hub *h, struct served *v, const struct question *q,
			 struct str bytes, struct str signature)
{
	u32 n = 0;
	for (const struct served *i = h->served; i; i = i->next)
		n += i->task != NULL;
	if (n >= h->s->max_running)
		return err_new("the hub merges answers to %u questions already", n);
	struct err *e = h->s->judge ? h->s->judge(h->s->arg, q, bytes, signature) : NULL;
	e = e ? e : h->s->start(h->s->arg, &v->task);
	if (!e)
		task_go(v->task, 0);
	return e;
}

static void add_served(struct hub *h, const struct message *m, const struct question *q,
		       struct str bytes, struct str signature)
{
	struct served *v = xcalloc(1, sizeof(*v));
	AUTO_SB reply = {0};
	sb_add(&reply, q->reply);
	*v = (struct served){
		.hub = h, .next = h->served, .reply = xstrdup(reply.s), .beat_ns = now_ns()};
	v->c = (struct collect){.arg = v, .put = put_frame, .send = send_agent, .got = MSG_HELD};
	memcpy(v->id, m->id, sizeof(v->id));
	struct err *e = begin(h, v, q, bytes, signature);
	h->served = v;
	if (e)
		fail(v, e->msg);
	else
		send_serves(v);
	err_free(e);
}

/* Nothing is answered to what is no question. */
static void take_hubs(struct hub *h, const struct message *m)
{
	struct arena mem = {0};
	struct str bytes, signature;
	struct question q;
	struct served *v = find(h, m->id);
	if (v) {
		send_serves(v);
		return;
	}
	struct err *e = question_unseal(m->sealed, &bytes, &signature);
	if (!e)
		e = question_unpack(&mem, bytes, &q);
	if (!e && !memcmp(q.id, m->id, QUESTION_ID) && subject_is_inbox(q.reply))
		add_served(h, m, &q, bytes, signature);
	err_free(e);
	arena_free(&mem);
}

/* Hosts that the asker wants, and no others. */
static void take_part(struct served *v, const struct message *m)
{
	struct str names = m->names, name;
	struct collect *c = &v->c;
	v->beat_ns = now_ns();
	for (u32 i = 0; i < c->peer.n; i++)
		c->peer.v[i]->listed = false;
	while (v->stage == COLLECTS && names.n && str_cut(&names, '\n', &name)) {
		struct peer *p = collect_of(c, name);
		if (!p && c->peer.n < MAX_HOSTS && subject_is_name(name))
			p = collect_add(c, name);
		if (p)
			p->listed = true;
	}
	for (u32 i = 0; i < c->peer.n && v->stage == COLLECTS; i++)
		if (!c->peer.v[i]->listed)
			collect_end(c, c->peer.v[i], FLEET_LATE, "");
	v->last |= m->last;
	v->now |= m->now;
	send_serves(v);
}

static void take_answer(struct served *v, const struct message *m)
{
	struct peer *p = collect_of(&v->c, m->host);
	if (!p || v->stage != COLLECTS)
		return;
	p->heard_ns = now_ns();
	if (m->kind == MSG_DONE)
		collect_done(&v->c, p, m);
	else
		collect_piece(&v->c, p, m);
}

static void take_pull(struct served *v, const struct message *m)
{
	struct str all = v->stage == MERGED ? task_answer(v->task) : STR("");
	u64 pieces = (all.n + PIECE_BYTES - 1) / PIECE_BYTES;
	for (u64 i = 0; i < MIN(m->count, (u64)MAX_PULLED) && m->first < pieces - i; i++) {
		struct str rest = str_from(all, (u32)((m->first + i) * PIECE_BYTES));
		struct message piece = {.kind = MSG_PIECE,
					.first = m->first + i,
					.data = str_n(rest.s, MIN(rest.n, (u32)PIECE_BYTES))};
		send_of(v, &piece);
	}
}

static void drop(struct hub *h, struct served *gone)
{
	struct served **at = &h->served;
	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	free_served(gone);
}

void hub_take(struct hub *h, struct str bytes)
{
	struct message m;
	if (message_unpack(bytes, &m))
		return;
	struct served *v = find(h, m.id);
	bool ours = v && m.instance == h->instance;
	if (m.kind == MSG_HUBS)
		take_hubs(h, &m);
	else if (m.kind == MSG_WHO)
		send_here(h, &m);
	else if (v && (m.kind == MSG_DONE || m.kind == MSG_PIECE))
		take_answer(v, &m);
	else if (ours && m.kind == MSG_PART)
		take_part(v, &m);
	else if (ours && m.kind == MSG_PULL)
		take_pull(v, &m);
	else if (ours && m.kind == MSG_GOT)
		drop(h, v);
}

void hub_again(struct hub *h)
{
	for (struct served *v = h->served; v; v = v->next) {
		collect_again(&v->c);
		v->send_ns = 0;
	}
}

/* ---- time ---- */

static bool is_complete(const struct served *v)
{
	for (u32 i = 0; i < v->c.peer.n && !v->now; i++)
		if (v->c.peer.v[i]->stage != PEER_OVER)
			return false;
	return v->c.peer.n && (v->last || v->now);
}

static void merge(struct served *v)
{
	v->stage = MERGES;
	task_end_input(v->task);
}

static void look_at_merge(struct served *v)
{
	const struct task *t = v->task;
	struct hub *h = v->hub;
	AUTO_SB why = {0};
	if (!t->over)
		return;
	if (!t->wrong && !t->status && task_answer(t).n) {
		v->stage = MERGED;
		v->send_ns = 0;
		if (h->s->ended)
			h->s->ended(h->s->arg, v->c.peer.n, NULL);
		return;
	}
	sb_visible(&why, t->wrong ? str_z(t->wrong) : str_trim(sb_str(&t->said)));
	fail(v, why.n ? why.s : "sonde fleet-hub has merged nothing");
}

static void step(struct served *v, u64 now)
{
	if (v->stage == COLLECTS) {
		collect_pull(&v->c, now);
		if (is_complete(v))
			merge(v);
	}
	if (v->task)
		task_step(v->task);
	if (v->stage == COLLECTS || v->stage == MERGES)
		look_at_merge(v);
	if (v->stage == MERGED && now >= v->send_ns)
		send_merged(v);
}

void hub_step(struct hub *h)
{
	u64 now = now_ns();
	for (struct served *v = h->served, *next; v; v = next) {
		next = v->next;
		step(v, now);
		if (now > v->beat_ns + BEATS_END_MS * (u64)MILLI_NS)
			drop(h, v);
	}
}

u64 hub_due(const struct hub *h)
{
	return h->served ? now_ns() + STEP_MS * (u64)MILLI_NS : UINT64_MAX;
}

u32 hub_poll(const struct hub *h, struct pollfd *ret, u32 max)
{
	u32 n = 0;
	for (const struct served *v = h->served; v && n + TASK_FDS <= max; v = v->next)
		if (v->task && !v->task->over)
			n += task_poll(v->task, ret + n);
	return n;
}

bool hub_subject(const struct hub *h, u32 i, struct sb *ret)
{
	switch (i) {
	case 0: subject_of_hub(ret, STR("")); return true;
	case 1: subject_of_hub(ret, h->s->host); return true;
	case 2: subject_of_all(ret); return true; /* who is there */
	case 3: subject_of_via(ret, STR("_INBOX.*"), h->s->host); return true;
	}
	return false;
}

struct hub *hub_new(const struct hub_setup *s)
{
	struct hub *h = xcalloc(1, sizeof(*h));
	*h = (struct hub){.s = s};
	while (!h->instance)
		if (getrandom(&h->instance, sizeof(h->instance), 0) != sizeof(h->instance))
			h->instance = now_ns();
	return h;
}

void hub_free(struct hub *h)
{
	while (h && h->served)
		drop(h, h->served);
	free(h);
}
