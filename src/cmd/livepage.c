/* livepage.c - states of a run, one after the other, to the child that serves them. */
#include "cmd/livepage.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/pagechild.h"
#include "cmd/web.h"
#include "live/front.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { CLOSE_MS = 1000, NAP_MS = 5, MOST_ASKED = 64 * (PAGE_ASK + (int)sizeof(struct page_ask)) };

struct livepage {
	struct web web;
	struct front_page front;
	char token[PAGE_TOKEN + 1];
	struct sb out; /* what has not gone out yet, from .at on */
	size_t at;
	struct sb in; /* questions that are not answered yet */
	u32 clients;
	u32 asking;   /* the number of the question that was taken last; 0: no answer is expected */
	u64 spent_ns; /* processor time of the child */
	bool announced;
	bool quiet;    /* a terminal has a screen, which shows that it has ended */
	int keeper;    /* of the file of a unix socket; 0: there is none */
	int keeper_fd; /* it ends when that is closed */
};

static void lost(struct livepage *p)
{
	int status = 0, gone;
	u64 end = now_ns() + CLOSE_MS * MILLI_NS;
	close_fd(&p->web.fd);
	close_fd(&p->web.listening);
	p->front.fd = -1;
	while (!(gone = waitpid(p->web.pid, &status, WNOHANG)) && now_ns() < end)
		poll(NULL, 0, NAP_MS);
	if (p->quiet)
		return;
	if (gone == p->web.pid && WIFSIGNALED(status))
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
	char buf[4096];
	ssize_t n = -1;
	if (p->web.fd < 0)
		return false;
	while (p->in.n < MOST_ASKED && (n = recv(p->web.fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		sb_mem(&p->in, buf, (size_t)n);
	bool good = n < 0 && p->in.n < MOST_ASKED && (errno == EAGAIN || errno == EINTR);
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

static void send_down(struct livepage *p, u32 id, bool good, struct str text)
{
	struct page_answer head = {.size = text.n, .id = id, .good = good};
	if (p->at == p->out.n) {
		sb_clear(&p->out);
		p->at = 0;
	}
	sb_mem(&p->out, &head, sizeof(head));
	sb_add(&p->out, text);
	pump(p);
}

static void put(void *self, struct str state)
{
	send_down(self, 0, true, state);
}

/* Not before the last answer has gone out, so that answers do not pile up. */
static bool asked(void *self, struct sb *question)
{
	struct livepage *p = self;
	struct page_ask head;
	if (!pump(p) || p->at < p->out.n || p->in.n < sizeof(head))
		return false;
	memcpy(&head, p->in.s, sizeof(head));
	if (head.size > PAGE_ASK) {
		lost(p);
		return false;
	}
	size_t whole = sizeof(head) + head.size;
	if (p->in.n < whole)
		return false;
	sb_mem(question, p->in.s + sizeof(head), head.size);
	memmove(p->in.s, p->in.s + whole, p->in.n - whole);
	p->in.n -= whole;
	p->clients = head.clients;
	p->asking = head.id;
	return true;
}

static void answer(void *self, bool good, struct str text)
{
	struct livepage *p = self;
	if (p->asking)
		send_down(p, p->asking, good, text);
	p->asking = 0;
}

/* By its clock, which nothing has to be opened for. */
static u64 own_ns(void *self)
{
	struct livepage *p = self;
	clockid_t clock;
	struct timespec t;
	if (p->web.fd >= 0 && !clock_getcpuclockid(p->web.pid, &clock) && !clock_gettime(clock, &t))
		p->spent_ns = MAX(p->spent_ns, (u64)t.tv_sec * SECOND_NS + (u64)t.tv_nsec);
	return p->spent_ns;
}

static void close_page(void *self)
{
	livepage_close(self);
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

/* Removes the file of a unix socket when a byte comes from fd, or nobody has the other end any more: by then sonde may
 * neither have the right for it nor be alive. */
_Noreturn static void keep(int fd, const char *path)
{
	struct stat was, is;
	char c;
	if (lstat(path, &was) || dup2(fd, 3) < 0 || close_range(4, ~0u, 0))
		_exit(1);
	setsid();
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	while (read(3, &c, 1) < 0 && errno == EINTR)
		;
	if (!lstat(path, &is) && is.st_dev == was.st_dev && is.st_ino == was.st_ino)
		unlink(path);
	_exit(0);
}

static struct err *start_keeper(struct livepage *p, const char *path)
{
	int fd[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return err_sys(errno, "make a pair of sockets");
	p->keeper = fork();
	if (!p->keeper) {
		close(fd[1]);
		keep(fd[0], path);
	}
	close(fd[0]);
	p->keeper_fd = fd[1];
	return p->keeper < 0 ? err_sys(errno, "start a child") : NULL;
}

static struct livepage *new_page(void)
{
	struct livepage *p = xcalloc(1, sizeof(*p));
	p->web = WEB_NONE;
	p->keeper_fd = p->front.fd = -1;
	p->front = (struct front_page){.self = p,
				       .ready = ready,
				       .put = put,
				       .asked = asked,
				       .answer = answer,
				       .own_ns = own_ns,
				       .close = close_page};
	return p;
}

struct err *livepage_open(const char *addr, struct livepage **ret)
{
	struct livepage *p = new_page();
	struct str unix_path = STR("unix:");
	struct err *e = make_token(p->token);
	if (!e)
		e = web_open_local(&p->web, addr);
	if (!e && addr && str_starts(str_z(addr), unix_path))
		e = start_keeper(p, addr + unix_path.n);
	if (!e)
		e = web_start(&p->web, pagechild_run, p->token);
	if (e) {
		livepage_close(p);
		return e;
	}
	p->front.fd = p->web.fd;
	*ret = p;
	return NULL;
}

static void put_address(const struct livepage *p, struct sb *b)
{
	AUTO_SB where = {0};
	web_name(&p->web, &where);
	bool file = str_starts(sb_str(&where), STR("unix:"));
	sb_fmt(b, "http://%s/?t=%s%s%s", file ? "localhost" : where.s, p->token, file ? " on " : "",
	       file ? where.s : "");
}

void livepage_announce(struct livepage *p)
{
	AUTO_SB address = {0};
	if (p->announced || p->web.fd < 0)
		return;
	p->announced = true;
	put_address(p, &address);
	fprintf(stderr, "Live at %s\n", address.s);
}

int livepage_serve(struct sb *text, int *pid)
{
	struct livepage *p;
	struct err *e = livepage_open(NULL, &p);
	if (e) {
		sb_z(text, e->msg);
		err_free(e);
		return -1;
	}
	put_address(p, text);
	*pid = p->web.pid;
	close_fd(&p->web.listening);
	int fd = p->web.fd;
	free(p);
	return fd;
}

const struct front_page *livepage_take(int fd, int pid)
{
	struct livepage *p = new_page();
	p->web.fd = p->front.fd = fd;
	p->web.pid = pid;
	p->quiet = true;
	return &p->front;
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
	if (p->keeper > 0)
		(void)!send(p->keeper_fd, "", 1, MSG_NOSIGNAL);
	while (p->keeper > 0 && !waitpid(p->keeper, NULL, WNOHANG) && now_ns() < end)
		poll(NULL, 0, NAP_MS);
	close_fd(&p->keeper_fd);
	while (child && !waitpid(p->web.pid, NULL, WNOHANG) && now_ns() < end)
		poll(NULL, 0, NAP_MS);
	sb_free(&p->out);
	sb_free(&p->in);
	free(p);
}
