/*
 * chrome.c - Trace Event Format: an object {"traceEvents": [...]} that Perfetto, Chrome, speedscope and others read.
 *
 * Times are microseconds since the start of the recording, with three decimals. Threads have their slices and
 * instants. What runs on CPUs, interrupts, counters and losses are on tracks of processes whose ids no process has.
 */
#include "base/alloc.h"
#include "base/json.h"
#include "export/cells.h"
#include "export/timeline.h"
#include <stdio.h>

/* Linux gives ids up to 1 << 22. */
enum { PID_CPUS = (1 << 22) + 1, PID_IRQS, PID_COUNTERS, PID_LOSSES, PID_SPANS };

struct on_cpu {
	const struct tl_thread *thread; /* that runs, or NULL */
	u64 since;
	bool named, irq_named; /* the track has a name */
};
struct chrome_node {
	u32 parent, frame; /* parent: number of a node, from 1 */
};
struct chrome {
	struct exporting *x;
	struct timeline *line;
	struct on_cpu *cpu;
	u32 ncpu;
	u64 last; /* time of an event */
	bool some, counters, spans;
	/* Stacks as a tree: each frame with its caller. */
	struct chrome_node *node;
	u32 nnode, node_cap;
	u32 *slot, nslot;
};

/* ---- events ---- */

static void put_time(struct chrome *c, const char *name, u64 ns)
{
	sb_fmt(&c->x->out.b, ", \"%s\": %llu.%03llu", name, ns / 1000, ns % 1000);
}

/* An event of a track, up to its time. Ends have no name: readers would look for one that began with it. */
static void head(struct chrome *c, const char *phase, u32 pid, u32 tid, struct str name)
{
	struct sb *b = &c->x->out.b;
	export_room(&c->x->out);
	sb_fmt(b, "%s{\"ph\": \"%s\", \"pid\": %u, \"tid\": %u", c->some ? ",\n" : "\n", phase, pid,
	       tid);
	c->some = true;
	if (*phase == 'E')
		return;
	sb_z(b, ", \"name\": ");
	json_str(b, name);
}

static u64 since_start(const struct chrome *c, u64 ts)
{
	u64 start = timeline_start(c->line);
	return ts > start ? ts - start : 0;
}

static void name_track(struct chrome *c, const char *what, u32 pid, u32 tid, struct str name)
{
	head(c, "M", pid, tid, str_z(what));
	sb_z(&c->x->out.b, ", \"args\": {\"name\": ");
	json_str(&c->x->out.b, name);
	sb_z(&c->x->out.b, "}}");
}

static void put_arg(struct sb *b, const struct tl_arg *a)
{
	double d;
	switch (a->kind) {
	case TL_UINT: json_u64(b, a->u); return;
	case TL_INT: json_i64(b, (i64)a->u); return;
	case TL_POINTER: sb_fmt(b, "\"0x%llx\"", a->u); return;
	case TL_BOOL: sb_z(b, a->u ? "true" : "false"); return;
	case TL_TEXT: json_str(b, a->text); return;
	case TL_FLOAT:
		memcpy(&d, &a->u, sizeof(d));
		json_f64(b, d);
		return;
	}
}

static void put_args(struct chrome *c, const struct tl_event *e)
{
	struct sb *b = &c->x->out.b;
	sb_z(b, ", \"args\": {");
	for (u32 i = 0; i < e->narg; i++) {
		sb_z(b, i ? ", " : "");
		json_str(b, e->arg[i].name);
		sb_z(b, ": ");
		put_arg(b, &e->arg[i]);
	}
	sb_char(b, '}');
}

/* ---- stacks ---- */

static u32 node_hash(const struct chrome_node *n)
{
	return (n->parent * 2654435761u ^ n->frame) * 2246822519u;
}

static void nodes_grow(struct chrome *c)
{
	c->nslot = c->nslot ? c->nslot * 2 : 1024;
	c->slot = xrealloc(c->slot, c->nslot * sizeof(*c->slot));
	memset(c->slot, 0, c->nslot * sizeof(*c->slot));
	for (u32 i = 0; i < c->nnode; i++) {
		u32 at = node_hash(&c->node[i]) & (c->nslot - 1);
		while (c->slot[at])
			at = (at + 1) & (c->nslot - 1);
		c->slot[at] = i + 1;
	}
	c->node_cap = c->nslot / 2;
	c->node = xrealloc(c->node, c->node_cap * sizeof(*c->node));
}

