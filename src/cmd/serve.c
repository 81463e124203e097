/*
 * serve.c - sonde serve --metrics ADDR DIR: every script of a folder as metrics, for as long as it is
 * let run.
 *
 * One loop: the sessions of the scripts, the web server's questions, signals. The web server is a child
 * without rights (web.h); what it asks for is read here, from the maps. SIGHUP reads the folder again:
 * scripts whose text is the same go on.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/push.h"
#include "cmd/served.h"
#include "cmd/servedprofile.h"
#include "cmd/servefacts.h"
#include "cmd/web.h"
#include "cmd/webchild.h"
#include "run/notify.h"
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum {
	POLL_MS = 100,
	MOST_SCRIPTS = 1000,
	MOST_SERIES = 1000,
	MOST_TEXT = 64 << 20, /* bytes of an answer */
	RESTART_MS = 1000,    /* between two starts of a web server that dies */
};

enum { TO_OTLP, TO_PROFILE, RECEIVERS };
struct serve_opts {
	const char *addr;
	const char *url[RECEIVERS]; /* NULL: none */
	u64 every_ns;               /* between two that are sent */
	struct served_limits limits;
	bool native, help; /* native: histograms are native ones, too */
};

struct metrics_service {
	const char *dir;
	struct served_limits limits;
	VEC(struct served *) script; /* by name */
	struct web web;              /* without a socket if nothing is served */
	u64 web_ns;                  /* when it was started last */
	struct push push[RECEIVERS]; /* of each that was asked for; */
	u32 npush;
	struct push *to[RECEIVERS]; /* NULL: it was not */
	u64 every_ns, push_ns;      /* how often they get something, and when they did last */
	u64 since_ns;               /* wall clock: when that was */
	u64 began_ns;               /* wall clock */
	struct str host;            /* name of this machine */
	struct utsname uname;
	int signals;  /* signalfd */
	int stats_fd; /* while it is open, programs are measured */
	int manager;  /* -1: nobody asked */
	u64 watch_ns, told_ns;
	u64 reloads, scrapes;
	double reading_s;
	bool native, stop;
};

/* ---- the folder ---- */

static int order(const void *pa, const void *pb)
{
	return strcmp(*(char *const *)pa, *(char *const *)pb);
}

struct file_list {
	VEC(char *) v;
};

static void files_free(struct file_list *n)
{
	for (u32 i = 0; i < n->v.n; i++)
		free(n->v.v[i]);
	vec_free(&n->v);
}

static struct err *list_scripts(const char *dir, struct file_list *ret)
{
	struct stat st;
	DIR *d = opendir(dir);
	if (!d)
		return err_sys(errno, "open the folder %s", dir);
	if (fstat(dirfd(d), &st) || st.st_mode & S_IWOTH) {
		closedir(d);
		return err_new(
			"%s: everybody may put scripts into this folder, which would run with "
			"the rights of sonde",
			dir);
	}
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.' && str_ends(str_z(e->d_name), STR(".bt")))
			vec_add(&ret->v, xstrdup(e->d_name));
	closedir(d);
	if (ret->v.n > MOST_SCRIPTS)
		return err_new("%s: more than %d scripts", dir, MOST_SCRIPTS);
	if (ret->v.n)
		qsort(ret->v.v, ret->v.n, sizeof(char *), order);
	return NULL;
}

/* One name of a sample of the other? */
static bool clash(struct str a, struct str b)
{
	static const char *const ends[] = {"", "_bucket", "_count", "_sum", "_total"};
	for (u32 i = 0; i < countof(ends); i++)
		if (str_starts(a, b) && str_is(str_from(a, b.n), ends[i]))
			return true;
	return false;
}

static const char *taken(void *arg, struct str metric)
{
	const struct metrics_service *v = arg;
	for (u32 i = 0; i < v->script.n; i++) {
		const struct served *s = v->script.v[i];
		for (u32 k = 0; k < s->map.n && s->state == SERVED_RUNS; k++)
			if (clash(metric, s->map.v[k].shape.name) ||
			    clash(s->map.v[k].shape.name, metric))
				return s->name;
	}
	return service_fact_named(metric) ? "sonde itself" : NULL;
}

