/*
 * parse.h - what a recursive-descent parser stands on: tokens, errors, nodes, limits. Private to
 * lang/.
 *
 * After an error the parser is in panic: every function falls through without reporting more, until
 * a statement or a top-level definition is over and recovery begins at the next one. Functions that
 * return a node never return NULL (unless they say so), so that callers need not ask.
 */
#pragma once
#include "lang/lex.h"

struct parser {
	struct lex lx;
	struct tok t;    /* the one to be consumed next */
	struct loc prev; /* of the one consumed last */
	struct arena *arena;
	struct diags *diags;
	u32 nerror;
	u32 depth; /* of open blocks, parentheses ... */
	u32 chain; /* tallest chain in what was parsed last; see p_chain_begin() */
	bool panic;
	bool in_predicate; /* '/' before '{' ends it */
	bool semi;         /* the last statement ended with ';' */
	bool cut; /* a string or a comment swallowed text: what is missing later was in there */
};

/* Errors. Both return NULL when nothing was reported. */
struct diag *p_fail(struct parser *p, enum diag_code code, struct loc loc, const char *msg);
struct diag *p_expected(struct parser *p,
			const char *what); /* what is there is not what must be there */
void p_hint(struct parser *p, struct diag *d, const char *text);

/* Tokens. */
static inline bool p_at(const struct parser *p, enum token kind)
{
	return p->t.kind == kind;
}
bool p_at_word(const struct parser *p, const char *word);
bool p_at_name(
	const struct parser *p); /* an identifier or keyword: after a dot there is no difference */
bool p_is_keyword(enum token t);
struct tok p_peek(const struct parser *p, u32 n); /* n-th after the current one */
void p_advance(struct parser *p);
bool p_accept(struct parser *p, enum token kind);
/* what: NULL, or the place in words: "after the condition". */
bool p_expect(struct parser *p, enum token kind, const char *what);
extern const char p_compare_hint[];

/* Nodes for the text from "from" to the token consumed last. */
struct node *p_mk(struct parser *p, enum node_kind kind, struct loc from);
struct node *p_mk_name(struct parser *p, enum node_kind kind, struct loc from, struct str name);
struct node *p_mk_ab(struct parser *p, enum node_kind kind, struct loc from, struct node *a,
		     struct node *b);
struct node *p_leaf(struct parser *p, enum node_kind kind); /* consumes the current token */
struct node *p_missing(struct parser *p);                   /* stands for what could not be read */

/* Lists are built at their tail. */
struct list {
	struct node *head, **tail;
};
void list_add(struct list *l, struct node *n); /* n may be NULL */

/* Nesting: p_leave() ends what p_enter() allowed. False: too deep, reported, and the script ends
 * here. */
bool p_enter(struct parser *p);
void p_leave(struct parser *p);
/*
 * Operators of one level and postfixes are parsed by a loop but make a tree as tall as the chain is
 * long, which every later pass walks by recursion. p->chain is the tallest one in what was parsed
 * since p_chain_begin(); p_chain_link() adds a level on top of it.
 */
u32 p_chain_begin(struct parser *p);
bool p_chain_link(struct parser *p);
void p_chain_end(struct parser *p, u32 outer);
/* Inside brackets a '/' before '{' is a division again. Returns what p->in_predicate was. */
bool p_open_bracket(struct parser *p);
