/* splitfile.c - finding units in .dwo and .dwp files; see split.h.
 *
 * An index of a package (.debug_cu_index, .debug_tu_index):
 *
 *	version, columns, units, slots	4 words
 *	ids		slots * 8 bytes	a hash table: the slot of an id is its low bits, the step to
 *					the next its high word's, made odd
 *	rows		slots * 4	from 1; 0: the slot is free
 *	sections	columns * 4	what each column is of
 *	offsets		units * columns * 4
 *	sizes		units * columns * 4
 */
#include "base/alloc.h"
#include "types/split.h"
#include <dwarf.h>
#include <gelf.h>

enum { HEAD = 16, MAX_COLUMNS = 16, VERSION_GNU = 2, VERSION_5 = 5 };

/* ---- sections ---- */

static const struct {
	const char *name;
	enum split_section kind;
} names[] = {
	{".debug_info.dwo", SPLIT_INFO},         {".debug_types.dwo", SPLIT_TYPES},
	{".debug_abbrev.dwo", SPLIT_ABBREV},     {".debug_loc.dwo", SPLIT_LOC},
	{".debug_loclists.dwo", SPLIT_LOC},      {".debug_str_offsets.dwo", SPLIT_STR_OFFSETS},
	{".debug_rnglists.dwo", SPLIT_RNGLISTS}, {".debug_str.dwo", SPLIT_STR},
};
static const char *const index_names[] = {".debug_cu_index", ".debug_tu_index"};

static struct bytes contents(Elf_Scn *s, const GElf_Shdr *h)
{
	if (h->sh_flags & SHF_COMPRESSED)
		elf_compress(s, 0, 0);
	Elf_Data *data = h->sh_type == SHT_NOBITS ? NULL : elf_rawdata(s, NULL);
	return data && data->d_buf ? bytes_of(data->d_buf, data->d_size) : bytes_of("", 0);
}

struct bytes split_section(Elf *elf, const char *name)
{
	size_t names_at;
	Elf_Scn *s = NULL;
	GElf_Shdr h;
	if (elf_getshdrstrndx(elf, &names_at))
		return bytes_of("", 0);
	while ((s = elf_nextscn(elf, s))) {
		const char *is = gelf_getshdr(s, &h) ? elf_strptr(elf, names_at, h.sh_name) : NULL;
		if (is && !strcmp(is, name))
			return contents(s, &h);
	}
	return bytes_of("", 0);
}

static void take_section(struct split_file *f, const char *name, struct bytes b)
{
	for (u32 i = 0; i < countof(names); i++)
		if (!strcmp(name, names[i].name))
			vec_add(&f->part, (struct split_part){names[i].kind, b});
	for (u32 i = 0; i < countof(index_names); i++)
		if (!strcmp(name, index_names[i]))
			f->index[i].all = b;
}

static struct bytes section_of(const struct split_file *f, enum split_section kind)
{
	for (u32 i = 0; i < f->part.n; i++)
		if (f->part.v[i].kind == kind)
			return f->part.v[i].b;
	return bytes_of("", 0);
}

/* ---- an index ---- */

static u64 word_at(const struct split_index *x, u64 at, u32 size)
{
	struct bytes b = x->all;
	bytes_seek(&b, at);
	return bytes_uint(&b, size);
}

static struct err *read_index(const char *path, struct split_index *x)
{
	struct bytes b = x->all;
	if (!b.n)
		return NULL;
	x->version = bytes_u32(&b);
	if ((x->version & 0xffff) == VERSION_5) /* 16 bits, then padding */
		x->version = VERSION_5;
	x->ncolumn = bytes_u32(&b);
	x->nunit = bytes_u32(&b);
	x->nslot = bytes_u32(&b);
	if (b.bad)
		return err_new("%s: %s is cut off after %zu bytes", path, x->name, b.n);
	if (x->version != VERSION_GNU && x->version != VERSION_5)
		return err_new("%s: %s has version %u, which is not read", path, x->name,
			       x->version);
	if (x->ncolumn > MAX_COLUMNS)
		return err_new("%s: %s has %u columns; there are at most %d", path, x->name,
			       x->ncolumn, MAX_COLUMNS);
	if (x->nslot & (x->nslot - 1) || x->nslot < x->nunit)
		return err_new("%s: %s has %u slots for %u units", path, x->name, x->nslot,
			       x->nunit);
	u64 need = HEAD + 12 * (u64)x->nslot + 4 * (u64)x->ncolumn * (1 + 2 * (u64)x->nunit);
	if (need > b.n)
		return err_new("%s: %s has %zu bytes; its %u units and %u slots need %llu", path,
			       x->name, b.n, x->nunit, x->nslot, need);
	return NULL;
}

