/* query.c - see query.h. */
#include "run/query.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "core/watch.h"
#include "report/loss.h"
#include "rights/confine.h"
#include "run/engine_vm.h"
#include "run/here.h"
#include "run/load.h"
#include "run/query_file.h"
#include "run/query_names.h"
#include "run/session.h"
#include "run/watch.h"

enum {
	LOOK_ROWS = 4096,          /* rows between two looks at signals */
	FLUSH_ROWS = 1024,         /* rows with output until it is flushed */
	VM_MEMORY = 1 << 30,       /* bytes of maps */
	VM_ROW_BUDGET = 100000000, /* instructions for a row */
};

/* An interval, in recorded time. */
struct beat {
	struct query_prog prog;
	u64 each_ns, next_ns;
};

struct query {
	struct query_spec spec;
	struct arena a;
	struct query_file file[QUERY_MAX_FILES];
	struct recorded probes;
	struct str name;
	u32 ncpu;
	u64 begin_ns;         /* when the recording began, in nsecs */
	u64 start_ns, end_ns; /* of what is asked about */
	u64 real_ns;          /* wall-clock time at nsecs 0 */
	i64 boot_ns, tai_ns;  /* what these clocks are ahead of nsecs */

	struct vm *vm;
	struct event_source source;
	struct names names;
	struct query_names frames;
	struct beat *beat;
	u32 nbeat;
	u64 stop_ns;    /* where the run ends: .end_ns, or what --for says */
	u64 reading_ns; /* the next reading for a watcher */
	u8 *child; /* of spec.follow, a bit for each process id: is it a child? NULL: there is none yet */

	/* ---- the row whose programs run, or NULL in a program that sonde runs itself ---- */
	const struct query_file *at;
	u64 now_ns;
	bool foreign; /* a program read memory */
	u64 foreign_addr;
	u64 unknown; /* words that the recording does not have of a task */
	u64 no_task, no_stack, odd_cpu,
		holes; /* rows whose task, stack, CPU is not known; turns lost in files without an end */
};

/* ---- files ---- */

/* Wall-clock time less nsecs. */
static u64 real_of(const struct rec_file *f)
{
	const struct rec_info *in = rec_info(f);
	u32 n;
	const struct rec_clock *c = rec_clocks(f, &n);
	if (in->real)
		return in->real - in->mono;
	return n ? c[0].real - c[0].mono : 0;
}

static void read_clocks(struct query *q)
{
	u32 n;
	const struct rec_clock *c = rec_clocks(q->file[0].file, &n);
	if (!n)
		return;
	q->boot_ns = (i64)(c[0].boot - c[0].mono);
	q->tai_ns = (i64)(c[0].tai - c[0].mono);
}

/* When the recording began: its first row may be later. */
static u64 began(const struct rec_info *in)
{
	return in->mono && (!in->nrow || in->mono < in->first) ? in->mono : in->first;
}

/* The part that is asked about, from the start of the earliest file on. */
static void set_span(struct query *q)
{
	u64 from = ~0ull, to = 0;
	for (u32 i = 0; i < q->spec.npath; i++) {
		const struct rec_info *in = rec_info(q->file[i].file);
		from = MIN(from, began(in) + (u64)q->file[i].ahead);
		to = MAX(to, MAX(in->last, began(in)) + (u64)q->file[i].ahead);
	}
	q->begin_ns = from;
	q->start_ns = from + q->spec.from_ns;
	q->end_ns = q->spec.to_ns ? MIN(to, from + q->spec.to_ns) : to;
}

static struct err *open_files(struct query *q)
{
	u32 all = 0, n;
	struct err *e = NULL;
	for (u32 i = 0; i < q->spec.npath && !e; i++)
		e = rec_open(q->spec.path[i], &q->file[i].file);
	for (u32 i = 0; i < q->spec.npath && !e; i++)
		if (rec_is_answer(q->file[i].file))
			e = err_new("%s is an answer, which has no events: sonde merge prints it",
				    q->spec.path[i]);
	if (e)
		return e;
	for (u32 i = 0; i < q->spec.npath; i++) {
		rec_schemas(q->file[i].file, &n);
		all += n;
		q->ncpu = MAX(q->ncpu, (u32)rec_info(q->file[i].file)->ncpu);
	}
	q->ncpu = MAX(q->ncpu, 1u);
	q->probes.probe = arena_newn(&q->a, struct recorded_probe, all + 1);
	q->real_ns = real_of(q->file[0].file);
	for (u32 i = 0; i < q->spec.npath && !e; i++) {
		q->file[i].ahead = (i64)(real_of(q->file[i].file) - q->real_ns);
		e = query_file_read(&q->a, &q->file[i], &q->probes);
	}
	return e;
}

