/* bt_expr.c - types and expressions of the bpftrace grammar. */
#include "lang/bt.h"

static struct node *unary(struct parser *p);

/*
 * Types.
 */

/* How C's integer words add up to one of our types. */
struct c_words {
	u32 n, nlong, nshort, nchar, nunsigned, nsigned, nint;
};

static bool is_qualifier(struct str s)
{
	return str_is(s, "const") || str_is(s, "volatile");
}

bool bt_is_tag(struct str s)
{
	return str_is(s, "struct") || str_is(s, "union") || str_is(s, "enum");
}

static bool c_word(struct c_words *w, struct str s)
{
	u32 *count = str_is(s, "long")       ? &w->nlong
		     : str_is(s, "short")    ? &w->nshort
		     : str_is(s, "char")     ? &w->nchar
		     : str_is(s, "unsigned") ? &w->nunsigned
		     : str_is(s, "signed")   ? &w->nsigned
		     : str_is(s, "int")      ? &w->nint
					     : NULL;
	if (!count)
		return false;
	++*count;
	w->n++;
	return true;
}

/* {NULL}: no C type is written like that. */
static struct str c_type(const struct c_words *w)
{
	static const struct str name[2][4] = {
		{{"int8", 4}, {"int16", 5}, {"int32", 5}, {"int64", 5}},
		{{"uint8", 5}, {"uint16", 6}, {"uint32", 6}, {"uint64", 6}},
	};
	u32 size = w->nchar ? 0 : w->nshort ? 1 : w->nlong ? 3 : 2;
	bool bad = w->nlong > 2 || w->nshort > 1 || w->nchar > 1 || w->nint > 1 ||
		   w->nunsigned + w->nsigned > 1 ||
		   (w->nchar && w->n != 1 + w->nunsigned + w->nsigned) || (w->nshort && w->nlong);
	return bad ? (struct str){0} : name[w->nunsigned][size];
}

/* Names that cannot be anything else than a type. */
static bool is_type_name(struct str s)
{
	static const char *const names[] = {
		"bool",   "int8",   "int16",  "int32",    "int64",  "uint8",
		"uint16", "uint32", "uint64", "string",   "void",   "int",
		"long",   "short",  "char",   "unsigned", "signed",
	};
	for (u32 i = 0; i < countof(names); i++)
		if (str_is(s, names[i]))
			return true;
	return false;
}

/* What a look at the text ahead says about a type that may stand there. */
struct ahead {
	enum token after, then; /* the token behind the type, and the one behind that */
	bool sure;              /* it is a type if it ends where a type must */
};

/* Without suffixes: int8, unsigned long, struct x. False: no type begins here. */
static bool skip_base_type(struct lex *lx, struct tok *t, bool *sure)
{
	struct c_words w = {0};
	while (t->kind == TK_IDENT && is_qualifier(t->text)) {
		*sure = true;
		lex_next(lx, t);
	}
	if (t->kind != TK_IDENT)
		return false;
	*sure |= is_type_name(t->text) || bt_is_tag(t->text);
	if (bt_is_tag(t->text)) {
		lex_next(lx, t);
		if (t->kind != TK_IDENT) /* the name is missing */
			return true;
	} else {
		while (t->kind == TK_IDENT && c_word(&w, t->text))
			lex_next(lx, t);
		if (w.n)
			return true;
	}
	if (t->kind != TK_IDENT)
		return false;
	lex_next(lx, t);
	return true;
}

/* Looks at a type that may begin n tokens after the current one. False: there is none. */
static bool type_ahead(const struct parser *p, u32 n, struct ahead *ret)
{
	struct lex lx = p->lx;
	struct tok t = p->t;
	while (n--)
		lex_next(&lx, &t);
	*ret = (struct ahead){0};
	if (!skip_base_type(&lx, &t, &ret->sure))
		return false;
	for (;;) {
		/* "a *" before something else than the end of the type is a product */
		bool more = t.kind == TK_STAR || (t.kind == TK_IDENT && is_qualifier(t.text));
		if (more) {
			ret->sure = true;
			lex_next(&lx, &t);
			continue;
		}
		if (t.kind != TK_LBRACKET)
			break;
		lex_next(&lx, &t);
		if (t.kind == TK_NUMBER)
			lex_next(&lx, &t);
		if (t.kind != TK_RBRACKET) {
			ret->after = TK_RPAREN; /* a malformed type, if at all */
			return ret->sure;
		}
		lex_next(&lx, &t);
	}
	ret->after = t.kind;
	if (t.kind != TK_EOF)
		lex_next(&lx, &t);
	ret->then = t.kind;
	return true;
}

