/*
 * query_names.h - names of addresses in stacks, as the recording has them. They were looked up while
 * the processes lived; each address that a program gets is noted with its name here.
 *
 * A frame of an interpreted language has no address. Programs get a word for it, as those do that walk
 * stacks on a machine (core/unwind.h): the same for frames that are shown alike.
 */
#pragma once
#include "rec/read.h"
#include "report/reader.h"

struct query_names {
	struct tab known; /* struct known_frame by address and process */
	struct tab codes; /* number of such a frame, and 1, by what is shown */
	VEC(struct interp_frame) code;
	struct arena a;
	u64 ambiguous; /* addresses that had two names */
};
void query_names_free(struct query_names *n);
/* A frame of an interpreted language. */
bool query_names_is_code(const struct rec_frame *f, const struct rec_mapping *m);
/* Note such a frame. Its word; 0: there are too many of them. */
u64 query_names_note_code(struct query_names *n, const struct rec_frame *f,
			  const struct rec_mapping *m);
bool query_names_code(const struct query_names *n, u64 word, struct interp_frame *ret);
/* Note another frame, of process pid (0: the kernel's). */
void query_names_note(struct query_names *n, u32 pid, const struct rec_frame *f,
		      const struct rec_mapping *m);
bool query_names_find(struct query_names *n, u32 pid, u64 addr, struct symbol *ret);
