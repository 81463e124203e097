/*
 * fleet.c - sonde fleet --hosts HOST,...: one script or tool on many hosts, whose answers are merged.
 *
 * fleet/ask.c talks with the hosts, or with --nats fleet/bus.c with their agents. When all have answered or failed, rights are given up and the answers are merged as
 * those of sonde merge. A host whose answer cannot be used is left out, and reported as refused.
 */
#include "cmd/fleet.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/file.h"
#include "base/pack.h"
#include "base/sha256.h"
#include "base/spawn.h"
#include "base/units.h"
#include "cmd/merging.h"
#include "cmd/tool.h"
#include "fleet/bus.h"
#include "fleet/hosts.h"
#include "proc/paths.h"
#include "rec/read.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum { RC_FEW = 3, PROGRAMS = 8, NAMES_SHOWN = 8 };
static const u64 default_ns = 10ull * SECOND_NS, max_skew_ns = 100ull * MILLI_NS;

struct program {
	char arch[32];
	struct fleet_program sent;
	void *map;
	size_t bytes;
};
struct fleet {
	struct run_opts o;
	struct merging m;
	struct arena a;
	struct hosts hosts;    /* that are asked */
	VEC(struct str) label; /* of hosts that are asked */
	struct fleet_host *host;
	u32 n;                   /* hosts */
	struct spawn_words pass; /* options that the hosts get as they are */
	const char *via, *sudo, *binaries, *least, *nats, *key;
	bool cache, skew;
	struct start_time at;
	u64 parallel, wait_ns, expect;
	struct program program[PROGRAMS];
	u32 nprogram;
	struct fleet_times times;
	struct fleet_host *hub; /* merged answers */
	u32 nhub;
	u32 *merged, nmerged; /* which hosts are in the answer */
	struct rec_file **file;
	u32 nfile;
};

/* ---- options ---- */

static struct err *add_file(struct fleet *f, const char *path)
{
	enum { MAX_BYTES = 4 << 20 };
	AUTO_SB b = {0};
	int no = file_read(path, MAX_BYTES, &b);
	struct err *e = no ? err_sys(no, "open") : hosts_add_lines(&f->hosts, sb_str(&b));
	return e ? err_wrap(e, "--hosts-file %s: ", path) : NULL;
}

static struct err *set_via(struct fleet *f, const char *val)
{
	struct arena a = {0};
	struct spawn_words word = {0};
	bool good = spawn_split(&a, str_z(val), &word) && word.n && strstr(val, "{}");
	vec_free(&word);
	arena_free(&a);
	f->via = val;
	return good ? NULL
		    : err_new("--via needs a command with {} for the host, as in "
			      "'kubectl exec -i {} -- sh' (got '%s')",
			      val);
}

static struct err *set_wait(struct fleet *f, const char *val)
{
	if (units_time(str_z(val), &f->wait_ns) && f->wait_ns)
		return NULL;
	return err_new("--wait needs a time with its unit, as in 30s or 500ms (got '%s')", val);
}

/* sonde-agent checks them. */
static void add_labels(struct fleet *f, struct str list)
{
	struct str label;
	while (str_cut(&list, ',', &label))
		vec_add(&f->label, label);
}

static struct err *set_count(u64 *ret, const char *name, u32 most, const char *val)
{
	if (str_u64(str_z(val), ret) && *ret && *ret <= most)
		return NULL;
	return err_new("--%s needs a number from 1 to %u (got '%s')", name, most, val);
}

/* "95%", or "38": how many of n. False: it is neither. */
static bool least_of(const char *val, u32 n, u32 *ret)
{
	struct str text = str_z(val ? val : "100%");
	bool percent = str_ends(text, STR("%"));
	u64 number;
	text.n -= percent;
	if (!str_u64(text, &number) || number > (percent ? 100 : BUS_HOSTS))
		return false;
	*ret = percent ? (u32)((n * number + 99) / 100) : (u32)number;
	return true;
}

static struct err *set_least(struct fleet *f, const char *val)
{
	u32 n;
	f->least = val;
	return least_of(val, 1, &n)
		       ? NULL
		       : err_new("--min-hosts needs a number, or one with %% (got '%s')", val);
}

/* What the hosts get, too. */
static void pass_on(struct fleet *f, const char *word, const char *val)
{
	vec_add(&f->pass, (char *)word);
	if (val)
		vec_add(&f->pass, (char *)val);
}

