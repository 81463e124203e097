/* live_names.c - what addresses and ids stand for on this machine, right now. */
#include "run/run.h"

static bool kernel(void *session, u64 addr, struct symbol *ret)
{
	return sym_kernel(((struct session *)session)->syms, addr, ret);
}

/* What was mapped until now is known first. */
static bool user(void *session, u32 pid, u64 addr, struct symbol *ret)
{
	struct session *s = session;
	notes_drain(s);
	return sym_user(s->syms, pid, addr, ret);
}

static void expect(void *session, u32 pid, u64 addr)
{
	struct session *s = session;
	notes_drain(s);
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
	notes_drain(session);
	return unwind_tail(session, mark, n);
}

static const char *cgroup(void *session, u64 id)
{
	return proc_cgroup_path(((struct session *)session)->h, id);
}

static const char *username(void *session, u32 uid)
{
	return proc_username(((struct session *)session)->h, uid);
}

const struct names names_here = {kernel, user, expect, expected, gains,
				 source, tail, cgroup, username};
