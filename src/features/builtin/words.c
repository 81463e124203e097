/* words.c - the words to which a probe gives their meaning and type. */
#include "builtin/common.h"
#include "sema/check.h"

static const struct type *only_in(struct sema *s, const struct node *n, const char *where)
{
	sema_fail(s, E_CONTEXT, n->loc, "The %.*s builtin can only be used with %s", STRF(n->name),
		  where);
	return s->final ? &type_error : NULL;
}

/* ---- args ---- */

static const struct type *type_args(struct sema *s, struct node *n)
{
	if (s->point->args)
		return with_space(s, s->point->args, s->point->args_space);
	if (s->v->points->type->types) {
		const char *why = s->point->no_args;
		sema_fail(s, E_CONTEXT, n->loc, "this probe's arguments are not known%s%s",
			  why ? ": " : "", why ? why : "");
		return &type_error;
	}
	return only_in(s, n,
		       "'tracepoint', 'rawtracepoint', 'fentry', 'fexit' and 'uprobe' probes");
}

/* Of probes whose context it is; of others only members are asked for. */
static struct place place_args(struct lower *l, struct node *n)
{
	(void)n;
	assert(l->pt->args_space == AS_CTX);
	return (struct place){.base = ir_ctx(l->f), .space = AS_CTX};
}

/* ---- arg0 and its kin ---- */

/* How many there are; *known: the probe says so, not the calling convention. */
static u32 arg_count(struct sema *s, bool *known)
{
	u32 flags = point_flags(s->v->points);
	*known = s->point->narg || !(flags & (METHOD_REGS | METHOD_BY_NUMBER)) || s->point->priv;
	return *known ? s->point->narg : s->c->host->arch->narg;
}

static const struct type *type_argn(struct sema *s, struct node *n)
{
	u32 flags = point_flags(s->v->points), nf = 0;
	bool known;

	str_u64(str_from(n->name, 3), &n->num);
	if (!(flags & PROBE_ARGN))
		return only_in(s, n, "'kprobes', 'uprobes' and 'usdt' probes");
	u32 most = arg_count(s, &known);
	if (n->num >= most) {
		if (known)
			sema_fail(s, E_RANGE, n->loc, "this probe has %u argument%s", most,
				  most == 1 ? "" : "s");
		else
			sema_fail(s, E_RANGE, n->loc, "%s doesn't support arg%llu",
				  s->c->host->arch->name, n->num);
		return s->final ? &type_error : NULL;
	}
	bool typed = !(flags & PROBE_RAW_ARGN) && s->point->args && s->point->args_space != AS_CTX;
	const struct field *f = typed ? type_fields(s->point->args, &nf) : NULL;
	if (n->num >= nf)
		return &type_u64;
	f += n->num;
	if (f->type->kind != T_NONE)
		return value_type(s, f->type, s->point->args_space, false);
	sema_fail(s, E_CONTEXT, n->loc,
		  "arg%llu of %.*s is %.*s, which programs in the kernel cannot read", n->num,
		  STRF(s->point->text), STRF(f->type->name));
	return s->final ? &type_error : NULL;
}

static struct ref lower_argn(struct lower *l, struct node *n, struct mem dst)
{
	struct ref v = lower_arg(l, (i32)n->num);
	if (n->type->kind != T_FLOAT)
		return lower_convert(l, v, &type_u64, n->type);
	lower_store(l, n->type->size, dst, v);
	return (struct ref){0};
}

/* ---- sarg0 and its kin: words on the stack behind the return address ---- */

enum { MAX_STACK_WORDS = 256 };

static bool check_sarg(struct sema *s, struct node *n)
{
	u64 k = 0;

	str_u64(str_from(n->name, 4), &k);
	if (s->u->config.compat && k < MAX_STACK_WORDS)
		return true;
	diag_hint(s->ds,
		  diag_add(s->ds, E_UNKNOWN_NAME, n->loc, "Unknown identifier: '%.*s'",
			   STRF(n->name)),
		  "a word of the stack is *(uint64 *)(reg(\"sp\") + %llu)", 8 * (k + 1));
	return false;
}

static struct ref lower_sarg(struct lower *l, struct node *n, struct mem dst)
{
	const struct arch_reg *sp = arch_reg(&l->c->host->arch->reg, STR("sp"));
	u64 k = 0;

	(void)dst;
	str_u64(str_from(n->name, 4), &k);
	assert(sp);
	return lower_read_scalar(l, &type_u64, ir_load(l->f, 8, lower_ctx(l), sp->off),
				 (i32)(8 * (k + 1)), builtin_stack_space(l));
}

