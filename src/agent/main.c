/*
 * main.c - sonde-agent: answers questions of `sonde fleet --nats` about this host, and talks with agents for it.
 *
 *	sonde-agent -c FILE                       the agent of a host
 *	sonde-agent -c FILE --hub                 a hub, which merges answers of other hosts
 *	sonde-agent --nats URL --simulate N FILE  so many agents, which answer with FILE, or about that recording
 *	sonde-agent ask                           started by sonde fleet
 *	sonde-agent list, sonde-agent stop        `sonde fleet list`, `sonde fleet stop`
 */
#include "agent/agent.h"
#include "agent/ask.h"
#include "agent/guard.h"
#include "agent/hub.h"
#include "agent/nats.h"
#include "agent/policy.h"
#include "agent/sign.h"
#include "api/version.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/opt.h"
#include "base/pack.h"
#include "base/signals.h"
#include "base/units.h"
#include "base/vec.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <syslog.h>

enum { MAX_AGENTS = 10000, MAX_FRAME = 2 << 20, DEFAULT_RUNNING = 4, WHO_WAIT_MS = 1500 };
enum { RC_REFUSED = 3 }; /* as of sonde fleet, if hosts are missing */
static const u64 LONGEST_TOOL_NS = 3600ull * SECOND_NS, SLACK_NS = 60ull * SECOND_NS;
enum option_id {
	O_NONE,
	O_NATS,
	O_NAME,
	O_LABEL,
	O_SONDE,
	O_SIMULATE,
	O_WAIT,
	O_ALL,
	O_QUIET,
	O_CONF,
	O_ANY,
	O_HUB,
	O_KEY,
	O_HELP
};

static const struct opt options[] = {
	{"conf", 'c', "FILE", "read the configuration, as " CONF_PATH, O_CONF},
	{"nats", 0, "URL",
	 "connect to this server: nats://HOST:4222, tls://HOST:4222, or a file like that of -c",
	 O_NATS},
	{"name", 0, "NAME", "name of this host (default: its host name)", O_NAME},
	{"label", 0, "KEY=VALUE",
	 "label of this host; may be repeated. Of list: only hosts with this label", O_LABEL},
	{"sonde", 0, "PROGRAM", "program that traces (default: sonde)", O_SONDE},
	{"any", 0, NULL, "without -c: run whatever anybody asks, as root", O_ANY},
	{"hub", 0, NULL, "merge answers of other hosts for askers; this host is not asked", O_HUB},
	{"simulate", 0, "N",
	 "act as N agents, which answer with FILE, or with what the question finds in a recording "
	 "FILE; {} in its name stands for the number of the agent",
	 O_SIMULATE},
	{"wait", 0, "TIME", "of list and stop: wait for answers for TIME (default: 1500ms)",
	 O_WAIT},
	{"all", 0, NULL, "of stop: end all questions", O_ALL},
	{"key", 0, "FILE", "of stop: sign with this key, for hosts that demand signatures", O_KEY},
	{"quiet", 'q', NULL, "do not print what happens", O_QUIET},
	{"help", 'h', NULL, "print this help", O_HELP},
	{0},
};
struct words {
	char **v;
	u32 n;
};
struct program {
	struct arena a;
	const char *url, *name, *sonde;
	VEC(struct str) label;
	u64 simulate, wait_ns;
	bool all, quiet, help, any, hub;
	bool feeds; /* simulated agents ask a recording */
	const char *conf_path, *key;
	struct conf conf;    /* zeros if there is none */
	struct guard *guard; /* NULL: everything runs */
	struct words rest;
	struct inbox *in;
	struct signals signals;
	u32 refused; /* hosts that did not stop */
};
/* One agent. */
struct side {
	struct program *p;
	struct agent_setup setup;
	struct agent *agent;
	struct hub_setup hub_setup;
	struct hub *hub; /* or NULL */
	struct nats *nats;
	struct sample sample;
	const char *feed; /* the recording, instead; or NULL */
	bool subscribed;
};

