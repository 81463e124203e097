/* recorded.c - the layout of a recorded row as programs see it. */
#include "core/recorded.h"
#include "base/arena.h"

static bool is_stack(const struct type *t)
{
	return t->kind == T_KSTACK || t->kind == T_USTACK;
}

/* Words that every row has, though nobody kept them: by the names that the language has for them. */
static const struct {
	struct str name;
	const struct type *type;
	enum recorded_word word;
} words[] = {
	{STR("ppid"), &type_i32, ROW_PPID},
};

void recorded_layout(struct arena *a, struct recorded_probe *p)
{
	struct field *f = arena_newn(a, struct field, p->ncol + countof(words));
	struct type *t = arena_new(a, struct type);
	u32 n = 0, off = ROW_WORDS * 8;
	for (u32 i = 0; i < p->ncol; i++) {
		struct recorded_column *c = &p->col[i];
		if (is_stack(c->type))
			continue;
		c->off = off;
		f[n++] = (struct field){.name = c->expr, .type = c->type, .bit_off = off * 8};
		off = ALIGN_UP(off + c->type->size, 8u);
	}
	for (u32 i = 0; i < countof(words); i++)
		f[n++] = (struct field){.name = words[i].name,
					.type = words[i].type,
					.bit_off = words[i].word * 64};
	p->size = off;
	*t = (struct type){.kind = T_STRUCT,
			   .size = off,
			   .align = 8,
			   .name = STR("recorded"),
			   .nfield = n,
			   .field = f};
	p->args = t;
}
