/* Bytes as choices of a grammar: any script of every construct compiles or is refused in words, for the recorded machine. */
#include "cmd/cmd.h"
#include "grammar.h"

/* What is known of the machine is kept for some inputs: reading its types takes longer than a script. */
static struct run_opts opts = {.machine.root = "build/host/6.1-x86_64",
			       .compile = {.check_ir = true, .no_warn = true, .unsafe = true}};
static struct arena arena;
static struct host host;

static void prepare(void)
{
	enum { INPUTS = 200 };
	static u32 n;
	if (n && n % INPUTS == 0) {
		host_deinit(&host);
		arena_free(&arena);
	}
	if (n++ % INPUTS == 0 && !host_prepare(&host, &arena, &opts))
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct job j;
	AUTO_SB text = {0};
	prepare();
	grammar_script(data, n, &text);
	struct script s = {.source = {STR("stdin"), sb_str(&text)}};
	job_init(&j, &opts.compile, &s, &host);
	bool good = compile_script(&j.c, STAGE_ALL, NULL);
	if (good != !j.diags.nerror)
		abort();
	job_free(&j);
	return 0;
}
