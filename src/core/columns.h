/*
 * columns.h - tables that a script declares and prints: what the columns are called, and how their
 * values look as text. The compiler makes them, emit() and show() fill rows, outputs lay them out.
 */
#pragma once
#include "core/names.h"
#include "core/value.h"

enum column_unit {
	COL_PLAIN,
	COL_US, /* nanoseconds, shown in units of us, ms or s */
	COL_MS,
	COL_S,
	COL_SECONDS, /* nanoseconds, as seconds with six digits */
	COL_KB,      /* bytes, shown in units of 1024 */
	COL_MB,      /* the same, of 1024 * 1024 */
	COL_MEMINFO, /* what a line of /proc/meminfo says, by its name: bytes, shown as COL_MB */
	COL_PERCENT, /* parts of 10,000 */
	COL_MILLI,   /* parts of 1,000 */
	COL_ELAPSED, /* nsecs: seconds since tracing began */
	COL_CLOCK,   /* nsecs: time of day */
	COL_HEX,
	COL_OCT,
	COL_NAME,      /* a number that has a name: core/names.h */
	COL_SYSCALL,   /* its number */
	COL_USER,      /* its number */
	COL_DISK,      /* dev_t as the kernel has it: major << 20 | minor */
	COL_INTERFACE, /* its number */
	COL_CGROUP,    /* its id */
	COL_CONTAINER, /* the id of a control group in it */
	COL_STATUS,    /* as wait() gives it: 0, "code 3", "signal 9 (KILL)" */
	COL_ARGV,      /* bytes: words, each ended by NUL */
	COL_HIST,      /* a histogram below the row */
	COL_CALL,      /* a system call: rows of its beginning wait for its end */
	COL_FUNCTION,  /* a probe's text: its last part, */
	COL_DEMANGLED, /* as the source of C++ or Rust has it */
	COL_INDENT,    /* a number: what is behind it begins so much further right */
	COL_BELOW,     /* stands on lines of its own below the row: stacks */
	COL_MEMBERS,   /* a record in brackets behind the row, a line for each member */
};

struct column {
	struct str name, heading; /* "duration_ns", "LAT(ms)" */
	struct str is;            /* what all rows have; .s NULL: each its own */
	u32 width;                /* at least; 0: as wide as the value */
	bool right;               /* aligned */
	bool data;                /* in JSON and CSV only */
	bool text;                /* not in these */
	bool share;               /* show(): of the sum of all rows */
	bool bare;                /* percentages have no sign */
	bool quoted;              /* each word in double quotes */
	bool blank;               /* nothing for 0, and for what is not known */
	u32 index;                /* among all that are declared */
	u32 digits;               /* COL_CLOCK: behind the second */
	u32 part; /* show(): percentile_next()'s of a histogram, + 1; 0: the value */
	enum column_unit unit;
	const struct names *names; /* COL_NAME */
};

struct columns {
	struct str name; /* of the table */
	u32 n;           /* columns that are shown */
	struct column *col;
	u32 declared; /* columns, with those that are not shown */
	bool bare;    /* text has no heading, and nothing for what is not known */
	bool head;    /* of emit(): the heading is printed when everything is attached */
	bool ruled;   /* text has dashes below the heading, and above the row of sums */
	bool total;   /* show(): text has a last row with the sums of all */
	u32 sort;     /* 1 + the index of the column by which show() sorts; 0: none */
	bool ascending;
	u32 rows;      /* show() prints so many; 0: all */
	bool numbered; /* of reports that come again and again: JSON says which it is */
	u64 period_ns; /* of the probe that makes these; 0: not known */
	bool standing; /* they show all that is there, not what came since the one before */
	bool spaced;   /* in text a row's stacks follow it directly, and an empty line them */
	bool begun;    /* show() without maps begins a report of rows of emit() */
	bool top;      /* each show() is a screen: time and load, heading, rows */
};

/* A cell as text; "-" for one that is not known. Control bytes and what is not UTF-8 are escaped.
 */
void column_text(struct sb *out, const struct column *c, const struct value *v, struct str trailer);
/*
 * A COL_MEMBERS, of lines indented by so much: "(", "name = value," ..., ");". A record in it is a path: "a->b"; a
 * tuple is an address, what lies there, and a record of parts of that. What is 0 in C structures is left out.
 */
void members_text(struct sb *out, const struct value *v, u32 indent, struct str trailer);
/* The words of a COL_ARGV. */
bool column_next_word(struct str *rest, struct str *word);
/* There is nothing to say: not known, or the error of what did not fail. */
bool column_absent(const struct column *c, const struct value *v);
/* A row has more than its text. */
bool columns_have_data(const struct columns *t);
/* A column of the row itself in text, not below it. */
static inline bool column_in_line(const struct column *c)
{
	return c->unit != COL_BELOW && c->unit != COL_MEMBERS && c->unit != COL_HIST && !c->data;
}
