/*
 * cdefs.h - what the C definitions of a script mean to the rest of it. source_cdefs()
 * (source.h) fills it once, before probes are expanded.
 */
#pragma once
#include "cparse/cdecl.h"
#include "cparse/cpp.h"
#include "lang/compile.h"

/* weak: what system headers define, to be asked after BTF; else the script's own. */
const struct type *cdefs_type(const struct cdefs *cd, struct str name, u16 flags, bool weak);
bool cdefs_enumerator(const struct cdefs *cd, struct str name, bool weak, i64 *val,
		      const struct type **type);
/* A macro of kernel headers that everybody knows: AF_INET. */
bool known_constant(const struct host *h, struct str name, i64 *val);

/* cheaders.c: finding headers. */
struct header_search {
	struct arena *arena;
	const struct headers *h;
	const char *root, *arch;
	bool btf; /* kernel headers may be missing */
};
cpp_open header_open;

/* cmacros.c: macros in the tree. */
void expand_uses(struct compile *c, struct cpp *p);
