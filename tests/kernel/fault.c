/*
 * fault.c - a system that fails once: loaded before libc (LD_PRELOAD), it refuses the allocation or
 * the system call whose number FAULT_AT says. FAULT_CALL: which kind is counted (alloc, open, read,
 * write, mmap, ioctl, bpf, perf, epoll, wait, fork, poll, other); FAULT_ERRNO: with which error; "short": a write takes
 * one byte. FAULT_EVERY=N: each N-th, again and again. FAULT_COUNT=FILE gets the number there were.
 *
 * Only sonde's own process counts: what it starts is left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static long number, fail_at, every;
static int fail_errno = ENOMEM, shorten, count_fd = -1;
static const char *kind = "alloc";
static pid_t own;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAULT_AT"), *call = getenv("FAULT_CALL"),
		   *no = getenv("FAULT_ERRNO"), *path = getenv("FAULT_COUNT"),
		   *each = getenv("FAULT_EVERY");
	fail_at = at ? strtol(at, NULL, 10) : 0;
	every = each ? strtol(each, NULL, 10) : 0;
	kind = call ? call : kind;
	shorten = no && !strcmp(no, "short");
	fail_errno = no && !shorten ? (int)strtol(no, NULL, 10) : fail_errno;
	count_fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	own = getpid();
	unsetenv("LD_PRELOAD");
	number = 0;
}

__attribute__((destructor)) static void end(void)
{
	char text[32];
	if (count_fd < 0 || getpid() != own)
		return;
	own = 0;
	int n = snprintf(text, sizeof(text), "%ld\n", number);
	if (write(count_fd, text, (size_t)n) != n)
		_exit(99);
}

static int due(const char *what)
{
	if (!own || strcmp(what, kind) || getpid() != own)
		return 0;
	number++;
	return every ? number % every == 0 : number == fail_at;
}

static int refused(const char *what)
{
	if (!due(what))
		return 0;
	errno = fail_errno;
	return 1;
}

void *malloc(size_t n)
{
	return refused("alloc") ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return refused("alloc") ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return refused("alloc") ? NULL : __libc_realloc(p, n);
}

/* The next one's; looked up at each call, for only tests wait for it. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                    \
	int name(const char *path, int flags, ...)                                    \
	{                                                                             \
		va_list ap;                                                           \
		va_start(ap, flags);                                                  \
		mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0; \
		va_end(ap);                                                           \
		return refused("open") ? -1 : NEXT(name)(path, flags, mode);          \
	}
OPEN(open)
OPEN(open64)

ssize_t read(int fd, void *p, size_t n)
{
	return refused("read") ? -1 : NEXT(read)(fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	return refused("read") ? -1 : NEXT(pread)(fd, p, n, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
	if (shorten && n > 1 && due("write"))
		return NEXT(write)(fd, p, 1);
	return !shorten && refused("write") ? -1 : NEXT(write)(fd, p, n);
}

void *mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	return refused("mmap") ? MAP_FAILED : NEXT(mmap)(p, n, prot, flags, fd, at);
}

int ioctl(int fd, unsigned long what, ...)
{
	va_list ap;
	va_start(ap, what);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	return refused("ioctl") ? -1 : NEXT(ioctl)(fd, what, arg);
}

int epoll_create1(int flags)
{
	return refused("epoll") ? -1 : NEXT(epoll_create1)(flags);
}

int epoll_ctl(int fd, int op, int other, struct epoll_event *e)
{
	return refused("epoll") ? -1 : NEXT(epoll_ctl)(fd, op, other, e);
}

int epoll_wait(int fd, struct epoll_event *e, int n, int ms)
{
	return refused("wait") ? -1 : NEXT(epoll_wait)(fd, e, n, ms);
}

int poll(struct pollfd *v, nfds_t n, int ms)
{
	return refused("poll") ? -1 : NEXT(poll)(v, n, ms);
}

pid_t fork(void)
{
	return refused("fork") ? -1 : NEXT(fork)();
}

/* bpf(2), perf_event_open(2) and others that libc has no function for. */
long syscall(long nr, ...)
{
	va_list ap;
	va_start(ap, nr);
	long a = va_arg(ap, long), b = va_arg(ap, long), c = va_arg(ap, long), d = va_arg(ap, long),
	     e = va_arg(ap, long), f = va_arg(ap, long);
	va_end(ap);
	const char *what = nr == SYS_bpf ? "bpf" : nr == SYS_perf_event_open ? "perf" : "other";
	return refused(what) ? -1 : NEXT(syscall)(nr, a, b, c, d, e, f);
}
