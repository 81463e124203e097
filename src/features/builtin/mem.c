/* mem.c - addresses and what stands at them: kptr kaddr reg ksym usym caller in_function bswap hash
 * ntop pton macaddr cgroup_path. */
#include "builtin/common.h"
#include "kern/tracefs.h"
#include "proc/cgroup.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include <arpa/inet.h>
#include <sys/socket.h>

/* ---- pointers ---- */
static const struct type *with_space(struct sema *s, struct node *call, enum space space)
{
	const struct type *t = call_arg(call, 0)->type;

	if (t && t->kind == T_PTR)
		return type_copy_as(s->a, t, space);
	struct type *made = (struct type *)type_ptr(s->a, &type_none, space);
	made->flex = true; /* of a number: what is there is a number like it */
	return made;
}

static const struct type *type_kptr(struct sema *s, struct node *call)
{
	return with_space(s, call, AS_KERNEL);
}

static const struct type *type_uptr(struct sema *s, struct node *call)
{
	return with_space(s, call, AS_USER);
}

static bool check_addr(struct sema *s, struct node *call)
{
	const struct type *t = call_arg(call, 0)->type;

	if (builtin_is_addr(t))
		return true;
	return sema_fail(s, E_TYPE, call_arg(call, 0)->loc,
			 "%.*s() only supports integer or pointer arguments (%s provided)",
			 STRF(call->name), builtin_kind(t));
}

static struct ref lower_same(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	return lower_operand(l, call_arg(call, 0));
}

static const struct type *type_kaddr(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_u64;
}

static bool check_kaddr(struct sema *s, struct node *call)
{
	struct syms *syms;
	struct str name;
	bool found;
	u64 addr;

	if (!builtin_text(s, call, 0, &name))
		return false;
	found = str_starts(name, STR("0x")) && str_u64(name, &addr);
	if (!found) {
		syms_init(s->c->host, false, &syms);
		found = sym_kernel_addr(syms, name, &addr);
		syms_free(syms);
		builtin_keeps_address(s->c);
	}
	if (!found)
		return builtin_no_symbol(s, call_arg(call, 0)->loc, name);
	node_set_num(call, addr, &type_u64);
	return true;
}

/* Addresses that are error numbers: the last page. */
static struct ref lower_is_err(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	return ir_op2(l->f, O_UGE, lower_value(l, call_arg(call, 0)), ir_con(l->f, (u64)-4095));
}

/* ---- registers ---- */

static bool check_reg(struct sema *s, struct node *call)
{
	struct str name;

	if (!builtin_text(s, call, 0, &name))
		return false;
	const struct arch *a = s->c->host->arch;
	const struct arch_reg *r = arch_reg(&a->reg, name);
	if (!r)
		return sema_fail(s, E_UNKNOWN_NAME, call_arg(call, 0)->loc,
				 "'%.*s' is not a valid register on this architecture (%s)",
				 STRF(name), a->name);
	if (r->probes_only && s->v && (point_flags(s->v->points) & METHOD_EVENT))
		return sema_fail(s, E_CONTEXT, call_arg(call, 0)->loc,
				 "samples do not have the register '%.*s'", STRF(name));
	return true;
}

static struct ref lower_reg(struct lower *l, struct node *call, struct mem dst)
{
	const struct arch_reg *r;
	struct str name = {0};
	struct ref v;

	(void)dst;
	node_str(call_arg(call, 0), &name);
	r = arch_reg(&l->c->host->arch->reg, name);
	assert(r);
	v = ir_load(l->f, r->size, lower_ctx(l), r->off);
	return r->size < 8 ? ir_op1(l->f, O_EXTS, r->size, v) : v;
}

/* ---- symbols ---- */
static const struct type *type_ksym_row(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_ksym;
}

static const struct type *type_usym_row(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_usym;
}

static bool check_sym(struct sema *s, struct node *call)
{
	if (builtin_is_addr(call_arg(call, 0)->type))
		return true;
	return sema_fail(s, E_TYPE, call_arg(call, 0)->loc,
			 "%.*s() expects an integer or pointer argument (%s provided)",
			 STRF(call->name), builtin_kind(call_arg(call, 0)->type));
}

