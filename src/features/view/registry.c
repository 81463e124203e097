/* registry.c - all views, in the order in which `v` goes through them. */
#include "live/view.h"

extern const struct live_view view_table, view_hist, view_heat, view_flame, view_series, view_text;

const struct live_view *const views[] = {
	&view_table, &view_hist, &view_heat, &view_flame, &view_series, &view_text, NULL,
};
