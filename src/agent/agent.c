/* agent.c - see the header. */
#include "agent/agent.h"
#include "base/alloc.h"
#include <poll.h>
#include <stdio.h>
#include <sys/random.h>

enum {
	MAX_SPREAD_MS = 10000,
	BEATS_PER_SIGN =
		5, /* while it runs, TAKEN is sent again every so many beats: it is still there */
	MAX_ASKED = 4,        /* `fleet list` at a time */
	DONE_MOST_MS = 10000, /* between two DONE */
	SMALL_ANSWER = 4096,  /* sent at once, whatever the spread */
	OWN_CLOCK_MS =
		500, /* before the time of --at, a host that was not told its clock begins by it */
};
static const i64 MAX_AHEAD_NS = 3600ll * SECOND_NS;

enum stage {
	NOT_FOR_US,
	REFUSED,
	RUNS,
	DONE, /* the answer is kept */
	GONE, /* it was fetched, or kept for long enough */
};
struct run {
	struct run *next;
	u8 id[QUESTION_ID];
	enum stage stage;
	struct str reply; /* copy */
	char *why;
	struct task *task;
	u64 since_ns, asked_ns, came_ns;
	u64 spread_ms;
	u64 beat_ns;  /* when something was heard of the asker */
	u32 nbeat;    /* how often */
	u64 taken_ns; /* when TAKEN is due; 0: it was sent */
	u64 done_ns;  /* when DONE is due */
	u32 ndone;    /* how many were sent */
	u64 drop_ns;  /* when the answer is forgotten */
	u64 at_ns;    /* when it begins, by the asker's clock; 0: at once, or it was begun */
	u64 go_ns; /* when it is begun by our own clock, if the asker has not compared the clocks */
	char *via; /* subject of the hub that the answer goes to; NULL: .reply */
	bool held; /* it has it */
	char asker[64];
	u8 secret_sum[SHA256_BYTES];
	u64 began_ns, for_ns;
};
struct asked {      /* WHO */
	u64 due_ns; /* 0: none */
	char reply[QUESTION_MAX_NAME + 1];
};
struct agent {
	const struct agent_setup *s;
	u64 instance;
	struct run *run; /* the newest first */
	u32 nrun;
	struct asked asked[MAX_ASKED];
	u64 due_ns;
};

static u64 any_number(void)
{
	u64 n = 0;
	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = now_ns(); /* it only spreads messages and tells restarts apart */
	return n;
}

/* Not 0; without spread_ms it has come. */
static u64 soon(u64 spread_ms)
{
	u64 most = MIN(spread_ms, (u64)MAX_SPREAD_MS) * MILLI_NS;
	return most ? now_ns() + any_number() % most : 1;
}

/* ---- messages that it sends ---- */

static bool send_to(struct agent *a, struct str subject, struct message *m)
{
	AUTO_SB b = {0}, to = {0};
	m->host = a->s->host;
	m->instance = a->instance;
	m->boot = a->s->boot;
	m->kernel = a->s->kernel;
	m->version = a->s->version;
	message_pack(m, &b);
	sb_add(&to, subject);
	return a->s->send(a->s->arg, to.s, sb_str(&b));
}

static bool send_of(struct agent *a, const struct run *r, struct message *m)
{
	bool answer = m->kind == MSG_DONE || m->kind == MSG_PIECE;
	memcpy(m->id, r->id, sizeof(m->id));
	return send_to(a, answer && r->via ? str_z(r->via) : r->reply, m);
}

static void send_taken(struct agent *a, struct run *r)
{
	struct message m = {
		.kind = MSG_TAKEN,
		.since_ns = r->since_ns,
		.asked_ns = r->asked_ns,
		.came_ns = r->came_ns,
		.sent_ns = clock_ns(CLOCK_REALTIME),
		.good = r->stage != REFUSED,
		.why = str_z(r->why),
	};
	r->taken_ns = 0;
	send_of(a, r, &m);
}

static void send_done(struct agent *a, struct run *r)
{
	struct str all = task_answer(r->task);
	struct message m = {
		.kind = MSG_DONE,
		.since_ns = r->since_ns,
		.good = !r->task->status && !r->task->wrong,
		.cut = r->task->cut,
		.why = str_z(r->task->wrong),
		.said = sb_str(&r->task->said),
		.bytes = all.n,
		.pieces = (all.n + PIECE_BYTES - 1) / PIECE_BYTES,
	};
	if (!r->ndone && all.n <= ANSWER_SENT)
		m.data = all;
	u64 wait_ms = MIN((u64)BEAT_MS << MIN(r->ndone, 8u), (u64)DONE_MOST_MS);
	r->ndone++;
	r->done_ns = r->held ? UINT64_MAX : now_ns() + wait_ms * MILLI_NS;
	send_of(a, r, &m);
}

