/*
 * flame.c - a flame graph: the stacks of a map as one SVG file.
 *
 * The file holds the whole tree as arrays of numbers, and a drawing of its widest frames for viewers
 * that run no script; flame.js replaces it by what is wide enough at the zoom at hand. Nodes stand in
 * the order of a walk from the root, parents before children.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "sink/picture.h"
#include "sink/profile.h"
#include <errno.h>
#include <fcntl.h>

enum option { OPT_TITLE, OPT_UNIT, OPT_WIDTH, OPT_ICICLE, OPT_REVERSE, OPT_DIFF };
enum { ROW = 17, TOP = 112, SIDE = 10, STATIC_FRAMES = 3000, TOP_FUNCTIONS = 20 };

struct node {
	u32 frame, depth, end; /* end: the first node behind its subtree */
	u64 weight, base;
};
struct line {
	u32 first, n; /* of the profile's stack */
	u64 weight, base;
};
struct flame {
	struct profile p;
	struct str title;
	u32 width;
	bool icicle, reverse;
	const char *diff; /* file of the run before; NULL: none */
	struct sb before; /* what stands in it */
	VEC(struct line) line;
	VEC(struct node) node;
	u32 deepest, *rank; /* rank: by frame */
};

static const struct sink_option options[] = {
	[OPT_TITLE] = {"title", "TEXT", "above the picture"},
	[OPT_UNIT] = {"unit", "WORD", "of the values: samples, ns ..."},
	[OPT_WIDTH] = {"width", "PIXELS", "where no script runs (1200)"},
	[OPT_ICICLE] = {"icicle", NULL, "root on top"},
	[OPT_REVERSE] = {"reverse", NULL, "from the leaves to their callers"},
	[OPT_DIFF] = {"diff", "FILE", "show the difference to these folded stacks (--diff)"},
	{0},
};

/* "a;b c 12": the last blank ends the names. */
static bool split(struct str *text, u64 *n)
{
	u32 at = text->n;
	while (at && text->s[at - 1] != ' ')
		at--;
	if (at < 2 || !str_u64(str_from(*text, at), n))
		return false;
	text->n = at - 1;
	return true;
}

/* Checked before anything is traced. */
static struct err *read_before(struct flame *f)
{
	int no = file_read(f->diff, SIZE_MAX, &f->before);
	struct err *e = no ? err_sys(no, "read %s", f->diff) : NULL;
	struct str rest = sb_str(&f->before), text;
	for (u32 n = 1; !e && str_cut(&rest, '\n', &text); n++) {
		u64 count;
		if (text.n && !split(&text, &count))
			e = err_new("%s:%u: not a folded stack and its count", f->diff, n);
	}
	return e;
}

static struct err *flame_open(void *self, const struct sink_env *env, const struct str *opts)
{
	struct flame *f = self;
	*f = (struct flame){.icicle = opts[OPT_ICICLE].n, .reverse = opts[OPT_REVERSE].n};
	/* Folded stacks know frames by name only: two kinds of one name are one frame there. */
	enum profile_by by = opts[OPT_DIFF].n ? BY_NAME : BY_KIND;
	profile_init(&f->p, env, "flame", by, opts[OPT_UNIT]);
	f->title = picture_title(env, opts[OPT_TITLE], STR("Flame graph"));
	f->width = option_number(opts[OPT_WIDTH], 320, 10000, 1200);
	f->diff = opts[OPT_DIFF].n ? arena_strz(&f->p.arena, opts[OPT_DIFF]) : NULL;
	struct err *e = f->diff ? read_before(f) : NULL;
	if (!e)
		return NULL;
	sb_free(&f->before);
	return profile_close(&f->p, e);
}

static struct err *flame_put(void *self, const struct item *it)
{
	return profile_put(self, it);
}

/* ---- the run before ---- */

/* The name as a folded file has it, where ';' ends a frame. */
static struct str folded_name(struct flame *f, struct str name)
{
	char *s = arena_strz(&f->p.arena, name);
	for (u32 i = 0; i < name.n; i++)
		s[i] = s[i] == ';' ? ':' : s[i];
	return str_n(s, name.n);
}

