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
/* toolfile.c: the script in the file argv[at], if that declares options; sonde's own stand before it. */
bool tool_from_file(struct arena *a, int at, char **argv, struct tool *ret);
/* Of every tool, in order of name; false ends it. */
typedef bool tool_cb(const struct tool *t, void *arg);
void tool_each(struct arena *a, tool_cb *cb, void *arg);

/* What takes the tool's operands; NULL: they are options of the script. */
const struct writer *tool_writer(const struct tool *t);

/* head: sonde's own options, which stand before the tool's name, in argv[1..nhead); argv[0] of
 * the rest is that name. */
int tool_run(const struct tool *t, int nhead, char **head, int argc, char **argv);
/* c: its script, when its options are known. */
void tool_usage(const struct tool *t, const struct opt *options, const struct compile *c, FILE *f);
