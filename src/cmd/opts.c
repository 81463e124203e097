/* opts.c - the options of run and list. */
#include "base/alloc.h"
#include "base/opt.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "proc/proc.h"
#include <regex.h>
#include <stdarg.h>

enum { MAX_PID = 0x400000 };

enum opt_id {
	OPT_PROGRAM = 1,
	OPT_LIST,
	OPT_VERBOSE,
	OPT_PID,
	OPT_CMD,
	OPT_FOLLOW,
	OPT_CGROUP,
	OPT_CONTAINER,
	OPT_DWARF_PID,
	OPT_OUTPUT,
	OPT_APPEND,
	OPT_AS_INVOKER,
	OPT_FORMAT,
	OPT_JSON,
	OPT_DIFF,
	OPT_BUFFER,
	OPT_ESCAPE,
	OPT_QUIET,
	OPT_WARNINGS,
	OPT_NO_WARN,
	OPT_UNSAFE,
	OPT_DRY_RUN,
	OPT_FOR,
	OPT_BUDGET,
	OPT_COST,
	OPT_DUMP,
	OPT_AOT,
	OPT_MODE,
	OPT_NO_FEATURE,
	OPT_INCLUDE_DIR,
	OPT_INCLUDE_FILE,
	OPT_COMPAT,
	OPT_TEST,
	OPT_BENCH,
	OPT_FILTER,
	OPT_TRACEABLE,
	OPT_DEBUGINFO,
	OPT_EMIT_ELF,
	OPT_EMIT_IR,
	OPT_FMT,
	OPT_INFO,
	OPT_HELP,
	OPT_VERSION,
	OPT_ROOT,
	OPT_BTF,
	OPT_CHECK_IR,
	OPT_RECORDING,
	OPT_FROM,
	OPT_TO,
	OPT_SET,
	OPT_STACKS,
	OPT_NOTHING,
	/* Of record alone. */
	OPT_OF_RECORD = 64,
	OPT_STRINGS = OPT_OF_RECORD,
	OPT_DISK,
	OPT_KEEP,
	OPT_ON,
	OPT_AFTER,
	OPT_QUIET_FOR,
	OPT_MAX_FILES,
};