/* The script of that name if its text is the same, to stay. */
static struct served *same(struct metrics_service *v, const struct served *fresh)
{
	for (u32 i = 0; i < v->script.n; i++) {
		struct served *old = v->script.v[i];
		if (!strcmp(old->name, fresh->name) && fresh->text.s && old->text.s &&
		    str_eq(old->text, fresh->text))
			return old;
	}
	return NULL;
}

static struct served *named(struct metrics_service *v, const char *name)
{
	for (u32 i = 0; i < v->script.n; i++)
		if (!strcmp(v->script.v[i]->name, name))
			return v->script.v[i];
	return NULL;
}

static void take_over(struct metrics_service *v, struct served *fresh)
{
	const struct served *old = named(v, fresh->name);
	if (!old)
		return;
	fresh->starts = old->starts;
	fresh->failures += old->failures;
	fresh->budget_stops = old->budget_stops;
}

/* What is new in the folder; on an error all stays as it is. */
static struct err *reload(struct metrics_service *v)
{
	struct file_list names = {0};
	VEC(struct served *) next = {0};
	struct err *e = list_scripts(v->dir, &names);
	for (u32 i = 0; i < names.v.n && !e; i++) {
		struct served *s = served_new(v->dir, names.v.v[i], &v->limits), *old = same(v, s);
		if (old) {
			old->keep = true;
			served_free(s);
		} else {
			take_over(v, s);
		}
		vec_add(&next, old ? old : s);
	}
	files_free(&names);
	if (e)
		return e;
	for (u32 i = 0; i < v->script.n; i++)
		if (!v->script.v[i]->keep)
			served_free(v->script.v[i]);
	vec_free(&v->script);
	for (u32 i = 0; i < next.n; i++) {
		vec_add(&v->script, next.v[i]);
		next.v[i]->keep = false;
	}
	vec_free(&next);
	/* Those that failed are tried again: what they lacked may be there now. */
	for (u32 i = 0; i < v->script.n; i++) {
		struct served *s = v->script.v[i];
		if (s->state != SERVED_RUNS && s->state != SERVED_UNREAD)
			served_start(s, taken, v);
	}
	return NULL;
}

/* ---- the service manager ---- */

static void tell(const struct metrics_service *v, const char *text)
{
	if (v->manager >= 0)
		notify_tell(v->manager, text);
}

static void tell_state(struct metrics_service *v, const char *first)
{
	AUTO_SB b = {0};
	u32 up = 0;
	for (u32 i = 0; i < v->script.n; i++)
		up += v->script.v[i]->state == SERVED_RUNS;
	sb_fmt(&b, "%sSTATUS=%u of %u scripts run\n", first, up, v->script.n);
	tell(v, b.s);
}

static void find_manager(struct metrics_service *v)
{
	const char *name = getenv("NOTIFY_SOCKET"), *usec = getenv("WATCHDOG_USEC");
	u64 n;
	struct err *e = name ? notify_open(name, &v->manager) : NULL;
	if (e)
		fprintf(stderr, "WARNING: NOTIFY_SOCKET: %s\n", e->msg);
	err_free(e);
	if (usec && str_u64(str_z(usec), &n) && n < UINT64_MAX / 1000)
		v->watch_ns = n * 1000 / 2;
}

/* ---- answers ---- */

static void read_all(struct metrics_service *v, struct metrics *m)
{
	u64 from = now_ns();
	v->scrapes++;
	for (u32 i = 0; i < v->script.n; i++)
		served_read(v->script.v[i], m);
	service_facts(m, &(struct service_facts){.script = v->script.v,
						 .n = v->script.n,
						 .reloads = v->reloads,
						 .scrapes = v->scrapes,
						 .web_starts = v->web.starts,
						 .reading_s = v->reading_s,
						 .push = v->push,
						 .npush = v->npush});
	v->reading_s = (double)(now_ns() - from) / 1e9;
}

