/*
 * jit MS: makes a function (system call getppid, return) in memory, names it in /tmp/perf-PID.map
 * as runtimes do, calls it, sleeps MS milliseconds and removes the list.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	/* push %rbp; mov %rsp,%rbp; mov $110,%eax; syscall; pop %rbp; ret */
	static const char code[] = "\x55\x48\x89\xe5\xb8\x6e\0\0\0\x0f\x05\x5d\xc3";
	char path[64];
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *list;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	list = fopen(path, "w");
	if (at == MAP_FAILED || !list)
		return 1;
	memcpy(at, code, sizeof(code));
	fprintf(list, "%lx %zx Made::here(int)\n", (unsigned long)at, sizeof(code));
	fclose(list);
	if (mprotect(at, 4096, PROT_READ | PROT_EXEC))
		return 1;
	((void (*)(void))at)();
	usleep((useconds_t)((argc > 1 ? strtol(argv[1], NULL, 0) : 0) * 1000));
	unlink(path);
	return 0;
}
