/*
 * elf_ask.c - symbols of files as the sandbox reads them: what it is asked, how it answers, and what
 * becomes of the answer here.
 */
#include "base/alloc.h"
#include "base/pack.h"
#include "rights/sandbox.h"
#include "sym/batch.h"
#include <elf.h>
#include <sys/stat.h>

enum { MAX_SYMBOLS = 1 << 24, MAX_NAME = 1 << 20 };

static struct err *damaged(const char *path)
{
	return err_new("%s: its symbols make no sense", path);
}

/* ---- there ---- */

static struct err *answer_wanted(struct job *j)
{
	struct image im;
	struct debug_wanted w;
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	image_wanted(&im, &w);
	pack_u8(&j->out, elf_image_full(&im));
	sb_mem(&j->out, &w, sizeof(w));
	image_close(&im);
	return NULL;
}

static struct err *answer_same(struct job *j)
{
	struct image im;
	struct debug_wanted w = {0};
	const u8 *p = bytes_take(&j->args, sizeof(w));
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	if (p)
		memcpy(&w, p, sizeof(w));
	pack_u8(&j->out, image_is_wanted(&im, &w));
	image_close(&im);
	return NULL;
}

static void pack_facts(struct sb *b, const struct image *im)
{
	struct segment seg;
	struct bytes id = image_build_id(im);
	pack_u64(b, image_entry(im));
	pack_str(b, str_n((const char *)id.p, id.n));
	for (u32 i = 0; image_segment(im, i, &seg); i++)
		if (seg.type == PT_LOAD && seg.flags & PF_X) {
			pack_u8(b, 1);
			sb_mem(b, &seg, sizeof(seg));
		}
	pack_u8(b, 0);
}

static void pack_syms(struct sb *b, const struct elf_syms *e)
{
	pack_u8(b, e->packed);
	pack_u64(b, e->go_from);
	pack_u64(b, e->go_end);
	pack_u32(b, e->n);
	for (u32 i = 0; i < e->n; i++) {
		const struct symbol *s = &e->v[i];
		pack_str(b, s->name);
		pack_u64(b, s->addr);
		pack_u64(b, s->size);
		pack_u64(b, s->file_off);
		pack_u8(b, s->ifunc);
		pack_u8(b, s->rank);
	}
}

/* The file, and the one with what was stripped from it. */
struct pair {
	struct image im, room;
	const struct image *other; /* NULL: there is none */
};

static struct err *pair_map(const struct job *j, struct pair *p)
{
	p->other = NULL;
	struct err *e = image_map(&j->file[0], j->path, &p->im);
	if (e || j->nfile < 2)
		return e;
	struct err *no = image_map(&j->file[1], j->path, &p->room); /* it was one a moment ago */
	p->other = no ? NULL : &p->room;
	err_free(no);
	return NULL;
}

static void pair_close(struct pair *p)
{
	if (p->other)
		image_close(&p->room);
	image_close(&p->im);
}

static struct err *answer_syms(struct job *j)
{
	struct arena a = {0};
	struct pair p;
	struct elf_syms all;
	bool data = bytes_u8(&j->args);
	u32 most = bytes_u32(&j->args);
	struct err *e = pair_map(j, &p);
	if (e)
		return e;
	bool large = elf_image_most(&p.im, p.other) > most;
	pack_facts(&j->out, &p.im);
	pack_u8(&j->out, large);
	if (!large) {
		elf_image_syms(&a, &p.im, p.other, data, &all);
		pack_syms(&j->out, &all);
		arena_free(&a);
	}
	pair_close(&p);
	return NULL;
}

/* Each symbol once, with the number of addresses that it stands for; they are in order. */
struct telling {
	struct sb *out;
	size_t at; /* of that number in out */
	struct symbol last;
};

static void tell(void *arg, const struct symbol *sym)
{
	enum { MAX_TOLD = 32 << 20 }; /* bytes */
	static const struct symbol nothing;
	struct telling *t = arg;
	const struct symbol *s = sym && t->out->n < MAX_TOLD ? sym : &nothing;
	u32 n = 1;
	if (t->at && s->addr == t->last.addr && str_eq(s->name, t->last.name)) {
		memcpy(&n, t->out->s + t->at, sizeof(n));
		n++;
		memcpy(t->out->s + t->at, &n, sizeof(n));
		return;
	}
	t->last = *s;
	t->at = t->out->n;
	pack_u32(t->out, n);
	pack_str(t->out, s->name);
	pack_u64(t->out, s->addr);
	pack_u64(t->out, s->size);
}

