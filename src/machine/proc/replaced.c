/*
 * replaced.c - files that processes still run after their paths were given to other files, as
 * upgrades of packages do it; see paths.h.
 *
 * /proc/PID/maps shows such a file as "PATH (deleted)". /proc/PID/map_files has links to all files
 * that are mapped, also to those that have no path any more; following them is a matter of
 * CAP_CHECKPOINT_RESTORE.
 */
#include "base/clock.h"
#include "base/file.h"
#include "proc/paths.h"
#include "proc/proc.h"
#include "types/zip.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_MAPS = 1 << 26,
	MAX_STAT = 4096,
	MAX_COUNT_MS = 100, /* for all files of a run */
};

/* A path as /proc/PID/maps would have it. */
struct name {
	const char *path; /* all links followed */
	const char *link; /* the last one not: libx.so.1, which leads to libx.so.1.2 */
};

static struct name name_of(struct arena *a, const char *root, const char *path)
{
	char cwd[PATH_MAX];
	if (*path != '/' && getcwd(cwd, sizeof(cwd)))
		path = arena_fmt(a, "%s/%s", cwd, path);
	const char *slash = strrchr(path, '/');
	struct name n = {.path = proc_in_root(a, root, path) + strlen(root)};
	n.link = n.path;
	if (slash && slash > path) {
		const char *dir = arena_fmt(a, "%.*s", (int)(slash - path), path);
		n.link = arena_fmt(a, "%s%s", proc_in_root(a, root, dir) + strlen(root), slash);
	}
	return n;
}

enum fit { FITS_NOT, FITS_LINK, FITS_PATH };

/* Is that how the path of a mapped file was, or where a link may have led when it was mapped? */
static enum fit fits(const struct name *n, struct str mapped)
{
	struct str link = str_z(n->link);
	if (str_is(mapped, n->path))
		return FITS_PATH;
	bool led = proc_is_version(mapped, link) && str_chr(str_from(mapped, link.n), '/') < 0;
	return led ? FITS_LINK : FITS_NOT;
}

/* Is the mapped file the one that the path leads to? True if that cannot be found out. */
static bool is_current(const char *real, const char *link)
{
	struct seen_file mapped, now;
	return !seen_find(link, 0, &mapped) || !seen_find(real, 0, &now) ||
	       seen_same(&mapped, &now);
}

/* Where the mapped file can be opened; NULL if we lack the rights. */
static const char *reach(struct host *h, int pid, const char *link, struct str line)
{
	struct stat st;
	if (!stat(link, &st) && S_ISREG(st.st_mode))
		return link;
	const char *exe = proc_file(h, h->arena, pid, "exe");
	return !stat(exe, &st) && st.st_ino == proc_maps_inode(line) ? exe : NULL;
}

static struct err *find_old(struct host *h, int pid, const char *path, const char **ret)
{
	struct arena *a = h->arena;
	const char *root = proc_same_mounts(pid) ? "" : proc_file(h, a, pid, "root");
	const char *real = proc_real_path(h, pid, path), *old = NULL;
	struct name n = name_of(a, root, path);
	struct str text, line, old_line = {0};
	struct mapped m;
	enum fit best = FITS_NOT;
	struct err *e = host_read(h, &text, "/proc/%d/maps", pid);
	if (e) {
		err_free(e);
		return NULL;
	}
	while (str_cut(&text, '\n', &line)) {
		if (str_find(line, str_z(strrchr(n.link, '/'))) < 0 &&
		    str_find(line, str_z(strrchr(n.path, '/'))) < 0)
			continue;
		if (!proc_mapped(a, pid, line, true, &m))
			continue;
		enum fit fit = fits(&n, m.path);
		const char *link = fit ? proc_map_link(a, pid, line) : NULL;
		if (fit == FITS_PATH && !m.deleted && is_current(real, link))
			return NULL;
		if (fit <= best || (fit == FITS_LINK && !m.deleted))
			continue;
		best = fit;
		old = link;
		old_line = line;
	}
	if (!old)
		return NULL;
	*ret = reach(h, pid, old, old_line);
	if (*ret)
		return NULL;
	return err_new("process %d runs a deleted version of %s, which can be opened only with "
		       "CAP_CHECKPOINT_RESTORE (before Linux 5.9 CAP_SYS_ADMIN) in the first user "
		       "namespace",
		       pid, path);
}

/* Many points of a wildcard ask for one file. */
struct old_file {
	int pid;
	const char *path, *real;
	struct old_file *next;
};

