/* Aggregations: which bucket a value falls into, what it is called, merging and order of copies. */
#include "core/agg.h"
#include "test.h"

/* The arithmetic that builtin/agg.c emits, in C. */
static u32 hist_index(i64 n, u32 bits)
{
	u64 rest = (u64)n;
	u32 shift = 0;
	if (n < 0)
		return 0;
	for (u32 w = 32; w; w /= 2)
		if (rest >= 1ull << (w + bits)) {
			rest >>= w;
			shift += w;
		}
	return (u32)(1 + ((u64)shift << bits) + rest);
}

static u32 lhist_index(i64 n, const struct type *t)
{
	u32 words = agg_of(t)->words(t);
	if (n < t->p[0])
		return 0;
	u64 q = (u64)(n - t->p[0]) / (u64)t->p[2];
	return q >= words - 1 ? words - 1 : (u32)q + 1;
}

/* The one bucket of a copy in which only word i was counted. */
static struct bucket only(struct arena *a, const struct type *t, u32 i)
{
	u32 n = agg_of(t)->words(t);
	u64 *w = arena_newn(a, u64, n);
	struct value v;
	CHECK(i < n);
	w[i] = 3;
	agg_of(t)->decode(t, w, 0, a, &v);
	CHECK(v.kind == V_HIST);
	CHECK(v.n == 1);
	CHECK(v.hist[0].count == 3);
	return v.hist[0];
}

/* Buckets as bpftrace 0.27.1 prints them: bits, value, least and greatest value of its bucket. */
/* clang-format off */
static const struct {
	u32 bits;
	i64 n, min, max;
} reference[] = {
	{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 2, 2, 3},
	{0, 3, 2, 3}, {0, 5, 4, 7}, {0, 7, 4, 7},
	{0, 10, 8, 15}, {0, 17, 16, 31}, {0, 31, 16, 31},
	{0, 63, 32, 63}, {0, 64, 64, 127}, {0, 100, 64, 127},
	{0, 127, 64, 127}, {0, 129, 128, 255}, {0, 1000, 512, 1023},
	{0, 1023, 512, 1023}, {0, 1024, 1024, 2047}, {0, 4097, 4096, 8191},
	{0, 65535, 32768, 65535}, {0, 1000000, 524288, 1048575}, {0, 123456789012, 68719476736, 137438953471},
	{0, 1099511640121, 1099511627776, 2199023255551}, {0, 4611686018427387903, 2305843009213693952, 4611686018427387903}, {0, 4611686018427387904, 4611686018427387904, INT64_MAX},
	{0, INT64_MAX, 4611686018427387904, INT64_MAX}, {2, 0, 0, 0}, {2, 1, 1, 1},
	{2, 2, 2, 2}, {2, 3, 3, 3}, {2, 5, 5, 5},
	{2, 7, 7, 7}, {2, 10, 10, 11}, {2, 17, 16, 19},
	{2, 31, 28, 31}, {2, 63, 56, 63}, {2, 64, 64, 79},
	{2, 100, 96, 111}, {2, 127, 112, 127}, {2, 129, 128, 159},
	{2, 1000, 896, 1023}, {2, 1023, 896, 1023}, {2, 1024, 1024, 1279},
	{2, 4097, 4096, 5119}, {2, 65535, 57344, 65535}, {2, 1000000, 917504, 1048575},
	{2, 123456789012, 120259084288, 137438953471}, {2, 1099511640121, 1099511627776, 1374389534719}, {2, 4611686018427387903, 4035225266123964416, 4611686018427387903},
	{2, 4611686018427387904, 4611686018427387904, 5764607523034234879}, {2, INT64_MAX, 8070450532247928832, INT64_MAX}, {5, 0, 0, 0},
	{5, 1, 1, 1}, {5, 2, 2, 2}, {5, 3, 3, 3},
	{5, 5, 5, 5}, {5, 7, 7, 7}, {5, 10, 10, 10},
	{5, 17, 17, 17}, {5, 31, 31, 31}, {5, 63, 63, 63},
	{5, 64, 64, 65}, {5, 100, 100, 101}, {5, 127, 126, 127},
	{5, 129, 128, 131}, {5, 1000, 992, 1007}, {5, 1023, 1008, 1023},
	{5, 1024, 1024, 1055}, {5, 4097, 4096, 4223}, {5, 65535, 64512, 65535},
	{5, 1000000, 999424, 1015807}, {5, 123456789012, 122406567936, 124554051583}, {5, 1099511640121, 1099511627776, 1133871366143},
	{5, 4611686018427387903, 4539628424389459968, 4611686018427387903}, {5, 4611686018427387904, 4611686018427387904, 4755801206503243775}, {5, INT64_MAX, 9079256848778919936, INT64_MAX},
};
/* clang-format on */

