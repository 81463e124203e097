/* compile.c - the passes of the compiler in order, and the program as text after one of them. */
#include "api/compile.h"
#include "base/clock.h"
#include "base/file.h"
#include "declare/declare.h"
#include "lower/lower.h"
#include "sema/sema.h"
#include "source/source.h"

/* Whether the next pass is to look for more mistakes after some were found. */
enum go_on {
	STOP,
	UNLESS_FALSE, /* unless this pass returned false */
	GO_ON,
};

struct pass {
	const char *name;
	bool (*run)(struct compile *c);
	void (*print)(const struct compile *c, struct sb *out);
	u32 dump;         /* enum dump: what print is for */
	enum stage stage; /* not run when compiling only up to an earlier one */
	enum go_on go_on;
};

static bool parse(struct compile *c)
{
	compile_parse(c);
	return !c->diags->nerror;
}

static void print_tree(const struct compile *c, struct sb *out)
{
	node_dump(c->tree, c->diags, out);
}

static void print_types(const struct compile *c, struct sb *out)
{
	for (u32 i = 0; i < c->nvariant; i++)
		node_dump(c->variant[i]->probe, c->diags, out);
}

/* One IR pass over a function and the loop bodies it refers to. */
static void run_on(const struct compile *c, struct fn *f, const struct ir_pass *p)
{
	for (u32 i = 0; i < f->fns.n; i++)
		run_on(c, f->fns.v[i], p);
	if (f->ext)
		return;
	p->run(f);
	if (c->check_ir || !p[1].name)
		ir_check(f, p->name);
}

static void run_passes(struct compile *c, const char *from, const char *to)
{
	bool on = !from;
	for (const struct ir_pass *p = ir_passes; p->name; p++) {
		for (u32 i = 0; on && i < c->unit->nprog; i++)
			run_on(c, c->fn[i], p);
		if (from && !strcmp(p->name, from))
			on = true;
		if (to && !strcmp(p->name, to))
			return;
	}
}

static bool optimize(struct compile *c)
{
	run_passes(c, NULL, "opt");
	return true;
}

static bool allocate(struct compile *c)
{
	run_passes(c, "opt", NULL);
	return true;
}

static void print_ir(const struct compile *c, struct sb *out)
{
	for (u32 i = 0; i < c->unit->nprog; i++)
		ir_print(c->fn[i], out);
}

static void print_code(const struct compile *c, struct sb *out)
{
	for (u32 i = 0; i < c->unit->nprog; i++) {
		const struct prog *g = c->unit->prog[i];
		sb_fmt(out, "%.*s: %u instructions\n", STRF(g->name), g->code.ninsn);
		ir_disasm(&g->code, c->diags, out);
	}
}

static const struct pass passes[] = {
	{"ast", parse, print_tree, DUMP_AST, STAGE_PARSE, STOP},
	{"import", source_import, NULL, 0, STAGE_EXPAND, STOP},
	{"config", source_config, NULL, 0, STAGE_EXPAND, GO_ON},
	{"cdefs", source_cdefs, NULL, 0, STAGE_EXPAND, GO_ON},
	{"macros", source_macros, NULL, 0, STAGE_EXPAND, GO_ON},
	{"spellings", source_spellings, NULL, 0, STAGE_EXPAND, GO_ON},
	{"declare", declare_script, NULL, 0, STAGE_EXPAND, UNLESS_FALSE},
	{"expand", sema_expand, NULL, 0, STAGE_EXPAND, GO_ON},
	{"types", sema_check, print_types, DUMP_TYPES, STAGE_ALL, STOP},
	{"options", declare_check_options, NULL, 0, STAGE_ALL, STOP},
	{"plan", sema_plan, sema_dump_plan, DUMP_PLAN, STAGE_ALL, STOP},
	{"lower", lower_unit, NULL, 0, STAGE_ALL, STOP},
	{"ir", optimize, print_ir, DUMP_IR, STAGE_ALL, STOP},
	{"regs", allocate, print_ir, DUMP_REGS, STAGE_ALL, STOP},
	{"bpf", emit_unit, print_code, DUMP_BPF, STAGE_ALL, STOP},
};

_Static_assert(countof(passes) <= MAX_PASSES, "each has a cost");

static bool run_pass(struct compile *c, size_t i, struct watch *w)
{
	u64 from = now_ns();
	bool ok = passes[i].run(c);
	u64 ns = now_ns() - from;
	if (!w)
		return ok;
	struct pass_cost *cost = &w->cost[i];
	cost->name = passes[i].name;
	cost->least = cost->n ? MIN(cost->least, ns) : ns;
	cost->most = MAX(cost->most, ns);
	cost->n++;
	cost->ns += ns;
	return ok;
}

/* The IR as it was lowered, and as it is given to the allocation of registers. */
static void emit_ir(const struct compile *c, const char *pass, struct watch *w)
{
	const char *what = !strcmp(pass, "lower") ? "original"
			   : !strcmp(pass, "ir")  ? "optimized"
						  : NULL;
	if (!w || !w->emit_ir || !what || w->e)
		return;
	AUTO_SB out = {0}, path = {0};
	print_ir(c, &out);
	sb_fmt(&path, "%s.%s.ir", w->emit_ir, what);
	int no = file_write(path.s, sb_str(&out));
	w->e = no ? err_sys(no, "--emit-llvm: write %s", path.s) : NULL;
}

bool compile_script(struct compile *c, enum stage until, struct watch *w)
{
	const struct diags *ds = c->diags;
	u32 dumps = w ? w->dumps : 0, left = dumps;
	assert(c->unit && c->host);
	for (size_t i = 0; i < countof(passes); i++) {
		const struct pass *p = &passes[i];
		if (p->stage > until || (dumps && !left))
			break;
		bool ok = run_pass(c, i, w);
		/* For a user's script, report every error; for a built-in tool, stop at the first. */
		bool more = p->go_on == GO_ON || (p->go_on == UNLESS_FALSE && ok);
		if ((!more || ds->unseen) && (!ok || ds->nerror))
			return false;
		if (ok)
			emit_ir(c, p->name, w);
		if (!(dumps & p->dump))
			continue;
		AUTO_SB out = {0};
		p->print(c, &out);
		w->dump(w->arg, p->name, sb_str(&out));
		left &= ~p->dump;
	}
	return !ds->nerror;
}
