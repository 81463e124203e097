/* debugfile.c - the separate file with the symbols and debug information of a stripped one. */
#include "base/file.h"
#include "types/debuginfod.h"
#include "types/image.h"
#include <elf.h>
#include <stdlib.h>
#include <zlib.h>

struct bytes image_build_id(const struct image *im)
{
	struct section s;
	struct note note;
	if (!image_section_named(im, ".note.gnu.build-id", &s))
		return bytes_of(im->p, 0);
	struct bytes b = image_bytes(im, &s);
	while (image_note(&b, &note)) {
		if (note.type == NT_GNU_BUILD_ID && str_is(note.name, "GNU") && note.desc.n >= 2 &&
		    note.desc.n <= DEBUG_MAX_ID)
			return note.desc;
	}
	return bytes_of(im->p, 0);
}

struct debug_search {
	const struct debug_wanted *wanted;
	const char *path;     /* of the file that it belongs to */
	struct str root, dir; /* of that path; dir: NULL */
	debug_same *same;
	void *arg;
};

static struct bytes id_of(const struct debug_wanted *w)
{
	return bytes_of(w->id, w->nid);
}

bool image_is_wanted(const struct image *im, const struct debug_wanted *w)
{
	struct bytes other = image_build_id(im);
	if (w->nid)
		return other.n == w->nid && !memcmp(other.p, w->id, w->nid);
	return w->has_sum && crc32_z(0, im->p, im->n) == w->sum;
}

/* Below the directory: .build-id/ab/cdef.debug */
static char *by_id(const struct debug_search *l, struct str root, struct str dir)
{
	struct sb path = {0};
	struct bytes id = id_of(l->wanted);
	sb_fmt(&path, "%.*s%.*s/.build-id/", STRF(root), STRF(dir));
	for (size_t i = 0; i < id.n; i++)
		sb_fmt(&path, i == 1 ? "/%02x" : "%02x", id.p[i]);
	sb_z(&path, ".debug");
	if (id.n && l->same(l->arg, path.s, l->wanted))
		return path.s;
	sb_free(&path);
	return NULL;
}

/* The file of the link's name in root, below before, in dir, below after. */
static char *by_link(const struct debug_search *l, struct str root, struct str before,
		     struct str dir, const char *after)
{
	struct sb p = {0};
	if (!*l->wanted->link || !l->dir.s)
		return NULL;
	sb_fmt(&p, "%.*s%.*s%.*s%s/%s", STRF(root), STRF(before), STRF(dir), after,
	       l->wanted->link);
	if (strcmp(p.s, l->path) && l->same(l->arg, p.s, l->wanted))
		return p.s;
	sb_free(&p);
	return NULL;
}

/* A file of the program's name, with or without ".debug": only its build id says that it belongs here. */
static char *by_name(const struct debug_search *l, struct str root, struct str before,
		     struct str dir)
{
	static const char *const end[] = {".debug", ""};
	const char *slash = strrchr(l->path, '/'), *name = slash ? slash + 1 : l->path;
	for (u32 i = 0; l->wanted->nid && i < countof(end); i++) {
		struct sb p = {0};
		sb_fmt(&p, "%.*s%.*s%.*s/%s%s", STRF(root), STRF(before), STRF(dir), name, end[i]);
		if (strcmp(p.s, l->path) && l->same(l->arg, p.s, l->wanted))
			return p.s;
		sb_free(&p);
	}
	return NULL;
}

/*
 * In directories that the user named. An absolute one is on our side, whatever root the program
 * has; others lie below the program's. A "+" asks for the checksum, which is looked at anyway.
 */
static char *in_dirs(const struct debug_search *l, const char *dirs)
{
	struct str none = STR(""), rest = dirs ? str_z(dirs) : (struct str){0}, dir;
	const char *slash = strrchr(l->path, '/');
	struct str beside = slash ? str_n(l->path, (size_t)(slash - l->path) + 1) : none;
	char *p = NULL;
	while (!p && str_cut(&rest, ':', &dir)) {
		dir = str_starts(dir, STR("+")) ? str_from(dir, 1) : dir;
		if (!dir.n || debuginfod_is(dir))
			continue;
		struct str root = dir.s[0] == '/' ? none : beside;
		p = by_id(l, root, dir);
		p = p ? p : by_link(l, root, dir, l->dir, "");
		p = p ? p : by_link(l, root, dir, none, "");
		p = p ? p : by_name(l, root, dir, l->dir.s ? l->dir : none);
		p = p ? p : by_name(l, root, dir, none);
	}
	return p;
}

