/*
 * options.h - what a compilation and a run can be told, one struct per subject. All zeros are the
 * defaults. Texts and arrays that the structs point to belong to the caller, and outlive what is made
 * with them.
 */
#pragma once
#include "core/scope.h"
#include "core/sink.h"
#include "run/query.h"

enum { OPTION_LIST_MAX = 16 };

/* Which processes are traced. Nothing set: all. */
struct target_spec {
	int pid[SCOPE_MAX_PIDS];
	u32 npid;
	const char *cmd;     /* a command to run and to trace until it ends; or NULL */
	const char *as_user; /* whom cmd runs as; NULL: the user of this process */
	bool whole_machine;  /* everything is traced while cmd runs, not cmd alone */
	bool follow;         /* the children of pid and cmd, too */
	const char *cgroup[OPTION_LIST_MAX], *container[OPTION_LIST_MAX];
	u32 ncgroup, ncontainer;
	int dwarf_pid[OPTION_LIST_MAX]; /* their unwind tables are made before tracing */
	u32 ndwarf_pid;
};

/* The machine that is traced. */
struct machine_spec {
	const char *root;      /* folder of a recorded machine; NULL: this machine */
	const char *btf;       /* file with the kernel's types; NULL: the kernel's own */
	const char *vmlinux;   /* the kernel as an ELF file, for sizes of functions; or NULL */
	const char *traceable; /* file with the kernel functions that may be traced; or NULL */
	/* Folders of separate debug information; "debuginfod" stands for servers. */
	const char *debug_dir[OPTION_LIST_MAX];
	u32 ndebug_dir;
	const char *debug_servers;               /* addresses of these servers; or NULL */
	const char *no_feature[OPTION_LIST_MAX]; /* features to do without, "NAME,NAME" each */
	u32 nno_feature;
	char *(*env)(const char *name); /* getenv(); NULL: the environment is not read */
	bool no_children;               /* this process must not fork */
	struct query_spec recordings;   /* npath 0: events are this machine's */
};

/* How a script is compiled. */
struct compile_spec {
	const char *level;  /* "0.17": the meaning that scripts had in that version; or NULL */
	const char *filter; /* extended expression that names of probes match; or NULL */
	const char *inc_dir[OPTION_LIST_MAX], *inc_file[OPTION_LIST_MAX]; /* for #include */
	u32 ninc_dir, ninc_file;
	const char *inc_path;                     /* behind inc_dir: "DIR:DIR"; or NULL */
	const char *kernel_source, *kernel_build; /* trees of kernel headers; or NULL */
	u64 strings;                              /* bytes of a text; 0: as the script says */
	u32 warnings;     /* not 0: warn of operations that fail at run time */
	const char *deny; /* what the script must not use: sema/deny.h; or NULL */
	bool closed;      /* it reads no files of the machine but system headers */
	bool no_warn, unsafe, test, bench;
	bool check_ir;    /* after each pass */
	bool codes;       /* "[E_CODE]" before each message */
	bool show_source; /* messages about a built-in tool quote its script */
	bool timed;       /* every record carries its time, for answers of several hosts */
};

enum escape { ESCAPE_AUTO, ESCAPE_ALWAYS, ESCAPE_NEVER }; /* auto: on a terminal */

/* How results look. */
struct view {
	bool wide;    /* columns are not cut to the terminal */
	bool scroll;  /* a screen does not replace the one before */
	bool no_load; /* and has no time and load above it */
	bool quiet;   /* no message when everything is attached */
	char buffering;
	enum escape escape; /* control characters of what was traced */
};

/* Where results go. */
struct output_spec {
	const char *path;   /* NULL: standard output */
	const char *format; /* "json", "flame:width=900"; NULL: by the ending of path, or text */
	const char *diff;   /* for flame graphs: file to compare with; or NULL */
	bool append, as_invoker;
	bool by_process; /* a file for each process: PATH.PID */
	struct sink_bounds bounds;
};
