/* host.c - files of the machine below its root, CPUs, tracefs, BTF, and why we were refused. */
#include "kern/host.h"
#include "base/vec.h"
#include "kern/link.h"
#include "types/dwarf.h"
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <time.h>

enum { MAX_CPUS = 8192, CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38, CAP_BPF_BIT = 39 };

struct debug_file {
	const char *path, *wrong; /* wrong: it could not be opened */
	struct debug *debug;
	struct debug_file *next;
};

/* The whole file; 0 or an errno. */
static int read_all(const char *path, struct sb *out)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	sb_mem(out, "", 0);
	for (;;) {
		sb_reserve(out, out->n < 4096 ? 4096 : out->n);
		ssize_t n = read(fd, out->s + out->n, out->cap - out->n - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		out->n += (size_t)n;
	}
	out->s[out->n] = 0;
	return 0;
}

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
	int no = read_all(path, &b);
	if (no)
		return err_kern(no, "read %s", path);
	*ret = arena_str(h->arena, sb_str(&b));
	return NULL;
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

static struct err *read_cpus(struct host *h, const char *which, u32 **cpus, u32 *n)
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
	return read_cpus(h, "online", cpus, n);
}

void host_init(struct host *h, struct arena *a, const char *root)
{
	*h = (struct host){.root = root, .recorded = root[0] != 0, .arena = a};
	u32 *cpus;
	struct err *e = read_cpus(h, "possible", &cpus, &h->ncpu);
	if (e) {
		long n = h->recorded ? 1 : sysconf(_SC_NPROCESSORS_CONF);
		h->ncpu = n > 0 ? (u32)n : 1;
		err_free(e);
	}
	h->page_size = (u32)sysconf(_SC_PAGESIZE);
	libbpf_set_print(NULL); /* errors come back as values; nothing below cmd/ prints */
}

void host_deinit(struct host *h)
{
	if (h->btf)
		btf_types_close(h->btf);
	h->btf = NULL;
	h->btf_tried = false;
	for (struct debug_file *f = h->debug; f; f = f->next)
		debug_close(f->debug);
	h->debug = NULL;
	retprobe_done(h);
}

struct err *host_debug(struct host *h, const char *path, struct debug **ret)
{
	struct debug_file *f = h->debug;
	while (f && strcmp(f->path, path))
		f = f->next;
	if (!f) {
		f = arena_new(h->arena, struct debug_file);
		f->path = arena_fmt(h->arena, "%s", path);
		f->next = h->debug;
		h->debug = f;
		struct err *e = debug_open(path, h->arena, &f->debug);
		if (e)
			f->wrong = arena_fmt(h->arena, "%s", e->msg);
		err_free(e);
	}
	*ret = f->debug;
	return f->wrong ? err_new("%s", f->wrong) : NULL;
}

struct types *host_btf(struct host *h)
{
	if (h->btf_tried || h->feature[FEAT_BTF] == 1)
		return h->btf;
	h->btf_tried = true;
	const char *other = h->recorded ? NULL : getenv("BPFTRACE_BTF");
	const char *path =
		other ? other : arena_fmt(h->arena, "%s/sys/kernel/btf/vmlinux", h->root);
	struct err *e = btf_types_open(path, h->arena, NULL, &h->btf);
	if (e) {
		h->btf = NULL;
		err_free(e);
	}
	return h->btf;
}

static bool has_events(struct host *h, const char *dir, int *no)
{
	bool ok = !access(arena_fmt(h->arena, "%s%s/events", h->root, dir), F_OK);
	if (!ok)
		*no = *no == EACCES ? EACCES : errno;
	return ok;
}

struct err *host_tracefs(struct host *h, const char **ret)
{
	static const char *const dirs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int no = 0;
	for (u32 i = 0; !h->tracefs && i < countof(dirs); i++)
		if (has_events(h, dirs[i], &no))
			h->tracefs = dirs[i];
	if (!h->tracefs && !h->recorded && no == ENOENT) {
		if (!mount("tracefs", dirs[0], "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) &&
		    has_events(h, dirs[0], &no))
			h->tracefs = dirs[0];
	}
	if (!h->tracefs)
		return err_kern(no, "open %s%s/events (is tracefs mounted?)", h->root, dirs[0]);
	*ret = h->tracefs;
	return NULL;
}

static u64 clock_ns(clockid_t c)
{
	struct timespec t;
	clock_gettime(c, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

u64 host_boot_offset_ns(void)
{
	u64 best = 0, width = ~0ull;
	for (u32 i = 0; i < 4; i++) { /* the narrowest bracket is the most exact */
		u64 a = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME),
		    b = clock_ns(CLOCK_MONOTONIC);
		if (b - a < width) {
			width = b - a;
			best = real - (a + width / 2);
		}
	}
	return best;
}

/* Bits of CapEff in /proc/self/status; all when it cannot be read. */
static u64 capabilities(void)
{
	AUTO_SB b = {0};
	if (read_all("/proc/self/status", &b))
		return ~0ull;
	i32 at = str_find(sb_str(&b), STR("CapEff:"));
	return at < 0 ? ~0ull : strtoull(b.s + at + 7, NULL, 16);
}

static void explain_refusal(struct sb *out)
{
	u64 caps = capabilities();
	if (!(caps >> CAP_SYS_ADMIN_BIT & 1)) {
		bool bpf = caps >> CAP_BPF_BIT & 1, perfmon = caps >> CAP_PERFMON_BIT & 1;
		if (!bpf || !perfmon)
			sb_fmt(out, "needs root, or %s%s%s", bpf ? "" : "CAP_BPF",
			       bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON");
	}
	AUTO_SB f = {0};
	if (!read_all("/sys/kernel/security/lockdown", &f) &&
	    str_find(sb_str(&f), STR("[none]")) < 0)
		sb_fmt(out, "%sthe kernel is locked down: %.*s", out->n ? "; " : "",
		       STRF(str_trim(sb_str(&f))));
	sb_clear(&f);
	i64 paranoid = 0;
	if (!(caps >> CAP_SYS_ADMIN_BIT & 1) &&
	    !read_all("/proc/sys/kernel/perf_event_paranoid", &f) &&
	    str_i64(str_trim(sb_str(&f)), &paranoid) && paranoid > 0)
		sb_fmt(out, "%skernel.perf_event_paranoid is %lld", out->n ? "; " : "",
		       (long long)paranoid);
	if (!out->n)
		sb_z(out, "not a matter of capabilities: a container, a security module or this "
			  "kernel's configuration "
			  "forbids it");
}

struct err *err_kern(int no, const char *fmt, ...)
{
	char what[1024];
	va_list va;
	va_start(va, fmt);
	vsnprintf(what, sizeof(what), fmt, va);
	va_end(va);
	struct err *e = err_sys(no, "%s", what);
	if (no != EPERM && no != EACCES)
		return e;
	AUTO_SB why = {0};
	explain_refusal(&why);
	struct err *full = err_new("%s (%s)", e->msg, why.s);
	full->no = no;
	err_free(e);
	return full;
}
