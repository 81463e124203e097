/*
 * sonde.c - the functions of <sonde/sonde.h>: a thin face of launch.h and run/session.h.
 *
 * A unit has a launch, which a run uses as long as it lives.
 */
#include "api/failure.h"
#include "api/item.h"
#include "api/launch.h"
#include "api/machine.h"
#include "api/version.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "core/unitfile.h"
#include "report/report.h"
#include <sonde/sonde.h>

struct sonde {
	struct arena arena;
	struct host host;
	struct log log;
	char *(*env)(const char *name); /* NULL: the environment is not read */
};

struct sonde_unit {
	struct sonde *sonde;
	struct arena arena; /* copies of what the caller gave */
	struct script script;
	struct target_spec spec;
	struct compile_spec compile;
	struct target target;
	struct launch launch;
	struct str bytes; /* of a unit that was read; .s is NULL if it was made from text */
	struct sonde_run *run;
	bool started;         /* the command has run */
	struct arena scratch; /* of sonde_unit_warnings() */
};

struct sonde_run {
	struct sonde_unit *unit;
	struct sonde_run_opts opts;
	struct item_memory memory;
	bool starting; /* errors are collected in .errors */
	struct sb errors;
	u64 nitem;
	/* sonde_map_each() is reading this map. */
	sonde_row_fn *row;
	void *row_arg;
};

/* ---- options ---- */

/*
 * Copy options that were built with a header of another version: members that the caller does not know are
 * 0. Members that this library does not know must be 0.
 */
static struct sonde_error *take_opts(void *to, size_t known, const void *from)
{
	memset(to, 0, known);
	if (!from)
		return NULL;
	size_t size = *(const size_t *)from;
	if (size < sizeof(size))
		return failure_text(SONDE_ERROR_OPTION, STR("the size of the options is not set"));
	for (size_t i = known; i < size; i++)
		if (((const u8 *)from)[i])
			return failure_text(SONDE_ERROR_OPTION,
					    STR("an option is of a newer version of libsonde"));
	memcpy(to, from, MIN(size, known));
	return NULL;
}

static const char *copy(struct arena *a, const char *s)
{
	return s ? arena_strz(a, str_z(s)) : NULL;
}

static struct err *too_many(const char *what, size_t most)
{
	return err_new("too many %s (%zu at most)", what, most);
}

/* ---- machines ---- */

const char *sonde_version(void)
{
	return SONDE_VERSION;
}

static struct err *machine_of(struct sonde *s, const struct sonde_opts *o, struct machine_spec *ret)
{
	*ret = (struct machine_spec){
		.root = copy(&s->arena, o->root),
		.btf = copy(&s->arena, o->btf),
		.env = s->env,
		.no_children = !o->children,
		.recordings = {.from_ns = o->from_ns, .to_ns = o->to_ns},
	};
	if (s->env) {
		ret->vmlinux = copy(&s->arena, s->env("BPFTRACE_VMLINUX"));
		ret->btf =
			ret->btf || ret->root ? ret->btf : copy(&s->arena, s->env("BPFTRACE_BTF"));
		ret->debug_servers = copy(&s->arena, s->env("DEBUGINFOD_URLS"));
	}
	if (o->nrecordings > QUERY_MAX_FILES)
		return too_many("recordings", QUERY_MAX_FILES);
	for (size_t i = 0; i < o->nrecordings; i++)
		ret->recordings.path[ret->recordings.npath++] = copy(&s->arena, o->recordings[i]);
	if (o->to_ns && o->to_ns <= o->from_ns)
		return err_new("to_ns is not after from_ns");
	return NULL;
}

struct sonde_error *sonde_new(const struct sonde_opts *opts, struct sonde **ret)
{
	struct sonde_opts o;
	struct machine_spec spec;
	const char *what = "";
	struct sonde_error *wrong = take_opts(&o, sizeof(o), opts);
	if (wrong)
		return wrong;
	struct sonde *s = xcalloc(1, sizeof(*s));
	s->env = o.environment ? getenv : NULL;
	s->log = (struct log){o.log ? o.log_level : 0, o.log, o.log_arg};
	struct err *e = machine_of(s, &o, &spec);
	if (e)
		host_init(&s->host, &s->arena, "");
	else
		e = machine_open(&spec, &s->arena, &s->host, &what);
	if (!e) {
		*ret = s;
		return NULL;
	}
	sonde_free(s);
	return failure_err(SONDE_ERROR_OPTION, *what ? err_wrap(e, "%s: ", what) : e);
}

