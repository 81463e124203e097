/* unwind_lib.c - the library that unwind.c opens. */
void lib_outer(void (*f)(int), int n);

static volatile int sink;

static __attribute__((noinline)) void lib_inner(void (*f)(int), int n)
{
	f(n + 1);
	sink++;
}

void lib_outer(void (*f)(int), int n)
{
	lib_inner(f, n);
	sink++;
}
