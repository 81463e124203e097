/* print.c - output: printf errorf warnf print cat join debugf. */
#include "base/file.h"
#include "builtin/common.h"
#include "core/agg.h"
#include "core/printf.h"
#include "report/loss.h"
#include "report/report.h"
#include "sema/check.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>

/* ---- printf and its kin ---- */
static bool check_format(struct sema *s, struct node *call)
{
	struct str fmt;

	bool ok = builtin_text(s, call, 0, &fmt) && sema_check_format(s, call, fmt, 1);
	bool pinned = (point_flags(s->v->points) & METHOD_PINNED) && (call->fn->flags & B_SEQ);
	return ok && (!pinned || sema_check_seq(s, call, fmt));
}

static struct ref lower_format(struct lower *l, struct node *call, struct mem dst)
{
	struct str fmt = {0};

	(void)dst;
	node_str(call_arg(call, 0), &fmt);
	if (!(point_flags(l->pt) & METHOD_PINNED))
		return builtin_send(l, call, 1, fmt);
	lower_seq(l, call_arg(call, 1), fmt);
	return REF_NONE;
}

/* ---- strf: a tuple whose type has the format; decoding makes the text ---- */

static const struct type *type_strf(struct sema *s, struct node *call)
{
	const struct type *elem[RECORD_MAX_FIELDS];
	struct str fmt;
	u32 n = 0;

	if (!node_str(call_arg(call, 0), &fmt))
		return &type_error;
	for (struct node *e = call_arg(call, 1); e && n < countof(elem); e = e->next) {
		if (e->type->kind == T_NONE || type_is_error(e->type) || type_is_agg(e->type))
			return &type_error;
		elem[n++] = e->type->kind == T_INT ? type_int(8, e->type->is_signed)
						   : stored_type(s, e->type);
	}
	struct type *t = arena_new(s->a, struct type);
	*t = *type_tuple(s->a, n, elem, NULL);
	t->name = fmt;
	return t;
}

static struct ref lower_strf(struct lower *l, struct node *call, struct mem dst)
{
	u32 i = 0;

	lower_zero(l, dst, call->type->size);
	for (struct node *e = call_arg(call, 1); e; e = e->next, i++) {
		const struct field *f = &call->type->field[i];
		lower_into_as(l, e, mem_at(dst, (i32)(f->bit_off / 8)), f->type);
	}
	return REF_NONE;
}

static void handle_printf(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			  u64 ts)
{
	(void)ts;
	report_text(r, "printf", reader_printf(&r->reader, sc, v, n, &r->output.show));
}

static void remark(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
		   bool warn)
{
	report_said(r, warn, sc->loc, reader_printf(&r->reader, sc, v, n, &r->output.remarks));
}

static void handle_errorf(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			  u64 ts)
{
	(void)ts;
	remark(r, sc, v, n, false);
}

static void handle_warnf(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			 u64 ts)
{
	(void)ts;
	remark(r, sc, v, n, true);
}

/* The first value is how many. */
static bool check_loss(struct sema *s, struct node *call)
{
	const struct node *n = call_arg(call, 1);

	if (!check_format(s, call))
		return false;
	if (n && (n->type->kind == T_INT || type_is_error(n->type) || n->type->kind == T_NONE))
		return true;
	return sema_fail(s, E_TYPE, n ? n->loc : call->loc,
			 "the first value of lossf() is an integer: how many");
}

static void handle_lossf(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			 u64 ts)
{
	(void)ts;
	if (v[0].u)
		report_lost(r, v[0].u, reader_printf(&r->reader, sc, v, n, &r->output.remarks));
}

/* ---- cat ---- */

/* Up to max bytes of a file; an err says why not. */
static struct err *read_file(const char *path, u64 max, struct sb *out)
{
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_new("failed to open file '%s' (%s)", path, strerror(errno));
	int no = fd_read(fd, max, out);
	if (no)
		return err_new("failed to read file '%s' (%s)", path, strerror(no));
	return NULL;
}

/* A text whose parts are visible, and whose separators are the script's own. */
static void put_visible(struct sb *out, struct str text, struct str sep)
{
	while (text.n) {
		i32 at = sep.n ? str_find(text, sep) : -1;
		u32 n = at < 0 ? text.n : (u32)at;
		sb_visible(out, str_n(text.s, n));
		if (at >= 0)
			sb_add(out, sep);
		text = str_from(text, at < 0 ? n : n + sep.n);
	}
}

