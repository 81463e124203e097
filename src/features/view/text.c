/* text.c - lines that the plain run prints: printf(), tables, errors. It follows the end unless told otherwise. */
#include "base/json.h"
#include "view/common.h"

/* Lines up to the reading that is shown, which pass the filter: the last of them, at most page, from below. */
static u64 end_of(const struct view_env *v)
{
	return v->back && v->look.at ? v->look.at->lines[v->text] : v->lines->n;
}

static bool passes(const struct view_env *v, u64 i)
{
	struct str line = text_lines_at(v->lines, i), rest = v->filter, word;
	while (str_cut(&rest, ' ', &word))
		if (word.n && str_find(line, word) < 0)
			return false;
	return true;
}

/* The lines to show, the last one first. st->cursor counts lines from the end, 0 follows it; where it is too
 * large for the lines that there are, it is made smaller. */
static u32 choose(struct view_env *v, u64 *show, u32 most)
{
	u32 found = 0, seen = 0;
	for (u64 i = end_of(v); i > text_lines_first(v->lines) && found < most; i--)
		if (passes(v, i - 1) && seen++ >= v->st->cursor)
			show[found++] = i - 1;
	if (found < most)
		v->st->cursor = seen > most ? seen - most : 0;
	return found;
}

static void draw(struct view_env *v, struct grid *g, struct rect r)
{
	struct view_state *st = v->st;
	u64 *show = arena_newn(v->a, u64, r.h + 1);
	u32 found = choose(v, show, r.h);
	st->page = MAX(r.h, 1u);
	st->n = 0;
	if (found < r.h && st->cursor) /* the first line is not scrolled out */
		found = choose(v, show, r.h);
	for (u32 i = 0; i < found; i++) {
		AUTO_SB b = {0};
		sb_visible(&b, text_lines_at(v->lines, show[found - 1 - i]));
		grid_text(g, r.x, r.y + i, r.w, PLAIN, sb_str(&b));
	}
	if (!found)
		grid_text(g, r.x, r.y, r.w, INK(DIM),
			  v->filter.n ? STR("no line passes the filter") : STR("no lines yet"));
}

static bool move(struct view_env *v, int dx, int dy)
{
	struct view_state *st = v->st;
	(void)dx;
	i64 to = (i64)st->cursor - dy;
	st->cursor = to < 0 ? 0 : (u32)MIN(to, (i64)UINT32_MAX);
	return true;
}

static void json(struct view_env *v, struct sb *b)
{
	enum { MOST = 300 };
	u64 show[MOST];
	u32 found = choose(v, show, MOST);
	sb_char(b, '[');
	while (found--) {
		AUTO_SB line = {0};
		sb_visible(&line, text_lines_at(v->lines, show[found]));
		json_str(b, sb_str(&line));
		sb_z(b, found ? ", " : "");
	}
	sb_char(b, ']');
}

static bool fits(const struct live_table *t, const struct live_row *row)
{
	(void)row;
	return !t;
}

static bool is_default(const struct live_table *t, const struct live_row *row)
{
	return fits(t, row);
}

const struct live_view view_text = {
	.name = "text",
	.doc = "lines that the script prints",
	.fits = fits,
	.is_default = is_default,
	.draw = draw,
	.json = json,
	.move = move,
};
