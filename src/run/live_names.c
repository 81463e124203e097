/* live_names.c - what addresses and ids stand for on this machine, right now. */
#include "proc/cgroup.h"
#include "run/here.h"
#include "run/mmap_events.h"
#include "run/session.h"
#include <net/if.h>

static bool kernel(void *session, u64 addr, struct symbol *ret)
{
	return sym_kernel(((struct session *)session)->syms, addr, ret);
}

/* What was mapped until now is known first. */
static bool user(void *session, u32 pid, u64 addr, struct symbol *ret)
{
	struct session *s = session;
	mmap_events_drain(s);
	return sym_user(s->syms, pid, addr, ret);
}

static void expect(void *session, u32 pid, u64 addr)
{
	struct session *s = session;
	mmap_events_drain(s);
	sym_user_expect(s->syms, pid, addr);
}

static void expected(void *session)
{
	sym_user_expected(((struct session *)session)->syms);
}

static bool gains(void *session)
{
	return sym_user_gains(((struct session *)session)->syms);
}

static u32 source(void *session, u32 pid, u64 addr, bool call, struct source_frame *v, u32 max)
{
	return sym_user_source(((struct session *)session)->syms, pid, addr, call, v, max);
}

static const u64 *tail(void *session, u64 mark, u32 *n)
{
	void *self;
	const struct service *p = service_of_stacks(session, &self);
	return p->tail(session, self, mark, n);
}

static bool code(void *session, u64 word, struct interp_frame *ret)
{
	void *self;
	const struct service *p = service_of_stacks(session, &self);
	return p->frame(session, self, word, ret);
}

static bool finish_key(void *session, const struct type *t, u8 *key)
{
	void *self;
	const struct service *p = service_of_stacks(session, &self);
	return p->finish_key(session, self, t, key);
}

static const char *username(void *session, u32 uid)
{
	return proc_username(((struct session *)session)->h, uid);
}

static const char *cgroup(void *session, u64 id)
{
	return proc_cgroup_path(((struct session *)session)->h, id);
}

static void cgroups(void *session, u64 id, struct str glob, struct sb *out)
{
	proc_cgroup_paths(((struct session *)session)->h, id, glob, out);
}

static const char *container(void *session, u64 id)
{
	return cgroup_container_of(((struct session *)session)->h, id);
}

static const char *disk(void *session, u32 dev)
{
	return proc_disk_name(((struct session *)session)->h, dev);
}

static bool interface(void *session, u32 index, struct sb *out)
{
	char name[IF_NAMESIZE];
	(void)session;
	if (!if_indextoname(index, name))
		return false;
	sb_z(out, name);
	return true;
}

static void load(void *session, struct sb *out)
{
	(void)session;
	proc_load(out);
}

static bool meminfo(void *session, struct str line, u64 *bytes)
{
	(void)session;
	return proc_meminfo(line, bytes);
}

const struct names names_here = {
	.kernel = kernel,
	.user = user,
	.expect = expect,
	.expected = expected,
	.gains = gains,
	.source = source,
	.tail = tail,
	.code = code,
	.finish_key = finish_key,
	.username = username,
	.cgroup = cgroup,
	.cgroups = cgroups,
	.container = container,
	.disk = disk,
	.interface = interface,
	.load = load,
	.meminfo = meminfo,
};
