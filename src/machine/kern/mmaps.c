/*
 * mmaps.c - side-band records of perf events.
 *
 * A dummy software event per CPU (and thread, for one process), all of a CPU in one ring buffer.
 * No samples are taken: the kernel writes a record for each mapping, exec, fork and exit.
 */
#include "kern/mmaps.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "kern/sys.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

enum {
	MAX_TOTAL_PAGES = 4096, /* of all rings */
	MAX_RING_PAGES = 128,
	MIN_RING_PAGES = 16, /* asked for; taken when the kernel gives no more: */
	LEAST_RING_PAGES = 2,
	MAX_EVENTS = 512, /* more threads times CPUs: rather all processes */
};

struct cpu_ring {
	struct perf_event_mmap_page *page;
	u64 size; /* of the data behind it */
	u32 cpu;
	int fd;
};
struct order {
	u64 ns;
	size_t at; /* of the record in the buffer */
};
struct mmaps {
	VEC(int) fds;
	VEC(struct cpu_ring) rings;
	VEC(struct order) order;
	struct sb buf;
	u32 page_size, pages;
	bool all;
	u32 wake;
};

/* ---- records ---- */

enum { TIME_BYTES = 8 }; /* what sample_id_all puts behind every record: only the time */

bool mmaps_copy(const u8 *ring, u64 size, u64 tail, u64 head, struct sb *out)
{
	u64 n = head - tail, at = tail & (size - 1);
	if (n > size)
		return false;
	u64 first = MIN(n, size - at);
	sb_mem(out, ring + at, first);
	sb_mem(out, ring, n - first);
	return true;
}

bool mmaps_next(struct bytes *b, struct bytes *record)
{
	size_t at = b->at;
	if (at == b->n)
		return false;
	bytes_u32(b); /* type */
	bytes_u16(b); /* misc */
	u16 size = bytes_u16(b);
	bytes_seek(b, at);
	if (size < sizeof(struct perf_event_header))
		b->bad = true;
	const u8 *p = bytes_take(b, size);
	if (p)
		*record = bytes_of(p, size);
	return p != NULL;
}

static void parse_map(struct bytes *b, struct mmap_event *n)
{
	n->kind = MMAP_EVENT_MAP;
	bytes_u32(b); /* tid */
	n->start = bytes_u64(b);
	n->end = n->start + bytes_u64(b);
	n->off = bytes_u64(b);
	n->dev = (u64)bytes_u32(b) << 32;
	n->dev |= bytes_u32(b);
	n->ino = bytes_u64(b);
	n->generation = bytes_u64(b);
	bytes_u64(b); /* prot, flags */
	const char *path = bytes_z(b);
	n->path = str_z(path);
	if (n->end <= n->start)
		b->bad = true;
}

bool mmaps_parse(struct bytes b, struct mmap_event *ret)
{
	struct mmap_event n = {0};
	if (b.n < sizeof(struct perf_event_header) + TIME_BYTES)
		return false;
	bytes_seek(&b, b.n - TIME_BYTES);
	n.ns = bytes_u64(&b);
	bytes_seek(&b, 0);
	b.n -= TIME_BYTES;
	u32 type = bytes_u32(&b), misc = bytes_u16(&b), tid;
	bytes_u16(&b); /* size */
	if (type == PERF_RECORD_LOST) {
		n.kind = MMAP_EVENT_LOST;
		bytes_u64(&b); /* id */
		n.lost = bytes_u64(&b);
		*ret = n;
		return !b.bad;
	}
	n.pid = bytes_u32(&b);
	switch (type) {
	case PERF_RECORD_MMAP2:
		parse_map(&b, &n);
		b.bad |= (misc & PERF_RECORD_MISC_MMAP_DATA) != 0; /* not for execution */
		break;
	case PERF_RECORD_COMM:
		n.kind = MMAP_EVENT_EXEC;
		b.bad |= !(misc & PERF_RECORD_MISC_COMM_EXEC); /* else just a name */
		break;
	case PERF_RECORD_FORK:
		n.kind = MMAP_EVENT_FORK;
		n.parent = bytes_u32(&b);
		b.bad |= n.parent == n.pid; /* a thread */
		break;
	case PERF_RECORD_EXIT:
		n.kind = MMAP_EVENT_EXIT;
		bytes_u32(&b); /* parent */
		tid = bytes_u32(&b);
		b.bad |= tid != n.pid;
		break;
	default: return false;
	}
	*ret = n;
	return !b.bad;
}

/* ---- reading ---- */

/* What is there now goes to the buffer; the kernel may write on. False: the ring is
 * not as it should be. */
static bool take_ring(struct mmaps *m, struct cpu_ring *r)
{
	u64 head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	u64 tail = r->page->data_tail;
	if (head == tail)
		return true;
	bool ok = mmaps_copy((const u8 *)r->page + m->page_size, r->size, tail, head, &m->buf);
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
	return ok;
}

/* Where the records of buf[from..) are. */
static bool index_records(struct mmaps *m, size_t from)
{
	struct bytes b = bytes_of(m->buf.s, m->buf.n), record;
	b.at = from;
	while (mmaps_next(&b, &record)) {
		struct order o = {.at = b.at - record.n};
		if (record.n >= sizeof(struct perf_event_header) + TIME_BYTES)
			memcpy(&o.ns, record.p + record.n - TIME_BYTES, sizeof(o.ns));
		vec_add(&m->order, o);
	}
	return !b.bad;
}

