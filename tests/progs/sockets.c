/*
 * sockets N [MS]: opens a listening TCP socket, a UDP socket, a Unix socket and one of netlink, sets
 * TCP_NODELAY of the first N times, makes a dma-buf where that is possible, says "ready" and sleeps
 * MS milliseconds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void make_dmabuf(void)
{
	int dev = open("/dev/udmabuf", O_RDWR), memory = memfd_create("sockets", MFD_ALLOW_SEALING);
	struct udmabuf_create create = {.memfd = (unsigned)memory, .size = 4096};

	if (dev < 0 || memory < 0 || ftruncate(memory, 4096) || fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK))
		return;
	ioctl(dev, UDMABUF_CREATE, &create);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 0) : 1, on = 1;
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct sockaddr_un unnamed = {.sun_family = AF_UNIX};
	int tcp = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0);
	int un = socket(AF_UNIX, SOCK_STREAM, 0);

	socket(AF_NETLINK, SOCK_RAW, 0);
	if (listen(tcp, 1) || bind(udp, (struct sockaddr *)&any, sizeof(any)) ||
	    bind(un, (struct sockaddr *)&unnamed, sizeof(unnamed.sun_family)) || listen(un, 1))
		return 1;
	for (int i = 0; i < n; i++)
		setsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	make_dmabuf();
	puts("ready");
	fflush(stdout);
	if (argc > 2)
		usleep((useconds_t)(strtol(argv[2], NULL, 0) * 1000));
	return 0;
}
