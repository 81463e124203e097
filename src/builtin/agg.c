/*
 * agg.c - aggregations: count sum min max avg stats hist lhist.
 *
 * Each has a kernel half, add(), which changes one copy in place, and a struct agg, which merges
 * the copies of all CPUs, decodes and compares them. Layout of a copy: core/agg.h.
 */
#include "core/agg.h"
#include "builtin/common.h"

enum { MAX_HIST_BITS = 5, MAX_LHIST = 1000 };

/* ---- types ---- */
static struct type *agg_type(struct sema *s, enum type_kind kind, bool is_signed)
{
	struct type *t = arena_new(s->a, struct type);

	t->kind = kind;
	t->is_signed = is_signed;
	t->align = 8;
	return t;
}

static const struct type *agg_sized(struct type *t)
{
	t->size = agg_of(t)->words(t) * 8;
	return t;
}

/* sum, min, max, avg, stats keep the sign of their argument; a literal adopts that of the map's
 * other values. */
static const struct type *agg_signed(struct sema *s, struct node *call, enum type_kind kind)
{
	const struct type *arg = call_arg(call, 0)->type;
	struct type *t = agg_type(s, kind, !arg || arg->is_signed);

	t->flex = arg && arg->flex;
	return agg_sized(t);
}

static const struct type *type_count(struct sema *s, struct node *call)
{
	(void)call;
	return agg_sized(agg_type(s, T_COUNT, true));
}

static const struct type *type_sum(struct sema *s, struct node *call)
{
	return agg_signed(s, call, T_SUM);
}

static const struct type *type_min(struct sema *s, struct node *call)
{
	return agg_signed(s, call, T_MIN);
}

static const struct type *type_max(struct sema *s, struct node *call)
{
	return agg_signed(s, call, T_MAX);
}

static const struct type *type_avg(struct sema *s, struct node *call)
{
	return agg_signed(s, call, T_AVG);
}

static const struct type *type_stats(struct sema *s, struct node *call)
{
	return agg_signed(s, call, T_STATS);
}

static const struct type *type_hist(struct sema *s, struct node *call)
{
	struct type *t = (struct type *)agg_type(s, T_HIST, true);
	i64 bits = 0;

	if (call_arg(call, 1))
		node_int(call_arg(call, 1), &bits);
	t->count = bits >= 0 && bits <= MAX_HIST_BITS ? (u32)bits : 0;
	return agg_sized(t);
}

/* min, max and step of lhist as literals; false when they make no sense. */
static bool lhist_args(const struct node *call, i64 p[3])
{
	for (u32 i = 0; i < 3; i++) {
		struct node *n = call_arg(call, i + 1);
		if (!n || !node_int(n, &p[i]))
			return false;
	}
	return p[0] >= 0 && p[1] > p[0] && p[2] >= 1 && p[2] <= p[1] - p[0] &&
	       (p[1] - p[0]) / p[2] <= MAX_LHIST;
}

static const struct type *type_lhist(struct sema *s, struct node *call)
{
	struct type *t = (struct type *)agg_type(s, T_LHIST, true);

	if (!lhist_args(call, t->p))
		t->p[0] = 0, t->p[1] = 1, t->p[2] = 1;
	return agg_sized(t);
}

/* ---- checks ---- */
bool builtin_check_int(struct sema *s, struct node *call)
{
	const struct type *t = call_arg(call, 0)->type;

	if (type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR || type_is_error(t))
		return true;
	return sema_fail(s, E_TYPE, call->loc,
			 "%.*s() only supports integer arguments (%s provided)", STRF(call->name),
			 type_namez(s->a, t));
}

static bool check_hist(struct sema *s, struct node *call)
{
	i64 bits;

	if (!builtin_check_int(s, call))
		return false;
	if (!call_arg(call, 1))
		return true;
	if (!builtin_lit(s, call, 1, &bits))
		return false;
	if (bits < 0 || bits > MAX_HIST_BITS)
		return sema_fail(s, E_RANGE, call_arg(call, 1)->loc,
				 "hist: bits %lld must be 0..%d", bits, MAX_HIST_BITS);
	return true;
}

