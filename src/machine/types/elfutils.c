/* elfutils.c - what the archives of elfutils ask of a program that is linked with them.
 *
 * Since 0.192 libdw.a and libelf.a call functions of elfutils' inner library, libeu, which no
 * package ships (0.193 and newer carry them in libelf.a, so that libdw.a beside a shared libelf
 * still misses them). Here they are: search trees of POSIX, under one lock for all of them. Of a
 * tree we know that its first member is the root; the lock of its own behind it is not used.
 *
 * The archives also hold what sonde never asks for: compression of sections, disassemblers, zstd's
 * formats from before its first release, older than compressed debug sections. A definition here
 * keeps 700 KB of libzstd, zlib and libdw out of a static program. All are weak: an archive that
 * has a strong one of the same name, linked for another reason, goes first.
 */
#include "base/base.h"
#include <pthread.h>
#include <search.h>

#define WEAK __attribute__((weak))

struct eu_tree {
	void *root;
};
typedef int eu_compare(const void *, const void *);

WEAK void eu_search_tree_init(struct eu_tree *t);
WEAK void eu_search_tree_fini(struct eu_tree *t, void (*free_node)(void *));
WEAK void *eu_tsearch(const void *key, struct eu_tree *t, eu_compare *compare);
WEAK void *eu_tfind(const void *key, struct eu_tree *t, eu_compare *compare);
WEAK void *eu_tdelete(const void *key, struct eu_tree *t, eu_compare *compare);
WEAK void eu_tdestroy(struct eu_tree *t, void (*free_node)(void *));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void eu_search_tree_init(struct eu_tree *t)
{
	t->root = NULL;
}

void *eu_tsearch(const void *key, struct eu_tree *t, eu_compare *compare)
{
	pthread_mutex_lock(&lock);
	void *node = tsearch(key, &t->root, compare);
	pthread_mutex_unlock(&lock);
	return node;
}

void *eu_tfind(const void *key, struct eu_tree *t, eu_compare *compare)
{
	pthread_mutex_lock(&lock);
	void *node = tfind(key, &t->root, compare);
	pthread_mutex_unlock(&lock);
	return node;
}

void *eu_tdelete(const void *key, struct eu_tree *t, eu_compare *compare)
{
	pthread_mutex_lock(&lock);
	void *parent = tdelete(key, &t->root, compare);
	pthread_mutex_unlock(&lock);
	return parent;
}

/* Unlocked: freeing a node frees the trees inside it, and nobody else has the tree any more. */
void eu_tdestroy(struct eu_tree *t, void (*free_node)(void *))
{
	tdestroy(t->root, free_node);
	t->root = NULL;
}

void eu_search_tree_fini(struct eu_tree *t, void (*free_node)(void *))
{
	eu_tdestroy(t, free_node);
}

/* Answers "no" in each library's way: NULL, or an error code. */
#define NEVER(type, name, no) \
	WEAK type name(void); \
	type name(void)       \
	{                     \
		return no;    \
	}

/* Of a build that compresses recordings by zstd these are the library's. */
#ifndef HAVE_ZSTD
NEVER(void *, ZSTD_createCCtx, NULL)
NEVER(size_t, ZSTD_compressStream2, (size_t)-1)
NEVER(size_t, ZSTD_freeCCtx, 0)
#endif
NEVER(int, gzclose_w, -2)
NEVER(int, x86_64_disasm, -1)
NEVER(int, i386_disasm, -1)
NEVER(int, riscv_disasm, -1)
NEVER(int, bpf_disasm, -1)

/* A frame of such a format is damaged, as any other unknown one. */
#define NEVER_ZSTD(v)                                                                           \
	NEVER(void *, ZSTD##v##_createDCtx, NULL)                                               \
	NEVER(size_t, ZSTD##v##_freeDCtx, 0)                                                    \
	NEVER(size_t, ZSTD##v##_decompress_usingDict, (size_t)-1)                               \
	NEVER(size_t, ZSTD##v##_getFrameParams, (size_t)-1)                                     \
	NEVER(void *, ZBUFF##v##_createDCtx, NULL)                                              \
	NEVER(size_t, ZBUFF##v##_freeDCtx, 0)                                                   \
	NEVER(size_t, ZBUFF##v##_decompressInitDictionary, (size_t)-1)                          \
	NEVER(size_t, ZBUFF##v##_decompressContinue, (size_t)-1)                                \
	WEAK void ZSTD##v##_findFrameSizeInfoLegacy(const void *, size_t, size_t *, u64 *);     \
	void ZSTD##v##_findFrameSizeInfoLegacy(const void *p, size_t n, size_t *size, u64 *out) \
	{                                                                                       \
		(void)p;                                                                        \
		(void)n;                                                                        \
		*size = (size_t)-1;                                                             \
		*out = (u64)-2; /* ZSTD_CONTENTSIZE_ERROR */                                    \
	}

NEVER_ZSTD(v05)
NEVER_ZSTD(v06)
NEVER_ZSTD(v07)
