/*
 * jit.c - lines "START SIZE NAME", numbers hexadecimal, added by the runtime while it makes code.
 *
 * /tmp is everybody's: a list is believed only when it is a plain file that the process's user or
 * root owns. It is looked for in the process's own root, under the pid by which it knows itself.
 */
#include "base/vec.h"
#include "sym/procs.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

enum {
	MAX_LIST = 32 << 20,
	MAX_LISTS = 128 << 20, /* bytes of all processes' */
	MAX_SYMS = 1 << 19,
	LOOK_MS = 500, /* between two looks at a list */
	MAX_OVERLAP = 16,
};

struct jit_sym {
	u64 start, end;
	u32 order; /* of its line: code at the same place later replaces what was there */
	struct str name;
};
struct jit {
	struct jit_sym *v; /* by start, then order */
	u32 n;
	u64 looked_ms, size, changed_ns; /* of the list, as it was read */
	char *text;
	char path[40]; /* as the process sees it */
};

static int by_start(const void *pa, const void *pb)
{
	const struct jit_sym *a = pa, *b = pb;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static bool take_hex(struct str *s, u64 *ret)
{
	u64 v = 0;
	u32 i = 0;
	*s = str_trim(*s);
	if (str_starts(*s, STR("0x")))
		*s = str_from(*s, 2);
	for (; i < s->n && s->s[i] != ' '; i++) {
		char c = s->s[i];
		u32 digit = c >= '0' && c <= '9'   ? (u32)(c - '0')
			    : c >= 'a' && c <= 'f' ? (u32)(c - 'a') + 10
			    : c >= 'A' && c <= 'F' ? (u32)(c - 'A') + 10
						   : 16;
		if (digit > 15 || v >> 60)
			return false;
		v = v << 4 | digit;
	}
	*s = str_from(*s, i);
	*ret = v;
	return i > 0;
}

static void parse(struct jit *j, struct str text)
{
	VEC(struct jit_sym) v = {0};
	struct str line;
	while (v.n < MAX_SYMS && str_cut(&text, '\n', &line)) {
		struct jit_sym x = {.order = v.n};
		u64 size;
		if (!take_hex(&line, &x.start) || !take_hex(&line, &size))
			continue;
		x.name = str_trim(line);
		x.end = x.start + size;
		if (x.end > x.start && x.name.n)
			vec_add(&v, x);
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_start);
	free(j->v);
	j->v = v.v;
	j->n = v.n;
}

struct jit *jit_parse(struct str text)
{
	struct jit *j = calloc(1, sizeof(*j));
	if (!j)
		abort();
	j->text = malloc(text.n + 1ul);
	if (!j->text)
		abort();
	if (text.n)
		memcpy(j->text, text.s, text.n);
	parse(j, str_n(j->text, text.n));
	return j;
}

void jit_free(struct procs *p, struct jit *j)
{
	if (!j)
		return;
	if (p)
		p->jit_bytes -= j->size;
	free(j->v);
	free(j->text);
	free(j);
}

bool jit_find(const struct jit *j, u64 addr, struct symbol *ret)
{
	u32 lo = 0, hi = j->n;
	const struct jit_sym *best = NULL;
	while (lo < hi) { /* first that starts behind addr */
		u32 mid = lo + (hi - lo) / 2;
		if (j->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (u32 i = lo; i > 0 && lo - i < MAX_OVERLAP; i--) {
		const struct jit_sym *x = &j->v[i - 1];
		if (addr < x->end && (!best || x->order > best->order))
			best = x;
	}
	if (!best)
		return false;
	*ret = (struct symbol){.name = best->name,
			       .addr = best->start,
			       .off = addr - best->start,
			       .size = best->end - best->start,
			       .module = str_z(j->path)};
	return true;
}

/* ---- the file ---- */

static int open_list(const struct procs *p, const struct proc *x, const char *name)
{
	char root[PATH_MAX];
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			       .resolve = RESOLVE_IN_ROOT};
	if (x->ended)
		snprintf(root, sizeof(root), "%s/", p->host->root);
	else
		snprintf(root, sizeof(root), "%s/proc/%u/root", p->host->root, x->pid);
	int dir AUTO_CLOSE = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : (int)syscall(__NR_openat2, dir, name, &how, sizeof(how));
}

static bool is_trusted(const struct proc *x, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1 && !(st->st_mode & S_IWOTH) &&
	       (st->st_uid == 0 || (x->id_known && st->st_uid == x->uid));
}

static bool read_list(int fd, char *to, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = pread(fd, to + at, n - at, (off_t)at);
		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

static void refresh(struct procs *p, struct proc *x)
{
	struct jit *j = x->jit;
	struct stat st;
	int fd AUTO_CLOSE = open_list(p, x, j->path);
	if (fd < 0 || fstat(fd, &st) || !is_trusted(x, &st))
		return;
	u64 size = (u64)st.st_size,
	    changed_ns = (u64)st.st_mtim.tv_sec * 1000000000 + (u64)st.st_mtim.tv_nsec;
	if ((size == j->size && changed_ns == j->changed_ns) || size > MAX_LIST ||
	    p->jit_bytes - j->size + size > MAX_LISTS)
		return;
	char *text = malloc(size + 1);
	if (!text || !read_list(fd, text, size)) {
		free(text);
		return;
	}
	parse(j, str_n(text, size));
	free(j->text);
	j->text = text;
	p->jit_bytes += size - j->size;
	j->size = size;
	j->changed_ns = changed_ns;
}

bool jit_at(struct procs *p, struct proc *x, u64 addr, struct symbol *ret)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	u64 now = (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
	if (!x->jit) {
		procs_identify(p, x);
		x->jit = jit_parse(STR(""));
		snprintf(x->jit->path, sizeof(x->jit->path), "/tmp/perf-%u.map",
			 x->id_known ? x->ns_pid : x->pid);
	}
	if (jit_find(x->jit, addr, ret))
		return true;
	if (x->jit->looked_ms && now - x->jit->looked_ms < LOOK_MS)
		return false;
	x->jit->looked_ms = now;
	refresh(p, x);
	return jit_find(x->jit, addr, ret);
}
