/* noreturn.c - functions that a return probe would send astray, or their callers, by their names. */
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

/* Functions of the C library that call functions of their callers, which may throw exceptions through them. */
static const char *const calling[] = {
	"qsort",        "qsort_r",
	"bsearch",      "lfind",
	"lsearch",      "tsearch",
	"tfind",        "tdelete",
	"twalk",        "twalk_r",
	"tdestroy",     "ftw",
	"ftw64",        "nftw",
	"nftw64",       "glob",
	"glob64",       "scandir",
	"scandir64",    "scandirat",
	"scandirat64",  "dl_iterate_phdr",
	"pthread_once", "call_once",
	"argp_parse",   "fts_open",
	"fts_read",     NULL,
};

bool sym_calls_back(struct str name)
{
	while (name.n && name.s[0] == '_')
		name = str_from(name, 1);
	return str_among(name, calling);
}

const char *sym_noreturn(struct str name)
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
