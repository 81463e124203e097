/* deny.c - see the header. */
#include "sema/deny.h"
#include "core/builtin.h"
#include "core/probe.h"
#include "source/rows.h"

static const char *const own_words[] = {"write", "probes", NULL};

/* The next word of the list; glob.s is NULL if it has none. */
static bool next_word(struct str *rest, struct str *name, struct str *glob)
{
	struct str word;
	if (!str_cut(rest, ',', &word))
		return false;
	*glob = word = str_trim(word);
	str_cut(glob, ':', name);
	return true;
}

bool deny_names(const char *list, const char *word)
{
	struct str rest = str_z(list), name, glob;
	while (list && next_word(&rest, &name, &glob))
		if (!glob.s && str_is(name, word))
			return true;
	return false;
}

void deny_check(struct compile *c)
{
	struct str rest = str_z(c->deny), name, glob;
	while (c->deny && next_word(&rest, &name, &glob)) {
		bool known = str_among(name, own_words)
				     ? !glob.s
				     : builtin_named(name) || probe_type_find(name);
		if (!known || (glob.s && !glob.n))
			diag_add(c->diags, E_UNSAFE, (struct loc){0},
				 "--deny: '%.*s' is neither a function nor a kind of probe, nor "
				 "write or probes",
				 STRF(name));
	}
}

static bool has_argument(const struct node *n, struct str glob)
{
	bool found = false;
	for (const struct node *arg = n->kind == N_CALL ? n->a : NULL; arg && !found;
	     arg = arg->next) {
		AUTO_SB text = {0};
		node_text(arg, &text);
		found = str_glob(glob, sb_str(&text));
	}
	return found;
}

static void report(struct compile *c, struct loc loc, struct str what, struct str name,
		   struct str glob)
{
	diag_add(c->diags, E_UNSAFE, loc, "%.*s is denied here (--deny %.*s%s%.*s)", STRF(what),
		 STRF(name), glob.s ? ":" : "", STRF(glob));
}

bool deny_call(struct compile *c, const struct node *n, const struct builtin *b)
{
	struct str rest = str_z(c->deny), name, glob;
	while (c->deny && next_word(&rest, &name, &glob)) {
		bool denied = str_is(name, "write") ? b->flags & (B_UNSAFE | B_RUNS | B_WRITES)
						    : str_eq(name, n->name);
		if (!denied || (glob.s && !has_argument(n, glob)))
			continue;
		report(c, n->loc, n->name, name, glob);
		return false;
	}
	return true;
}

void deny_probe(struct compile *c, const struct point *p, struct loc loc)
{
	struct str rest = str_z(c->deny), behind = p->text, kind, name, glob;
	str_cut(&behind, ':', &kind);
	while (c->deny && next_word(&rest, &name, &glob))
		if (probe_type_find(name) == p->type && (!glob.s || str_glob(glob, behind)))
			report(c, loc, p->text, name, glob);
}
