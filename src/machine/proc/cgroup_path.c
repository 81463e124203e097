/* cgroup_path.c - paths of control groups by their ids: an id is the inode number of the directory. */
#include "base/file.h"
#include "proc/cgroup.h"
#include <dirent.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

enum { MAX_DEPTH = 64, MAX_PATH = 4096, MAX_HIERARCHIES = 64 };

/* Depth first; path[0..len) is the directory being searched. */
static bool find_inode(char *path, size_t len, u64 id, u32 depth)
{
	struct stat st;
	if (stat(path, &st))
		return false;
	if ((u64)st.st_ino == id)
		return true;
	DIR *d = depth < MAX_DEPTH ? opendir(path) : NULL;
	bool found = false;
	for (struct dirent *e; d && !found && (e = readdir(d));) {
		size_t n = strlen(e->d_name);
		if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) ||
		    len + n + 2 > MAX_PATH)
			continue;
		path[len] = '/';
		memcpy(path + len + 1, e->d_name, n + 1);
		found = find_inode(path, len + 1 + n, id, depth + 1);
		if (!found)
			path[len] = 0;
	}
	if (d)
		closedir(d);
	return found;
}

/* Below root, at which a hierarchy is mounted. path: MAX_PATH bytes. NULL: there is none. */
static const char *find_group(const char *root, u64 id, char *path)
{
	size_t n = strlen(root);
	if (n + 2 > MAX_PATH)
		return NULL;
	memcpy(path, root, n + 1);
	if (!find_inode(path, n, id, 0))
		return NULL;
	return path[n] ? path + n : "/";
}

const char *proc_cgroup_path(struct host *h, u64 id)
{
	char path[MAX_PATH];
	const char *found = find_group(cgroup_mount(h), id, path);
	return found ? arena_fmt(h->arena, "%s", found) : NULL;
}

static int by_name(const void *x, const void *y)
{
	const struct str *a = x, *b = y;
	return str_cmp(*a, *b);
}

/* Those of version 1, by name; links to one that has several controllers are left out. */
static u32 find_hierarchies(struct arena *a, const char *dir, struct str v[MAX_HIERARCHIES])
{
	DIR *d = opendir(dir);
	u32 n = 0;
	for (struct dirent *e; d && n < MAX_HIERARCHIES && (e = readdir(d));) {
		struct statfs fs;
		const char *path = arena_fmt(a, "%s/%s", dir, e->d_name);
		if (e->d_type == DT_DIR && e->d_name[0] != '.' && !statfs(path, &fs) &&
		    fs.f_type == CGROUP_SUPER_MAGIC)
			v[n++] = str_z(arena_fmt(a, "%s", e->d_name));
	}
	if (d)
		closedir(d);
	qsort(v, n, sizeof(*v), by_name);
	return n;
}

static void add_group(struct sb *out, struct str name, const char *path)
{
	if (path)
		sb_fmt(out, "%s%.*s:%s", out->n ? "," : "", STRF(name), path);
}

void proc_cgroup_paths(struct host *h, u64 id, struct str glob, struct sb *out)
{
	char path[MAX_PATH];
	struct arena a = {0};
	struct str v[MAX_HIERARCHIES], unified = STR("unified");
	const char *dir = arena_fmt(&a, "%s/sys/fs/cgroup", h->root);
	u32 n = find_hierarchies(&a, dir, v);
	if (!glob.n || str_glob(glob, unified))
		add_group(out, unified, find_group(cgroup_mount(h), id, path));
	for (u32 i = 0; i < n; i++) {
		const char *root = arena_fmt(&a, "%s/%.*s", dir, STRF(v[i]));
		if (!glob.n || str_glob(glob, v[i]))
			add_group(out, v[i], find_group(root, id, path));
	}
	arena_free(&a);
}