static struct err *answer_names(struct job *j)
{
	struct pair p;
	struct batch names;
	u32 n = (u32)(j->args.n / sizeof(u64));
	struct telling t = {.out = &j->out};
	struct err *e = pair_map(j, &p);
	if (e)
		return e;
	AUTO_FREE u64 *addr = xmalloc(n * sizeof(u64) + 1);
	for (u32 i = 0; i < n; i++)
		addr[i] = bytes_u64(&j->args);
	batch_init(&names, addr, n);
	elf_image_names(&p.im, p.other, &names, tell, &t);
	batch_free(&names);
	pair_close(&p);
	return NULL;
}

static struct err *answer_versions(struct job *j)
{
	struct image im;
	struct symbol_version v[MAX_VERSIONS];
	struct str name = unpack_str(&j->args);
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	u32 n = elf_versions(&im, name, v, MAX_VERSIONS);
	pack_u32(&j->out, n);
	for (u32 i = 0; i < n; i++) {
		pack_str(&j->out, v[i].name);
		pack_u64(&j->out, v[i].addr);
		pack_u8(&j->out, v[i].is_default);
	}
	image_close(&im);
	return NULL;
}

/* A list that ends with an empty name. */
static bool tell_name(struct str name, void *arg)
{
	enum { MAX_TOLD = 32 << 20 }; /* bytes */
	struct sb *b = arg;
	if (name.n && name.n <= MAX_NAME)
		pack_str(b, name);
	return b->n < MAX_TOLD;
}

static struct err *answer_links(struct job *j)
{
	struct image im;
	struct section s;
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	pack_u8(&j->out, image_section_named(&im, ".go.buildinfo", &s));
	elf_each_import(&im, tell_name, &j->out);
	pack_str(&j->out, STR(""));
	elf_each_needed(&im, tell_name, &j->out);
	pack_str(&j->out, STR(""));
	image_close(&im);
	return NULL;
}

/* ---- here ---- */

static struct err *ask_one(struct host *h, const char *path, const struct image_file *f,
			   sandbox_fn *fn, struct str args, struct sb *out)
{
	struct question q = {.path = path, .file = {*f}, .nfile = 1, .args = args};
	return sandbox_ask(h, fn, &q, out);
}

static bool is_wanted(void *arg, const char *path, const struct debug_wanted *w)
{
	struct host *h = arg;
	struct image_file f;
	AUTO_SB out = {0};
	struct err *e = image_find(path, &f);
	if (!e) {
		e = ask_one(h, path, &f, answer_same, str_n((const char *)w, sizeof(*w)), &out);
		close(f.fd);
	}
	bool same = !e && out.n == 1 && out.s[0];
	sandbox_tell(h, e);
	err_free(e);
	return same;
}

char *elf_find_debug(struct host *h, const char *path, struct bytes *b)
{
	struct debug_wanted w;
	const u8 *p = bytes_take(b, sizeof(w));
	if (!p)
		return NULL;
	memcpy(&w, p, sizeof(w));
	if (w.nid > sizeof(w.id) || memchr(w.link, '/', sizeof(w.link)) ||
	    !memchr(w.link, 0, sizeof(w.link)))
		return NULL;
	return debug_file_find(&w, path, h->debug_dirs, is_wanted, h);
}

/* The file with the symbols that this one was stripped of; NULL: it has them, or there is none. */
static char *debug_path(struct host *h, const char *path, const struct image_file *f)
{
	AUTO_SB out = {0};
	struct err *e = ask_one(h, path, f, answer_wanted, STR(""), &out);
	struct bytes b = bytes_of(out.s, out.n);
	bool full = bytes_u8(&b);
	bool bad = e || full;
	sandbox_tell(h, e);
	err_free(e);
	return bad ? NULL : elf_find_debug(h, path, &b);
}

static struct err *ask_both(struct host *h, const char *path, sandbox_fn *fn, struct str args,
			    struct sb *out)
{
	struct question q = {.path = path, .nfile = 1, .args = args};
	struct err *e = image_find(path, &q.file[0]);
	if (e)
		return e;
	AUTO_FREE char *other = debug_path(h, path, &q.file[0]);
	struct err *none = other ? image_find(other, &q.file[1]) : NULL;
	q.nfile += other && !none;
	sandbox_tell(h, none);
	err_free(none);
	e = sandbox_ask(h, fn, &q, out);
	for (u32 i = 0; i < q.nfile; i++)
		close(q.file[i].fd);
	return e;
}

