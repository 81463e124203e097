/* options.c - the script's own options: those it was given against those it asked for. */
#include "declare/declare.h"

static bool is_known(const struct compile *c, struct str name)
{
	for (const struct getopt_use *o = c->getopts; o; o = o->next)
		if (!o->common && (o->declared ? declare_names(o, name) : str_eq(o->name, name)))
			return true;
	return false;
}

static bool wants_help(const struct compile *c)
{
	for (u32 i = 0; i < c->nopt; i++)
		if (str_is(c->opts[i].name, "help") && !is_known(c, STR("help")))
			return true;
	return false;
}

/* But for the common ones: those are sonde's, which tools have under these names. */
void declare_print_options(const struct compile *c, struct sb *out)
{
	u32 n = 0;
	for (const struct getopt_use *o = c->getopts; o; o = o->next) {
		if (o->common)
			continue;
		n++;
		sb_fmt(out, "\n  --%.*s", STRF(o->name));
		if (o->type->kind != T_BOOL)
			sb_fmt(out, "=%.*s", STRF(o->text));
		if (o->accepted)
			sb_z(out, ": accepted and without effect");
		else if (o->doc.n)
			sb_fmt(out, ": %.*s", STRF(o->doc));
	}
	if (!n)
		sb_z(out, " none");
}

bool declare_check_options(struct compile *c)
{
	struct diags *ds = c->diags;
	AUTO_SB wrong = {0};
	AUTO_SB known = {0};
	c->help = wants_help(c);
	for (u32 i = 0; i < c->nopt && !c->help; i++)
		if (!is_known(c, c->opts[i].name))
			sb_fmt(&wrong, "%s--%.*s", wrong.n ? ", " : "", STRF(c->opts[i].name));
	if (!wrong.n)
		return true;
	declare_print_options(c, &known);
	diag_hint(ds,
		  diag_add(ds, E_OPTION, (struct loc){0},
			   "unexpected program command line options: %s", wrong.s),
		  "expected program options:%s", known.s);
	return false;
}

static bool see_param(struct node *n, void *arg)
{
	bool *found = arg;
	*found |= n->kind == N_PARAM || n->kind == N_NPARAM ||
		  (n->kind == N_POINT && str_chr(n->name, '$') >= 0);
	return !*found;
}

/* A script with options that has no $1 takes no words: they would be a letter, or an operand. */
void declare_check_params(struct compile *c)
{
	AUTO_SB known = {0};
	bool found = !c->nparam;
	for (struct node *n = c->tree->a; n && !found; n = n->next)
		node_walk(n, see_param, &found);
	if (found)
		return;
	declare_print_options(c, &known);
	diag_hint(c->diags,
		  diag_add(c->diags, E_OPTION, (struct loc){0},
			   "what is '%.*s'? Options are given by name, after --",
			   STRF(c->params[0])),
		  "expected program options:%s", known.s);
}
