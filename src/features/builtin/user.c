/* user.c - the traced program's own symbols (uaddr), and comparing memory (memcmp). */
#include "builtin/common.h"
#include "rights/image_ask.h"
#include "sym/sym.h"
#include <elf.h>

/* ---- uaddr ---- */

/* The symbol in the file that the probe is in. */
static struct err *find_symbol(const struct compile *c, const struct point *p, struct str name,
			       struct symbol *ret)
{
	return elf_symbol(c->host, arena_strz(c->arena, p->target), name, ret);
}

static const struct type *type_uaddr(struct sema *s, struct node *call)
{
	struct symbol sym = {.size = 8};
	struct str name;
	struct err *e;

	if (node_str(call_arg(call, 0), &name)) {
		e = find_symbol(s->c, s->point, name, &sym);
		err_free(e);
	}
	if (sym.size != 1 && sym.size != 2 && sym.size != 4)
		sym.size = 8;
	return type_ptr(s->a, type_int((u32)sym.size, true), AS_USER);
}

static bool check_uaddr(struct sema *s, struct node *call)
{
	struct symbol sym;
	struct str name;
	struct err *e;

	if (!builtin_text(s, call, 0, &name))
		return false;
	e = find_symbol(s->c, s->point, name, &sym);
	if (!e)
		return true;
	sema_fail(s, E_UNKNOWN_NAME, call_arg(call, 0)->loc, "Could not resolve symbol: %.*s (%s)",
		  STRF(name), e->msg);
	err_free(e);
	return false;
}

/* addr + by; 0 stays 0: before Linux 6.6 the address is not known when a function returns. */
static struct ref moved(struct fn *f, struct ref addr, i64 by)
{
	struct ref v = ir_var(f);
	struct blk *known = ir_blk(f), *done = ir_blk(f);

	ir_set(f, v, addr);
	ir_br(f, O_NE, addr, ir_con(f, 0), known, done);
	ir_at(f, known);
	ir_set(f, v, ir_addi(f, addr, by));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, v);
}

/*
 * Where the file was loaded differs from process to process, but the probe stands in it: what is
 * between its place in the file and the address where it fired is the same for the symbol.
 */
static struct ref lower_uaddr(struct lower *l, struct node *call, struct mem dst)
{
	const struct point *p = l->pt;
	bool at_start = point_flags(p) & PROBE_FUNC; /* of a function; else at the probe itself */
	u64 probe = 0, off = at_start ? p->addr - p->offset : p->addr;
	struct symbol sym = {0};
	struct str name = {0};
	struct image im;
	struct ref here;
	struct err *e;
	bool fixed;

	(void)dst;
	node_str(call_arg(call, 0), &name);
	err_free(find_symbol(l->c, p, name, &sym));
	e = image_ask(l->c->host, arena_strz(l->c->arena, p->target), &im);
	if (e || !image_vaddr(&im, off, l->c->host->page_size, &probe))
		probe = off;
	fixed = !e && im.type == ET_EXEC;
	if (!e)
		image_close(&im);
	err_free(e);
	if (fixed)
		return ir_con(l->f, sym.addr);
	here = at_start ? lower_arg(l, ARG_FUNC) : ir_load(l->f, 8, lower_ctx(l), l->f->arch->ip);
	return moved(l->f, here, (i64)(sym.addr - probe));
}

/* ---- the probed file ---- */

static bool check_elf_is_exe(struct sema *s, struct node *call)
{
	struct image im;
	bool user = point_flags(s->point) & PROBE_USER;
	struct err *e =
		user ? image_ask(s->c->host, arena_strz(s->a, s->point->target), &im) : NULL;

	node_set_num(call, user && !e && im.type == ET_EXEC, &type_bool);
	if (user && !e)
		image_close(&im);
	err_free(e);
	return true;
}

static bool check_elf_info(struct sema *s, struct node *call)
{
	struct image im;
	bool user = point_flags(s->point) & PROBE_USER;
	struct err *e =
		user ? image_ask(s->c->host, arena_strz(s->a, s->point->target), &im) : NULL;

	node_set_num(call, user && !e ? im.ino : 0, &type_u64);
	if (user && !e)
		image_close(&im);
	err_free(e);
	return true;
}

/* ---- memcmp ---- */
enum { MAX_MEMCMP = 1024 };