/* ---- retval ---- */

static const struct type *type_retval(struct sema *s, struct node *n)
{
	bool user = point_flags(s->v->points) & PROBE_USER;

	if (!(point_flags(s->v->points) & PROBE_RETVAL))
		return only_in(s, n, "'kretprobe', 'uretprobe' and 'fexit' probes");
	if (s->point->no_ret) {
		sema_fail(s, E_CONTEXT, n->loc, "retval %s", s->point->no_ret);
		return s->final ? &type_error : NULL;
	}
	if (!s->point->ret)
		return &type_u64;
	return value_type(s, s->point->ret, user ? AS_USER : AS_KERNEL, false);
}

static struct ref lower_retval(struct lower *l, struct node *n, struct mem dst)
{
	(void)dst;
	return lower_arg_value(l, ARG_RET, n->type, false);
}

static struct place place_retval(struct lower *l, struct node *n)
{
	return lower_arg_place(l, ARG_RET, n->type);
}

/* ---- retreg ---- */

static bool check_retreg(struct sema *s, struct node *n)
{
	u32 flags = point_flags(s->v->points);

	if ((flags & (PROBE_RETVAL | PROBE_USER)) == (PROBE_RETVAL | PROBE_USER))
		return true;
	only_in(s, n, "'uretprobe' probes");
	return false;
}

static struct ref lower_retreg(struct lower *l, struct node *n, struct mem dst)
{
	(void)n, (void)dst;
	return lower_arg(l, ARG_RET);
}

/* ---- errno ---- */

/* Events of system calls that end have it among their arguments. */
static const struct field *result_field(const struct point *p, u32 *index)
{
	u32 n = 0;
	const struct field *f = p->args ? type_fields(p->args, &n) : NULL;

	if (!str_is(p->target, "syscalls") && !str_is(p->target, "raw_syscalls"))
		n = 0;
	for (*index = 0; *index < n; ++*index)
		if (str_is(f[*index].name, "ret") || str_is(f[*index].name, "args.ret"))
			return &f[*index];
	return NULL;
}

static const struct type *type_errno(struct sema *s, struct node *n)
{
	u32 i;

	for (const struct point *p = s->v->points; p; p = p->next) {
		bool returns = (point_flags(p) & (PROBE_RETVAL | PROBE_KERNEL)) ==
			       (PROBE_RETVAL | PROBE_KERNEL);
		if (!returns && !result_field(s->point, &i))
			return only_in(s, n,
				       "'kretprobe', 'fexit' and 'tracepoint:syscalls:sys_exit_*' "
				       "probes");
	}
	return type_int(4, true);
}

/* What a function returned of which no type is known: an int in the lower half, the upper is zeros or
 * its sign; or an address, where it is neither. 64 bits in which an error is negative. */
static struct ref untyped_result(struct lower *l, struct ref v)
{
	struct fn *f = l->f;
	struct ref r = ir_var(f), upper = ir_op2(f, O_SHR, v, ir_con(f, 32));
	struct blk *narrow = ir_blk(f), *done = ir_blk(f);

	ir_set(f, r, v);
	ir_br(f, O_EQ, upper, ir_con(f, 0), narrow, done);
	ir_at(f, narrow);
	ir_set(f, r, ir_op1(f, O_EXTS, 4, v));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, r);
}

static struct ref result(struct lower *l)
{
	const struct point *p = l->pt;
	u32 i;

	if (point_flags(p) & PROBE_RETVAL) {
		struct ref v = lower_arg(l, ARG_RET);
		if (!p->ret)
			return untyped_result(l, v);
		return p->ret->size == 4 ? ir_op1(l->f, O_EXTS, 4, v) : v;
	}
	const struct field *r = result_field(p, &i);
	if (p->args_space != AS_CTX)
		return lower_arg_value(l, (i32)i, r->type, false);
	return lower_read_scalar(l, r->type, lower_ctx(l), (i32)(r->bit_off / 8), AS_CTX);
}

/* -4095 to -1 as its positive number. */
static struct ref lower_errno(struct lower *l, struct node *n, struct mem dst)
{
	enum { MOST = 4095 };
	struct fn *f = l->f;
	struct ref v = ir_op2(f, O_SUB, ir_con(f, 0), result(l)), error = ir_var(f);
	struct blk *failed = ir_blk(f), *done = ir_blk(f);