TEST(hist_buckets_are_those_of_the_reference)
{
	struct arena a = {0};
	for (size_t i = 0; i < countof(reference); i++) {
		struct type t = {.kind = T_HIST, .count = reference[i].bits};
		t.size = 8 * agg_of(&t)->words(&t);
		struct bucket b = only(&a, &t, hist_index(reference[i].n, t.count));
		CHECK(!b.no_lo && !b.no_hi);
		CHECK(b.lo == reference[i].min);
		CHECK((i64)((u64)b.hi - 1) == reference[i].max);
	}
	arena_free(&a);
}

TEST(hist_buckets_follow_each_other)
{
	struct arena a = {0};
	for (u32 bits = 0; bits <= 5; bits++) {
		struct type t = {.kind = T_HIST, .count = bits};
		t.size = 8 * agg_of(&t)->words(&t);
		u32 n = agg_of(&t)->words(&t), last = hist_index(INT64_MAX, bits);
		CHECK(n == hist_buckets(bits));
		CHECK(hist_index(-1, bits) == 0);
		CHECK(only(&a, &t, 0).no_lo);
		CHECK(last < n);
		for (u32 i = 1; i < last; i++) {
			struct bucket b = only(&a, &t, i), c = only(&a, &t, i + 1);
			CHECK(b.hi == c.lo);
			CHECK(hist_index(b.lo, bits) == i);
			CHECK(hist_index(b.hi - 1, bits) == i);
		}
	}
	arena_free(&a);
}

TEST(hist_span_keeps_empty_buckets_inside)
{
	struct arena a = {0};
	struct type t = {.kind = T_HIST};
	t.size = 8 * agg_of(&t)->words(&t);
	u64 w[66] = {0};
	struct value v;
	agg_of(&t)->decode(&t, w, 0, &a, &v);
	CHECK(v.kind == V_HIST && v.n == 0);
	w[hist_index(1, 0)] = 5;
	w[hist_index(9, 0)] = 2;
	agg_of(&t)->decode(&t, w, 2, &a, &v);
	CHECK(v.n == 4);
	CHECK(v.hist[0].lo == 1 && v.hist[0].count == 2);
	CHECK(v.hist[1].lo == 2 && v.hist[1].hi == 4 && v.hist[1].count == 0);
	CHECK(v.hist[3].lo == 8 && v.hist[3].hi == 16 && v.hist[3].count == 1);
	arena_free(&a);
}

TEST(lhist_ends_at_the_last_whole_step)
{
	struct arena a = {0};
	struct type t = {.kind = T_LHIST, .p = {0, 100, 30}};
	t.size = 8 * agg_of(&t)->words(&t);
	CHECK(agg_of(&t)->words(&t) == 5);
	CHECK(only(&a, &t, lhist_index(-5, &t)).no_lo);
	CHECK(only(&a, &t, lhist_index(-5, &t)).hi == 0);
	struct bucket b = only(&a, &t, lhist_index(89, &t));
	CHECK(b.lo == 60 && b.hi == 90 && !b.no_hi);
	b = only(&a, &t, lhist_index(95, &t));
	CHECK(b.lo == 90 && b.no_hi);
	CHECK(lhist_index(100, &t) == 4);
	CHECK(lhist_index(INT64_MAX, &t) == 4);
	/* div does not apply */
	u64 w[5] = {0, 7, 0, 0, 0};
	struct value v;
	agg_of(&t)->decode(&t, w, 7, &a, &v);
	CHECK(v.n == 1 && v.hist[0].count == 7);
	arena_free(&a);
}

