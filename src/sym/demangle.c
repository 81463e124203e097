/* demangle.c - C++ and Rust names, by libiberty. */
#include "sym/sym.h"
#include <libiberty/demangle.h>

enum { MAX_MANGLED = 1 << 14 };

char *demangle(struct arena *a, struct str name)
{
	bool mangled = str_starts(name, STR("_Z")) || str_starts(name, STR("_R")) ||
		       str_starts(name, STR("___Z"));
	if (!mangled || name.n > MAX_MANGLED)
		return NULL;
	char *plain AUTO_FREE =
		cplus_demangle(arena_strz(a, name), DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	return plain ? arena_strz(a, str_z(plain)) : NULL;
}
