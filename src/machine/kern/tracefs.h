/* tracefs.h - events, formats and traceable functions below /sys/kernel/tracing. */
#pragma once
#include "kern/host.h"

#define KALLSYMS "/proc/kallsyms"

/* Every "category:event" that matches both globs; cb false: stop. One directory is listed when
 * category has no glob. */
typedef bool event_cb(struct str category, struct str event, void *arg);
struct err *tracefs_events(struct host *h, struct str category, struct str event, event_cb *cb,
			   void *arg);
struct err *tracefs_format(struct host *h, struct str category, struct str event, struct str *text);
/* The id file alone: what perf_event_open wants. */
struct err *tracefs_id(struct host *h, struct str category, struct str event, u64 *id);
/* available_filter_functions (or kallsyms' text symbols where it is missing): function, module (""
 * for vmlinux). A glob without a dot does not mean parts of functions (name.part.0). */
typedef bool func_cb(struct str func, struct str module, void *arg);
struct err *tracefs_functions(struct host *h, struct str glob, func_cb *cb, void *arg);
/* Address of a kernel symbol, from /proc/kallsyms (slow: tens of ms); 0: none, or addresses are
 * hidden. */
u64 tracefs_symbol(struct host *h, struct str name);
/* Where the function ends that begins at addr: where the next symbol is. 0: not known. */
u64 tracefs_symbol_end(struct host *h, u64 addr);
/* Where functions are whose names begin with a text, sorted; n of them, max: no more are looked for. */
struct place_range {
	u64 from, size;
};
const struct place_range *tracefs_ranges(struct host *h, struct str begin, u32 max, u32 *n);
/* /proc/kallsyms has names, and 0 for each address: we may not know. */
bool tracefs_symbols_hidden(struct host *h);
/* Where the kernel itself (no module) has functions of that name, without those of its start that
 * are no longer there. The number may be above max. */
u32 tracefs_addresses(struct host *h, struct str name, u64 *addr, u32 max);
/* The same for many: sets .off of each; 0 also where several have the name. */
struct probe_place; /* kern/link.h */
void tracefs_symbols(struct host *h, struct probe_place *v, u32 n);
