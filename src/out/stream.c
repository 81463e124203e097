/* stream.c - buffered output without stdio: one write per batch of events. */
#include "out/out.h"
#include <errno.h>

void out_init(struct out *o, const struct sink_env *env)
{
	*o = (struct out){.fd = env->out, .buffering = env->buffering};
	sb_reserve(&o->b, OUT_FLUSH);
}

/* Errno of the first failure, or 0. */
static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);
		if (done < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (done < 0)
			return errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static struct err *failure(const struct out *o)
{
	return o->failed ? err_sys(o->failed, "write output") : NULL;
}

struct err *out_flush(struct out *o)
{
	if (!o->failed && o->b.n)
		o->failed = write_all(o->fd, o->b.s, o->b.n);
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
	return e;
}

static void error_text(struct sb *b, const struct sink_env *env, const struct item *it)
{
	size_t at = b->n;
	diag_place_text(env->diags, it->loc, b);
	if (b->n > at)
		sb_z(b, ": ");
	sb_z(b, it->warn ? "WARNING: " : "ERROR: ");
	sb_add(b, it->str);
	if (!it->str.n || it->str.s[it->str.n - 1] != '\n')
		sb_char(b, '\n');
	/* The script says itself what errorf() and warnf() are about. */
	if (!str_is(it->name, "errorf") && !str_is(it->name, "warnf"))
		diag_caret_text(env->diags, it->loc, b);
}

void out_remark(struct out *o, const struct sink_env *env, const struct item *it)
{
	AUTO_SB b = {0};
	if (it->kind == I_ERROR) {
		error_text(&b, env, it);
	} else {
		if (it->kind == I_LOST && it->warn)
			sb_z(&b, "WARNING: ");
		sb_add(&b, it->str);
		sb_char(&b, '\n');
	}
	if (o->fd >= 0 && o->buffering != 'f')
		err_free(out_flush(o));
	/* There is nobody left to tell when this fails. */
	(void)write_all(env->err, b.s, b.n);
}
