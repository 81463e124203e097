/*
 * sema.h - tree -> typed tree + plan.
 *
 * expand.c turns probe texts into points; check.c gives every node a
 * type by running over the whole program until nothing changes (maps and
 * variables may be widened by any use), then once more to report; plan.c lays
 * out maps. Builtins hook in by their rows (core/builtin.h) and use the calls
 * below.
 */
#pragma once
#include "base/tab.h"
#include "core/builtin.h"
#include "sema/mapuse.h"
#include "source/rows.h"

/* A scratch variable; one per declaration and variant. */
struct var {
	struct str name;
	u32 mark; /* hides it from everything but the macro expansion that declares it */
	const struct type *type;  /* NULL: not known yet */
	const struct type *fresh; /* what this round alone says, while sema.afresh */
	bool fixed;               /* declared with a type */
	bool param;               /* of a function */
	bool loop;                /* of a for statement */
	bool used, empty;         /* empty: declared without a value */
	u32 set;                  /* the last round that gives it one; 0: none */
	bool captured;            /* used in a loop body that becomes a callback: lives in memory */
	u32 depth, body;          /* nesting of loops, and of for bodies, where it was declared */
	i32 frame; /* lower's: offset in the frame that callbacks share, when captured */
	u32 bound; /* lower's, of a for over a range: where its body finds the lower bound */
	struct loc loc;
	struct ref ref;    /* lower's: promotable slot of .fn, or R_NONE */
	struct fn *fn;     /* a body that is unrolled becomes several functions */
	struct mem mem;    /* lower's: where it is when not promotable */
	struct var *next;  /* all of a variant */
	struct var *outer; /* visible before this one */
	struct var *other; /* in sema.fresh */
};

/* n, when it is a variable, is about to get a value by other means than an assignment. */
void var_mark_set(struct sema *s, struct node *n);

/* A script's function as one body calls it; see sema/fn.c. */
enum { MAX_FN_PARAMS = 16, FN_REG_PARAMS = 4 };
struct fninst {
	struct node *def, *fn; /* as in the program; the clone that is typed */
	struct var *param[MAX_FN_PARAMS];
	u32 nparam;
	const struct type *ret;
	u32 round; /* of sema, when it was typed last */
	bool checking;
	u32 result;    /* lower's: shared offset of a result that is not a scalar */
	struct fn *ir; /* lower's: the subprogram in ir_prog */
	const struct prog *ir_prog;
	struct fninst *next;
};

/* One body to compile: a clone of a probe's tree for points with equal argument types. */
struct variant {
	struct node *probe;   /* N_PROBE; b and c are this variant's own */
	struct point *points; /* list; all of one kind, by one method */
	u32 npoint;
	bool per_point;  /* the code depends on the point (probe, func ...): one program each */
	bool task;       /* it asks for the current task: then that gives the process ids, too */
	bool everybody;  /* it fires for all processes, whichever the scope names */
	bool calls_back; /* a helper calls functions of the program: they share the stack */
	struct var *vars;
	struct fninst *fns;
};

struct sema {
	struct compile *c;
	struct unit *u;
	struct arena *a; /* unit's */
	struct diags *ds;
	struct variant *v;             /* being checked */
	struct point *point;           /* its first point */
	bool changed;                  /* some type grew: another round is needed */
	bool grew;                     /* an integer's type changed after it was used */
	bool afresh;                   /* this round finds types anew, see retype() */
	struct var *fresh;             /* the variables it has found */
	const struct type **fresh_val; /* and maps, by index */
	bool later;                    /* sizeof() of a variable or a map waits for sizes */
	bool sizes;                    /* their types are settled */
	bool final;                    /* report now */
	u32 round;                     /* of typing, from 1 */
	struct fninst *fn;             /* being typed, or NULL */
	bool show;         /* a map's element is only to be shown: it may be any aggregation */
	struct var *scope; /* visible variables, innermost first */
	u32 loop;          /* nesting of for and while */
	u32 comptime;      /* nesting of what must be a literal */
	u32 body;          /* nesting of for bodies, which may become callbacks */
};

bool sema_expand(struct compile *c); /* points and variants */
bool sema_check(struct compile *c);  /* types */
bool sema_plan(struct compile *c);   /* map layouts */
void sema_dump_plan(const struct compile *c, struct sb *out);

/* ---- for builtins ---- */
/* Kernels before 6.6, which have no multi links for uprobes either, do not tell a return probe of a
 * program its function: then func is the name as text, and each point has a body of its own. */
bool sema_func_is_text(struct host *h, const struct point *p);
/* Turn the call into a literal, from type() or check(). */
void node_set_num(struct node *n, u64 v, const struct type *t);
void node_set_str(struct sema *s, struct node *n, struct str text);
/* Report unless final is off; returns false for "return sema_fail(...)". */
bool sema_fail(struct sema *s, enum diag_code code, struct loc loc, const char *fmt, ...)
	PRINTF(4, 5);
u32 sema_string_id(struct sema *s, struct str text); /* unit.strings */
/* The map that a `map` argument names. */
struct map *sema_map(struct node *arg);
/* Resolve a type by name: int32, struct task_struct, a typedef, an enum; in BTF too. NULL: unknown.
 */
const struct type *sema_type_name(struct sema *s, struct str name, u16 flags);
/* Does the format fit the arguments from the i-th on? Reports. */
bool sema_check_format(struct sema *s, struct node *call, struct str fmt, u32 first);
/* Beyond that, of printf in a pinned iterator. */
bool sema_check_seq(struct sema *s, struct node *call, struct str fmt);
const struct type *type_merge(struct arena *a, const struct type *x,
			      const struct type *y); /* NULL: do not fit */
