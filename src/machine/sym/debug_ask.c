/* debug_ask.c - debug information as the sandbox reads it: both halves; see debug_ask.h. */
#include "sym/debug_ask.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/pack.h"
#include "rights/sandbox.h"
#include "sym/sym.h"
#include "types/dwpack.h"
#include <elf.h>
#include <errno.h>
#include <unistd.h>

enum { MAX_FRAMES_ASKED = 64, MAX_NEAR = 1 << 12, MAX_ADDRESSES = 1 << 24 };
enum question_kind { ASK_WANTED, ASK_OPEN, ASK_AT, ASK_TYPE, ASK_MEMBERS, ASK_LINE, ASK_FRAMES };

/* ---- there ---- */

/* Files that stay open between questions: to read their tables anew would cost more than to ask. */
enum { SHELF = 16 };
struct shelved {
	struct image_file file[SANDBOX_FILES];
	u32 nfile;
	bool package;
	u64 used;
	struct arena arena;
	struct debug *debug;
};
struct shelf {
	struct shelved *v[SHELF];
	u32 n;
	u64 clock;
};

static void shelved_drop(struct shelved *s)
{
	debug_close(s->debug);
	arena_free(&s->arena);
	free(s);
}

static void shelf_drop(void *p)
{
	struct shelf *s = p;
	for (u32 i = 0; i < s->n; i++)
		shelved_drop(s->v[i]);
	free(s);
}

/* What the files of a question are: the program, a separate file perhaps, a package perhaps. */
struct roles {
	bool package; /* the last one */
	const char *info_path, *package_path;
};

static bool is_same(const struct shelved *s, const struct job *j, const struct roles *r)
{
	bool same = s->nfile == j->nfile && s->package == r->package;
	for (u32 i = 0; same && i < j->nfile; i++)
		same = s->file[i].ino == j->file[i].ino && s->file[i].dev == j->file[i].dev &&
		       s->file[i].size == j->file[i].size && s->file[i].member == j->file[i].member;
	return same;
}

static struct shelved **place_for(struct shelf *s)
{
	struct shelved **place = &s->v[0];
	if (s->n < SHELF)
		return &s->v[s->n++];
	for (u32 i = 1; i < SHELF; i++)
		if (s->v[i]->used < (*place)->used)
			place = &s->v[i];
	shelved_drop(*place);
	return place;
}

static struct err *shelved_open(struct shelved *s, const struct job *j, const struct roles *r)
{
	u32 info = j->nfile - 1 - r->package;
	struct debug_files f = {.program = &s->file[0],
				.info = &s->file[info],
				.package = r->package ? &s->file[j->nfile - 1] : NULL,
				.info_path = r->info_path,
				.package_path = r->package_path};
	s->nfile = j->nfile;
	s->package = r->package;
	memcpy(s->file, j->file, sizeof(s->file));
	return debug_open(j->path, &f, &s->arena, &s->debug);
}

static struct err *opened(const struct job *j, const struct roles *r, struct debug **ret)
{
	if (!j->kept->p)
		*j->kept = (struct kept){xcalloc(1, sizeof(struct shelf)), shelf_drop};
	struct shelf *shelf = j->kept->p;
	struct shelved *s = NULL;
	for (u32 i = 0; i < shelf->n && !s; i++)
		if (is_same(shelf->v[i], j, r))
			s = shelf->v[i];
	if (!s) {
		s = xcalloc(1, sizeof(*s));
		struct err *e = shelved_open(s, j, r);
		if (e) {
			arena_free(&s->arena);
			free(s);
			return e;
		}
		*place_for(shelf) = s;
	}
	s->used = ++shelf->clock;
	*ret = s->debug;
	return NULL;
}

/* Has it the information itself? And what of another file that would. */
static struct err *tell_wanted(struct job *j)
{
	struct image im;
	struct section s;
	struct debug_wanted w;
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	bool own = image_section_named(&im, ".debug_info", &s) && s.type != SHT_NOBITS;
	own |= image_section_named(&im, ".zdebug_info", &s) && s.type != SHT_NOBITS;
	image_wanted(&im, &w);
	pack_u8(&j->out, own);
	sb_mem(&j->out, &w, sizeof(w));
	image_close(&im);
	return NULL;
}

