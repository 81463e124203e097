/* child.c - the command of -c: forked at once, waiting at a gate until all probes are attached. */
#include "arch/arch.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/vec.h"
#include "proc/proc.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum { HOLD_TRIES = 20000, HOLD_PAUSE_NS = 100000 }; /* 2 s and more, then it goes on unheld */

typedef VEC(char *) words;

/* Split at blanks; quotes group, a backslash takes the next character. False: a quote is not
 * closed. */
static bool split(struct arena *a, const char *cmd, words *out)
{
	AUTO_SB w = {0};
	char quote = 0;
	bool in = false;
	for (const char *p = cmd; *p; p++) {
		if (quote ? *p == quote : (*p == '"' || *p == '\'')) {
			quote = quote ? 0 : *p;
			in = true;
		} else if (*p == '\\' && quote != '\'' && p[1]) {
			sb_char(&w, *++p);
			in = true;
		} else if (!quote && (*p == ' ' || *p == '\t' || *p == '\n')) {
			if (in)
				vec_add(out, arena_strz(a, sb_str(&w)));
			sb_clear(&w);
			in = false;
		} else {
			sb_char(&w, *p);
			in = true;
		}
	}
	if (in)
		vec_add(out, arena_strz(a, sb_str(&w)));
	return !quote;
}

/* In the child: only what is safe after fork. */
static void child_main(const char *path, char **argv, const struct login *as, int gate,
		       int exec_err)
{
	sigset_t none;
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL); /* the others, as nohup(1) may want them, stay as they were */
	sigprocmask(SIG_SETMASK, &none, NULL);
	char go;
	ssize_t n;
	do
		n = read(gate, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) /* the tracer gave up */
		_exit(1);
	if (!as || (!setgroups(as->ngroup, as->group) && !setresgid(as->gid, as->gid, as->gid) &&
		    !setresuid(as->uid, as->uid, as->uid)))
		execv(path, argv);
	int no = errno;
	n = write(exec_err, &no, sizeof(no));
	(void)n;
	_exit(127);
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
	int pid = fork(), no = errno;
	if (pid == 0) {
		close(gate[1]);
		close(exec_err[0]);
		child_main(path, argv, as, gate[0], exec_err[1]);
	}
	close(gate[0]);
	close(exec_err[1]);
	if (pid < 0) {
		close(gate[1]);
		close(exec_err[0]);
		return err_sys(no, "fork");
	}
	*c = (struct child){pid, gate[1], exec_err[0], xstrdup(path)};
	return NULL;
}

struct err *proc_child_start(const char *cmd, const struct login *as, struct child *c)
{
	struct arena a = {0};
	words v = {0};
	struct err *e = NULL;
	if (!split(&a, cmd, &v))
		e = err_new("a quote is not closed in the command: %s", cmd);
	else if (!v.n)
		e = err_new("the command is empty");
	char *path = e ? NULL : proc_which(&a, v.v[0]);
	if (!e && !path)
		e = err_new("Path '%s' does not exist or is not executable", v.v[0]);
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

struct err *proc_child_go(struct child *c)
{
	int no = 0;
	ssize_t n = write(c->gate, "g", 1);
	close(c->gate);
	c->gate = -1;
	if (n != 1)
		return err_new("the command ended before it was started");
	do /* ends at exec, which closes the other side */
		n = read(c->exec_err, &no, sizeof(no));
	while (n < 0 && errno == EINTR);
	close(c->exec_err);
	c->exec_err = -1;
	return n == (ssize_t)sizeof(no) ? not_started(c->path, no) : NULL;
}

/* ---- holding it ---- */

/* The next stop of the traced child. False: it ended, or takes too long. */
static bool next_stop(int pid, int *status)
{
	static const struct timespec pause = {.tv_nsec = HOLD_PAUSE_NS};
	for (u32 i = 0; i < HOLD_TRIES; i++) {
		int got = waitpid(pid, status, WNOHANG | __WALL);
		if (got == pid)
			return WIFSTOPPED(*status);
		if (got < 0 && errno != EINTR)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

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
	bool traced = !ptrace(PTRACE_SEIZE, c->pid, NULL, (long)PTRACE_O_TRACEEXEC);
	struct err *e = proc_child_go(c);
	if (e)
		return e;
	traced = traced && next_stop(c->pid, &status) && run_to_entry(c->pid);
	ready(arg);
	if (traced)
		ptrace(PTRACE_DETACH, c->pid, NULL, NULL);
	return NULL;
}
