/*
 * aot.h - a compiled script as an executable file: sonde itself, and behind it the unit.
 *
 *	sonde's own bytes, the unit (core/unitfile.h), its length as u64, "sonde\0AO"
 *
 * Such a file needs no compiler and no BTF where it runs, but programs know where things are in the
 * structures of the kernel that they were compiled for. With options or arguments of the script its
 * text, which is in the unit, is compiled anew.
 */
#pragma once
#include "base/diag.h"
#include "core/unit.h"

struct aot {
	void *p; /* on the heap: a unit; the owner of the struct frees it */
	size_t n;
	char release[64]; /* of the kernel that it was compiled for */
};
struct err *aot_write(const char *path, const struct unit *u, const struct diags *ds) MUST_USE;
bool aot_find(struct aot *ret); /* behind our own executable; false if there is none */
/* As unit_read(). *warning: a sentence about another kernel, on a's memory, or NULL. */
struct err *aot_load(const struct aot *f, struct unit *u, struct arena *a, struct diags *ds,
		     struct host *h, const char **warning) MUST_USE;