static void skip_qualifiers(struct parser *p)
{
	while (p_at(p, TK_IDENT) && is_qualifier(p->t.text))
		p_advance(p);
}

/* typeof(x), sizeof(x) ...: the part in parentheses up to the closing one or a comma. */
static struct node *type_or_expr(struct parser *p)
{
	struct ahead see;
	if (p_at(p, TK_TYPEOF))
		return bt_type(p);
	if (type_ahead(p, 0, &see) && (see.after == TK_RPAREN || see.after == TK_COMMA))
		return bt_type(p);
	return bt_expr(p);
}

static struct node *base_type(struct parser *p)
{
	struct loc from = p->t.loc;
	struct c_words w = {0};
	struct node *n;
	if (p_accept(p, TK_TYPEOF)) {
		p_expect(p, TK_LPAREN, "after 'typeof'");
		struct node *of = type_or_expr(p);
		p_expect(p, TK_RPAREN, NULL);
		return p_mk_ab(p, N_TYPE, from, of, NULL);
	}
	if (!p_at(p, TK_IDENT)) {
		p_expected(p, "a type");
		return p_mk(p, N_TYPE, from);
	}
	if (bt_is_tag(p->t.text)) {
		u16 flag = p_at_word(p, "struct")  ? NF_STRUCT
			   : p_at_word(p, "union") ? NF_UNION
						   : NF_ENUM;
		p_advance(p);
		if (!p_at(p, TK_IDENT))
			p_expected(p, "the name of the type");
		n = p_mk_name(p, N_TYPE, from, p->t.text);
		n->flags = flag;
	} else if (c_word(&w, p->t.text)) {
		struct str first = p->t.text;
		for (p_advance(p); p_at(p, TK_IDENT) && c_word(&w, p->t.text);)
			p_advance(p);
		bool one = w.n == 1 && !w.nunsigned && !w.nsigned;
		n = p_mk_name(p, N_TYPE, from, one ? first : c_type(&w));
		if (!n->name.n)
			p_fail(p, E_SYNTAX, n->loc, "these words do not make a type");
		return n;
	} else {
		n = p_mk_name(p, N_TYPE, from, p->t.text);
	}
	if (!p->panic)
		p_advance(p);
	n->loc = loc_span(from, p->prev);
	return n;
}

static struct node *array_type(struct parser *p, struct loc from, struct node *of)
{
	u64 count = p->t.num;
	bool sized = p_accept(p, TK_NUMBER);
	if (!p_expect(p, TK_RBRACKET, sized ? "after the array's size" : "or a number after '['"))
		return of;
	struct node *n = p_mk_ab(p, N_TARRAY, from, of, NULL);
	n->num = sized ? count : 0;
	n->flags = sized ? 0 : NF_NOSIZE;
	return n;
}

struct node *bt_type(struct parser *p)
{
	if (!p_enter(p))
		return node_new(p->arena, N_TYPE, p->t.loc);
	skip_qualifiers(p);
	struct loc from = p->t.loc;
	struct node *n = base_type(p);
	u32 outer = p_chain_begin(p);
	while ((p_at(p, TK_STAR) || p_at(p, TK_LBRACKET) ||
		(p_at(p, TK_IDENT) && is_qualifier(p->t.text))) &&
	       p_chain_link(p)) {
		if (p_accept(p, TK_STAR))
			n = p_mk_ab(p, N_TPTR, from, n, NULL);
		else if (p_accept(p, TK_LBRACKET))
			n = array_type(p, from, n);
		else
			p_advance(p);
	}
	p_chain_end(p, outer);
	p_leave(p);
	return n;
}

/*
 * Expressions.
 */

/* expr {',' expr}, not empty. */
static struct node *expr_list(struct parser *p)
{
	struct list l = {0};
	do
		list_add(&l, bt_expr(p));
	while (!p->panic && p_accept(p, TK_COMMA));
	return l.head;
}

