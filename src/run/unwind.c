/*
 * unwind.c - keeps the tables of core/unwind.h as the processes are that dw_ustack unwinds.
 *
 * A file's rows are made once, whoever maps it. The kernel's notes of new mappings wake us at once,
 * because until the tables have a new file, stacks that pass through it are cut (and counted).
 */
#include "base/vec.h"
#include "run/run.h"
#include "sym/cfi.h"
#include "sym/maps.h"
#include "sym/procs.h"
#include "types/image.h"
#include <elf.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAX_SEGMENTS = 16, PAGE = 4096 };

struct file {
	u64 dev, ino, base;
	struct str path;
	struct segment seg[MAX_SEGMENTS]; /* executable ones */
	u32 nseg;
	u64 first, n; /* rows */
};
struct follow {
	u32 pid, slot;
	bool dirty;
};
struct unwinder {
	struct procs procs;
	struct arena arena;
	struct unwind_slot *slot; /* unit.unwind->nslot of them */
	bool *used;
	VEC(struct mmaps *) mmaps;
	VEC(struct follow) follow;
	VEC(struct file *) file;
	VEC(struct unwind_chunk *) chunk;
	u64 nrow;
	u64 noted_ns;
	u64 notes_lost, no_slot, no_piece, no_room; /* what did not fit, for the report */
	bool failed;                                /* a chunk could not be made */
};

/* ---- rows ---- */

static struct err *make_chunk(struct session *s, struct unwinder *w)
{
	const struct map *rows = s->u->unwind->rows;
	u32 index = w->chunk.n;
	int fd AUTO_CLOSE = -1;
	void *p;
	struct err *e = load_inner(rows, &fd);
	if (!e)
		e = bpf_map_mmap(fd, sizeof(struct unwind_chunk), &p);
	if (e)
		return e;
	vec_add(&w->chunk, (struct unwind_chunk *)p);
	return bpf_map_put(rows->fd, &index, &fd);
}

/* Room for that many rows. */
static bool make_room(struct session *s, struct unwinder *w, u64 n)
{
	while (!w->failed && (u64)w->chunk.n * UNWIND_CHUNK < w->nrow + n) {
		if (w->chunk.n == UNWIND_CHUNKS)
			return false;
		struct err *e = make_chunk(s, w);
		if (!e)
			continue;
		e = err_wrap(e, "tables for dw_ustack: ");
		session_error(s, true, "", (struct loc){0}, str_z(e->msg));
		err_free(e);
		w->failed = true;
	}
	return !w->failed;
}

static u32 row_pc(const struct unwinder *w, u64 i)
{
	return w->chunk.v[i / UNWIND_CHUNK]->pc[i % UNWIND_CHUNK];
}

static void put_row(struct unwinder *w, u32 pc, u32 rule)
{
	struct unwind_chunk *c = w->chunk.v[w->nrow / UNWIND_CHUNK];
	c->pc[w->nrow % UNWIND_CHUNK] = pc;
	c->rule[w->nrow % UNWIND_CHUNK] = rule;
	w->nrow++;
}

/* The first row is at 0, so that every address has one. */
static void put_rows(struct session *s, struct unwinder *w, struct file *f,
		     const struct cfi_rows *r)
{
	bool gap = r->n && r->v[0].pc;
	if (!r->n)
		return;
	if (!make_room(s, w, r->n + gap)) {
		w->no_room++;
		return;
	}
	f->first = w->nrow;
	if (gap)
		put_row(w, 0, UNWIND_NONE);
	for (u32 i = 0; i < r->n; i++)
		put_row(w, r->v[i].pc, r->v[i].rule);
	f->n = w->nrow - f->first;
}

/* ---- files ---- */

static void take_image(struct file *f, const struct image *im, struct cfi_rows *ret)
{
	struct segment seg;
	for (u32 i = 0; f->nseg < MAX_SEGMENTS && image_segment(im, i, &seg); i++)
		if (seg.type == PT_LOAD && seg.flags & PF_X)
			f->seg[f->nseg++] = seg;
	f->base = cfi_base(im) & ~(u64)(PAGE - 1);
	cfi_image(im, f->base, ret);
}

struct opening {
	struct file *file;
	struct cfi_rows rows;
};

