/*
 * cfi_ask.h - unwind tables of files that others wrote: the sandbox reads them (kern/sandbox.h), and
 * what it says is checked here.
 */
#pragma once
#include "kern/sandbox.h"
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

/* The rows of [from, to), in parts of step bytes; the answer holds one after the other. */
struct cfi_want {
	u64 base;
	u32 from, to, step;
	const struct cfi_list *list; /* as the facts had it */
};
struct err *cfi_ask_rows(cfi_ask *ask, void *arg, const struct cfi_want *w, struct sb *answer);
/* The next part, which begins at from; its rows are in order, and each rule is of a known kind. */
bool cfi_take_rows(struct bytes *b, u32 from, u32 to, struct cfi_rows *ret);
