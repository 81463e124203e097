/* watchpoint.c - watchpoint:address:length:mode, by the processor's debug registers. */
#include "kern/tracefs.h"
#include "probe/common.h"
#include <linux/hw_breakpoint.h>

static bool is_name(struct str s)
{
	for (u32 i = 0; i < s.n; i++) {
		char c = s.s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!letter && !(i && ((c >= '0' && c <= '9') || c == '.')))
			return false;
	}
	return s.n;
}

static struct err *not_aligned(void)
{
	return err_new("watchpoint address must be aligned to its length");
}

static struct err *watchpoint_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n != 3)
		return parts_err(p, "3 arguments", t.n);
	p->has_addr = str_u64(t.v[0], &p->addr);
	if (!p->has_addr && !is_name(t.v[0]))
		return err_new("Invalid address of watchpoint probe: invalid integer: %.*s",
			       STRF(t.v[0]));
	if (!p->has_addr)
		p->name = arena_str(a, t.v[0]);
	if (!str_u64(t.v[1], &p->offset) ||
	    !(p->offset == 1 || p->offset == 2 || p->offset == 4 || p->offset == 8))
		return err_new("Invalid length of watchpoint probe: %.*s, must be 1, 2, 4 or 8",
			       STRF(t.v[1]));
	if (p->addr % p->offset)
		return not_aligned();
	if (!str_is(t.v[2], "w") && !str_is(t.v[2], "rw") && !str_is(t.v[2], "wr") &&
	    !str_is(t.v[2], "x"))
		return err_new("Invalid mode of watchpoint probe: %.*s, must be w, rw or x",
			       STRF(t.v[2]));
	p->extra = arena_str(a, t.v[2]);
	p->text = probe_text(a, "watchpoint", arena_str(a, text), STR(""), STR(""));
	return NULL;
}

/* A variable or function of the kernel. */
static struct err *watchpoint_expand(struct host *h, struct unit *u, const struct point *p,
				     point_cb *cb, void *arg)
{
	struct point q = *p;
	(void)u;
	if (!p->has_addr) {
		q.addr = tracefs_symbol(h, p->name);
		if (!q.addr)
			return err_new("/proc/kallsyms has no address of %.*s", STRF(p->name));
		q.has_addr = true;
	}
	if (q.addr % q.offset)
		return not_aligned();
	cb(&q, arg);
	return NULL;
}

static struct err *attach_one(struct host *h, struct unit *u, struct prog *g, const struct point *p,
			      struct link **list)
{
	bool x = str_is(p->extra, "x"), w = str_is(p->extra, "w");
	struct perf_spec s = {.type = PERF_TYPE_BREAKPOINT,
			      .config1 = p->addr,
			      .config2 = x ? sizeof(long) : p->offset,
			      .period = 1,
			      .bp_type = x   ? HW_BREAKPOINT_X
					 : w ? HW_BREAKPOINT_W
					     : HW_BREAKPOINT_RW};
	return perf_start_all(h, u, &s, g, list);
}

static struct err *watchpoint_attach(struct host *h, struct unit *u, struct prog *g,
				     struct link **list)
{
	return attach_points(h, u, g, attach_one, list);
}

const struct provider provider_watchpoint = {
	.name = "watchpoint",
	.alias = {"w"},
	.syntax = "watchpoint:(address|symbol):length:mode",
	.doc = "Memory that is read, written or executed (mode: w, rw, x).",
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.flags = PF_REGS | PF_EVENT | PF_STACKS,
	.parse = watchpoint_parse,
	.expand = watchpoint_expand,
	.attach = watchpoint_attach,
};
