/*
 * show.h - a system call while it is being shown: what text.c, arg.c and the other parts have in common.
 *
 * Pieces of memory are those of enter, which were there when the call began, and of exit.
 */
#pragma once
#include "syscall/calls.h"

/* Of a call that is shown in two lines. */
enum half { HALF_NONE, HALF_BEGUN, HALF_REST };

struct shown {
	struct call_head in, out;
	enum half half;
	bool has_in, has_out;
	struct str enter, exit; /* the pieces */
	struct call_arg arg[CALL_ARGS];
	const char *name;
	u32 n, flags;
	struct sb *text;
	struct arena *arena;
};

struct str shown_part(struct shown *s, struct str all, u32 id);
void shown_address(struct shown *s, u64 a);
/* Argument i, whose struct is in its piece of all. */
void shown_struct(struct shown *s, u32 i, struct str all);
/* Data: whole bytes of it there were. */
void shown_data(struct shown *s, struct str t, u64 whole, u64 addr);

void shown_text(struct shown *s, u32 i, bool path);
/* A constant by its name (NULL: it has none), its number, or both, as -X says. */
void shown_constant(struct shown *s, const char *name, u64 v);

/* arg.c: argument i, as its kind (kinds.def) and the flags of the call say. */
void shown_arg(struct shown *s, u32 i);
/* fcntl()'s commands: the same everywhere, but headers have some only for those who ask. */
enum {
	FCNTL_SETSIG = 10,
	FCNTL_GETSIG = 11,
	FCNTL_SETLEASE = 1024,
	FCNTL_ADD_SEALS = 1033,
};

/* filter.c, keys.c: argument i */
void shown_filter(struct shown *s, u32 i);
void shown_keyctl(struct shown *s, u32 i);
void shown_key(struct shown *s, u64 v);

/* msg.c: count buffers, whose pieces are numbered from id on; total bytes are in them. */
void shown_vector(struct shown *s, struct str all, u32 id, struct str vec, u64 count, u64 total);
void shown_message(struct shown *s, u32 i, bool received);
void shown_messages(struct shown *s, u32 i, bool received);

/* result.c */
void shown_result(struct shown *s, const struct call_row *row, const char *name);