static const struct opt options[] = {
	{NULL, 'e', "PROGRAM", "the script itself", OPT_PROGRAM},
	{"list", 'l', NULL, "list probes that match the operand (default: all), or a script's",
	 OPT_LIST},
	{"verbose", 'v', NULL, "say more: what programs cost the verifier, its log; -l: arguments",
	 OPT_VERBOSE},
	{"pid", 'p', "PID,...", "trace these processes only, until they end", OPT_PID},
	{"cmd", 'c', "CMD", "run CMD and trace it until it ends", OPT_CMD},
	{"follow", 0, NULL, "children of -p and -c, too, and theirs", OPT_FOLLOW},
	{"cgroup", 0, "DIR", "only processes in this control group or below", OPT_CGROUP},
	{"container", 0, "NAME", "only processes of this container (name or id)", OPT_CONTAINER},
	{"dwarf-pid", 0, "PID",
	 "make this process's unwind tables before tracing, as for -p; may be repeated",
	 OPT_DWARF_PID},
	{"output", 'o', "FILE", "write results to FILE", OPT_OUTPUT},
	{"append", 0, NULL, "write behind what FILE of -o has", OPT_APPEND},
	{"as-invoker", 0, NULL, "write FILE with the rights of the user who called sudo",
	 OPT_AS_INVOKER},
	{NULL, 'f', "FORMAT[:OPT,...]", NULL, OPT_FORMAT}, /* help: of the table of formats */
	{"json", 0, NULL, "the same as -f json", OPT_JSON},
	{"diff", 0, "FILE", "-f flame: what changed since these folded stacks", OPT_DIFF},
	{NULL, 'B', "MODE", "buffer the output by line (default), full or none", OPT_BUFFER},
	{"escape", 0, "[=WHEN]",
	 "control characters of what was traced as \\xNN: always, never, or auto (default: on a "
	 "terminal)",
	 OPT_ESCAPE},
	{"quiet", 'q', NULL, "no message when attached", OPT_QUIET},
	{"warnings", 'k', NULL, "warn of reads and map operations that fail while running",
	 OPT_WARNINGS},
	{"no-warnings", 0, NULL, "no warnings about the script", OPT_NO_WARN},
	{"unsafe", 0, NULL, "allow functions that change the system", OPT_UNSAFE},
	{"for", 0, "TIME", "end after so long: 30s, 5m", OPT_FOR},
	{"budget", 0, "N%", "stop when tracing takes more of the machine's processor time",
	 OPT_BUDGET},
	{"cost", 0, NULL, "tell at the end what tracing took, by probe", OPT_COST},
	{"dry-run", 0, NULL, "attach everything, then leave", OPT_DRY_RUN},
	{"debug", 'd', "STAGE,...",
	 "print the program after ast, types, plan, ir, regs, bpf or all, or the script of a tool",
	 OPT_DUMP},
	{"aot", 0, "FILE", "write the compiled script as a program, do not run it", OPT_AOT},
	{"mode", 0, "MODE", "codegen: compile only; compiler-bench, test, bench, format", OPT_MODE},
	{"emit-elf", 0, "FILE", "also write the programs as an ELF object", OPT_EMIT_ELF},
	{"emit-llvm", 0, "FILE", "also write the IR: FILE.original.ir, FILE.optimized.ir",
	 OPT_EMIT_IR},
	{"no-feature", 0, "NAME,...", "do without a feature of the kernel (names: --info)",
	 OPT_NO_FEATURE},
	{NULL, 'I', "DIR", "look for #include files in DIR first", OPT_INCLUDE_DIR},
	{"include", 0, "FILE", "#include FILE before the script", OPT_INCLUDE_FILE},
	{"compat", 0, "0.17", "scripts mean what they meant then: variables of a whole probe ...",
	 OPT_COMPAT},
	{"test", 0, NULL, "run the script's test: probes", OPT_TEST},
	{"bench", 0, NULL, "run the script's bench: probes, and tell how long they take",
	 OPT_BENCH},
	{"probe-filter", 0, "REGEX", "only probes whose name this extended expression matches",
	 OPT_FILTER},
	{"traceable-functions", 0, "FILE",
	 "kernel functions that may be traced, as in available_filter_functions", OPT_TRACEABLE},
	{"debuginfo", 0, "DIR[:DIR]",
	 "look for separate debug information there, too; debuginfod: ask servers", OPT_DEBUGINFO},
	{"set", 0, "NAME,...",
	 "record these events: syscalls, sched, disk, net, faults, samples=99", OPT_SET},
	{"stacks", 0, "WHICH", "user, kernel or both, with each event of a PROBE or a set",
	 OPT_STACKS},
	{"strings", 0, "N", "keep at most N bytes of a text (default: 1024)", OPT_STRINGS},
	{"disk", 0, "SIZE", "write numbered segments, and remove the oldest: at most SIZE (2G)",
	 OPT_DISK},
	{"keep", 0, "TIME,SIZE",
	 "keep the last TIME in at most SIZE of memory (60s,200M), for snapshots on --on and "
	 "SIGUSR2",
	 OPT_KEEP},
	{"on", 0, "WHAT",
	 "write a snapshot: oom, stall=200ms, or a script that calls snapshot(\"why\")", OPT_ON},
	{"after", 0, "TIME", "go on so long before a snapshot is written (5s)", OPT_AFTER},
	{"quiet-for", 0, "TIME", "at most one snapshot in this time (default: 1m)", OPT_QUIET_FOR},
	{"max-files", 0, "N", "keep N snapshots of this run, the last ones (default: 10)",
	 OPT_MAX_FILES},
	{"fmt", 0, NULL, "print the script in its canonical layout", OPT_FMT},
	{"info", 0, NULL, "what this machine can do", OPT_INFO},
	/* Without a file it is an old option that means nothing. */
	{"btf", 0, "[=FILE]", "types of the kernel from this BTF file", OPT_BTF},
	{NULL, 'b', "FILE", "the same; before another option it is --btf", OPT_BTF},
	{"root", 0, "DIR", "compile for the machine recorded in DIR", OPT_ROOT},
	{"help", 'h', NULL, "this text", OPT_HELP},
	{"version", 'V', NULL, "version", OPT_VERSION},
	{"verify-llvm-ir", 0, NULL, NULL, OPT_CHECK_IR}, /* after each pass, not only the last */
	/* Of query, which makes options of its operands. */
	{"recording", 0, "FILE", NULL, OPT_RECORDING},
	{"from", 0, "TIME", "events from this time after the start on: 5s, 500ms", OPT_FROM},
	{"to", 0, "TIME", "events until this time after the start", OPT_TO},
	/* Accepted, without effect. */
	{"usdt-file-activation", 0, NULL, NULL, OPT_NOTHING}, /* always so: the kernel counts */
	{0},
};

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

