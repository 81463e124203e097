#include "base/err.h"
#include "base/alloc.h"
#include <errno.h>
#include <stdarg.h>

static PRINTF(1, 0) char *vtext(const char *fmt, va_list ap)
{
	char *s;
	if (vasprintf(&s, fmt, ap) < 0)
		out_of_memory();
	return s;
}

static struct err *make(int no, char *msg)
{
	struct err *e = xmalloc(sizeof(*e));
	*e = (struct err){no, msg};
	return e;
}

struct err *err_sys(int no, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	AUTO_FREE char *what = vtext(fmt, ap);
	va_end(ap);
	AUTO_SB b = {0};
	sb_fmt(&b, "%s: %s", what, strerror(no == ENOTSUPP_KERNEL ? EOPNOTSUPP : no));
	return make(no, xstrdup(b.s));
}

struct err *err_new(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	struct err *e = make(0, vtext(fmt, ap));
	va_end(ap);
	return e;
}

struct err *err_wrap(struct err *e, const char *fmt, ...)
{
	assert(e);
	va_list ap;
	va_start(ap, fmt);
	AUTO_FREE char *front = vtext(fmt, ap);
	va_end(ap);
	AUTO_SB b = {0};
	sb_fmt(&b, "%s%s", front, e->msg);
	free(e->msg);
	e->msg = xstrdup(b.s);
	return e;
}

void err_free(struct err *e)
{
	if (!e)
		return;
	free(e->msg);
	free(e);
}

void diag_err(struct diags *ds, enum diag_code code, struct loc loc, struct err *e)
{
	assert(e);
	diag_add(ds, code, loc, "%s", e->msg);
	err_free(e);
}
