/* inside.h - the state of a front, for front.c, screen.c (draws it) and keys.c (changes it). */
#pragma once
#include "live/board.h"
#include "live/front.h"
#include "live/term.h"
#include "live/view.h"

struct pane {
	const struct live_table *t;    /* NULL: the text */
	const struct front_part *part; /* whose text or table it is */
	const struct board_pane *spec; /* NULL: the script asks for no panes, or it is the text */
	const struct live_table *beside[BOARD_MAPS];
	u32 nbeside;
	bool shown;     /* drawn last */
	bool seen;      /* on a page */
	struct rect at; /* where it was drawn, with its title */
	bool off;       /* its programs are detached */
	u64 shed_ns;    /* when it was left out, as the board costs too much; 0: it is not */
	u64 since_ns,
		untraced_ns; /* when it was hidden or detached; how long it was detached before */
	const struct live_view *view; /* chosen by a key; NULL: the first that fits */
	struct view_state st, outer;  /* outer: while a row is shown, that of the rows */
	struct sb filter;
	struct sb row; /* key of the row that is shown alone */
	bool inside;   /* .row is shown */
};

enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_TIME, PROMPT_SAVE };
enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_LOSSES, OVERLAY_WRONG };

/* One of the scripts that are shown. */
struct front_part {
	struct front *front;
	u32 index;
	struct front_script s;
	struct watcher watcher; /* of parts behind the first, which are read together with it */
	struct live_lines lines;
	u32 nstatus;            /* lines that only say that the run has begun */
	u64 text_at, text_from; /* bytes of the text that were read; that were dropped */
	bool ended;
};

struct front {
	struct front_spec spec;
	struct watcher watcher;
	struct live_model model;
	struct front_part *part[LIVE_TEXTS]; /* the first is that of front_open() */
	u32 npart;
	bool joint; /* a reading of all parts goes on */
	struct term term;
	struct grid grid;
	struct pane **pane;       /* those of tables as they come, and the text's */
	u32 npane, focus, ntaken; /* ntaken: tables that panes were made for */
	struct board board;
	const struct front_page *page; /* NULL: there is none (yet) */
	struct sb address;             /* of a page beside the terminal */
	bool moved;  /* the focus was, by a key; else it is on the first pane with content */
	bool whole;  /* the pane with the focus has the screen */
	bool frozen; /* .back counts on, so that the same reading stays */
	u32 back;
	/* Since when a board costs too much, or since a pane was shed for it; 0: it does not. */
	u64 dear_ns;
	bool diff;     /* totals are since the mark */
	bool quit;     /* by the user */
	bool gone;     /* the terminal */
	bool ended;    /* the run */
	bool away;     /* an editor, or another sonde, has the terminal */
	bool replaced; /* another sonde shows the script that was edited */
	bool dirty;    /* to be drawn */
	u64 drawn_ns;
	bool sees_all; /* no page says which panes it shows */
	bool turned;   /* something is new that a page gets at once: a reading, the end */
	enum prompt prompt;
	struct sb input; /* of the prompt */
	enum overlay overlay;
	struct sb note;         /* shown once, in the last line */
	u64 lost;               /* events */
	u32 nremark;            /* other losses and errors */
	VEC(struct str) remark; /* the first of them, in .arena */
	VEC(struct str) wrong;  /* what was wrong with a script that was edited, in .arena */
	struct arena arena;
};

/* screen.c */
void screen_draw(struct front *f); /* into .grid; size as it is */
void screen_draw_pane(struct front *f, struct pane *p, struct grid *g, struct rect r);
struct live_look screen_look(const struct front *f);
struct view_env screen_env(struct front *f, struct pane *p, struct arena *a);
const struct live_view *pane_view(const struct front *f, const struct pane *p);
const struct live_row *pane_row(const struct pane *p);
/* Whether it is on the screen, and whether pages show it. */
void pane_look(struct pane *p, bool shown, bool seen);
/* Has something that is worth its place. */
bool pane_has_content(const struct pane *p);
/* Pieces of its lines. */
void screen_when(const struct front *f, struct sb *b); /* which reading that is */
void screen_since(const struct front *f,
		  struct sb *b); /* what totals are since, behind two blanks; or nothing */
bool screen_losses(const struct front *f, struct sb *b); /* true: nothing was lost */
void screen_cost(const struct front *f, struct sb *b);
void screen_pane_name(const struct front *f, const struct pane *p, struct sb *b);
void screen_pane_lacks(const struct pane *p,
		       struct sb *b); /* what is missing in it, behind two blanks */
/* page.c */
void page_state(struct front *f, struct sb *out); /* as front_page.put() takes it */
/* A question: enum ask_line. False: out says why there is no answer. */
bool page_answer(struct front *f, struct str question, struct sb *out);
/* shed.c: at each reading */
void shed_panes(struct front *f);
/* keys.c */
void keys_take(struct front *f, int key);
void keys_take_time(struct front *f, int key); /* marks, and which reading is shown */
void pane_leave(struct pane *p);               /* from a row to all */
void view_state_free(struct view_state *st);
