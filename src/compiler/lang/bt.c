/* bt.c - the bpftrace grammar, by recursive descent: statements, definitions, the whole script. */
#include "lang/bt.h"

static struct node *statement(struct parser *p);

/* Skips to behind the next ';' or block, or to the '}' of this one. */
static void sync_stmt(struct parser *p)
{
	u32 open = 0;
	bool over = false;
	while (!over && !p_at(p, TK_EOF) && (open || !p_at(p, TK_RBRACE))) {
		enum token t = p->t.kind;
		p_advance(p);
		open += t == TK_LBRACE;
		open -= t == TK_RBRACE;
		over = !open && (t == TK_SEMI || (t == TK_RBRACE && !p_at(p, TK_ELSE)));
	}
	p->panic = false;
}

/* A body without braces is an error, but a clear one: we read its statement and go on. */
static struct node *body(struct parser *p, const char *after)
{
	struct loc from = p->t.loc;
	enum token t = p->t.kind;
	if (p->panic || t == TK_LBRACE || t == TK_EOF || t == TK_RBRACE || t == TK_BAD ||
	    t == TK_ASSIGN || t == TK_RPAREN || t == TK_COMMA)
		return bt_block(p, after);
	struct diag *d = p_expected(p, arena_fmt(p->arena, "'{' %s", after));
	p_hint(p, d, "Even a single statement needs braces.");
	if (!p_enter(p))
		return p_mk(p, N_BLOCK, from);
	p->panic = false;
	struct node *of = p_at(p, TK_SEMI) ? NULL : statement(p);
	p_leave(p);
	return p_mk_ab(p, N_BLOCK, from, of, NULL);
}

/* One "if", with its condition and body, but not its "else". */
static struct node *if_part(struct parser *p)
{
	struct loc from = p->t.loc;
	p_advance(p);
	bool early = p_accept(p, TK_COMPTIME);
	struct node *cond = bt_condition(p);
	struct node *then = body(p, "after the condition");
	struct node *n = p_mk_ab(p, N_IF, from, cond, then);
	n->flags = (u16)((early ? NF_COMPTIME : 0) | (then->flags & NF_VALUE));
	return n;
}

/* else-if ladders are long in some scripts: a loop, and a step counts like a link of a chain. */
struct node *bt_if(struct parser *p)
{
	u32 outer = p_chain_begin(p);
	struct node *top = if_part(p), *last = top;
	while (!p->panic && p_at(p, TK_ELSE) && p_chain_link(p)) {
		p_advance(p);
		if (!p_at(p, TK_IF)) {
			last->c = body(p, "after 'else'");
			break;
		}
		last->c = if_part(p);
		last = last->c;
	}
	for (struct node *n = top; n && n->kind == N_IF; n = n->c)
		n->loc = loc_span(n->loc, p->prev);
	p_chain_end(p, outer);
	return top;
}

/* Behind a block ';' is optional. */
static void end_block(struct parser *p)
{
	p->semi = !p->panic && p_accept(p, TK_SEMI);
}

static void end_stmt(struct parser *p)
{
	p->semi = false;
	if (p->panic || p_at(p, TK_RBRACE))
		return;
	p->semi = p_accept(p, TK_SEMI);
	if (p->semi)
		return;
	bool next_line = p->t.new_line && !p_at(p, TK_EOF) && !p_at(p, TK_BAD);
	p_expected(p, "';' after the statement");
	if (next_line) /* just forgotten */
		p->panic = false;
}

