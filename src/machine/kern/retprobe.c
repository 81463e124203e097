/* retprobe.c - return probes, and many probes at once, through tracefs's kprobe_events. */
#include "base/alloc.h"
#include "base/vec.h"
#include "kern/link.h"
#include "kern/perf.h"
#include "kern/tracefs.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Events are called sonde/sonde_PID_NUMBER. */
#define GROUP "sonde"
enum { REMOVE_TRIES = 6000, REMOVE_WAIT_US = 10000 };

struct retprobes {
	pid_t guard;
	int alive; /* closed by our end, whatever it is */
	u32 n;
	bool late;        /* definitions are left to the guard */
	VEC(int) late_fd; /* ... perf events to a child that closes them */
};

static struct err *control_file(struct host *h, const char **path)
{
	const char *dir;
	struct err *e = host_tracefs(h, &dir);
	if (!e)
		*path = arena_fmt(h->arena, "%s%s/kprobe_events", h->root, dir);
	return e;
}

/* One command. O_APPEND: truncating would remove everybody's probes. 0 or an errno. */
static int command(const char *path, const char *text)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return errno;
	size_t n = strlen(text);
	return write(fd, text, n) == (ssize_t)n ? 0 : errno;
}

/*
 * May we remove "r4096:sonde/sonde_12_34_5 vfs_read", which is the sixth of process 12 and its guard 34? If
 * pid is not 0, only the events of pid and this guard; else all whose process has ended.
 */
static bool is_left(struct str line, u64 pid, u64 guard, struct str *event)
{
	i32 at = str_find(line, STR(":" GROUP "/" GROUP "_"));
	if (at < 0)
		return false;
	*event = str_from(line, (u32)at + 1);
	struct str rest = str_from(*event, sizeof(GROUP "/" GROUP "_") - 1), owner, second;
	i32 end = str_chr(*event, ' ');
	if (end > 0)
		event->n = (u32)end;
	u64 who, number;
	if (!str_cut(&rest, '_', &owner) || !str_u64(owner, &who) || !who || who > INT32_MAX)
		return false;
	if (pid)
		return who == pid && str_cut(&rest, '_', &second) && str_u64(second, &number) &&
		       number == guard;
	return kill((pid_t)who, 0) && errno == ESRCH;
}

/* False: some are still in use. */
static bool sweep(const char *path, struct str list, u64 pid, u64 guard)
{
	bool all = true;
	struct str line, event, before = {0};
	while (str_cut(&list, '\n', &line)) {
		char text[128];
		if (!is_left(line, pid, guard, &event) || str_eq(event, before))
			continue;
		before = event;
		int n = snprintf(text, sizeof(text), "-:%.*s\n", STRF(event));
		if (n > 0 && (size_t)n < sizeof(text) && command(path, text) == EBUSY)
			all = false;
	}
	return all;
}

/* The guard: a child that does nothing until the parent is gone. */
static void guard(struct host *h, const char *path, int alive, pid_t parent)
{
	char c;
	setsid();
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	while (read(alive, &c, 1) < 0 && errno == EINTR)
		;
	struct host own = {.arena = h->arena, .root = h->root};
	for (u32 i = 0; i < REMOVE_TRIES; i++) { /* our other descriptors may close later */
		struct str list;
		struct err *e = host_read(&own, &list, "%s", path + strlen(h->root));
		if (e || sweep(path, list, (u64)parent, (u64)getpid()))
			break;
		usleep(REMOVE_WAIT_US);
	}
	_exit(0);
}

