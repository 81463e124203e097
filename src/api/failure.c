/* failure.c - see failure.h. */
#include "api/failure.h"
#include "base/alloc.h"

struct failure {
	struct sonde_error error; /* the first member: what the caller has */
	struct arena arena;
};

const struct sonde_diagnostic *diagnostics_of(struct arena *a, const struct diags *ds, size_t *n)
{
	*n = 0;
	struct sonde_diagnostic *v =
		arena_newn(a, struct sonde_diagnostic, (size_t)ds->nerror + ds->nwarn + 1);
	for (const struct diag *d = ds->head; d && *n < (size_t)ds->nerror + ds->nwarn;
	     d = d->next) {
		struct sonde_diagnostic *to = &v[(*n)++];
		*to = (struct sonde_diagnostic){.warning = diag_severity(d->code) == SEV_WARN,
						.code = diag_code_name(d->code),
						.message = arena_fmt(a, "%s", d->msg),
						.hint = d->hint ? arena_fmt(a, "%s", d->hint)
								: NULL,
						.source = ""};
		if (!diag_place(ds, d->loc, &to->line, &to->column))
			continue;
		to->source = arena_strz(a, ds->source[d->loc.src].name);
		to->length = d->loc.len;
	}
	return v;
}

static struct failure *failure_new(enum sonde_error_kind kind)
{
	struct failure *f = xcalloc(1, sizeof(*f));
	f->error = (struct sonde_error){.kind = kind, .text = ""};
	return f;
}

struct sonde_error *failure_text(enum sonde_error_kind kind, struct str text)
{
	struct failure *f = failure_new(kind);
	f->error.text = arena_strz(&f->arena, str_trim(text));
	return &f->error;
}

struct sonde_error *failure_err(enum sonde_error_kind kind, struct err *e)
{
	if (!e)
		return NULL;
	struct sonde_error *ret = failure_text(kind, str_z(e->msg));
	ret->system = e->no;
	err_free(e);
	return ret;
}

struct sonde_error *failure_diags(enum sonde_error_kind kind, const struct diags *ds, struct err *e)
{
	struct failure *f = failure_new(kind);
	AUTO_SB text = {0};
	diags_text(ds, &text);
	if (e)
		sb_fmt(&text, "%s\n", e->msg);
	f->error.system = e ? e->no : 0;
	err_free(e);
	f->error.text = arena_strz(&f->arena, str_trim(sb_str(&text)));
	f->error.diagnostics = diagnostics_of(&f->arena, ds, &f->error.ndiagnostics);
	return &f->error;
}

void sonde_error_free(struct sonde_error *e)
{
	struct failure *f = (struct failure *)e;
	if (!f)
		return;
	arena_free(&f->arena);
	free(f);
}
