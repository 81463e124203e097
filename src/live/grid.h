/*
 * grid.h - a screen in memory: cells with a character and a style. Views draw here, tests compare it,
 * term.c writes what changed.
 */
#pragma once
#include "base/str.h"

/* Colours by meaning; how they look is decided by term.c. */
enum ink {
	INK_PLAIN,
	INK_HEAD,  /* headings of columns */
	INK_TITLE, /* of a pane */
	INK_KEY,   /* a key of the keyboard */
	INK_VALUE,
	INK_BAR,
	INK_LINE, /* sparklines, graphs */
	INK_BAD,  /* losses, errors */
	INK_GOOD,
	INK_DIM,
	INK_HEAT, /* and HEAT_INKS - 1 behind it: a scale */
	HEAT_INKS = 8,
	INK_FRAME = INK_HEAT + HEAT_INKS, /* boxes of flame graphs, several hues */
	FRAME_INKS = 4,
	INKS = INK_FRAME + FRAME_INKS,
};
enum { STYLE_BOLD = 1, STYLE_REVERSE = 2 };
struct style {
	u8 ink, flags;
};

struct cell {
	u32 ch; /* code point; 0: the right half of a wide character */
	struct style style;
};
struct grid {
	u32 w, h;
	bool ascii; /* no character above 126 is drawn */
	struct cell *cell;
};
struct rect {
	u32 x, y, w, h;
};

void grid_size(struct grid *g, u32 w, u32 h); /* also clears it */
void grid_clear(struct grid *g);
void grid_free(struct grid *g);
static inline struct rect grid_rect(const struct grid *g)
{
	return (struct rect){0, 0, g->w, g->h};
}

void grid_put(struct grid *g, u32 x, u32 y, u32 ch, struct style s);
/* At most w columns; what is cut ends in ">". Return the columns used. Control characters are never drawn. */
u32 grid_text(struct grid *g, u32 x, u32 y, u32 w, struct style s, struct str text);
/* The same, right-aligned in w columns. */
void grid_right(struct grid *g, u32 x, u32 y, u32 w, struct style s, struct str text);
void grid_fill(struct grid *g, struct rect r, u32 ch, struct style s);
/* Change the style of a row of cells. */
void grid_style(struct grid *g, u32 x, u32 y, u32 w, struct style s);
/* A horizontal bar of part/whole of w columns, in eighths of a column. */
void grid_bar(struct grid *g, u32 x, u32 y, u32 w, struct style s, double part);
/* One character that is part/whole high: a sparkline. */
u32 grid_spark(const struct grid *g, double part);
/* Columns that a character takes: 0, 1 or 2. */
u32 ch_width(u32 ch);
u32 text_columns(struct str s);
/* The code point that s begins with, and its bytes; what is not UTF-8 is '?'. */
u32 ch_next(struct str s, u32 *bytes);
void ch_put(struct sb *b, u32 ch); /* as UTF-8 */
/* Characters as lines of text, without blanks at their ends: for tests and for terminals that are none. */
void grid_lines(const struct grid *g, struct sb *out);