static struct err *add_label(struct program *p, const char *val)
{
	struct str key, value;
	if (!subject_is_label(str_z(val), &key, &value))
		return err_new(
			"--label needs KEY=VALUE of letters, digits and ._-:@/%%+ (got '%s')", val);
	vec_add(&p->label, str_z(val));
	return NULL;
}

static struct err *set(void *self, int id, const char *val)
{
	struct program *p = self;
	switch ((enum option_id)id) {
	case O_NATS: p->url = val; break;
	case O_NAME: p->name = val; break;
	case O_SONDE: p->sonde = val; break;
	case O_LABEL: return add_label(p, val);
	case O_ALL: p->all = true; break;
	case O_KEY: p->key = val; break;
	case O_CONF: p->conf_path = val; break;
	case O_ANY: p->any = true; break;
	case O_HUB: p->hub = true; break;
	case O_QUIET: p->quiet = true; break;
	case O_HELP: p->help = true; break;
	case O_WAIT:
		if (!units_time(str_z(val), &p->wait_ns) || !p->wait_ns)
			return err_new(
				"--wait needs a time with its unit, as in 30s or 500ms (got '%s')",
				val);
		break;
	case O_SIMULATE:
		if (!str_u64(str_z(val), &p->simulate) || !p->simulate || p->simulate > MAX_AGENTS)
			return err_new("--simulate needs a number from 1 to %d (got '%s')",
				       MAX_AGENTS, val);
		break;
	case O_NONE: break;
	}
	return NULL;
}

/* ---- the configuration ---- */

/* Options of the command line come before lines of the file. */
static struct err *read_conf(struct program *p, const char *path)
{
	struct err *e = conf_read(&p->conf, path);
	const struct conf *c = &p->conf;
	if (e)
		return e;
	p->url = c->url;
	p->name = p->name ? p->name : c->name;
	p->sonde = p->sonde ? p->sonde : c->sonde;
	p->hub |= c->hub;
	for (u32 i = 0; i < c->label.n; i++) {
		e = add_label(p, arena_strz(&p->a, c->label.v[i]));
		if (e)
			return err_wrap(e, "%s: ", path);
	}
	return NULL;
}

/* The server of who asks is in a file, or is one. */
static struct err *find_server(struct program *p, const char *url)
{
	if (!url || strstr(url, "://")) {
		p->url = url;
		return NULL;
	}
	struct err *e = read_conf(p, url);
	vec_free(&p->label);
	return e;
}

static struct nats_spec server_of(const struct program *p, const char *name)
{
	const struct conf *c = &p->conf;
	return (struct nats_spec){.url = p->url,
				  .name = name,
				  .nkey = c->nkey,
				  .nkey_seed = c->nkey_seed,
				  .ca = c->tls_ca,
				  .cert = c->tls_cert,
				  .key = c->tls_key};
}

/* ---- the agent ---- */

static void say(const struct program *p, struct str host, const char *what, const char *more)
{
	AUTO_SB b = {0};
	sb_visible(&b, str_z(more));
	if (!p->quiet)
		fprintf(stderr, "%.*s: %s%s%s\n", STRF(host), what, b.n ? ": " : "",
			b.n ? b.s : "");
}

static bool send_out(void *arg, const char *subject, struct str bytes)
{
	struct side *s = arg;
	struct err *e = nats_send(s->nats, subject, bytes);
	bool good = !e;
	err_free(e);
	return good;
}

static struct err *judge(void *arg, const struct question *q, struct str bytes,
			 struct str signature)
{
	struct side *s = arg;
	return s->p->guard ? guard_judge(s->p->guard, q, bytes, signature) : NULL;
}

/* Without a policy. */
static void own_frame(const struct side *s, const struct question *q, struct sb *ret)
{
	struct arena a = {0};
	struct question_list more = {0};
	policy_label_words(&s->setup.label, &a, &more);
	if (s->feed)
		arena_push(&a, more.v, more.n, str_z(arena_fmt(&a, "--recording=%s", s->feed)));
	question_frame(q, &more, ret);
	arena_free(&a);
}

