/*
 * calls32: a 64-bit program that also makes calls as 32-bit programs do, by int $0x80: three times write, then open,
 * close, stat64, clock_gettime, fcntl64, getpid and execve, which fails. Where the kernel has no such calls it ends by a signal.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__
static long call(long nr, long a, long b, long c)
{
	long ret;
	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}
#endif

int main(void)
{
#ifdef __x86_64__
	enum { EXIT = 1, WRITE = 4, OPEN = 5, CLOSE = 6, EXECVE = 11, GETPID = 20, STAT64 = 195, FCNTL64 = 221, GETTIME = 265 };
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long text = (long)low, path = text + 100, buf = text + 1024;
	strcpy(low, "32 bits\n");
	strcpy(low + 100, "/dev/null");
	for (int i = 0; i < 3; i++)
		call(WRITE, 1, text, 8);
	long fd = call(OPEN, path, 0, 0);
	call(CLOSE, fd, 0, 0);
	call(STAT64, path, buf, 0);
	call(GETTIME, 1, buf, 0);
	call(FCNTL64, 1, 1, 0);
	getppid();
	call(GETPID, 0, 0, 0);
	call(EXECVE, path, 0, 0);
	syscall(-1, 1, 2, 3, 4, 5, 6);
#endif
	return 0;
}
