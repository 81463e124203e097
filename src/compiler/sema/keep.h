/*
 * keep.h - keep(): its calls get the values that every row of a recording has, then the members that stand for args.
 */
#pragma once
#include "lang/compile.h"

void keep_begin(struct compile *c); /* before probes are expanded */
/* For node_walk() over a body of one point. */
struct keep_args {
	struct arena *a;
	const struct type *args; /* NULL if the probe has none */
};
bool keep_spell(struct node *n, void *keep_args);
/* expand.c: args.NAME, as text where it is text behind a tracepoint's event. */
struct node *args_member(struct arena *a, struct loc loc, const struct field *f);
