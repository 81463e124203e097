/* expand.c - probe texts -> points (through providers) -> variants: one body per set of points with
 * equal types. */
#include "sema/sema.h"

struct expand {
	struct compile *c;
	struct point **tail;
	struct point *head;
	u32 n;     /* points of this attach text */
	u32 total; /* of the script */
	struct loc loc;
	struct str near; /* nothing matched, but this nearly would */
	bool full;
};

/* $1 and $# inside a probe's text are the parameter's text. */
static struct str substitute(struct compile *c, const struct node *pn)
{
	struct str t = pn->name;
	if (str_chr(t, '$') < 0)
		return str_unquote(c->unit->arena, t);
	AUTO_SB b = {0};
	for (u32 i = 0; i < t.n; i++) {
		u32 j = i + 1;
		while (j < t.n && t.s[j] >= '0' && t.s[j] <= '9')
			j++;
		u64 k = 0;
		if (t.s[i] != '$' || j == i + 1 || !str_u64(str_n(t.s + i + 1, j - i - 1), &k)) {
			sb_char(&b, t.s[i]);
			continue;
		}
		if (k >= 1 && k <= c->nparam)
			sb_add(&b, c->params[k - 1]);
		else
			diag_add(c->unit->diags, E_PROBE_SYNTAX, pn->loc,
				 "Positional parameter $%llu is needed here, but %u %s given", k,
				 c->nparam, c->nparam == 1 ? "was" : "were");
		i = j - 1;
	}
	return str_unquote(c->unit->arena, arena_str(c->unit->arena, sb_str(&b)));
}

/* Tests and benchmarks run when asked for, and nothing beside them. */
static bool is_wanted(struct unit *u, const struct provider *p)
{
	const struct config *g = &u->config;
	switch (p->phase) {
	case PROG_BEGIN:
	case PROG_END: return true;
	case PROG_TEST: u->skipped = g->test ? u->skipped : "test"; return g->test;
	case PROG_BENCH: u->skipped = g->bench ? u->skipped : "bench"; return g->bench;
	case PROG_ATTACH:
	case PROG_SIGNAL:
	case PROG_ITER:
	case PROG_PINNED: break;
	}
	return !g->test && !g->bench;
}

static bool add_point(const struct point *p, void *arg)
{
	struct expand *e = arg;
	struct unit *u = e->c->unit;
	bool same = e->n && p->provider->many && host_has(u->host, p->provider->many);
	if (!same && ++e->total > u->config.max_probes) {
		if (!e->full)
			diag_hint(u->diags,
				  diag_add(u->diags, E_LIMIT, e->loc,
					   "This script would attach to more than %llu probes, "
					   "which is the current limit",
					   u->config.max_probes),
				  "narrow the wildcard, or raise the limit with "
				  "BPFTRACE_MAX_PROBES or config = { max_probes = ... }");
		e->full = true;
		return false;
	}
	struct point *q = arena_new(u->arena, struct point);
	*q = *p;
	q->loc = e->loc;
	q->id = u->nprobe++;
	q->next = NULL;
	*e->tail = q;
	e->tail = &q->next;
	e->n++;
	return true;
}

struct nearest {
	struct str want, text; /* text: of the whole probe */
	u32 least;
};

/* What a user would write for the point: "provider:file:cpp:\"name(parameters)\"" has a plain name.
 */
static struct str written_name(const struct point *p)
{
	i32 quote = str_chr(p->plain, '"');
	if (quote < 0)
		return p->name;
	struct str s = str_from(p->plain, (u32)quote + 1);
	i32 end = str_chr(s, '(');
	return str_n(s.s, end > 0 ? (u32)end : s.n - 1);
}

/* "name.isra.0", "__x64_sys_name", "sys_enter_name": what became of names that people know. */
static bool is_form_of(struct str name, struct str want)
{
	static const char *const heads[] = {"sys_enter_", "__x64_", "__arm64_"};
	if (str_starts(name, want))
		return name.n > want.n && name.s[want.n] == '.';
	for (u32 i = 0; i < countof(heads); i++) {
		struct str head = str_z(heads[i]);
		if (name.n == head.n + want.n && str_starts(name, head) && str_ends(name, want))
			return true;
	}
	return false;
}

