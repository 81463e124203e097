/* cmd.h - the command line: one file per command, the table in main.c. */
#pragma once
#include "lang/compile.h"
#include "sema/sema.h"

#define SONDE_VERSION  "0.1.0"
#define COMPAT_VERSION "0.27.1" /* of the bpftrace whose command line and language this follows */

enum { RC_OK = 0, RC_USAGE = 1, RC_CONFIG = 2, RC_LOAD = 255 };

/* What -d prints; one bit each. */
enum dump {
	DUMP_AST = 1 << 0,
	DUMP_TYPES = 1 << 1,
	DUMP_PLAN = 1 << 2,
	DUMP_IR = 1 << 3,
	DUMP_REGS = 1 << 4,
	DUMP_BPF = 1 << 5,
	DUMP_ALL = (1 << 6) - 1,
};

struct run_opts {
	bool compat; /* called as bpftrace */
	const char *program;
	const char *level; /* --compat */
	const char *output, *format, *cmd, *root, *btf;
	const char *no_feature[16];
	u32 nno_feature;
	const char *inc_dir[16], *inc_file[16]; /* -I, --include */
	u32 ninc_dir, ninc_file;
	int pid[SCOPE_MAX_PIDS];
	u32 npid;
	const char *cgroup[16], *container[16];
	u32 ncgroup, ncontainer;
	int dwarf_pid[16];
	u32 ndwarf_pid;
	u32 verbose, dumps, warnings;
	bool list, info, fmt, help, version, quiet, no_warn, unsafe, dry_run, codegen, test, bench,
		follow;
	bool debug_log; /* -d verifier: run, with the kernel's log */
	char buffering;
	char **rest; /* operands: FILE and the script's arguments */
	int nrest, ndash;
};

/* A script and what it is compiled against. */
struct script {
	struct source source;
	struct str *params;
	u32 nparam;
	struct script_opt *opts;
	u32 nopt;
};

/* One go at compiling; all memory is in its arenas. */
struct job {
	struct arena arena; /* the unit's */
	struct diags diags;
	struct unit unit;
	struct compile c;
};

typedef int command_run(int argc, char **argv, bool compat);
command_run cmd_run, cmd_list, cmd_info, cmd_help;
int version(bool compat); /* info.c */

/* opts.c */
struct err *opts_parse(struct run_opts *o, int argc, char **argv); /* free o->rest afterwards */
void usage(FILE *f, bool compat, bool all);
int usage_error(bool compat, const char *fmt, ...) PRINTF(2, 3); /* says so; gives the exit code */

/* scope.c: child: of -c, 0: none. files_of: a process whose files are meant, or 0. */
struct err *scope_prepare(const struct run_opts *o, struct host *h, int child, struct scope *ret);

/* run.c */
bool script_read(const struct run_opts *o, struct arena *a, struct script *s);
int format_script(const struct run_opts *o); /* --fmt */
bool host_prepare(struct host *h, struct arena *a, const struct run_opts *o);
void job_init(struct job *j, const struct run_opts *o, const struct script *s, struct host *h);
void job_free(struct job *j);
void job_report(const struct job *j);

/* compile.c */
enum stage { STAGE_PARSE, STAGE_EXPAND, STAGE_ALL };
/* False: there were errors, all in the unit's diags. Dumps go to standard output. */
bool compile(struct compile *c, enum stage until, u32 dumps);

/* list.c, facts.c */
int list(const struct run_opts *o);
int info(const struct run_opts *o);
