/*
 * option.h - the options of all commands, by the table in option.def.
 *
 * A command asks for the rows that it accepts, parses its words with them (base/opt.h) and handles each id. An option
 * that several commands accept has one id in all of them.
 */
#pragma once
#include "base/opt.h"

/* Of histograms, if --percentiles has no value. */
#define PERCENTILES "p50,p90,p99,p99.9,max"
/* How fleet reaches a host by default. */
#define FLEET_VIA "ssh -o BatchMode=yes -o ConnectTimeout=5 -T {} sh"

enum command {
	CMD_RUN,
	CMD_LIST,
	CMD_INFO,
	CMD_FMT,
	CMD_RECORD,
	CMD_QUERY,
	CMD_LIVE,
	CMD_REPORT,
	CMD_EXPORT,
	CMD_IMPORT,
	CMD_SERVE,
	CMD_MERGE,
	CMD_FLEET,
	CMD_TPLIST,
	CMD_TOOL,
	CMD_SOME, /* a tool to which the option applies */
};

enum option_id {
	OPT_NONE,
#define O(id, ...) OPT_##id,
#define ALSO(...)
#include "cmd/option.def"
#undef O
#undef ALSO
	OPT_END,
};

enum {
	OPTION_ROWS = 0
#define O(...)    +1
#define ALSO(...) +1
#include "cmd/option.def"
#undef O
#undef ALSO
};

/* Room for the rows of a command and the end. */
struct option_table {
	struct opt row[OPTION_ROWS + 1];
};

/* A set of commands. */
static inline u32 in(enum command c)
{
	return 1u << c;
}
/* Fills the table with the rows that at least one of the commands accepts, in order, and the end. */
void options_of(u32 commands, struct option_table *ret);
/* Prints "OPTIONS:" and the help of these rows. */
void options_help(const struct opt *table, FILE *f);
bool option_accepted(enum option_id id, enum command c);
