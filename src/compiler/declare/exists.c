/*
 * exists.c - exists("..."): does this kernel have the probe, type, member or enumerator? And of
 * several ways to the same event, which comes first.
 *
 *	"tracepoint:block:block_io_start"   a probe that could be attached
 *	"struct request.q.disk"             a type, or a member of one
 *	"enum req_op.REQ_OP_READ"           an enumerator
 *	"recording"                         the script asks one: there is no memory to read
 */
#include "core/recorded.h"
#include "declare/declare.h"
#include "declare/recorded.h"

static bool note_point(const struct point *p, void *arg)
{
	struct point *first = arg;
	*first = *p;
	return false;
}

/* Types of arguments are part of it: a function without types is none for typed programs. */
static bool probe_exists(struct compile *c, struct str text)
{
	struct str rest = text, name;
	str_cut(&rest, ':', &name);
	bool whole = false;
	const struct probe_type *k = recorded_probe_type(c, probe_type_find(name), &whole);
	struct point p = {.type = k}, first = {0};
	if (!k || (k->needs && !host_has(c->host, (enum feature)k->needs)))
		return false;
	p.method = probe_last_method(k);
	struct err *e = k->parse(c->arena, &p, whole ? text : rest.s ? rest : STR(""));
	if (!e && k->expand)
		e = k->expand(c->host, c->unit, NULL, &p, note_point, &first);
	else if (!e)
		first = p;
	bool found = !e && first.type;
	if (found && k->types && (k->flags & PROBE_SIGNATURE))
		e = k->types(c->host, c->unit, &first, 0);
	found = found && !e;
	err_free(e);
	return found;
}

static bool has_enumerator(const struct type *t, struct str name)
{
	for (u32 i = 0; i < t->nenum; i++)
		if (str_eq(t->enums[i].name, name))
			return true;
	return false;
}

/* "request.q.disk", behind "struct ". */
static bool type_exists(struct compile *c, struct str path, enum type_kind kind)
{
	struct types *k = host_btf(c->host);
	struct str rest = path, name;
	str_cut(&rest, '.', &name);
	const struct type *t = k ? btf_types_find(k, name, kind) : NULL;
	while (t && t->kind != T_FWD && rest.n && str_cut(&rest, '.', &name)) {
		while (t->kind == T_PTR && t->base)
			t = t->base;
		if (t->kind == T_ENUM)
			return !rest.n && has_enumerator(t, name);
		struct field f;
		t = type_is_record(t) && type_field(t, name, &f) ? f.type : NULL;
	}
	return t && t->kind != T_FWD;
}

/* A recording has no types. It has a member if an expression that was kept reads one of that name. */
static bool is_word_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* "q.disk" and "q->disk" have the member disk. */
static bool has_member(struct str text, struct str name)
{
	i32 at;
	for (struct str rest = text; (at = str_find(rest, name)) >= 0;
	     rest = str_from(rest, (u32)at + name.n)) {
		u32 end = (u32)at + name.n;
		char before = at ? rest.s[at - 1] : 0, after = end < rest.n ? rest.s[end] : 0;
		if ((before == '.' || before == '>') && !is_word_char(after))
			return true;
	}
	return false;
}

static bool member_is_kept(const struct recorded *r, struct str path)
{
	struct str rest = path, name = {0};
	while (str_cut(&rest, '.', &name))
		;
	for (u32 i = 0; i < r->nprobe; i++)
		for (u32 k = 0; k < r->probe[i].ncol; k++)
			if (has_member(r->probe[i].col[k].expr, name))
				return true;
	return false;
}

bool declare_exists(struct compile *c, struct str what)
{
	static const struct {
		struct str word;
		enum type_kind kind;
	} words[] = {{STR("struct "), T_STRUCT}, {STR("union "), T_UNION}, {STR("enum "), T_ENUM}};
	if (str_is(what, "recording"))
		return c->host->recording;
	for (size_t i = 0; i < countof(words); i++)
		if (str_starts(what, words[i].word) && c->host->recording)
			return member_is_kept(c->host->recording, what);
		else if (str_starts(what, words[i].word))
			return type_exists(c, str_trim(str_from(what, words[i].word.n)),
					   words[i].kind);
	return probe_exists(c, what);
}

/* ---- a else b ---- */

static bool all_exist(struct compile *c, const struct node *probe)
{
	for (const struct node *p = probe->a; p; p = p->next)
		if (!declare_exists(c, str_unquote(c->arena, p->name)))
			return false;
	return true;
}

