/* sandbox.c - the child without rights, and the way to it; see sandbox.h. */
#include "rights/sandbox.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "rights/confine.h"
#include "rights/sandbox_calls.h"
#include "rights/timeout.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
	WAIT_MS = 10000, /* of processor time for an answer (timeout.h) */
	LOOK_MS = 20,    /* between two looks at that */
	REAP_MS = 100,
	CPU_S = 600, /* of the child's life */
	MEMORY = 1 << 30,
	MAX_ANSWER = 1 << 30,
	MAX_BAD = 64,
	MAX_TOLD = 16,
	MAX_FILES = 64,    /* descriptors */
	TOGETHER = 4096,   /* bytes that go in one call with what comes before them */
	WAITING = 4 << 20, /* bytes of answers that the child writes before they are looked at */
};

struct bad_file {
	sandbox_fn *fn;
	u64 dev, ino;
};
struct sandbox {
	int pid, to; /* 0: it does not run */
	u32 wait_ms;
	char *why; /* there is none */
	struct bad_file bad[MAX_BAD];
	u32 nbad; /* so many in all; the last of them are kept */
	char *told[MAX_TOLD];
	u32 ntold;
	struct kept kept; /* where there is no child */
	struct ahead *ahead[SANDBOX_AHEAD];
	u32 nahead, nunheard; /* the last so many of them */
};
/* A question that was sent before it was asked. */
struct ahead {
	sandbox_fn *fn;
	struct question q; /* its words in: */
	struct sb words;
	bool heard; /* so these are known: */
	struct answer_head a;
	struct sb out;
};
/* What goes to the child; then so many bytes. */
struct ask_head {
	sandbox_fn *fn; /* the child is a copy of us */
	struct image_file file[SANDBOX_FILES];
	u32 nfile, npath, nargs;
};

/* ---- in the child ---- */

static bool get_question(int from, struct ask_head *h)
{
	int fd[SANDBOX_FILES];
	if (!sandbox_get_head(from, h, sizeof(*h), fd, SANDBOX_FILES))
		return false;
	for (u32 i = 0; i < h->nfile; i++)
		h->file[i].fd = fd[i];
	return true;
}

static bool answer(int to, struct job *j, struct err *e)
{
	struct answer_head a = {.n = e ? strlen(e->msg) : j->out.n,
				.kind = e ? ANSWER_FAILED : ANSWER_DONE};
	if (e)
		a.no = e->no;
	const char *text = e ? e->msg : sb_str(&j->out).s;
	u8 first[sizeof(a) + TOGETHER];
	size_t n = MIN(a.n, (u64)TOGETHER);
	memcpy(first, &a, sizeof(a));
	if (n)
		memcpy(first + sizeof(a), text, n);
	bool ok = sandbox_put(to, first, sizeof(a) + n) && sandbox_put(to, text + n, a.n - n);
	err_free(e);
	sb_free(&j->out);
	return ok;
}

static void serve(int to)
{
	struct ask_head h;
	struct kept kept = {0};
	bool ok = true;
	while (ok && get_question(to, &h)) {
		char *text = xmalloc((size_t)h.npath + h.nargs + 2);
		ok = sandbox_get(to, text, (size_t)h.npath + 1 + h.nargs);
		struct job j = {.path = text,
				.nfile = h.nfile,
				.args = bytes_of(text + h.npath + 1, h.nargs),
				.kept = &kept};
		memcpy(j.file, h.file, sizeof(j.file));
		ok = ok && answer(to, &j, h.fn(&j));
		for (u32 i = 0; i < h.nfile; i++)
			close_fd(&h.file[i].fd);
		free(text);
	}
}

/* But that one. */
static void close_files(int keep)
{
	if (!syscall(SYS_close_range, 0, keep - 1, 0) &&
	    !syscall(SYS_close_range, keep + 1, ~0u, 0))
		return;
	for (int fd = 0; fd < sysconf(_SC_OPEN_MAX); fd++)
		if (fd != keep)
			close(fd);
}

