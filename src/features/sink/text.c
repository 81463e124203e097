/* text.c - the terminal: results as bpftrace prints them, remarks on the error stream. */
#include "core/columns.h"
#include "sink/out.h"
#include <sys/ioctl.h>

struct text {
	struct out o;
	struct sink_env env;
	const struct columns *head; /* whose heading stands above the next row */
	u32 width;                  /* of the terminal; 0: none, nothing is cut */
	struct sb host;             /* whose text is the line that has begun; "": all hosts */
	bool begun;                 /* a line has no end yet */
	struct sb cell;
};

static struct err *text_open(void *self, const struct sink_env *env, const struct str *opts)
{
	(void)opts;
	struct text *t = self;
	t->env = *env;
	out_init(&t->o, env);
	return NULL;
}

static void text_show(const void *self, struct show *results, struct show *remarks)
{
	const struct text *t = self;
	*results = t->env.how;
	*remarks = t->env.how_remarks;
}

static void put_value(struct text *t, const struct value *v)
{
	if (t->env.old && v->kind == V_STATS)
		sb_fmt(&t->o.b, "count %lld, average %lld, total %lld", v->list[0].i, v->list[1].i,
		       v->list[2].i);
	else
		value_text(&t->o.b, v, &t->env.how);
}

static void put_map(struct text *t, const struct item *it)
{
	struct sb *b = &t->o.b;
	bool large = false;
	for (u64 i = 0; i < it->map.n && !t->o.failed; i++) {
		struct item_row row = item_row(it, i);
		sb_add(b, it->name);
		if (row.key) {
			sb_char(b, '[');
			value_key_text(b, row.key, &t->env.how);
			sb_char(b, ']');
		}
		large = row.val->kind == V_HIST || row.val->kind == V_SERIES;
		sb_z(b, large ? ":\n" : ": ");
		put_value(t, row.val);
		sb_char(b, '\n');
		out_room(&t->o);
	}
	if (t->env.old && !large)
		sb_char(b, '\n');
}

/* Columns of the terminal; may change while we run. */
static u32 terminal_width(const struct text *t)
{
	struct winsize w;
	int fd = t->env.screen ? t->env.screen : t->env.out;
	return !t->env.wide && isatty(fd) && !ioctl(fd, TIOCGWINSZ, &w) ? w.ws_col : 0;
}

/* How many columns of a terminal a text takes, in code points. */
static u32 text_width(struct str s)
{
	u32 n = 0;
	for (u32 i = 0; i < s.n; i++)
		n += ((u8)s.s[i] & 0xc0) != 0x80;
	return n;
}

/* At most so many columns of it; what is cut ends in "..". */
static void cut_text(struct sb *b, u32 most)
{
	size_t at = 0, mark = 0;
	u32 n = 0;
	if (text_width(sb_str(b)) <= most)
		return;
	for (; at < b->n && n <= most; at++) {
		bool starts = ((u8)b->s[at] & 0xc0) != 0x80;
		if (starts && n + 2 <= most)
			mark = at;
		n += starts;
	}
	b->n = mark;
	sb_z(b, most >= 2 ? ".." : "");
}

struct place {
	u32 at;    /* columns of the line that are taken */
	bool last; /* nothing stands behind it */
};

/* One cell, from t->cell, padded or cut as the column says. */
static void put_cell(struct text *t, const struct column *c, bool may_cut, struct place *p)
{
	struct sb *b = &t->o.b;
	if (t->width && p->last && t->width > p->at && may_cut)
		cut_text(&t->cell, t->width - p->at);
	else if (t->width && !p->last && c->width && may_cut)
		cut_text(&t->cell, c->width);
	u32 n = text_width(sb_str(&t->cell)), pad = n < c->width ? c->width - n : 0;
	if (c->right)
		sb_pad(b, ' ', pad);
	sb_add(b, sb_str(&t->cell));
	if (!c->right && !p->last)
		sb_pad(b, ' ', pad);
	bool gap = c->unit != COL_INDENT;
	p->at += n + pad + gap;
	if (!p->last && gap)
		sb_char(b, ' ');
}

/* Index of the last column on the line, or -1. */
static i32 last_column(const struct columns *c)
{
	for (i32 i = (i32)c->n - 1; i >= 0; i--)
		if (column_in_line(&c->col[i]))
			return i;
	return -1;
}

/* What stands behind the load, alone: ", 3 more rows (last 2.3 s)". */
static void put_beside_load(struct text *t, struct str line)
{
	while (line.n && (line.s[0] == ',' || line.s[0] == ' '))
		line = str_from(line, 1);
	if (line.n)
		sb_fmt(&t->o.b, "%.*s\n", STRF(line));
}

/* Of a table that is a screen: on a terminal it takes the place of the one before. */
static void put_screen(struct text *t, const struct item *it)
{
	if (!t->env.scroll && isatty(t->env.out))
		sb_z(&t->o.b, "\x1b[H\x1b[2J");
	else if (t->head)
		sb_char(&t->o.b, '\n');
	if (t->env.no_load)
		put_beside_load(t, it->str);
	else
		sb_fmt(&t->o.b, "%.*s%.*s\n", STRF(it->name), STRF(it->str));
}

