/*
 * hash.c - hash maps: open addressing over elements that never move.
 *
 *	slot[]	{hash, element + 1}: at most half of them are in use, found by linear probing; a
 *		deletion moves later ones up, so there are no tombstones
 *	keys[]	the key of each element, padded with zeros to words
 *	vals[]	its value (map.c)
 *	state[]	is it in use; of LRU maps: did a program find it
 *
 * A full LRU map gives the place of its oldest element to a new one, but spares those that programs
 * have found since they were last looked at. The kernel decides in nearly the same way, but by CPU and
 * for several elements at a time, so which one goes is not the same there.
 */
#include "base/alloc.h"
#include "vm/inside.h"
#include <errno.h>

static u64 key_word(const u8 *p, u32 n)
{
	u64 w = 0;
	memcpy(&w, p, n);
	return w;
}

/* The seed is not known to programs, so they cannot choose keys of equal hashes. */
static u32 hash_key(const struct vm_map *m, const u8 *key)
{
	u64 h = m->seed;
	u32 n = m->spec.key_size;
	for (; n >= 8; n -= 8, key += 8) {
		u64 w;
		memcpy(&w, key, 8);
		h = (h ^ w) * 0x9fb21c651e98df25ull;
		h ^= h >> 32;
	}
	if (n) {
		h = (h ^ key_word(key, n)) * 0x9fb21c651e98df25ull;
		h ^= h >> 32;
	}
	h *= 0xd6e8feb86659fd93ull;
	return (u32)(h >> 32);
}

static u8 *key_at(const struct vm_map *m, u32 i)
{
	return m->keys + (u64)i * m->key_stride;
}

static inline bool same_key(const struct vm_map *m, u32 i, const u8 *key)
{
	const u8 *own = key_at(m, i);
	u32 n = m->spec.key_size;
	for (; n >= 8; n -= 8, key += 8, own += 8) {
		u64 a, b;
		memcpy(&a, own, 8);
		memcpy(&b, key, 8);
		if (a != b)
			return false;
	}
	return !n || !memcmp(own, key, n);
}

/* ---- memory ---- */

static u64 slots_for(u32 n)
{
	u64 slots = 16;
	while (slots < 2ull * n)
		slots *= 2;
	return slots;
}

bool hash_new(struct vm_map *m, u64 *bytes)
{
	u32 n = m->spec.max_entries;
	u64 slots = slots_for(n), links = m->lru ? n + 1ull : 0;
	m->key_stride = ALIGN_UP(m->spec.key_size, 8u);
	u64 keys = (u64)m->key_stride * n;
	if (slots > 1ull << 31 || keys > REGION_MASK)
		return false;
	*bytes += keys + slots * sizeof(*m->slot) + n * (sizeof(u32) + 1ull) +
		  2 * links * sizeof(u32);
	m->slot_mask = (u32)(slots - 1);
	m->slot = pages_new(slots * sizeof(*m->slot));
	m->keys = pages_new(keys);
	m->state = pages_new(n);
	m->unused = pages_new(n * (u64)sizeof(u32));
	if (m->lru) {
		m->next = pages_new(links * sizeof(u32));
		m->prev = pages_new(links * sizeof(u32));
		if (m->next && m->prev)
			m->next[n] = m->prev[n] = n;
	}
	return m->slot && m->keys && m->state && m->unused && (!m->lru || (m->next && m->prev));
}

void hash_free(struct vm_map *m)
{
	u32 n = m->spec.max_entries;
	pages_free(m->slot, (m->slot_mask + 1ull) * sizeof(*m->slot));
	pages_free(m->keys, (u64)m->key_stride * n);
	pages_free(m->state, n);
	pages_free(m->unused, n * (u64)sizeof(u32));
	pages_free(m->next, (n + 1ull) * sizeof(u32));
	pages_free(m->prev, (n + 1ull) * sizeof(u32));
}

/* ---- the index ---- */

/* The slot of the key, or the free one where it belongs. */
static u32 find_slot(const struct vm_map *m, const u8 *key, u32 hash)
{
	u32 i = hash & m->slot_mask;
	for (;; i = (i + 1) & m->slot_mask) {
		const struct hash_slot *s = &m->slot[i];
		if (!s->at || (s->hash == hash && same_key(m, s->at - 1, key)))
			return i;
	}
}

i64 hash_find(const struct vm_map *m, const void *key)
{
	return (i64)m->slot[find_slot(m, key, hash_key(m, key))].at - 1;
}

/* Slots behind it move up, unless that would bring them before the place of their hash. */
static void free_slot(struct vm_map *m, u32 hole)
{
	u32 mask = m->slot_mask;
	for (u32 i = (hole + 1) & mask; m->slot[i].at; i = (i + 1) & mask) {
		u32 home = m->slot[i].hash & mask;
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		m->slot[hole] = m->slot[i];
		hole = i;
	}
	m->slot[hole] = (struct hash_slot){0};
}

/* ---- the order of LRU maps: a ring through number max_entries ---- */

static void unlink_elem(struct vm_map *m, u32 i)
{
	m->next[m->prev[i]] = m->next[i];
	m->prev[m->next[i]] = m->prev[i];
}

static void link_newest(struct vm_map *m, u32 i)
{
	u32 end = m->spec.max_entries, last = m->prev[end];
	m->next[last] = i;
	m->prev[i] = last;
	m->next[i] = end;
	m->prev[end] = i;
}

static void remove_elem(struct vm_map *m, u32 slot)
{
	u32 i = m->slot[slot].at - 1;
	free_slot(m, slot);
	m->state[i] = ELEM_FREE;
	m->unused[m->nunused++] = i;
	m->n--;
	if (m->lru)
		unlink_elem(m, i);
}

static void evict(struct vm_map *m)
{
	u32 i = m->next[m->spec.max_entries];
	while (m->state[i] == ELEM_HIT) {
		m->state[i] = ELEM_USED;
		unlink_elem(m, i);
		link_newest(m, i);
		i = m->next[m->spec.max_entries];
	}
	const u8 *key = key_at(m, i);
	remove_elem(m, find_slot(m, key, hash_key(m, key)));
}

/* ---- changing ---- */

i32 hash_put(struct vm_map *m, const void *key, const void *val, u64 flags, i32 cpu)
{
	u32 hash = hash_key(m, key), slot = find_slot(m, key, hash), i = m->slot[slot].at;
	if (i && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!i && flags == BPF_EXIST)
		return -ENOENT;
	if (i) {
		elem_store(m, i - 1, val, cpu);
		return 0;
	}
	if (m->n == m->spec.max_entries) {
		if (!m->lru)
			return -E2BIG;
		evict(m);
		slot = find_slot(m, key, hash);
	}
	i = m->nunused ? m->unused[--m->nunused] : m->top++;
	m->slot[slot] = (struct hash_slot){hash, i + 1};
	memmove(key_at(m, i), key, m->spec.key_size);
	if (m->percpu)
		memset(m->vals + (u64)i * m->stride, 0, m->stride);
	elem_store(m, i, val, cpu);
	m->state[i] = ELEM_USED;
	m->n++;
	if (m->lru)
		link_newest(m, i);
	return 0;
}

i32 hash_delete(struct vm_map *m, const void *key)
{
	u32 slot = find_slot(m, key, hash_key(m, key));
	if (!m->slot[slot].at)
		return -ENOENT;
	remove_elem(m, slot);
	return 0;
}