static bool try_path(void *arg, const char *path)
{
	struct opening *o = arg;
	struct image im;
	struct err *e = image_open(path, &im);
	err_free(e);
	if (e)
		return false;
	take_image(o->file, &im, &o->rows);
	image_close(&im);
	return true;
}

static struct file *file_find(const struct unwinder *w, const struct module *m, u32 *id)
{
	for (*id = 0; *id < w->file.n; (*id)++) {
		struct file *f = w->file.v[*id];
		if (f->ino == m->ino && f->dev == m->dev && str_eq(f->path, m->path))
			return f;
	}
	return NULL;
}

/* NULL: there are too many. */
static struct file *file_get(struct session *s, struct unwinder *w, const struct proc *p,
			     const struct area *a, u32 *id)
{
	const struct module *m = a->module;
	struct file *f = file_find(w, m, id);
	if (f || w->file.n == UNWIND_MODULES)
		return f;
	f = arena_new(&w->arena, struct file);
	*f = (struct file){.dev = m->dev, .ino = m->ino, .path = arena_str(&w->arena, m->path)};
	vec_add(&w->file, f);
	struct opening o = {.file = f};
	struct image im;
	if (!area_is_vdso(a))
		area_paths(s->h, p, a, try_path, &o);
	else if (vdso_image(&im))
		take_image(f, &im, &o.rows);
	put_rows(s, w, f, &o.rows);
	free(o.rows.v);
	return f;
}

static bool file_pc(const struct file *f, u64 off, u64 *ret)
{
	for (u32 i = 0; i < f->nseg; i++) {
		const struct segment *g = &f->seg[i];
		/* A mapping is whole pages, a segment need not be. */
		if (off < (g->off & ~(u64)(PAGE - 1)) || off >= ALIGN_UP(g->off + g->filesz, PAGE))
			continue;
		*ret = off - g->off + g->addr - f->base;
		return *ret <= UINT32_MAX;
	}
	return false;
}

/* ---- pieces ---- */

static void put_piece(struct unwinder *w, struct unwind_slot *t, u32 half, struct unwind_piece p)
{
	if (t->n[half] == UNWIND_PIECES)
		w->no_piece++;
	else
		t->piece[half][t->n[half]++] = p;
}

/* One for each chunk that its rows lie in. */
static void put_area(struct session *s, struct unwinder *w, struct unwind_slot *t,
		     const struct proc *proc, const struct area *a)
{
	u32 half = !t->active, id;
	u64 pc, size = a->end - a->start;
	struct file *f = file_get(s, w, proc, a, &id);
	if (!f)
		return;
	if (!f->n || !file_pc(f, a->off, &pc)) {
		put_piece(w, t, half, (struct unwind_piece){a->start, a->end, 0, 0, id, 0, 0});
		return;
	}
	for (u64 i = f->first, end = f->first + f->n, next; i < end; i = next) {
		next = MIN(end, (i / UNWIND_CHUNK + 1) * UNWIND_CHUNK);
		u64 from = MAX(pc, row_pc(w, i)), to = pc + size;
		if (next < end)
			to = MIN(to, row_pc(w, next));
		if (from >= to)
			continue;
		struct unwind_piece p = {
			.start = a->start + (from - pc),
			.end = a->start + (to - pc),
			.pc = (u32)from,
			.chunk = (u32)(i / UNWIND_CHUNK),
			.module = id,
			.first = (u16)(i % UNWIND_CHUNK),
			.n = (u16)(next - i),
		};
		put_piece(w, t, half, p);
	}
}

/* Generated code. */
static void put_made(struct unwinder *w, struct unwind_slot *t, const struct area *a)
{
	struct unwind_piece p = {.start = a->start, .end = a->end, .first = 1};
	put_piece(w, t, !t->active, p);
}

/* Programs may be reading the other list meanwhile. */
static void build(struct session *s, struct unwinder *w, struct follow *f)
{
	const struct proc *p = procs_get(&w->procs, f->pid);
	struct unwind_slot *t = &w->slot[f->slot];
	u32 half = !t->active;
	f->dirty = false;
	if (!p)
		return;
	t->n[half] = 0;
	t->piece[half][0] = (struct unwind_piece){0}; /* programs look at it though there is none */
	for (u32 i = 0; i < p->now->n; i++)
		if (p->now->v[i].module)
			put_area(s, w, t, p, &p->now->v[i]);
		else if (p->now->v[i].off & MAPS_MADE)
			put_made(w, t, &p->now->v[i]);
	__atomic_store_n(&t->active, half, __ATOMIC_RELEASE);
	__atomic_fetch_add(&t->changes, 1, __ATOMIC_RELEASE);
}