static void take_facts(struct bytes *b, struct arena *a, struct elf_facts *ret)
{
	AUTO_SB hex = {0};
	ret->entry = bytes_u64(b);
	struct str id = unpack_str(b);
	for (u32 i = 0; i < MIN(id.n, (u32)DEBUG_MAX_ID); i++)
		sb_fmt(&hex, "%02x", (u8)id.s[i]);
	ret->build_id = arena_str(a, sb_str(&hex));
	while (bytes_u8(b)) {
		const u8 *p = bytes_take(b, sizeof(struct segment));
		if (p && ret->nseg < ELF_SEGMENTS)
			memcpy(&ret->seg[ret->nseg++], p, sizeof(struct segment));
	}
}

static bool take_symbol(struct bytes *b, struct arena *a, struct symbol *s)
{
	struct str name = unpack_str(b);
	*s = (struct symbol){0};
	s->addr = bytes_u64(b);
	s->size = bytes_u64(b);
	s->file_off = bytes_u64(b);
	s->ifunc = bytes_u8(b) & 1;
	s->rank = bytes_u8(b);
	if (b->bad || name.n > MAX_NAME || memchr(name.s, 0, name.n))
		return false;
	s->name = arena_str(a, name);
	return true;
}

/* In the order of addresses, because they are searched by halves. */
static struct err *take_syms(struct bytes *b, struct arena *a, const char *path,
			     struct elf_syms *ret)
{
	enum { LEAST = 4 + 3 * 8 + 2 }; /* bytes of one */
	struct elf_syms e = {.packed = bytes_u8(b) & 1};
	e.go_from = bytes_u64(b);
	e.go_end = bytes_u64(b);
	e.n = bytes_u32(b);
	if (b->bad || e.n > MIN((b->n - b->at) / LEAST, (size_t)MAX_SYMBOLS))
		return damaged(path);
	e.v = arena_newn(a, struct symbol, e.n + 1);
	for (u32 i = 0; i < e.n; i++)
		if (!take_symbol(b, a, &e.v[i]) || (i && e.v[i].addr < e.v[i - 1].addr))
			return damaged(path);
	*ret = e;
	return NULL;
}

struct err *elf_take_answer(struct arena *a, struct bytes b, const char *path,
			    struct elf_facts *ret)
{
	*ret = (struct elf_facts){0};
	take_facts(&b, a, ret);
	ret->large = bytes_u8(&b) & 1;
	return ret->large && !b.bad ? NULL : take_syms(&b, a, path, &ret->syms);
}

static struct err *read_facts(struct host *h, struct arena *a, const char *path, bool data,
			      u32 most, struct elf_facts *ret)
{
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	pack_u8(&args, data);
	pack_u32(&args, most);
	struct err *e = ask_both(h, path, answer_syms, sb_str(&args), &out);
	return e ? e : elf_take_answer(a, bytes_of(out.s, out.n), path, ret);
}

struct err *elf_read(struct host *h, struct arena *a, const char *path, bool data,
		     struct elf_facts *ret)
{
	return read_facts(h, a, path, data, MAX_SYMBOLS, ret);
}

struct err *elf_read_some(struct host *h, struct arena *a, const char *path, u32 most,
			  struct elf_facts *ret)
{
	return read_facts(h, a, path, false, most, ret);
}

bool elf_take_names(struct bytes *b, struct arena *a, const struct symbol **of, u32 n)
{
	for (u32 i = 0; i < n;) {
		u32 times = bytes_u32(b);
		struct symbol *s = arena_new(a, struct symbol);
		struct str name = unpack_str(b);
		s->addr = bytes_u64(b);
		s->size = bytes_u64(b);
		if (b->bad || !times || times > n - i || name.n > MAX_NAME ||
		    memchr(name.s, 0, name.n))
			return false;
		s->name = arena_str(a, name);
		for (; times; times--)
			of[i++] = name.n ? s : NULL;
	}
	return true;
}

struct err *elf_read_names(struct host *h, struct arena *a, const char *path,
			   const struct addresses *v, const struct symbol **of)
{
	AUTO_SB out = {0};
	struct str args = str_n((const char *)v->v, v->n * sizeof(u64));
	struct err *e = ask_both(h, path, answer_names, args, &out);
	struct bytes b = bytes_of(out.s, out.n);
	if (!e && !elf_take_names(&b, a, of, v->n))
		e = damaged(path);
	return e;
}

