/* cpp.c - directives: which lines of the definitions count. */
#include "cparse/cpp.h"

enum { MAX_DEPTH = 64, MAX_FILES = 1000, MAX_CONDS = 256 };

struct cond {
	const struct ctok *at; /* its #if, for errors */
	bool on, taken, last;  /* this branch counts; one did; this is #else */
	u32 depth;
	struct cond *outer;
};

void cpp_init(struct cpp *p, struct arena *a, struct diags *ds)
{
	*p = (struct cpp){.arena = a, .diags = ds};
	p->tail = &p->head;
	p->text_tail = &p->text;
}

void cpp_define(struct cpp *p, struct str name, struct str value)
{
	struct clex lx = {.arena = p->arena, .text = value, .sys = true};
	struct ctok *body = NULL, **tail = &body, *t;
	while ((t = clex_next(&lx)))
		cpp_add(&tail, t);
	if (body)
		body->space = true;
	struct ctok at = {.kind = CT_IDENT, .text = name, .sys = true};
	cpp_set_macro(p, &at, body);
}

static bool skipping(const struct cpp *p)
{
	return p->cond && !p->cond->on;
}

/* Text read so far is expanded with the macros that hold now. */
static void flush(struct cpp *p)
{
	struct ctok *t = cpp_expand(p, p->text);
	p->text = NULL;
	p->text_tail = &p->text;
	*p->tail = t;
	while (*p->tail)
		p->tail = &(*p->tail)->next;
}

/* ---- conditions ---- */

static struct ctok *number(struct cpp *p, const struct ctok *at, bool v)
{
	struct ctok *t = ctok_new(p->arena, at);
	t->kind = CT_NUM;
	t->text = v ? STR("1") : STR("0");
	return t;
}

/* defined X and defined(X) become 1 or 0 before macros are expanded. */
static struct ctok *ask_defined(struct cpp *p, struct ctok *t)
{
	struct ctok *head = NULL, **tail = &head;
	for (struct ctok *next; t; t = next) {
		next = t->next;
		if (!ctok_is(t, "defined")) {
			cpp_add(&tail, t);
			continue;
		}
		bool paren = ctok_is(next, "(");
		struct ctok *name = paren ? next->next : next;
		if (!name || name->kind != CT_IDENT || (paren && !ctok_is(name->next, ")"))) {
			cpp_fail(p, E_CPP, t, "expected a name after 'defined'");
			return NULL;
		}
		cpp_add(&tail, number(p, t, cpp_macro(p, name->text)));
		next = paren ? name->next->next : name->next;
	}
	return head;
}

/* Names that are no macros count as 0. */
static bool name_value(struct cexpr *e, struct cval *ret)
{
	struct ctok *t = e->t;
	if (t->kind != CT_IDENT)
		return false;
	*ret = (struct cval){0, false, true};
	e->t = t->next;
	if (!ctok_is(e->t, "("))
		return true;
	if (!t->sys)
		return cexpr_fail(e, t, "this is not a macro that takes arguments");
	u32 depth = 0;
	do { /* __has_feature(x) */
		depth += ctok_is(e->t, "(");
		depth -= ctok_is(e->t, ")");
		e->t = e->t->next;
	} while (e->t && depth);
	return true;
}

static bool condition(struct cpp *p, const struct ctok *at, struct ctok *t)
{
	if (!t) {
		cpp_fail(p, E_CPP, at, "expected a condition after #%.*s", STRF(at->text));
		return false;
	}
	u32 nerror = p->diags->nerror;
	const struct ctok *first = t;
	t = cpp_expand(p, ask_defined(p, t));
	if (p->diags->nerror != nerror)
		return false;
	struct cexpr e = {.t = t, .atom = name_value, .wide = true};
	struct cval v = {0};
	if (!t)
		cexpr_fail(&e, first, "nothing is left of the condition");
	else if (cexpr_eval(&e, &v) && e.t)
		cexpr_fail(&e, e.t, "expected an operator");
	if (e.why)
		cpp_fail(p, E_CPP, e.at ? e.at : first, "%s%s", e.why,
			 e.at ? "" : " at the end of the condition");
	return !e.why && v.v;
}

