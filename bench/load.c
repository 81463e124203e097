/*
 * load OP: does one small thing many times and says what one of them cost.
 *
 *	load [-c CPU] [-n TIMES | -t MS] [-w] [-k] OP    prints "TIMES NS_PER_OPERATION"
 *	load where FUNCTION                              offset of a function or site in this file
 *	load list
 *
 * The cost is processor time of the thread (of both threads for `switch`), the median of many short
 * stretches: neither waiting for the CPU nor a disturbed stretch counts. -w: wait for a line on
 * standard input before; -k: stay alive afterwards until it ends.
 */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CHUNKS = 4096, CHUNK_NS = 1000000, DEPTH = 14, HIGH_PRIORITY = -15, WARM_US = 500000 };

/*
 * Functions for uprobes that differ in their first instruction, which decides what a hit costs:
 * nop5 is made a call by the kernel, nop and push are emulated, others are single-stepped.
 */
#if defined(__x86_64__)
#define FUNC(name, first)                                                                          \
	long name(long x, const char *s);                                                          \
	__asm__(".pushsection .text\n.p2align 4\n.globl " #name "\n.type " #name                   \
		", @function\n" #name ":\n" first "mov %rdi, %rax\nret\n.size " #name ", .-" #name \
		"\n.popsection\n")
FUNC(f_nop5, ".byte 0x0f, 0x1f, 0x44, 0, 0\n");
FUNC(f_nop, "nop\n");
FUNC(f_push, "push %rbp\nmov %rsp, %rbp\npop %rbp\n");
FUNC(f_endbr, "endbr64\npush %rbp\nmov %rsp, %rbp\npop %rbp\n");
FUNC(f_sub, "sub $8, %rsp\nadd $8, %rsp\n");
FUNC(f_site, "990: nop\n"
	     ".pushsection .note.stapsdt, \"\", \"note\"\n"
	     ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"
	     "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n"
	     ".asciz \"load\"\n.asciz \"step\"\n.asciz \"8@%rdi 8@%rsi\"\n994: .balign 4\n"
	     ".popsection\n"
	     ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	     ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"
	     ".size _.stapsdt.base, 1\n.popsection\n");
#else
#define FUNC(name, first)                                           \
	__attribute__((noinline)) long name(long x, const char *s); \
	long name(long x, const char *s)                            \
	{                                                           \
		__asm__ volatile("" ::"r"(s));                      \
		return x;                                           \
	}
FUNC(f_nop5, "")
FUNC(f_nop, "")
FUNC(f_push, "")
FUNC(f_endbr, "")
FUNC(f_sub, "")
FUNC(f_site, "")
#endif

static int zero_fd, null_fd;
static const char text[] = "a text";
static const char missing[] = "/tmp/no-such-file-for-the-benchmark";

static void op_getppid(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

/* Every offset from 0 to 1023, so that histograms have more than one bucket. */
static void op_lseek(long n)
{
	while (n--)
		syscall(SYS_lseek, zero_fd, n & 1023, SEEK_SET);
}

static void op_openat(long n)
{
	while (n--)
		syscall(SYS_openat, AT_FDCWD, missing, O_RDONLY);
}

static void op_read(long n)
{
	char c;

	while (n--)
		syscall(SYS_read, null_fd, &c, 0);
}

#define CALLS(name)                           \
	static void op_##name(long n)         \
	{                                     \
		while (n--)                   \
			name(n & 1023, text); \
	}
CALLS(f_nop5)
CALLS(f_nop)
CALLS(f_push)
CALLS(f_endbr)
CALLS(f_sub)
CALLS(f_site)

/* ---- two threads that wake each other: two switches each time ---- */

static int ping[2] = {-1, -1}, pong[2];

static void *answer(void *arg)
{
	char c;

	while (read(ping[0], &c, 1) == 1 && write(pong[1], &c, 1) == 1)
		;
	return arg;
}

static void op_switch(long n)
{
	char c = 0;
	pthread_t t;

	if (ping[0] < 0 && (pipe(ping) || pipe(pong) || pthread_create(&t, NULL, answer, NULL)))
		exit(1);
	while (n--)
		if (write(ping[1], &c, 1) != 1 || read(pong[0], &c, 1) != 1)
			exit(1);
}

/* ---- getppid from 2^DEPTH different places ---- */

static void left(unsigned path, int depth);
static void right(unsigned path, int depth);

static __attribute__((noinline)) void step(unsigned path, int depth)
{
	if (!depth)
		syscall(SYS_getppid);
	else if (path & 1)
		right(path >> 1, depth - 1);
	else
		left(path >> 1, depth - 1);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void left(unsigned path, int depth)
{
	step(path, depth);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void right(unsigned path, int depth)
{
	step(path, depth);
	__asm__ volatile("nop" ::: "memory");
}

static void op_stacks(long n)
{
	static unsigned path;

	while (n--)
		step(path++, DEPTH);
}

/* So many calls deep. */
static __attribute__((noinline)) void deeper(long n, int depth)
{
	if (depth)
		deeper(n, depth - 1);
	else
		op_getppid(n);
	__asm__ volatile("" ::: "memory");
}

static void op_deep(long n)
{
	deeper(n, 20);
}

static void op_deep10(long n)
{
	deeper(n, 10);
}

static void op_deep30(long n)
{
	deeper(n, 30);
}

static void op_deep100(long n)
{
	deeper(n, 100);
}

static const struct op {
	const char *name;
	void (*run)(long n);
	bool process; /* time of all threads */
} ops[] = {
	{"getppid", op_getppid, false}, {"lseek", op_lseek, false},   {"openat", op_openat, false},
	{"read", op_read, false},       {"switch", op_switch, true},  {"nop5", op_f_nop5, false},
	{"nop", op_f_nop, false},       {"push", op_f_push, false},   {"endbr", op_f_endbr, false},
	{"sub", op_f_sub, false},       {"usdt", op_f_site, false},   {"stacks", op_stacks, false},
	{"deep", op_deep, false},       {"deep10", op_deep10, false}, {"deep30", op_deep30, false},
	{"deep100", op_deep100, false},
};
enum { NOPS = sizeof(ops) / sizeof(ops[0]) };

static const struct {
	const char *name;
	long (*at)(long, const char *);
} places[] = {
	{"f_nop5", f_nop5},   {"f_nop", f_nop}, {"f_push", f_push},
	{"f_endbr", f_endbr}, {"f_sub", f_sub}, {"f_site", f_site},
};

static double cpu_ns(bool process)
{
	struct timespec t;

	clock_gettime(process ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* File offset of an address: the main program comes first. */
static int file_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned long *addr = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		unsigned long start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && *addr >= start && *addr < start + p->p_memsz) {
			*addr = *addr - start + p->p_offset;
			return 1;
		}
	}
	return 1;
}

static int where(const char *name)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		unsigned long addr = (unsigned long)places[i].at;

		if (strcmp(places[i].name, name))
			continue;
		dl_iterate_phdr(file_offset, &addr);
		printf("%lu\n", addr);
		return 0;
	}
	fprintf(stderr, "load: no function %s\n", name);
	return 2;
}

