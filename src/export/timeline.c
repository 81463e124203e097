/* timeline.c - see timeline.h. */
#include "export/timeline.h"
#include "arch/arch.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "export/cells.h"
#include <stdio.h>

enum { MAX_OPEN = 128, FIRST_SLOTS = 256, MAX_ERRNO = 4095, NEAR_NS = 1000000 };

/* What the rows of a schema are. */
enum role {
	ROLE_EVENT,
	ROLE_CALL, /* raw_syscalls:sys_enter */
	ROLE_CALL_END,
	ROLE_NAMED, /* syscalls:sys_enter_read */
	ROLE_NAMED_END,
	ROLE_SWITCH,
	ROLE_WAKE,
	ROLE_FORK,
	ROLE_EXIT,
	ROLE_BEGIN, /* one of two probes; .key is that of both */
	ROLE_DONE,
	ROLE_SPAN, /* of any probe: span_begin() */
	ROLE_SPAN_END,
	ROLE_SAMPLE,
	ROLE_COUNTER, /* numbers that an interval keeps */
	ROLE_FREQUENCY
};
enum column_of {
	COL_ID,
	COL_NAME,
	COL_PID,
	COL_COMM,
	COL_NEXT_PID,
	COL_NEXT_COMM,
	COL_STATE,
	COLS
};

struct plan {
	enum role role;
	struct str name; /* of the slice or instant */
	struct str key;
	bool on_cpu;
	i32 col[COLS]; /* -1: there is none */
	bool *skip;    /* columns that are no arguments */
};
struct open_slice {
	struct str key;
	bool call, recursive;
};
struct open_list {
	VEC(struct open_slice) v;
};
struct held {
	bool on, named;
	struct tl_event e;
	VEC(struct tl_arg) arg; /* .text.s is an offset in .text */
	struct sb text;
};
struct thread {
	struct tl_thread t;
	enum tl_state state;
	u32 cpu; /* on which it runs */
	struct open_list open;
	struct held held; /* a system call that began */
	struct str ended; /* the call that ended last */
	u64 ended_at;
	enum role ended_by;
};
struct timeline {
	struct exporting *x;
	timeline_put *put;
	void *self;
	const struct arch *arch;
	struct plan *plan; /* by schema */
	u32 nplan;
	bool switches;
	VEC(struct thread *) thread;
	u32 *slot, nslot;        /* index + 1, by tid */
	struct thread **running; /* by CPU */
	struct open_list *irq;   /* by CPU */
	u32 ncpu;
	VEC(struct tl_arg) arg; /* of the row */
	struct sb text;
	struct spans *spans;
	u32 kstack, ustack;
	u64 start;
};

/* ---- what the schemas are ---- */

static i32 column_named(const struct rec_schema *s, const char *a, const char *b)
{
	for (u32 i = 0; i < s->ncolumn; i++)
		if (str_is(s->column[i].expr, a) || (b && str_is(s->column[i].expr, b)))
			return (i32)i;
	return -1;
}

/* The part behind the last colon. */
static struct str last_part(struct str s)
{
	struct str rest = s, part = s;
	while (str_cut(&rest, ':', &part))
		;
	return part;
}

static struct str without(struct str s, u32 tail)
{
	return str_n(s.s, s.n - tail);
}

static bool has_probe(const struct rec_file *f, const char *probe_type, struct str name)
{
	u32 n;
	const struct rec_schema *const *s = rec_schemas(f, &n);
	for (u32 i = 0; i < n; i++)
		if (str_is(s[i]->type, probe_type) && str_eq(last_part(s[i]->probe), name))
			return true;
	return false;
}

/* Entry and return of a function, if both were recorded. */
static void plan_function(const struct timeline *t, const struct rec_schema *s, struct plan *p)
{
	static const struct {
		const char *begin, *end;
	} pairs[] = {{"kprobe", "kretprobe"},
		     {"fentry", "fexit"},
		     {"uprobe", "uretprobe"},
		     {"kfunc", "kretfunc"}};
	struct str name = last_part(s->probe);
	for (u32 i = 0; i < countof(pairs); i++) {
		bool begin = str_is(s->type, pairs[i].begin), end = str_is(s->type, pairs[i].end);
		if (!(begin && has_probe(t->x->f, pairs[i].end, name)) &&
		    !(end && has_probe(t->x->f, pairs[i].begin, name)))
			continue;
		p->role = begin ? ROLE_BEGIN : ROLE_DONE;
		p->key = p->name = name;
	}
}

