/* policy.c - see the header. */
#include "agent/policy.h"
#include "agent/sign.h"
#include <errno.h>
#include <sys/resource.h>

static bool wants_unsafe(const struct question *q)
{
	struct str none;
	return question_option(q, "--unsafe", &none);
}

/* Also without a limit of its own: the agent sets one. */
static struct err *check_time(const struct conf *c, const struct question *q)
{
	if (q->for_ns <= c->max_ns)
		return NULL;
	return err_new("the question asks for %llu s of tracing, and this host allows %llu s",
		       (q->for_ns + SECOND_NS - 1) / SECOND_NS, c->max_ns / SECOND_NS);
}

/* What may not run without a signature. */
static struct err *check_unsigned(const struct conf *c, const struct question *q)
{
	if (wants_unsafe(q))
		return err_new("this host allows --unsafe only in questions that are signed");
	switch (c->allow) {
	case CONF_ANY: return NULL;
	case CONF_TOOLS:
		if (q->kind == QUESTION_TOOL)
			return NULL;
		return err_new("this host runs tools, but scripts only if they are signed, and the "
			       "question is not signed");
	case CONF_SIGNED: break;
	}
	return err_new("this host runs what is signed, and the question is not signed");
}

static struct err *check_options(const struct conf *c, const struct question *q)
{
	struct str budget;
	u64 share;
	if (wants_unsafe(q) && !c->unsafe)
		return err_new("this host does not allow --unsafe");
	if (question_option(q, "--budget", &budget) && !conf_percent(budget, &share))
		return err_new("'%.*s' is no budget: per cent are needed, as in 2%%", STRF(budget));
	return NULL;
}

struct err *policy_judge(const struct policy *p, const struct question *q, struct str bytes,
			 struct str signature, u64 wall_ns, struct judgement *ret)
{
	const struct conf *c = p->c;
	if (q->kind != QUESTION_TOOL)
		sha256_hex(q->text.s, q->text.n, ret->sha256);
	if (!question_is_for(q, p->host, &c->label))
		return err_new("the question is for other hosts");
	struct err *e = replay_time(q, wall_ns);
	e = e ? e : check_time(c, q);
	e = e ? e : check_options(c, q);
	if (!e)
		e = signature.n ? sign_check(c->allowed_signers, bytes, signature, &ret->signer)
				: check_unsigned(c, q);
	return e ? e : replay_take(p->replay, q, wall_ns);
}

struct err *policy_stops(const struct policy *p, const struct question *q, struct str bytes,
			 struct str signature, u64 wall_ns, struct judgement *ret)
{
	if (!signature.n)
		return err_new("this host stops questions only for their askers or by signed "
			       "orders, and this order is not signed");
	if (!question_is_for(q, p->host, &p->c->label))
		return err_new("the question is for other hosts");
	struct err *e = replay_time(q, wall_ns);
	e = e ? e : sign_check(p->c->allowed_signers, bytes, signature, &ret->signer);
	return e ? e : replay_take(p->replay, q, wall_ns);
}

struct err *policy_merges(const struct conf *c, const struct question *q, struct str bytes,
			  struct str signature, u64 wall_ns)
{
	AUTO_SB signer = {0};
	struct err *e = replay_time(q, wall_ns);
	if (e)
		return e;
	return signature.n ? sign_check(c->allowed_signers, bytes, signature, &signer)
			   : check_unsigned(c, q);
}

u64 policy_for_ns(const struct conf *c, u64 for_ns)
{
	return for_ns ? MIN(for_ns, c->max_ns) : c->max_ns;
}

static void add_word(struct arena *a, struct question_list *l, struct str word)
{
	arena_push(a, l->v, l->n, word);
}

/* --deny. Only --unsafe, where it is allowed, allows what changes the system. */
static void put_denials(struct sb *b, const struct conf *c, const struct question *q,
			bool is_signed)
{
	for (u32 i = 0; i < c->deny.n; i++)
		sb_fmt(b, "%s%.*s", b->n ? "," : "", STRF(c->deny.v[i]));
	if (!wants_unsafe(q))
		sb_fmt(b, "%swrite", b->n ? "," : "");
	if (c->allow == CONF_TOOLS && !is_signed)
		sb_fmt(b, "%sprobes", b->n ? "," : "");
}

void policy_label_words(const struct question_list *label, struct arena *a,
			struct question_list *ret)
{
	AUTO_SB b = {0};
	for (u32 i = 0; i < label->n; i++)
		sb_fmt(&b, "%s%.*s", i ? "," : "", STRF(label->v[i]));
	if (!b.n)
		return;
	add_word(a, ret, STR("--label"));
	add_word(a, ret, arena_str(a, sb_str(&b)));
}

void policy_words(const struct conf *c, const struct question *q, const struct judgement *j,
		  struct arena *a, struct question_list *ret)
{
	AUTO_SB deny = {0};
	struct str budget;
	u64 share = c->max_cpu, asked;
	*ret = (struct question_list){0};
	if (question_option(q, "--budget", &budget) && conf_percent(budget, &asked))
		share = MIN(share, asked);
	add_word(a, ret, STR("--budget"));
	add_word(a, ret, str_z(arena_fmt(a, "%llu.%04llu%%", share / 10000, share % 10000)));
	policy_label_words(&c->label, a, ret);
	put_denials(&deny, c, q, j->signer.n);
	if (deny.n) {
		add_word(a, ret, STR("--deny"));
		add_word(a, ret, arena_str(a, sb_str(&deny)));
	}
}

struct err *policy_limit(const struct conf *c, int pid)
{
	const struct rlimit l = {c->max_memory, c->max_memory};
	return prlimit(pid, RLIMIT_DATA, &l, NULL) ? err_sys(errno, "limit the memory of a trace")
						   : NULL;
}

struct err *policy_ready(const struct conf *c)
{
	return c->allow == CONF_ANY ? NULL : sign_ready(c->allowed_signers);
}

void judgement_free(struct judgement *j)
{
	sb_free(&j->signer);
}
