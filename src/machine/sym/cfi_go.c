/*
 * cfi_go.c - rows of functions of Go, which no section describes; its runtime's table (gopcln.h)
 * does.
 *
 * The compiler keeps frame pointers, right above which the return address is. They are only
 * followed where a function goes to another stack: elsewhere they are wrong in prologues, and in
 * assembly, which uses the register as it likes after saving it. Other registers callers save.
 */
#include "arch/arch.h"
#include "sym/cfi.h"
#include "sym/gopcln.h"
#include "types/image.h"

enum { WORD = 8 };

/* What is not said by the flags, or was not by those of older versions. */
static bool rule_by_name(struct str name, u32 *ret)
{
	static const struct {
		const char *name;
		enum unwind_kind kind;
	} known[] = {
		{"runtime.goexit", UNWIND_END},
		{"runtime.mstart", UNWIND_END},
		{"runtime.rt0_go", UNWIND_END},
		{"runtime.mcall", UNWIND_END}, /* what it came from may be running elsewhere */
		{"_rt0_amd64", UNWIND_END},
		{"_rt0_amd64_linux", UNWIND_END},
		{"runtime.sigreturn", UNWIND_SIGNAL},
		{"runtime.sigreturn__sigaction", UNWIND_SIGNAL},
	};
	for (u32 i = 0; i < countof(known); i++)
		if (str_eq(name, str_z(known[i].name))) {
			*ret = unwind_rule(known[i].kind, 0, 0);
			return true;
		}
	return false;
}

static void put_row(struct cfi *c, struct cfi_fde *f, u64 pc, u32 rule)
{
	vec_add(&c->row, (struct cfi_row){(u32)(pc - c->base), rule});
	f->n++;
}

static void put_rows(struct cfi *c, const struct gopcln *g, u32 i, bool handler, struct cfi_fde *f)
{
	struct go_stack s;
	if (!gopcln_stack(g, i, &s))
		return;
	/* The runtime does not look beyond handlers of signals; what was interrupted is there. */
	if (s.flags & GO_OUTERMOST && !handler) {
		put_row(c, f, f->pc, unwind_rule(UNWIND_END, 0, 0));
		return;
	}
	if (s.flags & GO_SETS_SP) {
		put_row(c, f, f->pc,
			unwind_rule(UNWIND_FP_AWAY, 2, unwind_regs(2, UNWIND_KEPT_LOST)));
		return;
	}
	while (gopcln_stack_next(&s) && s.from < f->end) {
		bool odd = s.bytes < 0 || s.bytes % WORD || s.bytes >= 1 << (UNWIND_OFF_BITS + 2);
		u32 where = unwind_regs(s.bytes ? 2 : UNWIND_FP_SAME, UNWIND_KEPT_LOST);
		put_row(c, f, s.from,
			odd ? unwind_rule(UNWIND_UNKNOWN, 0, 0)
			    : unwind_rule(UNWIND_SP, (i32)(s.bytes / WORD) + 1, where));
	}
}

static void put_function(struct cfi *c, const struct gopcln *g, u32 i)
{
	struct go_func fn;
	u32 rule;
	if (!gopcln_at(g, i, &fn) || fn.addr <= c->base || fn.addr + fn.size - c->base > UINT32_MAX)
		return;
	struct cfi_fde f = {.pc = fn.addr, .end = fn.addr + fn.size, .first = c->row.n};
	if (!rule_by_name(fn.name, &rule))
		put_rows(c, g, i, str_is(fn.name, "runtime.sigtramp"), &f);
	else
		put_row(c, &f, f.pc, rule);
	if (f.n && unwind_kind(c->row.v[f.first].rule) == UNWIND_SIGNAL) {
		/* returned to without having called, and looked up by the byte before, which pads
		 * the function before */
		f.pc--;
		c->row.v[f.first].pc--;
		if (c->fde.n)
			c->fde.v[c->fde.n - 1].end = MIN(c->fde.v[c->fde.n - 1].end, f.pc);
	}
	if (f.n)
		vec_add(&c->fde, f);
}

static bool find(const struct image *im, struct gopcln *g)
{
	const struct arch *a = im->is64 ? arch_of(im->machine) : NULL;
	return a && !a->unwind.link && gopcln_find(im, g);
}

bool cfi_go_has(const struct image *im)
{
	struct gopcln g;
	return find(im, &g);
}

void cfi_go(struct cfi *c, const struct image *im, u64 from, u64 to)
{
	struct gopcln g;
	struct go_func fn;
	if (!find(im, &g) || to <= g.from || from >= g.end)
		return;
	for (u32 i = gopcln_search(&g, from); i < g.n; i++) {
		put_function(c, &g, i);
		if (gopcln_at(&g, i, &fn) && fn.addr > to)
			break;
	}
}
