/*
 * spec.h - how bcc's tools write probes and C expressions, and what that is in the script language.
 *
 *	[p|r:][LIB:]FUNCTION   t:CATEGORY:EVENT   u:LIB:[PROVIDER:]PROBE
 */
#pragma once
#include "tool/words.h"

enum { SPEC_PARAMS = 12, SPEC_ENTRIES = 8 };

struct param {
	struct str type, name;
};
struct spec {
	char kind;                      /* p, r, t, u */
	bool syscall;                   /* a system call's function: its tracepoint is meant */
	struct str lib, provider, name; /* lib: category of t */
	struct str point;               /* "kprobe:vfs_read" */
	struct str entry;               /* of r: the probe of its beginning */
	struct param param[SPEC_PARAMS];
	u32 nparam;
	const struct type *args; /* fields of a tracepoint, or NULL */
	/* Of r: the type that the user gives the result, which conditions on it have, too; or {NULL}. */
	struct str result;
};

/* A reader of one word. */
struct cursor {
	struct words *w;
	const struct word *word;
	u32 at;
};
void cursor_blanks(struct cursor *c);
bool cursor_take(struct cursor *c, char ch); /* blanks, then ch */
bool cursor_end(struct cursor *c);
bool cursor_fail(struct cursor *c, u32 from, const char *fmt, ...) PRINTF(3, 4); /* false */

/* The probe at the cursor, up to a blank, '(' or the end. patterns: system calls are functions like
 * others, names may have wildcards. */
bool spec_read(struct cursor *c, struct spec *s, bool patterns);
/* "(int fd, char *name)" at the cursor, if it is there. */
bool spec_signature(struct cursor *c, struct spec *s);
bool spec_is_type(struct str s); /* names, blanks and stars */
/* What expressions may ask of the beginning of a call. */
struct entries {
	struct str expr[SPEC_ENTRIES]; /* in the language */
	u32 n;
	u32 id; /* makes the names of maps differ */
	bool latency;
};
/*
 * The C expression up to a ',' or ')' or ':' or '#' that is not in brackets, or the end, in the
 * language. entries NULL: $entry and $latency mean nothing. argdist: its words mean other things
 * than trace's ($PID).
 */
bool spec_expr(struct cursor *c, const struct spec *s, struct entries *entries, struct sb *out);
/* "str(x, 81)", or x alone where that is a text already. */
void spec_text(const struct spec *s, struct str expr, struct str size, struct sb *out);
/*
 * FIELD ~ "*text*": reads from behind the ~, and puts the condition. Stars only at the ends; one in
 * front alone is as if there were one behind.
 */
bool spec_glob(struct cursor *c, struct str field, struct sb *out);
