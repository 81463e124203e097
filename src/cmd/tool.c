/*
 * tool.c - sonde NAME [options]: a canned tool.
 *
 * Its options are those that the script declares, and common ones, which become options of sonde. toolfind.c finds the
 * script.
 */
#include "cmd/tool.h"
#include "core/value.h"
#include "declare/declare.h"
#include "kern/caps.h"
#include "proc/cgroup.h"
#include "proc/proc.h"
#include "sema/deny.h"
#include "source/source.h"
#include "tool/words.h"

#define CLOCK_ARG "[=ms|us|ns]"

enum { FIRST_OWN = OPT_END, MAX_OPTIONS = 512, MAX_GIVEN = 64 };

/* ---- options ---- */

struct parse {
	const struct tool *tool;
	struct run_opts *o;
	struct script *script;
	struct host *host;
	struct arena *a;
	const struct getopt_use *own[MAX_OPTIONS]; /* by id - FIRST_OWN */
	struct opt table[MAX_OPTIONS];
	u32 nown, ntable;
	u32 pid_operand;             /* which operand is a process; 0: none */
	enum tool_runs runs;         /* what -- CMD does */
	bool annotate, delimiter;    /* of folded stacks */
	bool asks;                   /* for another host: tool_ask() */
	bool timed;                  /* the first operand is the duration, too */
	const char *refused;         /* the value or operand that was refused, or NULL */
	const struct writer *writer; /* takes the operands, if the tool has one */
	struct words words;
};

static void add_opt(struct parse *p, struct opt o)
{
	for (u32 i = 0; i < p->ntable; i++)
		if (p->table[i].shrt && p->table[i].shrt == o.shrt)
			o.shrt = 0;
	if (p->ntable + 1 < MAX_OPTIONS)
		p->table[p->ntable++] = o;
}

