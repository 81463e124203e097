/* kernel.c - deeper into the kernel: override write_user path socket_cookie percpu_kaddr
 * kfunc_exist. */
#include "builtin/common.h"
#include "sym/sym.h"
#include <linux/btf.h>

const struct builtin builtin_kernel[] = {
	{0},
};
