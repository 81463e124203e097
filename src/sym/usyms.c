/* usyms.c - lookups: the file at an address (procs.c), the symbols of files (cached here). */
#include "sym/ksyms.h"
#include "sym/procs.h"
#include "types/image.h"
#include <elf.h>

enum {
	MAX_FILES = 256,
	MAX_CACHED_SYMS = 4 << 20, /* of all files: about 400 MB */
	MAX_SEGMENTS = 16,
};

struct file {
	u64 dev, ino, used;
	u32 tried_pid; /* through whose /proc it was looked for */
	bool loaded;
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
	struct procs procs;
	struct file *file[MAX_FILES];
	u32 nfile, nsym;
	struct arena names; /* demangled, of the last call */
};

void syms_init(struct host *h, bool demangle_names, struct syms **ret)
{
	struct syms *s = calloc(1, sizeof(*s));
	assert(s);
	s->host = s->procs.host = h;
	s->demangle = demangle_names;
	*ret = s;
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
	procs_free(&s->procs);
	for (u32 i = 0; i < s->nfile; i++)
		file_free(s, s->file[i]);
	ksyms_free(&s->ksyms);
	arena_free(&s->names);
	free(s);
}

static bool is_control(char c)
{
	return (u8)c < ' ' || c == 0x7f;
}

/* As it may be printed: files and lists of symbols can hold anything. */
static void show(struct syms *s, struct symbol *sym)
{
	bool bad = false;
	arena_reset(&s->names);
	char *plain = s->demangle ? demangle(&s->names, sym->name) : NULL;
	if (plain)
		sym->name = str_z(plain);
	for (u32 i = 0; i < sym->name.n; i++)
		bad |= is_control(sym->name.s[i]);
	if (!bad)
		return;
	plain = arena_strz(&s->names, sym->name);
	for (u32 i = 0; i < sym->name.n; i++)
		if (is_control(plain[i]))
			plain[i] = '?';
	sym->name.s = plain;
}

bool sym_kernel(struct syms *s, u64 addr, struct symbol *ret)
{
	if (!ksyms_at(&s->ksyms, s->host, addr, ret))
		return false;
	show(s, ret); /* Rust, in some kernels */
	return true;
}

bool sym_kernel_hidden(const struct syms *s)
{
	return s->ksyms.tried && !s->ksyms.n;
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

static void take_segments(struct file *f, const struct image *im)
{
	struct segment seg;
	for (u32 i = 0; f->nseg < MAX_SEGMENTS && image_segment(im, i, &seg); i++) {
		if (seg.type == PT_LOAD && seg.flags & PF_X)
			f->seg[f->nseg++] = seg;
	}
}

static bool load_file(void *file, const char *path)
{
	struct file *f = file;
	struct image im;
	struct err *err = image_open(path, &im);
	if (err) {
		err_free(err);
		return false;
	}
	take_segments(f, &im);
	image_close(&im);
	err = elf_read_syms(&f->arena, path, &f->syms);
	err_free(err);
	return true;
}

static bool load_vdso(struct file *f)
{
	struct image im;
	if (!vdso_image(&im))
		return false;
	take_segments(f, &im);
	err_free(elf_read_syms_mem(&f->arena, im.p, im.n, &f->syms));
	return true;
}

static bool find_and_load(struct syms *s, const struct proc *p, const struct area *a,
			  struct file *f)
{
	return area_is_vdso(a) ? load_vdso(f) : area_paths(s->host, p, a, load_file, f);
}

static struct file *file_get(struct syms *s, const struct proc *p, const struct area *a)
{
	struct file *f = NULL;
	for (u32 i = 0; i < s->nfile && !f; i++) {
		if (s->file[i]->ino == a->module->ino && s->file[i]->dev == a->module->dev)
			f = s->file[i];
	}
	if (!f) {
		f = calloc(1, sizeof(*f));
		assert(f);
		f->dev = a->module->dev;
		f->ino = a->module->ino;
		f->loaded = find_and_load(s, p, a, f);
		f->tried_pid = p->pid;
		file_add(s, f);
	} else if (!f->loaded && !p->ended && f->tried_pid != p->pid) {
		f->tried_pid = p->pid; /* this process may lead to it */
		f->loaded = find_and_load(s, p, a, f);
		s->nsym += f->syms.n;
	}
	f->used = ++s->clock;
	return f;
}

/* ---- processes ---- */

void sym_user_read(struct syms *s, u32 pid)
{
	procs_read(&s->procs, pid);
}

void sym_user_notes(struct syms *s, bool all)
{
	s->procs.noted = true;
	s->procs.all = all;
}

void sym_user_read_all(struct syms *s)
{
	procs_read_all(&s->procs);
}

void sym_user_note(struct syms *s, const struct map_note *n)
{
	procs_note(&s->procs, n);
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
	struct proc *proc;
	const struct area *a = procs_at(&s->procs, pid, addr, &proc);
	if (!a || !a->module) {
		if (!proc || !jit_at(&s->procs, proc, addr, ret))
			return false;
		show(s, ret);
		return true;
	}
	const struct file *f = file_get(s, proc, a);
	u64 off = addr - a->start + a->off, vaddr;
	struct symbol out = {
		.name = STR(""), .module = a->module->path, .file_off = off, .off = off};
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
