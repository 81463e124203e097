/*
 * cmacros.c - macros of the C part in the rest of a script.
 *
 * A name or call in the tree is expanded as C does it, token by token from its text, and what comes
 * out is parsed as an expression of the script. Nodes that are wholly the text of an argument keep
 * their place; everything else has the place of the use.
 */
#include "source/cdefs.h"
#include "source/rows.h"

enum { MAX_TEXT = 1 << 16 };

struct use {
	struct compile *c;
	struct cpp *p;
	const struct node *macro; /* of the script, whose parameters hide names */
};

/* A token of the expansion: where it is there, and where it came from. */
struct piece {
	u32 pos, end;
	struct loc from;
	bool given; /* it is text of the use */
};
struct expansion {
	struct sb text;
	VEC(struct piece) piece;
	struct loc at;
	u32 end; /* of the use in its source */
};

static bool is_param(const struct use *u, struct str name)
{
	for (const struct node *n = u->macro ? u->macro->a : NULL; n; n = n->next)
		if (n->kind == N_NAME && str_eq(n->name, name))
			return true;
	return false;
}

/* A system header's macro does not take a builtin's name away. */
static bool is_builtin(struct str name)
{
	return builtin_named(name) != NULL;
}

/* The tokens of a name, or of a call up to its ')'. */
static struct ctok *tokens_of(struct use *u, const struct node *n, u32 *end)
{
	struct diags *ds = u->c->diags;
	struct str text = ds->source[n->loc.src].text;
	struct clex lx = {.arena = u->p->arena,
			  .text = str_from(text, n->loc.pos),
			  .base = {n->loc.pos, 0, n->loc.src},
			  .exact = true};
	struct ctok *head = NULL, **tail = &head, *t;
	u32 depth = 0;
	do {
		t = clex_next(&lx);
		if (!t)
			break;
		t->line = false;
		cpp_add(&tail, t);
		depth += ctok_is(t, "(");
		depth -= depth && ctok_is(t, ")");
	} while (n->kind == N_CALL && (depth || !ctok_is(t, ")")));
	*end = n->loc.pos + lx.at;
	return head && str_eq(head->text, n->name) ? head : NULL;
}

static void add_char(struct sb *b, struct str text)
{
	u64 v;
	if (ctok_char(text, &v))
		sb_fmt(b, "%lld", (i64)v);
	else
		sb_add(b, text);
}

static void write_out(struct expansion *x, const struct ctok *t)
{
	for (; t && x->text.n < MAX_TEXT; t = t->next) {
		sb_char(&x->text, ' ');
		u32 pos = (u32)x->text.n;
		if (t->kind == CT_CHAR)
			add_char(&x->text, t->text);
		else
			sb_add(&x->text, t->text);
		bool given =
			t->loc.src == x->at.src && t->loc.pos > x->at.pos && t->loc.pos < x->end;
		vec_add(&x->piece, ((struct piece){pos, (u32)x->text.n, t->loc, given}));
	}
}

static const struct piece *piece_at(const struct expansion *x, u32 pos)
{
	for (u32 i = 0; i < x->piece.n; i++)
		if (pos >= x->piece.v[i].pos && pos < x->piece.v[i].end)
			return &x->piece.v[i];
	return NULL;
}

static struct loc place(const struct expansion *x, struct loc l)
{
	const struct piece *a = piece_at(x, l.pos);
	const struct piece *b = piece_at(x, l.pos + MAX(l.len, (u16)1) - 1);
	if (!a || !b || !a->given || !b->given)
		return x->at;
	for (const struct piece *p = a; p <= b; p++)
		if (!p->given)
			return x->at;
	return loc_span(a->from, b->from);
}

static bool replace_node(struct node *n, void *arg)
{
	const struct expansion *x = arg;
	n->loc = place(x, n->loc);
	if (n->kind == N_LET || n->kind == N_FOR)
		n->num = n->loc.pos;
	return true;
}

/* What a macro calls itself by is left alone; then it should mean something else. */
static bool recursive(struct use *u, const struct ctok *t, const struct node *at)
{
	const struct cdefs *cd = u->c->cdefs;
	struct types *k = host_btf(u->c->host);
	i64 v;
	for (; t; t = t->next) {
		bool own = false;
		for (const struct hide *h = t->hide; h; h = h->next)
			own |= t->kind == CT_IDENT && str_eq(h->name, t->text);
		const struct cmacro *m = own ? cpp_macro(u->p, t->text) : NULL;
		if (!m || m->fn || is_builtin(t->text) || known_constant(u->c->host, t->text, &v) ||
		    cdefs_enumerator(cd, t->text, false, &v, NULL) ||
		    cdefs_enumerator(cd, t->text, true, &v, NULL) ||
		    (k && btf_types_enumerator(k, t->text, &v, NULL)))
			continue;
		struct diag *d = diag_add(u->c->diags, E_CPP, at->loc,
					  "macro %.*s is defined by itself", STRF(t->text));
		diag_note(u->c->diags, d, m->loc, "This is its definition.");
		return true;
	}
	return false;
}

