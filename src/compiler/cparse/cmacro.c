/*
 * cmacro.c - defining and expanding macros, by hide sets: a token remembers which macros it came
 * out of, and is not expanded by those again.
 */
#include "base/alloc.h"
#include "cparse/cpp.h"
#include <stdarg.h>

enum { MAX_TOKENS = 1 << 20, MAX_NEST = 100, MAX_PARAMS = 127, MAX_STRING = 1 << 16 };

void cpp_fail(struct cpp *p, enum diag_code code, const struct ctok *at, const char *fmt, ...)
{
	if (at && at->sys)
		return;
	va_list ap;
	va_start(ap, fmt);
	diag_addv(p->diags, code, at ? at->loc : (struct loc){0}, fmt, ap);
	va_end(ap);
}

void cpp_add(struct ctok ***tail, struct ctok *t)
{
	t->next = NULL;
	**tail = t;
	*tail = &t->next;
}

static struct cmacro *find(const struct cpp *p, struct str name)
{
	struct cmacro *m = names_get(&p->macro, name);
	return m && !m->gone ? m : NULL;
}

const struct cmacro *cpp_macro(const struct cpp *p, struct str name)
{
	return find(p, name);
}

/* Counts a token made; false: too many, reported. */
static bool count(struct cpp *p, const struct ctok *at)
{
	if (p->full)
		return false;
	if (++p->ntok <= MAX_TOKENS)
		return true;
	p->full = true;
	diag_add(p->diags, E_LIMIT, at->loc, "macros make too much text (more than %d tokens)",
		 MAX_TOKENS);
	return false;
}

/* ---- definitions ---- */

/* The parameters from '(' on; what follows ')' in *rest. */
static bool params(struct cpp *p, struct cmacro *m, const struct ctok *t, const struct ctok **rest)
{
	const struct ctok *open = t;
	m->fn = true;
	m->param = arena_newn(p->arena, struct str, MAX_PARAMS);
	for (t = t->next; t && !ctok_is(t, ")");) {
		if (m->nparam == MAX_PARAMS || m->variadic)
			break;
		bool dots = ctok_is(t, "...");
		if (!dots && t->kind != CT_IDENT)
			break;
		m->param[m->nparam++] = dots ? STR("__VA_ARGS__") : t->text;
		m->variadic = dots;
		t = t->next;
		if (!dots && ctok_is(t, "...")) { /* args... */
			m->variadic = true;
			t = t->next;
		}
		if (ctok_is(t, ",") && t->next && !ctok_is(t->next, ")"))
			t = t->next;
		else
			break;
	}
	if (!ctok_is(t, ")")) {
		cpp_fail(p, E_CPP, t ? t : open, "expected names of parameters and ')'");
		return false;
	}
	*rest = t->next;
	return true;
}

void cpp_set_macro(struct cpp *p, const struct ctok *name, struct ctok *rest)
{
	struct cmacro *m = arena_new(p->arena, struct cmacro);
	const struct ctok *body = rest;
	m->name = name->text;
	m->loc = name->loc;
	m->sys = name->sys;
	if (str_is(name->text, "defined")) {
		cpp_fail(p, E_CPP, name, "'defined' cannot be the name of a macro");
		return;
	}
	if (ctok_is(rest, "(") && !rest->space && !params(p, m, rest, &body))
		return;
	if (ctok_is(body, "##")) {
		cpp_fail(p, E_CPP, body, "'##' cannot begin a macro");
		return;
	}
	m->body = body;
	names_set(&p->macro, p->arena, m->name, m);
}

/* ---- expansion ---- */

static bool hidden(const struct ctok *t, struct str name)
{
	for (const struct hide *h = t->hide; h; h = h->next)
		if (str_eq(h->name, name))
			return true;
	return false;
}

static const struct hide *hide_add(struct cpp *p, const struct hide *to, struct str name)
{
	for (const struct hide *h = to; h; h = h->next)
		if (str_eq(h->name, name))
			return to;
	struct hide *h = arena_new(p->arena, struct hide);
	*h = (struct hide){name, to};
	return h;
}

