/* kept.c - see kept.h. */
#include "answer/inside.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "core/loss.h"
#include "rec/write.h"

enum { TIME_AND_FLAGS = 8 + 1, TIME_AND_ID = 8 + 4 };

/* Fields of CELLS before the values: raw begins with the time and the id. */
static struct str cells_of(struct arena *a, struct str raw, const struct emitted *row)
{
	AUTO_SB b = {0};
	sb_mem(&b, raw.s, TIME_AND_ID);
	pack_str(&b, row->host);
	pack_str(&b, row->mark);
	pack_u64(&b, row->report);
	pack_u64(&b, row->part_ns);
	pack_u32(&b, row->of->is.n);
	return arena_str(a, sb_str(&b));
}

void kept_add(struct kept *k, struct answer_in *in, const struct rec_answer *it,
	      const struct kept_of *of)
{
	struct kept_item add = {.kind = it->kind};
	u16 kind = it->kind & ~ITEM_NEEDED;
	if (kind == ITEM_ROW || kind == ITEM_AGAIN || kind == ITEM_HOST_LOSS)
		return;
	if (kind == ITEM_CELLS) {
		add.fields = cells_of(in->a, it->fields, of->row);
		add.val = of->row->cell;
		add.nval = of->row->of->is.n;
	} else {
		add.nval = kind == ITEM_VALUE;
		add.val = add.nval ? of->val : NULL;
		add.table = kind == ITEM_PRINT ? of->table : NULL;
		add.fields = arena_str(in->a,
				       add.nval ? str_n(it->fields.s, TIME_AND_FLAGS) : it->fields);
	}
	in->room -= MIN(in->room, sizeof(add) + add.fields.n);
	vec_add(&k->item, add);
}

static struct err *write_items(const struct kept *k, u32 host, struct rec_writer *w)
{
	struct err *e = NULL;
	for (u32 i = 0; i < k->item.n && !e; i++) {
		const struct kept_item *it = &k->item.v[i];
		AUTO_SB b = {0};
		sb_add(&b, it->fields);
		for (u32 v = 0; v < it->nval; v++)
			answer_put_value(w, &b, &it->val[v]);
		rec_answer(w, it->kind, sb_str(&b));
		if (it->table)
			table_write_rows(it->table, host, w);
		e = rec_tick(w, 0);
	}
	return e;
}

static void write_loss(const struct loss_entry *l, struct rec_writer *w)
{
	AUTO_SB b = {0};
	pack_u64(&b, l->n);
	pack_str(&b, str_z(loss_kinds[l->loss].name));
	pack_str(&b, l->who);
	pack_str(&b, l->text);
	rec_answer(w, ITEM_HOST_LOSS | ITEM_NEEDED, sb_str(&b));
}

struct err *merge_write(struct merge *m, struct rec_writer *w)
{
	AUTO_SB names = {0};
	for (u32 i = 0; i < m->host.n; i++)
		sb_fmt(&names, "%s%.*s", i ? "\n" : "", STRF(m->host.v[i]->label));
	rec_meta(w, STR("answer"), STR("1"));
	rec_meta(w, STR("script"), m->script);
	rec_meta(w, STR("arguments"), m->arguments);
	rec_meta(w, STR("what"), m->what);
	rec_meta(w, STR("boot"), merge_machine(m));
	rec_meta(w, STR("hosts"), sb_str(&names));
	struct err *e = rec_begin(w);
	for (u32 i = 0; i < m->host.n && !e; i++) {
		AUTO_SB b = {0};
		pack_u32(&b, i);
		pack_str(&b, m->host.v[i]->labels.all);
		rec_answer(w, ITEM_HOST | ITEM_NEEDED, sb_str(&b));
		e = write_items(&m->host.v[i]->kept, i, w);
		for (u32 k = 0; k < m->host.v[i]->loss.n; k++)
			write_loss(&m->host.v[i]->loss.v[k], w);
	}
	return e;
}
