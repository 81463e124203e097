/*
 * blocks.h - rows of files, made by block when somebody asks (core/unwind.h).
 *
 *	blocks_init(&b, page_size, &mem);
 *	f = blocks_file(&b, module);	one for each file
 *	rule = blocks_rule(&b, f, pc, ask, arg);	makes the block, if it is not there
 *	blocks_free(&b);
 *
 * When all chunks are full, the first that no walk used since it was last looked at is emptied.
 */
#pragma once
#include "base/err.h"
#include "base/vec.h"
#include "core/unwind.h"
#include "sym/cfi_ask.h"

struct module;
struct ufile {
	u64 dev, ino, born_ns;
	struct str path;
	u32 id;
	bool opened;  /* the rest is known; else it could not be opened so far */
	bool refused; /* what was said of it makes no sense */
	bool listed;  /* it needs a list */
	bool ahead;   /* blocks_ahead() was asked */
	bool early;   /* blocks_early() was asked */
	bool lang_asked;
	u32 lang;  /* number in unwind_langs plus 1, or 0 */
	u32 first; /* in the index; 0: not asked for */
	u32 nblock;
	u32 asked;           /* how often it was asked for blocks */
	struct cfi_facts is; /* its list may be thrown away */
};

struct blocks_mem {
	struct unwind_index *index;
	u32 *rules;
	u32 max_chunks;
	/* A new chunk, zeroed, in place i of the table; what was there goes. */
	struct err *(*chunk)(void *arg, u32 i, struct unwind_chunk **ret);
	/* One that chunk() put elsewhere, and whose place in the table is NULL since it was written. */
	struct err *(*map)(void *arg, u32 i, struct unwind_chunk **ret);
	void *arg;
	/* The index can be written up to its block n from now on; NULL: all of it can. */
	struct err *(*reach)(void *arg, u32 n);
};
struct blocks {
	struct blocks_mem mem;
	u32 page; /* bytes of one that files are mapped in */
	struct arena arena;
	VEC(struct ufile *) file;
	/* NULL: not mapped */
	VEC(struct unwind_chunk *) chunk;
	u32 fill, units;    /* the chunk being filled, and how far */
	u32 hand;           /* the next to look at for emptying */
	u32 nindex, nrule;  /* in use */
	u32 *hash, nhash;   /* rule -> number + 1 */
	struct sb answer;   /* kept from file to file while many are read; see blocks_early() */
	u64 list_bytes;     /* of all .list */
	u64 made, evicted;  /* blocks, chunks */
	struct err *failed; /* what memory could not be had; none is tried after it */
	u32 no_file, no_index, no_rule, no_row; /* what did not fit */
	u32 no_sense; /* answers about files, or parts of them, that cannot be */
};
void blocks_init(struct blocks *b, u32 page, const struct blocks_mem *mem);
void blocks_free(struct blocks *b);
/* NULL: there are too many. */
struct ufile *blocks_file(struct blocks *b, const struct module *m);
/* Where a byte of the file is, as rows count; false: in no code of it. Asks about it at first. */
bool blocks_pc(struct blocks *b, struct ufile *f, u64 off, cfi_ask *ask, void *arg, u32 *pc);
/* At an address that blocks_pc() gave; UNWIND_NONE: not described. */
u32 blocks_rule(struct blocks *b, struct ufile *f, u32 pc, cfi_ask *ask, void *arg);
/* All blocks of a file, unless it is large; one that nobody asked about costs one question. After
 * many, sb_free() what they kept of .answer. */
void blocks_early(struct blocks *b, struct ufile *f, cfi_ask *ask, void *arg);
/* That is going to be called; see cfi_ask_ahead(). */
void blocks_ahead(const struct blocks *b, struct ufile *f, cfi_ask *ask, void *arg);
