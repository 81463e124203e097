/* rules: landlock and io_uring with arguments that are known, most of which are refused. A line "begin" is written before. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE = 444, ADD, RESTRICT, SETUP = 425, ENTER };

int main(void)
{
	long rules[4] = {0x3fff, 3, 2, 9}, set = 1 << 9, port[2] = {2, 80};
	struct {
		long access;
		int fd;
	} __attribute__((packed)) path = {5, 3};
	unsigned ring[30] = {0};

	syscall(SYS_write, 2, "begin\n", 6);
	for (long n = 0; n <= 32; n += 8)
		syscall(CREATE, rules, n, 8L);
	syscall(CREATE, NULL, 0L, 1L);
	syscall(CREATE, 8L, 8L, 0L);
	syscall(ADD, -1, 1, &path, 0);
	syscall(ADD, -1, 2, port, 0);
	syscall(ADD, -1, 1, NULL, 0);
	syscall(ADD, -1, 7, &path, 0);
	syscall(RESTRICT, -1, 0);
	syscall(SETUP, 4, ring);
	memset(ring, 0, sizeof(ring));
	ring[2] = 8 | 32;
	ring[6] = 9;
	syscall(SETUP, 0, ring);
	syscall(SETUP, 4, NULL);
	syscall(ENTER, -1, 0, 0, 1, &set, 8L);
	syscall(ENTER, -1, 1, 0, 0, NULL, 8L);
	syscall(SYS_exit_group, 0);
}
