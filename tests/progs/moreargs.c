/*
 * moreargs DIR: system calls whose arguments mean what another one says, in DIR: locks, terminals, options
 * of sockets, control messages, prctl. A line "begin" is written before them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pty.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static void locks(long fd)
{
	struct flock l = {F_WRLCK, SEEK_SET, 0, 10, 0};
	struct {
		int type, pid;
	} owner = {2, 1};

	syscall(SYS_fcntl, fd, F_SETLK, &l);
	syscall(SYS_fcntl, fd, F_GETLK, &l);
	l = (struct flock){F_RDLCK, SEEK_END, -3, 0, 0};
	syscall(SYS_fcntl, fd, F_SETLKW, &l);
	l.l_type = F_UNLCK;
	syscall(SYS_fcntl, fd, F_OFD_SETLK, &l);
	syscall(SYS_fcntl, fd, F_GETLK, 8L);
	syscall(SYS_fcntl, fd, F_SETOWN_EX, &owner);
	syscall(SYS_fcntl, fd, F_DUPFD, 70L);
}

static void terminals(void)
{
	int master, slave;
	unsigned text[16] = {0};
	struct winsize size = {25, 80, 1, 2};

	if (openpty(&master, &slave, NULL, NULL, NULL))
		return;
	write(-1, "terminals", 9);
	syscall(SYS_ioctl, slave, TCGETS, text);
	syscall(SYS_ioctl, slave, TCSETSW, text);
	syscall(SYS_ioctl, -1, TCGETS, NULL);
	syscall(SYS_ioctl, slave, TCFLSH, TCIFLUSH);
	syscall(SYS_ioctl, slave, TCXONC, 1);
	syscall(SYS_ioctl, slave, TIOCSWINSZ, &size);
	syscall(SYS_ioctl, slave, TIOCGWINSZ, &size);
	syscall(SYS_ioctl, slave, TIOCGETD, text);
	memset(text, 255, sizeof(text));
	text[2] = 0xc0001fff; /* no speed of its own for input */
	syscall(SYS_ioctl, -1, TCSETS, text);
}

static void messages(int fd)
{
	int pair[2], one = 1;
	char buf[8] = "hello", control[64] = {0};
	struct iovec iov = {buf, 5};
	struct sockaddr_un un;
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(9)};

	m.msg_controllen = CMSG_SPACE(2 * sizeof(int));
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	*h = (struct cmsghdr){CMSG_LEN(2 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(h), (int[2]){fd, 0}, 2 * sizeof(int));
	syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, pair);
	syscall(SYS_setsockopt, pair[0], SOL_SOCKET, SO_PASSCRED, &one, 4);
	syscall(SYS_sendmsg, pair[1], &m, 0);
	m.msg_name = &un;
	m.msg_namelen = sizeof(un);
	m.msg_controllen = sizeof(control);
	syscall(SYS_recvmsg, pair[0], &m, MSG_CMSG_CLOEXEC);
	syscall(SYS_recvmsg, pair[0], &m, MSG_DONTWAIT);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	m = (struct msghdr){
		.msg_name = &in, .msg_namelen = sizeof(in), .msg_iov = &iov, .msg_iovlen = 1};
	syscall(SYS_sendmsg, -1, &m, 0);
}

static void options(void)
{
	int one = 1, tcp = socket(AF_INET, SOCK_STREAM, 0);
	struct linger linger = {1, 5};
	unsigned n = sizeof(linger), four = 4, many = 16;
	char text[16];
	struct ip_mreq group = {{htonl(0xe0000001)}, {0}};

	syscall(SYS_setsockopt, tcp, SOL_SOCKET, SO_LINGER, &linger, n);
	syscall(SYS_getsockopt, tcp, SOL_SOCKET, SO_LINGER, &linger, &n);
	syscall(SYS_getsockopt, tcp, SOL_SOCKET, SO_TYPE, &one, &four);
	syscall(SYS_getsockopt, -1, SOL_SOCKET, SO_TYPE, NULL, &four);
	syscall(SYS_setsockopt, tcp, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
	syscall(SYS_setsockopt, tcp, SOL_TCP, TCP_CONGESTION, "cubic", 5);
	syscall(SYS_getsockopt, tcp, SOL_TCP, TCP_CONGESTION, text, &many);
	syscall(SYS_setsockopt, -1, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group));
	syscall(SYS_setsockopt, tcp, SOL_SOCKET, SO_KEEPALIVE, NULL, 0);
}