/* What is wrong with assigning to n. */
static void bad_lvalue(struct parser *p, const struct node *n, struct loc op, struct loc whole)
{
	struct diag *d;
	switch ((int)n->kind) { /* the rest is nothing one would assign to */
	case N_MEMBER:
	case N_ELEM:
		p_fail(p, E_SYNTAX, whole,
		       "Tuples, records and structs cannot be changed: make a new value and assign "
		       "that");
		return;
	case N_INDEX:
		p_fail(p, E_SYNTAX, whole, "an element of an array cannot be assigned");
		return;
	case N_UNARY:
		if (n->op == TK_STAR) {
			p_fail(p, E_SYNTAX, whole,
			       "memory that a pointer points to cannot be assigned");
			return;
		}
		break;
	case N_NAME:
		d = p_fail(p, E_SYNTAX, op, "only variables ($x) and maps (@x) can be assigned");
		if (d)
			diag_hint(p->diags, d, "A variable is written with '$': $%.*s.",
				  STRF(n->name));
		return;
	}
	p_fail(p, E_SYNTAX, op, "only variables ($x) and maps (@x) can be assigned");
}

static bool is_assign_op(enum token t)
{
	return t == TK_ASSIGN || t == TK_SHLEQ || t == TK_SHREQ || (t >= TK_ADDEQ && t <= TK_XOREQ);
}

static struct node *assignment(struct parser *p, struct loc from, struct node *left)
{
	struct tok op = p->t;
	p_advance(p);
	struct node *right = bt_expr(p);
	if (!bt_is_lvalue(left)) {
		bool was = p->panic;
		bad_lvalue(p, left, op.loc, loc_span(from, p->prev));
		p->panic = was;
		return p_mk_ab(p, N_EXPR, from, right, NULL);
	}
	struct node *n = p_mk_ab(p, N_ASSIGN, from, left, right);
	n->op = op.kind;
	return n;
}

/* An expression, or what begins like one. */
static struct node *expr_stmt(struct parser *p)
{
	struct loc from = p->t.loc;
	struct node *n;
	if (p_at(p, TK_IF) || p_at(p, TK_LBRACE)) {
		u32 outer = p_chain_begin(p);
		n = p_at(p, TK_IF) ? bt_if(p) : bt_block(p, NULL);
		if (!bt_precedence(p->t.kind) && !p_at(p, TK_QUESTION)) {
			p_chain_end(p, outer);
			end_block(p);
			return n;
		}
		n = bt_expr_rest(p, from, n);
		p_chain_end(p, outer);
	} else {
		n = bt_expr(p);
	}
	if (!p->panic && is_assign_op(p->t.kind))
		n = assignment(p, from, n);
	else
		n = p_mk_ab(p, N_EXPR, from, n, NULL);
	end_stmt(p);
	return n;
}

static struct node *discard(struct parser *p)
{
	struct loc from = p->t.loc;
	p_advance(p);
	p_advance(p);
	struct node *of = bt_expr(p);
	struct node *n = p_mk_ab(p, N_DISCARD, from, of, NULL);
	end_stmt(p);
	return n;
}

static struct node *let(struct parser *p)
{
	struct loc from = p->t.loc;
	struct node *as = NULL, *val = NULL;
	p_advance(p);
	struct tok var = p->t;
	if (!p_accept(p, TK_VAR)) {
		struct diag *d = p_expected(p, "a variable after 'let'");
		if (p_at(p, TK_MAP))
			p_hint(p, d,
			       "Maps are declared outside of probes: let @name = hash(SIZE);");
	}
	if (!p->panic && p_accept(p, TK_COLON))
		as = bt_type(p);
	if (!p->panic && p_accept(p, TK_ASSIGN))
		val = bt_expr(p);
	struct node *n = p_mk_ab(p, N_LET, from, as, val);
	n->name = var.text;
	n->num = var.loc.pos;
	end_stmt(p);
	return n;
}

static struct node *loop(struct parser *p, enum node_kind kind, const char *after)
{
	struct loc from = p->t.loc;
	p_advance(p);
	struct node *cond = bt_condition(p);
	struct node *n = body(p, after);
	n = p_mk_ab(p, kind, from, cond, n);
	end_block(p);
	return n;
}