static bool check_lhist(struct sema *s, struct node *call)
{
	i64 p[3];

	if (!builtin_check_int(s, call))
		return false;
	for (u32 i = 0; i < 3; i++)
		if (!builtin_lit(s, call, i + 1, &p[i]))
			return false;
	if (p[0] < 0)
		return sema_fail(s, E_RANGE, call_arg(call, 1)->loc,
				 "lhist: invalid min value (must be non-negative literal)");
	if (p[1] < 0)
		return sema_fail(s, E_RANGE, call_arg(call, 2)->loc,
				 "lhist: invalid max value (must be non-negative literal)");
	if (p[2] < 1)
		return sema_fail(s, E_RANGE, call_arg(call, 3)->loc,
				 "lhist() step must be >= 1 (%lld provided)", p[2]);
	if (p[0] > p[1])
		return sema_fail(
			s, E_RANGE, call->loc,
			"lhist() min must be less than max (provided min %lld and max %lld)", p[0],
			p[1]);
	if ((p[1] - p[0]) / p[2] > MAX_LHIST)
		return sema_fail(s, E_RANGE, call->loc,
				 "lhist() too many buckets, must be <= %d (would need %lld)",
				 MAX_LHIST, (p[1] - p[0]) / p[2]);
	if (p[2] > p[1] - p[0])
		return sema_fail(s, E_RANGE, call->loc,
				 "lhist() step is too large for the given range (provided step "
				 "%lld for range %lld)",
				 p[2], p[1] - p[0]);
	return true;
}

/* ---- kernel half ---- */
static void add_word(struct lower *l, struct mem at, struct ref n, bool shared)
{
	struct fn *f = l->f;

	if (shared)
		ir_xadd(f, 8, at.base, at.off, n);
	else
		ir_store(f, 8, at.base, at.off,
			 ir_op2(f, O_ADD, ir_load(f, 8, at.base, at.off), n));
}

static struct ref arg_value(struct lower *l, struct node *call)
{
	return lower_value(l, call_arg(call, 0));
}

static void add_count(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	(void)call;
	add_word(l, dst, ir_con(l->f, 1), shared);
}

static void add_sum(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	add_word(l, dst, arg_value(l, call), shared);
}

static void add_avg(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	add_word(l, dst, arg_value(l, call), shared);
	add_word(l, mem_at(dst, 8), ir_con(l->f, 1), shared);
}

/* Store the value when nothing was stored before or it compares so with what was. */
static void add_extreme(struct lower *l, struct node *call, struct mem dst, enum op better)
{
	struct fn *f = l->f;
	struct ref v = arg_value(l, call);
	struct blk *compare = ir_blk(f), *store = ir_blk(f), *done = ir_blk(f);

	ir_br(f, O_EQ, ir_load(f, 8, dst.base, dst.off + 8), ir_con(f, 0), store, compare);
	ir_at(f, compare);
	ir_br(f, better, v, ir_load(f, 8, dst.base, dst.off), store, done);
	ir_at(f, store);
	ir_store(f, 8, dst.base, dst.off, v);
	ir_store(f, 8, dst.base, dst.off + 8, ir_con(f, 1));
	ir_jmp(f, done);
	ir_at(f, done);
}

static void add_min(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	assert(!shared); /* the plan gives every CPU its own copy */
	add_extreme(l, call, dst, call->type->is_signed ? O_SLT : O_ULT);
}

static void add_max(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	assert(!shared);
	add_extreme(l, call, dst, call->type->is_signed ? O_SGT : O_UGT);
}

/*
 * Count one in bucket idx. The comparison is for the verifier (and what it has not understood is
 * not counted): it must be on the very value that is then scaled, right before the access.
 */
