/* rings.c - the reader of kern/rings.h. */
#include "kern/rings.h"
#include "base/alloc.h"

enum {
	GIVE_BACK = 16, /* room is given back when this part of a ring was read */
	CLEAR_BYTES = 4096,
	PATIENCE = 1000, /* looks at a record that is not finished: it takes a few nanoseconds,
			    unless the program was interrupted */
};

struct one {
	u8 *mem;
	u64 at, made, given; /* at: next to read; made: as last seen; given: what is in taken */
	u64 clear;           /* zeros were left behind up to here */
	u64 key;             /* of the record at at: its turn, in the high bits */
};

struct rings {
	struct rings_spec spec;
	struct one *one;
	u32 *heap; /* rings with records, the one whose turn it is first */
	u32 nheap;
	bool waits;
};

struct rings *rings_new(const struct rings_spec *s)
{
	struct rings *r = xcalloc(1, sizeof(*r));
	assert(s->mem && s->n && !(s->size & (s->size - 1)));
	r->spec = *s;
	r->one = xcalloc(s->n, sizeof(*r->one));
	r->heap = xcalloc(s->n, sizeof(*r->heap));
	for (u32 i = 0; i < s->n; i++)
		r->one[i].mem = s->mem + (u64)i * s->stride;
	return r;
}

void rings_free(struct rings *r)
{
	if (!r)
		return;
	free(r->one);
	free(r->heap);
	free(r);
}

static u64 *ring_word(const struct rings *r, const struct one *o, u64 at)
{
	return (u64 *)(void *)(o->mem + RINGS_DATA + (at & (r->spec.size - 1)));
}

static u64 word_bytes(u64 word)
{
	return (word & ((1u << RINGS_TURN) - 1)) * 8;
}

static u64 finished_word(const struct rings *r, const struct one *o, u64 at)
{
	const u64 *p = ring_word(r, o, at);
	for (u32 i = 0; i < PATIENCE; i++) {
		u64 word = __atomic_load_n(p, __ATOMIC_ACQUIRE);
		if (word)
			return word;
	}
	return 0;
}

/* The turn of the next record; one without goes by that of the record behind it. False: not known
 * yet. */
static bool find_key(const struct rings *r, struct one *o)
{
	for (u64 at = o->at;;) {
		u64 word = finished_word(r, o, at);
		if (!word)
			return false;
		o->key = word >> RINGS_TURN << RINGS_TURN;
		if (o->key)
			return true;
		at += word_bytes(word);
		if (at == o->made)
			o->made = __atomic_load_n((u64 *)(void *)(o->mem + RINGS_MADE),
						  __ATOMIC_ACQUIRE);
		assert(at < o->made);
	}
}

/* Turns may go around. */
static bool is_before(u64 a, u64 b)
{
	return (i64)(a - b) < 0;
}

static void sift_down(struct rings *r, u32 i)
{
	u32 moved = r->heap[i];
	u64 key = r->one[moved].key;
	for (u32 kid; (kid = 2 * i + 1) < r->nheap; i = kid) {
		if (kid + 1 < r->nheap &&
		    is_before(r->one[r->heap[kid + 1]].key, r->one[r->heap[kid]].key))
			kid++;
		if (!is_before(r->one[r->heap[kid]].key, key))
			break;
		r->heap[i] = r->heap[kid];
	}
	r->heap[i] = moved;
}

/* All that is claimed now. False: a record is not finished, and what may go before it is unknown.
 */
static bool look(struct rings *r)
{
	bool known = true;
	r->nheap = 0;
	for (u32 i = 0; i < r->spec.n; i++) {
		struct one *o = &r->one[i];
		o->made = __atomic_load_n((u64 *)(void *)(o->mem + RINGS_MADE), __ATOMIC_ACQUIRE);
		if (o->at == o->made)
			continue;
		known &= find_key(r, o);
		r->heap[r->nheap++] = i;
	}
	for (u32 i = r->nheap / 2; known && i-- > 0;)
		sift_down(r, i);
	return known;
}

/* Zeros from clear to at. The last record before the end of the data goes on behind it. */
static void clear(const struct rings *r, struct one *o)
{
	u64 size = r->spec.size, from = o->clear & (size - 1), n = o->at - o->clear;
	u64 left = size - from, room = r->spec.stride - RINGS_DATA - size;
	u8 *data = o->mem + RINGS_DATA;
	memset(data + from, 0, MIN(n, left + room));
	if (n > left)
		memset(data, 0, n - left);
	o->clear = o->at;
}

static void give_back(const struct rings *r, struct one *o)
{
	clear(r, o);
	__atomic_store_n((u64 *)(void *)(o->mem + RINGS_TAKEN), o->at, __ATOMIC_RELEASE);
	o->given = o->at;
}

static void take(struct rings *r, struct one *o, ring_cb *cb, void *arg)
{
	u64 *p = ring_word(r, o, o->at), n = word_bytes(*p);
	assert(n > RINGS_WORD && o->at + n - o->given <= r->spec.size);
	cb(arg, p + 1, n - RINGS_WORD);
	o->at += n;
	if (o->at - o->clear >= CLEAR_BYTES)
		clear(r, o);
	if (o->at - o->given >= r->spec.size / GIVE_BACK)
		give_back(r, o);
}

u64 rings_consume(struct rings *r, u64 max, ring_cb *cb, void *arg)
{
	/* Before looking: turns below this one are all claimed. */
	u64 end = __atomic_load_n(r->spec.turns, __ATOMIC_ACQUIRE) << RINGS_TURN, n = 0;
	bool known = look(r);
	while (known && r->nheap && (!max || n < max)) {
		struct one *o = &r->one[r->heap[0]];
		if (!is_before(o->key, end))
			break;
		take(r, o, cb, arg);
		n++;
		if (o->at == o->made)
			r->heap[0] = r->heap[--r->nheap];
		else
			known = find_key(r, o);
		if (known && r->nheap)
			sift_down(r, 0);
	}
	r->waits = !known;
	for (u32 i = 0; i < r->spec.n; i++)
		if (r->one[i].at != r->one[i].given)
			give_back(r, &r->one[i]);
	return n;
}

bool rings_wait(const struct rings *r)
{
	return r->waits;
}
