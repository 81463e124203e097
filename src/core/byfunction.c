/* byfunction.c - a summary of stacks by function; see byfunction.h. */
#include "core/byfunction.h"

static struct str function_name(struct arena *a, const struct frame *f)
{
	struct str file = frame_file(f), name = f->sym.n ? f->sym : STR("[unknown]");
	return file.n ? str_z(arena_fmt(a, "%.*s (%.*s)", STRF(name), STRF(file)))
		      : arena_str(a, name);
}

/* Behind its cells a row has the number of the stack that it counted last: recursion counts once. */
static struct value *row_of(struct byfunction *f, struct str name)
{
	struct value *row = tab_get(&f->index, name);
	if (row)
		return row;
	row = arena_newn(&f->a, struct value, BYFUNCTION_CELLS + 1);
	for (u32 i = 0; i <= BYFUNCTION_CELLS; i++)
		row[i] = (struct value){.kind = V_UINT, .size = 8};
	row[BYFUNCTION_NAME] = (struct value){.kind = V_STR, .str = name};
	tab_set(&f->index, name, row);
	vec_add(&f->rows, row);
	return row;
}

/* Patterns are separated by blanks. */
static bool is_left_out(const struct byfunction *f, const struct value *stack, struct str name)
{
	struct str rest = f->left_out;
	while (stack->kernel && rest.n) {
		i32 blank = str_chr(rest, ' ');
		if (str_glob(str_n(rest.s, blank < 0 ? rest.n : (u32)blank), name))
			return true;
		rest = blank < 0 ? STR("") : str_from(rest, (u32)blank + 1);
	}
	return false;
}

void byfunction_add(struct byfunction *f, const struct value *row, u32 nkey, u64 weight)
{
	bool innermost = true;
	u32 k = 0;
	f->nstack++;
	f->all += weight;
	while (k < nkey && row[k].kind != V_STACK)
		k++;
	for (; k < nkey && row[k].kind == V_STACK; k++)
		for (u32 i = 0; i < row[k].n; i++) {
			if (innermost && is_left_out(f, &row[k], row[k].stack[i].sym))
				continue;
			struct value *r = row_of(f, function_name(&f->a, &row[k].stack[i]));
			r[BYFUNCTION_SELF].u += innermost ? weight : 0;
			r[BYFUNCTION_TOTAL].u += r[BYFUNCTION_CELLS].u == f->nstack ? 0 : weight;
			r[BYFUNCTION_CELLS].u = f->nstack;
			innermost = false;
		}
}

static int by_self(const void *pa, const void *pb)
{
	const struct value *const *a = pa, *const *b = pb;
	static const u32 by[] = {BYFUNCTION_SELF, BYFUNCTION_TOTAL};
	for (size_t i = 0; i < countof(by); i++)
		if ((*a)[by[i]].u != (*b)[by[i]].u)
			return (*a)[by[i]].u < (*b)[by[i]].u ? 1 : -1;
	return str_cmp((*a)[BYFUNCTION_NAME].str, (*b)[BYFUNCTION_NAME].str);
}

static u64 ratio(u64 part, u64 all)
{
	return all ? (u64)((double)part / (double)all * 10000 + 0.5) : 0;
}

void byfunction_end(struct byfunction *f)
{
	for (u32 i = 0; i < f->rows.n; i++) {
		struct value *r = f->rows.v[i];
		r[BYFUNCTION_SELF_RATIO].u = ratio(r[BYFUNCTION_SELF].u, f->all);
		r[BYFUNCTION_TOTAL_RATIO].u = ratio(r[BYFUNCTION_TOTAL].u, f->all);
	}
	if (f->rows.n)
		qsort(f->rows.v, f->rows.n, sizeof(*f->rows.v), by_self);
}

void byfunction_free(struct byfunction *f)
{
	vec_free(&f->rows);
	tab_free(&f->index);
	arena_free(&f->a);
}
