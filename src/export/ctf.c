/*
 * ctf.c - a folder in the Common Trace Format 1.8 (diamon.org/ctf): metadata, and a stream of packets for each CPU.
 *
 * All fields are aligned to bytes. Names of fields begin with '_', which readers take away, so that no name is a word
 * of the language of metadata. Times of a stream never decrease: an event that was begun before, and written
 * after, the one that interrupted it gets the time of that one.
 */
#include "base/alloc.h"
#include "base/pack.h"
#include "base/tab.h"
#include "export/cells.h"
#include "export/export.h"

enum { MAGIC = 0xc1fc1fc1, PACKET_BYTES = 64 << 10, NS_PER_S = 1000000000, HEADER_BYTES = 76 };

struct stream {
	struct export_out *out;
	struct sb events;
	u64 begin, last, number, discarded;
	u32 cpu;
};
struct ctf {
	struct exporting *x;
	struct stream *stream;
	u32 nstream;
	struct sb tmp;
	u64 moved; /* events whose time was changed */
};

static void ctf_parts(struct sb *names, u32 ncpu)
{
	sb_z(names, "metadata\n");
	for (u32 i = 0; i < ncpu; i++)
		sb_fmt(names, "channel0_%u\n", i);
}

/* ---- metadata ---- */

static void put_string(struct sb *b, struct str s)
{
	AUTO_SB visible = {0};
	sb_visible(&visible, s);
	sb_char(b, '"');
	for (size_t i = 0; i < visible.n; i++) {
		if (visible.s[i] == '"' || visible.s[i] == '\\')
			sb_char(b, '\\');
		sb_char(b, visible.s[i]);
	}
	sb_char(b, '"');
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* A field's name, other than those that were given before. */
static void field_name(struct ctf *c, struct tab *seen, struct str name, struct sb *b)
{
	sb_clear(b);
	sb_char(b, '_');
	for (u32 i = 0; i < name.n; i++)
		sb_char(b, is_word(name.s[i]) ? name.s[i] : '_');
	size_t n = b->n;
	for (u32 i = 2; tab_get(seen, sb_str(b)); i++) {
		b->n = n;
		sb_fmt(b, "_%u", i);
	}
	tab_set(seen, arena_str(&c->x->a, sb_str(b)), c);
}

static u32 int_size(u32 size)
{
	return size == 1 || size == 2 || size == 4 ? size : 8;
}

static void put_int_type(struct sb *b, u32 size, bool sign)
{
	sb_fmt(b, "%sint%u_t", sign ? "" : "u", 8 * int_size(size));
}

static bool has_enum(const struct ctf *c, const struct rec_column *col)
{
	const struct rec_enum *e = col->enum_id ? rec_enum_of(c->x->f, col->enum_id) : NULL;
	return e && e->n && col->kind == REC_ENUM;
}

static void put_enum(const struct ctf *c, struct sb *b, const struct rec_column *col)
{
	const struct rec_enum *e = rec_enum_of(c->x->f, col->enum_id);
	sb_z(b, "enum : ");
	put_int_type(b, col->size, col->sign);
	sb_z(b, " { ");
	for (u32 i = 0; i < e->n; i++) {
		sb_z(b, i ? ", " : "");
		put_string(b, e->v[i].name);
		sb_fmt(b, col->sign ? " = %lld" : " = %llu", e->v[i].value);
	}
	sb_z(b, " }");
}

static void put_field(struct ctf *c, struct sb *b, struct tab *seen, const struct rec_column *col)
{
	AUTO_SB name = {0};
	field_name(c, seen, cell_name(col), &name);
	sb_z(b, "\t\t");
	switch (col->kind) {
	case REC_ENUM:
	case REC_INT:
	case REC_BOOL:
		if (has_enum(c, col))
			put_enum(c, b, col);
		else
			put_int_type(b, col->size, col->sign);
		break;
	case REC_POINTER: sb_z(b, "ptr_t"); break;
	case REC_FLOAT: sb_z(b, "double"); break;
	case REC_STRING: sb_z(b, "string"); break;
	case REC_NAMED: sb_fmt(b, "string %s;\n\t\tuint64_t %s_number;\n", name.s, name.s); return;
	case REC_BYTES:
		sb_fmt(b, "uint32_t _%s_length;\n\t\tuint8_t %s[ _%s_length ];\n", name.s, name.s,
		       name.s);
		return;
	case REC_STACK:
		sb_fmt(b,
		       "uint32_t _%s_length;\n\t\tptr_t %s[ _%s_length ];\n\t\tstring %s_text;\n",
		       name.s, name.s, name.s, name.s);
		return;
	case REC_ARRAY:
		put_int_type(b, col->size / col->count, col->sign);
		sb_fmt(b, " %s[%u];\n", name.s, col->count);
		return;
	}
	sb_fmt(b, " %s;\n", name.s);
}

static void put_event(struct ctf *c, struct sb *b, const struct rec_schema *s)
{
	struct tab seen = {0};
	sb_z(b, "event {\n\tname = ");
	put_string(b, cell_probe(s));
	sb_fmt(b, ";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", s->id);
	for (u32 i = 0; i < s->ncolumn; i++)
		put_field(c, b, &seen, &s->column[i]);
	sb_z(b, "\t};\n};\n");
	tab_free(&seen);
}

static void put_types(struct sb *b)
{
	for (u32 size = 8; size <= 64; size *= 2)
		for (u32 sign = 0; sign < 2; sign++)
			sb_fmt(b,
			       "typealias integer { size = %u; align = 8; signed = %s; } := "
			       "%sint%u_t;\n",
			       size, sign ? "true" : "false", sign ? "" : "u", size);
	sb_z(b,
	     "typealias integer { size = 64; align = 8; signed = false; base = 16; } := ptr_t;\n"
	     "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double;\n");
}

static void put_uuid(struct sb *b, const u8 *id)
{
	for (u32 i = 0; i < 16; i++)
		sb_fmt(b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

static void put_trace(struct ctf *c, struct sb *b)
{
	static const struct {
		const char *name;
		struct str key;
	} facts[] = {{"hostname", STR("hostname")},
		     {"kernel_release", STR("release")},
		     {"kernel_version", STR("version")}};
	const struct rec_info *in = rec_info(c->x->f);
	sb_z(b, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	put_uuid(b, in->id);
	sb_z(b, "\";\n\tbyte_order = le;\n"
		"\tpacket.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; "
		"};\n};\nenv {\n");
	for (u32 i = 0; i < countof(facts); i++) {
		struct str s = rec_meta_of(c->x->f, facts[i].key);
		if (!s.n)
			continue;
		sb_fmt(b, "\t%s = ", facts[i].name);
		put_string(b, str_trim(s));
		sb_z(b, ";\n");
	}
	sb_z(b, "\tsysname = \"Linux\";\n\ttracer_name = \"sonde\";\n};\n");
}

static void put_clock(struct ctf *c, struct sb *b)
{
	const struct rec_info *in = rec_info(c->x->f);
	u32 n;
	const struct rec_clock *clock = rec_clocks(c->x->f, &n);
	u64 offset = n ? clock[0].real - clock[0].mono : in->real - in->mono;
	sb_z(b, "clock {\n\tname = \"monotonic\";\n\tdescription = \"CLOCK_MONOTONIC\";\n\tfreq = "
		"1000000000;\n");
	sb_fmt(b, "\tprecision = 1;\n\toffset_s = %llu;\n\toffset = %llu;\n};\n", offset / NS_PER_S,
	       offset % NS_PER_S);
	sb_z(b,
	     "typealias integer { size = 64; align = 8; signed = false; map = "
	     "clock.monotonic.value; } := ts_t;\n"
	     "stream {\n\tid = 0;\n\tpacket.context := struct { ts_t timestamp_begin; ts_t "
	     "timestamp_end; "
	     "uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num; uint64_t "
	     "events_discarded; "
	     "uint32_t cpu_id; };\n"
	     "\tevent.header := struct { uint32_t id; ts_t timestamp; };\n"
	     "\tevent.context := struct { int32_t _tid; int32_t _pid; string _procname; };\n};\n");
}

static void ctf_begin(void *self, struct exporting *x)
{
	struct ctf *c = self;
	u32 n;
	const struct rec_schema *const *s = rec_schemas(x->f, &n);
	struct sb *b = &x->part[0].b;
	c->x = x;
	c->nstream = x->npart - 1;
	c->stream = xcalloc(c->nstream, sizeof(*c->stream));
	for (u32 i = 0; i < c->nstream; i++)
		c->stream[i].out = &x->part[i + 1];
	sb_z(b, "/* CTF 1.8 */\n");
	put_types(b);
	put_trace(c, b);
	put_clock(c, b);
	for (u32 i = 0; i < n; i++)
		put_event(c, b, s[i]);
}

/* ---- streams ---- */

static void end_packet(struct ctf *c, struct stream *s)
{
	struct sb *b = &s->out->b;
	u64 bits = 8 * (HEADER_BYTES + s->events.n);
	if (!s->events.n)
		return;
	pack_u32(b, MAGIC);
	sb_mem(b, rec_info(c->x->f)->id, 16);
	pack_u32(b, 0);
	pack_u64(b, s->begin);
	pack_u64(b, s->last);
	pack_u64(b, bits);
	pack_u64(b, bits);
	pack_u64(b, s->number++);
	pack_u64(b, s->discarded);
	pack_u32(b, s->cpu);
	sb_add(b, sb_str(&s->events));
	sb_clear(&s->events);
	export_room(s->out);
}

/* Up to the first NUL. */
static void put_text(struct sb *b, struct str s)
{
	const char *nul = s.n ? memchr(s.s, 0, s.n) : NULL;
	sb_mem(b, s.s, nul ? (size_t)(nul - s.s) : s.n);
	sb_char(b, 0);
}

static void put_stack(struct ctf *c, struct sb *b, const struct rec_cell *v)
{
	const struct rec_stack *s = v->missing ? NULL : rec_stack_of(c->x->f, (u32)v->u);
	sb_clear(&c->tmp);
	pack_u32(b, s ? s->n : 0);
	for (u32 i = 0; s && i < s->n; i++) {
		const struct rec_frame *fr = rec_frame_of(c->x->f, s->frame[i]);
		pack_u64(b, fr ? fr->addr : 0);
		sb_z(&c->tmp, i ? "\n" : "");
		cell_frame(&c->tmp, c->x->f, s->frame[i]);
	}
	put_text(b, sb_str(&c->tmp));
}

static void put_cell(struct ctf *c, struct sb *b, const struct rec_column *col,
		     const struct rec_cell *v)
{
	u64 u = v->missing ? 0 : v->u;
	struct str text = v->missing ? STR("?") : v->str;
	switch (col->kind) {
	case REC_ENUM:
	case REC_INT:
	case REC_BOOL: sb_mem(b, &u, int_size(col->size)); return;
	case REC_POINTER:
	case REC_FLOAT: pack_u64(b, u); return;
	case REC_STRING: put_text(b, text); return;
	case REC_NAMED:
		put_text(b, text);
		pack_u64(b, u);
		return;
	case REC_BYTES: pack_str(b, text); return;
	case REC_STACK: put_stack(c, b, v); return;
	case REC_ARRAY:
		for (u32 i = 0; i < col->count; i++) {
			u = v->missing ? 0 : cell_element(col, v, i);
			sb_mem(b, &u, int_size(col->size / col->count));
		}
		return;
	}
}

static void ctf_row(void *self, const struct rec_row *r)
{
	struct ctf *c = self;
	struct stream *s = &c->stream[MIN(r->cpu, c->nstream - 1)];
	struct sb *b = &s->events;
	u64 ts = MAX(r->ts, s->last);
	if (b->n >= PACKET_BYTES || s->cpu != r->cpu || r->missing)
		end_packet(c, s);
	s->discarded += r->missing; /* since the end of the packet before */
	s->cpu = r->cpu;
	if (!b->n)
		s->begin = ts;
	c->moved += ts != r->ts;
	s->last = ts;
	pack_u32(b, r->schema->id);
	pack_u64(b, ts);
	pack_u32(b, r->task ? r->task->tid : (u32)-1);
	pack_u32(b, r->task ? r->task->pid : (u32)-1);
	put_text(b, r->task ? r->task->comm : STR("?"));
	for (u32 i = 0; i < r->schema->ncolumn; i++)
		put_cell(c, b, &r->schema->column[i], &r->cell[i]);
}

static void ctf_end(void *self)
{
	struct ctf *c = self;
	for (u32 i = 0; i < c->nstream; i++) {
		end_packet(c, &c->stream[i]);
		sb_free(&c->stream[i].events);
	}
	if (c->moved)
		export_remark(c->x, "%llu events have the time of an event that interrupted them",
			      c->moved);
	free(c->stream);
	sb_free(&c->tmp);
}

const struct exporter export_ctf = {
	.name = "ctf",
	.doc = "a folder in the Common Trace Format 1.8: for babeltrace2, Trace Compass",
	.ending = ".ctf",
	.parts = ctf_parts,
	.size = sizeof(struct ctf),
	.begin = ctf_begin,
	.row = ctf_row,
	.end = ctf_end,
};
