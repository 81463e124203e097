/* option.c - the table of options. */
#include "cmd/option.h"
#include "core/sink.h"

/* As help: the names of the output formats, which are in the table of sinks. */
static const char FORMATS[] = "formats";

enum {
	RUN = 1 << CMD_RUN,
	LIST = 1 << CMD_LIST,
	INFO = 1 << CMD_INFO,
	FMT = 1 << CMD_FMT,
	RECORD = 1 << CMD_RECORD,
	QUERY = 1 << CMD_QUERY,
	LIVE = 1 << CMD_LIVE,
	REPORT = 1 << CMD_REPORT,
	EXPORT = 1 << CMD_EXPORT,
	IMPORT = 1 << CMD_IMPORT,
	SERVE = 1 << CMD_SERVE,
	MERGE = 1 << CMD_MERGE,
	FLEET = 1 << CMD_FLEET,
	TPLIST = 1 << CMD_TPLIST,
	TOOL = 1 << CMD_TOOL,
	SOME = 1 << CMD_SOME,
};

static const struct {
	struct opt opt;
	u32 commands;
} rows[] = {
#define O(id, name, letter, arg, commands, help) {{name, letter, arg, help, OPT_##id}, commands},
#define ALSO                                     O
#include "cmd/option.def"
#undef O
#undef ALSO
};

void options_of(u32 commands, struct option_table *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < countof(rows); i++)
		if (rows[i].commands & commands)
			ret->row[n++] = rows[i].opt;
	ret->row[n] = (struct opt){0};
}

bool option_accepted(enum option_id id, enum command c)
{
	for (size_t i = 0; i < countof(rows); i++)
		if (rows[i].opt.id == (int)id && rows[i].commands >> c & 1)
			return true;
	return false;
}

void options_help(const struct opt *table, FILE *f)
{
	AUTO_SB formats = {0};
	for (const struct sink *const *s = sinks; *s; s++)
		sb_fmt(&formats, "%s%s", s == sinks ? "print results as " : ", ", (*s)->name);
	sb_z(&formats, " (-f help)");
	fputs("\nOPTIONS:\n", f);
	for (const struct opt *o = table; o->id; o++) {
		struct opt one[2] = {*o};
		if (o->help == FORMATS)
			one[0].help = formats.s;
		opt_help(one, f);
	}
}