/* What "for" goes over: @map or a..b. */
static struct node *iterable(struct parser *p)
{
	struct loc from = p->t.loc;
	struct node *n = bt_operand(p);
	if (p->panic)
		return n;
	if (!p_at(p, TK_DOTDOT)) {
		if (n->kind != N_MAP || n->a)
			p_fail(p, E_SYNTAX, n->loc,
			       "'for' goes over a map (@x) or a range (0..10)");
		return n;
	}
	p_advance(p);
	struct node *end = bt_operand(p);
	return p_mk_ab(p, N_RANGE, from, n, end);
}

static struct node *for_stmt(struct parser *p)
{
	struct loc from = p->t.loc;
	p_advance(p);
	bool paren = p_accept(p, TK_LPAREN);
	struct tok var = p->t;
	if (!p_accept(p, TK_VAR))
		p_expected(p, "a variable after 'for'");
	p_expect(p, TK_COLON, "after the variable of 'for'");
	struct node *over = iterable(p);
	if (paren)
		p_expect(p, TK_RPAREN, "after the operand of 'for'");
	struct node *n = body(p, "of the 'for' loop");
	n = p_mk_ab(p, N_FOR, from, over, n);
	n->name = var.text;
	n->num = var.loc.pos;
	end_block(p);
	return n;
}

static struct node *jump(struct parser *p, enum node_kind kind)
{
	struct loc from = p->t.loc;
	struct node *val = NULL;
	p_advance(p);
	if (kind == N_RETURN && !p_at(p, TK_SEMI) && !p_at(p, TK_RBRACE) && !p_at(p, TK_EOF))
		val = bt_expr(p);
	struct node *n = p_mk_ab(p, kind, from, val, NULL);
	end_stmt(p);
	return n;
}

/* import "path", without the ';'. */
static struct node *import(struct parser *p)
{
	struct loc from = p->t.loc;
	p_advance(p);
	struct tok path = p->t;
	if (!p_accept(p, TK_STRING))
		p_expected(p, "a path in double quotes after 'import'");
	return p_mk_name(p, N_IMPORT, from, path.kind == TK_STRING ? path.text : (struct str){0});
}

/* Ends with p->semi set and in panic if recovery is needed. */
static struct node *statement(struct parser *p)
{
	struct node *n;
	switch ((int)p->t.kind) { /* the rest may begin an expression */
	case TK_IMPORT:
		n = import(p);
		end_stmt(p);
		return n;
	case TK_WHILE: return loop(p, N_WHILE, "after the condition");
	case TK_UNROLL: return loop(p, N_UNROLL, "after the count");
	case TK_FOR: return for_stmt(p);
	case TK_BREAK: return jump(p, N_BREAK);
	case TK_CONTINUE: return jump(p, N_CONTINUE);
	case TK_RETURN: return jump(p, N_RETURN);
	case TK_LET: return let(p);
	}
	if (p_at_word(p, "_") && p_peek(p, 1).kind == TK_ASSIGN)
		return discard(p);
	return expr_stmt(p);
}

/* Whether the statement just read can be the value of its block: an expression without ';'. */
static bool has_value(const struct parser *p, const struct node *n)
{
	if (p->semi || !p_at(p, TK_RBRACE))
		return false;
	return n->kind == N_EXPR ||
	       ((n->kind == N_IF || n->kind == N_BLOCK) && (n->flags & NF_VALUE));
}

/* Everything between the braces. Returns whether the last statement is a value. */
static bool statements(struct parser *p, struct list *l)
{
	bool value = false;
	while (!p_at(p, TK_RBRACE) && !p_at(p, TK_EOF)) {
		u32 start = p->t.at;
		if (p_accept(p, TK_SEMI)) { /* empty */
			value = false;
			continue;
		}
		struct node *n = statement(p);
		value = has_value(p, n);
		list_add(l, n);
		if (!p->panic && p->t.at != start)
			continue;
		value = false;
		if (p->t.at == start && !p_at(p, TK_RBRACE) && !p_at(p, TK_LBRACE) &&
		    !p_at(p, TK_EOF))
			p_advance(p);
		sync_stmt(p);
	}
	return value;
}

