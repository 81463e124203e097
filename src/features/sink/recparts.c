/* recparts.c - see recparts.h. */
#include "sink/recparts.h"
#include "base/alloc.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { DIGITS = 6, MOST_NUMBER = 999999, SAME_SECOND = 100, NS_PER_S = 1000000000 };
static const struct str ending = STR(".sonde");

void recparts_init(struct recparts *p, const char *path)
{
	*p = (struct recparts){.path = path};
}

void recparts_free(struct recparts *p)
{
	for (u32 i = 0; i < p->file.n; i++)
		free(p->file.v[i].path);
	vec_free(&p->file);
}

/* "f" of "f.sonde" */
static struct str stem(const struct recparts *p)
{
	struct str s = str_z(p->path);
	return str_ends(s, ending) ? str_n(s.s, s.n - ending.n) : s;
}

static void add(struct recparts *p, struct str path, u64 bytes)
{
	char *copy = xmalloc(path.n + 1u);
	memcpy(copy, path.s, path.n);
	copy[path.n] = 0;
	vec_add(&p->file, (struct part_file){copy, bytes});
}

static int by_name(const void *x, const void *y)
{
	const struct part_file *a = x, *b = y;
	return strcmp(a->path, b->path);
}

/* 0: it is no segment's name. */
static u64 number_of(struct str name, struct str base)
{
	u64 n = 0;
	bool like = str_starts(name, base) && str_ends(name, ending) &&
		    name.n == base.n + 1 + DIGITS + ending.n && name.s[base.n] == '-';
	for (u32 i = 1; like && i <= DIGITS; i++) {
		char c = name.s[base.n + i];
		like = c >= '0' && c <= '9';
		n = n * 10 + (u64)(c - '0');
	}
	return like ? n : 0;
}

void recparts_find(struct recparts *p)
{
	struct str base = stem(p);
	AUTO_SB dir = {0};
	u32 at = base.n;
	while (at && base.s[at - 1] != '/')
		at--;
	sb_add(&dir, at ? str_n(base.s, at) : STR("./"));
	DIR *d = opendir(dir.s);
	for (struct dirent *e; d && (e = readdir(d));) {
		u64 n = number_of(str_z(e->d_name), str_from(base, at));
		struct stat st;
		AUTO_SB path = {0};
		if (!n)
			continue;
		sb_fmt(&path, "%.*s%s", at, base.s, e->d_name);
		if (stat(path.s, &st))
			continue;
		add(p, sb_str(&path), (u64)st.st_size);
		p->number = MAX(p->number, (u32)n);
	}
	if (d)
		closedir(d);
	if (p->file.n)
		qsort(p->file.v, p->file.n, sizeof(*p->file.v), by_name);
}

static struct err *create(struct recparts *p, struct str path, int *fd)
{
	AUTO_SB z = {0};
	sb_add(&z, path);
	*fd = open(z.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*fd < 0)
		return err_sys(errno, "create %s", z.s);
	add(p, path, 0);
	return NULL;
}

struct err *recparts_next(struct recparts *p, int *fd)
{
	AUTO_SB path = {0};
	if (p->number >= MOST_NUMBER)
		return err_new("%s: there are no more numbers for its segments", p->path);
	sb_fmt(&path, "%.*s-%0*u.sonde", STRF(stem(p)), DIGITS, ++p->number);
	return create(p, sb_str(&path), fd);
}

struct err *recparts_snapshot(struct recparts *p, u64 real_ns, int *fd)
{
	time_t s = (time_t)(real_ns / NS_PER_S);
	struct tm tm;
	char when[32];
	struct err *e = NULL;
	gmtime_r(&s, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &tm);
	for (u32 i = 1; i <= SAME_SECOND; i++) {
		AUTO_SB path = {0};
		err_free(e);
		sb_fmt(&path, "%.*s-%s", STRF(stem(p)), when);
		if (i > 1)
			sb_fmt(&path, "-%u", i);
		sb_add(&path, ending);
		e = create(p, sb_str(&path), fd);
		if (!e || e->no != EEXIST)
			return e;
	}
	return e;
}

const char *recparts_last(const struct recparts *p)
{
	return p->file.n ? p->file.v[p->file.n - 1].path : p->path;
}

void recparts_bound(struct recparts *p, u64 bytes, u32 files)
{
	u64 sum = 0;
	for (u32 i = 0; i < p->file.n; i++)
		sum += p->file.v[i].bytes;
	while (p->file.n > 1 && (sum > bytes || p->file.n > files)) {
		struct part_file *old = p->file.v;
		unlink(old->path);
		free(old->path);
		sum -= old->bytes;
		memmove(old, old + 1, (p->file.n - 1) * sizeof(*old));
		p->file.n--;
	}
}