/* Two tracepoints: irq_handler_entry and irq_handler_exit. */
static void plan_pair(const struct timeline *t, struct str event, struct plan *p)
{
	static const struct {
		const char *begin, *end;
	} pairs[] = {
		{"_entry", "_exit"}, {"_begin", "_end"}, {"_start", "_end"}, {"_enter", "_exit"}};
	struct str name = last_part(event);
	for (u32 i = 0; i < countof(pairs) && p->role == ROLE_EVENT; i++) {
		struct str begin = str_z(pairs[i].begin), end = str_z(pairs[i].end);
		bool begins = str_ends(name, begin), ends = str_ends(name, end);
		struct str stem = without(name, begins ? begin.n : ends ? end.n : 0);
		AUTO_SB other = {0};
		if (!begins && !ends)
			continue;
		sb_fmt(&other, "%.*s%s", STRF(stem), begins ? pairs[i].end : pairs[i].begin);
		if (!has_probe(t->x->f, "tracepoint", sb_str(&other)))
			continue;
		p->role = begins ? ROLE_BEGIN : ROLE_DONE;
		p->key = p->name = stem;
		p->on_cpu =
			str_starts(event, STR("irq:")) || str_starts(event, STR("irq_vectors:"));
	}
}

static void plan_event(const struct timeline *t, const struct rec_schema *s, struct plan *p)
{
	static const struct {
		const char *event;
		enum role role;
		const char *pid, *comm;
	} known[] = {
		{"raw_syscalls:sys_enter", ROLE_CALL, NULL, NULL},
		{"raw_syscalls:sys_exit", ROLE_CALL_END, NULL, NULL},
		{"sched:sched_switch", ROLE_SWITCH, "args.prev_pid", "args.prev_comm"},
		{"sched:sched_wakeup", ROLE_WAKE, "args.pid", "args.comm"},
		{"sched:sched_wakeup_new", ROLE_WAKE, "args.pid", "args.comm"},
		{"sched:sched_waking", ROLE_WAKE, "args.pid", "args.comm"},
		{"sched:sched_process_fork", ROLE_FORK, "args.child_pid", "args.child_comm"},
		{"sched:sched_process_exit", ROLE_EXIT, NULL, NULL},
		{"power:cpu_frequency", ROLE_FREQUENCY, NULL, NULL},
	};
	struct str event = cell_probe(s), enter = STR("syscalls:sys_enter_"),
		   leave = STR("syscalls:sys_exit_");
	for (u32 i = 0; i < countof(known); i++)
		if (str_is(event, known[i].event)) {
			p->role = known[i].role;
			p->col[COL_PID] = known[i].pid ? column_named(s, known[i].pid, NULL) : -1;
			AUTO_SB text = {0};
			sb_fmt(&text, "str(%s)", known[i].comm ? known[i].comm : "");
			p->col[COL_COMM] =
				column_named(s, known[i].comm ? known[i].comm : "", text.s);
		}
	if (str_starts(event, enter) || str_starts(event, leave)) {
		bool begins = str_starts(event, enter);
		p->role = begins ? ROLE_NAMED : ROLE_NAMED_END;
		p->name = str_from(event, begins ? enter.n : leave.n);
	}
	if (p->role == ROLE_EVENT)
		plan_pair(t, event, p);
}

/* str(args.name) is shown instead of args.name. */
static bool has_text(const struct rec_schema *s, struct str expr)
{
	AUTO_SB text = {0};
	sb_fmt(&text, "str(%.*s)", STRF(expr));
	return column_named(s, text.s, NULL) >= 0;
}

static bool is_sample(const struct rec_schema *s)
{
	return str_is(s->type, "profile") || str_is(s->type, "hardware") ||
	       str_is(s->type, "software");
}

