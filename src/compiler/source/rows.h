/*
 * rows.h - the rows of builtins (core/builtin.h) by name, and what their signatures say: "void print(any x, [int top])".
 * The passes before types know a function or a variable of the language by its row, never by its name.
 */
#pragma once
#include "core/builtin.h"
#include "lang/compile.h"

enum sig_kind {
	SIG_INT,
	SIG_STR,
	SIG_PTR,
	SIG_ANY,
	SIG_NUM,
	SIG_LIT,
	SIG_TEXT,
	SIG_MAP,
	SIG_FMT,
	SIG_TYPE,
	SIG_NAME,
	SIG_SHOW
};
struct sig {
	struct str name, result;
	const struct type *type; /* of the result; NULL: "auto" */
	bool var, dots;
	u32 nmin, nmax; /* without dots */
	u32 most;       /* with them */
	enum sig_kind kind[8];
	struct str arg[8];
};
/* Parsed at first use and kept in c->sigs. */
const struct sig *builtin_sig(struct compile *c, const struct builtin *b);
/* Row by name that takes n arguments, or any of that name (*arity false). NULL: no such name. */
const struct builtin *builtin_find(struct compile *c, struct str name, u32 n, bool *arity);
/* By name alone; of several rows the first. NULL: none. */
const struct builtin *builtin_named(struct str name);
bool builtin_is_named(const struct builtin *b, struct str name);
struct str builtin_name(const struct builtin *b); /* as its signature says it: argN */
u32 builtin_asks(struct str name);                /* of all of that name */
/* Of a name or call, also before anything has a type. */
enum builtin_role builtin_role(const struct node *n);
bool builtin_is_args(const struct node *n);
bool builtin_is_own(struct str name);     /* B_OWN */
struct str builtin_near(struct str name); /* for "did you mean" */
/* The row for a call or variable node: the first whose arity and map arguments fit. */
const struct builtin *builtin_pick(struct compile *c, struct str name, const struct node *call,
				   bool *arity);
/* Of a call's arguments, how many keep_begin() (sema/keep.h) put before those that are written. */
u32 call_nadded(const struct node *call);
