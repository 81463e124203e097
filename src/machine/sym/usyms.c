/*
 * usyms.c - lookups: the file at an address (procs.c), the symbols of files (cached here).
 *
 * A file with few functions is read whole. Of others only those are here that stand for an address
 * somebody asked about, so memory is by what is shown, not by what there is.
 */
#include "base/alloc.h"
#include "rights/sandbox.h"
#include "sym/ksyms.h"
#include "sym/lines.h"
#include "sym/procs.h"
#include "sym/symcache.h"
#include "types/image.h"
#include <elf.h>

enum {
	MAX_FILES = 256,
	MAX_WHOLE = 1 << 15,           /* functions of a file that is read whole */
	MAX_WHOLE_SYMS = 1 << 17,      /* of all such files: about 16 MB */
	MAX_SYMCACHE_BYTES = 16 << 20, /* of names of the others, before they are forgotten */
};

struct file {
	u64 dev, ino, born_ns, used;
	u32 tried_pid; /* through whose /proc it was looked for */
	bool loaded;
	struct host *host;
	struct arena arena;
	struct elf_facts is;
	struct symcache asked; /* of a large one */
	u32 by_pid;            /* who asked last, where: leads to the file */
	u64 by_addr;
	u32 most;
};

struct syms {
	struct host *host;
	bool demangle;
	u64 clock; /* counts uses: the smallest .used goes first */
	struct ksyms ksyms;
	struct procs procs;
	struct file *file[MAX_FILES];
	u32 nfile, nsym, nlarge;
	struct arena names;  /* demangled, of the last call */
	struct lines *lines; /* NULL: nobody asked */
};

void syms_init(struct host *h, bool demangle_names, struct syms **ret)
{
	struct syms *s = xcalloc(1, sizeof(*s));
	assert(s);
	s->host = s->procs.host = h;
	s->demangle = demangle_names;
	*ret = s;
}

static void file_free(struct syms *s, struct file *f)
{
	s->nsym -= f->is.syms.n;
	s->nlarge -= f->is.large;
	symcache_free(&f->asked);
	arena_free(&f->arena);
	free(f);
}

