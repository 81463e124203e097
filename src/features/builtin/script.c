/* script.c - what a script says about itself: arch assert static_assert fail config container_of. */
#include "builtin/common.h"
#include "core/printf.h"
#include "report/report.h"

/* ---- assertions ---- */
static bool check_assert(struct sema *s, struct node *call)
{
	const struct type *t = call_arg(call, 0)->type;
	struct str msg;

	if (!builtin_is_addr(t))
		return sema_fail(s, E_COND, call_arg(call, 0)->loc, "Invalid condition: %s",
				 builtin_kind(t));
	return builtin_text(s, call, 1, &msg);
}

static struct ref lower_assert(struct lower *l, struct node *call, struct mem dst)
{
	struct schema *sc = lower_schema(l, call->fn, call->loc);
	struct fn *f = l->f;
	struct blk *failed = ir_blk(f), *holds = ir_blk(f);
	struct lower_cache *kept;

	(void)dst;
	node_str(call_arg(call, 1), &sc->fmt);
	failed->unlikely = true;
	lower_branch(l, call_arg(call, 0), holds, failed);
	ir_at(f, failed);
	kept = lower_may_skip_begin(l);
	lower_record(l, call, NULL, sc);
	lower_may_skip_end(l, kept);
	lower_end_probe(l);
	ir_at(f, holds);
	return REF_NONE;
}

static void handle_assert(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			  u64 ts)
{
	AUTO_SB text = {0};

	(void)v, (void)n, (void)ts;
	sb_fmt(&text, "assert failed: %.*s", STRF(sc->fmt));
	report_said(r, false, sc->loc, sb_str(&text));
	report_exit(r, 1);
}

static const struct type *type_static_assert(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_none;
}

static bool check_static_assert(struct sema *s, struct node *call)
{
	struct node *cond = call_arg(call, 0);
	struct str msg;
	i64 holds;

	if (!builtin_text(s, call, 1, &msg))
		return false;
	if (!node_int(cond, &holds))
		return sema_fail(s, E_LITERAL, cond->loc,
				 "static_assert() needs a condition that is known when the script "
				 "is compiled");
	return holds || sema_fail(s, E_ASSERT, call->loc, "%.*s", STRF(msg));
}

static struct ref lower_nothing(struct lower *l, struct node *call, struct mem dst)
{
	(void)l, (void)call, (void)dst;
	return REF_NONE;
}

/* ---- fail ---- */
static bool literal_value(const struct node *n, struct value *ret)
{
	i64 num;

	*ret = (struct value){.kind = V_STR};
	if (node_str(n, &ret->str))
		return true;
	if (!node_int(n, &num))
		return false;
	*ret = (struct value){.kind = n->kind == N_BOOL    ? V_BOOL
				      : n->type->is_signed ? V_INT
							   : V_UINT,
			      .size = 8,
			      .i = num};
	return true;
}

/* A call that is still there when types are known: no `if comptime` has taken it away. */
static bool check_fail(struct sema *s, struct node *call)
{
	enum { MAX_VALUES = 128 };
	struct value v[MAX_VALUES];
	AUTO_SB text = {0};
	struct str fmt;
	u32 n = 0;

	if (!builtin_text(s, call, 0, &fmt) || !sema_check_format(s, call, fmt, 1))
		return false;
	for (struct node *arg = call_arg(call, 1); arg && n < MAX_VALUES; arg = arg->next)
		if (!literal_value(arg, &v[n++]))
			return sema_fail(s, E_LITERAL, arg->loc,
					 "fail() can only print values that are known when the "
					 "script is compiled");
	value_printf(&text, fmt, v, n, &(struct show){0});
	return sema_fail(s, E_ASSERT, diags_said_at(s->ds, call->loc), "%s", text.s ? text.s : "");
}

/* ---- config ---- */
static struct node *leaf(struct sema *s, const struct node *at, const char *name)
{
	struct node *f = node_new(s->a, N_RFIELD, at->loc);

	f->name = str_z(name);
	f->a = node_new(s->a, N_NUM, at->loc);
	return f;
}

struct fields {
	struct sema *s;
	const struct node *at;
	struct node *first, **end;
};

static void add_num(struct fields *f, const char *name, u64 v, const struct type *t)
{
	struct node *n = leaf(f->s, f->at, name);

	node_set_num(n->a, v, t);
	*f->end = n;
	f->end = &n->next;
}

static void add_str(struct fields *f, const char *name, struct str text)
{
	struct node *n = leaf(f->s, f->at, name);

	node_set_str(f->s, n->a, text);
	*f->end = n;
	f->end = &n->next;
}

