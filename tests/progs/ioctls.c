/* Requests of several kinds to a descriptor that is not open, and sockets of netlink. */
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	static const unsigned requests[] = {0x1261, 0x1262, 0x2405,     0x40042408, 0x40044590,
					    0x5207, 0x7003, 0x4008700c, 0x80045705, 0xc018aa3f,
					    0x9408, 0xab00, 0xab08,     0xae01,     0xae41,
					    0xae80, 0xb701, 0xc0045877, 0x5450,     0xdeadbeef};
	static const int families[] = {0, 1, 5, 6, 12, 16, 20, 77};
	for (unsigned i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		ioctl(-1, requests[i], 0x1234);
	for (unsigned i = 0; i < sizeof(families) / sizeof(*families); i++)
		close(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, families[i]));
	return 0;
}