	(void)n, (void)dst;
	ir_set(f, error, ir_con(f, 0));
	ir_br(f, O_ULE, v, ir_con(f, MOST), failed, done);
	ir_at(f, failed);
	ir_set(f, error, v);
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, error);
}

/* ---- func ---- */

static const struct type *type_func_row(struct sema *s, struct node *n)
{
	u32 flags = point_flags(s->v->points);

	if (sema_func_is_text(s->c->host, s->point)) {
		node_set_str(s, n, s->point->name);
		return n->type;
	}
	if (!(flags & PROBE_FUNC))
		return only_in(s, n, "'kprobes', 'uprobes', 'fentry' and 'fexit' probes");
	return flags & PROBE_USER ? &type_usym : &type_ksym;
}

/* Of the kernel an address; of a program the address and its process. */
static struct ref lower_func(struct lower *l, struct node *n, struct mem dst)
{
	if (type_is_scalar(n->type))
		return lower_arg(l, ARG_FUNC);
	lower_store(l, 8, dst, lower_arg(l, ARG_FUNC));
	struct ref id = lower_helper0(l, BPF_FUNC_get_current_pid_tgid);
	lower_store(l, 8, mem_at(dst, 8), ir_op2(l->f, O_SHR, id, ir_con(l->f, 32)));
	return REF_NONE;
}

/* ---- probe, probetype ---- */

static const struct type *type_probe(struct sema *s, struct node *n)
{
	struct type *t = arena_new(s->a, struct type);

	(void)n;
	*t = (struct type){.kind = T_PROBE, .size = 8, .align = 8, .count = 1};
	for (const struct point *p = s->v->points; p; p = p->next)
		t->count = MAX(t->count, p->text.n + 1);
	return t;
}

/* Which of the program's points fired, as an index into unit.probe_name. */
static struct ref lower_probe(struct lower *l, struct node *n, struct mem dst)
{
	(void)n, (void)dst;
	if (!l->pt->next || !l->pt->method->which)
		return ir_con(l->f, l->pt->id);
	if (l->f != l->main)
		return lower_load(l, 8, false, lower_shared(l, SHARED_WHICH));
	return l->which;
}

static const struct type *type_probetype(struct sema *s, struct node *n)
{
	const struct probe_type *k = s->v->points->type;

	node_set_str(s, n, k->flags & PROBE_ONCE ? STR("special") : str_z(k->name));
	return n->type;
}

const struct builtin builtin_words[] = {
	{"auto args", .flags = B_OWN, .role = ROLE_ARGS, .asks = USE_ARGS, .place = place_args,
	 .type = type_args,
	 .doc = "The probe's arguments as a record: args.NAME is one argument. `sonde -lv PROBE` "
		"shows names and types."},
	{"auto argN", lower_argn, .flags = B_OWN | B_NUMBERED, .asks = USE_ARGN, .type = type_argn,
	 .doc = "One argument of the probe by its number, from arg0 on."},
	{"u64 sargN", lower_sarg, .flags = B_OLD | B_NUMBERED, .asks = USE_REGS | USE_CTX,
	 .where = METHOD_REGS | METHOD_EVENT, .check = check_sarg,
	 .doc = "One word of the stack behind the return address; at compatibility level 0.17."},
	{"auto retval", lower_retval, .asks = USE_RETVAL, .place = place_retval,
	 .type = type_retval,
	 .doc = "The return value of the function, in kretprobe, uretprobe and fexit."},
	{"u64 retreg", lower_retreg, .check = check_retreg,
	 .doc = "The return register when a function of a program returns (uretprobe), without the "
		"type that retval gets from debug information."},
	{"auto errno", lower_errno, .asks = USE_RETVAL | USE_ARGS, .type = type_errno,
	 .doc = "Error number with which the kernel function or system call ended (strerror() has "
		"its text); 0 if it succeeded."},
	{"auto func", lower_func, .asks = USE_FUNC, .type = type_func_row,
	 .doc = "The probed function, as a symbol."},
	{"auto probe", lower_probe, .asks = USE_PROBE, .type = type_probe,
	 .doc = "The name of the probe that fired, without wildcards."},
	{"auto probetype", .flags = B_CONST, .type = type_probetype,
	 .doc = "The kind of the probe, as a string: kprobe, tracepoint ..."},
	{"auto name", .flags = B_OLD, .today = "probe", .doc = "Old spelling of probe."},
	{"auto stack([name mode], [name limit])", .flags = B_OLD, .today = "kstack",
	 .doc = "Old spelling of kstack."},
	{0},
};