/* The ids of all files, in hex. */
static struct str ids_of(struct query *q)
{
	AUTO_SB b = {0};
	for (u32 i = 0; i < q->spec.npath; i++) {
		const struct rec_info *in = rec_info(q->file[i].file);
		for (u32 k = 0; k < sizeof(in->id); k++)
			sb_fmt(&b, "%02x", in->id[k]);
	}
	return arena_str(&q->a, sb_str(&b));
}

/* What is said of the machine is that of the first file. */
static void name_machine(struct query *q)
{
	const struct rec_file *f = q->file[0].file;
	q->probes.hostname = rec_meta_of(f, STR("hostname"));
	q->probes.release = rec_meta_of(f, STR("release"));
	q->probes.machine = rec_meta_of(f, STR("machine"));
	q->probes.id = ids_of(q);
}

struct err *query_open(const struct query_spec *s, struct query **ret)
{
	struct query *q = xcalloc(1, sizeof(*q));
	assert(s->npath && s->npath <= QUERY_MAX_FILES);
	q->spec = *s;
	struct err *e = open_files(q);
	if (e) {
		query_close(q);
		return e;
	}
	read_clocks(q);
	set_span(q);
	q->name = s->npath == 1 ? str_z(s->path[0])
				: str_z(arena_fmt(&q->a, "%u recordings", s->npath));
	q->probes.name = q->name;
	q->probes.real_ns = q->real_ns;
	name_machine(q);
	*ret = q;
	return NULL;
}

void query_close(struct query *q)
{
	if (!q)
		return;
	for (u32 i = 0; i < q->spec.npath; i++)
		rec_close(q->file[i].file);
	vm_free(q->vm);
	query_names_free(&q->frames);
	free(q->child);
	arena_free(&q->a);
	free(q);
}

u64 query_now(const struct query *q)
{
	return q->now_ns;
}

u64 query_real_ns(const struct query *q)
{
	return q->real_ns;
}

struct str query_name(const struct query *q)
{
	return q->name;
}

void query_host(const struct query *q, struct host *h, struct arena *a)
{
	struct str machine = rec_meta_of(q->file[0].file, STR("machine"));
	const struct arch *arch = machine.n ? arch_by_name(machine) : NULL;
	host_init_recording(h, a, arch ? arch : arch_native(), q->ncpu, &q->probes);
}

u64 query_self_pid(const struct query *q)
{
	u64 pid;
	struct str text = rec_meta_of(q->file[0].file, STR("pid"));
	return q->spec.npath == 1 && str_u64(text, &pid) ? pid : 0;
}

struct scope query_scope(struct query *q)
{
	struct scope_pid *v = arena_newn(&q->a, struct scope_pid, q->spec.npid + 1);
	for (u32 i = 0; i < q->spec.npid; i++)
		v[i] = (struct scope_pid){.pid = (int)q->spec.pid[i], .id = q->spec.pid[i]};
	return (struct scope){.pid = v, .npid = q->spec.npid, .kernel = true};
}

/* ---- what programs ask ---- */

static const u32 answers[] = {
	BPF_FUNC_ktime_get_ns,          BPF_FUNC_ktime_get_boot_ns,   BPF_FUNC_ktime_get_tai_ns,
	BPF_FUNC_get_current_pid_tgid,  BPF_FUNC_get_current_uid_gid, BPF_FUNC_get_current_comm,
	BPF_FUNC_get_current_cgroup_id,
};

/* The thread of the row. What is not known of it is 0, and counted. */
static const struct rec_task *task_of(const struct query *q)
{
	static const struct rec_task none = {.comm = STR("?")};
	return q->at->row.task ? q->at->row.task : &none;
}

