/* procs.c - processes and their areas. */
#include "sym/procs.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"
#include "proc/paths.h"
#include "sym/mappings.h"
#include "types/image.h"
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

enum {
	MAX_PROCS = 16384,
	MAX_AREAS = 1 << 19, /* of all: 16 MiB */
	MAX_SPACE = 4096,    /* of one space */
	MAX_SPACES = 4,      /* of one process */
	MAX_KEPT_FILES = 128,
	MIN_SWEEP = 1024,
	MAX_STATUS = 1 << 16,
	READ_ALL_MS = 1000,
	MAX_STAT = 4096,
	RETRY_MS = 100,    /* an unknown address: look again, but not for each of a stack */
	REFRESH_MS = 2000, /* without notes */
};

static u64 now_ms(void)
{
	return now_ns() / MILLI_NS;
}

/* ---- modules ---- */

static void module_free(struct procs *p, struct module *m)
{
	if (m->fd >= 0) {
		close(m->fd);
		p->nfd--;
	}
	p->nmodule--;
	free(m);
}

static void mark_live(struct queue *q)
{
	for (struct proc *x = q->first; x; x = x->next)
		for (struct aspace *s = x->now; s; s = s->older)
			for (u32 i = 0; i < s->n; i++)
				if (s->v[i].module)
					s->v[i].module->live = true;
}

/* Throw away those that no area has. Not counted by reference, because areas are copied by the
 * thousand. */
static void modules_sweep(struct procs *p)
{
	mark_live(&p->alive);
	mark_live(&p->ended);
	for (u32 i = 0; i < MODULE_BUCKETS; i++) {
		for (struct module **at = &p->module[i]; *at;) {
			struct module *m = *at;
			if (m->live) {
				m->live = false;
				at = &m->next;
				continue;
			}
			*at = m->next;
			module_free(p, m);
		}
	}
	p->sweep_at = MAX(MIN_SWEEP, 2 * p->nmodule);
}

/* 0: its file system does not tell, or there is no such file. */
static u64 born_ns(int dir, const char *path)
{
	struct statx st;
	int flags = *path ? 0 : AT_EMPTY_PATH;
	if (statx(dir, path, flags, STATX_BTIME, &st) || !(st.stx_mask & STATX_BTIME))
		return 0;
	return (u64)st.stx_btime.tv_sec * SECOND_NS + st.stx_btime.tv_nsec;
}

/* The path leads to the file, and not to a later one that got the same inode. */
static bool same_file(const char *path, const struct module *m)
{
	struct stat st;
	if (stat(path, &st) || st.st_ino != m->ino)
		return false;
	u64 born = m->born_ns ? born_ns(AT_FDCWD, path) : 0;
	return !born || born == m->born_ns;
}

static void put_path(const struct procs *p, const struct module *m, char *to, size_t n)
{
	snprintf(to, n, "%s%.*s", p->host->root, STRF(m->path));
}

/* Does m, which has the inode and the path, stand for the file that is mapped now? */
static bool is_still(const struct procs *p, struct module *m, u64 generation)
{
	char path[PATH_MAX];
	struct stat st;
	u64 now = now_ms();
	if (generation && m->generation)
		return generation == m->generation;
	if (!generation && now - m->checked_ms < RETRY_MS)
		return true;
	put_path(p, m, path, sizeof(path));
	bool reused = m->born_ns && !m->deleted && !same_file(path, m) && !stat(path, &st) &&
		      st.st_ino == m->ino;
	m->checked_ms = now;
	if (!reused && generation)
		m->generation = generation;
	return !reused;
}

