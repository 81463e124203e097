/* ctl.c - things that act on the run or on other processes: exit system signal. */
#include "base/spawn.h"
#include "builtin/common.h"
#include "core/printf.h"
#include "report/report.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <signal.h>
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

static void handle_exit(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			u64 ts)
{
	(void)sc, (void)ts;
	report_exit(r, n ? (int)(v[0].u & 255) : 0);
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

struct reading {
	u32 grace_ms;
	bool cut;     /* there was more than MAX_SYSTEM_OUTPUT, which is thrown away */
	bool gave_up; /* the command outlasted the grace after a signal */
};

/* All that comes from fd. */
static void read_all(struct signals *signals, int fd, struct sb *out, struct reading *r)
{
	char buf[4096];

	for (;;) {
		r->gave_up = !signals_wait(signals, fd, POLLIN, &r->grace_ms);
		ssize_t n = r->gave_up ? 0 : read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		if (out->n + (size_t)n > MAX_SYSTEM_OUTPUT)
			r->cut = true;
		else
			sb_mem(out, buf, (size_t)n);
	}
}

static struct err *run_shell(struct signals *signals, char *cmd, struct sb *out)
{
	struct reading r = {.grace_ms = GRACE_MS};
	char sh[] = "/bin/sh", c[] = "-c", *argv[] = {sh, c, cmd, NULL};
	int pid, fd = -1, status;
	struct err *e = spawn_read(argv, false, &pid, &fd);

	if (e)
		return e;
	read_all(signals, fd, out, &r);
	close(fd);
	if (r.gave_up)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(errno, "wait for command");
	if (WIFSIGNALED(status))
		return err_new("command ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_new("command exited with code %d", WEXITSTATUS(status));
	if (r.cut)
		return err_new("command wrote more than %d bytes: the rest is lost",
			       MAX_SYSTEM_OUTPUT);
	return NULL;
}

/* As in the language's reference, only the output of a command that succeeds is printed. */
static void handle_system(struct reporter *r, const struct schema *sc, const struct value *v, u32 n,
			  u64 ts)
{
	AUTO_SB cmd = {0};
	AUTO_SB out = {0};
	struct signals *signals = control_signals(r->control);
	struct err *e;

	(void)ts;
	if (signals && signals_look(signals)) {
		r->records.unrun++;
		return;
	}
	value_printf(&cmd, sc->fmt, v, n, &(struct show){0});
	sb_z(&cmd, "");
	e = run_shell(signals, cmd.s, &out);
	if (e) {
		report_error(r, false, "system", (struct loc){0}, str_z(e->msg));
		err_free(e);
		return;
	}
	(r->unit->config.compat ? report_text : report_line)(r, "syscall", sb_str(&out));
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

static bool check_signal_num(struct sema *s, struct node *call)
{
	struct node *n = call_arg(call, 0);
	struct str name;

	if (!builtin_text(s, call, 0, &name))
		return false;
	if (!signal_number(name))
		return sema_fail(s, E_UNKNOWN_NAME, n->loc, "%.*s is not a valid signal",
				 STRF(name));
	node_set_num(call, (u64)signal_number(name), &type_u64);
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
	{"void exit([int code])", lower_exit, B_ASYNC | B_END, .check = check_exit,
	 .handle = handle_exit,
	 .doc = "Ends the probe and the trace. The code, modulo 256, is the exit status of sonde "
		"(default 0). In an iterator, the output for the other elements is still printed."},
	{"void system"
	 "(fmt command, ...)",
	 lower_system, B_ASYNC | B_UNSAFE | B_RUNS, .check = check_system, .handle = handle_system,
	 .doc = "Runs a shell command and prints its output if it succeeds. Traced text in it is "
		"written with %q. No events are printed while it runs. Commands that are still "
		"waiting at Ctrl-C are counted and not run."},
	{"u64 signal_num(text name)", .flags = B_CONST, .check = check_signal_num,
	 .doc = "The number of a signal: signal_num(\"KILL\") is 9."},
	{"void signal(any sig)", lower_signal, B_UNSAFE,
	 .where = PROBE_USER | PROBE_KERNEL | METHOD_EVENT, .check = check_signal,
	 .doc = "Sends a signal, by name or number, to the current process."},
	{"void signal_thread(any sig)", lower_signal_thread, B_UNSAFE,
	 .where = PROBE_USER | PROBE_KERNEL | METHOD_EVENT, .check = check_signal,
	 .doc = "Sends a signal, by name or number, to the current thread."},
	{0},
};
