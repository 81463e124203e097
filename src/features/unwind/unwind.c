/*
 * unwind.c - user stacks: keeps the tables of core/unwind.h as walks need them, and finishes the
 * stacks that came to something that was not there.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "proc/proc.h"
#include "report/loss.h"
#include "sym/mappings.h"
#include "unwind/cut.h"
#include "unwind/follow.h"
#include "unwind/task.h"
#include "unwind/v8.h"
#include <errno.h>
#include <sys/epoll.h>

enum {
	MAX_TAIL = 1024, /* frames of a stack */
	COPIES_AT_ONCE = 256,
	READ_AGAIN_NS = 100000000,
	PREFETCH_NS = 1000000000,     /* of work for them */
	PREFETCH_SLICE_NS = 10000000, /* while tracing, between records */
	TEXT = 512,
};

/* NULL: dw_ustack is not used, or begin programs still run. */
static struct unwinder *unwinder_of(const struct session *s)
{
	struct unwinder *w = s->service[SERVICE_UNWIND];
	return w && w->ready ? w : NULL;
}

static bool wants_child(const struct session *s, const void *self)
{
	(void)s;
	return ((const struct unwinder *)self)->ready;
}

/* ---- copies ---- */

struct asking {
	struct unwinder *w;
	const struct unwind_copy *copy;
	struct follow *f;
	struct ufile *file;    /* of the last rule */
	bool looked;           /* /proc was read just now */
	struct task_lang lang; /* in whose main loop the first such frame is */
	const struct task *t;  /* to read its memory; NULL: not yet */
	struct task own;
	bool told; /* that a layout is not known was counted */
};

static const struct area *area_at(struct asking *x, u64 addr, const struct proc **p)
{
	struct unwinder *w = x->w;
	u64 now = now_ns();
	*p = procs_get(w->procs, x->copy->pid);
	const struct area *a = *p ? proc_area(*p, x->copy->ns, addr) : NULL;
	if (a || now - x->f->asked_ns < READ_AGAIN_NS)
		return a;
	x->f->asked_ns = now;
	x->looked = true;
	follow_outdate(w, x->f);
	*p = procs_read(w->procs, x->copy->pid);
	return *p ? proc_area(*p, x->copy->ns, addr) : NULL;
}

/* So that no program asks again. */
static void note_none(struct unwinder *w, struct follow *f, u64 addr)
{
	if (f->nnone == FOLLOW_NONE)
		return;
	for (u32 i = 0; i < f->nnone; i++)
		if (f->none[i] == (addr & ~(u64)(FOLLOW_PAGE - 1)))
			return;
	f->none[f->nnone++] = addr & ~(u64)(FOLLOW_PAGE - 1);
	follow_outdate(w, f);
}

/* The interpreter of a process, whose code it makes at run time (number, and 1; 0: none); Java's is in heaps if its
 * layout is known. */
static u32 lang_of_made(struct unwinder *w, const struct proc *p)
{
	for (u32 i = 0; p && i < p->now->n; i++) {
		const struct area *a = &p->now->v[i];
		const struct ufile *f = a->module ? follow_file(w, a) : NULL;
		if (f && (langs_native(&w->langs, f->lang) || langs_java(&w->langs, f->lang)))
			return f->lang;
	}
	return 0;
}

static const struct task *task_of(struct asking *x)
{
	if (!x->t) {
		x->own = (struct task){.h = x->w->s->h,
				       .mem = proc_memory(x->w->s->h, (int)x->copy->pid)};
		x->t = &x->own;
	}
	return x->t;
}

/* A frame in such code: the word that stands for it, or 0. */
static u64 native_word(struct asking *x, u32 number, u64 pc, u64 fp, bool made)
{
	struct langs *l = &x->w->langs;
	if (x->copy->mode == STACK_NATIVE || !fp)
		return 0;
	if (!l->mem[number - 1].known) {
		l->unknown[number - 1] += !x->told;
		x->told = true;
		return 0;
	}
	struct v8_frame at = {task_of(x), x->copy, l, number - 1, pc, fp, made, x->f->table};
	return v8_word(&at);
}

