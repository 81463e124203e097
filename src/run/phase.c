/* phase.c - programs that we run ourselves: begin, end, signals, iterators, tests, benchmarks. */
#include "run/phase.h"
#include "base/clock.h"
#include "run/attach.h"
#include "run/session.h"
#include <errno.h>
#include <unistd.h>

enum { BENCH_RUNS = 100000, BENCH_NS = 300 * 1000000, BENCH_WARM = 1000 };

static bool reported(struct session *s, const struct prog *p, struct err *e)
{
	if (!e)
		return true;
	report_error(&s->reporter, false, "", p->loc, str_z(e->msg));
	err_free(e);
	return false;
}

bool phase_run(struct session *s, enum prog_phase phase)
{
	for (u32 i = 0; i < s->u->nprog; i++) {
		const struct prog *p = s->u->prog[i];
		if (p->phase != phase)
			continue;
		for (u32 n = point_count(p->points); n; n--) {
			u32 retval;
			if (!reported(s, p, live_run(&s->live, p, &retval)))
				return false;
			loop_drain(s);
			if (s->reporter.records.exit_held)
				return true;
		}
	}
	return true;
}

bool phase_any(const struct session *s, enum prog_phase phase)
{
	for (u32 i = 0; i < s->u->nprog; i++)
		if (s->u->prog[i]->phase == phase)
			return true;
	return false;
}

static struct str name_of(const struct prog *p)
{
	return p->points->text;
}

static void put_line(struct session *s, const char *kind, const struct sb *text)
{
	report_text(&s->reporter, kind, sb_str(text));
}

/* ---- iterators ---- */

/*
 * Reading runs the program, for many elements at a time; it writes nothing there. Another probe may call exit()
 * before or meanwhile: what iterators print is whole all the same. Only a signal ends them.
 */
void phase_iterate(struct session *s)
{
	if (s->control.stage != STAGE_ITERATE)
		return;
	for (struct link *l = s->live.links; l && !loop_interrupted(s); l = l->next) {
		const struct prog *p = l->owner;
		char c;
		ssize_t n = 0;
		int no;
		if (p->phase != PROG_ITER)
			continue;
		do {
			n = read(l->perf_fd, &c, sizeof(c));
			no = n < 0 ? errno : 0;
			loop_drain(s);
		} while ((n > 0 || no == EAGAIN || no == EINTR) && !s->reporter.output.failed &&
			 !loop_interrupted(s));
		if (no && no != EAGAIN && no != EINTR)
			reported(s, p, err_sys(no, "read iterator %.*s", STRF(p->points->name)));
	}
	s->control.stage = STAGE_EVENTS;
}

/* All of them, or none. */
bool phase_pin(struct session *s)
{
	AUTO_SB text = {0};
	for (struct link *l = s->live.links; l; l = l->next) {
		const struct prog *p = l->owner;
		if (p->phase != PROG_PINNED)
			continue;
		const char *path = arena_strz(&s->reporter.reader.arena, p->points->extra);
		if (reported(s, p, bpf_pin(l->fd, path))) {
			sb_fmt(&text, "Program pinned to %s\n", path);
			continue;
		}
		for (struct link *done = s->live.links; done != l; done = done->next) {
			p = done->owner;
			if (p->phase == PROG_PINNED)
				unlink(arena_strz(&s->reporter.reader.arena, p->points->extra));
		}
		return false;
	}
	if (!text.n)
		return true;
	put_line(s, "pinned", &text);
	for (u32 i = 0; i < s->u->nmap; i++)
		if (s->u->map[i]->role == MAP_USER && s->u->config.print_maps_on_exit)
			report_error(&s->reporter, true, "pinned", s->u->map[i]->loc,
				     STR("maps of a pinned iterator are not printed by anybody"));
	s->u->config.print_maps_on_exit = false;
	return true;
}

/* ---- tests ---- */

/* What it printed is shown when it failed. */
static bool run_test(struct session *s, const struct prog *p)
{
	u32 retval = 0;
	AUTO_SB text = {0};
	assert(!s->reporter.records.hold);
	s->reporter.records.hold = true;
	bool ok = reported(s, p, live_run(&s->live, p, &retval));
	loop_drain(s);
	s->reporter.records.hold = s->reporter.records.exit_held = false;
	s->reporter.output.mute = true;
	s->reporter.output.nerror = 0;
	record_again(&s->reporter);
	s->reporter.output.mute = false;
	bool failed = !ok || retval || s->reporter.output.nerror || s->control.exit_code;
	s->control.exit_code = 0;
	s->control.stop = s->reporter.records.discard = false;
	if (failed)
		record_replay(&s->reporter);
	else
		record_forget(&s->reporter);
	sb_fmt(&text, "%s %.*s", failed ? "not ok" : "ok", STRF(name_of(p)));
	if (retval)
		sb_fmt(&text, ": returned %d", (i32)retval);
	sb_char(&text, '\n');
	s->control.stop = s->reporter.records.discard = false;
	s->control.exit_code = 0;
	put_line(s, "test", &text);
	return !failed;
}

void phase_test(struct session *s)
{
	u32 good = 0, bad = 0;
	for (u32 i = 0; i < s->u->nprog && !loop_interrupted(s); i++) {
		const struct prog *p = s->u->prog[i];
		if (p->phase == PROG_TEST)
			*(run_test(s, p) ? &good : &bad) += 1;
	}
	AUTO_SB text = {0};
	sb_fmt(&text, "%u passed, %u failed\n", good, bad);
	put_line(s, "tests", &text);
	s->control.exit_code = bad ? 1 : 0;
}

/* ---- benchmarks ---- */

static struct err *run_many(struct session *s, const struct prog *p, u32 runs)
{
	u64 end = now_ns() + BENCH_NS;
	struct err *e = NULL;
	for (u32 i = 0; i < runs && !e && now_ns() < end; i++) {
		u32 retval;
		e = live_run(&s->live, p, &retval);
		if (i % 64 == 0)
			loop_drain(s);
	}
	loop_drain(s);
	return e;
}

static void run_bench(struct session *s, const struct prog *p)
{
	AUTO_SB text = {0};
	u64 ns[2], runs[2];
	s->reporter.output.mute = true;
	struct err *e = run_many(s, p, BENCH_WARM);
	if (!e)
		e = bpf_prog_time(prog_fd(s, p), &ns[0], &runs[0]);
	if (!e)
		e = run_many(s, p, BENCH_RUNS);
	if (!e)
		e = bpf_prog_time(prog_fd(s, p), &ns[1], &runs[1]);
	s->reporter.output.mute = s->control.stop = s->reporter.records.discard = false;
	if (!reported(s, p, e)) {
		s->control.exit_code = 1;
		return;
	}
	u64 n = MAX(runs[1] - runs[0], 1u);
	sb_fmt(&text, "%.*s: %llu ns per run (%llu runs)\n", STRF(name_of(p)), (ns[1] - ns[0]) / n,
	       n);
	put_line(s, "bench", &text);
}

void phase_bench(struct session *s)
{
	int stats AUTO_CLOSE = -1;
	struct err *e = bpf_stats(&stats);
	if (e) {
		report_error(&s->reporter, false, "", (struct loc){0}, str_z(e->msg));
		err_free(e);
		s->control.exit_code = 1;
		return;
	}
	for (u32 i = 0; i < s->u->nprog && !loop_interrupted(s); i++)
		if (s->u->prog[i]->phase == PROG_BENCH)
			run_bench(s, s->u->prog[i]);
}
