/* sandbox_calls.c - calls that the child without rights asks us to make; see sandbox_calls.h. */
#include "rights/sandbox_calls.h"
#include "arch/arch.h"
#include "rights/sandbox.h"
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

union passed {
	struct cmsghdr head;
	char room[CMSG_SPACE(SANDBOX_FILES * sizeof(int))];
};

bool sandbox_get_head(int from, void *head, size_t n, int *fd, u32 nfd)
{
	union passed files;
	struct iovec v = {head, n};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &files,
			   .msg_controllen = sizeof(files)};
	ssize_t got;
	do
		got = recvmsg(from, &m, MSG_WAITALL | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)n)
		return false;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	size_t come = c ? c->cmsg_len - CMSG_LEN(0) : 0;
	for (u32 i = 0; i < nfd; i++) {
		fd[i] = -1; /* fewer come than were sent when there is no number left for them */
		if ((i + 1) * sizeof(int) <= come)
			memcpy(&fd[i], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
	return true;
}

bool sandbox_put_head(int to, const void *head, size_t n, const int *fd, u32 nfd)
{
	union passed files = {0};
	struct iovec v = {(void *)head, n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	if (nfd) {
		m.msg_control = &files;
		m.msg_controllen = CMSG_SPACE(nfd * sizeof(int));
		files.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS,
					      .cmsg_len = CMSG_LEN(nfd * sizeof(int))};
		memcpy(CMSG_DATA(&files.head), fd, nfd * sizeof(int));
	}
	ssize_t put;
	do
		put = sendmsg(to, &m, MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	return put == (ssize_t)n;
}

static bool get_reply(struct reply_head *r, int *fd)
{
	return sandbox_get_head(SANDBOX_WAY, r, sizeof(*r), fd, 1);
}

static bool ask(enum answer_kind kind, const char *path)
{
	struct answer_head a = {.n = strnlen(path, SANDBOX_MAX_WORDS), .kind = kind};
	return sandbox_put(SANDBOX_WAY, &a, sizeof(a)) && sandbox_put(SANDBOX_WAY, path, a.n);
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
