/*
 * perfetto.c - a trace of Perfetto: TracePacket messages (protos/perfetto/trace/trace_packet.proto there), one after
 * the other.
 *
 * All packets are of one sequence; texts, frames and stacks are interned: a packet brings those that it is the first to
 * name. Threads run by generic kernel events, which need no ftrace; all else is TrackEvent.
 */
#include "base/alloc.h"
#include "base/proto.h"
#include "base/tab.h"
#include "export/cells.h"
#include "export/number.h"
#include "export/timeline.h"
#include <stdio.h>

/* Field numbers of the messages, and values of their enums. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_STATS = 35,
	PACKET_SYSTEM = 45,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66,
	PACKET_FIRST = 87,
	PACKET_UUID = 89,
	PACKET_STATE = 117,
	FLAG_CLEARED = 1,
	FLAG_NEEDS = 2,
	CLOCK_SNAPSHOT = 1,
	CLOCK_PRIMARY = 2,
	CLOCK_REAL = 1,
	CLOCK_MONO = 3,
	CLOCK_BOOT = 6,
	DEFAULTS_CLOCK = 58,
	DEFAULTS_SAMPLE = 12,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	EVENT_CATEGORY = 3,
	EVENT_ARG = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_VALUE = 30,
	EVENT_STACK = 56,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
	ARG_NAME = 1,
	ARG_BOOL = 2,
	ARG_UINT = 3,
	ARG_INT = 4,
	ARG_DOUBLE = 5,
	ARG_STRING = 6,
	ARG_POINTER = 7,
	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_ARG = 3,
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_STACK = 7,
	INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17,
	INTERNED_MAPPING = 19,
	ITEM_IID = 1,
	ITEM_TEXT = 2,
	MAPPING_BUILD_ID = 2,
	MAPPING_PATH = 7,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_PC = 4,
	STACK_FRAME = 2,
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_STACK = 4,
	SAMPLE_MODE = 5,
	MODE_KERNEL = 1,
	MODE_USER = 2,
	STATE_CPU = 1,
	STATE_COMM = 2,
	STATE_TID = 3,
	STATE_STATE = 4,
	STATS_BUFFER = 1,
	BUFFER_LOST = 19,
};
/* Ids of interned mappings: those of the recording come behind. */
enum { MAPPING_UNKNOWN = 1, MAPPING_KERNEL, MAPPING_FIRST };
/* Ids of tracks. */
#define TRACK_OF_THREADS   0x100000000ull
#define TRACK_OF_PROCESSES 0x200000000ull
#define TRACK_OF_CPUS      0x300000000ull
#define TRACK_OF_COUNTERS  0x400000000ull
#define TRACK_OF_LOSSES    0x500000000ull
#define TRACK_OF_OTHERS    0x600000000ull
#define TRACK_OF_SPANS     0x700000000ull

struct perfetto {
	struct exporting *x;
	struct timeline *line;
	struct tab category, name, arg, counter; /* text -> id */
	struct number_set frame, mapping, stack, track;
	struct sb packet, interned, event, item, text;
	u64 *state_at; /* by id of a thread: when it had its last state */
	u32 nstate;
	u64 lost;
};

/* ---- ids ---- */

/* Bytes as valid UTF-8. */
static struct str utf8(struct perfetto *p, struct str s)
{
	sb_clear(&p->text);
	sb_visible(&p->text, s);
	return sb_str(&p->text);
}

static void intern(struct perfetto *p, u32 field, u64 id, struct str text)
{
	sb_clear(&p->item);
	proto_u64(&p->item, ITEM_IID, id);
	proto_bytes(&p->item, ITEM_TEXT, text);
	proto_bytes(&p->interned, field, sb_str(&p->item));
}

static u64 text_id(struct perfetto *p, struct tab *t, u32 field, struct str text)
{
	u64 id = (u64)(uintptr_t)tab_get(t, text);
	if (id)
		return id;
	id = t->n + 1ull;
	tab_set(t, arena_str(&p->x->a, text), (void *)(uintptr_t)id);
	if (field)
		intern(p, field, id, utf8(p, text));
	return id;
}

/* ---- packets ---- */

static void begin(struct perfetto *p, u64 ts)
{
	sb_clear(&p->packet);
	sb_clear(&p->interned);
	if (ts)
		proto_u64(&p->packet, PACKET_TIME, ts);
	proto_u64(&p->packet, PACKET_SEQUENCE, 1);
}

static void end(struct perfetto *p, u64 flags)
{
	if (p->interned.n)
		proto_bytes(&p->packet, PACKET_INTERNED, sb_str(&p->interned));
	proto_u64(&p->packet, PACKET_FLAGS, flags);
	proto_bytes(&p->x->out.b, TRACE_PACKET, sb_str(&p->packet));
	export_room(&p->x->out);
}

