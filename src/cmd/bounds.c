/* bounds.c - options of record that say how much is kept, and how long: --disk, --keep, --after, --quiet-for, --max-files. */
#include "base/units.h"
#include "cmd/cmd.h"

enum { LEAST_KEEP = 1 << 20, LEAST_DISK = 16 << 20, DEFAULT_KEEP = 64 << 20 };
#define MOST_BYTES (1ull << 50)

/* "200M": a number and K, M, G or T. */
static bool bytes_of_text(struct str s, u64 *ret)
{
	static const char units[] = "KMGT";
	const char *at = s.n ? strchr(units, s.s[s.n - 1]) : NULL;
	if (!at || !str_number(str_n(s.s, s.n - 1), ret))
		return false;
	for (const char *u = units; u <= at && *ret < MOST_BYTES; u++)
		*ret *= 1024;
	return *ret && *ret <= MOST_BYTES;
}

static bool time_of_text(struct str s, u64 *ret)
{
	return units_time(s, ret) && *ret;
}

struct err *bounds_keep(struct sink_bounds *b, const char *val)
{
	struct str rest = str_z(val), word;
	u64 bytes = 0, ns = 0;
	bool good = rest.n;
	while (good && str_cut(&rest, ',', &word))
		good = time_of_text(word, &ns) || bytes_of_text(word, &bytes);
	if (!good)
		return err_new("--keep needs a time, a size, or both, as in 60s,200M (got '%s')",
			       val);
	b->keep_ns = ns;
	b->keep_bytes = bytes ? bytes : DEFAULT_KEEP;
	return b->keep_bytes < LEAST_KEEP
		       ? err_new("--keep: 1M is the least that is held (got '%s')", val)
		       : NULL;
}

struct err *bounds_disk(struct sink_bounds *b, const char *val)
{
	if (!bytes_of_text(str_z(val), &b->disk))
		return err_new("--disk needs a size, as in 500M or 2G (got '%s')", val);
	return b->disk < LEAST_DISK ? err_new("--disk: segments need 16M at least (got '%s')", val)
				    : NULL;
}

struct err *bounds_time(const char *name, const char *val, u64 *ret)
{
	*ret = 0;
	if (str_is(str_z(val), "0") || time_of_text(str_z(val), ret))
		return NULL;
	return err_new("--%s needs a time with its unit, as in 5s (got '%s')", name, val);
}

struct err *bounds_files(struct sink_bounds *b, const char *val)
{
	enum { MOST_FILES = 100000 };
	u64 n;
	if (!str_number(str_z(val), &n) || !n || n > MOST_FILES)
		return err_new("--max-files needs a number from 1 to %d (got '%s')", MOST_FILES,
			       val);
	b->max_files = (u32)n;
	return NULL;
}

struct err *bounds_check(const struct run_opts *o)
{
	const struct sink_bounds *b = &o->output.bounds;
	bool parts = b->disk || b->keep_bytes;
	const char *of_keep = o->non         ? "--on"
			      : b->has_after ? "--after"
			      : b->has_quiet ? "--quiet-for"
			      : b->max_files ? "--max-files"
					     : NULL;
	if (b->disk && b->keep_bytes)
		return err_new("--disk and --keep exclude each other: segments on the disk, or a "
			       "recording in memory");
	if (of_keep && !b->keep_bytes)
		return err_new("%s applies to snapshots and needs --keep", of_keep);
	if (parts && o->output.as_invoker)
		return err_new("--as-invoker is about one file, not the parts of --disk or --keep");
	if (parts && o->output.path && !strcmp(o->output.path, "-"))
		return err_new("-o: --disk and --keep need the name of a file");
	return NULL;
}