/* What it has now, and so much more: of private memory, which a copy of us begins with. */
static u64 memory_limit(void)
{
	struct rlimit none = {0};
	u64 pages = 0;
	char text[256] = "";
	int fd AUTO_CLOSE = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		return getrlimit(RLIMIT_DATA, &none) ? RLIM_INFINITY : none.rlim_max;
	return pages * (u64)sysconf(_SC_PAGESIZE) + MEMORY;
}

static void set_limit(int what, u64 n)
{
	struct rlimit r;
	if (!getrlimit((__rlimit_resource_t)what, &r) && n < r.rlim_max)
		setrlimit((__rlimit_resource_t)what, &(struct rlimit){n, n});
}

static void block_signals(void)
{
	sigset_t all;
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* signals_fill_pages() */
	sigdelset(&all, SIGSYS); /* sandbox_catch_calls() */
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* What one file took is used again for the next: fresh pages cost more than what is done with them. */
static void keep_memory(void)
{
	enum { KEPT = 8 << 20 };
	mallopt(M_MMAP_THRESHOLD, KEPT);
	mallopt(M_TRIM_THRESHOLD, KEPT);
	mallopt(M_TOP_PAD, 1 << 18);
}

/* For answers that nobody waits for yet. In a confined process this fails, and is not needed. */
static void widen(int to)
{
	const int n = WAITING;
	if (setsockopt(to, SOL_SOCKET, SO_SNDBUFFORCE, &n, sizeof(n)))
		setsockopt(to, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n));
}

static struct err *give_up_rights(int to, int parent)
{
	u64 left;
	if (getppid() != parent)
		return err_new("the parent ended");
	if (!sandbox_catch_calls())
		return err_sys(errno, "catch SIGSYS");
	widen(to);
	struct err *e = confine_caps(0, &left);
	return e ? e : confine_sandbox();
}

static _Noreturn void be_child(int to, int parent)
{
	struct job none = {0};
	block_signals(); /* Ctrl-C is for whoever asks */
	keep_memory();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	set_limit(RLIMIT_DATA, memory_limit());
	set_limit(RLIMIT_CPU, CPU_S);
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, 0);
	close_files(to);
	if (to != SANDBOX_WAY) {
		dup2(to, SANDBOX_WAY);
		close(to);
		to = SANDBOX_WAY;
	}
	set_limit(RLIMIT_NOFILE, MAX_FILES);
	struct err *e = give_up_rights(to, parent);
	bool ok = !e;
	if (answer(to, &none, e) && ok)
		serve(to);
	_exit(0);
}

/* ---- here ---- */

/* How long one answer may take, by whose clock: from the first look on, since most come before. */
struct term {
	const struct sandbox *s;
	struct timeout left;
	clockid_t cpu;
	bool looked, timed;
};

static u64 cpu_ns(const struct term *t)
{
	struct timespec v;
	return !t->timed || clock_gettime(t->cpu, &v) ? 0
						      : (u64)v.tv_sec * SECOND_NS + (u64)v.tv_nsec;
}

static enum timeout_is look(struct term *t)
{
	if (t->looked)
		return timeout_left(&t->left, now_ns(), cpu_ns(t));
	t->looked = true;
	t->timed = !clock_getcpuclockid(t->s->pid, &t->cpu);
	timeout_begin(&t->left, t->s->wait_ms, now_ns(), cpu_ns(t));
	return TIMEOUT_LEFT;
}

/* Of which it was LATE or STOOD, the child can still be there. */
enum way { WAY_DONE, WAY_DEAD, WAY_LATE, WAY_STOOD };

static enum way wait_for(int to, short events, struct term *until)
{
	struct pollfd p = {.fd = to, .events = events};
	while (poll(&p, 1, LOOK_MS) <= 0)
		switch (look(until)) {
		case TIMEOUT_LEFT: break;
		case TIMEOUT_WORKED: return WAY_LATE;
		case TIMEOUT_STOOD: return WAY_STOOD;
		}
	return WAY_DONE;
}

