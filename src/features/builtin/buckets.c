/*
 * buckets.c - aggregations that count by size: hist lhist quantize llquantize.
 *
 * A copy is a word for each bucket, in the order of what they stand for.
 */
#include "builtin/agg.h"

enum { MAX_HIST_BITS = 5, MAX_LHIST = 1000, QUANTIZE_ZERO = 63, QUANTIZE_WORDS = 127 };

static const struct type *type_hist(struct sema *s, struct node *call)
{
	struct type *t = (struct type *)agg_type(s, T_HIST, true);
	i64 bits = 0;

	if (call_arg(call, 1))
		node_int(call_arg(call, 1), &bits);
	t->count = bits >= 0 && bits <= MAX_HIST_BITS ? (u32)bits : 0;
	return agg_sized(t);
}

static const struct type *type_quantize(struct sema *s, struct node *call)
{
	(void)call;
	return agg_sized(agg_type(s, T_QUANTIZE, true));
}

/*
 * llquantize(n, factor, lmag, hmag, steps): each magnitude m from lmag to hmag, that is [factor^m,
 * factor^(m + 1)), in parts of one width; mirrored below 0. Words: what is too small (-), the parts
 * (-), around 0, the parts, what is too large. type.p holds factor, lmag | hmag << 16, steps.
 */
enum { MAX_PARTS = 1000 };

struct log_linear {
	i64 factor, low, high, steps; /* magnitudes low to high */
};

static struct log_linear ll_of(const struct type *t)
{
	return (struct log_linear){t->p[0], t->p[1] & 0xffff, t->p[1] >> 16, t->p[2]};
}

static i64 power_of(i64 base, i64 n)
{
	i64 p = 1;

	while (n-- > 0)
		p *= base;
	return p;
}

/* Parts of magnitude m, and how wide they are. */
static i64 ll_parts(const struct log_linear *g, i64 m, i64 *width)
{
	i64 end = power_of(g->factor, m + 1), n = MIN(end, g->steps);

	*width = end / n;
	return n - n / g->factor;
}

static i64 ll_all_parts(const struct log_linear *g)
{
	i64 n = 0, width;

	for (i64 m = g->low; m <= g->high; m++)
		n += ll_parts(g, m, &width);
	return n;
}

/* Does factor^(high + 1) fit, are steps a multiple or a divisor of factor? NULL: all is well. */
static const char *ll_wrong(const struct log_linear *g)
{
	i64 p = 1;

	if (g->factor < 2 || g->factor > 0xffff)
		return "factor must be between 2 and 65535";
	if (g->low < 0 || g->high < g->low)
		return "the low magnitude must be from 0 to the high one";
	for (i64 m = 0; m <= g->high; m++)
		if (__builtin_mul_overflow(p, g->factor, &p))
			return "factor to the power of the high magnitude and 1 has more than 63 "
			       "bits";
	if (g->steps < 1 || g->steps > 0xffff)
		return "steps must be between 1 and 65535";
	if (g->steps < g->factor ? g->factor % g->steps != 0 : g->steps % g->factor != 0)
		return "steps must be a multiple of factor, or divide it";
	p = g->low ? power_of(g->factor, g->low + 1) : g->factor * g->factor;
	if (g->steps > g->factor && p % g->steps)
		return "steps must divide factor to the power of the low magnitude and 1 (of "
		       "0: "
		       "its "
		       "square)";
	return ll_all_parts(g) > MAX_PARTS ? "there would be more than 1000 parts" : NULL;
}

static bool ll_args(const struct node *call, struct log_linear *g)
{
	i64 *const at[] = {&g->factor, &g->low, &g->high, &g->steps};

	for (u32 i = 0; i < countof(at); i++)
		if (!call_arg(call, i + 1) || !node_int(call_arg(call, i + 1), at[i]))
			return false;
	return true;
}

static const struct type *type_llquantize(struct sema *s, struct node *call)
{
	struct type *t = agg_type(s, T_LLQUANTIZE, true);
	struct log_linear g;

	if (!ll_args(call, &g) || ll_wrong(&g))
		g = (struct log_linear){2, 0, 0, 2}; /* check_llquantize() reports it */
	t->p[0] = g.factor;
	t->p[1] = g.low | g.high << 16;
	t->p[2] = g.steps;
	return agg_sized(t);
}