/* Spans are rows of their own: the type of their probe says so. */
static enum role span_role(const struct rec_schema *s)
{
	bool named =
		column_named(s, "span.name", NULL) >= 0 && column_named(s, "span.id", NULL) >= 0;
	return named && str_is(s->type, "span_begin") ? ROLE_SPAN
	       : named && str_is(s->type, "span_end") ? ROLE_SPAN_END
						      : ROLE_EVENT;
}

static void plan_schema(struct timeline *t, const struct rec_schema *s)
{
	struct plan *p = &t->plan[s->id];
	for (u32 i = 0; i < COLS; i++)
		p->col[i] = -1;
	p->name = last_part(s->probe);
	p->skip = arena_newn(&t->x->a, bool, s->ncolumn + 1ul);
	if (str_is(s->type, "tracepoint"))
		plan_event(t, s, p);
	else if (is_sample(s))
		p->role = ROLE_SAMPLE;
	else if (str_is(s->type, "interval"))
		p->role = ROLE_COUNTER;
	else
		plan_function(t, s, p);
	bool span = span_role(s) != ROLE_EVENT;
	if (span)
		p->role = span_role(s);
	if (p->role == ROLE_COUNTER || p->role == ROLE_SAMPLE)
		p->name = s->probe;
	p->col[COL_ID] = column_named(s,
				      span                        ? "span.id"
				      : p->role == ROLE_FREQUENCY ? "args.cpu_id"
								  : "args.id",
				      NULL);
	p->col[COL_NAME] = column_named(s, "span.name", NULL);
	p->col[COL_NEXT_PID] = column_named(s, "args.next_pid", NULL);
	p->col[COL_NEXT_COMM] = column_named(s, "args.next_comm", "str(args.next_comm)");
	p->col[COL_STATE] =
		column_named(s, p->role == ROLE_FREQUENCY ? "args.state" : "args.prev_state", NULL);
	bool call = p->role >= ROLE_CALL && p->role <= ROLE_NAMED_END;
	if ((p->role == ROLE_SWITCH && (p->col[COL_PID] < 0 || p->col[COL_NEXT_PID] < 0)) ||
	    ((p->role == ROLE_CALL || p->role == ROLE_CALL_END) && p->col[COL_ID] < 0) ||
	    (p->role == ROLE_FREQUENCY && (p->col[COL_ID] < 0 || p->col[COL_STATE] < 0)))
		p->role = ROLE_EVENT; /* what it is about was not kept */
	t->switches |= p->role == ROLE_SWITCH;
	for (u32 i = 0; i < s->ncolumn; i++) {
		const struct rec_column *c = &s->column[i];
		bool number =
			call && (str_is(c->expr, "args.__syscall_nr") || (i32)i == p->col[COL_ID]);
		bool title = span && (i32)i == p->col[COL_NAME];
		p->skip[i] = c->kind == REC_STACK || number || title || has_text(s, c->expr);
	}
}

struct timeline *timeline_new(struct exporting *x, timeline_put *put, void *self)
{
	struct timeline *t = xcalloc(1, sizeof(*t));
	const struct rec_info *in = rec_info(x->f);
	u32 n;
	const struct rec_schema *const *s = rec_schemas(x->f, &n);
	*t = (struct timeline){.x = x, .put = put, .self = self, .start = in->mono};
	if (!t->start || (in->first && in->first < t->start))
		t->start = in->first;
	t->arch = arch_by_name(str_trim(rec_meta_of(x->f, STR("machine"))));
	for (u32 i = 0; i < n; i++)
		t->nplan = MAX(t->nplan, s[i]->id + 1);
	t->plan = xcalloc(t->nplan + 1ul, sizeof(*t->plan));
	t->spans = spans_new();
	for (u32 i = 0; i < n; i++)
		plan_schema(t, s[i]);
	return t;
}

u64 timeline_start(const struct timeline *t)
{
	return t->start;
}

/* ---- threads ---- */

static void rehash(struct timeline *t)
{
	u32 n = t->nslot ? t->nslot * 2 : FIRST_SLOTS;
	t->slot = xrealloc(t->slot, n * sizeof(*t->slot));
	memset(t->slot, 0, n * sizeof(*t->slot));
	t->nslot = n;
	for (u32 i = 0; i < t->thread.n; i++) {
		u32 tid = t->thread.v[i]->t.tid, at = tid * 2654435761u & (n - 1);
		while (t->slot[at] && t->thread.v[t->slot[at] - 1]->t.tid != tid)
			at = (at + 1) & (n - 1);
		t->slot[at] = i + 1; /* a later one of the same tid replaces it */
	}
}

