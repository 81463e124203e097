/*
 * pmu.c - events as the counting hardware names them: r1c0, cpu/event=0xc0,umask=1/,
 * cpu/mem-loads/.
 *
 * The kernel describes each PMU in /sys/bus/event_source/devices: its type, which bits of config,
 * config1 and config2 a term fills (format/TERM: "config:0-7,32-35"), and names for sets of terms
 * (events/NAME: "event=0xcd,umask=0x1,ldlat=3").
 */
#include "kern/perf.h"
#include <dirent.h>
#include <linux/perf_event.h>

#define DEVICES "/sys/bus/event_source/devices"
enum { MAX_DEPTH = 2 }; /* a name stands for terms, not for names */

static bool plain(struct str s)
{
	return s.n && s.s[0] != '.' && str_chr(s, '/') < 0;
}

/* "a, b, c": what there is instead. */
static const char *names_in(struct host *h, const char *dir)
{
	AUTO_SB b = {0};
	DIR *d = opendir(arena_fmt(h->arena, "%s%s", h->root, dir));
	for (struct dirent *e; d && (e = readdir(d));) {
		struct str name = str_z(e->d_name);
		if (!plain(name) || str_ends(name, STR(".scale")) || str_ends(name, STR(".unit")))
			continue;
		if (b.n)
			sb_z(&b, ", ");
		sb_add(&b, name);
	}
	if (d)
		closedir(d);
	return b.n ? arena_strz(h->arena, sb_str(&b)) : "none";
}

/* Low bits of val into the bits that "0-7,32-35" names, first to last. False: it does not fit. */
static bool place(struct str bits, u64 val, u64 *word, bool *bad)
{
	struct str range, from;
	while (str_cut(&bits, ',', &range)) {
		u64 lo, hi;
		bool wide = str_chr(range, '-') >= 0;
		str_cut(&range, '-', &from);
		if (!str_u64(from, &lo) || !(wide ? str_u64(range, &hi) : (hi = lo, true)) ||
		    lo > hi || hi > 63) {
			*bad = true;
			return true;
		}
		for (u64 i = lo; i <= hi; i++, val >>= 1)
			*word = (*word & ~(1ull << i)) | (val & 1) << i;
	}
	return !val;
}

static struct err *put_term(struct host *h, struct str pmu, struct str name, u64 val,
			    struct perf_spec *s)
{
	static const char *const words[] = {"config", "config1", "config2"};
	u64 *const to[] = {&s->config, &s->config1, &s->config2};
	struct str text, word;
	for (u32 i = 0; i < countof(words); i++)
		if (str_is(name, words[i])) {
			*to[i] = val;
			return NULL;
		}
	struct err *e = host_read(h, &text, DEVICES "/%.*s/format/%.*s", STRF(pmu), STRF(name));
	if (e) {
		err_free(e);
		return err_new("PMU %.*s has no term '%.*s' (there are: %s)", STRF(pmu), STRF(name),
			       names_in(h, arena_fmt(h->arena, DEVICES "/%.*s/format", STRF(pmu))));
	}
	struct str bits = str_trim(text), all = bits;
	bool bad = false;
	str_cut(&bits, ':', &word);
	for (u32 i = 0; i < countof(words); i++) {
		if (!str_is(word, words[i]))
			continue;
		bool fits = place(bits, val, to[i], &bad);
		if (bad)
			break;
		return fits ? NULL
			    : err_new("0x%llx does not fit term '%.*s' of PMU %.*s, which is %.*s",
				      val, STRF(name), STRF(pmu), STRF(all));
	}
	return err_new(DEVICES "/%.*s/format/%.*s is not understood: %.*s", STRF(pmu), STRF(name),
		       STRF(all));
}

/* Terms, or a name for some. */
static struct err *put_terms(struct host *h, struct str pmu, struct str terms, u32 depth,
			     struct perf_spec *s)
{
	struct str term, name, text;
	while (str_cut(&terms, ',', &term)) {
		u64 val = 1;
		term = str_trim(term);
		struct str rest = term;
		str_cut(&rest, '=', &name);
		if (!plain(name))
			return err_new("'%.*s' is not the name of a term of PMU %.*s", STRF(name),
				       STRF(pmu));
		if (rest.s && !str_u64(rest, &val))
			return err_new("the value of term '%.*s' is not a number: %.*s", STRF(name),
				       STRF(rest));
		struct err *e = rest.s || depth >= MAX_DEPTH
					? err_new("no name")
					: host_read(h, &text, DEVICES "/%.*s/events/%.*s",
						    STRF(pmu), STRF(name));
		bool is_name = !e;
		err_free(e);
		e = is_name ? put_terms(h, pmu, str_trim(text), depth + 1, s)
			    : put_term(h, pmu, name, val, s);
		if (e && !is_name && !rest.s && depth == 1) {
			err_free(e);
			return err_new("PMU %.*s has neither an event nor a term '%.*s' (events: "
				       "%s)",
				       STRF(pmu), STRF(name),
				       names_in(h, arena_fmt(h->arena, DEVICES "/%.*s/events",
							     STRF(pmu))));
		}
		if (e)
			return e;
	}
	return NULL;
}

static bool hex(struct str s, u64 *val)
{
	*val = 0;
	for (u32 i = 0; i < s.n; i++) {
		char c = s.s[i] | 0x20;
		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return false;
		*val = *val << 4 | (u64)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return s.n && s.n <= 16;
}

bool pmu_is_event(struct str text)
{
	u64 config;
	return str_chr(text, '/') > 0 ||
	       (text.n && text.s[0] == 'r' && hex(str_from(text, 1), &config));
}

struct err *pmu_event(struct host *h, struct str text, struct perf_spec *s)
{
	struct str pmu, type, terms = text;
	u64 n;
	assert(pmu_is_event(text));
	if (str_chr(text, '/') < 0) {
		s->type = PERF_TYPE_RAW;
		hex(str_from(text, 1), &s->config);
		return NULL;
	}
	str_cut(&terms, '/', &pmu);
	if (str_ends(terms, STR("/")))
		terms.n--;
	else
		return err_new("'/' is missing at the end of %.*s", STRF(text));
	if (!plain(pmu))
		return err_new("'%.*s' is not the name of a PMU", STRF(pmu));
	if (!terms.n)
		return err_new("no event or term of PMU %.*s is named in %.*s", STRF(pmu),
			       STRF(text));
	struct err *e = host_read(h, &type, DEVICES "/%.*s/type", STRF(pmu));
	if (e) {
		err_free(e);
		return err_new("this machine has no PMU '%.*s' (there are: %s)", STRF(pmu),
			       names_in(h, DEVICES));
	}
	if (!str_u64(str_trim(type), &n) || n > UINT32_MAX)
		return err_new(DEVICES "/%.*s/type is not a number", STRF(pmu));
	s->type = (u32)n;
	return put_terms(h, pmu, terms, 1, s);
}