/* The heap of Java's code that an address is in; NULL: none. */
static const struct unwind_piece *heap_at(struct asking *x, const struct proc *p, u64 addr)
{
	struct unwinder *w = x->w;
	struct follow *f = x->f;
	for (u32 i = 0; !f->nheap && p && i < p->now->n; i++) {
		const struct area *a = &p->now->v[i];
		struct follow_place at = {.w = w, .proc = p, .area = a};
		struct ufile *file =
			a->module && langs_may_be(a->module->path) ? follow_file(w, a) : NULL;
		u32 pc;
		if (file && blocks_pc(&w->blocks, file, a->off, follow_ask_file, &at, &pc) &&
		    langs_java(&w->langs, follow_lang(w, file, &at)))
			follow_heaps(w, f, file->lang, a->start - pc);
	}
	for (u32 i = 0; i < f->nheap; i++)
		if (addr - f->heap[i].start < f->heap[i].end - f->heap[i].start)
			return &f->heap[i];
	return NULL;
}

static bool rule_of_made(struct asking *x, const struct proc *p, const struct area *a, u64 addr,
			 u64 fp, struct copy_code *ret)
{
	const struct unwind_piece *heap = a->off & MAPS_MADE ? heap_at(x, p, addr) : NULL;
	if (heap) {
		struct java_frame at = {task_of(x), x->copy, &x->w->langs, heap,
					addr,       fp,      ret->sp,      ret->leaf};
		java_frame(&at, x->copy->mode != STACK_NATIVE && fp, ret);
		return true;
	}
	u32 lang = a->off & MAPS_MADE ? lang_of_made(x->w, p) : 0;
	if (lang && !(langs_java(&x->w->langs, lang) && x->w->langs.mem[lang - 1].known))
		ret->word = native_word(x, lang, addr, fp, true);
	return a->off & MAPS_MADE;
}

static bool rule_at(void *arg, u64 addr, struct copy_code *ret)
{
	struct asking *x = arg;
	const struct proc *p;
	const struct area *a = area_at(x, addr, &p);
	u64 fp = ret->fp;
	u32 pc;
	x->file = NULL;
	if (!a && x->looked)
		note_none(x->w, x->f, addr);
	if (!a)
		return false;
	*ret = (struct copy_code){.sp = ret->sp, .leaf = ret->leaf};
	ret->rule = a->module ? unwind_rule(UNWIND_NONE, 0, 0) : follow_made_rule(x->w, p, a);
	if (!a->module)
		return rule_of_made(x, p, a, addr, fp, ret);
	struct follow_place at = {.w = x->w, .proc = p, .area = a};
	x->file = follow_file(x->w, a);
	if (!x->file ||
	    !blocks_pc(&x->w->blocks, x->file, addr - a->start + a->off, follow_ask_file, &at, &pc))
		return true;
	ret->rule = blocks_rule(&x->w->blocks, x->file, pc, follow_ask_file, &at);
	u32 lang = follow_lang(x->w, x->file, &at);
	bool in_loop = langs_in_loop(&x->w->langs, lang, pc);
	if (langs_native(&x->w->langs, lang)) {
		ret->word = in_loop ? native_word(x, lang, addr, fp, false) : 0;
		return true;
	}
	ret->program = langs_in_program(&x->w->langs, lang, pc);
	ret->lang = in_loop || ret->program ? lang : 0;
	ret->nests = langs_nest(&x->w->langs, ret->lang);
	if (in_loop && !x->lang.number)
		x->lang = (struct task_lang){ret->lang, addr - pc};
	return true;
}

static void count_end(struct unwinder *w, const struct asking *x, enum copy_end end)
{
	w->ended[end]++;
	if (end != COPY_FILE || !x->file)
		return;
	while (w->cut_in.n <= x->file->id)
		vec_add(&w->cut_in, 0);
	w->cut_in.v[x->file->id]++;
}

/* What the process runs is an interpreter, but no program knew. Notes name other inodes than the kernel does
 * on file systems that lie over others. */
