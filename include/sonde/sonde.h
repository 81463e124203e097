/*
 * sonde/sonde.h - libsonde: compile scripts, trace with them, and receive what they find as values.
 *
 *	struct sonde *s;
 *	struct sonde_unit *unit;
 *	struct sonde_run *run;
 *	struct sonde_error *e = sonde_new(NULL, &s);
 *	if (!e)
 *		e = sonde_compile(s, text, strlen(text), NULL, &unit);
 *	if (!e)
 *		e = sonde_attach(unit, &run_opts, &run);
 *	if (!e) {
 *		while (sonde_poll(run, 1000))
 *			;
 *		sonde_stop(run);
 *	}
 *
 * There are three kinds of objects. A struct sonde knows a machine: its types, symbols and features, which
 * are read when they are needed. A struct sonde_unit is a script that was compiled for that machine. A
 * struct sonde_run is a unit that is attached. An object is freed after everything that was made with it:
 * runs, then units, then the struct sonde.
 *
 * Errors are values. A function that can fail returns a struct sonde_error, or NULL if it succeeded; its
 * results are written only then. The caller frees the error with sonde_error_free().
 *
 * Options are structs whose first member is their size: SONDE_OPTS(sonde_run_opts, o, .item = show) defines o
 * and sets it. Members that are not set are 0, which is always the default, and NULL in the place of
 * options means that all are defaults. A program that was built with an older header stays valid: members
 * are only added at the end.
 *
 * The library does nothing to the process as a whole unless an option says so: it receives no signals,
 * changes no priorities, gives up no rights, starts no other processes, reads no environment (except PATH,
 * when a program is named without a folder), and writes nothing to standard output or standard error. If memory
 * is exhausted, or if the library finds that it is itself wrong, it calls abort(). A mapped file of a
 * traced program that somebody cuts short while it is read causes SIGBUS; .children avoids that.
 *
 * A struct sonde and what was made with it are used by one thread at a time. Different ones are
 * independent of each other, and may be used by different threads at once. Callbacks are called only
 * within calls of this library, by the thread that calls.
 *
 * The language is that of sonde(1). Tracing needs the same rights as there.
 */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_API __attribute__((visibility("default")))

/* Defines NAME, a struct TYPE, with its size set: SONDE_OPTS(sonde_opts, o, .children = true); */
#define SONDE_OPTS(type, name, ...) struct type name = {.size = sizeof(struct type), __VA_ARGS__}

struct sonde;
struct sonde_unit;
struct sonde_run;

/* The version of the library, as "0.1.0". */
SONDE_API const char *sonde_version(void);

/* ---- errors ---- */

enum sonde_error_kind {
	SONDE_ERROR_OPTION = 1, /* an option has a value that is impossible here */
	SONDE_ERROR_SCRIPT,     /* the script is wrong: see .diagnostics */
	SONDE_ERROR_KERNEL,     /* the kernel refused a program: see .diagnostics */
	SONDE_ERROR_ATTACH,     /* a probe could not be attached */
	SONDE_ERROR_UNIT,       /* bytes that are no compiled script, or not for this machine */
	SONDE_ERROR_STATE,      /* the call does not fit the object's state */
};

/* One message about a script. Places count from 1; line is 0 if the message is about no place. */
struct sonde_diagnostic {
	bool warning;        /* it is a warning; else an error */
	const char *code;    /* its name, which stays the same when the text changes: "E_SYNTAX" */
	const char *message; /* one sentence */
	const char *hint;    /* what to do about it; or NULL */
	const char *source;  /* name of the text that the place is in: a file, or "stdin" */
	uint32_t line, column;
	uint32_t length; /* bytes that the message is about */
};

struct sonde_error {
	enum sonde_error_kind kind;
	int system; /* errno of the call that failed; 0 if none did */
	/* The whole error for a person: the messages with their places and the source lines. */
	const char *text;
	const struct sonde_diagnostic *diagnostics;
	size_t ndiagnostics;
};

/* NULL is allowed. */
SONDE_API void sonde_error_free(struct sonde_error *e);

/* ---- machines ---- */

struct sonde_opts {
	size_t size;
	/*
	 * Start child processes where they make tracing safer or cheaper: one without any rights reads files
	 * of traced programs, one removes return probes if this process is killed, one detaches slow
	 * probes. They end with sonde_free() at the latest.
	 */
	bool children;
	/* Read the environment variables that sonde(1) documents, as BPFTRACE_MAX_MAP_KEYS. */
	bool environment;
	const char *root; /* folder of a recorded machine to compile for, or NULL for this machine */
	const char *btf;  /* file with the kernel's types, or NULL to read those of the kernel */
	/*
	 * Read events from these recordings (paths of files that sonde record wrote) instead of tracing this machine. Only
	 * events from from_ns to to_ns after the first event are used; if to_ns is 0, until the end.
	 */
	const char *const *recordings;
	size_t nrecordings;
	uint64_t from_ns, to_ns;
	/*
	 * log() receives lines about loading and attaching: programs that the kernel verified, rights that were given up. If
	 * log_level is 0, it is not called. text ends with a newline.
	 */
	unsigned log_level;
	void (*log)(void *arg, const char *text);
	void *log_arg;
};

