/*
 * export.c - sonde export FILE --to FORMAT: a recording as a file of another program.
 *
 * A child without rights reads the recording and writes to files that are open. The file has its name when it is
 * whole: until then it is NAME.tmp.
 */
#include "export/export.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "rec/format.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct export_opts {
	const struct exporter *to;
	const char *output, *probe;
	u64 from_ns, for_ns;
	u32 pid[EXPORT_MAX_PIDS], npid;
	bool quiet, help;
};
/* What is written. */
struct target {
	char *name, *tmp; /* name NULL: standard output; tmp NULL: that, or what is no file */
	int fd;
	int part[EXPORT_MAX_PARTS]; /* of a folder */
	u32 npart;
};

/* ---- options ---- */

static void put_formats(struct sb *b)
{
	for (u32 i = 0; exporters[i]; i++)
		sb_fmt(b, "%s%s", i ? ", " : "", exporters[i]->name);
}

static struct err *find_format(const char *name, const struct exporter **ret)
{
	AUTO_SB names = {0};
	*ret = export_named(str_z(name));
	if (*ret)
		return NULL;
	put_formats(&names);
	return err_new("--to: unknown format '%s' (formats: %s)", name, names.s);
}

static struct err *take_time(const char *name, const char *val, u64 *ret)
{
	if (units_time(str_z(val), ret) && *ret)
		return NULL;
	return err_new("--%s needs a time with its unit, as in 30s or 500ms (got '%s')", name, val);
}

static struct err *set(void *self, int id, const char *val)
{
	struct export_opts *o = self;
	switch ((enum option_id)id) {
	case OPT_EXPORT_TO: return find_format(val, &o->to);
	case OPT_OUTPUT: o->output = val; break;
	case OPT_FROM: return take_time("from", val, &o->from_ns);
	case OPT_FOR: return take_time("for", val, &o->for_ns);
	case OPT_PID: return pids_parse(val, o->pid, countof(o->pid), &o->npid);
	case OPT_PROBE: o->probe = val; break;
	case OPT_QUIET: o->quiet = true; break;
	case OPT_HELP: o->help = true; break;
	default: assert(!"an option of export");
	}
	return NULL;
}

/* ---- what is written ---- */

/* "f.sonde" -> "f.json" */
static char *default_name(const char *path, const char *ending)
{
	AUTO_SB b = {0};
	struct str s = str_z(path), usual = STR(".sonde");
	sb_mem(&b, s.s, s.n - (str_ends(s, usual) ? usual.n : 0));
	sb_z(&b, ending);
	return xstrdup(b.s);
}

