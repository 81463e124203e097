/*
 * sink.h - where results go: terminal, JSON, flame graph, file, browser, hub.
 *
 * One entry point, few kinds of item, values already decoded: a new type costs
 * no sink, a new sink costs no type. Results go to the sink's stream, remarks
 * (lost events, warnings) to its second one.
 */
#pragma once
#include "base/signals.h"
#include "core/loss.h"
#include "core/record.h"
#include "core/value.h"

struct columns;
struct cost;
struct map;
struct unit;
enum item_kind {
	I_TEXT,  /* printf, time, cat, join, system: name says which; str is the text */
	I_VALUE, /* print(expr): val[0] */
	I_MAP, /* print(@x) and maps at the end: name, rows of key (NULL: scalar) and val; sorted */
	I_STATUS, /* "Attached 3 probes": str, empty: not as text; n is the number; start */
	I_ERROR,  /* errorf, warnf, run-time warnings: name is the JSON type, str the text, loc the
		     place */
	I_LOST, /* data quality: loss says of what kind, n how many, str is the whole sentence with
		   its hint */
	I_END,  /* before the maps printed at exit; n: tables that the script declares; columns: the
		   first that may have rows, or NULL */
	I_HEAD, /* the heading of columns, when everything is attached and before each report; str:
		   the line above that, or ""; of a screen what stands there behind name, the time and
		   the load */
	I_ROW,  /* emit(), show(): n cells in val, of columns; V_NONE: not known. str: a line for
		   people above it, or "". To sinks of maps show() gives an I_MAP: name is the
		   table's, str the unit of its values or "" */
	I_TOTAL, /* behind the rows of a report: their sums, as a row's cells; for people alone */
	I_SNAPSHOT, /* snapshot(): str is why; only to a sink that .keeps */
	I_KEPT,     /* keep(): record, of schema; only to a sink that .keeps */
	I_COST,     /* what the run took of the machine: cost; str says it all in lines */
	I_FLEET, /* which hosts are in a merged answer: fleet; str says it in a line; the last item */
};

/* Of the hosts that were asked, which did not answer. */
struct fleet_fact {
	struct str host, kind, why; /* kind: "unreachable", "refused", "late" or "partial" */
};
/* A probe that an answer is without, because its host does not have it. */
struct fleet_lack {
	struct str host, probe;
};
struct fleet_facts {
	const struct fleet_fact *fact;
	const struct fleet_lack *lack; /* by host */
	u32 nfact, nlack, asked, answered;
	u64 ns;          /* from the question to the last answer */
	u64 spread_ns;   /* between the first question and the last */
	u64 lost, lossy; /* events, and hosts that lost some */
	u64 skew_ns;     /* between the clocks of two hosts that answered, at most */
	u64 start_ns; /* between the first host to have all probes attached and the last, at most */
	bool started; /* that is known */
	/* Where tracing took the largest share of the processor time, and that in parts of a million; "": not known. */
	struct str dearest;
	u64 share;
};

/* A tool has begun. */
struct run_start {
	struct str tool, version; /* "execsnoop"; empty: it is a script */
	char **word;              /* behind its name on the command line */
	u32 nword;
	struct str *source; /* where it looks: points of its programs, not all if there are many */
	u32 nsource;
};

