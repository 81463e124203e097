/* guard.c - see the header. */
#include "agent/guard.h"
#include "base/alloc.h"

/* A question that was judged, until it is over. */
struct judged {
	struct arena a;
	struct question q; /* of bytes */
	struct sb bytes;
	struct judgement j;
	u64 begun_ns;
	struct judged *next;
};
struct guard {
	const struct conf *c;
	struct policy p;
	struct judged *judged;
};

static void free_judged(struct judged *d)
{
	judgement_free(&d->j);
	sb_free(&d->bytes);
	arena_free(&d->a);
	free(d);
}

/* The place that leads to it; NULL behind the last. */
static struct judged **find(struct guard *g, const u8 id[QUESTION_ID])
{
	struct judged **at = &g->judged;
	while (*at && memcmp((*at)->q.id, id, QUESTION_ID) != 0)
		at = &(*at)->next;
	return at;
}

struct err *guard_open(const struct conf *c, struct str host, struct guard **ret)
{
	struct err *e = policy_ready(c);
	if (e)
		return e;
	struct guard *g = xcalloc(1, sizeof(*g));
	*g = (struct guard){.c = c, .p = {.c = c, .host = host}};
	e = replay_open(c->state, clock_ns(CLOCK_REALTIME), &g->p.replay);
	if (e)
		guard_free(g);
	else
		*ret = g;
	return e;
}

struct err *guard_judge(struct guard *g, const struct question *q, struct str bytes,
			struct str signature)
{
	struct judged *d = *find(g, q->id);
	if (d)
		return err_new("the question is running already");
	d = xcalloc(1, sizeof(*d));
	*d = (struct judged){.begun_ns = now_ns(), .next = g->judged};
	sb_add(&d->bytes, bytes);
	struct err *e = question_unpack(&d->a, sb_str(&d->bytes), &d->q);
	if (e) {
		free_judged(d);
		return e;
	}
	g->judged = d;
	return policy_judge(&g->p, &d->q, bytes, signature, clock_ns(CLOCK_REALTIME), &d->j);
}

void guard_frame(struct guard *g, const struct question *q, u64 for_ns, struct sb *ret)
{
	struct arena a = {0};
	struct judged *d = *find(g, q->id);
	struct question limited = *q;
	struct question_list more;
	assert(d);
	limited.for_ns = policy_for_ns(g->c, for_ns);
	policy_words(g->c, q, &d->j, &a, &more);
	question_frame(&limited, &more, ret);
	arena_free(&a);
}

struct err *guard_started(struct guard *g, int pid)
{
	return policy_limit(g->c, pid);
}

void guard_ended(struct guard *g, const u8 id[QUESTION_ID], const struct guard_end *end,
		 struct sb *json)
{
	struct judged **at = find(g, id), *d = *at;
	struct question unknown = {0}; /* refused before it was judged */
	memcpy(unknown.id, id, QUESTION_ID);
	const struct audit a = {
		.q = d ? &d->q : &unknown,
		.host = g->p.host,
		.signer = d ? sb_str(&d->j.signer) : STR(""),
		.sha256 = d ? d->j.sha256 : "",
		.end = end->end,
		.why = end->why,
		.took_ns = d && end->end != AUDIT_REFUSED ? now_ns() - d->begun_ns : 0,
		.cpu_ns = end->cpu_ns,
		.bytes = end->bytes,
	};
	audit_log(&a);
	audit_json(&a, json);
	if (d) {
		*at = d->next;
		free_judged(d);
	}
}

/* Reasons of policy.h are about a question, which is the order here. */
static struct err *of_order(struct err *e)
{
	static const struct str what = STR("question");
	AUTO_SB b = {0};
	if (!e)
		return NULL;
	struct str rest = str_z(e->msg);
	for (i32 at; (at = str_find(rest, what)) >= 0;) {
		struct str after = str_from(rest, (u32)at + what.n);
		bool many = after.n && after.s[0] == 's';
		sb_add(&b, str_n(rest.s, (u32)at));
		sb_z(&b, many ? "question" : "order to stop");
		rest = after;
	}
	sb_add(&b, rest);
	err_free(e);
	return err_new("%s", b.s);
}

/* *q: what is known of the order; its name is that of the question in any case. */
static struct err *judge_stop(const struct guard *g, struct str order, struct arena *a,
			      struct question *q, struct judgement *j)
{
	struct str bytes = STR(""), signature = STR(""), name = q->name;
	struct err *e = order.n ? question_unseal(order, &bytes, &signature) : NULL;
	if (!e && order.n)
		e = question_unpack_stop(a, bytes, q);
	if (!e && !str_eq(q->name, name))
		e = err_new("the order to stop is not for what the message names");
	q->name = name;
	if (e)
		return e;
	return of_order(policy_stops(&g->p, q, bytes, signature, clock_ns(CLOCK_REALTIME), j));
}

struct err *guard_stop(struct guard *g, const u8 id[QUESTION_ID], struct str order, struct sb *json)
{
	static const u8 all[QUESTION_ID];
	struct arena a = {0};
	struct judgement j = {0};
	char name[QUESTION_ID_HEX + 1] = "";
	if (g->c->allow == CONF_ANY)
		return NULL;
	if (memcmp(id, all, sizeof(all)) != 0)
		question_id_text(id, name);
	struct question q = {.kind = QUESTION_STOP, .name = str_z(name)};
	struct err *e = judge_stop(g, order, &a, &q, &j);
	const struct audit record = {.q = &q,
				     .host = g->p.host,
				     .signer = sb_str(&j.signer),
				     .sha256 = j.sha256,
				     .end = e ? AUDIT_REFUSED : AUDIT_ANSWERED,
				     .why = e ? str_z(e->msg) : STR("")};
	audit_log(&record);
	audit_json(&record, json);
	judgement_free(&j);
	arena_free(&a);
	return e;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	for (struct judged *d = g->judged, *next; d; d = next) {
		next = d->next;
		free_judged(d);
	}
	replay_free(g->p.replay);
	free(g);
}