static void note_unknown(struct query *q, const struct rec_task *t, u32 what)
{
	q->unknown += q->at->row.task && !(t->known & what);
}

static void put_comm(struct vm *v, u64 to, u64 size, struct str comm)
{
	u8 *p = vm_mem(v, to, size, true);
	if (!p || !size)
		return;
	u32 n = MIN(comm.n, (u32)size - 1);
	memcpy(p, comm.s, n);
	memset(p + n, 0, size - n);
}

/* begin, end and intervals are run by this process. */
static u64 answer_own(const struct query *q, struct vm *v, u32 helper, const u64 a[5])
{
	(void)q;
	switch (helper) {
	case BPF_FUNC_get_current_pid_tgid: return (u64)getpid() << 32 | (u32)getpid();
	case BPF_FUNC_get_current_uid_gid: return (u64)getgid() << 32 | getuid();
	case BPF_FUNC_get_current_comm: put_comm(v, a[0], a[1], STR("sonde")); return 0;
	default: return 0;
	}
}

static u64 answer(void *arg, struct vm *v, u32 helper, const u64 a[5])
{
	struct query *q = arg;
	switch (helper) {
	case BPF_FUNC_ktime_get_ns: return q->now_ns;
	case BPF_FUNC_ktime_get_boot_ns: return q->now_ns + (u64)q->boot_ns;
	case BPF_FUNC_ktime_get_tai_ns: return q->now_ns + (u64)q->tai_ns;
	}
	if (!q->at)
		return answer_own(q, v, helper, a);
	const struct rec_task *t = task_of(q);
	switch (helper) {
	case BPF_FUNC_get_current_pid_tgid: return (u64)t->pid << 32 | t->tid;
	case BPF_FUNC_get_current_uid_gid:
		note_unknown(q, t, KNOWN_IDS);
		return (u64)t->gid << 32 | t->uid;
	case BPF_FUNC_get_current_comm:
		note_unknown(q, t, KNOWN_COMM);
		put_comm(v, a[0], a[1], t->comm.n || t->known & KNOWN_COMM ? t->comm : STR("?"));
		return 0;
	case BPF_FUNC_get_current_cgroup_id: note_unknown(q, t, KNOWN_CGROUP); return t->cgroup;
	default: return 0;
	}
}

/* Memory is not in a recording. At NULL there is none anywhere: programs read there to get zeros. */
static size_t read_nothing(void *arg, enum vm_space space, u64 addr, void *dst, size_t n)
{
	struct query *q = arg;
	(void)space, (void)dst, (void)n;
	if (addr && !q->foreign)
		q->foreign_addr = addr;
	q->foreign |= addr != 0;
	return 0;
}

static const struct rec_stack *stack_of_row(const struct query *q, bool user)
{
	const struct rec_row *r = &q->at->row;
	const struct query_schema *s = &q->at->schema[r->schema->id];
	for (u32 i = 0; i < s->probe->ncol; i++)
		if (s->probe->col[i].type->kind == (user ? T_USTACK : T_KSTACK))
			return rec_stack_of(q->at->file,
					    (u32)r->cell[s->from[i] - s->schema->column].u);
	return NULL;
}

/* What a program gets for a frame. False: it gets nothing. */
static bool take_frame(struct query *q, u32 pid, const struct rec_frame *f, bool only_lang, u64 *ip)
{
	const struct rec_mapping *m = rec_mapping_of(q->at->file, f->mapping);
	if (query_names_is_code(f, m)) {
		*ip = query_names_note_code(&q->frames, f, m);
		return *ip;
	}
	if (only_lang)
		return false;
	query_names_note(&q->frames, pid, f, m);
	*ip = f->addr;
	return true;
}

static i32 walk(void *arg, u64 flags, u64 *ip, u32 n)
{
	struct query *q = arg;
	bool user = flags & BPF_F_USER_STACK;
	const struct rec_stack *s = q->at ? stack_of_row(q, user) : NULL;
	u32 pid = user && q->at ? task_of(q)->pid : 0, got = 0,
	    skip = flags & BPF_F_SKIP_FIELD_MASK;
	q->no_stack += q->at && !s;
	for (u32 i = 0; s && i < s->n && got < n; i++) {
		const struct rec_frame *f = rec_frame_of(q->at->file, s->frame[i]);
		if (!f || (f->flags & FRAME_INLINED))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		got += take_frame(q, pid, f, flags & RECORDED_STACK_LANG, &ip[got]);
	}
	return (i32)got;
}

