/*
 * typename.h - the types that a bare name has without any definition. sema_type_name() (sema/sema.h) also looks for
 * definitions: in the script, the probe's program and the kernel.
 */
#pragma once
#include "types/type.h"

/* A type of C that needs no definition: u32, unsigned long, size_t, double. NULL: there is none of that name. */
const struct type *plain_type(struct str name);
/* The same, and the language's own types: string, string[N], inet, ksym_t. a is used for those with a size. */
const struct type *own_type(struct arena *a, struct str name);
