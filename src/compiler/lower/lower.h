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

enum { SCRATCH_LEVELS = 4, SCRATCH_HEADER = 8 };

/* Values computed once per run, kept for as long as they dominate what is lowered. */
enum cache_kind {
	CACHE_HELPER,  /* result of helper n, which takes no arguments */
	CACHE_NS_PID,  /* pid and tgid in sonde's own pid namespace; n is 0 */
	CACHE_TASK_ID, /* tgid or pid, at offset n of the current task */
	CACHE_ARG,     /* argument n of the probe, as its method reads it; or ARG_RET ... */
	CACHE_VALUE,   /* the same as the value of its type */
	CACHE_TIME,    /* of this run, in its records about maps; n is 0 */
};
struct cache_key {
	enum cache_kind kind;
	u32 n;
};
struct lower_cache {
	struct cache_key key;
	struct ref val;
	struct lower_cache *older;
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
	bool claims;                 /* room in a ring, beside other programs */
	bool may_sleep;              /* until a page of user memory is there: prog.sleeps */
	struct redo *redo;           /* room in a ring is held, and nothing may wait; or NULL */
	/* What callbacks share with main, as f sees it; base none: no callbacks. */
	struct mem frame;
	u32 shared;                /* offset of the shared values in scratch memory */
	bool callbacks;            /* the body has loops that may become callbacks */
	bool tight;                /* ... or calls others: the stack is shared */
	struct lower_cache *cache; /* newest first */
	u32 updates;               /* of hash maps, so far */
	struct fn *root; /* main, or the script's function being built: where return returns from */
	struct fninst *inst; /* that function, or NULL */
	struct loop *loop;   /* innermost */
	u32 rounds;          /* loops around whose rounds the verifier walks through one by one */
	struct ref which; /* of several points in one program: the number of the one that fired */
	/* Not 0: the event is a twin (which->twin) that is elsewhere. None: it never is. */
	struct ref elsewhere;
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
	SHARED_ELSEWHERE = 24,
	SHARED_VARS = 32,
	STOP_PROBE = 1, /* values of SHARED_STOP */
	STOP_FN = 2,
}; /* end the probe; with this; the point that fired; whether elsewhere; captured variables */

/* enter.c: which point of the program's fired; none of them: out. Then what its method asks first. */
void lower_which(struct lower *l, struct blk *out);
bool lower_unit(struct compile *c); /* variants -> c->fn and unit.prog */
bool emit_unit(struct compile *c);  /* c->fn -> prog.code */

/* ---- expressions ---- */
struct ref lower_value(struct lower *l, struct node *n); /* scalar types */
/* The verifier knows such a pointer: it lets programs read there, but not calculate with it. All
 * others are numbers to it. */
static inline bool is_known_pointer(const struct type *t)
{
	return t->kind == T_PTR && (t->space == AS_BTF || t->space == AS_CTX);
}
struct ref lower_operand(struct lower *l, struct node *n); /* always a number */
/* Only to be read at, or handed to a helper that reads there: may be no number. */
struct ref lower_pointer(struct lower *l, struct node *n);
void lower_into(struct lower *l, struct node *n,
		struct mem dst); /* any type; scalars are stored with their size */
void lower_into_as(struct lower *l, struct node *n, struct mem dst,
		   const struct type *as);             /* converted to as */
struct mem lower_mem(struct lower *l, struct node *n); /* memory types: readable BPF memory */
/* The same for a text; *len: as mem.tail has it, or left as it is. */
struct mem lower_text(struct lower *l, struct node *n, struct ref *len);
struct mem lower_raw(struct lower *l, struct node *n); /* the same; all bytes of a char array */
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
/* One of several texts may come to be there, or one whose length is not told. */
static inline struct mem mem_untold(struct mem m)
{
	m.tail = NULL;
	m.nopad = m.nopad && !m.stale;
	return m;
}
struct mem lower_tmp(struct lower *l, u32 size);      /* until the end of the statement */
struct ref lower_addr(struct lower *l, struct mem m); /* as a pointer value, for helpers */
struct ref lower_load(struct lower *l, u32 size, bool sign, struct mem m);
void lower_store(struct lower *l, u32 size, struct mem m, struct ref val);
void lower_zero(struct lower *l, struct mem m, u32 size);
void lower_copy(struct lower *l, struct mem dst, struct mem src, u32 size); /* between BPF memory */
/* Copy from anywhere; a failed read gives zeros and is counted. space AS_CTX, AS_STACK, AS_MAP:
 * loaded directly. */
