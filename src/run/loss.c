/*
 * loss.c - data quality: what did not reach the user is counted where it happened and told here.
 *
 * Nothing is said when nothing was lost.
 */
#include "base/alloc.h"
#include "kern/caps.h"
#include "kern/perf.h"
#include "kern/sandbox.h"
#include "run/run.h"
#include <errno.h>

enum { OFFLINE_NS = 100000000 }; /* so far apart are the events of CPUs never by attaching */

struct losses {
	u64 shown;          /* of the events lost, reported while running */
	u64 tick_ns;        /* last look at the counters */
	u64 *stats;         /* copy of the MAP_STATS value */
	struct err *unread; /* why there is none */
	u64 *full, *other;  /* by map: the updates refused that were told of */
	u64 *missed;        /* per program: hits that the kernel counted but could not show;
			LOSS_UNKNOWN: it does not tell */
	struct absent {     /* CPUs that were offline for a time */
		const struct prog *prog;
		u32 cpu;
		u64 ns;
	} * absent;
	u32 nabsent;
	const char *replaced; /* a file that was replaced while it was probed; NULL: none */
	u64 unrun;            /* shell commands that a signal came before */
};

void loss_uncounted(struct session *s, const char *what, struct err *e)
{
	AUTO_SB b = {0};
	if (!e)
		return;
	sb_fmt(&b, "%s is not known: %s", what, e->msg);
	loss_put(s, LOSS_UNCOUNTED, str_z(what), 0, sb_str(&b));
	err_free(e);
}

static u32 stat_words(const struct unit *u)
{
	return stat_map_word(u->nprog, u->nmap ? u->nmap - 1 : 0) + STAT_WORDS_PER_MAP;
}

/* Counters as they are now, in l->stats; false: this script has none. */
static bool read_stats(struct session *s, struct losses *l)
{
	struct unit *u = s->u;
	u32 zero = 0;
	if (map_fd(s, u->stats) < 0 || u->stats->val_size < stat_words(u) * 8)
		return false;
	if (!l->stats)
		l->stats = xcalloc(u->stats->val_size / 8, sizeof(u64));
	err_free(l->unread);
	l->unread = bpf_map_get(map_fd(s, u->stats), &zero, l->stats);
	return !l->unread;
}

static u64 prog_stat(const struct losses *l, u32 prog, enum stat_word w)
{
	return l->stats[STAT_WORDS_PER_PROG * prog + w];
}

static u64 lost_total(struct session *s, struct losses *l)
{
	u64 n = 0;
	if (read_stats(s, l))
		for (u32 i = 0; i < s->u->nprog; i++)
			n += prog_stat(l, i, STAT_LOST);
	return n;
}

static struct str prog_text(const struct prog *p)
{
	return p->points ? p->points->text : p->name;
}

/* With several points: the first, and how many more. */
void prog_put_points(struct sb *out, const struct prog *p)
{
	u32 more = 0;
	for (const struct point *t = p->points ? p->points->next : NULL; t; t = t->next)
		more++;
	sb_add(out, prog_text(p));
	if (more)
		sb_fmt(out, " and %u more", more);
}

/* Events lost since the last report: bpftrace's line. */
static void report_events(struct session *s, struct losses *l)
{
	AUTO_SB text = {0};
	u64 total = lost_total(s, l), n = total - l->shown;
	if (total <= l->shown)
		return;
	l->shown = total;
	sb_fmt(&text, "Lost %llu events", n);
	session_put(s, &(struct item){
			       .kind = I_LOST, .loss = LOSS_EVENTS, .n = n, .str = sb_str(&text)});
}

static void report_prog(struct session *s, const struct losses *l, const struct prog *p,
			enum stat_word w, enum loss kind, const char *text)
{
	AUTO_SB b = {0};
	u64 n = prog_stat(l, p->index, w);
	if (!n)
		return;
	sb_fmt(&b, "%.*s: %llu %s", STRF(prog_text(p)), n, text);
	loss_put(s, kind, prog_text(p), n, sb_str(&b));
}

static void report_lost(struct session *s, struct losses *l, bool stats)
{
	AUTO_SB b = {0};
	AUTO_SB hint = {0};
	if (!l->shown)
		return;
	sb_fmt(&b, "Total lost event count: %llu", l->shown);
	loss_put(s, LOSS_TOTAL, STR(""), l->shown, sb_str(&b));
	sb_fmt(&hint,
	       "events did not fit the buffer; print less often, or enlarge it: "
	       "BPFTRACE_PERF_RB_PAGES=%u",
	       MAX(s->live.ring_bytes / 4096 * 4, 64u));
	for (u32 i = 0; stats && i < s->u->nprog; i++)
		report_prog(s, l, s->u->prog[i], STAT_LOST, LOSS_BY_PROBE, hint.s);
}