/* Of a frame with this folded name; what is gone has no kind any more. */
static u32 frame_named(struct flame *f, struct tab *names, struct str name)
{
	u32 at = (u32)(uintptr_t)tab_get(names, name);
	if (at)
		return at - 1;
	struct profile_frame g = {.kind = FRAME_UNKNOWN, .name = arena_str(&f->p.arena, name)};
	vec_add(&f->p.frame, g);
	tab_set(names, g.name, (void *)(uintptr_t)f->p.frame.n);
	return f->p.frame.n - 1;
}

/* What -f folded:annotate marks is not part of the name. */
static struct str unmarked(const struct tab *names, struct str name)
{
	bool marked = name.n > 4 && (str_ends(name, STR("_[k]")) || str_ends(name, STR("_[i]")) ||
				     str_ends(name, STR("_[j]")));
	return marked && !tab_get(names, name) ? str_n(name.s, name.n - 4) : name;
}

static void take_before(struct flame *f, struct tab *names)
{
	for (u32 i = 0; i < f->p.frame.n; i++)
		tab_add(names, folded_name(f, f->p.frame.v[i].name), (void *)(uintptr_t)(i + 1));
	struct str rest = sb_str(&f->before), text, name;
	while (str_cut(&rest, '\n', &text)) {
		struct line l = {.first = f->p.stack.n};
		if (!split(&text, &l.base))
			continue;
		while (str_cut(&text, ';', &name)) {
			bool delimiter = str_is(name, "-") && !tab_get(names, name);
			if (!delimiter)
				vec_add(&f->p.stack, frame_named(f, names, unmarked(names, name)));
		}
		l.n = f->p.stack.n - l.first;
		vec_add(&f->line, l);
	}
}

/* ---- the tree ---- */

static int by_stack(const void *pa, const void *pb, void *self)
{
	const struct flame *f = self;
	const struct line *a = pa, *b = pb;
	const u32 *x = f->p.stack.v + a->first, *y = f->p.stack.v + b->first;
	for (u32 i = 0; i < a->n && i < b->n; i++)
		if (x[i] != y[i])
			return f->rank[x[i]] < f->rank[y[i]] ? -1 : 1;
	return (a->n > b->n) - (a->n < b->n);
}

/* With several maps each has a frame of its own at the root. */
static void take_map(struct flame *f, const struct profile_map *m, struct tab *names)
{
	u32 label = f->p.map.n > 1 ? frame_named(f, names, m->name) : 0;
	for (u32 i = 0; i < m->sample.n; i++) {
		const struct profile_sample *s = &m->sample.v[i];
		struct line l = {s->first, s->n, s->weight, 0};
		if (f->p.map.n > 1) {
			l.first = f->p.stack.n;
			l.n++;
			vec_add(&f->p.stack, label);
			for (u32 k = 0; k < s->n; k++)
				vec_add(&f->p.stack, f->p.stack.v[s->first + k]);
		}
		vec_add(&f->line, l);
	}
}

static void close_nodes(struct flame *f, const u32 *path, u32 from, u32 depth)
{
	for (u32 d = depth; d > from; d--)
		f->node.v[path[d - 1]].end = f->node.n;
}

/* Lines are sorted: what a line shares with the one before stands already. */
static void make_tree(struct flame *f)
{
	u32 longest = 0, depth = 1;
	for (u32 i = 0; i < f->line.n; i++)
		longest = MAX(longest, f->line.v[i].n);
	f->deepest = longest;
	u32 *path AUTO_FREE = xcalloc(longest + 2ul, sizeof(u32));
	vec_add(&f->node, (struct node){0});
	for (u32 i = 0; i < f->line.n; i++) {
		const struct line *l = &f->line.v[i];
		const u32 *stack = f->p.stack.v + l->first;
		u32 same = 0;
		while (same < l->n && same + 1 < depth &&
		       f->node.v[path[same + 1]].frame == stack[same] + 1)
			same++;
		close_nodes(f, path, same + 1, depth);
		for (u32 k = same; k < l->n; k++) {
			path[k + 1] = f->node.n;
			vec_add(&f->node, (struct node){.frame = stack[k] + 1, .depth = k + 1});
		}
		depth = l->n + 1;
		for (u32 k = 0; k < depth; k++) {
			f->node.v[path[k]].weight += l->weight;
			f->node.v[path[k]].base += l->base;
		}
	}
	close_nodes(f, path, 0, depth);
}