/* Tracers that unwind by tables make those of this file when they meet it. */
static long warm_up(const struct op *op)
{
	if (strncmp(op->name, "deep", 4) != 0 && strcmp(op->name, "stacks") != 0)
		return 0;
	op->run(1);
	usleep(WARM_US);
	return 1;
}

static void run(const struct op *op, long times, double ms)
{
	static double took[MAX_CHUNKS];
	long chunk = 64, done = warm_up(op);
	int n = 0;
	double spent = 0;

	if (!times) { /* how many make a stretch; they count as done */
		double first = 0;

		while (first < CHUNK_NS / 2) {
			chunk *= 2;
			first = cpu_ns(op->process);
			op->run(chunk);
			first = cpu_ns(op->process) - first;
			done += chunk;
		}
		chunk = (long)((double)chunk * (double)CHUNK_NS / first) + 1;
	} else {
		chunk = times / 64 ? times / 64 : 1;
	}
	while (times ? done < times : spent < ms * 1e6 || n < 5) {
		long now = times && times - done < chunk ? times - done : chunk;
		double start = cpu_ns(op->process);

		op->run(now);
		start = cpu_ns(op->process) - start;
		spent += start;
		done += now;
		if (n < MAX_CHUNKS)
			took[n++] = start / (double)now;
	}
	qsort(took, (size_t)n, sizeof(*took), by_value);
	printf("%ld %.2f\n", done, took[n / 2]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long times = 0;
	double ms = 100;
	bool wait = false, keep = false;
	char line[16];

	if (argc == 3 && !strcmp(argv[1], "where"))
		return where(argv[2]);
	for (int o; (o = getopt(argc, argv, "c:n:t:wk")) > 0;) {
		cpu_set_t set;

		if (o == 'c') {
			CPU_ZERO(&set);
			CPU_SET(strtoul(optarg, NULL, 10), &set);
			sched_setaffinity(0, sizeof(set), &set);
		} else if (o == 'n') {
			times = strtol(optarg, NULL, 10);
		} else if (o == 't') {
			ms = strtod(optarg, NULL);
		} else if (o == 'w' || o == 'k') {
			*(o == 'w' ? &wait : &keep) = true;
		} else {
			return 2;
		}
	}
	setpriority(PRIO_PROCESS, 0, HIGH_PRIORITY); /* as a courtesy to the figures; may fail */
	zero_fd = open("/dev/zero", O_RDONLY);
	null_fd = open("/dev/null", O_RDONLY);
	if (wait && !fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; optind < argc && i < NOPS; i++) {
		if (!strcmp(argv[optind], "list"))
			puts(ops[i].name);
		if (strcmp(argv[optind], ops[i].name))
			continue;
		run(&ops[i], times, ms);
		while (keep && fgets(line, sizeof(line), stdin))
			;
		return 0;
	}
	return optind < argc && !strcmp(argv[optind], "list") ? 0 : 2;
}
