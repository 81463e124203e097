/* pick.c - which view draws a table. */
#include "live/view.h"

const struct live_view *view_named(struct str name)
{
	for (u32 i = 0; views[i]; i++)
		if (str_is(name, views[i]->name))
			return views[i];
	return NULL;
}

bool view_sorts_by(struct str column)
{
	bool any = false;
	for (u32 i = 0; views[i]; i++)
		any |= views[i]->sorts_by && views[i]->sorts_by(column);
	return any;
}

const struct live_view *view_for(const struct live_table *t, const struct live_row *row)
{
	for (u32 i = 0; views[i]; i++)
		if (views[i]->fits(t, row) && views[i]->is_default(t, row))
			return views[i];
	for (u32 i = 0; views[i]; i++)
		if (views[i]->fits(t, row))
			return views[i];
	assert(!"a view fits everything");
	return NULL;
}

const struct live_view *view_after(const struct live_view *v, const struct live_table *t,
				   const struct live_row *row)
{
	u32 n = 0, at = 0;
	for (; views[n]; n++)
		at = views[n] == v ? n : at;
	for (u32 i = 1; i <= n; i++)
		if (views[(at + i) % n]->fits(t, row))
			return views[(at + i) % n];
	return v;
}
