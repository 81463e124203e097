/*
 * tracedat.c - trace.dat, version 6 (Documentation/trace-cmd/trace-cmd.dat.v6 of trace-cmd): formats of events as
 * texts, then pages of the kernel's ring buffer, CPU after CPU.
 *
 * The pages of each CPU are collected in files of their own, because a CPU's pages must be together. Times of a CPU
 * never decrease, as in ctf.c. An event fits a page, so long texts are cut.
 */
#include "base/alloc.h"
#include "base/pack.h"
#include "base/tab.h"
#include "export/cells.h"
#include "export/export.h"
#include <errno.h>
#include <stdio.h>

enum {
	PAGE = 4096,
	PAGE_HEAD = 16,
	ROOM = PAGE - PAGE_HEAD - 8, /* 8: the number of lost events */
	MOST_BODY = 3800,
	FIRST_ID = 300, /* ids of events below are the kernel's */
	COMMON = 8,     /* bytes of the fields that every event has */
	COMM_BYTES = 16,
	TIME_EXTEND = 30,
	SMALL_WORDS = 28, /* longer events have their length in a word of its own */
	OPTION_CLOCK = 4,
	OPTION_TRACEID = 11,
};
#define MISSED        (1ull << 31)
#define MISSED_STORED (1ull << 30)

struct cpu_pages {
	struct export_out *out;
	struct sb data;
	u64 begin, last, lost, size;
};
/* Where a column is in an event. */
struct place {
	u32 off, size;
	bool text; /* u32: length << 16 | offset */
};
struct event_format {
	struct place *place;
	u32 fixed; /* bytes up to the texts */
	struct sb text;
	struct str system;
};
struct tracedat {
	struct exporting *x;
	struct cpu_pages *cpu;
	u32 ncpu;
	struct event_format *format; /* by schema */
	u32 nformat;
	struct tab comms; /* text of a tid -> its last name */
	struct sb body, tmp;
	u64 moved, cut;
};

static void put_word(struct sb *b, struct str s)
{
	for (u32 i = 0; i < s.n; i++) {
		char c = s.s[i];
		bool word =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		sb_char(b, word ? c : '_');
	}
}

/* ---- formats ---- */

static bool is_text(const struct rec_column *c)
{
	switch (c->kind) {
	case REC_INT:
	case REC_BOOL:
	case REC_POINTER:
	case REC_ARRAY: return false;
	case REC_ENUM:
	case REC_STRING:
	case REC_BYTES:
	case REC_STACK:
	case REC_NAMED:
	case REC_FLOAT: break;
	}
	return true;
}

/* Names of threads are in the event: plugins of trace-cmd look for them there. */
static bool is_name(const struct rec_column *c)
{
	return c->kind == REC_STRING && c->size == COMM_BYTES;
}

static u32 int_size(u32 size)
{
	return size == 1 || size == 2 || size == 4 ? size : 8;
}

