/*
 * fmt.c - tree to canonical source. What it prints parses to the same tree; layout is all that
 * changes, with -> for . and C's integer words for our names of types.
 *
 * Comments come from the lexer, in order of place. Each is printed before the first statement or
 * definition that begins behind it, or behind the one whose line it ends.
 */
#include "lang/bt.h"

enum { INDENT = 2, INLINE_MAX = 60 };

struct fmt {
	struct sb *out;
	struct str text; /* of the source */
	const struct comment *next;
	u32 depth;
	bool first; /* nothing stands in this block yet */
};

static void block(struct fmt *f, const struct node *n, u32 end);
static void expr(struct fmt *f, const struct node *n);
static void if_(struct fmt *f, const struct node *n, u32 end, bool as_expr);

static void indent(struct fmt *f)
{
	sb_pad(f->out, ' ', (size_t)f->depth * INDENT);
}

static u32 end_of(const struct node *n, u32 limit) /* long places are cut: then the limit */
{
	return n->loc.len < 0xffff ? n->loc.pos + n->loc.len : limit;
}

/* ---- comments and blank lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Is there an empty line in front of this place? */
static bool after_gap(const struct fmt *f, u32 pos)
{
	u32 lines = 0;
	while (pos && is_blank(f->text.s[pos - 1]))
		lines += f->text.s[--pos] == '\n';
	return lines > 1;
}

static void gap(struct fmt *f, u32 pos, bool force)
{
	if (!f->first && (force || after_gap(f, pos)))
		sb_char(f->out, '\n');
	f->first = false;
}

/* One line of a comment, without its marks. */
static void comment_line(struct fmt *f, struct str line)
{
	line = str_trim(line);
	if (line.n && line.s[0] == '*')
		line = str_trim(str_from(line, 1));
	indent(f);
	sb_z(f->out, line.n ? "// " : "//");
	sb_add(f->out, line);
	sb_char(f->out, '\n');
}

static void comment(struct fmt *f, const struct comment *c)
{
	struct str rest = c->text, line;
	if (rest.s[1] == '/') { /* as it is: what stands behind the slashes may be aligned */
		indent(f);
		while (rest.n && is_blank(rest.s[rest.n - 1]))
			rest.n--;
		sb_add(f->out, rest);
		sb_char(f->out, '\n');
		return;
	}
	rest = str_n(rest.s + 2, rest.n - 4);
	rest = str_trim(rest);
	while (str_cut(&rest, '\n', &line))
		comment_line(f, line);
}

/* Those in front of a place. */
static void comments(struct fmt *f, u32 pos, bool force)
{
	for (; f->next && f->next->pos < pos; f->next = f->next->next) {
		gap(f, f->next->pos, force);
		force = false;
		comment(f, f->next);
	}
}

/* A comment that ends the line on which something ended, and the end of the line. */
static void end_line(struct fmt *f, u32 end)
{
	const struct comment *c = f->next;
	while (c && end < c->pos && (is_blank(f->text.s[end]) || f->text.s[end] == ';') &&
	       f->text.s[end] != '\n')
		end++;
	if (c && c->pos == end && c->text.s[1] == '/') {
		struct str t = c->text;
		while (t.n && is_blank(t.s[t.n - 1]))
			t.n--;
		sb_fmt(f->out, " %.*s", STRF(t));
		f->next = c->next;
	}
	sb_char(f->out, '\n');
}

/* ---- types and expressions ---- */

static void quoted(struct fmt *f, struct str s)
{
	sb_char(f->out, '"');
	sb_escape(f->out, s);
	sb_char(f->out, '"');
}

static void type(struct fmt *f, const struct node *n)
{
	switch ((int)n->kind) { /* else an expression in a place for types */
	case N_TPTR:
		type(f, n->a);
		sb_z(f->out, n->a->kind == N_TPTR ? "*" : " *");
		break;
	case N_TARRAY:
		type(f, n->a);
		if (n->flags & NF_NOSIZE)
			sb_z(f->out, "[]");
		else
			sb_fmt(f->out, "[%llu]", n->num);
		break;
	case N_TYPE:
		if (n->a) {
			sb_z(f->out, "typeof(");
			type(f, n->a);
			sb_char(f->out, ')');
			break;
		}
		sb_z(f->out, n->flags & NF_STRUCT  ? "struct "
			     : n->flags & NF_UNION ? "union "
			     : n->flags & NF_ENUM  ? "enum "
						   : "");
		sb_add(f->out, n->name);
		break;
	default: expr(f, n);
	}
}

