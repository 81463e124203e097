/*
 * recordto.c - sonde record --to FORMAT: a recording is made, converted when it is complete, and removed.
 *
 * Who records gives up the right to open files and start processes, so a child that was started before converts. It
 * waits for a byte in a pipe, and starts nothing if the recorder ends without it. The recording is kept unless the
 * whole of it was converted.
 */
#include "base/alloc.h"
#include "cmd/cmd.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};

static void on_stops(void (*handler)(int))
{
	for (u32 i = 0; i < countof(stops); i++)
		signal(stops[i], handler);
}

/* Options that make more than one file, or none that a child may write. */
static struct err *check(const struct run_opts *o)
{
	const struct sink_bounds *b = &o->output.bounds;
	struct str format = str_z(o->output.format);
	const char *what = b->disk                ? "--disk makes several files"
			   : b->keep_bytes        ? "--keep makes a file for each snapshot"
			   : o->output.as_invoker ? "--as-invoker is about the recording"
						  : NULL;
	if (what)
		return err_new("%s: record without --to, then sonde export FILE --to %s", what,
			       o->to);
	if (!str_is(format, "record") && !str_starts(format, STR("record:")))
		return err_new("-f %.*s and --to %s are two formats", STRF(format), o->to);
	return export_check(o->to, o->output.path);
}

/* Beside the file, under its name; for standard output and devices in the working directory. */
static const char *recording_name(struct arena *a, const struct conversion *c)
{
	if (!export_names_file(c->format, c->output))
		return arena_fmt(a, "record.%s.sonde", c->format);
	return arena_fmt(a, "%s.sonde", c->output);
}

/* "trace.ctf/" is the folder trace.ctf. */
static const char *without_slashes(struct arena *a, const char *path)
{
	struct str name = str_z(path);
	while (name.n > 1 && name.s[name.n - 1] == '/')
		name.n--;
	return arena_strz(a, name);
}

static void say_kept(const struct conversion *c)
{
	fprintf(stderr, "NOTE: the recording is in %s: sonde export %s --to %s\n", c->recording,
		c->recording, c->format);
}

static int convert(const struct conversion *c)
{
	int rc = CHILD_FAILED;
	struct err *e = export_whole(c->recording, c->format, c->output, c->quiet, &rc);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	if (e || rc != CHILD_DONE)
		say_kept(c);
	else
		unlink(c->recording);
	err_free(e);
	return e || rc != CHILD_DONE ? RC_USAGE : RC_OK;
}

/* Of a run that was refused before it wrote there is no file, or an empty one. */
static bool is_recorded(const struct conversion *c)
{
	struct stat st;
	if (stat(c->recording, &st))
		return false;
	if (!st.st_size)
		unlink(c->recording);
	return st.st_size;
}

/* A signal that ends the recorder goes to its process group, too: until then it is not for us. */
_Noreturn static void be_converter(const struct conversion *c, int pipe)
{
	char byte;
	ssize_t n;
	on_stops(SIG_IGN);
	while ((n = read(pipe, &byte, 1)) < 0 && errno == EINTR)
		;
	on_stops(SIG_DFL);
	if (!is_recorded(c))
		_exit(RC_OK);
	if (n == 1)
		_exit(convert(c));
	fprintf(stderr, "ERROR: sonde was killed while it recorded\n");
	say_kept(c);
	_exit(RC_USAGE);
}

struct err *conversion_start(struct conversion *c, struct arena *a, struct run_opts *o)
{
	int pipe[2];
	struct err *e = check(o);
	if (e)
		return e;
	*c = (struct conversion){.format = o->to, .quiet = o->view.quiet};
	const char *ending = export_ending(o->to);
	if (o->output.path)
		c->output = without_slashes(a, o->output.path);
	else if (ending)
		c->output = arena_fmt(a, "record%s", ending);
	c->recording = recording_name(a, c);
	if (!access(c->recording, F_OK))
		return err_new("%s exists: the recording is written there before it is converted",
			       c->recording);
	if (pipe2(pipe, O_CLOEXEC))
		return err_sys(errno, "make a pipe");
	fflush(NULL);
	c->pid = fork();
	int no = errno;
	if (!c->pid) {
		close(pipe[1]);
		be_converter(c, pipe[0]);
	}
	close(pipe[0]);
	c->go = pipe[1];
	if (c->pid < 0) {
		close(c->go);
		return err_sys(no, "start a child");
	}
	o->output.path = c->recording;
	o->output.bounds.unnamed = true;
	o->to = NULL;
	return NULL;
}

int conversion_finish(struct conversion *c, int rc)
{
	int status;
	fflush(NULL);
	signal(SIGPIPE, SIG_IGN);
	(void)!write(c->go, "", 1); /* that the child is gone, its status says */
	close(c->go);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status)) {
		fprintf(stderr, "ERROR: the process that converts was ended by signal %d\n",
			WTERMSIG(status));
		say_kept(c);
		return RC_USAGE;
	}
	return rc ? rc : WEXITSTATUS(status);
}