static struct err *set(void *self, int id, const char *val)
{
	struct fleet *f = self;
	switch ((enum option_id)id) {
	case OPT_HOSTS: return hosts_add(&f->hosts, str_z(val));
	case OPT_HOSTS_FILE: return add_file(f, val);
	case OPT_VIA: return set_via(f, val);
	case OPT_SUDO: f->sudo = val; return NULL;
	case OPT_BINARIES: f->binaries = val; return NULL;
	case OPT_CACHE: f->cache = true; return NULL;
	case OPT_AT: return take_start(val, &f->at);
	case OPT_SKEW: f->skew = true; return NULL;
	case OPT_NATS: f->nats = val; return NULL;
	case OPT_KEY: f->key = val; return NULL;
	case OPT_LABEL: add_labels(f, str_z(val)); return NULL;
	case OPT_EXPECT: return set_count(&f->expect, "expect", BUS_HOSTS, val);
	case OPT_PARALLEL: return set_count(&f->parallel, "parallel", HOSTS_MAX, val);
	case OPT_WAIT: return set_wait(f, val);
	case OPT_MIN_HOSTS: return set_least(f, val);
	case OPT_CGROUP: pass_on(f, "--cgroup", val); break;
	case OPT_CONTAINER: pass_on(f, "--container", val); break;
	case OPT_UNSAFE: pass_on(f, "--unsafe", NULL); break;
	case OPT_BUDGET: pass_on(f, "--budget", val); break;
	case OPT_WARNINGS: pass_on(f, "-k", NULL); break;
	case OPT_NO_WARN: pass_on(f, "--no-warnings", NULL); break;
	case OPT_COMPAT: pass_on(f, "--compat", val); break;
	default: break;
	}
	return opts_take(&f->o, (enum option_id)id, val);
}

/* How hosts are reached: by commands or by agents. */
static struct err *check_way(const struct fleet *f)
{
	if (f->nats && (f->via || f->sudo || f->binaries || f->cache || f->parallel))
		return err_new("--nats reaches hosts by their agents: --via, --sudo, --binaries, "
			       "--cache and --parallel do not apply");
	if (!f->nats && (f->label.n || f->expect || f->key))
		return err_new("--label, --expect and --key need --nats URL");
	if (!f->nats && !f->hosts.name.n)
		return err_new(
			"fleet needs hosts: --hosts web1,web2, --hosts-file FILE or --nats URL");
	return NULL;
}

static bool asks_formats(const struct run_opts *o)
{
	return o->output.format && !strcmp(o->output.format, "help");
}

static struct err *parse(struct fleet *f, int argc, char **argv)
{
	struct option_table table;
	int nrest = 0, ndash = 0;
	options_of(in(CMD_FLEET), &table);
	int first = opt_first_operand(table.row, argc, argv);
	AUTO_FREE char **rest = xcalloc((size_t)argc + 1, sizeof(*rest));
	f->o.view.buffering = 'l';
	struct err *e = opt_parse(table.row, first, argv, set, f, rest, &nrest, &ndash);
	f->o.rest = argv + first;
	f->o.nrest = argc - first;
	if (e || f->o.help || asks_formats(&f->o))
		return e;
	if (f->o.nrest && !strcmp(f->o.rest[0], "--")) {
		f->o.rest++;
		f->o.nrest--;
	}
	if ((e = check_way(f)))
		return e;
	return f->o.program || f->o.nrest ? NULL
					  : err_new("fleet needs -e PROGRAM, a script or a tool");
}

/* ---- the question ---- */

static void pack_words(struct sb *b, const struct fleet *f, const char *name, const char *seconds)
{
	static const char *const head[] = {"sonde", "-q", "-f", "answer:alone"};
	const struct run_opts *o = &f->o;
	u32 skip = o->program ? 0 : 1, n = (u32)countof(head) + f->pass.n + (seconds ? 2 : 0);
	pack_u32(b, o->program || !name ? 0 : n);
	pack_u32(b, n + (o->program ? 2 : 1) + (u32)o->nrest - skip);
	for (u32 i = 0; i < countof(head); i++)
		pack_str(b, str_z(head[i]));
	for (u32 i = 0; i < f->pass.n; i++)
		pack_str(b, str_z(f->pass.v[i]));
	for (u32 i = 0; seconds && i < 2; i++)
		pack_str(b, str_z(i ? seconds : "--for"));
	if (o->program)
		pack_str(b, STR("-e"));
	pack_str(b, str_z(o->program ? o->program : name ? name : o->rest[0]));
	for (int i = (int)skip; i < o->nrest; i++)
		pack_str(b, str_z(o->rest[i]));
}

/* Something of a script that no answer contains, or that a host does not have. */
static bool see_unsendable(struct node *n, void *arg)
{
	static const char *const calls[] = {"keep", "span_begin", "span_end", "snapshot"};
	const struct node **found = arg;
	bool bad = n->kind == N_IMPORT && !str_starts(n->name, STR("lib/"));
	for (u32 i = 0; i < countof(calls); i++)
		bad |= n->kind == N_CALL && str_is(n->name, calls[i]);
	if (bad && !*found)
		*found = n;
	return true;
}