static struct ref lower_usym(struct lower *l, struct node *call, struct mem dst)
{
	struct ref addr = lower_value(l, call_arg(call, 0));
	u64 tag = l->c->host->arch->tag_bits;

	if (tag)
		addr = ir_op2(l->f, O_AND, addr, ir_con(l->f, ~tag));
	lower_store(l, 8, dst, addr);
	lower_store(l, 8, mem_at(dst, 8),
		    ir_op2(l->f, O_SHR, builtin_pid_tgid(l), ir_con(l->f, 32)));
	return REF_NONE;
}

/* ---- caller ---- */

/* Where a function begins: what called it is to be found at a set place. */
static bool at_entry(const struct point *p)
{
	u32 flags = point_flags(p);

	if ((flags & (PROBE_FUNC | METHOD_TYPED)) == (PROBE_FUNC | METHOD_TYPED))
		return true;
	if ((flags & (PROBE_FUNC | METHOD_REGS | PROBE_RETVAL)) != (PROBE_FUNC | METHOD_REGS))
		return false;
	return p->method->frames ? p->method->frames(p) == FRAMES_ENTRY
				 : !p->has_addr && !p->offset;
}

static const struct type *type_caller(struct sema *s, struct node *n)
{
	for (const struct point *p = s->v->points; p; p = p->next)
		if (!at_entry(p)) {
			sema_fail(s, E_CONTEXT, n->loc,
				  "The caller builtin can only be used where a function begins, in "
				  "'kprobe' and 'uprobe' probes, and in 'fentry' and 'fexit'");
			return s->final ? &type_error : NULL;
		}
	return point_flags(s->v->points) & PROBE_USER ? &type_usym : &type_ksym;
}

/* The return address: on top of the stack, in a register, or what the kernel finds. */
static struct ref lower_caller(struct lower *l, struct node *n, struct mem dst)
{
	const struct arch *a = l->c->host->arch;
	bool typed = point_flags(l->pt) & METHOD_TYPED;
	struct ref v = typed ? builtin_kernel_caller(l)
			     : ir_load(l->f, 8, lower_ctx(l), a->link >= 0 ? a->link : a->sp);

	if (!typed && a->link < 0)
		v = lower_read_scalar(l, &type_u64, v, 0, builtin_stack_space(l));
	if (type_is_scalar(n->type))
		return v;
	lower_store(l, 8, dst, lower_unsigned(l, l->f, v));
	lower_store(l, 8, mem_at(dst, 8),
		    ir_op2(l->f, O_SHR, builtin_pid_tgid(l), ir_con(l->f, 32)));
	return REF_NONE;
}

/* ---- in_function ---- */

enum { MOST_FUNCTIONS = 8192 }; /* a power of two: what is behind the last is never reached */

/* The functions whose names begin so. NULL: none. */
static struct map *functions_of(struct compile *c, struct str begin)
{
	const char *name = arena_fmt(c->arena, "functions of %.*s", STRF(begin));
	struct unit *u = c->unit;
	const struct place_range *found;
	struct place_range *v;
	struct map *m;
	u32 n;

	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_AUX && str_is(u->map[i]->name, name))
			return u->map[i];
	found = tracefs_ranges(c->host, begin, MOST_FUNCTIONS, &n);
	if (!n)
		return NULL;
	builtin_keeps_address(c);
	m = unit_map(c, MAP_AUX, name);
	m->val_size = sizeof(*v);
	while (m->val_size < n * sizeof(*v))
		m->val_size *= 2;
	v = arena_newn(c->arena, struct place_range, m->val_size / sizeof(*v));
	for (u32 i = 0; i < m->val_size / sizeof(*v); i++)
		v[i] = i < n ? found[i] : (struct place_range){.from = UINT64_MAX};
	m->init = v;
	return m;
}