static void list(struct fmt *f, const struct node *n)
{
	for (const struct node *e = n; e; e = e->next) {
		type(f, e);
		if (e->next)
			sb_z(f->out, ", ");
	}
}

static void tuple(struct fmt *f, const struct node *n)
{
	sb_char(f->out, '(');
	if (n->kind == N_TUPLE)
		list(f, n->a);
	for (const struct node *e = n->kind == N_RECORD ? n->a : NULL; e; e = e->next) {
		expr(f, e);
		sb_z(f->out, e->next ? ", " : "");
	}
	sb_z(f->out, n->kind == N_TUPLE && n->a && !n->a->next ? ",)" : ")");
}

static void map(struct fmt *f, const struct node *n)
{
	sb_fmt(f->out, "@%.*s", STRF(n->name));
	if (!n->a)
		return;
	sb_char(f->out, '[');
	list(f, n->flags & NF_MULTIKEY ? n->a->a : n->a);
	sb_char(f->out, ']');
}

/* -x, where x does not begin with another '-'. */
static void prefix(struct fmt *f, const struct node *n)
{
	sb_z(f->out, token_text(n->op));
	size_t at = f->out->n;
	char last = f->out->s[at - 1];
	AUTO_SB of = {0};
	struct sb *out = f->out;
	f->out = &of;
	expr(f, n->a);
	f->out = out;
	if (of.n && of.s[0] == last && (last == '-' || last == '+' || last == '&'))
		sb_char(f->out, ' ');
	sb_add(f->out, sb_str(&of));
}

static void about_type(struct fmt *f, const struct node *n)
{
	sb_z(f->out, n->kind == N_SIZEOF     ? "sizeof("
		     : n->kind == N_OFFSETOF ? "offsetof("
					     : "typeinfo(");
	type(f, n->a);
	for (const struct node *p = n->kind == N_OFFSETOF ? n->b : NULL; p; p = p->next)
		sb_fmt(f->out, "%s%.*s", p == n->b ? ", " : ".", STRF(p->name));
	sb_char(f->out, ')');
}

/* A block that is an expression: on one line if it is just a short value. */
static void block_expr(struct fmt *f, const struct node *n)
{
	const struct node *only = n->a && !n->a->next && (n->flags & NF_VALUE) ? n->a : NULL;
	u32 end = end_of(n, f->text.n);
	if (only && only->kind == N_EXPR && !(f->next && f->next->pos < end)) {
		AUTO_SB in = {0};
		struct sb *out = f->out;
		f->out = &in;
		expr(f, only->a);
		f->out = out;
		if (in.n <= INLINE_MAX && str_chr(sb_str(&in), '\n') < 0) {
			sb_fmt(f->out, "{ %.*s }", STRF(sb_str(&in)));
			return;
		}
	}
	block(f, n, end);
}

static void operators(struct fmt *f, const struct node *n)
{
	switch ((int)n->kind) { /* all of those with operands left and right */
	case N_BINARY:
		expr(f, n->a);
		sb_fmt(f->out, " %s ", token_text(n->op));
		expr(f, n->b);
		break;
	case N_COND:
		expr(f, n->a);
		sb_z(f->out, n->b ? " ? " : " ?");
		if (n->b)
			expr(f, n->b);
		sb_z(f->out, n->b ? " : " : ": ");
		expr(f, n->c);
		break;
	case N_INCDEC:
		if (!(n->flags & NF_POST)) {
			prefix(f, n);
			break;
		}
		expr(f, n->a);
		sb_z(f->out, token_text(n->op));
		break;
	case N_MEMBER:
		expr(f, n->a);
		sb_fmt(f->out, ".%.*s", STRF(n->name));
		break;
	case N_ELEM:
		expr(f, n->a);
		/* a number, a dot and a number would be read as one */
		sb_fmt(f->out, n->a->kind == N_NUM ? " .%llu" : ".%llu", n->num);
		break;
	case N_INDEX:
		expr(f, n->a);
		sb_char(f->out, '[');
		expr(f, n->b);
		sb_char(f->out, ']');
		break;
	case N_CAST:
		sb_char(f->out, '(');
		type(f, n->a);
		sb_char(f->out, ')');
		expr(f, n->b);
		break;
	}
}

