/*
 * elf.c - function symbols of an ELF file.
 *
 * .symtab and .dynsym are read together and doubles dropped. A stripped file's
 * .symtab may lie in a file of its own (elf_ask.c) or packed in
 * .gnu_debugdata; its addresses are the same, its file offsets are not. Go's
 * programs have a table of their own in any case (gopcln.h).
 */
#include "base/alloc.h"
#include "base/vec.h"
#include "rights/image_ask.h"
#include "sym/batch.h"
#include "sym/gopcln.h"
#include "sym/sym.h"
#include "types/image.h"
#include <elf.h>

/* liblzma's, where sonde is linked with it; else NULL. */
__attribute__((weak)) int lzma_stream_buffer_decode(u64 *memlimit, u32 flags, const void *allocator,
						    const u8 *in, size_t *in_pos, size_t in_size,
						    u8 *out, size_t *out_pos, size_t out_size);

enum { MAX_SYMS = 1 << 22, MAX_TABLES = 8 };

typedef VEC(struct symbol) sym_vec;

struct reader {
	const struct image *im;   /* whose tables are read */
	const struct image *main; /* whose segments say where the code is */
	struct arena *arena;
	bool data;           /* variables, too */
	struct batch *names; /* only of what is at these addresses; NULL: all */
	u8 *unpacked;        /* .gnu_debugdata */
	sym_vec v;
};

struct entry {
	u32 name;
	u8 info;
	u16 shndx;
	u64 addr, size;
};

static struct entry read_entry(const struct image *im, struct bytes *b)
{
	struct entry e = {.name = bytes_u32(b)};
	if (im->is64) {
		e.info = bytes_u8(b);
		bytes_u8(b);
		e.shndx = bytes_u16(b);
		e.addr = bytes_u64(b);
		e.size = bytes_u64(b);
	} else {
		e.addr = bytes_u32(b);
		e.size = bytes_u32(b);
		e.info = bytes_u8(b);
		bytes_u8(b);
		e.shndx = bytes_u16(b);
	}
	return e;
}

static bool is_function(const struct entry *e)
{
	u32 type = ELF64_ST_TYPE(e->info);
	return (type == STT_FUNC || type == STT_GNU_IFUNC) && e->shndx != SHN_UNDEF && e->addr;
}

static bool is_data(const struct entry *e)
{
	u32 type = ELF64_ST_TYPE(e->info);
	return (type == STT_OBJECT || type == STT_NOTYPE) && e->shndx != SHN_UNDEF &&
	       e->shndx < SHN_LORESERVE && e->addr;
}

/* Public names first; "__GI_" is how the C library calls its own copies of them. */
static u8 rank(const struct entry *e, struct str name)
{
	u32 bind = ELF64_ST_BIND(e->info);
	if (str_starts(name, STR("__GI_")))
		return 3;
	return bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
}

static struct str without_version(struct str s) /* memcpy@@GLIBC_2.14 */
{
	i32 at = str_chr(s, '@');
	return at > 0 ? (struct str){s.s, (u32)at} : s;
}

static void take(struct reader *r, struct symbol s)
{
	if (r->names)
		batch_offer(r->names, &s);
	else
		vec_add(&r->v, s);
}

static void read_table(struct reader *r, const struct section *tab)
{
	struct section strs;
	if (!image_section(r->im, tab->link, &strs))
		return;
	struct bytes b = image_bytes(r->im, tab), names = image_bytes(r->im, &strs);
	while (b.at < b.n && r->v.n < MAX_SYMS) {
		struct entry e = read_entry(r->im, &b);
		if (b.bad)
			return;
		if (!is_function(&e) && !(r->data && is_data(&e)))
			continue;
		if (r->names && !batch_cares(r->names, e.addr, e.size))
			continue;
		struct bytes name = names;
		bytes_seek(&name, e.name);
		const char *z = bytes_z(&name);
		struct str s = z ? without_version(str_z(z)) : STR("");
		if (s.n)
			take(r, (struct symbol){.name = s,
						.addr = e.addr,
						.size = e.size,
						.ifunc = ELF64_ST_TYPE(e.info) == STT_GNU_IFUNC,
						.rank = rank(&e, s)});
	}
}