/* What a command takes; run takes all but what is of record and query. Those of bpftrace's command line take all that it takes. */
static const u64 taken[] = {
	[CMD_RUN] = ~(1ull << OPT_SET | 1ull << OPT_STACKS | 1ull << OPT_RECORDING |
		      1ull << OPT_FROM | 1ull << OPT_TO),
	[CMD_LIST] = 1ull << OPT_PROGRAM | 1ull << OPT_LIST | 1ull << OPT_VERBOSE |
		     1ull << OPT_PID | 1ull << OPT_ESCAPE | 1ull << OPT_QUIET |
		     1ull << OPT_NO_WARN | 1ull << OPT_UNSAFE | 1ull << OPT_NO_FEATURE |
		     1ull << OPT_INCLUDE_DIR | 1ull << OPT_INCLUDE_FILE | 1ull << OPT_COMPAT |
		     1ull << OPT_TEST | 1ull << OPT_BENCH | 1ull << OPT_BTF | 1ull << OPT_ROOT |
		     1ull << OPT_FILTER | 1ull << OPT_TRACEABLE | 1ull << OPT_DEBUGINFO |
		     1ull << OPT_HELP | 1ull << OPT_VERSION | 1ull << OPT_CHECK_IR |
		     1ull << OPT_NOTHING,
	[CMD_INFO] = 1ull << OPT_INFO | 1ull << OPT_FORMAT | 1ull << OPT_JSON |
		     1ull << OPT_VERBOSE | 1ull << OPT_NO_FEATURE | 1ull << OPT_BTF |
		     1ull << OPT_ROOT | 1ull << OPT_HELP | 1ull << OPT_VERSION,
	[CMD_FMT] = 1ull << OPT_FMT | 1ull << OPT_MODE | 1ull << OPT_PROGRAM | 1ull << OPT_HELP |
		    1ull << OPT_VERSION,
	[CMD_RECORD] = 1ull << OPT_PROGRAM | 1ull << OPT_VERBOSE | 1ull << OPT_PID |
		       1ull << OPT_CMD | 1ull << OPT_FOLLOW | 1ull << OPT_CGROUP |
		       1ull << OPT_CONTAINER | 1ull << OPT_DWARF_PID | 1ull << OPT_OUTPUT |
		       1ull << OPT_AS_INVOKER | 1ull << OPT_FORMAT | 1ull << OPT_ESCAPE |
		       1ull << OPT_QUIET | 1ull << OPT_WARNINGS | 1ull << OPT_NO_WARN |
		       1ull << OPT_UNSAFE | 1ull << OPT_FOR | 1ull << OPT_BUDGET |
		       1ull << OPT_COST | 1ull << OPT_DRY_RUN | 1ull << OPT_DUMP |
		       1ull << OPT_NO_FEATURE | 1ull << OPT_INCLUDE_DIR | 1ull << OPT_INCLUDE_FILE |
		       1ull << OPT_FILTER | 1ull << OPT_TRACEABLE | 1ull << OPT_DEBUGINFO |
		       1ull << OPT_BTF | 1ull << OPT_ROOT | 1ull << OPT_SET | 1ull << OPT_STACKS |
		       1ull << OPT_HELP | 1ull << OPT_VERSION | 1ull << OPT_CHECK_IR,
	[CMD_QUERY] =
		1ull << OPT_PROGRAM | 1ull << OPT_LIST | 1ull << OPT_VERBOSE | 1ull << OPT_PID |
		1ull << OPT_FOLLOW | 1ull << OPT_OUTPUT | 1ull << OPT_APPEND | 1ull << OPT_FORMAT |
		1ull << OPT_JSON | 1ull << OPT_DIFF | 1ull << OPT_BUFFER | 1ull << OPT_ESCAPE |
		1ull << OPT_QUIET | 1ull << OPT_WARNINGS | 1ull << OPT_NO_WARN | 1ull << OPT_FOR |
		1ull << OPT_DUMP | 1ull << OPT_INCLUDE_DIR | 1ull << OPT_INCLUDE_FILE |
		1ull << OPT_COMPAT | 1ull << OPT_FILTER | 1ull << OPT_HELP | 1ull << OPT_VERSION |
		1ull << OPT_RECORDING | 1ull << OPT_FROM | 1ull << OPT_TO | 1ull << OPT_NOTHING,
};
_Static_assert(OPT_NOTHING < OPT_OF_RECORD, "one bit each");

