/* Any text through the parser of scripts; the tree must survive being walked, copied and printed,
 * and what the formatter prints must parse to the same tree. */
#include "lang/language.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(struct node *n, void *size)
{
	assert(n->loc.pos + n->loc.len <= *(const size_t *)size);
	return true;
}

static void check_format(struct arena *a, const struct node *tree, struct str text,
			 const struct comment *notes)
{
	AUTO_SB out = {0};
	languages[0]->format(tree, text, notes, &out);
	struct source src = {STR("again"), sb_str(&out)};
	struct diags ds = {.arena = a, .source = &src, .nsource = 1};
	assert(node_eq(tree, languages[0]->parse(a, &ds, 0, NULL)));
	assert(!ds.nerror);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	AUTO_SB out = {0};
	struct source src = {STR("fuzz"), str_n((const char *)data, size)};
	struct diags ds = {.arena = &a, .source = &src, .nsource = 1};
	struct comment *notes = NULL;
	struct node *tree = languages[0]->parse(&a, &ds, 0, &notes);
	node_walk(tree, inside, &size);
	assert(node_eq(tree, node_clone(&a, tree)));
	node_dump(tree, &ds, &out);
	if (!ds.nerror)
		check_format(&a, tree, src.text, notes);
	arena_free(&a);
	return 0;
}
