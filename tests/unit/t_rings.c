/* t_rings.c - the reader of rings of our own: order across CPUs, what it waits for, what it leaves.
 */
#include "kern/rings.h"
#include "test.h"

enum { SIZE = 1024, ROOM = 128, STRIDE = RINGS_DATA + SIZE + ROOM, MAX_SEEN = 64 };

struct seen {
	u64 v[MAX_SEEN];
	u32 n;
};

struct setup {
	u64 mem[3 * STRIDE / 8], turns, end[3];
	struct rings *r;
	struct seen seen;
};

static void note(void *arg, const void *data, size_t n)
{
	struct seen *s = arg;
	CHECK(n >= 8 && s->n < MAX_SEEN);
	memcpy(&s->v[s->n++], data, 8);
}

static u64 *word(struct setup *s, u32 cpu, u64 at)
{
	return s->mem + (cpu * STRIDE + RINGS_DATA + at % SIZE) / 8;
}

/* Room for a record of so many bytes, with its word; filled in by finish(). */
static u64 claim(struct setup *s, u32 cpu, u64 bytes)
{
	u64 at = s->end[cpu];
	s->end[cpu] += bytes;
	s->mem[cpu * STRIDE / 8] = s->end[cpu];
	return at;
}

static void finish(struct setup *s, u32 cpu, u64 at, u64 bytes, u64 turn, u64 v)
{
	word(s, cpu, at)[1] = v;
	*word(s, cpu, at) = turn << RINGS_TURN | bytes / 8;
}

static void put(struct setup *s, u32 cpu, u64 turn, u64 v)
{
	finish(s, cpu, claim(s, cpu, 24), 24, turn, v);
}

static struct setup *setup(void)
{
	struct setup *s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->turns = RINGS_FIRST_TURN;
	s->r = rings_new(&(struct rings_spec){(u8 *)s->mem, SIZE, &s->turns, 3, STRIDE});
	return s;
}

static void done(struct setup *s)
{
	rings_free(s->r);
	free(s);
}

/* Reads, and compares with values that end in 0. */
static bool gives(struct setup *s, u64 max, const u64 *want)
{
	u32 n = 0;
	s->seen.n = 0;
	u64 got = rings_consume(s->r, max, note, &s->seen);
	while (want[n] && n < s->seen.n && s->seen.v[n] == want[n])
		n++;
	return !want[n] && n == s->seen.n && got == n;
}
#define GIVES(max, ...) CHECK(gives(s, max, (const u64[]){__VA_ARGS__}))

TEST(rings_order)
{
	struct setup *s = setup();
	GIVES(0, 0);
	put(s, 0, 2, 20);
	put(s, 0, 5, 50);
	put(s, 2, 1, 10);
	put(s, 2, 4, 40);
	put(s, 2, 6, 60);
	put(s, 1, 3, 30);
	s->turns = 7;
	GIVES(2, 10, 20, 0);
	GIVES(0, 30, 40, 50, 60, 0);
	GIVES(0, 0);
	CHECK(!rings_wait(s->r));
	done(s);
}

/* A turn that was not drawn when reading began: a lower one may come to a ring already looked at.
 */
TEST(rings_bound)
{
	struct setup *s = setup();
	put(s, 1, 2, 20);
	s->turns = 2;
	GIVES(0, 0);
	CHECK(!rings_wait(s->r));
	put(s, 0, 1, 10);
	s->turns = 3;
	GIVES(0, 10, 20, 0);
	done(s);
}

TEST(rings_unfinished)
{
	struct setup *s = setup();
	put(s, 0, 1, 10);
	u64 at = claim(s, 0, 32);
	put(s, 0, 3, 30);
	put(s, 1, 4, 40);
	s->turns = 5;
	GIVES(0, 10, 0);
	CHECK(rings_wait(s->r));
	finish(s, 0, at, 32, 2, 20);
	GIVES(0, 20, 30, 40, 0);
	CHECK(!rings_wait(s->r));
	done(s);
}

/* Interrupted before it drew a turn: goes just before what came in between. */
TEST(rings_no_turn)
{
	struct setup *s = setup();
	put(s, 0, 1, 10);
	put(s, 0, 0, 29);
	put(s, 0, 0, 28);
	put(s, 0, 3, 30);
	put(s, 1, 2, 20);
	put(s, 1, 4, 40);
	s->turns = 5;
	GIVES(0, 10, 20, 29, 28, 30, 40, 0);
	done(s);
}

TEST(rings_around)
{
	struct setup *s = setup();
	u64 turn = RINGS_FIRST_TURN, *taken = s->mem + RINGS_TAKEN / 8;
	for (u32 i = 0; i < 500; i++) {
		u64 bytes = 24 + i % 14 * 8, at = claim(s, 0, bytes);
		finish(s, 0, at, bytes, turn++, 1000 + i);
		s->turns = turn;
		GIVES(0, 1000 + i, 0);
		CHECK(*taken == s->end[0]);
	}
	for (u32 i = RINGS_DATA / 8; i < STRIDE / 8; i++)
		CHECK(!s->mem[i]);
	done(s);
}

TEST(rings_turns_around)
{
	struct setup *s = setup();
	u64 last = UINT64_MAX >> RINGS_TURN;
	put(s, 0, last - 1, 10);
	put(s, 1, last, 20);
	put(s, 1, 2, 40);
	put(s, 0, 1, 30);
	s->turns = last + 4;
	GIVES(0, 10, 20, 30, 40, 0);
	done(s);
}
