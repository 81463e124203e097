/*
 * tseries.c - tseries(): the latest intervals of a value over time.
 *
 * A copy is a ring of num slots; slot e % num holds {e, value} or, for averages, {e, total, count},
 * where e is the number of the interval since 1970 (0: nothing yet). A newer interval takes over
 * the slot of one that has become too old. So copies merge slot by slot, and what is to be shown
 * ends at the newest interval of all.
 */
#include "builtin/common.h"
#include "core/agg.h"
#include "core/recorded.h"

/* How observations of one interval become one value; type.p[2]. */
enum how { HOW_AVG, HOW_MAX, HOW_MIN, HOW_SUM };
enum { P_INTERVAL, P_NUM, P_HOW };

enum {
	MAX_NUM = 1000000,
	MAX_COPY = 32760, /* of one CPU: what the kernel's per-CPU maps can hold, and struct map's
			     "was stored" */
};

static const char *const how_names[] = {
	[HOW_AVG] = "avg", [HOW_MAX] = "max", [HOW_MIN] = "min", [HOW_SUM] = "sum"};

static u32 slot_words(const struct type *t)
{
	return t->p[P_HOW] == HOW_AVG ? 3 : 2;
}

static u32 words(const struct type *t)
{
	return (u32)t->p[P_NUM] * slot_words(t);
}

/* ---- type and checks ---- */
static bool find_how(const struct node *n, i64 *ret)
{
	struct str name;

	if (!node_str(n, &name))
		return false;
	for (u32 i = 0; i < countof(how_names); i++)
		if (str_is(name, how_names[i])) {
			*ret = i;
			return true;
		}
	return false;
}

static u32 most(i64 how)
{
	return MAX_COPY / 8 / (how == HOW_AVG ? 3 : 2);
}

static bool sound(const struct type *t)
{
	return t->p[P_INTERVAL] >= 1 && t->p[P_HOW] >= HOW_AVG && t->p[P_HOW] <= HOW_SUM &&
	       t->p[P_NUM] >= 1 && t->p[P_NUM] <= most(t->p[P_HOW]);
}

static const struct type *type_tseries(struct sema *s, struct node *call)
{
	const struct type *of = call_arg(call, 0)->type;
	struct type *t = arena_new(s->a, struct type);

	t->kind = T_TSERIES;
	t->is_signed = !of || of->is_signed;
	t->align = 8;
	node_int(call_arg(call, 1), &t->p[P_INTERVAL]);
	node_int(call_arg(call, 2), &t->p[P_NUM]);
	if (call_arg(call, 3))
		find_how(call_arg(call, 3), &t->p[P_HOW]);
	if (t->p[P_INTERVAL] < 1)
		t->p[P_INTERVAL] = 1;
	if (t->p[P_NUM] < 1 || t->p[P_NUM] > most(t->p[P_HOW]))
		t->p[P_NUM] = 1; /* check_tseries() reports it */
	t->size = words(t) * 8;
	return t;
}

static bool check_how(struct sema *s, struct node *call, i64 *how)
{
	struct node *n = call_arg(call, 3);
	struct str name;

	if (!n || find_how(n, how))
		return true;
	if (!builtin_text(s, call, 3, &name))
		return false;
	return sema_fail(s, E_RANGE, n->loc,
			 "tseries() expects one of the following aggregation functions: avg, max, "
			 "min, sum (\"%.*s\" provided)",
			 STRF(name));
}