struct node *bt_block(struct parser *p, const char *after)
{
	struct loc from = p->t.loc;
	struct list l = {0};
	if (!p_expect(p, TK_LBRACE, after) || !p_enter(p))
		return node_new(p->arena, N_BLOCK, from);
	bool was = p_open_bracket(p);
	bool value = statements(p, &l);
	p->in_predicate = was;
	p_leave(p);
	if (p_at(p, TK_EOF)) {
		struct diag *d = p_expected(p, "'}'");
		if (d && !p->cut)
			diag_note(p->diags, d, from, "This '{' is not closed.");
	} else {
		p_advance(p);
	}
	struct node *n = p_mk_ab(p, N_BLOCK, from, l.head, NULL);
	n->flags = value ? NF_VALUE : 0;
	return n;
}

/*
 * Top level.
 */

enum phase { PH_CDEFS, PH_CONFIG, PH_REST };

struct top {
	enum phase phase;
	bool config; /* there was one */
	bool probe;  /* the last definition was one: "else" may follow */
};

/* Skips what is left of a broken definition: to behind a ';' or the braces that follow. */
static void sync_top(struct parser *p)
{
	u32 open = 0;
	while (!p_at(p, TK_EOF)) {
		enum token t = p->t.kind;
		p_advance(p);
		open += t == TK_LBRACE;
		if (t == TK_RBRACE && (!open || !--open))
			break;
		if (t == TK_SEMI && !open)
			break;
	}
	p->panic = false;
}

/* Continues behind a raw token, which becomes the one consumed last. */
static struct tok take_raw(struct parser *p, void (*read)(struct lex *, u32, struct tok *))
{
	struct tok raw;
	read(&p->lx, p->t.at, &raw);
	if (raw.err) {
		p_fail(p, raw.code, raw.err_loc, raw.err);
		p->cut |= raw.cut;
		p->panic = false;
	}
	p->prev = raw.loc;
	lex_next(&p->lx, &p->t);
	return raw;
}

static struct node *c_definition(struct parser *p, struct top *top)
{
	struct tok t = take_raw(p, p->t.kind == TK_BAD ? lex_line : lex_cdef);
	if (top->phase != PH_CDEFS)
		p_fail(p, E_ORDER, t.loc,
		       "C definitions must come before everything else in the script");
	struct node *n = node_new(p->arena, N_CDEF, t.loc);
	n->name = str_trim(t.text);
	p->panic = false;
	return n;
}

/* "text" "more text" is one text; *pieces: its parts, NULL if there is one. */
static struct node *setting_text(struct parser *p, struct node **pieces)
{
	struct node *first = p_leaf(p, N_STR);
	struct list l = {0};
	AUTO_SB all = {0};
	*pieces = NULL;
	if (!p_at(p, TK_STRING))
		return first;
	struct node *n = node_new(p->arena, N_STR, first->loc);
	sb_add(&all, first->name);
	list_add(&l, first);
	while (p_at(p, TK_STRING)) {
		struct node *more = p_leaf(p, N_STR);
		sb_add(&all, more->name);
		list_add(&l, more);
	}
	n->name = arena_str(p->arena, sb_str(&all));
	*pieces = l.head;
	return n;
}

static struct node *setting(struct parser *p)
{
	struct loc from = p->t.loc;
	struct str name = p->t.text;
	struct node *val, *pieces = NULL;
	if (!p_at_name(p)) {
		p_expected(p, "a setting");
		return NULL;
	}
	p_advance(p);
	p_expect(p, TK_ASSIGN, "after the setting's name");
	if (p->panic)
		return NULL;
	switch ((int)p->t.kind) { /* nothing else is a value */
	case TK_NUMBER: val = p_leaf(p, N_NUM); break;
	case TK_STRING: val = setting_text(p, &pieces); break;
	case TK_IDENT: val = p_leaf(p, N_NAME); break;
	case TK_TRUE:
	case TK_FALSE: val = bt_bool(p); break;
	default: p_expected(p, "a number, a string, true, false or a word"); return NULL;
	}
	struct node *n = p_mk_name(p, N_SET, from, name);
	n->a = val;
	n->b = pieces;
	return n;
}

