/* bt_decl.c - what a script declares about itself: its options, and the tables that it prints. */
#include "lang/bt.h"

static struct node *word(struct parser *p, const char *what)
{
	if (p_at_name(p))
		return p_leaf(p, N_NAME);
	p_expected(p, what);
	return NULL;
}

static struct node *text(struct parser *p)
{
	return p_at(p, TK_STRING) ? p_leaf(p, N_STR) : NULL;
}

/* false, "text", 5, -1, 10ms */
static struct node *literal(struct parser *p)
{
	bool minus = p_accept(p, TK_MINUS);
	struct node *n = NULL;
	switch ((int)p->t.kind) { /* nothing else is a value */
	case TK_NUMBER: n = p_leaf(p, N_NUM); break;
	case TK_STRING: n = minus ? NULL : p_leaf(p, N_STR); break;
	case TK_TRUE:
	case TK_FALSE: n = minus ? NULL : bt_bool(p); break;
	}
	if (!n)
		p_expected(p, "the default: a number, a time, a string, true or false");
	if (n && minus) {
		n->num = 0 - n->num;
		n->flags |= NF_NEG;
	}
	return n;
}

static bool at_letter(const struct parser *p)
{
	return (p_at(p, TK_IDENT) || p_at(p, TK_NUMBER)) && p->t.text.n == 1;
}

/* [2]: the second operand is the option's value, too. */
static u64 operand(struct parser *p)
{
	u64 n = p_accept(p, TK_LBRACKET) ? p->t.num : 0;
	if (!n)
		return 0;
	p_expect(p, TK_NUMBER, "of the operand");
	p_expect(p, TK_RBRACKET, "after the number of the operand");
	return n;
}

/* also NAME: another name, or a letter. */
static struct node *other_names(struct parser *p)
{
	struct list names = {0};
	while (p_at_word(p, "also") && !p->panic) {
		p_advance(p);
		list_add(&names, word(p, "another name of the option"));
	}
	return names.head;
}

/* A word, the texts that the value may be ("a" | "b"), or both: words of these. */
static struct node *kind(struct parser *p)
{
	struct node *n = p_at(p, TK_STRING) ? node_new(p->arena, N_NAME, p->t.loc)
					    : word(p, "the kind of the option");
	if (!n || !p_at(p, TK_STRING))
		return n;
	struct list choices = {0};
	do {
		struct node *one = text(p);
		if (!one)
			p_expected(p, "a text that the option may be");
		list_add(&choices, one);
	} while (!p->panic && p_accept(p, TK_PIPE));
	n->a = choices.head;
	return n;
}

/*
 * name [letter] [ "[" operand "]" ] [also NAME]... [: kind] = default [PLACEHOLDER] ["help"]; or a
 * nothing behind "]".
 */
static struct node *option(struct parser *p)
{
	struct loc from = p->t.loc;
	struct list more = {0};
	struct node *name = word(p, "the name of an option");
	if (!name)
		return NULL;
	struct node *n = p_mk_name(p, N_OPTION, from, name->name);
	if (p_at(p, TK_COMMA) || p_at(p, TK_SEMI) || p_at(p, TK_RBRACE))
		return n;
	if (at_letter(p)) {
		n->num = (u8)p->t.text.s[0];
		p_advance(p);
	}
	n->num |= operand(p) << 8;
	struct node *also = other_names(p);
	if ((n->num || also) && (p_at(p, TK_COMMA) || p_at(p, TK_SEMI))) {
		n->c = also;
		return n;
	}
	struct node *is = p_accept(p, TK_COLON) ? kind(p) : NULL;
	list_add(&more, is ? is : node_new(p->arena, N_NAME, from));
	p_expect(p, TK_ASSIGN, "and the default after the option's name");
	n->a = p->panic ? NULL : literal(p);
	list_add(&more, !p->panic && p_at(p, TK_IDENT) ? p_leaf(p, N_NAME)
						       : node_new(p->arena, N_NAME, from));
	list_add(&more, also);
	n->b = p->panic ? NULL : text(p);
	n->c = more.head;
	n->loc = loc_span(from, p->prev);
	return n;
}

/* name ["HEADING"] [width] [words] [if condition]; behind percentiles stands the list, behind is a text */
static struct node *column(struct parser *p)
{
	struct loc from = p->t.loc;
	struct list words = {0};
	struct node *name = word(p, "the name of a column");
	if (!name)
		return NULL;
	struct node *n = p_mk_name(p, N_COLUMN, from, name->name);
	n->c = text(p);
	if (p_at(p, TK_NUMBER)) {
		n->num = p->t.num;
		p_advance(p);
	}
	while (p_at(p, TK_IDENT)) {
		bool more = p_at_word(p, "percentiles") || p_at_word(p, "is");
		list_add(&words, p_leaf(p, N_NAME));
		if (more)
			list_add(&words, bt_expr(p));
	}
	n->a = words.head;
	n->b = p_accept(p, TK_IF) ? bt_expr(p) : NULL;
	n->loc = loc_span(from, p->prev);
	return n;
}

static void sync_item(struct parser *p)
{
	while (!p_at(p, TK_EOF) && !p_at(p, TK_SEMI) && !p_at(p, TK_RBRACE))
		p_advance(p);
	p->panic = false;
}

/* { item; item; } */
static struct node *items(struct parser *p, struct node *(*item)(struct parser *), bool commas,
			  const char *of)
{
	struct list l = {0};
	p_expect(p, TK_LBRACE, of);
	while (!p->panic && !p_at(p, TK_RBRACE) && !p_at(p, TK_EOF)) {
		list_add(&l, item(p));
		if (!p->panic && !p_at(p, TK_RBRACE) && !p_accept(p, TK_SEMI) &&
		    !(commas && p_accept(p, TK_COMMA)))
			p_expected(p, "';' or '}'");
		if (p->panic) {
			sync_item(p);
			p_accept(p, TK_SEMI);
		}
	}
	p_expect(p, TK_RBRACE, NULL);
	return l.head;
}

bool bt_at_declaration(const struct parser *p)
{
	if (p_at_word(p, "options"))
		return p_peek(p, 1).kind == TK_LBRACE;
	return p_at_word(p, "table") && p_peek(p, 1).kind == TK_IDENT;
}

struct node *bt_declaration(struct parser *p)
{
	struct loc from = p->t.loc;
	bool table = p_at_word(p, "table");
	struct list words = {0};
	p_advance(p);
	if (!table) {
		struct node *in = items(p, option, true, "of the options");
		return p_mk_ab(p, N_OPTIONS, from, in, NULL);
	}
	struct str name = p->t.text;
	p_advance(p);
	struct node *rows = NULL;
	while (!rows && (p_at(p, TK_IDENT) || p_at(p, TK_MINUS))) {
		if (p_at_word(p, "rows")) {
			p_advance(p);
			rows = bt_expr(p);
			break;
		}
		bool minus = p_accept(p, TK_MINUS);
		struct node *w = word(p, "a column");
		if (w && minus)
			w->flags |= NF_NEG;
		list_add(&words, w);
	}
	struct node *in = items(p, column, false, "of the table");
	struct node *n = p_mk_ab(p, N_TABLE, from, in, words.head);
	n->c = rows;
	n->name = name;
	return n;
}
