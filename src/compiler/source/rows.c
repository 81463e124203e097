/* rows.c - signatures of builtin rows, and finding a row by name. */
#include "source/rows.h"
#include "base/alloc.h"
#include "source/typename.h"
#include <pthread.h>

static const struct {
	const char *name;
	enum sig_kind kind;
} sig_kinds[] = {
	{"int", SIG_INT}, {"str", SIG_STR},   {"ptr", SIG_PTR},   {"any", SIG_ANY},
	{"num", SIG_NUM}, {"lit", SIG_LIT},   {"text", SIG_TEXT}, {"map", SIG_MAP},
	{"fmt", SIG_FMT}, {"type", SIG_TYPE}, {"name", SIG_NAME}, {"show", SIG_SHOW},
};

static struct str word(struct str *rest)
{
	*rest = str_trim(*rest);
	u32 n = 0;
	while (n < rest->n && !strchr(" ,()[]", rest->s[n]))
		n++;
	if (n && n < rest->n && rest->s[n] == '[' && rest->s[n - 1] != ' ') { /* string[16] */
		i32 end = str_chr(str_from(*rest, n), ']');
		n += end >= 0 ? (u32)end + 1 : 0;
	}
	struct str w = {rest->s, n};
	*rest = str_from(*rest, n);
	return w;
}

static void parse_args(struct sig *g, struct str rest)
{
	bool opt = false;
	for (;;) {
		rest = str_trim(rest);
		if (!rest.n || rest.s[0] == ')')
			break;
		if (strchr(",[]", rest.s[0])) {
			opt |= rest.s[0] == '[';
			rest = str_from(rest, 1);
			continue;
		}
		struct str kind = word(&rest);
		if (str_is(kind, "...")) {
			g->dots = true;
			continue;
		}
		bool known = false;
		assert(g->nmax < countof(g->kind));
		for (size_t i = 0; i < countof(sig_kinds); i++)
			if (str_is(kind, sig_kinds[i].name)) {
				g->kind[g->nmax] = sig_kinds[i].kind;
				known = true;
			}
		assert(known);
		rest = str_trim(rest);
		if (rest.n && !strchr(",()[]", rest.s[0]))
			g->arg[g->nmax] = word(&rest);
		g->nmax++;
		if (!opt)
			g->nmin++;
	}
}

const struct sig *builtin_sig(struct compile *c, const struct builtin *b)
{
	struct str text = str_z(b->sig);
	struct sig *g = tab_get(&c->sigs, text);
	if (g)
		return g;
	g = arena_new(c->arena, struct sig);
	struct str rest = text;
	g->result = word(&rest);
	g->name = word(&rest);
	rest = str_trim(rest);
	g->var = !rest.n;
	if (rest.n)
		parse_args(g, str_from(rest, 1));
	g->most = g->dots ? RECORD_MAX_FIELDS : g->nmax;
	if (str_is(g->result, "void"))
		g->type = &type_none;
	else if (!str_is(g->result, "auto"))
		g->type = own_type(c->arena, g->result);
	assert(g->type || str_is(g->result, "auto"));
	tab_set(&c->sigs, text, g);
	return g;
}

/* The name in a signature, without parsing all of it. */
struct str builtin_name(const struct builtin *b)
{
	struct str rest = str_z(b->sig);
	word(&rest);
	return word(&rest);
}

bool builtin_is_named(const struct builtin *b, struct str name)
{
	u64 k;
	struct str own = builtin_name(b);
	if (!(b->flags & B_NUMBERED))
		return str_eq(own, name);
	own.n--; /* the N */
	return str_starts(name, own) && str_u64(str_from(name, own.n), &k);
}

/* The rows of one name, in the order of the tables. */
struct row {
	const struct builtin *b;
	struct row *next;
};
struct rows {
	struct tab named, numbered; /* of B_NUMBERED, the name with its N */
};