/* Dashes as wide as the columns. */
static void put_rule(struct text *t, const struct columns *c)
{
	struct sb *b = &t->o.b;
	i32 last = last_column(c);
	for (i32 i = 0; i <= last; i++) {
		const struct column *k = &c->col[i];
		if (!column_in_line(k))
			continue;
		sb_pad(b, '-', MAX(k->width, text_width(k->heading)));
		sb_char(b, i == last ? '\n' : ' ');
	}
}

static void put_head(struct text *t, const struct columns *c)
{
	struct place p = {0};
	i32 last = last_column(c);
	t->width = c->bare ? 0 : terminal_width(t);
	t->head = c;
	if (c->bare)
		return;
	for (i32 i = 0; i <= last; i++) {
		if (!column_in_line(&c->col[i]))
			continue;
		p.last = i == last;
		sb_clear(&t->cell);
		sb_add(&t->cell, c->col[i].heading);
		put_cell(t, &c->col[i], false, &p);
	}
	sb_char(&t->o.b, '\n');
	if (c->ruled)
		put_rule(t, c);
}

/* Text as lines of their own. What is no text is escaped; a carriage return may end a line, too. An empty
 * line ends all. */
static void put_lines(struct sb *b, struct str text)
{
	bool empty = false;
	while (text.n) {
		i32 end = str_chr(text, '\n');
		struct str line = str_n(text.s, end < 0 ? text.n : (u32)end);
		text = str_from(text, end < 0 ? text.n : (u32)end + 1);
		if (end >= 0 && str_ends(line, STR("\r")))
			line.n--;
		sb_z(b, line.n ? "    " : "");
		sb_visible(b, line);
		sb_char(b, '\n');
		empty = !line.n;
	}
	sb_z(b, empty ? "" : "\n");
}

static bool is_text(const struct value *v)
{
	return v->kind == V_BYTES || v->kind == V_STR;
}

/* Stacks and texts stand below the row that they belong to, and above its histogram. A stack's text
 * begins with an empty line. */
static void put_stacks(struct text *t, const struct item *it)
{
	struct sb *b = &t->o.b;
	bool any = false, spaced = it->row.columns->spaced;
	for (u32 i = 0; i < it->row.columns->n; i++) {
		if (it->row.columns->col[i].unit == COL_BELOW && is_text(&it->row.val[i]) &&
		    it->row.val[i].str.n)
			put_lines(b, it->row.val[i].str);
		if (it->row.columns->col[i].unit != COL_BELOW || it->row.val[i].kind != V_STACK ||
		    !it->row.val[i].n)
			continue;
		sb_clear(&t->cell);
		value_text(&t->cell, &it->row.val[i], &(struct show){t->env.how.trailer, true});
		sb_add(b, str_from(sb_str(&t->cell), spaced && !any));
		any = true;
	}
	if (spaced && any)
		sb_char(b, '\n');
}

/* Behind the line's last column, below which they stand. */
static void put_members(struct text *t, const struct item *it, u32 at)
{
	for (u32 i = 0; i < it->row.columns->n; i++)
		if (it->row.columns->col[i].unit == COL_MEMBERS)
			members_text(&t->o.b, &it->row.val[i], at, t->env.how.trailer);
}

/* "p50 <= 127  max <= 255  n 12": those of a histogram in a row that are asked for. */
static void put_percentiles(struct text *t, const struct columns *c, u32 hist,
			    const struct value *v)
{
	struct sb *b = &t->o.b;
	bool any = false;
	for (u32 i = 0; i < c->n; i++) {
		if (!c->col[i].part || c->col[i].index != c->col[hist].index)
			continue;
		sb_fmt(b, "%.*s ", STRF(c->col[i].heading));
		value_percentile_text(b, v, c->col[i].part - 1);
		sb_z(b, "  ");
		any = true;
	}
	if (any)
		sb_fmt(b, "n %llu\n", value_observations(v));
}

/* "disk = sda, usecs:", and the histogram. */
static void put_hist_row(struct text *t, const struct item *it)
{
	struct sb *b = &t->o.b;
	const struct columns *c = it->row.columns;
	bool any = false;
	put_stacks(t, it);
	for (u32 i = 0; i < c->n; i++) {
		if (!column_in_line(&c->col[i]) || it->row.val[i].kind == V_NONE)
			continue;
		sb_fmt(b, "%s%.*s = ", any ? ", " : "", STRF(c->col[i].heading));
		column_text(b, &c->col[i], &it->row.val[i], t->env.how.trailer);
		any = true;
	}
	for (u32 i = 0; i < c->n; i++) {
		if (it->row.val[i].kind != V_HIST)
			continue;
		sb_fmt(b, "%s%.*s:\n", any ? ", " : "", STRF(c->col[i].heading));
		value_hist_text(b, &it->row.val[i], terminal_width(t));
		put_percentiles(t, c, i, &it->row.val[i]);
		sb_char(b, '\n');
		any = false;
	}
}

