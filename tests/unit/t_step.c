/*
 * The truth, instruction by instruction: a child runs under ptrace, one instruction at a time. What
 * calls and returns it makes says who its callers are, and the walk by tables must say the same at
 * each place: in prologues, in PLTs, in the dynamic linker, in a signal's handler and on the way out
 * of it.
 */
#include "arch/arch.h"
#include "kern/host.h"
#include "sym/cfi.h"
#include "sym/procs.h"
#include "test.h"
#include "types/image.h"
#include "unwind/copy.h"
#include <alloca.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
enum {
	MAX_MAPS = 64,
	MAX_CALLS = 256,
	MAX_STEPS = 60000,
	MAX_IN_VDSO = 500,
	CALL_BYTES = 15,
	PAGE = 4096
};

/* ---- what is run ---- */

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif
static volatile int sink;

KEPT static void leaf(int n)
{
	sink += n;
}

KEPT static int compare(const void *a, const void *b)
{
	leaf(1);
	return *(const int *)a - *(const int *)b;
}

KEPT static void aligned(void)
{
	__attribute__((aligned(64))) char room[64];
	__asm__ volatile("" : : "r"(room) : "memory");
	leaf(2);
	sink++;
}

KEPT static void variable(int n)
{
	char *room = alloca((size_t)n * 24);
	__asm__ volatile("" : : "r"(room) : "memory");
	aligned();
	sink++;
}

KEPT static void handler(int n)
{
	leaf(n);
	sink++;
}

/* vfork() keeps its return address in a register: its child uses the stack. By its other name no
 * sanitizer stands before it, which would keep that address elsewhere. */
extern pid_t __vfork(void) __attribute__((returns_twice));

KEPT static void start_another(void)
{
	pid_t pid = __vfork();
	if (!pid)
		_exit(0);
	sink += (int)waitpid(pid, NULL, 0);
}

KEPT static void work(void)
{
	int v[] = {5, 3, 9, 1, 7};
	char text[200];
	struct timespec t;
	qsort(v, countof(v), sizeof(*v), compare);
	variable(sink & 7);
	char *p = malloc(100), *big = malloc(300000);
	snprintf(text, sizeof(text), "%s %d %g", "text", v[0], 2.5);
	sink += (int)strtol(text + 5, NULL, 10) + (int)strlen(text) + memcmp(text, "text", 4);
	clock_gettime(CLOCK_MONOTONIC, &t);
	raise(SIGUSR1);
	free(big);
	free(p);
	sink += getenv("PATH") != NULL;
	start_another();
}

/* ---- rules of what is mapped ---- */

struct code {
	u64 start, end, bias;
	char path[256];
	struct cfi_rows rows;
};
struct maps {
	struct code v[MAX_MAPS];
	u32 n;
	bool by_code; /* as if no file described anything */
};

static void rows_by_code(const struct image *im, u64 base, struct cfi_rows *ret)
{
	struct cfi c = {.arch = &arch_x86_64, .base = base};
	cfi_code(&c, im, 0, UINT64_MAX);
	c.entry = image_entry(im);
	cfi_finish(&c, ret);
}

static bool read_rows(struct code *c, u64 off, bool by_code)
{
	struct image im;
	struct err *e = NULL;
	u64 addr = off;
	bool vdso = !strcmp(c->path, "[vdso]");
	if (vdso ? !vdso_image(&im) : (e = image_open(c->path, &im)) != NULL) {
		err_free(e);
		return false;
	}
	u64 base = cfi_base(&im) & ~(u64)(PAGE - 1);
	bool good = image_vaddr(&im, off, PAGE, &addr);
	if (by_code && !vdso)
		rows_by_code(&im, base, &c->rows);
	else
		cfi_image(&im, base, &c->rows);
	c->bias = c->start - addr + base;
	if (!vdso)
		image_close(&im);
	return good;
}

static void read_maps(struct maps *m)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[600], perms[8];
	unsigned long long start, end, off;
	m->n = 0;
	while (f && m->n < MAX_MAPS && fgets(line, sizeof(line), f)) {
		struct code *c = &m->v[m->n];
		int n = sscanf(line, "%llx-%llx %7s %llx %*s %*s %255s", &start, &end, perms, &off,
			       c->path);
		if (n < 5 || !strchr(perms, 'x') || !strcmp(c->path, "[vsyscall]"))
			continue;
		c->start = start;
		c->end = end;
		m->n += read_rows(c, off, m->by_code);
	}
	if (f)
		fclose(f);
}

static const struct code *code_at(const struct maps *m, u64 addr)
{
	for (u32 i = 0; i < m->n; i++)
		if (addr >= m->v[i].start && addr < m->v[i].end)
			return &m->v[i];
	return NULL;
}

