/*
 * deny.h - what a script must not use: option --deny, which agents add to the scripts of others.
 *
 * compile.deny is a list of words with commas between them, each with or without ":GLOB" behind it:
 *	write		functions that change the system, run commands or write files
 *	probes		tools whose probes are written by who runs them (trace, argdist ...); the command line looks for it
 *	FUNCTION	a function or variable; with GLOB, if the text of an argument matches it
 *	KIND		probes of that kind; with GLOB, if what is behind the kind matches it
 * This is about what is written in a script, when macros and wildcards are expanded: a script can read the same memory in
 * other ways.
 */
#pragma once
#include "lang/compile.h"

struct builtin;
struct point;

/* Reports words that are none of these. */
void deny_check(struct compile *c);
/* n: the call, or the name. False: it is denied, which was reported. */
bool deny_call(struct compile *c, const struct node *n, const struct builtin *b);
void deny_probe(struct compile *c, const struct point *p, struct loc loc);
/* Is the word in the list, without a glob? list: NULL is allowed. */
bool deny_names(const char *list, const char *word);
