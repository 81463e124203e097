/* ast.c - walking, copying, comparing and printing trees, driven by ast.def. */
#include "lang/ast.h"

enum { A = 1, B = 2, C = 4 };
static const struct {
	const char *name;
	u8 kids;
} kinds[] = {
#define N(kind, name, kids) {name, kids},
#include "lang/ast.def"
};
_Static_assert(countof(kinds) == NODE_KINDS, "one row per kind");

/* Flags that are part of what a node says, and how the dump shows them. */
static const struct {
	u16 flag;
	const char *name;
} flags[] = {
	{NF_VALUE, "value"},       {NF_COMPTIME, "comptime"}, {NF_POST, "post"},
	{NF_MULTIKEY, "multikey"}, {NF_STRUCT, "struct"},     {NF_UNION, "union"},
	{NF_ENUM, "enum"},         {NF_NOSIZE, "unsized"},
};
enum {
	MEANING = NF_VALUE | NF_COMPTIME | NF_NEG | NF_MULTIKEY | NF_POST | NF_STRUCT | NF_UNION |
		  NF_ENUM | NF_NOSIZE,
};

const char *token_text(enum token t)
{
	static const char *const text[] = {
#define X(id, text) text,
#define K(id, text) text,
#define P(id, text) text,
#include "lang/tokens.def"
	};
	assert((size_t)t < countof(text));
	return text[t];
}

struct node *node_new(struct arena *a, enum node_kind kind, struct loc loc)
{
	struct node *n = arena_new(a, struct node);
	n->kind = kind;
	n->loc = loc;
	return n;
}

/* The i-th child (a list), or NULL when this kind has none there. */
static struct node *kid(const struct node *n, u32 i)
{
	assert((u32)n->kind < NODE_KINDS);
	if (!(kinds[n->kind].kids & (1u << i)))
		return NULL;
	return i == 0 ? n->a : i == 1 ? n->b : n->c;
}

static struct node *clone_list(struct arena *a, const struct node *list)
{
	struct node *head = NULL, **tail = &head;
	for (; list; list = list->next) {
		*tail = node_clone(a, list);
		tail = &(*tail)->next;
	}
	return head;
}

struct node *node_clone(struct arena *a, const struct node *n)
{
	struct node *to = arena_new(a, struct node);
	*to = *n;
	to->next = NULL;
	to->a = clone_list(a, kid(n, 0));
	to->b = clone_list(a, kid(n, 1));
	to->c = clone_list(a, kid(n, 2));
	return to;
}

void node_walk(struct node *n, node_cb *cb, void *arg)
{
	if (!cb(n, arg))
		return;
	for (u32 i = 0; i < 3; i++)
		for (struct node *k = kid(n, i), *next; k; k = next) {
			next = k->next;
			node_walk(k, cb, arg);
		}
}

/* Some kinds keep a place or a spelling in a field that means something elsewhere. */
static bool same_self(const struct node *a, const struct node *b)
{
	bool by_place = a->kind == N_LET || a->kind == N_FOR;
	return a->kind == b->kind && a->op == b->op &&
	       (a->flags & MEANING) == (b->flags & MEANING) && (by_place || a->num == b->num) &&
	       (a->kind == N_NUM || str_eq(a->name, b->name));
}

bool node_eq(const struct node *a, const struct node *b)
{
	if (!a || !b)
		return a == b;
	if (!same_self(a, b))
		return false;
	for (u32 i = 0; i < 3; i++) {
		const struct node *x = kid(a, i), *y = kid(b, i);
		for (; x && y; x = x->next, y = y->next)
			if (!node_eq(x, y))
				return false;
		if (x || y)
			return false;
	}
	return true;
}

u32 node_count(const struct node *list)
{
	u32 n = 0;
	for (; list; list = list->next)
		n++;
	return n;
}

