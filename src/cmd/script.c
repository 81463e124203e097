/* script.c - the script that the command line names, and its arguments. */
#include "base/file.h"
#include "cmd/tool.h"
#include <errno.h>
#include <fcntl.h>

/* Whole file (or standard input) in the arena. */
struct err *script_file(struct arena *a, const char *path, struct str *ret)
{
	bool in = !strcmp(path, "-");
	int fd AUTO_CLOSE = in ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (!in && fd < 0)
		return err_sys(errno, "failed to open file '%s'", path);
	AUTO_SB b = {0};
	int no = fd_read(in ? STDIN_FILENO : fd, UINT32_MAX / 2, &b);
	if (no)
		return err_sys(no, "failed to read '%s'", path);
	if (b.n == UINT32_MAX / 2)
		return err_new("'%s' is too long for a script", path);
	if (b.n && memchr(b.s, 0, b.n))
		return err_new("'%s' is no script: it has bytes that are 0", path);
	*ret = arena_str(a, sb_str(&b));
	return NULL;
}

/* Not meant as a path: no '/', and no '.' as in the endings of scripts. */
static bool is_word(const char *s)
{
	return *s && !strpbrk(s, "/.");
}

/* The file that is not there is more likely a command or a tool. */
static struct err *no_such_name(struct arena *a, const char *name)
{
	const char *command = command_near(str_z(name)), *tool = tool_near(a, str_z(name));
	if (!command && !tool)
		return err_new(
			"no command, tool or file is named '%s' (sonde -h lists the commands, "
			"sonde tools the tools)",
			name);
	return err_new("no command, tool or file is named '%s'; did you mean %s%s%s?", name,
		       command ? command : tool, command && tool ? " or " : "",
		       command && tool ? tool : "");
}

bool script_read(const struct run_opts *o, struct arena *a, struct script *s)
{
	int first = o->program ? 0 : 1;
	if (o->tool) {
		*s = *o->tool;
		return true;
	}
	if (o->program && *o->program)
		s->source = (struct source){STR("stdin"), str_z(o->program)};
	else if (o->program || !o->nrest)
		return usage_error(o->compat, "USAGE: filename or -e 'program' required."), false;
	if (!o->program) {
		bool in = !strcmp(o->rest[0], "-");
		s->source.name = in ? STR("stdin") : str_z(o->rest[0]);
		struct err *e = o->text           ? NULL
				: o->guest && !in ? err_new("no tool is named '%s'", o->rest[0])
						  : script_file(a, o->rest[0], &s->source.text);
		s->source.text = o->text ? *o->text : s->source.text;
		if (e && e->no == ENOENT && !o->compat && is_word(o->rest[0])) {
			err_free(e);
			e = no_such_name(a, o->rest[0]);
		}
		if (e) {
			fprintf(stderr, "ERROR: %s\n", e->msg);
			err_free(e);
			return false;
		}
	}
	s->params = arena_newn(a, struct str, (size_t)o->nrest + 1);
	s->opts = arena_newn(a, struct script_opt, (size_t)o->nrest + 1);
	for (int i = first; i < o->nrest; i++) {
		struct str word = str_z(o->rest[i]);
		if (i < o->ndash || word.n < 3 || !str_starts(word, STR("--"))) {
			s->params[s->nparam++] = word;
			continue;
		}
		struct script_opt *opt = &s->opts[s->nopt++];
		opt->value = str_from(word, 2);
		str_cut(&opt->value, '=', &opt->name);
	}
	return true;
}