static void parse_error(struct use *u, const struct expansion *x, const struct cmacro *m)
{
	struct diags *to = u->c->diags;
	struct str text = str_trim(sb_str(&x->text));
	struct diag *d;
	if (!text.n)
		d = diag_add(to, E_CPP, x->at, "macro %.*s is empty, which is no value here",
			     STRF(m->name));
	else
		d = diag_add(to, E_CPP, x->at, "macro %.*s makes no expression", STRF(m->name));
	if (text.n)
		diag_hint(to, d, "it expands to: %.*s%s", (int)MIN(text.n, 200u), text.s,
			  text.n > 200 ? "..." : "");
	diag_note(to, d, m->loc, "The macro is defined here.");
}

static bool starts_here(const struct use *u, const struct node *n)
{
	const struct diags *ds = u->c->diags;
	return n->loc.src < ds->nsource && n->loc.pos < ds->source[n->loc.src].text.n;
}

/* After a mistake was reported: a value that starts no further ones. */
static void give_up(struct node *n)
{
	if (n->kind == N_TYPE)
		return;
	n->kind = N_NUM;
	n->num = 0;
	n->a = NULL;
}

static struct node *parse(struct use *u, struct diags *ds, const struct expansion *x, bool type)
{
	if (!x->text.n || x->text.n >= MAX_TEXT)
		return NULL;
	const struct language *lang = language_of(u->c->diags->source[x->at.src].name);
	struct node *n = lang->parse_part(u->c->arena, ds, 0, type);
	if (n || !type)
		return n;
	struct diags quiet = {.arena = ds->arena, .source = ds->source, .nsource = 1};
	return lang->parse_part(u->c->arena, &quiet, 0, false); /* sizeof(MACRO) */
}

static void expand_use(struct use *u, struct node *n, const struct cmacro *m)
{
	struct expansion x = {.at = n->loc};
	struct ctok *t = starts_here(u, n) ? tokens_of(u, n, &x.end) : NULL;
	u32 nerror = u->c->diags->nerror;
	if (!t)
		return;
	struct ctok *got = cpp_expand(u->p, t);
	bool self = got && !got->next && str_eq(got->text, n->name);
	if (u->c->diags->nerror > nerror || recursive(u, got, n)) {
		give_up(n);
		return;
	}
	if (self)
		return;
	struct ctok **last = &got; /* the ';' of a macro that stands for a statement */
	while (*last && (*last)->next)
		last = &(*last)->next;
	if (ctok_is(*last, ";"))
		*last = NULL;
	write_out(&x, got);
	struct source src = {STR("macro"), arena_str(u->c->arena, sb_str(&x.text))};
	struct diags ds = {.arena = u->c->arena, .source = &src, .nsource = 1};
	struct node *made = parse(u, &ds, &x, n->kind == N_TYPE);
	if (made) {
		struct node *next = n->next;
		node_walk(made, replace_node, &x);
		*n = *made;
		n->next = next;
		n->flags |= NF_PAREN; /* it is one operand, whatever it expanded to */
	} else {
		parse_error(u, &x, m);
		give_up(n);
	}
	sb_free(&x.text);
	vec_free(&x.piece);
}

static bool see(struct node *n, void *arg)
{
	struct use *u = arg;
	switch ((int)n->kind) { /* the others may hold uses below */
	case N_CDEF:
	case N_CONFIG:
	case N_IMPORT:
	case N_OPTIONS:
	case N_TABLE:
	case N_MAPDECL: return false;
	case N_OFFSETOF: node_walk(n->a, see, u); return false;
	case N_MACRO:
		u->macro = n;
		node_walk(n->b, see, u);
		u->macro = NULL;
		return false;
	case N_NAME:
	case N_CALL:
	case N_TYPE: break;
	default: return true;
	}
	const struct cmacro *m = n->name.n && !(n->flags & (NF_STRUCT | NF_UNION | NF_ENUM))
					 ? cpp_macro(u->p, n->name)
					 : NULL;
	if (!m || (m->fn && n->kind != N_CALL) || is_param(u, n->name) ||
	    (m->sys && is_builtin(n->name)))
		return true;
	expand_use(u, n, m);
	return false;
}

void expand_uses(struct compile *c, struct cpp *p)
{
	struct use u = {.c = c, .p = p};
	node_walk(c->tree, see, &u);
}
