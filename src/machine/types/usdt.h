/*
 * usdt.h - .note.stapsdt: probe sites of an ELF file and where their arguments are.
 */
#pragma once
#include "types/type.h"

enum usdt_arg_kind {
	UA_CONST, /* off; with a symbol: its address + off */
	UA_REG,
	UA_MEM, /* [reg + scale * index + off]; with a symbol: [its address + scale * index + off]
		 */
	UA_BAD, /* cannot be read: text says what it is */
};
enum usdt_index { UI_WHOLE, UI_U32, UI_I32 }; /* how much of the index register counts */
struct usdt_arg {
	enum usdt_arg_kind kind : 8;
	u8 size; /* 1 2 4 8; 0: not understood */
	bool is_signed, is_float;
	i16 reg, index; /* offset into struct pt_regs, -1: none; odd for %ah and its kin: read one
			   byte */
	u8 scale;
	enum usdt_index index_is : 8;
	i64 off;         /* constant, or displacement */
	struct str sym;  /* {NULL}: none */
	struct str text; /* UA_BAD: as the note has it */
};
enum { MAX_USDT_ARGS = 32 };
struct usdt_site {
	struct str provider, name;
	u64 addr;       /* virtual address in the file, prelink-adjusted by .stapsdt.base */
	u64 offset;     /* in the file: what a uprobe wants */
	u64 sem_offset; /* file offset of the semaphore, 0: none */
	u32 narg;
	struct usdt_arg arg[MAX_USDT_ARGS];
};
struct usdt_sites {
	struct usdt_site *v;
	u32 n;
};
struct err *usdt_read_mem(const void *p, size_t n, struct arena *a, struct usdt_sites *ret);
/* One argument, e.g. "-4@%eax", "8@-8(%rbp)", "4@$5", "8@sym(%rip)". False: it cannot be read. What
 * the result names are pieces of the text. */
struct arch;
bool usdt_parse_arg(const struct arch *arch, struct str text, struct usdt_arg *ret);
