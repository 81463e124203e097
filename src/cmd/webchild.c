/*
 * webchild.c - the child of web.c: HTTP by libmicrohttpd, in one thread, without rights.
 *
 * Connections that wait for an answer are suspended. A client that does not read, or says nothing, is
 * dropped after TIMEOUT_S; there are CONNECTIONS of them at most.
 */
#include "cmd/webchild.h"
#include "base/alloc.h"
#include "cmd/web.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#ifdef HAVE_HTTP
#include "cmd/http.h"

enum { CONNECTIONS = 64, TIMEOUT_S = 15 };

/* A text, or messages, that several clients get. */
struct answer {
	struct MHD_Response *response;
	u32 users;
};
/* A request for the metrics. */
struct wait {
	struct MHD_Connection *connection;
	enum metrics_format format;
	struct answer *answer; /* NULL: not yet */
	struct wait *next;
};
/* Requests by format: asked, and those that came since. */
struct desk {
	int fd; /* to the parent */
	struct MHD_Daemon *daemon;
	struct wait *asked[METRICS_FORMATS], *waiting[METRICS_FORMATS];
};

static const char *const content_type[METRICS_FORMATS] = {
	[METRICS_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	[METRICS_OPEN] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	[METRICS_PROTO] = ("application/vnd.google.protobuf; "
			   "proto=io.prometheus.client.MetricFamily; encoding=delimited"),
};

static void drop(struct answer *a)
{
	if (--a->users)
		return;
	MHD_destroy_response(a->response);
	free(a);
}

/* Ask for what is waiting, unless something is asked for already. */
static void ask(struct desk *d)
{
	for (u32 i = 0; i < METRICS_FORMATS; i++)
		if (d->asked[i])
			return;
	for (u32 i = 0; i < METRICS_FORMATS; i++) {
		u8 format = (u8)i;
		if (!d->waiting[i])
			continue;
		if (write(d->fd, &format, 1) != 1)
			_exit(0);
		d->asked[i] = d->waiting[i];
		d->waiting[i] = NULL;
		return;
	}
}

static enum MHD_Result plain(struct MHD_Connection *c, u32 status, const char *text)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	MHD_add_response_header(r, "Content-Type", "text/plain; charset=utf-8");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	enum MHD_Result ok = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ok;
}

/* "0.25" in thousandths. */
static u32 weight_of(struct str q)
{
	u32 n = 0;
	if (q.n && q.s[0] == '1')
		return 1000;
	for (u32 i = 2, unit = 100; i < q.n && unit; i++, unit /= 10)
		n += q.s[i] >= '0' && q.s[i] <= '9' ? unit * (u32)(q.s[i] - '0') : 0;
	return n;
}

/* One element of Accept, "type/subtype;name=value;q=0.5": its format, if it is one of ours, and its weight. */
static bool format_of(struct str element, enum metrics_format *ret, u32 *weight)
{
	struct str type, value, name;
	bool delimited = false, families = false;
	*weight = 1000;
	str_cut(&element, ';', &type);
	type = str_trim(type);
	while (str_cut(&element, ';', &value)) {
		str_cut(&value, '=', &name);
		name = str_trim(name);
		value = str_trim(value);
		delimited |= str_is(name, "encoding") && str_is(value, "delimited");
		families |=
			str_is(name, "proto") && str_is(value, "io.prometheus.client.MetricFamily");
		if (str_is(name, "q"))
			*weight = weight_of(value);
	}
	*ret = str_is(type, "application/vnd.google.protobuf") ? METRICS_PROTO
	       : str_is(type, "application/openmetrics-text")  ? METRICS_OPEN
							       : METRICS_TEXT;
	if (*ret == METRICS_TEXT)
		return str_is(type, "text/plain") || str_is(type, "text/*") || str_is(type, "*/*");
	return *ret == METRICS_OPEN || (delimited && families);
}

/* What weighs most; of equals the first. */
static enum metrics_format wanted(struct MHD_Connection *c)
{
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
	enum metrics_format best = METRICS_TEXT, format;
	struct str rest = str_z(accept ? accept : ""), element;
	for (u32 most = 0, weight; rest.n;) {
		str_cut(&rest, ',', &element);
		if (!format_of(element, &format, &weight) || weight <= most)
			continue;
		most = weight;
		best = format;
	}
	return best;
}