static void add_bucket(struct lower *l, struct ref idx, u32 words, struct mem dst, bool shared)
{
	struct fn *f = l->f;
	struct blk *in = ir_blk(f), *done = ir_blk(f);
	struct ref base = lower_addr(l, dst), at;

	ir_br(f, O_ULT, idx, ir_con(f, words), in, done);
	ir_at(f, in);
	at = ir_op2(f, O_ADD, base, ir_op2(f, O_SHL, idx, ir_con(f, 3)));
	add_word(l, (struct mem){at, 0}, ir_con(f, 1), shared);
	ir_jmp(f, done);
	ir_at(f, done);
}

/*
 * Bucket of n: with s the least shift that makes n >> s < 2^(bits + 1), it is 1 + (s << bits) + (n
 * >> s). s is found by halving: six predictable branches cost less than the branch-free form.
 */
static struct ref hist_index(struct fn *f, struct ref n, u32 bits)
{
	struct ref shift = ir_var(f), rest = ir_var(f), idx = ir_var(f);
	struct blk *negative = ir_blk(f), *positive = ir_blk(f), *done = ir_blk(f);

	ir_br(f, O_SLT, n, ir_con(f, 0), negative, positive);
	ir_at(f, negative);
	ir_set(f, idx, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, positive);
	ir_set(f, shift, ir_con(f, 0));
	ir_set(f, rest, n);
	for (u32 w = 32; w; w /= 2) {
		struct blk *big = ir_blk(f), *next = ir_blk(f);
		ir_br(f, O_UGE, ir_get(f, rest), ir_con(f, 1ull << (w + bits)), big, next);
		ir_at(f, big);
		ir_set(f, rest, ir_op2(f, O_SHR, ir_get(f, rest), ir_con(f, w)));
		ir_set(f, shift, ir_addi(f, ir_get(f, shift), w));
		ir_jmp(f, next);
		ir_at(f, next);
	}
	ir_set(f, idx,
	       ir_addi(f,
		       ir_op2(f, O_ADD, ir_op2(f, O_SHL, ir_get(f, shift), ir_con(f, bits)),
			      ir_get(f, rest)),
		       1));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, idx);
}

static struct ref bucket_hist(struct lower *l, struct node *call)
{
	return hist_index(l->f, arg_value(l, call), call->type->count);
}

static void add_hist(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	add_bucket(l, bucket_hist(l, call), hist_buckets(call->type->count), dst, shared);
}

/* Bucket of lhist: 0 below min, then the steps; the last takes all from the end of the last whole
 * step on. */
static struct ref bucket_lhist(struct lower *l, struct node *call)
{
	const i64 *p = call->type->p;
	struct fn *f = l->f;
	u32 words = call->type->size / 8;
	struct ref n = arg_value(l, call), idx = ir_var(f), q;
	struct blk *within = ir_blk(f), *clamp = ir_blk(f), *done = ir_blk(f);

	ir_set(f, idx, ir_con(f, 0));
	ir_br(f, O_SLT, n, ir_con(f, (u64)p[0]), done, within);
	ir_at(f, within);
	q = ir_op2(f, O_UDIV, ir_addi(f, n, -p[0]), ir_con(f, (u64)p[2]));
	ir_set(f, idx, ir_addi(f, q, 1));
	ir_br(f, O_UGE, q, ir_con(f, words - 1), clamp, done);
	ir_at(f, clamp);
	ir_set(f, idx, ir_con(f, words - 1));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, idx);
}

static void add_lhist(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	add_bucket(l, bucket_lhist(l, call), call->type->size / 8, dst, shared);
}

/* ---- user half ---- */
static u32 words_1(const struct type *t)
{
	(void)t;
	return 1;
}

static u32 words_2(const struct type *t)
{
	(void)t;
	return 2;
}

static u32 words_hist(const struct type *t)
{
	return hist_buckets(t->count);
}

static u32 words_lhist(const struct type *t)
{
	return (u32)((t->p[1] - t->p[0]) / t->p[2]) + 2;
}

static void merge_add(const struct type *t, u64 *into, const u64 *from)
{
	u32 n = agg_of(t)->words(t);

	for (u32 i = 0; i < n; i++)
		into[i] += from[i];
}

