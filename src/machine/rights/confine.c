/* confine.c - capabilities and a filter of system calls; see confine.h. */
#include "rights/confine.h"
#include "arch/arch.h"
#include "kern/uapi.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- capabilities ---- */

enum { CAP_WORDS = 2 };

static bool caps_get(struct __user_cap_data_struct *v)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	return !syscall(SYS_capget, &head, v);
}

u64 confine_held(void)
{
	struct __user_cap_data_struct v[CAP_WORDS] = {0};
	return caps_get(v) ? v[0].permitted | (u64)v[1].permitted << 32 : 0;
}

static struct err *caps_set(u64 keep, bool for_good)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct v[CAP_WORDS] = {0};
	if (!caps_get(v))
		return err_sys(errno, "ask for capabilities");
	for (u32 i = 0; i < CAP_WORDS; i++) {
		u32 word = (u32)(keep >> 32 * i);
		v[i].effective = v[i].permitted & word;
		v[i].permitted &= for_good ? word : ~0u;
		v[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, v) ? err_sys(errno, "drop capabilities") : NULL;
}

struct err *confine_effective(u64 keep)
{
	return caps_set(keep, false);
}

struct err *confine_caps(u64 keep, u64 *left)
{
	struct err *e = caps_set(keep, true);
	*left = confine_held();
	return e;
}

/* ---- the filter ---- */

/* What is asked of an argument. */
enum look {
	LOOK_ANY,
	LOOK_BPF,
	LOOK_READ,
	LOOK_READ_1,
	LOOK_IOCTL,
	LOOK_NO_CODE,
	LOOK_FORK,
	LOOK_UNIX,
	LOOK_INET,
	LOOK_PRCTL,
	LOOK_ASKED,
};
struct allowed {
	u32 nr, may;
	enum look look;
};
static const struct allowed allowed[] = {
#define C(name, may, look) {__NR_##name, may, LOOK_##look},
#include "rights/confine.def"
};
/* Of a child that reads files: memory, and what it was handed. */
static const struct allowed sandboxed[] = {
#define S(name, look) {__NR_##name, 0, LOOK_##look},
#include "rights/confine.def"
};

enum { MAX_FILTER = 512, WRITES = O_ACCMODE | O_CREAT | O_TRUNC, NO_CODE = PROT_EXEC };
static const u32 bpf_always[] = {
	BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,
	BPF_PROG_TEST_RUN,
	BPF_OBJ_GET_INFO_BY_FD,
	BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_UPDATE_BATCH,
	BPF_MAP_DELETE_BATCH,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH,
};
static const u32 bpf_attach[] = {
	BPF_LINK_CREATE,
	BPF_RAW_TRACEPOINT_OPEN,
	BPF_PROG_GET_NEXT_ID,
	BPF_PROG_GET_FD_BY_ID,
};
/* Of terminals: is it one, how wide. Those of perf events are told by their letter. */
enum { TCGETS_2 = 0x802c542a }; /* TCGETS2, whose header is another's enemy: glibc's since 2.42 */
static const u32 ioctl_always[] = {TCGETS, TCGETS_2, TIOCGWINSZ, FIONREAD};
/* Of a child that gives up more than we did. */
static const u32 prctl_always[] = {PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS};
/* Namespaces would be a way to capabilities. */
#define NEW_SPACES                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET | CLONE_VM)

struct filter {
	struct sock_filter v[MAX_FILTER];
	u32 n;
};

static void add(struct filter *f, struct sock_filter x)
{
	assert(f->n < MAX_FILTER);
	f->v[f->n++] = x;
}

static void load(struct filter *f, size_t off)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (u32)off));
}

/* The low half of an argument; what it is compared with has no more. */
static void load_arg(struct filter *f, u32 i)
{
	load(f, offsetof(struct seccomp_data, args) + 8ul * i);
}

static void jump(struct filter *f, u32 op, u32 k, u8 yes, u8 no)
{
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | op, k, yes, no));
}

static void verdict(struct filter *f, u32 what)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

/* None of these bits: allowed. */
static void without(struct filter *f, u32 arg, u32 bits)
{
	load_arg(f, arg);
	jump(f, BPF_JSET, bits, 1, 0);
	verdict(f, SECCOMP_RET_ALLOW);
}

static void one_of(struct filter *f, u32 arg, const u32 *v, u32 n)
{
	load_arg(f, arg);
	for (u32 i = 0; i < n; i++) {
		jump(f, BPF_JEQ, v[i], 0, 1);
		verdict(f, SECCOMP_RET_ALLOW);
	}
}

static void put_look(struct filter *f, enum look look, u32 may)
{
	const u32 make = BPF_MAP_CREATE, local = AF_UNIX, inet[] = {AF_INET, AF_INET6};
	switch (look) {
	case LOOK_ANY: break;
	case LOOK_ASKED: verdict(f, SECCOMP_RET_TRAP); break;
	case LOOK_READ: without(f, 2, WRITES); break;
	case LOOK_READ_1: without(f, 1, WRITES); break;
	case LOOK_NO_CODE: without(f, 2, NO_CODE); break;
	case LOOK_FORK: without(f, 0, NEW_SPACES); break;
	case LOOK_INET: one_of(f, 0, inet, countof(inet)); break;
	case LOOK_UNIX: one_of(f, 0, &local, 1); break;
	case LOOK_PRCTL: one_of(f, 0, prctl_always, countof(prctl_always)); break;
	case LOOK_BPF:
		one_of(f, 0, bpf_always, countof(bpf_always));
		one_of(f, 0, &make, may & MAY_MAP ? 1 : 0);
		one_of(f, 0, bpf_attach, may & MAY_ATTACH ? countof(bpf_attach) : 0);
		break;
	case LOOK_IOCTL:
		one_of(f, 1, ioctl_always, countof(ioctl_always));
		add(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff00));
		jump(f, BPF_JEQ, '$' << 8, 0, 1);
		verdict(f, SECCOMP_RET_ALLOW);
		break;
	}
}

