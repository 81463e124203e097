/* cmd.h - the command line: one file per command; the table of commands is in commands.c. */
#pragma once
#include "api/aot.h"
#include "api/job.h"
#include "api/output.h"
#include "api/version.h"
#include "cmd/option.h"
#include "sema/sema.h"

#define COMPAT_VERSION "0.27.1" /* of the bpftrace whose command line and language this follows */

/* Which source, and what made it a program of which machine: scripts/version.sh. */
extern const char sonde_commit[], sonde_build[];

/* RC_LACKS: what is asked for is not on this kernel; also a bad setting. */
enum { RC_OK = 0, RC_USAGE = 1, RC_LACKS = 2, RC_LOAD = 255 };

/* Of -d, beside those of api/compile.h: what runs, as text. */
enum { DUMP_SCRIPT = DUMP_ALL + 1 };

/* Options of `live`. 0 and NULL mean the default. */
/* Scripts that `live` shows at once, each with the words of its command line; they start one after the other, the
 * next one within the one before. */
struct live_words {
	int argc;
	char **argv;
};
struct launch;
struct live_chain {
	struct live_chain *outer;       /* the script before; NULL: it is the first */
	const struct live_words *words; /* of this and the next ones, nwords */
	u32 nwords;
	int exe;      /* the file of sonde, open; -1: not yet */
	char **again; /* the words of a script that runs alone, from "sonde" on; ended by NULL */
	bool page;    /* of the first: it has a page, which shows all */
	struct launch *launch; /* once it has attached */
	bool closed;           /* it has run, and its output is closed */
	int rc;                /* then */
};
struct live_spec {
	struct live_chain *chain; /* NULL: it runs alone */
	int takeover; /* told when all is attached: a sonde waits for that. 0: none does */
	bool on, ascii;
	bool web;               /* a page instead of the terminal */
	const char *addr;       /* of it; NULL or "": any */
	bool board;             /* sonde top: what was on the screen is not printed again */
	const char *board_file; /* of it; NULL: the built-in one */
	u64 every_ns, history_ns, memory;
	const char *view;
};

/* The command line. What concerns compilations and runs is in structs of api/options.h. */
struct run_opts {
	struct target_spec target;
	struct machine_spec machine;
	struct compile_spec compile;
	struct view view;
	struct limits limits;
	struct output_spec output;
	struct live_spec live;

	bool compat; /* called as bpftrace */
	const char *program;
	const char *aot; /* FILE: write the compiled script */
	const char *emit_elf, *emit_ir;
	const char *sets, *stacks; /* of record */
	u32 verbose, dumps;
	bool list, info, fmt, help, version, dry_run, codegen, compiler_bench;
	bool debug_log;            /* -d verifier: run, with the kernel's log */
	bool bare;                 /* list: names without their kind */
	const struct script *tool; /* the script is this one; NULL: program or rest[0] say */
	bool given[OPT_END];       /* by id: the option was given; for opts_check() */
	const char *span[16];      /* of record: pairs of probes */
	u32 nspan;
	const char *on[16]; /* of record: what writes a snapshot */
	u32 non;
	/* Of query: files, and which part of them. Of record, .to is the format that the recording is
	 * converted to, or NULL. */
	const char *recording[64], *from, *to;
	u32 nrecording;
	int asked[64]; /* of query: rows of these processes */
	u32 nasked;
	bool asked_follow; /* and of their children */
	const char *cpus;  /* of query: --cpu, only rows of these CPUs; NULL if it is not given */
	bool by_host, partial; /* of merge and fleet */
	const char *by_label;  /* with by_host: a label instead; or NULL */
	const char *label[16]; /* "KEY=VALUE,...": of this machine, in an answer */
	u32 nlabel;
	/* The next words are of somebody who may ask questions, and no more: no options of sonde, no commands, no files. */
	bool guest;
	/* Text of the script that the first operand names, or NULL: it is read from that file. */
	const struct str *text;
	char **rest; /* operands: FILE and the script's arguments */
	int nrest, ndash;
};

