/* open FILE...: opens and closes each file once; missing ones are fine. */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);

		if (fd >= 0)
			close(fd);
	}
	return 0;
}
