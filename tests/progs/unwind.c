/*
 * unwind.c MODE [NUMBER] - known chains of calls, without frame pointers (run.sh builds it so).
 *
 *	calls	main outer qsort compare inner leaf: through the C library, which has none either
 *	dl	main call_library lib_outer lib_inner leaf: through ./unwind_lib, opened just before
 *	lazy	main call_library lib_lazy (the dynamic linker) choose leaf: as the library binds a function
 *	signal	main raise handler inner leaf
 *	frames	main aligned variable inner leaf: frames that begin elsewhere
 *	huge	main huge leaf: a frame too large for the tables
 *	vfork	main start_another vfork: which keeps its return address in a register
 *	tree	when a byte comes on standard input, 2 to the power of the number different stacks below
 *		main grow (left | right)... compare inner leaf, without a pause
 *	child	the chain of calls, in a child that is forked when a byte comes on standard input
 *	made	main call_made (generated code) leaf
 *	thread	the chain of calls, in a thread
 *	spin	main outer_spin spin: busy, as long as the number says (milliseconds)
 *	clock	main ask_clock clock_gettime: busy in the vdso
 */
#include <alloca.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))
static volatile int sink;

/* Calls at the end must stay calls. */
#define LAST() (sink++)

KEPT void leaf(int n)
{
	sink += n;
	__asm__ volatile("");
}

KEPT void inner(int n)
{
	leaf(n + 1);
	LAST();
}

KEPT int compare(const void *a, const void *b)
{
	inner(*(const int *)a);
	return *(const int *)a - *(const int *)b;
}

KEPT void outer(void)
{
	int v[2] = {2, 1};
	qsort(v, 2, sizeof(*v), compare);
	LAST();
}

KEPT void handler(int n)
{
	inner(n);
	LAST();
}

/* %rsp is rounded down: the frame begins where a register says. */
KEPT void aligned(int n)
{
	__attribute__((aligned(64))) char room[64];
	__asm__ volatile("" : : "r"(room) : "memory");
	inner(n);
	LAST();
}

KEPT void variable(int n)
{
	char *room = alloca((size_t)(n + 1) * 24);
	__asm__ volatile("" : : "r"(room) : "memory");
	aligned(n);
	LAST();
}

KEPT void huge(int n)
{
	char room[3 << 20];
	__asm__ volatile("" : : "r"(room) : "memory");
	leaf(n);
	LAST();
}

KEPT void start_another(void)
{
	pid_t pid = vfork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	LAST();
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

KEPT void spin(unsigned n)
{
	while (n--)
		__asm__ volatile("");
	LAST();
}

KEPT void outer_spin(double ms)
{
	double end = now() + ms;
	while (now() < end)
		spin(3000000);
	LAST();
}

KEPT void ask_clock(double ms)
{
	double end = now() + ms;
	while (now() < end)
		;
	LAST();
}

KEPT void call_library(const char *name, int n)
{
	char path[PATH_MAX];
	ssize_t k = readlink("/proc/self/exe", path, sizeof(path) - 8);
	void (*f)(void (*)(int), int);
	if (k < 0)
		exit(2);
	memcpy(path + k, "_lib", 5);
	void *lib = dlopen(path, RTLD_LAZY);
	if (!lib || !(f = (void (*)(void (*)(int), int))dlsym(lib, name))) {
		fprintf(stderr, "unwind: %s\n", dlerror());
		exit(2);
	}
	usleep(200000); /* the tracer learns of it meanwhile */
	f(leaf, n);
	LAST();
}

/* Its name is in the list that runtimes write. */
KEPT void call_made(int n)
{
#ifdef __x86_64__
	/* push %rbp; mov %rsp,%rbp; mov %rdi,%rax; mov %esi,%edi; call *%rax; pop %rbp; ret */
	static const char code[] = "\x55\x48\x89\xe5\x48\x89\xf8\x89\xf7\xff\xd0\x5d\xc3";
#else
	/* stp x29, x30, [sp, -16]!; mov x29, sp; mov x2, x0; mov w0, w1; blr x2; ldp; ret */
	static const unsigned code[] = {0xa9bf7bfd, 0x910003fd, 0xaa0003e2, 0x2a0103e0,
					0xd63f0040, 0xa8c17bfd, 0xd65f03c0};
#endif
	char path[64];
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *list = fopen(path, "w");
	if (!list || at == MAP_FAILED)
		exit(2);
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, (char *)at + sizeof(code));
	fprintf(list, "%lx %zx made\n", (unsigned long)at, sizeof(code));
	fclose(list);
	if (mprotect(at, 4096, PROT_READ | PROT_EXEC))
		exit(2);
	usleep(200000); /* the tracer learns of it meanwhile */
	((void (*)(void (*)(int), int))at)(leaf, n);
	usleep(300000); /* and reads the list */
	unlink(path);
	LAST();
}

KEPT void left(unsigned path, int depth);
KEPT void right(unsigned path, int depth);

static void bend(unsigned path, int depth)
{
	int v[2] = {2, 1};
	if (!depth)
		qsort(v, 2, sizeof(*v), compare);
	else if (path & 1)
		right(path >> 1, depth - 1);
	else
		left(path >> 1, depth - 1);
}

KEPT void left(unsigned path, int depth)
{
	bend(path, depth);
	LAST();
}

KEPT void right(unsigned path, int depth)
{
	bend(path, depth);
	LAST();
}

KEPT void grow(int depth)
{
	if (getchar() == EOF)
		return;
	for (unsigned path = 0; path < 1u << depth; path++)
		bend(path, depth);
	LAST();
}

static void *thread(void *arg)
{
	outer();
	return arg;
}

static void once(const char *mode, int n)
{
	pthread_t t;
	if (!strcmp(mode, "calls"))
		outer();
	else if (!strcmp(mode, "dl"))
		call_library("lib_outer", n);
	else if (!strcmp(mode, "lazy"))
		call_library("lib_lazy", n);
	else if (!strcmp(mode, "made"))
		call_made(n);
	else if (!strcmp(mode, "signal"))
		raise(SIGUSR1);
	else if (!strcmp(mode, "frames"))
		variable(n);
	else if (!strcmp(mode, "huge"))
		huge(n);
	else if (!strcmp(mode, "tree"))
		grow(n);
	else if (!strcmp(mode, "vfork"))
		start_another();
	else if (!strcmp(mode, "spin"))
		outer_spin(n);
	else if (!strcmp(mode, "clock"))
		ask_clock(n);
	else if (!strcmp(mode, "thread") && !pthread_create(&t, NULL, thread, NULL))
		pthread_join(t, NULL);
	else if (!strcmp(mode, "child")) {
		if (getchar() == EOF)
			return;
		if (fork()) {
			wait(NULL);
			return;
		}
		usleep(300000);
		outer();
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	signal(SIGUSR1, handler);
	once(argv[1], argc > 2 ? atoi(argv[2]) : 1);
	return 0;
}
