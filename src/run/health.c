#include "run/health.h"
#include "base/alloc.h"
#include "run/session.h"

/* The counters that programs write; NULL: the script has none, or they cannot be read. */
static u64 *read_counters(struct session *s)
{
	const struct unit *u = s->u;
	u32 words = stat_map_word(u->nprog, u->nmap ? u->nmap - 1 : 0) + STAT_WORDS_PER_MAP;
	if (map_fd(s, u->stats) < 0 || u->stats->val_size < words * sizeof(u64))
		return NULL;
	u64 *v = xcalloc(u->stats->val_size / sizeof(u64), sizeof(u64));
	struct err *e = live_get(&s->live, u->stats, &(u32){0}, v);
	if (!e)
		return v;
	err_free(e);
	free(v);
	return NULL;
}

static void take_counters(const struct unit *u, const u64 *v, struct health *ret)
{
	for (u32 i = 0; i < u->nprog; i++) {
		const u64 *w = v + (size_t)STAT_WORDS_PER_PROG * i;
		ret->lost += w[STAT_LOST];
		ret->missed += w[STAT_NEST];
		ret->failed_reads += w[STAT_FAULT];
		ret->cut += w[STAT_TRUNC] + w[STAT_JOINED];
	}
	ret->full = xcalloc(u->nmap + 1ul, sizeof(u64));
	for (u32 i = 0; i < u->nmap; i++)
		ret->full[i] = v[stat_map_word(u->nprog, i) + STAT_MAP_REFUSED];
}

void session_health(struct session *s, struct health *ret)
{
	const struct unit *u = s->u;
	u64 *v AUTO_FREE = read_counters(s);
	*ret = (struct health){0};
	if (v)
		take_counters(u, v, ret);
	for (u32 i = 0; i < u->nprog; i++) {
		u64 ns = 0, runs = 0, misses = 0;
		int fd = prog_fd(s, u->prog[i]);
		if (fd < 0)
			continue;
		err_free(bpf_prog_time(fd, &ns, &runs));
		err_free(bpf_prog_misses(fd, &misses));
		ret->programs_ns += ns;
		ret->runs += runs;
		ret->missed += misses;
	}
}

void health_free(struct health *h)
{
	free(h->full);
	h->full = NULL;
}