static bool rule_at(void *arg, u64 addr, struct copy_code *ret)
{
	const struct code *c = code_at(arg, addr);
	*ret = (struct copy_code){0};
	if (c)
		ret->rule = cfi_at(&c->rows, addr - c->bias);
	if (c && ((struct maps *)arg)->by_code && unwind_kind(ret->rule) == UNWIND_NONE)
		ret->rule = UNWIND_UNKNOWN; /* PLTs; else it would be guessed */
	return c != NULL;
}

/* ---- steps ---- */

struct stepper {
	pid_t pid;
	struct maps maps;
	struct unwind_copy *copy;
	u64 call[MAX_CALLS]; /* addresses that are returned to, the last one first to come */
	u32 ncall;
	u32 steps, wrong, deepest, cut, vdso_steps; /* vdso_steps: since it was entered */
	bool in_handler, in_vdso, left;
};

static u64 child_word(const struct stepper *x, u64 addr)
{
	u64 v = 0;
	struct iovec to = {&v, sizeof(v)}, from = {(void *)addr, sizeof(v)};
	if (process_vm_readv(x->pid, &to, 1, &from, 1, 0) != sizeof(v))
		return 0;
	return v;
}

static void copy_of(struct stepper *x, const struct user_regs_struct *r)
{
	const u64 reg[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
			   r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
	struct unwind_copy *c = x->copy;
	memcpy(c->reg, reg, sizeof(reg));
	c->ip = r->rip;
	c->sp = r->rsp;
	c->fp = r->rbp;
	c->pages = 0;
	u64 low = unwind_copy_low(c), at = low;
	for (u32 i = 0; i < UNWIND_COPY_PAGES; i++) {
		u64 n = PAGE - at % PAGE;
		struct iovec to = {c->stack + (at - low), n}, from = {(void *)at, n};
		if (process_vm_readv(x->pid, &to, 1, &from, 1, 0) == (ssize_t)n)
			c->pages |= 1u << i;
		at += n;
	}
	c->bytes = (u32)(at - low);
}

static void tell(const struct stepper *x, u64 ip, const u64 *frame, u32 n)
{
	const struct code *c = code_at(&x->maps, ip);
	fprintf(stderr, "# at %s+0x%llx: %u callers, %u expected", c ? c->path : "?",
		ip - (c ? c->bias : 0), n, x->ncall);
	for (u32 i = 0; i < x->ncall && i < n; i++)
		if (frame[i] != x->call[x->ncall - 1 - i]) {
			fprintf(stderr, "; number %u is 0x%llx, not 0x%llx", i, frame[i],
				x->call[x->ncall - 1 - i]);
			break;
		}
	fputc('\n', stderr);
}

/* The callers since the start are those that were seen to call; others are above them, to the end. */
static void check_here(struct stepper *x, const struct user_regs_struct *r)
{
	enum { TOLD = 10 };
	static const struct host h = {.arch = &arch_x86_64};
	u64 frame[MAX_CALLS];
	enum copy_end end;
	copy_of(x, r);
	u32 n = copy_walk(&h, x->copy, rule_at, &x->maps, frame, MAX_CALLS, &end);
	bool whole = n >= x->ncall && (x->maps.by_code || end == COPY_END);
	bool good = whole || x->maps.by_code;
	const struct code *last = whole ? NULL : code_at(&x->maps, n ? frame[n - 1] : r->rip);
	/* The dynamic linker is entered with more on the stack than functions are. */
	x->cut += last && !strstr(last->path, "/ld-linux");
	for (u32 i = 0; good && i < x->ncall && i < n; i++)
		good = frame[i] == x->call[x->ncall - 1 - i];
	if (!good && x->wrong++ < TOLD)
		tell(x, r->rip, frame, n);
	x->deepest = MAX(x->deepest, n);
}

static void note_call(struct stepper *x, u64 to)
{
	assert(x->ncall < MAX_CALLS);
	x->call[x->ncall++] = to;
}

/* What one instruction did to the callers. */
static void follow(struct stepper *x, const struct user_regs_struct *was,
		   const struct user_regs_struct *now)
{
	u64 top = child_word(x, now->rsp);
	bool next = now->rip > was->rip && now->rip <= was->rip + CALL_BYTES;
	if (now->rsp == was->rsp - 8 && !next && top > was->rip && top <= was->rip + CALL_BYTES)
		note_call(x, top);
	else if (x->ncall && now->rsp > was->rsp && now->rip == x->call[x->ncall - 1])
		x->ncall--;
}

static bool resume(struct stepper *x, int how, int sig, int *stop)
{
	int status;
	if (ptrace(how, x->pid, 0, sig) || waitpid(x->pid, &status, 0) != x->pid)
		return false;
	*stop = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
	return WIFSTOPPED(status);
}

/* To where the function returns, without steps. */
static bool run_to_caller(struct stepper *x, int *stop)
{
	enum { INT3 = 0xcc };
	struct user_regs_struct r;
	u64 to = x->call[x->ncall - 1], text = child_word(x, to);
	if (ptrace(PTRACE_POKETEXT, x->pid, to, (text & ~0xffull) | INT3) ||
	    !resume(x, PTRACE_CONT, 0, stop) || *stop != SIGTRAP ||
	    ptrace(PTRACE_POKETEXT, x->pid, to, text) || ptrace(PTRACE_GETREGS, x->pid, 0, &r))
		return false;
	r.rip = to;
	return !ptrace(PTRACE_SETREGS, x->pid, 0, &r);
}

/* The vDSO reads the clock again if the kernel has set it meanwhile, as it does each tick: at the
 * pace of steps on a busy machine it never has done. */
static bool step(struct stepper *x, int sig, int *stop)
{
	if (x->vdso_steps > MAX_IN_VDSO && x->ncall)
		return run_to_caller(x, stop);
	return resume(x, PTRACE_SINGLESTEP, sig, stop);
}

static void note_place(struct stepper *x, u64 ip)
{
	const struct code *c = code_at(&x->maps, ip);
	bool vdso = c && !strcmp(c->path, "[vdso]");
	x->in_handler |= ip == (u64)handler;
	x->in_vdso |= vdso;
	x->vdso_steps = vdso ? x->vdso_steps + 1 : 0;
}

static void run_steps(struct stepper *x)
{
	struct user_regs_struct was, now;
	int stop = 0;
	ptrace(PTRACE_GETREGS, x->pid, 0, &was);
	for (; x->steps < MAX_STEPS; x->steps++) {
		int sig = stop == SIGUSR1 ? SIGUSR1 : 0;
		if (!step(x, sig, &stop))
			break;
		ptrace(PTRACE_GETREGS, x->pid, 0, &now);
		if (sig) { /* before the handler's first instruction */
			note_call(x, was.rip);
			note_call(x, child_word(x, now.rsp));
		} else if (stop == SIGTRAP) {
			follow(x, &was, &now);
		}
		note_place(x, now.rip);
		check_here(x, &now);
		was = now;
	}
}

static pid_t start_child(void)
{
	pid_t pid = fork();
	if (pid)
		return pid;
	signal(SIGUSR1, handler);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(1);
	raise(SIGSTOP);
	work();
	_exit(0);
}

static bool has_tables(const struct maps *m)
{
	for (u32 i = 0; i < m->n; i++)
		if (strstr(m->v[i].path, "/libc.so.6") && m->v[i].rows.n > 1000)
			return true;
	return false;
}

/* NULL: it cannot be done here. */
static struct stepper *step_through(bool by_code)
{
	struct stepper *x = calloc(1, sizeof(*x));
	int status;
	x->maps.by_code = by_code;
	read_maps(&x->maps);
	x->copy = calloc(1, sizeof(*x->copy) + UNWIND_COPY_STACK);
	x->pid = start_child();
	bool stopped = waitpid(x->pid, &status, 0) == x->pid && WIFSTOPPED(status),
	     can = stopped && has_tables(&x->maps);
	if (!can)
		test_skip(stopped ? "a C library without tables" : "no ptrace");
	else
		run_steps(x);
	kill(x->pid, SIGKILL);
	while (waitpid(x->pid, &status, 0) < 0 && errno == EINTR)
		;
	u64 own = (u64)step_through;
	const struct code *c = code_at(&x->maps, own);
	x->left = c && unwind_kind(cfi_at(&c->rows, own - c->bias)) == UNWIND_NONE;
	for (u32 i = 0; i < x->maps.n; i++)
		free(x->maps.v[i].rows.v);
	free(x->copy);
	if (can)
		return x;
	free(x);
	return NULL;
}

TEST(step_by_step_the_callers_are_those_that_called)
{
	struct stepper *x = step_through(false);
	if (!x)
		return;
	CHECK(x->steps > 2000 && x->steps < MAX_STEPS && x->deepest > 10);
	CHECK(x->in_handler && x->in_vdso);
	CHECK(!x->wrong);
	if (x->wrong)
		fprintf(stderr, "# wrong at %u of %u instructions\n", x->wrong, x->steps);
	free(x);
}

TEST(step_by_step_code_alone_says_who_called)
{
	struct stepper *x = step_through(true);
	if (!x)
		return;
	CHECK(x->steps > 2000 && x->steps < MAX_STEPS && x->in_handler);
	CHECK(!x->wrong);
	/* With sanitizers the program keeps frame pointers, and is not read. */
	bool whole = x->left || x->cut < x->steps / 20;
	CHECK(whole);
	if (x->wrong || !whole)
		fprintf(stderr, "# wrong at %u, cut at %u of %u instructions\n", x->wrong, x->cut,
			x->steps);
	free(x);
}
#endif