static void put_clock(struct sb *to, u64 id, u64 ns)
{
	AUTO_SB b = {0};
	proto_u64(&b, 1, id);
	proto_u64(&b, 2, ns);
	proto_bytes(to, CLOCK_SNAPSHOT, sb_str(&b));
}

static void put_clocks(struct perfetto *p, const struct rec_clock *c, bool first)
{
	AUTO_SB b = {0};
	begin(p, 0);
	put_clock(&b, CLOCK_MONO, c->mono);
	if (c->boot)
		put_clock(&b, CLOCK_BOOT, c->boot);
	put_clock(&b, CLOCK_REAL, c->real);
	proto_u64(&b, CLOCK_PRIMARY, CLOCK_MONO);
	proto_bytes(&p->packet, PACKET_CLOCKS, sb_str(&b));
	if (first)
		proto_u64(&p->packet, PACKET_FIRST, 1);
	end(p, first ? FLAG_CLEARED : FLAG_NEEDS);
}

/* Times are of the monotonic clock; samples are of processor time. */
static void put_defaults(struct perfetto *p)
{
	AUTO_SB timebase = {0};
	AUTO_SB sample = {0};
	AUTO_SB b = {0};
	proto_u64(&timebase, 1, 1);  /* period */
	proto_u64(&timebase, 4, 1);  /* cpu-clock */
	proto_u64(&timebase, 11, 2); /* monotonic */
	proto_bytes(&sample, 1, sb_str(&timebase));
	proto_bytes(&b, DEFAULTS_SAMPLE, sb_str(&sample));
	proto_u64(&b, DEFAULTS_CLOCK, CLOCK_MONO);
	begin(p, 0);
	proto_bytes(&p->packet, PACKET_DEFAULTS, sb_str(&b));
	end(p, FLAG_CLEARED);
}

static void put_system(struct perfetto *p)
{
	static const struct str keys[] = {STR(""), STR("sysname"), STR("version"), STR("release"),
					  STR("machine")};
	const struct rec_info *in = rec_info(p->x->f);
	AUTO_SB names = {0};
	AUTO_SB b = {0};
	proto_bytes(&names, 1, STR("Linux"));
	for (u32 i = 2; i < countof(keys); i++) {
		struct str s = rec_meta_of(p->x->f, keys[i]);
		if (s.n)
			proto_bytes(&names, i, utf8(p, str_trim(s)));
	}
	proto_bytes(&b, 1, sb_str(&names));
	proto_u64(&b, 8, in->ncpu);
	begin(p, 0);
	proto_bytes(&p->packet, PACKET_SYSTEM, sb_str(&b));
	end(p, FLAG_NEEDS);
	u64 id[2];
	memcpy(id, in->id, sizeof(id));
	sb_clear(&b);
	proto_u64(&b, 1, id[0]);
	proto_u64(&b, 2, id[1]);
	begin(p, 0);
	proto_bytes(&p->packet, PACKET_UUID, sb_str(&b));
	end(p, FLAG_NEEDS);
}

/* ---- tracks ---- */

/* The TrackDescriptor in p->event. */
static void put_descriptor(struct perfetto *p)
{
	begin(p, 0);
	proto_bytes(&p->packet, PACKET_TRACK, sb_str(&p->event));
	end(p, FLAG_NEEDS);
}

static void put_track(struct perfetto *p, u64 uuid, u32 field, struct str what, struct str name)
{
	sb_clear(&p->event);
	proto_u64(&p->event, TRACK_UUID, uuid);
	if (name.n)
		proto_bytes(&p->event, TRACK_NAME, utf8(p, name));
	if (field)
		proto_bytes(&p->event, field, what);
	put_descriptor(p);
}

static void put_thread(struct perfetto *p, const struct tl_thread *t)
{
	AUTO_SB b = {0};
	if (!t->pid)
		return;
	if (t->tid == t->pid) {
		proto_u64(&b, PROCESS_PID, t->pid);
		proto_bytes(&b, PROCESS_NAME, utf8(p, str_z(t->comm)));
		put_track(p, TRACK_OF_PROCESSES + t->id, TRACK_PROCESS, sb_str(&b), STR(""));
		sb_clear(&b);
	}
	proto_u64(&b, THREAD_PID, t->pid);
	proto_u64(&b, THREAD_TID, t->tid);
	proto_bytes(&b, THREAD_NAME, utf8(p, str_z(t->comm)));
	put_track(p, TRACK_OF_THREADS + t->id, TRACK_THREAD, sb_str(&b), STR(""));
}