static void primary(struct fmt *f, const struct node *n)
{
	switch (n->kind) {
	case N_NUM:
	case N_NAME: sb_add(f->out, n->name); break;
	case N_STR: quoted(f, n->name); break;
	case N_BOOL: sb_z(f->out, n->num ? "true" : "false"); break;
	case N_VAR: sb_fmt(f->out, "$%.*s", STRF(n->name)); break;
	case N_PARAM: sb_fmt(f->out, "$%llu", n->num); break;
	case N_NPARAM: sb_z(f->out, "$#"); break;
	case N_MAP: map(f, n); break;
	case N_FNCALL:
	case N_CCALL:
	case N_CALL:
		sb_fmt(f->out, "%.*s(", STRF(n->name));
		list(f, n->a);
		sb_char(f->out, ')');
		break;
	case N_UNARY: prefix(f, n); break;
	case N_RFIELD:
		sb_fmt(f->out, "%.*s = ", STRF(n->name));
		expr(f, n->a);
		break;
	case N_TUPLE:
	case N_RECORD: tuple(f, n); break;
	case N_SIZEOF:
	case N_OFFSETOF:
	case N_TYPEINFO: about_type(f, n); break;
	case N_COMPTIME:
		sb_z(f->out, "comptime ");
		expr(f, n->a);
		break;
	case N_BLOCK: block_expr(f, n); break;
	case N_IF: if_(f, n, end_of(n, f->text.n), true); break;
	case N_TYPE:
	case N_TPTR:
	case N_TARRAY: type(f, n); break;
	default: operators(f, n);
	}
}

static void expr(struct fmt *f, const struct node *n)
{
	bool paren = n->flags & NF_PAREN;
	sb_z(f->out, paren ? "(" : "");
	primary(f, n);
	sb_z(f->out, paren ? ")" : "");
}

/* ---- statements ---- */

static void condition(struct fmt *f, const struct node *n)
{
	bool bare = !(n->flags & NF_PAREN);
	sb_z(f->out, bare ? "(" : "");
	expr(f, n);
	sb_z(f->out, bare ? ")" : "");
}

static void if_(struct fmt *f, const struct node *n, u32 end, bool as_expr)
{
	for (;; n = n->c) {
		sb_z(f->out, n->flags & NF_COMPTIME ? "if comptime " : "if ");
		condition(f, n->a);
		sb_char(f->out, ' ');
		as_expr ? block_expr(f, n->b)
			: block(f, n->b, end_of(n->b, n->c ? n->c->loc.pos : end));
		if (!n->c)
			return;
		sb_z(f->out, " else ");
		if (n->c->kind != N_IF)
			break;
	}
	as_expr ? block_expr(f, n->c) : block(f, n->c, end_of(n->c, end));
}

static void let(struct fmt *f, const struct node *n)
{
	sb_fmt(f->out, "let $%.*s", STRF(n->name));
	if (n->a) {
		sb_z(f->out, " : ");
		type(f, n->a);
	}
	if (n->b) {
		sb_z(f->out, " = ");
		expr(f, n->b);
	}
}

static void loop(struct fmt *f, const struct node *n, u32 end)
{
	if (n->kind == N_FOR) {
		sb_fmt(f->out, "for $%.*s : ", STRF(n->name));
		if (n->a->kind == N_RANGE) {
			expr(f, n->a->a);
			sb_z(f->out, "..");
			expr(f, n->a->b);
		} else {
			expr(f, n->a);
		}
	} else {
		sb_z(f->out, n->kind == N_WHILE ? "while " : "unroll ");
		condition(f, n->a);
	}
	sb_char(f->out, ' ');
	block(f, n->b, end_of(n->b, end));
}

/* Without what ends it. True: it ends with a block. */
static bool statement(struct fmt *f, const struct node *n, u32 end)
{
	switch ((int)n->kind) { /* the parser makes no others */
	case N_EXPR: expr(f, n->a); break;
	case N_ASSIGN:
		expr(f, n->a);
		sb_fmt(f->out, " %s ", token_text(n->op));
		expr(f, n->b);
		break;
	case N_DISCARD:
		sb_z(f->out, "_ = ");
		expr(f, n->a);
		break;
	case N_LET: let(f, n); break;
	case N_IMPORT:
		sb_z(f->out, "import ");
		quoted(f, n->name);
		break;
	case N_BREAK: sb_z(f->out, "break"); break;
	case N_CONTINUE: sb_z(f->out, "continue"); break;
	case N_RETURN:
		sb_z(f->out, n->a ? "return " : "return");
		if (n->a)
			expr(f, n->a);
		break;
	case N_BLOCK: block(f, n, end); return true;
	case N_IF: if_(f, n, end, false); return true;
	default: loop(f, n, end); return true;
	}
	return false;
}

