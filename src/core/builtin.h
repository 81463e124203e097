/*
 * builtin.h - one row per function, variable or aggregation of the language.
 *
 * A row is the whole feature; nothing else in the source mentions its name.
 *
 * The signature reads "RESULT NAME(KIND arg, [KIND arg], ...)" and is parsed once, by source/rows.c.
 *
 *	RESULT	a type of the language: u64 int64 bool string[16] ...
 *		void	nothing
 *		auto	what the row's .type() says
 *	KIND	any	a value, but no floating-point number
 *		show	a value, such numbers too; a map without key is meant as a whole
 *		int	int, enum, bool, pointer or ksym
 *		num	int, enum or bool
 *		lit	an integer literal
 *		str	a string, a probe's name
 *		text	a string literal
 *		fmt	a string literal; the arguments behind it are checked as printf's
 *		ptr	where memory is: pointer, int, array, string
 *		map	@x, without a key
 *		type	a type, or an expression, whose type is meant
 *		name	a bare identifier that only the row understands, as in nsecs(boot); or any
 *	[ ]	optional
 *	...	any number more, of any type
 *
 * Without parentheses in the signature the row is a variable; it may then also be called as NAME().
 * Several rows may share a name: the first whose number of arguments fits is taken.
 */
#pragma once
#include "core/probe.h"
#include "core/record.h"
#include "core/value.h"
#include "ir/ir.h"

struct agg;
struct sema;
struct lower;
struct reporter;
struct node;
struct place;

/*
 * Where a value is, or is to be put: BPF memory at base + off. base none: nowhere. The rest is for
 * what is put there, and goes along to its parts (mem_at); other memory wants all of a value.
 */
struct mem {
	struct ref base; /* temporary (address) or memory slot */
	i32 off;
	bool loose; /* it takes stores at any alignment */
	bool nopad; /* text need not be zeroed behind its end: it only travels in a record */
	bool stale; /* it holds old data: text is zeroed even with nopad, unless its length is sent */
	bool frames_only; /* nor a stack behind its last frame: it is only hashed */
	/* A text that comes last in a record: its length with the NUL goes here if it can be told,
	 * and what is behind may be missing. NULL: nobody asks. */
	struct ref *tail;
};
#define MEM_NONE ((struct mem){0})
static inline struct mem mem_of(struct ref base, i32 off)
{
	return (struct mem){.base = base, .off = off};
}

enum builtin_flags {
	B_ASYNC = 1 << 0,   /* lower() writes a record, handle() reads it in user space */
	B_UNSAFE = 1 << 1,  /* needs --unsafe */
	B_AGG = 1 << 2,     /* only as the right side of @map = */
	B_CONST = 1 << 3,   /* check() or type() turns the call into a literal; never lowered */
	B_OLD = 1 << 4,     /* an old spelling */
	B_END = 1 << 5,     /* ends the probe (exit) */
	B_STMT_OK = 1 << 6, /* no "return value discarded" warning */
	B_TIMED = 1 << 7,   /* its record carries the time at which the probe fired */
	B_ELEMENT = 1 << 8, /* of its map it touches one element, by the calls for that */
	B_SEQ = 1 << 9,     /* with B_ASYNC: works in pinned iterators, where no record is read */
	B_OWN = 1 << 10,    /* no macro takes the name away, and no parameter of one */
	B_NUMBERED =
		1 << 11, /* a variable whose name ends in N, for a number: arg0; node.num is it */
	/* What its handle() does to the machine: start programs, read files, write files. */
	B_RUNS = 1 << 12,
	B_READS = 1 << 13,
	B_WRITES = 1 << 14,
	B_SETS = 1 << 15, /* its last argument is a variable, which it gives a value */
	B_SAYS = 1 << 16, /* handle() tells what the script says: diags_said_at() where */
	B_ROW = 1 << 17,  /* every event of a recording has it, whatever was kept */
};

/* What passes of the compiler look for before anything has a type: the row says that it is meant,
 * so that they know no names. */
enum builtin_role {
	ROLE_NONE,
	ROLE_ARGS,    /* the probe's arguments: members are found by its way, the whole by .place */
	ROLE_CONTEXT, /* the program's context: where PROBE_CTX_ARGS says so, another word for args */
	ROLE_OPTIONS, /* opt: the script's options */
	ROLE_LISTED,
	ROLE_EXISTS,
	ROLE_EMIT,
	ROLE_KEEP,
	ROLE_CPU,    /* the processor's number */
	ROLE_TASK,   /* the current task: what a recorded row knows of it needs no memory */
	ROLE_LEN,    /* of a value; of a stack, only user space may know it */
	ROLE_DELETE, /* in old scripts a call may be about several maps */
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
	u32 where; /* flags (enum probe_flags) of which the probe must have one; 0: anywhere */
	u32 asks;  /* enum point_use: what a body that uses it asks of its probe */
	enum builtin_role role : 8;
	/*
	 * ROLE_KEEP: what the columns of its first arguments are called, up to a NULL; others are called as the arguments
	 * are written. Its rows are no events of the probe, but have a probe of their own: "NAME:" and the probe. NULL: its
	 * rows are the events, and all columns are called as the arguments are written.
	 */
	const char *const *kept_as;
	/*
	 * Over a recording: the function that answers for this one by what keep() was given of a call of it. Its arguments:
	 * what was kept, the third and fourth argument of that call (literals), and all but the first two of this call.
	 * NULL: a recording has the function only if just this call of it was kept.
	 */
	const char *recorded;
	/* B_OLD: the name by which it goes now; then the row has nothing else. NULL: it works. */
	const char *today;
	/* Where a result in memory lies that is not to be made; instead of lower(). NULL: lower(). */
	struct place (*place)(struct lower *l, struct node *call);
	/*
	 * Result type, once the arguments have types; may run many times (fixpoint), so it must not
	 * report anything that could still change. NULL: the signature says it.
	 */
	const struct type *(*type)(struct sema *s, struct node *call);
	/* After the fixpoint: what the signature cannot say. Reports by diag_add; false: there was
	 * an error. */
	bool (*check)(struct sema *s, struct node *call);
	/* User-space half: v are the decoded fields of the record. */
	void (*handle)(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
		       u64 ts);
	/* Of what prints a map as a table (schema.maps): a key of the first map as the rows show it. NULL: as
	 * print() does. */
	void (*key_text)(struct reporter *r, const struct schema *sc, const struct value *key,
			 struct sb *out);
	/* The same: the unit of the values of this map, in nanoseconds; 0: they are no times. */
	u64 (*unit_ns)(const struct schema *sc);
	/* B_AGG: what its values are; core/agg.h. */
	const struct agg *agg;
	/* B_AGG: add one observation to the copy at dst (address of the value's words). */
	void (*add)(struct lower *l, struct node *call, struct mem dst, bool shared);
	/* B_AGG, histograms: which of the copy's words the observation adds one to. */
	struct ref (*bucket)(struct lower *l, struct node *call);
	/* ... and what it adds there; NULL: 1. */
	struct ref (*weight)(struct lower *l, struct node *call);
	const char *doc; /* NULL: scripts do not name it; a query does (.recorded) */
};

/* One table per file, ended by {0}; builtin/registry.c lists the tables. */
extern const struct builtin *const builtin_tables[];
