/*
 * bounds.c - bhist: a histogram with the buckets of its user.
 *
 * type.name holds the bounds, in order and with commas: "10,500". A copy is a word for what is below the
 * first, then one for what begins at each.
 */
#include "builtin/agg.h"

enum { MOST_BOUNDS = 64 };

struct bounds {
	i64 v[MOST_BOUNDS];
	u32 n;
	const char *wrong; /* NULL: nothing */
};

/* Numbers with commas or blanks between them. */
static struct bounds bounds_of(struct str text)
{
	struct bounds b = {0};
	struct str one;
	bool minus;
	u64 n;

	while (!b.wrong && text.n) {
		u32 end = 0;
		while (end < text.n && text.s[end] != ',' && text.s[end] != ' ')
			end++;
		one = str_n(text.s, end);
		text = str_from(text, MIN(end + 1, text.n));
		if (!one.n)
			continue;
		minus = str_starts(one, STR("-"));
		if (b.n == MOST_BOUNDS)
			b.wrong = "more than 64 of them";
		else if (!str_u64(str_from(one, minus), &n) || n > INT64_MAX)
			b.wrong = "numbers are expected, with commas between them";
		else if (b.n && b.v[b.n - 1] >= (minus ? -(i64)n : (i64)n))
			b.wrong = "each has to be above the one before";
		else
			b.v[b.n++] = minus ? -(i64)n : (i64)n;
	}
	if (!b.wrong && !b.n)
		b.wrong = "there are none";
	return b;
}

static const struct type *type_bhist(struct sema *s, struct node *call)
{
	struct type *t = agg_type(s, T_BHIST, true);
	struct str text = {0};
	AUTO_SB name = {0};

	if (call_arg(call, 1))
		node_str(call_arg(call, 1), &text);
	struct bounds b = bounds_of(text);
	for (u32 i = 0; i < b.n; i++)
		sb_fmt(&name, "%s%lld", i ? "," : "", b.v[i]);
	t->name = arena_str(s->a, b.n ? sb_str(&name) : STR("0")); /* check_bhist() reports it */
	return agg_sized(t);
}

static bool check_bhist(struct sema *s, struct node *call)
{
	struct str text;

	if (!builtin_check_int(s, call) || !builtin_text(s, call, 1, &text))
		return false;
	struct bounds b = bounds_of(text);
	return !b.wrong || sema_fail(s, E_RANGE, call_arg(call, 1)->loc,
				     "the bounds of a histogram: %s", b.wrong);
}

/* So many bounds are not above n. */
static struct ref bucket_bhist(struct lower *l, struct node *call)
{
	struct bounds b = bounds_of(call->type->name);
	struct fn *f = l->f;
	struct ref n = agg_arg(l, call), idx = ir_var(f);
	struct blk *done = ir_blk(f);

	ir_set(f, idx, ir_con(f, 0));
	for (u32 i = 0; i < b.n; i++) {
		struct blk *above = ir_blk(f);
		ir_br(f, O_SLT, n, ir_con(f, (u64)b.v[i]), done, above);
		ir_at(f, above);
		ir_set(f, idx, ir_con(f, i + 1));
	}
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, idx);
}

static void add_bhist(struct lower *l, struct node *call, struct mem dst, bool shared)
{
	agg_add_bucket(l, bucket_bhist(l, call), call->type->size / 8, dst, shared);
}

static bool sound_bhist(const struct type *t)
{
	return !bounds_of(t->name).wrong;
}

static u32 words_bhist(const struct type *t)
{
	return bounds_of(t->name).n + 1;
}

static void label_bhist(const struct type *t, u32 i, struct bucket *k)
{
	struct bounds b = bounds_of(t->name);

	k->no_lo = i == 0;
	k->no_hi = i == b.n;
	if (!k->no_lo)
		k->lo = b.v[i - 1];
	if (!k->no_hi)
		k->hi = b.v[i];
}

static void decode_bhist(const struct type *t, const u64 *w, u64 div, struct arena *a,
			 struct value *ret)
{
	agg_decode_buckets(t, w, div, a, ret, label_bhist);
	ret->step = 1; /* bounds as they are, without units */
	ret->uneven = true;
}

static const struct agg agg_bhist = {
	.kind = T_BHIST,
	.adds = true,
	.buckets = true,
	.counts = true,
	.tells = true,
	.quiet = true,
	.json = "hist",
	.clash = "Different bounds in a single map unsupported",
	.sound = sound_bhist,
	.words = words_bhist,
	.merge = agg_merge_add,
	.decode = decode_bhist,
	.cmp = agg_cmp_total,
};

const struct builtin builtin_bounds[] = {
	{"auto bhist(int n, text bounds)", .flags = B_AGG, .type = type_bhist, .agg = &agg_bhist,
	 .check = check_bhist, .add = add_bhist, .bucket = bucket_bhist,
	 .doc = "Counts n in buckets that begin at bounds (\"10,500\": ascending numbers, at most "
		"64), and in one bucket for smaller values."},
	{0},
};
