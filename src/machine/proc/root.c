/* root.c - entries of /proc, and files below the root of a process. */
#include "proc/root.h"
#include "types/zip.h"
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

int proc_put(char *to, size_t n, const struct host *h, int pid, const char *fmt, ...)
{
	va_list ap;
	int head = snprintf(to, n, "%s/proc/%d/", h->root, pid);
	if (head < 0 || (size_t)head >= n)
		return -1;
	va_start(ap, fmt);
	int tail = vsnprintf(to + head, n - (size_t)head, fmt, ap);
	va_end(ap);
	return tail < 0 ? -1 : head + tail;
}

int proc_put_fd(char *to, size_t n, int fd)
{
	return snprintf(to, n, "/proc/self/fd/%d", fd);
}

int proc_open_self(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

DIR *proc_list(const struct host *h)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/proc", h->root);
	return opendir(path);
}

bool proc_is_entry(const char *path)
{
	return !strncmp(path, "/proc/", 6);
}

const char *proc_file(struct host *h, struct arena *a, int pid, const char *name)
{
	return arena_fmt(a, "%s/proc/%d/%s", h->root, pid, name);
}

bool proc_same_mounts(int pid)
{
	char path[64];
	struct stat a, b;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	if (stat(path, &a) || stat("/proc/self/ns/mnt", &b))
		return true;
	if (a.st_ino != b.st_ino)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root/", pid); /* chroot */
	return stat(path, &a) || stat("/", &b) || (a.st_ino == b.st_ino && a.st_dev == b.st_dev);
}

/* What a link says, for the place that it has in the path. False: it is none. */
static bool read_link(struct arena *a, const char *path, struct str rest, struct str *ret)
{
	char to[PATH_MAX];
	ssize_t n = readlink(path, to, sizeof(to));
	if (n <= 0 || (size_t)n == sizeof(to))
		return false;
	*ret = str_z(arena_fmt(a, "%.*s/%.*s", (int)n, to, STRF(rest)));
	return true;
}

const char *proc_in_root(struct arena *a, const char *root, const char *path)
{
	enum { MAX_LINKS = 40 };
	u32 nlink = 0, n = 0;
	char *archive = zip_archive(path, &n) ? arena_fmt(a, "%.*s", (int)n, path) : NULL;
	struct str rest = str_z(archive ? archive : path), part, to;
	const char *done = "";
	while (rest.n) {
		if (!str_cut(&rest, '/', &part))
			break;
		if (!part.n || str_is(part, "."))
			continue;
		if (str_is(part, "..")) {
			const char *up = strrchr(done, '/');
			done = up ? arena_fmt(a, "%.*s", (int)(up - done), done) : "";
			continue;
		}
		const char *next = arena_fmt(a, "%s/%.*s", done, STRF(part));
		if (!read_link(a, arena_fmt(a, "%s%s", root, next), rest, &to)) {
			done = next;
			continue;
		}
		if (nlink++ == MAX_LINKS)
			return arena_fmt(a, "%s%s", root, next); /* opening it fails as here */
		done = *to.s == '/' ? "" : done;
		rest = to;
	}
	return arena_fmt(a, "%s%s%s", root, done, archive ? path + n : "");
}
