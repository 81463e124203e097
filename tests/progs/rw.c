/* rw [r|w]N...: one read of /dev/zero or one write to /dev/null of N bytes per argument. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char data[1 << 20];

int main(int argc, char **argv)
{
	int in = open("/dev/zero", O_RDONLY), out = open("/dev/null", O_WRONLY);

	for (int i = 1; i < argc; i++) {
		size_t n = strtoul(argv[i] + 1, NULL, 0);
		ssize_t done = argv[i][0] == 'r' ? read(in, data, n) : write(out, data, n);

		if (done < 0)
			return 1;
	}
	return 0;
}