typedef int command_run(int argc, char **argv, bool compat);
command_run cmd_run, cmd_list, cmd_check, cmd_tplist, cmd_info, cmd_help, cmd_tools, cmd_record,
	cmd_report, cmd_query, cmd_export, cmd_import, cmd_merge, cmd_fleet, cmd_fleet_host,
	cmd_fleet_hub, cmd_serve, cmd_live, cmd_top;
int version(bool compat);                     /* info.c */
command_run *command_named(const char *name); /* NULL: none */
/* How a command is used, as "list [-v] [PATTERN]". NULL if the help does not show the command. */
const char *command_use(const char *name);
/* The command whose name is most like this one, for "did you mean". NULL if no name is like it. */
const char *command_near(struct str name);
void commands_help(FILE *f); /* a line for each */

/* opts.c */
struct err *opts_parse(struct run_opts *o, int argc, char **argv); /* free o->rest afterwards */
/* One option of the table, as opts_parse() takes it. */
struct err *opts_take(struct run_opts *o, enum option_id id, const char *val) MUST_USE;
/* One option by its long name, as if it had been on the command line. */
struct err *opts_set(struct run_opts *o, const char *name, const char *val);
/* The option whose whole name the word is, with or without "=VALUE". */
bool opts_named(const char *word, struct opt *ret);
/* -p: processes, with commas or spaces between them, each once, behind the *n that v has already. */
struct err *pids_parse(const char *val, u32 *v, u32 max, u32 *n) MUST_USE;
int opts_first_operand(int argc, char **argv); /* index; argc: there is none */
/* --at: a time of the wall clock, or so long after now; one of them is 0. */
struct start_time {
	u64 at_ns, after_ns;
};
struct err *take_start(const char *val, struct start_time *ret) MUST_USE;
struct err *take_budget(const char *val, u64 *ret); /* "2%", in millionths */
/* An option was given that such a command, called name, has no use for. */
struct err *opts_check(const struct run_opts *o, enum command command, const char *name);
void opts_usage(FILE *f, enum command command, const char *use); /* the options that it takes */
void usage(FILE *f, bool compat, bool all);
int usage_error(bool compat, const char *fmt, ...) PRINTF(2, 3); /* says so; gives the exit code */

/* output.c: the file or the program that results go to. */
struct output {
	struct output_choice choice;
	const char *path; /* -o, or NULL for standard output */
	char *program;    /* what stands behind | of a tool's -o, instead; or NULL */
	int program_pid;
	char name[4096]; /* of the file that is open */
	int fd;          /* -1: none */
	bool parts;      /* files are made by the sink */
	bool keep;       /* what is there stays */
	bool by_process; /* a file for each process */
	bool as_invoker; /* the file is the user's who called sudo: */
	u32 uid, gid;
};
struct err *output_prepare(const struct run_opts *o, struct output *ret); /* by -f and -o */
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
/* As cmd_run(). text: NULL, or the script that stands for the file rest[0]; chain: NULL, or what more runs. */
int cmd_run_in(const struct str *text, int argc, char **argv, struct live_chain *chain);
/* The script of -e or of the file rest[0]; reports what is wrong with its syntax. */
bool script_parses(const struct run_opts *o, struct arena *a, struct script *s, struct node **tree);
int run_command(const struct run_opts *o);
/* What is in it; "-": standard input. */
struct err *script_file(struct arena *a, const char *path, struct str *ret);
bool script_read(const struct run_opts *o, struct arena *a, struct script *s);
bool host_prepare(struct host *h, struct arena *a, const struct run_opts *o);
/* job_init() with what the command line and the environment say. */
void job_prepare(struct job *j, const struct run_opts *o, const struct script *s, struct host *h);
void job_report(const struct job *j);
bool escaped(const struct run_opts *o, int fd); /* is what goes to fd to be made visible? */

/* export.c, for record --to. The functions after export_check() take a format that it accepted. */
/* Returns an error if there is no such format, or if it cannot be written to output, which is NULL without -o. */
struct err *export_check(const char *format, const char *output) MUST_USE;
/* How the names of its files end; NULL for text, which goes to standard output by default. */
const char *export_ending(const char *format);
/* Whether the output is a file or a folder: neither standard output nor a device. */
bool export_names_file(const char *format, const char *output);
/* Converts the whole recording. *rc is set as by confined_child(). */
struct err *export_whole(const char *path, const char *format, const char *output, bool quiet,
			 int *rc) MUST_USE;

