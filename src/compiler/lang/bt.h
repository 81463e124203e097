/* bt.h - between the parts of bpftrace's language: expressions (bt_expr.c), declarations (bt_decl.c),
 * layout (fmt.c) and the rest (bt.c). Private to lang/. */
#pragma once
#include "lang/parse.h"

extern const struct language bpftrace_language;

struct node *bt_expr(struct parser *p);
struct node *bt_operand(struct parser *p);   /* everything but a conditional expression */
struct node *bt_condition(struct parser *p); /* of if, while, unroll */
/* What follows a first operand that began at "from". */
struct node *bt_expr_rest(struct parser *p, struct loc from, struct node *first);
struct node *bt_bool(struct parser *p);
struct node *bt_type(struct parser *p);
bool bt_is_tag(struct str s); /* struct, union, enum */
bool bt_is_lvalue(const struct node *n);
u32 bt_precedence(enum token t); /* how tightly a binary operator binds; 0: it is none */

/* A script in canonical layout. */
void bt_format(const struct node *tree, struct str text, const struct comment *list,
	       struct sb *out);

struct node *bt_block(struct parser *p, const char *after);
struct node *bt_if(struct parser *p);

/* options { ... }, table name { ... } */
bool bt_at_declaration(const struct parser *p);
struct node *bt_declaration(struct parser *p);
