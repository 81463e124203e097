/* perfbuf.h - records in perf buffers: one per CPU, in a map of perf events. */
#pragma once
#include "kern/bpf.h"

struct perf_buf;
/* Of pages, a power of two, each, whose events become the elements of the map. */
struct err *perf_buf_new(struct host *h, int map_fd, u32 pages, struct perf_buf **ret);
int perf_buf_fd(const struct perf_buf *p); /* for epoll */
/* Up to max records (0: no limit), CPU by CPU. Number of records. */
u64 perf_buf_consume(struct perf_buf *p, u64 max, ring_cb *cb, void *arg);
void perf_buf_free(struct perf_buf *p);