static void learn_program(struct unwinder *w, struct asking *x)
{
	const struct proc *p;
	const struct area *a = area_at(x, x->copy->code, &p);
	struct ufile *f = a && a->module ? follow_file(w, a) : NULL;
	if (f && f->lang)
		follow_program(w, x->copy->program, f);
}

static void take_copy(struct unwinder *w, const struct unwind_copy *c)
{
	u64 frame[MAX_TAIL];
	enum copy_end end;
	mmap_events_drain(w->s); /* what was mapped before the stack was copied */
	struct asking x = {.w = w, .copy = c, .f = follow_process(w, c->pid, c->space)};
	u32 n = copy_walk(w->s->h, c, rule_at, &x, frame, MIN(c->left, (u32)MAX_TAIL), &end);
	if (c->mode == STACK_LANG)
		n = task_only_words(frame, n);
	if (x.t)
		close_fd(&x.own.mem);
	w->ncopy++;
	count_end(w, &x, end);
	tails_keep(&w->tails, c->id, frame, n);
	if (x.f->dirty)
		follow_put(w, x.f);
	if (c->program.ino && !c->lang)
		learn_program(w, &x);
}

static void take_task(struct unwinder *w, const void *head)
{
	u64 frame[MAX_TAIL];
	struct task t;
	enum copy_end end = COPY_END;
	mmap_events_drain(w->s);
	task_open(&t, w->s->h, head);
	struct unwind_copy *c = task_copy(&t);
	struct asking x = {.w = w, .copy = c, .f = follow_process(w, c->pid, c->space), .t = &t};
	struct task_walk walk = {&w->langs, rule_at, &x, &x.lang};
	u32 n = task_walk(&t, &walk, frame, MIN(c->left, (u32)MAX_TAIL), &end);
	if (t.mem < 0 || !task_sleeps(&t)) {
		w->hidden += t.mem < 0;
		w->ran += t.mem >= 0;
		n = 0;
	} else {
		count_end(w, &x, end);
	}
	tails_keep(&w->tails, c->id, frame, n);
	task_close(&t);
}

static void take_record(void *arg, const void *data, size_t size)
{
	struct unwinder *w = arg;
	if (size >= sizeof(u32) && *(const u32 *)data == UNWIND_IS_CODE)
		langs_take(&w->langs, data, size);
	else if (size >= offsetof(struct unwind_copy, word) && *(const u32 *)data == UNWIND_IS_TASK)
		take_task(w, data);
	else if (copy_sound(data, size))
		take_copy(w, data);
}

static bool frame_of(struct session *s, void *self, u64 word, struct interp_frame *ret)
{
	struct unwinder *w = self;
	(void)s;
	*ret = (struct interp_frame){0};
	if (!w->ready || !w->langs.mem)
		return false;
	while (!langs_frame(&w->langs, word, ret))
		if (!w->copies || !ring_consume(w->copies, 0))
			return false;
	return true;
}

static const u64 *tail_of(void *self, u64 mark, u32 *n)
{
	struct unwinder *w = self;
	u64 id = mark & ~UNWIND_MARK_MASK;
	*n = 0;
	if (!w->ready || (mark & UNWIND_MARK_MASK) != UNWIND_MARK)
		return NULL;
	const struct tail *t = tails_get(&w->tails, id);
	while (!t && w->copies && ring_consume(w->copies, 0))
		t = tails_get(&w->tails, id);
	if (!t)
		return NULL;
	*n = t->n;
	return t->frame;
}

static const u64 *find_tail(struct session *s, void *self, u64 mark, u32 *n)
{
	mmap_events_drain(s);
	return tail_of(self, mark, n);
}

static bool finish(struct session *s, void *self, const struct type *t, u8 *key)
{
	(void)s;
	return ((struct unwinder *)self)->ready && unwind_finish_key(tail_of, self, t, key);
}

/* ---- processes that are known before ---- */