bool query_check(const struct query *q, const struct unit *u, struct diags *ds)
{
	u32 before = ds->nerror;
	if (u->scope.asked && q->spec.npid > SCOPE_COMPARES)
		diag_add(ds, E_RECORDING, (struct loc){0},
			 "too many processes: this script compares with %d at most",
			 SCOPE_COMPARES);
	for (u32 i = 0; i < u->nprog; i++) {
		const struct code *c = &u->prog[i]->code;
		for (u32 k = 0; k < c->ninsn; k++) {
			const struct bpf_insn *in = &c->insn[k];
			bool known = vm_helper_is((u32)in->imm);
			for (u32 j = 0; j < countof(answers); j++)
				known |= answers[j] == (u32)in->imm;
			char name[32];
			if (in->code == (BPF_JMP | BPF_CALL) &&
			    (in->src_reg == BPF_PSEUDO_KFUNC_CALL))
				diag_add(ds, E_RECORDING, load_place(u->prog[i], (i32)k),
					 "this calls a function of the kernel, which a recording "
					 "has not");
			else if (in->code == (BPF_JMP | BPF_CALL) && !in->src_reg && !known)
				diag_add(ds, E_RECORDING, load_place(u->prog[i], (i32)k),
					 "a recording cannot answer this (%s)",
					 ir_helper_name((u32)in->imm, name));
		}
	}
	return ds->nerror == before;
}

/* ---- names ---- */

static struct query *query_of(void *session)
{
	return ((struct session *)session)->live.query;
}

static bool kernel(void *session, u64 addr, struct symbol *ret)
{
	return query_names_find(&query_of(session)->frames, 0, addr, ret);
}

static bool user(void *session, u32 pid, u64 addr, struct symbol *ret)
{
	return query_names_find(&query_of(session)->frames, pid, addr, ret);
}

static bool code(void *session, u64 word, struct interp_frame *ret)
{
	return query_names_code(&query_of(session)->frames, word, ret);
}

static void expect(void *session, u32 pid, u64 addr)
{
	(void)session, (void)pid, (void)addr;
}

static void expected(void *session)
{
	(void)session;
}

static bool gains(void *session)
{
	(void)session;
	return false;
}

static u32 source(void *session, u32 pid, u64 addr, bool call, struct source_frame *v, u32 max)
{
	(void)session, (void)pid, (void)addr, (void)call, (void)v, (void)max;
	return 0;
}

static const u64 *tail(void *session, u64 mark, u32 *n)
{
	(void)session, (void)mark;
	*n = 0;
	return NULL;
}

static bool finish_key(void *session, const struct type *t, u8 *key)
{
	(void)session, (void)t, (void)key;
	return false;
}

static const char *no_name(void *session, u32 number)
{
	(void)session, (void)number;
	return NULL;
}

static const char *no_path(void *session, u64 id)
{
	(void)session, (void)id;
	return NULL;
}

static void no_paths(void *session, u64 id, struct str glob, struct sb *out)
{
	(void)session, (void)id, (void)glob, (void)out;
}

static bool no_interface(void *session, u32 index, struct sb *out)
{
	(void)session, (void)index, (void)out;
	return false;
}

static void no_load(void *session, struct sb *out)
{
	(void)session, (void)out;
}

static bool no_meminfo(void *session, struct str line, u64 *bytes)
{
	(void)session, (void)line, (void)bytes;
	return false;
}

static const struct names names_recorded = {
	.kernel = kernel,
	.user = user,
	.expect = expect,
	.expected = expected,
	.gains = gains,
	.source = source,
	.tail = tail,
	.code = code,
	.finish_key = finish_key,
	.username = no_name,
	.cgroup = no_path,
	.cgroups = no_paths,
	.container = no_path,
	.disk = no_name,
	.interface = no_interface,
	.load = no_load,
	.meminfo = no_meminfo,
};