static u32 *slot_of(struct timeline *t, u32 tid)
{
	if (t->thread.n * 2 >= t->nslot)
		rehash(t);
	u32 at = tid * 2654435761u & (t->nslot - 1);
	while (t->slot[at] && t->thread.v[t->slot[at] - 1]->t.tid != tid)
		at = (at + 1) & (t->nslot - 1);
	return &t->slot[at];
}

static bool set_comm(struct thread *th, struct str comm)
{
	char text[sizeof(th->t.comm)] = {0};
	memcpy(text, comm.s ? comm.s : "", MIN(comm.n, (u32)sizeof(text) - 1));
	bool differs = comm.n && memcmp(text, th->t.comm, sizeof(text));
	if (differs)
		memcpy(th->t.comm, text, sizeof(text));
	return differs;
}

/* What is known of it: a task, or a number and a name (comm may be empty). */
static struct thread *thread_of(struct timeline *t, u32 tid, const struct rec_task *task,
				struct str comm)
{
	u32 *slot = slot_of(t, tid);
	struct thread *th = *slot ? t->thread.v[*slot - 1] : NULL;
	u64 start = task && task->known & KNOWN_START ? task->start : 0;
	bool fresh = !th || th->state == TL_DEAD || (start && th->t.start && start != th->t.start);
	if (fresh) {
		th = xcalloc(1, sizeof(*th));
		th->t.id = t->thread.n + 1;
		th->t.tid = tid;
		vec_add(&t->thread, th);
		*slot = t->thread.n;
	}
	bool changed = set_comm(th, task ? task->comm : comm);
	if (task && th->t.pid != task->pid) {
		th->t.pid = task->pid;
		changed = true;
	}
	th->t.start = start ? start : th->t.start;
	if (fresh || changed)
		t->put(t->self, &(struct tl_event){.kind = TL_THREAD, .thread = &th->t});
	return th;
}

/* Lists by CPU have room for this one. */
static void cpu_room(struct timeline *t, u32 cpu)
{
	if (cpu < t->ncpu)
		return;
	u32 n = MAX(cpu + 1, t->ncpu * 2);
	t->running = xrealloc(t->running, n * sizeof(*t->running));
	t->irq = xrealloc(t->irq, n * sizeof(*t->irq));
	memset(t->running + t->ncpu, 0, (n - t->ncpu) * sizeof(*t->running));
	memset(t->irq + t->ncpu, 0, (n - t->ncpu) * sizeof(*t->irq));
	t->ncpu = n;
}

/* ---- states ---- */

static void state(struct timeline *t, struct thread *th, u64 ts, u32 cpu, enum tl_state to)
{
	if (th->state == TL_RUNNING) {
		if (t->running[th->cpu] == th)
			t->running[th->cpu] = NULL;
		if (to != TL_RUNNING)
			cpu = th->cpu;
	}
	th->state = to;
	th->cpu = cpu;
	if (th->t.tid)
		t->put(t->self, &(struct tl_event){.kind = TL_STATE,
						   .ts = ts,
						   .cpu = cpu,
						   .thread = &th->t,
						   .state = to});
}

static void runs(struct timeline *t, struct thread *th, u64 ts, u32 cpu)
{
	struct thread *before = t->running[cpu];
	if (th->state == TL_RUNNING && th->cpu == cpu)
		return;
	if (th->state == TL_RUNNING) /* where it left its CPU was not recorded */
		state(t, th, ts, th->cpu, TL_UNKNOWN);
	if (before)
		state(t, before, ts, cpu, TL_UNKNOWN);
	state(t, th, ts, cpu, TL_RUNNING);
	t->running[cpu] = th;
}