static const char *c_type(u32 size, bool sign)
{
	static const char *const types[2][4] = {
		{"unsigned char", "unsigned short", "unsigned int", "unsigned long"},
		{"signed char", "short", "int", "long"}};
	return types[sign][size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
}

static void put_field(struct event_format *f, const struct rec_column *c, struct place *p,
		      struct str name)
{
	struct sb *b = &f->text;
	u32 n = is_name(c) ? COMM_BYTES : c->kind == REC_ARRAY ? c->count : 1;
	u32 unit = is_name(c) ? 1 : c->kind == REC_POINTER ? 8 : int_size(c->size / n);
	if (p->text) {
		unit = 4;
		n = 1;
	}
	p->size = unit * n;
	p->off = ALIGN_UP(f->fixed, unit);
	f->fixed = p->off + p->size;
	sb_fmt(b, "\tfield:%s %.*s",
	       p->text      ? "__data_loc char[]"
	       : is_name(c) ? "char"
			    : c_type(unit, c->sign),
	       STRF(name));
	if (n > 1 || (c->kind == REC_ARRAY && !p->text))
		sb_fmt(b, "[%u]", n);
	sb_fmt(b, ";\toffset:%u;\tsize:%u;\tsigned:%u;\n", p->off, p->size,
	       !p->text && !is_name(c) && c->sign);
}

/* What stands for the column in the text that is printed, and behind it. */
static void put_print(struct sb *fmt, struct sb *args, const struct rec_column *c,
		      const struct place *p, struct str name)
{
	sb_fmt(fmt, "%s%.*s=", fmt->n ? " " : "", STRF(name));
	if (p->text) {
		sb_z(fmt, "%s");
		sb_fmt(args, ", __get_str(%.*s)", STRF(name));
	} else if (c->kind == REC_ARRAY) {
		sb_z(fmt, "%s");
		sb_fmt(args, ", __print_array(REC->%.*s, %u, %u)", STRF(name), c->count,
		       p->size / c->count);
	} else {
		bool wide = p->size > sizeof(u32);
		sb_z(fmt, is_name(c)               ? "%s"
			  : c->kind == REC_POINTER ? "0x%llx"
			  : c->sign                ? (wide ? "%lld" : "%d")
						   : (wide ? "%llu" : "%u"));
		sb_fmt(args, ", REC->%.*s", STRF(name));
	}
}

static struct str field_name(struct tracedat *t, struct tab *seen, const struct rec_column *c)
{
	AUTO_SB b = {0};
	put_word(&b, cell_name(c));
	size_t n = b.n;
	for (u32 i = 2; !n || b.s[0] <= '9' || tab_get(seen, sb_str(&b)); i++) {
		b.n = n;
		sb_fmt(&b, "_%u", i);
		if (b.s[0] <= '9') {
			b.n = n;
			sb_clear(&b);
			sb_fmt(&b, "field_%u", i);
		}
	}
	struct str name = arena_str(&t->x->a, sb_str(&b));
	tab_set(seen, name, t);
	return name;
}

static void make_format(struct tracedat *t, const struct rec_schema *s)
{
	struct event_format *f = &t->format[s->id];
	struct tab seen = {0};
	AUTO_SB fmt = {0};
	AUTO_SB args = {0};
	AUTO_SB system = {0};
	struct str event = cell_probe(s), rest = event, first;
	str_cut(&rest, ':', &first);
	put_word(&system, first);
	f->system = arena_str(&t->x->a, sb_str(&system));
	f->place = arena_newn(&t->x->a, struct place, s->ncolumn + 1ul);
	f->fixed = COMMON;
	sb_z(&f->text, "name: ");
	put_word(&f->text, rest.s && rest.n ? rest : first);
	sb_fmt(&f->text,
	       "\nID: %u\nformat:\n"
	       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	       "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	       "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	       "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
	       FIRST_ID + s->id);
	for (u32 i = 0; i < s->ncolumn; i++) {
		const struct rec_column *c = &s->column[i];
		struct str name = field_name(t, &seen, c);
		f->place[i].text =
			(is_text(c) && !is_name(c)) || f->fixed + c->size > MOST_BODY / 2;
		put_field(f, c, &f->place[i], name);
		put_print(&fmt, &args, c, &f->place[i], name);
	}
	sb_fmt(&f->text, "\nprint fmt: \"%s\"%s\n", fmt.n ? fmt.s : "", args.n ? args.s : "");
	tab_free(&seen);
}

static void tracedat_parts(struct sb *names, u32 ncpu)
{
	for (u32 i = 0; i < ncpu; i++)
		sb_fmt(names, "%u\n", i);
}

static void tracedat_begin(void *self, struct exporting *x)
{
	struct tracedat *t = self;
	u32 n;
	const struct rec_schema *const *s = rec_schemas(x->f, &n);
	t->x = x;
	t->ncpu = x->npart;
	t->cpu = xcalloc(t->ncpu, sizeof(*t->cpu));
	for (u32 i = 0; i < t->ncpu; i++)
		t->cpu[i].out = &x->part[i];
	for (u32 i = 0; i < n; i++)
		t->nformat = MAX(t->nformat, s[i]->id + 1);
	t->format = xcalloc(t->nformat + 1ul, sizeof(*t->format));
	for (u32 i = 0; i < n; i++)
		make_format(t, s[i]);
}

/* ---- pages ---- */

static void end_page(struct cpu_pages *c)
{
	struct sb *b = &c->out->b;
	u64 commit = c->data.n | (c->lost ? MISSED | MISSED_STORED : 0);
	if (!c->data.n)
		return;
	pack_u64(b, c->begin);
	pack_u64(b, commit);
	sb_add(b, sb_str(&c->data));
	if (c->lost)
		pack_u64(b, c->lost);
	sb_pad(b, 0, PAGE - PAGE_HEAD - c->data.n - (c->lost ? 8 : 0));
	c->lost = 0;
	c->size += PAGE;
	sb_clear(&c->data);
	export_room(c->out);
}

/* The text of a column that is one; what does not fit is cut. */
static void column_text(struct tracedat *t, const struct rec_column *c, const struct rec_cell *v)
{
	sb_clear(&t->tmp);
	if (c->kind != REC_STACK) {
		cell_text(&t->tmp, t->x->f, c, v);
		return;
	}
	const struct rec_stack *s = v->missing ? NULL : rec_stack_of(t->x->f, (u32)v->u);
	for (u32 i = 0; s && i < s->n; i++) {
		sb_z(&t->tmp, i ? ";" : "");
		cell_frame(&t->tmp, t->x->f, s->frame[i]);
	}
}

static void put_text(struct tracedat *t, u32 at)
{
	struct sb *b = &t->body;
	size_t room = MOST_BODY - MIN((size_t)MOST_BODY, b->n + 1);
	size_t n = MIN(t->tmp.n, room);
	t->cut += n < t->tmp.n;
	u32 where = (u32)(n + 1) << 16 | (u32)b->n;
	memcpy(b->s + at, &where, sizeof(where));
	sb_mem(b, t->tmp.s, n);
	sb_char(b, 0);
}

static void put_cell(struct tracedat *t, const struct rec_column *c, const struct place *p,
		     const struct rec_cell *v)
{
	if (p->text) {
		column_text(t, c, v);
		put_text(t, p->off);
		return;
	}
	if (is_name(c)) {
		struct str s = v->missing ? STR("?") : v->str;
		memcpy(t->body.s + p->off, s.s ? s.s : "", MIN(s.n, (u32)COMM_BYTES - 1));
		return;
	}
	u32 n = c->kind == REC_ARRAY ? c->count : 1, unit = p->size / n;
	for (u32 i = 0; i < n && !v->missing; i++) {
		u64 u = c->kind == REC_ARRAY ? cell_element(c, v, i) : v->u;
		memcpy(t->body.s + p->off + i * unit, &u, unit);
	}
}

/* The event in t->body. */
static void put_event(struct cpu_pages *c, const struct sb *body, u64 ts)
{
	u32 words = (u32)(body->n + 3) / 4;
	u32 size = 4 + 4 * words + (words > SMALL_WORDS ? 4 : 0) + 8;
	if (c->data.n + size > ROOM)
		end_page(c);
	if (!c->data.n)
		c->begin = c->last = ts;
	u64 delta = ts - c->last;
	if (delta >> 27) {
		pack_u32(&c->data, TIME_EXTEND | (u32)(delta & 0x7ffffff) << 5);
		pack_u32(&c->data, (u32)(delta >> 27));
		delta = 0;
	}
	pack_u32(&c->data, (words > SMALL_WORDS ? 0 : words) | (u32)delta << 5);
	if (words > SMALL_WORDS)
		pack_u32(&c->data, 4 * words + 4);
	sb_mem(&c->data, body->s, body->n);
	sb_pad(&c->data, 0, 4ul * words - body->n);
	c->last = ts;
}

static void know_comm(struct tracedat *t, const struct rec_task *task)
{
	char tid[16];
	snprintf(tid, sizeof(tid), "%u", task->tid);
	struct str *name = tab_get(&t->comms, str_z(tid));
	if (name && str_eq(*name, task->comm))
		return;
	if (!name) {
		name = arena_new(&t->x->a, struct str);
		tab_set(&t->comms, arena_str(&t->x->a, str_z(tid)), name);
	}
	*name = arena_str(&t->x->a, task->comm);
}

static void tracedat_row(void *self, const struct rec_row *r)
{
	struct tracedat *t = self;
	struct cpu_pages *c = &t->cpu[MIN(r->cpu, t->ncpu - 1)];
	const struct event_format *f = &t->format[r->schema->id];
	struct sb *b = &t->body;
	u64 ts = MAX(r->ts, c->last);
	t->moved += ts != r->ts;
	if (r->missing) {
		end_page(c);
		c->lost += r->missing;
	}
	if (r->task)
		know_comm(t, r->task);
	sb_clear(b);
	pack_u16(b, (u16)(FIRST_ID + r->schema->id));
	pack_u16(b, 0);
	pack_u32(b, r->task ? r->task->tid : 0);
	sb_pad(b, 0, f->fixed - b->n);
	for (u32 i = 0; i < r->schema->ncolumn; i++)
		put_cell(t, &r->schema->column[i], &f->place[i], &r->cell[i]);
	put_event(c, b, ts);
}

/* ---- the file ---- */

static void put_section(struct sb *b, const char *name, struct str text)
{
	sb_mem(b, name, strlen(name) + 1);
	pack_u64(b, text.n);
	sb_add(b, text);
}

static void put_formats(struct tracedat *t, struct sb *b)
{
	struct tab systems = {0};
	for (u32 i = 0; i < t->nformat; i++)
		if (t->format[i].text.n)
			tab_set(&systems, t->format[i].system, t);
	pack_u32(b, systems.n);
	for (u32 k = 0; k < systems.n; k++) {
		u32 n = 0;
		for (u32 i = 0; i < t->nformat; i++)
			n += t->format[i].text.n && str_eq(t->format[i].system, systems.v[k].key);
		sb_add(b, systems.v[k].key);
		sb_char(b, 0);
		pack_u32(b, n);
		for (u32 i = 0; i < t->nformat; i++) {
			const struct event_format *f = &t->format[i];
			if (!f->text.n || !str_eq(f->system, systems.v[k].key))
				continue;
			pack_u64(b, f->text.n);
			sb_add(b, sb_str(&f->text));
		}
	}
	tab_free(&systems);
}

static void put_comms(const struct tracedat *t, struct sb *b)
{
	AUTO_SB lines = {0};
	for (u32 i = 0; i < t->comms.n; i++) {
		const struct str *name = t->comms.v[i].val;
		sb_add(&lines, t->comms.v[i].key);
		sb_char(&lines, ' ');
		sb_visible(&lines, *name);
		sb_char(&lines, '\n');
	}
	pack_u64(b, lines.n);
	sb_add(b, sb_str(&lines));
}

static void put_options(const struct tracedat *t, struct sb *b)
{
	static const char clock[] = "local global counter uptime perf [mono] mono_raw boot";
	u64 id;
	sb_mem(b, "options  ", 10);
	pack_u16(b, OPTION_CLOCK);
	pack_u32(b, sizeof(clock));
	sb_mem(b, clock, sizeof(clock));
	memcpy(&id, rec_info(t->x->f)->id, sizeof(id));
	pack_u16(b, OPTION_TRACEID);
	pack_u32(b, sizeof(id));
	pack_u64(b, id);
	pack_u16(b, 0);
}

/* The pages of one CPU follow what was written. */
static void copy_pages(struct tracedat *t, struct cpu_pages *c)
{
	struct export_out *out = &t->x->out;
	char part[16 * PAGE];
	u64 done = 0;
	if (!c->out->failed && lseek(c->out->fd, 0, SEEK_SET) < 0)
		c->out->failed = errno;
	while (done < c->size && !c->out->failed) {
		ssize_t n = read(c->out->fd, part, sizeof(part));
		if (n <= 0) {
			c->out->failed = n ? errno : EIO;
			return;
		}
		sb_mem(&out->b, part, (size_t)n);
		export_room(out);
		done += (u64)n;
	}
}

static void tracedat_end(void *self)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
	static const char event[] =
		"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
		"\tarray       :   32 bits\n\n\tpadding     : type == 29\n"
		"\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == "
		"28\n";
	struct tracedat *t = self;
	struct sb *b = &t->x->out.b;
	for (u32 i = 0; i < t->ncpu; i++) {
		end_page(&t->cpu[i]);
		export_flush(t->cpu[i].out);
	}
	sb_mem(b, "\x17\x08\x44tracing6\0\0\x08", 14);
	pack_u32(b, PAGE);
	put_section(b, "header_page", str_z(page));
	put_section(b, "header_event", str_z(event));
	pack_u32(b, 0); /* formats of ftrace itself */
	put_formats(t, b);
	pack_u32(b, 0); /* kallsyms */
	pack_u32(b, 0); /* printk */
	put_comms(t, b);
	pack_u32(b, t->ncpu);
	put_options(t, b);
	sb_mem(b, "flyrecord", 10);
	u64 at = ALIGN_UP(b->n + 16ull * t->ncpu, PAGE);
	for (u32 i = 0; i < t->ncpu; i++) {
		pack_u64(b, at);
		pack_u64(b, t->cpu[i].size);
		at += t->cpu[i].size;
	}
	sb_pad(b, 0, ALIGN_UP(b->n, PAGE) - b->n);
	for (u32 i = 0; i < t->ncpu; i++) {
		copy_pages(t, &t->cpu[i]);
		sb_free(&t->cpu[i].data);
	}
	if (t->moved)
		export_remark(t->x, "%llu events have the time of an event that interrupted them",
			      t->moved);
	if (t->cut)
		export_remark(t->x, "%llu texts were cut: an event of trace.dat fits a page",
			      t->cut);
	for (u32 i = 0; i < t->nformat; i++)
		sb_free(&t->format[i].text);
	free(t->format);
	free(t->cpu);
	tab_free(&t->comms);
	sb_free(&t->body);
	sb_free(&t->tmp);
}

const struct exporter export_tracedat = {
	.name = "trace.dat",
	.doc = "a file of trace-cmd: for trace-cmd report, KernelShark",
	.ending = ".dat",
	.parts = tracedat_parts,
	.spills = true,
	.size = sizeof(struct tracedat),
	.begin = tracedat_begin,
	.row = tracedat_row,
	.end = tracedat_end,
};