/* ---- the session ---- */

void query_enter(struct query *q, struct session *s)
{
	u64 seed = 0;
	vm_free(q->vm);
	memcpy(&seed, rec_info(q->file[0].file)->id, sizeof(seed));
	q->vm = vm_new(&(struct vm_spec){.ncpu = q->ncpu,
					 .budget = VM_ROW_BUDGET,
					 .memory = VM_MEMORY,
					 .seed = seed,
					 .env = {.arg = q,
						 .helper = answers,
						 .nhelper = countof(answers),
						 .call = answer,
						 .read = read_nothing,
						 .stack = walk,
						 .stack_flags = RECORDED_STACK_LANG}});
	q->now_ns = q->start_ns;
	s->live.query = q;
	s->live.engine = &engine_vm;
	s->live.self = q->vm;
}

static u64 recorded_now(const void *from)
{
	const struct session *s = from;
	return query_now(s->live.query);
}

void query_prepare(struct session *s)
{
	struct query *q = s->live.query;
	struct clocks *c = &s->reporter.reader.clocks;
	q->source = source_here;
	q->source.names = &names_recorded;
	q->source.now = recorded_now;
	s->reporter.source = &q->source;
	s->reporter.start_ns = q->begin_ns;
	c->boot_offset_ns = q->real_ns;
	c->ahead_ns[STAMP_MONO] = 0;
	c->ahead_ns[STAMP_BOOT] = q->boot_ns;
	c->ahead_ns[STAMP_TAI] = q->tai_ns;
	s->reporter.reader.names = &names_recorded;
}

struct err *query_confine(struct session *s)
{
	u64 left;
	struct err *e = NULL;
	u32 may = s->loop.watcher ? MAY_RECORD : 0; /* it may cut the text that it shows */
	if (!host_has_seccomp() || s->u->config.test || s->u->config.bench)
		return NULL;
	if (!s->limits.renames)
		e = confine_caps(0, &left);
	if (!e)
		e = confine_calls(may | (s->limits.renames ? MAY_RENAME | MAY_WRITE : 0) |
				  (s->reporter.output.sink->answers ? MAY_RECORD : 0));
	return e ? err_wrap(e, "give up rights that are not needed: ") : NULL;
}

/* ---- programs by row ---- */

static void add_prog(struct arena *a, struct query_prog **v, u32 *n, const struct session *s,
		     const struct prog *p, const struct point *at)
{
	arena_push(a, *v, *n, ((struct query_prog){prog_fd(s, p), p, at->id}));
}

/* Points with equal rows share a program, for which only the first was asked what the row must have. */
static void use_same(struct recorded_probe *to, const struct recorded_probe *from)
{
	to->asks_ppid |= from->asks_ppid;
	for (u32 i = 0; i < to->ncol; i++)
		for (u32 k = 0; k < from->ncol && !to->col[i].used; k++)
			to->col[i].used = from->col[k].used && from->col[k].off == to->col[i].off &&
					  str_eq(from->col[k].expr, to->col[i].expr);
}

static void note_point(struct session *s, const struct prog *p, const struct point *at)
{
	struct query *q = s->live.query;
	if (at != p->points)
		use_same(at->priv, p->points->priv);
	for (u32 i = 0; i < q->spec.npath; i++)
		for (u32 k = 0; k < q->file[i].nschema; k++) {
			struct query_schema *c = &q->file[i].schema[k];
			if (!c->probe || c->probe != at->priv)
				continue;
			add_prog(&q->a, &c->prog, &c->nprog, s, p, at);
			q->file[i].want[k] = true;
		}
}

static void note_beat(struct session *s, const struct prog *p, const struct point *at)
{
	struct query *q = s->live.query;
	u64 each = str_is(at->extra, "hz") ? SECOND_NS / MAX(at->period, 1u) : at->period;
	each = MAX(each, 1u);
	struct query_prog prog = {prog_fd(s, p), p, at->id};
	arena_push(&q->a, q->beat, q->nbeat, ((struct beat){prog, each, q->start_ns + each}));
}

