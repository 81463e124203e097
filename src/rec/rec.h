/*
 * rec.h - what a recording holds, for its writer (write.h) and its readers (read.h).
 *
 * A recording is rows and what they refer to. A row always has a time, a turn, a CPU, a task and a
 * schema. The schema names the probe and the columns: each column is an expression of the script,
 * as text in its normal form, with its C type. The turn of a row is its place in the order of all
 * events; a turn that is missing belongs to an event that was lost.
 *
 * Texts and arrays in these structs belong to the reader or, when writing, to the caller; the writer
 * copies what it keeps.
 */
#pragma once
#include "base/str.h"
#include "rec/format.h"

struct rec_column {
	struct str expr;    /* "args.fd", "str(args.filename)", "kstack", "retval" */
	struct str ctype;   /* as C writes it: "unsigned int", "struct file *", "char[16]" */
	struct str printer; /* REC_NAMED: what made the text: "ksym", "inet"; else "" */
	enum rec_kind kind : 8;
	enum rec_coding coding : 8;
	enum rec_coding element : 8; /* of each element, with REC_LIST: REC_VARINT or REC_ZIGZAG */
	bool sign;
	u32 size; /* bytes of the value in C; of an array all of it; of a string the most it can have */
	u32 count;   /* elements of an array; else 0 */
	u32 enum_id; /* names of the values; 0 if there are none */
};
struct rec_schema {
	u32 id;           /* set by the writer */
	struct str type;  /* of the probe: "tracepoint" */
	struct str probe; /* "tracepoint:syscalls:sys_enter_openat"; begins with the type */
	struct str act;   /* what wrote the rows: "keep" */
	const struct rec_column *column;
	u32 ncolumn;
};
struct rec_enumerator {
	u64 value;
	struct str name;
};
struct rec_enum {
	u32 id;
	struct str name; /* of the C type, without "enum" */
	const struct rec_enumerator *v;
	u32 n;
};
/* One state of a thread. A thread that changes its name, its program, its parent or its user has
 * several, so that each row refers to the state at its time. */
struct rec_task {
	u32 id, tid, pid, ppid, uid, gid;
	u64 cgroup, start; /* start: ns since boot, as task_struct.start_time */
	u64 since;         /* when this state was first seen */
	u32 known;         /* enum rec_known */
	struct str comm;
};
struct rec_exit {
	u64 ts;
	u32 tid, pid, code; /* code: as of wait(2) */
};
struct rec_mapping {
	u32 id;
	struct str path, build_id; /* build_id: in hex, or "" */
};
struct rec_frame {
	u32 id, mapping; /* mapping 0: not known */
	u64 addr, file_off, sym_off;
	u32 line;
	u8 flags;                     /* enum rec_frame_flags */
	struct str sym, source, text; /* text: as a printed stack shows the frame */
	struct str language;          /* "python"; "": machine code */
};
struct rec_stack {
	u32 id, n;
	u8 flags; /* enum rec_stack_flags */
	const u32 *frame;
};
struct rec_clock {
	u64 mono, real, boot, tai; /* read at the same moment */
	u32 uncertainty;           /* ns that the readings may be apart */
};
struct rec_loss {
	u64 from, to; /* monotonic ns; 0 if not known */
	u64 n;        /* events; 0 if nobody knows */
	struct str kind, who,
		text; /* kind as in JSON output; who: probe, map or file; text: a sentence */
};
struct rec_feature {
	struct str name;
	bool has;
};
struct rec_total {
	u64 rows, bytes; /* bytes: before compression */
};
/* An item of an answer. */
struct rec_answer {
	enum rec_item_kind kind : 16;
	struct str fields;
	u64 at; /* when reading: of its block in the file */
};
/* A value of a row, in the order of the schema's columns. */
struct rec_cell {
	u64 u; /* a number, sign-extended; REC_STACK: id of the stack; REC_FLOAT: its bits */
	struct str str; /* REC_STRING, REC_BYTES, REC_NAMED; REC_ARRAY: the array as in memory */
	bool cut;       /* REC_STRING: the text was longer */
	bool missing;   /* when reading: what the row refers to is in a damaged part of the file */
};
