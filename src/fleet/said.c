/* said.c - see the header. */
#include "fleet/said.h"

enum {
	MAX_SHOWN = 16 << 10, /* bytes of all lines */
	MAX_LINE = 1000,
};

void said_end(struct said *s, struct sb *shown)
{
	AUTO_SB seen = {0};
	struct str line = sb_str(&s->line), text = str_trim(line);
	bool wrong = str_find(text, STR("ERROR: ")) >= 0, starts = str_starts(text, STR("ERROR: "));
	while (line.n && line.s[line.n - 1] == '\r') /* of a terminal */
		line.n--;
	sb_visible(&seen, line);
	if (text.n && !s->wrong) {
		sb_clear(&s->reason);
		sb_visible(&s->reason, str_from(text, starts ? sizeof("ERROR: ") - 1 : 0));
		s->wrong = wrong;
	}
	if (text.n && !s->flooded) {
		s->flooded = shown->n + seen.n >= MAX_SHOWN;
		sb_fmt(shown, "%s\n", s->flooded ? "(more messages are left out)" : seen.s);
	}
	sb_clear(&s->line);
}

void said_take(struct said *s, struct str bytes, struct sb *shown)
{
	for (u32 i = 0; i < bytes.n; i++)
		if (bytes.s[i] == '\n')
			said_end(s, shown);
		else if (s->line.n < MAX_LINE)
			sb_char(&s->line, bytes.s[i]);
}

void said_forget(struct said *s)
{
	sb_clear(&s->reason);
	s->wrong = false;
}

void said_free(struct said *s)
{
	sb_free(&s->line);
	sb_free(&s->reason);
}
