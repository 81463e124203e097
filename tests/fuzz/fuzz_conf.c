/* Any text as the configuration of an agent. */
#include "agent/conf.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct conf c;
	struct err *e = conf_parse(&c, "fleet.conf", str_n((const char *)data, n));
	if (!e && (!c.url || !c.max_running || !c.max_ns || !c.max_cpu))
		abort();
	for (u32 i = 1; !e && i < c.label.n; i++)
		if (str_order(&c.label.v[i - 1], &c.label.v[i]) >= 0)
			abort();
	err_free(e);
	conf_free(&c);
	return 0;
}
