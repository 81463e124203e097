/* perftasks.c - see perftasks.h. */
#include "import/perftasks.h"
#include "import/import.h"
#include <stdlib.h>

enum {
	MAX_DEPTH = 32,       /* of processes that began as copies of others */
	MAX_STACKS = 1 << 14, /* that are remembered */
};
struct thread {
	u32 tid, pid, ppid;
	bool forked;     /* ppid is known */
	struct str comm; /* .s NULL: not known */
};
struct map {
	u64 start, size, offset;
	struct str path, build_id;
};
/* Mappings of a program: its own, and the first ones of the process of which it began as a copy. */
struct maps {
	const struct maps *from;
	u32 nfrom, depth, n;
	struct map *own;
};
struct process {
	u32 pid;
	struct maps *maps;
};
struct known_stack {
	u32 id;
};
/* What a stack is remembered by; addresses follow. */
struct stack_key {
	const struct maps *maps;
	u32 n, kernel, cut, pad;
};

void perf_tasks_free(struct perf_tasks *t)
{
	tab_free(&t->threads);
	tab_free(&t->processes);
	tab_free(&t->build_ids);
	tab_free(&t->stacks);
	arena_free(&t->cache);
	arena_free(&t->a);
}

/* ---- threads ---- */

static struct str key_of(const u32 *number)
{
	return str_n((const char *)number, sizeof(*number));
}

static struct thread *thread_of(struct perf_tasks *t, u32 tid)
{
	struct thread *th = tab_get(&t->threads, key_of(&tid));
	if (th)
		return th;
	th = arena_new(&t->a, struct thread);
	th->tid = tid;
	tab_set(&t->threads, key_of(&th->tid), th);
	return th;
}

static struct process *process_of(struct perf_tasks *t, u32 pid)
{
	struct process *p = tab_get(&t->processes, key_of(&pid));
	if (p)
		return p;
	p = arena_new(&t->a, struct process);
	p->pid = pid;
	p->maps = arena_new(&t->a, struct maps);
	tab_set(&t->processes, key_of(&p->pid), p);
	return p;
}

void perf_comm(struct perf_tasks *t, u32 pid, u32 tid, struct str comm, bool exec)
{
	struct thread *th = thread_of(t, tid);
	th->pid = pid;
	th->comm = arena_str(&t->a, comm);
	if (exec)
		process_of(t, pid)->maps = arena_new(&t->a, struct maps);
}

void perf_fork(struct perf_tasks *t, u32 pid, u32 tid, u32 ppid, u32 ptid)
{
	struct thread *parent = thread_of(t, ptid), *th = thread_of(t, tid);
	bool thread = pid == ppid;
	th->pid = pid;
	th->comm = parent->comm;
	th->forked = !thread || parent->forked;
	th->ppid = thread ? parent->ppid : ppid;
	if (thread)
		return;
	const struct maps *from = process_of(t, ppid)->maps;
	struct maps *maps = arena_new(&t->a, struct maps);
	if (from->depth < MAX_DEPTH) {
		maps->from = from;
		maps->nfrom = from->n;
		maps->depth = from->depth + 1;
	}
	process_of(t, pid)->maps = maps;
}

u32 perf_task(struct perf_tasks *t, u32 pid, u32 tid)
{
	const struct thread *th = tab_get(&t->threads, key_of(&tid));
	bool named = th && th->comm.s, child = th && th->forked;
	return rec_task(t->w, &(struct rec_task){.tid = tid,
						 .pid = pid,
						 .ppid = child ? th->ppid : 0,
						 .known = (named ? KNOWN_COMM : 0u) |
							  (child ? KNOWN_PPID : 0u),
						 .comm = !tid    ? STR("swapper")
							 : named ? th->comm
								 : STR("?")});
}

/* ---- mappings ---- */

void perf_build_id(struct perf_tasks *t, struct str path, struct str hex)
{
	struct str *id = arena_new(&t->a, struct str);
	*id = arena_str(&t->a, hex);
	tab_set(&t->build_ids, arena_str(&t->a, path), id);
}

void perf_map(struct perf_tasks *t, u32 pid, const struct perf_map *m)
{
	struct maps *maps = process_of(t, pid)->maps;
	struct map map = {m->start, m->size, m->offset, arena_str(&t->a, m->path),
			  arena_str(&t->a, m->build_id)};
	arena_push(&t->a, maps->own, maps->n, map);
}

