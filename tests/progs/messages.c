/* messages DIR: sends and receives several messages at once, between sockets named in DIR. A line "begin" is written before. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const struct timespec long_time = {60, 0};

static struct msghdr header(struct iovec *v, size_t n, struct sockaddr_un *name, unsigned len)
{
	struct msghdr m = {.msg_iov = v, .msg_iovlen = n, .msg_name = name, .msg_namelen = len};
	return m;
}

int main(int argc, char **argv)
{
	struct sockaddr_un one = {AF_UNIX, "one"}, two = {AF_UNIX, "two"}, from[2];
	unsigned len = offsetof(struct sockaddr_un, sun_path) + 4;
	struct iovec text[] = {{"first", 5}, {"second, ", 8}, {"in two", 6}};
	char room[3][64];
	struct iovec space[] = {{room[0], 64}, {room[1], 4}, {room[2], 64}};
	struct iovec each[40];
	struct mmsghdr m[40] = {0};

	if (argc != 2 || chdir(argv[1]))
		return 1;
	int a = socket(AF_UNIX, SOCK_DGRAM, 0), b = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (bind(a, (void *)&one, len) || bind(b, (void *)&two, len))
		return 1;
	syscall(SYS_write, 2, "begin\n", 6);
	m[0].msg_hdr = header(text, 1, &two, len);
	m[1].msg_hdr = header(text + 1, 2, &two, len);
	m[2].msg_hdr = header(NULL, 0, &two, len);
	syscall(SYS_sendmmsg, a, m, 3, MSG_DONTWAIT);
	syscall(SYS_sendmmsg, -1, m, 2, 0);
	syscall(SYS_sendmmsg, -1, NULL, 2, 0);
	syscall(SYS_sendmmsg, -1, 8L, 2, 0);
	syscall(SYS_sendmmsg, a, m, 0, 0);
	m[0].msg_hdr = header(space, 1, NULL, 0);
	m[1].msg_hdr = header(space + 1, 2, from, sizeof(from[0]));
	struct timespec time = long_time;
	syscall(SYS_recvmmsg, b, m, 2, MSG_DONTWAIT, &time);
	syscall(SYS_recvmmsg, b, m, 2, MSG_DONTWAIT, NULL);
	syscall(SYS_recvmmsg, b, m, 2, MSG_DONTWAIT, NULL);
	time = long_time;
	syscall(SYS_recvmmsg, -1, m, 2, 0, &time);
	m[0].msg_hdr = header(text, 3, &two, len);
	syscall(SYS_sendmsg, a, &m[0].msg_hdr, 0);
	m[0].msg_hdr = header(space, 1, NULL, 0);
	syscall(SYS_recvmsg, b, &m[0].msg_hdr, 0);
	for (int i = 0; i < 40; i++) {
		each[i] = (struct iovec){"abcdef", (size_t)(1 + i % 4)};
		m[i].msg_hdr = header(&each[i], 1, &two, len);
	}
	syscall(SYS_sendmmsg, a, m, 6, MSG_DONTWAIT);
	syscall(SYS_exit_group, 0);
}
