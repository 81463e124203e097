/* figures.c - medians, means, and how they are printed. */
#include "bench.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NOTES = 100, MAX_GOALS = 32 };

FILE *body;
static char notes[MAX_NOTES][PATH_SIZE];
static int nnote;
static struct goal_row {
	const char *what;
	char goal[32], value[32], met[24];
} goals[MAX_GOALS];
static int ngoal;

void series_add(struct series *s, double v)
{
	if (s->n < MAX_ROUNDS && !isnan(v))
		s->v[s->n++] = v;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double series_median(const struct series *s)
{
	struct series copy = *s;

	if (!s->n)
		return NAN;
	qsort(copy.v, (size_t)copy.n, sizeof(copy.v[0]), by_value);
	return copy.n & 1 ? copy.v[copy.n / 2] : (copy.v[copy.n / 2 - 1] + copy.v[copy.n / 2]) / 2;
}

/* From the median distance to the median, as if the values were spread normally. */
double series_error(const struct series *s)
{
	struct series d = {.n = s->n};
	double m = series_median(s);

	for (int i = 0; i < s->n; i++)
		d.v[i] = fabs(s->v[i] - m);
	return s->n < 3 ? INFINITY : 1.2533 * 1.4826 * series_median(&d) / sqrt(s->n);
}

void mean_add(struct mean *m, double ratio, double error, const char *name)
{
	if (isnan(ratio) || ratio <= 0)
		return;
	m->sure = fmax(m->sure, ratio - 2 * error);
	m->log_sum += log(ratio);
	m->n++;
	if (ratio > m->worst) {
		m->worst = ratio;
		m->worst_name = name;
	}
}

double mean_value(const struct mean *m)
{
	return m->n ? exp(m->log_sum / m->n) : NAN;
}

void mean_print(const char *what, const struct mean *m)
{
	if (m->n)
		fprintf(body, "| %s | %.3f | %.2f (%s) | %d |\n", what, mean_value(m), m->worst,
			m->worst_name, m->n);
}

double at_least(double v, double least)
{
	return isnan(v) || v > least ? v : least;
}

const char *num(double v, int decimals)
{
	static char ring[32][32];
	static int at;
	char *s = ring[at++ % 32];

	if (isnan(v))
		return "-";
	snprintf(s, sizeof(ring[0]), "%.*f", decimals, v);
	return s;
}

/* The same remark is printed once in a section. */
void note(const char *fmt, ...)
{
	va_list ap;
	char text[PATH_SIZE];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (int i = 0; i < nnote; i++)
		if (!strcmp(notes[i], text))
			return;
	if (nnote < MAX_NOTES)
		memcpy(notes[nnote++], text, sizeof(text));
}

void notes_print(void)
{
	for (int i = 0; i < nnote; i++)
		fprintf(body, "%s- %s\n", i ? "" : "\nRemarks:\n\n", notes[i]);
	nnote = 0;
}

void goal(const char *what, double value, int decimals, double limit)
{
	if (ngoal == MAX_GOALS)
		return;
	struct goal_row *g = &goals[ngoal++];
	g->what = what;
	snprintf(g->goal, sizeof(g->goal), "%s", num(limit, decimals));
	snprintf(g->value, sizeof(g->value), "%s", num(value, decimals));
	snprintf(g->met, sizeof(g->met), "%s",
		 isnan(value)     ? "not measured"
		 : value <= limit ? "yes"
				  : "no");
}

void goal_worst(const struct mean *m, double limit)
{
	goal("- the worst of them", m->n ? m->worst : NAN, 2, limit);
	if (m->n && ngoal && m->worst > limit && m->sure <= limit)
		snprintf(goals[ngoal - 1].met, sizeof(goals[0].met), "within the noise");
}

void goals_print(FILE *out)
{
	if (ngoal)
		fprintf(out, "\n## Goals\n\n| what | at most | measured | reached "
			     "|\n|---|---|---|---|\n");
	for (int i = 0; i < ngoal; i++)
		fprintf(out, "| %s | %s | %s | %s |\n", goals[i].what, goals[i].goal,
			goals[i].value, goals[i].met);
}
