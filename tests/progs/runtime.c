/* Fires the probes that interpreters and servers have: two functions called, one of them twice, objects made, a
 * collection of garbage, a query. With an argument when there is something to read. */
#include "../../include/sonde/sdt.h"
#include <stdio.h>

static void call(const char *file, const char *name, int inner)
{
	SONDE_PROBE(python, function__entry, file, name, 7);
	if (inner)
		call(file, "inner", 0);
	SONDE_PROBE(python, function__return, file, name, 7);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) /* not yet */
		getchar();
	call("app.py", "outer", 1);
	call("app.py", "inner", 0);
	SONDE_PROBE(python, gc__start, 2);
	SONDE_PROBE(python, gc__done, 40L);
	SONDE_PROBE(ruby, object__create, "Point", "x.rb", 1);
	SONDE_PROBE(ruby, object__create, "Point", "x.rb", 2);
	SONDE_PROBE(ruby, array__create, 7L, "x.rb", 3);
	SONDE_PROBE(ruby, raise, "Error", "x.rb", 4);
	SONDE_PROBE(hotspot, thread__start, "worker two", 6L, 2L, 4711L, 0);
	SONDE_PROBE(mysql, query__start, "SELECT 1 /* a\tb */", 1L, "shop", "me", "here");
	SONDE_PROBE(mysql, query__done, 0);
	SONDE_PROBE(postgresql, query__start, "SELECT 2");
	SONDE_PROBE(postgresql, query__done, "SELECT 2");
	return 0;
}