void lower_read(struct lower *l, struct mem dst, u32 size, struct ref addr, i32 off,
		enum space space);
/*
 * One call of a helper (probe_read_user_str and the like), on addresses that are numbers. What a program that may sleep does not
 * find in memory is waited for, and read again. A read that fails all the same is counted.
 */
struct try_read {
	enum space space;
	bool str;    /* text: a failed read leaves an empty one */
	bool zeroed; /* dst is */
	struct ref dst, size, addr;
	u32 most;           /* what size is at most */
	struct blk *failed; /* where it goes on when nothing was read; NULL: as after a read */
};
/* The length of a text with its NUL; 0 of other things. */
struct ref lower_try_read(struct lower *l, const struct try_read *t);
/* fn.read_user of programs that may sleep; reader: the struct lower. */
void lower_read_user(void *reader, struct ref slot, u32 size, struct ref addr);
/* One scalar of type t (t->size bytes) at addr + off. */
struct ref lower_read_scalar(struct lower *l, const struct type *t, struct ref addr, i32 off,
			     enum space space);
/* Where something is before it is read. */
struct place {
	struct ref base; /* pointer, or memory slot */
	i32 off;
	enum space space;
	u32 bit_off, bit_len; /* a bit-field: bits from off; bit_len 0: none */
};
/*
 * NUL-terminated text at addr into dst, dst's type is string[size]; at most size - 1 bytes of text;
 * the rest of dst is zeroed (mem.nopad: is not). Gives the length with the NUL.
 */
struct ref lower_read_str(struct lower *l, struct mem dst, u32 size, struct ref addr,
			  enum space space);
/* Behind it, len is what it gave: text from p that is as long, or longer, gets its last byte in place
 * of the NUL. cut: it was cut then, and that is counted. */
void lower_last_char(struct lower *l, struct mem dst, u32 size, struct ref len, struct place p,
		     bool cut);
/* Space that a plain integer or untyped pointer means in this probe: user, or AS_NONE: its address decides. */
enum space lower_space(struct lower *l);
void lower_bytes(struct lower *l, struct mem dst, const void *data, u32 size); /* constant bytes */

/* ---- control ---- */
/* A word that other CPUs look at: a load that no later access overtakes, a store that overtakes no
 * earlier one. On machines that keep order they are plain. lower_acquire() takes FEAT_ORDERED
 * there. */
struct ref lower_acquire(struct lower *l, u32 w, struct ref base, i32 off);
void lower_release(struct lower *l, struct ref base, i32 off, struct ref val);
/* Around code that may be skipped: values cached inside are forgotten at its end. kept: what begin
 * gave; it serves several stretches of which no one runs before another. */
struct lower_cache *lower_may_skip_begin(const struct lower *l);
void lower_may_skip_end(struct lower *l, struct lower_cache *kept);
/* scope.c: goes to out when the current process is not to be traced; the maps for that. */
void lower_scope(struct lower *l, struct blk *out);
void lower_scope_maps(struct compile *c);
/* 1 if the process of this id is one of the scope's, which has some; else 0. NULL: the current process. */
struct ref lower_watched(struct lower *l, struct node *id);
/*
 * A loop of our own over memory that is not on the stack. The verifier walks through it once or
 * twice where there is may_goto: then where it begins is hidden, and each round is allowed by
 * lower_round(). Otherwise it walks through every round.
 */
struct ref lower_index(struct lower *l, u64 first, struct mem m); /* a variable */
void lower_round(struct lower *l, struct blk *done);
void lower_end_probe(struct lower *l); /* leave the program (also out of loops) */
void lower_return(struct lower *l, struct ref val);
struct ref lower_cached(const struct lower *l, struct cache_key key); /* REF_NONE: not kept */
struct ref lower_cache_put(struct lower *l, struct cache_key key, struct ref val); /* gives val */
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
/* Address of the one element of an array. */
struct ref lower_element(struct lower *l, const struct map *m);

/* ---- for methods to keep a map: core/store.h ---- */
/* A key in memory; of maps whose keys are hashed the hash, and what it stands for. */
struct map_key {
	struct mem mem, full;
};
struct map_key lower_key(struct lower *l, const struct map *m, struct node *key);
/* A hashed key is about to be stored: remember what it stands for. 0, or an error number below it. */
struct ref lower_note_key(struct lower *l, const struct map *m, const struct map_key *k);
/* The same; goes to known, or to refused, and gives the error. */
struct ref lower_keep_key(struct lower *l, const struct map *m, const struct map_key *k,
			  struct blk *known, struct blk *refused);
