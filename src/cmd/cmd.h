/* cmd.h - the command line: one file per command, the table in main.c. */
#pragma once
#include "core/cost.h"
#include "core/sink.h"
#include "lang/compile.h"
#include "sema/sema.h"

#define SONDE_VERSION  "0.1.0"
#define COMPAT_VERSION "0.27.1" /* of the bpftrace whose command line and language this follows */

/* Which source, and what made it a program of which machine: scripts/version.sh. */
extern const char sonde_commit[], sonde_build[];

/* RC_LACKS: what is asked for is not on this kernel; also a bad setting. */
enum { RC_OK = 0, RC_USAGE = 1, RC_LACKS = 2, RC_LOAD = 255 };

/* What -d prints; one bit each. */
enum dump {
	DUMP_AST = 1 << 0,
	DUMP_TYPES = 1 << 1,
	DUMP_PLAN = 1 << 2,
	DUMP_IR = 1 << 3,
	DUMP_REGS = 1 << 4,
	DUMP_BPF = 1 << 5,
	DUMP_ALL = (1 << 6) - 1,
	DUMP_SCRIPT = 1 << 6, /* of a tool: what runs, as text */
};

enum escape { ESCAPE_AUTO, ESCAPE_ALWAYS, ESCAPE_NEVER }; /* auto: on a terminal */

struct run_opts {
	bool compat; /* called as bpftrace */
	const char *program;
	const char *level; /* --compat */
	const char *aot;   /* FILE: write the compiled script */
	const char *filter, *traceable, *emit_elf, *emit_ir;
	const char *debug_dir[16];
	u32 ndebug_dir;
	const char *output, *format, *diff, *cmd, *root, *btf;
	const char *sets, *stacks; /* of record */
	const char *as_user;       /* whom cmd runs as; NULL: as we do */
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
	bool list, info, fmt, help, version, quiet, no_warn, unsafe, dry_run, codegen,
		compiler_bench, test, bench, follow, append, as_invoker, check_ir,
		by_process; /* -o FILE: FILE.PID */
	bool machine;       /* what runs is not what is traced: all is, while cmd runs */
	bool debug_log;     /* -d verifier: run, with the kernel's log */
	struct limits limits;
	char buffering;
	enum escape escape;
	bool wide, scroll, no_load; /* --wide, --noclear and --nosummary, of tools */
	bool bare;                  /* list: names without their kind */
	const struct script *tool;  /* the script is this one; NULL: program or rest[0] say */
	u64 given, given_record;    /* options that were; for opts_check() */
	struct sink_bounds bounds;  /* of record */
	const char *on[16];         /* of record: what writes a snapshot */
	u32 non;
	u64 strings; /* of record: bytes of a text; 0: as the script says */
	const char *recording[64], *from, *to; /* of query: files, and which part of them */
	u32 nrecording;
	int asked[64]; /* of query: rows of these processes */
	u32 nasked;
	char **rest; /* operands: FILE and the script's arguments */
	int nrest, ndash;
};

/* A script and what it is compiled against. */
struct script {
	struct source source;
	u32 fixed; /* bytes of it that a tool has by itself; 0: a script */
	struct str *params;
	u32 nparam;
	struct script_opt *opts;
	u32 nopt;
	u64 duration_ns;  /* see struct compile */
	struct str match; /* see struct config */
	u64 events;       /* the same */
	struct str fields, sort;
	u32 rows;
	bool utc;
	u32 clock;
	struct str percentiles;
	struct run_start start; /* of a tool */
};

/* One go at compiling; all memory is in its arenas. */
struct job {
	struct arena arena; /* the unit's */
	struct diags diags;
	struct unit unit;
	struct compile c;
};

typedef int command_run(int argc, char **argv, bool compat);
command_run cmd_run, cmd_list, cmd_check, cmd_tplist, cmd_info, cmd_help, cmd_tools, cmd_record,
	cmd_report, cmd_query, cmd_export, cmd_import;
int version(bool compat);                     /* info.c */
command_run *command_named(const char *name); /* NULL: none */
/* How a command is used, as "list [-v] [PATTERN]". NULL if the help does not show the command. */
const char *command_use(const char *name);
/* The command whose name is most like this one, for "did you mean". NULL if no name is like it. */
const char *command_near(struct str name);
void commands_help(FILE *f); /* how each is used */

/* opts.c */
struct err *opts_parse(struct run_opts *o, int argc, char **argv); /* free o->rest afterwards */
/* One option by its long name, as if it had been on the command line. */
struct err *opts_set(struct run_opts *o, const char *name, const char *val);
const struct opt *opts_named(const char *word); /* opt_named() */
int opts_first_operand(int argc, char **argv);  /* index; argc: there is none */
enum command { CMD_RUN, CMD_LIST, CMD_INFO, CMD_FMT, CMD_RECORD, CMD_QUERY };
/* An option was given that such a command, called name, has no use for. */
struct err *opts_check(const struct run_opts *o, enum command command, const char *name);
void opts_usage(FILE *f, enum command command, const char *use); /* the options that it takes */
void usage(FILE *f, bool compat, bool all);
int usage_error(bool compat, const char *fmt, ...) PRINTF(2, 3); /* says so; gives the exit code */