static void handle_cat(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
		       u64 ts)
{
	AUTO_SB path = {0};
	AUTO_SB text = {0};
	AUTO_SB shown = {0};
	struct err *e;

	(void)ts;
	value_printf(&path, sc->fmt, v, n, &(struct show){0});
	e = read_file(path.s ? path.s : "", r->unit->config.max_cat_bytes, &text);
	if (e) {
		report_error(r, false, "cat", (struct loc){0}, str_z(e->msg));
		err_free(e);
		return;
	}
	if (r->output.show.escape)
		put_visible(&shown, sb_str(&text), STR("\n"));
	report_text(r, "cat", sb_str(r->output.show.escape ? &shown : &text));
}

/* ---- print ---- */
/* print(@h, "p50, p99") */
static bool check_percentiles(struct sema *s, struct node *call, const struct map *m,
			      struct str list)
{
	struct node *n = call_arg(call, 1);

	const struct agg *agg = m->val ? agg_of(m->val) : NULL;

	if (m->val && !(agg && agg->buckets))
		return sema_fail(s, E_TYPE, n->loc,
				 "percentiles need a map of histograms (%s holds %s)", m->name.s,
				 type_namez(s->a, m->val));
	if (call_arg(call, 2))
		return sema_fail(s, E_ARITY, call_arg(call, 2)->loc,
				 "print() takes no argument after a list of percentiles");
	if (!percentiles_valid(list))
		return sema_fail(s, E_RANGE, n->loc,
				 "percentiles are written as in \"p50, p99.9\", from 0 to 100 with "
				 "at most 3 decimals");
	return true;
}

/* print(@m, top, div) */
static bool check_print_map(struct sema *s, struct node *call)
{
	const struct map *m = sema_map(call->a);
	const struct agg *agg = m->val ? agg_of(m->val) : NULL;
	struct str list;
	i64 n;

	if (call_arg(call, 1) && node_str(call_arg(call, 1), &list))
		return check_percentiles(s, call, m, list);
	for (u32 i = 1; i < call_nargs(call); i++) {
		if (!builtin_lit(s, call, i, &n))
			return false;
		if (n < 0)
			return sema_fail(s, E_RANGE, call_arg(call, i)->loc,
					 "print() %s must not be negative (%lld provided)",
					 i == 1 ? "top" : "div", n);
	}
	if (call_nargs(call) > 1 && agg && agg->parts)
		diag_add(s->ds, W_UNUSED, call->loc,
			 "print()'s top and div arguments are ignored when used on stats() maps.");
	if (s->loop)
		diag_add(s->ds, W_LATER, call->loc,
			 "print() of a map in a loop: the loop has gone on, and may have changed "
			 "the map, when it is printed");
	return true;
}

static struct ref lower_print_map(struct lower *l, struct node *call, struct mem dst)
{
	struct schema *sc = lower_schema(l, call->fn, call->loc);

	(void)dst;
	sc->map = sema_map(call->a);
	sc->last = probe_last_method(l->pt->type)->phase == PROG_END;
	if (!call_arg(call, 1) || !node_str(call_arg(call, 1), &sc->fmt))
		for (u32 i = 1; i < call_nargs(call); i++)
			node_int(call_arg(call, i), &sc->n[i - 1]);
	lower_record(l, call, NULL, sc);
	return REF_NONE;
}

static void handle_print_map(struct reporter *r, const struct schema *sc, const struct value *v,
			     u32 n, u64 ts)
{
	(void)v, (void)n, (void)ts;
	if (sc->fmt.n)
		report_print_percentiles(r, sc->map, sc->fmt);
	else
		report_print_map(r, sc->map, (u32)sc->n[0], (u64)sc->n[1], false);
}

static void handle_print(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			 u64 ts)
{
	(void)sc;
	assert(n == 1);
	report_put(r,
		   &(struct item){
			   .kind = I_VALUE, .ts = ts, .text.own = r->records.own, .text.val = v});
}

/* ---- join ---- */
enum {
	JOIN_STRINGS = 16,
	JOIN_STRING = 1024, /* bytes of one, with its NUL */
	JOIN_SEP = 16,
	JOIN_ROOM = 4096, /* no further string is begun behind this */
	JOIN_SIZE = JOIN_ROOM + JOIN_STRING + JOIN_SEP,
};

static struct str join_sep(const struct node *call)
{
	struct str sep = STR(" ");

	if (call_arg(call, 1))
		node_str(call_arg(call, 1), &sep);
	return sep;
}

struct join {
	struct lower *l;
	struct ref base, at; /* start; variable: bytes that are there */
	struct str sep;
	enum space space;
	struct blk *done;
};