/* What stands above a report. */
static void put_line(struct text *t, struct str line)
{
	sb_add(&t->o.b, line);
	sb_z(&t->o.b, line.n ? "\n" : "");
}

/* A bare row ends behind the last thing that it has. */
static i32 last_cell(const struct item *it)
{
	const struct columns *c = it->row.columns;
	i32 last = last_column(c);
	while (c->bare && last > 0 &&
	       (!column_in_line(&c->col[last]) || it->row.val[last].kind == V_NONE))
		last--;
	return last;
}

static void put_row(struct text *t, const struct item *it)
{
	const struct columns *c = it->row.columns;
	struct place p = {0};
	i32 last = last_cell(it);
	u32 at = 0; /* of the last cell */
	put_line(t, it->str);
	if (item_has_hist(it)) {
		put_hist_row(t, it);
		t->head = c;
		return;
	}
	if (t->head != c)
		put_head(t, c);
	for (i32 i = 0; i <= last; i++) {
		if (!column_in_line(&c->col[i]))
			continue;
		if (c->bare && it->row.val[i].kind == V_NONE)
			continue;
		p.last = i == last;
		sb_clear(&t->cell);
		if (it->kind == I_ROW || it->row.val[i].kind != V_NONE)
			column_text(&t->cell, &c->col[i], &it->row.val[i], t->env.how.trailer);
		/* Numbers are never cut, and texts within the line only when they are nothing else. */
		enum value_kind kind = it->row.val[i].kind;
		bool number = kind == V_INT || kind == V_UINT;
		at = p.at;
		put_cell(t, &c->col[i], p.last ? !number : kind == V_STR, &p);
	}
	put_members(t, it, at);
	sb_char(&t->o.b, '\n');
	put_stacks(t, it);
}

/* Of a merged answer: each line begins with the name of its host. */
static void put_line_of(struct text *t, struct str host, struct str line)
{
	if (t->begun && !str_eq(sb_str(&t->host), host)) {
		sb_char(&t->o.b, '\n');
		t->begun = false;
	}
	if (!t->begun && host.n)
		sb_fmt(&t->o.b, "%.*s: ", STRF(host));
	sb_add(&t->o.b, line);
	sb_clear(&t->host);
	sb_add(&t->host, host);
}

static void put_text(struct text *t, const struct item *it, struct str text)
{
	struct str line;
	while (text.n) {
		i32 end = str_chr(text, '\n');
		line = str_n(text.s, end < 0 ? text.n : (u32)end + 1);
		put_line_of(t, it->host, line);
		t->begun = end < 0;
		text = str_from(text, line.n);
	}
	if (it->text.line) {
		put_line_of(t, it->host, STR("\n"));
		t->begun = false;
	}
}

static void put_value_of(struct text *t, const struct item *it)
{
	put_line_of(t, it->host, STR(""));
	put_value(t, it->text.val);
	sb_char(&t->o.b, '\n');
	t->begun = false;
}

static struct err *text_put(void *self, const struct item *it)
{
	struct text *t = self;
	switch (it->kind) {
	case I_TEXT: put_text(t, it, it->str); break;
	case I_VALUE: put_value_of(t, it); break;
	case I_MAP: put_map(t, it); break;
	case I_STATUS:
		if (t->env.old && !t->env.quiet)
			sb_fmt(&t->o.b, "Attaching %llu probe%s...\n", it->status.n,
			       it->status.n == 1 ? "" : "s");
		else if (!t->env.quiet)
			out_remark(&t->o, &t->env, it);
		break;
	case I_ERROR:
	case I_COST:
	case I_LOST: out_remark(&t->o, &t->env, it); break;
	case I_FLEET:
		sb_z(&t->o.b, t->begun ? "\n" : "");
		put_line(t, it->str);
		break;
	case I_END:
		if (!it->end.n) /* a table ends with its last row */
			sb_z(&t->o.b, "\n\n");
		break;
	case I_HEAD:
		if (it->row.columns->top)
			put_screen(t, it);
		else
			put_line(t, it->str);
		put_head(t, it->row.columns);
		break;
	case I_TOTAL:
		if (it->row.columns->ruled)
			put_rule(t, it->row.columns);
		put_row(t, it);
		break;
	case I_ROW: put_row(t, it); break;
	case I_SNAPSHOT:
	case I_KEPT: break;
	}
	return out_item(&t->o);
}

static struct err *text_flush(void *self)
{
	struct text *t = self;
	return t->o.buffering == 'f' ? NULL : out_flush(&t->o);
}

static struct err *text_close(void *self)
{
	struct text *t = self;
	sb_free(&t->cell);
	sb_free(&t->host);
	return out_close(&t->o);
}

const struct sink sink_text = {
	.name = "text",
	.doc = "lines for people, as bpftrace prints them",
	.text = true,
	.size = sizeof(struct text),
	.open = text_open,
	.put = text_put,
	.flush = text_flush,
	.close = text_close,
	.show = text_show,
};
