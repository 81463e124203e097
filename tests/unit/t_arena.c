#include "base/alloc.h"
#include "base/arena.h"
#include "base/vec.h"
#include "test.h"
#include <fcntl.h>
#include <unistd.h>

TEST(arena_zeroes_and_aligns)
{
	struct arena a = {0};
	char *c = arena_new(&a, char);
	u64 *n = arena_newn(&a, u64, 3);
	CHECK(*c == 0 && n[2] == 0);
	CHECK((uintptr_t)n % _Alignof(u64) == 0);
	arena_free(&a);
}

TEST(arena_outlives_a_chunk)
{
	struct arena a = {0};
	char *big = arena_alloc(&a, 1 << 20, 1);
	CHECK(big[(1 << 20) - 1] == 0);
	CHECK_STR(arena_fmt(&a, "%s:%d", "x", 7), "x:7");
	arena_free(&a);
}

TEST(arena_reset_gives_zeroed_memory_again)
{
	struct arena a = {0};
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++) {
			u8 *p = arena_alloc(&a, 5000, 1);
			CHECK(p[0] == 0 && p[4999] == 0);
			memset(p, 0xff, 5000);
		}
		arena_reset(&a);
	}
	arena_free(&a);
	arena_reset(&a);
	CHECK(a.head == NULL);
}

TEST(arena_frees_what_it_keeps)
{
	struct arena a = {0};
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++)
			arena_keep(&a, strdup("text")); /* leaks are seen by the sanitizer */
		arena_reset(&a);
		CHECK(!a.kept);
	}
	arena_keep(&a, strdup("text"));
	arena_free(&a);
	CHECK(!a.kept && !a.head);
}

TEST(vec_grows)
{
	VEC(u32) v = {0};
	for (u32 i = 0; i < 1000; i++)
		vec_add(&v, i * 3);
	CHECK(v.n == 1000 && v.v[0] == 0 && v.v[999] == 2997);
	vec_free(&v);
	CHECK(v.v == NULL && v.n == 0);
}

TEST(arena_push_keeps_what_is_there)
{
	struct arena a = {0};
	u32 *v = NULL, n = 0, moved = 0;
	for (u32 i = 0; i < 1000; i++) {
		const u32 *was = v;
		arena_push(&a, v, n, i * 3);
		moved += v != was;
	}
	CHECK(n == 1000);
	CHECK(moved == 9); /* at 0, 4, 8 ... 512 */
	for (u32 i = 0; i < n; i++)
		CHECK(v[i] == i * 3);
	arena_free(&a);
}

/* Whether each page in these bytes is in memory, touched or not. */
static bool all_present(const char *from, const char *to)
{
	enum { PAGE = 4096 };
	AUTO_CLOSE int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	for (uintptr_t at = ((uintptr_t)from + PAGE - 1) / PAGE; at < (uintptr_t)to / PAGE; at++) {
		u64 entry = 0;
		ssize_t n = pread(fd, &entry, sizeof(entry), (off_t)(at * sizeof(entry)));
		if (n != sizeof(entry) || !(entry >> 63))
			return false;
	}
	return true;
}

/* A heap that grows has pages for all that it grew by; one of sanitizers does not grow in this way. */
TEST(heap_pages_are_made_at_once)
{
	enum { MOST = 512, EACH = 8192 };
	char *block[MOST];
	size_t n = 0;
	program_ready();
	const char *before = sbrk(0);
	while (n < MOST && sbrk(0) == before)
		block[n++] = xmalloc(EACH);
	CHECK(n == MOST || all_present(before, sbrk(0)));
	heap_own();
	while (n)
		free(block[--n]);
}