static bool check_tseries(struct sema *s, struct node *call)
{
	i64 interval, num, how = HOW_AVG;

	if (!builtin_check_int(s, call) || !builtin_lit(s, call, 1, &interval) ||
	    !builtin_lit(s, call, 2, &num) || !check_how(s, call, &how))
		return false;
	if (interval < 1)
		return sema_fail(s, E_RANGE, call_arg(call, 1)->loc,
				 "tseries() interval_ns must be >= 1 (%lld provided)", interval);
	if (num < 1)
		return sema_fail(s, E_RANGE, call_arg(call, 2)->loc,
				 "tseries() num_intervals must be >= 1 (%lld provided)", num);
	if (num > MAX_NUM)
		return sema_fail(s, E_RANGE, call_arg(call, 2)->loc,
				 "tseries() num_intervals must be <= %d (%lld provided)", MAX_NUM,
				 num);
	if (num > most(how))
		return sema_fail(
			s, E_LIMIT, call_arg(call, 2)->loc,
			"tseries() can keep %u intervals of \"%s\" here: the kernel limits "
			"a CPU's copy of an element to 32 KiB",
			most(how), how_names[how]);
	return true;
}

/* ---- kernel half ---- */

/* Of wall-clock time to nsecs. */
static u64 wall_offset(const struct host *h)
{
	return h->recording ? h->recording->real_ns : host_boot_offset_ns();
}

/* Number of the current interval; the wall clock is as far ahead as when the script was compiled.
 */
static struct ref interval_now(struct lower *l, const struct type *t)
{
	struct fn *f = l->f;
	struct ref ns = ir_call(f, BPF_FUNC_ktime_get_ns, 0, NULL);

	return ir_op2(f, O_UDIV, ir_addi(f, ns, (i64)wall_offset(l->c->host)),
		      ir_con(f, (u64)t->p[P_INTERVAL]));
}

/* The slot holds this interval already: to it comes v. */
static void combine(struct lower *l, const struct type *t, struct ref p, struct ref v)
{
	struct fn *f = l->f;
	struct ref old = ir_load(f, 8, p, 8);
	struct blk *better = ir_blk(f), *done = ir_blk(f);
	bool max = t->p[P_HOW] == HOW_MAX;

	if (t->p[P_HOW] == HOW_AVG || t->p[P_HOW] == HOW_SUM) {
		ir_store(f, 8, p, 8, ir_op2(f, O_ADD, old, v));
		if (t->p[P_HOW] == HOW_AVG)
			ir_store(f, 8, p, 16, ir_addi(f, ir_load(f, 8, p, 16), 1));
		return;
	}
	if (t->is_signed)
		ir_br(f, max ? O_SGT : O_SLT, v, old, better, done);
	else
		ir_br(f, max ? O_UGT : O_ULT, v, old, better, done);
	ir_at(f, better);
	ir_store(f, 8, p, 8, v);
	ir_jmp(f, done);
	ir_at(f, done);
}

static void add_tseries(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	const struct type *t = call->type;
	struct fn *f = l->f;
	struct ref v = lower_operand(l, call_arg(call, 0)), now = interval_now(l, t), slot, p;
	struct ref num = ir_con(f, (u64)t->p[P_NUM]), base = lower_addr(l, dst);
	struct blk *in = ir_blk(f), *same = ir_blk(f), *fresh = ir_blk(f), *done = ir_blk(f);

	assert(!shared); /* the plan gives every CPU its own copy */
	slot = ir_op2(f, O_UMOD, now, num);
	ir_br(f, O_ULT, slot, num, in, done); /* for the verifier */
	ir_at(f, in);
	p = ir_op2(f, O_ADD, base, ir_op2(f, O_MUL, slot, ir_con(f, slot_words(t) * 8)));
	ir_br(f, O_EQ, ir_load(f, 8, p, 0), now, same, fresh);
	ir_at(f, same);
	combine(l, t, p, v);
	ir_jmp(f, done);
	ir_at(f, fresh);
	ir_store(f, 8, p, 0, now);
	ir_store(f, 8, p, 8, v);
	if (t->p[P_HOW] == HOW_AVG)
		ir_store(f, 8, p, 16, ir_con(f, 1));
	ir_jmp(f, done);
	ir_at(f, done);
}