/* prev_state of sched_switch: bits of the kernel's TASK_ names. */
static enum tl_state state_of(u64 bits)
{
	enum {
		INTERRUPTIBLE = 1,
		UNINTERRUPTIBLE = 2,
		STOPPED = 4,
		TRACED = 8,
		DEAD = 0x10 | 0x20,
		PARKED = 0x40,
		IDLE = 0x80
	};
	return bits & DEAD                          ? TL_DEAD
	       : bits & (STOPPED | TRACED | PARKED) ? TL_STOPPED
	       : bits & (UNINTERRUPTIBLE | IDLE)    ? TL_BLOCKED
	       : bits & INTERRUPTIBLE               ? TL_SLEEP
						    : TL_RUNNABLE;
}

static u64 number(const struct rec_row *r, i32 col)
{
	return col >= 0 && !r->cell[col].missing ? r->cell[col].u : 0;
}

static struct str text(const struct rec_row *r, i32 col)
{
	return col >= 0 && !r->cell[col].missing ? r->cell[col].str : (struct str){0};
}

static void switched(struct timeline *t, const struct rec_row *r, const struct plan *p)
{
	u32 from = (u32)number(r, p->col[COL_PID]), to = (u32)number(r, p->col[COL_NEXT_PID]);
	bool same = r->task && r->task->tid == from;
	struct thread *prev = thread_of(t, from, same ? r->task : NULL, text(r, p->col[COL_COMM]));
	i32 col = p->col[COL_STATE];
	if (t->running[r->cpu] && t->running[r->cpu] != prev)
		state(t, t->running[r->cpu], r->ts, r->cpu, TL_UNKNOWN);
	state(t, prev, r->ts, r->cpu,
	      col < 0 || r->cell[col].missing ? TL_UNKNOWN : state_of(r->cell[col].u));
	if (to)
		runs(t, thread_of(t, to, NULL, text(r, p->col[COL_NEXT_COMM])), r->ts, r->cpu);
}

static void woken(struct timeline *t, const struct rec_row *r, const struct plan *p,
		  enum tl_state to)
{
	u32 tid = (u32)number(r, p->col[COL_PID]);
	struct thread *th = tid ? thread_of(t, tid, NULL, text(r, p->col[COL_COMM])) : NULL;
	bool early = th && to == TL_CREATED && (th->t.pid || th->state != TL_UNKNOWN);
	if (th && !early && th->state != TL_RUNNING && th->state != to)
		state(t, th, r->ts, r->cpu, to);
}

/* ---- arguments ---- */

static void put_arg(struct timeline *t, const struct rec_column *c, const struct rec_cell *v)
{
	struct str name = cell_name(c), around = STR("str(args.");
	struct tl_arg a = {.u = v->u, .kind = c->sign ? TL_INT : TL_UINT};
	struct str word = v->missing ? (struct str){0} : cell_enumerator(t->x->f, c, v->u);
	size_t at = t->text.n;
	if (str_starts(name, around) && str_ends(name, STR(")")))
		name = without(str_from(name, around.n), 1);
	a.name = name;
	if (c->kind == REC_BOOL)
		a.kind = TL_BOOL;
	else if (c->kind == REC_POINTER)
		a.kind = TL_POINTER;
	else if (c->kind == REC_FLOAT)
		a.kind = TL_FLOAT;
	if (v->missing || word.s || c->kind == REC_STRING || c->kind == REC_NAMED ||
	    c->kind == REC_BYTES || c->kind == REC_ARRAY) {
		cell_text(&t->text, t->x->f, c, v);
		a.kind = TL_TEXT;
		a.text = (struct str){(const char *)at, (u32)(t->text.n - at)};
	}
	vec_add(&t->arg, a);
}

/* Texts are offsets until all are there. */
static void place_texts(struct tl_arg *arg, u32 n, const struct sb *b)
{
	for (u32 i = 0; i < n; i++)
		if (arg[i].kind == TL_TEXT)
			arg[i].text.s = (b->s ? b->s : "") + (size_t)arg[i].text.s;
}

