/*
 * jit.c - the files of generated code (jit.h) of a process.
 *
 * Lists lie in /tmp, which is everybody's, and dumps lie where the runtime wants them. What is read
 * is looked at when it is open: a plain file that the process's user or root owns and nobody else
 * can write. Names are followed within the process's own root. A list is looked for under the pid by which
 * the process knows itself; a dump is the file that it maps.
 */
#include "sym/jit.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "proc/paths.h"
#include "rights/sandbox.h"
#include "sym/procs.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
	MAX_FILE = 256 << 20,
	MAX_BYTES = 32 << 20, /* of memory, of all processes */
	MAX_DUMPS = 4,        /* of a process: its own, and those of whom it was forked from */
	PART = 1 << 20,
	LOOK_MS = 500, /* between two looks at a file */
	PATH_TEXT = 256,
};

struct jit_file {
	u64 dev, ino, done, size, changed_ns; /* of the file, as it was read */
	struct codes codes;
	char path[PATH_TEXT]; /* as the process sees it */
};
struct jit {
	u64 looked_ms;
	bool final; /* looked at when the process had ended */
	u32 ndump;
	struct jit_file list, dump[MAX_DUMPS];
};

void jit_free(struct procs *p, struct proc *x)
{
	struct jit *j = x->jit;
	if (!j)
		return;
	for (u32 i = 0; i < j->ndump; i++) {
		p->jit_bytes -= j->dump[i].codes.bytes;
		codes_free(&j->dump[i].codes);
	}
	p->jit_bytes -= j->list.codes.bytes;
	codes_free(&j->list.codes);
	free(j);
	x->jit = NULL;
}

/* ---- opening ---- */

/* Among the processes of a container, under other numbers. */
static bool is_inside(const struct proc *x)
{
	return x->id_known && x->ns_pid != x->pid;
}

/* Of one that has ended: who started it mostly has the same root. */
static int open_root(struct procs *p, const struct proc *x)
{
	enum { GENERATIONS = 8 };
	char path[PATH_MAX];
	const struct proc *from = x;
	for (u32 i = 0; i < GENERATIONS && from; i++) {
		struct proc *up = from->parent ? procs_get(p, from->parent) : NULL;
		proc_put(path, sizeof(path), p->host, (int)from->pid, "root");
		int fd = from->ended ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		from = up && procs_identify(p, up) && is_inside(up) == is_inside(x) ? up : NULL;
	}
	snprintf(path, sizeof(path), "%s/", p->host->root);
	return is_inside(x) ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_in_root(struct procs *p, const struct proc *x, const char *name)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			       .resolve = RESOLVE_IN_ROOT};
	int dir AUTO_CLOSE = open_root(p, x);
	return dir < 0 ? -1 : (int)syscall(__NR_openat2, dir, name, &how, sizeof(how));
}

static bool is_trusted(int fd, const struct proc *x, struct stat *st)
{
	return !fstat(fd, st) && S_ISREG(st->st_mode) && st->st_nlink <= 1 &&
	       !(st->st_mode & S_IWOTH) && st->st_size <= MAX_FILE &&
	       (st->st_uid == 0 || (x->id_known && st->st_uid == x->uid));
}

