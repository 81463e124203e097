/* sandbox_calls.c - calls that the child without rights asks us to make; see sandbox_calls.h. */
#include "kern/sandbox_calls.h"
#include "arch/arch.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool sandbox_get(int from, void *to, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t k = recv(from, (char *)to + at, n - at, 0);
		if (k <= 0 && !(k < 0 && errno == EINTR))
			return false;
		at += k > 0 ? (size_t)k : 0;
	}
	return true;
}

bool sandbox_put(int to, const void *from, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t k = send(to, (const char *)from + at, n - at, MSG_NOSIGNAL);
		if (k < 0 && errno != EINTR)
			return false;
		at += k > 0 ? (size_t)k : 0;
	}
	return true;
}

static bool ask(enum answer_kind kind, const char *path)
{
	struct answer_head a = {.n = strnlen(path, SANDBOX_MAX_WORDS), .kind = kind};
	return sandbox_put(SANDBOX_WAY, &a, sizeof(a)) && sandbox_put(SANDBOX_WAY, path, a.n);
}

/* The head of what comes down, and the descriptor with it; -1: none did. */
static bool get_reply(struct reply_head *r, int *fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} passed;
	struct iovec v = {r, sizeof(*r)};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &passed,
			   .msg_controllen = sizeof(passed)};
	ssize_t n;
	do
		n = recvmsg(SANDBOX_WAY, &m, MSG_WAITALL | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	*fd = -1;
	if (n != sizeof(*r))
		return false;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return true;
}

static long open_above(const char *path)
{
	struct reply_head r;
	int fd;
	if (!ask(ANSWER_OPEN, path) || !get_reply(&r, &fd))
		return -EIO;
	return fd >= 0 ? fd : -r.no;
}

/* Of all links there are those of our own descriptors: a library that was handed one asks what it is. */
static long read_link(const char *path, char *to, size_t size)
{
	static const char own[] = "/proc/self/fd/";
	char name[SANDBOX_MAX_WORDS];
	struct reply_head r;
	int fd;
	if (strncmp(path, own, sizeof(own) - 1) != 0)
		return -EINVAL; /* no link */
	if (!ask(ANSWER_LINK, path) || !get_reply(&r, &fd) || r.n > sizeof(name) ||
	    !sandbox_get(SANDBOX_WAY, name, r.n))
		return -EIO;
	size_t n = MIN(size, (size_t)r.n);
	memcpy(to, name, n);
	return r.no ? -r.no : (long)n;
}

/* Of open files alone. */
static long stat_file(const char *path, int fd, void *to)
{
	return *path ? -EPERM : syscall(SYS_fstat, fd, to) ? -errno : 0;
}

static long make_call(int nr, const u64 *arg)
{
	switch (nr) {
	case SYS_openat: return open_above((const char *)arg[1]);
	case SYS_readlinkat: return read_link((const char *)arg[1], (char *)arg[2], arg[3]);
	case SYS_newfstatat: return stat_file((const char *)arg[1], (int)arg[0], (void *)arg[2]);
#ifdef SYS_open
	case SYS_open: return open_above((const char *)arg[0]);
	case SYS_readlink: return read_link((const char *)arg[0], (char *)arg[1], arg[2]);
#endif
	}
	return -EPERM;
}

static void caught(int sig, siginfo_t *info, void *context)
{
	const struct arch *a = arch_native();
	u64 arg[4];
	int no = errno;
	(void)sig;
	a->call_args(context, arg);
	a->call_returns(context, make_call(info->si_syscall, arg));
	errno = no;
}

bool sandbox_catch_calls(void)
{
	struct sigaction on = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_RESTART};
	return !sigaction(SIGSYS, &on, NULL);
}
