/* text.c - a line per event, as `sonde report --events` prints it. */
#include "export/cells.h"
#include "export/export.h"

struct text {
	struct exporting *x;
};

static void text_begin(void *self, struct exporting *x)
{
	struct text *t = self;
	t->x = x;
}

static void text_row(void *self, const struct rec_row *r)
{
	struct text *t = self;
	cell_row(&t->x->out.b, t->x->f, r);
	export_room(&t->x->out);
}

static void text_end(void *self)
{
	struct text *t = self;
	u32 n;
	const struct rec_loss *l = rec_losses(t->x->f, &n);
	for (u32 i = 0; i < n; i++) {
		sb_z(&t->x->out.b, "LOST: ");
		sb_visible(&t->x->out.b, l[i].text);
		sb_char(&t->x->out.b, '\n');
	}
}

const struct exporter export_text = {
	.name = "text",
	.doc = "a line per event, and its stacks",
	.size = sizeof(struct text),
	.begin = text_begin,
	.row = text_row,
	.end = text_end,
};