/* A frame below its caller; from 1. */
static u32 node_of(struct chrome *c, u32 parent, u32 frame)
{
	struct chrome_node n = {parent, frame};
	if (c->nnode == c->node_cap)
		nodes_grow(c);
	u32 at = node_hash(&n) & (c->nslot - 1);
	for (; c->slot[at]; at = (at + 1) & (c->nslot - 1))
		if (!memcmp(&c->node[c->slot[at] - 1], &n, sizeof(n)))
			return c->slot[at];
	c->node[c->nnode++] = n;
	c->slot[at] = c->nnode;
	return c->nnode;
}

static u32 add_stack(struct chrome *c, u32 parent, u32 id)
{
	const struct rec_stack *s = rec_stack_of(c->x->f, id);
	for (u32 i = s ? s->n : 0; i; i--)
		parent = node_of(c, parent, s->frame[i - 1]);
	return parent;
}

static void put_stack(struct chrome *c, const struct tl_event *e)
{
	u32 leaf = add_stack(c, add_stack(c, 0, e->ustack), e->kstack);
	if (leaf)
		sb_fmt(&c->x->out.b, ", \"sf\": %u", leaf);
}

static void put_frames(struct chrome *c)
{
	struct sb *b = &c->x->out.b;
	AUTO_SB name = {0};
	sb_z(b, "\n], \"stackFrames\": {");
	for (u32 i = 0; i < c->nnode; i++) {
		sb_clear(&name);
		cell_frame(&name, c->x->f, c->node[i].frame);
		sb_fmt(b, "%s\"%u\": {\"name\": ", i ? ",\n" : "\n", i + 1);
		json_str(b, sb_str(&name));
		const struct rec_frame *fr = rec_frame_of(c->x->f, c->node[i].frame);
		const struct rec_mapping *m = fr ? rec_mapping_of(c->x->f, fr->mapping) : NULL;
		sb_z(b, ", \"category\": ");
		json_str(b, m ? m->path : fr && fr->flags & FRAME_KERNEL ? STR("kernel") : STR(""));
		if (c->node[i].parent)
			sb_fmt(b, ", \"parent\": \"%u\"", c->node[i].parent);
		sb_char(b, '}');
		export_room(&c->x->out);
	}
	sb_z(b, "}");
}

/* ---- kinds ---- */

static struct on_cpu *cpu_of(struct chrome *c, u32 cpu)
{
	if (cpu >= c->ncpu) {
		u32 n = MAX(cpu + 1, c->ncpu * 2);
		c->cpu = xrealloc(c->cpu, n * sizeof(*c->cpu));
		memset(c->cpu + c->ncpu, 0, (n - c->ncpu) * sizeof(*c->cpu));
		c->ncpu = n;
	}
	return &c->cpu[cpu];
}

/* The track of a CPU has its name before its first event. */
static void name_cpu(struct chrome *c, u32 pid, u32 cpu, bool *named, struct str process)
{
	char name[32];
	if (*named)
		return;
	*named = true;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	name_track(c, "process_name", pid, cpu, process);
	name_track(c, "thread_name", pid, cpu, str_z(name));
}

static void ran(struct chrome *c, u32 cpu, u64 ts)
{
	struct on_cpu *on = cpu_of(c, cpu);
	if (!on->thread)
		return;
	head(c, "X", PID_CPUS, cpu, str_z(on->thread->comm));
	put_time(c, "ts", since_start(c, on->since));
	put_time(c, "dur", ts - on->since);
	sb_fmt(&c->x->out.b, ", \"cat\": \"sched\", \"args\": {\"tid\": %u}}", on->thread->tid);
	on->thread = NULL;
}

static void put_state(struct chrome *c, const struct tl_event *e)
{
	struct on_cpu *on = cpu_of(c, e->cpu);
	for (u32 i = 0; i < c->ncpu; i++)
		if (c->cpu[i].thread == e->thread)
			ran(c, i, e->ts);
	if (e->state != TL_RUNNING)
		return;
	ran(c, e->cpu, e->ts);
	name_cpu(c, PID_CPUS, e->cpu, &on->named, STR("CPUs"));
	on->thread = e->thread;
	on->since = e->ts;
}

static u32 process_of(const struct tl_thread *t)
{
	return t->pid ? t->pid : t->tid;
}

static void put_thread(struct chrome *c, const struct tl_thread *t)
{
	if (process_of(t) == t->tid)
		name_track(c, "process_name", t->tid, t->tid, str_z(t->comm));
	name_track(c, "thread_name", process_of(t), t->tid, str_z(t->comm));
}

