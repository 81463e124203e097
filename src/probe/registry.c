/* registry.c - every kind of probe. */
#include "core/provider.h"

extern const struct provider provider_begin, provider_end, provider_self, provider_kprobe,
	provider_kretprobe, provider_uprobe, provider_uretprobe, provider_usdt, provider_tracepoint,
	provider_rawtp, provider_fentry, provider_fexit, provider_profile, provider_interval,
	provider_software, provider_hardware, provider_watchpoint, provider_iter, provider_test,
	provider_bench;

const struct provider *const providers[] = {
	&provider_begin,      &provider_end,        &provider_self,
	&provider_test,       &provider_bench,      &provider_iter,
	&provider_hardware,   &provider_interval,   &provider_fentry,
	&provider_fexit,      &provider_kprobe,     &provider_kretprobe,
	&provider_profile,    &provider_rawtp,      &provider_software,
	&provider_tracepoint, &provider_uprobe,     &provider_uretprobe,
	&provider_usdt,       &provider_watchpoint, NULL,
};

const struct provider *provider_find(struct str name)
{
	for (u32 i = 0; providers[i]; i++)
		if (str_eq_nocase(name, str_z(providers[i]->name)))
			return providers[i];
	if (name.n == 1 &&
	    (name.s[0] == 'U' || name.s[0] == 'u')) /* the one pair that differs in case */
		return name.s[0] == 'U' ? &provider_usdt : &provider_uprobe;
	for (u32 i = 0; providers[i]; i++)
		for (u32 k = 0; k < countof(providers[i]->alias); k++)
			if (providers[i]->alias[k] &&
			    str_eq_nocase(name, str_z(providers[i]->alias[k])))
				return providers[i];
	return NULL;
}
