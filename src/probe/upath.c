/* upath.c - files that uprobes and USDT probes name, and attaching to places in them. */
#include "base/tab.h"
#include "kern/bpf.h"
#include "kern/caps.h"
#include "kern/proc.h"
#include "probe/common.h"
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { MAX_GLOB_PATHS = 4096 };

const char *user_path_real(struct host *h, int pid, const char *path)
{
	if (pid <= 0 || *path != '/' || !strncmp(path, "/proc/", 6) || proc_same_mounts(pid))
		return path;
	const char *inside = arena_fmt(h->arena, "/proc/%d/root%s", pid, path);
	return access(inside, F_OK) ? path : inside;
}

const char *user_point_path(struct host *h, const struct point *p)
{
	return user_path_real(h, p->pid, arena_strz(h->arena, p->target));
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

/* A program by its name below the root of a process. */
static const char *find_inside(struct arena *a, int pid, const char *name)
{
	static const char *const dirs[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					   "/usr/bin",        "/sbin",          "/bin"};
	for (u32 i = 0; i < countof(dirs); i++)
		if (is_file(arena_fmt(a, "/proc/%d/root%s/%s", pid, dirs[i], name)))
			return arena_fmt(a, "%s/%s", dirs[i], name);
	return NULL;
}

/* A name without a slash: libraries by their rules, the rest through $PATH. */
static const char *find_name(struct host *h, struct arena *a, int pid, const char *name)
{
	bool lib = !strncmp(name, "lib", 3);
	const char *path =
		!lib && pid > 0 && !proc_same_mounts(pid) ? find_inside(a, pid, name) : NULL;
	if (path)
		return path;
	path = lib ? proc_library(h, a, pid, name) : proc_which(a, name);
	if (!path)
		path = lib ? proc_which(a, name) : proc_library(h, a, pid, name);
	return path;
}

/* The program of a process and every file mapped executable in it, but those that are there
 * already. */
static struct err *process_files(struct host *h, struct arena *a, int pid, struct tab *seen,
				 paths *out)
{
	struct str text, line;
	struct mapped m;
	bool same = proc_same_mounts(pid);
	struct err *e = host_read(h, &text, "/proc/%d/maps", pid);
	if (e)
		return e;
	while (str_cut(&text, '\n', &line)) {
		i32 perm = str_chr(line, ' ');
		if (perm < 0 || line.n < (u32)perm + 5 || line.s[perm + 3] != 'x')
			continue;
		if (!proc_mapped(a, pid, line, same, &m) || m.deleted ||
		    tab_get(seen, str_z(m.real)))
			continue;
		tab_set(seen, str_z(m.real), out);
		vec_add(out, m.real);
	}
	return NULL;
}

/* Files with code in any process. Those that end meanwhile, or are not ours to see, are left out.
 */
static struct err *all_files(struct host *h, struct arena *a, struct tab *seen, paths *out)
{
	DIR *d = opendir("/proc");
	if (!d)
		return err_sys(errno, "open /proc");
	for (struct dirent *e; (e = readdir(d));) {
		u64 pid;
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && str_u64(str_z(e->d_name), &pid))
			err_free(process_files(h, a, (int)pid, seen, out));
	}
	closedir(d);
	return NULL;
}

static bool runs_deleted(struct host *h, struct arena *a, int pid, const char *path)
{
	struct str text, line;
	struct mapped m;
	struct err *e = pid > 0 ? host_read(h, &text, "/proc/%d/maps", pid) : err_new("none");
	if (e) {
		err_free(e);
		return false;
	}
	while (str_cut(&text, '\n', &line))
		if (proc_mapped(a, pid, line, true, &m) && m.deleted && str_is(m.path, path))
			return true;
	return false;
}

static struct err *no_file(struct host *h, struct arena *a, int pid, const char *path,
			   const char *real)
{
	struct stat st;
	if (!stat(real, &st))
		return err_new("target file '%s' is %s", path,
			       S_ISDIR(st.st_mode) ? "a directory, not a program or library"
						   : "not a regular file");
	if (errno == EACCES)
		return err_file(errno, real, "target file '%s' cannot be reached", path);
	if (runs_deleted(h, a, pid, path))
		return err_new(
			"target file '%s' is deleted; process %d, which still runs it, may be "
			"traced as /proc/%d/exe if that is its program",
			path, pid, pid);
	return err_new("target file '%s' does not exist or is not executable", path);
}