static void note_progs(struct session *s)
{
	for (u32 i = 0; i < s->u->nprog; i++) {
		const struct prog *p = s->u->prog[i];
		for (const struct point *at = p->points; at && p->phase == PROG_ATTACH;
		     at = at->next)
			if (at->type->flags & PROBE_RECORDED)
				note_point(s, p, at);
			else
				note_beat(s, p, at);
	}
}

static void failed(struct session *s, const struct prog *p, struct str text)
{
	report_error(&s->reporter, false, "", p->loc, text);
	s->u->config.print_maps_on_exit = false; /* what they hold is no answer */
	s->control.exit_code = 1;
	control_stop(&s->control);
}

static void run_prog(struct session *s, const struct query_prog *g, u8 *row, u32 size)
{
	struct query *q = s->live.query;
	u64 ret, point = g->point;
	if (row)
		memcpy(row + ROW_POINT * 8, &point, sizeof(point));
	struct err *e = vm_prog_run(q->vm, (u32)g->prog, row, size, &ret);
	if (e || q->foreign) {
		AUTO_SB text = {0};
		if (q->foreign)
			sb_fmt(&text,
			       "the script reads memory at 0x%llx, which is not in the recording",
			       q->foreign_addr);
		else
			sb_z(&text, e->msg);
		failed(s, g->of, sb_str(&text));
		err_free(e);
	}
	q->foreign = false;
	if (s->live.ring)
		s->reporter.source->consume(s, 0);
}

enum { MOST_BEATS = 100000 };

/*
 * Where two events are as far apart as no machine rests, as in a damaged file, an interval would run for ever: of those
 * between them only the last MOST_BEATS run.
 */
static void leave_out_beats(struct session *s, struct beat *b, u64 ns)
{
	u64 due = ns >= b->next_ns ? (ns - b->next_ns) / b->each_ns : 0;
	if (due <= MOST_BEATS)
		return;
	AUTO_SB text = {0};
	sb_fmt(&text,
	       "the recording has no events for %llu s: %llu runs of an interval in that time are "
	       "left out",
	       (ns - b->next_ns) / 1000000000, due - MOST_BEATS);
	report_error(&s->reporter, true, "left_out", (struct loc){0}, sb_str(&text));
	b->next_ns += (due - MOST_BEATS) * b->each_ns;
}

/* At signals, and whether the watcher wants to go on. */
static void look(struct session *s)
{
	loop_interrupted(s);
	if (s->loop.watcher && !s->control.stop)
		watch_look(s);
}

/* Intervals whose time has come. */
static void beat_until(struct session *s, u64 ns)
{
	struct query *q = s->live.query;
	for (u32 i = 0; i < q->nbeat; i++)
		leave_out_beats(s, &q->beat[i], ns);
	for (u32 n = 0; !s->control.stop; n++) {
		struct beat *b = NULL;
		for (u32 i = 0; i < q->nbeat; i++)
			if (q->beat[i].next_ns <= ns && (!b || q->beat[i].next_ns < b->next_ns))
				b = &q->beat[i];
		if (!b)
			return;
		q->at = NULL;
		q->now_ns = b->next_ns;
		b->next_ns += b->each_ns;
		run_prog(s, &b->prog, NULL, 0);
		if (n % LOOK_ROWS == LOOK_ROWS - 1)
			look(s);
	}
}

enum { MOST_READINGS = 1000 };

/* Intervals and readings whose time has come: a reading is of all that happened until then. The last interval is at
 * least half as long as the others, because rates of shorter ones say little. Of a time without events only the last
 * MOST_READINGS are made. */
static void time_passes(struct session *s, u64 ns)
{
	struct query *q = s->live.query;
	const struct watcher *w = s->loop.watcher;
	u64 until = MIN(ns, q->stop_ns);
	u64 due = w && until > q->reading_ns ? (until - q->reading_ns) / w->every_ns : 0;
	if (due > MOST_READINGS)
		q->reading_ns += (due - MOST_READINGS) * w->every_ns;
	while (w && q->reading_ns < until && q->stop_ns - q->reading_ns >= w->every_ns / 2) {
		beat_until(s, q->reading_ns);
		if (s->control.stop)
			return;
		q->at = NULL;
		q->now_ns = q->reading_ns;
		watch_read(s);
		watch_look(s);
		bool last = q->stop_ns - q->reading_ns <= w->every_ns;
		q->reading_ns = last ? UINT64_MAX : q->reading_ns + w->every_ns;
	}
	beat_until(s, ns);
}