static void open_cond(struct cpp *p, const struct ctok *at, struct ctok *rest)
{
	struct cond *c = arena_new(p->arena, struct cond);
	c->at = at;
	c->outer = p->cond;
	c->depth = p->cond ? p->cond->depth + 1 : 1;
	if (c->depth > MAX_CONDS) {
		cpp_fail(p, E_LIMIT, at, "conditionals nested too deeply (more than %d)",
			 MAX_CONDS);
		return;
	}
	if (skipping(p)) {
		c->taken = true;
	} else if (str_is(at->text, "if")) {
		c->on = condition(p, at, rest);
	} else if (!rest || rest->kind != CT_IDENT) {
		cpp_fail(p, E_CPP, rest ? rest : at, "expected the name of a macro after #%.*s",
			 STRF(at->text));
	} else {
		c->on = (cpp_macro(p, rest->text) != NULL) == str_is(at->text, "ifdef");
		if (rest->next)
			cpp_fail(p, E_CPP, rest->next, "nothing may follow the name");
	}
	c->taken |= c->on;
	p->cond = c;
}

static void next_branch(struct cpp *p, const struct ctok *at, struct ctok *rest)
{
	struct cond *c = p->cond;
	bool otherwise = str_is(at->text, "else");
	if (!c) {
		cpp_fail(p, E_CPP, at, "#%.*s without #if", STRF(at->text));
		return;
	}
	if (c->last) {
		cpp_fail(p, E_CPP, at, "#%.*s after #else", STRF(at->text));
		return;
	}
	c->last = otherwise;
	c->on = !c->taken && (otherwise || condition(p, at, rest));
	c->taken |= c->on;
}

static void close_cond(struct cpp *p, const struct ctok *at)
{
	if (p->cond)
		p->cond = p->cond->outer;
	else
		cpp_fail(p, E_CPP, at, "#endif without #if");
}

/* Conditionals that this file left open. */
static void unclosed(struct cpp *p, const struct cond *outer)
{
	for (; p->cond != outer && p->cond; p->cond = p->cond->outer)
		cpp_fail(p, E_CPP, p->cond->at, "#%.*s without #endif", STRF(p->cond->at->text));
}

/* ---- includes ---- */

static struct str joined(struct cpp *p, const struct ctok *t, const char *until)
{
	AUTO_SB b = {0};
	for (; t && !ctok_is(t, until); t = t->next)
		sb_add(&b, t->text);
	return arena_str(p->arena, sb_str(&b));
}

static void read_text(struct cpp *p, struct clex *lx);

static void include_file(struct cpp *p, const struct ctok *at, const struct cpp_file *f)
{
	if (names_get(&p->once, f->path))
		return;
	if (p->depth >= MAX_DEPTH || p->nfile >= MAX_FILES) {
		diag_add(p->diags, E_LIMIT, at->loc, "too many #includes (%u files, %u levels)",
			 p->nfile, p->depth);
		p->full = true;
		return;
	}
	struct str was = p->file;
	struct cond *outer = p->cond;
	struct clex lx = {.arena = p->arena, .text = f->text, .exact = true, .sys = f->sys};
	p->file = f->path;
	p->nfile++;
	p->depth++;
	lx.base.src = diags_add_source(p->diags, f->path, f->text);
	read_text(p, &lx);
	flush(p);
	unclosed(p, outer);
	p->depth--;
	p->file = was;
}

static void include(struct cpp *p, const struct ctok *at, struct ctok *t)
{
	if (t && t->kind != CT_STR && !ctok_is(t, "<"))
		t = cpp_expand(p, t);
	bool quoted = t && t->kind == CT_STR;
	if (!quoted && !ctok_is(t, "<")) {
		cpp_fail(p, E_CPP, t ? t : at, "expected \"FILE\" or <FILE> after #include");
		return;
	}
	struct str name = quoted ? str_n(t->text.s + 1, t->text.n - 2) : joined(p, t->next, ">");
	struct loc loc = t->loc;
	if (!quoted)
		loc.len = (u16)MIN(name.n + 2, 0xffffu);
	struct cpp_file f = {0};
	enum cpp_include how = ctok_is(at, "include_next") ? CPP_NEXT
			       : quoted                    ? CPP_QUOTED
							   : CPP_ANGLE;
	enum cpp_found found = p->open ? p->open(p->arg, name, how, p->file, &f) : CPP_MISSING;
	if (found == CPP_FOUND)
		include_file(p, t, &f);
	if (found != CPP_MISSING || t->sys)
		return;
	struct diag *d =
		diag_add(p->diags, E_CPP, loc, "Cannot find the header '%.*s'", STRF(name));
	if (p->hint)
		diag_hint(p->diags, d, "%s", p->hint);
}

