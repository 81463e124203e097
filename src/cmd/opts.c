/* opts.c - the options of run and list. */
#include "base/opt.h"
#include "cmd/cmd.h"
#include <errno.h>
#include <signal.h>
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
	OPT_FORMAT,
	OPT_JSON,
	OPT_BUFFER,
	OPT_QUIET,
	OPT_WARNINGS,
	OPT_NO_WARN,
	OPT_UNSAFE,
	OPT_DRY_RUN,
	OPT_DUMP,
	OPT_MODE,
	OPT_NO_FEATURE,
	OPT_INCLUDE_DIR,
	OPT_INCLUDE_FILE,
	OPT_COMPAT,
	OPT_TEST,
	OPT_BENCH,
	OPT_FMT,
	OPT_INFO,
	OPT_HELP,
	OPT_VERSION,
	OPT_ROOT,
	OPT_BTF,
	OPT_NOTHING,
	OPT_NOTHING_ARG,
	OPT_MISSING,
	OPT_MISSING_ARG,
};

static const struct opt options[] = {
	{NULL, 'e', "PROGRAM", "the script itself", OPT_PROGRAM},
	{"list", 'l', NULL, "list probes that match the operand (default: all), or a script's",
	 OPT_LIST},
	{"verbose", 'v', NULL, "say more: kernel log of a refusal; -l: arguments of probes",
	 OPT_VERBOSE},
	{"pid", 'p', "PID,...", "trace these processes only, until they end", OPT_PID},
	{"cmd", 'c', "CMD", "run CMD and trace it until it ends", OPT_CMD},
	{"follow", 0, NULL, "children of -p and -c, too, and theirs", OPT_FOLLOW},
	{"cgroup", 0, "DIR", "only processes in this control group or below", OPT_CGROUP},
	{"container", 0, "NAME", "only processes of this container (name or id)", OPT_CONTAINER},
	{"dwarf-pid", 0, "PID",
	 "a process that dw_ustack unwinds, beside -p and -c; may be repeated", OPT_DWARF_PID},
	{"output", 'o', "FILE", "write results to FILE", OPT_OUTPUT},
	{NULL, 'f', "FORMAT", "text (default) or json", OPT_FORMAT},
	{"json", 0, NULL, "the same as -f json", OPT_JSON},
	{NULL, 'B', "MODE", "buffer the output by line (default), full or none", OPT_BUFFER},
	{"quiet", 'q', NULL, "no message when attached", OPT_QUIET},
	{"warnings", 'k', NULL, "warn of reads and map operations that fail while running",
	 OPT_WARNINGS},
	{"no-warnings", 0, NULL, "no warnings about the script", OPT_NO_WARN},
	{"unsafe", 0, NULL, "allow functions that change the system", OPT_UNSAFE},
	{"dry-run", 0, NULL, "attach everything, then leave", OPT_DRY_RUN},
	{"debug", 'd', "STAGE,...",
	 "print the program after ast, types, plan, ir, regs, bpf or all", OPT_DUMP},
	{"mode", 0, "codegen", "compile only", OPT_MODE},
	{"no-feature", 0, "NAME,...", "do without a feature of the kernel (names: --info)",
	 OPT_NO_FEATURE},
	{NULL, 'I', "DIR", "look for #include files in DIR first", OPT_INCLUDE_DIR},
	{"include", 0, "FILE", "#include FILE before the script", OPT_INCLUDE_FILE},
	{"compat", 0, "0.17", "scripts mean what they meant then: variables of a whole probe ...",
	 OPT_COMPAT},
	{"test", 0, NULL, "run the script's test: probes", OPT_TEST},
	{"bench", 0, NULL, "run the script's bench: probes, and tell how long they take",
	 OPT_BENCH},
	{"fmt", 0, NULL, "print the script in its canonical layout", OPT_FMT},
	{"info", 0, NULL, "what this machine can do", OPT_INFO},
	/* Without a file it is an old option that means nothing. */
	{"btf", 'b', "[=FILE]", "types of the kernel from this BTF file", OPT_BTF},
	{"root", 0, "DIR", "compile for the machine recorded in DIR", OPT_ROOT},
	{"help", 'h', NULL, "this text", OPT_HELP},
	{"version", 'V', NULL, "version", OPT_VERSION},
	/* Accepted from old command lines, without effect. */
	{"usdt-file-activation", 0, NULL, NULL, OPT_NOTHING},
	{"verify-llvm-ir", 0, NULL, NULL, OPT_NOTHING},
	{"debuginfo", 0, "DIR", NULL, OPT_NOTHING_ARG},
	/* Known, but not there. */
	{"aot", 0, "FILE", NULL, OPT_MISSING_ARG},
	{"emit-elf", 0, "FILE", NULL, OPT_MISSING_ARG},
	{"emit-llvm", 0, "FILE", NULL, OPT_MISSING_ARG},
	{"probe-filter", 0, "REGEX", NULL, OPT_MISSING_ARG},
	{"traceable-functions", 0, "FILE", NULL, OPT_MISSING_ARG},
	{0},
};

