/* lines.h - lines of text that the plain run writes, the last ones. */
#pragma once
#include "base/str.h"
#include "base/vec.h"

struct text_line {
	char *s;
	u32 n;
};
struct live_lines {
	struct text_line *line; /* a ring */
	u32 cap;
	u64 n;          /* lines so far; the last of .cap are kept */
	struct sb part; /* what has no line break yet */
};
void text_lines_init(struct live_lines *l, u32 cap);
void text_lines_free(struct live_lines *l);
void text_lines_add(struct live_lines *l, struct str text);  /* pieces of a stream */
struct str text_lines_at(const struct live_lines *l, u64 i); /* "" of one that is not kept */
static inline u64 text_lines_first(const struct live_lines *l)
{
	return l->n > l->cap ? l->n - l->cap : 0;
}
