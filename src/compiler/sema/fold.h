/* fold.h - inside sema: literals, and what operators make of them. */
#pragma once
#include "sema/sema.h"

bool is_lit(const struct node *n); /* NUM or BOOL */
__int128 lit_value(const struct node *n);
void set_literal(struct node *n, __int128 v);
/* It has a type of its own, as a cast's result: it does not adopt that of its neighbour. */
bool is_typed(const struct node *n);
void set_typed(struct node *n, u64 v, const struct type *t);
/* What op gives for integers of these types. */
const struct type *arith_type(enum token op, const struct type *x, const struct type *y);
/* True when n, whose operands are typed, became a literal, or an error (n->type says so). */
bool fold_binary(struct sema *s, struct node *n);
bool fold_sign(struct sema *s, struct node *n); /* unary - and ~ */
