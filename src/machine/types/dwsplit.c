/*
 * dwsplit.c - units of a program that are in other files: .dwo, or a package of these.
 *
 * The program has a skeleton of such a unit: its id, its code and its lines. The rest is found by the id
 * (split.h) and opened as a file of its own, once; what a search has only looked at is closed again.
 */
#include "base/alloc.h"
#include "types/dw.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* A file with such units. */
struct dw_file {
	struct split_file file;
	Elf *elf;
	int fd;
	char *path;
};

static void say(struct debug *d, struct err *e)
{
	d->split_why = arena_fmt(d->arena, "%s", e->msg);
	err_free(e);
}

static struct dw_split *split_of(const struct debug *d, const Dwarf *dw)
{
	for (u32 i = d->split.n; i-- > 0;)
		if (d->split.v[i]->dw == dw)
			return d->split.v[i];
	return NULL;
}

/* ---- one unit ---- */

static bool number(Dwarf_Die *die, unsigned int attr, u64 *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word w;
	if (!dwarf_attr(die, attr, &a) || dwarf_formudata(&a, &w))
		return false;
	*ret = w;
	return true;
}

/* In DWARF 4 a unit's ranges end where those of another begin. */
static u64 next_ranges(struct debug *d, u64 from)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	u64 at, least = UINT64_MAX;
	while (d->budget && dw_next_unit(d->dw, &cu, &die)) {
		d->budget--;
		if (number(&die, DW_AT_GNU_ranges_base, &at) && at > from)
			least = MIN(least, at);
	}
	return least;
}

static struct bytes rest(struct bytes b, u64 from, u64 most)
{
	u64 at = MIN(from, (u64)b.n);
	return bytes_of(b.p + at, MIN(b.n - at, most));
}

/* What only the program has. No unit can name more addresses than it has bytes to name them. */
static void fill(struct debug *d, Dwarf_Die *skeleton, struct split_unit *u)
{
	Dwarf_Addr low;
	u64 at = 0, most = 8 * (u64)(u->info.n + u->loc.n + u->rnglists.n);
	if (!number(skeleton, DW_AT_addr_base, &at))
		number(skeleton, DW_AT_GNU_addr_base, &at);
	u->addr = rest(split_section(d->elf, ".debug_addr"), at, most);
	if (number(skeleton, DW_AT_GNU_ranges_base, &at))
		u->ranges =
			rest(split_section(d->elf, ".debug_ranges"), at, next_ranges(d, at) - at);
	else
		u->ranges = split_section(d->elf, ".debug_ranges");
	u->low = dwarf_lowpc(skeleton, &low) ? 0 : low;
}

static void drop(struct dw_split *s)
{
	if (s->dw)
		dwarf_end(s->dw);
	if (s->elf)
		elf_end(s->elf);
	sb_free(&s->image);
	free(s);
}

static struct dw_split *keep(struct debug *d, struct dw_file *f, struct split_unit *u)
{
	struct dw_split *s = xcalloc(1, sizeof(*s));
	Dwarf_CU *cu = NULL;
	*s = (struct dw_split){.from = f, .id = u->id, .kind = u->kind};
	struct err *e = split_image(u, d->machine, &s->image);
	if (e) {
		say(d, err_new("%s: %s", f->path, e->msg));
		err_free(e);
		drop(s);
		return NULL;
	}
	d->budget -= (u32)MIN((u64)d->budget, (u64)s->image.n / 16);
	s->elf = elf_memory(s->image.s, s->image.n);
	s->dw = s->elf ? dwarf_begin_elf(s->elf, DWARF_C_READ, NULL) : NULL;
	bool ok = s->dw && dw_next_unit(s->dw, &cu, &s->unit);
	s->die = s->unit;
	if (ok && u->kind == SPLIT_TYPE)
		ok = dwarf_offdie(s->dw, u->type, &s->die) != NULL;
	if (!ok) {
		say(d, err_new("%s: unit 0x%llx: %s", f->path, u->id, dwarf_errmsg(-1)));
		drop(s);
		return NULL;
	}
	vec_add(&d->split, s);
	return s;
}

