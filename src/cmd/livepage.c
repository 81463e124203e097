/* livepage.c - states of a run, one after the other, to the child that serves them. */
#include "cmd/livepage.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/pagechild.h"
#include "cmd/web.h"
#include "live/front.h"
#include <errno.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { CLOSE_MS = 1000, NAP_MS = 5 };

struct livepage {
	struct web web;
	struct front_page front;
	char token[PAGE_TOKEN + 1];
	struct sb out; /* what has not gone out yet, from .at on */
	size_t at;
	u8 clients;
	bool announced;
};

static void lost(struct livepage *p)
{
	int status = 0;
	close_fd(&p->web.fd);
	close_fd(&p->web.listening);
	if (waitpid(p->web.pid, &status, 0) == p->web.pid && WIFSIGNALED(status))
		fprintf(stderr,
			"ERROR: the web server of --web was killed by signal %d; the run goes on "
			"without the page\n",
			WTERMSIG(status));
	else
		fputs("ERROR: the web server of --web has ended; the run goes on without the "
		      "page\n",
		      stderr);
}

/* False: there is no child any more. */
static bool pump(struct livepage *p)
{
	u8 clients[64];
	ssize_t n = -1;
	if (p->web.fd < 0)
		return false;
	while ((n = recv(p->web.fd, clients, sizeof(clients), MSG_DONTWAIT)) > 0)
		p->clients = clients[n - 1];
	bool good = n < 0 && (errno == EAGAIN || errno == EINTR);
	while (good && p->at < p->out.n) {
		n = send(p->web.fd, p->out.s + p->at, p->out.n - p->at,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0) {
			good = errno == EAGAIN || errno == EINTR;
			break;
		}
		p->at += (size_t)n;
	}
	if (!good)
		lost(p);
	return good;
}

static bool ready(void *self)
{
	struct livepage *p = self;
	return pump(p) && p->clients && p->at == p->out.n;
}

static void put(void *self, struct str state)
{
	struct livepage *p = self;
	u64 size = state.n;
	if (p->at == p->out.n) {
		sb_clear(&p->out);
		p->at = 0;
	}
	sb_mem(&p->out, &size, sizeof(size));
	sb_add(&p->out, state);
	pump(p);
}

static struct err *make_token(char *token)
{
	u8 random[PAGE_TOKEN / 2];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_sys(errno, "getrandom");
	for (u32 i = 0; i < sizeof(random); i++)
		snprintf(token + 2 * i, 3, "%02x", random[i]);
	return NULL;
}

struct err *livepage_open(const char *addr, struct livepage **ret)
{
	struct livepage *p = xcalloc(1, sizeof(*p));
	p->web = WEB_NONE;
	p->front = (struct front_page){.self = p, .ready = ready, .put = put};
	struct err *e = make_token(p->token);
	if (!e)
		e = web_open_local(&p->web, addr);
	if (!e)
		e = web_start(&p->web, pagechild_run, p->token);
	if (e) {
		livepage_close(p);
		return e;
	}
	*ret = p;
	return NULL;
}

void livepage_announce(struct livepage *p)
{
	AUTO_SB where = {0};
	if (p->announced || p->web.fd < 0)
		return;
	p->announced = true;
	web_name(&p->web, &where);
	bool file = str_starts(sb_str(&where), STR("unix:"));
	fprintf(stderr, "Live at http://%s/?t=%s%s%s\n", file ? "localhost" : where.s, p->token,
		file ? " on " : "", file ? where.s : "");
}

void livepage_stays(const struct livepage *p)
{
	if (p)
		fputs("The run has ended: Ctrl-C closes the page and prints the results\n", stderr);
}

const struct front_page *livepage_front(struct livepage *p)
{
	return &p->front;
}

void livepage_close(struct livepage *p)
{
	if (!p)
		return;
	u64 end = now_ns() + CLOSE_MS * MILLI_NS;
	while (pump(p) && p->at < p->out.n && now_ns() < end)
		poll(&(struct pollfd){.fd = p->web.fd, .events = POLLOUT}, 1, NAP_MS);
	bool child = p->web.fd >= 0;
	close_fd(&p->web.fd);
	close_fd(&p->web.listening);
	while (child && !waitpid(p->web.pid, NULL, WNOHANG) && now_ns() < end)
		poll(NULL, 0, NAP_MS);
	sb_free(&p->out);
	free(p);
}
