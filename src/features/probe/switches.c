/*
 * switches.c - software:context-switches:1 as the scheduler's raw tracepoint.
 *
 * Every switch is one event either way, in the name of the thread that stops running; but a perf
 * event is counted by each CPU's own, sampled, and only then calls the program. Not for stacks and
 * registers, which a tracepoint shows otherwise, and not when the event is that of some processes.
 */
#include "probe/common.h"

static bool switches_fits(const struct ask *q)
{
	const struct scope *s = &q->u->scope;
	if (q->use & (USE_KSTACK | USE_USTACK | USE_REGS | USE_PROGRAM))
		return false;
	if (s->npid || s->ncgroup || q->u->pid)
		return false;
	for (const struct point *p = q->points; p; p = p->next)
		if (p->period != 1 ||
		    (!str_is(p->name, "cs") && !str_is(p->name, "context-switches")))
			return false;
	for (struct point *p = q->points; p; p = p->next)
		p->name = STR("sched_switch");
	return true;
}

const struct method method_switches = {
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.fits = switches_fits,
	.attach = rawtp_attach_names,
};