static bool note_nearest(const struct point *p, void *arg)
{
	struct nearest *b = arg;
	struct str name = written_name(p);
	u32 d = is_form_of(name, b->want) ? 0 : str_distance(b->want, name, b->least);
	if (d < b->least) {
		b->least = d;
		b->text = p->plain.n ? p->plain : p->text;
	}
	return true;
}

/* A probe that exists and is spelled almost like p; empty: none. */
static struct str near_point(struct unit *u, const struct point *p)
{
	struct nearest b = {.want = p->name, .least = 1 + MIN(p->name.n / 4, 2u)};
	if (!p->name.n || str_is_glob(p->name) || str_is_glob(p->target) || !p->provider->expand)
		return b.text;
	struct point any = *p;
	any.name = STR("*");
	any.loc = (struct loc){0};
	struct diags *ds = u->diags;
	u->diags = NULL; /* what the search would say of others is beside the point */
	err_free(p->provider->expand(u->host, u, &any, note_nearest, &b));
	if (!b.text.n && p->target.n && (p->provider->flags & PF_KERNEL)) { /* elsewhere */
		any.target = STR("*");
		err_free(p->provider->expand(u->host, u, &any, note_nearest, &b));
	}
	u->diags = ds;
	return b.text;
}

static bool note_first(const struct point *p, void *arg)
{
	struct str *text = arg;
	*text = p->text;
	return false;
}

/* "event" alone where "category:event" is wanted, or the category alone; empty: neither is known.
 */
static struct str with_category(struct unit *u, const struct provider *prov, struct str word)
{
	struct str text = STR("");
	struct point any = {.provider = prov, .target = STR("*"), .name = word};
	if (prov->prog_type != BPF_PROG_TYPE_TRACEPOINT || !word.n || str_chr(word, ':') >= 0 ||
	    str_is_glob(word))
		return text;
	struct diags *ds = u->diags;
	u->diags = NULL;
	err_free(prov->expand(u->host, u, &any, note_first, &text));
	any.target = word;
	any.name = STR("*");
	if (!text.n) {
		err_free(prov->expand(u->host, u, &any, note_first, &text));
		if (text.n)
			text = str_z(arena_fmt(u->arena, "%s:%.*s:*", prov->name, STRF(word)));
	}
	u->diags = ds;
	return text;
}

static void missing(struct compile *c, struct loc loc, struct str prov, struct str rest,
		    struct str near, bool others)
{
	struct diags *ds = c->unit->diags;
	switch (c->unit->config.missing_probes) {
	case MISSING_IGNORE: return;
	case MISSING_WARN:
		diag_add(ds, W_NO_PROBE, loc, "No matches for %.*s %.*s. Skipping.", STRF(prov),
			 STRF(rest));
		return;
	case MISSING_ERROR: break;
	}
	if (str_is_glob(rest) && others) { /* one of several ways to the same event */
		diag_add(ds, W_NO_PROBE, loc, "No matches for %.*s %.*s. Skipping.", STRF(prov),
			 STRF(rest));
		return;
	}
	struct diag *d =
		diag_add(ds, E_NO_PROBE, loc, "No matches for %.*s %.*s.", STRF(prov), STRF(rest));
	if (near.n)
		diag_hint(ds, d, "did you mean '%.*s'?", STRF(near));
	else
		diag_hint(
			ds, d,
			"If this is expected, set the 'missing_probes' config variable to 'warn'.");
}

/* A kernel's event may be elsewhere than where it is looked for. */
static void not_found(struct unit *u, const struct point *p, struct loc loc, struct err *err)
{
	u32 nd = u->diags->nerror;
	bool elsewhere = p->target.n && (p->provider->flags & PF_KERNEL);
	struct str near = elsewhere ? near_point(u, p) : STR("");
	diag_err(u->diags, E_NO_PROBE, loc, err);
	if (near.n && u->diags->nerror > nd)
		diag_hint(u->diags, u->diags->last, "did you mean '%.*s'?", STRF(near));
}

