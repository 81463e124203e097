#include "agent/replay.h"
#include "base/file.h"
#include "base/pack.h"
#include "test.h"
#include <sys/stat.h>

static const u64 start = 1000ull * SECOND_NS;

static struct question asked(u8 id)
{
	return (struct question){
		.id = {id}, .not_before_ns = start, .not_after_ns = start + 60ull * SECOND_NS};
}

static void check_take(struct replay *r, u8 id, u64 seconds, const char *want, int line)
{
	struct question q = asked(id);
	struct err *e = replay_take(r, &q, seconds * SECOND_NS);
	test_str(__FILE__, line, "replay_take()", e ? e->msg : "taken", want);
	err_free(e);
}
#define TAKE(r, id, seconds, want) check_take(r, id, seconds, want, __LINE__)

static struct replay *reopen(struct replay *r, const char *dir, u64 seconds)
{
	replay_free(r);
	r = NULL;
	struct err *e = replay_open(dir, seconds * SECOND_NS, &r);
	CHECK(!e && r);
	err_free(e);
	return r;
}

static void clean(const char *dir)
{
	struct arena a = {0};
	unlink(arena_fmt(&a, "%s/questions", dir));
	unlink(arena_fmt(&a, "%s/questions.new", dir));
	rmdir(dir);
	arena_free(&a);
}

#define AGAIN "the question was asked before: it is a copy, or the agent was restarted"

TEST(replay_times)
{
	static const struct {
		u64 ms;
		const char *want;
	} at[] = {
		{994999,
		 "the question is too early by 5.0 s (or the clocks of this host and of the asker "
		 "differ)"},
		{995000, ""},
		{1065000, ""},
		{1065001, "the question has expired, and is late by 5.0 s (or the clocks of this "
			  "host and of "
			  "the asker differ)"},
		{7200000, "the question has expired, and is late by 6140.0 s (or the clocks of "
			  "this host and "
			  "of the asker differ)"},
	};
	struct question q = asked(1);
	for (u32 i = 0; i < countof(at); i++) {
		struct err *e = replay_time(&q, at[i].ms * MILLI_NS);
		CHECK_STR(e ? e->msg : "", at[i].want);
		err_free(e);
	}
}

TEST(replay_once)
{
	char dir[] = "/tmp/sonde-unit.XXXXXX";
	CHECK(mkdtemp(dir));
	struct replay *r = reopen(NULL, dir, 1000), *other = NULL;
	TAKE(r, 1, 1001, "taken");
	TAKE(r, 2, 1001, "taken");
	TAKE(r, 1, 1002, AGAIN);
	struct err *e = replay_open(dir, start, &other);
	CHECK(e && strstr(e->msg, "another agent uses /tmp/sonde-unit."));
	err_free(e);
	r = reopen(r, dir, 1003);
	TAKE(r, 1, 1003, AGAIN);
	TAKE(r, 2, 1003, AGAIN);
	TAKE(r, 3, 1003, "taken");
	r = reopen(r, dir, 1069); /* as long as it could be taken on a clock that is late, too */
	TAKE(r, 3, 1065, AGAIN);
	r = reopen(r, dir, 1071);
	TAKE(r, 3, 1065, "taken");
	replay_free(r);
	clean(dir);
}

TEST(replay_of_a_cut_file)
{
	char dir[] = "/tmp/sonde-unit.XXXXXX";
	struct arena a = {0};
	struct stat st;
	CHECK(mkdtemp(dir));
	const char *path = arena_fmt(&a, "%s/questions", dir);
	struct replay *r = reopen(NULL, dir, 1000);
	TAKE(r, 1, 1000, "taken");
	TAKE(r, 2, 1000, "taken");
	CHECK(!stat(path, &st) && st.st_size == 8 + 2 * 24 && (st.st_mode & 0777) == 0600);
	CHECK(!truncate(path, st.st_size - 1));
	r = reopen(r, dir, 1000);
	TAKE(r, 1, 1000, AGAIN);
	TAKE(r, 2, 1000, "taken");
	r = reopen(r, dir, 1000);
	TAKE(r, 2, 1000, AGAIN);
	replay_free(r);
	CHECK(!file_write(path, STR("something else")));
	r = NULL;
	struct err *e = replay_open(dir, start, &r);
	CHECK_STR(e ? e->msg : "",
		  arena_fmt(&a,
			    "%s does not contain questions: remove it, if nothing else needs it",
			    path));
	err_free(e);
	clean(dir);
	e = replay_open(dir, start, &r);
	CHECK_STR(e ? e->msg : "", arena_fmt(&a, "open %s: No such file or directory", dir));
	err_free(e);
	arena_free(&a);
}

/* As many as are remembered: the next is refused, until some have expired. */
TEST(replay_is_bounded)
{
	char dir[] = "/tmp/sonde-unit.XXXXXX";
	struct arena a = {0};
	AUTO_SB b = {0};
	CHECK(mkdtemp(dir));
	sb_mem(&b, "sonde-r\1", 8);
	for (u32 i = 0; i < REPLAY_MAX; i++) {
		u8 id[QUESTION_ID] = {0xff, (u8)i, (u8)(i >> 8)};
		sb_mem(&b, id, sizeof(id));
		pack_u64(&b, start + (i ? 60 : 20) * (u64)SECOND_NS);
	}
	CHECK(!file_write(arena_fmt(&a, "%s/questions", dir), sb_str(&b)));
	struct replay *r = reopen(NULL, dir, 1000);
	TAKE(r, 1, 1029,
	     "this host has had 65536 questions that are still valid, and can remember no more");
	TAKE(r, 1, 1030, "taken");
	TAKE(r, 2, 1030,
	     "this host has had 65536 questions that are still valid, and can remember no more");
	r = reopen(r, dir, 1030);
	TAKE(r, 1, 1030, AGAIN);
	replay_free(r);
	clean(dir);
	arena_free(&a);
}
