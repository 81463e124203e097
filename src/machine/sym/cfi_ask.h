/*
 * cfi_ask.h - unwind tables of files that others wrote: the sandbox reads them (rights/sandbox.h), and
 * what it says is checked here.
 */
#pragma once
#include "rights/sandbox.h"
#include "sym/cfi.h"

enum { CFI_SEGMENTS = 16 };
struct cfi_facts {
	u64 base;                         /* the lowest address, at a page */
	bool bare;                        /* nothing is described */
	struct segment seg[CFI_SEGMENTS]; /* executable ones, none below base */
	u32 nseg;
	struct cfi_list list; /* of files that need one */
};
/* Asks about the file that arg leads to; no file at all means the vdso. */
typedef struct err *cfi_ask(void *arg, sandbox_fn *fn, struct str args, struct sb *answer);
struct err *cfi_ask_facts(cfi_ask *ask, void *arg, u32 page, struct cfi_facts *ret);
bool cfi_take_facts(struct bytes b, struct cfi_facts *ret);
/* From base on, in whole pages; 0: that cannot be. */
u64 cfi_code_size(const struct cfi_facts *is, u32 page);

/* The rows of [from, to), in parts of step bytes; the answer holds one after the other. */
struct cfi_want {
	u64 base;
	u32 from, to, step;
	const struct cfi_list *list; /* as the facts had it */
};
struct err *cfi_ask_rows(cfi_ask *ask, void *arg, const struct cfi_want *w, struct sb *answer);

/*
 * What an answer begins with: every different rule once, each of a known kind. Of a part that makes no
 * sense cfi_take_part() is false; its rows are in order, the first at 0.
 */
enum { CFI_RULES = 1 << 16, CFI_STEP = 1 << 16 };
struct cfi_rules {
	const u8 *v; /* u32 each, nowhere aligned */
	u32 n;
	u32 left_out; /* rows whose rule did not fit: they have the first, which says nothing */
};
struct cfi_brief { /* a row of a part */
	u16 pc, rule;
};
bool cfi_take_rules(struct bytes *b, struct cfi_rules *ret);
u32 cfi_rule(const struct cfi_rules *r, u32 i);
/* The next part: v of n rows, which may lie anywhere. */
bool cfi_take_part(struct bytes *b, const struct cfi_rules *r, u32 step, const u8 **v, u32 *n);

/* Facts and all rows in one answer, where that is at most so many parts of step bytes: the file is
 * mapped once. *rows is empty otherwise, or lies in answer. */
struct cfi_all {
	u32 page, step, most;
};
struct err *cfi_ask_all(cfi_ask *ask, void *arg, const struct cfi_all *all, struct cfi_facts *ret,
			struct sb *answer, struct bytes *rows);
/* That cfi_ask_all() is going to be called: ask is called with no room for an answer (sandbox_ahead()). */
struct err *cfi_ask_ahead(cfi_ask *ask, void *arg, const struct cfi_all *all);
