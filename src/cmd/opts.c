/* opts.c - what the options of run, list, info, --fmt, record, query, live and merge do. */
#include "answer/labels.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "proc/proc.h"
#include <regex.h>
#include <stdarg.h>

enum { MAX_PID = 0x400000 };

/* The commands that run() parses alike; opts_check() refuses what one of them does not accept. */
static const u32 parsed = 1 << CMD_RUN | 1 << CMD_LIST | 1 << CMD_INFO | 1 << CMD_FMT |
			  1 << CMD_RECORD | 1 << CMD_QUERY | 1 << CMD_LIVE | 1 << CMD_MERGE;

static const struct {
	const char *name;
	u32 dump; /* 0: the kernel's log, while running */
} stages[] = {
	{"all", DUMP_ALL},   {"ast", DUMP_AST},       {"types", DUMP_TYPES},
	{"plan", DUMP_PLAN}, {"ir", DUMP_IR},         {"regs", DUMP_REGS},
	{"bpf", DUMP_BPF},   {"codegen", DUMP_IR},    {"codegen-opt", DUMP_REGS},
	{"parse", DUMP_AST}, {"dis", DUMP_BPF},       {"libbpf", 0},
	{"verifier", 0},     {"script", DUMP_SCRIPT},
};

void usage(FILE *f, bool compat, bool all)
{
	const char *name = compat ? "bpftrace" : "sonde";
	fprintf(f,
		"USAGE:\n"
		"    %s [options] FILE [arguments]\n"
		"    %s [options] -e 'PROGRAM' [arguments]\n"
		"    %s [options] - [arguments]          (script on standard input)\n",
		name, name, name);
	if (!all) {
		fprintf(f, "    %s --help                           (all options)\n", name);
		return;
	}
	if (!compat) {
		fprintf(f,
			"    %s TOOL [options]                   (sonde tools lists them)\n"
			"    %s COMMAND [options]\n"
			"\nCOMMANDS:\n",
			name, name);
		commands_help(f);
	}
	struct option_table table;
	options_of(in(CMD_RUN), &table);
	options_help(table.row, f);
	fprintf(f,
		"\nEXAMPLES:\n"
		"    %s -l 'tracepoint:syscalls:sys_enter_*'\n"
		"    %s -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }'\n"
		"    %s -e 'tracepoint:syscalls:sys_exit_read { @bytes = hist(args.ret); }'\n",
		name, name, name);
}