static void read_args(struct timeline *t, const struct rec_row *r, const struct plan *p)
{
	const struct rec_schema *s = r->schema;
	t->arg.n = 0;
	t->kstack = t->ustack = 0;
	sb_clear(&t->text);
	for (u32 i = 0; i < s->ncolumn; i++) {
		const struct rec_column *c = &s->column[i];
		if (c->kind == REC_STACK && !r->cell[i].missing)
			*(c->expr.s && c->expr.s[0] == 'k' ? &t->kstack : &t->ustack) =
				(u32)r->cell[i].u;
		if (!p->skip[i])
			put_arg(t, c, &r->cell[i]);
	}
}

static struct tl_event event_of(const struct timeline *t, const struct rec_row *r,
				const struct thread *th, enum tl_kind kind, struct str name)
{
	return (struct tl_event){.kind = kind,
				 .ts = r->ts,
				 .cpu = r->cpu,
				 .thread = th ? &th->t : NULL,
				 .name = name,
				 .probe = r->schema->probe,
				 .arg = t->arg.v,
				 .narg = t->arg.n,
				 .kstack = t->kstack,
				 .ustack = t->ustack};
}

static void put(struct timeline *t, struct tl_event e)
{
	place_texts(t->arg.v, t->arg.n, &t->text);
	t->put(t->self, &e);
}

/* ---- system calls ---- */

/* The call that was held back, until it was clear that no other row is about it. */
static void let_go(struct timeline *t, struct thread *th)
{
	struct held *h = &th->held;
	if (!h->on)
		return;
	h->on = false;
	place_texts(h->arg.v, h->arg.n, &h->text);
	h->e.arg = h->arg.v;
	h->e.narg = h->arg.n;
	t->put(t->self, &h->e);
}

/* The arguments of the row are added to those that are there. */
static void hold_args(struct timeline *t, struct held *h)
{
	for (u32 i = 0; i < t->arg.n; i++) {
		struct tl_arg a = t->arg.v[i];
		if (h->named && str_is(a.name, "args")) /* of raw_syscalls */
			continue;
		if (a.kind == TL_TEXT) {
			size_t at = h->text.n;
			sb_mem(&h->text, t->text.s + (size_t)a.text.s, a.text.n);
			a.text.s = (const char *)at;
		}
		vec_add(&h->arg, a);
	}
	h->e.kstack = h->e.kstack ? h->e.kstack : t->kstack;
	h->e.ustack = h->e.ustack ? h->e.ustack : t->ustack;
}

static void drop_raw_args(struct held *h)
{
	u32 n = 0;
	for (u32 i = 0; i < h->arg.n; i++)
		if (!str_is(h->arg.v[i].name, "args"))
			h->arg.v[n++] = h->arg.v[i];
	h->arg.n = n;
}

static void close_to(struct timeline *t, const struct rec_row *r, struct open_list *o,
		     const struct thread *th, bool on_cpu, u32 depth)
{
	while (o->v.n > depth) {
		o->v.n--;
		t->put(t->self, &(struct tl_event){.kind = TL_END,
						   .ts = r->ts,
						   .cpu = r->cpu,
						   .thread = th ? &th->t : NULL,
						   .on_cpu = on_cpu});
	}
}

static i32 open_call(const struct thread *th)
{
	for (u32 i = th->open.v.n; i; i--)
		if (th->open.v.v[i - 1].call)
			return (i32)i - 1;
	return -1;
}

static void call_begins(struct timeline *t, const struct rec_row *r, struct thread *th,
			struct str name, bool named)
{
	struct held *h = &th->held;
	bool same =
		h->on && h->named != named && str_eq(h->e.name, name) && r->ts - h->e.ts < NEAR_NS;
	if (same) {
		if (named)
			drop_raw_args(h);
		h->named = true;
		hold_args(t, h);
		return;
	}
	let_go(t, th);
	i32 depth = open_call(th);
	if (depth >= 0) /* its end was not recorded */
		close_to(t, r, &th->open, th, false, (u32)depth);
	h->on = true;
	h->named = named;
	h->arg.n = 0;
	sb_clear(&h->text);
	h->e = event_of(t, r, th, TL_BEGIN, name);
	hold_args(t, h);
	vec_add(&th->open.v, (struct open_slice){.key = name, .call = true});
}

