/*
 * loss.c - data quality: what was lost is counted where it happened and reported here.
 *
 * No output if nothing was lost.
 */
#include "report/loss.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "report/report.h"
#include <errno.h>

void loss_put(struct reporter *r, enum loss kind, struct str who, u64 n, struct str text)
{
	assert(kind < LOSS_COUNT);
	report_put(r, &(struct item){.kind = I_LOST,
				     .lost.warn = true,
				     .lost.loss = kind,
				     .lost.who = who,
				     .lost.n = n,
				     .str = text});
}

void loss_uncounted(struct reporter *r, const char *what, struct err *e)
{
	AUTO_SB b = {0};
	if (!e)
		return;
	sb_fmt(&b, "%s is not known: %s", what, e->msg);
	loss_put(r, LOSS_UNCOUNTED, str_z(what), 0, sb_str(&b));
	err_free(e);
}

void report_lost(struct reporter *r, u64 n, struct str text)
{
	loss_put(r, LOSS_NOT_COUNTED, text, n, text);
}

void loss_counters_free(struct loss_counters *c)
{
	free(c->stats);
	free(c->full);
	*c = (struct loss_counters){0};
}

static u64 prog_stat(const struct loss_counters *c, u32 prog, enum stat_word w)
{
	assert(c->stats);
	assert(w < STAT_WORDS_PER_PROG);
	return c->stats[STAT_WORDS_PER_PROG * prog + w];
}

