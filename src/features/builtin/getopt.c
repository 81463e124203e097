/* getopt.c - getopt(): options of the script itself, given as --name=value behind "--". */
#include "builtin/common.h"
#include "declare/declare.h"

static struct getopt_use *find_use(struct compile *c, struct str name)
{
	for (struct getopt_use *o = c->getopts; o; o = o->next)
		if (str_eq(o->name, name))
			return o;
	return NULL;
}

/* The default decides the type: none and bool, integers by their sign, strings. NULL: it is no
 * literal. */
static const struct type *default_of(struct sema *s, const struct node *n, struct str *text)
{
	i64 v;
	if (!n) {
		*text = STR("false");
		return &type_bool;
	}
	if (node_str(n, text))
		return type_string(s->a, 1);
	if (!node_int(n, &v))
		return NULL;
	if (n->kind == N_BOOL) {
		*text = v ? STR("true") : STR("false");
		return &type_bool;
	}
	bool neg = n->flags & NF_NEG;
	*text = str_z(arena_fmt(s->a, neg ? "%lld" : "%llu", v));
	return neg ? &type_i64 : &type_u64;
}

static struct getopt_use *add_use(struct sema *s, struct node *call, const struct type *t,
				  struct str text)
{
	struct getopt_use **tail = &s->c->getopts, *o = arena_new(s->a, struct getopt_use);
	o->name = call->a->name;
	o->type = t;
	o->text = text;
	if (call_arg(call, 2))
		o->doc = call_arg(call, 2)->name;
	while (*tail)
		tail = &(*tail)->next;
	*tail = o;
	return o;
}

static bool is_one_of(struct str v, const char *const *words)
{
	for (; *words; words++)
		if (str_is(v, *words))
			return true;
	return false;
}

/* Turns the call into the literal that text says; *wanted: what it should have been. */
static bool set_value(struct sema *s, struct node *call, const struct type *t, struct str text,
		      const char **wanted)
{
	static const char *const yes[] = {"true", "1", "on", "yes", NULL}, *const no[] = {
										   "false", "0",
										   "off", "no",
										   NULL};
	u64 u = 0;
	i64 i = 0;
	if (t->kind == T_STRING) {
		*wanted = "expects a string";
		if (!text.s)
			return false;
		node_set_str(s, call, text);
		return true;
	}
	if (t->kind == T_BOOL) {
		*wanted = "expects a boolean, e.g. 'true'";
		bool on = !text.s || is_one_of(text, yes);
		if (on || is_one_of(text, no))
			node_set_num(call, on, t);
		return call->kind == N_BOOL;
	}
	*wanted = text.s ? "invalid integer" : "expects an integer";
	const char *why;
	if (!text.s)
		return false;
	if (str_u64(text, &u) || compile_language(s->c)->number(text, &u, &why))
		i = (i64)u;
	else if (!str_i64(text, &i))
		return false;
	node_set_num(call, (u64)i, t);
	return true;
}

static const struct type *type_getopt(struct sema *s, struct node *call)
{
	struct str text = {0};
	const struct node *def = call_arg(call, 1);
	const struct type *t = default_of(s, def, &text);
	struct getopt_use *o = find_use(s->c, call->a->name);
	if (!t) {
		sema_fail(s, E_LITERAL, def->loc,
			  "%.*s() expects a string, integer or bool literal as the default",
			  STRF(call->name));
		return s->final ? &type_error : NULL;
	}
	if (o && (o->type->kind != t->kind || !str_eq(o->text, text))) {
		diag_add(s->ds, E_OPTION, call->loc,
			 "Command line option '%.*s' needs to have the same default value in all "
			 "places it is used. Previous default value: %.*s",
			 STRF(o->name), STRF(o->text));
		return &type_error;
	}
	if (!o)
		o = add_use(s, call, t, text);
	const char *wanted = NULL;
	for (u32 i = 0; i < s->c->nopt; i++)
		if (str_eq(s->c->opts[i].name, o->name))
			text = s->c->opts[i].value;
	if (set_value(s, call, t, text, &wanted)) {
		if (call->kind == N_BOOL)
			call->name = (struct str){0};
		return call->type;
	}
	diag_add(s->ds, E_OPTION, call->loc, "program command line option --%.*s %s (value: %.*s)",
		 STRF(o->name), wanted, STRF(text.s ? text : STR("true")));
	return &type_error;
}

/* With a literal it is decided before there are types. */
static const struct type *type_exists(struct sema *s, struct node *call)
{
	struct str what;

	if (!builtin_text(s, call, 0, &what))
		return s->final ? &type_error : NULL;
	node_set_num(call, declare_exists(s->c, what), &type_bool);
	return &type_bool;
}

/* What options decide is decided before there are types, where the script declares some. */
static const struct type *type_opt(struct sema *s, struct node *n)
{
	sema_fail(s, E_OPTION, n->loc, "opt.NAME is an option that the script declares");
	return &type_error;
}

static bool check_listed(struct sema *s, struct node *call)
{
	return sema_fail(s, E_OPTION, call->loc,
			 "listed() takes a value and an option of kind list");
}

const struct builtin builtin_opt[] = {
	{"auto opt", .flags = B_CONST, .role = ROLE_OPTIONS, .type = type_opt,
	 .doc = "The script's options: opt.NAME is the value of one of them."},
	{"bool listed(any value, any list)", .flags = B_CONST, .role = ROLE_LISTED,
	 .check = check_listed,
	 .doc = "True if the value is in an option of kind list, or if that list is empty."},
	{"auto exists(text what)", .flags = B_CONST, .role = ROLE_EXISTS, .type = type_exists,
	 .doc = "True if the kernel has a probe, a \"struct NAME.member.member\" or an \"enum "
		"NAME.VALUE\"; \"recording\": if the script runs over a recording. Evaluated when "
		"the "
		"script is compiled."},
	{"auto getopt(text name, [any default], [text description])", .flags = B_CONST,
	 .type = type_getopt,
	 .doc = "The script's own option --name=value, or the default, which decides its type."},
	{0},
};
