/* Any text as what is typed for the tools that write their probes. */
#include "kern/host.h"
#include "tool/words.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static const char *const tools[] = {"trace",       "kprobe",     "uprobe",    "funccount",
					    "funclatency", "funcslower", "stackcount"};
	if (!n || n > 4096)
		return 0;
	struct arena a = {0};
	struct host h;
	struct unit u = {0};
	struct source *src = arena_newn(&a, struct source, 1);
	AUTO_SB out = {0};
	struct str text = arena_str(&a, str_n((const char *)data + 1, n - 1));
	*src = (struct source){STR("fuzz"), text};
	struct diags ds = {.arena = &a, .source = src, .nsource = 1};
	struct script_opt opts[] = {{STR("frequency"), text}, {STR("histogram"), text}};
	struct word word[] = {{text, 0}, {text, 0}};
	host_init(&h, &a, "/nonexistent");
	struct words w = {.a = &a,
			  .h = &h,
			  .u = &u,
			  .diags = &ds,
			  .pid = 1,
			  .operand = word,
			  .n = 1 + (data[0] & 1),
			  .out = &out};
	u32 tool = (data[0] >> 1) % (countof(tools) + 1);
	if (tool == countof(tools)) {
		w.opts = opts;
		w.nopt = countof(opts);
	}
	writer_find(tool < countof(tools) ? str_z(tools[tool]) : STR("argdist"))->write(&w);
	host_deinit(&h);
	arena_free(&a);
	return 0;
}