/* scope.c: child: of -c, 0: none, or it is not what is traced. */
struct err *scope_prepare(const struct run_opts *o, struct host *h, int child, struct scope *ret);

/* output.c */
struct output {
	const struct sink *sink;
	struct str opts[SINK_OPTIONS];
	const char *path; /* -o, or NULL for standard output */
	char *program;    /* what stands behind | of a tool's -o, instead; or NULL */
	int program_pid;
	char name[4096]; /* of the file that is open */
	int fd;          /* -1: none */
	bool parts;      /* files are made by the sink */
	bool append;     /* what is there stays */
	bool by_process; /* a file for each process */
	bool as_invoker; /* the file is the user's who called sudo: */
	u32 uid, gid;
};
struct err *output_choose(const struct run_opts *o, struct output *ret); /* by -f and -o */
struct err *output_open(struct output *out);
struct err *output_close(struct output *out, bool good);
/* split.c: a child that writes to PATH.PID what comes of each process; its exit code is an errno. */
struct err *split_start(const char *path, bool keep, int *pid, int *in);
void output_help(void); /* -f help: formats and their options */

/* bounds.c: values of --keep, --disk, --after and --quiet-for, --max-files; options that do not go together. */
struct err *bounds_keep(struct sink_bounds *b, const char *val);
struct err *bounds_disk(struct sink_bounds *b, const char *val);
struct err *bounds_time(const char *name, const char *val, u64 *ret);
struct err *bounds_files(struct sink_bounds *b, const char *val);
struct err *bounds_check(const struct run_opts *o);

/* run.c */
int run_command(const struct run_opts *o);
/* What is in it; "-": standard input. */
struct err *script_file(struct arena *a, const char *path, struct str *ret);
bool script_read(const struct run_opts *o, struct arena *a, struct script *s);
bool host_prepare(struct host *h, struct arena *a, const struct run_opts *o);
void job_init(struct job *j, const struct run_opts *o, const struct script *s, struct host *h);
void job_free(struct job *j);
void job_report(const struct job *j);
bool escaped(const struct run_opts *o, int fd); /* is what goes to fd to be made visible? */

/* compile.c */
enum stage { STAGE_PARSE, STAGE_EXPAND, STAGE_ALL };
enum { MAX_PASSES = 16 };
/* Of many runs of one pass. */
struct pass_cost {
	const char *name;
	u64 n, ns, least, most;
};
struct watch {
	const char *emit_ir;               /* --emit-llvm, or NULL */
	struct pass_cost cost[MAX_PASSES]; /* in the order of passes */
	struct err *e;                     /* files that could not be written */
};
/* False: there were errors, all in c->diags. Dumps go to standard output. w: what is to be noted on
 * the way, or NULL. */
bool compile(struct compile *c, enum stage until, u32 dumps, struct watch *w);

/* elf_write.c: --emit-elf */
struct err *object_write(const char *path, const struct unit *u) MUST_USE;

/* query.c: the machine of the recordings that o names; h is initialised also after an error */
struct err *query_machine(const struct run_opts *o, struct host *h, struct arena *a) MUST_USE;
struct err *query_refuses(const struct run_opts *o) MUST_USE; /* options that trace */
/* operand.c: the operand at argv[at] is a tool or a script; options stand before and behind it */
int run_operand(int at, int argc, char **argv);
/* The tool of that name, with the words behind argv[at]. *rc is its exit code. False: there is no such tool. */
bool run_tool_named(struct str name, int at, int argc, char **argv, int *rc);

/* list.c, facts.c */
int list(const struct run_opts *o);
int info(const struct run_opts *o);

/* child.c: work() in a child that has no rights, and only the files that are open; may: of kern/confine.h. work() returns
 * one of these, which becomes *rc. */
enum {
	CHILD_DONE,
	CHILD_DAMAGED,
	CHILD_FAILED
}; /* CHILD_DAMAGED: done, as far as the file could be read */
struct err *confined_child(int (*work)(void *arg), void *arg, u32 may, int *rc) MUST_USE;

/* aot.c */
struct aot {
	void *p; /* heap: a unit */
	size_t n;
	char release[64]; /* of the kernel that it was compiled for */
};
struct err *aot_write(const char *path, const struct unit *u, const struct diags *ds) MUST_USE;
bool aot_find(struct aot *ret); /* behind our own executable */
struct err *aot_load(const struct aot *f, struct unit *u, struct arena *a, struct diags *ds,
		     struct host *h) MUST_USE;     /* as unit_read() */
int run_aot(struct aot *f, int argc, char **argv); /* run.c */
