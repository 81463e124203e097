/* recorded.c - the layout of a recorded row as programs see it. */
#include "core/recorded.h"
#include "base/arena.h"
#include "base/embed.h"

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

/* The name ends there: sched_switch is not sched_switch_more. */
static bool names(struct str script, struct str probe)
{
	i32 at = probe.n ? str_find(script, probe) : -1;
	u32 end = (u32)at + probe.n;
	return at >= 0 && (end >= script.n || (script.s[end] != '_' && script.s[end] != ':' &&
					       (script.s[end] < 'a' || script.s[end] > 'z')));
}

/* The same but for the number behind it, which the set leaves open. */
static bool at_rate(struct str script, struct str probe, struct str *rate)
{
	AUTO_SB open = {0};
	u32 n = probe.n;
	while (n && probe.s[n - 1] >= '0' && probe.s[n - 1] <= '9')
		n--;
	*rate = str_from(probe, n);
	sb_add(&open, str_n(probe.s, n));
	sb_z(&open, "RATE");
	return rate->n && n && str_find(script, sb_str(&open)) >= 0;
}

struct str recorded_set(struct arena *a, struct str probe)
{
	static const struct str folder = STR("tools/record/"), ending = STR(".bt"),
				module = STR(":vmlinux:");
	AUTO_SB plain = {0};
	struct str rate;
	i32 at = str_find(probe, module); /* sets do not name it */
	sb_add(&plain, at < 0 ? probe : str_n(probe.s, (u32)at + 1));
	if (at >= 0)
		sb_add(&plain, str_from(probe, (u32)at + module.n));
	for (const struct embed *e = embedded; e->name; e++) {
		struct str file = str_z(e->name), text;
		if (!str_starts(file, folder))
			continue;
		struct str name = str_n(file.s + folder.n, file.n - folder.n - ending.n);
		text = embed_text(e);
		if (names(text, sb_str(&plain)))
			return arena_str(a, name);
		if (at_rate(text, sb_str(&plain), &rate))
			return str_z(arena_fmt(a, "%.*s=%.*s", STRF(name), STRF(rate)));
	}
	return STR("");
}
