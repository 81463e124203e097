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

struct host_list {
	VEC(struct fleet_host) of;
};
struct reading {
	const struct bus_question *q; /* NULL: of a hub */
	struct arena *arena;
	struct host_list host, hub;
	int pid, fd[3];
	struct sb out, in, failed; /* the question; frames; standard error */
	size_t written;
	u64 bytes; /* of all answers */
	bool done;
	struct fleet_times times;
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
	pack_u8(&b, q->hubs);
	pack_u64(&b, q->at_ns);
	pack_u64(&b, q->after_ns);
	pack_u64(&b, q->apart_ns);
	pack_list(&b, q->host, q->nhost);
	pack_list(&b, q->label, q->nlabel);
	pack_str(&b, q->frame);
	sb_fmt(ret, "%zu\n", b.n);
	sb_add(ret, sb_str(&b));
}

/* ---- frames ---- */

void bus_put(struct sb *b, enum bus_kind kind, u32 host, struct str bytes)
{
	do {
		u32 n = MIN(bytes.n, (u32)BUS_MAX);
		pack_u32(b, n);
		pack_u8(b, (u8)kind);
		pack_u32(b, host);
		sb_mem(b, bytes.s, n);
		bytes = str_from(bytes, n);
	} while (bytes.n);
}

void bus_put_over(struct sb *b, u32 at, const struct fleet_host *h, struct str why)
{
	AUTO_SB over = {0};
	pack_u8(&over, (u8)h->end);
	pack_u64(&over, (u64)h->ahead_ns);
	pack_u64(&over, h->unsure_ns);
	pack_u32(&over, h->merged);
	pack_str(&over, why);
	bus_put(b, BUS_OVER, at, sb_str(&over));
}

enum bus_next bus_next(struct str *rest, struct bus_frame *ret)
{
	struct bytes b = bytes_of(rest->s, rest->n);
	u32 n = bytes_u32(&b);
	ret->kind = (enum bus_kind)bytes_u8(&b);
	ret->host = bytes_u32(&b);
	if (!b.bad && n > BUS_MAX)
		return BUS_BAD;
	if (b.bad || rest->n - BUS_HEAD < n)
		return BUS_MORE;
	ret->bytes = str_n(rest->s + BUS_HEAD, n);
	*rest = str_from(*rest, BUS_HEAD + n);
	return BUS_ONE;
}

/* False: it is not the next one, or there are too many. */
static bool add_host(struct reading *r, struct host_list *l, u32 at, struct str name)
{
	if (at != l->of.n || at >= BUS_HOSTS || !name.n || name.n > 255)
		return false;
	struct str copy = arena_str(r->arena, name);
	vec_add(&l->of, (struct fleet_host){.name = copy, .fd = -1, .end = FLEET_LATE});
	return true;
}

/* What the host printed, escaped, and the reason that is in it. */
static void show_said(struct fleet_host *h, struct said *said)
{
	AUTO_SB raw = {0};
	sb_add(&raw, sb_str(&h->said));
	sb_clear(&h->said);
	said_take(said, sb_str(&raw), &h->said);
	said_end(said, &h->said);
}

static bool end_host(struct reading *r, struct fleet_host *h, struct bytes *b)
{
	struct said said = {0};
	u8 end = bytes_u8(b);
	h->ahead_ns = (i64)bytes_u64(b);
	h->unsure_ns = bytes_u64(b);
	h->merged = bytes_u32(b);
	struct str why = unpack_str(b);
	if (b->bad || h->merged > r->hub.of.n)
		return false;
	if (h->end == FLEET_LATE) /* else it was given up here */
		h->end = end < FLEET_ENDS ? (enum fleet_end)end : FLEET_REFUSED;
	if (!r->q) {
		sb_add(&h->why, why);
		return true;
	}
	show_said(h, &said);
	if (!h->why.n && h->end != FLEET_ANSWERED)
		sb_visible(&h->why, why.n           ? why
				    : said.reason.n ? sb_str(&said.reason)
						    : STR("sonde has answered nothing"));
	said_free(&said);
	return true;
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
static bool take_frame(struct reading *r, const struct bus_frame *f)
{
	struct bytes b = bytes_of(f->bytes.s, f->bytes.n);
	struct host_list *l = f->kind == BUS_HUB || f->kind == BUS_MERGED ? &r->hub : &r->host;
	struct fleet_host *h = f->host < l->of.n ? &l->of.v[f->host] : NULL;
	if (!h && f->kind != BUS_HOST && f->kind != BUS_HUB && f->kind != BUS_TIMES)
		return false;
	switch (f->kind) {
	case BUS_HOST:
	case BUS_HUB: return add_host(r, l, f->host, f->bytes);
	case BUS_SAID: sb_add(&h->said, f->bytes); return h->said.n <= BUS_MAX;
	case BUS_MERGED:
	case BUS_DATA: keep(r, h, f->bytes); return true;
	case BUS_OVER: return end_host(r, h, &b);
	case BUS_TIMES:
		r->times = (struct fleet_times){bytes_u64(&b), bytes_u64(&b), bytes_u64(&b)};
		r->done = true;
		return !b.bad;
	}
	return false;
}

static bool take_frames(struct reading *r)
{
	struct str rest = sb_str(&r->in);
	struct bus_frame f;
	enum bus_next next;
	while ((next = bus_next(&rest, &f)) == BUS_ONE)
		if (!take_frame(r, &f))
			return false;
	memmove(r->in.s, rest.s, rest.n);
	r->in.n = rest.n;
	return next == BUS_MORE;
}

static void give(struct reading *r, struct bus_answer *ret)
{
	ret->host = r->host.of.v;
	ret->n = r->host.of.n;
	ret->hub = r->hub.of.v;
	ret->nhub = r->hub.of.n;
	ret->times = r->times;
}

struct err *fleet_take_bus(int fd, struct arena *a, struct bus_answer *ret)
{
	struct reading r = {.arena = a};
	struct err *e = NULL;
	for (bool more = true; more && !e;) {
		char buf[65536];
		ssize_t n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		sb_mem(&r.in, buf, (size_t)MAX(n, 0));
		more = n > 0;
		if (!take_frames(&r))
			e = err_new("the answers of hosts do not come as sonde-agent writes them");
	}
	sb_free(&r.in);
	give(&r, ret);
	return e;
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

struct err *fleet_ask_bus(const struct bus_question *q, struct bus_answer *ret)
{
	static char *const argv[] = {(char *)FLEET_AGENT, (char *)"ask", NULL};
	struct reading r = {.q = q, .arena = q->arena};
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
	if (!q->nhost && r.host.of.n)
		qsort(r.host.of.v, r.host.of.n, sizeof(*r.host.of.v), by_name);
	give(&r, ret);
	return e;
}