/* One provider with one text; quiet: a provider tried because the probe's type is a wildcard. */
static void expand_with(struct expand *e, const struct provider *prov, struct str rest, bool quiet)
{
	struct compile *c = e->c;
	struct unit *u = c->unit;
	struct point p = {.provider = prov, .loc = e->loc};
	struct err *err = prov->parse(u->arena, &p, rest);
	if (!err && !is_wanted(u, prov)) {
		e->n++;
		return;
	}
	if (err && quiet) {
		err_free(err);
		return;
	}
	if (err) {
		u32 nd = u->diags->nerror;
		struct str near = with_category(u, prov, rest);
		diag_err(u->diags, E_PROBE_SYNTAX, e->loc, err);
		if (u->diags->nerror > nd && near.n)
			diag_hint(u->diags, u->diags->last, "did you mean '%.*s'?", STRF(near));
		else if (u->diags->nerror > nd)
			diag_hint(u->diags, u->diags->last, "syntax: %s", prov->syntax);
		return;
	}
	if (!prov->expand) {
		add_point(&p, e);
		return;
	}
	u32 n = e->n;
	err = prov->expand(u->host, u, &p, add_point, e);
	if (!err && !quiet && e->n == n)
		e->near = near_point(u, &p);
	if (err && quiet)
		err_free(err);
	else if (err && u->config.missing_probes != MISSING_ERROR)
		err_free(err);
	else if (err)
		not_found(u, &p, e->loc, err);
}

static void expand_types(struct expand *e, struct str glob, struct str rest)
{
	struct str part = rest;
	bool user = e->c->unit->pid || str_chr(rest, '/') >= 0;
	(void)part;
	for (u32 i = 0; providers[i]; i++) {
		const struct provider *p = providers[i];
		bool kernel_kind = (p->flags & PF_KERNEL) || !strcmp(p->name, "software") ||
				   !strcmp(p->name, "hardware");
		if ((user ? (p->flags & PF_USER) != 0 : kernel_kind) &&
		    str_glob(glob, str_z(p->name)))
			expand_with(e, p, rest, true);
	}
}

static void expand_text(struct expand *e, const struct node *pn)
{
	struct diags *ds = e->c->unit->diags;
	u32 before = ds->nerror;
	struct str text = substitute(e->c, pn), rest = text, name;
	if (ds->nerror != before)
		return;
	str_cut(&rest, ':', &name);
	if (!rest.s)
		rest = STR("");
	e->loc = pn->loc;
	e->n = 0;
	e->near = STR("");
	if (str_is_glob(name)) {
		expand_types(e, name, rest);
	} else {
		const struct provider *prov = provider_find(name);
		if (!prov) {
			struct diag *d = diag_add(ds, E_PROBE_TYPE, pn->loc,
						  "Invalid probe type: %.*s", STRF(name));
			u32 least = 3;
			for (u32 i = 0; providers[i]; i++) {
				u32 k = str_distance(name, str_z(providers[i]->name), least);
				if (k < least)
					diag_hint(ds, d, "did you mean '%s'?", providers[i]->name);
				least = MIN(k, least);
			}
			return;
		}
		expand_with(e, prov, rest, false);
		name = str_z(prov->name);
	}
	if (!e->n && ds->nerror == before)
		missing(e->c, pn->loc, name, rest, e->near, e->head != NULL);
}

/* What a body asks of its probes. */
struct body {
	u32 use;
	bool whole; /* args itself, not only members */
	VEC(struct str) member;
};

static bool is_args(const struct node *n)
{
	return (n->kind == N_NAME || n->kind == N_CALL) && str_is(n->name, "args");
}