SONDE_API struct sonde_error *sonde_new(const struct sonde_opts *opts, struct sonde **ret);
/* NULL is allowed. */
SONDE_API void sonde_free(struct sonde *s);

/* ---- scripts ---- */

struct sonde_compile_opts {
	size_t size;
	const char *name; /* what messages call the text; "stdin" if this is NULL */
	/* Positional parameters, $1 and so on. */
	const char *const *params;
	size_t nparams;
	/* Options of the script, as "NAME=VALUE" or "NAME". */
	const char *const *options;
	size_t noptions;
	/* Trace these processes only. The run is over when all have ended. */
	const int *pids;
	size_t npids;
	bool follow; /* trace the children of pids and of command, too */
	/* Only processes in these control groups or below. */
	const char *const *cgroups;
	size_t ncgroups;
	/*
	 * A command to run; the run ends with it. As with -c of sonde(1), probes of the kernel also see other
	 * processes, unless .follow is set or the script compares pid with cpid. sonde_compile() starts its process, which waits until
	 * sonde_attach(); so such a unit is attached once. It is allowed without sonde_opts.children.
	 */
	const char *command;
	bool unsafe;      /* allow functions that change the system */
	bool no_warnings; /* no warnings about the script */
	bool warn_failed; /* report reads and map operations that fail while tracing */
};

/*
 * Compile the first n bytes of text, which is copied, as are the options. If the script is wrong, the
 * error has a diagnostic for each mistake.
 */
SONDE_API struct sonde_error *sonde_compile(struct sonde *s, const char *text, size_t n,
					    const struct sonde_compile_opts *opts,
					    struct sonde_unit **ret);
/* Warnings of the compiler. They are valid until the unit is attached or freed. */
SONDE_API const struct sonde_diagnostic *sonde_unit_warnings(struct sonde_unit *u, size_t *n);

/*
 * Write the compiled script: write() is called with consecutive parts, and returns 0, or an errno value
 * to give up. Such bytes need no compiler to be run; they are for machines with the same kernel, and for
 * the same version of the library. A unit with pids or a command cannot be written.
 */
typedef int sonde_write_fn(void *arg, const void *bytes, size_t n);
SONDE_API struct sonde_error *sonde_unit_write(struct sonde_unit *u, sonde_write_fn *write,
					       void *arg);
/* The unit that was written as these bytes, which are copied. They may be damaged, but whoever made them
 * decides which programs run. */
SONDE_API struct sonde_error *sonde_unit_read(struct sonde *s, const void *bytes, size_t n,
					      struct sonde_unit **ret);
/* NULL is allowed. */
SONDE_API void sonde_unit_free(struct sonde_unit *u);

/* ---- values ---- */

enum sonde_value_kind {
	SONDE_NONE,    /* not known */
	SONDE_BOOL,    /* .u: 0 or 1 */
	SONDE_INT,     /* .i */
	SONDE_UINT,    /* .u */
	SONDE_POINTER, /* .u */
	SONDE_FLOAT,   /* .f */
	SONDE_ENUM,    /* .i; .text is the enumerator's name, or "" */
	SONDE_STRING,  /* .text; .cut is set if it was truncated */
	SONDE_BYTES,   /* .text: any bytes */
	SONDE_NAMED,   /* .u, a number; .text is what it stands for: a symbol, an address, a time */
	SONDE_LIST,    /* .list of .n: a tuple or an array */
	SONDE_RECORD,  /* .list of .n, with .names */
	SONDE_STACK,   /* .frames of .n, the innermost first */
	SONDE_HISTOGRAM, /* .buckets of .n, from the first to the last that is not empty */
	SONDE_SERIES, /* .list of .n numbers, one per interval; .step is its length in nanoseconds */
};

/* What is not known of a frame is "" or 0. */
struct sonde_frame {
	uint64_t address;
	const char *symbol;
	uint64_t offset;      /* of address in the function */
	const char *module;   /* module of the kernel, or path of the program's file */
	const char *source;   /* file of the source code */
	const char *language; /* "python", for functions of an interpreter */
	uint32_t line;        /* in source */
	bool inlined;         /* the function was inlined into the next frame's */
};

/* Observations v with low <= v < high. An end without a limit has INT64_MIN or INT64_MAX. */
struct sonde_bucket {
	int64_t low, high;
	uint64_t count;
};

