/* uattach.c - user probes: the files that a text names to processes, and attaching to places in
 * them. */
#include "base/alloc.h"
#include "kern/bpf.h"
#include "kern/caps.h"
#include "probe/common.h"
#include "rights/image_ask.h"
#include "types/zip.h"
#include <errno.h>

const char *user_point_path(struct host *h, const struct point *p)
{
	const char *path = arena_strz(h->arena, p->target), *old = NULL;
	if (p->old)
		err_free(proc_old_file(h, p->pid, path, &old));
	return old ? old : proc_real_path(h, p->pid, path);
}

/* Of processes that stand for others, which may run newer files, only the names are used. */
static bool is_traced(const struct unit *u, int pid)
{
	return pid > 0 && (!u || u->scope.npid || !u->scope.ncgroup);
}

struct err *user_paths(struct host *h, const struct unit *u, int pid, struct str target, paths *out)
{
	const struct viewer v = {.pid = pid,
				 .traced = is_traced(u, pid),
				 .program = u && (u64)pid == u->cpid ? u->program : NULL};
	return proc_paths(h, h->arena, &v, target, out);
}

/* ---- files of several processes ---- */

typedef VEC(struct seen_file) seen_files;

/*
 * Each file once: links to it, processes that see it by the same path, and, where one attachment is
 * for all processes, every path to it.
 */
static bool is_new(seen_files *seen, const struct seen_file *f, bool all)
{
	for (u32 i = 0; i < seen->n; i++) {
		const struct seen_file *s = &seen->v[i];
		if ((all || s->pid == f->pid || !strcmp(s->inside, f->inside)) && seen_same(s, f))
			return false;
	}
	vec_add(seen, *f);
	return true;
}

/* Processes to attach to one by one; none: to all there are, and a filter does the rest. */
static u32 targets(const struct unit *u)
{
	return u->scope.follow ? 0 : u->scope.npid;
}

struct files {
	struct host *h;
	struct unit *u;
	struct diags *ds;
	user_file *one;
	void *arg;
	seen_files seen;
	u32 n; /* files so far */
	bool any, all;
};

static bool warns(const struct files *f)
{
	return f->u && f->ds && f->u->config.missing_probes != MISSING_IGNORE;
}

static void tell_missing(const struct files *f, const struct point *p, int pid, const struct err *e)
{
	if (warns(f))
		diag_add(f->ds, W_NO_PROBE, p->loc, "nothing to probe in process %d: %s", pid,
			 e->msg);
}

/* A probe in a file is not in the one that had its path before. */
static void tell_replaced(const struct files *f, const struct point *p, const char *path)
{
	int pid;
	u32 n = !f->any && warns(f) && !f->u->scope.nviewer ? proc_count_old(f->h, path, &pid) : 0;
	if (n == 1)
		diag_add(f->ds, W_NO_PROBE, p->loc,
			 "process %d runs a replaced version of %s, which this probe does not see: "
			 "use -p %d",
			 pid, path, pid);
	else if (n)
		diag_add(f->ds, W_NO_PROBE, p->loc,
			 "%u processes run a replaced version of %s, which this probe does not "
			 "see: use -p PID (%d is one of them)",
			 n, path, pid);
}

/* One of the files that a target names to a process. */
static struct err *give_file(struct files *f, struct point *q, const char *path)
{
	struct seen_file file;
	const char *old = NULL;
	struct err *e = is_traced(f->u, q->pid) ? proc_old_file(f->h, q->pid, path, &old) : NULL;
	if (e)
		return e;
	const char *real = old ? old : proc_real_path(f->h, q->pid, path);
	if (seen_find(real, q->pid, &file) && !is_new(&f->seen, &file, f->all))
		return NULL;
	tell_replaced(f, q, path);
	q->target = str_z(path);
	q->old = old != NULL;
	return f->one(q, real, f->arg);
}