/* As scripts declare it. */
static const char *map_kind(const struct map *m)
{
	switch (m->map_type) {
	case BPF_MAP_TYPE_PERCPU_HASH: return "percpuhash";
	case BPF_MAP_TYPE_LRU_HASH: return "lruhash";
	case BPF_MAP_TYPE_LRU_PERCPU_HASH: return "percpulruhash";
	default: return "hash";
	}
}

/* While the script runs: at first, then when there are ten times as many; at the end, what is new. */
static void report_map(struct session *s, struct losses *l, const struct map *m, bool ended)
{
	AUTO_SB b = {0};
	const u64 *w = l->stats + stat_map_word(s->u->nprog, m->index);
	u64 all = w[STAT_MAP_REFUSED], other = MIN(w[STAT_MAP_OTHER], all), n = all - other;
	u64 *told = &l->full[m->index], more = 8ull * m->max_entries;
	if (n <= (ended ? *told : *told * 10))
		return;
	*told = n;
	sb_fmt(&b,
	       "map %.*s is full: %llu update%s refused%s; declare it larger: let %.*s = %s(%llu)",
	       STRF(m->name), n, n == 1 ? " was" : "s were", ended ? "" : " so far", STRF(m->name),
	       map_kind(m), more);
	if (!m->declared)
		sb_fmt(&b, ", or set BPFTRACE_MAX_MAP_KEYS=%llu", more);
	loss_put(s, LOSS_MAP_FULL, m->name, n, sb_str(&b));
}

/* What the kernel said when it was not that the map is full. */
static void report_refused(struct session *s, struct losses *l, const struct map *m, bool ended)
{
	AUTO_SB b = {0};
	const u64 *w = l->stats + stat_map_word(s->u->nprog, m->index);
	u64 n = w[STAT_MAP_OTHER], *told = &l->other[m->index];
	int no = (int)stat_error((int)w[STAT_MAP_ERROR]);
	if (n <= (ended ? *told : *told * 10))
		return;
	*told = n;
	sb_fmt(&b, "map %.*s: %llu update%s refused%s, though it is not full: %s", STRF(m->name), n,
	       n == 1 ? " was" : "s were", ended ? "" : " so far",
	       no ? strerror(no) : "the element was deleted at once");
	if (no == ENOMEM && m->declared)
		sb_z(&b, "; the kernel had no memory for more elements at that moment");
	else if (no == ENOMEM)
		sb_fmt(&b,
		       "; the kernel had no memory for more elements at that moment: with "
		       "let %.*s = %s(%u) it takes it when the script is loaded",
		       STRF(m->name), map_kind(m), m->max_entries);
	else if (no == EBUSY || no == EDEADLK || no == ETIMEDOUT)
		sb_z(&b, "; a probe came while the kernel was changing this map on the same CPU");
	loss_put(s, LOSS_MAP_REFUSED, m->name, n, sb_str(&b));
}

static void report_maps(struct session *s, struct losses *l, bool ended)
{
	const struct unit *u = s->u;
	if (!l->full)
		l->full = xcalloc(2 * MAX(u->nmap, 1u), sizeof(u64));
	l->other = l->full + MAX(u->nmap, 1u);
	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_USER && i < STAT_MAPS) {
			report_map(s, l, u->map[i], ended);
			report_refused(s, l, u->map[i], ended);
		}
}

static void loss_tick(struct session *s, void *self)
{
	struct losses *l = self;
	u64 now = now_ns();
	if (now - l->tick_ns < SECOND_NS)
		return;
	l->tick_ns = now;
	report_events(s, l);
	if (read_stats(s, l))
		report_maps(s, l, false);
}

static void report_misses(struct session *s, const struct prog *p)
{
	AUTO_SB b = {0};
	u64 n = 0;
	struct err *e = prog_fd(s, p) >= 0 && p->phase == PROG_ATTACH
				? bpf_prog_misses(prog_fd(s, p), &n)
				: NULL;
	loss_uncounted(s, "how often the kernel skipped a probe", e);
	if (!n)
		return;
	prog_put_points(&b, p);
	sb_fmt(&b,
	       ": %llu %s skipped by the kernel because the probe was already running on that CPU",
	       n, n == 1 ? "run was" : "runs were");
	loss_put(s, LOSS_MISSED_PROBES, prog_text(p), n, sb_str(&b));
}

