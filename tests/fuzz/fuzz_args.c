/* Any words, ended by NULs, as a command line and as settings of a script. */
#include "base/units.h"
#include "cmd/cmd.h"
#include "core/config.h"
#include <stdlib.h>

enum { MAX_WORDS = 64 };

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct arena a = {0};
	char *argv[MAX_WORDS + 1] = {"sonde"};
	int argc = 1;
	struct config c;
	struct run_opts o = {.compat = n & 1};
	char *text = arena_strz(&a, str_n((const char *)data, n));
	for (size_t at = 0; at < n && argc < MAX_WORDS; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	struct err *e = opts_parse(&o, argc, argv);
	for (u32 i = 0; !e && i <= CMD_FMT; i++)
		err_free(opts_check(&o, i, "fuzz"));
	if (!e &&
	    (o.nrest < 0 || o.nrest >= argc || o.ndash > o.nrest || o.target.npid > SCOPE_MAX_PIDS))
		abort();
	err_free(e);
	free(o.rest);
	if (opts_first_operand(argc, argv) > argc)
		abort();
	config_init(&c);
	for (int i = 1; i < argc; i++)
		for (const struct setting *s = settings; s->name; s++) {
			const char *why = NULL;
			u64 ns;
			if (!setting_set(&c, s, str_z(argv[i]), &a, &why) && !why)
				abort();
			units_ns(str_z(argv[i]), &ns);
			config_compat(&c, str_z(argv[i]));
		}
	arena_free(&a);
	return 0;
}
