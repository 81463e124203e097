/*
 * lex.h - text to tokens; private to lang/.
 *
 * A token carries its own error. The parser reports it when it consumes the token, so looking
 * ahead, or reading the same text again in another mode, never reports anything.
 */
#pragma once
#include "lang/language.h"

struct tok {
	enum token kind;
	struct loc loc;
	u32 at;          /* where it begins in the text; of TK_EOF: the end of the text */
	u32 skipped;     /* layout in front of it, in bytes */
	bool new_line;   /* a line break stands in front of it */
	bool cut;        /* a string without its closing quote */
	struct str text; /* as written; VAR, MAP without sigil; STRING with escapes resolved */
	u64 num;         /* NUMBER, PARAM */
	const char *err; /* NULL: well-formed */
	enum diag_code code;
	struct loc err_loc;
};

struct comments {
	struct comment *head, *last;
};
struct lex {
	struct comments *comments; /* where to note them; NULL: nobody asks */
	struct arena *arena;       /* for strings with escapes and messages */
	struct str text;
	u32 at;
	u16 src;
};

/* Integer text as in scripts (1e6, 0x10, 5ms, 1_000, 10ULL); err explains when false. */
bool lex_integer(struct str text, u64 *ret, const char **err);
struct lex lex_of(struct arena *a, struct str text, u16 src); /* steps over a #! line */
void lex_next(struct lex *l, struct tok *t);
struct loc lex_loc(const struct lex *l, u32 from, u32 to);

/* Other readings of the text, from position at on. */
void lex_point(struct lex *l, u32 at,
	       struct tok *t); /* one attach point; IDENT with the raw text, quotes kept */
void lex_line(struct lex *l, u32 at,
	      struct tok *t); /* a preprocessor line, continued by backslashes */
/* struct, union or enum definition up to its brace, attributes and semicolon; text ends before the
 * semicolon. */
void lex_cdef(struct lex *l, u32 at, struct tok *t);