static struct err *start_task(void *arg, const struct question *q, u64 for_ns, struct task **ret)
{
	AUTO_SB frame = {0};
	struct side *s = arg;
	struct question mine = *q;
	if (s->p->simulate && !s->feed) {
		task_sample(&s->sample, for_ns, ret);
		return NULL;
	}
	mine.for_ns = s->feed ? q->for_ns : for_ns;
	if (s->p->guard)
		guard_frame(s->p->guard, q, for_ns, &frame);
	else
		own_frame(s, &mine, &frame);
	const char *const words[] = {s->p->sonde ? s->p->sonde : "sonde", "fleet-host"};
	struct err *e = task_child(words, countof(words), sb_str(&frame), ret);
	if (!e && s->p->guard && (e = guard_started(s->p->guard, (*ret)->pid))) {
		task_free(*ret);
		*ret = NULL;
	}
	return e;
}

/* What it said last, of a task that failed. */
static struct str reason_of(const struct task *t)
{
	struct str rest = t->wrong ? str_z(t->wrong) : str_trim(sb_str(&t->said)), line = rest;
	while (rest.n && str_cut(&rest, '\n', &line))
		;
	return line;
}

static void record(struct side *s, const u8 id[QUESTION_ID], const struct task *t, const char *why)
{
	AUTO_SB json = {0};
	struct guard_end end = {.end = AUDIT_REFUSED, .why = why ? str_z(why) : STR("")};
	if (!s->p->guard)
		return;
	if (t) {
		bool failed = t->wrong || t->status;
		end = (struct guard_end){.end = failed   ? AUDIT_FAILED
						: t->cut ? AUDIT_STOPPED
							 : AUDIT_ANSWERED,
					 .why = failed ? reason_of(t) : STR(""),
					 .cpu_ns = t->cpu_ns,
					 .bytes = task_answer(t).n};
	}
	guard_ended(s->p->guard, id, &end, &json);
	send_out(s, "sonde.audit", sb_str(&json));
}

static void ended(void *arg, const u8 id[QUESTION_ID], const struct task *t, const char *why)
{
	AUTO_SB b = {0};
	struct side *s = arg;
	if (t)
		sb_fmt(&b, "%u bytes, status %d%s", task_answer(t).n, t->status,
		       t->cut ? ", stopped" : "");
	say(s->p, s->setup.host, t ? "answered" : "refused", t ? b.s : why);
	record(s, id, t, why);
}

static struct err *may_stop(void *arg, const u8 id[QUESTION_ID], struct str order)
{
	AUTO_SB json = {0};
	struct side *s = arg;
	struct err *e = s->p->guard ? guard_stop(s->p->guard, id, order, &json) : NULL;
	if (e)
		say(s->p, s->setup.host, "refused to stop", e->msg);
	if (json.n)
		send_out(s, "sonde.audit", sb_str(&json));
	return e;
}

/* A file of sonde with a block of events: docs/recording.md. */
static bool has_events(const char *path)
{
	enum { HEAD = 56, EVENTS = 16, ANSWER = 17 };
	u8 head[HEAD];
	u64 at = 64;
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	for (u8 kind = 0; fd >= 0 && kind != ANSWER;) {
		if (pread(fd, head, HEAD, (off_t)at) != HEAD)
			return false;
		struct bytes b = bytes_of(head, HEAD);
		if (bytes_u32(&b) != 0x4b4c4253) /* "SBLK" */
			return false;
		kind = bytes_u8(&b);
		bytes_seek(&b, 8);
		at = ALIGN_UP(at + HEAD + bytes_u32(&b), 8);
		if (kind == EVENTS)
			return true;
	}
	return false;
}

static struct err *read_sample(struct program *p, u32 number, struct side *ret)
{
	AUTO_SB path = {0}, bytes = {0};
	struct str rest = str_z(p->rest.v[0]);
	i32 at = str_find(rest, STR("{}"));
	sb_add(&path, str_n(rest.s, at < 0 ? rest.n : (u32)at));
	if (at >= 0) {
		sb_u64(&path, number);
		sb_add(&path, str_from(rest, (u32)at + 2));
	}
	if (has_events(path.s)) {
		ret->feed = arena_strz(&p->a, sb_str(&path));
		p->feeds = true;
		return NULL;
	}
	int no = file_read(path.s, ANSWER_MAX, &bytes);
	if (no)
		return err_sys(no, "open %s", path.s);
	ret->sample.bytes = arena_str(&p->a, sb_str(&bytes));
	return NULL;
}