void sonde_free(struct sonde *s)
{
	if (!s)
		return;
	host_deinit(&s->host);
	arena_free(&s->arena);
	free(s);
}

/* ---- the output of a run ---- */

static struct err *stopped_by_caller(void)
{
	return err_new("the caller ends the run");
}

static struct err *put_rows(struct sonde_run *r, const struct sonde_item *it)
{
	for (u64 i = 0; i < it->nrows; i++) {
		const struct sonde_value *key, *value;
		sonde_item_row(it, i, &key, &value);
		if (r->row(r->row_arg, key, value))
			break;
	}
	return NULL;
}

static struct err *put(void *self, const struct item *it)
{
	struct sonde_run *r = self;
	struct sonde_item item;
	if (r->starting && it->kind == I_ERROR && !it->error.warn) {
		sb_fmt(&r->errors, "%.*s\n", STRF(it->str));
		return NULL;
	}
	if ((!r->opts.item && !r->row) ||
	    !item_convert(&r->memory, it, &r->unit->launch.job.diags, &item))
		return NULL;
	if (r->row && item.kind == SONDE_ITEM_MAP)
		return put_rows(r, &item);
	if (!r->opts.item)
		return NULL;
	r->nitem++;
	return r->opts.item(r->opts.arg, &item) ? stopped_by_caller() : NULL;
}

static const struct sink to_caller = {.name = "caller", .doc = "items by callback", .put = put};

static struct err *open_output(struct launch *l, const struct sink **sink, void **self)
{
	struct sonde_unit *u = l->arg;
	*sink = &to_caller;
	*self = u->run;
	return NULL;
}

static const struct launch_hooks hooks = {.open = open_output};

/* ---- scripts ---- */

static struct sonde_unit *unit_new(struct sonde *s)
{
	struct sonde_unit *u = xcalloc(1, sizeof(*u));
	u->sonde = s;
	u->target = TARGET_NONE;
	return u;
}

void sonde_unit_free(struct sonde_unit *u)
{
	if (!u)
		return;
	assert(!u->run);
	launch_free(&u->launch);
	target_close(&u->target);
	arena_free(&u->scratch);
	arena_free(&u->arena);
	free(u);
}

static void launch_init(struct sonde_unit *u)
{
	u->launch = (struct launch){
		.script = u->bytes.s ? NULL : &u->script,
		.compile = u->compile,
		.spec = &u->spec,
		.host = &u->sonde->host,
		.target = &u->target,
		.log = u->sonde->log,
		.hooks = &hooks,
		.arg = u,
	};
}

static void take_script(struct sonde_unit *u, const char *text, size_t n,
			const struct sonde_compile_opts *o)
{
	struct arena *a = &u->arena;
	struct script *s = &u->script;
	s->source = (struct source){.name = o->name ? str_z(copy(a, o->name)) : STR("stdin"),
				    .text = arena_str(a, str_n(text, n))};
	s->params = arena_newn(a, struct str, o->nparams + 1);
	for (size_t i = 0; i < o->nparams; i++)
		s->params[s->nparam++] = str_z(copy(a, o->params[i]));
	s->opts = arena_newn(a, struct script_opt, o->noptions + 1);
	for (size_t i = 0; i < o->noptions; i++) {
		struct script_opt *opt = &s->opts[s->nopt++];
		opt->value = str_z(copy(a, o->options[i]));
		str_cut(&opt->value, '=', &opt->name);
	}
}

static struct err *take_target(struct sonde_unit *u, const struct sonde_compile_opts *o)
{
	struct target_spec *t = &u->spec;
	if (o->npids > SCOPE_MAX_PIDS)
		return too_many("processes", SCOPE_MAX_PIDS);
	if (o->ncgroups > OPTION_LIST_MAX)
		return too_many("control groups", OPTION_LIST_MAX);
	for (size_t i = 0; i < o->npids; i++)
		t->pid[t->npid++] = o->pids[i];
	for (size_t i = 0; i < o->ncgroups; i++)
		t->cgroup[t->ncgroup++] = copy(&u->arena, o->cgroups[i]);
	t->follow = o->follow;
	t->cmd = copy(&u->arena, o->command);
	if (u->sonde->host.query && (t->npid || t->ncgroup || t->follow || t->cmd))
		return err_new("processes of a recording cannot be chosen");
	return NULL;
}