/* How the rows of an I_MAP are merged with those of other hosts. */
struct item_merge {
	/* Of aggregations: the type of the map's values, which are merged by its rule. */
	const struct type *type;
	bool counter;      /* integers that scripts only add to, which are added up */
	bool number, sign; /* integers: rows are sorted by them */
	bool present;      /* of a map without key: something was stored */
	bool at_exit;      /* nothing is shown of an empty map */
	bool hosted;       /* the first part of the key is a host */
	u64 top, div;      /* of print(): 0 for none. The item has all rows */
	struct str percentiles;
	/* Of the row that was made last: bytes whose order is that of keys, and the value as it is in
	 * memory. */
	struct str order;
	const void *words;
};
/* What an item is about: the union below has one of these, by the kind. */
struct item_text { /* I_TEXT, I_VALUE */
	bool line; /* a line; its end is not in str */
	bool own;  /* of begin, end or an interval, which run on each host */
	const struct value *val;
};
struct item_error { /* I_ERROR */
	bool warn;  /* a warning, not an error */
	bool said;  /* by the script, which says itself what it is about */
	struct loc loc;
	struct str probe; /* the warning is that this machine does not have it; "": it is another */
};
struct item_lost { /* I_LOST */
	bool warn; /* to be shown as a warning */
	enum loss loss;
	struct str who; /* the map, probe, file ... it is about, or "" */
	u64 n;          /* LOSS_UNKNOWN: how many is not known */
};
struct item_map {                      /* I_MAP */
	const struct value *key, *val; /* key NULL: scalar */
	u64 n;                         /* rows */
	/* Rows are made one by one, because a map may have very many: puts row i into key[0] and
	 * val[0]. NULL: key and val hold all. */
	void (*make_row)(void *rows, u64 i);
	void *rows;
	const struct agg *agg; /* of aggregations; NULL: plain values */
	bool adds; /* the script only adds to the values, so a difference of two readings
				  is what happened in between */
	/* How often it had been cleared or zeroed; what is printed twice in one epoch was counted once. */
	u32 epoch;
	const struct item_merge *merge; /* to a sink that .answers */
	/* To a watcher: a key as the script's table shows it, with .rows; NULL: as it is. Then the unit of the values,
	 * if they are times; 0: that is not known. */
	void (*put_key)(void *rows, const struct value *key, struct sb *out);
	u64 unit_ns;
};
/* show(), to a sink that .answers: the I_MAPs that follow are its maps, and I_HEAD comes before them. */
struct item_show {
	u32 nmap;
	bool hosted;         /* the first part of keys is a host */
	bool apart;          /* a map has values that are not merged */
	bool functions;      /* show_functions() */
	struct str left_out; /* by that */
	struct str screen;   /* the first line of a screen: time and load; item.str is behind it */
};
struct item_cells { /* I_HEAD, I_ROW, I_TOTAL */
	const struct columns *columns;
	const struct value *val; /* n cells */
	u32 n;
	u64 report;  /* I_ROW: of which report it is, from 1; 0: of none */
	u64 part_ns; /* I_ROW: how long that is, of the last one, which the end cut short; 0: as
			long as it was to be */
	const struct item_show *show; /* I_HEAD: it is no heading */
};
struct item_status { /* I_STATUS */
	u64 n;
	const struct run_start *start; /* of a tool; NULL: of a script */
};
struct item_end { /* I_END */
	u64 n;
	const struct columns *columns;
};
struct item_kept { /* I_KEPT */
	const struct schema *schema;
	const struct record *record;
	/* A field of the record, decoded; stays until the next is asked for. */
	const struct value *(*field)(void *rows, u32 i);
	void *rows;
};
struct item {
	enum item_kind kind;
	/* I_MAP, I_TEXT, I_VALUE: nsecs (monotonic); of texts 0: of no event. I_LOST of events: since when they were lost;
	 * 0: the start. */
	u64 ts;
	struct str name, str;
	struct str host; /* in a merged answer: where it comes from; "": all hosts */
	union {
		struct item_text text;
		struct item_error error;
		struct item_lost lost;
		struct item_map map;
		struct item_cells row;
		struct item_status status;
		struct item_end end;
		struct item_kept kept;
		const struct cost *cost;         /* I_COST */
		const struct fleet_facts *fleet; /* I_FLEET */
	};
};
/* A row of an I_MAP; stays until the next is asked for. */
struct item_row {
	const struct value *key, *val; /* key NULL: scalar */
};
static inline struct item_row item_row(const struct item *it, u64 i)
{
	const struct item_map *m = &it->map;
	u64 at = m->make_row ? 0 : i;
	assert(it->kind == I_MAP);
	if (m->make_row)
		m->make_row(m->rows, i);
	return (struct item_row){m->key ? &m->key[at] : NULL, &m->val[at]};
}

bool item_has_hist(const struct item *it); /* I_ROW: one of its cells is a histogram */