static void put_on_track(struct chrome *c, const struct tl_event *e, const char *phase)
{
	struct sb *b = &c->x->out.b;
	if (e->on_cpu)
		name_cpu(c, PID_IRQS, e->cpu, &cpu_of(c, e->cpu)->irq_named, STR("interrupts"));
	u32 pid = e->on_cpu || !e->thread ? PID_IRQS : process_of(e->thread);
	u32 tid = e->on_cpu || !e->thread ? e->cpu : e->thread->tid;
	head(c, phase, pid, tid, e->kind == TL_SAMPLE ? STR("sample") : e->name);
	put_time(c, "ts", since_start(c, e->ts));
	if (e->probe.n && *phase != 'E') {
		sb_z(b, ", \"cat\": ");
		json_str(b, e->probe);
	}
	if (*phase == 'i')
		sb_z(b, ", \"s\": \"t\"");
	put_stack(c, e);
	put_args(c, e);
	sb_char(b, '}');
}

/* Begin and end of a span are on the track of the thread where it began; its number says that they belong together. */
static void put_span(struct chrome *c, const struct tl_event *e, const char *phase)
{
	struct sb *b = &c->x->out.b;
	const struct tl_thread *t = e->span->thread;
	if (!t && !c->spans)
		name_track(c, "process_name", PID_SPANS, 0, STR("spans of unknown threads"));
	c->spans |= !t;
	head(c, phase, t ? process_of(t) : PID_SPANS, t ? t->tid : 0, e->span->name);
	put_time(c, "ts", since_start(c, e->ts));
	sb_fmt(b, ", \"cat\": \"span\", \"id\": \"0x%llx\"", e->span->number);
	put_stack(c, e);
	put_args(c, e);
	sb_char(b, '}');
}

static void put_counter(struct chrome *c, const struct tl_event *e)
{
	if (!c->counters)
		name_track(c, "process_name", PID_COUNTERS, 0, STR("counters"));
	c->counters = true;
	head(c, "C", PID_COUNTERS, 0, e->name);
	put_time(c, "ts", since_start(c, e->ts));
	sb_z(&c->x->out.b, ", \"args\": {\"value\": ");
	json_i64(&c->x->out.b, e->value);
	sb_z(&c->x->out.b, "}}");
}

static void put_loss(struct chrome *c, const struct tl_event *e)
{
	head(c, "i", PID_LOSSES, 0, e->name);
	put_time(c, "ts", since_start(c, e->ts));
	sb_z(&c->x->out.b, ", \"cat\": ");
	json_str(&c->x->out.b, e->probe);
	sb_fmt(&c->x->out.b, ", \"s\": \"g\", \"args\": {\"n\": %lld", e->value);
	if (e->to > e->ts)
		put_time(c, "until", since_start(c, e->to));
	sb_z(&c->x->out.b, "}}");
}

static void chrome_put(void *self, const struct tl_event *e)
{
	struct chrome *c = self;
	if (e->kind != TL_LOSS)
		c->last = MAX(c->last, e->ts);
	switch (e->kind) {
	case TL_THREAD: put_thread(c, e->thread); return;
	case TL_BEGIN: put_on_track(c, e, "B"); return;
	case TL_END: put_on_track(c, e, "E"); return;
	case TL_SPAN: put_span(c, e, "b"); return;
	case TL_SPAN_END: put_span(c, e, "e"); return;
	case TL_STATE: put_state(c, e); return;
	case TL_INSTANT:
	case TL_SAMPLE: put_on_track(c, e, "i"); return;
	case TL_COUNTER: put_counter(c, e); return;
	case TL_LOSS: put_loss(c, e); return;
	}
}

static void chrome_begin(void *self, struct exporting *x)
{
	struct chrome *c = self;
	c->x = x;
	c->line = timeline_new(x, chrome_put, c);
	sb_z(&x->out.b, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
}

static void chrome_row(void *self, const struct rec_row *r)
{
	struct chrome *c = self;
	timeline_row(c->line, r);
}

static void chrome_end(void *self)
{
	struct chrome *c = self;
	const struct rec_info *in = rec_info(c->x->f);
	u32 n;
	timeline_end(c->line);
	for (u32 i = 0; i < c->ncpu; i++)
		ran(c, i, c->last);
	rec_losses(c->x->f, &n);
	put_frames(c);
	sb_fmt(&c->x->out.b, ", \"otherData\": {\"start_ns\": \"%llu\", \"losses\": %u}}\n",
	       in->mono, n);
	timeline_free(c->line);
	free(c->cpu);
	free(c->node);
	free(c->slot);
}

const struct exporter export_chrome = {
	.name = "chrome",
	.doc = "Trace Event Format: for Perfetto, speedscope, chrome://tracing",
	.ending = ".trace.json",
	.size = sizeof(struct chrome),
	.begin = chrome_begin,
	.row = chrome_row,
	.end = chrome_end,
};
