/* memory.c - maps that tables of user stacks are written to; see the header. */
#include "unwind/memory.h"
#include "base/alloc.h"
#include "run/session.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INDEX_STEP = 1 << 16 };

/* Element i of a map of maps becomes a new array, mapped at *ret; of was what it had before. */
static struct err *put_inner(struct unwind_memory *m, const struct map *map, u32 i, void *was,
			     size_t size, void **ret)
{
	int fd AUTO_CLOSE = -1;
	struct err *e = bpf_map_new_inner(map->inner_size, &fd);
	if (!e)
		e = bpf_map_mmap(fd, size, ret);
	if (e)
		return e;
	if (m->hold) {
		struct held h = {map, i, fd, false};
		vec_add(&m->held, h);
		fd = -1;
	} else {
		e = bpf_map_put(map_fd(m->s, map), &i, &fd);
	}
	if (e)
		munmap(*ret, size);
	else if (was)
		munmap(was, size);
	return e;
}

static struct err *put_held_of(struct unwind_memory *m, const struct map *map)
{
	u32 n = 0;
	u32 *keys AUTO_FREE = xcalloc(m->held.n + 1ul, sizeof(u32));
	u32 *fds AUTO_FREE = xcalloc(m->held.n + 1ul, sizeof(u32));
	for (u32 i = 0; i < m->held.n; i++) {
		if (m->held.v[i].map != map)
			continue;
		keys[n] = m->held.v[i].i;
		fds[n++] = (u32)m->held.v[i].fd;
	}
	return bpf_map_put_all(map_fd(m->s, map), keys, fds, n);
}

/* The chunk that is being filled is written. */
static struct err *put_stage(struct unwind_memory *m)
{
	u32 last = m->nlater - 1;
	if (!m->staged)
		return NULL;
	struct err *e = bpf_map_fill(m->later[last], m->stage, sizeof(*m->stage));
	if (e)
		return e;
	m->blocks->chunk.v[m->later_at[last]] = NULL;
	m->staged = false;
	return NULL;
}

static struct err *stage_chunk(struct unwind_memory *m, u32 i, struct unwind_chunk **ret)
{
	int fd;
	struct err *e = put_stage(m);
	if (!e)
		e = bpf_map_new_inner(m->u->blocks->inner_size, &fd);
	if (e)
		return e;
	if (m->stage)
		memset(m->stage, 0, sizeof(*m->stage));
	else
		m->stage = xcalloc(1, sizeof(*m->stage));
	m->later_at[m->nlater] = i;
	m->later[m->nlater++] = fd;
	m->staged = true;
	vec_add(&m->held, (struct held){m->u->blocks, i, fd, true});
	*ret = m->stage;
	return NULL;
}

/* NULL: chunk i was mapped when it was made. */
static int *later_of(struct unwind_memory *m, u32 i)
{
	for (u32 k = 0; k < m->nlater; k++)
		if (m->later_at[k] == i)
			return &m->later[k];
	return NULL;
}

static struct err *map_chunk(void *arg, u32 i, struct unwind_chunk **ret)
{
	struct unwind_memory *m = arg;
	void *p;
	struct err *e = bpf_map_mmap(*later_of(m, i), sizeof(**ret), &p);
	if (!e)
		*ret = p;
	return e;
}

void memory_put(struct unwind_memory *m)
{
	struct err *e[] = {put_stage(m), put_held_of(m, m->u->blocks), put_held_of(m, m->u->lists)};
	for (u32 i = 0; i < countof(e); i++) {
		if (e[i] && !m->blocks->failed)
			m->blocks->failed = e[i];
		else
			err_free(e[i]);
	}
	for (u32 i = 0; i < m->held.n; i++)
		if (!m->held.v[i].later)
			close(m->held.v[i].fd);
	vec_free(&m->held);
	sb_free(&m->blocks->answer);
	if (!m->staged) { /* else it could not be written, and is looked at here */
		free(m->stage);
		m->stage = NULL;
	}
	m->hold = false;
}

static struct err *make_chunk(void *arg, u32 i, struct unwind_chunk **ret)
{
	struct unwind_memory *m = arg;
	if (m->hold && !m->tracing && i == m->blocks->chunk.n && m->nlater < MEMORY_EARLY)
		return stage_chunk(m, i, ret);
	void *p, *was = i < m->blocks->chunk.n ? m->blocks->chunk.v[i] : NULL;
	int *later = later_of(m, i);
	struct err *e = put_inner(m, m->u->blocks, i, was, sizeof(**ret), &p);
	if (e)
		return e;
	if (later && !m->hold)
		close_fd(later);
	*ret = p;
	return NULL;
}

static struct err *make_list_chunk(void *arg, u32 i, struct unwind_list_chunk **ret)
{
	struct unwind_memory *m = arg;
	void *p;
	struct err *e = put_inner(m, m->u->lists, i, NULL, sizeof(**ret), &p);
	if (!e)
		*ret = p;
	return e;
}

/* All of the index is 4 MiB, of which most machines need the beginning. */
static struct err *reach_index(void *arg, u32 n)
{
	struct unwind_memory *m = arg;
	size_t to = offsetof(struct unwind_index, block) + n * sizeof(u32);
	to = MIN(ALIGN_UP(to, (size_t)INDEX_STEP), sizeof(struct unwind_index));
	if (to <= m->index_bytes)
		return NULL;
	struct err *e = bpf_map_mmap_part(map_fd(m->s, m->u->index), m->index, m->index_bytes, to);
	if (!e)
		m->index_bytes = to;
	return e;
}

void memory_hold(struct unwind_memory *m, bool tracing)
{
	m->hold = true;
	m->tracing |= tracing;
}

/* ---- begin, end ---- */

void memory_init(struct unwind_memory *m, struct session *s, struct blocks *blocks,
		 struct lists *lists)
{
	void *index = NULL;
	const struct unwind *u = s->u->unwind;
	*m = (struct unwind_memory){.s = s, .u = u, .blocks = blocks, .lists = lists};
	struct err *e = bpf_map_reserve(sizeof(*m->index), &index);
	m->index = index;
	struct blocks_mem mem = {.index = m->index,
				 .rules = map_mem(s, u->rules),
				 .max_chunks = UNWIND_CHUNKS,
				 .chunk = make_chunk,
				 .map = map_chunk,
				 .arg = m,
				 .reach = reach_index};
	blocks_init(blocks, s->h->page_size, &mem);
	blocks->failed = e;
	lists->mem = (struct lists_mem){UNWIND_LISTS, make_list_chunk, m};
}

void memory_free(struct unwind_memory *m)
{
	if (!m->s)
		return;
	for (u32 i = 0; i < m->blocks->chunk.n; i++)
		if (m->blocks->chunk.v[i] && m->blocks->chunk.v[i] != m->stage)
			munmap(m->blocks->chunk.v[i], sizeof(struct unwind_chunk));
	for (u32 i = 0; i < m->nlater; i++)
		close_fd(&m->later[i]);
	free(m->stage);
	for (u32 i = 0; i < m->lists->chunk.n; i++)
		munmap(m->lists->chunk.v[i], sizeof(struct unwind_list_chunk));
	if (m->index)
		munmap(m->index, sizeof(*m->index));
}
