/* bus.c - see the header. */
#include "fleet/bus.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "base/signals.h"
#include "base/spawn.h"
#include "base/vec.h"
#include "fleet/said.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { STEP_MS = 100, MAX_FAILED = 4096 };

struct reading {
	const struct bus_question *q;
	VEC(struct fleet_host) host;
	int pid, fd[3];
	struct sb out, in, failed; /* the question; frames; standard error */
	size_t written;
	u64 bytes; /* of all answers */
	bool done;
	struct fleet_times *times;
};

static void pack_list(struct sb *b, const struct str *v, u32 n)
{
	pack_u32(b, n);
	for (u32 i = 0; i < n; i++)
		pack_str(b, v[i]);
}

static void put_question(const struct bus_question *q, struct sb *ret)
{
	AUTO_SB b = {0};
	pack_str(&b, q->url);
	pack_str(&b, q->key);
	pack_u64(&b, q->for_ns);
	pack_u64(&b, q->wait_ns);
	pack_u32(&b, q->expect);
	pack_list(&b, q->host, q->nhost);
	pack_list(&b, q->label, q->nlabel);
	pack_str(&b, q->frame);
	sb_fmt(ret, "%zu\n", b.n);
	sb_add(ret, sb_str(&b));
}

/* ---- frames ---- */

static bool add_host(struct reading *r, u32 at, struct str name)
{
	if (at != r->host.n || at >= BUS_HOSTS || !name.n || name.n > 255)
		return false;
	struct str copy = arena_str(r->q->arena, name);
	vec_add(&r->host, (struct fleet_host){.name = copy, .fd = -1, .end = FLEET_LATE});
	return true;
}

static void end_host(struct fleet_host *h, struct bytes *b)
{
	struct said said = {0};
	AUTO_SB raw = {0};
	u8 end = bytes_u8(b);
	h->ahead_ns = (i64)bytes_u64(b);
	h->unsure_ns = bytes_u64(b);
	struct str why = unpack_str(b);
	sb_add(&raw, sb_str(&h->said));
	sb_clear(&h->said);
	said_take(&said, sb_str(&raw), &h->said);
	said_end(&said, &h->said);
	if (h->end == FLEET_LATE) /* else it was given up here */
		h->end = end < FLEET_ENDS ? (enum fleet_end)end : FLEET_REFUSED;
	if (!h->why.n && h->end != FLEET_ANSWERED)
		sb_visible(&h->why, why.n           ? why
				    : said.reason.n ? sb_str(&said.reason)
						    : STR("sonde has answered nothing"));
	said_free(&said);
}

static void keep(struct reading *r, struct fleet_host *h, struct str bytes)
{
	if (h->fd < 0 && !h->bytes)
		h->fd = memfd_create("sonde-answer", MFD_CLOEXEC);
	const char *wrong = h->why.n ? NULL : fleet_keep(h, bytes, &r->bytes);
	if (!wrong)
		return;
	h->end = FLEET_PARTIAL;
	sb_z(&h->why, wrong);
}

/* False: this is no frame of ours. */
static bool take_frame(struct reading *r, enum bus_kind kind, u32 at, struct str bytes)
{
	struct bytes b = bytes_of(bytes.s, bytes.n);
	struct fleet_host *h = at < r->host.n ? &r->host.v[at] : NULL;
	if (!h && kind != BUS_HOST && kind != BUS_TIMES)
		return false;
	switch (kind) {
	case BUS_HOST: return add_host(r, at, bytes);
	case BUS_SAID: sb_add(&h->said, bytes); return h->said.n <= BUS_MAX;
	case BUS_DATA: keep(r, h, bytes); return true;
	case BUS_OVER: end_host(h, &b); return !b.bad;
	case BUS_TIMES:
		*r->times = (struct fleet_times){bytes_u64(&b), bytes_u64(&b), bytes_u64(&b)};
		r->done = true;
		return !b.bad;
	}
	return false;
}

