/* kernel_feed.c - records and maps from the kernel that we traced ourselves: see feed.h. */
#include "run/run.h"

static int fd(const struct session *s)
{
	return s->live.ring ? ring_fd(s->live.ring) : -1;
}

static u64 consume(struct session *s, u64 max)
{
	return s->live.ring ? ring_consume(s->live.ring, max) : 0;
}

static bool wait(const struct session *s)
{
	return s->live.ring && ring_wait(s->live.ring);
}

const struct feed feed_kernel = {fd, consume, wait, snap_take};
