/* compile.h - a script on its way to becoming a unit. */
#pragma once
#include "base/tab.h"
#include "core/unit.h"
#include "lang/language.h"

struct mapuse;
struct variant;
struct cdefs;
struct cfile;
/* Where a script's C definitions may come from. */
struct headers {
	struct str script;       /* its path, "" for standard input */
	const char *const *dir;  /* -I */
	const char *const *file; /* --include */
	u32 ndir, nfile;
	struct str path;            /* behind -I: "DIR:DIR", as C compilers take it from CPATH */
	const char *source, *build; /* trees of kernel headers; NULL: none were named */
	bool closed;                /* only those of the system, and no imports of files */
};
/* An option of the script itself: --name or --name=value behind "--". */
struct script_opt {
	struct str name, value;
};
enum opt_kind {
	OPTION_FLAG,
	OPTION_CLOCK, /* a flag; =ms, =us, =ns say the digits of times of day, too */
	OPTION_INT,
	OPTION_TIME,
	OPTION_TEXT,
	OPTION_LIST,
	OPTION_PID,
	OPTION_PIDS,
	OPTION_CPUS,
	OPTION_PORTS,
	OPTION_WORDS,
	OPTION_FRACTION,
	OPTION_WORD, /* one of some */
	OPTION_NETWORKS,
	OPTION_USER,
	OPTION_DISK,
	OPTION_TERMINAL,
	OPTION_NETNS /* a network namespace, by its inode */
};
/* One that the script asks for with getopt(), or declares in a block of options. */
struct getopt_use {
	struct str name, text; /* text: the default, as a word */
	const struct type *type;
	struct str doc;
	/* Declared: */
	bool declared, common; /* common: a name alone, of an option that many tools have */
	enum opt_kind kind;
	bool is_signed, above0; /* numbers below 0, no time and number of 0 */
	bool accepted;          /* of other tools: it may be given, and has no effect */
	char letter;
	u32 operand; /* which operand is its value, too; 0: none */
	struct str placeholder;
	const struct node *also;    /* NAMEs: other names, letters */
	struct str words;           /* names for its numbers: a table of core/names.h */
	const struct node *choices; /* OPTION_WORD, OPTION_WORDS: what it may be */
	struct getopt_use *next;
};
struct compile {
	struct unit *unit;   /* what will be left */
	struct arena *arena; /* of the unit */
	struct diags *diags;
	struct host *host; /* what it is compiled for */
	struct node *tree; /* until lower */
	/* Probe bodies, one per set of points with equal types; set by sema. */
	struct variant **variant;
	u32 nvariant;
	/* Bodies of probes of which none is there, where they may be missing: for types of maps. */
	struct variant **skipped;
	u32 nskipped;
	struct fn **fn;        /* one per program, until emit */
	struct arena scratch;  /* emptied after the last pass */
	struct tab sigs;       /* signatures of rows by their text: source/rows.h */
	struct mapuse *mapuse; /* by map: sema/mapuse.h */
	u32 nmapuse;
	struct str *params; /* positional parameters $1.. */
	u32 nparam;
	struct script_opt *opts;
	u32 nopt;
	struct getopt_use *getopts; /* in order of the names' first use */
	bool help;                  /* --help was given: list them and leave */
	bool check_ir;              /* after each pass, not only after the last */
	bool timed;                 /* every record carries its time */
	u64 duration_ns;            /* end after so long; 0: no limit */
	struct str fields, sort;    /* of tables: the columns to show, the one to sort by */
	u32 rows;                   /* of sorted tables; 0: all */
	bool utc;                   /* see struct config, */
	u32 clock;                  /* the same */
	struct str percentiles;     /* of histograms in tables; or "" */
	struct headers headers;
	u64 lacking;          /* features of which it was told that they are not there */
	const char *filter;   /* extended expression that names of probes match; or NULL */
	const char *deny;     /* what must not be used: sema/deny.h; or NULL */
	struct cfile *cfiles; /* imported functions in C; cfiles_close() */
	struct cdefs *cdefs;  /* what the script's C definitions mean; NULL: there are none */
};
_Static_assert(FEAT_COUNT <= 64, "a bit of compile.lacking for each");

/* The language of the script itself. */
static inline const struct language *compile_language(const struct compile *c)
{
	return language_of(c->diags->source[0].name);
}
/* Sets c->tree; mistakes are in c->diags. */
static inline void compile_parse(struct compile *c)
{
	c->tree = compile_language(c)->parse(c->arena, c->diags, 0, NULL);
}
