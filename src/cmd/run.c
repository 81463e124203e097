/* run.c - the default command: compile a script, load it, print what it finds. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "cmd/tool.h"
#include "core/unitfile.h"
#include "proc/proc.h"
#include "run/query.h"
#include "run/session.h"
#include "types/debuginfod.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

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
		struct err *e = script_file(a, o->rest[0], &s->source.text);
		if (e && e->no == ENOENT && !o->compat && is_word(o->rest[0])) {
			err_free(e);
			e = no_such_name(a, o->rest[0]);
		}
		if (e)
			return fail(e, 0), false;
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

static struct err *check_root(const char *root)
{
	enum { MAX_ROOT = 1024 };
	struct stat st;
	if (strlen(root) > MAX_ROOT)
		return err_new("--root: path is too long: %.60s...", root);
	if (stat(root, &st))
		return err_sys(errno, "--root: look for %s", root);
	return S_ISDIR(st.st_mode) ? NULL : err_new("--root: %s is not a directory", root);
}

/* Who asks for debug information from servers wants to know why none would come. */
static struct err *check_servers(struct arena *a, struct str dirs)
{
	struct str dir;
	const char *urls = getenv("DEBUGINFOD_URLS");
	bool asked = false;
	while (str_cut(&dirs, ':', &dir))
		asked |= debuginfod_is(dir);
	if (!asked)
		return NULL;
	if (!urls || !*urls)
		return err_new("--debuginfo debuginfod: DEBUGINFOD_URLS is not set; it names the "
			       "servers (sudo -E keeps it)");
	if (!proc_which(a, DEBUGINFOD_PROGRAM))
		return err_new("--debuginfo debuginfod: there is no " DEBUGINFOD_PROGRAM
			       " here (package debuginfod, or elfutils)");
	return NULL;
}

bool host_prepare(struct host *h, struct arena *a, const struct run_opts *o)
{
	if (o->nrecording) {
		struct err *e = query_machine(o, h, a);
		if (e)
			fail(e, 0);
		return !e;
	}
	struct err *e = o->root ? check_root(o->root) : NULL;
	host_init(h, a, o->root && !e ? o->root : "");
	h->vmlinux = getenv("BPFTRACE_VMLINUX");
	const char *btf = o->btf || h->recorded ? o->btf : getenv("BPFTRACE_BTF");
	if (e)
		return fail(e, 0), false;
	e = btf ? host_use_btf(h, btf) : NULL;
	if (e)
		return fail(err_wrap(e, o->btf ? "--btf: " : "BPFTRACE_BTF: "), 0), false;
	e = o->traceable ? host_use_functions(h, o->traceable) : NULL;
	if (e)
		return fail(err_wrap(e, "--traceable-functions: "), 0), false;
	AUTO_SB dirs = {0};
	for (u32 i = 0; i < o->ndebug_dir; i++)
		sb_fmt(&dirs, "%s%s", i ? ":" : "", o->debug_dir[i]);
	h->debug_dirs = o->ndebug_dir ? arena_strz(a, sb_str(&dirs)) : NULL;
	e = check_servers(a, sb_str(&dirs));
	if (e)
		return fail(e, 0), false;
	for (u32 i = 0; i < o->nno_feature; i++) {
		struct str rest = str_z(o->no_feature[i]), name;
		while (str_cut(&rest, ',', &name)) {
			if (!name.n || host_disable(h, name) || str_is(name, "kprobe_session"))
				continue;
			fprintf(stderr,
				"ERROR: --no-feature: unknown feature '%.*s' (names: sonde info)\n",
				STRF(name));
			return false;
		}
	}
	return true;
}

void job_init(struct job *j, const struct run_opts *o, const struct script *s, struct host *h)
{
	*j = (struct job){0};
	j->diags = (struct diags){
		.near = arena_new(&j->arena, struct diag_near),
		.arena = &j->arena,
		.source = &s->source,
		.nsource = 1,
		.no_warn = o->no_warn,
		.codes = getenv("SONDE_CODES") != NULL,
	};
	j->diags.nfixed = s->fixed;
	j->diags.unseen = s->fixed && !o->verbose && !o->dumps;
	j->unit = (struct unit){0};
	config_init(&j->unit.config);
	if (o->level)
		config_compat(&j->unit.config, str_z(o->level));
	j->unit.config.match = s->match;
	j->unit.config.events = s->events;
	j->unit.config.unsafe = o->unsafe;
	j->unit.config.test = o->test;
	j->unit.config.bench = o->bench;
	if (o->strings)
		j->unit.config.max_strlen = o->strings;
	j->unit.config.warnings = o->warnings != 0;
	j->unit.config.no_warnings = o->no_warn;
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
				.check_ir = o->check_ir || o->dumps,
				.filter = o->filter};
	j->c.headers = (struct headers){
		.script = str_is(s->source.name, "stdin") ? STR("") : s->source.name,
		.dir = o->inc_dir,
		.file = o->inc_file,
		.ndir = o->ninc_dir,
		.nfile = o->ninc_file,
		.path = getenv("CPATH") ? str_z(getenv("CPATH")) : STR(""),
		.source = getenv("BPFTRACE_KERNEL_SOURCE"),
		.build = getenv("BPFTRACE_KERNEL_BUILD"),
	};
}