static void read_metrics(struct metrics_service *v, enum metrics_format format, struct sb *out)
{
	struct metrics m = {0};
	read_all(v, &m);
	if (format == METRICS_PROTO)
		metrics_proto(&m, v->native, out);
	else
		metrics_text(&m, format, out);
	metrics_free(&m);
	if (out->n > MOST_TEXT) {
		fprintf(stderr,
			"ERROR: the metrics are longer than %d MiB: fewer --series would help\n",
			MOST_TEXT >> 20);
		sb_clear(out);
		sb_z(out, format == METRICS_OPEN ? "# EOF\n" : format == METRICS_PROTO ? "" : "\n");
	}
}

/* ---- receivers ---- */

static void push_metrics(struct metrics_service *v, struct push *to)
{
	struct metrics m = {0};
	AUTO_SB body = {0};
	read_all(v, &m);
	metrics_otlp(&m,
		     &(struct otlp_facts){.host = v->host,
					  .version = STR(SONDE_VERSION),
					  .now_ns = clock_ns(CLOCK_REALTIME),
					  .since_ns = v->began_ns},
		     &body);
	push_add(to, &(struct push_post){.type = STR("application/x-protobuf"),
					 .body = sb_str(&body),
					 .points = metrics_points(&m)});
	metrics_free(&m);
}

/* As a part of a URL. */
static void put_quoted(struct sb *b, struct str text)
{
	for (u32 i = 0; i < text.n; i++) {
		char c = text.s[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
		if (plain)
			sb_char(b, c);
		else
			sb_fmt(b, "%%%02X", (u8)c);
	}
}

/* "?name=sonde%7Bscript%3D...%7D&from=..&until=..&format=pprof" */
static void put_query(struct sb *b, const struct metrics_service *v, const struct served *s,
		      u64 now_ns)
{
	AUTO_SB name = {0};
	AUTO_SB labels = {0};
	metric_label(&labels, STR("script"), str_z(s->name));
	metric_label(&labels, STR("hostname"), v->host);
	sb_fmt(&name, "sonde{%s}", labels.s);
	sb_z(b, "?name=");
	put_quoted(b, sb_str(&name));
	sb_fmt(b, "&from=%llu&until=%llu&format=pprof&spyName=sonde", v->since_ns / SECOND_NS,
	       now_ns / SECOND_NS);
}

static void push_profiles(struct metrics_service *v, struct push *to)
{
	u64 now = clock_ns(CLOCK_REALTIME);
	for (u32 i = 0; i < v->script.n; i++) {
		struct served *s = v->script.v[i];
		AUTO_SB body = {0};
		AUTO_SB query = {0};
		u32 points = 0;
		if (!s->profile)
			s->profile = profile_state_new();
		struct err *e = served_profile(s, s->profile, v->since_ns, &body, &points);
		if (e)
			fprintf(stderr, "ERROR: %s: %s\n", s->name, e->msg);
		put_query(&query, v, s, now);
		if (!e && points)
			push_add(to, &(struct push_post){.query = sb_str(&query),
							 .type = STR("application/octet-stream"),
							 .body = sb_str(&body),
							 .points = points});
		err_free(e);
	}
}

static void push_all(struct metrics_service *v, u64 now)
{
	for (u32 i = 0; i < v->npush; i++)
		push_poll(&v->push[i], now);
	if (!v->npush || now - v->push_ns < v->every_ns)
		return;
	v->push_ns = now;
	if (v->to[TO_OTLP])
		push_metrics(v, v->to[TO_OTLP]);
	if (v->to[TO_PROFILE])
		push_profiles(v, v->to[TO_PROFILE]);
	v->since_ns = clock_ns(CLOCK_REALTIME);
}

static struct err *start_web(struct metrics_service *v)
{
	v->web_ns = now_ns();
	return web_start(&v->web, webchild_run, NULL);
}

static void answer(struct metrics_service *v)
{
	enum metrics_format format;
	AUTO_SB text = {0};
	if (web_asked(&v->web, &format)) {
		read_metrics(v, format, &text);
		if (web_answer(&v->web, sb_str(&text)))
			return;
	}
	fprintf(stderr, "ERROR: the web server has ended, and is started again\n");
	web_stop(&v->web);
}

static void restart_web(struct metrics_service *v, u64 now)
{
	if (v->web.listening < 0 || v->web.fd >= 0 || now - v->web_ns < (u64)RESTART_MS * 1000000)
		return;
	struct err *e = start_web(v);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	err_free(e);
}

/* ---- the loop ---- */

static void take_signal(struct metrics_service *v)
{
	struct signalfd_siginfo s;
	if (read(v->signals, &s, sizeof(s)) != sizeof(s))
		return;
	if (s.ssi_signo != SIGHUP) {
		v->stop = true;
		return;
	}
	tell(v, "RELOADING=1\n");
	struct err *e = reload(v);
	v->reloads++;
	if (e)
		fprintf(stderr, "ERROR: %s; the scripts stay as they are\n", e->msg);
	err_free(e);
	tell_state(v, "READY=1\n");
}

static void watch(struct metrics_service *v, u64 now)
{
	if (!v->watch_ns || now - v->told_ns < v->watch_ns)
		return;
	tell(v, "WATCHDOG=1\n");
	v->told_ns = now;
}

static void loop(struct metrics_service *v)
{
	while (!v->stop) {
		struct pollfd fd[2 + RECEIVERS] = {{.fd = v->signals, .events = POLLIN},
						   {.fd = v->web.fd, .events = POLLIN}};
		for (u32 i = 0; i < v->npush; i++)
			fd[2 + i] = (struct pollfd){.fd = v->push[i].child.fd, .events = POLLIN};
		if (poll(fd, 2 + v->npush, POLL_MS) < 0 && errno != EINTR)
			return;
		u64 now = now_ns();
		for (u32 i = 0; i < v->script.n; i++)
			served_poll(v->script.v[i], now);
		if (fd[0].revents)
			take_signal(v);
		if (fd[1].revents)
			answer(v);
		for (u32 i = 0; i < v->npush; i++)
			if (fd[2 + i].revents)
				push_take(&v->push[i], now);
		push_all(v, now);
		restart_web(v, now);
		watch(v, now);
	}
}

static struct err *catch_signals(struct metrics_service *v)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return err_sys(errno, "block signals");
	v->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return v->signals < 0 ? err_sys(errno, "receive signals") : NULL;
}