static u64 lost_total(const struct reporter *r, const struct loss_counters *c)
{
	u64 n = 0;
	for (u32 i = 0; i < r->unit->nprog; i++)
		n += prog_stat(c, i, STAT_LOST);
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

/* bpftrace's line. */
void loss_events(struct reporter *r, struct loss_counters *c, bool stats)
{
	AUTO_SB text = {0};
	u64 total = stats ? lost_total(r, c) : 0, n = total - c->shown;
	if (total <= c->shown)
		return;
	c->shown = total;
	sb_fmt(&text, "Lost %llu events", n);
	report_put(r, &(struct item){.kind = I_LOST,
				     .lost.loss = LOSS_EVENTS,
				     .lost.n = n,
				     .ts = c->before_ns,
				     .str = sb_str(&text)});
}

static void put_prog(struct reporter *r, const struct loss_counters *c, const struct prog *p,
		     enum stat_word w, enum loss kind, const char *text)
{
	AUTO_SB b = {0};
	u64 n = prog_stat(c, p->index, w);
	if (!n)
		return;
	sb_fmt(&b, "%.*s: %llu %s", STRF(prog_text(p)), n, text);
	loss_put(r, kind, prog_text(p), n, sb_str(&b));
}

void loss_total(struct reporter *r, const struct loss_counters *c, bool stats, u32 ring_bytes)
{
	AUTO_SB b = {0};
	AUTO_SB hint = {0};
	if (!c->shown)
		return;
	sb_fmt(&b, "Total lost event count: %llu", c->shown);
	loss_put(r, LOSS_TOTAL, STR(""), c->shown, sb_str(&b));
	sb_fmt(&hint,
	       "events did not fit the buffer; print less often, or enlarge it: "
	       "BPFTRACE_PERF_RB_PAGES=%u",
	       MAX(ring_bytes / 4096 * 4, 64u));
	for (u32 i = 0; stats && i < r->unit->nprog; i++)
		put_prog(r, c, r->unit->prog[i], STAT_LOST, LOSS_BY_PROBE, hint.s);
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
static void put_full(struct reporter *r, struct loss_counters *c, const struct map *m, bool ended)
{
	AUTO_SB b = {0};
	const u64 *w = c->stats + stat_map_word(r->unit->nprog, m->index);
	u64 all = w[STAT_MAP_REFUSED], other = MIN(w[STAT_MAP_OTHER], all), n = all - other;
	u64 *told = &c->full[m->index], more = 8ull * m->max_entries;
	if (n <= (ended ? *told : *told * 10))
		return;
	*told = n;
	sb_fmt(&b,
	       "map %.*s is full: %llu update%s refused%s; declare it larger: let %.*s = %s(%llu)",
	       STRF(m->name), n, n == 1 ? " was" : "s were", ended ? "" : " so far", STRF(m->name),
	       map_kind(m), more);
	if (!m->declared)
		sb_fmt(&b, ", or set BPFTRACE_MAX_MAP_KEYS=%llu", more);
	loss_put(r, LOSS_MAP_FULL, m->name, n, sb_str(&b));
}

/* What the kernel said when it was not that the map is full. */
static void put_refused(struct reporter *r, struct loss_counters *c, const struct map *m,
			bool ended)
{
	AUTO_SB b = {0};
	const u64 *w = c->stats + stat_map_word(r->unit->nprog, m->index);
	u64 n = w[STAT_MAP_OTHER], *told = &c->other[m->index];
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
	loss_put(r, LOSS_MAP_REFUSED, m->name, n, sb_str(&b));
}

void loss_maps(struct reporter *r, struct loss_counters *c, bool ended)
{
	const struct unit *u = r->unit;
	assert(c->stats);
	if (!c->full)
		c->full = xcalloc(2 * MAX(u->nmap, 1u), sizeof(u64));
	c->other = c->full + MAX(u->nmap, 1u);
	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_USER && i < STAT_MAPS) {
			put_full(r, c, u->map[i], ended);
			put_refused(r, c, u->map[i], ended);
		}
}

void loss_skipped(struct reporter *r, const struct prog *p, u64 n)
{
	AUTO_SB b = {0};
	if (!n)
		return;
	prog_put_points(&b, p);
	sb_fmt(&b,
	       ": %llu %s skipped by the kernel because the probe was already running on that CPU",
	       n, n == 1 ? "run was" : "runs were");
	loss_put(r, LOSS_MISSED_PROBES, prog_text(p), n, sb_str(&b));
}

void loss_missed(struct reporter *r, const struct prog *p, u64 n)
{
	AUTO_SB b = {0};
	bool ret = point_flags(p->points) & PROBE_RETVAL;
	if (!n)
		return;
	prog_put_points(&b, p);
	if (n == LOSS_UNKNOWN)
		sb_z(&b, ": returns may have been missed; this kernel does not count them (Linux "
			 "6.7 does)");
	else if (ret)
		sb_fmt(&b, ": %llu return%s not seen because too many calls were in progress", n,
		       n == 1 ? " was" : "s were");
	else
		sb_fmt(&b, ": %llu hit%s not seen because another kprobe was being handled", n,
		       n == 1 ? " was" : "s were");
	if (ret && r->unit->config.kretprobe_maxactive < RETPROBE_CALLS)
		sb_fmt(&b, "; allow more: BPFTRACE_KRETPROBE_MAXACTIVE=%d", RETPROBE_CALLS);
	else if (ret && p->points && p->points->name.n)
		sb_fmt(&b, "; fexit:%.*s sees them all", STRF(p->points->name));
	loss_put(r, ret ? LOSS_MISSED_RETURNS : LOSS_MISSED_HITS, prog_text(p), n, sb_str(&b));
}

void loss_of_prog(struct reporter *r, const struct loss_counters *c, const struct prog *p)
{
	put_prog(r, c, p, STAT_NEST, LOSS_NESTING,
		 "runs were given up because the probe interrupted itself too often on "
		 "one CPU");
	put_prog(r, c, p, STAT_TRUNC, LOSS_STRINGS,
		 "strings were cut; allow longer ones: BPFTRACE_MAX_STRLEN=4096");
	put_prog(r, c, p, STAT_JOINED, LOSS_STRINGS,
		 "strings that str_concat() put together were cut at 1024 characters");
	if (r->unit->config.warnings)
		put_prog(r, c, p, STAT_FAULT, LOSS_READS,
			 "reads of memory failed and gave 0; is the pointer valid and "
			 "of the right space "
			 "(kptr, uptr)?");
}

void loss_foreign(struct reporter *r, const struct loss_counters *c)
{
	AUTO_SB b = {0};
	u64 begun = 0, ended = 0, n;
	for (u32 i = 0; i < r->unit->nprog; i++) {
		const struct point *p = r->unit->prog[i]->points;
		bool ends = p && str_starts(p->name, STR("sys_exit_"));
		*(ends ? &ended : &begun) += prog_stat(c, i, STAT_FOREIGN);
	}
	n = MAX(begun, ended);
	if (!n)
		return;
	sb_fmt(&b,
	       "%llu of these system calls %s made by 32-bit programs and not traced: the "
	       "arguments "
	       "that the script reads are laid out otherwise there (strace shows them)",
	       n, n == 1 ? "was" : "were");
	loss_put(r, LOSS_FOREIGN_CALLS, STR(""), n, sb_str(&b));
}

/* One sentence for all; the probes with most of them by name. */
void loss_reads(struct reporter *r, const struct loss_counters *c)
{
	enum { SHOWN = 3 };
	AUTO_SB b = {0};
	AUTO_SB by = {0};
	u64 total = 0, last = ~0ull;
	u32 at = 0, n = 0, shown = 0;
	if (r->unit->config.warnings || r->unit->config.no_warnings)
		return;
	for (u32 i = 0; i < r->unit->nprog; i++) {
		total += prog_stat(c, i, STAT_FAULT);
		n += prog_stat(c, i, STAT_FAULT) > 0;
	}
	while (shown < MIN(n, SHOWN)) {
		u32 best = r->unit->nprog;
		for (u32 i = 0; i < r->unit->nprog; i++) {
			u64 k = prog_stat(c, i, STAT_FAULT);
			bool left = k < last || (k == last && i > at);
			if (k && left &&
			    (best == r->unit->nprog || k > prog_stat(c, best, STAT_FAULT)))
				best = i;
		}
		last = prog_stat(c, at = best, STAT_FAULT);
		sb_fmt(&by, "%s%.*s: %llu", shown++ ? ", " : "",
		       STRF(prog_text(r->unit->prog[best])), last);
	}
	if (n > shown)
		sb_fmt(&by, ", and %u more", n - shown);
	if (!total)
		return;
	sb_fmt(&b,
	       "%llu read%s of memory failed and gave 0 or an empty text (%s): the address was not "
	       "valid, or its page was not in memory; -k counts reads of NULL, too",
	       total, total == 1 ? "" : "s", by.s);
	loss_put(r, LOSS_ALL_READS, STR(""), total, sb_str(&b));
}

void loss_absent(struct reporter *r, const struct prog *p, u32 cpu, u64 ns)
{
	AUTO_SB which = {0};
	AUTO_SB b = {0};
	sb_fmt(&which, "%u", cpu);
	prog_put_points(&b, p);
	sb_fmt(&b,
	       ": CPU %s went offline, and its last %llu.%llu s were not seen, also when it came "
	       "back",
	       which.s, ns / SECOND_NS, ns / (SECOND_NS / 10) % 10);
	loss_put(r, LOSS_OFFLINE, sb_str(&which), ns / MILLI_NS, sb_str(&b));
}

void loss_replaced(struct reporter *r, const char *file)
{
	assert(file);
	AUTO_SB b = {0};
	sb_fmt(&b,
	       "%s was replaced while it was traced: processes that started since then "
	       "were not seen",
	       file);
	loss_put(r, LOSS_REPLACED, str_z(file), 1, sb_str(&b));
}

void loss_records(struct reporter *r)
{
	if (r->records.corrupt) {
		AUTO_SB b = {0};
		sb_fmt(&b, "%llu records could not be read", r->records.corrupt);
		loss_put(r, LOSS_CORRUPT, STR(""), r->records.corrupt, sb_str(&b));
	}
	if (r->records.unrun) {
		AUTO_SB b = {0};
		sb_fmt(&b, "%llu shell command%s came after the signal to end, and %s not run",
		       r->records.unrun, r->records.unrun == 1 ? "" : "s",
		       r->records.unrun == 1 ? "was" : "were");
		loss_put(r, LOSS_COMMANDS, STR(""), r->records.unrun, sb_str(&b));
	}
}

void loss_warnings(struct reporter *r)
{
	for (u32 i = 0; i < r->unit->nschema; i++) {
		const struct schema *sc = r->unit->schema[i];
		AUTO_SB b = {0};
		if (sc->fn || r->records.warned[i] <= WARN_SHOWN)
			continue;
		sb_fmt(&b, "%s (%llu more times)", sc->msg ? sc->msg : "run-time error",
		       r->records.warned[i] - WARN_SHOWN);
		report_error(r, true, "runtime_error", sc->loc, sb_str(&b));
	}
}