static bool read_tables(struct reader *r, u32 type)
{
	struct section s;
	u32 n = 0;
	for (u32 i = 0; n < MAX_TABLES && image_section(r->im, i, &s); i++) {
		if (s.type != type || !s.size || image_bytes(r->im, &s).n == 0)
			continue;
		read_table(r, &s);
		n++;
	}
	return n > 0;
}

static bool find_type(const struct image *im, u32 type, struct section *ret)
{
	for (u32 i = 0; image_section(im, i, ret); i++)
		if (ret->type == type)
			return true;
	return false;
}

static int by_addr(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return str_cmp(a->name, b->name);
}

/* Sort, drop doubles, and copy: the names still lie in a mapping that will go. */
static void finish(struct reader *r, struct elf_syms *ret)
{
	u32 n = 0;
	if (r->v.n)
		qsort(r->v.v, r->v.n, sizeof(*r->v.v), by_addr);
	for (u32 i = 0; i < r->v.n; i++) {
		struct symbol *s = &r->v.v[i], *last = n ? &r->v.v[n - 1] : NULL;
		if (last && last->addr == s->addr && str_eq(last->name, s->name)) {
			last->size = MAX(last->size, s->size);
			last->rank = MIN(last->rank, s->rank);
			last->ifunc |= s->ifunc;
		} else {
			r->v.v[n++] = *s;
		}
	}
	struct symbol *v = arena_newn(r->arena, struct symbol, n + 1);
	for (u32 i = 0; i < n; i++) {
		v[i] = r->v.v[i];
		v[i].name = arena_str(r->arena, v[i].name);
		if (!image_offset(r->main, v[i].addr, &v[i].file_off))
			v[i].file_off = 0;
	}
	vec_free(&r->v);
	*ret = (struct elf_syms){.v = v, .n = n};
}

/* ---- symbols in a file of their own ---- */

static void read_other(struct reader *r, const struct image *other)
{
	r->im = other;
	read_tables(r, SHT_SYMTAB);
	r->im = r->main;
}

/* The whole of a packed file: it ends as they do. Of one that is cut, liblzma says that there was no room. */
static bool is_whole(struct bytes in)
{
	enum { LEAST = 32 };            /* header, index, footer */
	while (in.n && !in.p[in.n - 1]) /* padding */
		in.n--;
	return in.n >= LEAST && !memcmp(in.p + in.n - 2, "YZ", 2);
}

/*
 * .gnu_debugdata: an ELF file with the symbols that are not dynamic, packed by xz. False: it is
 * there and could not be read.
 */
static bool read_packed(struct reader *r)
{
	enum { MAX_UNPACKED = 256 << 20, LZMA_BUF_ERROR = 10 };
	struct section s;
	struct image im;
	if (!image_section_named(r->main, ".gnu_debugdata", &s))
		return true;
	struct bytes in = image_bytes(r->main, &s);
	int rc = lzma_stream_buffer_decode && is_whole(in) ? LZMA_BUF_ERROR : -1;
	size_t n = 0;
	for (size_t room = MAX(in.n * 8, 4096ul); rc == LZMA_BUF_ERROR && room <= MAX_UNPACKED;
	     room *= 2) {
		u64 memory = MAX_UNPACKED;
		size_t from = 0;
		free(r->unpacked);
		r->unpacked = xmalloc(room);
		n = 0;
		rc = lzma_stream_buffer_decode(&memory, 0, NULL, in.p, &from, in.n, r->unpacked, &n,
					       room);
	}
	struct err *e = rc ? err_new("not unpacked") : image_mem(r->unpacked, n, &im);
	if (!e)
		read_other(r, &im);
	bool ok = !e;
	err_free(e);
	return ok;
}

/* Functions are padded with int3 up to the next one. */
static u64 without_padding(const struct image *im, const struct go_func *fn)
{
	enum { INT3 = 0xcc };
	u64 off, n = fn->size;
	if ((im->machine != EM_X86_64 && im->machine != EM_386) ||
	    !image_offset(im, fn->addr, &off) || off > im->n || n > im->n - off)
		return n;
	while (n > 1 && im->p[off + n - 1] == INT3)
		n--;
	return n;
}