static struct err *check_script(struct node *tree)
{
	const struct node *found = NULL;
	for (struct node *n = tree ? tree->a : NULL; n && !found; n = n->next)
		node_walk(n, see_unsendable, &found);
	if (!found)
		return NULL;
	if (found->kind == N_IMPORT)
		return err_new(
			"no host was asked, because the script imports %.*s, which the hosts "
			"do not get",
			STRF(found->name));
	return err_new("no host was asked, because %.*s() writes to a recording, and answers "
		       "contain no events",
		       STRF(found->name));
}

static struct err *check_tool(const struct tool *t, const struct run_opts *o)
{
	if (tool_ask(t, o->nrest, o->rest) == RC_OK)
		return NULL;
	return err_new("no host was asked, because of the arguments of %.*s", STRF(t->name));
}

/* What the hosts are sent, and how long they trace. */
static struct err *make_question(struct fleet *f, struct sb *ret, u64 *for_ns)
{
	struct script s = {0};
	struct tool t;
	struct run_opts *o = &f->o;
	AUTO_SB b = {0};
	bool tool = !o->program && !str_ends(str_z(o->rest[0]), STR(".bt")) &&
		    tool_find(&f->a, str_z(o->rest[0]), &t);
	struct node *tree = NULL;
	if (!tool && !script_parses(o, &f->a, &s, &tree))
		return err_new(
			"no host was asked, because the script could not be read or has errors");
	struct err *e = tool ? check_tool(&t, o) : check_script(tree);
	if (e)
		return e;
	*for_ns = o->limits.for_ns ? o->limits.for_ns : tool && o->nrest > 1 ? 0 : default_ns;
	const char *seconds = *for_ns ? arena_fmt(&f->a, "%lluns", *for_ns) : NULL;
	bool file = !tool && !o->program;
	pack_str(&b, file ? s.source.text : STR(""));
	pack_words(&b, f, file ? arena_strz(&f->a, s.source.name) : NULL, seconds);
	if (b.n > FLEET_MAX_QUESTION || (u32)o->nrest + f->pass.n + 16 > FLEET_MAX_WORDS)
		return err_new("the question is too long");
	sb_add(ret, sb_str(&b));
	return NULL;
}

/* ---- the program that hosts are sent ---- */

/* A program that needs no other file of the machine that it runs on. */
static bool stands_alone(const void *map, size_t n)
{
	struct bytes b = bytes_of(map, n);
	Elf64_Ehdr head;
	const void *p = bytes_take(&b, sizeof(head));
	if (!p)
		return false;
	memcpy(&head, p, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (u32 i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr part;
		if (head.e_phoff > n)
			return false;
		bytes_seek(&b, head.e_phoff + (size_t)i * sizeof(part));
		if (!(p = bytes_take(&b, sizeof(part))))
			return false;
		memcpy(&part, p, sizeof(part));
		if (part.p_type == PT_INTERP)
			return false;
	}
	return true;
}

/* Of --binaries, or this one. */
static struct err *open_program(const struct fleet *f, struct str arch, int *ret)
{
	struct utsname own;
	struct arena a = {0};
	struct err *e = NULL;
	if (f->binaries) {
		const char *path = arena_fmt(&a, "%s/sonde-%.*s", f->binaries, STRF(arch));
		*ret = open(path, O_RDONLY | O_CLOEXEC);
		e = *ret < 0 ? err_sys(errno, "it has no sonde " SONDE_VERSION "; open %s", path)
			     : NULL;
	} else if (uname(&own) || !str_is(arch, own.machine)) {
		e = err_new(
			"it has no sonde " SONDE_VERSION
			", and its processor is %.*s: --binaries names a folder with sonde-%.*s",
			STRF(arch), STRF(arch));
	} else if ((*ret = proc_open_self()) < 0) {
		e = err_sys(errno, "open this program");
	}
	arena_free(&a);
	return e;
}

static struct err *load_program(const struct fleet *f, struct program *p)
{
	struct stat st;
	int fd AUTO_CLOSE = -1;
	struct err *e = open_program(f, str_z(p->arch), &fd);
	if (e)
		return e;
	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > INT32_MAX)
		return err_new("cannot send this program: it is empty or too large");
	p->bytes = (size_t)st.st_size;
	p->map = mmap(NULL, p->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p->map == MAP_FAILED)
		return err_sys(errno, "read the program to be sent");
	if (!stands_alone(p->map, p->bytes)) {
		munmap(p->map, p->bytes);
		return err_new("it has no sonde " SONDE_VERSION
			       ", and this one needs libraries: --binaries names a folder with the "
			       "static sonde-%s",
			       p->arch);
	}
	p->sent.bytes = str_n(p->map, p->bytes);
	sha256_hex(p->map, p->bytes, p->sent.sum);
	return NULL;
}