/* name = expression: of a record, or an argument by name. */
static struct node *named(struct parser *p)
{
	struct loc from = p->t.loc;
	struct str name = p->t.text;
	p_advance(p);
	p_expect(p, TK_ASSIGN, "after the field's name");
	struct node *val = bt_expr(p);
	struct node *f = p_mk_name(p, N_RFIELD, from, name);
	f->a = val;
	return f;
}

/* An argument of a call may be a type: of a macro, or "struct x" for container_of(). */
static struct node *argument(struct parser *p)
{
	struct ahead see;
	if (p_at_name(p) && p_peek(p, 1).kind == TK_ASSIGN)
		return named(p);
	if (p_at(p, TK_TYPEOF))
		return bt_type(p);
	if (p_at(p, TK_IDENT) && type_ahead(p, 0, &see) && see.sure &&
	    (see.after == TK_RPAREN || see.after == TK_COMMA))
		return bt_type(p);
	return bt_expr(p);
}

static struct node *call(struct parser *p, struct loc from, struct str name)
{
	struct list l = {0};
	bool was = p_open_bracket(p);
	p_advance(p);
	if (!p_at(p, TK_RPAREN)) {
		do
			list_add(&l, argument(p));
		while (!p->panic && p_accept(p, TK_COMMA));
	}
	p->in_predicate = was;
	p_expect(p, TK_RPAREN, l.head ? "or ',' after the argument" : NULL);
	struct node *n = p_mk_name(p, N_CALL, from, name);
	n->a = l.head;
	return n;
}

static struct node *map(struct parser *p)
{
	struct loc from = p->t.loc;
	struct node *n = p_leaf(p, N_MAP);
	if (!p_at(p, TK_LBRACKET))
		return n;
	bool was = p_open_bracket(p);
	p_advance(p);
	struct loc key = p->t.loc;
	n->a = expr_list(p);
	if (n->a->next) {
		n->a = p_mk_ab(p, N_TUPLE, key, n->a, NULL);
		n->flags = n->a->flags = NF_MULTIKEY;
	}
	p->in_predicate = was;
	p_expect(p, TK_RBRACKET, "or ',' after the key");
	n->loc = loc_span(from, p->prev);
	return n;
}

/* (a = 1, b = 2); the parenthesis is open. */
static struct node *record(struct parser *p, struct loc from)
{
	struct list l = {0};
	do {
		if (!p_at_name(p)) {
			p_expected(p, "the name of a field");
			break;
		}
		list_add(&l, named(p));
	} while (!p->panic && p_accept(p, TK_COMMA));
	p_expect(p, TK_RPAREN, "or ',' after the field");
	return p_mk_ab(p, N_RECORD, from, l.head, NULL);
}

/* Names that the language had as keywords or keeps for itself: "(pid) - 1" is a subtraction. */
static bool is_reserved(struct str s)
{
	static const char *const names[] = {
		"args", "cgroup", "comm",   "cpid",  "cpu",      "ctx",      "curtask", "elapsed",
		"func", "gid",    "kstack", "nsecs", "numaid",   "pid",      "ppid",    "probe",
		"rand", "retval", "tid",    "uid",   "usermode", "username", "ustack",
	};
	if (str_starts(s, STR("__builtin_")))
		return true;
	if (str_starts(s, STR("arg")) && s.n > 3 && s.s[3] >= '0' && s.s[3] <= '9')
		return true;
	for (u32 i = 0; i < countof(names); i++)
		if (str_is(s, names[i]))
			return true;
	return false;
}

/* Whether the '(' here opens a cast: a type in parentheses, then something that an expression
 * begins with. */
static bool at_cast(const struct parser *p)
{
	struct ahead see;
	struct tok next = p_peek(p, 1);
	if (next.kind == TK_TYPEOF)
		return true;
	if (!type_ahead(p, 1, &see) || see.after != TK_RPAREN)
		return false;
	if (see.sure)
		return true;
	switch ((int)see.then) { /* only some tokens matter */
	case TK_NUMBER:
	case TK_VAR:
	case TK_PARAM:
	case TK_NPARAM:
	case TK_MAP:
	case TK_STRING:
	case TK_LPAREN:
	case TK_NOT:
	case TK_TILDE:
	case TK_IDENT:
	case TK_TRUE:
	case TK_FALSE:
	case TK_IF:
	case TK_SIZEOF:
	case TK_OFFSETOF:
	case TK_COMPTIME: return true;
	case TK_MINUS:
	case TK_STAR:
	case TK_AMP: return !is_reserved(next.text);
	default: return false;
	}
}

