/*
 * typename.h - what a bare name means where a type may be written. Types that a probe's program defines are not known
 * here: sema_type_name() (sema/sema.h) asks for those, too.
 */
#pragma once
#include "lang/compile.h"

/* A type of C that needs no definition: u32, unsigned long, size_t, double. NULL: there is none of that name. */
const struct type *plain_type(struct str name);
/* The same, and the language's own types: string, string[N], inet, ksym_t. a is used for those with a size. */
const struct type *own_type(struct arena *a, struct str name);
/* The name is one of these, or has a definition in the script's C, the kernel or one of its modules. */
bool is_type_name(const struct compile *c, struct str name);