static void merge_extreme(const struct type *t, u64 *into, const u64 *from)
{
	bool less = t->is_signed ? (i64)from[0] < (i64)into[0] : from[0] < into[0];

	if (!from[1] || (into[1] && less != (t->kind == T_MIN)))
		return;
	into[0] = from[0];
	into[1] = from[1];
}

static u64 divide(const struct type *t, u64 n, u64 by)
{
	if (!by)
		return 0;
	return t->is_signed ? (u64)((i64)n / (i64)by) : n / by;
}

static void put_int(const struct type *t, u64 n, struct value *ret)
{
	*ret = (struct value){.kind = t->is_signed ? V_INT : V_UINT, .size = 8, .u = n};
}

static void decode_int(const struct type *t, const u64 *w, u64 div, struct arena *a,
		       struct value *ret)
{
	(void)a;
	put_int(t, div > 1 ? divide(t, w[0], div) : w[0], ret);
}

static void decode_avg(const struct type *t, const u64 *w, u64 div, struct arena *a,
		       struct value *ret)
{
	(void)a;
	put_int(t, divide(t, divide(t, w[0], w[1]), div > 1 ? div : 1), ret);
	ret->agg = true;
}

static void decode_stats(const struct type *t, const u64 *w, u64 div, struct arena *a,
			 struct value *ret)
{
	struct value *v = arena_newn(a, struct value, 3);
	static const struct str names[] = {{"count", 5}, {"average", 7}, {"total", 5}};

	put_int(&type_i64, w[1], &v[0]);
	put_int(t, divide(t, divide(t, w[0], w[1]), div > 1 ? div : 1), &v[1]);
	put_int(t, w[0], &v[2]);
	*ret = (struct value){.kind = V_STATS, .n = 3, .list = v, .names = names};
}

/* First and last bucket that is not 0; false: all are. */
static bool span(const u64 *w, u32 n, u32 *first, u32 *last)
{
	u32 i = 0;

	while (i < n && !w[i])
		i++;
	*first = i;
	while (n && !w[n - 1])
		n--;
	*last = n ? n - 1 : 0;
	return i < n;
}

static void decode_buckets(const struct type *t, const u64 *w, u64 div, struct arena *a,
			   struct value *ret,
			   void (*label)(const struct type *t, u32 i, struct bucket *b))
{
	u32 first, last;
	struct bucket *b;

	*ret = (struct value){.kind = V_HIST};
	if (!span(w, agg_of(t)->words(t), &first, &last))
		return;
	b = arena_newn(a, struct bucket, last - first + 1);
	ret->hist = b;
	ret->n = last - first + 1;
	for (u32 i = first; i <= last; i++, b++) {
		label(t, i, b);
		b->count = div > 1 ? w[i] / div : w[i];
	}
}

/* The inverse of hist_index(). The last bucket of signed values ends at 2^63, which is kept as the
 * bit pattern. */
static void label_hist(const struct type *t, u32 i, struct bucket *b)
{
	u32 bits = t->count, s;
	u64 m;

	if (i == 0) {
		b->no_lo = true;
		return;
	}
	m = --i;
	s = i >> bits ? (i >> bits) - 1 : 0;
	m -= (u64)s << bits;
	b->lo = (i64)(m << s);
	b->hi = (i64)((m + 1) << s);
}

static void decode_hist(const struct type *t, const u64 *w, u64 div, struct arena *a,
			struct value *ret)
{
	decode_buckets(t, w, div, a, ret, label_hist);
}

static void label_lhist(const struct type *t, u32 i, struct bucket *b)
{
	u32 words = words_lhist(t);

	b->no_lo = i == 0;
	b->no_hi = i == words - 1;
	if (i)
		b->lo = t->p[0] + (i - 1) * t->p[2];
	if (!b->no_hi)
		b->hi = t->p[0] + i * t->p[2];
}

static void decode_lhist(const struct type *t, const u64 *w, u64 div, struct arena *a,
			 struct value *ret)
{
	(void)div; /* linear histograms are never divided */
	decode_buckets(t, w, 0, a, ret, label_lhist);
	ret->step = (u64)t->p[2];
}

