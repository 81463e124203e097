/* unwind_lib.c - the library that unwind.c opens. */
void lib_outer(void (*f)(int), int n);
void lib_lazy(void (*f)(int), int n);
void lib_chosen(void);

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

/* ---- a function that is bound at its first call, when a function of ours chooses it ---- */

static void (*asked)(int);

static void chosen(void)
{
	sink++;
}

static __attribute__((used)) void (*choose(void))(void)
{
	if (asked)
		asked(1);
	sink++;
	return chosen;
}
void lib_chosen(void) __attribute__((ifunc("choose")));

void lib_lazy(void (*f)(int), int n)
{
	asked = f;
	sink += n;
	lib_chosen();
	sink++;
}