static struct err *tell_at(struct debug *d, struct job *j)
{
	struct debug_func f;
	u64 addr = bytes_u64(&j->args);
	struct err *e = debug_at(d, addr, &f);
	if (e)
		return e;
	pack_u64(&j->out, debug_near(d, addr));
	debug_pack_func(&j->out, d, &f);
	return NULL;
}

static void tell_type(struct debug *d, struct job *j)
{
	enum type_kind kind = bytes_u8(&j->args);
	bool near = bytes_u8(&j->args);
	struct str name = unpack_str(&j->args);
	while (j->args.at < j->args.n && !j->args.bad)
		debug_near(d, bytes_u64(&j->args));
	debug_pack_type(&j->out, d, debug_type(d, name, kind, near));
}

static struct err *tell_line(struct debug *d, struct job *j)
{
	struct str file = unpack_str(&j->args);
	u32 line = bytes_u32(&j->args), column = bytes_u32(&j->args), n;
	u64 *addr;
	struct err *e = debug_line(d, file, line, column, &addr, &n);
	if (e)
		return e;
	pack_u32(&j->out, n);
	sb_mem(&j->out, addr, n * sizeof(*addr));
	return NULL;
}

static void tell_frames(struct debug *d, struct job *j)
{
	struct debug_frame v[MAX_FRAMES_ASKED];
	u64 addr = bytes_u64(&j->args);
	u32 most = bytes_u32(&j->args);
	debug_pack_frames(&j->out, v, debug_frames(d, addr, v, MIN(most, (u32)countof(v))));
}

/* NUL-terminated, in the question; "" for bytes that make no sense. */
static const char *path_of(struct bytes *b)
{
	const char *z = bytes_z(b);
	return z ? z : "";
}

static struct err *answer_debug(struct job *j)
{
	enum question_kind what = bytes_u8(&j->args);
	struct roles r = {.info_path = path_of(&j->args), .package_path = path_of(&j->args)};
	struct debug *d;
	struct debug_key k;
	if (what == ASK_WANTED)
		return tell_wanted(j);
	r.package = *r.package_path && j->nfile > 1;
	struct err *e = opened(j, &r, &d);
	if (e)
		return e;
	switch (what) {
	case ASK_WANTED:
	case ASK_OPEN: break;
	case ASK_AT: return tell_at(d, j);
	case ASK_TYPE: tell_type(d, j); break;
	case ASK_LINE: return tell_line(d, j);
	case ASK_FRAMES: tell_frames(d, j); break;
	case ASK_MEMBERS:
		k = debug_take_key(&j->args);
		if (!debug_pack_members(&j->out, d, &k))
			return err_new("%s: no such type", j->path);
		break;
	}
	return NULL;
}

/* ---- here ---- */

struct debug_ask {
	struct debug_types types; /* the filler comes first */
	struct host *host;
	const char *path; /* of the program */
	char *self;       /* of the file with the information, as the kernel has it */
	char *package; /* of the one with its split units, which is the last; NULL: there is none */
	struct image_file file[SANDBOX_FILES];
	u32 nfile;
	VEC(u64) unit; /* those that debug_ask_at() was in: the child's number, and an address */
	VEC(u64) addr;
};

/* An object, program or library: what a process left in its memory when it crashed (or has in it,
 * /proc/kcore) is ELF, too, and nothing for others. */
static bool is_program(int fd)
{
	u8 head[EI_NIDENT + 2];
	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return false;
	u32 type = head[EI_NIDENT] | (u32)head[EI_NIDENT + 1] << 8;
	return type == ET_REL || type == ET_EXEC || type == ET_DYN;
}

static int open_named(const char *path)
{
	struct image_file f;
	struct err *e = image_find(path, &f);
	int no = e ? e->no : 0;
	err_free(e);
	if (e)
		return -(no ? no : ENOENT);
	if (is_program(f.fd))
		return f.fd;
	close(f.fd);
	return -EACCES;
}

