/*
 * manycalls DIR: system calls of many kinds, each with arguments that are known, in DIR. Calls are made
 * by number, so that the C library adds none. A line "begin" is written before them.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void files(void)
{
	char buf[64] = {0};
	struct stat st;
	struct iovec iov[2] = {{"ab\n", 3}, {"\1\33\0017", 4}};
	long fd =
		syscall(SYS_openat, AT_FDCWD, "file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	syscall(SYS_write, fd, "hello \"world\"\\\t\0\377", 17);
	syscall(SYS_writev, fd, iov, 2);
	syscall(SYS_lseek, fd, 0L, SEEK_SET);
	syscall(SYS_read, fd, buf, sizeof(buf));
	iov[0].iov_base = buf;
	iov[0].iov_len = 4;
	syscall(SYS_preadv, fd, iov, 1, 6L, 0L);
	syscall(SYS_pread64, fd, buf, 0L, 0L);
	syscall(SYS_fstat, fd, &st);
	syscall(SYS_ftruncate, fd, 100L);
	syscall(SYS_fchmod, fd, 04711);
	syscall(SYS_fcntl, fd, F_GETFD);
	syscall(SYS_fcntl, fd, F_SETFL, O_APPEND | O_NONBLOCK);
	syscall(SYS_fcntl, fd, F_GETFL);
	syscall(SYS_dup3, fd, 70, O_CLOEXEC);
	syscall(SYS_close, 70);
	syscall(SYS_close, fd);
	syscall(SYS_openat, AT_FDCWD, "gone", O_RDONLY | O_DIRECTORY);
	syscall(SYS_openat, AT_FDCWD, (char *)8, O_RDONLY);
	syscall(SYS_mkdirat, AT_FDCWD, "dir", 0700);
	syscall(SYS_faccessat, AT_FDCWD, "dir", R_OK | X_OK);
	syscall(SYS_symlinkat, "file", AT_FDCWD, "link");
	syscall(SYS_readlinkat, AT_FDCWD, "link", buf, sizeof(buf));
	syscall(SYS_renameat2, AT_FDCWD, "link", AT_FDCWD, "other", 1);
	syscall(SYS_unlinkat, AT_FDCWD, "other", 0);
	syscall(SYS_unlinkat, AT_FDCWD, "dir", AT_REMOVEDIR);
	syscall(SYS_unlinkat, AT_FDCWD, "file", 0);
	syscall(SYS_umask, 022);
}

static void sockets(void)
{
	int pair[2];
	char buf[16];
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/sock"};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in6.sin6_addr = in6addr_loopback;
	syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	syscall(SYS_sendto, pair[0], "ping", 4L, MSG_NOSIGNAL, NULL, 0);
	syscall(SYS_recvfrom, pair[1], buf, sizeof(buf), 0, NULL, NULL);
	struct pollfd p[2] = {{pair[1], POLLIN, 0}, {pair[0], POLLOUT, 0}};
	syscall(SYS_ppoll, p, 2, NULL, NULL, 8L);
	syscall(SYS_shutdown, pair[0], SHUT_RDWR);
	long ep = syscall(SYS_epoll_create1, EPOLL_CLOEXEC);
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = 7};
	syscall(SYS_epoll_ctl, ep, EPOLL_CTL_ADD, pair[1], &ev);
	syscall(SYS_epoll_pwait, ep, &ev, 1, 0, NULL, 8L);
	int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_DGRAM, 0);
	syscall(SYS_connect, fd, &un, (int)(offsetof(struct sockaddr_un, sun_path) + 18));
	un.sun_path[0] = 0;
	syscall(SYS_connect, fd, &un, (int)(offsetof(struct sockaddr_un, sun_path) + 5));
	fd = (int)syscall(SYS_socket, AF_INET, SOCK_DGRAM, IPPROTO_UDP);
	syscall(SYS_bind, fd, &in, (int)sizeof(in));
	int one = 1;
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, &one, 4);
	syscall(SYS_connect, -1, &in6, (int)sizeof(in6));
}

static void others(void)
{
	struct timespec ts = {0, 1000};
	struct sigaction sa;
	sigset_t set;
	struct rlimit rl = {1024, RLIM_INFINITY};
	int status;

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts, NULL);
	syscall(SYS_mmap, NULL, 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 1L);
	syscall(SYS_madvise, NULL, 0L, MADV_DONTNEED);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8L);
	memset(&sa, 0, sizeof(sa));
	syscall(SYS_rt_sigaction, SIGWINCH, NULL, &sa, 8L);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE, &rl, NULL);
	syscall(SYS_wait4, -1, &status, WNOHANG, NULL);
	syscall(SYS_kill, 0, 0);
	syscall(SYS_ioctl, -1, 0x5401, NULL);
	syscall(SYS_ioctl, -1, 0x40049409, 3);
	syscall(SYS_sigaltstack, &(stack_t){.ss_flags = SS_DISABLE}, NULL);
	syscall(SYS_prctl, 23, 63, 0, 0, 0);
	syscall(SYS_prctl, 47, 1, 13, 0, 0);
	syscall(SYS_capset, (unsigned[]){0x20080522, 1}, (unsigned[]){1, 33, 0, 0, 1 << 7, 0});
	syscall(SYS_sched_setaffinity, -1, 8L, &(unsigned long){9});
	syscall(SYS_getuid);
	syscall(SYS_futex, &status, 129, 1);
	syscall(500, 1, 2, 3, 4, 5, 6);
}

/* Whose arguments depend on others, have names in tables, or have none. */
static void further(void)
{
	struct timespec ts = {0, 1000}, times[2] = {{1, (1 << 30) - 1}, {3, (1 << 30) - 2}};
	struct pollfd p = {-1, POLLIN, 0};
	int word = 1;
	unsigned long fds[16] = {1 << 3 | 1 << 5}, never[2] = {0, (unsigned long)-1};
	unsigned short op[6] = {0, 1, 04000, 1, 0xffff, 010000};
	char dir[4096];

	syscall(SYS_clone, 0x10000L | SIGCHLD, NULL, NULL, NULL, NULL);
	syscall(SYS_clone, 0x10000L | 0x80000 | 0x200000, 0x10L, NULL, 0x20L, 0x30L);
	syscall(SYS_futex, &word, 0, 1, &ts);
	syscall(SYS_futex, &word, 9 | 128 | 256, 1, &ts, NULL, -1);
	syscall(SYS_futex, &word, 10, 1, NULL, NULL, 5);
	syscall(SYS_futex, &word, 4, 1, 2L, &word, 1);
	syscall(SYS_fallocate, -1, 3, 0L, 4096L);
	syscall(SYS_mknodat, AT_FDCWD, "none/x", S_IFIFO | 0600, 0);
	syscall(SYS_mknodat, AT_FDCWD, "none/x", S_IFCHR | 0600, 0x103);
	syscall(SYS_utimensat, AT_FDCWD, "none", times, 0);
	syscall(SYS_semget, 0, -1, 01640);
	syscall(SYS_semop, -1, op, 2L);
	syscall(SYS_msgrcv, -1, NULL, 0L, 0L, 010000 | 04000);
	syscall(SYS_accept4, -1, NULL, NULL, SOCK_CLOEXEC);
	syscall(SYS_pwritev2, -1, NULL, 0L, 9L, 0L, 2);
	syscall(SYS_writev, -1, 1L, 2);
	syscall(SYS_lseek, -1, 0L, 77);
	syscall(SYS_clock_gettime, 77, &ts);
	syscall(SYS_nanosleep, never, NULL);
	syscall(SYS_pselect6, 0, fds, NULL, NULL, &(struct timespec){0}, NULL);
	fds[0] = 1 << 6; /* a socket of datagrams */
	syscall(SYS_pselect6, 7, NULL, fds, NULL, &(struct timespec){0}, NULL);
	syscall(SYS_ppoll, &p, 1, &(struct timespec){0}, NULL, 8L);
	syscall(SYS_fcntl, -1, 10, SIGIO);
	syscall(SYS_fcntl, -1, 11);
	syscall(SYS_fcntl, -1, 1033, 9);
	syscall(SYS_ioctl, -1, 0x540c, 0);
	syscall(SYS_close_range, -1, 0, 4);
	syscall(SYS_getcwd, dir, sizeof(dir));
	syscall(SYS_kcmp, -1, -1, 0, 0L, 0L);
}

/* What lies at the end of memory: behind it is nothing that could be read with it. */
static void edge(char *end)
{
	char **env = (char **)(void *)(end - 3 * sizeof(char *));
	unsigned on = 4;

	env[0] = env[1] = (char *)"A=b";
	env[2] = NULL;
	syscall(SYS_execve, "none", (char *[]){(char *)"none", NULL}, env);
	memcpy(end - 4, &on, 4);
	syscall(SYS_ioctl, -1, 0x5421, end - 4); /* FIONBIO */
}

int main(int argc, char **argv)
{
	enum { PAGE = 65536 };
	char *two = mmap(NULL, 2L * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc != 2 || chdir(argv[1]) || two == MAP_FAILED || munmap(two + PAGE, PAGE))
		return 1;
	syscall(SYS_write, 2, "begin\n", 6);
	files();
	sockets();
	others();
	further();
	edge(two + PAGE);
	syscall(SYS_exit_group, 5);
}