static void make_area(struct unwinder *w, const struct proc *p, const struct area *a)
{
	struct follow_place at = {.w = w, .proc = p, .area = a};
	struct ufile *file = a->module ? follow_file(w, a) : NULL;
	if (file)
		blocks_early(&w->blocks, file, follow_ask_file, &at);
}

/* All that they map now is made before the first event: what programs ask of their stacks while
 * tracing (their length, say) is then right from the first on. */
static void expect(struct session *s, void *self, u32 pid)
{
	struct unwinder *w = self;
	u64 space;
	if (!w->ready || !proc_stack_start(s->h, (int)pid, &space))
		return;
	bool held = w->memory.hold; /* else it is a child that does not run yet */
	memory_hold(&w->memory, false);
	mmap_events_drain(s);
	const struct proc *p = procs_read(w->procs, pid);
	struct follow *f = p ? follow_process(w, pid, space) : NULL;
	for (u32 i = 0; f && i < p->now->n; i++)
		make_area(w, p, &p->now->v[i]);
	if (f)
		follow_put(w, f);
	if (!held)
		memory_put(&w->memory);
}

/* What is going to be asked, as far as there is room: the child that reads files works on it while
 * programs are loaded, and while the answer before is put to use. */
static void ask_ahead(struct unwinder *w)
{
	struct prefetch *in = &w->prefetch;
	for (; in->sent < in->nfirst; in->sent++, in->sent_areas = 0) {
		const struct proc *p = procs_get(w->procs, in->pid.v[in->sent]);
		for (; p && !p->ended && in->sent_areas < p->now->n; in->sent_areas++) {
			const struct area *a = &p->now->v[in->sent_areas];
			struct follow_place at = {.w = w, .proc = p, .area = a};
			struct ufile *file = a->module ? follow_file(w, a) : NULL;
			if (!sandbox_room(w->s->h))
				return;
			if (file)
				blocks_ahead(&w->blocks, file, follow_ask_file, &at);
		}
	}
}

/* False: time is over. There is room left for files that are met later. */
static bool take_process_in(struct unwinder *w, u32 pid, u64 until)
{
	const struct proc *p = procs_get(w->procs, pid);
	u64 space;
	if (!p || p->ended || !p->now->n || !proc_stack_start(w->s->h, (int)pid, &space))
		return true;
	for (u32 i = 0; i < p->now->n && w->blocks.chunk.n < MEMORY_EARLY; i++) {
		if (now_ns() >= until)
			return false;
		ask_ahead(w);
		make_area(w, p, &p->now->v[i]);
	}
	follow_put(w, follow_process(w, pid, space));
	return true;
}

static void tell_prefetch(struct unwinder *w)
{
	AUTO_SB text = {0};
	sb_fmt(&text, "tables for user stacks of %u processes, %u files were made in %llu ms",
	       w->nfollow, w->blocks.file.n, w->prefetch_ns / MILLI_NS);
	if (w->s->log.level)
		report_error(&w->s->reporter, true, "", (struct loc){0}, sb_str(&text));
}

/* Processes that were there before, up to the number to in their list; what is made is held. */
static void take_in(struct unwinder *w, u32 to, u64 ns)
{
	struct prefetch *in = &w->prefetch;
	u64 from = now_ns(), until = from + MIN(ns, PREFETCH_NS - w->prefetch_ns);
	while (in->at < to && take_process_in(w, in->pid.v[in->at], until))
		in->at++;
	w->prefetch_ns += now_ns() - from;
	if (w->prefetch_ns < PREFETCH_NS && in->at < in->pid.n)
		return;
	if (in->pid.n)
		tell_prefetch(w);
	vec_free(&in->pid);
	in->at = 0;
}

static bool is_busy(const struct session *s, const void *self)
{
	const struct unwinder *w = self;
	(void)s;
	return w->ready && w->prefetch.pid.n;
}

static void take_more_in(struct unwinder *w)
{
	if (!w->prefetch.pid.n)
		return;
	memory_hold(&w->memory, true);
	take_in(w, w->prefetch.pid.n, PREFETCH_SLICE_NS);
	memory_put(&w->memory);
}

/* ---- start, tick, report, end ---- */