/* ---- processes ---- */

static struct follow *follow_find(struct unwinder *w, u32 pid)
{
	for (u32 i = 0; i < w->follow.n; i++)
		if (w->follow.v[i].pid == pid)
			return &w->follow.v[i];
	return NULL;
}

static void follow(struct session *s, struct unwinder *w, u32 pid)
{
	u32 slot = 0;
	if (follow_find(w, pid))
		return;
	while (slot < s->u->unwind->nslot && w->used[slot])
		slot++;
	if (slot == s->u->unwind->nslot) {
		w->no_slot++;
		return;
	}
	struct err *e = bpf_map_put(s->u->unwind->pids->fd, &pid, &slot);
	w->no_slot += e != NULL;
	err_free(e);
	if (e)
		return;
	w->used[slot] = true;
	w->slot[slot] = (struct unwind_slot){0};
	vec_add(&w->follow, (struct follow){pid, slot, true});
}

static void unfollow(struct session *s, struct unwinder *w, struct follow *f)
{
	err_free(bpf_map_del(s->u->unwind->pids->fd, &f->pid));
	w->used[f->slot] = false;
	*f = w->follow.v[--w->follow.n];
}

struct notes {
	struct session *s;
	struct unwinder *w;
};

static void take_note(void *arg, const struct map_note *n)
{
	struct session *s = ((struct notes *)arg)->s;
	struct unwinder *w = ((struct notes *)arg)->w;
	struct follow *f = follow_find(w, n->pid);
	if (n->kind == NOTE_LOST) {
		w->notes_lost += n->lost;
		procs_note(&w->procs, n);
		for (u32 i = 0; i < w->follow.n; i++) {
			procs_read(&w->procs, w->follow.v[i].pid);
			w->follow.v[i].dirty = true;
		}
		return;
	}
	if (!f && !(n->kind == NOTE_FORK && follow_find(w, n->parent)))
		return;
	procs_note(&w->procs, n);
	if (n->kind == NOTE_EXIT)
		unfollow(s, w, f);
	else if (n->kind == NOTE_FORK)
		follow(s, w, n->pid);
	else
		f->dirty = true;
}

/* Where the kernel does not tell, look now and then. */
static void look(struct unwinder *w)
{
	u64 now = run_now();
	if (w->mmaps.n || now - w->noted_ns < SECOND_NS)
		return;
	w->noted_ns = now;
	for (u32 i = 0; i < w->follow.n; i++) {
		procs_read(&w->procs, w->follow.v[i].pid);
		w->follow.v[i].dirty = true;
	}
}

void unwind_tick(struct session *s)
{
	struct unwinder *w = s->unwinder;
	struct notes notes = {s, w};
	if (!w)
		return;
	for (u32 i = 0; i < w->mmaps.n; i++)
		mmaps_drain(w->mmaps.v[i], take_note, &notes);
	look(w);
	for (u32 i = 0; i < w->follow.n; i++)
		if (w->follow.v[i].dirty)
			build(s, w, &w->follow.v[i]);
}

/* ---- start, report, end ---- */

void unwind_child(void *session)
{
	struct session *s = session;
	s->unwinder->noted_ns = 0;
	unwind_tick(s);
}

/* Edge-triggered: the descriptor of a process that ended is readable for ever. */
static void watch(struct session *s, const struct mmaps *m)
{
	int fd;
	for (u32 i = 0; (fd = mmaps_fd(m, i)) >= 0; i++) {
		struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
		epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
	}
}

static void add_process(struct session *s, struct unwinder *w, int pid)
{
	struct mmaps *m = NULL;
	if (pid <= 0 || follow_find(w, (u32)pid))
		return;
	struct err *e = host_has(s->h, FEAT_MAP_NOTES) ? mmaps_open(s->h, pid, true, &m) : NULL;
	err_free(e); /* then look() looks */
	if (m) {
		vec_add(&w->mmaps, m);
		watch(s, m);
	}
	procs_read(&w->procs, (u32)pid);
	follow(s, w, (u32)pid);
}

