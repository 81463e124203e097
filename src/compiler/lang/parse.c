/* parse.c - the ground under the parsers. */
#include "lang/parse.h"

enum {
	MAX_DEPTH = 200,  /* of nested blocks, parentheses and prefix operators */
	MAX_CHAIN = 2000, /* levels of a tree that a + a + a ... or a.b.c ... makes */
	MAX_ERRORS = 50,  /* then we keep quiet */
	MAX_SHOWN = 32,   /* characters of a token in a message */
};

struct diag *p_fail(struct parser *p, enum diag_code code, struct loc loc, const char *msg)
{
	if (p->panic)
		return NULL;
	p->panic = true;
	if (p->nerror++ >= MAX_ERRORS)
		return NULL;
	return diag_add(p->diags, code, loc, "%s", msg);
}

void p_hint(struct parser *p, struct diag *d, const char *text)
{
	if (d)
		diag_hint(p->diags, d, "%s", text);
}

static const char *describe(struct parser *p, const struct tok *t)
{
	const char *s = p->lx.text.s + t->at;
	int n = (int)MIN(p->lx.at - t->at, (u32)MAX_SHOWN);
	if (t->kind == TK_EOF)
		return "the end of the script";
	if (t->kind == TK_STRING)
		return "a string";
	return arena_fmt(p->arena, "'%.*s'", n, s);
}

/* What is there is not what must be there. */
struct diag *p_expected(struct parser *p, const char *what)
{
	const struct tok *t = &p->t;
	if (p->panic)
		return NULL;
	if (t->kind == TK_BAD || (t->kind == TK_EOF && t->err)) {
		p->cut |= t->kind == TK_EOF;
		return p_fail(p, t->code, t->err_loc, t->err);
	}
	if (t->kind == TK_EOF && p->cut) { /* it was in there */
		p->panic = true;
		return NULL;
	}
	return p_fail(p, E_SYNTAX, t->loc,
		      arena_fmt(p->arena, "expected %s, found %s", what, describe(p, t)));
}

void p_advance(struct parser *p)
{
	struct tok *t = &p->t;
	if (t->err && t->kind != TK_EOF) {
		bool was = p->panic;
		p_fail(p, t->code, t->err_loc, t->err);
		p->cut |= t->cut;
		p->panic = was || t->cut || t->kind == TK_BAD; /* the others do not confuse us */
	}
	p->prev = t->loc;
	if (t->kind != TK_EOF)
		lex_next(&p->lx, t);
}

bool p_at_word(const struct parser *p, const char *word)
{
	return p->t.kind == TK_IDENT && str_is(p->t.text, word);
}

bool p_accept(struct parser *p, enum token kind)
{
	if (!p_at(p, kind))
		return false;
	p_advance(p);
	return true;
}

/* what: NULL, or the place in words: "after the condition". */
const char p_compare_hint[] = "'=' assigns, '==' compares";

bool p_expect(struct parser *p, enum token kind, const char *what)
{
	if (p->panic)
		return false;
	if (p_accept(p, kind))
		return true;
	bool assigns = p->t.kind == TK_ASSIGN && kind == TK_RPAREN;
	struct diag *d = p_expected(p, arena_fmt(p->arena, "'%s'%s%s", token_text(kind),
						 what ? " " : "", what ? what : ""));
	if (d && assigns)
		diag_hint(p->diags, d, "%s", p_compare_hint);
	return false;
}

/* The n-th token after the current one (1 is the next). */
struct tok p_peek(const struct parser *p, u32 n)
{
	struct lex lx = p->lx;
	struct tok t = p->t;
	while (n--)
		lex_next(&lx, &t);
	return t;
}

bool p_is_keyword(enum token t)
{
	return t >= TK_BREAK && t <= TK_FALSE;
}

/* After a dot and in records, keywords are names like any other. */
bool p_at_name(const struct parser *p)
{
	return p_at(p, TK_IDENT) || p_is_keyword(p->t.kind);
}

/* A node for the text from "from" to the token consumed last. */
struct node *p_mk(struct parser *p, enum node_kind kind, struct loc from)
{
	return node_new(p->arena, kind, loc_span(from, p->prev));
}

struct node *p_mk_name(struct parser *p, enum node_kind kind, struct loc from, struct str name)
{
	struct node *n = p_mk(p, kind, from);
	n->name = name;
	return n;
}

struct node *p_mk_ab(struct parser *p, enum node_kind kind, struct loc from, struct node *a,
		     struct node *b)
{
	struct node *n = p_mk(p, kind, from);
	n->a = a;
	n->b = b;
	return n;
}

/* Stands for what could not be read. */
struct node *p_missing(struct parser *p)
{
	return node_new(p->arena, N_NUM, p->t.loc);
}

/* Consumes the current token and makes a leaf of it. */
struct node *p_leaf(struct parser *p, enum node_kind kind)
{
	struct node *n = node_new(p->arena, kind, p->t.loc);
	n->name = p->t.text;
	n->num = p->t.num;
	p_advance(p);
	return n;
}

void list_add(struct list *l, struct node *n)
{
	if (!l->tail)
		l->tail = &l->head;
	*l->tail = n;
	while (*l->tail)
		l->tail = &(*l->tail)->next;
}

/* No point in going on: reports, and the script ends here. */
static void give_up(struct parser *p, const char *what, int max, const char *unit)
{
	if (!p->panic)
		p_fail(p, E_LIMIT, p->t.loc,
		       arena_fmt(p->arena, "%s (more than %d %s)", what, max, unit));
	p->lx.at = p->lx.text.n;
	p->t = (struct tok){.kind = TK_EOF, .at = p->lx.at, .loc = p->t.loc};
	p->cut = true;
}

bool p_enter(struct parser *p)
{
	if (p->depth < MAX_DEPTH) {
		p->depth++;
		return true;
	}
	give_up(p, "nested too deeply", MAX_DEPTH, "levels");
	return false;
}

void p_leave(struct parser *p)
{
	assert(p->depth > 0);
	p->depth--;
}

u32 p_chain_begin(struct parser *p)
{
	u32 outer = p->chain;
	p->chain = 0;
	return outer;
}

bool p_chain_link(struct parser *p)
{
	if (p->panic)
		return false;
	if (p->chain++ < MAX_CHAIN)
		return true;
	give_up(p, "expression too long", MAX_CHAIN, "operators in a row");
	return false;
}

void p_chain_end(struct parser *p, u32 outer)
{
	p->chain = MAX(p->chain, outer);
}

bool p_open_bracket(struct parser *p)
{
	bool was = p->in_predicate;
	p->in_predicate = false;
	return was;
}
