/*
 * mmaps.h - what processes do to their address spaces, told by the kernel while it happens: files
 * mapped for execution, exec, fork, exit. From perf events that count nothing.
 *
 *	err = mmaps_open(h, pid, &m);
 *	mmaps_drain(m, cb, arg);	often: a buffer holds some thousand notes
 *	mmaps_free(m);
 *
 * Notes of one drain come in the order of their time. A later drain may bring one that is a little
 * older (another CPU wrote it late): who takes them compares .ns.
 */
#pragma once
#include "base/bytes.h"
#include "kern/host.h"

enum note_kind {
	MMAP_EVENT_MAP,
	MMAP_EVENT_EXEC,
	MMAP_EVENT_FORK,
	MMAP_EVENT_EXIT,
	MMAP_EVENT_LOST
};
struct mmap_event {
	enum note_kind kind : 8;
	u32 pid, parent;     /* parent: of MMAP_EVENT_FORK */
	u64 ns;              /* CLOCK_MONOTONIC */
	u64 start, end, off; /* MMAP_EVENT_MAP, from here on */
	u64 dev, ino;        /* as /proc/PID/maps has them */
	u64 generation; /* tells files apart that had the inode one after the other; 0: not known */
	struct str path; /* as /proc/PID/maps has it, or "//anon"; gone after the callback */
	u64 lost;        /* MMAP_EVENT_LOST: so many notes */
};
typedef void mmap_event_cb(void *arg, const struct mmap_event *n);

struct mmaps;
/* pid: the process, and children it starts from now on; 0: every process. wake: the descriptors
 * become readable when there are so many bytes of notes; 0: when there is hardly room for more. */
struct err *mmaps_open(struct host *h, int pid, u32 wake, struct mmaps **ret);
/* One for each CPU; -1: there are no more. */
int mmaps_fd(const struct mmaps *m, u32 i);
/* True: it tells of every process. */
bool mmaps_of_all(const struct mmaps *m);
void mmaps_drain(struct mmaps *m, mmap_event_cb *cb, void *arg);
void mmaps_free(struct mmaps *m);

/* Does the kernel allow it, for one's own process at least? */
bool mmaps_try(void);

/* The parts that read what the kernel wrote, for tests. */
/* Bytes [tail, head) of a ring of size bytes (a power of two); false: there cannot be so many. */
bool mmaps_copy(const u8 *ring, u64 size, u64 tail, u64 head, struct sb *out);
/* The next record off b; false: none, or it is malformed (.bad). */
bool mmaps_next(struct bytes *b, struct bytes *record);
bool mmaps_parse(struct bytes record, struct mmap_event *ret); /* false: nothing to note */
