/* stream.c - buffered output without stdio: one write per batch of events. */
#include "sink/out.h"
#include <errno.h>

void out_init(struct out *o, const struct sink_env *env)
{
	*o = (struct out){.fd = env->out, .buffering = env->buffering, .signals = env->signals};
	sb_reserve(&o->b, OUT_FLUSH);
}

static struct err *failure(const struct out *o)
{
	return o->failed ? err_sys(o->failed, "write output") : NULL;
}

struct err *out_flush(struct out *o)
{
	size_t done = 0;
	if (!o->failed && !o->unwritten && o->b.n)
		o->failed = signals_write(o->signals, o->fd, o->b.s, o->b.n, &done);
	if (o->failed == ETIMEDOUT)
		o->failed = 0;
	if (!o->failed)
		o->unwritten += o->b.n - done;
	sb_clear(&o->b);
	return failure(o);
}

struct err *out_item(struct out *o)
{
	if (o->buffering == 'n' || o->b.n >= OUT_FLUSH)
		return out_flush(o);
	return failure(o);
}

void out_room(struct out *o)
{
	if (o->b.n >= OUT_FLUSH)
		err_free(out_flush(o)); /* out_item() tells it again */
}

struct err *out_close(struct out *o)
{
	struct err *e = out_flush(o);
	sb_free(&o->b);
	if (!e && o->unwritten)
		e = err_new("write output: %llu bytes were lost, because nobody reads it",
			    o->unwritten);
	return e;
}

static void error_text(struct sb *b, const struct sink_env *env, const struct item *it)
{
	size_t at = b->n;
	diag_place_text(env->diags, it->error.loc, b);
	if (b->n > at)
		sb_z(b, ": ");
	sb_z(b, it->error.warn ? "WARNING: " : "ERROR: ");
	sb_add(b, it->str);
	if (!it->str.n || it->str.s[it->str.n - 1] != '\n')
		sb_char(b, '\n');
	if (!it->error.said)
		diag_caret_text(env->diags, it->error.loc, b);
}

void out_remark(struct out *o, const struct sink_env *env, const struct item *it)
{
	AUTO_SB b = {0};
	if (it->kind == I_STATUS && !it->str.n)
		return;
	if (it->kind == I_ERROR) {
		error_text(&b, env, it);
	} else {
		if (it->kind == I_LOST && it->lost.warn)
			sb_z(&b, "WARNING: ");
		value_put_str(&b, it->str, &env->how_remarks);
		sb_char(&b, '\n');
	}
	if (o->fd >= 0 && o->buffering != 'f')
		err_free(out_flush(o));
	/* There is nobody left to tell when this fails. */
	size_t done;
	(void)signals_write(env->signals, env->err, b.s, b.n, &done);
}