/* A track that is of no thread. */
static u64 track_named(struct perfetto *p, u64 uuid, const char *name)
{
	bool fresh;
	number_id(&p->track, uuid, &fresh);
	if (fresh)
		put_track(p, uuid, 0, STR(""), str_z(name));
	return uuid;
}

static u64 track_of(struct perfetto *p, const struct tl_event *e)
{
	char name[32];
	if (e->on_cpu) {
		snprintf(name, sizeof(name), "interrupts CPU %u", e->cpu);
		return track_named(p, TRACK_OF_CPUS + e->cpu, name);
	}
	if (!e->thread || !e->thread->pid)
		return track_named(p, TRACK_OF_OTHERS, "events of unknown threads");
	return TRACK_OF_THREADS + e->thread->id;
}

/* Below the thread on which the span began. */
static u64 track_of_span(struct perfetto *p, const struct tl_span *s)
{
	bool fresh;
	u64 uuid = TRACK_OF_SPANS + s->track;
	number_id(&p->track, uuid, &fresh);
	if (!fresh)
		return uuid;
	sb_clear(&p->event);
	proto_u64(&p->event, TRACK_UUID, uuid);
	proto_bytes(&p->event, TRACK_NAME, utf8(p, s->name));
	if (s->thread && s->thread->pid)
		proto_u64(&p->event, TRACK_PARENT, TRACK_OF_THREADS + s->thread->id);
	put_descriptor(p);
	return uuid;
}

/* ---- stacks ---- */

static void put_mapping(struct perfetto *p, u64 id, struct str path, struct str build_id)
{
	AUTO_SB b = {0};
	intern(p, INTERNED_PATH, id,
	       utf8(p, str_starts(path, STR("/")) ? str_from(path, 1) : path));
	proto_u64(&b, ITEM_IID, id);
	if (build_id.n) {
		AUTO_SB raw = {0};
		for (u32 i = 0; i + 1 < build_id.n; i += 2) {
			u64 byte = 0;
			AUTO_SB hex = {0};
			sb_fmt(&hex, "0x%.2s", build_id.s + i);
			str_u64(sb_str(&hex), &byte);
			sb_char(&raw, (char)byte);
		}
		intern(p, INTERNED_BUILD_ID, id, sb_str(&raw));
		proto_u64(&b, MAPPING_BUILD_ID, id);
	}
	proto_u64(&b, MAPPING_PATH, id);
	proto_bytes(&p->interned, INTERNED_MAPPING, sb_str(&b));
}

static u64 mapping_id(struct perfetto *p, const struct rec_frame *fr)
{
	const struct rec_mapping *m = fr ? rec_mapping_of(p->x->f, fr->mapping) : NULL;
	bool fresh;
	u64 id = m                                ? MAPPING_FIRST + (u64)fr->mapping
		 : fr && fr->flags & FRAME_KERNEL ? MAPPING_KERNEL
						  : MAPPING_UNKNOWN;
	number_id(&p->mapping, id, &fresh);
	if (fresh)
		put_mapping(p, id,
			    m                      ? m->path
			    : id == MAPPING_KERNEL ? STR("[kernel.kallsyms]")
						   : STR("[unknown]"),
			    m ? m->build_id : STR(""));
	return id;
}

static u64 frame_id(struct perfetto *p, u32 frame)
{
	const struct rec_frame *fr = rec_frame_of(p->x->f, frame);
	bool fresh;
	u64 id = number_id(&p->frame, frame, &fresh);
	if (!fresh)
		return id;
	u64 mapping = mapping_id(p, fr);
	sb_clear(&p->text);
	cell_frame(&p->text, p->x->f, frame);
	intern(p, INTERNED_FUNCTION, id, sb_str(&p->text));
	AUTO_SB b = {0};
	proto_u64(&b, ITEM_IID, id);
	proto_u64(&b, FRAME_FUNCTION, id);
	proto_u64(&b, FRAME_MAPPING, mapping);
	proto_u64(&b, FRAME_PC, !fr ? 0 : fr->mapping ? fr->file_off : fr->addr);
	proto_bytes(&p->interned, INTERNED_FRAME, sb_str(&b));
	return id;
}

static void put_frames(struct perfetto *p, struct sb *b, u32 stack)
{
	const struct rec_stack *s = rec_stack_of(p->x->f, stack);
	for (u32 i = s ? s->n : 0; i; i--) /* outermost first */
		proto_u64(b, STACK_FRAME, frame_id(p, s->frame[i - 1]));
}

