/*
 * flame.c - a flame graph, drawn downwards: the first line is the sum of all stacks, below each frame are
 * those that it called, as wide as their share. Arrows select a frame, Enter makes it as wide as the
 * screen.
 */
#include "base/json.h"
#include "base/tab.h"
#include "live/view.h"
#include "view/common.h"

/* A frame as it was drawn. */
struct flame_box {
	u64 id, parent;
	u32 x, w, depth;
};

struct node {
	u64 id; /* of its name and of its callers' */
	struct str name;
	double weight;
	struct node *parent, *child, *next;
};

struct drawing {
	struct view_env *v;
	struct grid *g;
	struct rect r;
	struct node *root, *selected;
	u32 cap;
};

/* ---- the tree ---- */

static u64 id_of(u64 parent, struct str name)
{
	return (parent * 31 + str_hash(name)) | 1;
}

static struct node *child_of(struct arena *a, struct node *parent, struct str name)
{
	u64 id = id_of(parent->id, name);
	for (struct node *n = parent->child; n; n = n->next)
		if (n->id == id)
			return n;
	struct node *n = arena_new(a, struct node);
	*n = (struct node){.id = id, .name = name, .parent = parent, .next = parent->child};
	parent->child = n;
	return n;
}

static double weight_of(const struct live_table *t, const struct live_entry *e)
{
	double w = t->kind == LIVE_NUMBER ? (double)e->all.n : (double)e->all.count;
	return w > 0 ? w : 0;
}

static struct node *tree_of(struct view_env *v)
{
	struct live_entries e = view_entries(v, W_KEY);
	struct node *root = arena_new(v->a, struct node);
	*root = (struct node){.id = 1, .name = STR("all")};
	for (u32 i = 0; i < e.n; i++) {
		double w = weight_of(v->t, &e.v[i]);
		struct node *n = root;
		root->weight += w;
		for (u32 k = 0; k < e.v[i].row->nframe && w > 0; k++) {
			n = child_of(v->a, n, e.v[i].row->frame[k]);
			n->weight += w;
		}
	}
	return root;
}

static int by_name(const void *pa, const void *pb)
{
	const struct node *const *a = pa, *const *b = pb;
	return str_cmp((*a)->name, (*b)->name);
}

static void sort_children(struct arena *a, struct node *n)
{
	u32 count = 0;
	for (struct node *c = n->child; c; c = c->next)
		count++;
	struct node **v = arena_newn(a, struct node *, count + 1);
	u32 i = 0;
	for (struct node *c = n->child; c; c = c->next)
		v[i++] = c;
	qsort(v, count, sizeof(struct node *), by_name);
	n->child = count ? v[0] : NULL;
	for (i = 0; i < count; i++)
		v[i]->next = i + 1 < count ? v[i + 1] : NULL;
}

static struct node *node_of(struct node *n, u64 id)
{
	if (n->id == id)
		return n;
	for (struct node *c = n->child; c; c = c->next) {
		struct node *found = node_of(c, id);
		if (found)
			return found;
	}
	return NULL;
}

/* ---- drawing ---- */

static struct style style_of(const struct drawing *d, const struct node *n)
{
	bool on = d->selected == n && d->v->focus;
	return (struct style){(u8)(INK_FRAME + n->id / 2 % FRAME_INKS), on ? STYLE_REVERSE : 0};
}

static void note_box(struct drawing *d, const struct node *n, struct rect at)
{
	struct view_state *st = d->v->st;
	if (st->nbox == d->cap)
		st->boxes = vec_grow(st->boxes, st->nbox, &d->cap, sizeof(*st->boxes));
	st->boxes[st->nbox++] =
		(struct flame_box){n->id, n->parent ? n->parent->id : 0, at.x, at.w, at.y - d->r.y};
}

/* at: the cells of the frame; its callees get those below, the narrowest none. */
static void draw_node(struct drawing *d, struct node *n, struct rect at)
{
	AUTO_SB b = {0};
	struct style s = style_of(d, n);
	note_box(d, n, at);
	grid_fill(d->g, at, d->g->ascii ? '-' : ' ', s);
	sb_fmt(&b, at.w > 2 ? "|%.*s" : "|", STRF(n->name));
	grid_text(d->g, at.x, at.y, at.w, s, sb_str(&b));
	if (at.y + 1 >= d->r.y + d->r.h)
		return;
	sort_children(d->v->a, n);
	double sum = 0;
	for (struct node *c = n->child; c; c = c->next) {
		u32 from = (u32)(sum / n->weight * at.w + 0.5);
		sum += c->weight;
		u32 to = (u32)(sum / n->weight * at.w + 0.5);
		if (to > from)
			draw_node(d, c, (struct rect){at.x + from, at.y + 1, to - from, 1});
	}
}

/* Callers of the frame that is as wide as all. */
static u32 draw_callers(struct drawing *d, struct node *n)
{
	if (!n)
		return 0;
	u32 depth = draw_callers(d, n->parent);
	struct rect at = {d->r.x, d->r.y + depth, d->r.w, 1};
	AUTO_SB b = {0};
	if (depth + 1 >= d->r.h)
		return depth;
	note_box(d, n, at);
	sb_fmt(&b, "|%.*s", STRF(n->name));
	grid_text(d->g, at.x, at.y, at.w, INK(DIM), sb_str(&b));
	if (d->selected == n && d->v->focus)
		grid_style(d->g, at.x, at.y, at.w, (struct style){INK_DIM, STYLE_REVERSE});
	return depth + 1;
}