TEST(min_and_max_ignore_copies_without_value)
{
	struct type min = {.kind = T_MIN, .is_signed = true}, umin = {.kind = T_MIN},
		    max = {.kind = T_MAX, .is_signed = true};
	u64 into[2] = {0, 0}, none[2] = {0, 0}, three[2] = {3, 1}, minus[2] = {(u64)-5, 1};
	agg_of(&min)->merge(&min, into, none);
	CHECK(into[1] == 0);
	agg_of(&min)->merge(&min, into, three);
	CHECK(into[0] == 3 && into[1] == 1);
	agg_of(&min)->merge(&min, into, none);
	CHECK(into[0] == 3);
	agg_of(&min)->merge(&min, into, minus);
	CHECK((i64)into[0] == -5);
	agg_of(&umin)->merge(&umin, into, three);
	CHECK(into[0] == 3);
	agg_of(&max)->merge(&max, into, minus);
	CHECK(into[0] == 3);
	into[0] = (u64)-9;
	agg_of(&max)->merge(&max, into, minus);
	CHECK((i64)into[0] == -5);
}

TEST(averages_divide_with_the_sign_of_their_type)
{
	struct arena a = {0};
	struct type s = {.kind = T_AVG, .is_signed = true}, u = {.kind = T_AVG},
		    st = {.kind = T_STATS, .is_signed = true};
	u64 minus[2] = {(u64)-7, 2}, seven[2] = {7, 2}, none[2] = {0, 0};
	struct value v;
	agg_of(&s)->decode(&s, minus, 0, &a, &v);
	CHECK(v.kind == V_INT && v.i == -3 && v.agg);
	CHECK(agg_of(&s)->has_int && agg_of(&s)->mean);
	agg_of(&u)->decode(&u, seven, 0, &a, &v);
	CHECK(v.kind == V_UINT && v.u == 3);
	agg_of(&u)->decode(&u, none, 0, &a, &v);
	CHECK(v.u == 0);
	CHECK(agg_of(&s)->cmp(&s, minus, seven) < 0);
	CHECK(agg_of(&u)->cmp(&u, minus, seven) > 0);
	/* div: only the average */
	u64 w[2] = {10, 1};
	agg_of(&st)->decode(&st, w, 2, &a, &v);
	CHECK(v.kind == V_STATS && v.n == 3);
	CHECK(v.list[0].i == 1 && v.list[1].i == 5 && v.list[2].i == 10);
	CHECK(!agg_of(&st)->has_int);
	arena_free(&a);
}

TEST(counts_add_up_and_are_ordered)
{
	struct arena a = {0};
	struct type c = {.kind = T_COUNT, .is_signed = true, .size = 8}, h = {.kind = T_HIST};
	h.size = 8 * agg_of(&h)->words(&h);
	u64 x[66] = {2, 3}, y[66] = {0, 0, 4};
	struct value v;
	agg_of(&c)->merge(&c, x, y);
	CHECK(x[0] == 2);
	x[0] = 9;
	agg_of(&c)->decode(&c, x, 2, &a, &v);
	CHECK(v.kind == V_INT && v.size == 8 && v.i == 4);
	CHECK(agg_of(&h)->cmp(&h, x, y) > 0);
	agg_of(&h)->merge(&h, y, x);
	CHECK(y[0] == 9 && y[1] == 3 && y[2] == 4);
	CHECK(agg_of(&h)->cmp(&h, x, y) < 0);
	CHECK(!agg_of(&type_i64));
	arena_free(&a);
}

/* A slot: the interval's number, the sum, how many. User space may look while a program begins one. */
TEST(agg_series_seen_half_written)
{
	struct type t = {.kind = T_TSERIES, .size = 8, .is_signed = true, .p = {1000, 3, 0}};
	u64 w[] = {6, 10, 2, 7, 0, 0, 5, 8, 1};
	struct arena a = {0};
	struct value v;
	CHECK(agg_of(&t)->words(&t) == countof(w));
	agg_of(&t)->decode(&t, w, 0, &a, &v);
	CHECK(v.kind == V_SERIES && v.n == 3 && v.series[2].none);
	CHECK(v.series[0].value == 8 && v.series[1].value == 5 && v.series[1].start_ns == 6000);
	w[0] = ~0ull; /* a number that no clock gives */
	agg_of(&t)->decode(&t, w, 0, &a, &v);
	CHECK(v.n == 1 && v.series[0].value == 5);
	arena_free(&a);
}
