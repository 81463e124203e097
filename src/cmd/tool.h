/* tool.h - the canned tools: scripts that are part of the binary, found by name. */
#pragma once
#include "base/opt.h"
#include "cmd/cmd.h"

/* What the first comment of a tool's script says. Lines "Subject: ..." and what follows "Examples:"
 * stand apart. */
struct tool {
	struct str name, file, text; /* file: as messages and imports name it */
	struct str summary, subject, about, examples;
	struct str preset; /* of an alias: the options that it stands for */
	bool alias;
};
/* From .text: "name: summary", "Subject: ...", paragraphs, "Examples:". */
void tool_read_comment(struct arena *a, struct tool *t);
const char *tool_near(struct arena *a, struct str name); /* "did you mean"; NULL: none is like it */
/* By name; "name.bt" is the same. Memory from a. */
bool tool_find(struct arena *a, struct str name, struct tool *ret);
/* toolfile.c: the script in the file argv[at], or text if it is not NULL, if that declares options; sonde's own stand
 * before it. */
bool tool_from_file(struct arena *a, int at, char **argv, const struct str *text, struct tool *ret);
/* Of every tool, in order of name; false ends it. */
typedef bool tool_cb(const struct tool *t, void *arg);
void tool_each(struct arena *a, tool_cb *cb, void *arg);

/* What takes the tool's operands; NULL: they are options of the script. */
const struct writer *tool_writer(const struct tool *t);

/* What a tool does with a command behind "--". */
enum tool_runs {
	TOOL_RUNS_NOTHING,    /* it looks at the machine once, and ends */
	TOOL_RUNS_ON_MACHINE, /* it traces the whole machine while the command runs */
	TOOL_RUNS_WATCHED,    /* it traces the command and its children */
	TOOL_RUNS_OPERANDS, /* the same, and the first operand begins the command without "--", too */
};
/* c: its script, when its options are known. */
enum tool_runs tool_runs(const struct tool *t, const struct compile *c);
/* The common option of that name, or NULL if the tool's script does not name it. */
const struct getopt_use *tool_names(const struct compile *c, const char *name);
/* Words of a command line as one text that is split like a shell's. */
const char *tool_command_text(struct arena *a, char **word, int n);
/* The program that a command runs, itself or by the first line of a script, if it is of the language that word begins
 * with ("python3"); else NULL. */
const char *tool_interpreter(struct arena *a, const char *command, struct str word);
/* Other tracers run what stands behind -c: the command in there, or NULL. */
const char *tool_command_behind(struct arena *a, int argc, char **argv);

/* A command line that was refused. argc 0: it was about sonde's own options. */
struct tool_words {
	const struct tool *tool;
	const struct opt *table;
	int argc;
	char **argv;
	/* The value or operand in argv that was refused, or NULL if it was something else. */
	const char *refused;
	enum tool_runs runs;
	struct arena *a;
};
/* --delimiter was given: say so where a time behind it may have been meant, or where it has no effect. */
void tool_warn_delimiter(const struct opt *table, int argc, char **argv, bool folded);
/* Prints the error, and a hint where one is near; frees it. Returns the exit status. */
int tool_bad_words(const struct tool_words *w, struct err *e);

/* head: sonde's own options, which stand before the tool's name, in argv[1..nhead); argv[0] of
 * the rest is that name. */
int tool_run(const struct tool *t, int nhead, char **head, int argc, char **argv,
	     struct live_chain *chain);
/*
 * For another host: are these words options of the tool? Their values may mean something there alone, and are not
 * looked at. Prints what is wrong, and returns the exit status.
 */
int tool_ask(const struct tool *t, int argc, char **argv);
/* c: its script, when its options are known. */
void tool_usage(const struct tool *t, const struct opt *options, const struct compile *c, FILE *f);
