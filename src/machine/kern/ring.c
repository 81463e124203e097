/* ring.c - records from the kernel: rings of our own, a BPF ring buffer, or perf buffers. */
#include "base/alloc.h"
#include "kern/perfbuf.h"
#include "kern/rings.h"
#include <errno.h>
#include <sys/mman.h>

enum {
	MIN_PERF_PAGES = 8,
	MAX_PERF_PAGES = 1 << 14,
	PART = 1
	       << 19, /* bytes of a rarely used ring that are mapped at a time; at most twice that */
	GIVE_BACK = 16, /* room is given back to the programs when this part of the ring was read */
};

/*
 * The BPF ring buffer as the kernel lays it out: a page with our position, a page with that of the
 * programs, the data; positions only grow. Each record has a header of 8 bytes, which begins with
 * its length and two flags. (libbpf would map the data twice and store the position after every
 * record, which takes the cache line away from the programs each time.)
 */
#define NOTHING (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

struct ring {
	int fd;
	u64 *taken;      /* mapped: ours */
	const u64 *made; /* mapped: theirs */
	const u8 *data;
	u64 size, page;
	u64 from, to;        /* what is mapped of the data; of a ring that is not rare all of it */
	struct sb joined;    /* a record that goes on at the start of the data */
	struct perf_buf *pb; /* or this */
	struct rings *own;   /* or this; what comes in the ring only wakes us */
	ring_cb *cb;
	void *arg;
	u64 n, max; /* of this ring_consume(); max 0: no limit */
};

static struct err *open_perf(struct host *h, struct ring *r, u32 bytes)
{
	u32 want = bytes / h->page_size / h->ncpu, pages = MIN_PERF_PAGES;
	while (pages * 2 <= want && pages < MAX_PERF_PAGES)
		pages *= 2;
	return perf_buf_new(h, r->fd, pages, &r->pb);
}

static bool map_ring(struct ring *r, bool rare)
{
	void *own = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (own == MAP_FAILED)
		return false;
	r->taken = own;
	u64 now = r->page + (rare ? 0 : r->size);
	u8 *rest = mmap(NULL, r->page + r->size, PROT_NONE, NOTHING, -1, 0);
	if (rest == MAP_FAILED)
		return false;
	r->made = (const void *)rest;
	r->data = rest + r->page;
	r->to = now - r->page;
	return mmap(rest, now, PROT_READ, MAP_SHARED | MAP_FIXED, r->fd, (off_t)r->page) !=
	       MAP_FAILED;
}

/* The data from one position in the ring up to another, which lies not before it. */
static bool reach(struct ring *r, u64 from, u64 to)
{
	if (from >= r->from && to <= r->to)
		return true;
	u8 *data = (u8 *)(uintptr_t)r->data;
	off_t before = (off_t)(2 * r->page);
	if (r->to > r->from && mmap(data + r->from, r->to - r->from, PROT_NONE, NOTHING | MAP_FIXED,
				    -1, 0) == MAP_FAILED)
		return false;
	r->from = r->to = 0;
	from -= from % r->page;
	to = MIN(MAX(ALIGN_UP(to, r->page), from + PART), r->size);
	if (mmap(data + from, to - from, PROT_READ, MAP_SHARED | MAP_FIXED, r->fd,
		 before + (off_t)from) == MAP_FAILED)
		return false;
	r->from = from;
	r->to = to;
	return true;
}

/* One record of n bytes from a position on. */
static bool give(struct ring *r, u64 at, u32 n)
{
	u64 left = r->size - at;
	const u8 *p = r->data + at;
	if (!reach(r, at, at + MIN((u64)n, left)))
		return false;
	if (n > left) {
		sb_clear(&r->joined);
		sb_mem(&r->joined, p, left);
		if (!reach(r, 0, n - left))
			return false;
		sb_mem(&r->joined, r->data, n - left);
		p = (const u8 *)r->joined.s;
	}
	r->cb(r->arg, p, n);
	r->n++;
	return true;
}

static void read_ring(struct ring *r)
{
	u64 at = *r->taken, stored = at, made = at;
	while (!r->max || r->n < r->max) {
		if (at == made)
			made = __atomic_load_n(r->made, __ATOMIC_ACQUIRE);
		if (at == made)
			break;
		u64 in = at & (r->size - 1);
		if (!reach(r, in, in + BPF_RINGBUF_HDR_SZ))
			break;
		const u32 *head = (const void *)(r->data + in);
		u32 len = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		u32 n = len & ~BPF_RINGBUF_DISCARD_BIT;
		if (n == len && !give(r, (at + BPF_RINGBUF_HDR_SZ) & (r->size - 1), n))
			break;
		at += ALIGN_UP((u64)n + BPF_RINGBUF_HDR_SZ, 8);
		if (at - stored >= r->size / GIVE_BACK)
			__atomic_store_n(r->taken, stored = at, __ATOMIC_RELEASE);
	}
	if (at != stored)
		__atomic_store_n(r->taken, at, __ATOMIC_RELEASE);
}

struct err *ring_new(struct host *h, const struct ring_spec *s, struct ring **ret)
{
	struct ring *r = xcalloc(1, sizeof(*r));
	*r = (struct ring){.cb = s->cb, .arg = s->arg, .fd = s->fd, .size = s->bytes};
	r->page = (u64)sysconf(_SC_PAGESIZE);
	struct err *e = s->perf                 ? open_perf(h, r, s->bytes)
			: !map_ring(r, s->rare) ? err_kern(errno, "open the ring buffer")
						: NULL;
	if (e) {
		ring_free(r);
		return e;
	}
	if (s->own)
		r->own = rings_new(s->own);
	*ret = r;
	return NULL;
}

int ring_fd(const struct ring *r)
{
	return r->pb ? perf_buf_fd(r->pb) : r->fd;
}

u64 ring_consume(struct ring *r, u64 max)
{
	r->n = 0;
	r->max = max;
	if (r->own) {
		__atomic_store_n(r->taken, __atomic_load_n(r->made, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
		return rings_consume(r->own, max, r->cb, r->arg);
	}
	if (r->pb)
		return perf_buf_consume(r->pb, max, r->cb, r->arg);
	read_ring(r);
	return r->n;
}

bool ring_wait(const struct ring *r)
{
	return r->own && rings_wait(r->own);
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	rings_free(r->own);
	if (r->made)
		munmap((void *)(uintptr_t)r->made, r->page + r->size);
	if (r->taken)
		munmap(r->taken, r->page);
	sb_free(&r->joined);
	perf_buf_free(r->pb);
	free(r);
}