/* Of a file. skeleton NULL: a type, which needs nothing of the program. */
static struct dw_split *load(struct debug *d, struct dw_file *f, enum split_kind kind, u64 id,
			     Dwarf_Die *skeleton)
{
	struct split_unit u;
	struct err *e = d->budget ? split_find(&f->file, kind, id, &u) : NULL;
	if (e)
		say(d, e);
	if (e || !d->budget || !u.info.n)
		return NULL;
	if (skeleton)
		fill(d, skeleton, &u);
	return keep(d, f, &u);
}

static struct dw_split *type_in(struct debug *d, struct dw_file *f, u64 id, u64 skeleton)
{
	for (u32 i = 0; i < d->split.n; i++) {
		struct dw_split *s = d->split.v[i];
		if (s->kind == SPLIT_TYPE && s->id == id && s->from == f)
			return s;
	}
	struct dw_split *s = load(d, f, SPLIT_TYPE, id, NULL);
	if (s)
		s->skeleton = skeleton;
	return s;
}

/* ---- files ---- */

static void close_file(struct dw_file *f)
{
	split_close(&f->file);
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f);
}

static struct dw_file *open_file(struct debug *d, int fd, const char *path)
{
	struct dw_file *f = xcalloc(1, sizeof(*f));
	f->fd = fd;
	f->path = xstrdup(path);
	f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	struct err *e = split_open(f->elf, f->path, &f->file);
	if (!e)
		return f;
	say(d, e);
	close_file(f);
	return NULL;
}

static struct dw_file *open_named(struct debug *d, const char *path)
{
	for (u32 i = 0; i < d->file.n; i++)
		if (!strcmp(d->file.v[i]->path, path))
			return d->file.v[i];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dw_file *f = fd < 0 ? NULL : open_file(d, fd, path);
	if (f)
		vec_add(&d->file, f);
	return f;
}

static const char *text(Dwarf_Die *die, unsigned int attr)
{
	Dwarf_Attribute a;
	const char *z = dwarf_attr(die, attr, &a) ? dwarf_formstring(&a) : NULL;
	return z ? z : "";
}

/* Where the compiler put it, and beside the program, as often when it was built elsewhere. */
static struct dw_file *file_of(struct debug *d, Dwarf_Die *skeleton)
{
	const char *name = text(skeleton, DW_AT_dwo_name);
	name = *name ? name : text(skeleton, DW_AT_GNU_dwo_name);
	const char *slash = strrchr(d->self, '/'), *last = strrchr(name, '/');
	int dir = slash ? (int)(slash - d->self) : 0;
	AUTO_SB path = {0};
	if (!*name)
		return NULL;
	if (*name != '/')
		sb_fmt(&path, "%s/", text(skeleton, DW_AT_comp_dir));
	sb_z(&path, name);
	struct dw_file *f = open_named(d, path.s);
	for (u32 i = 0; !f && slash && i < 2; i++) {
		sb_clear(&path);
		sb_fmt(&path, "%.*s/%s", dir, d->self, i && last ? last + 1 : name);
		f = open_named(d, path.s);
	}
	if (!f && !d->split_why)
		d->split_why = arena_fmt(d->arena, "it is in %s, which is not there", name);
	return f;
}

void dw_split_package(struct debug *d, int fd, const char *path)
{
	d->package = open_file(d, fd, path);
	d->package_why = d->split_why;
	if (!d->package) /* each question about a unit tells it again */
		d->split_why = NULL;
}

/* ---- asked by others ---- */

static bool is_skeleton(Dwarf_Die *die, u64 *id)
{
	uint8_t kind = 0;
	Dwarf_Half version;
	uint64_t is = 0;
	bool ok = !dwarf_cu_info(die->cu, &version, &kind, NULL, NULL, &is, NULL, NULL);
	*id = is;
	return ok && kind == DW_UT_skeleton;
}