static bool check_in_function(struct sema *s, struct node *call)
{
	const struct node *addr = call_arg(call, 0);
	struct str begin;
	u32 n;

	if (!builtin_text(s, call, 1, &begin))
		return false;
	if (!builtin_is_addr(addr->type) && addr->type->kind != T_KSYM)
		return sema_fail(s, E_TYPE, addr->loc,
				 "in_function() expects an address or a symbol of the kernel (%s "
				 "provided)",
				 builtin_kind(addr->type));
	tracefs_ranges(s->c->host, begin, MOST_FUNCTIONS, &n);
	if (!n && tracefs_symbols_hidden(s->c->host))
		return builtin_no_symbol(s, call_arg(call, 1)->loc, begin);
	if (!n)
		return sema_fail(s, E_UNKNOWN_NAME, call_arg(call, 1)->loc,
				 "the kernel has no function whose name starts with '%.*s'",
				 STRF(begin));
	if (n == MOST_FUNCTIONS)
		return sema_fail(s, E_LIMIT, call_arg(call, 1)->loc,
				 "more than %d functions have names that begin with '%.*s'",
				 MOST_FUNCTIONS - 1, STRF(begin));
	return true;
}

/* The last one that is not behind the address, by halves and without a branch; is it in that? */
static struct ref lower_in_function(struct lower *l, struct node *call, struct mem dst)
{
	enum { RANGE = sizeof(struct place_range) };
	struct fn *f = l->f;
	struct ref addr = lower_value(l, call_arg(call, 0)), base, at = ir_con(f, 0), behind;
	struct str begin = {0};
	struct map *m;

	(void)dst;
	node_str(call_arg(call, 1), &begin);
	m = functions_of(l->c, begin);
	if (!m)
		return ir_con(f, 0);
	base = ir_op1(f, O_MAPVAL, 8, ir_map(m->index));
	for (u32 step = m->val_size / 2; step >= RANGE; step /= 2) {
		struct ref half = ir_op2(f, O_ADD, base, at);
		behind = ir_op2(f, O_SAR, ir_op2(f, O_SUB, addr, ir_load(f, 8, half, (i32)step)),
				ir_con(f, 63));
		behind = ir_op2(f, O_AND, ir_op2(f, O_XOR, behind, ir_con(f, ~0ull)),
				ir_con(f, step));
		at = ir_op2(f, O_ADD, at, behind);
	}
	base = ir_op2(f, O_ADD, base, at);
	struct ref into = ir_op2(f, O_SUB, addr, ir_load(f, 8, base, 0));
	return ir_op2(f, O_ULT, into, ir_load(f, 8, base, 8));
}

/* ---- byte order ---- */
static const struct type *type_bswap(struct sema *s, struct node *call)
{
	const struct type *t = call_arg(call, 0)->type;

	(void)s;
	return t && type_is_int(t) ? type_int(t->size, false) : &type_u64;
}

static bool check_bswap(struct sema *s, struct node *call)
{
	const struct type *t = call_arg(call, 0)->type;

	if (type_is_int(t) || type_is_error(t))
		return true;
	return sema_fail(s, E_TYPE, call_arg(call, 0)->loc,
			 "bswap() only supports integer arguments (%s provided)", builtin_kind(t));
}

static struct ref lower_bswap(struct lower *l, struct node *call, struct mem dst)
{
	struct ref v = lower_value(l, call_arg(call, 0));

	(void)dst;
	if (call->type->size == 1)
		return ir_op1(l->f, O_EXTU, 1, v);
	return ir_op1(l->f, O_BSWAP, call->type->size, v);
}

static bool check_scaled(struct sema *s, struct node *call)
{
	struct node *number = call_arg(call, 0);
	i64 by;

	if (number->type->kind != T_FLOAT || number->type->size > 8)
		return sema_fail(s, E_TYPE, number->loc,
				 "scaled() expects a float or a double (%s provided)",
				 builtin_kind(number->type));
	if (!builtin_lit(s, call, 1, &by))
		return false;
	if (by < 1 || by > FLOAT_MOST_SCALE)
		return sema_fail(s, E_RANGE, call_arg(call, 1)->loc,
				 "scaled() multiplies by 1 to %d (%lld provided)", FLOAT_MOST_SCALE,
				 by);
	return true;
}

static struct ref lower_scaled(struct lower *l, struct node *call, struct mem dst)
{
	i64 by = 1;

	(void)dst;
	node_int(call_arg(call, 1), &by);
	return lower_float_scaled(l, call_arg(call, 0), (u32)by);
}

/* Pairs of bits, fours, bytes; the product's upper byte is the sum of all bytes. */
static struct ref lower_popcount(struct lower *l, struct node *call, struct mem dst)
{
	const struct type *t = call_arg(call, 0)->type;
	struct fn *f = l->f;
	struct ref v = lower_value(l, call_arg(call, 0));
	struct ref pairs = ir_con(f, 0x5555555555555555), fours = ir_con(f, 0x3333333333333333);

