/* libs.c - shared libraries by name: a process's mappings, ld.so.cache, the usual directories. */
#include "base/bytes.h"
#include "base/file.h"
#include "proc/paths.h"
#include "proc/proc.h"
#include "rights/image_ask.h"
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/*
 * The part of /etc/ld.so.cache that glibc has written since 2.2, alone in the file or behind an
 * older table:
 *	"glibc-ld.so.cache1.1", u32 nlibs, u32 length of the texts, 20 more bytes
 *	nlibs times { i32 flags; u32 key, value; u32 osversion; u64 hwcap; }
 *	the texts: key and value are places of them, counted from the magic
 */
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define OLD_MAGIC   "ld.so-1.7.0"
enum { CACHE_HEADER = 48, CACHE_ENTRY = 24, OLD_HEADER = 16, OLD_ENTRY = 12 };

/* "libc" fits "libc.so.6" and "libc-2.31.so"; "libc.so.6" only itself. */
static bool fits(struct str want, struct str file)
{
	if (str_eq(want, file))
		return true;
	if (str_find(want, STR(".so")) >= 0 || !str_starts(file, want))
		return false;
	struct str rest = str_from(file, want.n);
	if (str_starts(rest, STR(".so")))
		return true;
	return rest.n > 2 && rest.s[0] == '-' && rest.s[1] >= '0' && rest.s[1] <= '9' &&
	       str_find(rest, STR(".so")) >= 0;
}

static struct str base_name(struct str path)
{
	for (u32 i = path.n; i-- > 0;)
		if (path.s[i] == '/')
			return str_from(path, i + 1);
	return path;
}

static struct str cache_text(struct bytes table, u32 off)
{
	bytes_seek(&table, off);
	const char *z = bytes_z(&table);
	return z ? str_z(z) : (struct str){0};
}

/* Where the new table begins, or false. */
static bool cache_find(struct bytes *b, struct bytes *table)
{
	size_t at = 0;
	if (b->n >= OLD_HEADER && !memcmp(b->p, OLD_MAGIC, sizeof(OLD_MAGIC) - 1)) {
		bytes_seek(b, sizeof(OLD_MAGIC)); /* 11 characters and one of padding */
		at = ALIGN_UP(OLD_HEADER + (size_t)bytes_u32(b) * OLD_ENTRY, 8);
	}
	bytes_seek(b, at);
	const u8 *magic = bytes_take(b, sizeof(CACHE_MAGIC) - 1);
	if (!magic || memcmp(magic, CACHE_MAGIC, sizeof(CACHE_MAGIC) - 1) != 0)
		return false;
	*table = bytes_of(b->p + at, b->n - at);
	return true;
}

static char *from_cache(struct host *h, struct arena *a, struct str name)
{
	struct str text;
	struct err *e = host_read(h, &text, "/etc/ld.so.cache");
	if (e) {
		err_free(e);
		return NULL;
	}
	struct bytes b = bytes_of(text.s, text.n), table;
	if (!cache_find(&b, &table))
		return NULL;
	bytes_seek(&table, sizeof(CACHE_MAGIC) - 1);
	u32 n = bytes_u32(&table);
	bytes_seek(&table, CACHE_HEADER);
	for (u32 i = 0; i < n && !table.bad; i++) {
		u32 flags = bytes_u32(&table);
		struct str key = cache_text(table, bytes_u32(&table));
		struct str val = cache_text(table, bytes_u32(&table));
		bytes_take(&table, CACHE_ENTRY - 12);
		if (!table.bad && (flags & 0xffff) == h->arch->ldcache_flags && val.n &&
		    fits(name, key))
			return arena_strz(a, val);
	}
	return NULL;
}

static char *from_dirs(struct host *h, struct arena *a, struct str name)
{
	const char *arch = h->arch->name;
	const char *const dirs[] = {"/lib64",
				    "/usr/lib64",
				    arena_fmt(a, "/lib/%s-linux-gnu", arch),
				    arena_fmt(a, "/usr/lib/%s-linux-gnu", arch),
				    "/lib",
				    "/usr/lib",
				    "/usr/local/lib"};
	for (u32 i = 0; i < countof(dirs); i++) {
		DIR *d = opendir(arena_fmt(a, "%s%s", h->root, dirs[i]));
		char *found = NULL;
		for (struct dirent *e; d && !found && (e = readdir(d));)
			if (fits(name, str_z(e->d_name)))
				found = arena_fmt(a, "%s/%s", dirs[i], e->d_name);
		if (d)
			closedir(d);
		if (found)
			return found;
	}
	return NULL;
}

static bool is_regular(const char *path, u64 ino)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode) && (!ino || st.st_ino == ino);
}

enum { DEVICE = 4, INODE = 5 };

/* "7f0a1000-7f0a3000 r--p 00001000 08:01 1234    /lib/libc.so.6" */
static struct str line_field(struct str line, u32 n)
{
	struct str field = {0};
	for (u32 i = 0; i < n && str_cut(&line, ' ', &field); i++)
		;
	return field;
}

u64 proc_maps_inode(struct str line)
{
	u64 ino = 0;
	return str_u64(line_field(line, INODE), &ino) ? ino : 0;
}

u64 proc_maps_dev(struct str line)
{
	struct str dev = line_field(line, DEVICE);
	i32 colon = str_chr(dev, ':');
	if (colon < 0)
		return 0;
	return makedev((u32)strtoul(dev.s, NULL, 16), (u32)strtoul(dev.s + colon + 1, NULL, 16));
}