static void read_go(struct reader *r, const struct gopcln *g)
{
	struct go_func fn;
	for (u32 i = 0; i < g->n && r->v.n < MAX_SYMS; i++)
		if (gopcln_at(g, i, &fn))
			take(r, (struct symbol){.name = fn.name,
						.addr = fn.addr,
						.size = without_padding(r->im, &fn)});
}

/* All sources of names; gives whether .gnu_debugdata is one that could not be read. */
static bool read_all(struct reader *r, const struct image *other, struct gopcln *go)
{
	bool full = read_tables(r, SHT_SYMTAB), packed = false;
	read_tables(r, SHT_DYNSYM);
	if (!full && other) {
		read_other(r, other);
	} else if (!full) {
		packed = !read_packed(r);
		if (gopcln_find(r->im, go))
			read_go(r, go);
	}
	return packed;
}

void elf_image_syms(struct arena *a, const struct image *im, const struct image *other, bool data,
		    struct elf_syms *ret)
{
	struct reader r = {.im = im, .main = im, .arena = a, .data = data};
	struct gopcln go = {0};
	bool packed = read_all(&r, other, &go);
	finish(&r, ret);
	free(r.unpacked);
	ret->packed = packed;
	ret->go_from = go.from;
	ret->go_end = go.end;
}

void elf_image_names(const struct image *im, const struct image *other, struct batch *names,
		     batch_cb *cb, void *arg)
{
	struct reader r = {.im = im, .main = im, .names = names};
	struct gopcln go = {0};
	read_all(&r, other, &go);
	batch_end(names, cb, arg);
	free(r.unpacked);
}

