/*
 * query_names.h - names of addresses in stacks, as the recording has them. They were looked up while
 * the processes lived; each address that a program gets is noted with its name here.
 */
#pragma once
#include "rec/read.h"
#include "report/reader.h"

struct query_names {
	struct tab known; /* struct known_frame by address and process */
	struct arena a;
	u64 ambiguous; /* addresses that had two names */
};
void query_names_free(struct query_names *n);
/* Note the frame of process pid (0: the kernel's). */
void query_names_note(struct query_names *n, u32 pid, const struct rec_frame *f,
		      const struct rec_mapping *m);
bool query_names_find(struct query_names *n, u32 pid, u64 addr, struct symbol *ret);
