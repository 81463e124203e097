/* watchpoint.c - watchpoint:address:length:mode, by the processor's debug registers. */
#include "kern/caps.h"
#include "kern/tracefs.h"
#include "probe/common.h"
#include "proc/proc.h"
#include "rights/image_ask.h"
#include "sym/sym.h"
#include <elf.h>
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

static struct err *not_aligned(u64 addr, u64 len)
{
	return err_new("watchpoint address must be aligned to its length: 0x%llx is no multiple "
		       "of %llu",
		       addr, len);
}

static struct err *watchpoint_parse(struct arena *a, struct point *p, struct str text)
{
	struct parts t = parts_of(text);
	if (t.n == 4) { /* a file's */
		p->target = arena_str(a, t.v[0]);
		memmove(t.v, t.v + 1, 3 * sizeof(*t.v));
	} else if (t.n != 3) {
		return parts_err(p, "3 arguments", t.n);
	}
	p->has_addr = str_u64(t.v[0], &p->addr);
	if (!p->has_addr && !is_name(t.v[0]))
		return err_new("Invalid address of watchpoint probe: neither a number nor a name: "
			       "%.*s",
			       STRF(part_shown(t.v[0])));
	if (!p->has_addr)
		p->name = arena_str(a, t.v[0]);
	if (!str_u64(t.v[1], &p->offset) ||
	    !(p->offset == 1 || p->offset == 2 || p->offset == 4 || p->offset == 8))
		return err_new("Invalid length of watchpoint probe: %.*s, must be 1, 2, 4 or 8",
			       STRF(part_shown(t.v[1])));
	if (p->addr % p->offset)
		return not_aligned(p->addr, p->offset);
	bool rw = str_is(t.v[2], "rw") || str_is(t.v[2], "wr");
	if (str_chr(t.v[2], 'x') >= 0 && t.v[2].n > 1)
		return err_new("Invalid mode of watchpoint probe: %.*s; execution (x) is watched "
			       "by a watchpoint of its own",
			       STRF(part_shown(t.v[2])));
	if (!str_is(t.v[2], "w") && !rw && !str_is(t.v[2], "r") && !str_is(t.v[2], "x"))
		return err_new("Invalid mode of watchpoint probe: %.*s, must be w, rw or x",
			       STRF(part_shown(t.v[2])));
	p->extra = arena_str(a, t.v[2]);
	p->text = probe_text(a, "watchpoint", arena_str(a, text), STR(""), STR(""));
	return NULL;
}

/* The file that a name of a process belongs to: its program, or the one that is named. */
static struct err *name_file(struct host *h, struct unit *u, struct str target, const char **ret)
{
	paths files = {0};
	const char *old = NULL;
	struct err *e = target.n ? user_paths(h, u, u->pid, target, &files) : NULL;
	if (!e && target.n && !files.n)
		e = err_new("no file fits %.*s", STRF(target));
	if (!e && target.n)
		e = proc_old_file(h, u->pid, files.v[0], &old);
	if (!e && target.n)
		*ret = old ? old : proc_real_path(h, u->pid, files.v[0]);
	else if (!e)
		*ret = u->program ? u->program : proc_file(h, h->arena, u->pid, "exe");
	vec_free(&files);
	return e ? err_wrap(e, "watchpoint ") : NULL;
}

/* A variable or function of the process. q->addr stays 0 when its program has no such name. */
static struct err *find_in_process(struct host *h, struct unit *u, const struct point *p,
				   struct point *q)
{
	const char *file = NULL;
	struct symbol sym;
	struct image im;
	u64 bias = 0;
	struct err *e = name_file(h, u, p->target, &file);
	if (e)
		return e;
	e = elf_symbol(h, file, p->name, &sym);
	if (e && !p->target.n) { /* the kernel's, then */
		err_free(e);
		return NULL;
	}
	if (!e)
		e = image_ask(h, file, &im);
	if (e)
		return e;
	bool moves = im.type == ET_DYN;
	image_close(&im);
	q->addr = sym.addr;
	q->late = moves && u->program;
	q->target = q->late ? arena_str(h->arena, str_z(file)) : q->target;
	if (!moves || q->late)
		return NULL;
	if (u->scope.npid > 1)
		return err_new("the address of %.*s differs between processes; select one with -p",
			       STRF(p->name));
	if (!proc_load_bias(h, u->pid, file, &bias))
		return err_new("process %d has not mapped %s", u->pid, file);
	q->addr += bias;
	return NULL;
}