static enum way send_all(int to, const void *from, size_t n, struct term *until)
{
	for (size_t at = 0; at < n;) {
		ssize_t k = send(to, (const char *)from + at, n - at, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (k < 0 && errno != EINTR && errno != EAGAIN)
			return WAY_DEAD;
		enum way w = k < 0 ? wait_for(to, POLLOUT, until) : WAY_DONE;
		if (w != WAY_DONE)
			return w;
		at += k > 0 ? (size_t)k : 0;
	}
	return WAY_DONE;
}

/* Room grows with what comes, not with what was promised. */
static enum way take_all(int to, struct sb *b, u64 n, struct term *until)
{
	enum { PART = 1 << 18 };
	for (size_t end = b->n + n; b->n < end;) {
		size_t most = MIN(end - b->n, (size_t)PART);
		sb_reserve(b, most);
		ssize_t k = recv(to, b->s + b->n, most, MSG_DONTWAIT);
		if (!k || (k < 0 && errno != EINTR && errno != EAGAIN))
			return WAY_DEAD;
		enum way w = k < 0 ? wait_for(to, POLLIN, until) : WAY_DONE;
		if (w != WAY_DONE)
			return w;
		b->n += k > 0 ? (size_t)k : 0;
	}
	sb_mem(b, "", 0);
	return WAY_DONE;
}

/* n bytes, and of what follows them what is there, unless that may be another answer. */
static enum way take_first(int to, struct sb *b, size_t n, struct term *until)
{
	size_t most = n + (until->s->nunheard > 1 ? 0 : TOGETHER);
	while (b->n < n) {
		enum way w = wait_for(to, POLLIN, until);
		if (w != WAY_DONE)
			return w;
		sb_reserve(b, most);
		ssize_t k = recv(to, b->s + b->n, most - b->n, MSG_DONTWAIT);
		if (!k || (k < 0 && errno != EINTR && errno != EAGAIN))
			return WAY_DEAD;
		b->n += k > 0 ? (size_t)k : 0;
	}
	return WAY_DONE;
}

static enum way take_answer(int to, struct term *until, struct answer_head *a, struct sb *b)
{
	sb_clear(b);
	enum way w = take_first(to, b, sizeof(*a), until);
	if (w != WAY_DONE)
		return w;
	memcpy(a, b->s, sizeof(*a));
	b->n -= sizeof(*a);
	if (a->kind > ANSWER_LINK || b->n > a->n ||
	    a->n > (a->kind ? (u64)SANDBOX_MAX_WORDS : (u64)MAX_ANSWER))
		return WAY_DEAD; /* no function of ours says so much */
	memmove(b->s, b->s + sizeof(*a), b->n);
	return take_all(to, b, a->n - b->n, until);
}

static struct err *answered(const struct answer_head *a, struct sb *b)
{
	AUTO_SB text = {0};
	if (a->kind == ANSWER_DONE)
		return NULL;
	sb_visible(&text, sb_str(b));
	struct err *e = err_new("%s", text.n ? text.s : "not read");
	e->no = a->no;
	return e;
}

/*
 * One that does not end by itself is out of processor time: to send it a signal is a right that a
 * confined tracer does not have.
 */
static int reap(int pid)
{
	struct rlimit none = {1, 1};
	int status = 0;
	prlimit(pid, RLIMIT_CPU, &none, NULL);
	for (u32 ms = 0; ms < REAP_MS; ms++) {
		int got = waitpid(pid, &status, WNOHANG);
		if (got)
			return got == pid ? status : 0;
		poll(NULL, 0, 1);
	}
	return 0;
}

static void ahead_free(struct ahead *x)
{
	sb_free(&x->words);
	sb_free(&x->out);
	free(x);
}

/* With it go those that were not answered. */
static int stop(struct sandbox *s)
{
	int status = 0;
	for (; s->nunheard; s->nunheard--)
		ahead_free(s->ahead[--s->nahead]);
	if (!s->pid)
		return 0;
	close(s->to);
	status = reap(s->pid);
	s->pid = 0;
	return status;
}

static struct err *fork_child(struct sandbox *s)
{
	int to[2], parent = getpid();
	struct answer_head a;
	AUTO_SB b = {0};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to))
		return err_sys(errno, "socketpair");
	s->pid = fork();
	if (!s->pid) {
		close(to[0]);
		be_child(to[1], parent);
	}
	int no = errno;
	heap_own();
	close(to[1]);
	s->to = to[0];
	if (s->pid < 0) {
		close(to[0]);
		s->pid = 0;
		return err_sys(no, "fork");
	}
	struct term until = {.s = s};
	enum way w = take_answer(s->to, &until, &a, &b);
	if (w != WAY_DONE) {
		stop(s);
		return err_new(w == WAY_DEAD ? "it ended before it began" : "it did not begin");
	}
	struct err *e = answered(&a, &b);
	if (e)
		stop(s);
	return e;
}