/* The row, from 1; 0: it is not there. */
static u32 row_of(const struct split_index *x, u64 id)
{
	u32 mask = x->nslot - 1, step = ((u32)(id >> 32) & mask) | 1, at = (u32)id & mask;
	for (u32 i = 0; i < x->nslot; i++, at = (at + step) & mask) {
		u32 row = (u32)word_at(x, HEAD + 8 * (u64)x->nslot + 4 * (u64)at, 4);
		if (!row)
			return 0;
		if (word_at(x, HEAD + 8 * (u64)at, 8) == id)
			return row;
	}
	return 0;
}

static enum split_section column(const struct split_index *x, u32 i)
{
	u32 id = (u32)word_at(x, HEAD + 12 * (u64)x->nslot + 4 * (u64)i, 4);
	if (x->version == VERSION_5 && id == 8)
		return SPLIT_RNGLISTS;
	return id >= SPLIT_INFO && id <= SPLIT_STR_OFFSETS ? id : SPLIT_NONE;
}

static struct bytes *part_of(struct split_unit *u, enum split_section kind)
{
	switch (kind) {
	case SPLIT_TYPES: u->by_types = true; return &u->info;
	case SPLIT_INFO: return &u->info;
	case SPLIT_ABBREV: return &u->abbrev;
	case SPLIT_LOC: return &u->loc;
	case SPLIT_STR_OFFSETS: return &u->str_offsets;
	case SPLIT_RNGLISTS: return &u->rnglists;
	case SPLIT_STR: return &u->str;
	case SPLIT_LINE:
	case SPLIT_NONE:
	case SPLIT_SECTIONS: break;
	}
	return NULL;
}

static struct err *find_in_index(const struct split_file *f, const struct split_index *x, u64 id,
				 struct split_unit *u)
{
	u32 row = x->nslot ? row_of(x, id) : 0;
	if (!row)
		return NULL;
	if (row > x->nunit)
		return err_new("%s: %s: unit 0x%llx is in row %u of %u", f->path, x->name, id, row,
			       x->nunit);
	u64 rows = HEAD + 12 * (u64)x->nslot + 4 * (u64)x->ncolumn;
	for (u32 i = 0; i < x->ncolumn; i++) {
		enum split_section kind = column(x, i);
		u64 cell = 4 * ((u64)(row - 1) * x->ncolumn + i);
		u64 off = word_at(x, rows + cell, 4);
		u64 n = word_at(x, rows + 4 * (u64)x->nunit * x->ncolumn + cell, 4);
		struct bytes *to = part_of(u, kind);
		struct bytes all = section_of(f, kind);
		if (!to || !n)
			continue;
		if (off > all.n || n > all.n - off)
			return err_new("%s: %s: row %u, column %u: bytes %llu to %llu of a section "
				       "that has %zu",
				       f->path, x->name, row, i + 1, off, off + n, all.n);
		*to = bytes_of(all.p + off, n);
	}
	return NULL;
}

/* ---- units ---- */

struct head {
	u64 size; /* of the whole unit */
	u32 version;
	u8 type;
	bool has_id;
	u64 id;
};

static bool read_head(struct bytes *b, bool by_types, struct head *h)
{
	*h = (struct head){.size = bytes_u32(b)};
	h->size += 4;
	h->version = bytes_u16(b);
	bool new = h->version >= 5;
	h->type = new ? bytes_u8(b) : by_types ? DW_UT_split_type : DW_UT_split_compile;
	bytes_take(b, 5); /* abbreviations, size of addresses */
	h->has_id = new || by_types;
	h->id = h->has_id ? bytes_u64(b) : 0;
	return !b->bad;
}