/* Called when the request's head is there, when its end is, and when it goes on with an answer. */
static enum MHD_Result handle(void *desk, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *nupload, void **state)
{
	struct desk *d = desk;
	struct wait *w = *state;
	(void)version, (void)upload;
	if (!w) {
		w = xcalloc(1, sizeof(*w));
		*w = (struct wait){.connection = c, .format = wanted(c)};
		*state = w;
		return MHD_YES;
	}
	if (*nupload) { /* nobody wants it */
		*nupload = 0;
		return MHD_YES;
	}
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return plain(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (strcmp(url, "/metrics"))
		return plain(c, MHD_HTTP_NOT_FOUND, "there is only /metrics\n");
	if (w->answer)
		return MHD_queue_response(c, MHD_HTTP_OK, w->answer->response);
	MHD_suspend_connection(c);
	w->next = d->waiting[w->format];
	d->waiting[w->format] = w;
	return MHD_YES;
}

static void completed(void *desk, struct MHD_Connection *c, void **state,
		      enum MHD_RequestTerminationCode how)
{
	struct wait *w = *state;
	(void)desk, (void)c, (void)how;
	if (w && w->answer)
		drop(w->answer);
	free(w);
	*state = NULL;
}

static void read_all(int fd, void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = read(fd, (char *)to + done, n - done);
		if (got <= 0 && !(got < 0 && errno == EINTR))
			_exit(0);
		done += got > 0 ? (size_t)got : 0;
	}
}

static void take_answer(struct desk *d)
{
	u64 n;
	u32 i = 0;
	read_all(d->fd, &n, sizeof(n));
	while (i < METRICS_FORMATS && !d->asked[i])
		i++;
	assert(i < METRICS_FORMATS);
	char *text = xmalloc(n + 1);
	read_all(d->fd, text, n);
	struct answer *a = xcalloc(1, sizeof(*a));
	a->response = MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE);
	MHD_add_response_header(a->response, "Content-Type", content_type[i]);
	for (struct wait *w = d->asked[i], *next; w; w = next) {
		next = w->next;
		w->answer = a;
		a->users++;
		MHD_resume_connection(w->connection);
	}
	d->asked[i] = NULL;
}

_Noreturn static void serve(struct desk *d)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(d->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd v[] = {{.fd = d->fd, .events = POLLIN},
			     {.fd = info->epoll_fd, .events = POLLIN}};
	for (;;) {
		unsigned long long ms = 1000;
		if (MHD_get_timeout(d->daemon, &ms) != MHD_YES || ms > 1000)
			ms = 1000;
		if (poll(v, countof(v), (int)ms) < 0 && errno != EINTR)
			_exit(1);
		if (v[0].revents)
			take_answer(d);
		MHD_run(d->daemon);
		ask(d);
	}
}

struct MHD_Daemon *http_start(int listening, MHD_AccessHandlerCallback handle_one,
			      MHD_RequestCompletedCallback completed_one, u32 timeout_s, void *self)
{
	signal(SIGPIPE, SIG_IGN);
	struct MHD_Daemon *d = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle_one, self,
		MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, timeout_s,
		MHD_OPTION_NOTIFY_COMPLETED, completed_one, NULL, MHD_OPTION_END);
	struct err *e = d ? web_give_up(MAY_SERVE) : err_new("the web server does not start");
	if (!e)
		return d;
	fprintf(stderr, "ERROR: %s\n", e->msg);
	_exit(1);
}

void webchild_run(int listening, int fd, const void *arg)
{
	struct desk d = {.fd = fd};
	(void)arg;
	d.daemon = http_start(listening, handle, completed, TIMEOUT_S, &d);
	serve(&d);
}

bool webchild_able(void)
{
	return true;
}

/* Of libgnutls, which libmicrohttpd asks for encrypted connections: there are none here. */
int no_tls(void);
int no_tls(void)
{
	return 0;
}
#else
void webchild_run(int listening, int fd, const void *arg)
{
	(void)listening, (void)fd, (void)arg;
	_exit(1);
}

bool webchild_able(void)
{
	return false;
}
#endif