/*
 * One sentence about the first event that there is no way to; the others are counted. Where all its
 * ways need what the kernel lacks, about that.
 */
struct lacking {
	struct compile *c;
	struct diag *first;
	u32 more;
	struct sb texts, needs; /* of the event looked at */
	u64 needed;
	bool other;     /* a way that needs nothing */
	bool kernel;    /* a way to an event of the kernel */
	struct str set; /* of sonde record, that has a way */
};

static void add_ways(struct lacking *l, const struct node *points)
{
	for (const struct node *p = points; p; p = p->next) {
		struct str rest = p->name, name;
		str_cut(&rest, ':', &name);
		const struct probe_type *k = probe_type_find(name);
		if (!l->set.n)
			l->set = recorded_set(l->c->arena, p->name);
		bool lacks = k && k->needs && !host_has(l->c->host, k->needs);
		sb_fmt(&l->texts, "%s %.*s", l->texts.n ? "," : "", STRF(p->name));
		l->other |= !lacks;
		l->kernel |= !k || !(k->flags & PROBE_USER);
		if (!lacks || l->needed >> k->needs & 1)
			continue;
		sb_fmt(&l->needs, "%s%s probes need %s, %s", l->needs.n ? "; " : "", k->name,
		       feature_what(k->needs), feature_lacks(l->c->host, k->needs));
		l->needed |= 1ull << k->needs;
	}
}

static void none(struct lacking *l, struct loc loc)
{
	struct diags *ds = l->c->diags;
	struct str instead = l->c->unit->config.instead;
	bool first = !l->first;
	struct str set = l->c->host->recording ? l->set : STR("");
	if (l->first)
		l->more += l->other;
	else if (l->other)
		l->first = diag_add(ds, E_LACKS, loc, "%s%s",
				    l->c->host->recording ? "the recording has none of"
				    : l->kernel           ? "this kernel has none of"
							  : "nothing matches any of",
				    l->texts.s);
	else
		l->first = diag_add(ds, E_LACKS, loc, "%s", l->needs.s);
	if (first && set.n)
		diag_hint(ds, l->first, "record it with: sonde record --set %.*s", STRF(set));
	if (first && instead.n)
		diag_hint(ds, l->first, "%.*s", STRF(instead));
}

static void next_event(struct lacking *l)
{
	sb_free(&l->texts);
	sb_free(&l->needs);
	l->needed = 0;
	l->other = l->kernel = false;
	l->set = STR("");
}

/* The points of one probe: of each group the first that exists stays. */
static void choose_points(struct lacking *l, struct node *probe)
{
	struct compile *c = l->c;
	struct node **at = &probe->a;
	while (*at) {
		struct node *first = *at, *last = first, *hit = NULL;
		while (last->next && (last->next->flags & NF_ELSE))
			last = last->next;
		if (last == first) {
			at = &first->next;
			continue;
		}
		struct node *rest = last->next;
		last->next = NULL;
		for (struct node *p = first; p && !hit; p = p->next)
			hit = declare_exists(c, str_unquote(c->arena, p->name)) ? p : NULL;
		add_ways(l, hit ? NULL : first);
		if (!hit)
			none(l, probe->loc);
		next_event(l);
		hit = hit ? hit : first;
		hit->next = rest;
		*at = hit;
		at = &hit->next;
	}
}

bool declare_choose(struct compile *c)
{
	struct lacking l = {.c = c};
	struct node **at = &c->tree->a;
	while (*at) {
		struct node *first = *at, *last = first, *hit = NULL;
		while (last->next && (last->next->flags & NF_ELSE))
			last = last->next;
		if (first->kind != N_PROBE || last == first) {
			if (first->kind == N_PROBE)
				choose_points(&l, first);
			at = &first->next;
			continue;
		}
		struct node *rest = last->next;
		last->next = NULL;
		for (struct node *p = first; p && !hit; p = p->next) {
			add_ways(&l, p->a);
			hit = all_exist(c, p) ? p : NULL;
		}
		if (!hit)
			none(&l, first->loc);
		next_event(&l);
		*at = hit ? hit : rest;
		if (hit)
			hit->next = rest;
		at = hit ? &hit->next : at;
	}
	if (l.more && !c->host->recording)
		diag_hint(c->diags, l.first, "%u more such event%s missing", l.more,
			  l.more == 1 ? " is" : "s are");
	return !l.first;
}
