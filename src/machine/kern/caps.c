/* caps.c - capabilities, sysctls and lockdown: why the kernel refused. */
#include "kern/caps.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>

const struct cap caps_known[] = {
	{CAP_BPF, "CAP_BPF", "maps and programs: every script"},
	{CAP_PERFMON, "CAP_PERFMON", "programs that trace, perf events: every script"},
	{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "tracefs: tracepoints, lists of functions"},
	{CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE", "kretprobes where the kernel has no multi links"},
	{CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "names of addresses in other users' processes"},
	{CAP_SYSLOG, "CAP_SYSLOG", "names of kernel addresses"},
	{CAP_SYS_ADMIN, "CAP_SYS_ADMIN",
	 "functions of modules (fentry), mounting tracefs, override, bench:"},
	{CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", "names of addresses in deleted files"},
	{CAP_KILL, "CAP_KILL", "ending a program of -c that became another user"},
	{CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE", "memory for maps before Linux 5.11"},
	{0, NULL, NULL},
};

u64 caps_known_bits(void)
{
	u64 bits = 0;
	for (const struct cap *c = caps_known; c->name; c++)
		bits |= 1ull << c->bit;
	return bits;
}

/* Bits of CapEff; all when it cannot be read. */
static u64 effective(struct host *h)
{
	struct str text;
	struct err *e = host_read(h, &text, "/proc/self/status");
	i32 at = e ? -1 : str_find(text, STR("CapEff:"));
	err_free(e);
	return at < 0 ? ~0ull : strtoull(text.s + at + 7, NULL, 16);
}

/* A machine of its own: errors are told where there is no host at hand. */
struct here {
	struct arena a;
	struct host h;
};

static void here_init(struct here *x)
{
	*x = (struct here){.h.root = ""};
	x->h.arena = &x->a;
}

bool cap_held(u32 bit)
{
	struct here x;
	here_init(&x);
	u64 caps = effective(&x.h);
	arena_free(&x.a);
	bool split_off = bit == CAP_BPF || bit == CAP_PERFMON;
	return caps >> bit & 1 || (split_off && caps >> CAP_SYS_ADMIN & 1);
}

struct str lockdown_mode(struct host *h)
{
	struct str text;
	struct err *e = host_read(h, &text, "/sys/kernel/security/lockdown");
	i32 open = e ? -1 : str_chr(text, '[');
	err_free(e);
	if (open < 0)
		return STR("");
	text = str_from(text, (u32)open + 1);
	i32 close = str_chr(text, ']');
	return close < 0 ? STR("") : str_n(text.s, (size_t)close);
}

i64 host_sysctl(struct host *h, const char *name)
{
	char path[128];
	struct str text;
	i64 n;
	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	for (char *p = path; *p; p++)
		*p = *p == '.' ? '/' : *p;
	struct err *e = host_read(h, &text, "%s", path);
	bool ok = !e && str_i64(str_trim(text), &n);
	err_free(e);
	return ok ? n : -1;
}

static const char *cap_name(u32 bit)
{
	for (const struct cap *c = caps_known; c->name; c++)
		if (c->bit == bit)
			return c->name;
	return "?";
}

/* Root that lacks it: of a container, most likely. */
static void how_root_gets(struct sb *out, u32 missing)
{
	sb_z(out, ", which a container gets by docker run --cap-add=BPF --cap-add=PERFMON "
		  "--cap-add=DAC_READ_SEARCH");
	if (missing == CAP_SYS_PTRACE)
		sb_z(out, " --cap-add=SYS_PTRACE");
}

/* What is enough for most scripts, and what was missing now. */
static void how_to_get(struct sb *out, u32 missing)
{
	if (!geteuid()) {
		how_root_gets(out, missing);
		return;
	}
	char exe[512];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	sb_z(out, ": use sudo, or allow it once: setcap cap_bpf,cap_perfmon,cap_dac_read_search");
	if (missing == CAP_SYS_PTRACE)
		sb_z(out, ",cap_sys_ptrace");
	if (missing == CAP_DAC_OVERRIDE)
		sb_z(out, ",cap_dac_override");
	sb_fmt(out, "+ep %s", n > 0 ? exe : "sonde");
}

/* Whatever is held in a user namespace is worth nothing to BPF: "0 0 4294967295" is the first one. */
static bool explain_user_namespace(struct host *h, struct sb *out)
{
	struct str map, inside = {0}, outside = {0};
	struct err *e = host_read(h, &map, "/proc/self/uid_map");
	bool ok = !e;
	err_free(e);
	if (!ok || !map.n)
		return false;
	map = str_trim(map);
	str_cut(&map, ' ', &inside);
	map = str_trim(map);
	str_cut(&map, ' ', &outside);
	if (str_is(inside, "0") && str_is(outside, "0") && str_is(str_trim(map), "4294967295"))
		return false;
	sb_z(out,
	     "this is a user namespace, as in a container that an ordinary user started: its root "
	     "cannot trace; let the machine's own root start it");
	return true;
}

static bool explain_lockdown(struct host *h, struct sb *out)
{
	struct str mode = lockdown_mode(h);
	if (!mode.n || str_is(mode, "none"))
		return false;
	sb_fmt(out, "the kernel is locked down (%.*s), until it boots without lockdown=%.*s",
	       STRF(mode), STRF(mode));
	return true;
}

/* Debian's kernels have a third level, for which CAP_PERFMON is not enough. */
static bool explain_level_3(struct host *h, int no, struct sb *out)
{
	i64 paranoid = host_sysctl(h, "kernel.perf_event_paranoid");
	if (no != EACCES || paranoid < 3 || cap_held(CAP_SYS_ADMIN))
		return false;
	sb_fmt(out,
	       "kernel.perf_event_paranoid is %lld, and above 2 Debian's kernels let only "
	       "CAP_SYS_ADMIN open perf events: use sudo, or sysctl kernel.perf_event_paranoid=2",
	       (long long)paranoid);
	return true;
}

/* Before Linux 5.11, the memory of maps counts as locked. Only a sentence hangs on the version. */
static bool explain_memlock(int no, struct sb *out)
{
	struct utsname un;
	struct rlimit lim;
	u32 major = 0, minor = 0;
	if (no != EPERM || uname(&un) || getrlimit(RLIMIT_MEMLOCK, &lim) ||
	    cap_held(CAP_SYS_RESOURCE) || lim.rlim_cur == RLIM_INFINITY)
		return false;
	if (sscanf(un.release, "%u.%u", &major, &minor) != 2 || major > 5 ||
	    (major == 5 && minor > 10))
		return false;
	sb_fmt(out,
	       "before Linux 5.11 the memory of maps counts as locked, and %llu bytes may be: "
	       "needs CAP_SYS_RESOURCE, or ulimit -l unlimited",
	       (unsigned long long)lim.rlim_cur);
	return true;
}

bool cap_bpf_missing(struct host *h, struct sb *out)
{
	bool bpf = cap_held(CAP_BPF), perfmon = cap_held(CAP_PERFMON);
	if (bpf && perfmon)
		return false;
	i64 closed = host_sysctl(h, "kernel.unprivileged_bpf_disabled"),
	    paranoid = host_sysctl(h, "kernel.perf_event_paranoid");
	sb_fmt(out, "needs %s%s%s", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
	       perfmon ? "" : "CAP_PERFMON");
	if (!bpf && closed > 0)
		sb_fmt(out, ", as kernel.unprivileged_bpf_disabled is %lld", (long long)closed);
	else if (bpf && paranoid > 0)
		sb_fmt(out, ", as kernel.perf_event_paranoid is %lld", (long long)paranoid);
	how_to_get(out, CAP_BPF);
	return true;
}

static void explain_call(struct host *h, int no, struct sb *out)
{
	if (explain_user_namespace(h, out) || cap_bpf_missing(h, out))
		return;
	if (explain_level_3(h, no, out) || explain_memlock(no, out) || explain_lockdown(h, out))
		return;
	if (!cap_held(CAP_SYS_ADMIN))
		sb_z(out, "needs CAP_SYS_ADMIN on kernels such as Linux 6.1: use sudo");
	else
		sb_z(out, "not a matter of capabilities: a container, a security module or this "
			  "kernel's configuration forbids it");
}

static void explain_file(struct host *h, const char *path, int no, struct sb *out)
{
	u64 pid;
	struct str rest = str_z(path), first = {0};
	if (str_starts(rest, STR("/proc/")))
		rest = str_from(rest, 6);
	str_cut(&rest, '/', &first);
	bool proc = str_u64(first, &pid);
	bool write = str_find(str_z(path), STR("_events")) >= 0 && no == EACCES;
	u32 need = proc ? CAP_SYS_PTRACE : write ? CAP_DAC_OVERRIDE : CAP_DAC_READ_SEARCH;
	if (need == CAP_DAC_READ_SEARCH && cap_held(CAP_DAC_OVERRIDE))
		need = CAP_DAC_OVERRIDE;
	if (no == EPERM && explain_lockdown(h, out))
		return;
	if (!cap_held(need)) {
		sb_fmt(out, "needs %s", cap_name(need));
		how_to_get(out, need);
		return;
	}
	if (!explain_lockdown(h, out))
		sb_z(out, "a security module or a container forbids it");
}

static struct err *with_reason(struct err *e, int no, const struct sb *why)
{
	struct err *full = err_new("%s (%s)", e->msg, why->s);
	full->no = no;
	err_free(e);
	return full;
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
	struct here x;
	AUTO_SB why = {0};
	here_init(&x);
	explain_call(&x.h, no, &why);
	arena_free(&x.a);
	return with_reason(e, no, &why);
}

struct err *err_file(int no, const char *path, const char *fmt, ...)
{
	char what[1024];
	va_list va;
	va_start(va, fmt);
	vsnprintf(what, sizeof(what), fmt, va);
	va_end(va);
	struct err *e = err_sys(no, "%s", what);
	/* Capabilities, sysctls and lockdown are files themselves: no more questions about those.
	 */
	bool own = str_starts(str_z(path), STR("/proc/s")) ||
		   str_starts(str_z(path), STR("/sys/kernel/security"));
	if ((no != EPERM && no != EACCES) || own)
		return e;
	struct here x;
	AUTO_SB why = {0};
	here_init(&x);
	explain_file(&x.h, path, no, &why);
	arena_free(&x.a);
	return with_reason(e, no, &why);
}