static struct node *cast(struct parser *p)
{
	struct loc from = p->t.loc;
	p_advance(p);
	struct node *to = bt_type(p);
	p_expect(p, TK_RPAREN, "after the type");
	if (!p_enter(p))
		return p_missing(p);
	struct node *of = unary(p);
	p_leave(p);
	return p_mk_ab(p, N_CAST, from, to, of);
}

/* Grouping, tuple or record. */
static struct node *parens(struct parser *p)
{
	struct loc from = p->t.loc;
	struct list l = {0};
	p_advance(p);
	if (p_accept(p, TK_RPAREN))
		return p_mk(p, N_TUPLE, from);
	if (p_at_name(p) && p_peek(p, 1).kind == TK_ASSIGN)
		return record(p, from);
	list_add(&l, bt_expr(p));
	if (!p_at(p, TK_COMMA)) {
		p_expect(p, TK_RPAREN, NULL);
		l.head->flags |= NF_PAREN;
		return l.head;
	}
	while (!p->panic && p_accept(p, TK_COMMA) && !(p_at(p, TK_RPAREN) && l.head))
		list_add(&l, bt_expr(p));
	p_expect(p, TK_RPAREN, "or ',' in the tuple");
	return p_mk_ab(p, N_TUPLE, from, l.head, NULL);
}

static struct node *offset_path(struct parser *p)
{
	struct list l = {0};
	do {
		if (!p_at_name(p)) {
			p_expected(p, "the name of a field");
			break;
		}
		list_add(&l, p_leaf(p, N_NAME));
	} while (p_accept(p, TK_DOT));
	return l.head;
}

/* sizeof, offsetof, typeinfo. */
static struct node *about_type(struct parser *p, enum node_kind kind)
{
	struct loc from = p->t.loc;
	struct node *path = NULL;
	bool was = p_open_bracket(p);
	const char *after = arena_fmt(p->arena, "after '%s'", token_text(p->t.kind));
	p_advance(p);
	p_expect(p, TK_LPAREN, after);
	struct node *of = type_or_expr(p);
	if (kind == N_OFFSETOF) {
		p_expect(p, TK_COMMA, "and a field after the type");
		path = offset_path(p);
	}
	p->in_predicate = was;
	p_expect(p, TK_RPAREN, NULL);
	return p_mk_ab(p, kind, from, of, path);
}

struct node *bt_bool(struct parser *p)
{
	struct node *n = p_leaf(p, N_BOOL);
	n->num = str_is(n->name, "true");
	n->name = (struct str){0};
	return n;
}

static struct node *name_or_call(struct parser *p)
{
	struct loc from = p->t.loc;
	struct str name = p->t.text;
	p_advance(p);
	if (p_at(p, TK_LPAREN))
		return call(p, from, name);
	return p_mk_name(p, N_NAME, from, name);
}

static struct node *comptime(struct parser *p)
{
	struct loc from = p->t.loc;
	p_advance(p);
	if (!p_enter(p))
		return p_missing(p);
	struct node *of = unary(p);
	p_leave(p);
	return p_mk_ab(p, N_COMPTIME, from, of, NULL);
}

static struct node *primary(struct parser *p)
{
	bool was;
	struct node *n;
	switch ((int)p->t.kind) { /* the rest begins no expression */
	case TK_NUMBER: return p_leaf(p, N_NUM);
	case TK_STRING: return p_leaf(p, N_STR);
	case TK_TRUE:
	case TK_FALSE: return bt_bool(p);
	case TK_VAR: return p_leaf(p, N_VAR);
	case TK_PARAM:
		n = p_leaf(p, N_PARAM);
		n->name = (struct str){0};
		return n;
	case TK_NPARAM:
		n = p_leaf(p, N_NPARAM);
		n->name = (struct str){0};
		return n;
	case TK_MAP: return map(p);
	case TK_CONFIG: /* also the name of a builtin */
	case TK_IDENT: return name_or_call(p);
	case TK_LPAREN:
		was = p_open_bracket(p);
		n = parens(p);
		p->in_predicate = was;
		return n;
	case TK_SIZEOF: return about_type(p, N_SIZEOF);
	case TK_OFFSETOF: return about_type(p, N_OFFSETOF);
	case TK_TYPEINFO: return about_type(p, N_TYPEINFO);
	case TK_COMPTIME: return comptime(p);
	case TK_LBRACE: return bt_block(p, NULL);
	case TK_IF: return bt_if(p);
	}
	p_expected(p, "an expression");
	return p_missing(p);
}