static void call_ends(struct timeline *t, const struct rec_row *r, struct thread *th,
		      struct str name, enum role role)
{
	let_go(t, th);
	i32 depth = open_call(th);
	if (depth < 0 && str_eq(th->ended, name) && th->ended_by != role &&
	    r->ts - th->ended_at < NEAR_NS) {
		th->ended_by = role; /* the other row about it */
		return;
	}
	if (depth < 0 || !str_eq(th->open.v.v[depth].key, name)) {
		put(t, event_of(t, r, th, TL_INSTANT, name));
		return;
	}
	close_to(t, r, &th->open, th, false, (u32)depth + 1);
	th->open.v.n--;
	th->ended = name;
	th->ended_at = r->ts;
	th->ended_by = role;
	put(t, event_of(t, r, th, TL_END, name));
}

static struct str call_name(struct timeline *t, u64 number)
{
	const char *name = t->arch && number < t->arch->calls.n
				   ? arch_call_name(&t->arch->calls, (u32)number)
				   : NULL;
	if (name)
		return str_z(name);
	return str_z(arena_fmt(&t->x->a, "syscall %lld", (i64)number));
}

/* ---- pairs ---- */

static void pair_begins(struct timeline *t, const struct rec_row *r, struct thread *th,
			const struct plan *p)
{
	struct open_list *o = p->on_cpu ? &t->irq[r->cpu] : &th->open;
	bool function = !str_is(r->schema->type, "tracepoint");
	for (u32 i = o->v.n; i && !function; i--)
		if (str_eq(o->v.v[i - 1].key, p->key)) { /* its end was not recorded */
			close_to(t, r, o, th, p->on_cpu, i - 1);
			break;
		}
	struct tl_event e = event_of(t, r, th, o->v.n < MAX_OPEN ? TL_BEGIN : TL_INSTANT, p->name);
	e.on_cpu = p->on_cpu;
	if (o->v.n < MAX_OPEN)
		vec_add(&o->v, (struct open_slice){.key = p->key});
	put(t, e);
}

static void pair_ends(struct timeline *t, const struct rec_row *r, struct thread *th,
		      const struct plan *p)
{
	struct open_list *o = p->on_cpu ? &t->irq[r->cpu] : &th->open;
	u32 i = o->v.n;
	while (i && (o->v.v[i - 1].call || !str_eq(o->v.v[i - 1].key, p->key)))
		i--;
	struct tl_event e = event_of(t, r, th, i ? TL_END : TL_INSTANT, p->name);
	e.on_cpu = p->on_cpu;
	if (i) {
		close_to(t, r, o, th, p->on_cpu, i);
		o->v.n--;
	}
	put(t, e);
}

/* ---- spans ---- */

static void span(struct timeline *t, const struct rec_row *r, const struct thread *th,
		 const struct plan *p)
{
	const struct tl_thread *on = th ? &th->t : NULL;
	i32 id = p->col[COL_ID];
	bool begins = p->role == ROLE_SPAN;
	struct str name = text(r, p->col[COL_NAME]);
	AUTO_SB key = {0};
	cell_text(&key, t->x->f, &r->schema->column[id], &r->cell[id]);
	const struct tl_span *s = begins ? spans_begin(t->spans, name, sb_str(&key), on)
					 : spans_end(t->spans, name, sb_str(&key));
	enum tl_kind kind = !s ? TL_INSTANT : begins ? TL_SPAN : TL_SPAN_END;
	struct tl_event e = event_of(t, r, th, kind, name);
	e.span = s;
	put(t, e);
}

/* ---- rows ---- */

static void counters(struct timeline *t, const struct rec_row *r)
{
	const struct rec_schema *s = r->schema;
	for (u32 i = 0; i < s->ncolumn; i++) {
		const struct rec_column *c = &s->column[i];
		if (r->cell[i].missing || (c->kind != REC_INT && c->kind != REC_BOOL))
			continue;
		struct tl_event e = event_of(t, r, NULL, TL_COUNTER, cell_name(c));
		e.value = (i64)r->cell[i].u;
		e.narg = 0;
		t->put(t->self, &e);
	}
}

static void frequency(struct timeline *t, const struct rec_row *r, const struct plan *p)
{
	char name[32];
	snprintf(name, sizeof(name), "cpu%llu frequency", number(r, p->col[COL_ID]));
	struct tl_event e = event_of(t, r, NULL, TL_COUNTER, str_z(name));
	e.value = (i64)number(r, p->col[COL_STATE]);
	put(t, e);
}