/* NULL: this name means memory without a file. The result is not yet safe from modules_sweep(). */
static struct module *module_get(struct procs *p, const struct module *like)
{
	struct str path = like->path;
	if (!path.n || (path.s[0] != '/' && !str_is(path, MAPS_VDSO)) ||
	    str_starts(path, STR("//")))
		return NULL;
	u64 hash = str_hash(path) + like->ino;
	struct module **bucket = &p->module[hash % MODULE_BUCKETS];
	for (struct module *m = *bucket; m; m = m->next)
		if (m->ino == like->ino && m->dev == like->dev && m->deleted == like->deleted &&
		    str_eq(m->path, path) && is_still(p, m, like->generation))
			return m;
	struct module *m = xcalloc(1, sizeof(*m) + path.n + 1);
	*m = *like;
	m->fd = -1;
	m->checked_ms = now_ms();
	char *text = (char *)(m + 1);
	memcpy(text, path.s, path.n);
	m->path = str_n(text, path.n);
	m->next = *bucket;
	*bucket = m;
	p->nmodule++;
	return m;
}

static bool is_file(int fd, u64 ino)
{
	struct stat st;
	return !fstat(fd, &st) && st.st_ino == ino && S_ISREG(st.st_mode);
}

/* In the root of a process; -1: it is not there, or another file is. */
static int open_in_root(const struct procs *p, u32 pid, const struct module *m)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%.*s", STRF(m->path));
	int fd = proc_open_in_root(p->host, (int)pid, path);
	if (fd < 0 || is_file(fd, m->ino))
		return fd;
	close(fd);
	return -1;
}

/* One that lived for milliseconds has gone by now, but who started it mostly has the same root. */
static int open_by_relatives(const struct procs *p, u32 pid, const struct module *m)
{
	enum { GENERATIONS = 8 };
	int fd = -1;
	for (u32 i = 0; i < GENERATIONS && pid > 1 && fd < 0; i++) {
		const struct proc *x = procs_get(p, pid);
		fd = open_in_root(p, pid, m);
		pid = x ? x->parent : 0;
	}
	return fd;
}

/*
 * A file that its path does not lead to from here, or soon will not: other mounts, deleted. It is
 * opened while a process that maps it lives; its symbols are read when somebody asks.
 */
static void module_keep(struct procs *p, u32 pid, const struct area *a)
{
	char path[PATH_MAX + 64];
	struct module *m = a->module;
	if (!p->noted || !m || m->tried || !m->ino || p->nfd == MAX_KEPT_FILES)
		return;
	put_path(p, m, path, sizeof(path));
	if (!m->deleted && same_file(path, m)) {
		m->tried = true;
		m->born_ns = born_ns(AT_FDCWD, path);
		return;
	}
	proc_put(path, sizeof(path), p->host, (int)pid, "map_files/%llx-%llx", a->start, a->end);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && !is_file(fd, m->ino)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0 && !m->deleted)
		fd = open_by_relatives(p, pid, m);
	m->tried = fd >= 0;
	m->born_ns = fd >= 0 ? born_ns(fd, "") : 0;
	p->nfd += fd >= 0;
	m->fd = fd;
}

/* ---- spaces ---- */

static struct aspace *space_new(u64 since_ns)
{
	struct aspace *s = xcalloc(1, sizeof(*s));
	s->since_ns = since_ns;
	return s;
}

/* With those before it. */
static void space_free(struct procs *p, struct aspace *s)
{
	while (s) {
		struct aspace *older = s->older;
		if (!s->shared || !--*s->shared) {
			p->narea -= s->n;
			free(s->v);
			free(s->shared);
		}
		free(s);
		s = older;
	}
}

/* A child begins with what its parent has, and most children never change it. */
static void space_share(struct aspace *s, struct aspace *from)
{
	assert(!s->v);
	if (!from->n)
		return;
	if (!from->shared) {
		from->shared = xcalloc(1, sizeof(*from->shared));
		*from->shared = 1;
	}
	++*from->shared;
	s->shared = from->shared;
	s->v = from->v;
	s->n = from->n;
	s->cap = from->cap;
}

/* Before it changes. */
static void space_own(struct procs *p, struct aspace *s)
{
	if (!s->shared)
		return;
	if (--*s->shared) {
		const struct area *v = s->v;
		s->v = xmalloc(s->cap * sizeof(*v));
		memcpy(s->v, v, s->n * sizeof(*v));
		p->narea += s->n;
	} else {
		free(s->shared);
	}
	s->shared = NULL;
}

