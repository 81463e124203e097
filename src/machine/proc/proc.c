/* proc.c - programs in $PATH, users, processes. */
#include "proc/proc.h"
#include "base/file.h"
#include "kern/caps.h"
#include "proc/cgroup.h"
#include "proc/paths.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

enum {
	MAX_STAT = 1 << 16, /* bytes of a process's stat, status */
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

/* The groups that name the user: "name:password:gid:user,user". */
static struct err *read_groups(struct host *h, struct str user, struct login *ret)
{
	struct str text, line, field, member;
	struct err *e = host_read(h, &text, "/etc/group");
	if (e)
		return e;
	while (str_cut(&text, '\n', &line)) {
		u64 gid = 0;
		bool good = str_cut(&line, ':', &field) && str_cut(&line, ':', &field) &&
			    str_cut(&line, ':', &field) && str_u64(field, &gid);
		while (good && str_cut(&line, ',', &member))
			if (str_eq(member, user) && gid != ret->gid && ret->ngroup < MAX_GROUPS)
				ret->group[ret->ngroup++] = (u32)gid;
	}
	return NULL;
}

struct err *proc_login(struct host *h, const char *user, struct login *ret)
{
	struct str text, line, name, field;
	struct err *e = host_read(h, &text, "/etc/passwd");
	if (e)
		return e;
	while (str_cut(&text, '\n', &line)) { /* name:password:uid:gid:... */
		u64 uid, gid;
		if (!str_cut(&line, ':', &name) || !str_is(name, user) ||
		    !str_cut(&line, ':', &field) || !str_cut(&line, ':', &field) ||
		    !str_u64(field, &uid) || !str_cut(&line, ':', &field) || !str_u64(field, &gid))
			continue;
		*ret = (struct login){.uid = (u32)uid, .gid = (u32)gid, .ngroup = 1};
		ret->group[0] = (u32)gid;
		return read_groups(h, name, ret);
	}
	return err_new("user '%s' is not in /etc/passwd", user);
}

/* Looked up once: devices do not change their names. */
struct disk {
	u32 dev;
	const char *name;
	struct disk *next;
};

static const char *read_disk_name(struct host *h, u32 dev)
{
	struct str text, line;
	struct err *e =
		host_read(h, &text, "/sys/dev/block/%u:%u/uevent", dev >> 20, dev & 0xfffff);
	if (e) {
		err_free(e);
		return NULL;
	}
	while (str_cut(&text, '\n', &line))
		if (str_starts(line, STR("DEVNAME=")))
			return arena_strz(h->arena, str_from(line, 8));
	return NULL;
}

const char *proc_disk_name(struct host *h, u32 dev)
{
	struct disk *d = h->disks;
	while (d && d->dev != dev)
		d = d->next;
	if (!d) {
		const char *name = read_disk_name(h, dev);
		if (!name)
			return NULL;
		d = arena_new(h->arena, struct disk);
		*d = (struct disk){dev, name, h->disks};
		h->disks = d;
	}
	return d->name;
}

void proc_load(struct sb *out)
{
	char text[128];
	AUTO_CLOSE int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
	if (n > 0)
		sb_add(out, str_trim(str_n(text, (u32)n)));
}

/* "Cached:     12345 kB" */
bool proc_meminfo(struct str name, u64 *bytes)
{
	enum { MOST = 16384 };
	AUTO_SB text = {0};
	if (file_read("/proc/meminfo", MOST, &text))
		return false;
	struct str rest = sb_str(&text), line, key;
	while (str_cut(&rest, '\n', &line)) {
		if (!str_cut(&line, ':', &key) || !str_eq(key, name))
			continue;
		struct str number;
		line = str_trim(line);
		bool kb = str_cut(&line, ' ', &number) && str_is(line, "kB");
		if (!str_u64(number, bytes))
			return false;
		*bytes *= kb ? 1024 : 1;
		return true;
	}
	return false;
}

void proc_hasten(int pid)
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
	(void)syscall(SYS_sched_setattr, pid, &attr, 0);
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

char *proc_exe(struct host *h, struct arena *a, int pid)
{
	char path[512];
	char *link = arena_fmt(a, "%s/proc/%d/exe", h->root, pid);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = 0;
	return proc_same_mounts(pid) && !access(path, R_OK) ? arena_fmt(a, "%s", path) : link;
}

u64 proc_program(int pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

u64 proc_own_kib(const struct host *h)
{
	char path[PATH_MAX], text[4096];
	proc_put(path, sizeof(path), h, (int)getpid(), "status");
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[MAX(n, 0)] = 0;
	const char *at = strstr(text, "RssAnon:");
	return at ? strtoull(at + strlen("RssAnon:"), NULL, 10) : 0;
}

int proc_memory(struct host *h, int pid)
{
	char path[PATH_MAX];
	proc_put(path, sizeof(path), h, pid, "mem");
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool status_number(const char *status, const char *name, u64 *ret)
{
	const char *at = strstr(status, name);
	if (at)
		*ret = strtoull(at + strlen(name), NULL, 10);
	return at != NULL;
}

bool proc_sleeps(struct host *h, int pid, int tid, u64 *switches)
{
	char path[PATH_MAX];
	u64 left, pushed;
	AUTO_SB text = {0};
	proc_put(path, sizeof(path), h, pid, "task/%d/status", tid);
	if (file_read(path, MAX_STAT, &text))
		return false;
	const char *state = strstr(text.s, "\nState:\t");
	if (!state || state[sizeof("\nState:\t") - 1] == 'R' ||
	    !status_number(text.s, "\nvoluntary_ctxt_switches:", &left) ||
	    !status_number(text.s, "\nnonvoluntary_ctxt_switches:", &pushed))
		return false;
	*switches = left + pushed;
	return true;
}

bool proc_read(struct host *h, int pid, u64 addr, void *to, size_t n)
{
	int fd AUTO_CLOSE = proc_memory(h, pid);
	return fd >= 0 && pread(fd, to, n, (off_t)addr) == (ssize_t)n;
}

bool proc_stack_start(struct host *h, int pid, u64 *ret)
{
	enum { FIRST = 3, START_STACK = 28 }; /* fields of stat: the name may hold anything */
	char path[PATH_MAX];
	AUTO_SB text = {0};
	snprintf(path, sizeof(path), "%s/proc/%d/stat", h->root, pid);
	if (file_read(path, MAX_STAT, &text))
		return false;
	const char *at = strrchr(text.s, ')');
	for (u32 i = FIRST - 1; at && i < START_STACK; i++)
		at = strchr(at + 1, ' ');
	*ret = at ? strtoull(at, NULL, 10) : 0;
	return *ret != 0;
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

bool proc_is_shielded(int pid, bool ended)
{
	char path[64];
	AUTO_SB text = {0};
	struct stat st;
	u32 uid, gid;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read(fd, MAX_STAT, &text) || fstat(fd, &st))
		return false;
	bool ids = two_ids(text.s, "\nUid:", &uid), gids = two_ids(text.s, "\nGid:", &gid);
	/* No dumps of it: its files are root's, as those of all that have ended. */
	return ids || gids || (!ended && uid && !st.st_uid);
}

bool proc_gains(const char *path)
{
	return geteuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

bool proc_own_ns(const struct host *h, struct stat *st)
{
	return !h->recorded && !stat("/proc/self/ns/pid", st) && st->st_ino != INIT_PID_NS;
}

struct err *proc_ns_pid(struct host *h, int pid, u32 *id, u64 *dev, u64 *ino)
{
	struct stat own, st;
	u64 n = (u64)pid;
	*id = (u32)pid;
	*dev = *ino = 0;
	if (!proc_own_ns(h, &own))
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

bool proc_netns(struct str text, u64 *ret)
{
	enum { NSFS = 0x6e736673 };
	const u64 least = 1u << 22; /* numbers of processes are below */
	AUTO_SB path = {0};
	struct stat st;
	struct statfs fs;
	if (str_u64(text, ret) && *ret >= least)
		return *ret <= UINT32_MAX;
	if (str_u64(text, ret))
		sb_fmt(&path, "/proc/%llu/ns/net", *ret);
	else
		sb_fmt(&path, "%s%.*s", str_chr(text, '/') >= 0 ? "" : "/run/netns/", STRF(text));
	if (!text.n || stat(path.s, &st) || statfs(path.s, &fs) || fs.f_type != NSFS)
		return false;
	*ret = st.st_ino;
	return true;
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
