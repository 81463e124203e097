/*
 * usyms.c - lookups, with two caches: mappings by process, symbols by file.
 *
 * A process's mappings outlive it: stacks are often printed after it has gone.
 * They are read again when an address is in none of them, and now and then
 * because a pid may have been given to somebody else.
 */
#include "base/vec.h"
#include "sym/ksyms.h"
#include "sym/maps.h"
#include "types/image.h"
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

enum {
	MAX_PROCS = 1024,
	MAX_FILES = 256,
	MAX_CACHED_SYMS = 4 << 20, /* of all files: about 400 MB */
	MAX_SEGMENTS = 16,
	RETRY_MS = 100, /* an unknown address: look again, but not for each of a stack */
	REFRESH_MS = 2000,
};

struct proc {
	u32 pid;
	u64 used, read_ms;
	struct maps maps;
};

struct file {
	u64 dev, ino, used;
	struct arena arena;
	struct elf_syms syms;
	struct segment seg[MAX_SEGMENTS]; /* executable PT_LOADs */
	u32 nseg;
};

struct syms {
	struct host *host;
	bool demangle;
	u64 clock; /* counts uses: the smallest .used goes first */
	struct ksyms ksyms;
	struct proc *proc[MAX_PROCS];
	struct file *file[MAX_FILES];
	u32 nproc, nfile, nsym;
	struct arena names; /* demangled, of the last call */
};

void syms_init(struct host *h, bool demangle_names, struct syms **ret)
{
	struct syms *s = calloc(1, sizeof(*s));
	assert(s);
	s->host = h;
	s->demangle = demangle_names;
	*ret = s;
}

static void proc_free(struct proc *p)
{
	maps_free(&p->maps);
	free(p);
}

static void file_free(struct syms *s, struct file *f)
{
	s->nsym -= f->syms.n;
	arena_free(&f->arena);
	free(f);
}

void syms_free(struct syms *s)
{
	if (!s)
		return;
	for (u32 i = 0; i < s->nproc; i++)
		proc_free(s->proc[i]);
	for (u32 i = 0; i < s->nfile; i++)
		file_free(s, s->file[i]);
	ksyms_free(&s->ksyms);
	arena_free(&s->names);
	free(s);
}

static void show(struct syms *s, struct symbol *sym)
{
	arena_reset(&s->names);
	char *plain = s->demangle ? demangle(&s->names, sym->name) : NULL;
	if (plain)
		sym->name = str_z(plain);
}

bool sym_kernel(struct syms *s, u64 addr, struct symbol *ret)
{
	if (!ksyms_at(&s->ksyms, s->host, addr, ret))
		return false;
	show(s, ret); /* Rust, in some kernels */
	return true;
}

bool sym_kernel_addr(struct syms *s, struct str name, u64 *ret)
{
	return ksyms_addr(&s->ksyms, s->host, name, ret);
}

/* ---- files ---- */

static u32 oldest_file(const struct syms *s)
{
	u32 best = 0;
	for (u32 i = 1; i < s->nfile; i++) {
		if (s->file[i]->used < s->file[best]->used)
			best = i;
	}
	return best;
}

static void file_add(struct syms *s, struct file *f)
{
	s->nsym += f->syms.n;
	while (s->nfile && (s->nfile == MAX_FILES || s->nsym > MAX_CACHED_SYMS)) {
		u32 i = oldest_file(s);
		file_free(s, s->file[i]);
		s->file[i] = s->file[--s->nfile];
	}
	s->file[s->nfile++] = f;
}

static bool load_file(struct file *f, const char *path)
{
	struct image im;
	struct segment seg;
	struct err *err = image_open(path, &im);
	if (err) {
		err_free(err);
		return false;
	}
	for (u32 i = 0; f->nseg < MAX_SEGMENTS && image_segment(&im, i, &seg); i++) {
		if (seg.type == PT_LOAD && seg.flags & PF_X)
			f->seg[f->nseg++] = seg;
	}
	image_close(&im);
	err = elf_read_syms(&f->arena, path, &f->syms);
	err_free(err);
	return true;
}

static bool same_file(const char *path, const struct mapping *m)
{
	struct stat st;
	return !stat(path, &st) && st.st_ino == m->ino;
}

/* Where the mapped file can be opened now: by its name in the process's root, ours, or through the
 * mapping. */