static struct sandbox *sandbox_of(struct host *h)
{
	if (!h->sandbox) {
		h->sandbox = xcalloc(1, sizeof(*h->sandbox));
		h->sandbox->wait_ms = WAIT_MS;
		host_at_end(h, sandbox_end);
	}
	return h->sandbox;
}

int sandbox_start(struct host *h, const char **why)
{
	struct sandbox *s = sandbox_of(h);
	if (!s->pid && !s->why) {
		struct err *e = h->recorded      ? err_new("the machine is a recorded one")
				: h->no_children ? err_new("this process must not start others")
				: host_has(h, FEAT_CONFINE)
					? fork_child(s)
					: err_new("this kernel has no filters of system calls, or "
						  "they are off");
		s->why = e ? xstrdup(e->msg) : NULL;
		err_free(e);
	}
	*why = s->why;
	return s->pid;
}

void sandbox_timeout(struct host *h, u32 ms)
{
	sandbox_of(h)->wait_ms = ms;
}

const char *sandbox_told(const struct host *h, u32 i)
{
	return h->sandbox && i < h->sandbox->ntold ? h->sandbox->told[i] : NULL;
}

void sandbox_end(struct host *h)
{
	struct sandbox *s = h->sandbox;
	if (!s)
		return;
	if (s->pid) {
		close(s->to); /* it ends by itself, and with us at the latest */
		waitpid(s->pid, NULL, WNOHANG);
	}
	while (s->nahead)
		ahead_free(s->ahead[--s->nahead]);
	for (u32 i = 0; i < s->ntold; i++)
		free(s->told[i]);
	if (s->kept.drop)
		s->kept.drop(s->kept.p);
	free(s->why);
	free(s);
	h->sandbox = NULL;
}

/* ---- questions ---- */

static enum way send_question(int to, sandbox_fn *fn, const struct question *q, struct term *until)
{
	struct ask_head h = {
		.fn = fn, .nfile = q->nfile, .npath = (u32)strlen(q->path), .nargs = q->args.n};
	int fd[SANDBOX_FILES];
	AUTO_SB all = {0};
	memcpy(h.file, q->file, sizeof(h.file));
	for (u32 i = 0; i < q->nfile; i++)
		fd[i] = q->file[i].fd;
	sb_mem(&all, &h, sizeof(h));
	sb_mem(&all, q->path, h.npath + 1ul);
	sb_add(&all, q->args);
	size_t n = MIN(all.n, sizeof(h) + TOGETHER);
	if (!sandbox_put_head(to, all.s, n, fd, q->nfile))
		return WAY_DEAD;
	return send_all(to, all.s + n, all.n - n, until);
}

/* What the child asks for in the middle of a question. */
static enum way give(int to, const struct question *q, const struct answer_head *a,
		     const char *path, struct term *until)
{
	const char *link = q->more && a->kind == ANSWER_LINK ? q->more->self : "";
	struct reply_head r = {.no = *link ? 0 : EPERM, .n = (u32)strlen(link)};
	int fd AUTO_CLOSE = -1;
	if (q->more && a->kind == ANSWER_OPEN) {
		fd = q->more->open(q->more->arg, path);
		r.no = fd < 0 ? -fd : 0;
	}
	if (!sandbox_put_head(to, &r, sizeof(r), &fd, fd >= 0))
		return WAY_DEAD;
	return send_all(to, link, r.n, until);
}

