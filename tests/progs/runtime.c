/* Fires the probes that interpreters and servers have: two functions called, one of them twice, a
 * collection of garbage, a query. */
#include "../../include/sonde/sdt.h"

static void call(const char *file, const char *name, int inner)
{
	SONDE_PROBE(python, function__entry, file, name, 7);
	if (inner)
		call(file, "inner", 0);
	SONDE_PROBE(python, function__return, file, name, 7);
}

int main(void)
{
	call("app.py", "outer", 1);
	call("app.py", "inner", 0);
	SONDE_PROBE(python, gc__start, 2);
	SONDE_PROBE(python, gc__done, 40L);
	SONDE_PROBE(mysql, query__start, "SELECT 1 /* a\tb */", 1L, "shop", "me", "here");
	SONDE_PROBE(mysql, query__done, 0);
	SONDE_PROBE(postgresql, query__start, "SELECT 2");
	SONDE_PROBE(postgresql, query__done, "SELECT 2");
	return 0;
}