static u64 entries(const struct image *im, u32 type)
{
	struct section s;
	u64 n = 0;
	for (u32 i = 0; image_section(im, i, &s); i++)
		if (s.type == type)
			n += image_bytes(im, &s).n /
			     (im->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	return n;
}

u64 elf_image_most(const struct image *im, const struct image *other)
{
	struct gopcln go = {0};
	u64 n = entries(im, SHT_SYMTAB), more = entries(im, SHT_DYNSYM);
	if (!n && other)
		n = entries(other, SHT_SYMTAB);
	else if (!n && gopcln_find(im, &go))
		n = go.n;
	return n + more;
}

bool elf_image_full(const struct image *im)
{
	struct section s;
	for (u32 i = 0; image_section(im, i, &s); i++)
		if (s.type == SHT_SYMTAB && s.size && image_bytes(im, &s).n)
			return true;
	return false;
}

struct err *elf_read_syms_mem(struct arena *a, const void *p, size_t n, struct elf_syms *ret)
{
	struct image im;
	struct err *err = image_mem(p, n, &im);
	if (!err)
		elf_image_syms(a, &im, NULL, false, ret);
	return err;
}

/* ---- versions ---- */

/* The version that .gnu.version_d defines by this number; "": none, or the file's own name. */
static struct str version_name(const struct image *im, u32 number)
{
	struct section defs, strs;
	u64 at = 0, next = 1;
	if (!find_type(im, SHT_GNU_verdef, &defs) || !image_section(im, defs.link, &strs))
		return STR("");
	for (; next; at += next) {
		struct bytes b = image_bytes(im, &defs), names = image_bytes(im, &strs);
		bytes_seek(&b, at);
		bytes_u16(&b);
		u32 flags = bytes_u16(&b), index = bytes_u16(&b);
		bytes_u16(&b);
		bytes_u32(&b);
		u32 aux = bytes_u32(&b);
		next = bytes_u32(&b);
		if (b.bad)
			break;
		if (index != number)
			continue;
		bytes_seek(&b, at + aux);
		bytes_seek(&names, bytes_u32(&b));
		const char *z = b.bad ? NULL : bytes_z(&names);
		return z && !(flags & VER_FLG_BASE) ? str_z(z) : STR("");
	}
	return STR("");
}

u32 elf_versions(const struct image *im, struct str symbol, struct symbol_version *v, u32 max)
{
	enum { HIDDEN = 0x8000 };
	struct section tab, strs, vers;
	u32 n = 0;
	if (!find_type(im, SHT_DYNSYM, &tab) || !image_section(im, tab.link, &strs) ||
	    !find_type(im, SHT_GNU_versym, &vers))
		return 0;
	struct bytes b = image_bytes(im, &tab), numbers = image_bytes(im, &vers);
	while (n < max && b.at < b.n) {
		struct entry e = read_entry(im, &b);
		u32 number = bytes_u16(&numbers);
		struct bytes at = image_bytes(im, &strs);
		bytes_seek(&at, e.name);
		const char *z = bytes_z(&at);
		if (b.bad || numbers.bad)
			break;
		if (!z || e.shndx == SHN_UNDEF || !str_is(symbol, z))
			continue;
		struct str name = version_name(im, number & ~HIDDEN);
		if (name.n)
			v[n++] = (struct symbol_version){name, e.addr, !(number & HIDDEN)};
	}
	return n;
}

bool elf_hidden(const struct symbol_version *v, u32 n, u64 addr)
{
	bool other = false, here = false;
	for (u32 i = 0; i < n; i++) {
		if (v[i].is_default && v[i].addr == addr)
			return false;
		other |= v[i].is_default;
		here |= v[i].addr == addr;
	}
	return here && other;
}

void elf_each_import(const struct image *im, elf_name_cb *cb, void *arg)
{
	struct section tab, strs;
	for (u32 i = 0; image_section(im, i, &tab); i++) {
		if (tab.type != SHT_DYNSYM || !image_section(im, tab.link, &strs))
			continue;
		struct bytes b = image_bytes(im, &tab), names = image_bytes(im, &strs);
		while (b.at < b.n && !b.bad) {
			struct entry e = read_entry(im, &b);
			struct bytes at = names;
			bytes_seek(&at, e.name);
			const char *z = bytes_z(&at);
			u32 type = ELF64_ST_TYPE(e.info);
			if (z && e.shndx == SHN_UNDEF && (type == STT_FUNC || type == STT_NOTYPE) &&
			    !cb(str_z(z), arg))
				return;
		}
	}
}

void elf_each_needed(const struct image *im, elf_name_cb *cb, void *arg)
{
	struct section tab, strs;
	for (u32 i = 0; image_section(im, i, &tab); i++) {
		if (tab.type != SHT_DYNAMIC || !image_section(im, tab.link, &strs))
			continue;
		struct bytes b = image_bytes(im, &tab), names = image_bytes(im, &strs);
		while (b.at < b.n && !b.bad) {
			u64 tag = image_word(im, &b), val = image_word(im, &b);
			struct bytes at = names;
			bytes_seek(&at, val);
			const char *z = tag == DT_NEEDED ? bytes_z(&at) : NULL;
			if (tag == DT_NULL || (z && !cb(str_z(z), arg)))
				return;
		}
	}
}

const struct symbol *elf_find(const struct elf_syms *e, struct str name)
{
	for (u32 i = 0; i < e->n; i++) {
		if (str_eq(e->v[i].name, name))
			return &e->v[i];
	}
	return NULL;
}

bool symbol_preferred(const struct symbol *a, const struct symbol *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return a->size >= b->size || !b->size;
}

u32 elf_up_to(const struct elf_syms *e, u64 vaddr)
{
	u32 lo = 0, hi = e->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (e->v[mid].addr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Of several at one address the most public, the first by name; one without a size reaches to the
 * next. */
const struct symbol *elf_at(const struct elf_syms *e, u64 vaddr)
{
	enum { MAX_BACK = 16 }; /* symbols that begin inside another are few */
	u32 lo = elf_up_to(e, vaddr);
	const struct symbol *best = NULL;
	for (u32 i = lo, n = 0; i > 0 && n < MAX_BACK; i--, n++) {
		const struct symbol *s = &e->v[i - 1];
		bool nearest = s->addr == e->v[lo - 1].addr;
		if (best && s->addr != best->addr)
			break;
		if ((s->size ? vaddr - s->addr < s->size : nearest) &&
		    (!best || symbol_preferred(s, best)))
			best = s;
	}
	return best;
}

struct err *elf_offset(struct host *h, const char *path, u64 vaddr, u64 *off)
{
	struct image im;
	struct err *err = image_ask(h, path, &im);
	if (err)
		return err;
	if (!image_offset(&im, vaddr, off))
		err = err_new("%s: no code at address 0x%llx", path, vaddr);
	image_close(&im);
	return err;
}
