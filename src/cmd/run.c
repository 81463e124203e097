/* run.c - the default command: run a script, and print what it finds. */
#include "api/elf_write.h"
#include "api/launch.h"
#include "api/machine.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/livepage.h"
#include "cmd/tool.h"
#include "core/recorded.h"
#include "core/unitfile.h"
#include "declare/declare.h"
#include "live/front.h"
#include "proc/proc.h"
#include "run/cost.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>

static int fail(struct err *e, int rc)
{
	fprintf(stderr, "ERROR: %s\n", e->msg);
	err_free(e);
	return rc;
}

/* Once signals are caught, a standard error that nobody reads must not keep us, either. */
static int fail_late(struct signals *s, struct err *e, int rc)
{
	AUTO_SB b = {0};
	size_t done;
	sb_fmt(&b, "ERROR: %s\n", e->msg);
	(void)signals_write(s, STDERR_FILENO, b.s, b.n, &done);
	err_free(e);
	return rc;
}

/* NO_COLOR, and terminals that cannot, count where the variable of our own says nothing. */
static bool color_on(void)
{
	const char *want = getenv("BPFTRACE_COLOR"), *no = getenv("NO_COLOR"),
		   *term = getenv("TERM");
	if (want && !strcmp(want, "always"))
		return true;
	if ((want && !strcmp(want, "never")) || (no && *no) || (term && !strcmp(term, "dumb")))
		return false;
	return isatty(STDERR_FILENO);
}

bool script_parses(const struct run_opts *o, struct arena *a, struct script *s, struct node **tree)
{
	struct comment *notes = NULL;
	if (!script_read(o, a, s))
		return false;
	struct diags ds = {.arena = a,
			   .source = &s->source,
			   .nsource = 1,
			   .codes = getenv("SONDE_CODES") != NULL};
	*tree = language_of(s->source.name)->parse(a, &ds, 0, &notes);
	diags_print(&ds, stderr, color_on());
	return !ds.nerror;
}

static int format_script(const struct run_opts *o)
{
	struct arena a = {0};
	struct script s = {0};
	if (!script_read(o, &a, &s)) {
		arena_free(&a);
		return RC_USAGE;
	}
	struct diags ds = {.arena = &a,
			   .source = &s.source,
			   .nsource = 1,
			   .codes = getenv("SONDE_CODES") != NULL};
	const struct language *lang = language_of(s.source.name);
	struct comment *notes = NULL;
	struct node *tree = lang->parse(&a, &ds, 0, &notes);
	AUTO_SB out = {0};
	if (!ds.nerror)
		lang->format(tree, s.source.text, notes, &out);
	diags_print(&ds, stderr, color_on());
	if (out.n)
		fwrite(out.s, 1, out.n, stdout);
	arena_free(&a);
	return ds.nerror ? RC_USAGE : RC_OK;
}

static struct err *machine_of(const struct run_opts *o, struct machine_spec *ret)
{
	const char *btf = getenv("BPFTRACE_BTF");
	*ret = o->machine;
	ret->env = getenv;
	ret->vmlinux = getenv("BPFTRACE_VMLINUX");
	ret->debug_servers = getenv("DEBUGINFOD_URLS");
	if (!ret->btf && !ret->root)
		ret->btf = btf;
	return o->nrecording ? query_words(o, &ret->recordings) : NULL;
}

bool host_prepare(struct host *h, struct arena *a, const struct run_opts *o)
{
	struct machine_spec spec;
	const char *what = "";
	struct err *e = machine_of(o, &spec);
	if (e)
		host_init(h, a, "");
	else
		e = machine_open(&spec, a, h, &what);
	if (!e)
		return true;
	if (!strcmp(what, "btf") && !o->machine.btf)
		e = err_wrap(e, "BPFTRACE_BTF: ");
	else if (*what)
		e = err_wrap(e, "--%s: ", what);
	return fail(e, 0), false;
}

static struct compile_spec compile_of(const struct run_opts *o)
{
	struct compile_spec c = o->compile;
	struct output_choice out;
	struct err *e = output_choose(&o->output, &out);
	c.timed = !e && out.sink->answers;
	err_free(e); /* reported where the output is opened */
	c.check_ir |= o->dumps != 0;
	c.show_source = o->verbose || o->dumps;
	c.codes = getenv("SONDE_CODES") != NULL;
	c.inc_path = getenv("CPATH");
	c.kernel_source = getenv("BPFTRACE_KERNEL_SOURCE");
	c.kernel_build = getenv("BPFTRACE_KERNEL_BUILD");
	return c;
}

