/* grid.c - cells of a screen; see grid.h. Widths of characters are a table: a static program has no locale. */
#include "live/grid.h"
#include "base/alloc.h"

/* ---- characters ---- */

struct span {
	u32 from, to;
};

static bool within(const struct span *v, size_t n, u32 ch)
{
	for (size_t i = 0; i < n; i++)
		if (ch >= v[i].from && ch <= v[i].to)
			return true;
	return false;
}

u32 ch_width(u32 ch)
{
	static const struct span none[] = {{0, 31},          {127, 159},       {0x300, 0x36f},
					   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
					   {0x64b, 0x65f},   {0x200b, 0x200f}, {0x2028, 0x202e},
					   {0x2060, 0x2064}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f},
					   {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0000, 0xe0fff}};
	static const struct span wide[] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},  {0x3400, 0x4dbf},
		{0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},
		{0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
		{0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
	if (ch >= 32 && ch < 127)
		return 1;
	if (within(none, countof(none), ch))
		return 0;
	return within(wide, countof(wide), ch) ? 2 : 1;
}

u32 ch_next(struct str s, u32 *bytes)
{
	static const u8 first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	u32 n = str_utf8(s), ch;
	*bytes = MAX(n, 1u);
	if (!n)
		return '?';
	ch = (u8)s.s[0] & first[n];
	for (u32 i = 1; i < n; i++)
		ch = ch << 6 | ((u8)s.s[i] & 0x3f);
	return ch;
}

void ch_put(struct sb *b, u32 ch)
{
	if (ch < 0x80) {
		sb_char(b, (char)ch);
		return;
	}
	u32 more = ch < 0x800 ? 1 : ch < 0x10000 ? 2 : 3;
	static const u8 lead[] = {0, 0xc0, 0xe0, 0xf0};
	sb_char(b, (char)(lead[more] | ch >> 6 * more));
	while (more--)
		sb_char(b, (char)(0x80 | (ch >> 6 * more & 0x3f)));
}

u32 text_columns(struct str s)
{
	u32 n = 0, bytes;
	for (; s.n; s = str_from(s, bytes))
		n += ch_width(ch_next(s, &bytes));
	return n;
}

/* ---- the grid ---- */

void grid_clear(struct grid *g)
{
	for (u32 i = 0; i < g->w * g->h; i++)
		g->cell[i] = (struct cell){.ch = ' '};
}

void grid_size(struct grid *g, u32 w, u32 h)
{
	g->cell = xrealloc(g->cell, ((size_t)w * h + 1) * sizeof(*g->cell));
	g->w = w;
	g->h = h;
	grid_clear(g);
}

void grid_free(struct grid *g)
{
	free(g->cell);
	*g = (struct grid){0};
}

/* Half of a wide character that is overwritten is a blank. */
static void set(struct grid *g, u32 x, u32 y, struct cell c)
{
	struct cell *row = g->cell + (size_t)y * g->w;
	if (!row[x].ch && x)
		row[x - 1].ch = ' ';
	if (x + 1 < g->w && !row[x + 1].ch && c.ch)
		row[x + 1].ch = ' ';
	row[x] = c;
}

void grid_put(struct grid *g, u32 x, u32 y, u32 ch, struct style s)
{
	u32 n = ch_width(ch);
	if (g->ascii && ch > 126) {
		ch = '?';
		n = 1;
	}
	if (!n || x + n > g->w || y >= g->h)
		return;
	set(g, x, y, (struct cell){ch, s});
	if (n == 2)
		set(g, x + 1, y, (struct cell){0, s});
}

u32 grid_text(struct grid *g, u32 x, u32 y, u32 w, struct style s, struct str text)
{
	u32 used = 0, bytes, all = text_columns(text);
	for (; text.n && used < w; text = str_from(text, bytes)) {
		u32 ch = ch_next(text, &bytes), n = g->ascii && ch > 126 ? 1 : ch_width(ch);
		bool last = used + n > w || (used + n >= w && all > w);
		if (last) {
			grid_put(g, x + used, y, '>', s);
			return used + 1;
		}
		grid_put(g, x + used, y, ch, s);
		used += n;
	}
	return used;
}

void grid_right(struct grid *g, u32 x, u32 y, u32 w, struct style s, struct str text)
{
	u32 n = text_columns(text);
	grid_text(g, n < w ? x + w - n : x, y, w, s, text);
}

void grid_fill(struct grid *g, struct rect r, u32 ch, struct style s)
{
	for (u32 y = r.y; y < r.y + r.h; y++)
		for (u32 x = r.x; x < r.x + r.w; x++)
			grid_put(g, x, y, ch, s);
}

void grid_style(struct grid *g, u32 x, u32 y, u32 w, struct style s)
{
	for (u32 i = x; i < x + w && i < g->w && y < g->h; i++)
		g->cell[(size_t)y * g->w + i].style = s;
}

void grid_bar(struct grid *g, u32 x, u32 y, u32 w, struct style s, double part)
{
	double clamped = part < 0 ? 0 : part > 1 ? 1 : part;
	u32 eighths = (u32)(clamped * w * 8 + 0.5);
	if (part > 0 && !eighths)
		eighths = 1;
	for (u32 i = 0; i < w && eighths; i++) {
		u32 n = MIN(eighths, 8u);
		grid_put(g, x + i, y, g->ascii ? n >= 4 || !i ? '#' : ' ' : 0x2590 - n, s);
		eighths -= n;
	}
}

u32 grid_spark(const struct grid *g, double part)
{
	static const char steps[] = " .:-=+*#@";
	u32 n = part <= 0 ? 0 : part >= 1 ? 8 : 1 + (u32)(part * 7);
	if (g->ascii)
		return (u8)steps[n];
	return n ? 0x2580 + n : ' ';
}

void grid_lines(const struct grid *g, struct sb *out)
{
	for (u32 y = 0; y < g->h; y++) {
		size_t end = out->n;
		for (u32 x = 0; x < g->w; x++) {
			u32 ch = g->cell[(size_t)y * g->w + x].ch;
			if (ch)
				ch_put(out, ch);
			end = ch != ' ' ? out->n : end;
		}
		out->n = end;
		sb_char(out, '\n');
	}
}
