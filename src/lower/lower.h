/*
 * lower.h - typed tree -> IR.
 *
 * Scalars (TF_SCALAR) are 64-bit values, always extended as their type says.
 * Everything else lives in memory: lower_into() fills memory that the caller
 * chose, lower_mem() gives memory that already holds the value or is made for
 * it. Temporary memory (lower_tmp) is on the BPF stack while it is small and
 * there is room, else in the program's scratch area (per CPU and nesting
 * level), and is free again at the end of the statement; so the 512 bytes are
 * nobody's problem.
 */
#pragma once
#include "ir/ir.h"
#include "sema/sema.h"

enum { CACHE_SLOTS = 24, SCRATCH_LEVELS = 4, SCRATCH_HEADER = 8 };
struct lower_cache { /* values computed once per run, valid where they dominate */
	u32 key;
	struct ref val;
};

/* The loop around the code being lowered; see loop.c. */
struct loop {
	struct blk *brk, *cont; /* an inline loop's targets; NULL: a callback's body */
	struct fn *f;           /* function that it is part of */
	struct loop *outer;
};

struct lower {
	struct compile *c;
	struct unit *u;
	struct variant *v;
	struct point *pt; /* the point this program is for (the first of several) */
	struct prog *prog;
	struct fn *f; /* being built: main, or a loop body */
	struct fn *main;
	struct blk *exit;            /* releases scratch memory and returns */
	struct ref retval;           /* main's variable: what the program returns */
	struct ref scratch;          /* variable of f: base of this run's scratch memory */
	u32 scratch_at, scratch_max; /* bytes in use now; most ever */
	struct mem
		frame;   /* what callbacks share with main, as f sees it; base none: no callbacks */
	u32 shared;      /* offset of the shared values in scratch memory */
	u32 shared_loop; /* next free word for a loop's lower bound */
	bool callbacks;  /* the body has loops that may become callbacks */
	bool tight;      /* ... or calls others: the stack is shared */
	struct lower_cache cache[CACHE_SLOTS];
	u32 ncache;
	struct fn *root; /* main, or the script's function being built: where return returns from */
	struct fninst *inst; /* that function, or NULL */
	struct loop *loop;   /* innermost */
	struct ref which; /* of several points in one program: the number of the one that fired */
	struct mem full_key; /* of the last key made for a map whose keys are hashed */
	bool numbers;        /* pointers are wanted as numbers: the code will calculate with them */
	bool nopad;       /* text need not be zeroed behind its end: it only travels in a record */
	bool frames_only; /* nor a stack behind its last frame: its key is hashed */
	bool loose;       /* what is filled lies in memory that takes stores at any alignment */
	bool want_tail;   /* the next text read is the last of its record: */
	struct ref tail;  /* its length, if it could be told; memory that was zero is zero behind it
			     (kern/rings.h) */
};

/*
 * What loop bodies that became functions share with the main one. On main's stack, handed on as the
 * callback's context: pointers, whose kind the verifier must know. In scratch memory: values, which
 * the verifier must not follow from round to round, or it would never be done.
 */
enum { FRAME_CTX = 0, FRAME_SCRATCH = 8, FRAME_SIZE = 16 };
enum {
	SHARED_STOP = 0,
	SHARED_RETVAL = 8,
	SHARED_WHICH = 16,
	SHARED_VARS = 24,
	STOP_PROBE = 1, /* values of SHARED_STOP */
	STOP_FN = 2,
}; /* end the probe; with this; the point that fired; captured variables */

bool lower_unit(struct compile *c); /* variants -> c->fn and unit.prog */
bool emit_unit(struct compile *c);  /* c->fn -> prog.code */

/* ---- expressions ---- */
struct ref lower_value(struct lower *l, struct node *n); /* scalar types */
void lower_into(struct lower *l, struct node *n,
		struct mem dst); /* any type; scalars are stored with their size */
void lower_into_as(struct lower *l, struct node *n, struct mem dst,
		   const struct type *as);              /* converted to as */
struct mem lower_mem(struct lower *l, struct node *n);  /* memory types: readable BPF memory */
struct ref lower_cond(struct lower *l, struct node *n); /* 0 or not 0 */
/* A literal, or a value clamped to max; for lengths. */
struct ref lower_length(struct lower *l, struct node *n, u64 max);
/* v, or max where it is larger: the verifier sees that. */
struct ref lower_at_most(struct lower *l, struct ref v, u64 max);