static bool note_use(struct node *n, void *arg)
{
	struct body *b = arg;
	u32 *use = &b->use;
	if (n->kind == N_MEMBER && is_args(n->a)) {
		*use |= USE_ARGS;
		vec_add(&b->member, n->name);
		return false;
	}
	if (n->kind != N_NAME && n->kind != N_CALL)
		return true;
	if (str_is(n->name, "args"))
		*use |= USE_ARGS, b->whole = true;
	else if (n->name.n > 3 && str_starts(n->name, STR("arg")) && n->name.s[3] >= '0' &&
		 n->name.s[3] <= '9')
		*use |= USE_ARGN;
	else if (str_is(n->name, "retval"))
		*use |= USE_RETVAL;
	else if (str_is(n->name, "probe") || str_is(n->name, "uaddr") ||
		 (str_is(n->name, "name") && n->kind == N_NAME))
		*use |= USE_PROBE;
	else if (str_is(n->name, "func"))
		*use |= USE_FUNC;
	else if (str_is(n->name, "comm") || str_is(n->name, "curtask") || str_is(n->name, "ppid") ||
		 str_is(n->name, "pcomm"))
		*use |= USE_TASK;
	else if (str_is(n->name, "pid") || str_is(n->name, "tid"))
		*use |= USE_IDS;
	else if (str_is(n->name, "kstack"))
		*use |= USE_KSTACK;
	else if (str_is(n->name, "ustack"))
		*use |= USE_USTACK;
	else if (str_is(n->name, "reg") || str_is(n->name, "ctx"))
		*use |= USE_REGS | USE_CTX;
	else if (str_is(n->name, "usermode"))
		*use |= USE_REGS;
	else if (str_is(n->name, "override") || str_is(n->name, "path") ||
		 str_is(n->name, "socket_cookie") || str_is(n->name, "skboutput") ||
		 str_is(n->name, "kfunc_allowed"))
		*use |= USE_PROGRAM;
	return true;
}

static bool same_args(const struct type *a, const struct type *b)
{
	if (a == b || !a || !b)
		return a == b;
	u32 na, nb;
	const struct field *fa = type_fields(a, &na), *fb = type_fields(b, &nb);
	if (na != nb)
		return false;
	for (u32 i = 0; i < na; i++)
		if (!str_eq(fa[i].name, fb[i].name) || fa[i].bit_off != fb[i].bit_off ||
		    fa[i].data_loc != fb[i].data_loc || fa[i].user != fb[i].user ||
		    !type_eq(fa[i].type, fb[i].type))
			return false;
	return true;
}

static bool same_variant(struct compile *c, const struct point *a, const struct point *b, u32 use)
{
	if (a->provider != b->provider || a->abi != b->abi)
		return false;
	if ((use & USE_FUNC) && sema_func_is_text(c->unit->host, a))
		return false;
	if ((a->provider->flags & PF_SPLIT) && !str_eq(a->extra, b->extra))
		return false;
	if ((use & USE_ARGS) && !same_args(a->args, b->args))
		return false;
	if ((use & USE_ARGN) && a->narg != b->narg)
		return false;
	if ((use & USE_ARGS) && (a->debug || b->debug))
		return false;
	if ((use & (USE_ARGN | USE_ARGS)) && (a->priv || b->priv) && a->provider->arg)
		return false; /* where arguments are may differ from point to point */
	return !(use & USE_RETVAL) || a->ret == b->ret ||
	       (a->ret && b->ret && type_eq(a->ret, b->ret));
}

/* The function's address comes from the helper, or is the probe's own, less its offset. */
static bool func_needs_point(struct compile *c, const struct point *p)
{
	return p->offset ||
	       ((p->provider->flags & PF_RETVAL) && !host_has(c->unit->host, FEAT_FUNC_IP));
}

static bool ctx_is_args(struct node *n, void *arg)
{
	(void)arg;
	if (n->kind == N_NAME && str_is(n->name, "ctx"))
		n->name = STR("args");
	return true;
}

/* args.NAME; of text behind a tracepoint's event, the text. */
static struct node *args_member(struct arena *a, struct loc loc, const struct field *f)
{
	struct node *args = node_new(a, N_NAME, loc), *member = node_new(a, N_MEMBER, loc);
	args->name = STR("args");
	member->name = f->name;
	member->a = args;
	if (!f->data_loc || f->type != &type_str0)
		return member;
	struct node *call = node_new(a, N_CALL, loc);
	call->name = STR("str");
	call->a = member;
	return call;
}

struct whole {
	struct arena *a;
	const struct type *args;
};