/* ---- lines ---- */

static void define(struct cpp *p, const struct ctok *at, struct ctok *t)
{
	if (!t || t->kind != CT_IDENT)
		cpp_fail(p, E_CPP, t ? t : at, "expected the name of a macro after #define");
	else
		cpp_set_macro(p, t, t->next);
}

static void undef(struct cpp *p, const struct ctok *at, struct ctok *t)
{
	if (!t || t->kind != CT_IDENT) {
		cpp_fail(p, E_CPP, t ? t : at, "expected the name of a macro after #undef");
		return;
	}
	struct cmacro *m = names_get(&p->macro, t->text);
	if (m)
		m->gone = true;
}

static void pragma(struct cpp *p, const struct ctok *t)
{
	static const char here[] = "";
	if (ctok_is(t, "once") && p->file.n)
		names_set(&p->once, p->arena, p->file, (void *)here);
	else if (ctok_is(t, "pack"))
		cpp_fail(p, E_CPP, t, "#pragma pack is not supported: use __attribute__((packed))");
}

static struct str rest_of_line(struct cpp *p, const struct ctok *t)
{
	AUTO_SB b = {0};
	for (; t; t = t->next) {
		if (b.n && t->space)
			sb_char(&b, ' ');
		sb_add(&b, t->text);
	}
	return arena_str(p->arena, sb_str(&b));
}

static void directive(struct cpp *p, struct ctok *t)
{
	if (!t)
		return;
	struct ctok *rest = t->next;
	if (ctok_is(t, "if") || ctok_is(t, "ifdef") || ctok_is(t, "ifndef"))
		open_cond(p, t, rest);
	else if (ctok_is(t, "elif") || ctok_is(t, "else"))
		next_branch(p, t, rest);
	else if (ctok_is(t, "endif"))
		close_cond(p, t);
	else if (skipping(p))
		return;
	else if (ctok_is(t, "define"))
		define(p, t, rest);
	else if (ctok_is(t, "undef"))
		undef(p, t, rest);
	else if (ctok_is(t, "include") || ctok_is(t, "include_next") || ctok_is(t, "import"))
		include(p, t, rest);
	else if (ctok_is(t, "pragma"))
		pragma(p, rest);
	else if (ctok_is(t, "error"))
		cpp_fail(p, E_CPP, t, "#error %.*s", STRF(rest_of_line(p, rest)));
	else if (ctok_is(t, "warning"))
		cpp_fail(p, W_CPP, t, "#warning %.*s", STRF(rest_of_line(p, rest)));
	else if (!ctok_is(t, "line") && !ctok_is(t, "ident") && t->kind != CT_NUM)
		cpp_fail(p, E_CPP, t, "unknown preprocessor line #%.*s", STRF(t->text));
}

/* What stands behind '#' up to the end of the line. */
static struct ctok *line(struct clex *lx)
{
	struct ctok *head = NULL, **tail = &head, *t;
	for (;;) {
		u32 at = lx->at;
		t = clex_next(lx);
		if (t && !t->line) {
			cpp_add(&tail, t);
			continue;
		}
		if (t)
			lx->at = at;
		return head;
	}
}

static void read_text(struct cpp *p, struct clex *lx)
{
	struct ctok *t;
	while (!p->full && (t = clex_next(lx))) {
		if (t->line && ctok_is(t, "#")) {
			flush(p);
			directive(p, line(lx));
		} else if (!skipping(p)) {
			cpp_add(&p->text_tail, t);
		}
	}
}

void cpp_feed(struct cpp *p, struct str text, struct loc loc, bool exact)
{
	struct clex lx = {.arena = p->arena, .text = text, .base = loc, .exact = exact};
	read_text(p, &lx);
}

struct ctok *cpp_end(struct cpp *p)
{
	flush(p);
	unclosed(p, NULL);
	struct ctok *t = p->head;
	p->head = NULL;
	p->tail = &p->head;
	return t;
}
