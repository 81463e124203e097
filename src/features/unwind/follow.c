/* follow.c - lists of processes, kept as programs need them; see the header. */
#include "unwind/follow.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "proc/proc.h"
#include "sym/mappings.h"
#include "unwind/task.h"
#include "unwind/v8.h"

enum {
	/* When a space is read again: then, after thrice as long each time, and not after the second. */
	SETTLE_FIRST_NS = 1000000,
	SETTLE_NS = 1000000000,
};

/* ---- files ---- */

static bool ask_place(const struct follow_place *at, const struct question *q)
{
	if (!at->answer)
		return sandbox_ahead(at->w->s->h, at->fn, q);
	struct err *e = sandbox_ask(at->w->s->h, at->fn, q, at->answer);
	err_free(e);
	return !e;
}

static bool ask_path(void *arg, const char *path)
{
	struct follow_place *at = arg;
	struct question q = {.path = path, .nfile = 1, .args = at->args};
	struct err *e = image_find(path, &q.file[0]);
	bool found = !e, ok = false;
	err_free(e);
	if (found) {
		q.path = q.file[0].member ? path : at->area->module->path.s;
		ok = ask_place(at, &q);
		close(q.file[0].fd);
	}
	return ok;
}

struct err *follow_ask_file(void *arg, sandbox_fn *fn, struct str args, struct sb *answer)
{
	struct follow_place *at = arg;
	const struct question vdso = {.path = MAPS_VDSO, .args = args};
	at->fn = fn;
	at->args = args;
	at->answer = answer;
	bool ok = area_is_vdso(at->area)
			  ? ask_place(at, &vdso)
			  : area_paths(at->w->s->h, at->proc, at->area, ask_path, at);
	return ok ? NULL : err_new("nothing leads to it");
}

struct ufile *follow_file(struct unwinder *w, const struct area *a)
{
	return blocks_file(&w->blocks, a->module);
}

/* Generated code is taken to keep frame pointers, but for what is known not to. */
u32 follow_made_rule(struct unwinder *w, const struct proc *p, const struct area *a)
{
	u8 code[sizeof(((struct arch_stub *)0)->code)];
	const struct arch_stub *stub = w->s->h->arch->unwind.stub;
	if (stub && !p->ended && proc_read(w->s->h, (int)p->pid, a->start, code, sizeof(code)))
		for (; stub->n; stub++)
			if (!memcmp(code, stub->code, stub->n))
				return unwind_rule(UNWIND_SP, stub->words, UNWIND_FP_SAME);
	return unwind_by_fp(w->s->h->arch->unwind.link);
}

/* ---- lists ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct unwind_piece *a = pa, *b = pb;
	return (a->start > b->start) - (a->start < b->start);
}

/* As the kernel has it. */
static struct unwind_program_key program_key(u64 dev, u64 ino)
{
	enum { MINOR_BITS = 20 };
	return (struct unwind_program_key){dev >> 32 << MINOR_BITS | (u32)dev, ino};
}

/* Programs know processes that run this file. Some are missed when it does not fit. */
void follow_program(struct unwinder *w, struct unwind_program_key key, const struct ufile *f)
{
	struct unwind_program is = {.lang = f->lang};
	u64 lowest = UINT64_MAX;
	for (u32 i = 0; i < f->is.nseg; i++)
		lowest = MIN(lowest, f->is.seg[i].addr);
	is.code = (u32)(lowest - f->is.base);
	if (f->is.nseg)
		err_free(bpf_map_put(map_fd(w->s, w->u->programs), &key, &is));
}

/* The number of an interpreter, and 1. All its rows are made at once: the rest of a stack that came to some
 * that are not there would not have the frames of what it runs. */
u32 follow_lang(struct unwinder *w, struct ufile *f, struct follow_place *at)
{
	if (!f->lang_asked && w->langs.mem)
		f->lang = langs_file(&w->langs, f->path, f->is.base, follow_ask_file, at);
	if (!f->lang_asked && f->lang) {
		follow_program(w, program_key(f->dev, f->ino), f);
		blocks_early(&w->blocks, f, follow_ask_file, at);
	}
	f->lang_asked = true;
	return f->lang;
}

static struct unwind_piece piece_of(struct unwinder *w, const struct proc *p, const struct area *a)
{
	struct unwind_piece x = {.start = a->start, .end = a->end, .kind = UNWIND_PIECE_NONE};
	struct follow_place at = {.w = w, .proc = p, .area = a};
	struct ufile *f = a->module ? follow_file(w, a) : NULL;
	if (f && blocks_pc(&w->blocks, f, a->off, follow_ask_file, &at, &x.pc)) {
		x.kind = UNWIND_PIECE_ROWS;
		x.file = f->id;
		x.lang = follow_lang(w, f, &at);
	} else if (!a->module && a->off & MAPS_MADE) {
		x.kind = UNWIND_PIECE_RULE;
		x.pc = follow_made_rule(w, p, a);
	}
	return x;
}