static const char *dashed(struct arena *a, struct str name)
{
	char *s = arena_strz(a, name);
	for (char *c = s; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return s;
}

/* "how long [10ms]": the default, where it says something. */
static const char *help_of(struct arena *a, const struct getopt_use *u)
{
	bool says = u->kind != OPTION_FLAG && u->kind != OPTION_CLOCK && u->text.n &&
		    !str_is(u->text, "0") && u->text.s[0] != '-' &&
		    !(u->text.n > 1 && u->text.s[0] == '0');
	return says ? arena_fmt(a, "%.*s (%.*s)", STRF(u->doc), STRF(u->text))
		    : arena_fmt(a, "%.*s", STRF(u->doc));
}

/* The options of imports are added first: a letter that the tool itself uses is taken from them. */
static void take_letter(struct parse *p, char letter)
{
	for (u32 i = 0; i < p->ntable; i++)
		if (letter && p->table[i].shrt == letter)
			p->table[i].shrt = 0;
}

/* The names that only the command line knows. */
static void add_others(struct parse *p, const struct getopt_use *u, struct opt o)
{
	o.help = NULL;
	for (const struct node *n = u->also; n; n = n->next) {
		o.shrt = n->name.n == 1 ? n->name.s[0] : 0;
		o.name = o.shrt ? NULL : dashed(p->a, n->name);
		take_letter(p, o.shrt);
		add_opt(p, o);
	}
}

/* "a|b|c" */
static const char *choices_of(struct arena *a, const struct getopt_use *u)
{
	AUTO_SB b = {0};
	for (const struct node *n = u->choices; n; n = n->next)
		sb_fmt(&b, "%s%.*s", n == u->choices ? "" : "|", STRF(n->name));
	return arena_strz(a, sb_str(&b));
}

static bool is_numbers(const struct getopt_use *u)
{
	return u->kind == OPTION_LIST || u->kind == OPTION_CPUS || u->kind == OPTION_PORTS;
}

static void add_own(struct parse *p, const struct getopt_use *u)
{
	static const char *const placeholders[] = {
		[OPTION_INT] = "N",          [OPTION_TIME] = "TIME",
		[OPTION_TEXT] = "TEXT",      [OPTION_CLOCK] = CLOCK_ARG,
		[OPTION_PID] = "PID",        [OPTION_PIDS] = "PID,...",
		[OPTION_WORDS] = "WORD,...", [OPTION_USER] = "USER",
		[OPTION_DISK] = "DISK",      [OPTION_NETWORKS] = "NET,...",
		[OPTION_FRACTION] = "N",     [OPTION_TERMINAL] = "TTY",
		[OPTION_NETNS] = "NETNS"};
	const char *arg = u->placeholder.n ? arena_strz(p->a, u->placeholder)
			  : u->choices     ? choices_of(p->a, u)
			  : is_numbers(u)  ? "N,..."
					   : placeholders[u->kind];
	if (u->common || p->nown + FIRST_OWN >= MAX_OPTIONS)
		return;
	take_letter(p, u->letter);
	p->own[p->nown] = u;
	struct opt o = {dashed(p->a, u->name), u->letter, u->kind == OPTION_FLAG ? NULL : arg,
			u->accepted ? NULL : help_of(p->a, u), FIRST_OWN + (int)p->nown};
	add_opt(p, o);
	add_others(p, u, o);
	p->nown++;
}

/* emit() in a probe that tells of events, not of the beginning or the end. */
static bool see_event(struct node *n, void *arg)
{
	static const char *const edges[] = {"begin", "end"};
	bool *found = arg;
	*found |= n->kind == N_CALL && str_is(n->name, "emit");
	return n->kind != N_PROBE || node_word(n->a, edges) < 0;
}

static bool tells_events(const struct parse *p, const struct compile *c)
{
	bool found = p->writer && p->writer->events;
	for (struct node *n = c->tree->a; n && !found; n = n->next)
		node_walk(n, see_event, &found);
	return found;
}

struct seen {
	bool time, hist;
};

/* A column of times, or a line with one; a histogram. */
static bool see_values(struct node *n, void *arg)
{
	static const char *const calls[] = {"time", "strftime"}, *const words[] = {"clock", "hist"},
				 *const kinds[] = {"top"};
	struct seen *s = arg;
	s->time |= n->kind == N_CALL && node_word(n, calls) >= 0;
	for (const struct node *w = n->kind == N_TABLE ? n->b : NULL; w; w = w->next)
		s->time |= node_word(w, kinds) >= 0;
	for (const struct node *w = n->kind == N_COLUMN ? n->a : NULL; w; w = w->next) {
		s->time |= node_word(w, words) == 0;
		s->hist |= node_word(w, words) == 1;
	}
	return true;
}

/*
 * Is the option one of this tool's, if its script does not name it? --count is for tools that print events, --time and
 * --utc for those that print times of day, --percentiles for those that print histograms.
 */
static bool is_wanted(enum option_id id, bool events, const struct seen *seen)
{
	switch (id) {
	case OPT_COUNT: return events;
	case OPT_TIME:
	case OPT_UTC: return seen->time;
	case OPT_PERCENTILES: return seen->hist;
	default: return option_accepted(id, CMD_TOOL);
	}
}

static void add_common(struct parse *p, const struct compile *c)
{
	bool events = tells_events(p, c);
	struct seen seen = {0};
	for (struct node *n = c->tree->a; n; n = n->next)
		node_walk(n, see_values, &seen);
	struct option_table common;
	options_of(in(CMD_TOOL) | in(CMD_SOME), &common);
	for (size_t i = 0; common.row[i].id; i++) {
		struct opt o = common.row[i];
		const struct getopt_use *u = tool_names(c, o.name);
		bool wanted = u || is_wanted((enum option_id)o.id, events, &seen);
		o.shrt = u && u->letter ? u->letter : o.shrt;
		for (u32 k = 0; k < p->ntable; k++)
			if (p->table[k].name &&
			    !strcmp(p->table[k].name, o.name)) /* the tool has its own */
				wanted = false;
		/* Otherwise it stands behind -- alone. */
		wanted &= o.id != OPT_COMMAND || o.shrt;
		if (wanted)
			add_opt(p, o);
		if (wanted && u)
			add_others(p, u, o);
	}
	const struct getopt_use *pid = tool_names(c, "pid");
	p->pid_operand = pid ? pid->operand : 0;
	p->timed = tool_names(c, "duration") != NULL;
	p->runs = tool_runs(p->tool, c);
}

/* "0,4-7" is 0,4,5,6,7; what is no such list stays, to be refused. */
static const char *spread(struct arena *a, const char *list)
{
	enum { MOST = 1024 };
	AUTO_SB b = {0};
	struct str rest = str_z(list), to, from;
	while (str_cut(&rest, ',', &to)) {
		u64 first = 0, last = 0;
		struct str all = to;
		bool range = str_cut(&to, '-', &from) && to.n && str_number(from, &first) &&
			     str_number(to, &last) && first <= last && last - first < MOST;
		sb_z(&b, all.s == list ? "" : ",");
		if (!range)
			sb_add(&b, all);
		for (u64 n = first; range && n <= last; n++)
			sb_fmt(&b, "%s%llu", n > first ? "," : "", n);
	}
	return arena_strz(a, sb_str(&b));
}

/* A list that is given again goes on. */
static struct str value_of(struct parse *p, const struct getopt_use *u, const char *val)
{
	if (is_numbers(u) && val)
		val = spread(p->a, val);
	struct str text = val ? str_z(val) : (struct str){0};
	for (u32 i = p->script->nopt; option_is_list(u) && i--;) {
		struct script_opt had = p->script->opts[i];
		if (str_eq(had.name, u->name))
			return str_z(arena_fmt(p->a, "%.*s,%s", STRF(had.value), val));
	}
	return text;
}

/* Asked already here, where it can be told that a command stands elsewhere. */
static struct err *find_cgroup(struct parse *p, const char *val)
{
	const char *dir;
	struct err *e = cgroup_find(p->host, val, &dir);
	return e ? err_wrap(e, "--cgroup: ") : NULL;
}

static struct err *give(struct parse *p, const struct getopt_use *u, const char *val)
{
	u64 ignored;
	if (p->script->nopt >= MAX_GIVEN)
		return err_new("more than %d options and operands", MAX_GIVEN);
	struct str text = value_of(p, u, val);
	struct err *e =
		str_is(u->name, "cgroup") ? find_cgroup(p, val) : declare_value(u, text, &ignored);
	/* A tool that asks which processes are children has an option of its own for it. */
	p->o->target.follow |= !e && str_is(u->name, "follow");
	if (!e)
		p->script->opts[p->script->nopt++] = (struct script_opt){u->name, text};
	return e;
}

/* "10" is seconds. */
static struct err *set_duration(struct parse *p, const char *val)
{
	static const struct getopt_use seconds = {
		.name = STR("duration"), .kind = OPTION_TIME, .text = STR("0s")};
	struct err *e = declare_value(&seconds, str_z(val), &p->script->duration_ns);
	if (!e && !p->script->duration_ns)
		return err_new("--duration needs a time above 0 (got '%s')", val);
	return e;
}

static struct err *set_rows(struct parse *p, const char *val)
{
	u64 n;
	if (!str_number(str_z(val), &n) || n > UINT32_MAX)
		return err_new("--rows needs a number (got '%s')", val);
	p->script->rows = (u32)n;
	return NULL;
}

static struct err *set_count(struct parse *p, const char *val)
{
	if (!str_number(str_z(val), &p->script->events) || !p->script->events)
		return err_new("--count needs a number above 0 (got '%s')", val);
	return NULL;
}

static struct err *set_percentiles(struct parse *p, const char *val)
{
	p->script->percentiles = val ? str_z(val) : STR(PERCENTILES);
	if (percentiles_valid(p->script->percentiles))
		return NULL;
	return err_new("--percentiles needs a list such as p50,p99.9,max (got '%s')", val);
}

static struct err *set_time(struct parse *p, const char *val)
{
	u32 digits = 0;
	if (val && !option_clock(str_z(val), &digits))
		return err_new("--time needs s, ms, us, ns or no value (got '%s')", val);
	p->script->clock = 1 + digits;
	return NULL;
}

static bool was_given(const struct parse *p, struct str option)
{
	for (u32 i = 0; i < p->script->nopt; i++)
		if (str_eq(p->script->opts[i].name, option))
			return true;
	return false;
}

/* --utc implies --time. */
static struct err *set_utc(struct parse *p)
{
	struct err *e = NULL;
	p->script->utc = true;
	for (u32 i = 0; i < p->nown && !e; i++)
		if (p->own[i]->kind == OPTION_CLOCK && !was_given(p, p->own[i]->name))
			e = give(p, p->own[i], NULL);
	return e;
}

static struct err *set_cgroup(struct parse *p, const char *val)
{
	struct err *e = find_cgroup(p, val);
	return e ? e : opts_set(p->o, "cgroup", val);
}

/* Processes of a recorded machine cannot be looked for. */
static struct err *set_pid(struct parse *p, const char *val)
{
	u32 known = p->o->target.npid;
	struct err *e = opts_set(p->o, "pid", val);
	for (u32 i = known; i < p->o->target.npid && !e; i++)
		if (!p->host->recorded && !proc_alive(p->o->target.pid[i]))
			e = err_new("process %d does not exist", p->o->target.pid[i]);
	return e;
}

static struct err *set_format(struct parse *p, const char *name)
{
	const char *had = p->o->output.format;
	if (had && strcmp(had, name))
		return err_new("--%s and --%s: one of them", had, name);
	p->o->output.format = name;
	return NULL;
}

static struct err *take_option(struct parse *p, int id, const char *val)
{
	if (id >= FIRST_OWN)
		return give(p, p->own[id - FIRST_OWN], val);
	switch ((enum option_id)id) {
	case OPT_HELP: p->o->help = true; break;
	case OPT_PID: return set_pid(p, val);
	case OPT_CGROUP: return set_cgroup(p, val);
	case OPT_CONTAINER: return opts_set(p->o, "container", val);
	case OPT_FOLDED: return set_format(p, "folded");
	case OPT_FLAME:
		p->o->output.path = val;
		return *val ? set_format(p, "flame") : err_new("--flame needs a file (got '')");
	case OPT_ANNOTATE: p->annotate = true; break;
	case OPT_DELIMITER: p->delimiter = true; break;
	case OPT_MATCH: p->script->match = str_z(val); break;
	case OPT_FOLLOW: p->o->target.follow = true; break;
	case OPT_COMMAND:
		p->o->target.cmd = val;
		p->o->target.follow = true;
		break;
	case OPT_DURATION: return set_duration(p, val);
	case OPT_COUNT: return set_count(p, val);
	case OPT_TIME: return set_time(p, val);
	case OPT_UTC: return set_utc(p);
	case OPT_PERCENTILES: return set_percentiles(p, val);
	case OPT_JSON: return set_format(p, "json");
	case OPT_CSV: return set_format(p, "csv");
	case OPT_FIELDS:
		p->script->fields = str_z(val);
		return *val ? NULL : err_new("--fields needs names of columns (got '')");
	case OPT_SORT: p->script->sort = str_z(val); break;
	case OPT_ROWS: return set_rows(p, val);
	case OPT_NOCLEAR: p->o->view.scroll = true; break;
	case OPT_NOSUMMARY: p->o->view.no_load = true; break;
	case OPT_WIDE: p->o->view.wide = true; break;
	case OPT_OUTPUT: p->o->output.path = val; break;
	case OPT_APPEND: p->o->output.append = true; break;
	case OPT_QUIET:
		p->o->view.quiet = true;
		p->words.quiet++;
		break;
	case OPT_VERBOSE: p->o->verbose++; break;
	default: assert(!"an option of tools");
	}
	return NULL;
}

/* The output of who asks other hosts is that of fleet. */
static struct err *take_for_others(struct parse *p, int id)
{
	const char *instead = NULL;
	switch (id < FIRST_OWN ? (enum option_id)id : OPT_VERBOSE) {
	case OPT_HELP: return err_new("-h is no question to hosts");
	case OPT_JSON: instead = "--json"; break;
	case OPT_CSV: instead = "-f csv"; break;
	case OPT_FOLDED: instead = "-f folded"; break;
	case OPT_FLAME: instead = "-f flame -o FILE"; break;
	case OPT_OUTPUT:
	case OPT_APPEND: instead = "-o FILE"; break;
	default: return NULL;
	}
	return err_new("the hosts do not choose the output: put %s before %.*s", instead,
		       STRF(p->tool->name));
}

static struct err *set(void *self, int id, const char *val)
{
	struct parse *p = self;
	struct err *e = p->asks || p->o->guest ? take_for_others(p, id) : NULL;
	if (!e && !p->asks)
		e = take_option(p, id, val);
	p->refused = e ? val : NULL;
	return e;
}

/* They become probes later, when all options are known. */
static struct err *keep_operands(struct parse *p, char **rest, int n)
{
	const struct writer *w = p->writer;
	struct word *word = arena_newn(p->a, struct word, (size_t)n + 1);
	if (w->operands && !n)
		return err_new("%.*s needs %s", STRF(p->tool->name), w->operands);
	if (n && (!w->operands || (w->max && (u32)n > w->max)))
		return err_new("what is '%s'? %.*s takes %s%s", rest[w->max], STRF(p->tool->name),
			       w->operands ? "only " : "no operand",
			       w->operands ? w->operands : "");
	for (int i = 0; i < n; i++)
		word[i].text = str_z(rest[i]);
	p->words.operand = word;
	p->words.n = (u32)n;
	return NULL;
}

/* A number for a PATH is a process: its program, in that process only. *took: it was one. */
static struct err *take_process(struct parse *p, const struct getopt_use *u, const char *val,
				bool *took)
{
	u64 pid;
	bool has_pid = false;
	for (u32 i = 0; i < p->ntable; i++)
		has_pid |= p->table[i].id == OPT_PID;
	*took = has_pid && str_is(u->placeholder, "PATH") && str_number(str_z(val), &pid);
	if (!*took)
		return NULL;
	return set_pid(p, val);
}

/* Did the user say it, not just an alias? */
static bool was_typed(const struct parse *p, const struct getopt_use *u)
{
	const char *word = arena_fmt(p->a, "--%.*s ", STRF(u->name));
	u32 n = str_find(p->tool->preset, str_z(word)) >= 0;
	for (u32 i = 0; i < p->script->nopt; i++)
		n -= str_eq(p->script->opts[i].name, u->name);
	return (i32)n < 0;
}

/*
 * The program of processes that were named, also by a word (-l python 1234): whichever of their files has the probes,
 * not what $PATH has of that name. Libraries are looked for among these files anyhow; what a letter means (-l c) is the
 * script's.
 */
static struct err *take_program(struct parse *p)
{
	struct err *e = NULL;
	char **command = p->words.command;
	for (u32 k = 0; k < p->nown && (p->o->target.npid || command) && !e; k++) {
		const struct getopt_use *u = p->own[k];
		struct str path = u->text;
		for (u32 i = 0; i < p->script->nopt; i++)
			if (str_eq(p->script->opts[i].name, u->name))
				path = p->script->opts[i].value;
		bool program = str_is(u->placeholder, "PATH") && path.n &&
			       (u->operand == 1 || str_is(u->name, "path"));
		bool word =
			declare_names(u, STR("language")) && path.n > 1 && str_chr(path, '/') < 0;
		bool meant = program && !str_starts(path, STR("lib")) && (word || !was_typed(p, u));
		const char *run = meant && word && !p->o->target.npid
					  ? tool_interpreter(p->a, command[0], path)
					  : NULL;
		if (meant && p->o->target.npid)
			e = give(p, u, "*");
		else if (run)
			e = give(p, u, run);
	}
	return e;
}

static struct err *take_operand(struct parse *p, const struct getopt_use *u, const char *val)
{
	bool took;
	struct err *e = take_process(p, u, val, &took);
	return e || took ? e : give(p, u, val);
}

/*
 * The children of a command are traced, too, unless the tool has an option of its own for that: probes that are for one
 * process only cost the others nothing.
 */
static bool asks_to_follow(const struct parse *p)
{
	for (u32 i = 0; i < p->nown; i++)
		if (str_is(p->own[i]->name, "follow"))
			return true;
	return false;
}

static struct err *take_operands(struct parse *p, char **rest, int nrest, int ndash)
{
	if (p->writer) {
		struct err *e = keep_operands(p, rest, ndash);
		if (e)
			return e;
		ndash = MIN(ndash, nrest);
	}
	for (int i = 0; i < ndash && !p->writer; i++) {
		const struct getopt_use *u = NULL;
		for (u32 k = 0; k < p->nown && !u; k++)
			u = p->own[k]->operand == (u32)i + 1 ? p->own[k] : NULL;
		struct err *e = NULL;
		p->refused = rest[i];
		if (!u && i == 0 && p->timed)
			e = set_duration(p, rest[i]);
		else if (!u && p->pid_operand == (u32)i + 1)
			e = set_pid(p, rest[i]);
		else if (!u)
			return err_new("what is '%s'? %.*s takes no %soperand", rest[i],
				       STRF(p->tool->name), i ? "further " : "");
		else
			e = take_operand(p, u, rest[i]);
		if (e)
			return err_wrap(e, "'%s': ", rest[i]);
		p->refused = NULL;
	}
	if (ndash == nrest)
		return NULL;
	if (p->runs == TOOL_RUNS_NOTHING)
		return err_new("%.*s looks once and ends: it runs no command", STRF(p->tool->name));
	p->words.command = arena_newn(p->a, char *, (size_t)(nrest - ndash) + 1);
	memcpy(p->words.command, rest + ndash, (size_t)(nrest - ndash) * sizeof(*rest));
	p->o->target.cmd = tool_command_text(p->a, rest + ndash, nrest - ndash);
	p->o->target.whole_machine = p->runs == TOOL_RUNS_ON_MACHINE;
	p->o->target.follow |= !p->o->target.whole_machine && !asks_to_follow(p);
	return NULL;
}

/* The alias's words, then those of the command line. */
static struct err *parse_words(struct parse *p, int argc, char **argv)
{
	size_t room =
		(size_t)argc + p->tool->preset.n + 2; /* a word of the alias is a byte, at least */
	char **word = arena_newn(p->a, char *, room), **rest = arena_newn(p->a, char *, room);
	char dashes[] = "--";
	int n = 1, nrest = 0, ndash = 0;
	struct str preset = p->tool->preset, one;
	word[0] = argv[0];
	while (preset.n && str_cut(&preset, ' ', &one))
		word[n++] = arena_strz(p->a, one);
	for (int i = 1; i < argc; i++)
		word[n++] = argv[i];
	for (int i = 1; i < n && p->runs && strcmp(word[i], "--") != 0; i++)
		if (!strcmp(word[i], "--exec") && !opt_named(p->table, word[i]))
			word[i] = dashes; /* as bcc's tools have it */
	int first = p->runs == TOOL_RUNS_OPERANDS ? opt_first_operand(p->table, n, word) : n;
	for (int i = 1; i < first && p->writer && p->writer->spell; i++)
		word[i] = p->writer->spell(p->a, word[i]);
	if (first < n && strcmp(word[first], "--") != 0) {
		memmove(&word[first + 1], &word[first], (size_t)(n - first) * sizeof(*word));
		word[first] = dashes;
		n++;
	}
	p->table[p->ntable].id = OPT_NUMBERS;
	bool dashes_last = n > 1 && !strcmp(word[n - 1], "--");
	struct err *e = opt_parse(p->table, n, word, set, p, rest, &nrest, &ndash);
	if (!e && dashes_last && ndash == nrest && p->runs && !p->o->help)
		e = err_new("a command is missing after --");
	bool folded = p->o->output.format && !strcmp(p->o->output.format, "folded");
	if (!e && p->delimiter && !p->o->help)
		tool_warn_delimiter(p->table, n, word, folded);
	if (folded && (p->annotate || p->delimiter))
		p->o->output.format = arena_fmt(
			p->a, "folded:%s%s%s", p->annotate ? "annotate" : "",
			p->annotate && p->delimiter ? "," : "", p->delimiter ? "delimiter" : "");
	if (e || p->asks)
		return e;
	if (!p->o->help)
		e = take_operands(p, rest, nrest, ndash);
	return e ? e : take_program(p);
}

/* ---- running ---- */

/* The script's probes from the operands. False: it was said why not. */
static bool write_probes(struct parse *p, struct job *j)
{
	AUTO_SB out = {0};
	struct words *w = &p->words;
	struct script *s = p->script;
	struct word *word = arena_newn(p->a, struct word, w->n + 1);
	for (u32 i = 0; i < w->n; i++)
		word[i] =
			(struct word){w->operand[i].text, diags_add_source(&j->diags, p->tool->name,
									   w->operand[i].text)};
	w->operand = word;
	w->a = p->a;
	w->h = j->c.host;
	w->u = &j->unit;
	w->diags = &j->diags;
	w->opts = s->opts;
	w->nopt = s->nopt;
	w->pid = p->o->target.npid ? p->o->target.pid[0] : 0;
	w->out = &out;
	j->unit.pid = w->pid;
	j->unit.scope.viewer = p->o->target.pid;
	j->unit.scope.nviewer = p->o->target.npid;
	bool ok = p->writer->write(w);
	p->o->output.by_process = w->by_process;
	p->o->target.as_user = w->as_user;
	/* No "Tracing ...", which JSON does not say anyway. */
	p->o->view.quiet |=
		w->answers && !(p->o->output.format && !strcmp(p->o->output.format, "json"));
	s->fields = s->fields.n ? s->fields : w->fields;
	s->sort = s->sort.n ? s->sort : w->sort;
	s->events = s->events ? s->events : w->events;
	s->source.text =
		str_z(arena_fmt(p->a, "%.*s\n%s", STRF(s->source.text), out.s ? out.s : ""));
	job_report(j);
	return ok;
}

/* The script's own options: it is parsed for them alone. */
static bool read_options(struct job *j, const struct run_opts *o, const struct script *s,
			 struct host *h)
{
	job_prepare(j, o, s, h);
	compile_parse(&j->c);
	if (source_import(&j->c))
		declare_options(&j->c);
	job_report(j);
	return !j->diags.nerror;
}

/* What has no default is one of the options that many tools have. */
static bool knows_common(const struct tool *t, const struct compile *c)
{
	struct option_table common;
	options_of(in(CMD_TOOL) | in(CMD_SOME), &common);
	for (const struct getopt_use *u = c->getopts; u; u = u->next) {
		bool known = !u->common;
		for (const struct opt *o = common.row; o->id; o++)
			known |= str_is(u->name, o->name);
		if (known)
			continue;
		fprintf(stderr,
			"ERROR: %.*s: option %.*s has no default, and is none that many tools have "
			"(pid, command ...)\n",
			STRF(t->name), STRF(u->name));
		return false;
	}
	return true;
}

/* One sentence, not one for each probe. */
static bool may_trace(const struct tool *t, const struct run_opts *o, struct host *h)
{
	AUTO_SB why = {0};
	if (o->dumps || o->codegen || o->machine.root || o->nrecording || !cap_bpf_missing(h, &why))
		return true;
	fprintf(stderr, "ERROR: %.*s %s\n", STRF(t->name), why.s);
	return false;
}

/* Of an alias that of its script. */
const struct writer *tool_writer(const struct tool *t)
{
	static const struct str before = STR(EMBEDDED "tools/"), behind = STR(".bt");
	if (!str_starts(t->file, before))
		return NULL;
	return writer_find(str_n(t->file.s + before.n, t->file.n - before.n - behind.n));
}

/* The option `version` of a tool that has one asks for that alone. */
static bool asks_version(const struct script *s)
{
	for (u32 i = 0; i < s->nopt; i++)
		if (str_is(s->opts[i].name, "version"))
			return true;
	return false;
}

static struct err *parse_options(struct parse *p, const struct compile *c, int argc, char **argv)
{
	for (const struct getopt_use *u = c->getopts; u; u = u->next)
		add_own(p, u);
	add_common(p, c);
	struct err *e = parse_words(p, argc, argv);
	if (!e && p->o->guest && p->o->target.cmd)
		e = err_new("who asks an agent runs no commands");
	if (!e && p->writer && deny_names(p->o->compile.deny, "probes"))
		e = err_new("%.*s is denied here, because its user writes probes (--deny probes)",
			    STRF(p->tool->name));
	return e;
}

int tool_ask(const struct tool *t, int argc, char **argv)
{
	struct arena a = {0};
	struct run_opts o = {0};
	struct host h;
	struct job j;
	struct script_opt given[MAX_GIVEN + 1];
	struct script s = {.source = {t->file, t->text},
			   .fixed = str_starts(t->file, STR(EMBEDDED)) ? t->text.n : 0,
			   .opts = given};
	struct parse p = {.tool = t, .o = &o, .script = &s, .host = &h, .a = &a, .asks = true};
	int rc = RC_USAGE;
	p.writer = tool_writer(t);
	if (host_prepare(&h, &a, &o) && read_options(&j, &o, &s, &h)) {
		struct err *e = parse_options(&p, &j.c, argc, argv);
		rc = e ? tool_bad_words(&(struct tool_words){t, p.table, argc, argv, p.refused,
							     p.runs, &a},
					e)
		       : RC_OK;
		job_free(&j);
	}
	host_deinit(&h);
	arena_free(&a);
	return rc;
}

int tool_run(const struct tool *t, int nhead, char **head, int argc, char **argv,
	     struct live_chain *chain)
{
	struct arena a = {0};
	struct run_opts o = {0};
	struct host h;
	struct job j;
	struct script_opt given[MAX_GIVEN + 1];
	struct script s = {.source = {t->file, t->text},
			   .fixed = str_starts(t->file, STR(EMBEDDED)) ? t->text.n : 0,
			   .opts = given,
			   .start = {.tool = t->name,
				     .version = STR(SONDE_VERSION),
				     .word = argv + 1,
				     .nword = (u32)MAX(argc - 1, 0)}};
	struct parse p = {.tool = t, .o = &o, .script = &s, .host = &h, .a = &a};
	p.writer = tool_writer(t);
	int rc = RC_USAGE;
	struct err *e = opts_parse(&o, nhead, head);
	o.live.chain = chain;
	if (e) {
		host_init(&h, &a, "");
		rc = tool_bad_words(&(struct tool_words){.tool = t}, e);
	} else if (!host_prepare(&h, &a, &o)) { /* writers ask it, as the compiler does */
		rc = RC_USAGE;
	} else if (read_options(&j, &o, &s, &h) && knows_common(t, &j.c)) {
		e = parse_options(&p, &j.c, argc, argv);
		o.tool = &s;
		if (e)
			rc = tool_bad_words(
				&(struct tool_words){t, p.table, argc, argv, p.refused, p.runs, &a},
				e);
		else if (o.help)
			tool_usage(t, p.table, &j.c, stdout), rc = RC_OK;
		else if (asks_version(&s))
			rc = version(false);
		else if (!may_trace(t, &o, &h))
			rc = RC_LOAD;
		else if (!p.writer || write_probes(&p, &j))
			rc = run_command(&o);
		job_free(&j);
	}
	host_deinit(&h);
	free(o.rest);
	arena_free(&a);
	return rc;
}
