/*
 * import.c - sonde import FILE: a file of another tracer becomes a recording.
 *
 * As in export.c, a child without rights reads the file.
 */
#include "import/import.h"
#include "base/alloc.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "rights/confine.h"
#include "sym/ksyms.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct import_opts {
	const char *output;
	bool quiet, help;
};
struct work {
	const char *path, *name;
	int in, out;
	size_t size;
	bool quiet;
	const struct import_kernel *kernel;
};
/* Names of this machine's functions, read while that is allowed. */
struct kernel {
	struct arena a;
	struct host host;
	struct ksyms syms;
};

static struct err *set(void *self, int id, const char *val)
{
	struct import_opts *o = self;
	o->output = id == OPT_OUTPUT ? val : o->output;
	o->quiet |= id == OPT_QUIET;
	o->help |= id == OPT_HELP;
	return NULL;
}

static bool kernel_name(void *self, u64 addr, struct str *name, u64 *off)
{
	struct kernel *k = self;
	struct symbol s = {0};
	if (!ksyms_at(&k->syms, &k->host, addr, &s))
		return false;
	*name = s.name;
	*off = s.off;
	return true;
}

/* Stacks of a file that this kernel wrote get names. False: nothing is known of the kernel, or nothing is needed. */
static bool kernel_open(struct kernel *k, int file, struct import_kernel *ret)
{
	u8 head[64];
	ssize_t n = pread(file, head, sizeof(head), 0);
	const struct importer *from = n > 0 ? importer_of(head, (size_t)n) : NULL;
	if (!from || !from->stacks)
		return false;
	host_init(&k->host, &k->a, "");
	*ret = (struct import_kernel){.name = kernel_name, .self = k};
	return ksyms_addr(&k->syms, &k->host, STR("_text"), &ret->text) && ret->text;
}

static void kernel_close(struct kernel *k)
{
	ksyms_free(&k->syms);
	arena_free(&k->a);
}

static struct err *read_file(const struct work *w, struct import_out *o, struct import_sum *sum)
{
	void *p = w->size ? mmap(NULL, w->size, PROT_READ, MAP_PRIVATE, w->in, 0) : MAP_FAILED;
	if (w->size && p == MAP_FAILED)
		return err_sys(errno, "read %s", w->path);
	const struct importer *from = w->size ? importer_of(p, w->size) : NULL;
	struct err *e = from ? from->read(p, w->size, o, sum)
			     : err_new("not a file that can be imported: sonde reads trace.dat of "
				       "trace-cmd and perf.data of perf");
	if (w->size)
		munmap(p, w->size);
	return e ? err_wrap(e, "%s: ", w->path) : NULL;
}

static int work(void *arg)
{
	const struct work *w = arg;
	struct import_out o = {.fd = w->out, .name = w->name, .kernel = w->kernel};
	struct import_sum sum = {0};
	struct err *e = read_file(w, &o, &sum);
	if (!e)
		e = rec_tick(o.w, ~0ull);
	if (e)
		rec_abandon(o.w);
	else
		e = rec_finish(o.w, END_DONE, STR("imported"), NULL);
	if (e) {
		fprintf(stderr, "ERROR: %s\n", e->msg);
		err_free(e);
		return CHILD_FAILED;
	}
	AUTO_SB n = {0};
	units_grouped(&n, sum.rows);
	if (!w->quiet)
		fprintf(stderr, "%s: %s event%s\n", w->name, n.s, sum.rows == 1 ? "" : "s");
	if (sum.lost)
		fprintf(stderr, "WARNING: %llu events were lost: %s does not have them\n", sum.lost,
			w->path);
	if (sum.skipped)
		fprintf(stderr, "WARNING: %llu events of %s could not be read\n", sum.skipped,
			w->path);
	if (sum.ends_early)
		fprintf(stderr, "WARNING: %s is not whole: its end is missing\n", w->path);
	return sum.skipped || sum.ends_early ? CHILD_DAMAGED : CHILD_DONE;
}

static struct err *import_file(const char *path, const struct import_opts *o, int *rc)
{
	AUTO_SB name = {0};
	AUTO_SB tmp = {0};
	struct stat st, old;
	AUTO_CLOSE int in = open(path, O_RDONLY | O_CLOEXEC);
	if (in < 0 || fstat(in, &st))
		return err_sys(errno, "open %s", path);
	if (o->output)
		sb_z(&name, o->output);
	else
		sb_fmt(&name, "%s.sonde", path);
	if (!stat(name.s, &old) && !S_ISREG(old.st_mode))
		return err_new("%s is not a file: a recording would replace it", name.s);
	sb_fmt(&tmp, "%s.tmp", name.s);
	AUTO_CLOSE int out = open(tmp.s, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out < 0)
		return err_sys(errno, "open %s", tmp.s);
	struct kernel k = {0};
	struct import_kernel kernel;
	bool known = kernel_open(&k, in, &kernel);
	struct work w = {
		path, name.s, in, out, (size_t)st.st_size, o->quiet, known ? &kernel : NULL};
	struct err *e = confined_child(work, &w, MAY_RECORD, rc);
	if (!e && *rc != CHILD_FAILED && (fsync(out) || rename(tmp.s, name.s)))
		e = err_sys(errno, "write %s", name.s);
	kernel_close(&k);
	if (e || *rc == CHILD_FAILED)
		unlink(tmp.s);
	return e;
}

int cmd_import(int argc, char **argv, bool compat)
{
	struct import_opts o = {0};
	AUTO_FREE char **rest = xcalloc((size_t)argc + 1, sizeof(*rest));
	int nrest = 0, ndash = 0, rc = CHILD_FAILED;
	struct option_table table;
	(void)compat;
	options_of(in(CMD_IMPORT), &table);
	struct err *e = opt_parse(table.row, argc, argv, set, &o, rest, &nrest, &ndash);
	if (!e && o.help) {
		opts_usage(stdout, CMD_IMPORT, command_use("import"));
		return RC_OK;
	}
	if (!e && nrest != 1)
		e = err_new("import takes one FILE");
	if (!e)
		e = import_file(rest[0], &o, &rc);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	bool good = !e && rc == CHILD_DONE;
	err_free(e);
	return good ? RC_OK : RC_USAGE;
}
