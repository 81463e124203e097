/*
 * json.c - an object per line: first what was recorded, then a row per event, then what was lost. Rows are those that
 * live tracing prints for tables: {"type": "event", "table": ...}.
 */
#include "base/json.h"
#include "core/loss.h"
#include "export/cells.h"
#include "export/export.h"
#include <stdio.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

struct json_rows {
	struct exporting *x;
};

static void put_time(struct sb *b, u64 real)
{
	time_t t = (time_t)(real / NS_PER_S);
	struct tm tm;
	char text[64];
	if (!gmtime_r(&t, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm)) {
		sb_z(b, "null");
		return;
	}
	sb_fmt(b, "\"%s.%09lluZ\"", text, real % NS_PER_S);
}

static void json_begin(void *self, struct exporting *x)
{
	static const struct {
		const char *name;
		struct str key;
	} facts[] = {{"host", STR("hostname")},
		     {"kernel", STR("release")},
		     {"machine", STR("machine")},
		     {"command", STR("command")}};
	struct json_rows *j = self;
	const struct rec_info *in = rec_info(x->f);
	struct sb *b = &x->out.b;
	j->x = x;
	sb_z(b, "{\"type\": \"recording\", \"data\": {\"start\": ");
	put_time(b, in->real);
	sb_fmt(b, ", \"start_ns\": %llu, \"cpus\": %u, \"complete\": %s", in->mono, in->ncpu,
	       in->closed ? "true" : "false");
	for (u32 i = 0; i < countof(facts); i++) {
		struct str s = rec_meta_of(x->f, facts[i].key);
		if (!s.n)
			continue;
		json_member(b, false, facts[i].name);
		json_str(b, str_trim(s));
	}
	sb_z(b, "}}\n");
}

static void put_language(struct sb *b, const struct rec_frame *fr)
{
	json_member(b, false, "lang");
	json_str(b, fr->language);
	if (fr->source.n) {
		json_member(b, false, "file");
		json_str(b, fr->source);
	}
	if (fr->line) {
		json_member(b, false, "line");
		json_u64(b, fr->line);
	}
}

static void put_stack(struct sb *b, const struct rec_file *f, u32 id)
{
	const struct rec_stack *s = rec_stack_of(f, id);
	sb_char(b, '[');
	for (u32 i = 0; s && i < s->n; i++) {
		const struct rec_frame *fr = rec_frame_of(f, s->frame[i]);
		const struct rec_mapping *m = fr ? rec_mapping_of(f, fr->mapping) : NULL;
		sb_z(b, i ? ", {" : "{");
		json_member(b, true, "addr");
		json_u64(b, fr ? fr->addr : 0);
		if (fr && fr->sym.n) {
			json_member(b, false, "sym");
			json_str(b, fr->sym);
			json_member(b, false, "off");
			json_u64(b, fr->sym_off);
		}
		if (m) {
			json_member(b, false, "mod");
			json_str(b, m->path);
		}
		if (fr && fr->language.n)
			put_language(b, fr);
		sb_char(b, '}');
	}
	sb_char(b, ']');
}

static void put_number(struct sb *b, const struct rec_file *f, const struct rec_column *c, u64 u)
{
	struct str name = cell_enumerator(f, c, u);
	if (name.s)
		json_str(b, name);
	else if (c->sign)
		json_i64(b, (i64)u);
	else
		json_u64(b, u);
}

static void put_cell(struct sb *b, const struct rec_file *f, const struct rec_column *c,
		     const struct rec_cell *v)
{
	if (v->missing) {
		sb_z(b, "null");
		return;
	}
	switch (c->kind) {
	case REC_BOOL: sb_z(b, v->u ? "true" : "false"); return;
	case REC_INT:
	case REC_POINTER:
	case REC_ENUM: put_number(b, f, c, v->u); return;
	case REC_FLOAT: json_f64(b, cell_float(v)); return;
	case REC_STRING:
	case REC_NAMED: json_str(b, v->str); return;
	case REC_STACK: put_stack(b, f, (u32)v->u); return;
	case REC_BYTES:
	case REC_ARRAY: break;
	}
	u32 n = c->kind == REC_ARRAY ? c->count : v->str.n;
	sb_char(b, '[');
	for (u32 i = 0; i < n; i++) {
		sb_z(b, i ? "," : "");
		if (c->kind == REC_ARRAY)
			put_number(b, f, c, cell_element(c, v, i));
		else
			sb_u64(b, (u8)v->str.s[i]);
	}
	sb_char(b, ']');
}

static void json_row(void *self, const struct rec_row *r)
{
	struct json_rows *j = self;
	struct sb *b = &j->x->out.b;
	const struct rec_schema *s = r->schema;
	sb_z(b, "{\"type\": \"event\", \"table\": ");
	json_str(b, s->probe);
	sb_fmt(b, ", \"ts\": %llu, \"cpu\": %u", r->ts, r->cpu);
	if (r->task) {
		sb_fmt(b, ", \"pid\": %u, \"tid\": %u, \"comm\": ", r->task->pid, r->task->tid);
		json_str(b, r->task->comm);
	}
	sb_z(b, ", \"args\": {");
	for (u32 i = 0; i < s->ncolumn; i++) {
		sb_z(b, i ? ", " : "");
		json_str(b, cell_name(&s->column[i]));
		sb_z(b, ": ");
		put_cell(b, j->x->f, &s->column[i], &r->cell[i]);
	}
	sb_z(b, "}}\n");
	export_room(&j->x->out);
}

static const struct loss_kind *loss_named(struct str name)
{
	for (u32 i = 0; i < LOSS_COUNT; i++)
		if (str_is(name, loss_kinds[i].name))
			return &loss_kinds[i];
	return NULL;
}

/* As live losses, with the range of time. */
static void put_loss(struct sb *b, const struct rec_loss *l)
{
	const struct loss_kind *k = loss_named(l->kind);
	sb_z(b, "{\"type\": ");
	json_str(b, l->kind);
	sb_z(b, ", \"data\": {");
	if (k && *k->who && l->who.n) {
		json_member(b, true, k->who);
		json_str(b, l->who);
		sb_z(b, ", ");
	}
	json_member(b, true, k && *k->unit ? k->unit : "events");
	json_u64(b, l->n);
	sb_fmt(b, ", \"from\": %llu, \"to\": %llu, \"msg\": ", l->from, l->to);
	json_str(b, l->text);
	sb_z(b, "}}\n");
}

static void json_end(void *self)
{
	struct json_rows *j = self;
	u32 n;
	const struct rec_loss *l = rec_losses(j->x->f, &n);
	for (u32 i = 0; i < n; i++)
		put_loss(&j->x->out.b, &l[i]);
}

const struct exporter export_json = {
	.name = "json",
	.doc = "an object per line and event",
	.size = sizeof(struct json_rows),
	.begin = json_begin,
	.row = json_row,
	.end = json_end,
};
