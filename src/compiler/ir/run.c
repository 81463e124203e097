/* run.c - the table of passes. */
#include "ir/pass.h"

const struct ir_pass ir_passes[] = {
	{"cfg", cfg_run},
	{"ssa", ssa_run},
	{"slots", slots_run},
	{"opt", opt_run},
	{"live", live_run},
	{"regs", regs_run},
	{0},
};

void ir_run(struct fn *f)
{
	struct fn **all;
	u32 n;
	ir_all_fns(f, &all, &n);
	for (u32 i = 0; i < n; i++) {
		if (all[i]->allocated)
			continue; /* shared with another program */
		ir_check(all[i], "build");
		for (const struct ir_pass *p = ir_passes; p->name; p++) {
			p->run(all[i]);
			ir_check(all[i], p->name);
		}
	}
	free(all);
}