/* args as a value is a record of its members. */
static bool spell_args(struct node *n, void *arg)
{
	const struct whole *w = arg;
	bool type_only = n->kind == N_SIZEOF || n->kind == N_OFFSETOF || n->kind == N_TYPEINFO;
	if (type_only || (n->kind == N_MEMBER && is_args(n->a)))
		return false;
	u32 nf;
	const struct field *f = is_args(n) ? type_fields(w->args, &nf) : NULL;
	if (!f || !nf)
		return true;
	struct node **tail = &n->a;
	n->kind = N_RECORD;
	n->name = (struct str){0};
	n->a = NULL;
	for (u32 i = 0; i < nf; i++) {
		struct node *e = node_new(w->a, N_RFIELD, n->loc);
		e->name = f[i].name;
		e->a = args_member(w->a, n->loc, &f[i]);
		*tail = e;
		tail = &e->next;
	}
	return false;
}

static void add_variant(struct compile *c, struct node *probe, struct point *p, u32 use, u32 first)
{
	struct arena *a = c->unit->arena;
	for (u32 i = first; i < c->nvariant; i++) {
		struct variant *v = c->variant[i];
		if (!same_variant(c, v->points, p, use))
			continue;
		struct point *last = v->points;
		while (last->next)
			last = last->next;
		last->next = p;
		v->npoint++;
		return;
	}
	struct variant *v = arena_new(a, struct variant);
	v->probe = node_clone(a, probe);
	v->probe->next = NULL;
	if (p->provider->flags & PF_CTX_ARGS) {
		node_walk(v->probe->c, ctx_is_args, NULL);
		if (v->probe->b)
			node_walk(v->probe->b, ctx_is_args, NULL);
	}
	struct whole whole = {a, p->args};
	if (p->args && v->probe->b)
		node_walk(v->probe->b, spell_args, &whole);
	if (p->args)
		node_walk(v->probe->c, spell_args, &whole);
	v->provider = p->provider;
	v->points = p;
	v->npoint = 1;
	v->per_point = (use & USE_PROBE) || ((use & USE_FUNC) && func_needs_point(c, p)) ||
		       ((use & USE_FUNC) && !(p->provider->flags & PF_REGS)) ||
		       (p->provider->flags & (PF_TYPED | PF_ONCE));
	struct variant **grown = arena_newn(a, struct variant *, c->nvariant + 1);
	if (c->nvariant)
		memcpy(grown, c->variant, c->nvariant * sizeof(*grown));
	grown[c->nvariant++] = v;
	c->variant = grown;
}

/* Points of a body by a cheaper way to the same events, where there is one. */
static void choose_provider(struct compile *c, struct variant *v, u32 use)
{
	struct unit *u = c->unit;
	v->task = (use & (USE_TASK | USE_USTACK)) || (v->provider->flags & PF_TASK);
	const struct provider *better =
		v->provider->choose ? v->provider->choose(u->host, u, v->points, v->npoint, use)
				    : NULL;
	if (!better)
		return;
	v->provider = better;
	v->task |= (better->flags & PF_TASK) != 0;
	for (struct point *p = v->points; p; p = p->next)
		p->provider = better;
	if (better->which)
		v->per_point = false;
	else if (better->prog_type == BPF_PROG_TYPE_TRACING)
		v->per_point = true;
}

/* ctx may be what args is about; registers are read without its types. */
static u32 use_of(const struct provider *p, u32 use)
{
	return (use & USE_CTX) && !(p->flags & PF_RAW_ARGN) ? use | USE_ARGS : use;
}

/* Fill in the types that the body asks for. */
static struct err *point_types(struct unit *u, struct point *p, u32 use)
{
	const struct provider *v = p->provider;
	struct err *e = NULL;
	if (v->types && ((use & (USE_ARGS | USE_ARGN | USE_RETVAL)) || (v->flags & PF_TYPED)))
		e = v->types(u->host, u, p);
	/* A body for many functions wants their results alike: as numbers. */
	if (!e && v->debug && (use & (p->wild ? USE_ARGS : USE_ARGS | USE_RETVAL)))
		e = v->debug(u->host, u, p);
	return e;
}