static void build(struct flame *f)
{
	struct tab names = {0};
	if (f->diff)
		take_before(f, &names);
	for (u32 i = 0; i < f->p.map.n; i++)
		take_map(f, &f->p.map.v[i], &names);
	tab_free(&names);
	f->rank = profile_ranks(&f->p);
	qsort_r(f->line.v, f->line.n, sizeof(struct line), by_stack, f);
	make_tree(f);
}

/* ---- text ---- */

static struct str frame_name(const struct flame *f, u32 frame)
{
	return frame ? f->p.frame.v[frame - 1].name : STR("all");
}

static struct str unit_of(const struct flame *f)
{
	return f->p.map.v[0].unit;
}

static void put_share(struct sb *b, u64 n, u64 all)
{
	sb_fmt(b, "%.2f %%", all ? 100.0 * (double)n / (double)all : 0.0);
}

static void put_note(const struct flame *f, struct sb *b)
{
	units_grouped(b, f->node.v[0].weight);
	sb_fmt(b, " %.*s in %u stacks", STRF(unit_of(f)), f->line.n);
	const char *slash = f->diff ? strrchr(f->diff, '/') : NULL;
	if (f->diff)
		sb_fmt(b, ", compared with %s", slash ? slash + 1 : f->diff);
	if (f->p.lost)
		sb_fmt(b, "; %llu events were lost", f->p.lost);
}

struct function {
	u32 frame;
	u64 self;
};

static int by_self(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;
	return (a->self < b->self) - (a->self > b->self);
}

/* For those who cannot see it: the functions with the most weight of their own. */
static void put_description(const struct flame *f, struct sb *b)
{
	struct function *v AUTO_FREE = xcalloc(f->p.frame.n + 1ul, sizeof(*v));
	for (u32 i = 0; i <= f->p.frame.n; i++)
		v[i].frame = i;
	for (u32 i = 0; i < f->node.n; i++) {
		const struct node *n = &f->node.v[i];
		u64 self = n->weight;
		for (u32 c = i + 1; c < n->end; c = f->node.v[c].end)
			self -= f->node.v[c].weight;
		v[n->frame].self += self;
	}
	qsort(v, f->p.frame.n + 1ul, sizeof(*v), by_self);
	put_note(f, b);
	sb_z(b, ". Most in the function itself:");
	for (u32 i = 0; i < TOP_FUNCTIONS && i <= f->p.frame.n && v[i].self; i++) {
		struct str name = frame_name(f, v[i].frame);
		sb_fmt(b, "\n%.*s ", STRF(name));
		put_share(b, v[i].self, f->node.v[0].weight);
	}
}

/* ---- the drawing without script ---- */

/* Light ground only: hue, saturation, lightness as in flame.js. */
static void put_fill(const struct flame *f, const struct node *n, struct sb *b)
{
	static const u16 colour[FRAME_KINDS][3] = {
		[FRAME_USER] = {28, 85, 68},    [FRAME_LIBRARY] = {48, 85, 70},
		[FRAME_KERNEL] = {205, 65, 72}, [FRAME_INLINED] = {28, 90, 84},
		[FRAME_JIT] = {310, 40, 78},    [FRAME_UNKNOWN] = {0, 0, 80},
		[FRAME_LABEL] = {235, 22, 86},  [FRAME_PYTHON] = {130, 45, 70},
		[FRAME_RUBY] = {340, 55, 72},   [FRAME_PHP] = {265, 50, 78},
		[FRAME_PERL] = {180, 45, 66},   [FRAME_JAVASCRIPT] = {55, 75, 64},
		[FRAME_JAVA] = {92, 48, 66},
	};
	const u16 *c = colour[n->frame ? f->p.frame.v[n->frame - 1].kind : FRAME_LABEL];
	if (!f->diff) {
		put_colour(b, c[0], c[1], c[2]);
		return;
	}
	double all = (double)f->node.v[0].weight, before = (double)f->node.v[0].base;
	double w = all > 0 ? (double)n->weight / all : 0,
	       o = before > 0 ? (double)n->base / before : 0;
	double t = MAX(w, o) > 0 ? (w - o) / MAX(w, o) : 0, a = t < 0 ? -t : t;
	put_colour(b, t > 0 ? 28 : 212, (u32)(85 * a), (u32)(88 - 22 * a));
}