/* recordto.c: record --to FORMAT */
struct conversion {
	const char *format, *output; /* output NULL: standard output */
	const char *recording;       /* removed when it is converted */
	bool quiet;
	int pid, go; /* of the child that converts; written to when the recording is complete */
};
/* Before anything is attached, and rights are given up. o->output.path becomes that of the recording. */
struct err *conversion_start(struct conversion *c, struct arena *a, struct run_opts *o) MUST_USE;
/* Convert what there is after a run that returned rc; return the exit status of all. */
int conversion_finish(struct conversion *c, int rc);

/* live.c: values of options; the screen of a run */
struct err *live_takeover(struct live_spec *l, const char *val);
struct err *live_every(struct live_spec *l, const char *val);
struct err *live_history(struct live_spec *l, const char *val);
struct err *live_memory(struct live_spec *l, const char *val);
struct err *live_set_view(struct live_spec *l, const char *val);
#define BOARD_OF_TOP "tools/board/top.bt"
extern const char live_events[]; /* a script that counts what a recording has */
/* top: its options, and which script it is. */
struct err *live_board(struct run_opts *o) MUST_USE;
struct err *live_refuses(const struct run_opts *o) MUST_USE; /* options that have no effect */
struct front_spec;
struct front_part;
struct livepage;
struct live_screen {
	struct front_part *part; /* in the front, its own or that of the first script */
	int text_fd;             /* what the plain run writes; -1 if there is no screen */
	struct front *front;     /* while it is shown */
	struct livepage *page; /* where it is shown, if not on the terminal; of the first script */
	int saved[3];          /* standard streams, while they are redirected */
	u64 from;              /* bytes at its beginning that were not kept */
};
bool live_shows(const struct run_opts *o); /* a screen, or a page */
struct err *live_prepare(struct live_screen *s, const struct run_opts *o) MUST_USE;
void live_release(struct live_screen *s);
/* Around the start of the command of -c. */
void live_redirect(struct live_screen *s, const struct run_opts *o, bool on);
struct err *live_open(struct live_screen *s, const struct run_opts *o, struct arena *a,
		      struct front_spec *spec) MUST_USE;
void live_take_over(const struct live_spec *l); /* it has attached: tell the sonde that waits */
int live_next(struct live_chain *c);            /* run the words of c: live.c */
void live_forget(struct live_screen *s);        /* what the plain run wrote */
void live_leave(struct live_screen *s);         /* the terminal is as it was */
void live_print(struct live_screen *s, struct signals *signals,
		int fd); /* what the plain run wrote */

/* query.c: which recordings o names, and what of them is asked */
struct err *query_words(const struct run_opts *o, struct query_spec *s) MUST_USE;
struct err *query_refuses(const struct run_opts *o) MUST_USE; /* options that trace */
/* Copies the words; operands that are recordings, the first ones, become options. Returns how many there are. */
int take_recordings(struct arena *a, int argc, char **argv, char **word);
/* operand.c: words as on a command line, the first of which is the program's name */
int run_words(int argc, char **argv);
/* The operand at argv[at] is a tool or a script; options stand before and behind it. chain: NULL, or what more runs. */
int run_operand(int at, int argc, char **argv, struct live_chain *chain);
/* The same of a script that is not in the file argv[at]: text is its text. */
int run_text(const struct str *text, int at, int argc, char **argv);

/* list.c, facts.c */
int list(const struct run_opts *o);
int info(const struct run_opts *o);

/* child.c: work() in a child that has no rights, and only the files that are open; may: of rights/confine.h. work() returns
 * one of these, which becomes *rc. */
enum {
	CHILD_DONE,
	CHILD_DAMAGED,
	CHILD_FAILED
}; /* CHILD_DAMAGED: done, as far as the file could be read */
struct err *confined_child(int (*work)(void *arg), void *arg, u32 may, int *rc) MUST_USE;

int run_aot(struct aot *f, int argc, char **argv); /* run.c: frees f->p */
