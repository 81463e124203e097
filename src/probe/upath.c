/* upath.c - files that uprobes and USDT probes name, and attaching to places in them. */
#include "kern/proc.h"
#include "probe/common.h"
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

enum { MAX_GLOB_PATHS = 4096 };

const char *user_path_real(struct host *h, const struct unit *u, const char *path)
{
	int pid = u ? u->pid : 0;
	if (pid <= 0 || *path != '/' || !strncmp(path, "/proc/", 6) || proc_same_mounts(pid))
		return path;
	const char *inside = arena_fmt(h->arena, "/proc/%d/root%s", pid, path);
	return access(inside, F_OK) ? path : inside;
}

static bool is_file(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode);
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

/* A name without a slash: libraries by their rules, the rest through $PATH. */
static const char *find_name(struct host *h, struct arena *a, int pid, const char *name)
{
	bool lib = !strncmp(name, "lib", 3);
	char *path = lib ? proc_library(h, a, pid, name) : proc_which(a, name);
	if (!path)
		path = lib ? proc_which(a, name) : proc_library(h, a, pid, name);
	return path;
}

/* The program of a process and every file mapped executable in it. */
static struct err *process_files(struct host *h, struct arena *a, int pid, paths *out)
{
	struct str text, line;
	struct err *e = host_read(h, &text, "/proc/%d/maps", pid);
	if (e)
		return e;
	while (str_cut(&text, '\n', &line)) {
		i32 at = str_chr(line, '/'), perm = str_chr(line, ' ');
		if (at < 0 || perm < 0 || line.n < (u32)perm + 4 || line.s[perm + 3] != 'x')
			continue;
		const char *path = arena_strz(a, str_from(line, (u32)at));
		bool known = out->n && !strcmp(out->v[out->n - 1], path);
		if (!known && !str_ends(str_z(path), STR(" (deleted)")))
			vec_add(out, path);
	}
	return NULL;
}

struct err *user_paths(struct host *h, const struct unit *u, struct str target, paths *out)
{
	struct arena *a = u ? u->arena : h->arena;
	int pid = u ? u->pid : 0;
	if (!target.n || str_is(target, "*"))
		return pid > 0 ? process_files(h, a, pid, out)
			       : err_new("needs the name of a file, or a process given with -p");
	const char *path = arena_strz(a, target);
	if (str_is_glob(target)) {
		glob_paths(a, target.s[0] == '/' ? "" : ".", target, out);
		return NULL;
	}
	if (!strchr(path, '/')) {
		const char *found = find_name(h, a, pid, path);
		if (!found)
			return err_new("target file '%s' does not exist or is not executable (not "
				       "in $PATH, and no "
				       "library of that name)",
				       path);
		vec_add(out, found);
		return NULL;
	}
	if (!is_file(user_path_real(h, u, path)))
		return err_new("target file '%s' does not exist or is not executable", path);
	vec_add(out, path);
	return NULL;
}

/* ---- attaching ---- */

u32 user_load_as(struct host *h, const struct unit *u, const struct prog *g)
{
	(void)u;
	(void)g;
	return host_has(h, FEAT_UPROBE_MULTI) ? SONDE_BPF_TRACE_UPROBE_MULTI : 0;
}

/* Processes to attach to one by one; none: to all there are, and a filter does the rest. */
static u32 targets(const struct unit *u)
{
	return u->scope.follow ? 0 : u->scope.npid;
}

/* All n places are in one file. pid 0: every process. */
static struct err *attach_multi(struct prog *g, const struct user_site *v, u32 n, int pid, bool ret,
				struct link **list)
{
	VEC(u64) off = {0}, sem = {0};
	bool any_sem = false;
	for (u32 i = 0; i < n; i++) {
		vec_add(&off, v[i].off);
		vec_add(&sem, v[i].sem);
		any_sem = any_sem || v[i].sem;
	}
	int fd;
	struct err *e = bpf_link_uprobe_multi(g->fd, v[0].path, off.v, any_sem ? sem.v : NULL, NULL,
					      n, (u32)pid, ret, &fd);
	vec_free(&off);
	vec_free(&sem);
	if (!e)
		link_add(list, fd, -1);
	return e;
}

static struct err *attach_each(struct host *h, struct prog *g, const struct user_site *v, u32 n,
			       int pid, bool ret, struct link **list)
{
	struct err *e = NULL;
	for (u32 i = 0; !e && i < n; i++) {
		int fd;
		e = perf_open_uprobe(h, v[i].path, v[i].off, v[i].sem, ret, pid ? pid : -1, &fd);
		if (!e)
			e = perf_start_fd(fd, g, list);
	}
	return e;
}

static struct err *attach_file(struct host *h, struct prog *g, const struct user_site *v, u32 n,
			       int pid, bool ret, struct link **list)
{
	bool multi = host_has(h, FEAT_UPROBE_MULTI);
	struct err *e = multi ? attach_multi(g, v, n, pid, ret, list) : NULL;
	if (e && e->no != EINVAL && e->no != EOPNOTSUPP)
		return e;
	if (e || !multi) { /* EINVAL: the program was not loaded for a multi link */
		err_free(e);
		e = attach_each(h, g, v, n, pid, ret, list);
	}
	return e;
}

struct err *user_attach(struct host *h, struct unit *u, struct prog *g, user_sites *sites, bool ret,
			struct link **list)
{
	for (u32 i = 0, n; i < sites->n; i += n) {
		const struct user_site *v = sites->v + i;
		for (n = 1; i + n < sites->n && !strcmp(v[n].path, v[0].path); n++)
			;
		struct err *e = targets(u) ? NULL : attach_file(h, g, v, n, 0, ret, list);
		for (u32 k = 0; k < targets(u) && !e; k++)
			e = attach_file(h, g, v, n, u->scope.pid[k].pid, ret, list);
		if (e)
			return e;
	}
	return NULL;
}
