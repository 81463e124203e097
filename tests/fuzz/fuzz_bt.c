/* Any text through the parser of scripts; the tree must survive being walked, copied and printed.
 */
#include "lang/ast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(struct node *n, void *size)
{
	assert(n->loc.pos + n->loc.len <= *(const size_t *)size);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	AUTO_SB out = {0};
	struct source src = {STR("fuzz"), str_n((const char *)data, size)};
	struct diags ds = {.arena = &a, .source = &src, .nsource = 1};
	struct node *tree = bt_parse(&a, &ds, 0);
	node_walk(tree, inside, &size);
	assert(node_eq(tree, node_clone(&a, tree)));
	node_dump(tree, &ds, &out);
	arena_free(&a);
	return 0;
}
