/* page.c - the state of a run as JSON, for a page: a line about the run, then one for each pane. */
#include "base/json.h"
#include "live/inside.h"

static void put_member(struct sb *b, const char *name, const struct sb *text)
{
	json_member(b, false, name);
	json_str(b, sb_str(text));
}

static void put_title(const struct front *f, struct sb *b)
{
	if (f->spec.board)
		sb_z(b, "sonde top");
	else if (f->npart == 1)
		sb_add(b, f->spec.title);
	for (u32 i = 0; f->npart > 1 && i < f->npart; i++)
		sb_fmt(b, "%s%.*s", i ? " + " : "", STRF(f->part[i]->s.name));
}

static void put_run(const struct front *f, struct sb *b)
{
	AUTO_SB title = {0};
	AUTO_SB when = {0};
	AUTO_SB losses = {0};
	AUTO_SB cost = {0};
	put_title(f, &title);
	screen_when(f, &when);
	bool good = screen_losses(f, &losses);
	screen_cost(f, &cost);
	sb_z(b, "{\"good\": ");
	sb_z(b, good ? "true" : "false");
	sb_fmt(b, ", \"ended\": %s", f->ended ? "true" : "false");
	put_member(b, "title", &title);
	put_member(b, "when", &when);
	put_member(b, "losses", &losses);
	put_member(b, "cost", &cost);
	json_member(b, false, "messages");
	sb_char(b, '[');
	for (u32 i = 0; i < f->remark.n; i++) {
		sb_z(b, i ? ", " : "");
		json_str(b, f->remark.v[i]);
	}
	sb_z(b, "]}\n");
}

/* The view that the terminal begins with; of a few histograms those of their sum, too. */
static bool is_on_page(const struct front *f, const struct pane *p, const struct live_view *v)
{
	enum { FEW_ROWS = 16 };
	if (!v->json || !v->fits(p->t, NULL))
		return false;
	return v == pane_view(f, p) || (v->of_all && p->t->nrow <= FEW_ROWS);
}

static void put_view(struct front *f, struct pane *p, const struct live_view *view, struct sb *b)
{
	struct arena a = {0};
	struct view_env v = screen_env(f, p, &a);
	json_member(b, false, view->name);
	view->json(&v, b);
	arena_free(&a);
}

static void put_pane(struct front *f, struct pane *p, struct sb *b)
{
	AUTO_SB name = {0};
	AUTO_SB lacks = {0};
	screen_pane_name(f, p, &name);
	screen_pane_lacks(p, &lacks);
	sb_fmt(b, "{\"id\": \"%u", p->part->index);
	sb_fmt(b, "%.*s\"", STRF(p->t ? p->t->name : STR("")));
	put_member(b, "title", &name);
	put_member(b, "lacks", &lacks);
	json_member(b, false, "view");
	json_z(b, pane_view(f, p)->name);
	json_member(b, false, "notes");
	sb_z(b, p->t && p->t->plain && !p->spec ? "true" : "false");
	for (u32 i = 0; views[i]; i++)
		if (is_on_page(f, p, views[i]))
			put_view(f, p, views[i], b);
	sb_z(b, "}\n");
}

/* What the script notes for itself is at the end, and closed. */
static bool is_shown(const struct pane *p)
{
	return pane_has_content(p) || (p->t && p->t->nrow > p->t->hole.n);
}

void page_state(struct front *f, struct sb *out)
{
	put_run(f, out);
	for (u32 i = 0; i < f->npane; i++)
		if (is_shown(f->pane[i]))
			put_pane(f, f->pane[i], out);
}