/* First area that ends behind addr. */
static u32 space_search(const struct aspace *s, u64 addr)
{
	u32 lo = 0, hi = s->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (s->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct area *space_at(const struct aspace *s, u64 addr)
{
	u32 i = space_search(s, addr);
	return i < s->n && s->v[i].start <= addr ? &s->v[i] : NULL;
}

static void insert(struct aspace *s, u32 at, struct area a)
{
	vec_add(s, a); /* makes room */
	memmove(&s->v[at + 1], &s->v[at], (s->n - 1 - at) * sizeof(a));
	s->v[at] = a;
}

/* What it overlaps is gone, as mmap() does it: of an area at an edge the rest stays. */
static void space_put(struct procs *p, struct aspace *s, struct area a)
{
	u32 at = space_search(s, a.start), to = at, before = s->n;
	if (s->n + 2 > MAX_SPACE)
		return;
	space_own(p, s);
	if (at < s->n && s->v[at].start < a.start) {
		struct area rest = s->v[at];
		s->v[at].end = a.start;
		to = ++at;
		if (rest.end > a.end) { /* it lies within: two rests */
			rest.off += a.end - rest.start;
			rest.start = a.end;
			insert(s, at, rest);
		}
	}
	while (to < s->n && s->v[to].end <= a.end)
		to++;
	if (to < s->n && s->v[to].start < a.end) {
		s->v[to].off += a.end - s->v[to].start;
		s->v[to].start = a.end;
	}
	if (to > at)
		memmove(&s->v[at], &s->v[to], (s->n - to) * sizeof(a));
	s->n -= to - at;
	insert(s, at, a);
	p->narea += s->n - before;
}

/* ---- the table ---- */

static void queue_remove(struct queue *q, struct proc *x)
{
	*(x->prev ? &x->prev->next : &q->first) = x->next;
	*(x->next ? &x->next->prev : &q->last) = x->prev;
	x->prev = x->next = NULL;
}

static void queue_add(struct queue *q, struct proc *x)
{
	x->prev = q->last;
	x->next = NULL;
	*(q->last ? &q->last->next : &q->first) = x;
	q->last = x;
}

static struct queue *queue_of(struct procs *p, const struct proc *x)
{
	return x->ended ? &p->ended : &p->alive;
}

struct proc *procs_get(const struct procs *p, u32 pid)
{
	struct proc *x = p->bucket[pid % PROC_BUCKETS];
	while (x && x->pid != pid)
		x = x->chain;
	return x;
}

static void proc_drop(struct procs *p, struct proc *x)
{
	struct proc **at = &p->bucket[x->pid % PROC_BUCKETS];
	while (*at != x)
		at = &(*at)->chain;
	*at = x->chain;
	queue_remove(queue_of(p, x), x);
	space_free(p, x->now);
	jit_free(p, x);
	free(x);
	p->n--;
}

void procs_free(struct procs *p)
{
	while (p->ended.first)
		proc_drop(p, p->ended.first);
	while (p->alive.first)
		proc_drop(p, p->alive.first);
	modules_sweep(p);
}

/* Make room; keep stays. */
static void procs_trim(struct procs *p, const struct proc *keep)
{
	while (p->n > MAX_PROCS || p->narea > MAX_AREAS) {
		struct proc *x = p->ended.first;
		if (!x || x == keep)
			x = x && x->next ? x->next : p->alive.first;
		if (x && x == keep)
			x = x->next;
		if (!x)
			break;
		proc_drop(p, x);
	}
	if (p->nmodule > MAX(p->sweep_at, MIN_SWEEP))
		modules_sweep(p);
}

static struct proc *proc_new(struct procs *p, u32 pid, u64 ns)
{
	struct proc *x = xcalloc(1, sizeof(*x));
	*x = (struct proc){.pid = pid, .born_ns = ns, .doubt = p->doubt, .now = space_new(ns)};
	x->chain = p->bucket[pid % PROC_BUCKETS];
	p->bucket[pid % PROC_BUCKETS] = x;
	queue_add(&p->alive, x);
	p->n++;
	procs_trim(p, x);
	return x;
}

/* s becomes its newest space. */
static void proc_push(struct procs *p, struct proc *x, struct aspace *s)
{
	u32 n = 1;
	s->older = x->now;
	x->now = s;
	if (s->older && !s->older->n) { /* nothing was known: not worth keeping */
		struct aspace *empty = s->older;
		s->older = empty->older;
		empty->older = NULL;
		space_free(p, empty);
	}
	for (struct aspace *old = s; old->older; old = old->older) {
		if (n++ == MAX_SPACES) {
			space_free(p, old->older);
			old->older = NULL;
			break;
		}
	}
}

/* ---- reading /proc ---- */

static void fill(struct procs *p, struct aspace *s, const struct maps *m)
{
	for (u32 i = 0; i < m->n && s->n < MAX_SPACE; i++) {
		const struct mapping *x = &m->v[i];
		const struct module like = {
			.dev = x->dev, .ino = x->ino, .path = x->path, .deleted = x->deleted};
		struct area a = {x->start, x->end, x->off, module_get(p, &like)};
		vec_add(s, a);
	}
	p->narea += s->n;
}

/* The same program as before, as far as one can see. */
static bool same_image(const struct aspace *a, const struct aspace *b)
{
	return !a->n || !b->n ||
	       (a->v[0].start == b->v[0].start && a->v[0].module == b->v[0].module);
}

struct proc *procs_read(struct procs *p, u32 pid)
{
	struct proc *x = procs_get(p, pid);
	struct maps m;
	u64 ns = now_ns();
	if (x && x->ended)
		return x;
	bool got = maps_read(p->host, pid, &m);
	if (x)
		x->read_ms = ns / 1000000;
	if (!got)
		return x;
	if (!x)
		x = proc_new(p, pid, ns);
	struct aspace *s = space_new(ns);
	s->from_ns = ns;
	fill(p, s, &m);
	maps_free(&m);
	if (same_image(s, x->now)) {
		struct aspace *old = x->now;
		s->from_ns = old->from_ns;
		s->older = old->older;
		old->older = NULL;
		x->now = s;
		space_free(p, old);
	} else {
		proc_push(p, x, s);
	}
	x->read_ms = ns / 1000000;
	x->doubt = p->doubt;
	for (u32 i = 0; i < s->n; i++)
		module_keep(p, pid, &s->v[i]);
	procs_trim(p, x);
	return x;
}

struct found {
	u32 pid;
	u64 ticks; /* of processor time, of all its threads */
};
typedef VEC(struct found) found_list;

/* False: it has no memory of its own, as those of the kernel. */
static bool read_ticks(struct procs *p, u32 pid, u64 *ret)
{
	enum { UTIME = 10, STIME, VSIZE = 19, FIELDS }; /* behind the name and the state */
	char path[PATH_MAX];
	AUTO_SB text = {0};
	u64 field[FIELDS] = {0};
	proc_put(path, sizeof(path), p->host, (int)pid, "stat");
	if (file_read(path, MAX_STAT, &text))
		return false;
	struct str all = sb_str(&text), rest, part;
	u32 name = all.n;
	while (name && all.s[name - 1] != ')')
		name--;
	rest = str_from(all, name);
	str_cut(&rest, ' ', &part);
	str_cut(&rest, ' ', &part); /* its state */
	for (u32 i = 0; i < FIELDS && str_cut(&rest, ' ', &part); i++)
		str_u64(part, &field[i]);
	*ret = field[UTIME] + field[STIME];
	return field[VSIZE] != 0;
}

static int by_ticks(const void *pa, const void *pb)
{
	const struct found *a = pa, *b = pb;
	return (a->ticks < b->ticks) - (a->ticks > b->ticks);
}

/* The busiest first: there may be more than there is time for. */
void procs_read_all(struct procs *p)
{
	u64 until = now_ms() + READ_ALL_MS, pid, ticks;
	found_list all = {0};
	DIR *d = proc_list(p->host);
	for (struct dirent *e; d && now_ms() < until && (e = readdir(d));)
		if (str_u64(str_z(e->d_name), &pid) && pid && pid <= INT32_MAX &&
		    (u64)getpid() != pid && read_ticks(p, (u32)pid, &ticks))
			vec_add(&all, (struct found){(u32)pid, ticks});
	if (d)
		closedir(d);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_ticks);
	for (u32 i = 0; i < all.n && now_ms() < until && p->n < MAX_PROCS / 2; i++)
		procs_read(p, all.v[i].pid);
	vec_free(&all);
}

/* Last number of the line that begins with key. */
static bool status_field(struct str text, const char *key, u32 word, u64 *ret)
{
	struct str line, part;
	while (str_cut(&text, '\n', &line)) {
		if (!str_starts(line, str_z(key)))
			continue;
		line = str_from(line, (u32)strlen(key));
		for (u32 i = 0; str_cut(&line, '\t', &part); i++)
			if (part.n && i <= word && !str_u64(part, ret))
				return false;
		return true;
	}
	return false;
}

bool procs_identify(struct procs *p, struct proc *x)
{
	enum { EFFECTIVE = 2 }; /* "Uid:\treal\teffective\t..." */
	char path[PATH_MAX];
	AUTO_SB text = {0};
	u64 uid, ns_pid = x->pid;
	if (x->id_known || x->ended)
		return x->id_known;
	proc_put(path, sizeof(path), p->host, (int)x->pid, "status");
	if (file_read(path, MAX_STATUS, &text) ||
	    !status_field(sb_str(&text), "Uid:", EFFECTIVE, &uid))
		return false;
	status_field(sb_str(&text), "NSpid:", UINT32_MAX, &ns_pid);
	x->uid = (u32)uid;
	x->ns_pid = (u32)ns_pid;
	return x->id_known = true;
}

/* ---- notes ---- */

static void note_map(struct procs *p, const struct mmap_event *n)
{
	struct proc *x = procs_get(p, n->pid);
	struct str path = n->path;
	bool deleted = str_ends(path, STR(" (deleted)"));
	if (deleted)
		path.n -= 10;
	if (!x)
		x = procs_read(p, n->pid);
	if (!x)
		x = proc_new(p, n->pid, n->ns);
	x->noted = true;
	if (n->ns < x->now->since_ns)
		return;
	const struct module like = {.dev = n->dev,
				    .ino = n->ino,
				    .generation = n->generation,
				    .path = path,
				    .deleted = deleted};
	struct area a = {n->start, n->end, n->off, module_get(p, &like)};
	if (maps_is_made(path))
		a.off = MAPS_MADE;
	space_put(p, x->now, a);
	if (a.module)
		module_keep(p, n->pid, &a);
	else
		procs_identify(p, x); /* it makes code: there may be a list of it */
	procs_trim(p, x);
}

static void note_exec(struct procs *p, const struct mmap_event *n)
{
	struct proc *x = procs_get(p, n->pid);
	if (!x)
		x = proc_new(p, n->pid, n->ns);
	if (n->ns < x->now->since_ns)
		return;
	if (x->ended) { /* the note of a fork was lost */
		proc_drop(p, x);
		x = proc_new(p, n->pid, n->ns);
	}
	proc_push(p, x, space_new(n->ns));
	x->now->from_ns = n->ns;
	jit_free(p, x);
	x->id_known = false;
	x->noted = true;
	x->doubt = p->doubt;
}

static void note_fork(struct procs *p, const struct mmap_event *n)
{
	struct proc *x = procs_get(p, n->pid), *from = procs_get(p, n->parent);
	if (x && x->born_ns > n->ns) /* late: more is known already */
		return;
	if (x)
		proc_drop(p, x);
	if (!from || from->doubt != p->doubt)
		from = procs_read(p, n->parent);
	x = proc_new(p, n->pid, n->ns);
	x->parent = n->parent;
	x->noted = true;
	from = procs_get(p, n->parent); /* making room may have dropped it */
	if (!from)
		return;
	space_share(x->now, from->now);
}

static void note_exit(struct procs *p, const struct mmap_event *n)
{
	struct proc *x = procs_get(p, n->pid);
	if (!x || x->ended || n->ns < x->born_ns)
		return;
	queue_remove(&p->alive, x);
	x->ended = true;
	queue_add(&p->ended, x);
}

/* Pid 0 or -1: a process that has no number here (another pid namespace). */
void procs_event(struct procs *p, const struct mmap_event *n)
{
	if (n->kind != MMAP_EVENT_LOST && (!n->pid || n->pid > INT32_MAX))
		return;
	switch (n->kind) {
	case MMAP_EVENT_MAP: note_map(p, n); break;
	case MMAP_EVENT_EXEC: note_exec(p, n); break;
	case MMAP_EVENT_FORK: note_fork(p, n); break;
	case MMAP_EVENT_EXIT: note_exit(p, n); break;
	case MMAP_EVENT_LOST: p->doubt++; break;
	}
}

/* ---- questions ---- */

static bool is_stale(const struct procs *p, const struct proc *x, u64 now)
{
	u64 age = now - x->read_ms;
	if (x->doubt != p->doubt)
		return age > RETRY_MS;
	return !p->all && !x->noted && age > REFRESH_MS;
}

const struct area *procs_at(struct procs *p, u32 pid, u64 addr, struct proc **proc)
{
	struct proc *x = procs_get(p, pid);
	u64 now = now_ms();
	if (!x || is_stale(p, x, now))
		x = procs_read(p, pid);
	*proc = x;
	if (!x)
		return NULL;
	if (!x->ended) { /* to the end of its queue */
		queue_remove(&p->alive, x);
		queue_add(&p->alive, x);
	}
	const struct area *a = space_at(x->now, addr);
	if (!a && now - x->read_ms > RETRY_MS) {
		x = procs_read(p, pid);
		a = space_at(x->now, addr);
	}
	for (const struct aspace *s = x->now->older; s && !a; s = s->older)
		a = space_at(s, addr);
	return a;
}

const struct area *proc_area(const struct proc *p, u64 ns, u64 addr)
{
	const struct aspace *s = p->now;
	while (s->from_ns > ns && s->older)
		s = s->older;
	return space_at(s, addr);
}

/* ---- files ---- */

/*
 * Where the mapped file can be opened now: by its name (with the plain name separate debug files
 * are found, too), as it was kept open, and while the process lives in its root or through the
 * mapping.
 */
bool area_paths(const struct host *h, const struct proc *p, const struct area *a, area_path_cb *cb,
		void *arg)
{
	char path[PATH_MAX + 64];
	const struct module *m = a->module;
	snprintf(path, sizeof(path), "%s%.*s", h->root, STRF(m->path));
	if (!m->deleted && same_file(path, m) && cb(arg, path))
		return true;
	if (m->fd >= 0) {
		proc_put_fd(path, sizeof(path), m->fd);
		if (cb(arg, path))
			return true;
	}
	if (p->ended)
		return false;
	proc_put(path, sizeof(path), h, (int)p->pid, "root%.*s", STRF(m->path));
	if (!m->deleted && same_file(path, m) && cb(arg, path))
		return true;
	char through[PATH_MAX + 64];
	proc_put(through, sizeof(through), h, (int)p->pid, "map_files/%llx-%llx", a->start, a->end);
	if (cb(arg, through))
		return true;
	if (!m->deleted && path_is_layered(path) && cb(arg, path))
		return true;
	proc_put(path, sizeof(path), h, (int)p->pid, "exe");
	return same_file(path, m) && cb(arg, path);
}

bool area_is_vdso(const struct area *a)
{
	return a->module && str_is(a->module->path, MAPS_VDSO);
}

/* The section headers come last in it. */
bool vdso_image(struct image *ret)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	if (!h)
		return false;
	struct err *e = image_mem(h, h->e_shoff + (size_t)h->e_shnum * h->e_shentsize, ret);
	err_free(e);
	return !e;
}
