/* ast.h - the tree that every parser builds. Node kinds and their children: ast.def. */
#pragma once
#include "base/diag.h"
#include "types/type.h"

enum token {
#define X(id, text) TK_##id,
#define K(id, text) TK_##id,
#define P(id, text) TK_##id,
#include "lang/tokens.def"
};
const char *token_text(enum token t);

enum node_kind {
#define N(kind, name, kids) N_##kind,
#include "lang/ast.def"
};
enum {
	NODE_KINDS =
#define N(kind, name, kids) +1
#include "lang/ast.def"
};

enum node_flags {
	NF_VALUE = 1 << 0,
	NF_COMPTIME = 1 << 1,
	NF_NEG = 1 << 2,
	NF_MULTIKEY = 1 << 3,
	NF_POST = 1 << 4,
	NF_STRUCT = 1 << 5,
	NF_UNION = 1 << 6,
	NF_ENUM = 1 << 7,
	NF_NOSIZE = 1 << 8,
	NF_ARROW = 1 << 9,   /* MEMBER written with -> */
	NF_PAREN = 1 << 10,  /* expression stood in parentheses */
	NF_SEMA = 1 << 11,   /* first of sema's own flags */
	NF_CALLED = 1 << 12, /* WHILE, UNROLL: its body becomes a function that the kernel calls */
	NF_USED = 1 << 14,   /* EXPR: the value of a block that is used as one */
	NF_NAMED = NF_USED,  /* POINT: named by one of a list of words that was given */
	NF_ELSE = 1 << 13,   /* PROBE, POINT: only if none of those before it is there */
	NF_GIVEN = 1 << 15,  /* POINT: an option that was given, not its default, is in it */
	NF_GIVEN_NAME = NF_ARROW, /* POINT: such an option is its last part: the function's name */
};

struct node {
	enum node_kind kind : 8;
	enum token op : 8; /* of a unary, binary or assignment */
	u16 flags;
	struct loc loc;
	u32 mark; /* of a variable's name: the macro expansion that it belongs to; 0: none */
	struct node *next;      /* next statement, argument, key, field or probe */
	struct node *a, *b, *c; /* children; which are used is in ast.def */
	struct str name;        /* identifier, member, string or probe text */
	u64 num;
	const struct type *type; /* set by sema, never by the parser */
	union {                  /* what a name means; set by sema */
		struct var *var;
		struct map *map;
		const struct field *field;
		const struct builtin *fn;
		struct point *point;
		void *any;
	};
};

struct node *node_new(struct arena *a, enum node_kind kind, struct loc loc);
/* Deep copy; sema's fields (type, union) are copied as they are. next of the root is not followed.
 */
struct node *node_clone(struct arena *a, const struct node *n);
/* Calls cb for n and everything below it, parents first; false: do not go below. next of the root
 * is not followed. */
typedef bool node_cb(struct node *n, void *arg);
void node_walk(struct node *n, node_cb *cb, void *arg);
/* Same shape, names and numbers; places and types do not count. Lists are followed. */
bool node_eq(const struct node *a, const struct node *b);
/*
 * One line per node, two spaces per level: KIND 'op' name num @LINE:COL[-COL] : type, each when set.
 *	probe @1:1-31
 *	  point "kprobe:f" @1:1-9
 *	  block @1:10-31
 */
void node_dump(const struct node *n, const struct diags *places, struct sb *out);
/* Which of a clause's own words n is: index of the row that begins with it; -1: none. */
i32 node_word_in(const struct node *n, const void *rows, size_t size, size_t count);
#define node_word(n, rows) node_word_in(n, rows, sizeof(*(rows)), countof(rows))
/* An expression in its canonical layout, as the formatter prints it: fmt.c. */
void node_text(const struct node *n, struct sb *out);
u32 node_count(const struct node *list); /* length of a next-chain */
/* The i-th argument of a call; NULL past the end. */
struct node *call_arg(const struct node *call, u32 i);
u32 call_nargs(const struct node *call);
bool node_int(const struct node *n, i64 *ret);        /* an integer (or bool) literal */
bool node_str(const struct node *n, struct str *ret); /* a string literal */
bool is_type_node(const struct node *n);              /* a type, as it is written */
