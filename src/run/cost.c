/*
 * cost.c - what the trace takes of the machine, by the kernel's own accounting of programs and of
 * this process.
 *
 * The kernel measures programs only while somebody asks for it, because that costs two readings of a
 * clock per run; so without --cost and --budget nothing is measured. What it takes to get to a
 * program (a breakpoint's trap, a perf event) is in nobody's account.
 */
#include "run/cost.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "report/loss.h"
#include "run/session.h"
#include <sys/resource.h>

enum { MILLION = 1000000 };

struct costs {
	int stats_fd; /* while it is open, programs are measured */
	bool on;
	u64 ready_ns, ready_cpu_ns;                 /* when the first program could run */
	u64 mark_ns, mark_cpu_ns, mark_programs_ns; /* when the budget was looked at last */
};

static u64 time_ns(struct timeval t)
{
	return (u64)t.tv_sec * SECOND_NS + (u64)t.tv_usec * 1000;
}

u64 cost_own_ns(void)
{
	struct rusage r = {0};
	getrusage(RUSAGE_SELF, &r);
	return time_ns(r.ru_utime) + time_ns(r.ru_stime);
}

u32 cost_cpus(void)
{
	return (u32)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
}

/* Since it was loaded; zeros when the kernel does not tell. */
static void prog_cost(struct session *s, const struct prog *p, u64 *ns, u64 *runs)
{
	*ns = *runs = 0;
	if (prog_fd(s, p) >= 0)
		err_free(bpf_prog_time(prog_fd(s, p), ns, runs));
}

/* Of all programs; *most: which took most. */
static u64 programs_cost(struct session *s, const struct prog **most)
{
	u64 sum = 0, ns, runs, max = 0;
	for (u32 i = 0; i < s->u->nprog; i++) {
		prog_cost(s, s->u->prog[i], &ns, &runs);
		sum += ns;
		if (ns > max)
			*most = s->u->prog[i];
		max = MAX(max, ns);
	}
	return sum;
}

bool cost_programs_ns(struct session *s, u64 *ret)
{
	const struct costs *c = s->service[SERVICE_COST];
	const struct prog *most;
	*ret = programs_cost(s, &most);
	return c->on && c->stats_fd >= 0;
}

static void begin_now(struct costs *c)
{
	c->ready_ns = c->mark_ns = now_ns();
	c->ready_cpu_ns = c->mark_cpu_ns = cost_own_ns();
}

/* An answer says what it cost, for who asked several hosts. */
static bool is_answer(const struct session *s)
{
	return s->reporter.output.sink->answers;
}

static struct err *cost_open(struct session *s, void *self)
{
	struct costs *c = self;
	c->stats_fd = -1;
	bool asked = s->limits.cost || s->limits.budget;
	c->on = asked || s->reporter.output.watcher || is_answer(s);
	struct err *e = c->on ? bpf_stats(&c->stats_fd) : NULL;
	if (!asked) { /* a screen and an answer have what is known */
		err_free(e);
		e = NULL;
	}
	begin_now(c);
	return e ? err_wrap(e, "%s: ", s->limits.cost ? "--cost" : "--budget") : NULL;
}

/* The time until --at does not count. */
static void cost_ready(struct session *s, void *self)
{
	if (s->limits.at_ns)
		begin_now(self);
}

static void put_percent(struct sb *out, u64 share)
{
	sb_fmt(out, "%.3g %%", (double)share / (MILLION / 100));
}

/* Over the budget for a second: the trace ends as if it had called exit(). */
static void over(struct session *s, u64 share, u64 programs, u64 own, const struct prog *most)
{
	AUTO_SB b = {0};
	sb_z(&b, "stopped: tracing took ");
	put_percent(&b, share);
	sb_z(&b, " of this machine's processor time in the last second, and --budget allows ");
	put_percent(&b, s->limits.budget);
	sb_fmt(&b, "; %.1f ms in programs", (double)programs / 1e6);
	if (programs && most) {
		sb_z(&b, ", most of it in ");
		prog_put_points(&b, most);
	}
	sb_fmt(&b, ", %.1f ms in sonde itself", (double)own / 1e6);
	loss_put(&s->reporter, LOSS_BUDGET, STR(""), share, sb_str(&b));
	report_exit(&s->reporter, 1);
}