/* ---- rows ---- */

static bool next_row(struct session *s, struct query_file *f)
{
	struct err *e = NULL;
	f->has_row = rec_next(f->file, &f->row, &e);
	if (e) {
		report_err(&s->reporter, false, (struct loc){0}, e);
		s->control.exit_code = 1;
		control_stop(&s->control);
	}
	return f->has_row;
}

static u64 time_of(const struct query_file *f)
{
	return f->row.ts + (u64)f->ahead;
}

/* The file whose row is the earliest. */
static struct query_file *earliest(struct query *q)
{
	struct query_file *best = NULL;
	for (u32 i = 0; i < q->spec.npath; i++) {
		struct query_file *f = &q->file[i];
		if (f->has_row && (!best || time_of(f) < time_of(best)))
			best = f;
	}
	return best;
}

enum { PID_BITS = 1 << 22 }; /* the kernel's limit of process ids */

static bool is_among(const struct query *q, u32 pid)
{
	bool any = q->child && pid < PID_BITS && q->child[pid / 8] >> pid % 8 & 1;
	for (u32 i = 0; i < q->spec.npid && !any; i++)
		any = pid == q->spec.pid[i];
	return any;
}

static void note_child(struct query *q, u32 pid)
{
	if (!q->child)
		q->child = xcalloc(PID_BITS / 8, 1);
	if (pid < PID_BITS)
		q->child[pid / 8] |= (u8)(1 << pid % 8);
}

/* A script that asks by watched() looks at events of all processes: they may be about two. */
static bool is_asked(const struct session *s, const struct query_file *f)
{
	struct query *q = s->live.query;
	const struct rec_task *t = f->row.task;
	if (!q->spec.npid || s->u->scope.asked)
		return true;
	if (!t || is_among(q, t->pid))
		return t != NULL;
	bool child = q->spec.follow && t->known & KNOWN_PPID && is_among(q, t->ppid);
	if (child)
		note_child(q, t->pid);
	return child;
}

static bool is_asked_cpu(const struct query *q, u32 cpu)
{
	assert(cpu < QUERY_CPU_WORDS * 64);
	return !q->spec.by_cpu || q->spec.cpu[cpu / 64] >> cpu % 64 & 1;
}

static void run_row(struct session *s, struct query_file *f)
{
	struct query *q = s->live.query;
	struct query_schema *c = &f->schema[f->row.schema->id];
	const struct rec_task *t = f->row.task;
	q->holes += rec_info(f->file)->closed ? 0 : f->row.missing;
	if (!is_asked_cpu(q, f->row.cpu) || !is_asked(s, f))
		return;
	if (f->row.cpu >= q->ncpu) {
		q->odd_cpu++;
		return;
	}
	if (q->nbeat || s->loop.watcher)
		time_passes(s, time_of(f));
	q->at = f;
	q->now_ns = time_of(f);
	q->no_task += !t;
	u64 ppid = t ? t->ppid : 0;
	q->unknown += c->probe->asks_ppid && t && !(t->known & KNOWN_PPID);
	memcpy(c->row + ROW_PPID * 8, &ppid, sizeof(ppid));
	query_row_fill(f, c);
	vm_set_cpu(q->vm, f->row.cpu);
	for (u32 i = 0; i < c->nprog && !s->control.stop; i++)
		run_prog(s, &c->prog[i], c->row, c->probe->size);
}

static void tell_unfinished(struct session *s, const struct rec_file *f)
{
	AUTO_SB b = {0};
	const struct rec_info *in = rec_info(f);
	if (in->closed)
		return;
	sb_fmt(&b,
	       "%s has no end: the recorder was killed, and about the last second of events may be "
	       "missing",
	       in->path);
	report_error(&s->reporter, true, "unfinished", (struct loc){0}, sb_str(&b));
}