static bool takes(enum command c, int id)
{
	return id >= OPT_OF_RECORD ? c == CMD_RECORD : taken[c] >> id & 1;
}

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
		fprintf(f, "    %s ", name);
		commands_help(f);
		fprintf(f, "TOOL [options]\n");
	}
	fprintf(f, "\nOPTIONS:\n");
	struct opt shown[countof(options)] = {0};
	AUTO_SB formats = {0};
	size_t n = 0;
	for (const struct opt *p = options; p->id; p++)
		if (takes(CMD_RUN, p->id))
			shown[n++] = *p;
	for (const struct sink *const *s = sinks; *s; s++)
		sb_fmt(&formats, "%s%s", (*s)->name,
		       s[1] ? ", " : ": format of the results (-f help)");
	for (struct opt *p = shown; p->id; p++)
		if (p->id == OPT_FORMAT)
			p->help = formats.s;
	opt_help(shown, f);
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
	if (!str_u64(word, pid))
		return err_new("Failed to parse pid: invalid integer: %.*s", STRF(word));
	if (!*pid || *pid > MAX_PID)
		return err_new("Failed to parse pid: %.*s is out of range (1 to %u)", STRF(word),
			       MAX_PID);
	return NULL;
}

static struct err *set_pid(struct run_opts *o, const char *val)
{
	static const char between[] = ", \t\n"; /* as pidof writes them, too */
	u64 pid;
	for (const char *at = val + strspn(val, " \t\n"); at == val || *at;) {
		size_t n = strcspn(at, between);
		struct err *e = pid_parse(str_n(at, n), &pid);
		at += n + (at[n] == ',');
		at += strspn(at, " \t\n");
		if (e)
			return e;
		bool known = false;
		for (u32 i = 0; i < o->target.npid; i++)
			known |= o->target.pid[i] == (int)pid;
		if (known)
			continue;
		if (o->target.npid == SCOPE_MAX_PIDS)
			return err_new("too many processes (%u at most)", SCOPE_MAX_PIDS);
		o->target.pid[o->target.npid++] = (int)pid;
	}
	return NULL;
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
		return err_new("--dwarf-pid %s: there is no such process", val);
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

static struct err *set_budget(struct run_opts *o, const char *val)
{
	char *end;
	double percent = strtod(val, &end);
	bool good = *val >= '0' && *val <= '9' && percent > 0 && percent <= 100;
	o->limits.budget = good ? MAX((u64)(percent * 10000), 1ull) : 0;
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

static struct err *set_strings(struct run_opts *o, const char *val)
{
	enum { MOST = 65536 };
	if (str_u64(str_z(val), &o->compile.strings) && o->compile.strings >= 1 &&
	    o->compile.strings <= MOST)
		return NULL;
	return err_new("--strings needs a number of bytes, at most %d (got '%s')", MOST, val);
}

static struct err *set_of_record(struct run_opts *o, enum opt_id id, const char *val)
{
	switch ((int)id) {
	case OPT_STRINGS: return set_strings(o, val);
	case OPT_DISK: return bounds_disk(&o->output.bounds, val);
	case OPT_KEEP: return bounds_keep(&o->output.bounds, val);
	case OPT_ON: return add_to(o->on, &o->non, val, "--on");
	case OPT_AFTER:
		o->output.bounds.has_after = true;
		return bounds_time("after", val, &o->output.bounds.after_ns);
	case OPT_QUIET_FOR:
		o->output.bounds.has_quiet = true;
		return bounds_time("quiet-for", val, &o->output.bounds.quiet_ns);
	case OPT_MAX_FILES: return bounds_files(&o->output.bounds, val);
	}
	return NULL;
}

static struct err *set(void *self, int id, const char *val)
{
	struct run_opts *o = self;
	if (id >= OPT_OF_RECORD)
		o->given_record |= 1ull << (id - OPT_OF_RECORD);
	else
		o->given |= 1ull << id;
	switch ((enum opt_id)id) {
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
	case OPT_BUDGET: return set_budget(o, val);
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
	case OPT_RECORDING:
		if (o->nrecording == countof(o->recording))
			return err_new("too many recordings (%zu at most)", countof(o->recording));
		o->recording[o->nrecording++] = val;
		break;
	case OPT_FROM: o->from = val; break;
	case OPT_TO: o->to = val; break;
	case OPT_SET: o->sets = val; break;
	case OPT_STACKS: o->stacks = val; break;
	case OPT_STRINGS ... OPT_MAX_FILES: return set_of_record(o, (enum opt_id)id, val);
	case OPT_NOTHING: break;
	}
	return NULL;
}

struct err *opts_check(const struct run_opts *o, enum command command, const char *name)
{
	for (const struct opt *t = options; t->id && !o->compat; t++) {
		bool given = t->id >= OPT_OF_RECORD ? o->given_record >> (t->id - OPT_OF_RECORD) & 1
						    : o->given >> t->id & 1;
		if (!given || takes(command, t->id))
			continue;
		if (t->name)
			return err_new("--%s means nothing to '%s'", t->name, name);
		return err_new("-%c means nothing to '%s'", t->shrt, name);
	}
	return NULL;
}

void opts_usage(FILE *f, enum command command, const char *use)
{
	struct opt table[countof(options)] = {0};
	size_t n = 0;
	for (const struct opt *t = options; t->id; t++)
		if (takes(command, t->id))
			table[n++] = *t;
	for (struct opt *t = table; t->id && command == CMD_QUERY; t++) {
		t->help = t->id == OPT_PID       ? "only events of these processes"
			  : t->id == OPT_FOR     ? "only so long from the start (or --from) on"
			  : t->id == OPT_VERBOSE ? "say more; -l: what was kept of each probe"
						 : t->help;
	}
	fprintf(f, "USAGE:\n    sonde %s\n\nOPTIONS:\n", use);
	opt_help(table, f);
}

/* Our -b takes a file; bpftrace's takes none, and what is an option is no file's name. */
static void options_for(struct opt *table, bool compat, int argc, char **argv)
{
	bool alone = compat;
	for (int i = 1; i < argc; i++)
		alone |= !strcmp(argv[i], "-b") && (i + 1 == argc || argv[i + 1][0] == '-');
	memcpy(table, options, sizeof(options));
	for (struct opt *t = table; t->id && alone; t++)
		t->arg = t->shrt == 'b' ? NULL : t->arg;
}

struct err *opts_parse(struct run_opts *o, int argc, char **argv)
{
	o->view.buffering = 'l';
	o->rest = xcalloc((size_t)argc + 1, sizeof(*o->rest));
	struct opt table[countof(options)];
	options_for(table, o->compat, argc, argv);
	return opt_parse(table, argc, argv, set, o, o->rest, &o->nrest, &o->ndash);
}

struct err *opts_set(struct run_opts *o, const char *name, const char *val)
{
	for (const struct opt *t = options; t->id; t++)
		if (t->name && !strcmp(t->name, name))
			return set(o, t->id, val);
	assert(!"an option of ours");
	return NULL;
}

const struct opt *opts_named(const char *word)
{
	return opt_named(options, word);
}

int opts_first_operand(int argc, char **argv)
{
	struct opt table[countof(options)];
	options_for(table, false, argc, argv);
	return opt_first_operand(table, argc, argv);
}