static struct compile_spec compile_of(const struct sonde *s, const struct sonde_compile_opts *o)
{
	return (struct compile_spec){
		.unsafe = o->unsafe,
		.no_warn = o->no_warnings,
		.warnings = o->warn_failed,
		.inc_path = s->env ? s->env("CPATH") : NULL,
		.kernel_source = s->env ? s->env("BPFTRACE_KERNEL_SOURCE") : NULL,
		.kernel_build = s->env ? s->env("BPFTRACE_KERNEL_BUILD") : NULL,
	};
}

/* The processes are opened, and the script is compiled. */
static struct sonde_error *compile(struct sonde_unit *u)
{
	const struct target_spec *t = &u->spec;
	launch_init(u);
	struct err *e = target_open(&u->target, t->cmd, NULL, t->pid, t->npid);
	if (!e)
		e = launch_scope(&u->launch);
	if (e)
		return failure_err(SONDE_ERROR_OPTION, e);
	if (!launch_compile(&u->launch))
		return failure_diags(SONDE_ERROR_SCRIPT, &u->launch.job.diags, NULL);
	return u->launch.job.unit.nprog ? NULL
					: failure_text(SONDE_ERROR_SCRIPT,
						       STR("the script has no probes to attach"));
}

struct sonde_error *sonde_compile(struct sonde *s, const char *text, size_t n,
				  const struct sonde_compile_opts *opts, struct sonde_unit **ret)
{
	struct sonde_compile_opts o;
	struct sonde_error *wrong = take_opts(&o, sizeof(o), opts);
	if (!wrong && n > UINT32_MAX / 2)
		wrong = failure_text(SONDE_ERROR_OPTION, STR("the script is too long"));
	if (!wrong && n && memchr(text, 0, n))
		wrong = failure_text(SONDE_ERROR_SCRIPT, STR("the script has bytes that are 0"));
	if (wrong)
		return wrong;
	struct sonde_unit *u = unit_new(s);
	u->compile = compile_of(s, &o);
	take_script(u, text, n, &o);
	wrong = failure_err(SONDE_ERROR_OPTION, take_target(u, &o));
	if (!wrong)
		wrong = compile(u);
	if (wrong)
		sonde_unit_free(u);
	else
		*ret = u;
	return wrong;
}

static struct err *read_job(struct sonde_unit *u)
{
	struct launch *l = &u->launch;
	launch_init(u);
	job_init(&l->job, &l->compile, &u->script, l->host);
	l->compiled = true;
	struct err *e = unit_read(&l->job.unit, &l->job.arena, &l->job.diags, l->host, u->bytes.s,
				  u->bytes.n);
	return e ? e : unit_resolve(&l->job.unit, l->host, &l->job.diags);
}

struct sonde_error *sonde_unit_read(struct sonde *s, const void *bytes, size_t n,
				    struct sonde_unit **ret)
{
	if (s->host.query || !n || n > UINT32_MAX / 2)
		return failure_text(SONDE_ERROR_UNIT,
				    s->host.query ? STR("a compiled script cannot ask recordings")
						  : STR("these bytes are no compiled script"));
	struct sonde_unit *u = unit_new(s);
	u->bytes = arena_str(&u->arena, str_n(bytes, n));
	struct err *e = read_job(u);
	if (e)
		sonde_unit_free(u);
	else
		*ret = u;
	return failure_err(SONDE_ERROR_UNIT, e);
}

/* Compiled again if a run has used what was compiled. */
static struct sonde_error *compiled(struct sonde_unit *u)
{
	if (u->launch.compiled)
		return NULL;
	if (u->bytes.s)
		return failure_err(SONDE_ERROR_UNIT, read_job(u));
	if (u->spec.cmd)
		return failure_text(SONDE_ERROR_STATE, STR("the command of the unit has run"));
	target_close(&u->target);
	return compile(u);
}

const struct sonde_diagnostic *sonde_unit_warnings(struct sonde_unit *u, size_t *n)
{
	*n = 0;
	arena_reset(&u->scratch);
	return u->launch.compiled ? diagnostics_of(&u->scratch, &u->launch.job.diags, n) : NULL;
}

struct sonde_error *sonde_unit_write(struct sonde_unit *u, sonde_write_fn *write, void *arg)
{
	AUTO_SB out = {0};
	if (u->spec.npid || u->spec.cmd)
		return failure_text(SONDE_ERROR_STATE,
				    STR("the unit names processes that are here now"));
	struct sonde_error *wrong = compiled(u);
	if (wrong)
		return wrong;
	struct err *e = unit_write(&u->launch.job.unit, &u->launch.job.diags, &out);
	int no = e ? 0 : write(arg, out.s, out.n);
	return failure_err(SONDE_ERROR_UNIT, no ? err_sys(no, "write the compiled script") : e);
}