static int cmp_u64(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int cmp_int(const struct type *t, const u64 *a, const u64 *b)
{
	if (t->is_signed)
		return ((i64)*a > (i64)*b) - ((i64)*a < (i64)*b);
	return cmp_u64(*a, *b);
}

static int cmp_avg(const struct type *t, const u64 *a, const u64 *b)
{
	u64 x = divide(t, a[0], a[1]), y = divide(t, b[0], b[1]);

	return cmp_int(t, &x, &y);
}

static u64 total(const struct type *t, const u64 *w)
{
	u32 n = agg_of(t)->words(t);
	u64 sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += w[i];
	return sum;
}

static int cmp_total(const struct type *t, const u64 *a, const u64 *b)
{
	return cmp_u64(total(t, a), total(t, b));
}

static bool as_first(const struct type *t, const u64 *w, i64 *ret)
{
	(void)t;
	*ret = (i64)w[0];
	return true;
}

static bool as_avg(const struct type *t, const u64 *w, i64 *ret)
{
	*ret = (i64)divide(t, w[0], w[1]);
	return true;
}

static bool as_none(const struct type *t, const u64 *w, i64 *ret)
{
	(void)t, (void)w, (void)ret;
	return false;
}

const struct agg *agg_of(const struct type *t)
{
	static const struct agg aggs[] = {
		{T_COUNT, words_1, merge_add, decode_int, cmp_int, as_first},
		{T_SUM, words_1, merge_add, decode_int, cmp_int, as_first},
		{T_MIN, words_2, merge_extreme, decode_int, cmp_int, as_first},
		{T_MAX, words_2, merge_extreme, decode_int, cmp_int, as_first},
		{T_AVG, words_2, merge_add, decode_avg, cmp_avg, as_avg},
		{T_STATS, words_2, merge_add, decode_stats, cmp_avg, as_none},
		{T_HIST, words_hist, merge_add, decode_hist, cmp_total, as_none},
		{T_LHIST, words_lhist, merge_add, decode_lhist, cmp_total, as_none},
	};

	for (u32 i = 0; i < countof(aggs); i++)
		if (aggs[i].kind == t->kind)
			return &aggs[i];
	return t->kind == T_TSERIES ? &agg_tseries : NULL;
}

const struct builtin builtin_agg[] = {
	{"auto count()", .flags = B_AGG, .type = type_count, .add = add_count,
	 .doc = "Counts how often it is reached."},
	{"auto sum(int n)", .flags = B_AGG, .type = type_sum, .check = builtin_check_int,
	 .add = add_sum, .doc = "Adds up n."},
	{"auto min(int n)", .flags = B_AGG, .type = type_min, .check = builtin_check_int,
	 .add = add_min, .doc = "Keeps the smallest n."},
	{"auto max(int n)", .flags = B_AGG, .type = type_max, .check = builtin_check_int,
	 .add = add_max, .doc = "Keeps the largest n."},
	{"auto avg(int n)", .flags = B_AGG, .type = type_avg, .check = builtin_check_int,
	 .add = add_avg,
	 .doc = "Keeps the average of n: the total divided by the count, rounded towards zero."},
	{"auto stats(int n)", .flags = B_AGG, .type = type_stats, .check = builtin_check_int,
	 .add = add_avg, .doc = "Keeps count, average and total of n."},
	{"auto hist(int n, [lit bits])", .flags = B_AGG, .type = type_hist, .check = check_hist,
	 .add = add_hist, .bucket = bucket_hist,
	 .doc = "Counts n in buckets of powers of two, each divided into 2^bits linear steps "
		"(bits: 0 to 5, default 0)."},
	{"auto lhist(int n, lit min, lit max, lit step)", .flags = B_AGG, .type = type_lhist,
	 .check = check_lhist, .add = add_lhist, .bucket = bucket_lhist,
	 .doc = "Counts n in buckets of equal width between min and max, and one bucket each for "
		"what is below and above."},
	{0},
};
