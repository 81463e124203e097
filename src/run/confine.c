/*
 * confine.c - least privilege: when all is attached, what the script has no need for is given up.
 *
 * What it needs is read off the unit: what its records and maps hold, and which functions act on
 * records in user space.
 */
#include "rights/confine.h"
#include "core/builtin.h"
#include "core/watch.h"
#include "kern/caps.h"
#include "rights/sandbox.h"
#include "run/confine.h"
#include "run/session.h"
#include "types/debuginfod.h"

static bool type_has(const struct type *t, u64 kinds)
{
	if (!t)
		return false;
	if (kinds >> t->kind & 1)
		return true;
	if (t->kind == T_ARRAY)
		return type_has(t->base, kinds);
	for (u32 i = 0; (t->kind == T_TUPLE || t->kind == T_RECORD) && i < t->nfield; i++)
		if (type_has(t->field[i].type, kinds))
			return true;
	return false;
}

bool maps_hold(const struct unit *u, u64 kinds)
{
	for (u32 i = 0; i < u->nmap; i++)
		if (type_has(u->map[i]->key, kinds) || type_has(u->map[i]->val, kinds))
			return true;
	return false;
}

bool records_hold(const struct unit *u, u64 kinds)
{
	for (u32 i = 0; i < u->nschema; i++)
		if (type_has(u->schema[i]->layout, kinds))
			return true;
	return false;
}

static bool calls(const struct unit *u, u32 flag)
{
	for (u32 i = 0; i < u->nschema; i++)
		if (u->schema[i]->fn && u->schema[i]->fn->flags & flag)
			return true;
	return false;
}

static bool has_events(const struct session *s)
{
	for (const struct link *l = s->live.links; l; l = l->next)
		if (l->event)
			return true;
	return false;
}

static u64 bit(u32 cap)
{
	return 1ull << cap;
}

/* With CAP_DAC_OVERRIDE for those who have no more than that. */
static u64 to_read(u64 held)
{
	return held & bit(CAP_DAC_READ_SEARCH) ? bit(CAP_DAC_READ_SEARCH) : bit(CAP_DAC_OVERRIDE);
}

/* By a program of its own, when an address is printed. */
static bool asks_servers(const struct host *h)
{
	struct str dirs = str_z(h->debug_dirs), dir;
	while (str_cut(&dirs, ':', &dir))
		if (debuginfod_is(dir))
			return true;
	return false;
}

static bool shows_user(const struct unit *u)
{
	return u->unwind || maps_hold(u, USER_ADDRESSES) || records_hold(u, USER_ADDRESSES);
}

/* It writes a recording. */
static bool keeps(const struct unit *u)
{
	for (u32 i = 0; i < u->nschema; i++)
		if (u->schema[i]->kept)
			return true;
	return false;
}

static struct confine needs(const struct session *s)
{
	const struct unit *u = s->u;
	const u64 kernel = 1ull << T_KSTACK | 1ull << T_KSYM;
	u64 held = confine_held();
	struct confine c = {0};
	if (maps_hold(u, kernel) || records_hold(u, kernel))
		c.caps |= bit(CAP_SYSLOG);
	if (shows_user(u))
		c.caps |= bit(CAP_SYS_PTRACE) | to_read(held) | bit(CAP_CHECKPOINT_RESTORE);
	if (u->unwind) {
		c.caps |= bit(CAP_BPF);
		c.may |= MAY_MAP;
	}
	if (u->scope.follow || s->target->child.pid) {
		c.caps |= bit(CAP_KILL) | bit(CAP_SYS_PTRACE);
		c.may |= MAY_KILL;
	}
	if (calls(u, B_READS))
		c.caps |= to_read(held) | bit(CAP_SYS_PTRACE) | bit(CAP_SYSLOG);
	if (calls(u, B_WRITES) || has_events(s)) {
		c.caps |= bit(CAP_DAC_OVERRIDE);
		c.may |= MAY_WRITE;
	}
	if (keeps(u) || s->reporter.output.sink->answers)
		c.may |= MAY_RECORD;
	if (s->loop.watcher) /* it may cut the text that it shows */
		c.may |= MAY_RECORD;
	if (s->loop.watcher && s->loop.watcher->wants) { /* it attaches programs again */
		c.caps |= bit(CAP_BPF) | bit(CAP_PERFMON);
		if (host_sysctl(s->h, "kernel.perf_event_paranoid") > 2) /* Debian's kernels */
			c.caps |= bit(CAP_SYS_ADMIN);
		c.may |= MAY_ATTACH;
	}
	if (s->loop.watcher && s->loop.watcher->needs_programs) {
		c.caps |= bit(CAP_SYS_ADMIN);
		c.may |= MAY_ATTACH;
	}
	if (s->limits.parts)
		c.may |= MAY_WRITE;
	if (s->limits.renames || s->limits.parts) {
		c.caps |= bit(CAP_DAC_OVERRIDE);
		if (s->limits.as_invoker)
			c.caps |= bit(CAP_SETUID) | bit(CAP_SETGID);
		c.may |= MAY_RENAME;
	}
	return c;
}