static struct err *open_receivers(struct metrics_service *v, const struct serve_opts *o)
{
	static const struct {
		const char *option, *path;
		u16 port;
	} known[RECEIVERS] = {[TO_OTLP] = {"--otlp", "/v1/metrics", 4318},
			      [TO_PROFILE] = {"--push-profile", "/ingest", 4040}};
	struct err *e = NULL;
	for (u32 i = 0; i < RECEIVERS && !e; i++) {
		if (!o->url[i])
			continue;
		v->to[i] = &v->push[v->npush++];
		e = push_open(v->to[i], known[i].option, o->url[i], known[i].port, known[i].path);
		if (!e)
			e = push_start(v->to[i]);
	}
	v->every_ns = o->every_ns;
	v->push_ns = now_ns();
	v->began_ns = v->since_ns = clock_ns(CLOCK_REALTIME);
	v->host = uname(&v->uname) ? STR("unknown") : str_z(v->uname.nodename);
	return e;
}

static void say_where(const struct metrics_service *v, bool serves)
{
	AUTO_SB where = {0};
	for (u32 i = 0; i < v->npush; i++)
		fprintf(stderr, "%s sends to http://%.*s%.*s\n", v->push[i].option,
			STRF(v->push[i].host), STRF(v->push[i].path));
	if (serves)
		web_name(&v->web, &where);
	fprintf(stderr, "Metrics of %u script%s%s%s%s\n", v->script.n, v->script.n == 1 ? "" : "s",
		serves ? " at http://" : "", serves ? where.s : "", serves ? "/metrics" : "");
}