static enum way hear(int to, const struct question *q, struct answer_head *a, struct sb *out,
		     struct term *until)
{
	for (;;) {
		enum way w = take_answer(to, until, a, out);
		if (w == WAY_DONE && a->kind >= ANSWER_OPEN)
			w = give(to, q, a, out->s, until);
		else
			return w;
		if (w != WAY_DONE)
			return w;
	}
}

static bool is_bad(const struct sandbox *s, sandbox_fn *fn, const struct question *q)
{
	for (u32 i = 0; i < MIN(s->nbad, (u32)MAX_BAD); i++)
		for (u32 k = 0; k < q->nfile; k++)
			if (s->bad[i].fn == fn && s->bad[i].ino == q->file[k].ino &&
			    s->bad[i].dev == q->file[k].dev)
				return true;
	return false;
}

static struct err *why_failed(const char *path, int status, enum way w)
{
	struct err *e;
	if (w == WAY_LATE)
		e = err_new("%s: reading it took too long, so it is left alone", path);
	else if (w == WAY_STOOD)
		e = err_new("%s: the process that read it stood still for too long, so it is left "
			    "alone",
			    path);
	else if (WIFSIGNALED(status))
		e = err_new("%s: the process that read it was ended by signal %d (%s): the file is "
			    "damaged, or made to do that",
			    path, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		e = err_new("%s: the process that read it ended: the file is damaged, or made to "
			    "do that",
			    path);
	e->no = w == WAY_DEAD ? EIO : ETIMEDOUT;
	return e;
}

static void tell(struct sandbox *s, const struct err *e)
{
	if (s->ntold < MAX_TOLD)
		s->told[s->ntold++] = xstrdup(e->msg);
}

void sandbox_tell(struct host *h, const struct err *e)
{
	if (e && (e->no == EMFILE || e->no == ENFILE || e->no == ENOMEM))
		tell(sandbox_of(h), e);
}

/* By that function it is not read again: each time would cost a child, or ten seconds. */
static struct err *failed(struct sandbox *s, sandbox_fn *fn, const struct question *q, enum way w)
{
	struct err *e = why_failed(q->path, stop(s), w);
	for (u32 i = 0; i < q->nfile; i++)
		s->bad[s->nbad++ % MAX_BAD] = (struct bad_file){fn, q->file[i].dev, q->file[i].ino};
	tell(s, e);
	return e;
}

static struct err *ask_here(struct sandbox *s, sandbox_fn *fn, const struct question *q,
			    struct sb *out)
{
	struct job j = {.path = q->path,
			.nfile = q->nfile,
			.args = bytes_of(q->args.s, q->args.n),
			.out = *out,
			.kept = &s->kept};
	memcpy(j.file, q->file, sizeof(j.file));
	sb_clear(&j.out);
	struct err *e = fn(&j);
	*out = j.out;
	return e;
}

/* ---- questions before they are asked ---- */

static bool is_ahead(const struct ahead *x, sandbox_fn *fn, const struct question *q)
{
	bool same = x->fn == fn && !q->more && x->q.nfile == q->nfile &&
		    !strcmp(x->q.path, q->path) && str_eq(x->q.args, q->args);
	for (u32 i = 0; i < q->nfile; i++)
		same = same && x->q.file[i].ino == q->file[i].ino &&
		       x->q.file[i].dev == q->file[i].dev;
	return same;
}

static struct ahead *find_ahead(const struct sandbox *s, sandbox_fn *fn, const struct question *q)
{
	for (u32 i = 0; i < s->nahead; i++)
		if (is_ahead(s->ahead[i], fn, q))
			return s->ahead[i];
	return NULL;
}

u32 sandbox_room(const struct host *h)
{
	return h->sandbox ? SANDBOX_AHEAD - h->sandbox->nahead : SANDBOX_AHEAD;
}

static void remove_ahead(struct sandbox *s, u32 i)
{
	s->nahead--;
	memmove(&s->ahead[i], &s->ahead[i + 1], (s->nahead - i) * sizeof(s->ahead[i]));
}

/* Answers come in the order of the questions: all up to that of last (NULL: all) are heard. False: one
 * did not come, and those behind it are gone. */
static bool hear_ahead(struct sandbox *s, const struct ahead *last)
{
	while (s->nunheard && !(last && last->heard)) {
		u32 i = s->nahead - s->nunheard;
		struct ahead *x = s->ahead[i];
		struct term until = {.s = s};
		enum way w = hear(s->to, &x->q, &x->a, &x->out, &until);
		s->nunheard--;
		x->heard = w == WAY_DONE;
		if (x->heard)
			continue;
		remove_ahead(s, i);
		err_free(failed(s, x->fn, &x->q, w));
		ahead_free(x);
		return false;
	}
	return true;
}

/* Of a child that died, what it had answered is heard first: that tells which file it was. */
static bool send_ahead(struct host *h, sandbox_fn *fn, const struct question *q)
{
	struct sandbox *s = h->sandbox;
	const char *why;
	for (u32 try = 0; try < 2 && !is_bad(s, fn, q) && sandbox_start(h, &why); try++) {
		struct term until = {.s = s};
		enum way w = send_question(s->to, fn, q, &until);
		if (w == WAY_DONE)
			return true;
		if (w != WAY_DEAD || hear_ahead(s, NULL))
			stop(s);
	}
	return false;
}

bool sandbox_ahead(struct host *h, sandbox_fn *fn, const struct question *q)
{
	struct sandbox *s = sandbox_of(h);
	size_t npath = strlen(q->path) + 1;
	if (find_ahead(s, fn, q))
		return true;
	if (!sandbox_room(h) || q->more || npath + q->args.n > TOGETHER || !send_ahead(h, fn, q))
		return false;
	struct ahead *x = xcalloc(1, sizeof(*x));
	x->fn = fn;
	x->q = *q;
	sb_mem(&x->words, q->path, npath);
	sb_add(&x->words, q->args);
	x->q.path = x->words.s;
	x->q.args.s = x->words.s + npath;
	s->ahead[s->nahead++] = x;
	s->nunheard++;
	return true;
}

static void swap_out(struct ahead *x, struct sb *out)
{
	struct sb was = x->out;
	x->out = *out;
	*out = was;
}

static struct err *take_ahead(struct sandbox *s, struct ahead *x, struct sb *out)
{
	struct err *e = answered(&x->a, &x->out);
	u32 i = 0;
	while (s->ahead[i] != x)
		i++;
	remove_ahead(s, i);
	swap_out(x, out);
	ahead_free(x);
	return e;
}

void sandbox_forget(struct host *h)
{
	struct sandbox *s = sandbox_of(h);
	while (s->nahead && !hear_ahead(s, NULL))
		;
	while (s->nahead)
		ahead_free(s->ahead[--s->nahead]);
}

struct err *sandbox_ask(struct host *h, sandbox_fn *fn, const struct question *q, struct sb *out)
{
	struct sandbox *s = sandbox_of(h);
	struct answer_head a;
	const char *why;
	struct ahead *x = find_ahead(s, fn, q);
	if (x && !x->heard)
		swap_out(x, out); /* there is room */
	bool heard = hear_ahead(s, x);
	if (x && heard)
		return take_ahead(s, x, out);
	if (is_bad(s, fn, q))
		return err_new("%s: is not read again", q->path);
	for (u32 try = 0; try < 2; try++) {
		if (!sandbox_start(h, &why))
			return ask_here(s, fn, q, out);
		struct term until = {.s = s};
		enum way w = send_question(s->to, fn, q, &until);
		if (w == WAY_DEAD && !try) { /* it had died before: that was not this file */
			stop(s);
			continue;
		}
		if (w == WAY_DONE)
			w = hear(s->to, q, &a, out, &until);
		return w == WAY_DONE ? answered(&a, out) : failed(s, fn, q, w);
	}
	return err_new("%s: nobody is there to read it", q->path);
}