/* ---- memory ---- */
static inline struct mem mem_at(struct mem m, i32 off)
{
	m.off += off;
	return m;
}
struct mem lower_tmp(struct lower *l, u32 size);      /* until the end of the statement */
struct ref lower_addr(struct lower *l, struct mem m); /* as a pointer value, for helpers */
struct ref lower_load(struct lower *l, u32 size, bool sign, struct mem m);
void lower_store(struct lower *l, u32 size, struct mem m, struct ref val);
void lower_zero(struct lower *l, struct mem m, u32 size);
bool lower_loose(const struct lower *l, struct mem m); /* it takes stores at any alignment */
void lower_copy(struct lower *l, struct mem dst, struct mem src, u32 size); /* between BPF memory */
/* Copy from anywhere; a failed read gives zeros and is counted. space AS_CTX, AS_STACK, AS_MAP:
 * loaded directly. */
void lower_read(struct lower *l, struct mem dst, u32 size, struct ref addr, i32 off,
		enum space space);
/* One scalar of type t (t->size bytes) at addr + off. */
struct ref lower_read_scalar(struct lower *l, const struct type *t, struct ref addr, i32 off,
			     enum space space);
/*
 * NUL-terminated text at addr into dst, dst's type is string[size]; at most size - 1 bytes of text;
 * the rest of dst is zeroed. cut: a longer text is marked (no NUL in dst) and counted.
 */
void lower_read_str(struct lower *l, struct mem dst, u32 size, struct ref addr, enum space space,
		    bool cut);
/* Space that a plain integer or untyped pointer means in this probe: user, kernel, or AS_NONE. */
enum space lower_space(struct lower *l);
void lower_bytes(struct lower *l, struct mem dst, const void *data, u32 size); /* constant bytes */

/* ---- control ---- */
void lower_push(
	struct lower *l,
	u32 *ncache); /* enter code that may not run: cached values made inside are forgotten */
void lower_pop(struct lower *l, u32 ncache);
/* scope.c: goes to out when the current process is not to be traced; the maps for that. */
void lower_scope(struct lower *l, struct blk *out);
void lower_scope_maps(struct unit *u);
void lower_end_probe(struct lower *l); /* leave the program (also out of loops) */
void lower_return(struct lower *l, struct ref val);
struct ref lower_cached(struct lower *l, u32 key); /* REF_NONE: not yet */
struct ref lower_cache_put(struct lower *l, u32 key, struct ref val);
/* A helper without arguments that gives the same result during a run: called once. */
struct ref lower_helper0(struct lower *l, u32 helper);
/* The program's context, also in loop bodies that are callbacks. */
struct ref lower_ctx(struct lower *l);
/* Monotonic time at which tracing started, for elapsed. */
struct ref lower_start_ns(struct lower *l);

/* ---- records, maps, counters ---- */
/* A record of these arguments for the call's row; args may be fewer than the call's. sc: fmt, map,
 * n, msg preset. */
void lower_record(struct lower *l, struct node *call, struct node *args, struct schema *sc);
struct schema *lower_schema(struct lower *l, const struct builtin *fn, struct loc loc);
/* printf of a pinned iterator. */
void lower_seq(struct lower *l, struct node *args, struct str fmt);
void lower_warn(struct lower *l, struct loc loc,
		const char *msg);                   /* a run-time warning with its place */
void lower_stat(struct lower *l, enum stat_word w); /* count one */
/* Key of a map access in memory; scalar maps: u32 0. */
struct mem lower_key(struct lower *l, struct map *m, struct node *key);
struct ref lower_lookup(struct lower *l, struct map *m,
			struct mem key); /* address of the value or 0 */
void lower_update(struct lower *l, struct map *m, struct mem key,
		  struct mem val);                                       /* refusals are counted */
struct ref lower_delete(struct lower *l, struct map *m, struct mem key); /* 1: was there */
/* Add an observation: find or make the element, then row->add(). */
void lower_agg(struct lower *l, struct node *map, struct node *call);

/* cell.c, of maps that have cells: value or 0, and was it there? */
struct ref lower_cell_read(struct lower *l, struct map *m, struct mem key, struct ref *there);