void job_prepare(struct job *j, const struct run_opts *o, const struct script *s, struct host *h)
{
	struct compile_spec c = compile_of(o);
	job_init(j, &c, s, h);
	j->c.headers.dir = o->compile.inc_dir;
	j->c.headers.file = o->compile.inc_file;
}

void job_report(const struct job *j)
{
	fflush(stdout);
	diags_print(&j->diags, stderr, color_on());
}

bool escaped(const struct run_opts *o, int fd)
{
	return o->view.escape == ESCAPE_AUTO ? isatty(fd) : o->view.escape == ESCAPE_ALWAYS;
}

/* What a recording says of its machine and of how it was made. */
static const struct sink_fact *facts(struct arena *a, const struct run_opts *o, struct host *h,
				     u32 *n)
{
	struct utsname name;
	struct sink_fact *v = arena_newn(a, struct sink_fact, FEAT_COUNT + 8u);
	*n = 0;
	v[(*n)++] = (struct sink_fact){STR("sonde"), STR(SONDE_VERSION)};
	if (o->program)
		v[(*n)++] = (struct sink_fact){STR("script"), str_z(o->program)};
	if (o->target.cmd)
		v[(*n)++] = (struct sink_fact){STR("command"), str_z(o->target.cmd)};
	v[(*n)++] = (struct sink_fact){STR("pid"), str_z(arena_fmt(a, "%d", getpid()))};
	if (!uname(&name)) {
		v[(*n)++] = (struct sink_fact){STR("hostname"), arena_str(a, str_z(name.nodename))};
		v[(*n)++] = (struct sink_fact){STR("release"), arena_str(a, str_z(name.release))};
		v[(*n)++] = (struct sink_fact){STR("machine"), arena_str(a, str_z(name.machine))};
	}
	for (u32 i = 1; i < FEAT_COUNT; i++) {
		const char *key = arena_fmt(a, "feature.%s", feature_name(i));
		v[(*n)++] = (struct sink_fact){str_z(key), host_has(h, i) ? STR("yes") : STR("no")};
	}
	return v;
}

/* What the script was given on the command line, a line for each. */
static struct str arguments_of(struct arena *a, const struct script *s)
{
	AUTO_SB b = {0};
	for (u32 i = 0; s && i < s->nparam; i++)
		sb_fmt(&b, "%.*s\n", STRF(s->params[i]));
	for (u32 i = 0; s && i < s->nopt; i++)
		sb_fmt(&b, "--%.*s=%.*s\n", STRF(s->opts[i].name), STRF(s->opts[i].value));
	return arena_str(a, sb_str(&b));
}

/* "profile -p 1234 10", "runq.bt", or the script itself. */
static struct str what_runs(struct arena *a, const struct run_opts *o)
{
	AUTO_SB b = {0};
	const struct run_start *tool = o->tool ? &o->tool->start : NULL;
	if (tool && tool->tool.n) {
		sb_add(&b, tool->tool);
		for (u32 i = 0; i < tool->nword; i++)
			sb_fmt(&b, " %s", tool->word[i]);
	} else {
		sb_z(&b, o->program ? o->program : o->nrest ? o->rest[0] : "");
		if (o->target.cmd)
			sb_fmt(&b, " -c '%s'", o->target.cmd);
	}
	AUTO_SB seen = {0};
	sb_visible(&seen, str_trim(sb_str(&b)));
	return arena_str(a, sb_str(&seen));
}

