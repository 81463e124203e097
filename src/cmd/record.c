/*
 * record.c - sonde record: probes, sets of them or a script with keep(), into a file.
 *
 * All of that becomes one script, which runs as any other, with the output format record.
 */
#include "base/embed.h"
#include "base/units.h"
#include "cmd/tool.h"
#include "core/probe.h"
#include <unistd.h>

static const char marker[] = "/*stacks*/";

/* What --stacks adds to the values of an event; empty if there was no --stacks. */
static struct err *stack_words(const char *val, struct str *ret)
{
	struct str rest = str_z(val), word;
	bool user = false, kernel = false;
	*ret = STR("");
	if (!val)
		return NULL;
	while (str_cut(&rest, ',', &word)) {
		user |= str_is(word, "user") || str_is(word, "both");
		kernel |= str_is(word, "kernel") || str_is(word, "both");
		if (!str_is(word, "user") && !str_is(word, "kernel") && !str_is(word, "both"))
			return err_new("--stacks needs user, kernel or both (got '%s')", val);
	}
	*ret = user && kernel ? STR("kstack, ustack") : user ? STR("ustack") : STR("kstack");
	return NULL;
}

/* Text with the stacks in the place of the marker. */
static void put_marked(struct sb *out, struct str text, struct str stacks)
{
	i32 at;
	while ((at = str_find(text, str_z(marker))) >= 0) {
		bool first = at && text.s[at - 1] == '(';
		sb_mem(out, text.s, (size_t)at);
		if (stacks.n)
			sb_fmt(out, "%s%.*s", first ? "" : ", ", STRF(stacks));
		text = str_from(text, (u32)at + (u32)sizeof(marker) - 1);
	}
	sb_add(out, text);
}

static struct err *unknown_set(struct str name)
{
	AUTO_SB known = {0};
	for (const struct embed *e = embedded; e->name; e++) {
		struct str file = str_z(e->name);
		if (str_starts(file, STR("tools/record/")))
			sb_fmt(&known, "%s%.*s", known.n ? ", " : "", (int)file.n - 16,
			       file.s + 13);
	}
	return err_new("--set: unknown set '%.*s' (sets: %s)", STRF(name), known.s);
}

/* Text with what is to be in the place of a word; the marker for stacks is handled, too. */
static void put_filled(struct sb *out, struct str text, const char *word, u64 n, struct str stacks)
{
	AUTO_SB filled = {0};
	i32 at;
	while ((at = str_find(text, str_z(word))) >= 0) {
		sb_fmt(&filled, "%.*s%llu", at, text.s, n);
		text = str_from(text, (u32)at + (u32)strlen(word));
	}
	sb_add(&filled, text);
	put_marked(out, sb_str(&filled), stacks);
}

/* "samples" or "samples=99". */
static struct err *put_set(const struct run_opts *o, struct sb *out, struct str word,
			   struct str stacks)
{
	enum { STRINGS = 256, MOST_STRINGS = 4095 };
	struct str name, rate = word;
	char path[64];
	u64 hz = 99;
	str_cut(&rate, '=', &name);
	snprintf(path, sizeof(path), "tools/record/%.*s.bt", (int)MIN(name.n, 32u), name.s);
	const struct embed *e = embed_find(str_z(path));
	if (!e)
		return unknown_set(name);
	struct str text = embed_text(e);
	i32 at = str_find(text, STR("RATE"));
	if (rate.s && at < 0)
		return err_new("--set %.*s: only samples has a number, the events per second",
			       STRF(word));
	if (rate.s && (!str_number(rate, &hz) || !hz))
		return err_new("--set %.*s: the events per second are a number above 0",
			       STRF(word));
	if (at >= 0)
		put_filled(out, text, "RATE", hz, stacks);
	else
		put_filled(out, text, "STRINGS",
			   o->compile.strings ? MIN(o->compile.strings, (u64)MOST_STRINGS)
					      : STRINGS,
			   stacks);
	return NULL;
}

static const struct probe_type *kind_of(struct str text, struct str *rest)
{
	struct str name;
	*rest = text;
	str_cut(rest, ':', &name);
	return probe_type_find(name);
}

