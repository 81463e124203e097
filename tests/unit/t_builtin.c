/* Every row of the builtin tables is complete: what the compiler, the runtime and the reference
 * read of it is there. */
#include "core/builtin.h"
#include "test.h"

typedef void row_cb(const struct builtin *b);

static void each_row(row_cb *cb)
{
	for (u32 t = 0; builtin_tables[t]; t++)
		for (const struct builtin *b = builtin_tables[t]; b->sig; b++)
			cb(b);
}

/* Whether another function is answered by this one over recordings: scripts do not name it. */
static bool is_for_recordings(const struct builtin *of)
{
	for (u32 t = 0; builtin_tables[t]; t++)
		for (const struct builtin *b = builtin_tables[t]; b->sig; b++)
			if (b->recorded && strstr(of->sig, b->recorded))
				return true;
	return false;
}

static void check_doc(const struct builtin *b)
{
	if (!b->doc) {
		CHECK(is_for_recordings(b));
		return;
	}
	CHECK(b->doc[strlen(b->doc) - 1] == '.' || b->doc[strlen(b->doc) - 1] == '?');
}

TEST(builtin_rows_are_documented)
{
	each_row(check_doc);
}

static void check_halves(const struct builtin *b)
{
	if (b->today) {
		CHECK((b->flags & B_OLD) && !b->lower && !b->handle && !b->type);
		return;
	}
	if (b->flags & B_AGG)
		CHECK(b->add && b->type && !b->lower && !b->handle);
	else if (b->flags & B_CONST)
		CHECK((b->type || b->check) && !b->lower && !b->handle);
	else if (b->flags & B_ASYNC)
		CHECK((b->handle || b->role == ROLE_KEEP) &&
		      (!strncmp(b->sig, "void ", 5) || b->lower));
	else
		CHECK((b->lower || b->place) && !b->handle);
	if (!strncmp(b->sig, "auto ", 5))
		CHECK(b->type != NULL);
}

TEST(builtin_rows_have_both_halves)
{
	each_row(check_halves);
}

/* "RESULT NAME" or "RESULT NAME(...)". */
static void check_sig(const struct builtin *b)
{
	const char *name = strchr(b->sig, ' '), *open;
	CHECK(name && name > b->sig);
	open = strchr(b->sig, '(');
	CHECK(!open || b->sig[strlen(b->sig) - 1] == ')');
	CHECK(!open || (open > name + 1 && open[-1] != ' '));
}

TEST(builtin_signatures_have_a_result_and_a_name)
{
	each_row(check_sig);
}