/* min, max and step of lhist: how much is between min and max, of which max is larger. */
static u64 lhist_range(const i64 p[3])
{
	return (u64)p[1] - (u64)p[0];
}

static bool lhist_fits(const i64 p[3])
{
	return p[1] > p[0] && p[2] >= 1 && (u64)p[2] <= lhist_range(p) &&
	       lhist_range(p) / (u64)p[2] <= MAX_LHIST;
}

/* They, as literals; false when they make no sense. */
static bool lhist_args(const struct node *call, i64 p[3])
{
	for (u32 i = 0; i < 3; i++) {
		struct node *n = call_arg(call, i + 1);
		if (!n || !node_int(n, &p[i]))
			return false;
	}
	return lhist_fits(p);
}

static const struct type *type_lhist(struct sema *s, struct node *call)
{
	struct type *t = (struct type *)agg_type(s, T_LHIST, true);

	if (!lhist_args(call, t->p))
		t->p[0] = 0, t->p[1] = 1, t->p[2] = 1;
	return agg_sized(t);
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

static bool check_llquantize(struct sema *s, struct node *call)
{
	struct log_linear g;
	const char *wrong;
	i64 n;

	if (!builtin_check_int(s, call))
		return false;
	for (u32 i = 1; i <= 4; i++)
		if (!builtin_lit(s, call, i, &n))
			return false;
	ll_args(call, &g);
	wrong = ll_wrong(&g);
	return !wrong || sema_fail(s, E_RANGE, call->loc, "llquantize: %s", wrong);
}

static bool check_lhist(struct sema *s, struct node *call)
{
	i64 p[3];

	if (!builtin_check_int(s, call))
		return false;
	for (u32 i = 0; i < 3; i++)
		if (!builtin_lit(s, call, i + 1, &p[i]))
			return false;
	if (p[2] < 1)
		return sema_fail(s, E_RANGE, call_arg(call, 3)->loc,
				 "lhist() step must be >= 1 (%lld provided)", p[2]);
	if (p[0] > p[1])
		return sema_fail(
			s, E_RANGE, call->loc,
			"lhist() min must be less than max (provided min %lld and max %lld)", p[0],
			p[1]);
	if (lhist_range(p) / (u64)p[2] > MAX_LHIST)
		return sema_fail(s, E_RANGE, call->loc,
				 "lhist() too many buckets, must be <= %d (would need %llu)",
				 MAX_LHIST, lhist_range(p) / (u64)p[2]);
	if ((u64)p[2] > lhist_range(p))
		return sema_fail(s, E_RANGE, call->loc,
				 "lhist() step is too large for the given range (provided step "
				 "%lld for range %llu)",
				 p[2], lhist_range(p));
	return true;
}

/*
 * Count one in bucket idx. The comparison is for the verifier (and what it has not understood is
 * not counted): it must be on the very value that is then scaled, right before the access. It meets the
 * paths that lead to the bucket again behind the access; where it walks through round after round, before.
 */
void agg_add_bucket(struct lower *l, struct ref idx, u32 words, struct mem dst, bool shared)
{
	struct fn *f = l->f;
	struct blk *in = ir_blk(f), *done = ir_blk(f);
	struct ref base = lower_addr(l, dst), at;

	idx = l->rounds ? ir_hide(f, idx) : idx;
	ir_br(f, O_ULT, idx, ir_con(f, words), in, done);
	ir_at(f, in);
	at = ir_op2(f, O_ADD, base, ir_op2(f, O_SHL, idx, ir_con(f, 3)));
	agg_add_word(l, mem_of(at, 0), ir_con(f, 1), shared);
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
	return hist_index(l->f, agg_arg(l, call), call->type->count);
}

static void add_hist(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	agg_add_bucket(l, bucket_hist(l, call), hist_buckets(call->type->count), dst, shared);
}

static struct ref weight_of(struct lower *l, struct node *call, u32 arg)
{
	return call_arg(call, arg) ? lower_value(l, call_arg(call, arg)) : ir_con(l->f, 1);
}

static struct ref weight_quantize(struct lower *l, struct node *call)
{
	return weight_of(l, call, 1);
}

/* More in word idx; as agg_add_bucket(). */
static void add_weight(struct lower *l, struct ref idx, struct ref weight, struct mem dst,
		       u32 words, bool shared)
{
	struct fn *f = l->f;
	struct blk *in = ir_blk(f), *done = ir_blk(f);
	struct ref base = lower_addr(l, dst);

	idx = l->rounds ? ir_hide(f, idx) : idx;
	ir_br(f, O_ULT, idx, ir_con(f, words), in, done);
	ir_at(f, in);
	idx = ir_op2(f, O_SHL, idx, ir_con(f, 3));
	agg_add_word(l, mem_of(ir_op2(f, O_ADD, base, idx), 0), weight, shared);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* Zero is word 63; of the largest power of two not above n words 64 on, mirrored for less than 0. */
static struct ref bucket_quantize(struct lower *l, struct node *call)
{
	struct fn *f = l->f;
	struct ref n = agg_arg(l, call), rest = ir_var(f), log = ir_var(f), idx = ir_var(f);
	struct ref sign = ir_op2(f, O_SAR, n, ir_con(f, 63)), one, a;
	struct blk *some = ir_blk(f), *done = ir_blk(f), *first = ir_blk(f), *within = ir_blk(f);

	ir_set(f, idx, ir_con(f, QUANTIZE_ZERO));
	ir_br(f, O_EQ, n, ir_con(f, 0), done, some);
	ir_at(f, some);
	a = ir_op2(f, O_SUB, ir_op2(f, O_XOR, n, sign), sign);
	ir_set(f, rest, a);
	ir_set(f, log, ir_con(f, 1));
	for (u32 w = 32; w; w /= 2) {
		struct blk *big = ir_blk(f), *next = ir_blk(f);
		ir_br(f, O_UGE, ir_get(f, rest), ir_con(f, 1ull << w), big, next);
		ir_at(f, big);
		ir_set(f, rest, ir_op2(f, O_SHR, ir_get(f, rest), ir_con(f, w)));
		ir_set(f, log, ir_addi(f, ir_get(f, log), w));
		ir_jmp(f, next);
		ir_at(f, next);
	}
	one = ir_op2(f, O_SUB, ir_op2(f, O_XOR, ir_get(f, log), sign), sign);
	ir_set(f, idx, ir_addi(f, one, QUANTIZE_ZERO));
	ir_br(f, O_SLT, ir_get(f, idx), ir_con(f, 0), first, within); /* -2^63 */
	ir_at(f, first);
	ir_set(f, idx, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, within);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, idx);
}

static void add_quantize(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	struct ref idx = bucket_quantize(l, call);

	add_weight(l, idx, weight_quantize(l, call), dst, QUANTIZE_WORDS, shared);
}

static struct ref weight_llquantize(struct lower *l, struct node *call)
{
	return weight_of(l, call, 5);
}

static struct ref bucket_llquantize(struct lower *l, struct node *call)
{
	struct log_linear g = ll_of(call->type);
	struct fn *f = l->f;
	struct ref n = agg_arg(l, call), sign = ir_op2(f, O_SAR, n, ir_con(f, 63)),
		   part = ir_var(f);
	struct ref a = ir_op2(f, O_SUB, ir_op2(f, O_XOR, n, sign), sign), q;
	struct blk *done = ir_blk(f);
	i64 before = 1, width;

	ir_set(f, part, ir_con(f, 0));
	for (i64 m = g.low; m <= g.high + 1; m++) {
		struct blk *in = ir_blk(f), *above = ir_blk(f);
		i64 start = power_of(g.factor, m);
		ir_br(f, O_ULT, a, ir_con(f, (u64)start), done, above);
		ir_at(f, above);
		if (m > g.high)
			break;
		i64 parts = ll_parts(&g, m, &width);
		q = ir_op2(f, O_UDIV, ir_addi(f, a, -start), ir_con(f, (u64)width));
		ir_set(f, part, ir_addi(f, q, before));
		before += parts;
		ir_jmp(f, in);
		ir_at(f, in);
	}
	ir_set(f, part, ir_con(f, (u64)before));
	ir_jmp(f, done);
	ir_at(f, done);
	q = ir_op2(f, O_SUB, ir_op2(f, O_XOR, ir_get(f, part), sign), sign);
	return ir_addi(f, q, before);
}

static void add_llquantize(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	struct ref idx = bucket_llquantize(l, call);

	add_weight(l, idx, weight_llquantize(l, call), dst, call->type->size / 8, shared);
}

/* Bucket of lhist: 0 below min, then the steps; the last takes all from the end of the last whole
 * step on. */
static struct ref bucket_lhist(struct lower *l, struct node *call)
{
	const i64 *p = call->type->p;
	struct fn *f = l->f;
	u32 words = call->type->size / 8;
	struct ref n = agg_arg(l, call), idx = ir_var(f), q;
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
	agg_add_bucket(l, bucket_lhist(l, call), call->type->size / 8, dst, shared);
}

static u32 words_hist(const struct type *t)
{
	return hist_buckets(t->count);
}

static u32 words_quantize(const struct type *t)
{
	(void)t;
	return QUANTIZE_WORDS;
}

static u32 words_llquantize(const struct type *t)
{
	struct log_linear g = ll_of(t);

	return (u32)(2 * ll_all_parts(&g) + 3);
}

static u32 words_lhist(const struct type *t)
{
	return (u32)(lhist_range(t->p) / (u64)t->p[2]) + 2;
}

static bool sound_hist(const struct type *t)
{
	return t->count <= MAX_HIST_BITS;
}

static bool sound_lhist(const struct type *t)
{
	return lhist_fits(t->p);
}

static bool sound_llquantize(const struct type *t)
{
	struct log_linear g = ll_of(t);

	return !ll_wrong(&g);
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

void agg_decode_buckets(const struct type *t, const u64 *w, u64 div, struct arena *a,
			struct value *ret,
			void (*label)(const struct type *t, u32 i, struct bucket *b))
{
	u32 first, last;
	struct bucket *b;

	*ret = (struct value){.kind = V_HIST};
	if (!span(w, t->size / 8, &first, &last))
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
	agg_decode_buckets(t, w, div, a, ret, label_hist);
}

/* (-4, -2], (-2, -1], 0, [1, 2), [2, 4) ...: all as [lo, hi) */
static void label_quantize(const struct type *t, u32 i, struct bucket *b)
{
	i64 lo;

	(void)t;
	if (i == QUANTIZE_ZERO) {
		b->hi = 1;
		return;
	}
	lo = power_of(2, i > QUANTIZE_ZERO ? i - QUANTIZE_ZERO - 1 : QUANTIZE_ZERO - i - 1);
	b->no_lo = i == 0;
	b->lo = i > QUANTIZE_ZERO ? lo : i ? 1 - 2 * lo : 0;
	b->hi = i > QUANTIZE_ZERO ? (i64)(2 * (u64)lo) : 1 - lo;
}

static void decode_quantize(const struct type *t, const u64 *w, u64 div, struct arena *a,
			    struct value *ret)
{
	agg_decode_buckets(t, w, div, a, ret, label_quantize);
}

/* Part number i, from 1 on: its first value and the one behind it. */
static void ll_bounds(const struct log_linear *g, i64 i, i64 *from, i64 *to)
{
	i64 m = g->low, width, parts;

	for (i--; i >= (parts = ll_parts(g, m, &width)); m++)
		i -= parts;
	*from = power_of(g->factor, m) + i * width;
	*to = i + 1 == parts ? power_of(g->factor, m + 1) : *from + width;
}

static void label_llquantize(const struct type *t, u32 i, struct bucket *b)
{
	struct log_linear g = ll_of(t);
	i64 parts = ll_all_parts(&g), at = (i64)i - parts - 1, from, to;
	i64 least = power_of(g.factor, g.low), most = power_of(g.factor, g.high + 1);

	b->no_lo = at < -parts;
	b->no_hi = at > parts;
	if (at == 0) {
		b->lo = 1 - least;
		b->hi = least;
	} else if (b->no_lo || b->no_hi) {
		b->hi = 1 - most;
		b->lo = most;
	} else {
		ll_bounds(&g, at < 0 ? -at : at, &from, &to);
		b->lo = at < 0 ? 1 - to : from;
		b->hi = at < 0 ? 1 - from : to;
	}
}

static void decode_llquantize(const struct type *t, const u64 *w, u64 div, struct arena *a,
			      struct value *ret)
{
	agg_decode_buckets(t, w, div, a, ret, label_llquantize);
	ret->step = 1; /* bounds as they are, without units */
	ret->uneven = true;
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
	agg_decode_buckets(t, w, 0, a, ret, label_lhist);
	ret->step = (u64)t->p[2];
}

static u64 total(const struct type *t, const u64 *w)
{
	u32 n = t->size / 8;
	u64 sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += w[i];
	return sum;
}

int agg_cmp_total(const struct type *t, const u64 *a, const u64 *b)
{
	return agg_cmp_u64(total(t, a), total(t, b));
}

static const struct agg agg_hist = {
	.kind = T_HIST,
	.adds = true,
	.buckets = true,
	.counts = true,
	.tells = true,
	.quiet = true,
	.json = "hist",
	.clash = "Different bits in a single hist unsupported",
	.sound = sound_hist,
	.words = words_hist,
	.merge = agg_merge_add,
	.decode = decode_hist,
	.cmp = agg_cmp_total,
};

static const struct agg agg_lhist = {
	.kind = T_LHIST,
	.adds = true,
	.buckets = true,
	.counts = true,
	.tells = true,
	.quiet = true,
	.json = "hist",
	.clash = "Different lhist bounds in a single map unsupported",
	.sound = sound_lhist,
	.words = words_lhist,
	.merge = agg_merge_add,
	.decode = decode_lhist,
	.cmp = agg_cmp_total,
};

static const struct agg agg_quantize = {
	.kind = T_QUANTIZE,
	.adds = true,
	.buckets = true,
	.counts = true,
	.tells = true,
	.quiet = true,
	.json = "hist",
	.words = words_quantize,
	.merge = agg_merge_add,
	.decode = decode_quantize,
	.cmp = agg_cmp_total,
};

static const struct agg agg_llquantize = {
	.kind = T_LLQUANTIZE,
	.adds = true,
	.buckets = true,
	.counts = true,
	.tells = true,
	.quiet = true,
	.json = "hist",
	.clash = "Different llquantize parameters in a single map unsupported",
	.sound = sound_llquantize,
	.words = words_llquantize,
	.merge = agg_merge_add,
	.decode = decode_llquantize,
	.cmp = agg_cmp_total,
};

const struct builtin builtin_buckets[] = {
	{"auto hist(int n, [lit bits])", .flags = B_AGG, .type = type_hist, .agg = &agg_hist,
	 .check = check_hist, .add = add_hist, .bucket = bucket_hist,
	 .doc = "Counts n in buckets of powers of two, each divided into 2^bits linear steps "
		"(bits: 0 to 5, default 0)."},
	{"auto lhist(int n, lit min, lit max, lit step)", .flags = B_AGG, .type = type_lhist,
	 .agg = &agg_lhist, .check = check_lhist, .add = add_lhist, .bucket = bucket_lhist,
	 .doc = "Counts n in buckets of equal width between min and max, and in one bucket each "
		"for smaller and larger values."},
	{"auto quantize(int n, [int weight])", .flags = B_AGG, .type = type_quantize,
	 .agg = &agg_quantize, .check = builtin_check_int, .add = add_quantize,
	 .bucket = bucket_quantize, .weight = weight_quantize,
	 .doc = "Counts n (or adds weight) in buckets of powers of two, those below 0 mirrored."},
	{"auto llquantize(int n, lit factor, lit lmag, lit hmag, lit steps, [int weight])",
	 .flags = B_AGG, .type = type_llquantize, .agg = &agg_llquantize, .check = check_llquantize,
	 .add = add_llquantize, .bucket = bucket_llquantize, .weight = weight_llquantize,
	 .doc = "Counts n (or adds weight) in buckets that grow with the powers of factor from "
		"lmag to hmag, each power divided into equal steps; those below 0 mirrored."},
	{0},
};