	(void)dst;
	if (t->size < 8) /* of a negative number, those of its own size */
		v = ir_op1(f, O_EXTU, t->size, v);
	v = ir_op2(f, O_SUB, v, ir_op2(f, O_AND, ir_op2(f, O_SHR, v, ir_con(f, 1)), pairs));
	v = ir_op2(f, O_ADD, ir_op2(f, O_AND, v, fours),
		   ir_op2(f, O_AND, ir_op2(f, O_SHR, v, ir_con(f, 2)), fours));
	v = ir_op2(f, O_ADD, v, ir_op2(f, O_SHR, v, ir_con(f, 4)));
	v = ir_op2(f, O_AND, v, ir_con(f, 0x0f0f0f0f0f0f0f0f));
	return ir_op2(f, O_SHR, ir_op2(f, O_MUL, v, ir_con(f, 0x0101010101010101)), ir_con(f, 56));
}

static bool check_hash(struct sema *s, struct node *call)
{
	const struct type *t = call_arg(call, 0)->type;

	if (type_is_scalar(t) || t->kind == T_STRING || t->kind == T_KSTACK ||
	    t->kind == T_USTACK || t->kind == T_TUPLE)
		return true;
	return sema_fail(
		s, E_TYPE, call_arg(call, 0)->loc,
		"call to hash() expects a number, a string, a stack or a tuple (%s provided)",
		type_namez(s->a, t));
}

static struct ref lower_hash_call(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	return lower_hash(l, call_arg(call, 0));
}

/* ---- network addresses ---- */

/* The address is the last argument, the address family (2 or 10) may stand before it. */
static struct node *addr_arg(const struct node *call)
{
	return call_arg(call, call_nargs(call) - 1);
}

static struct node *family_arg(const struct node *call)
{
	return call_nargs(call) == 2 ? call_arg(call, 0) : NULL;
}

/* Bytes of the thing with the address; 0: does not say. */
static u32 addr_bytes(const struct type *t)
{
	if (t->kind == T_PTR)
		t = t->base;
	if (t->kind == T_ARRAY || t->kind == T_STRING || type_is_record(t))
		return t->size;
	return type_is_int(t) ? 4 : 0;
}

static const struct type *type_ntop(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_inet;
}

static bool check_ntop(struct sema *s, struct node *call)
{
	struct node *n = addr_arg(call), *af = family_arg(call);
	u32 bytes = addr_bytes(n->type);
	i64 family;

	if (af && !type_is_int(af->type))
		return sema_fail(s, E_TYPE, af->loc,
				 "ntop() expects an integer as address family (%s provided)",
				 builtin_kind(af->type));
	if (af && node_int(af, &family) && family != AF_INET && family != AF_INET6)
		return sema_fail(
			s, E_RANGE, af->loc,
			"ntop() address family must be %d (IPv4) or %d (IPv6), %lld provided",
			AF_INET, AF_INET6, family);
	if (bytes != 4 && bytes != 16 && !(n->type->kind == T_PTR && af))
		return sema_fail(s, E_TYPE, n->loc,
				 "ntop() argument must be 4 or 16 bytes in size (%s provided)",
				 type_namez(s->a, n->type));
	return true;
}

/* Length of the address by its family, or by what it is stored in. */
static struct ref inet_len(struct lower *l, struct node *af, u32 bytes)
{
	struct fn *f = l->f;
	struct ref is6;

	if (!af || bytes == 4)
		return ir_con(f, bytes);
	is6 = ir_op2(f, O_NE, lower_value(l, af), ir_con(f, AF_INET));
	return ir_addi(f, ir_op2(f, O_MUL, is6, ir_con(f, 12)), 4);
}

static struct ref lower_ntop(struct lower *l, struct node *call, struct mem dst)
{
	struct node *n = addr_arg(call), *af = family_arg(call);
	u32 bytes = addr_bytes(n->type);
	i64 family;
	struct mem addr = mem_at(dst, 4);