static struct err *program(void *arg, struct str arch, const struct fleet_program **ret)
{
	struct fleet *f = arg;
	for (u32 i = 0; i < f->nprogram; i++)
		if (str_is(arch, f->program[i].arch)) {
			*ret = &f->program[i].sent;
			return NULL;
		}
	bool plain = arch.n && arch.n < sizeof(f->program[0].arch);
	for (u32 i = 0; i < arch.n; i++)
		plain &= (arch.s[i] >= 'a' && arch.s[i] <= 'z') || arch.s[i] == '_' ||
			 (arch.s[i] >= '0' && arch.s[i] <= '9');
	if (!plain || f->nprogram == PROGRAMS)
		return err_new("no sonde is available for processor '%.*s'", STRF(arch));
	struct program *p = &f->program[f->nprogram];
	*p = (struct program){0};
	memcpy(p->arch, arch.s, arch.n);
	struct err *e = load_program(f, p);
	if (e)
		return e;
	f->nprogram++;
	*ret = &p->sent;
	return NULL;
}

/* ---- asking ---- */

/* How far clocks may be apart. */
static u64 apart_of(const struct fleet *f)
{
	bool given = f->at.at_ns || f->at.after_ns;
	return given && !f->skew ? max_skew_ns : 0;
}

static struct err *ask_by_commands(struct fleet *f, struct str question, u64 for_ns,
				   struct signals *signals)
{
	AUTO_SB version = {0};
	sb_fmt(&version, "sonde %s (commit %s,", SONDE_VERSION, sonde_commit);
	const struct embed *shell = embed_find(STR("src/fleet/far.sh"));
	assert(shell);
	struct fleet_question q = {
		.via = str_z(f->via ? f->via : FLEET_VIA),
		.version = sb_str(&version),
		.sudo = str_z(f->sudo ? f->sudo : "sudo -n"),
		.shell = embed_text(shell),
		.ask = question,
		.at_ns = f->at.at_ns,
		.after_ns = f->at.after_ns,
		.apart_ns = apart_of(f),
		.keep = f->cache,
		.parallel = f->parallel ? (u32)f->parallel : 64,
		.for_ns = for_ns,
		.wait_ns = f->wait_ns,
		.signals = signals,
		.program = program,
		.arg = f,
	};
	f->n = f->hosts.name.n;
	f->host = xcalloc(f->n, sizeof(*f->host));
	for (u32 i = 0; i < f->n; i++)
		f->host[i].name = f->hosts.name.v[i];
	return fleet_ask(&q, f->host, f->n, &f->times);
}

static struct err *ask_by_agents(struct fleet *f, struct str question, u64 for_ns,
				 struct signals *signals)
{
	const struct bus_question q = {
		.url = str_z(f->nats),
		.key = str_z(f->key ? f->key : ""),
		.host = f->hosts.name.v,
		.nhost = f->hosts.name.n,
		.label = f->label.v,
		.nlabel = f->label.n,
		.for_ns = for_ns,
		.wait_ns = f->wait_ns,
		.at_ns = f->at.at_ns,
		.after_ns = f->at.after_ns,
		.apart_ns = apart_of(f),
		.expect = (u32)f->expect,
		.hubs = !f->o.by_host, /* there would be nothing to merge; labels are the same option */
		.frame = question,
		.signals = signals,
		.arena = &f->a,
	};
	struct bus_answer got;
	struct err *e = fleet_ask_bus(&q, &got);
	f->host = got.host;
	f->n = got.n;
	f->hub = got.hub;
	f->nhub = got.nhub;
	f->times = got.times;
	return e || f->n ? e : err_new("no agent has answered (%s)", f->nats);
}