/* Of a simulation without {} all have the same. */
static struct err *set_sample(struct program *p, struct side *s, const struct side *first,
			      u32 number)
{
	if (!p->simulate)
		return NULL;
	if (s != first && !strstr(p->rest.v[0], "{}")) {
		s->sample = first->sample;
		s->feed = first->feed;
		return NULL;
	}
	return read_sample(p, number, s);
}

/* ---- a hub ---- */

static struct err *judge_for_hub(void *arg, const struct question *q, struct str bytes,
				 struct str signature)
{
	const struct side *s = arg;
	if (!s->p->conf_path)
		return NULL;
	return policy_merges(&s->p->conf, q, bytes, signature, clock_ns(CLOCK_REALTIME));
}

static struct err *start_merge(void *arg, struct task **ret)
{
	const struct side *s = arg;
	const char *const words[] = {s->p->sonde ? s->p->sonde : "sonde", "fleet-hub"};
	struct err *e = task_child(words, countof(words), STR(""), ret);
	if (!e && s->p->conf_path && (e = policy_limit(&s->p->conf, (*ret)->pid))) {
		task_free(*ret);
		*ret = NULL;
	}
	return e;
}

static void merged(void *arg, u32 nhost, const char *why)
{
	AUTO_SB b = {0};
	const struct side *s = arg;
	sb_fmt(&b, "answers of %u host%s", nhost, nhost == 1 ? "" : "s");
	say(s->p, s->setup.host, why ? "refused" : "merged", why ? why : b.s);
}

static void open_hub(struct side *s)
{
	s->hub_setup = (struct hub_setup){.host = s->setup.host,
					  .boot = s->setup.boot,
					  .kernel = s->setup.kernel,
					  .version = s->setup.version,
					  .max_running = s->setup.max_running,
					  .arg = s,
					  .send = send_out,
					  .judge = judge_for_hub,
					  .start = start_merge,
					  .ended = merged};
	s->hub = hub_new(&s->hub_setup);
}

/* ---- both ---- */

static bool subject_of(const struct side *s, u32 i, struct sb *ret)
{
	return s->hub ? hub_subject(s->hub, i, ret) : agent_subject(s->agent, i, ret);
}

static void take_bytes(struct side *s, const struct letter *l)
{
	if (s->hub)
		hub_take(s->hub, l->bytes);
	else if (subject_is_from_hub(l->subject))
		agent_take_of_hub(s->agent, l->bytes);
	else
		agent_take(s->agent, l->bytes);
}

static void step_side(struct side *s)
{
	s->hub ? hub_step(s->hub) : agent_step(s->agent);
}

static u64 due_of(const struct side *s)
{
	return s->hub ? hub_due(s->hub) : agent_due(s->agent);
}

static struct err *subscribe(struct side *s)
{
	struct err *e = NULL;
	AUTO_SB subject = {0};
	for (u32 i = 0; !e && subject_of(s, i, &subject); i++) {
		e = nats_subscribe(s->nats, subject.s);
		sb_clear(&subject);
	}
	return e;
}

static struct err *open_side(struct program *p, struct side *s, u32 i,
			     const struct agent_setup *like)
{
	s->p = p;
	s->setup = *like;
	s->setup.arg = s;
	if (p->simulate)
		s->setup.host = str_z(arena_fmt(&p->a, "%s%u", p->name ? p->name : "sim", i));
	if (!subject_is_name(s->setup.host))
		return err_new("'%.*s' cannot be the name of a host: --name sets another",
			       STRF(s->setup.host));
	if (p->hub)
		open_hub(s);
	else
		s->agent = agent_new(&s->setup);
	struct nats_spec spec = server_of(p, arena_strz(&p->a, s->setup.host));
	spec.patient = true;
	struct err *e = nats_open(&spec, p->in, i, &s->nats);
	return e ? e : subscribe(s);
}

