/*
 * driver SECTION... [quick]: runs sonde and other tracers in turn on the same loads and prints
 * markdown. Sections: start events throughput maps dd. bench/run.sh calls it.
 *
 * From the environment, each a command of one or several words, missing or empty: not measured:
 * SONDE, BPFTRACE, PLY, DTRACE, STRACE, PERF. BPFTRACE_RAW: words added to bpftrace's where it is
 * asked for rawtracepoint. LOAD, MINIMUM: the programs beside this one. TOOLS: where bpftrace's
 * package has its scripts. PROGRAMS: names of programs of the section "events". In a tracer's words
 * "chroot DIR" says how paths look to it.
 */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

static const struct section {
	const char *name;
	void (*run)(void);
} sections[] = {
	{"start", section_start}, {"events", section_events}, {"throughput", section_throughput},
	{"maps", section_maps},   {"dd", section_dd},
};
enum { NSECTION = sizeof(sections) / sizeof(sections[0]) };

static const struct section *section_named(const char *name)
{
	for (int i = 0; i < NSECTION; i++)
		if (!strcmp(name, sections[i].name))
			return &sections[i];
	return NULL;
}

static bool usage(int argc, char **argv)
{
	bool good = argc > 1 && getenv("LOAD") && getenv("SONDE") && getenv("TOOLS");

	for (int a = 1; a < argc; a++) {
		bool word = !strcmp(argv[a], "quick");
		quick |= word;
		good &= word || section_named(argv[a]);
	}
	if (!good)
		fprintf(stderr,
			"usage: driver start|events|throughput|maps|dd... [quick]; called by "
			"bench/run.sh\n");
	return good;
}

int main(int argc, char **argv)
{
	char text[4096];
	double begin = now_ms();

	if (!usage(argc, argv))
		return 2;
	body = tmpfile();
	if (!body || !bench_begin())
		return 1;
	for (int a = 1; a < argc; a++) {
		const struct section *s = section_named(argv[a]);
		if (!s)
			continue;
		fprintf(stderr, "%s, after %.0f s\n", argv[a], (now_ms() - begin) / 1000);
		s->run();
		notes_print();
	}
	bench_end();
	printf("The measurements took %.0f minutes.\n", (now_ms() - begin) / 60000);
	goals_print(stdout);
	rewind(body);
	for (size_t n; (n = fread(text, 1, sizeof(text), body)) > 0;)
		fwrite(text, 1, n, stdout);
	return 0;
}