static void unwind_tick(struct session *s, void *self)
{
	struct unwinder *w = self;
	(void)s;
	follow_put_all(w); /* an interpreter may have begun: before all that takes longer */
	if (w->copies)
		ring_consume(w->copies, COPIES_AT_ONCE);
	take_more_in(w);
	follow_put_all(w);
}

static struct err *open_copies(struct session *s, struct unwinder *w)
{
	struct ring_spec spec = {.fd = map_fd(w->s, w->u->copies),
				 .bytes = UNWIND_COPY_BYTES,
				 .rare = true,
				 .cb = take_record,
				 .arg = w};
	struct err *e = ring_new(s->h, &spec, &w->copies);
	if (e)
		return e;
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = ring_fd(w->copies)};
	if (epoll_ctl(s->loop.epoll_fd, EPOLL_CTL_ADD, ev.data.fd, &ev))
		return err_sys(errno, "wait for stacks");
	return NULL;
}

static void list_processes(struct unwinder *w)
{
	vec_free(&w->prefetch.pid);
	w->prefetch = (struct prefetch){0};
	if (mmap_events_of_all(w->s))
		prefetch_list(&w->prefetch, w->s->u, w->procs);
}

static void unwind_early(struct session *s, void *self)
{
	const struct unwind *u = s->u->unwind;
	struct unwinder *w = self;
	if (!u || map_fd(s, u->procs) < 0 || map_fd(s, u->index) < 0 || !map_mem(s, u->rules))
		return;
	w->s = s;
	w->u = u;
	w->procs = sym_procs(s->syms);
	tails_init(&w->tails);
	memory_init(&w->memory, s, &w->blocks, &w->lists);
	if (map_mem(s, u->langs))
		langs_init(&w->langs, map_mem(s, u->langs));
	w->langs.h = s->h;
	list_processes(w);
	ask_ahead(w);
}

static void unwind_ready(struct session *s, void *self)
{
	struct unwinder *w = self;
	if (!w->s)
		return;
	w->ready = true;
	struct err *e = open_copies(s, w);
	if (e)
		report_error(&s->reporter, true, "", (struct loc){0}, str_z(e->msg));
	err_free(e);
	memory_hold(&w->memory, false);
	for (u32 i = s->target->child.pid ? 1 : 0; i < s->u->scope.npid; i++)
		expect(s, w, (u32)s->u->scope.pid[i].pid);
	for (u32 i = 0; i < s->u->ndwarf_pid; i++)
		expect(s, w, (u32)s->u->dwarf_pid[i]);
	list_processes(w); /* some have begun since, or ended */
	take_in(w, w->prefetch.nfirst, PREFETCH_NS);
	sandbox_forget(s->h);
	memory_put(&w->memory);
}

static u64 read_lost(struct session *s, u64 *lost)
{
	struct unwinder *w = unwinder_of(s);
	u64 in_files = 0;
	loss_uncounted(&s->reporter, "how many stacks were cut",
		       bpf_map_get(map_fd(s, s->u->unwind->lost), &(u32){0}, lost));
	lost[UNWIND_LOST_CODE] += w->ended[COPY_CODE];
	lost[UNWIND_LOST_READ] += w->ended[COPY_READ];
	for (u32 i = 0; i < w->cut_in.n; i++)
		lost[UNWIND_LOST_FIRST_FILE + i] += w->cut_in.v[i];
	for (u32 i = 0; i < w->blocks.file.n; i++)
		in_files += lost[UNWIND_LOST_FIRST_FILE + i];
	return in_files;
}