bool proc_is_version(struct str name, struct str of)
{
	return str_find(of, STR(".so")) >= 0 && str_starts(name, of) && name.n > of.n &&
	       name.s[of.n] == '.';
}

/* "00401000-00479000" is called 401000-479000 there. */
const char *proc_map_link(struct arena *a, int pid, struct str line)
{
	struct str range = line_field(line, 1);
	i32 dash = str_chr(range, '-');
	struct str to = str_from(range, (u32)dash + 1), from = {range.s, (u32)dash};
	while (from.n > 1 && from.s[0] == '0')
		from = str_from(from, 1);
	while (to.n > 1 && to.s[0] == '0')
		to = str_from(to, 1);
	return arena_fmt(a, "/proc/%d/map_files/%.*s-%.*s", pid, STRF(from), STRF(to));
}

bool proc_mapped(struct arena *a, int pid, struct str line, bool same_mounts, struct mapped *ret)
{
	i32 at = str_chr(line, '/'), range = str_chr(line, ' ');
	struct str path = at < 0 ? (struct str){0} : str_from(line, (u32)at);
	if (at < 0 || range < 0 || line.n < (u32)range + 5)
		return false;
	*ret = (struct mapped){.exec = line.s[range + 3] == 'x',
			       .deleted = str_ends(path, STR(" (deleted)")),
			       .path = path};
	if (ret->deleted)
		ret->path.n -= STR(" (deleted)").n;
	const char *plain = arena_strz(a, ret->path);
	ret->real = plain;
	if (same_mounts || ret->deleted)
		return true;
	/* Which root the path starts at is not said: the file's number tells. */
	u64 ino = proc_maps_inode(line);
	const char *inside = proc_in_root(a, arena_fmt(a, "/proc/%d/root", pid), plain);
	if (is_regular(inside, ino))
		ret->real = inside;
	else if (is_regular(plain, ino))
		ret->real = plain;
	else if (is_regular(inside, 0)) /* overlays have numbers of their own */
		ret->real = inside;
	else
		ret->real = proc_map_link(a, pid, line);
	return true;
}

/* "7f0a1000-7f0a3000 r--p 00001000 ...": start and offset in the file. */
static bool line_place(struct str line, u64 *start, u64 *off)
{
	struct str range, perm, offset;
	char *end;
	if (!str_cut(&line, ' ', &range) || !str_cut(&line, ' ', &perm) ||
	    !str_cut(&line, ' ', &offset))
		return false;
	*start = strtoull(range.s, &end, 16);
	if (end == range.s || *end != '-')
		return false;
	*off = strtoull(offset.s, &end, 16);
	return end == offset.s + offset.n;
}

bool proc_maps_file(struct host *h, int pid, const char *real)
{
	char path[PATH_MAX];
	AUTO_SB all = {0};
	struct stat st;
	bool found = false;
	int n = proc_put(path, sizeof(path), h, pid, "maps");
	if (n < 0 || stat(real, &st) || file_read(path, SIZE_MAX, &all))
		return false;
	struct str text = sb_str(&all), line;
	while (!found && str_cut(&text, '\n', &line))
		found = proc_maps_inode(line) == st.st_ino;
	return found;
}

bool proc_load_bias(struct host *h, int pid, const char *real, u64 *bias)
{
	u64 in_page = h->page_size - 1;
	struct str text, line;
	struct stat st;
	struct image im;
	struct err *e = host_read(h, &text, "/proc/%d/maps", pid);
	if (!e)
		e = image_ask(h, real, &im);
	if (e || stat(real, &st)) {
		err_free(e);
		return false;
	}
	bool found = false;
	while (!found && str_cut(&text, '\n', &line)) {
		struct segment seg;
		u64 start, off;
		if (proc_maps_inode(line) != st.st_ino || !line_place(line, &start, &off))
			continue;
		for (u32 i = 0; !found && image_segment(&im, i, &seg); i++) {
			found = seg.type == PT_LOAD && (seg.off & ~in_page) == off;
			if (found)
				*bias = start - (seg.addr & ~in_page);
		}
	}
	image_close(&im);
	return found;
}

/* One whose path still leads to it is preferred to one that was deleted or replaced. */
static char *from_maps(struct host *h, struct arena *a, int pid, struct str name)
{
	struct str text, line;
	struct mapped m;
	char *old = NULL;
	bool same = proc_same_mounts(pid);
	struct err *e = host_read(h, &text, "/proc/%d/maps", pid);
	if (e) {
		err_free(e);
		return NULL;
	}
	while (str_cut(&text, '\n', &line)) {
		if (str_chr(line, '/') < 0 || str_find(line, name) < 0)
			continue;
		if (!proc_mapped(a, pid, line, same, &m))
			continue;
		struct str base = base_name(m.path);
		if (!m.deleted && fits(name, base))
			return arena_fmt(a, "%s", m.real);
		if (m.deleted && !old && (fits(name, base) || proc_is_version(base, name)))
			old = arena_strz(a, m.path);
	}
	return old;
}

char *proc_library(struct host *h, struct arena *a, int pid, const char *name)
{
	struct str want = str_z(name);
	if (!want.n || strchr(name, '/'))
		return NULL;
	char *path = pid > 0 ? from_maps(h, a, pid, want) : NULL;
	if (!path)
		path = from_cache(h, a, want);
	return path ? path : from_dirs(h, a, want);
}
