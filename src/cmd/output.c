/* output.c - the file or the program that results go to. */
#include "base/spawn.h"
#include "cmd/cmd.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/wait.h>
#include <unistd.h>

static struct err *check(const struct run_opts *o, const struct output *out)
{
	const struct sink *sink = out->choice.sink;
	if (out->program && (sink->whole || out->as_invoker))
		return err_new("-o '|': %s goes to a file",
			       out->as_invoker ? "what --as-invoker writes" : sink->name);
	if (out->by_process && (!out->path || sink != sink_named(STR("text")) || out->as_invoker))
		return err_new("a file for each process is one of text, with -o FILE%s",
			       out->as_invoker ? ", and without --as-invoker" : "");
	if (o->output.append && !out->path)
		return err_new("--append needs -o FILE");
	if (o->output.append && (sink->whole || sink->keeps))
		return err_new("--append: a file of format %s is one whole", sink->name);
	if (o->nlabel && !sink->answers)
		return err_new("--label needs -f answer: no other output contains labels");
	return NULL;
}

struct err *output_prepare(const struct run_opts *o, struct output *ret)
{
	struct output_spec spec = o->output;
	*ret = (struct output){.fd = -1,
			       .keep = spec.append,
			       .as_invoker = spec.as_invoker,
			       .by_process = spec.by_process && spec.path};
	if (o->tool && spec.path && spec.path[0] == '|') {
		ret->program = (char *)spec.path + 1;
		spec.path = NULL;
	}
	ret->path = spec.path;
	struct err *e = output_choose(&spec, &ret->choice);
	return e ? e : check(o, ret);
}

void output_help(void)
{
	for (const struct sink *const *s = sinks; *s; s++) {
		printf("%-12s %s%s%s%s\n", (*s)->name, (*s)->doc, (*s)->ending ? " (FILE" : "",
		       (*s)->ending ? (*s)->ending : "", (*s)->ending ? ")" : "");
		for (const struct sink_option *p = (*s)->options; p && p->name; p++) {
			AUTO_SB b = {0};
			sb_fmt(&b, "%s%s%s", p->name, p->arg ? "=" : "", p->arg ? p->arg : "");
			printf("    %-14s %s\n", b.s, p->doc);
		}
	}
}

/* Who called sudo. */
static struct err *find_invoker(struct output *out)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	u64 u = 0, g = 0;
	if (!uid || !gid || !str_u64(str_z(uid), &u) || !str_u64(str_z(gid), &g) ||
	    MAX(u, g) >= UINT32_MAX)
		return err_new("--as-invoker: SUDO_UID and SUDO_GID do not name the calling user");
	out->uid = (u32)u;
	out->gid = (u32)g;
	return NULL;
}

/* Files are opened and renamed with these rights; capabilities that override them go, too. */
static bool be(const struct output *out, u32 uid, u32 gid)
{
	if (!out->as_invoker)
		return true;
	(void)setfsgid(gid);
	(void)setfsuid(uid);
	return (u32)setfsgid(~0u) == gid && (u32)setfsuid(~0u) == uid; /* they only tell */
}

/* A picture replaces what was there when it is done. */
struct err *output_open(struct output *out)
{
	char sh[] = "/bin/sh", c[] = "-c", *argv[] = {sh, c, out->program, NULL};
	if (out->program)
		return spawn_write(argv, &out->program_pid, &out->fd);
	if (!out->path)
		return NULL;
	if (out->parts)
		return NULL;
	if (out->by_process)
		return split_start(out->path, out->keep, &out->program_pid, &out->fd);
	struct err *e = out->as_invoker ? find_invoker(out) : NULL;
	if (e)
		return e;
	const char *mark = out->choice.sink->whole ? ".tmp" : "";
	snprintf(out->name, sizeof(out->name), "%s%s", out->path, mark);
	if (strlen(out->path) + strlen(mark) >= sizeof(out->name))
		return err_sys(ENAMETOOLONG, "Failed to open output file '%s'", out->path);
	if (be(out, out->uid, out->gid))
		out->fd = open(out->name,
			       O_WRONLY | O_CREAT | O_CLOEXEC | (out->keep ? O_APPEND : O_TRUNC),
			       0644);
	else
		errno = EPERM;
	int no = errno;
	(void)be(out, geteuid(), getegid());
	if (out->fd < 0)
		return err_sys(no, "Failed to open output file '%s'", out->path);
	return NULL;
}

struct err *output_close(struct output *out, bool good)
{
	struct err *e = NULL;
	bool whole = out->fd >= 0 && out->choice.sink->whole,
	     empty = lseek(out->fd, 0, SEEK_END) == 0;
	close_fd(&out->fd);
	int status = 0;
	while (out->program_pid && waitpid(out->program_pid, &status, 0) < 0 && errno == EINTR)
		;
	if (out->by_process && status)
		e = err_sys(WIFEXITED(status) ? WEXITSTATUS(status) : EIO,
			    "Failed to write output file '%s.PID'", out->path);
	bool able = !whole || be(out, out->uid, out->gid);
	if (whole && (!good || empty))
		unlink(out->name);
	else if (whole && (!able || rename(out->name, out->path)))
		e = err_sys(errno, "Failed to write output file '%s'", out->path);
	if (whole)
		(void)be(out, geteuid(), getegid());
	return e;
}
