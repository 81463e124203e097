/*
 * perftasks.h - who ran and what was mapped, while the events of a perf.data are read in the order of time.
 *
 * perf_comm(), perf_fork(), perf_map() and perf_name() for records that say so; for each event perf_task() and
 * perf_stack(). Texts are copied.
 */
#pragma once
#include "base/arena.h"
#include "base/tab.h"
#include "rec/write.h"

struct import_kernel;
struct perf_map {
	u64 start, size, offset;   /* offset: in the file */
	struct str path, build_id; /* build_id: in hex, or "" */
};
struct perf_name {
	u64 addr;
	u32 size;
	struct str name;
};
struct perf_tasks {
	struct rec_writer *w;               /* set before the first event */
	const struct import_kernel *kernel; /* NULL: the kernel's functions are not known */
	struct arena a;
	struct tab threads, processes, build_ids;
	struct perf_name *name; /* sorted by address once they are asked for */
	u32 nname;
	bool sorted;
	struct arena cache;
	struct tab stacks;
	u32 generation;
};
void perf_tasks_free(struct perf_tasks *t);
void perf_comm(struct perf_tasks *t, u32 pid, u32 tid, struct str comm, bool exec);
void perf_fork(struct perf_tasks *t, u32 pid, u32 tid, u32 ppid, u32 ptid);
void perf_map(struct perf_tasks *t, u32 pid, const struct perf_map *m);
void perf_build_id(struct perf_tasks *t, struct str path, struct str hex);
/* A function of the kernel, or of a BPF program. */
void perf_name(struct perf_tasks *t, u64 addr, u32 size, struct str name);
/* Ids for rows. */
u32 perf_task(struct perf_tasks *t, u32 pid, u32 tid);
/* chain: n addresses of 8 bytes, innermost first, of the kernel or of the process. Without any, it is an empty stack. */
u32 perf_stack(struct perf_tasks *t, u32 pid, const u8 *chain, u32 n, bool kernel, bool cut);
