/*
 * names.c - numbers as text: strerror signal_name syscall_name.
 *
 * Each text is a row of 64 bytes in a table that the program reads, so that the result is an
 * ordinary string: it can be compared and be a key. A table is made when a script first uses it.
 */
#include "builtin/common.h"
#include <signal.h>
#include <stdio.h>

enum { NAME = 64, NERRNO = 134, FIRST_RT = 34, NSIGNAL = 65, NSYSCALL = 512 };

struct table {
	const char *name;
	u32 n;         /* rows for 0 .. n - 1; behind them one for everything else */
	bool negative; /* -n means n, as system calls return errors */
	void (*text)(const struct host *h, u32 i, char row[NAME]); /* i == n: everything else */
};

static void put(char row[NAME], const char *text)
{
	size_t n = text ? strlen(text) : 0;

	memcpy(row, text ? text : "", MIN(n, NAME - 1u));
}

static void errno_text(const struct host *h, u32 i, char row[NAME])
{
	(void)h;
	const char *z = i < NERRNO ? strerrordesc_np((int)i) : NULL;

	put(row, z ? z : "Unknown error");
}

static void signal_text(const struct host *h, u32 i, char row[NAME])
{
	(void)h;
	if (i == NSIGNAL)
		put(row, "N/A");
	else if (i >= FIRST_RT)
		snprintf(row, NAME, "Real-time signal %u", i - FIRST_RT);
	else if (sigdescr_np((int)i))
		put(row, sigdescr_np((int)i));
	else
		snprintf(row, NAME, "Unknown signal %u", i);
}

static void syscall_text(const struct host *h, u32 i, char row[NAME])
{
	const char *name = arch_call_name(&h->arch->calls, i);

	put(row, name ? name : "Unknown syscall");
}

static const struct table errnos = {"errno_names", NERRNO, true, errno_text};
static const struct table signals = {"signal_names", NSIGNAL, false, signal_text};
static const struct table syscalls = {"syscall_names", NSYSCALL, false, syscall_text};

static struct map *find_table(struct compile *c, const struct table *t)
{
	struct unit *u = c->unit;
	struct map *m;
	char *rows;

	for (u32 i = 0; i < u->nmap; i++)
		if (u->map[i]->role == MAP_AUX && str_is(u->map[i]->name, t->name))
			return u->map[i];
	rows = arena_newn(c->arena, char, (t->n + 1) * NAME);
	for (u32 i = 0; i <= t->n; i++)
		t->text(c->host, i, rows + (size_t)i * NAME);
	m = unit_map(c, MAP_AUX, t->name);
	m->val_size = (t->n + 1) * NAME;
	m->init = rows;
	return m;
}

/* The row of a number: 0 .. n - 1, else n. */
static struct ref row_of(struct lower *l, const struct table *t, struct ref v)
{
	struct fn *f = l->f;
	struct ref i = ir_var(f), sign;
	struct blk *other = ir_blk(f), *done = ir_blk(f);

	v = ir_op1(f, O_EXTS, 4, v); /* int: an error may have been kept in 32 bits */
	if (t->negative) {
		sign = ir_op2(f, O_SAR, v, ir_con(f, 63));
		v = ir_op2(f, O_SUB, ir_op2(f, O_XOR, v, sign), sign);
	}
	ir_set(f, i, v);
	ir_br(f, O_ULT, v, ir_con(f, t->n), done, other);
	ir_at(f, other);
	ir_set(f, i, ir_con(f, t->n));
	ir_jmp(f, done);
	ir_at(f, done);
	return ir_get(f, i);
}

static struct ref lower_name(struct lower *l, struct node *call, struct mem dst,
			     const struct table *t)
{
	struct fn *f = l->f;
	struct ref i = row_of(l, t, lower_value(l, call_arg(call, 0))), p;
	struct blk *in = ir_blk(f), *never = ir_blk(f), *done = ir_blk(f);

	ir_br(f, O_ULE, i, ir_con(f, t->n), in, never); /* for the verifier */
	ir_at(f, in);
	p = ir_op2(f, O_ADD, ir_op1(f, O_MAPVAL, 8, ir_map(find_table(l->c, t)->index)),
		   ir_op2(f, O_MUL, i, ir_con(f, NAME)));
	lower_copy(l, dst, mem_of(p, 0), NAME);
	ir_jmp(f, done);
	ir_at(f, never);
	lower_zero(l, dst, NAME);
	ir_jmp(f, done);
	ir_at(f, done);
	return REF_NONE;
}

static struct ref lower_strerror(struct lower *l, struct node *call, struct mem dst)
{
	return lower_name(l, call, dst, &errnos);
}

static struct ref lower_signal_name(struct lower *l, struct node *call, struct mem dst)
{
	return lower_name(l, call, dst, &signals);
}

static struct ref lower_syscall_name(struct lower *l, struct node *call, struct mem dst)
{
	return lower_name(l, call, dst, &syscalls);
}

const struct builtin builtin_names[] = {
	{"string[64] strerror(int errno)", lower_strerror,
	 .doc = "Text of an error number, also of a negative one."},
	{"string[64] signal_name(int sig)", lower_signal_name,
	 .doc = "Description of a signal: \"Killed\" for 9."},
	{"string[64] syscall_name(int nr)", lower_syscall_name,
	 .doc = "Name of a system call by its number."},
	{0},
};