static double scale_of(const struct flame *f)
{
	u64 all = f->node.v[0].weight;
	return (double)(f->width - 2 * SIDE) / (double)(all ? all : 1);
}

/* The narrowest frame that is drawn. */
static double least_width(const struct flame *f)
{
	for (double least = 1;; least *= 2) {
		u32 n = 0;
		for (u32 i = 0; i < f->node.n; i++)
			n += (double)f->node.v[i].weight * scale_of(f) >= least;
		if (n <= STATIC_FRAMES)
			return least;
	}
}

static void draw_frame(const struct flame *f, const struct node *n, double x, double y,
		       struct sb *b)
{
	double width = (double)n->weight * scale_of(f);
	struct str name = frame_name(f, n->frame);
	u32 fits = width > 28 ? (u32)((width - 6) / 7.23) : 0;
	AUTO_SB title = {0};
	sb_fmt(&title, "%.*s (", STRF(name));
	units_grouped(&title, n->weight);
	sb_fmt(&title, " %.*s, ", STRF(unit_of(f)));
	put_share(&title, n->weight, f->node.v[0].weight);
	sb_char(&title, ')');
	sb_z(b, "<g>");
	xml_element(b, "title", "", sb_str(&title));
	sb_fmt(b, "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"", x, y, width,
	       ROW - 1);
	put_fill(f, n, b);
	sb_z(b, "\"/>");
	if (fits >= 3) {
		bool cut = utf8_columns(name) > fits;
		sb_fmt(b, "<text x=\"%.1f\" y=\"%.0f\">", x + 3, y + 12);
		xml_text(b, cut ? utf8_cut(name, fits - 1) : name);
		sb_z(b, cut ? "…</text>" : "</text>");
	}
	sb_z(b, "</g>\n");
}

/* Of the frames that are drawn. */
static u32 deepest_drawn(const struct flame *f, double least)
{
	u32 depth = 0;
	for (u32 i = 0; i < f->node.n; i++)
		if ((double)f->node.v[i].weight * scale_of(f) >= least)
			depth = MAX(depth, f->node.v[i].depth);
	return depth;
}

static u32 height_of(const struct flame *f)
{
	return TOP + (deepest_drawn(f, least_width(f)) + 1) * ROW + 14;
}

static void draw(const struct flame *f, struct sb *b)
{
	double least = least_width(f);
	u32 rows = deepest_drawn(f, least);
	double *x AUTO_FREE = xcalloc(f->deepest + 2ul, sizeof(double));
	AUTO_SB note = {0};
	put_note(f, &note);
	sb_z(b, "<g id=\"f\">\n");
	picture_head(b, f->width, f->title, f->p.env.where, sb_str(&note));
	x[0] = SIDE;
	/* x[depth]: where the next node of that depth begins. */
	for (u32 i = 0; i < f->node.n; i++) {
		const struct node *n = &f->node.v[i];
		double width = (double)n->weight * scale_of(f);
		if (width >= least)
			draw_frame(f, n, x[n->depth],
				   TOP + (f->icicle ? n->depth : rows - n->depth) * ROW, b);
		x[n->depth + 1] = x[n->depth];
		x[n->depth] += width;
	}
	sb_z(b, "</g>\n");
}

/* ---- the data ---- */