/* ---- inside lower/ ---- */
/* rings.c, of kern/rings.h: room for a record. Between claim and finish no code may leave. */
struct claim {
	struct mem rec; /* the record */
	struct ref ring, at, end, size, turn;
};
void lower_rings(struct lower *l, u32 n, u32 bytes);   /* bytes: of each, a power of two */
bool lower_fits_ring(const struct lower *l, u32 size); /* may be claimed before it is filled */
/* size: a multiple of 8, most is its limit; both with RINGS_WORD. */
void lower_claim(struct lower *l, struct ref size, u32 most, struct blk *full, struct claim *c);
void lower_shrink(struct lower *l, struct claim *c, struct ref size);
void lower_finish(struct lower *l, const struct claim *c, bool now); /* now: wake the reader */
void lower_cell_store(struct lower *l, struct map *m, struct mem key, struct ref val);
struct ref lower_cell_delete(struct lower *l, struct map *m, struct mem key);
/* Where something is before it is read. */
struct place {
	struct ref base; /* pointer, or memory slot */
	i32 off;
	enum space space;
	u32 bit_off, bit_len; /* a bit-field: bits from off; bit_len 0: none */
};
struct place lower_place(struct lower *l,
			 struct node *n); /* of a struct, array, string or member expression */
struct ref lower_read_place(struct lower *l, const struct type *t, struct place p);
struct mem lower_scratch(struct lower *l, u32 size); /* temporary memory, never on the stack */
struct mem lower_var_mem(struct lower *l, const struct var *v);
void lower_var_set(struct lower *l, struct var *v, struct ref val);
struct ref lower_var_get(struct lower *l, const struct var *v);
/* A pointer that the verifier knows, as a number that it lets programs calculate with. */
struct ref lower_number(struct lower *l, struct ref v);
struct ref lower_convert(struct lower *l, struct ref val, const struct type *from,
			 const struct type *to);
struct ref lower_arith(struct lower *l, struct node *n, enum token op, struct ref x, struct ref y,
		       const struct type *tx, const struct type *ty);
/* Jump to yes or no, short-circuiting && || !. */
void lower_branch(struct lower *l, struct node *n, struct blk *yes, struct blk *no);
void lower_block(struct lower *l, struct node *block);
void lower_block_into(struct lower *l, struct node *block, struct mem dst, const struct type *as,
		      struct ref var);
void lower_for(struct lower *l, struct node *n);
void lower_while(struct lower *l, struct node *n);
void lower_break(struct lower *l, bool cont);
/* A function of its own for code that shares the frame; parameter ctx_param is the frame. loop
 * NULL: not a loop's body. */
struct saved {
	struct fn *f;
	struct ref scratch;
	struct mem frame;
	struct loop *loop;
	struct lower_cache cache[CACHE_SLOTS];
	u32 ncache;
};
struct fn *lower_enter(struct lower *l, struct saved *s, struct loop *loop, const char *name,
		       u32 ctx_param);
void lower_leave(struct lower *l, const struct saved *s);
void lower_after_call(
	struct lower *l); /* such a function may have asked to end the probe or its caller */
struct ref lower_fncall(struct lower *l, struct node *n);
void lower_fncall_into(struct lower *l, struct node *n, struct mem dst, const struct type *as);
struct ref lower_ccall(struct lower *l, struct node *n);
void lower_fn_return(struct lower *l, struct node *value);
void lower_assign(struct lower *l, struct node *n);
struct ref lower_incdec(struct lower *l, struct node *n, bool used);
struct ref lower_map_value(struct lower *l, struct node *n); /* scalar read of @x[k] */
void lower_map_into(struct lower *l, struct node *n, struct mem dst, const struct type *as);
struct ref lower_arg(struct lower *l, i32 n); /* of the probe */
struct ref lower_float_compare(struct lower *l, struct node *n, enum op op);
struct ref lower_float_to_int(struct lower *l, struct node *n);
struct ref lower_memeq(struct lower *l, struct node *n, bool ne); /* == of things in memory */
/* table.c; core/table.h */
u32 lower_key_words(struct lower *l, struct mem key, u32 size, struct ref *word); /* how many */
struct ref lower_hash_words(struct lower *l, const struct ref *word, u32 n);
struct ref lower_table(struct lower *l, struct map *m, struct mem key, struct ref bucket,
		       struct blk *full, struct blk *refused);
void lower_keep_key(struct lower *l, struct map *m, struct mem key, struct blk *known,
		    struct blk *refused);
struct map *unit_map(struct unit *u, enum map_role role,
		     const char *name); /* a new map of the compiler's own */
void lower_probe_text(struct lower *l, struct ref id, struct mem dst, const struct type *as);
struct mem lower_shared(struct lower *l, u32 at); /* a shared value */
void lower_convert_mem(struct lower *l, struct mem src, const struct type *from, struct mem dst,
		       const struct type *as);
struct ref lower_agg_word(struct lower *l, struct map *m,
			  struct ref p); /* of one copy, as an integer */
