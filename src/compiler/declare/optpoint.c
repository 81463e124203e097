/* optpoint.c - options in the texts of probes: interval:opt.every, uprobe:opt.library:opt.prefix##malloc. */
#include "declare/declare.h"

/* Is the option's name at i of a point's text? Then *end is behind it. */
static const struct getopt_use *option_at(struct compile *c, struct str t, u32 i, u32 *end)
{
	*end = i + 4;
	if ((i && t.s[i - 1] != ':' && t.s[i - 1] != '#') ||
	    !str_starts(str_from(t, i), STR("opt.")))
		return NULL;
	while (*end < t.n && ((t.s[*end] >= 'a' && t.s[*end] <= 'z') || t.s[*end] == '_'))
		++*end;
	const struct getopt_use *o = declare_find(c, str_n(t.s + i + 4, *end - i - 4));
	return o && !o->common ? o : NULL;
}

static const struct str joint = {"##", 2};

/* Joined to an option behind it, one that is a list of words or one that is not? */
static bool joins(struct compile *c, struct str t, u32 i, bool words)
{
	u32 end;
	const struct getopt_use *o =
		str_starts(str_from(t, i), joint) ? option_at(c, t, i + joint.n, &end) : NULL;
	return o && (o->kind == OPTION_WORDS) == words;
}

/* A list of words becomes a point for each of them: those of all but the first stand behind n. */
static void spread_point(struct compile *c, struct node *n)
{
	u32 end;
	for (u32 i = 0; i < n->name.n; i++) {
		const struct getopt_use *o = option_at(c, n->name, i, &end);
		struct str one, rest, before = str_n(n->name.s, i), behind = str_from(n->name, end);
		if (!o || o->kind != OPTION_WORDS)
			continue;
		rest = declare_text(c, o);
		str_cut(&rest, ',', &one);
		if (rest.n && (n->flags & NF_ELSE || (n->next && n->next->flags & NF_ELSE))) {
			diag_add(c->diags, E_OPTION, n->loc,
				 "opt.%.*s contains several probes, which cannot be alternatives",
				 STRF(o->name));
			return;
		}
		before.n -= str_ends(before, joint) ? joint.n : 0;
		behind = str_from(behind, str_starts(behind, joint) ? joint.n : 0);
		if (!str_eq(declare_text(c, o), o->text))
			n->flags |= NF_GIVEN | NF_NAMED | (behind.n ? 0 : NF_GIVEN_NAME);
		n->name = str_z(
			arena_fmt(c->arena, "%.*s%.*s%.*s", STRF(before), STRF(one), STRF(behind)));
		for (struct node *at = n; rest.n && str_cut(&rest, ',', &one); at = at->next) {
			struct node *next = node_new(c->arena, N_POINT, n->loc);
			next->flags = n->flags;
			next->num = n->num;
			next->name = str_z(arena_fmt(c->arena, "%.*s%.*s%.*s", STRF(before),
						     STRF(one), STRF(behind)));
			next->next = at->next;
			at->next = next;
		}
	}
}

void declare_point(struct compile *c, struct node *n)
{
	AUTO_SB out = {0};
	struct str t = n->name;
	bool any = false;
	for (u32 i = 0; i < t.n; i++) {
		u32 end;
		const struct getopt_use *o = option_at(c, t, i, &end);
		if (!o || o->kind == OPTION_WORDS) {
			if (joins(c, t, i, false))
				i++;
			else
				sb_char(&out, t.s[i]);
			continue;
		}
		u64 v;
		struct err *e = declare_value(o, declare_text(c, o), &v);
		if (e)
			diag_err(c->diags, E_OPTION, n->loc, e);
		else if (option_is_text(o))
			sb_add(&out, declare_text(c, o));
		else
			sb_u64(&out, v);
		if (!str_eq(declare_text(c, o), o->text))
			n->flags |= NF_GIVEN | (end < t.n ? 0 : NF_GIVEN_NAME);
		any = true;
		i = end - 1;
		if (str_starts(str_from(t, end), joint) && !joins(c, t, end, true))
			i += joint.n;
	}
	if (any)
		n->name = arena_str(c->arena, sb_str(&out));
	spread_point(c, n);
}
