/* ctl.c - things that act on the run or on other processes: exit system signal. */
#include "builtin/common.h"
#include "core/printf.h"
#include "run/session.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

enum { MAX_SYSTEM_OUTPUT = 16 << 20, MAX_SIGNAL = 64 };

/* ---- exit ---- */
static bool check_exit(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 0);

	if (!n || type_is_int(n->type) || n->type->kind == T_BOOL || type_is_error(n->type))
		return true;
	return sema_fail(s, E_TYPE, n->loc, "exit() only supports int arguments (%s provided)",
			 builtin_kind(n->type));
}

static struct ref lower_exit(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	lower_record(l, call, call_arg(call, 0), lower_schema(l, call->fn, call->loc));
	lower_end_probe(l);
	return REF_NONE;
}

static void act_exit(struct session *s, const struct schema *sc, const struct value *v, u32 n,
		     u64 ts)
{
	(void)sc, (void)ts;
	session_exit(s, n ? (int)(v[0].u & 255) : 0);
}

/* ---- system ---- */
static bool check_system(struct sema *s, struct node *call)
{
	struct str fmt;

	return builtin_text(s, call, 0, &fmt) && sema_check_format(s, call, fmt, 1);
}

static struct ref lower_system(struct lower *l, struct node *call, struct mem dst)
{
	struct str fmt = {0};

	(void)dst;
	node_str(call_arg(call, 0), &fmt);
	return builtin_send(l, call, 1, fmt);
}

/* Start /bin/sh with its output in a pipe and the signals that we block or ignore as they are by
 * default. */
static struct err *start_shell(char *cmd, int *pid, int *out)
{
	char sh[] = "sh", c[] = "-c";
	char *argv[] = {sh, c, cmd, NULL};
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int p[2], no;

	if (pipe2(p, O_CLOEXEC))
		return err_sys(errno, "pipe");
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, p[1], STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	no = posix_spawn(pid, "/bin/sh", &fa, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&attr);
	close(p[1]);
	if (no) {
		close(p[0]);
		return err_sys(no, "start /bin/sh");
	}
	*out = p[0];
	return NULL;
}

/* All that comes from fd; false: there was more than MAX_SYSTEM_OUTPUT, which is thrown away. */
static bool read_all(int fd, struct sb *out)
{
	bool whole = true;
	char buf[4096];

	for (;;) {
		ssize_t n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return whole;
		if (out->n + (size_t)n > MAX_SYSTEM_OUTPUT)
			whole = false;
		else
			sb_mem(out, buf, (size_t)n);
	}
}

static struct err *run_shell(char *cmd, struct sb *out)
{
	int pid, fd, status;
	bool whole;
	struct err *e = start_shell(cmd, &pid, &fd);

	if (e)
		return e;
	whole = read_all(fd, out);
	close(fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(errno, "wait for command");
	if (WIFSIGNALED(status))
		return err_new("command ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_new("command exited with code %d", WEXITSTATUS(status));
	if (!whole)
		return err_new("command wrote more than %d bytes: the rest is lost",
			       MAX_SYSTEM_OUTPUT);
	return NULL;
}

/* As in the language's reference, only the output of a command that succeeds is printed. */
static void act_system(struct session *s, const struct schema *sc, const struct value *v, u32 n,
		       u64 ts)
{
	AUTO_SB cmd = {0};
	AUTO_SB out = {0};
	struct err *e;

	(void)ts;
	value_printf(&cmd, sc->fmt, v, n, STR(""));
	sb_z(&cmd, "");
	e = run_shell(cmd.s, &out);
	if (e) {
		session_error(s, false, "system", (struct loc){0}, str_z(e->msg));
		err_free(e);
		return;
	}
	session_text(s, "syscall", sb_str(&out));
}

/* ---- signal ---- */

/* "USR1" or "SIGUSR1" -> 10; 0: none of that name. */
static int signal_number(struct str name)
{
	if (str_starts(name, STR("SIG")))
		name = str_from(name, 3);
	for (int i = 1; i < NSIG; i++) {
		const char *z = sigabbrev_np(i);
		if (z && str_is(name, z))
			return i;
	}
	return 0;
}

static bool check_signal(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 0);
	struct str name;
	i64 num;

	if (node_str(n, &name)) {
		if (signal_number(name))
			return true;
		return sema_fail(s, E_UNKNOWN_NAME, n->loc, "%.*s is not a valid signal",
				 STRF(name));
	}
	if (!type_is_int(n->type) && !type_is_error(n->type))
		return sema_fail(s, E_TYPE, n->loc,
				 "%.*s() only supports string literals or integers (%s provided)",
				 STRF(call->name), builtin_kind(n->type));
	if (node_int(n, &num) && (num < 1 || num > MAX_SIGNAL))
		return sema_fail(s, E_RANGE, n->loc,
				 "%lld is not a valid signal, allowed range: [1,%d]", num,
				 MAX_SIGNAL);
	return true;
}

static void send_signal(struct lower *l, struct node *call, u32 helper)
{
	struct node *n = call_arg(call, 0);
	struct str name;

	ir_call(l->f, helper,
		ARGS(node_str(n, &name) ? ir_con(l->f, (u64)signal_number(name))
					: lower_value(l, n)));
}

static struct ref lower_signal(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	send_signal(l, call, BPF_FUNC_send_signal);
	return REF_NONE;
}

static struct ref lower_signal_thread(struct lower *l, struct node *call, struct mem dst)
{
	(void)dst;
	send_signal(l, call, BPF_FUNC_send_signal_thread);
	return REF_NONE;
}

const struct builtin builtin_ctl[] = {
	{"void exit([int code])", lower_exit, B_ASYNC | B_END, .check = check_exit, .act = act_exit,
	 .doc = "Ends the probe and the run. The code, modulo 256, is the exit status of sonde; "
		"default 0."},
	{"void system"
	 "(fmt command, ...)",
	 lower_system, B_ASYNC | B_UNSAFE, .check = check_system, .act = act_system,
	 .doc = "Runs a shell command and prints its output if it succeeds. No events are printed "
		"while it runs."},
	{"void signal(any sig)", lower_signal, B_UNSAFE, .where = PF_USER | PF_KERNEL | PF_EVENT,
	 .check = check_signal,
	 .doc = "Sends a signal, by name or number, to the current process."},
	{"void signal_thread(any sig)", lower_signal_thread, B_UNSAFE,
	 .where = PF_USER | PF_KERNEL | PF_EVENT, .check = check_signal,
	 .doc = "Sends a signal, by name or number, to the current thread."},
	{0},
};