static void on_thread(struct timeline *t, const struct rec_row *r, struct thread *th,
		      const struct plan *p)
{
	switch (p->role) {
	case ROLE_CALL:
		call_begins(t, r, th, call_name(t, number(r, p->col[COL_ID])), false);
		return;
	case ROLE_NAMED: call_begins(t, r, th, p->name, true); return;
	case ROLE_CALL_END:
		call_ends(t, r, th, call_name(t, number(r, p->col[COL_ID])), p->role);
		return;
	case ROLE_NAMED_END: call_ends(t, r, th, p->name, p->role); return;
	case ROLE_BEGIN: pair_begins(t, r, th, p); return;
	case ROLE_DONE: pair_ends(t, r, th, p); return;
	case ROLE_EXIT:
		let_go(t, th);
		close_to(t, r, &th->open, th, false, 0);
		break;
	case ROLE_EVENT:
	case ROLE_SWITCH:
	case ROLE_WAKE:
	case ROLE_FORK:
	case ROLE_SAMPLE:
	case ROLE_COUNTER:
	case ROLE_FREQUENCY:
	case ROLE_SPAN:
	case ROLE_SPAN_END: break;
	}
	put(t, event_of(t, r, th, TL_INSTANT, p->name));
}

void timeline_row(struct timeline *t, const struct rec_row *r)
{
	const struct plan *p = &t->plan[r->schema->id];
	struct thread *th = NULL;
	cpu_room(t, r->cpu);
	if (r->task)
		th = thread_of(t, r->task->tid, r->task, (struct str){0});
	read_args(t, r, p);
	if (th && p->role != ROLE_CALL && p->role != ROLE_NAMED)
		let_go(t, th);
	if (p->role == ROLE_SWITCH) {
		switched(t, r, p);
		return;
	}
	if (th && t->switches && th->t.tid)
		runs(t, th, r->ts, r->cpu);
	else if (th && t->running[r->cpu] && !th->t.tid)
		state(t, t->running[r->cpu], r->ts, r->cpu, TL_UNKNOWN);
	if (p->role == ROLE_WAKE || p->role == ROLE_FORK)
		woken(t, r, p, p->role == ROLE_WAKE ? TL_RUNNABLE : TL_CREATED);
	if (p->role == ROLE_COUNTER)
		counters(t, r);
	else if (p->role == ROLE_FREQUENCY)
		frequency(t, r, p);
	else if (p->role == ROLE_SAMPLE)
		put(t, event_of(t, r, th, TL_SAMPLE, p->name));
	else if (p->role == ROLE_SPAN || p->role == ROLE_SPAN_END)
		span(t, r, th, p);
	else if (th)
		on_thread(t, r, th, p);
	else
		put(t, event_of(t, r, NULL, TL_INSTANT, p->name));
}

void timeline_end(struct timeline *t)
{
	u32 n;
	const struct rec_loss *l = rec_losses(t->x->f, &n);
	for (u32 i = 0; i < t->thread.n; i++)
		let_go(t, t->thread.v[i]);
	spans_remark(t->spans, t->x);
	for (u32 i = 0; i < n; i++)
		t->put(t->self, &(struct tl_event){.kind = TL_LOSS,
						   .ts = l[i].from ? l[i].from : t->start,
						   .to = l[i].to,
						   .name = l[i].text,
						   .probe = l[i].kind,
						   .value = (i64)l[i].n});
}

void timeline_free(struct timeline *t)
{
	for (u32 i = 0; i < t->thread.n; i++) {
		struct thread *th = t->thread.v[i];
		vec_free(&th->open.v);
		vec_free(&th->held.arg);
		sb_free(&th->held.text);
		free(th);
	}
	for (u32 i = 0; i < t->ncpu; i++)
		vec_free(&t->irq[i].v);
	spans_free(t->spans);
	vec_free(&t->thread);
	vec_free(&t->arg);
	sb_free(&t->text);
	free(t->plan);
	free(t->slot);
	free(t->running);
	free(t->irq);
	free(t);
}