void query_run(struct session *s)
{
	struct query *q = s->live.query;
	u64 end = q->end_ns;
	if (s->limits.for_ns)
		end = MIN(end, q->start_ns + s->limits.for_ns);
	q->stop_ns = end;
	q->reading_ns = q->start_ns + (s->loop.watcher ? s->loop.watcher->every_ns : 0);
	note_progs(s);
	for (u32 i = 0; i < q->spec.npath; i++) {
		struct query_file *f = &q->file[i];
		tell_unfinished(s, f->file);
		rec_want(f->file, f->want, f->nschema);
		rec_between(f->file, q->start_ns - (u64)f->ahead, end - (u64)f->ahead);
		next_row(s, f);
	}
	struct query_file *f;
	for (u64 n = 1; !s->control.stop && (f = earliest(q)); n++) {
		run_row(s, f);
		next_row(s, f);
		if (n % FLUSH_ROWS == 0 && s->live.ring)
			report_flush(&s->reporter);
		if (n % LOOK_ROWS == 0)
			look(s);
	}
	if (!s->control.stop)
		time_passes(s, end);
	q->at = NULL;
	q->now_ns = MAX(q->now_ns, s->control.stop ? 0 : end);
	control_stop(&s->control);
	report_flush(&s->reporter);
}

/* ---- what was lost ---- */

static enum loss loss_named(struct str name)
{
	for (u32 i = 0; i < LOSS_COUNT; i++)
		if (str_is(name, loss_kinds[i].name))
			return (enum loss)i;
	return LOSS_TOTAL;
}

/* It may concern what the script asked about: it is of no probe, or of one that is used. */
static bool concerns(const struct query_file *f, struct str who)
{
	bool named = false, used = false;
	for (u32 i = 0; i < f->nschema; i++) {
		bool same = f->schema[i].probe && str_eq(f->schema[i].probe->text, who);
		named |= same;
		used |= same && f->want[i];
	}
	return !named || used;
}

static void report_loss(struct session *s, const struct query_file *f, const struct rec_loss *l)
{
	AUTO_SB b = {0};
	const struct query *q = s->live.query;
	u64 from = l->from + (u64)f->ahead, to = l->to + (u64)f->ahead;
	if (!concerns(f, l->who) || (l->to && (to < q->start_ns || from > q->end_ns)))
		return;
	sb_visible(&b, l->text);
	if (l->from && l->to && from >= q->begin_ns)
		sb_fmt(&b, " (from %.3f s to %.3f s)", (double)(from - q->begin_ns) / 1e9,
		       (double)(to - q->begin_ns) / 1e9);
	if (str_is(l->kind, "corrupt_file"))
		s->control.exit_code = s->control.exit_code ? s->control.exit_code : 1;
	loss_put(&s->reporter, loss_named(l->kind), l->who, l->n, sb_str(&b));
}

static void report_count(struct session *s, enum loss kind, u64 n, const char *what)
{
	AUTO_SB b = {0};
	if (!n)
		return;
	sb_fmt(&b, "%llu %s", n, what);
	loss_put(&s->reporter, kind, STR(""), n, sb_str(&b));
}

void query_report(struct session *s)
{
	struct query *q = s->live.query;
	for (u32 i = 0; i < q->spec.npath; i++) {
		u32 n;
		const struct rec_loss *l = rec_losses(q->file[i].file, &n);
		for (u32 k = 0; k < n; k++)
			report_loss(s, &q->file[i], &l[k]);
	}
	report_count(s, LOSS_TOTAL, q->holes, "events were lost while recording");
	report_count(s, LOSS_CORRUPT_FILE, q->odd_cpu,
		     "events are of a CPU that the recorded machine did not have; left out");
	report_count(s, LOSS_UNKNOWN_TASK, q->no_task,
		     "events have no task in the recording: its ids are 0 and comm is \"?\"");
	report_count(s, LOSS_UNKNOWN_TASK, q->unknown,
		     "times a word (comm, uid, gid, cgroup, ppid) is not in the recording for the "
		     "task: it is 0 or \"?\"");
	report_count(s, LOSS_CUT_STACKS, q->no_stack, "stacks are not in the recording");
	report_count(s, LOSS_UNKNOWN_TASK, q->frames.ambiguous,
		     "frames have the name that another program of the process has at the address");
}