struct err *elf_read_syms(struct host *h, struct arena *a, const char *path, struct elf_syms *ret)
{
	struct elf_facts f;
	struct err *e = elf_read(h, a, path, false, &f);
	if (!e)
		*ret = f.syms;
	return e;
}

/* ---- once for all the probes of a script ---- */

struct file_syms {
	const char *path;
	struct stat st;
	struct elf_syms syms;
	struct file_syms *next;
};

static bool is_unchanged(const struct file_syms *f, const char *path, const struct stat *st)
{
	return !strcmp(f->path, path) && f->st.st_ino == st->st_ino && f->st.st_dev == st->st_dev &&
	       f->st.st_size == st->st_size && f->st.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       f->st.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

struct err *elf_syms_of(struct host *h, const char *path, struct elf_syms *ret)
{
	struct stat st = {0};
	bool known = !stat(path, &st);
	for (const struct file_syms *f = h->file_syms; f && known; f = f->next)
		if (is_unchanged(f, path, &st)) {
			*ret = f->syms;
			return NULL;
		}
	struct file_syms *f = arena_new(h->arena, struct file_syms);
	struct err *e = elf_read_syms(h, h->arena, path, &f->syms);
	if (e)
		return e;
	f->path = arena_strz(h->arena, str_z(path));
	f->st = st;
	f->next = h->file_syms;
	h->file_syms = f;
	*ret = f->syms;
	return NULL;
}

u32 elf_versions_of(struct host *h, struct arena *a, const char *path, struct str symbol,
		    struct symbol_version *v)
{
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	struct image_file f;
	struct err *e = image_find(path, &f);
	pack_str(&args, symbol);
	if (!e) {
		e = ask_one(h, path, &f, answer_versions, sb_str(&args), &out);
		close(f.fd);
	}
	struct bytes b = bytes_of(out.s, out.n);
	u32 n = e ? 0 : bytes_u32(&b);
	n = MIN(n, (u32)MAX_VERSIONS);
	err_free(e);
	for (u32 i = 0; i < n; i++) {
		struct str name = unpack_str(&b);
		v[i] = (struct symbol_version){.name = arena_str(a, name), .addr = bytes_u64(&b)};
		v[i].is_default = bytes_u8(&b) & 1;
	}
	return b.bad ? 0 : n;
}

static bool take_names(struct bytes *b, struct arena *a, struct str **ret, u32 *n)
{
	struct bytes count = *b;
	u32 all = 0;
	while (unpack_str(&count).n)
		all++;
	*ret = arena_newn(a, struct str, all + 1);
	for (*n = 0; *n < all; ++*n) {
		struct str s = unpack_str(b);
		if (s.n > MAX_NAME || memchr(s.s, 0, s.n))
			return false;
		(*ret)[*n] = arena_str(a, s);
	}
	return !unpack_str(b).n && !b->bad;
}

bool elf_take_links(struct bytes *b, struct arena *a, struct elf_links *ret)
{
	*ret = (struct elf_links){.go = bytes_u8(b) & 1};
	return take_names(b, a, &ret->import, &ret->nimport) &&
	       take_names(b, a, &ret->needed, &ret->nneeded);
}

struct err *elf_links_of(struct host *h, struct arena *a, const char *path, struct elf_links *ret)
{
	AUTO_SB out = {0};
	struct image_file f;
	struct err *e = image_find(path, &f);
	if (e)
		return e;
	e = ask_one(h, path, &f, answer_links, STR(""), &out);
	close(f.fd);
	struct bytes b = bytes_of(out.s, out.n);
	return e ? e : elf_take_links(&b, a, ret) ? NULL : damaged(path);
}

struct err *elf_symbol(struct host *h, const char *path, struct str name, struct symbol *ret)
{
	struct arena a = {0};
	struct elf_facts f;
	struct symbol_version v[MAX_VERSIONS];
	struct err *e = elf_read(h, &a, path, true, &f);
	u32 n = e ? 0 : elf_versions_of(h, &a, path, name, v);
	const struct elf_syms *all = &f.syms;
	const struct symbol *sym = e ? NULL : elf_find(all, name);
	for (u32 i = 0; sym && i < all->n && elf_hidden(v, n, sym->addr); i++)
		if (str_eq(all->v[i].name, name) && !elf_hidden(v, n, all->v[i].addr))
			sym = &all->v[i];
	if (sym) {
		*ret = *sym;
		ret->name = name;
	} else if (!e) {
		e = err_new("%s has no symbol %.*s", path, STRF(name));
	}
	arena_free(&a);
	return e;
}
