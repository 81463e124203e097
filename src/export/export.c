/* export.c - see export.h. */
#include "export/export.h"
#include "base/alloc.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define F(name) extern const struct exporter export_##name;
#include "export/formats.def"

const struct exporter *const exporters[] = {
#define F(name) &export_##name,
#include "export/formats.def"
	NULL,
};

const struct exporter *export_named(struct str name)
{
	for (u32 i = 0; exporters[i]; i++)
		if (str_is(name, exporters[i]->name))
			return exporters[i];
	return NULL;
}

/* ---- bytes ---- */

static void write_all(struct export_out *o, const char *p, size_t n)
{
	while (n && !o->failed) {
		ssize_t got = write(o->fd, p, n);
		if (got < 0 && errno != EINTR)
			o->failed = errno;
		if (got < 0)
			continue;
		p += got;
		n -= (size_t)got;
	}
}

void export_flush(struct export_out *o)
{
	write_all(o, o->b.s, o->b.n);
	o->written += o->b.n;
	sb_clear(&o->b);
}

void export_patch(struct export_out *o, u64 at, struct str bytes)
{
	export_flush(o);
	if (!o->failed && lseek(o->fd, (off_t)at, SEEK_SET) < 0)
		o->failed = errno;
	write_all(o, bytes.s, bytes.n);
	if (!o->failed && lseek(o->fd, (off_t)o->written, SEEK_SET) < 0)
		o->failed = errno;
}

void export_remark(struct exporting *x, const char *fmt, ...)
{
	va_list va;
	char text[512];
	va_start(va, fmt);
	vsnprintf(text, sizeof(text), fmt, va);
	va_end(va);
	struct str s = arena_str(&x->a, str_z(text));
	arena_push(&x->a, x->remark, x->nremark, s);
}

/* ---- rows ---- */

/* Which schemas are wanted, for rec_want(). */
static bool *wanted(const struct export_job *job, u32 *nwant, bool *any)
{
	u32 n, last = 0;
	const struct rec_schema *const *s = rec_schemas(job->f, &n);
	for (u32 i = 0; i < n; i++)
		last = MAX(last, s[i]->id);
	bool *want = xcalloc((size_t)last + 1, sizeof(*want));
	for (u32 i = 0; i < n; i++) {
		want[s[i]->id] = str_glob(job->probes, s[i]->probe);
		*any |= want[s[i]->id];
	}
	*nwant = last + 1;
	return want;
}

static bool is_asked(const struct export_job *job, const struct rec_row *r)
{
	for (u32 i = 0; i < job->npid; i++)
		if (r->task && r->task->pid == job->pid[i])
			return true;
	return !job->npid;
}

static bool has_failed(const struct exporting *x)
{
	for (u32 i = 0; i < x->npart; i++)
		if (x->part[i].failed)
			return true;
	return x->out.failed;
}

static struct err *rows(const struct export_job *job, struct exporting *x, struct export_sum *sum)
{
	const struct exporter *to = job->to;
	AUTO_FREE void *self = xcalloc(1, to->size);
	struct rec_row r;
	struct err *e = NULL;
	to->begin(self, x);
	while (!has_failed(x) && rec_next(job->f, &r, &e)) {
		if (!is_asked(job, &r))
			continue;
		to->row(self, &r);
		sum->rows++;
	}
	to->end(self);
	return e;
}

static void count_losses(struct rec_file *f, struct export_sum *sum)
{
	u32 n;
	const struct rec_loss *l = rec_losses(f, &n);
	for (u32 i = 0; i < n; i++) {
		bool corrupt = str_is(l[i].kind, "corrupt_file");
		sum->damaged |= corrupt;
		if (corrupt || str_is(l[i].kind, "lost_total") || str_is(l[i].kind, "disk_full"))
			sum->lost += l[i].n;
	}
}

struct err *export_run(const struct export_job *job, struct export_sum *sum)
{
	u32 nwant;
	bool any = !job->probes.s;
	AUTO_FREE bool *want = wanted(job, &nwant, &any);
	struct exporting x = {.f = job->f, .out.fd = job->fd, .npart = job->npart};
	*sum = (struct export_sum){0};
	if (!any)
		return err_new("the recording has no probe '%.*s': sonde query FILE -l lists those "
			       "that it has",
			       STRF(job->probes));
	if (job->probes.s)
		rec_want(job->f, want, nwant);
	if (job->from || job->to_ns)
		rec_between(job->f, job->from, job->to_ns ? job->to_ns : ~0ull);
	x.part = xcalloc(job->npart + 1ul, sizeof(*x.part));
	for (u32 i = 0; i < job->npart; i++)
		x.part[i].fd = job->part[i];
	struct err *e = rows(job, &x, sum);
	export_flush(&x.out);
	for (u32 i = 0; i < x.npart; i++) {
		export_flush(&x.part[i]);
		x.out.failed = x.out.failed ? x.out.failed : x.part[i].failed;
		sb_free(&x.part[i].b);
	}
	if (x.out.failed && !e)
		e = err_sys(x.out.failed, "write the exported file");
	count_losses(job->f, sum);
	sb_free(&x.out.b);
	free(x.part);
	sum->a = x.a;
	sum->remark = x.remark;
	sum->nremark = x.nremark;
	return e;
}

void export_sum_free(struct export_sum *sum)
{
	arena_free(&sum->a);
}