static void send_piece(struct agent *a, const struct run *r, u64 i)
{
	struct str all = task_answer(r->task), rest = str_from(all, (u32)(i * PIECE_BYTES));
	struct message m = {.kind = MSG_PIECE,
			    .first = i,
			    .data = str_n(rest.s, MIN(rest.n, (u32)PIECE_BYTES))};
	send_of(a, r, &m);
}

static void put_running(const struct agent *a, struct sb *b)
{
	u64 now = now_ns();
	for (const struct run *r = a->run; r; r = r->next) {
		char id[QUESTION_ID_HEX + 1];
		if (r->stage != RUNS)
			continue;
		question_id_text(r->id, id);
		sb_fmt(b, "%s%s %llu s", b->n ? ", " : "", id, (now - r->began_ns) / SECOND_NS);
		if (r->for_ns)
			sb_fmt(b, " of %llu s", r->for_ns / SECOND_NS);
		if (*r->asker)
			sb_fmt(b, " for %s", r->asker);
	}
}

static void send_here(struct agent *a, struct asked *who)
{
	AUTO_SB labels = {0}, running = {0};
	for (u32 i = 0; i < a->s->label.n; i++)
		sb_fmt(&labels, "%s%.*s", i ? "," : "", STRF(a->s->label.v[i]));
	put_running(a, &running);
	struct message m = {
		.kind = MSG_HERE, .labels = sb_str(&labels), .running = sb_str(&running)};
	who->due_ns = 0;
	send_to(a, str_z(who->reply), &m);
}

/* ---- questions ---- */

static struct run *find(const struct agent *a, const u8 id[QUESTION_ID])
{
	struct run *r = a->run;
	while (r && memcmp(r->id, id, QUESTION_ID) != 0)
		r = r->next;
	return r;
}

static void free_run(struct run *r)
{
	task_free(r->task);
	free(r->why);
	free(r->via);
	free((char *)r->reply.s);
	free(r);
}

/* The oldest of those that are over is forgotten; one whose answer is kept only if there is no other. */
static void make_room(struct agent *a)
{
	struct run **oldest = NULL, **kept = NULL;
	for (struct run **at = &a->run; *at; at = &(*at)->next)
		if ((*at)->stage == DONE)
			kept = at;
		else if ((*at)->stage != RUNS)
			oldest = at;
	oldest = oldest ? oldest : kept;
	if (!oldest)
		return;
	struct run *gone = *oldest;
	*oldest = gone->next;
	free_run(gone);
	a->nrun--;
}

static struct run *add_run(struct agent *a, const struct message *m, struct str reply)
{
	if (a->nrun >= MAX_RUNS)
		make_room(a);
	struct run *r = xcalloc(1, sizeof(*r));
	char *copy = xcalloc(reply.n + 1u, 1);
	memcpy(copy, reply.s, reply.n);
	*r = (struct run){
		.next = a->run,
		.reply = str_n(copy, reply.n),
		.since_ns = m->since_ns,
		.asked_ns = m->asked_ns,
		.came_ns = clock_ns(CLOCK_REALTIME),
		.spread_ms = m->spread_ms,
		.beat_ns = now_ns(),
		.began_ns = now_ns(),
	};
	memcpy(r->id, m->id, sizeof(r->id));
	a->run = r;
	a->nrun++;
	return r;
}

static u32 count_running(const struct agent *a)
{
	u32 n = 0;
	for (const struct run *r = a->run; r; r = r->next)
		n += r->stage == RUNS;
	return n;
}

/* Runs it; an error says why not. */
static struct err *begin(struct agent *a, struct run *r, const struct question *q, struct str bytes,
			 struct str signature)
{
	u64 left = q->for_ns - MIN(q->for_ns, r->since_ns), wall = clock_ns(CLOCK_REALTIME);
	if (q->for_ns && !left)
		return err_new("the question came after its end");
	if (count_running(a) >= a->s->max_running)
		return err_new(
			"%u question%s running already, which is as many as this host allows",
			a->s->max_running, a->s->max_running == 1 ? " is" : "s are");
	struct err *e = a->s->judge ? a->s->judge(a->s->arg, q, bytes, signature) : NULL;
	e = e ? e : a->s->start(a->s->arg, q, left, &r->task);
	if (e)
		return e;
	r->at_ns = r->since_ns ? 0 : q->at_ns;
	r->go_ns = now_ns() + (r->at_ns > wall ? r->at_ns - wall : 0);
	r->go_ns -= MIN(r->go_ns, OWN_CLOCK_MS * (u64)MILLI_NS);
	if (!r->at_ns)
		task_go(r->task, 0);
	return NULL;
}

