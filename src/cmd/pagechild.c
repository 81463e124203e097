/*
 * pagechild.c - the page of `live --web`: HTTP by libmicrohttpd, in one thread, without rights.
 *
 * GET / is the page, GET /events a stream of states as Server-Sent Events; the rest are questions, which the parent
 * answers (enum ask_line). A page of another origin gets nothing: the token is secret, and Host and Origin have to name
 * this machine.
 */
#include "cmd/pagechild.h"

#ifdef HAVE_HTTP
#include "base/alloc.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/vec.h"
#include "cmd/http.h"
#include "live/front.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <zlib.h>

enum {
	TIMEOUT_S = 10,
	BEAT_S = 5,       /* a stream without news gets an empty line */
	LAST_MS = 500,    /* for the last state, once the run has ended */
	BLOCK = 32 << 10, /* bytes that a stream is asked for at once */
	NONCE = 16,       /* random bytes */
};

/* A line of the state, and the number of the state that it was new in. */
struct line {
	struct sb text;
	u64 serial;
};
struct desk {
	int fd; /* to the parent */
	struct MHD_Daemon *daemon;
	const char *token;
	struct sb in; /* of a state that is not complete yet */
	VEC(struct line) line;
	u32 nline; /* of the last state */
	u64 serial;
	struct client *clients; /* streams */
	u32 nclients;
	struct client *asking; /* whose questions the parent has */
	u32 nasked;            /* questions so far */
	struct sb out;         /* what has not gone to the parent yet */
	struct sb seen;        /* panes that are looked at, as the parent knows them */
	bool over;
};
/* A request; streams and those that wait for an answer are in lists. */
struct client {
	struct desk *desk;
	struct MHD_Connection *connection;
	struct client *next;
	bool stream, waits; /* waits: the connection is suspended */
	char name[33];      /* of a stream; "": the page has not said */
	struct sb sees;     /* panes that it shows, each with a comma behind */
	bool sees_all;      /* it does not say which */
	u32 id, status;     /* of a question; its status: 0 as long as there is no answer */
	bool beat;
	u64 seen; /* the state that was sent last */
	struct sb out;
	size_t at;
	z_stream *zip; /* NULL: the stream is not compressed */
	bool last;     /* the end of the compressed stream is in .out */
};

/* ---- answers ---- */

static void safe_headers(struct MHD_Response *r)
{
	static const char *const headers[][2] = {{"Cache-Control", "no-store"},
						 {"X-Content-Type-Options", "nosniff"},
						 {"X-Frame-Options", "DENY"},
						 {"Referrer-Policy", "no-referrer"},
						 {"Cross-Origin-Opener-Policy", "same-origin"},
						 {"Cross-Origin-Resource-Policy", "same-origin"}};
	for (size_t i = 0; i < countof(headers); i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
}

static enum MHD_Result send_and_drop(struct MHD_Connection *c, u32 status, struct MHD_Response *r)
{
	safe_headers(r);
	enum MHD_Result ok = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ok;
}

static enum MHD_Result plain(struct MHD_Connection *c, u32 status, const char *text)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	MHD_add_response_header(r, "Content-Type", "text/plain; charset=utf-8");
	MHD_add_response_header(r, "Content-Security-Policy", "default-src 'none'");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", strstr(text, "POST") ? "POST" : "GET, HEAD");
	return send_and_drop(c, status, r);
}

static void add_file(struct sb *b, const char *tag, const char *nonce, const char *name)
{
	sb_fmt(b, "<%s nonce=%s>", tag, nonce);
	sb_add(b, embed_text(embed_find(str_z(name))));
	sb_fmt(b, "</%s>\n", tag);
}

