/*
 * percentile.c - percentiles of a histogram, as exact as its buckets.
 *
 * The p-th percentile of n observations is the smallest one that is not below p percent of them: in
 * order, number ceil(p * n / 100). The bucket that holds it is known, the value itself is not, so
 * what is shown is the first and the last value of that bucket: p99 = 64..127. "max" is p100.
 */
#include "core/value.h"

enum { PART = 1000, WHOLE = 100 * PART }; /* thousandths of a percent */
static const struct str largest = STR("max");

bool percentile_next(struct str *rest, struct str *name, u32 *part)
{
	struct str word, frac;
	u32 unit = PART;
	u64 n;

	while (str_cut(rest, ',', &word)) {
		*name = str_trim(word);
		if (!name->n)
			continue;
		*part = str_eq(*name, largest) ? WHOLE : WHOLE + 1; /* not one */
		if (*part == WHOLE)
			return true;
		frac = *name;
		if (frac.s[0] == 'p')
			frac = str_from(frac, 1);
		str_cut(&frac, '.', &word);
		if (!str_number(word, &n) || n > 100)
			return true;
		*part = (u32)n * PART;
		for (u32 i = 0; frac.s && i < frac.n; i++) {
			unit /= 10;
			if (frac.s[i] < '0' || frac.s[i] > '9' || !unit)
				*part = WHOLE + 1;
			else
				*part += (u32)(frac.s[i] - '0') * unit;
		}
		return true;
	}
	return false;
}

const char *percentile_letter(struct str name)
{
	return name.s[0] >= '0' && name.s[0] <= '9' ? "p" : "";
}

bool percentiles_valid(struct str list)
{
	struct str name;
	u32 part, n = 0;

	while (percentile_next(&list, &name, &part)) {
		if (part > WHOLE)
			return false;
		n++;
	}
	return n > 0;
}

static const struct bucket *find(const struct value *hist, u64 rank)
{
	u64 seen = 0;

	for (u32 i = 0; i < hist->n; i++) {
		seen += hist->hist[i].count;
		if (seen >= rank)
			return &hist->hist[i];
	}
	return NULL;
}

static const struct bucket *bucket_of(const struct value *hist, u32 part, u64 total)
{
	u64 rank = (u64)(((unsigned __int128)part * total + WHOLE - 1) / WHOLE);
	const struct bucket *at = find(hist, MAX(rank, 1ull));
	assert(at);
	return at;
}

u64 value_observations(const struct value *hist)
{
	u64 total = 0;

	for (u32 i = 0; i < hist->n; i++)
		total += hist->hist[i].count;
	return total;
}

void value_percentile(const struct value *hist, u32 part, struct value *ret)
{
	u64 total = value_observations(hist);

	*ret = (struct value){.kind = V_NONE};
	if (!total)
		return;
	const struct bucket *b = bucket_of(hist, part, total);
	*ret = (struct value){.kind = V_INT, .i = b->no_hi ? b->lo : (i64)((u64)b->hi - 1)};
}

void value_percentile_text(struct sb *out, const struct value *hist, u32 part)
{
	u64 total = value_observations(hist);

	if (!total)
		return;
	const struct bucket *b = bucket_of(hist, part, total);
	i64 last = (i64)((u64)b->hi - 1);
	if (b->no_hi)
		sb_fmt(out, ">= %lld", b->lo);
	else
		sb_fmt(out, "%s %lld", !b->no_lo && last == b->lo ? "=" : "<=", last);
}

void value_percentiles(struct arena *a, struct str list, const struct value *hist,
		       struct value *ret)
{
	struct str rest = list, name;
	u64 total = value_observations(hist);
	u32 part, n = 0;

	while (percentile_next(&rest, &name, &part))
		n++;
	struct bucket *b = arena_newn(a, struct bucket, n + 1);
	struct str *names = arena_newn(a, struct str, n + 1);
	*ret = (struct value){.kind = V_PERCENTILES, .hist = b, .names = names, .total = total};
	for (rest = list; total && percentile_next(&rest, &name, &part); ret->n++) {
		b[ret->n] = *bucket_of(hist, part, total);
		names[ret->n] = str_z(arena_fmt(a, "%s%.*s", percentile_letter(name), STRF(name)));
	}
}

void value_percentiles_text(struct sb *out, const struct value *v)
{
	sb_z(out, "{ ");
	for (u32 i = 0; i < v->n; i++) {
		const struct bucket *b = &v->hist[i];
		i64 last = (i64)((u64)b->hi - 1);
		sb_fmt(out, ".%.*s = ", STRF(v->names[i]));
		if (!b->no_lo)
			sb_fmt(out, "%lld", b->lo);
		if (b->no_lo || b->no_hi || last != b->lo)
			sb_z(out, "..");
		if (b->no_lo || (!b->no_hi && last != b->lo))
			sb_fmt(out, "%lld", last);
		sb_z(out, ", ");
	}
	sb_fmt(out, ".count = %llu }", v->total);
}