static bool take_frames(struct reading *r)
{
	size_t at = 0;
	while (r->in.n - at >= BUS_HEAD) {
		struct bytes b = bytes_of(r->in.s + at, r->in.n - at);
		u32 n = bytes_u32(&b);
		u8 kind = bytes_u8(&b);
		u32 host = bytes_u32(&b);
		if (n > BUS_MAX)
			return false;
		if (r->in.n - at - BUS_HEAD < n)
			break;
		if (!take_frame(r, (enum bus_kind)kind, host, str_n(r->in.s + at + BUS_HEAD, n)))
			return false;
		at += BUS_HEAD + n;
	}
	memmove(r->in.s, r->in.s + at, r->in.n - at);
	r->in.n -= at;
	return true;
}

/* ---- the program ---- */

static void close_end(struct reading *r, int i)
{
	close_fd(&r->fd[i]);
	r->fd[i] = -1;
}

static void write_more(struct reading *r)
{
	ssize_t n = write(r->fd[0], r->out.s + r->written, r->out.n - r->written);
	if (n > 0)
		r->written += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		close_end(r, 0); /* standard error says why */
}

static struct err *read_more(struct reading *r, int i)
{
	char buf[65536];
	ssize_t n = read(r->fd[i], buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (n <= 0) {
		close_end(r, i);
		return NULL;
	}
	if (i == 2) {
		sb_mem(&r->failed, buf, MIN((size_t)n, MAX_FAILED - r->failed.n));
		return NULL;
	}
	sb_mem(&r->in, buf, (size_t)n);
	return take_frames(r) ? NULL : err_new("sonde-agent is not of this version of sonde");
}

static struct err *talk(struct reading *r)
{
	bool stopped = false;
	struct err *e = NULL;
	while (!e && (r->fd[1] >= 0 || r->fd[2] >= 0)) {
		bool writes = r->written < r->out.n;
		struct pollfd p[] = {
			{.fd = writes ? r->fd[0] : -1, .events = POLLOUT},
			{.fd = r->fd[1], .events = POLLIN},
			{.fd = r->fd[2], .events = POLLIN},
			{.fd = r->q->signals->fd, .events = POLLIN},
		};
		poll(p, countof(p), STEP_MS);
		if (p[0].revents)
			write_more(r);
		for (int i = 1; i < 3 && !e; i++)
			if (p[i].revents)
				e = read_more(r, i);
		if (!stopped && signals_look(r->q->signals)) {
			stopped = true;
			close_end(r, 0);
		}
	}
	return e;
}

/* What it printed, or how it ended. */
static struct err *failed(struct reading *r, int status)
{
	AUTO_SB b = {0};
	struct str text = str_trim(sb_str(&r->failed));
	bool starts = str_starts(text, STR("ERROR: "));
	sb_visible(&b, str_from(text, starts ? sizeof("ERROR: ") - 1 : 0));
	return b.n ? err_new("%s", b.s) : err_new("sonde-agent has ended with status %d", status);
}

static int by_name(const void *a, const void *b)
{
	const struct fleet_host *x = a, *y = b;
	return str_cmp(x->name, y->name);
}

struct err *fleet_ask_bus(const struct bus_question *q, struct fleet_host **host, u32 *n,
			  struct fleet_times *times)
{
	static char *const argv[] = {(char *)FLEET_AGENT, (char *)"ask", NULL};
	struct reading r = {.q = q, .times = times};
	int status = 0;
	put_question(q, &r.out);
	struct err *e = spawn_talk(argv, &r.pid, r.fd);
	if (e && e->no == ENOENT) {
		err_free(e);
		e = err_new("%s", FLEET_NO_AGENT);
	} else if (!e) {
		e = talk(&r);
		if (e)
			kill(r.pid, SIGTERM);
		for (int i = 0; i < 3; i++)
			close_end(&r, i);
		waitpid(r.pid, &status, 0);
		if (!e && !r.done)
			e = failed(&r, WIFEXITED(status) ? WEXITSTATUS(status)
							 : 128 + WTERMSIG(status));
	}
	sb_free(&r.out);
	sb_free(&r.in);
	sb_free(&r.failed);
	if (!q->nhost && r.host.n)
		qsort(r.host.v, r.host.n, sizeof(*r.host.v), by_name);
	*host = r.host.v;
	*n = r.host.n;
	return e;
}
