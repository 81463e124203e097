/* agg.c - the aggregation that a type means. */
#include "core/agg.h"
#include "core/builtin.h"

const struct agg *agg_of(const struct type *t)
{
	for (const struct builtin *const *b = builtin_tables; type_is_agg(t) && *b; b++)
		for (const struct builtin *row = *b; row->sig; row++)
			if (row->agg && row->agg->kind == t->kind)
				return row->agg;
	return NULL;
}
