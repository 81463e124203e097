/* perf.c - perf_event_open(2) and the kprobe and uprobe PMUs. */
#include "kern/perf.h"
#include "kern/caps.h"
#include "kern/sys.h"
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

long sys_perf_event_open(struct perf_event_attr *attr, int pid, int cpu, int group,
			 unsigned long flags)
{
	long r = syscall(__NR_perf_event_open, attr, pid, cpu, group, flags);
	return r < 0 ? -errno : r;
}

static void what(const struct perf_spec *s, struct sb *out)
{
	switch (s->type) {
	case PERF_TYPE_RAW:
	case PERF_TYPE_HARDWARE: sb_z(out, "hardware counter"); break;
	case PERF_TYPE_SOFTWARE: sb_z(out, "software event"); break;
	case PERF_TYPE_TRACEPOINT: sb_z(out, "tracepoint"); break;
	case PERF_TYPE_BREAKPOINT: sb_fmt(out, "hardware breakpoint at 0x%llx", s->config1); break;
	default: sb_z(out, "perf event");
	}
	if (s->type != PERF_TYPE_BREAKPOINT)
		sb_fmt(out, s->type == PERF_TYPE_RAW ? " 0x%llx" : " %llu", s->config);
	if (s->pid > 0)
		sb_fmt(out, " for thread %d", s->pid);
	if (s->cpu >= 0)
		sb_fmt(out, " on CPU %d", s->cpu);
}

static const char *reason(const struct perf_spec *s, int no)
{
	bool counter = s->type == PERF_TYPE_HARDWARE || s->type == PERF_TYPE_RAW;
	if (s->type >= PERF_TYPE_MAX && (no == EINVAL || no == EOPNOTSUPP))
		return " (this PMU may only count, and give no events)";
	if (counter && (no == ENOENT || no == EOPNOTSUPP))
		return " (this machine has no such counter; virtual machines often have none)";
	if (s->type == PERF_TYPE_BREAKPOINT && no == ENOSPC)
		return " (the processor can watch no more places at once)";
	if (s->type == PERF_TYPE_BREAKPOINT && no == EINVAL && s->pid > 0 && s->config1 >> 63)
		return " (kernels of some processors, as aarch64, watch their own memory for "
		       "the whole machine only: without -c and -p)";
	return "";
}

/* More per second than the administrator allows; -1: that is not it. */
static i64 rate_limit(const struct perf_spec *s, int no)
{
	struct arena a = {0};
	struct host here = {.root = "", .arena = &a};
	i64 most = s->freq && no == EINVAL ? host_sysctl(&here, "kernel.perf_event_max_sample_rate")
					   : -1;
	arena_free(&a);
	return most >= 0 && s->period > (u64)most ? most : -1;
}

static struct err *not_opened(const struct perf_spec *s, int no)
{
	AUTO_SB name = {0};
	i64 most = rate_limit(s, no);
	what(s, &name);
	if (most >= 0)
		return err_new("%llu per second are more than kernel.perf_event_max_sample_rate "
			       "allows, which is %lld",
			       s->period, most);
	return err_kern(no, "open %s%s", name.s, reason(s, no));
}

bool perf_watches(void)
{
	static volatile u32 watched;
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_W,
				       .bp_addr = (uintptr_t)&watched,
				       .bp_len = sizeof(watched),
				       .exclude_kernel = 1};
	AUTO_CLOSE int fd = (int)sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	u64 n = 0;
	watched++;
	return fd < 0 || read(fd, &n, sizeof(n)) != sizeof(n) || n;
}