static void timers(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	int id;
	struct {
		unsigned size, policy;
		unsigned long long flags;
		int nice;
		unsigned priority;
		unsigned long long time[4];
	} attr = {.size = 48, .nice = 1};

	syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &id);
	ev.sigev_value.sival_int = 7;
	ev.sigev_notify = SIGEV_NONE;
	syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &id);
	syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id);
	syscall(SYS_sched_setattr, -1, &attr, 0);
	syscall(SYS_ioprio_set, 1, -1, 3 << 13 | 7);
}

static void shared_memory(void)
{
	struct shmid_ds ds = {0};
	long id = syscall(SYS_shmget, IPC_PRIVATE, 100L, IPC_CREAT | 0600);

	syscall(SYS_shmctl, id, IPC_STAT, &ds);
	syscall(SYS_shmctl, id, IPC_SET, &ds);
	syscall(SYS_shmctl, id, IPC_RMID, NULL);
}

static void processes(void)
{
	int v;
	char name[16];

	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGTERM);
	syscall(SYS_prctl, PR_GET_PDEATHSIG, &v);
	syscall(SYS_prctl, PR_SET_NAME, "a name");
	syscall(SYS_prctl, PR_GET_NAME, name);
	syscall(SYS_prctl, PR_SET_DUMPABLE, 1L);
	syscall(SYS_prctl, PR_GET_DUMPABLE);
	syscall(SYS_prctl, PR_SET_KEEPCAPS, 1L);
	syscall(SYS_prctl, PR_GET_SECUREBITS);
	syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
	syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1L);
	syscall(SYS_prctl, PR_GET_CHILD_SUBREAPER, &v);
}

static void waits(int fd)
{
	int pair[2];
	fd_set in, out;
	struct timespec t = {3, 0};
	struct epoll_event ev = {.events = EPOLLIN};

	syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, pair);
	FD_ZERO(&in);
	FD_SET(pair[0], &in);
	FD_SET(fd, &in);
	FD_ZERO(&out);
	FD_SET(pair[1], &out);
	syscall(SYS_pselect6, pair[1] + 1, &in, &out, NULL, NULL, NULL);
	FD_SET(pair[0], &in);
	syscall(SYS_pselect6, pair[1] + 1, &in, NULL, &out, &t, &(struct {
			void *p;
			long n;
		}){NULL, 8});
	struct {
		int fd;
		short events, revents;
	} poll = {pair[1], 4, 0};
	t = (struct timespec){3, 0};
	syscall(SYS_ppoll, &poll, 1L, &t, NULL, 8L);
	syscall(SYS_epoll_ctl, -1, EPOLL_CTL_DEL, fd, &ev);
	syscall(SYS_wait4, -1, NULL, 3, NULL);
}

int main(int argc, char **argv)
{
	if (argc < 2 || chdir(argv[1]))
		return 1;
	for (int i = 3; i < 20; i++) /* what was inherited */
		close(i);
	long fd = syscall(SYS_openat, AT_FDCWD, "locked", O_RDWR | O_CREAT, 0600);
	write(2, "begin\n", 6);
	locks(fd);
	terminals();
	options();
	timers();
	shared_memory();
	processes();
	waits((int)fd);
	messages((int)fd);
	char odd[] = "\0018\0017"; /* on the stack: a page of text that nobody touched cannot be read */

	write(-1, odd, 4);
	return 0;
}