/* The braces and all between; end: where comments no longer belong to it. */
static void block(struct fmt *f, const struct node *n, u32 end)
{
	sb_z(f->out, "{\n");
	f->depth++;
	f->first = true;
	for (const struct node *s = n->a; s; s = s->next) {
		u32 limit = end_of(s, s->next ? s->next->loc.pos : end);
		comments(f, s->loc.pos, false);
		gap(f, s->loc.pos, false);
		indent(f);
		bool braces = statement(f, s, limit);
		bool value = !s->next && (n->flags & NF_VALUE);
		bool valued = braces && (s->flags & NF_VALUE) && s->kind != N_FOR;
		if (!value && (!braces || (valued && !s->next)))
			sb_char(f->out, ';');
		end_line(f, limit);
		f->first = false;
	}
	comments(f, end, false);
	f->depth--;
	f->first = false;
	indent(f);
	sb_char(f->out, '}');
}

/* ---- the top level ---- */

static void option(struct fmt *f, const struct node *n)
{
	sb_add(f->out, n->name);
	if (n->num & 0xff)
		sb_fmt(f->out, " %c", (char)n->num);
	if (n->num >> 8)
		sb_fmt(f->out, " [%llu]", n->num >> 8);
	for (const struct node *o = n->a ? n->c->next->next : n->c; o; o = o->next)
		sb_fmt(f->out, " also %.*s", STRF(o->name));
	if (!n->a)
		return;
	if (n->c->name.n)
		sb_fmt(f->out, " : %.*s", STRF(n->c->name));
	for (const struct node *o = n->c->a; o; o = o->next) {
		sb_z(f->out, o != n->c->a ? " | " : n->c->name.n ? " " : " : ");
		quoted(f, o->name);
	}
	sb_z(f->out, n->a->flags & NF_NEG ? " = -" : " = ");
	expr(f, n->a);
	if (n->c->next->name.n)
		sb_fmt(f->out, " %.*s", STRF(n->c->next->name));
	if (n->b) {
		sb_char(f->out, ' ');
		quoted(f, n->b->name);
	}
}

static void words(struct fmt *f, const struct node *n)
{
	for (; n; n = n->next) {
		sb_z(f->out, n->flags & NF_NEG ? " -" : " ");
		expr(f, n);
	}
}

static void column(struct fmt *f, const struct node *n)
{
	sb_add(f->out, n->name);
	if (n->c) {
		sb_char(f->out, ' ');
		quoted(f, n->c->name);
	}
	if (n->num)
		sb_fmt(f->out, " %llu", n->num);
	words(f, n->a);
	if (n->b) {
		sb_z(f->out, " if ");
		expr(f, n->b);
	}
}

static void setting(struct fmt *f, const struct node *n)
{
	sb_fmt(f->out, "%.*s =%s", STRF(n->name), n->b ? "" : " ");
	if (!n->b)
		expr(f, n->a);
	f->depth++;
	for (const struct node *piece = n->b; piece; piece = piece->next) {
		sb_char(f->out, '\n');
		indent(f);
		expr(f, piece);
	}
	f->depth--;
}

/* Each on a line of its own, up to the bracket at end. */
static void rows(struct fmt *f, const struct node *first, u32 end,
		 void (*row)(struct fmt *f, const struct node *n))
{
	f->depth++;
	f->first = true;
	for (const struct node *s = first; s; s = s->next) {
		comments(f, s->loc.pos, false);
		gap(f, s->loc.pos, false);
		indent(f);
		row(f, s);
		sb_char(f->out, ';');
		end_line(f, end_of(s, end));
	}
	comments(f, end, false);
	f->depth--;
	f->first = false;
	sb_char(f->out, '}');
}

/* options { } and table NAME { } */
static void declaration(struct fmt *f, const struct node *n, u32 end)
{
	if (n->kind == N_OPTIONS)
		sb_z(f->out, "options {\n");
	else
		sb_fmt(f->out, "table %.*s", STRF(n->name));
	if (n->kind == N_TABLE) {
		words(f, n->b);
		if (n->c) {
			sb_z(f->out, " rows ");
			expr(f, n->c);
		}
		sb_z(f->out, " {\n");
	}
	rows(f, n->a, end, n->kind == N_OPTIONS ? option : column);
}

