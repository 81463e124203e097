/*
 * follow.h - inside unwind: processes that stacks came from, whose mappings programs know. Each has a list of pieces
 * (core/unwind.h), which is made anew when the process maps something.
 */
#pragma once
#include "run/mmap_events.h"
#include "run/session.h"
#include "sym/procs.h"
#include "unwind/blocks.h"
#include "unwind/copy.h"
#include "unwind/java.h"
#include "unwind/keys.h"
#include "unwind/lang.h"
#include "unwind/lists.h"
#include "unwind/memory.h"
#include "unwind/prefetch.h"
#include "unwind/tails.h"

enum {
	FOLLOW_BUCKETS = 4096,
	FOLLOW_NONE = 16, /* pages of a process that are known to hold nothing */
	FOLLOW_PAGE = 4096,
};

struct follow {
	u32 pid;
	bool dirty; /* its list is: set by follow_outdate() */
	u64 space;
	/* Since when it is followed if .space may be another one by now, and when that is read again; 0: it is right. */
	u64 early_ns, settle_ns;
	u64 asked_ns; /* /proc was read because an address was unknown */
	struct ulist *list;
	u64 none[FOLLOW_NONE];
	u32 nnone;
	struct follow *chain;
	struct unwind_piece heap[JAVA_HEAPS]; /* of code of Java, nheap of them */
	u32 nheap, heap_tries;
	u64 table; /* of the code of V8, by handles */
};
struct unwinder {
	struct session *s;
	bool ready; /* begin programs have run */
	const struct unwind *u;
	struct procs *procs;
	struct blocks blocks;
	struct lists lists;
	struct unwind_memory memory; /* of both */
	struct langs langs;
	struct ring *copies;
	struct prefetch prefetch;
	u64 prefetch_ns; /* it took so far */
	struct follow *bucket[FOLLOW_BUCKETS];
	u32 nfollow;
	bool dirty;    /* one of them may be */
	u64 settle_ns; /* the first of theirs */
	struct tails tails;
	u64 ncopy, ended[COPY_CUT + 1], no_list;
	u64 ran, hidden; /* threads that ran meanwhile, or whose memory is not ours */
	VEC(u64) cut_in; /* by file */
	VEC(struct unwind_piece) piece;
};

/* A mapping of a process, to ask for what is in its file. */
struct follow_place {
	struct unwinder *w;
	const struct proc *proc;
	const struct area *area;
	/* what is asked there, and the answer */
	sandbox_fn *fn;
	struct str args;
	struct sb *answer; /* if it is NULL, the answer is asked for later */
};

/* For the sandbox: one question about the file, or rows for blocks.h; arg: a struct follow_place. */
struct err *follow_ask_file(void *arg, sandbox_fn *fn, struct str args, struct sb *answer);
/* The result is NULL when there are too many files. */
struct ufile *follow_file(struct unwinder *w, const struct area *a);
/* Code that is made at run time: the rule for all of an area. */
u32 follow_made_rule(struct unwinder *w, const struct proc *p, const struct area *a);
/* Programs know processes that run this file. */
void follow_program(struct unwinder *w, struct unwind_program_key key, const struct ufile *f);
/* The number of the interpreter that a file contains, and 1; 0: none. */
u32 follow_lang(struct unwinder *w, struct ufile *f, struct follow_place *at);
/* Where the code of Java is that a process has at base (lang: number, and 1). */
void follow_heaps(struct unwinder *w, struct follow *f, u32 lang, u64 base);

/* A walk came to this process, which had this space then. */
struct follow *follow_process(struct unwinder *w, u32 pid, u64 space);
void follow_outdate(struct unwinder *w, struct follow *f); /* its list is */
/* What programs have is made anew: for this process, for all that need it. */
void follow_put(struct unwinder *w, struct follow *f);
void follow_put_all(struct unwinder *w);
/* A process mapped something, or began or ended; self: a struct unwinder. */
void follow_note(struct session *s, void *self, const struct mmap_event *n);
void follow_end(struct unwinder *w);