struct err *user_paths(struct host *h, const struct unit *u, int pid, struct str target, paths *out)
{
	struct arena *a = u ? u->arena : h->arena;
	if (!target.n && pid <= 0)
		return err_new("needs the name of a file, or a process given with -p");
	if (!target.n || str_is(target, "*")) {
		struct tab seen = {0};
		struct err *e = NULL;
		if (u && u->program) /* of the -c child, which does not run yet */
			vec_add(out, u->program);
		else
			e = pid > 0 ? process_files(h, a, pid, &seen, out)
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
		const char *found = find_name(h, a, pid, path);
		if (!found)
			return err_new("target file '%s' does not exist or is not executable (not "
				       "in $PATH, and no "
				       "library of that name)",
				       path);
		vec_add(out, found);
		return NULL;
	}
	const char *real = user_path_real(h, pid, path);
	if (!is_file(real))
		return no_file(h, a, pid, path, real);
	vec_add(out, path);
	return NULL;
}

/* ---- files of several processes ---- */

/* "/proc/PID/root/path" -> "/path" */
static const char *path_inside(const char *path)
{
	u32 n = 6;
	if (strncmp(path, "/proc/", 6) != 0)
		return path;
	while (path[n] >= '0' && path[n] <= '9')
		n++;
	return strncmp(path + n, "/root/", 6) ? path : path + n + 5;
}

static bool is_overlay(const char *path)
{
	enum { OVERLAYFS_MAGIC = 0x794c7630 };
	struct statfs fs;
	return !statfs(path, &fs) && fs.f_type == OVERLAYFS_MAGIC;
}

struct seen_file {
	const char *path, *inside;
	int pid;
	struct stat st;
};
typedef VEC(struct seen_file) seen_files;

/*
 * Overlays that share a layer, as containers of one image do, show one file below several devices;
 * a probe in any of them is in all.
 */
static bool same_file(const struct seen_file *x, const struct seen_file *y)
{
	const struct stat *a = &x->st, *b = &y->st;
	if (a->st_ino != b->st_ino || a->st_size != b->st_size)
		return false;
	if (a->st_dev == b->st_dev)
		return true;
	return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec &&
	       (is_overlay(x->path) || is_overlay(y->path));
}

/*
 * Each file once: links to it, processes that see it by the same path, and, where one attachment is
 * for all processes, every path to it.
 */
static bool is_new(seen_files *seen, const struct seen_file *f, bool all)
{
	for (u32 i = 0; i < seen->n; i++) {
		const struct seen_file *s = &seen->v[i];
		if ((all || s->pid == f->pid || !strcmp(s->inside, f->inside)) && same_file(s, f))
			return false;
	}
	vec_add(seen, *f);
	return true;
}

static bool file_known(const char *path, int pid, struct seen_file *ret)
{
	*ret = (struct seen_file){.path = path, .inside = path_inside(path), .pid = pid};
	return !stat(path, &ret->st);
}

/* Processes to attach to one by one; none: to all there are, and a filter does the rest. */
static u32 targets(const struct unit *u)
{
	return u->scope.follow ? 0 : u->scope.npid;
}

static void tell_missing(struct unit *u, const struct point *p, int pid, const struct err *e)
{
	if (u && u->diags && u->config.missing_probes != MISSING_IGNORE)
		diag_add(u->diags, W_NO_PROBE, p->loc, "nothing to probe in process %d: %s", pid,
			 e->msg);
}

struct files {
	struct host *h;
	struct unit *u;
	user_file *one;
	void *arg;
	seen_files seen;
	u32 n; /* files so far */
	bool any, all;
};

/* missing: why the process sees none. */
static struct err *files_of(struct files *f, const struct point *p, int pid, struct err **missing)
{
	paths v = {0};
	struct seen_file file;
	struct point q = *p;
	struct err *e = NULL;
	q.pid = pid;
	*missing = user_paths(f->h, f->u, pid, p->target, &v);
	if (*missing)
		*missing = err_wrap(*missing, "%s ", p->provider->name);
	f->n += v.n;
	for (u32 i = 0; i < v.n && !e; i++) {
		const char *real = user_path_real(f->h, pid, v.v[i]);
		if (file_known(real, pid, &file) && !is_new(&f->seen, &file, f->all))
			continue;
		q.target = str_z(v.v[i]);
		e = f->one(&q, real, f->arg);
		/* not every file that a wildcard meets is a program */
		if (e && (f->n > 1 || f->any)) {
			err_free(e);
			e = NULL;
		}
	}
	vec_free(&v);
	return e;
}