static bool close_above(int fd)
{
	if (!close_range((unsigned)fd + 1, ~0u, 0))
		return true;
	if (errno != ENOSYS)
		return false;
	for (int i = (int)sysconf(_SC_OPEN_MAX) - 1; i > fd; i--) /* before Linux 5.9 */
		close(i);
	return true;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* A child whose end closes the late events: nothing else stays open in it. */
static void close_late(struct retprobes *r)
{
	if (!r->late_fd.n)
		return;
	qsort(r->late_fd.v, r->late_fd.n, sizeof(int), by_number);
	pid_t pid = fork();
	if (pid == 0) {
		unsigned from = 0;
		setsid();
		for (u32 i = 0; i < r->late_fd.n; i++) {
			unsigned fd = (unsigned)r->late_fd.v[i];
			if (fd > from)
				close_range(from, fd - 1, 0);
			from = fd + 1;
		}
		close_above((int)from - 1);
		_exit(0);
	}
	for (u32 i = 0; i < r->late_fd.n; i++) /* without a child, this takes its time */
		close(r->late_fd.v[i]);
	vec_free(&r->late_fd);
}

static void end_guard(struct host *h)
{
	struct retprobes *r = h->retprobes;
	if (!r)
		return;
	close_late(r);
	close(r->alive);
	while (!r->late && waitpid(r->guard, NULL, 0) < 0 && errno == EINTR)
		;
	h->retprobes = NULL;
}

static struct err *start_guard(struct host *h, const char *path)
{
	int ends[2];
	pid_t parent = getpid();
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(errno, "pipe");
	pid_t pid = fork();
	if (pid == 0) { /* nothing that the parent attached may stay open here */
		int keep = dup2(ends[0], 3);
		if (keep < 0 || !close_above(keep))
			_exit(1);
		guard(h, path, keep, parent);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return err_sys(errno, "fork");
	}
	struct retprobes *r = arena_new(h->arena, struct retprobes);
	*r = (struct retprobes){.guard = pid, .alive = ends[1]};
	h->retprobes = r;
	host_at_end(h, end_guard);
	return NULL;
}

/* First use: what processes left that were killed together with their guards. */
static struct err *begin(struct host *h, const char *path)
{
	struct str list;
	if (h->retprobes)
		return NULL;
	if (h->no_children)
		return err_new(
			"this needs a child process, which removes the probe if this process is "
			"killed; and this process must not start others");
	struct err *e = host_read(h, &list, "%s", path + strlen(h->root));
	if (e)
		return e;
	sweep(path, list, 0, 0);
	return start_guard(h, path);
}

static struct err *open_event(struct host *h, char *name, char **event, int *perf_fd)
{
	struct perf_spec s = {.type = PERF_TYPE_TRACEPOINT, .period = 1, .pid = -1, .cpu = 0};
	struct err *e = tracefs_id(h, STR(GROUP), str_z(name), &s.config);
	if (!e)
		e = perf_open(&s, perf_fd);
	if (!e) {
		*event = name;
		return NULL;
	}
	retprobe_remove(h, name);
	free(name);
	return e;
}

static char *next_name(struct host *h)
{
	char *name = NULL;
	if (asprintf(&name, GROUP "_%d_%d_%u", getpid(), h->retprobes->guard, h->retprobes->n++) <
	    0)
		out_of_memory();
	return name;
}

/* calls 0: at the start of the function. An errno. */
static int define(const char *path, const char *name, const struct probe_place *p, u32 calls)
{
	char text[512], kind[16] = "p", at[32];
	if (calls)
		snprintf(kind, sizeof(kind), "r%u", calls);
	snprintf(at, sizeof(at), "_stext+%llu", p->off);
	int n = snprintf(text, sizeof(text), "%s:" GROUP "/%s %s\n", kind, name,
			 p->off ? at : p->func);
	return n < 0 || (size_t)n >= sizeof(text) ? ENAMETOOLONG : command(path, text);
}

struct err *retprobe_open_all(struct host *h, struct probe_place *v, u32 n, u32 calls, char **event,
			      int *perf_fd)
{
	const char *path;
	struct err *e = control_file(h, &path);
	if (!e)
		e = begin(h, path);
	if (e)
		return e;
	u32 good = 0;
	char *name = next_name(h);
	for (u32 i = 0; i < n; i++) {
		v[i].no = define(path, name, &v[i], calls);
		good += !v[i].no;
	}
	if (good)
		return open_event(h, name, event, perf_fd);
	free(name);
	return err_kern(v[0].no, "define a probe of %s in %s", v[0].func, path);
}

struct err *retprobe_open(struct host *h, const char *func, u32 calls, char **event, int *perf_fd)
{
	struct probe_place p = {.func = func};
	return retprobe_open_all(h, &p, 1, calls, event, perf_fd);
}

void retprobe_remove(struct host *h, const char *event)
{
	const char *path;
	char text[128];
	struct err *e = control_file(h, &path);
	int n = snprintf(text, sizeof(text), "-:" GROUP "/%s\n", event);
	assert(n > 0 && (size_t)n < sizeof(text));
	if (!e)
		command(path, text); /* still busy: left to the guard */
	err_free(e);
}

/* Lines of kprobe_profile: name, hits, misses; one for each function of an event. */
bool retprobe_missed(struct host *h, const char *event, u64 *n)
{
	const char *dir;
	struct str text, line, word;
	struct err *e = host_tracefs(h, &dir);
	if (!e)
		e = host_read(h, &text, "%s/kprobe_profile", dir);
	if (e) {
		err_free(e);
		return false;
	}
	bool told = false;
	*n = 0;
	while (str_cut(&text, '\n', &line)) {
		u64 missed;
		line = str_trim(line);
		if (!str_cut(&line, ' ', &word) || !str_is(word, event))
			continue;
		line = str_trim(line);
		str_cut(&line, ' ', &word); /* hits */
		if (!str_u64(str_trim(line), &missed))
			return false;
		*n += missed;
		told = true;
	}
	return told;
}

void retprobe_late(struct host *h, int perf_fd)
{
	assert(h->retprobes && perf_fd >= 0);
	h->retprobes->late = true;
	vec_add(&h->retprobes->late_fd, perf_fd);
}