void unwind_open(struct session *s)
{
	const struct unwind *u = s->u->unwind;
	if (!u || u->slots->fd < 0)
		return;
	struct unwinder *w = calloc(1, sizeof(*w));
	if (!w)
		abort();
	w->procs.host = s->h;
	w->procs.noted = true;
	w->slot = u->slots->mem;
	w->used = arena_newn(&w->arena, bool, u->nslot);
	s->unwinder = w;
	make_room(s, w, 1);
	for (u32 i = 0; i < s->u->scope.npid; i++)
		add_process(s, w, s->u->scope.pid[i].pid);
	for (u32 i = 0; i < s->u->ndwarf_pid; i++)
		add_process(s, w, s->u->dwarf_pid[i]);
	unwind_tick(s);
}

static void report(struct session *s, const char *kind, struct str who, u64 n, const char *what)
{
	AUTO_SB b = {0};
	if (!n)
		return;
	sb_fmt(&b, "dw_ustack: %llu stack%s %s", n, n == 1 ? " was" : "s were", what);
	if (!strcmp(kind, "cut_in_file"))
		sb_add(&b, who);
	loss_put(s, kind, who, n, sb_str(&b));
}

static void report_limits(struct session *s, const struct unwinder *w)
{
	static const struct {
		size_t at;
		const char *text;
	} limit[] = {
		{offsetof(struct unwinder, notes_lost), "notes of what processes map were lost"},
		{offsetof(struct unwinder, no_slot), "processes were too many to follow"},
		{offsetof(struct unwinder, no_piece), "mappings of a process were too many"},
		{offsetof(struct unwinder, no_room), "files' tables did not fit"},
	};
	for (u32 i = 0; i < countof(limit); i++) {
		AUTO_SB b = {0};
		u64 n = *(const u64 *)((const u8 *)w + limit[i].at);
		if (!n)
			continue;
		sb_fmt(&b, "dw_ustack: %llu %s; stacks may be cut", n, limit[i].text);
		loss_put(s, "unwind_limit", str_z(limit[i].text), n, sb_str(&b));
	}
}

void unwind_report(struct session *s)
{
	static const char *const reason[] = {
		[UNWIND_LOST_PROCESS] = "not unwound: the process was none of -p, -c and "
					"--dwarf-pid",
		[UNWIND_LOST_FILE] = "cut at code that lies in no file, or in one that was mapped "
				     "a moment before",
		[UNWIND_LOST_READ] = "cut where the stack could not be read",
		[UNWIND_LOST_CHANGED] = "taken while the tables changed twice, and may be wrong",
	};
	static const char *const name[] = {"process", "code", "memory", "changed"};
	struct unwinder *w = s->unwinder;
	if (!w)
		return;
	u64 *lost AUTO_FREE = calloc(UNWIND_LOST_WORDS, sizeof(u64));
	if (!lost)
		abort();
	struct err *e = bpf_map_get(s->u->unwind->lost->fd, &(u32){0}, lost);
	err_free(e);
	for (u32 i = 0; i < countof(reason); i++)
		report(s, "cut_stacks", str_z(name[i]), lost[i], reason[i]);
	for (u32 i = 0; i < w->file.n; i++)
		report(s, "cut_in_file", w->file.v[i]->path, lost[UNWIND_LOST_FIRST_MODULE + i],
		       "cut where there is no unwind information in ");
	report_limits(s, w);
}

void unwind_close(struct session *s)
{
	struct unwinder *w = s->unwinder;
	if (!w)
		return;
	for (u32 i = 0; i < w->mmaps.n; i++)
		mmaps_free(w->mmaps.v[i]);
	for (u32 i = 0; i < w->chunk.n; i++)
		munmap(w->chunk.v[i], sizeof(struct unwind_chunk));
	procs_free(&w->procs);
	vec_free(&w->mmaps);
	vec_free(&w->follow);
	vec_free(&w->file);
	vec_free(&w->chunk);
	arena_free(&w->arena);
	free(w);
	s->unwinder = NULL;
}