/* Append the text at address p, behind a separator; to done when it is NULL, cannot be read or
 * there is no room. */
static void join_one(const struct join *j, struct ref p, struct str sep)
{
	struct fn *f = j->l->f;
	struct blk *some = ir_blk(f), *room = ir_blk(f), *read = ir_blk(f), *next = ir_blk(f),
		   *bad = ir_blk(f);
	struct ref to, n;

	ir_br(f, O_EQ, p, ir_con(f, 0), j->done, some);
	ir_at(f, some);
	ir_br(f, O_UGT, ir_get(f, j->at), ir_con(f, JOIN_ROOM), j->done, room);
	ir_at(f, room);
	to = ir_op2(f, O_ADD, j->base, ir_get(f, j->at));
	for (u32 i = 0; i < sep.n; i++)
		ir_store(f, 1, to, (i32)i, ir_con(f, (u8)sep.s[i]));
	n = lower_try_read(j->l, &(struct try_read){.space = j->space,
						    .str = true,
						    .dst = ir_addi(f, to, sep.n),
						    .size = ir_con(f, JOIN_STRING),
						    .most = JOIN_STRING,
						    .addr = p,
						    .failed = bad});
	ir_jmp(f, read);
	ir_at(f, bad);
	for (u32 i = 0; i < sep.n; i++)
		ir_store(f, 1, to, (i32)i, ir_con(f, 0));
	ir_jmp(f, j->done);
	ir_at(f, read);
	ir_br(f, O_SGT, n, ir_con(f, JOIN_STRING), j->done,
	      next); /* old kernels do not know the helper's range */
	ir_at(f, next);
	ir_set(f, j->at, ir_addi(f, ir_op2(f, O_ADD, ir_get(f, j->at), n), (i64)sep.n - 1));
}

/* The strings of a NULL-terminated array of pointers, one after the other, into dst:
 * string[JOIN_SIZE]. */
static struct ref lower_joined(struct lower *l, struct node *call, struct mem dst)
{
	struct node *argv = call_arg(call, 0);
	enum space space = builtin_space(l, argv->type);
	struct fn *f = l->f;
	struct join j = {.l = l, .space = space, .sep = join_sep(call)};
	struct ref p = lower_value(l, argv);

	j.base = lower_addr(l, dst);
	j.at = ir_var(f);
	j.done = ir_blk(f);
	ir_set(f, j.at, ir_con(f, 0));
	for (u32 i = 0; i < JOIN_STRINGS; i++)
		join_one(&j, lower_read_scalar(l, &type_u64, p, (i32)(8 * i), space),
			 i ? j.sep : STR(""));
	ir_jmp(f, j.done);
	ir_at(f, j.done);
	ir_store(f, 1, ir_op2(f, O_ADD, j.base, ir_get(f, j.at)), 0, ir_con(f, 0));
	if (dst.tail)
		*dst.tail = ir_addi(f, ir_get(f, j.at), 1);
	return REF_NONE;
}

/* The record's one field: a call that lowers to the joined text. */
static struct ref lower_join(struct lower *l, struct node *call, struct mem dst)
{
	static const struct builtin joined = {.sig = "auto join(any argv)", .lower = lower_joined};
	struct node *text = node_new(l->c->arena, N_CALL, call->loc);
	struct schema *sc = lower_schema(l, call->fn, call->loc);

	(void)dst;
	text->name = call->name;
	text->a = call->a;
	text->type = type_string(l->c->arena, JOIN_SIZE);
	text->fn = &joined;
	sc->fmt = join_sep(call);
	lower_record(l, call, text, sc);
	return REF_NONE;
}

static bool check_join(struct sema *s, struct node *call)
{
	struct node *argv = call_arg(call, 0);
	struct str sep;

	if (!builtin_is_addr(argv->type))
		return sema_fail(s, E_TYPE, argv->loc,
				 "join() only supports integer or pointer arguments (%s provided)",
				 builtin_kind(argv->type));
	if (!call_arg(call, 1))
		return true;
	if (!builtin_text(s, call, 1, &sep))
		return false;
	if (sep.n > JOIN_SEP)
		return sema_fail(s, E_LIMIT, call_arg(call, 1)->loc,
				 "join() separator must not be longer than %d bytes", JOIN_SEP);
	return true;
}

static void handle_join(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			u64 ts)
{
	AUTO_SB shown = {0};

	(void)ts;
	assert(n == 1);
	if (r->output.show.escape)
		put_visible(&shown, v[0].str, sc->fmt);
	report_line(r, "join", r->output.show.escape ? sb_str(&shown) : v[0].str);
}

