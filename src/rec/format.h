/*
 * format.h - the bytes of a recording, version 1.4. docs/recording.md describes them for others.
 *
 * A file is a header and blocks. It is only ever appended to, so that each prefix of it is a
 * recording, too. Numbers are little endian and need no alignment, except that a block begins at an
 * offset divisible by 8; the bytes before it are zeros. "text" is a u32 length and so many bytes.
 *
 *	file header	0 magic "\x93SONDE\r\n"  8 u16 major  10 u16 minor  12 u32 bytes of the header
 *			16 id[16]  32 u64 wall-clock ns  40 u64 monotonic ns  48 u32 page size
 *			52 u16 possible CPUs  54 u8 8 (bytes of a word)  55 u8 0  56 u32 0
 *			60 u32 checksum of bytes 0..59
 *	block header	0 u32 "SBLK"  4 u8 type  5 u8 codec  6 u16 flags  8 u32 stored bytes
 *			12 u32 raw bytes  16 u64 first time  24 u64 last time (0 if there is none)
 *			32 u32 items  36 u16 CPU or 0xffff  38 u16 set of schemas  40 u32 number
 *			44 u32 0  48 u32 checksum of the stored bytes  52 u32 checksum of bytes 0..51
 *	payload		the stored bytes
 *
 * Blocks are numbered from 0 without gaps; a closed file ends with a BLOCK_END. The checksum is CRC-32 as zlib computes it. Times are
 * nanoseconds of the monotonic clock. The set of schemas has bit (id % 16) for each schema of which
 * the block has rows.
 *
 * BLOCK_FACTS, BLOCK_NAMES and BLOCK_END contain items: u32 bytes of what follows, u16 kind, fields.
 * A reader ignores bytes behind the fields that it knows and kinds that it does not know, unless
 * ITEM_NEEDED is set in the kind: then it must stop. An item precedes its first use. Identifiers are
 * u32, from 1 on in the order of the file, and never used again; 0 means none.
 *
 * BLOCK_EVENTS contains u64 base time, u64 base turn, and rows, in the order of turns:
 *
 *	u8		schema id (0..30, or 31: the id follows as a varint) and ROW_... flags
 *	zigzag		time, less that of the row before (the first: less the base)
 *	[varint]	ROW_CPU: the CPU; otherwise that of the row before (the first: 0)
 *	[varint]	ROW_TASK: id of the task; otherwise that of the row before on this CPU in this
 *			block (0, not known, if there is none)
 *	[varint]	ROW_TURN: how many turns are missing before this row; otherwise none. The turn
 *			is that of the row before plus 1 plus this (the first: the base turn plus this).
 *			Turns begin at 0 in each file
 *	columns		as the schema says
 *
 * BLOCK_ANSWER contains items, too: what a script printed, in order, so that answers of several hosts
 * can be merged (answer/answer.h). A file has either these or rows.
 *
 * A varint has 7 bits per byte, low bits first; the highest bit says that another byte follows. It
 * has at most ten bytes. A zigzag is the varint of (n << 1) ^ (n >> 63).
 */
#pragma once
#include "base/base.h"

enum {
	REC_MAJOR = 1,
	/* 1: BLOCK_ANSWER; the language of a FRAME. 2: tables in answers. 3: RUN, LACK. 4: AGAIN, HOST, HOST_LOSS */
	REC_MINOR = 4,
	REC_FILE_HEADER = 64,
	REC_HEADER_CPUS = 52, /* offset of the number of possible CPUs, a u16 */
	REC_BLOCK_HEADER = 56,
	REC_BLOCK_MAGIC = 0x4b4c4253, /* "SBLK" */
	REC_MAX_RAW = 16 << 20,       /* bytes of a block's payload */
	REC_MAX_TEXT = 1 << 20,       /* bytes of a text or blob */
	REC_MAX_COLUMNS = 128,        /* of a schema */
	REC_MAX_ELEMENTS = 4096,      /* of an array in a column */
	REC_MAX_FRAMES = 1024,        /* of a stack */
	REC_MAX_CPU = 0xffff,         /* numbers of CPUs are below */
	REC_ANY_CPU = 0xffff,
};
#define REC_MAGIC "\x93SONDE\r\n"

enum rec_block_type {
	BLOCK_FACTS =
		1, /* what a reader wants to know first: META, ENUM, SCHEMA, FEATURE, CLOCK, LOSS */
	BLOCK_NAMES = 2, /* what rows refer to: STRING, TASK, EXIT, MAPPING, FRAME, STACK, RESET */
	BLOCK_EVENTS = 16, /* rows */
	BLOCK_ANSWER = 17, /* PRINT to AGAIN; marked as needed */
	BLOCK_END = 31,    /* one END */
};
enum rec_block_flags {
	BLOCK_NEEDED = 1, /* a reader that does not know the type must stop */
};
enum rec_codec {
	CODEC_NONE,
	CODEC_ZLIB, /* a zlib stream */
	CODEC_ZSTD, /* a zstd frame */
};