static void take_question(struct agent *a, const struct message *m, const struct question *q,
			  struct str bytes, struct str signature)
{
	struct run *r = add_run(a, m, q->reply);
	if (!question_is_for(q, a->s->host, &a->s->label)) {
		r->stage = NOT_FOR_US;
		return;
	}
	/* Until the time of --at it is not late. */
	u64 lead = q->at_ns ? q->at_ns - q->not_before_ns : 0;
	r->since_ns -= MIN(r->since_ns, lead);
	snprintf(r->asker, sizeof(r->asker), "%.*s", STRF(q->asker));
	memcpy(r->secret_sum, q->secret_sum, sizeof(r->secret_sum));
	r->for_ns = q->for_ns;
	struct err *e = begin(a, r, q, bytes, signature);
	r->stage = e ? REFUSED : RUNS;
	r->taken_ns = soon(r->spread_ms);
	if (e) {
		r->why = xstrdup(e->msg);
		if (a->s->ended)
			a->s->ended(a->s->arg, r->id, NULL, r->why);
	}
	err_free(e);
}

/* Nothing is answered to what is no question: there is nobody whom its sender has proven to be. */
static void take_ask(struct agent *a, const struct message *m)
{
	struct arena mem = {0};
	struct str bytes, signature;
	struct question q;
	struct err *e = question_unseal(m->sealed, &bytes, &signature);
	if (!e)
		e = question_unpack(&mem, bytes, &q);
	if (!e && !memcmp(q.id, m->id, QUESTION_ID) && subject_is_inbox(q.reply))
		take_question(a, m, &q, bytes, signature);
	err_free(e);
	arena_free(&mem);
}

static void take_beat(struct agent *a, const struct message *m, struct run *r)
{
	if (!r) {
		struct message want = {.kind = MSG_WANT};
		memcpy(want.id, m->id, sizeof(want.id));
		send_to(a, m->reply, &want);
		return;
	}
	r->beat_ns = now_ns();
	if (r->held)
		r->drop_ns = r->beat_ns + KEEP_MS * (u64)MILLI_NS;
	if (++r->nbeat % BEATS_PER_SIGN == 0 && r->stage == RUNS && !r->taken_ns)
		r->taken_ns = soon(MAX(r->spread_ms, BEAT_MS));
	if (m->again && r->stage != NOT_FOR_US && r->stage != GONE && !r->taken_ns)
		r->taken_ns = soon(r->spread_ms);
	if (m->again && r->stage == DONE && !r->held)
		r->done_ns = soon(r->spread_ms);
}

/* Another hub, or none. What it does not have is sent anew. */
static void take_via(struct agent *a, const struct message *m, struct run *r)
{
	AUTO_SB via = {0};
	if (!r || m->instance != a->instance || (r->stage != RUNS && r->stage != DONE))
		return;
	if (m->hub.n)
		subject_of_via(&via, r->reply, m->hub);
	if (str_eq(sb_str(&via), str_z(r->via)))
		return;
	free(r->via);
	r->via = via.n ? xstrdup(via.s) : NULL;
	r->held = false;
	r->ndone = 0;
	if (r->stage == DONE) {
		r->drop_ns = now_ns() + KEEP_MS * (u64)MILLI_NS;
		r->done_ns = soon(r->spread_ms);
	}
}

static void take_held(const struct agent *a, const struct message *m, struct run *r)
{
	if (!r || r->stage != DONE || !r->via || m->instance != a->instance)
		return;
	r->held = true;
	r->done_ns = UINT64_MAX;
	r->drop_ns = now_ns() + KEEP_MS * (u64)MILLI_NS;
}

/* The asker has compared the clocks, and none is further off than questions may be. */
static void take_start(const struct agent *a, const struct message *m, struct run *r)
{
	i64 ahead = (i64)m->ahead_ns;
	if (!r || r->stage != RUNS || !r->at_ns || m->instance != a->instance ||
	    ahead > MAX_AHEAD_NS || ahead < -MAX_AHEAD_NS)
		return;
	task_go(r->task, r->at_ns + (u64)ahead);
	r->at_ns = 0;
}

