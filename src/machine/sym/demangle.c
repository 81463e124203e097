/* demangle.c - C++ and Rust names, by libiberty. */
#include "sym/sym.h"
#include <libiberty/demangle.h>

/* libiberty's cplus_demangle() would bring Ada, D and Java. */
static char *demangle_by(const char *name, int options)
{
	char *plain = options & DMGL_GNU_V3 ? NULL : rust_demangle(name, options);
	return plain || options & DMGL_RUST ? plain : cplus_demangle_v3(name, options);
}

enum { MAX_MANGLED = 1 << 14 };

static bool is_mangled(struct str name)
{
	bool mangled = str_starts(name, STR("_Z")) || str_starts(name, STR("_R")) ||
		       str_starts(name, STR("___Z"));
	return mangled && name.n <= MAX_MANGLED;
}

char *demangle(struct arena *a, struct str name)
{
	if (!is_mangled(name))
		return NULL;
	char *plain AUTO_FREE =
		demangle_by(arena_strz(a, name), DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	return plain ? arena_strz(a, str_z(plain)) : NULL;
}

/* "<r::Thing>::go" -> "r::Thing::go" as programmers write a method; not "<r::Thing as r::Speak>::say". False: as it is. */
static bool drop_brackets(const char *plain, struct sb *ret)
{
	u32 depth = 0, end = 0;
	if (plain[0] != '<')
		return false;
	for (u32 i = 0; plain[i] && !end; i++) {
		depth += plain[i] == '<';
		if (depth == 1 && !strncmp(plain + i, " as ", 4))
			return false;
		if (plain[i] == '>' && plain[i - 1] != '-' && !--depth)
			end = i;
	}
	if (!end || strncmp(plain + end, ">::", 3) != 0)
		return false;
	sb_add(ret, str_n(plain + 1, end - 1));
	sb_z(ret, plain + end + 1);
	return true;
}

bool demangle_fits(enum demangle_lang lang, struct str want, struct str name)
{
	static const int cpp[] = {DMGL_GNU_V3 | DMGL_ANSI, DMGL_GNU_V3 | DMGL_ANSI | DMGL_PARAMS,
				  DMGL_GNU_V3 | DMGL_ANSI | DMGL_PARAMS | DMGL_RET_DROP};
	static const int rust[] = {DMGL_RUST, 0, 0};
	if (!is_mangled(name))
		return lang == DEMANGLE_CPP && str_glob(want, name);
	AUTO_SB z = {0};
	sb_add(&z, name);
	const int *way = lang == DEMANGLE_CPP ? cpp : rust;
	bool fits = false;
	for (u32 i = 0; i < countof(cpp) && way[i] && !fits; i++) {
		char *plain AUTO_FREE = demangle_by(z.s, way[i]);
		if (!plain)
			return lang == DEMANGLE_CPP && str_glob(want, name);
		AUTO_SB method = {0};
		bool other = lang == DEMANGLE_RUST && drop_brackets(plain, &method);
		fits = str_eq(want, str_z(plain)) || str_glob(want, str_z(plain)) ||
		       (other && str_glob(want, sb_str(&method)));
	}
	return fits;
}
