/* link.c - see link.h. */
#include "kern/link.h"
#include "base/alloc.h"
#include "kern/bpf.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct link *link_add(struct link **list, int fd, int perf_fd)
{
	struct link *l = xcalloc(1, sizeof(*l));
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
		bool late = l->late && l->fd >= 0;
		close_fd(&l->fd);
		if (late)
			retprobe_late(h, l->perf_fd);
		else
			close_fd(&l->perf_fd);
		if (l->event && !l->late)
			retprobe_remove(h, l->event);
		free(l->event);
		free(l);
	}
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Only what detaches when it is closed stays open, and is closed by the end, after the parent's. */
static void keep_only(const struct link *list, int gate)
{
	int *fd = NULL;
	u32 n = 0, from = 0;
	for (const struct link *l = list; l; l = l->next)
		n += 2;
	fd = xcalloc(n + 2ul, sizeof(*fd));
	n = 0;
	fd[n++] = gate;
	for (const struct link *l = list; l; l = l->next) {
		if (l->fd >= 0)
			fd[n++] = l->fd;
		if (l->perf_fd >= 0)
			fd[n++] = l->perf_fd;
	}
	qsort(fd, n, sizeof(*fd), by_number);
	for (u32 i = 0; i < n; i++) {
		if ((u32)fd[i] > from)
			close_range(from, (u32)fd[i] - 1, 0);
		from = (u32)fd[i] + 1;
	}
	close_range(from, ~0u, 0);
	while (read(gate, &(char){0}, 1) < 0 && errno == EINTR)
		;
}

bool link_leave(struct host *h, struct link **list)
{
	if (h->no_children)
		return false;
	for (const struct link *l = *list; l; l = l->next)
		if (l->event) /* is removed after the descriptor was closed */
			return false;
	/* Waits until every processor has left the code that it is in. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		return false;
	int gate[2];
	if (pipe2(gate, O_CLOEXEC))
		return false;
	pid_t pid = fork();
	if (!pid) {
		keep_only(*list, gate[0]);
		_exit(0);
	}
	if (pid > 0) {
		heap_own();
		link_undo(h, list, NULL);
	}
	close(gate[0]);
	close(gate[1]);
	return pid > 0;
}

bool link_replaced(const struct link *l)
{
	struct stat st;
	return l->file && !stat(l->file, &st) && (st.st_ino != l->ino || st.st_dev != l->dev);
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