static void take_letter(struct side *side, const struct letter *l)
{
	struct side *s = &side[l->who];
	switch (l->kind) {
	case LETTER_MESSAGE: take_bytes(s, l); break;
	case LETTER_AGAIN: s->hub ? hub_again(s->hub) : agent_again(s->agent); break;
	case LETTER_LOST: break;
	case LETTER_WRONG: break;
	}
	if (l->kind != LETTER_MESSAGE && !s->p->simulate)
		say(s->p, s->setup.host,
		    l->kind == LETTER_AGAIN  ? "connected"
		    : l->kind == LETTER_LOST ? "the connection is broken, and is tried again"
					     : "the server reports",
		    arena_strz(&s->p->a, l->bytes));
}

static int until(u64 due)
{
	u64 now = now_ns();
	return due == UINT64_MAX ? -1
	       : due <= now      ? 0
				 : (int)MIN((due - now) / MILLI_NS + 1, 60000ull);
}

static void serve(struct program *p, struct side *side, u32 n)
{
	enum { OWN = 2 };
	bool runs = !p->simulate || p->feeds; /* processes */
	u32 max = OWN + (runs ? n * side->setup.max_running * TASK_FDS : 0);
	struct pollfd *fd = xcalloc(max, sizeof(*fd));
	while (!signals_look(&p->signals)) {
		struct letter l;
		u64 due = UINT64_MAX, now = now_ns();
		u32 nfd = OWN;
		for (u32 i = 0; i < n; i++) {
			if (runs || due_of(&side[i]) <= now)
				step_side(&side[i]);
			due = MIN(due, due_of(&side[i]));
			nfd += p->hub ? hub_poll(side[i].hub, fd + nfd, max - nfd)
				      : agent_poll(side[i].agent, fd + nfd, max - nfd);
		}
		fd[0] = (struct pollfd){.fd = inbox_fd(p->in), .events = POLLIN};
		fd[1] = (struct pollfd){.fd = p->signals.fd, .events = POLLIN};
		poll(fd, nfd, until(due));
		while (inbox_take(p->in, &l)) {
			take_letter(side, &l);
			letter_free(&l);
		}
	}
	free(fd);
}

static void allow_files(u64 n)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= n)
		return;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

static struct err *run_agents(struct program *p)
{
	struct utsname u;
	AUTO_SB boot = {0};
	u32 n = p->simulate ? (u32)p->simulate : 1;
	allow_files(n * (4ull + DEFAULT_RUNNING * TASK_FDS) + 64);
	if (uname(&u))
		return err_sys(errno, "uname");
	(void)file_read("/proc/sys/kernel/random/boot_id", 64, &boot);
	const struct agent_setup like = {
		.host = str_z(p->name ? p->name : arena_strz(&p->a, str_z(u.nodename))),
		.kernel = str_z(u.release),
		.version = STR(SONDE_VERSION),
		.boot = str_trim(sb_str(&boot)),
		.label = {p->label.v, p->label.n},
		.max_running = p->conf.max_running ? p->conf.max_running : DEFAULT_RUNNING,
		.send = send_out,
		.judge = judge,
		.start = start_task,
		.stop = may_stop,
		.ended = ended,
	};
	struct side *side = xcalloc(n, sizeof(*side));
	struct err *e = NULL;
	if (p->conf_path && p->hub)
		e = policy_ready(&p->conf);
	else if (p->conf_path && !p->simulate)
		e = guard_open(&p->conf, like.host, &p->guard);
	for (u32 i = 0; i < n && !e; i++) {
		e = set_sample(p, &side[i], side, i);
		if (!e)
			e = open_side(p, &side[i], i, &like);
	}
	if (!e) {
		if (!p->quiet)
			fprintf(stderr, "%u %s%s ready\n", n, p->hub ? "hub" : "agent",
				n == 1 ? " is" : "s are");
		serve(p, side, n);
	}
	for (u32 i = 0; i < n; i++) {
		agent_free(side[i].agent);
		hub_free(side[i].hub);
		nats_close(side[i].nats);
	}
	free(side);
	guard_free(p->guard);
	return e;
}

/* ---- the asker ---- */

