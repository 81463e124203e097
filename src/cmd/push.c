/* push.c - see push.h: the URL, what waits, and when it is sent again. */
#include "cmd/push.h"
#include "api/version.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/spawn.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

enum {
	MOST_WAITING = 16,
	MOST_BYTES = 64 << 20, /* that wait together */
	FIRST_S = 1,           /* before the second attempt */
	LAST_S = 64,           /* between attempts, at most */
	MOST_AFTER_S = 600,    /* that a receiver may ask for */
	RESTART_MS = 1000,     /* between two starts of a child that dies */
};

/* ---- the URL ---- */

/* A name: getent knows what the machine knows of names, without loading that into this process. */
static bool look_up(const char *name, struct sb *ret)
{
	char *argv[] = {(char *)"getent", (char *)"ahosts", (char *)name, NULL};
	int pid, fd;
	char c;
	struct err *e = spawn_read(argv, true, &pid, &fd);
	bool first = !e;
	while (!e && read(fd, &c, 1) == 1) {
		first &= c != ' ' && c != '\n';
		if (first)
			sb_char(ret, c);
	}
	if (!e) {
		close(fd);
		waitpid(pid, NULL, 0);
	}
	err_free(e);
	return ret->n;
}

static struct err *find_address(struct push *p, struct str host, u16 port)
{
	AUTO_SB found = {0};
	const char *name = arena_strz(&p->arena, host);
	if (web_parse_addr(str_is(host, "localhost") ? "127.0.0.1" : name, port, &p->at))
		return NULL;
	for (u32 i = 0; i < host.n; i++) {
		char c = host.s[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
		if (!plain || (!i && c == '-'))
			return err_new("%s: '%s' is no name of a host", p->option, name);
	}
	if (look_up(name, &found) && web_parse_addr(found.s, port, &p->at))
		return NULL;
	return err_new("%s: no address is known for '%s'", p->option, name);
}

struct err *push_open(struct push *p, const char *option, const char *url, u16 port,
		      const char *path)
{
	*p = (struct push){.option = option, .child = WEB_NONE};
	struct str rest = str_z(url), host;
	if (str_starts(rest, STR("https://")))
		return err_new("%s: this sonde sends nothing encrypted: let a collector on this "
			       "machine take it by "
			       "http://127.0.0.1:%u and encrypt it (got '%s')",
			       option, port, url);
	if (!str_starts(rest, STR("http://")))
		return err_new("%s needs a URL, as in http://127.0.0.1:%u (got '%s')", option, port,
			       url);
	rest = str_from(rest, 7);
	i32 slash = str_chr(rest, '/');
	host = str_n(rest.s, slash < 0 ? rest.n : (size_t)slash);
	struct str way = slash < 0 ? STR("") : str_from(rest, (u32)slash);
	while (way.n && way.s[way.n - 1] == '/')
		way.n--;
	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("?#@", *c))
			return err_new("%s: a URL may have a host, a port and a path (got '%s')",
				       option, url);
	p->host = arena_str(&p->arena, host);
	const char *more = str_ends(way, str_z(path)) ? "" : path;
	p->path = str_z(arena_fmt(&p->arena, "%.*s%s", STRF(way), more));
	AUTO_SB name = {0};
	AUTO_SB whole = {0};
	bool bare = str_ends(host, STR("]")) || str_chr(host, ':') < 0;
	sb_add(&whole, host);
	if (bare)
		sb_fmt(&whole, ":%u", port);
	if (!host.n || host.s[0] == ':' || !web_split_addr(whole.s, &name, &port))
		return err_new("%s: '%.*s' is no host and port", option, STRF(host));
	return find_address(p, sb_str(&name), port);
}

struct err *push_start(struct push *p)
{
	p->child_ns = now_ns();
	return web_start(&p->child, pushchild_run, p);
}

/* ---- what waits ---- */

static void forget_first(struct push *p)
{
	sb_free(&p->waiting.v[0].text);
	p->waiting.n--;
	memmove(p->waiting.v, p->waiting.v + 1, p->waiting.n * sizeof(p->waiting.v[0]));
	p->tries = 0;
	p->next_ns = 0;
}

static void drop(struct push *p, u32 i)
{
	p->dropped += p->waiting.v[i].points;
	sb_free(&p->waiting.v[i].text);
	p->waiting.n--;
	memmove(p->waiting.v + i, p->waiting.v + i + 1,
		(p->waiting.n - i) * sizeof(p->waiting.v[0]));
}

