#include "base/file.h"
#include "base/alloc.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

int fd_read(int fd, size_t max, struct sb *out)
{
	enum { LEAST = 4096 };
	size_t end = max > SIZE_MAX - out->n ? SIZE_MAX : out->n + max;
	sb_mem(out, "", 0);
	while (out->n < end) {
		sb_reserve(out, MAX(out->n, (size_t)LEAST));
		ssize_t n = read(fd, out->s + out->n, MIN(out->cap - out->n - 1, end - out->n));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		out->n += (size_t)n;
		out->s[out->n] = 0;
	}
	return 0;
}

char *fd_path(int fd)
{
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	path[MAX(n, (ssize_t)0)] = 0;
	return xstrdup(path);
}

int file_write(const char *path, struct str text)
{
	int fd AUTO_CLOSE = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno;
	while (text.n) {
		ssize_t n = write(fd, text.s, text.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		text = str_from(text, (u32)n);
	}
	return 0;
}

int file_read(const char *path, size_t max, struct sb *out)
{
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : fd_read(fd, max, out);
}

u32 path_root(const char *path)
{
	static const char proc[] = "/proc/", root[] = "/root/";
	u32 n = sizeof(proc) - 1;
	if (strncmp(path, proc, n))
		return 0;
	while (path[n] >= '0' && path[n] <= '9')
		n++;
	return strncmp(path + n, root, sizeof(root) - 1) ? 0 : n + (u32)sizeof(root) - 2;
}

int file_open(const char *path, int flags)
{
	char root[PATH_MAX];
	u32 n = path_root(path);
	struct open_how how = {.flags = (u32)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
	if (!n || n >= sizeof(root))
		return open(path, flags | O_CLOEXEC);
	memcpy(root, path, n);
	root[n] = 0;
	int dir AUTO_CLOSE = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	int fd = (int)syscall(__NR_openat2, dir, path + n, &how, sizeof(how));
	/* Before Linux 5.6, and in filters that do not know it: as it was resolved a moment ago. */
	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open(path, flags | O_CLOEXEC) : fd;
}