struct err *proc_old_file(struct host *h, int pid, const char *path, const char **ret)
{
	u32 n;
	*ret = NULL;
	if (pid <= 0 || h->recorded || proc_is_entry(path) || zip_archive(path, &n))
		return NULL;
	struct old_file *o = h->old_files;
	while (o && (o->pid != pid || strcmp(o->path, path) != 0))
		o = o->next;
	if (!o) {
		const char *real = NULL;
		struct err *e = find_old(h, pid, path, &real);
		if (e)
			return e;
		o = arena_new(h->arena, struct old_file);
		*o = (struct old_file){pid, arena_fmt(h->arena, "%s", path), real, h->old_files};
		h->old_files = o;
	}
	*ret = o->real;
	return NULL;
}

/* ---- which processes run an old file ---- */

/* Those of one file, counted once. */
struct old_runners {
	const char *path;
	u32 n;
	int pid; /* one of them */
	u64 took_ns;
	struct old_runners *next;
};

/* Does it have memory of its own, unlike threads of the kernel, and began before that many seconds after
 * boot? */
static bool began_before(const struct host *h, int pid, u64 seconds)
{
	enum { START = 19, VSIZE, FIELDS }; /* behind the name and the state */
	char path[PATH_MAX];
	AUTO_SB text = {0};
	u64 field[FIELDS] = {0};
	proc_put(path, sizeof(path), h, pid, "stat");
	if (file_read(path, MAX_STAT, &text))
		return false;
	const char *end = strrchr(text.s, ')');
	struct str rest = str_z(end && end[1] ? end + 2 : ""), part;
	str_cut(&rest, ' ', &part); /* its state */
	for (u32 i = 1; i < FIELDS && str_cut(&rest, ' ', &part); i++)
		str_u64(part, &field[i]);
	return field[VSIZE] && field[START] / (u64)sysconf(_SC_CLK_TCK) <= seconds;
}

static bool runs_old(struct host *h, struct arena *a, int pid, const struct name *n,
		     const struct stat *now)
{
	char path[PATH_MAX];
	AUTO_SB all = {0};
	struct mapped m;
	proc_put(path, sizeof(path), h, pid, "maps");
	if (file_read(path, MAX_MAPS, &all))
		return false;
	struct str text = sb_str(&all), line;
	while (str_cut(&text, '\n', &line)) {
		if (!str_ends(line, STR(" (deleted)")) || !proc_mapped(a, pid, line, true, &m) ||
		    !fits(n, m.path))
			continue;
		/* A container may have another file of that path. */
		return proc_maps_dev(line) == now->st_dev || proc_same_mounts(pid);
	}
	return false;
}

/* When the file got its path, in seconds after boot, or was deleted, at any time. False: before, so
 * all processes began later. */
static bool appeared(const struct stat *st, u64 *seconds)
{
	*seconds = UINT64_MAX;
	if (!st->st_ino)
		return true;
	u64 up = clock_ns(CLOCK_BOOTTIME), date = clock_ns(CLOCK_REALTIME);
	u64 changed = (u64)st->st_ctim.tv_sec * SECOND_NS + (u64)st->st_ctim.tv_nsec;
	if (date < up || changed < date - up || changed > date)
		return false;
	*seconds = (changed - (date - up)) / SECOND_NS + 1;
	return true;
}

static void count(struct host *h, struct old_runners *o, const struct stat *now)
{
	struct arena a = {0};
	struct name n = name_of(&a, "", o->path);
	u64 began = now_ns(), until = began + (u64)MAX_COUNT_MS * MILLI_NS, seconds, pid;
	for (const struct old_runners *x = o->next; x; x = x->next)
		until -= x->took_ns;
	DIR *d = appeared(now, &seconds) ? proc_list(h) : NULL;
	for (struct dirent *e; d && now_ns() < until && (e = readdir(d));) {
		if (!str_u64(str_z(e->d_name), &pid) || !pid || pid > INT32_MAX ||
		    !began_before(h, (int)pid, seconds) || !runs_old(h, &a, (int)pid, &n, now))
			continue;
		o->n++;
		o->pid = (int)pid;
	}
	if (d)
		closedir(d);
	o->took_ns = now_ns() - began;
	arena_free(&a);
}

u32 proc_count_old(struct host *h, const char *path, int *pid)
{
	struct stat now = {0};
	u32 n;
	if (h->recorded || proc_is_entry(path) || zip_archive(path, &n) ||
	    (stat(path, &now) && errno != ENOENT))
		return 0;
	struct old_runners *o = h->old_runners;
	while (o && strcmp(o->path, path) != 0)
		o = o->next;
	if (!o) {
		o = arena_new(h->arena, struct old_runners);
		*o = (struct old_runners){.path = arena_fmt(h->arena, "%s", path),
					  .next = h->old_runners};
		h->old_runners = o;
		count(h, o, &now);
	}
	*pid = o->pid;
	return o->n;
}