void job_free(struct job *j)
{
	for (u32 i = 0; j->c.fn && i < j->unit.nprog; i++)
		ir_fn_free(j->c.fn[i]);
	cfiles_close(&j->c);
	arena_free(&j->c.scratch);
	arena_free(&j->arena);
}

void job_report(const struct job *j)
{
	fflush(stdout);
	diags_print(&j->diags, stderr, color_on());
}

bool escaped(const struct run_opts *o, int fd)
{
	return o->escape == ESCAPE_AUTO ? isatty(fd) : o->escape == ESCAPE_ALWAYS;
}

/* Refuse a script that has nothing which the format of -f, or of the ending of -o, can show. */
static struct err *check_output(const struct run_opts *o, const struct unit *u)
{
	AUTO_SB asked = {0};
	struct output out;
	struct err *e = output_choose(o, &out);
	bool keeps = false;
	for (u32 i = 0; i < u->nschema; i++)
		keeps |= u->schema[i]->kept != NULL;
	if (!e && keeps && (o->aot || !out.sink->keeps))
		return err_new("keep() writes to a recording: use sonde record -o FILE");
	if (!e && u->snapshots && !o->bounds.keep_bytes)
		return err_new("snapshot() writes what --keep holds: sonde record --keep 60s,200M");
	if (!e && !keeps && out.sink->keeps)
		return err_new("nothing would be recorded: the script does not call keep()");
	if (e || o->aot || !out.sink->why_not)
		return e;
	if (o->format)
		sb_fmt(&asked, "-f %s", out.sink->name);
	else
		sb_fmt(&asked, "-o %s (format %s)", o->output, out.sink->name);
	return sink_suits(out.sink, asked.s, o->tool ? o->tool->start.tool : STR(""), u);
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
	if (o->cmd)
		v[(*n)++] = (struct sink_fact){STR("command"), str_z(o->cmd)};
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
		if (o->cmd)
			sb_fmt(&b, " -c '%s'", o->cmd);
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

/* The loaded unit's life: output opened, session run, output closed. */
static int run_session(const struct run_opts *o, struct job *j, struct session *s, bool *otherwise)
{
	struct output out;
	struct err *e = output_choose(o, &out);
	out.parts = o->bounds.disk || o->bounds.keep_bytes;
	if (!e)
		e = output_open(&out);
	if (e)
		return fail(e, RC_USAGE);
	struct str trailer = j->unit.config.str_trunc_trailer;
	bool to_err = j->unit.config.text_to_stderr && out.sink == sink_named(STR("text"));
	struct sink_env env = {
		.out = out.fd >= 0 ? out.fd
		       : to_err    ? STDERR_FILENO
				   : STDOUT_FILENO,
		.err = STDERR_FILENO,
		.buffering = o->buffering,
		.diags = &j->diags,
		.signals = &s->loop.signals,
		.quiet = o->quiet,
		.tool = o->tool && o->tool->start.tool.n,
		.old = j->unit.config.compat,
		.wide = o->wide,
		.scroll = o->scroll,
		.no_load = o->no_load,
		.what = what_runs(&j->arena, o),
		.where = where_it_runs(&j->arena, o),
	};
	if (out.sink->keeps) {
		env.bounds = &o->bounds;
		env.path = out.path;
		env.unit = &j->unit;
		env.fact = facts(&j->arena, o, s->h, &env.nfact);
	}
	env.how = (struct show){trailer, escaped(o, env.out)};
	env.how_remarks = (struct show){trailer, escaped(o, env.err)};
	void *self AUTO_FREE = xcalloc(1, out.sink->size + 1);
	e = out.sink->open(self, &env, out.opts);
	if (e) {
		err_free(output_close(&out, false));
		return fail(e, RC_USAGE);
	}
	s->limits.as_invoker = out.as_invoker;
	s->limits.parts = out.parts;
	s->limits.renames = out.fd >= 0 && out.sink->whole;
	int rc = session_run(s, out.sink, self, otherwise);
	e = out.sink->close(self);
	struct err *late = output_close(&out, !e);
	if (e)
		err_free(late);
	else
		e = late;
	if (e && e->no == EPIPE) { /* nobody reads any more: "| head" */
		err_free(e);
		return rc;
	}
	return e ? fail_late(&s->loop.signals, e, rc ? rc : RC_USAGE) : rc;
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

/*
 * When the kernel refuses a program or its probe, all is done once more with the next way to attach
 * it; after the last, with plainer code.
 */
struct attempts {
	refusals refused;
	bool warned; /* the compiler's warnings are out */
	bool retry;  /* refused, and nothing was reported */
};

/* Of the programs that were not loaded, those that can be tried in another form. */
static void try_others(struct attempts *t, const struct session *s)
{
	for (u32 i = 0; i < s->u->nprog; i++) {
		const struct prog *p = s->u->prog[i];
		if (live_prog(&s->live, p) >= 0)
			continue;
		if (p->sleeps) {
			refuse_sleep(&t->refused, p->points);
			t->retry = true;
		} else {
			t->retry |= refuse(&t->refused, p->points, true);
		}
	}
}

static int load_and_run(const struct run_opts *o, struct job *j, struct session *s,
			struct attempts *t)
{
	struct err *e = NULL;
	if (!session_load(s, &j->diags, &e)) {
		if (!e)
			try_others(t, s);
		if (t->retry)
			return RC_LOAD;
		job_report(j);
		return e ? fail(e, RC_LOAD) : RC_LOAD;
	}
	if (!t->warned)
		job_report(j);
	t->warned = true;
	if (o->aot) {
		e = aot_write(o->aot, &j->unit, &j->diags);
		return e ? fail(e, RC_USAGE) : RC_OK;
	}
	bool otherwise = false;
	int rc = run_session(o, j, s, &otherwise);
	if (otherwise)
		t->retry = refuse(&t->refused, s->attach.refused->points, false);
	return rc;
}

static int run_unit(const struct run_opts *o, struct job *j, struct target *target,
		    struct attempts *t)
{
	struct session s = {
		.u = &j->unit,
		.h = j->c.host,
		.target = target,
		.loop = {.epoll_fd = -1, .signals = SIGNALS_NONE},
		.verbose = o->verbose + o->debug_log,
		.dry_run = o->dry_run || o->aot,
		.limits = o->limits,
	};
	struct err *e = check_output(o, &j->unit);
	if (e) {
		job_report(j);
		return fail(e, RC_USAGE);
	}
	if (o->tool)
		s.start = o->tool->start;
	struct query *q = j->c.host->query;
	if (q && !query_check(q, &j->unit, &j->diags)) {
		job_report(j);
		return RC_USAGE;
	}
	if (q)
		query_enter(q, &s);
	int rc = load_and_run(o, j, &s, t);
	session_free(&s);
	return rc;
}

static int compile_and_run(const struct run_opts *o, struct job *j, struct target *target,
			   struct attempts *t)
{
	struct watch w = {.emit_ir = o->emit_ir};
	if (!compile(&j->c, STAGE_ALL, o->dumps, &w)) {
		job_report(j);
		err_free(w.e);
		return compile_rc(o, j);
	}
	struct err *e = w.e;
	if (!e && o->emit_elf)
		e = object_write(o->emit_elf, &j->unit);
	if (e)
		return fail(e, RC_USAGE);
	if (j->c.help) {
		AUTO_SB known = {0};
		sema_print_options(&j->c, &known);
		job_report(j);
		fprintf(stderr, "HINT: expected program options:%s\n", known.s);
		return RC_USAGE;
	}
	if (o->codegen || (o->dumps && !o->debug_log)) {
		job_report(j);
		return RC_OK;
	}
	if (!j->unit.nprog) {
		job_report(j);
		const char *opt = j->unit.skipped;
		if (opt) {
			fprintf(stderr, "ERROR: No probes attached; use --%s to run %s probes.\n",
				opt, opt);
			return RC_LOAD;
		}
		puts("No probes to attach");
		return RC_USAGE;
	}
	return run_unit(o, j, target, t);
}

static int run_loaded(const struct run_opts *o, const struct aot *f)
{
	struct arena a = {0};
	struct host h;
	struct job j;
	struct target target = TARGET_NONE;
	int rc = RC_USAGE;
	struct output out;
	struct err *e = output_choose(o, &out);
	if (!e && !host_prepare(&h, &a, o))
		goto out;
	if (e) {
		arena_free(&a);
		return fail(e, rc);
	}
	job_init(&j, o, &(struct script){0}, &h);
	e = aot_load(f, &j.unit, &j.arena, &j.diags, &h);
	struct attempts t = {0};
	rc = e ? fail(e, rc) : run_unit(o, &j, &target, &t);
	if (t.retry) { /* it was compiled to one form */
		job_report(&j);
		fputs("ERROR: this kernel refuses a form that the script was compiled to\n",
		      stderr);
		rc = RC_LOAD;
	}
	vec_free(&t.refused);
	job_free(&j);
	target_close(&target);
out:
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
		job_init(&j, o, script, h);
		bool ok = compile(&j.c, STAGE_ALL, 0, &w);
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
	struct scope scope;
	struct login login;
	struct err *e = o->as_user ? proc_login(&h, o->as_user, &login) : NULL;
	if (!e)
		e = target_open(&target, o->cmd, o->as_user ? &login : NULL, o->pid, o->npid);
	if (!e)
		e = scope_prepare(o, &h, o->machine ? 0 : target.child.pid, &scope);
	if (e) {
		fail(e, rc);
		goto out_target;
	}
	struct attempts t = {.retry = true};
	while (t.retry) {
		struct job j;
		t.retry = false;
		job_init(&j, o, &script, &h);
		j.unit.refused = (struct refused){t.refused.v, t.refused.n};
		j.unit.pid = scope.nviewer ? scope.viewer[0] : 0;
		j.unit.scope = h.query ? query_scope(h.query) : scope;
		j.unit.cpid = (u64)target.child.pid;
		j.unit.self_pid = h.query                              ? query_self_pid(h.query)
				  : proc_own_ns(&h, &(struct stat){0}) ? 0
								       : (u64)getpid();
		j.unit.program = target.child.path;
		j.unit.dwarf_pid = o->dwarf_pid;
		j.unit.ndwarf_pid = o->ndwarf_pid;
		rc = compile_and_run(o, &j, &target, &t);
		if (t.retry && o->verbose)
			fputs("The kernel refused the program or its probe; trying the next "
			      "form.\n",
			      stderr);
		job_free(&j);
	}
	vec_free(&t.refused);
out_target:
	target_close(&target);
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
	for (; q.nasked < q.npid && q.nasked < countof(q.asked); q.nasked++)
		q.asked[q.nasked] = q.pid[q.nasked];
	q.npid = 0;
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
	if (o->cmd && o->npid && !o->tool)
		return usage_error(o->compat, "USAGE: Cannot use both -c and -p.");
	if (o->warnings > 1)
		return usage_error(o->compat,
				   "USAGE: -kk is no longer supported. Use a single -k instead.");
	if (o->format && !strcmp(o->format, "help")) {
		output_help();
		return RC_OK;
	}
	struct output out;
	struct err *e = output_choose(o, &out);
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
	static const char *const names[] = {[CMD_RUN] = "run",
					    [CMD_LIST] = "list",
					    [CMD_INFO] = "info",
					    [CMD_FMT] = "--fmt",
					    [CMD_QUERY] = "query"};
	struct err *e = opts_parse(o, argc, argv);
	bool query = o->nrecording || (argc && command_named(argv[0]) == cmd_query);
	enum command what = query     ? CMD_QUERY
			    : o->info ? CMD_INFO
			    : o->fmt  ? CMD_FMT
			    : o->list ? CMD_LIST
				      : CMD_RUN;
	if (!e && !o->help && !o->version)
		e = opts_check(o, what, names[what]);
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
	job_init(&j, o, &(struct script){0}, &h);
	struct err *e = unit_read(&j.unit, &j.arena, &j.diags, &h, f->p, f->n);
	if (!e && !j.diags.nsource)
		e = err_new("compiled script: it has no text");
	if (!e) {
		o->program = arena_strz(&a, j.diags.source[0].text);
		o->unsafe |= j.unit.config.unsafe;
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
	int i = 1;
	while (i < argc && strcmp(argv[i], "--") &&
	       (strncmp(argv[i], "--", 2) || opts_named(argv[i])))
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
	bool other = o.program || o.list || o.npid || o.cmd || o.aot;
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