/* missing: why the process sees none. */
static struct err *files_of(struct files *f, const struct point *p, int pid, struct err **missing)
{
	paths v = {0};
	struct point q = *p;
	struct err *e = NULL;
	q.pid = pid;
	*missing = user_paths(f->h, f->u, pid, p->target, &v);
	if (*missing)
		*missing = err_wrap(*missing, "%s ", p->type->name);
	f->n += v.n;
	for (u32 i = 0; i < v.n && !e; i++) {
		e = give_file(f, &q, v.v[i]);
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
	if (f->any && warns(f) && u->pid <= 0 && !cap_held(CAP_SYS_PTRACE))
		diag_add(f->ds, W_NO_PROBE, p->loc,
			 "files of other users' processes cannot be seen without CAP_SYS_PTRACE");
}

struct err *user_files(struct host *h, struct unit *u, struct diags *ds, const struct point *p,
		       user_file *one, void *arg)
{
	struct files f = {.h = h, .u = u, .ds = ds, .one = one, .arg = arg};
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
	AUTO_FREE struct err **why = xcalloc(n, sizeof(struct err *));
	for (u32 i = 0; i < n && !e; i++) {
		e = files_of(&f, p, u->scope.viewer[i], &why[i]);
		nmissing += why[i] != NULL;
	}
	for (u32 i = 0; i < n; i++) {
		if (why[i] && nmissing == n && !missing)
			missing = why[i];
		else if (why[i] && nmissing < n)
			tell_missing(&f, p, u->scope.viewer[i], why[i]);
		if (why[i] != missing)
			err_free(why[i]);
	}
	vec_free(&f.seen);
	return missing ? missing : e;
}

/* ---- memory ---- */

/* Size bytes, of which the function may say how they are read, to a slot of zeros. */
static void read_into(struct fn *f, struct ref slot, u32 size, struct ref addr)
{
	if (f->read_user)
		f->read_user(f->reader, slot, size, addr);
	else
		ir_call(f, BPF_FUNC_probe_read_user, ARGS(slot, ir_con(f, size), addr));
}

struct ref user_load(struct fn *f, struct ref addr, u32 size, bool is_signed)
{
	u32 mark = ir_slot_mark(f);
	struct ref slot = ir_slot(f, 8);
	if (!ref_is(slot))
		return ir_con(f, 0);
	ir_store(f, 8, slot, 0, ir_con(f, 0));
	read_into(f, slot, size, addr);
	struct ref v = is_signed ? ir_loads(f, size, slot, 0) : ir_load(f, size, slot, 0);
	ir_slot_release(f, mark);
	return v;
}

/* ---- which of many points it was ---- */

static struct ref attach_cookie(struct fn *f)
{
	return ir_callp(f, BPF_FUNC_get_attach_cookie, ARGS(ir_ctx(f)));
}

static struct ref point_number(struct fn *f, const struct point *p)
{
	(void)p;
	return ir_op1(f, O_EXTU, 4, attach_cookie(f));
}

const struct which user_which = {.number = point_number};

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
	struct attach *a;
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
		bpf_link_uprobe_multi(b->a->fd, b->path, off.v, any_sem ? sem.v : NULL,
				      any_cookie ? cookie.v : NULL, n, (u32)b->pid, b->ret, &fd);
	vec_free(&off);
	vec_free(&sem);
	vec_free(&cookie);
	if (!e)
		link_add(&b->a->links, fd, -1);
	return e;
}

/* One place that the kernel refuses spoils all: halves, until it is found and left out. */
static struct err *attach_halves(const struct batch *b, const struct user_site *v, u32 n)
{
	struct err *e = n ? attach_link(b, v, n) : NULL;
	if (!is_unsupported(e))
		return e;
	if (n == 1) {
		leave_out(b->a, 1, err_wrap(e, "offset %#llx: ", v->off));
		return NULL;
	}
	err_free(e);
	e = attach_halves(b, v, n / 2);
	return e ? e : attach_halves(b, v + n / 2, n - n / 2);
}

/* Takes perf_fd. */
static struct err *attach_event(int perf_fd, struct attach *a, u64 cookie)
{
	int fd;
	if (!cookie)
		return perf_start_fd(perf_fd, a);
	struct err *e = bpf_link_perf(a->fd, perf_fd, cookie, &fd);
	link_add(&a->links, e ? -1 : fd, perf_fd);
	return e;
}

