/* link.c - see link.h. */
#include "kern/link.h"
#include "kern/bpf.h"
#include <stdlib.h>

struct link *link_add(struct link **list, int fd, int perf_fd)
{
	struct link *l = calloc(1, sizeof(*l));
	if (!l)
		abort();
	l->fd = fd;
	l->perf_fd = perf_fd;
	l->next = *list;
	*list = l;
	return l;
}

void link_undo(struct host *h, struct link **list, const struct link *mark)
{
	while (*list != mark) {
		struct link *l = *list;
		assert(l);
		*list = l->next;
		close_fd(&l->fd);
		close_fd(&l->perf_fd);
		if (l->event)
			retprobe_remove(h, l->event);
		free(l->event);
		free(l);
	}
}

bool link_missed(struct host *h, const struct link *l, u64 *n)
{
	*n = 0;
	switch (l->missed) {
	case MISSED_NOWHERE: return true;
	case MISSED_LINK: return l->fd >= 0 && bpf_link_misses(l->fd, n);
	case MISSED_TRACEFS: return l->event && retprobe_missed(h, l->event, n);
	}
	return false;
}
