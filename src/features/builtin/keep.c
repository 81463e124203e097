/* keep.c - keep(): a row of a recording. */
#include "builtin/common.h"
#include "report/report.h"

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

const struct builtin builtin_keep[] = {
	{"void keep(...)", lower_keep, B_ASYNC | B_TIMED, .role = ROLE_KEEP, .check = check_keep,
	 .doc = "A row of a recording with these values; keep(args): with all arguments that the "
		"probe has. With the time, the CPU, the process and the probe. In sonde record."},
	{0},
};