static void put_names(struct flame *f, struct sb *b)
{
	sb_z(b, ",\n\"S\":[");
	for (u32 i = 0; i <= f->p.frame.n; i++) {
		sb_z(b, i ? "," : "");
		json_str(b, frame_name(f, i));
	}
	sb_z(b, "],\n\"K\":[");
	for (u32 i = 0; i <= f->p.frame.n; i++)
		sb_fmt(b, "%s%u", i ? "," : "", i ? f->p.frame.v[i - 1].kind : FRAME_LABEL);
	sb_z(b, "]");
}

/* Module 0 has no name. */
static void put_modules(struct flame *f, struct sb *b)
{
	struct tab known = {0};
	tab_set(&known, STR(""), (void *)1);
	sb_z(b, ",\n\"O\":[0");
	for (u32 i = 0; i < f->p.frame.n; i++) {
		struct str m = f->p.frame.v[i].module;
		size_t at = (size_t)(uintptr_t)tab_get(&known, m);
		if (!at) {
			at = known.n + 1;
			tab_set(&known, m, (void *)at);
		}
		sb_fmt(b, ",%zu", at - 1);
	}
	sb_z(b, "],\n\"M\":[");
	for (u32 i = 0; i < known.n; i++) {
		sb_z(b, i ? "," : "");
		json_str(b, known.v[i].key);
	}
	sb_z(b, "]");
	tab_free(&known);
}

static void put_column(const struct flame *f, struct sb *b, char name, size_t off)
{
	sb_fmt(b, ",\n\"%c\":[", name);
	for (u32 i = 0; i < f->node.n; i++) {
		const u8 *at = (const u8 *)&f->node.v[i] + off;
		bool wide = off >= offsetof(struct node, weight);
		if (i)
			sb_char(b, ',');
		sb_u64(b, wide ? *(const u64 *)(const void *)at : *(const u32 *)(const void *)at);
	}
	sb_char(b, ']');
}

static void put_data(struct flame *f, struct sb *b)
{
	AUTO_SB note = {0};
	put_note(f, &note);
	sb_z(b, "{\"title\":");
	json_str(b, f->title);
	sb_z(b, ",\"where\":");
	json_str(b, f->p.env.where);
	sb_z(b, ",\"note\":");
	json_str(b, sb_str(&note));
	sb_z(b, ",\"unit\":");
	json_str(b, unit_of(f));
	sb_fmt(b, ",\"width\":%u,\"icicle\":%s,\"reverse\":%s", f->width,
	       f->icicle ? "true" : "false", f->reverse ? "true" : "false");
	put_names(f, b);
	put_modules(f, b);
	put_column(f, b, 'F', offsetof(struct node, frame));
	put_column(f, b, 'D', offsetof(struct node, depth));
	put_column(f, b, 'W', offsetof(struct node, weight));
	if (f->diff)
		put_column(f, b, 'B', offsetof(struct node, base));
	sb_char(b, '}');
}

static void write_picture(struct flame *f)
{
	AUTO_SB desc = {0};
	AUTO_SB json = {0};
	struct sb *b = &f->p.o.b;
	put_description(f, &desc);
	put_data(f, &json);
	picture_begin(b, f->width, height_of(f), f->title, sb_str(&desc));
	draw(f, b);
	picture_end(b, sb_str(&json), "/flame.js");
}

static struct err *flame_close(void *self)
{
	struct flame *f = self;
	bool show;
	struct err *e = profile_end(&f->p, &show);
	if (show) {
		build(f);
		write_picture(f);
	}
	sb_free(&f->before);
	vec_free(&f->line);
	vec_free(&f->node);
	free(f->rank);
	return profile_close(&f->p, e);
}

const struct sink sink_flame = {
	.name = "flame",
	.doc = "maps keyed by stacks: a flame graph, one SVG file",
	.ending = ".svg",
	.whole = true,
	.maps = true,
	.keys = KEYS_BY_PLACE,
	.files = true,
	.shows = PROFILE_SHOWS,
	.example = PROFILE_EXAMPLE,
	.why_not = profile_why_not,
	.size = sizeof(struct flame),
	.options = options,
	.open = flame_open,
	.put = flame_put,
	.close = flame_close,
	.show = profile_show,
};