struct use {
	const struct cmacro *m;
	struct ctok *at;                  /* the macro's name where it is used */
	struct ctok **raw, **full;        /* arguments; full: expanded, made when needed */
	bool *done;                       /* full[i] is there */
	const struct hide *hide;          /* of the result */
	struct ctok *head, **tail, *last; /* the result */
};

static void put(struct cpp *p, struct use *u, const struct ctok *t, bool ours)
{
	if (!count(p, u->at))
		return;
	struct ctok *c = ctok_new(p->arena, t);
	if (ours) {
		c->loc = u->at->loc;
		c->sys = u->at->sys;
	}
	if (!c->hide)
		c->hide = u->hide;
	for (const struct hide *h = u->hide; h && c->hide != u->hide; h = h->next)
		c->hide = hide_add(p, c->hide, h->name);
	u->last = c;
	cpp_add(&u->tail, c);
}

static void put_list(struct cpp *p, struct use *u, const struct ctok *t)
{
	for (; t && !p->full; t = t->next)
		put(p, u, t, false);
}

static i32 param_of(const struct cmacro *m, const struct ctok *t)
{
	for (u32 i = 0; m->fn && t && t->kind == CT_IDENT && i < m->nparam; i++)
		if (str_eq(m->param[i], t->text))
			return (i32)i;
	return -1;
}

static struct ctok *copy_list(struct cpp *p, const struct ctok *t)
{
	struct ctok *head = NULL, **tail = &head;
	for (; t && count(p, t); t = t->next)
		cpp_add(&tail, ctok_new(p->arena, t));
	return head;
}

static const struct ctok *argument(struct cpp *p, struct use *u, u32 i)
{
	if (!u->done[i]) {
		u->full[i] = cpp_expand(p, copy_list(p, u->raw[i]));
		u->done[i] = true;
	}
	return u->full[i];
}

static void stringize(struct cpp *p, struct use *u, const struct ctok *arg)
{
	AUTO_SB b = {0};
	sb_char(&b, '"');
	for (const struct ctok *t = arg; t && b.n < MAX_STRING; t = t->next) {
		if (t->space && t != arg)
			sb_char(&b, ' ');
		if (t->kind == CT_STR || t->kind == CT_CHAR)
			sb_escape(&b, t->text);
		else
			sb_add(&b, t->text);
	}
	sb_char(&b, '"');
	struct ctok t = {.kind = CT_STR, .space = true, .text = arena_str(p->arena, sb_str(&b))};
	put(p, u, &t, true);
}

/* Glue the last token of the result to t, or to an argument's first. */
static void paste(struct cpp *p, struct use *u, const struct ctok *t, i32 param)
{
	const struct ctok *with = param >= 0 ? u->raw[param] : t;
	bool comma = param >= 0 && u->m->variadic && (u32)param == u->m->nparam - 1 &&
		     ctok_is(u->last, ",");
	if (comma) { /* , ## __VA_ARGS__: the comma goes when nothing follows */
		if (with)
			put_list(p, u, argument(p, u, (u32)param));
		else
			u->last->text.n = 0;
		return;
	}
	if (!with)
		return;
	if (!u->last) {
		if (param >= 0)
			put_list(p, u, with);
		else
			put(p, u, t, true);
		return;
	}
	struct ctok *l = u->last;
	if (l->text.n + with->text.n > MAX_STRING) {
		cpp_fail(p, E_LIMIT, u->at, "'##' makes a name that is too long");
		return;
	}
	struct clex lx = {
		.arena = p->arena,
		.text = str_z(arena_fmt(p->arena, "%.*s%.*s", STRF(l->text), STRF(with->text))),
		.base = u->at->loc,
		.sys = u->at->sys,
	};
	struct ctok *made = clex_next(&lx);
	if (!made || lx.at != lx.text.n)
		cpp_fail(p, E_CPP, u->at, "'##' makes %.*s, which is not one token", STRF(lx.text));
	l->text = lx.text;
	l->kind = made ? made->kind : CT_OTHER;
	put_list(p, u, param >= 0 ? with->next : NULL);
}

