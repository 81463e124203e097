/*
 * words.h - tools whose probes are written from what the user types: funccount 'vfs_*'.
 *
 * tools/NAME.bt has such a tool's help, options and tables; its writer (tool/registry.c) adds the
 * probes, as text of the script language, so that `sonde -d script NAME ...` shows all that is run.
 * Each word is a source of words.diags: what is wrong in it has a place.
 */
#pragma once
#include "lang/compile.h"

struct word {
	struct str text;
	u16 src; /* index into diags.source */
};

struct words {
	struct arena *a;
	struct host *h;
	struct unit *u; /* what kinds of probes ask when they look for matches */
	struct diags *diags;
	const struct script_opt *opts; /* the tool's own options that were given, in order */
	u32 nopt;
	int pid; /* of -p: whose files are meant; 0: ours */
	const struct word *operand;
	u32 n;
	char **command; /* behind "--", ended by NULL; or NULL */
	u32 quiet;      /* how often -q was given */
	struct sb *out;
	const char *as_user;     /* the writer's: whom the command runs as; NULL: as we do */
	bool by_process;         /* the writer's: -o FILE is FILE.PID for each process */
	bool answers;            /* the writer's: nothing is traced, only told and over */
	struct str fields, sort; /* the writer's: for what --fields and --sort do not say */
	u64 events;              /* the same of --count */
};

struct writer {
	const char *tool;
	const char *operands;                        /* for the help: "PATTERN", "PROBE..." */
	bool (*write)(struct words *w);              /* false: it has reported why not */
	u32 max;                                     /* operands; 0: any number */
	bool events;                                 /* it writes emit() */
	char *(*spell)(struct arena *a, char *word); /* what an option means; or NULL */
};
const struct writer *writer_find(struct str tool); /* NULL: the tool's file is all of it */

/* The value that was given last to an option, or {NULL}. */
struct str words_opt(const struct words *w, const char *name);
bool words_flag(const struct words *w, const char *name);
bool words_fail(struct words *w, struct loc loc, const char *fmt, ...) PRINTF(3, 4); /* false */
/* macro mine(): the processes of the command or -p, and with --follow their children. */
void words_put_mine(struct words *w);
struct loc word_loc(const struct word *word, u32 pos, u32 len);