/* Members of args, as bits. */
static u64 members_of(const struct body *b, const struct type *args)
{
	u32 n = 0;
	u64 bits = 0;
	const struct field *f = args ? type_fields(args, &n) : NULL;
	for (u32 i = 0; i < n; i++)
		for (u32 k = 0; k < b->member.n; k++)
			if (str_eq(f[i].name, b->member.v[k]))
				bits |= i < 63 ? 1ull << i : ALL_MEMBERS;
	if (b->whole && args)
		bits = n < 64 ? (1ull << n) - 1 : ALL_MEMBERS;
	return bits;
}

static void expand_probe(struct compile *c, struct node *probe, u32 *total)
{
	struct unit *u = c->unit;
	struct expand e = {.c = c, .total = *total};
	e.tail = &e.head;
	for (const struct node *pn = probe->a; pn; pn = pn->next)
		expand_text(&e, pn);
	*total = e.total;
	u32 first = c->nvariant;
	struct body body = {0};
	if (probe->b)
		node_walk(probe->b, note_use, &body);
	node_walk(probe->c, note_use, &body);
	for (struct node *f = c->tree->a; f; f = f->next)
		if (f->kind == N_FN)
			node_walk(f->c, note_use, &body);
	for (struct point *p = e.head, *next; p; p = next) {
		next = p->next;
		p->next = NULL;
		if (p->provider->needs && !host_has(u->host, p->provider->needs)) {
			diag_add(u->diags, E_FEATURE, p->loc, "%s probes need %s, %s",
				 p->provider->name, feature_what(p->provider->needs),
				 feature_lacks(u->host, p->provider->needs));
			continue;
		}
		u32 uses = use_of(p->provider, body.use);
		struct err *err = point_types(u, p, uses);
		p->members = members_of(&body, p->args);
		if (err)
			diag_err(u->diags, E_NO_PROBE, p->loc, err);
		else
			add_variant(c, probe, p, uses, first);
	}
	for (u32 i = first; i < c->nvariant; i++)
		choose_provider(c, c->variant[i], use_of(c->variant[i]->provider, body.use));
	vec_free(&body.member);
}

static int by_text(const void *x, const void *y)
{
	const struct point *const *a = x, *const *b = y;
	return str_cmp((*a)->text, (*b)->text);
}

/* Ids in the order of names, so that maps keyed by probe sort by id. */
static void name_points(struct compile *c)
{
	struct unit *u = c->unit;
	struct point **all = arena_newn(u->arena, struct point *, u->nprobe + 1);
	u32 n = 0;
	for (u32 i = 0; i < c->nvariant; i++)
		for (struct point *p = c->variant[i]->points; p; p = p->next)
			all[n++] = p;
	assert(n <= u->nprobe);
	qsort(all, n, sizeof(struct point *), by_text);
	u->nprobe = 0;
	u->probe_name = arena_newn(u->arena, struct str, n + 1);
	for (u32 i = 0; i < n; i++) { /* files of several processes may have one path */
		if (!i || !str_eq(all[i]->text, all[i - 1]->text))
			u->probe_name[u->nprobe++] = all[i]->text;
		all[i]->id = u->nprobe - 1;
	}
}

/* Pinned iterators run when we have ended. */
static void check_pinned(struct compile *c)
{
	const struct variant *pinned = NULL, *other = NULL;
	for (u32 i = 0; i < c->nvariant; i++)
		if (c->variant[i]->provider->flags & PF_PINNED)
			pinned = c->variant[i];
		else
			other = c->variant[i];
	if (pinned && other)
		diag_add(c->unit->diags, E_CONTEXT, other->points->loc,
			 "beside a pinned iterator there can be no other probe: sonde ends as soon "
			 "as it is pinned");
}

bool sema_expand(struct compile *c)
{
	u32 total = 0, nprobe = 0;
	sema_cdefs(c);
	sema_macros(c);
	sema_old(c);
	for (struct node *n = c->tree->a; n; n = n->next) {
		if (n->kind == N_PROBE) {
			expand_probe(c, n, &total);
			nprobe++;
		}
	}
	name_points(c);
	check_pinned(c);
	struct diags *ds = c->unit->diags;
	if (!nprobe && !ds->nerror)
		diag_add(ds, E_NO_PROBE, (struct loc){0}, "No probes to attach");
	return !ds->nerror;
}