static void take_pull(struct agent *a, const struct message *m, const struct run *r)
{
	if (!r || r->stage != DONE || m->instance != a->instance)
		return;
	u64 pieces = (task_answer(r->task).n + PIECE_BYTES - 1) / PIECE_BYTES;
	for (u64 i = 0; i < MIN(m->count, (u64)MAX_PULLED) && m->first < pieces - i; i++)
		send_piece(a, r, m->first + i);
}

static void forget(struct run *r)
{
	task_free(r->task);
	r->task = NULL;
	r->stage = GONE;
}

static bool is_of_asker(const struct run *r, struct str secret)
{
	u8 sum[SHA256_BYTES];
	sha256(secret.s, secret.n, sum);
	return secret.n == QUESTION_SECRET && !memcmp(sum, r->secret_sum, sizeof(sum));
}

static void stop_runs(const struct agent *a, const struct message *m, bool every,
		      struct message *stopped)
{
	for (struct run *r = a->run; r; r = r->next) {
		if (r->stage != RUNS || (!every && memcmp(r->id, m->id, sizeof(r->id)) != 0))
			continue;
		task_stop(r->task);
		stopped->count++;
	}
}

/* An order to end all is looked at also if nothing runs, so that a copy of it is refused later. */
static void take_stop(struct agent *a, const struct message *m, const struct run *r)
{
	static const u8 all[QUESTION_ID];
	struct message stopped = {.kind = MSG_STOPPED};
	bool every = !memcmp(m->id, all, sizeof(all));
	if (!every && (!r || r->stage != RUNS))
		return;
	bool proven = !a->s->stop || (!every && is_of_asker(r, m->secret));
	struct err *e = proven ? NULL : a->s->stop(a->s->arg, m->id, m->sealed);
	stopped.good = !e;
	stopped.why = e ? str_z(e->msg) : STR("");
	if (!e)
		stop_runs(a, m, every, &stopped);
	memcpy(stopped.id, m->id, sizeof(stopped.id));
	if (stopped.count || e)
		send_to(a, m->reply, &stopped);
	err_free(e);
}

static bool has_labels(const struct agent *a, struct str wanted)
{
	struct str one;
	while (wanted.n && str_cut(&wanted, ',', &one)) {
		bool found = false;
		for (u32 i = 0; i < a->s->label.n; i++)
			found |= str_eq(a->s->label.v[i], one);
		if (!found)
			return false;
	}
	return true;
}

static void take_who(struct agent *a, const struct message *m)
{
	for (u32 i = 0; i < MAX_ASKED && has_labels(a, m->labels); i++) {
		struct asked *who = &a->asked[i];
		if (who->due_ns)
			continue;
		snprintf(who->reply, sizeof(who->reply), "%.*s", STRF(m->reply));
		who->due_ns = soon(m->spread_ms);
		return;
	}
}

void agent_take(struct agent *a, struct str bytes)
{
	struct message m;
	if (message_unpack(bytes, &m))
		return;
	struct run *r = find(a, m.id);
	a->due_ns = 0;
	switch (m.kind) {
	case MSG_ASK: r ? take_beat(a, &m, r) : take_ask(a, &m); break;
	case MSG_BEAT: take_beat(a, &m, r); break;
	case MSG_PULL: take_pull(a, &m, r); break;
	case MSG_GOT:
		if (r && r->stage == DONE && m.instance == a->instance)
			forget(r);
		break;
	case MSG_STOP: take_stop(a, &m, r); break;
	case MSG_WHO: take_who(a, &m); break;
	case MSG_START: take_start(a, &m, r); break;
	case MSG_VIA: take_via(a, &m, r); break;
	case MSG_HUBS:
	case MSG_PART:
	case MSG_HELD: break; /* for hubs, or of them */
	case MSG_SERVES:
	case MSG_MERGED:
	case MSG_TAKEN:
	case MSG_WANT:
	case MSG_DONE:
	case MSG_PIECE:
	case MSG_STOPPED:
	case MSG_HERE:
	case MSG_KINDS: break; /* for askers */
	}
}

void agent_take_of_hub(struct agent *a, struct str bytes)
{
	struct message m;
	if (message_unpack(bytes, &m))
		return;
	a->due_ns = 0;
	if (m.kind == MSG_PULL)
		take_pull(a, &m, find(a, m.id));
	else if (m.kind == MSG_HELD)
		take_held(a, &m, find(a, m.id));
}