/* ---- debugf ---- */
enum { MAX_DEBUG_ARGS = 3 };

static bool check_debugf(struct sema *s, struct node *call)
{
	struct str fmt, lit;
	struct conv c;
	u32 at = 0;

	if (!check_format(s, call) || !builtin_text(s, call, 0, &fmt))
		return false;
	if (call_nargs(call) - 1 > MAX_DEBUG_ARGS)
		return sema_fail(s, E_ARITY, call->loc,
				 "debugf() takes at most %d values (%u provided)", MAX_DEBUG_ARGS,
				 call_nargs(call) - 1);
	while (conv_next(fmt, &at, &lit, &c))
		if (c.conv[1] || !memchr("duxps", c.conv[0], 5))
			return sema_fail(
				s, E_FORMAT, call_arg(call, 0)->loc,
				"debugf() understands only the conversions d u x p s, not %.*s",
				STRF(c.text));
	diag_add(s->ds, W_LATER, call->loc,
		 "debugf() is meant for debugging: its text goes to the kernel's trace_pipe, which "
		 "all tracers share (bpf_trace_printk)");
	return true;
}

/* bpf_trace_printk: the text goes to the kernel's trace_pipe. */
static struct ref lower_debugf(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	struct ref arg[2 + MAX_DEBUG_ARGS];
	struct str fmt = {0};
	struct mem m;
	u32 n = 2;

	(void)dst;
	node_str(call_arg(call, 0), &fmt);
	m = lower_tmp(l, fmt.n + 1);
	lower_bytes(l, m, arena_strz(l->c->arena, fmt), fmt.n + 1);
	arg[0] = lower_addr(l, m);
	arg[1] = ir_con(f, fmt.n + 1);
	for (struct node *a = call_arg(call, 1); a; a = a->next)
		arg[n++] = type_is_scalar(a->type) ? lower_value(l, a)
						   : lower_addr(l, lower_mem(l, a));
	ir_call(f, BPF_FUNC_trace_printk, n, arg);
	return REF_NONE;
}

const struct builtin builtin_print[] = {
	{"void printf(fmt format, ...)", lower_format, B_ASYNC | B_SEQ, .check = check_format,
	 .handle = handle_printf, .doc = "Prints text with values in it, in the manner of C."},
	{"auto strf(fmt format, ...)", lower_strf, .type = type_strf, .check = check_format,
	 .doc = "The text that printf would print, as a value. It is formatted when it is printed, "
		"so it cannot be compared."},
	{"void errorf(fmt format, ...)", lower_format, B_ASYNC | B_SAYS, .check = check_format,
	 .handle = handle_errorf,
	 .doc = "Like printf, as an error message with the place in the script."},
	{"void warnf(fmt format, ...)", lower_format, B_ASYNC | B_SAYS, .check = check_format,
	 .handle = handle_warnf, .doc = "Like printf, as a warning with the place in the script."},
	{"void lossf(fmt format, ...)", lower_format, B_ASYNC | B_SAYS, .check = check_loss,
	 .handle = handle_lossf,
	 .doc = "Like printf, to report what is missing from the results. The first value is the "
		"number of losses; 0 is not reported."},
	{"void debugf(fmt format, ...)", lower_debugf, .check = check_debugf,
	 .doc = "Writes text with at most three values into the kernel's trace_pipe (conversions d "
		"u x p s)."},
	{"void print(map m, [any top_or_percentiles], [lit div])", lower_print_map,
	 B_ASYNC | B_TIMED, .check = check_print_map, .handle = handle_print_map,
	 .doc = "Prints a map, sorted: the top largest elements of it (0: all), values divided by "
		"div. Of histograms also percentiles: print(@h, \"p50, p99.9\")."},
	{"void print(show value)", NULL, B_ASYNC, .handle = handle_print,
	 .doc = "Prints a value and a newline."},
	{"void cat(fmt path, ...)", lower_format, B_ASYNC | B_READS, .check = check_format,
	 .handle = handle_cat,
	 .doc = "Prints a file (at most max_cat_bytes of it). The path may have values in it, as "
		"with printf."},
	{"void join(any argv, [text separator])", lower_join, B_ASYNC, .check = check_join,
	 .handle = handle_join,
	 .doc = "Prints the strings of a NULL-terminated array of char pointers (at most 16 "
		"strings of 1023 bytes, about "
		"4 KiB in all), with a space or the separator between them."},
	{0},
};
