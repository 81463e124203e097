#include "api/job.h"
#include "lower/lower.h"
#include "sema/sema.h"
#include "source/source.h"

static void set_config(struct config *g, const struct compile_spec *spec, const struct script *s)
{
	config_init(g);
	if (spec->level)
		config_compat(g, str_z(spec->level));
	g->match = s->match;
	g->events = s->events;
	g->unsafe = spec->unsafe;
	g->test = spec->test;
	g->bench = spec->bench;
	if (spec->strings)
		g->max_strlen = spec->strings;
	g->warnings = spec->warnings != 0;
	g->no_warnings = spec->no_warn;
}

static struct headers headers_of(const struct compile_spec *spec, const struct script *s)
{
	return (struct headers){
		.script = str_is(s->source.name, "stdin") ? STR("") : s->source.name,
		.dir = spec->inc_dir,
		.file = spec->inc_file,
		.ndir = spec->ninc_dir,
		.nfile = spec->ninc_file,
		.path = spec->inc_path ? str_z(spec->inc_path) : STR(""),
		.source = spec->kernel_source,
		.build = spec->kernel_build,
		.closed = spec->closed,
	};
}

void job_init(struct job *j, const struct compile_spec *spec, const struct script *s,
	      struct host *h)
{
	*j = (struct job){0};
	j->diags = (struct diags){
		.near = arena_new(&j->arena, struct diag_near),
		.arena = &j->arena,
		.source = &s->source,
		.nsource = 1,
		.nfixed = s->fixed,
		.unseen = s->fixed && !spec->show_source,
		.no_warn = spec->no_warn,
		.codes = spec->codes,
	};
	set_config(&j->unit.config, spec, s);
	j->c = (struct compile){.unit = &j->unit,
				.arena = &j->arena,
				.diags = &j->diags,
				.host = h,
				.params = s->params,
				.nparam = s->nparam,
				.opts = s->opts,
				.nopt = s->nopt,
				.duration_ns = s->duration_ns,
				.fields = s->fields,
				.sort = s->sort,
				.rows = s->rows,
				.utc = s->utc,
				.clock = s->clock,
				.percentiles = s->percentiles,
				.timed = spec->timed,
				.check_ir = spec->check_ir,
				.filter = spec->filter,
				.deny = spec->deny,
				.headers = headers_of(spec, s)};
}

void job_free(struct job *j)
{
	for (u32 i = 0; j->c.fn && i < j->unit.nprog; i++)
		ir_fn_free(j->c.fn[i]);
	cfiles_close(&j->c);
	tab_free(&j->c.sigs);
	arena_free(&j->c.scratch);
	arena_free(&j->arena);
}