/* How much of a recording is kept; zeros: all, in one file. */
struct sink_bounds {
	u64 disk;                  /* bytes of segments, the oldest of which are removed */
	u64 keep_bytes, keep_ns;   /* held in memory, until a snapshot is asked for */
	u64 after_ns;              /* a snapshot is written so long after it was asked for */
	u64 quiet_ns;              /* and asked for again no sooner than this after the last */
	u32 max_files;             /* snapshots; the oldest are removed */
	bool has_after, has_quiet; /* options that were given */
	bool unnamed;              /* it will be converted and removed: no sum names it */
};
/* What a recording says of the run. */
struct sink_fact {
	struct str key, value;
};
struct sink_env {
	int out, err;   /* descriptors */
	int screen;     /* terminal on which .out is shown later; 0: .out is shown itself */
	char buffering; /* 'l' line, 'f' full, 'n' none */
	const struct diags *diags;    /* to show places */
	struct show how, how_remarks; /* texts of results, and of remarks */
	struct signals *signals; /* that no write outlasts; NULL: it takes as long as it takes */
	bool quiet;              /* no I_STATUS */
	bool tool;               /* nothing is said about scripts */
	bool old;                /* text as in 0.17 */
	bool wide;               /* columns are not cut to the terminal */
	bool scroll;             /* a screen does not replace the one before, */
	bool no_load;            /* and has no time and load above it */
	/* For pictures: the command that was given, and where and when it runs, or "". */
	struct str what, where;
	/* For sinks that .keeps or .answers: */
	const char *path;        /* of .out, or NULL for standard output */
	u64 real_ns;             /* wall-clock time at nsecs 0, of the traced machine */
	u32 ncpu;                /* possible CPUs of it */
	const struct unit *unit; /* whose records come */
	const struct sink_bounds *bounds;
	const struct sink_fact *fact;
	u32 nfact;
};
/* Which rows of an I_MAP the runtime merges into one before the output gets them: aggregations by
 * their own rule, integers that scripts only add to by adding. Other values are never merged. */
enum sink_keys {
	KEYS_ALL,      /* none: each key is a row, even if two are shown as the same text */
	KEYS_BY_TEXT,  /* rows whose keys are shown as the same text */
	KEYS_BY_PLACE, /* these, if the frames of their stacks are also from the same files */
};
enum { SINK_OPTIONS = 16 };
struct sink_option {
	const char *name, *arg, *doc; /* arg: what the value is, "N"; NULL: there is none */
};
struct sink {
	const char *name, *doc; /* "flame", "flame graph of counted stacks" */
	const char *ending;     /* of files that are meant to be such: ".svg"; NULL: none */
	bool whole;             /* one picture of all: nothing is written before close() */
	bool text;              /* lines for people, who also want summaries */
	bool maps;              /* what show() prints comes as an I_MAP, not as rows */
	bool answers; /* it takes what answers of several hosts are merged from: item.merge */
	bool keeps;   /* it takes what keep() was given; .flush() is called when there are no
				   events, too */
	enum sink_keys keys : 8;
	bool files; /* rows say from which file a frame is: if these differ, rows stay apart */
	/* For errors: what can be shown ("maps that ..."), and a script's text that makes one.
	 * .why_not() returns the reason why a map can never be shown, or NULL if it can. .why_not is
	 * NULL if every script can be shown. */
	const char *shows, *example;
	const char *(*why_not)(const struct unit *u, const struct map *m);
	size_t size;                       /* of self */
	const struct sink_option *options; /* ended by {0}; NULL: none */
	/* opts: by number of the option; {NULL}: not given. They outlast the sink. */
	struct err *(*open)(void *self, const struct sink_env *env, const struct str *opts);
	struct err *(*put)(void *self, const struct item *it);
	struct err *(*flush)(void *self); /* after each batch of events */
	struct err *(*close)(void *self); /* also when put failed: then says again why */
	/* How texts are to be made that it gets whole (printf, errorf). NULL: as they are. */
	void (*show)(const void *self, struct show *results, struct show *remarks);
};
extern const struct sink *const sinks[]; /* sink/registry.c, ended by NULL */

/* core/sink.c */
const struct sink *sink_named(struct str name);   /* NULL: there is none */
const struct sink *sink_of_file(struct str path); /* by its ending; NULL: no ending of ours */
/*
 * For a sink with .why_not, before anything is traced: an error when no map of the script can ever be
 * shown, with the reason for each map. asked: the option that chose the sink; tool: the tool whose
 * script it is, or "".
 */
struct err *sink_suits(const struct sink *s, const char *asked, struct str tool,
		       const struct unit *u) MUST_USE;
/* "width=1200,title=x" into opts[SINK_OPTIONS]; one of them. */
struct err *sink_set_options(const struct sink *s, struct str text, struct str *opts);
struct err *sink_set_option(const struct sink *s, struct str name, struct str val,
			    struct str *opts);
