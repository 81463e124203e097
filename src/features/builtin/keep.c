/* keep.c - keep(): a row of a recording. */
#include "builtin/common.h"
#include "report/report.h"
#include "sema/check.h"

static bool check_keep(struct sema *s, struct node *call)
{
	if (call_nargs(call) <= RECORD_MAX_FIELDS)
		return true;
	return sema_fail(s, E_LIMIT, call->loc, "keep() takes up to %u values (%u given)",
			 RECORD_MAX_FIELDS - (u32)call->num, call_nargs(call) - (u32)call->num);
}

static struct ref lower_keep(struct lower *l, struct node *call, struct mem dst)
{
	struct schema *sc = lower_schema(l, call->fn, call->loc);
	struct str *kept = arena_newn(l->c->arena, struct str, call_nargs(call) + 1);
	u32 i = 0;

	(void)dst;
	for (const struct node *text = call->b; text; text = text->next)
		kept[i++] = text->name;
	assert(i == call_nargs(call));
	sc->kept = kept;
	sc->prog = l->prog->index;
	lower_record(l, call, call->a, sc);
	return REF_NONE;
}

static bool check_snapshot(struct sema *s, struct node *call)
{
	struct str fmt;
	s->u->snapshots = true;
	return builtin_text(s, call, 0, &fmt) && sema_check_format(s, call, fmt, 1);
}

static struct ref lower_snapshot(struct lower *l, struct node *call, struct mem dst)
{
	struct str fmt = {0};
	(void)dst;
	node_str(call_arg(call, 0), &fmt);
	return builtin_send(l, call, 1, fmt);
}

static void act_snapshot(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			 u64 ts)
{
	struct str why = reader_printf(&r->reader, sc, v, n, &r->output.remarks);
	report_put(r, &(struct item){.kind = I_SNAPSHOT, .ts = ts, .str = why});
}

const struct builtin builtin_keep[] = {
	{"void snapshot(fmt why, ...)", lower_snapshot, B_ASYNC, .check = check_snapshot,
	 .act = act_snapshot,
	 .doc = "Writes the recording in memory of sonde record --keep to a file, at most once per "
		"--quiet-for. The arguments, as of printf, are the reason that the file contains."},
	{"void keep(...)", lower_keep, B_ASYNC | B_TIMED, .role = ROLE_KEEP, .check = check_keep,
	 .doc = "In sonde record: writes a row with these values to the recording, and the time, "
		"the CPU, the process and the probe. keep(args) writes all arguments of the "
		"probe."},
	{0},
};