/* A CPU that goes offline takes its event along, also when it comes back. */
static void find_absent(struct session *s, struct losses *l)
{
	u64 *most = xcalloc(s->u->nprog, sizeof(*most)), ns;
	u32 n = 0, all = 0;
	for (const struct link *k = s->live.links; k; k = k->next)
		n += !!k->cpu;
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

static void report_absent(struct session *s, const struct absent *o)
{
	AUTO_SB cpu = {0};
	AUTO_SB b = {0};
	sb_fmt(&cpu, "%u", o->cpu);
	prog_put_points(&b, o->prog);
	sb_fmt(&b,
	       ": CPU %s went offline, and its last %llu.%llu s were not seen, also when it came "
	       "back",
	       cpu.s, o->ns / SECOND_NS, o->ns / (SECOND_NS / 10) % 10);
	loss_put(s, LOSS_OFFLINE, sb_str(&cpu), o->ns / MILLI_NS, sb_str(&b));
}

/* Hits are counted with the links, and go with them. */
static void loss_detach(struct session *s, void *self)
{
	struct losses *l = self;
	l->missed = xcalloc(s->u->nprog, sizeof(u64));
	find_absent(s, l);
	for (const struct link *k = s->live.links; k; k = k->next) {
		const struct prog *p = k->owner;
		if (link_replaced(k))
			l->replaced = k->file;
		u64 n, *sum = &l->missed[p->index];
		bool told = link_missed(s->h, k, &n);
		if (!told && (point_flags(p->points) & KIND_RETVAL))
			*sum = LOSS_UNKNOWN;
		else if (told && *sum != LOSS_UNKNOWN)
			*sum += n;
	}
}

/* Hits that no program was run for. */
static void report_unseen(struct session *s, struct losses *l, const struct prog *p)
{
	AUTO_SB b = {0};
	u64 n = l->missed ? l->missed[p->index] : 0;
	bool ret = point_flags(p->points) & KIND_RETVAL;
	if (!n)
		return;
	prog_put_points(&b, p);
	if (n == LOSS_UNKNOWN)
		sb_z(&b, ": returns may have been missed, which this kernel does not tell (Linux "
			 "6.7 does)");
	else if (ret)
		sb_fmt(&b, ": %llu return%s not seen because too many calls were in progress", n,
		       n == 1 ? " was" : "s were");
	else
		sb_fmt(&b, ": %llu hit%s not seen because another kprobe was being handled", n,
		       n == 1 ? " was" : "s were");
	if (ret && s->u->config.kretprobe_maxactive < RETPROBE_CALLS)
		sb_fmt(&b, "; allow more: BPFTRACE_KRETPROBE_MAXACTIVE=%d", RETPROBE_CALLS);
	else if (ret && p->points && p->points->name.n)
		sb_fmt(&b, "; fexit:%.*s sees them all", STRF(p->points->name));
	loss_put(s, ret ? LOSS_MISSED_RETURNS : LOSS_MISSED_HITS, prog_text(p), n, sb_str(&b));
}

static void report_hidden(struct session *s)
{
	AUTO_SB b = {0};
	if (!s->syms || !sym_kernel_hidden(s->syms))
		return;
	sb_fmt(&b, "kernel addresses have no names, as /proc/kallsyms shows none");
	if (!cap_held(CAP_SYSLOG))
		sb_fmt(&b, ": needs CAP_SYSLOG while kernel.kptr_restrict is %lld",
		       (long long)host_sysctl(s->h, "kernel.kptr_restrict"));
	loss_put(s, LOSS_KERNEL_NAMES, STR(""), 0, sb_str(&b));
}

static void report_warnings(struct session *s)
{
	for (u32 i = 0; i < s->u->nschema; i++) {
		const struct schema *sc = s->u->schema[i];
		AUTO_SB b = {0};
		if (sc->fn || s->records.warned[i] <= WARN_SHOWN)
			continue;
		sb_fmt(&b, "%s (%llu more times)", sc->msg ? sc->msg : "run-time error",
		       s->records.warned[i] - WARN_SHOWN);
		session_error(s, true, "runtime_error", sc->loc, sb_str(&b));
	}
}

/* Names and rows that are missing because the child that read a file did not survive it. */
static void report_unread(struct session *s)
{
	const char *text;
	for (u32 i = 0; (text = sandbox_told(s->h, i)); i++)
		loss_put(s, LOSS_UNREAD_FILES, STR(""), 0, str_z(text));
}

/* One sentence for all; the probes with most of them by name. */
static void report_reads(struct session *s, const struct losses *l)
{
	enum { SHOWN = 3 };
	AUTO_SB b = {0};
	AUTO_SB by = {0};
	u64 total = 0, last = ~0ull;
	u32 at = 0, n = 0, shown = 0;
	for (u32 i = 0; i < s->u->nprog; i++) {
		total += prog_stat(l, i, STAT_FAULT);
		n += prog_stat(l, i, STAT_FAULT) > 0;
	}
	while (shown < MIN(n, SHOWN)) {
		u32 best = s->u->nprog;
		for (u32 i = 0; i < s->u->nprog; i++) {
			u64 k = prog_stat(l, i, STAT_FAULT);
			bool left = k < last || (k == last && i > at);
			if (k && left &&
			    (best == s->u->nprog || k > prog_stat(l, best, STAT_FAULT)))
				best = i;
		}
		last = prog_stat(l, at = best, STAT_FAULT);
		sb_fmt(&by, "%s%.*s: %llu", shown++ ? ", " : "", STRF(prog_text(s->u->prog[best])),
		       last);
	}
	if (n > shown)
		sb_fmt(&by, ", and %u more", n - shown);
	if (!total)
		return;
	sb_fmt(&b,
	       "%llu read%s of memory failed and gave 0 or an empty text (%s): the address was not "
	       "valid, or its page was not in memory; -k counts reads of NULL, too",
	       total, total == 1 ? "" : "s", by.s);
	loss_put(s, LOSS_ALL_READS, STR(""), total, sb_str(&b));
}

static void loss_report(struct session *s, void *self)
{
	struct losses *l = self;
	const struct unit *u = s->u;
	report_events(s, l);
	bool stats = read_stats(s, l);
	loss_uncounted(s, "which events, updates and reads were lost", l->unread);
	l->unread = NULL;
	report_lost(s, l, stats);
	for (u32 i = 0; i < u->nprog; i++) {
		const struct prog *p = u->prog[i];
		report_misses(s, p);
		report_unseen(s, l, p);
		if (!stats)
			continue;
		report_prog(s, l, p, STAT_NEST, LOSS_NESTING,
			    "runs were given up because the probe interrupted itself too often on "
			    "one CPU");
		report_prog(s, l, p, STAT_TRUNC, LOSS_STRINGS,
			    "strings were cut; allow longer ones: BPFTRACE_MAX_STRLEN=4096");
		report_prog(s, l, p, STAT_JOINED, LOSS_STRINGS,
			    "strings that str_concat() put together were cut at 1024 characters");
		if (u->config.warnings)
			report_prog(s, l, p, STAT_FAULT, LOSS_READS,
				    "reads of memory failed and gave 0; is the pointer valid and "
				    "of the right space "
				    "(kptr, uptr)?");
	}
	if (stats && !u->config.warnings && !u->config.no_warnings)
		report_reads(s, l);
	if (stats)
		report_maps(s, l, true);
	for (u32 i = 0; i < l->nabsent; i++)
		report_absent(s, &l->absent[i]);
	if (l->replaced) {
		AUTO_SB b = {0};
		sb_fmt(&b,
		       "%s was replaced while it was traced: processes that started since then "
		       "were not seen",
		       l->replaced);
		loss_put(s, LOSS_REPLACED, str_z(l->replaced), 1, sb_str(&b));
	}
	if (s->records.corrupt) {
		AUTO_SB b = {0};
		sb_fmt(&b, "%llu records could not be read", s->records.corrupt);
		loss_put(s, LOSS_CORRUPT, STR(""), s->records.corrupt, sb_str(&b));
	}
	if (l->unrun) {
		AUTO_SB b = {0};
		sb_fmt(&b, "%llu shell command%s came after the signal to end, and %s not run",
		       l->unrun, l->unrun == 1 ? "" : "s", l->unrun == 1 ? "was" : "were");
		loss_put(s, LOSS_COMMANDS, STR(""), l->unrun, sb_str(&b));
	}
	report_hidden(s);
	report_unread(s);
	report_warnings(s);
}

void session_unrun(struct session *s)
{
	((struct losses *)s->part[PART_LOSS])->unrun++;
}

static struct err *loss_open(struct session *s, void *self)
{
	((struct losses *)self)->tick_ns = s->start_ns;
	return NULL;
}

static void loss_close(void *self)
{
	struct losses *l = self;
	free(l->stats);
	err_free(l->unread);
	free(l->full);
	free(l->missed);
	free(l->absent);
}

const struct part part_loss = {
	.name = "losses",
	.size = sizeof(struct losses),
	.open = loss_open,
	.tick = loss_tick,
	.detach = loss_detach,
	.report = loss_report,
	.close = loss_close,
};
