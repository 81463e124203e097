/* expand.c - probe texts -> points (through kinds) -> variants: one body per set of points with
 * equal types, and the method that fits it. */
#include "core/recorded.h"
#include "declare/declare.h"
#include "declare/recorded.h"
#include "sema/deny.h"
#include "sema/keep.h"
#include "sema/sema.h"
#include <errno.h>
#include <regex.h>

struct expand {
	struct compile *c;
	struct point **tail; /* points of this probe */
	struct point *head;
	u32 n;     /* of this attach text */
	u32 total; /* of the script */
	struct loc loc, body;
	struct point lost; /* matched nothing; without .kind: none did */
	/* The last of this probe that may be missing, and is; or without .kind. */
	struct point skipped;
	const char *why;    /* it could not be looked for, though it may be missing; or NULL */
	bool why_built;     /* it has nothing of the kind */
	bool full;          /* that was said, and is enough */
	regex_t *filter;    /* of --probe-filter, or NULL */
	bool left_out;      /* by it */
	bool given;         /* an option that was given is in the text, */
	bool given_name;    /* as the name of the function, */
	struct str gone;    /* and names this file, which is not there: that was said */
	struct str lacking; /* or this one, which lacks a function: that was said */
	bool named;         /* the user named it: it is not one of several that may be missing */
	struct sb missed;   /* what is not there, but may be missing */
	u32 nmissed;
	struct str missed_file; /* all of it is static probes of this program; "" otherwise */
	const char *missed_why; /* none of that can be looked for, or NULL; */
	bool missed_built;      /* the program is there, without any */
	const struct probe_type *needing; /* the first that needs what the kernel lacks, or NULL */
	u32 use;                          /* enum point_use of all bodies */
	bool never;                       /* a probe has none that is there */
};

/*
 * Bytes of an escape in a name that old compilers of Rust mangled, "$u7b$" or "$LT$", at the beginning of t, or 0.
 * The '$' that ends it begins no parameter, even before a digit.
 */
static u32 rust_escape(struct str t)
{
	static const char *const words[] = {"$SP$", "$BP$", "$RF$", "$LT$",
					    "$GT$", "$LP$", "$RP$", "$C$"};
	for (u32 i = 0; i < countof(words); i++)
		if (str_starts(t, str_z(words[i])))
			return str_z(words[i]).n;
	u32 n = str_starts(t, STR("$u")) ? 2 : t.n;
	while (n < t.n && ((t.s[n] >= '0' && t.s[n] <= '9') || (t.s[n] >= 'a' && t.s[n] <= 'f')))
		n++;
	return n > 2 && n < t.n && t.s[n] == '$' ? n + 1 : 0;
}

/* $1 and $# inside a probe's text are the parameter's text. */
static struct str substitute(struct compile *c, const struct node *pn)
{
	struct str t = pn->name;
	if (str_chr(t, '$') < 0)
		return str_unquote(c->arena, t);
	AUTO_SB b = {0};
	for (u32 i = 0; i < t.n; i++) {
		u32 j = i + 1, escape = rust_escape(str_from(t, i));
		if (escape) {
			sb_add(&b, str_n(t.s + i, escape));
			i += escape - 1;
			continue;
		}
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
			diag_add(c->diags, E_PROBE_SYNTAX, pn->loc,
				 "Positional parameter $%llu is needed here, but %u %s given", k,
				 c->nparam, c->nparam == 1 ? "was" : "were");
		i = j - 1;
	}
	return str_unquote(c->arena, arena_str(c->arena, sb_str(&b)));
}

