/*
 * counters.c - the kernel's counters of what was lost: read once per second and at the end, and
 * reported by report/loss.c.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "kern/caps.h"
#include "kern/perf.h"
#include "report/loss.h"
#include "rights/sandbox.h"
#include "run/session.h"

/* The events of CPUs are enabled within less than this, so a greater difference is an offline CPU. */
enum { OFFLINE_NS = 100000000 };

struct losses {
	struct loss_counters counters;
	u64 tick_ns;        /* when the counters were read last */
	struct err *unread; /* why they could not be read; NULL if they were */
	u64 *missed;        /* by program: hits that the kernel counted but could not show;
			       LOSS_UNKNOWN if it does not count them. NULL before links are undone */
	struct absent {     /* CPUs that were offline for a time */
		const struct prog *prog;
		u32 cpu;
		u64 ns;
	} * absent;
	u32 nabsent;
	const char *replaced; /* a file that was replaced while it was probed; NULL if none was */
};

static u32 stat_words(const struct unit *u)
{
	return stat_map_word(u->nprog, u->nmap ? u->nmap - 1 : 0) + STAT_WORDS_PER_MAP;
}

/* The counters as they are now. False if this script has none, or they could not be read. */
static bool read_stats(struct session *s, struct losses *l)
{
	struct unit *u = s->u;
	struct loss_counters *c = &l->counters;
	if (map_fd(s, u->stats) < 0 || u->stats->val_size < stat_words(u) * 8)
		return false;
	if (!c->stats)
		c->stats = xcalloc(u->stats->val_size / 8, sizeof(u64));
	err_free(l->unread);
	c->before_ns = c->read_ns;
	c->read_ns = now_ns();
	l->unread = live_get(&s->live, u->stats, &(u32){0}, c->stats);
	return !l->unread;
}

static void loss_tick(struct session *s, void *self)
{
	struct losses *l = self;
	u64 now = now_ns();
	if (now - l->tick_ns < SECOND_NS)
		return;
	l->tick_ns = now;
	bool stats = read_stats(s, l);
	loss_events(&s->reporter, &l->counters, stats);
	if (stats)
		loss_maps(&s->reporter, &l->counters, false);
}

static void report_skipped(struct session *s, const struct prog *p)
{
	u64 n = 0;
	struct err *e = session_in_kernel(s) && prog_fd(s, p) >= 0 && p->phase == PROG_ATTACH
				? bpf_prog_misses(prog_fd(s, p), &n)
				: NULL;
	loss_uncounted(&s->reporter, "how often the kernel skipped a probe", e);
	loss_skipped(&s->reporter, p, n);
}

/* A CPU that goes offline takes its event along, also when it comes back. */
static void find_absent(struct session *s, struct losses *l)
{
	u64 *most = xcalloc(s->u->nprog, sizeof(*most)), ns;
	u32 n = 0, all = 0;
	for (const struct link *k = s->live.links; k; k = k->next)
		n += !!k->cpu;
	assert(!l->absent);
	l->absent = xcalloc(MAX(n, 1u), sizeof(*l->absent));
	for (const struct link *k = s->live.links; k; k = k->next) {
		const struct prog *p = k->owner;
		if (!k->cpu || !perf_enabled_ns(k->perf_fd, &ns))
			continue;
		l->absent[all++] = (struct absent){p, k->cpu - 1, ns};
		most[p->index] = MAX(most[p->index], ns);
	}
	for (u32 i = 0; i < all; i++) {
		struct absent o = l->absent[i];
		u64 missed = most[o.prog->index] - o.ns;
		if (missed > OFFLINE_NS)
			l->absent[l->nabsent++] = (struct absent){o.prog, o.cpu, missed};
	}
	free(most);
}

/* Hits are counted with the links, and go with them. */
static void loss_detach(struct session *s, void *self)
{
	struct losses *l = self;
	assert(!l->missed);
	l->missed = xcalloc(s->u->nprog, sizeof(u64));
	find_absent(s, l);
	for (const struct link *k = s->live.links; k; k = k->next) {
		const struct prog *p = k->owner;
		if (link_replaced(k))
			l->replaced = k->file;
		u64 n, *sum = &l->missed[p->index];
		bool told = link_missed(s->h, k, &n);
		if (!told && (point_flags(p->points) & PROBE_RETVAL))
			*sum = LOSS_UNKNOWN;
		else if (told && *sum != LOSS_UNKNOWN)
			*sum += n;
	}
}

static void report_hidden(struct session *s)
{
	AUTO_SB b = {0};
	if (!session_in_kernel(s) || !s->syms || !sym_kernel_hidden(s->syms))
		return;
	sb_fmt(&b, "kernel addresses have no names, as /proc/kallsyms shows none");
	if (!cap_held(CAP_SYSLOG))
		sb_fmt(&b, ": needs CAP_SYSLOG while kernel.kptr_restrict is %lld",
		       (long long)host_sysctl(s->h, "kernel.kptr_restrict"));
	loss_put(&s->reporter, LOSS_KERNEL_NAMES, STR(""), 0, sb_str(&b));
}

/* Names and rows that are missing because the child that read a file did not survive it. */
static void report_unread(struct session *s)
{
	const char *text;
	for (u32 i = 0; (text = sandbox_told(s->h, i)); i++)
		loss_put(&s->reporter, LOSS_UNREAD_FILES, STR(""), 0, str_z(text));
}

static void loss_report(struct session *s, void *self)
{
	struct losses *l = self;
	struct reporter *r = &s->reporter;
	const struct unit *u = s->u;
	bool stats = read_stats(s, l);
	loss_events(r, &l->counters, stats);
	loss_uncounted(r, "which events, updates and reads were lost", l->unread);
	l->unread = NULL;
	loss_total(r, &l->counters, stats, s->live.ring_bytes);
	for (u32 i = 0; i < u->nprog; i++) {
		report_skipped(s, u->prog[i]);
		loss_missed(r, u->prog[i], l->missed ? l->missed[i] : 0);
		if (stats)
			loss_of_prog(r, &l->counters, u->prog[i]);
	}
	if (stats) {
		loss_foreign(r, &l->counters);
		loss_reads(r, &l->counters);
		loss_maps(r, &l->counters, true);
	}
	for (u32 i = 0; i < l->nabsent; i++)
		loss_absent(r, l->absent[i].prog, l->absent[i].cpu, l->absent[i].ns);
	if (l->replaced)
		loss_replaced(r, l->replaced);
	loss_records(r);
	report_hidden(s);
	report_unread(s);
	loss_warnings(r);
}

static struct err *loss_open(struct session *s, void *self)
{
	((struct losses *)self)->tick_ns = s->reporter.start_ns;
	return NULL;
}

static void loss_close(void *self)
{
	struct losses *l = self;
	loss_counters_free(&l->counters);
	err_free(l->unread);
	free(l->missed);
	free(l->absent);
}

const struct service service_loss = {
	.name = "losses",
	.anywhere = true,
	.size = sizeof(struct losses),
	.open = loss_open,
	.tick = loss_tick,
	.detach = loss_detach,
	.report = loss_report,
	.close = loss_close,
};