/* Code that is made at run time is that of V8 if the process has some. V8 keeps a range of addresses for it, and
 * makes more of it readable whenever it needs it: what is around is taken for code, too, so that no stack has to
 * wait for the note of that. Pieces are in order. */
static void made_pieces(struct unwinder *w, struct follow *f)
{
	const u64 around = 512ul << 20;
	u32 lang = 0;
	f->table = 0;
	for (u32 i = 0; i < w->piece.n; i++) {
		const struct unwind_piece *x = &w->piece.v[i];
		if (!langs_native(&w->langs, x->lang))
			continue;
		lang = x->lang;
		if (!f->table) /* V8 may have moved a part of its file: not that one tells where the table is */
			f->table = v8_table(&w->langs, lang - 1, f->pid, x->start - x->pc);
	}
	for (u32 i = 0; lang && i < w->piece.n; i++) {
		struct unwind_piece *x = &w->piece.v[i];
		if (x->kind != UNWIND_PIECE_RULE)
			continue;
		u64 before = i ? x[-1].end : 0,
		    behind = i + 1 < w->piece.n ? x[1].start : UINT64_MAX;
		x->lang = lang;
		x->file = (u32)(f->table >> V8_TABLE_SHIFT);
		x->start -= MIN(x->start - before, around);
		x->end += MIN(behind - x->end, around);
	}
}

void follow_outdate(struct unwinder *w, struct follow *f)
{
	f->dirty = w->dirty = true;
}

/* Of a process that has Java at base (number, and 1). Its code may be there before the heaps are. */
void follow_heaps(struct unwinder *w, struct follow *f, u32 lang, u64 base)
{
	enum { TRIES = 100 };
	struct task t = {.h = w->s->h, .mem = proc_memory(w->s->h, (int)f->pid)};
	f->nheap = java_heaps(&w->langs, lang - 1, &t, base, f->heap);
	close_fd(&t.mem);
	if (!f->nheap && f->heap_tries++ < TRIES)
		follow_outdate(w, f);
}

/* Those in heaps of Java give their place to them: heaps are as large as they may become. */
static void heap_pieces(struct unwinder *w, struct follow *f)
{
	const struct unwind_piece *java = NULL;
	u32 n = 0;
	for (u32 i = 0; i < w->piece.n; i++)
		if (w->piece.v[i].kind == UNWIND_PIECE_ROWS &&
		    langs_java(&w->langs, w->piece.v[i].lang))
			java = &w->piece.v[i];
	if (!java)
		return;
	u32 lang = java->lang;
	follow_heaps(w, f, lang, java->start - java->pc);
	bool unknown = !w->langs.mem[lang - 1].known; /* then stacks are counted */
	for (u32 i = 0; i < w->piece.n; i++) {
		bool in = false;
		if (unknown && w->piece.v[i].kind == UNWIND_PIECE_RULE)
			w->piece.v[i].lang = lang;
		for (u32 k = 0; k < f->nheap; k++)
			in |= w->piece.v[i].start < f->heap[k].end &&
			      w->piece.v[i].end > f->heap[k].start;
		if (!in)
			w->piece.v[n++] = w->piece.v[i];
	}
	w->piece.n = n;
	for (u32 k = 0; k < f->nheap && w->piece.n < UNWIND_PIECES; k++)
		vec_add(&w->piece, f->heap[k]);
	qsort(w->piece.v, w->piece.n, sizeof(*w->piece.v), by_start);
}

static void gather_pieces(struct unwinder *w, const struct proc *p, struct follow *f)
{
	w->piece.n = 0;
	for (u32 i = 0; i < p->now->n && w->piece.n < UNWIND_PIECES; i++)
		vec_add(&w->piece, piece_of(w, p, &p->now->v[i]));
	for (u32 i = 0; i < f->nnone && w->piece.n < UNWIND_PIECES; i++) {
		if (proc_area(p, UINT64_MAX, f->none[i])) /* something is there by now */
			continue;
		struct unwind_piece x = {f->none[i], f->none[i] + FOLLOW_PAGE, 0,
					 0,          UNWIND_PIECE_NONE,        0};
		vec_add(&w->piece, x);
	}
	if (w->piece.n)
		qsort(w->piece.v, w->piece.n, sizeof(*w->piece.v), by_start);
	made_pieces(w, f);
	heap_pieces(w, f);
}

static void drop_list(struct unwinder *w, struct follow *f)
{
	if (f->list)
		lists_drop(&w->lists, f->list, now_ns());
	f->list = NULL;
}

/* The kernel sets where the stack begins for good only at the end of exec, when the first notes of the process are
 * here. Programs would take a list with an earlier value for that of another process. */
