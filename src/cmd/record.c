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
	if (rate.s && (at < 0 || !str_u64(rate, &hz) || !hz))
		return err_new("--set %.*s: only samples has a number, the events per second",
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

/* "sched:sched_switch" is a tracepoint: no kind of probe is called sched. */
static void put_probe(struct sb *out, struct str text, struct str stacks)
{
	struct str rest = text, name;
	str_cut(&rest, ':', &name);
	const struct kind *k = kind_find(name);
	bool event = !k && rest.s && str_chr(rest, ':') < 0 && !str_is_glob(name);
	bool result = k && k->flags & KIND_RETVAL;
	sb_fmt(out, "%s%.*s { keep(args%s%s%.*s); }\n", event ? "tracepoint:" : "", STRF(text),
	       result ? ", retval" : "", stacks.n ? ", " : "", STRF(stacks));
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
	int n = MIN(o->ndash, o->nrest);
	for (int i = 0; i < n && !e; i++)
		e = put_operand(a, out, o->rest[i], stacks);
	for (u32 i = 0; i < o->non && !e && out->n; i++)
		e = put_on(a, out, o->on[i]);
	if (!e && !out->n)
		e = err_new(
			"nothing to record: give PROBE..., --set NAME or -e 'script with keep()'");
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