/* ---- runs ---- */

static void run_free(struct sonde_run *r)
{
	struct sonde_unit *u = r->unit;
	launch_free(&u->launch);
	u->run = NULL;
	arena_free(&r->memory.item);
	arena_free(&r->memory.row);
	sb_free(&r->errors);
	free(r);
}

static struct sonde_error *why_not(struct sonde_run *r, enum launched how)
{
	struct launch *l = &r->unit->launch;
	struct err *e = l->error;
	l->error = NULL;
	switch (how) {
	case LAUNCH_WRONG: return failure_diags(SONDE_ERROR_SCRIPT, &l->job.diags, e);
	case LAUNCH_REFUSED: return failure_diags(SONDE_ERROR_KERNEL, &l->job.diags, e);
	case LAUNCH_NO_FORM:
		return failure_text(SONDE_ERROR_KERNEL, STR("this kernel refuses a form that the "
							    "script was compiled to"));
	case LAUNCH_FAILED: return failure_text(SONDE_ERROR_ATTACH, sb_str(&r->errors));
	case LAUNCHED:
	case LAUNCH_ENDED:
	case LAUNCH_NO_OUTPUT: break;
	}
	assert(!"no hook ends a launch, and the output is always there");
	return NULL;
}

struct sonde_error *sonde_attach(struct sonde_unit *u, const struct sonde_run_opts *opts,
				 struct sonde_run **ret)
{
	struct sonde_run_opts o;
	struct sonde_error *wrong = take_opts(&o, sizeof(o), opts);
	if (!wrong && u->run)
		wrong = failure_text(SONDE_ERROR_STATE, STR("the unit has a run already"));
	if (!wrong)
		wrong = compiled(u);
	if (wrong)
		return wrong;
	struct sonde_run *r = xcalloc(1, sizeof(*r));
	*r = (struct sonde_run){.unit = u, .opts = o, .starting = true};
	u->run = r;
	u->launch.limits = (struct limits){.for_ns = o.duration_ns,
					   .acts = (o.signals ? ACT_SIGNALS : 0u) |
						   (o.confine ? ACT_CONFINE : 0u) |
						   (o.priority ? ACT_PRIORITY : 0u)};
	enum launched how = launch_start(&u->launch);
	r->starting = false;
	if (how == LAUNCHED) {
		*ret = r;
		return NULL;
	}
	wrong = why_not(r, how);
	run_free(r);
	return wrong;
}

static struct session *session_of(struct sonde_run *r)
{
	return &r->unit->launch.session;
}

bool sonde_poll(struct sonde_run *r, int timeout_ms)
{
	u64 from = now_ns(), before = r->nitem;
	for (;;) {
		u64 gone = (now_ns() - from) / MILLI_NS;
		u64 left = timeout_ms < 0            ? TICK_MS
			   : gone >= (u64)timeout_ms ? 0
						     : (u64)timeout_ms - gone;
		if (!session_poll(session_of(r), (int)MIN(left, (u64)TICK_MS)))
			return false;
		if (r->nitem != before || !left)
			return true;
	}
}

int sonde_fd(struct sonde_run *r)
{
	int fd;
	struct err *e = loop_fd(session_of(r), &fd);
	if (!e)
		return fd;
	err_free(e);
	return -1;
}

struct sonde_error *sonde_map_each(struct sonde_run *r, const char *name, sonde_row_fn *row,
				   void *arg)
{
	struct reporter *rep = &session_of(r)->reporter;
	const struct unit *u = rep->unit;
	const struct map *m = NULL;
	for (u32 i = 0; i < u->nmap && !m; i++)
		if (u->map[i]->role == MAP_USER && str_is(u->map[i]->name, name))
			m = u->map[i];
	if (!m)
		return failure_text(SONDE_ERROR_OPTION, STR("the script has no such map"));
	assert(!r->row);
	r->row = row;
	r->row_arg = arg;
	r->starting = true;
	report_print_map(rep, m, 0, 0, false);
	arena_reset(&rep->reader.arena);
	r->starting = false;
	r->row = NULL;
	if (!r->errors.n)
		return NULL;
	struct sonde_error *e = failure_text(SONDE_ERROR_KERNEL, sb_str(&r->errors));
	r->errors.n = 0;
	return e;
}

int sonde_stop(struct sonde_run *r)
{
	if (!r)
		return 0;
	int status = session_finish(session_of(r));
	run_free(r);
	return status;
}
