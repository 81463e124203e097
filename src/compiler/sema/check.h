/*
 * check.h - inside sema: typing of expressions and statements.
 *
 * A type of NULL means "not known yet"; it occurs only in rounds before the final one. In the final
 * round everything has a type; what could not get one was reported and is type_error.
 */
#pragma once
#include "sema/sema.h"

const struct type *check_expr(struct sema *s, struct node *n); /* sets and returns n->type */
void check_cond(struct sema *s, struct node *n);
/* A probe's name as text in memory: (string[N])n. */
struct node *as_text(struct sema *s, struct node *n);
/* An "if comptime" becomes the branch that its condition takes. False: that is not known. */
bool check_comptime_if(struct sema *s, struct node *n);
void check_block(struct sema *s, struct node *block); /* with a scope of its own */
const struct type *check_call(struct sema *s,
			      struct node *n); /* CALL, or NAME of a builtin variable */
const struct type *check_name(struct sema *s, struct node *n);
/* Programs take all CPUs' copies of m's values, where there are several: can they here? */
void check_copies(struct sema *s, struct loc loc, const struct map *m, const char *doing);
/* n's value is kept, counted or shown: warn if that is the address of a text. */
void warn_address(struct sema *s, const struct node *n);
/* Type of a op b for operand types that are known; NULL with a report when they do not fit. */
const struct type *binary_type(struct sema *s, enum token op, const struct node *n,
			       const struct type *x, const struct type *y);

/* compare.c */
/* Can x and y be compared? Reports; of a comparison that has the same result always, too. */
bool check_compare(struct sema *s, enum token op, const struct node *n, const struct type *x,
		   const struct type *y);
void compare_mismatch(struct sema *s, const struct node *n, enum token op, const struct type *x,
		      const struct type *y);

/* typeinfo.c */
const struct type *check_typeinfo(struct sema *s, struct node *n);

/* call.c */
/* An enumerator of the script, the kernel or its headers. *t: the enum; NULL: a plain constant. */
bool known_enumerator(struct sema *s, struct str name, i64 *val, const struct type **t);

/* types.c */
const struct type *literal_type(u64 v, bool neg);
/* TYPE, TPTR, TARRAY; NULL: of a typeof() that is not known yet; reports; type_error. */
const struct type *type_of_node(struct sema *s, struct node *n);
const struct type *type_or_value(struct sema *s, struct node *n); /* of sizeof, typeof ... */
/* What reading a place of type t in that space gives: char arrays are strings, pointers inherit the
 * space. */
const struct type *value_type(struct sema *s, const struct type *t, enum space space, bool user);
const struct type *with_space(struct sema *s, const struct type *t, enum space space);
const struct type *stored_type(struct sema *s,
			       const struct type *t); /* as a variable's, map's or tuple's part */
bool same_type(const struct type *a, const struct type *b); /* type_eq, and flexible alike */

/* fn.c */
bool fn_exists(const struct compile *c, struct str name);
const struct type *check_fncall(struct sema *s, struct node *n);
const struct type *check_ccall(struct sema *s, struct node *n);
void fn_check_return(struct sema *s, struct node *n);

/* vars.c */
struct var *var_find(struct sema *s, const struct node *n); /* by name and mark */
struct var *var_declare(struct sema *s, struct node *n, struct loc loc);
void var_assign(struct sema *s, struct var *v, const struct type *t, const struct node *n);
void var_unknown(struct sema *s, const struct node *n); /* report: no such variable here */
/* In the last round a value that is an error has been reported: silence what follows from it. */
void var_spoil(const struct sema *s, struct var *v);
struct map *map_get(struct sema *s, struct node *n);                   /* by name; made when new */
void map_unknown(struct sema *s, const struct map *m, struct loc loc); /* report: never assigned */
void map_use_key(struct sema *s, struct map *m, struct node *at,
		 struct node *key); /* key NULL: scalar */
void map_assign(struct sema *s, struct map *m, const struct type *t, const struct node *n);