void agent_again(struct agent *a)
{
	a->due_ns = 0;
	for (struct run *r = a->run; r; r = r->next) {
		if (r->stage == RUNS || r->stage == REFUSED || r->stage == DONE)
			r->taken_ns = soon(r->spread_ms);
		if (r->stage == DONE && !r->held)
			r->done_ns = soon(r->spread_ms);
	}
}

/* ---- time ---- */

/* Askers that fetch nothing do not fill the memory: the oldest answers are forgotten. */
static void bound_kept(struct agent *a)
{
	u64 bytes = 0;
	for (struct run *r = a->run; r; r = r->next) {
		bytes += r->stage == DONE ? task_answer(r->task).n : 0;
		if (r->stage == DONE && bytes > KEEP_BYTES)
			forget(r);
	}
}

static void step_run(struct agent *a, struct run *r, u64 now)
{
	if (r->stage == RUNS) {
		if (now > r->beat_ns + BEATS_END_MS * (u64)MILLI_NS)
			task_stop(r->task);
		if (r->at_ns && now >= r->go_ns) {
			task_go(r->task, r->at_ns);
			r->at_ns = 0;
		}
		task_step(r->task);
		if (r->task->over) {
			r->stage = DONE;
			r->drop_ns = now + KEEP_MS * (u64)MILLI_NS;
			bool small = task_answer(r->task).n <= SMALL_ANSWER;
			r->done_ns = MAX(soon(small ? 0 : r->spread_ms), r->taken_ns);
			if (a->s->ended)
				a->s->ended(a->s->arg, r->id, r->task, NULL);
			bound_kept(a);
		}
	}
	if (r->taken_ns && now >= r->taken_ns)
		send_taken(a, r);
	if (r->stage == DONE && now >= r->drop_ns)
		forget(r);
	else if (r->stage == DONE && now >= r->done_ns)
		send_done(a, r);
}

static u64 due_of(const struct run *r)
{
	u64 due = r->taken_ns ? r->taken_ns : UINT64_MAX;
	if (r->stage == RUNS) {
		u64 task = task_due(r->task), gone = r->beat_ns + BEATS_END_MS * (u64)MILLI_NS + 1;
		if (r->task->cut)
			gone = UINT64_MAX;
		if (r->at_ns)
			task = MIN(task, r->go_ns);
		due = MIN(due, MIN(task, gone));
	} else if (r->stage == DONE) {
		due = MIN(due, MIN(r->done_ns, r->drop_ns));
	}
	return due;
}

void agent_step(struct agent *a)
{
	u64 now = now_ns();
	for (struct run *r = a->run; r; r = r->next)
		step_run(a, r, now);
	a->due_ns = UINT64_MAX;
	for (const struct run *r = a->run; r; r = r->next)
		a->due_ns = MIN(a->due_ns, due_of(r));
	for (u32 i = 0; i < MAX_ASKED; i++) {
		struct asked *who = &a->asked[i];
		if (who->due_ns && now >= who->due_ns)
			send_here(a, who);
		if (who->due_ns)
			a->due_ns = MIN(a->due_ns, who->due_ns);
	}
}

u64 agent_due(const struct agent *a)
{
	return a->due_ns;
}

u32 agent_poll(const struct agent *a, struct pollfd *ret, u32 max)
{
	u32 n = 0;
	for (const struct run *r = a->run; r && n + TASK_FDS <= max; r = r->next)
		if (r->stage == RUNS)
			n += task_poll(r->task, ret + n);
	return n;
}

bool agent_subject(const struct agent *a, u32 i, struct sb *ret)
{
	struct str key, value;
	if (i == 0)
		subject_of_all(ret);
	else if (i == 1)
		subject_of_host(ret, a->s->host);
	else if (i == 2)
		subject_from_hub(ret, a->s->host);
	else if (i - 3 < a->s->label.n && i < AGENT_SUBJECTS &&
		 subject_is_label(a->s->label.v[i - 3], &key, &value))
		subject_of_label(ret, key, value);
	else
		return false;
	return true;
}

struct agent *agent_new(const struct agent_setup *s)
{
	struct agent *a = xcalloc(1, sizeof(*a));
	*a = (struct agent){.s = s, .instance = any_number(), .due_ns = UINT64_MAX};
	return a;
}

void agent_free(struct agent *a)
{
	while (a && a->run) {
		struct run *r = a->run;
		a->run = r->next;
		free_run(r);
	}
	free(a);
}