static void draw_status(struct drawing *d, u32 y)
{
	AUTO_SB b = {0};
	const struct node *n = d->selected;
	sb_add(&b, n->name);
	sb_fmt(&b, ": %.0f of %.0f, %.1f %%", n->weight, d->root->weight,
	       100 * n->weight / d->root->weight);
	grid_text(d->g, d->r.x, y, d->r.w, INK(VALUE), sb_str(&b));
}

static void draw(struct view_env *v, struct grid *g, struct rect r)
{
	struct drawing d = {.v = v, .g = g, .r = r, .root = tree_of(v)};
	struct view_state *st = v->st;
	free(st->boxes);
	st->boxes = NULL;
	st->nbox = st->n = 0;
	if (d.root->weight <= 0 || r.h < 3) {
		grid_text(g, r.x, r.y, r.w, INK(DIM), STR("no stacks yet"));
		return;
	}
	struct node *top = node_of(d.root, st->zoom);
	top = top ? top : d.root;
	d.selected = node_of(d.root, st->box);
	d.selected = d.selected ? d.selected : top;
	st->box = d.selected->id;
	d.r.h--;
	u32 depth = draw_callers(&d, top->parent);
	draw_node(&d, top, (struct rect){r.x, r.y + depth, r.w, 1});
	draw_status(&d, r.y + r.h - 1);
}

/* ---- the page ---- */

enum { PAGE_PARTS = 2000, PAGE_DEPTH = 200 }; /* what is narrower, or deeper, is left out */

/* [name, weight, callee...] */
static void put_node(struct view_env *v, struct sb *b, struct node *n, double least, u32 depth)
{
	sb_char(b, '[');
	json_str(b, n->name);
	sb_z(b, ", ");
	json_f64(b, n->weight);
	sort_children(v->a, n);
	for (struct node *c = depth ? n->child : NULL; c; c = c->next) {
		if (c->weight < least)
			continue;
		sb_z(b, ", ");
		put_node(v, b, c, least, depth - 1);
	}
	sb_char(b, ']');
}

static void json(struct view_env *v, struct sb *b)
{
	struct node *root = tree_of(v);
	put_node(v, b, root, root->weight / PAGE_PARTS, PAGE_DEPTH);
}

/* ---- keys ---- */

static const struct flame_box *box_of(const struct view_state *st, u64 id)
{
	for (u32 i = 0; i < st->nbox; i++)
		if (st->boxes[i].id == id)
			return &st->boxes[i];
	return NULL;
}

/* The box of that depth that is nearest in the direction, or below x. */
static const struct flame_box *nearest(const struct view_state *st, const struct flame_box *from,
				       int dx, int dy)
{
	const struct flame_box *best = NULL;
	for (u32 i = 0; i < st->nbox; i++) {
		const struct flame_box *b = &st->boxes[i];
		if (dy < 0 && b->id == from->parent)
			return b;
		if (dy > 0 && b->parent == from->id && (!best || b->w > best->w))
			best = b;
		if (dx > 0 && b->depth == from->depth && b->x > from->x &&
		    (!best || b->x < best->x))
			best = b;
		if (dx < 0 && b->depth == from->depth && b->x < from->x &&
		    (!best || b->x > best->x))
			best = b;
	}
	return best;
}

static bool move(struct view_env *v, int dx, int dy)
{
	struct view_state *st = v->st;
	const struct flame_box *from = box_of(st, st->box);
	const struct flame_box *to = from ? nearest(st, from, dx, dy) : NULL;
	if (!from && st->nbox)
		to = &st->boxes[0];
	if (to)
		st->box = to->id;
	return true;
}

static bool click(struct view_env *v, struct rect r, u32 x, u32 y)
{
	struct view_state *st = v->st;
	for (u32 i = 0; i < st->nbox; i++) {
		const struct flame_box *b = &st->boxes[i];
		if (b->depth != y - r.y || x < b->x || x >= b->x + b->w)
			continue;
		bool again = v->focus && st->box == b->id;
		st->box = b->id;
		return !again;
	}
	return true;
}

static bool enter(struct view_env *v, bool in)
{
	struct view_state *st = v->st;
	bool was = st->zoom;
	if (in)
		st->zoom = st->box;
	else
		st->zoom = 0;
	return in || was;
}

static bool fits(const struct live_table *t, const struct live_row *row)
{
	(void)row;
	return t && t->stacks && t->kind != LIVE_TEXT;
}

static bool is_default(const struct live_table *t, const struct live_row *row)
{
	(void)t, (void)row;
	return true;
}

const struct live_view view_flame = {
	.name = "flame",
	.doc = "a flame graph of stacks",
	.key = 'f',
	.fits = fits,
	.is_default = is_default,
	.draw = draw,
	.json = json,
	.move = move,
	.click = click,
	.enter = enter,
};