static struct err *ask(struct fleet *f, struct str question, u64 for_ns)
{
	struct signals signals = SIGNALS_NONE;
	sigset_t before;
	f->wait_ns = f->wait_ns ? f->wait_ns : default_ns;
	sigprocmask(SIG_BLOCK, NULL, &before);
	struct err *e = signals_open(&signals, false, false);
	if (!e && f->nats)
		e = ask_by_agents(f, question, for_ns, &signals);
	else if (!e)
		e = ask_by_commands(f, question, for_ns, &signals);
	signals_close(&signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return e;
}

/* ---- merging ---- */

/* Its answer is not used, or not all of it. */
static void leave_out(struct fleet *f, u32 i, enum fleet_end end, const char *why)
{
	struct fleet_host *h = &f->host[i];
	h->end = end;
	sb_clear(&h->why);
	sb_visible(&h->why, str_z(why));
}

static bool is_used(const struct fleet *f, const struct fleet_host *h)
{
	bool partial = h->end == FLEET_PARTIAL || h->end == FLEET_LATE;
	return h->bytes && (h->end == FLEET_ANSWERED || (f->o.partial && partial));
}

/* The host becomes the next one of the merge. */
static struct err *add_to_merge(struct fleet *f, u32 i, struct rec_file *file)
{
	struct str name = f->host[i].name, labels = hosts_labels(&f->hosts, name);
	struct err *e = merge_add_named(f->m.merge, file, name, i);
	if (e)
		return e;
	if (labels.n)
		merge_label(f->m.merge, labels);
	f->merged[f->nmerged++] = i;
	return NULL;
}

/* False: it was left out. */
static bool add_host(struct fleet *f, u32 i)
{
	struct fleet_host *h = &f->host[i];
	struct rec_file **file = &f->file[f->nfile];
	char *name = arena_strz(&f->a, h->name);
	int fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
	struct err *e = fd < 0 ? err_sys(errno, "open") : rec_open_fd(fd, name, file);
	if (!e && !rec_info(*file)->closed && h->end == FLEET_ANSWERED)
		leave_out(f, i, FLEET_PARTIAL, "its answer has no end");
	if (!e && is_used(f, h))
		e = add_to_merge(f, i, *file);
	if (e)
		leave_out(f, i, FLEET_REFUSED, e->msg);
	bool good = !e && is_used(f, h);
	if (!good && *file) {
		rec_close(*file);
		*file = NULL;
	}
	f->nfile += good;
	err_free(e);
	return good;
}

static bool is_in(const struct fleet_host *h, u32 hub)
{
	return h->merged == hub + 1 && h->end == FLEET_ANSWERED && !h->bytes;
}

/* Of all hosts in the merged answer. */
static void leave_out_all(struct fleet *f, u32 hub, const char *why)
{
	for (u32 i = 0; i < f->n; i++)
		if (is_in(&f->host[i], hub))
			leave_out(f, i, FLEET_REFUSED, why);
}

/* The host that a line of the merged answer names; f->n if it was not the hub's. */
static u32 host_named(const struct fleet *f, u32 hub, const struct tab *seen, struct str name)
{
	u32 i = 0;
	while (i < f->n && !(is_in(&f->host[i], hub) && str_eq(f->host[i].name, name)))
		i++;
	return tab_get(seen, name) ? f->n : i;
}

static struct err *add_merged_hosts(struct fleet *f, u32 hub, struct rec_file *file)
{
	struct tab seen = {0};
	struct str names = merge_bundled(file), name;
	u32 wanted = 0, was = f->nmerged;
	struct err *e = NULL;
	for (u32 i = 0; i < f->n; i++)
		wanted += is_in(&f->host[i], hub);
	while (!e && names.n && str_cut(&names, '\n', &name)) {
		u32 i = host_named(f, hub, &seen, name);
		if (i == f->n)
			break;
		tab_add(&seen, f->host[i].name, f);
		e = add_to_merge(f, i, file);
	}
	tab_free(&seen);
	if (!e && f->nmerged - was != wanted)
		e = err_new("its hub names other hosts than those that it was to merge");
	return e;
}

/* An answer that a hub has merged. An error: it is not used, and what was added must be forgotten. */
static struct err *add_merged(struct fleet *f, u32 hub)
{
	struct fleet_host *h = &f->hub[hub];
	struct rec_file **file = &f->file[f->nfile];
	char *name = arena_strz(&f->a, h->name);
	int fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
	struct err *e = fd < 0 ? err_sys(errno, "open") : rec_open_fd(fd, name, file);
	if (e)
		return e;
	f->nfile++;
	if (!rec_info(*file)->closed)
		return err_new("the answer of its hub has no end");
	return add_merged_hosts(f, hub, *file);
}

static int by_number(const void *a, const void *b)
{
	return (*(const u32 *)a > *(const u32 *)b) - (*(const u32 *)a < *(const u32 *)b);
}

/* False: a merged answer was left out, and the others are to be added anew. */
static bool add_answers(struct fleet *f)
{
	AUTO_FREE bool *added = xcalloc(f->nhub + 1ul, sizeof(*added));
	for (u32 i = 0; i < f->n; i++) {
		const struct fleet_host *h = &f->host[i];
		u32 hub = h->merged - 1;
		if (is_used(f, h))
			add_host(f, i);
		if (!h->merged || added[hub] || !is_in(h, hub))
			continue;
		struct err *e = add_merged(f, hub);
		added[hub] = true;
		if (e)
			leave_out_all(f, hub, e->msg);
		err_free(e);
		if (e)
			return false;
	}
	qsort(f->merged, f->nmerged, sizeof(*f->merged), by_number); /* as merge has them */
	return true;
}

/* Its answer cannot be merged; if it is in one with others, these are left out, too. */
static void leave_out_merged(struct fleet *f, u32 i, const char *why)
{
	const struct fleet_host *h = &f->host[i];
	if (h->merged && is_in(h, h->merged - 1))
		leave_out_all(f, h->merged - 1, why);
	else
		leave_out(f, i, FLEET_REFUSED, why);
}

static void forget(struct fleet *f)
{
	for (u32 i = 0; i < f->nfile; i++) {
		rec_close(f->file[i]);
		f->file[i] = NULL;
	}
	f->nmerged = f->nfile = 0;
	merge_free(f->m.merge);
	f->m.merge = NULL;
}

/* Answers that contain nothing but why the host could not trace. */
static bool drop_failed(struct fleet *f)
{
	bool any = false;
	for (u32 i = 0; i < f->nmerged; i++) {
		struct str why = merge_run(f->m.merge, i).error;
		if (!why.n)
			continue;
		leave_out_merged(f, f->merged[i], arena_strz(&f->a, why));
		any = true;
	}
	return any;
}

/* Until those that are left belong together. */
static void read_answers(struct fleet *f)
{
	for (;;) {
		f->m.merge = merge_new(&(struct merge_spec){.by_host = f->o.by_host,
							    .by_label = str_z(f->o.by_label),
							    .partial = f->o.partial});
		bool all = add_answers(f);
		struct err *e = all && f->nmerged ? merge_read(f->m.merge) : NULL;
		if (all && !e && !drop_failed(f))
			return;
		if (e)
			leave_out_merged(f, f->merged[merge_failed(f->m.merge)], e->msg);
		err_free(e);
		forget(f);
	}
}

/* ---- who is in the answer ---- */

static const char *const kinds[FLEET_ENDS] = {
	[FLEET_ANSWERED] = "answered", [FLEET_UNREACHABLE] = "unreachable",
	[FLEET_REFUSED] = "refused",   [FLEET_LATE] = "late",
	[FLEET_PARTIAL] = "partial",
};

/* "2 unreachable: web17 db3" */
static void put_kind(struct sb *b, const struct fleet *f, enum fleet_end kind, bool *any)
{
	AUTO_SB names = {0};
	u32 n = 0;
	for (u32 i = 0; i < f->n; i++) {
		if (f->host[i].end != kind)
			continue;
		if (n++ < NAMES_SHOWN)
			sb_fmt(&names, " %.*s", STRF(f->host[i].name));
	}
	if (!n)
		return;
	sb_fmt(b, "%s%u %s:%s%s", *any ? "; " : " (", n, kinds[kind], names.s,
	       n > NAMES_SHOWN ? " ..." : "");
	*any = true;
}

/* How far the clocks of hosts that have answered are apart, at most. */
static u64 skew_of(const struct fleet *f)
{
	i64 low = INT64_MAX, high = INT64_MIN;
	for (u32 i = 0; i < f->n; i++) {
		const struct fleet_host *h = &f->host[i];
		if (h->end != FLEET_ANSWERED)
			continue;
		low = MIN(low, h->ahead_ns - (i64)h->unsure_ns);
		high = MAX(high, h->ahead_ns + (i64)h->unsure_ns);
	}
	return low > high ? 0 : (u64)high - (u64)low;
}

/* When hosts began, by this machine's clock, as far as that is known. */
static void find_starts(const struct fleet *f, struct fleet_facts *ret)
{
	i64 low = INT64_MAX, high = INT64_MIN;
	for (u32 i = 0; i < f->nmerged; i++) {
		const struct fleet_host *h = &f->host[f->merged[i]];
		i64 at = (i64)(merge_run(f->m.merge, i).attached_ns & INT64_MAX) - h->ahead_ns;
		if (!merge_run(f->m.merge, i).attached_ns)
			continue;
		low = MIN(low, at - (i64)h->unsure_ns);
		high = MAX(high, at + (i64)h->unsure_ns);
	}
	ret->started = low <= high;
	ret->start_ns = ret->started ? (u64)high - (u64)low : 0;
}

/* What the answers are without, and what they took. */
static void find_runs(struct fleet *f, struct fleet_facts *ret)
{
	u32 n = 0;
	for (u32 i = 0; i < f->nmerged; i++)
		n += merge_run(f->m.merge, i).nlack;
	struct fleet_lack *lack = arena_newn(&f->a, struct fleet_lack, n + 1ul);
	ret->lack = lack;
	for (u32 i = 0; i < f->nmerged; i++) {
		const struct merge_run run = merge_run(f->m.merge, i);
		struct str host = merge_host(f->m.merge, i);
		for (u32 k = 0; k < run.nlack; k++)
			lack[ret->nlack++] = (struct fleet_lack){host, run.lack[k]};
		if (!run.measured || (ret->dearest.n && run.share <= ret->share))
			continue;
		ret->dearest = host;
		ret->share = run.share;
	}
}

static struct fleet_facts facts_of(struct fleet *f)
{
	u32 n = f->n;
	struct fleet_fact *fact = arena_newn(&f->a, struct fleet_fact, n);
	struct fleet_facts ret = {
		.fact = fact, .asked = n, .ns = f->times.took_ns, .spread_ns = f->times.spread_ns};
	for (u32 i = 0; i < n; i++) {
		const struct fleet_host *h = &f->host[i];
		ret.answered += h->end == FLEET_ANSWERED;
		if (h->end == FLEET_ANSWERED)
			continue;
		fact[ret.nfact++] =
			(struct fleet_fact){h->name, str_z(kinds[h->end]), sb_str(&h->why)};
	}
	ret.lost = merge_lost(f->m.merge, &ret.lossy);
	ret.skew_ns = skew_of(f);
	find_starts(f, &ret);
	find_runs(f, &ret);
	return ret;
}

static u32 count_lacking(const struct fleet_facts *facts)
{
	u32 n = 0;
	for (u32 i = 0; i < facts->nlack; i++)
		n += !i || !str_eq(facts->lack[i].host, facts->lack[i - 1].host);
	return n;
}

/*
 * "38 of 40 hosts (2 unreachable: web17 db3); 10.0 s, started within 0.4 ms, clocks within 2.1 ms; lost 214 events on 3
 * hosts; probes missing on 4 hosts; 0.4 % CPU at most (web9)"
 */
static void put_sentence(struct sb *b, const struct fleet *f, const struct fleet_facts *facts)
{
	bool any = false;
	sb_fmt(b, "%u of %u host%s", facts->answered, facts->asked, facts->asked == 1 ? "" : "s");
	for (u32 k = FLEET_UNREACHABLE; k < FLEET_ENDS; k++)
		put_kind(b, f, (enum fleet_end)k, &any);
	sb_fmt(b, "%s; %.1f s", any ? ")" : "", (double)facts->ns / 1e9);
	if (facts->answered > 1)
		sb_fmt(b, ", %s within %.1f ms, clocks within %.1f ms",
		       facts->started ? "started" : "asked",
		       (double)(facts->started ? facts->start_ns : facts->spread_ns) / 1e6,
		       (double)facts->skew_ns / 1e6);
	u32 lacking = count_lacking(facts);
	if (facts->lossy) {
		sb_z(b, "; lost ");
		units_grouped(b, facts->lost);
		sb_fmt(b, " events on %llu host%s", facts->lossy, facts->lossy == 1 ? "" : "s");
	}
	if (lacking)
		sb_fmt(b, "; probes missing on %u host%s", lacking, lacking == 1 ? "" : "s");
	if (facts->dearest.n)
		sb_fmt(b, "; %.3g %% CPU at most (%.*s)", (double)facts->share / 1e4,
		       STRF(facts->dearest));
}

/* Hosts of which the same is to be said. */
struct alike {
	struct str first;
	u32 n;
};

/* "web1: ", "web1 and 39 others: " before each line of the text. */
static void print_lines(const char *head, const struct alike *alike, struct str text)
{
	AUTO_SB b = {0};
	struct str line;
	while (text.n && str_cut(&text, '\n', &line)) {
		sb_fmt(&b, "%s%.*s", head, STRF(alike->first));
		if (alike->n > 1)
			sb_fmt(&b, " and %u other%s", alike->n - 1, alike->n > 2 ? "s" : "");
		sb_fmt(&b, ": %.*s\n", STRF(line));
	}
	fwrite(b.s ? b.s : "", 1, b.n, stderr);
}

static void print_all(const char *head, const struct tab *t)
{
	for (u32 i = 0; i < t->n; i++)
		print_lines(head, t->v[i].val, t->v[i].key);
}

/* The only line that it printed is the reason. */
static bool says_it_all(const struct fleet_host *h)
{
	struct str said = str_trim(sb_str(&h->said)), why = sb_str(&h->why);
	return h->end != FLEET_ANSWERED && str_chr(said, '\n') < 0 && why.n && str_ends(said, why);
}

static void add_alike(struct fleet *f, struct tab *t, struct str text, struct str host)
{
	struct alike *v = tab_get(t, text);
	if (!v && text.n) {
		v = arena_new(&f->a, struct alike);
		v->first = host;
		tab_add(t, arena_str(&f->a, text), v);
	}
	if (v)
		v->n++;
}

/* Texts are merged by the clocks of their hosts. */
static void put_clock(struct sb *b, const struct fleet_host *h)
{
	u64 off = h->ahead_ns < 0 ? -(u64)h->ahead_ns : (u64)h->ahead_ns;
	const char *where = h->ahead_ns < 0 ? "behind" : "ahead of";
	if (h->end == FLEET_ANSWERED && off > h->unsure_ns && off - h->unsure_ns > max_skew_ns)
		sb_fmt(b, "its clock is %.*f s %s this machine's",
		       off > 10 * (u64)SECOND_NS ? 0 : 1, (double)off / 1e9, where);
}

/* Messages of hosts, then which did not answer; what several say alike comes once. */
static void report_hosts(struct fleet *f)
{
	struct tab said = {0}, why = {0};
	for (u32 i = 0; i < f->n; i++) {
		AUTO_SB b = {0};
		const struct fleet_host *h = &f->host[i];
		if (!says_it_all(h))
			add_alike(f, &said, sb_str(&h->said), h->name);
		if (h->end != FLEET_ANSWERED)
			sb_fmt(&b, "%s: %.*s", kinds[h->end], STRF(sb_str(&h->why)));
		put_clock(&b, h);
		add_alike(f, &why, sb_str(&b), h->name);
	}
	fflush(stdout);
	print_all("", &said);
	print_all("WARNING: ", &why);
	tab_free(&said);
	tab_free(&why);
}

/* What was answered, and by whom. */
static struct err *put_answer(struct fleet *f)
{
	AUTO_SB text = {0};
	struct merging *m = &f->m;
	const struct sink *sink = m->out.choice.sink;
	struct fleet_facts facts = facts_of(f);
	put_sentence(&text, f, &facts);
	struct item last = {.kind = I_FLEET, .str = sb_str(&text), .fleet = &facts};
	bool json = sink == sink_named(STR("json")),
	     tells = json || !f->o.view.quiet || facts.answered < facts.asked;
	m->last = tells ? &last : NULL;
	report_hosts(f);
	if (f->nmerged || sink->text || json)
		return merging_close(m, merging_put(m));
	fprintf(stderr, "%s\n", text.s);
	return output_close(&m->out, false);
}

static struct err *answered(struct fleet *f)
{
	struct err *e = merging_confine(&f->m);
	if (e)
		return merging_close(&f->m, e);
	read_answers(f);
	e = put_answer(f);
	for (u32 i = 0; i < f->nfile; i++)
		rec_close(f->file[i]);
	return e;
}

static struct err *run(struct fleet *f, u32 *got)
{
	AUTO_SB question = {0};
	u64 for_ns = 0;
	enum { FDS = 6 }; /* streams, an answer and its reader; and one to spare */
	merging_allow_files((f->nats ? BUS_HOSTS : f->hosts.name.n) * FDS);
	struct err *e = make_question(f, &question, &for_ns);
	if (!e)
		e = merging_open(&f->m);
	if (e)
		return e;
	e = ask(f, sb_str(&question), for_ns);
	f->merged = xcalloc(f->n, sizeof(*f->merged));
	f->file = xcalloc((size_t)f->n + f->nhub, sizeof(*f->file));
	e = e ? merging_close(&f->m, e) : answered(f);
	for (u32 i = 0; i < f->n; i++)
		*got += f->host[i].end == FLEET_ANSWERED;
	fleet_free(f->host, f->n);
	fleet_free(f->hub, f->nhub);
	free(f->host);
	free(f->hub);
	free(f->merged);
	free(f->file);
	return e;
}

static void fleet_deinit(struct fleet *f)
{
	for (u32 i = 0; i < f->nprogram; i++)
		munmap(f->program[i].map, f->program[i].bytes);
	merging_free(&f->m);
	vec_free(&f->pass);
	hosts_free(&f->hosts);
	vec_free(&f->label);
	arena_free(&f->a);
}

int cmd_fleet(int argc, char **argv, bool compat)
{
	struct fleet f = {.m = {.out = {.fd = -1}}};
	int rc = RC_OK;
	u32 got = 0, least = 0;
	(void)compat;
	if (argc > 1 && (!strcmp(argv[1], "list") || !strcmp(argv[1], "stop"))) {
		execvp(FLEET_AGENT, argv);
		fputs("ERROR: " FLEET_NO_AGENT "\n", stderr);
		return RC_USAGE;
	}
	f.m.o = &f.o;
	struct err *e = parse(&f, argc, argv);
	if (e) {
		fprintf(stderr, "ERROR: %s\nUSAGE:\n    sonde %s\n", e->msg, command_use("fleet"));
		rc = RC_USAGE;
	} else if (f.o.help) {
		opts_usage(stdout, CMD_FLEET, command_use("fleet"));
	} else if (asks_formats(&f.o)) {
		output_help();
	} else if ((e = run(&f, &got))) {
		fprintf(stderr, "ERROR: %s\n", e->msg);
		rc = RC_USAGE;
	} else if (least_of(f.least, f.n, &least) && got < least) {
		rc = RC_FEW;
	}
	err_free(e);
	fleet_deinit(&f);
	return rc;
}