static struct err *open_asker(struct program *p, struct nats **nats, char reply[64])
{
	u8 id[QUESTION_ID];
	char text[QUESTION_ID_HEX + 1];
	struct err *e = question_new_id(id);
	if (e)
		return e;
	question_id_text(id, text);
	snprintf(reply, 64, "_INBOX.%s", text);
	const struct nats_spec spec = server_of(p, "sonde fleet");
	e = nats_open(&spec, p->in, 0, nats);
	return e ? e : nats_subscribe(*nats, reply);
}

static struct str asker_of(struct arena *a)
{
	struct utsname u;
	const char *user = getenv("USER");
	return str_z(arena_fmt(a, "%s@%s", user ? user : "?", uname(&u) ? "?" : u.nodename));
}

/* Of a question that is whole: what is sent to agents. */
static struct err *seal(const struct question *q, const char *key, struct sb *ret)
{
	AUTO_SB packed = {0};
	AUTO_SB signature = {0};
	struct err *e = question_pack(q, &packed);
	if (!e && *key)
		e = sign_make(key, sb_str(&packed), &signature);
	if (!e)
		question_seal(sb_str(&packed), sb_str(&signature), ret);
	return e;
}

static struct err *list(struct program *p, struct nats *nats, const char *reply)
{
	AUTO_SB labels = {0};
	for (u32 i = 0; i < p->label.n; i++)
		sb_fmt(&labels, "%s%.*s", i ? "," : "", STRF(p->label.v[i]));
	return ask_who(nats, p->in, reply, sb_str(&labels), p->wait_ns);
}

static struct err *stop(struct program *p, struct nats *nats, const char *reply)
{
	AUTO_SB order = {0};
	u64 wall = clock_ns(CLOCK_REALTIME);
	struct question q = {.kind = QUESTION_STOP,
			     .name = p->all ? STR("") : str_z(p->rest.v[0]),
			     .not_before_ns = wall,
			     .not_after_ns = wall + SLACK_NS,
			     .reply = str_z(reply),
			     .asker = asker_of(&p->a)};
	struct stop_spec s = {.nats = nats, .in = p->in, .reply = reply, .wait_ns = p->wait_ns};
	struct stop_result r;
	const char *key = p->key ? p->key : p->conf.key ? p->conf.key : "";
	if (q.name.n)
		question_take_id(q.name, s.id);
	struct err *e = question_new_id(q.id);
	e = e ? e : seal(&q, key, &order);
	s.sealed = sb_str(&order);
	e = e ? e : ask_stop(&s, &r);
	if (e)
		return e;
	printf("stopped on %u host%s", r.stopped, r.stopped == 1 ? "" : "s");
	if (r.refused)
		printf(", refused by %u", r.refused);
	putchar('\n');
	p->refused = r.refused;
	return NULL;
}

static struct err *ask_others(struct program *p, bool stops)
{
	char reply[64];
	u8 id[QUESTION_ID];
	struct nats *nats = NULL;
	if (!p->url)
		return err_new("%s needs --nats URL", stops ? "stop" : "list");
	if (stops && p->all == !!p->rest.n)
		return err_new(
			"stop needs the id of a question (sonde fleet list prints it), or --all");
	if (stops && p->rest.n && !question_take_id(str_z(p->rest.v[0]), id))
		return err_new("'%s' is no id of a question", p->rest.v[0]);
	p->wait_ns = p->wait_ns ? p->wait_ns : WHO_WAIT_MS * (u64)MILLI_NS;
	struct err *e = find_server(p, p->url);
	if (!e)
		e = open_asker(p, &nats, reply);
	if (!e)
		e = stops ? stop(p, nats, reply) : list(p, nats, reply);
	nats_close(nats);
	return e;
}

static bool read_question(struct sb *ret)
{
	u32 n = 0;
	char c;
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		n = c >= '0' && c <= '9' && n <= MAX_FRAME ? n * 10 + (u32)(c - '0')
							   : MAX_FRAME + 1;
	if (!n || n > MAX_FRAME)
		return false;
	while (ret->n < n) {
		char buf[65536];
		ssize_t got = read(STDIN_FILENO, buf, MIN(sizeof(buf), n - ret->n));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		sb_mem(ret, buf, (size_t)got);
	}
	return true;
}