/* Neither the process nor the kernel has that name, as far as we may know. */
static struct err *no_address(struct host *h, struct unit *u, struct str name, bool process)
{
	if (tracefs_symbols_hidden(h))
		return err_new("/proc/kallsyms hides the address of %.*s: needs CAP_SYSLOG while "
			       "kernel.kptr_restrict is %lld",
			       STRF(name), host_sysctl(h, "kernel.kptr_restrict"));
	if (process)
		return err_new("neither the program of process %d nor /proc/kallsyms has an "
			       "address of %.*s",
			       u->pid, STRF(name));
	return err_new("/proc/kallsyms has no address of %.*s; names of a program need its "
		       "process, given with -p or -c",
		       STRF(name));
}

/* A name: of the process, or of the kernel. */
static struct err *watchpoint_expand(struct host *h, struct unit *u, struct diags *ds,
				     const struct point *p, point_cb *cb, void *arg)
{
	(void)ds;
	struct point q = *p;
	bool process = u && (u->pid > 0 || u->program);
	if (str_is(p->extra, "r") && !h->arch->watches_reads)
		return err_new("Invalid mode of watchpoint probe: r; %s cannot watch reads alone, "
			       "rw watches reads and writes",
			       h->arch->name);
	if (p->target.n && !process)
		return err_new("%.*s:%.*s needs a process, given with -p or -c", STRF(p->target),
			       STRF(p->name));
	if (!p->has_addr) {
		struct err *e = process ? find_in_process(h, u, p, &q) : NULL;
		if (e)
			return e;
		if (!q.addr)
			q.addr = tracefs_symbol(h, p->name);
		if (!q.addr)
			return no_address(h, u, p->name, process);
		q.has_addr = true;
	}
	if (q.addr % q.offset)
		return not_aligned(q.addr, q.offset);
	cb(&q, arg);
	return NULL;
}

static struct err *attach_one(struct host *h, struct unit *u, struct attach *a,
			      const struct point *p)
{
	bool x = str_is(p->extra, "x"), w = str_is(p->extra, "w");
	u64 bias = 0;
	const char *file = arena_strz(h->arena, p->target);
	if (p->late && !proc_load_bias(h, u->pid, file, &bias))
		return err_new("process %d has not mapped %s", u->pid, file);
	u64 addr = p->addr + bias;
	if (!(addr >> 55 & 1)) /* of a process */
		addr &= ~h->arch->tag_bits;
	struct perf_spec s = {.type = PERF_TYPE_BREAKPOINT,
			      .config1 = addr,
			      .config2 = x ? sizeof(long) : p->offset,
			      .period = 1,
			      .bp_type = x                       ? HW_BREAKPOINT_X
					 : w                     ? HW_BREAKPOINT_W
					 : str_is(p->extra, "r") ? HW_BREAKPOINT_R
								 : HW_BREAKPOINT_RW};
	return perf_start_all(h, u, &s, a);
}

static const char silent[] =
	"the debug registers of this machine have no effect, as in some virtual machines";

static struct err *watchpoint_attach(struct host *h, struct unit *u, struct attach *a)
{
	bool watches = perf_watches(); /* before all registers are taken */
	a->remark = watches ? NULL
			    : arena_fmt(h->arena, "%.*s: %s: it will not fire",
					STRF(a->prog->points->text), silent);
	return attach_points(h, u, a, attach_one);
}

static struct err *watchpoint_able(struct host *h)
{
	static u32 watched;
	(void)h;
	struct err *e = perf_able(PERF_TYPE_BREAKPOINT, 0, (u64)(uintptr_t)&watched);
	return e || perf_watches() ? e : err_new("%s", silent);
}

static const struct method method_watchpoint = {
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.flags = METHOD_REGS | METHOD_EVENT,
	.attach = watchpoint_attach,
};

const struct probe_type probe_watchpoint = {
	.name = "watchpoint",
	.alias = {"w"},
	.syntax = "watchpoint:(address|[file:]symbol):length:mode",
	.doc = "Memory that is read, written or executed (mode: w, rw, x).",
	.able = watchpoint_able,
	.flags = PROBE_STACKS | PROBE_FIRST,
	.parse = watchpoint_parse,
	.expand = watchpoint_expand,
	.methods = (const struct method *const[]){&method_watchpoint, NULL},
};