static void settle(struct unwinder *w, struct follow *f, u64 now)
{
	u64 space, age = now - f->early_ns;
	if (!f->early_ns || !proc_stack_start(w->s->h, (int)f->pid, &space))
		return;
	if (space != f->space)
		follow_outdate(w, f);
	f->space = space;
	f->settle_ns = now + 2 * age + SETTLE_FIRST_NS;
	if (age > SETTLE_NS)
		f->early_ns = 0;
}

void follow_put(struct unwinder *w, struct follow *f)
{
	const struct proc *p = procs_get(w->procs, f->pid);
	settle(w, f, now_ns());
	f->dirty = false;
	if (!p || p->ended)
		return;
	gather_pieces(w, p, f);
	struct ulist *x =
		w->piece.n ? lists_put(&w->lists, w->piece.v, w->piece.n, now_ns()) : NULL;
	if (!x) {
		w->no_list += w->piece.n > 0;
		return;
	}
	struct unwind_proc entry = {f->space, x->chunk, x->first, x->n, 0};
	struct err *e = bpf_map_put(map_fd(w->s, w->u->procs), &f->pid, &entry);
	drop_list(w, f);
	f->list = x;
	w->no_list += e != NULL;
	err_free(e);
}

/* ---- processes ---- */

static struct follow **follow_at(struct unwinder *w, u32 pid)
{
	struct follow **at = &w->bucket[pid % FOLLOW_BUCKETS];
	while (*at && (*at)->pid != pid)
		at = &(*at)->chain;
	return at;
}

static void follow_free(struct unwinder *w, struct follow **at)
{
	struct follow *f = *at;
	drop_list(w, f);
	*at = f->chain;
	free(f);
	w->nfollow--;
}

static void unfollow(struct unwinder *w, u32 pid)
{
	struct follow **at = follow_at(w, pid);
	if (!*at)
		return;
	err_free(bpf_map_del(map_fd(w->s, w->u->procs), &pid));
	follow_free(w, at);
}

static void make_room(struct unwinder *w, u32 pid)
{
	for (u32 i = 1; i < FOLLOW_BUCKETS && w->nfollow >= UNWIND_PROCS; i++) {
		struct follow *f = w->bucket[(pid + i) % FOLLOW_BUCKETS];
		if (f)
			unfollow(w, f->pid);
	}
}

struct follow *follow_process(struct unwinder *w, u32 pid, u64 space)
{
	struct follow **at = follow_at(w, pid), *f = *at;
	if (f && f->space == space)
		return f;
	if (!f) {
		make_room(w, pid);
		at = follow_at(w, pid);
		f = *at = xcalloc(1, sizeof(*f));
		w->nfollow++;
	}
	drop_list(w, f);
	struct follow *chain = f->chain;
	*f = (struct follow){.pid = pid, .space = space, .chain = chain};
	follow_outdate(w, f);
	return f;
}

/* An interpreter begins. Copies of its stack would not have the frames of what it runs, so programs get
 * its list before they ask for it. */
static void follow_early(struct unwinder *w, u32 pid)
{
	u64 space;
	if (!proc_stack_start(w->s->h, (int)pid, &space))
		return;
	struct follow *f = follow_process(w, pid, space);
	f->early_ns = f->settle_ns = now_ns();
}

void follow_note(struct session *s, void *self, const struct mmap_event *n)
{
	struct unwinder *w = self;
	(void)s;
	if (!w->ready)
		return;
	struct follow *f = *follow_at(w, n->pid);
	if (n->kind == MMAP_EVENT_EXIT || n->kind == MMAP_EVENT_EXEC)
		unfollow(w, n->pid);
	else if (f && n->kind == MMAP_EVENT_MAP)
		follow_outdate(w, f);
	else if (n->kind == MMAP_EVENT_MAP && langs_may_be(n->path))
		follow_early(w, n->pid);
}

void follow_put_all(struct unwinder *w)
{
	u64 now = now_ns();
	if (!w->dirty && now < w->settle_ns)
		return;
	w->dirty = false; /* before: what is out of date once more is met at the next tick */
	w->settle_ns = UINT64_MAX;
	for (u32 i = 0; i < FOLLOW_BUCKETS; i++) {
		for (struct follow *f = w->bucket[i]; f; f = f->chain) {
			if (f->early_ns && now >= f->settle_ns)
				settle(w, f, now);
			if (f->dirty)
				follow_put(w, f);
			if (f->early_ns)
				w->settle_ns = MIN(w->settle_ns, f->settle_ns);
		}
	}
}

void follow_end(struct unwinder *w)
{
	for (u32 i = 0; i < FOLLOW_BUCKETS; i++)
		while (w->bucket[i])
			follow_free(w, &w->bucket[i]);
}