/* Which machine, and since when; of a recording, its file. */
static struct str where_it_runs(struct arena *a, const struct run_opts *o)
{
	AUTO_SB b = {0};
	struct utsname name;
	struct tm tm;
	char text[64];
	time_t now = time(NULL);
	for (u32 i = 0; i < o->nrecording; i++)
		sb_fmt(&b, "%s%s", i ? ", " : "", o->recording[i]);
	if (!o->nrecording && !uname(&name) && localtime_r(&now, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		sb_fmt(&b, "%s, %s", name.nodename, text);
	return arena_str(a, sb_str(&b));
}

/* What the screen is called: the script, and the recordings. */
static struct str live_title(struct arena *a, const struct run_opts *o)
{
	struct str what = o->program && !o->tool ? str_z(o->program) : what_runs(a, o);
	if (!o->nrecording)
		return what;
	struct str where = where_it_runs(a, o);
	return o->program == live_events
		       ? where
		       : str_z(arena_fmt(a, "%.*s: %.*s", STRF(where), STRF(what)));
}

/* A run of the command line: what it was told, and its output. */
struct cli_run {
	const struct run_opts *o;
	struct output out;
	void *sink; /* state of the sink; NULL if none is open */
	struct live_screen screen;
	int rc;     /* if a hook ended the launch */
	bool taken; /* live.takeover was told */
};

static void set_record_env(struct launch *l, struct sink_env *env)
{
	const struct cli_run *r = l->arg;
	env->bounds = &r->o->output.bounds;
	env->path = r->out.path;
	env->unit = &l->job.unit;
	env->fact = facts(&l->job.arena, r->o, l->host, &env->nfact);
}

/* What an answer says of its script and its machine; of a recording, of the machine that made it. */
static const struct sink_fact *answer_facts(struct arena *a, const struct launch *l, u32 *n)
{
	struct utsname name = {0};
	const struct recorded *rec = l->host->recording;
	const struct diags *ds = &l->job.diags;
	const struct run_opts *o = ((const struct cli_run *)l->arg)->o;
	const char *boot = rec ? NULL : host_boot(l->host);
	AUTO_SB labels = {0};
	for (u32 i = 0; i < o->nlabel; i++)
		sb_fmt(&labels, "%s%s", i ? "," : "", o->label[i]);
	for (u32 i = 0; i < labels.n; i++)
		labels.s[i] = labels.s[i] == ',' ? '\n' : labels.s[i];
	uname(&name);
	const struct sink_fact v[] = {
		{STR("sonde"), STR(SONDE_VERSION)},
		{STR("script"), ds->nsource ? ds->source[0].text : STR("")},
		{STR("arguments"), arguments_of(a, l->script)},
		{STR("what"), what_runs(a, o)},
		{STR("hostname"), rec ? rec->hostname : str_z(name.nodename)},
		{STR("release"), rec ? rec->release : str_z(name.release)},
		{STR("machine"), rec ? rec->machine : str_z(name.machine)},
		{STR("boot"), rec ? rec->id : str_z(boot ? boot : "")},
		{STR("labels"), sb_str(&labels)},
	};
	struct sink_fact *ret = arena_newn(a, struct sink_fact, countof(v));
	*n = labels.n ? countof(v) : countof(v) - 1;
	for (u32 i = 0; i < *n; i++)
		ret[i] = (struct sink_fact){v[i].key, arena_str(a, v[i].value)};
	return ret;
}

static void set_answer_env(struct launch *l, struct sink_env *env)
{
	const struct cli_run *r = l->arg;
	const struct recorded *rec = l->host->recording;
	env->path = r->out.path;
	env->real_ns = rec ? rec->real_ns : host_boot_offset_ns();
	env->ncpu = l->host->ncpu;
	env->fact = answer_facts(&l->job.arena, l, &env->nfact);
}

/* Messages go past the screen, into a file or to another program. */
static bool says_apart(const struct run_opts *o)
{
	return !isatty(STDERR_FILENO) && !o->live.takeover;
}

static struct sink_env env_of(struct launch *l)
{
	const struct cli_run *r = l->arg;
	const struct run_opts *o = r->o;
	struct str trailer = l->job.unit.config.str_trunc_trailer;
	const struct sink *sink = r->out.choice.sink;
	bool to_err = l->job.unit.config.text_to_stderr && sink == sink_named(STR("text"));
	int screen = r->screen.text_fd;
	struct sink_env env = {
		.out = screen >= 0      ? screen
		       : r->out.fd >= 0 ? r->out.fd
		       : to_err         ? STDERR_FILENO
					: STDOUT_FILENO,
		.err = screen >= 0 && !says_apart(o) ? screen : STDERR_FILENO,
		.screen = screen >= 0 ? STDOUT_FILENO : 0,
		.buffering = o->view.buffering,
		.diags = &l->job.diags,
		.signals = &l->session.loop.signals,
		.quiet = o->view.quiet,
		.tool = l->start.tool.n,
		.old = l->job.unit.config.compat,
		.wide = o->view.wide,
		.scroll = o->view.scroll,
		.no_load = o->view.no_load,
		.what = what_runs(&l->job.arena, o),
		.where = where_it_runs(&l->job.arena, o),
	};
	env.how = (struct show){trailer, escaped(o, screen >= 0 ? STDOUT_FILENO : env.out)};
	env.how_remarks = (struct show){trailer, escaped(o, STDERR_FILENO)};
	if (sink->keeps)
		set_record_env(l, &env);
	if (sink->answers)
		set_answer_env(l, &env);
	return env;
}

/* ---- several scripts on one screen ---- */

static bool is_several(const struct live_chain *c)
{
	return c && (c->outer || c->nwords > 1);
}

static struct cli_run *run_of(const struct live_chain *c)
{
	return c->launch->arg;
}

static struct live_chain *first_of(struct live_chain *c)
{
	while (c->outer)
		c = c->outer;
	return c;
}

static void read_other(void *launch, struct watcher *w)
{
	struct launch *l = launch;
	report_watch_maps(&l->session.reporter, w);
}

static bool programs_of(void *launch, u64 *ret)
{
	struct launch *l = launch;
	return cost_programs_ns(&l->session, ret);
}

static struct err *join_screen(struct launch *l, const struct front_script *script)
{
	struct cli_run *r = l->arg;
	struct live_chain *first = first_of(r->o->live.chain);
	r->screen.part = front_join(run_of(first)->screen.front, script);
	if (!r->screen.part)
		return err_new("too many attempts to attach scripts on one screen");
	return NULL;
}

/* The screen stands before the sink. */
static struct err *open_screen(struct launch *l, const struct sink **sink, void **self)
{
	struct cli_run *r = l->arg;
	struct live_chain *chain = r->o->live.chain;
	struct front_script script = {.name = what_runs(&l->job.arena, r->o),
				      .text_fd = r->screen.text_fd,
				      .apart = says_apart(r->o),
				      .plain = *sink,
				      .self = *self,
				      .unit = &l->job.unit,
				      .arg = l,
				      .read = read_other,
				      .programs_ns = programs_of};
	struct front_spec spec = {.script = script,
				  .title = live_title(&l->job.arena, r->o),
				  .board = r->o->live.board,
				  .later = is_several(chain),
				  .maps_are_shown = l->job.unit.config.print_maps_on_exit};
	struct err *e = chain && chain->outer ? join_screen(l, &script)
					      : live_open(&r->screen, r->o, &l->job.arena, &spec);
	if (e)
		return e;
	if (r->o->live.board)
		l->job.unit.config.print_maps_on_exit = false;
	l->session.loop.watcher = part_watcher(r->screen.part);
	*sink = &front_sink;
	*self = r->screen.part;
	return NULL;
}

static struct err *open_output(struct launch *l, const struct sink **sink, void **self)
{
	struct cli_run *r = l->arg;
	struct output *out = &r->out;
	struct err *e = output_prepare(r->o, out);
	out->parts = r->o->output.bounds.disk || r->o->output.bounds.keep_bytes;
	if (!e)
		e = output_open(out);
	if (e)
		return e;
	struct sink_env env = env_of(l);
	r->sink = xcalloc(1, out->choice.sink->size + 1);
	e = out->choice.sink->open(r->sink, &env, out->choice.opts);
	*sink = out->choice.sink;
	*self = r->sink;
	if (!e && r->screen.text_fd >= 0) {
		e = open_screen(l, sink, self);
		if (e)
			err_free(out->choice.sink->close(r->sink));
	}
	if (e) {
		err_free(output_close(out, false));
		free(r->sink);
		r->sink = NULL;
		return e;
	}
	l->session.limits.as_invoker = out->as_invoker;
	l->session.limits.parts = out->parts;
	l->session.limits.renames = out->fd >= 0 && out->choice.sink->whole;
	return NULL;
}

/* Return the exit status, which is rc if the output could be written. */
static int close_output(struct launch *l, int rc)
{
	struct cli_run *r = l->arg;
	live_leave(&r->screen);
	struct err *e = r->out.choice.sink->close(r->sink);
	if (r->screen.text_fd >= 0)
		live_print(&r->screen, &l->session.loop.signals,
			   r->o->live.takeover && !r->taken ? STDERR_FILENO : STDOUT_FILENO);
	struct err *late = output_close(&r->out, !e);
	free(r->sink);
	r->sink = NULL;
	if (e)
		err_free(late);
	else
		e = late;
	if (e && e->no == EPIPE) { /* nobody reads any more: "| head" */
		err_free(e);
		return rc;
	}
	return e ? fail_late(&l->session.loop.signals, e, rc ? rc : RC_USAGE) : rc;
}

static void close_failed(struct launch *l)
{
	(void)close_output(l, RC_LOAD);
}

/* A tool is right: what it names itself and is not there, the kernel lacks; it says so by fail(), too. */
static bool tool_lacks(const struct diags *ds, const struct diag *d)
{
	bool name = d->code == E_UNKNOWN_TYPE || d->code == E_UNKNOWN_FIELD ||
		    d->code == E_UNKNOWN_NAME;
	return d->code == E_FEATURE || d->code == E_ASSERT || (name && diags_fixed(ds, d->loc));
}

static int compile_rc(const struct run_opts *o, const struct job *j)
{
	int rc = RC_USAGE;
	for (const struct diag *d = j->diags.head; d; d = d->next)
		if (d->code == E_CONFIG || d->code == E_LACKS ||
		    (o->tool && tool_lacks(&j->diags, d)))
			rc = RC_LACKS;
	return rc;
}

static void report(struct launch *l)
{
	job_report(&l->job);
}

/* What -d prints. */
static void dump(void *arg, const char *pass, struct str text)
{
	const struct run_opts *o = arg;
	bool titles = o->dumps & (o->dumps - 1); /* several */
	printf("%s%s%s%.*s", titles ? "== " : "", titles ? pass : "", titles ? " ==\n" : "",
	       STRF(text));
}

static int no_probes(const struct launch *l)
{
	const char *opt = l->job.unit.skipped;
	if (!opt) {
		puts("No probes to attach");
		return RC_USAGE;
	}
	fprintf(stderr, "ERROR: No probes attached; use --%s to run %s probes.\n", opt, opt);
	return RC_LOAD;
}

/* Files that options ask for; then what a script with errors of another sort is refused for. */
static bool compiled(struct launch *l)
{
	struct cli_run *r = l->arg;
	const struct run_opts *o = r->o;
	struct err *e = l->watch.e;
	l->watch.e = NULL;
	if (!e && o->emit_elf)
		e = object_write(o->emit_elf, &l->job.unit);
	if (e) {
		r->rc = fail(e, RC_USAGE);
		return false;
	}
	if (l->job.c.help) {
		AUTO_SB known = {0};
		declare_print_options(&l->job.c, &known);
		job_report(&l->job);
		fprintf(stderr, "HINT: expected program options:%s\n", known.s);
		r->rc = RC_USAGE;
		return false;
	}
	if (o->codegen || (o->dumps && !o->debug_log)) {
		job_report(&l->job);
		r->rc = RC_OK;
		return false;
	}
	if (!l->job.unit.nprog && l->script) {
		job_report(&l->job);
		r->rc = no_probes(l);
		return false;
	}
	e = output_suits(&o->output, l->start.tool, o->aot != NULL, &l->job.unit);
	if (!e)
		return true;
	job_report(&l->job);
	r->rc = fail(e, RC_USAGE);
	return false;
}

static bool loaded(struct launch *l)
{
	struct cli_run *r = l->arg;
	if (!r->o->aot)
		return true;
	struct err *e = aot_write(r->o->aot, &l->job.unit, &l->job.diags);
	r->rc = e ? fail(e, RC_USAGE) : RC_OK;
	return false;
}

static const struct launch_hooks hooks = {
	.compiled = compiled,
	.report = report,
	.loaded = loaded,
	.open = open_output,
	.close = close_failed,
};

static void log_line(void *arg, const char *text)
{
	(void)arg;
	fputs(text, stderr);
}

static struct launch launch_of(struct cli_run *r, struct host *h, struct target *target)
{
	const struct run_opts *o = r->o;
	struct launch l = {
		.compile = compile_of(o),
		.spec = &o->target,
		.host = h,
		.target = target,
		.limits = o->limits,
		.log = {.level = o->verbose + o->debug_log, .put = log_line},
		.dry_run = o->dry_run || o->aot,
		.hooks = &hooks,
		.arg = r,
		.watch = {.dumps = o->dumps, .dump = dump, .arg = (void *)o, .emit_ir = o->emit_ir},
	};
	l.limits.acts = ACT_ALL;
	if (is_several(o->live.chain)) /* one would give up what another needs */
		l.limits.acts &= ~ACT_CONFINE;
	if (o->live.chain && o->live.chain->outer)
		l.limits.acts &= ~ACT_SIGNALS;
	if (o->tool)
		l.start = o->tool->start;
	return l;
}

static int take_error(struct launch *l, int rc)
{
	struct err *e = l->error;
	l->error = NULL;
	return e ? fail(e, rc) : rc;
}

/* All have attached: c is the last. */
static void run_all(struct live_chain *c)
{
	struct live_chain *all[LIVE_TEXTS], *first = first_of(c);
	struct front *f = run_of(first)->screen.front;
	struct signals *signals = &first->launch->session.loop.signals;
	u32 n = 0, waits = 40;
	struct err *e = f ? front_start(f) : NULL;
	for (; c; c = c->outer)
		all[n++] = c;
	/* The first script ends the others: it looks at keys, too. */
	while (!e && session_poll(&first->launch->session, (int)waits) && !(f && front_over(f)))
		for (u32 i = 0; i + 1 < n; i++)
			session_poll(&all[i]->launch->session, 0);
	for (u32 i = 0; i < n; i++) { /* on a screen the first one's last reading is of all */
		struct live_chain *one = all[f ? i : n - 1 - i];
		one->rc = session_finish(&one->launch->session);
	}
	if (f && !e && !signals->stop_ns && !first->launch->limits.for_ns) {
		livepage_stays(run_of(first)->screen.page);
		front_wait(f, signals);
	}
	for (u32 i = 0; i < n; i++) { /* before the front is closed, which is the first one's */
		struct live_screen *s = &run_of(all[i])->screen;
		if (s->part)
			s->from = part_text_from(s->part);
		s->part = NULL;
	}
	for (u32 i = n; i--;) {
		all[i]->rc = close_output(all[i]->launch, all[i]->rc);
		all[i]->closed = true;
	}
	if (e)
		first->rc = fail(e, RC_USAGE);
}

/* Of scripts that are shown at once: it has attached. */
static int run_chain(struct live_chain *c, struct launch *l)
{
	struct live_chain next = {.outer = c, .words = c->words + 1, .nwords = c->nwords - 1};
	int rc = RC_OK;
	c->launch = l;
	if (c->nwords == 1)
		run_all(c);
	else
		rc = live_next(&next);
	if (c->closed)
		return c->rc ? c->rc : rc;
	session_finish(&l->session); /* the next one did not start, and said why */
	live_forget(&run_of(c)->screen);
	(void)close_output(l, rc);
	return rc ? rc : RC_USAGE;
}

/* Return the exit status. */
static int launch_and_run(struct launch *l)
{
	struct cli_run *r = l->arg;
	int rc = RC_OK;
	switch (launch_start(l)) {
	case LAUNCHED: break;
	case LAUNCH_ENDED: return r->rc;
	case LAUNCH_WRONG:
		err_free(l->watch.e);
		return l->script ? compile_rc(r->o, &l->job) : RC_USAGE;
	case LAUNCH_REFUSED: return take_error(l, RC_LOAD);
	case LAUNCH_NO_OUTPUT: return take_error(l, RC_USAGE);
	case LAUNCH_FAILED: return session_failed_status(&l->session);
	case LAUNCH_NO_FORM:
		job_report(&l->job);
		fputs("ERROR: this kernel refuses a form that the script was compiled to\n",
		      stderr);
		return RC_LOAD;
	}
	if (is_several(r->o->live.chain))
		return run_chain(r->o->live.chain, l);
	if (!l->dry_run) {
		r->taken = r->o->live.takeover;
		if (r->taken)
			live_take_over(&r->o->live);
		session_loop(&l->session);
		rc = session_finish(&l->session);
		struct signals *signals = &l->session.loop.signals;
		bool ends = l->limits.for_ns && !r->o->nrecording;
		if (r->screen.front && !signals->stop_ns && !ends) {
			livepage_stays(r->screen.page);
			front_wait(r->screen.front, signals);
		}
		if (r->screen.front && front_replaced(r->screen.front)) {
			rc = front_replaced_status(r->screen.front, signals);
			live_forget(&r->screen);
		}
	}
	return close_output(l, rc);
}

static int run_loaded(const struct run_opts *o, const struct aot *f)
{
	struct arena a = {0};
	struct host h;
	struct target target = TARGET_NONE;
	int rc = RC_USAGE;
	struct cli_run r = {.o = o, .screen = {.text_fd = -1}};
	const char *warning;
	struct err *e = output_prepare(o, &r.out);
	if (e)
		return fail(e, rc);
	if (host_prepare(&h, &a, o)) {
		struct launch l = launch_of(&r, &h, &target);
		job_init(&l.job, &l.compile, &(struct script){0}, &h);
		l.compiled = true;
		e = aot_load(f, &l.job.unit, &l.job.arena, &l.job.diags, &h, &warning);
		if (warning)
			fprintf(stderr, "WARNING: %s\n", warning);
		rc = e ? fail(e, rc) : launch_and_run(&l);
		launch_free(&l);
	}
	target_close(&target);
	host_deinit(&h);
	arena_free(&a);
	return rc;
}

/* --mode compiler-bench: each pass many times. */
static int bench_compiler(const struct run_opts *o, const struct script *script, struct host *h)
{
	enum { ROUNDS = 200 };
	const u64 enough = 1000000000;
	struct watch w = {0};
	u64 from = now_ns();
	for (u32 i = 0; i < ROUNDS && (i < 2 || now_ns() - from < enough); i++) {
		struct job j;
		job_prepare(&j, o, script, h);
		bool ok = compile_script(&j.c, STAGE_ALL, &w);
		if (!i || !ok)
			job_report(&j);
		job_free(&j);
		if (!ok)
			return RC_USAGE;
	}
	printf("%-12s %8s %12s %12s %12s\n", "pass", "rounds", "mean us", "least us", "most us");
	for (const struct pass_cost *c = w.cost; c < w.cost + MAX_PASSES && c->n; c++)
		printf("%-12s %8llu %12.2f %12.2f %12.2f\n", c->name, c->n,
		       (double)c->ns / (double)c->n / 1e3, (double)c->least / 1e3,
		       (double)c->most / 1e3);
	return RC_OK;
}

static int run_script(const struct run_opts *o)
{
	struct arena a = {0};
	struct script script = {0};
	struct host h;
	struct target target = TARGET_NONE;
	int rc = RC_USAGE;
	if (!script_read(o, &a, &script))
		goto out;
	if (o->dumps & DUMP_SCRIPT) {
		printf("%.*s", STRF(script.source.text));
		rc = RC_OK;
		goto out;
	}
	if (!host_prepare(&h, &a, o))
		goto out_host;
	if (o->compiler_bench) {
		rc = bench_compiler(o, &script, &h);
		goto out_host;
	}
	struct login login;
	struct cli_run r = {.o = o, .screen = {.text_fd = -1}};
	struct launch l = launch_of(&r, &h, &target);
	l.script = &script;
	bool screen = live_shows(o);
	struct err *e = o->target.as_user ? proc_login(&h, o->target.as_user, &login) : NULL;
	if (!e && screen)
		e = live_prepare(&r.screen, o);
	if (!e && screen)
		live_redirect(&r.screen, o, true);
	if (!e)
		e = target_open(&target, o->target.cmd, o->target.as_user ? &login : NULL,
				o->target.pid, o->target.npid);
	if (r.screen.text_fd >= 0)
		live_redirect(&r.screen, o, false);
	if (!e)
		e = launch_scope(&l);
	rc = e ? fail(e, rc) : launch_and_run(&l);
	launch_free(&l);
	target_close(&target);
	live_release(&r.screen);
out_host:
	host_deinit(&h);
out:
	arena_free(&a);
	return rc;
}

/* Processes of a recording are no processes of this machine. */
static int run_query(const struct run_opts *o)
{
	struct run_opts q = *o;
	struct err *e = query_refuses(o);
	if (e)
		return fail(e, RC_USAGE);
	for (; q.nasked < q.target.npid && q.nasked < countof(q.asked); q.nasked++)
		q.asked[q.nasked] = q.target.pid[q.nasked];
	q.target.npid = 0;
	if (o->target.follow && !q.nasked && !o->tool)
		return fail(err_new("--follow needs processes to begin with: -p"), RC_USAGE);
	q.asked_follow = o->target.follow;
	q.target.follow = false;
	return o->list ? list(&q) : run_script(&q);
}

int run_command(const struct run_opts *o)
{
	if (o->help) {
		usage(stdout, o->compat, true);
		return RC_OK;
	}
	if (o->version)
		return version(o->compat);
	if (o->info)
		return info(o);
	if (o->target.cmd && o->target.npid && !o->tool)
		return usage_error(o->compat, "USAGE: Cannot use both -c and -p.");
	if (o->compile.warnings > 1)
		return usage_error(o->compat,
				   "USAGE: -kk is no longer supported. Use a single -k instead.");
	if (o->output.format && !strcmp(o->output.format, "help")) {
		output_help();
		return RC_OK;
	}
	struct output out;
	struct err *e = o->live.on ? live_refuses(o) : NULL;
	if (!e)
		e = output_prepare(o, &out);
	if (e)
		return fail(e, RC_USAGE);
	if (o->nrecording)
		return run_query(o);
	if (o->fmt)
		return format_script(o);
	return o->list ? list(o) : run_script(o);
}

static int parse_and_run(struct run_opts *o, int argc, char **argv)
{
	static const char *const names[] = {
		[CMD_RUN] = "run",   [CMD_LIST] = "list",   [CMD_INFO] = "info",
		[CMD_FMT] = "--fmt", [CMD_QUERY] = "query", [CMD_LIVE] = "live"};
	struct err *e = opts_parse(o, argc, argv);
	if (o->live.on && o->nrecording && !o->program && !o->nrest)
		o->program = live_events;
	bool query = o->nrecording || (argc && command_named(argv[0]) == cmd_query);
	enum command what = o->live.on ? CMD_LIVE
			    : query    ? CMD_QUERY
			    : o->info  ? CMD_INFO
			    : o->fmt   ? CMD_FMT
			    : o->list  ? CMD_LIST
				       : CMD_RUN;
	if (!e && !o->help)
		e = live_board(o);
	if (!e && !o->help && !o->version)
		e = opts_check(o, what,
			       o->live.board                 ? "top"
			       : o->live.on && o->nrecording ? "live over a recording"
							     : names[what]);
	const char *use = argc && !o->compat ? command_use(argv[0]) : NULL;
	int rc = RC_OK;
	if (e)
		rc = usage_error(o->compat, "%s", e->msg);
	else if (o->help && use)
		opts_usage(stdout, what, use);
	else
		rc = run_command(o);
	err_free(e);
	free(o->rest);
	return rc;
}

int cmd_run(int argc, char **argv, bool compat)
{
	return parse_and_run(&(struct run_opts){.compat = compat}, argc, argv);
}

int cmd_run_in(const struct str *text, int argc, char **argv, struct live_chain *chain)
{
	return parse_and_run(&(struct run_opts){.text = text, .live.chain = chain}, argc, argv);
}

int cmd_top(int argc, char **argv, bool compat)
{
	struct script board = {.start.tool = STR("top")};
	board.source = (struct source){STR("top.bt"), embed_text(embed_find(STR(BOARD_OF_TOP)))};
	board.fixed = board.source.text.n;
	return parse_and_run(&(struct run_opts){.compat = compat,
						.tool = &board,
						.live = {.on = true, .board = true}},
			     argc, argv);
}

int cmd_list(int argc, char **argv, bool compat)
{
	return parse_and_run(&(struct run_opts){.compat = compat, .list = true}, argc, argv);
}

int cmd_info(int argc, char **argv, bool compat)
{
	return parse_and_run(&(struct run_opts){.compat = compat, .info = true}, argc, argv);
}

/*
 * Options and arguments of the script are values that the compiler knows, so with other ones the script that the file
 * carries is compiled anew, for this kernel.
 */
static int run_anew(struct run_opts *o, const struct aot *f)
{
	struct arena a = {0};
	struct host h;
	struct job j;
	if (!host_prepare(&h, &a, o)) {
		host_deinit(&h);
		arena_free(&a);
		return RC_USAGE;
	}
	job_prepare(&j, o, &(struct script){0}, &h);
	struct err *e = unit_read(&j.unit, &j.arena, &j.diags, &h, f->p, f->n);
	if (!e && !j.diags.nsource)
		e = err_new("compiled script: it has no text");
	if (!e) {
		o->program = arena_strz(&a, j.diags.source[0].text);
		o->compile.unsafe |= j.unit.config.unsafe;
	}
	job_free(&j);
	host_deinit(&h);
	int rc = e ? fail(e, RC_USAGE) : run_command(o);
	arena_free(&a);
	return rc;
}

/* The first argument that is a long option, and none of sonde's: with it those of the script begin. */
static int script_begins(int argc, char **argv)
{
	struct opt ours;
	int i = 1;
	while (i < argc && strcmp(argv[i], "--") &&
	       (strncmp(argv[i], "--", 2) || opts_named(argv[i], &ours)))
		i++;
	return i;
}

int run_aot(struct aot *f, int argc, char **argv)
{
	struct run_opts o = {0};
	int n = 0, from = script_begins(argc, argv), rc = RC_OK;
	AUTO_FREE char **args = xcalloc((size_t)argc + 2, sizeof(*args));
	char dashes[] = "--";
	for (int i = 0; i < argc; i++) {
		if (i == from && strcmp(argv[i], "--"))
			args[n++] = dashes;
		args[n++] = argv[i];
	}
	struct err *e = opts_parse(&o, n, args);
	bool other = o.program || o.list || o.target.npid || o.target.cmd || o.aot;
	if (e)
		rc = usage_error(false, "%s", e->msg);
	else if (other)
		rc = usage_error(false,
				 "this program is a script that was compiled already: it takes the "
				 "options and arguments of the script, and options for output");
	else if (o.help)
		usage(stdout, false, true);
	else if (o.version)
		rc = version(false);
	else
		rc = o.nrest ? run_anew(&o, f) : run_loaded(&o, f);
	err_free(e);
	free(o.rest);
	free(f->p);
	return rc;
}
