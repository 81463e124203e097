/*
 * builtin.h - one row per function, variable or aggregation of the language.
 *
 * A row is the whole feature; nothing else in the source mentions its name.
 *
 * The signature reads "RESULT NAME(KIND arg, [KIND arg], ...)" and is parsed once, by sema/sig.c:
 *	RESULT  a type of the language (u64 int64 bool string[16] ...), "void", or "auto" (then
 *.type says) KIND    int (int, bool, enum or pointer accepted where noted)  str  ptr  any  num (int
 *or bool) lit (integer literal)  text (string literal)  map (@x without key)  fmt (string literal,
 *checked against the following arguments as printf's)  type (a type or an expression) name (a bare
 *identifier that only the row understands, as in nsecs(boot); or any) [ ]     optional; "..." any
 *number more of any type (0 to 127) Without parentheses in the signature the row is a variable; it
 *may then also be called as NAME(). Several rows may share a name: the first whose arity fits is
 *taken.
 */
#pragma once
#include "core/record.h"
#include "core/value.h"
#include "ir/ir.h"

struct sema;
struct lower;
struct session;
struct node;

/* Where a value is, or is to be put: BPF memory at base + off. base none: nowhere. */
struct mem {
	struct ref base; /* temporary (address) or memory slot */
	i32 off;
};
#define MEM_NONE ((struct mem){0})

enum builtin_flags {
	B_ASYNC = 1 << 0,   /* lower() writes a record, act() reads it in user space */
	B_UNSAFE = 1 << 1,  /* needs --unsafe */
	B_AGG = 1 << 2,     /* only as the right side of @map = */
	B_CONST = 1 << 3,   /* check() or type() turns the call into a literal; never lowered */
	B_OLD = 1 << 4,     /* an old spelling */
	B_END = 1 << 5,     /* ends the probe (exit) */
	B_TIMED = 1 << 7,   /* its record carries the time at which the probe fired */
	B_STMT_OK = 1 << 6, /* no "return value discarded" warning */
	B_SEQ = 1 << 9,     /* with B_ASYNC: works in pinned iterators, where no record is read */
	B_ELEMENT = 1 << 8, /* of its map it touches one element, by the calls for that */
};

struct builtin {
	const char *sig;
	/*
	 * Kernel half. Scalars: returns the value. Types in memory: with dst set, fills all of dst
	 * (type's size) and returns REF_NONE; never called without dst. void: returns REF_NONE.
	 * NULL with B_ASYNC: all arguments travel as they are (lower_record).
	 */
	struct ref (*lower)(struct lower *l, struct node *call, struct mem dst);
	u32 flags;
	u16 needs; /* enum feature */
	u32 where; /* provider flags (PF_*) of which the probe must have one; 0: anywhere */
	/*
	 * Result type, once the arguments have types; may run many times (fixpoint), so it must not
	 * report anything that could still change. NULL: the signature says it.
	 */
	const struct type *(*type)(struct sema *s, struct node *call);
	/* After the fixpoint: what the signature cannot say. Reports by diag_add; false: there was
	 * an error. */
	bool (*check)(struct sema *s, struct node *call);
	/* User-space half: v are the decoded fields of the record. */
	void (*act)(struct session *s, const struct schema *sc, const struct value *v, u32 n,
		    u64 ts);
	/* B_AGG: add one observation to the copy at dst (address of the value's words). */
	void (*add)(struct lower *l, struct node *call, struct mem dst, bool shared);
	/* B_AGG, histograms: which of the copy's words the observation adds one to. */
	struct ref (*bucket)(struct lower *l, struct node *call);
	const char *doc;
};

/* One table per file, ended by {0}; builtin/registry.c lists the tables. */
extern const struct builtin *const builtin_tables[];
