/* registry.c - the list of tables of builtins. */
#include "builtin/common.h"

const struct builtin *const builtin_tables[] = {
	builtin_words,   builtin_vars,  builtin_task,    builtin_str,     builtin_mem,
	builtin_test,    builtin_opt,   builtin_print,   builtin_time,    builtin_ctl,
	builtin_map,     builtin_stack, builtin_agg,     builtin_buckets, builtin_bounds,
	builtin_tseries, builtin_names, builtin_script,  builtin_kernel,  builtin_user,
	builtin_sleeper, builtin_emit,  builtin_syscall, builtin_callid,  builtin_keep,
	builtin_path,    NULL,
};
