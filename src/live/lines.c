/* lines.c - the last lines of a stream of text; see lines.h. */
#include "live/lines.h"
#include "base/alloc.h"

enum { MAX_LINE = 4096 }; /* bytes; the rest of a longer line is cut */

void text_lines_init(struct live_lines *l, u32 cap)
{
	*l = (struct live_lines){.cap = cap, .line = xcalloc(cap, sizeof(struct text_line))};
}

void text_lines_free(struct live_lines *l)
{
	for (u32 i = 0; i < l->cap; i++)
		free(l->line[i].s);
	free(l->line);
	sb_free(&l->part);
	*l = (struct live_lines){0};
}

/* Tabs become blanks. */
static void end_line(struct live_lines *l)
{
	AUTO_SB b = {0};
	for (size_t i = 0; i < MIN(l->part.n, MAX_LINE); i++) {
		if (l->part.s[i] == '\t')
			sb_pad(&b, ' ', 8 - b.n % 8);
		else
			sb_char(&b, l->part.s[i]);
	}
	struct text_line *to = &l->line[l->n++ % l->cap];
	free(to->s);
	to->s = xmalloc(b.n + 1);
	to->n = (u32)b.n;
	if (b.n)
		memcpy(to->s, b.s, b.n);
	to->s[b.n] = 0;
	sb_clear(&l->part);
}

void text_lines_add(struct live_lines *l, struct str text)
{
	for (u32 i = 0; i < text.n; i++) {
		if (text.s[i] == '\n')
			end_line(l);
		else if (l->part.n < MAX_LINE)
			sb_char(&l->part, text.s[i]);
	}
}

struct str text_lines_at(const struct live_lines *l, u64 i)
{
	if (i >= l->n || i < text_lines_first(l))
		return STR("");
	const struct text_line *line = &l->line[i % l->cap];
	return str_n(line->s, line->n);
}
