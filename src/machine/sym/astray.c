/* astray.c - functions that a return probe would send astray, by their names. */
#include "sym/sym.h"

/* Without underscores before. */
static const char *const twice[] = {"setjmp",     "sigsetjmp",   "savectx",
				    "getcontext", "swapcontext", NULL};
static const char *const throws[] = {
	"cxa_throw",
	"cxa_rethrow",
	"pthread_exit",
	"pthread_unwind",
	"pthread_unwind_next",
	"Unwind_RaiseException",
	"Unwind_Resume",
	"Unwind_Resume_or_Rethrow",
	"Unwind_ForcedUnwind",
	"Unwind_Backtrace",
	NULL,
};

const char *sym_astray(struct str name)
{
	while (name.n && name.s[0] == '_')
		name = str_from(name, 1);
	if (str_among(name, twice))
		return "keeps its return address to go there again";
	/* The standard library's own, std::__throw_bad_alloc() and the like: _ZSt17__throw_ ... */
	if (str_among(name, throws) ||
	    (str_starts(name, STR("ZSt")) && str_find(name, STR("__throw_")) >= 0))
		return "looks through the stack from its return address on";
	return NULL;
}
