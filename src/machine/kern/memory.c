/*
 * memory.c - how much memory our control group may have; see host.h.
 *
 * /proc/self/cgroup has a line per hierarchy, "4:memory:/a/b" of version 1 and "0::/a/b" of version 2.
 * The path begins where the hierarchy is mounted, or, in a container that has no namespace for it, above
 * that: then what is mounted is its own group.
 */
#include "kern/host.h"

#define CGROUPS "/sys/fs/cgroup"

enum { MAX_DEPTH = 64 };
/* Version 1 says so when there is no limit: the largest number of whole pages. */
static const u64 no_limit = 1ull << 60;

static u64 limit_in(struct host *h, const char *mount, struct str group, const char *file)
{
	struct str text;
	u64 n;
	struct err *e = host_read(h, &text, "%s%.*s/%s", mount, STRF(group), file);
	bool ok = !e && str_u64(str_trim(text), &n); /* "max": none */
	err_free(e);
	return ok && n < no_limit ? n : NO_MEMORY_LIMIT;
}

/* Of the group and all above it. */
static u64 least_limit(struct host *h, const char *mount, struct str group, const char *file)
{
	u64 least = limit_in(h, mount, STR(""), file);
	if (str_find(group, STR("/..")) >= 0)
		return least;
	for (u32 i = 0; i < MAX_DEPTH && group.n > 1; i++) {
		u64 limit = limit_in(h, mount, group, file);
		least = MIN(least, limit);
		while (group.n && group.s[group.n - 1] != '/')
			group.n--;
		group.n -= group.n > 0;
	}
	return least;
}

static u64 read_limit(struct host *h)
{
	struct str text, line, number, kinds, kind;
	u64 limit[3] = {NO_MEMORY_LIMIT, NO_MEMORY_LIMIT, NO_MEMORY_LIMIT};
	struct err *e = host_read(h, &text, "/proc/self/cgroup");
	while (!e && str_cut(&text, '\n', &line)) {
		if (!str_cut(&line, ':', &number) || !str_cut(&line, ':', &kinds) || !line.n)
			continue;
		if (!kinds.n) {
			limit[0] = least_limit(h, CGROUPS, line, "memory.max");
			limit[1] = least_limit(h, CGROUPS, line, "memory.high");
		}
		while (str_cut(&kinds, ',', &kind))
			if (str_is(kind, "memory"))
				limit[2] = least_limit(h, CGROUPS "/memory", line,
						       "memory.limit_in_bytes");
	}
	err_free(e);
	return MIN(MIN(limit[0], limit[1]), limit[2]);
}

u64 host_memory(struct host *h)
{
	u64 limit = h->memory ? h->memory : read_limit(h);
	h->memory = MAX(limit, 1ull);
	return h->memory;
}
