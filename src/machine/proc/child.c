/*
 * child.c - the command of -c: forked at once, held until all probes are attached.
 *
 * The first system call that probes may see of it is execve, so it cannot wait in another one, whose end
 * would be seen. It waits as ptrace stops it, in a loop that calls nothing:
 *
 *	child				parent
 *	reads the gate			PTRACE_SEIZE; if we die from now on, so does the child
 *	ready = 1, spins		writes to the gate, waits for ready, PTRACE_INTERRUPT
 *	(stopped)			compiles, attaches
 *	sees go, execve			go = 1, PTRACE_DETACH
 *
 * Where ptrace is not allowed, the child stays at the gate, and probes see how read(2) ends.
 */
#include "arch/arch.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/spawn.h"
#include "proc/proc.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum { HOLD_TRIES = 20000, HOLD_PAUSE_NS = 100000 }; /* 2 s and more, then it goes on unheld */

/* Shared by the child and us. */
struct child_start {
	atomic_uint ready, go;
};

/* In the child: only what is safe after fork. as: NULL: it stays who it is. */
static void child_main(const char *path, char **argv, const struct login *as, const struct child *c)
{
	sigset_t none;
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL); /* the others, as nohup(1) may want them, stay as they were */
	sigprocmask(SIG_SETMASK, &none, NULL);
	char held;
	ssize_t n;
	bool good = !as ||
		    (!setgroups(as->ngroup, as->group) && !setresgid(as->gid, as->gid, as->gid) &&
		     !setresuid(as->uid, as->uid, as->uid));
	int no = good ? 0 : errno;
	do
		n = read(c->gate, &held, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) /* the tracer gave up */
		_exit(1);
	if (held) {
		atomic_store(&c->start->ready, 1);
		while (!atomic_load(&c->start->go))
			; /* until we are stopped, and then not again */
	}
	if (!no) {
		execv(path, argv);
		no = errno;
	}
	n = write(c->exec_err, &no, sizeof(no));
	(void)n;
	_exit(127);
}

static void pause_shortly(void)
{
	static const struct timespec pause = {.tv_nsec = HOLD_PAUSE_NS};
	nanosleep(&pause, NULL);
}

/* The next stop of the traced child. False: it ended, or takes too long. */
static bool next_stop(int pid, int *status)
{
	for (u32 i = 0; i < HOLD_TRIES; i++) {
		int got = waitpid(pid, status, WNOHANG | __WALL);
		if (got == pid)
			return WIFSTOPPED(*status);
		if (got < 0 && errno != EINTR)
			return false;
		pause_shortly();
	}
	return false;
}