static const struct {
	const char *name;
	u32 dump; /* 0: the kernel's log, while running */
} stages[] = {
	{"all", DUMP_ALL},   {"ast", DUMP_AST},    {"types", DUMP_TYPES},
	{"plan", DUMP_PLAN}, {"ir", DUMP_IR},      {"regs", DUMP_REGS},
	{"bpf", DUMP_BPF},   {"codegen", DUMP_IR}, {"codegen-opt", DUMP_REGS},
	{"parse", DUMP_AST}, {"dis", DUMP_BPF},    {"libbpf", 0},
	{"verifier", 0},
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
	if (!compat)
		fprintf(f, "    %s list [-v] [PATTERN], info, help [NAME]\n", name);
	fprintf(f, "\nOPTIONS:\n");
	opt_help(options, f);
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
	o->buffering = val[0];
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
	struct str rest = str_z(val), word;
	u64 pid;
	if (!*val)
		return pid_parse(rest, &pid);
	while (str_cut(&rest, ',', &word)) {
		struct err *e = pid_parse(word, &pid);
		if (e)
			return e;
		bool known = false;
		for (u32 i = 0; i < o->npid; i++)
			known |= o->pid[i] == (int)pid;
		if (known)
			continue;
		if (o->npid == SCOPE_MAX_PIDS)
			return err_new("too many processes (%u at most)", SCOPE_MAX_PIDS);
		o->pid[o->npid++] = (int)pid;
	}
	return NULL;
}

static struct err *add_dwarf_pid(struct run_opts *o, const char *val)
{
	u64 pid;
	struct err *e = pid_parse(str_z(val), &pid);
	if (e)
		return e;
	if (o->ndwarf_pid == countof(o->dwarf_pid))
		return err_new("too many --dwarf-pid");
	if (kill((pid_t)pid, 0) && errno == ESRCH)
		return err_new("--dwarf-pid %s: there is no such process", val);
	o->dwarf_pid[o->ndwarf_pid++] = (int)pid;
	return NULL;
}

static struct err *add_to(const char *list[16], u32 *n, const char *val, const char *name)
{
	if (*n == 16)
		return err_new("too many %s", name);
	list[(*n)++] = val;
	return NULL;
}

static struct err *set_mode(struct run_opts *o, const char *val)
{
	o->codegen = !strcmp(val, "codegen");
	return o->codegen ? NULL : err_new("USAGE: --mode must be 'codegen' (got '%s')", val);
}

static struct err *set_compat(struct run_opts *o, const char *val)
{
	struct config c = {0};
	o->level = val;
	return config_compat(&c, str_z(val))
		       ? NULL
		       : err_new("USAGE: --compat must be '0.17' (got '%s')", val);
}

static struct err *set(void *self, int id, const char *val)
{
	struct run_opts *o = self;
	switch ((enum opt_id)id) {
	case OPT_PROGRAM: o->program = val; break;
	case OPT_LIST: o->list = true; break;
	case OPT_VERBOSE: o->verbose++; break;
	case OPT_PID: return set_pid(o, val);
	case OPT_CMD: o->cmd = val; break;
	case OPT_FOLLOW: o->follow = true; break;
	case OPT_CGROUP: return add_to(o->cgroup, &o->ncgroup, val, "--cgroup");
	case OPT_CONTAINER: return add_to(o->container, &o->ncontainer, val, "--container");
	case OPT_DWARF_PID: return add_dwarf_pid(o, val);
	case OPT_OUTPUT: o->output = val; break;
	case OPT_FORMAT: o->format = val; break;
	case OPT_JSON: o->format = "json"; break;
	case OPT_BUFFER: return set_buffering(o, val);
	case OPT_QUIET: o->quiet = true; break;
	case OPT_WARNINGS: o->warnings++; break;
	case OPT_NO_WARN: o->no_warn = true; break;
	case OPT_UNSAFE: o->unsafe = true; break;
	case OPT_DRY_RUN: o->dry_run = true; break;
	case OPT_DUMP: return set_stages(o, val);
	case OPT_MODE: return set_mode(o, val);
	case OPT_NO_FEATURE: return add_to(o->no_feature, &o->nno_feature, val, "--no-feature");
	case OPT_INCLUDE_DIR: return add_to(o->inc_dir, &o->ninc_dir, val, "-I");
	case OPT_INCLUDE_FILE: return add_to(o->inc_file, &o->ninc_file, val, "--include");
	case OPT_COMPAT: return set_compat(o, val);
	case OPT_TEST: o->test = true; break;
	case OPT_BENCH: o->bench = true; break;
	case OPT_FMT: o->fmt = true; break;
	case OPT_INFO: o->info = true; break;
	case OPT_HELP: o->help = true; break;
	case OPT_VERSION: o->version = true; break;
	case OPT_ROOT: o->root = val; break;
	case OPT_BTF: o->btf = val ? val : o->btf; break;
	case OPT_NOTHING:
	case OPT_NOTHING_ARG: break;
	case OPT_MISSING:
	case OPT_MISSING_ARG: return err_new("this option is known, but not implemented yet");
	}
	return NULL;
}

struct err *opts_parse(struct run_opts *o, int argc, char **argv)
{
	o->format = "text";
	o->buffering = 'l';
	o->rest = calloc((size_t)argc + 1, sizeof(*o->rest));
	if (!o->rest)
		abort();
	return opt_parse(options, argc, argv, set, o, o->rest, &o->nrest, &o->ndash);
}
