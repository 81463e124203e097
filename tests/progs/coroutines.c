/* coroutines: two contexts take three turns each; turn() returns when the other one gives the processor back. */
#include <stdio.h>
#include <ucontext.h>

static ucontext_t whole, one, other;
static char stack[2][1 << 16];
static int turns;

__attribute__((noinline)) int turn(ucontext_t *from, ucontext_t *to)
{
	turns++;
	swapcontext(from, to);
	return turns;
}

static void run_one(void)
{
	for (int i = 0; i < 3; i++)
		turn(&one, &other);
}

static void run_other(void)
{
	for (int i = 0; i < 3; i++)
		turn(&other, &one);
}

static void make(ucontext_t *c, char *on, void (*run)(void))
{
	getcontext(c);
	c->uc_stack.ss_sp = on;
	c->uc_stack.ss_size = sizeof(stack[0]);
	c->uc_link = &whole;
	makecontext(c, run, 0);
}

int main(void)
{
	make(&one, stack[0], run_one);
	make(&other, stack[1], run_other);
	swapcontext(&whole, &one);
	printf("%d turns\n", turns);
	return 0;
}