struct err *perf_open(const struct perf_spec *s, int *fd)
{
	assert(s->pid >= 0 || s->cpu >= 0);
	struct perf_event_attr attr = {
		.type = s->type,
		.size = sizeof(attr),
		.config = s->config,
		.config1 = s->config1,
		.config2 = s->config2,
		.sample_period = s->period,
		.disabled = 1,
		.freq = s->freq,
		.inherit = s->inherit,
		.inherit_thread = s->inherit && !s->children,
		.bp_type = s->bp_type,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
	};
	long r = sys_perf_event_open(&attr, s->pid, s->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (r == -EINVAL && attr.inherit_thread) { /* before 5.13: child processes count, too */
		attr.inherit_thread = 0;
		r = sys_perf_event_open(&attr, s->pid, s->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (r < 0)
		return not_opened(s, (int)-r);
	*fd = (int)r;
	return NULL;
}

struct err *perf_attach(int perf_fd, int prog_fd)
{
	if (ioctl(perf_fd, PERF_EVENT_IOC_SET_BPF, prog_fd))
		return err_kern(errno, "attach a program to a perf event%s",
				errno == E2BIG ? " (64 programs at most on one event)" : "");
	return perf_enable(perf_fd);
}

struct err *perf_enable(int perf_fd)
{
	if (ioctl(perf_fd, PERF_EVENT_IOC_ENABLE, 0))
		return err_kern(errno, "enable a perf event");
	return NULL;
}

struct err *perf_disable(int perf_fd)
{
	if (ioctl(perf_fd, PERF_EVENT_IOC_DISABLE, 0))
		return err_kern(errno, "disable a perf event");
	return NULL;
}

bool perf_enabled_ns(int perf_fd, u64 *ns)
{
	struct {
		u64 count, enabled_ns;
	} now;
	if (read(perf_fd, &now, sizeof(now)) != sizeof(now))
		return false;
	*ns = now.enabled_ns;
	return true;
}

struct err *perf_probe_pmu(struct host *h, const char *name, u32 *type, u32 *retbit)
{
	struct str s;
	u64 t, bit;
	struct err *e = host_read(h, &s, "/sys/bus/event_source/devices/%s/type", name);
	if (e && e->no == ENOENT) {
		err_free(e);
		return err_new("this kernel has no %ss (CONFIG_%s_EVENTS): "
			       "/sys/bus/event_source/devices/%s does not exist",
			       name, *name == 'k' ? "KPROBE" : "UPROBE", name);
	}
	if (e)
		return e;
	if (!str_u64(str_trim(s), &t) || t > UINT32_MAX)
		return err_new("/sys/bus/event_source/devices/%s/type is not a number", name);
	e = host_read(h, &s, "/sys/bus/event_source/devices/%s/format/retprobe", name);
	if (e)
		return e;
	s = str_trim(s);
	if (!str_starts(s, STR("config:")) || !str_u64(str_from(s, 7), &bit) || bit > 31)
		return err_new(
			"/sys/bus/event_source/devices/%s/format/retprobe is not understood: %.*s",
			name, STRF(s));
	*type = (u32)t;
	*retbit = (u32)bit;
	return NULL;
}

static struct err *no_kprobe(const char *func, u64 addr_or_off, int no)
{
	AUTO_SB at = {0};
	struct err *e;
	if (func)
		sb_fmt(&at, addr_or_off ? "%s+%llu" : "%s", func, addr_or_off);
	else
		sb_fmt(&at, "0x%llx", addr_or_off);
	switch (no) {
	case EILSEQ: return err_new("%s is not at the start of an instruction", at.s);
	case ENOENT:
		e = err_new("the kernel has no function %s%s", func ? "" : "at ", at.s);
		e->no = ENOENT;
		return e;
	case EINVAL:
		return err_new("the kernel allows no probe at %s: the function is notrace, __init, "
			       "or part of what probes need",
			       at.s);
	case EADDRNOTAVAIL:
		return err_new("the kernel has several functions %s: name the module, or take an "
			       "address from /proc/kallsyms with --unsafe",
			       func);
	}
	return err_kern(no, "put a kprobe at %s", at.s);
}

/* A descriptor, or -errno. config: of the PMU's type. */
static int open_kprobe(u32 type, u64 config, const char *func, u64 addr_or_off)
{
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .sample_period = 1, .disabled = 1};
	attr.config = config;
	attr.kprobe_func = ptr_u64(func);
	attr.probe_offset = addr_or_off; /* the address when there is no function */
	return (int)sys_perf_event_open(&attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

struct err *perf_open_kprobe(struct host *h, const char *func, u64 addr_or_off, bool ret, int *fd)
{
	u32 type, bit;
	struct err *e = perf_probe_pmu(h, "kprobe", &type, &bit);
	if (e)
		return e;
	int r = open_kprobe(type, ret ? 1ull << bit : 0, func, addr_or_off);
	if (r < 0)
		return no_kprobe(func, addr_or_off, -r);
	*fd = r;
	return NULL;
}

bool perf_no_function(struct host *h, const char *func)
{
	u32 type, bit;
	if (h->recorded || !host_has(h, FEAT_KPROBE))
		return false;
	struct err *e = perf_probe_pmu(h, "kprobe", &type, &bit);
	int r = e ? -EINVAL : open_kprobe(type, 0, func, 0);
	err_free(e);
	if (r >= 0)
		close(r);
	return r == -ENOENT;
}

struct err *perf_open_uprobe(struct host *h, const char *path, u64 off, u64 ref_ctr_off, bool ret,
			     int pid, int *fd)
{
	u32 type, bit;
	struct err *e = perf_probe_pmu(h, "uprobe", &type, &bit);
	if (e)
		return e;
	if (ref_ctr_off && !host_has(h, FEAT_UPROBE_REFCTR))
		return err_new("this USDT probe has a semaphore, which needs %s",
			       feature_what(FEAT_UPROBE_REFCTR));
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .sample_period = 1, .disabled = 1};
	attr.config = (ret ? 1ull << bit : 0) | ref_ctr_off << 32;
	attr.uprobe_path = ptr_u64(path);
	attr.probe_offset = off;
	long r = sys_perf_event_open(&attr, pid > 0 ? pid : -1, pid > 0 ? -1 : 0, -1,
				     PERF_FLAG_FD_CLOEXEC);
	if (r < 0)
		return err_kern((int)-r, "open %s at offset 0x%llx of %s",
				ret ? "uretprobe" : "uprobe", off, path);
	*fd = (int)r;
	return NULL;
}