bool dw_whole(struct debug *d, Dwarf_Die *die)
{
	u64 id, at = dwarf_dieoffset(die);
	if (!is_skeleton(die, &id))
		return true;
	for (u32 i = d->split.n; i-- > 0;) {
		struct dw_split *s = d->split.v[i];
		if (s->kind != SPLIT_UNIT || s->skeleton != at)
			continue;
		*die = s->unit;
		return true;
	}
	d->split_why = d->package_why;
	struct dw_split *s = d->package ? load(d, d->package, SPLIT_UNIT, id, die) : NULL;
	struct dw_file *f = s ? NULL : file_of(d, die);
	if (f)
		s = load(d, f, SPLIT_UNIT, id, die);
	if (!s)
		return false;
	s->skeleton = at;
	*die = s->unit;
	return true;
}

Dwarf_Die dw_with_lines(struct debug *d, Dwarf_Die *unit)
{
	const struct dw_split *s = split_of(d, dwarf_cu_getdwarf(unit->cu));
	Dwarf_Die skeleton;
	return s && dwarf_offdie(d->dw, s->skeleton, &skeleton) ? skeleton : *unit;
}

bool dw_formref(struct debug *d, Dwarf_Attribute *a, Dwarf_Die *ret)
{
	struct dw_split *s =
		a->form == DW_FORM_ref_sig8 ? split_of(d, dwarf_cu_getdwarf(a->cu)) : NULL;
	u64 id;
	if (!s)
		return dwarf_formref_die(a, ret);
	memcpy(&id, a->valp, sizeof(id));
	s = type_in(d, s->from, id, s->skeleton);
	if (s)
		*ret = s->die;
	return s != NULL;
}

bool dw_split_key(const struct debug *d, const Dwarf *dw, u64 *skeleton, u64 *type)
{
	const struct dw_split *s = split_of(d, dw);
	if (!s)
		return false;
	*skeleton = s->skeleton;
	*type = s->kind == SPLIT_TYPE ? s->id : 0;
	return true;
}

Dwarf *dw_split_by(struct debug *d, u64 skeleton, u64 type)
{
	Dwarf_Die unit;
	struct dw_split *s = NULL;
	if (skeleton) {
		u64 id;
		if (!dwarf_offdie(d->dw, skeleton, &unit) || !is_skeleton(&unit, &id) ||
		    !dw_whole(d, &unit))
			return NULL;
		s = split_of(d, dwarf_cu_getdwarf(unit.cu));
	}
	struct dw_file *f = s ? s->from : d->package;
	if (type)
		s = f ? type_in(d, f, type, skeleton) : NULL;
	return s ? s->dw : NULL;
}

struct dw_mark dw_split_mark(const struct debug *d)
{
	return (struct dw_mark){d->split.n, d->file.n};
}

void dw_split_release(struct debug *d, struct dw_mark to)
{
	while (d->split.n > to.nsplit)
		drop(d->split.v[--d->split.n]);
	while (d->file.n > to.nfile)
		close_file(d->file.v[--d->file.n]);
}

bool dw_next_split_type(struct debug *d, Dwarf_Die *of, u32 *at, Dwarf_Die *ret)
{
	const struct dw_split *by = of ? split_of(d, dwarf_cu_getdwarf(of->cu)) : NULL;
	struct dw_file *f = by ? by->from : of ? NULL : d->package;
	u64 id;
	if (!f || (of && f == d->package))
		return false;
	while (d->budget && split_next(&f->file, SPLIT_TYPE, at, &id)) {
		struct dw_split *s = type_in(d, f, id, by ? by->skeleton : 0);
		d->budget -= d->budget > 0;
		if (!s)
			continue;
		*ret = s->unit;
		return true;
	}
	return false;
}

void dw_split_end(struct debug *d)
{
	dw_split_release(d, (struct dw_mark){0, 0});
	if (d->package)
		close_file(d->package);
	d->package = NULL;
	vec_free(&d->split);
	vec_free(&d->file);
}
