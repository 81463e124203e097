/* debugfile.c - the separate file with the symbols and debug information of a stripped one. */
#include "base/file.h"
#include "types/debuginfod.h"
#include "types/image.h"
#include <elf.h>
#include <zlib.h>

enum { MAX_ID = 64 };

struct bytes image_build_id(const struct image *im)
{
	struct section s;
	struct note note;
	if (!image_section_named(im, ".note.gnu.build-id", &s))
		return bytes_of(im->p, 0);
	struct bytes b = image_bytes(im, &s);
	while (image_note(&b, &note)) {
		if (note.type == NT_GNU_BUILD_ID && str_is(note.name, "GNU") && note.desc.n >= 2 &&
		    note.desc.n <= MAX_ID)
			return note.desc;
	}
	return bytes_of(im->p, 0);
}

/* The file at path has this build id; without one, this checksum. */
static bool is_same(const char *path, struct bytes id, const u32 *sum)
{
	struct image im;
	struct err *err = image_open(path, &im);
	if (err) {
		err_free(err);
		return false;
	}
	struct bytes other = image_build_id(&im);
	bool same = id.n ? other.n == id.n && !memcmp(other.p, id.p, id.n)
			 : sum && crc32_z(0, im.p, im.n) == *sum;
	image_close(&im);
	return same;
}

/* Below the directory: .build-id/ab/cdef.debug */
static char *by_id(struct bytes id, struct str root, struct str dir)
{
	struct sb path = {0};
	sb_fmt(&path, "%.*s%.*s/.build-id/", STRF(root), STRF(dir));
	for (size_t i = 0; i < id.n; i++)
		sb_fmt(&path, i == 1 ? "/%02x" : "%02x", id.p[i]);
	sb_z(&path, ".debug");
	if (id.n && is_same(path.s, id, NULL))
		return path.s;
	sb_free(&path);
	return NULL;
}

/* What .gnu_debuglink says. */
struct debug_link {
	const char *path;     /* of the file that has it */
	struct str root, dir; /* of that path */
	const char *name;     /* NULL: it says nothing */
	struct bytes id;
	u32 sum;
	bool has_sum;
};

static struct debug_link link_of(const struct image *im, const char *path, struct bytes id,
				 u32 root_n)
{
	struct section s;
	struct debug_link l = {.path = path, .root = str_n(path, root_n), .id = id};
	const char *slash = strrchr(path, '/');
	if (!slash || !image_section_named(im, ".gnu_debuglink", &s))
		return l;
	struct bytes b = image_bytes(im, &s);
	const char *name = bytes_z(&b);
	if (!name || !*name || strchr(name, '/'))
		return l;
	l.name = name;
	l.dir = str_n(path + root_n, (size_t)(slash - path) - root_n);
	bytes_seek(&b, ALIGN_UP(b.at, 4));
	l.sum = bytes_u32(&b);
	l.has_sum = !b.bad;
	return l;
}

/* The file of the link's name in root, below before, in dir, below after. */
static char *by_link(const struct debug_link *l, struct str root, struct str before, struct str dir,
		     const char *after)
{
	struct sb p = {0};
	if (!l->name)
		return NULL;
	sb_fmt(&p, "%.*s%.*s%.*s%s/%s", STRF(root), STRF(before), STRF(dir), after, l->name);
	if (strcmp(p.s, l->path) && is_same(p.s, l->id, l->has_sum ? &l->sum : NULL))
		return p.s;
	sb_free(&p);
	return NULL;
}

/*
 * In directories that the user named. An absolute one is on our side, whatever root the program
 * has; others lie below the program's. A "+" asks for the checksum, which is looked at anyway.
 */
static char *in_dirs(const struct debug_link *l, const char *dirs)
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
		p = by_id(l->id, root, dir);
		p = p ? p : by_link(l, root, dir, l->dir, "");
		p = p ? p : by_link(l, root, dir, none, "");
	}
	return p;
}

/* From servers, where the user named them; what they give is looked at like other files. */
static char *from_server(struct bytes id, const char *dirs)
{
	struct str rest = dirs ? str_z(dirs) : (struct str){0}, dir;
	bool asked = false;
	while (str_cut(&rest, ':', &dir))
		asked |= debuginfod_is(dir);
	char *p = asked ? debuginfod_find(id) : NULL;
	if (!p || is_same(p, id, NULL))
		return p;
	free(p);
	return NULL;
}

char *image_debug_file(const struct image *im, const char *path, const char *dirs)
{
	struct bytes id = image_build_id(im);
	u32 root_n = path_root(path);
	struct debug_link l = link_of(im, path, id, root_n);
	struct str none = STR(""), usual = STR("/usr/lib/debug");
	char *p = in_dirs(&l, dirs);
	p = p ? p : by_id(id, l.root, usual);
	p = p || !root_n ? p : by_id(id, none, usual);
	p = p ? p : by_link(&l, l.root, none, l.dir, "");
	p = p ? p : by_link(&l, l.root, none, l.dir, "/.debug");
	p = p ? p : by_link(&l, l.root, usual, l.dir, "");
	return p ? p : from_server(id, dirs);
}
