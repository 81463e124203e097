/* registry.c - every interpreted language whose functions are shown in stacks. */
#include "interp/common.h"

const struct interp *const interps[] = {&interp_python, &interp_ruby, &interp_php, &interp_perl,
					&interp_v8,     &interp_java, NULL};