static struct err *open_parts(struct target *t, const struct exporter *to, u32 ncpu)
{
	AUTO_SB names = {0};
	struct str rest, name;
	if (mkdir(t->tmp, 0777))
		return err_sys(errno, "make the folder %s", t->tmp);
	to->parts(&names, ncpu);
	rest = str_n(names.s, names.n - 1);
	AUTO_CLOSE int dir = open(t->tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (str_cut(&rest, '\n', &name)) {
		assert(t->npart < EXPORT_MAX_PARTS);
		AUTO_SB z = {0};
		sb_add(&z, name);
		int fd = openat(dir, z.s, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0)
			return err_sys(errno, "make %s/%s", t->tmp, z.s);
		t->part[t->npart++] = fd;
	}
	return NULL;
}

/* Files without a name, beside the one that is written. */
static struct err *open_spills(struct target *t, u32 ncpu)
{
	for (u32 i = 0; i < ncpu; i++) {
		AUTO_SB name = {0};
		sb_fmt(&name, "%s.%u", t->tmp, i);
		int fd = open(name.s, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			return err_sys(errno, "make %s", name.s);
		unlink(name.s);
		t->part[t->npart++] = fd;
	}
	return NULL;
}

/* A device, a pipe: written as it is, because a file in its place would replace it. */
static bool is_special(const char *name)
{
	struct stat st;
	return !stat(name, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static bool is_standard(const struct exporter *to, const char *output)
{
	return output ? !strcmp(output, "-") : !to->ending;
}

/* Whether the format can be written to what -o names, or to standard output. */
static struct err *check_output(const struct exporter *to, const char *output)
{
	bool whole = to->seeks || to->parts;
	if (!is_standard(to, output))
		return whole && output && is_special(output)
			       ? err_new("%s cannot be written to %s, which is not a file",
					 to->name, output)
			       : NULL;
	if (whole)
		return err_new("%s cannot be written to standard output: -o FILE", to->name);
	if (to->ending && isatty(STDOUT_FILENO))
		return err_new("%s is not for terminals: -o FILE%s", to->name, to->ending);
	return NULL;
}

static struct err *open_special(struct target *t)
{
	t->fd = open(t->name, O_WRONLY | O_CLOEXEC);
	return t->fd < 0 ? err_sys(errno, "open %s", t->name) : NULL;
}

static struct err *open_target(struct target *t, const struct export_opts *o, const char *path,
			       u32 ncpu)
{
	const struct exporter *to = o->to;
	const char *name = o->output;
	struct err *e = check_output(to, name);
	t->fd = STDOUT_FILENO;
	if (e || is_standard(to, name))
		return e;
	AUTO_SB tmp = {0};
	t->name = name ? xstrdup(name) : default_name(path, to->ending);
	for (size_t n = strlen(t->name); n > 1 && t->name[n - 1] == '/'; n--)
		t->name[n - 1] = 0; /* "trace.ctf/" is the folder trace.ctf */
	if (is_special(t->name))
		return open_special(t);
	sb_fmt(&tmp, "%s.tmp", t->name);
	t->tmp = xstrdup(tmp.s);
	if (to->parts && !to->spills)
		return open_parts(t, to, ncpu);
	t->fd = open(t->tmp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (t->fd < 0)
		return err_sys(errno, "open %s", t->tmp);
	return to->spills ? open_spills(t, ncpu) : NULL;
}

/* Nothing is left of a target that was not written. */
static void drop_target(const struct target *t, const struct exporter *to, u32 ncpu)
{
	AUTO_SB names = {0};
	if (!t->tmp)
		return;
	if (!to->parts || to->spills) {
		unlink(t->tmp);
		return;
	}
	to->parts(&names, ncpu);
	struct str rest = str_n(names.s, names.n - 1), name;
	while (str_cut(&rest, '\n', &name)) {
		AUTO_SB path = {0};
		sb_fmt(&path, "%s/%.*s", t->tmp, STRF(name));
		unlink(path.s);
	}
	rmdir(t->tmp);
}

/* Files of a folder that stayed empty, of CPUs without events. */
static void drop_empty(const struct target *t, const struct exporter *to, u32 ncpu)
{
	AUTO_SB names = {0};
	struct str rest, name;
	to->parts(&names, ncpu);
	rest = str_n(names.s, names.n - 1);
	for (u32 i = 0; i < t->npart && str_cut(&rest, '\n', &name); i++) {
		struct stat st;
		AUTO_SB path = {0};
		sb_fmt(&path, "%s/%.*s", t->tmp, STRF(name));
		if (!fstat(t->part[i], &st) && !st.st_size)
			unlink(path.s);
	}
}

static struct err *finish_target(const struct target *t, const struct exporter *to, u32 ncpu)
{
	if (!t->tmp)
		return NULL;
	if (to->parts && !to->spills)
		drop_empty(t, to, ncpu);
	for (u32 i = 0; i < t->npart && !to->spills; i++)
		if (fsync(t->part[i]))
			return err_sys(errno, "write a file in %s", t->tmp);
	if (t->fd >= 0 && t->fd != STDOUT_FILENO && fsync(t->fd) &&
	    errno != EINVAL) /* EINVAL: no file of a disk */
		return err_sys(errno, "write %s", t->tmp);
	return rename(t->tmp, t->name) ? err_sys(errno, "rename %s to %s", t->tmp, t->name) : NULL;
}

static void close_target(struct target *t)
{
	for (u32 i = 0; i < t->npart; i++)
		close(t->part[i]);
	if (t->fd > STDERR_FILENO)
		close(t->fd);
	free(t->name);
	free(t->tmp);
}

/* ---- the child ---- */

static void show_sum(const struct export_sum *s, const struct target *t, const struct rec_info *in,
		     bool quiet)
{
	AUTO_SB rows = {0};
	units_grouped(&rows, s->rows);
	if (!quiet && t->name)
		fprintf(stderr, "%s: %s event%s\n", t->name, rows.s, s->rows == 1 ? "" : "s");
	if (s->lost) {
		sb_clear(&rows);
		units_grouped(&rows, s->lost);
		fprintf(stderr, "WARNING: %s events were lost: the recording does not have them\n",
			rows.s);
	}
	for (u32 i = 0; i < s->nremark; i++)
		fprintf(stderr, "NOTE: %.*s\n", STRF(s->remark[i]));
	if (!in->closed || s->damaged)
		fprintf(stderr,
			"WARNING: %s is incomplete: sonde report %s shows what is missing\n",
			in->path, in->path);
}

struct work {
	int fd;
	const char *path;
	const struct export_opts *o;
	const struct target *t;
};

static int work(void *arg)
{
	const struct work *w = arg;
	const struct export_opts *o = w->o;
	const struct target *t = w->t;
	struct rec_file *f = NULL;
	struct export_sum sum = {0};
	struct err *e = rec_open_fd(w->fd, w->path, &f);
	if (!e && rec_is_answer(f))
		e = err_new("%s is an answer, which has no events: sonde merge prints it", w->path);
	if (!e) {
		const struct rec_info *in = rec_info(f);
		u64 start = in->mono ? in->mono : in->first;
		e = export_run(
			&(struct export_job){.to = o->to,
					     .f = f,
					     .fd = t->fd,
					     .part = t->part,
					     .npart = t->npart,
					     .from = o->from_ns ? start + o->from_ns : 0,
					     .to_ns = o->for_ns ? start + o->from_ns + o->for_ns - 1
								: 0,
					     .probes = str_z(o->probe),
					     .pid = o->pid,
					     .npid = o->npid},
			&sum);
	}
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	else
		show_sum(&sum, t, rec_info(f), o->quiet);
	int rc = e ? CHILD_FAILED : sum.damaged ? CHILD_DAMAGED : CHILD_DONE;
	err_free(e);
	export_sum_free(&sum);
	if (f)
		rec_close(f);
	return rc;
}

/* CPUs of the machine, which a folder may need before the recording is read. */
static u32 cpus_of(int fd)
{
	u8 n[2] = {0};
	if (pread(fd, n, sizeof(n), REC_HEADER_CPUS) != sizeof(n))
		return 1;
	u32 ncpu = n[0] | (u32)n[1] << 8;
	return MIN(MAX(ncpu, 1u), EXPORT_MAX_PARTS - 1u);
}

static struct err *export_file(const char *path, const struct export_opts *o, int *rc)
{
	struct target t = {.fd = -1};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(errno, "open %s", path);
	u32 ncpu = cpus_of(fd);
	struct err *e = open_target(&t, o, path, ncpu);
	if (!e)
		e = confined_child(work, &(struct work){fd, path, o, &t}, 0, rc);
	close(fd);
	if (!e && *rc != CHILD_FAILED)
		e = finish_target(&t, o->to, ncpu);
	if (e || *rc == CHILD_FAILED)
		drop_target(&t, o->to, ncpu);
	close_target(&t);
	return e;
}

struct err *export_check(const char *format, const char *output)
{
	const struct exporter *to;
	struct err *e = find_format(format, &to);
	return e ? e : check_output(to, output);
}

const char *export_ending(const char *format)
{
	return export_named(str_z(format))->ending;
}

bool export_names_file(const char *format, const char *output)
{
	return !is_standard(export_named(str_z(format)), output) && !(output && is_special(output));
}

struct err *export_whole(const char *path, const char *format, const char *output, bool quiet,
			 int *rc)
{
	struct export_opts o = {.output = output, .quiet = quiet};
	struct err *e = find_format(format, &o.to);
	return e ? e : export_file(path, &o, rc);
}

static void export_help(void)
{
	opts_usage(stdout, CMD_EXPORT, command_use("export"));
	printf("\nFORMATS:\n");
	for (u32 i = 0; exporters[i]; i++)
		printf("    %-10s %s\n", exporters[i]->name, exporters[i]->doc);
}

int cmd_export(int argc, char **argv, bool compat)
{
	struct export_opts o = {0};
	AUTO_FREE char **rest = xcalloc((size_t)argc + 1, sizeof(*rest));
	int nrest = 0, ndash = 0, rc = CHILD_FAILED;
	struct option_table table;
	(void)compat;
	options_of(in(CMD_EXPORT), &table);
	struct err *e = opt_parse(table.row, argc, argv, set, &o, rest, &nrest, &ndash);
	if (!e && o.help) {
		export_help();
		return RC_OK;
	}
	if (!e && nrest != 1)
		e = err_new("export takes one FILE");
	if (!e && !o.to) {
		AUTO_SB names = {0};
		put_formats(&names);
		e = err_new("export needs --to FORMAT (formats: %s)", names.s);
	}
	if (!e)
		e = export_file(rest[0], &o, &rc);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	bool good = !e && rc == CHILD_DONE;
	err_free(e);
	return good ? RC_OK : RC_USAGE;
}
