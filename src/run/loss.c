/*
 * loss.c - data quality: what did not reach the user is counted where it happened and told here.
 *
 * Nothing is said when nothing was lost.
 */
#include "kern/caps.h"
#include "run/run.h"

static u32 stat_words(const struct unit *u)
{
	return stat_map_word(u->nprog, u->nmap ? u->nmap - 1 : 0) + 1;
}

/* Counters as they are now, in s->stats; false: this script has none. */
static bool read_stats(struct session *s)
{
	struct unit *u = s->u;
	u32 zero = 0;
	if (!u->stats || u->stats->fd < 0 || u->stats->val_size < stat_words(u) * 8)
		return false;
	if (!s->stats) {
		s->stats = calloc(u->stats->val_size / 8 + 1, sizeof(u64));
		if (!s->stats)
			abort();
	}
	struct err *e = bpf_map_get(u->stats->fd, &zero, s->stats);
	err_free(e);
	return !e;
}

static u64 prog_stat(const struct session *s, u32 prog, enum stat_word w)
{
	return s->stats[STAT_WORDS_PER_PROG * prog + w];
}

static u64 lost_total(struct session *s)
{
	u64 n = 0;
	if (read_stats(s))
		for (u32 i = 0; i < s->u->nprog; i++)
			n += prog_stat(s, i, STAT_LOST);
	return n;
}

static struct str prog_text(const struct prog *p)
{
	return p->points ? p->points->text : p->name;
}

/* With several points: the first, and how many more. */
static void put_points(struct sb *out, const struct prog *p)
{
	u32 more = 0;
	for (const struct point *t = p->points ? p->points->next : NULL; t; t = t->next)
		more++;
	sb_add(out, prog_text(p));
	if (more)
		sb_fmt(out, " and %u more", more);
}

void loss_put(struct session *s, const char *kind, struct str who, u64 n, struct str text)
{
	session_put(s, &(struct item){.kind = I_LOST,
				      .warn = true,
				      .name = str_z(kind),
				      .who = who,
				      .n = n,
				      .str = text});
}

/* Events lost since the last report: bpftrace's line. */
static void report_events(struct session *s)
{
	AUTO_SB text = {0};
	u64 total = lost_total(s), n = total - s->lost_shown;
	if (total <= s->lost_shown)
		return;
	s->lost_shown = total;
	sb_fmt(&text, "Lost %llu events", n);
	session_put(s, &(struct item){.kind = I_LOST,
				      .name = STR("lost_events"),
				      .n = n,
				      .str = sb_str(&text)});
}

void loss_tick(struct session *s)
{
	u64 now = run_now();
	if (now - s->ticked_ns < SECOND_NS)
		return;
	s->ticked_ns = now;
	report_events(s);
}

static void report_prog(struct session *s, const struct prog *p, enum stat_word w, const char *kind,
			const char *text)
{
	AUTO_SB b = {0};
	u64 n = prog_stat(s, p->index, w);
	if (!n)
		return;
	sb_fmt(&b, "%.*s: %llu %s", STRF(prog_text(p)), n, text);
	loss_put(s, kind, prog_text(p), n, sb_str(&b));
}

static void report_lost(struct session *s, bool stats)
{
	AUTO_SB b = {0};
	AUTO_SB hint = {0};
	if (!s->lost_shown)
		return;
	sb_fmt(&b, "Total lost event count: %llu", s->lost_shown);
	loss_put(s, "lost_total", STR(""), s->lost_shown, sb_str(&b));
	sb_fmt(&hint,
	       "events did not fit the buffer; print less often, or enlarge it: "
	       "BPFTRACE_PERF_RB_PAGES=%u",
	       MAX(s->ring_bytes / 4096 * 4, 64u));
	for (u32 i = 0; stats && i < s->u->nprog; i++)
		report_prog(s, s->u->prog[i], STAT_LOST, "lost_by_probe", hint.s);
}

static void report_map(struct session *s, const struct map *m)
{
	AUTO_SB b = {0};
	u64 n = s->stats[stat_map_word(s->u->nprog, m->index)], more = 8ull * m->max_entries;
	if (!n)
		return;
	sb_fmt(&b,
	       "map %.*s is full: %llu update%s refused; declare it larger: let %.*s = hash(%llu)",
	       STRF(m->name), n, n == 1 ? " was" : "s were", STRF(m->name), more);
	if (!m->declared)
		sb_fmt(&b, ", or set BPFTRACE_MAX_MAP_KEYS=%llu", more);
	loss_put(s, "map_full", m->name, n, sb_str(&b));
}

static void report_misses(struct session *s, const struct prog *p)
{
	AUTO_SB b = {0};
	u64 n = 0;
	struct err *e = p->fd >= 0 && p->phase == PROG_ATTACH ? bpf_prog_misses(p->fd, &n) : NULL;
	err_free(e);
	if (e || !n)
		return;
	put_points(&b, p);
	sb_fmt(&b,
	       ": %llu runs were skipped by the kernel because the probe was already running "
	       "on that CPU",
	       n);
	loss_put(s, "missed_probes", prog_text(p), n, sb_str(&b));
}