/* A hash of 64 bits of a value: the first half of what stands for it where it is a long key. */
struct ref lower_hash(struct lower *l, struct node *n);
/* The words of a key: how many. A hash of words. */
u32 lower_key_words(struct lower *l, struct mem key, u32 size, struct ref *word);
struct ref lower_hash_words(struct lower *l, const struct ref *word, u32 n);
/* One more observation in the copy at p; percpu: of this CPU. */
void lower_add(struct lower *l, struct map *m, struct node *call, struct ref p, bool percpu);
/* Count an update that was, with this error. */
void lower_refused(struct lower *l, const struct map *m, struct ref error);
/* What a map's helper gave, as stat_error() says: the kernel calls some directly, and of an int that
 * is returned (before Linux 6.4) only the lower half is told. */
struct ref lower_error(struct lower *l, struct ref r);
/* An aggregation as an integer: a copy; its first word and, where it is a mean, the second. */
struct ref lower_agg_word(struct lower *l, const struct map *m, struct ref p);
struct ref lower_agg_number(struct lower *l, const struct map *m, struct ref total, struct ref n);

/* ---- inside lower/ ---- */
/* rings.c, of kern/rings.h: room for a record. Between claim and finish no code may leave. */
struct claim {
	struct mem rec; /* the record */
	struct ref ring, at, end, size, turn;
	bool shared; /* other programs claim, too */
};
void lower_rings(struct lower *l, u32 n, u32 bytes);   /* bytes: of each, a power of two */
void lower_share(struct unit *u, u32 nprog);           /* of those that made records */
bool lower_fits_ring(const struct lower *l, u32 size); /* may be claimed before it is filled */
/* size: a multiple of 8, most is its limit; both with RINGS_WORD. */
void lower_claim(struct lower *l, struct ref size, u32 most, struct blk *full, struct claim *c);
void lower_shrink(struct lower *l, struct claim *c, struct ref size);
void lower_finish(struct lower *l, const struct claim *c, bool now); /* now: wake the reader */
/* A page is not there while room is held for a record: the room is left without one, the page
 * waited for, and all is done again. */
struct redo {
	struct claim *claim;
	struct blk *start;
	struct ref tries; /* a variable: how often it was done again, */
	u32 most;         /* and how often it may be */
};
void lower_redo(struct lower *l, struct redo *r); /* leaves the room */
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
void lower_unroll(struct lower *l, struct node *n);
void lower_break(struct lower *l, bool cont);
/* A function of its own for code that shares the frame; parameter ctx_param is the frame. loop
 * NULL: not a loop's body. */
struct saved {
	struct fn *f;
	struct ref scratch;
	struct mem frame;
	struct loop *loop;
	u32 rounds;
	struct lower_cache *cache;
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
/* The n-th member of args or ARG_RET: a scalar, or where it lies. address: only to be read from. */
struct ref lower_arg_value(struct lower *l, i32 n, const struct type *t, bool address);
struct place lower_arg_place(struct lower *l, i32 n, const struct type *t);
/* A row's result that is not made: it lies somewhere. */
static inline bool lower_has_place(const struct node *n)
{
	return (n->kind == N_NAME || n->kind == N_CALL) && n->fn->place && !type_is_scalar(n->type);
}
struct ref lower_float_compare(struct lower *l, struct node *n, enum op op);
struct ref lower_float_to_int(struct lower *l, struct node *n);
/* n * by, towards zero; by is at most FLOAT_MOST_SCALE. What does not fit is the nearest that does. */
enum { FLOAT_MOST_SCALE = 1000000000 };
struct ref lower_float_scaled(struct lower *l, struct node *n, u32 by);
struct ref lower_memeq(struct lower *l, struct node *n, bool ne); /* == of things in memory */
struct map *unit_map(struct compile *c, enum map_role role,
		     const char *name);           /* a new map of the compiler's own */
struct mem lower_shared(struct lower *l, u32 at); /* a shared value */
void lower_convert_mem(struct lower *l, struct mem src, const struct type *from, struct mem dst,
		       const struct type *as);

/* regs.c: registers (offsets) of user mode into variables: of where the process left it, or the probe's. */
void lower_user_regs(struct lower *l, u32 n, const i32 *at, const struct ref *var);
/* Likewise of another task. */
void lower_regs_of(struct lower *l, struct ref task, u32 n, const i32 *at, const struct ref *var);
/* A return address without its signature. */
struct ref lower_unsigned(struct lower *l, struct fn *f, struct ref v);