/* Which processes have what mapped is for those to see who may trace them. */
static void tell_unseen(const struct files *f, const struct point *p)
{
	struct unit *u = f->u;
	if (f->any && u && u->pid <= 0 && u->diags && u->config.missing_probes != MISSING_IGNORE &&
	    !cap_held(CAP_SYS_PTRACE))
		diag_add(u->diags, W_NO_PROBE, p->loc,
			 "files of other users' processes cannot be seen without CAP_SYS_PTRACE");
}

struct err *user_files(struct host *h, struct unit *u, const struct point *p, user_file *one,
		       void *arg)
{
	struct files f = {.h = h, .u = u, .one = one, .arg = arg};
	u32 n = u ? u->scope.nviewer : 0, nmissing = 0;
	struct err *e = NULL, *missing = NULL;
	f.any = !p->target.n || str_is(p->target, "*");
	f.all = !u || !targets(u);
	tell_unseen(&f, p);
	if (n <= 1) {
		e = files_of(&f, p, u ? u->pid : 0, &missing);
		vec_free(&f.seen);
		return missing ? missing : e;
	}
	AUTO_FREE struct err **why = calloc(n, sizeof(struct err *));
	if (!why)
		abort();
	for (u32 i = 0; i < n && !e; i++) {
		e = files_of(&f, p, u->scope.viewer[i], &why[i]);
		nmissing += why[i] != NULL;
	}
	for (u32 i = 0; i < n; i++) {
		if (why[i] && nmissing == n && !missing)
			missing = why[i];
		else if (why[i] && nmissing < n)
			tell_missing(u, p, u->scope.viewer[i], why[i]);
		if (why[i] != missing)
			err_free(why[i]);
	}
	vec_free(&f.seen);
	return missing ? missing : e;
}

/* ---- memory ---- */

struct ref user_load(struct fn *f, struct ref addr, u32 size, bool is_signed)
{
	enum { HELPER_PROBE_READ_USER = 112 };
	u32 mark = ir_slot_mark(f);
	struct ref slot = ir_slot(f, 8);
	if (!ref_is(slot))
		return ir_con(f, 0);
	ir_store(f, 8, slot, 0, ir_con(f, 0));
	ir_call(f, HELPER_PROBE_READ_USER, ARGS(slot, ir_con(f, size), addr));
	struct ref v = is_signed ? ir_loads(f, size, slot, 0) : ir_load(f, size, slot, 0);
	ir_slot_release(f, mark);
	return v;
}

/* ---- which of many points it was ---- */

static struct ref attach_cookie(struct fn *f)
{
	enum { HELPER_GET_ATTACH_COOKIE = 174 };
	return ir_callp(f, HELPER_GET_ATTACH_COOKIE, ARGS(ir_ctx(f)));
}

struct ref user_which(struct fn *f, const struct point *p)
{
	(void)p;
	return ir_op1(f, O_EXTU, 4, attach_cookie(f));
}

struct ref user_behind(struct fn *f)
{
	return ir_op2(f, O_SHR, attach_cookie(f), ir_con(f, 32));
}

/* ---- attaching ---- */

u32 user_load_as(struct host *h, const struct unit *u, const struct prog *g)
{
	(void)u;
	(void)g;
	return host_has(h, FEAT_UPROBE_MULTI) ? SONDE_BPF_TRACE_UPROBE_MULTI : 0;
}

/* Places of one file, to be attached to together. */
struct batch {
	struct prog *g;
	struct link **list;
	const char *path;
	int pid; /* 0: every process */
	bool ret;
};

static bool is_unsupported(const struct err *e)
{
	return e && (e->no == ENOTSUPP_KERNEL || e->no == ENOEXEC);
}

static struct err *attach_link(const struct batch *b, const struct user_site *v, u32 n)
{
	VEC(u64) off = {0}, sem = {0}, cookie = {0};
	bool any_sem = false, any_cookie = false;
	for (u32 i = 0; i < n; i++) {
		vec_add(&off, v[i].off);
		vec_add(&sem, v[i].sem);
		vec_add(&cookie, v[i].cookie);
		any_sem = any_sem || v[i].sem;
		any_cookie = any_cookie || v[i].cookie;
	}
	int fd;
	struct err *e =
		bpf_link_uprobe_multi(b->g->fd, b->path, off.v, any_sem ? sem.v : NULL,
				      any_cookie ? cookie.v : NULL, n, (u32)b->pid, b->ret, &fd);
	vec_free(&off);
	vec_free(&sem);
	vec_free(&cookie);
	if (!e)
		link_add(b->list, fd, -1);
	return e;
}

