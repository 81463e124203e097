/*
 * diag.h - everything we tell the user about a script, with a place to point.
 *
 * A pass never stops at the first mistake: it reports, marks the node
 * type_error and goes on. Codes live in diag.def; each has a test that
 * provokes it, named err.CODE.*.bt.
 */
#pragma once
#include "base/str.h"
#include <stdio.h>

/* Eight bytes, copied freely: tokens, nodes, maps and instructions carry one. */
struct loc {
	u32 pos;
	u16 len, src; /* src: index into diags.source; 0 is "no place" when pos and len are 0 */
};
static inline struct loc loc_span(struct loc a,
				  struct loc b) /* from the start of a to the end of b */
{
	u32 end = b.pos + b.len;
	u32 n = end > a.pos ? end - a.pos : a.len;
	a.len = (u16)MIN(n, 0xffffu);
	return a;
}

enum diag_code {
#define D(code, sev, text) code,
#include "base/diag.def"
};
enum {
	D_MAX =
#define D(code, sev, text) +1
#include "base/diag.def"
};
enum severity { SEV_ERROR, SEV_WARN };

struct diag {
	enum diag_code code;
	struct loc loc;
	const char *msg, *hint;
	struct diag *note; /* "declared here" */
	u32 more; /* reports with this code at the same place of other expansions, dropped */
	struct diag *next;
};

struct source {
	struct str name, text; /* "stdin", path; whole text */
};

/* Where a line begins: the search for the next place starts there. */
struct diag_near {
	const struct source *source;
	u32 line, start;
};

struct diags {
	struct arena *arena;
	struct diag_near *near; /* NULL: every search starts at the first line */
	const struct source *source;
	u32 nsource;
	bool grows;       /* the array is ours, no more somebody else's */
	struct loc *from; /* by source: of an expansion, what was expanded; may be NULL */
	u32 nfixed; /* so many bytes of the first source are a text of ours, when it is embedded */
	bool unseen; /* texts of ours are nothing to the user, who gets the sentence without a place */
	bool no_warn; /* --no-warnings */
	bool codes;   /* "[E_CODE] " before each message: for tests */
	struct diag *head, *last;
	u32 nerror, nwarn;
};

#define EMBEDDED "sonde:" /* begins the names of sources that are part of the binary */
bool diags_embedded(const struct diags *ds, struct loc loc);
/* In a text of ours: not in what a tool made of the words of its user. */
bool diags_fixed(const struct diags *ds, struct loc loc);
/* The place to tell of what a script says itself (errorf, fail): none in one that its user did not
 * write. */
struct loc diags_said_at(const struct diags *ds, struct loc loc);
/* One more text that places can lie in (an included file); its number. Texts are not copied. */
u16 diags_add_source(struct diags *ds, struct str name, struct str text);
enum { MAX_SOURCES = 60000 };
/* The text that at lies in, expanded at the place from. */
u16 diags_add_expansion(struct diags *ds, struct loc at, struct loc from);
/*
 * A second report with the same code at the same place is dropped and returns the first; of what one
 * text has in several expansions, the first few are kept.
 */
struct diag *diag_add(struct diags *ds, enum diag_code code, struct loc loc, const char *fmt, ...)
	PRINTF(4, 5);
struct diag *diag_addv(struct diags *ds, enum diag_code code, struct loc loc, const char *fmt,
		       va_list ap) PRINTF(4, 0);
void diag_hint(struct diags *ds, struct diag *d, const char *fmt, ...) PRINTF(3, 4);
void diag_note(struct diags *ds, struct diag *d, struct loc loc, const char *fmt, ...) PRINTF(4, 5);
const char *diag_code_name(enum diag_code code); /* "E_SYNTAX" */
enum severity diag_severity(enum diag_code code);
/*
 * All of them, in order of place:
 *	NAME:LINE:COL1-COL2: ERROR: message      (COL2 exclusive; NAME:L1-L2 when it spans lines)
 *	source line (tabs as 4 spaces)
 *	    ~~~~                                 (one per column)
 *	HINT: text
 * Without a place: "ERROR: message".
 */
void diags_print(const struct diags *ds, FILE *f, bool color);
void diags_text(const struct diags *ds, struct sb *out); /* the same, without colours */
/* Line and column (from 1) of a place; false when it has none. */
bool diag_place(const struct diags *ds, struct loc loc, u32 *line, u32 *col);
struct str diag_line(const struct diags *ds, struct loc loc); /* the text of that line */
/* One report's "NAME:LINE:COL1-COL2" and caret lines, for messages at run time. */
void diag_place_text(const struct diags *ds, struct loc loc, struct sb *out);
void diag_caret_text(const struct diags *ds, struct loc loc, struct sb *out);
