/* aot.c - a compiled script as an executable file; see aot.h. */
#include "api/aot.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/signals.h"
#include "core/unitfile.h"
#include "proc/paths.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum { MAX_UNIT = 1 << 28 };
static const char mark[8] = {'s', 'o', 'n', 'd', 'e', 0, 'A', 'O'};
struct ending {
	u64 size;
	char release[64]; /* of the kernel that it was compiled for */
	char mark[8];
};

struct err *aot_write(const char *path, const struct unit *u, const struct diags *ds)
{
	AUTO_SB all = {0};
	struct ending end = {0};
	struct utsname un;
	if (u->scope.npid)
		return err_new("--aot: -p and -c name processes that are here now; let the script "
			       "compare pid");
	int self AUTO_CLOSE = proc_open_self();
	int no = self < 0 ? errno : fd_read(self, SIZE_MAX, &all);
	if (no)
		return err_sys(no, "--aot: read sonde's own program");
	size_t from = all.n;
	struct err *e = unit_write(u, ds, &all);
	if (e)
		return err_wrap(e, "--aot: ");
	end.size = all.n - from;
	memcpy(end.mark, mark, sizeof(mark));
	if (!uname(&un))
		memcpy(end.release, un.release, MIN(sizeof(end.release), sizeof(un.release)));
	sb_mem(&all, &end, sizeof(end));
	int fd AUTO_CLOSE = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0)
		return err_sys(errno, "--aot: write %s", path);
	size_t done;
	no = signals_write(NULL, fd, all.s, all.n, &done);
	return no ? err_sys(no, "--aot: write %s", path) : NULL;
}

/* What this executable has behind it. False: nothing, it is sonde. */
bool aot_find(struct aot *ret)
{
	int fd AUTO_CLOSE = proc_open_self();
	struct ending end;
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || st.st_size < (off_t)sizeof(end))
		return false;
	off_t at = st.st_size - (off_t)sizeof(end);
	if (pread(fd, &end, sizeof(end), at) != sizeof(end) ||
	    memcmp(end.mark, mark, sizeof(mark)) || end.size > MIN((u64)at, (u64)MAX_UNIT))
		return false;
	ret->n = end.size;
	ret->p = xmalloc(end.size);
	memcpy(ret->release, end.release, sizeof(end.release));
	ret->release[sizeof(end.release) - 1] = 0;
	if (pread(fd, ret->p, ret->n, at - (off_t)ret->n) == (ssize_t)ret->n)
		return true;
	free(ret->p);
	return false;
}

/* Programs that attach by a number of the kernel's BTF, or not at all. */
static struct err *check_release(const struct aot *f, const struct unit *u, struct arena *a,
				 const char **warning)
{
	struct utsname un;
	if (uname(&un) || !strcmp(un.release, f->release))
		return NULL;
	for (u32 i = 0; i < u->nprog; i++)
		if (u->prog[i]->attach_btf_id)
			return err_new("compiled for Linux %s; %.*s cannot attach on %s",
				       f->release, STRF(u->prog[i]->name), un.release);
	*warning = arena_fmt(a, "compiled for Linux %s; this is %s, where structures may differ",
			     f->release, un.release);
	return NULL;
}

/* Symbols lie elsewhere after each boot, mostly, and on every other machine. */
static struct err *check_boot(const struct unit *u, struct host *h)
{
	if (!u->boot || (*u->boot && !strcmp(u->boot, host_boot(h))))
		return NULL;
	return err_new(
		"it was compiled with addresses of the kernel's symbols (kaddr(), percpu_kaddr(), "
		"in_function()), which change at the next boot; compile it again");
}

struct err *aot_load(const struct aot *f, struct unit *u, struct arena *a, struct diags *ds,
		     struct host *h, const char **warning)
{
	*warning = NULL;
	struct err *e = unit_read(u, a, ds, h, f->p, f->n);
	if (!e)
		e = check_boot(u, h);
	if (!e)
		e = check_release(f, u, a, warning);
	return e ? e : unit_resolve(u, h, ds);
}
