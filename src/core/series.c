/*
 * series.c - a tseries as text: time goes down, values to the right.
 *
 *	             -1                                                  2
 *	hh:mm:ss.ms  |___________________________________________________|
 *	14:30:12.400 *                .                                  | -1
 *	14:30:12.500 |                .                                  | -
 *	14:30:12.600 |                .                *                 | 1
 *	             v___________________________________________________v
 *	             -1                                                  2
 */
#include "core/value.h"
#include <time.h>

enum { GRAPH = 53, SECOND = 1000000000 };

/* Digits behind the seconds that starts of such intervals need. */
static u32 digits(u64 interval)
{
	return interval % SECOND == 0 ? 0 : interval % 1000000 == 0 ? 3 : interval % 1000 ? 9 : 6;
}

static void put_fraction(struct sb *out, u64 ns, u32 n)
{
	static const u32 unit[] = {[0] = 1, [3] = 1000000, [6] = 1000, [9] = 1};

	if (n)
		sb_fmt(out, ".%0*llu", (int)n, ns % SECOND / unit[n]);
}

static void put_time(struct sb *out, u64 ns, const char *fmt, u32 ndigit)
{
	time_t secs = (time_t)(ns / SECOND);
	char text[32];
	struct tm tm;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (localtime_r(&secs, &tm) && strftime(text, sizeof(text), fmt, &tm))
		sb_z(out, text);
#pragma GCC diagnostic pop
	put_fraction(out, ns, ndigit);
}

void value_tick_time(struct sb *out, const struct tick *t)
{
	put_time(out, t->start_ns, "%Y-%m-%d %H:%M:%S", 9);
}

static void put_number(struct sb *out, const struct value *v, u64 n)
{
	sb_fmt(out, v->sign ? "%lld" : "%llu", n);
}

/* Does a come before b? */
static bool less(const struct value *v, u64 a, u64 b)
{
	return v->sign ? (i64)a < (i64)b : a < b;
}

struct graph {
	const struct value *v;
	u64 min, max;
	u32 left; /* columns before the graph */
	i32 zero; /* its column; -1: none */
};

static u32 column(const struct graph *g, u64 n)
{
	unsigned __int128 at = n - g->min;

	return (u32)(at * (GRAPH - 1) / (g->max - g->min));
}

static void graph_init(struct graph *g, const struct value *v)
{
	bool any = false;

	*g = (struct graph){.v = v, .zero = -1};
	for (u32 i = 0; i < v->n; i++) {
		u64 n = v->series[i].value;
		if (v->series[i].none)
			continue;
		if (!any || less(v, n, g->min))
			g->min = n;
		if (!any || less(v, g->max, n))
			g->max = n;
		any = true;
	}
	if (g->min == g->max) { /* one value: in the middle, but never past the ends of integers */
		u64 lowest = v->sign ? 1ull << 63 : 0;
		g->min -= g->min != lowest;
		g->max += g->max != lowest - 1;
	}
	if (v->sign && (i64)g->min < 0 && (i64)g->max > 0)
		g->zero = (i32)column(g, 0);
}

static void put_range(struct sb *out, const struct graph *g)
{
	AUTO_SB max = {0};
	size_t from;

	sb_pad(out, ' ', g->left);
	from = out->n;
	put_number(out, g->v, g->min);
	put_number(&max, g->v, g->max);
	if (out->n - from + max.n < GRAPH)
		sb_pad(out, ' ', GRAPH - (out->n - from) - max.n);
	else
		sb_char(out, ' ');
	sb_add(out, sb_str(&max));
	sb_char(out, '\n');
}

static void put_row(struct sb *out, const struct graph *g, const struct tick *t, u32 ndigit)
{
	char bar[GRAPH];

	memset(bar, ' ', sizeof(bar));
	bar[0] = bar[GRAPH - 1] = '|';
	if (g->zero >= 0)
		bar[g->zero] = '.';
	if (!t->none)
		bar[column(g, t->value)] = '*';
	put_time(out, t->start_ns, "%H:%M:%S", ndigit);
	sb_char(out, ' ');
	sb_mem(out, bar, sizeof(bar));
	sb_char(out, ' ');
	if (t->none)
		sb_char(out, '-');
	else
		put_number(out, g->v, t->value);
	sb_char(out, '\n');
}

static void put_edge(struct sb *out, char edge)
{
	sb_char(out, edge);
	sb_pad(out, '_', GRAPH - 2);
	sb_char(out, edge);
	sb_char(out, '\n');
}

void value_series_text(struct sb *out, const struct value *v)
{
	static const char *const units[] = {[0] = "", [3] = ".ms", [6] = ".\u03bcs", [9] = ".ns"};
	u32 ndigit = digits(v->step), unit = ndigit ? 3 : 0;
	struct graph g;

	if (!v->n)
		return;
	graph_init(&g, v);
	g.left = 8 + 1 + (ndigit ? ndigit + 1 : 0);
	put_range(out, &g);
	sb_fmt(out, "hh:mm:ss%s", units[ndigit]);
	sb_pad(out, ' ', g.left - 8 - unit);
	put_edge(out, '|');
	for (u32 i = 0; i < v->n; i++)
		put_row(out, &g, &v->series[i], ndigit);
	sb_pad(out, ' ', g.left);
	put_edge(out, 'v');
	put_range(out, &g);
}
