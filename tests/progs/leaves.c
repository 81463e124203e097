/*
 * leaves HOW: functions that are left in other ways than by one return.
 *
 *	jump      work() six times: three calls are left by longjmp(), three return after 5 ms
 *	recurse   rec() calls itself, four deep; each round waits 10 ms before and after
 *	tail      twice() ends by a jump to next(), seven times
 *	fork      forks() returns in the parent and in the child, four times
 */
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define KEPT __attribute__((noinline, noclone))
#define HERE __asm__ volatile("")

static jmp_buf env;

static void nap(int ms)
{
	struct timespec t = {0, ms * 1000000L};
	nanosleep(&t, NULL);
}

KEPT int work(int jump)
{
	if (jump)
		longjmp(env, 1);
	nap(5);
	HERE;
	return jump;
}

KEPT int rec(int n)
{
	nap(10);
	int r = n ? rec(n - 1) : 0;
	nap(10);
	HERE;
	return r + 1;
}

KEPT int next(int x)
{
	HERE;
	return x + 1;
}

__attribute__((noinline, noclone, optimize("optimize-sibling-calls"))) int twice(int x)
{
	HERE;
	return next(x * 2);
}

KEPT int forks(void)
{
	int pid = fork();
	HERE;
	return pid;
}

static int fork_some(void)
{
	for (int i = 0; i < 4; i++) {
		int pid = forks();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int sum = 0;
	if (!strcmp(how, "recurse"))
		return rec(3) != 4;
	if (!strcmp(how, "fork"))
		return fork_some();
	for (int i = 0; i < 7 && !strcmp(how, "tail"); i++)
		sum += twice(i);
	for (volatile int i = 0; i < 6 && !strcmp(how, "jump"); i++) {
		if (!setjmp(env))
			work(i < 3);
		nap(20);
	}
	return sum == 1;
}
