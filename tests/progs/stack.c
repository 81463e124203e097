/*
 * stack N [MS [fork]]: calls outer -> middle -> inner N times; inner makes one system call
 * (getppid). Then it sleeps MS milliseconds. With fork a child does it all.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP static __attribute__((noinline, noipa))

KEEP long inner(long n)
{
	/* Not libc's wrapper: it has no frame pointer. Asking for the frame makes one here. */
	void *frame = __builtin_frame_address(0);
#ifdef __x86_64__
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_getppid), "d"(frame)
			 : "rcx", "r11", "memory");
#else
	register long nr __asm__("x8") = SYS_getppid, ret __asm__("x0");

	__asm__ volatile("svc 0" : "=r"(ret) : "r"(nr), "r"(frame) : "memory");
#endif
	return ret + n;
}

KEEP long middle(long n)
{
	return inner(n) + 1;
}

KEEP long outer(long n)
{
	return middle(n) + 1;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 0) : 1, sum = 0;

	if (argc > 3 && fork() > 0) {
		wait(NULL);
		return 0;
	}
	for (long i = 0; i < n; i++)
		sum += outer(i);
	if (argc > 2)
		usleep((useconds_t)(strtol(argv[2], NULL, 0) * 1000));
	return sum == 0;
}
