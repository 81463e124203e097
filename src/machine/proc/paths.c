/* paths.c - files by the names that a process has for them; see paths.h. */
#include "proc/paths.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/tab.h"
#include "kern/caps.h"
#include "proc/proc.h"
#include "types/zip.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MAX_GLOB_PATHS = 4096 };

const char *proc_real_path(struct host *h, int pid, const char *path)
{
	if (pid <= 0 || *path != '/' || proc_is_entry(path) || proc_same_mounts(pid))
		return path;
	const char *inside = proc_in_root(h->arena, proc_file(h, h->arena, pid, "root"), path);
	u32 n;
	return access(inside, F_OK) && !zip_archive(inside, &n) ? path : inside;
}

int proc_open_in_root(const struct host *h, int pid, const char *path)
{
	char root[PATH_MAX];
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	proc_put(root, sizeof(root), h, pid, "root");
	int dir AUTO_CLOSE = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : (int)syscall(__NR_openat2, dir, path, &how, sizeof(how));
}

static bool is_file(const char *path)
{
	struct stat st;
	u32 n;
	return zip_archive(path, &n) || (!stat(path, &st) && S_ISREG(st.st_mode));
}

/* Directory by directory: done is what is settled of the path, rest what is still to match. */
static void glob_paths(struct arena *a, const char *done, struct str rest, paths *out)
{
	struct str part;
	while (rest.n && rest.s[0] == '/')
		rest = str_from(rest, 1);
	if (!str_cut(&rest, '/', &part))
		return;
	bool last = !rest.s;
	if (!str_is_glob(part)) {
		const char *next = arena_fmt(a, "%s/%.*s", done, STRF(part));
		if (last && is_file(next))
			vec_add(out, next);
		else if (!last && !access(next, X_OK))
			glob_paths(a, next, rest, out);
		return;
	}
	DIR *d = opendir(*done ? done : "/");
	for (struct dirent *e; d && out->n < MAX_GLOB_PATHS && (e = readdir(d));) {
		if (e->d_name[0] == '.' || !str_glob(part, str_z(e->d_name)))
			continue;
		const char *next = arena_fmt(a, "%s/%s", done, e->d_name);
		if (last && is_file(next))
			vec_add(out, next);
		else if (!last)
			glob_paths(a, next, rest, out);
	}
	if (d)
		closedir(d);
}

/* A program by its name below the root of a process. */
static const char *find_inside(struct host *h, struct arena *a, int pid, const char *name)
{
	static const char *const dirs[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					   "/usr/bin",        "/sbin",          "/bin"};
	for (u32 i = 0; i < countof(dirs); i++)
		if (is_file(arena_fmt(a, "%s/proc/%d/root%s/%s", h->root, pid, dirs[i], name)))
			return arena_fmt(a, "%s/%s", dirs[i], name);
	return NULL;
}

static const char *find_library(struct host *h, struct arena *a, const struct viewer *v,
				const char *name)
{
	const char *path = proc_library(h, a, v->pid, name);
	bool gone = path && !v->traced && v->pid > 0 && !is_file(proc_real_path(h, v->pid, path));
	return gone ? proc_library(h, a, 0, name) : path;
}

/* A name without a slash: libraries by their rules, the rest through $PATH. */
static const char *find_name(struct host *h, struct arena *a, const struct viewer *v,
			     const char *name)
{
	bool lib = !strncmp(name, "lib", 3), own = v->pid <= 0 || proc_same_mounts(v->pid);
	const char *path = !lib && !own ? find_inside(h, a, v->pid, name) : NULL;
	if (path)
		return path;
	path = lib ? find_library(h, a, v, name) : proc_which(a, name);
	if (!path)
		path = lib ? proc_which(a, name) : find_library(h, a, v, name);
	return path;
}

/* Of a mapped file whose path leads to it no longer: its path if proc_old_file() finds it by that, else the
 * link to the mapping. NULL if it is not a regular file, or not ours to open. */
static const char *deleted_file(struct host *h, struct arena *a, const struct viewer *v,
				struct str line, const struct mapped *m)
{
	struct stat st;
	const char *old = NULL, *link = proc_map_link(a, v->pid, line);
	if (v->traced)
		err_free(proc_old_file(h, v->pid, arena_strz(a, m->path), &old));
	if (old)
		return arena_strz(a, m->path);
	return !stat(link, &st) && S_ISREG(st.st_mode) ? link : NULL;
}

/* The program of a process and every file mapped executable in it, but those that are there
 * already. */
