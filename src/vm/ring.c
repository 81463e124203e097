/*
 * ring.c - ring buffers and perf event arrays: records of programs, until the caller consumes them.
 *
 * As in the kernel, a record takes its length, rounded up to 8, and 8 bytes, and a reservation fails
 * if the room is used by records that nobody has consumed. The lengths are kept apart from the data,
 * so that no program can change them. The data has room for a record behind its end, so that each is
 * in one piece.
 */
#include "base/alloc.h"
#include "vm/inside.h"
#include <errno.h>

enum { HEAD_BYTES = 8, IN_PROGRESS = 1u << 31, DISCARDED = 1u << 30, LENGTH = DISCARDED - 1 };

bool ring_new_map(struct vm_map *m, u64 *bytes)
{
	u64 size = m->spec.type == BPF_MAP_TYPE_RINGBUF ? m->spec.max_entries : PERF_BYTES;
	*bytes = 2 * size + size / 8 * sizeof(*m->head);
	m->vals = pages_new(2 * size);
	m->head = pages_new(size / 8 * sizeof(*m->head));
	m->size = size;
	return m->vals && m->head;
}

void ring_free_map(struct vm_map *m)
{
	if (!m->size)
		return;
	pages_free(m->vals, 2 * m->size);
	pages_free(m->head, m->size / 8 * sizeof(*m->head));
	m->vals = NULL;
}

static u32 *head_at(const struct vm_map *m, u64 pos)
{
	return &m->head[(pos & (m->size - 1)) / 8];
}

static u8 *data_at(const struct vm_map *m, u64 pos)
{
	return m->vals + (pos & (m->size - 1)) + HEAD_BYTES;
}

static u64 room_of(u64 size)
{
	return ALIGN_UP(size + HEAD_BYTES, 8);
}

/* Room for a record; false: there is none. */
static bool claim(struct vm_map *m, u64 size, u64 *pos)
{
	if (size > LENGTH || m->made + room_of(size) - m->taken > m->size - 1)
		return false;
	*pos = m->made;
	*head_at(m, m->made) = (u32)size;
	m->made += room_of(size);
	return true;
}

u64 ring_reserve(struct vm *v, struct vm_map *m, u64 size)
{
	u64 pos;
	if (v->nopen == VM_MAX_RESERVATIONS) {
		vm_fail(v, "too many reservations of ring buffers are open", 0, 0);
		return 0;
	}
	if (!claim(m, size, &pos))
		return 0;
	*head_at(m, pos) |= IN_PROGRESS;
	v->open[v->nopen].map = m->id;
	v->open[v->nopen++].pos = pos;
	return m->vals_at + (u64)(data_at(m, pos) - m->vals);
}

void ring_finish(struct vm *v, u64 addr, bool discard)
{
	for (u32 i = 0; i < v->nopen; i++) {
		struct vm_map *m = &v->map[v->open[i].map];
		u64 pos = v->open[i].pos;
		if (m->vals_at + (u64)(data_at(m, pos) - m->vals) != addr)
			continue;
		*head_at(m, pos) &= LENGTH;
		*head_at(m, pos) |= discard ? DISCARDED : 0;
		v->open[i] = v->open[--v->nopen];
		return;
	}
	vm_fail(v, "a helper's argument is no reservation of a ring buffer", 0, 0);
}

void ring_close(struct vm *v)
{
	vm_fail(v, "a reservation of a ring buffer was left open", 0, 0);
	while (v->nopen) {
		const struct vm_map *m = &v->map[v->open[--v->nopen].map];
		*head_at(m, v->open[v->nopen].pos) =
			(*head_at(m, v->open[v->nopen].pos) & LENGTH) | DISCARDED;
	}
}

i32 ring_output(struct vm_map *m, const void *data, u64 size)
{
	u64 pos;
	if (!claim(m, size, &pos))
		return m->spec.type == BPF_MAP_TYPE_RINGBUF ? -EAGAIN : -ENOSPC;
	memmove(data_at(m, pos), data, size);
	return 0;
}

u64 vm_ring_consume(struct vm *v, u32 map, u64 max, vm_record_fn *cb, void *arg)
{
	assert(map < v->nmap);
	struct vm_map *m = &v->map[map];
	u64 n = 0;
	while (m->taken != m->made && (!max || n < max)) {
		u32 head = *head_at(m, m->taken);
		u64 pos = m->taken;
		if (head & IN_PROGRESS)
			break;
		if (cb && !(head & DISCARDED))
			cb(arg, data_at(m, pos), head & LENGTH);
		n += !(head & DISCARDED);
		m->taken += room_of(head & LENGTH);
	}
	return n;
}