static void find_and_load(struct syms *s, u32 pid, const struct mapping *m, struct file *f)
{
	char path[PATH_MAX + 64];
	const char *root = s->host->root;
	int n = (int)m->path.n;
	if (!m->deleted) {
		snprintf(path, sizeof(path), "%s/proc/%u/root%.*s", root, pid, n, m->path.s);
		/* With the plain name separate debug files are found, too. */
		char plain[PATH_MAX + 64];
		snprintf(plain, sizeof(plain), "%s%.*s", root, n, m->path.s);
		if ((same_file(plain, m) && load_file(f, plain)) || load_file(f, path))
			return;
	}
	snprintf(path, sizeof(path), "%s/proc/%u/map_files/%llx-%llx", root, pid, m->start, m->end);
	if (load_file(f, path))
		return;
	snprintf(path, sizeof(path), "%s/proc/%u/exe", root, pid);
	if (same_file(path, m))
		load_file(f, path);
}

static struct file *file_get(struct syms *s, u32 pid, const struct mapping *m)
{
	struct file *f = NULL;
	for (u32 i = 0; i < s->nfile && !f; i++) {
		if (s->file[i]->ino == m->ino && s->file[i]->dev == m->dev)
			f = s->file[i];
	}
	if (!f) {
		f = calloc(1, sizeof(*f));
		assert(f);
		f->dev = m->dev;
		f->ino = m->ino;
		find_and_load(s, pid, m, f); /* a failure is remembered as a file without symbols */
		file_add(s, f);
	}
	f->used = ++s->clock;
	return f;
}

/* ---- processes ---- */

static u64 now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

static struct proc *proc_find(struct syms *s, u32 pid)
{
	for (u32 i = 0; i < s->nproc; i++) {
		if (s->proc[i]->pid == pid)
			return s->proc[i];
	}
	return NULL;
}

static struct proc *proc_slot(struct syms *s)
{
	if (s->nproc < MAX_PROCS) {
		struct proc *p = calloc(1, sizeof(*p));
		assert(p);
		return s->proc[s->nproc++] = p;
	}
	struct proc *old = s->proc[0];
	for (u32 i = 1; i < s->nproc; i++) {
		if (s->proc[i]->used < old->used)
			old = s->proc[i];
	}
	maps_free(&old->maps);
	return old;
}

/* Read pid's mappings; what is known stays when it has ended. */
static struct proc *proc_read(struct syms *s, struct proc *p, u32 pid)
{
	struct maps m;
	u64 now = now_ms();
	bool got = maps_read(s->host, pid, &m);
	if (p)
		p->read_ms = now;
	if (!got)
		return p;
	if (p) {
		maps_free(&p->maps);
	} else {
		p = proc_slot(s);
	}
	*p = (struct proc){.pid = pid, .used = ++s->clock, .read_ms = now, .maps = m};
	return p;
}

void sym_user_note(struct syms *s, u32 pid)
{
	proc_read(s, proc_find(s, pid), pid);
}

static const struct mapping *find_mapping(struct syms *s, u32 pid, u64 addr)
{
	struct proc *p = proc_find(s, pid);
	if (!p || now_ms() - p->read_ms > REFRESH_MS)
		p = proc_read(s, p, pid);
	if (!p)
		return NULL;
	p->used = ++s->clock;
	const struct mapping *m = maps_at(&p->maps, addr);
	if (!m && now_ms() - p->read_ms > RETRY_MS) {
		p = proc_read(s, p, pid);
		m = maps_at(&p->maps, addr);
	}
	return m;
}

static bool to_vaddr(const struct file *f, u64 off, u64 *vaddr)
{
	for (u32 i = 0; i < f->nseg; i++) {
		const struct segment *g = &f->seg[i];
		/* A mapping is whole pages, a segment need not be. */
		if (off < (g->off & ~4095ull) || off >= ALIGN_UP(g->off + g->filesz, 4096))
			continue;
		*vaddr = off - g->off + g->addr;
		return true;
	}
	return false;
}

bool sym_user(struct syms *s, u32 pid, u64 addr, struct symbol *ret)
{
	const struct mapping *m = find_mapping(s, pid, addr);
	if (!m)
		return false;
	const struct file *f = file_get(s, pid, m);
	u64 off = addr - m->start + m->off, vaddr;
	struct symbol out = {.name = STR(""), .module = m->path, .file_off = off, .off = off};
	if (to_vaddr(f, off, &vaddr)) {
		const struct symbol *sym = elf_at(&f->syms, vaddr);
		out.off = vaddr;
		if (sym) {
			out.name = sym->name;
			out.addr = sym->addr;
			out.size = sym->size;
			out.off = vaddr - sym->addr;
		}
	}
	show(s, &out);
	*ret = out;
	return true;
}