/* 0 if there is none. */
static u64 stack_id(struct perfetto *p, const struct tl_event *e)
{
	bool fresh;
	AUTO_SB b = {0};
	if (!rec_stack_of(p->x->f, e->ustack) && !rec_stack_of(p->x->f, e->kstack))
		return 0;
	u64 id = number_id(&p->stack, (u64)e->ustack << 32 | e->kstack, &fresh);
	if (!fresh)
		return id;
	proto_u64(&b, ITEM_IID, id);
	put_frames(p, &b, e->ustack);
	put_frames(p, &b, e->kstack);
	proto_bytes(&p->interned, INTERNED_STACK, sb_str(&b));
	return id;
}

/* ---- events ---- */

static void put_arg(struct perfetto *p, const struct tl_arg *a)
{
	AUTO_SB b = {0};
	proto_u64(&b, ARG_NAME, text_id(p, &p->arg, INTERNED_ARG, a->name));
	switch (a->kind) {
	case TL_UINT: proto_u64(&b, ARG_UINT, a->u); break;
	case TL_INT: proto_u64(&b, ARG_INT, a->u); break;
	case TL_POINTER: proto_u64(&b, ARG_POINTER, a->u); break;
	case TL_BOOL: proto_u64(&b, ARG_BOOL, a->u != 0); break;
	case TL_FLOAT: proto_fixed64(&b, ARG_DOUBLE, a->u); break;
	case TL_TEXT: proto_bytes(&b, ARG_STRING, utf8(p, a->text)); break;
	}
	proto_bytes(&p->event, EVENT_ARG, sb_str(&b));
}

/* A TrackEvent up to its arguments, in p->event. */
static void put_event(struct perfetto *p, const struct tl_event *e, u64 type, u64 track)
{
	begin(p, e->ts);
	sb_clear(&p->event);
	proto_u64(&p->event, EVENT_TYPE, type);
	proto_u64(&p->event, EVENT_TRACK, track);
	if (type != TYPE_END && type != TYPE_COUNTER) {
		proto_u64(&p->event, EVENT_NAME, text_id(p, &p->name, INTERNED_NAME, e->name));
		proto_u64(&p->event, EVENT_CATEGORY,
			  text_id(p, &p->category, INTERNED_CATEGORY, e->probe));
	}
	for (u32 i = 0; i < e->narg; i++)
		put_arg(p, &e->arg[i]);
	u64 stack = stack_id(p, e);
	if (stack && type != TYPE_END)
		proto_u64(&p->event, EVENT_STACK, stack);
	if (type == TYPE_COUNTER)
		proto_u64(&p->event, EVENT_VALUE, (u64)e->value);
	proto_bytes(&p->packet, PACKET_EVENT, sb_str(&p->event));
	end(p, FLAG_NEEDS);
}

static void put_counter(struct perfetto *p, const struct tl_event *e)
{
	bool fresh;
	u64 uuid = TRACK_OF_COUNTERS + text_id(p, &p->counter, 0, e->name);
	number_id(&p->track, uuid, &fresh);
	if (fresh)
		put_track(p, uuid, TRACK_COUNTER, STR(""), e->name);
	put_event(p, e, TYPE_COUNTER, uuid);
}

static void put_sample(struct perfetto *p, const struct tl_event *e)
{
	begin(p, e->ts);
	u64 stack = stack_id(p, e);
	sb_clear(&p->event);
	proto_u64(&p->event, SAMPLE_CPU, e->cpu);
	proto_u64(&p->event, SAMPLE_PID, e->thread ? e->thread->pid : 0);
	proto_u64(&p->event, SAMPLE_TID, e->thread ? e->thread->tid : 0);
	if (stack)
		proto_u64(&p->event, SAMPLE_STACK, stack);
	proto_u64(&p->event, SAMPLE_MODE,
		  rec_stack_of(p->x->f, e->kstack) ? MODE_KERNEL : MODE_USER);
	proto_bytes(&p->packet, PACKET_SAMPLE, sb_str(&p->event));
	end(p, FLAG_NEEDS);
}

/* The trace processor refuses two states of a thread at one time. */
static u64 state_time(struct perfetto *p, const struct tl_event *e)
{
	u32 id = e->thread->id;
	if (id >= p->nstate) {
		u32 n = MAX(id + 1, p->nstate * 2);
		p->state_at = xrealloc(p->state_at, n * sizeof(*p->state_at));
		memset(p->state_at + p->nstate, 0, (n - p->nstate) * sizeof(*p->state_at));
		p->nstate = n;
	}
	u64 ts = MAX(e->ts, p->state_at[id] + 1);
	p->state_at[id] = ts;
	return ts;
}