static void dump_name(const struct node *n, struct sb *out)
{
	switch (n->kind) {
	case N_CDEF:
	case N_IMPORT:
	case N_POINT:
	case N_STR:
		sb_z(out, " \"");
		sb_escape(out, n->name);
		sb_char(out, '"');
		break;
	case N_VAR:
	case N_LET:
	case N_FOR: sb_fmt(out, " $%.*s", STRF(n->name)); break;
	case N_MAP:
	case N_MAPDECL: sb_fmt(out, " @%.*s", STRF(n->name)); break;
	case N_NUM: break; /* as written; the value says it */
	default:           /* the others print their name as it is */
		if (n->name.n)
			sb_fmt(out, " %.*s", STRF(n->name));
	}
}

static void dump_num(const struct node *n, struct sb *out)
{
	switch (n->kind) {
	case N_NUM:
		if (n->flags & NF_NEG)
			sb_fmt(out, " %lld", (long long)n->num);
		else
			sb_fmt(out, " %llu", n->num);
		break;
	case N_BOOL: sb_z(out, n->num ? " true" : " false"); break;
	case N_PARAM: sb_fmt(out, " $%llu", n->num); break;
	case N_ELEM: sb_fmt(out, " %llu", n->num); break;
	case N_TARRAY:
		if (!(n->flags & NF_NOSIZE))
			sb_fmt(out, " %llu", n->num);
		break;
	case N_NAME: /* kind of a declared map, with its size */
		if (n->num)
			sb_fmt(out, " %llu", n->num);
		break;
	case N_POINT:
		if (n->num)
			sb_z(out, " labelled");
		break;
	default: break;
	}
}

/* @LINE:COL-COL, or @LINE:COL-LINE:COL over several lines; the end is exclusive. */
static void dump_place(const struct node *n, const struct diags *places, struct sb *out)
{
	u32 line, col, line2, col2;
	struct loc end = {n->loc.pos + n->loc.len, 0, n->loc.src};
	if (!diag_place(places, n->loc, &line, &col))
		return;
	sb_fmt(out, " @%u:%u", line, col);
	if (!n->loc.len || !diag_place(places, end, &line2, &col2))
		return;
	if (line2 != line)
		sb_fmt(out, "-%u:%u", line2, col2);
	else if (col2 != col + 1)
		sb_fmt(out, "-%u", col2);
}

static void dump(const struct node *n, const struct diags *places, u32 depth, struct sb *out)
{
	sb_pad(out, ' ', (size_t)depth * 2);
	sb_z(out, kinds[n->kind].name);
	if (n->op)
		sb_fmt(out, " '%s'", token_text(n->op));
	for (u32 i = 0; i < countof(flags); i++)
		if (n->flags & flags[i].flag)
			sb_fmt(out, " %s", flags[i].name);
	dump_name(n, out);
	dump_num(n, out);
	dump_place(n, places, out);
	if (n->type) {
		sb_z(out, " : ");
		type_name(n->type, out);
	}
	sb_char(out, '\n');
	for (u32 i = 0; i < 3; i++)
		for (const struct node *k = kid(n, i); k; k = k->next)
			dump(k, places, depth + 1, out);
}

void node_dump(const struct node *n, const struct diags *places, struct sb *out)
{
	dump(n, places, 0, out);
}

i32 node_word_in(const struct node *n, const void *rows, size_t size, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_is(n->name, *(const char *const *)((const char *)rows + i * size)))
			return (i32)i;
	return -1;
}

struct node *call_arg(const struct node *call, u32 i)
{
	struct node *n = call->kind == N_CALL ? call->a : NULL;
	while (n && i--)
		n = n->next;
	return n;
}

u32 call_nargs(const struct node *call)
{
	return call->kind == N_CALL ? node_count(call->a) : 0;
}

bool node_int(const struct node *n, i64 *ret)
{
	if (!n || (n->kind != N_NUM && n->kind != N_BOOL))
		return false;
	*ret = (i64)n->num;
	return true;
}

bool node_str(const struct node *n, struct str *ret)
{
	if (!n || n->kind != N_STR)
		return false;
	*ret = n->name;
	return true;
}

bool is_type_node(const struct node *n)
{
	return n->kind == N_TYPE || n->kind == N_TPTR || n->kind == N_TARRAY;
}