static struct err *attach_each(struct host *h, struct attach *a, const struct user_site *v, u32 n,
			       int pid, bool ret)
{
	struct err *e = NULL;
	for (u32 i = 0; !e && i < n; i++) {
		int fd;
		e = perf_open_uprobe(h, v[i].path, v[i].off, v[i].sem, ret, pid ? pid : -1, &fd);
		if (!e)
			e = attach_event(fd, a, v[i].cookie);
	}
	return e;
}

static struct err *attach_file(struct host *h, struct attach *a, const struct user_site *v, u32 n,
			       int pid, bool ret)
{
	bool multi = host_has(h, FEAT_UPROBE_MULTI);
	if (!n)
		return NULL;
	const struct batch b = {.a = a, .path = v->path, .pid = pid, .ret = ret};
	struct err *e = multi ? attach_halves(&b, v, n) : NULL;
	if (e && e->no != EINVAL && e->no != EOPNOTSUPP)
		return e;
	if (e || !multi) { /* EINVAL: the program was not loaded for a multi link */
		err_free(e);
		e = attach_each(h, a, v, n, pid, ret);
	}
	return e;
}

/* Is the file that the point means the one that this process sees by that path? */
static bool is_meant(struct host *h, const struct unit *u, const struct user_site *s, int pid)
{
	struct seen_file meant, seen;
	if (u->scope.nviewer <= 1 || s->point->pid == pid)
		return true;
	const char *inside = proc_path_inside(s->path);
	if (proc_is_entry(inside)) /* one process's mapping */
		return false;
	return seen_find(s->path, 0, &meant) &&
	       seen_find(proc_real_path(h, pid, inside), 0, &seen) && seen_same(&meant, &seen);
}

static void note_file(struct link *l, const char *path)
{
	struct seen_file f;
	if (!l || !seen_find(path, 0, &f))
		return;
	l->file = path;
	l->dev = f.st.st_dev;
	l->ino = f.st.st_ino;
}

/* What the kernel knows is the archive that a file is a member of. */
static struct err *to_archive(struct host *h, user_sites *sites)
{
	u32 n;
	for (u32 i = 0, k; i < sites->n; i += k) {
		struct user_site *v = sites->v + i;
		const char *path = v->path;
		struct image im;
		for (k = 1; i + k < sites->n && !strcmp(v[k].path, path); k++)
			;
		if (!zip_archive(path, &n))
			continue;
		struct err *e = image_ask(h, path, &im);
		if (e)
			return e;
		for (u32 j = 0; j < k; j++) {
			v[j].path = arena_strz(h->arena, str_n(path, n));
			v[j].off += im.base;
			v[j].sem += v[j].sem ? im.base : 0;
		}
		image_close(&im);
	}
	return NULL;
}

struct err *user_attach(struct host *h, struct unit *u, struct attach *a, user_sites *sites,
			bool ret)
{
	struct err *err = to_archive(h, sites);
	if (err)
		return err;
	for (u32 i = 0, n; i < sites->n; i += n) {
		const struct user_site *v = sites->v + i;
		for (n = 1; i + n < sites->n && !strcmp(v[n].path, v[0].path); n++)
			;
		struct err *e = targets(u) ? NULL : attach_file(h, a, v, n, 0, ret);
		if (!targets(u) && !e)
			note_file(a->links, v->path);
		/* What is left out is the same for each process, and counts once. */
		u32 before = a->unattached, most = before;
		for (u32 k = 0; k < targets(u) && !e; k++) {
			a->unattached = before;
			if (!is_meant(h, u, v, u->scope.pid[k].pid))
				continue;
			e = attach_file(h, a, v, n, u->scope.pid[k].pid, ret);
			most = MAX(most, a->unattached);
		}
		if (targets(u))
			a->unattached = most;
		/* Of many files one may have gone meanwhile, with its path or its process. */
		if (e && (e->no == ENOENT || e->no == ESRCH) && n < sites->n)
			leave_out(a, n, e);
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