/* Children are made while nothing is open that they should not have. */
static struct err *begin(struct metrics_service *v, const struct serve_opts *o)
{
	struct err *e = o->addr ? web_open(&v->web, o->addr) : NULL;
	if (!e && o->addr)
		e = start_web(v);
	if (!e)
		e = open_receivers(v, o);
	if (!e)
		e = catch_signals(v);
	if (!e)
		e = bpf_stats(&v->stats_fd);
	if (!e)
		e = reload(v);
	if (e)
		return e;
	find_manager(v);
	say_where(v, o->addr);
	tell_state(v, "READY=1\n");
	return NULL;
}

static void end(struct metrics_service *v)
{
	tell(v, "STOPPING=1\n");
	web_close(&v->web);
	for (u32 i = 0; i < v->npush; i++)
		push_close(&v->push[i]);
	for (u32 i = 0; i < v->script.n; i++)
		served_free(v->script.v[i]);
	vec_free(&v->script);
	const int fds[] = {v->signals, v->stats_fd, v->manager};
	for (u32 i = 0; i < countof(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int serve(const struct serve_opts *o, const char *dir)
{
	struct metrics_service v = {.dir = dir,
				    .limits = o->limits,
				    .native = o->native,
				    .web = WEB_NONE,
				    .signals = -1,
				    .stats_fd = -1,
				    .manager = -1};
	struct err *e = begin(&v, o);
	if (e)
		fprintf(stderr, "ERROR: %s\n", e->msg);
	else
		loop(&v);
	end(&v);
	int rc = e ? RC_USAGE : RC_OK;
	err_free(e);
	return rc;
}

/* ---- options ---- */

static struct err *set_series(struct serve_opts *o, const char *val)
{
	u64 n;
	if (!str_number(str_z(val), &n) || !n || n > 1000000)
		return err_new("--series needs a number from 1 to 1000000 (got '%s')", val);
	o->limits.series = (u32)n;
	return NULL;
}

static struct err *set_every(struct serve_opts *o, const char *val)
{
	if (units_time(str_z(val), &o->every_ns) && o->every_ns >= 100ull * MILLI_NS)
		return NULL;
	return err_new("--push-every needs a time of 100ms or more (got '%s')", val);
}

static struct err *set(void *self, int id, const char *val)
{
	struct serve_opts *o = self;
	switch ((enum option_id)id) {
	case OPT_METRICS: o->addr = val; break;
	case OPT_OTLP: o->url[TO_OTLP] = val; break;
	case OPT_PUSH_PROFILE: o->url[TO_PROFILE] = val; break;
	case OPT_PUSH_EVERY: return set_every(o, val);
	case OPT_SERIES: return set_series(o, val);
	case OPT_NATIVE_HISTOGRAMS: o->native = true; break;
	case OPT_BUDGET: return take_budget(val, &o->limits.budget);
	case OPT_HELP: o->help = true; break;
	default: assert(!"an option of serve");
	}
	return NULL;
}

static void help(void)
{
	opts_usage(stdout, CMD_SERVE, command_use("serve"));
	puts("\nRuns every script DIR/*.bt, and serves their maps as metrics for Prometheus at\n"
	     "http://ADDR/metrics. SIGHUP reads the folder again.");
}

int cmd_serve(int argc, char **argv, bool compat)
{
	struct serve_opts o = {.limits = {.series = MOST_SERIES}, .every_ns = 10ull * SECOND_NS};
	struct option_table table;
	char **rest AUTO_FREE = xcalloc((size_t)argc + 1, sizeof(*rest));
	int nrest = 0, ndash = 0, rc = RC_OK;
	options_of(in(CMD_SERVE), &table);
	struct err *e = opt_parse(table.row, argc, argv, set, &o, rest, &nrest, &ndash);
	if (!e && !o.help && (nrest != 1 || !(o.addr || o.url[TO_OTLP] || o.url[TO_PROFILE])))
		e = err_new("serve needs --metrics ADDR, --otlp URL or --push-profile URL, and a "
			    "folder with scripts");
	if (e)
		rc = usage_error(compat, "%s", e->msg);
	else if (o.help)
		help();
	else
		rc = serve(&o, rest[0]);
	err_free(e);
	return rc;
}
