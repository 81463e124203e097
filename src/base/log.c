#include "base/log.h"
#include "base/alloc.h"
#include <stdarg.h>
#include <stdio.h>

void log_put(const struct log *l, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	if (!l->level || !l->put)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		out_of_memory();
	va_end(ap);
	l->put(l->arg, text);
	free(text);
}