static struct question_list take_list(struct arena *a, struct bytes *b)
{
	u32 n = bytes_u32(b);
	struct question_list l = {0};
	if (b->bad || n > QUESTION_MAX_NAMES)
		b->bad = true;
	for (u32 i = 0; i < n && !b->bad; i++)
		arena_push(a, l.v, l.n, unpack_str(b));
	return l;
}

static struct err *check_names(const struct question *q)
{
	struct str key, value;
	for (u32 i = 0; i < q->host.n; i++)
		if (!subject_is_name(q->host.v[i]))
			return err_new("'%.*s' cannot be the name of an agent", STRF(q->host.v[i]));
	for (u32 i = 0; i < q->label.n; i++)
		if (!subject_is_label(q->label.v[i], &key, &value))
			return err_new("--label needs KEY=VALUE (got '%.*s')", STRF(q->label.v[i]));
	return NULL;
}

/* What sonde fleet says: fleet/bus.h. */
struct order {
	const char *url, *key; /* key: "" if there is none */
	u64 for_ns, wait_ns, at_ns, after_ns, apart_ns;
	u32 expect;
	bool hubs;
	struct question_list hosts, labels;
	struct str frame;
};

static struct err *fill_times(struct question *q, const struct order *o)
{
	u64 valid = (o->for_ns ? o->for_ns : LONGEST_TOOL_NS) + SLACK_NS;
	q->not_before_ns = clock_ns(CLOCK_REALTIME);
	q->for_ns = o->for_ns;
	q->at_ns = o->after_ns ? q->not_before_ns + o->after_ns : o->at_ns;
	if (q->at_ns && q->at_ns < q->not_before_ns)
		return err_new("no host was asked, because the time of --at is over");
	u64 lead = q->at_ns ? q->at_ns - q->not_before_ns : 0;
	if (lead > QUESTION_MAX_VALID_NS - MIN(valid, QUESTION_MAX_VALID_NS))
		return err_new(
			"no host was asked, because a question is valid for 24 hours, and --at is "
			"later");
	/* Machines may be slow to sign and to begin; when hosts stop tracing is decided by the time since the question. */
	q->not_after_ns = q->not_before_ns + lead + MIN(valid, QUESTION_MAX_VALID_NS);
	return NULL;
}

static struct err *fill_question(struct program *p, struct question *q, const struct order *o)
{
	struct err *e = question_of_frame(&p->a, o->frame, q);
	if (!e)
		e = question_new_id(q->id);
	if (!e)
		e = check_names(q);
	if (!e)
		e = fill_times(q, o);
	if (e)
		return e;
	question_sort(&q->host);
	question_sort(&q->label);
	q->asker = asker_of(&p->a);
	return NULL;
}

static struct err *take_order(struct program *p, const struct sb *in, struct order *ret)
{
	struct bytes b = bytes_of(in->s, in->n);
	ret->url = arena_strz(&p->a, unpack_str(&b));
	ret->key = arena_strz(&p->a, unpack_str(&b));
	ret->for_ns = bytes_u64(&b);
	ret->wait_ns = bytes_u64(&b);
	ret->expect = bytes_u32(&b);
	ret->hubs = bytes_u8(&b);
	ret->at_ns = bytes_u64(&b);
	ret->after_ns = bytes_u64(&b);
	ret->apart_ns = bytes_u64(&b);
	ret->hosts = take_list(&p->a, &b);
	ret->labels = take_list(&p->a, &b);
	ret->frame = unpack_str(&b);
	if (b.bad)
		return err_new("sonde fleet is of another version than sonde-agent");
	struct err *e = find_server(p, ret->url);
	if (!*ret->key && p->conf.key)
		ret->key = p->conf.key;
	return e;
}