/* Only this script and this style are let in, by a number that nobody can guess. */
static enum MHD_Result send_page(struct MHD_Connection *c)
{
	AUTO_SB b = {0};
	AUTO_SB rules = {0};
	u8 random[NONCE];
	char nonce[2 * NONCE + 1];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return plain(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "no random numbers\n");
	for (u32 i = 0; i < NONCE; i++)
		snprintf(nonce + 2 * i, 3, "%02x", random[i]);
	sb_fmt(&rules,
	       "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; connect-src "
	       "'self'; "
	       "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
	       "require-trusted-types-for 'script'",
	       nonce, nonce);
	sb_z(&b, "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
		 "<meta name=viewport content=\"width=device-width\">\n"
		 "<link rel=icon href=\"data:,\">\n<title>sonde</title>\n");
	add_file(&b, "style", nonce, "src/cmd/page.css");
	sb_z(&b, "<body>\n");
	add_file(&b, "script", nonce, "src/cmd/page.js");
	struct MHD_Response *r = MHD_create_response_from_buffer(b.n, b.s, MHD_RESPMEM_MUST_COPY);
	MHD_add_response_header(r, "Content-Type", "text/html; charset=utf-8");
	MHD_add_response_header(r, "Content-Security-Policy", rules.s);
	return send_and_drop(c, MHD_HTTP_OK, r);
}

/* ---- streams ---- */

/* The client can read each part at once. over: it is the end. */
static void compress_part(struct client *k, struct str part, bool over)
{
	u8 buf[16384];
	k->zip->next_in = (u8 *)part.s;
	k->zip->avail_in = (uInt)part.n;
	do {
		k->zip->next_out = buf;
		k->zip->avail_out = sizeof(buf);
		deflate(k->zip, over ? Z_FINISH : Z_SYNC_FLUSH);
		sb_mem(&k->out, buf, sizeof(buf) - k->zip->avail_out);
	} while (!k->zip->avail_out);
}