/* a.name a->name a.0 */
static struct node *member(struct parser *p, struct loc from, struct node *of)
{
	bool arrow = p_at(p, TK_ARROW);
	struct tok op = p->t;
	struct tok dot = p_peek(p, 1);
	bool literal = of->kind == N_NUM && !(of->flags & NF_PAREN) && !arrow;
	if (literal && dot.kind == TK_NUMBER && !dot.skipped && !p->t.skipped) {
		p_advance(p);
		p->t.err = NULL;
		p_fail(p, E_NUMBER, loc_span(from, p->t.loc),
		       "floating-point numbers are not supported");
		p->panic = false; /* it is clear where the mistake ends */
		p_advance(p);
		return of;
	}
	p_advance(p);
	struct node *n;
	if (p_at(p, TK_NUMBER)) {
		u64 num = p->t.num;
		for (u32 i = 0; i < p->t.text.n; i++)
			if (p->t.text.s[i] < '0' || p->t.text.s[i] > '9')
				p_fail(p, E_NUMBER, p->t.loc,
				       "the index of a tuple's element is a decimal number");
		p_advance(p);
		n = p_mk_ab(p, N_ELEM, from, of, NULL);
		n->num = num;
	} else if (p_at_name(p)) {
		struct str name = p->t.text;
		p_advance(p);
		n = p_mk_name(p, N_MEMBER, from, name);
		n->a = of;
	} else {
		p_expected(p, arena_fmt(p->arena, "the name of a field after '%s'",
					token_text(op.kind)));
		return of;
	}
	n->flags = arrow ? NF_ARROW : 0;
	return n;
}

static struct node *subscript(struct parser *p, struct loc from, struct node *of)
{
	bool was = p_open_bracket(p);
	p_advance(p);
	struct node *i = bt_expr(p);
	p->in_predicate = was;
	p_expect(p, TK_RBRACKET, "after the index");
	return p_mk_ab(p, N_INDEX, from, of, i);
}

bool bt_is_lvalue(const struct node *n)
{
	return n->kind == N_VAR || n->kind == N_MAP;
}

static const char only_lvalues[] = "increment and decrement need a variable or a map";

static struct node *postfix(struct parser *p)
{
	struct loc from = p->t.loc;
	u32 outer = p_chain_begin(p);
	struct node *n = primary(p);
	bool stmt_like = (n->kind == N_IF || n->kind == N_BLOCK) && !(n->flags & NF_PAREN);
	while (!stmt_like && !p->panic) {
		bool incdec = p_at(p, TK_INC) || p_at(p, TK_DEC);
		if (!incdec && !p_at(p, TK_DOT) && !p_at(p, TK_ARROW) && !p_at(p, TK_LBRACKET))
			break;
		if (!p_chain_link(p))
			break;
		if (p_at(p, TK_LBRACKET)) {
			n = subscript(p, from, n);
		} else if (!incdec) {
			n = member(p, from, n);
		} else {
			enum token op = p->t.kind;
			if (!bt_is_lvalue(n))
				p_fail(p, E_SYNTAX, p->t.loc, only_lvalues);
			p_advance(p);
			n = p_mk_ab(p, N_INCDEC, from, n, NULL);
			n->op = op;
			n->flags = NF_POST;
		}
	}
	p_chain_end(p, outer);
	return n;
}

static struct node *prefix(struct parser *p)
{
	struct loc from = p->t.loc;
	enum token op = p->t.kind;
	bool incdec = op == TK_INC || op == TK_DEC;
	p_advance(p);
	struct node *of = unary(p);
	if (incdec && !bt_is_lvalue(of))
		p_fail(p, E_SYNTAX, loc_span(from, p->prev), only_lvalues);
	if (op == TK_AMP && (!bt_is_lvalue(of) || of->a))
		p_fail(p, E_SYNTAX, loc_span(from, p->prev),
		       "'&' can only be used on a variable or on a map without a key");
	struct node *n = p_mk_ab(p, incdec ? N_INCDEC : N_UNARY, from, of, NULL);
	n->op = op;
	return n;
}