static struct node *config(struct parser *p, struct top *top)
{
	struct loc from = p->t.loc;
	struct list l = {0};
	p_advance(p);
	if (top->config || top->phase == PH_REST) {
		p_fail(p, E_ORDER, from,
		       top->config ? "only one config block is allowed"
				   : "config must come before probes, functions and macros");
		p->panic = false;
	}
	top->config = true;
	p_expect(p, TK_ASSIGN, "after 'config'");
	p_expect(p, TK_LBRACE, "of the config block");
	while (!p->panic && !p_at(p, TK_RBRACE)) {
		list_add(&l, setting(p));
		if (!p->panic && !p_at(p, TK_RBRACE) && !p_accept(p, TK_SEMI))
			p_expected(p, "';' or '}' after the setting");
	}
	p_expect(p, TK_RBRACE, NULL);
	struct node *n = p_mk_ab(p, N_CONFIG, from, l.head, NULL);
	if (!p->panic)
		p_accept(p, TK_SEMI);
	return n;
}

static struct node *root_import(struct parser *p, struct top *top)
{
	struct node *n = import(p);
	if (top->phase == PH_REST && !p->panic) {
		p_fail(p, E_ORDER, n->loc, "imports must come before probes, functions and macros");
		p->panic = false;
	}
	p_expect(p, TK_SEMI, "after the import");
	return n;
}

static struct node *map_decl(struct parser *p)
{
	struct loc from = p->t.loc;
	p_advance(p);
	struct tok name = p->t;
	if (!p_accept(p, TK_MAP))
		p_expected(p, "a map after 'let' (variables belong into a probe)");
	p_expect(p, TK_ASSIGN, "after the map");
	struct node *kind = node_new(p->arena, N_NAME, p->t.loc);
	kind->name = p->t.text;
	if (!p_accept(p, TK_IDENT))
		p_expected(p, "the kind of the map (hash, lruhash, percpuhash, percpulruhash)");
	p_expect(p, TK_LPAREN, "and a number of entries after the kind of the map");
	kind->num = p->t.num;
	if (!p->panic && !p_accept(p, TK_NUMBER))
		p_expected(p, "a number of entries");
	p_expect(p, TK_RPAREN, "after the number of entries");
	struct node *n = p_mk_ab(p, N_MAPDECL, from, kind, NULL);
	n->name = name.text;
	if (!p->panic)
		p_accept(p, TK_SEMI);
	return n;
}

static struct node *macro_param(struct parser *p)
{
	if (p_at(p, TK_VAR))
		return p_leaf(p, N_VAR);
	if (p_at(p, TK_MAP))
		return p_leaf(p, N_MAP);
	if (p_at(p, TK_IDENT))
		return p_leaf(p, N_NAME);
	p_expected(p, "a parameter: $variable, @map or a name");
	return NULL;
}

/* The name after "macro" or "fn" and its '('. */
static struct str def_name(struct parser *p, const char *what)
{
	struct str name = p->t.text;
	if (!p_accept(p, TK_IDENT)) {
		p_expected(p, arena_fmt(p->arena, "the name of the %s", what));
		return (struct str){0};
	}
	p_expect(p, TK_LPAREN, arena_fmt(p->arena, "after the name of the %s", what));
	return name;
}

static struct node *macro(struct parser *p)
{
	struct loc from = p->t.loc;
	struct list l = {0};
	p_advance(p);
	struct str name = def_name(p, "macro");
	if (!p->panic && !p_at(p, TK_RPAREN)) {
		do
			list_add(&l, macro_param(p));
		while (!p->panic && p_accept(p, TK_COMMA));
	}
	p_expect(p, TK_RPAREN, "or ',' after the parameter");
	struct node *in = bt_block(p, "of the macro");
	struct node *n = p_mk_ab(p, N_MACRO, from, l.head, in);
	n->name = name;
	return n;
}

