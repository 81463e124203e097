/*
 * declare.h - what is decided before anything has a type: the options and tables that a script's `options` and `table`
 * blocks declare, which of several ways to an event this machine has, and what a recording has of one.
 */
#pragma once
#include "source/rows.h"

struct column;
struct columns;
/* The pass: options are replaced by their values, tables laid out, probes chosen. False: there is no probe that could
 * go on. */
bool declare_script(struct compile *c);
/* The pass after types, when all getopt() are known: every option that was given must be one. */
bool declare_check_options(struct compile *c);
void declare_print_options(const struct compile *c,
			   struct sb *out); /* those that the script has, a line each */
/* Only compile.getopts, for whoever reads a command line. */
void declare_options(struct compile *c);
const struct getopt_use *declare_find(const struct compile *c, struct str name); /* or NULL */
struct str declare_text(const struct compile *c,
			const struct getopt_use *o); /* given, or the default */
/*
 * optpoint.c: a point's text with the values of the options in it. ## joins one to what stands beside it, and
 * of a list of words each makes a point: those of all but the first stand behind n.
 */
void declare_point(struct compile *c, struct node *n);
/* A value as text, against the option's kind. */
struct err *declare_value(const struct getopt_use *o, struct str text, u64 *ret);
bool option_is_text(const struct getopt_use *o); /* a disk, too */
bool option_is_list(const struct getopt_use *o);
bool option_is_time(struct str written);                         /* a number with a unit */
bool option_choice(const struct getopt_use *o, struct str text); /* is it one of them? */
/* Of a time of day, behind the second: s, ms, us, ns. */
bool option_clock(struct str text, u32 *digits);
/* A number, or its name in the option's table: ENOENT, KILL, SIGKILL. */
bool option_word(const struct getopt_use *o, struct str word, u64 *ret);
struct str option_disk(struct str text);                          /* "/dev/sda" is sda */
bool declare_names(const struct getopt_use *o, struct str given); /* one of its names */
/* exists.c: what of the kernel a text names is there; of several ways to an event the first. */
bool declare_exists(struct compile *c, struct str what);
bool declare_choose(struct compile *c); /* false: none of them is there */
struct columns *declare_find_table(const struct unit *u, struct str name);
/* TABLE.COLUMN is about that table alone. False: about another one. */
bool declare_is_about(const struct columns *t, struct str *field);
/* column.c: a word of a column; the last one that belongs to it. */
const struct node *declare_column_word(struct diags *ds, struct column *col, const struct node *w);
/* sort.c: another name of a column, for --sort, stands behind the word. */
bool sort_is_also(const struct node *word);
/* Words behind -e of a script with options that has no $1 are refused. */
void declare_check_params(struct compile *c);
/* The first of a list (--sort) that the table has, else what it says itself in words (or NULL). */
void sort_table(struct str list, struct columns *t, const struct node *table,
		const struct node *words);
bool sort_says(const struct node *table); /* by which column */
/* Does a column's name, or another name of it, begin so? */
bool sort_knows(const struct node *table, struct str by);
void sort_check(const struct compile *c); /* each of --sort is a column of some sorted table */
