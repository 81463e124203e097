/* config.h - settings from the environment, the script's config block and options; see
 * reference 5.4. */
#pragma once
#include "base/str.h"

enum missing_probes { MISSING_ERROR, MISSING_WARN, MISSING_IGNORE };
struct config {
	u64 max_strlen, max_map_keys, max_probes, max_bpf_progs, max_cat_bytes, log_size,
		on_stack_limit;
	u64 kretprobe_maxactive; /* calls in progress that a kretprobe can follow at once */
	u64 max_followed;        /* processes that --follow keeps in mind at once */
	u64 perf_rb_pages;       /* of 4 KiB in the ring buffer; 0: chosen by memory size */
	bool cpp_demangle, lazy_symbolication, print_maps_on_exit, show_debug_info;
	enum missing_probes missing_probes;
	u8 stack_mode; /* enum stack_mode */
	struct str license, str_trunc_trailer;
	u8 cache_user_symbols;
	bool compat;      /* as it was in 0.17 */
	bool test, bench; /* only such probes run, and begin and end */
	bool unsafe, warnings /* -k */,
		plain /* no typed direct loads: second try after a refusal */;
};
/* Defaults; in sema/config.c. */
void config_init(struct config *c);
bool config_compat(struct config *c, struct str level); /* false: there is no such level */
