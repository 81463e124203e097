/* Goes back to where functions returned before, and ends a thread from the middle of it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static jmp_buf plain;
static sigjmp_buf with_mask;
static ucontext_t here, own, other;
static char stack[65536];

static __attribute__((noinline)) void jump(int i)
{
	longjmp(plain, i);
}

static void coroutine(void)
{
	printf("coroutine\n");
	swapcontext(&other, &own);
	printf("coroutine again\n");
}

static void *thread(void *arg)
{
	pthread_exit(arg);
}

int main(void)
{
	volatile int n = 0;
	int mark;
	void *ret = NULL;
	pthread_t t;
	int status;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("setjmp %d\n", setjmp(plain));
	if (++n < 4)
		jump(n);
	n = sigsetjmp(with_mask, 1);
	printf("sigsetjmp %d\n", n);
	if (!n)
		siglongjmp(with_mask, 5);
	n = 0;
	getcontext(&here);
	printf("getcontext %d\n", n);
	if (n++ < 2)
		setcontext(&here);
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	other.uc_link = &own;
	makecontext(&other, coroutine, 0);
	swapcontext(&own, &other);
	printf("between\n");
	swapcontext(&own, &other);
	if (!pthread_create(&t, NULL, thread, &mark) && !pthread_join(t, &ret))
		printf("thread %d\n", ret == &mark);
	pid_t pid = vfork();
	if (!pid)
		_exit(3);
	if (waitpid(pid, &status, 0) == pid)
		printf("vfork %d\n", WEXITSTATUS(status));
	return 7;
}