static struct err *ask(struct program *p)
{
	char reply[64] = "";
	AUTO_SB in = {0};
	AUTO_SB sealed = {0};
	u8 secret[QUESTION_SECRET];
	struct question q = {0};
	struct order o;
	struct nats *nats = NULL;
	if (!read_question(&in))
		return err_new("sonde-agent ask is started by sonde fleet");
	struct err *e = take_order(p, &in, &o);
	if (e)
		return e;
	q.host = (struct question_list){arena_newn(&p->a, struct str, o.hosts.n + 1), o.hosts.n};
	memcpy(q.host.v, o.hosts.v ? o.hosts.v : q.host.v, o.hosts.n * sizeof(*o.hosts.v));
	q.label = o.labels;
	e = fill_question(p, &q, &o);
	e = e ? e : question_new_secret(secret, q.secret_sum);
	if (!e)
		e = open_asker(p, &nats, reply);
	q.reply = str_z(reply);
	if (!e)
		e = seal(&q, o.key, &sealed);
	if (!e) {
		const struct ask_spec spec = {
			.nats = nats,
			.in = p->in,
			.reply = reply,
			.q = &q,
			.hosts = o.hosts,
			.sealed = sb_str(&sealed),
			.secret = str_n((const char *)secret, sizeof(secret)),
			.wait_ns = o.wait_ns,
			.expect = o.expect,
			.hubs = o.hubs,
			.apart_ns = o.apart_ns,
			.from = STDIN_FILENO,
			.to = STDOUT_FILENO,
		};
		e = ask_hosts(&spec);
	}
	nats_close(nats);
	return e;
}

/* ---- the command line ---- */

static void usage(FILE *f)
{
	fputs("USAGE:\n"
	      "    sonde-agent -c FILE\n"
	      "    sonde-agent --any --nats URL [--name NAME] [--label KEY=VALUE] [--hub]\n"
	      "    sonde-agent --nats URL --simulate N FILE\n"
	      "    sonde-agent list --nats URL\n"
	      "    sonde-agent stop --nats URL [--key FILE] ID|--all\n\nOPTIONS:\n",
	      f);
	opt_help(options, f);
}

static struct err *run(struct program *p, int argc, char **argv)
{
	const char *command = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
	int skip = *command ? 1 : 0, nrest = 0, ndash = 0;
	p->rest.v = xcalloc((size_t)argc + 1, sizeof(*p->rest.v));
	struct err *e =
		opt_parse(options, argc - skip, argv + skip, set, p, p->rest.v, &nrest, &ndash);
	p->rest.n = (u32)nrest;
	if (e || p->help)
		return e;
	if (!strcmp(command, "ask"))
		return ask(p);
	if (!strcmp(command, "list") || !strcmp(command, "stop"))
		return ask_others(p, command[0] == 's');
	if (*command)
		return err_new("unknown command '%s'", command);
	if (p->conf_path && p->url)
		return err_new("-c and --nats: one of them");
	e = p->conf_path ? read_conf(p, p->conf_path) : NULL;
	if (e)
		return e;
	if (!p->url)
		return err_new("sonde-agent needs a configuration (-c " CONF_PATH
			       "), or a server: --nats URL");
	if (p->hub && p->simulate)
		return err_new("--hub and --simulate: one of them");
	if (!p->conf_path && !p->any && !p->simulate)
		return err_new("without a configuration (-c " CONF_PATH
			       "), whatever anybody asks would run as root: --any allows that");
	if (p->rest.n != (p->simulate ? 1 : 0))
		return p->simulate ? err_new("--simulate needs one FILE")
				   : err_new("unexpected word '%s'", p->rest.v[0]);
	e = signals_open(&p->signals, false, false);
	return e ? e : run_agents(p);
}

int main(int argc, char **argv)
{
	struct program p = {.signals = SIGNALS_NONE};
	signal(SIGPIPE, SIG_IGN); /* write() reports it */
	openlog("sonde-agent", LOG_PID, LOG_AUTHPRIV);
	p.in = inbox_new();
	struct err *e = run(&p, argc, argv);
	if (p.help)
		usage(stdout);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	int rc = e ? 1 : p.refused ? RC_REFUSED : 0;
	err_free(e);
	nats_end();
	inbox_free(p.in);
	signals_close(&p.signals);
	free(p.rest.v);
	vec_free(&p.label);
	conf_free(&p.conf);
	arena_free(&p.a);
	return rc;
}
