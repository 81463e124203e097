/* astray.c - functions that a return probe would send astray, by their names. */
#include "sym/sym.h"

/* Without underscores before. */
static const char *const twice[] = {"setjmp", "sigsetjmp", "savectx", "getcontext", "swapcontext"};
static const char *const throws[] = {
	"cxa_throw",           "cxa_rethrow",           "pthread_exit",  "pthread_unwind",
	"pthread_unwind_next", "Unwind_RaiseException", "Unwind_Resume", "Unwind_Resume_or_Rethrow",
	"Unwind_ForcedUnwind", "Unwind_Backtrace",
};

static bool among(struct str name, const char *const *set, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(name, set[i]))
			return true;
	return false;
}

const char *sym_astray(struct str name)
{
	while (name.n && name.s[0] == '_')
		name = str_from(name, 1);
	if (among(name, twice, countof(twice)))
		return "keeps its return address to go there again";
	/* The standard library's own, std::__throw_bad_alloc() and the like: _ZSt17__throw_ ... */
	if (among(name, throws, countof(throws)) ||
	    (str_starts(name, STR("ZSt")) && str_find(name, STR("__throw_")) >= 0))
		return "looks through the stack from its return address on";
	return NULL;
}