enum rec_item_kind {
	/* text key, text value */
	ITEM_META = 1,
	/* u32 id, text name, u32 n, n times { u64 value, text name } */
	ITEM_ENUM = 2,
	/*
	 * u32 id, text probe type, text probe, text statement (what wrote the row: "keep"), u32 n,
	 * n times { u8 kind, u8 coding, u8 signed, u8 coding of an element, u32 bytes, u32 elements,
	 * u32 enum id, text expression, text C type, text printer }
	 *
	 * Rows of another statement are no events of the probe: its name is then the type, and is before the probe:
	 * "span_begin:tracepoint:block:block_rq_issue".
	 */
	ITEM_SCHEMA = 3,
	/* text name, u8 1 if the kernel has it */
	ITEM_FEATURE = 4,
	/* u64 monotonic, u64 wall-clock, u64 boot time, u64 TAI, u32 uncertainty in ns */
	ITEM_CLOCK = 5,
	/* u64 time from, u64 time to, u64 n, text kind, text who, text sentence */
	ITEM_LOSS = 6,
	/* text name, u64 offset, u64 bytes of the whole, text bytes: a part of a file, such as BTF */
	ITEM_BLOB = 7,

	/* u32 id, u8 1 if it was cut, text bytes */
	ITEM_STRING = 32,
	/* u32 id, u32 tid, u32 pid, u32 ppid, u32 uid, u32 gid, u64 cgroup, u64 start, u64 since, u32
	 * known (enum rec_known), text comm */
	ITEM_TASK = 33,
	/* u64 time, u32 tid, u32 pid, u32 exit code */
	ITEM_EXIT = 34,
	/* u32 id, text path, text build id (in hex) */
	ITEM_MAPPING = 35,
	/* u32 id, u32 mapping, u64 address, u64 offset in the file, u64 offset in the symbol, u8 flags
	 * (enum rec_frame_flags), u32 line, text symbol, text source file, text frame as printed; of
	 * an interpreted language also: text language */
	ITEM_FRAME = 36,
	/* u32 id, u8 flags (enum rec_stack_flags), u32 n, n times u32 frame, innermost first */
	ITEM_STACK = 37,
	/* u16 kind, u32 id: items of this kind up to this id are not used any more */
	ITEM_RESET = 38,

	/* u64 rows, u64 lost, u64 bytes of the file, u8 how it ended (enum rec_end), u32 n, n times {
	 * u32 schema, u64 rows, u64 bytes }, text reason */
	ITEM_END = 64,

	/*
	 * Of answers; "time" is u64 wall-clock ns, "value" is described in answer/value.c.
	 *
	 * A map is printed, and its rows follow: time, u8 flags (enum rec_print_flags), text name,
	 * text aggregation (as types are named: "count_t"; "" if it is none), u32 count and i64[3]
	 * parameters of its type, text bounds, u64 top, u64 div, text percentiles, u32 epoch
	 */
	ITEM_PRINT = 96,
	/* text bytes whose order is that of keys, [value key], then of aggregations and counters: u32
	 * n words, as runs { varint zeros, varint n, n varints }; of others: value */
	ITEM_ROW = 97,
	/* time, u8 flags (enum rec_text_flags), text what printed it, text */
	ITEM_OUTPUT = 98,
	/* time, u8 flags, value */
	ITEM_VALUE = 99,
	/* an error or a warning: time, u8 flags, text type, text */
	ITEM_REMARK = 100,
	/* u64 probes, text: everything was attached */
	ITEM_STATUS = 101,
	/* time, u32 tables, u32 id of the first one that may have rows, or 0: tracing has ended, and the maps that are left
	 * follow */
	ITEM_STOP = 102,
	/*
	 * A table of the script. u32 id, text name, u32 flags (enum rec_table_flags), u32 columns that are declared, u32
	 * sort, u32 rows, u64 period, u32 n, n times { text name, text heading, text common value, text table of names, u32
	 * flags (enum rec_column_flags), u32 width, u32 index, u32 digits, u32 part, u32 unit }: see core/columns.h
	 */
	ITEM_COLUMNS = 103,
	/* u32 id of the COLUMNS: their heading is shown, before there are rows */
	ITEM_HEADING = 104,
	/* A row of emit(): time, u32 id, text host ("": the answer's), text line above it, u64 number of the report, u64
	 * its length if the end cut it short, u32 n, n values */
	ITEM_CELLS = 105,
	/*
	 * show(), whose maps follow, each as a PRINT with its ROWs: time, u32 id, u8 flags (enum rec_show_flags), u64
	 * number of the report, u64 its length if the end cut it short, text line above it, text first line of a screen,
	 * text functions that show_functions() leaves out, u32 maps
	 */
	ITEM_SHOW = 106,
	/* What the run took: time when all was attached, u64 how long it traced, u64 processor time of sonde, u64 that of
	 * its programs, u8 1 if that was measured, u32 CPUs */
	ITEM_RUN = 107,
	/* text probe, that the machine does not have */
	ITEM_LACK = 108,
	/*
	 * Of answers that a hub has merged: u32 number of a host, as META "hosts" lists them, text of its META "labels".
	 * What follows is of that host, but for rows, which are those that it has first; they are merged with those of later
	 * hosts.
	 */
	ITEM_HOST = 109,
	/* what the host lost: u64 n, text kind, text who, text sentence */
	ITEM_HOST_LOSS = 110,
	/* No fields: the rows of this PRINT are those of the last one that had rows */
	ITEM_AGAIN = 111,

