/*
 * agg.c - aggregations that are a few numbers: count sum min max avg stats stddev share.
 *
 * Each has a kernel half, add(), which changes one copy in place, and a struct agg, which merges
 * the copies of all CPUs, decodes and compares them. Layout of a copy: core/agg.h.
 */
#include "builtin/agg.h"

/* ---- types ---- */
struct type *agg_type(struct sema *s, enum type_kind kind, bool is_signed)
{
	struct type *t = arena_new(s->a, struct type);

	t->kind = kind;
	t->is_signed = is_signed;
	t->align = 8;
	return t;
}

const struct type *agg_sized(struct type *t)
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

static const struct type *type_stddev(struct sema *s, struct node *call)
{
	return agg_signed(s, call, T_STDDEV);
}

static const struct type *type_share(struct sema *s, struct node *call)
{
	(void)call;
	return agg_sized(agg_type(s, T_SHARE, false));
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

/* ---- kernel half ---- */
void agg_add_word(struct lower *l, struct mem at, struct ref n, bool shared)
{
	struct fn *f = l->f;

	if (shared)
		ir_xadd(f, 8, at.base, at.off, n);
	else
		ir_store(f, 8, at.base, at.off,
			 ir_op2(f, O_ADD, ir_load(f, 8, at.base, at.off), n));
}

struct ref agg_arg(struct lower *l, struct node *call)
{
	return lower_operand(l, call_arg(call, 0));
}

static void add_count(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	(void)call;
	agg_add_word(l, dst, ir_con(l->f, 1), shared);
}

static void add_sum(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	agg_add_word(l, dst, agg_arg(l, call), shared);
}

static void add_avg(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	agg_add_word(l, dst, agg_arg(l, call), shared);
	agg_add_word(l, mem_at(dst, 8), ir_con(l->f, 1), shared);
}

/*
 * Words: total, count, and the sum of the squares, which have 128 bits, as four sums of 32 bits of
 * each, so that nothing carries: the words only grow by additions. The upper two are seldom needed.
 */
static void add_stddev(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	struct fn *f = l->f;
	struct ref v = agg_arg(l, call), a = v, half = ir_con(f, 32), low = ir_con(f, ~0u);
	struct ref lo, hi, ll, lh, hh, sign;
	struct blk *large = ir_blk(f), *done = ir_blk(f);

	agg_add_word(l, dst, v, shared);
	agg_add_word(l, mem_at(dst, 8), ir_con(f, 1), shared);
	if (call->type->is_signed) {
		sign = ir_op2(f, O_SAR, v, ir_con(f, 63));
		a = ir_op2(f, O_SUB, ir_op2(f, O_XOR, v, sign), sign);
	}
	lo = ir_op2(f, O_AND, a, low);
	hi = ir_op2(f, O_SHR, a, half);
	ll = ir_op2(f, O_MUL, lo, lo);
	agg_add_word(l, mem_at(dst, 16), ir_op2(f, O_AND, ll, low), shared);
	agg_add_word(l, mem_at(dst, 24), ir_op2(f, O_SHR, ll, half), shared);
	ir_br(f, O_NE, hi, ir_con(f, 0), large, done);
	ir_at(f, large);
	lh = ir_op2(f, O_MUL, lo, hi);
	hh = ir_op2(f, O_MUL, hi, hi);
	agg_add_word(l, mem_at(dst, 24), ir_op2(f, O_SHL, ir_op2(f, O_AND, lh, low), ir_con(f, 1)),
		     shared);
	agg_add_word(l, mem_at(dst, 32),
		     ir_op2(f, O_ADD, ir_op2(f, O_SHL, ir_op2(f, O_SHR, lh, half), ir_con(f, 1)),
			    ir_op2(f, O_AND, hh, low)),
		     shared);
	agg_add_word(l, mem_at(dst, 40), ir_op2(f, O_SHR, hh, half), shared);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* Words: how often it was so, and how often it was asked. */
static void add_share(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	struct ref v = agg_arg(l, call);

	agg_add_word(l, dst, ir_op2(l->f, O_NE, v, ir_con(l->f, 0)), shared);
	agg_add_word(l, mem_at(dst, 8), ir_con(l->f, 1), shared);
}

/* Store the value when nothing was stored before or it compares so with what was. */
static void add_extreme(struct lower *l, struct node *call, struct mem dst, enum op better)
{
	struct fn *f = l->f;
	struct ref v = agg_arg(l, call);
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

static u32 words_6(const struct type *t)
{
	(void)t;
	return 6;
}

void agg_merge_add(const struct type *t, u64 *into, const u64 *from)
{
	u32 n = t->size / 8;

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

static u64 agg_divide(const struct type *t, u64 n, u64 by)
{
	if (!by)
		return 0;
	if (t->is_signed &&
	    by == ~0ull) /* of a damaged file: -1, by which not every number divides */
		return 0 - n;
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
	put_int(t, div > 1 ? agg_divide(t, w[0], div) : w[0], ret);
}

static void decode_avg(const struct type *t, const u64 *w, u64 div, struct arena *a,
		       struct value *ret)
{
	(void)a;
	put_int(t, agg_divide(t, agg_divide(t, w[0], w[1]), div > 1 ? div : 1), ret);
	ret->agg = true;
}

static void decode_stats(const struct type *t, const u64 *w, u64 div, struct arena *a,
			 struct value *ret)
{
	struct value *v = arena_newn(a, struct value, 3);
	static const struct str names[] = {{"count", 5}, {"average", 7}, {"total", 5}};

	put_int(&type_i64, w[1], &v[0]);
	put_int(t, agg_divide(t, agg_divide(t, w[0], w[1]), div > 1 ? div : 1), &v[1]);
	put_int(t, w[0], &v[2]);
	*ret = (struct value){.kind = V_STATS, .n = 3, .list = v, .names = names};
}

static u64 square_root(unsigned __int128 n)
{
	u64 root = 0;

	for (u64 bit = 1ull << 63; bit; bit >>= 1) {
		unsigned __int128 next = root | bit;
		if (next * next <= n)
			root |= bit;
	}
	return root;
}

/* The root of the mean of the squares less the square of the mean. */
static u64 deviation(const struct type *t, const u64 *w)
{
	unsigned __int128 squares = 0, mean = agg_divide(t, w[0], w[1]);

	if (!w[1])
		return 0;
	for (u32 i = 0; i < 4; i++)
		squares += (unsigned __int128)w[2 + i] << (32 * i);
	if (t->is_signed && (i64)mean < 0)
		mean = (unsigned __int128)(0 - (u64)mean);
	return square_root(squares / w[1] - mean * mean);
}

static void decode_stddev(const struct type *t, const u64 *w, u64 div, struct arena *a,
			  struct value *ret)
{
	(void)a;
	put_int(&type_u64, deviation(t, w) / (div > 1 ? div : 1), ret);
}

static int cmp_stddev(const struct type *t, const u64 *a, const u64 *b)
{
	u64 x = deviation(t, a), y = deviation(t, b);

	return (x > y) - (x < y);
}

int agg_cmp_u64(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int cmp_int(const struct type *t, const u64 *a, const u64 *b)
{
	if (t->is_signed)
		return ((i64)*a > (i64)*b) - ((i64)*a < (i64)*b);
	return agg_cmp_u64(*a, *b);
}

static int cmp_avg(const struct type *t, const u64 *a, const u64 *b)
{
	u64 x = agg_divide(t, a[0], a[1]), y = agg_divide(t, b[0], b[1]);

	return cmp_int(t, &x, &y);
}

static const struct agg agg_count = {
	.kind = T_COUNT,
	.adds = true,
	.counts = true,
	.tells = true,
	.has_int = true,
	.words = words_1,
	.merge = agg_merge_add,
	.decode = decode_int,
	.cmp = cmp_int,
};

static const struct agg agg_sum = {
	.kind = T_SUM,
	.adds = true,
	.has_int = true,
	.words = words_1,
	.merge = agg_merge_add,
	.decode = decode_int,
	.cmp = cmp_int,
};

static double percent(const u64 *w)
{
	return w[1] ? (double)w[0] * 100 / (double)w[1] : 0;
}

/* Hundredths, rounded. */
static void decode_share(const struct type *t, const u64 *w, u64 div, struct arena *a,
			 struct value *ret)
{
	(void)t, (void)div, (void)a;
	*ret = (struct value){.kind = V_FLOAT, .f = (double)(u64)(percent(w) * 100 + 0.5) / 100};
}

static int cmp_share(const struct type *t, const u64 *a, const u64 *b)
{
	double x = percent(a), y = percent(b);

	(void)t;
	return (x > y) - (x < y);
}

static const struct agg agg_min = {
	.kind = T_MIN,
	.keeps = AGG_LEAST,
	.tells = true,
	.has_int = true,
	.words = words_2,
	.merge = merge_extreme,
	.decode = decode_int,
	.cmp = cmp_int,
};

static const struct agg agg_max = {
	.kind = T_MAX,
	.keeps = AGG_MOST,
	.tells = true,
	.has_int = true,
	.words = words_2,
	.merge = merge_extreme,
	.decode = decode_int,
	.cmp = cmp_int,
};

static const struct agg agg_avg = {
	.kind = T_AVG,
	.adds = true,
	.tells = true,
	.mean = true,
	.has_int = true,
	.json = "stats",
	.json_empty = true,
	.words = words_2,
	.merge = agg_merge_add,
	.decode = decode_avg,
	.cmp = cmp_avg,
};

static const struct agg agg_stats = {
	.kind = T_STATS,
	.adds = true,
	.tells = true,
	.parts = 3,
	.json = "stats",
	.json_empty = true,
	.words = words_2,
	.merge = agg_merge_add,
	.decode = decode_stats,
	.cmp = cmp_avg,
};

static const struct agg agg_stddev = {
	.kind = T_STDDEV,
	.adds = true,
	.tells = true,
	.mean = true,
	.words = words_6,
	.merge = agg_merge_add,
	.decode = decode_stddev,
	.cmp = cmp_stddev,
};

static const struct agg agg_share = {
	.kind = T_SHARE,
	.adds = true,
	.tells = true,
	.mean = true,
	.words = words_2,
	.merge = agg_merge_add,
	.decode = decode_share,
	.cmp = cmp_share,
};

const struct builtin builtin_agg[] = {
	{"auto count()", .flags = B_AGG, .type = type_count, .agg = &agg_count, .add = add_count,
	 .doc = "Counts how often it is reached."},
	{"auto sum(int n)", .flags = B_AGG, .type = type_sum, .agg = &agg_sum,
	 .check = builtin_check_int, .add = add_sum, .doc = "Adds up n."},
	{"auto min(int n)", .flags = B_AGG, .type = type_min, .agg = &agg_min,
	 .check = builtin_check_int, .add = add_min, .doc = "Keeps the smallest n."},
	{"auto max(int n)", .flags = B_AGG, .type = type_max, .agg = &agg_max,
	 .check = builtin_check_int, .add = add_max, .doc = "Keeps the largest n."},
	{"auto avg(int n)", .flags = B_AGG, .type = type_avg, .agg = &agg_avg,
	 .check = builtin_check_int, .add = add_avg,
	 .doc = "Keeps the average of n: the total divided by the count, rounded towards zero."},
	{"auto stats(int n)", .flags = B_AGG, .type = type_stats, .agg = &agg_stats,
	 .check = builtin_check_int, .add = add_avg, .doc = "Keeps count, average and total of n."},
	{"auto stddev(int n)", .flags = B_AGG, .type = type_stddev, .agg = &agg_stddev,
	 .check = builtin_check_int, .add = add_stddev,
	 .doc = "Keeps the standard deviation of n: the root of the mean of the squares less the "
		"square of the mean, rounded down."},
	{"auto share(int n)", .flags = B_AGG, .type = type_share, .agg = &agg_share,
	 .check = builtin_check_int, .add = add_share,
	 .doc = "Keeps the percentage of cases in which n was true or not 0, such as the hit ratio "
		"of a cache."},
	{0},
};