static struct node *fn_param(struct parser *p)
{
	struct loc from = p->t.loc;
	struct str name = p->t.text;
	if (!p_accept(p, TK_VAR)) {
		p_expected(p, "a parameter: $variable : type");
		return NULL;
	}
	p_expect(p, TK_COLON, "and a type after the parameter");
	struct node *as = bt_type(p);
	struct node *n = p_mk_ab(p, N_LET, from, as, NULL);
	n->name = name;
	n->num = from.pos;
	return n;
}

static struct node *function(struct parser *p)
{
	struct loc from = p->t.loc;
	struct list l = {0};
	p_advance(p);
	struct str name = def_name(p, "function");
	if (!p->panic && !p_at(p, TK_RPAREN)) {
		do
			list_add(&l, fn_param(p));
		while (!p->panic && p_accept(p, TK_COMMA));
	}
	p_expect(p, TK_RPAREN, "or ',' after the parameter");
	p_expect(p, TK_COLON, "and a type after the parameters");
	struct node *ret = bt_type(p);
	struct node *in = bt_block(p, "of the function");
	struct node *n = p_mk_ab(p, N_FN, from, l.head, ret);
	n->c = in;
	n->name = name;
	return n;
}

static bool is_label_char(char c, bool first)
{
	bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
	return letter || (!first && c >= '0' && c <= '9');
}

/* Length of "name" in a "name=" that the text begins with; 0: none. */
static u32 label_len(struct str s)
{
	u32 n = 0;
	while (n < s.n && is_label_char(s.s[n], !n))
		n++;
	return n && n + 1 < s.n && s.s[n] == '=' ? n : 0;
}

static bool starts_point(const struct parser *p)
{
	switch ((int)p->t.kind) { /* nothing else looks like a probe */
	case TK_IDENT:
	case TK_NUMBER:
	case TK_STRING:
	case TK_PARAM:
	case TK_VAR:
	case TK_NPARAM:
	case TK_STAR:
	case TK_MINUS:
	case TK_LBRACKET:
	case TK_QUESTION: return true;
	}
	return p_is_keyword(p->t.kind);
}

static struct node *point(struct parser *p)
{
	struct tok t = take_raw(p, lex_point);
	struct node *n = node_new(p->arena, N_POINT, t.loc);
	u32 label = label_len(t.text);
	n->name = str_from(t.text, label ? label + 1 : 0);
	n->num = label;
	return n;
}

/* What stands between an attach point and its block. */
static struct node *predicate(struct parser *p, const struct node *last)
{
	if (!p_accept(p, TK_SLASH)) {
		if (p_at(p, TK_LBRACE))
			return NULL;
		struct diag *d = p_expected(p, "'{', ',' or a /predicate/ after the probe");
		if (p_at(p, TK_COLON) || (last->name.n && last->name.s[last->name.n - 1] == ':'))
			p_hint(p, d,
			       "The text of a probe cannot contain blanks, except in double "
			       "quotes.");
		return NULL;
	}
	p->in_predicate = true;
	struct node *n = bt_expr(p);
	p->in_predicate = false;
	if (!p->panic && !p_accept(p, TK_SLASH)) {
		bool assigns = p->t.kind == TK_ASSIGN;
		struct diag *d = p_expected(p, "'/' at the end of the predicate");
		if (d && assigns)
			diag_hint(p->diags, d, "%s", p_compare_hint);
	}
	return n;
}

static struct node *probe(struct parser *p)
{
	struct loc from = p->t.loc;
	struct list l = {0};
	struct node *last = NULL;
	do {
		if (!starts_point(p)) {
			p_expected(p, "a probe");
			return NULL;
		}
		list_add(&l, last = point(p));
		while (p_accept(p, TK_ELSE)) {
			list_add(&l, last = point(p));
			last->flags |= NF_ELSE;
		}
	} while (p_accept(p, TK_COMMA) && !p_at(p, TK_LBRACE) && !p_at(p, TK_SLASH));
	struct node *pred = predicate(p, last);
	struct node *in = bt_block(p, "of the probe");
	struct node *n = p_mk_ab(p, N_PROBE, from, l.head, pred);
	n->c = in;
	return n;
}

