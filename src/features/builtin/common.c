/* common.c - helpers that several tables of builtins use. */
#include "builtin/common.h"

bool builtin_offset_of(struct types *k, const char *of, const char *path, u32 *ret)
{
	struct str rest = str_z(path), name;
	const struct type *t = btf_types_find(k, str_z(of), T_STRUCT);
	struct field m;
	*ret = 0;
	while (rest.n && str_cut(&rest, '.', &name)) {
		if (!t || !type_field(t, name, &m))
			return false;
		*ret += m.bit_off / 8;
		t = m.type;
	}
	return true;
}

enum space builtin_space(struct lower *l, const struct type *t)
{
	if (t->kind == T_PTR && t->space != AS_NONE)
		return t->space;
	return lower_space(l);
}

enum space builtin_stack_space(struct lower *l)
{
	u32 f = point_flags(l->pt);
	return f & PROBE_USER ? AS_USER : f & PROBE_KERNEL ? AS_KERNEL : AS_NONE;
}

bool builtin_is_addr(const struct type *t)
{
	return type_is_int(t) || t->kind == T_PTR || t->kind == T_BOOL || t->kind == T_KSYM ||
	       type_is_error(t);
}

const char *builtin_kind(const struct type *t)
{
	return t ? type_kind_name(t) : "none";
}

bool builtin_text(struct sema *s, struct node *call, u32 i, struct str *ret)
{
	struct node *n = call_arg(call, i);

	if (n && node_str(n, ret))
		return true;
	return sema_fail(s, E_LITERAL, n ? n->loc : call->loc,
			 "%.*s() expects a string literal (%s provided)", STRF(call->name),
			 builtin_kind(n ? n->type : NULL));
}

/* What tools ask for are variables, which no kernel that tells of them lacks. */
bool builtin_no_symbol(struct sema *s, struct loc loc, struct str name)
{
	if (diags_fixed(s->ds, loc))
		return sema_fail(
			s, E_LACKS, loc,
			"the address of the kernel variable %.*s is unknown: it does not exist, or "
			"the kernel hides it (no CONFIG_KALLSYMS_ALL, or kernel.kptr_restrict)",
			STRF(name));
	return sema_fail(s, E_UNKNOWN_NAME, loc, "Failed to resolve kernel symbol: %.*s",
			 STRF(name));
}

void builtin_keeps_address(struct compile *c)
{
	if (!c->unit->boot)
		c->unit->boot = host_boot(c->host);
}

bool builtin_lit(struct sema *s, struct node *call, u32 i, i64 *ret)
{
	struct node *n = call_arg(call, i);

	if (n && node_int(n, ret))
		return true;
	return sema_fail(s, E_LITERAL, n ? n->loc : call->loc,
			 "%.*s() expects an integer literal (%s provided)", STRF(call->name),
			 builtin_kind(n ? n->type : NULL));
}

bool builtin_arg_is(const struct node *call, u32 i, const char *name)
{
	struct node *n = call_arg(call, i);

	return n && n->kind == N_NAME && str_is(n->name, name);
}

struct ref builtin_send(struct lower *l, struct node *call, u32 first, struct str fmt)
{
	struct schema *sc = lower_schema(l, call->fn, call->loc);

	sc->fmt = fmt;
	lower_record(l, call, call_arg(call, first), sc);
	return REF_NONE;
}