static bool has_ended(int pid)
{
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

/* "S" of "12 (name) S 1 ...", which is ours and has no other call to sleep in. */
static bool is_asleep(int pid)
{
	char path[64], text[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	text[MAX(n, 0)] = 0;
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' && name_end[2] == 'S';
}

/* From the gate to where it is stopped; where we may not stop it, it is asleep at the gate. */
static void hold(struct child *c)
{
	int status;
	c->held = !ptrace(PTRACE_SEIZE, c->pid, NULL, (long)PTRACE_O_EXITKILL);
	if (!c->held) {
		for (u32 i = 0; i < HOLD_TRIES && !is_asleep(c->pid) && !has_ended(c->pid); i++)
			pause_shortly();
		return;
	}
	ssize_t n = write(c->gate, "\1", 1);
	while (n == 1 && !atomic_load(&c->start->ready) && !has_ended(c->pid))
		pause_shortly();
	ptrace(PTRACE_INTERRUPT, c->pid, NULL, NULL);
	next_stop(c->pid, &status); /* if it has ended instead, proc_child_go() says so */
}

static void close_start(struct child *c)
{
	if (c->start)
		munmap(c->start, sizeof(*c->start));
	close_fd(&c->gate);
	close_fd(&c->exec_err);
	c->start = NULL;
	c->gate = c->exec_err = -1;
}

static struct err *fork_child(const char *path, char **argv, const struct login *as,
			      struct child *c)
{
	int gate[2], exec_err[2];
	if (pipe2(gate, O_CLOEXEC))
		return err_sys(errno, "make a pipe");
	if (pipe2(exec_err, O_CLOEXEC)) {
		int no = errno;
		close(gate[0]);
		close(gate[1]);
		return err_sys(no, "make a pipe");
	}
	void *page = mmap(NULL, sizeof(struct child_start), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pid = page == MAP_FAILED ? -1 : fork(), no = errno;
	*c = (struct child){pid,  gate[1], exec_err[0],
			    NULL, false,   page == MAP_FAILED ? NULL : page};
	if (pid == 0) {
		close(gate[1]);
		close(exec_err[0]);
		*c = (struct child){0, gate[0], exec_err[1], NULL, false, page};
		child_main(path, argv, as, c);
	}
	heap_own();
	close(gate[0]);
	close(exec_err[1]);
	if (pid < 0) {
		close_start(c);
		return err_sys(no, page == MAP_FAILED ? "map memory" : "fork");
	}
	c->path = xstrdup(path);
	hold(c);
	return NULL;
}

/* Why proc_which() finds nothing to run. */
static const char *not_a_program(const char *name)
{
	struct stat st;
	if (!strchr(name, '/'))
		return "not in $PATH";
	if (stat(name, &st))
		return strerror(errno);
	return S_ISREG(st.st_mode) ? "it has no execute permission" : "not a regular file";
}

struct err *proc_child_start(const char *cmd, const struct login *as, struct child *c)
{
	struct arena a = {0};
	struct spawn_words v = {0};
	struct err *e = NULL;
	if (!spawn_split(&a, str_z(cmd), &v))
		e = err_new("a quote is not closed in the command: %s", cmd);
	else if (!v.n)
		e = err_new("the command is empty");
	char *path = e ? NULL : proc_which(&a, v.v[0]);
	if (!e && !path)
		e = err_new("Path '%s' does not exist or is not executable (%s)", v.v[0],
			    not_a_program(v.v[0]));
	vec_add(&v, NULL);
	if (!e)
		e = fork_child(path, v.v, as, c);
	vec_free(&v);
	arena_free(&a);
	return e;
}

static struct err *not_started(const char *path, int no)
{
	const char *why = "";
	if (no == ENOEXEC)
		why = " (neither a program for this machine, nor a script that begins with #!)";
	else if (no == ENOENT) /* the file itself was there */
		why = " (the interpreter that its first line or its header names is not there)";
	return err_sys(no, "start the command %s%s", path, why);
}

/* It goes on. False: it has ended, or does not run up to exec. */
static bool let_go(struct child *c, bool detach)
{
	if (!c->held)
		return write(c->gate, "\0", 1) == 1;
	if (!atomic_load(&c->start->ready))
		return false;
	atomic_store(&c->start->go, 1);
	return !ptrace(detach ? PTRACE_DETACH : PTRACE_CONT, c->pid, NULL, NULL);
}

static struct err *start(struct child *c, bool detach)
{
	int no = 0;
	bool gone = !let_go(c, detach);
	ssize_t n = 0;
	if (!gone)
		do /* ends at exec, which closes the other side */
			n = read(c->exec_err, &no, sizeof(no));
		while (n < 0 && errno == EINTR);
	close_start(c);
	if (gone)
		return err_new("the command ended before it was started");
	return n == (ssize_t)sizeof(no) ? not_started(c->path, no) : NULL;
}

struct err *proc_child_go(struct child *c)
{
	return start(c, true);
}

void proc_child_end(struct child *c, u32 grace_ms, int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	if (!c->pid)
		return;
	bool stopped = c->held && c->start; /* before it has become the command */
	close_start(c);
	if (waitpid(c->pid, NULL, WNOHANG) == 0) {
		kill(c->pid, stopped ? SIGKILL : SIGTERM);
		if (!stopped && (pidfd < 0 || poll(&p, 1, (int)grace_ms) <= 0))
			kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	free(c->path);
	*c = CHILD_NONE;
}

/* ---- holding it ---- */

static u64 entry_point(int pid)
{
	char path[64];
	u8 aux[1024];
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, aux, sizeof(aux));
	for (struct bytes b = bytes_of(aux, n > 0 ? (size_t)n : 0); !b.bad && b.at < b.n;) {
		u64 type = bytes_u64(&b), val = bytes_u64(&b);
		if (type == AT_ENTRY)
			return val;
	}
	return 0;
}

/* Behind the breakpoint there; then it goes on from it. */
static bool stopped_at(int pid, int status, u64 addr)
{
	enum { MAX_REGS = 128 };
	const struct arch *a = arch_native();
	u64 regs[MAX_REGS];
	struct iovec v = {regs, sizeof(regs)};
	if (WSTOPSIG(status) != SIGTRAP || status >> 16 ||
	    ptrace(PTRACE_GETREGSET, pid, (long)NT_PRSTATUS, &v) ||
	    regs[a->ip / 8] != addr + a->trap_skip)
		return false;
	regs[a->ip / 8] = addr;
	return !ptrace(PTRACE_SETREGSET, pid, (long)NT_PRSTATUS, &v);
}

/* From the stop at exec to the first instruction of the program: a breakpoint. True: it is stopped.
 */
static bool run_to_entry(int pid)
{
	const struct arch *a = arch_native();
	int status;
	u64 addr = entry_point(pid);
	errno = 0;
	long old = addr ? ptrace(PTRACE_PEEKTEXT, pid, addr, NULL) : -1, text = old;
	memcpy(&text, a->trap, a->ntrap);
	if (!addr || errno || text == old || /* a uprobe */
	    ptrace(PTRACE_POKETEXT, pid, addr, text))
		return true;
	int sig = 0;
	bool there = false, stopped = false;
	while (!there) {
		ptrace(PTRACE_CONT, pid, NULL, (long)sig);
		stopped = next_stop(pid, &status);
		if (!stopped)
			break;
		there = stopped_at(pid, status, addr);
		sig = status >> 16 ? 0 : WSTOPSIG(status);
	}
	if (!stopped) { /* ended, or too slow: then it can be stopped anywhere */
		ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
		stopped = next_stop(pid, &status);
	}
	if (stopped)
		ptrace(PTRACE_POKETEXT, pid, addr, old);
	return stopped;
}

struct err *proc_child_go_held(struct child *c, void (*ready)(void *), void *arg)
{
	int status;
	bool traced = c->held && !ptrace(PTRACE_SETOPTIONS, c->pid, NULL,
					 (long)(PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
	struct err *e = start(c, !traced);
	if (e)
		return e;
	traced = traced && next_stop(c->pid, &status) && run_to_entry(c->pid);
	ready(arg);
	if (traced)
		ptrace(PTRACE_DETACH, c->pid, NULL, NULL);
	return NULL;
}
