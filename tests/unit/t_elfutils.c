#include "base/base.h"
#include "test.h"
#include <stdlib.h>

/* As elfutils' archives declare them: a tree is a root, and a lock that is theirs. */
struct tree {
	void *root;
	u64 lock[8];
};
void eu_search_tree_init(struct tree *t);
void eu_search_tree_fini(struct tree *t, void (*free_node)(void *));
void *eu_tsearch(const void *key, struct tree *t, int (*compare)(const void *, const void *));
void *eu_tfind(const void *key, struct tree *t, int (*compare)(const void *, const void *));
void *eu_tdelete(const void *key, struct tree *t, int (*compare)(const void *, const void *));

struct node {
	u32 key;
	u32 *nfreed;
	struct tree inside;
};

static int by_key(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* As libdw frees a unit: with the trees in it. */
static void free_node(void *p)
{
	struct node *n = p;
	++*n->nfreed;
	eu_search_tree_fini(&n->inside, free_node);
	free(n);
}

static struct node *add(struct tree *t, u32 key, u32 *nfreed)
{
	struct node *n = calloc(1, sizeof(*n));
	*n = (struct node){.key = key, .nfreed = nfreed};
	eu_search_tree_init(&n->inside);
	struct node **slot = eu_tsearch(n, t, by_key);
	return slot ? *slot : NULL;
}

TEST(elfutils_trees)
{
	u32 nfreed = 0;
	struct tree t;
	memset(&t, 0xff, sizeof(t));
	eu_search_tree_init(&t);
	for (u32 key = 0; key < 100; key++)
		CHECK(add(&t, key * 7 % 100, &nfreed));
	struct node wanted = {.key = 42};
	struct node **found = eu_tfind(&wanted, &t, by_key);
	CHECK(found && (*found)->key == 42);
	struct node *gone = *found;
	CHECK(eu_tdelete(&wanted, &t, by_key));
	CHECK(!eu_tfind(&wanted, &t, by_key));
	free(gone);
	wanted.key = 3;
	found = eu_tfind(&wanted, &t, by_key);
	CHECK(found && add(&(*found)->inside, 1, &nfreed));
	eu_search_tree_fini(&t, free_node);
	CHECK(nfreed == 100); /* 99 of t, one inside another */
	CHECK(!t.root);
}

/* The lock behind the root is not ours to touch: its form differs between builds of elfutils. */
TEST(elfutils_lock_untouched)
{
	struct tree t;
	memset(&t, 0xa5, sizeof(t));
	u32 nfreed = 0;
	eu_search_tree_init(&t);
	CHECK(add(&t, 1, &nfreed));
	eu_search_tree_fini(&t, free_node);
	for (size_t i = 0; i < countof(t.lock); i++)
		CHECK(t.lock[i] == 0xa5a5a5a5a5a5a5a5);
}
