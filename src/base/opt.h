/*
 * opt.h - command line options from a table: parser, help text, completion.
 *
 * getopt_long rules: -x VAL, -xVAL, --name VAL, --name=VAL, flags may be
 * bundled, "--" ends the options, options and operands may be mixed.
 */
#pragma once
#include "base/err.h"

struct opt {
	const char *name; /* "verbose"; NULL: short only */
	char shrt;        /* 'v'; 0: long only */
	const char *arg;  /* "FILE", shown in help; NULL: a flag */
	const char *help;
	int id; /* given to set(); unique in the table */
};
/* Called for every option in order; val is NULL for flags. */
typedef struct err *opt_set(void *self, int id, const char *val);

/* As id of the table's end: operands are numbers, so "-5" is told to be neither. */
enum { OPT_NUMBERS = 1 };
/* Table ends with {0}. Operands are left in *rest (argv order; those after "--" start at *ndash).
 */
struct err *opt_parse(const struct opt *table, int argc, char **argv, opt_set *set, void *self,
		      char **rest, int *nrest, int *ndash);
/* Index of the first word that is neither an option nor an option's argument; argc: there is none.
 */
int opt_first_operand(const struct opt *table, int argc, char **argv);
/* A long option of the table by its whole name, with or without "=VALUE"; NULL: word is none. */
const struct opt *opt_named(const struct opt *table, const char *word);
void opt_help(const struct opt *table, FILE *f);