/* Of a .dwo: the units one after the other. */
struct walk {
	u32 part;
	size_t at;
};

static bool next_unit(const struct split_file *f, struct walk *w, struct bytes *unit,
		      bool *by_types, struct head *h)
{
	for (; w->part < f->part.n; w->part++, w->at = 0) {
		const struct split_part *p = &f->part.v[w->part];
		if (p->kind != SPLIT_INFO && p->kind != SPLIT_TYPES)
			continue;
		struct bytes b = bytes_of(p->b.p + w->at, p->b.n - w->at);
		*by_types = p->kind == SPLIT_TYPES;
		if (!read_head(&b, *by_types, h) || h->size > b.n)
			continue;
		*unit = bytes_of(b.p, h->size);
		w->at += h->size;
		return true;
	}
	return false;
}

static bool is_type(const struct head *h)
{
	return h->type == DW_UT_split_type || h->type == DW_UT_type;
}

static void find_in_file(const struct split_file *f, enum split_kind kind, u64 id,
			 struct split_unit *u)
{
	struct walk w = {0};
	struct bytes unit;
	struct head h;
	bool by_types;
	while (next_unit(f, &w, &unit, &by_types, &h)) {
		if (is_type(&h) != (kind == SPLIT_TYPE) || (h.has_id && h.id != id))
			continue;
		u->info = unit;
		u->by_types = by_types;
		u->abbrev = section_of(f, SPLIT_ABBREV);
		u->loc = section_of(f, SPLIT_LOC);
		u->rnglists = section_of(f, SPLIT_RNGLISTS);
		u->str_offsets = section_of(f, SPLIT_STR_OFFSETS);
		return;
	}
}

struct err *split_find(const struct split_file *f, enum split_kind kind, u64 id,
		       struct split_unit *ret)
{
	struct err *e = NULL;
	*ret = (struct split_unit){.id = id, .kind = kind, .str = section_of(f, SPLIT_STR)};
	if (f->is_package)
		e = find_in_index(f, &f->index[kind], id, ret);
	else
		find_in_file(f, kind, id, ret);
	return e;
}

bool split_next(const struct split_file *f, enum split_kind kind, u32 *at, u64 *id)
{
	const struct split_index *x = &f->index[kind];
	for (; f->is_package && *at < x->nslot; ++*at) {
		if (!word_at(x, HEAD + 8 * (u64)x->nslot + 4 * (u64)*at, 4))
			continue;
		*id = word_at(x, HEAD + 8 * (u64)*at, 8);
		++*at;
		return true;
	}
	if (f->is_package)
		return false;
	struct walk w = {0};
	struct bytes unit;
	struct head h;
	bool by_types;
	for (u32 i = 0; next_unit(f, &w, &unit, &by_types, &h); i++) {
		if (i < *at || is_type(&h) != (kind == SPLIT_TYPE))
			continue;
		*id = h.id;
		*at = i + 1;
		return true;
	}
	return false;
}

/* ---- opening ---- */

struct err *split_open(Elf *elf, const char *path, struct split_file *ret)
{
	size_t shstrndx;
	Elf_Scn *s = NULL;
	GElf_Shdr h;
	struct err *e = NULL;
	*ret = (struct split_file){.path = path};
	for (u32 i = 0; i < countof(index_names); i++)
		ret->index[i].name = index_names[i];
	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &shstrndx))
		return err_new("%s: not an ELF file with sections", path);
	while ((s = elf_nextscn(elf, s))) {
		const char *name =
			gelf_getshdr(s, &h) ? elf_strptr(elf, shstrndx, h.sh_name) : NULL;
		if (name)
			take_section(ret, name, contents(s, &h));
	}
	for (u32 i = 0; !e && i < countof(index_names); i++) {
		ret->is_package |= ret->index[i].all.n != 0;
		e = read_index(path, &ret->index[i]);
	}
	if (e)
		split_close(ret);
	return e;
}

void split_close(struct split_file *f)
{
	vec_free(&f->part);
}