	if (n->type->kind == T_PTR && af)
		bytes = 16; /* the family says which part is the address; behind a shorter one is
			       something, too */
	if (af && node_int(af, &family)) {
		bytes = family == AF_INET ? 4 : MIN(bytes, 16);
		af = NULL;
	}
	lower_zero(l, dst, call->type->size);
	lower_store(l, 4, dst, inet_len(l, af, bytes));
	if (type_is_int(n->type))
		lower_store(l, 4, addr, lower_value(l, n));
	else if (n->type->kind == T_PTR)
		lower_read(l, addr, bytes, lower_value(l, n), 0, builtin_space(l, n->type));
	else
		lower_copy(l, addr, lower_mem(l, n), bytes);
	return REF_NONE;
}

/* Bytes of the address in text, 4 or 16, or 0. */
static u32 parse_inet(struct str text, u8 ret[16])
{
	char z[INET6_ADDRSTRLEN];

	if (text.n >= sizeof(z))
		return 0;
	memcpy(z, text.s, text.n);
	z[text.n] = 0;
	if (inet_pton(AF_INET, z, ret) == 1)
		return 4;
	return inet_pton(AF_INET6, z, ret) == 1 ? 16 : 0;
}

static const struct type *type_pton(struct sema *s, struct node *call)
{
	struct str text;
	u8 addr[16];
	u32 n = node_str(call_arg(call, 0), &text) ? parse_inet(text, addr) : 0;

	return type_array(s->a, &type_u8, n ? n : 4);
}

static bool check_pton(struct sema *s, struct node *call)
{
	struct str text;
	u8 addr[16];

	if (!builtin_text(s, call, 0, &text))
		return false;
	if (!parse_inet(text, addr))
		return sema_fail(
			s, E_RANGE, call_arg(call, 0)->loc,
			"pton() expects an string argument of an IPv4/IPv6 address, got %.*s",
			STRF(text));
	return true;
}

static struct ref lower_pton(struct lower *l, struct node *call, struct mem dst)
{
	struct str text = {0};
	u8 *addr = arena_newn(l->c->arena, u8, 16);

	node_str(call_arg(call, 0), &text);
	lower_bytes(l, dst, addr, parse_inet(text, addr));
	return REF_NONE;
}

static const struct type *type_macaddr(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_mac;
}

static bool check_macaddr(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 0);
	struct str text;

	if (node_str(n, &text))
		return sema_fail(s, E_TYPE, n->loc,
				 "macaddr() does not support literal string arguments");
	if (n->type->kind == T_PTR || type_is_int(n->type) || type_is_error(n->type))
		return true;
	if ((n->type->kind == T_ARRAY || n->type->kind == T_STRING) && n->type->size >= 6)
		return true;
	return sema_fail(s, E_TYPE, n->loc,
			 "macaddr() argument must be at least 6 bytes in size (%s provided)",
			 type_namez(s->a, n->type));
}

static struct ref lower_macaddr(struct lower *l, struct node *call, struct mem dst)
{
	struct node *n = call_arg(call, 0);

	if (n->type->kind == T_PTR || type_is_int(n->type))
		lower_read(l, dst, 6, lower_value(l, n), 0, builtin_space(l, n->type));
	else
		lower_copy(l, dst, lower_raw(l, n), 6);
	return REF_NONE;
}

/* ---- cgroups ---- */
static const struct type *type_cgroup_path_row(struct sema *s, struct node *call)
{
	(void)s, (void)call;
	return &type_cgroup_path;
}

/* The filter travels as a number of unit.strings; "" when there is none. */
static bool check_cgroup_path(struct sema *s, struct node *call)
{
	struct str filter = STR("");

	if (!check_addr(s, call))
		return false;
	if (call_arg(call, 1) && !builtin_text(s, call, 1, &filter))
		return false;
	call->num = sema_string_id(s, filter);
	return true;
}

static struct ref lower_cgroup_path(struct lower *l, struct node *call, struct mem dst)
{
	lower_store(l, 8, dst, lower_value(l, call_arg(call, 0)));
	lower_store(l, 8, mem_at(dst, 8), ir_con(l->f, (u32)call->num));
	return REF_NONE;
}

