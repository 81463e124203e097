/*
 * ask.c - see the header.
 *
 *	asker				shell, then sonde on the host
 *	far.sh
 *					TOKEN have, or TOKEN need x86_64
 *	SIZE SHA256			(after "need")
 *					TOKEN send, or TOKEN have (it was kept)
 *	the program			(after "send")
 *					TOKEN have
 *					TOKEN ready
 *	clock
 *					TOKEN clock NANOSECONDS
 *	NBYTES START			(when all are ready or have failed)
 *	the question
 *					the answer, until the end
 */
#include "fleet/ask.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/signals.h"
#include "base/spawn.h"
#include "fleet/said.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>

enum {
	MAX_HELLO = 16 << 10, /* bytes that a host prints before it is ready */
	MAX_SIGNS = 8,        /* lines of the conversation from a host */
	STEP_MS = 50,         /* between two looks at what has ended */
	LEAVE_MS = 300,       /* for commands whose streams are closed */
	END_MS = 3000,        /* and for those that were told to end */
	TOKEN = sizeof("sonde-") - 1 + 16,
};

enum stage {
	WAITS,  /* for its turn */
	CALLED, /* the command runs; no shell has answered */
	FOUND,  /* a shell has; sonde has not */
	READY,  /* sonde waits for the question */
	ASKED,  /* what comes is the answer */
	OVER,
};
struct call {
	struct fleet_host *host;
	enum stage stage;
	int pid, fd[3]; /* 0: it was reaped; -1: closed */
	const struct fleet_program *program;
	struct sb note; /* to be written before .rest */
	struct str rest;
	size_t written;  /* of both */
	struct sb hello; /* what it printed before it was ready */
	struct said said;
	bool clock; /* it was asked for its time */
	u32 signs;
	u64 moved_ns; /* when there was progress */
};
struct asking {
	const struct fleet_question *q;
	struct call *call;
	u32 n, next; /* next: to be called */
	struct pollfd *poll;
	char token[TOKEN + 1];
	u64 begun_ns, asked_ns, end_ns; /* 0: not yet */
	u64 bytes;
	bool stopped;
	struct err *failed; /* nobody is asked */
	struct fleet_times *times;
};

/* ---- the end of a call ---- */

static void close_end(struct call *c, int i)
{
	close_fd(&c->fd[i]);
	c->fd[i] = -1;
}

static void end_call(struct call *c, enum fleet_end end, const char *why)
{
	if (c->stage == OVER)
		return;
	c->host->end = end;
	if (end != FLEET_ANSWERED)
		sb_z(&c->host->why, why);
	c->stage = OVER;
	for (int i = 0; i < 3; i++)
		close_end(c, i);
}

/* The command has ended by itself. */
static void take_status(struct call *c, int status)
{
	AUTO_SB why = {0};
	sb_add(&why, sb_str(&c->said.reason));
	if (!why.n && WIFSIGNALED(status))
		sb_fmt(&why, "the command was ended by signal %d", WTERMSIG(status));
	else if (!why.n)
		sb_fmt(&why, "the command ended with status %d", WEXITSTATUS(status));
	if (c->stage == CALLED)
		end_call(c, FLEET_UNREACHABLE, why.s);
	else if (c->stage == FOUND || !c->host->bytes)
		end_call(c, FLEET_REFUSED, why.s);
	else
		end_call(c, FLEET_ANSWERED, "");
}

/* ---- messages ---- */

static void take_messages(struct call *c)
{
	char buf[4096];
	ssize_t n = read(c->fd[2], buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		said_take(&c->said, str_n(buf, (size_t)n), &c->host->said);
		return;
	}
	said_end(&c->said, &c->host->said);
	close_end(c, 2);
}

/* ---- the conversation ---- */

static void send_next(struct call *c)
{
	size_t all = c->note.n + c->rest.n;
	while (c->fd[0] >= 0 && c->written < all) {
		bool note = c->written < c->note.n;
		const char *p =
			note ? c->note.s + c->written : c->rest.s + (c->written - c->note.n);
		size_t n = note ? c->note.n - c->written : all - c->written;
		ssize_t did = write(c->fd[0], p, n);
		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0 && errno == EAGAIN)
			return;
		if (did < 0) {
			close_end(c, 0); /* its status will say why */
			return;
		}
		c->written += (size_t)did;
		c->moved_ns = now_ns();
	}
}

