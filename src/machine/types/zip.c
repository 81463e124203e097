/* zip.c - a member of a ZIP archive by its central directory; see zip.h. */
#include "types/zip.h"
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	END_MARK = 0x06054b50,
	END_SIZE = 22,
	MAX_COMMENT = 0xffff,
	ENTRY_MARK = 0x02014b50,
	LOCAL_MARK = 0x04034b50,
	FLAG_ENCRYPTED = 1,
	METHOD_STORED = 0,
};

struct entry {
	struct str name;
	u32 flags, method, packed, size, local;
};

bool zip_archive(const char *path, u32 *n)
{
	struct stat st;
	char archive[PATH_MAX];
	const char *mark = strstr(path, "!/");
	if (!mark || (size_t)(mark - path) >= sizeof(archive) || !access(path, F_OK))
		return false;
	memcpy(archive, path, (size_t)(mark - path));
	archive[mark - path] = 0;
	*n = (u32)(mark - path);
	return !stat(archive, &st) && S_ISREG(st.st_mode);
}

/* The last record, behind which lies nothing but its comment. */
static bool find_end(struct bytes *b)
{
	for (size_t back = END_SIZE; back <= b->n && back <= END_SIZE + MAX_COMMENT; back++) {
		struct bytes end = *b;
		bytes_seek(&end, b->n - back);
		if (bytes_u32(&end) != END_MARK)
			continue;
		*b = end;
		bytes_seek(&end, b->n - back + END_SIZE - 2);
		if (bytes_u16(&end) == back - END_SIZE)
			return true;
	}
	return false;
}

static bool read_entry(struct bytes *b, struct entry *e)
{
	if (bytes_u32(b) != ENTRY_MARK)
		return false;
	bytes_take(b, 4); /* versions */
	e->flags = bytes_u16(b);
	e->method = bytes_u16(b);
	bytes_take(b, 8); /* time, date, checksum */
	e->packed = bytes_u32(b);
	e->size = bytes_u32(b);
	u32 name = bytes_u16(b), extra = bytes_u16(b), comment = bytes_u16(b);
	bytes_take(b, 8); /* disk, attributes */
	e->local = bytes_u32(b);
	const u8 *p = bytes_take(b, name);
	bytes_take(b, extra);
	bytes_take(b, comment);
	if (b->bad)
		return false;
	e->name = str_n((const char *)p, name);
	return true;
}

static struct err *entry_bytes(struct bytes b, const struct entry *e, struct bytes *ret)
{
	if (e->flags & FLAG_ENCRYPTED)
		return err_new("%.*s is encrypted in the archive", STRF(e->name));
	if (e->method != METHOD_STORED)
		return err_new("%.*s is compressed in the archive; only stored files can run from "
			       "there (zip -0)",
			       STRF(e->name));
	bytes_seek(&b, e->local);
	u32 mark = bytes_u32(&b);
	bytes_take(&b, 22); /* what the directory tells, too */
	u32 name = bytes_u16(&b), extra = bytes_u16(&b);
	bytes_take(&b, name);
	bytes_take(&b, extra);
	const u8 *p = bytes_take(&b, e->size);
	if (b.bad || mark != LOCAL_MARK || e->packed != e->size)
		return err_new("damaged ZIP archive: %.*s", STRF(e->name));
	*ret = bytes_of(p, e->size);
	return NULL;
}

struct err *zip_member(struct bytes archive, struct str name, struct bytes *ret)
{
	enum { ZIP64_COUNT = 0xffff, ZIP64_OFFSET = 0xffffffff };
	struct bytes b = archive;
	struct entry e;
	if (!find_end(&b))
		return err_new("not a ZIP archive");
	bytes_take(&b, 6); /* disks, entries on this one */
	u32 n = bytes_u16(&b);
	bytes_take(&b, 4); /* size of the directory */
	u32 at = bytes_u32(&b);
	if (n == ZIP64_COUNT || at == ZIP64_OFFSET)
		return err_new("ZIP64 archives are not supported");
	bytes_seek(&b, at);
	for (u32 i = 0; i < n; i++) {
		if (!read_entry(&b, &e))
			return err_new(
				"damaged ZIP archive: its directory ends after %u of %u members", i,
				n);
		if (str_eq(e.name, name))
			return entry_bytes(archive, &e, ret);
	}
	return err_new("the archive has no member %.*s", STRF(name));
}