struct table {
	const struct allowed *v;
	u32 n, may;
	u32 else_do; /* SECCOMP_RET_*, with what is not in it */
};

/* The calls that may be made, by number; several of one number stay in their order. */
static u32 sorted(const struct allowed **v, const struct table *t)
{
	u32 n = 0;
	for (u32 i = 0; i < t->n; i++) {
		if ((t->v[i].may & t->may) != t->v[i].may)
			continue;
		u32 at = n++;
		for (; at && v[at - 1]->nr > t->v[i].nr; at--)
			v[at] = v[at - 1];
		v[at] = &t->v[i];
	}
	return n;
}

/* The number is loaded. First calls whose arguments count, then the others, which share a verdict. */
static void put_calls(struct filter *f, const struct allowed *const *v, u32 n,
		      const struct table *t)
{
	u8 left = 0;
	for (u32 i = 0; i < n; i++) {
		if (v[i]->look == LOOK_ANY) {
			left++;
			continue;
		}
		jump(f, BPF_JEQ, v[i]->nr, 0, 0);
		u32 at = f->n;
		put_look(f, v[i]->look, t->may);
		load(f, offsetof(struct seccomp_data, nr));
		f->v[at - 1].jf = (u8)(f->n - at);
	}
	bool some = left;
	for (u32 i = 0; i < n; i++)
		if (v[i]->look == LOOK_ANY)
			jump(f, BPF_JEQ, v[i]->nr, left--, 0);
	verdict(f, t->else_do);
	if (some)
		verdict(f, SECCOMP_RET_ALLOW);
}

/*
 * By halves: when the filter is installed the kernel walks through it for every number that there
 * is, to know which calls it need not ask about.
 */
static void put_tree(struct filter *f, const struct allowed *const *v, u32 n, const struct table *t)
{
	enum { LEAF = 4 };
	u32 half = n / 2;
	while (half && v[half]->nr == v[half - 1]->nr)
		half--;
	if (n <= LEAF || !half) {
		put_calls(f, v, n, t);
		return;
	}
	jump(f, BPF_JGE, v[half]->nr, 0, 1);
	u32 at = f->n;
	jump(f, BPF_JA, 0, 0, 0);
	put_tree(f, v, half, t);
	f->v[at].k = f->n - at - 1;
	put_tree(f, v + half, n - half, t);
}

static void put_filter(struct filter *f, const struct table *t)
{
	const u32 ours = arch_native()->machine | __AUDIT_ARCH_64BIT | __AUDIT_ARCH_LE;
	const struct allowed *v[countof(allowed)];
	u32 n = sorted(v, t);
	load(f, offsetof(struct seccomp_data, arch));
	jump(f, BPF_JEQ, ours, 1, 0);
	verdict(f, SECCOMP_RET_KILL_PROCESS); /* nobody of ours makes such calls */
	load(f, offsetof(struct seccomp_data, nr));
	put_tree(f, v, n, t);
}

u32 confine_count(u32 may)
{
	u32 n = 0;
	for (u32 i = 0; i < countof(allowed); i++) {
		bool again = i && allowed[i].nr == allowed[i - 1].nr;
		n += (allowed[i].may & may) == allowed[i].may && !again;
	}
	return n;
}

/* A number at the end of text; its length. */
static size_t put_number(char *end, u32 v)
{
	size_t n = 0;
	do
		end[-(ptrdiff_t)++n] = (char)('0' + v % 10);
	while (v /= 10);
	return n;
}

/* Whatever went wrong, all that was attached hangs on descriptors, and goes with them. */
static void refused(int sig, siginfo_t *info, void *context)
{
	static const char head[] =
		"ERROR: stopped: while tracing, sonde gave up the right to make system call ",
			  tail[] = ", and then made it; that is a bug, please report it "
				   "(--no-feature confine goes without)\n";
	char text[16];
	size_t n = put_number(text + sizeof(text), (u32)info->si_syscall);
	(void)sig;
	(void)context;
	(void)!write(STDERR_FILENO, head, sizeof(head) - 1);
	(void)!write(STDERR_FILENO, text + sizeof(text) - n, n);
	(void)!write(STDERR_FILENO, tail, sizeof(tail) - 1);
	_exit(1);
}

static struct err *install(const struct table *t)
{
	struct filter f = {.n = 0};
	put_filter(&f, t);
	struct sock_fprog prog = {.len = (u16)f.n, .filter = f.v};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(errno, "set no_new_privs");
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog))
		return err_sys(errno, "set a filter of system calls");
	return NULL;
}

struct err *confine_calls(u32 may)
{
	const struct table t = {allowed, countof(allowed), may, SECCOMP_RET_TRAP};
	struct sigaction told = {.sa_sigaction = refused, .sa_flags = SA_SIGINFO};
	if (sigaction(SIGSYS, &told, NULL))
		return err_sys(errno, "catch SIGSYS");
	return install(&t);
}

struct err *confine_sandbox(void)
{
	const struct table t = {sandboxed, countof(sandboxed), 0, SECCOMP_RET_ERRNO | EPERM};
	return install(&t);
}