/* Before Linux 5.19 whoever uses a map needs more than its descriptor. */
static bool bpf_works(const struct session *s)
{
	u64 misses;
	for (u32 i = 0; i < s->u->nprog; i++) {
		int fd = prog_fd(s, s->u->prog[i]);
		struct err *e = fd >= 0 ? bpf_prog_misses(fd, &misses) : NULL;
		bool refused = e;
		err_free(e);
		if (fd >= 0)
			return !refused;
	}
	return true;
}

/* Of three sets of capabilities the smallest with which BPF's calls work. */
static u64 with_bpf(const struct session *s, u64 caps)
{
	const u64 more[] = {0, bit(CAP_BPF), bit(CAP_SYS_ADMIN)};
	for (u32 i = 0; i < countof(more); i++) {
		bool works = false;
		struct err *e = confine_effective(caps | more[i]);
		works = !e && bpf_works(s);
		err_free(e);
		if (works)
			return caps | more[i];
	}
	return ~0ull;
}

/* Begin programs have run when rights are given up: what is left is the script's own. */
static bool is_over(const struct unit *u)
{
	bool over = true;
	for (u32 i = 0; i < u->nprog; i++)
		over &= u->prog[i]->phase == PROG_BEGIN || u->prog[i]->phase == PROG_END;
	return over;
}

static void tell(const struct log *log, u64 left, u32 may)
{
	AUTO_SB b = {0};
	for (const struct cap *c = caps_known; c->name; c++)
		if (left >> c->bit & 1)
			sb_fmt(&b, " %s", c->name);
	u32 more = (u32)__builtin_popcountll(left & ~caps_known_bits());
	if (more)
		sb_fmt(&b, " and %u more", more);
	log_put(log, "rights while tracing: %u system calls; capabilities:%s\n", confine_count(may),
		b.n ? b.s : " none");
}

/* Now, while little of what is traced is in our memory, of which the child is a copy. */
int confine_reader(struct session *s)
{
	const char *why;
	int pid = shows_user(s->u) ? sandbox_start(s->h, &why) : 0;
	if (!s->log.level || !shows_user(s->u))
		return pid;
	if (pid)
		log_put(&s->log,
			"files of traced programs: read by process %d, which has no rights\n", pid);
	else
		log_put(&s->log, "files of traced programs: read by sonde itself, because %s\n",
			why);
	return pid;
}

struct err *confine_run(struct session *s)
{
	u64 left = 0;
	const char *why = s->u->config.test || s->u->config.bench ? "it runs tests"
			  : calls(s->u, B_RUNS)                   ? "the script runs commands"
			  : asks_servers(s->h) ? "a program asks for debug information"
			  : !host_has(s->h, FEAT_CONFINE)
				  ? "this kernel has no filters of system calls, or they are off"
			  : is_over(s->u) ? "nothing is traced"
					  : NULL;
	if (why) {
		log_put(&s->log, "rights while tracing: all, because %s\n", why);
		return NULL;
	}
	struct confine c = needs(s);
	struct err *e = confine_caps(with_bpf(s, c.caps), &left);
	if (!e)
		e = confine_calls(c.may);
	if (!e && s->log.level)
		tell(&s->log, left, c.may);
	return e ? err_wrap(e, "give up rights that are not needed: ") : NULL;
}