/* The mapped file itself; what lies at its path may be another one by now. */
static int open_mapped(struct procs *p, const struct proc *x, const struct area *a)
{
	char path[PATH_MAX];
	struct stat st;
	const struct module *m = a->module;
	if (m->fd >= 0) {
		proc_put_fd(path, sizeof(path), m->fd);
		return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	snprintf(path, sizeof(path), "%.*s", STRF(m->path));
	int fd = open_in_root(p, x, path);
	if (fd >= 0 && !fstat(fd, &st) && st.st_ino == m->ino)
		return fd;
	if (fd >= 0)
		close(fd);
	proc_put(path, sizeof(path), p->host, (int)x->pid, "map_files/%llx-%llx", a->start, a->end);
	return x->ended ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* ---- reading, in the sandbox ---- */

enum { MAX_TOLD = 64 << 20 };
/* How far a file was read; what was found stands behind it in an answer. */
struct jit_state {
	u64 done, size;
	bool dump, begun, ended;
};

static u64 take_part(struct codes *c, bool dump, const char *part, size_t n)
{
	u64 done = dump ? codes_take_dump(c, part, n) : codes_take_lines(c, part, n);
	return !dump && !done && n == PART ? n : done; /* no name is so long */
}

static struct err *answer_codes(struct job *j)
{
	struct jit_state s = {0};
	const u8 *p = bytes_take(&j->args, sizeof(s));
	AUTO_SB told = {0};
	char *part AUTO_FREE = xmalloc(PART);
	if (p)
		memcpy(&s, p, sizeof(s));
	struct codes c = {.begun = s.begun, .ended = s.ended, .told = &told};
	while (s.done < s.size && told.n < MAX_TOLD) {
		ssize_t n = pread(j->file[0].fd, part, PART, (off_t)s.done);
		u64 done = n > 0 ? take_part(&c, s.dump, part, (size_t)n) : 0;
		if (!done)
			break;
		s.done = done > s.size - s.done ? s.size : s.done + done;
	}
	s.begun = c.begun;
	s.ended = c.ended;
	sb_mem(&j->out, &s, sizeof(s));
	sb_add(&j->out, sb_str(&told));
	codes_free(&c);
	return NULL;
}

/* From where the last reading ended. */
static void read_on(struct host *h, struct jit_file *f, int fd, bool dump)
{
	const struct jit_state was = {f->done, f->size, dump, f->codes.begun, f->codes.ended};
	struct question q = {.path = f->path,
			     .file = {{.fd = fd, .size = f->size, .ino = f->ino, .dev = f->dev}},
			     .nfile = 1,
			     .args = str_n((const char *)&was, sizeof(was))};
	AUTO_SB out = {0};
	struct jit_state now;
	struct err *e = sandbox_ask(h, answer_codes, &q, &out);
	bool ok = !e && out.n >= sizeof(now);
	err_free(e);
	if (!ok)
		return;
	struct bytes b = bytes_of(out.s, out.n);
	f->done = MIN(bytes_u64(&b), f->size);
	bytes_u64(&b);
	bytes_u8(&b);
	f->codes.begun = bytes_u8(&b) & 1;
	f->codes.ended = bytes_u8(&b) & 1;
	codes_take_told(&f->codes, bytes_of(out.s + sizeof(now), out.n - sizeof(now)));
	codes_sort(&f->codes);
}

static void refresh(struct procs *p, const struct proc *x, struct jit_file *s, int fd, bool dump)
{
	struct stat st;
	if (fd < 0 || !is_trusted(fd, x, &st))
		return;
	u64 size = (u64)st.st_size,
	    changed_ns = (u64)st.st_mtim.tv_sec * 1000000000 + (u64)st.st_mtim.tv_nsec;
	if (size == s->size && changed_ns == s->changed_ns && st.st_ino == s->ino)
		return;
	p->jit_bytes -= s->codes.bytes;
	if (st.st_ino != s->ino || size <= s->size) { /* written anew */
		codes_free(&s->codes);
		s->done = 0;
	}
	s->ino = st.st_ino;
	s->dev = st.st_dev;
	s->size = size;
	s->changed_ns = changed_ns;
	if (p->jit_bytes + s->codes.bytes < MAX_BYTES)
		read_on(p->host, s, fd, dump);
	p->jit_bytes += s->codes.bytes;
}

static bool is_dump(const struct module *m)
{
	u64 pid;
	struct str name = m->path;
	for (u32 i = name.n; i > 0; i--)
		if (name.s[i - 1] == '/') {
			name = str_from(name, i);
			break;
		}
	if (!str_starts(name, STR("jit-")) || !str_ends(name, STR(".dump")) || name.n < 10)
		return false;
	name = str_n(name.s + 4, name.n - 9);
	return str_u64(name, &pid);
}

static struct jit_file *dump_of(struct jit *j, const struct module *m)
{
	for (u32 i = 0; i < j->ndump; i++)
		if (str_eq(str_z(j->dump[i].path), m->path))
			return &j->dump[i];
	if (j->ndump == MAX_DUMPS || m->path.n >= PATH_TEXT)
		return NULL;
	struct jit_file *s = &j->dump[j->ndump++];
	memcpy(s->path, m->path.s, m->path.n);
	return s;
}

static void refresh_all(struct procs *p, struct proc *x)
{
	struct jit *j = x->jit;
	int list AUTO_CLOSE = open_in_root(p, x, j->list.path);
	refresh(p, x, &j->list, list, false);
	for (u32 i = 0; i < x->now->n; i++) {
		const struct area *a = &x->now->v[i];
		struct jit_file *s = a->module && is_dump(a->module) ? dump_of(j, a->module) : NULL;
		if (!s)
			continue;
		int fd AUTO_CLOSE = open_mapped(p, x, a);
		refresh(p, x, s, fd, true);
	}
}

static bool file_find(const struct jit_file *s, u64 addr, struct symbol *ret)
{
	if (!codes_find(&s->codes, addr, ret))
		return false;
	ret->module = str_z(s->path);
	ret->made = true;
	return true;
}

static bool find(const struct jit *j, u64 addr, struct symbol *ret)
{
	for (u32 i = 0; i < j->ndump; i++)
		if (file_find(&j->dump[i], addr, ret))
			return true;
	return file_find(&j->list, addr, ret);
}

bool jit_at(struct procs *p, struct proc *x, u64 addr, struct symbol *ret)
{
	u64 now = now_ns() / MILLI_NS;
	if (!x->jit) {
		procs_identify(p, x);
		x->jit = xcalloc(1, sizeof(*x->jit));
		snprintf(x->jit->list.path, PATH_TEXT, "/tmp/perf-%u.map",
			 x->id_known ? x->ns_pid : x->pid);
	}
	if (find(x->jit, addr, ret))
		return true;
	if (x->jit->looked_ms && now - x->jit->looked_ms < LOOK_MS && x->jit->final == x->ended)
		return false;
	x->jit->looked_ms = now;
	x->jit->final = x->ended;
	refresh_all(p, x);
	return find(x->jit, addr, ret);
}
