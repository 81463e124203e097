/* names.h - words for numbers of the kernel's interface, as columns of tables show them. */
#pragma once
#include "base/str.h"

struct names; /* one table */
/* "signal", "errno", "tcp_state" ...; NULL: there is no such table. */
const struct names *names_find(struct str table);
/* What it is found by. */
struct str names_table(const struct names *t);
/* The greatest number that there can be. */
u64 names_most(const struct names *t);
/* A number in words; false: the table has none for it, and nothing was written. */
bool names_put(struct sb *out, const struct names *t, i64 n);
extern const char names_list[]; /* all tables, for messages */
