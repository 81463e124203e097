/* keep.c - keep(), span_begin(), span_end(): a row of a recording; snapshot(): a file with the last rows. */
#include "builtin/common.h"
#include "report/report.h"
#include "sema/check.h"

static bool check_keep(struct sema *s, struct node *call)
{
	u32 added = call_nadded(call);
	if (call_nargs(call) <= RECORD_MAX_FIELDS)
		return true;
	return sema_fail(s, E_LIMIT, call->loc, "%.*s() takes up to %u values (%u given)",
			 STRF(call->name), RECORD_MAX_FIELDS - added, call_nargs(call) - added);
}

/* An id is compared with others, also with those of other scripts and probes. */
static bool check_span(struct sema *s, struct node *call)
{
	const struct node *id = call_arg(call, call_nadded(call) + 1);
	const struct type *t = id->type;
	AUTO_SB got = {0};
	bool number = type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR;
	if (number || t->kind == T_STRING)
		return check_keep(s, call);
	type_name(t, &got);
	return sema_fail(s, E_TYPE, id->loc,
			 "%.*s() needs a number, a pointer or a string as id (%s provided)",
			 STRF(call->name), got.s);
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
	sc->kept_by = call->name;
	sc->kept_apart = call->fn->kept_as != NULL;
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

static void handle_snapshot(struct reporter *r, const struct schema *sc, const struct value *v,
			    u32 n, u64 ts)
{
	struct str why = reader_printf(&r->reader, sc, v, n, &r->output.remarks);
	report_put(r, &(struct item){.kind = I_SNAPSHOT, .ts = ts, .str = why});
}

static const char *const span_columns[] = {"span.name", "span.id", NULL};

const struct builtin builtin_keep[] = {
	{"void snapshot(fmt why, ...)", lower_snapshot, B_ASYNC, .check = check_snapshot,
	 .handle = handle_snapshot,
	 .doc = "Writes the recording in memory of sonde record --keep to a file, at most once per "
		"--quiet-for. The arguments, as of printf, are the reason that the file contains."},
	{"void keep(...)", lower_keep, B_ASYNC | B_TIMED, .role = ROLE_KEEP, .check = check_keep,
	 .doc = "In sonde record: writes a row with these values to the recording, and the time, "
		"the CPU, the process and the probe. keep(args) writes all arguments of the "
		"probe."},
	{"void span_begin(str name, any id, ...)", lower_keep, B_ASYNC | B_TIMED, .role = ROLE_KEEP,
	 .kept_as = span_columns, .check = check_span,
	 .doc = "In sonde record: begins a span, an interval that viewers draw, until span_end() "
		"with the "
		"same name and id. The other values are kept as by keep()."},
	{"void span_end(str name, any id, ...)", lower_keep, B_ASYNC | B_TIMED, .role = ROLE_KEEP,
	 .kept_as = span_columns, .check = check_span,
	 .doc = "In sonde record: ends the span with this name and id, on any thread."},
	{0},
};
