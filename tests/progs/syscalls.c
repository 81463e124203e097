/*
 * syscalls N [NAME [MS]]: N system calls in a row, all by this process, after sleeping MS
 * milliseconds. NAME is one of
 * getppid (the default), lseek (a bad descriptor, offsets 0..N-1), madvise (4, one page), mmap (five
 * pages of memory, present at once),
 * execve (of nothing, its second argument cannot be read), nanosleep (1 ns), kill (of nobody: ESRCH, -3), mixed (getppid and getuid in turns), compat (a
 * call of 32-bit programs that has getppid's number here, and means something else).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char page[8192] __attribute__((aligned(4096)));

static void one_call(const char *name, long i)
{
	if (!strcmp(name, "lseek"))
		lseek(-1, i, SEEK_SET);
	else if (!strcmp(name, "madvise"))
		madvise(page, 4096, MADV_DONTNEED);
	else if (!strcmp(name, "mmap"))
		mmap(NULL, 20480, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	else if (!strcmp(name, "execve"))
		execve("", (char *[]){"one", (char *)8, NULL}, NULL);
	else if (!strcmp(name, "nanosleep"))
		nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
	else if (!strcmp(name, "kill"))
		kill(0x7ffffffe, 0);
#if defined(__x86_64__)
	else if (!strcmp(name, "compat"))
		__asm__ volatile("int $0x80" ::"a"(SYS_getppid), "b"(0) : "memory");
#endif
	else
		syscall(!strcmp(name, "mixed") && i & 1 ? SYS_getuid : SYS_getppid);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1;
	const char *name = argc > 2 ? argv[2] : "getppid";

	if (argc > 3)
		usleep((useconds_t)(strtol(argv[3], NULL, 0) * 1000));
	for (long i = 0; i < n; i++)
		one_call(name, i);
	return 0;
}