static void send_text(struct call *c, const char *note, struct str rest)
{
	sb_clear(&c->note);
	sb_z(&c->note, note);
	c->rest = rest;
	c->written = 0;
	send_next(c);
}

/* 'text', as shells read it. */
static void put_quoted(struct sb *b, const char *name, struct str text)
{
	sb_fmt(b, "%s='", name);
	for (u32 i = 0; i < text.n; i++)
		text.s[i] == '\'' ? sb_z(b, "'\\''") : sb_char(b, text.s[i]);
	sb_z(b, "'\n");
}

static struct err *call_host(struct asking *a, struct call *c)
{
	const struct fleet_question *q = a->q;
	struct arena mem = {0};
	struct spawn_words word = {0};
	spawn_split(&mem, q->via, &word); /* was checked */
	for (u32 i = 0; i < word.n; i++) {
		AUTO_SB b = {0};
		struct str rest = str_z(word.v[i]);
		for (i32 at; (at = str_find(rest, STR("{}"))) >= 0;
		     rest = str_from(rest, (u32)at + 2)) {
			sb_mem(&b, rest.s, (size_t)at);
			sb_add(&b, c->host->name);
		}
		sb_add(&b, rest);
		word.v[i] = arena_strz(&mem, sb_str(&b));
	}
	vec_add(&word, NULL);
	c->stage = CALLED;
	c->moved_ns = now_ns();
	struct err *e = spawn_talk(word.v, &c->pid, c->fd);
	vec_free(&word);
	arena_free(&mem);
	if (e)
		return e;
	AUTO_SB head = {0};
	put_quoted(&head, "t", str_z(a->token));
	put_quoted(&head, "v", q->version);
	put_quoted(&head, "s", q->sudo);
	put_quoted(&head, "c", q->keep ? STR("1") : STR(""));
	send_text(c, head.s, q->shell);
	return NULL;
}

static void send_size(struct asking *a, struct call *c, struct str arch)
{
	char note[128];
	AUTO_SB seen = {0};
	sb_visible(&seen, arch);
	struct err *e = a->q->program(a->q->arg, sb_str(&seen), &c->program);
	if (e) {
		end_call(c, FLEET_REFUSED, e->msg);
		err_free(e);
		return;
	}
	snprintf(note, sizeof(note), "%u %s\n", c->program->bytes.n, c->program->sum);
	send_text(c, note, STR(""));
}

/* Its time was read between now and when it was asked for. */
static void become_ready(struct call *c, u64 real_ns)
{
	const u64 most = 1ull << 62;
	u64 took = now_ns() - c->moved_ns, here = clock_ns(CLOCK_REALTIME) - took / 2;
	c->host->ahead_ns = (i64)(MIN(real_ns, most) - here);
	c->host->unsure_ns = took / 2;
	c->stage = READY;
	said_forget(&c->said);
}

/* A line that begins with our token. */
static void take_sign(struct asking *a, struct call *c, struct str line)
{
	struct str word;
	u64 n;
	str_cut(&line, ' ', &word);
	if (str_is(word, "clock") && c->clock && str_u64(line, &n)) {
		become_ready(c, n);
		return;
	}
	c->moved_ns = now_ns();
	c->signs++;
	if (str_is(word, "fail")) {
		AUTO_SB why = {0};
		sb_visible(&why, line);
		end_call(c, FLEET_REFUSED, why.s ? why.s : "");
		return;
	}
	bool first = c->stage == CALLED;
	if (first)
		c->stage = FOUND;
	if (str_is(word, "need") && first)
		send_size(a, c, line);
	else if (str_is(word, "send") && c->program && c->rest.n == 0)
		send_text(c, "", c->program->bytes);
	else if (str_is(word, "ready") && !c->clock && (c->clock = true))
		send_text(c, "clock\n", STR(""));
	else if (!str_is(word, "have") || c->signs > MAX_SIGNS)
		end_call(c, FLEET_REFUSED, "unexpected answer before it was asked");
}

