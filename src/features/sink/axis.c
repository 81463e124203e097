/* axis.c - round numbers for the axes of a picture; see axis.h. */
#include "sink/axis.h"
#include "base/units.h"

u64 axis_step(u64 least)
{
	u64 power = 1;
	for (; power <= UINT64_MAX / 10; power *= 10)
		for (u32 i = 0; i < 3; i++) {
			u64 step = power * (u64[]){1, 2, 5}[i];
			if (step >= least)
				return step;
		}
	return least;
}

/* ---- where a value is ---- */

/* Of what is at least 1. */
static double log2_of(double v)
{
	double whole = 0, part = 0;
	for (; v >= 2; v /= 2)
		whole++;
	for (double bit = 0.5; bit > 1e-5; bit /= 2) {
		v *= v;
		if (v < 2)
			continue;
		v /= 2;
		part += bit;
	}
	return whole + part;
}

static i64 least_of(const struct axis *x)
{
	return x->row[0].no_lo ? x->row[0].hi : x->row[0].lo;
}

static i64 most_of(const struct axis *x)
{
	const struct bucket *r = &x->row[x->n - 1];
	return r->no_hi ? r->lo : r->hi;
}

/* Rows from the beginning; v is between the least and the most. */
static double place_of(const struct axis *x, i64 v)
{
	for (u32 i = 0; i < x->n; i++) {
		const struct bucket *r = &x->row[i];
		if (r->no_lo || (r->no_hi && v != r->lo) || v < r->lo || (!r->no_hi && v >= r->hi))
			continue;
		double lo = (double)r->lo, hi = (double)r->hi, d = (double)v;
		bool grows = !x->linear && lo >= 1;
		return i + (v == r->lo ? 0
			    : grows    ? log2_of(d / lo) / log2_of(hi / lo)
				       : (d - lo) / (hi - lo));
	}
	return x->row[x->n - 1].no_hi ? x->n - 1 : x->n;
}

/* ---- which values ---- */

struct marks {
	const struct axis *x;
	u32 n;
	i64 v[AXIS_MARKS];
	bool crowded; /* more than there is room for */
};

static void add(struct marks *m, i64 v)
{
	if (v < least_of(m->x) || v > most_of(m->x))
		return;
	double apart = (double)m->x->n / m->x->most;
	double gap = m->n ? place_of(m->x, v) - place_of(m->x, m->v[m->n - 1]) : apart;
	if (m->n == AXIS_MARKS || gap < apart * 0.999)
		m->crowded = true;
	else
		m->v[m->n++] = v;
}

/* Powers of base, each with so many of the factors. */
static void add_powers(struct marks *m, i64 base, const i64 *factor, u32 nfactor)
{
	i64 powers[64];
	u32 n = 0;
	for (i64 p = 1; n < countof(powers); p *= base) {
		powers[n++] = p;
		if (p > INT64_MAX / base / 8)
			break;
	}
	for (u32 i = n; i-- > 0;)
		for (u32 k = nfactor; k-- > 0;)
			add(m, -powers[i] * factor[k]);
	add(m, 0);
	for (u32 i = 0; i < n; i++)
		for (u32 k = 0; k < nfactor; k++)
			add(m, powers[i] * factor[k]);
}

static void add_steps(struct marks *m, u64 step)
{
	i64 s = (i64)step, from = least_of(m->x) / s * s;
	for (i64 v = from; v <= most_of(m->x) && !m->crowded && v <= INT64_MAX - s; v += s)
		add(m, v);
}

/* The first of steps that has room. */
static void choose_steps(struct marks *m)
{
	u64 span = (u64)most_of(m->x) - (u64)least_of(m->x), step = axis_step(MAX(span / 64, 1u));
	for (;; step = axis_step(step + 1)) {
		*m = (struct marks){.x = m->x};
		add_steps(m, step);
		if (!m->crowded || step > MIN(span, (u64)INT64_MAX / 100))
			return;
	}
}

static bool is_binary(const struct axis *x)
{
	return str_is(x->unit, "bytes") || str_is(x->unit, "byte") || str_is(x->unit, "B");
}

/* By powers, as dense as there is room for; a span within one power, by equal steps. */
static void choose_powers(struct marks *m)
{
	static const i64 ten[] = {1, 2, 5}, two[] = {1};
	static const struct {
		i64 base;
		u32 nfactor;
	} decimal[] = {{10, 3}, {10, 1}, {1000, 1}, {1000000, 1}},
	  binary[] = {{2, 1}, {4, 1}, {32, 1}, {1024, 1}};
	bool by_two = is_binary(m->x);
	for (u32 i = 0; i < countof(decimal); i++) {
		*m = (struct marks){.x = m->x};
		add_powers(m, by_two ? binary[i].base : decimal[i].base, by_two ? two : ten,
			   by_two ? 1 : decimal[i].nfactor);
		if (!m->crowded)
			break;
	}
	if (m->n < 3)
		choose_steps(m);
}

/* ---- how they are written ---- */

static struct str label_of(const struct axis *x, struct arena *a, i64 v)
{
	static const char *const times[] = {"ns", "us", "ms", "s"}, *const large[] = {"", " M",
										      " G", " T"};
	AUTO_SB b = {0};
	u32 at = 0, scale = 0;
	while (at < countof(times) && !str_is(x->unit, times[at]))
		at++;
	bool is_time = at < countof(times);
	if (is_binary(x)) {
		units_1024(&b, v);
	} else {
		for (; is_time && v && v % 1000 == 0 && at + 1 < countof(times); at++)
			v /= 1000;
		for (; !is_time && v && v % 1000000 == 0 && scale + 1 < countof(large); scale++)
			v /= scale ? 1000 : 1000000;
		sb_z(&b, v < 0 ? "-" : "");
		units_grouped(&b, v < 0 ? -(u64)v : (u64)v);
		sb_z(&b, large[scale]);
	}
	struct str unit = is_time ? str_z(times[at]) : x->unit;
	if (unit.n)
		sb_fmt(&b, " %.*s", STRF(unit));
	return arena_str(a, sb_str(&b));
}

u32 axis_marks(const struct axis *x, struct arena *a, struct axis_mark ret[AXIS_MARKS])
{
	struct marks m = {.x = x};
	u32 n = 0;
	assert(x->most && x->most <= AXIS_MARKS);
	if (!x->n)
		return 0;
	if (x->linear)
		choose_steps(&m);
	else
		choose_powers(&m);
	if (x->row[0].no_lo && (!m.n || place_of(x, m.v[0]) - 0.5 >= (double)x->n / x->most))
		ret[n++] = (struct axis_mark){0.5, STR("less")};
	for (u32 i = 0; i < m.n && n < AXIS_MARKS; i++)
		ret[n++] = (struct axis_mark){place_of(x, m.v[i]), label_of(x, a, m.v[i])};
	return n;
}
