/*
 * batch.h - what some addresses of a file are called, found in one pass over its symbols.
 *
 * Symbols are offered in any order; of those that hold an address the same one wins as elf_at()
 * finds among all. Memory is by the addresses, however many symbols there are.
 */
#pragma once
#include "sym/sym.h"

/* Names are views of what they were offered as. */
struct batch {
	const u64 *addr; /* n of them, ascending, no two the same */
	u32 n;
	struct symbol *holds; /* by address: it has a size, and reaches over the address */
	struct symbol *plain; /* the nearest without a size, behind the address before */
	u64 *near;            /* where the nearest of all begins, behind the address before */
};
void batch_init(struct batch *s, const u64 *addr, u32 n);
void batch_free(struct batch *s);
/* Could a symbol change anything? False says that its name need not be read. */
bool batch_cares(const struct batch *s, u64 addr, u64 size);
void batch_offer(struct batch *s, const struct symbol *sym);
/* Calls cb with what each address is called, in their order; NULL: nothing is there. */
typedef void batch_cb(void *arg, const struct symbol *sym);
void batch_end(struct batch *s, batch_cb *cb, void *arg);

/* In the child: of an image, and the file with what was stripped from it (or NULL). */
void elf_image_names(const struct image *im, const struct image *other, struct batch *names,
		     batch_cb *cb, void *arg);
/* So many symbols there may be, by the sizes of the tables. */
u64 elf_image_most(const struct image *im, const struct image *other);