static void take_hello(struct asking *a, struct call *c, const char *p, size_t n)
{
	struct str token = str_n(a->token, TOKEN);
	i32 at, end;
	sb_mem(&c->hello, p, n);
	while (c->stage < READY && (at = str_find(sb_str(&c->hello), token)) >= 0) {
		struct str line = str_from(sb_str(&c->hello), (u32)at + TOKEN);
		if ((end = str_chr(line, '\n')) < 0)
			break;
		take_sign(a, c, str_trim(str_n(line.s, (u32)end)));
		size_t gone = (size_t)at + TOKEN + (u32)end + 1;
		memmove(c->hello.s, c->hello.s + gone, c->hello.n - gone);
		c->hello.n -= gone;
	}
	if (c->stage < READY && c->hello.n > MAX_HELLO)
		end_call(c, c->stage == CALLED ? FLEET_UNREACHABLE : FLEET_REFUSED,
			 "it printed more than 16 KiB before it was ready");
	else if (c->stage == READY && c->hello.n)
		end_call(c, FLEET_REFUSED, "it sent data before it was asked");
}

static void keep_answer(struct asking *a, struct call *c, const char *p, size_t n)
{
	c->moved_ns = now_ns();
	const char *wrong = fleet_keep(c->host, str_n(p, n), &a->bytes);
	if (wrong)
		end_call(c, FLEET_PARTIAL, wrong);
}

