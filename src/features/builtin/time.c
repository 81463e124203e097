/* time.c - wall-clock time as text. */
#include "builtin/common.h"
#include "report/report.h"

enum { MAX_TIME_FORMAT = 256 };

static bool check_format(struct sema *s, struct node *call, struct str *fmt)
{
	if (!builtin_text(s, call, 0, fmt))
		return false;
	if (fmt->n > MAX_TIME_FORMAT)
		return sema_fail(s, E_LIMIT, call_arg(call, 0)->loc,
				 "%.*s() format must not be longer than %d bytes", STRF(call->name),
				 MAX_TIME_FORMAT);
	return true;
}

static bool check_time(struct sema *s, struct node *call)
{
	struct str fmt;

	return !call_arg(call, 0) || check_format(s, call, &fmt);
}

static struct ref lower_time(struct lower *l, struct node *call, struct mem dst)
{
	struct str fmt = STR("%H:%M:%S\n");
	struct schema *sc = lower_schema(l, call->fn, call->loc);

	(void)dst;
	if (call_arg(call, 0))
		node_str(call_arg(call, 0), &fmt);
	sc->fmt = arena_str(l->c->arena, fmt);
	lower_record(l, call, NULL, sc);
	return REF_NONE;
}

/* The time of the event, not of its printing. */
static void handle_time(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			u64 ts)
{
	AUTO_SB out = {0};

	(void)v, (void)n;
	clocks_strftime(&r->reader.clocks, &out, arena_strz(&r->reader.arena, sc->fmt), ts);
	report_text(r, "time", sb_str(&out));
}

static const struct type *type_strftime(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_timestamp;
}

/* The format travels as a number of unit.strings. */
static bool check_strftime(struct sema *s, struct node *call)
{
	const struct type *t = call_arg(call, 1)->type;
	struct str fmt;

	if (!check_format(s, call, &fmt))
		return false;
	if (!type_is_int(t) && !type_is_error(t))
		return sema_fail(s, E_TYPE, call_arg(call, 1)->loc,
				 "strftime() only supports integer arguments (%s provided)",
				 builtin_kind(t));
	call->num = sema_string_id(s, fmt);
	return true;
}

static struct ref lower_strftime(struct lower *l, struct node *call, struct mem dst)
{
	u8 clock = call_arg(call, 1)->type->mode;

	lower_store(l, 8, dst, lower_value(l, call_arg(call, 1)));
	lower_store(l, 8, mem_at(dst, 8), ir_con(l->f, (u64)clock << 32 | (u32)call->num));
	return REF_NONE;
}

const struct builtin builtin_time[] = {
	{"void time([text format])", lower_time, B_ASYNC | B_TIMED, .check = check_time,
	 .handle = handle_time,
	 .doc = "Prints the wall-clock time by a strftime format, default \"%H:%M:%S\\n\"."},
	{"auto strftime(text format, int ns)", lower_strftime, .type = type_strftime,
	 .check = check_strftime,
	 .doc = "Wall-clock time of a timestamp made by nsecs, as text. Besides strftime's "
		"conversions: %f microseconds, "
		"%k nanoseconds, %l milliseconds; %T has the digits that an option of kind clock "
		"says."},
	{0},
};
