/* image_ask.c - headers of ELF files as the sandbox reads them: both halves; see image_ask.h. */
#include "rights/image_ask.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "rights/sandbox.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 1 << 16 };

/* ---- there ---- */

static struct err *answer_headers(struct job *j)
{
	struct image im;
	struct segment s;
	u32 n = 0;
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	pack_u32(&j->out, im.type);
	pack_u32(&j->out, im.machine);
	pack_u8(&j->out, im.is64);
	pack_u64(&j->out, im.base);
	pack_u64(&j->out, im.n);
	while (n < MAX_SEGMENTS && image_segment(&im, n, &s))
		n++;
	pack_u32(&j->out, n);
	for (u32 i = 0; i < n && image_segment(&im, i, &s); i++)
		sb_mem(&j->out, &s, sizeof(s));
	image_close(&im);
	return NULL;
}

/* ---- here ---- */

bool image_take_told(struct bytes b, u64 size, struct image *ret)
{
	struct image im = {.by_table = true};
	im.type = (u16)bytes_u32(&b);
	im.machine = (u16)bytes_u32(&b);
	im.is64 = bytes_u8(&b) & 1;
	im.base = bytes_u64(&b);
	im.n = bytes_u64(&b);
	u32 n = bytes_u32(&b);
	const u8 *p = n <= MAX_SEGMENTS ? bytes_take(&b, n * sizeof(struct segment)) : NULL;
	if (!p || im.base > size || im.n > size - im.base)
		return false;
	im.table = xmalloc(n * sizeof(struct segment) + 1);
	memcpy(im.table, p, n * sizeof(struct segment));
	im.phnum = n;
	*ret = im;
	return true;
}

static struct err *map_told(const struct image_file *f, const char *path, struct bytes b,
			    struct image *ret)
{
	struct image im;
	if (!image_take_told(b, f->size, &im))
		return err_new("%s: its headers make no sense", path);
	/* Shared, as in image_map(). */
	im.map = mmap(NULL, f->size, PROT_READ, MAP_SHARED, f->fd, 0);
	if (im.map == MAP_FAILED) {
		free(im.table);
		return err_sys(errno, "map %s", path);
	}
	im.map_size = f->size;
	im.p = (const u8 *)im.map + im.base;
	im.ino = f->ino;
	im.dev = f->dev;
	*ret = im;
	return NULL;
}

struct err *image_ask(struct host *h, const char *path, struct image *ret)
{
	AUTO_SB out = {0};
	struct question q = {.path = path, .nfile = 1};
	struct err *e = image_find(path, &q.file[0]);
	if (e)
		return e;
	e = sandbox_ask(h, answer_headers, &q, &out);
	if (!e)
		e = map_told(&q.file[0], path, bytes_of(out.s, out.n), ret);
	close(q.file[0].fd);
	return e;
}
