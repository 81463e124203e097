/*
 * view.h - ways to draw what a run has: one row per view, in features/view/.
 *
 * A view is given a table of the model, or one row of it, and draws into a rectangle of a grid. It keeps
 * nothing but struct view_state, which belongs to the pane. views[] is in the order in which `v` goes
 * through them; the first that .is_default() is what a pane begins with.
 */
#pragma once
#include "live/grid.h"
#include "live/lines.h"
#include "live/model.h"

/* Of a pane, from one drawing to the next; all zeros at first. */
struct view_state {
	u32 cursor, top; /* the selected entry, and the first that is drawn */
	u32 n;           /* entries that can be selected; set by draw() */
	u32 page;        /* how many fit; set by draw() */
	u32 sort;        /* column + 1 by which rows are sorted; 0: the view's choice */
	bool reverse;
	struct str by;      /* the view's choice, if it has a column of that name; "" */
	struct sb selected; /* key of the selected row; set by draw() */
	u64 box, zoom; /* of flame graphs: the selected frame, and the one that is as wide as all */
	struct flame_box *boxes; /* drawn last */
	u32 nbox;
};

struct view_env {
	const struct live_model *m;
	const struct live_table *t; /* NULL: the text */
	const struct live_row *row; /* only this row; NULL: all */
	/* Others whose values for the same keys are columns beside. */
	const struct live_table *const *beside;
	u32 nbeside;
	const struct live_lines *lines;
	u32 text; /* whose number is this */
	struct live_look look;
	u32 back;          /* steps from the last reading to look.at */
	struct str filter; /* words; "" shows all */
	bool focus;        /* the pane has the keyboard */
	struct view_state *st;
	struct arena *a; /* until the drawing is done */
};

struct live_view {
	const char *name, *doc;
	char key; /* chooses the view; 0 if only `v` does */
	bool (*fits)(const struct live_table *t, const struct live_row *row);
	bool (*is_default)(const struct live_table *t, const struct live_row *row);
	void (*draw)(struct view_env *v, struct grid *g, struct rect r);
	/* An arrow key, with its number of rows or columns. False if the pane is to move the cursor. NULL: it
	 * always does. */
	bool (*move)(struct view_env *v, int dx, int dy);
	/* The mouse, at a place in the rectangle that was drawn last. False if nothing came of it. NULL: nothing ever does. */
	bool (*click)(struct view_env *v, struct rect r, u32 x, u32 y);
	/* Enter, and Backspace if !in. False if the pane is to go into the row, or out of it. */
	bool (*enter)(struct view_env *v, bool in);
	/* Of a page: the value of a member, on one line. */
	void (*json)(struct view_env *v, struct sb *b);
	/* view_state.by may be this word. NULL: it has no columns. */
	bool (*sorts_by)(struct str column);
};
extern const struct live_view *const views[]; /* view/registry.c, ended by NULL */

/* live/pick.c */
const struct live_view *view_named(struct str name);
bool view_sorts_by(struct str column); /* one of the views has such a column, or may have */
const struct live_view *view_for(const struct live_table *t, const struct live_row *row);
/* The next one that fits, behind v. */
const struct live_view *view_after(const struct live_view *v, const struct live_table *t,
				   const struct live_row *row);