static struct node *unary(struct parser *p)
{
	struct node *n;
	switch ((int)p->t.kind) { /* the rest is no prefix */
	case TK_INC:
	case TK_DEC:
	case TK_AMP:
	case TK_STAR:
	case TK_NOT:
	case TK_TILDE:
	case TK_MINUS:
		if (!p_enter(p))
			return p_missing(p);
		n = prefix(p);
		p_leave(p);
		return n;
	case TK_LPAREN:
		if (at_cast(p))
			return cast(p);
	}
	return postfix(p);
}

/* How tightly a binary operator binds; 0: it is none. */
u32 bt_precedence(enum token t)
{
	switch ((int)t) { /* the rest is not binary */
	case TK_OROR: return 1;
	case TK_ANDAND: return 2;
	case TK_PIPE: return 3;
	case TK_CARET: return 4;
	case TK_AMP: return 5;
	case TK_EQ:
	case TK_NE: return 6;
	case TK_LT:
	case TK_LE:
	case TK_GT:
	case TK_GE: return 7;
	case TK_SHL:
	case TK_SHR: return 8;
	case TK_PLUS:
	case TK_MINUS: return 9;
	case TK_STAR:
	case TK_SLASH:
	case TK_PERCENT: return 10;
	}
	return 0;
}

static u32 precedence_here(const struct parser *p)
{
	if (p_at(p, TK_SLASH) && p->in_predicate && p_peek(p, 1).kind == TK_LBRACE)
		return 0;
	return bt_precedence(p->t.kind);
}

/* What follows a left operand that began at "from": operators that bind at least as tightly as min.
 */
static struct node *binary(struct parser *p, struct loc from, struct node *left, u32 min)
{
	u32 level;
	while (!p->panic && (level = precedence_here(p)) >= min && level) {
		enum token op = p->t.kind;
		u32 outer = p->chain;
		p_advance(p);
		struct loc start = p->t.loc;
		p->chain = 0;
		struct node *right = binary(p, start, unary(p), level + 1);
		p->chain = MAX(p->chain, outer);
		if (!p_chain_link(p))
			return left;
		left = p_mk_ab(p, N_BINARY, from, left, right);
		left->op = op;
	}
	return left;
}

/* The rest of an expression whose first operand is there. */
struct node *bt_expr_rest(struct parser *p, struct loc from, struct node *first)
{
	struct node *n = binary(p, from, first, 1);
	if (p->panic || !p_accept(p, TK_QUESTION))
		return n;
	struct node *yes = p_at(p, TK_COLON) ? NULL : bt_expr(p);
	p_expect(p, TK_COLON, "of the conditional expression");
	struct node *no = bt_expr(p);
	n = p_mk_ab(p, N_COND, from, n, yes);
	n->c = no;
	return n;
}

struct node *bt_expr(struct parser *p)
{
	struct loc from = p->t.loc;
	if (p->panic || !p_enter(p))
		return p_missing(p);
	u32 outer = p_chain_begin(p);
	struct node *n = bt_expr_rest(p, from, unary(p));
	p_chain_end(p, outer);
	p_leave(p);
	return n;
}

/* The condition of if, while, unroll. */
struct node *bt_condition(struct parser *p)
{
	struct ahead see;
	struct loc from = p->t.loc;
	/* "if (x) print(1)": a missing brace, not a cast of print(1) to x */
	if (!p_at(p, TK_LPAREN) || p_peek(p, 1).kind == TK_TYPEOF ||
	    (type_ahead(p, 1, &see) && see.after == TK_RPAREN && see.sure))
		return bt_expr(p);
	if (p->panic || !p_enter(p))
		return p_missing(p);
	u32 outer = p_chain_begin(p);
	struct node *n = bt_expr_rest(p, from, parens(p));
	p_chain_end(p, outer);
	p_leave(p);
	return n;
}

struct node *bt_operand(struct parser *p)
{
	struct loc from = p->t.loc;
	if (p->panic || !p_enter(p))
		return p_missing(p);
	u32 outer = p_chain_begin(p);
	struct node *n = binary(p, from, unary(p), 1);
	p_chain_end(p, outer);
	p_leave(p);
	return n;
}