static bool check_cgroupid(struct sema *s, struct node *call)
{
	struct str path;
	struct err *e, *doubt;
	u64 id;

	if (!builtin_text(s, call, 0, &path))
		return false;
	e = cgroup_id(s->c->host, arena_strz(s->a, path), &id, &doubt);
	if (e) {
		diag_err(s->ds, E_SYSTEM, call_arg(call, 0)->loc, e);
		return false;
	}
	if (doubt)
		diag_add(s->ds, W_CGROUP, call_arg(call, 0)->loc, "%s", doubt->msg);
	err_free(doubt);
	node_set_num(call, id, &type_u64);
	return true;
}

const struct builtin builtin_mem[] = {
	{"auto kptr(any p)", lower_same, .type = type_kptr, .check = check_addr,
	 .doc = "The same address, read as kernel memory."},
	{"auto uptr(any p)", lower_same, .type = type_uptr, .check = check_addr,
	 .doc = "The same address, read as memory of the current process."},
	{"auto kaddr(text symbol)", .flags = B_CONST, .type = type_kaddr, .check = check_kaddr,
	 .doc = "Address of a kernel symbol, looked up when the script is compiled. The text "
		"\"0x...\" is an address itself."},
	{"bool is_err(any p)", lower_is_err, .check = check_addr,
	 .doc = "True if the address is an error number of the kernel (-4095 to -1)."},
	{"u64 reg(text name)", lower_reg, .asks = USE_REGS | USE_CTX,
	 .where = METHOD_REGS | METHOD_EVENT, .check = check_reg,
	 .doc = "A register of the traced code: ax bx cx dx si di bp sp ip r8 ... r15 orig_ax cs "
		"ss flags (x86_64); x0 ... x30 fp lr sp pc pstate orig_x0 (aarch64)."},
	{"auto ksym(any addr)", lower_same, .type = type_ksym_row, .check = check_sym,
	 .doc = "Name of the kernel symbol at an address; looked up when it is printed."},
	{"auto usym(any addr)", lower_usym, .type = type_usym_row, .check = check_sym,
	 .doc = "Name of the symbol at an address of the current process; looked up when it is "
		"printed."},
	{"auto caller", lower_caller, .asks = USE_REGS | USE_CTX, .type = type_caller,
	 .doc = "The caller of the probed function, as a symbol: the return address in fentry and "
		"fexit, and in kprobes and uprobes at the start of a function."},
	{"bool in_function(any addr, text begin)", lower_in_function, .check = check_in_function,
	 .doc = "True if a kernel address (or caller) is in a function whose name starts with this "
		"text. The functions are looked up when the script is compiled."},
	{"auto bswap(any n)", lower_bswap, .type = type_bswap, .check = check_bswap,
	 .doc = "The integer with its bytes in reverse order; unsigned, of the same size."},
	{"int64 scaled(show number, lit by)", lower_scaled, .check = check_scaled,
	 .doc = "number * by, rounded towards zero, as an integer; number is a float or double. "
		"Sums, averages and histograms of scaled(x, 1000) are in thousandths."},
	{"u64 popcount(int n)", lower_popcount, .doc = "Number of bits that are set in n."},
	{"u64 hash(any value)", lower_hash_call, .check = check_hash,
	 .doc = "A 64-bit hash of a number, a string, a stack or a tuple. Equal values of one type "
		"have equal hashes."},
	{"auto ntop(any family_or_addr, [any addr])", lower_ntop, .type = type_ntop,
	 .check = check_ntop,
	 .doc = "An IPv4 or IPv6 address in network order (an integer, 4 or 16 bytes), printed as "
		"text. The family (2: IPv4, 10: IPv6) gives the number of bytes."},
	{"auto pton(text addr)", lower_pton, .type = type_pton, .check = check_pton,
	 .doc = "Bytes of an IPv4 or IPv6 address written as text: uint8[4] or uint8[16]."},
	{"auto macaddr(any addr)", lower_macaddr, .type = type_macaddr, .check = check_macaddr,
	 .doc = "Six bytes, printed as a hardware address."},
	{"auto cgroup_path(int id, [text filter])", lower_cgroup_path, .type = type_cgroup_path_row,
	 .check = check_cgroup_path,
	 .doc = "Path of a cgroup, looked up when it is printed; the filter selects hierarchies by "
		"name."},
	{"u64 cgroupid(text path)", .flags = B_CONST, .check = check_cgroupid,
	 .doc = "Id of the cgroup at a path, looked up when the script is compiled. A warning is "
		"printed if no process can be in it, as in a cgroup of version 1."},
	{0},
};
