/* text.c - the terminal: results as bpftrace prints them, remarks on the error stream. */
#include "out/out.h"

struct text {
	struct out o;
	struct sink_env env;
	bool tty;
};

static struct err *text_open(void *self, const struct sink_env *env)
{
	struct text *t = self;
	t->env = *env;
	t->tty = isatty(env->out);
	out_init(&t->o, env);
	return NULL;
}

static bool text_escape(const void *self)
{
	return ((const struct text *)self)->tty;
}

static void put_value(struct text *t, const struct value *v)
{
	if (t->env.old && v->kind == V_STATS)
		sb_fmt(&t->o.b, "count %lld, average %lld, total %lld", v->list[0].i, v->list[1].i,
		       v->list[2].i);
	else
		value_text(&t->o.b, v, t->env.trailer);
}

static void put_map(struct text *t, const struct item *it)
{
	struct sb *b = &t->o.b;
	bool large = false;
	for (u64 i = 0; i < it->n && !t->o.failed; i++) {
		struct item_row row = item_row(it, i);
		sb_add(b, it->name);
		if (row.key) {
			sb_char(b, '[');
			value_key_text(b, row.key, t->env.trailer);
			sb_char(b, ']');
		}
		large = row.val->kind == V_HIST || row.val->kind == V_SERIES;
		sb_z(b, large ? ":\n" : ": ");
		put_value(t, row.val);
		sb_char(b, '\n');
		out_room(&t->o);
	}
	if (t->env.old && !large)
		sb_char(b, '\n');
}

static struct err *text_put(void *self, const struct item *it)
{
	struct text *t = self;
	switch (it->kind) {
	case I_TEXT:
		sb_add(&t->o.b, it->str);
		if (str_is(it->name, "join") || (str_is(it->name, "syscall") && !t->env.old))
			sb_char(&t->o.b, '\n');
		break;
	case I_VALUE:
		put_value(t, it->val);
		sb_char(&t->o.b, '\n');
		break;
	case I_MAP: put_map(t, it); break;
	case I_STATUS:
		if (t->env.old && !t->env.quiet)
			sb_fmt(&t->o.b, "Attaching %llu probe%s...\n", it->n,
			       it->n == 1 ? "" : "s");
		else if (!t->env.quiet)
			out_remark(&t->o, &t->env, it);
		break;
	case I_ERROR:
	case I_LOST: out_remark(&t->o, &t->env, it); break;
	case I_END: sb_z(&t->o.b, "\n\n"); break;
	}
	return out_item(&t->o);
}

static struct err *text_flush(void *self)
{
	struct text *t = self;
	return t->o.buffering == 'f' ? NULL : out_flush(&t->o);
}

static struct err *text_close(void *self)
{
	return out_close(&((struct text *)self)->o);
}

const struct sink sink_text = {
	.name = "text",
	.ext = "txt",
	.doc = "lines for people, as bpftrace prints them",
	.size = sizeof(struct text),
	.open = text_open,
	.put = text_put,
	.flush = text_flush,
	.close = text_close,
	.escape = text_escape,
};