/* The body with arguments in it. */
static void subst(struct cpp *p, struct use *u)
{
	const struct cmacro *m = u->m;
	u->tail = &u->head;
	for (const struct ctok *t = m->body; t && !p->full; t = t->next) {
		i32 k = param_of(m, t), after = param_of(m, t->next);
		if (m->fn && ctok_is(t, "#") && after >= 0) {
			stringize(p, u, u->raw[after]);
			t = t->next;
		} else if (ctok_is(t, "##") && t->next) {
			paste(p, u, t->next, after);
			t = t->next;
		} else if (k >= 0 && ctok_is(t->next, "##")) {
			if (!u->raw[k]) /* nothing to glue to: the right side alone */
				u->last = NULL;
			put_list(p, u, u->raw[k]);
		} else if (k >= 0) {
			put_list(p, u, argument(p, u, (u32)k));
		} else {
			put(p, u, t, true);
		}
	}
	*u->tail = NULL;
}

/* The arguments from '(' on; sets *rest to what follows ')'. */
static bool arguments(struct cpp *p, struct use *u, struct ctok *t, struct ctok **rest,
		      const struct ctok **close)
{
	const struct cmacro *m = u->m;
	u32 room = MAX(m->nparam, 1u), n = 0, depth = 0;
	u->raw = arena_newn(p->arena, struct ctok *, room);
	u->full = arena_newn(p->arena, struct ctok *, room);
	u->done = arena_newn(p->arena, bool, room);
	struct ctok **tail = &u->raw[0];
	bool any = false;
	for (t = t->next; t; t = t->next) {
		if (!depth && ctok_is(t, ")"))
			break;
		bool comma = !depth && ctok_is(t, ",");
		if (comma && !(m->variadic && n + 1 >= m->nparam)) {
			any = true;
			if (++n < room)
				tail = &u->raw[n];
			continue;
		}
		depth += ctok_is(t, "(");
		depth -= depth && ctok_is(t, ")");
		any = true;
		if (n < room && count(p, t))
			cpp_add(&tail, ctok_new(p->arena, t));
	}
	if (!t) {
		cpp_fail(p, E_CPP, u->at, "the call of macro %.*s has no ')'", STRF(m->name));
		return false;
	}
	u32 have = any || m->nparam ? n + 1 : 0;
	bool few = have < m->nparam && !(m->variadic && have + 1 == m->nparam);
	if (have > m->nparam || few) {
		cpp_fail(p, E_CPP, u->at, "macro %.*s takes %u argument%s (%u given)",
			 STRF(m->name), m->nparam, m->nparam == 1 ? "" : "s", any ? n + 1 : 0);
		return false;
	}
	*rest = t->next;
	*close = t;
	return true;
}

/* Text of a macro at t in front of the rest; false: t stays as it is. */
static bool replace(struct cpp *p, const struct cmacro *m, struct ctok *t, struct ctok **ret)
{
	struct use u = {.m = m, .at = t};
	struct ctok *rest = t->next;
	const struct ctok *close = NULL;
	if (m->fn && (!ctok_is(rest, "(") || !arguments(p, &u, rest, &rest, &close)))
		return false;
	/* A call is hidden from what both its name and its ')' are hidden from. */
	bool all = !close || close->hide == t->hide; /* lists are shared, never changed */
	u.hide = all ? t->hide : NULL;
	for (const struct hide *h = t->hide; h && !all; h = h->next)
		if (hidden(close, h->name))
			u.hide = hide_add(p, u.hide, h->name);
	u.hide = hide_add(p, u.hide, m->name);
	subst(p, &u);
	if (u.head) {
		u.head->space = t->space;
		u.head->line = t->line;
	}
	*u.tail = rest;
	*ret = u.head;
	return true;
}

struct ctok *cpp_expand(struct cpp *p, struct ctok *t)
{
	struct ctok *head = NULL, **tail = &head;
	if (p->nest >= MAX_NEST && t) {
		if (!p->full)
			diag_add(p->diags, E_LIMIT, t->loc,
				 "macro calls nested too deeply (more than %d levels)", MAX_NEST);
		p->full = true;
	}
	p->nest++;
	while (t) {
		const struct cmacro *m = t->kind == CT_IDENT ? find(p, t->text) : NULL;
		if (m && !p->full && !hidden(t, m->name) && replace(p, m, t, &t))
			continue;
		struct ctok *next = t->next;
		if (t->text.n) /* not a comma that ## swallowed */
			cpp_add(&tail, t);
		t = next;
	}
	p->nest--;
	return head;
}