void loss_links(struct session *s)
{
	s->missed = calloc(s->u->nprog + 1, sizeof(u64));
	if (!s->missed)
		abort();
	for (const struct link *l = s->links; l; l = l->next) {
		const struct prog *p = l->owner;
		if (link_replaced(l))
			s->replaced = l->file;
		u64 n, *sum = &s->missed[p->index];
		bool told = link_missed(s->h, l, &n);
		if (!told && (p->provider->flags & PF_RETVAL))
			*sum = UINT64_MAX;
		else if (told && *sum != UINT64_MAX)
			*sum += n;
	}
}

/* Hits that no program was run for. */
static void report_unseen(struct session *s, const struct prog *p)
{
	AUTO_SB b = {0};
	u64 n = s->missed ? s->missed[p->index] : 0;
	bool ret = p->provider->flags & PF_RETVAL;
	if (!n)
		return;
	put_points(&b, p);
	if (n == UINT64_MAX)
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
	loss_put(s, ret ? "missed_returns" : "missed_hits", prog_text(p), n == UINT64_MAX ? 0 : n,
		 sb_str(&b));
}

static void report_followed(struct session *s)
{
	AUTO_SB b = {0};
	u64 n = follow_full(s->follow);
	if (!n)
		return;
	sb_fmt(&b,
	       "%llu child process%s not followed: there is room for %u; allow more: "
	       "BPFTRACE_MAX_FOLLOWED=%llu",
	       n, n == 1 ? " was" : "es were", s->u->scope.pids->max_entries,
	       8ull * s->u->scope.pids->max_entries);
	loss_put(s, "not_followed", STR(""), n, sb_str(&b));
}

static void report_hidden(struct session *s)
{
	AUTO_SB b = {0};
	if (!s->syms || !sym_kernel_hidden(s->syms))
		return;
	sb_fmt(&b, "kernel addresses have no names, as /proc/kallsyms shows none");
	if (!cap_held(CAP_SYSLOG))
		sb_fmt(&b, ": needs CAP_SYSLOG while kernel.kptr_restrict is %lld",
		       (long long)host_number(s->h, "/proc/sys/kernel/kptr_restrict"));
	loss_put(s, "no_kernel_names", STR(""), 0, sb_str(&b));
}

static void report_warnings(struct session *s)
{
	for (u32 i = 0; i < s->u->nschema; i++) {
		const struct schema *sc = s->u->schema[i];
		AUTO_SB b = {0};
		if (sc->fn || s->warned[i] <= WARN_SHOWN)
			continue;
		sb_fmt(&b, "%s (%llu more times)", sc->msg ? sc->msg : "run-time error",
		       s->warned[i] - WARN_SHOWN);
		session_error(s, true, "runtime_error", sc->loc, sb_str(&b));
	}
}

void loss_report(struct session *s)
{
	const struct unit *u = s->u;
	report_events(s);
	bool stats = read_stats(s);
	report_lost(s, stats);
	for (u32 i = 0; i < u->nprog; i++) {
		const struct prog *p = u->prog[i];
		report_misses(s, p);
		report_unseen(s, p);
		if (!stats)
			continue;
		report_prog(s, p, STAT_NEST, "nesting",
			    "runs were given up because the probe interrupted itself too often on "
			    "one CPU");
		report_prog(s, p, STAT_TRUNC, "truncated_strings",
			    "strings were cut; allow longer ones: BPFTRACE_MAX_STRLEN=4096");
		if (u->config.warnings)
			report_prog(s, p, STAT_FAULT, "failed_reads",
				    "reads of memory failed and gave 0; is the pointer valid and "
				    "of the right space "
				    "(kptr, uptr)?");
	}
	for (u32 i = 0; stats && i < u->nmap; i++)
		if (u->map[i]->role == MAP_USER && i < STAT_MAPS)
			report_map(s, u->map[i]);
	if (s->replaced) {
		AUTO_SB b = {0};
		sb_fmt(&b,
		       "%s was replaced while it was traced: processes that started since then "
		       "were not seen",
		       s->replaced);
		loss_put(s, "replaced_file", STR(""), 1, sb_str(&b));
	}
	if (s->corrupt) {
		AUTO_SB b = {0};
		sb_fmt(&b, "%llu records could not be read", s->corrupt);
		loss_put(s, "corrupt_records", STR(""), s->corrupt, sb_str(&b));
	}
	if (s->notes_lost) {
		AUTO_SB b = {0};
		sb_fmt(&b,
		       "%llu notes of what processes map were lost; some user addresses may have "
		       "no "
		       "name or a wrong one",
		       s->notes_lost);
		loss_put(s, "lost_mappings", STR(""), s->notes_lost, sb_str(&b));
	}
	report_followed(s);
	unwind_report(s);
	report_hidden(s);
	report_warnings(s);
}