/* NULL: the client does not ask for it. */
static z_stream *compressed(struct MHD_Connection *c)
{
	enum { LEVEL = 5, GZIP_WINDOW = 16 + 15, MEMORY = 8 };
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept-Encoding");
	if (!accept || !strstr(accept, "gzip"))
		return NULL;
	z_stream *z = xcalloc(1, sizeof(*z));
	if (deflateInit2(z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
		return z;
	free(z);
	return NULL;
}

/* {"n": lines, "set": {"0": ...}}: the lines that are newer than what the client has. */
static void put_news(struct client *k, struct sb *out)
{
	const struct desk *d = k->desk;
	const char *comma = "";
	if (k->seen == d->serial) {
		sb_z(out, k->beat ? ":\n\n" : "");
		k->beat = false;
		return;
	}
	sb_fmt(out, "data: {\"n\": %u, \"set\": {", d->nline);
	for (u32 i = 0; i < d->nline; i++) {
		if (d->line.v[i].serial <= k->seen)
			continue;
		sb_fmt(out, "%s\"%u\": ", comma, i);
		sb_add(out, sb_str(&d->line.v[i].text));
		comma = ", ";
	}
	sb_z(out, "}}\n\n");
	k->seen = d->serial;
	k->beat = false;
}

static void fill(struct client *k)
{
	AUTO_SB news = {0};
	sb_clear(&k->out);
	k->at = 0;
	put_news(k, k->zip ? &news : &k->out);
	bool end = k->zip && k->desk->over && !k->last;
	if (k->zip && (news.n || end))
		compress_part(k, sb_str(&news), end);
	k->last |= end;
}

static ssize_t stream(void *client, uint64_t at, char *buf, size_t max)
{
	struct client *k = client;
	(void)at;
	if (k->at == k->out.n)
		fill(k);
	size_t n = MIN(k->out.n - k->at, max);
	if (n) {
		memcpy(buf, k->out.s + k->at, n);
		k->at += n;
		return (ssize_t)n;
	}
	if (k->desk->over)
		return MHD_CONTENT_READER_END_OF_STREAM;
	k->waits = true;
	MHD_suspend_connection(k->connection);
	return 0;
}

static void copy_name(struct client *k, const char *name)
{
	snprintf(k->name, sizeof(k->name), "%s", name ? name : "");
}

static enum MHD_Result send_events(struct client *k)
{
	struct desk *d = k->desk;
	if (d->nclients >= PAGE_CLIENTS)
		return plain(k->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			     "32 pages are open already\n");
	struct MHD_Response *r =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, stream, k, NULL);
	MHD_add_response_header(r, "Content-Type", "text/event-stream; charset=utf-8");
	k->zip = compressed(k->connection);
	if (k->zip)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	k->stream = k->sees_all = true;
	copy_name(k, MHD_lookup_connection_value(k->connection, MHD_GET_ARGUMENT_KIND, "c"));
	k->next = d->clients;
	d->clients = k;
	d->nclients++;
	return send_and_drop(k->connection, MHD_HTTP_OK, r);
}

static void wake(struct desk *d, bool beat)
{
	for (struct client *k = d->clients; k; k = k->next) {
		k->beat |= beat;
		if (k->waits)
			MHD_resume_connection(k->connection);
		k->waits = false;
	}
}

static void unlist(struct client **at, const struct client *k)
{
	while (*at && *at != k)
		at = &(*at)->next;
	if (*at)
		*at = k->next;
}

/* ---- questions ---- */

static const struct {
	const char *url;
	bool post;
} questions[] = {
	{"/state", false}, {"/pane", false}, {"/part", false}, {"/save", false}, {"/ctl", true}};

static void put_ask(struct desk *d, u32 id, struct str text)
{
	struct page_ask head = {.id = id, .clients = d->nclients, .size = text.n};
	sb_mem(&d->out, &head, sizeof(head));
	sb_add(&d->out, text);
}

static const char *argument(const struct client *k, const char *name)
{
	const char *s = MHD_lookup_connection_value(k->connection, MHD_GET_ARGUMENT_KIND, name);
	return s ? s : "";
}

/* The connection is suspended until there is an answer. */
static enum MHD_Result ask(struct client *k, const char *what)
{
	static const char *const names[ASKS] = {
		[ASK_AT] = "at",   [ASK_PANE] = "pane", [ASK_VIEW] = "view",
		[ASK_ROW] = "row", [ASK_X] = "x",       [ASK_Y] = "y"};
	struct desk *d = k->desk;
	AUTO_SB b = {0};
	sb_z(&b, what);
	for (u32 i = ASK_AT; i < ASKS; i++) {
		sb_char(&b, '\n');
		for (const char *s = argument(k, names[i]); *s; s++)
			sb_char(&b, *s == '\n' ? ' ' : *s);
	}
	if (b.n > PAGE_ASK)
		return plain(k->connection, MHD_HTTP_BAD_REQUEST, "the question is too long\n");
	if (d->over)
		return plain(k->connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the run has ended\n");
	k->id = ++d->nasked;
	put_ask(d, k->id, sb_str(&b));
	k->next = d->asking;
	d->asking = k;
	MHD_suspend_connection(k->connection);
	return MHD_YES;
}

/* Text NULL: there is none any more. */
static void take_answer(struct desk *d, const struct page_answer *head, struct str text)
{
	struct client *k = d->asking;
	while (k && k->id != head->id)
		k = k->next;
	if (!k)
		return;
	unlist(&d->asking, k);
	k->status = head->good ? MHD_HTTP_OK : MHD_HTTP_CONFLICT;
	sb_add(&k->out, text);
	MHD_resume_connection(k->connection);
}

static void end_questions(struct desk *d)
{
	while (d->asking)
		take_answer(d, &(struct page_answer){.id = d->asking->id},
			    STR("the run has ended\n"));
}

static const char *type_of(const struct client *k, const char *url)
{
	struct str name = str_z(argument(k, "x"));
	return k->status != MHD_HTTP_OK       ? "text/plain; charset=utf-8"
	       : strcmp(url, "/save") != 0    ? "application/json"
	       : str_ends(name, STR(".svg"))  ? "image/svg+xml"
	       : str_ends(name, STR(".csv"))  ? "text/csv; charset=utf-8"
	       : str_ends(name, STR(".json")) ? "application/x-ndjson"
					      : "application/octet-stream";
}

static enum MHD_Result send_answer(struct client *k, const char *url)
{
	AUTO_SB text = {0};
	sb_add(&text, sb_str(&k->out));
	k->zip = compressed(k->connection);
	if (k->zip) {
		sb_clear(&k->out);
		compress_part(k, sb_str(&text), true);
	}
	struct MHD_Response *r =
		MHD_create_response_from_buffer(k->out.n, k->out.s, MHD_RESPMEM_MUST_COPY);
	if (k->zip)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	if (!strcmp(url, "/save"))
		MHD_add_response_header(r, "Content-Disposition", "attachment");
	MHD_add_response_header(r, "Content-Type", type_of(k, url));
	MHD_add_response_header(r, "Content-Security-Policy", "default-src 'none'");
	return send_and_drop(k->connection, k->status, r);
}

/* Which panes a page shows. */
static enum MHD_Result take_seen(struct client *asks)
{
	struct desk *d = asks->desk;
	const char *name = argument(asks, "c"), *panes = argument(asks, "pane");
	if (strlen(panes) >= PAGE_ASK / PAGE_CLIENTS)
		return plain(asks->connection, MHD_HTTP_BAD_REQUEST, "the list is too long\n");
	for (struct client *k = d->clients; k; k = k->next) {
		if (!*name || strcmp(k->name, name) != 0)
			continue;
		k->sees_all = false;
		sb_clear(&k->sees);
		sb_fmt(&k->sees, "%s,", panes);
	}
	return plain(asks->connection, MHD_HTTP_OK, "");
}

/* ---- requests ---- */

static bool is_token(const struct desk *d, const char *given)
{
	u8 differs = 0;
	if (!given || strlen(given) != PAGE_TOKEN)
		return false;
	for (u32 i = 0; i < PAGE_TOKEN; i++) /* all of them: how long it takes says nothing */
		differs |= (u8)(given[i] ^ d->token[i]);
	return !differs;
}

/* A name of this machine, with any port: ssh -L has one of its own. */
static bool is_here(const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
	for (size_t i = 0; host && i < countof(names); i++) {
		size_t n = strlen(names[i]);
		if (!strncasecmp(host, names[i], n) && (!host[n] || host[n] == ':'))
			return true;
	}
	return false;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* NULL: it may see the run. */
static const char *refuses(const struct desk *d, struct MHD_Connection *c)
{
	const char *host = header(c, "Host"), *origin = header(c, "Origin");
	if (!is_here(host))
		return "the Host is not this machine\n";
	if (origin && (strncmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, host) != 0))
		return "the Origin is another one\n";
	if (!is_token(d, MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "t")))
		return "the token is missing, or wrong: the address that sonde printed has it\n";
	return NULL;
}

static enum MHD_Result route(struct client *k, const char *url, const char *method)
{
	struct MHD_Connection *c = k->connection;
	bool get = !strcmp(method, "GET"), see = !strcmp(url, "/see"), post = see;
	u32 i = 0;
	while (i < countof(questions) && strcmp(url, questions[i].url) != 0)
		i++;
	post |= i < countof(questions) && questions[i].post;
	if (post && strcmp(method, "POST") != 0)
		return plain(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only POST\n");
	if (!post && !get && strcmp(method, "HEAD") != 0)
		return plain(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (see)
		return take_seen(k);
	if (i < countof(questions))
		return ask(k, url + 1);
	if (!strcmp(url, "/"))
		return send_page(c);
	if (!strcmp(url, "/events") && get)
		return send_events(k);
	return plain(c, MHD_HTTP_NOT_FOUND, "there is no such page\n");
}

static enum MHD_Result handle(void *desk, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *nupload, void **state)
{
	struct desk *d = desk;
	struct client *k = *state;
	(void)version, (void)upload;
	if (!k) {
		k = xcalloc(1, sizeof(*k));
		*k = (struct client){.desk = d, .connection = c};
		*state = k;
		return MHD_YES;
	}
	if (*nupload) { /* nobody wants it */
		*nupload = 0;
		return MHD_YES;
	}
	if (k->status)
		return send_answer(k, url);
	const char *why = refuses(d, c);
	if (why)
		return plain(c, MHD_HTTP_FORBIDDEN, why);
	return route(k, url, method);
}

static void completed(void *desk, struct MHD_Connection *c, void **state,
		      enum MHD_RequestTerminationCode how)
{
	struct client *k = *state;
	(void)desk, (void)c, (void)how;
	if (k && k->stream) {
		unlist(&k->desk->clients, k);
		k->desk->nclients--;
	}
	if (k && k->zip)
		deflateEnd(k->zip);
	if (k) {
		unlist(&k->desk->asking, k);
		free(k->zip);
		sb_free(&k->out);
		sb_free(&k->sees);
	}
	free(k);
	*state = NULL;
}

/* ---- the parent ---- */

static void take_state(struct desk *d, struct str state)
{
	struct str rest = state, line;
	u32 n = 0;
	d->serial++;
	for (; str_cut(&rest, '\n', &line) && line.n; n++) {
		if (n == d->line.n)
			vec_add(&d->line, (struct line){0});
		struct line *to = &d->line.v[n];
		if (n < d->nline && str_eq(sb_str(&to->text), line))
			continue;
		sb_clear(&to->text);
		sb_add(&to->text, line);
		to->serial = d->serial;
	}
	d->nline = n;
}

/* What there is of it; false: there is no more. */
static bool take_bytes(struct desk *d)
{
	char buf[65536];
	struct page_answer head;
	ssize_t got = recv(d->fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (got <= 0) {
		d->over = !got || (errno != EAGAIN && errno != EINTR);
		return false;
	}
	sb_mem(&d->in, buf, (size_t)got);
	while (d->in.n >= sizeof(head)) {
		memcpy(&head, d->in.s, sizeof(head));
		size_t whole = sizeof(head) + head.size;
		if (d->in.n < whole)
			break;
		struct str text = str_n(d->in.s + sizeof(head), head.size);
		if (head.id)
			take_answer(d, &head, text);
		else
			take_state(d, text);
		memmove(d->in.s, d->in.s + whole, d->in.n - whole);
		d->in.n -= whole;
	}
	return true;
}

/* The panes that any page shows, and how many pages there are. */
static void tell_seen(struct desk *d)
{
	AUTO_SB text = {0};
	bool all = false;
	sb_z(&text, "see\n\n");
	for (const struct client *k = d->clients; k; k = k->next)
		all |= k->sees_all;
	for (const struct client *k = d->clients; k && !all; k = k->next)
		sb_add(&text, sb_str(&k->sees));
	/* The number is not looked at there, but makes each change news. */
	sb_fmt(&text, "%s\n\n\n%u\n", all ? "*" : "", d->nclients);
	if (str_eq(sb_str(&text), sb_str(&d->seen)))
		return;
	sb_clear(&d->seen);
	sb_add(&d->seen, sb_str(&text));
	put_ask(d, 0, sb_str(&text));
}

/* What the parent does not take now is sent later. */
static void tell(struct desk *d)
{
	ssize_t n;
	if (d->nclients || d->seen.n) /* before the first page, all panes are traced */
		tell_seen(d);
	while (d->out.n && (n = send(d->fd, d->out.s, d->out.n, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
		memmove(d->out.s, d->out.s + n, d->out.n - (size_t)n);
		d->out.n -= (size_t)n;
	}
}

static void serve(struct desk *d)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(d->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd v[] = {{.fd = d->fd, .events = POLLIN},
			     {.fd = info->epoll_fd, .events = POLLIN}};
	u64 beat = now_ns(), end = 0;
	while (!d->over || (d->nclients && now_ns() < end)) {
		unsigned long long ms = 1000;
		u64 most = d->over ? 10 : 1000, serial = d->serial;
		if (MHD_get_timeout(d->daemon, &ms) != MHD_YES || ms > most)
			ms = most;
		v[0].events = (short)(POLLIN | (d->out.n ? POLLOUT : 0));
		if (poll(v + d->over, countof(v) - d->over, (int)ms) < 0 && errno != EINTR)
			_exit(1);
		while (!d->over && v[0].revents && take_bytes(d))
			;
		u64 now = now_ns();
		bool late = now - beat >= BEAT_S * (u64)SECOND_NS;
		if (d->over && !end)
			end = now + LAST_MS * MILLI_NS;
		if (d->over)
			end_questions(d);
		if (d->serial != serial || d->over || late)
			wake(d, late);
		beat = late ? now : beat;
		MHD_run(d->daemon);
		tell(d);
	}
}

void pagechild_run(int listening, int fd, const void *arg)
{
	struct desk d = {.fd = fd, .token = arg};
	d.daemon = http_start(listening, handle, completed, TIMEOUT_S, &d);
	serve(&d);
	_exit(0);
}
#else
void pagechild_run(int listening, int fd, const void *arg)
{
	(void)listening, (void)fd, (void)arg;
}
#endif