static void rows_add(struct rows *r, const struct builtin *b)
{
	struct row *row = xcalloc(1, sizeof(*row));
	row->b = b;
	struct row *first =
		tab_add(b->flags & B_NUMBERED ? &r->numbered : &r->named, builtin_name(b), row);
	if (!first)
		return;
	while (first->next)
		first = first->next;
	first->next = row;
}

/* Every pass asks about every name of a script, so the tables are read once. They are the same for all scripts. */
static struct rows all;

static void fill_all(void)
{
	for (u32 t = 0; builtin_tables[t]; t++)
		for (const struct builtin *b = builtin_tables[t]; b->sig; b++)
			rows_add(&all, b);
}

/* The first row of that name, or NULL. Scripts may be compiled in several threads. */
static const struct row *rows_of(struct str name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fill_all);
	const struct row *row = tab_get(&all.named, name);
	for (u32 i = 0; !row && i < all.numbered.n; i++) {
		const struct row *other = all.numbered.v[i].val;
		row = builtin_is_named(other->b, name) ? other : NULL;
	}
	return row;
}

const struct builtin *builtin_named(struct str name)
{
	const struct row *row = rows_of(name);
	return row ? row->b : NULL;
}

enum builtin_role builtin_role(const struct node *n)
{
	bool named = n->kind == N_NAME || n->kind == N_CALL;
	const struct builtin *b = named ? builtin_named(n->name) : NULL;
	return b ? b->role : ROLE_NONE;
}

u32 builtin_asks(struct str name)
{
	u32 asks = 0;
	for (const struct row *row = rows_of(name); row; row = row->next)
		asks |= row->b->asks;
	return asks;
}

bool builtin_is_args(const struct node *n)
{
	if (n->kind != N_NAME && n->kind != N_CALL)
		return false;
	return (n->fn ? n->fn->role : builtin_role(n)) == ROLE_ARGS;
}

bool builtin_is_own(struct str name)
{
	const struct builtin *b = builtin_named(name);
	return b && (b->flags & B_OWN);
}

u32 call_nadded(const struct node *call)
{
	return call->kind == N_CALL && builtin_role(call) == ROLE_KEEP ? (u32)call->num : 0;
}

static bool row_fits(struct compile *c, const struct builtin *b, u32 n, const struct node *call)
{
	const struct sig *g = builtin_sig(c, b);
	if (n < g->nmin || n > g->most)
		return false;
	const struct node *arg = call ? call->a : NULL;
	for (u32 i = 0; i < g->nmax && arg; i++, arg = arg->next)
		if (g->kind[i] == SIG_MAP && (arg->kind != N_MAP || arg->a))
			return false;
	return true;
}

const struct builtin *builtin_pick(struct compile *c, struct str name, const struct node *call,
				   bool *arity)
{
	const struct builtin *any = NULL;
	u32 n = call ? call_nargs(call) - call_nadded(call) : 0;
	for (const struct row *row = rows_of(name); row; row = row->next) {
		if (row->b->today)
			continue;
		if (row_fits(c, row->b, n, call && call->kind == N_CALL ? call : NULL)) {
			*arity = true;
			return row->b;
		}
		any = row->b;
	}
	*arity = false;
	return any;
}

const struct builtin *builtin_find(struct compile *c, struct str name, u32 n, bool *arity)
{
	const struct builtin *any = NULL;
	for (const struct row *row = rows_of(name); row; row = row->next)
		if (!row->b->today) {
			*arity = row_fits(c, row->b, n, NULL);
			if (*arity)
				return row->b;
			any = row->b;
		}
	return any;
}

struct str builtin_near(struct str name)
{
	struct str best = {0};
	u32 least = 1 + name.n / 3;
	for (u32 t = 0; builtin_tables[t]; t++)
		for (const struct builtin *b = builtin_tables[t]; b->sig; b++) {
			struct str other = builtin_name(b);
			u32 d = str_distance(name, other, least);
			if (d < least && !(b->flags & (B_NUMBERED | B_OLD))) {
				least = d;
				best = other;
			}
		}
	return best;
}
