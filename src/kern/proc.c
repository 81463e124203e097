/* proc.c - programs in $PATH, users, processes, control groups. */
#include "kern/proc.h"
#include "kern/caps.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
	MAX_CGROUP_DEPTH = 64,
	MAX_PATH = 4096,
	/* struct sched_attr */
	RESET_ON_FORK = 1, /* SCHED_FLAG_RESET_ON_FORK */
	READER_NICE = -10,
	READER_SLICE_NS = 500000, /* heeded since Linux 6.12 */
};

static bool is_program(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

char *proc_which(struct arena *a, const char *prog)
{
	if (!*prog)
		return NULL;
	if (strchr(prog, '/')) {
		char real[PATH_MAX];
		if (!is_program(prog))
			return NULL;
		if (*prog == '/')
			return arena_fmt(a, "%s", prog);
		return realpath(prog, real) ? arena_fmt(a, "%s", real) : NULL;
	}
	const char *path = getenv("PATH");
	struct str rest = str_z(path ? path : "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), dir;
	while (str_cut(&rest, ':', &dir)) {
		if (!dir.n || dir.s[0] != '/')
			continue;
		char *full = arena_fmt(a, "%.*s/%s", STRF(dir), prog);
		if (is_program(full))
			return full;
	}
	return NULL;
}

const char *proc_username(struct host *h, u32 uid)
{
	struct str text, line, name, field;
	struct err *e = host_read(h, &text, "/etc/passwd");
	if (e) {
		err_free(e);
		return NULL;
	}
	while (str_cut(&text, '\n', &line)) { /* name:password:uid:... */
		u64 id;
		if (str_cut(&line, ':', &name) && str_cut(&line, ':', &field) &&
		    str_cut(&line, ':', &field) && str_u64(field, &id) && id == uid)
			return arena_strz(h->arena, name);
	}
	return NULL;
}

void proc_hasten(void)
{
	struct {
		u32 size, policy;
		u64 flags;
		i32 nice;
		u32 priority;
		u64 runtime, deadline, period;
	} attr = {.size = sizeof(attr),
		  .policy = SCHED_OTHER,
		  .flags = RESET_ON_FORK,
		  .nice = READER_NICE,
		  .runtime = READER_SLICE_NS};
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

bool proc_alive(int pid)
{
	return pid > 0 && (!kill(pid, 0) || errno == EPERM);
}

/* Behind "name:" of /proc/PID/status; "" when there is no such line. */
static struct str status_line(struct host *h, int pid, const char *name)
{
	struct str text, line;
	struct err *e = host_read(h, &text, "/proc/%d/status", pid);
	while (!e && str_cut(&text, '\n', &line))
		if (str_starts(line, str_z(name)))
			return str_trim(str_from(line, (u32)strlen(name)));
	err_free(e);
	return STR("");
}

bool proc_runs(struct host *h, int pid)
{
	struct str state = status_line(h, pid, "State:");
	return state.n && state.s[0] != 'Z' && state.s[0] != 'X';
}

u64 proc_program(int pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* "Uid:	real	effective	saved	file system" */
static bool two_ids(const char *status, const char *name, u32 *effective)
{
	u32 real;
	const char *line = strstr(status, name);
	*effective = 0;
	return line && sscanf(line + strlen(name), "%u %u", &real, effective) == 2 &&
	       real != *effective;
}

bool proc_is_shielded(int pid)
{
	char path[64], text[4096];
	struct stat st;
	u32 uid, gid;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0 || fstat(fd, &st))
		return false;
	text[n] = 0;
	bool ids = two_ids(text, "\nUid:", &uid), gids = two_ids(text, "\nGid:", &gid);
	return ids || gids || (uid && !st.st_uid); /* no dumps of it: its files are root's */
}

struct err *proc_ns_pid(struct host *h, int pid, u32 *id, u64 *dev, u64 *ino)
{
	struct stat own, st;
	u64 n = (u64)pid;
	*id = (u32)pid;
	*dev = *ino = 0;
	if (h->recorded || stat("/proc/self/ns/pid", &own) || own.st_ino == INIT_PID_NS)
		return NULL;
	if (stat(arena_fmt(h->arena, "/proc/%d/ns/pid", pid), &st))
		return err_file(errno, arena_fmt(h->arena, "/proc/%d/ns/pid", pid),
				"find the pid namespace of process %d", pid);
	struct str ids = status_line(h, pid, "NSpid:"), last = ids;
	for (u32 i = 0; i < ids.n; i++)
		if (ids.s[i] == '\t')
			last = str_from(ids, i + 1);
	if (ids.n && !str_u64(last, &n))
		return err_new("/proc/%d/status: NSpid is not understood: %.*s", pid, STRF(ids));
	*id = (u32)n;
	*dev = st.st_dev;
	*ino = st.st_ino;
	return NULL;
}

int proc_pidfd(int pid, struct err **err)
{
	*err = NULL;
	long r = syscall(__NR_pidfd_open, pid, 0);
	if (r >= 0)
		return (int)r;
	struct host h = {.root = ""};
	struct arena a = {0};
	int no = errno;
	h.arena = &a;
	struct str leader = status_line(&h, pid, "Tgid:");
	u64 tgid;
	if (no != ESRCH && str_u64(leader, &tgid) && tgid != (u64)pid)
		*err = err_new("%d is a thread of process %llu, and processes are traced: -p %llu",
			       pid, tgid, tgid);
	else
		*err = err_kern(no, "open pidfd of process %d", pid);
	arena_free(&a);
	return -1;
}

/* ---- control groups: the id is the inode number of the directory ---- */

static const char *cgroup_root(struct host *h)
{
	const char *unified = arena_fmt(h->arena, "%s/sys/fs/cgroup/unified", h->root);
	const char *plain = arena_fmt(h->arena, "%s/sys/fs/cgroup", h->root);
	return access(arena_fmt(h->arena, "%s/cgroup.procs", unified), F_OK) ? plain : unified;
}

/* Depth first; path[0..len) is the directory being searched. */
static bool find_inode(char *path, size_t len, u64 id, u32 depth)
{
	struct stat st;
	if (stat(path, &st))
		return false;
	if ((u64)st.st_ino == id)
		return true;
	DIR *d = depth < MAX_CGROUP_DEPTH ? opendir(path) : NULL;
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

const char *proc_cgroup_path(struct host *h, u64 id)
{
	char path[MAX_PATH];
	const char *root = cgroup_root(h);
	size_t n = strlen(root);
	if (n + 2 > sizeof(path))
		return NULL;
	memcpy(path, root, n + 1);
	if (!find_inode(path, n, id, 0))
		return NULL;
	return path[n] ? arena_fmt(h->arena, "%s", path + n) : "/";
}

struct err *proc_cgroup_id(struct host *h, const char *path, u64 *id)
{
	struct stat st;
	const char *full = path;
	if (stat(path, &st)) {
		full = arena_fmt(h->arena, "%s/%s", cgroup_root(h), path);
		if (stat(full, &st))
			return err_kern(errno, "find control group %s", path);
	}
	if (!S_ISDIR(st.st_mode))
		return err_new("%s is not a control group", path);
	*id = st.st_ino;
	return NULL;
}
