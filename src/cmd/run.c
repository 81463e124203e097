/* run.c - the default command: compile a script, load it, print what it finds. */
#include "cmd/cmd.h"
#include "lang/fmt.h"
#include "run/session.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Whole file (or standard input) in the arena. */
static struct err *read_all(struct arena *a, const char *path, struct str *ret)
{
	bool in = !strcmp(path, "-");
	int fd AUTO_CLOSE = in ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (!in && fd < 0)
		return err_sys(errno, "failed to open file '%s'", path);
	AUTO_SB b = {0};
	for (;;) {
		sb_reserve(&b, 65536);
		ssize_t n = read(in ? STDIN_FILENO : fd, b.s + b.n, 65536);
		if (n < 0)
			return err_sys(errno, "failed to read '%s'", path);
		if (n == 0)
			break;
		b.n += (size_t)n;
		if (b.n > UINT32_MAX / 2)
			return err_new("'%s' is too long for a script", path);
	}
	*ret = arena_str(a, sb_str(&b));
	return NULL;
}

static int fail(struct err *e, int rc)
{
	fprintf(stderr, "ERROR: %s\n", e->msg);
	err_free(e);
	return rc;
}

bool script_read(const struct run_opts *o, struct arena *a, struct script *s)
{
	int first = o->program ? 0 : 1;
	if (o->program && *o->program)
		s->source = (struct source){STR("stdin"), str_z(o->program)};
	else if (o->program || !o->nrest)
		return usage_error(o->compat, "USAGE: filename or -e 'program' required."), false;
	if (!o->program) {
		bool in = !strcmp(o->rest[0], "-");
		s->source.name = in ? STR("stdin") : str_z(o->rest[0]);
		struct err *e = read_all(a, o->rest[0], &s->source.text);
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

static bool color_on(void)
{
	const char *want = getenv("BPFTRACE_COLOR");
	if (want && !strcmp(want, "always"))
		return true;
	return !(want && !strcmp(want, "never")) && isatty(STDERR_FILENO);
}

int format_script(const struct run_opts *o)
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
	struct comment *notes = NULL;
	struct node *tree = bt_parse_comments(&a, &ds, 0, &notes);
	AUTO_SB out = {0};
	if (!ds.nerror)
		bt_format(tree, s.source.text, notes, &out);
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

bool host_prepare(struct host *h, struct arena *a, const struct run_opts *o)
{
	struct err *e = o->root ? check_root(o->root) : NULL;
	host_init(h, a, o->root && !e ? o->root : "");
	const char *btf = o->btf || h->recorded ? o->btf : getenv("BPFTRACE_BTF");
	if (e)
		return fail(e, 0), false;
	e = btf ? host_use_btf(h, btf) : NULL;
	if (e)
		return fail(err_wrap(e, "--btf: "), 0), false;
	for (u32 i = 0; i < o->nno_feature; i++) {
		struct str rest = str_z(o->no_feature[i]), name;
		while (str_cut(&rest, ',', &name)) {
			if (host_disable(h, name) || str_is(name, "kprobe_session"))
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
		.arena = &j->arena,
		.source = &s->source,
		.nsource = 1,
		.no_warn = o->no_warn,
		.codes = getenv("SONDE_CODES") != NULL,
	};
	j->unit = (struct unit){.arena = &j->arena, .diags = &j->diags, .host = h};
	config_init(&j->unit.config);
	if (o->level)
		config_compat(&j->unit.config, str_z(o->level));
	j->unit.config.unsafe = o->unsafe;
	j->unit.config.test = o->test;
	j->unit.config.bench = o->bench;
	j->unit.config.warnings = o->warnings != 0;
	j->c = (struct compile){.unit = &j->unit,
				.params = s->params,
				.nparam = s->nparam,
				.opts = s->opts,
				.nopt = s->nopt};
	j->c.headers = (struct headers){
		.script = str_is(s->source.name, "stdin") ? STR("") : s->source.name,
		.dir = o->inc_dir,
		.file = o->inc_file,
		.ndir = o->ninc_dir,
		.nfile = o->ninc_file,
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

static bool has_code(const struct diags *ds, enum diag_code code)
{
	for (const struct diag *d = ds->head; d; d = d->next)
		if (d->code == code)
			return true;
	return false;
}

static const struct sink *sink_find(const char *name)
{
	for (const struct sink *const *s = sinks; *s; s++)
		if (!strcmp((*s)->name, name))
			return *s;
	return NULL;
}

static int bad_format(const struct run_opts *o)
{
	fprintf(stderr, "ERROR: Invalid output format \"%s\"\nValid formats:", o->format);
	for (const struct sink *const *s = sinks; *s; s++)
		fprintf(stderr, "%s '%s'", s == sinks ? "" : ",", (*s)->name);
	fputc('\n', stderr);
	return RC_USAGE;
}

/* The loaded unit's life: output opened, session run, output closed. */
static int run_session(const struct run_opts *o, struct job *j, struct session *s)
{
	const struct sink *sink = sink_find(o->format);
	int fd AUTO_CLOSE = -1;
	if (o->output) {
		fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (fd < 0)
			return fail(err_sys(errno, "Failed to open output file '%s'", o->output),
				    RC_USAGE);
	}
	struct sink_env env = {
		.out = fd >= 0 ? fd : STDOUT_FILENO,
		.err = STDERR_FILENO,
		.buffering = o->buffering,
		.diags = &j->diags,
		.trailer = j->unit.config.str_trunc_trailer,
		.quiet = o->quiet,
		.old = j->unit.config.compat,
	};
	void *self AUTO_FREE = calloc(1, sink->size + 1);
	struct err *e = self ? sink->open(self, &env) : err_sys(ENOMEM, "open output");
	if (e)
		return fail(e, RC_USAGE);
	int rc = session_run(s, &j->unit, sink, self);
	e = sink->close(self);
	if (e && e->no == EPIPE) { /* nobody reads any more: "| head" */
		err_free(e);
		return rc;
	}
	return e ? fail(e, rc ? rc : RC_USAGE) : rc;
}

static int compile_rc(const struct job *j)
{
	return has_code(&j->diags, E_CONFIG) ? RC_CONFIG : RC_USAGE;
}

/*
 * Compile, load and run. When the kernel refuses the clever form of a program, or the clever way to
 * attach it, once more with the plain one (again is true then, and nothing was reported).
 */
static int attempt(const struct run_opts *o, struct job *j, struct session *s, bool plain,
		   bool *again)
{
	*again = false;
	j->unit.config.plain = plain;
	if (!compile(&j->c, STAGE_ALL, o->dumps)) {
		job_report(j);
		return compile_rc(j);
	}
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
	struct err *e = NULL;
	if (!session_load(s, &j->unit, &e)) {
		*again = !plain && !e && has_code(&j->diags, E_VERIFIER);
		if (*again)
			return RC_LOAD;
		job_report(j);
		return e ? fail(e, RC_LOAD) : RC_LOAD;
	}
	if (!s->told)
		job_report(j);
	s->told = true;
	int rc = run_session(o, j, s);
	*again = s->again && !plain;
	if (*again)
		session_reset(s);
	return rc;
}

static int run_script(const struct run_opts *o)
{
	struct arena a = {0};
	struct script script = {0};
	struct host h;
	struct session s = {.sig_fd = -1, .epoll_fd = -1};
	int rc = RC_USAGE;
	if (!script_read(o, &a, &script))
		goto out;
	if (!host_prepare(&h, &a, o))
		goto out_host;
	s.h = &h;
	struct session_opts so = {
		.cmd = o->cmd,
		.pid = o->pid,
		.npid = o->npid,
		.verbose = o->verbose + o->debug_log,
		.dry_run = o->dry_run,
		.quiet = o->quiet,
	};
	struct scope scope;
	struct err *e = session_target(&s, &so);
	if (!e)
		e = scope_prepare(o, &h, s.child.pid, &scope);
	if (e) {
		fail(e, rc);
		goto out_session;
	}
	bool again = true;
	for (int plain = 0; again && plain < 2; plain++) {
		struct job j;
		job_init(&j, o, &script, &h);
		j.unit.pid = scope.nviewer ? scope.viewer[0] : 0;
		j.unit.scope = scope;
		j.unit.cpid = (u64)s.child.pid;
		j.unit.program = s.child.path;
		j.unit.dwarf_pid = o->dwarf_pid;
		j.unit.ndwarf_pid = o->ndwarf_pid;
		rc = attempt(o, &j, &s, plain, &again);
		if (again && o->verbose)
			fputs("The kernel refused the program or its probe; trying a plainer "
			      "form.\n",
			      stderr);
		if (!again)
			session_free(&s);
		job_free(&j);
	}
	goto out_host;
out_session:
	session_free(&s);
out_host:
	host_deinit(&h);
out:
	arena_free(&a);
	return rc;
}

static int command(const struct run_opts *o)
{
	if (o->help) {
		usage(stdout, o->compat, true);
		return RC_OK;
	}
	if (o->version)
		return version(o->compat);
	if (o->info)
		return info(o);
	if (o->cmd && o->npid)
		return usage_error(o->compat, "USAGE: Cannot use both -c and -p.");
	if (o->warnings > 1)
		return usage_error(o->compat,
				   "USAGE: -kk is no longer supported. Use a single -k instead.");
	if (!sink_find(o->format))
		return bad_format(o);
	if (o->fmt)
		return format_script(o);
	return o->list ? list(o) : run_script(o);
}

int cmd_run(int argc, char **argv, bool compat)
{
	struct run_opts o = {.compat = compat};
	struct err *e = opts_parse(&o, argc, argv);
	int rc = e ? usage_error(compat, "%s", e->msg) : command(&o);
	err_free(e);
	free(o.rest);
	return rc;
}