static int by_time(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

void mmaps_drain(struct mmaps *m, mmap_event_cb *cb, void *arg)
{
	struct mmap_event n = {.kind = MMAP_EVENT_LOST};
	sb_clear(&m->buf);
	m->order.n = 0;
	for (u32 i = 0; i < m->rings.n; i++) {
		size_t from = m->buf.n;
		bool ok = take_ring(m, &m->rings.v[i]);
		if (m->buf.n > from)
			ok &= index_records(m, from);
		n.lost += !ok;
	}
	if (n.lost)
		cb(arg, &n);
	if (m->order.n)
		qsort(m->order.v, m->order.n, sizeof(*m->order.v), by_time);
	for (u32 i = 0; i < m->order.n; i++) {
		struct bytes b = bytes_of(m->buf.s, m->buf.n), record;
		b.at = m->order.v[i].at;
		if (mmaps_next(&b, &record) && mmaps_parse(record, &n))
			cb(arg, &n);
	}
}

bool mmaps_of_all(const struct mmaps *m)
{
	return m->all;
}

/* ---- opening ---- */

static long open_event(int pid, u32 cpu, u32 wake)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = pid > 0,
		.watermark = wake > 0,
		.wakeup_watermark = wake,
	};
	return sys_perf_event_open(&attr, pid > 0 ? pid : -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

bool mmaps_try(void)
{
	int fd AUTO_CLOSE = (int)open_event(getpid(), 0, 0);
	return fd >= 0;
}

/* As large a ring as the kernel allows. */
static struct err *map_ring(struct mmaps *m, int fd, u32 cpu)
{
	void *p;
	size_t size;
	do {
		size = (size_t)m->pages * m->page_size;
		p = mmap(NULL, size + m->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	} while (p == MAP_FAILED && errno != EINVAL && m->pages > LEAST_RING_PAGES &&
		 (m->pages /= 2));
	if (p == MAP_FAILED)
		return err_kern(errno, "map the buffer of a perf event");
	vec_add(&m->rings, (struct cpu_ring){p, size, cpu, fd});
	return NULL;
}

/* On one CPU; its first event brings the ring. */
static struct err *add_event(struct mmaps *m, int pid, u32 cpu)
{
	long fd = open_event(pid, cpu, m->wake);
	if (fd == -ENODEV || (fd == -ESRCH && m->rings.n)) /* CPU or thread has gone */
		return NULL;
	if (fd < 0)
		return err_kern((int)-fd, "open a perf event for mappings, pid %d, cpu %u",
				pid > 0 ? pid : -1, cpu);
	vec_add(&m->fds, (int)fd);
	for (u32 i = 0; i < m->rings.n; i++) {
		if (m->rings.v[i].cpu != cpu)
			continue;
		if (ioctl((int)fd, PERF_EVENT_IOC_SET_OUTPUT, m->rings.v[i].fd))
			return err_kern(errno, "join perf events for mappings");
		return NULL;
	}
	return map_ring(m, (int)fd, cpu);
}

typedef VEC(int) tids;

static void list_threads(struct host *h, int pid, tids *ret)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/proc/%d/task", h->root, pid);
	DIR *d = opendir(path);
	for (struct dirent *e; d && ret->n <= MAX_EVENTS && (e = readdir(d));) {
		u64 tid;
		if (str_u64(str_z(e->d_name), &tid) && tid <= INT32_MAX)
			vec_add(ret, (int)tid);
	}
	if (d)
		closedir(d);
}

static struct err *open_all(struct host *h, struct mmaps *m, int pid)
{
	u32 *cpu, n;
	tids threads = {0};
	struct err *e = host_online(h, &cpu, &n);
	if (e)
		return e;
	if (pid > 0)
		list_threads(h, pid, &threads);
	m->all = pid <= 0 || (u64)threads.n * n > MAX_EVENTS;
	if (m->all || !threads.n) {
		threads.n = 0;
		vec_add(&threads, m->all ? 0 : pid);
	}
	for (m->pages = MAX_RING_PAGES;
	     m->pages > MIN_RING_PAGES && m->pages * n > MAX_TOTAL_PAGES;)
		m->pages /= 2;
	for (u32 i = 0; !e && i < threads.n; i++)
		for (u32 k = 0; !e && k < n; k++)
			e = add_event(m, threads.v[i], cpu[k]);
	vec_free(&threads);
	return e;
}

int mmaps_fd(const struct mmaps *m, u32 i)
{
	return i < m->rings.n ? m->rings.v[i].fd : -1;
}

struct err *mmaps_open(struct host *h, int pid, u32 wake, struct mmaps **ret)
{
	struct mmaps *m = xcalloc(1, sizeof(*m));
	m->page_size = h->page_size;
	m->wake = wake;
	struct err *e = open_all(h, m, pid);
	if (!e && !m->rings.n)
		e = err_new("no CPU to watch for mappings");
	if (e)
		mmaps_free(m);
	else
		*ret = m;
	return e;
}

void mmaps_free(struct mmaps *m)
{
	if (!m)
		return;
	for (u32 i = 0; i < m->rings.n; i++)
		munmap(m->rings.v[i].page, m->rings.v[i].size + m->page_size);
	for (u32 i = 0; i < m->fds.n; i++)
		close(m->fds.v[i]);
	vec_free(&m->rings);
	vec_free(&m->fds);
	vec_free(&m->order);
	sb_free(&m->buf);
	free(m);
}