void syms_free(struct syms *s)
{
	if (!s)
		return;
	procs_free(&s->procs);
	lines_free(s->lines);
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
static struct str printable(struct syms *s, struct str name)
{
	bool bad = false;
	char *plain = s->demangle ? demangle(&s->names, name) : NULL;
	if (plain)
		name = str_z(plain);
	for (u32 i = 0; i < name.n; i++)
		bad |= is_control(name.s[i]);
	if (!bad)
		return name;
	plain = arena_strz(&s->names, name);
	for (u32 i = 0; i < name.n; i++)
		if (is_control(plain[i]))
			plain[i] = '?';
	return str_n(plain, name.n);
}

static void show(struct syms *s, struct symbol *sym)
{
	arena_reset(&s->names);
	sym->name = printable(s, sym->name);
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
	if (s->nfile == MAX_FILES) {
		u32 i = oldest_file(s);
		file_free(s, s->file[i]);
		s->file[i] = s->file[--s->nfile];
	}
	s->file[s->nfile++] = f;
}

static bool load_file(void *file, const char *path)
{
	struct file *f = file;
	struct err *err = elf_read_some(f->host, &f->arena, path, f->most, &f->is);
	sandbox_tell(f->host, err);
	err_free(err);
	return !err;
}

/* The kernel's own file. */
static bool load_vdso(struct file *f)
{
	struct image im;
	struct segment seg;
	if (!vdso_image(&im))
		return false;
	for (u32 i = 0; f->is.nseg < ELF_SEGMENTS && image_segment(&im, i, &seg); i++)
		if (seg.type == PT_LOAD && seg.flags & PF_X)
			f->is.seg[f->is.nseg++] = seg;
	f->is.entry = image_entry(&im);
	elf_image_syms(&f->arena, &im, NULL, false, &f->is.syms);
	return true;
}

/* When others take the room, it is asked for addresses, however small it is. */
static bool find_and_load(struct syms *s, const struct proc *p, const struct area *a,
			  struct file *f)
{
	f->most = MIN((u32)MAX_WHOLE, s->nsym < MAX_WHOLE_SYMS ? MAX_WHOLE_SYMS - s->nsym : 0);
	bool ok = area_is_vdso(a) ? load_vdso(f) : area_paths(s->host, p, a, load_file, f);
	s->nsym += f->is.syms.n;
	s->nlarge += f->is.large;
	return ok;
}

static struct file *file_get(struct syms *s, const struct proc *p, const struct area *a)
{
	struct file *f = NULL;
	for (u32 i = 0; i < s->nfile && !f; i++) {
		if (s->file[i]->ino == a->module->ino && s->file[i]->dev == a->module->dev &&
		    s->file[i]->born_ns == a->module->born_ns)
			f = s->file[i];
	}
	if (!f) {
		f = xcalloc(1, sizeof(*f));
		assert(f);
		f->dev = a->module->dev;
		f->ino = a->module->ino;
		f->born_ns = a->module->born_ns;
		f->host = s->host;
		f->loaded = find_and_load(s, p, a, f);
		f->tried_pid = p->pid;
		file_add(s, f);
	} else if (!f->loaded && !p->ended && f->tried_pid != p->pid) {
		f->tried_pid = p->pid; /* this process may lead to it */
		f->loaded = find_and_load(s, p, a, f);
	}
	f->used = ++s->clock;
	return f;
}

/* ---- names of large files ---- */

static bool ask_file(void *file, const char *path)
{
	struct file *f = file;
	struct err *e = symcache_read(&f->asked, f->host, path);
	sandbox_tell(f->host, e);
	err_free(e);
	return !e;
}

static void read_wanted(struct syms *s, struct file *f)
{
	struct proc *p;
	const struct area *a = procs_at(&s->procs, f->by_pid, f->by_addr, &p);
	if (!a || !a->module || !area_paths(s->host, p, a, ask_file, f))
		symcache_give_up(&f->asked);
}

static void want(struct file *f, u32 pid, u64 addr, u64 vaddr)
{
	symcache_want(&f->asked, vaddr);
	f->by_pid = pid;
	f->by_addr = addr;
}

bool sym_user_gains(const struct syms *s)
{
	return s->nlarge;
}

static void forget_beyond(struct syms *s, size_t most)
{
	size_t bytes = 0;
	for (u32 i = 0; i < s->nfile; i++)
		bytes += symcache_bytes(&s->file[i]->asked);
	for (u32 i = 0; i < s->nfile && bytes > most; i++)
		symcache_forget(&s->file[i]->asked);
}

void sym_user_expected(struct syms *s)
{
	forget_beyond(s, MAX_SYMCACHE_BYTES);
	for (u32 i = 0; i < s->nfile; i++)
		if (symcache_wants(&s->file[i]->asked))
			read_wanted(s, s->file[i]);
}

/* Its symbol, by one question if nobody expected it. */
static const struct symbol *symbol_at(struct syms *s, struct file *f, u32 pid, u64 addr, u64 vaddr)
{
	const struct symbol *sym;
	if (!f->is.large)
		return elf_at(&f->is.syms, vaddr);
	if (symcache_get(&f->asked, vaddr, &sym))
		return sym;
	forget_beyond(s, 2 * MAX_SYMCACHE_BYTES); /* rather not what was expected a moment ago */
	want(f, pid, addr, vaddr);
	read_wanted(s, f);
	return symcache_get(&f->asked, vaddr, &sym) ? sym : NULL;
}

/* ---- processes ---- */

void sym_user_read(struct syms *s, u32 pid)
{
	procs_read(&s->procs, pid);
}

void sym_user_events(struct syms *s, bool all)
{
	s->procs.noted = true;
	s->procs.all = all;
}

u32 sym_user_read_all(struct syms *s)
{
	procs_read_all(&s->procs);
	return s->procs.n;
}

struct procs *sym_procs(struct syms *s)
{
	return &s->procs;
}

void sym_user_event(struct syms *s, const struct mmap_event *n)
{
	procs_event(&s->procs, n);
}

static bool to_vaddr(const struct syms *s, const struct file *f, u64 off, u64 *vaddr)
{
	for (u32 i = 0; i < f->is.nseg; i++) {
		const struct segment *g = &f->is.seg[i];
		if (!segment_maps(g, off, s->host->page_size))
			continue;
		*vaddr = off - g->off + g->addr;
		return true;
	}
	return false;
}

/* Every stack begins there, but few files keep a name for it. */
static bool at_entry(const struct file *f, u64 vaddr)
{
	enum { ENTRY_BYTES = 128 };
	return f->is.entry && vaddr >= f->is.entry && vaddr - f->is.entry < ENTRY_BYTES;
}

void sym_user_expect(struct syms *s, u32 pid, u64 addr)
{
	struct proc *proc;
	u64 vaddr;
	const struct symbol *sym;
	const struct area *a = procs_at(&s->procs, pid, addr, &proc);
	struct file *f = a && a->module ? file_get(s, proc, a) : NULL;
	if (f && f->is.large && to_vaddr(s, f, addr - a->start + a->off, &vaddr) &&
	    !symcache_get(&f->asked, vaddr, &sym))
		want(f, pid, addr, vaddr);
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
	struct file *f = file_get(s, proc, a);
	u64 off = addr - a->start + a->off, vaddr;
	struct symbol out = {.name = STR(""),
			     .module = a->module->path,
			     .file_off = off,
			     .off = off,
			     .build_id = f->is.build_id};
	if (to_vaddr(s, f, off, &vaddr)) {
		const struct symbol *sym = symbol_at(s, f, pid, addr, vaddr);
		out.off = vaddr;
		if (sym) {
			out.name = sym->name;
			out.addr = sym->addr;
			out.size = sym->size;
			out.off = vaddr - sym->addr;
		} else if (at_entry(f, vaddr)) {
			out.name = STR("_start");
			out.addr = f->is.entry;
			out.off = vaddr - f->is.entry;
		}
	}
	show(s, &out);
	*ret = out;
	return true;
}

u32 sym_user_source(struct syms *s, u32 pid, u64 addr, bool call, struct source_frame *v, u32 max)
{
	struct proc *proc;
	const struct debug_frame *from;
	u64 vaddr, at = addr - call;
	const struct area *a = procs_at(&s->procs, pid, at, &proc);
	if (!a || !a->module)
		return 0;
	if (!s->lines)
		s->lines = lines_new(s->host);
	const struct file *f = file_get(s, proc, a);
	if (!to_vaddr(s, f, at - a->start + a->off, &vaddr))
		return 0;
	u32 n = MIN(lines_at(s->lines, proc, a, vaddr, &from), max);
	arena_reset(&s->names);
	for (u32 i = 0; i < n; i++)
		v[i] = (struct source_frame){.name = printable(s, from[i].name),
					     .source = printable(s, from[i].source),
					     .line = from[i].line,
					     .inlined = from[i].inlined};
	return n;
}