static struct err *process_files(struct host *h, struct arena *a, const struct viewer *v,
				 struct tab *seen, paths *out)
{
	struct str text, line;
	struct mapped m;
	int pid = v->pid;
	bool same = proc_same_mounts(pid);
	struct err *e = host_read(h, &text, "/proc/%d/maps", pid);
	if (e)
		return e;
	while (str_cut(&text, '\n', &line)) {
		i32 perm = str_chr(line, ' ');
		if (perm < 0 || line.n < (u32)perm + 5 || line.s[perm + 3] != 'x')
			continue;
		if (!proc_mapped(a, pid, line, same, &m))
			continue;
		const char *id = m.real;
		if (m.deleted) /* many processes may run it */
			id = arena_fmt(a, "%s %llu", m.real, proc_maps_inode(line));
		if (tab_get(seen, str_z(id)))
			continue;
		tab_set(seen, str_z(id), out);
		const char *path = m.deleted ? deleted_file(h, a, v, line, &m) : m.real;
		if (path)
			vec_add(out, path);
	}
	return NULL;
}

/* Files with code in any process. Those that end meanwhile, or are not ours to see, are left out.
 */
static struct err *all_files(struct host *h, struct arena *a, struct tab *seen, paths *out)
{
	DIR *d = proc_list(h);
	if (!d)
		return err_sys(errno, "open /proc");
	for (struct dirent *e; (e = readdir(d));) {
		u64 pid;
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && str_u64(str_z(e->d_name), &pid))
			err_free(process_files(h, a, &(struct viewer){.pid = (int)pid}, seen, out));
	}
	closedir(d);
	return NULL;
}

static struct err *with_errno(struct err *e, int no)
{
	e->no = no;
	return e;
}

static struct err *no_file(struct host *h, int viewer, const char *path, const char *real)
{
	struct stat st;
	if (!stat(real, &st) && S_ISDIR(st.st_mode))
		return with_errno(err_new("target file '%s' is a directory, not a program or "
					  "library",
					  path),
				  EISDIR);
	if (!stat(real, &st))
		return with_errno(err_new("target file '%s' is not a regular file", path), ENOENT);
	if (errno == EACCES)
		return err_file(errno, real, "target file '%s' cannot be reached", path);
	int pid;
	if (viewer <= 0 && proc_count_old(h, path, &pid))
		return with_errno(err_new("target file '%s' is deleted; process %d still runs it: "
					  "use -p %d",
					  path, pid, pid),
				  ENOENT);
	return with_errno(err_new("target file '%s' does not exist or is not executable", path),
			  ENOENT);
}

struct err *proc_paths(struct host *h, struct arena *a, const struct viewer *v, struct str target,
		       paths *out)
{
	int pid = v->pid;
	if (!target.n && pid <= 0)
		return err_new("needs the name of a file ('*' for those of all processes), or "
			       "a process given with -p");
	if (!target.n || str_is(target, "*")) {
		struct tab seen = {0};
		struct err *e = NULL;
		if (v->program)
			vec_add(out, v->program);
		else
			e = pid > 0 ? process_files(h, a, v, &seen, out)
				    : all_files(h, a, &seen, out);
		tab_free(&seen);
		return e;
	}
	const char *path = arena_strz(a, target);
	if (str_is_glob(target)) {
		glob_paths(a, target.s[0] == '/' ? "" : ".", target, out);
		return NULL;
	}
	if (!strchr(path, '/')) {
		const char *found = find_name(h, a, v, path);
		if (!found)
			return with_errno(
				err_new("target file '%s' does not exist or is not executable (not "
					"in $PATH, and no library of that name)",
					path),
				ENOENT);
		vec_add(out, found);
		return NULL;
	}
	const char *real = proc_real_path(h, pid, path);
	const char *old = NULL;
	struct err *e = v->traced ? proc_old_file(h, pid, path, &old) : NULL;
	if (e)
		return e;
	if (!old && !is_file(real))
		return no_file(h, pid, path, real);
	vec_add(out, path);
	return NULL;
}

/* ---- which file it is ---- */

const char *proc_path_inside(const char *path)
{
	return path + path_root(path);
}

bool path_is_layered(const char *path)
{
	enum { OVERLAYFS_MAGIC = 0x794c7630 };
	struct statfs fs;
	return !statfs(path, &fs) && fs.f_type == OVERLAYFS_MAGIC;
}

/*
 * Overlays that share a layer, as containers of one image do, show one file below several devices;
 * a probe in any of them is in all.
 */
bool seen_same(const struct seen_file *x, const struct seen_file *y)
{
	const struct stat *a = &x->st, *b = &y->st;
	if (a->st_ino != b->st_ino || a->st_size != b->st_size)
		return false;
	if (a->st_dev == b->st_dev)
		return true;
	return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec &&
	       (path_is_layered(x->path) || path_is_layered(y->path));
}

bool seen_find(const char *path, int pid, struct seen_file *ret)
{
	*ret = (struct seen_file){.path = path, .inside = proc_path_inside(path), .pid = pid};
	AUTO_FREE char *file = xstrdup(path);
	u32 n;
	if (zip_archive(path, &n)) /* the file that a member lies in */
		file[n] = 0;
	return !stat(file, &ret->st);
}