/* "sched:sched_switch" is a tracepoint: no kind of probe is called sched. */
static bool is_bare_event(struct str text)
{
	struct str rest;
	bool kind = kind_of(text, &rest) != NULL;
	return !kind && rest.s && str_chr(rest, ':') < 0 &&
	       !str_is_glob(str_n(text.s, text.n - rest.n - 1));
}

static void put_probe(struct sb *out, struct str text, struct str stacks)
{
	struct str rest;
	const struct probe_type *k = kind_of(text, &rest);
	bool result = k && k->flags & PROBE_RETVAL;
	sb_fmt(out, "%s%.*s { keep(args%s%s%.*s); }\n", is_bare_event(text) ? "tracepoint:" : "",
	       STRF(text), result ? ", retval" : "", stacks.n ? ", " : "", STRF(stacks));
}

static bool is_script(const char *word)
{
	return !strcmp(word, "-") || (!access(word, R_OK) && strchr(word, '{') == NULL &&
				      (str_ends(str_z(word), STR(".bt")) || strchr(word, '/')));
}

static struct err *put_operand(struct arena *a, struct sb *out, const char *word, struct str stacks)
{
	struct str text;
	if (!is_script(word)) {
		put_probe(out, str_z(word), stacks);
		return NULL;
	}
	struct err *e = script_file(a, word, &text);
	if (!e)
		put_marked(out, text, stacks);
	sb_char(out, '\n');
	return e;
}

/* "oom", "stall=200ms": scripts of tools/on/; else a script, as text or in a file. */
static struct err *put_on(struct arena *a, struct sb *out, const char *val)
{
	struct str name, rest = str_z(val), text;
	char path[64];
	u64 ns = 0;
	str_cut(&rest, '=', &name);
	snprintf(path, sizeof(path), "tools/on/%.*s.bt", (int)MIN(name.n, 32u), name.s);
	const struct embed *e = strchr(val, '{') ? NULL : embed_find(str_z(path));
	if (!e && strchr(val, '{')) {
		sb_fmt(out, "%s\n", val);
		return NULL;
	}
	if (!e && access(val, R_OK))
		return err_new("--on needs oom, stall=TIME, a script or the file of one (got '%s')",
			       val);
	struct err *err = e ? NULL : script_file(a, val, &text);
	if (err)
		return err;
	text = e ? embed_text(e) : text;
	i32 at = e ? str_find(text, STR("TIME_NS")) : -1;
	bool timed = at >= 0;
	if (e && (timed != (rest.s != NULL) || (timed && (!units_ns(rest, &ns) || !ns))))
		return err_new(timed ? "--on %.*s needs a time, as in %.*s=200ms"
				     : "--on %.*s: there is nothing to say about it",
			       STRF(name), STRF(name));
	if (timed) {
		sb_fmt(out, "%.*s%llu", at, text.s, ns);
		text = str_from(text, (u32)at + 7);
	}
	sb_fmt(out, "%.*s\n", STRF(text));
	return NULL;
}

/* The part before the next comma that is in no bracket and no string; false if there is none left. */
static bool cut_argument(struct str *rest, struct str *ret)
{
	u32 depth = 0, i = 0;
	bool quoted = false;
	if (!rest->s)
		return false;
	for (; i < rest->n; i++) {
		char c = rest->s[i];
		if (c == '"')
			quoted = !quoted;
		if (quoted)
			continue;
		depth += strchr("([{", c) != NULL;
		depth -= depth && strchr(")]}", c) != NULL;
		if (c == ',' && !depth)
			break;
	}
	*ret = str_trim(str_n(rest->s, i));
	*rest = i < rest->n ? str_from(*rest, i + 1) : (struct str){0};
	return true;
}

static void put_point(struct sb *out, struct str text)
{
	sb_fmt(out, "%s%.*s", is_bare_event(text) ? "tracepoint:" : "", STRF(text));
}

/*
 * "io=block:block_rq_issue,block:block_rq_complete,args.sector": begin, end, the id at the begin and, if it differs, at the
 * end. The end may happen in any process, such as that of an interrupt, so a map knows what has begun.
 */
