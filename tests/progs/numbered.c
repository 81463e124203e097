/*
 * numbered FILE [PAUSE]: calls lseek(-1, N, 0) for N = 1, 2, ..., forty times in a row and then nothing for PAUSE us (500).
 * FILE has pairs of u64, each a monotonic time in ns and the last N before it, in a ring that says what was called when.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 1 << 16 };

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	useconds_t pause = argc > 2 ? (useconds_t)strtoul(argv[2], NULL, 0) : 500;
	if (fd < 0 || ftruncate(fd, PAIRS * 16))
		return 1;
	uint64_t *pair = mmap(NULL, PAIRS * 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pair == MAP_FAILED)
		return 1;
	for (uint64_t n = 0, i = 0;; i++) {
		struct timespec t;
		for (int k = 0; k < 40; k++)
			lseek(-1, (off_t)++n, SEEK_SET);
		clock_gettime(CLOCK_MONOTONIC, &t);
		pair[i % PAIRS * 2] = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		pair[i % PAIRS * 2 + 1] = n;
		usleep(pause);
	}
}