/* What was mapped last is on top. */
static const struct map *map_at(const struct maps *maps, u64 addr)
{
	for (u32 n = maps->n; maps; n = maps->nfrom, maps = maps->from)
		for (u32 i = n; i-- > 0;)
			if (addr - maps->own[i].start < maps->own[i].size)
				return &maps->own[i];
	return NULL;
}

/* ---- functions of the kernel ---- */

void perf_name(struct perf_tasks *t, u64 addr, u32 size, struct str name)
{
	struct perf_name n = {addr, size, arena_str(&t->a, name)};
	arena_push(&t->a, t->name, t->nname, n);
	t->sorted = false;
}

static int by_address(const void *a, const void *b)
{
	u64 x = ((const struct perf_name *)a)->addr, y = ((const struct perf_name *)b)->addr;
	return (x > y) - (x < y);
}

static struct str kernel_name(struct perf_tasks *t, u64 addr, u64 *off)
{
	struct str name = {0};
	if (!t->sorted && t->nname)
		qsort(t->name, t->nname, sizeof(*t->name), by_address);
	t->sorted = true;
	u32 low = 0, high = t->nname;
	while (low < high) {
		u32 mid = low + (high - low) / 2;
		if (t->name[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low && addr - t->name[low - 1].addr < t->name[low - 1].size) {
		*off = addr - t->name[low - 1].addr;
		return t->name[low - 1].name;
	}
	if (t->kernel && t->kernel->name(t->kernel->self, addr, &name, off))
		return name;
	return (struct str){0};
}

/* ---- stacks ---- */

static u32 frame_of(struct perf_tasks *t, const struct maps *maps, u64 addr)
{
	AUTO_SB text = {0};
	struct rec_frame f = {.addr = addr};
	if (!maps) {
		f.flags = FRAME_KERNEL;
		f.sym = kernel_name(t, addr, &f.sym_off);
	} else {
		const struct map *m = map_at(maps, addr);
		const struct str *id = m ? tab_get(&t->build_ids, m->path) : NULL;
		if (m) {
			f.mapping = rec_mapping(
				t->w, &(struct rec_mapping){.path = m->path,
							    .build_id = m->build_id.n ? m->build_id
									: id          ? *id
										      : STR("")});
			f.file_off = addr - m->start + m->offset;
		}
	}
	if (f.sym.n)
		sb_fmt(&text, "%.*s+%llu", STRF(f.sym), f.sym_off);
	else
		sb_fmt(&text, "0x%llx", addr);
	f.text = sb_str(&text);
	return rec_frame(t->w, &f);
}

static void forget_stacks(struct perf_tasks *t)
{
	tab_free(&t->stacks);
	t->stacks = (struct tab){0};
	arena_reset(&t->cache);
	t->generation = rec_generation(t->w);
}

u32 perf_stack(struct perf_tasks *t, u32 pid, const u8 *chain, u32 n, bool kernel, bool cut)
{
	u32 frame[REC_MAX_FRAMES];
	AUTO_SB key = {0};
	const struct maps *maps = kernel ? NULL : process_of(t, pid)->maps;
	if (rec_generation(t->w) != t->generation || t->stacks.n >= MAX_STACKS)
		forget_stacks(t);
	const struct stack_key head = {maps, kernel ? t->nname : maps->n, kernel, cut, 0};
	sb_mem(&key, &head, sizeof(head));
	if (n)
		sb_mem(&key, chain, 8ul * n);
	const struct known_stack *known = tab_get(&t->stacks, sb_str(&key));
	if (known)
		return known->id;
	u32 take = MIN(n, (u32)REC_MAX_FRAMES);
	for (u32 i = 0; i < take; i++) {
		u64 addr;
		memcpy(&addr, chain + 8ul * i, 8);
		frame[i] = frame_of(t, maps, addr);
	}
	struct known_stack *k = arena_new(&t->cache, struct known_stack);
	k->id = rec_stack(t->w,
			  &(struct rec_stack){.n = take,
					      .flags = (u8)((kernel ? STACK_KERNEL : 0) |
							    (cut || take < n ? STACK_CUT : 0)),
					      .frame = frame});
	tab_add(&t->stacks, arena_str(&t->cache, sb_str(&key)), k);
	return k->id;
}