/* In the root that the program is in, then in ours: it may have been built there. */
static int open_more(void *arg, const char *path)
{
	const struct debug_ask *d = arg;
	AUTO_SB inside = {0};
	u32 root = path_root(d->path);
	int fd = -1;
	if (path[0] != '/' || strstr(path, "!/"))
		return -EACCES;
	sb_fmt(&inside, "%.*s%s", (int)root, d->path, path);
	if (root)
		fd = open_named(inside.s);
	return fd >= 0 ? fd : open_named(path);
}

static struct err *ask(struct debug_ask *d, enum question_kind what, struct str args,
		       struct sb *out)
{
	const struct sandbox_more more = {open_more, d, d->self};
	AUTO_SB all = {0};
	pack_u8(&all, (u8)what);
	sb_mem(&all, d->self, strlen(d->self) + 1);
	sb_mem(&all, d->package ? d->package : "", d->package ? strlen(d->package) + 1 : 1);
	sb_add(&all, args);
	struct question q = {
		.path = d->path, .nfile = d->nfile, .args = sb_str(&all), .more = &more};
	memcpy(q.file, d->file, sizeof(q.file));
	return sandbox_ask(d->host, answer_debug, &q, out);
}

static struct err *damaged(const struct debug_ask *d)
{
	return err_new("%s: damaged debug information", d->path);
}

static void fill(struct filler *from, struct type *t)
{
	struct debug_ask *d = (struct debug_ask *)from;
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	assert(t->id && t->id <= d->types.record.n);
	struct debug_record *r = &d->types.record.v[t->id - 1];
	if (!r->read) {
		r->read = true;
		r->field = arena_new(d->types.arena, struct field);
		debug_pack_key(&args, &r->key);
		struct err *e = ask(d, ASK_MEMBERS, sb_str(&args), &out);
		struct bytes b = bytes_of(out.s, out.n);
		if (!e)
			debug_take_members(&b, &d->types, t->id - 1);
		err_free(e);
		r = &d->types.record.v[t->id - 1];
	}
	t->size = r->size;
	t->align = r->align;
	t->field = r->field;
	t->nfield = r->nfield;
}

/* What it was stripped of is in another file. */
static void find_separate(struct debug_ask *d)
{
	AUTO_SB out = {0};
	struct err *e = ask(d, ASK_WANTED, STR(""), &out);
	struct bytes b = bytes_of(out.s, out.n);
	bool own = bytes_u8(&b);
	AUTO_FREE char *other = e || own ? NULL : elf_find_debug(d->host, d->path, &b);
	struct err *none = other ? image_find(other, &d->file[1]) : NULL;
	d->nfile += other && !none;
	err_free(none);
	err_free(e);
}

/* Is there a file of that name which can be a package? It becomes the last of d->file. */
static bool take_package(void *arg, const char *path)
{
	struct debug_ask *d = arg;
	struct image_file f;
	struct err *e = image_find(path, &f);
	if (!e && !is_program(f.fd)) {
		close(f.fd);
		e = err_new("%s: not an ELF file", path);
	}
	bool ok = !e;
	if (ok)
		d->file[d->nfile++] = f;
	err_free(e);
	return ok;
}

struct err *debug_ask_open(struct host *h, const char *path, struct arena *a,
			   struct debug_ask **ret)
{
	struct debug_ask *d = xcalloc(1, sizeof(*d));
	AUTO_SB out = {0};
	d->types.filler.fill = fill;
	d->types.arena = a;
	d->host = h;
	d->path = arena_fmt(a, "%s", path);
	d->self = xstrdup("");
	struct err *e = image_find(path, &d->file[0]);
	if (!e) {
		d->nfile = 1;
		find_separate(d);
		free(d->self);
		d->self = fd_path(d->file[d->nfile - 1].fd);
		d->package = debug_package_find(path, d->self, h->debug_dirs, take_package, d);
		e = ask(d, ASK_OPEN, STR(""), &out);
	}
	if (e)
		debug_ask_close(d);
	else
		*ret = d;
	return e;
}