static void config(struct fmt *f, const struct node *n, u32 end)
{
	sb_z(f->out, "config = {\n");
	rows(f, n->a, end, setting);
}

static void predicate(struct fmt *f, const struct node *n)
{
	AUTO_SB in = {0};
	struct sb *out = f->out;
	f->out = &in;
	expr(f, n);
	f->out = out;
	/* no comment may begin here */
	sb_fmt(f->out, in.s[0] == '*' || in.s[0] == '/' ? "/ %s/\n" : "/%s/\n", in.s);
}

static void probe(struct fmt *f, const struct node *n, u32 end)
{
	sb_z(f->out, n->flags & NF_ELSE ? "else " : "");
	for (const struct node *p = n->a; p; p = p->next) {
		comments(f, p->loc.pos, false);
		if (p->num)
			sb_fmt(f->out, "%.*s=", (int)p->num, f->text.s + p->loc.pos);
		sb_add(f->out, p->name);
		sb_z(f->out, !p->next ? "\n" : p->next->flags & NF_ELSE ? "\nelse " : ",\n");
	}
	if (n->b)
		predicate(f, n->b);
	block(f, n->c, end_of(n->c, end));
}

static void params(struct fmt *f, const struct node *n)
{
	sb_fmt(f->out, "%.*s(", STRF(n->name));
	for (const struct node *p = n->a; p; p = p->next) {
		if (p->kind == N_LET) {
			sb_fmt(f->out, "$%.*s : ", STRF(p->name));
			type(f, p->a);
		} else {
			expr(f, p);
		}
		sb_z(f->out, p->next ? ", " : "");
	}
	sb_char(f->out, ')');
}

static void c_definition(struct fmt *f, const struct node *n)
{
	struct str t = str_trim(n->name);
	if (!f->out->n && str_starts(t, STR("#!"))) /* would be who runs the script */
		sb_char(f->out, '\n');
	sb_add(f->out, t);
	if (t.n && t.s[0] != '#')
		sb_char(f->out, ';');
	while (f->next && f->next->pos < n->loc.pos + n->name.n) /* it is in the text */
		f->next = f->next->next;
}

static void definition(struct fmt *f, const struct node *n, u32 end)
{
	switch ((int)n->kind) { /* the parser makes no others */
	case N_CDEF: c_definition(f, n); break;
	case N_CONFIG: config(f, n, end); break;
	case N_OPTIONS:
	case N_TABLE: declaration(f, n, end); break;
	case N_IMPORT:
		statement(f, n, end);
		sb_char(f->out, ';');
		break;
	case N_MAPDECL:
		sb_fmt(f->out, "let @%.*s = %.*s(%llu);", STRF(n->name), STRF(n->a->name),
		       n->a->num);
		break;
	case N_MACRO:
		sb_z(f->out, "macro ");
		params(f, n);
		sb_char(f->out, '\n');
		block(f, n->b, end_of(n->b, end));
		break;
	case N_FN:
		sb_z(f->out, "fn ");
		params(f, n);
		sb_z(f->out, " : ");
		type(f, n->b);
		sb_char(f->out, '\n');
		block(f, n->c, end_of(n->c, end));
		break;
	case N_PROBE: probe(f, n, end); break;
	}
}

void node_text(const struct node *n, struct sb *out)
{
	struct fmt f = {.out = out, .text = STR(""), .first = true};
	expr(&f, n);
}

static bool is_large(const struct node *n)
{
	return n && (n->kind == N_PROBE || n->kind == N_MACRO || n->kind == N_FN ||
		     n->kind == N_OPTIONS || n->kind == N_TABLE);
}

void bt_format(const struct node *tree, struct str text, const struct comment *list, struct sb *out)
{
	struct fmt f = {.out = out, .text = text, .next = list, .first = true};
	const struct node *before = NULL;
	if (str_starts(text, STR("#!"))) {
		i32 end = str_chr(text, '\n');
		sb_fmt(out, "%.*s\n", end < 0 ? (int)text.n : end, text.s);
		f.first = false;
	}
	for (const struct node *n = tree->a; n; before = n, n = n->next) {
		u32 end = end_of(n, n->next ? n->next->loc.pos : text.n);
		bool apart = is_large(before) || is_large(n);
		const struct comment *was = f.next;
		comments(&f, n->loc.pos, is_large(before));
		gap(&f, n->loc.pos, apart && was == f.next);
		definition(&f, n, end);
		end_line(&f, end);
		f.first = false;
	}
	comments(&f, UINT32_MAX, is_large(before));
}
