/* test.c - questions about types, answered when the script is compiled: is_ptr, is_str ... */
#include "builtin/common.h"

/* The answer, once the argument has a type. */
static const struct type *answer(struct node *call, bool yes)
{
	if (call_arg(call, 0)->type)
		node_set_num(call, yes, &type_bool);
	return &type_bool;
}

static const struct type *arg_type(struct node *call)
{
	const struct type *t = call_arg(call, 0)->type;

	return t ? t : &type_none;
}

static const struct type *type_is_array(struct sema *s, struct node *call)
{
	(void)s;
	return answer(call, arg_type(call)->kind == T_ARRAY);
}

static const struct type *type_is_integer(struct sema *s, struct node *call)
{
	(void)s;
	return answer(call, type_is_int(arg_type(call)));
}

static const struct type *type_is_unsigned(struct sema *s, struct node *call)
{
	(void)s;
	return answer(call, type_is_int(arg_type(call)) && !arg_type(call)->is_signed);
}

static const struct type *type_is_ptr(struct sema *s, struct node *call)
{
	(void)s;
	return answer(call, arg_type(call)->kind == T_PTR);
}

static const struct type *type_is_str(struct sema *s, struct node *call)
{
	(void)s;
	return answer(call, arg_type(call)->kind == T_STRING);
}

static const struct type *type_is_literal(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 0);
	struct str text;
	i64 num;

	(void)s;
	return answer(call, node_int(n, &num) || node_str(n, &text));
}

const struct builtin builtin_test[] = {
	{"auto is_array(any e)", .flags = B_CONST, .type = type_is_array, .doc = "Is e an array?"},
	{"auto is_integer(any e)", .flags = B_CONST, .type = type_is_integer,
	 .doc = "Is e an integer?"},
	{"auto is_unsigned_integer(any e)", .flags = B_CONST, .type = type_is_unsigned,
	 .doc = "True if e is an unsigned integer."},
	{"auto is_ptr(any e)", .flags = B_CONST, .type = type_is_ptr, .doc = "Is e a pointer?"},
	{"auto is_str(any e)", .flags = B_CONST, .type = type_is_str, .doc = "Is e a string?"},
	{"auto is_literal(any e)", .flags = B_CONST, .type = type_is_literal,
	 .doc = "True if e is an integer, bool or string literal."},
	{0},
};