/* Bytes that may be compared; 0: it is an address, any number. */
static u32 own_size(const struct type *t)
{
	return t->kind == T_PTR ? 0 : t->size;
}

static bool check_memcmp(struct sema *s, struct node *call)
{
	struct node *len = call_arg(call, 2);
	u32 most = MAX_MEMCMP;
	i64 n;

	for (u32 i = 0; i < 2; i++) {
		const struct type *t = call_arg(call, i)->type;
		if (type_is_scalar(t) && t->kind != T_PTR && !type_is_error(t))
			return sema_fail(s, E_TYPE, call_arg(call, i)->loc,
					 "memcmp() expects pointers, text, arrays or structs (%s "
					 "provided)",
					 type_namez(s->a, t));
		if (own_size(t))
			most = MIN(most, own_size(t));
	}
	if (!node_int(len, &n))
		return sema_fail(s, E_LITERAL, len->loc,
				 "memcmp() expects an integer literal as number of bytes");
	if (n < 0 || n > most)
		return sema_fail(s, E_RANGE, len->loc,
				 "memcmp() can compare 0 to %u bytes here (got %lld)", most, n);
	return true;
}

static struct mem operand(struct lower *l, struct node *n, u32 size)
{
	struct mem m;

	if (n->type->kind != T_PTR)
		return lower_mem(l, n);
	m = lower_tmp(l, size);
	lower_read(l, m, size, lower_value(l, n), 0, builtin_space(l, n->type));
	return m;
}

static u32 chunk(struct mem a, struct mem b, u32 at, u32 left)
{
	u32 w = 8;

	while (w > left || ((u32)a.off + at) % w || ((u32)b.off + at) % w)
		w /= 2;
	return w;
}

/* In memory order the first byte counts most. */
static struct ref ordered(struct lower *l, struct ref v, u32 w)
{
	union {
		u16 word;
		u8 first;
	} order = {.word = 1};

	return w > 1 && order.first ? ir_op1(l->f, O_BSWAP, w, v) : v;
}

static struct ref lower_memcmp(struct lower *l, struct node *call, struct mem dst)
{
	struct fn *f = l->f;
	struct ref result = ir_var(f);
	struct blk *done = ir_blk(f);
	struct mem a, b;
	i64 size = 0;

	(void)dst;
	node_int(call_arg(call, 2), &size);
	if (!size)
		return ir_con(f, 0);
	a = operand(l, call_arg(call, 0), (u32)size);
	b = operand(l, call_arg(call, 1), (u32)size);
	for (u32 i = 0, w; i < (u32)size; i += w) {
		struct blk *differ = ir_blk(f), *next = ir_blk(f);
		w = chunk(a, b, i, (u32)size - i);
		struct ref x = lower_load(l, w, false, mem_at(a, (i32)i));
		struct ref y = lower_load(l, w, false, mem_at(b, (i32)i));
		ir_br(f, O_EQ, x, y, next, differ);
		ir_at(f, differ);
		struct ref more = ir_op2(f, O_UGT, ordered(l, x, w), ordered(l, y, w));
		ir_set(f, result,
		       ir_addi(f, ir_op2(f, O_SHL, more, ir_con(f, 1)), -1)); /* 1 or -1 */
		ir_jmp(f, done);
		ir_at(f, next);
	}
	ir_set(f, result, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, result);
}

const struct builtin builtin_user[] = {
	{"auto uaddr(text symbol)", lower_uaddr, .where = PROBE_USER, .asks = USE_PROBE,
	 .type = type_uaddr, .check = check_uaddr,
	 .doc = "Address, in the current process, of a symbol of the probed file."},
	{"bool elf_is_exe()", .flags = B_CONST, .asks = USE_PROBE, .check = check_elf_is_exe,
	 .doc = "True if the probed file is a program at fixed addresses (ET_EXEC)."},
	{"u64 __builtin_elf_ino", .flags = B_CONST | B_OLD, .asks = USE_PROBE,
	 .check = check_elf_info, .doc = "elf_info(), as bpftrace's library calls it."},
	{"u64 elf_info()", .flags = B_CONST, .asks = USE_PROBE, .check = check_elf_info,
	 .doc = "Inode of the probed file."},
	{"int32 memcmp(any a, any b, lit n)", lower_memcmp, .check = check_memcmp,
	 .doc = "Compares the first n bytes of a and b: 0 equal, -1 a is less, 1 a is greater."},
	{0},
};