	ITEM_NEEDED = 0x8000, /* added to a kind: a reader that does not know it must stop */
};

/* What a column is. */
enum rec_kind {
	REC_INT = 1,
	REC_BOOL = 2,
	REC_POINTER = 3,
	REC_ENUM = 4,
	REC_STRING = 5,
	REC_BYTES = 6, /* memory: a struct, buf() */
	REC_ARRAY = 7, /* of integers */
	REC_STACK = 8,
	REC_NAMED = 9,  /* a number and the text that it stood for: ksym, inet, username ... */
	REC_FLOAT = 10, /* a double */
};
/* How a column is written. */
enum rec_coding {
	REC_VARINT = 1,
	REC_ZIGZAG = 2,
	REC_RAW = 3,  /* u64: hashes, doubles, addresses that never repeat */
	REC_TEXT = 4, /* varint: id of a STRING; 0: varint length << 1 | 1 if it was cut, bytes */
	REC_BLOB = 5, /* varint length, bytes */
	REC_STACKID = 6, /* varint: id of a STACK, or 0 */
	REC_LIST = 7,    /* each element, coded as the coding of an element says */
	REC_PAIR = 8,    /* varint number, then as REC_TEXT */
};
enum { ROW_SCHEMA = 0x1f, ROW_CPU = 0x20, ROW_TASK = 0x40, ROW_TURN = 0x80 };
/* Members of a task that are known; the others are 0 and mean nothing. */
enum rec_known {
	KNOWN_PPID = 1,
	KNOWN_IDS = 2, /* uid, gid */
	KNOWN_CGROUP = 4,
	KNOWN_START = 8,
	KNOWN_COMM = 16,
};
enum rec_print_flags {
	PRINT_SIGNED = 1,
	PRINT_KEYED = 2,
	PRINT_COUNTER = 4,  /* integers that scripts only add to */
	PRINT_INT = 8,      /* integers, by which rows are sorted */
	PRINT_PRESENT = 16, /* of a map without key: something was stored */
	PRINT_AT_EXIT = 32, /* nothing is shown of an empty map */
	PRINT_HOSTED = 64,  /* the first part of the key is a host */
};
enum rec_text_flags {
	TEXT_LINE = 1, /* its end is not in the text */
	TEXT_OWN = 2,  /* of begin, end, an interval: every host prints it */
	TEXT_WARN = 4, /* of a REMARK: a warning */
	TEXT_SAID = 8, /* of a REMARK: by the script itself */
};
enum rec_table_flags {
	TABLE_BARE = 1,
	TABLE_HEAD = 2,
	TABLE_RULED = 4,
	TABLE_TOTAL = 8,
	TABLE_ASCENDING = 16,
	TABLE_NUMBERED = 32,
	TABLE_STANDING = 64,
	TABLE_SPACED = 128,
	TABLE_BEGUN = 256,
	TABLE_TOP = 512,
};
enum rec_column_flags {
	COLUMN_IS = 1, /* it has a common value */
	COLUMN_RIGHT = 2,
	COLUMN_DATA = 4,
	COLUMN_TEXT = 8,
	COLUMN_SHARE = 16,
	COLUMN_BARE = 32,
	COLUMN_QUOTED = 64,
	COLUMN_BLANK = 128,
};
enum rec_show_flags {
	SHOW_HOSTED = 1,    /* the first part of keys is a host */
	SHOW_APART = 2,     /* a map has values that are not merged */
	SHOW_FUNCTIONS = 4, /* show_functions() */
};
enum rec_frame_flags { FRAME_INLINED = 1, FRAME_MADE = 2, FRAME_KERNEL = 4 };
enum rec_stack_flags { STACK_KERNEL = 1, STACK_CUT = 2 };
enum rec_end {
	END_DONE,   /* the command ended, or the time was over */
	END_SIGNAL, /* the user stopped it */
	END_EXIT,   /* the script called exit() */
	END_BUDGET, /* it cost more than --budget allows */
	END_ERROR,
};
