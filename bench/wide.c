/* wide LIBRARY FROM STEP [FUNCTIONS]: calls every STEP-th function of the library (large.S; 20,000 unless told), and each
 * makes a system call; then waits. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FUNCTIONS = 20000, BYTES = 256, REST = 4, REST_US = 200 };

static __attribute__((noinline)) void work(void)
{
	syscall(SYS_getppid);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	void *library = argc > 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	char *first = library ? dlsym(library, "wide") : NULL;
	int from = argc > 3 ? atoi(argv[2]) : 0, step = argc > 3 ? atoi(argv[3]) : 0;
	int functions = argc > 4 ? atoi(argv[4]) : FUNCTIONS;
	if (!first || step <= 0)
		return 1;
	for (int i = from; i < functions; i += step) {
		((void (*)(void (*)(void)))(first + (long)BYTES * i))(work);
		if (i / step % REST == 0)
			usleep(REST_US);
	}
	pause();
	return 0;
}
