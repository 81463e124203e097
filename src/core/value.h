/*
 * value.h - decoded data: the only thing a sink sees; and value -> text.
 *
 * Values are made by report/decode.c in the reader's event arena and live until
 * the item that holds them has been put. Strings are views of that memory.
 */
#pragma once
#include "base/str.h"

/* The numbers are in files (answer/value.c): new kinds come last. */
enum value_kind {
	V_NONE,
	V_BOOL,   /* u */
	V_INT,    /* i */
	V_UINT,   /* u */
	V_PTR,    /* u; printed 0x... */
	V_ENUM,   /* i, and str: the enumerator's name ("" when unknown) */
	V_STR,    /* str; .cut when it was truncated */
	V_BYTES,  /* str */
	V_NAMED,  /* str: text of what user space resolves (ksym, inet, time ...); u: the number */
	V_TUPLE,  /* list of n */
	V_ARRAY,  /* list of n */
	V_RECORD, /* list of n, names of n */
	V_STACK,  /* stack: n frames */
	V_HIST,   /* hist: n buckets, first to last non-empty, gaps filled */
	V_STATS,  /* list of 3 V_INT: count, average, total; printed as a record */
	V_FLOAT,  /* f */
	V_PERCENTILES, /* hist: the bucket of each of n; names; total observations */
	V_SERIES, /* series: n intervals, first to last with a value, gaps filled; .sign; .step: ns */
};

/* Of a stack. What is not known is "" or 0. */
struct frame {
	u64 addr;
	struct str sym;
	u64 off; /* addr - start of sym */
	/* Kernel: the module, "" for the kernel itself; user: path of the file. */
	struct str module;
	struct str build_id; /* of that file, in hex */
	u64 file_off;        /* where in the file addr lies */
	bool inlined;        /* into the next frame, at the same address */
	bool made;           /* generated code; module is the list that names it */
	/* Interpreted: "python"; module is its interpreter, and .off means nothing. */
	struct str language;
	struct str source; /* file of the source, with line */
	u32 line;
	struct str text; /* the line as the stack's mode prints it, without indent or newline */
};
/* The last part of .module. */
struct str frame_file(const struct frame *f);
struct bucket {
	i64 lo, hi;        /* [lo, hi); */
	bool no_lo, no_hi; /* (..., hi)  [lo, ...) */
	u64 count;
};
struct tick {         /* an interval of a tseries */
	u64 start_ns; /* wall clock */
	u64 value;
	bool none; /* nothing was observed */
};

struct value {
	enum value_kind kind : 8;
	u8 size;        /* V_INT, V_UINT: bytes of the type */
	bool cut;       /* V_STR */
	u8 mode;        /* V_STACK: enum stack_mode; V_RECORD: enum type_kind, 0: a typedef */
	bool kernel;    /* V_STACK */
	bool agg;       /* V_INT from avg(): JSON says "stats" */
	bool sign;      /* V_SERIES: the values are i64 */
	bool uneven;    /* V_HIST: buckets of several widths, .step is 1 */
	u32 n;          /* elements of a list, frames of a stack, buckets of a histogram */
	struct str str; /* V_INT, V_UINT, V_RECORD: the name of the C type, if it has one */
	union {
		u64 u;
		i64 i;
		double f;
		const struct value *list;
		const struct frame *stack;
		const struct bucket *hist;
		const struct tick *series;
	};
	u64 total; /* V_PERCENTILES */
	union {
		const struct str *names; /* V_RECORD, V_PERCENTILES */
		u64 step; /* V_HIST: width of lhist's buckets; 0: hist. V_SERIES: of an interval */
	};
};

struct arena;
struct value value_copy(struct arena *a, const struct value *v); /* with all that it points to */

/* How values become text. */
struct show {
	struct str trailer; /* after a cut string: ".." */
	/* What was traced (texts, names of symbols) goes through sb_visible(): it can neither steer
	 * a terminal nor begin a line of its own. */
	bool escape;
};
/* As print() and %s write it. */
void value_text(struct sb *out, const struct value *v, const struct show *how);
/* The same for a map key: the outer parentheses of a tuple are dropped. */
void value_key_text(struct sb *out, const struct value *v, const struct show *how);
/*
 * A map key in one word for JSON objects: as above, without the blanks and indents that are only
 * layout. In texts that are parts of a key, commas and backslashes get a backslash, within a tuple
 * in a tuple (or an array, a record) brackets too: two keys of a map are two words, and a reader
 * who cuts at the commas that have none finds the parts.
 */
void value_key_short(struct sb *out, const struct value *v, const struct show *how);
/*
 * What tells a key from other keys in an output: value_key_short(), without marks of what was cut,
 * and with .places the file of each stack frame.
 */
void value_key_identity(struct sb *out, const struct value *v, bool places);
/* Traced text as how says. */
void value_put_str(struct sb *out, struct str s, const struct show *how);
/* Bytes as text: those that cannot be shown, or all, as \xNN. */
void value_bytes_text(struct sb *out, struct str b, bool all);
/*
 * Histogram lines as text: "[2, 4)    1 |@@@   |\n" each, of 79 columns, or of so many as there are when that is
 * less; 0: it does not matter.
 */
void value_hist_text(struct sb *out, const struct value *v, u32 columns);
/*
 * Percentiles of a V_HIST, from a list such as "p50, p99.9": those of print(@h, "p50").
 * percentile_next gives one name and its thousandths of a percent (above 100000: malformed).
 */
bool percentile_next(struct str *rest, struct str *name, u32 *part);
bool percentiles_valid(struct str list);
void value_percentiles(struct arena *a, struct str list, const struct value *hist,
		       struct value *ret);
const char *percentile_letter(struct str name); /* what is before it: "p" of 99.9, else "" */
u64 value_observations(const struct value *hist);
/* The last value of one percentile's bucket, of the open one the first. */
void value_percentile(const struct value *hist, u32 part, struct value *ret);
/* "<= 127", "= 1" where the bucket has one value, ">= 1000" in the open one. */
void value_percentile_text(struct sb *out, const struct value *hist, u32 part);
void value_percentiles_text(struct sb *out, const struct value *v);
/* Flags of a kernel allocation by name, as %gr prints them: "GFP_KERNEL|__GFP_ZERO". */
void value_gfp_text(struct sb *out, u64 flags);
/* Graph of a tseries, 53 columns wide and a line per interval. */
void value_series_text(struct sb *out, const struct value *v);
void value_tick_time(struct sb *out, const struct tick *t); /* "2026-11-20 18:16:57.000000000" */
