/*
 * v8.h - where V8, the engine of Node.js, keeps which functions of JavaScript run. Offsets are in bytes.
 * Programs (unwind/walk_v8.c) and user space (unwind/v8.c) follow it.
 *
 *	stack                          heap; pointers have bit 0 set, small integers (Smi) are in the upper half
 *	+-------------------------+
 *	| return address          |    JSFunction      SharedFunctionInfo   ScopeInfo: names of variables, and
 *	| caller's frame pointer  |<fp +---------+     +---------------+    that of the function behind them
 *	| context, or a Smi:      |    | shared  |---->| name or scope |--->
 *	|   no function           |    | code    |     | script        |---> Script: name, source
 *	| JSFunction              |--->+---------+     | bytecode      |
 *	| ...                     |         |          +---------------+
 *	| BytecodeArray  or what  |         v
 *	| its offset     the code |    Code: where compiled code is, and how long it is
 *	|                keeps    |
 *	+-------------------------+
 *
 * Each native frame of V8's code has its function, so frames of JavaScript are those of the native stack: code of
 * the file that was made when V8 was built (interpreter, functions such as Array.prototype.map), and code that is
 * made at run time. Where the offset is a Smi, and the array a BytecodeArray, the interpreter runs the function.
 *
 * The file exports numbers (v8dbg_...) that say where things are.
 */
#pragma once
#include "base/base.h"

/* In struct unwind_lang. Objects are counted from their beginning, which is V8_TAG before a pointer to them. */
struct unwind_v8 {
	/* The words below the frame pointer are read, V8_FRAME_BYTES: in them */
	u32 context, function, array, offset;
	/* of a JSFunction; .code is 0: not known */
	u32 shared, code;
	u32 map_type; /* of a map: u16, what its objects are: */
	u32 is_shared, is_array, is_scope, is_script;
	u32 array_head; /* of a BytecodeArray: what the offset counts too much */
	/* of a SharedFunctionInfo, a Script */
	u32 name, script, script_name;
	/* of a Code: where the code is (.inside is 1: it is there; else a pointer), and u32 */
	u32 start, size, inside;
	/* of a ScopeInfo: number of variables (Smi), the first one */
	u32 scope_count, scope_first;
	/* of a string */
	u32 length, actual, first, second;
	u32 pad[8];
};
enum {
	V8_FRAME_BYTES = 48,
	V8_TAG = 1,
	V8_TAG_MASK = 3,
	V8_SMI_SHIFT = 32,
	V8_STRINGS = 0x80, /* types of strings are lower */
	V8_STRING_FORM = 7,
	V8_STRING_CONS = 1,
	V8_STRING_EXTERNAL = 2,
	V8_STRING_SLICED = 3,
	V8_STRING_THIN = 5,
	V8_ONE_BYTE = 8,
	V8_STRING_TEXT = 16,
	V8_INLINE_NAMES = 75, /* a ScopeInfo with so many variables has their names elsewhere */
	V8_NAME_TRIES = 4,    /* words behind the variables that may be the function's name */
};
/*
 * What a record has of a function (struct unwind_code, whose .addr is the SharedFunctionInfo without its tag):
 * .code is a copy of it, .name has up to V8_PARTS strings that follow each other, .file likewise the script's name,
 * .lines where the rest is. A string has its type, and so many bytes of it.
 */
enum {
	V8_STRING_HEAD = 8,
	V8_SHARED_BYTES = 64,
	V8_PARTS = 3,
	V8_NAME_BYTES = 104, /* of each */
	V8_FILE_BYTES = 256,
	V8_LINES_CODE = 0,   /* u64: compiled code, tagged, or where it is (V8_PLACE); 0: none */
	V8_LINES_SCRIPT = 8, /* the script, likewise */
	V8_LINES_NAME = 16,  /* the function's name, likewise */
	V8_LINES_INSTR = 24, /* the instruction that the first word had */
};
/*
 * A function that still runs code which V8 has replaced, or which was made in the middle of a loop, does not lead to
 * that code. Then the address of the instruction stands for it: its upper part, with this tag, is in the place of the
 * code, and the lower part is the instruction of the word.
 */
enum { V8_PLACE = 2, V8_PLACE_BITS = 16 };
/*
 * Since V8 13.5 a function has no pointer to its code, but a handle (u32, at .code), with which it is found in a table
 * of the process. Its address has its lower half at 0, and the upper one is in struct unwind_piece: .file.
 *
 *	table + V8_ENTRY * (handle >> V8_HANDLE_SHIFT): { where a call leads to, the Code above V8_ENTRY_SHIFT }
 */
enum {
	V8_TABLE_SHIFT = 16,
	V8_HANDLE_SHIFT = 8,
	V8_ENTRY = 16,
	V8_ENTRY_CODE = 8,
	V8_ENTRY_SHIFT = 16, /* the lowest bit above it is not always the tag */
};
