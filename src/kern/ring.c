/* ring.c - records from the kernel: a BPF ring buffer, or perf buffers, one per CPU. */
#include "kern/bpf.h"
#include <bpf/libbpf.h>
#include <errno.h>

enum { MIN_PERF_PAGES = 8, MAX_PERF_PAGES = 1 << 14 };

struct ring {
	struct ring_buffer *rb;
	struct perf_buffer *pb;
	ring_cb *cb;
	ring_lost_cb *lost;
	void *arg;
	u64 n, max; /* of this ring_consume(); max 0: no limit */
};

/* A negative result stops libbpf after this record, which counts as taken. */
static int on_ring(void *ctx, void *data, size_t n)
{
	struct ring *r = ctx;
	r->cb(r->arg, data, n);
	return ++r->n == r->max ? -ECANCELED : 0;
}

static enum bpf_perf_event_ret on_perf(void *ctx, int cpu, struct perf_event_header *e)
{
	struct ring *r = ctx;
	(void)cpu;
	if (e->type == PERF_RECORD_SAMPLE && e->size >= sizeof(*e) + 4) {
		u32 n;
		const u8 *p = (const u8 *)(e + 1);
		memcpy(&n, p, sizeof(n));
		r->cb(r->arg, p + sizeof(n), MIN(n, (u32)(e->size - sizeof(*e) - sizeof(n))));
		return ++r->n == r->max ? LIBBPF_PERF_EVENT_DONE : LIBBPF_PERF_EVENT_CONT;
	}
	if (e->type == PERF_RECORD_LOST && e->size >= sizeof(*e) + 16 && r->lost) {
		u64 lost;
		memcpy(&lost, (const u8 *)(e + 1) + sizeof(u64), sizeof(lost));
		r->lost(r->arg, lost);
	}
	return LIBBPF_PERF_EVENT_CONT;
}

static struct perf_buffer *open_perf(const struct host *h, struct ring *r, int map_fd, u32 bytes)
{
	u32 want = bytes / h->page_size / h->ncpu, pages = MIN_PERF_PAGES;
	while (pages * 2 <= want && pages < MAX_PERF_PAGES)
		pages *= 2;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.wakeup_events = 1,
	};
	return perf_buffer__new_raw(map_fd, pages, &attr, on_perf, r, NULL);
}

struct err *ring_new(struct host *h, int map_fd, bool perf, u32 bytes, ring_cb *cb,
		     ring_lost_cb *lost, void *arg, struct ring **ret)
{
	struct ring *r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	*r = (struct ring){.cb = cb, .lost = lost, .arg = arg};
	errno = 0;
	if (perf)
		r->pb = open_perf(h, r, map_fd, bytes);
	else
		r->rb = ring_buffer__new(map_fd, on_ring, r, NULL);
	if (!r->pb && !r->rb) {
		struct err *e =
			err_kern(errno, "open the %s", perf ? "perf buffers" : "ring buffer");
		free(r);
		return e;
	}
	*ret = r;
	return NULL;
}

int ring_fd(const struct ring *r)
{
	return r->rb ? ring_buffer__epoll_fd(r->rb) : perf_buffer__epoll_fd(r->pb);
}

u64 ring_consume(struct ring *r, u64 max)
{
	r->n = 0;
	r->max = max;
	if (r->rb)
		(void)ring_buffer__consume(r->rb);
	else
		(void)perf_buffer__consume(r->pb);
	return r->n;
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	ring_buffer__free(r->rb);
	perf_buffer__free(r->pb);
	free(r);
}