/* Texts end with a NUL, which text_size does not count. */
struct sonde_value {
	enum sonde_value_kind kind;
	bool cut;
	union {
		int64_t i;
		uint64_t u;
		double f;
	};
	const char *text;
	size_t text_size;
	size_t n;
	const struct sonde_value *list;
	const char *const *names;
	const struct sonde_frame *frames;
	const struct sonde_bucket *buckets;
	uint64_t step;
	const void *internal;
};

/*
 * The value as print() writes it. As snprintf(): at most size bytes are written, the last of them a NUL, and the
 * result is the length of the whole text. For values of the current callback only.
 */
SONDE_API size_t sonde_value_text(const struct sonde_value *v, char *buf, size_t size);

/* ---- items ---- */

enum sonde_item_kind {
	SONDE_ITEM_TEXT = 1, /* printf() and the like: .text; .name is the function, as "printf" */
	SONDE_ITEM_VALUE,    /* print() of a value: .values[0] */
	SONDE_ITEM_MAP, /* print() of a map, and each map at the end: .name, .nrows; sonde_item_row() */
	SONDE_ITEM_ROW,      /* a row of a table: .values of .columns; .name is the table */
	SONDE_ITEM_ATTACHED, /* everything is attached: .count probes; .text says so */
	SONDE_ITEM_MESSAGE, /* an error or a warning while tracing: .text, .warning, and its place */
	SONDE_ITEM_LOST, /* .count events or other things were lost; .name is the kind, .text a sentence */
	SONDE_ITEM_END, /* the run ends; maps that are printed at the end follow */
};

struct sonde_column {
	const char *name; /* "duration_ns" */
	/* Of its numbers: "ns", "bytes", "1/10000", "1/1000", "ns since start", "ns of day"; or "". */
	const char *unit;
};

/* Everything that an item points to is valid until the callback returns. */
struct sonde_item {
	size_t size; /* of the struct, as the library knows it */
	enum sonde_item_kind kind;
	const char *name;
	const char *text;
	size_t text_size;
	bool warning;
	const char *source; /* of a message: name of the text that its place is in; or NULL */
	uint32_t line, column;
	uint64_t count; /* UINT64_MAX if it is not known */
	const struct sonde_column *columns;
	const struct sonde_value *values;
	size_t nvalues;
	uint64_t nrows;
	void *internal;
};

/* Row i of a SONDE_ITEM_MAP, in the order in which sonde prints rows. *key is NULL for a map without key. The row
 * is valid until the next one is requested. */
SONDE_API void sonde_item_row(const struct sonde_item *it, uint64_t i,
			      const struct sonde_value **key, const struct sonde_value **value);

/* ---- runs ---- */

struct sonde_run_opts {
	size_t size;
	/* Receives what the script prints, in order. A result other than 0 ends the run. If it is NULL, output is dropped. */
	int (*item)(void *arg, const struct sonde_item *it);
	void *arg;
	uint64_t duration_ns; /* the run ends after this time; 0 means no limit */
	/* What may be done to the process as a whole: */
	bool signals; /* SIGINT, SIGTERM and SIGHUP end the run; SIGPIPE is ignored. They stay blocked until sonde_stop() */
	bool confine; /* give up capabilities and system calls that the script does not need, for good */
	bool priority; /* ask for a higher priority */
};

/*
 * Load and attach the unit, run its begin probes, and let its command run. If the kernel refuses a program, the
 * script is compiled again in other forms before that is an error. A unit has at most one run at a time.
 */
SONDE_API struct sonde_error *sonde_attach(struct sonde_unit *u, const struct sonde_run_opts *opts,
					   struct sonde_run **ret);
/*
 * Wait until there are events, for timeout_ms at most, and handle them: items come by the callback. Return false
 * when the run is over: by exit(), the end of its processes, its duration, a signal, the callback. Events
 * are stored in buffers of limited size, so call this at least ten times a second, or wait here.
 * A run over recordings reads all of them in the first call.
 */
SONDE_API bool sonde_poll(struct sonde_run *r, int timeout_ms);
/* A descriptor that becomes readable when sonde_poll(r, 0) has something to do, for a loop of the caller's own.
 * It belongs to the run. -1 if the system refused one. */
SONDE_API int sonde_fd(struct sonde_run *r);
/*
 * Call row() for each element of a map of the script, as "@bytes"; the order is that of print(). A result of
 * row() other than 0 ends the walk. key is NULL for a map without key.
 */
typedef int sonde_row_fn(void *arg, const struct sonde_value *key, const struct sonde_value *value);
SONDE_API struct sonde_error *sonde_map_each(struct sonde_run *r, const char *name,
					     sonde_row_fn *row, void *arg);
/*
 * Detach, run the end probes, print the maps, report what was lost, and free the run. Return the exit status:
 * that of exit(), else 0. NULL is allowed.
 */
SONDE_API int sonde_stop(struct sonde_run *r);

#ifdef __cplusplus
}
#endif
#endif