/* Something that begins no definition; says so once and steps over it. */
static void stray(struct parser *p)
{
	bool brace = p_at(p, TK_LBRACE), alone = p_at(p, TK_RBRACE) || p_at(p, TK_SEMI);
	p_expected(p, "a probe");
	if (brace) {
		p->panic = false;
		bt_block(p, NULL);
	} else if (alone) {
		p_advance(p);
		p->panic = false;
	}
}

static struct node *definition(struct parser *p, struct top *top)
{
	bool tag = p_at(p, TK_IDENT) && (bt_is_tag(p->t.text) || p_at_word(p, "typedef"));
	if ((p_at(p, TK_BAD) && p->t.text.s[0] == '#') || tag)
		return c_definition(p, top);
	if (p_at(p, TK_CONFIG) || p_at(p, TK_IMPORT)) {
		top->phase = MAX(top->phase, PH_CONFIG);
		return p_at(p, TK_CONFIG) ? config(p, top) : root_import(p, top);
	}
	bool other = top->probe && p_accept(p, TK_ELSE);
	top->probe = false;
	if (!starts_point(p)) {
		stray(p);
		return NULL;
	}
	top->phase = PH_REST;
	if (bt_at_declaration(p))
		return bt_declaration(p);
	if (p_at(p, TK_LET))
		return map_decl(p);
	if (p_at(p, TK_MACRO))
		return macro(p);
	if (p_at(p, TK_FN))
		return function(p);
	struct node *n = probe(p);
	top->probe = n != NULL;
	if (n && other)
		n->flags |= NF_ELSE;
	return n;
}

static struct node *parse(struct arena *a, struct diags *ds, u16 src, struct comments *notes)
{
	assert(src < ds->nsource);
	struct parser p = {.lx = lex_of(a, ds->source[src].text, src), .arena = a, .diags = ds};
	p.lx.comments = notes;
	struct list l = {0};
	struct top top = {0};
	lex_next(&p.lx, &p.t);
	while (!p_at(&p, TK_EOF)) {
		u32 start = p.t.at;
		struct node *n = definition(&p, &top);
		if (n)
			list_add(&l, n);
		if (p.panic)
			sync_top(&p);
		if (p.t.at == start)
			p_advance(&p);
		p.panic = false;
		assert(!p.depth && !p.in_predicate);
	}
	if (p.t.err) /* an unterminated comment */
		p_fail(&p, p.t.code, p.t.err_loc, p.t.err);
	struct node *n = node_new(a, N_PROGRAM, lex_loc(&p.lx, 0, p.lx.text.n));
	n->a = l.head;
	return n;
}

static struct node *parse_script(struct arena *a, struct diags *ds, u16 src, struct comment **notes)
{
	struct comments all = {0};
	struct node *n = parse(a, ds, src, notes ? &all : NULL);
	if (notes)
		*notes = all.head;
	return n;
}

static struct node *parse_part(struct arena *a, struct diags *ds, u16 src, bool type)
{
	assert(src < ds->nsource);
	struct parser p = {.lx = lex_of(a, ds->source[src].text, src), .arena = a, .diags = ds};
	u32 nerror = ds->nerror;
	lex_next(&p.lx, &p.t);
	struct node *n = type ? bt_type(&p) : bt_expr(&p);
	if (!p.panic && !p_at(&p, TK_EOF))
		p_expected(&p, "an operator or the end");
	return ds->nerror > nerror ? NULL : n;
}

const struct language bpftrace_language = {
	.name = "bpftrace",
	.ending = ".bt",
	.parse = parse_script,
	.parse_part = parse_part,
	.format = bt_format,
	.number = lex_integer,
};
