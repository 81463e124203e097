/* perfbuf.c - reads perf buffers, which kernels before 5.8 have in place of the BPF ring buffer. */
#include "kern/perfbuf.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "kern/mmaps.h"
#include "kern/sys.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { GIVE_BACK = 16 }; /* room is given back when this part of a buffer was read */

struct cpu_buf {
	struct perf_event_mmap_page *page;
	int fd;
};
struct perf_buf {
	VEC(struct cpu_buf) cpus;
	u64 page, size; /* size: of the data behind the first page */
	int epoll;
	struct sb joined; /* a record that goes on at the start of the data */
};

/* An event that programs write to; every record wakes us. */
static long open_event(u32 cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.wakeup_events = 1,
	};
	return sys_perf_event_open(&attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct err *add_cpu(struct perf_buf *p, int map_fd, u32 cpu)
{
	long fd = open_event(cpu);
	if (fd == -ENODEV) /* the CPU has gone */
		return NULL;
	if (fd < 0)
		return err_kern((int)-fd, "open the perf buffer of CPU %u", cpu);
	struct cpu_buf b = {.fd = (int)fd};
	void *mem = mmap(NULL, p->page + p->size, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, 0);
	b.page = mem == MAP_FAILED ? NULL : mem;
	vec_add(&p->cpus, b);
	struct epoll_event ev = {.events = EPOLLIN};
	if (!b.page || epoll_ctl(p->epoll, EPOLL_CTL_ADD, b.fd, &ev) ||
	    ioctl(b.fd, PERF_EVENT_IOC_ENABLE, 0))
		return err_kern(errno, "open the perf buffer of CPU %u", cpu);
	return bpf_map_put(map_fd, &cpu, &b.fd);
}

struct err *perf_buf_new(struct host *h, int map_fd, u32 pages, struct perf_buf **ret)
{
	u32 *cpu, n;
	struct err *e = host_online(h, &cpu, &n);
	if (e)
		return e;
	struct perf_buf *p = xcalloc(1, sizeof(*p));
	p->page = (u64)sysconf(_SC_PAGESIZE);
	p->size = p->page * pages;
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (p->epoll < 0)
		e = err_kern(errno, "open the perf buffers");
	for (u32 i = 0; !e && i < n; i++)
		e = add_cpu(p, map_fd, cpu[i]);
	if (e)
		perf_buf_free(p);
	else
		*ret = p;
	return e;
}

int perf_buf_fd(const struct perf_buf *p)
{
	return p->epoll;
}

/* A record of n bytes at a position, its header among them. PERF_RECORD_LOST says again what the
 * programs were told and have counted. */
static bool give(struct perf_buf *p, const u8 *data, u64 at, u32 n, ring_cb *cb, void *arg)
{
	const u8 *record = data + (at & (p->size - 1));
	if ((at & (p->size - 1)) + n > p->size) {
		sb_clear(&p->joined);
		mmaps_copy(data, p->size, at, at + n, &p->joined);
		record = (const u8 *)p->joined.s;
	}
	const struct perf_event_header *head = (const void *)record;
	u32 len, before = sizeof(*head) + sizeof(len);
	if (head->type != PERF_RECORD_SAMPLE || n < before)
		return false;
	memcpy(&len, record + sizeof(*head), sizeof(len));
	cb(arg, record + before, MIN(len, n - before));
	return true;
}

static u64 read_cpu(struct perf_buf *p, struct cpu_buf *b, u64 max, ring_cb *cb, void *arg)
{
	const u8 *data = (const u8 *)b->page + p->page;
	u64 end = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
	u64 at = b->page->data_tail, stored = at, n = 0;
	while (at != end && (!max || n < max)) {
		const struct perf_event_header *head = (const void *)(data + (at & (p->size - 1)));
		u32 size = head->size;
		assert(size >= sizeof(*head) && size <= end - at);
		n += give(p, data, at, size, cb, arg);
		at += size;
		if (at - stored >= p->size / GIVE_BACK)
			__atomic_store_n(&b->page->data_tail, stored = at, __ATOMIC_RELEASE);
	}
	if (at != stored)
		__atomic_store_n(&b->page->data_tail, at, __ATOMIC_RELEASE);
	return n;
}

u64 perf_buf_consume(struct perf_buf *p, u64 max, ring_cb *cb, void *arg)
{
	u64 n = 0;
	for (u32 i = 0; i < p->cpus.n && (!max || n < max); i++)
		n += read_cpu(p, &p->cpus.v[i], max ? max - n : 0, cb, arg);
	return n;
}

void perf_buf_free(struct perf_buf *p)
{
	if (!p)
		return;
	for (u32 i = 0; i < p->cpus.n; i++) {
		if (p->cpus.v[i].page)
			munmap(p->cpus.v[i].page, p->page + p->size);
		close(p->cpus.v[i].fd);
	}
	if (p->epoll >= 0)
		close(p->epoll);
	vec_free(&p->cpus);
	sb_free(&p->joined);
	free(p);
}