void debug_ask_close(struct debug_ask *d)
{
	if (!d)
		return;
	for (u32 i = 0; i < d->nfile; i++)
		close(d->file[i].fd);
	vec_free(&d->types.record);
	vec_free(&d->unit);
	vec_free(&d->addr);
	free(d->self);
	free(d->package);
	free(d);
}

struct err *debug_ask_of(struct host *h, const char *path, struct debug_ask **ret)
{
	struct debug_file *f = h->debug;
	while (f && strcmp(f->path, path))
		f = f->next;
	if (!f) {
		f = arena_new(h->arena, struct debug_file);
		f->path = arena_fmt(h->arena, "%s", path);
		f->close = debug_ask_close;
		f->next = h->debug;
		h->debug = f;
		struct err *e = debug_ask_open(h, path, h->arena, &f->debug);
		if (e)
			f->wrong = arena_fmt(h->arena, "%s", e->msg);
		err_free(e);
	}
	*ret = f->debug;
	return f->wrong ? err_new("%s", f->wrong) : NULL;
}

static void note_unit(struct debug_ask *d, u64 unit, u64 addr)
{
	for (u32 i = 0; i < d->unit.n; i++)
		if (d->unit.v[i] == unit)
			return;
	if (d->unit.n >= MAX_NEAR)
		return;
	vec_add(&d->unit, unit);
	vec_add(&d->addr, addr);
}

struct err *debug_ask_at(struct debug_ask *d, u64 addr, struct debug_func *ret)
{
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	pack_u64(&args, addr);
	struct err *e = ask(d, ASK_AT, sb_str(&args), &out);
	if (e)
		return e;
	struct bytes b = bytes_of(out.s, out.n);
	u64 unit = bytes_u64(&b);
	if (!debug_take_func(&b, &d->types, ret))
		return damaged(d);
	note_unit(d, unit, addr);
	return NULL;
}

const struct type *debug_ask_type(struct debug_ask *d, struct str name, enum type_kind kind,
				  bool near)
{
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	const struct type *t = NULL;
	pack_u8(&args, (u8)kind);
	pack_u8(&args, near);
	pack_str(&args, name);
	for (u32 i = 0; i < d->addr.n; i++)
		pack_u64(&args, d->addr.v[i]);
	struct err *e = ask(d, ASK_TYPE, sb_str(&args), &out);
	struct bytes b = bytes_of(out.s, out.n);
	bool ok = !e && debug_take_type(&b, &d->types, &t);
	err_free(e);
	return ok && t && t->kind != T_ERROR ? t : NULL;
}

struct err *debug_ask_line(struct debug_ask *d, const struct place_asked *at, u64 **addr, u32 *n)
{
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	pack_str(&args, at->file);
	pack_u32(&args, at->line);
	pack_u32(&args, at->column);
	struct err *e = ask(d, ASK_LINE, sb_str(&args), &out);
	if (e)
		return e;
	struct bytes b = bytes_of(out.s, out.n);
	u32 count = bytes_u32(&b);
	const u8 *p = count <= MAX_ADDRESSES ? bytes_take(&b, count * sizeof(u64)) : NULL;
	if (!p || !count)
		return damaged(d);
	*addr = arena_newn(d->types.arena, u64, count);
	memcpy(*addr, p, count * sizeof(u64));
	*n = count;
	return NULL;
}

u32 debug_ask_frames(struct debug_ask *d, u64 addr, struct arena *a, struct debug_frame *v, u32 max)
{
	AUTO_SB args = {0};
	AUTO_SB out = {0};
	u32 n = 0;
	pack_u64(&args, addr);
	pack_u32(&args, max);
	struct err *e = ask(d, ASK_FRAMES, sb_str(&args), &out);
	struct bytes b = bytes_of(out.s, out.n);
	bool ok = !e && debug_take_frames(&b, a, v, max, &n);
	err_free(e);
	return ok ? n : 0;
}