/* From servers, where the user named them; what they give is looked at like other files. */
static char *from_server(const struct debug_search *l, const char *dirs)
{
	struct str rest = dirs ? str_z(dirs) : (struct str){0}, dir;
	bool asked = false;
	while (str_cut(&rest, ':', &dir))
		asked |= debuginfod_is(dir);
	char *p = asked ? debuginfod_find(id_of(l->wanted)) : NULL;
	if (!p || l->same(l->arg, p, l->wanted))
		return p;
	free(p);
	return NULL;
}

void image_wanted(const struct image *im, struct debug_wanted *ret)
{
	struct section s;
	struct bytes id = image_build_id(im);
	*ret = (struct debug_wanted){.nid = (u32)id.n};
	memcpy(ret->id, id.p, id.n);
	if (!image_section_named(im, ".gnu_debuglink", &s))
		return;
	struct bytes b = image_bytes(im, &s);
	const char *name = bytes_z(&b);
	if (!name || strchr(name, '/') || strlen(name) >= sizeof(ret->link))
		return;
	memcpy(ret->link, name, strlen(name));
	bytes_seek(&b, ALIGN_UP(b.at, 4));
	ret->sum = bytes_u32(&b);
	ret->has_sum = !b.bad;
}

char *debug_file_find(const struct debug_wanted *w, const char *path, const char *dirs,
		      debug_same *same, void *arg)
{
	AUTO_FREE char *full = *path == '/' ? NULL : realpath(path, NULL);
	path = full ? full : path;
	u32 root_n = path_root(path);
	const char *slash = strrchr(path, '/');
	struct debug_search l = {w, path, str_n(path, root_n), {0}, same, arg};
	struct str none = STR(""), usual = STR("/usr/lib/debug");
	if (slash)
		l.dir = str_n(path + root_n, (size_t)(slash - path) - root_n);
	char *p = in_dirs(&l, dirs);
	p = p ? p : by_id(&l, l.root, usual);
	p = p || !root_n ? p : by_id(&l, none, usual);
	p = p ? p : by_link(&l, l.root, none, l.dir, "");
	p = p ? p : by_link(&l, l.root, none, l.dir, "/.debug");
	p = p ? p : by_link(&l, l.root, usual, l.dir, "");
	return p ? p : from_server(&l, dirs);
}

static char *package_at(struct sb *path, debug_take *take, void *arg)
{
	sb_z(path, ".dwp");
	if (take(arg, path->s))
		return path->s;
	sb_free(path);
	return NULL;
}

/* An absolute directory is on our side; others lie below the program's. */
static char *package_in(const char *path, struct str dir, debug_take *take, void *arg)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct sb p = {0};
	if (dir.n && dir.s[0] != '/')
		sb_add(&p, str_n(path, (size_t)(name - path)));
	sb_fmt(&p, "%.*s/%s", STRF(dir), name);
	return package_at(&p, take, arg);
}

char *debug_package_find(const char *path, const char *info, const char *dirs, debug_take *take,
			 void *arg)
{
	const char *beside[] = {path, info};
	struct str rest = dirs ? str_z(dirs) : (struct str){0}, dir;
	char *found = NULL;
	while (!found && str_cut(&rest, ':', &dir)) {
		dir = str_starts(dir, STR("+")) ? str_from(dir, 1) : dir;
		if (dir.n && !debuginfod_is(dir))
			found = package_in(path, dir, take, arg);
	}
	for (u32 i = 0; !found && i < countof(beside); i++) {
		struct sb p = {0};
		sb_z(&p, beside[i]);
		found = package_at(&p, take, arg);
	}
	return found;
}
