/*
 * term.h - the terminal: a screen that is drawn by differences, and keys.
 *
 * Only sequences that xterm, tmux and the Linux console have in common are written. A child waits for
 * the end of this process, whatever ends it (also kill -9, a crash), and then restores the terminal; so
 * there is one place that does it, and the process needs no right for it when it ends. The child also writes
 * the files that the user saves (term_save()).
 */
#pragma once
#include "base/err.h"
#include "live/grid.h"
#include <sys/types.h>

enum term_color { COLOR_NONE, COLOR_16, COLOR_256 };

enum {
	KEY_NONE = 0,
	KEY_ENTER = '\r',
	KEY_TAB = '\t',
	KEY_ESC = 27,
	KEY_BACKSPACE = 127,
	KEY_UP = 0x110000, /* above all code points */
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_BACK_TAB,
	KEY_UNKNOWN,
	KEY_GONE,            /* the terminal is not there any more */
	KEY_MOUSE = 1 << 30, /* and what it did, and where: mouse_of() */
};

enum mouse_kind { MOUSE_CLICK, MOUSE_UP, MOUSE_DOWN }; /* the others are of the wheel */
enum { MOUSE_BITS = 10, MOST_SIZE = 1000 };            /* columns, and lines, of a screen */
struct mouse {
	enum mouse_kind kind;
	u32 x, y;
};
static inline struct mouse mouse_of(int key)
{
	const u32 most = (1 << MOUSE_BITS) - 1;
	return (struct mouse){(enum mouse_kind)(key >> 2 * MOUSE_BITS & 3), (u32)key & most,
			      (u32)key >> MOUSE_BITS & most};
}

/* How the script is edited: by a program of the user, then by sonde once more. */
struct term_again {
	int exe;          /* the file of sonde, open */
	char **argv;      /* of a command line, ended by NULL; argv[0] is sonde */
	int program;      /* which of them is the text of the script; 0: it is in a file */
	const char *file; /* then; else NULL */
};
enum edit_kind { EDIT_NONE, EDIT_BACK, EDIT_REPLACED };

/* Starts a server of pages, in the child: a socket to it, *pid and its address; -1, and text is why there is none. */
typedef int term_serve(struct sb *text, int *pid);

struct term {
	/* Set before term_open(), or NULL: the script cannot be edited. */
	const struct term_again *again;
	term_serve *serve; /* NULL: there is no page */
	int fd; /* of the terminal, for reading and writing, which never waits; -1: not open */
	enum term_color color;
	u32 w, h;
	struct grid shown; /* what the terminal has */
	bool stale;        /* it may have something else */
	struct sb out;     /* not written yet */
	char in[64];       /* read, but no key yet */
	u32 nin;
	int guard_fd; /* a socket to the child, which ends when it is closed */
	pid_t guard;
};

/* Of the environment. */
bool term_usable(int fd); /* a terminal, and neither dumb nor unknown */
bool term_is_utf8(void);  /* by LC_ALL, LC_CTYPE and LANG */

/* fd: the terminal's, e.g. standard output. Alternate screen, no echo, no line editing. */
struct err *term_open(struct term *t, int fd) MUST_USE;
/* The terminal is as it was; also of one that is not open. False: its mode is not, because the child
 * was killed. */
bool term_close(struct term *t);
/* The size may have changed: sets .w and .h. */
bool term_resized(struct term *t);
/* Draw what differs, unless the terminal has not taken the last drawing yet: then false, and the caller
 * tries again later with what is to be seen then. */
bool term_draw(struct term *t, const struct grid *g);
int term_key(struct term *t); /* a code point or one of the above; KEY_NONE if there is none yet */
/* The next key in p[0..*n), which is taken out; KEY_NONE if it is not complete, unless it is all that
 * there will be. */
int term_decode(char *p, u32 *n, bool all);
/* What turns a screen that shows `from` into `to`. */
void term_diff(struct sb *out, const struct grid *from, const struct grid *to,
	       enum term_color color, bool all);
/* The child, which has kept the rights of the beginning, writes a file that is not there yet. */
struct err *term_save(struct term *t, struct str name, struct str text) MUST_USE;
/* The child starts a server of pages, and hands the socket to it over. */
struct err *term_page(struct term *t, int *fd, int *pid, struct sb *address) MUST_USE;
void term_copy(struct term *t,
	       struct str text); /* into the clipboard, where the terminal allows that */
/*
 * The child gives the terminal to the user's editor, then to another sonde with the new script. Nothing may be
 * drawn, and no key read, until term_edited() says what came of it: EDIT_BACK, the screen is there again, and text
 * says why; EDIT_REPLACED, the new script is attached and has the terminal. EDIT_NONE: it goes on.
 */
struct err *term_edit(struct term *t) MUST_USE;
enum edit_kind term_edited(struct term *t, struct sb *text);
bool term_replaced_ended(struct term *t); /* the other sonde has ended; waits a moment for that */
int term_replaced(struct term *t);        /* its exit status */
