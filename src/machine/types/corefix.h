/*
 * corefix.h - CO-RE relocations of an object file: code that clang compiled for one layout of the
 * kernel's types is changed to this kernel's, by the names of members.
 *
 * What the kernel does not have is no error yet: the code may ask first whether it is there. An
 * instruction that uses it becomes one that the verifier refuses where it can be reached.
 */
#pragma once
#include "types/object.h"

/* kernel: BTF of the machine that will run it; NULL: an err if anything has to be changed. */
struct err *corefix(struct object *o, struct types *kernel);