static struct err *put_span(struct sb *out, const char *val, u32 number, struct str stacks)
{
	struct str rest = str_z(val), name, part[4] = {0};
	u32 n = 0;
	str_cut(&rest, '=', &name);
	while (n < countof(part) && cut_argument(&rest, &part[n]) && part[n].n)
		n++;
	if (n == 3)
		part[3] = part[2];
	if (n < 3 || rest.s || !name.n || str_chr(name, '"') >= 0 || str_chr(name, '\\') >= 0)
		return err_new(
			"--span needs NAME=BEGIN,END,ID: two probes, and an expression that has "
			"the "
			"same value at both, or two, as in NAME=BEGIN,END,args.pid,args.next_pid "
			"(got '%s')",
			val);
	put_point(out, part[0]);
	sb_fmt(out, " { @span_%u[%.*s] = true; span_begin(\"%.*s\", %.*s, args%s%.*s); }\n", number,
	       STRF(part[2]), STRF(name), STRF(part[2]), stacks.n ? ", " : "", STRF(stacks));
	put_point(out, part[1]);
	sb_fmt(out,
	       " /all_processes && has_key(@span_%u, %.*s)/ { span_end(\"%.*s\", %.*s, args); "
	       "delete(@span_%u, %.*s); }\nend { clear(@span_%u); }\n",
	       number, STRF(part[3]), STRF(name), STRF(part[3]), number, STRF(part[3]), number);
	return NULL;
}

static struct err *compose(struct arena *a, struct run_opts *o, struct sb *out)
{
	struct str stacks, sets = str_z(o->sets), set;
	struct err *e = stack_words(o->stacks, &stacks);
	if (!e && o->program) {
		put_marked(out, str_z(o->program), stacks);
		sb_char(out, '\n');
	}
	while (!e && o->sets && str_cut(&sets, ',', &set))
		e = put_set(o, out, set, stacks);
	for (u32 i = 0; i < o->nspan && !e; i++)
		e = put_span(out, o->span[i], i + 1, stacks);
	int n = MIN(o->ndash, o->nrest);
	for (int i = 0; i < n && !e; i++)
		e = put_operand(a, out, o->rest[i], stacks);
	for (u32 i = 0; i < o->non && !e && out->n; i++)
		e = put_on(a, out, o->on[i]);
	if (!e && !out->n)
		e = err_new(
			"nothing to record: give PROBE..., --set NAME, --span or -e 'script with "
			"keep()'");
	if (!e && o->ndash < o->nrest && o->target.cmd)
		e = err_new("-c and -- are two commands");
	if (!e && o->ndash < o->nrest)
		o->target.cmd = tool_command_text(a, o->rest + o->ndash, o->nrest - o->ndash);
	return e;
}

static int record(struct arena *a, struct run_opts *o)
{
	AUTO_SB text = {0};
	struct err *e = bounds_check(o);
	if (!e)
		e = compose(a, o, &text);
	if (e) {
		fprintf(stderr, "ERROR: %s\n", e->msg);
		err_free(e);
		return RC_USAGE;
	}
	o->program = arena_strz(a, sb_str(&text));
	o->nrest = o->ndash = 0;
	o->target.follow |= o->target.cmd || o->target.npid;
	o->output.format = o->output.format ? o->output.format : "record";
	if (!o->output.bounds.has_quiet)
		o->output.bounds.quiet_ns = 60ull * 1000000000;
	if (!o->output.bounds.max_files)
		o->output.bounds.max_files = 10;
	if (!o->to) {
		o->output.path = o->output.path ? o->output.path : "record.sonde";
		return run_command(o);
	}
	struct conversion c;
	e = conversion_start(&c, a, o);
	if (e) {
		fprintf(stderr, "ERROR: %s\n", e->msg);
		err_free(e);
		return RC_USAGE;
	}
	return conversion_finish(&c, run_command(o));
}

int cmd_record(int argc, char **argv, bool compat)
{
	struct run_opts o = {.compat = compat};
	struct arena a = {0};
	struct err *e = opts_parse(&o, argc, argv);
	int rc = RC_OK;
	if (!e && !o.help && !o.version)
		e = opts_check(&o, CMD_RECORD, "record");
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	if (e)
		rc = RC_USAGE;
	else if (o.help)
		opts_usage(stdout, CMD_RECORD, command_use("record"));
	else if (o.version)
		rc = version(false);
	else
		rc = record(&a, &o);
	err_free(e);
	free(o.rest);
	arena_free(&a);
	return rc;
}