static void cost_tick(struct session *s, void *self)
{
	struct costs *c = self;
	u64 now = s->limits.budget && !s->control.stop ? now_ns() : 0;
	if (!now || now - c->mark_ns < SECOND_NS)
		return;
	const struct prog *most = NULL;
	u64 cpu = cost_own_ns(), programs = programs_cost(s, &most);
	u64 own_used = cpu - c->mark_cpu_ns, used = programs - c->mark_programs_ns;
	u64 share = cost_share(own_used + used, now - c->mark_ns, cost_cpus());
	c->mark_ns = now;
	c->mark_cpu_ns = cpu;
	c->mark_programs_ns = programs;
	if (share > s->limits.budget)
		over(s, share, used, own_used, most);
}

static int by_price(const void *pa, const void *pb)
{
	const struct cost_row *a = pa, *b = pb;
	return a->ns < b->ns ? 1 : a->ns > b->ns ? -1 : 0;
}

static void put_text(struct sb *out, const struct cost *c)
{
	sb_fmt(out, "Cost: %.2f s traced, ", (double)c->traced_ns / 1e9);
	put_percent(out, cost_share(c->programs_ns + c->own_ns, c->traced_ns, c->ncpu));
	sb_fmt(out, " of this machine's processor time (%u CPU%s)\n", c->ncpu,
	       c->ncpu == 1 ? "" : "s");
	for (u32 i = 0; i < c->n; i++)
		sb_fmt(out, "    %.*s: %llu run%s, %llu ns each, %.3f ms\n", STRF(c->row[i].probe),
		       c->row[i].runs, c->row[i].runs == 1 ? "" : "s",
		       c->row[i].ns / c->row[i].runs, (double)c->row[i].ns / 1e6);
	sb_fmt(out, "    sonde itself: %.3f ms while tracing, %.3f ms before",
	       (double)c->own_ns / 1e6, (double)c->start_ns / 1e6);
}

static void cost_report(struct session *s, void *self)
{
	const struct costs *c = self;
	if (!s->limits.cost && !is_answer(s))
		return;
	struct cost_row *row AUTO_FREE = xcalloc(s->u->nprog + 1, sizeof(*row));
	struct cost cost = {.attached_ns = s->loop.attached_ns,
			    .measured = c->stats_fd >= 0,
			    .traced_ns = now_ns() - c->ready_ns,
			    .start_ns = c->ready_cpu_ns,
			    .own_ns = cost_own_ns() - c->ready_cpu_ns,
			    .ncpu = cost_cpus(),
			    .row = row};
	for (u32 i = 0; i < s->u->nprog; i++) {
		AUTO_SB name = {0};
		struct cost_row r;
		prog_cost(s, s->u->prog[i], &r.ns, &r.runs);
		prog_put_points(&name, s->u->prog[i]);
		r.probe = arena_str(&s->reporter.reader.arena, sb_str(&name));
		cost.programs_ns += r.ns;
		if (r.runs)
			row[cost.n++] = r;
	}
	qsort(row, cost.n, sizeof(*row), by_price);
	AUTO_SB text = {0};
	if (s->limits.cost) /* for people */
		put_text(&text, &cost);
	report_put(&s->reporter,
		   &(struct item){.kind = I_COST, .cost = &cost, .str = sb_str(&text)});
}

static void cost_close(void *self)
{
	struct costs *c = self;
	if (c->on && c->stats_fd >= 0)
		close(c->stats_fd);
}

const struct service service_cost = {
	.name = "cost",
	.size = sizeof(struct costs),
	.open = cost_open,
	.ready = cost_ready,
	.tick = cost_tick,
	.report = cost_report,
	.close = cost_close,
};