/* Tests and benchmarks run when asked for, and nothing beside them. */
static bool is_wanted(struct unit *u, const struct probe_type *k)
{
	const struct config *g = &u->config;
	switch (probe_last_method(k)->phase) {
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

/* Begin and end are of the script, not of what is traced. */
static bool is_filtered(const regex_t *re, const struct point *p)
{
	enum prog_phase phase = probe_last_method(p->type)->phase;
	AUTO_SB text = {0};
	sb_add(&text, p->text);
	return phase != PROG_BEGIN && phase != PROG_END && regexec(re, text.s, 0, NULL, 0);
}

static bool add_point(const struct point *p, void *arg)
{
	struct expand *e = arg;
	struct compile *c = e->c;
	struct unit *u = c->unit;
	if (e->filter && is_filtered(e->filter, p)) {
		e->left_out = true;
		return true;
	}
	deny_probe(c, p, e->loc);
	bool same = e->n && (p->type->flags & PROBE_MULTI) && host_has(c->host, FEAT_UPROBE_MULTI);
	if (!e->full && !same && ++e->total > u->config.max_probes) {
		diag_hint(c->diags,
			  diag_add(c->diags, E_LIMIT, e->loc,
				   "This script would attach to more than %llu probes, "
				   "which is the current limit",
				   u->config.max_probes),
			  "narrow the wildcard, or raise the limit with "
			  "BPFTRACE_MAX_PROBES or config = { max_probes = ... }");
		e->full = true;
	}
	if (e->full)
		return false;
	struct point *q = arena_new(c->arena, struct point);
	*q = *p;
	q->loc = e->loc;
	q->body = e->body;
	q->code_refused = was_refused(&u->refused, e->body, NULL);
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

/* What a user would write for the point: "kind:file:cpp:\"name(parameters)\"" has a plain name.
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
	if (str_starts(name, want))
		return name.n > want.n && name.s[want.n] == '.';
	return arch_is_of_call(name, want);
}

static bool is_nearer(struct nearest *b, struct str name)
{
	u32 d = is_form_of(name, b->want) ? 0 : str_distance(b->want, name, b->least);
	bool nearer = d < b->least;
	b->least = MIN(d, b->least);
	return nearer;
}

/* A system call that this architecture has not: what programs call here. */
static bool hint_instead(struct compile *c, const struct point *p, struct diag *d)
{
	const struct arch *a = c->host->arch;
	struct str call = arch_call_of(p->name);
	const char *other = call.n ? arch_instead(a, call) : NULL;
	if (other)
		diag_hint(c->diags, d, "no system call %.*s exists on %s: programs call %s",
			  STRF(call), a->name, other);
	return other;
}

static bool note_nearest(const struct point *p, void *arg)
{
	struct nearest *b = arg;
	if (is_nearer(b, written_name(p)))
		b->text = p->plain.n ? p->plain : p->text;
	return true;
}

/* A probe that exists and is spelled almost like p; empty: none. */
static struct str near_point(struct compile *c, const struct point *p)
{
	struct nearest b = {.want = p->name, .least = 1 + MIN(p->name.n / 4, 2u)};
	if (!p->name.n || str_is_glob(p->name) || str_is_glob(p->target) || !p->type->expand)
		return b.text;
	struct point any = *p;
	any.name = STR("*");
	any.like = p->name;
	any.loc = (struct loc){0};
	err_free(p->type->expand(c->host, c->unit, NULL, &any, note_nearest, &b));
	if (!b.text.n && p->target.n && (p->type->flags & PROBE_KERNEL)) { /* elsewhere */
		any.target = STR("*");
		err_free(p->type->expand(c->host, c->unit, NULL, &any, note_nearest, &b));
	}
	return b.text;
}

static bool note_first(const struct point *p, void *arg)
{
	struct str *text = arg;
	*text = p->text;
	return false;
}

/* A name of C that is one of C++ alone. */
static bool hint_language(struct compile *c, const struct point *p, struct diag *d)
{
	struct point q = *p;
	struct str found = {0};
	if (!(p->type->flags & PROBE_USER) || !p->target.n || p->extra.n || !p->name.n ||
	    str_is_glob(p->target) || !p->type->expand || !(p->type->flags & PROBE_FUNC))
		return false;
	q.extra = STR("cpp");
	q.loc = (struct loc){0};
	err_free(p->type->expand(c->host, c->unit, NULL, &q, note_first, &found));
	if (found.n)
		diag_hint(c->diags, d, "there is a function of C++ of that name: %.*s:cpp:%.*s",
			  STRF(p->target), STRF(p->name));
	return found.n > 0;
}

/* "event" alone where "category:event" is wanted, or the category alone; empty: neither is known.
 */
static struct str with_category(struct compile *c, const struct probe_type *k, struct str word)
{
	struct str text = STR("");
	struct point any = {
		.type = k, .method = probe_last_method(k), .target = STR("*"), .name = word};
	if (probe_last_method(k)->prog_type != BPF_PROG_TYPE_TRACEPOINT || !word.n ||
	    str_chr(word, ':') >= 0 || str_is_glob(word))
		return text;
	err_free(k->expand(c->host, c->unit, NULL, &any, note_first, &text));
	any.target = word;
	any.name = STR("*");
	if (!text.n) {
		err_free(k->expand(c->host, c->unit, NULL, &any, note_first, &text));
		if (text.n)
			text = str_z(arena_fmt(c->arena, "%s:%.*s:*", k->name, STRF(word)));
	}
	return text;
}

/* Of a probe that a tool wrote from what its user typed: none, its line is not theirs. */
static struct loc place(const struct expand *e)
{
	const struct diags *ds = e->c->diags;
	return ds->unseen ? diags_said_at(ds, e->loc) : e->loc;
}

/* Said once, of the first probe that needs what is not there. False: nothing is lacking. */
static bool lacks_feature(struct compile *c, const struct probe_type *k, struct loc loc)
{
	if (!k->needs || host_has(c->host, k->needs))
		return false;
	struct str instead = c->unit->config.instead;
	if (!(c->lacking >> k->needs & 1)) {
		struct diag *d =
			diag_add(c->diags, E_FEATURE, loc, "%s probes need %s, %s", k->name,
				 feature_what(k->needs), feature_lacks(c->host, k->needs));
		if (instead.n)
			diag_hint(c->diags, d, "%.*s", STRF(instead));
	}
	c->lacking |= 1ull << k->needs;
	return true;
}

/* A tool that names an event of the kernel is right: the kernel lacks it. */
static bool is_kernels(struct compile *c, const struct probe_type *k, struct loc loc)
{
	return k && !(k->flags & PROBE_USER) && diags_fixed(c->diags, loc);
}

/* Kept for the case that nothing else is there either. */
static void note_missed(struct expand *e, struct str prov, struct str rest)
{
	enum { MOST = 4 };
	struct str at = rest, file = {0};
	const struct probe_type *k = probe_type_find(prov);
	if (k && (k->flags & PROBE_USER) && !(k->flags & PROBE_FUNC)) /* static ones */
		str_cut(&at, ':', &file);
	if (!e->nmissed || !str_eq(file, e->missed_file))
		e->missed_file = e->nmissed ? STR("") : file;
	if (k && k->needs && !e->needing && !host_has(e->c->host, k->needs))
		e->needing = k;
	e->missed_why = e->why;
	e->missed_built = e->why_built;
	if (e->nmissed++ < MOST)
		sb_fmt(&e->missed, "%s%.*s:%.*s", e->nmissed > 1 ? ", " : "", STRF(prov),
		       STRF(rest));
	else if (e->nmissed == MOST + 1)
		sb_z(&e->missed, " ...");
}

/* "record it with: ...; ", or nothing for what is named by a pattern. */
static const char *how_to_record(const struct expand *e, struct str text)
{
	struct compile *c = e->c;
	struct str set = recorded_set(c->arena, text);
	const char *command = recorded_command(c, text);
	if (command)
		return arena_fmt(c->arena, "record it with: %s; ", command);
	/* Samples have them. */
	bool stacks = e->use & (USE_KSTACK | USE_USTACK) && str_chr(set, '=') < 0;
	if (set.n)
		return arena_fmt(c->arena, "record it with: sonde record --set %.*s%s; ", STRF(set),
				 stacks ? " --stacks both" : "");
	return !text.n || str_is_glob(text)
		       ? ""
		       : arena_fmt(c->arena, "record it with: sonde record '%.*s'; ", STRF(text));
}

/* Of a file that the user named, among several that may be missing: one sentence for each file. */
static void missing_named(struct expand *e, struct str prov, struct str rest)
{
	struct str file = e->lost.target;
	if (file.n && (str_eq(file, e->lacking) || str_eq(file, e->gone)))
		return;
	e->lacking = file;
	diag_add(e->c->diags, E_NO_PROBE, place(e),
		 "No matches for %.*s %.*s. The file is stripped of its symbols, or does not "
		 "contain that library.",
		 STRF(prov), STRF(rest));
}

static void missing(struct expand *e, struct str prov, struct str rest)
{
	struct compile *c = e->c;
	struct diags *ds = c->diags;
	struct diag *d;
	enum missing_probes policy = c->unit->config.missing_probes;
	e->skipped = e->lost;
	if (policy == MISSING_IGNORE && !e->named) {
		note_missed(e, prov, rest);
		return;
	}
	if (policy == MISSING_IGNORE && e->given && !e->given_name && e->lost.type &&
	    e->lost.type->flags & PROBE_USER) {
		missing_named(e, prov, rest);
		return;
	}
	/* A wildcard may be one of several ways to the same event. */
	if (policy == MISSING_WARN || (str_is_glob(rest) && e->head)) {
		d = diag_add(ds, W_NO_PROBE, e->loc, "No matches for %.*s %.*s. Skipping.",
			     STRF(prov), STRF(rest));
		if (e->why)
			diag_hint(ds, d, "%s", e->why);
		return;
	}
	const struct probe_type *k = e->lost.type;
	const char *lacks = k && k->lacks ? k->lacks(c->host, &e->lost) : NULL;
	if (lacks && c->host->recording)
		lacks = arena_fmt(c->arena, "%s%s", how_to_record(e, e->lost.text), lacks);
	if (k && lacks_feature(c, k, place(e)))
		return;
	if (is_kernels(c, k, e->loc)) {
		d = diag_add(ds, E_LACKS, e->loc, "%s has no %.*s:%.*s",
			     c->host->recording ? "the recording" : "this kernel", STRF(prov),
			     STRF(rest));
		if (lacks)
			diag_hint(ds, d, "%s", lacks);
		return;
	}
	d = diag_add(ds, E_NO_PROBE, place(e), "No matches for %.*s %.*s.", STRF(prov), STRF(rest));
	struct str near = k ? near_point(c, &e->lost) : STR("");
	if (lacks)
		diag_hint(ds, d, "%s", lacks);
	else if (k && (hint_instead(c, &e->lost, d) || hint_language(c, &e->lost, d)))
		;
	else if (near.n)
		diag_hint(ds, d, "did you mean '%.*s'?", STRF(near));
	else if (!ds->nfixed)
		diag_hint(
			ds, d,
			"If this is expected, set the 'missing_probes' config variable to 'warn'.");
}

/* A kernel's event may be elsewhere than where it is looked for. */
static void not_found(struct expand *e, const struct point *p, struct err *err)
{
	struct compile *c = e->c;
	u32 nd = c->diags->nerror;
	bool elsewhere = p->target.n && (p->type->flags & PROBE_KERNEL);
	struct str near = elsewhere ? near_point(c, p) : STR("");
	diag_err(c->diags, is_kernels(c, p->type, e->loc) ? E_LACKS : E_NO_PROBE, place(e), err);
	if (c->diags->nerror > nd && hint_instead(c, p, c->diags->last))
		return;
	if (near.n && c->diags->nerror > nd)
		diag_hint(c->diags, c->diags->last, "did you mean '%.*s'?", STRF(near));
}

/* What may be missing is the default's: a file that was asked for is to be there. Told once. */
static bool is_gone(struct expand *e, const struct point *p, const struct err *err)
{
	bool gone = err->no == ENOENT || err->no == EISDIR || err->no == EACCES;
	if (!gone || !e->given || str_eq(p->target, e->gone))
		return false;
	e->gone = p->target;
	return true;
}

/* One kind with one text; quiet: tried because the probe's kind is a wildcard. */
static void expand_with(struct expand *e, const struct probe_type *k, struct str rest, bool quiet)
{
	struct compile *c = e->c;
	struct unit *u = c->unit;
	struct point p = {.type = k, .method = probe_last_method(k), .loc = e->loc};
	struct err *err = k->parse(c->arena, &p, rest);
	if (!err && !is_wanted(u, k)) {
		e->n++;
		return;
	}
	if (err && quiet) {
		err_free(err);
		return;
	}
	if (err) {
		u32 nd = c->diags->nerror;
		struct str near = with_category(c, k, rest);
		diag_err(c->diags, E_PROBE_SYNTAX, e->loc, err);
		if (c->diags->nerror > nd && near.n)
			diag_hint(c->diags, c->diags->last, "did you mean '%.*s'?", STRF(near));
		else if (c->diags->nerror > nd)
			diag_hint(c->diags, c->diags->last, "syntax: %s", k->syntax);
		return;
	}
	if (!k->expand) {
		add_point(&p, e);
		return;
	}
	u32 n = e->n;
	err = k->expand(c->host, u, c->diags, &p, add_point, e);
	if (!err && !quiet && e->n == n)
		e->lost = p;
	bool strict = u->config.missing_probes == MISSING_ERROR;
	if (err && !quiet && (strict || is_gone(e, &p, err))) {
		not_found(e, &p, err);
		return;
	}
	if (err && !quiet)
		e->lost = p;
	/* What could not be read may have it: that is told where what is missing is not. */
	if (err && (err->no == ETIMEDOUT || err->no == EIO))
		diag_add(c->diags, W_NO_PROBE, e->loc, "%s", err->msg);
	if (err && !quiet) {
		e->why = arena_fmt(c->arena, "%s", err->msg);
		e->why_built = err->no == ENODATA;
	}
	err_free(err);
}

/* A wildcard for kinds means those of user programs where a file is named, else the machine's. */
static void expand_types(struct expand *e, struct str glob, struct str rest)
{
	bool user = e->c->unit->pid || str_chr(rest, '/') >= 0;
	u32 meant = user ? PROBE_USER : PROBE_MACHINE;
	for (u32 i = 0; probe_types[i]; i++)
		if ((probe_types[i]->flags & meant) && str_glob(glob, str_z(probe_types[i]->name)))
			expand_with(e, probe_types[i], rest, true);
}

static void expand_text(struct expand *e, const struct node *pn)
{
	struct diags *ds = e->c->diags;
	u32 before = ds->nerror;
	struct str text = substitute(e->c, pn), rest = text, name;
	if (ds->nerror != before)
		return;
	str_cut(&rest, ':', &name);
	if (!rest.s)
		rest = STR("");
	e->loc = pn->loc;
	e->given = pn->flags & NF_GIVEN;
	e->given_name = pn->flags & NF_GIVEN_NAME;
	e->named = pn->flags & NF_NAMED;
	e->n = 0;
	e->left_out = false;
	e->lost = (struct point){0};
	e->why = NULL;
	bool whole = false;
	const struct probe_type *k = str_is_glob(name) ? NULL : probe_type_find(name);
	if (k || str_is_glob(name) || recorded_has_type(e->c, name))
		k = recorded_probe_type(e->c, k, &whole);
	if (!k && str_is_glob(name)) {
		expand_types(e, name, rest);
	} else {
		if (!k && recorded_no_rows(e->c, text, pn->loc))
			return;
		if (!k) {
			struct diag *d = diag_add(ds, E_PROBE_TYPE, pn->loc,
						  "Invalid probe type: %.*s", STRF(name));
			u32 least = 3;
			for (u32 i = 0; probe_types[i]; i++) {
				u32 n = str_distance(name, str_z(probe_types[i]->name), least);
				if (n < least)
					diag_hint(ds, d, "did you mean '%s'?",
						  probe_types[i]->name);
				least = MIN(n, least);
			}
			return;
		}
		expand_with(e, k, whole ? text : rest, false);
		name = whole ? name : str_z(k->name);
	}
	if (!e->n && !e->left_out && !e->full && ds->nerror == before)
		missing(e, name, rest);
}

/* What a body asks of its probes. */
struct body {
	u32 use;
	bool whole; /* args itself, not only members */
	VEC(struct str) member;
};

static bool note_use(struct node *n, void *arg)
{
	struct body *b = arg;
	if (n->kind == N_MEMBER && builtin_is_args(n->a)) {
		b->use |= USE_ARGS;
		vec_add(&b->member, n->name);
		return false;
	}
	if (n->kind == N_NAME || n->kind == N_CALL) {
		b->use |= builtin_asks(n->name);
		b->whole |= builtin_is_args(n);
	}
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
	if (a->type != b->type || a->method != b->method || a->abi != b->abi)
		return false;
	if ((use & USE_FUNC) && sema_func_is_text(c->host, a))
		return false;
	if ((point_flags(a) & PROBE_SPLIT) && !str_eq(a->extra, b->extra))
		return false;
	if ((use & (USE_ARGS | USE_KEPT)) && !same_args(a->args, b->args))
		return false;
	if ((use & USE_ARGN) && a->narg != b->narg)
		return false;
	if ((use & USE_ARGS) && (a->debug || b->debug))
		return false;
	if ((use & (USE_ARGN | USE_ARGS)) && (a->priv || b->priv) && a->method->arg)
		return false; /* where arguments are may differ from point to point */
	return !(use & USE_RETVAL) || a->ret == b->ret ||
	       (a->ret && b->ret && type_eq(a->ret, b->ret));
}

/* The function's address comes from the helper, or is the probe's own, less its offset. */
static bool func_needs_point(struct compile *c, const struct point *p)
{
	return p->offset || ((point_flags(p) & PROBE_RETVAL) && !host_has(c->host, FEAT_FUNC_IP));
}

static bool ctx_is_args(struct node *n, void *arg)
{
	(void)arg;
	if (n->kind == N_NAME && builtin_role(n) == ROLE_CONTEXT)
		n->name = STR("args");
	return true;
}

/* args.NAME; of text behind a tracepoint's event, the text. */
struct node *args_member(struct arena *a, struct loc loc, const struct field *f)
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
	if (type_only || (n->kind == N_MEMBER && builtin_is_args(n->a)))
		return false;
	u32 nf;
	const struct field *f = builtin_is_args(n) ? type_fields(w->args, &nf) : NULL;
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
	struct arena *a = c->arena;
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
	if (point_flags(p) & PROBE_CTX_ARGS) {
		node_walk(v->probe->c, ctx_is_args, NULL);
		if (v->probe->b)
			node_walk(v->probe->b, ctx_is_args, NULL);
	}
	node_walk(v->probe->c, keep_spell, &(struct keep_args){a, p->args});
	struct whole whole = {a, p->args};
	if (p->type->flags & PROBE_RECORDED) {
		recorded_spell(c, p, v->probe->c);
		if (v->probe->b)
			recorded_spell(c, p, v->probe->b);
		whole.args = NULL;
	}
	if (p->args && v->probe->b)
		node_walk(v->probe->b, spell_args, &whole);
	if (p->args)
		node_walk(v->probe->c, spell_args, &whole);
	v->points = p;
	v->npoint = 1;
	arena_push(a, c->variant, c->nvariant, v);
}

/* The cheapest way to the points of a body that can do what it asks for. */
static void choose_method(struct compile *c, struct variant *v, u32 use)
{
	struct point *first = v->points;
	const struct ask ask = {c->host, c->unit, first, v->npoint, use};
	const struct method *const *at = first->type->methods;
	while (at[1] && (was_refused(&c->unit->refused, first->body, *at) ||
			 ((*at)->fits && !(*at)->fits(&ask))))
		at++;
	const struct method *w = *at;
	bool fits = at[1] || !w->fits || w->fits(&ask);
	assert(fits);
	for (struct point *p = first; p; p = p->next)
		p->method = w;
	u32 flags = point_flags(first);
	v->task = (use & (USE_TASK | USE_USTACK)) || (flags & METHOD_TASK);
	v->per_point = !w->which &&
		       ((use & USE_PROBE) || ((use & USE_FUNC) && func_needs_point(c, first)) ||
			((use & USE_FUNC) && !(flags & METHOD_REGS)) || (flags & PROBE_ONCE) ||
			w->prog_type == BPF_PROG_TYPE_TRACING);
}

/* ctx may be what args is about; registers are read without its types. */
static u32 use_of(const struct probe_type *k, u32 use)
{
	return (use & USE_CTX) && !(k->flags & PROBE_RAW_ARGN) ? use | USE_ARGS : use;
}

/* Fill in the types that the body asks for. */
static struct err *point_types(struct compile *c, struct point *p, u32 use)
{
	const struct probe_type *k = p->type;
	bool asked = (use & (USE_ARGS | USE_ARGN | USE_RETVAL)) || (k->flags & PROBE_SIGNATURE);
	return k->types && asked ? k->types(c->host, c->unit, p, use) : NULL;
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

struct beside {
	struct compile *c;
	const struct variant *v;
};

static bool add_beside(const struct point *p, void *arg)
{
	const struct beside *b = arg;
	struct compile *c = b->c;
	if (was_refused(&c->unit->refused, p->body, p->method))
		return true;
	struct variant *v = arena_new(c->arena, struct variant);
	v->probe = node_clone(c->arena, b->v->probe);
	/* What a call of keep() says of its values is no part of the tree. */
	node_walk(v->probe->c, keep_spell, &(struct keep_args){c->arena, p->args});
	v->points = arena_new(c->arena, struct point);
	*v->points = *p;
	v->points->next = NULL;
	v->npoint = 1;
	v->task = b->v->task;
	arena_push(c->arena, c->variant, c->nvariant, v);
	return true;
}

/*
 * Events of a body's points that their method does not see may have a method of their own: the body is then compiled for
 * that, too. Nothing is reported if there is none, or if the kernel refuses it.
 */
static void find_beside(struct compile *c, const struct variant *v)
{
	struct beside b = {c, v};
	for (const struct point *p = v->points; p && (p->type->flags & PROBE_BESIDE); p = p->next) {
		struct point q = *p;
		q.beside = true;
		err_free(p->type->expand(c->host, c->unit, NULL, &q, add_beside, &b));
	}
}

/* A body that never runs still says of which types maps are that others read. */
static void keep_skipped(struct expand *e, struct node *probe)
{
	struct compile *c = e->c;
	struct variant *v = arena_new(c->arena, struct variant);
	v->probe = node_clone(c->arena, probe);
	v->probe->next = NULL;
	v->points = arena_new(c->arena, struct point);
	*v->points = e->skipped;
	v->npoint = 1;
	arena_push(c->arena, c->skipped, c->nskipped, v);
}

static void expand_probe(struct expand *e, struct node *probe)
{
	struct compile *c = e->c;
	e->head = NULL;
	e->skipped = (struct point){0};
	e->tail = &e->head;
	e->body = probe->loc;
	u32 first = c->nvariant;
	struct body body = {0};
	if (probe->b)
		node_walk(probe->b, note_use, &body);
	node_walk(probe->c, note_use, &body);
	for (struct node *f = c->tree->a; f; f = f->next)
		if (f->kind == N_FN)
			node_walk(f->c, note_use, &body);
	for (const struct node *pn = probe->a; pn && !e->full; pn = pn->next)
		expand_text(e, pn);
	e->never |= e->nmissed && !e->head;
	if (!e->head && e->skipped.type && !c->diags->nerror)
		keep_skipped(e, probe);
	for (struct point *p = e->head, *next; p && !e->full; p = next) {
		next = p->next;
		p->next = NULL;
		if (lacks_feature(c, p->type, place(e)))
			continue;
		u32 uses = use_of(p->type, body.use);
		if ((p->type->flags & PROBE_RECORDED) && recorded_differs(probe, body.use))
			uses |= USE_KEPT;
		struct err *err = point_types(c, p, uses);
		p->members = members_of(&body, p->args);
		if (err)
			diag_err(c->diags, is_kernels(c, p->type, p->loc) ? E_LACKS : E_NO_PROBE,
				 p->loc, err);
		else
			add_variant(c, probe, p, uses, first);
	}
	for (u32 i = first; i < c->nvariant; i++)
		choose_method(c, c->variant[i], use_of(c->variant[i]->points->type, body.use));
	for (u32 i = first, n = c->nvariant; i < n; i++)
		find_beside(c, c->variant[i]);
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
	u32 n = 0;
	for (u32 i = 0; i < c->nvariant; i++)
		n += point_count(c->variant[i]->points);
	struct point **all = arena_newn(c->arena, struct point *, n + 1);
	n = 0;
	for (u32 i = 0; i < c->nvariant; i++)
		for (struct point *p = c->variant[i]->points; p; p = p->next)
			all[n++] = p;
	qsort(all, n, sizeof(struct point *), by_text);
	u->nprobe = 0;
	u->probe_name = arena_newn(c->arena, struct str, n + 1);
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
		if (point_flags(c->variant[i]->points) & METHOD_PINNED)
			pinned = c->variant[i];
		else
			other = c->variant[i];
	if (pinned && other)
		diag_add(c->diags, E_CONTEXT, other->points->loc,
			 "beside a pinned iterator there can be no other probe: sonde ends as soon "
			 "as it is pinned");
}

/* Of one program: it is not there, or it was built without the probes. */
static void no_static(struct expand *e)
{
	struct diags *ds = e->c->diags;
	int pid = e->c->unit->pid;
	struct diag *d;
	bool files = pid > 0 && str_is(e->missed_file, "*");
	if (files)
		d = diag_add(ds, E_NO_PROBE, (struct loc){0},
			     "no file of process %d has the static probes that are looked for",
			     pid);
	else if (e->missed_why)
		d = diag_add(ds, E_NO_PROBE, (struct loc){0}, "%s", e->missed_why);
	else
		d = diag_add(ds, E_NO_PROBE, (struct loc){0},
			     "%.*s has none of the static probes that are looked for",
			     STRF(e->missed_file));
	if (!files && e->missed_why && !e->missed_built)
		return;
	diag_hint(ds, d,
		  "a program has them when it was built with them; `sonde tplist %s` lists %s",
		  pid > 0 ? arena_fmt(e->c->arena, "-p %d", pid) : "-l FILE",
		  pid > 0 ? "those of a process" : "those of a file");
}

/* Shows nothing by itself: it waits for the end or, where a tool wants a feature, says what it would trace. */
static bool only_waits(const struct expand *e, const struct point *p)
{
	enum prog_phase phase = probe_last_method(p->type)->phase;
	if ((p->type->flags & PROBE_NOBODY) || phase == PROG_END)
		return true;
	return phase == PROG_BEGIN && e->needing && diags_fixed(e->c->diags, p->loc);
}

static void none_of(struct expand *e)
{
	struct compile *c = e->c;
	struct str rest = sb_str(&e->missed), first;
	struct diag *d = diag_add(c->diags, E_NO_PROBE, (struct loc){0},
				  "There is none of these probes: %s", e->missed.s);
	str_cut(&rest, ',', &first);
	struct str set = c->host->recording ? recorded_set(c->arena, first) : STR("");
	if (set.n)
		diag_hint(c->diags, d, "record them with: sonde record --set %.*s", STRF(set));
}

/* Each probe may be missing, but not all of them: a script that only waits for its end shows nothing. */
static void check_missed(struct expand *e)
{
	struct compile *c = e->c;
	/* A kernel without an event is one where it cannot happen; not so a recording. */
	bool some = false;
	for (u32 i = 0; i < c->nvariant; i++)
		some |= c->variant[i]->points->type->flags & PROBE_RECORDED;
	if (some && e->nmissed)
		diag_add(c->diags, W_NO_PROBE, (struct loc){0},
			 "the script uses probes that are not in the recording: %s", e->missed.s);
	if (!e->never || c->diags->nerror)
		return;
	for (u32 i = 0; i < c->nvariant; i++)
		if (!only_waits(e, c->variant[i]->points))
			return;
	if (e->needing && lacks_feature(c, e->needing, e->loc))
		return;
	if (e->missed_file.n)
		no_static(e);
	else
		none_of(e);
}

bool sema_expand(struct compile *c)
{
	struct expand e = {.c = c};
	u32 nprobe = 0;
	regex_t filter;
	if (c->filter && !regcomp(&filter, c->filter, REG_EXTENDED | REG_NOSUB))
		e.filter = &filter;
	deny_check(c);
	keep_begin(c);
	struct body all = {0};
	for (struct node *n = c->tree->a; n; n = n->next)
		if (n->kind == N_PROBE)
			node_walk(n->c, note_use, &all);
	e.use = all.use;
	vec_free(&all.member);
	for (struct node *n = c->tree->a; n; n = n->next) {
		if (n->kind == N_PROBE) {
			expand_probe(&e, n);
			nprobe++;
		}
	}
	if (e.filter)
		regfree(e.filter);
	name_points(c);
	check_pinned(c);
	check_missed(&e);
	sb_free(&e.missed);
	struct diags *ds = c->diags;
	if (!nprobe && !ds->nerror)
		diag_add(ds, E_NO_PROBE, (struct loc){0}, "No probes to attach");
	return !ds->nerror;
}