/* One place that the kernel refuses spoils all: halves, until it is found and left out. */
static struct err *attach_halves(const struct batch *b, const struct user_site *v, u32 n)
{
	struct err *e = n ? attach_link(b, v, n) : NULL;
	if (!is_unsupported(e))
		return e;
	if (n == 1) {
		leave_out(b->g, 1, err_wrap(e, "offset %#llx: ", v->off));
		return NULL;
	}
	err_free(e);
	e = attach_halves(b, v, n / 2);
	return e ? e : attach_halves(b, v + n / 2, n - n / 2);
}

/* Takes perf_fd. */
static struct err *attach_event(int perf_fd, struct prog *g, u64 cookie, struct link **list)
{
	int fd;
	if (!cookie)
		return perf_start_fd(perf_fd, g, list);
	struct err *e = bpf_link_perf(g->fd, perf_fd, cookie, &fd);
	link_add(list, e ? -1 : fd, perf_fd);
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
			e = attach_event(fd, g, v[i].cookie, list);
	}
	return e;
}

static struct err *attach_file(struct host *h, struct prog *g, const struct user_site *v, u32 n,
			       int pid, bool ret, struct link **list)
{
	bool multi = host_has(h, FEAT_UPROBE_MULTI);
	if (!n)
		return NULL;
	const struct batch b = {.g = g, .list = list, .path = v->path, .pid = pid, .ret = ret};
	struct err *e = multi ? attach_halves(&b, v, n) : NULL;
	if (e && e->no != EINVAL && e->no != EOPNOTSUPP)
		return e;
	if (e || !multi) { /* EINVAL: the program was not loaded for a multi link */
		err_free(e);
		e = attach_each(h, g, v, n, pid, ret, list);
	}
	return e;
}

/* Is the file that the point means the one that this process sees by that path? */
static bool is_meant(struct host *h, const struct unit *u, const struct user_site *s, int pid)
{
	struct seen_file meant, seen;
	if (u->scope.nviewer <= 1 || s->point->pid == pid)
		return true;
	const char *inside = path_inside(s->path);
	if (!strncmp(inside, "/proc/", 6)) /* one process's mapping */
		return false;
	return file_known(s->path, 0, &meant) &&
	       file_known(user_path_real(h, pid, inside), 0, &seen) && same_file(&meant, &seen);
}

static void note_file(struct link *l, const char *path)
{
	struct seen_file f;
	if (!l || !file_known(path, 0, &f))
		return;
	l->file = path;
	l->dev = f.st.st_dev;
	l->ino = f.st.st_ino;
}

struct err *user_attach(struct host *h, struct unit *u, struct prog *g, user_sites *sites, bool ret,
			struct link **list)
{
	for (u32 i = 0, n; i < sites->n; i += n) {
		const struct user_site *v = sites->v + i;
		for (n = 1; i + n < sites->n && !strcmp(v[n].path, v[0].path); n++)
			;
		struct err *e = targets(u) ? NULL : attach_file(h, g, v, n, 0, ret, list);
		if (!targets(u) && !e)
			note_file(*list, v->path);
		/* What is left out is the same for each process, and counts once. */
		u32 before = g->unattached, most = before;
		for (u32 k = 0; k < targets(u) && !e; k++) {
			g->unattached = before;
			if (!is_meant(h, u, v, u->scope.pid[k].pid))
				continue;
			e = attach_file(h, g, v, n, u->scope.pid[k].pid, ret, list);
			most = MAX(most, g->unattached);
		}
		if (targets(u))
			g->unattached = most;
		/* Of many files one may have gone meanwhile. */
		if (e && e->no == ENOENT && n < sites->n)
			leave_out(g, n, e);
		else if (e)
			return e;
	}
	return NULL;
}

struct err *user_able(struct host *h)
{
	u32 type, bit;
	return host_has(h, FEAT_UPROBE_MULTI) ? NULL : perf_probe_pmu(h, "uprobe", &type, &bit);
}