static void take_output(struct asking *a, struct call *c)
{
	char buf[65536];
	ssize_t n = read(c->fd[1], buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		close_end(c, 1);
	else if (c->stage == ASKED)
		keep_answer(a, c, buf, (size_t)n);
	else
		take_hello(a, c, buf, (size_t)n);
}

/* ---- all of them ---- */

static bool is_between(const struct call *c)
{
	return c->stage > WAITS && c->stage < READY;
}

static void call_more(struct asking *a)
{
	u32 now = 0;
	for (u32 i = 0; i < a->next; i++)
		now += is_between(&a->call[i]);
	for (; a->next < a->n && now < a->q->parallel; now++) {
		struct call *c = &a->call[a->next++];
		struct err *e = call_host(a, c);
		if (e)
			end_call(c, FLEET_UNREACHABLE, e->msg);
		err_free(e);
	}
}

static struct err *too_late(const struct asking *a, u64 now)
{
	u64 late = now - a->q->at_ns;
	return err_new(
		"no host was asked, because all were ready only %llu.%llu s after the time of --at",
		late / SECOND_NS, late % SECOND_NS / (SECOND_NS / 10));
}

/* How far clocks of hosts are apart at least. */
static struct err *check_clocks(const struct asking *a)
{
	const struct fleet_host *first = NULL, *last = NULL; /* by their clocks */
	for (u32 i = 0; i < a->n; i++) {
		const struct fleet_host *h = a->call[i].host;
		i64 unsure = (i64)h->unsure_ns;
		if (a->call[i].stage != READY)
			continue;
		if (!first || h->ahead_ns + unsure < first->ahead_ns + (i64)first->unsure_ns)
			first = h;
		if (!last || h->ahead_ns - unsure > last->ahead_ns - (i64)last->unsure_ns)
			last = h;
	}
	return first ? fleet_apart(first->name, first->ahead_ns + (i64)first->unsure_ns, last->name,
				   last->ahead_ns - (i64)last->unsure_ns, a->q->apart_ns)
		     : NULL;
}

static void ask_host(struct asking *a, struct call *c, u64 at)
{
	char note[64];
	u64 start = at ? at + (u64)c->host->ahead_ns : 0;
	c->host->fd = memfd_create("sonde-answer", MFD_CLOEXEC);
	c->stage = ASKED;
	snprintf(note, sizeof(note), "%u %llu\n", a->q->ask.n, start);
	send_text(c, note, a->q->ask);
	if (c->host->fd < 0)
		end_call(c, FLEET_REFUSED, "there is no memory for its answer");
}

static void ask_all(struct asking *a)
{
	const struct fleet_question *q = a->q;
	u64 last = 0, now = clock_ns(CLOCK_REALTIME),
	    at = q->after_ns ? now + q->after_ns : q->at_ns;
	for (u32 i = 0; i < a->n; i++)
		if (a->call[i].stage < READY)
			return;
	a->failed = q->apart_ns ? check_clocks(a) : NULL;
	if (!a->failed && at && at < now)
		a->failed = too_late(a, now);
	if (a->failed)
		return;
	a->asked_ns = now_ns();
	for (u32 i = 0; i < a->n; i++) {
		if (a->call[i].stage != READY)
			continue;
		ask_host(a, &a->call[i], at);
		last = now_ns();
	}
	a->times->asked_ns = a->asked_ns - a->begun_ns;
	a->times->spread_ns = last ? last - a->asked_ns : 0;
	if (q->for_ns)
		a->end_ns = a->asked_ns + (at ? at - now : 0) + q->for_ns + q->wait_ns;
}

/* Ctrl-C: answers are still waited for. */
static void stop_all(struct asking *a)
{
	a->stopped = true;
	a->end_ns = now_ns() + a->q->wait_ns;
	for (u32 i = 0; i < a->n; i++) {
		struct call *c = &a->call[i];
		if (c->stage == ASKED)
			close_end(c, 0);
		else
			end_call(c, FLEET_LATE, "stopped before it was asked");
	}
	a->next = a->n;
}

/* now: before the latest look at what has come, so that nobody is late because this process was slow. */
static void end_late(struct asking *a, u64 now)
{
	u64 wait = a->q->wait_ns;
	AUTO_SB why = {0};
	sb_fmt(&why, "no progress for %llu.%llu s", wait / SECOND_NS,
	       wait % SECOND_NS / (SECOND_NS / 10));
	for (u32 i = 0; i < a->n; i++) {
		struct call *c = &a->call[i];
		bool quiet = now > c->moved_ns + SECOND_NS, over = now > a->end_ns;
		if (is_between(c) && now > c->moved_ns + wait)
			end_call(c, c->stage == CALLED ? FLEET_UNREACHABLE : FLEET_LATE, why.s);
		else if (c->stage == ASKED && a->end_ns && over &&
			 (quiet || now > a->end_ns + wait))
			end_call(c, FLEET_LATE, "it did not answer in time");
	}
}

/* The command has ended when its process has: others may hold its streams, as those that ssh keeps for later. */
static void reap(struct asking *a)
{
	int status;
	for (u32 i = 0; i < a->n; i++) {
		struct call *c = &a->call[i];
		if (!c->pid || waitpid(c->pid, &status, WNOHANG) != c->pid)
			continue;
		c->pid = 0;
		if (c->stage == OVER)
			continue;
		for (u64 had = ~0ull; c->fd[1] >= 0 && had != c->host->bytes + c->hello.n;) {
			had = c->host->bytes + c->hello.n;
			take_output(a, c);
		}
		if (c->fd[2] >= 0)
			take_messages(c);
		take_status(c, status);
	}
}

static u32 fill_poll(struct asking *a)
{
	u32 n = 0;
	a->poll[n++] =
		(struct pollfd){.fd = a->q->signals ? a->q->signals->fd : -1, .events = POLLIN};
	for (u32 i = 0; i < a->next; i++) {
		struct call *c = &a->call[i];
		bool writes = c->written < c->note.n + c->rest.n;
		a->poll[n++] = (struct pollfd){.fd = writes ? c->fd[0] : -1, .events = POLLOUT};
		a->poll[n++] = (struct pollfd){.fd = c->fd[1], .events = POLLIN};
		a->poll[n++] = (struct pollfd){.fd = c->fd[2], .events = POLLIN};
	}
	return n;
}

static void take_ready(struct asking *a, u32 n)
{
	for (u32 i = 1; i < n; i++) {
		struct call *c = &a->call[(i - 1) / 3];
		u32 stream = (i - 1) % 3;
		if (!a->poll[i].revents || c->fd[stream] != a->poll[i].fd)
			continue;
		if (stream == 0)
			send_next(c);
		else if (stream == 1)
			take_output(a, c);
		else
			take_messages(c);
	}
}

static bool all_over(const struct asking *a)
{
	for (u32 i = 0; i < a->n; i++)
		if (a->call[i].stage != OVER)
			return false;
	return true;
}

static void talk(struct asking *a)
{
	u64 looked = 0;
	while (!all_over(a)) {
		call_more(a);
		if (!a->asked_ns)
			ask_all(a);
		if (a->failed)
			break;
		u32 n = fill_poll(a);
		u64 now = now_ns();
		int got = poll(a->poll, n, STEP_MS);
		if (got > 0)
			take_ready(a, n);
		if (now - looked < STEP_MS * (u64)MILLI_NS)
			continue;
		looked = now;
		if (a->q->signals && signals_look(a->q->signals) && !a->stopped)
			stop_all(a);
		reap(a);
		end_late(a, now);
	}
	if (a->asked_ns)
		a->times->took_ns = now_ns() - a->asked_ns;
}

/* Commands whose streams are closed have a moment to end by themselves, and to remove what they have made. */
static void end_commands(struct asking *a)
{
	u64 now = now_ns(), asks = now + LEAVE_MS * (u64)MILLI_NS,
	    kills = asks + END_MS * (u64)MILLI_NS;
	for (u32 i = 0; i < a->n; i++) {
		struct call *c = &a->call[i];
		bool asked = false;
		while (c->pid && waitpid(c->pid, NULL, WNOHANG) == 0) {
			now = now_ns();
			if (now > kills)
				kill(-c->pid, SIGKILL);
			else if (now > asks && !asked)
				kill(-c->pid, SIGTERM);
			asked |= now > asks;
			poll(NULL, 0, 5);
		}
	}
}

static void free_call(struct call *c)
{
	sb_free(&c->note);
	sb_free(&c->hello);
	said_free(&c->said);
}

struct err *fleet_ask(const struct fleet_question *q, struct fleet_host *host, u32 n,
		      struct fleet_times *times)
{
	u64 random;
	struct asking a = {.q = q, .n = n, .begun_ns = now_ns(), .times = times};
	*times = (struct fleet_times){0};
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_sys(errno, "getrandom");
	snprintf(a.token, sizeof(a.token), "sonde-%016llx", random);
	a.call = xcalloc(n, sizeof(*a.call));
	a.poll = xcalloc(3 * (size_t)n + 1, sizeof(*a.poll));
	for (u32 i = 0; i < n; i++) {
		struct call *c = &a.call[i];
		*c = (struct call){.host = &host[i], .fd = {-1, -1, -1}};
		host[i].fd = -1;
	}
	talk(&a);
	for (u32 i = 0; i < n && a.failed; i++)
		end_call(&a.call[i], FLEET_REFUSED, "");
	end_commands(&a);
	for (u32 i = 0; i < n; i++)
		free_call(&a.call[i]);
	free(a.call);
	free(a.poll);
	return a.failed;
}

struct err *fleet_apart(struct str first, i64 first_ns, struct str last, i64 last_ns, u64 apart_ns)
{
	i64 apart = last_ns - first_ns;
	if (apart <= 0 || (u64)apart <= apart_ns)
		return NULL;
	return err_new("no host was asked, because the clock of %.*s is %.*f s ahead of that of "
		       "%.*s (--skew asks all the same)",
		       STRF(last), apart >= SECOND_NS ? 0 : 1, (double)apart / 1e9, STRF(first));
}

const char *fleet_keep(struct fleet_host *h, struct str bytes, u64 *all)
{
	h->bytes += bytes.n;
	*all += bytes.n;
	if (h->bytes > FLEET_MAX_ANSWER)
		return "its answer is too large (more than 64 MB)";
	if (*all > FLEET_MAX_ANSWERS)
		return "the answers are too large (more than 512 MB together)";
	while (bytes.n) {
		ssize_t did = write(h->fd, bytes.s, bytes.n);
		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0)
			return "there is no memory for its answer";
		bytes = str_from(bytes, (u32)did);
	}
	return NULL;
}

void fleet_free(struct fleet_host *host, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (host[i].fd >= 0)
			close(host[i].fd);
		sb_free(&host[i].why);
		sb_free(&host[i].said);
	}
}
