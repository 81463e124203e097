/*
 * board.h - the panes that a script asks for by its setting "panes": "@x [@y...] [VIEW] [by COLUMN] [shed N]: TITLE; ...".
 *
 * The first map of a pane is what it shows; of the others its table has a column each, for the same keys. WATCH_PROGRAMS in
 * the place of a map is all BPF programs of the machine.
 */
#pragma once
#include "base/err.h"
#include "live/view.h"

enum { BOARD_MAPS = 4 };

struct board_pane {
	struct str map[BOARD_MAPS];
	u32 nmap;
	const struct live_view *view; /* NULL: the first that fits */
	struct str by;                /* column that rows are sorted by; "": the view's choice */
	struct str title;
	u32 shed; /* its place among those that are not traced if the board costs too much; 0: it always is */
};
struct board {
	struct board_pane *pane; /* in the order of the setting; NULL if there is none */
	u32 n;
};

/* Texts are those of the unit. An err names what is wrong in the setting. */
struct err *board_read(struct arena *a, const struct unit *u, struct board *ret) MUST_USE;
/* The pane of a map; *first: it is what the pane shows. NULL: it is in none. */
const struct board_pane *board_find(const struct board *b, struct str map, bool *first);