int usage_error(bool compat, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputs("ERROR: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	usage(stderr, compat, false);
	return RC_USAGE;
}

static struct err *set_stages(struct run_opts *o, const char *val)
{
	struct str rest = str_z(val), name;
	while (str_cut(&rest, ',', &name)) {
		bool known = false;
		for (size_t i = 0; i < countof(stages); i++) {
			if (!str_is(name, stages[i].name))
				continue;
			known = true;
			o->dumps |= stages[i].dump;
			o->debug_log |= !stages[i].dump;
		}
		if (!known)
			return err_new("USAGE: invalid option for -d: %.*s", STRF(name));
	}
	return NULL;
}

static struct err *set_buffering(struct run_opts *o, const char *val)
{
	if (strcmp(val, "line") && strcmp(val, "full") && strcmp(val, "none"))
		return err_new("USAGE: -B must be either 'line', 'full', or 'none'.");
	o->view.buffering = val[0];
	return NULL;
}

static struct err *set_escape(struct run_opts *o, const char *val)
{
	val = val ? val : "always";
	if (strcmp(val, "always") && strcmp(val, "never") && strcmp(val, "auto"))
		return err_new("USAGE: --escape must be 'always', 'never' or 'auto' (got '%s')",
			       val);
	o->view.escape = !strcmp(val, "auto") ? ESCAPE_AUTO
			 : *val == 'a'        ? ESCAPE_ALWAYS
					      : ESCAPE_NEVER;
	return NULL;
}

static struct err *pid_parse(struct str word, u64 *pid)
{
	if (!word.n)
		return err_new("Failed to parse pid: it is empty");
	/* In scripts 010 is octal; who writes the id of a process does not mean that. */
	if (str_octal(word))
		return err_new("Failed to parse pid: %.*s begins with 0", STRF(word));
	if (!str_number(word, pid))
		return err_new("Failed to parse pid: invalid integer: %.*s", STRF(word));
	if (!*pid || *pid > MAX_PID)
		return err_new("Failed to parse pid: %.*s is out of range (1 to %u)", STRF(word),
			       MAX_PID);
	return NULL;
}

struct err *pids_parse(const char *val, u32 *v, u32 max, u32 *n)
{
	static const char between[] = ", \t\n"; /* as pidof writes them, too */
	u64 pid;
	for (const char *at = val + strspn(val, " \t\n"); at == val || *at;) {
		size_t bytes = strcspn(at, between);
		struct err *e = pid_parse(str_n(at, bytes), &pid);
		at += bytes + (at[bytes] == ',');
		at += strspn(at, " \t\n");
		if (e)
			return e;
		bool known = false;
		for (u32 i = 0; i < *n; i++)
			known |= v[i] == pid;
		if (known)
			continue;
		if (*n == max)
			return err_new("too many processes (%u at most)", max);
		v[(*n)++] = (u32)pid;
	}
	return NULL;
}

static struct err *set_pid(struct run_opts *o, const char *val)
{
	return pids_parse(val, (u32 *)o->target.pid, countof(o->target.pid), &o->target.npid);
}

static struct err *add_dwarf_pid(struct run_opts *o, const char *val)
{
	u64 pid;
	struct err *e = pid_parse(str_z(val), &pid);
	if (e)
		return e;
	if (o->target.ndwarf_pid == countof(o->target.dwarf_pid))
		return err_new("too many --dwarf-pid");
	if (!proc_alive((int)pid))
		return err_new("--dwarf-pid %s: this process does not exist", val);
	o->target.dwarf_pid[o->target.ndwarf_pid++] = (int)pid;
	return NULL;
}

static struct err *add_to(const char *list[16], u32 *n, const char *val, const char *name)
{
	if (*n == 16)
		return err_new("too many %s", name);
	list[(*n)++] = val;
	return NULL;
}

static struct err *set_for(struct run_opts *o, const char *val)
{
	if (!units_time(str_z(val), &o->limits.for_ns) || !o->limits.for_ns)
		return err_new("--for needs a time with its unit, as in 30s or 500ms (got '%s')",
			       val);
	return NULL;
}

struct err *take_budget(const char *val, u64 *ret)
{
	char *end;
	double percent = strtod(val, &end);
	bool good = *val >= '0' && *val <= '9' && percent > 0 && percent <= 100;
	*ret = good ? MAX((u64)(percent * 10000), 1ull) : 0;
	return good && !strcmp(end, "%") ? NULL
					 : err_new("--budget needs per cent of the machine's "
						   "processor time, as in 2%% or 0.5%% (got '%s')",
						   val);
}

static struct err *set_mode(struct run_opts *o, const char *val)
{
	if (!strcmp(val, "codegen"))
		o->codegen = true;
	else if (!strcmp(val, "compiler-bench"))
		o->compiler_bench = true;
	else if (!strcmp(val, "bench"))
		o->compile.bench = true;
	else if (!strcmp(val, "test"))
		o->compile.test = true;
	else if (!strcmp(val, "format"))
		o->fmt = true;
	else
		return err_new("USAGE: --mode can only be 'codegen', 'compiler-bench', 'bench', "
			       "'test' or 'format' (got '%s')",
			       val);
	return NULL;
}

static struct err *set_filter(struct run_opts *o, const char *val)
{
	char why[128];
	regex_t re;
	int no = regcomp(&re, val, REG_EXTENDED | REG_NOSUB);
	if (no) {
		regerror(no, &re, why, sizeof(why));
		return err_new("Invalid --probe-filter regex '%s': %s", val, why);
	}
	regfree(&re);
	o->compile.filter = val;
	return NULL;
}

static struct err *set_compat(struct run_opts *o, const char *val)
{
	struct config c = {0};
	o->compile.level = val;
	return config_compat(&c, str_z(val))
		       ? NULL
		       : err_new("USAGE: --compat must be '0.17' (got '%s')", val);
}

static struct err *set_program(struct run_opts *o, const char *val)
{
	if (o->program)
		return err_new("-e may be given once: put the probes into one program");
	o->program = val;
	return NULL;
}

static struct err *set_at(struct run_opts *o, const char *val)
{
	struct start_time t;
	struct err *e = take_start(val, &t);
	o->limits.at_ns = t.at_ns ? t.at_ns : clock_ns(CLOCK_REALTIME) + t.after_ns;
	return e;
}

static struct err *set_by(struct run_opts *o, const char *val)
{
	struct str key = str_z(val), kind;
	bool label = str_cut(&key, ':', &kind) && str_is(kind, "label") && labels_is_name(key);
	o->by_host = label || !strcmp(val, "host");
	o->by_label = label ? key.s : NULL;
	return o->by_host ? NULL : err_new("--by takes 'host' or 'label:KEY' (got '%s')", val);
}

static struct err *add_label(struct run_opts *o, const char *val)
{
	struct str rest = str_z(val), one;
	while (str_cut(&rest, ',', &one))
		if (!labels_is_label(one))
			return err_new("--label needs KEY=VALUE of letters, digits and ._-:@/%%+ "
				       "(got '%.*s')",
				       STRF(one));
	return add_to(o->label, &o->nlabel, val, "--label");
}

static struct err *set_strings(struct run_opts *o, const char *val)
{
	enum { MOST = 65536 };
	if (str_number(str_z(val), &o->compile.strings) && o->compile.strings >= 1 &&
	    o->compile.strings <= MOST)
		return NULL;
	return err_new("--strings needs a number of bytes, at most %d (got '%s')", MOST, val);
}

static struct err *set_of_live(struct live_spec *l, enum option_id id, const char *val)
{
	switch (id) {
	case OPT_TAKEOVER: return live_takeover(l, val);
	case OPT_EVERY: return live_every(l, val);
	case OPT_HISTORY: return live_history(l, val);
	case OPT_MEMORY: return live_memory(l, val);
	case OPT_VIEW: return live_set_view(l, val);
	case OPT_BOARD: l->board_file = val; break;
	case OPT_WEB:
		l->web = true;
		l->addr = val;
		break;
	case OPT_ASCII: l->ascii = true; break;
	case OPT_LIVE: l->on = true; break;
	default: assert(!"an option of these commands");
	}
	return NULL;
}

/* What only record or live accepts. */
static struct err *set_of_one(struct run_opts *o, enum option_id id, const char *val)
{
	switch (id) {
	case OPT_STRINGS: return set_strings(o, val);
	case OPT_DISK: return bounds_disk(&o->output.bounds, val);
	case OPT_KEEP: return bounds_keep(&o->output.bounds, val);
	case OPT_SPAN: return add_to(o->span, &o->nspan, val, "--span");
	case OPT_ON: return add_to(o->on, &o->non, val, "--on");
	case OPT_AFTER:
		o->output.bounds.has_after = true;
		return bounds_time("after", val, &o->output.bounds.after_ns);
	case OPT_QUIET_FOR:
		o->output.bounds.has_quiet = true;
		return bounds_time("quiet-for", val, &o->output.bounds.quiet_ns);
	case OPT_MAX_FILES: return bounds_files(&o->output.bounds, val);
	case OPT_DENY: o->compile.deny = val; break;
	case OPT_SET: o->sets = val; break;
	case OPT_STACKS: o->stacks = val; break;
	default: return set_of_live(&o->live, id, val);
	}
	return NULL;
}

static struct err *add_recording(struct run_opts *o, const char *val)
{
	if (o->nrecording == countof(o->recording))
		return err_new("too many recordings (%zu at most)", countof(o->recording));
	o->recording[o->nrecording++] = val;
	return NULL;
}

static struct err *set(void *self, int id, const char *val)
{
	struct run_opts *o = self;
	if (o->guest)
		return err_new("who asks an agent chooses no options of sonde behind the script");
	o->given[id] = true;
	switch ((enum option_id)id) {
	case OPT_PROGRAM: return set_program(o, val);
	case OPT_LIST: o->list = true; break;
	case OPT_VERBOSE: o->verbose++; break;
	case OPT_PID: return set_pid(o, val);
	case OPT_CMD: o->target.cmd = val; break;
	case OPT_FOLLOW: o->target.follow = true; break;
	case OPT_CGROUP: return add_to(o->target.cgroup, &o->target.ncgroup, val, "--cgroup");
	case OPT_CONTAINER:
		return add_to(o->target.container, &o->target.ncontainer, val, "--container");
	case OPT_DWARF_PID: return add_dwarf_pid(o, val);
	case OPT_OUTPUT: o->output.path = val; break;
	case OPT_APPEND: o->output.append = true; break;
	case OPT_AS_INVOKER: o->output.as_invoker = true; break;
	case OPT_FORMAT: o->output.format = val; break;
	case OPT_DIFF: o->output.diff = val; break;
	case OPT_JSON: o->output.format = "json"; break;
	case OPT_BUFFER: return set_buffering(o, val);
	case OPT_ESCAPE: return set_escape(o, val);
	case OPT_QUIET: o->view.quiet = true; break;
	case OPT_WARNINGS: o->compile.warnings++; break;
	case OPT_NO_WARN: o->compile.no_warn = true; break;
	case OPT_UNSAFE: o->compile.unsafe = true; break;
	case OPT_FOR: return set_for(o, val);
	case OPT_AT: return set_at(o, val);
	case OPT_BUDGET: return take_budget(val, &o->limits.budget);
	case OPT_COST: o->limits.cost = true; break;
	case OPT_DRY_RUN: o->dry_run = true; break;
	case OPT_DUMP: return set_stages(o, val);
	case OPT_AOT: o->aot = val; break;
	case OPT_MODE: return set_mode(o, val);
	case OPT_NO_FEATURE:
		return add_to(o->machine.no_feature, &o->machine.nno_feature, val, "--no-feature");
	case OPT_INCLUDE_DIR: return add_to(o->compile.inc_dir, &o->compile.ninc_dir, val, "-I");
	case OPT_INCLUDE_FILE:
		return add_to(o->compile.inc_file, &o->compile.ninc_file, val, "--include");
	case OPT_COMPAT: return set_compat(o, val);
	case OPT_TEST: o->compile.test = true; break;
	case OPT_BENCH: o->compile.bench = true; break;
	case OPT_FILTER: return set_filter(o, val);
	case OPT_TRACEABLE: o->machine.traceable = val; break;
	case OPT_DEBUGINFO:
		return add_to(o->machine.debug_dir, &o->machine.ndebug_dir, val, "--debuginfo");
	case OPT_EMIT_ELF: o->emit_elf = val; break;
	case OPT_EMIT_IR: o->emit_ir = val; break;
	case OPT_FMT: o->fmt = true; break;
	case OPT_INFO: o->info = true; break;
	case OPT_HELP: o->help = true; break;
	case OPT_VERSION: o->version = true; break;
	case OPT_ROOT: o->machine.root = val; break;
	case OPT_BTF: o->machine.btf = val ? val : o->machine.btf; break;
	case OPT_CHECK_IR: o->compile.check_ir = true; break;
	case OPT_RECORDING: return add_recording(o, val);
	case OPT_CPU: o->cpus = val; break;
	case OPT_BY: return set_by(o, val);
	case OPT_LABEL: return add_label(o, val);
	case OPT_PARTIAL: o->partial = true; break;
	case OPT_FROM: o->from = val; break;
	case OPT_TO: o->to = val; break;
	case OPT_ASKED: o->guest = o->compile.closed = true; break;
	case OPT_NOTHING: break;
	default: return set_of_one(o, (enum option_id)id, val);
	}
	return NULL;
}

/* What traces something is not accepted over a recording. */
static bool accepted(const struct run_opts *o, enum option_id id, enum command c)
{
	bool traces = option_accepted(id, CMD_RUN) && !option_accepted(id, CMD_QUERY);
	return option_accepted(id, c) && !(c == CMD_LIVE && o->nrecording && traces);
}

struct err *opts_check(const struct run_opts *o, enum command command, const char *name)
{
	struct option_table table;
	options_of(parsed, &table);
	for (const struct opt *t = table.row; t->id && !o->compat; t++) {
		if (!o->given[t->id] || accepted(o, (enum option_id)t->id, command))
			continue;
		if (t->name)
			return err_new("--%s means nothing to '%s'", t->name, name);
		return err_new("-%c means nothing to '%s'", t->shrt, name);
	}
	return NULL;
}

/* live and top: what only commands have that are given a script or a recording, and what only boards have. */
static void drop_other(struct option_table *table, bool top)
{
	struct opt *to = table->row;
	for (const struct opt *o = table->row; o->id; o++)
		if (top ? o->id != OPT_PROGRAM && o->id != OPT_FROM && o->id != OPT_TO
			: o->id != OPT_BOARD)
			*to++ = *o;
	*to = (struct opt){0};
}

void opts_usage(FILE *f, enum command command, const char *use)
{
	struct option_table table;
	options_of(in(command), &table);
	if (command == CMD_LIVE)
		drop_other(&table, !strncmp(use, "top", 3));
	fprintf(f, "USAGE:\n    sonde %s\n", use);
	options_help(table.row, f);
}

/* Our -b takes a file; bpftrace's takes none, and what is an option is no file's name. */
static void options_for(struct option_table *table, bool compat, int argc, char **argv)
{
	bool alone = compat;
	for (int i = 1; i < argc; i++)
		alone |= !strcmp(argv[i], "-b") && (i + 1 == argc || argv[i + 1][0] == '-');
	options_of(parsed, table);
	for (struct opt *t = table->row; t->id && alone; t++)
		t->arg = t->shrt == 'b' ? NULL : t->arg;
}

struct err *opts_parse(struct run_opts *o, int argc, char **argv)
{
	o->view.buffering = 'l';
	o->rest = xcalloc((size_t)argc + 1, sizeof(*o->rest));
	struct option_table table;
	options_for(&table, o->compat, argc, argv);
	return opt_parse(table.row, argc, argv, set, o, o->rest, &o->nrest, &o->ndash);
}

struct err *opts_take(struct run_opts *o, enum option_id id, const char *val)
{
	return set(o, id, val);
}

struct err *opts_set(struct run_opts *o, const char *name, const char *val)
{
	struct option_table table;
	options_of(parsed, &table);
	for (const struct opt *t = table.row; t->id; t++)
		if (t->name && !strcmp(t->name, name))
			return set(o, t->id, val);
	assert(!"an option of ours");
	return NULL;
}

bool opts_named(const char *word, struct opt *ret)
{
	struct option_table table;
	options_of(parsed, &table);
	const struct opt *o = opt_named(table.row, word);
	*ret = o ? *o : (struct opt){0};
	return o;
}

int opts_first_operand(int argc, char **argv)
{
	struct option_table table;
	options_for(&table, false, argc, argv);
	return opt_first_operand(table.row, argc, argv);
}
