/*
 * descriptors FILE: fsync of a descriptor of each kind, after an ftruncate that fails. FILE is made
 * and deleted. What it inherits above 2 is closed, that the numbers are the same for everybody.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int connected(int family)
{
	struct sockaddr_storage to = {.ss_family = (sa_family_t)family};
	socklen_t n = sizeof(to);
	int l = socket(family, SOCK_STREAM, 0), c = socket(family, SOCK_STREAM, 0);

	if (family == AF_INET6)
		((struct sockaddr_in6 *)&to)->sin6_addr = in6addr_loopback;
	else
		((struct sockaddr_in *)&to)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(l, (struct sockaddr *)&to, n);
	listen(l, 1);
	getsockname(l, (struct sockaddr *)&to, &n);
	connect(c, (struct sockaddr *)&to, n);
	return c;
}

int main(int argc, char **argv)
{
	int pair[2], pipes[2], udp, tcp, null, root, gone, memory, epoll;

	close_range(3, ~0U, 0);
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	tcp = connected(AF_INET);
	null = open("/dev/null", O_RDONLY);
	root = open("/", O_RDONLY);
	gone = open(argc > 1 ? argv[1] : "gone", O_RDWR | O_CREAT, 0600);
	memory = memfd_create("mine", 0);
	epoll = epoll_create1(0);
	unlink(argc > 1 ? argv[1] : "gone");
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	pipe(pipes);
	ftruncate(-1, 0);
	fsync(udp);
	fsync(tcp);
	fsync(null);
	fsync(root);
	fsync(gone);
	fsync(memory);
	fsync(epoll);
	fsync(pair[0]);
	fsync(pipes[0]);
	fsync(socket(AF_INET, SOCK_STREAM, 0));
	return 0;
}
