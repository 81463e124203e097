/*
 * columns.h - tables that a script declares and prints: what the columns are called, and how their
 * values look as text. The compiler makes them, emit() and show() fill rows, outputs lay them out.
 */
#pragma once
#include "core/names.h"
#include "core/value.h"

/* How the values of a column look: COL_US, COL_KB ... */
enum column_unit {
#define UNIT(id, ...) COL_##id,
#include "core/column_unit.def"
#undef UNIT
	COLUMN_UNITS
};

/* Which values emit() takes for a column of a unit. */
enum unit_takes {
	TAKES_ANY,
	TAKES_NOTHING,
	TAKES_NUMBER, /* integers, bool and enums */
	TAKES_TEXT,   /* a string */
	TAKES_PROBE,  /* the text of a probe, or a string */
	TAKES_WORDS,  /* bytes, or a string */
	TAKES_LINES,  /* a stack, bytes, or a string */
	TAKES_RECORD,
	TAKES_CALL, /* what syscall_enter() and syscall_exit() give */
};

/* A row of column_unit.def. */
struct column_unit_info {
	const char *word; /* in `table`; empty if none stands for it */
	bool right;       /* aligned, unless the script says otherwise */
	enum unit_takes takes;
	u32 decimals;    /* JSON and CSV: the value is divided by 10 to this power */
	const char *raw; /* unit of the value itself, for the library; "" if it has none */
};

extern const struct column_unit_info column_units[COLUMN_UNITS];

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
	bool summary;  /* of show_functions(): only text has it */
};

/* A cell as text; "-" for one that is not known. Control bytes and what is not UTF-8 are escaped.
 */
void column_text(struct sb *out, const struct column *c, const struct value *v, struct str trailer);
/*
 * A COL_MEMBERS, of lines indented by so much: "(", "name = value," ..., ");". A record in it is a path: "a->b"; a
 * tuple is an address, what lies there, and a record of parts of that. What is 0 in C structures is left out.
 */
void members_text(struct sb *out, const struct value *v, u32 indent, struct str trailer);
/* A number with the decimals of its unit, for programs. False: the unit has none, or the value is no number. */
bool column_decimal(struct sb *out, const struct column *c, const struct value *v);
/* The words of a COL_ARGV. */
bool column_next_word(struct str *rest, struct str *word);
/* What all rows of a column have. */
static inline struct value column_common(const struct column *c)
{
	return (struct value){.kind = c->is.s ? V_STR : V_NONE, .str = c->is};
}
/* Only the traced machine knows what its numbers mean: they become words, V_NAMED. */
bool column_has_words(const struct column *c);
/* There is nothing to say: not known, or the error of what did not fail. */
bool column_absent(const struct column *c, const struct value *v);
/* A row has more than its text. */
bool columns_have_data(const struct columns *t);
/* A column of the row itself in text, not below it. */
static inline bool column_in_line(const struct column *c)
{
	return c->unit != COL_BELOW && c->unit != COL_MEMBERS && c->unit != COL_HIST && !c->data;
}
