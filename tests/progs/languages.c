/*
 * Fires the probes of the interpreter whose name the program has: python3, ruby, php, perl, libtcl8.6, node, libjvm. A
 * function is called twice, with one collection of garbage, one new object and one thread, where it tells these.
 */
#include "../../include/sonde/sdt.h"
#include <string.h>

static void python(void)
{
	for (int i = 0; i < 2; i++) {
		SONDE_PROBE(python, function__entry, "app.py", "f", 7);
		SONDE_PROBE(python, function__return, "app.py", "f", 7);
	}
	SONDE_PROBE(python, gc__start, 2);
	SONDE_PROBE(python, gc__done, 40L);
}

static void ruby(void)
{
	for (int i = 0; i < 2; i++) {
		SONDE_PROBE(ruby, method__entry, "App", "f", "x.rb", 7);
		SONDE_PROBE(ruby, method__return, "App", "f", "x.rb", 7);
	}
	SONDE_PROBE(ruby, gc__mark__begin);
	SONDE_PROBE(ruby, gc__mark__end);
	SONDE_PROBE(ruby, object__create, "Point", "x.rb", 1);
}

static void php(void)
{
	for (int i = 0; i < 2; i++) {
		SONDE_PROBE(php, function__entry, "f", "x.php", 7, "App", "::");
		SONDE_PROBE(php, function__return, "f", "x.php", 7, "App", "::");
	}
}

static void perl(void)
{
	for (int i = 0; i < 2; i++) {
		SONDE_PROBE(perl, sub__entry, "f", "x.pl", 7, "main");
		SONDE_PROBE(perl, sub__return, "f", "x.pl", 7, "main");
	}
}

static void tcl(void)
{
	for (int i = 0; i < 2; i++) {
		SONDE_PROBE(tcl, proc__entry, "f", 0, 0);
		SONDE_PROBE(tcl, proc__return, "f", 0);
	}
	SONDE_PROBE(tcl, obj__create, 0);
}

static void node(void)
{
	SONDE_PROBE(node, gc__start, 1, 0);
	SONDE_PROBE(node, gc__done, 1, 0);
}

static void java(void)
{
	for (int i = 0; i < 2; i++) {
		SONDE_PROBE(hotspot, method__entry, 1L, "App", 3, "f", 1, "()V", 3);
		SONDE_PROBE(hotspot, method__return, 1L, "App", 3, "f", 1, "()V", 3);
	}
	SONDE_PROBE(hotspot, gc__begin, 0);
	SONDE_PROBE(hotspot, gc__end);
	SONDE_PROBE(hotspot, object__alloc, 1L, "Point and more", 5L, 24L);
	SONDE_PROBE(hotspot, thread__start, "worker", 6L, 2L, 4711L, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fire)(void);
	} languages[] = {
		{"python3", python}, {"ruby", ruby}, {"php", php},     {"perl", perl},
		{"libtcl8.6", tcl},  {"node", node}, {"libjvm", java},
	};
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];

	(void)argc;
	for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
		if (!strcmp(name, languages[i].name))
			languages[i].fire();
	return 0;
}