void push_add(struct push *p, const struct push_post *post)
{
	struct push_waiting w = {.points = post->points};
	size_t bytes = post->body.n;
	for (u32 i = 0; i < p->waiting.n; i++)
		bytes += p->waiting.v[i].text.n;
	/* The first one stays while the child has it. */
	while (p->waiting.n > p->busy && (p->waiting.n >= MOST_WAITING || bytes > MOST_BYTES)) {
		bytes -= p->waiting.v[p->busy].text.n;
		drop(p, p->busy);
	}
	sb_fmt(&w.text,
	       "POST %.*s%.*s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: sonde/%s\r\nContent-Type: "
	       "%.*s\r\n"
	       "Content-Length: %u\r\nConnection: close\r\n\r\n",
	       STRF(p->path), STRF(post->query), STRF(p->host), SONDE_VERSION, STRF(post->type),
	       post->body.n);
	sb_add(&w.text, post->body);
	vec_add(&p->waiting, w);
}

/* ---- attempts ---- */

static void say(const struct push *p, const char *what)
{
	fprintf(stderr, "WARNING: %s: %.*s %s\n", p->option, STRF(p->host), what);
}

/* Of those that the protocol says are to be tried again, or that say nothing. */
static bool is_passing(const struct push_reply *r)
{
	return r->no || !r->status || r->status == 429 || r->status == 502 || r->status == 503 ||
	       r->status == 504;
}

static void put_reason(struct sb *b, const struct push_reply *r)
{
	if (r->no)
		sb_fmt(b, "cannot be reached: %s", strerror(r->no));
	else if (!r->status)
		sb_z(b, "does not answer as an HTTP server does");
	else
		sb_fmt(b, "answers with status %u", r->status);
}

static void try_later(struct push *p, const struct push_reply *r, u64 now)
{
	u64 wait = p->tries < 7 ? (u64)FIRST_S << p->tries : LAST_S;
	wait = MAX(MIN(wait, (u64)LAST_S), MIN(r->after_s, (u32)MOST_AFTER_S));
	p->tries++;
	p->next_ns = now + wait * SECOND_NS;
	AUTO_SB why = {0};
	put_reason(&why, r);
	sb_z(&why, "; it is tried again");
	if (!p->failing)
		say(p, why.s);
	p->failing = true;
}

static void refused(struct push *p, const struct push_reply *r)
{
	AUTO_SB why = {0};
	put_reason(&why, r);
	sb_fmt(&why, ", and does not get these %u points again", p->waiting.v[0].points);
	if (!p->failing)
		say(p, why.s);
	p->failing = true;
	p->dropped += p->waiting.v[0].points;
	forget_first(p);
}

static void taken(struct push *p, const struct push_reply *r)
{
	AUTO_SB b = {0};
	u32 rejected = MIN(r->rejected, p->waiting.v[0].points);
	p->posts++;
	p->dropped += rejected;
	if (rejected)
		sb_fmt(&b, "has rejected %u of %u points", rejected, p->waiting.v[0].points);
	else if (p->failing)
		sb_fmt(&b, "takes data again; %llu points were dropped so far", p->dropped);
	if (b.n && (!rejected || !p->failing))
		say(p, b.s);
	p->failing = rejected;
	forget_first(p);
}

static void attempted(struct push *p, const struct push_reply *r, u64 now)
{
	bool good = !r->no && r->status >= 200 && r->status < 300;
	p->busy = false;
	p->failures += !good;
	if (good)
		taken(p, r);
	else if (is_passing(r))
		try_later(p, r, now);
	else
		refused(p, r);
}

void push_take(struct push *p, u64 now)
{
	struct push_reply r;
	ssize_t n = recv(p->child.fd, &r, sizeof(r), MSG_DONTWAIT | MSG_PEEK);
	if (n > 0 && (size_t)n < sizeof(r))
		return; /* the rest is on its way */
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == sizeof(r) && p->busy) {
		(void)recv(p->child.fd, &r, sizeof(r), MSG_DONTWAIT);
		attempted(p, &r, now);
		return;
	}
	web_stop(&p->child);
	if (p->busy)
		attempted(p, &(struct push_reply){.no = EPIPE}, now);
}

void push_poll(struct push *p, u64 now)
{
	if (p->child.fd < 0 && now - p->child_ns > (u64)RESTART_MS * MILLI_NS) {
		struct err *e = push_start(p);
		if (e)
			say(p, e->msg);
		err_free(e);
	}
	if (p->busy || !p->waiting.n || now < p->next_ns || p->child.fd < 0)
		return;
	p->busy = true;
	if (!web_answer(&p->child, sb_str(&p->waiting.v[0].text)))
		web_stop(&p->child), attempted(p, &(struct push_reply){.no = EPIPE}, now);
}

void push_close(struct push *p)
{
	web_close(&p->child);
	for (u32 i = 0; i < p->waiting.n; i++)
		sb_free(&p->waiting.v[i].text);
	vec_free(&p->waiting);
	arena_free(&p->arena);
}