static void put_state(struct perfetto *p, const struct tl_event *e)
{
	static const u8 states[] = {
		[TL_UNKNOWN] = 4, [TL_CREATED] = 1, [TL_RUNNABLE] = 2, [TL_RUNNING] = 3,
		[TL_SLEEP] = 4,   [TL_BLOCKED] = 5, [TL_STOPPED] = 6,  [TL_DEAD] = 7};
	begin(p, state_time(p, e));
	sb_clear(&p->event);
	proto_u64(&p->event, STATE_CPU, e->cpu);
	proto_bytes(&p->event, STATE_COMM, utf8(p, str_z(e->thread->comm)));
	proto_u64(&p->event, STATE_TID, e->thread->tid);
	proto_u64(&p->event, STATE_STATE, states[e->state]);
	proto_bytes(&p->packet, PACKET_STATE, sb_str(&p->event));
	end(p, FLAG_NEEDS);
}

static void put_loss(struct perfetto *p, const struct tl_event *e)
{
	const struct tl_arg args[] = {{STR("kind"), TL_TEXT, 0, e->probe},
				      {STR("n"), TL_INT, (u64)e->value, {0}},
				      {STR("until_ns"), TL_UINT, e->to, {0}}};
	struct tl_event with = *e;
	with.arg = args;
	with.narg = countof(args);
	p->lost += str_is(e->probe, "lost_total") || str_is(e->probe, "disk_full") ||
				   str_is(e->probe, "corrupt_file")
			   ? (u64)e->value
			   : 0;
	put_event(p, &with, TYPE_INSTANT, track_named(p, TRACK_OF_LOSSES, "losses"));
}

static void perfetto_put(void *self, const struct tl_event *e)
{
	struct perfetto *p = self;
	switch (e->kind) {
	case TL_THREAD: put_thread(p, e->thread); return;
	case TL_BEGIN: put_event(p, e, TYPE_BEGIN, track_of(p, e)); return;
	case TL_END: put_event(p, e, TYPE_END, track_of(p, e)); return;
	case TL_SPAN: put_event(p, e, TYPE_BEGIN, track_of_span(p, e->span)); return;
	case TL_SPAN_END: put_event(p, e, TYPE_END, track_of_span(p, e->span)); return;
	case TL_INSTANT: put_event(p, e, TYPE_INSTANT, track_of(p, e)); return;
	case TL_COUNTER: put_counter(p, e); return;
	case TL_SAMPLE: put_sample(p, e); return;
	case TL_STATE: put_state(p, e); return;
	case TL_LOSS: put_loss(p, e); return;
	}
}

static void perfetto_begin(void *self, struct exporting *x)
{
	struct perfetto *p = self;
	const struct rec_info *in = rec_info(x->f);
	u32 n;
	const struct rec_clock *c = rec_clocks(x->f, &n);
	p->x = x;
	p->line = timeline_new(x, perfetto_put, p);
	if (!n)
		put_clocks(p, &(struct rec_clock){.mono = in->mono, .real = in->real}, true);
	for (u32 i = 0; i < n; i++)
		put_clocks(p, &c[i], !i);
	put_defaults(p);
	put_system(p);
}

static void perfetto_row(void *self, const struct rec_row *r)
{
	struct perfetto *p = self;
	timeline_row(p->line, r);
}

/* What the viewer warns of. */
static void put_lost(struct perfetto *p)
{
	AUTO_SB buffer = {0};
	AUTO_SB b = {0};
	proto_u64(&buffer, BUFFER_LOST, p->lost);
	proto_bytes(&b, STATS_BUFFER, sb_str(&buffer));
	begin(p, 0);
	proto_bytes(&p->packet, PACKET_STATS, sb_str(&b));
	end(p, FLAG_NEEDS);
}

static void perfetto_end(void *self)
{
	struct perfetto *p = self;
	timeline_end(p->line);
	if (p->lost)
		put_lost(p);
	timeline_free(p->line);
	tab_free(&p->category);
	tab_free(&p->name);
	tab_free(&p->arg);
	tab_free(&p->counter);
	free(p->state_at);
	number_free(&p->frame);
	number_free(&p->mapping);
	number_free(&p->stack);
	number_free(&p->track);
	sb_free(&p->packet);
	sb_free(&p->interned);
	sb_free(&p->event);
	sb_free(&p->item);
	sb_free(&p->text);
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.doc = "a trace of Perfetto: ui.perfetto.dev, and its trace processor for SQL",
	.ending = ".pftrace",
	.size = sizeof(struct perfetto),
	.begin = perfetto_begin,
	.row = perfetto_row,
	.end = perfetto_end,
};