static void report_limits(struct session *s, const struct unwinder *w)
{
	const struct {
		u64 n;
		const char *text;
	} limit[] = {
		{w->no_list, "the mappings of a process did not fit"},
		{w->blocks.no_file + w->blocks.no_index, "files were too many"},
		{w->blocks.no_rule + w->blocks.no_row, "rows of files did not fit"},
		{w->blocks.no_sense, "unwind tables, or parts of them, made no sense"},
		{w->tails.no_room, "stacks were too many to be remembered"},
		{w->langs.no_room, "functions of interpreted languages were too many"},
		{w->langs.no_file, "interpreters were too many"},
	};
	for (u32 i = 0; i < countof(limit); i++) {
		AUTO_SB b = {0};
		if (!limit[i].n)
			continue;
		sb_fmt(&b, "%llu %s; user stacks may be cut", limit[i].n, limit[i].text);
		loss_put(&s->reporter, LOSS_UNWIND_LIMIT, str_z(limit[i].text), limit[i].n,
			 sb_str(&b));
	}
	const struct err *e = w->blocks.failed ? w->blocks.failed : w->lists.failed;
	if (!e)
		return;
	AUTO_SB b = {0};
	sb_fmt(&b, "tables for user stacks: %s; user stacks may be cut", e->msg);
	loss_put(&s->reporter, LOSS_UNWIND_LIMIT, STR("memory"), 1, sb_str(&b));
}

static void tell(struct session *s, const struct unwinder *w)
{
	char text[TEXT];
	u64 kib = (w->blocks.chunk.n * sizeof(struct unwind_chunk) +
		   w->lists.chunk.n * sizeof(struct unwind_list_chunk) +
		   sizeof(struct unwind_index) + UNWIND_RULES * sizeof(u32) + UNWIND_COPY_BYTES) >>
		  10;
	if (!s->log.level)
		return;
	snprintf(text, sizeof(text),
		 "user stacks: %u processes, %u files, %llu blocks of rows made, %llu chunks given "
		 "up, %u rules, %llu stacks finished from copies; %llu KiB of maps, %llu KiB of "
		 "sonde's own memory",
		 w->nfollow, w->blocks.file.n, w->blocks.made, w->blocks.evicted, w->blocks.nrule,
		 w->ncopy, kib, proc_own_kib(s->h));
	report_error(&s->reporter, true, "", (struct loc){0}, str_z(text));
}

static void unwind_report(struct session *s, void *self)
{
	struct unwinder *w = self;
	if (!w->ready)
		return;
	vec_free(&w->prefetch.pid); /* nobody is going to ask */
	unwind_tick(s, w);
	u64 *lost AUTO_FREE = xcalloc(UNWIND_LOST_WORDS, sizeof(u64));
	u64 in_files = read_lost(s, lost);
	cut_report(&s->reporter, "code", lost[UNWIND_LOST_CODE], "cut at code that is in no file");
	cut_report(&s->reporter, "memory", lost[UNWIND_LOST_READ],
		   "cut where the stack could not be read");
	cut_report(&s->reporter, "copy", lost[UNWIND_LOST_COPY],
		   "cut because there was no room to copy the rest of it");
	cut_report(&s->reporter, "depth", w->ended[COPY_CUT],
		   "cut because the stack is deeper than the copied part");
	cut_report(&s->reporter, "ran", w->ran,
		   "left out because the thread ran while it was read");
	cut_report(&s->reporter, "hidden", w->hidden,
		   "left out because the process's memory may not be read");
	cut_report_files(&s->reporter, &w->blocks, lost, in_files);
	langs_report(&w->langs, &s->reporter, lost);
	report_limits(s, w);
	tell(s, w);
}

static void unwind_close(void *self)
{
	struct unwinder *w = self;
	follow_end(w);
	ring_free(w->copies);
	memory_free(&w->memory);
	blocks_free(&w->blocks);
	lists_free(&w->lists);
	langs_free(&w->langs);
	tails_free(&w->tails);
	vec_free(&w->cut_in);
	vec_free(&w->piece);
	vec_free(&w->prefetch.pid);
}

const struct service service_unwind = {
	.name = "user stacks",
	.size = sizeof(struct unwinder),
	.early = unwind_early,
	.ready = unwind_ready,
	.tick = unwind_tick,
	.busy = is_busy,
	.wants_child = wants_child,
	.child = expect,
	.mapped = follow_note,
	.tail = find_tail,
	.frame = frame_of,
	.finish_key = finish,
	.report = unwind_report,
	.close = unwind_close,
};