/* ---- user half ---- */
static void merge_slot(const struct type *t, u64 *into, const u64 *from)
{
	bool less = t->is_signed ? (i64)from[1] < (i64)into[1] : from[1] < into[1];

	switch ((enum how)t->p[P_HOW]) {
	case HOW_AVG:
		into[1] += from[1];
		into[2] += from[2];
		break;
	case HOW_SUM: into[1] += from[1]; break;
	case HOW_MAX: into[1] = less ? into[1] : from[1]; break;
	case HOW_MIN: into[1] = less ? from[1] : into[1]; break;
	}
}

static void merge(const struct type *t, u64 *into, const u64 *from)
{
	u32 n = slot_words(t);

	for (u32 i = 0; i < t->p[P_NUM]; i++, into += n, from += n) {
		if (from[0] > into[0])
			memcpy(into, from, n * sizeof(*into));
		else if (from[0] && from[0] == into[0])
			merge_slot(t, into, from);
	}
}

/* A program on another processor has begun an interval, and not yet counted what it observed. */
static bool is_begun(const struct type *t, const u64 *w)
{
	return t->p[P_HOW] == HOW_AVG && !w[2];
}

static u64 slot_value(const struct type *t, const u64 *w)
{
	if (t->p[P_HOW] != HOW_AVG)
		return w[1];
	if (t->is_signed && w[2] == ~0ull) /* of a damaged file: -1 */
		return 0 - w[1];
	return t->is_signed ? (u64)((i64)w[1] / (i64)w[2]) : w[1] / w[2];
}

/* First and last interval to show; false: there is none. */
static bool range(const struct type *t, const u64 *w, u64 *first, u64 *last)
{
	u32 n = slot_words(t);
	u64 num = (u64)t->p[P_NUM];

	*first = ~0ull;
	*last = 0;
	for (u64 i = 0; i < num; i++)
		*last = MAX(*last, w[i * n]);
	for (u64 i = 0; i < num; i++)
		if (w[i * n] && *last - w[i * n] < num)
			*first = MIN(*first, w[i * n]);
	return *last != 0;
}

static void decode(const struct type *t, const u64 *w, u64 div, struct arena *a, struct value *ret)
{
	u64 first, last, interval = (u64)t->p[P_INTERVAL];
	struct tick *tick;

	(void)div; /* as in the language's reference, series are not divided */
	*ret = (struct value){.kind = V_SERIES, .sign = t->is_signed, .step = interval};
	if (!range(t, w, &first, &last))
		return;
	ret->n = (u32)(last - first + 1);
	ret->series = tick = arena_newn(a, struct tick, ret->n);
	for (u32 i = 0; i < ret->n; i++, tick++) {
		u64 e = first + i;
		const u64 *slot = w + e % (u64)t->p[P_NUM] * slot_words(t);
		bool none = slot[0] != e || is_begun(t, slot);
		*tick = (struct tick){.start_ns = e * interval, .none = none};
		if (!tick->none)
			tick->value = slot_value(t, slot);
	}
}

/* Shown in the order of their keys. */
static int cmp(const struct type *t, const u64 *a, const u64 *b)
{
	(void)t, (void)a, (void)b;
	return 0;
}

static const struct agg agg_tseries = {
	.kind = T_TSERIES,
	.quiet = true,
	.json = "tseries",
	.clash = "Different tseries bounds in a single map unsupported",
	.sound = sound,
	.words = words,
	.merge = merge,
	.decode = decode,
	.cmp = cmp,
};

const struct builtin builtin_tseries[] = {
	{"auto tseries(int n, lit interval_ns, lit num, [text how])", .flags = B_AGG,
	 .type = type_tseries, .agg = &agg_tseries, .check = check_tseries, .add = add_tseries,
	 .doc = "Keeps the latest num intervals of n over time, each as one value: the \"avg\" "
		"(default), \"max\", \"min\" or \"sum\". Printed as a graph."},
	{0},
};