static void add_settings(struct fields *f, const struct config *c)
{
	for (const struct setting *s = settings; s->name; s++) {
		if (s->kind == SETTING_YES)
			add_num(f, s->name, setting_number(c, s), &type_bool);
		else if (s->kind == SETTING_NUMBER)
			add_num(f, s->name, setting_number(c, s), &type_u64);
		else
			add_str(f, s->name, setting_text(c, s));
	}
}

/* The name becomes a record of literals. */
static const struct type *type_config(struct sema *s, struct node *call)
{
	enum { MAX_SETTINGS = 32 };
	const struct type *elem[MAX_SETTINGS];
	struct str names[MAX_SETTINGS];
	struct fields f = {.s = s, .at = call, .end = &f.first};
	u32 n = 0;

	add_settings(&f, &s->u->config);
	for (struct node *i = f.first; i; i = i->next, n++) {
		assert(n < MAX_SETTINGS);
		elem[n] = i->a->type;
		names[n] = i->name;
	}
	call->kind = N_RECORD;
	call->a = f.first;
	call->fn = NULL;
	call->type = type_tuple(s->a, n, elem, names);
	return call->type;
}

/* ---- container_of ---- */

/* The member as written, a.b for members of members; NULL path: not a list of names. */
static bool find_member(const struct node *path, const struct type *t, u64 *off,
			const struct type **ret)
{
	struct field f;

	if (path->kind == N_MEMBER) {
		if (!find_member(path->a, t, off, &t))
			return false;
	} else if (path->kind != N_NAME) {
		return false;
	}
	if (!type_is_record(t) || !type_field(t, path->name, &f) || f.bit_len)
		return false;
	*off += f.bit_off / 8;
	*ret = f.type;
	return true;
}

static const struct type *type_container(struct sema *s, struct node *call)
{
	const struct type *p = call_arg(call, 0)->type, *t = call_arg(call, 1)->type;

	if (!t || !p)
		return NULL;
	return type_ptr(s->a, t,
			p->kind == T_PTR && p->space != AS_BTF ? (enum space)p->space : AS_KERNEL);
}

static bool check_container(struct sema *s, struct node *call)
{
	const struct type *p = call_arg(call, 0)->type, *t = call_arg(call, 1)->type, *m;
	struct node *member = call_arg(call, 2);
	u64 off = 0;

	if (p->kind != T_PTR)
		return sema_fail(s, E_TYPE, call_arg(call, 0)->loc,
				 "container_of() expects a pointer (%s provided)",
				 type_namez(s->a, p));
	if (!type_is_record(t))
		return sema_fail(s, E_TYPE, call_arg(call, 1)->loc,
				 "container_of() expects the type of a struct (%s provided)",
				 type_namez(s->a, t));
	if (!find_member(member, t, &off, &m))
		return sema_fail(s, E_UNKNOWN_FIELD, member->loc,
				 "%s has no such member of whole bytes", type_namez(s->a, t));
	call->num = off;
	return true;
}

static struct ref lower_container(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	return ir_addi(l->f, lower_value(l, call_arg(call, 0)), -(i64)call->num);
}

/* ---- what bpftrace's library asks ---- */

static const struct type *type_safe_mode(struct sema *s, struct node *n)
{
	node_set_num(n, !s->u->config.unsafe, &type_bool);
	return n->type;
}

static const struct type *type_arch(struct sema *s, struct node *n)
{
	node_set_str(s, n, str_z(s->c->host->arch->name));
	return n->type;
}

const struct builtin builtin_script[] = {
	{"auto __builtin_safe_mode", .flags = B_CONST | B_OLD, .type = type_safe_mode,
	 .doc = "Is the script run without --unsafe?"},
	{"auto __builtin_arch", .flags = B_CONST | B_OLD, .type = type_arch,
	 .doc = "Name of the machine's architecture."},
	{"auto arch", .flags = B_CONST, .type = type_arch,
	 .doc = "The machine's architecture, as a literal: \"x86_64\", \"aarch64\"."},
	{"void assert(any cond, text message)", lower_assert, B_ASYNC | B_SAYS,
	 .check = check_assert, .handle = handle_assert,
	 .doc = "Ends the run with an error and exit status 1 if the condition is false."},
	{"auto static_assert(any cond, text message)", lower_nothing, .type = type_static_assert,
	 .check = check_static_assert,
	 .doc = "Stops compilation with an error if the condition is false. The condition must be "
		"known when the script is compiled."},
	{"void fail(fmt message, ...)", lower_nothing, .check = check_fail,
	 .doc = "Stops compilation with an error if the call is reached, in branches of if "
		"comptime."},
	{"auto config", .flags = B_CONST, .type = type_config,
	 .doc = "The settings of this run as a record: config.max_strlen."},
	{"auto container_of(any ptr, type type, name member)", lower_container,
	 .type = type_container, .check = check_container,
	 .doc = "The struct that contains the member at this address."},
	{0},
};
