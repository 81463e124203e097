/* root.c - files of the machine below its root, its CPUs, and its clock. */
#include "kern/root.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"
#include "kern/caps.h"
#include <stdarg.h>
#include <sys/stat.h>

enum { MAX_CPUS = 8192, LARGE = 64 * 1024 };

struct err *host_read(struct host *h, struct str *ret, const char *fmt, ...)
{
	va_list va;
	char path[4096];
	size_t at = strlen(h->root);
	assert(at < sizeof(path) / 2);
	memcpy(path, h->root, at);
	va_start(va, fmt);
	int n = vsnprintf(path + at, sizeof(path) - at, fmt, va);
	va_end(va);
	if (n < 0 || (size_t)n >= sizeof(path) - at)
		return err_new("path is too long: %.60s...", path);
	AUTO_SB b = {0};
	int no = file_read(path, SIZE_MAX, &b);
	if (no)
		return err_file(no, path + at, "read %s", path);
	*ret = b.n < LARGE ? arena_str(h->arena, sb_str(&b)) : sb_str(&b);
	if (b.n >= LARGE) { /* a list of functions: no second time */
		arena_keep(h->arena, b.s);
		b = (struct sb){0};
	}
	return NULL;
}

const char *host_boot(struct host *h)
{
	struct str id = {0};
	struct err *e = host_read(h, &id, "/proc/sys/kernel/random/boot_id");
	err_free(e);
	return arena_strz(h->arena, str_trim(id));
}

/* "0-3,8,10-11" -> numbers. */
static bool cpu_list(struct str s, struct arena *a, u32 **ret, u32 *n)
{
	VEC(u32) v = {0};
	struct str rest = str_trim(s), part;
	bool ok = true;
	while (ok && str_cut(&rest, ',', &part)) {
		u64 lo, hi;
		i32 dash = str_chr(part, '-');
		if (dash < 0)
			ok = str_u64(part, &lo) && (hi = lo, true);
		else
			ok = str_u64(str_n(part.s, (size_t)dash), &lo) &&
			     str_u64(str_from(part, (u32)dash + 1), &hi);
		ok = ok && hi < MAX_CPUS;
		for (; ok && lo <= hi; lo++)
			vec_add(&v, (u32)lo);
	}
	ok = ok && v.n;
	if (ok) {
		*ret = arena_newn(a, u32, v.n);
		memcpy(*ret, v.v, v.n * sizeof(u32));
		*n = v.n;
	}
	vec_free(&v);
	return ok;
}

struct err *host_cpus(struct host *h, const char *which, u32 **cpus, u32 *n)
{
	struct str s;
	struct err *e = host_read(h, &s, "/sys/devices/system/cpu/%s", which);
	if (e)
		return e;
	if (!cpu_list(s, h->arena, cpus, n))
		return err_new("/sys/devices/system/cpu/%s: not a list of CPUs: %.*s", which,
			       STRF(s));
	return NULL;
}

struct err *host_online(struct host *h, u32 **cpus, u32 *n)
{
	return host_cpus(h, "online", cpus, n);
}

bool host_has_disk(struct str name)
{
	char path[256];
	struct stat st;
	int n = snprintf(path, sizeof(path), "/sys/block/%.*s", STRF(name));
	for (char *p = path + sizeof("/sys/block/") - 1; *p; p++)
		*p = *p == '/' ? '!' : *p; /* cciss/c0d0 */
	return *name.s != '.' && n < (int)sizeof(path) && !stat(path, &st);
}

bool host_has_cpu(u64 cpu)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%llu", cpu);
	return !stat(path, &st);
}

u64 host_boot_offset_ns(void)
{
	u64 best = 0, width = ~0ull;
	for (u32 i = 0; i < 4; i++) { /* the narrowest bracket is the most exact */
		u64 a = now_ns(), real = clock_ns(CLOCK_REALTIME), b = now_ns();
		if (b - a < width) {
			width = b - a;
			best = real - (a + width / 2);
		}
	}
	return best;
}
