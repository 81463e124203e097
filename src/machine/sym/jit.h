/*
 * jit.h - names of generated code, from what a runtime writes while it makes it.
 *
 *	/tmp/perf-PID.map	lines "START SIZE NAME", numbers hexadecimal
 *	jit-PID.dump		records with names and code ("jitdump"); the runtime maps a page of it
 *				executable, by which it is found
 *
 *	n = codes_take_lines(&c, text, size);	what was added; or codes_take_dump()
 *	codes_sort(&c);
 *	codes_find(&c, addr, &sym);
 *	codes_free(&c);
 *
 * Both files grow while the process lives, and are read on from where the last reading ended. They
 * may hold anything: numbers are checked, and room is bounded.
 */
#pragma once
#include "sym/sym.h"

struct made_code {
	u64 start, end;
	u32 order; /* what came later at the same place replaces what was there */
	struct str name;
};
struct codes {
	struct made_code *v; /* by start, then order */
	u32 n, cap;
	bool begun, ended; /* of a dump: its header was read; its last record */
	struct arena names;
	u64 bytes;       /* of memory */
	struct sb *told; /* what is found goes there, for another process, instead of being kept */
};
/* Bytes that need not be seen again: less than n when a line or a record goes on behind them, more
 * when what follows is of no interest. */
u64 codes_take_lines(struct codes *c, const char *text, size_t n);
u64 codes_take_dump(struct codes *c, const void *data, size_t n);
void codes_take_told(struct codes *c, struct bytes told);
void codes_sort(struct codes *c);
/* The last that was made there. */
bool codes_find(const struct codes *c, u64 addr, struct symbol *ret);
void codes_free(struct codes *c);

struct procs;
struct proc;
/* In a process: the module is the path of the file that names it. Reads what was added. */
bool jit_at(struct procs *p, struct proc *proc, u64 addr, struct symbol *ret);
void jit_free(struct procs *p, struct proc *proc);
