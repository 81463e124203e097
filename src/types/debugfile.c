/* debugfile.c - the separate file with the symbols and debug information of a stripped one. */
#include "types/image.h"
#include <elf.h>
#include <zlib.h>

enum { MAX_ID = 64 };

static struct bytes build_id(const struct image *im)
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
	struct bytes other = build_id(&im);
	bool same = id.n ? other.n == id.n && !memcmp(other.p, id.p, id.n)
			 : sum && crc32_z(0, im.p, im.n) == *sum;
	image_close(&im);
	return same;
}

static char *by_id(struct bytes id, const char *root, u32 root_n)
{
	struct sb path = {0};
	sb_fmt(&path, "%.*s/usr/lib/debug/.build-id/", (int)root_n, root);
	for (size_t i = 0; i < id.n; i++)
		sb_fmt(&path, i == 1 ? "/%02x" : "%02x", id.p[i]);
	sb_z(&path, ".debug");
	if (id.n && is_same(path.s, id, NULL))
		return path.s;
	sb_free(&path);
	return NULL;
}

static char *by_link(const struct image *im, const char *path, struct bytes id, u32 root_n)
{
	struct section s;
	const char *slash = strrchr(path, '/');
	if (!slash || !image_section_named(im, ".gnu_debuglink", &s))
		return NULL;
	struct bytes b = image_bytes(im, &s);
	const char *name = bytes_z(&b);
	if (!name || !*name || strchr(name, '/'))
		return NULL;
	bytes_seek(&b, ALIGN_UP(b.at, 4));
	u32 sum = bytes_u32(&b);
	int dir = (int)(slash - path) - (int)root_n, root = (int)root_n;
	for (u32 i = 0; i < 3; i++) {
		struct sb p = {0};
		const char *in = path + root_n;
		switch (i) {
		case 0: sb_fmt(&p, "%.*s%.*s/%s", root, path, dir, in, name); break;
		case 1: sb_fmt(&p, "%.*s%.*s/.debug/%s", root, path, dir, in, name); break;
		case 2: sb_fmt(&p, "%.*s/usr/lib/debug%.*s/%s", root, path, dir, in, name); break;
		}
		if (strcmp(p.s, path) && is_same(p.s, id, b.bad ? NULL : &sum))
			return p.s;
		sb_free(&p);
	}
	return NULL;
}

/* Length of "/proc/PID/root" at the start of a path. */
static u32 root_of(const char *path)
{
	u32 n = 6;
	if (strncmp(path, "/proc/", 6))
		return 0;
	while (path[n] >= '0' && path[n] <= '9')
		n++;
	return strncmp(path + n, "/root/", 6) ? 0 : n + 5;
}

char *image_debug_file(const struct image *im, const char *path)
{
	struct bytes id = build_id(im);
	u32 root = root_of(path);
	char *p = by_id(id, path, root);
	if (!p && root)
		p = by_id(id, path, 0);
	return p ? p : by_link(im, path, id, root);
}
